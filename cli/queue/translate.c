#include "cli/queue/translate.h"

#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"
#include "queue/job/text.h"
#include "sluice/quantity.h"

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

static const cJSON *named(const cJSON *array, const char *name)
{
	json_each(item, array)
		if (strcmp(text_of(item, "name"), name) == 0)
			return item;
	return NULL;
}

static const cJSON *status_of(const cJSON *object)
{
	return json_object(object, "status");
}

static const char *name_of(const cJSON *object)
{
	return text_of(json_object(object, "metadata"), "name");
}

static const char *namespace_of(const cJSON *object)
{
	return text_of(json_object(object, "metadata"), "namespace");
}

/* ---- whether it starts Jobs ------------------------------------------------------------------ */

/* NULL: the controller has not written it yet. */
static const cJSON *active_condition(const cJSON *object)
{
	json_each(c, json_array(status_of(object), "conditions"))
		if (strcmp(text_of(c, "type"), "Active") == 0)
			return c;
	return NULL;
}

/* Is the status of a spec from before? One that was refused stays of the last valid one. */
static bool is_outdated(const cJSON *object, const cJSON *condition)
{
	const cJSON *meta = json_object(object, "metadata");
	return !json_get(meta, "deletionTimestamp") &&
	       strcmp(text_of(condition, "reason"), "InvalidSpec") != 0 &&
	       json_get(condition, "observedGeneration") &&
	       number_of(condition, "observedGeneration") < number_of(meta, "generation");
}

static void put_active(const cJSON *object, struct buf *out)
{
	const cJSON *c = active_condition(object);
	const char *reason = text_of(c, "reason"), *message = text_of(c, "message");
	put_bool(out, "active", strcmp(text_of(c, "status"), "True") == 0);
	put_key(out, "reason", c ? reason : "Unknown");
	put_key(out, "message", c ? message : "the controller has not written its status yet");
	if (strcmp(reason, "InvalidSpec") == 0)
		put_key(out, "invalid", message);
	if (c && is_outdated(object, c))
		put_bool(out, "outdated", true);
}

static void put_counts(const cJSON *object, struct buf *out)
{
	const cJSON *status = status_of(object);
	put_number(out, "pending", number_of(status, "pendingWorkloads"));
	put_number(out, "reserving", number_of(status, "reservingWorkloads"));
	put_number(out, "admitted", number_of(status, "admittedWorkloads"));
}

/* ---- quota ----------------------------------------------------------------------------------- */

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

/* Of one queue, or one flavor, or one resource: what is its own, and what is held and used. NULL: has
 * none. */
struct quota {
	const cJSON *spec, *held, *used;
	bool borrows; /* what is held beyond the quota is borrowed */
};

/* The quota of this moment is in the status, but for one that an earlier controller has written. */
static void put_nominal(const struct quota *q, const char *name, struct buf *out)
{
	bool known = json_get(q->held, "nominal") != NULL;
	if (!known && !q->spec)
		return;
	int64_t nominal = known ? amount_of(q->held, "nominal", name)
				: amount_of(q->spec, "nominalQuota", name);
	put_amount(out, "nominal", nominal, name);
	put_number(out, "nominalUnits", nominal);
}

static void put_resource(const struct quota *q, const char *name, struct buf *out)
{
	int64_t reserved = amount_of(q->held, "total", name);
	int64_t used = amount_of(q->used, "total", name);
	int64_t borrowed = q->borrows ? amount_of(q->held, "borrowed", name) : 0;
	buf_puts(out, "{\"name\":");
	buf_json_string(out, name);
	put_nominal(q, name, out);
	put_amount(out, "reserved", reserved, name);
	put_amount(out, "used", used, name);
	if (borrowed > 0)
		put_amount(out, "borrowed", borrowed, name);
	put_number(out, "reservedUnits", reserved);
	put_number(out, "usedUnits", used);
	buf_putc(out, '}');
}

