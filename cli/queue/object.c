#include "cli/queue/object.h"

#include <string.h>

#include "cli/commands.h"
#include "queue/job/text.h"
#include "sluice/quantity.h"

enum { AMOUNT_TEXT_SIZE = 400, BAR_WIDTH = 20 };

const char *queue_object_name(const cJSON *q)
{
	return text_of(json_object(q, "metadata"), "name");
}

const char *queue_object_namespace(const cJSON *q)
{
	return text_of(json_object(q, "metadata"), "namespace");
}

const char *queue_object_says(const cJSON *q, const char *key)
{
	return text_of(json_object(q, "spec"), key);
}

int64_t queue_object_count(const cJSON *q, const char *key)
{
	return number_of(json_object(q, "status"), key);
}

const char *queue_object_strategy(const cJSON *q)
{
	const char *strategy = queue_object_says(q, "queueingStrategy");
	return *strategy ? strategy : "BestEffortFIFO";
}

/* ---- whether it starts Jobs ------------------------------------------------------------------ */

/* True if the status is of an earlier spec. After a spec that was refused it stays of the last
 * valid one. */
static bool is_outdated(const cJSON *q, const cJSON *condition)
{
	const cJSON *meta = json_object(q, "metadata");
	return !json_get(meta, "deletionTimestamp") && json_get(condition, "observedGeneration") &&
	       number_of(condition, "observedGeneration") < number_of(meta, "generation");
}

struct queue_verdict queue_object_verdict(const cJSON *q)
{
	struct queue_verdict v = {
		.reason = "Unknown", .message = "the controller has not written its status yet"};
	const cJSON *c = json_condition(q, "Active");
	if (!c)
		return v;
	v.active = strcmp(text_of(c, "status"), "True") == 0;
	v.reason = text_of(c, "reason");
	v.message = text_of(c, "message");
	v.is_refused = strcmp(v.reason, "InvalidSpec") == 0;
	v.is_outdated = !v.is_refused && is_outdated(q, c);
	return v;
}

/* ---- quota ----------------------------------------------------------------------------------- */

/* A quantity may be a number: the API server takes that, too. */
int64_t queue_object_amount(const cJSON *object, const char *key, const char *resource)
{
	const char *text = json_text(object, key);
	int64_t whole = number_of(object, key), amount;
	enum quantity_unit unit = quantity_unit_of(resource);
	if (!text)
		return unit == QUANTITY_MILLI ? quantity_times(whole, 1000) : whole;
	return quantity_parse(slice_of(text), unit, &amount, NULL) == 0 ? amount : 0;
}

static const cJSON *named(const cJSON *array, const char *name)
{
	json_each(item, array)
		if (strcmp(text_of(item, "name"), name) == 0)
			return item;
	return NULL;
}

static const cJSON *spec_of(const cJSON *q, const char *flavor, const char *resource)
{
	json_each(group, json_array(json_object(q, "spec"), "resourceGroups")) {
		const cJSON *f = named(json_array(group, "flavors"), flavor);
		if (f)
			return named(json_array(f, "resources"), resource);
	}
	return NULL;
}

struct quota_rows {
	struct table *table;
	const cJSON *queue;
	const struct style *style;
	void (*lead)(struct table *t, bool first, const cJSON *clusterqueue, const void *ctx);
	const void *ctx;
	bool any;
};

static const char *say(int64_t amount, const char *resource, char ret[AMOUNT_TEXT_SIZE])
{
	struct text t = text_over(ret, AMOUNT_TEXT_SIZE);
	text_add_number(&t, amount, resource);
	return ret;
}

/* Adds a row of quota. held: a row of the status; of the spec, while there is no status. The quota
 * of this moment is in the status, unless an earlier controller has written it. What is held beyond
 * it without a Cohort is not borrowed. */
static void put_quota(struct quota_rows *r, const char *flavor, const cJSON *held)
{
	const char *resource = text_of(held, "name");
	const cJSON *spec = spec_of(r->queue, flavor, resource);
	int64_t nominal = json_get(held, "nominal")
				  ? queue_object_amount(held, "nominal", resource)
				  : queue_object_amount(spec, "nominalQuota", resource);
	int64_t total = queue_object_amount(held, "total", resource);
	int64_t borrowed = queue_object_says(r->queue, "cohortName")[0]
				   ? queue_object_amount(held, "borrowed", resource)
				   : 0;
	char says_total[AMOUNT_TEXT_SIZE], says_nominal[AMOUNT_TEXT_SIZE],
		says_borrowed[AMOUNT_TEXT_SIZE];
	struct buf bar;
	buf_init(&bar, 256);
	bar_render(total, nominal, BAR_WIDTH, r->style, &bar);
	r->lead(r->table, !r->any, r->queue, r->ctx);
	r->any = true;
	table_cell(r->table, COLOUR_NONE, flavor);
	table_cell(r->table, COLOUR_NONE, resource);
	table_cell(r->table, total > nominal ? COLOUR_YELLOW : COLOUR_GREEN, buf_text(&bar));
	table_cellf(r->table, COLOUR_NONE, "%s of %s%s%s%s", say(total, resource, says_total),
		say(nominal, resource, says_nominal), borrowed > 0 ? " (" : "",
		borrowed > 0 ? say(borrowed, resource, says_borrowed) : "",
		borrowed > 0 ? " borrowed)" : "");
	table_end_row(r->table);
	buf_done(&bar);
}

static void put_flavors(struct quota_rows *r, const cJSON *flavors)
{
	json_each(flavor, flavors)
		json_each(resource, json_array(flavor, "resources"))
			put_quota(r, text_of(flavor, "name"), resource);
}

void queue_object_quotas(struct table *t, const cJSON *clusterqueue, const struct style *style,
	void (*lead)(struct table *t, bool first, const cJSON *clusterqueue, const void *ctx),
	const void *ctx)
{
	const cJSON *held = json_array(json_object(clusterqueue, "status"), "flavorsReservation");
	struct quota_rows r = {t, clusterqueue, style, lead, ctx, false};
	put_flavors(&r, held);
	if (!held)
		json_each(group, json_array(json_object(clusterqueue, "spec"), "resourceGroups"))
			put_flavors(&r, json_array(group, "flavors"));
	if (r.any)
		return;
	lead(t, true, clusterqueue, ctx);
	table_cell(t, COLOUR_DIM, "(no quota)");
	table_end_row(t);
}
