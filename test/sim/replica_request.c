/*
 * What a controller asks: each intent becomes a request that travels, lands or not, and is answered
 * or not. To the API server each travels alone and may land long after the asker gave up. To the
 * ledger they share one connection, in order; when it breaks, what had landed has, the rest has
 * not, and all that were not answered are answered LOST.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/gate/adoption.h"
#include "test/sim/sim.h"
#include "test/sim/windows.h"

/* ---- To the API server --------------------------------------------------------------------------
 */

enum fate {
	FATE_FINE,
	FATE_LOST,	 /* never lands, no answer */
	FATE_UNANSWERED, /* lands, no answer */
	FATE_LATE,	 /* no answer, lands long after */
	FATE_BUSY,
	FATE_DENIED,
};

struct api_request {
	struct replica *from;
	uint64_t life;
	int64_t epoch;	 /* the asker's */
	uint64_t led_on; /* the ledger's server that gave it that epoch */
	int64_t sent_ms;
	struct intent intent; /* a copy of all that the models read */
	enum fate fate;
	uint64_t store, born; /* that it was sent to; when the asker began (restore.h) */
	bool local;	      /* the answer is the driver's own */
	bool doubted;	      /* the asker has been told JOB_IN_DOUBT */
	struct job_answer answer;
	struct job job;	  /* of the answer */
	const char *body; /* of a start, where that matters (lent.h) */
};

static struct intent copy_intent(struct sim *s, const struct intent *i)
{
	struct intent c = *i;
	c.ns = pool_strdup(&s->pool, i->ns);
	c.name = pool_strdup(&s->pool, i->name);
	c.story_before = pool_strdup(&s->pool, i->story_before);
	c.hold = pool_strdup(&s->pool, i->hold);
	c.notice = pool_strdup(&s->pool, i->notice);
	c.outcomes = pool_strdup(&s->pool, i->outcomes);
	c.story.clusterqueue = pool_strdup(&s->pool, i->story.clusterqueue);
	c.story.reason = pool_strdup(&s->pool, i->story.reason);
	c.story.by = pool_strdup(&s->pool, i->story.by);
	c.story.preemptor = pool_strdup(&s->pool, i->story.preemptor);
	c.story.message = pool_strdup(&s->pool, i->story.message);
	c.story.retold = pool_strdup(&s->pool, i->story.retold);
	struct quota_line *lines = sim_alloc(s, (i->story.nlines + 1) * sizeof(*lines));
	for (size_t k = 0; k < i->story.nlines; k++)
		lines[k] = (struct quota_line){pool_strdup(&s->pool, i->story.lines[k].node),
			pool_strdup(&s->pool, i->story.lines[k].flavor),
			pool_strdup(&s->pool, i->story.lines[k].resource),
			i->story.lines[k].amount};
	c.story.lines = lines;
	c.template = (struct start_template){0}; /* of the body (lent.h) */
	return c;
}

static void answer_api(struct sim *s, struct replica *r, void *arg)
{
	struct api_request *q = arg;
	bool reaches = way_is_open(s, &r->to_api) && q->store == s->restore.store;
	if (!q->local && !reaches) { /* it is lost on its way */
		q->local = true;
		q->answer = (struct job_answer){.outcome = JOB_IN_DOUBT};
		replica_at(s, r, s->now_ms + rng_between(&s->partition.rng, 500, 10000), answer_api,
			q);
		return;
	}
	if (q->answer.outcome == JOB_IN_DOUBT) {
		q->doubted = true;
		if (s->o.bug == BUG_START_DOUBT_LOST && q->intent.kind == INTENT_START)
			q->answer.outcome = JOB_REFUSED;
	}
	static const char *const names[] = {
		"done", "refused", "gone", "busy", "denied", "in doubt"};
	sim_log(s, "%s hears %s: %s%s%s", r->identity, q->intent.name, names[q->answer.outcome],
		q->answer.sentence ? ", " : "", q->answer.sentence ? q->answer.sentence : "");
	/* A GET goes by name. Of another Job of that name the gate takes nothing. */
	bool own = q->answer.job && uid_cmp(&q->job.uid, &q->intent.uid) == 0;
	if (own)
		tenant_show(s, r->index, r->life, &q->job);
	if (own && q->intent.kind == INTENT_READ)
		restore_read(s, r, q->answer.job);
	gate_answer_job(r->gate, q->intent.id, &q->answer);
	replica_step_soon(s, r);
}

