#include "controller/past/past_questions.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/monotonic.h"
#include "controller/common/log.h"
#include "controller/common/turns.h"
#include "controller/ledger/pg.h"
#include "controller/past/answer.h"
#include "controller/past/cost.h"

enum {
	/* At a time: in all, about no single namespace, and of one. */
	ASKED_MAX = 64,
	ASKED_OF_ALL_MAX = 32,
	ASKED_OF_NAMESPACE_MAX = 4,
	ANSWER_MAX_BYTES = 4 << 20,
	REST = 10,			   /* so many times as long as an answer took */
	QUICK_USAGE_MS = 26 * 3600 * 1000, /* a day, and the step that goes on */
};

/* A question that is not answered yet. */
struct asked {
	struct turn turn;
	struct past_query query;
	int64_t now_ms;
	uint64_t id; /* 0: waits for its turn */
	struct past_asker who;
};

/* Questions of a kind, one after the other. */
struct lane {
	struct ev_loop *loop;
	struct past_questions_options options;
	struct pg *pg;
	struct link asked; /* asked.turn: the one under way, then those that wait */
	uint64_t round;	   /* of the last question that was asked */
	size_t count;
	uint64_t next_id;
	uint64_t under_way;	       /* the question that the ledger has; 0: none */
	char trouble[LOG_TROUBLE_MAX]; /* the last that was said; "": none since the last answer */
	ev_timer rest;		       /* runs while no question is asked, for the loop's sake */
};

/* What is read in milliseconds does not wait behind a report of a year. */
enum lane_kind { LANE_QUICK, LANE_SLOW, LANES };

struct past_questions {
	struct lane lane[LANES];
};

/* ---- Answers ---------------------------------------------------------------------------------
 */

static struct asked *asked_of(struct link *l)
{
	return container_of(l, struct asked, turn.link);
}

static struct asked *find(struct lane *t, uint64_t id)
{
	list_each_entry(&t->asked, struct asked, a, turn.link)
		if (a->id == id)
			return a;
	return NULL;
}

static void forget(struct lane *t, struct asked *a)
{
	list_leave(&a->turn.link);
	t->count--;
	free(a);
}

/* Takes the question off the list and answers it; sentence: without a body. */
static void settle(struct lane *t, struct asked *a, const struct buf *body, const char *sentence)
{
	list_leave(&a->turn.link);
	t->count--;
	a->who.fn(a->who.what, body, sentence, a->who.ctx);
	free(a);
}

static void settle_without(struct lane *t, struct asked *a, const char *why)
{
	char sentence[256];
	snprintf(sentence, sizeof(sentence), "%s: ask for a shorter time (since, until)%s", why,
		a->query.question.kind == PAST_USAGE ? "" : " or for one namespace");
	settle(t, a, NULL, sentence);
}

/* Answers one question that Postgres refused, such as by a right or a limit of its own. */
static void settle_refused(struct lane *t, struct asked *a, const char *why)
{
	log_trouble(t->options.log, t->trouble, "past-unreadable", why, NULL);
	settle(t, a, NULL,
		"Postgres refuses this question: the controller's log says why (past-unreadable)");
}

/* Answers all questions of a lane: the ledger cannot be read, and nobody waits until it can. */
static void settle_all(struct lane *t, const char *why)
{
	log_trouble(t->options.log, t->trouble, "past-unreadable", why, NULL);
	while (!list_empty(&t->asked))
		settle(t, asked_of(t->asked.next), NULL,
			"Postgres is down: the past can be read when it is back");
}

/* ---- Questions, one at a time ----------------------------------------------------------------
 */

static void on_answer(const struct pg_answer *x, void *ctx);

static void send_next(struct lane *t)
{
	struct asked *a = find(t, 0);
	if (!a || t->under_way || ev_is_active(&t->rest))
		return;
	a->id = t->under_way = ++t->next_id;
	t->round = a->turn.round;
	pg_past(t->pg, &a->query.question, past_rows_max(a->query.question.kind) + 1,
		&(struct pg_asker){on_answer, t, a->id});
}

static void on_rest(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop, (void)events;
	send_next(w->data);
}

static void rest(struct lane *t, int64_t took_us)
{
	ev_timer_stop(t->loop, &t->rest);
	ev_timer_set(&t->rest, (double)(took_us * REST) / 1e6, 0.);
	ev_timer_start(t->loop, &t->rest);
}

/* Answers a question about costs, from the ledger's rows and the runs that go on. */
static void answer_costs(struct lane *t, struct asked *a, const struct ledger_cost *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *body)
{
	const struct past_question *q = &a->query.question;
	const struct gate_runs_asked runs = {q->ns, q->from_ms, q->to_ms, a->now_ms};
	struct cost_report *r = cost_report_new(&a->query);
	for (size_t i = 0; i < n; i++)
		cost_report_row(r, &rows[i]);
	cost_report_forgotten(r, forgotten_until_ms);
	gate_each_run(t->options.gate, &runs, cost_report_run, r);
	cost_report_render(r, gate_leading(t->options.gate), body);
	cost_report_free(r);
}

static void render(struct lane *t, struct asked *a, const struct pg_answer *x, struct buf *body)
{
	if (a->query.question.kind == PAST_COST)
		answer_costs(t, a, x->costs, x->n, x->forgotten_until_ms, body);
	else if (a->query.question.kind == PAST_USAGE)
		past_answer_usage(&a->query, x->texts, x->n, x->forgotten_until_ms, body);
	else if (a->query.question.kind == PAST_SPANS)
		past_answer_spans(&a->query, x->texts, x->n, x->forgotten_until_ms, body);
	else
		past_answer_rows(&a->query, x->texts, x->n, x->forgotten_until_ms, body);
}

