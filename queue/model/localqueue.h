/*
 * LocalQueues, and the namespaces they stand in.
 *
 * A LocalQueue's record is made by whoever names it first, the object or a Job's label, and goes
 * when nobody does. Its gate says whether its Jobs may stand in the order of a ClusterQueue at
 * all; whatever could change the gate (this object, its namespace, its ClusterQueue) must end with
 * workload_regate().
 */
#ifndef SLUICE_QUEUE_MODEL_LOCALQUEUE_H
#define SLUICE_QUEUE_MODEL_LOCALQUEUE_H

#include "base/map.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/tree.h"
#include "queue/model/workload.h"
#include "sluice/spec.h"

struct clusterqueue;
struct namespace_quota;
struct usage;

struct nspace {
	char *name;
	uint32_t refs; /* LocalQueues in it, and its quotas */
	bool exists;
	size_t ntaken;	      /* localqueue.ntaken of all of them */
	size_t unknown_slots; /* of the workloads that name LocalQueues that do not exist */
	const struct label *labels;
	size_t nlabels;
	struct arena memory;
	struct namespace_quota *quota; /* namespace_quota.h; NULL: it has no ResourceQuota */
	struct link localqueues;       /* localqueue.of_namespace */
};

enum localqueue_gate {
	GATE_MISSING,		   /* the object does not exist */
	GATE_CLUSTERQUEUE_MISSING, /* what it points to does not */
	GATE_NOT_SELECTED,	   /* the ClusterQueue's namespaceSelector says no */
	GATE_CLOSED,		   /* stopped, or being deleted */
	GATE_OPEN,
};

struct localqueue {
	struct nspace *ns;
	char *name;
	uint32_t refs; /* workloads, rooms, deferred Jobs, the object */
	struct tree_node by_name;

	bool exists, deleting;
	int64_t generation;
	enum stop_policy stop_policy;
	struct clusterqueue *cq; /* NULL while the object does not exist */
	enum localqueue_gate gate;
	struct localqueue_limits limits;

	struct window_state *window_state; /* its own (window_state.h); NULL: its ClusterQueue's */

	struct link of_namespace, of_clusterqueue;
	struct link members;	  /* workload.of_localqueue: all that name it now */
	struct link budgets;	  /* budget.of_owner, by name */
	struct link reservations; /* room.of_localqueue: all that started from it */
	size_t nwaiting, nreserving, nadmitted;
	size_t nactive; /* of those that wait: in the order, or with a promise */

	/* What is kept of its Jobs (overflow.h): of all members; of those that wait. */
	size_t slots, waiting_slots;
	size_t ntaken;		 /* Jobs that were deferred, and are being read */
	struct tree deferred;	 /* Jobs beyond, by creation */
	struct link overflowing; /* in overflow.queues while there are some */

	/* What it used lately, and who waits in it where that orders (precedence.h). */
	double weight;
	struct usage *usage; /* NULL: nothing is known (yet) */
	struct tree groups_waiting, order;
	bool scanned; /* in this pass, behind this place: */
	struct order_key behind;
};

struct localqueues {
	struct map map, namespaces;
	struct tree shown; /* those that exist, by namespace and name */
};

void localqueues_init(struct localqueues *all);
void localqueues_done(struct localqueues *all);

struct localqueue *localqueue_find(const struct localqueues *all, const char *ns, const char *name);
struct localqueue *localqueue_keep(struct localqueues *all, const char *ns, const char *name);
void localqueue_put(struct localqueues *all, struct localqueue *lq);

struct nspace *namespace_find(const struct localqueues *all, const char *name);
struct nspace *namespace_of(struct localqueues *all, const char *name); /* made when it must be */
void namespace_set(struct nspace *ns, const struct namespace_spec *s);
void namespace_unset(struct nspace *ns);
void namespace_tidy(struct localqueues *all, struct nspace *ns); /* frees it when unneeded */

/* Jobs that wait, deferred ones among them. */
size_t localqueue_pending(const struct localqueue *lq);

enum localqueue_gate localqueue_gate_now(const struct localqueue *lq);

#endif
