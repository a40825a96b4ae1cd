/*
 * The command report: how many runs started, how long they waited and ran, how they ended, what
 * they held and cost. As a table, CSV or JSON; the API server is asked with the user's own rights.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cents.h"
#include "cli/commands.h"
#include "cli/csv.h"
#include "cli/past/cells.h"
#include "cli/past/show.h"

enum {
	REASONS_SHOWN = 4, /* reasons in the table; the others are one sum */
	REASONS_MAX_BYTES = 64 * 1024,
};

/* ---- how they ended -------------------------------------------------------------------------- */

static int frequency_cmp(const void *a, const void *b)
{
	const cJSON *x = *(const cJSON *const *)a, *y = *(const cJSON *const *)b;
	int c = (x->valuedouble < y->valuedouble) - (x->valuedouble > y->valuedouble);
	return c ? c : strcmp(x->string, y->string);
}

/* Sorts the members of `ended`, the most frequent first. An array of *ret_n; yours to free. */
static const cJSON **sorted_reasons(const cJSON *row, size_t *ret_n)
{
	const cJSON *ended = json_object(row, "ended");
	size_t n = 0;
	json_each(reason, ended)
		n++;
	const cJSON **all = mem_array(n + 1, sizeof(*all));
	n = 0;
	json_each(reason, ended)
		if (cJSON_IsNumber(reason))
			all[n++] = reason;
	qsort(all, n, sizeof(*all), frequency_cmp);
	*ret_n = n;
	return all;
}

/* Appends "12 Finished, 3 Preempted". */
static void put_reasons(const cJSON *row, struct buf *out)
{
	size_t n;
	const cJSON **all = sorted_reasons(row, &n);
	double others = 0;
	for (size_t i = 0; i < n; i++) {
		if (i >= REASONS_SHOWN)
			others += all[i]->valuedouble;
		else
			buf_printf(out, "%s%.0f %.100s", i > 0 ? ", " : "", all[i]->valuedouble,
				all[i]->string);
	}
	if (others > 0)
		buf_printf(out, ", %.0f %s", others, others > 1 ? "others" : "other");
	free(all);
}

/* Appends "Finished=12;Preempted=3". */
static void csv_reasons(const cJSON *row, struct buf *out)
{
	size_t n;
	const cJSON **all = sorted_reasons(row, &n);
	struct buf text;
	buf_init(&text, REASONS_MAX_BYTES);
	for (size_t i = 0; i < n; i++)
		buf_printf(
			&text, "%s%s=%.0f", i > 0 ? ";" : "", all[i]->string, all[i]->valuedouble);
	csv_text(out, buf_text(&text));
	buf_done(&text);
	free(all);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* True if some row has GPUs: a cluster without them does not need that column. */
static bool any_gpu(const cJSON *root)
{
	json_each(row, json_array(root, "rows"))
		if (past_figure(row, "gpuHours") > 0)
			return true;
	return false;
}

static void put_hours(struct table *t, const cJSON *row, const char *key)
{
	table_cellf(t, COLOUR_NONE, "%.2f", past_figure(row, key));
	table_right(t);
}

static void put_row(
	struct table *t, const char *key, enum colour colour, const cJSON *row, bool gpu)
{
	const char *currency = text_of(row, "currency");
	struct buf reasons;
	buf_init(&reasons, REASONS_MAX_BYTES);
	put_reasons(row, &reasons);
	table_cell(t, colour, key);
	past_put_count(t, row, "jobs");
	past_put_count(t, row, "starts");
	past_put_count(t, row, "running");
	table_cell_or_none(t, COLOUR_NONE, buf_text(&reasons));
	past_put_seconds(t, row, "waitP50Seconds");
	past_put_seconds(t, row, "waitP99Seconds");
	past_put_seconds(t, row, "runSeconds");
	put_hours(t, row, "cpuHours");
	if (gpu)
		put_hours(t, row, "gpuHours");
	past_put_seconds(t, row, "lostSeconds");
	table_cell_right(t, COLOUR_BOLD, currency[0] ? cents_of(text_of(row, "cost")).s : "-");
	table_cell(t, COLOUR_NONE, currency);
	table_end_row(t);
	buf_done(&reasons);
}

void report_render_table(const cJSON *root, const struct style *style, struct buf *out)
{
	struct table *t = table_new(style);
	struct local_times times = {""};
	bool any = false, gpu = any_gpu(root);
	past_put_by(t, root);
	table_head(t,
		gpu ? ">JOBS|>STARTS|>RUNNING|ENDED|>WAIT P50|>WAIT P99|>RUN TIME|>CPU HOURS|>GPU HOURS|>POD TIME LOST|>COST OF ENDED|CURRENCY"
		    : ">JOBS|>STARTS|>RUNNING|ENDED|>WAIT P50|>WAIT P99|>RUN TIME|>CPU HOURS|>POD TIME LOST|>COST OF ENDED|CURRENCY");
	json_each(row, json_array(root, "rows")) {
		put_row(t, past_key(row), COLOUR_NONE, row, gpu);
		any = true;
	}
	json_each(total, json_array(root, "totals"))
		put_row(t, "total", COLOUR_DIM, total, gpu);
	if (any) {
		table_render(t, out);
		buf_puts(out,
			"WAIT is of runs that started: Jobs that still wait are not in it (sluice queue).\n");
	} else {
		past_put_none(root, &times, out);
	}
	past_put_note(root, &times, out);
	if (truth_of(root, "more"))
		buf_puts(out,
			"Only the most expensive rows are shown; the totals are of all rows.\n");
	table_free(t);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void report_render_csv(const cJSON *root, struct buf *out)
{
	past_csv_by(out, root);
	buf_puts(out,
		",currency,jobs,starts,running,ended,wait_p50_seconds,wait_p99_seconds,run_seconds,cpu_hours,gpu_hours,lost_seconds,cost,estimated_cost" CSV_END);
	json_each(row, json_array(root, "rows")) {
		csv_text(out, text_of(row, "key"));
		buf_putc(out, ',');
		csv_text(out, text_of(row, "currency"));
		buf_printf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", number_of(row, "jobs"),
			number_of(row, "starts"), number_of(row, "running"));
		csv_reasons(row, out);
		buf_putc(out, ',');
		past_csv_number(out, row, "waitP50Seconds", 3);
		buf_putc(out, ',');
		past_csv_number(out, row, "waitP99Seconds", 3);
		buf_printf(out, ",%.3f,%.6f,%.6f,%.3f,", past_figure(row, "runSeconds"),
			past_figure(row, "cpuHours"), past_figure(row, "gpuHours"),
			past_figure(row, "lostSeconds"));
		csv_text(out, text_of(row, "cost"));
		buf_putc(out, ',');
		csv_text(out, text_of(row, "estimatedCost"));
		buf_puts(out, CSV_END);
	}
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct past_view view = {
	.kind = PAST_REPORT, .table = report_render_table, .csv = report_render_csv};

int command_report(void *options)
{
	return past_command_run(options, &view);
}
