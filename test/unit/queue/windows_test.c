/*
 * Windows at scale and at random.
 *
 * When a window opens or closes, each group is looked at, but no Job: with 100,000 waiting Jobs of
 * a few shapes the placed ones are counted. And in random worlds of Calendars, policies, Jobs and
 * jumps of the clock:
 *
 *   - no Job starts while any policy that binds it is closed;
 *   - no Job runs on behind a close, unless something protects it;
 *   - window states are what a naive look at the Calendars says;
 *   - the same facts give the same decisions.
 */
#include <setjmp.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "queue/calendar/zone.h"
#include "queue/core/model/clusterqueue.h"
#include "queue/core/model/localqueue.h"
#include "test/unit/core/inside.h"
#include "worlds.h"
#include "test/unit/searched.h"
#include "queue/features/windows/window_state.h"
#include "test/sim/rng.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)

/* ---- A turn touches no Job ---- */

#define JOBS 100000
#define SHAPES 20

static void set_calendar(struct queue *q, const char *name, const struct window_spec *w, size_t n)
{
	struct zone *utc = zone_utc();
	struct calendar_spec s = {
		.name = name, .time_zone = "UTC", .zone = utc, .window = w, .nwindows = n};
	struct err e;
	assert_int_equal(queue_set_calendar(q, &s, &e), 0);
	zone_free(utc);
}

static struct runpolicy_spec policy_of(const char *name, const char *calendar)
{
	static const char *const all[] = {"*"};
	return (struct runpolicy_spec){.name = name,
		.queues = all,
		.nqueues = 1,
		.calendar = calendar,
		.max_suspensions = RUNPOLICY_SUSPENSIONS_UNLIMITED};
}

static void set_policy(struct queue *q, const struct runpolicy_spec *s)
{
	bool again;
	struct err e;
	assert_int_equal(queue_set_runpolicy(q, s, &again, &e), 0);
}

static void tell_jobs(struct queue *q, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct job j = fixture_job(i, ASKS_CPU(1000 + i % SHAPES));
		j.created_ms = (int64_t)i * 1000;
		j.durations.expected_ms = (1 + i % 3) * HOUR_MS;
		queue_set_job(q, &j);
	}
}

static void a_turn_touches_no_waiting_job(void **state)
{
	(void)state;
	struct queue *q = fixture_new(5000, 0);
	struct window_spec night = {.name = "night",
		.shape = WINDOW_DAYS,
		.days = 127,
		.from_minute = 19 * 60,
		.to_minute = 7 * 60};
	set_calendar(q, "nights", &night, 1);
	struct runpolicy_spec s = policy_of("nights", "nights");
	s.fit = FIT_REQUIRE;
	s.action = CLOSE_SUSPEND;
	set_policy(q, &s);
	struct decision d[64];
	int64_t next_ms, now_ms = 12 * HOUR_MS;
	assert_int_equal(queue_decide(q, now_ms, d, 64, &next_ms), 0);
	tell_jobs(q, JOBS);
	assert_int_equal(queue_decide(q, now_ms, d, 64, &next_ms), 0);
	assert_int_equal(next_ms, 19 * HOUR_MS);

	uint64_t placed = inside_placed(q);
	size_t groups = inside_groups(q);
	assert_int_equal(groups, SHAPES * 3);
	size_t starts = queue_decide(q, next_ms, d, 64, &next_ms);
	assert_int_equal(starts, 4); /* of 1 to 1.02 cpu in 5 */
	assert_int_equal(inside_placed(q) - placed, starts);
	assert_int_equal(next_ms, DAY_MS + 7 * HOUR_MS);

	placed = inside_placed(q);
	size_t stops = queue_decide(q, next_ms, d, 64, &next_ms);
	assert_int_equal(stops, starts);
	assert_int_equal(inside_placed(q) - placed, 0);
	assert_int_equal(next_ms, DAY_MS + 19 * HOUR_MS);
	queue_free(q);
}

/* ---- At random ---- */

#define CALENDARS 3
#define POLICIES 5
#define QUEUES 3
#define LOCALS 2 /* of each ClusterQueue */
#define MOST 60	 /* Jobs */
#define STEPS 400

