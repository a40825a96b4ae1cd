#include "cli/overcommit/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/simulate/documents.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"

#define FILE_MAX_BYTES ((size_t)256 << 20)
#define NOTES_MAX_BYTES ((size_t)1 << 20)

void snapshot_init(struct snapshot *s)
{
	*s = (struct snapshot){.node = NULL};
	buf_init(&s->notes, NOTES_MAX_BYTES);
}

void snapshot_done(struct snapshot *s)
{
	for (size_t i = 0; i < s->nnodes; i++)
		free(s->node[i].facts);
	for (size_t i = 0; i < s->npods; i++)
		free(s->pod[i]);
	for (size_t i = 0; i < s->nusages; i++)
		free(s->usage[i].facts);
	for (size_t i = 0; i < s->nrules; i++)
		free(s->rule[i]);
	free(s->node);
	free(s->pod);
	free(s->usage);
	free(s->rule);
	free(s->config);
	agent_done(&s->agent);
	buf_done(&s->notes);
}

/* ---- objects --------------------------------------------------------------------------------- */

static int add_node(struct snapshot *s, const cJSON *o, struct err *e)
{
	struct node_facts *f;
	int rc = decode_node(o, &f, e);
	if (rc < 0)
		return rc;
	s->node = mem_one_more(s->node, s->nnodes, sizeof(*s->node));
	s->node[s->nnodes++] = (struct snapshot_node){f, json_condition(o, "Ready") != NULL};
	if (f->fault)
		buf_printf(&s->notes, "Node %s: %s\n", f->name, f->fault);
	return 0;
}

static int add_pod(struct snapshot *s, const cJSON *o, struct err *e)
{
	struct pod_facts *f;
	int rc = decode_pod(o, &f, e);
	if (rc < 0)
		return rc;
	if (!*f->ns)
		f->ns = "default"; /* as kubectl would have it */
	s->pod = mem_one_more(s->pod, s->npods, sizeof(struct pod_facts *));
	s->pod[s->npods++] = f;
	return 0;
}

static int add_usage(struct snapshot *s, const cJSON *o, bool of_pod, struct err *e)
{
	struct usage_facts *f;
	int rc = decode_usage(o, &f, e);
	if (rc < 0)
		return rc;
	if (of_pod && !*f->ns)
		f->ns = "default";
	s->usage = mem_one_more(s->usage, s->nusages, sizeof(*s->usage));
	s->usage[s->nusages++] = (struct snapshot_usage){of_pod, f, false};
	return 0;
}

static void note_entries(struct snapshot *s)
{
	for (size_t i = 0; i < s->config->nnodes; i++)
		if (s->config->nodes[i].fault)
			buf_printf(&s->notes, "%s: %s; its nodes get what the cluster has\n",
				s->config_name, s->config->nodes[i].fault);
}

/* Adds a ConfigMap that has the key, whatever its name is: koordinator's has another one. */
static int add_configmap(struct snapshot *s, const cJSON *o, struct err *e)
{
	const cJSON *data = json_object(o, "data");
	const char *colocation = json_text(data, "colocation-config");
	const char *threshold = json_text(data, "resource-threshold-config");
	const char *qos = json_text(data, "resource-qos-config");
	const char *ns = decode_namespace_of(o);
	if (!colocation)
		return 0;
	int rc = meta_check(o, "ConfigMap", e);
	if (rc < 0)
		return rc;
	if (s->config)
		return err_set(e, ERR_INVALID,
			"ConfigMap %.253s has a colocation-config, and so has %s; leave one of them out",
			decode_name(o), s->config_name);
	snprintf(s->config_name, sizeof(s->config_name), "ConfigMap %.253s/%.253s",
		*ns ? ns : "default", decode_name(o));
	rc = decode_overcommit_config(
		slice_of(colocation), slice_of(threshold), slice_of(qos), &s->config, e);
	if (rc < 0)
		err_wrap(e, "%s", s->config_name);
	else
		note_entries(s);
	return rc;
}

static int add_rule(struct snapshot *s, const cJSON *o, struct err *e)
{
	struct node_overcommit *n;
	int rc = decode_node_overcommit(o, &n, e);
	if (rc < 0)
		return rc;
	s->rule = mem_one_more(s->rule, s->nrules, sizeof(struct node_overcommit *));
	s->rule[s->nrules++] = n;
	return 0;
}

static int add_list(struct snapshot *s, const cJSON *o, const char *kind, size_t len, struct err *e)
{
	char of[64];
	size_t i = 0;
	int rc = 0;
	if (len >= sizeof(of))
		return 0;
	memcpy(of, kind, len);
	of[len] = '\0';
	json_each(item, json_array(o, "items")) {
		if (rc == 0)
			rc = snapshot_add(s, item, len > 0 ? of : NULL, e);
		if (rc < 0)
			err_wrap(e, "items[%zu]", i);
		if (rc < 0)
			break;
		i++;
	}
	return rc;
}

int snapshot_add(struct snapshot *s, const cJSON *o, const char *kind, struct err *e)
{
	const char *own = json_text(o, "kind");
	kind = own ? own : kind;
	if (!kind)
		return err_set(e, ERR_INVALID,
			"not an object of Kubernetes: kind is missing; write e.g. kind: Node");
	size_t len = strlen(kind);
	if (len >= 4 && strcmp(kind + len - 4, "List") == 0)
		return add_list(s, o, kind, len - 4, e);
	if (strcmp(kind, "Node") == 0)
		return add_node(s, o, e);
	if (strcmp(kind, "Pod") == 0)
		return add_pod(s, o, e);
	if (strcmp(kind, "NodeMetrics") == 0 || strcmp(kind, "PodMetrics") == 0)
		return add_usage(s, o, *kind == 'P', e);
	if (strcmp(kind, "ConfigMap") == 0)
		return add_configmap(s, o, e);
	if (strcmp(kind, "NodeOvercommit") == 0)
		return add_rule(s, o, e);
	return 0;
}

