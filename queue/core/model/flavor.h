/*
 * ResourceFlavors: kinds of nodes, each with a quota of its own.
 *
 * A record is made when the object or a ClusterQueue first names the flavor, and freed with the
 * last reference. While the object does not exist, the ClusterQueues that name it are inactive.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_FLAVOR_H
#define SLUICE_QUEUE_CORE_MODEL_FLAVOR_H

#include "base/map.h"
#include "base/arena.h"
#include "sluice/spec.h"

struct flavor {
	char *name;
	uint32_t refs; /* ClusterQueues that name it; the object, valid or refused */
	bool exists;
	uint64_t edits; /* how often its spec became another one */
	char *invalid;	/* the sentence about a newer spec that was refused */
	struct node_group nodes;
	enum lending
		lending; /* not NONE: its quota is a part of what nodes lend (effective_quota.h) */
	int32_t share_permille;
	bool kubelet_limits;
	struct pod_metadata metadata; /* spec.podTemplate: these two (directives.h) */
	struct placement adds;
	enum node_pool pool;
	char *maker;	 /* what is seen to make nodes of it (nodes_to_come.h); NULL: nothing */
	bool at_zero;	 /* no node has its labels (nodes_to_come.h) */
	bool pool_moved; /* ... which was otherwise at the last look */
	struct provisioning_spec provisioning;
	struct arena memory;
};

void flavors_init(struct map *flavors);
void flavors_done(struct map *flavors);

struct flavor *flavor_find(const struct map *flavors, const char *name);
struct flavor *flavor_keep(struct map *flavors, const char *name); /* made when it must be */
void flavor_put(struct map *flavors, struct flavor *f);

/* The object is there / is gone / is refused. They keep the object's own reference. flavor_set:
 * true when anything is different now. */
bool flavor_set(struct map *flavors, const struct flavor_spec *s);
void flavor_unset(struct map *flavors, struct flavor *f);
void flavor_refuse(struct map *flavors, const char *name, const char *sentence);

#endif
