#include "controller/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum metric_type { GAUGE, COUNTER, HISTOGRAM, INFO };

/* unit "" for none; else the name must end in it. */
static void put_family(struct buf *out, const char *name, enum metric_type type, const char *unit,
	const char *help)
{
	static const char *const types[] = {"gauge", "counter", "histogram", "info"};
	buf_printf(out, "# TYPE %s %s\n", name, types[type]);
	if (unit[0])
		buf_printf(out, "# UNIT %s %s\n", name, unit);
	buf_printf(out, "# HELP %s %s\n", name, help);
}

void metrics_put_label(struct buf *out, const char *value)
{
	bool clean = slice_utf8(slice_of(value));
	for (const char *p = value; *p; p++) {
		if (*p == '\n')
			buf_puts(out, "\\n");
		else if (*p == '"' || *p == '\\')
			buf_printf(out, "\\%c", *p);
		else if (!clean && (unsigned char)*p >= 0x80)
			buf_puts(out, "\xEF\xBF\xBD");
		else
			buf_putc(out, *p);
	}
}

/* name{key="value"} */
static void put_labelled(struct buf *out, const char *name, const char *key, const char *value)
{
	buf_printf(out, "%s{%s=\"", name, key);
	metrics_put_label(out, value);
	buf_puts(out, "\"} ");
}

static void put_gauge(struct buf *out, const char *name, const char *help, uint64_t value)
{
	put_family(out, name, GAUGE, "", help);
	buf_printf(out, "%s %" PRIu64 "\n", name, value);
}

static void put_counter(struct buf *out, const char *name, const char *help, uint64_t value)
{
	put_family(out, name, COUNTER, "", help);
	buf_printf(out, "%s_total %" PRIu64 "\n", name, value);
}

/* ---- queues ---------------------------------------------------------------------------------- */

static void put_queue_counts(struct buf *out, const struct queue *q)
{
	static const struct {
		const char *name, *help;
	} family[] = {
		{"sluice_pending_jobs", "Jobs that wait for quota."},
		{"sluice_reserving_jobs", "Jobs that hold quota, running or not."},
		{"sluice_admitted_jobs", "Jobs that were started and have not ended."},
		{"sluice_queue_active", "1 when the ClusterQueue may start Jobs."},
	};
	for (size_t f = 0; f < sizeof(family) / sizeof(family[0]); f++) {
		put_family(out, family[f].name, GAUGE, "", family[f].help);
		struct clusterqueue_view v;
		for (size_t i = 0; queue_view_clusterqueue(q, i, &v); i++) {
			size_t value[] = {v.pending, v.reserving, v.admitted, v.active};
			put_labelled(out, family[f].name, "cluster_queue", v.name);
			buf_printf(out, "%zu\n", value[f]);
		}
	}
}

/* cpu is counted in thousandths, here as everywhere; dashboards want cores. */
static void put_amount(struct buf *out, int64_t amount, const char *resource)
{
	if (strcmp(resource, "cpu") == 0)
		buf_printf(out, "%" PRId64 ".%03d\n", amount / 1000, (int)(amount % 1000));
	else
		buf_printf(out, "%" PRId64 "\n", amount);
}

static void put_quota_row(struct buf *out, const char *clusterqueue, const struct usage_view *u)
{
	const char *const kinds[] = {"nominal", "reserved", "used"};
	const int64_t amounts[] = {u->nominal, u->reserved, u->used};
	for (size_t k = 0; k < 3; k++) {
		buf_puts(out, "sluice_quota{cluster_queue=\"");
		metrics_put_label(out, clusterqueue);
		buf_puts(out, "\",flavor=\"");
		metrics_put_label(out, u->flavor);
		buf_puts(out, "\",resource=\"");
		metrics_put_label(out, u->resource);
		buf_printf(out, "\",kind=\"%s\"} ", kinds[k]);
		put_amount(out, amounts[k], u->resource);
	}
}

