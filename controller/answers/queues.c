#include "controller/answers/queues.h"

#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "controller/answers/own_queues.h"
#include "controller/write/status.h"
#include "controller/write/trouble_rows.h"
#include "sluice/quantity.h"

/* ---- ClusterQueues --------------------------------------------------------------------------- */

/* Puts a queue's runs whose pods are stuck; nothing where there are none. */
static void put_troubles(
	struct json_writer *w, const char *clusterqueue, const struct trouble_rows *r)
{
	bool any = false;
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->row[i].clusterqueue, clusterqueue) != 0)
			continue;
		if (!any)
			jw_array(w, "troubles");
		any = true;
		jw_object(w, NULL);
		jw_text(w, "reason", trouble_name(r->row[i].word));
		jw_int(w, "jobs", (int64_t)r->row[i].jobs);
		instant_put(w, "since", r->row[i].since_ms);
		jw_end(w);
	}
	if (any)
		jw_end(w);
}

/* Puts whether windows let Jobs start, and when that changes. */
static void put_window(struct json_writer *w, const struct window_view *v)
{
	jw_object(w, "open");
	jw_bool(w, "isOpen", v->open);
	instant_put(w, "until", v->until_ms);
	jw_end(w);
}

static void put_clusterqueue_spec(
	struct json_writer *w, const struct clusterqueue_view *v, bool is_reduced)
{
	static const char *const strategies[] = {[BEST_EFFORT_FIFO] = "BestEffortFIFO",
		[STRICT_FIFO] = "StrictFIFO",
		[BACKFILL] = "Backfill"};
	jw_object(w, "spec");
	jw_text(w, "queueingStrategy", strategies[v->strategy]);
	if (v->cohort && v->cohort[0] && !is_reduced)
		jw_text(w, "cohortName", v->cohort);
	if (v->has_max_priority)
		jw_int(w, "maxPriority", v->max_priority);
	if (v->grows && !is_reduced)
		jw_bool(w, "growByDefault", true);
	jw_end(w);
}

static void put_clusterqueue(struct json_writer *w, const struct clusterqueue_view *v,
	const struct report_sources *s, const struct trouble_rows *troubles)
{
	const struct counters_row *row = counters_get(s->counters, v->name);
	jw_object(w, NULL);
	jw_object_of(w, "metadata", "name", v->name, NULL);
	put_clusterqueue_spec(w, v, false);
	jw_object(w, "status");
	status_put_clusterqueue(w, v, s->fair_sharing, NULL, NULL);
	jw_end(w);
	put_window(w, &v->window);
	jw_bool(w, "exists", v->exists);
	jw_int(w, "finished", row ? (int64_t)row->finishes : 0);
	jw_int(w, "started", (int64_t)v->started_total);
	if (v->stopping > 0) {
		jw_int(w, "stopping", (int64_t)v->stopping);
		jw_int(w, "stoppingSeconds", (v->stopping_ms + 999) / 1000);
	}
	put_troubles(w, v->name, troubles);
	jw_end(w);
}

/* ---- ClusterQueues, for tenants --------------------------------------------------------------- */

static void put_reduced(struct json_writer *w, const struct clusterqueue_view *v)
{
	jw_object(w, NULL);
	jw_object_of(w, "metadata", "name", v->name, NULL);
	put_clusterqueue_spec(w, v, true);
	jw_object(w, "status");
	status_put_clusterqueue_sums(w, v);
	jw_end(w);
	put_window(w, &v->window);
	jw_bool(w, "exists", v->exists);
	jw_end(w);
}

/* Puts the namespace's own queues. */
static void put_clusterqueues_of(
	struct json_writer *w, const struct report_sources *s, const char *ns)
{
	struct clusterqueue_view c;
	struct own_queues own = own_queues_of(s->queue, ns);
	for (size_t i = 0; i < own.n; i++)
		if (queue_view_clusterqueue_named(s->queue, own.name[i], &c))
			put_reduced(w, &c);
	own_queues_done(&own);
}

/* ---- Cohorts --------------------------------------------------------------------------------- */

static void put_subtree(struct json_writer *w, const struct usage_view *u, const void *ctx)
{
	(void)ctx;
	quantity_put(w, "total", u->reserved, u->resource);
	quantity_put(w, "borrowed", u->borrowed, u->resource);
	quantity_put(w, "nominal", u->nominal, u->resource);
	quantity_put(w, "subtree", u->subtree, u->resource);
}

