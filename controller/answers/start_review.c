#include "controller/answers/start_review.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/common/path.h"
#include "controller/forecast/forecasts.h"
#include "controller/forecast/job_variants.h"
#include "controller/gate/gate.h"
#include "controller/kube/client.h"
#include "controller/kube/json.h"
#include "controller/answers/complaint.h"
#include "controller/answers/job_query.h"
#include "controller/answers/review_reply.h"
#include "controller/wire/decode.h"

enum {
	READ_MS = 10000,
	JOB_MAX_BYTES = 4 << 20,
	TREE_MAX_BYTES = 32 << 20,
	SENTENCE_SIZE = 900,
};

struct start_reviews {
	const struct parts *parts;
	struct json *json;
	struct link asked; /* start_question.reply */
};

struct start_question {
	struct review_reply reply;
	struct start_reviews *all;
	char ns[64], name[254];
	struct uid uid;
	uint64_t reading; /* the request for the Job; 0: none is under way */
	struct job *job;
	struct job_variants variants;
};

static void forget(struct review_reply *r)
{
	struct start_question *x = container_of(r, struct start_question, reply);
	kube_client_cancel(x->all->parts->client, x->reading);
	job_variants_done(&x->variants);
	free(x->job);
	free(x);
}

/* ---- in the copies ----------------------------------------------------------------------------- */

static int change(struct queue *q, size_t variant, void *ctx, struct err *e)
{
	const struct start_question *x = ctx;
	(void)e;
	queue_set_job(q, &x->variants.item[variant - 1].job);
	return 0;
}

/* What a variant comes to. */
struct outcome {
	const struct job_variant *variant;
	struct eta eta;
	size_t draws;
	bool starts, newly;
	int64_t earlier_ms; /* where it starts as it is, too */
};

static struct outcome outcome_of(const struct start_question *x, const struct ask_answer *a,
	size_t index, const struct eta *base, size_t variant)
{
	struct outcome o = {.variant = &x->variants.item[variant - 1],
		.eta = ask_eta(a, variant, index),
		.draws = a->variant[variant].draws};
	bool base_starts = base->start.p50_ms < PLAY_NEVER;
	o.starts = o.eta.start.p50_ms < PLAY_NEVER;
	o.newly = o.starts && !base_starts;
	if (o.starts && base_starts)
		o.earlier_ms = base->start.p50_ms - o.eta.start.p50_ms;
	return o;
}

/* What helps most comes first. */
static int by_help(const void *va, const void *vb)
{
	const struct outcome *a = va, *b = vb;
	if (a->newly != b->newly)
		return a->newly ? -1 : 1;
	if (a->starts != b->starts)
		return a->starts ? -1 : 1;
	if (a->newly && a->eta.start.p50_ms != b->eta.start.p50_ms)
		return a->eta.start.p50_ms < b->eta.start.p50_ms ? -1 : 1;
	if (a->earlier_ms != b->earlier_ms)
		return a->earlier_ms > b->earlier_ms ? -1 : 1;
	return a->variant < b->variant ? -1 : 1;
}

static void put_member(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, ",\"%s\":", key);
	buf_json_string(out, text);
}

static void put_outcome(const struct outcome *o, const struct eta *base, struct buf *out)
{
	buf_printf(out, "{\"change\":\"%s\"", job_change_name(o->variant->change));
	if (*o->variant->from)
		put_member(out, "from", o->variant->from);
	put_member(out, "to", o->variant->to);
	put_member(out, "text", o->variant->text);
	buf_puts(out, ",\"start\":");
	review_put_start(out, &o->eta, o->draws);
	if (o->newly || !o->starts)
		buf_printf(out, ",\"starts\":%s", o->starts ? "true" : "false");
	else if (base->start.p50_ms < PLAY_NEVER)
		buf_printf(out, ",\"earlierSeconds\":%lld", (long long)(o->earlier_ms / 1000));
	buf_putc(out, '}');
}

static void put_unplayed(enum job_change change, const char *text, size_t *count, struct buf *out)
{
	buf_printf(out, "%s{\"change\":\"%s\"", (*count)++ ? "," : "", job_change_name(change));
	put_member(out, "text", text);
	buf_putc(out, '}');
}