struct run {
	bool exists, has_room, confirmed, stopping;
	int queue, local;
	int32_t priority;
	bool gold;
	int64_t expected_ms, since_ms;
	int32_t suspensions;
};

struct world {
	struct rng rng;
	struct queue *q;
	struct calendar *calendar[CALENDARS]; /* copies of our own, to ask */
	struct runpolicy_spec policy[POLICIES];
	struct window_quota_spec set[POLICIES][3];
	bool bound[POLICIES][QUEUES], named[POLICIES][QUEUES][LOCALS];
	struct run run[MOST];
	int64_t now_ms;
	uint64_t trace; /* hash of all decisions */
	bool shares;	/* a Cohort, quotas by window, and leads */
	size_t starts, stops, notices, recalls;
};

static const char *const CALENDAR[CALENDARS] = {"c0", "c1", "c2"};
static const char *const POLICY[POLICIES] = {"p0", "p1", "p2", "p3", "p4"};
static const char *const QUEUE[QUEUES] = {"q0", "q1", "q2"};
static const char *const LOCAL[QUEUES][LOCALS] = {{"a0", "b0"}, {"a1", "b1"}, {"a2", "b2"}};
static const char *const PATH[QUEUES][LOCALS] = {
	{"team-a/a0", "team-a/b0"}, {"team-a/a1", "team-a/b1"}, {"team-a/a2", "team-a/b2"}};

static void random_window(struct rng *d, const char *name, struct window_spec *w)
{
	*w = (struct window_spec){
		.name = name, .shape = WINDOW_DAYS, .days = 1 + rng_below(d, 127)};
	w->from_minute = (int)rng_below(d, 1440);
	do
		w->to_minute = (int)rng_below(d, 1441);
	while (w->to_minute == w->from_minute);
}

static void edit_calendar(struct world *w, int i)
{
	static const char *const name[] = {"a", "b", "c"};
	struct window_spec window[3];
	size_t n = 1 + rng_below(&w->rng, 3);
	for (size_t k = 0; k < n; k++)
		random_window(&w->rng, name[k], &window[k]);
	calendar_free(w->calendar[i]);
	w->calendar[i] = NULL;
	if (rng_below(&w->rng, 8) == 0) {
		queue_drop_calendar(w->q, CALENDAR[i]);
		return;
	}
	set_calendar(w->q, CALENDAR[i], window, n);
	struct zone *utc = zone_utc();
	struct calendar_spec s = {
		.name = "copy", .time_zone = "UTC", .zone = utc, .window = window, .nwindows = n};
	assert_int_equal(calendar_new(&s, &w->calendar[i], NULL), 0);
	zone_free(utc);
}

static int calendar_index(const struct runpolicy_spec *p)
{
	return p->calendar[1] - '0';
}

static void tell_job(struct world *w, uint32_t i);

