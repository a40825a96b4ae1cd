#include "controller/answers/queues.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/answers/members.h"
#include "controller/write/status.h"
#include "controller/write/trouble_rows.h"

static void put_resource(struct json_writer *w, const struct usage_view *u, const void *ctx)
{
	(void)ctx;
	quantity_put(w, "nominal", u->nominal, u->resource);
	quantity_put(w, "reserved", u->reserved, u->resource);
	quantity_put(w, "used", u->used, u->resource);
	if (u->borrowed > 0)
		quantity_put(w, "borrowed", u->borrowed, u->resource);
	if (u->subtree != u->nominal) {
		quantity_put(w, "subtree", u->subtree, u->resource);
		jw_int(w, "subtreeUnits", u->subtree);
	}
	jw_int(w, "nominalUnits", u->nominal);
	jw_int(w, "reservedUnits", u->reserved);
	jw_int(w, "usedUnits", u->used);
}

static void put_flavors(struct buf *out, const struct usage_view *usage, size_t n)
{
	struct json_writer w = json_writer(out);
	buf_puts(out, ",\"flavors\":");
	status_put_flavors(&w, NULL, usage, n, put_resource, NULL);
}

/* Of one below a Cohort. */
static void put_share(struct buf *out, bool fair_sharing, const char *above, int64_t share)
{
	if (!fair_sharing || !above[0])
		return;
	if (share == INT64_MAX)
		put_member_bool(out, "borrowsWithoutWeight", true);
	else
		buf_printf(out, ",\"weightedShare\":%" PRId64, share);
}

static void put_trouble_row(struct buf *out, const struct trouble_row *row, bool names)
{
	buf_puts(out, "{\"reason\":");
	buf_json_string(out, trouble_name(row->word));
	buf_printf(out, ",\"jobs\":%zu", row->jobs);
	put_member(out, "namespace", names ? row->ns : "");
	put_member(out, "job", names ? row->name : "");
	put_member_time(out, "since", row->since_ms);
	buf_putc(out, '}');
}

/* Its runs whose pods are stuck; nothing where there are none. */
static void put_trouble_rows(
	struct buf *out, const char *clusterqueue, const struct trouble_rows *r, bool names)
{
	const char *before = ",\"troubles\":[";
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->row[i].clusterqueue, clusterqueue) != 0)
			continue;
		buf_puts(out, before);
		put_trouble_row(out, &r->row[i], names);
		before = ",";
	}
	if (strcmp(before, ",") == 0)
		buf_putc(out, ']');
}

/* Behind "active". */
static void put_condition(
	struct buf *out, const char *reason, const char *message, const char *invalid)
{
	put_member(out, "reason", reason);
	put_member(out, "message", message);
	if (invalid)
		put_member(out, "invalid", invalid);
}

static void put_clusterqueue(struct buf *out, const struct clusterqueue_view *v,
	const struct metrics_sources *m, const struct trouble_rows *troubles, bool names)
{
	const struct counters_row *row = counters_get(m->counters, v->name);
	buf_puts(out, "{\"name\":");
	buf_json_string(out, v->name);
	static const char *const strategies[] = {[BEST_EFFORT_FIFO] = "BestEffortFIFO",
		[STRICT_FIFO] = "StrictFIFO",
		[BACKFILL] = "Backfill"};
	put_member(out, "strategy", strategies[v->strategy]);
	put_member(out, "cohort", v->cohort);
	put_share(out, m->fair_sharing, v->cohort, v->weighted_share);
	if (v->has_max_priority)
		buf_printf(out, ",\"maxPriority\":%" PRId32, v->max_priority);
	if (v->grows)
		put_member_bool(out, "growByDefault", true);
	put_member_bool(out, "active", v->active);
	put_member_bool(out, "exists", v->exists);
	put_condition(out, v->reason, v->message, v->invalid);
	put_trouble_rows(out, v->name, troubles, names);
	if (v->stopping > 0)
		buf_printf(out, ",\"stopping\":%zu,\"stoppingSeconds\":%" PRId64, v->stopping,
			(v->stopping_ms + 999) / 1000);
	buf_printf(out,
		",\"pending\":%zu,\"reserving\":%zu,\"admitted\":%zu,\"finished\":%" PRIu64
		",\"started\":%" PRIu64,
		v->pending, v->reserving, v->admitted, row ? row->finishes : 0, v->started_total);
	put_flavors(out, v->usage, v->nusage);
	buf_putc(out, '}');
}

