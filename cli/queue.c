#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/local_times.h"
#include "cli/server.h"
#include "sluice/quantity.h"

enum {
	TREE_MAX_BYTES = 512 * 1024 * 1024,
	OUTPUT_MAX_BYTES = 256 * 1024 * 1024,
	MESSAGE_MAX_BYTES = 1024 * 1024
};

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
		put_blanks(t, 5);
		return;
	}
	put_number(t, q, "reserving");
	put_number(t, q, "finished");
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
		"HOLDING", "FINISHED", "STRATEGY", "MAXPRIORITY", "COHORT", "FLAVOR", "RESOURCE",
		"QUOTA", "HELD", NULL};
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

static size_t localqueues(
	const cJSON *root, const struct queue_filter *f, const struct style *style, struct buf *out)
{
	static const char *const heads[] = {
		"NAMESPACE", "LOCALQUEUE", "STATE", "WAITING", "RUNNING", "CLUSTERQUEUE", NULL};
	size_t shown = 0;
	struct table *t = table_new(style);
	put_heads(t, heads);
	json_each(q, json_array(root, "localQueues")) {
		if (!shows_localqueue(f, q))
			continue;
		table_cell(t, COLOUR_NONE, text_of(q, "namespace"));
		table_cell(t, COLOUR_BOLD, text_of(q, "name"));
		put_state(t, q);
		put_number(t, q, "pending");
		put_number(t, q, "admitted");
		table_cell(t, COLOUR_NONE, text_of(q, "clusterQueue"));
		table_end_row(t);
		shown++;
	}
	if (shown > 0) {
		buf_putc(out, '\n');
		table_render(t, out);
	}
	table_free(t);
	return shown;
}

static void put_message(
	const cJSON *q, const char *message, struct local_times *times, struct buf *out)
{
	struct buf local;
	const char *ns = text_of(q, "namespace");
	if (!message[0])
		return;
	buf_putc(out, '\n');
	text_render(ns, out);
	buf_puts(out, ns[0] ? "/" : "");
	text_render(text_of(q, "name"), out);
	buf_puts(out, ": ");
	buf_init(&local, MESSAGE_MAX_BYTES);
	local_times_add(times, message, &local);
	text_render(buf_text(&local), out);
	buf_done(&local);
	buf_putc(out, '\n');
}

/* What is wrong, in words, below the table. A LocalQueue whose ClusterQueue is inactive adds
 * nothing to what that says. */
static void put_messages(const cJSON *root, const struct queue_filter *f, struct buf *out)
{
	struct local_times times = {""};
	json_each(q, json_array(root, "clusterQueues")) {
		const char *message = text_of(q, "invalid");
		if (!message[0] && !truth_of(q, "active"))
			message = text_of(q, "message");
		if (shows_clusterqueue(root, f, q))
			put_message(q, message, &times, out);
	}
	json_each(l, json_array(root, "localQueues"))
		if (shows_localqueue(f, l))
			put_message(l, text_of(l, "invalid"), &times, out);
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
			buf_printf(out, ", up to %" PRId64 " s", seconds);
		buf_puts(out, ", for Jobs that preempt them\n");
	}
}

