/*
 * The command history: the runs of Jobs, deleted ones too, as a table, CSV or JSON, or as the story
 * of one Job. The API server is asked with the user's own rights.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/csv.h"
#include "cli/past/cells.h"
#include "cli/past/show.h"
#include "cli/past/story.h"

/* ---- the table ------------------------------------------------------------------------------- */

static void put_job(struct table *t, const cJSON *run, bool namespaces)
{
	const char *ns = text_of(run, "namespace");
	table_cellf(t, COLOUR_BOLD, "%s%s%s", namespaces ? ns : "", namespaces ? "/" : "",
		text_of(run, "job"));
}

static void put_time(struct table *t, struct local_times *l, const cJSON *run, const char *key)
{
	struct buf text;
	buf_init(&text, RUN_TEXT_MAX);
	local_times_add(l, text_of(run, key), &text);
	table_cell_or_none(t, COLOUR_NONE, buf_text(&text));
	buf_done(&text);
}

static enum colour colour_of(const cJSON *run)
{
	if (past_run_is(run, "Running"))
		return COLOUR_GREEN;
	return past_run_is(run, "Stopping") ? COLOUR_YELLOW : COLOUR_NONE;
}

static void put_row(struct table *t, struct local_times *l, const cJSON *run, bool namespaces)
{
	struct buf text;
	buf_init(&text, RUN_TEXT_MAX);
	put_job(t, run, namespaces);
	past_put_count(t, run, "attempt");
	put_time(t, l, run, "queuedAt");
	put_time(t, l, run, "startedAt");
	put_time(t, l, run, "stoppedAt");
	past_put_seconds(t, run, "runSeconds");
	past_run_why(run, &text);
	table_cell_or_none(t, colour_of(run), buf_text(&text));
	past_put_seconds(t, run, "lostSeconds");
	buf_reset(&text);
	past_run_cost(run, &text);
	table_cell_right(t, COLOUR_NONE, text.len > 0 ? buf_text(&text) : "-");
	table_end_row(t);
	buf_done(&text);
}

static void put_table(
	const cJSON *root, const struct style *style, struct local_times *times, struct buf *out)
{
	bool namespaces = !text_of(root, "namespace")[0];
	struct table *t = table_new(style);
	table_head(t, "JOB|>RUN|QUEUED|STARTED|STOPPED|>RAN|WHY|>POD TIME LOST|>COST");
	json_each(run, json_array(root, "runs"))
		put_row(t, times, run, namespaces);
	table_render(t, out);
	table_free(t);
}

static bool has_runs(const cJSON *root)
{
	const cJSON *runs = json_array(root, "runs");
	return runs && runs->child;
}

static void put_none(const cJSON *root, struct local_times *times, struct buf *out)
{
	const char *user = text_of(root, "user");
	char text[400];
	snprintf(text, sizeof(text), "No run%s%.200s%s was under way between %.40s and %.40s.",
		*user ? " of a Job that " : "", user, *user ? " submitted" : "",
		text_of(root, "since"), text_of(root, "until"));
	local_times_render(times, text, out);
	buf_putc(out, '\n');
}

