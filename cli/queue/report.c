#include "cli/queue/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/span.h"
#include "cli/commands.h"
#include "cli/ledger_down.h"
#include "cli/local_times.h"
#include "cli/queue/object.h"

/* ---- what is shown --------------------------------------------------------------------------- */

static bool shows_localqueue(const struct queue_filter *f, const cJSON *q)
{
	if (f->ns && strcmp(queue_object_namespace(q), f->ns) != 0)
		return false;
	return !f->clusterqueue ||
	       strcmp(queue_object_says(q, "clusterQueue"), f->clusterqueue) == 0;
}

static bool shows_clusterqueue(
	const struct queue_answer *a, const struct queue_filter *f, const cJSON *q)
{
	const char *name = queue_object_name(q);
	if (f->clusterqueue && strcmp(name, f->clusterqueue) != 0)
		return false;
	if (!f->ns)
		return true;
	json_each(local, a->localqueues)
		if (strcmp(queue_object_namespace(local), f->ns) == 0 &&
			strcmp(queue_object_says(local, "clusterQueue"), name) == 0)
			return true;
	return false;
}

/* ---- Jobs whose pods are stuck --------------------------------------------------------------- */

static const cJSON *trouble_of(const cJSON *job)
{
	return json_object(json_object(job, "status"), "trouble");
}

static bool is_in(const cJSON *job, const cJSON *queue)
{
	const char *ns = queue_object_namespace(queue), *name = queue_object_name(queue);
	const cJSON *spec = json_object(job, "spec");
	if (!*ns)
		return strcmp(text_of(spec, "clusterQueue"), name) == 0;
	return strcmp(text_of(spec, "queue"), name) == 0 &&
	       strcmp(queue_object_namespace(job), ns) == 0;
}

/* Returns the stuck Jobs that are counted at that queue. If they are of one namespace they stand at
 * its LocalQueues, for a ClusterQueue has Jobs of others too; else at ClusterQueues. */
static const cJSON *stuck_of(const struct queue_answer *a, const cJSON *queue)
{
	bool is_cluster = !*queue_object_namespace(queue);
	return is_cluster == !a->stuck_ns ? a->stuck : NULL;
}

static int64_t count_stuck(const struct queue_answer *a, const cJSON *queue)
{
	int64_t jobs = 0;
	json_each(job, stuck_of(a, queue))
		jobs += is_in(job, queue);
	return jobs;
}

static const cJSON *alike(const cJSON *job, const cJSON *queue, const char *reason)
{
	while (job &&
		!(is_in(job, queue) && strcmp(text_of(trouble_of(job), "reason"), reason) == 0))
		job = job->next;
	return job;
}

static void put_name(const cJSON *q, struct buf *out)
{
	const char *ns = queue_object_namespace(q);
	text_render(ns, out);
	buf_puts(out, ns[0] ? "/" : "");
	text_render(queue_object_name(q), out);
}

/* Appends "batch: 2 Jobs are stuck: Unschedulable (sluice explain -n team job/train)", with the Job
 * that is stuck for longest. */
static void put_trouble(const cJSON *first, const cJSON *queue, struct buf *out)
{
	const char *reason = text_of(trouble_of(first), "reason");
	const cJSON *oldest = first;
	int64_t jobs = 0;
	for (const cJSON *j = first; j; j = alike(j->next, queue, reason)) {
		jobs++;
		if (strcmp(text_of(trouble_of(j), "since"), text_of(trouble_of(oldest), "since")) <
			0)
			oldest = j;
	}
	buf_putc(out, '\n');
	put_name(queue, out);
	buf_printf(out, ": %" PRId64 " %s stuck: ", jobs, jobs == 1 ? "Job is" : "Jobs are");
	text_render(reason, out);
	buf_puts(out, " (sluice explain -n ");
	text_render(queue_object_namespace(oldest), out);
	buf_puts(out, " job/");
	text_render(queue_object_name(oldest), out);
	buf_puts(out, ")\n");
}

