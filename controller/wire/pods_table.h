/*
 * Pods as a Table of the API server, with their metadata: on which nodes those of a Job are.
 *
 * A Table because the pods themselves are ten times as large. Whose a pod is its label does not tell,
 * for anybody may write that: only what the Job controller counts as the Job's own counts here.
 */
#ifndef SLUICE_CONTROLLER_WIRE_PODS_TABLE_H
#define SLUICE_CONTROLLER_WIRE_PODS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/uid.h"
#include "base/json.h"

#define PODS_TABLE_QUERY "includeObject=Metadata"
/* Of pods that have not ended. */
#define PODS_TABLE_LIVE "status.phase!=Succeeded,status.phase!=Failed"

struct pod_nodes {
	char **name; /* a node each pod */
	size_t n, cap;
};

/* Adds the node of each pod of the Job that has one and is not being deleted. Any other answer adds none. */
void pods_table_read(const cJSON *table, const struct uid *job, struct pod_nodes *ret);

/* Where the pods of all Jobs are: the table is read once for many. */
struct pod_place {
	struct uid job;
	const char *node; /* the table's */
};
struct pod_places {
	struct pod_place *place; /* by Job */
	const char **node;	 /* of each place */
	size_t n, cap;
};

void pod_places_read(const cJSON *table, struct pod_places *ret);
/* The nodes of a Job's pods, as pods_table_read() has them. Returns how many they are. */
size_t pod_places_of(
	const struct pod_places *p, const struct uid *job, const char *const **ret_node);
void pod_places_done(struct pod_places *p);

/* False of any other answer, which is never to be taken for an empty one. */
bool pods_table_is(const cJSON *root);

void pod_nodes_done(struct pod_nodes *p);

#endif
