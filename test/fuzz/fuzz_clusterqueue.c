/* Any bytes as one of the objects admins write: a record that holds what it promises, or a sentence
 * that is safe to print. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "queue/calendar/zone.h"
#include "base/json.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"
#include "queue/job/node_affinity.h"
#include "sluice/queue.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_group(const struct resource_group_spec *g)
{
	for (size_t i = 0; i < g->nresources; i++)
		check_text(g->resources[i]);
	for (size_t f = 0; f < g->nflavors; f++) {
		must(*g->flavors[f].flavor);
		for (size_t i = 0; i < g->flavors[f].nquotas; i++) {
			const struct quota_spec *q = &g->flavors[f].quotas[i];
			must(*q->resource);
			check_text(q->resource);
			must(q->nominal >= 0 && q->borrowing_limit >= 0 && q->lending_limit >= 0);
		}
	}
}

/* Nothing that the API server would refuse in each Job that it is added to. */
static void check_metadata(const struct pod_metadata *m)
{
	for (size_t i = 0; i < m->nlabels; i++)
		must(label_key_valid(m->labels[i].key) && label_value_valid(m->labels[i].value) &&
			strncmp(m->labels[i].key, "sluice.dev/", 11) != 0);
	for (size_t i = 0; i < m->nannotations; i++) {
		must(label_key_valid(m->annotations[i].key));
		check_text(m->annotations[i].value);
	}
}

/* What a flavor adds can be joined to a Job that says nothing, and written as JSON. */
static void check_adds(const struct flavor_spec *s)
{
	struct arena memory = {0};
	struct buf text;
	struct json *tree = json_new(1 << 22);
	const cJSON *o;
	struct placement p = {.node_selector = s->nodes.labels, .nnode_selector = s->nodes.nlabels};
	check_metadata(&s->metadata);
	must(node_affinity_join(&memory, &p, &s->adds, NULL) == NODE_AFFINITY_JOINED);
	buf_init(&text, 1 << 20);
	node_affinity_write(&p, &text);
	must(!text.failed && (text.len == 0 || json_parse(tree, buf_slice(&text), &o, NULL) == 0));
	buf_done(&text);
	json_free(tree);
	arena_done(&memory);
}

/* The queue itself must take, or refuse with a sentence, whatever could be decoded. */
static void try_clusterqueue(const cJSON *o, struct queue *q)
{
	struct clusterqueue_spec *s = NULL;
	struct err e = {""};
	int rc = decode_clusterqueue(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s) {
		for (size_t i = 0; i < s->ngroups; i++)
			check_group(&s->groups[i]);
		must(s->weight >= 0 && s->default_max_run_ms >= 0);
		must(s->preemption.min_run_ms >= 0 && s->preemption.min_run_ms <= MIN_RUN_MAX_MS);
		must(s->grow_interval_ms >= GROW_INTERVAL_MIN_MS &&
			s->grow_interval_ms <= GROW_INTERVAL_MAX_MS);
		labels_match(NULL, 0, &s->namespace_selector);
		check_metadata(&s->metadata);
		if (queue_set_clusterqueue(q, s, &e) < 0)
			check_text(e.text);
	}
	free(s);
}

static void try_flavor(const cJSON *o, struct queue *q)
{
	struct flavor_spec *s = NULL;
	struct err e = {""};
	int rc = decode_flavor(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s)
		check_adds(s);
	if (s && queue_set_flavor(q, s, &e) < 0)
		check_text(e.text);
	free(s);
}

static void try_localqueue(const cJSON *o, struct queue *q)
{
	struct localqueue_spec *s = NULL;
	struct err e = {""};
	int rc = decode_localqueue(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s)
		check_metadata(&s->metadata);
	if (s && queue_set_localqueue(q, s, &e) < 0)
		check_text(e.text);
	free(s);
}