/* Without the rows of pairs that no member has any more. */
static void put_flavors_of_cohort(struct buf *out, const struct cohort_view *v)
{
	struct usage_view *usage = mem_array(v->nusage + 1, sizeof(*usage));
	size_t n = 0;
	for (size_t i = 0; i < v->nusage; i++)
		if (v->usage[i].subtree > 0 || v->usage[i].reserved > 0)
			usage[n++] = v->usage[i];
	put_flavors(out, usage, n);
	free(usage);
}

static void put_cohort(struct buf *out, const struct cohort_view *v, bool fair_sharing)
{
	buf_puts(out, "{\"name\":");
	buf_json_string(out, v->name);
	put_member(out, "parent", v->parent);
	put_share(out, fair_sharing, v->parent, v->weighted_share);
	put_member_bool(out, "exists", v->exists);
	put_member_bool(out, "active", v->active);
	put_condition(out, v->reason, v->message, v->invalid);
	put_flavors_of_cohort(out, v);
	buf_putc(out, '}');
}

static void put_cohorts(struct buf *out, const struct queue *q, bool fair_sharing)
{
	struct cohort_view v;
	buf_puts(out, ",\"cohorts\":[");
	for (size_t i = 0; queue_view_cohort(q, i, &v); i++) {
		if (i > 0)
			buf_putc(out, ',');
		put_cohort(out, &v, fair_sharing);
	}
	buf_putc(out, ']');
}

static void put_localqueue(struct buf *out, const struct localqueue_view *v)
{
	buf_puts(out, "{\"namespace\":");
	buf_json_string(out, v->ns);
	put_member(out, "name", v->name);
	put_member(out, "clusterQueue", v->clusterqueue);
	put_member_bool(out, "active", v->active);
	put_condition(out, v->reason, v->message, v->invalid);
	buf_printf(out, ",\"pending\":%zu,\"reserving\":%zu,\"admitted\":%zu}", v->pending,
		v->reserving, v->admitted);
}

struct http_reply queues_answer(const struct api_sources *s, bool names, struct buf *out)
{
	const struct queue *q = s->metrics.queue;
	struct clusterqueue_view c;
	struct localqueue_view l;
	struct trouble_rows troubles = trouble_rows_of(s->metrics.gate);
	buf_puts(out, "{\"clusterQueues\":[");
	for (size_t i = 0; queue_view_any_clusterqueue(q, i, &c); i++) {
		if (i > 0)
			buf_putc(out, ',');
		put_clusterqueue(out, &c, &s->metrics, &troubles, names);
	}
	trouble_rows_done(&troubles);
	buf_puts(out, "],\"localQueues\":[");
	for (size_t i = 0; queue_view_localqueue(q, i, &l); i++) {
		if (i > 0)
			buf_putc(out, ',');
		put_localqueue(out, &l);
	}
	buf_putc(out, ']');
	put_cohorts(out, q, s->metrics.fair_sharing);
	buf_printf(out, ",\"withoutQueue\":%zu", queue_count_without_queue(q));
	put_member_bool(out, "leading", gate_leading(s->metrics.gate));
	put_member_bool(out, "ledgerUp", s->metrics.ledger_up);
	int64_t down_ms = gate_ledger_down_ms(s->metrics.gate);
	if (!s->metrics.ledger_up && down_ms > 0)
		put_member_time(out, "ledgerDownSince", down_ms);
	put_member_bool(out, "synced", s->metrics.synced);
	buf_puts(out, "}\n");
	return (struct http_reply){200, "application/json"};
}
