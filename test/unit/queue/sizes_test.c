/*
 * Runs that grow and give pods, in seeded random worlds: three ClusterQueues of a Cohort (or alone),
 * Jobs of which most can do with fewer pods, and a gate that is late, refuses and forgets. After
 * each pass
 *
 *   - nothing is over its quota, NOW or THEN; use is the sum of what runs and promises hold, so no
 *     pod counts twice;
 *   - a run grows only if it may: it runs, wants more pods, is not told to stop or to give, and its
 *     size has not changed for growInterval. It gets no more than its owner asked for;
 *   - growth displaces no run, and takes nothing that a waiting Job would have started with: asked
 *     again, the queue decides nothing;
 *   - a run gives pods only down to its minimum, and no run is stopped for room in its own
 *     ClusterQueue while others of its rank could give as much.
 *
 *   - where a window makes quota smaller runs give pods until the use is within it, or none of those
 *     that use too much has any to give; none gives a pod more than it must, and none is stopped for
 *     that. Use that is over its quota only falls.
 *
 * When all that was decided is carried out, no Job waits for pods that are gone. At some moments a
 * new leader adopts what runs, as the ledger has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/must.h"
#include "worlds.h"
#include "queue/calendar/zone.h"
#include "test/unit/core/inside.h"
#include "queue/core/model/shrink.h"
#include "test/sim/rng.h"

enum { WORLDS = 100, STEPS = 300, JOBS = 24, QUEUES = 3, INTERVAL_MS = 5000, DECISIONS = 256 };

static const char *const queue_name[QUEUES] = {"q0", "q1", "q2"};
static const char *const class_name[] = {"p-1", "p0", "p1", "p2"};

/* A Job, and what the gate of the test knows of its run. */
struct sized {
	bool alive, has_room, confirmed, stopping, growing;
	uint32_t uid;
	int queue, class;
	int32_t parallelism, min, done;
	int64_t cpu, created_ms, sized_ms;
	enum job_grow grow;
	int32_t told; /* to go on with so many; 0: nothing */
	bool told_for_window;
	int32_t before_growth;
};

struct world {
	struct rng rng;
	struct queue *q;
	int64_t now_ms;
	uint32_t uids;
	bool cohort, by_default[QUEUES];
	struct queue_config config;
	enum queueing_strategy strategy[QUEUES];
	struct preemption_spec preemption[QUEUES];
	int64_t nominal[QUEUES], by_window[QUEUES]; /* -1: no other one */
	bool windows;
	bool kept; /* a run kept pods that were promised to others by then, and more is used since */
	__int128 use_then[QUEUES], use_now[QUEUES]; /* after the last pass */
	struct sized job[JOBS];
	size_t grown, gave, gave_to_window, stopped, started, adopted;
};

