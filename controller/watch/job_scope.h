/*
 * The job scope: which Jobs are managed at all (Kueue's KEP-3589).
 *
 * A Job is, if it names a queue (or with --manage-jobs-without-queue-name) and the selector takes
 * the labels of its namespace. Without a selector every namespace is in scope. kube-system and
 * sluice-system are always left alone: they are never watched in the first place.
 *
 * A Job may be seen before its namespace. Until that is known the Job is turned away, and the scope
 * remembers that it was.
 */
#ifndef SLUICE_CONTROLLER_WATCH_JOB_SCOPE_H
#define SLUICE_CONTROLLER_WATCH_JOB_SCOPE_H

#include <stdbool.h>

#include "sluice/job.h"
#include "sluice/spec.h"

struct job_scope;

/* Makes a scope. namespaces is borrowed; NULL: all. */
struct job_scope *job_scope_new(const struct selector_term *namespaces, bool without_queue_name);
void job_scope_free(struct job_scope *r);

/* True when the scope changes for Jobs that were asked about: all must be looked at again. */
bool job_scope_see_namespace(struct job_scope *r, const struct namespace_spec *s);
bool job_scope_drop_namespace(struct job_scope *r, const char *name);

bool job_scope_has(struct job_scope *r, const struct job *j);

#endif
