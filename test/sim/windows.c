#include "test/sim/windows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/calendar/zone.h"
#include "test/sim/cut_short.h"
#include "test/sim/min_run.h"
#include "test/sim/sim.h"
#include "test/sim/take_back.h"
#include "test/sim/window_quota.h"

#define MINUTE_MS INT64_C(60000)
#define DAY_MINUTES 1440
#define CURRENCY "EUR"

const char *const calendar_names[CALENDARS] = {"minutes", "days"};
static const char *const runpolicy_names[RUNPOLICIES] = {"first", "second", "third"};
static const char *const plan_names[PLANS] = {"plan"};
const char *const budget_names[BUDGETS] = {"one", "other"};

/* ---- Admins ------------------------------------------------------------------------------------
 */

static void draw_calendar(struct sim *s, struct config *c)
{
	static const int periods[] = {2, 3, 4, 5, 6, 10};
	c->broken = rng_odds(&s->rng, 1000);
	c->offset_minutes = (int)rng_between(&s->rng, -4, 4) * 60;
	c->by_days = c->index == 1 || rng_odds(&s->rng, 2000);
	c->period = periods[rng_between(&s->rng, 0, 5)];
	c->length = (int)rng_between(&s->rng, 1, c->period - 1);
	/* Near ten o'clock in UTC, when worlds begin. */
	c->from_minute = (int)rng_between(&s->rng, 0, 23) * 60 + (int)rng_between(&s->rng, 0, 59);
	c->to_minute = rng_odds(&s->rng, 5000)
			       ? (c->from_minute + (int)rng_between(&s->rng, 1, 700)) % DAY_MINUTES
			       : 600 + c->offset_minutes + (int)rng_between(&s->rng, 0, 12);
	c->to_minute = (c->to_minute + DAY_MINUTES) % DAY_MINUTES;
	if (c->to_minute == c->from_minute)
		c->to_minute = (c->from_minute + 1) % DAY_MINUTES;
	window_quota_draw_calendar(s, c);
}

static void draw_runpolicy(struct sim *s, struct config *c)
{
	static const enum start_fit fits[] = {FIT_PREFER, FIT_REQUIRE, FIT_REQUIRE, FIT_IGNORE};
	c->calendar = (size_t)rng_between(&s->rng, 0, CALENDARS - 1);
	c->queues = (unsigned)rng_between(&s->rng, 0, (1 << CLUSTERQUEUES) - 1);
	c->localqueue = rng_odds(&s->rng, 4000) || c->queues == 0
				? (int)rng_between(&s->rng, 0, LOCALQUEUES - 1)
				: -1;
	c->fit = fits[rng_between(&s->rng, 0, 3)];
	c->hold_unknown = rng_odds(&s->rng, 3000);
	c->margin = rng_odds(&s->rng, 3000) ? (int32_t)rng_between(&s->rng, 1, 1000) : 0;
	c->suspends = rng_odds(&s->rng, 7000);
	c->at_price_rise = rng_odds(&s->rng, 5000);
	c->notice_ms = rng_odds(&s->rng, 6000) ? rng_between(&s->rng, 1, 120) * 1000 : 0;
	c->overrun_ms = rng_odds(&s->rng, 3000) ? rng_between(&s->rng, 1, 60) * 1000 : 0;
	c->min_run_ms = rng_odds(&s->rng, 3000) ? rng_between(&s->rng, 1, 60) * 1000 : 0;
	c->suspensions = rng_odds(&s->rng, 4000) ? (int32_t)rng_between(&s->rng, 0, 3) : -1;
	window_quota_draw(s, c);
}

static void draw_plan(struct sim *s, struct config *c)
{
	c->price = rng_between(&s->rng, 1, 400) * 1000000; /* a core's hour: worlds are short */
	c->factor = rng_between(&s->rng, 0, 30) * 100000;
	c->calendar = (size_t)rng_between(&s->rng, 0, CALENDARS - 1);
	c->queues = rng_odds(&s->rng, 7000)
			    ? 0
			    : (unsigned)rng_between(&s->rng, 1, (1 << CLUSTERQUEUES) - 1);
}

