/*
 * How long a Job is expected to take (reference A.4 rule 5): its annotation, else its
 * activeDeadlineSeconds, else the p95 of the last runs of its family (namespace and what made it)
 * once there are DURATION_SAMPLES_MIN of them, else unknown.
 *
 * A family keeps its last DURATION_SAMPLES runs that ended well; families that nobody asked for
 * longest are forgotten first, when there are more than DURATION_FAMILIES.
 */
#ifndef SLUICE_QUEUE_DURATION_H
#define SLUICE_QUEUE_DURATION_H

#include "base/map.h"
#include "queue/list.h"
#include "sluice/job.h"

#define DURATION_SAMPLES 20
#define DURATION_SAMPLES_MIN 5
#define DURATION_FAMILIES 10000

struct queue;

struct family; /* shared by the Jobs of it */

struct families {
	struct map map;
	struct link by_use;
	size_t count;
};

void families_init(struct families *all);
void families_done(struct families *all);

/* NULL for a Job that is one of a kind. */
struct family *family_of(struct queue *q, const char *ns, const char *family);
void family_put(struct queue *q, struct family *f);
void family_sample(struct family *f, int64_t ran_ms);

/* 0 when unknown. */
int64_t duration_expected(
	const struct job *j, const struct family *f, enum duration_source *ret_source);

#endif
