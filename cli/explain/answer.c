#include "cli/explain/answer.h"

#include "cli/commands.h"
#include "cli/visibility.h"
#include "controller/common/path.h"

enum tree { JOB_TREE, LOCAL_TREE, CLUSTER_TREE };

/* Gets the queue of that name, or NULL. *ret_hides: it may not be read, and may exist. */
static const cJSON *get_queue(struct ev_loop *loop, struct kube_client *client,
	const struct buf *path, const char *name, struct json *json, bool *ret_hides)
{
	const cJSON *object = NULL;
	if (!name[0])
		return NULL;
	int rc = question_ask(loop, client, buf_text(path), json, &object, NULL);
	*ret_hides = rc < 0 && rc != ERR_GONE;
	return rc == 0 ? object : NULL;
}

static void get_queues(
	struct ev_loop *loop, struct kube_client *client, const char *ns, struct explain_answer *a)
{
	const cJSON *spec = json_object(a->job, "spec");
	const char *local = text_of(spec, "queue"), *cluster = text_of(spec, "clusterQueue");
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, SLUICE_ROOT "/namespaces/%s/localqueues/%s", ns, local);
	a->queues.local =
		get_queue(loop, client, &path, local, a->tree[LOCAL_TREE], &a->queues.hides_local);
	buf_reset(&path);
	path_format(&path, SLUICE_ROOT "/clusterqueues/%s", cluster);
	a->queues.cluster = get_queue(
		loop, client, &path, cluster, a->tree[CLUSTER_TREE], &a->queues.hides_cluster);
	buf_done(&path);
}

int explain_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct explain_question *q, struct explain_answer *ret, struct err *e)
{
	struct buf path;
	*ret = (struct explain_answer){0};
	for (size_t i = 0; i < EXPLAIN_TREES; i++)
		ret->tree[i] = json_new(QUESTION_TREE_MAX);
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, VISIBILITY_ROOT "/namespaces/%s/queuedjobs/%s", q->ns, q->name);
	int rc = visibility_ask(loop, client,
		&(struct visibility_request){buf_text(&path), q->ns, true}, ret->tree[JOB_TREE],
		&ret->job, e);
	if (rc == 0 && q->queues)
		get_queues(loop, client, q->ns, ret);
	buf_done(&path);
	return rc;
}

void explain_answer_done(struct explain_answer *a)
{
	for (size_t i = 0; i < EXPLAIN_TREES; i++)
		json_free(a->tree[i]);
}
