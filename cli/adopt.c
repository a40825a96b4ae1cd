/*
 * The command: Jobs that run come into a queue, and are not stopped for it (docs/adopt.md). First the
 * admin's word is written on the Namespace, then the label on each Job, which the policies of the
 * API server allow by that word alone. The controller does the rest.
 */
#include <ev.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "cli/adopt/options.h"
#include "cli/adopt/plan.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/import/metadata.h"
#include "cli/question.h"
#include "controller/gate/newcomer.h"
#include "controller/gate/story.h"
#include "controller/wire/labels.h"

enum { BODY_MAX = 64 * 1024, PATH_SIZE = 700, OUTPUT_MAX = 16 * 1024 * 1024 };

static int send_merge_patch(struct ev_loop *loop, struct kube_client *client, const char *path,
	const struct buf *body, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct question_facts facts;
	const cJSON *root;
	struct kube_request r = {.method = KUBE_PATCH,
		.path = path,
		.content_type = KUBE_MERGE_PATCH,
		.body = buf_slice(body)};
	int rc = question_send(loop, client, &r, json, &root, &facts, e);
	json_free(json);
	return rc;
}

/* A later word stays: by it others were let in. */
static int read_word(struct ev_loop *loop, struct kube_client *client, const char *path,
	int64_t *ret_ms, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *root;
	int rc = question_ask(loop, client, path, json, &root, e);
	const char *word =
		rc < 0 ? NULL
		       : json_text(json_object(json_object(root, "metadata"), "annotations"),
				 ADOPT_ANNOTATION);
	*ret_ms = 0;
	if (word)
		instant_parse(slice_of(word), ret_ms);
	json_free(json);
	return rc;
}

static int give_word(
	struct ev_loop *loop, struct kube_client *client, const struct adopt_plan *p, struct err *e)
{
	char path[PATH_SIZE];
	int64_t said_ms;
	struct buf body;
	snprintf(path, sizeof(path), "/api/v1/namespaces/%.253s", p->namespace_name);
	int rc = read_word(loop, client, path, &said_ms, e);
	if (rc < 0 || said_ms >= p->begun_by_ms)
		return rc;
	buf_init(&body, BODY_MAX);
	buf_puts(&body, "{\"metadata\":{\"annotations\":{\"" ADOPT_ANNOTATION "\":\"");
	story_time(p->begun_by_ms, &body);
	buf_puts(&body, "\"}}}");
	rc = send_merge_patch(loop, client, path, &body, e);
	if (rc < 0)
		err_wrap(e, "who adopts writes the annotation " ADOPT_ANNOTATION
			    " of the Namespace, which cluster admins may");
	buf_done(&body);
	return rc;
}

/* The version is tested: a Job that has become another since is looked at again first. */
static int label_job(struct ev_loop *loop, struct kube_client *client, const struct adopt_plan *p,
	const struct adopt_row *r, struct err *e)
{
	char path[PATH_SIZE];
	struct buf body;
	snprintf(path, sizeof(path), "/apis/batch/v1/namespaces/%.253s/jobs/%.253s",
		p->namespace_name, r->name);
	buf_init(&body, BODY_MAX);
	buf_puts(&body, "{\"metadata\":{\"resourceVersion\":");
	buf_json_string(&body, r->version);
	buf_puts(&body, ",\"labels\":{\"" QUEUE_LABEL "\":");
	buf_json_string(&body, r->queue);
	if (r->has_kueue_label)
		buf_puts(&body, ",\"" KUEUE_DOMAIN "/queue-name\":null");
	/* Its reservation is for the pods that it has, and one that terminates is still one: before
	 * Kubernetes 1.36 no policy of the API server sees to that. */
	buf_puts(&body, "}},\"spec\":{\"podReplacementPolicy\":\"Failed\"}}");
	int rc = send_merge_patch(loop, client, path, &body, e);
	buf_done(&body);
	return rc;
}

