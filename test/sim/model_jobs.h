/*
 * A model of the Job controller, the garbage collector and the kubelets.
 *
 * It follows kubernetes 1.36 pkg/controller/job/job_controller.go, syncJob and manageJob, where it
 * matters to us:
 *   - it acts on its own view of Job and pods, which is late; so it may make pods after the Job was
 *     suspended or deleted, if it has not heard of that yet;
 *   - it manages pods only when it has seen all that it made and deleted itself (expectations);
 *   - it writes the status with the resourceVersion of its view: a status that was computed from an
 *     old view is refused with a conflict, and it waits until it has seen its own last write;
 *   - suspended: deletes what is active, counts that as terminating, sets condition Suspended and
 *     takes startTime away (on an old server it stays); resumed: the condition goes, startTime is now;
 *   - Complete and Failed come only when no pod is active or terminating.
 */
#ifndef SLUICE_TEST_SIM_MODEL_JOBS_H
#define SLUICE_TEST_SIM_MODEL_JOBS_H

#include "test/sim/model_api.h"

struct sim;

enum pod_state {
	POD_UNSEEN, /* only in the controller's view: it does not know it yet */
	POD_RUNNING,
	POD_TERMINATING,
	POD_SUCCEEDED,
	POD_FAILED,
	POD_GONE,
};

struct model_pod {
	struct model_pod *next;
	size_t index; /* for the log */
	struct model_job *of;
	const struct model_run *run;
	const struct snap *template; /* what each pod of it asks for */
	enum pod_state state, seen;
	bool ready, will_fail;
	bool ended;			    /* its time came while pods were not to end */
	int64_t lasts_ms, ends_ms, gone_ms; /* gone: when its grace period is over */
	int64_t left_ms;		    /* when it ended, or was gone */
	int node;			    /* -1: none, or there are none in this world */
};

struct model_jobs {
	struct model_pod *first, **tail;
	size_t count;
	uint64_t life; /* of the controllers; what belongs to an earlier one is dropped */
};

void model_jobs_init(struct model_jobs *m);
/* The API server tells: j has a new snapshot. */
void model_jobs_inform(struct sim *s, const struct snap *now);
/* Pods that hold resources: neither gone nor in a terminal phase. */
size_t model_jobs_working(const struct model_jobs *m, const struct model_job *j);
size_t model_jobs_pods(const struct model_jobs *m, const struct model_job *j);
/* So many pods of it ask for more than is held. */
bool model_jobs_are_beyond(
	const struct model_job *j, int64_t pods, const struct ledger_reservation *held);
/* It has a node: from now on it works. */
void model_jobs_begin_pod(struct sim *s, struct model_pod *p);
/* It is terminating already, for so long yet. */
void model_jobs_end_pod(struct sim *s, struct model_pod *p, int64_t grace_ms);
/* The controllers know nothing, and read everything after that time. */
void model_jobs_begin_anew(struct sim *s, int64_t after_ms);
/* Lets pods end again. */
void model_jobs_thaw(struct sim *s);

static inline bool pod_exists(const struct model_pod *p)
{
	return p->state == POD_RUNNING || p->state == POD_TERMINATING;
}

#endif