static struct quota quota_of(const struct quota *in, const cJSON *spec, const char *name)
{
	return (struct quota){spec, named(json_array(in->held, "resources"), name),
		named(json_array(in->used, "resources"), name), in->borrows};
}

/* Those of the spec in its order, then those that running Jobs alone still hold. */
static void put_flavor(const struct quota *flavor, const char *name, struct buf *out)
{
	const cJSON *own = json_array(flavor->spec, "resources");
	const char *comma = "";
	buf_puts(out, "{\"name\":");
	buf_json_string(out, name);
	buf_puts(out, ",\"resources\":[");
	json_each(r, own) {
		struct quota q = quota_of(flavor, r, text_of(r, "name"));
		buf_puts(out, comma);
		put_resource(&q, text_of(r, "name"), out);
		comma = ",";
	}
	json_each(r, json_array(flavor->held, "resources")) {
		if (named(own, text_of(r, "name")))
			continue;
		struct quota q = quota_of(flavor, NULL, text_of(r, "name"));
		buf_puts(out, comma);
		put_resource(&q, text_of(r, "name"), out);
		comma = ",";
	}
	buf_puts(out, "]}");
}

static bool is_listed(const cJSON *groups, const char *flavor)
{
	json_each(group, groups)
		if (named(json_array(group, "flavors"), flavor))
			return true;
	return false;
}

/* groups: spec.resourceGroups; NULL: it has no quota of its own. The same order as in a flavor. */
static void put_flavors(const cJSON *groups, const cJSON *status, bool borrows, struct buf *out)
{
	const cJSON *held = json_array(status, "flavorsReservation");
	const cJSON *used = json_array(status, "flavorsUsage");
	const char *comma = "";
	buf_puts(out, ",\"flavors\":[");
	json_each(group, groups) {
		json_each(f, json_array(group, "flavors")) {
			const char *name = text_of(f, "name");
			struct quota q = {f, named(held, name), named(used, name), borrows};
			buf_puts(out, comma);
			put_flavor(&q, name, out);
			comma = ",";
		}
	}
	json_each(f, held) {
		const char *name = text_of(f, "name");
		struct quota q = {NULL, f, named(used, name), borrows};
		if (is_listed(groups, name))
			continue;
		buf_puts(out, comma);
		put_flavor(&q, name, out);
		comma = ",";
	}
	buf_putc(out, ']');
}

/* ---- Jobs whose pods are stuck --------------------------------------------------------------- */

/* A queue; ns NULL: a ClusterQueue. */
struct queue_name {
	const char *ns, *name;
};

static const char *reason_of(const cJSON *job)
{
	return text_of(json_object(status_of(job), "trouble"), "reason");
}

static const char *since_of(const cJSON *job)
{
	return text_of(json_object(status_of(job), "trouble"), "since");
}

static bool is_in(const cJSON *job, const struct queue_name *q)
{
	const cJSON *spec = json_object(job, "spec");
	if (!q->ns)
		return strcmp(text_of(spec, "clusterQueue"), q->name) == 0;
	return strcmp(text_of(spec, "queue"), q->name) == 0 &&
	       strcmp(namespace_of(job), q->ns) == 0;
}

/* The next of its queue and reason, from job on. */
static const cJSON *alike(const cJSON *job, const struct queue_name *q, const char *reason)
{
	while (job && !(is_in(job, q) && strcmp(reason_of(job), reason) == 0))
		job = job->next;
	return job;
}

/* A row of those that have the reason of the first; the one that is stuck for longest is named. */
static void put_trouble(const cJSON *first, const struct queue_name *q, struct buf *out)
{
	const char *reason = reason_of(first);
	const cJSON *oldest = first;
	int64_t jobs = 0;
	for (const cJSON *j = first; j; j = alike(j->next, q, reason)) {
		jobs++;
		if (strcmp(since_of(j), since_of(oldest)) < 0)
			oldest = j;
	}
	buf_puts(out, "{\"reason\":");
	buf_json_string(out, reason);
	put_number(out, "jobs", jobs);
	put_key(out, "namespace", namespace_of(oldest));
	put_key(out, "job", name_of(oldest));
	put_key(out, "since", since_of(oldest));
	buf_putc(out, '}');
}

