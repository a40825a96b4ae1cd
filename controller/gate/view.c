/* What people and operators ask of the gate. */
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "base/must.h"
#include "controller/gate/core.h"
#include "controller/gate/failing.h"
#include "controller/gate/gate.h"
#include "controller/gate/job_table.h"
#include "controller/gate/mass_stop.h"
#include "controller/gate/record.h"
#include "controller/gate/rejection.h"
#include "controller/gate/stop.h"
#include "controller/gate/stop_words.h"
#include "controller/gate/stuck.h"
#include "queue/job/text.h"

bool gate_deposed(const struct gate *g)
{
	return g->role == ROLE_DEPOSED;
}

bool gate_leading(const struct gate *g)
{
	return g->role == ROLE_LEADING;
}

int64_t gate_epoch(const struct gate *g)
{
	return g->epoch;
}

void gate_count(const struct gate *g, struct gate_counts *ret)
{
	_Static_assert(
		sizeof(ret->by_phase) / sizeof(ret->by_phase[0]) == PHASES, "a phase was added");
	*ret = g->counts;
	ret->queued_operations = g->outbox.waiting + g->outbox.nops;
}

/* Explains a wait for nodes that were asked for, perhaps in vain; false: there is none. */
static bool explain_provision(const struct gate *g, const struct gate_job *j, struct explanation *x)
{
	char words[sizeof(x->sentence)], rest[sizeof(x->sentence)];
	if (!provision_words(g, j, words, sizeof(words)))
		return false;
	memcpy(rest, x->sentence, sizeof(rest));
	if (j->phase == PHASE_WAITING)
		snprintf(x->sentence, sizeof(x->sentence), "%.*s; %.*s", (int)(sizeof(words) / 2),
			words, (int)(sizeof(rest) / 2 - 3), rest);
	else
		memcpy(x->sentence, words, sizeof(words));
	return true;
}

/* Adds until when the pods that the run grew by are awaited. */
static void explain_grown(const struct gate *g, const struct gate_job *j, struct explanation *x)
{
	int64_t due_ms = queue_job_grown_due_ms(g->queue, &j->uid);
	size_t len = strlen(x->sentence);
	if (due_ms == 0 || j->seen.lacks == 0)
		return;
	snprintf(x->sentence + len, sizeof(x->sentence) - len,
		"; it grew, and %d of its %d pods %s not ready: it has until %s, then it is stopped",
		j->seen.lacks, j->seen.kept_up, j->seen.lacks == 1 ? "is" : "are",
		instant_seconds(due_ms).s);
}

/* Adds what a stop would do to a work queue of which a pod has succeeded. */
static void explain_ends_when_stopped(const struct gate_job *j, struct explanation *x)
{
	size_t len = strlen(x->sentence);
	if (j->seen.ends_when_stopped)
		snprintf(x->sentence + len, sizeof(x->sentence) - len,
			"; %s. It is stopped for a waiting Job only if that takes back quota of its own ClusterQueue; anything else that ends runs ends it",
			JOB_ENDS_WHEN_STOPPED);
}

/* Tells whether the Job is read before anything is sent, since what is known may be old. */
static bool is_read_first(const struct gate_job *j)
{
	return attempt_is_behind(j) || j->need_read || j->lost ||
	       (job_busy(j) && job_busy_with(j) == INTENT_READ);
}

static void explain_starting(const struct gate_job *j, struct explanation *x)
{
	if (!is_read_first(j))
		snprintf(x->sentence, sizeof(x->sentence),
			"starting: quota is reserved, the API server is being told (try %u)",
			j->request.tries + 1);
	else
		snprintf(x->sentence, sizeof(x->sentence),
			"starting: quota is reserved, and the Job is being read: %s",
			j->attempt.doubt ? "it may have been started already"
					 : "what is known of it may be old");
}

/* Explains a run that ends because its Job was put on hold. A Job that was released meanwhile is
 * not on hold any more. */
static bool explain_held(const struct gate *g, const struct gate_job *j, struct explanation *x)
{
	const char *because = queue_job_hold(g->queue, &j->uid);
	if (!j->seen.held || j->seen.deleting || !j->stop.reason ||
		strcmp(j->stop.reason, stop_reason_name(STOP_REASON_HELD)) != 0)
		return false;
	snprintf(x->sentence, sizeof(x->sentence),
		"on hold%s%s; it is being stopped, its quota is free once its last pod is gone%s%s",
		because ? ": " : "", because ? because : "", j->stop.pod_trouble ? "; " : "",
		j->stop.pod_trouble ? j->stop.pod_trouble : "");
	return true;
}