static void draw_budget(struct sim *s, struct config *c)
{
	static const enum budget_exhausted ends[] = {
		EXHAUSTED_HOLD, EXHAUSTED_HOLD, EXHAUSTED_SUSPEND, EXHAUSTED_WARN};
	static const enum budget_period periods[] = {PERIOD_DAILY, PERIOD_DAILY, PERIOD_MONTHLY};
	c->price = rng_skewed(&s->rng, 1, 2000) * 1000000;
	c->exhausted = ends[rng_between(&s->rng, 0, 3)];
	c->budget_period = periods[rng_between(&s->rng, 0, 2)];
	c->actual = rng_odds(&s->rng, 5000);
	c->offset_minutes = (int)rng_between(&s->rng, -14, 14) * 60;
	c->clusterqueue = (size_t)rng_between(&s->rng, 0, CLUSTERQUEUES - 1);
}

static void draw(struct sim *s, struct config *c)
{
	c->exists = rng_odds(&s->rng, 8500);
	if (c->kind == CONFIG_CALENDAR)
		draw_calendar(s, c);
	else if (c->kind == CONFIG_RUNPOLICY)
		draw_runpolicy(s, c);
	else if (c->kind == CONFIG_PLAN)
		draw_plan(s, c);
	else
		draw_budget(s, c);
}

static void changed(struct sim *s, struct config *c)
{
	static const char *const kinds[] = {"calendar", "runpolicy", "priceplan", "budget"};
	c->generation++;
	sim_log(s, "admin  %s %zu %s", kinds[c->kind - CONFIG_CALENDAR], c->index,
		c->exists ? "is" : "deleted");
	for (size_t i = 0; i < s->nreplicas; i++)
		replica_hear_config(s, &s->replica[i], c);
	sim_touch(s);
}

void windows_begin(struct sim *s)
{
	s->people.time = (rng_odds(&s->rng, 5000) && !s->o.lending) || s->bookings.on;
	for (enum config_kind k = CONFIG_CALENDAR; k <= CONFIG_BUDGET; k++)
		for (size_t i = 0; i < config_count(k); i++) {
			struct config *c = &s->people.config[k][i];
			draw(s, c);
			c->exists = c->exists && s->people.time;
		}
}

void windows_edit(struct sim *s)
{
	enum config_kind k = (enum config_kind)rng_between(&s->rng, CONFIG_CALENDAR, CONFIG_BUDGET);
	struct config *c =
		&s->people.config[k][rng_between(&s->rng, 0, (int64_t)config_count(k) - 1)];
	draw(s, c);
	changed(s, c);
}

void windows_calm(struct sim *s)
{
	for (size_t i = 0; i < RUNPOLICIES; i++) {
		struct config *c = &s->people.config[CONFIG_RUNPOLICY][i];
		if (!c->exists)
			continue;
		c->exists = false;
		changed(s, c);
	}
	for (size_t i = 0; i < BUDGETS; i++) {
		struct config *c = &s->people.config[CONFIG_BUDGET][i];
		c->exhausted = EXHAUSTED_WARN;
		if (c->exists)
			changed(s, c);
	}
}

/* ---- Users -------------------------------------------------------------------------------------
 */

void windows_draw_terms(struct sim *s, struct snap *n)
{
	struct job *j = &n->job;
	struct job_terms *t = &j->terms;
	static const char *const families[] = {"", "CronJob/nightly", "sweep-"};
	t->max_price_resource = "";
	if (!s->people.time)
		return;
	j->family = families[rng_between(&s->rng, 0, 2)];
	if (rng_odds(&s->rng, 6000))
		j->durations.expected_ms = rng_skewed(&s->rng, 1, 240) * 1000;
	if (rng_odds(&s->rng, 500))
		t->start_after_ms = s->now_ms + rng_between(&s->rng, 1, 120000);
	if (rng_odds(&s->rng, 800))
		t->deadline_ms = s->now_ms + rng_between(&s->rng, 1, 600000);
	/* No price without a deadline: among weeks of windows of minutes that is looked for longer than a
	 * seed has time. Cheapest is drawn by bookings.h. */
	t->has_max_price = t->deadline_ms > 0 && rng_odds(&s->rng, 5000);
	if (!t->has_max_price)
		return;
	t->max_price = rng_between(&s->rng, 1, 400) * 1000000;
	t->max_price_resource = "cpu";
}

