/* Runs that lack pods for long, and what keeps these. */
#ifndef SLUICE_CONTROLLER_GATE_STUCK_H
#define SLUICE_CONTROLLER_GATE_STUCK_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/gate/trouble.h"

struct explanation;
struct gate;
struct gate_job;
struct gate_trouble;

/* A run with fewer pods ready than it needs. In gate.stuck, behind earlier ones, until all are
 * ready or it ends. */
struct stuck {
	struct gate_job *job;
	struct stuck *prev, *next;
	int64_t lacks_ms;    /* since when it lacks pods, by tick_ms */
	struct trouble told; /* what is known to keep them; message is its text */
	char *message;
};

struct stuck_list {
	int64_t after_ms; /* 0: nothing is looked at */
	int64_t due_ms;	  /* when the list is looked at next */
	struct stuck *first, *last;
	bool wants_pods, wants_refusals;
};

/* Puts a run that lacks pods into the list, or takes it out, whenever there is news of the Job. */
void stuck_see_to(struct gate *g, struct gate_job *j);
/* Takes a run that ends out of the list. What kept its pods goes into j->stop.pod_trouble, unless
 * something stands there. */
void stuck_end(struct gate *g, struct gate_job *j);
void stuck_free(struct stuck *s);
void stuck_tick(struct gate *g);
/* Tells what keeps the pods; false: nothing is known. */
bool stuck_trouble(const struct gate_job *j, struct gate_trouble *ret);
/* Says what keeps the pods of a run. */
void explain_stuck(const struct gate_job *j, int64_t now_ms, struct explanation *x);
/* Says what kept the pods of the last run of a Job that waits. */
void explain_pod_trouble(const struct gate_job *j, struct explanation *x);

#endif