/* As /api/v1/queues: nothing where there are none. */
static void put_troubles(const cJSON *stuck, const struct queue_name *q, struct buf *out)
{
	const char *before = ",\"troubles\":[";
	json_each(job, stuck) {
		if (!is_in(job, q) || alike(stuck->child, q, reason_of(job)) != job)
			continue;
		buf_puts(out, before);
		put_trouble(job, q, out);
		before = ",";
	}
	if (strcmp(before, ",") == 0)
		buf_putc(out, ']');
}

/* ---- queues ---------------------------------------------------------------------------------- */

void translate_clusterqueue(const cJSON *object, const cJSON *stuck, struct buf *out)
{
	const cJSON *spec = json_object(object, "spec");
	const char *strategy = text_of(spec, "queueingStrategy");
	const char *cohort = text_of(spec, "cohortName");
	buf_puts(out, "{\"name\":");
	buf_json_string(out, name_of(object));
	put_key(out, "strategy", strategy[0] ? strategy : "BestEffortFIFO");
	put_key(out, "cohort", cohort);
	if (json_get(spec, "maxPriority"))
		put_number(out, "maxPriority", number_of(spec, "maxPriority"));
	if (truth_of(spec, "growByDefault"))
		put_bool(out, "growByDefault", true);
	put_bool(out, "exists", true);
	put_active(object, out);
	put_troubles(stuck, &(struct queue_name){NULL, name_of(object)}, out);
	put_counts(object, out);
	put_flavors(json_array(spec, "resourceGroups"), status_of(object), cohort[0], out);
	buf_putc(out, '}');
}

void translate_localqueue(const cJSON *object, const cJSON *stuck, struct buf *out)
{
	const char *ns = namespace_of(object);
	buf_puts(out, "{\"namespace\":");
	buf_json_string(out, ns);
	put_key(out, "name", name_of(object));
	put_key(out, "clusterQueue", text_of(json_object(object, "spec"), "clusterQueue"));
	put_active(object, out);
	put_troubles(stuck, &(struct queue_name){ns, name_of(object)}, out);
	put_counts(object, out);
	put_flavors(NULL, status_of(object), false, out);
	buf_putc(out, '}');
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void put_list(const char *key, const cJSON *objects, const cJSON *stuck,
	void (*translate)(const cJSON *object, const cJSON *stuck, struct buf *out),
	struct buf *out)
{
	const char *comma = "";
	buf_printf(out, "\"%s\":[", key);
	json_each(object, objects) {
		buf_puts(out, comma);
		translate(object, stuck, out);
		comma = ",";
	}
	buf_puts(out, "],");
}

static void put_notices(const struct notices *notices, struct buf *out)
{
	buf_puts(out, "\"notices\":[");
	for (size_t i = 0; i < notices->n; i++) {
		buf_puts(out, i > 0 ? "," : "");
		buf_json_string(out, notices->text[i]);
	}
	buf_putc(out, ']');
}

/* What is known of one namespace is told of its LocalQueues: a ClusterQueue has Jobs of others too. */
void translate_queue_lists(const struct queue_lists *l, struct buf *out)
{
	buf_putc(out, '{');
	put_list("clusterQueues", l->clusterqueues, l->stuck_ns ? NULL : l->stuck,
		translate_clusterqueue, out);
	put_list("localQueues", l->localqueues, l->stuck_ns ? l->stuck : NULL, translate_localqueue,
		out);
	put_notices(l->notices, out);
	if (!l->clusterqueues)
		put_bool(out, "clusterQueuesHidden", true);
	if (l->ns)
		put_key(out, "namespace", l->ns);
	buf_puts(out, "}\n");
}
