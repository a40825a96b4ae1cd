#include "words_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "test/unit/cluster/words.h"
#include "pieces.h"
#include "sluice/quantity.h"
#include "queue/cluster/nodes.h"
#include "queue/cluster/resource_quota.h"

bool words_cluster_of_queue(struct clusterqueue_spec *s, const char *word)
{
	const char *fit = piece_value(word, "fit");
	if (!fit)
		return false;
	s->cluster_fit = strcmp(fit, "Ignore") == 0 ? CLUSTER_FIT_IGNORE
			 : strcmp(fit, "Now") == 0  ? CLUSTER_FIT_NOW
						    : CLUSTER_FIT_POSSIBLE;
	return true;
}

/* ---- templates ------------------------------------------------------------------------------- */

static void *joined(
	struct arena *a, const void *one, size_t none, const void *two, size_t ntwo, size_t size)
{
	char *all = arena_take(a, none + ntwo, size);
	if (none > 0)
		memcpy(all, one, none * size);
	if (ntwo > 0)
		memcpy(all + none * size, two, ntwo * size);
	return all;
}

static void add_placement(struct arena *a, struct pod *p, const struct placement *of)
{
	p->node_selector = joined(a, p->node_selector, p->nnode_selector, of->node_selector,
		of->nnode_selector, sizeof(struct label));
	p->nnode_selector += of->nnode_selector;
	p->tolerations = joined(a, p->tolerations, p->ntolerations, of->tolerations,
		of->ntolerations, sizeof(struct toleration));
	p->ntolerations += of->ntolerations;
	p->terms = joined(a, p->terms, p->nterms, of->terms, of->nterms, sizeof(struct node_term));
	p->nterms += of->nterms;
	p->has_terms = p->nterms > 0;
}

