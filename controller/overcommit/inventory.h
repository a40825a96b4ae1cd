/*
 * The inventory: the Nodes of the cluster, the Pods on them, and the newest sample of each.
 * Compact: a pod takes about 150 bytes, for there may be 150,000 of them.
 *
 * Filled by two watches (overcommit.h opens them when somebody lends, and not before) and by the
 * gauge. A node that something happened to is dirty; whoever makes figures takes the dirty ones. A
 * sample of a pod that is not there any more is kept on its node as dangling until the next round
 * of samples.
 */
#ifndef SLUICE_CONTROLLER_INVENTORY_H
#define SLUICE_CONTROLLER_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "overcommit/estimate.h"
#include "overcommit/facts.h"
#include "overcommit/reclaim.h"
#include "overcommit/window.h"

struct inventory;
struct inventory_node;

struct inventory *inventory_new(void);
void inventory_free(struct inventory *v);

/* Around complete lists, as roster.h: what was not seen is gone. */
void inventory_begin_nodes(struct inventory *v);
void inventory_end_nodes(struct inventory *v);
void inventory_begin_pods(struct inventory *v);
void inventory_end_pods(struct inventory *v);

void inventory_see_node(struct inventory *v, const struct node_facts *f);
void inventory_drop_node(struct inventory *v, const char *name);
void inventory_see_pod(struct inventory *v, const struct pod_facts *f);
void inventory_drop_pod(struct inventory *v, const struct uid *uid);

/* A sample; of nobody known: dropped, or dangling. False: not newer than the last. */
bool inventory_sample_node(struct inventory *v, const struct usage_facts *u);
bool inventory_sample_pod(struct inventory *v, const struct usage_facts *u);

size_t inventory_nodes(const struct inventory *v);
size_t inventory_pods(const struct inventory *v);
size_t inventory_bytes(const struct inventory *v);

#endif