static void edit_policy(struct world *w, int i)
{
	static const char *const gold[] = {"gold"};
	static const struct requirement tier = {"tier", SELECTOR_IN, gold, 1};
	struct rng *d = &w->rng;
	struct runpolicy_spec *p = &w->policy[i];
	const char *queue[QUEUES], *local[QUEUES * LOCALS];
	bool again, more;
	*p = policy_of(POLICY[i], CALENDAR[rng_below(d, CALENDARS)]);
	p->nqueues = p->nlocalqueues = 0;
	for (int q = 0; q < QUEUES; q++) {
		w->bound[i][q] = rng_below(d, 2);
		if (w->bound[i][q])
			queue[p->nqueues++] = QUEUE[q];
		for (int l = 0; l < LOCALS; l++) {
			w->named[i][q][l] = rng_below(d, 5) == 0;
			if (w->named[i][q][l])
				local[p->nlocalqueues++] = PATH[q][l];
		}
	}
	more = p->nqueues + p->nlocalqueues > 0 && rng_below(d, 4) > 0;
	p->queues = queue;
	p->localqueues = local;
	p->fit = (enum start_fit)rng_below(d, 3);
	p->hold_unknown = rng_below(d, 3) == 0;
	p->margin_permille = (int32_t)rng_below(d, 3) * 100;
	p->action = (enum close_action)rng_below(d, 2);
	p->overrun_ms = rng_below(d, 2) ? rng_below(d, 120) * 60000 : 0;
	p->notice_ms = rng_below(d, 2) ? rng_below(d, 30) * 60000 : 0;
	p->min_run_ms = rng_below(d, 2) ? rng_below(d, 60) * 60000 : 0;
	p->max_suspensions =
		rng_below(d, 2) ? (int32_t)rng_below(d, 4) : RUNPOLICY_SUSPENSIONS_UNLIMITED;
	if (w->shares && p->nqueues > 0) {
		p->lead_ms = rng_below(d, 2) ? rng_below(d, 120) * 60000 : 0;
		p->quota = w->set[i];
		for (; p->nquotas < rng_below(d, 3); p->nquotas++)
			w->set[i][p->nquotas] =
				(struct window_quota_spec){.window = p->nquotas ? "b" : "a",
					.flavor = "spot",
					.resource = "cpu",
					.nominal = rng_below(d, 9) * 1000};
	}
	p->has_exempt_priority = rng_below(d, 3) == 0;
	p->exempt_priority = 2;
	p->has_exempt_selector = rng_below(d, 3) == 0;
	p->exempt_selector = (struct selector_term){&tier, 1};
	if (more) {
		assert_int_equal(queue_set_runpolicy(w->q, p, &again, NULL), 0);
	} else {
		queue_drop_runpolicy(w->q, POLICY[i]);
		p->name = NULL;
		again = false;
	}
	for (uint32_t j = 0; again && j < MOST; j++)
		if (w->run[j].exists)
			tell_job(w, j);
}

static void tell_job(struct world *w, uint32_t i)
{
	static const char *const class[] = {"low", "middle", "high", "top"};
	static const struct label gold = {"tier", "gold"};
	const struct run *r = &w->run[i];
	struct job j = fixture_job(i, ASKS_CPU(1000));
	j.queue = LOCAL[r->queue][r->local];
	j.priority_class = class[r->priority];
	j.labels = &gold;
	j.nlabels = r->gold;
	j.durations.expected_ms = r->expected_ms;
	j.created_ms = (int64_t)i;
	queue_set_job(w->q, &j);
}

static void new_job(struct world *w, uint32_t i)
{
	struct rng *d = &w->rng;
	if (w->run[i].exists)
		return;
	w->run[i] = (struct run){.exists = true,
		.queue = (int)rng_below(d, QUEUES),
		.local = (int)rng_below(d, LOCALS),
		.priority = (int32_t)rng_below(d, 4),
		.gold = rng_below(d, 4) == 0,
		.expected_ms = rng_below(d, 3) ? (1 + rng_below(d, 600)) * 60000 : 0};
	tell_job(w, i);
}

/* ---- What ought to be, by looking at everything ---- */

static bool binds(const struct world *w, int p, const struct run *r)
{
	return w->policy[p].name && (w->bound[p][r->queue] || w->named[p][r->queue][r->local]);
}

static bool open_now(const struct world *w, int p)
{
	struct calendar *c = w->calendar[calendar_index(&w->policy[p])];
	return c && calendar_at(c, w->now_ms).open;
}

/* The first minute from now on at which it is closed: windows begin and end on whole minutes. */
static int64_t closes(const struct world *w, int p)
{
	struct calendar *c = w->calendar[calendar_index(&w->policy[p])];
	int64_t at_ms = w->now_ms - w->now_ms % 60000 + 60000;
	int64_t end_ms = w->now_ms + 9 * DAY_MS;
	while (at_ms < end_ms && calendar_at(c, at_ms).open)
		at_ms += 60000;
	return at_ms < end_ms ? at_ms : INT64_MAX;
}

static int64_t with_margin(int64_t ms, int32_t permille)
{
	return ms + (ms * permille + 999) / 1000;
}

