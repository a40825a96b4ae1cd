/*
 * ClusterQueues: the spec in force, its quota, and its waiting and running Jobs.
 *
 * A record is made when something first names the queue: the object, a LocalQueue, or a Job adopted
 * from the ledger. It is freed with the last reference. In an inactive queue nothing starts
 * (clusterqueue_active()).
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_CLUSTERQUEUE_H
#define SLUICE_QUEUE_CORE_MODEL_CLUSTERQUEUE_H

#include "base/err.h"
#include "queue/core/model/alarm.h"
#include "base/arena.h"
#include "queue/core/model/cohort.h"
#include "queue/core/model/flavor.h"
#include "queue/core/model/keys.h"
#include "base/list.h"
#include "queue/core/model/quota.h"
#include "queue/core/model/cohort_tree.h"
#include "base/tree.h"
#include "sluice/queue.h"

struct plan;

#define CQ_GROUPS_MAX 16    /* resource groups */
#define CQ_RESOURCES_MAX 64 /* in a group */
#define CQ_FLAVORS_MAX 64   /* in a group; a claim keeps them as 64 bits */
#define CQ_PAIRS_MAX 512    /* flavors x resources in a group */

struct resource_group {
	size_t nresources, nflavors;
	const char **resources; /* symbols */
	struct flavor **flavors;
	struct quota_row **row; /* group_row() */
	struct group_keys keys;
};

static inline struct quota_row *group_row(
	const struct resource_group *g, size_t flavor, size_t resource)
{
	return g->row[flavor * g->nresources + resource];
}

/* The spec in force. */
struct cq_spec {
#include "sluice/fields/members.h"
#include "sluice/fields/clusterqueue.def"
#include "sluice/fields/end.h"
	struct resource_group *groups;
	size_t ngroups;
	struct arena memory;
	bool ignores_undeclared; /* requests that no group covers do not count */
};

/* Of workloads. */
struct cq_counts {
	size_t reserving, admitted;
	size_t nowhere; /* in groups of claim.nowhere: no node could take their pods */
	uint64_t started_total, preempted_total;
};

struct clusterqueue {
	char *name;
	uint64_t serial; /* of its making: seeds hashes in place of an address */
	uint32_t refs;	 /* LocalQueues, reservations, the object, a refused spec */
	struct tree_node by_name;
	struct quota_node *node;
	struct cohort_tree *cohort_tree;
	struct link of_cohort_tree;

	/* Everything zero while the object does not exist. */
	bool exists, deleting;
	int64_t generation;
	struct cq_spec spec;
	struct cohort *cohort; /* NULL: in none */
	char *invalid;	       /* the sentence about a newer spec that was refused */

	size_t nkeys; /* keys.h */

	struct tree groups_waiting;	     /* struct group, in queue order of their heads */
	struct tree order;		     /* every workload in those groups: ranks */
	struct backfill_slot *backfill_slot; /* backfill.h; NULL: there never was one */
	struct tree ends;  /* reservation.by_end: of strategy Backfill, run_ends.h */
	struct link heads; /* kept_start.of_heads: of Backfill with several, backfill_heads.h */
	uint64_t walks;	   /* ... along its waiting Jobs, to book heads */
	struct window_state *window_state; /* what RunPolicies say: window_state.h */
	struct lead *lead;		   /* lead.h; NULL: there never was one */
	struct alarm fit;		   /* when the head does not fit its window any more */
	struct alarm grown;		   /* when the next run is spared no more: pass.h */
	struct tree resting;		   /* runs that want more pods, but not yet: growth.h */
	size_t nasking;			   /* ... and that ask for them: quota_row.wishes */
	struct alarm growth;		   /* when the next of `resting` asks */
	struct link localqueues;	   /* localqueue.of_clusterqueue */
	struct link reservations;	   /* reservation.of_clusterqueue, held or leaving */
	struct link promised;		   /* reservation.of_clusterqueue, oldest promise first */
	struct link timed;    /* terms.of_clusterqueue: Jobs with terms on time or money */
	struct link budgets;  /* budget.of_owner, by name */
	struct link reserved; /* advance_reservation.of_clusterqueue */
	struct advance_users **advance_users; /* runs that may use these */
	size_t nadvance_users;
	struct plan *plan; /* plan_of(), when: */
	uint64_t plan_version;
	uint64_t features_as_of; /* features is right at this number of queue.features_edits */
	uint32_t features;	 /* a bit for each that concerns it: feature.h */
	struct link lacks_nodes; /* in node_suitability.lacking: node_fit.h */
	size_t nleaving;	 /* of reservations; 0: THEN is NOW */
	bool search;		 /* any group may start, not only fresh ones */
	bool woken;		 /* ... that may take back what others borrow */
	bool borrows_more;	 /* ... in others: what it borrows of late may be taken back */
	bool quota_fell;	 /* at the last effective_quota_apply(), by spec or windows */
	bool plans;	   /* its tree plans ahead, also after it moved to another: booked_runs.h */
	bool spared;	   /* minRun spared a run of it in this pass */
	struct link fresh; /* group.fresh: groups that no pass has judged yet */
	size_t nfresh;
	struct late_groups *late_groups; /* explain/ahead.h; NULL: nobody asked */
	struct cq_counts counts;
};

