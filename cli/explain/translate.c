#include "cli/explain/translate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "queue/job/text.h"
#include "sluice/quantity.h"

#define NOT_WAITING "QuotaReserved" /* the reason of a Job that does not wait */

enum { AMOUNT_TEXT_SIZE = 400 };

static void put_key(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, ",\"%s\":", key);
	buf_json_string(out, value);
}

static void put_bool(struct buf *out, const char *key, bool value)
{
	buf_printf(out, ",\"%s\":%s", key, value ? "true" : "false");
}

static void put_number(struct buf *out, const char *key, int64_t value)
{
	buf_printf(out, ",\"%s\":%" PRId64, key, value);
}

static void put_tree(struct buf *out, const char *key, const cJSON *value)
{
	if (!value)
		return;
	buf_printf(out, ",\"%s\":", key);
	json_print(out, value);
}

/* ---- a Job ----------------------------------------------------------------------------------- */

static bool is_waiting(const cJSON *status)
{
	const char *reason = text_of(status, "reason");
	return reason[0] ? strcmp(reason, NOT_WAITING) != 0
			 : strcmp(text_of(status, "state"), "Waiting") == 0;
}

static void put_progress(const cJSON *status, struct buf *out)
{
	bool waiting = is_waiting(status);
	const char *reason = text_of(status, "reason");
	int64_t position = number_of(status, "position");
	put_key(out, "reason", reason[0] || waiting ? reason : NOT_WAITING);
	put_key(out, "state", text_of(status, "state"));
	put_bool(out, "waiting", waiting);
	put_bool(out, "inLine", position > 0);
	put_number(out, "ahead", position > 0 ? position - 1 : 0);
	put_key(out, "sentence", text_of(status, "message"));
	put_key(out, "queuedAt", text_of(status, "queuedAt"));
	put_key(out, "notBefore", text_of(status, "startAt"));
}

static void put_terms(const cJSON *status, struct buf *out)
{
	int64_t expected_s = number_of(status, "expectedSeconds");
	if (expected_s > 0) {
		put_number(out, "expectedMs", quantity_times(expected_s, 1000));
		put_key(out, "expectedFrom", text_of(status, "expectedFrom"));
	}
	if (text_of(status, "deadline")[0]) {
		put_key(out, "deadline", text_of(status, "deadline"));
		put_bool(out, "deadlineUnreachable", truth_of(status, "deadlineUnreachable"));
	}
	if (text_of(status, "stopsAt")[0])
		put_key(out, "stopsAt", text_of(status, "stopsAt"));
}

void translate_job(const cJSON *job, struct buf *out)
{
	const cJSON *meta = json_object(job, "metadata"), *spec = json_object(job, "spec");
	const cJSON *status = json_object(job, "status");
	int64_t priority = number_of(spec, "priority");
	bool claims = json_get(spec, "claimedPriority") != NULL;
	buf_puts(out, "{\"namespace\":");
	buf_json_string(out, text_of(meta, "namespace"));
	put_key(out, "name", text_of(meta, "name"));
	put_progress(status, out);
	put_key(out, "localQueue", text_of(spec, "queue"));
	put_key(out, "clusterQueue", text_of(spec, "clusterQueue"));
	put_number(out, "priority", priority);
	put_number(out, "claimedPriority", claims ? number_of(spec, "claimedPriority") : priority);
	put_terms(status, out);
	put_tree(out, "trouble", json_object(status, "trouble"));
	put_tree(out, "bill", json_object(status, "bill"));
	put_bool(out, "leading", true); /* no other controller answers */
	put_bool(out, "ledgerUp", !truth_of(status, "ledgerDown"));
	if (text_of(status, "story")[0])
		put_key(out, "story", text_of(status, "story"));
	buf_puts(out, "}\n");
}

/* ---- queues ---------------------------------------------------------------------------------- */

static const cJSON *named(const cJSON *array, const char *name)
{
	json_each(item, array)
		if (strcmp(text_of(item, "name"), name) == 0)
			return item;
	return NULL;
}

/* What its condition Active says. */
static void put_active(const cJSON *object, struct buf *out)
{
	json_each(c, json_array(json_object(object, "status"), "conditions")) {
		if (strcmp(text_of(c, "type"), "Active") != 0)
			continue;
		put_bool(out, "active", strcmp(text_of(c, "status"), "True") == 0);
		put_key(out, "reason", text_of(c, "reason"));
		put_key(out, "message", text_of(c, "message"));
		return;
	}
	put_bool(out, "active", false);
	put_key(out, "reason", "Unknown");
	put_key(out, "message", "the controller has not written its status yet");
}