/* ---- A queue is told ---------------------------------------------------------------------------
 */

static struct zone *zone_plus(int offset_minutes, int seconds)
{
	struct zone_span span = {INT64_MIN, offset_minutes * 60 + seconds, "SIM", 0};
	return zone_new("Sim/Zone", &span, 1);
}

static void set_calendar(struct sim *s, struct queue *q, const struct config *c)
{
	char cron[32];
	struct err e = {""};
	/* A planted fault: local times are taken for UTC. */
	struct zone *zone =
		zone_plus(s->o.bug == BUG_ZONE_IGNORED ? 0 : c->offset_minutes, c->offset_s);
	snprintf(cron, sizeof(cron), "*/%d * * * *", c->period);
	struct window_spec w[2] = {{.name = WINDOW_NAME,
					   .shape = c->by_days ? WINDOW_DAYS : WINDOW_CRON,
					   .days = 0x7f,
					   .from_minute = c->from_minute,
					   .to_minute = c->to_minute,
					   .cron = cron,
					   .duration_s = c->length * 60},
		{.name = "rest", .shape = WINDOW_DAYS, .days = 0x7f, .to_minute = DAY_MINUTES}};
	struct calendar_spec spec = {.name = calendar_names[c->index],
		.generation = c->generation,
		.time_zone = "Sim/Zone",
		.zone = zone,
		.window = w,
		.nwindows = c->never_closes ? 2 : 1};
	if (c->broken)
		queue_reject_calendar(q, spec.name, "nobody can read it");
	else
		must(queue_set_calendar(q, &spec, &e) == 0);
	zone_free(zone);
}

static size_t name_queues(unsigned queues, const char *ret[CLUSTERQUEUES])
{
	size_t n = 0;
	for (size_t i = 0; i < CLUSTERQUEUES; i++)
		if (queues >> i & 1)
			ret[n++] = clusterqueue_names[i];
	return n;
}

static void set_runpolicy(struct queue *q, const struct config *c)
{
	const char *queues[CLUSTERQUEUES], *localqueue;
	struct window_quota_spec quota[FLAVORS];
	char local[64];
	bool again;
	struct err e = {""};
	localqueue = local;
	if (c->localqueue >= 0)
		snprintf(local, sizeof(local), "%s/%s",
			namespace_names[localqueue_namespace((size_t)c->localqueue)],
			localqueue_names[c->localqueue]);
	struct runpolicy_spec spec = {.name = runpolicy_names[c->index],
		.generation = c->generation,
		.queues = queues,
		.nqueues = name_queues(c->queues, queues),
		.localqueues = &localqueue,
		.nlocalqueues = c->localqueue >= 0,
		.calendar = calendar_names[c->calendar],
		.fit = c->fit,
		.hold_unknown = c->hold_unknown,
		.margin_permille = c->margin,
		.action = c->suspends ? CLOSE_SUSPEND : CLOSE_FINISH,
		.overrun_ms = c->overrun_ms,
		.notice_ms = c->notice_ms,
		.min_run_ms = c->min_run_ms,
		.max_suspensions =
			c->suspensions < 0 ? RUNPOLICY_SUSPENSIONS_UNLIMITED : c->suspensions,
		.at_price_rise = c->at_price_rise ? CLOSE_SUSPEND : CLOSE_FINISH,
		.quota = quota,
		.nquotas = window_quota_describe(c, quota)};
	must(queue_set_runpolicy(q, &spec, &again, &e) == 0);
}

static void set_plan(struct queue *q, const struct config *c)
{
	const char *queues[CLUSTERQUEUES];
	struct err e = {""};
	struct price_base base[] = {{"cpu", false, c->price}, {"memory", true, c->price / 10}};
	struct price_rate rate = {calendar_names[c->calendar], "", c->factor};
	struct priceplan_spec spec = {.name = plan_names[c->index],
		.generation = c->generation,
		.currency = CURRENCY,
		.queues = queues,
		.nqueues = name_queues(c->queues, queues),
		.base = base,
		.nbases = 2,
		.rate = &rate,
		.nrates = 1,
		.series_configmap = "",
		.series_key = ""};
	must(queue_set_priceplan(q, &spec, &e) == 0);
}

