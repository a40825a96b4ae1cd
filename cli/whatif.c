/*
 * The command whatif: what a change of queues, windows or prices would do to the Jobs that wait now. The
 * live objects are read and the queue is asked with the user's own rights; nothing is written.
 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/question.h"
#include "cli/whatif/answer.h"
#include "cli/whatif/options.h"
#include "cli/whatif/report.h"
#include "controller/common/clock.h"

enum { OUTPUT_MAX_BYTES = 8 << 20, ROUNDS = 15, ROUND_MS = 2000 };

struct whatif_command {
	const struct whatif_options *o;
	struct buf *out;
};

/* Whole objects first, so that a field may be set of one that a file has. */
static int collect(const struct whatif_options *o, struct changes *c, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < o->files.count; i++)
		rc = changes_add_file(c, o->files.path[i], e);
	for (size_t i = 0; rc == 0 && i < o->drops.count; i++)
		rc = changes_drop(c, o->drops.text[i], e);
	for (size_t i = 0; rc == 0 && i < o->sets.count; i++)
		rc = changes_set(c, o->sets.text[i], e);
	return rc == 0 ? changes_check(c, e) : rc;
}

static void render(const struct whatif_command *w, const struct changes *c, const cJSON *root)
{
	struct style style = style_of(stdout);
	const struct whatif_report_options o = {w->o->all, clock_now_ms(), &style};
	if (w->o->json) {
		buf_puts(w->out, "{\"changes\":");
		changes_json(c, w->out);
		json_print_members(w->out, json_object(root, "status"));
		buf_puts(w->out, "}\n");
		return;
	}
	changes_render(c, w->out);
	buf_putc(w->out, '\n');
	whatif_report_render(root, &o, w->out);
}

static int ask(
	struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx, struct err *e)
{
	const struct whatif_command *w = ctx;
	const struct changes_source from = {loop, client, ns};
	const struct whatif_patience patience = {ROUNDS, ROUND_MS};
	struct changes *c = changes_new(&from);
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *root;
	int rc = collect(w->o, c, e);
	if (rc == 0)
		rc = whatif_answer_get(&from, c, &patience, json, &root, e);
	if (rc == 0)
		render(w, c, root);
	json_free(json);
	changes_free(c);
	return rc;
}

int command_whatif(int argc, char **argv)
{
	struct whatif_options o;
	struct err e = {""};
	struct buf out;
	if (whatif_options_parse(argc, argv, &o, &e) < 0) {
		fprintf(stderr, "sluice: whatif: %s; see sluice help whatif\n", e.text);
		return CLI_USAGE;
	}
	if (o.help) {
		help_print(COMMAND_WHATIF, stdout);
		return CLI_OK;
	}
	buf_init(&out, OUTPUT_MAX_BYTES);
	struct whatif_command w = {&o, &out};
	int code = command_end(question_run(&o.kube, o.namespace_name, ask, &w, &e), &out, &e);
	buf_done(&out);
	return code;
}
