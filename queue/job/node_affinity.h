/*
 * Node affinity: its owner's, joined with what a flavor's spec.podTemplate adds.
 *
 * Required terms are OR-ed, so both hold where each term of the one is joined with each term of the
 * other. A pair that no node could satisfy is left out: one that asks for zone in (a) and for zone
 * in (b). If no pair is left, the two contradict each other, and the flavor does not suit. The node
 * selector of the pod counts, too: as a requirement of each pair.
 *
 * What is looked for costs a bounded number of comparisons. Beyond it a pair counts as possible:
 * the nodes are asked about it anyway. The result is bounded, too. It is written into the Job
 * twice, into the template and into the annotation that keeps the owner's own, and is read back
 * from there: what could not be read would never be taken off again.
 *
 * Preferred terms are the owner's, and behind them those that are added. No one judges them here.
 */
#ifndef SLUICE_QUEUE_JOB_NODE_AFFINITY_H
#define SLUICE_QUEUE_JOB_NODE_AFFINITY_H

#include "base/arena.h"
#include "base/buf.h"
#include "sluice/placement.h"

#define NODE_AFFINITY_TERMS_MAX 64	  /* required, and preferred: what a decoder takes */
#define NODE_AFFINITY_REQUIREMENTS_MAX 64 /* of one term */
/* Of keys and values of the joined terms; each counts some more, for an empty one takes room, too. */
#define NODE_AFFINITY_BYTES_MAX (16 * 1024)
#define NODE_AFFINITY_TEXT_BYTES 8

enum node_affinity_verdict {
	NODE_AFFINITY_JOINED,
	NODE_AFFINITY_CONTRADICTS,
	NODE_AFFINITY_TOO_LARGE,
	NODE_AFFINITY_UNREAD, /* the owner's is not all understood */
};

/* Into p->terms and p->preferred, which are its owner's (or joined already), joins those of add.
 * p->node_selector must be joined by then. Borrows from both. Anything but JOINED leaves p as it
 * was. ret_key, may be NULL: with CONTRADICTS, a key of which both say what cannot hold at once. */
enum node_affinity_verdict node_affinity_join(
	struct arena *a, struct placement *p, const struct placement *add, const char **ret_key);

/* Judges what a flavor adds to pods that say nothing themselves, beside its own nodeLabels, which win over its
 * node selector. ret_key as above. */
enum node_affinity_verdict node_affinity_judge_flavor(
	const struct node_group *nodes, const struct placement *adds, const char **ret_key);

/* Can no node satisfy any of its required terms beside its node selector? ret_key as above. */
bool node_affinity_contradicts(const struct placement *p, const char **ret_key);

/* The JSON of spec.affinity.nodeAffinity; nothing when there is none. */
void node_affinity_write(const struct placement *p, struct buf *out);

#endif
