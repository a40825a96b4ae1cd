#include "controller/write/dispatcher.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/must.h"
#include "base/json.h"
#include "controller/common/path.h"
#include "controller/common/server_words.h"
#include "controller/gate/newcomer.h"
#include "controller/write/recall.h"
#include "controller/common/clock.h"
#include "controller/wire/decode.h"
#include "controller/wire/patch.h"
#include "controller/wire/pods_table.h"
#include "controller/write/provisioner.h"
#include "sluice/keys.h"

enum {
	TREE_MAX_BYTES = 64 * 1024 * 1024,
	PODS_ANSWER_MAX = 4 * 1024 * 1024, /* a page: a row has 9 cells, and no object */
	/* A page of 20 with the metadata of each, parsed between two turns of the loop. Annotations
	 * as large as the API server takes make 5 MB of it. A tenant who blows up labels,
	 * finalizers, ownerReferences or managedFields as well keeps a Job of their own namespace
	 * from being adopted. */
	PODS_WITH_NODES_MAX = 8 * 1024 * 1024,
	WAIT_FOR_RIGHTS_MS = 5000, /* after an answer that is about who we are */
};

struct errand {
	struct dispatcher *dispatcher;
	struct errand *prev, *next; /* all under way; leave when answered or cancelled */
	uint64_t id;		    /* of the intent */
	uint64_t request;
	enum intent_kind kind;
	char *pods_path; /* INTENT_PODS: of each page, but for the mark where it goes on */
	size_t pods;	 /* on the pages before */
	bool with_nodes; /* INTENT_PODS: the nodes are asked for, too */
	struct uid uid;	 /* of the Job */
	struct pod_nodes nodes;
};

struct dispatcher {
	struct dispatcher_options options;
	struct provisioner *provisioner;
	struct recall recall;
	int64_t load_epoch; /* of the intent whose recall is under way */
	struct json *json;
	struct buf body, path;
	struct errand *first;
	size_t writes; /* errands that write */
	size_t batches;
	char holder[sizeof(((struct ledger_lease *)0)->holder)];
	int64_t lease_ends_ms;
	int64_t complained_ms; /* when missing rights were logged last */
};

static struct job_answer judge_provision(const struct kube_answer *a, void *ctx);
static const char *words_of_provision(const struct kube_answer *a, void *ctx);
static void answer_provision(uint64_t id, const struct job_answer *a, void *ctx);

struct dispatcher *dispatcher_new(const struct dispatcher_options *o)
{
	struct dispatcher *c = mem_alloc(sizeof(*c));
	c->options = *o;
	c->json = json_new(TREE_MAX_BYTES);
	buf_init(&c->body, PATCH_MAX_BYTES);
	buf_init(&c->path, PATH_MAX_BYTES);
	struct provisioner_options provisioner = {
		o->client, judge_provision, words_of_provision, answer_provision, c};
	c->provisioner = provisioner_new(&provisioner);
	return c;
}

static bool is_write(const struct errand *e)
{
	return !intent_is(e->kind, WRITES_NOTHING);
}

static void errand_free(struct errand *e)
{
	struct dispatcher *c = e->dispatcher;
	if (e->prev)
		e->prev->next = e->next;
	else
		c->first = e->next;
	if (e->next)
		e->next->prev = e->prev;
	if (is_write(e))
		c->writes--;
	free(e->pods_path);
	pod_nodes_done(&e->nodes);
	free(e);
}

void dispatcher_free(struct dispatcher *c)
{
	if (!c)
		return;
	while (c->first) {
		kube_client_cancel(c->options.client, c->first->request);
		errand_free(c->first);
	}
	provisioner_free(c->provisioner);
	json_free(c->json);
	buf_done(&c->body);
	buf_done(&c->path);
	free(c);
}

size_t dispatcher_writes_under_way(const struct dispatcher *c)
{
	return c->writes + c->batches + provisioner_under_way(c->provisioner);
}

struct lease_heard dispatcher_lease(const struct dispatcher *c)
{
	return (struct lease_heard){c->holder, c->lease_ends_ms};
}