const struct pod *words_template(struct arena *a, const struct job *j, const char *text)
{
	struct pod *p = words_pod(a, text ? text : "");
	p->ns = j->ns;
	p->priority_class = j->pod_priority_class;
	p->resources = j->pod;
	add_placement(a, p, &j->placement);
	return p;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void tell_node(struct words *w, char **word, size_t n)
{
	struct arena arena = {0};
	struct buf line;
	buf_init(&line, 4096);
	for (size_t i = 1; i < n; i++)
		buf_printf(&line, "%s%s", i > 1 ? " " : "", word[i]);
	queue_set_node(w->q, words_node(&arena, buf_text(&line)));
	buf_done(&line);
	arena_done(&arena);
}

static struct uid pod_uid(const char *name)
{
	struct uid uid = {{'p', 'o', 'd'}};
	for (size_t i = 0; name[i] && i + 3 < sizeof(uid.byte); i++)
		uid.byte[i + 3] = (uint8_t)name[i];
	return uid;
}

static bool tell_pod(struct words *w, char **word, size_t n)
{
	struct arena arena = {0};
	if (n != 7 || strcmp(word[2], "to") != 0 || strcmp(word[4], "of") != 0)
		return piece_wrong(w, "bind POD to NODE of JOB \"WORDS\"");
	struct bound_pod b = {
		.uid = pod_uid(word[1]), .node = word[3], .pod = words_pod(&arena, word[6])};
	if (strcmp(word[5], "-") != 0)
		b.owner = words_find_job(w, word[5])->uid;
	queue_bind_pod(w->q, &b);
	arena_done(&arena);
	return true;
}

static void tell_pod_gone(struct words *w, const char *name)
{
	struct uid uid = pod_uid(name);
	queue_unbind_pod(w->q, &uid);
}

static bool tell_runtime_class(struct words *w, char **word, size_t n)
{
	struct label label[8];
	struct runtime_class_spec s = {.name = word[1], .node_selector = label};
	for (size_t i = 2; i < n; i++) {
		char *key = strchr(word[i], '='), *value = key ? strchr(key, ':') : NULL;
		if (!piece_value(word[i], "select") || !value)
			return piece_wrong(w, "runtimeclass: what is %s?", word[i]);
		*value++ = '\0';
		label[s.nnode_selector++] = (struct label){key + 1, value};
	}
	queue_set_runtime_class(w->q, &s);
	words_tell_jobs_again(w);
	return true;
}

static bool tell_device_class(struct words *w, char **word, size_t n)
{
	queue_set_device_class(w->q,
		&(struct device_class_spec){.name = word[1], .resource = n > 2 ? word[2] : ""});
	return true;
}

static bool tell_disruption_budget(struct words *w, char **word, size_t n)
{
	char *name = piece_after(word[1], '/');
	struct disruption_budget_spec s = {.ns = word[1], .name = name};
	for (size_t i = 2; name && i < n; i++) {
		const char *allowed = piece_value(word[i], "allowed");
		if (allowed)
			s.allowed = atoi(allowed);
		else if (!piece_term(w, word[i], &s.selector))
			return false;
	}
	if (!name)
		return piece_wrong(w, "pdb NS/NAME allowed=N [TERM]");
	queue_set_disruption_budget(w->q, &s);
	return true;
}

/* ---- ResourceQuotas -------------------------------------------------------------------------- */

static bool read_scope(struct words *w, const char *text, struct quota_scope_term *ret)
{
	static const char *const name[] = {"Terminating", "NotTerminating", "BestEffort",
		"NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"};
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (strcmp(text, name[i]) == 0) {
			*ret = (struct quota_scope_term){(enum quota_scope)i, SELECTOR_EXISTS};
			return true;
		}
	return piece_wrong(w, "no scope is called %s", text);
}

/* RESOURCE=USED/HARD, or =HARD while the use is not counted yet. */
static bool read_limit(struct words *w, char *word, struct resource *used, size_t *nused,
	struct resource *ret_hard)
{
	char *value = piece_after(word, '='), *slash = value ? strchr(value, '/') : NULL;
	if (!value)
		return piece_wrong(w, "resourcequota: what is %s?", word);
	const char *hard = slash ? slash + 1 : value;
	enum quantity_unit unit = quota_unit_of(word);
	struct err e;
	*ret_hard = (struct resource){word, 0, (uint8_t)quantity_style_of(slice_of(hard))};
	if (slash)
		*slash = '\0';
	if (slash) {
		used[*nused] =
			(struct resource){word, 0, (uint8_t)quantity_style_of(slice_of(value))};
		if (quantity_parse(slice_of(value), unit, &used[(*nused)++].amount, &e))
			return piece_wrong(w, "%s", e.text);
	}
	if (quantity_parse(slice_of(hard), unit, &ret_hard->amount, &e))
		return piece_wrong(w, "%s", e.text);
	return true;
}

static bool tell_resource_quota(struct words *w, char **word, size_t n)
{
	struct resource used[8], hard[8];
	struct quota_scope_term scope[4];
	struct resource_quota s = {.ns = word[1],
		.name = piece_after(word[1], '/'),
		.hard.item = hard,
		.used.item = used,
		.scopes = scope};
	if (!s.name || n > 10)
		return piece_wrong(w, "resourcequota NS/NAME RESOURCE=USED/HARD ...");
	for (size_t i = 2; i < n; i++) {
		const char *text = piece_value(word[i], "scope"),
			   *at = piece_value(word[i], "version");
		bool read = true;
		if (at)
			s.version = atoll(at);
		else if (text)
			read = read_scope(w, text, &scope[s.nscopes++]);
		else
			read = read_limit(w, word[i], used, &s.used.count, &hard[s.hard.count++]);
		if (!read)
			return false;
	}
	queue_set_resource_quota(w->q, &s);
	queue_saw_quotas(w->q, NULL, s.version);
	return true;
}

/* NodePools of Karpenter: KEY=VALUE is a label of their nodes, a piece_term() a requirement. */
static bool tell_node_pool(struct words *w, char **word, size_t n)
{
	struct label label[8];
	struct made_nodes_spec s = {.name = word[1], .labels = label};
	for (size_t i = 2; i < n; i++) {
		char *value = strpbrk(word[i], "!~<>:") ? NULL : strchr(word[i], '=');
		if (value && s.nlabels < 8) {
			*value++ = '\0';
			label[s.nlabels++] = (struct label){word[i], value};
		} else if (!piece_term(w, word[i], &s.requirements)) {
			return false;
		}
	}
	queue_set_made_nodes(w->q, &s);
	return true;
}

static bool drop(struct words *w, char **word)
{
	char *name = piece_after(word[2], '/');
	if (strcmp(word[1], "node") == 0)
		queue_drop_node(w->q, word[2]);
	else if (strcmp(word[1], "nodepool") == 0)
		queue_drop_made_nodes(w->q, word[2]);
	else if (strcmp(word[1], "deviceclass") == 0)
		queue_drop_device_class(w->q, word[2]);
	else if (name && strcmp(word[1], "pdb") == 0)
		queue_drop_disruption_budget(w->q, word[2], name);
	else if (name)
		queue_drop_resource_quota(w->q, word[2], name);
	return true;
}

bool words_tell_cluster(struct words *w, char **word, size_t n, bool *ret_known)
{
	*ret_known = true;
	if (strcmp(word[0], "cluster") == 0)
		queue_know_cluster(w->q), queue_know_pods(w->q, true);
	else if (strcmp(word[0], "node") == 0)
		tell_node(w, word, n);
	else if (strcmp(word[0], "drop") == 0 && n > 2 &&
		 (strcmp(word[1], "node") == 0 || strcmp(word[1], "nodepool") == 0 ||
			 strcmp(word[1], "deviceclass") == 0 || strcmp(word[1], "pdb") == 0 ||
			 strcmp(word[1], "resourcequota") == 0))
		return drop(w, word);
	else if (strcmp(word[0], "nodepool") == 0)
		return tell_node_pool(w, word, n);
	else if (strcmp(word[0], "autoscaler") == 0)
		queue_set_cluster_autoscaler(w->q, strcmp(word[1], "works") == 0);
	else if (strcmp(word[0], "deviceclass") == 0)
		return tell_device_class(w, word, n);
	else if (strcmp(word[0], "deviceclasses") == 0)
		queue_know_device_classes(w->q, strcmp(word[1], "known") == 0);
	else if (strcmp(word[0], "pdb") == 0)
		return tell_disruption_budget(w, word, n);
	else if (strcmp(word[0], "resourcequota") == 0)
		return tell_resource_quota(w, word, n);
	else if (strcmp(word[0], "bind") == 0)
		return tell_pod(w, word, n);
	else if (strcmp(word[0], "unbind") == 0 && n == 2)
		tell_pod_gone(w, word[1]);
	else if (strcmp(word[0], "runtimeclass") == 0)
		return tell_runtime_class(w, word, n);
	else
		*ret_known = false;
	return true;
}

/* How many Jobs the quotas of their namespaces never admit. */
static bool say_beyond(struct words *w, const char *clusterqueue, char *got, size_t size)
{
	const char *name;
	size_t jobs;
	for (size_t i = 0; queue_count_beyond_quota(w->q, i, &name, &jobs); i++)
		if (strcmp(name, clusterqueue) == 0)
			snprintf(got, size, "beyond %s %zu", name, jobs);
	return true;
}

bool words_say_cluster(struct words *w, char **word, size_t n, char *got, size_t size)
{
	struct clusterqueue_view v;
	if (n == 3 && strcmp(word[0], "pods") == 0 && strcmp(word[1], "are") == 0) {
		snprintf(got, size, "pods are %s", queue_wants_pods(w->q) ? "wanted" : "unwanted");
		return true;
	}
	if (n == 3 && strcmp(word[0], "beyond") == 0)
		return say_beyond(w, word[1], got, size);
	if (n < 2 || strcmp(word[0], "nowhere") != 0)
		return false;
	for (size_t i = 0; queue_view_clusterqueue(w->q, i, &v); i++)
		if (strcmp(v.name, word[1]) == 0)
			snprintf(got, size, "nowhere %s %zu", v.name, v.no_node_suits);
	return true;
}

bool words_pool_of_flavor(struct flavor_spec *s, const char *word, const char *value)
{
	if (strcmp(word, "nodes") != 0)
		return false;
	s->pool = strcmp(value, "Autoscaled") == 0 ? NODE_POOL_AUTOSCALED : NODE_POOL_FIXED;
	return true;
}