static void count_landed(struct sim *s, const struct api_request *q, enum job_outcome o)
{
	bool start = q->intent.kind == INTENT_START, growth = q->intent.kind == INTENT_GROW;
	bool orphan = q->from->life != q->life || q->doubted;
	if (o == JOB_REFUSED) {
		sim_reach(s, PATH_GUARD_REFUSED);
		if (start && orphan)
			sim_reach(s, PATH_LATE_START_HELD);
		if (growth && orphan)
			sim_reach(s, PATH_GROWTH_LATE_HELD);
	}
	if (o != JOB_DONE)
		return;
	if (start) {
		struct ledger_lease lease;
		sim_reach(s, PATH_START);
		if (q->doubted)
			sim_reach(s, PATH_LATE_START);
		model_ledger_lease(s->ledger, "", -1, 0, 0, false, 0, &lease);
		if (lease.epoch != q->epoch)
			sim_reach(s, PATH_LATE_START_TAKEOVER);
		if (q->intent.parallelism > 0)
			sim_reach(s, PATH_PARTIAL);
	} else if (q->intent.kind == INTENT_SHRINK) {
		sim_reach(s, PATH_NARROWED);
	} else if (growth) {
		sim_reach(s, PATH_GROWN);
		if (q->intent.story.owner_parallelism == 0)
			sim_reach(s, PATH_GROWN_WHOLE);
		if (q->doubted)
			sim_reach(s, PATH_LATE_GROWTH);
	} else if (q->intent.kind == INTENT_RETELL) {
		sim_reach(s, PATH_RETOLD);
	} else if (q->intent.kind == INTENT_STOP) {
		sim_reach(s, PATH_STOP);
		window_quota_check_stop(s, &q->intent.story, q->intent.name);
		if (!strcmp(q->intent.story.reason, stop_reason_name(STOP_REASON_IDLE_RECLAIMED)))
			sim_reach(s, PATH_RECLAIMED);
		if (q->intent.parallelism > 0)
			sim_reach(s, PATH_COUNTS_BACK);
	} else if (q->intent.kind == INTENT_OUTCOMES) {
		sim_reach(s, PATH_OUTCOMES_NOTED);
	} else if (q->intent.kind == INTENT_NOTICE) {
		sim_reach(s, PATH_NOTICE);
		if (q->doubted)
			sim_reach(s, PATH_LATE_NOTICE);
	} else if (q->intent.kind == INTENT_CLEAR) {
		sim_reach(s, PATH_CLEARED);
	} else if (q->intent.kind == INTENT_WARN) {
		sim_reach(s, PATH_WARN);
	} else if (q->intent.kind == INTENT_TELL) {
		sim_reach(s, PATH_TELL);
		if (q->intent.story.state == STORY_FENCED)
			sim_reach(s, PATH_FENCE);
	}
}

/* Pods that are not ready in time stop a Job so often and not more, whichever leads meanwhile. */
static void count_unready(struct sim *s, const struct api_request *q, struct model_job *j,
	const struct model_run *run)
{
	const char *reason = q->intent.story.reason;
	int32_t limit = s->people.queue.back_off_limit;
	if (!strcmp(reason, stop_reason_name(STOP_REASON_MAX_RUN)))
		sim_reach(s, PATH_RAN_OUT);
	if (!strcmp(reason, stop_reason_name(STOP_REASON_REQUEUE_LIMIT)))
		sim_reach(s, PATH_DEACTIVATED);
	const struct job *now =
		&j->now->job; /* Complete, or in a moment: nothing is left to hold */
	bool over = job_finished(now) || job_ends_when_stopped(now);
	if (!strncmp(reason, "Deactivated", 11) && !now->hold && !over)
		sim_break(s, "P4", "%s was stopped (%s): expected it to be on hold", q->intent.name,
			reason);
	if (strcmp(reason, stop_reason_name(STOP_REASON_PODS_READY_TIMEOUT)) || j->vandalized)
		return;
	if (run && run->outside)
		return; /* unsuspended by a user: the attempt ended before, and its story says why
			 */
	sim_reach(s, PATH_UNREADY);
	if (++j->unready > limit)
		sim_break(s, "P4",
			"%s was stopped %d times for pods that were not ready: expected %d before "
			"it "
			"is put on hold",
			q->intent.name, j->unready, limit);
}

/* Without its queue label no leader adopts it after a loss, and what the ledger still has of it may be
 * of an earlier attempt. */
static bool is_off_the_queue(const struct sim *s, const struct snap *n)
{
	return s->failover.lost_ms > 0 && !n->job.queue[0];
}

/* What a leader knows of a stop is lost with it when the ledger has moved to another server. */
static void record_stop(struct sim *s, const struct api_request *q, const struct snap *before)
{
	if (before->run && before->run->outside) {
		sim_reach(s, PATH_BYPASS_STOPPED);
		return;
	}
	const char *message = q->intent.story.message;
	if (!strcmp(q->intent.story.reason, "NotAdmitted") && before->run &&
		!before->job.status.complete && !before->job.status.failed &&
		!is_off_the_queue(s, before) &&
		q->born == s->restore.store && /* else it may have given it back: restore.h */
		!model_api_by_uid(&s->api, &q->intent.uid)->vandalized &&
		!(message && !strcmp(message, ADOPTION_NO_QUOTA)))
		sim_break(s, "P2", "%s was admitted, and is stopped as if it was not",
			q->intent.name);
	if (q->led_on != s->failover.server)
		return;
	struct stop_seen *t = sim_alloc(s, sizeof(*t));
	*t = (struct stop_seen){.next = s->stops,
		.uid = q->intent.uid,
		.attempt = q->intent.story.attempt,
		.epoch = q->epoch,
		.worked = before->run && before->job.status.active > 0 &&
			  s->now_ms - before->run->landed_ms > 60000 && !s->count[PATH_CLOCK_STEP]};
	s->stops = t;
}

