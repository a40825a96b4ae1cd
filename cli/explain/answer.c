#include "cli/explain/answer.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/explain/translate.h"
#include "cli/question.h"
#include "cli/server.h"
#include "cli/visibility.h"
#include "controller/common/path.h"

void explain_answer_init(struct explain_answer *a)
{
	buf_init(&a->job, SERVER_ANSWER_MAX);
	buf_init(&a->queues, SERVER_ANSWER_MAX);
}

void explain_answer_done(struct explain_answer *a)
{
	buf_done(&a->job);
	buf_done(&a->queues);
}

/* ---- the controller's own port ----------------------------------------------------------------- */

static int ask_controller(const struct arguments *a, const struct explain_question *q,
	struct explain_answer *ret, struct err *e)
{
	struct buf path;
	struct err unheard;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, "/api/v1/jobs/%s/%s", q->ns, q->name);
	int rc = server_get(a, buf_text(&path), &ret->job, e);
	/* Without them the answer is shorter, but still an answer. */
	if (rc == 0 && q->queues && server_get(a, "/api/v1/queues", &ret->queues, &unheard) != 0)
		buf_reset(&ret->queues);
	buf_done(&path);
	return rc;
}

/* ---- the aggregated API ------------------------------------------------------------------------ */

struct cluster_question {
	const struct explain_question *q;
	struct explain_answer *ret;
};

/* A queue of that name; *ret_hidden is set to it where it cannot be had, though it may exist. */
static const cJSON *get_queue(struct ev_loop *loop, struct kube_client *client,
	const struct buf *path, const char *name, struct json *json, const char **ret_hidden)
{
	const cJSON *object = NULL;
	*ret_hidden = "";
	if (!name[0])
		return NULL;
	int rc = question_ask(loop, client, buf_text(path), json, &object, NULL);
	if (rc == 0)
		return object;
	if (rc != ERR_GONE)
		*ret_hidden = name;
	return NULL;
}

static void get_queues(struct ev_loop *loop, struct kube_client *client, const cJSON *job,
	const struct cluster_question *c)
{
	const cJSON *spec = json_object(job, "spec");
	const char *local = text_of(spec, "queue"), *cluster = text_of(spec, "clusterQueue");
	struct json *local_tree = json_new(QUESTION_TREE_MAX);
	struct json *cluster_tree = json_new(QUESTION_TREE_MAX);
	struct queue_objects queues = {.ns = c->q->ns};
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, SLUICE_ROOT "/namespaces/%s/localqueues/%s", c->q->ns, local);
	queues.local = get_queue(loop, client, &path, local, local_tree, &queues.hidden_local);
	buf_reset(&path);
	path_format(&path, SLUICE_ROOT "/clusterqueues/%s", cluster);
	queues.cluster =
		get_queue(loop, client, &path, cluster, cluster_tree, &queues.hidden_cluster);
	translate_queues(&queues, &c->ret->queues);
	buf_done(&path);
	json_free(local_tree);
	json_free(cluster_tree);
}

static int ask_cluster(
	struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx, struct err *e)
{
	const struct cluster_question *c = ctx;
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct buf path;
	const cJSON *job;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, VISIBILITY_ROOT "/namespaces/%s/queuedjobs/%s", ns, c->q->name);
	int rc = visibility_ask(loop, client,
		&(struct visibility_request){buf_text(&path), ns, true}, json, &job, e);
	if (rc == 0) {
		translate_job(job, &c->ret->job);
		if (c->q->queues)
			get_queues(loop, client, job, c);
	}
	buf_done(&path);
	json_free(json);
	return rc;
}

/* ---- whom to ask ------------------------------------------------------------------------------- */

int explain_answer_get(const struct arguments *a, const struct explain_question *q,
	struct explain_answer *ret, struct err *e)
{
	struct cluster_question c = {q, ret};
	struct err absent = {""};
	if (a->server_given)
		return ask_controller(a, q, ret, e);
	int rc = question_run(&a->kube, q->ns, ask_cluster, &c, &absent);
	if (rc == 0 || rc == ERR_GONE || rc == ERR_DENIED) {
		*e = absent;
		return rc;
	}
	rc = ask_controller(a, q, ret, e);
	/* Nobody answers: the user reads how it would go by either way. */
	if (rc == ERR_BUSY)
		command_fail(rc, &absent);
	return rc;
}
