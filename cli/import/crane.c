#include "cli/import/crane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "cli/import/crane_kinds.h"
#include "cli/import/crane_marks.h"
#include "cli/import/import.h"
#include "cli/import/metadata.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_node.h"
#include "sluice/placement.h"

#define OURS "sluice.dev/v1alpha1"

void crane_done(struct crane *c)
{
	for (size_t i = 0; i < c->nactions; i++) {
		free(c->action[i].name);
		cJSON_Delete(c->action[i].spec);
	}
	for (size_t i = 0; i < c->npolicies; i++) {
		struct crane_policy *p = &c->policy[i];
		for (size_t k = 0; k < p->nrules; k++)
			free(p->where[k]);
		free(p->where);
		cJSON_Delete(p->made);
		cJSON_Delete(p->rules);
	}
	for (size_t i = 0; i < c->nnodes; i++)
		free(c->node[i]);
	free(c->action);
	free(c->policy);
	free(c->node);
	*c = (struct crane){0};
}

/* ---- what comes ------------------------------------------------------------------------------ */

static cJSON *new_overcommit(void)
{
	cJSON *made = cJSON_CreateObject();
	must(cJSON_AddStringToObject(made, "apiVersion", OURS));
	must(cJSON_AddStringToObject(made, "kind", "NodeOvercommit"));
	return made;
}

/* Walks the rules, and keeps where each stands. */
static void take_rules(struct walk *w, const cJSON *spec, struct crane_policy *p)
{
	const cJSON *rules = json_array(spec, "rules");
	char where[WHERE_SIZE];
	size_t back = walk_step(w, "spec.rules");
	if (!rules && json_get(spec, "rules"))
		walk_refuse(w, "must be a list");
	json_each(rule, rules) {
		size_t inner = walk_step_item(w, p->nrules);
		walk_fields(w, crane_rule_fields, rule, NULL);
		p->where = mem_one_more(p->where, p->nrules, sizeof(*p->where));
		p->where[p->nrules++] = mem_strdup(walk_where(w, where));
		walk_back(w, inner);
	}
	walk_back(w, back);
	p->rules = rules ? cJSON_Duplicate(rules, true) : NULL;
}

static void take_policy(
	struct import *i, struct walk *w, const struct crane_kind *k, const cJSON *o)
{
	struct crane *c = &i->crane;
	c->policy = mem_one_more(c->policy, c->npolicies, sizeof(*c->policy));
	struct crane_policy *p = &c->policy[c->npolicies++];
	*p = (struct crane_policy){.item = i->nitems - 1, .made = new_overcommit()};
	walk_fields(w, k->fields, o, p->made);
	take_rules(w, json_object(o, "spec"), p);
	if (!cJSON_GetObjectItemCaseSensitive(p->made, "spec"))
		must(cJSON_AddObjectToObject(p->made, "spec"));
}

static void take_action(struct import *i, const cJSON *o)
{
	struct crane *c = &i->crane;
	c->action = mem_one_more(c->action, c->nactions, sizeof(*c->action));
	const cJSON *spec = json_object(o, "spec");
	c->action[c->nactions++] = (struct crane_action){.item = i->nitems - 1,
		.name = mem_strdup(decode_name(o)),
		.spec = spec ? cJSON_Duplicate(spec, true) : cJSON_CreateObject()};
}

static void take_prediction(struct import *i)
{
	if (i->crane.predicts)
		return;
	i->crane.predicts = true;
	i->crane.prediction = i->nitems - 1;
}

/* ---- PodQOS ---------------------------------------------------------------------------------- */

static bool has_word(const cJSON *list, const char *word)
{
	json_each(item, list)
		if (cJSON_IsString(item) && strcmp(item->valuestring, word) == 0)
			return true;
	return false;
}

/* Whether a PodQOS means pods that ask for nothing ordinary, whatever else narrows it. */
static bool means_lent_pods(const cJSON *spec)
{
	const cJSON *scopes = json_array(json_object(spec, "scopeSelector"), "matchExpressions");
	const cJSON *labels = json_object(json_object(spec, "labelSelector"), "matchLabels");
	json_each(s, scopes) {
		const cJSON *values = json_array(s, "values");
		if (json_is(s, "scopeName", "QOSClass") && json_is(s, "operator", "In") &&
			has_word(values, "BestEffort") && !values->child->next)
			return true;
	}
	return json_is(labels, "preemptible_job", "true");
}

