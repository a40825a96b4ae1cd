/* Any bytes as a Job from the wire: whatever is decoded is safe to print and to count, is decoded
 * to the same twice, and its story can be guarded by a PATCH that is JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "queue/cluster/nodes.h"
#include "queue/job/node_affinity.h"
#include "base/json.h"
#include "controller/wire/decode.h"
#include "controller/wire/patch.h"
#include "controller/wire/resources.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_pod(const struct job *j)
{
	struct resource got[64];
	size_t n = pod_requests(&j->pod, got, 64);
	for (size_t i = 0; i < n && i < 64; i++) {
		must(got[i].amount >= 0);
		must(i == 0 || strcmp(got[i - 1].name, got[i].name) < 0);
		check_text(got[i].name);
	}
}

/* Whatever node affinity its owner has: a flavor's is joined to it, and is JSON, or it is not. */
static void check_joined(const struct placement *own)
{
	static const char *const zones[] = {"b", "c"};
	static const struct requirement zone = {"zone", SELECTOR_IN, zones, 2};
	static const struct node_term terms[] = {{.labels = {&zone, 1}}, {.labels = {&zone, 1}}};
	static const struct preferred_term likes = {7, {.labels = {&zone, 1}}};
	const struct placement add = {
		.terms = terms, .nterms = 2, .preferred = &likes, .npreferred = 1};
	struct placement p = *own;
	struct arena memory = {0};
	struct json *tree = json_new(16 << 20);
	const cJSON *o;
	struct buf text;
	buf_init(&text, 1 << 20);
	if (node_affinity_join(&memory, &p, &add, NULL) == NODE_AFFINITY_JOINED) {
		must(p.nterms > 0 && p.npreferred == own->npreferred + 1);
		node_affinity_write(&p, &text);
		must(!text.failed && json_parse(tree, buf_slice(&text), &o, NULL) == 0);
	} else {
		must(p.terms == own->terms && p.nterms == own->nterms);
	}
	buf_done(&text);
	json_free(tree);
	arena_done(&memory);
}

static void check_placement(const struct placement *p)
{
	struct node_group g = {p->node_selector, p->nnode_selector, NULL, 0, NULL, 0};
	placement_match(p, &g, NULL);
	must(placement_match(p, &(struct node_group){0}, NULL) == PLACEMENT_FITS);
	for (size_t i = 0; i < p->nnode_selector; i++)
		check_text(p->node_selector[i].value);
	check_joined(p);
}

static void check_keys(const struct template_keys *k)
{
	for (size_t i = 0; i < k->nown; i++)
		check_text(k->own[i]);
	for (size_t i = 0; i < k->nold; i++)
		check_text(k->old[i]);
}

/* Whatever is kept of what its containers ask for can be written for any room, as JSON. */
static void check_resources(const struct job *j)
{
	struct json *tree = json_new(16 << 20);
	for (int l = LENDING_NONE; j->resources && l <= LENDING_GOCRAN; l++) {
		const cJSON *root;
		struct buf text, patch;
		buf_init(&text, 1 << 20);
		buf_init(&patch, 1 << 20);
		struct lent_form form = {(enum lending)l, l == LENDING_BATCH};
		if (resources_convert(slice_of(j->resources), form, &text, NULL) == 0) {
			buf_puts(&patch, "[0");
			resources_patch(buf_slice(&text), &patch);
			buf_putc(&patch, ']');
			must(!patch.failed &&
				json_parse(tree, buf_slice(&patch), &root, NULL) == 0);
		}
		must(l == LENDING_GOCRAN || text.len > 0);
		buf_done(&text);
		buf_done(&patch);
	}
	json_free(tree);
}

/* Whatever is asked of the cluster, it answers. */
static void check_template(const struct job *j)
{
	const struct pod *p = j->template;
	struct nodes *n = nodes_new();
	struct fit_answer a;
	must(j->grace_ms >= 0);
	must(!p || !j->invalid || j->start_after.zone || j->deadline.zone ||
		strstr(j->invalid, "spec.template.spec.resourceClaims: "));
	if (p) {
		must(strcmp(p->ns, j->ns) == 0 && *p->scheduler && p->ntolerations > 0);
		must(p->resources.ncontainers == j->pod.ncontainers);
		must(p->nnode_selector == j->placement.nnode_selector);
		nodes_set(n, &(struct node_spec){.name = "n"});
		nodes_fit(n, p, &a);
		check_text(a.sentence);
		qos_class_name(pod_qos_class(p));
	}
	nodes_free(n);
}

static void check_job(const struct job *j)
{
	int32_t pods = job_pods(j);
	must(pods >= 0 && pods <= j->parallelism);
	must((j->admission.state == STORY_NONE) == (j->admission.attempt == 0));
	must(!j->admission.story || j->annotations.present);
	must(j->status.indexes_done <= j->completions || !j->indexed);
	must(j->min_parallelism >= 0 && j->admission.history.requeues >= 0 &&
		j->admission.history.ran_ms >= 0);
	must(j->admission.owner_parallelism == 0 ||
		j->admission.owner_parallelism > j->min_parallelism);
	must(j->status.uncounted >= 0);
	check_text(j->pod.runtime_class);
	must(j->durations.max_run_ms >= 0 && j->durations.expected_ms >= 0 && j->version >= 0);
	check_text(j->ns);
	check_text(j->name);
	check_text(j->queue);
	check_text(j->priority_class);
	check_text(j->pod_priority_class);
	check_text(j->hold ? j->hold : "");
	check_text(j->invalid ? j->invalid : "");
	check_pod(j);
	must(j->lending != 0);
	check_resources(j);
	check_placement(&j->placement);
	check_keys(&j->metadata.labels);
	check_keys(&j->metadata.annotations);
	check_template(j);
}

static void check_patch(const struct job *j)
{
	struct intent i = {.kind = INTENT_TELL,
		.uid = j->uid,
		.story_before = j->admission.story,
		.has_annotations = j->annotations.present,
		.hold = j->hold,
		.story = {.state = STORY_FENCED, .clusterqueue = j->queue, .reason = "", .by = ""}};
	struct buf b;
	struct json *json = json_new(64 << 20);
	const cJSON *patch;
	buf_init(&b, 8 << 20);
	patch_render(&i, &b);
	must(!b.failed);
	must(json_parse(json, buf_slice(&b), &patch, NULL) == 0);
	must(cJSON_IsArray(patch));
	json_free(json);
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *json = json_new(64 << 20);
	const cJSON *o;
	struct job *j = NULL, *again = NULL;
	struct err e = {""};
	if (json_parse(json, (struct slice){(const char *)data, size}, &o, NULL) == 0) {
		int rc = decode_job(o, NULL, &j, &e);
		must(rc == 0 || (rc == ERR_INVALID && !j && *e.text));
		must(decode_job(o, NULL, &again, NULL) == rc);
		check_text(rc == 0 ? "" : e.text);
	}
	json_free(json); /* nothing of the tree is kept */
	if (j) {
		check_job(j);
		check_patch(j);
		must(!j->invalid == !again->invalid);
		must(!j->invalid || strcmp(j->invalid, again->invalid) == 0);
	}
	free(j);
	free(again);
	return 0;
}
