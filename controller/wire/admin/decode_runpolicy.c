#include <string.h>

#include "controller/wire/admin/decode_fields.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"

#define QUOTAS_MAX 256

/* What exempts nothing was meant otherwise. */
static void check_exempt(
	struct decoder *d, const struct path *at, const cJSON *spec, const struct runpolicy_spec *s)
{
	if (json_get(json_get(spec, "atClose"), "exempt") && !s->has_exempt_priority &&
		!s->has_exempt_selector)
		decoder_fault(d, PATH(PATH(at, "atClose"), "exempt"),
			"exempts no Job; write priorityAtLeast or selector, or remove it");
}

static int64_t limit_field(struct decoder *d, const struct path *up, const cJSON *o,
	const char *key, const char *resource, bool *ret_has)
{
	const cJSON *value = json_get(o, key);
	*ret_has = value != NULL;
	return value ? quantity_value(d, PATH(up, key), value, resource) : QUOTA_UNLIMITED;
}

static struct window_quota_spec quota_item(struct decoder *d, const struct path *at, const cJSON *o)
{
	struct window_quota_spec q = {0};
	const cJSON *nominal = json_get(o, "nominal");
	q.window = needed_text(d, at, o, "window", "night, a window of the calendar");
	q.flavor = needed_text(d, at, o, "flavor", "default");
	q.resource = needed_text(d, at, o, "resource", "cpu");
	if (nominal)
		q.nominal = quantity_value(d, PATH(at, "nominal"), nominal, q.resource);
	else
		decoder_fault(d, PATH(at, "nominal"), "is missing; write e.g. 40 or 64Gi");
	q.borrowing_limit = limit_field(d, at, o, "borrowingLimit", q.resource, &q.has_borrowing);
	q.lending_limit = limit_field(d, at, o, "lendingLimit", q.resource, &q.has_lending);
	if (q.has_lending && q.lending_limit > q.nominal)
		decoder_fault(d, PATH(at, "lendingLimit"),
			"is more than nominal: a queue cannot lend more than it owns; lower it");
	return q;
}

static bool is_same(const struct window_quota_spec *a, const struct window_quota_spec *b)
{
	return strcmp(a->window, b->window) == 0 && strcmp(a->flavor, b->flavor) == 0 &&
	       strcmp(a->resource, b->resource) == 0;
}

static void check_twice(
	struct decoder *d, const struct path *at, const struct window_quota_spec *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_same(&all[i], &all[n]))
			decoder_fault(d, at,
				"has window, flavor and resource of quota[%zu]; remove one of them",
				i);
}

static void quotas_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct runpolicy_spec *s)
{
	size_t n = 0;
	const cJSON *list = objects_field(d, up, spec, "quota", QUOTAS_MAX, &s->nquotas);
	struct window_quota_spec *all = parcel_array(&d->parcel, s->nquotas, sizeof(*all));
	s->quota = all;
	json_each(item, list) {
		const struct path *at = PATH_INDEX(PATH(up, "quota"), n);
		all[n] = quota_item(d, at, item);
		check_twice(d, at, all, n);
		n++;
	}
	if (s->nquotas > 0 && s->nqueues == 0)
		decoder_fault(d, PATH(up, "quota"),
			"is that of ClusterQueues, and none is named; write queues, or remove it");
}

static int fill_runpolicy(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct runpolicy_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	s->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES);
	s->generation = meta_generation(o);
	s->deleting = meta_deleting(o);
	runpolicy_spec_fields(d, at, spec, s);
	s->margin_permille =
		permille_field(d, PATH(at, "start"), json_get(spec, "start"), "safetyMargin");
	if (s->nqueues + s->nlocalqueues == 0)
		decoder_fault(d, at,
			"names no queue; write queues, e.g. [batch, sim-*], or localQueues, e.g. [team-a/*]");
	check_exempt(d, at, spec, s);
	quotas_field(d, at, spec, s);
	return decoder_verdict(d, "RunPolicy", o, e);
}

DECODER(decode_runpolicy, runpolicy_spec, "RunPolicy", 2048, fill_runpolicy)