static void try_priorities(const cJSON *o, struct queue *q)
{
	struct priority_spec *workload = NULL, *pod = NULL;
	struct err e = {""};
	int rc = decode_workload_priority(o, &workload, &e);
	check_outcome(rc, workload, &e);
	rc = decode_pod_priority(o, &pod, &e);
	check_outcome(rc, pod, &e);
	if (workload)
		queue_set_priority(q, workload);
	if (pod)
		queue_set_priority(q, pod);
	free(workload);
	free(pod);
}

static void try_namespace(const cJSON *o, struct queue *q)
{
	struct namespace_spec *s = NULL;
	struct err e = {""};
	int rc = decode_namespace(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s)
		queue_set_namespace(q, s);
	free(s);
}

/* UTC will do: zones are not of the wire. */
static void try_calendar(const cJSON *o)
{
	struct calendar_spec *s = NULL;
	struct calendar *c = NULL;
	struct zone *utc = zone_utc();
	struct err e = {""};
	int rc = decode_calendar(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s) {
		s->zone = utc;
		if (calendar_new(s, &c, &e) < 0)
			check_text(e.text);
		else
			must(calendar_at(c, INT64_C(1780000000000)).until_ms > 0);
	}
	calendar_free(c);
	zone_free(utc);
	free(s);
}

static void try_cohort(const cJSON *o, struct queue *q)
{
	struct cohort_spec *s = NULL;
	struct err e = {""};
	int rc = decode_cohort(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s) {
		must(s->weight >= 0);
		for (size_t i = 0; i < s->ngroups; i++)
			check_group(&s->groups[i]);
		if (queue_set_cohort(q, s, &e) < 0)
			check_text(e.text);
	}
	free(s);
}

static void check_amounts(const struct resource_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		check_text(l->item[i].name);
		must(l->item[i].amount >= 0);
	}
}

static void try_pod_rules(const cJSON *o, struct queue *q)
{
	struct limit_range_spec *limits = NULL;
	struct runtime_class_spec *runtime = NULL;
	struct err e = {""};
	int rc = decode_limit_range(o, &limits, &e);
	check_outcome(rc, limits, &e);
	rc = decode_runtime_class(o, &runtime, &e);
	check_outcome(rc, runtime, &e);
	for (size_t i = 0; limits && i < limits->nitems; i++) {
		check_amounts(&limits->item[i].defaults);
		check_amounts(&limits->item[i].default_requests);
		check_amounts(&limits->item[i].min);
		check_amounts(&limits->item[i].max);
	}
	if (limits)
		queue_set_limit_range(q, limits);
	if (runtime) {
		check_amounts(&runtime->overhead);
		queue_set_runtime_class(q, runtime);
	}
	free(limits);
	free(runtime);
}

static void try_device_class(const cJSON *o, struct queue *q)
{
	struct device_class_spec *s = NULL;
	struct err e = {""};
	int rc = decode_device_class(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s) {
		check_text(s->resource);
		queue_set_device_class(q, s);
	}
	free(s);
}

static void try_disruption_budget(const cJSON *o, struct queue *q)
{
	struct disruption_budget_spec *s = NULL;
	struct err e = {""};
	int rc = decode_disruption_budget(o, &s, &e);
	check_outcome(rc, s, &e);
	if (s) {
		must(s->allowed >= 0);
		check_text(s->ns);
		labels_match(NULL, 0, &s->selector);
		queue_set_disruption_budget(q, s);
	}
	free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *json = json_new(64 << 20);
	const cJSON *o;
	if (json_parse(json, (struct slice){(const char *)data, size}, &o, NULL) == 0) {
		struct queue *q = queue_new();
		try_clusterqueue(o, q);
		try_calendar(o);
		try_cohort(o, q);
		try_pod_rules(o, q);
		try_flavor(o, q);
		try_localqueue(o, q);
		try_priorities(o, q);
		try_namespace(o, q);
		try_device_class(o, q);
		try_disruption_budget(o, q);
		queue_free(q);
	}
	json_free(json);
	return 0;
}
