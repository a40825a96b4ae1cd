/*
 * Troubles: what keeps the pods of a started Job from running, in the words of scheduler, kubelet
 * and API server.
 *
 * Two kinds of facts go in. Pods that are Pending, each with what the scheduler (condition
 * PodScheduled) or the kubelet (a waiting container) says of it; and refusals, which are the
 * Job controller's Events FailedCreate: a pod that the API server does not let in is nowhere else
 * to be seen. Out comes the trouble of a Job as it is now: one word that never changes its meaning,
 * how many pods it concerns, since when, and a sentence that is quoted, not made up.
 *
 * What is always true:
 *   - level, not edge: the same facts in another order say the same, so a controller that was
 *     restarted says what the one before it said;
 *   - a pod counts once it is Pending for longer than a while (troubles_ask.after_ms); by the clock
 *     on the wall, or by ours since it was first seen, whichever says so first;
 *   - silence is trouble too, much later (trouble_patience()): a pod that no scheduler has looked
 *     at, and one that has its node while nothing of it runs. Both are so with every pod at first;
 *   - of several troubles that is told which concerns most pods, then the oldest. The kubelet says
 *     in turns that it cannot pull an image and that it waits before it tries again: that is one;
 *   - a refusal counts for so long as the Job lacks pods, and as it is fresh: the Job controller
 *     tries again every minute, and of its Events one in five minutes is written at least. A
 *     Conflict is none: the API server had no answer yet;
 *   - memory follows what is Pending. A pod takes about 100 bytes; texts are bounded, and kept once
 *     for each Job and word.
 *
 * Left to others: which Jobs run (stuck.c), listing the pods (stuck_pods.h), what to do about it
 * (the queue, after podsReadyTimeout; or people).
 *
 * When a word is added: the table in trouble.c, docs/trouble.md.
 */
#ifndef SLUICE_CONTROLLER_GATE_TROUBLE_H
#define SLUICE_CONTROLLER_GATE_TROUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/uid.h"

enum { TROUBLE_MESSAGE_MAX = 500 }; /* bytes that are kept of a message */

/* In order of precedence where all else is the same. */
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
	/* Nothing is said. */
	TROUBLE_NOT_SEEN_BY_SCHEDULER,
	TROUBLE_CONTAINER_CREATING,
	TROUBLE_WORDS
};

/* "Unschedulable"; "" for none. */
const char *trouble_name(enum trouble_word w);
/* What a kubelet or the scheduler says, as one of ours; TROUBLE_NONE: that is no trouble. Of a pod
 * PodsRefused is not said, and silence says nothing. */
enum trouble_word trouble_named(const char *reason);
/* So many times as long as others a pod is left alone with it, counted from when it began. */
int32_t trouble_patience(enum trouble_word w);
/* The two say the same of a pod, in turns. */
bool trouble_same(enum trouble_word a, enum trouble_word b);
/* What to do about it, a clause; of a refusal it follows from what was said. */
const char *trouble_cure(enum trouble_word w, const char *message);

/* ---- Facts ----------------------------------------------------------------------------------- */

/* A pod that is Pending. */
struct trouble_pod {
	struct uid uid, job;
	bool deleting;	    /* it goes: it is no trouble */
	int64_t pending_ms; /* it is Pending since */
	enum trouble_word word;
	int64_t since_ms; /* ... and has this trouble since, as far as is known */
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

/* tick_ms is a clock that only goes on. All is copied. */
void troubles_see_pod(struct troubles *t, const struct trouble_pod *p, int64_t tick_ms);
void troubles_lose_pod(struct troubles *t, const struct uid *pod); /* not Pending any more */
void troubles_see_refusal(struct troubles *t, const struct trouble_refusal *r);
/* The Job ended, or has all its pods. */
void troubles_forget_refusals(struct troubles *t, const struct uid *job);

/* Around a complete list of pods: what was not seen between the two is not Pending any more. */
void troubles_begin_pods(struct troubles *t);
void troubles_end_pods(struct troubles *t);
/* They are followed no more. */
void troubles_clear(struct troubles *t);

/* ---- What follows ---------------------------------------------------------------------------- */

struct trouble {
	enum trouble_word word; /* TROUBLE_NONE: it has none */
	int32_t pods;		/* so many it concerns */
	int64_t since_ms;	/* by the clock on the wall */
	const char *message;	/* until the next fact */
};

struct troubles_ask {
	struct uid job;
	int64_t now_ms, tick_ms;
	int64_t after_ms;
	int64_t started_ms; /* what was refused before is of another run */
	int32_t missing;    /* so many pods are not there that should be */
};
struct trouble troubles_of(const struct troubles *t, const struct troubles_ask *a);

size_t troubles_pods(const struct troubles *t);

/* "3 of its 8 pods cannot be scheduled, for 42 s: MESSAGE". of may be 0: unknown. */
void trouble_sentence(const struct trouble *x, int32_t of, int64_t now_ms, struct buf *out);
/* "Unschedulable: 3 of its 8 pods could not be scheduled for 42 s: MESSAGE", for when it is over.
 */
void trouble_epitaph(const struct trouble *x, int32_t of, int64_t now_ms, struct buf *out);

#endif
