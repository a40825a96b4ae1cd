#include "cli/queue/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "controller/common/path.h"
#include "controller/common/visibility_names.h"

enum { STUCK_TIMEOUT_MS = 5000 };

#define CLUSTERQUEUES "clusterqueues.sluice.dev"
#define LOCALQUEUES "localqueues.sluice.dev"

enum tree { CLUSTERQUEUE_TREE, LOCALQUEUE_TREE, STUCK_TREE, REPORT_TREE };

struct asking {
	struct ev_loop *loop;
	struct kube_client *client;
	const struct queue_question *q;
	struct queue_answer *of;
};

static void put_notice(struct asking *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put_notice(struct asking *a, const char *format, ...)
{
	va_list args;
	if (a->of->nnotices == QUEUE_NOTICES_MAX)
		return;
	va_start(args, format);
	vsnprintf(a->of->notice[a->of->nnotices++], QUEUE_NOTICE_SIZE, format, args);
	va_end(args);
}

/* ---- one list -------------------------------------------------------------------------------- */

static int say_absent(struct err *e)
{
	return err_set(e, ERR_BUSY,
		"this cluster has no ClusterQueues and LocalQueues: the kinds of Sluice are not installed. An admin installs them: docs/install.md");
}

/* Reads a list. ERR_DENIED: the right is missing, and *ret_facts says to whom; others: with their
 * sentence. */
static int list(struct asking *a, const char *path, enum tree tree, const cJSON **ret_items,
	struct question_facts *ret_facts, struct err *e)
{
	struct json *json = a->of->tree[tree];
	const cJSON *root;
	const struct kube_request r = {
		.method = KUBE_GET, .path = path, .answer_ceiling = QUESTION_ANSWER_MAX};
	int rc = question_send(a->loop, a->client, &r, json, &root, ret_facts, e);
	if (rc == ERR_GONE)
		return say_absent(e);
	if (rc == ERR_DENIED && ret_facts->http_status == 403)
		return question_group_is_served(a->loop, a->client, "sluice.dev", json)
			       ? ERR_DENIED
			       : say_absent(e);
	if (rc < 0)
		return rc == ERR_DENIED ? ERR_BUSY : rc; /* the API server does not know the user */
	*ret_items = json_array(root, "items");
	return *ret_items
		       ? 0
		       : err_set(e, ERR_INVALID,
				 "GET %.200s: the answer is no list; is it an API server?", path);
}

/* ---- ClusterQueues --------------------------------------------------------------------------- */

static int read_clusterqueues(struct asking *a, struct err *e)
{
	struct question_facts facts;
	int rc = list(a, SLUICE_ROOT "/clusterqueues", CLUSTERQUEUE_TREE, &a->of->clusterqueues,
		&facts, e);
	return rc == ERR_DENIED ? 0 : rc;
}

static void say_hidden(struct asking *a)
{
	put_notice(a,
		"You may not list " CLUSTERQUEUES
		", so quotas are not shown. An admin can give you that right: the ClusterRole sluice-viewer has it, bound by a ClusterRoleBinding.");
}

/* ---- LocalQueues ----------------------------------------------------------------------------- */

static int say_denied(const char *ns, const struct question_facts *facts, struct err *e)
{
	char user[QUESTION_USER_SIZE];
	question_refused_user(facts, user);
	return err_set(e, ERR_DENIED,
		"you may not list " LOCALQUEUES
		" in namespace %.63s. Name a namespace of yours with -n, or ask an admin for the right: kubectl create rolebinding sluice-%s -n %.63s --clusterrole=sluice-batch-user --user=%s",
		ns, user, ns, user);
}

static int list_localqueues(
	struct asking *a, const char *ns, struct question_facts *ret_facts, struct err *e)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	if (ns)
		path_format(&path, SLUICE_ROOT "/namespaces/%s/localqueues", ns);
	else
		buf_puts(&path, SLUICE_ROOT "/localqueues");
	int rc = list(a, buf_text(&path), LOCALQUEUE_TREE, &a->of->localqueues, ret_facts, e);
	buf_done(&path);
	return rc;
}

