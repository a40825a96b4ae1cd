/*
 * The remit: which Jobs are managed at all (reference 9.4).
 *
 * Those in a namespace whose labels the selector takes, if they name a queue, or all of them with
 * --manage-jobs-without-queue-name. Without a selector every namespace is in the remit; the two
 * that are always left alone, kube-system and sluice-system, are never watched in the first place.
 *
 * A Job may be seen before its namespace: until that is known, the Job is turned away, and the
 * realm remembers that it was.
 */
#ifndef SLUICE_CONTROLLER_REMIT_H
#define SLUICE_CONTROLLER_REMIT_H

#include <stdbool.h>

#include "sluice/job.h"
#include "sluice/spec.h"

struct remit;

/* namespaces may be NULL (all); it is borrowed. */
struct remit *remit_new(const struct selector_term *namespaces, bool without_queue_name);
void remit_free(struct remit *r);

/* True when that changes for Jobs that were asked about: all must be looked at again. */
bool remit_see_namespace(struct remit *r, const struct namespace_spec *s);
bool remit_drop_namespace(struct remit *r, const char *name);

bool remit_has(struct remit *r, const struct job *j);

#endif
