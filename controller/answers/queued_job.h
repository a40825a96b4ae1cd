/*
 * A QueuedJob: what is told of one Job, as an object of visibility.sluice.dev or as a row of a
 * Table.
 *
 * Nothing is told here but of the Job itself: its sentence names Jobs of other namespaces by their
 * number alone (queue/explain/explain.h). The row of each member says what it means
 * (controller/common/view.h).
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_QUEUED_JOB_H
#define SLUICE_CONTROLLER_ANSWERS_QUEUED_JOB_H

#include "base/buf.h"
#include "controller/gate/gate.h"
#include "controller/common/view.h"
#include "controller/answers/job_query.h"
#include "controller/answers/queued_jobs.h"
#include "controller/answers/watch_rows.h"

struct queued_job {
	struct gate_listed listed;
	struct explanation explanation;
	const char *story; /* NULL: not told */
	bool tells_after;  /* tells the items of sluice.dev/after: of a single Job */
	uint64_t version;  /* resourceVersion (watch_terms.h); 0: not told */
};

extern const struct view queued_job_view;

/* Returns a number that changes when there is something to be told of the Job. What only passes
 * with the clock does not count: ages, costs, and what view_digest_sentence() leaves out. A start
 * counts when it is first told, when it has moved (moves.h), and when it is no longer told. */
uint64_t queued_job_digest(const struct queued_jobs_sources *s, const struct queued_job *j);

/* Puts the QueuedJob as a member (key NULL: as an item, or the whole): an object, or a row. */
void queued_job_put(struct json_writer *w, const char *key, const struct queued_jobs_sources *s,
	const struct queued_job *j, enum job_query_form form);

/* Puts a QueuedJob that is no more, by what is left of it. */
void queued_job_put_gone(struct json_writer *w, const char *key,
	const struct queued_jobs_sources *s, const struct watch_row *r, uint64_t version,
	enum job_query_form form);

/* Begins the event of a watch, up to its object, which is the row if it is of a Table. Columns are
 * told once in a watch. Returns the key for what is put next. */
const char *queued_job_begin_event(struct json_writer *w, const char *type, uint64_t version,
	bool with_columns, enum job_query_form form);
/* Ends the event and its line. */
void queued_job_end_event(struct json_writer *w);

/* Appends a bookmark: an event of a watch that says how far it has come. is_end: all that there was
 * at first has been told. */
void queued_job_put_bookmark(
	uint64_t version, bool is_end, enum job_query_form form, struct buf *out);

/* Puts the columns of the Table as a member. */
void queued_job_put_columns(struct json_writer *w);

#endif
