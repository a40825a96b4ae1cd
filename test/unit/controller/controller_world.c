#include "controller_world.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

#define NOW_MS 1795255200000

static void describe(struct world *w, const char *clusterqueue)
{
	static const char *const resources[] = {"cpu", "memory"};
	static const struct quota_spec spot[] = {
		{"cpu", 40000, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
		{"memory", 68719476736, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
	};
	static const struct quota_spec on_demand[] = {
		{"cpu", 500, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
		{"memory", 1000, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
	};
	static const struct flavor_quota_spec flavors[] = {
		{"spot", spot, 2}, {"on-demand", on_demand, 2}};
	static const struct resource_group_spec group = {resources, 2, flavors, 2};
	struct clusterqueue_spec cq = {.name = clusterqueue,
		.generation = 1,
		.cohort = "",
		.groups = &group,
		.ngroups = 1,
		.has_namespace_selector = true};
	struct localqueue_spec lq = {
		.ns = "team-a", .name = "main", .generation = 1, .clusterqueue = clusterqueue};
	struct err e = {""};
	queue_set_namespace(w->queue, &(struct namespace_spec){.name = "team-a"});
	must(queue_set_flavor(w->queue, &(struct flavor_spec){.name = "spot"}, &e) == 0);
	must(queue_set_flavor(w->queue, &(struct flavor_spec){.name = "on-demand"}, &e) == 0);
	must(queue_set_clusterqueue(w->queue, &cq, &e) == 0);
	must(queue_set_localqueue(w->queue, &lq, &e) == 0);
}

void world_open(struct world *w, const char *clusterqueue)
{
	struct gate_options o = {
		.identity = "test", .lease_ms = 15000, .drain_doubt_ms = 1000, .seed = 1};
	*w = (struct world){.queue = queue_new()};
	w->gate = gate_new(&o, w->queue);
	w->decision_log = decision_log_new();
	w->counters = counters_new();
	describe(w, clusterqueue);
	w->sources = (struct api_sources){
		.metrics = {.queue = w->queue,
			.gate = w->gate,
			.counters = w->counters,
			.events = {7, 1},
			.forecasts = {32, 12345678, 1, 4500},
			.api = &w->api,
			.ledger_up = true,
			.synced = true,
			.decides = true},
		.identity = "test",
		.cell = "default",
		.leadership = {.leads = true,
			.identity = "test",
			.lease = {.holder = ""},
			.ledger_trouble = "",
			.now_ms = NOW_MS},
		.waiting_for = "",
		.denied = "",
		.ledger_trouble = "",
	};
	w->reports = (struct report_sources){.queue = w->queue,
		.gate = w->gate,
		.counters = w->counters,
		.decision_log = w->decision_log,
		.ledger_up = true,
		.now_ms = NOW_MS};
}

void world_close(struct world *w)
{
	gate_free(w->gate);
	queue_free(w->queue);
	decision_log_free(w->decision_log);
	counters_free(w->counters);
}

struct job world_job(unsigned char number, const char *name)
{
	static const struct resource requests[] = {{"cpu", 12000}, {"memory", 1073741824}};
	static const struct container container = {.requests = {requests, 2}};
	return (struct job){
		.uid = {{number}},
		.ns = "team-a",
		.name = name,
		.generation = 1,
		.version = number,
		.created_ms = NOW_MS - 60000,
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.submitted_by = number == 2 ? "cn=bob,o=team" : NULL,
		.suspend = true,
		.parallelism = 1,
		.has_completions = true,
		.completions = 1,
		.pod = {.containers = &container, .ncontainers = 1},
	};
}

void world_see_job(struct world *w, const struct job *j)
{
	gate_see_job(w->gate, j);
	gate_step(w->gate, NOW_MS, NOW_MS);
}

void world_add_job(struct world *w, unsigned char number, const char *name)
{
	struct job j = world_job(number, name);
	world_see_job(w, &j);
}

void world_note(struct world *w, enum note_kind kind, const char *clusterqueue, int64_t waited_ms)
{
	struct note n = {.kind = kind,
		.at_ms = NOW_MS,
		.ns = "team-a",
		.name = "train",
		.clusterqueue = clusterqueue,
		.reason = "",
		.preemption = "",
		.preempting = "",
		.waited_ms = waited_ms};
	if (kind == NOTE_RELEASE) {
		n.cost = 250000;
		n.currency = "EUR";
	}
	if (kind == NOTE_TROUBLE)
		n.reason = "Unschedulable";
	if (kind == NOTE_STOP) {
		n.reason = "Preempted";
		n.preemption = "InCohortReclamation";
		n.preempting = "other";
		n.lost_ms = 90500;
	}
	snprintf(n.text, sizeof(n.text), "a note");
	counters_note(w->counters, &n);
	decision_log_add(w->decision_log, &n);
}