static void changed(const struct dispatcher *c)
{
	c->options.changed(c->options.ctx);
}

/* ---- the ledger's answers -------------------------------------------------------------------- */

static void hear_lease(struct dispatcher *c, const struct ledger_lease *l)
{
	snprintf(c->holder, sizeof(c->holder), "%s", l->holder);
	c->lease_ends_ms = clock_now_ms() + l->left_ms;
}

static void on_lease(const struct pg_answer *a, void *ctx)
{
	struct dispatcher *c = ctx;
	if (a->outcome == LEDGER_DONE)
		hear_lease(c, a->lease);
	gate_answer_lease(c->options.gate, a->id, a->outcome, a->lease);
	changed(c);
}

static void on_load(const struct pg_answer *a, void *ctx)
{
	struct dispatcher *c = ctx;
	gate_answer_load(c->options.gate, a->id, a->outcome, a->reservations, a->n);
	changed(c);
}

static void load(struct dispatcher *c, uint64_t id);

static void on_recall(const struct pg_answer *a, void *ctx)
{
	struct dispatcher *c = ctx;
	if (a->outcome != LEDGER_DONE) { /* then the load has failed the same way */
		on_load(a, c);
		return;
	}
	recall_take(&c->recall, c->options.queue, c->options.forecasts, a);
	load(c, a->id);
}

static void load(struct dispatcher *c, uint64_t id)
{
	const struct pg_asker recall = {on_recall, c, id}, load = {on_load, c, id};
	if (!recall_ask(&c->recall, c->options.queue, c->options.pg, &recall, c->load_epoch,
		    clock_now_ms()))
		pg_load(c->options.pg, c->load_epoch, &load);
}

static void on_batch(const struct pg_answer *a, void *ctx)
{
	struct dispatcher *c = ctx;
	must(c->batches > 0);
	c->batches--;
	gate_answer_batch(c->options.gate, a->id, a->outcome, a->results, a->n);
	changed(c);
}

/* ---- the API server's answers ---------------------------------------------------------------- */

enum job_outcome dispatcher_judge(
	const struct kube_answer *a, bool write, bool is_invalid, bool is_rights)
{
	switch (a->outcome) {
	case KUBE_DONE:
		return JOB_DONE;
	case KUBE_RETRY:
	case KUBE_RELIST:
	case KUBE_LIMIT:
		return JOB_BUSY;
	case KUBE_CONFLICT:
		return JOB_REFUSED;
	case KUBE_STALE:
		return is_invalid ? JOB_DENIED : JOB_REFUSED;
	case KUBE_GONE:
		return JOB_GONE;
	case KUBE_DENIED:
		/* A 403 of an admission policy is about this request. Any other no is about who we
		 * are, and all of our requests get it until that is mended (or, after a restart of
		 * the API server, until it has read its RBAC): nothing is wrong with the Job. */
		return a->http_status == 403 && !is_rights ? JOB_DENIED : JOB_BUSY;
	case KUBE_IN_DOUBT:
		return write ? JOB_IN_DOUBT : JOB_BUSY;
	case KUBE_GIVE_UP:
		return JOB_DENIED;
	}
	must_not_get_here();
	return JOB_IN_DOUBT;
}

/* Tells whether a 422 is of an invalid object, which it names, with its fields. A failed test of a
 * patch has no name, for no object was made. */
static bool speaks_of_fields(struct dispatcher *c, const struct kube_answer *a)
{
	const cJSON *root;
	if (a->outcome != KUBE_STALE || json_parse(c->json, a->body, &root, NULL) != 0)
		return false;
	const char *name = json_text(json_object(root, "details"), "name");
	return name && name[0];
}

/* Tells whether a 403 is RBAC's, which has no other mark than its words. */
static bool speaks_of_rights(struct dispatcher *c, const struct kube_answer *a)
{
	const cJSON *root;
	if (a->http_status != 403 || json_parse(c->json, a->body, &root, NULL) != 0)
		return false;
	const char *message = json_text(root, "message");
	return message && server_says(slice_of(message), SERVER_NO_RIGHT);
}

