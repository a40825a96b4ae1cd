#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"

/* Reads "team-a/batch", which is one queue and no glob. */
static void localqueue_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct budget_spec *s)
{
	char shown[SHOWN_SIZE];
	const char *text = text_field(d, up, spec, "localQueue", NAME_MAX_BYTES);
	const char *slash = strchr(text, '/');
	s->localqueue_ns = s->localqueue = "";
	if (*text == '\0')
		return;
	if (!slash || slash == text || slash[1] == '\0' || strchr(slash + 1, '/')) {
		decoder_fault(d, PATH(up, "localQueue"),
			"%s is not namespace/name; write e.g. team-a/batch",
			text_show(text, shown));
		return;
	}
	char *ns = parcel_bytes(&d->parcel, (size_t)(slash - text) + 1);
	memcpy(ns, text, (size_t)(slash - text));
	s->localqueue_ns = ns;
	s->localqueue = slash + 1;
}

static void queue_field(
	struct decoder *d, const struct path *up, const cJSON *spec, struct budget_spec *s)
{
	localqueue_field(d, up, spec, s);
	if (*s->clusterqueue && *s->localqueue)
		decoder_fault(d, up,
			"has both queue and localQueue; make a Budget of each, for both count");
	else if (!*s->clusterqueue && !*s->localqueue)
		decoder_fault(d, up,
			"names no queue; write queue, e.g. batch, or localQueue, e.g. team-a/batch");
}

static int fill_budget(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct budget_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	meta_fields(d, o, s);
	budget_spec_fields(d, at, spec, s);
	queue_field(d, at, spec, s);
	if (!json_get(spec, "period"))
		decoder_fault(d, PATH(at, "period"),
			"is missing; write Daily, Weekly, Monthly or Yearly");
	s->currency = cJSON_GetObjectItemCaseSensitive(spec, "currency")
			      ? currency_field(d, at, spec)
			      : ""; /* that of the PricePlan */
	s->amount = amount_value(d, PATH(at, "amount"), json_get(spec, "amount"));
	return decoder_verdict(d, "Budget", o, e);
}

DECODER(decode_budget, budget_spec, "Budget", 1024, fill_budget)
