/*
 * The command cost: what runs cost, as a table, CSV or JSON. Of the API server with the user's own rights,
 * or of a controller that --server or SLUICE_SERVER names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/cost/answer.h"
#include "cli/server.h"
#include "controller/common/path.h"
#include "controller/visibility/job_query.h"

enum { TREE_MAX_BYTES = 64 * 1024 * 1024, OUTPUT_MAX_BYTES = 8 * 1024 * 1024 };

#define ANY_TIME_MS (INT64_C(1) << 60)

/* ---- rendering ------------------------------------------------------------------------------- */

static void put_seconds(struct table *t, const cJSON *row, const char *key)
{
	int64_t s = number_of(row, key);
	if (s >= 3600)
		table_cellf(t, COLOUR_NONE, "%" PRId64 "h%02" PRId64 "m", s / 3600, s / 60 % 60);
	else if (s >= 60)
		table_cellf(t, COLOUR_NONE, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
	else
		table_cellf(t, COLOUR_NONE, "%" PRId64 "s", s);
	table_right(t);
}

static double seconds_of(const cJSON *row, const char *key)
{
	const cJSON *item = json_get(row, key);
	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static void put_number(struct table *t, const cJSON *row, const char *key)
{
	table_cellf(t, COLOUR_NONE, "%" PRId64, number_of(row, key));
	table_right(t);
}

/* Columns that most ledgers never need: some row has a part that is estimated. */
static bool any_estimated(const cJSON *root)
{
	json_each(row, json_array(root, "rows"))
		if (seconds_of(row, "estimatedSeconds") > 0)
			return true;
	return false;
}

static void put_estimated(struct table *t, const cJSON *row)
{
	bool some = seconds_of(row, "estimatedSeconds") > 0;
	if (some)
		put_seconds(t, row, "estimatedSeconds");
	else
		table_cell(t, COLOUR_NONE, "");
	table_cell(t, COLOUR_NONE,
		some && text_of(row, "currency")[0] ? text_of(row, "estimatedCost") : "");
	table_right(t);
}

static void put_row(
	struct table *t, const char *key, enum colour colour, const cJSON *row, bool estimated)
{
	const char *currency = text_of(row, "currency");
	table_cell(t, colour, key);
	put_number(t, row, "runs");
	put_number(t, row, "running");
	put_seconds(t, row, "runSeconds");
	table_cell(t, COLOUR_BOLD, currency[0] ? text_of(row, "cost") : "-");
	table_right(t);
	table_cell(t, COLOUR_NONE,
		number_of(row, "running") > 0 && currency[0] ? text_of(row, "runningCost") : "");
	table_right(t);
	table_cell(t, COLOUR_NONE, currency);
	put_seconds(t, row, "lostSeconds");
	if (estimated)
		put_estimated(t, row);
	table_end_row(t);
}

static void put_head(struct table *t, const cJSON *root, bool estimated)
{
	static const char *const names[] = {"RUNS", "RUNNING", "RUN TIME", "COST", "SO FAR",
		"CURRENCY", "LOST", "ESTIMATED", "EST. COST"};
	size_t n = sizeof(names) / sizeof(*names) - (estimated ? 0 : 2);
	const char *label = text_of(root, "label");
	char key[400];
	snprintf(key, sizeof(key), "%s", label[0] ? label : text_of(root, "by"));
	for (char *p = key; *p && !label[0]; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	table_cell(t, COLOUR_DIM, key);
	for (size_t i = 0; i < n; i++) {
		table_cell(t, COLOUR_DIM, names[i]);
		if (i != 5)
			table_right(t);
	}
	table_end_row(t);
}

static void put_remarks(const cJSON *root, bool estimated, struct buf *out)
{
	if (estimated)
		buf_puts(out,
			"ESTIMATED is run time in bills of which the ledger lost the beginning or the end (docs/restore.md); EST. COST is what it costs. Both are part of the sums.\n");
	if (text_of(root, "note")[0])
		buf_printf(out, "%s\n", text_of(root, "note"));
	if (truth_of(root, "more"))
		buf_puts(out,
			"There are more rows: these are the dearest; the totals are of all.\n");
	if (!truth_of(root, "leading")) /* before 0.2 */
		buf_puts(out, "Runs that go on are not in it: this controller does not lead.\n");
}

void cost_render_table(const cJSON *root, const struct style *style, struct buf *out)
{
	struct table *t = table_new(style);
	bool any = false, estimated = any_estimated(root);
	put_head(t, root, estimated);
	json_each(row, json_array(root, "rows")) {
		const char *key = json_text(row, "key");
		put_row(t, key ? key : "(none)", COLOUR_NONE, row, estimated);
		any = true;
	}
	json_each(total, json_array(root, "totals"))
		put_row(t, "total", COLOUR_DIM, total, estimated);
	if (any)
		table_render(t, out);
	else
		buf_printf(out, "No run started between %s and %s.\n", text_of(root, "since"),
			text_of(root, "until"));
	put_remarks(root, estimated, out);
	table_free(t);
}

/* RFC 4180; and what a spreadsheet would take for a formula is text. */
static void put_field(struct buf *out, const char *text)
{
	bool formula = *text && strchr("=+-@", *text);
	if (!formula && !strpbrk(text, ",\"")) {
		buf_puts(out, text);
		return;
	}
	buf_puts(out, formula ? "\"'" : "\"");
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(out, '"');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

/* Without what a terminal would obey: whose name is a key may have chosen it. */
static void put_csv(struct buf *out, const char *raw)
{
	struct buf clean;
	buf_init(&clean, OUTPUT_MAX_BYTES);
	text_render(raw, &clean);
	put_field(out, buf_text(&clean));
	buf_done(&clean);
}

void cost_render_csv(const cJSON *root, struct buf *out)
{
	const char *label = text_of(root, "label");
	put_csv(out, label[0] ? label : text_of(root, "by"));
	buf_puts(out,
		",currency,runs,running,run_seconds,cost,running_cost,lost_seconds,estimated_seconds,estimated_cost\r\n");
	json_each(row, json_array(root, "rows")) {
		put_csv(out, text_of(row, "key"));
		buf_putc(out, ',');
		put_csv(out, text_of(row, "currency"));
		buf_printf(out, ",%" PRId64 ",%" PRId64 ",%.3f,%s,%s,%.3f,%.3f,%s\r\n",
			number_of(row, "runs"), number_of(row, "running"),
			seconds_of(row, "runSeconds"), text_of(row, "cost"),
			text_of(row, "runningCost"), seconds_of(row, "lostSeconds"),
			seconds_of(row, "estimatedSeconds"), text_of(row, "estimatedCost"));
	}
}

/* ---- asking ---------------------------------------------------------------------------------- */

struct cost_command {
	const struct arguments *a;
	struct past_words words;
	int exit_code;
};

/* Those of one namespace are no sum of all: it is said wherever a person looks. */
static void put_narrowed(const cJSON *root, struct buf *out)
{
	buf_printf(out,
		"You may not list costs." VISIBILITY_GROUP
		" of all namespaces: those of namespace %.63s are shown. Name another with -n.\n",
		text_of(root, "namespace"));
}

static void show(const struct arguments *a, const cJSON *root, bool narrowed)
{
	struct style style = style_of(stdout);
	struct buf text, aside; /* a program reads the one, and not the other */
	buf_init(&text, OUTPUT_MAX_BYTES);
	buf_init(&aside, OUTPUT_MAX_BYTES);
	if (a->output == OUTPUT_JSON) {
		json_print(&text, root);
		buf_putc(&text, '\n');
	} else if (a->output == OUTPUT_CSV) {
		cost_render_csv(root, &text);
		if (text_of(root, "note")[0])
			buf_printf(&aside, "%s\n", text_of(root, "note"));
	} else {
		cost_render_table(root, &style, &text);
	}
	if (narrowed)
		put_narrowed(root, a->output == OUTPUT_TABLE ? &text : &aside);
	fputs(buf_text(&text), stdout);
	fputs(buf_text(&aside), stderr);
	buf_done(&text);
	buf_done(&aside);
}

static int ask_server(const struct cost_command *c)
{
	struct buf path, body;
	struct err e = {""};
	const cJSON *root;
	struct json *j = json_new(TREE_MAX_BYTES);
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&body, SERVER_ANSWER_MAX);
	buf_puts(&path, "/api/v1/cost");
	cost_answer_put_parameters(&c->words, &path);
	int rc = server_get(c->a, buf_text(&path), &body, &e);
	if (rc == 0)
		rc = json_parse(j, buf_slice(&body), &root, &e);
	if (rc == 0)
		show(c->a, root, false);
	int exit_code = rc ? command_fail(rc, &e) : CLI_OK;
	json_free(j);
	buf_done(&path);
	buf_done(&body);
	return exit_code;
}

/* With -A all are wanted, or none: a part would be taken for the sum. */
static int ask_cluster(
	struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx, struct err *e)
{
	struct cost_command *c = ctx;
	struct json *j = json_new(TREE_MAX_BYTES);
	const struct cost_answer_question q = {
		.words = c->words, .home = c->a->all_namespaces ? NULL : ns};
	const cJSON *root;
	bool narrowed;
	int rc = cost_answer_get(loop, client, &q, j, &root, &narrowed, e);
	if (rc == 0)
		show(c->a, root, narrowed);
	c->exit_code = rc ? command_fail(rc, e) : CLI_OK;
	json_free(j);
	return 0;
}

int command_cost(const struct arguments *a)
{
	struct cost_command c = {a,
		{.by = a->by, .since = a->since, .until = a->until, .ns = a->namespace_name},
		CLI_OK};
	struct past_query query;
	struct err e = {""};
	/* Only whether they are understood: it is the controller's clock that counts. */
	if (past_query_parse(&c.words, ANY_TIME_MS, &query, &e) != 0) {
		fprintf(stderr, "sluice: cost: %s; see sluice help cost\n", e.text);
		return CLI_USAGE;
	}
	if (a->server_given)
		return ask_server(&c);
	if (question_run(&a->kube, NULL, ask_cluster, &c, &e) < 0) {
		command_fail(ERR_INVALID, &e);
		return CLI_USAGE;
	}
	return c.exit_code;
}
