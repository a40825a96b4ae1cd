/*
 * Variants of a Job that waits: each is that Job with one change that its owner could make, to be
 * played in its place (reviews.h).
 *
 *   Pods              half of its pods, unless it may start with fewer already;
 *   Toleration        a flavor whose taints its pods do not tolerate;
 *   NodeLabels        a flavor whose nodeLabels its nodeSelector rules out;
 *   LocalQueue        another one of its namespace;
 *   ExpectedDuration  half of what it is expected to take, where its start hangs on that;
 *   PriorityClass     the next higher WorkloadPriorityClass, and the highest;
 *   MaxPrice          a tenth more.
 *
 * Each change is one annotation, label or field; all else of the Job is the same. A change that is
 * not tried has a sentence that says why, where its owner could do something about that.
 *
 * Left to others: which of them helps.
 */
#ifndef SLUICE_CONTROLLER_FORECAST_JOB_VARIANTS_H
#define SLUICE_CONTROLLER_FORECAST_JOB_VARIANTS_H

#include "base/arena.h"
#include "sluice/alternatives.h"
#include "sluice/job.h"

enum { JOB_VARIANTS_MAX = 8, JOB_UNPLAYED_MAX = 8 };

enum job_change {
	CHANGE_PODS,
	CHANGE_TOLERATION,
	CHANGE_NODE_LABELS,
	CHANGE_LOCALQUEUE,
	CHANGE_EXPECTED_DURATION,
	CHANGE_PRIORITY_CLASS,
	CHANGE_MAX_PRICE,
	JOB_CHANGES,
};

const char *job_change_name(enum job_change c); /* "Pods", "Toleration", ... */

struct job_variant {
	enum job_change change;
	const char *from; /* "": there was none, or it means nothing */
	const char *to;
	const char *text; /* "with 8 pods instead of 16" */
	struct job job;	  /* borrows from the Job that it is a variant of */
};

struct job_variants {
	struct arena memory; /* of all texts */
	struct job_variant item[JOB_VARIANTS_MAX];
	size_t n;
	struct job_unplayed {
		enum job_change change;
		const char *text;
	} unplayed[JOB_UNPLAYED_MAX];
	size_t nunplayed;
};

/* Makes the variants. j: as the API server has it, borrowed until job_variants_done(). a: what its
 * queue offers, copied. expected_ms: how long the queue expects it to run; 0: not known. */
void job_variants_make(struct job_variants *v, const struct job *j, const struct alternatives *a,
	int64_t expected_ms);
void job_variants_done(struct job_variants *v);

#endif
