/*
 * The start time of a run that was stopped (status.startTime), and why it is taken off.
 *
 * Before Kubernetes 1.36 the directives of a pod template (node selector, node affinity,
 * tolerations, labels, annotations) may be changed only in a suspended Job without a start time.
 * The Job controllers of then keep that time through a suspension. So a Job that has run could
 * start in no other flavor. Later Job controllers take it off themselves when they see the stop. No
 * version is asked for: a Job that shows both the condition Suspended and a start time is one whose
 * Job controller has kept it. At the next start the Job controller writes a new one.
 *
 * The start time is taken off by a PATCH of the status alone, once for each stop, of a Job that
 * waits and has no pods left. The PATCH tests uid and resourceVersion. So a Job that has changed
 * since (started, its work over, its status rewritten) is left as it is, however late the PATCH
 * lands and whichever leader sent it. A Job whose work is over needs its start time for its end,
 * and keeps it.
 *
 * No start waits for that PATCH for long. Where the API server refuses (an older role) or is busy,
 * the Job starts as it would without: in the flavor that it ran in, or it is refused.
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

struct start_time {
	unsigned failures; /* requests in a row for the start time that is there */
	int64_t patient_ms; /* no request before, by tick_ms, after too many failures; starts go on */
};

/* Tells whether the Job controller has kept a start time that nothing needs any more. */
bool start_time_is_left(const struct job *seen);
/* Forgets failures: the Job has no start time left. */
void start_time_settled(struct gate_job *j);
/* Asks for the PATCH that is due of a suspended Job without pods. True: a start waits for it. */
bool start_time_see_to(struct gate *g, struct gate_job *j);
/* INTENT_CLEAR. */
bool start_time_wanted(const struct gate *g, const struct gate_job *j);
void start_time_tell(struct gate *g, struct gate_job *j, struct intent *i);
bool start_time_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);

#endif
