/*
 * Any bytes as a RunPolicy, a PricePlan, a Budget or an AdvanceReservation, or a list of such: a record that
 * holds what it promises and that the queue takes or refuses in words, or a sentence that is safe to
 * print.
 *
 * What the queue has taken is in force for some days over three Jobs, one of them as large as can
 * be: nothing overflows, time goes on, and what is shown can be shown.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "queue/calendar/zone.h"
#include "base/json.h"
#include "controller/wire/decode.h"
#include "queue/price/series.h"
#include "sluice/queue.h"
#include "sluice/week.h"
#include "test/fuzz/outcome.h"
#include "test/unit/queue/worlds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SPAN_MAX_MS INT64_C(31622400000) /* 366 days */
#define FACTOR_MAX INT64_C(1000000000)	 /* 1000 */
#define NOW INT64_C(1795255200000)	 /* 2026-11-21T10:00:00Z */
#define HOUR INT64_C(3600000)
#define STEPS 40
#define JOBS 3

static void check_texts(const char *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		must(*all[i]);
		check_text(all[i]);
	}
}

static void check_span(int64_t ms)
{
	must(ms >= 0 && ms <= SPAN_MAX_MS);
}

static void check_runpolicy(const struct runpolicy_spec *s)
{
	check_texts(s->queues, s->nqueues);
	check_texts(s->localqueues, s->nlocalqueues);
	must(s->nqueues + s->nlocalqueues > 0 && *s->calendar);
	must(s->margin_permille >= 0 && s->margin_permille <= 10000);
	must(s->max_suspensions >= RUNPOLICY_SUSPENSIONS_UNLIMITED);
	check_span(s->overrun_ms);
	check_span(s->notice_ms);
	check_span(s->min_run_ms);
	check_span(s->lead_ms);
	labels_match(NULL, 0, &s->exempt_selector);
	for (size_t i = 0; i < s->nquotas; i++) {
		const struct window_quota_spec *q = &s->quota[i];
		must(*q->window && *q->flavor && *q->resource);
		must(q->nominal >= 0 && q->borrowing_limit >= 0 && q->lending_limit >= 0);
		must(!q->has_lending || q->lending_limit <= q->nominal);
	}
}

static void try_runpolicy(const cJSON *o, struct queue *q)
{
	struct runpolicy_spec *s = NULL;
	struct err e = {""};
	bool again = false;
	int rc = decode_runpolicy(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s)
		check_runpolicy(s);
	if (s && queue_set_runpolicy(q, s, &again, &e) < 0)
		check_text(e.text);
	free(s);
}

static void check_priceplan(const struct priceplan_spec *s)
{
	size_t len = strlen(s->currency);
	must(len >= 3 && len <= 16 && s->nbases > 0);
	check_texts(s->queues, s->nqueues);
	for (size_t i = 0; i < s->nbases; i++) {
		check_text(s->base[i].resource);
		must(*s->base[i].resource && s->base[i].per_hour >= 0);
		must(s->base[i].per_hour <= INT64_C(1000000000000000));
		must(s->base[i].per_gib || strcmp(s->base[i].resource, "memory") != 0);
	}
	for (size_t i = 0; i < s->nflavors; i++)
		must(s->flavor[i].factor >= 0 && s->flavor[i].factor <= FACTOR_MAX);
	for (size_t i = 0; i < s->nrates; i++) {
		must(*s->rate[i].calendar);
		must(s->rate[i].factor >= 0 && s->rate[i].factor <= FACTOR_MAX);
	}
	must(s->nseries == 0 && !s->series_fault);
	must(!s->has_series || (*s->series_configmap && *s->series_key));
	must(!s->has_series || s->series_reference > 0);
	check_span(s->stale_after_ms);
}

static void try_priceplan(const cJSON *o, struct queue *q)
{
	struct priceplan_spec *s = NULL;
	struct series series;
	struct err e = {""};
	int rc = decode_priceplan(o, &s, &e);
	check_outcome(rc, s, &e);
	if (!s)
		return;
	check_priceplan(s);
	series_resolve(s, slice_of("2026-11-21T10:00:00Z 80\n2026-11-21T11:00:00Z -3"), &series);
	must((s->nseries == 2) == (s->has_series && !s->series_fault));
	if (queue_set_priceplan(q, s, &e) < 0)
		check_text(e.text);
	series_done(&series);
	free(s);
}

