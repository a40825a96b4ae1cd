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

static void put_gauge(struct buf *out, const char *name, const char *help, uint64_t value)
{
	metrics_put_family(out, name, GAUGE, "", help);
	buf_printf(out, "%s %" PRIu64 "\n", name, value);
}

static void put_counter(struct buf *out, const char *name, const char *help, uint64_t value)
{
	metrics_put_family(out, name, COUNTER, "", help);
	buf_printf(out, "%s_total %" PRIu64 "\n", name, value);
}

/* ---- what is followed ------------------------------------------------------------------------ */

static void put_kinds(struct buf *out, const struct metrics_sources *s)
{
	metrics_put_family(out, "sluice_unreadable_objects", COUNTER, "",
		"How often an object of that kind could not be read, or was refused; it stays as it was known. The log names it (rejected).");
	for (size_t i = 0; i < s->nkinds; i++) {
		metrics_put_labelled(
			out, "sluice_unreadable_objects_total", "kind", s->kinds[i].name, NULL);
		buf_printf(out, "%" PRIu64 "\n", s->kinds[i].unreadable);
	}
	metrics_put_family(out, "sluice_watch_stalled_seconds", GAUGE, "seconds",
		"For how long that kind has not been followed; 0 while it is.");
	for (size_t i = 0; i < s->nkinds; i++) {
		metrics_put_labelled(
			out, "sluice_watch_stalled_seconds", "kind", s->kinds[i].name, NULL);
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
	static const struct {
		const char *name, *help;
	} family[] = {
		{"sluice_pending_jobs", "Jobs that wait for quota."},
		{"sluice_reserving_jobs", "Jobs that hold quota, running or not."},
		{"sluice_admitted_jobs", "Jobs that were started and have not ended."},
		{"sluice_queue_active", "1 when the ClusterQueue may start Jobs."},
		{"sluice_jobs_no_node_suits",
			"Jobs that wait because no node of the cluster could ever run their pods."},
	};
	for (size_t f = 0; f < sizeof(family) / sizeof(family[0]); f++) {
		metrics_put_family(out, family[f].name, GAUGE, "", family[f].help);
		struct clusterqueue_view v;
		for (size_t i = 0; queue_view_any_clusterqueue(q, i, &v); i++) {
			if (!has_rows(&v))
				continue;
			size_t value[] = {
				v.pending, v.reserving, v.admitted, v.active, v.no_node_suits};
			metrics_put_labelled(out, family[f].name, "cluster_queue", v.name, NULL);
			buf_printf(out, "%zu\n", value[f]);
		}
	}
}

static void put_without_queue(struct buf *out, const struct queue *q)
{
	put_gauge(out, "sluice_jobs_without_queue",
		"Jobs that wait for a LocalQueue that does not exist, or whose ClusterQueue does not.",
		queue_count_without_queue(q));
}

static void put_beyond_quota(struct buf *out, const struct queue *q)
{
	const char *clusterqueue;
	size_t jobs;
	metrics_put_family(out, "sluice_jobs_beyond_resource_quota", GAUGE, "",
		"Jobs that wait though the ResourceQuotas of their namespace would never let their pods in, however little of them is used.");
	for (size_t i = 0; queue_count_beyond_quota(q, i, &clusterqueue, &jobs); i++) {
		metrics_put_labelled(out, "sluice_jobs_beyond_resource_quota", "cluster_queue",
			clusterqueue, NULL);
		buf_printf(out, "%zu\n", jobs);
	}
}

static void put_pending(struct buf *out, const struct queue *q)
{
	struct clusterqueue_view v;
	metrics_put_family(out, "sluice_pending_workloads", GAUGE, "",
		"Jobs that wait: active ones might start now, inadmissible ones are held, backing off, in a stopped queue or misconfigured.");
	for (size_t i = 0; queue_view_any_clusterqueue(q, i, &v); i++) {
		if (!has_rows(&v))
			continue;
		metrics_put_labelled(out, "sluice_pending_workloads", "cluster_queue", v.name,
			"status", "active", NULL);
		buf_printf(out, "%zu\n", v.pending_active);
		metrics_put_labelled(out, "sluice_pending_workloads", "cluster_queue", v.name,
			"status", "inadmissible", NULL);
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
	metrics_put_family(out, "sluice_cluster_queue_weighted_share", GAUGE, "",
		"What it borrows in thousandths of what its cohort lends, by its weight.");
	for (size_t i = 0; queue_view_clusterqueue(q, i, &v); i++) {
		if (!v.cohort[0])
			continue;
		metrics_put_labelled(out, "sluice_cluster_queue_weighted_share", "cluster_queue",
			v.name, "cohort", v.cohort, NULL);
		put_share(out, v.weighted_share);
	}
	metrics_put_family(out, "sluice_cohort_weighted_share", GAUGE, "",
		"The same of a Cohort that has a parent.");
	for (size_t i = 0; queue_view_cohort(q, i, &c); i++) {
		if (!c.parent[0])
			continue;
		metrics_put_labelled(out, "sluice_cohort_weighted_share", "cohort", c.name, NULL);
		put_share(out, c.weighted_share);
	}
}

static void put_usage_of_localqueues(struct buf *out, const struct queue *q)
{
	struct localqueue_view v;
	metrics_put_family(out, "sluice_local_queue_admission_fair_sharing_usage", GAUGE, "",
		"What its Jobs used lately, by which its ClusterQueue orders its LocalQueues.");
	for (size_t i = 0; queue_view_localqueue(q, i, &v); i++) {
		if (v.fair_usage <= 0)
			continue;
		metrics_put_labelled(out, "sluice_local_queue_admission_fair_sharing_usage",
			"namespace", v.ns, "name", v.name, "cluster_queue", v.clusterqueue, NULL);
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

static void put_cohort_row(
	struct buf *out, const char *name, const char *cohort, const struct usage_view *u)
{
	metrics_put_labelled(
		out, name, "cohort", cohort, "flavor", u->flavor, "resource", u->resource, NULL);
}

static void put_cohorts(struct buf *out, const struct queue *q)
{
	static const struct {
		const char *name, *help;
	} family[] = {
		{"sluice_cohort_subtree_quota",
			"Quota of a Cohort with what its members bring. Cores, bytes, or pieces."},
		{"sluice_cohort_subtree_resource_reservations",
			"What its members hold beyond what is theirs alone."},
	};
	for (size_t f = 0; f < 2; f++) {
		struct cohort_view v;
		metrics_put_family(out, family[f].name, GAUGE, "", family[f].help);
		for (size_t i = 0; queue_view_cohort(q, i, &v); i++)
			for (size_t u = 0; u < v.nusage; u++) {
				put_cohort_row(out, family[f].name, v.name, &v.usage[u]);
				put_amount(out, f ? v.usage[u].reserved : v.usage[u].subtree,
					v.usage[u].resource);
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
		metrics_put_labelled(out, "sluice_quota", "cluster_queue", clusterqueue, "flavor",
			u->flavor, "resource", u->resource, "kind", kinds[k], NULL);
		put_amount(out, amounts[k], u->resource);
	}
}

static void put_quota(struct buf *out, const struct queue *q)
{
	metrics_put_family(out, "sluice_quota", GAUGE, "",
		"Quota: nominal is what there may be, reserved what is held, used what runs, borrowed what is held beyond nominal, 0 without a Cohort; the limits where there are some. Cores, bytes, or pieces.");
	struct clusterqueue_view v;
	for (size_t i = 0; queue_view_any_clusterqueue(q, i, &v); i++)
		for (size_t u = 0; u < v.nusage; u++)
			put_quota_row(out, v.name, &v.usage[u]);
}

static void put_cause(
	struct buf *out, const char *sample, const char *key, const struct counters_cause *c)
{
	metrics_put_labelled(out, sample, key, c->clusterqueue, "reason", c->reason, NULL);
	buf_printf(out, "%" PRIu64 "\n", c->count);
}

static void put_causes(struct buf *out, const struct counters *t)
{
	const struct counters_cause *c;
	metrics_put_family(out, "sluice_evicted_workloads", COUNTER, "",
		"Running Jobs that Sluice stopped, by reason.");
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_EVICTIONS, i)); i++)
		put_cause(out, "sluice_evicted_workloads_total", "cluster_queue", c);
	metrics_put_family(out, "sluice_requeued_workloads", COUNTER, "",
		"Of those, the ones that wait for another start; the others are on hold.");
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_EVICTIONS, i)); i++)
		if (c->waits_again)
			put_cause(out, "sluice_requeued_workloads_total", "cluster_queue", c);
	metrics_put_family(out, "sluice_preempted_workloads", COUNTER, "",
		"Running Jobs that were stopped for one of this ClusterQueue, and why.");
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_PREEMPTIONS, i)); i++)
		put_cause(out, "sluice_preempted_workloads_total", "preempting_cluster_queue", c);
}