static void set_budget(struct queue *q, const struct config *c)
{
	struct err e = {""};
	struct zone *zone = zone_plus(c->offset_minutes, 0);
	struct budget_spec spec = {.name = budget_names[c->index],
		.generation = c->generation,
		.clusterqueue = clusterqueue_names[c->clusterqueue],
		.localqueue_ns = "",
		.localqueue = "",
		.period = c->budget_period,
		.time_zone = "Sim/Zone",
		.zone = zone,
		.currency = CURRENCY,
		.amount = c->price,
		.charge = c->actual ? CHARGE_ACTUAL : CHARGE_EXPECTED,
		.on_exhausted = c->exhausted};
	must(queue_set_budget(q, &spec, &e) == 0);
	zone_free(zone);
}

void windows_set(struct sim *s, struct queue *q, const struct config *c)
{
	if (c->kind == CONFIG_CALENDAR)
		set_calendar(s, q, c);
	else if (c->kind == CONFIG_RUNPOLICY)
		set_runpolicy(q, c);
	else if (c->kind == CONFIG_PLAN)
		set_plan(q, c);
	else
		set_budget(q, c);
}

void windows_drop(struct queue *q, const struct config *c)
{
	if (c->kind == CONFIG_CALENDAR)
		queue_drop_calendar(q, calendar_names[c->index]);
	else if (c->kind == CONFIG_RUNPOLICY)
		queue_drop_runpolicy(q, runpolicy_names[c->index]);
	else if (c->kind == CONFIG_PLAN)
		queue_drop_priceplan(q, plan_names[c->index]);
	else
		queue_drop_budget(q, budget_names[c->index]);
}

/* A Calendar that cannot be read leaves the last one in force that could. */
void windows_heard(struct replica *r, const struct config *c)
{
	if (c->kind != CONFIG_CALENDAR || !c->exists || !c->broken)
		r->known[c->kind][c->index] = *c;
}

/* ---- The model ---------------------------------------------------------------------------------
 */

static int64_t floor_mod(int64_t a, int64_t b)
{
	return (a % b + b) % b;
}

bool window_is_open(const struct config *c, int64_t at_ms, int64_t *ret_closes_ms)
{
	int64_t local_ms = at_ms + c->offset_minutes * MINUTE_MS + c->offset_s * 1000;
	int64_t into_ms, length_ms;
	if (!c->exists)
		return false; /* unknown */
	if (c->by_days) {
		int64_t length = floor_mod(c->to_minute - c->from_minute, DAY_MINUTES);
		into_ms = floor_mod(local_ms - c->from_minute * MINUTE_MS, DAY_MINUTES * MINUTE_MS);
		length_ms = length * MINUTE_MS;
	} else {
		into_ms = floor_mod(local_ms, c->period * MINUTE_MS);
		length_ms = c->length * MINUTE_MS;
	}
	*ret_closes_ms = c->never_closes ? INT64_MAX : at_ms + length_ms - into_ms;
	return c->never_closes || into_ms < length_ms;
}

static bool binds(const struct config *policy, const struct explanation *x, const char *ns)
{
	if (!policy->exists)
		return false;
	for (size_t i = 0; i < CLUSTERQUEUES; i++)
		if (policy->queues >> i & 1 && strcmp(clusterqueue_names[i], x->clusterqueue) == 0)
			return true;
	return policy->localqueue >= 0 &&
	       strcmp(localqueue_names[policy->localqueue], x->localqueue) == 0 &&
	       strcmp(namespace_names[localqueue_namespace((size_t)policy->localqueue)], ns) == 0;
}

