/*
 * The command decisions: the last decisions in words, of the API server with the user's own rights.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/local_times.h"
#include "cli/question.h"
#include "cli/visibility.h"
#include "controller/common/path.h"

enum { OUTPUT_MAX_BYTES = 8 * 1024 * 1024, FOLLOW_MS = 1000 };

struct following {
	const struct arguments *a;
	struct local_times times;
	int64_t seq; /* the last decision that was seen */
};

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

static void put_row(struct table *t, struct local_times *l, const cJSON *d)
{
	const char *ns = text_of(d, "namespace"), *job = text_of(d, "job");
	local_times_cell(l, t, COLOUR_DIM, text_of(d, "at"));
	table_cell(t, kind_colour(text_of(d, "kind")), text_of(d, "kind"));
	table_cellf(t, COLOUR_BOLD, "%s%s%s", ns, ns[0] ? "/" : "", job);
	table_cell(t, COLOUR_NONE, text_of(d, "clusterQueue"));
	local_times_cell(l, t, COLOUR_NONE, text_of(d, "text"));
	table_end_row(t);
}

static void show(struct following *f, const cJSON *report)
{
	struct style style = style_of(stdout);
	struct table *t = table_new(&style);
	struct buf text;
	buf_init(&text, OUTPUT_MAX_BYTES);
	json_each(d, json_array(report, "decisions")) {
		f->seq = number_of(d, "seq");
		if (f->a->output == OUTPUT_JSON) {
			json_print(&text, d);
			buf_putc(&text, '\n');
		} else {
			put_row(t, &f->times, d);
		}
	}
	table_render(t, &text);
	fputs(buf_text(&text), stdout);
	fflush(stdout);
	table_free(t);
	buf_done(&text);
}

static int ask(struct ev_loop *loop, struct kube_client *client, struct following *f)
{
	const char *ns = f->a->namespace_name; /* NULL: all */
	struct buf path;
	struct err e = {""};
	const cJSON *report;
	struct json *j = json_new(QUESTION_TREE_MAX);
	buf_init(&path, PATH_MAX_BYTES);
	if (ns)
		path_format(&path, VISIBILITY_ROOT "/namespaces/%s/decisions", ns);
	else
		buf_puts(&path, VISIBILITY_ROOT "/decisions");
	buf_printf(&path, "?after=%" PRId64, f->seq);
	const struct visibility_request r = {
		.path = buf_text(&path), .ns = ns, .resource = "decisions"};
	int rc = visibility_ask(loop, client, &r, j, &report, &e);
	if (rc == 0)
		show(f, report);
	json_free(j);
	buf_done(&path);
	return rc ? command_fail(rc, &e) : CLI_OK;
}

static int follow(struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx)
{
	struct following *f = ctx;
	(void)ns;
	int exit_code = ask(loop, client, f);
	while (f->a->follow && exit_code == CLI_OK && !ferror(stdout)) {
		question_pause(FOLLOW_MS);
		exit_code = ask(loop, client, f);
	}
	return exit_code;
}

int command_decisions(void *options)
{
	const struct arguments *a = options;
	struct following f = {.a = a};
	return question_command(&a->kube, NULL, false, follow, &f);
}