/* A user who may go around the admission policy took our annotations off, and a start that was
 * thought to be held off finds the Job as it was: nothing on the Job could have told it. Or the
 * ledger lost its reservation, long before it lands. What runs then, was not admitted; it has to be
 * stopped like any other intruder. */
static void disown(struct sim *s, const struct api_request *q, struct model_job *j)
{
	const struct model_reservation *h =
		model_ledger_reservation(s->ledger, &q->intent.uid, q->intent.story.attempt);
	if ((j->vandalized || failover_too_late(s)) && !(h && h->open))
		((struct model_run *)j->now->run)->outside = true;
}

/* Planted faults. */
static bool is_unguarded(const struct sim *s, enum intent_kind k)
{
	return (s->o.bug == BUG_UNGUARDED && k == INTENT_START) ||
	       (s->o.bug == BUG_GROW_UNGUARDED && k == INTENT_GROW) ||
	       (s->o.bug == BUG_DELETE_UNGUARDED && k == INTENT_DELETE);
}

/* What the server does with it, now. */
static struct job_answer serve(struct sim *s, struct api_request *q)
{
	struct job_answer a = {.outcome = JOB_DONE};
	struct model_job *j = model_api_by_uid(&s->api, &q->intent.uid);
	if (q->intent.kind == INTENT_PODS) {
		a.pods = j && !tenant_hides_pods(s, j) ? model_jobs_pods(&s->jobs, j) : 0;
		if (s->o.bug == BUG_LEAVING_UNCOUNTED && j)
			a.pods = model_jobs_working(&s->jobs, j);
		return a;
	}
	if (q->intent.kind == INTENT_NAMESPACE) {
		a.adopt_begun_by_ms = newcomers_word(s, q->intent.ns);
		return a;
	}
	const struct snap *snap = NULL;
	const struct snap *before = j ? j->now : NULL;
	if (j && !lent_takes(s, j, q->body)) {
		sim_reach(s, PATH_LENT_REFUSED);
		return (struct job_answer){
			.outcome = JOB_DENIED, .sentence = "spec.template: field is immutable"};
	}
	s->start = q->body;
	a.outcome = model_api_request(&s->api, &q->intent, s->now_ms,
		is_unguarded(s, q->intent.kind), &snap, &a.sentence);
	must(a.outcome != JOB_DONE || before); /* what is found by name is found by uid */
	if (a.outcome == JOB_DONE)
		pipelines_check_landed(s, &q->intent, before, q->sent_ms);
	if (a.outcome == JOB_DONE && q->intent.kind == INTENT_STOP && !before->job.suspend) {
		newcomers_check_stop(s, &q->intent, before);
		record_stop(s, q, before);
		count_unready(s, q, j, before->run);
	}
	if (a.outcome == JOB_DONE && q->intent.kind == INTENT_START) {
		disown(s, q, j);
		restore_started(s, q->born, j, q->intent.generation);
	}
	if (a.outcome == JOB_DONE && q->intent.kind == INTENT_GROW)
		growing_landed(s, j);
	if (a.outcome == JOB_DONE && q->intent.kind == INTENT_RETELL)
		newcomers_landed(s, &q->intent, before);
	if (a.outcome == JOB_DONE && q->intent.kind == INTENT_RETELL)
		growing_plant_in_story(s, before, j->now);
	if (q->intent.kind != INTENT_READ) {
		sim_log(s, "api    %s of %s lands: %s",
			q->intent.kind == INTENT_START	    ? "START"
			: q->intent.kind == INTENT_STOP	    ? "STOP"
			: q->intent.kind == INTENT_SHRINK   ? "SHRINK"
			: q->intent.kind == INTENT_GROW	    ? "GROW"
			: q->intent.kind == INTENT_RETELL   ? "RETELL"
			: q->intent.kind == INTENT_OUTCOMES ? "OUTCOMES"
			: q->intent.kind == INTENT_NOTICE   ? "NOTICE"
			: q->intent.kind == INTENT_WARN	    ? "WARN"
			: q->intent.kind == INTENT_CLEAR    ? "CLEAR"
			: q->intent.kind == INTENT_DELETE   ? "DELETE"
							    : "TELL",
			q->intent.name,
			q->intent.kind == INTENT_OUTCOMES ? q->intent.outcomes
			: q->intent.kind == INTENT_NOTICE ? q->intent.notice
			: snap				  ? snap->job.admission.story
			: a.sentence			  ? a.sentence
			: a.outcome == JOB_DONE		  ? "done"
							  : "gone");
		count_landed(s, q, a.outcome);
	}
	if (snap) {
		q->job = snap->job;
		if (s->o.bug == BUG_RELEASE_EARLY && q->job.suspend) {
			q->job.status.suspended = true;
			q->job.status.active = q->job.status.terminating = 0;
		}
		a.job = &q->job;
	}
	return a;
}

