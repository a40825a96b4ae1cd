#include "test/sim/directives.h"

#include <string.h>

#include "base/must.h"
#include "base/json.h"
#include "test/sim/sim.h"

#define SHARED "flavor" /* a label of all flavors */

#define PLAIN_FLAVOR 1 /* prefers no nodes: a start in it takes node affinity off */

static const char *const own_keys[FLAVORS] = {"in/spot", "in/on-demand", "in/gpu"};

void directives_of_flavor(size_t flavor, struct flavor_spec *ret)
{
	static struct label label[FLAVORS][2], annotation[FLAVORS];
	static struct requirement named[FLAVORS];
	static struct preferred_term likes[FLAVORS];
	label[flavor][0] = (struct label){own_keys[flavor], "yes"};
	label[flavor][1] = (struct label){SHARED, flavor_names[flavor]};
	annotation[flavor] = (struct label){own_keys[flavor], "since \"then\""};
	named[flavor] = (struct requirement){
		"pool", SELECTOR_IN, (const char *const *)&flavor_names[flavor], 1};
	likes[flavor] = (struct preferred_term){1, {.labels = {&named[flavor], 1}}};
	ret->metadata = (struct pod_metadata){label[flavor], 2, &annotation[flavor], 1};
	ret->adds.preferred = &likes[flavor];
	ret->adds.npreferred = flavor != PLAIN_FLAVOR;
}

static bool runs_in(const struct snap *n, size_t flavor)
{
	for (size_t i = 0; n->run && i < n->run->nlines; i++)
		if (strcmp(n->run->line[i].flavor, flavor_names[flavor]) == 0)
			return true;
	return false;
}

static const cJSON *preferences(const cJSON *template)
{
	const cJSON *affinity = json_object(json_object(template, "spec"), "affinity");
	return json_array(json_object(affinity, "nodeAffinity"),
		"preferredDuringSchedulingIgnoredDuringExecution");
}

static bool prefers(const cJSON *template, const char *pool)
{
	json_each(item, preferences(template)) {
		const cJSON *list = json_array(json_object(item, "preference"), "matchExpressions");
		const cJSON *value =
			cJSON_GetArrayItem(json_array(cJSON_GetArrayItem(list, 0), "values"), 0);
		if (cJSON_IsString(value) && strcmp(value->valuestring, pool) == 0)
			return true;
	}
	return false;
}

void directives_check(struct sim *s, const struct snap *n, const cJSON *template)
{
	const cJSON *meta = json_object(template, "metadata");
	const cJSON *labels = json_object(meta, "labels");
	const cJSON *annotations = json_object(meta, "annotations");
	int wanted = 0;
	for (size_t f = 0; f < FLAVORS; f++) {
		bool in = runs_in(n, f), likes = in && f != PLAIN_FLAVOR;
		wanted += likes;
		if ((json_text(labels, own_keys[f]) != NULL) != in ||
			(json_text(annotations, own_keys[f]) != NULL) != in ||
			prefers(template, flavor_names[f]) != likes)
			sim_break(s, "P2", "%s runs %s flavor %s, and its template says otherwise",
				n->job.name, in ? "in" : "outside", flavor_names[f]);
	}
	const cJSON *affinity = json_object(json_object(template, "spec"), "affinity");
	if (cJSON_GetArraySize(preferences(template)) != wanted ||
		(affinity != NULL) != (wanted > 0))
		sim_break(s, "P2", "%s has %d preferences of %d flavors", n->job.name,
			cJSON_GetArraySize(preferences(template)), wanted);
	if (!json_text(labels, SHARED) || !json_text(labels, "app"))
		sim_break(s, "P2", "%s lacks a label", n->job.name);
}

static const char *const *keep_names(struct sim *s, const char *const *all, size_t n)
{
	const char **kept = pool_alloc(&s->pool, (n + 1) * sizeof(*kept));
	for (size_t i = 0; i < n; i++)
		kept[i] = pool_strdup(&s->pool, all[i]);
	return kept;
}

static void keep_keys(struct sim *s, struct template_keys *k)
{
	k->own = keep_names(s, k->own, k->nown);
	k->old = keep_names(s, k->old, k->nold);
}

void directives_keep(struct sim *s, struct snap *n, const struct job *read)
{
	if (read->placement.nterms + read->placement.npreferred > 0 ||
		read->placement.has_affinity || read->metadata.labels.nown != 1 ||
		read->metadata.annotations.nown != 0)
		sim_break(s, "P2", "%s: what flavors added is taken for its owner's", n->job.name);
	n->job.metadata = read->metadata;
	keep_keys(s, &n->job.metadata.labels);
	keep_keys(s, &n->job.metadata.annotations);
}
