/*
 * A QueuedJob: what is told of one Job, as an object of visibility.sluice.dev or as a row of a Table.
 *
 * Nothing is told here but of the Job itself: its sentence names Jobs of other namespaces by their
 * number alone (queue/explain/explain.h). discovery.c says what each field means.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_QUEUED_JOB_H
#define SLUICE_CONTROLLER_ANSWERS_QUEUED_JOB_H

#include "base/buf.h"
#include "controller/gate/gate.h"
#include "controller/answers/job_query.h"
#include "controller/answers/queued_jobs.h"
#include "controller/answers/watch_rows.h"

struct queued_job {
	struct gate_listed listed;
	struct explanation explanation;
	const char *story; /* NULL: not told */
	bool tells_after;  /* the items of its sluice.dev/after: of a single Job */
	uint64_t version;  /* resourceVersion (watch_terms.h); 0: not told */
};

/* When it starts, as the queue played forward says. False: nobody has played it lately, or not as it is now,
 * or it does not wait (any more). */
bool queued_job_forecast(
	const struct queued_jobs_sources *s, const struct queued_job *j, struct forecast *ret);

/* Appends it: an object, or a row. */
void queued_job_put(const struct queued_jobs_sources *s, const struct queued_job *j,
	enum job_query_form form, struct buf *out);

/* The same of one that is no more, by what is left of it. */
void queued_job_put_gone(const struct queued_jobs_sources *s, const struct watch_row *r,
	uint64_t version, enum job_query_form form, struct buf *out);

/* Appends a bookmark: an event of a watch that says how far it has come. is_end: all that there was
 * at first was told. */
void queued_job_put_bookmark(
	uint64_t version, bool is_end, enum job_query_form form, struct buf *out);

/* The event of a watch around an object; of a Table the object is its row. Columns are told once in
 * a watch. */
void queued_job_begin_event(const char *type, uint64_t version, bool with_columns,
	enum job_query_form form, struct buf *out);
void queued_job_end_event(enum job_query_form form, struct buf *out);

/* Appends the columns of the Table: a member of an object, with the comma before it. */
void queued_job_put_columns(struct buf *out);

#endif