static void put_troubles_of(const struct queue_answer *a, const cJSON *queue, struct buf *out)
{
	const cJSON *stuck = stuck_of(a, queue);
	json_each(job, stuck)
		if (is_in(job, queue) &&
			alike(stuck->child, queue, text_of(trouble_of(job), "reason")) == job)
			put_trouble(job, queue, out);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Returns whether windows let no Job start. Only a QueueReport says. */
static bool is_closed(const cJSON *q)
{
	const cJSON *open = json_object(q, "open");
	return open && !truth_of(open, "isOpen");
}

/* Adds "batch: its windows are closed until 2026-11-27 02:00 CET". */
static void put_window(const cJSON *q, struct local_times *times, struct buf *out)
{
	const cJSON *open = json_object(q, "open");
	const char *until = text_of(open, "until");
	if (!is_closed(q) && !*until)
		return;
	buf_putc(out, '\n');
	put_name(q, out);
	buf_printf(out, ": its windows are %s", is_closed(q) ? "closed" : "open");
	if (*until) {
		buf_puts(out, " until ");
		local_times_render(times, until, out);
	}
	buf_putc(out, '\n');
}

/* ---- the tables ------------------------------------------------------------------------------ */

static void put_state(struct table *t, const cJSON *q)
{
	struct queue_verdict v = queue_object_verdict(q);
	if (v.active && is_closed(q))
		table_cell(t, COLOUR_YELLOW, "closed");
	else if (v.active && v.is_refused)
		table_cell(t, COLOUR_YELLOW, v.reason);
	else
		table_cell(t, v.active ? COLOUR_NONE : COLOUR_RED, v.active ? "active" : v.reason);
}

static void put_count(struct table *t, const cJSON *q, const char *key)
{
	table_count(t, queue_object_count(q, key));
}

static void put_running(struct table *t, const struct queue_answer *a, const cJSON *q)
{
	int64_t stuck = count_stuck(a, q);
	if (stuck == 0) {
		put_count(t, q, "admittedWorkloads");
		return;
	}
	table_cellf(t, COLOUR_YELLOW, "%" PRId64 " (%" PRId64 " stuck)",
		queue_object_count(q, "admittedWorkloads"), stuck);
	table_right(t);
}

static void put_blanks(struct table *t, size_t n)
{
	while (n-- > 0)
		table_cell(t, COLOUR_NONE, "");
}

static void lead_narrow(struct table *t, bool first, const cJSON *q, const void *ctx)
{
	if (!first) {
		put_blanks(t, 4);
		return;
	}
	table_cell(t, COLOUR_BOLD, queue_object_name(q));
	put_state(t, q);
	put_count(t, q, "pendingWorkloads");
	put_running(t, ctx, q);
}

static void lead_wide(struct table *t, bool first, const cJSON *q, const void *ctx)
{
	const cJSON *spec = json_object(q, "spec");
	lead_narrow(t, first, q, ctx);
	if (!first) {
		put_blanks(t, 4);
		return;
	}
	put_count(t, q, "reservingWorkloads");
	table_cell(t, COLOUR_NONE, queue_object_strategy(q));
	if (json_get(spec, "maxPriority"))
		table_count(t, number_of(spec, "maxPriority"));
	else
		table_cell(t, COLOUR_NONE, "-");
	table_cell_or_none(t, COLOUR_NONE, queue_object_says(q, "cohortName"));
}

static size_t clusterqueues(const struct queue_answer *a, const struct queue_filter *f, bool wide,
	const struct style *style, struct buf *out)
{
	size_t shown = 0;
	struct table *t = table_new(style);
	table_head(t,
		wide ? "CLUSTERQUEUE|STATE|WAITING|RUNNING|HOLDING|STRATEGY|MAXPRIORITY|COHORT|FLAVOR|RESOURCE|QUOTA|USED"
		     : "CLUSTERQUEUE|STATE|WAITING|RUNNING|FLAVOR|RESOURCE|QUOTA|USED");
	json_each(q, a->clusterqueues) {
		if (!shows_clusterqueue(a, f, q))
			continue;
		queue_object_quotas(t, q, style, wide ? lead_wide : lead_narrow, a);
		shown++;
	}
	if (shown > 0)
		table_render(t, out);
	table_free(t);
	return shown;
}

static void lead_localqueue(
	struct table *t, bool first, const struct queue_answer *a, const cJSON *q)
{
	if (!first) {
		put_blanks(t, 6);
		return;
	}
	table_cell(t, COLOUR_NONE, queue_object_namespace(q));
	table_cell(t, COLOUR_BOLD, queue_object_name(q));
	put_state(t, q);
	put_count(t, q, "pendingWorkloads");
	put_running(t, a, q);
	table_cell(t, COLOUR_NONE, queue_object_says(q, "clusterQueue"));
}

/* Adds a row for each resource that a LocalQueue holds: it has no quota to compare that with. */
static void put_holdings(struct table *t, const struct queue_answer *a, const cJSON *q)
{
	bool first = true;
	json_each(flavor, json_array(json_object(q, "status"), "flavorsReservation")) {
		json_each(r, json_array(flavor, "resources")) {
			if (queue_object_amount(r, "total", text_of(r, "name")) == 0)
				continue;
			lead_localqueue(t, first, a, q);
			table_cell(t, COLOUR_NONE, text_of(flavor, "name"));
			table_cell(t, COLOUR_NONE, text_of(r, "name"));
			table_cell(t, COLOUR_NONE, text_of(r, "total"));
			table_end_row(t);
			first = false;
		}
	}
	if (!first)
		return;
	lead_localqueue(t, true, a, q);
	table_end_row(t);
}

static size_t localqueues(const struct queue_answer *a, const struct queue_filter *f,
	const struct style *style, struct buf *out)
{
	bool holdings = !a->clusterqueues || a->is_reduced;
	size_t shown = 0;
	struct table *t = table_new(style);
	table_head(t,
		holdings
			? "NAMESPACE|LOCALQUEUE|STATE|WAITING|RUNNING|CLUSTERQUEUE|FLAVOR|RESOURCE|USED"
			: "NAMESPACE|LOCALQUEUE|STATE|WAITING|RUNNING|CLUSTERQUEUE");
	json_each(q, a->localqueues) {
		if (!shows_localqueue(f, q))
			continue;
		shown++;
		if (holdings) {
			put_holdings(t, a, q);
			continue;
		}
		lead_localqueue(t, true, a, q);
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

/* ---- below the tables, in words -------------------------------------------------------------- */

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

/* Adds what is wrong with a queue, or why it starts nothing. A LocalQueue says nothing of its
 * inactive ClusterQueue where that one is shown, and says why. */
static void put_messages_of(
	const struct queue_answer *a, const cJSON *q, struct local_times *times, struct buf *out)
{
	struct queue_verdict v = queue_object_verdict(q);
	bool is_told = a->clusterqueues && !a->is_reduced;
	bool tells = *queue_object_namespace(q) == '\0' || !is_told;
	if (v.is_refused || (!v.active && tells))
		put_message(q, v.message, times, out);
	if (v.is_outdated)
		put_message(q,
			"its spec was changed, and the controller has not read the new one yet: this shows the old state",
			times, out);
}

/* Adds "batch: stopping 3 Jobs, up to 30 s, to make room for other Jobs". */
static void put_stopping(
	const struct queue_answer *a, const struct queue_filter *f, struct buf *out)
{
	json_each(q, json_array(a->report, "clusterQueues")) {
		int64_t jobs = number_of(q, "stopping"), seconds = number_of(q, "stoppingSeconds");
		if (jobs == 0 || !shows_clusterqueue(a, f, q))
			continue;
		buf_putc(out, '\n');
		put_name(q, out);
		buf_printf(out, ": stopping %" PRId64 " %s", jobs, jobs == 1 ? "Job" : "Jobs");
		if (seconds > 0)
			buf_printf(out, ", up to %s", span_of_seconds((double)seconds).s);
		buf_puts(out, ", to make room for other Jobs\n");
	}
}

/* Adds the Jobs that no row above counts, or that nothing can start: of all namespaces. */
static void put_without_queue(
	const struct queue_answer *a, const struct queue_filter *f, struct buf *out)
{
	int64_t jobs = number_of(a->report, "withoutQueue");
	if (jobs == 0 || f->ns || f->clusterqueue)
		return;
	buf_printf(out,
		"\n%" PRId64
		" %s for a queue that does not exist; sluice explain job/NAME names it\n",
		jobs, jobs == 1 ? "Job waits" : "Jobs wait");
}

/* Adds first of all that nothing can start. */
static void put_ledger_down(
	const struct queue_answer *a, struct local_times *times, struct buf *out)
{
	if (!json_get(a->report, "ledgerUp") || truth_of(a->report, "ledgerUp"))
		return;
	ledger_down_put(text_of(a->report, "ledgerDownSince"), times, out);
	buf_putc(out, '\n');
}

void queue_render_notices(const struct queue_answer *a, struct buf *out)
{
	for (size_t i = 0; i < a->nnotices; i++) {
		text_render(a->notice[i], out);
		buf_putc(out, '\n');
	}
}

size_t queue_render_table(const struct queue_answer *a, const struct queue_filter *f, bool wide,
	const struct style *style, struct buf *out)
{
	struct local_times times = {""};
	put_ledger_down(a, &times, out);
	size_t shown = clusterqueues(a, f, wide, style, out);
	if (wide || f->clusterqueue || f->ns || !a->clusterqueues || a->is_reduced)
		shown += localqueues(a, f, style, out);
	json_each(q, a->clusterqueues)
		if (shows_clusterqueue(a, f, q)) {
			put_window(q, &times, out);
			put_messages_of(a, q, &times, out);
		}
	json_each(l, a->localqueues)
		if (shows_localqueue(f, l))
			put_messages_of(a, l, &times, out);
	put_stopping(a, f, out);
	json_each(q, a->clusterqueues)
		if (shows_clusterqueue(a, f, q))
			put_troubles_of(a, q, out);
	json_each(l, a->localqueues)
		if (shows_localqueue(f, l))
			put_troubles_of(a, l, out);
	put_without_queue(a, f, out);
	if (a->nnotices > 0)
		buf_putc(out, '\n');
	queue_render_notices(a, out);
	return shown;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_tree(const cJSON *object, const char *key, struct json_writer *w)
{
	const cJSON *tree = json_object(object, key);
	jw_object(w, key);
	json_put_members(w, tree);
	jw_end(w);
}

static void put_object(const cJSON *q, struct json_writer *w)
{
	const char *ns = queue_object_namespace(q);
	jw_object(w, NULL);
	jw_object(w, "metadata");
	jw_text(w, "name", queue_object_name(q));
	if (*ns)
		jw_text(w, "namespace", ns);
	jw_end(w);
	put_tree(q, "spec", w);
	put_tree(q, "status", w);
	if (json_object(q, "open"))
		put_tree(q, "open", w);
	jw_end(w);
}

size_t queue_render_json(
	const struct queue_answer *a, const struct queue_filter *f, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	size_t shown = 0;
	jw_array(&w, "clusterQueues");
	json_each(q, a->clusterqueues) {
		if (!shows_clusterqueue(a, f, q))
			continue;
		put_object(q, &w);
		shown++;
	}
	jw_end(&w);
	jw_array(&w, "localQueues");
	json_each(q, a->localqueues) {
		if (!shows_localqueue(f, q))
			continue;
		put_object(q, &w);
		shown++;
	}
	jw_close(&w);
	buf_putc(out, '\n');
	return shown;
}
