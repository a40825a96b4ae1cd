/*
 * A feature: what not every cluster has. Windows, prices, Budgets, nodes, ResourceQuotas, Jobs that
 * wait for Jobs: each is a line in queue/features/features.c, and its code is in a folder beside
 * that, which related features share. The core knows quota, order and runs. It calls no function of
 * a feature and links without one; it keeps the pointers to their records, and has their kinds of
 * alarms.
 *
 * Where more than quota must agree, the core asks features, in the order of features.c:
 *
 *   queue     may anything start in this ClusterQueue?          once a scan
 *   group     may the Jobs of this group start, with how many pods?
 *   choice    may this Job start with these flavors, this number of pods and these victims?
 *   promise   does the promise still stand, and is there room for it now?
 *   run       does this run have to stop? May it have more pods?
 *
 * A Job that is refused at `queue` or `group` is passed over: it blocks nothing and preempts
 * nothing. A ClusterQueue keeps a bit for each feature that concerns it. Only those are asked about
 * starts, promises, growth and what is kept for some of its Jobs. All other functions are asked of
 * each feature that has them: a run may go on after its LocalQueue points to another ClusterQueue,
 * and groups outlive edits. A feature that sleeps (below) is left out where Jobs and runs move.
 *
 * What happens to Jobs, runs and ClusterQueues is told to features that listen: job_read and what
 * follows it, `before` and `after`. What they keep of each is behind a pointer in workload,
 * reservation, clusterqueue and queue. Functions that a feature does not need are NULL.
 *
 * What shapes the decision otherwise is no feature: strategies, growth, usage (orders), disruption
 * (prices victims).
 *
 * How to add one: docs/add-a-feature.md. The functions below are in queue/core/feature.c, a layer
 * above.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_FEATURE_H
#define SLUICE_QUEUE_CORE_MODEL_FEATURE_H

#include "queue/core/model/runs.h"
#include "queue/job/text.h"
#include "sluice/queue.h"

struct choice;
struct claim;
struct clusterqueue;
struct family;
struct flavor;
struct group;
struct localqueue;
struct nominee;
struct parting;
struct progress;
struct queue;
struct quota_limits;
struct quota_row;
struct reservation;
struct shape;
struct user;
struct victim;
struct window_state;
struct workload;

/* Better answers first: of several features the worst counts. */
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
struct proposal {
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

struct feature {
	/* Sleeps until feature_wakes(), or until a Job asks for it, because before that it would do
	 * nothing where Jobs and runs move. It is told of objects all the same, and asked what it
	 * concerns (nothing, while it sleeps), asks_for_label, job_bytes, job_may_wait, may_return,
	 * parts_otherwise, quota_timed, quota_due, recalled_by and run_settle. It hears of runs that
	 * are adopted or go on as they are. */
	bool sleeps;
	/* Does this Job say something that it has to know? Asked of each Job while it sleeps. */
	bool (*asked_for)(const struct job *j);

	/* Could it refuse any Job of cq, or put one last? If not, it is not asked about cq and
	 * costs nothing there. An edit of what this looks at calls features_edited(). NULL: it
	 * concerns every ClusterQueue. */
	bool (*concerns)(struct queue *q, struct clusterqueue *cq);

	bool (*queue_may)(struct queue *q, struct clusterqueue *cq);
	struct ruling (*group_may)(const struct queue *q, const struct group *g);
	bool (*choice_may)(struct queue *q, const struct proposal *a);

	/* ---- For searches ---- */

	/* A bound: false when no group of the subtree below root may start. */
	bool (*subtree_may)(const struct queue *q, const struct group *root);
	/* May group_may() say ANSWER_LAST to some group of cq? */
	bool (*puts_last)(const struct clusterqueue *cq);
	/* Adds what group_may() looks at: parting_add(). */
	void (*parts)(const struct workload *w, struct parting *p);
	/* Returns whether the feature would part Jobs of this LocalQueue otherwise than it does. */
	bool (*parts_otherwise)(const struct localqueue *lq, const struct localqueue_limits *limits,
		const struct pod_metadata *metadata);
	/* Returns whether the feature looks at expected durations of this LocalQueue's Jobs. */
	bool (*looks_at_duration)(const struct localqueue *lq);

	/* ---- What depends on victims and pods ---- */

	/* Returns whether the feature's answer to a choice may depend on the victims. */
	bool (*looks_at_victims)(const struct queue *q, const struct nominee *e);
	/* Some feature refused a choice. With so many pods this one would let it start. */
	int32_t (*choice_pods)(struct queue *q, const struct proposal *a);
	/* Jobs were stopped for this nominee, and it could not start. Would that be in vain again? */
	bool (*is_in_vain)(struct queue *q, const struct nominee *e);

	/* ---- Promises ---- */

