/* Stop notices: a Job that runs is told when it will be stopped. */
#ifndef SLUICE_CONTROLLER_GATE_STOP_NOTICE_H
#define SLUICE_CONTROLLER_GATE_STOP_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/queue.h"

struct gate;
struct gate_job;
struct intent;

struct stop_notice {
	int64_t at_ms; /* when it will be stopped, by the clock on the wall; 0: no stop is to be told */
	bool sent;     /* a PATCH of the annotation went out in this attempt */
};

void stop_notice_decided(struct gate *g, struct gate_job *j, const struct decision *d);
/* Asks for the PATCH that is due, if one is, of a Job that runs and is not to stop now. */
void stop_notice_see_to(struct gate *g, struct gate_job *j);
/* INTENT_WARN. */
void stop_notice_tell(struct gate *g, struct gate_job *j, struct intent *i);
/* Tells whether the annotation is there, or may be. */
bool stop_notice_stands(const struct gate_job *j);
void stop_notice_end(struct gate_job *j);

#endif
