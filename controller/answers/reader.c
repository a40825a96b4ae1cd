#include "controller/answers/reader.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/child.h"
#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/must.h"
#include "controller/common/turns.h"

#define LOOK_SECONDS 0.25
#define SECOND_US INT64_C(1000000)
#define PACE_LEAST_US (SECOND_US / 10)
#define PACE_MOST_US (2 * SECOND_US)
#define PACE_TIMES 10
#define PAGES_US (2 * SECOND_US)      /* time between two pages of one client */
#define PAGES_ALL_US (20 * SECOND_US) /* time for all pages, once there is a newer child */
#define IDLE_US (30 * SECOND_US)
#define TIMEOUT_MS 30000

enum { CHILDREN_MAX = 2, WAITING_MAX = 256, NAMESPACE_SIZE = 64 };

enum failure {
	FAILURE_FORK,
	FAILURE_ENDED,
	FAILURE_STUCK,
	FAILURE_COUNT,
};

struct question {
	struct link all;  /* r->questions, until fn is called */
	struct turn turn; /* link: r->fresh, its child's waiting, or r->failed; in none under way */
	struct copy *copy;
	char *text;
	size_t len;
	char ns[NAMESPACE_SIZE];
	bool is_of_watch;
	reader_answer_fn *fn;
	void *ctx;
	int64_t until_us;
	uint64_t moment; /* its child's, which may be gone; 0: none */
	char *sentence;	 /* why it failed; else NULL */
	bool too_many;	 /* it is why */
};

struct copy {
	struct reader *reader;
	struct link place; /* r->children, then r->graves until it is reaped */
	struct child process;
	ev_io reading; /* until it is in its grave: its end shows there, too */
	struct child_message answer;
	uint64_t moment;
	int64_t made_us;
	int64_t passed_us;   /* when a newer one was made */
	int64_t asked_us;    /* or answered, whichever was last */
	struct link waiting; /* questions, as turns.h has them */
	uint64_t round;	     /* of the last question */
	bool is_busy;
	int64_t busy_us;	/* since when */
	struct question *asked; /* under way; NULL also when nobody wants the answer any more */
	enum failure failure;	/* why it is in its grave; FAILURE_COUNT: not needed */
};

struct reader {
	struct reader_options o;
	int64_t timeout_us;
	struct link questions, fresh, failed;
	size_t nquestions;
	struct link children, graves; /* the oldest first */
	struct copy *last;	      /* made last; NULL: ended, or none was */
	bool has_made;
	int64_t made_us; /* of the last child */
	int64_t cost_us; /* from made_us to its first answer or end; -1: not yet */
	uint64_t moment;
	int64_t warned_ms[FAILURE_COUNT]; /* 0: never */
	ev_timer turn; /* of 0 s: for what must not be done inside reader_ask() */
	ev_timer look; /* runs while there are questions, children or graves */
};

/* ---- the log --------------------------------------------------------------------------------- */

static void warn(struct reader *r, enum failure kind, const char *text)
{
	if (log_again(&r->warned_ms[kind], monotonic_ms()))
		log_event(r->o.log, LEVEL_WARN, "reader-failed", "text", text, NULL);
}

/* ---- questions ------------------------------------------------------------------------------- */

static void turn_soon(struct reader *r)
{
	ev_timer_start(r->o.loop, &r->turn);
	ev_timer_start(r->o.loop, &r->look);
}

static void question_leave(struct reader *r, struct question *q)
{
	if (list_in(&q->all))
		r->nquestions--;
	list_leave(&q->all);
	list_leave(&q->turn.link);
	if (q->copy && q->copy->asked == q)
		q->copy->asked = NULL;
	q->copy = NULL;
}

static void question_free(struct question *q)
{
	free(q->text);
	free(q->sentence);
	free(q);
}

static void question_tell(struct reader *r, struct question *q, const struct reader_answer *a)
{
	question_leave(r, q);
	q->fn(a, q->ctx);
	question_free(q);
}

/* Fails the question, which is told in the next turn. */
static void question_fail(struct reader *r, struct question *q, const char *sentence)
{
	list_leave(&q->turn.link);
	if (q->copy && q->copy->asked == q)
		q->copy->asked = NULL;
	q->copy = NULL;
	q->sentence = mem_strdup(sentence);
	list_add(&r->failed, &q->turn.link);
	turn_soon(r);
}

static void questions_fail(struct reader *r, struct link *queue, const char *sentence)
{
	while (!list_empty(queue))
		question_fail(r, container_of(queue->next, struct question, turn.link), sentence);
}

