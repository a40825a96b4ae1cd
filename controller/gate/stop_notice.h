/* That a run will be stopped, and when, told on its Job. stop_notice.c alone writes it. */
#ifndef SLUICE_CONTROLLER_GATE_STOP_NOTICE_H
#define SLUICE_CONTROLLER_GATE_STOP_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/queue.h"

struct gate;
struct gate_job;
struct intent;

struct stop_notice {
	int64_t at_ms; /* by the clock on the wall; 0: it is not to be told of a stop */
	bool sent;     /* a PATCH that says so went out in this attempt */
};

void stop_notice_decided(struct gate *g, struct gate_job *j, const struct decision *d);
/* Of a Job that runs and is not to stop now: asks for the PATCH that is due, if one is. */
void stop_notice_see_to(struct gate *g, struct gate_job *j);
/* INTENT_WARN. */
void stop_notice_tell(struct gate *g, struct gate_job *j, struct intent *i);
/* The annotation is there, or may be. */
bool stop_notice_stands(const struct gate_job *j);
/* The attempt is over. */
void stop_notice_end(struct gate_job *j);

#endif
