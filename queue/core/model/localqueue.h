/*
 * LocalQueues, and the namespaces they stand in.
 *
 * A LocalQueue's record is made when the object or a Job's label first names it, and freed with the
 * last reference. Its gate says whether its Jobs may stand in the order of a ClusterQueue. Each
 * change that the gate depends on (this object, its namespace, its ClusterQueue) must end with
 * workload_regate().
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_LOCALQUEUE_H
#define SLUICE_QUEUE_CORE_MODEL_LOCALQUEUE_H

#include "base/map.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/tree.h"
#include "queue/core/model/workload.h"
#include "sluice/spec.h"

struct clusterqueue;
struct namespace_quota;
struct usage;

struct nspace {
	char *name;
	uint32_t refs; /* LocalQueues in it, and its quotas */
	bool exists;
	size_t ntaken;	      /* localqueue.ntaken of all its LocalQueues */
	size_t unknown_slots; /* of workloads that name LocalQueues that do not exist */
	const struct label *labels;
	size_t nlabels;
	struct arena memory;
	struct namespace_quota *quota; /* namespace_quota.h; NULL: it has no ResourceQuota */
	struct link localqueues;       /* localqueue.of_namespace */
};

enum localqueue_gate {
	GATE_MISSING,		   /* the object does not exist */
	GATE_CLUSTERQUEUE_MISSING, /* its ClusterQueue does not */
	GATE_NOT_SELECTED,	   /* the ClusterQueue's namespaceSelector says no */
	GATE_CLOSED,		   /* stopped, or being deleted */
	GATE_OPEN,
};

struct localqueue {
	struct nspace *ns;
	char *name;
	uint32_t refs;		  /* workloads, reservations, deferred Jobs, the object */
	struct tree_node by_name; /* the object is there */

	bool exists, deleting; /* exists: with a spec that is in force */
	char *invalid;	       /* why its newest spec was refused; NULL: it was not */
	int64_t generation;
	uint64_t edited; /* queue_job_edited() of its Jobs is this at least */
	enum stop_policy stop_policy;
	struct clusterqueue *cq; /* NULL while the object does not exist */
	enum localqueue_gate gate;
	struct localqueue_limits limits;
	struct pod_metadata metadata; /* spec.podTemplate */
	struct arena memory;	      /* of limits and metadata */

	struct window_state *window_state; /* its own (window_state.h); NULL: its ClusterQueue's */

	struct link of_namespace, of_clusterqueue;
	struct link members;	  /* workload.of_localqueue: all that name it now */
	struct tree users;	  /* user.by_name: who submitted them (user.h) */
	struct link budgets;	  /* budget.of_owner, by name */
	struct link reservations; /* reservation.of_localqueue: all that started from it */
	size_t nwaiting, nreserving, nadmitted;
	size_t nactive;	  /* of nwaiting: in the order, or with a promise */
	size_t npromised; /* of these: with a promise */

	/* Slots of memory (overflow.h) of all members, and of the waiting ones. */
	size_t slots, waiting_slots;
	size_t ntaken;		 /* Jobs that were deferred, and are being read */
	struct tree deferred;	 /* Jobs beyond maxWaiting: overflow_order() */
	struct link overflowing; /* in overflow.queues while there are some */

	/* Usage of late, and waiting Jobs where usage orders them (precedence.h). */
	double weight;
	struct usage *usage; /* NULL: no Job has run under this record yet */
	struct tree groups_waiting, order;
	bool scanned; /* in this pass, behind this place: */
	struct order_key behind;
};

struct localqueues {
	struct map map, namespaces;
	struct tree shown; /* of which the object is there, by namespace and name */
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

/* Waiting Jobs, deferred ones included. */
size_t localqueue_pending(const struct localqueue *lq);

/* Takes over spec.podTemplate, and the limits. */
void localqueue_take_terms(struct localqueue *lq, const struct localqueue_limits *limits,
	const struct pod_metadata *metadata);

/* While the labels of a namespace are unknown, only a selector without requirements selects it. */
bool clusterqueue_selects(const struct clusterqueue *cq, const struct nspace *ns);
enum localqueue_gate localqueue_gate_now(const struct localqueue *lq);

#endif