static void complain(struct dispatcher *c, const struct kube_answer *a)
{
	if (!log_again(&c->complained_ms, monotonic_ms()))
		return;
	log_event(c->options.log, LEVEL_ERROR, "no-rights", "why", a->sentence, "cure",
		"kubectl apply -k deploy/rbac, unless the API server has only just started", NULL);
}

/* Returns what the server itself said, or else our sentence about it. */
static const char *server_words(struct dispatcher *c, const struct kube_answer *a)
{
	const cJSON *root;
	if (a->body.len == 0 || json_parse(c->json, a->body, &root, NULL) != 0)
		return a->sentence;
	const char *message = json_text(root, "message");
	return message && message[0] ? message : a->sentence;
}

/*
 * Counted are pods that hold quota: pods that run or may run, terminating ones too, and none that
 * ended. They are counted row by row: with a selector Kubernetes never tells how many remain after
 * a page. Only the last page has no mark where to go on, and only then the count is an answer.
 */
static void on_answer(const struct kube_answer *a, void *ctx);

static void ask_for_pods(struct errand *e, const char *mark)
{
	struct dispatcher *c = e->dispatcher;
	buf_reset(&c->path);
	buf_puts(&c->path, e->pods_path);
	if (mark)
		path_format(&c->path, "&continue=%s", mark);
	struct kube_request request = {
		.method = KUBE_GET,
		.path = buf_text(&c->path),
		.accept = KUBE_TABLE,
		.answer_ceiling = e->with_nodes ? PODS_WITH_NODES_MAX : PODS_ANSWER_MAX,
	};
	e->request = kube_client_send(c->options.client, &request, on_answer, e);
}

/* What a 2xx brought; job is yours. */
struct taken {
	struct job_answer answer;
	struct job *job;
};

/* Takes a page. False when there are more: the next was asked for. */
static bool take_pods(struct errand *e, const struct kube_answer *a, struct taken *to)
{
	struct job_answer *ret = &to->answer;
	struct json *json = e->dispatcher->json;
	const cJSON *root;
	if (json_parse(json, a->body, &root, NULL) != 0 || !pods_table_is(root)) {
		ret->outcome = JOB_BUSY; /* never to be taken for an empty page */
		return true;
	}
	json_each(row, json_array(root, "rows"))
		e->pods++;
	if (e->with_nodes)
		pods_table_read(root, &e->uid, &e->nodes);
	const char *mark = json_text(json_object(root, "metadata"), "continue");
	if (mark && mark[0]) {
		ask_for_pods(e, mark);
		json_reset(json);
		return false;
	}
	ret->pods = e->pods;
	ret->node = (const char *const *)e->nodes.name;
	ret->nnodes = e->nodes.n;
	return true;
}

/* Takes an admin's word on the Namespace. What cannot be read allows nothing. */
static bool take_namespace(struct errand *e, const struct kube_answer *a, struct taken *to)
{
	struct dispatcher *c = e->dispatcher;
	const cJSON *root;
	const char *kind = NULL, *text = NULL;
	if (json_parse(c->json, a->body, &root, NULL) == 0) {
		kind = json_text(root, "kind");
		text = json_text(json_object(json_object(root, "metadata"), "annotations"),
			ADOPT_ANNOTATION);
	}
	if (!kind || strcmp(kind, "Namespace") != 0)
		to->answer.outcome = JOB_BUSY;
	struct job as_begun = {0}; /* read as the start time that it is compared with */
	if (text && instant_parse(slice_of(text), &as_begun.status.start_ms) &&
		c->options.job_context.bring_times)
		c->options.job_context.bring_times(&as_begun);
	to->answer.adopt_begun_by_ms = as_begun.status.start_ms;
	return true;
}

/* Takes the Job; without one in its body, a write has landed, and the Job must be read. */
static bool take_job(struct errand *e, const struct kube_answer *a, struct taken *to)
{
	struct dispatcher *c = e->dispatcher;
	const cJSON *root;
	struct err err = {""};
	if (json_parse(c->json, a->body, &root, &err) == 0 &&
		decode_job(root, &c->options.job_context, &to->job, &err) == 0) {
		to->answer.job = to->job;
		return true;
	}
	log_event(c->options.log, LEVEL_WARN, "answer-unreadable", "why", err.text, NULL);
	to->answer.outcome = is_write(e) ? JOB_IN_DOUBT : JOB_BUSY;
	return true;
}

