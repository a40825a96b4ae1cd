#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "controller/wire/decode_aside.h"
#include "controller/wire/decode_parts.h"
#include "queue/job/node_affinity.h"
#include "queue/job/placement.h"

static const char *const effects[] = {
	"", "NoSchedule", "PreferNoSchedule", "NoExecute", NULL}; /* enum taint_effect */
static const char *const toleration_ops[] = {
	"Equal", "Exists", "Lt", "Gt", NULL}; /* enum toleration_op */
static const char *const selector_ops[] = {
	"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", NULL}; /* enum selector_op */

const struct label *labels_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, size_t *ret_count)
{
	size_t n = 0;
	const struct path *at = PATH(up, key);
	const cJSON *map = map_field(d, up, object, key, max, ret_count);
	if (!map)
		return NULL;
	struct label *all = parcel_array(&d->parcel, *ret_count, sizeof(*all));
	json_each(item, map) {
		all[n].key = text_keep(d, at, item->string, NAME_MAX_BYTES);
		all[n].value = text_field(d, at, map, item->string, NAME_MAX_BYTES);
		n++;
	}
	return all;
}

const struct taint *taints_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, size_t *ret_count)
{
	size_t n = 0;
	const cJSON *list = objects_field(d, up, object, key, max, ret_count);
	struct taint *all = parcel_array(&d->parcel, *ret_count, sizeof(*all));
	json_each(item, list) {
		const struct path *at = PATH_INDEX(PATH(up, key), n);
		int effect = name_field(d, at, item, "effect", effects + 1, -1);
		all[n].key = text_field(d, at, item, "key", NAME_MAX_BYTES);
		all[n].value = text_field(d, at, item, "value", NAME_MAX_BYTES);
		all[n].effect = (enum taint_effect)(effect + 1);
		if (effect < 0)
			decoder_fault(d, at, "has no effect; write NoSchedule or NoExecute");
		if (*all[n].key == '\0')
			decoder_fault(d, at, "has no key; write the taint as the nodes carry it");
		n++;
	}
	return all;
}

static void fill_toleration(
	struct decoder *d, const struct path *at, const cJSON *item, struct toleration *ret)
{
	const char *op = json_text(item, "operator");
	ret->key = text_field(d, at, item, "key", NAME_MAX_BYTES);
	ret->value = text_field(d, at, item, "value", NAME_MAX_BYTES);
	if (!op || *op) /* "" is Equal, as absent */
		ret->op = (enum toleration_op)name_field(
			d, at, item, "operator", toleration_ops, TOLERATION_EQUAL);
	ret->effect = (enum taint_effect)name_field(d, at, item, "effect", effects, TAINT_ANY);
	int rc = json_i64(item, "tolerationSeconds", &ret->seconds);
	if (rc == ERR_INVALID)
		decoder_fault(d, PATH(at, "tolerationSeconds"), "must be a whole number");
	ret->has_seconds = rc == 0;
}

const struct toleration *tolerations_field(struct decoder *d, const struct path *up,
	const cJSON *object, size_t max, size_t *ret_count)
{
	const struct toleration *all;
	decode_objects(d, up, object, "tolerations", max, struct toleration, fill_toleration, &all,
		ret_count);
	return all;
}

/* Reads matchExpressions, written from ret on. */
static void expressions(
	struct decoder *d, const struct path *at, const cJSON *list, struct requirement *ret)
{
	size_t n = 0;
	json_each(item, list) {
		const struct path *here = PATH_INDEX(at, n++);
		int op = name_field(d, here, item, "operator", selector_ops, -1);
		if (op < 0)
			decoder_fault(d, here, "has no operator; write e.g. In");
		ret->key = text_field(d, here, item, "key", NAME_MAX_BYTES);
		ret->op = op < 0 ? SELECTOR_IN : (enum selector_op)op;
		ret->values = texts_field(d, here, item, "values", VALUES_MAX, true,
			"must be a string", &ret->nvalues);
		ret++;
	}
}

