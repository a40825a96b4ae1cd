#include "forecast/play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agenda.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "queue/price/money.h"

enum { DECISIONS_AT_ONCE = 1024, EACH = 100 /* decisions and instants for a Job */ };

/* Events, in the order in which those of one instant happen: what gives quota back comes first. */
enum play_event {
	PLAY_ENDS,    /* a run, by itself; version: the Job's */
	PLAY_LEAVES,  /* the pods of a run that was stopped are gone; version: the Job's */
	PLAY_SHRINKS, /* the pods that a run gives are gone; version: the Job's */
};

struct play_job {
	struct uid uid;
	int64_t start_ms;  /* waited: its first start; PLAY_NEVER */
	int64_t length_ms; /* of its run, with all its pods; PLAY_NEVER */
	int64_t done_ms;   /* what of length_ms was done when it got its size */
	int64_t sized_ms;
	int64_t grace_ms;
	int32_t pods, full_pods, giving_to;
	int32_t version; /* events that were put before it changed mean nothing any more */
	bool waited;	 /* at the beginning */
	bool returns;	 /* waits again when its pods are gone */
};

struct play {
	struct queue *q;
	const struct play_lengths *lengths;
	const struct play_arrivals *arrivals;
	const struct play_limits *limits;
	struct agenda agenda;
	struct play_job *job; /* the first nbefore by uid, then the arrived ones in their order */
	size_t njobs, room;
	size_t nbefore;			/* Jobs that were there when the play began */
	size_t nleft;			/* Jobs that waited then, and have not started */
	struct map arrived;		/* struct play_arrived, by uid */
	const struct job *next_arrival; /* NULL: none comes any more */
	int64_t next_arrival_ms;
	int64_t now_ms, wake_ms, last_ms;
	uint64_t decisions, instants;
	struct play_costs costs;
	struct decision *out;
};

struct play_limits play_limits_for(size_t jobs)
{
	uint64_t each = (uint64_t)jobs + 1000;
	return (struct play_limits){.horizon_ms = PLAY_HORIZON_MS,
		.decisions = each * EACH,
		.instants = each * EACH,
		.grace_ms = PLAY_GRACE_MS};
}

/* ---- the Jobs -------------------------------------------------------------------------------- */

static struct play_job *play_add(struct play *p)
{
	p->job = mem_room(p->job, p->njobs, &p->room, 256, sizeof(*p->job));
	struct play_job *j = &p->job[p->njobs++];
	*j = (struct play_job){.start_ms = PLAY_NEVER};
	return j;
}

static void play_see(const struct job_outline *o, void *ctx)
{
	struct play *p = ctx;
	struct play_job *j = play_add(p);
	j->uid = o->uid;
	j->waited = !o->holds_quota;
	p->nleft += j->waited;
}

static int play_by_uid(const void *a, const void *b)
{
	return uid_cmp(&((const struct play_job *)a)->uid, &((const struct play_job *)b)->uid);
}

static int play_uid_cmp(const void *uid, const void *job)
{
	return uid_cmp(uid, &((const struct play_job *)job)->uid);
}

/* Where an arrived Job is in play.job. */
struct play_arrived {
	struct uid uid;
	size_t index;
};

static bool play_is_arrived(const void *value, const void *key)
{
	return uid_cmp(&((const struct play_arrived *)value)->uid, key) == 0;
}

