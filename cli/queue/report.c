#include "cli/queue/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/span.h"
#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/ledger_down.h"
#include "cli/local_times.h"
#include "sluice/quantity.h"

/* ---- what is shown --------------------------------------------------------------------------- */

static bool shows_localqueue(const struct queue_filter *f, const cJSON *q)
{
	if (f->ns && strcmp(text_of(q, "namespace"), f->ns) != 0)
		return false;
	return !f->clusterqueue || strcmp(text_of(q, "clusterQueue"), f->clusterqueue) == 0;
}

static bool shows_clusterqueue(const cJSON *root, const struct queue_filter *f, const cJSON *q)
{
	const char *name = text_of(q, "name");
	if (f->clusterqueue && strcmp(name, f->clusterqueue) != 0)
		return false;
	if (!f->ns)
		return true;
	json_each(local, json_array(root, "localQueues"))
		if (strcmp(text_of(local, "namespace"), f->ns) == 0 &&
			strcmp(text_of(local, "clusterQueue"), name) == 0)
			return true;
	return false;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void put_state(struct table *t, const cJSON *q)
{
	bool active = truth_of(q, "active");
	const char *reason = text_of(q, "reason");
	if (active && text_of(q, "invalid")[0])
		table_cell(t, COLOUR_YELLOW, "InvalidSpec");
	else
		table_cell(t, active ? COLOUR_NONE : COLOUR_RED, active ? "active" : reason);
}

static void put_number(struct table *t, const cJSON *q, const char *key)
{
	table_cellf(t, COLOUR_NONE, "%" PRId64, number_of(q, key));
	table_right(t);
}

static int64_t jobs_in_trouble(const cJSON *q)
{
	int64_t jobs = 0;
	json_each(row, json_array(q, "troubles"))
		jobs = quantity_add(jobs, number_of(row, "jobs"));
	return jobs;
}

/* So many run, and so many of those have pods that are stuck. */
static void put_running(struct table *t, const cJSON *q)
{
	int64_t stuck = jobs_in_trouble(q);
	if (stuck == 0) {
		put_number(t, q, "admitted");
		return;
	}
	table_cellf(t, COLOUR_YELLOW, "%" PRId64 " (%" PRId64 " stuck)", number_of(q, "admitted"),
		stuck);
	table_right(t);
}

static void put_blanks(struct table *t, size_t n)
{
	while (n-- > 0)
		table_cell(t, COLOUR_NONE, "");
}

static void lead_narrow(struct table *t, bool first, const cJSON *q)
{
	if (!first) {
		put_blanks(t, 4);
		return;
	}
	table_cell(t, COLOUR_BOLD, text_of(q, "name"));
	put_state(t, q);
	put_number(t, q, "pending");
	put_running(t, q);
}

static void put_cap(struct table *t, const cJSON *q)
{
	if (json_get(q, "maxPriority"))
		put_number(t, q, "maxPriority");
	else
		table_cell(t, COLOUR_NONE, "-");
}

static void lead_wide(struct table *t, bool first, const cJSON *q)
{
	lead_narrow(t, first, q);
	if (!first) {
		put_blanks(t, 4);
		return;
	}
	put_number(t, q, "reserving");
	table_cell(t, COLOUR_NONE, text_of(q, "strategy"));
	put_cap(t, q);
	table_cell(t, COLOUR_NONE, text_of(q, "cohort")[0] ? text_of(q, "cohort") : "-");
}

static void put_heads(struct table *t, const char *const *heads)
{
	for (size_t i = 0; heads[i]; i++)
		table_cell(t, COLOUR_DIM, heads[i]);
	table_end_row(t);
}

static size_t clusterqueues(const cJSON *root, const struct queue_filter *f, bool wide,
	const struct style *style, struct buf *out)
{
	static const char *const narrow_heads[] = {"CLUSTERQUEUE", "STATE", "WAITING", "RUNNING",
		"FLAVOR", "RESOURCE", "QUOTA", "HELD", NULL};
	static const char *const wide_heads[] = {"CLUSTERQUEUE", "STATE", "WAITING", "RUNNING",
		"HOLDING", "STRATEGY", "MAXPRIORITY", "COHORT", "FLAVOR", "RESOURCE", "QUOTA",
		"HELD", NULL};
	size_t shown = 0;
	struct table *t = table_new(style);
	put_heads(t, wide ? wide_heads : narrow_heads);
	json_each(q, json_array(root, "clusterQueues")) {
		if (!shows_clusterqueue(root, f, q))
			continue;
		quota_rows(t, q, style, wide ? lead_wide : lead_narrow);
		shown++;
	}
	if (shown > 0)
		table_render(t, out);
	table_free(t);
	return shown;
}

static bool hides_clusterqueues(const cJSON *root)
{
	return truth_of(root, "clusterQueuesHidden");
}

static void lead_localqueue(struct table *t, bool first, const cJSON *q)
{
	if (!first) {
		put_blanks(t, 6);
		return;
	}
	table_cell(t, COLOUR_NONE, text_of(q, "namespace"));
	table_cell(t, COLOUR_BOLD, text_of(q, "name"));
	put_state(t, q);
	put_number(t, q, "pending");
	put_running(t, q);
	table_cell(t, COLOUR_NONE, text_of(q, "clusterQueue"));
}

/* A row for each resource that it holds any of: it has no quota to compare that with. */
static void put_holdings(struct table *t, const cJSON *q)
{
	bool first = true;
	json_each(flavor, json_array(q, "flavors")) {
		json_each(r, json_array(flavor, "resources")) {
			if (number_of(r, "reservedUnits") == 0)
				continue;
			lead_localqueue(t, first, q);
			table_cell(t, COLOUR_NONE, text_of(flavor, "name"));
			table_cell(t, COLOUR_NONE, text_of(r, "name"));
			table_cell(t, COLOUR_NONE, text_of(r, "reserved"));
			table_end_row(t);
			first = false;
		}
	}
	if (!first)
		return;
	lead_localqueue(t, true, q);
	table_end_row(t);
}

static size_t localqueues(
	const cJSON *root, const struct queue_filter *f, const struct style *style, struct buf *out)
{
	static const char *const heads[] = {
		"NAMESPACE", "LOCALQUEUE", "STATE", "WAITING", "RUNNING", "CLUSTERQUEUE", NULL};
	static const char *const holding_heads[] = {"NAMESPACE", "LOCALQUEUE", "STATE", "WAITING",
		"RUNNING", "CLUSTERQUEUE", "FLAVOR", "RESOURCE", "HELD", NULL};
	bool holdings = hides_clusterqueues(root);
	size_t shown = 0;
	struct table *t = table_new(style);
	put_heads(t, holdings ? holding_heads : heads);
	json_each(q, json_array(root, "localQueues")) {
		if (!shows_localqueue(f, q))
			continue;
		shown++;
		if (holdings) {
			put_holdings(t, q);
			continue;
		}
		lead_localqueue(t, true, q);
		table_end_row(t);
	}
	if (shown > 0) {
		if (out->len > 0)
			buf_putc(out, '\n');
		table_render(t, out);
	}
	table_free(t);
	return shown;
}

static void put_name(const cJSON *q, struct buf *out)
{
	const char *ns = text_of(q, "namespace");
	text_render(ns, out);
	buf_puts(out, ns[0] ? "/" : "");
	text_render(text_of(q, "name"), out);
}

static void put_message(
	const cJSON *q, const char *message, struct local_times *times, struct buf *out)
{
	if (!message[0])
		return;
	buf_putc(out, '\n');
	put_name(q, out);
	buf_puts(out, ": ");
	local_times_render(times, message, out);
	buf_putc(out, '\n');
}

/* What is wrong with it, or why it starts nothing. */
static const char *message_of(const cJSON *q)
{
	const char *invalid = text_of(q, "invalid");
	return invalid[0] || truth_of(q, "active") ? invalid : text_of(q, "message");
}

static void put_messages_of(
	const cJSON *q, const char *message, struct local_times *times, struct buf *out)
{
	put_message(q, message, times, out);
	if (truth_of(q, "outdated"))
		put_message(q,
			"it was changed, and the controller has not looked at it since: what stands here is from before",
			times, out);
}

/* In words, below the table. A LocalQueue whose ClusterQueue is inactive adds nothing to what that
 * says, where that is shown. */
static void put_messages(const cJSON *root, const struct queue_filter *f, struct buf *out)
{
	struct local_times times = {""};
	bool hidden = hides_clusterqueues(root);
	json_each(q, json_array(root, "clusterQueues"))
		if (shows_clusterqueue(root, f, q))
			put_messages_of(q, message_of(q), &times, out);
	json_each(l, json_array(root, "localQueues"))
		if (shows_localqueue(f, l))
			put_messages_of(
				l, hidden ? message_of(l) : text_of(l, "invalid"), &times, out);
}

/* "batch: stopping 3 Jobs, up to 30 s, to make room for others" */
static void put_stopping(const cJSON *root, const struct queue_filter *f, struct buf *out)
{
	json_each(q, json_array(root, "clusterQueues")) {
		int64_t jobs = number_of(q, "stopping"), seconds = number_of(q, "stoppingSeconds");
		if (jobs == 0 || !shows_clusterqueue(root, f, q))
			continue;
		buf_putc(out, '\n');
		text_render(text_of(q, "name"), out);
		buf_printf(out, ": stopping %" PRId64 " %s", jobs, jobs == 1 ? "Job" : "Jobs");
		if (seconds > 0)
			buf_printf(out, ", up to %s", span_of_seconds((double)seconds).s);
		buf_puts(out, ", for Jobs that preempt them\n");
	}
}

/* "batch: 2 Jobs are stuck: Unschedulable (sluice explain -n team job/train)" */
static void put_troubles_of(const cJSON *q, struct buf *out)
{
	json_each(row, json_array(q, "troubles")) {
		int64_t jobs = number_of(row, "jobs");
		buf_putc(out, '\n');
		put_name(q, out);
		buf_printf(
			out, ": %" PRId64 " %s stuck: ", jobs, jobs == 1 ? "Job is" : "Jobs are");
		text_render(text_of(row, "reason"), out);
		if (text_of(row, "job")[0]) { /* else we may not list Jobs */
			buf_puts(out, " (sluice explain -n ");
			text_render(text_of(row, "namespace"), out);
			buf_puts(out, " job/");
			text_render(text_of(row, "job"), out);
			buf_putc(out, ')');
		}
		buf_putc(out, '\n');
	}
}

/* They stand at ClusterQueues or at LocalQueues, never at both. */
static void put_troubles(const cJSON *root, const struct queue_filter *f, struct buf *out)
{
	json_each(q, json_array(root, "clusterQueues"))
		if (shows_clusterqueue(root, f, q))
			put_troubles_of(q, out);
	json_each(l, json_array(root, "localQueues"))
		if (shows_localqueue(f, l))
			put_troubles_of(l, out);
}

/* Jobs that no row above counts, or that nothing can start: of all namespaces. */
static void put_without_queue(const cJSON *root, const struct queue_filter *f, struct buf *out)
{
	int64_t jobs = number_of(root, "withoutQueue");
	if (jobs == 0 || f->ns || f->clusterqueue)
		return;
	buf_printf(out,
		"\n%" PRId64
		" %s for a queue that does not exist; sluice explain says of each which one\n",
		jobs, jobs == 1 ? "Job waits" : "Jobs wait");
}

void queue_render_notices(const cJSON *root, struct buf *out)
{
	json_each(notice, json_array(root, "notices")) {
		text_render(cJSON_IsString(notice) ? notice->valuestring : "", out);
		buf_putc(out, '\n');
	}
}

size_t queue_render_table(const cJSON *root, const struct queue_filter *f, bool wide,
	const struct style *style, struct buf *out)
{
	struct local_times times = {""};
	size_t shown = clusterqueues(root, f, wide, style, out);
	if (wide || f->clusterqueue || f->ns || hides_clusterqueues(root))
		shown += localqueues(root, f, style, out);
	put_messages(root, f, out);
	put_stopping(root, f, out);
	put_troubles(root, f, out);
	put_without_queue(root, f, out);
	if (json_get(root, "ledgerUp") && !truth_of(root, "ledgerUp"))
		ledger_down_put(text_of(root, "ledgerDownSince"), &times, out);
	else if (json_get(root, "leading") && !truth_of(root, "leading"))
		buf_puts(out,
			"\nThis controller is a standby: quota that is held is known to the leader only.\n");
	if (json_array(root, "notices") && json_array(root, "notices")->child) {
		buf_putc(out, '\n');
		queue_render_notices(root, out);
	}
	return shown;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Objects of the API server do not tell. */
static void put_known(const cJSON *root, const char *key, struct json_writer *w)
{
	if (json_get(root, key))
		jw_bool(w, key, truth_of(root, key));
}

size_t queue_render_json(const cJSON *root, const struct queue_filter *f, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	size_t shown = 0;
	jw_array(&w, "clusterQueues");
	json_each(q, json_array(root, "clusterQueues")) {
		if (!shows_clusterqueue(root, f, q))
			continue;
		json_put(&w, NULL, q);
		shown++;
	}
	jw_end(&w);
	jw_array(&w, "localQueues");
	json_each(q, json_array(root, "localQueues")) {
		if (!shows_localqueue(f, q))
			continue;
		json_put(&w, NULL, q);
		shown++;
	}
	jw_end(&w);
	put_known(root, "leading", &w);
	put_known(root, "ledgerUp", &w);
	jw_close(&w);
	buf_putc(out, '\n');
	return shown;
}
