/*
 * The state: struct queue, all that is kept between two calls.
 *
 * A change of facts marks what must be looked at again. queue_touch() marks a Cohort tree in which
 * something might start now (queue.dirty), reservation_suspect() a run that might have to stop
 * (queue.suspects): starts and stops come from these two lists alone. What else waits for the next
 * decision, alarms that are due and the lists of features (improvable, leading, owing,
 * unsettled_lines and more), marks Cohort trees and runs in its turn. In which order, and why,
 * stands at queue_decide() in queue.c.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_STATE_H
#define SLUICE_QUEUE_CORE_MODEL_STATE_H

#include "base/slab.h"
#include "queue/requests/accounting.h"
#include "queue/core/model/alarm.h"
#include "queue/core/model/clusterqueue.h"
#include "queue/core/model/disruption.h"
#include "queue/core/model/duration.h"
#include "queue/core/model/group.h"
#include "queue/core/model/localqueue.h"
#include "queue/core/model/nice.h"
#include "queue/core/model/overflow.h"
#include "queue/core/model/priority.h"
#include "queue/core/model/quota.h"
#include "queue/core/model/booked_runs.h"
#include "queue/core/model/quota_plan.h"
#include "queue/requests/shape.h"
#include "queue/core/model/unread.h"
#include "queue/core/model/usage.h"
#include "queue/core/model/user.h"
#include "sluice/queue_call.h"

enum { RESERVATION_SLABS = 8 };

struct preemption;
struct scratch; /* what a view hands out until the next call */

/* Counters that only grow. */
struct queue_counters {
	uint64_t arrivals, reservations, users, version;
	uint64_t alarms;	 /* of Jobs: arrivals may repeat when the API server went back */
	uint64_t features_edits; /* of objects that features look at (feature.h); never 0 */
	uint64_t
		terms_edits; /* of PricePlans, Calendars and RunPolicies: what booked starts rest on */
	uint64_t edits;	     /* queue_edits() */
	uint64_t calls;	     /* of calls that may have changed it (tell.h) */
	uint64_t placed;     /* how often any workload was placed: what a pass costs, for tests */
};

struct queue {
	/* What features keep (queue.c makes room for it). */
	struct namespace_quotas *namespace_quotas;
	struct node_suitability *node_suitability;
	struct autoscalers *autoscalers;
	struct plans *plans;
	struct budgets *budgets;
	struct advance_reservations *advance_reservations;
	struct predecessors *predecessors;
	struct named_objects *calendar_refs; /* calendar_ref.h */
	struct runpolicies *runpolicies;

	struct map symbols;
	struct queue_config config;
	struct arena config_memory;
	struct accounting accounting;
	struct quota quota;
	struct quota_plan quota_plan;
	struct map kept_starts; /* kept_start.h */
	struct map flavors;
	struct cohorts cohorts;
	struct clusterqueues clusterqueues;
	struct localqueues localqueues;
	struct overflow overflow;
	struct unread unread;
	struct priorities priorities;
	struct shapes shapes;
	struct groups groups;
	struct families families;
	struct disruptions disruptions;
	struct advance_use *advance_uses; /* what the view of one hands out until the next call */
	struct buf bill_text;		  /* what queue_job_bill() hands out until the next call */
	struct map workloads;
	struct slab reservations[RESERVATION_SLABS + 1]; /* by how many lines they have */
	struct tree back_off;
	struct nices nices;
	struct tree alarms;
	struct usages usages;
	struct link improvable;	     /* cohort_tree.improvable: booked_start.h */
	struct link leading;	     /* lead.leading */
	struct link owing;	     /* cohort_tree.owing */
	struct link dirty;	     /* cohort_tree.dirty: in the order of the first touch */
	struct link suspects;	     /* reservation.suspect: in the order of suspicion */
	struct link unsettled_lines; /* user_line.unsettled */
	struct queue_counters counters;
	uint32_t features_awake; /* a bit each: feature.sleeps */
	int64_t now_ms;		 /* of the last queue_decide */
	int64_t set_back_ms; /* by so much the clock was set back, and not on again: queue_clock_stepped() */
	struct arena sentences; /* of the decisions that were given last */
	bool paused;		/* nothing starts (queue_pause_starts()) */
	bool deciding; /* now_ms is now. Else it may be hours old: facts come between decisions */
	size_t nwaiting;
	size_t gap_fillers;    /* workloads that fill gaps */
	size_t moldable;       /* workloads that can do with fewer pods */
	size_t workload_bytes; /* of all workloads, reservations and users */
	struct scratch *scratch;
	struct preemption *preemption;	/* kept from one search for victims to the next */
	struct queue_listener listener; /* of the calls that change it (tell.h) */
	struct link come_starts;	/* kept_start.come: their time has come in this decision */
	uint64_t kept_starts_as_of;	/* edits of quotas that kept starts have seen */
};

/* A fresh group may start in cq now. The others were judged, and nothing became better for them. */
static inline void queue_touch_fresh(struct queue *q, struct clusterqueue *cq)
{
	if (!list_in(&cq->cohort_tree->dirty))
		list_add(&q->dirty, &cq->cohort_tree->dirty);
}

/* Anything may start in the tree now. */
static inline void queue_touch_tree(struct queue *q, struct cohort_tree *tree)
{
	tree->search = true;
	if (!list_in(&tree->dirty))
		list_add(&q->dirty, &tree->dirty);
}

/* Anything may start in cq now. */
static inline void queue_touch_queue(struct queue *q, struct clusterqueue *cq)
{
	cq->search = true;
	queue_touch_fresh(q, cq);
}

/* Anything may start in cq or in its Cohort tree (NULL: nothing to do). Not news: victims free
 * quota, for example. */
static inline void queue_touch_tree_of(struct queue *q, struct clusterqueue *cq)
{
	if (!cq)
		return;
	cq->cohort_tree->search = true;
	queue_touch_fresh(q, cq);
}

/* As queue_touch_tree_of(), and news, because quota came free or was edited: Jobs that yielded
 * may preempt again. */
static inline void queue_touch(struct queue *q, struct clusterqueue *cq)
{
	if (cq)
		cq->cohort_tree->news++;
	queue_touch_tree_of(q, cq);
}

struct workload *queue_find_workload(const struct queue *q, const struct uid *uid);
/* The reservation of a Job; NULL: it holds no quota, or is not known. */
static inline struct reservation *queue_find_reservation(
	const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return w ? w->reservation : NULL;
}

/* Forgets a Job and all that it holds. */
void queue_forget_workload(struct queue *q, struct workload *w);

#endif
