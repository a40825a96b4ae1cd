#include "controller/answers/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "controller/write/metrics_put.h"
#include "controller/write/trouble_rows.h"
#include "queue/price/money.h"
#include "record/recorder.h"

/* ---- what is followed ------------------------------------------------------------------------ */

static void put_kinds(struct buf *out, const struct metrics_sources *s)
{
	metrics_put_family(out, METRIC_UNREADABLE_OBJECTS);
	for (size_t i = 0; i < s->nkinds; i++) {
		metrics_put_sample(out, METRIC_UNREADABLE_OBJECTS, s->kinds[i].name, NULL);
		buf_printf(out, "%" PRIu64 "\n", s->kinds[i].unreadable);
	}
	metrics_put_family(out, METRIC_WATCH_STALLED);
	for (size_t i = 0; i < s->nkinds; i++) {
		metrics_put_sample(out, METRIC_WATCH_STALLED, s->kinds[i].name, NULL);
		buf_printf(out, "%" PRId64 "\n", s->kinds[i].stalled_ms / 1000);
	}
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* True if a ClusterQueue has rows. One that is gone has rows while quota is held in it, for its
 * name was an admin's. A name for which Jobs only wait is whatever a LocalQueue says. */
static bool has_rows(const struct clusterqueue_view *v)
{
	return v->exists || v->reserving > 0;
}

static void put_queue_counts(struct buf *out, const struct queue *q)
{
	static const enum metric family[] = {METRIC_PENDING_JOBS, METRIC_RESERVING_JOBS,
		METRIC_ADMITTED_JOBS, METRIC_QUEUE_ACTIVE, METRIC_JOBS_NO_NODE_SUITS};
	for (size_t f = 0; f < sizeof(family) / sizeof(family[0]); f++) {
		metrics_put_family(out, family[f]);
		struct clusterqueue_view v;
		for (size_t i = 0; queue_view_any_clusterqueue(q, i, &v); i++) {
			if (!has_rows(&v))
				continue;
			size_t value[] = {
				v.pending, v.reserving, v.admitted, v.active, v.no_node_suits};
			metrics_put_sample(out, family[f], v.name, NULL);
			buf_printf(out, "%zu\n", value[f]);
		}
	}
}

static void put_without_queue(struct buf *out, const struct queue *q)
{
	metrics_put_value(out, METRIC_JOBS_WITHOUT_QUEUE, queue_count_without_queue(q));
}

static void put_beyond_quota(struct buf *out, const struct queue *q)
{
	const char *clusterqueue;
	size_t jobs;
	metrics_put_family(out, METRIC_JOBS_BEYOND_RESOURCE_QUOTA);
	for (size_t i = 0; queue_count_beyond_quota(q, i, &clusterqueue, &jobs); i++) {
		metrics_put_sample(out, METRIC_JOBS_BEYOND_RESOURCE_QUOTA, clusterqueue, NULL);
		buf_printf(out, "%zu\n", jobs);
	}
}

static void put_pending(struct buf *out, const struct queue *q)
{
	struct clusterqueue_view v;
	metrics_put_family(out, METRIC_PENDING_WORKLOADS);
	for (size_t i = 0; queue_view_any_clusterqueue(q, i, &v); i++) {
		if (!has_rows(&v))
			continue;
		metrics_put_sample(out, METRIC_PENDING_WORKLOADS, v.name, "active", NULL);
		buf_printf(out, "%zu\n", v.pending_active);
		metrics_put_sample(out, METRIC_PENDING_WORKLOADS, v.name, "inadmissible", NULL);
		buf_printf(out, "%zu\n", v.pending - v.pending_active);
	}
}

/* ---- cohorts and shares ---------------------------------------------------------------------- */

/* Appends a share. NaN: the queue borrows, with a weight of 0. */
static void put_share(struct buf *out, int64_t share)
{
	if (share == INT64_MAX)
		buf_puts(out, "NaN\n");
	else
		buf_printf(out, "%" PRId64 "\n", share);
}

static void put_shares(struct buf *out, const struct queue *q)
{
	struct clusterqueue_view v;
	struct cohort_view c;
	metrics_put_family(out, METRIC_CLUSTER_QUEUE_WEIGHTED_SHARE);
	for (size_t i = 0; queue_view_clusterqueue(q, i, &v); i++) {
		if (!v.cohort[0])
			continue;
		metrics_put_sample(
			out, METRIC_CLUSTER_QUEUE_WEIGHTED_SHARE, v.name, v.cohort, NULL);
		put_share(out, v.weighted_share);
	}
	metrics_put_family(out, METRIC_COHORT_WEIGHTED_SHARE);
	for (size_t i = 0; queue_view_cohort(q, i, &c); i++) {
		if (!c.parent[0])
			continue;
		metrics_put_sample(out, METRIC_COHORT_WEIGHTED_SHARE, c.name, NULL);
		put_share(out, c.weighted_share);
	}
}

static void put_usage_of_localqueues(struct buf *out, const struct queue *q)
{
	struct localqueue_view v;
	metrics_put_family(out, METRIC_LOCAL_QUEUE_USAGE);
	for (size_t i = 0; queue_view_localqueue(q, i, &v); i++) {
		if (v.fair_usage <= 0)
			continue;
		metrics_put_sample(
			out, METRIC_LOCAL_QUEUE_USAGE, v.ns, v.name, v.clusterqueue, NULL);
		buf_printf(out, "%.3f\n", v.fair_usage < 1e15 ? v.fair_usage : 1e15);
	}
}

/* Appends an amount. cpu is counted in thousandths, and dashboards want cores. */
static void put_amount(struct buf *out, int64_t amount, const char *resource)
{
	if (strcmp(resource, "cpu") == 0)
		buf_printf(out, "%" PRId64 ".%03d\n", amount / 1000, (int)(amount % 1000));
	else
		buf_printf(out, "%" PRId64 "\n", amount);
}

static void put_cohorts(struct buf *out, const struct queue *q)
{
	static const enum metric family[] = {
		METRIC_COHORT_SUBTREE_QUOTA, METRIC_COHORT_SUBTREE_RESERVATIONS};
	for (size_t f = 0; f < 2; f++) {
		struct cohort_view v;
		metrics_put_family(out, family[f]);
		for (size_t i = 0; queue_view_cohort(q, i, &v); i++)
			for (size_t k = 0; k < v.nusage; k++) {
				const struct usage_view *u = &v.usage[k];
				metrics_put_sample(
					out, family[f], v.name, u->flavor, u->resource, NULL);
				put_amount(out, f ? u->reserved : u->subtree, u->resource);
			}
	}
}

static void put_quota_row(struct buf *out, const char *clusterqueue, const struct usage_view *u)
{
	const char *const kinds[] = {
		"nominal", "reserved", "used", "borrowed", "borrowing_limit", "lending_limit"};
	const int64_t amounts[] = {u->nominal, u->reserved, u->used, u->borrowed,
		u->borrowing_limit, u->lending_limit};
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		if (amounts[k] == QUOTA_UNLIMITED)
			continue;
		metrics_put_sample(
			out, METRIC_QUOTA, clusterqueue, u->flavor, u->resource, kinds[k], NULL);
		put_amount(out, amounts[k], u->resource);
	}
}