	bool (*promise_may)(struct queue *q, struct reservation *r);
	enum room (*promise_room)(struct queue *q, const struct reservation *r);
	/* Returns whether there is room now, if the promise took this choice instead. */
	bool (*promise_may_choose)(const struct queue *q, const struct reservation *r,
		const struct claim *claim, const struct choice *choice);
	/* Returns whether the group of a preempted run may start when the run waits again. */
	bool (*may_return)(const struct workload *w, int64_t now_ms);

	/* ---- Runs ---- */

	/* Returns why the run has to stop; STOP_REASON_NONE: it goes on. *ret_policy: the object
	 * that stops it, if one does. */
	enum stop_reason (*stops)(struct queue *q, struct reservation *r, const char **ret_policy);
	/* Returns with how many of `more` pods more the run may grow (growth.h). */
	int32_t (*growth_pods)(struct queue *q, const struct reservation *r, int32_t more);
	const char *growth_refused; /* why it says fewer, as the end of a sentence */
	/* When time alone may change the answer of stops(); INT64_MAX: never. */
	int64_t (*next_ms)(struct queue *q, const struct reservation *r);

	/* Observe events of runs, before and after what these hold changes. runs.h says which event
	 * is told when: the other entry is never called. A feature that counts runs touches, after
	 * RUN_ENDED, the queues of Jobs that waited for the count: the core does so only for Jobs
	 * that wait for quota. */
	run_observer *before[RUN_EVENTS], *after[RUN_EVENTS];
	/* The run will have another size: counts what it has cost until then. */
	void (*run_settle)(struct queue *q, struct reservation *r, int64_t now_ms);
	/* The run has ended: counts what it has cost. */
	void (*run_settled)(struct queue *q, struct reservation *r, int64_t now_ms);
	/* Writes the notice, if the run's owner is to be told now when it will stop. */
	bool (*gives_notice)(struct queue *q, struct reservation *r, struct decision *ret);
	/* Names the object by which a run gives back quota that was lent to it; NULL: it is not
	 * known. */
	const char *(*recalled_by)(const struct queue *q, const struct clusterqueue *borrower);
	/* Writes into a decision by which object, and why, a row has less quota, so that runs give
	 * pods. */
	void (*lowered_by)(struct queue *q, const struct quota_row *row, struct decision *ret);

	/* ---- Jobs ---- */

	/* Returns what is wrong with what the Job asks for; NULL: nothing. */
	const char *(*job_fault)(const struct job *j);
	/* Is j, as it is now, not what was read last? */
	bool (*job_differs)(const struct workload *w, const struct job *j);
	/* Reads its own part of j. The workload stands nowhere, or has a reservation. */
	void (*job_read)(struct queue *q, struct workload *w, const struct job *j);
	/* Reads what of j may be read at any time. The workload is where it stands; its pods had come
	 * as far as `was` before. */
	void (*job_seen)(struct queue *q, struct workload *w, const struct job *j,
		const struct progress *was);
	/* Returns whether the feature looks at a label by this key. */
	bool (*asks_for_label)(const struct queue *q, const char *key);
	/* Counts the bytes that the feature keeps of the workload and its owner can make more. */
	size_t (*job_bytes)(const struct workload *w);
	/* Returns whether the Job may wait for quota at all; then, when it is about to, whether it
	 * may now. */
	bool (*job_may_wait)(const struct workload *w);
	bool (*job_may_stand)(struct queue *q, struct workload *w);
	/* The Job may not wait: what was booked for it goes. */
	void (*job_aside)(struct queue *q, struct workload *w);
	/* The Job is released from a hold, or was corrected. */
	void (*job_released)(struct queue *q, struct workload *w);
	/* The Job gave its quota back, and waits again. */
	void (*job_freed)(struct queue *q, struct workload *w);
	/* The Job gets a place (workload_place()). */
	void (*job_stands)(struct queue *q, struct workload *w);
	/* The Job leaves its place. */
	void (*job_leaves)(struct queue *q, struct workload *w);
	/* The Job is forgotten: frees what is kept of it. */
	void (*job_forgotten)(struct queue *q, struct workload *w);
	/* The Job has joined its family (duration.h). */
	void (*family_joined)(struct queue *q, struct workload *w);
	/* The Job is about to leave its family. */
	void (*family_leaves)(struct queue *q, struct workload *w);

	/* ---- Queues and claims ---- */

