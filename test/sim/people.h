/*
 * People: users who submit, edit, hold, move, suspend and delete Jobs whenever they like, and
 * admins who change quotas and queues under them; now and then a user who goes around the queue.
 *
 * What admins describe is kept here as plain small tables, with a history of changes that each
 * controller's watches read.
 */
#ifndef SLUICE_TEST_SIM_PEOPLE_H
#define SLUICE_TEST_SIM_PEOPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/policy.h"
#include "sluice/spec.h"
#include "test/sim/model_api.h"
#include "test/sim/rng.h"

struct sim;

#define CLUSTERQUEUES 3
#define LOCALQUEUES 5
#define FLAVORS 3
#define COHORTS 3
#define CLASSES 3
#define NAMESPACES 2
#define CALENDARS 2
#define RUNPOLICIES 3
#define PLANS 1
#define BUDGETS 2
#define ADVANCES 3
#define ADVANCE_ROWS 6
#define JOBS_MAX 60 /* alive at a time: keeps a seed within milliseconds */

enum config_kind {
	CONFIG_NAMESPACE,
	CONFIG_FLAVOR,
	CONFIG_CLASS,
	CONFIG_COHORT,
	CONFIG_CLUSTERQUEUE,
	CONFIG_LOCALQUEUE,
	CONFIG_CALENDAR, /* from here on: windows.h */
	CONFIG_RUNPOLICY,
	CONFIG_PLAN,
	CONFIG_BUDGET,
	CONFIG_ADVANCE, /* advance.h */
	CONFIG_KINDS
};

/* What the status of an AdvanceReservation says (advance.h). */
struct advance_status {
	int64_t accepted; /* that generation was; 0: none */
	int64_t left_from_ms;
	size_t nleft;
	struct {
		const char *flavor, *resource;
		int64_t amount;
	} left[ADVANCE_ROWS];
};

struct advance_object {
	uint32_t incarnation; /* its uid: a name may be used again */
	uint32_t version;     /* each change of it, and of its status */
	int64_t created_ms;
	bool everywhere; /* maintenance of a flavor in all ClusterQueues; else in `clusterqueue` */
	bool maintenance;
	const char *flavor;
	int64_t cpu, memory;	   /* 0: not of that; both: all that there is of the flavor */
	int64_t from_ms, until_ms; /* 0: whenever `calendar` is open */
	unsigned namespaces;	   /* whose Jobs may use it, a bit each; 0: all */
	int64_t release_after_ms;
	int64_t shortest_release_ms; /* that it ever was; 0: it always was 0 */
	struct advance_status status;
	bool *found_free; /* by a queue that read no status which says so; one flag for all copies */
};

/* One object of one kind; only the fields of its kind count. */
struct config {
	enum config_kind kind;
	size_t index;
	bool exists;
	int64_t generation;
	int32_t value; /* of a class */
	enum stop_policy stop;
	/* ClusterQueue: cpu and memory together in the flavors listed, gpu alone in the last
	 * flavor; pods in the same group as cpu when covered. */
	enum queueing_strategy strategy;
	size_t flavor[2], nflavors;
	bool covers_gpu, covers_pods;
	int64_t cpu[2], memory[2], pods[2], gpu;
	/* ClusterQueue and Cohort. A Cohort has quota of its own in all flavors but gpu's, or none.
	 */
	int cohort; /* the Cohort it is in, or its parent; -1: none */
	bool has_quota;
	int lend, borrow; /* limits in percent of cpu's and memory's nominal quota; -1: none */
	struct preemption_spec preemption;
	int32_t gaps_below; /* spec.gapFillers */
	bool grow_by_default;
	int64_t grow_interval_ms;
	struct fungibility_spec fungibility;
	double weight;
	/* LocalQueue, Budget, AdvanceReservation */
	size_t clusterqueue;
	struct advance_object advance;
	/* Calendar: open each `period` minutes for `length` of them, or every day from one minute
	 * to another; in a zone that is so far from UTC, as a Budget's. */
	bool broken, by_days;
	int offset_minutes, period, length, from_minute, to_minute;
	int offset_s;	   /* of that zone, too */
	bool never_closes; /* besides, another window of it is open all the time */
	/* RunPolicy, and PricePlan, whose factor holds while the calendar is open. queues: a bit
	 * for each ClusterQueue; localqueue: -1 none */
	size_t calendar;
	unsigned queues;
	int localqueue;
	enum start_fit fit;
	bool hold_unknown, suspends, at_price_rise;
	int32_t margin, suspensions; /* -1: no limit */
	int64_t notice_ms, overrun_ms, min_run_ms;
	int64_t window_cpu, window_borrow; /* in its window: window_quota.h; -1: none */
	int64_t price, factor;		   /* of a core's hour; a Budget's amount */
	/* Budget */
	enum budget_period budget_period;
	enum budget_exhausted exhausted;
	bool actual;
};

/* What a row of the quota tree may hold, worked out from what admins describe as the reference has
 * it (3.2): by plain recursion, nothing remembered. */
struct quota_row_of {
	const struct config *node; /* ClusterQueue or Cohort */
	const char *flavor, *resource;
};

struct people {
	struct queue_config queue; /* the flags of all controllers */
	bool cohorts;		   /* there are some in this world */
	bool time;		   /* ... and windows, prices and Budgets */
	bool has_own_rules;	   /* ... and rules of min_run.h */
	struct rng own_rules;	   /* of its own, so that worlds without them stay what they were */
	struct config config[CONFIG_KINDS][LOCALQUEUES]; /* as it is now */
	size_t submitted;
	size_t alive;
};

extern const char *const namespace_names[NAMESPACES];
extern const char *const flavor_names[FLAVORS];
extern const char *const class_names[CLASSES];
extern const char *const cohort_names[COHORTS];
extern const char *const clusterqueue_names[CLUSTERQUEUES];
extern const char *const localqueue_names[LOCALQUEUES];
size_t localqueue_namespace(size_t index);
size_t config_count(enum config_kind k);

/* A user submits a Job; twist: what else is to be of it, or NULL. */
struct model_job *people_submit(struct sim *s, void (*twist)(struct sim *s, struct snap *n));
/* A user unsuspends a Job that was not admitted. */
void people_unsuspend(struct sim *s, struct model_job *j);
/* An admin has edited that. */
void people_changed(struct sim *s, struct config *c);
void people_delete_orphaning(struct sim *s, struct model_job *j);

/* Describes the first queues and starts acting. */
void people_begin(struct sim *s);

/* True when its Cohorts' parents form a circle. */
bool config_is_cyclic(const struct people *p, const struct config *c);
int64_t quota_nominal(const struct quota_row_of *r);
int64_t quota_subtree(const struct people *p, const struct quota_row_of *r);
/* The part of it that those above do not see. */
int64_t quota_local(const struct people *p, const struct quota_row_of *r);
/* "cq/batch", "cohort/org" */
void config_node(const struct config *c, char ret[40]);
/* NULL at the root. */
const struct config *config_parent(const struct people *p, const struct config *c);
/* The limit on what it takes from above; QUOTA_UNLIMITED: none. */
int64_t quota_borrowing_limit(const struct people *p, const struct quota_row_of *r);

/* Which of a ClusterQueue's flavors covers nothing else: gpu's. */
#define GPU_FLAVOR (FLAVORS - 1)

#endif
