#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"
#include "queue/price/money.h"

#define BASES_MAX 64
#define FLAVORS_MAX 256
#define RATES_MAX 64
#define STALE_AFTER_MAX_MS (INT64_C(366) * 24 * 3600 * 1000)
#define STALE_AFTER_MS (INT64_C(36) * 3600 * 1000) /* the CRD's default too */

/* Reads one price; "memory-gib" is {"memory", per_gib}. */
static struct price_base base_item(struct decoder *d, const struct path *at, const cJSON *item)
{
	struct price_base b = {.per_hour = price_value(d, at, item)};
	char *name = NULL;
	b.resource = text_keep(d, at, item->string, NAME_MAX_BYTES);
	b.per_gib = priced_unit(d, at, b.resource) && priced_per_gib(b.resource);
	if (!b.per_gib)
		return b;
	size_t len = strlen(b.resource) - strlen("-gib");
	name = parcel_bytes(&d->parcel, len + 1);
	memcpy(name, b.resource, len);
	b.resource = name;
	return b;
}

static void bases_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct priceplan_spec *s)
{
	size_t n = 0;
	const struct path *at = PATH(up, "base");
	const cJSON *map = map_field(d, up, spec, "base", BASES_MAX, &s->nbases);
	struct price_base *all = parcel_array(&d->parcel, s->nbases, sizeof(*all));
	s->base = all;
	json_each(item, map) {
		all[n] = base_item(d, PATH(at, item->string), item);
		n++;
	}
	if (s->nbases == 0)
		decoder_fault(d, at,
			"names no price; write that of a unit for an hour, e.g. {cpu: \"0.040\", memory-gib: \"0.005\"}");
}

static void flavors_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct priceplan_spec *s)
{
	size_t n = 0;
	const struct path *at = PATH(up, "flavors");
	const cJSON *map = map_field(d, up, spec, "flavors", FLAVORS_MAX, &s->nflavors);
	struct price_flavor *all = parcel_array(&d->parcel, s->nflavors, sizeof(*all));
	s->flavor = all;
	json_each(item, map) {
		all[n].flavor = text_keep(d, at, item->string, NAME_MAX_BYTES);
		all[n].factor = factor_value(d, PATH(at, item->string), item);
		n++;
	}
}

static void fill_rate(
	struct decoder *d, const struct path *at, const cJSON *item, struct price_rate *ret)
{
	ret->calendar = needed_text(d, at, item, "calendar", "nights, the name of a Calendar");
	ret->window = text_field(d, at, item, "window", NAME_MAX_BYTES);
	ret->factor = factor_value(d, PATH(at, "factor"), json_get(item, "factor"));
}

static int64_t reference_field(struct decoder *d, const struct path *up, const cJSON *o)
{
	const struct path *at = PATH(up, "reference");
	const cJSON *value = json_get(o, "reference");
	int64_t reference = value ? price_value(d, at, value) : MONEY_UNIT;
	if (reference == 0)
		decoder_fault(d, at,
			"must be more than 0, for the values of the series are divided by it; write the value at which prices are those of base");
	return reference > 0 ? reference : MONEY_UNIT;
}

static void series_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct priceplan_spec *s)
{
	static const char *const stale[] = {"UseRates", "HoldStarts", NULL};
	const struct path *at = PATH(up, "series");
	const cJSON *o = object_field(d, up, spec, "series");
	s->series_configmap = s->series_key = "";
	s->has_series = o != NULL;
	if (!o)
		return;
	s->series_configmap = needed_text(d, at, o, "configMap", "day-ahead");
	s->series_key = text_field(d, at, o, "key", NAME_MAX_BYTES);
	if (!*s->series_key)
		s->series_key = "prices";
	s->series_reference = reference_field(d, at, o);
	s->stale_after_ms = span_field(d, at, o, "staleAfter", STALE_AFTER_MAX_MS, STALE_AFTER_MS);
	s->hold_when_stale = name_field(d, at, o, "whenStale", stale, 0) == 1;
}

static int fill_priceplan(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct priceplan_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	meta_fields(d, o, s);
	s->currency = currency_field(d, at, spec);
	s->queues = queue_globs_field(d, at, spec, "queues", false, &s->nqueues);
	bases_field(d, at, spec, s);
	flavors_field(d, at, spec, s);
	decode_objects(d, at, spec, "rates", RATES_MAX, struct price_rate, fill_rate, &s->rate,
		&s->nrates);
	series_field(d, at, spec, s);
	return decoder_verdict(d, "PricePlan", o, e);
}

DECODER(decode_priceplan, priceplan_spec, "PricePlan", 2048, fill_priceplan)
