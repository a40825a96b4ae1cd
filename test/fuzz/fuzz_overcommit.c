/*
 * Any bytes as the configuration of lending: what stands before the first line "---" as
 * colocation-config, what follows it as resource-threshold-config and as resource-qos-config, and
 * the whole as a NodeOvercommit. A configuration out of which every node gets a strategy within the bounds, or a
 * sentence that is safe to print.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/json.h"
#include "controller/wire/decode_node.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_strategy(const struct strategy *s)
{
	must(s->profile <= PROFILE_KOORDINATOR && s->source <= SOURCE_AUTO);
	must(s->names > 0 && s->names <= (LEND_BATCH | LEND_GOCRAN));
	must(s->cpu_policy != POLICY_REQUEST && s->cpu_policy <= POLICY_MAX_USAGE_REQUEST);
	must(s->memory_policy <= POLICY_MAX_USAGE_REQUEST);
	must(s->period_s > 0 && s->interval_s > 0 && s->degrade_min > 0 && s->rewrite_s > 0);
	must(s->cpu_percent >= 0 && s->memory_percent >= 0);
	must(s->cpu_cap >= -1 && s->memory_cap >= -1);
	must(s->diff_permille > 0 && s->diff_permille <= 1000);
	must(s->evict_memory_lower <= s->evict_memory);
	must(s->evict_cpu_lower <= s->evict_cpu_upper);
	must(s->evict_allocatable_lower <= s->evict_allocatable);
	must(s->evict_cpu_allocatable_lower >= 0 && s->evict_memory_allocatable_lower >= 0);
	must(s->evict_cpu_allocatable_lower <= s->evict_cpu_allocatable);
	must(s->evict_memory_allocatable_lower <= s->evict_memory_allocatable);
	must(s->cool_down_s >= 0 && s->raise_window_s >= 0 && s->evict_cpu_window_s > 0);
	must(s->suppress_percent <= 100 && s->suppress_min <= 100);
	must(s->suppress_policy <= SUPPRESS_CPUSET && s->cpu_idle <= CPU_IDLE_ALWAYS);
	must(s->hold == 0 || (s->hold > s->evict_memory && s->hold < 100));
	must(s->end == 0 || (s->end > s->evict_memory && s->end > s->hold && s->end <= 100));
}

static void check_config(const struct overcommit_config *c)
{
	static const struct label labels[] = {{"pool", "a"}, {"zone", "z"}};
	const char *name;
	for (size_t i = 0; i < c->nnodes; i++) {
		const struct node_strategy *n = &c->nodes[i];
		must(*n->name);
		check_text(n->name);
		must(!n->fault || n->layer.says == 0);
		if (n->fault)
			check_text(n->fault);
	}
	for (size_t n = 0; n <= 2; n++) {
		struct strategy s = strategy_for(c, labels, n, NULL, &name);
		check_strategy(&s);
		if (name)
			check_text(name);
	}
}

static void try_config(struct slice colocation, struct slice threshold)
{
	struct overcommit_config *c = NULL;
	struct err e = {""};
	int rc = decode_overcommit_config(colocation, threshold, slice_of(""), &c, &e);
	check_outcome(rc, c, &e);
	if (c)
		check_config(c);
	free(c);
	c = NULL;
	must(decode_overcommit_config(slice_of(""), slice_of(""), threshold, &c, &e) == 0);
	must(c->qos.nnotes <= QOS_NOTES_MAX);
	for (size_t i = 0; i < c->qos.nnotes; i++)
		check_text(c->qos.notes[i]);
	check_config(c);
	free(c);
}

static void try_object(const cJSON *o)
{
	struct node_overcommit *n = NULL;
	struct err e = {""};
	int rc = decode_node_overcommit(o, &n, &e);
	check_outcome(rc, n, &e);
	if (n) {
		struct node_strategy one = {
			.name = n->name, .selector = n->selector, .layer = n->layer};
		struct overcommit_config c = {.nodes = &one, .nnodes = 1};
		must(n->layer.says >> FIELD_ENABLE & 1);
		check_text(n->name);
		check_config(&c);
	}
	free(n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char between[] = "\n---\n";
	struct slice all = {(const char *)data, size}, rest = {NULL, 0};
	const char *cut = size ? memmem(data, size, between, sizeof(between) - 1) : NULL;
	struct slice first = {all.ptr, cut ? (size_t)(cut - all.ptr) : size};
	struct json *json = json_new(64 << 20);
	const cJSON *o;
	if (cut)
		rest = (struct slice){
			cut + sizeof(between) - 1, size - first.len - (sizeof(between) - 1)};
	try_config(first, rest);
	if (json_parse(json, all, &o, NULL) == 0)
		try_object(o);
	json_free(json);
	return 0;
}
