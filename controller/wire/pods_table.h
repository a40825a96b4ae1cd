/*
 * Pods as a Table of the API server, with their metadata: on which nodes a Job's pods are.
 *
 * A Table, because the pods themselves are ten times as large. Anybody may write a pod's labels, so
 * they do not tell whose it is: a pod is a Job's only if that Job controls it.
 */
#ifndef SLUICE_CONTROLLER_WIRE_PODS_TABLE_H
#define SLUICE_CONTROLLER_WIRE_PODS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/uid.h"
#include "base/json.h"

#define PODS_TABLE_QUERY "includeObject=Metadata"
/* Selects pods that have not ended. */
#define PODS_TABLE_LIVE "status.phase!=Succeeded,status.phase!=Failed"

struct pod_nodes {
	char **name; /* a node each pod */
	size_t n, cap;
};

/* Adds the node of each pod of the Job that has one and is not being deleted. Any other answer than
 * a Table of pods adds none. */
void pods_table_read(const cJSON *table, const struct uid *job, struct pod_nodes *ret);

/* Where one pod is, of a table that is read once for all Jobs. */
struct pod_place {
	struct uid job;
	const char *node; /* borrowed from the table */
};
struct pod_places {
	struct pod_place *place; /* by Job */
	const char **node;	 /* of each place */
	size_t n, cap;
};

void pod_places_read(const cJSON *table, struct pod_places *ret);
/* Gives the nodes of a Job's pods, as pods_table_read() has them. Returns how many they are. */
size_t pod_places_of(
	const struct pod_places *p, const struct uid *job, const char *const **ret_node);
void pod_places_done(struct pod_places *p);

/* Whether root is a Table of pods. Any other answer is never to be taken for an empty one. */
bool pods_table_is(const cJSON *root);

void pod_nodes_done(struct pod_nodes *p);

#endif
