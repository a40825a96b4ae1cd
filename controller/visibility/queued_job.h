/*
 * A QueuedJob: what is told of one Job, as an object of visibility.sluice.dev or as a row of a Table.
 *
 * Nothing is told here but of the Job itself: its sentence names Jobs of other namespaces by their
 * number alone (queue/explain/explain_others.h). discovery.c says what each field means.
 */
#ifndef SLUICE_CONTROLLER_VISIBILITY_QUEUED_JOB_H
#define SLUICE_CONTROLLER_VISIBILITY_QUEUED_JOB_H

#include "base/buf.h"
#include "controller/gate/gate.h"
#include "controller/visibility/job_query.h"
#include "controller/visibility/queued_jobs.h"

struct queued_job {
	struct gate_listed listed;
	struct explanation explanation;
	const char *story; /* NULL: not told */
};

/* Appends it: an object, or a row. */
void queued_job_put(const struct queued_jobs_sources *s, const struct queued_job *j,
	enum job_query_form form, struct buf *out);

/* Appends the columns of the Table: a member of an object, with the comma before it. */
void queued_job_put_columns(struct buf *out);

#endif
