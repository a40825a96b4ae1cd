/*
 * The command queue: ClusterQueues with their quotas, and LocalQueues. Of the API server with the user's
 * own rights, or of a controller that --server or SLUICE_SERVER names.
 */
#include <stdio.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/question.h"
#include "cli/queue/answer.h"
#include "cli/queue/report.h"
#include "cli/server.h"

enum {
	TREE_MAX_BYTES = 512 * 1024 * 1024,
	OUTPUT_MAX_BYTES = 256 * 1024 * 1024,
};

struct queue_command {
	const struct arguments *a;
	struct queue_filter filter;
	struct ev_loop *loop;
	struct kube_client *client; /* NULL: the controller is asked */
	const char *home;	    /* the kubeconfig's namespace */
	int exit_code;
};

static int get(const struct queue_command *c, struct buf *ret, struct err *e)
{
	const struct queue_filter *f = &c->filter;
	if (!c->client)
		return server_get(c->a, "/api/v1/queues", ret, e);
	return queue_answer_get(c->loop, c->client,
		&(struct queue_question){.ns = f->ns,
			.home = c->a->all_namespaces ? NULL : c->home,
			.localqueues = f->ns || f->clusterqueue || c->a->output != OUTPUT_TABLE},
		ret, e);
}

static int not_found(const struct queue_filter *f, const cJSON *root)
{
	struct err e;
	bool hidden = truth_of(root, "clusterQueuesHidden");
	const char *ns = f->ns ? f->ns : text_of(root, "namespace");
	if (f->clusterqueue && hidden)
		err_set(&e, ERR_GONE,
			"no LocalQueue%s%.63s leads to a ClusterQueue \"%.100s\"; you may not list clusterqueues.sluice.dev themselves",
			*ns ? " of namespace " : "", ns, f->clusterqueue);
	else if (f->clusterqueue)
		err_set(&e, ERR_GONE, "there is no ClusterQueue \"%.100s\"%s%.100s%s",
			f->clusterqueue, f->ns ? " that a LocalQueue of namespace " : "",
			f->ns ? f->ns : "", f->ns ? " leads to" : "");
	else if (f->ns || (hidden && *ns))
		err_set(&e, ERR_GONE, "namespace %.100s has no LocalQueue%s", ns,
			f->ns ? ""
			      : ", and you may not list those of all namespaces; name another with -n");
	else if (!json_array(root, "clusterQueues"))
		err_set(&e, ERR_GONE,
			"the answer has no clusterQueues; is it a sluice-controller?");
	else {
		printf("There are no queues yet. `kubectl explain clusterqueue.spec` says how to make one.\n");
		return CLI_OK;
	}
	return command_fail(ERR_GONE, &e);
}

/* A program reads the other output. */
static void say_notices(const cJSON *root)
{
	struct buf text;
	buf_init(&text, OUTPUT_MAX_BYTES);
	queue_render_notices(root, &text);
	fputs(buf_text(&text), stderr);
	buf_done(&text);
}

static int render(const struct queue_command *c, const cJSON *root)
{
	const struct queue_filter *f = &c->filter;
	bool json = c->a->output == OUTPUT_JSON, named = f->clusterqueue || f->ns;
	struct style style = style_of(stdout);
	struct buf text;
	int exit_code;
	buf_init(&text, OUTPUT_MAX_BYTES);
	size_t shown =
		json ? queue_render_json(root, f, &text)
		     : queue_render_table(root, f, c->a->output == OUTPUT_WIDE, &style, &text);
	if (json)
		say_notices(root);
	if (shown > 0 || (json && !named)) {
		command_print(c->a->watch, buf_text(&text));
		exit_code = ferror(stdout) ? CLI_UNREACHABLE : CLI_OK;
	} else {
		exit_code = not_found(f, root);
	}
	buf_done(&text);
	return exit_code;
}

static int show(void *ctx)
{
	const struct queue_command *c = ctx;
	struct json *j = json_new(TREE_MAX_BYTES);
	struct buf body;
	struct err e = {""};
	const cJSON *root;
	buf_init(&body, SERVER_ANSWER_MAX);
	int rc = get(c, &body, &e);
	if (rc == 0)
		rc = json_parse(j, buf_slice(&body), &root, &e);
	int exit_code = rc == 0 ? render(c, root) : command_fail(rc, &e);
	json_free(j);
	buf_done(&body);
	return exit_code;
}

/* One client for all rounds, so that a credential plugin is not run for each. */
static int ask(
	struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx, struct err *e)
{
	struct queue_command *c = ctx;
	(void)e;
	c->loop = loop;
	c->client = client;
	c->home = ns;
	c->exit_code = command_repeat(c->a->watch, show, c);
	return 0;
}

int command_queue(void *options)
{
	const struct arguments *a = options;
	struct queue_command c = {.a = a, .filter = {a->name, a->namespace_name}};
	if (a->server_given)
		return command_repeat(a->watch, show, &c);
	return question_command(&a->kube, NULL, ask, &c, &c.exit_code);
}
