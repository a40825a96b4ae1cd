#include "cli/explain/translate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/queue/translate.h"
#include "sluice/quantity.h"

#define NOT_WAITING "QuotaReserved" /* the reason of a Job that does not wait */

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
	put_tree(out, "start", json_object(status, "start"));
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

static void put_hidden(const char *ns, const char *name, struct buf *out)
{
	buf_puts(out, "{\"namespace\":");
	buf_json_string(out, ns);
	put_key(out, "name", name);
	put_bool(out, "hidden", true);
	buf_putc(out, '}');
}

void translate_queues(const struct queue_objects *q, struct buf *out)
{
	buf_puts(out, "{\"clusterQueues\":[");
	if (q->hidden_cluster[0])
		put_hidden("", q->hidden_cluster, out);
	else if (q->cluster)
		translate_clusterqueue(q->cluster, NULL, out);
	buf_puts(out, "],\"localQueues\":[");
	if (q->hidden_local[0])
		put_hidden(q->ns, q->hidden_local, out);
	else if (q->local)
		translate_localqueue(q->local, NULL, out);
	buf_puts(out, "]}\n");
}