static void answer_after(struct sim *s, struct api_request *q, int64_t ms)
{
	if (q->from->up && q->life == q->from->life)
		replica_at(s, q->from, s->now_ms + ms, answer_api, q);
}

static void lands_at_api(struct sim *s, void *arg)
{
	struct api_request *q = arg;
	if (q->store != s->restore.store) { /* the connection broke with the server */
		bool answered = q->fate != FATE_FINE;
		q->local = true;
		q->answer = (struct job_answer){.outcome = JOB_IN_DOUBT};
		if (!answered)
			answer_after(s, q, 1);
		return;
	}
	struct job_answer a = serve(s, q);
	if (q->fate != FATE_FINE)
		return;
	q->answer = a;
	answer_after(s, q, rng_skewed(&s->rng, 1, s->faults.api_latency_ms));
}

static enum fate draw_fate(struct sim *s)
{
	const struct faults *f = &s->faults;
	if (rng_odds(&s->rng, f->busy)) {
		sim_reach(s, PATH_REQUEST_BUSY);
		return FATE_BUSY;
	}
	if (rng_odds(&s->rng, f->denied)) {
		sim_reach(s, PATH_REQUEST_DENIED);
		return FATE_DENIED;
	}
	if (rng_odds(&s->rng, f->lost)) {
		sim_reach(s, PATH_REQUEST_LOST);
		return FATE_LOST;
	}
	if (rng_odds(&s->rng, f->unanswered)) {
		sim_reach(s, PATH_REQUEST_UNANSWERED);
		return FATE_UNANSWERED;
	}
	return rng_odds(&s->rng, f->late) ? FATE_LATE : FATE_FINE;
}

/* A planted fault: the driver says that the fence is written, and sends nothing. */
static bool pretend_fence(struct sim *s, struct api_request *q)
{
	const struct model_job *j = model_api_by_uid(&s->api, &q->intent.uid);
	if (s->o.bug != BUG_TELL_UNDONE || q->intent.kind != INTENT_TELL || !j || j->now->gone ||
		q->intent.story.state != STORY_FENCED)
		return false;
	q->job = j->now->job;
	q->job.admission.state = q->intent.story.state;
	q->job.admission.attempt = q->intent.story.attempt;
	q->answer = (struct job_answer){.outcome = JOB_DONE, .job = &q->job};
	answer_after(s, q, 5);
	return true;
}

/* A connection that is refused carried nothing; from one that swallows, nothing is known. */
static bool is_cut_off(struct sim *s, struct api_request *q)
{
	const struct way *w = &q->from->to_api;
	bool reads = q->intent.kind == INTENT_READ || q->intent.kind == INTENT_PODS ||
		     q->intent.kind == INTENT_NAMESPACE;
	if (way_is_open(s, w))
		return false;
	q->local = true;
	q->fate = FATE_LOST;
	q->answer = (struct job_answer){
		.outcome = w->silent && !reads ? JOB_IN_DOUBT : JOB_BUSY, .retry_ms = 1000};
	answer_after(s, q,
		w->silent ? rng_between(&s->partition.rng, 500, 10000)
			  : rng_between(&s->partition.rng, 1, 50));
	return true;
}

/* Planted faults: what a PATCH leaves out. */
static void plant_in_patch(const struct sim *s, struct intent *i)
{
	if (s->o.bug == BUG_COUNTS_KEPT && i->kind != INTENT_START)
		i->parallelism = i->completions = 0;
	if (s->o.bug == BUG_STORY_UNSIGNED)
		i->story.is_signed = false;
	if (s->o.bug == BUG_HISTORY_LOST)
		i->story.history = (struct job_history){0};
}