/* Notes an action that a PodQOS does not allow. */
static void check_allowed(struct walk *w, const cJSON *spec, const char *action, const char *field)
{
	const cJSON *allowed = json_array(spec, "allowedActions");
	char capital[20];
	snprintf(capital, sizeof(capital), "%s", action);
	capital[0] -= 'a' - 'A';
	if (!has_word(allowed, action) && !has_word(allowed, capital))
		walk_note(w,
			"does not have %s: %s: false in the NodeOvercommits says that, for all lent pods",
			action, field);
}

static void judge_pods(struct walk *w, const cJSON *spec)
{
	const cJSON *scope = json_object(spec, "scopeSelector");
	size_t back = walk_step(w, scope ? "spec.scopeSelector" : "spec.labelSelector");
	if (!means_lent_pods(spec))
		walk_refuse(w,
			"is not taken: Sluice touches pods on idle resources alone, and this is not QOSClass In [BestEffort] or the label preemptible_job: \"true\"");
	walk_back(w, back);
	back = walk_step(w, "spec.allowedActions");
	check_allowed(w, spec, "eviction", "reclaim");
	check_allowed(w, spec, "throttle", "suppress");
	walk_back(w, back);
}

/* ---- which kind ------------------------------------------------------------------------------ */

static void take_target(struct walk *w, const cJSON *o, bool live)
{
	const cJSON *target = json_object(json_object(o, "spec"), "targetRef");
	if (json_is(target, "kind", "Node"))
		return;
	size_t back = walk_step(w, "spec.targetRef.kind");
	if (live)
		w->item->untouched = true; /* an autoscaler's */
	else
		walk_refuse(w, "is not Node: Sluice forecasts what nodes use, and nothing else");
	walk_back(w, back);
}

/* Walks an object that becomes none of ours. */
static void walk_only(struct walk *w, const struct field *fields, const cJSON *o)
{
	cJSON *scratch = cJSON_CreateObject();
	walk_fields(w, fields, o, scratch);
	cJSON_Delete(scratch);
}

static void take_known(struct import *i, struct walk *w, const struct crane_kind *k, const cJSON *o)
{
	switch (k->means) {
	case CRANE_POLICY:
		take_policy(i, w, k, o);
		break;
	case CRANE_ACTION:
		walk_only(w, k->fields, o);
		take_action(i, o);
		break;
	case CRANE_PODS:
		walk_only(w, k->fields, o);
		judge_pods(w, json_object(o, "spec"));
		break;
	case CRANE_PREDICTION:
		if (strcmp(k->name, "TimeSeriesPrediction") == 0)
			take_target(w, o, w->live);
		if (w->item->untouched || w->item->refused)
			break;
		walk_only(w, k->fields, o);
		take_prediction(i);
		break;
	}
}

/* Takes the template by which craned predicts each node: the text of a spec. */
static void take_template(struct import *i, struct walk *w, const cJSON *o)
{
	const char *text = json_text(json_object(o, "data"), "spec");
	const cJSON *spec;
	struct err e = {"it has no data.spec"};
	struct documents *d = text ? documents_new(slice_of(text)) : NULL;
	size_t back = walk_step(w, "data.spec");
	if (d && documents_next(d, &spec, &e) == 1) {
		walk_fields(w, crane_prediction_fields, spec, NULL);
		take_prediction(i);
	} else {
		walk_refuse(w, "cannot be read: %s", e.text);
	}
	documents_free(d);
	walk_back(w, back);
}

static void take_node(struct import *i, struct walk *w, const cJSON *o)
{
	struct crane *c = &i->crane;
	struct node_facts *n;
	struct err e = {""};
	w->item->untouched = true;
	if (decode_node(o, &n, &e) < 0)
		return;
	c->node = mem_one_more(c->node, c->nnodes, sizeof(*c->node));
	c->node[c->nnodes++] = n;
}

bool crane_take(struct import *i, struct walk *w, const char *api, const char *kind, const cJSON *o)
{
	const char *slash = strchr(api, '/');
	size_t group = slash ? (size_t)(slash - api) : 0, domain = strlen(CRANE_DOMAIN);
	const struct crane_kind *k = crane_kind_by_name(kind);
	bool of_crane = group > domain && api[group - domain - 1] == '.' &&
			strncmp(api + group - domain, CRANE_DOMAIN, domain) == 0;
	w->crane = &i->crane;
	w->whose = "Crane";
	if (strcmp(api, "v1") == 0 && strcmp(kind, "Node") == 0)
		take_node(i, w, o);
	else if (strcmp(kind, "ConfigMap") == 0 && strcmp(decode_name(o), CRANE_TEMPLATE) == 0)
		take_template(i, w, o);
	else if (!of_crane)
		return false;
	else if (!k || strncmp(k->api, api, group + 1) != 0)
		walk_refuse(w,
			"is no matter of Sluice, which lends idle resources: leave it with Crane");
	else if (strcmp(k->api, api) != 0)
		walk_refuse(w, "is of version %.60s; v1alpha1 is known", slash + 1);
	else
		take_known(i, w, k, o);
	return true;
}