static void put_quota(struct buf *out, const struct queue *q)
{
	metrics_put_family(out, METRIC_QUOTA);
	struct clusterqueue_view v;
	for (size_t i = 0; queue_view_any_clusterqueue(q, i, &v); i++)
		for (size_t u = 0; u < v.nusage; u++)
			put_quota_row(out, v.name, &v.usage[u]);
}

static void put_cause(struct buf *out, enum metric m, const struct counters_cause *c)
{
	metrics_put_sample(out, m, c->clusterqueue, c->reason, NULL);
	buf_printf(out, "%" PRIu64 "\n", c->count);
}

static void put_causes(struct buf *out, const struct counters *t)
{
	const struct counters_cause *c;
	metrics_put_family(out, METRIC_EVICTED_WORKLOADS);
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_EVICTIONS, i)); i++)
		put_cause(out, METRIC_EVICTED_WORKLOADS, c);
	metrics_put_family(out, METRIC_REQUEUED_WORKLOADS);
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_EVICTIONS, i)); i++)
		if (c->waits_again)
			put_cause(out, METRIC_REQUEUED_WORKLOADS, c);
	metrics_put_family(out, METRIC_PREEMPTED_WORKLOADS);
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_PREEMPTIONS, i)); i++)
		put_cause(out, METRIC_PREEMPTED_WORKLOADS, c);
}

