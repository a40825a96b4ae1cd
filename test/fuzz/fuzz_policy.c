/* Any bytes as a RunPolicy, a PricePlan or a Budget: a record that holds what it promises and that
 * the queue takes or refuses in words, or a sentence that is safe to print. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "calendar/zone.h"
#include "controller/kube/json.h"
#include "controller/wire/decode.h"
#include "price/series.h"
#include "sluice/queue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SPAN_MAX_MS INT64_C(31622400000) /* 366 days */
#define FACTOR_MAX INT64_C(1000000000)	 /* 1000 */
#define NOW INT64_C(1795255200000)

static void check_text(const char *s)
{
	must(slice_utf8(slice_of(s)));
	for (; *s; s++)
		must((unsigned char)*s >= 0x20 && *s != 0x7f);
}

static void check_outcome(int rc, const void *record, const struct err *e)
{
	must(rc == 0 || rc == ERR_INVALID);
	must((rc == 0) == (record != NULL));
	if (rc < 0) {
		must(*e->text);
		check_text(e->text);
	}
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *json = json_new(64 << 20);
	const cJSON *o;
	if (json_parse(json, (struct slice){(const char *)data, size}, &o, NULL) == 0) {
		struct queue *q = queue_new();
		struct decision d;
		int64_t next_ms;
		try_runpolicy(o, q);
		try_priceplan(o, q);
		try_budget(o, q);
		queue_decide(q, NOW, &d, 1, &next_ms);
		must(next_ms > NOW);
		queue_free(q);
	}
	json_free(json);
	return 0;
}
