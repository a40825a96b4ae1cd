/*
 * QueuedJobs: all Jobs that Sluice manages and that have not ended, as lists.
 *
 * Lists are in the order of the queue. Jobs that hold quota come first, then those in line by their
 * rank. Jobs that something else keeps (a hold, a window, another Job) are last, the oldest first.
 * A list of several ClusterQueues has one line, by rank; positions in it (queue/explain/ahead.h)
 * may go back and forth.
 *
 * struct queued_jobs is all of them at one moment. The reader keeps it for all its questions.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_QUEUED_JOBS_H
#define SLUICE_CONTROLLER_ANSWERS_QUEUED_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "controller/forecast/forecasts.h"
#include "controller/gate/gate.h"
#include "controller/answers/job_query.h"

struct queued_jobs_sources {
	const struct gate *gate;
	struct queue *queue;
	const struct forecasts *forecasts; /* NULL: --forecasts off */
	bool ledger_up;
	int64_t now_ms; /* by the clock on the wall */
};

struct queued_jobs;

/* Takes all Jobs as they are. Nothing may be told to the gate or the queue as long as it lives. */
struct queued_jobs *queued_jobs_new(const struct queued_jobs_sources *s);
void queued_jobs_free(struct queued_jobs *all); /* NULL is fine */

/* Appends the list, or the page of it. moment goes into the token of the next page. */
void queued_jobs_list(
	struct queued_jobs *all, const struct job_query *q, uint64_t moment, struct buf *out);

/* Appends what a watch of q compares (watch_rows.h): each Job's row, by namespace and name. */
void queued_jobs_rows(struct queued_jobs *all, const struct job_query *q, struct buf *out);
/* Appends the events that were ordered (orders: what comes behind the q of ASK_EVENTS), one a line.
 * A Job that is DELETED and still there is no longer among those that q asks for; it is told as it
 * is. */
void queued_jobs_events(struct queued_jobs *all, const struct job_query *q,
	const struct job_query_events *how, struct slice orders, struct buf *out);

/* Returns what they were taken from. */
const struct queued_jobs_sources *queued_jobs_of(const struct queued_jobs *all);

/* A Job of them all, and where it stands: for sums and pictures. */
struct queued_job;
struct queued_jobs_place {
	const char *ns, *clusterqueue; /* clusterqueue: "" where it is not known */
	const char *state;	       /* as gate_state() */
};
/* Call each() for the Jobs of a namespace (NULL: of all) by namespace and name: with their place,
 * and with all that is known of them, which costs ten times as much. row: for
 * queued_jobs_again(). */
void queued_jobs_each_place(struct queued_jobs *all, const char *ns,
	void (*each)(const struct queued_jobs_place *p, void *ctx), void *ctx);
void queued_jobs_each(struct queued_jobs *all, const char *ns,
	void (*each)(const struct queued_job *j, size_t row, void *ctx), void *ctx);
/* Says once more what is known of such a Job. */
void queued_jobs_again(const struct queued_jobs *all, size_t row, struct queued_job *ret);

/* Appends the Job that q names, as of now. False: no such Job is known, and nothing was
 * appended. *ret_news: a number that changes when there is something new to be told of it, and with
 * each minute, for ages and costs go on with the clock; NULL: not wanted. */
bool queued_jobs_one(const struct queued_jobs_sources *s, const struct job_query *q,
	struct buf *out, uint64_t *ret_news);

#endif