static size_t play_index(const struct play *p, const struct uid *uid)
{
	const struct play_job *j =
		p->nbefore ? bsearch(uid, p->job, p->nbefore, sizeof(*p->job), play_uid_cmp) : NULL;
	if (j)
		return (size_t)(j - p->job);
	const struct play_arrived *a = map_get(&p->arrived, uid_hash(uid), uid);
	return a ? a->index : SIZE_MAX;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Returns how long the run still takes with its pods. */
static int64_t left_ms(const struct play_job *j)
{
	if (j->length_ms == PLAY_NEVER)
		return PLAY_NEVER;
	__int128 left = j->length_ms > j->done_ms ? j->length_ms - j->done_ms : 0;
	if (j->full_pods > 0 && j->pods > 0)
		left = (left * j->full_pods + j->pods - 1) / j->pods;
	return left < PLAY_NEVER ? (int64_t)left : PLAY_NEVER;
}

static int64_t done_ms(const struct play_job *j, int64_t now_ms)
{
	__int128 ms = now_ms - j->sized_ms;
	if (j->full_pods > 0)
		ms = ms * j->pods / j->full_pods;
	return j->done_ms + (int64_t)ms;
}

static void put(struct play *p, size_t index, int64_t after_ms, enum play_event kind)
{
	if (after_ms <= p->last_ms - p->now_ms)
		agenda_put(
			&p->agenda, p->now_ms + after_ms, (int)kind, index, p->job[index].version);
}

/* Goes on with a number of pods, from which the end follows. */
static void run_on(struct play *p, size_t index, int32_t pods, int64_t done)
{
	struct play_job *j = &p->job[index];
	j->pods = pods;
	j->done_ms = done;
	j->sized_ms = p->now_ms;
	j->version++;
	put(p, index, left_ms(j), PLAY_ENDS);
}

/* Begins the run of a Job that holds quota. is_new: it has not run before this play. */
static void run_begins(struct play *p, size_t index, int32_t pods, int64_t ran_ms, bool is_new)
{
	struct play_job *j = &p->job[index];
	struct job_outline o;
	if (!queue_outline_job(p->q, &j->uid, &o))
		return;
	if (!o.confirmed)
		queue_confirm_job(p->q, &j->uid, p->now_ms);
	queue_ready_job(p->q, &j->uid, true, p->now_ms);
	j->grace_ms = is_new ? p->limits->grace_ms : o.grace_ms;
	j->full_pods = o.full_pods;
	j->length_ms = p->lengths->length_ms(&o, ran_ms, p->lengths->ctx);
	queue_foretell_predecessor(p->q, &j->uid, PREDECESSOR_STARTED, p->now_ms);
	run_on(p, index, pods, ran_ms);
}

static void run_ends(struct play *p, size_t index)
{
	struct play_job *j = &p->job[index];
	j->version++;
	queue_foretell_predecessor(p->q, &j->uid, PREDECESSOR_SUCCEEDED, p->now_ms);
	queue_end_job(p->q, &j->uid, p->now_ms);
}

static void run_leaves(struct play *p, size_t index)
{
	struct play_job *j = &p->job[index];
	j->version++;
	if (j->returns)
		queue_release_job(p->q, &j->uid, p->now_ms, 0);
	else
		queue_end_job(p->q, &j->uid, p->now_ms);
}

static void run_has_shrunk(struct play *p, size_t index)
{
	struct play_job *j = &p->job[index];
	queue_shrink_job(p->q, &j->uid, j->giving_to, p->now_ms);
	run_on(p, index, j->giving_to, done_ms(j, p->now_ms));
}

/* Takes over a run that is there, or is ending, when the play begins. */
static void run_is_there(struct play *p, size_t index)
{
	struct play_job *j = &p->job[index];
	struct job_outline o;
	must(queue_outline_job(p->q, &j->uid, &o));
	if (!o.ends) {
		int64_t ran_ms = o.confirmed ? p->now_ms - o.since_ms : 0;
		run_begins(p, index, o.pods, greater(ran_ms, 0), false);
		return;
	}
	j->returns = o.returns;
	put(p, index, o.grace_ms, PLAY_LEAVES);
}

/* ---- costs ----------------------------------------------------------------------------------- */

static size_t cost_index(const struct play_costs *c, const char *currency)
{
	size_t i = 0;
	while (i < c->n && strncmp(c->item[i].currency, currency, PLAY_CURRENCY_SIZE - 1) != 0)
		i++;
	return i;
}

const struct play_cost *play_costs_find(const struct play_costs *c, const char *currency)
{
	size_t i = cost_index(c, currency);
	return i < c->n ? &c->item[i] : NULL;
}

void play_costs_add(struct play_costs *c, const char *currency, int64_t amount)
{
	size_t i = cost_index(c, currency);
	if (i == PLAY_CURRENCIES_MAX)
		return;
	if (i == c->n)
		snprintf(c->item[c->n++].currency, PLAY_CURRENCY_SIZE, "%s", currency);
	c->item[i].amount = money_add(c->item[i].amount, amount);
}

/* Adds the cost of a run that just began, the first of its Job. */
static void add_cost(struct play *p, const struct play_job *j)
{
	struct run_cost cost;
	int64_t lasts_ms = left_ms(j);
	if (p->limits->costs && lasts_ms != PLAY_NEVER &&
		queue_job_cost_of(p->q, &j->uid, p->now_ms, lasts_ms, &cost) && cost.priced)
		play_costs_add(&p->costs, cost.currency, cost.cost);
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void job_starts(struct play *p, size_t index, const struct decision *d)
{
	struct play_job *j = &p->job[index];
	bool is_first = j->waited && j->start_ms == PLAY_NEVER;
	if (is_first) {
		j->start_ms = p->now_ms;
		p->nleft--;
	}
	run_begins(p, index, d->pods, 0, true);
	if (is_first)
		add_cost(p, &p->job[index]);
}

/* Stops a run. Its pods take all of their grace: what they do with a SIGTERM is not known. */
static void job_stops(struct play *p, size_t index, const struct decision *d)
{
	struct play_job *j = &p->job[index];
	j->version++;
	j->returns = !stop_reason_deactivates(d->reason);
	put(p, index, j->grace_ms, PLAY_LEAVES);
}

/* Lets pods of a run go, within their grace. A stop or an end may come before. */
static void job_shrinks(struct play *p, size_t index, const struct decision *d)
{
	p->job[index].giving_to = d->pods;
	put(p, index, p->job[index].grace_ms, PLAY_SHRINKS);
}

static void job_grows(struct play *p, size_t index, const struct decision *d)
{
	struct play_job *j = &p->job[index];
	int64_t done = done_ms(j, p->now_ms);
	queue_ready_job(p->q, &j->uid, true, p->now_ms);
	queue_grew_job(p->q, &j->uid, p->now_ms);
	run_on(p, index, d->pods, done);
}

/* Drops a Job that will not start, because what it waits for has failed. */
static void job_is_given_up(struct play *p, size_t index)
{
	struct play_job *j = &p->job[index];
	p->nleft -= j->waited && j->start_ms == PLAY_NEVER;
	queue_drop_job(p->q, &j->uid);
}

static void carry_out(struct play *p, const struct decision *d)
{
	size_t index = play_index(p, &d->uid);
	if (index == SIZE_MAX)
		return; /* known by its reservation alone: its end is not known */
	switch (d->kind) {
	case DECISION_START:
		job_starts(p, index, d);
		return;
	case DECISION_STOP:
		job_stops(p, index, d);
		return;
	case DECISION_SHRINK:
		job_shrinks(p, index, d);
		return;
	case DECISION_GROW:
		job_grows(p, index, d);
		return;
	case DECISION_HOLD:
	case DECISION_DELETE:
		job_is_given_up(p, index);
		return;
	case DECISION_NOTICE:
		return;
	}
}

static bool is_over(const struct play *p, uint64_t done, uint64_t limit)
{
	return done >= limit + (p->njobs - p->nbefore) * EACH ||
	       (p->limits->enough && *p->limits->enough);
}

/* Decides at this instant. The queue is asked again at once only where it has more to say. */
static void settle(struct play *p)
{
	size_t n;
	do {
		n = queue_decide(p->q, p->now_ms, p->out, DECISIONS_AT_ONCE, &p->wake_ms);
		for (size_t i = 0; i < n; i++)
			carry_out(p, &p->out[i]);
		p->decisions += n;
	} while (n == DECISIONS_AT_ONCE && !is_over(p, p->decisions, p->limits->decisions));
	if (p->wake_ms <= p->now_ms)
		p->wake_ms = p->now_ms + 1;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void happen(struct play *p, const struct event *e)
{
	if (e->version != p->job[e->subject].version)
		return;
	switch ((enum play_event)e->kind) {
	case PLAY_ENDS:
		run_ends(p, e->subject);
		return;
	case PLAY_LEAVES:
		run_leaves(p, e->subject);
		return;
	case PLAY_SHRINKS:
		run_has_shrunk(p, e->subject);
		return;
	}
}

static void find_next_arrival(struct play *p)
{
	if (p->arrivals &&
		p->arrivals->next(&p->next_arrival_ms, &p->next_arrival, p->arrivals->ctx))
		return;
	p->next_arrival = NULL;
	p->next_arrival_ms = PLAY_NEVER;
}

static void job_arrives(struct play *p)
{
	struct play_job *j = play_add(p);
	struct play_arrived *a = mem_alloc(sizeof(*a));
	j->uid = a->uid = p->next_arrival->uid;
	a->index = p->njobs - 1;
	map_put(&p->arrived, uid_hash(&a->uid), a);
	queue_set_job(p->q, p->next_arrival);
	find_next_arrival(p);
}

static int64_t next_ms(const struct play *p)
{
	return least(p->wake_ms, least(p->next_arrival_ms, agenda_next_ms(&p->agenda)));
}

static void instant(struct play *p)
{
	struct event e;
	while (agenda_take(&p->agenda, p->now_ms, &e))
		happen(p, &e);
	while (p->next_arrival_ms <= p->now_ms)
		job_arrives(p);
	p->wake_ms = PLAY_NEVER;
	settle(p);
	if (p->instants++ == 0 && p->limits->decided)
		p->limits->decided(p->q, p->limits->ctx);
}

static enum play_end play_on(struct play *p)
{
	if (p->nleft == 0 && p->limits->decided)
		instant(p);
	while (p->nleft > 0) {
		if (is_over(p, p->decisions, p->limits->decisions) ||
			is_over(p, p->instants, p->limits->instants))
			return PLAY_CUT;
		instant(p);
		int64_t next = next_ms(p);
		if (p->nleft > 0 && next == PLAY_NEVER)
			return PLAY_STANDS;
		if (p->nleft > 0 && next > p->last_ms)
			return PLAY_AT_HORIZON;
		if (p->nleft > 0)
			p->now_ms = next;
	}
	return PLAY_ALL_STARTED;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum wait_reason reason_of(const struct play *p, const struct uid *uid)
{
	struct explanation x;
	return queue_explain(p->q, uid, p->now_ms, &x) ? x.reason : WAIT_DEPENDENCY_NEVER;
}

static void tell(const struct play *p, struct play_result *ret)
{
	size_t asked = 0;
	ret->start = mem_array(p->nbefore + 1, sizeof(*ret->start));
	for (size_t i = 0; i < p->nbefore; i++) {
		const struct play_job *j = &p->job[i];
		if (!j->waited)
			continue;
		struct play_start *s = &ret->start[ret->n++];
		*s = (struct play_start){j->uid, j->start_ms, WAIT_NOT};
		if (j->start_ms != PLAY_NEVER)
			continue;
		s->reason = asked++ < PLAY_REASONS_MAX ? reason_of(p, &j->uid)
						       : WAIT_PENDING_EVALUATION;
	}
	ret->decisions = p->decisions;
	ret->instants = p->instants;
	ret->last_ms = p->now_ms;
	ret->costs = p->costs;
}

static void play_begin(struct play *p)
{
	queue_each_job(p->q, play_see, p);
	if (p->njobs > 0)
		qsort(p->job, p->njobs, sizeof(*p->job), play_by_uid);
	p->nbefore = p->njobs;
	for (size_t i = 0; i < p->nbefore; i++)
		if (!p->job[i].waited)
			run_is_there(p, i);
	find_next_arrival(p);
}

void play(struct queue *q, int64_t now_ms, const struct play_lengths *lengths,
	const struct play_arrivals *arrivals, const struct play_limits *limits,
	struct play_result *ret)
{
	struct play p = {.q = q,
		.lengths = lengths,
		.arrivals = arrivals,
		.limits = limits,
		.now_ms = now_ms,
		.wake_ms = PLAY_NEVER,
		.last_ms = now_ms + limits->horizon_ms,
		.out = mem_array(DECISIONS_AT_ONCE, sizeof(*p.out))};
	agenda_init(&p.agenda);
	map_init(&p.arrived, play_is_arrived);
	*ret = (struct play_result){0};
	play_begin(&p);
	ret->end = play_on(&p);
	tell(&p, ret);
	map_free(&p.arrived, free);
	agenda_done(&p.agenda);
	free(p.job);
	free(p.out);
}

void play_result_done(struct play_result *r)
{
	free(r->start);
	*r = (struct play_result){0};
}

static int start_uid_cmp(const void *uid, const void *start)
{
	return uid_cmp(uid, &((const struct play_start *)start)->uid);
}

const struct play_start *play_find(const struct play_result *r, const struct uid *uid)
{
	return r->n ? bsearch(uid, r->start, r->n, sizeof(*r->start), start_uid_cmp) : NULL;
}