/* The answer to a DELETE is a Status. */
static bool take_nothing(struct errand *e, const struct kube_answer *a, struct taken *to)
{
	(void)e;
	(void)a;
	(void)to;
	return true;
}

struct row {
	void (*send)(struct dispatcher *c, const struct intent *i);
	bool (*take)(struct errand *e, const struct kube_answer *a, struct taken *to);
};
static const struct row *row_of(enum intent_kind k);

/* Judges the outcome, and when to come again. */
static struct job_answer judge(struct dispatcher *c, const struct kube_answer *a, bool write)
{
	struct job_answer answer = {
		.outcome =
			dispatcher_judge(a, write, speaks_of_fields(c, a), speaks_of_rights(c, a)),
		.retry_ms = a->retry_after_ms,
	};
	if (a->outcome == KUBE_DENIED && answer.outcome == JOB_BUSY) {
		answer.retry_ms = WAIT_FOR_RIGHTS_MS;
		complain(c, a);
	}
	return answer;
}

static void on_answer(const struct kube_answer *a, void *ctx)
{
	struct errand *e = ctx;
	struct dispatcher *c = e->dispatcher;
	struct taken taken = {judge(c, a, is_write(e)), NULL};
	struct job_answer *answer = &taken.answer;
	if (answer->outcome == JOB_GONE && e->kind == INTENT_PODS)
		answer->outcome = JOB_BUSY; /* a page is, and that says nothing of the Job */
	if (answer->outcome != JOB_DONE && a->http_status > 0)
		answer->sentence = server_words(c, a);
	else if (answer->outcome == JOB_DONE && !row_of(e->kind)->take(e, a, &taken))
		return;
	if (answer->outcome != JOB_DONE)
		log_event(c->options.log, LEVEL_DEBUG, "not-done", "#intent",
			LOG_NUMBER((int64_t)e->id), "#status", LOG_NUMBER(a->http_status),
			"outcome", kube_outcome_name(a->outcome), "why",
			answer->sentence ? answer->sentence : a->sentence, NULL);
	gate_answer_job(c->options.gate, e->id, answer);
	free(taken.job);
	json_reset(c->json);
	errand_free(e);
	changed(c);
}

static struct job_answer judge_provision(const struct kube_answer *a, void *ctx)
{
	struct dispatcher *c = ctx;
	struct job_answer answer = judge(c, a, true);
	json_reset(c->json);
	return answer;
}

static const char *words_of_provision(const struct kube_answer *a, void *ctx)
{
	return server_words(ctx, a);
}

static void answer_provision(uint64_t id, const struct job_answer *a, void *ctx)
{
	struct dispatcher *c = ctx;
	gate_answer_job(c->options.gate, id, a);
	json_reset(c->json);
	changed(c);
}

/* ---- setting out ----------------------------------------------------------------------------- */

static struct errand *errand_new(struct dispatcher *c, const struct intent *i)
{
	struct errand *e = mem_alloc(sizeof(*e));
	e->dispatcher = c;
	e->id = i->id;
	e->kind = i->kind;
	e->next = c->first;
	if (e->next)
		e->next->prev = e;
	c->first = e;
	if (is_write(e))
		c->writes++;
	return e;
}

/* Sends the request off to the path that was made. */
static void send(struct dispatcher *c, const struct intent *i, struct kube_request request)
{
	struct errand *e = errand_new(c, i);
	request.path = buf_text(&c->path);
	e->request = kube_client_send(c->options.client, &request, on_answer, e);
}

static void job_path(struct dispatcher *c, const struct intent *i)
{
	buf_reset(&c->path);
	path_format(&c->path, "/apis/batch/v1/namespaces/%s/jobs/%s", i->ns, i->name);
}