/* ---- other objects --------------------------------------------------------------------------- */

static void rename_resources(struct walk *w, cJSON *list)
{
	static const char *const names[][2] = {
		{"gocrane.io/cpu", "gocran.io/cpu"}, {"gocrane.io/memory", "gocran.io/memory"}};
	for (cJSON *r = list ? list->child : NULL; r; r = r->next)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			if (!r->string || strcmp(r->string, names[i][0]) != 0)
				continue;
			size_t back = walk_step(w, r->string);
			walk_note(w, "becomes %s: Sluice lends under that name", names[i][1]);
			walk_back(w, back);
			cJSON_free(r->string);
			r->string = mem_strdup(names[i][1]);
		}
}

/* Renames lent resources wherever requests and limits are. */
static void rename_all(struct walk *w, cJSON *v)
{
	size_t index = 0;
	bool object = cJSON_IsObject(v);
	for (cJSON *item = v ? v->child : NULL; item; item = item->next) {
		size_t back = object ? walk_step(w, item->string) : walk_step_item(w, index++);
		if (object && (strcmp(item->string, "requests") == 0 ||
				      strcmp(item->string, "limits") == 0))
			rename_resources(w, item);
		rename_all(w, item);
		walk_back(w, back);
	}
}

void crane_take_other(struct walk *w, const cJSON *o, bool live)
{
	cJSON *made = cJSON_Duplicate(o, true);
	size_t back = w->path.len;
	if (!live)
		rename_all(w, made);
	if (walk_find_domain(w, made, CRANE_DOMAIN) || walk_find_domain(w, made, "gocrane/crane")) {
		walk_refuse(w, "names Crane: it goes with Crane, or is to be written anew");
		cJSON_Delete(made);
	} else if (live) {
		w->item->untouched = true;
		cJSON_Delete(made);
	} else {
		w->item->object = made;
	}
	walk_back(w, back);
}

/* ---- what they mean together ----------------------------------------------------------------- */

static struct crane_action *find_action(const struct crane *c, const char *name)
{
	for (size_t i = 0; name && i < c->nactions; i++)
		if (strcmp(c->action[i].name, name) == 0)
			return &c->action[i];
	return NULL;
}

static const cJSON *selector_of(const struct crane_policy *p)
{
	return json_object(json_object(p->made, "spec"), "nodeSelector");
}

static bool selects_the_same(const struct crane_policy *a, const struct crane_policy *b)
{
	const cJSON *x = selector_of(a), *y = selector_of(b);
	return x && y ? cJSON_Compare(x, y, true) : !x && !y;
}

static struct load least_of(struct load a, struct load b)
{
	return (struct load){a.cpu_milli < b.cpu_milli ? a.cpu_milli : b.cpu_milli,
		a.memory_bytes < b.memory_bytes ? a.memory_bytes : b.memory_bytes};
}

static struct load most_of(struct load a, struct load b)
{
	return (struct load){a.cpu_milli > b.cpu_milli ? a.cpu_milli : b.cpu_milli,
		a.memory_bytes > b.memory_bytes ? a.memory_bytes : b.memory_bytes};
}

/* Gives the smallest and the largest capacity of the nodes that a policy selects. */
static void measure(const struct crane *c, const struct crane_policy *p, struct crane_rule *ret)
{
	struct node_overcommit *o;
	struct err e = {""};
	bool any = false;
	if (decode_node_overcommit(p->made, &o, &e) < 0)
		return;
	for (size_t i = 0; i < c->nnodes; i++) {
		const struct node_facts *n = c->node[i];
		if (!labels_match(n->labels, n->nlabels, &o->selector))
			continue;
		ret->least = any ? least_of(ret->least, n->capacity) : n->capacity;
		ret->most = any ? most_of(ret->most, n->capacity) : n->capacity;
		any = true;
	}
	free(o);
}

static void take_marks(
	struct import *i, const struct crane_policy *p, bool previews, struct crane_marks *m)
{
	struct crane_rule r = {.item = &i->item[p->item]};
	measure(&i->crane, p, &r);
	json_each(rule, p->rules) {
		r.rule = rule;
		r.where = p->where[r.index];
		struct crane_action *action = find_action(&i->crane, json_text(rule, "actionName"));
		if (action)
			action->named = true;
		if (crane_rule_is_preview(rule) == previews)
			crane_marks_take(m, &r, action);
		r.index++;
	}
}

