#include "controller/answers/review_reply.h"

#include "controller/common/stamp.h"
#include "controller/answers/complaint.h"
#include "forecast/play.h"
#include "sluice/queue.h"

static bool has_gone(void *ctx)
{
	return http_gone(((struct review_reply *)ctx)->question);
}

/* The review is freed already; done() frees the record. */
static void end(struct review_reply *r)
{
	list_leave(&r->link);
	r->done(r);
}

static unsigned status_of(enum review_end end)
{
	switch (end) {
	case REVIEW_DONE:
		return 200;
	case REVIEW_REFUSED:
		return 400;
	case REVIEW_TURNED_AWAY:
		return 429;
	case REVIEW_FAILED:
		return 503;
	}
	return 503;
}

static void on_answer(const struct review_answer *a, void *ctx)
{
	struct review_reply *r = ctx;
	struct buf body = {.ptr = (char *)(uintptr_t)a->text.ptr, .len = a->text.len};
	r->review = NULL;
	if (a->end != REVIEW_DONE)
		complain(r->question, status_of(a->end), a->sentence);
	else if (a->text.len == 0)
		complain(r->question, r->empty_status, r->when_empty);
	else if (!complain_of_unsent(r->question, body.len, "ask again in a moment"))
		http_answer(r->question, (struct http_reply){200, "application/json"}, &body);
	end(r);
}

bool review_reply_enter(struct review_reply *r, struct http_question *q, struct reviews *reviews,
	struct link *list, const char *who, const char *ns)
{
	struct review_asker asker = {
		.who = who, .ns = ns, .has_gone = has_gone, .answer = on_answer, .ctx = r};
	struct err e = {""};
	r->question = q;
	r->review = reviews ? reviews_enter(reviews, &asker, &e) : NULL;
	if (!reviews)
		complain(q, 503, "forecasts are off in this controller, so nothing can be played");
	else if (!r->review)
		complain(q, 429, e.text);
	else
		list_add(list, &r->link);
	return r->review;
}

static void leave(struct review_reply *r)
{
	review_leave(r->review);
	r->review = NULL;
	end(r);
}

void review_reply_complain(struct review_reply *r, unsigned status, const char *sentence)
{
	complain(r->question, status, sentence);
	leave(r);
}

void review_reply_drop(struct link *list, const struct http *port)
{
	for (struct link *l = list->next, *next; l != list; l = next) {
		struct review_reply *r = container_of(l, struct review_reply, link);
		next = l->next;
		if (http_of(r->question) == port)
			leave(r);
	}
}

/* ---- JSON -------------------------------------------------------------------------------------- */

void review_put_time(struct buf *out, const char *key, int64_t ms)
{
	char at[STAMP_TEXT_SIZE];
	if (ms < PLAY_NEVER)
		buf_printf(out, ",\"%s\":\"%s\"", key, stamp_format_seconds(ms, at));
}

void review_put_start(struct buf *out, const struct eta *eta, size_t draws)
{
	size_t misses = draws > eta->start.started ? draws - eta->start.started : 0;
	buf_printf(out, "{\"draws\":%zu,\"misses\":%zu", draws, misses);
	review_put_time(out, "p10", eta->start.p10_ms);
	review_put_time(out, "p50", eta->start.p50_ms);
	review_put_time(out, "p90", eta->start.p90_ms);
	if (misses > 0 && eta->reason != WAIT_NOT) {
		buf_printf(out, ",\"reason\":\"%s\",\"waitsFor\":", wait_reason_name(eta->reason));
		buf_json_string(out, wait_reason_phrase(eta->reason));
	}
	buf_putc(out, '}');
}

void review_put_moment(
	struct buf *out, const struct ask_answer *a, const struct review_basis *basis)
{
	char at[STAMP_TEXT_SIZE];
	buf_printf(out, "\"asOf\":\"%s\",\"draws\":%zu,\"basis\":{\"runs\":%zu,\"arrivals\":%zu}",
		stamp_format_seconds(a->now_ms, at), a->draws, basis->runs, basis->arrivals);
}