static void put_trouble_total(struct buf *out, const struct counters *t)
{
	const struct counters_cause *c;
	metrics_put_family(out, METRIC_JOB_TROUBLES);
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_TROUBLES, i)); i++)
		put_cause(out, METRIC_JOB_TROUBLES, c);
}

static void put_trouble_now(struct buf *out, const struct gate *g)
{
	struct trouble_rows r = trouble_rows_of(g);
	metrics_put_family(out, METRIC_JOBS_IN_TROUBLE);
	for (size_t i = 0; i < r.n; i++) {
		metrics_put_sample(out, METRIC_JOBS_IN_TROUBLE, r.row[i].clusterqueue,
			trouble_name(r.row[i].word), NULL);
		buf_printf(out, "%zu\n", r.row[i].jobs);
	}
	trouble_rows_done(&r);
}

static void put_loss(struct buf *out, const char *clusterqueue, const char *reason, uint64_t ms)
{
	metrics_put_sample(out, METRIC_WORK_LOST, clusterqueue, reason, NULL);
	buf_printf(out, "%" PRIu64 ".%03d\n", ms / 1000, (int)(ms % 1000));
}

/* Puts the losses. A window that closes may throw away in one moment what the alert is about.
 * increase() of Prometheus does not see what a series begins with, so each begins with 0 when its
 * ClusterQueue does. */
static void put_losses(struct buf *out, const struct queue *q, const struct counters *t)
{
	const struct counters_cause *c;
	metrics_put_family(out, METRIC_WORK_LOST);
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_LOSSES, i)); i++)
		put_loss(out, c->clusterqueue, c->reason, c->count);
	struct clusterqueue_view v;
	for (size_t i = 0; queue_view_clusterqueue(q, i, &v); i++) {
		const struct counters_row *r = counters_get(t, v.name);
		if (r && r->has_losses)
			continue;
		for (enum stop_reason s = STOP_REASON_NONE + 1; *stop_reason_name(s); s++)
			put_loss(out, v.name, stop_reason_name(s), 0);
	}
}

/* Puts the costs. A cost may be negative where the price is; then the sum goes back, which
 * dashboards take for a restart. So what is paid back is not counted here: bills have it. */
static void put_costs(struct buf *out, const struct counters *t)
{
	const struct counters_cause *c;
	char text[MONEY_TEXT_SIZE];
	metrics_put_family(out, METRIC_COST);
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_COSTS, i)); i++) {
		metrics_put_sample(out, METRIC_COST, c->clusterqueue, c->reason, NULL);
		money_format((int64_t)c->count, text);
		buf_printf(out, "%s\n", text);
	}
}

/* Puts a histogram for each ClusterQueue that exists, of zeros until its first start, which
 * increase() would not see otherwise; and for one that is gone, if Jobs were started in it. A
 * standby starts none, and tells no zeros. */
static void put_waits(struct buf *out, const struct metrics_sources *s)
{
	const struct counters *t = s->counters;
	const struct counters_row *r;
	struct clusterqueue_view v;
	struct histogram none;
	counters_no_waits(&none);
	metrics_put_family(out, METRIC_ADMISSION_WAIT);
	for (size_t i = 0; (r = counters_at(t, i)); i++)
		if (r->admissions > 0)
			histogram_render(&r->waits, METRIC_ADMISSION_WAIT, r->clusterqueue, out);
	for (size_t i = 0; s->decides && queue_view_clusterqueue(s->queue, i, &v); i++) {
		r = counters_get(t, v.name);
		if (!r || r->admissions == 0)
			histogram_render(&none, METRIC_ADMISSION_WAIT, v.name, out);
	}
}

