#include "controller/answers/start_review.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "controller/common/clock.h"
#include "controller/common/path.h"
#include "controller/forecast/forecasts.h"
#include "controller/forecast/job_variants.h"
#include "controller/gate/gate.h"
#include "controller/kube/client.h"
#include "base/json.h"
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

struct start_question {
	struct review_reply reply;
	const struct answer_sources *from;
	char ns[64], name[254];
	struct uid uid;
	uint64_t reading; /* the request for the Job; 0: none is under way */
	struct job *job;
	struct job_variants variants;
};

static void forget(struct review_reply *r)
{
	struct start_question *x = container_of(r, struct start_question, reply);
	kube_client_cancel(x->from->client, x->reading);
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

/* True if the Job's start is known. */
static bool is_played(const struct ask_answer *a, size_t variant, size_t index)
{
	struct eta eta = ask_eta(a, variant, index);
	return a->variant[variant].draws > 0 && !eta_is_unknown(&eta);
}

/* The outcome of a variant, for the views below. */
struct outcome {
	size_t variant;
	const char *change, *from, *to, *text;
	struct start_times start;
	bool starts, newly;
	int64_t earlier_ms; /* set where the Job also starts as it is */
	int64_t earlier_s;  /* in seconds; VIEW_NONE where the Job does not start both ways */
};

static struct outcome outcome_of(const struct start_question *x, const struct ask_answer *a,
	size_t index, const struct eta *base, size_t variant)
{
	const struct job_variant *v = &x->variants.item[variant - 1];
	struct eta eta = ask_eta(a, variant, index);
	bool base_starts = base->start.p50_ms < PLAY_NEVER, starts = eta.start.p50_ms < PLAY_NEVER;
	bool both = starts && base_starts;
	int64_t earlier_ms = both ? base->start.p50_ms - eta.start.p50_ms : 0;
	return (struct outcome){.variant = variant,
		.change = job_change_name(v->change),
		.from = *v->from ? v->from : NULL,
		.to = v->to,
		.text = v->text,
		.start = start_times_of(&eta, a->variant[variant].draws),
		.starts = starts,
		.newly = starts && !base_starts,
		.earlier_ms = earlier_ms,
		.earlier_s = both ? earlier_ms / 1000 : VIEW_NONE};
}

/* Compares outcomes: what helps most comes first. */
static int by_help(const void *va, const void *vb)
{
	const struct outcome *a = va, *b = vb;
	if (a->newly != b->newly)
		return a->newly ? -1 : 1;
	if (a->starts != b->starts)
		return a->starts ? -1 : 1;
	if (a->newly && a->start.p50_ms != b->start.p50_ms)
		return a->start.p50_ms < b->start.p50_ms ? -1 : 1;
	if (a->earlier_ms != b->earlier_ms)
		return a->earlier_ms > b->earlier_ms ? -1 : 1;
	return a->variant < b->variant ? -1 : 1;
}

/* ---- what is told ------------------------------------------------------------------------------ */

/* Puts whether the Job starts, unless it starts both as it is and in the variant. */
static void put_starts(struct json_writer *w, const char *key, const void *object)
{
	const struct outcome *o = object;
	if (o->newly || !o->starts)
		jw_bool(w, key, o->starts);
}

static const struct view_member variant_rows[] = {
	{"change", VIEW_TEXT, IN(outcome, change),
		"Pods, Toleration, NodeLabels, LocalQueue, ExpectedDuration, PriorityClass or MaxPrice."},
	{"from", VIEW_TEXT, IN(outcome, from), "The present value. Absent where there is none."},
	{"to", VIEW_TEXT, IN(outcome, to), "The value with the change: a number, or a name."},
	{"text", VIEW_TEXT, IN(outcome, text), "The change in words, such as: with 8 pods."},
	{"start", VIEW_PART, IN(outcome, start), "When it would start.", .of = &start_times_view},
	{"starts", VIEW_PUT, 0, 0,
		"true: the Job starts only with this change. false: it does not start with it either.",
		.put = put_starts, .as = "boolean"},
	{"earlierSeconds", VIEW_INT, IN(outcome, earlier_s),
		"How much earlier the Job would start, by the medians of these simulations; below 0: later. Absent where it has no start with or without the change."},
};
static const struct view variant_view = VIEW("StartVariant", NULL, variant_rows);

static const struct view_member unplayed_rows[] = {
	{"change", VIEW_TEXT, IN(outcome, change), "As in variants."},
	{"text", VIEW_TEXT, IN(outcome, text), "Why it was not tried."},
};
static const struct view unplayed_view = VIEW("StartUnplayed", NULL, unplayed_rows);

static size_t find_outcomes(const struct start_question *x, const struct ask_answer *a,
	size_t index, const struct eta *base, struct outcome ret[JOB_VARIANTS_MAX])
{
	size_t n = 0;
	for (size_t i = 1; i < a->variants; i++)
		if (is_played(a, i, index))
			ret[n++] = outcome_of(x, a, index, base, i);
	qsort(ret, n, sizeof(*ret), by_help);
	return n;
}

struct shown {
	const struct start_question *x;
	const struct ask_answer *a;
	const struct review_basis *basis;
	size_t index; /* index of the Job in the answer */
	int64_t now_ms, draws;
	struct start_times start;
	struct view_list outcomes;
};

static void put_one_unplayed(struct json_writer *w, enum job_change change, const char *text)
{
	struct outcome o = {.change = job_change_name(change), .text = text};
	view_put(w, NULL, &unplayed_view, &o);
}

static void put_unplayed(struct json_writer *w, const char *key, const void *object)
{
	const struct shown *s = object;
	const struct job_variants *all = &s->x->variants;
	char text[600];
	jw_array(w, key);
	for (size_t i = 0; i < all->nunplayed; i++)
		put_one_unplayed(w, all->unplayed[i].change, all->unplayed[i].text);
	for (size_t i = 1; i < s->a->variants; i++) {
		const struct job_variant *v = &all->item[i - 1];
		if (is_played(s->a, i, s->index))
			continue;
		snprintf(text, sizeof(text), "%s: there was no time to simulate it", v->text);
		put_one_unplayed(w, v->change, text);
	}
	jw_end(w);
}

/* Returns the start as it is: what `sluice when` says, where that is known. The few draws of this
 * play would name another time. But if the two differ in whether the Job starts, this play's
 * counts. */
static struct start_times start_of(
	const struct start_question *x, const struct eta *base, size_t draws)
{
	const struct answer_sources *p = x->from;
	struct explanation now;
	struct forecast f;
	if (!p->forecasts ||
		!gate_explain(p->gate, x->ns, x->name, clock_of_loop_ms(ev_now(p->loop)), &now) ||
		!forecasts_find(p->forecasts, &x->uid, &now, &f) ||
		(f.start.p50_ms < PLAY_NEVER) != (base->start.p50_ms < PLAY_NEVER))
		return start_times_of(base, draws);
	struct eta told = {.start = f.start, .reason = f.reason};
	return start_times_of(&told, f.draws);
}

static void put_metadata(struct json_writer *w, const char *key, const void *object)
{
	const struct start_question *x = ((const struct shown *)object)->x;
	jw_object_of(w, key, "name", x->name, "namespace", x->ns, NULL);
}

static const struct view_member status_rows[] = {
	{"asOf", VIEW_TIME, IN(shown, now_ms), "The time of the queue's state that was simulated."},
	{"draws", VIEW_INT, IN(shown, draws), "How many times each was simulated."},
	{"basis", VIEW_OBJECT, IN(shown, basis), "How many earlier runs and Jobs this is based on.",
		.of = &review_basis_view},
	{"start", VIEW_PART, IN(shown, start),
		"The expected start without a change, as its QueuedJob tells it (of other simulations, at an earlier time); where that has none, of these simulations.",
		.of = &start_times_view},
	{"variants", VIEW_LIST, IN(shown, outcomes),
		"Changes that its owner could make, one at a time; the best comes first.",
		.of = &variant_view},
	{"notPlayed", VIEW_PUT, 0, 0, "Changes that were not tried, and why.", .put = put_unplayed,
		.of = &unplayed_view},
};
static const struct view status_view = VIEW("StartReviewStatus", NULL, status_rows);

static const struct view_member start_review_rows[] = {
	{"metadata", VIEW_PUT, 0, 0, "Name and namespace of the Job.", .put = put_metadata,
		.as = "ObjectMeta"},
	{"status", VIEW_PART, 0, 0,
		"When it starts, and when it would start with one thing of it changed.",
		.of = &status_view},
};
const struct view start_review_view = VIEW("StartReview",
	"What would start a waiting Job earlier: it is simulated as it is, and with one change at a time.",
	start_review_rows);

/* Tells the review. Nothing: the Job waits no more, or all plays were cut off before its start. */
static void tell(const struct ask_answer *a, const struct queue *q,
	const struct review_basis *basis, struct buf *out, void *ctx)
{
	const struct start_question *x = ctx;
	size_t index = ask_index(a, &x->uid);
	(void)q;
	if (index == SIZE_MAX || !is_played(a, 0, index))
		return;
	struct json_writer w = json_writer_object(out);
	struct outcome outcome[JOB_VARIANTS_MAX];
	struct eta base = ask_eta(a, 0, index);
	size_t n = find_outcomes(x, a, index, &base, outcome);
	struct shown s = {.x = x,
		.a = a,
		.index = index,
		.now_ms = a->now_ms,
		.draws = (int64_t)a->draws,
		.basis = basis,
		.start = start_of(x, &base, a->draws),
		.outcomes = {outcome, n, sizeof(*outcome)}};
	jw_texts(&w, "kind", "StartReview", "apiVersion", VISIBILITY_GROUP "/" VISIBILITY_VERSION,
		NULL);
	view_put_members(&w, &start_review_view, &s);
	jw_close(&w);
	buf_putc(out, '\n');
}

/* ---- the Job ----------------------------------------------------------------------------------- */

static void play_it(struct start_question *x)
{
	const struct answer_sources *p = x->from;
	struct alternatives alternatives;
	struct job_outline outline;
	if (!queue_outline_job(p->queue, &x->uid, &outline) || outline.holds_quota) {
		review_reply_complain(&x->reply, 409, "the Job does not wait any more");
		return;
	}
	/* A Job of no ClusterQueue has none. */
	queue_alternatives(p->queue, &x->uid, &alternatives);
	job_variants_make(&x->variants, x->job, &alternatives, outline.expected_ms);
	struct review_plays plays = {
		.variants = 1 + x->variants.n, .change = change, .tell = tell, .ctx = x};
	review_play(x->reply.review, &plays);
}

static int decode_it(struct start_question *x, struct slice body, struct err *e)
{
	struct json *json = json_new(TREE_MAX_BYTES);
	const cJSON *root;
	int rc = json_parse(json, body, &root, e);
	if (rc == 0)
		rc = decode_job(root, x->from->job_context, &x->job, e);
	json_free(json);
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
	x->reading = kube_client_send(x->from->client, &r, on_job, x);
	buf_done(&path);
}

/* ---- the question ------------------------------------------------------------------------------ */

/* True if q is answered: the Job does not wait, or only its name is kept. */
static bool is_not_playable(const struct answer_sources *p, struct http_question *q, const char *ns,
	const char *name, struct gate_listed *ret)
{
	struct explanation x;
	struct job_outline outline;
	char sentence[SENTENCE_SIZE];
	if (!gate_explain(p->gate, ns, name, clock_of_loop_ms(ev_now(p->loop)), &x) ||
		!gate_find_listed(p->gate, ns, name, ret)) {
		complain_of_no_job(q, name);
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
		"more Jobs wait in its LocalQueue than are kept in full (spec.maxWaiting), so this Job cannot be simulated yet");
	return true;
}

void start_review_take(const struct answer_sources *from, struct link *asked,
	struct http_question *q, const char *ns, const char *name, const char *who)
{
	struct gate_listed listed;
	if (is_not_playable(from, q, ns, name, &listed))
		return;
	struct start_question *x = mem_alloc(sizeof(*x));
	x->from = from;
	x->uid = listed.uid;
	snprintf(x->ns, sizeof(x->ns), "%s", ns);
	snprintf(x->name, sizeof(x->name), "%s", name);
	x->reply.done = forget;
	x->reply.empty_status = 409;
	x->reply.when_empty =
		"the Job does not wait any more, or too much happens before its start to be simulated";
	if (review_reply_enter(&x->reply, q, from->reviews, asked, who, ns))
		read_job(x);
	else
		free(x);
}