static void put_quota(struct buf *out, const struct queue *q)
{
	put_family(out, "sluice_quota", GAUGE, "",
		"Quota: nominal is what there may be, reserved what is held, used what runs. "
		"Cores, "
		"bytes, or pieces.");
	struct clusterqueue_view v;
	for (size_t i = 0; queue_view_clusterqueue(q, i, &v); i++)
		for (size_t u = 0; u < v.nusage; u++)
			put_quota_row(out, v.name, &v.usage[u]);
}

static void put_tally(struct buf *out, const struct tally *t)
{
	static const struct {
		const char *name, *help;
	} family[] = {
		{"sluice_admissions", "Jobs started since this process began."},
		{"sluice_finishes", "Started Jobs that ended by themselves."},
		{"sluice_stops", "Running Jobs that were stopped."},
	};
	for (size_t f = 0; f < 3; f++) {
		put_family(out, family[f].name, COUNTER, "", family[f].help);
		char sample[64];
		snprintf(sample, sizeof(sample), "%s_total", family[f].name);
		const struct tally_row *r;
		for (size_t i = 0; (r = tally_at(t, i)); i++) {
			uint64_t value[] = {r->admissions, r->finishes, r->stops};
			put_labelled(out, sample, "cluster_queue", r->clusterqueue);
			buf_printf(out, "%" PRIu64 "\n", value[f]);
		}
	}
	put_family(out, "sluice_admission_wait_seconds", HISTOGRAM, "seconds",
		"From being queued to being started.");
	histogram_render(tally_waits(t), "sluice_admission_wait_seconds", out);
	put_family(out, "sluice_decision_duration_seconds", HISTOGRAM, "seconds",
		"How long one pass of the gate takes.");
	histogram_render(tally_passes(t), "sluice_decision_duration_seconds", out);
}

/* ---- gate, ledger, API server ---------------------------------------------------------------- */

static void put_phases(struct buf *out, const struct gate_counts *c)
{
	static const char *const phases[] = {
		"waiting", "reserving", "starting", "fencing", "running", "stopping", "draining"};
	put_family(out, "sluice_gate_jobs", GAUGE, "", "Known Jobs by the phase of their attempt.");
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		put_labelled(out, "sluice_gate_jobs", "phase", phases[i]);
		buf_printf(out, "%zu\n", c->by_phase[i]);
	}
}

static void put_gate(struct buf *out, const struct metrics_sources *s)
{
	struct gate_counts c;
	gate_count(s->gate, &c);
	put_phases(out, &c);
	put_gauge(out, "sluice_leader", "1 when this process decides.", gate_leading(s->gate));
	put_gauge(out, "sluice_leader_epoch", "The epoch of the lease this process holds, or held.",
		(uint64_t)gate_epoch(s->gate));
	put_gauge(out, "sluice_synced", "1 when all lists have been read.", s->synced);
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
}

static void put_api(struct buf *out, const struct kube_client_stats *api)
{
	put_family(out, "sluice_api_requests", COUNTER, "",
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
	put_family(out, "sluice_queue_memory_bytes", GAUGE, "bytes",
		"What all Jobs take in the queue library.");
	buf_printf(out, "sluice_queue_memory_bytes %zu\n", queue_memory_bytes(q));
	put_family(out, "process_resident_memory_bytes", GAUGE, "bytes", "Resident memory.");
	buf_printf(out, "process_resident_memory_bytes %" PRIu64 "\n", resident_bytes());
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	put_family(out, "process_cpu_seconds", COUNTER, "seconds", "User and system time.");
	buf_printf(out, "process_cpu_seconds_total %.6f\n",
		(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
	put_family(out, "sluice_build", INFO, "", "Which program this is.");
	put_labelled(out, "sluice_build_info", "version", SLUICE_VERSION);
	buf_puts(out, "1\n");
}

void metrics_render(const struct metrics_sources *s, struct buf *out)
{
	put_queue_counts(out, s->queue);
	put_quota(out, s->queue);
	put_tally(out, s->tally);
	put_gate(out, s);
	put_api(out, s->api);
	put_process(out, s->queue);
	buf_puts(out, "# EOF\n");
}