static bool may_start(const struct world *w, const struct run *r)
{
	int32_t margin = 0;
	for (int p = 0; p < POLICIES; p++)
		if (binds(w, p, r) && w->policy[p].fit != FIT_IGNORE &&
			w->policy[p].margin_permille > margin)
			margin = w->policy[p].margin_permille;
	for (int p = 0; p < POLICIES; p++) {
		if (!binds(w, p, r))
			continue;
		if (!open_now(w, p))
			return false;
		int64_t close_ms = w->policy[p].fit == FIT_IGNORE ? INT64_MAX : closes(w, p);
		if (close_ms == INT64_MAX)
			continue;
		if (r->expected_ms == 0 ? w->policy[p].hold_unknown
					: w->policy[p].fit == FIT_REQUIRE &&
						  w->now_ms + with_margin(r->expected_ms, margin) >
							  close_ms)
			return false;
	}
	return true;
}

/* Minutes back to the last close. */
static int64_t closed_for(const struct world *w, int p)
{
	struct calendar *c = w->calendar[calendar_index(&w->policy[p])];
	int64_t at_ms = w->now_ms - w->now_ms % 60000;
	while (at_ms > w->now_ms - 9 * DAY_MS && !calendar_at(c, at_ms - 60000).open)
		at_ms -= 60000;
	return w->now_ms - at_ms;
}

static bool protects(const struct world *w, int p, const struct run *r)
{
	const struct runpolicy_spec *s = &w->policy[p];
	if (s->action == CLOSE_FINISH || !w->calendar[calendar_index(s)] || open_now(w, p) ||
		(s->has_exempt_priority && r->priority >= s->exempt_priority) ||
		(s->has_exempt_selector && r->gold) ||
		(s->max_suspensions >= 0 && r->suspensions >= s->max_suspensions))
		return true;
	if (!r->confirmed)
		return false;
	if (s->min_run_ms > 0 && w->now_ms < r->since_ms + s->min_run_ms)
		return true;
	int64_t closed_ms = w->now_ms - closed_for(w, p);
	return r->expected_ms > 0 && w->now_ms < closed_ms + s->overrun_ms &&
	       r->since_ms + r->expected_ms <= closed_ms + s->overrun_ms;
}

static bool must_stop(const struct world *w, const struct run *r)
{
	for (int p = 0; p < POLICIES; p++)
		if (binds(w, p, r) && !protects(w, p, r))
			return true;
	return false;
}

/* The queue is closed, and all policies that name it will be open within the longest lead. */
static bool leads(const struct world *w, int q)
{
	int64_t lead_ms = 0, at_ms = w->now_ms;
	bool open = false;
	for (int p = 0; p < POLICIES; p++)
		if (w->policy[p].name && w->bound[p][q] && w->policy[p].lead_ms > lead_ms)
			lead_ms = w->policy[p].lead_ms;
	for (; !open && at_ms <= w->now_ms + lead_ms; at_ms += 60000 - at_ms % 60000) {
		open = true;
		for (int p = 0; p < POLICIES; p++) {
			struct calendar *c = w->calendar[calendar_index(&w->policy[p])];
			if (w->policy[p].name && w->bound[p][q])
				open = open && c && calendar_at(c, at_ms).open;
		}
		if (open && at_ms == w->now_ms)
			return false;
	}
	return open && lead_ms > 0;
}

/* The quota of the first policy in name order that has one for the window of its Calendar. */
static void quota_is(const struct world *w, int q)
{
	int64_t nominal = 4000;
	for (int p = POLICIES; p-- > 0;) {
		const struct runpolicy_spec *s = &w->policy[p];
		struct calendar *c =
			s->name && w->bound[p][q] ? w->calendar[calendar_index(s)] : NULL;
		const char *shown = c ? calendar_at(c, w->now_ms).window : NULL;
		for (size_t i = 0; shown && i < s->nquotas; i++)
			if (strcmp(s->quota[i].window, shown) == 0)
				nominal = s->quota[i].nominal;
	}
	const struct clusterqueue *cq = inside_clusterqueue(w->q, QUEUE[q]);
	const struct quota_row *row = cq->spec.groups[0].row[0];
	assert_true(row->nominal == nominal);
	assert_true(row->lending_limit == (w->shares && leads(w, q) ? 0 : QUOTA_UNLIMITED));
}

