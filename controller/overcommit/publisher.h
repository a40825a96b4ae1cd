/*
 * The publisher: writes what nodes lend into their status.
 *
 * One JSON merge PATCH on nodes/status goes out for each node of which something is due: capacity
 * and allocatable, which say the same (a kubelet copies one to the other), and the annotation
 * sluice.dev/overcommit-sample with the time of the sample behind them. A few are under way at a
 * time; figures that fall go first. A failed write is due again, later each time. A node that is
 * gone (404) is left to the watch.
 *
 * It tests no resourceVersion: no other client writes these keys, heartbeats move it all the time,
 * and a figure of a second ago is no worse than the one it replaces.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_PUBLISHER_H
#define SLUICE_CONTROLLER_OVERCOMMIT_PUBLISHER_H

#include <stdint.h>

#include "controller/kube/client.h"
#include "controller/common/log.h"
#include "controller/overcommit/inventory.h"

struct publisher;

struct publisher_counts {
	uint64_t written, refused, failed, gone; /* answers: done; denied; try again; 404 */
};

struct publisher *publisher_new(
	struct kube_client *client, struct inventory *inventory, struct log *log);
void publisher_free(struct publisher *p); /* cancels what is under way */

/* Sends what is due, about once a second; answers go on with it. */
void publisher_tick(struct publisher *p, int64_t now_ms);
/* Drops the answer of a node that goes. */
void publisher_lose(struct publisher *p, const struct inventory_node *n);

/* Whether something was written since this was last asked. */
bool publisher_take_news(struct publisher *p);
struct publisher_counts publisher_count(const struct publisher *p);
size_t publisher_under_way(const struct publisher *p);

#endif
