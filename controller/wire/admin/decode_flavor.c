/* ResourceFlavors: what their nodes are, what those lend, and what a start adds to pods. */
#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"
#include "queue/job/node_affinity.h"

#define TIMEOUT_MS (INT64_C(15) * 60 * 1000)
#define TIMEOUT_MAX_MS (INT64_C(24) * 3600 * 1000)
#define FLAVOR_LIST_MAX 64 /* labels, taints, tolerations; the CRD allows 8 of each */

/* Reads spec.idlePool: {names, share, limits}. An empty object is a pool by all defaults. */
static void idle_pool_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct flavor_spec *s)
{
	static const char *const names[] = {"Batch", "Gocran", NULL}; /* enum lending, from 1 on */
	static const char *const limits[] = {"Agent", "Kubelet", NULL};
	const struct path *at = PATH(up, "idlePool");
	const cJSON *pool = object_field(d, up, spec, "idlePool");
	if (!pool)
		return;
	int lending = LENDING_BATCH + name_field(d, at, pool, "names", names, 0);
	s->lending = (enum lending)lending;
	s->kubelet_limits = name_field(d, at, pool, "limits", limits, 0) == 1;
	s->share_permille = json_get(pool, "share") ? permille_field(d, at, pool, "share") : 1000;
	if (s->share_permille < 1 || s->share_permille > 1000)
		decoder_fault(d, PATH(at, "share"),
			"is not a share from 0.1%% to 100%%; write e.g. 80%%");
}

/* Reads spec.nodes. What lends idle resources is quota of nodes that are up, whatever is made. */
static void node_pool_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct flavor_spec *s)
{
	static const char *const names[] = {
		"Fixed", "Autoscaled", NULL}; /* enum node_pool, from 1 on */
	if (!json_get(spec, "nodes"))
		return;
	s->pool = (enum node_pool)(NODE_POOL_FIXED + name_field(d, up, spec, "nodes", names, 0));
	if (s->pool == NODE_POOL_AUTOSCALED && s->lending != LENDING_NONE)
		decoder_fault(d, PATH(up, "nodes"),
			"is Autoscaled beside idlePool: it is nodes that are up that lend; remove nodes");
}

/* Reads spec.provisioning: {className, parameters, timeout}. */
static void provisioning_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct flavor_spec *s)
{
	const struct path *at = PATH(up, "provisioning");
	const cJSON *o = object_field(d, up, spec, "provisioning");
	struct provisioning_spec *p = &s->provisioning;
	if (!o)
		return;
	p->class_name = needed_text(d, at, o, "className", "check-capacity.autoscaling.x-k8s.io");
	p->parameters = labels_field(d, at, o, "parameters", FLAVOR_LIST_MAX, &p->nparameters);
	p->timeout_ms = span_field(d, at, o, "timeout", TIMEOUT_MAX_MS, TIMEOUT_MS);
	if (p->timeout_ms < 1000)
		decoder_fault(d, PATH(at, "timeout"), "is less than a second; write e.g. 15m");
	if (s->lending != LENDING_NONE)
		decoder_fault(d, at,
			"stands beside idlePool: it is nodes that are up that lend; remove provisioning");
}

static void check_values(struct decoder *d, const struct path *at, const struct requirement *r)
{
	int64_t number;
	bool lists = r->op == SELECTOR_IN || r->op == SELECTOR_NOT_IN;
	bool compares = r->op == SELECTOR_GT || r->op == SELECTOR_LT;
	if (lists && r->nvalues == 0)
		decoder_fault(d, at, "has no values; name at least one");
	else if (compares && (r->nvalues != 1 || !text_number(r->values[0], INT64_MAX, &number)))
		decoder_fault(d, at, "needs one value, a whole number");
	else if (!lists && !compares && r->nvalues > 0)
		decoder_fault(d, at, "has values, and its operator takes none; remove them");
	for (size_t v = 0; v < r->nvalues; v++)
		if (!label_value_valid(r->values[v]))
			decoder_fault(d, at, "has a value that no label can have");
}

/* Refuses a term with which the API server would refuse each start, or no node would ever suit. */
static void check_term(struct decoder *d, const struct path *up, const struct node_term *t)
{
	const struct path *at = PATH(up, "matchExpressions");
	if (t->fields.nrequirements > 0)
		decoder_fault(d, PATH(up, "matchFields"),
			"would name single nodes; use matchExpressions and labels");
	if (t->labels.nrequirements == 0)
		decoder_fault(d, at, "is missing: such a term matches no node; name a label");
	for (size_t i = 0; i < t->labels.nrequirements; i++) {
		const struct requirement *r = &t->labels.requirements[i];
		if (!label_key_valid(r->key))
			decoder_fault(d, PATH_INDEX(at, i), "has a key that no label can have");
		check_values(d, PATH_INDEX(at, i), r);
	}
}

