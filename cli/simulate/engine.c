#include "cli/simulate/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agenda.h"
#include "base/instant.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/must.h"
#include "cli/simulate/followed.h"
#include "cli/simulate/think.h"

/* The longest play. */
#define HORIZON_MS (INT64_C(200) * 365 * 86400 * 1000)
#define DECISIONS_MAX 1024
#define INSTANTS_PER_LOOK 64 /* instants between looks at the real clock */
/* The longest time in which no Job comes, and nothing that Calendars know of the future starts
 * one. */
#define SILENCE_MS (CALENDAR_HORIZON_S * 1000)
/* The most stops for each Job without work done that lasts: more than a year of nights. */
#define VAIN_STOPS 400

/* In the order in which those of one instant happen. Arrivals that are known from the beginning are
 * a sorted list of their own (world.h), so the agenda has only as many entries as Jobs run. */
enum event_kind {
	EVENT_ADOPT,  /* subject: a Job that runs from the beginning */
	EVENT_END,    /* subject: a Job whose attempt ends by itself; version: its sizes */
	EVENT_LEAVE,  /* subject: a Job that was being stopped: its pods are gone */
	EVENT_DELETE, /* subject: a Job that its owner deletes */
	EVENT_FIRE,   /* subject: a CronJob that makes a Job */
	EVENT_SUBMIT, /* subject: a Job of a trace, after its preceding one */
	EVENT_LATEST, /* subject: a Job that must have started by now to meet its deadline */
	EVENT_LOOK,   /* nothing but a reason to decide */
};

struct engine {
	struct world *w;
	struct agenda agenda;
	struct think think;
	const struct observers *observers;
	int64_t now_ms, last_ms; /* last_ms: the last instant that is played */
	int64_t wake_ms;	 /* next time at which time alone may change a decision */
	size_t narrived;	 /* Jobs of world.arrival that have arrived */
	size_t nrunning;
	bool cut;	      /* something would happen behind last_ms */
	int64_t last_news_ms; /* when a Job came, went, or was decided upon */
	size_t vain_stops;    /* stops since a Job came, went or kept some of its work */
	bool stuck;
	size_t left_out; /* runs that the queue could not take in */
	size_t *pressed; /* Jobs with a deadline that came or were stopped now */
	size_t npressed;
	struct quota_line lines[QUEUE_LINES_MAX];
	struct run_bill bill;

	bool progress;
	uint64_t ninstants;
	int64_t began_us, told_us;
};

/* ---- telling --------------------------------------------------------------------------------- */

static void tell(struct engine *p, const struct sim_event *e)
{
	p->last_news_ms = p->now_ms;
	summary_see(p->observers->summary, e);
	if (p->observers->journal)
		journal_see(p->observers->journal, e);
	if (p->observers->chart)
		chart_see(p->observers->chart, e);
	if (p->observers->watcher)
		p->observers->watcher->see(e, p->observers->watcher->ctx);
}

static const char *clusterqueue_of(const struct engine *p, size_t sim_job)
{
	struct job_outline o;
	struct uid uid = world_uid(p->w, sim_job);
	return queue_outline_job(p->w->queue, &uid, &o) ? o.clusterqueue : "";
}

static struct sim_event sim_event_of(struct engine *p, enum sim_event_kind kind, size_t sim_job)
{
	struct uid uid = world_uid(p->w, sim_job);
	struct sim_event e = {.kind = kind,
		.at_ms = p->now_ms,
		.sim_job = sim_job,
		.lines = p->lines,
		.nlines = queue_job_lines(p->w->queue, &uid, p->lines),
		.reason = "",
		.by = SIZE_MAX};
	if (p->w->policy_specs.n > 0 && queue_job_bill(p->w->queue, &uid, p->now_ms, &p->bill) &&
		p->bill.priced)
		e.bill = &p->bill;
	/* A node is "cq/NAME". A Job that asks for nothing has no lines. */
	e.clusterqueue =
		e.nlines > 0 ? strchr(p->lines[0].node, '/') + 1 : clusterqueue_of(p, sim_job);
	return e;
}