void replica_send_api(struct sim *s, struct replica *r, const struct intent *i)
{
	struct api_request *q = sim_alloc(s, sizeof(*q));
	*q = (struct api_request){.from = r,
		.life = r->life,
		.epoch = gate_epoch(r->gate),
		.led_on = r->led_on,
		.sent_ms = s->now_ms,
		.intent = copy_intent(s, i),
		.fate = draw_fate(s),
		.store = s->restore.store,
		.born = r->born,
		.body = lent_render(s, i)};
	plant_in_patch(s, &q->intent);
	int64_t late_ms =
		i->kind == INTENT_DELETE ? pipelines_late_ms(s, i) : growing_late_ms(s, i);
	if (late_ms > 0)
		q->fate = FATE_LATE;
	if (window_quota_denies(s, i))
		q->fate = FATE_DENIED;
	if (i->kind == INTENT_START)
		windows_check_sent(s, r, &i->uid);
	int64_t there = rng_skewed(&s->rng, 1, s->faults.api_latency_ms);
	int64_t patience = rng_between(&s->rng, 500, 10000);
	if (pretend_fence(s, q) || is_cut_off(s, q))
		return;
	switch (q->fate) {
	case FATE_FINE:
		sim_after(s, there, lands_at_api, q);
		return;
	case FATE_LOST:
		break;
	case FATE_UNANSWERED:
		sim_after(s, there < patience ? there : patience, lands_at_api, q);
		break;
	case FATE_LATE:
		if (late_ms == 0)
			late_ms = rng_between(&s->rng, 1, rng_odds(&s->rng, 7000) ? 20000 : 120000);
		sim_after(s, patience + late_ms, lands_at_api, q);
		break;
	case FATE_BUSY:
		q->answer = (struct job_answer){
			.outcome = JOB_BUSY, .retry_ms = rng_between(&s->rng, 0, 2000)};
		answer_after(s, q, there);
		return;
	case FATE_DENIED:
		q->answer = (struct job_answer){
			.outcome = JOB_DENIED, .sentence = "the policy says no"};
		answer_after(s, q, there);
		return;
	}
	q->answer.outcome = JOB_IN_DOUBT;
	q->local = true;
	answer_after(s, q, patience);
}

/* ---- To the ledger ------------------------------------------------------------------------------
 */

struct ledger_request {
	struct replica *from;
	uint64_t life;
	struct intent intent;
	struct ledger_op *ops; /* copies: bytes that are on the wire */
	bool severed;	       /* the connection broke before it landed */
	bool answered;
	enum fate fate;
	enum ledger_outcome outcome;
	uint64_t server; /* that it was sent to */
	uint64_t born;	 /* the store when the asker began (restore.h) */
	int64_t batch;	 /* the number of the last, when it was executed */
	struct ledger_lease lease;
	struct ledger_reservation *holds;
	size_t nreservations;
	struct ledger_spent
		*spent; /* INTENT_LOAD, before the reservations: see controller/write/recall.h */
	size_t nspent;
	struct ledger_result *results;
};

static void copy_ops(struct sim *s, struct ledger_request *q)
{
	const struct ledger_batch *b = &q->intent.batch;
	q->ops = sim_alloc(s, (b->nops + 1) * sizeof(*q->ops));
	q->results = sim_alloc(s, (b->nops + 1) * sizeof(*q->results));
	for (size_t i = 0; i < b->nops; i++) {
		struct ledger_op *op = &q->ops[i];
		*op = b->ops[i];
		op->ns = pool_strdup(&s->pool, op->ns);
		op->name = pool_strdup(&s->pool, op->name);
		op->clusterqueue = pool_strdup(&s->pool, op->clusterqueue);
		op->localqueue = pool_strdup(&s->pool, op->localqueue);
		op->owner = pool_strdup(&s->pool, op->owner);
		op->labels = pool_strdup(&s->pool, op->labels);
		op->submitted_by = pool_strdup(&s->pool, op->submitted_by);
		op->plan = pool_strdup(&s->pool, op->plan);
		op->currency = pool_strdup(&s->pool, op->currency);
		op->price = pool_strdup(&s->pool, op->price);
		op->cost += op->priced && s->o.bug == BUG_BILL_GUESSED;
		op->parent = pool_strdup(&s->pool, op->parent);
		op->reason = pool_strdup(&s->pool, op->reason);
		op->actor = pool_strdup(&s->pool, op->actor);
		struct quota_line *lines = sim_alloc(s, (op->nlines + 1) * sizeof(*lines));
		for (size_t k = 0; k < op->nlines; k++)
			lines[k] = (struct quota_line){pool_strdup(&s->pool, op->lines[k].node),
				pool_strdup(&s->pool, op->lines[k].flavor),
				pool_strdup(&s->pool, op->lines[k].resource), op->lines[k].amount};
		op->lines = lines;
		growing_plant_in_op(s, op);
	}
	q->intent.batch.ops = q->ops;
}

static bool has_kind(const struct ledger_request *q, enum ledger_kind k)
{
	for (size_t i = 0; i < q->intent.batch.nops; i++)
		if (q->ops[i].kind == k)
			return true;
	return false;
}

/* Planted faults: the driver makes an answer up for a batch whose fate it does not know. */
static void make_up_results(struct sim *s, const struct replica *r, struct ledger_request *q)
{
	if (s->o.bug == BUG_BATCH_ASSUMED && !way_is_open(s, &r->to_ledger)) {
		q->outcome = LEDGER_DONE; /* each is APPLIED */
		return;
	}
	bool lost = s->o.bug == BUG_BATCH_DOUBT_LOST;
	if (s->o.bug == BUG_COMMIT_DOUBT_LOST)
		lost = has_kind(q, LEDGER_COMMIT) && !has_kind(q, LEDGER_RESERVE);
	if (!lost)
		return;
	q->outcome = LEDGER_DONE;
	for (size_t i = 0; i < q->intent.batch.nops; i++)
		q->results[i].verdict =
			q->ops[i].kind == LEDGER_RESERVE ? LEDGER_REFUSED : LEDGER_SPENT;
}

