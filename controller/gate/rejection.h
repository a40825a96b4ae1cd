/*
 * Rejections: pods that a kubelet turned away.
 *
 * The scheduler binds a pod by what it has heard of a node; the kubelet looks again before it
 * starts anything of it. Where the node cannot (OutOfcpu, OutOfkubernetes.io/batch-cpu,
 * NodeAffinity, ...) the pod is Failed at once. None of its containers ran, no condition and no
 * exit code tells why, and the Job controller counts it against backoffLimit like work that failed.
 * So a Job can fail of a node's figure without a line of its program having run.
 *
 * Facts in: such pods, as the API server has them. Out: a note when a run loses its first pod like
 * this, or loses one for another reason than before; and a sentence for `sluice explain`. No rule of
 * a podFailurePolicy matches such a pod: the kubelet takes even PodScheduled off it. So the cure
 * that is told is a backoffLimit that outlasts them. A rule FailJob beside it would be a trap: a
 * container that leaves on SIGTERM, at a stop of ours, ends as Failed too, and may be seen as such.
 *
 * What is always true:
 *   - level, not edge: what is told follows from the pods that are there. A successor says the same,
 *     and `sluice explain` says it of a Job that has failed for as long as its pods are kept;
 *   - a pod counts once, however often a list tells of it, and only in the run that it was made in;
 *   - a pod speaks only of a Job of its own namespace, for anybody may write an owner reference with
 *     another Job's uid;
 *   - memory is bounded: the newest REJECTIONS_MAX pods are known, about 1 KB each. An owner who makes
 *     more rejected pods loses sentences about pods, their own and others', and nothing else;
 *   - a run with rejected pods goes on, but for one case: one more failed pod would fail its Job, and
 *     the run still lacks pods. Then it is stopped, and queued again at its old place after a pause,
 *     twice as long each time, in which the figure of the node may become right;
 *   - nothing else of the protocol hangs on it.
 *
 * The limit is status.failed (and uncountedTerminatedPods.failed) == backoffLimit: the Job
 * controller fails a Job when more pods have failed than that, for any reason, in this run or an
 * earlier one (job_controller.go, exceedsBackoffLimit). It makes the next pod 10 s after the first
 * failure, then after 20 s and so on, which is the time for a stop. No time is left where
 * backoffLimit is 0, where several pods of a Job are rejected in one moment, and where the failures
 * of earlier runs have reached the limit. With backoffLimitPerIndex the limit is of an index,
 * backoffLimit is without end, and nothing is stopped. The stop loses what ran in other pods of the
 * Job, as its failure would; but a stopped Job runs again.
 *
 * Left to others: following the pods (watch/stuck_pods.h), reading them (wire/decode_trouble.h),
 * Events (write/events.h). Pods that get no node, or wait there, are Pending: trouble.h.
 */
#ifndef SLUICE_CONTROLLER_GATE_REJECTION_H
#define SLUICE_CONTROLLER_GATE_REJECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/uid.h"

enum {
	REJECTIONS_MAX = 1024,
	REJECTION_NAME_MAX = 254,
	REJECTION_WORD_MAX = 128,   /* bytes that are kept of a reason */
	REJECTION_MESSAGE_MAX = 200 /* bytes that are kept of a message */
};

struct rejected_pod {
	struct uid uid, job;
	int64_t made_ms; /* when the pod was created; when it was rejected is not told */
	char ns[64], job_name[REJECTION_NAME_MAX], node[REJECTION_NAME_MAX];
	char clusterqueue[REJECTION_NAME_MAX];
	char reason[REJECTION_WORD_MAX];     /* the kubelet's: "OutOfcpu" */
	char message[REJECTION_MESSAGE_MAX]; /* "Node didn't have enough resource: cpu, ..." */
};

struct rejections;

struct rejections *rejections_new(void);
void rejections_free(struct rejections *r);

/* Keeps a copy of the pod. False: it is known already. */
bool rejections_see(struct rejections *r, const struct rejected_pod *pod);
void rejections_lose(struct rejections *r, const struct uid *pod); /* it was deleted */
/* Begin and end a complete list: what was not seen between the two is gone. */
void rejections_begin(struct rejections *r);
void rejections_end(struct rejections *r);

/* The rejected pods of a Job that were made since a time. */
struct rejection {
	int32_t pods;			 /* 0: none */
	const struct rejected_pod *last; /* made last; until the next fact */
};
struct rejection rejections_of(
	const struct rejections *r, const char *ns, const struct uid *job, int64_t since_ms);
/* Finds the newest pod of a Job of that name; NULL: none. */
const struct rejected_pod *rejections_find(
	const struct rejections *r, const char *ns, const char *job_name);

/* Says "the kubelet of node n1 rejected a pod of it: OutOfcpu: Node didn't have enough ...". */
void rejection_sentence(const struct rejection *x, struct buf *out);
/* Says what to do about rejected pods, in clauses. */
const char *rejection_cure(void);

/* ---- Of the gate ----------------------------------------------------------------------------- */

struct explanation;
struct gate;
struct gate_job;

struct rejections *gate_rejections(struct gate *g);
/* Stops a run where its next rejected pod would fail its Job. */
void rejection_see_to(struct gate *g, struct gate_job *j);
/* Keeps a rejected pod. Notes it if it is of a run (NOTE_REJECTED_POD). */
void gate_see_rejected_pod(struct gate *g, const struct rejected_pod *pod);
/* Explains a Job that runs, after explain_stuck(). */
void explain_rejection(const struct gate *g, const struct gate_job *j, struct explanation *x);
/* Explains a Job that the gate has forgotten since its end; false: no pod of it is known. */
bool explain_rejected(
	const struct gate *g, const char *ns, const char *name, struct explanation *ret);

#endif
