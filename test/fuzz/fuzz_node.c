/*
 * Any bytes as what a cluster says of its nodes: Nodes, Pods and their metrics (an object, or a
 * list of them), and what a kubelet serves. Facts that hold what they promise, or a sentence that
 * is safe to print; and whatever they say, the sum over them has no overflow and is never more than
 * there is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/json.h"
#include "controller/wire/decode_node.h"
#include "overcommit/estimate.h"
#include "overcommit/publication.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PODS_MAX 64

static void check_load(struct load l)
{
	must(l.cpu_milli >= 0 && l.memory_bytes >= 0);
}

static void check_figures(const struct figures *f)
{
	must(f->batch_cpu >= -1 && f->batch_memory >= -1);
	must(f->gocran_cpu >= -1 && f->gocran_memory >= -1);
}

/* ---- the sum --------------------------------------------------------------------------------- */

struct sum {
	struct node_facts *node; /* the last that was one */
	struct estimate_pod pod[PODS_MAX];
	size_t npods;
	struct load used;
};

static void check_terms(const struct estimate_terms *t)
{
	must(t->result >= 0 && t->base >= 0 && t->system >= 0 && t->taken >= 0);
	must(t->cap < 0 || t->result <= t->cap);
}

static void calculate(const struct sum *sum, enum profile profile)
{
	struct estimate e;
	struct strategy s = strategy_for(&(struct overcommit_config){0}, sum->node->labels,
		sum->node->nlabels, &sum->node->own, NULL);
	struct estimate_node n = {
		.capacity = sum->node->capacity,
		.allocatable = sum->node->allocatable,
		.reservation = sum->node->reservation,
		.system_used = sum->used,
		.pods = sum->pod,
		.npods = sum->npods,
	};
	s.profile = profile;
	estimate_make(&s, &n, &e);
	check_terms(&e.cpu);
	check_terms(&e.memory);
	check_load(estimate_gocran(&s, &n, &e));
	struct publication_input in = {.strategy = &s,
		.lend = true,
		.batch = {e.cpu.result, e.memory.result},
		.gocran = estimate_gocran(&s, &n, &e)};
	struct figures f = publication_figures(&in, &sum->node->allocatable_lent);
	must(f.batch_cpu <= e.cpu.result || f.batch_cpu <= 0);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* Annotation and labels were each found right. */
static void check_own(const struct strategy_layer *own)
{
	struct err e;
	must(strategy_check(own, &e) == 0);
}

static void try_node(const cJSON *o, struct sum *sum)
{
	struct node_facts *f = NULL;
	struct err e = {""};
	int rc = decode_node(o, &f, &e);
	check_outcome(rc, f, &e);
	if (!f)
		return;
	must(*f->name);
	check_text(f->name);
	check_text(f->metrics_path);
	check_load(f->capacity);
	check_load(f->allocatable);
	check_load(f->reservation);
	check_figures(&f->capacity_lent);
	check_figures(&f->allocatable_lent);
	check_own(&f->own);
	if (f->fault)
		check_text(f->fault);
	for (size_t i = 0; i < f->nlabels; i++)
		check_text(f->labels[i].value);
	for (size_t i = 0; i < f->ntaints; i++)
		must(*f->taints[i].key && f->taints[i].effect != TAINT_ANY);
	free(sum->node);
	sum->node = f;
}

static void try_pod(const cJSON *o, struct sum *sum)
{
	struct pod_facts *f = NULL;
	struct err e = {""};
	int rc = decode_pod(o, &f, &e);
	check_outcome(rc, f, &e);
	if (!f)
		return;
	must(*f->name);
	check_text(f->name);
	check_text(f->ns);
	check_text(f->node);
	check_load(f->request);
	check_load(f->batch_asked);
	check_load(f->gocran_asked);
	must(f->tier.qos <= POD_BEST_EFFORT);
	if (f->tier.qos_label)
		check_text(f->tier.qos_label);
	if (f->batch_asked.cpu_milli > 0 || f->gocran_asked.cpu_milli > 0)
		must(f->tier.asks_for_lent);
	if (sum->npods < PODS_MAX)
		sum->pod[sum->npods++] =
			(struct estimate_pod){.tier = tier_of(PROFILE_ACK, &f->tier),
				.request = f->request,
				.has_used = f->queued,
				.used = f->request};
	tier_of(PROFILE_KOORDINATOR, &f->tier);
	free(f);
}

static void try_usage(const cJSON *o, struct sum *sum)
{
	struct usage_facts *u = NULL;
	struct err e = {""};
	int rc = decode_usage(o, &u, &e);
	check_outcome(rc, u, &e);
	if (!u)
		return;
	check_text(u->ns);
	check_text(u->name);
	check_load(u->used);
	sum->used = load_add(sum->used, u->used);
	free(u);
}

static void try(const cJSON *o, struct sum *sum)
{
	try_node(o, sum);
	try_pod(o, sum);
	try_usage(o, sum);
}

static void count_sample(const struct kubelet_usage *u, void *ctx)
{
	check_text(u->ns);
	check_text(u->name);
	must(u->at_ms >= 0 && u->cpu_ns >= 0 && u->memory_bytes >= 0);
	must(!*u->ns == !*u->name);
	(*(size_t *)ctx)++;
}

static void try_kubelet(struct slice text)
{
	size_t samples = 0;
	struct err e = {""};
	int rc = decode_kubelet_usage(text, 1, count_sample, &samples, &e);
	must(rc == 0 ? samples > 0 : rc == ERR_INVALID && samples == 0);
	if (rc < 0)
		check_text(e.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = {(const char *)data, size};
	struct json *json = json_new(64 << 20);
	struct sum sum = {0};
	const cJSON *o;
	try_kubelet(text);
	if (json_parse(json, text, &o, NULL) == 0) {
		if (cJSON_IsArray(o))
			json_each(item, o)
				try(item, &sum);
		else
			try(o, &sum);
	}
	if (sum.node) {
		calculate(&sum, PROFILE_ACK);
		calculate(&sum, PROFILE_KOORDINATOR);
	}
	free(sum.node);
	json_free(json);
	return 0;
}