/* The courier does, before the gate hears of the load. */
static void recall_spent(struct sim *s, struct replica *r, const struct ledger_request *q)
{
	if (q->outcome != LEDGER_DONE || s->o.bug == BUG_SPENT_FORGOTTEN)
		return;
	if (q->nspent > 0)
		sim_reach(s, PATH_SPENT_RECALLED);
	for (size_t i = 0; i < q->nspent; i++)
		queue_recall_spent(r->queue, q->spent[i].clusterqueue, q->spent[i].ns,
			q->spent[i].localqueue, q->spent[i].currency, q->spent[i].started_ms,
			q->spent[i].cost);
}

static void answer_ledger(struct sim *s, struct replica *r, void *arg)
{
	struct ledger_request *q = arg;
	if (q->answered)
		return;
	q->answered = true;
	for (size_t i = 0; i < r->nflight; i++)
		if (r->flight[i] == q) {
			memmove(&r->flight[i], &r->flight[i + 1],
				(--r->nflight - i) * sizeof(struct ledger_request *));
			break;
		}
	static const char *const names[] = {"done", "fenced", "lost"};
	bool led =
		q->intent.kind == INTENT_BATCH || (q->intent.kind == INTENT_LEASE && q->lease.held);
	if (q->outcome == LEDGER_DONE && led) {
		r->acked_epoch = q->intent.kind == INTENT_LEASE ? q->lease.epoch : q->intent.epoch;
		r->acked_batch = q->batch;
		if (q->intent.epoch == 0)
			r->led_on = q->server;
	}
	if (q->intent.kind == INTENT_LEASE) {
		if (q->outcome != LEDGER_DONE || q->intent.epoch == 0)
			sim_log(s, "%s hears of the lease: %s, epoch %lld %s", r->identity,
				names[q->outcome], (long long)q->lease.epoch, q->lease.holder);
		gate_answer_lease(r->gate, q->intent.id, q->outcome, &q->lease);
		/* The worst moment to fall asleep. */
		if (q->lease.held && q->intent.epoch == 0 && s->faults.pause_every_ms &&
			rng_odds(&s->rng, 2000))
			replica_sleep(s, r);
	} else if (q->intent.kind == INTENT_LOAD) {
		sim_log(s, "%s loads %zu holds: %s", r->identity, q->nreservations,
			names[q->outcome]);
		recall_spent(s, r, q);
		gate_answer_load(r->gate, q->intent.id, q->outcome, q->holds, q->nreservations);
	} else {
		if (q->outcome == LEDGER_LOST)
			make_up_results(s, r, q);
		sim_log(s, "%s hears of its batch: %s", r->identity, names[q->outcome]);
		gate_answer_batch(r->gate, q->intent.id, q->outcome, q->results,
			q->outcome == LEDGER_DONE ? q->intent.batch.nops : 0);
	}
	replica_step_soon(s, r);
}

void replica_break_ledger(struct sim *s, struct replica *r)
{
	r->connection++;
	r->land_ms = r->answer_ms = 0;
	for (size_t i = 0; i < r->nflight; i++) {
		struct ledger_request *q = r->flight[i];
		q->severed = true;
		q->outcome = LEDGER_LOST;
		/* Not at once: a driver answers from its loop. */
		replica_at(s, r, s->now_ms + 1 + (int64_t)i, answer_ledger, q);
	}
	r->nflight = 0;
}

/* What a dead process had sent may be on its way still. */
void replica_sever(struct sim *s, struct replica *r)
{
	bool all = rng_odds(&s->rng, 5000);
	for (size_t i = 0; all && i < r->nflight; i++)
		r->flight[i]->severed = true;
	r->nflight = 0;
}

static void count_load(struct sim *s, const struct ledger_request *q)
{
	if (q->outcome == LEDGER_FENCED)
		sim_reach(s, PATH_FENCED_LOAD);
	if (q->outcome != LEDGER_DONE || q->intent.epoch <= 1)
		return;
	static const enum path paths[] = {
		PATH_TAKEOVER_PENDING, PATH_TAKEOVER_POSTED, PATH_TAKEOVER_RELEASING};
	bool has[3] = {false};
	sim_reach(s, PATH_TAKEOVER);
	for (size_t i = 0; i < q->nreservations; i++)
		has[q->holds[i].state] = true;
	for (size_t i = 0; i < 3; i++)
		if (has[i])
			sim_reach(s, paths[i]);
}