static size_t below(struct world *w, size_t n)
{
	return (size_t)rng_between(&w->rng, 0, (int64_t)n - 1);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void tell_queue(struct world *w, int i)
{
	make_queue(w->q,
		(struct clusterqueue_spec){.name = queue_name[i],
			.cohort = w->cohort ? "all" : "",
			.strategy = w->strategy[i],
			.preemption = w->preemption[i],
			.weight = 1,
			.grow_by_default = w->by_default[i],
			.grow_interval_ms = INTERVAL_MS},
		"spot", w->nominal[i]);
	make_localqueue(w->q, "team", queue_name[i], queue_name[i]);
}

/* Of two windows of a minute each the first has another quota. */
static void tell_windows(struct world *w)
{
	struct zone_span span = {INT64_MIN, 0, "UTC", 0};
	struct zone *utc = zone_new("UTC", &span, 1);
	struct window_spec window[] = {
		{.name = "day", .shape = WINDOW_CRON, .cron = "*/2 * * * *", .duration_s = 60},
		{.name = "rest", .shape = WINDOW_DAYS, .days = 0x7f, .to_minute = 1440}};
	struct calendar_spec c = {
		.name = "c", .time_zone = "UTC", .zone = utc, .window = window, .nwindows = 2};
	assert_int_equal(queue_set_calendar(w->q, &c, NULL), 0);
	zone_free(utc);
	for (int i = 0; i < QUEUES; i++) {
		struct window_quota_spec quota = {.window = "day",
			.flavor = "spot",
			.resource = "cpu",
			.nominal = w->by_window[i]};
		struct runpolicy_spec p = {.name = queue_name[i],
			.queues = &queue_name[i],
			.nqueues = 1,
			.calendar = "c",
			.fit = FIT_IGNORE,
			.max_suspensions = RUNPOLICY_SUSPENSIONS_UNLIMITED,
			.quota = &quota,
			.nquotas = 1};
		bool again;
		if (w->by_window[i] >= 0)
			assert_int_equal(queue_set_runpolicy(w->q, &p, &again, NULL), 0);
	}
}

static void tell_all(struct world *w)
{
	w->q = queue_new();
	queue_configure(w->q, &w->config);
	make_flavor(w->q, "spot");
	make_classes(w->q, class_name, 4, -1);
	for (int i = 0; i < QUEUES; i++)
		tell_queue(w, i);
	if (w->windows)
		tell_windows(w);
}

static void make_world(struct world *w, uint64_t seed)
{
	static const enum preemption_policy within[] = {
		PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY, PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY};
	static const enum preemption_policy reclaim[] = {
		PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY, PREEMPT_ANY};
	*w = (struct world){.now_ms = 1000000};
	rng_seed(&w->rng, seed);
	queue_config_default(&w->config);
	w->cohort = below(w, 3) > 0;
	w->config.fair_sharing = below(w, 4) == 0;
	if (w->config.fair_sharing) {
		w->config.fair_strategy[0] = FAIR_LESS_THAN_OR_EQUAL_TO_FINAL_SHARE;
		w->config.fair_strategy[1] = FAIR_LESS_THAN_INITIAL_SHARE;
		w->config.nfair_strategies = 2;
	}
	for (int i = 0; i < QUEUES; i++) {
		w->nominal[i] = 1000 * (int64_t)(2 + below(w, 12));
		w->strategy[i] = (enum queueing_strategy)below(w, 3);
		w->by_default[i] = below(w, 2) == 0;
		w->preemption[i].within_clusterqueue = within[below(w, 3)];
		w->preemption[i].reclaim_within_cohort = reclaim[below(w, 3)];
		w->preemption[i].borrow_within_cohort =
			w->preemption[i].reclaim_within_cohort != PREEMPT_NEVER && below(w, 2) == 0;
	}
	w->windows = below(w, 2) == 0;
	for (int i = 0; i < QUEUES; i++)
		w->by_window[i] = w->windows && below(w, 3) > 0 ? 500 * (int64_t)below(w, 24) : -1;
	tell_all(w);
}

static int64_t quota_of(const struct world *w, int i)
{
	bool day = w->windows && w->now_ms / 60000 % 2 == 0;
	return day && w->by_window[i] >= 0 ? w->by_window[i] : w->nominal[i];
}

static void tell_job(struct world *w, const struct sized *s)
{
	struct job j = fixture_job(s->uid, ASKS_CPU(s->cpu));
	j.ns = "team";
	j.queue = queue_name[s->queue];
	j.priority_class = class_name[s->class];
	j.created_ms = s->created_ms;
	j.parallelism = s->parallelism;
	j.completions = 4 * s->parallelism;
	j.status.succeeded = s->done;
	j.min_parallelism = s->min;
	j.grow = s->grow;
	j.durations.expected_ms = s->uid % 3 ? (int64_t)(s->uid % 50) * 1000 : 0;
	queue_set_job(w->q, &j);
}

static void new_job(struct world *w)
{
	struct sized *s = &w->job[below(w, JOBS)];
	if (s->alive)
		return;
	*s = (struct sized){.alive = true,
		.uid = ++w->uids,
		.queue = (int)below(w, QUEUES),
		.class = (int)below(w, 4),
		.parallelism = 1 + (int32_t)below(w, 8),
		.cpu = 500 * (int64_t)(1 + below(w, 3)),
		.created_ms = w->now_ms / 1000 * 1000,
		.grow = (enum job_grow)below(w, 3)};
	if (s->parallelism > 1 && below(w, 4) > 0)
		s->min = 1 + (int32_t)below(w, (size_t)s->parallelism - 1);
	tell_job(w, s);
}

static struct uid uid_of(const struct sized *s)
{
	return fixture_uid(s->uid);
}

/* ---- the gate -------------------------------------------------------------------------------- */

static void gone(struct sized *s)
{
	s->has_room = s->confirmed = s->stopping = s->growing = false;
	s->told = 0;
}

/* What was decided is carried out, in part, or called off. */
static void carry_out(struct world *w, struct sized *s)
{
	struct uid uid = uid_of(s);
	if (!s->alive || !s->has_room)
		return;
	if (s->stopping) {
		queue_release_job(w->q, &uid, w->now_ms, 0);
		gone(s);
	} else if (!s->confirmed) {
		queue_confirm_job(w->q, &uid, w->now_ms);
		s->confirmed = true;
	} else if (s->growing) {
		if (below(w, 4) == 0)
			queue_shrink_job(w->q, &uid, s->before_growth, w->now_ms);
		queue_grew_job(w->q, &uid, w->now_ms);
		s->growing = false;
		s->sized_ms = w->now_ms;
	} else if (s->told > 0) {
		int32_t has = queue_job_pods(w->q, &uid);
		if (below(w, 8) == 0 && s->told_for_window) { /* it cannot be told to */
			queue_keep_pods(w->q, &uid);
			w->use_then[s->queue] += (has - s->told) * s->cpu;
			w->kept = true;
			s->told = 0;
			return;
		}
		if (below(w, 8) == 0) { /* the same, of another Job's room: all of it goes */
			queue_leaving_job(w->q, &uid);
			queue_ending_job(w->q, &uid);
			s->stopping = true;
			s->told = 0;
			return;
		}
		int32_t to = has > s->told ? has - 1 - (int32_t)below(w, 3) : has;
		to = to > s->told ? to : s->told;
		queue_shrink_job(w->q, &uid, to, w->now_ms);
		if (to == s->told)
			s->told = 0;
	}
}

static void end_job(struct world *w)
{
	struct sized *s = &w->job[below(w, JOBS)];
	struct uid uid = uid_of(s);
	if (!s->alive || (s->has_room && !s->confirmed))
		return;
	if (s->has_room)
		queue_end_job(w->q, &uid, w->now_ms);
	else
		queue_drop_job(w->q, &uid);
	*s = (struct sized){0};
}

/* Some of its work is done; at the end it has fewer pods. */
static void progress(struct world *w)
{
	struct sized *s = &w->job[below(w, JOBS)];
	struct uid uid = uid_of(s);
	if (!s->confirmed || s->growing || s->done + 1 >= 4 * s->parallelism)
		return;
	s->done += 1 + (int32_t)below(w, 3);
	if (s->done >= 4 * s->parallelism)
		s->done = 4 * s->parallelism - 1;
	tell_job(w, s);
	int32_t left = 4 * s->parallelism - s->done;
	queue_shrink_job(w->q, &uid, left, w->now_ms);
	if (s->told >= left)
		s->told = 0;
}

/* A new leader: what runs is adopted as the ledger has it. Pods that were to go are asked for again,
 * if they are still needed. */
static void crash(struct world *w)
{
	static struct quota_line line[JOBS][QUEUE_LINES_MAX];
	size_t n[JOBS] = {0};
	for (int i = 0; i < JOBS; i++) {
		struct uid uid = uid_of(&w->job[i]);
		if (w->job[i].alive && w->job[i].has_room)
			n[i] = queue_job_lines(w->q, &uid, line[i]);
	}
	queue_free(w->q);
	tell_all(w);
	memcpy(w->use_then, w->use_now,
		sizeof(w->use_then)); /* what was to be given counts again */
	for (int i = 0; i < JOBS; i++) {
		struct sized *s = &w->job[i];
		struct uid uid = uid_of(s);
		char node[16];
		if (!s->alive)
			continue;
		tell_job(w, s);
		if (!s->has_room)
			continue;
		snprintf(node, sizeof(node), "cq/%s", queue_name[s->queue]);
		for (size_t k = 0; k < n[i]; k++) {
			line[i][k].node = node;
			line[i][k].flavor = "spot";
			line[i][k].resource = "cpu";
		}
		queue_adopt_job(w->q, &uid, line[i], n[i], s->sized_ms);
		if (s->confirmed)
			queue_confirm_job(w->q, &uid, s->sized_ms);
		if (s->stopping)
			queue_ending_job(w->q, &uid);
		s->growing = false;
		s->told = 0;
		w->adopted++;
	}
}

/* ---- what must be true ----------------------------------------------------------------------- */

static struct sized *find(struct world *w, const struct uid *uid)
{
	for (int i = 0; i < JOBS; i++) {
		struct uid own = uid_of(&w->job[i]);
		if (w->job[i].alive && uid_cmp(&own, uid) == 0)
			return &w->job[i];
	}
	must_not_get_here(); /* a decision about no Job */
}

/* Within its quota; or over it since that was larger, and falling. */
static bool is_within(__int128 use, __int128 quota, __int128 before)
{
	return use <= quota || use <= before;
}

/* Use is the sum of what is held, and within quota. */
static void check_quota(struct world *w)
{
	__int128 now_all = 0, then_all = 0, quota_all = 0, now_before = 0, then_before = 0;
	for (int i = 0; i < QUEUES; i++) {
		struct clusterqueue *cq = inside_clusterqueue(w->q, queue_name[i]);
		const struct quota_row *row = cq->node->row[0];
		__int128 now = 0, then = 0;
		size_t leaving = 0;
		list_each_entry(&cq->reservations, const struct reservation, r, of_clusterqueue) {
			int64_t holds = reservation_line_then(r, &r->line[0]);
			assert_int_equal(r->line[0].amount, r->pods * find(w, &r->w->key.uid)->cpu);
			if (r->state == RESERVATION_LEAVING)
				assert_true(holds == 0 && !reservation_gives(r));
			else
				assert_int_equal(holds,
					reservation_pods_then(r) * find(w, &r->w->key.uid)->cpu);
			leaving += r->state == RESERVATION_LEAVING || reservation_gives(r);
			now += r->line[0].amount;
			then += holds;
		}
		list_each_entry(&cq->promised, const struct reservation, r, of_clusterqueue)
			then += r->line[0].amount;
		assert_true(row->use[QUOTA_NOW] == now && row->use[QUOTA_THEN] == then);
		assert_int_equal(cq->nleaving, leaving);
		assert_true(w->cohort || (is_within(now, quota_of(w, i), w->use_now[i]) &&
						 is_within(then, quota_of(w, i), w->use_then[i])));
		now_before += w->use_now[i];
		then_before += w->use_then[i];
		now_all += w->use_now[i] = now;
		then_all += w->use_then[i] = then;
		quota_all += quota_of(w, i);
	}
	assert_true(!w->cohort || is_within(now_all, quota_all, now_before));
	assert_true(!w->cohort || is_within(then_all, quota_all, then_before));
}

static void check_growth(struct world *w, struct sized *s, const struct decision *d)
{
	bool asked = s->grow == GROW_YES || (s->grow == GROW_AS_QUEUE && w->by_default[s->queue]);
	assert_true(
		asked && s->min > 0 && s->confirmed && !s->stopping && s->told == 0 && !s->growing);
	assert_true(d->pods <= s->parallelism && d->pods <= 4 * s->parallelism - s->done);
	assert_true(w->now_ms - s->sized_ms >= INTERVAL_MS);
}

static int32_t could_give(const struct world *w, const struct sized *s)
{
	struct uid uid = uid_of(s);
	const struct workload *x = inside_workload(w->q, &uid);
	int32_t least;
	if (!s->alive || !s->has_room || s->stopping || !x || !x->reservation ||
		!giving_may(x->reservation, &least))
		return 0;
	return reservation_pods_then(x->reservation) - least;
}

/* What it uses THEN, but for runs that end anyway. */
static __int128 stays(const struct world *w, int queue)
{
	__int128 then = w->use_then[queue];
	const struct clusterqueue *cq = inside_clusterqueue(w->q, queue_name[queue]);
	list_each_entry(&cq->reservations, const struct reservation, r, of_clusterqueue)
		if (r->stop_given)
			then -= reservation_line_then(r, &r->line[0]);
	return then;
}

/* So much more is used than there is, where this queue's quota counts. */
static __int128 over(const struct world *w, int queue)
{
	__int128 then = 0, quota = 0;
	for (int i = 0; i < QUEUES; i++) {
		if (!w->cohort && i != queue)
			continue;
		then += stays(w, i);
		quota += quota_of(w, i);
	}
	return then - quota;
}

/* What a window has taken is given back, as far as any can. */
static void check_windows(struct world *w)
{
	bool any_over = false;
	for (int i = 0; i < QUEUES; i++)
		any_over = any_over || over(w, i) > 0;
	w->kept = w->kept && any_over;
	if (w->kept)
		return;
	for (int i = 0; i < JOBS; i++) {
		struct sized *s = &w->job[i];
		if (s->alive && over(w, s->queue) > 0 && stays(w, s->queue) > quota_of(w, s->queue))
			assert_int_equal(could_give(w, s), 0);
	}
}

/* Could other runs of its rank have given what it had? */
static void check_rank(const struct world *w, const struct sized *s, int32_t pods)
{
	int64_t could = 0;
	for (int i = 0; i < JOBS; i++) {
		const struct sized *o = &w->job[i];
		if (o != s && o->queue == s->queue && o->class <= s->class)
			could += could_give(w, o) * o->cpu;
	}
	assert_true(could < pods * s->cpu);
}

static void take(struct world *w, const struct decision *d)
{
	struct sized *s = find(w, &d->uid);
	struct uid uid = uid_of(s);
	int32_t has = queue_job_pods(w->q, &uid);
	switch (d->kind) {
	case DECISION_START:
		assert_false(s->has_room);
		assert_true(d->pods == s->parallelism || d->pods <= s->parallelism - s->done ||
			    (s->min > 0 && d->pods >= s->min) ||
			    d->pods == 4 * s->parallelism - s->done);
		s->has_room = true;
		s->sized_ms = w->now_ms;
		w->started++;
		break;
	case DECISION_STOP:
		assert_true(s->has_room && !s->stopping);
		assert_int_equal(d->reason, STOP_REASON_PREEMPTED);
		s->stopping = true;
		s->told = 0;
		s->growing = false;
		w->stopped++;
		break;
	case DECISION_SHRINK:
		s->told_for_window = d->reason == STOP_REASON_WINDOW_QUOTA;
		w->gave_to_window += s->told_for_window;
		assert_true(s->told_for_window || d->reason == STOP_REASON_PREEMPTED);
		assert_true(!s->told_for_window || (w->windows && d->why));
		assert_true(s->confirmed && !s->stopping && !s->growing && s->min > 0);
		assert_true(d->pods < has && d->pods > 0);
		assert_true(d->pods >= s->min || d->pods >= 4 * s->parallelism - s->done);
		/* The Job that it is for may have ended while the run was growing. */
		assert_true(uid_cmp(&d->by, &d->uid) != 0);
		s->told = d->pods;
		s->sized_ms = w->now_ms;
		w->gave++;
		break;
	case DECISION_GROW:
		check_growth(w, s, d);
		assert_int_equal(d->pods, has);
		s->growing = true;
		w->grown++;
		break;
	case DECISION_HOLD:
	case DECISION_DELETE:
	case DECISION_NOTICE:
		fail_msg("there are no windows");
	}
}

/* Fair sharing weighs each victim: pods first only where all are of one ClusterQueue. */
static bool is_weighed(
	struct world *w, const struct decision *d, size_t n, const struct decision *of)
{
	bool others = false;
	for (size_t i = 0; i < n; i++)
		others = others || (d[i].kind == DECISION_STOP && uid_cmp(&d[i].by, &of->by) == 0 &&
					   find(w, &d[i].uid)->queue != find(w, &of->uid)->queue);
	return w->config.fair_sharing && others;
}

static void pass(struct world *w)
{
	static struct decision d[DECISIONS];
	int32_t had[JOBS], kept[JOBS];
	bool preempts = false;
	int64_t next_ms;
	for (int i = 0; i < JOBS; i++) {
		struct uid uid = uid_of(&w->job[i]);
		const struct workload *x = inside_workload(w->q, &uid);
		had[i] = queue_job_pods(w->q, &uid);
		kept[i] = x && x->reservation && reservation_gives(x->reservation)
				  ? reservation_pods_then(x->reservation)
				  : 0;
	}
	size_t n = queue_decide(w->q, w->now_ms, d, DECISIONS, &next_ms);
	assert_true(n < DECISIONS);
	for (size_t i = 0; i < n; i++) {
		struct sized *s = find(w, &d[i].uid);
		s->before_growth = had[s - w->job];
		take(w, &d[i]);
		preempts = preempts || d[i].reason == STOP_REASON_PREEMPTED;
	}
	check_quota(w);
	check_windows(w);
	for (size_t i = 0; i < n; i++) {
		const struct sized *s = find(w, &d[i].uid);
		if (d[i].kind == DECISION_SHRINK && !preempts && kept[s - w->job] != d[i].pods)
			assert_true(over(w, s->queue) + s->cpu > 0); /* not a pod more */
		if (d[i].kind == DECISION_STOP && s->confirmed &&
			d[i].preemption == PREEMPTION_IN_CLUSTERQUEUE &&
			s->class < find(w, &d[i].by)->class && !is_weighed(w, d, n, &d[i]))
			check_rank(w, s, had[s - w->job]);
	}
	assert_int_equal(queue_decide(w->q, w->now_ms, d, DECISIONS, &next_ms), 0);
}

static void rest(struct world *w)
{
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < JOBS; i++)
			carry_out(w, &w->job[i]);
		pass(w);
	}
	for (int i = 0; i < JOBS; i++) {
		const struct sized *s = &w->job[i];
		struct explanation x;
		struct uid uid = uid_of(s);
		if (!s->alive || !queue_explain(w->q, &uid, w->now_ms, &x))
			continue;
		assert_true(s->told == 0 && !s->stopping);
		assert_int_not_equal(x.reason, WAIT_PREEMPTED);
	}
}