/* "batch: 2 Jobs are stuck: Unschedulable (sluice explain -n team job/train)" */
static void put_troubles(const cJSON *root, const struct queue_filter *f, struct buf *out)
{
	json_each(q, json_array(root, "clusterQueues")) {
		if (!shows_clusterqueue(root, f, q))
			continue;
		json_each(row, json_array(q, "troubles")) {
			int64_t jobs = number_of(row, "jobs");
			buf_putc(out, '\n');
			text_render(text_of(q, "name"), out);
			buf_printf(out, ": %" PRId64 " %s stuck: ", jobs,
				jobs == 1 ? "Job is" : "Jobs are");
			text_render(text_of(row, "reason"), out);
			if (!text_of(row, "job")[0]) { /* we may not list Jobs */
				buf_putc(out, '\n');
				continue;
			}
			buf_puts(out, " (sluice explain -n ");
			text_render(text_of(row, "namespace"), out);
			buf_puts(out, " job/");
			text_render(text_of(row, "job"), out);
			buf_puts(out, ")\n");
		}
	}
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

size_t queue_render_table(const cJSON *root, const struct queue_filter *f, bool wide,
	const struct style *style, struct buf *out)
{
	size_t shown = clusterqueues(root, f, wide, style, out);
	if (wide || f->clusterqueue || f->ns)
		shown += localqueues(root, f, style, out);
	put_messages(root, f, out);
	put_stopping(root, f, out);
	put_troubles(root, f, out);
	put_without_queue(root, f, out);
	if (json_get(root, "ledgerUp") && !truth_of(root, "ledgerUp"))
		buf_puts(out, "\nThe ledger is down: running Jobs go on, nothing new starts.\n");
	else if (json_get(root, "leading") && !truth_of(root, "leading"))
		buf_puts(out,
			"\nThis controller is a standby: quota that is held is known to the leader only.\n");
	return shown;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

size_t queue_render_json(const cJSON *root, const struct queue_filter *f, struct buf *out)
{
	size_t shown = 0;
	const char *comma = "";
	buf_puts(out, "{\"clusterQueues\":[");
	json_each(q, json_array(root, "clusterQueues")) {
		if (!shows_clusterqueue(root, f, q))
			continue;
		buf_puts(out, comma);
		json_print(out, q);
		comma = ",";
		shown++;
	}
	comma = "";
	buf_puts(out, "],\"localQueues\":[");
	json_each(q, json_array(root, "localQueues")) {
		if (!shows_localqueue(f, q))
			continue;
		buf_puts(out, comma);
		json_print(out, q);
		comma = ",";
		shown++;
	}
	buf_printf(out, "],\"leading\":%s,\"ledgerUp\":%s}\n",
		truth_of(root, "leading") ? "true" : "false",
		truth_of(root, "ledgerUp") ? "true" : "false");
	return shown;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int not_found(const struct queue_filter *f, const cJSON *root)
{
	struct err e;
	if (f->clusterqueue)
		err_set(&e, ERR_GONE, "there is no ClusterQueue \"%.100s\"%s%.100s%s",
			f->clusterqueue, f->ns ? " that a LocalQueue of namespace " : "",
			f->ns ? f->ns : "", f->ns ? " leads to" : "");
	else if (f->ns)
		err_set(&e, ERR_GONE, "namespace %.100s has no LocalQueue", f->ns);
	else if (!json_array(root, "clusterQueues"))
		err_set(&e, ERR_GONE,
			"the answer has no clusterQueues; is it a sluice-controller?");
	else {
		printf("There are no queues yet. `kubectl explain clusterqueue.spec` says how to make one.\n");
		return CLI_OK;
	}
	return command_fail(ERR_GONE, &e);
}

int command_queue(const struct arguments *a)
{
	struct queue_filter f = {a->nnames > 0 ? a->name[0] : NULL, a->namespace_name};
	struct style style = style_of(stdout);
	struct buf body, text;
	struct err e;
	const cJSON *root;
	int exit_code;
	buf_init(&body, SERVER_ANSWER_MAX);
	buf_init(&text, OUTPUT_MAX_BYTES);
	struct json *j = json_new(TREE_MAX_BYTES);
	int rc = server_get(a, "/api/v1/queues", &body, &e);
	if (rc == 0)
		rc = json_parse(j, buf_slice(&body), &root, &e);
	if (rc) {
		exit_code = command_fail(rc, &e);
		goto done;
	}
	size_t shown = a->output == OUTPUT_JSON ? queue_render_json(root, &f, &text)
						: queue_render_table(root, &f,
							  a->output == OUTPUT_WIDE, &style, &text);
	bool named = f.clusterqueue || f.ns;
	if (shown > 0 || (a->output == OUTPUT_JSON && !named)) {
		command_print(a->watch, buf_text(&text));
		exit_code = ferror(stdout) ? CLI_UNREACHABLE : CLI_OK;
	} else {
		exit_code = not_found(&f, root);
	}
done:
	json_free(j);
	buf_done(&body);
	buf_done(&text);
	return exit_code;
}