static void try_budget(const cJSON *o, struct queue *q)
{
	struct budget_spec *s = NULL;
	struct zone *utc = zone_utc();
	struct err e = {""};
	int rc = decode_budget(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s) {
		must(!*s->clusterqueue == (*s->localqueue && *s->localqueue_ns));
		must(!*s->localqueue == !*s->localqueue_ns);
		must(*s->time_zone && s->amount >= 0 && !s->zone);
		check_text(s->localqueue_ns);
		s->zone = utc;
		if (queue_set_budget(q, s, &e) < 0)
			check_text(e.text);
	}
	zone_free(utc);
	free(s);
}

static void check_amounts(const struct advance_amount *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check_text(all[i].flavor);
		check_text(all[i].resource);
		must(all[i].amount >= 0);
	}
}

static void check_reservation(const struct advance_reservation_spec *s)
{
	must(s->namounts > 0 && s->namounts <= ADVANCE_AMOUNTS_MAX);
	check_amounts(s->amount, s->namounts);
	for (size_t i = 0; i < s->namounts; i++)
		must(*s->amount[i].flavor && (!*s->amount[i].resource == !s->amount[i].amount));
	must(*s->calendar ? s->from_ms == 0 && s->until_ms == 0 : s->until_ms > s->from_ms);
	must(*s->clusterqueue || s->maintenance);
	must(s->nnamespaces <= ADVANCE_NAMES_MAX && s->nusers <= ADVANCE_NAMES_MAX);
	check_texts(s->namespaces, s->nnamespaces);
	check_texts(s->users, s->nusers);
	check_span(s->release_after_ms);
	must(!s->maintenance || (s->nnamespaces + s->nusers == 0 && s->release_after_ms == 0));
	must(s->nleft == 0 || s->accepted);
	check_amounts(s->left, s->nleft);
}

static void try_reservation(const cJSON *o, struct queue *q)
{
	struct advance_reservation_spec *s = NULL;
	struct err e = {""};
	int rc = decode_advance_reservation(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s)
		check_reservation(s);
	if (s && queue_set_advance_reservation(q, s, &e) < 0)
		check_text(e.text);
	free(s);
}

static void try(const cJSON *o, struct queue *q)
{
	try_runpolicy(o, q);
	try_priceplan(o, q);
	try_budget(o, q);
	try_reservation(o, q);
}

/* ---- the days that follow -------------------------------------------------------------------- */

static void add_calendar(struct queue *q)
{
	struct zone *utc = zone_utc();
	struct window_spec night = {.name = "night",
		.shape = WINDOW_DAYS,
		.days = 0x7f,
		.from_minute = 1140,
		.to_minute = 420};
	struct calendar_spec s = {
		.name = "nights", .time_zone = "UTC", .zone = utc, .window = &night, .nwindows = 1};
	must(queue_set_calendar(q, &s, NULL) == 0);
	zone_free(utc);
}

static void add_jobs(struct queue *q)
{
	static const struct resource cpu[JOBS] = {
		{"cpu", 1000}, {"cpu", INT64_MAX / 4}, {"cpu", 2000}};
	for (uint32_t i = 0; i < JOBS; i++) {
		struct container c = {.requests = {&cpu[i], 1}};
		struct job j = fixture_job(i + 1, &c);
		j.created_ms = NOW;
		j.family = "CronJob/nightly";
		j.parallelism = j.completions = i == 0 ? 4 : 1;
		j.min_parallelism = i == 0 ? 1 : 0;
		j.durations.expected_ms = i == 2 ? 0 : 5 * HOUR;
		j.terms = (struct job_terms){.cheapest = i == 0,
			.deadline_ms = i == 0 ? NOW + 60 * HOUR : 0,
			.has_max_price = i == 2,
			.max_price = 30000,
			.max_price_resource = "cpu"};
		queue_set_job(q, &j);
	}
}

