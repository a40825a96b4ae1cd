/*
 * Usage: what the node and all its pods use, at four moments: now, at the tick before, at the newest
 * sample, and at the newest one that the controller has: there the next one begins. Lent pods keep
 * the same moments of their own (lent_pod.h).
 */
#ifndef SLUICE_AGENT_USAGE_H
#define SLUICE_AGENT_USAGE_H

#include "agent/lent_pods.h"
#include "agent/meter.h"

enum { USAGE_BRIEF_MS = 200 }; /* use over less time says nothing: the node counts in 10 ms */

struct moment {
	struct node_reading node;
	struct reading pods; /* all of the node: cgroup kubepods */
};

struct usage {
	struct node_gauge node;
	struct gauge pods;
	struct moment now, tick, sent, told;
};

/* Opens the files of the node, in /proc. */
void usage_open(struct usage *u, const char *proc);
void usage_close(struct usage *u);
/* Opens those of kubepods, the directory above the tier, which is held. */
void usage_open_pods(struct usage *u, const struct cgroup_tree *tree);
void usage_close_pods(struct usage *u);

/* Reads all, and all lent pods. */
void usage_read(struct usage *u, struct lent_pods *pods);
/* Makes now the moment of the tick before, or of the newest sample, for lent pods as well. */
void usage_shift_tick(struct usage *u, struct lent_pods *pods);
void usage_shift_sent(struct usage *u, struct lent_pods *pods);
/* Notes that the controller has the newest sample. */
void usage_shift_told(struct usage *u, struct lent_pods *pods);

#endif
