/*
 * Terrain: the nodes, as the queue asks about them (cluster/nodes.h).
 *
 * Three questions, each about a template as a start on certain flavors would write it: the flavors'
 * node labels and tolerations joined to its own, what is lent asked for by its name.
 *
 *   could it ever    of one flavor: where no node could take such a pod, were it empty and well,
 * the flavor does not suit (claim.suits). Where that is so of each flavor that would suit else, the
 * Job waits aside with WAIT_NEVER_FITS, and holds up nobody
 *   ... together     of the flavors of all resource groups that an entry has chosen: as above, but
 *                    found at its turn
 *   could it now     clusterFit Now, and whoever is of negative priority: do all pods with which it
 *                    would start fit beside what is there and what was let in and is not bound yet?
 *                    For an entry that displaces others: beside what is left when those are gone.
 *                    WAIT_NODES_FULL. It is a lack like a lack of quota: the head of a StrictFIFO
 *                    queue holds up those behind it, so that a large Job is not passed for ever;
 * but one of negative priority never holds up anybody
 *
 * Not asked: before queue_know_cluster(), with clusterFit Ignore, without a template, and while
 * there is no node at all (an empty cluster that an autoscaler is to fill). An answer is kept with
 * the template until the ground moves (nodes_ground, nodes_version), so a pass over ten thousand
 * Jobs of fifty shapes asks fifty questions; when the ground moved, only those whose answer is
 * another one are judged anew.
 */
#ifndef SLUICE_QUEUE_TERRAIN_H
#define SLUICE_QUEUE_TERRAIN_H

#include "cluster/nodes.h"
#include "queue/claim.h"
#include "queue/contest.h"
#include "queue/victims.h"

struct room;

struct terrain {
	struct nodes *nodes;
	bool known;	    /* queue_know_cluster() */
	uint64_t ground;    /* of which the claims are */
	size_t gap_fillers; /* workloads of negative priority that have a template */
	size_t asking;	    /* ClusterQueues with clusterFit Now */
};

/* The flavors of a group in which pods of the shape could never run, a bit each. */
uint64_t terrain_never(const struct queue *q, const struct clusterqueue *cq, size_t group,
	const struct shape *shape);

/* Before a pass: who is judged by ground that moved is judged anew. */
void terrain_refresh(struct queue *q);

/* May the entry start with its choice, were all its victims gone? */
bool terrain_lets(struct queue *q, const struct entry *e, const struct victim *victims, size_t n);

/* A run was let in / is to have so many pods / is over. */
void terrain_expect(struct queue *q, const struct room *r);
void terrain_forget(struct queue *q, const struct room *r);

#endif