/* So far that its start is known. */
static bool is_played(const struct ask_answer *a, size_t variant, size_t index)
{
	struct eta eta = ask_eta(a, variant, index);
	return a->variant[variant].draws > 0 && !eta_is_unknown(&eta);
}

static void put_all_unplayed(
	const struct start_question *x, const struct ask_answer *a, size_t index, struct buf *out)
{
	size_t count = 0;
	char text[600];
	buf_puts(out, ",\"notPlayed\":[");
	for (size_t i = 0; i < x->variants.nunplayed; i++)
		put_unplayed(
			x->variants.unplayed[i].change, x->variants.unplayed[i].text, &count, out);
	for (size_t i = 1; i < a->variants; i++) {
		const struct job_variant *v = &x->variants.item[i - 1];
		if (is_played(a, i, index))
			continue;
		snprintf(text, sizeof(text), "%s: there was no time to play it", v->text);
		put_unplayed(v->change, text, &count, out);
	}
	buf_putc(out, ']');
}

static void put_variants(const struct start_question *x, const struct ask_answer *a, size_t index,
	const struct eta *base, struct buf *out)
{
	struct outcome outcome[JOB_VARIANTS_MAX] = {{.variant = NULL}};
	size_t n = 0;
	for (size_t i = 1; i < a->variants; i++)
		if (is_played(a, i, index))
			outcome[n++] = outcome_of(x, a, index, base, i);
	qsort(outcome, n, sizeof(*outcome), by_help);
	buf_puts(out, ",\"variants\":[");
	for (size_t i = 0; i < n; i++) {
		buf_puts(out, i ? "," : "");
		put_outcome(&outcome[i], base, out);
	}
	buf_putc(out, ']');
}

/* One question has one answer: what `sluice start` says, where that is known. Played with so few draws of its
 * own it would name another time. But where they differ in whether it starts at all, the variants are told
 * by these. */
static void put_start(
	const struct start_question *x, const struct eta *base, size_t draws, struct buf *out)
{
	const struct parts *p = x->all->parts;
	struct explanation now;
	struct forecast f;
	if (!p->forecasts || !gate_explain(p->gate, x->ns, x->name, parts_now_ms(p), &now) ||
		!forecasts_find(p->forecasts, &x->uid, &now, &f) ||
		(f.start.p50_ms < PLAY_NEVER) != (base->start.p50_ms < PLAY_NEVER)) {
		review_put_start(out, base, draws);
		return;
	}
	struct eta told = {.start = f.start, .reason = f.reason};
	review_put_start(out, &told, f.draws);
}

/* Nothing at all: it does not wait any more, or all plays were cut off before its start. */
static void tell(const struct ask_answer *a, const struct queue *q,
	const struct review_basis *basis, struct buf *out, void *ctx)
{
	const struct start_question *x = ctx;
	size_t index = ask_index(a, &x->uid);
	(void)q;
	if (index == SIZE_MAX || !is_played(a, 0, index))
		return;
	struct eta base = ask_eta(a, 0, index);
	buf_puts(out, "{\"kind\":\"StartReview\",\"apiVersion\":\"" VISIBILITY_GROUP
		      "/" VISIBILITY_VERSION "\",\"metadata\":{\"name\":");
	buf_json_string(out, x->name);
	put_member(out, "namespace", x->ns);
	buf_puts(out, "},\"status\":{");
	review_put_moment(out, a, basis);
	buf_puts(out, ",\"start\":");
	put_start(x, &base, a->draws, out);
	put_variants(x, a, index, &base, out);
	put_all_unplayed(x, a, index, out);
	buf_puts(out, "}}\n");
}

/* ---- the Job ----------------------------------------------------------------------------------- */

static void play_it(struct start_question *x)
{
	const struct parts *p = x->all->parts;
	struct alternatives alternatives;
	struct job_outline outline;
	if (!queue_outline_job(p->queue, &x->uid, &outline) || outline.holds_quota) {
		review_reply_complain(&x->reply, 409, "the Job does not wait any more");
		return;
	}
	queue_alternatives(p->queue, &x->uid, &alternatives); /* of no ClusterQueue: none */
	job_variants_make(&x->variants, x->job, &alternatives, outline.expected_ms);
	struct review_plays plays = {
		.variants = 1 + x->variants.n, .change = change, .tell = tell, .ctx = x};
	review_play(x->reply.review, &plays);
}