/* Puts the flavors, without pairs that no member has any more. */
static void put_flavors(struct json_writer *w, const struct cohort_view *v)
{
	struct usage_view *usage = mem_array(v->nusage + 1, sizeof(*usage));
	size_t n = 0;
	for (size_t i = 0; i < v->nusage; i++)
		if (v->usage[i].subtree > 0 || v->usage[i].reserved > 0)
			usage[n++] = v->usage[i];
	status_put_flavors(w, "flavors", usage, n, put_subtree, NULL);
	free(usage);
}

static void put_cohort(struct json_writer *w, const struct cohort_view *v, bool fair_sharing)
{
	jw_object(w, NULL);
	jw_object_of(w, "metadata", "name", v->name, NULL);
	jw_object_of(w, "spec", "parentName", v->parent ? v->parent : "", NULL);
	jw_object(w, "status");
	status_put_cohort(w, v, fair_sharing, NULL, NULL);
	jw_end(w);
	jw_bool(w, "exists", v->exists);
	put_flavors(w, v);
	jw_end(w);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void put_localqueue(
	struct json_writer *w, const struct localqueue_view *v, bool tells_window)
{
	jw_object(w, NULL);
	jw_object_of(w, "metadata", "namespace", v->ns, "name", v->name, NULL);
	jw_object_of(w, "spec", "clusterQueue", v->clusterqueue, NULL);
	jw_object(w, "status");
	status_put_localqueue(w, v, NULL, NULL);
	jw_end(w);
	if (tells_window)
		put_window(w, &v->window);
	jw_end(w);
}

/* Puts the LocalQueues of the namespace; "": all. */
static void put_localqueues(struct json_writer *w, const struct queue *q, const char *ns)
{
	struct localqueue_view l;
	jw_array(w, "localQueues");
	for (size_t i = *ns ? queue_first_localqueue(q, ns) : 0;
		queue_view_localqueue(q, i, &l) && (!*ns || strcmp(l.ns, ns) == 0); i++)
		put_localqueue(w, &l, !*ns || own_queues_tell(&l));
	jw_end(w);
}

static void put_classes(struct json_writer *w, const struct queue *q)
{
	static const char *const kinds[] = {
		[PRIORITY_WORKLOAD] = "WorkloadPriorityClass", [PRIORITY_POD] = "PriorityClass"};
	struct class_view c;
	jw_array(w, "classes");
	for (size_t i = 0; queue_view_class(q, i, &c); i++) {
		jw_object(w, NULL);
		jw_texts(w, "kind", kinds[c.kind], "name", c.name, NULL);
		jw_int(w, "value", c.value);
		if (c.global_default)
			jw_bool(w, "globalDefault", true);
		jw_end(w);
	}
	jw_end(w);
}

static void put_ledger(struct json_writer *w, const struct report_sources *s)
{
	int64_t down_ms = gate_ledger_down_ms(s->gate);
	jw_bool(w, "ledgerUp", s->ledger_up);
	if (!s->ledger_up && down_ms > 0)
		instant_put(w, "ledgerDownSince", down_ms);
}

static void put_clusterqueues(struct json_writer *w, const struct report_sources *s)
{
	struct clusterqueue_view c;
	struct trouble_rows troubles = trouble_rows_of(s->gate);
	for (size_t i = 0; queue_view_any_clusterqueue(s->queue, i, &c); i++)
		put_clusterqueue(w, &c, s, &troubles);
	trouble_rows_done(&troubles);
}

static void put_cohorts(struct json_writer *w, const struct report_sources *s)
{
	struct cohort_view h;
	jw_array(w, "cohorts");
	for (size_t i = 0; queue_view_cohort(s->queue, i, &h); i++)
		put_cohort(w, &h, s->fair_sharing);
	jw_end(w);
}

void queues_put(const struct report_sources *s, const char *ns, struct json_writer *w)
{
	instant_put(w, "asOf", s->now_ms);
	jw_array(w, "clusterQueues");
	if (*ns)
		put_clusterqueues_of(w, s, ns);
	else
		put_clusterqueues(w, s);
	jw_end(w);
	put_localqueues(w, s->queue, ns);
	if (!*ns) {
		put_cohorts(w, s);
		jw_int(w, "withoutQueue", (int64_t)queue_count_without_queue(s->queue));
	}
	put_classes(w, s->queue);
	put_ledger(w, s);
}