static void check_steps(const struct queue_week *w, const struct week_steps *s)
{
	must(s->n <= WEEK_LOOKS_MAX && s->until_ms >= w->from_ms && s->until_ms <= w->until_ms);
	for (size_t i = 0; i < s->n; i++)
		must(s->step[i].from_ms >= (i > 0 ? s->step[i - 1].from_ms + 1 : w->from_ms) &&
			s->step[i].from_ms < s->until_ms);
}

static void look_at_week(const struct queue *q, int64_t now_ms)
{
	struct queue_week w;
	must(queue_view_week(q, "batch", now_ms, now_ms + 7 * 24 * HOUR, &w));
	for (size_t i = 0; i < w.nwindows; i++)
		check_steps(&w, &w.window[i].open);
	for (size_t i = 0; i < w.nquotas; i++)
		check_steps(&w, &w.quota[i].nominal);
	if (w.plan)
		check_steps(&w, &w.factor);
	queue_week_done(&w);
}

static void look_at_reservations(struct queue *q)
{
	struct advance_reservation_view v;
	for (size_t i = 0; queue_view_advance_reservation(q, i, &v); i++) {
		check_text(v.accepted.message);
		check_text(v.kept.message);
		for (size_t k = 0; k < v.nuse; k++) {
			const struct advance_use *u = &v.use[k];
			must(u->amount >= u->left && u->left >= 0 && u->used >= 0);
		}
	}
}

static void look(struct queue *q, int64_t now_ms)
{
	struct explanation x;
	struct run_bill bill;
	struct runpolicy_view run;
	struct priceplan_view plan;
	struct budget_view budget;
	for (uint32_t i = 1; i <= JOBS; i++) {
		struct uid uid = fixture_uid(i);
		must(queue_explain(q, &uid, now_ms, &x));
		check_text(x.sentence);
		queue_job_bill(q, &uid, now_ms, &bill);
	}
	for (size_t i = 0; queue_view_runpolicy(q, i, &run); i++)
		check_text(run.active.message);
	for (size_t i = 0; queue_view_priceplan(q, i, &plan); i++)
		check_text(plan.active.message);
	for (size_t i = 0; queue_view_budget(q, i, &budget); i++)
		check_text(budget.active.message);
	look_at_reservations(q);
	look_at_week(q, now_ms);
}

static void obey(struct queue *q, const struct decision *d, int64_t now_ms)
{
	switch (d->kind) {
	case DECISION_START:
		queue_confirm_job(q, &d->uid, now_ms);
		break;
	case DECISION_STOP:
		queue_ending_job(q, &d->uid);
		queue_release_job(q, &d->uid, now_ms, 0);
		break;
	case DECISION_SHRINK:
		must(d->pods > 0 && d->why);
		must(queue_shrink_job(q, &d->uid, d->pods, now_ms));
		break;
	case DECISION_GROW:
		queue_grew_job(q, &d->uid, now_ms);
		break;
	case DECISION_HOLD:
	case DECISION_DELETE:
		must(d->why);
		break;
	case DECISION_NOTICE:
		must(d->stop_ms >= now_ms);
	}
}

static void live(struct queue *q)
{
	int64_t now_ms = NOW, next_ms;
	struct decision d[8];
	add_calendar(q);
	add_jobs(q);
	for (int step = 0; step < STEPS; step++) {
		size_t n = queue_decide(q, now_ms, d, 8, &next_ms);
		must(next_ms > now_ms || n == 8);
		for (size_t i = 0; i < n; i++)
			obey(q, &d[i], now_ms);
		look(q, now_ms);
		struct uid first = fixture_uid(1);
		queue_reclaim_job(q, &first, 3 - step % 4, "it is wanted back");
		now_ms = next_ms < now_ms + 7 * HOUR ? next_ms : now_ms + 7 * HOUR;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *json = json_new(64 << 20);
	const cJSON *o;
	if (json_parse(json, (struct slice){(const char *)data, size}, &o, NULL) == 0) {
		struct queue *q = fixture_new(INT64_MAX / 2, INT64_MAX / 2);
		if (cJSON_IsArray(o))
			json_each(item, o)
				try(item, q);
		else
			try(o, q);
		live(q);
		queue_free(q);
	}
	json_free(json);
	return 0;
}