static void check_start(struct sim *s, const struct replica *r, const struct model_job *j,
	const struct explanation *x, int64_t now_ms)
{
	const char *ns = j->now->job.ns;
	int32_t margin = 0;
	for (size_t i = 0; i < RUNPOLICIES; i++)
		if (binds(&r->known[CONFIG_RUNPOLICY][i], x, ns) &&
			r->known[CONFIG_RUNPOLICY][i].fit != FIT_IGNORE &&
			r->known[CONFIG_RUNPOLICY][i].margin > margin)
			margin = r->known[CONFIG_RUNPOLICY][i].margin;
	for (size_t i = 0; i < RUNPOLICIES; i++) {
		const struct config *p = &r->known[CONFIG_RUNPOLICY][i];
		int64_t closes_ms = 0;
		if (!binds(p, x, ns))
			continue;
		sim_reach(s, PATH_START_IN_WINDOW);
		if (!window_is_open(&r->known[CONFIG_CALENDAR][p->calendar], now_ms, &closes_ms)) {
			sim_break(s, "P5",
				"%s lets %s in at %.3f by its clock: RunPolicy %s is closed",
				r->identity, j->now->job.name,
				(double)(now_ms - SIM_EPOCH_MS) / 1000.0, runpolicy_names[i]);
			continue;
		}
		if (p->fit != FIT_REQUIRE)
			continue;
		int64_t ends_ms = now_ms + x->expected_ms + x->expected_ms * margin / 1000;
		bool closes = closes_ms != INT64_MAX; /* else nothing needs to end */
		if (closes && (x->expected_ms > 0 ? ends_ms > closes_ms : p->hold_unknown))
			sim_break(s, "P5",
				"%s lets %s in, which takes %.3f s (0: unknown): RunPolicy %s "
				"closes in %.3f s and requires that it ends before",
				r->identity, j->now->job.name, (double)x->expected_ms / 1000.0,
				runpolicy_names[i], (double)(closes_ms - now_ms) / 1000.0);
	}
}

/* ---- Decisions are looked over (the linker puts this between gate and queue) -------------------
 */

static struct sim *world; /* the one that runs: a gate knows none */

size_t __real_queue_decide(
	struct queue *q, int64_t now_ms, struct decision *out, size_t cap, int64_t *ret_next_ms);
size_t __wrap_queue_decide(
	struct queue *q, int64_t now_ms, struct decision *out, size_t cap, int64_t *ret_next_ms);
size_t __wrap_queue_decide(
	struct queue *q, int64_t now_ms, struct decision *out, size_t cap, int64_t *ret_next_ms)
{
	size_t n = __real_queue_decide(q, now_ms, out, cap, ret_next_ms);
	for (size_t k = 0; k < world->nreplicas; k++) {
		struct replica *r = &world->replica[k];
		if (r->queue == q) {
			bookings_count(world, r, out, n);
			advance_check(world, r, out, n, now_ms);
		}
		for (size_t i = 0; i < n && r->queue == q; i++) {
			struct model_job *j = model_api_by_uid(&world->api, &out[i].uid);
			struct explanation x = {0};
			if (!j)
				continue;
			if (out[i].kind == DECISION_STOP &&
				out[i].reason == STOP_REASON_PREEMPTED && j->told[k] == r->life)
				sim_break(world, "P11",
					"%s is being deleted, as %s knows: expected no stop, which "
					"would do nothing",
					j->now->job.name, r->identity);
			min_run_check(world, r, &out[i], now_ms);
			cut_short_check(world, r, &out[i]);
			window_quota_check(world, r, &out[i]);
			users_check(world, r, &out[i]);
			j->decided[k].life = r->life;
			j->decided[k].kind =
				out[i].kind == DECISION_NOTICE ? j->decided[k].kind : out[i].kind;
			if (out[i].kind == DECISION_STOP &&
				out[i].reason >= STOP_REASON_WINDOW_CLOSED)
				sim_reach(world, out[i].reason == STOP_REASON_BUDGET
							 ? PATH_STOP_BY_BUDGET
							 : PATH_STOP_BY_WINDOW);
			if (out[i].kind == DECISION_START)
				j->decided[k].start_ms = now_ms;
			if (out[i].kind == DECISION_START &&
				queue_explain(q, &out[i].uid, now_ms, &x))
				check_start(world, r, j, &x, now_ms);
		}
	}
	return n;
}

void windows_check_sent(struct sim *s, const struct replica *r, const struct uid *uid)
{
	const struct model_job *j = model_api_by_uid(&s->api, uid);
	if (j && j->decided[r->index].life == r->life && j->decided[r->index].kind == DECISION_STOP)
		sim_break(s, "P5", "%s starts %s, which its queue has called off", r->identity,
			j->now->job.name);
}

void windows_watch(struct sim *s)
{
	world = s;
	take_back_begin(s);
}
