#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"

/* Refuses an exemption that exempts nothing: it was meant otherwise. */
static void check_exempt(
	struct decoder *d, const struct path *at, const cJSON *spec, const struct runpolicy_spec *s)
{
	if (json_get(json_get(spec, "atClose"), "exempt") && !s->has_exempt_priority &&
		!s->has_exempt_selector)
		decoder_fault(d, PATH(PATH(at, "atClose"), "exempt"),
			"exempts no Job; write priorityAtLeast or selector, or remove it");
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

static void check_quotas(struct decoder *d, const struct path *up, const struct runpolicy_spec *s)
{
	for (size_t i = 0; i < s->nquotas; i++) {
		const struct window_quota_spec *q = &s->quota[i];
		const struct path *at = PATH_INDEX(PATH(up, "quota"), i);
		if (q->has_lending && q->lending_limit > q->nominal)
			decoder_fault(d, PATH(at, "lendingLimit"),
				"is more than nominal: a queue cannot lend more than it owns; lower it");
		check_twice(d, at, s->quota, i);
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
	meta_fields(d, o, s);
	runpolicy_spec_fields(d, at, spec, s);
	s->margin_permille =
		permille_field(d, PATH(at, "start"), json_get(spec, "start"), "safetyMargin");
	if (s->nqueues + s->nlocalqueues == 0)
		decoder_fault(d, at,
			"names no queue; write queues, e.g. [batch, sim-*], or localQueues, e.g. [team-a/*]");
	check_exempt(d, at, spec, s);
	check_quotas(d, at, s);
	return decoder_verdict(d, "RunPolicy", o, e);
}

DECODER(decode_runpolicy, runpolicy_spec, "RunPolicy", 2048, fill_runpolicy)