struct clusterqueues {
	struct map map;
	struct tree shown; /* the ones that exist or were refused, by name */
	uint64_t serials;
	struct quota *quota;
	struct cohorts *cohorts;
	struct map *flavors;
	bool ignore_undeclared; /* of the configuration */
};

void clusterqueues_init(struct clusterqueues *all, struct quota *quota, struct cohorts *cohorts,
	struct map *flavors);
void clusterqueues_done(struct clusterqueues *all);

struct clusterqueue *clusterqueue_find(const struct clusterqueues *all, const char *name);
struct clusterqueue *clusterqueue_keep(struct clusterqueues *all, const char *name);
/* All that something names, also those that do not exist, by name: those may have runs. The array
 * is the caller's to free. */
struct clusterqueue **clusterqueues_by_name(const struct clusterqueues *all, size_t *ret_n);
void clusterqueue_put(struct clusterqueues *all, struct clusterqueue *cq);

/* 0, or ERR_INVALID with object, field and cure. */
int clusterqueue_check(const struct clusterqueue_spec *s, struct err *e);

/* What a new spec makes stale. */
struct spec_change {
	bool reshaped; /* the claims: resources or flavors are other ones or in another order, or
			  quotas of another size */
	bool moved;    /* the Cohort trees: its Cohort is another one */
};

/* Take over a checked spec, or none. effective_quota.h makes its quotas effective afterwards. */
void clusterqueue_take_spec(struct clusterqueues *all, struct clusterqueue *cq,
	const struct clusterqueue_spec *s, struct spec_change *ret);
void clusterqueue_drop_spec(struct clusterqueues *all, struct clusterqueue *cq);

/* The first flavor it names that does not exist; NULL when all do. */
const struct flavor *clusterqueue_missing_flavor(const struct clusterqueue *cq);
/* The first flavor of idle resources in a wrong group; NULL: there is none. Such a group must cover
 * cpu and memory, as far as any group does, and nothing else: a pod cannot ask for one of the two
 * under the lent name and for the other not. *ret_group: which group. */
const struct flavor *clusterqueue_misplaced_flavor(
	const struct clusterqueue *cq, size_t *ret_group);
bool clusterqueue_names_flavor(const struct clusterqueue *cq, const struct flavor *f);

/* Why nothing starts in a ClusterQueue: the first of these that is so. */
enum clusterqueue_state {
	CLUSTERQUEUE_ACTIVE, /* something may */
	CLUSTERQUEUE_ABSENT, /* no spec of it is in force */
	CLUSTERQUEUE_DELETING,
	CLUSTERQUEUE_STOPPED,
	CLUSTERQUEUE_CYCLIC, /* its Cohort lies below itself */
	CLUSTERQUEUE_FLAVOR_MISSING,
	CLUSTERQUEUE_FLAVOR_MISPLACED,
};

enum clusterqueue_state clusterqueue_state(const struct clusterqueue *cq);

static inline bool clusterqueue_active(const struct clusterqueue *cq)
{
	return clusterqueue_state(cq) == CLUSTERQUEUE_ACTIVE;
}

#endif