/* A quantity, which the API server also takes as a number. 0: it is none. */
static int64_t amount_of(const cJSON *object, const char *key, const char *resource)
{
	const char *text = json_text(object, key);
	int64_t whole = number_of(object, key), amount;
	enum quantity_unit unit = quantity_unit_of(resource);
	if (!text)
		return unit == QUANTITY_MILLI ? quantity_times(whole, 1000) : whole;
	return quantity_parse(slice_of(text), unit, &amount, NULL) == 0 ? amount : 0;
}

static void put_amount(struct buf *out, const char *key, int64_t amount, const char *resource)
{
	char text[AMOUNT_TEXT_SIZE];
	struct text t = text_over(text, sizeof(text));
	text_add_number(&t, amount, resource);
	put_key(out, key, text);
}

/* held: how much of it is reserved, as the status says it. */
static void put_resource(const cJSON *resource, const cJSON *held, struct buf *out)
{
	const char *name = text_of(resource, "name");
	int64_t nominal = amount_of(resource, "nominalQuota", name);
	int64_t reserved = amount_of(held, "total", name);
	int64_t borrowed = amount_of(held, "borrowed", name);
	buf_puts(out, "{\"name\":");
	buf_json_string(out, name);
	put_amount(out, "nominal", nominal, name);
	put_amount(out, "reserved", reserved, name);
	if (borrowed > 0)
		put_amount(out, "borrowed", borrowed, name);
	put_number(out, "nominalUnits", nominal);
	put_number(out, "reservedUnits", reserved);
	buf_putc(out, '}');
}

static void put_flavor(const cJSON *flavor, const cJSON *held, struct buf *out)
{
	const char *comma = "";
	buf_puts(out, "{\"name\":");
	buf_json_string(out, text_of(flavor, "name"));
	buf_puts(out, ",\"resources\":[");
	json_each(resource, json_array(flavor, "resources")) {
		buf_puts(out, comma);
		put_resource(resource,
			named(json_array(held, "resources"), text_of(resource, "name")), out);
		comma = ",";
	}
	buf_puts(out, "]}");
}

static void put_flavors(const cJSON *clusterqueue, struct buf *out)
{
	const cJSON *spec = json_object(clusterqueue, "spec");
	const cJSON *held = json_array(json_object(clusterqueue, "status"), "flavorsReservation");
	const char *comma = "";
	buf_puts(out, ",\"flavors\":[");
	json_each(group, json_array(spec, "resourceGroups")) {
		json_each(flavor, json_array(group, "flavors")) {
			buf_puts(out, comma);
			put_flavor(flavor, named(held, text_of(flavor, "name")), out);
			comma = ",";
		}
	}
	buf_putc(out, ']');
}

static void put_hidden(const char *ns, const char *name, struct buf *out)
{
	buf_puts(out, "{\"namespace\":");
	buf_json_string(out, ns);
	put_key(out, "name", name);
	put_bool(out, "hidden", true);
	buf_putc(out, '}');
}

static void put_clusterqueue(const cJSON *q, struct buf *out)
{
	const char *strategy = text_of(json_object(q, "spec"), "queueingStrategy");
	buf_puts(out, "{\"name\":");
	buf_json_string(out, text_of(json_object(q, "metadata"), "name"));
	put_key(out, "strategy", strategy[0] ? strategy : "BestEffortFIFO");
	put_active(q, out);
	put_flavors(q, out);
	buf_putc(out, '}');
}

static void put_localqueue(const cJSON *q, const char *ns, struct buf *out)
{
	buf_puts(out, "{\"namespace\":");
	buf_json_string(out, ns);
	put_key(out, "name", text_of(json_object(q, "metadata"), "name"));
	put_key(out, "clusterQueue", text_of(json_object(q, "spec"), "clusterQueue"));
	put_active(q, out);
	buf_putc(out, '}');
}

void translate_queues(const struct queue_objects *q, struct buf *out)
{
	buf_puts(out, "{\"clusterQueues\":[");
	if (q->hidden_cluster[0])
		put_hidden("", q->hidden_cluster, out);
	else if (q->cluster)
		put_clusterqueue(q->cluster, out);
	buf_puts(out, "],\"localQueues\":[");
	if (q->hidden_local[0])
		put_hidden(q->ns, q->hidden_local, out);
	else if (q->local)
		put_localqueue(q->local, q->ns, out);
	buf_puts(out, "]}\n");
}