/* Tells the failed questions. Any more are told in the next turn, for fn may ask again. */
static void tell_failed(struct reader *r)
{
	struct link now;
	list_init(&now);
	while (!list_empty(&r->failed)) {
		struct link *l = r->failed.next;
		list_leave(l);
		list_add(&now, l);
	}
	while (!list_empty(&now)) {
		struct question *q = container_of(now.next, struct question, turn.link);
		struct reader_answer a = {.code = ERR_BUSY,
			.too_many = q->too_many,
			.sentence = q->sentence,
			.moment = q->moment};
		question_tell(r, q, &a);
	}
}

/* ---- in the child ---------------------------------------------------------------------------- */

/* Answers one question. False: nobody asks any more. */
static bool answer_one(const struct copy *c)
{
	const struct reader_options *o = &c->reader->o;
	struct child_head head;
	if (!child_read(&head, sizeof(head)))
		return false;
	char *question = mem_alloc(head.len + 1);
	struct buf out;
	buf_init(&out, READER_ANSWER_MAX);
	bool alive = child_read(question, head.len);
	if (alive) {
		o->serve((struct slice){question, head.len}, c->moment, &out, o->ctx);
		head = (struct child_head){.len = out.failed ? 0 : out.len, .status = out.failed};
		alive = child_write(&head, sizeof(head)) && child_write(out.ptr, head.len);
	}
	buf_done(&out);
	free(question);
	return alive;
}

static void answer_all(void *ctx)
{
	while (answer_one(ctx))
		;
}

/* ---- a child --------------------------------------------------------------------------------- */

static void copy_next(struct copy *c)
{
	if (c->is_busy || list_empty(&c->waiting))
		return;
	struct question *q = container_of(c->waiting.next, struct question, turn.link);
	list_leave(&q->turn.link);
	c->asked = q;
	c->round = q->turn.round;
	c->is_busy = true;
	c->busy_us = monotonic_us();
	if (!child_send(&c->process, &(struct child_head){.len = q->len}, q->text))
		child_kill(&c->process); /* on_readable() sees its end */
}

static void copy_take(struct copy *c, struct question *q)
{
	list_leave(&q->turn.link);
	turns_line_up(&c->waiting, c->round, &q->turn);
	q->copy = c;
	q->moment = c->moment;
	c->asked_us = monotonic_us();
	copy_next(c);
}

static void copy_end(struct copy *c, enum failure why, const char *sentence)
{
	struct reader *r = c->reader;
	ev_io_stop(r->o.loop, &c->reading);
	child_close(&c->process);
	child_kill(&c->process);
	if (r->last == c) {
		r->last = NULL;
		if (r->cost_us < 0)
			r->cost_us = monotonic_us() - c->made_us;
	}
	if (c->asked)
		question_fail(r, c->asked, sentence);
	questions_fail(r, &c->waiting, sentence);
	c->failure = why;
	list_leave(&c->place);
	list_add(&r->graves, &c->place);
	ev_timer_start(r->o.loop, &r->look);
}

static void copy_answered(struct copy *c)
{
	struct reader *r = c->reader;
	struct question *q = c->asked;
	struct child_message m = c->answer;
	struct reader_answer a = {.body = {m.body ? m.body : "", m.head.len}, .moment = c->moment};
	c->answer = (struct child_message){0};
	c->is_busy = false;
	c->asked_us = monotonic_us();
	if (r->last == c && r->cost_us < 0)
		r->cost_us = c->asked_us - c->made_us;
	if (m.head.status) {
		a.code = ERR_LIMIT;
		a.sentence = "the answer is larger than 64 MiB; ask for less at once";
	}
	if (q)
		question_tell(r, q, &a);
	child_message_done(&m);
	copy_next(c);
}

/* Receives an answer. A child that was not asked sends nothing. */
static void on_readable(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop, (void)revents;
	struct copy *c = w->data;
	int rc = child_receive(&c->process, &c->answer, c->is_busy ? READER_ANSWER_MAX : 0);
	if (rc < 0 || (rc > 0 && !c->is_busy))
		copy_end(c, FAILURE_ENDED,
			"the process that reads ended before it gave an answer; ask again");
	else if (rc > 0)
		copy_answered(c);
}

/* ---- which child ----------------------------------------------------------------------------- */

static uint64_t next_moment(const struct reader *r)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	uint64_t now = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
	return now > r->moment ? now : r->moment + 1;
}