struct selector_term requirements_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key)
{
	size_t n;
	const cJSON *list = objects_field(d, up, object, key, REQUIREMENTS_MAX, &n);
	struct requirement *all = parcel_array(&d->parcel, n, sizeof(*all));
	expressions(d, PATH(up, key), list, all);
	return (struct selector_term){all, n};
}

struct selector_term label_selector(struct decoder *d, const struct path *at, const cJSON *selector)
{
	size_t nlabels, nexpressions;
	const struct label *labels =
		labels_field(d, at, selector, "matchLabels", REQUIREMENTS_MAX, &nlabels);
	const cJSON *list =
		objects_field(d, at, selector, "matchExpressions", REQUIREMENTS_MAX, &nexpressions);
	struct requirement *all =
		parcel_array(&d->parcel, nlabels + nexpressions, sizeof(struct requirement));
	for (size_t i = 0; i < nlabels; i++) {
		const char **value = parcel_array(&d->parcel, 1, sizeof(*value));
		must(labels);
		*value = labels[i].value;
		all[i] = (struct requirement){labels[i].key, SELECTOR_IN, value, 1};
	}
	expressions(d, PATH(at, "matchExpressions"), list, all + nlabels);
	return (struct selector_term){all, nlabels + nexpressions};
}

/* A start never makes more than can be read back. */
_Static_assert(TERMS_MAX >= NODE_AFFINITY_TERMS_MAX, "required and preferred terms");
_Static_assert(REQUIREMENTS_MAX >= NODE_AFFINITY_REQUIREMENTS_MAX, "requirements of a term");

static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
static const char preferred[] = "preferredDuringSchedulingIgnoredDuringExecution";

/* Reads matchExpressions alone: fields_field() reads the other half of a term. */
static struct node_term *terms_field(
	struct decoder *d, const struct path *up, const cJSON *o, size_t *ret_count)
{
	size_t n = 0;
	const cJSON *list = objects_field(d, up, o, "nodeSelectorTerms", TERMS_MAX, ret_count);
	struct node_term *all = parcel_array(&d->parcel, *ret_count, sizeof(*all));
	json_each(item, list) {
		const struct path *at = PATH_INDEX(PATH(up, "nodeSelectorTerms"), n);
		all[n++].labels = requirements_field(d, at, item, "matchExpressions");
	}
	return all;
}

static void fields_field(struct decoder *d, const struct path *up, const cJSON *o,
	struct node_term *all, size_t count)
{
	size_t n = 0;
	json_each(item, json_array(o, "nodeSelectorTerms")) {
		const struct path *at = PATH_INDEX(PATH(up, "nodeSelectorTerms"), n);
		if (n == count)
			break;
		all[n++].fields = requirements_field(d, at, item, "matchFields");
	}
}

static const struct preferred_term *preferred_field(
	struct decoder *d, const struct path *up, const cJSON *o, size_t *ret_count)
{
	size_t n = 0;
	const cJSON *list = objects_field(d, up, o, preferred, TERMS_MAX, ret_count);
	struct preferred_term *all = parcel_array(&d->parcel, *ret_count, sizeof(*all));
	json_each(item, list) {
		const struct path *at = PATH_INDEX(PATH(up, preferred), n);
		const struct path *here = PATH(at, "preference");
		const cJSON *term = object_field(d, at, item, "preference");
		all[n].weight = int32_field(d, at, item, "weight", 1, 0);
		if (all[n].weight < 1 || all[n].weight > 100)
			decoder_fault(
				d, PATH(at, "weight"), "must be a whole number from 1 to 100");
		all[n].term.labels = requirements_field(d, here, term, "matchExpressions");
		all[n].term.fields = requirements_field(d, here, term, "matchFields");
		n++;
	}
	return all;
}

