#include "controller/forecast/reviews.h"

#include <ev.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/must.h"
#include "base/span.h"
#include "controller/common/turns.h"
#include "controller/forecast/guesses.h"

enum {
	CALLERS_SHARE = 20,    /* of one core: 5 % */
	NAMESPACES_SHARE = 10, /* 10 % */
	SHARE = 5,	       /* 20 % */
	PACE_MS = 2000,	       /* between two reviews of one caller */
	LATE_MS = 8000,	       /* an ask ends itself before that */
	RESTING_MAX = 64,
};

/* A review that waits, ready or not, or is played. */
struct review {
	struct reviews *reviews;
	struct link all;
	struct turn turn; /* among those that are ready and wait */
	struct review_asker asker;
	char who[REVIEWS_WHO_SIZE], ns[64];
	struct review_plays plays;
	bool is_ready;
	int64_t came_ms;

	/* While the review is played. */
	struct ask *ask;
	ev_io readable;
	int64_t begun_ms, begun_at_ms; /* by the two clocks: tick, wall */
	int64_t fork_us;
	struct review_basis basis;
};

/* A caller or a namespace that had its review. */
struct resting {
	uint64_t who; /* caller_key(), namespace_key(): two of one key rest together */
	int64_t until_ms;
};

struct reviews {
	struct reviews_options options;
	struct link all;
	struct link ready; /* turn.link */
	size_t n;
	uint64_t round;
	struct review *played; /* NULL: none is */
	struct ask *ended;     /* its answer came, but its process may still exist */
	struct resting resting[RESTING_MAX];
	int64_t tick_ms, next_ms;
};

/* ---- the pace ---------------------------------------------------------------------------------- */

static uint64_t caller_key(const char *who)
{
	return map_hash_string(who);
}

static uint64_t namespace_key(const char *ns)
{
	return ~map_hash_string(ns);
}

/* Tells until when the caller or namespace rests; 0: it may ask. */
static int64_t rests_until_ms(const struct reviews *r, uint64_t who)
{
	for (size_t i = 0; i < RESTING_MAX; i++)
		if (r->resting[i].who == who && r->resting[i].until_ms > r->tick_ms)
			return r->resting[i].until_ms;
	return 0;
}

/* Has a caller or namespace rest, in place of the one with the earliest end of its rest. */
static void rest(struct reviews *r, uint64_t who, int64_t until_ms)
{
	struct resting *to = &r->resting[0];
	for (size_t i = 1; i < RESTING_MAX; i++)
		if (r->resting[i].until_ms < to->until_ms)
			to = &r->resting[i];
	*to = (struct resting){who, until_ms};
}

static void pause_after(struct reviews *r, const struct review *v, int64_t used_us)
{
	int64_t used_ms = (used_us + v->fork_us) / 1000;
	int64_t callers_ms = used_ms * CALLERS_SHARE;
	rest(r, caller_key(v->who), v->begun_ms + (callers_ms > PACE_MS ? callers_ms : PACE_MS));
	if (*v->ns)
		rest(r, namespace_key(v->ns), v->begun_ms + used_ms * NAMESPACES_SHARE);
	r->next_ms = v->begun_ms + used_ms * SHARE;
}

/* ---- its life ---------------------------------------------------------------------------------- */

static void stop_playing(struct review *v)
{
	if (v->reviews->played != v)
		return;
	ev_io_stop(v->reviews->options.loop, &v->readable);
	ask_free(v->ask);
	v->ask = NULL;
	v->reviews->played = NULL;
}

static void forget(struct review *v)
{
	stop_playing(v);
	list_leave(&v->turn.link);
	list_leave(&v->all);
	v->reviews->n--;
	free(v);
}

/* Ends a review early. Its use is not known: one processor at most, since it began. */
static void call_off(struct review *v)
{
	struct reviews *r = v->reviews;
	if (r->played == v)
		pause_after(r, v, (r->tick_ms - v->begun_ms + 1000) * 1000);
	else
		rest(r, caller_key(v->who), r->tick_ms + PACE_MS);
	forget(v);
}

void review_leave(struct review *v)
{
	if (v)
		call_off(v);
}

/* Answers, and frees v. */
static void answer(struct review *v, const struct review_answer *a)
{
	struct review_asker asker = v->asker;
	forget(v);
	asker.answer(a, asker.ctx);
}

static void end_with(struct review *v, enum review_end end, const char *sentence)
{
	answer(v, &(struct review_answer){.sentence = sentence, .end = end});
}