/* After a decision: runs may run, and in a queue with quota left Jobs wait for time only. */
static void all_is_as_it_ought_to_be(const struct world *w)
{
	int busy[QUEUES] = {0};
	for (uint32_t i = 0; i < MOST; i++) {
		const struct run *r = &w->run[i];
		if (r->exists && r->has_room && !r->stopping)
			assert_false(must_stop(w, r));
		busy[r->queue] += r->exists && r->has_room;
	}
	for (uint32_t i = 0; i < MOST; i++) {
		const struct run *r = &w->run[i];
		if (r->exists && !r->has_room && busy[r->queue] < 4 && !w->shares)
			assert_false(may_start(w, r));
	}
	for (int q = 0; q < QUEUES; q++)
		quota_is(w, q);
	for (int q = 0; q < QUEUES; q++) {
		struct clusterqueue *cq = inside_clusterqueue(w->q, QUEUE[q]);
		struct run any = {.queue = q};
		bool open = true;
		for (int p = 0; p < POLICIES; p++)
			if (w->policy[p].name && w->bound[p][q])
				open = open && open_now(w, p);
		assert_int_equal(cq->window_state->open, open);
		for (any.local = 0; any.local < LOCALS; any.local++) {
			const struct localqueue *lq =
				inside_localqueue(w->q, "team-a", LOCAL[q][any.local]);
			open = true;
			for (int p = 0; p < POLICIES; p++)
				if (binds(w, p, &any))
					open = open && open_now(w, p);
			assert_int_equal(window_state_of(lq)->open, open);
		}
	}
}

/* ---- The times to come, minute by minute ---- */

#define AHEAD (10 * 1440)
#define MINUTE_MS INT64_C(60000)

struct outlook {
	int64_t from_ms; /* a whole minute */
	bool open[POLICIES][AHEAD];
	int closes[POLICIES][AHEAD]; /* the first minute behind it at which it is closed */
};

static struct outlook *outlook_new(const struct world *w)
{
	struct outlook *o = mem_alloc(sizeof(*o));
	o->from_ms = w->now_ms - w->now_ms % MINUTE_MS;
	for (int p = 0; p < POLICIES; p++) {
		struct calendar *c =
			w->policy[p].name ? w->calendar[calendar_index(&w->policy[p])] : NULL;
		for (int m = 0; c && m < AHEAD; m++)
			o->open[p][m] = calendar_at(c, o->from_ms + m * MINUTE_MS).open;
		for (int m = AHEAD, next = INT_MAX; m-- > 0;) {
			o->closes[p][m] = next;
			next = o->open[p][m] ? next : m;
		}
	}
	return o;
}

/* The last moment at which a start of that length may happen, if it may at this minute. */
static bool start_at(const struct world *w, const struct outlook *o, const struct run *r, int m)
{
	int32_t margin = 0;
	for (int p = 0; p < POLICIES; p++)
		if (binds(w, p, r) && w->policy[p].fit != FIT_IGNORE &&
			w->policy[p].margin_permille > margin)
			margin = w->policy[p].margin_permille;
	for (int p = 0; p < POLICIES; p++) {
		if (!binds(w, p, r))
			continue;
		if (!o->open[p][m])
			return false;
		if (w->policy[p].fit == FIT_REQUIRE && o->closes[p][m] != INT_MAX &&
			m * MINUTE_MS + with_margin(r->expected_ms, margin) >
				o->closes[p][m] * MINUTE_MS)
			return false;
	}
	return true;
}

