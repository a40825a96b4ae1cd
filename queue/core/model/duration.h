/*
 * The expected duration of a Job is the first of these:
 *
 *   - its annotation;
 *   - its activeDeadlineSeconds;
 *   - the p95 of the last runs of its family, once there are DURATION_SAMPLES_MIN of them;
 *   - unknown.
 *
 * A family is the Jobs of a namespace with the same owner (a CronJob) or generateName.
 *
 * A family keeps its last DURATION_SAMPLES runs that ended well. When there are more than
 * DURATION_FAMILIES, families that no Job names are forgotten, the longest unnamed first.
 *
 * A waiting Job has its expected duration in its record (workload.expected_ms), because trees are
 * ordered by it. When the family's p95 changes, its members are told: at the first p95, and then
 * once a sixteenth as many runs have ended as there are members. So a run that ends costs a family
 * of a million no more than one of ten.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_DURATION_H
#define SLUICE_QUEUE_CORE_MODEL_DURATION_H

#include "base/map.h"
#include "base/list.h"
#include "sluice/job.h"

#define DURATION_SAMPLES 20
#define DURATION_SAMPLES_MIN 5
#define DURATION_FAMILIES 10000

struct queue;
struct workload;
struct family; /* shared by the Jobs of it */
struct link;

struct families {
	struct map map;
	struct link idle; /* families that no Job names, the longest unnamed first */
	size_t count;
};

void families_init(struct families *all);
void families_done(struct families *all); /* no Job is left */

/* The Job is of that family from here on; "": of none. */
void family_join(struct queue *q, struct workload *w, const char *ns, const char *family);
void family_leave(struct queue *q, struct workload *w);
/* Return the family's runs, and its promises of quota in the order in which they were made
 * (reservation.of_family). The family is kept by its members. */
struct link *family_runs(struct family *f);
struct link *family_promises(struct family *f);
/* Returns the members that wait to run alone: dependency_wait.of_family. */
struct link *family_singletons(struct family *f);

/* Returns the name of the workload's family; "": none. */
const char *family_name(const struct workload *w);

/* Returns the Job's expected duration; 0: unknown. */
int64_t duration_expected(
	const struct job *j, const struct family *f, enum duration_source *ret_source);

#endif