void history_render(const cJSON *root, const struct style *style, struct buf *out)
{
	struct local_times times = {""};
	if (!has_runs(root))
		put_none(root, &times, out);
	else if (text_of(root, "job")[0])
		past_story_put(root, &times, out);
	else
		put_table(root, style, &times, out);
	past_put_note(root, &times, out);
	if (truth_of(root, "more"))
		buf_puts(out,
			"Only the newest runs are shown. An earlier --until shows older ones.\n");
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static const char CSV_HEAD[] =
	"namespace,job,uid,attempt,owner,submitted_by,cluster_queue,queue,state,queued_at,reserved_at,started_at,stopping_at,stopped_at,reason,actor,preemptor,outcome,holds,flavors,wait_seconds,run_seconds,cpu_hours,gpu_hours,lost_seconds,currency,cost,estimated" CSV_END;

static void csv_field(const cJSON *run, const char *key, struct buf *out)
{
	csv_text(out, text_of(run, key));
	buf_putc(out, ',');
}

static void csv_number(const cJSON *run, const char *key, int decimals, struct buf *out)
{
	past_csv_number(out, run, key, decimals);
	buf_putc(out, ',');
}

/* Appends "cpu=4;pods=4" for an object of amounts, "spot;reserved" for an array of names. */
static void csv_list(const cJSON *list, struct buf *out)
{
	struct buf text;
	buf_init(&text, PAST_OUTPUT_MAX);
	json_each(item, list) {
		buf_puts(&text, text.len > 0 ? ";" : "");
		if (cJSON_IsNumber(item))
			buf_printf(&text, "%s=%.15g", item->string ? item->string : "",
				item->valuedouble);
		else if (cJSON_IsString(item))
			buf_puts(&text, item->valuestring);
	}
	csv_text(out, buf_text(&text));
	buf_putc(out, ',');
	buf_done(&text);
}

static void csv_run(const cJSON *run, struct buf *out)
{
	static const char *const texts[] = {"owner", "submittedBy", "clusterQueue", "queue",
		"state", "queuedAt", "reservedAt", "startedAt", "stoppingAt", "stoppedAt", "reason",
		"actor", "preemptor", "outcome"};
	csv_field(run, "namespace", out);
	csv_field(run, "job", out);
	csv_field(run, "uid", out);
	csv_number(run, "attempt", 0, out);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		csv_field(run, texts[i], out);
	csv_list(json_object(run, "holds"), out);
	csv_list(json_array(run, "flavors"), out);
	csv_number(run, "waitSeconds", 3, out);
	csv_number(run, "runSeconds", 3, out);
	csv_number(run, "cpuHours", 6, out);
	csv_number(run, "gpuHours", 6, out);
	csv_number(run, "lostSeconds", 3, out);
	csv_field(run, "currency", out);
	csv_field(run, "cost", out);
	buf_puts(out, truth_of(run, "estimated") ? "true" CSV_END : "false" CSV_END);
}

void history_render_csv(const cJSON *root, struct buf *out)
{
	buf_puts(out, CSV_HEAD);
	json_each(run, json_array(root, "runs"))
		csv_run(run, out);
}

/* ---- the command ----------------------------------------------------------------------------- */

int history_check(const cJSON *root, struct err *e)
{
	const char *job = text_of(root, "job"), *ns = text_of(root, "namespace");
	const char *user = text_of(root, "user");
	struct local_times times = {""};
	struct buf since, note;
	if (!*job || has_runs(root))
		return 0;
	buf_init(&since, RUN_TEXT_MAX);
	buf_init(&note, RUN_TEXT_MAX);
	if (strncmp(text_of(root, "since"), PAST_BEGINNING, strlen(PAST_BEGINNING)) != 0) {
		buf_puts(&since, " since ");
		local_times_add(&times, text_of(root, "since"), &since);
	}
	local_times_add(&times, text_of(root, "note"), &note);
	int rc = err_set(e, ERR_GONE,
		"the ledger knows no run of Job %.80s in %s%.63s%s%.60s%s%.50s: a Job that never started has none; see sluice explain job/%.80s%s%.63s%s%s",
		job, *ns ? "namespace " : "any namespace", ns, *user ? " that " : "", user,
		*user ? " submitted" : "", buf_text(&since), job, *ns ? " -n " : "", ns,
		note.len > 0 ? "\n" : "", buf_text(&note));
	buf_done(&since);
	buf_done(&note);
	return rc;
}

static const struct past_view view = {.kind = PAST_RUNS,
	.table = history_render,
	.csv = history_render_csv,
	.check = history_check};

int command_history(void *options)
{
	return past_command_run(options, &view);
}
