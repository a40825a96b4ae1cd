/*
 * A small world for the property test: every fact in plain arrays, and the queue that is told the
 * same facts.
 *
 * model_step() draws one random fact and tells it to both. The queue's decisions are compared with
 * a reference that only looks here (property_test.c), so nothing in this file may ask the queue for
 * anything.
 */
#ifndef SLUICE_TEST_QUEUE_MODEL_H
#define SLUICE_TEST_QUEUE_MODEL_H

#include "sluice/queue.h"

enum {
	N_FLAVORS = 6,
	N_QUEUES = 4,
	N_NAMESPACES = 3,
	N_LOCALS = 6, /* local i stands in namespace i % N_NAMESPACES */
	N_CLASSES = 3,
	N_JOBS = 120,
	N_PREDECESSORS = 200,
	N_RESOURCES = 5, /* cpu, memory, gpu, pods, odd */
	N_TAINTS = 2,
	PODS = 3, /* the index of "pods" */
	M_GROUPS = 2,
};

struct m_flavor {
	bool exists;
	int taint; /* -1: none */
	bool idle; /* nodes lend it: */
	int32_t share;
	int64_t pool[2], most[2]; /* cpu, memory; known or not that it is idle */
};

struct m_group {
	size_t nresources, nflavors;
	int resource[3], flavor[4];
	int64_t nominal[4][3];
};

struct m_queue {
	bool exists, deleting, strict;
	enum stop_policy stop;
	int selector; /* 0 nothing, 1 everything, 2 env in (prod) */
	bool caps;    /* spec.maxPriority: */
	int32_t cap;
	size_t ngroups;
	struct m_group group[M_GROUPS];
};

struct m_local {
	bool exists, deleting;
	enum stop_policy stop;
	int queue;
};

struct m_class {
	bool exists;
	int32_t value; /* 0 when it does not */
	bool by_default;
};

struct m_line {
	int queue, flavor, resource;
	int64_t each, amount; /* of one pod; now */
};

struct m_job {
	bool alive, held, blocked, invalid, deleting, preemptible;
	struct uid uid;
	int local;	      /* its label; the namespace is the local's */
	int class, pod_class; /* -1: none */
	int32_t counted;      /* its priority when its class was there last, or it waited */
	bool uncounted;	      /* it was adopted without, and nobody told what that was */
	int32_t pods;
	int64_t request[N_RESOURCES]; /* of one pod */
	unsigned tolerates;	      /* a bit for each taint */
	int after;		      /* the Job that it waits for (sluice.dev/after); -1: none */
	bool after_holds;	      /* that one has succeeded since, or it runs */
	int64_t created_ms, not_before_ms;
	uint64_t arrival;
	int user; /* who submitted it; -1: not known */
	int32_t nice;
	/* The place that it brings into line: that of its queueing, or one for which it exchanged that
	 * (sluice.dev/nice); and where it stands, as the reference deals. */
	struct m_place {
		int64_t ms;
		uint64_t arrival;
	} own, stands;
	bool room, confirmed, stop_given; /* room: it has a reservation */
	bool adopted;			  /* room was given by an earlier leader */
	bool reclaimed;			  /* its idle resources are reclaimed */
	int64_t stopped_ms;		  /* for that; 0: it was not */
	int64_t paid_ms;		  /* until then such stops have paid; 0: there was none */
	int room_queue, room_local;
	int32_t room_pods;
	size_t nlines;
	struct m_line line[8];
};

struct model {
	struct queue *q;
	uint64_t random, arrivals;
	uint32_t uids;
	int64_t now_ms;
	struct m_flavor flavor[N_FLAVORS];
	struct m_queue queue[N_QUEUES];
	struct m_local local[N_LOCALS];
	bool ns_exists[N_NAMESPACES], ns_prod[N_NAMESPACES];
	struct m_class class[N_CLASSES], pod_class[N_CLASSES];
	struct m_job job[N_JOBS];
	/* Jobs of no queue that others wait for, each of one namespace (model_namespace_of()), by
	 * number; the last few of them move. */
	enum predecessor_state predecessor[N_PREDECESSORS];
	int npredecessors;
};

extern const char *const m_resource_name[N_RESOURCES];

void model_init(struct model *m, uint64_t seed);
void model_done(struct model *m);
int model_namespace_of(int predecessor);
uint32_t model_below(struct model *m, uint32_t n); /* a random number below n */
void model_step(struct model *m);

/* The queue's present quota of g->resource[r] in g->flavor[f]. */
int64_t model_quota(const struct model *m, const struct m_group *g, size_t f, size_t r);

struct m_job *model_find(struct model *m, const struct uid *uid);

#endif