static void log_refusal(struct sim *s, const struct ledger_op *op)
{
	const struct model_row *rows;
	size_t n = model_ledger_rows(s->ledger, &rows);
	for (size_t i = 0; i < op->nlines; i++)
		for (size_t k = 0; k < n; k++)
			if (!strcmp(rows[k].node, op->lines[i].node) &&
				!strcmp(rows[k].flavor, op->lines[i].flavor) &&
				!strcmp(rows[k].resource, op->lines[i].resource))
				sim_log(s,
					"ledger refuses %s: %s %s %s holds %lld, asked %lld, "
					"ceiling %lld",
					op->name, rows[k].node, rows[k].flavor, rows[k].resource,
					(long long)(rows[k].pending + rows[k].posted +
						    rows[k].releasing),
					(long long)op->lines[i].amount, (long long)rows[k].ceiling);
}

static void count_borrowed(struct sim *s, const struct ledger_op *op)
{
	for (size_t i = 0; i < CLUSTERQUEUES; i++) {
		const struct config *c = &s->people.config[CONFIG_CLUSTERQUEUE][i];
		for (size_t k = 0;
			k < op->nlines && !strcmp(clusterqueue_names[i], op->clusterqueue); k++) {
			const struct quota_line *l = &op->lines[k];
			struct quota_row_of r = {c, l->flavor, l->resource};
			if (model_ledger_use(s->ledger, l->node, l->flavor, l->resource) >
				quota_nominal(&r))
				sim_reach(s, PATH_BORROWED);
		}
	}
}

/* A late start whose run is counted again. Not so a run that its owner raised: what was adopted is
 * what its story says, and its pods may still be more. */
static void own(struct sim *s, const struct ledger_op *op)
{
	const struct model_job *j = model_api_by_uid(&s->api, &op->uid);
	if (j && j->now->run && j->now->run->attempt == op->attempt && !j->vandalized &&
		!j->now->run->raised)
		((struct model_run *)j->now->run)->outside = false;
}

static void count_batch(struct sim *s, const struct ledger_request *q, size_t upto)
{
	static const enum path applied[] = {PATH_RESERVE, PATH_ADOPT, PATH_COMMIT, PATH_COUNT,
		PATH_SHRINK, PATH_COUNT, PATH_RELEASE, PATH_VOID, PATH_COUNT};
	static const enum path reserve[] = {
		PATH_RESERVE, PATH_REPEATED_RESERVE, PATH_SPENT_RESERVE, PATH_REFUSED_RESERVE};
	if (q->outcome == LEDGER_FENCED) {
		sim_reach(s, PATH_FENCED_BATCH);
		if (has_kind(q, LEDGER_RESERVE))
			sim_reach(s, PATH_FENCED_RESERVE);
		if (has_kind(q, LEDGER_VOID))
			sim_reach(s, PATH_FENCED_VOID);
		return;
	}
	for (size_t i = 0; i < upto && i < q->intent.batch.nops; i++) {
		enum ledger_verdict v = q->results[i].verdict;
		if (v == LEDGER_REFUSED)
			log_refusal(s, &q->ops[i]);
		if (q->ops[i].kind == LEDGER_RESERVE && v == LEDGER_APPLIED)
			count_borrowed(s, &q->ops[i]);
		if (v == LEDGER_APPLIED)
			restore_given_back(s, q->born, &q->ops[i]);
		bool adopts = q->ops[i].kind == LEDGER_ADOPT || q->ops[i].adopts;
		if (adopts && v == LEDGER_APPLIED)
			own(s, &q->ops[i]);
		if (q->ops[i].adopts && v == LEDGER_APPLIED)
			sim_reach(s, PATH_GROWTH_ADOPTED);
		if (q->ops[i].kind == LEDGER_GROW && v == LEDGER_REFUSED)
			sim_reach(s, PATH_GROWTH_REFUSED);
		growing_plant_in_result(s, &q->ops[i], &q->results[i]);
		if (q->ops[i].kind == LEDGER_RELEASE && q->ops[i].priced && v == LEDGER_APPLIED)
			sim_reach(s, PATH_BILL);
		if (q->ops[i].kind == LEDGER_RESERVE)
			sim_reach(s, reserve[v]);
		else if (v == LEDGER_APPLIED && applied[q->ops[i].kind] != PATH_COUNT)
			sim_reach(s, applied[q->ops[i].kind]);
	}
}

/* sql/recall_spent.sql */
static void read_spent(struct sim *s, struct ledger_request *q)
{
	const struct model_reservation *const *holds;
	size_t n = model_ledger_reservations(s->ledger, &holds);
	q->spent = sim_alloc(s, (n + 1) * sizeof(*q->spent));
	for (size_t i = 0; i < n; i++) {
		const struct model_reservation *h = holds[i];
		if (h->open || !h->committed || !h->bill.priced || h->bill.cost == 0)
			continue;
		q->spent[q->nspent++] = (struct ledger_spent){h->reservation.clusterqueue,
			h->reservation.ns, h->reservation.localqueue, h->bill.currency,
			h->reservation.started_ms / 900000 * 900000, h->bill.cost};
	}
}

