#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/server.h"
#include "controller/common/path.h"

enum { TREE_MAX_BYTES = 64 * 1024 * 1024, OUTPUT_MAX_BYTES = 8 * 1024 * 1024 };

static enum colour kind_colour(const char *kind)
{
	if (strcasecmp(kind, "start") == 0 || strcasecmp(kind, "started") == 0)
		return COLOUR_GREEN;
	if (strcasecmp(kind, "stop") == 0 || strcasecmp(kind, "stopped") == 0)
		return COLOUR_YELLOW;
	if (strncasecmp(kind, "refuse", 6) == 0 || strcasecmp(kind, "overdue") == 0)
		return COLOUR_RED;
	return COLOUR_NONE;
}

static void put_row(struct table *t, const cJSON *d)
{
	const char *ns = text_of(d, "namespace"), *job = text_of(d, "job");
	table_cell(t, COLOUR_DIM, text_of(d, "at"));
	table_cell(t, kind_colour(text_of(d, "kind")), text_of(d, "kind"));
	table_cellf(t, COLOUR_BOLD, "%s%s%s", ns, ns[0] ? "/" : "", job);
	table_cell(t, COLOUR_NONE, text_of(d, "clusterQueue"));
	table_cell(t, COLOUR_NONE, text_of(d, "text"));
	table_end_row(t);
}

/* Prints those of the namespace; *seq becomes the last number seen, shown or not. */
static void show(
	const cJSON *root, const struct arguments *a, const struct style *style, int64_t *seq)
{
	struct table *t = table_new(style);
	struct buf text;
	buf_init(&text, OUTPUT_MAX_BYTES);
	json_each(d, json_array(root, "decisions")) {
		*seq = number_of(d, "seq");
		if (a->namespace_name && strcmp(text_of(d, "namespace"), a->namespace_name) != 0)
			continue;
		if (a->output == OUTPUT_JSON) {
			json_print(&text, d);
			buf_putc(&text, '\n');
		} else {
			put_row(t, d);
		}
	}
	table_render(t, &text);
	fputs(buf_text(&text), stdout);
	fflush(stdout);
	table_free(t);
	buf_done(&text);
}

static int ask(const struct arguments *a, const struct style *style, int64_t *seq)
{
	struct buf path, body;
	struct err e;
	const cJSON *root;
	struct json *j = json_new(TREE_MAX_BYTES);
	buf_init(&body, SERVER_ANSWER_MAX);
	buf_init(&path, PATH_MAX_BYTES);
	buf_printf(&path, "/api/v1/decisions?after=%" PRId64, *seq);
	if (a->namespace_name)
		path_format(&path, "&namespace=%s", a->namespace_name);
	int rc = server_get(a, buf_text(&path), &body, &e);
	if (rc == 0)
		rc = json_parse(j, buf_slice(&body), &root, &e);
	int exit_code = rc ? command_fail(rc, &e) : CLI_OK;
	if (rc == 0)
		show(root, a, style, seq);
	json_free(j);
	buf_done(&path);
	buf_done(&body);
	return exit_code;
}

int command_decisions(void *options)
{
	const struct arguments *a = options;
	struct style style = style_of(stdout);
	int64_t seq = 0;
	int exit_code = ask(a, &style, &seq);
	while (a->follow && exit_code == CLI_OK && !ferror(stdout)) {
		nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
		exit_code = ask(a, &style, &seq);
	}
	return exit_code;
}
