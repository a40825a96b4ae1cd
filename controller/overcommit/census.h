/*
 * The census: follows the Nodes of the cluster, and the Pods on them, into the inventory.
 *
 * It takes a seat in the two watches that it shares with the queue (controller/watch/bound_pods.h) when it
 * is wanted and leaves when it is not: a cluster in which nobody lends has neither seat.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_CENSUS_H
#define SLUICE_CONTROLLER_OVERCOMMIT_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/kube/share.h"
#include "controller/common/log.h"
#include "controller/overcommit/inventory.h"

struct census;

/* pods: of those that are bound and have not ended. */
struct census *census_new(struct kube_share *nodes, struct kube_share *pods,
	struct inventory *inventory, struct log *log);
void census_free(struct census *c);

void census_want(struct census *c, bool nodes, bool pods);
bool census_has_nodes(const struct census *c); /* a list of them is complete */
bool census_has_pods(const struct census *c);

/* Objects that could not be understood, so far. */
uint64_t census_unreadable(const struct census *c);

#endif
