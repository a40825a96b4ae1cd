/*
 * A rule: what else must agree, beside quota, before a Job starts.
 *
 * Whether something may start or must stop, the core (model/, admit/) asks of all rules, in the
 * order of RULES, and names none of them for it. (It calls some by name for what they keep: terms,
 * bookings, windows, ResourceQuotas. test/includes.txt lists what it includes of them.) The stages:
 *
 *   queue     may anything start in this ClusterQueue?          once a scan
 *   group     may the Jobs of this group start, with how many pods?
 *   choice    may this Job start with these flavors, this number of pods and these victims?
 *   promise   does the promise still stand, and is there room for it now?
 *   run       does this run have to stop? May it have more pods?
 *
 * A Job that a rule refuses at `queue` or `group` is passed over: it blocks nothing and preempts
 * nothing. Functions that a rule does not need are NULL.
 *
 * A ClusterQueue keeps a bit for each rule that concerns it. Only those are asked about starts and
 * promises. About runs, explanations and groups all rules are asked: a run may go on after its
 * LocalQueue points to another ClusterQueue, and groups outlive edits.
 *
 * What shapes the decision otherwise is no rule: quota, backfill (a strategy), lead (changes
 * capacity), usage (orders), disruption (prices victims). backfill.h and windows/lead.h lie in this
 * folder all the same.
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
struct family;
struct group;
struct localqueue;
struct nominee;
struct parting;
struct queue;
struct reservation;
struct user;
struct victim;
struct window_state;
struct workload;

/* Better answers first: of several rules the worst counts. */
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

/* Of a promise, when its quota is free. Worse answers first. */
enum room {
	ROOM_NONE,
	ROOM_SOON, /* when the pods of its victims are gone */
	ROOM_NOW,
};

/* A waiting Job to explain, and the answer. */
struct question {
	const struct queue *q;
	const struct workload *w;
	const struct clusterqueue *cq; /* NULL, or existing */
	const struct claim *claim;     /* on cq */
	int64_t now_ms;
	struct text *text;
	bool aside;   /* asked because of another Job: its own place in the order is not told */
	size_t ahead; /* of w, where it is not aside */
	int64_t not_before_ms; /* of the answer */
};

struct rule {
	const char *name;

	/* Could it refuse any Job of cq, or put one last? If not, it is not asked about cq and
	 * costs nothing there. An edit of what this looks at calls rules_edited(). NULL: always. */
	bool (*concerns)(struct queue *q, struct clusterqueue *cq);

	bool (*queue_may)(struct queue *q, struct clusterqueue *cq);
	struct ruling (*group_may)(const struct queue *q, const struct group *g);
	bool (*choice_may)(struct queue *q, const struct attempt *a);

	/* ---- For searches ---- */

	/* A bound: false when no group of the subtree below root may start. */
	bool (*subtree_may)(const struct queue *q, const struct group *root);
	/* May group_may() say ANSWER_LAST to some group of cq? */
	bool (*puts_last)(const struct clusterqueue *cq);
	/* Adds what group_may() looks at: parting_add(). */
	void (*parts)(const struct workload *w, struct parting *p);
	/* Does it look at the expected durations of Jobs of this LocalQueue? */
	bool (*looks_at_duration)(const struct localqueue *lq);

	/* ---- What depends on victims and pods ---- */

	/* May its answer to a choice depend on the victims? */
	bool (*looks_at_victims)(const struct queue *q, const struct nominee *e);
	/* Some rule refused a choice. With so many pods this rule would let it start. */
	int32_t (*choice_pods)(struct queue *q, const struct attempt *a);
	/* Jobs were stopped for it, and it could not start: would that be so again? */
	bool (*is_in_vain)(struct queue *q, const struct nominee *e);

	/* ---- Promises ---- */

	bool (*promise_may)(struct queue *q, struct reservation *r);
	enum room (*promise_room)(struct queue *q, const struct reservation *r);
	/* Is there room now, if it took this choice instead? */
	bool (*promise_may_choose)(const struct queue *q, const struct reservation *r,
		const struct claim *claim, const struct choice *choice);
	/* It is preempted and will wait again. May its group start then? */
	bool (*may_return)(const struct workload *w, int64_t now_ms);

	/* ---- Runs ---- */

	/* STOP_REASON_NONE: it goes on. */
	enum stop_reason (*stops)(struct queue *q, struct reservation *r);
	/* It would grow (growth.h): with how many of `more` pods more? */
	int32_t (*growth_pods)(struct queue *q, const struct reservation *r, int32_t more);
	const char *growth_refused; /* why it says fewer, as the end of a sentence */
	/* When time alone may change the answer of stops(); INT64_MAX: never. */
	int64_t (*next_ms)(struct queue *q, const struct reservation *r);

	/* A run has ended and counts no more: touches the queues of Jobs that waited for that. Jobs
	 * that wait for its quota are looked at anyway. For other events: runs.h. */
	void (*run_ended)(struct queue *q, struct reservation *r);

	/* The sentence, if the Job waits for this rule. NULL also for a rule that is explained
	 * where shortages of quota are. */
	enum wait_reason (*explain)(struct question *a);
};

/* In the order in which they are asked. Each has `const struct rule NAME_rule`. */
#define RULES(X)                                                                                   \
	X(window)                                                                                  \
	X(price)                                                                                   \
	X(budget)                                                                                  \
	X(namespace_quota)                                                                         \
	X(singleton)                                                                               \
	X(user_limits)                                                                             \
	X(max_running)                                                                             \
	X(nodes)                                                                                   \
	X(bookings)

#define RULE_ID(name) RULE_##name,
enum rule_id { RULES(RULE_ID) RULE_COUNT };
#undef RULE_ID

#define RULE_DECLARE(name) extern const struct rule name##_rule;
RULES(RULE_DECLARE)
#undef RULE_DECLARE

/* An object that some rule looks at was made, edited or dropped. Which rules concern which
 * ClusterQueue is worked out anew at the next question. Called after the change, and before any Job
 * is placed. */
void rules_edited(struct queue *q);

/* ---- All rules together ---- */

bool rules_queue_may(struct queue *q, struct clusterqueue *cq);
/* pods is 0 where the answer is ANSWER_NO. */
struct ruling rules_group_may(const struct queue *q, const struct group *g);
bool rules_choice_may(struct queue *q, const struct attempt *a);

bool rules_subtree_may(const struct queue *q, const struct group *root);
bool rules_put_last(const struct queue *q, const struct clusterqueue *cq);
void rules_part(const struct workload *w, struct parting *p);
bool rules_look_at_duration(const struct localqueue *lq);

bool rules_look_at_victims(const struct queue *q, const struct nominee *e);
int32_t rules_choice_pods(struct queue *q, const struct attempt *a);
bool rules_in_vain(struct queue *q, const struct nominee *e);

bool rules_promise_may(struct queue *q, struct reservation *r);
enum room rules_promise_room(struct queue *q, const struct reservation *r);
bool rules_promise_may_choose(const struct queue *q, const struct reservation *r,
	const struct claim *claim, const struct choice *choice);
bool rules_may_return(const struct workload *w, int64_t now_ms);

/* The fewest that any rule says. *ret_why: that rule's, if it is fewer. */
int32_t rules_growth_pods(
	struct queue *q, const struct reservation *r, int32_t more, const char **ret_why);
enum stop_reason rules_stop(struct queue *q, struct reservation *r);
int64_t rules_next_ms(struct queue *q, const struct reservation *r);
void rules_run_ended(struct queue *q, struct reservation *r);
enum wait_reason rules_explain(struct question *a);

#endif
