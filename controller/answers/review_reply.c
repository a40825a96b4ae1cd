#include "controller/answers/review_reply.h"

#include "controller/answers/complaint.h"
#include "forecast/play.h"
#include "sluice/queue.h"

static bool has_gone(void *ctx)
{
	return http_gone(((struct review_reply *)ctx)->question);
}

/* Ends the reply. The review is freed already; done() frees the record. */
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
		complain(q, 503,
			"forecasts are off in this controller (--forecasts off), so nothing can be simulated");
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

/* ---- what both tell ------------------------------------------------------------------------------ */

struct start_times start_times_of(const struct eta *eta, size_t draws)
{
	size_t started = eta->start.started;
	struct start_times x = {.draws = (int64_t)draws,
		.misses = draws > started ? (int64_t)(draws - started) : 0,
		.p10_ms = eta->start.p10_ms,
		.p50_ms = eta->start.p50_ms,
		.p90_ms = eta->start.p90_ms};
	if (x.misses > 0 && eta->reason != WAIT_NOT) {
		x.reason = wait_reason_name(eta->reason);
		x.waits_for = wait_reason_phrase(eta->reason);
	}
	return x;
}

static const struct view_member start_times_rows[] = {
	{"draws", VIEW_INT, IN(start_times, draws), "How many simulations this is based on."},
	{"misses", VIEW_INT, IN(start_times, misses),
		"How many simulations had no start within 30 days."},
	{"p10", VIEW_TIME, IN(start_times, p10_ms),
		"By then 10 % of the simulations have started the Job."},
	{"p50", VIEW_TIME, IN(start_times, p50_ms),
		"By then half of the simulations have started the Job. Absent where half of them have no start within 30 days."},
	{"p90", VIEW_TIME, IN(start_times, p90_ms),
		"By then 90 % of the simulations have started the Job. Absent where too many have no start."},
	{"reason", VIEW_TEXT, IN(start_times, reason),
		"Why the first of these had no start, in one word."},
	{"waitsFor", VIEW_TEXT, IN(start_times, waits_for), "That reason in a few words."},
};
const struct view start_times_view = VIEW("StartTimes", NULL, start_times_rows);

static const struct view_member review_basis_rows[] = {
	{"runs", VIEW_INT, IN(review_basis, runs),
		"So many earlier runs of all queues tell how long runs take. 0: only what was asked for does."},
	{"arrivals", VIEW_INT, IN(review_basis, arrivals),
		"So many Jobs that came earlier stand for those that will come. 0: none are expected."},
};
const struct view review_basis_view = VIEW("QueuedJobStartBasis", NULL, review_basis_rows);
