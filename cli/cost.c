/*
 * The command cost: what runs cost, as a table, CSV or JSON, of the API server with the user's own rights.
 */
#include <inttypes.h>

#include "cli/cents.h"
#include "cli/commands.h"
#include "cli/csv.h"
#include "cli/past/cells.h"
#include "cli/past/show.h"

/* ---- rendering ------------------------------------------------------------------------------- */

/* True if some row has an estimated part: most ledgers never need these columns. */
static bool any_estimated(const cJSON *root)
{
	json_each(row, json_array(root, "rows"))
		if (past_figure(row, "estimatedSeconds") > 0)
			return true;
	return false;
}

static void put_estimated(struct table *t, const cJSON *row)
{
	bool some = past_figure(row, "estimatedSeconds") > 0;
	if (some)
		past_put_seconds(t, row, "estimatedSeconds");
	else
		table_cell(t, COLOUR_NONE, "");
	table_cell_right(t, COLOUR_NONE,
		some && text_of(row, "currency")[0] ? cents_of(text_of(row, "estimatedCost")).s
						    : "");
}

static void put_row(
	struct table *t, const char *key, enum colour colour, const cJSON *row, bool estimated)
{
	const char *currency = text_of(row, "currency");
	table_cell(t, colour, key);
	past_put_count(t, row, "runs");
	past_put_count(t, row, "running");
	past_put_seconds(t, row, "runSeconds");
	table_cell_right(t, COLOUR_BOLD, currency[0] ? cents_of(text_of(row, "cost")).s : "-");
	table_cell_right(t, COLOUR_NONE,
		number_of(row, "running") > 0 && currency[0]
			? cents_of(text_of(row, "runningCost")).s
			: "");
	table_cell(t, COLOUR_NONE, currency);
	past_put_seconds(t, row, "lostSeconds");
	if (estimated)
		put_estimated(t, row);
	table_end_row(t);
}

static void put_remarks(
	const cJSON *root, bool estimated, struct local_times *times, struct buf *out)
{
	if (estimated)
		buf_puts(out,
			"ESTIMATED is run time of which the ledger lost the beginning or the end (docs/restore.md), EST. COST what it costs. RUN TIME and COST include them.\n");
	past_put_note(root, times, out);
	if (truth_of(root, "more"))
		buf_puts(out,
			"Only the most expensive rows are shown; the totals are of all rows.\n");
}

void cost_render_table(const cJSON *root, const struct style *style, struct buf *out)
{
	struct table *t = table_new(style);
	struct local_times times = {""};
	bool any = false, estimated = any_estimated(root);
	past_put_by(t, root);
	table_head(t,
		estimated
			? ">ENDED|>RUNNING|>RUN TIME|>COST|>OF WHICH RUNNING|CURRENCY|>POD TIME LOST|>ESTIMATED|>EST. COST"
			: ">ENDED|>RUNNING|>RUN TIME|>COST|>OF WHICH RUNNING|CURRENCY|>POD TIME LOST");
	json_each(row, json_array(root, "rows")) {
		put_row(t, past_key(row), COLOUR_NONE, row, estimated);
		any = true;
	}
	json_each(total, json_array(root, "totals"))
		put_row(t, text_of(total, "currency")[0] ? "total" : "total (no price)", COLOUR_DIM,
			total, estimated);
	if (any)
		table_render(t, out);
	else
		past_put_none(root, &times, out);
	put_remarks(root, estimated, &times, out);
	table_free(t);
}

void cost_render_csv(const cJSON *root, struct buf *out)
{
	past_csv_by(out, root);
	buf_puts(out,
		",currency,runs,running,run_seconds,cost,running_cost,lost_seconds,estimated_seconds,estimated_cost" CSV_END);
	json_each(row, json_array(root, "rows")) {
		csv_text(out, text_of(row, "key"));
		buf_putc(out, ',');
		csv_text(out, text_of(row, "currency"));
		buf_printf(out, ",%" PRId64 ",%" PRId64 ",%.3f,%s,%s,%.3f,%.3f,%s" CSV_END,
			number_of(row, "runs"), number_of(row, "running"),
			past_figure(row, "runSeconds"), text_of(row, "cost"),
			text_of(row, "runningCost"), past_figure(row, "lostSeconds"),
			past_figure(row, "estimatedSeconds"), text_of(row, "estimatedCost"));
	}
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct past_view view = {
	.kind = PAST_COST, .table = cost_render_table, .csv = cost_render_csv};

int command_cost(void *options)
{
	return past_command_run(options, &view);
}
