/*
 * Cohorts: inner nodes of the quota tree. Their members lend each other what they do not use.
 *
 * A record is made when something first names the Cohort: the object, a ClusterQueue's cohortName,
 * or a parentName. It is freed with the last reference. Without an object it has no quota and no
 * parent. If the parents of a Cohort lead into a cycle, it has no parent in the
 * quota tree until the cycle is gone. Meanwhile nothing starts in it or below it.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_COHORT_H
#define SLUICE_QUEUE_CORE_MODEL_COHORT_H

#include "base/err.h"
#include "queue/core/model/named_object.h"
#include "queue/core/model/quota.h"
#include "sluice/spec.h"

struct cohort {
	struct named_object object;
	uint32_t refs; /* ClusterQueues and Cohorts below it, the object, a refused spec */
	struct quota_node *node;

	/* The spec in force; everything zero while the object does not exist. */
	bool exists;
	int64_t generation;
	struct cohort *parent; /* as the spec says, a cycle or not */
	double weight;	       /* 1 while there is no object */

	bool cyclic; /* its ancestors never end */
};

struct cohorts {
	struct named_objects all;
	struct quota *quota;
};

void cohorts_init(struct cohorts *all, struct quota *quota);
void cohorts_done(struct cohorts *all);

struct cohort *cohort_find(const struct cohorts *all, const char *name);
struct cohort *cohort_keep(struct cohorts *all, const char *name); /* made when it must be */
void cohort_put(struct cohorts *all, struct cohort *c);

/* 0, or ERR_INVALID with object, field and cure. */
int cohort_check(const struct cohort_spec *s, struct err *e);

/* Take over a checked spec, or none. effective_quota.h makes its quotas effective afterwards. */
void cohort_take_spec(struct cohorts *all, struct cohort *c, const struct cohort_spec *s);
void cohort_drop_spec(struct cohorts *all, struct cohort *c);

/* Finds the cycles, and puts every Cohort's node below its parent's, or below none. */
void cohorts_link(struct cohorts *all);

#endif