static void explain_phase(const struct gate *g, const struct gate_job *j, struct explanation *x)
{
	char words[DELETION_SIZE];
	const char *kept = deletion_words(j, words, sizeof(words));
	switch (j->phase) {
	case PHASE_WAITING:
	case PHASE_RUNNING:
		break;
	case PHASE_RESERVING:
		snprintf(x->sentence, sizeof(x->sentence),
			"chosen to start: its quota is being reserved in the ledger");
		break;
	case PHASE_STARTING:
		explain_starting(j, x);
		break;
	case PHASE_FENCING:
		snprintf(x->sentence, sizeof(x->sentence), "its start is being called off: %s",
			j->stop.reason);
		break;
	case PHASE_STOPPING:
	case PHASE_EVICTING:
		if (explain_held(g, j, x))
			break;
		snprintf(x->sentence, sizeof(x->sentence), "stopping: %s%s%s",
			j->stop.message ? j->stop.message : j->stop.reason,
			j->stop.pod_trouble ? "; " : "",
			j->stop.pod_trouble ? j->stop.pod_trouble : "");
		break;
	case PHASE_DRAINING:
		if (explain_held(g, j, x))
			break;
		snprintf(x->sentence, sizeof(x->sentence),
			"ended (%s); its quota is free once its last pod is gone%s%s%s%s",
			j->stop.message ? j->stop.message : j->stop.reason, *kept ? ": " : "", kept,
			j->stop.pod_trouble ? "; " : "",
			j->stop.pod_trouble ? j->stop.pod_trouble : "");
		break;
	case PHASES:
		must_not_get_here();
	}
}

/* Explains a deletion of a Job that holds nothing: the queue does not have it. */
static bool explain_deleting(const struct gate_job *j, struct explanation *x)
{
	char words[DELETION_SIZE];
	if (!j->seen.deleting || job_has_reservation(j))
		return false;
	*x = (struct explanation){.reason = WAIT_NOT,
		.localqueue = j->queue ? j->queue : "",
		.clusterqueue = j->attempt.clusterqueue,
		.queued_ms = j->seen.queued_ms};
	const char *kept = deletion_words(j, words, sizeof(words));
	snprintf(x->sentence, sizeof(x->sentence), "%s",
		*kept ? kept : "it is being deleted, and holds no quota");
	return true;
}

static const char *state_of(const struct gate_job *j)
{
	static const char *const words[] = {[PHASE_WAITING] = "Waiting",
		[PHASE_RESERVING] = "Starting",
		[PHASE_STARTING] = "Starting",
		[PHASE_FENCING] = "Stopping",
		[PHASE_RUNNING] = "Running",
		[PHASE_STOPPING] = "Stopping",
		[PHASE_DRAINING] = "Stopping",
		[PHASE_EVICTING] = "Stopping"};
	if (!job_has_reservation(j) && (j->seen.finished || j->seen.deleting))
		return j->seen.finished ? "Ended" : "Deleting";
	return words[j->phase];
}

const char *gate_state(const struct gate *g, const char *ns, const char *name)
{
	const struct gate_job *j = gate_job_named(g, ns, name);
	if (j)
		return state_of(j);
	return rejections_find(g->rejections, ns, name) ? "Ended" : "Waiting";
}

/* Tells whether the Job is managed and has not ended, or still holds quota. */
static bool is_listed(const struct gate_job *j)
{
	return job_has_reservation(j) || (j->seen.managed && !j->seen.finished && !j->gone);
}

static struct gate_listed listed(const struct gate *g, const struct gate_job *j)
{
	return (struct gate_listed){.uid = j->uid,
		.ns = j->ns,
		.name = j->name,
		.state = state_of(j),
		.created_ms = j->seen.created_ms,
		.started_ms = j->attempt.committed ? j->attempt.started_ms : 0,
		.labels = j->label_set,
		.submitted_by = j->submitted_by,
		.overdue_ms = stop_overdue_ms(g, j)};
}

struct deferred_each {
	const struct gate *g;
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx);
	void *ctx;
};

static void each_deferred(const struct deferred_job *d, const struct job_place *place, void *ctx)
{
	const struct deferred_each *to = ctx;
	struct gate_listed one = {.uid = d->uid,
		.ns = d->ns,
		.name = d->name,
		.state = "Waiting",
		.created_ms = place->queued_ms};
	if (!gate_find_job(to->g, &d->uid))
		to->each(&one, true, to->ctx);
}

void gate_each_job(const struct gate *g,
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx), void *ctx)
{
	struct deferred_each deferred = {g, each, ctx};
	for (const struct gate_job *j = g->first; j; j = j->next) {
		struct gate_listed one = listed(g, j);
		if (is_listed(j) && gate_job_named(g, j->ns, j->name) == j)
			each(&one, false, ctx);
	}
	queue_each_deferred(g->queue, each_deferred, &deferred);
}

