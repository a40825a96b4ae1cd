#include "cli/top/answers.h"

#include <stdio.h>

#include "cli/commands.h"
#include "cli/summary.h"
#include "cli/visibility.h"
#include "controller/common/clock.h"
#include "controller/common/path.h"

enum { TREE_SUMMARY, TREE_QUEUES, TREE_JOBS, TREES };

static int ask(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const char *resource, const char *query, struct json *json, const cJSON **ret_root,
	struct err *e)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	if (ns)
		path_format(&path, VISIBILITY_ROOT "/namespaces/%s/", ns);
	else
		buf_puts(&path, VISIBILITY_ROOT "/");
	buf_printf(&path, "%s%s", resource, query);
	const struct visibility_request r = {
		.path = buf_text(&path), .ns = ns, .resource = resource};
	int rc = visibility_ask(loop, client, &r, json, ret_root, e);
	buf_done(&path);
	return rc;
}

/* Asks for the queues, which not everybody may see: then they are not asked for again. */
static void ask_queues(struct ev_loop *loop, struct kube_client *client, struct top_answers *a,
	struct json *json, const cJSON **ret_root)
{
	struct err e = {""};
	int rc = a->hides_queues ? ERR_DENIED
				 : ask(loop, client, a->ns, "queuereports", "", json, ret_root, &e);
	a->hides_queues = rc == ERR_DENIED;
	if (rc < 0)
		*ret_root = NULL;
}

static void take(struct top_answers *a, struct json *const *tree, const cJSON *const *root)
{
	for (size_t i = 0; i < TREES; i++) {
		json_free(a->tree[i]);
		a->tree[i] = tree[i];
	}
	a->summary = root[TREE_SUMMARY];
	a->queues = root[TREE_QUEUES];
	a->jobs = root[TREE_JOBS];
	a->at_ms = clock_now_ms();
	a->trouble = (struct err){""};
}

int top_answers_ask(
	struct ev_loop *loop, struct kube_client *client, struct top_answers *a, struct err *e)
{
	struct json *tree[TREES];
	const cJSON *root[TREES] = {NULL};
	char query[32];
	for (size_t i = 0; i < TREES; i++)
		tree[i] = json_new(QUESTION_TREE_MAX);
	snprintf(query, sizeof(query), "?limit=%d", TOP_JOBS_MAX);
	int rc = summary_ask(
		loop, client, a->ns, "queue", tree[TREE_SUMMARY], &root[TREE_SUMMARY], e);
	if (rc == 0)
		rc = ask(loop, client, a->ns, "queuedjobs", query, tree[TREE_JOBS],
			&root[TREE_JOBS], e);
	if (rc == 0) {
		ask_queues(loop, client, a, tree[TREE_QUEUES], &root[TREE_QUEUES]);
		take(a, tree, root);
		return 0;
	}
	a->trouble = *e;
	for (size_t i = 0; i < TREES; i++)
		json_free(tree[i]);
	return rc;
}

void top_answers_done(struct top_answers *a)
{
	for (size_t i = 0; i < TREES; i++)
		json_free(a->tree[i]);
	*a = (struct top_answers){.ns = a->ns};
}