static void tell_progress(struct engine *p)
{
	if (!p->progress || ++p->ninstants % INSTANTS_PER_LOOK != 0)
		return;
	int64_t now_us = monotonic_us();
	if (now_us - p->told_us < 1000000)
		return;
	p->told_us = now_us;
	fprintf(stderr, "simulate: %s: %zu of %zu Jobs arrived, %zu finished, %zu wait\n",
		instant_seconds(p->now_ms).s, p->narrived, p->w->narrivals,
		p->observers->summary->finished, queue_waiting(p->w->queue));
}

/* ---- Jobs come and go ------------------------------------------------------------------------ */

/* Returns the pods for which the duration is told. 0 where completions follow parallelism: fewer
 * pods have less work. */
static int32_t full_pods(const struct job *j)
{
	return j->min_parallelism > 0 && !j->completions_follow ? job_pods(j) : 0;
}

static void set_job(struct engine *p, size_t sim_job, const char *hold)
{
	struct job_scratch scratch;
	struct job j = world_job(p->w, sim_job, &scratch);
	p->w->sim_job[sim_job].full_pods = full_pods(&j);
	if (hold)
		j.hold = hold;
	queue_set_job(p->w->queue, &j);
}

/* Notes that the Job's deadline is to be looked at. */
static void press(struct engine *p, size_t sim_job)
{
	p->pressed = mem_one_more(p->pressed, p->npressed, sizeof(*p->pressed));
	p->pressed[p->npressed++] = sim_job;
}

static void arrive(struct engine *p, size_t sim_job)
{
	struct sim_job *a = &p->w->sim_job[sim_job];
	if (a->state != SIM_JOB_COMING)
		return; /* deleted before it came */
	a->state = SIM_JOB_WAITING;
	p->last_news_ms = p->now_ms;
	p->vain_stops = 0;
	set_job(p, sim_job, NULL);
	followed_tell(p->w, sim_job);
	if (world_deadline_ms(p->w, sim_job) > 0)
		press(p, sim_job);
}

static int64_t later(int64_t ms, int64_t length_ms)
{
	return length_ms == NEVER_MS ? NEVER_MS : ms + length_ms;
}

/* Puts an event on the agenda. What is due already, such as a late end, happens now. */
static void put(struct engine *p, int64_t at_ms, enum event_kind kind, size_t subject)
{
	if (at_ms < p->now_ms)
		at_ms = p->now_ms;
	if (at_ms <= p->last_ms)
		agenda_put(&p->agenda, at_ms, kind, subject,
			kind == EVENT_END ? p->w->sim_job[subject].sizes : 0);
	else
		p->cut |= kind == EVENT_FIRE || kind == EVENT_SUBMIT;
}

/* Submits a Job whose time has come, or waits until another one of its trace has ended. */
static void submit(struct engine *p, size_t sim_job)
{
	int64_t at_ms = think_submit_ms(&p->think, sim_job, p->now_ms);
	if (at_ms <= p->now_ms)
		arrive(p, sim_job);
	else if (at_ms != NEVER_MS)
		put(p, at_ms, EVENT_SUBMIT, sim_job);
}

static void let_follow(struct engine *p, size_t sim_job)
{
	int64_t at_ms;
	for (size_t next; (next = think_next(&p->think, sim_job, p->now_ms, &at_ms)) != SIZE_MAX;)
		put(p, at_ms, EVENT_SUBMIT, next);
}

static void come_after(struct engine *p, size_t sim_job)
{
	p->w->sim_job[sim_job].arrival_ms = p->now_ms;
	arrive(p, sim_job);
}

/* Sets the Job's pods from now on; before, done_ms of its work were done. */
static void size(struct engine *p, size_t sim_job, int32_t pods, int64_t done_ms, int64_t since_ms)
{
	struct sim_job *a = &p->w->sim_job[sim_job];
	a->pods = pods;
	a->done_ms = done_ms;
	a->sized_ms = since_ms;
	a->sizes++;
	put(p, later(since_ms, world_left_ms(a)), EVENT_END, sim_job);
}