static int decode_it(struct start_question *x, struct slice body, struct err *e)
{
	const cJSON *root;
	int rc = json_parse(x->all->json, body, &root, e);
	if (rc == 0)
		rc = decode_job(root, &x->all->parts->job_context, &x->job, e);
	json_reset(x->all->json);
	return rc;
}

static void on_job(const struct kube_answer *a, void *ctx)
{
	struct start_question *x = ctx;
	struct err e = {""};
	char sentence[SENTENCE_SIZE];
	x->reading = 0;
	if (a->outcome == KUBE_GONE) {
		review_reply_complain(&x->reply, 404, "the Job was just deleted");
		return;
	}
	if (a->outcome != KUBE_DONE || decode_it(x, a->body, &e) != 0) {
		snprintf(sentence, sizeof(sentence), "the Job could not be read: %.800s",
			*e.text ? e.text : a->sentence);
		review_reply_complain(&x->reply, 503, sentence);
		return;
	}
	if (uid_cmp(&x->job->uid, &x->uid) != 0) {
		review_reply_complain(&x->reply, 409, "another Job has its name by now: ask again");
		return;
	}
	play_it(x);
}

static void read_job(struct start_question *x)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, "/apis/batch/v1/namespaces/%s/jobs/%s", x->ns, x->name);
	struct kube_request r = {.method = KUBE_GET,
		.path = buf_text(&path),
		.timeout_ms = READ_MS,
		.answer_ceiling = JOB_MAX_BYTES,
		.last = true};
	x->reading = kube_client_send(x->all->parts->client, &r, on_job, x);
	buf_done(&path);
}

/* ---- the question ------------------------------------------------------------------------------ */

static void say_unknown(struct http_question *q, const char *name)
{
	char sentence[SENTENCE_SIZE];
	snprintf(sentence, sizeof(sentence), "queuedjobs." VISIBILITY_GROUP " \"%s\" not found",
		name);
	complain(q, 404, sentence);
}

/* True: q is answered; the Job does not wait, or only its name is kept. */
static bool is_not_playable(const struct parts *p, struct http_question *q, const char *ns,
	const char *name, struct gate_listed *ret)
{
	struct explanation x;
	struct job_outline outline;
	char sentence[SENTENCE_SIZE];
	if (!gate_explain(p->gate, ns, name, parts_now_ms(p), &x) ||
		!gate_find_listed(p->gate, ns, name, ret)) {
		say_unknown(q, name);
		return true;
	}
	if (x.reason == WAIT_NOT) {
		snprintf(sentence, sizeof(sentence), "Job %s/%s does not wait: it is %s", ns, name,
			ret->state);
		complain(q, 409, sentence);
		return true;
	}
	if (queue_outline_job(p->queue, &ret->uid, &outline))
		return false;
	complain(q, 409,
		"more Jobs wait in its LocalQueue than are kept in full (spec.maxWaiting), so this one cannot be played yet");
	return true;
}

void start_reviews_take(struct start_reviews *s, struct http_question *q, const char *ns,
	const char *name, const char *who)
{
	struct gate_listed listed;
	if (is_not_playable(s->parts, q, ns, name, &listed))
		return;
	struct start_question *x = mem_alloc(sizeof(*x));
	x->all = s;
	x->uid = listed.uid;
	snprintf(x->ns, sizeof(x->ns), "%s", ns);
	snprintf(x->name, sizeof(x->name), "%s", name);
	x->reply.done = forget;
	x->reply.empty_status = 409;
	x->reply.when_empty =
		"the Job does not wait any more, or too much happens before its start to be played";
	if (review_reply_enter(&x->reply, q, s->parts->reviews, &s->asked, who, ns))
		read_job(x);
	else
		free(x);
}

void start_reviews_drop(struct start_reviews *s, const struct http *port)
{
	review_reply_drop(&s->asked, port);
}

struct start_reviews *start_reviews_new(const struct parts *parts)
{
	struct start_reviews *s = mem_alloc(sizeof(*s));
	s->parts = parts;
	s->json = json_new(TREE_MAX_BYTES);
	list_init(&s->asked);
	return s;
}

void start_reviews_free(struct start_reviews *s)
{
	if (!s)
		return;
	must(list_empty(&s->asked));
	json_free(s->json);
	free(s);
}