static struct copy *copy_new(struct reader *r, struct err *e)
{
	struct copy *c = mem_alloc(sizeof(*c));
	c->reader = r;
	c->moment = next_moment(r);
	c->made_us = c->asked_us = monotonic_us();
	list_init(&c->waiting);
	if (child_start(&c->process, "sluice-reader", "that reads", answer_all, c, e)) {
		free(c);
		return NULL;
	}
	ev_io_init(&c->reading, on_readable, c->process.fd, EV_READ);
	c->reading.data = c;
	ev_io_start(r->o.loop, &c->reading);
	if (r->last)
		r->last->passed_us = c->made_us;
	r->moment = c->moment;
	r->last = c;
	r->has_made = true;
	r->made_us = c->made_us;
	r->cost_us = -1;
	list_add(&r->children, &c->place);
	log_event(r->o.log, LEVEL_DEBUG, "reader-made", "#fork_us",
		LOG_NUMBER(monotonic_us() - c->made_us), NULL);
	return c;
}

/* True if the last child is old enough for another one. */
static bool is_time(const struct reader *r, int64_t now_us)
{
	int64_t age = now_us - r->made_us;
	if (!r->has_made || age >= PACE_MOST_US)
		return true;
	return age >= PACE_LEAST_US && r->cost_us >= 0 && age / PACE_TIMES >= r->cost_us;
}

/* True if somebody reads pages of an older child, and may go on. */
static bool is_needed(const struct copy *c, int64_t now_us)
{
	return c->is_busy || !list_empty(&c->waiting) || now_us - c->asked_us < PAGES_US;
}

/* True if one more child may live; ends the oldest where it can. */
static bool make_room(struct reader *r, int64_t now_us)
{
	size_t n = 0;
	list_each(&r->children, l)
		n++;
	if (n < CHILDREN_MAX)
		return true;
	struct copy *oldest = container_of(r->children.next, struct copy, place);
	if (is_needed(oldest, now_us))
		return false;
	copy_end(oldest, FAILURE_COUNT, NULL);
	return true;
}

/* Gives questions without a moment to the newest child, or lets them wait until there may be one.
 * With an older child, whoever asks again would see time go backwards. */
static void place_fresh(struct reader *r)
{
	int64_t now = monotonic_us();
	struct copy *c = r->last;
	struct err e = {""};
	if (list_empty(&r->fresh))
		return;
	if (is_time(r, now) && make_room(r, now))
		c = copy_new(r, &e);
	else if (!c)
		return;
	if (!c) {
		warn(r, FAILURE_FORK, e.text);
		questions_fail(r, &r->fresh, e.text);
		return;
	}
	while (!list_empty(&r->fresh))
		copy_take(c, container_of(r->fresh.next, struct question, turn.link));
}