/* Refuses a caller that rests. The sentences are for people who have never heard of a review. */
static int check_rest(const struct reviews *r, const char *who, const char *ns, struct err *e)
{
	int64_t callers_ms = rests_until_ms(r, caller_key(who));
	int64_t namespaces_ms = *ns ? rests_until_ms(r, namespace_key(ns)) : 0;
	int64_t all_ms = r->next_ms > r->tick_ms + REVIEWS_PATIENCE_MS ? r->next_ms : 0;
	const char *what = callers_ms > 0      ? "your last question of this kind"
			   : namespaces_ms > 0 ? "questions of this kind about this namespace"
					       : "questions of this kind";
	int64_t until_ms = callers_ms > 0 ? callers_ms : namespaces_ms > 0 ? namespaces_ms : all_ms;
	if (until_ms == 0)
		return 0;
	return err_set(e, ERR_LIMIT,
		"%s took much of the controller's time lately: ask again in %s", what,
		span_exact(until_ms - r->tick_ms).s);
}

static int check_line(struct reviews *r, const char *who, const char *ns, struct err *e)
{
	size_t of_ns = 0, of_any_ns = 0;
	list_each_entry(&r->all, const struct review, v, all) {
		if (strcmp(v->who, who) == 0)
			return err_set(e, ERR_LIMIT,
				"your last question of this kind has no answer yet: ask again when it has");
		of_ns += strcmp(v->ns, ns) == 0;
		of_any_ns += *v->ns != '\0';
	}
	if (of_ns < REVIEWS_EACH_MAX && (!*ns || of_any_ns < REVIEWS_WAIT_MAX))
		return 0;
	return err_set(e, ERR_LIMIT, "%zu other questions of this kind wait%s: ask again in %s",
		r->n, of_ns >= REVIEWS_EACH_MAX && *ns ? ", too many of this namespace" : "",
		span_exact(REVIEWS_PATIENCE_MS).s);
}

struct review *reviews_enter(struct reviews *r, const struct review_asker *asker, struct err *e)
{
	char who[REVIEWS_WHO_SIZE]; /* cut before it is compared with names that were cut */
	snprintf(who, sizeof(who), "%s", asker->who);
	if (check_rest(r, who, asker->ns, e) < 0 || check_line(r, who, asker->ns, e) < 0)
		return NULL;
	struct review *v = mem_alloc(sizeof(*v));
	v->reviews = r;
	memcpy(v->who, who, sizeof(v->who));
	snprintf(v->ns, sizeof(v->ns), "%s", asker->ns);
	v->turn.ns = v->ns;
	v->asker = *asker;
	v->came_ms = r->tick_ms;
	list_add(&r->all, &v->all);
	r->n++;
	return v;
}

void review_play(struct review *v, const struct review_plays *p)
{
	must(!v->is_ready);
	v->plays = *p;
	v->is_ready = true;
	turns_line_up(&v->reviews->ready, v->reviews->round, &v->turn);
}

/* ---- in the copies ----------------------------------------------------------------------------- */

static void prepare(void *ctx)
{
	guesses_prepare(((struct review *)ctx)->reviews->options.guesses);
}

static void begin_draw(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	struct review *v = ctx;
	guesses_begin_draw(v->reviews->options.guesses, draw, v->begun_at_ms, lengths, arrivals);
}

static int change(struct queue *q, size_t variant, void *ctx, struct err *e)
{
	struct review *v = ctx;
	return v->plays.change(q, variant, v->plays.ctx, e);
}

static void decided(const struct queue *q, size_t variant, struct buf *out, void *ctx)
{
	const struct review *v = ctx;
	v->plays.decided(q, variant, out, v->plays.ctx);
}

static void tell(const struct ask_answer *a, const struct queue *q, struct buf *out, void *ctx)
{
	struct review *v = ctx;
	v->plays.tell(a, q, &v->basis, out, v->plays.ctx);
}

/* ---- a play ------------------------------------------------------------------------------------ */

static const char *refusal_of(const struct ask_answer *a)
{
	for (size_t i = 1; i < a->variants; i++)
		if (a->variant[i].refused[0])
			return a->variant[i].refused;
	return "nothing can be simulated";
}

static void take_answer(struct review *v, const struct ask_answer *a)
{
	struct reviews *r = v->reviews;
	struct ask *ask = v->ask;
	struct review_answer told = {.text = a->text, .end = REVIEW_DONE};
	if (a->draws == 0)
		told = (struct review_answer){.sentence = refusal_of(a), .end = REVIEW_REFUSED};
	pause_after(r, v, a->cpu_us);
	log_event(r->options.log, LEVEL_DEBUG, "review", "#jobs", LOG_NUMBER((int64_t)a->n),
		"#variants", LOG_NUMBER((int64_t)a->variants), "#draws",
		LOG_NUMBER((int64_t)a->draws), "#cpu_ms", LOG_NUMBER(a->cpu_us / 1000), "#fork_us",
		LOG_NUMBER(v->fork_us), NULL);
	v->ask = NULL; /* what is told lies in it */
	r->played = NULL;
	answer(v, &told);
	ask_free(r->ended);
	r->ended = ask;
}