static void put_trouble_total(struct buf *out, const struct counters *t)
{
	const struct counters_cause *c;
	metrics_put_family(out, "sluice_job_troubles", COUNTER, "",
		"How often something came to keep the pods of running Jobs from running, by what it is.");
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_TROUBLES, i)); i++)
		put_cause(out, "sluice_job_troubles_total", "cluster_queue", c);
}

static void put_trouble_now(struct buf *out, const struct gate *g)
{
	struct trouble_rows r = trouble_rows_of(g);
	metrics_put_family(out, "sluice_jobs_in_trouble", GAUGE, "",
		"Running Jobs of which something keeps pods from running now, by what it is.");
	for (size_t i = 0; i < r.n; i++) {
		metrics_put_labelled(out, "sluice_jobs_in_trouble", "cluster_queue",
			r.row[i].clusterqueue, "reason", trouble_name(r.row[i].word), NULL);
		buf_printf(out, "%zu\n", r.row[i].jobs);
	}
	trouble_rows_done(&r);
}

static void put_loss(struct buf *out, const char *clusterqueue, const char *reason, uint64_t ms)
{
	metrics_put_labelled(out, "sluice_work_lost_seconds_total", "cluster_queue", clusterqueue,
		"reason", reason, NULL);
	buf_printf(out, "%" PRIu64 ".%03d\n", ms / 1000, (int)(ms % 1000));
}