static int add_document(struct object_source *from, const cJSON *o, struct err *e)
{
	int rc = snapshot_add(from->ctx, o, NULL, e);
	if (rc < 0)
		object_wrap(from, "", e);
	return rc;
}

int snapshot_read(struct snapshot *s, const char *file, struct err *e)
{
	const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
	return objects_read(file, name, FILE_MAX_BYTES, add_document, s, e);
}

/* ---- order ----------------------------------------------------------------------------------- */

static int node_cmp(const void *va, const void *vb)
{
	const struct snapshot_node *a = va, *b = vb;
	return strcmp(a->facts->name, b->facts->name);
}

static int pod_cmp(const void *va, const void *vb)
{
	const struct pod_facts *a = *(struct pod_facts *const *)va;
	const struct pod_facts *b = *(struct pod_facts *const *)vb;
	int c = strcmp(a->node, b->node);
	if (c == 0)
		c = strcmp(a->ns, b->ns);
	return c ? c : strcmp(a->name, b->name);
}

static int usage_cmp(const void *va, const void *vb)
{
	const struct snapshot_usage *a = va, *b = vb;
	if (a->of_pod != b->of_pod)
		return a->of_pod - b->of_pod;
	int c = strcmp(a->facts->ns, b->facts->ns);
	return c ? c : strcmp(a->facts->name, b->facts->name);
}

static int rule_cmp(const void *va, const void *vb)
{
	const struct node_overcommit *a = *(struct node_overcommit *const *)va;
	const struct node_overcommit *b = *(struct node_overcommit *const *)vb;
	return strcmp(a->name, b->name);
}

static void sort(void *items, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	if (n > 0)
		qsort(items, n, size, cmp);
}

static int twice(const char *kind, const char *ns, const char *name, struct err *e)
{
	return err_set(e, ERR_INVALID, "%s %s%s%s is there twice; leave one of them out", kind, ns,
		*ns ? "/" : "", name);
}

int snapshot_close(struct snapshot *s, struct err *e)
{
	sort(s->node, s->nnodes, sizeof(*s->node), node_cmp);
	sort(s->pod, s->npods, sizeof(*s->pod), pod_cmp);
	sort(s->usage, s->nusages, sizeof(*s->usage), usage_cmp);
	sort(s->rule, s->nrules, sizeof(*s->rule), rule_cmp);
	for (size_t i = 1; i < s->nnodes; i++)
		if (node_cmp(&s->node[i - 1], &s->node[i]) == 0)
			return twice("Node", "", s->node[i].facts->name, e);
	for (size_t i = 1; i < s->npods; i++)
		if (pod_cmp(&s->pod[i - 1], &s->pod[i]) == 0)
			return twice("Pod", s->pod[i]->ns, s->pod[i]->name, e);
	for (size_t i = 1; i < s->nusages; i++)
		if (usage_cmp(&s->usage[i - 1], &s->usage[i]) == 0)
			return twice(s->usage[i].of_pod ? "PodMetrics" : "NodeMetrics",
				s->usage[i].facts->ns, s->usage[i].facts->name, e);
	return 0;
}

size_t snapshot_pods(const struct snapshot *s, const char *node, size_t *ret_first)
{
	size_t low = 0, high = s->npods, n = 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(s->pod[middle]->node, node) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + n < s->npods && strcmp(s->pod[low + n]->node, node) == 0)
		n++;
	*ret_first = low;
	return n;
}

const struct usage_facts *snapshot_usage(const struct snapshot *s, const char *ns, const char *name)
{
	struct usage_facts facts = {.ns = ns ? ns : "", .name = name};
	struct snapshot_usage key = {.of_pod = ns != NULL, .facts = &facts};
	struct snapshot_usage *found =
		s->nusages > 0 ? bsearch(&key, s->usage, s->nusages, sizeof(*s->usage), usage_cmp)
			       : NULL;
	if (!found)
		return NULL;
	found->known = true;
	return found->facts;
}

/* ---- what holds ------------------------------------------------------------------------------ */

static const struct node_overcommit *rule_for(const struct snapshot *s, const struct node_facts *f)
{
	for (size_t i = 0; i < s->nrules; i++)
		if (!s->rule[i]->deleting &&
			labels_match(f->labels, f->nlabels, &s->rule[i]->selector))
			return s->rule[i];
	return NULL;
}

/* Takes the ConfigMap alone, or else the first NodeOvercommit in the order of names. */
void snapshot_rule(const struct snapshot *s, const struct node_facts *f,
	const enum profile *profile, struct snapshot_ruling *ret)
{
	static const struct overcommit_config none;
	struct overcommit_config of_rule = {0};
	struct strategy_layer own = f->own;
	const char *entry = NULL;
	const struct node_overcommit *rule = s->config ? NULL : rule_for(s, f);
	if (profile) {
		own.says |= UINT64_C(1) << FIELD_PROFILE;
		own.value.profile = *profile;
	}
	if (rule)
		of_rule.cluster = rule->layer;
	ret->governed = s->config || rule;
	ret->strategy = strategy_for(s->config ? s->config
				     : rule    ? &of_rule
					       : &none,
		f->labels, f->nlabels, &own, &entry);
	*ret->whose = '\0';
	if (s->config)
		snprintf(ret->whose, sizeof(ret->whose), "%s%s%.300s", s->config_name,
			entry ? ", entry " : "", entry ? entry : "");
	else if (rule)
		snprintf(ret->whose, sizeof(ret->whose), "NodeOvercommit %.300s", rule->name);
}
