/*
 * The command start: when a Job starts, through the API server with the user's own rights.
 */
#include <getopt.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/question.h"
#include "cli/start/answer.h"
#include "cli/start/report.h"
#include "cli/start/variants.h"
#include "controller/common/clock.h"

enum {
	OUTPUT_MAX_BYTES = 2 << 20,
	TREE_MAX_BYTES = 16 << 20,
	ROUNDS = 60, /* half a second each; the controller begins within one, and plays for some */
	ROUND_MS = 500,
};

struct start_options {
	bool help, json;
	bool why_not_earlier;
	const char *job;
	const char *namespace_name; /* NULL: the kubeconfig's */
	struct kube_config_options kube;
};

static const struct flag rows[] = {
	{FLAG_NAMESPACE(struct start_options, namespace_name)},
	{FLAG_GIVEN("why-not-earlier", 0, struct start_options, why_not_earlier)},
	{FLAG_JSON(struct start_options, json)},
	{FLAG_KUBECONFIG(struct start_options, kube)},
	{FLAG_CONTEXT(struct start_options, kube)},
	{FLAG_GIVEN("help", 'h', struct start_options, help)},
};

const struct flag_table start_flags = {FLAG_TABLE(rows)};

static int parse(int argc, char **argv, struct start_options *o, struct err *e)
{
	int rc = flags_walk(argc, argv, 1, &start_flags, o, e);
	if (rc < 0 || o->help)
		return rc;
	o->job = flag_job_name(argv + optind, (size_t)(argc - optind));
	if (!o->job)
		return err_set(e, ERR_INVALID, "it wants one Job, as in: sluice start job/train");
	return flag_check_name("JOB", o->job, e);
}

struct start_command {
	const struct start_options *o;
	struct buf *out;
};

static void render(const struct start_command *c, const cJSON *answer)
{
	struct style style = style_of(stdout);
	if (c->o->why_not_earlier && c->o->json)
		start_variants_json(answer, c->out);
	else if (c->o->why_not_earlier)
		start_variants_render(answer, clock_now_ms(), &style, c->out);
	else if (c->o->json)
		start_report_json(answer, c->out);
	else
		start_report_render(answer, clock_now_ms(), c->out);
}

static int ask(
	struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx, struct err *e)
{
	struct start_command *c = ctx;
	struct json *json = json_new(TREE_MAX_BYTES);
	const cJSON *answer;
	const struct start_question q = {ns, c->o->job, ROUNDS, ROUND_MS};
	int rc = c->o->why_not_earlier ? start_review_get(loop, client, &q, json, &answer, e)
				       : start_answer_get(loop, client, &q, json, &answer, e);
	if (rc == 0)
		render(c, answer);
	json_free(json);
	return rc;
}

int command_start(int argc, char **argv)
{
	struct start_options o = {0};
	struct err e = {""};
	struct buf out;
	if (parse(argc, argv, &o, &e) < 0) {
		fprintf(stderr, "sluice: start: %s; see sluice help start\n", e.text);
		return CLI_USAGE;
	}
	if (o.help) {
		help_print(COMMAND_START, stdout);
		return CLI_OK;
	}
	buf_init(&out, OUTPUT_MAX_BYTES);
	struct start_command c = {&o, &out};
	int code = command_end(question_run(&o.kube, o.namespace_name, ask, &c, &e), &out, &e);
	buf_done(&out);
	return code;
}
