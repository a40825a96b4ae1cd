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

/* Of a Job that runs with fewer pods ready than it needs. In gate.stuck, in the order in
 * which they came; they leave when all are ready, or the run ends. */
struct stuck {
	struct gate_job *job;
	struct stuck *prev, *next;
	int64_t lacks_ms;    /* since then, by tick_ms */
	struct trouble told; /* what is known to keep them; its message is: */
	char *message;
};

/* Runs that lack pods: stuck.c. */
struct stuck_list {
	int64_t after_ms; /* 0: nothing is looked at */
	int64_t due_ms;	  /* when the list is looked at next */
	struct stuck *first, *last;
	bool wants_pods, wants_refusals;
};

/* Of a Job that runs, whenever there is news of it. */
void stuck_see_to(struct gate *g, struct gate_job *j);
/* Its run ends: what kept its pods goes into j->stop.pod_trouble, unless something stands there. */
void stuck_end(struct gate *g, struct gate_job *j);
void stuck_free(struct stuck *s);
void stuck_tick(struct gate *g);
/* False: nothing is known to keep its pods. */
bool stuck_trouble(const struct gate_job *j, struct gate_trouble *ret);
/* Of one that runs; of one that waits. */
void explain_stuck(const struct gate_job *j, int64_t now_ms, struct explanation *x);
void explain_pod_trouble(const struct gate_job *j, struct explanation *x);

#endif