static void put_counters(struct buf *out, const struct metrics_sources *s)
{
	const struct counters *t = s->counters;
	static const enum metric family[] = {METRIC_ADMISSIONS, METRIC_FINISHES, METRIC_STOPS};
	for (size_t f = 0; f < 3; f++) {
		metrics_put_family(out, family[f]);
		const struct counters_row *r;
		for (size_t i = 0; (r = counters_at(t, i)); i++) {
			uint64_t value[] = {r->admissions, r->finishes, r->stops};
			metrics_put_sample(out, family[f], r->clusterqueue, NULL);
			buf_printf(out, "%" PRIu64 "\n", value[f]);
		}
	}
	put_causes(out, t);
	put_trouble_total(out, t);
	put_losses(out, s->queue, t);
	put_costs(out, t);
	put_waits(out, s);
	metrics_put_family(out, METRIC_DECISION_DURATION);
	histogram_render(counters_passes(t), METRIC_DECISION_DURATION, NULL, out);
}

/* ---- gate, ledger, API server ---------------------------------------------------------------- */

static void put_phases(struct buf *out, const struct gate_counts *c)
{
	static const char *const phases[] = {"waiting", "reserving", "starting", "fencing",
		"running", "stopping", "draining", "evicting"};
	metrics_put_family(out, METRIC_GATE_JOBS);
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		metrics_put_sample(out, METRIC_GATE_JOBS, phases[i], NULL);
		buf_printf(out, "%zu\n", c->by_phase[i]);
	}
}

static void put_mass_stop(struct buf *out, const struct gate *g)
{
	struct gate_mass_stop mass = {0};
	gate_mass_stop(g, &mass);
	metrics_put_value(out, METRIC_MASS_STOP_PENDING, mass.jobs);
}

/* Puts the gauges of Jobs, which the leader alone has, as those of queues. */
static void put_jobs(struct buf *out, const struct gate *g, const struct gate_counts *c)
{
	put_phases(out, c);
	put_trouble_now(out, g);
	put_mass_stop(out, g);
}

static void put_gate(struct buf *out, const struct metrics_sources *s)
{
	struct gate_counts c;
	gate_count(s->gate, &c);
	if (s->decides)
		put_jobs(out, s->gate, &c);
	metrics_put_value(out, METRIC_LEADER, gate_leading(s->gate));
	metrics_put_value(out, METRIC_LEADER_EPOCH, (uint64_t)gate_epoch(s->gate));
	metrics_put_value(out, METRIC_SYNCED, s->synced);
	put_kinds(out, s);
	metrics_put_value(out, METRIC_LEDGER_UP, s->ledger_up);
	metrics_put_value(out, METRIC_LEDGER_QUEUED_OPERATIONS, c.queued_operations);
	metrics_put_value(out, METRIC_LEDGER_OPERATIONS, c.operations);
	metrics_put_value(out, METRIC_LEDGER_BATCHES, c.batches);
	metrics_put_value(out, METRIC_CALL_OFFS, c.voids);
	metrics_put_value(out, METRIC_REFUSALS, c.refusals);
	metrics_put_value(out, METRIC_REFUSED_JOBS_HELD, c.held);
	metrics_put_value(out, METRIC_NEVER_STARTING_JOBS_HELD, c.never_held);
	metrics_put_value(out, METRIC_NEVER_STARTING_JOBS_DELETED, c.never_deleted);
}

static void put_record(struct buf *out, const struct recorder *r)
{
	struct recorder_state s = recorder_state(r);
	if (!r)
		return;
	metrics_put_value(out, METRIC_RECORDING, s.recording);
	metrics_put_value(out, METRIC_RECORD_LINES, s.lines);
	metrics_put_value(out, METRIC_RECORD_BYTES, s.bytes);
}

