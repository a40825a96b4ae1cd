/* What pods and nodes use, as metrics.k8s.io tells it. */
#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_node.h"
#include "controller/wire/decode_parts.h"

#define USAGE_GUESS 512
#define CONTAINERS_MAX 512

/* Reads an amount ("10999722340n", "1500u"), rounded up to thousandths of a core and to bytes: use
 * is never told smaller than it is. */
static int64_t used_of(
	struct decoder *d, const struct path *at, const cJSON *usage, const char *resource)
{
	const cJSON *value = json_get(usage, resource);
	if (value)
		return quantity_value(d, PATH(at, resource), value, resource);
	decoder_fault(d, PATH(at, resource), "is missing; a sample must have cpu and memory");
	return 0;
}

static struct load usage_value(struct decoder *d, const struct path *up, const cJSON *object)
{
	const struct path *at = PATH(up, "usage");
	const cJSON *usage = object_field(d, up, object, "usage");
	return (struct load){used_of(d, at, usage, "cpu"), used_of(d, at, usage, "memory")};
}

static struct load containers_value(struct decoder *d, const cJSON *o)
{
	size_t n = 0, count;
	struct load sum = {0};
	const cJSON *list = objects_field(d, NULL, o, "containers", CONTAINERS_MAX, &count);
	if (count == 0)
		decoder_fault(d, PATH(NULL, "containers"), "has none; that is no sample");
	json_each(c, list) {
		const struct path *at = PATH_INDEX(PATH(NULL, "containers"), n++);
		sum = load_add(sum, usage_value(d, at, c));
	}
	return sum;
}

static bool is_pod(const cJSON *o)
{
	const char *kind = json_text(o, "kind"); /* items of a list have none */
	return kind ? strcmp(kind, "PodMetrics") == 0 : *decode_namespace_of(o) != '\0';
}

static int fill_usage(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *meta = PATH(NULL, "metadata");
	struct usage_facts *u = parcel_array(&d->parcel, 1, sizeof(*u));
	const char *at = json_text(o, "timestamp");
	bool pod = is_pod(o);
	u->ns = text_keep(d, meta, pod ? decode_namespace_of(o) : "", NAME_MAX_BYTES);
	u->name = text_keep(d, meta, decode_name(o), NAME_MAX_BYTES);
	if (at && !text_time(at, &u->at_ms))
		decoder_fault(d, PATH(NULL, "timestamp"),
			"is not a time; write e.g. 2026-11-21T09:58:30Z");
	u->used = pod ? containers_value(d, o) : usage_value(d, NULL, o);
	return decoder_verdict(d, pod ? "PodMetrics" : "NodeMetrics", o, e);
}

int decode_usage(const cJSON *o, struct usage_facts **ret, struct err *e)
{
	void *block = NULL;
	const char *kind = is_pod(o) ? "PodMetrics" : "NodeMetrics";
	int rc = decode_kind(o, kind, USAGE_GUESS, fill_usage, &block, e);
	if (rc == 0)
		*ret = block;
	return rc;
}