static void run(struct engine *p, size_t sim_job, int32_t pods, int64_t since_ms)
{
	struct sim_job *a = &p->w->sim_job[sim_job];
	struct uid uid = world_uid(p->w, sim_job);
	a->state = SIM_JOB_RUNNING;
	a->attempt++;
	a->since_ms = since_ms;
	p->nrunning++;
	queue_confirm_job(p->w->queue, &uid, since_ms);
	followed_tell(p->w, sim_job);
	queue_ready_job(p->w->queue, &uid, true, since_ms);
	size(p, sim_job, pods, a->kept_ms, since_ms);
}

/* Takes over a Job that was being stopped: it only keeps what it holds until its pods are gone. */
static void adopt_leaving(struct engine *p, const struct adoption *a, const struct job *j)
{
	struct queue *q = p->w->queue;
	p->w->sim_job[a->sim_job].state = SIM_JOB_WAITING;
	queue_adopt_job(q, &j->uid, a->lines, a->nlines, a->at_ms);
	queue_confirm_job(q, &j->uid, a->at_ms);
	/* The Job itself tells the history of the run that is being stopped. */
	queue_recall_history(q, &j->uid, &j->admission.history);
	queue_leaving_job(q, &j->uid);
	followed_tell(p->w, a->sim_job);
	put(p, a->leaves_ms, EVENT_LEAVE, a->sim_job);
}

#define LEFT_OUT_TOLD 10

static void tell_left_out(struct engine *p, size_t sim_job, const char *why)
{
	char name[600];
	if (p->left_out++ < LEFT_OUT_TOLD)
		fprintf(stderr,
			"sluice: Job %s runs, and is left out: what it holds is not known, and %s\n",
			world_name(p->w, sim_job, name, sizeof(name)), why);
	else if (p->left_out == LEFT_OUT_TOLD + 1)
		fputs("sluice: more Jobs that run are left out for such reasons\n", stderr);
}

/* Lets the queue say what the Job holds. A Job that cannot be in its queue runs on, and counts
 * nowhere. */
static bool take_in(struct engine *p, const struct adoption *a, const struct job *j)
{
	static struct intake in;
	if (queue_intake(p->w->queue, &j->uid, a->pods, p->now_ms, &in)) {
		queue_take_in(p->w->queue, &j->uid, in.line, in.nlines, a->at_ms);
		return true;
	}
	tell_left_out(p, a->sim_job, in.why_not);
	queue_drop_job(p->w->queue, &j->uid);
	p->w->sim_job[a->sim_job].state = SIM_JOB_OTHER;
	p->w->nothers++;
	return false;
}

/* Counts the pods: some may have finished since the lines were written down. */
static int32_t adopted_pods(struct engine *p, const struct adoption *a, const struct job *j)
{
	queue_confirm_job(p->w->queue, &j->uid, a->at_ms);
	if (a->pods > 0)
		queue_shrink_job(p->w->queue, &j->uid, a->pods, p->now_ms);
	int32_t pods = queue_job_pods(p->w->queue, &j->uid);
	return pods > 0 ? pods : 1;
}

static void adopt(struct engine *p, const struct adoption *a)
{
	struct job_scratch scratch;
	struct job j = world_job(p->w, a->sim_job, &scratch);
	struct sim_job *s = &p->w->sim_job[a->sim_job];
	s->full_pods = full_pods(&j);
	queue_set_job(p->w->queue, &j);
	if (a->leaves) {
		adopt_leaving(p, a, &j);
		return;
	}
	if (a->by_queue && !take_in(p, a, &j))
		return;
	if (!a->by_queue)
		queue_adopt_job(p->w->queue, &j.uid, a->lines, a->nlines, a->at_ms);
	put(p, a->at_ms, EVENT_ADOPT, a->sim_job);
	s->kept_ms += a->before_ms;
	run(p, a->sim_job, adopted_pods(p, a, &j), a->at_ms);
	s->kept_ms -= a->before_ms; /* negative, for a stop would lose that, too */
}