static void fail(struct review *v, const char *why)
{
	struct reviews *r = v->reviews;
	char sentence[ASK_REFUSAL_SIZE + 64];
	snprintf(sentence, sizeof(sentence), "the queue could not be simulated: %s", why);
	log_event(r->options.log, LEVEL_WARN, "review-failed", "why", why, "effect",
		"a question about other starts has no answer; Jobs start as ever", NULL);
	pause_after(r, v, (r->tick_ms - v->begun_ms + 1000) * 1000);
	end_with(v, REVIEW_FAILED, sentence);
}

static void on_readable(struct ev_loop *loop, ev_io *w, int revents)
{
	struct review *v = w->data;
	struct ask_answer a;
	struct err e;
	(void)revents;
	int rc = ask_read(v->ask, &a, &e);
	if (rc == 0)
		return;
	ev_io_stop(loop, w);
	if (rc > 0)
		take_answer(v, &a);
	else
		fail(v, e.text);
}

static struct ask_options options_of(struct review *v)
{
	return (struct ask_options){.now_ms = v->begun_at_ms,
		.draws = REVIEWS_DRAWS,
		.prepare = prepare,
		.begin = begin_draw,
		.ctx = v,
		.grace_ms = PLAY_GRACE_MS,
		.play_s = REVIEWS_PLAY_S,
		.ask_ms = REVIEWS_ASK_MS,
		.variants = v->plays.variants,
		.change = change,
		.decided = v->plays.decided ? decided : NULL,
		.tell = tell,
		.text_only = true,
		.costs = v->plays.costs,
		.all_s = REVIEWS_CPU_S};
}

static void begin(struct review *v, int64_t now_ms)
{
	struct reviews *r = v->reviews;
	struct err e;
	list_leave(&v->turn.link);
	r->round = v->turn.round;
	v->begun_ms = r->tick_ms;
	v->begun_at_ms = now_ms;
	v->basis = (struct review_basis){
		guesses_runs(r->options.guesses), guesses_arrivals(r->options.guesses, now_ms)};
	struct ask_options o = options_of(v);
	int64_t begun_us = monotonic_us();
	int rc = ask_begin(r->options.queue, &o, &v->ask, &e);
	v->fork_us = monotonic_us() - begun_us;
	if (rc) {
		v->ask = NULL;
		fail(v, e.text);
		return;
	}
	r->played = v;
	ev_io_init(&v->readable, on_readable, ask_fd(v->ask), EV_READ);
	v->readable.data = v;
	ev_io_start(r->options.loop, &v->readable);
}

/* ---- time -------------------------------------------------------------------------------------- */

static void end_all(struct reviews *r)
{
	while (!list_empty(&r->all))
		end_with(container_of(r->all.next, struct review, all), REVIEW_FAILED,
			"this controller does not lead any more: ask again in a moment");
}

/* Ends a review whose caller has gone, or has waited for too long. */
static void look_at(struct review *v)
{
	struct reviews *r = v->reviews;
	bool is_played = r->played == v;
	if (v->asker.has_gone(v->asker.ctx)) {
		struct review_asker asker = v->asker;
		call_off(v);
		asker.answer(&(struct review_answer){.sentence = "nobody waits for it",
				     .end = REVIEW_FAILED},
			asker.ctx);
	} else if (is_played && r->tick_ms - v->begun_ms > REVIEWS_ASK_MS + LATE_MS) {
		fail(v, "it did not end in time, and was killed");
	} else if (!is_played && r->tick_ms - v->came_ms > REVIEWS_PATIENCE_MS) {
		end_with(v, REVIEW_TURNED_AWAY,
			"other questions of this kind take long: ask again in a minute");
	}
}

static void look_at_all(struct reviews *r)
{
	struct link *next;
	for (struct link *l = r->all.next; l != &r->all; l = next) {
		next = l->next; /* an answer ends no other review */
		look_at(container_of(l, struct review, all));
	}
}

/* Finds the next review: an admin's, or the one whose namespace has the turn. */
static struct review *next_of(const struct reviews *r)
{
	struct link *ready = (struct link *)(uintptr_t)&r->ready;
	list_each_entry(ready, struct review, v, turn.link)
		if (!*v->ns)
			return v;
	return container_of(ready->next, struct review, turn.link);
}

void reviews_tick(struct reviews *r, bool leads, int64_t now_ms, int64_t tick_ms)
{
	if (!r)
		return;
	r->tick_ms = tick_ms;
	if (r->ended && ask_reap(r->ended)) {
		ask_free(r->ended);
		r->ended = NULL;
	}
	if (!leads) {
		end_all(r);
		return;
	}
	look_at_all(r);
	if (!r->played && !list_empty(&r->ready) && tick_ms >= r->next_ms)
		begin(next_of(r), now_ms);
}

struct reviews *reviews_new(const struct reviews_options *o)
{
	struct reviews *r = mem_alloc(sizeof(*r));
	r->options = *o;
	list_init(&r->all);
	list_init(&r->ready);
	return r;
}

void reviews_free(struct reviews *r)
{
	if (!r)
		return;
	while (!list_empty(&r->all))
		forget(container_of(r->all.next, struct review, all));
	ask_free(r->ended);
	free(r);
}