void node_affinity_field(
	struct decoder *d, const struct path *at, const cJSON *o, struct placement *ret)
{
	const struct path *here = PATH(at, required);
	const cJSON *of = object_field(d, at, o, required);
	struct node_term *terms = terms_field(d, here, of, &ret->nterms);
	fields_field(d, here, of, terms, ret->nterms);
	ret->terms = terms;
	ret->preferred = preferred_field(d, at, o, &ret->npreferred);
}

/* Reads the owner's node affinity. Only required matchExpressions count for quota, so only their
 * faults are the Job's. A fault in matchFields (single nodes) or preferences (the scheduler's
 * business) only means that nothing can be joined to it. */
static void own_affinity(
	struct decoder *d, const struct path *at, const cJSON *o, struct placement *p)
{
	const struct path *here = PATH(at, required);
	const cJSON *of = object_field(d, at, o, required);
	struct node_term *terms = terms_field(d, here, of, &p->nterms);
	struct faults_aside a = faults_aside(d);
	fields_field(d, here, of, terms, p->nterms);
	p->preferred = preferred_field(d, at, o, &p->npreferred);
	p->affinity_unread = faults_back(d, &a) != NULL;
	p->terms = terms;
	if (!p->affinity_unread)
		return;
	p->npreferred = 0;
	for (size_t i = 0; i < p->nterms; i++)
		terms[i].fields = (struct selector_term){NULL, 0};
}

struct placement placement_field(struct decoder *d, const struct path *at, const cJSON *spec)
{
	struct placement p = {0};
	const struct path *affinity = PATH(at, "affinity");
	const cJSON *o = object_field(d, at, spec, "affinity");
	p.has_affinity = o != NULL;
	p.node_selector =
		labels_field(d, at, spec, "nodeSelector", NODE_SELECTOR_MAX, &p.nnode_selector);
	p.tolerations = tolerations_field(d, at, spec, TOLERATIONS_MAX, &p.ntolerations);
	own_affinity(d, PATH(affinity, "nodeAffinity"),
		object_field(d, affinity, o, "nodeAffinity"), &p);
	return p;
}

bool node_affinity_same(const struct placement *a, const struct placement *b)
{
	struct placement x = {.terms = a->terms,
		.nterms = a->nterms,
		.preferred = a->preferred,
		.npreferred = a->npreferred};
	struct placement y = {.terms = b->terms,
		.nterms = b->nterms,
		.preferred = b->preferred,
		.npreferred = b->npreferred};
	struct buf one, other;
	buf_init(&one, SIZE_MAX / 4);
	buf_init(&other, SIZE_MAX / 4);
	placement_key(&x, &one);
	placement_key(&y, &other);
	bool same =
		one.len == other.len && (one.len == 0 || memcmp(one.ptr, other.ptr, one.len) == 0);
	buf_done(&one);
	buf_done(&other);
	return same;
}

static bool label_in(const struct label *l, const struct label *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(l->key, all[i].key) == 0 && strcmp(l->value, all[i].value) == 0)
			return true;
	return false;
}

static bool toleration_in(const struct toleration *t, const struct toleration *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (t->op == all[i].op && t->effect == all[i].effect &&
			t->has_seconds == all[i].has_seconds && t->seconds == all[i].seconds &&
			strcmp(t->key, all[i].key) == 0 && strcmp(t->value, all[i].value) == 0)
			return true;
	return false;
}

static bool directives_within(const struct placement *a, const struct placement *b)
{
	for (size_t i = 0; i < a->nnode_selector; i++)
		if (!label_in(&a->node_selector[i], b->node_selector, b->nnode_selector))
			return false;
	for (size_t i = 0; i < a->ntolerations; i++)
		if (!toleration_in(&a->tolerations[i], b->tolerations, b->ntolerations))
			return false;
	return true;
}

bool directives_same(const struct placement *a, const struct placement *b)
{
	return directives_within(a, b) && directives_within(b, a);
}