/* At the ledger, in one instant. */
static void execute(struct sim *s, struct ledger_request *q)
{
	const struct intent *i = &q->intent;
	q->outcome = LEDGER_DONE;
	bool attaches = i->epoch == 0 || q->life != q->from->life ||
			failover_attaches(s, q->from, i->epoch);
	if (i->kind == INTENT_LEASE) {
		model_ledger_lease(s->ledger, q->from->identity, attaches ? i->epoch : -1,
			i->epoch_seen, i->lease_ms, i->settled, s->now_ms, &q->lease);
	} else if (!attaches) {
		q->outcome = LEDGER_FENCED;
		sim_reach(s, PATH_FENCED_BY_LOSS);
	} else if (i->kind == INTENT_LOAD) {
		struct ledger_reservation *holds = NULL;
		q->outcome = model_ledger_load(s->ledger, i->epoch, &holds, &q->nreservations);
		q->holds = sim_alloc(s, (q->nreservations + 1) * sizeof(*holds));
		for (size_t k = 0; k < q->nreservations; k++) {
			struct quota_line *lines =
				sim_alloc(s, (holds[k].nlines + 1) * sizeof(*lines));
			memcpy(lines, holds[k].lines, holds[k].nlines * sizeof(*lines));
			q->holds[k] = holds[k];
			q->holds[k].lines = lines;
		}
		free(holds);
		read_spent(s, q);
		count_load(s, q);
	} else {
		bool part = q->fate == FATE_LATE;
		size_t upto =
			part ? (size_t)rng_between(&s->rng, 0, (int64_t)i->batch.nops) : SIZE_MAX;
		q->outcome = model_ledger_batch(s->ledger, &i->batch, upto, q->results);
		count_batch(s, q, upto);
		sim_touch(s);
	}
	q->batch = model_ledger_batches(s->ledger);
}

static void lands_at_ledger(struct sim *s, void *arg)
{
	struct ledger_request *q = arg;
	struct replica *r = q->from;
	if (q->severed)
		return;
	bool alive = r->up && r->life == q->life;
	if (q->fate == FATE_LOST || q->server != s->failover.server) {
		if (alive)
			replica_break_ledger(s, r);
		return;
	}
	execute(s, q);
	if (!alive)
		return;
	if (q->fate != FATE_FINE) {
		replica_break_ledger(s, r);
		return;
	}
	int64_t at = s->now_ms + rng_skewed(&s->rng, 1, s->faults.ledger_latency_ms);
	r->answer_ms = at > r->answer_ms ? at : r->answer_ms;
	replica_at(s, r, r->answer_ms, answer_ledger, q);
}

static enum fate draw_ledger_fate(struct sim *s, bool batch)
{
	const struct faults *f = &s->faults;
	if (rng_odds(&s->rng, f->ledger_lost)) {
		if (batch)
			sim_reach(s, PATH_BATCH_LOST);
		return FATE_LOST;
	}
	if (rng_odds(&s->rng, f->ledger_unanswered)) {
		if (batch)
			sim_reach(s, PATH_BATCH_UNANSWERED);
		return FATE_UNANSWERED;
	}
	if (batch && rng_odds(&s->rng, f->ledger_partial)) {
		sim_reach(s, PATH_BATCH_PARTIAL);
		return FATE_LATE; /* here: a first part lands */
	}
	return FATE_FINE;
}

void replica_send_ledger(struct sim *s, struct replica *r, const struct intent *i)
{
	struct ledger_request *q = sim_alloc(s, sizeof(*q));
	*q = (struct ledger_request){.from = r,
		.life = r->life,
		.intent = *i,
		.outcome = LEDGER_LOST,
		.server = s->failover.server,
		.born = r->born,
		.fate = draw_ledger_fate(s, i->kind == INTENT_BATCH)};
	copy_ops(s, q);
	bool cut = !way_is_open(s, &r->to_ledger);
	if (cut && r->to_ledger.silent) {
		replica_at(s, r, s->now_ms + rng_between(&s->partition.rng, 500, 10000),
			answer_ledger, q);
		return;
	}
	if (cut || s->now_ms < s->ledger_down_until_ms) {
		replica_at(s, r, s->now_ms + rng_between(&s->rng, 1, 50), answer_ledger, q);
		return;
	}
	must(r->nflight < LEDGER_FLIGHT);
	r->flight[r->nflight++] = q;
	int64_t at = s->now_ms + rng_skewed(&s->rng, 1, s->faults.ledger_latency_ms);
	/* A connection that stalls for longer than the lease: what is on it lands as a zombie's. */
	if (s->faults.pause_every_ms && i->kind == INTENT_BATCH && rng_odds(&s->rng, 400))
		at += r->lease_ms + rng_between(&s->rng, 1, 15000);
	r->land_ms = at > r->land_ms ? at : r->land_ms;
	sim_at(s, r->land_ms, lands_at_ledger, q);
}