static void send_pods(struct dispatcher *c, const struct intent *i)
{
	char uid[UID_TEXT_SIZE];
	uid_format(&i->uid, uid);
	buf_reset(&c->path);
	path_format(&c->path, "/api/v1/namespaces/%s/pods?", i->ns);
	buf_puts(&c->path,
		i->with_nodes ? PODS_TABLE_QUERY "&limit=20" : "includeObject=None&limit=1000");
	buf_puts(&c->path, "&labelSelector=");
	path_format(&c->path, "%s", "batch.kubernetes.io/controller-uid=");
	path_format(&c->path, "%s&fieldSelector=%s", uid, PODS_TABLE_LIVE);
	struct errand *e = errand_new(c, i);
	e->with_nodes = i->with_nodes;
	e->uid = i->uid;
	e->pods_path = mem_strdup(buf_text(&c->path));
	ask_for_pods(e, NULL);
}

static void send_patch(struct dispatcher *c, const struct intent *i)
{
	job_path(c, i);
	if (i->by_status)
		buf_puts(&c->path, "/status");
	buf_reset(&c->body);
	patch_render(i, &c->body);
	if (c->body.failed) { /* not sent at all, so nothing can land */
		struct job_answer answer = {.outcome = JOB_DENIED,
			.sentence =
				i->template.fault
					? i->template.fault
					: "the patch would be larger than the API server takes"};
		gate_answer_job(c->options.gate, i->id, &answer);
		changed(c);
		return;
	}
	send(c, i,
		(struct kube_request){.method = KUBE_PATCH,
			.content_type = KUBE_JSON_PATCH,
			.body = buf_slice(&c->body),
			.urgent = intent_is(i->kind, GOES_FIRST)});
}

/* Deletes the Job, with its pods, should there be any after all. */
static void send_delete(struct dispatcher *c, const struct intent *i)
{
	job_path(c, i);
	buf_reset(&c->body);
	struct json_writer w = json_writer_object(&c->body);
	jw_texts(&w, "apiVersion", "v1", "kind", "DeleteOptions", "propagationPolicy", "Background",
		NULL);
	jw_object(&w, "preconditions");
	uid_put(&w, "uid", &i->uid);
	jw_textf(&w, "resourceVersion", "%" PRId64, i->version);
	jw_close(&w);
	send(c, i, (struct kube_request){.method = KUBE_DELETE, .body = buf_slice(&c->body)});
}

static void send_read(struct dispatcher *c, const struct intent *i)
{
	job_path(c, i);
	send(c, i, (struct kube_request){.method = KUBE_GET});
}

static void send_namespace(struct dispatcher *c, const struct intent *i)
{
	buf_reset(&c->path);
	path_format(&c->path, "/api/v1/namespaces/%s", i->ns);
	send(c, i, (struct kube_request){.method = KUBE_GET});
}

static void send_lease(struct dispatcher *c, const struct intent *i)
{
	pg_lease(c->options.pg, i->epoch, i->epoch_seen, i->lease_ms, i->settled,
		&(struct pg_asker){on_lease, c, i->id});
}

static void send_load(struct dispatcher *c, const struct intent *i)
{
	c->load_epoch = i->epoch;
	load(c, i->id);
}

static void send_batch(struct dispatcher *c, const struct intent *i)
{
	c->batches++;
	pg_batch(c->options.pg, &i->batch, &(struct pg_asker){on_batch, c, i->id});
}

static void send_provision(struct dispatcher *c, const struct intent *i)
{
	provisioner_ask(c->provisioner, i);
}

static void send_unprovision(struct dispatcher *c, const struct intent *i)
{
	provisioner_delete(c->provisioner, i);
}

static const struct row *row_of(enum intent_kind k)
{
	static const struct row rows[] = {
#define INTENT(kind, does, traits, wanted, tell, answered, done, denied, ...)                      \
	[INTENT_##kind] = {__VA_ARGS__},
#include "controller/gate/intents.def"
	};
	return &rows[k];
}

void dispatcher_carry(struct dispatcher *c)
{
	const struct intent *i;
	while ((i = gate_take_intent(c->options.gate)))
		row_of(i->kind)->send(c, i);
}
