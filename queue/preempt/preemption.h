/*
 * A displacement: one search for victims. What the classic way (victims.c) and the fair one
 * (fair_victims.c) have in common: what each ClusterQueue has to offer, and the victims so far.
 *
 * An offer yields the candidates of one ClusterQueue in the order in which they would have to go
 * (reservation_cmp): its promises, those that end anyway, those that run. Only those who hold something of
 * a contested row and whom the policy allows are candidates. They are looked up one by one
 * (victim_index.h), because a ClusterQueue runs 100,000 Jobs and few have to go.
 */
#ifndef SLUICE_QUEUE_PREEMPT_PREEMPTION_H
#define SLUICE_QUEUE_PREEMPT_PREEMPTION_H

#include "queue/preempt/candidates.h"
#include "queue/preempt/victims.h"

enum candidate_kind {	     /* in the order in which they are taken (reference 6.1) */
	CANDIDATE_HIERARCHY, /* the demand fits in a quota that is nearer to it than to them */
	CANDIDATE_PRIORITY,
	CANDIDATE_OWN,
};

struct candidate_source {
	struct clusterqueue *cq;
	enum candidate_kind kind;
	const struct quota_node *shared; /* the lowest node above both; NULL for its own */
	struct reservation *next;	 /* NULL: nobody is left */
	size_t cursor;			 /* its first, in displacement.cursor */
	bool dropped;			 /* nobody else of it will do */
	size_t beyond;			 /* so many were lined up behind the victims */
};

struct likes;

struct preemption {
	struct queue *q;
	const struct demand *d;
	size_t ncontested;
	const struct quota_row *contested[QUEUE_LINES_MAX];
	struct candidate_source *source;
	size_t nsources, sources_capacity;
	struct tree_node *
		*cursor; /* ncontested for each offer: who is next among a row's holders */
	size_t cursors_capacity;
	struct victim *victim;
	size_t nvictims, victims_capacity;
	bool lenient; /* those are to go whom it hurts least */
	struct candidates candidates;
	struct likes *likes; /* of fair_victims.c, while it chooses */
};

/* Adds what cq has to offer, unless it has nothing. False: nothing. */
bool candidate_source_add(struct preemption *x, struct clusterqueue *cq, enum candidate_kind kind,
	const struct quota_node *shared);
/* What of the contested row i those have who could be displaced in cq: so much or less. */
int64_t candidate_source_most(const struct preemption *x, struct clusterqueue *cq, size_t i);
/* All of it again, from the first. */
void candidate_source_rewind(struct preemption *x, struct candidate_source *o);
/* Takes the next one off. */
struct reservation *candidate_source_take(struct preemption *x, struct candidate_source *o);

/* The same pair in another node; NULL when it has none. */
const struct quota_row *contested_row(
	const struct preemption *x, const struct quota_node *node, size_t i);
/* Does the node use more than its own quota of some contested row? */
bool borrows_contested(const struct preemption *x, const struct quota_node *node);

/* Would it cost nobody any work? */
bool room_is_free(const struct reservation *r);
/* Order of going: a promise, one that ends anyway, lower priority, later start, uid. */
int reservation_cmp(const struct reservation *a, const struct reservation *b);

/* In THEN only. */
void reservation_take_away(const struct reservation *r);
void reservation_put_back(const struct reservation *r);

void victim_add(struct preemption *x, struct reservation *r, enum preemption_reason reason);
bool demand_fits(const struct demand *d, bool may_borrow);
/* Puts back whoever need not go, the last one first, and never the very last. */
void victims_spare(struct preemption *x, bool may_borrow);
/* Puts all back; they stay victims. */
void victims_put_back(const struct preemption *x);

/* Both leave THEN as it was; x->nvictims is the result. */
void find_classic(struct preemption *x);
void find_fair(struct preemption *x);

#endif
