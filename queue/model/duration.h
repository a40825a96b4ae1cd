/*
 * How long a Job is expected to take (reference A.4 rule 5): its annotation, else its
 * activeDeadlineSeconds, else the p95 of the last runs of its family (namespace and what made it)
 * once there are DURATION_SAMPLES_MIN of them, else unknown.
 *
 * A family keeps its last DURATION_SAMPLES runs that ended well. Families that no Job names any
 * more are forgotten, those let go longest ago first, when there are more than DURATION_FAMILIES.
 *
 * Who waits has what is expected of it in its record (workload.expected_ms), so that it can stand
 * in trees by it. When its family learns something, it is told: at once as long as the family is
 * small, after a part of its runs when it is large, so that a run that ends costs a family of a
 * million no more than one of ten.
 */
#ifndef SLUICE_QUEUE_MODEL_DURATION_H
#define SLUICE_QUEUE_MODEL_DURATION_H

#include "base/map.h"
#include "base/list.h"
#include "sluice/job.h"

#define DURATION_SAMPLES 20
#define DURATION_SAMPLES_MIN 5
#define DURATION_FAMILIES 10000

struct queue;
struct workload;
struct family; /* shared by the Jobs of it */

struct families {
	struct map map;
	struct link idle; /* those that no Job names, let go longest ago first */
	size_t count;
};

void families_init(struct families *all);
void families_done(struct families *all); /* no Job is left */

/* The Job is one of that family from here on; "": one of a kind. */
void family_join(struct queue *q, struct workload *w, const char *ns, const char *family);
void family_leave(struct queue *q, struct workload *w);
/* Its name, "" when it is one of a kind. */
const char *family_name(const struct workload *w);

/* 0 when unknown. */
int64_t duration_expected(
	const struct job *j, const struct family *f, enum duration_source *ret_source);

#endif