/* Checks the node affinity beside nodeLabels and nodeSelector of the flavor. */
static void check_whole(struct decoder *d, const struct path *at, const struct flavor_spec *s)
{
	const char *key = NULL;
	enum node_affinity_verdict v = node_affinity_judge_flavor(&s->nodes, &s->adds, &key);
	if (v == NODE_AFFINITY_CONTRADICTS)
		decoder_fault(d, PATH(at, "nodeAffinity"),
			"contradicts itself, or nodeLabels or nodeSelector, so no node could suit: see label %s",
			key ? key : "?");
	else if (v != NODE_AFFINITY_JOINED)
		decoder_fault(d, PATH(at, "nodeAffinity"),
			"is larger than %d bytes; use fewer or shorter values",
			NODE_AFFINITY_BYTES_MAX);
}

static void check_selector(struct decoder *d, const struct path *at, const struct flavor_spec *s)
{
	for (size_t i = 0; i < s->adds.nnode_selector; i++) {
		const struct label *l = &s->adds.node_selector[i];
		if (!label_key_valid(l->key) || !label_value_valid(l->value))
			decoder_fault(d, PATH(at, l->key), "is no label that a node can have");
		for (size_t k = 0; k < s->nodes.nlabels; k++)
			if (strcmp(s->nodes.labels[k].key, l->key) == 0 &&
				strcmp(s->nodes.labels[k].value, l->value) != 0)
				decoder_fault(d, PATH(at, l->key),
					"contradicts nodeLabels, which has another value for it; write it in one place");
	}
}

/* Checks what the API server checks of a toleration, but for the operators. */
static void check_toleration(struct decoder *d, const struct path *at, const struct toleration *t)
{
	bool exists = t->op == TOLERATION_EXISTS;
	if (*t->key && !label_key_valid(t->key))
		decoder_fault(
			d, PATH(at, "key"), "is not a key; write e.g. spot or example.com/spot");
	else if (!*t->key && !exists)
		decoder_fault(d, PATH(at, "key"),
			"is missing; name one, or set operator to Exists to tolerate every taint");
	if (exists && *t->value)
		decoder_fault(d, PATH(at, "value"),
			"must be empty when operator is Exists; remove it, or set operator to Equal");
	else if (!label_value_valid(t->value))
		decoder_fault(d, PATH(at, "value"), "is not a value that a taint can have");
	if (t->has_seconds && t->effect != TAINT_NO_EXECUTE)
		decoder_fault(d, PATH(at, "tolerationSeconds"),
			"needs effect NoExecute; set it, or remove tolerationSeconds");
}

static void pod_template_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct flavor_spec *s)
{
	const struct path *at = PATH(up, "podTemplate"), *node = PATH(at, "nodeAffinity");
	const struct path *required = PATH(
		PATH(node, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
	const struct path *preferred =
		PATH(node, "preferredDuringSchedulingIgnoredDuringExecution");
	const cJSON *o = object_field(d, up, spec, "podTemplate");
	s->metadata = pod_metadata_field(d, at, o);
	s->adds.node_selector =
		labels_field(d, at, o, "nodeSelector", FLAVOR_LIST_MAX, &s->adds.nnode_selector);
	s->adds.tolerations = tolerations_field(d, at, o, FLAVOR_LIST_MAX, &s->adds.ntolerations);
	node_affinity_field(d, node, object_field(d, at, o, "nodeAffinity"), &s->adds);
	check_selector(d, PATH(at, "nodeSelector"), s);
	for (size_t i = 0; i < s->adds.ntolerations; i++)
		check_toleration(
			d, PATH_INDEX(PATH(at, "tolerations"), i), &s->adds.tolerations[i]);
	for (size_t i = 0; i < s->adds.nterms; i++)
		check_term(d, PATH_INDEX(required, i), &s->adds.terms[i]);
	for (size_t i = 0; i < s->adds.npreferred; i++)
		check_term(d, PATH(PATH_INDEX(preferred, i), "preference"),
			&s->adds.preferred[i].term);
	if (!d->faulty)
		check_whole(d, at, s);
}

static int fill_flavor(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct flavor_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	struct node_group *g = &s->nodes;
	const cJSON *spec = object_field(d, NULL, o, "spec");
	s->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES);
	g->labels = labels_field(d, at, spec, "nodeLabels", FLAVOR_LIST_MAX, &g->nlabels);
	g->taints = taints_field(d, at, spec, "nodeTaints", FLAVOR_LIST_MAX, &g->ntaints);
	g->tolerations = tolerations_field(d, at, spec, FLAVOR_LIST_MAX, &g->ntolerations);
	idle_pool_field(d, at, spec, s);
	node_pool_field(d, at, spec, s);
	provisioning_field(d, at, spec, s);
	pod_template_field(d, at, spec, s);
	return decoder_verdict(d, "ResourceFlavor", o, e);
}

DECODER(decode_flavor, flavor_spec, "ResourceFlavor", 1024, fill_flavor)