/* window_state_next_open(), and opens_ms and closes_ms of a window state. */
static void the_future_is_told(struct world *w)
{
	struct outlook *o = outlook_new(w);
	struct run r = {
		.queue = (int)rng_below(&w->rng, QUEUES), .local = (int)rng_below(&w->rng, LOCALS)};
	const struct window_state *window_state =
		window_state_of(inside_localqueue(w->q, "team-a", LOCAL[r.queue][r.local]));
	r.expected_ms = (1 + rng_below(&w->rng, 900)) * MINUTE_MS;
	int first = 0, all_open = 0, close = INT_MAX, week = 8 * 1440;
	while (first < week && !start_at(w, o, &r, first))
		first++;
	int64_t from_ms = o->from_ms, to_ms;
	bool found = window_state_next_open(
		window_state, r.expected_ms, o->from_ms + week * MINUTE_MS, &from_ms, &to_ms);
	assert_int_equal(found, first < week);
	if (found)
		assert_true(from_ms == o->from_ms + first * MINUTE_MS);
	bool inside = found;
	for (int m = first; inside && m < week; m++) {
		inside = o->from_ms + m * MINUTE_MS <= to_ms;
		assert_int_equal(start_at(w, o, &r, m), inside);
		assert_true(inside || m > first);
	}
	r.expected_ms = 0;
	while (all_open < week && !start_at(w, o, &r, all_open))
		all_open++;
	for (int p = 0; p < POLICIES; p++)
		if (binds(w, p, &r) && o->closes[p][0] < close)
			close = o->closes[p][0];
	if (window_state->open)
		assert_true(window_state->closes_ms ==
			    (close == INT_MAX ? CALENDAR_NEVER : o->from_ms + close * MINUTE_MS));
	else
		assert_true(
			window_state->opens_ms ==
			(all_open == week ? CALENDAR_NEVER : o->from_ms + all_open * MINUTE_MS));
	free(o);
}

static void take(struct world *w, const struct decision *d)
{
	uint32_t i = 0;
	for (int k = 0; k < 4; k++)
		i = i << 8 | d->uid.byte[12 + k];
	struct run *r = &w->run[i];
	w->trace =
		(w->trace ^ (i * 8u + (unsigned)d->kind + (uint64_t)d->stop_ms)) * 0x100000001B3u;
	switch (d->kind) {
	case DECISION_START:
		w->starts++;
		assert_true(may_start(w, r));
		r->has_room = true;
		r->confirmed = r->stopping = false;
		break;
	case DECISION_STOP:
		w->stops++;
		r->stopping = true;
		if (d->reason == STOP_REASON_WINDOW_OPENING) {
			w->recalls++;
			assert_true(leads(w, 0) || leads(w, 1) || leads(w, 2));
			assert_false(leads(w, r->queue) && !leads(w, (r->queue + 1) % 3) &&
				     !leads(w, (r->queue + 2) % 3));
			break;
		}
		assert_int_equal(d->reason, STOP_REASON_WINDOW_CLOSED);
		assert_true(must_stop(w, r));
		r->suspensions++;
		break;
	case DECISION_SHRINK:
	case DECISION_GROW:
		fail_msg("nobody reclaims in this world");
		break;
	case DECISION_HOLD:
	case DECISION_DELETE:
		fail_msg("no Job waits for another in this world");
		break;
	case DECISION_NOTICE:
		w->notices++;
		assert_true(r->has_room && r->confirmed && d->stop_ms > w->now_ms);
		break;
	}
}

static int64_t decide(struct world *w)
{
	struct decision d[MOST * 2];
	int64_t next_ms;
	size_t n = queue_decide(w->q, w->now_ms, d, MOST * 2, &next_ms);
	for (size_t i = 0; i < n; i++)
		take(w, &d[i]);
	assert_true(next_ms > w->now_ms);
	assert_int_equal(queue_decide(w->q, w->now_ms, d, MOST * 2, &next_ms), 0);
	all_is_as_it_ought_to_be(w);
	return next_ms;
}

/* Before the moment that the queue asked for nothing happens. */
static void nothing_before(struct world *w, int64_t next_ms)
{
	struct decision d[MOST * 2];
	int64_t again_ms;
	if (next_ms > w->now_ms + 9 * DAY_MS)
		return;
	w->now_ms = next_ms - 1;
	assert_int_equal(queue_decide(w->q, w->now_ms, d, MOST * 2, &again_ms), 0);
	assert_int_equal(again_ms, next_ms);
	all_is_as_it_ought_to_be(w);
}

static void move_clock(struct world *w, int64_t next_ms)
{
	struct rng *d = &w->rng;
	switch (rng_below(d, 8)) {
	case 0:
		w->now_ms += (int64_t)rng_below(d, 3 * 86400) * 1000;
		break;
	case 1:
		w->now_ms -= (int64_t)rng_below(d, 2 * 86400) * 1000;
		break;
	case 2:
		w->now_ms += rng_below(d, 3600000);
		break;
	default: /* at the moment that the queue asked for: nothing may be due before */
		w->now_ms = next_ms < w->now_ms + 9 * DAY_MS ? next_ms : w->now_ms + HOUR_MS;
	}
}

