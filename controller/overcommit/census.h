/*
 * The census: follows the Nodes of the cluster, and the Pods on them, into the inventory.
 *
 * Each of the two is opened when it is wanted and closed when it is not: a cluster in which nobody
 * lends has neither. Pods that have ended are not asked for, and those without a node not kept.
 */
#ifndef SLUICE_CONTROLLER_CENSUS_H
#define SLUICE_CONTROLLER_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/kube/client.h"
#include "controller/log.h"
#include "controller/overcommit/inventory.h"

struct census;

struct census *census_new(
	struct kube_client *client, struct inventory *inventory, struct log *log, uint64_t seed);
void census_free(struct census *c);

void census_want(struct census *c, bool nodes, bool pods);
bool census_has_nodes(const struct census *c); /* a list of them is complete */
bool census_has_pods(const struct census *c);

/* Objects that could not be understood, so far. */
uint64_t census_unreadable(const struct census *c);

#endif