	void (*queue_made)(struct clusterqueue *cq);
	void (*queue_freed)(struct clusterqueue *cq);
	/* The ClusterQueue is about to have the spec `next`; NULL: it is deleted. */
	void (*queue_edited)(struct queue *q, const struct clusterqueue *cq,
		const struct clusterqueue_spec *next);
	/* The ClusterQueue came, or is about to go. */
	void (*queue_formed)(struct queue *q, struct clusterqueue *cq);
	void (*line_freed)(struct localqueue *lq);
	/* The LocalQueue has another ClusterQueue. */
	void (*line_formed)(struct queue *q, struct localqueue *lq);
	/* The LocalQueue has other limits, or gives its pods other labels. */
	void (*localqueue_edited)(struct queue *q, const struct localqueue *lq);
	/* The flavor was made, edited or deleted (f->exists). */
	void (*flavor_edited)(struct queue *q, struct flavor *f);
	void (*priorities_changed)(struct queue *q);
	/* The object was made or edited; `s` NULL: it is deleted. */
	void (*namespace_edited)(struct queue *q, const char *name, const struct namespace_spec *s);
	void (*runtime_class_edited)(
		struct queue *q, const char *name, const struct runtime_class_spec *s);
	/* Writes the limits that a row of cq has at this time, in place of what its spec says. */
	void (*quota_timed)(const struct clusterqueue *cq, const struct quota_row *row,
		struct quota_limits *limits);
	/* Takes off these limits what is kept back for a while. */
	void (*quota_due)(const struct clusterqueue *cq, struct quota_limits *limits);
	/* Takes flavors out of a claim that is new. */
	void (*claim_narrow)(const struct queue *q, const struct clusterqueue *cq,
		const struct shape *shape, struct claim *c);

	/* ---- The plan ---- */

	/* The plan is about to be asked: bookings that follow others are made right. */
	void (*plan_asked)(struct queue *q);
	/* Is anything in cq kept for some of its Jobs now? Is all that this nominee would take? */
	bool (*keeps_some)(const struct clusterqueue *cq);
	bool (*keeps_for)(struct queue *q, const struct nominee *e);

	/* The sentence, if the Job waits for it. NULL also for a feature that is explained
	 * where shortages of quota are. */
	enum wait_reason (*explain)(struct question *a);
};

/* All, in the order in which they are asked and told (features/features.c); at most 32. */
extern const struct feature *const FEATURE[];
extern const unsigned FEATURE_COUNT;

/* Each feature among those of the mask (a bit each) that has the function. */
#define each_feature(f, mask, function)                                                            \
	for (uint32_t bits_##f = (mask); bits_##f; bits_##f &= bits_##f - 1)                       \
		for (const struct feature *f = FEATURE[__builtin_ctz(bits_##f)]; f && f->function; \
			f = NULL)
#define ALL_FEATURES ((uint32_t)((UINT64_C(1) << FEATURE_COUNT) - 1))

/* Wakes the feature for good: something that it looks at was told. Jobs that wait stand in groups that
 * its `parts` did not part: if it would part some of them now, the caller places those anew. (For what
 * a LocalQueue says the core does so: parts_otherwise.) */
void feature_wakes(struct queue *q, const struct feature *f);
/* Wakes the features that the Job asks for, before it is read. */
void features_asked_for(struct queue *q, const struct job *j);
/* A bit for each feature that never sleeps: queue.features_awake of a new queue. */
uint32_t features_without_sleep(void);

/* An object that some feature looks at was made, edited or dropped. Which concern which
 * ClusterQueue is worked out anew at the next question. Called after the change, and before any Job
 * is placed. */
void features_edited(struct queue *q);

/* ---- All together ---- */

bool features_queue_may(struct queue *q, struct clusterqueue *cq);
/* pods is 0 where the answer is ANSWER_NO. */
struct ruling features_group_may(const struct queue *q, const struct group *g);
bool features_choice_may(struct queue *q, const struct proposal *a);

bool features_subtree_may(const struct queue *q, const struct group *root);
bool features_put_last(const struct queue *q, const struct clusterqueue *cq);

bool features_look_at_victims(const struct queue *q, const struct nominee *e);
int32_t features_choice_pods(struct queue *q, const struct proposal *a);
bool features_in_vain(struct queue *q, const struct nominee *e);

bool features_promise_may(struct queue *q, struct reservation *r);
enum room features_promise_room(struct queue *q, const struct reservation *r);
bool features_promise_may_choose(const struct queue *q, const struct reservation *r,
	const struct claim *claim, const struct choice *choice);

/* The fewest that any says. *ret_why: that one's, if it is fewer. */
int32_t features_growth_pods(
	struct queue *q, const struct reservation *r, int32_t more, const char **ret_why);
enum stop_reason features_stop(struct queue *q, struct reservation *r, const char **ret_policy);
int64_t features_next_ms(struct queue *q, const struct reservation *r);
const char *features_recalled_by(const struct queue *q, const struct clusterqueue *borrower);
enum wait_reason features_explain(struct question *a);

bool features_keep_some(const struct queue *q, const struct clusterqueue *cq);
bool features_keep_for(struct queue *q, const struct nominee *e);

#endif