/* Gives back the quota of a Job whose pods are gone; it waits again. */
static void leave_quota(struct engine *p, size_t sim_job)
{
	struct uid uid = world_uid(p->w, sim_job);
	p->last_news_ms = p->now_ms;
	queue_release_job(p->w->queue, &uid, p->now_ms, 0);
	if (world_deadline_ms(p->w, sim_job) > 0)
		press(p, sim_job);
}

static void fire(struct engine *p, size_t cronjob, int64_t due_ms);

/* Lets a Job go. If its CronJob forbids concurrency and missed its time, it makes up for it,
 * once. */
static void leave(struct engine *p, size_t sim_job)
{
	struct sim_job *a = &p->w->sim_job[sim_job];
	struct uid uid = world_uid(p->w, sim_job);
	if (a->state == SIM_JOB_RUNNING)
		queue_end_job(p->w->queue, &uid, p->now_ms);
	else
		queue_drop_job(p->w->queue, &uid);
	a->state = SIM_JOB_GONE;
	a->ended_ms = p->now_ms;
	p->vain_stops = 0;
	followed_tell(p->w, sim_job);
	let_follow(p, sim_job);
	if (!a->name)
		return;
	struct cronjob *c = &p->w->cronjob[a->origin];
	int64_t missed_ms = c->missed_ms;
	c->missed_ms = 0;
	if (missed_ms > 0 && c->last == sim_job)
		fire(p, a->origin, missed_ms);
}

static void finish(struct engine *p, const struct event *event)
{
	const struct sim_job *a = &p->w->sim_job[event->subject];
	if (a->state != SIM_JOB_RUNNING || a->sizes != event->version)
		return; /* the attempt was stopped, or goes on with other pods */
	struct uid uid = world_uid(p->w, event->subject);
	int64_t deadline_ms = world_deadline_ms(p->w, event->subject);
	queue_finished_job(p->w->queue, &uid, p->now_ms);
	struct sim_event e = sim_event_of(p, SIM_EVENT_FINISHED, event->subject);
	if (deadline_ms > 0 && p->now_ms > deadline_ms)
		e.late_ms = p->now_ms - deadline_ms;
	tell(p, &e);
	p->nrunning--;
	leave(p, event->subject);
}

static void remove_job(struct engine *p, size_t sim_job)
{
	struct sim_job *a = &p->w->sim_job[sim_job];
	if (a->state == SIM_JOB_RUNNING) {
		struct sim_event e = sim_event_of(p, SIM_EVENT_STOPPED, sim_job);
		e.reason = "Deleted";
		e.lost_ms = p->now_ms - a->since_ms;
		e.lost_pods = a->pods;
		tell(p, &e);
		p->nrunning--;
	}
	if (a->state == SIM_JOB_COMING) {
		a->state = SIM_JOB_GONE;
		a->never_came = true;
	}
	if (a->state == SIM_JOB_GONE)
		return;
	a->deleted = true;
	leave(p, sim_job);
}

static void fire(struct engine *p, size_t cronjob, int64_t due_ms)
{
	struct cronjob *c = &p->w->cronjob[cronjob];
	bool busy = c->last != SIZE_MAX && p->w->sim_job[c->last].state != SIM_JOB_GONE;
	if (busy && c->policy == CRON_FORBID) {
		c->missed_ms = due_ms;
		return;
	}
	if (busy && c->policy == CRON_REPLACE)
		remove_job(p, c->last);
	arrive(p, world_fire(p->w, cronjob, due_ms, p->now_ms));
}

