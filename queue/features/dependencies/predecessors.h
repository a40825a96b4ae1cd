/*
 * Predecessors: what is known of Jobs that others wait for.
 *
 * An item of sluice.dev/after waits for a name, or for all names that a selector takes. Both are
 * kept by namespace, and only while an item waits for them:
 *
 *   predecessor_name      the Jobs that had this name (known_jobs.h).
 *   predecessor_selector  how many of the names that it takes have which outcome (selectors.h). A
 *                         name is taken when its newest Job has the labels.
 *
 * So an event costs a look into a map, and a look at each selector for which Jobs of that namespace
 * wait (PREDECESSOR_SELECTORS_MAX). Followers are looked at only when a verdict may have changed.
 *
 * A selector that is answered looks at the names that it takes, and at no others: a namespace may wait
 * for hundreds of thousands. A Job that it takes and its answer does not name may be gone, or may
 * have lost its labels and run on. So that name is asked for: only an answer about a name says that
 * its Job is gone.
 */
#ifndef SLUICE_QUEUE_FEATURES_DEPENDENCIES_PREDECESSORS_H
#define SLUICE_QUEUE_FEATURES_DEPENDENCIES_PREDECESSORS_H

#include "base/arena.h"
#include "queue/features/dependencies/known_jobs.h"
#include "queue/features/dependencies/wanted.h"
#include "sluice/queue.h"

/* Bounds for what one namespace can make us keep. */
#define PREDECESSOR_SELECTORS_MAX 64 /* of a namespace: more wait for their turn */
/* Bound on what an event may cost: the comparisons for each selector of the namespace. */
#define PREDECESSOR_REQUIREMENTS_MAX                                                               \
	16 /* of a selector, and values of them all: more are refused */

struct dependency_item;
struct dependency_wait;

/* What an item waits for: a name or a selector. */
struct awaited {
	struct predecessor_namespace *ns;
	bool is_selector;
	struct link followers; /* dependency_item.of_awaited: those that do not hold */
	struct wanted wanted;
};

struct predecessor_name {
	struct awaited awaited;
	struct link of_namespace;
	char *name;
	struct known_jobs jobs;
	uint64_t taken_by; /* bits of predecessor_selector.bit */
	uint16_t *place;   /* in the .taken of each of them, the lowest bit first */
	bool missed;	   /* by an answer about one of them, since the last about itself */
	uint64_t mark;	   /* serial of the last answer that named it */
	struct link moved; /* in predecessor_namespace.moved: its followers are to be looked at */
	bool was_deleted;  /* its newest Job, before it was ever started */
};

struct predecessor_selector {
	struct awaited awaited;
	uint64_t bit; /* one bit */
	struct selector_term term;
	struct arena memory;
	struct predecessor_name **taken; /* in no order; room: the next power of two */
	size_t ntaken;
	size_t with[OUTCOMES]; /* of them, by the outcome of their newest Job */
	const struct predecessor_name *one[OUTCOMES]; /* of those, for people; NULL: look */
	int64_t failed_ms;			      /* when the last of them failed */
	bool too_many;				      /* it takes more than it may */
	uint64_t verdicts;   /* that its followers were told: selector_verdicts() */
	unsigned kept_moved; /* bits of outcomes of members that came or went: outcome_record.h */
	uint64_t confirms;   /* the answer without which none holds: as wanted.answered */
	bool disturbed; /* events moved it while its question was out: that answer may be older */
};

struct predecessor_namespace {
	char *name;
	struct map by_name;
	struct link names;	  /* predecessor_name.of_namespace */
	struct link moved;	  /* predecessor_name.moved */
	uint64_t selectors_moved; /* bits of those whose counts have changed */
	struct predecessor_selector *selector[PREDECESSOR_SELECTORS_MAX];
	struct wanted_line questions;
	struct link crowded; /* dependency_item.of_awaited: there was no place for its selector */
};

/* The Jobs of which the record of outcomes is to be written: outcome_record.h. */
struct unrecorded {
	struct link lines; /* of namespaces: the one whose turn it is first */
	struct map by_ns;
};

struct predecessors {
	struct map namespaces;
	struct wanteds wanteds;
	struct unrecorded unrecorded;
	size_t bytes;	   /* of names and selectors */
	uint64_t answers;  /* that came so far */
	size_t singletons; /* workloads with `singleton` */
	struct link due;   /* dependency_wait.due */
	bool listing;	   /* between queue_begin_job_list() and queue_end_job_list() */
};

void predecessors_init(struct predecessors *all);
void predecessors_done(struct queue *q); /* no Job is left */
/* What queue_return_wanted() does. */
void predecessors_return(struct queue *q, uint64_t id);

/* The item waits from here on / does not wait any more. */
void predecessors_join(
	struct queue *q, struct dependency_item *item, const char *ns, const struct dependency *d);
void predecessors_leave(struct queue *q, struct dependency_item *item);
/* Judges an item that has just joined: it may hold already, and then it waits no more. */
void predecessors_judge(struct queue *q, struct dependency_item *item);

/* Takes over the members, of selectors of x, that its record tells of. */
void predecessors_recall_for(struct queue *q, struct dependency_wait *x);

/* Returns the name; NULL: nothing waits for it, and no selector takes it. */
struct predecessor_name *predecessor_name_known(
	const struct predecessor_namespace *ns, const char *name);

/* Returns the verdict on an item that waits. */
enum dependency_verdict awaited_verdict(
	const struct awaited *a, const struct dependency_item *item);
/* Returns when what makes an item VERDICT_NEVER happened; 0: not known. */
int64_t awaited_failed_ms(const struct awaited *a);

/* Returns whether a new leader can read again what is known now. */
bool awaited_is_in_ledger(const struct awaited *a);

static inline const struct predecessor_name *awaited_name(const struct awaited *a)
{
	return container_of_const(a, struct predecessor_name, awaited);
}

static inline const struct predecessor_selector *awaited_selector(const struct awaited *a)
{
	return container_of_const(a, struct predecessor_selector, awaited);
}

/* Returns the newest Job of the name; NULL: none is known. */
static inline const struct known_job *predecessor_newest(const struct predecessor_name *n)
{
	return known_jobs_newest(&n->jobs);
}

#endif