static struct copy *copy_of(const struct reader *r, uint64_t moment)
{
	list_each_entry(&r->children, struct copy, c, place) {
		bool may = c == r->last || monotonic_us() - c->passed_us < PAGES_ALL_US;
		if (c->moment == moment)
			return may ? c : NULL;
	}
	return NULL;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void look_at_children(struct reader *r, int64_t now_us)
{
	for (struct link *l = r->children.next, *next; l != &r->children; l = next) {
		struct copy *c = container_of(l, struct copy, place);
		next = l->next;
		if (c->is_busy && now_us - c->busy_us >= r->timeout_us) {
			warn(r, FAILURE_STUCK,
				"a process that reads took too long for an answer, and was killed");
			copy_end(c, FAILURE_STUCK,
				"the process that reads took too long for an answer; ask again, or for less at once");
		} else if (!c->is_busy && now_us - c->asked_us >= IDLE_US) {
			copy_end(c, FAILURE_COUNT, NULL);
		}
	}
}

static void look_at_questions(struct reader *r, int64_t now_us)
{
	list_each_entry(&r->questions, struct question, q, all) {
		if (!q->sentence && now_us >= q->until_us)
			question_fail(r, q,
				"there was no answer in time; ask again, or for less at once");
	}
}

static void copy_free(struct copy *c)
{
	list_leave(&c->place);
	child_message_done(&c->answer);
	free(c);
}

static void bury(struct reader *r)
{
	for (struct link *l = r->graves.next, *next; l != &r->graves; l = next) {
		struct copy *c = container_of(l, struct copy, place);
		struct err how, text;
		int status;
		next = l->next;
		if (!child_reap(&c->process, false, &status))
			continue;
		child_say_end(status, &how);
		err_set(&text, 0, "a process that reads ended by itself, by %s", how.text);
		if (c->failure == FAILURE_ENDED)
			warn(r, FAILURE_ENDED, text.text);
		copy_free(c);
	}
}

static void on_turn(struct ev_loop *loop, ev_timer *w, int revents)
{
	(void)loop, (void)revents;
	place_fresh(w->data);
	tell_failed(w->data);
}

static void on_look(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct reader *r = w->data;
	int64_t now = monotonic_us();
	(void)revents;
	look_at_children(r, now);
	look_at_questions(r, now);
	bury(r);
	if (!list_empty(&r->questions))
		ev_timer_start(loop, &r->turn);
	else if (list_empty(&r->children) && list_empty(&r->graves))
		ev_timer_stop(loop, &r->look);
}

/* ---- life ------------------------------------------------------------------------------------ */

struct reader *reader_new(const struct reader_options *o)
{
	struct reader *r = mem_alloc(sizeof(*r));
	r->o = *o;
	r->timeout_us = (o->timeout_ms ? o->timeout_ms : TIMEOUT_MS) * 1000;
	list_init(&r->questions);
	list_init(&r->fresh);
	list_init(&r->failed);
	list_init(&r->children);
	list_init(&r->graves);
	ev_timer_init(&r->turn, on_turn, 0., 0.);
	ev_timer_init(&r->look, on_look, LOOK_SECONDS, LOOK_SECONDS);
	r->turn.data = r->look.data = r;
	return r;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	while (!list_empty(&r->questions)) {
		struct question *q = container_of(r->questions.next, struct question, all);
		question_leave(r, q);
		question_free(q);
	}
	while (!list_empty(&r->children))
		copy_end(container_of(r->children.next, struct copy, place), FAILURE_COUNT, NULL);
	while (!list_empty(&r->graves)) {
		struct copy *c = container_of(r->graves.next, struct copy, place);
		child_reap(&c->process, true, NULL);
		copy_free(c);
	}
	ev_timer_stop(r->o.loop, &r->turn);
	ev_timer_stop(r->o.loop, &r->look);
	free(r);
}

static size_t count_of_namespace(const struct reader *r, const char *ns)
{
	size_t n = 0;
	list_each_entry(&r->questions, const struct question, q, all)
		n += !q->is_of_watch && !q->sentence && strcmp(q->ns, ns) == 0;
	return n;
}

/* True if the question may wait. False: as many wait as may, and it has failed. */
static bool has_place(struct reader *r, struct question *q)
{
	char text[256];
	if (r->nquestions >= WAITING_MAX)
		snprintf(text, sizeof(text),
			"too many questions wait for an answer; ask again in a while");
	else if (!q->is_of_watch && count_of_namespace(r, q->ns) >= READER_EACH_MAX)
		snprintf(text, sizeof(text),
			"%d questions about %s%s wait for an answer already; ask again in a second, or watch instead of asking often",
			READER_EACH_MAX, q->ns[0] ? "namespace " : "all namespaces", q->ns);
	else
		return true;
	q->too_many = true;
	question_fail(r, q, text);
	return false;
}

static struct question *question_new(
	const struct reader *r, const struct reader_question *from, reader_answer_fn *fn, void *ctx)
{
	struct question *q = mem_alloc(sizeof(*q));
	must(from->text.len <= READER_QUESTION_MAX && strlen(from->ns) < sizeof(q->ns));
	strcpy(q->ns, from->ns);
	q->turn.ns = q->ns;
	q->is_of_watch = from->is_of_watch;
	q->text = mem_strndup(from->text.ptr, from->text.len);
	q->len = from->text.len;
	q->fn = fn;
	q->ctx = ctx;
	q->until_us = monotonic_us() + r->timeout_us;
	return q;
}

bool reader_ask(
	struct reader *r, const struct reader_question *question, reader_answer_fn *fn, void *ctx)
{
	struct copy *c = question->moment ? copy_of(r, question->moment) : NULL;
	if (question->moment && !c)
		return false;
	struct question *q = question_new(r, question, fn, ctx);
	bool may = has_place(r, q);
	list_add(&r->questions, &q->all);
	r->nquestions++;
	if (!may)
		turn_soon(r);
	else if (c)
		copy_take(c, q);
	else
		list_add(&r->fresh, &q->turn.link);
	turn_soon(r);
	return true;
}

void reader_forget(struct reader *r, const void *ctx)
{
	for (struct link *l = r->questions.next, *next; l != &r->questions; l = next) {
		struct question *q = container_of(l, struct question, all);
		next = l->next;
		if (q->ctx != ctx)
			continue;
		question_leave(r, q);
		question_free(q);
	}
}