static void put_next_fire(struct engine *p, size_t cronjob, int64_t after_ms)
{
	const struct cronjob *c = &p->w->cronjob[cronjob];
	put(p, cron_next_ms(&c->cron, c->zone, after_ms, p->last_ms), EVENT_FIRE, cronjob);
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void start(struct engine *p, size_t sim_job, const struct decision *d)
{
	run(p, sim_job, d->pods, p->now_ms);
	struct sim_event e = sim_event_of(p, SIM_EVENT_ADMITTED, sim_job);
	tell(p, &e);
}

/* Keeps what is safe of the Job's work; returns what was not. */
static int64_t lose(struct engine *p, size_t sim_job)
{
	struct sim_job *a = &p->w->sim_job[sim_job];
	int64_t kept_ms = world_kept_ms(p->w, sim_job, p->now_ms);
	int64_t lost_ms = world_done_ms(a, p->now_ms) - kept_ms;
	p->vain_stops = kept_ms > a->kept_ms ? 0 : p->vain_stops + 1;
	a->kept_ms = kept_ms;
	return lost_ms;
}

/* Returns the number of pods whose work the Job's duration is. */
static int32_t pods_of_work(const struct sim_job *a)
{
	return a->full_pods > 0 ? a->full_pods : a->pods;
}

static void name_reason(const struct engine *p, const struct decision *d, struct sim_event *e)
{
	bool preempted = d->reason == STOP_REASON_PREEMPTED;
	e->reason = preempted ? preemption_reason_name(d->preemption) : stop_reason_name(d->reason);
	if (preempted)
		e->by = world_find(p->w, &d->by);
}

static void stop(struct engine *p, size_t sim_job, const struct decision *d)
{
	bool preempted = d->reason == STOP_REASON_PREEMPTED;
	struct sim_event e =
		sim_event_of(p, preempted ? SIM_EVENT_PREEMPTED : SIM_EVENT_STOPPED, sim_job);
	name_reason(p, d, &e);
	e.lost_ms = lose(p, sim_job);
	e.lost_pods = pods_of_work(&p->w->sim_job[sim_job]);
	tell(p, &e);
	p->nrunning--;
	p->w->sim_job[sim_job].state = SIM_JOB_WAITING;
	p->w->sim_job[sim_job].sizes++;
	queue_release_job(p->w->queue, &d->uid, p->now_ms, 0);
	if (stop_reason_deactivates(d->reason))
		set_job(p, sim_job, stop_reason_name(d->reason));
	if (world_deadline_ms(p->w, sim_job) > 0)
		press(p, sim_job);
}

/* Shrinks a run. What is not safe of the work is divided among its pods; those that go lose their
 * part. */
static void shrink(struct engine *p, size_t sim_job, const struct decision *d)
{
	struct sim_job *a = &p->w->sim_job[sim_job];
	struct quota_line after[QUEUE_LINES_MAX];
	struct sim_event e = sim_event_of(p, SIM_EVENT_SHRANK, sim_job);
	int64_t done_ms = world_done_ms(a, p->now_ms);
	int64_t unsafe_ms = done_ms - world_kept_ms(p->w, sim_job, p->now_ms);
	e.lost_ms = (int64_t)((__int128)unsafe_ms * (a->pods - d->pods) / a->pods);
	e.lost_pods = pods_of_work(a);
	name_reason(p, d, &e);
	queue_shrink_job(p->w->queue, &d->uid, d->pods, p->now_ms);
	size_t n = queue_job_lines(p->w->queue, &d->uid, after);
	for (size_t i = 0; i < n && i < e.nlines; i++)
		p->lines[i].amount -= after[i].amount;
	size(p, sim_job, d->pods, done_ms - e.lost_ms, p->now_ms);
	tell(p, &e);
}

/* Grows a run, whose pods the queue has counted already. */
static void grow(struct engine *p, size_t sim_job, const struct decision *d)
{
	struct sim_job *a = &p->w->sim_job[sim_job];
	struct sim_event e = sim_event_of(p, SIM_EVENT_GREW, sim_job);
	for (size_t i = 0; i < e.nlines; i++)
		p->lines[i].amount -= (int64_t)((__int128)p->lines[i].amount * a->pods / d->pods);
	queue_grew_job(p->w->queue, &d->uid, p->now_ms);
	size(p, sim_job, d->pods, world_done_ms(a, p->now_ms), p->now_ms);
	tell(p, &e);
}

static void give_notice(struct engine *p, size_t sim_job, const struct decision *d)
{
	struct sim_event e = sim_event_of(p, SIM_EVENT_NOTICE, sim_job);
	e.reason = stop_reason_name(d->reason);
	e.stop_ms = d->stop_ms;
	tell(p, &e);
}

/* Gives up a Job that waits for one that failed: as its owner said, it is held or deleted. */
static void give_up(struct engine *p, size_t sim_job, const struct decision *d)
{
	struct sim_event e = sim_event_of(p, SIM_EVENT_GIVEN_UP, sim_job);
	bool deletes = d->kind == DECISION_DELETE;
	e.reason = deletes ? "Deleted" : "Held";
	e.message = d->why;
	tell(p, &e);
	if (deletes)
		remove_job(p, sim_job);
	else
		set_job(p, sim_job, "DependencyNeverSatisfied");
}

static bool carry_out(struct engine *p, const struct decision *d)
{
	size_t sim_job = world_find(p->w, &d->uid);
	must(sim_job != SIZE_MAX);
	switch (d->kind) {
	case DECISION_START:
		start(p, sim_job, d);
		return false;
	case DECISION_STOP:
		stop(p, sim_job, d);
		return true;
	case DECISION_SHRINK:
		shrink(p, sim_job, d);
		return true;
	case DECISION_GROW:
		grow(p, sim_job, d);
		return false;
	case DECISION_HOLD:
	case DECISION_DELETE:
		give_up(p, sim_job, d);
		return true;
	case DECISION_NOTICE:
		give_notice(p, sim_job, d);
		return false;
	}
	return false;
}

/* Carries out decisions. Asks again only after a full list, or when quota came back: a start
 * changes nothing that the queue does not know. */
static void settle(struct engine *p)
{
	static struct decision out[DECISIONS_MAX];
	bool again;
	do {
		followed_answer(p->w);
		size_t n = queue_decide(p->w->queue, p->now_ms, out, DECISIONS_MAX, &p->wake_ms);
		again = n == DECISIONS_MAX;
		for (size_t i = 0; i < n; i++)
			again |= carry_out(p, &out[i]);
		p->observers->summary->decisions += n;
	} while (again);
	if (p->wake_ms <= p->now_ms)
		p->wake_ms = p->now_ms + 1;
}

/* ---- deadlines ------------------------------------------------------------------------------- */

static void tell_unreachable(struct engine *p, size_t sim_job, const struct explanation *x)
{
	struct sim_event e = {.kind = SIM_EVENT_UNREACHABLE,
		.at_ms = p->now_ms,
		.sim_job = sim_job,
		.clusterqueue = x->clusterqueue,
		.reason = "DeadlineUnreachable",
		.message = x->sentence,
		.by = SIZE_MAX};
	tell(p, &e);
}

/* Looks whether a Job can meet its deadline, and once more when its latest start has passed. */
static void look_at_deadline(struct engine *p, size_t sim_job)
{
	struct sim_job *a = &p->w->sim_job[sim_job];
	struct uid uid = world_uid(p->w, sim_job);
	struct explanation x;
	if (a->state != SIM_JOB_WAITING || a->unreachable ||
		!queue_explain(p->w->queue, &uid, p->now_ms, &x))
		return;
	a->unreachable = x.unreachable;
	if (x.unreachable)
		tell_unreachable(p, sim_job, &x);
	else if (x.expected_ms > 0 && x.deadline_ms - x.expected_ms >= p->now_ms)
		put(p, x.deadline_ms - x.expected_ms + 1, EVENT_LATEST, sim_job);
}

static void look_at_deadlines(struct engine *p)
{
	for (size_t i = 0; i < p->npressed; i++)
		look_at_deadline(p, p->pressed[i]);
	p->npressed = 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

static int64_t next_arrival_ms(const struct engine *p)
{
	const struct world *w = p->w;
	if (p->narrived == w->narrivals)
		return NEVER_MS;
	int64_t ms = w->sim_job[w->arrival[p->narrived]].arrival_ms;
	return ms > w->start_ms ? ms : w->start_ms; /* Jobs of a live cluster came before */
}

static int64_t next_ms(const struct engine *p)
{
	int64_t ms = agenda_next_ms(&p->agenda), arrival_ms = next_arrival_ms(p);
	if (arrival_ms < ms)
		ms = arrival_ms;
	return p->wake_ms < ms ? p->wake_ms : ms;
}

static void happen(struct engine *p, const struct event *event)
{
	struct sim_event e;
	switch ((enum event_kind)event->kind) {
	case EVENT_ADOPT:
		e = sim_event_of(p, SIM_EVENT_ADOPTED, event->subject);
		tell(p, &e);
		return;
	case EVENT_END:
		finish(p, event);
		return;
	case EVENT_LEAVE:
		leave_quota(p, event->subject);
		return;
	case EVENT_DELETE:
		remove_job(p, event->subject);
		return;
	case EVENT_FIRE:
		fire(p, event->subject, event->at_ms);
		put_next_fire(p, event->subject, event->at_ms);
		return;
	case EVENT_SUBMIT:
		come_after(p, event->subject);
		return;
	case EVENT_LATEST:
		press(p, event->subject);
		return;
	case EVENT_LOOK:
		return;
	}
}

static void engine_instant(struct engine *p)
{
	struct event event;
	while (agenda_take(&p->agenda, p->now_ms, &event))
		happen(p, &event);
	while (next_arrival_ms(p) <= p->now_ms)
		submit(p, p->w->arrival[p->narrived++]);
	look_at_deadlines(p); /* of Jobs that came: a late one is told before it starts */
	p->wake_ms = NEVER_MS;
	/* Before settled_ms nothing is decided: Jobs waited then, while another one was started. */
	if (p->now_ms >= p->w->settled_ms)
		settle(p);
	look_at_deadlines(p); /* of Jobs that were stopped */
	if (p->observers->chart)
		chart_look(p->observers->chart, p->now_ms);
	if (p->observers->watcher)
		p->observers->watcher->look(p->now_ms, p->observers->watcher->ctx);
	tell_progress(p);
}

static void prepare(struct engine *p)
{
	struct world *w = p->w;
	for (size_t i = 0; i < w->nadoptions; i++)
		adopt(p, &w->adoption[i]);
	for (size_t i = 0; i < w->nsim_jobs; i++)
		if (w->sim_job[i].delete_ms != NEVER_MS && w->sim_job[i].state != SIM_JOB_GONE)
			put(p, w->sim_job[i].delete_ms, EVENT_DELETE, i);
	for (size_t i = 0; i < w->ncronjobs; i++) {
		int64_t from_ms = w->cronjob[i].from_ms;
		/* Kubernetes, too, begins after the moment of the CronJob's creation. */
		put_next_fire(p, i, from_ms == NEVER_MS ? w->start_ms - 1 : from_ms);
	}
	put(p, w->settled_ms, EVENT_LOOK, 0);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* True if only Calendars and prices would go on. */
static bool is_over(struct engine *p)
{
	size_t left = p->nrunning + queue_waiting(p->w->queue);
	if (next_arrival_ms(p) != NEVER_MS)
		return false;
	p->stuck = p->vain_stops > VAIN_STOPS * left;
	if (p->stuck || agenda_next_ms(&p->agenda) != NEVER_MS)
		return p->stuck;
	return left == 0 || p->wake_ms - p->last_news_ms > SILENCE_MS;
}

/* Tells each Job that should have ended by now and has not, or, when the play was not cut short,
 * never will; and what runs have cost so far. */
static void tell_unfinished(struct engine *p, bool cut)
{
	struct world *w = p->w;
	for (size_t i = 0; i < w->nsim_jobs; i++) {
		const struct sim_job *a = &w->sim_job[i];
		if (a->state != SIM_JOB_WAITING && a->state != SIM_JOB_RUNNING)
			continue;
		int64_t deadline_ms = world_deadline_ms(w, i);
		struct uid uid = world_uid(w, i);
		if (deadline_ms > 0 && (p->now_ms > deadline_ms || !cut))
			p->observers->summary->missed++;
		if (a->state == SIM_JOB_RUNNING &&
			queue_job_bill(w->queue, &uid, p->now_ms, &p->bill) && p->bill.priced)
			summary_charge(p->observers->summary, &p->bill);
	}
}

struct waiter {
	const char *clusterqueue;
	size_t rank, sim_job;
};

static int by_rank(const void *a, const void *b)
{
	const struct waiter *x = a, *y = b;
	int order = strcmp(x->clusterqueue, y->clusterqueue);
	if (order)
		return order;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->sim_job < y->sim_job ? -1 : x->sim_job > y->sim_job;
}

static void tell_waiter(struct engine *p, size_t sim_job)
{
	struct explanation x;
	struct uid uid = world_uid(p->w, sim_job);
	must(queue_explain(p->w->queue, &uid, p->now_ms, &x));
	struct sim_event e = {.kind = SIM_EVENT_WAITING,
		.at_ms = p->now_ms,
		.sim_job = sim_job,
		.clusterqueue = x.clusterqueue,
		.reason = wait_reason_name(x.reason),
		.message = x.sentence,
		.by = SIZE_MAX};
	tell(p, &e);
}

static void tell_waiters(struct engine *p)
{
	struct world *w = p->w;
	struct waiter *all = mem_array(w->nsim_jobs + 1, sizeof(*all));
	size_t n = 0;
	for (size_t i = 0; i < w->nsim_jobs; i++) {
		struct job_place place;
		struct uid uid = world_uid(w, i);
		if (w->sim_job[i].state != SIM_JOB_WAITING ||
			!queue_place_of(w->queue, &uid, &place))
			continue;
		all[n++] = (struct waiter){place.clusterqueue, place.rank, i};
	}
	qsort(all, n, sizeof(*all), by_rank);
	for (size_t i = 0; i < n; i++)
		tell_waiter(p, all[i].sim_job);
	free(all);
}

/* Measures the core's time: real time without that of the journal. */
static void measure(struct engine *p)
{
	struct summary *s = p->observers->summary;
	s->core_us = monotonic_us() - p->began_us;
	if (p->observers->journal)
		s->core_us -= p->observers->journal->us;
}

static void tell_stuck(const struct engine *p)
{
	fprintf(stderr,
		"sluice: at %s the play ends: the last %zu stops saved no work, no Job came or ended meanwhile, and so it would go on for ever; the Jobs want sluice.dev/simulate-checkpoint, or their RunPolicy maxSuspensions or fit: Require\n",
		instant_seconds(p->now_ms).s, p->vain_stops);
}

/* Plays until nothing more happens, or to last_ms. True: something would have happened behind
 * it. */
static bool engine_on(struct engine *p)
{
	for (int64_t next; (next = next_ms(p)) != NEVER_MS && !is_over(p);) {
		if (next > p->last_ms)
			return true;
		p->now_ms = next;
		engine_instant(p);
	}
	return p->cut || p->nrunning > 0;
}

void engine_run(struct world *w, int64_t until_ms, bool progress, const struct observers *observers)
{
	struct engine p = {
		.w = w, .observers = observers, .progress = progress, .wake_ms = NEVER_MS};
	agenda_init(&p.agenda);
	think_init(&p.think, w);
	queue_follow_predecessors(w->queue);
	p.last_ms = w->start_ms + HORIZON_MS;
	if (until_ms < p.last_ms)
		p.last_ms = until_ms;
	p.now_ms = p.last_news_ms = w->start_ms;
	p.began_us = p.told_us = monotonic_us();
	prepare(&p);
	bool cut = engine_on(&p) && until_ms != NEVER_MS && !p.stuck;
	measure(&p);
	p.now_ms = cut ? p.last_ms : p.last_news_ms;
	tell_unfinished(&p, cut);
	tell_waiters(&p);
	if (p.stuck)
		tell_stuck(&p);
	summary_close(observers->summary, p.now_ms);
	free(p.pressed);
	think_done(&p.think);
	agenda_done(&p.agenda);
}