/* One that is refused keeps no other from it. */
static int carry_out(
	struct ev_loop *loop, struct kube_client *client, struct adopt_plan *p, struct err *e)
{
	int rc = p->begun_by_ms > 0 ? give_word(loop, client, p, e) : 0;
	for (size_t i = 0; rc == 0 && i < p->nrows; i++) {
		struct adopt_row *r = &p->row[i];
		struct err refused;
		if (!r->takes || label_job(loop, client, p, r, &refused) == 0)
			continue;
		r->takes = false;
		snprintf(r->why, sizeof(r->why), "%s%s", refused.text,
			r->has_kueue_label && strstr(refused.text, KUEUE_DOMAIN)
				? " (Kueue's webhook keeps its label on a Job that runs: docs/adopt.md, Jobs of Kueue)"
				: "");
	}
	return rc;
}

static size_t count_taken(const struct adopt_plan *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->nrows; i++)
		n += p->row[i].takes;
	return n;
}

static void render(const struct adopt_plan *p, bool dry_run, struct buf *out)
{
	struct style style = style_of(stdout);
	static const char *const heads[] = {"JOB", "QUEUE", "HOLDS", "", NULL};
	struct table *t = table_new(&style);
	for (size_t i = 0; heads[i]; i++)
		table_cell(t, COLOUR_DIM, heads[i]);
	table_end_row(t);
	for (size_t i = 0; i < p->nrows; i++) {
		const struct adopt_row *r = &p->row[i];
		table_cell(t, COLOUR_BOLD, r->name);
		table_cell(t, COLOUR_NONE, r->queue ? r->queue : "-");
		table_cell(t, COLOUR_NONE, r->takes ? r->holds : "-");
		if (!r->takes)
			table_cellf(t, COLOUR_YELLOW, "not adopted: %s", r->why);
		else if (r->over[0])
			table_cellf(t, COLOUR_YELLOW, "over quota: %s", r->over);
		else
			table_cell(t, COLOUR_GREEN, "fits");
		table_end_row(t);
	}
	if (p->nrows > 0)
		table_render(t, out);
	table_free(t);
	size_t n = count_taken(p);
	buf_printf(out, "%zu of %zu %s of namespace %s %s%s\n", n, p->nrows,
		p->nrows == 1 ? "Job" : "Jobs", p->namespace_name,
		dry_run ? "would be adopted; nothing was changed" : "labelled",
		dry_run || n == 0
			? ""
			: "; the controller adopts them now, and says so in an Event on each (Adopted, or NotAdopted)");
}

static int adopt_run(const struct adopt_options *o, const struct kube_config *config,
	struct buf *out, size_t *ret_left_out, struct err *e)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct adopt_plan plan = {0};
	struct kube_client *client = kube_client_new(loop, config,
		&(struct kube_client_options){
			.user_agent = "sluice", .answer_ceiling = QUESTION_ANSWER_MAX});
	int rc = adopt_plan_make(loop, client, o, &plan, e);
	if (rc == 0 && !o->dry_run)
		rc = carry_out(loop, client, &plan, e);
	if (rc == 0) {
		render(&plan, o->dry_run, out);
		*ret_left_out = plan.nrows - count_taken(&plan);
	}
	adopt_plan_done(&plan);
	kube_client_free(client);
	ev_loop_destroy(loop);
	return rc;
}

int command_adopt(int argc, char **argv)
{
	struct adopt_options o;
	struct kube_config *config;
	struct buf out;
	struct err e = {""};
	size_t left_out = 0;
	if (adopt_options_parse(argc, argv, &o, &e) < 0) {
		fprintf(stderr, "sluice: adopt: %s; see sluice help adopt\n", e.text);
		return CLI_USAGE;
	}
	if (o.help) {
		help_print(COMMAND_ADOPT, stdout);
		return CLI_OK;
	}
	buf_init(&out, OUTPUT_MAX);
	int rc = kube_config_load(&o.kube, &config, &e) < 0 ? ERR_INVALID : 0;
	if (rc == 0) {
		if (!o.namespace_name)
			o.namespace_name = config->namespace_name;
		rc = adopt_run(&o, config, &out, &left_out, &e);
		kube_config_free(config);
	}
	int code = command_end(rc, &out, &e);
	buf_done(&out);
	return code == CLI_OK && left_out > 0 ? CLI_FINDINGS : code;
}
