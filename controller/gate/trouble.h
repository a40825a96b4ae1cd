/*
 * Troubles: what keeps the pods of a started Job from running, in the words of scheduler, kubelet
 * and API server.
 *
 * Two kinds of facts go in. One is pods that are Pending, each with what the scheduler (condition
 * PodScheduled) or the kubelet (a waiting container) says of it. The other is refusals, the Job
 * controller's Events FailedCreate: a pod that the API server does not let in shows nowhere else.
 * Out comes the trouble of a Job as it is now: one word that never changes its meaning, how many
 * pods it concerns, since when, and a sentence that is quoted, not made up.
 *
 * What is always true:
 *   - level, not edge: the same facts in another order say the same, so a controller that was
 *     restarted says what the one before it said;
 *   - a pod counts once it is Pending for longer than a while (troubles_ask.after_ms); by the clock
 *     on the wall, or by ours since it was first seen, whichever says so first;
 *   - silence is trouble too, much later (trouble_patience()): a pod that no scheduler has looked
 *     at, or that has its node while nothing of it runs. Every pod is like that at first;
 *   - of several troubles the one that concerns most pods is told, then the oldest. The kubelet says
 *     in turns that it cannot pull an image and that it waits before it tries again: that is one;
 *   - a refusal counts as long as the Job lacks pods, and the refusal is fresh: the Job controller
 *     tries again every minute, and writes one of its Events in five minutes at least. A Conflict is
 *     no refusal: the API server had no answer yet;
 *   - memory follows what is Pending. A pod takes about 100 bytes; texts are bounded, and kept once
 *     for each Job and word.
 *
 * Left to others: which Jobs run (stuck.c), listing the pods (stuck_pods.h), what to do about it
 * (the queue, after podsReadyTimeout; or people).
 *
 * A new word: the table in trouble.c, docs/trouble.md.
 */
#ifndef SLUICE_CONTROLLER_GATE_TROUBLE_H
#define SLUICE_CONTROLLER_GATE_TROUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/uid.h"

enum { TROUBLE_MESSAGE_MAX = 500 }; /* bytes that are kept of a message */

/* Words, in order of precedence where all else is equal. */
enum trouble_word {
	TROUBLE_NONE,
	TROUBLE_PODS_REFUSED,
	TROUBLE_UNSCHEDULABLE,
	TROUBLE_SCHEDULING_GATED,
	TROUBLE_INVALID_IMAGE_NAME,
	TROUBLE_ERR_IMAGE_NEVER_PULL,
	TROUBLE_ERR_IMAGE_PULL,
	TROUBLE_IMAGE_PULL_BACK_OFF,
	TROUBLE_IMAGE_INSPECT_ERROR,
	TROUBLE_CREATE_CONTAINER_CONFIG_ERROR,
	TROUBLE_CREATE_CONTAINER_ERROR,
	TROUBLE_RUN_CONTAINER_ERROR,
	TROUBLE_CRASH_LOOP_BACK_OFF, /* of an init container: else the pod is not Pending */
	/* Silence: neither scheduler nor kubelet says anything. */
	TROUBLE_NOT_SEEN_BY_SCHEDULER,
	TROUBLE_CONTAINER_CREATING,
	TROUBLE_WORDS
};

/* Names the word: "Unschedulable"; "" for none. */
const char *trouble_name(enum trouble_word w);
/* Finds the word for a pod's reason, a kubelet's or the scheduler's; TROUBLE_NONE: no trouble.
 * Never PodsRefused, nor a word for silence. */
enum trouble_word trouble_named(const char *reason);
/* Tells for how many times after_ms a trouble must last before it counts. */
int32_t trouble_patience(enum trouble_word w);
/* Tells whether the two say the same of a pod, in turns. */
bool trouble_same(enum trouble_word a, enum trouble_word b);
/* Says what to do about it, a clause; the cure for a refusal follows from its message. */
const char *trouble_cure(enum trouble_word w, const char *message);

/* ---- Facts ----------------------------------------------------------------------------------- */

struct trouble_pod {
	struct uid uid, job;
	bool deleting;	    /* on its way out, so no trouble */
	int64_t pending_ms; /* since when it is Pending */
	enum trouble_word word;
	int64_t since_ms; /* since when it has this trouble, as far as is known */
	const char *message;
};

/* An Event FailedCreate of a Job. */
struct trouble_refusal {
	struct uid job;
	int64_t first_ms, last_ms;
	const char *message;
};

struct troubles;

struct troubles *troubles_new(void);
void troubles_free(struct troubles *t);

/* Takes in a pod, copied. tick_ms is a clock that only goes on. */
void troubles_see_pod(struct troubles *t, const struct trouble_pod *p, int64_t tick_ms);
void troubles_lose_pod(struct troubles *t, const struct uid *pod); /* not Pending any more */
void troubles_see_refusal(struct troubles *t, const struct trouble_refusal *r);
/* Forgets refusals of a Job that ended, or has all its pods. */
void troubles_forget_refusals(struct troubles *t, const struct uid *job);

/* Begin and end a complete list of pods: all others are not Pending any more. */
void troubles_begin_pods(struct troubles *t);
void troubles_end_pods(struct troubles *t);
/* Forgets all pods and refusals: they are followed no more. */
void troubles_clear(struct troubles *t);

/* ---- What follows ---------------------------------------------------------------------------- */

struct trouble {
	enum trouble_word word; /* TROUBLE_NONE: the Job has none */
	int32_t pods;		/* how many it concerns */
	int64_t since_ms;	/* by the clock on the wall */
	const char *message;	/* until the next fact */
};

struct troubles_ask {
	struct uid job;
	int64_t now_ms, tick_ms;
	int64_t after_ms;
	int64_t started_ms; /* a refusal from before that is of another run */
	int32_t missing;    /* pods that should be there and are not */
};
struct trouble troubles_of(const struct troubles *t, const struct troubles_ask *a);

size_t troubles_pods(const struct troubles *t);

/* Says "3 of its 8 pods cannot be scheduled, for 42 s: MESSAGE". of may be 0: unknown. */
void trouble_sentence(const struct trouble *x, int32_t of, int64_t now_ms, struct buf *out);
/* Says, when it is over: "Unschedulable: 3 of its 8 pods could not be scheduled for 42 s:
 * MESSAGE". */
void trouble_epitaph(const struct trouble *x, int32_t of, int64_t now_ms, struct buf *out);

#endif