static void step(struct world *w)
{
	w->now_ms += (int64_t)below(w, 6) * 1000;
	for (size_t i = below(w, 4); i > 0; i--)
		carry_out(w, &w->job[below(w, JOBS)]);
	switch (below(w, 8)) {
	case 0:
	case 1:
		new_job(w);
		break;
	case 2:
	case 3:
		end_job(w);
		break;
	case 4:
		progress(w);
		break;
	case 5:
		if (below(w, 12) == 0)
			crash(w);
		break;
	default:
		break;
	}
	pass(w);
}

static size_t worlds = WORLDS;

static void sizes_keep_their_word(void **state)
{
	static struct world w;
	size_t grown = 0, gave = 0, to_window = 0, stopped = 0, adopted = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= worlds; seed++) {
		make_world(&w, seed);
		for (int i = 0; i < STEPS; i++)
			step(&w);
		rest(&w);
		grown += w.grown;
		gave += w.gave;
		to_window += w.gave_to_window;
		stopped += w.stopped;
		adopted += w.adopted;
		queue_free(w.q);
	}
	print_message(
		"%zu grew, %zu gave pods, %zu of them to windows, %zu were stopped, %zu were adopted\n",
		grown, gave, to_window, stopped, adopted);
	assert_true(grown > worlds && gave > worlds && to_window > worlds / 2 && stopped > worlds &&
		    adopted > worlds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_keep_their_word)};
	if (argc > 1)
		worlds = strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