static void answer(struct lane *t, struct asked *a, const struct pg_answer *x)
{
	struct buf body;
	buf_init(&body, ANSWER_MAX_BYTES);
	render(t, a, x, &body);
	if (body.failed)
		settle_without(t, a, "the answer is larger than 4 MiB");
	else
		settle(t, a, &body, NULL);
	buf_done(&body);
}

static void on_answer(const struct pg_answer *x, void *ctx)
{
	struct lane *t = ctx;
	struct asked *a = find(t, x->id);
	int64_t began_us = t->options.clock_us();
	t->under_way = 0;
	if (x->outcome == LEDGER_DONE)
		t->trouble[0] = '\0';
	else if (!x->its_own)
		settle_all(t, x->why);
	else if (a && x->too_long)
		settle_without(t, a, "Postgres did not answer in time");
	else if (a)
		settle_refused(t, a, x->why);
	if (a && x->outcome == LEDGER_DONE)
		answer(t, a, x);
	rest(t, t->options.clock_us() - began_us);
}

/* ---- The line --------------------------------------------------------------------------------
 */

static size_t count_of_namespace(const struct lane *t, const char *ns)
{
	size_t n = 0;
	list_each_entry(&t->asked, const struct asked, a, turn.link)
		n += strcmp(a->turn.ns, ns) == 0;
	return n;
}

static int check_room(const struct lane *t, const char *ns, struct err *e)
{
	if (t->count >= ASKED_MAX)
		return err_set(e, ERR_LIMIT,
			"too many ask about the past just now; ask again in a moment");
	if (!ns && count_of_namespace(t, "") >= ASKED_OF_ALL_MAX)
		return err_set(e, ERR_LIMIT,
			"too many ask about the past of all namespaces just now; ask again in a moment, or about one namespace");
	if (ns && count_of_namespace(t, ns) >= ASKED_OF_NAMESPACE_MAX)
		return err_set(e, ERR_LIMIT,
			"%d questions about the past of namespace %.63s are not answered yet; ask again when one of them is",
			ASKED_OF_NAMESPACE_MAX, ns);
	return 0;
}

/* Gives the lane: quick for one Job, and for what was in the last day or so, to which indexes lead.
 * The index of runs is by their end, so an old day costs as much as all that has ended since. */
static enum lane_kind lane_of(const struct past_question *q, int64_t now_ms)
{
	bool is_of_today = now_ms - q->from_ms <= QUICK_USAGE_MS;
	bool is_quick = q->kind == PAST_USAGE || q->kind == PAST_SPANS
				? is_of_today
				: q->kind == PAST_RUNS && q->ns && q->job;
	return is_quick ? LANE_QUICK : LANE_SLOW;
}

/* Gives the question to the lane, which owns it from here on if this returns 0. */
static int line_up(struct lane *t, struct asked *a, struct err *e)
{
	int rc = check_room(t, a->query.question.ns, e);
	if (rc)
		return rc;
	a->turn.ns = a->query.question.ns ? a->query.question.ns : "";
	turns_line_up(&t->asked, t->round, &a->turn);
	t->count++;
	send_next(t);
	return 0;
}

int past_questions_ask(struct past_questions *p, const struct past_words *w, int64_t now_ms,
	const struct past_asker *who, struct err *e)
{
	struct asked *a = mem_alloc(sizeof(*a));
	a->now_ms = now_ms;
	a->who = *who;
	int rc = past_query_parse(w, now_ms, &a->query, e);
	if (!rc)
		rc = line_up(&p->lane[lane_of(&a->query.question, now_ms)], a, e);
	if (rc)
		free(a);
	return rc;
}

/* Forgets the questions of an owner: what the ledger says of them finds nobody. */
static void forget_of(struct lane *t, const void *owner)
{
	for (struct link *l = t->asked.next, *next; l != &t->asked; l = next) {
		struct asked *a = asked_of(l);
		next = l->next;
		if (a->who.owner == owner)
			forget(t, a);
	}
}

void past_questions_forget(struct past_questions *p, const void *owner)
{
	for (int i = 0; i < LANES; i++)
		forget_of(&p->lane[i], owner);
}

/* ---- Life ------------------------------------------------------------------------------------
 */

static void lane_open(
	struct lane *t, struct ev_loop *loop, struct pg *pg, const struct past_questions_options *o)
{
	t->loop = loop;
	t->pg = pg;
	list_init(&t->asked);
	t->options = *o;
	if (!t->options.clock_us)
		t->options.clock_us = monotonic_us;
	ev_timer_init(&t->rest, on_rest, 0., 0.);
	t->rest.data = t;
}

static void lane_close(struct lane *t)
{
	ev_timer_stop(t->loop, &t->rest);
	while (!list_empty(&t->asked))
		forget(t, asked_of(t->asked.next));
}

struct past_questions *past_questions_new(
	struct ev_loop *loop, const struct past_questions_options *o)
{
	struct past_questions *p = mem_alloc(sizeof(*p));
	lane_open(&p->lane[LANE_QUICK], loop, o->quick, o);
	lane_open(&p->lane[LANE_SLOW], loop, o->slow, o);
	return p;
}

void past_questions_free(struct past_questions *p)
{
	if (!p)
		return;
	for (int i = 0; i < LANES; i++)
		lane_close(&p->lane[i]);
	free(p);
}
