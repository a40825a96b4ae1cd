/*
 * The command queue: ClusterQueues with their quotas, and LocalQueues. The API server is asked with
 * the user's own rights.
 */
#include <stdio.h>

#include "base/similar.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/question.h"
#include "cli/queue/answer.h"
#include "cli/queue/report.h"

enum { OUTPUT_MAX_BYTES = 256 * 1024 * 1024 };

struct queue_command {
	const struct arguments *a;
	struct queue_filter filter;
};

/* Offers the ClusterQueues that the answer shows. */
static void look_for_similar(
	const struct queue_filter *f, const struct queue_answer *a, struct similar *ret)
{
	similar_begin(ret, f->clusterqueue);
	json_each(lq, a->localqueues)
		similar_offer(ret, text_of(json_object(lq, "spec"), "clusterQueue"));
	if (f->ns)
		return;
	json_each(cq, a->clusterqueues)
		similar_offer(ret, text_of(json_object(cq, "metadata"), "name"));
}

static int not_found(const struct queue_filter *f, const struct queue_answer *a)
{
	struct err e;
	struct similar similar;
	const char *meant = NULL;
	bool hidden = !a->clusterqueues || a->is_reduced;
	const char *ns = f->ns ? f->ns : a->ns ? a->ns : "";
	if (f->clusterqueue) {
		look_for_similar(f, a, &similar);
		meant = similar_best(&similar);
	}
	if (f->clusterqueue && hidden)
		err_set(&e, ERR_GONE,
			"no LocalQueue%s%.63s leads to a ClusterQueue \"%.100s\"%s%s%s; you may not list clusterqueues.sluice.dev themselves",
			*ns ? " of namespace " : "", ns, f->clusterqueue,
			meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
	else if (f->clusterqueue)
		err_set(&e, ERR_GONE, "there is no ClusterQueue \"%.100s\"%s%.100s%s%s%s%s",
			f->clusterqueue, f->ns ? " that a LocalQueue of namespace " : "",
			f->ns ? f->ns : "", f->ns ? " leads to" : "",
			meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
	else if (f->ns || (hidden && *ns))
		err_set(&e, ERR_GONE, "namespace %.100s has no LocalQueue%s", ns,
			f->ns ? ""
			      : ", and you may not list those of all namespaces; name another with -n");
	else {
		printf("There are no queues yet. `kubectl explain clusterqueue.spec` says how to make one.\n");
		return CLI_OK;
	}
	return command_fail(ERR_GONE, &e);
}

/* Prints the notices to the standard error: a program reads the other output. */
static void say_notices(const struct queue_answer *a)
{
	struct buf text;
	buf_init(&text, OUTPUT_MAX_BYTES);
	queue_render_notices(a, &text);
	fputs(buf_text(&text), stderr);
	buf_done(&text);
}

static int render(const struct queue_command *c, const struct queue_answer *a)
{
	const struct queue_filter *f = &c->filter;
	bool json = c->a->output == OUTPUT_JSON, named = f->clusterqueue || f->ns;
	struct style style = style_of(stdout);
	struct buf text;
	int exit_code;
	buf_init(&text, OUTPUT_MAX_BYTES);
	size_t shown = json ? queue_render_json(a, f, &text)
			    : queue_render_table(a, f, c->a->output == OUTPUT_WIDE, &style, &text);
	if (json)
		say_notices(a);
	if (shown > 0 || (json && !named)) {
		command_print(c->a->watch, buf_text(&text));
		exit_code = ferror(stdout) ? CLI_UNREACHABLE : CLI_OK;
	} else {
		exit_code = not_found(f, a);
	}
	buf_done(&text);
	return exit_code;
}

static int show(struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx)
{
	const struct queue_command *c = ctx;
	const struct queue_filter *f = &c->filter;
	const struct queue_question q = {.ns = f->ns,
		.home = c->a->all_namespaces ? NULL : ns,
		.localqueues = f->ns || f->clusterqueue || c->a->output != OUTPUT_TABLE};
	struct queue_answer answer;
	struct err e = {""};
	int rc = queue_answer_get(loop, client, &q, &answer, &e);
	int exit_code = rc == 0 ? render(c, &answer) : command_fail(rc, &e);
	queue_answer_done(&answer);
	return exit_code;
}

int command_queue(void *options)
{
	const struct arguments *a = options;
	struct queue_command c = {.a = a, .filter = {a->name, a->namespace_name}};
	return question_command(&a->kube, NULL, a->watch, show, &c);
}
