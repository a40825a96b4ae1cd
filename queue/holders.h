/*
 * Holders: who holds something of a leaf's row, those first who would have to go first.
 *
 * The order is kept only for rows in which somebody once looked for a victim; for all others it
 * would cost a tree's update at each start, for nothing.
 */
#ifndef SLUICE_QUEUE_HOLDERS_H
#define SLUICE_QUEUE_HOLDERS_H

#include "queue/room.h"

/* The room stands among the holders of its rows / does not any more. Around everything that changes
 * its place there (its workload's priority): out, and in again. Idempotent. */
void holders_join(struct room *r);
void holders_leave(struct room *r);

/* The first one of a row of this ClusterQueue, and the next. */
struct tree_node *holders_first(struct clusterqueue *cq, struct quota_row *row);
struct room *holder_room(const struct tree_node *n);

#endif
