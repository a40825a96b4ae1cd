#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"
#include "controller/wire/decode_template.h"
#include "sluice/quantity.h"

/* The first guess at a quota's size: one of five hard limits takes about 700 bytes. */
#define QUOTA_GUESS 1024
#define LIMITS_MAX 1024 /* each kind of object may be counted */
#define SCOPES_MAX 64

static const char *const scopes[] = {"Terminating", "NotTerminating", "BestEffort", "NotBestEffort",
	"PriorityClass", "CrossNamespacePodAffinity", NULL}; /* enum quota_scope */

/* Reads an amount, a limit rounded down, use rounded up. One that is too large is as good as no
 * limit. */
static int64_t amount_of(struct decoder *d, const struct path *at, const cJSON *value,
	enum quantity_unit unit, bool down)
{
	int64_t amount, milli;
	struct slice text = slice_of(cJSON_IsString(value) ? value->valuestring : "");
	int rc = quantity_parse(text, unit, &amount, NULL);
	if (rc == ERR_LIMIT && text.ptr[0] != '-')
		return INT64_MAX;
	if (rc < 0 || amount < 0) /* says what is wrong, and reads numbers */
		return quantity_value(d, at, value, unit == QUANTITY_MILLI ? "cpu" : "pods");
	if (down && unit == QUANTITY_WHOLE &&
		quantity_parse(text, QUANTITY_MILLI, &milli, NULL) == 0)
		return milli / 1000;
	return amount;
}

static struct resource_list quota_amounts(
	struct decoder *d, const struct path *up, const cJSON *status, const char *key, bool down)
{
	size_t count, n = 0;
	const struct path *at = PATH(up, key);
	const cJSON *map = map_field(d, up, status, key, LIMITS_MAX, &count);
	struct resource *all = parcel_array(&d->parcel, count, sizeof(*all));
	json_each(value, map) {
		const struct path *here = PATH(at, value->string);
		all[n].name = text_keep(d, here, value->string, NAME_MAX_BYTES);
		all[n].amount = amount_of(d, here, value, quota_unit_of(all[n].name), down);
		if (cJSON_IsString(value))
			all[n].style = (uint8_t)quantity_style_of(slice_of(value->valuestring));
		n++;
	}
	return (struct resource_list){all, n};
}

static enum quota_scope scope_of(const char *name)
{
	for (int i = 0; name && scopes[i]; i++)
		if (strcmp(name, scopes[i]) == 0)
			return (enum quota_scope)i;
	return SCOPE_OTHER;
}

static struct quota_scope_term selector_item(
	struct decoder *d, const struct path *at, const cJSON *item)
{
	static const char *const operators[] = {
		"In", "NotIn", "Exists", "DoesNotExist", NULL}; /* enum selector_op */
	struct quota_scope_term t = {.scope = scope_of(json_text(item, "scopeName"))};
	int op = name_field(d, at, item, "operator", operators, -1);
	if (op < 0)
		decoder_fault(d, at, "has no operator; write e.g. Exists");
	t.op = op < 0 ? SELECTOR_EXISTS : (enum selector_op)op;
	t.values = texts_field(
		d, at, item, "values", VALUES_MAX, true, "must be a string", &t.nvalues);
	return t;
}

/* Reads scopes, and the terms of scopeSelector behind them. */
static void read_scopes(
	struct decoder *d, const struct path *at, const cJSON *spec, struct resource_quota *q)
{
	size_t plain, terms, n = 0;
	const struct path *selector = PATH(at, "scopeSelector");
	const cJSON *list = list_field(d, at, spec, "scopes", SCOPES_MAX, &plain);
	const cJSON *of = objects_field(d, selector, object_field(d, at, spec, "scopeSelector"),
		"matchExpressions", SCOPES_MAX, &terms);
	struct quota_scope_term *all = parcel_array(&d->parcel, plain + terms, sizeof(*all));
	json_each(item, list) {
		const char *name = cJSON_IsString(item) ? item->valuestring : NULL;
		all[n++] = (struct quota_scope_term){scope_of(name), SELECTOR_EXISTS, NULL, 0};
	}
	json_each(term, of) {
		const struct path *here = PATH_INDEX(PATH(selector, "matchExpressions"), n - plain);
		all[n++] = selector_item(d, here, term);
	}
	q->scopes = all;
	q->nscopes = n;
}

static struct resource_quota *start_quota(struct decoder *d, const cJSON *o)
{
	const struct path *meta = PATH(NULL, "metadata");
	struct resource_quota *q = parcel_array(&d->parcel, 1, sizeof(*q));
	q->ns = text_keep(d, meta, decode_namespace_of(o), NAME_MAX_BYTES);
	q->name = text_keep(d, meta, decode_name(o), NAME_MAX_BYTES);
	return q;
}

