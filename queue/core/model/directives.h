/*
 * What a start writes into the pod template: its owner's directives, joined with those of flavors,
 * ClusterQueue and LocalQueue.
 *
 * A flavor adds its nodeLabels and tolerations, which say what its nodes are, and spec.podTemplate:
 *
 *   nodeSelector         a key that its owner has keeps its owner's value; nodeLabels win over both,
 *                        and of two flavors the later one
 *   tolerations          not where its owner tolerates the same key (and effect) in another way
 *   node affinity        required terms of both must hold; preferred ones are added (node_affinity.h)
 *   labels, annotations  a key that its owner has keeps its owner's value; else the ClusterQueue's
 *                        wins, then that of the later flavor, then the LocalQueue's
 *
 * A LocalQueue is the weakest, for the admins of a namespace may write it: what a key says that
 * admins of the cluster add, they cannot change.
 *
 * Only keys of its owner's labels and annotations are known here (struct template_metadata), for a
 * start touches no other key. Jobs that have the same keys share them.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_DIRECTIVES_H
#define SLUICE_QUEUE_CORE_MODEL_DIRECTIVES_H

#include "base/arena.h"
#include "queue/job/node_affinity.h"
#include "queue/core/model/flavor.h"
#include "sluice/placement.h"

struct clusterqueue;
struct directives;
struct localqueue;
struct queue;
struct reservation;

/* ret is whole only with JOINED; with another verdict the flavor's node affinity is left out. Where
 * two flavors' cannot be joined, that of the later one is. A toleration twice is there once.
 * Borrows. ret_key: node_affinity_join(). */
enum node_affinity_verdict directives_join(struct arena *a, const struct placement *own,
	const struct flavor *const *flavors, size_t n, struct placement *ret, const char **ret_key);

/* What a start adds, each key once, whatever its owner has. ret's arrays are the arena's; texts are
 * borrowed. */
void directives_metadata(struct arena *a, const struct flavor *const *flavors, size_t n,
	const struct clusterqueue *cq, const struct localqueue *lq, struct pod_metadata *ret);

/* Why a flavor does not suit pods of these directives, as far as placement is concerned. */
enum flavor_verdict {
	FLAVOR_SUITS,
	FLAVOR_TAINTED,	    /* ret->taint is not tolerated */
	FLAVOR_MISMATCHES,  /* its owner's node selector or affinity and the flavor's nodeLabels */
	FLAVOR_CONTRADICTS, /* its owner's and the flavor's podTemplate, on ret->key or NULL */
	FLAVOR_TOO_LARGE,   /* joined they are too much */
	FLAVOR_UNREAD,	    /* its owner's node affinity is not all understood */
};

struct flavor_clash {
	const struct taint *taint;
	const char *key;
};

/* ret may be NULL. */
enum flavor_verdict directives_suit(
	const struct placement *own, const struct flavor *f, struct flavor_clash *ret);

/* The flavors of a reservation, each once, in the order of its lines; ret has room for as many as
 * lines. */
size_t directives_flavors(
	const struct queue *q, const struct reservation *r, const struct flavor **ret);

#endif