bool gate_find_listed(
	const struct gate *g, const char *ns, const char *name, struct gate_listed *ret)
{
	const struct gate_job *j = gate_job_named(g, ns, name);
	if (!j || !is_listed(j))
		return false;
	*ret = listed(g, j);
	return true;
}

const char *gate_story(const struct gate *g, const char *ns, const char *name)
{
	const struct gate_job *j = gate_job_named(g, ns, name);
	return j ? j->story : NULL;
}

bool gate_job_trouble(
	const struct gate *g, const char *ns, const char *name, struct gate_trouble *ret)
{
	const struct gate_job *j = gate_job_named(g, ns, name);
	return j && stuck_trouble(j, ret);
}

bool gate_job_ignores_disruption(const struct gate *g, const struct uid *uid)
{
	const struct gate_job *j = gate_find_job(g, uid);
	return j && j->seen.ignores_disruption;
}

bool gate_bill(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct run_bill *ret)
{
	const struct gate_job *j = gate_job_named(g, ns, name);
	return j && queue_job_bill(g->queue, &j->uid, now_ms, ret);
}

static bool is_asked_for(const struct gate_job *j, const struct gate_runs_asked *a)
{
	return j->attempt.committed && j->attempt.started_ms >= a->from_ms &&
	       j->attempt.started_ms < a->to_ms && (!a->ns || strcmp(j->ns, a->ns) == 0);
}

void gate_each_run(struct gate *g, const struct gate_runs_asked *a,
	void (*each)(const struct gate_run *run, void *ctx), void *ctx)
{
	for (struct gate_job *j = g->first; j && g->role == ROLE_LEADING; j = j->next) {
		if (!is_asked_for(j, a))
			continue;
		int64_t ran_ms = a->now_ms - j->attempt.started_ms;
		struct gate_run run = {.ns = j->ns,
			.name = j->name,
			.clusterqueue = j->attempt.clusterqueue,
			.localqueue = j->queue ? j->queue : "",
			.owner = j->family ? j->family : j->name,
			.labels = j->labels,
			.submitted_by = j->submitted_by,
			.started_ms = j->attempt.started_ms,
			.estimated = j->attempt.estimated,
			.ran_ms = ran_ms > 0 ? ran_ms : 0};
		if (j->phase == PHASE_DRAINING)
			run.lost_ms = stop_loses_ms(j, j->stop.stopped_ms);
		queue_job_cost(g->queue, &j->uid, a->now_ms, &run.bill);
		each(&run, ctx);
	}
}

void gate_tell_ledger_down(struct gate *g, int64_t since_ms)
{
	if (since_ms == 0 || g->ledger_down_ms == 0)
		g->ledger_down_ms = since_ms;
}

int64_t gate_ledger_down_ms(const struct gate *g)
{
	return g->ledger_down_ms;
}

/* Explains that the ledger is down, and adds what else is waited for: that will still be so. */
static void explain_ledger(const struct gate *g, struct explanation *x)
{
	char besides[sizeof(x->sentence)];
	if (g->ledger_down_ms == 0 || wait_reason_needs_change(x->reason))
		return;
	snprintf(besides, sizeof(besides), "%s", x->sentence);
	bool waits_besides = x->reason != WAIT_NOT && x->reason != WAIT_PENDING_EVALUATION;
	struct text out = text_over(x->sentence, sizeof(x->sentence));
	text_add(&out,
		"Postgres has not answered since %s: running Jobs continue, but no Job starts until it is back%s%.800s",
		instant_seconds(g->ledger_down_ms).s, waits_besides ? "; besides: " : "",
		waits_besides ? besides : "");
	x->reason = WAIT_LEDGER_DOWN;
	x->not_before_ms = 0; /* no time lets it go on */
}

bool gate_explain(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct explanation *ret)
{
	const struct gate_job *found = gate_job_named(g, ns, name);
	if (!found || !queue_explain(g->queue, &found->uid, now_ms, ret))
		return (found && explain_deleting(found, ret)) ||
		       queue_explain_deferred(g->queue, ns, name, ret) ||
		       explain_rejected(g, ns, name, ret);
	if (found->phase == PHASE_WAITING) {
		explain_lending(g, found, ret);
		explain_pod_trouble(found, ret);
		explain_adoption(g, ret);
		explain_mass_stop(g, ret);
	}
	if (found->phase == PHASE_RUNNING) {
		explain_stuck(found, now_ms, ret);
		explain_rejection(g, found, ret);
		explain_grown(g, found, ret);
		explain_ends_when_stopped(found, ret);
	}
	if (!explain_provision(g, found, ret) || found->phase != PHASE_STARTING)
		explain_phase(g, found, ret);
	explain_failing(g, found, ret);
	if (found->phase == PHASE_WAITING || found->phase == PHASE_RESERVING)
		explain_ledger(g, ret);
	return true;
}