/* Finds the first NodeQOS with the same selector: its NodeOvercommit is that of all. */
static const struct crane_policy *first_alike(const struct import *i, const struct crane_policy *p)
{
	const struct crane_policy *q = i->crane.policy;
	while (q != p && (i->item[q->item].refused || !selects_the_same(q, p)))
		q++;
	return q;
}

static void check(struct import *i, struct import_item *item)
{
	struct node_overcommit *o = NULL;
	struct err e = {""};
	const char *field;
	if (decode_node_overcommit(item->object, &o, &e) < 0 ||
		accepted_check(&i->accepted, "NodeOvercommit", item->object, &e) < 0)
		item_refuse(item, item->where, "", "cannot be taken: %s",
			(field = strstr(e.text, ": ")) ? field + 2 : e.text);
	free(o);
}

static void put_names(const struct crane *c, cJSON *spec)
{
	cJSON *names = cJSON_AddArrayToObject(spec, "resourceNames");
	must(names);
	must(cJSON_AddItemToArray(names, cJSON_CreateString("gocran")));
	if (c->margin_percent >= 0)
		must(cJSON_AddNumberToObject(
			spec, "forecastMarginPercent", (double)c->margin_percent));
}

static void note_what_goes_on(struct import_item *item, const struct crane_marks *m)
{
	if (!m->throttles && !m->would_throttle)
		item_note(item, item->where, "",
			"has no rule of those taken that throttles: lent pods are pressed back all the same, as cpuSuppressThresholdPercent (65) says; suppress: false ends that");
	if (!m->evicts && !m->would_evict)
		item_note(item, item->where, "",
			"has no rule of those taken that evicts: idle resources are taken back all the same; reclaim: false ends that");
}

static void make_overcommit(struct import *i, struct crane_policy *first)
{
	struct crane_marks m;
	struct import_item *item = &i->item[first->item];
	crane_marks_begin(&m);
	for (int previews = 0; previews < 2; previews++)
		for (size_t k = 0; k < i->crane.npolicies; k++) {
			const struct crane_policy *p = &i->crane.policy[k];
			if (!i->item[p->item].refused && first_alike(i, p) == first)
				take_marks(i, p, previews, &m);
		}
	item->object = cJSON_Duplicate(first->made, true);
	cJSON *spec = cJSON_GetObjectItemCaseSensitive(item->object, "spec");
	put_names(&i->crane, spec);
	crane_marks_put(&m, spec);
	note_what_goes_on(item, &m);
	check(i, item);
}

static void settle_policies(struct import *i)
{
	const struct crane_policy *made = NULL;
	for (size_t k = 0; k < i->crane.npolicies; k++) {
		struct crane_policy *p = &i->crane.policy[k];
		struct import_item *item = &i->item[p->item];
		if (item->refused)
			continue;
		const struct crane_policy *first = first_alike(i, p);
		if (first != p) {
			item_note(item, item->where, "",
				"is part of NodeOvercommit %s: one holds for a node, the first by name",
				decode_name(first->made));
			continue;
		}
		if (made)
			item_note(item, item->where, "spec.selector",
				"is another than that of %s: of a node that both select the first by name holds alone, where Crane has both",
				decode_name(made->made));
		make_overcommit(i, p);
		made = made || item->refused ? made : p;
	}
}

/* Makes a NodeOvercommit of predictions alone. */
static void settle_predictions(struct import *i)
{
	const struct crane *c = &i->crane;
	if (c->npolicies > 0 || !c->predicts)
		return;
	struct import_item *item = &i->item[c->prediction];
	cJSON *made = new_overcommit();
	cJSON *metadata = cJSON_AddObjectToObject(made, "metadata");
	must(metadata && cJSON_AddStringToObject(metadata, "name", "crane"));
	put_names(c, cJSON_AddObjectToObject(made, "spec"));
	item->object = made;
	item_note(item, item->where, "",
		"becomes NodeOvercommit crane, for all nodes: give that a nodeSelector where only some are to lend");
	check(i, item);
}

static void settle_actions(struct import *i)
{
	for (size_t k = 0; k < i->crane.nactions; k++) {
		const struct crane_action *a = &i->crane.action[k];
		struct import_item *item = &i->item[a->item];
		if (!a->named && !item->refused)
			item_note(item, item->where, "",
				"is named by no rule that was taken: nothing follows from it");
	}
}

void crane_settle(struct import *i)
{
	settle_policies(i);
	settle_actions(i);
	settle_predictions(i);
}
