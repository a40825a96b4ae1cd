/*
 * A rule: what stands beside quota when a Job wants to start.
 *
 * The core (model/, admit/) names no rule. It asks all of them, in the order of RULES, at these
 * stages:
 *
 *   queue     may anything start in this ClusterQueue?          once a scan
 *   group     may the Jobs of this group start, with how many pods?
 *   choice    may this Job start with these flavors, this number of pods and these victims?
 *   promise   does what was promised still stand, and is there room for it now?
 *   run       does this run have to stop?
 *
 * A Job that a rule refuses at `queue` or `group` is passed over: it blocks nothing and preempts
 * nothing. Functions that a rule has no use for are NULL.
 *
 * A ClusterQueue keeps which rules concern it, a bit each, and only those are asked of starts and
 * promises. Runs, explanations and what tells groups apart are asked of all: a run may outlive its
 * LocalQueue's way to the ClusterQueue, and groups outlive edits.
 *
 * What shapes the decision is no rule and stays in the core: quota, backfill (a strategy), lead
 * (changes capacity), usage (orders), disruption (prices victims).
 *
 * How to add one: docs/add-a-rule.md.
 */
#ifndef SLUICE_QUEUE_RULES_RULE_H
#define SLUICE_QUEUE_RULES_RULE_H

#include "queue/job/text.h"
#include "sluice/queue.h"

struct choice;
struct claim;
struct clusterqueue;
struct group;
struct localqueue;
struct nominee;
struct queue;
struct reservation;
struct victim;
struct window_state;
struct workload;

/* Better answers first: of several rules the worst holds. */
enum answer {
	ANSWER_YES,
	ANSWER_LAST, /* behind all others: asked when none of them can start any more */
	ANSWER_NO,
};

struct ruling {
	enum answer answer;
	int32_t pods;	  /* with so many at most; INT32_MAX: any number */
	int64_t until_ms; /* the last moment of this answer; INT64_MAX: until a fact changes */
};
#define RULING_YES ((struct ruling){ANSWER_YES, INT32_MAX, INT64_MAX})
#define RULING_NO ((struct ruling){ANSWER_NO, 0, INT64_MAX})

/* A nominee, and the runs that would stop for it. */
struct attempt {
	const struct nominee *nominee;
	const struct victim *victim;
	size_t nvictims;
};

/* What tells groups apart beside shape and priority: all Jobs of a group get the same answers. */
struct parting {
	const struct window_state *window_state;
	const struct localqueue *alone; /* of this LocalQueue only; NULL: of any */
	int32_t in_all;			/* pods that its Job asks for in all (namespace_quota.h) */
};

/* Of what was promised, when its quota is there. Worse answers first. */
enum room {
	ROOM_NONE,
	ROOM_SOON, /* when what keeps it has gone */
	ROOM_NOW,
};

/* A Job that waits, and what is said of it. */
struct question {
	const struct queue *q;
	const struct workload *w;
	const struct clusterqueue *cq; /* NULL, or existing */
	const struct claim *claim;     /* on cq */
	int64_t now_ms;
	struct text *text;
	bool aside; /* asked because of another Job: its own place in the line is not told */
	int64_t not_before_ms; /* the answer's */
};

struct rule {
	const char *name;

	/* Could it refuse any Job of cq, or put one last? Where not it is not asked, so that a rule
	 * costs nothing where it concerns no Job. Whoever edits what this looks at calls
	 * rules_edited(). NULL: always. */
	bool (*concerns)(struct queue *q, struct clusterqueue *cq);

	bool (*queue_may)(struct queue *q, struct clusterqueue *cq);
	struct ruling (*group_may)(const struct queue *q, const struct group *g);
	bool (*choice_may)(struct queue *q, const struct attempt *a);

	/* ---- For searches ---- */

	/* A bound: false when no group of the subtree below root may start. */
	bool (*subtree_may)(const struct queue *q, const struct group *root);
	/* May group_may() say ANSWER_LAST to some group of cq? */
	bool (*puts_last)(const struct clusterqueue *cq);
	/* Writes what group_may() looks at; returns bits for a hash of it. */
	uint64_t (*parts)(const struct workload *w, struct parting *ret);
	/* Does it look at how long Jobs of this LocalQueue are expected to run? */
	bool (*looks_at_duration)(const struct localqueue *lq);

