/*
 * The start time of a run that was stopped (status.startTime), and why it is taken off.
 *
 * An API server before Kubernetes 1.36 lets the directives of a pod template (node selector, node
 * affinity, tolerations, labels, annotations) be changed only in a suspended Job without a start
 * time, and there the Job controller keeps that time through a suspension. So a Job that has run
 * could start in no other flavor. Later Job controllers take it off themselves when they see the
 * stop. No version is asked for: a Job that shows both the condition Suspended and a start time is
 * one whose Job controller has kept it. At its next start the Job controller writes a new one.
 *
 * It is a PATCH of the status alone, once for each stop, of a Job that waits and has no pods left.
 * It tests uid and resourceVersion. So a Job that has become another since (started, its work
 * over, its status rewritten) is left as it is, however late the PATCH lands and whoever sent it.
 * A Job whose work is over needs its start time for its end, and keeps it.
 *
 * No start waits for it for long. Where the API server refuses (an older role) or is busy, the Job
 * starts as it would without: in the flavor that it ran in, or it is refused.
 */
#ifndef SLUICE_CONTROLLER_GATE_START_TIME_H
#define SLUICE_CONTROLLER_GATE_START_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct gate;
struct gate_job;
struct intent;
struct job;
struct job_answer;

/* start_time.c alone writes it. */
struct start_time {
	unsigned failures;  /* requests in a row, of the start time that is there */
	int64_t patient_ms; /* after so many: no request before, by tick_ms, and no start waits */
};

/* It is kept by the Job controller, and nothing needs it any more. */
bool start_time_is_left(const struct job *seen);
/* The newest that was seen of it has none that is left. */
void start_time_settled(struct gate_job *j);
/* Of a Job that is suspended and without pods: asks for what is to be done. True: a start waits for
 * the answer. */
bool start_time_see_to(struct gate *g, struct gate_job *j);
/* INTENT_CLEAR. */
bool start_time_wanted(const struct gate *g, const struct gate_job *j);
void start_time_tell(struct gate *g, struct gate_job *j, struct intent *i);
bool start_time_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);

#endif