static int fill_quota(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *status = PATH(NULL, "status");
	struct resource_quota *q = start_quota(d, o);
	const cJSON *of = object_field(d, NULL, o, "status");
	const char *version = json_text(meta_of(o), "resourceVersion");
	if (version)
		text_number(version, INT64_MAX, &q->version);
	q->hard = quota_amounts(d, status, of, "hard", true);
	q->used = quota_amounts(d, status, of, "used", false);
	read_scopes(d, PATH(NULL, "spec"), object_field(d, NULL, o, "spec"), q);
	return decoder_verdict(d, "ResourceQuota", o, e);
}

DECODER(decode_resource_quota, resource_quota, "ResourceQuota", QUOTA_GUESS, fill_quota)

/* ---- As users write it ---- */

/* Whether a name without a domain is one of a quota (Kubernetes 1.36, pkg/apis/core/helper,
 * IsStandardQuotaResourceName). */
static bool is_standard(const char *name)
{
	static const char *const all[] = {"cpu", "memory", "ephemeral-storage", "requests.cpu",
		"requests.memory", "requests.storage", "requests.ephemeral-storage", "limits.cpu",
		"limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services",
		"replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps",
		"services.nodeports", "services.loadbalancers"};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(name, all[i]) == 0)
			return true;
	return strncmp(name, "hugepages-", 10) == 0 ||
	       strncmp(name, "requests.hugepages-", 19) == 0;
}

static bool has_scope(const struct resource_quota *q, enum quota_scope scope)
{
	for (size_t i = 0; i < q->nscopes; i++)
		if (q->scopes[i].scope == scope)
			return true;
	return false;
}

static void check_limits(
	struct decoder *d, const struct path *spec, const cJSON *of, const struct resource_quota *q)
{
	const struct path *at = PATH(spec, "hard");
	bool best_effort = has_scope(q, SCOPE_BEST_EFFORT);
	if (q->hard.count == 0)
		decoder_fault(d, at, "is missing; write e.g. {requests.cpu: 40, pods: 100}");
	json_each(value, json_object(of, "hard")) {
		const struct path *here = PATH(at, value->string);
		if (strchr(value->string, '/'))
			continue;
		if (!is_standard(value->string))
			decoder_fault(d, here,
				"is nothing that a quota limits; write e.g. cpu, requests.memory, limits.cpu, pods, count/pods or requests.nvidia.com/gpu");
		else if (best_effort && strcmp(value->string, "pods") != 0)
			decoder_fault(d, here,
				"scope BestEffort goes with pods alone; remove one of the two");
	}
}

static void check_scope(struct decoder *d, const struct path *at, const char *name)
{
	char shown[SHOWN_SIZE];
	if (name && (scope_of(name) != SCOPE_OTHER || strcmp(name, "VolumeAttributesClass") == 0))
		return;
	decoder_fault(d, at,
		"is %s; must be Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass, CrossNamespacePodAffinity or VolumeAttributesClass",
		name ? text_show(name, shown) : "no text");
}

static void check_scopes(struct decoder *d, const struct path *spec, const cJSON *of)
{
	const struct path *terms = PATH(PATH(spec, "scopeSelector"), "matchExpressions");
	const struct path *plain = PATH(spec, "scopes");
	size_t i = 0, n = 0;
	json_each(item, json_array(of, "scopes"))
		check_scope(
			d, PATH_INDEX(plain, i++), cJSON_IsString(item) ? item->valuestring : NULL);
	json_each(term, json_array(json_object(of, "scopeSelector"), "matchExpressions"))
		check_scope(
			d, PATH(PATH_INDEX(terms, n++), "scopeName"), json_text(term, "scopeName"));
}

/* Decodes a quota of a file: nothing is used, and its controller counts as having looked at it. */
static int fill_written(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *spec = PATH(NULL, "spec");
	struct resource_quota *q = start_quota(d, o);
	const cJSON *of = object_field(d, NULL, o, "spec");
	q->hard = quota_amounts(d, spec, of, "hard", true);
	struct resource *used = parcel_array(&d->parcel, q->hard.count, sizeof(*used));
	for (size_t i = 0; i < q->hard.count; i++)
		used[i] = (struct resource){.name = q->hard.item[i].name};
	q->used = (struct resource_list){used, q->hard.count};
	read_scopes(d, spec, of, q);
	check_scopes(d, spec, of);
	check_limits(d, spec, of, q);
	return decoder_verdict(d, "ResourceQuota", o, e);
}

DECODER(decode_written_quota, resource_quota, "ResourceQuota", QUOTA_GUESS, fill_written)