	/* ---- What depends on victims and pods ---- */

	/* May its answer to a choice be another one when victims go? */
	bool (*looks_at_victims)(const struct queue *q, const struct nominee *e);
	/* A choice was refused, by whichever rule: with so many pods this one would let it start.
	 * */
	int32_t (*choice_pods)(struct queue *q, const struct attempt *a);
	/* Others were stopped for it, and it could not start: would that be so again? */
	bool (*is_in_vain)(struct queue *q, const struct nominee *e);

	/* ---- Promises ---- */

	bool (*promise_may)(struct queue *q, struct reservation *r);
	enum room (*promise_room)(struct queue *q, const struct reservation *r);
	/* Is there room now, if it took this choice instead? */
	bool (*promise_may_choose)(const struct queue *q, const struct reservation *r,
		const struct claim *claim, const struct choice *choice);
	/* It is preempted, and waits again: might its group start then? */
	bool (*may_return)(const struct workload *w, int64_t now_ms);

	/* ---- Runs ---- */

	/* STOP_REASON_NONE: it goes on. */
	enum stop_reason (*stops)(struct queue *q, struct reservation *r);
	/* When stops() may say something else; INT64_MAX: not because of time. */
	int64_t (*next_ms)(struct queue *q, const struct reservation *r);

	/* A run has ended, and counts no more: Jobs that waited for that are to be looked at. Quota
	 * that comes free is looked at anyway. For other events: runs.h. */
	void (*run_ended)(struct queue *q, struct reservation *r);

	/* Why the Job waits, if it is for this rule: its sentence. NULL also for a rule whose
	 * refusal is explained as a shortage of quota is. */
	enum wait_reason (*explain)(struct question *a);
};

/* In the order in which they are asked. Each has `const struct rule NAME_rule`. */
#define RULES(X)                                                                                   \
	X(window)                                                                                  \
	X(price)                                                                                   \
	X(budget)                                                                                  \
	X(namespace_quota)                                                                         \
	X(max_running)                                                                             \
	X(nodes)

#define RULE_ID(name) RULE_##name,
enum rule_id { RULES(RULE_ID) RULE_COUNT };
#undef RULE_ID

#define RULE_DECLARE(name) extern const struct rule name##_rule;
RULES(RULE_DECLARE)
#undef RULE_DECLARE

/* An object that some rule looks at was made, edited or is gone: which rules concern which
 * ClusterQueue is worked out anew when it is asked next. Called when the change is made, and before
 * any Job is placed. */
void rules_edited(struct queue *q);

/* ---- All rules together ---- */

bool rules_queue_may(struct queue *q, struct clusterqueue *cq);
/* pods is 0 where the answer is ANSWER_NO. */
struct ruling rules_group_may(const struct queue *q, const struct group *g);
bool rules_choice_may(struct queue *q, const struct attempt *a);

bool rules_subtree_may(const struct queue *q, const struct group *root);
bool rules_put_last(const struct queue *q, const struct clusterqueue *cq);
uint64_t rules_part(const struct workload *w, struct parting *ret);
bool rules_look_at_duration(const struct localqueue *lq);

bool rules_look_at_victims(const struct queue *q, const struct nominee *e);
int32_t rules_choice_pods(struct queue *q, const struct attempt *a);
bool rules_in_vain(struct queue *q, const struct nominee *e);

bool rules_promise_may(struct queue *q, struct reservation *r);
enum room rules_promise_room(struct queue *q, const struct reservation *r);
bool rules_promise_may_choose(const struct queue *q, const struct reservation *r,
	const struct claim *claim, const struct choice *choice);
bool rules_may_return(const struct workload *w, int64_t now_ms);

enum stop_reason rules_stop(struct queue *q, struct reservation *r);
int64_t rules_next_ms(struct queue *q, const struct reservation *r);
void rules_run_ended(struct queue *q, struct reservation *r);
enum wait_reason rules_explain(struct question *a);

#endif