static int read_localqueues(struct asking *a, struct err *e)
{
	const struct queue_question *q = a->q;
	struct question_facts facts;
	a->of->ns = q->ns;
	int rc = list_localqueues(a, q->ns, &facts, e);
	if (rc == ERR_DENIED && !q->ns && q->home) {
		a->of->ns = q->home;
		rc = list_localqueues(a, q->home, &facts, e);
		if (rc == 0)
			put_notice(a,
				"You may not list " LOCALQUEUES
				" of all namespaces: those of namespace %.63s are shown. Name another with -n.",
				q->home);
	}
	if (rc != ERR_DENIED)
		return rc;
	if (q->ns || !a->of->clusterqueues)
		return say_denied(a->of->ns, &facts, e);
	put_notice(a, "You may not list " LOCALQUEUES ", so they are not shown.");
	a->of->ns = NULL;
	return 0;
}

/* ---- Jobs whose pods are stuck --------------------------------------------------------------- */

/* True if the API fails, not the question: its controller is down, stands by, or cannot be
 * reached. */
static bool is_silent(const struct question_facts *facts)
{
	return facts->http_status == 0 || facts->http_status >= 500;
}

/* Reads the Jobs whose pods are stuck. Without them the answer is shorter, but still an answer.
 * False: that API fails, whatever is asked. */
static bool read_stuck(struct asking *a)
{
	static const char any[] = "status.trouble.reason!=";
	bool answers = true;
	struct question_facts facts;
	struct buf path;
	const cJSON *root;
	const char *ns = a->of->ns;
	buf_init(&path, PATH_MAX_BYTES);
	if (ns)
		path_format(&path, VISIBILITY_ROOT "/namespaces/%s/queuedjobs?fieldSelector=%s", ns,
			any);
	else
		path_format(&path, VISIBILITY_ROOT "/queuedjobs?fieldSelector=%s", any);
	const struct kube_request r = {.method = KUBE_GET,
		.path = buf_text(&path),
		.timeout_ms = STUCK_TIMEOUT_MS,
		.answer_ceiling = QUESTION_ANSWER_MAX};
	if (question_send(a->loop, a->client, &r, a->of->tree[STUCK_TREE], &root, &facts, NULL) ==
		0) {
		a->of->stuck = json_array(root, "items");
		a->of->stuck_ns = ns;
	} else if (is_silent(&facts)) {
		put_notice(a,
			"The controller does not answer%s%.300s%s: this shows what it wrote last.",
			*facts.message ? " (" : "", facts.message, *facts.message ? ")" : "");
		answers = false;
	}
	buf_done(&path);
	return answers;
}

/* Reads the QueueReport, of a namespace or (NULL) of all, where that API answers. */
static void read_report(struct asking *a, const char *ns)
{
	struct question_facts facts;
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	if (ns)
		path_format(&path, VISIBILITY_ROOT "/namespaces/%s/queuereports", ns);
	else
		buf_puts(&path, VISIBILITY_ROOT "/queuereports");
	const struct kube_request r = {.method = KUBE_GET,
		.path = buf_text(&path),
		.timeout_ms = STUCK_TIMEOUT_MS,
		.answer_ceiling = QUESTION_ANSWER_MAX};
	if (question_send(a->loop, a->client, &r, a->of->tree[REPORT_TREE], &a->of->report, &facts,
		    NULL) != 0)
		a->of->report = NULL;
	buf_done(&path);
}

/* Reads what a user who may not list ClusterQueues is told of those that matter to the namespace. */
static void read_reduced(struct asking *a, bool api_answers)
{
	if (a->of->ns && api_answers)
		read_report(a, a->of->ns);
	a->of->clusterqueues = json_array(a->of->report, "clusterQueues");
	a->of->is_reduced = a->of->clusterqueues;
	if (!a->of->is_reduced)
		say_hidden(a);
}

/* ---- all of it ------------------------------------------------------------------------------- */

int queue_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct queue_question *q, struct queue_answer *ret, struct err *e)
{
	struct asking a = {loop, client, q, ret};
	*ret = (struct queue_answer){0};
	for (size_t i = 0; i < QUEUE_TREES; i++)
		ret->tree[i] = json_new(QUESTION_TREE_MAX);
	int rc = read_clusterqueues(&a, e);
	if (rc == 0 && (q->localqueues || !ret->clusterqueues))
		rc = read_localqueues(&a, e);
	if (rc != 0)
		return rc;
	bool api_answers = read_stuck(&a);
	if (!ret->clusterqueues)
		read_reduced(&a, api_answers);
	else if (ret->stuck)
		read_report(&a, NULL);
	return 0;
}

void queue_answer_done(struct queue_answer *a)
{
	for (size_t i = 0; i < QUEUE_TREES; i++)
		json_free(a->tree[i]);
}