/* Puts the losses. A window that closes may throw away in one moment what the alert is about.
 * increase() of Prometheus does not see what a series begins with, so each begins with 0 when its
 * ClusterQueue does. */
static void put_losses(struct buf *out, const struct queue *q, const struct counters *t)
{
	const struct counters_cause *c;
	metrics_put_family(out, "sluice_work_lost_seconds", COUNTER, "seconds",
		"Pod time lost: the work, in pod-seconds, that stops threw away, by the reason of the stop.");
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
	metrics_put_family(out, "sluice_cost", COUNTER, "",
		"What runs that ended have cost, where a PricePlan is for them.");
	for (size_t i = 0; (c = counters_cause_at(t, COUNTERS_COSTS, i)); i++) {
		metrics_put_labelled(out, "sluice_cost_total", "cluster_queue", c->clusterqueue,
			"currency", c->reason, NULL);
		money_format((int64_t)c->count, text);
		buf_printf(out, "%s\n", text);
	}
}

static void put_counters(struct buf *out, const struct queue *q, const struct counters *t)
{
	static const struct {
		const char *name, *help;
	} family[] = {
		{"sluice_admissions", "Jobs started since this process began."},
		{"sluice_finishes", "Started Jobs that ended by themselves."},
		{"sluice_stops", "Running Jobs that were stopped."},
	};
	for (size_t f = 0; f < 3; f++) {
		metrics_put_family(out, family[f].name, COUNTER, "", family[f].help);
		char sample[64];
		snprintf(sample, sizeof(sample), "%s_total", family[f].name);
		const struct counters_row *r;
		for (size_t i = 0; (r = counters_at(t, i)); i++) {
			uint64_t value[] = {r->admissions, r->finishes, r->stops};
			metrics_put_labelled(out, sample, "cluster_queue", r->clusterqueue, NULL);
			buf_printf(out, "%" PRIu64 "\n", value[f]);
		}
	}
	put_causes(out, t);
	put_trouble_total(out, t);
	put_losses(out, q, t);
	put_costs(out, t);
	metrics_put_family(out, "sluice_admission_wait_seconds", HISTOGRAM, "seconds",
		"From being queued to being started.");
	histogram_render(counters_waits(t), "sluice_admission_wait_seconds", out);
	metrics_put_family(out, "sluice_decision_duration_seconds", HISTOGRAM, "seconds",
		"How long one pass of the gate takes.");
	histogram_render(counters_passes(t), "sluice_decision_duration_seconds", out);
}

/* ---- gate, ledger, API server ---------------------------------------------------------------- */

static void put_phases(struct buf *out, const struct gate_counts *c)
{
	static const char *const phases[] = {"waiting", "reserving", "starting", "fencing",
		"running", "stopping", "draining", "evicting"};
	metrics_put_family(
		out, "sluice_gate_jobs", GAUGE, "", "Known Jobs by the phase of their attempt.");
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		metrics_put_labelled(out, "sluice_gate_jobs", "phase", phases[i], NULL);
		buf_printf(out, "%zu\n", c->by_phase[i]);
	}
}

static void put_mass_stop(struct buf *out, const struct gate *g)
{
	struct gate_mass_stop mass = {0};
	gate_mass_stop(g, &mass);
	put_gauge(out, "sluice_mass_stop_pending",
		"Jobs that run without a reservation and are left alone for now, since they are many.",
		mass.jobs);
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
	put_gauge(out, "sluice_leader", "1 when this process decides.", gate_leading(s->gate));
	put_gauge(out, "sluice_leader_epoch", "The epoch of the lease this process holds, or held.",
		(uint64_t)gate_epoch(s->gate));
	put_gauge(out, "sluice_synced", "1 when all lists have been read.", s->synced);
	put_kinds(out, s);
	put_gauge(out, "sluice_ledger_up", "1 when the ledger is connected.", s->ledger_up);
	put_gauge(out, "sluice_ledger_queued_operations",
		"Ledger operations that are not durable yet.", c.queued_operations);
	put_counter(
		out, "sluice_ledger_operations", "Operations written to the ledger.", c.operations);
	put_counter(out, "sluice_ledger_batches", "Transactions they were written in.", c.batches);
	put_counter(
		out, "sluice_call_offs", "Starts that were called off before they began.", c.voids);
	put_counter(
		out, "sluice_refusals", "What the ledger or the API server refused.", c.refusals);
	put_counter(out, "sluice_refused_jobs_held",
		"Jobs put on hold because the API server refused to start them time and again.",
		c.held);
	put_counter(out, "sluice_never_starting_jobs_held",
		"Jobs put on hold because what they wait for has failed (sluice.dev/after).",
		c.never_held);
	put_counter(out, "sluice_never_starting_jobs_deleted",
		"Jobs deleted because what they wait for has failed, as their owner asked.",
		c.never_deleted);
}

