/*
 * The command when: when a Job starts. The API server is asked with the user's own rights.
 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/question.h"
#include "cli/start/answer.h"
#include "cli/start/report.h"
#include "cli/start/variants.h"
#include "controller/common/clock.h"

enum {
	OUTPUT_MAX_BYTES = 2 << 20,
	TREE_MAX_BYTES = 16 << 20,
	ROUNDS = 60, /* of half a second; the controller begins within one second */
	ROUND_MS = 500,
};

struct start_options {
	bool json;
	bool why_not_earlier;
	const char *job;
	const char *namespace_name; /* NULL: the kubeconfig's */
	struct kube_config_options kube;
};

static const struct flag rows[] = {
	{FLAG_GIVEN("why-not-earlier", 0, struct start_options, why_not_earlier)},
	{FLAG_JSON(struct start_options, json)},
	FLAGS_CLUSTER(struct start_options),
};

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	struct start_options *o = options;
	return options_job(word, nwords, "one Job, as in: sluice when job/train", &o->job, e);
}

const struct flag_table start_flags = {FLAG_TABLE(rows, struct start_options), .finish = finish};

static void render(const struct start_options *o, const cJSON *answer, struct buf *out)
{
	struct style style = style_of(stdout);
	if (o->why_not_earlier && o->json)
		start_variants_json(answer, out);
	else if (o->why_not_earlier)
		start_variants_render(answer, clock_now_ms(), &style, out);
	else if (o->json)
		start_report_json(answer, out);
	else
		start_report_render(answer, clock_now_ms(), out);
}

static int ask(struct ev_loop *loop, struct kube_client *client, const char *ns, void *options,
	struct buf *out, struct err *e)
{
	const struct start_options *o = options;
	struct json *json = json_new(TREE_MAX_BYTES);
	const cJSON *answer;
	const struct start_question q = {ns, o->job, ROUNDS, ROUND_MS};
	int rc = o->why_not_earlier ? start_review_get(loop, client, &q, json, &answer, e)
				    : start_answer_get(loop, client, &q, json, &answer, e);
	if (rc == 0)
		render(o, answer, out);
	json_free(json);
	return rc;
}

int command_start(void *options)
{
	const struct start_options *o = options;
	return question_answer(&o->kube, o->namespace_name, OUTPUT_MAX_BYTES, ask, options);
}
