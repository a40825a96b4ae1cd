/*
 * The command whatif: what a change of queues, windows or prices would do to the Jobs that wait
 * now. It reads the live objects and asks the queue with the user's own rights; nothing is written.
 */
#include <stdio.h>

#include "cli/commands.h"
#include "base/json_writer.h"
#include "cli/question.h"
#include "cli/whatif/changes.h"
#include "cli/whatif/options.h"
#include "cli/whatif/report.h"
#include "controller/common/clock.h"

enum { OUTPUT_MAX_BYTES = 8 << 20, ROUNDS = 15, ROUND_MS = 2000 };

/* Collects the changes: whole objects first, so that a field may be set in one of a file. */
static int collect(const struct whatif_options *o, struct changes *c, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < o->files.count; i++)
		rc = changes_add_file(c, o->files.text[i], e);
	for (size_t i = 0; rc == 0 && i < o->drops.count; i++)
		rc = changes_drop(c, o->drops.text[i], e);
	for (size_t i = 0; rc == 0 && i < o->sets.count; i++)
		rc = changes_set(c, o->sets.text[i], e);
	return rc == 0 ? changes_check(c, e) : rc;
}

static void render(
	const struct whatif_options *o, const struct changes *c, const cJSON *root, struct buf *out)
{
	struct style style = style_of(stdout);
	const struct whatif_report_options report = {o->all, clock_now_ms(), &style};
	if (o->json) {
		struct json_writer all = json_writer_object(out);
		changes_json(c, "changes", &all);
		json_put_members(&all, json_object(root, "status"));
		jw_close(&all);
		buf_putc(out, '\n');
		return;
	}
	changes_render(c, out);
	buf_putc(out, '\n');
	whatif_report_render(root, &report, out);
}

static int ask(struct ev_loop *loop, struct kube_client *client, const char *ns, void *options,
	struct buf *out, struct err *e)
{
	const struct changes_source from = {loop, client, ns};
	const struct changes_patience patience = {ROUNDS, ROUND_MS};
	struct changes *c = changes_new(&from);
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *root;
	int rc = collect(options, c, e);
	if (rc == 0)
		rc = changes_ask(&from, c, &patience, json, &root, e);
	if (rc == 0)
		render(options, c, root, out);
	json_free(json);
	changes_free(c);
	return rc;
}

int command_whatif(void *options)
{
	const struct whatif_options *o = options;
	return question_answer(&o->kube, o->namespace_name, OUTPUT_MAX_BYTES, ask, options);
}