static void put_api(struct buf *out, const struct kube_client_stats *api)
{
	metrics_put_family(out, METRIC_API_REQUESTS);
	for (size_t i = 0; i < api->counts; i++) {
		char code[16];
		snprintf(code, sizeof(code), "%d", api->count[i].code);
		metrics_put_sample(out, METRIC_API_REQUESTS, kube_method_name(api->count[i].method),
			code, NULL);
		buf_printf(out, "%" PRIu64 "\n", api->count[i].count);
	}
	metrics_put_value(out, METRIC_API_REQUESTS_IN_FLIGHT, api->in_flight);
	metrics_put_value(out, METRIC_API_REQUESTS_QUEUED, api->queued);
}

/* ---- forecasts ------------------------------------------------------------------------------- */

static void put_forecasts(struct buf *out, const struct forecasts_counts *c)
{
	metrics_put_value(out, METRIC_FORECAST_PLAYS, c->plays);
	metrics_put_value(out, METRIC_FORECAST_FAILURES, c->failures);
	metrics_put_family(out, METRIC_FORECAST_CPU);
	metrics_put_sample(out, METRIC_FORECAST_CPU, NULL);
	buf_printf(out, "%" PRId64 ".%06d\n", c->cpu_us / 1000000, (int)(c->cpu_us % 1000000));
	metrics_put_family(out, METRIC_FORECAST_AGE);
	if (c->age_ms < 0)
		return;
	metrics_put_sample(out, METRIC_FORECAST_AGE, NULL);
	buf_printf(out, "%" PRId64 ".%03d\n", c->age_ms / 1000, (int)(c->age_ms % 1000));
}

/* ---- the process ----------------------------------------------------------------------------- */

static uint64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long size, resident = 0;
	if (f) {
		if (fscanf(f, "%lu %lu", &size, &resident) != 2)
			resident = 0;
		fclose(f);
	}
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_process(struct buf *out, const struct queue *q)
{
	metrics_put_value(out, METRIC_QUEUE_MEMORY, queue_memory_bytes(q));
	metrics_put_value(out, METRIC_RESIDENT_MEMORY, resident_bytes());
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	metrics_put_family(out, METRIC_PROCESS_CPU);
	metrics_put_sample(out, METRIC_PROCESS_CPU, NULL);
	buf_printf(out, "%.6f\n",
		(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
	metrics_put_family(out, METRIC_BUILD);
	metrics_put_sample(out, METRIC_BUILD, SLUICE_VERSION, NULL);
	buf_puts(out, "1\n");
}

/* Puts the gauges of queues, which the leader alone has: a standby does not know what holds quota,
 * and would count a running Job as one that waits. */
static void put_queues(struct buf *out, const struct metrics_sources *s)
{
	put_queue_counts(out, s->queue);
	put_without_queue(out, s->queue);
	put_beyond_quota(out, s->queue);
	put_pending(out, s->queue);
	put_quota(out, s->queue);
	put_cohorts(out, s->queue);
	if (s->fair_sharing)
		put_shares(out, s->queue);
	put_usage_of_localqueues(out, s->queue);
	metrics_put_time(out, s->queue);
}

static void put_refusals(struct buf *out, const struct metrics_sources *s)
{
	metrics_put_family(out, METRIC_NODE_AGENTS_REFUSED);
	for (size_t i = 0; i < s->nrefusals; i++) {
		metrics_put_sample(out, METRIC_NODE_AGENTS_REFUSED, s->refusals[i].reason, NULL);
		buf_printf(out, "%" PRIu64 "\n", s->refusals[i].count);
	}
}

void metrics_render(const struct metrics_sources *s, struct buf *out)
{
	if (s->decides)
		put_queues(out, s);
	put_counters(out, s);
	overcommit_controller_put_metrics(s->overcommit_controller, out);
	put_refusals(out, s);
	put_gate(out, s);
	metrics_put_value(out, METRIC_EVENTS, s->events.written);
	metrics_put_value(out, METRIC_EVENTS_DROPPED, s->events.dropped);
	put_forecasts(out, &s->forecasts);
	put_record(out, s->recorder);
	put_api(out, s->api);
	put_process(out, s->queue);
	buf_puts(out, "# EOF\n");
}
