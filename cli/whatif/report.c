#include "cli/whatif/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/span.h"
#include "cli/cents.h"
#include "cli/commands.h"
#include "cli/local_times.h"
#include "cli/short_times.h"
#include "cli/start/report.h"

enum { JOBS_SHOWN = 10, CELL_MAX_BYTES = 4096, DAY_S = 24 * 3600 };

static const cJSON *status_of(const cJSON *root)
{
	return json_object(root, "status");
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void put_wait(struct table *t, const cJSON *row, const char *key)
{
	table_cell_right(t, COLOUR_NONE,
		json_get(row, key) ? span_of_seconds((double)number_of(row, key)).s : "-");
}

/* Appends a span in words with its meaning: "40 min earlier". */
static void put_moved(int64_t earlier_s, struct buf *out)
{
	buf_printf(out, "%s %s",
		span_of_seconds((double)(earlier_s < 0 ? -earlier_s : earlier_s)).s,
		earlier_s < 0 ? "later" : "earlier");
}

/* ---- ClusterQueues --------------------------------------------------------------------------- */

static void put_queues(const cJSON *status, const struct style *style, struct buf *out)
{
	const cJSON *queues = json_array(status, "queues");
	if (!queues || !queues->child)
		return;
	struct table *t = table_new(style);
	table_head(t, "CLUSTERQUEUE|EARLIER|LATER|NO LONGER|SAME|WAIT WITHOUT|WAIT WITH");
	json_each(q, queues) {
		table_cell(t, COLOUR_NONE, text_of(q, "clusterQueue"));
		table_count(t, number_of(q, "earlier") + number_of(q, "newlyStart"));
		table_count(t, number_of(q, "later"));
		table_count(t, number_of(q, "neverAnyMore"));
		table_count(t, number_of(q, "same"));
		put_wait(t, q, "p50WaitSecondsBefore");
		put_wait(t, q, "p50WaitSecondsAfter");
		table_end_row(t);
	}
	table_render(t, out);
	table_free(t);
	if (number_of(status, "queuesLeft") > 0)
		buf_printf(out, "and %" PRId64 " more ClusterQueues, with fewer Jobs that change\n",
			number_of(status, "queuesLeft"));
	buf_putc(out, '\n');
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static bool has_start(const cJSON *start, int64_t *ret_ms)
{
	return instant_of(start, "p50", ret_ms);
}

static void put_start(struct table *t, const cJSON *start, struct short_times *times)
{
	struct buf cell;
	int64_t p50_ms;
	buf_init(&cell, CELL_MAX_BYTES);
	times->day_ms = 0; /* each cell has its day */
	if (!has_start(start, &p50_ms))
		buf_puts(&cell, "no start");
	else if (p50_ms <= times->now_ms)
		buf_puts(&cell, "at once");
	else
		short_times_put(times, p50_ms, &cell);
	table_cell(t, COLOUR_NONE, buf_text(&cell));
	buf_done(&cell);
}

static void put_difference(struct table *t, const cJSON *item)
{
	int64_t earlier_s = number_of(item, "earlierSeconds"), ms;
	bool before = has_start(json_object(item, "before"), &ms),
	     after = has_start(json_object(item, "after"), &ms);
	struct buf cell;
	buf_init(&cell, CELL_MAX_BYTES);
	if (before && after)
		put_moved(earlier_s, &cell);
	else if (after)
		buf_puts(&cell, "starts only with the change");
	else if (before)
		buf_puts(&cell, "no longer starts");
	else
		buf_puts(&cell, "-");
	bool better = after && (!before || earlier_s > 0);
	table_cell(t, better ? COLOUR_GREEN : COLOUR_YELLOW, buf_text(&cell));
	buf_done(&cell);
}

static void put_job(struct table *t, const cJSON *item, struct short_times *times)
{
	table_cellf(t, COLOUR_NONE, "%s/%s", text_of(item, "namespace"), text_of(item, "name"));
	table_cell(t, COLOUR_NONE, text_of(item, "clusterQueue"));
	put_start(t, json_object(item, "before"), times);
	put_start(t, json_object(item, "after"), times);
	put_difference(t, item);
	table_end_row(t);
}

static void put_jobs(const cJSON *status, const struct whatif_report_options *o,
	struct short_times *times, struct buf *out)
{
	const cJSON *items = json_array(status, "items");
	int64_t hidden = number_of(status, "left"), shown = 0;
	if (!items || !items->child)
		return;
	struct table *t = table_new(o->style);
	table_head(t, "JOB|CLUSTERQUEUE|START WITHOUT|START WITH|DIFFERENCE");
	json_each(item, items) {
		if (o->all || shown < JOBS_SHOWN) {
			put_job(t, item, times);
			shown++;
		} else {
			hidden++;
		}
	}
	table_render(t, out);
	table_free(t);
	if (hidden > 0)
		buf_printf(out, "and %" PRId64 " more that change less%s\n", hidden,
			o->all ? "" : "; --all shows more");
	buf_putc(out, '\n');
}

/* ---- words ----------------------------------------------------------------------------------- */

static void put_costs(const cJSON *status, struct buf *out)
{
	json_each(c, json_array(status, "costs")) {
		const char *before = text_of(c, "before"), *after = text_of(c, "after");
		struct buf line;
		buf_init(&line, CELL_MAX_BYTES);
		buf_printf(&line, "Runs of these Jobs are expected to cost %s %s",
			cents_of(after).s, text_of(c, "currency"));
		if (strcmp(cents_of(before).s, cents_of(after).s) == 0) /* as they are shown */
			buf_puts(&line, ", as now");
		else
			buf_printf(&line, " instead of %s", cents_of(before).s);
		text_render(buf_text(&line), out);
		buf_puts(out, ".\n");
		buf_done(&line);
	}
}

static void put_basis(const cJSON *status, int64_t now_ms, struct buf *out)
{
	int64_t draws = number_of(status, "draws"), as_of_ms;
	start_report_simulated(draws, out);
	buf_puts(out, " each, with and without the change");
	int64_t days = number_of(status, "horizonSeconds") / DAY_S;
	if (days > 0)
		buf_printf(out, ", %" PRId64 " days into the future", days);
	if (instant_of(status, "asOf", &as_of_ms))
		buf_printf(
			out, ", from the queue as it was %s ago", span_short(now_ms - as_of_ms).s);
	buf_puts(out, ".\n");
}

/* A part of the sum: "200 start earlier (by 40 min in the median)". */
struct part {
	const char *count, *one, *many;
	const char *median; /* member that says by how much; NULL: that has no meaning */
};

static void put_part(const cJSON *status, const struct part *p, const char *before, struct buf *out)
{
	int64_t n = number_of(status, p->count);
	buf_printf(out, "%s%" PRId64 " %s", before, n, n == 1 ? p->one : p->many);
	if (p->median && json_get(status, p->median))
		buf_printf(out, " (by %s%s)",
			span_of_seconds((double)number_of(status, p->median)).s,
			n == 1 ? "" : " in the median");
}

static void put_parts(const cJSON *status, struct buf *out)
{
	static const struct part parts[] = {
		{"earlier", "starts earlier", "start earlier", "earlierSecondsMedian"},
		{"later", "starts later", "start later", "laterSecondsMedian"},
		{"newlyStart", "starts only with the change", "start only with the change", NULL},
		{"neverAnyMore", "no longer starts", "no longer start", NULL},
	};
	const char *before = ": ";
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (number_of(status, parts[i].count) > 0) {
			put_part(status, &parts[i], before, out);
			before = ", ";
		}
}

static bool nothing_moves(const cJSON *status)
{
	return number_of(status, "earlier") == 0 && number_of(status, "later") == 0 &&
	       number_of(status, "newlyStart") == 0 && number_of(status, "neverAnyMore") == 0;
}

static void put_sum(const cJSON *status, struct buf *out)
{
	int64_t jobs = number_of(status, "jobs");
	if (jobs == 0) {
		buf_puts(out, "No Job waits, so there is nothing to compare");
	} else if (nothing_moves(status)) {
		buf_printf(out, "%" PRId64 " %s", jobs,
			jobs == 1 ? "Job waits, and its start would not change"
				  : "Jobs wait, and their starts would not change");
	} else {
		buf_printf(out, "%" PRId64 " %s", jobs, jobs == 1 ? "Job waits" : "Jobs wait");
		put_parts(status, out);
	}
	buf_puts(out, ". Nothing was written.\n");
}

/* ---- AdvanceReservations --------------------------------------------------------------------- */

static void put_window(const cJSON *v, struct local_times *times, struct buf *out)
{
	if (!*text_of(v, "from"))
		return;
	buf_puts(out, "  Its next window is from ");
	local_times_render(times, text_of(v, "from"), out);
	buf_puts(out, " until ");
	local_times_render(times, text_of(v, "until"), out);
	buf_puts(out, ".\n");
}

static void put_price(const cJSON *v, struct buf *out)
{
	if (!*text_of(v, "cost"))
		return;
	buf_puts(out, "  It costs ");
	text_render(cents_of(text_of(v, "cost")).s, out);
	buf_putc(out, ' ');
	text_render(text_of(v, "currency"), out);
	buf_puts(out, " if all of that window is used.\n");
}

static void put_verdict(const cJSON *v, struct local_times *times, struct buf *out)
{
	bool accepted = truth_of(v, "accepted");
	buf_puts(out, "AdvanceReservation ");
	text_render(text_of(v, "name"), out);
	buf_printf(out, " would %s", accepted ? "be accepted.\n" : "not be accepted: ");
	if (!accepted) {
		local_times_render(times, text_of(v, "message"), out);
		buf_putc(out, '\n');
	} else {
		put_window(v, times, out);
		put_price(v, out);
	}
}

static void put_verdicts(const cJSON *status, struct local_times *times, struct buf *out)
{
	const cJSON *all = json_array(status, "advanceReservations");
	json_each(v, all)
		put_verdict(v, times, out);
	if (all && all->child)
		buf_putc(out, '\n');
}

void whatif_report_render(const cJSON *root, const struct whatif_report_options *o, struct buf *out)
{
	const cJSON *status = status_of(root);
	struct local_times local = {""};
	struct short_times times = short_times_from(o->now_ms, &local);
	put_verdicts(status, &local, out);
	put_queues(status, o->style, out);
	put_jobs(status, o, &times, out);
	put_basis(status, o->now_ms, out);
	put_costs(status, out);
	put_sum(status, out);
}