static void put_record(struct buf *out, const struct recorder *r)
{
	struct recorder_state s = recorder_state(r);
	if (!r)
		return;
	put_gauge(out, "sluice_recording",
		"1 while what the queue is told is recorded, 0 when that has ended.", s.recording);
	put_counter(out, "sluice_record_lines", "Lines that were recorded.", s.lines);
	metrics_put_family(out, "sluice_record_bytes", COUNTER, "bytes",
		"Bytes of these lines, before they are compressed.");
	buf_printf(out, "sluice_record_bytes_total %" PRIu64 "\n", s.bytes);
}

static void put_api(struct buf *out, const struct kube_client_stats *api)
{
	metrics_put_family(out, "sluice_api_requests", COUNTER, "",
		"Answers of the API server; code 0 is none.");
	for (size_t i = 0; i < api->counts; i++)
		buf_printf(out,
			"sluice_api_requests_total{method=\"%s\",code=\"%d\"} %" PRIu64 "\n",
			kube_method_name(api->count[i].method), api->count[i].code,
			api->count[i].count);
	put_gauge(out, "sluice_api_requests_in_flight", "Requests that are under way.",
		api->in_flight);
	put_gauge(out, "sluice_api_requests_queued", "Requests that wait for a connection.",
		api->queued);
}

/* ---- forecasts ------------------------------------------------------------------------------- */

static void put_forecasts(struct buf *out, const struct forecasts_counts *c)
{
	put_counter(out, "sluice_forecast_plays",
		"How often the queue was played forward, for people who ask when Jobs start.",
		c->plays);
	put_counter(out, "sluice_forecast_failures",
		"Forecasts that came to nothing: no process, no memory, too long. The log says why (forecast-failed).",
		c->failures);
	metrics_put_family(out, "sluice_forecast_cpu_seconds", COUNTER, "seconds",
		"Processor time of forecasts that came to their end; not in that of the process.");
	buf_printf(out, "sluice_forecast_cpu_seconds_total %" PRId64 ".%06d\n", c->cpu_us / 1000000,
		(int)(c->cpu_us % 1000000));
	metrics_put_family(out, "sluice_forecast_age_seconds", GAUGE, "seconds",
		"How old the forecast is that is told; none while nobody asks.");
	if (c->age_ms >= 0)
		buf_printf(out, "sluice_forecast_age_seconds %" PRId64 ".%03d\n", c->age_ms / 1000,
			(int)(c->age_ms % 1000));
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
	metrics_put_family(out, "sluice_queue_memory_bytes", GAUGE, "bytes",
		"What all Jobs take in the queue library.");
	buf_printf(out, "sluice_queue_memory_bytes %zu\n", queue_memory_bytes(q));
	metrics_put_family(
		out, "process_resident_memory_bytes", GAUGE, "bytes", "Resident memory.");
	buf_printf(out, "process_resident_memory_bytes %" PRIu64 "\n", resident_bytes());
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	metrics_put_family(out, "process_cpu_seconds", COUNTER, "seconds", "User and system time.");
	buf_printf(out, "process_cpu_seconds_total %.6f\n",
		(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
	metrics_put_family(out, "sluice_build", INFO, "", "Which program this is.");
	metrics_put_labelled(out, "sluice_build_info", "version", SLUICE_VERSION, NULL);
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

void metrics_render(const struct metrics_sources *s, struct buf *out)
{
	if (s->decides)
		put_queues(out, s);
	put_counters(out, s->queue, s->counters);
	overcommit_controller_put_metrics(s->overcommit_controller, out);
	put_gate(out, s);
	put_counter(out, "sluice_events", "Kubernetes Events written on Jobs.", s->events.written);
	put_counter(out, "sluice_events_dropped",
		"Kubernetes Events that were given up: too many at once, or the API server refused.",
		s->events.dropped);
	put_forecasts(out, &s->forecasts);
	put_record(out, s->recorder);
	put_api(out, s->api);
	put_process(out, s->queue);
	buf_puts(out, "# EOF\n");
}