static void gate(struct world *w, uint32_t i)
{
	struct run *r = &w->run[i];
	struct uid uid = fixture_uid(i);
	if (!r->exists || !r->has_room)
		return;
	if (r->stopping) {
		queue_release_job(w->q, &uid, w->now_ms, 0);
		r->has_room = r->stopping = r->confirmed = false;
	} else if (!r->confirmed) {
		queue_confirm_job(w->q, &uid, w->now_ms);
		r->confirmed = true;
		r->since_ms = w->now_ms;
	} else if (rng_below(&w->rng, 6) == 0) {
		queue_drop_job(w->q, &uid);
		r->exists = false;
	}
}

static struct queue *world_queue(bool shares)
{
	static const char *const class[] = {"low", "middle", "high", "top"};
	struct queue *q = fixture_new(0, 0);
	for (int i = 0; i < QUEUES; i++) {
		make_queue(q,
			(struct clusterqueue_spec){.name = QUEUE[i],
				.cohort = shares ? "all" : "",
				.strategy = (enum queueing_strategy)i,
				.weight = 1},
			"spot", 4000);
		for (int l = 0; l < LOCALS; l++)
			make_localqueue(q, "team-a", LOCAL[i][l], QUEUE[i]);
	}
	make_classes(q, class, 4, 0);
	return q;
}

static void world_run(struct world *w, uint64_t seed, bool shares)
{
	*w = (struct world){.q = world_queue(shares), .shares = shares};
	w->now_ms = INT64_C(1795000000000);
	rng_seed(&w->rng, seed);
	int64_t next_ms = INT64_MAX;
	for (int i = 0; i < CALENDARS; i++)
		edit_calendar(w, i);
	for (int i = 0; i < POLICIES; i++)
		edit_policy(w, i);
	for (int step = 0; step < STEPS; step++) {
		struct rng *d = &w->rng;
		if (rng_below(d, 3) == 0)
			nothing_before(w, next_ms);
		for (uint32_t i = 0; i < 6; i++)
			new_job(w, rng_below(d, MOST));
		if (rng_below(d, 12) == 0)
			edit_calendar(w, (int)rng_below(d, CALENDARS));
		if (rng_below(d, 12) == 0)
			edit_policy(w, (int)rng_below(d, POLICIES));
		move_clock(w, next_ms);
		next_ms = decide(w);
		if (step % 80 == 7)
			the_future_is_told(w);
		for (uint32_t i = 0; i < MOST; i++)
			gate(w, i);
		next_ms = decide(w);
	}
	queue_free(w->q);
	for (int i = 0; i < CALENDARS; i++)
		calendar_free(w->calendar[i]);
}

static void worlds_run(bool shares)
{
	size_t starts = 0, stops = 0, notices = 0, recalls = 0;
	const char *env = getenv("SEED");
	uint64_t first = env ? strtoull(env, NULL, 10) : 1, last = env ? first : searched(3, 8);
	for (uint64_t seed = first; seed <= last; seed++) {
		struct world *a = mem_alloc(sizeof(*a)), *b = mem_alloc(sizeof(*b));
		print_message("seed %llu\n", (unsigned long long)seed);
		world_run(a, seed, shares);
		world_run(b, seed, shares);
		assert_int_equal(a->trace, b->trace);
		starts += a->starts;
		stops += a->stops;
		notices += a->notices;
		recalls += a->recalls;
		free(a);
		free(b);
	}
	print_message("%zu starts, %zu stops, %zu notices, %zu recalls\n", starts, stops, notices,
		recalls);
	assert_true(env || (starts > 40 && stops > 40 && notices > 40));
	assert_true(env || recalls > 4 || !shares);
}

static void random_worlds_are_as_they_ought_to_be(void **state)
{
	(void)state;
	worlds_run(false);
}

static void random_worlds_of_shared_quota_are_too(void **state)
{
	(void)state;
	worlds_run(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_touches_no_waiting_job),
		cmocka_unit_test(random_worlds_are_as_they_ought_to_be),
		cmocka_unit_test(random_worlds_of_shared_quota_are_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
