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
	IDLE_MS = 60000,
	ANSWER_MAX_BYTES = 4 << 20,
	REST = 10,			   /* so many times as long as an answer took */
	QUICK_USAGE_MS = 26 * 3600 * 1000, /* a day, and the step that goes on */
};

/* A question that is not answered yet. */
struct asked {
	struct turn turn;
	struct past_query query;
	int64_t now_ms;
	uint64_t id; /* 0: waits for its turn, or for the connection */
	struct past_asker who;
};

/* Questions of a kind, one after the other, on a connection of their own. */
struct lane {
	struct ev_loop *loop;
	struct past_questions_options options;
	struct pg *pg;	   /* NULL: no question lately */
	struct link asked; /* asked.turn: the one under way, then those that wait */
	uint64_t round;	   /* of the last that was asked */
	size_t count;
	uint64_t next_id;
	uint64_t under_way; /* the question that the ledger has; 0: none */
	char trouble[512];  /* of the connection, "" none */
	ev_timer idle;
	ev_timer rest; /* runs while none is asked for the loop's sake */
};

/* What is known to be read in milliseconds does not wait behind a report of a year. */
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

/* NULL: there is none. */
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

static void arm_idle(struct lane *t)
{
	ev_timer_stop(t->loop, &t->idle);
	if (!list_empty(&t->asked) || !t->pg)
		return;
	ev_timer_set(&t->idle, (double)t->options.idle_ms / 1000.0, 0.);
	ev_timer_start(t->loop, &t->idle);
}

static void on_idle(struct ev_loop *loop, ev_timer *w, int events)
{
	struct lane *t = w->data;
	(void)loop, (void)events;
	pg_free(t->pg);
	t->pg = NULL;
	t->under_way = 0;
	t->trouble[0] = '\0';
}

/* Takes the question off the list and answers it; why: without a body, if Postgres is there. */
static void settle(struct lane *t, struct asked *a, const struct buf *body, const char *why)
{
	char sentence[700];
	list_leave(&a->turn.link);
	t->count--;
	if (t->trouble[0])
		snprintf(sentence, sizeof(sentence),
			"Postgres is down: the past can be read when it is back");
	else
		snprintf(sentence, sizeof(sentence), "%s: ask for a shorter time (since, until)%s",
			why, a->query.question.kind == PAST_USAGE ? "" : " or for one namespace");
	a->who.fn(body, body ? NULL : sentence, a->who.ctx);
	free(a);
	arm_idle(t);
}

/* ---- Questions, one at a time ----------------------------------------------------------------
 */

static void send_next(struct lane *t)
{
	struct asked *a = find(t, 0);
	if (!a || t->under_way || !t->pg || !pg_up(t->pg) || ev_is_active(&t->rest))
		return;
	a->id = t->under_way = ++t->next_id;
	t->round = a->turn.round;
	pg_past(t->pg, a->id, &a->query.question, PAST_ROWS_MAX + 1);
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

/* Those that go on are added. */
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

/* What the ledger answered, of whatever kind. */
struct told {
	uint64_t id;
	enum ledger_outcome outcome;
	const struct ledger_cost *costs;
	const struct ledger_row *rows;
	size_t n;
	int64_t forgotten_until_ms;
};

static void render(struct lane *t, struct asked *a, const struct told *x, struct buf *body)
{
	if (a->query.question.kind == PAST_COST)
		answer_costs(t, a, x->costs, x->n, x->forgotten_until_ms, body);
	else if (a->query.question.kind == PAST_USAGE)
		past_answer_usage(&a->query, x->rows, x->n, x->forgotten_until_ms, body);
	else
		past_answer_rows(&a->query, x->rows, x->n, x->forgotten_until_ms, body);
}

static void answer(struct lane *t, const struct told *x)
{
	struct asked *a = find(t, x->id);
	struct buf body;
	int64_t began_us = t->options.clock_us();
	t->under_way = 0;
	buf_init(&body, ANSWER_MAX_BYTES);
	if (a && x->outcome == LEDGER_DONE)
		render(t, a, x, &body);
	if (a)
		settle(t, a, x->outcome == LEDGER_DONE && !body.failed ? &body : NULL,
			body.failed ? "the answer is larger than 4 MiB"
				    : "Postgres did not answer in time");
	buf_done(&body);
	rest(t, t->options.clock_us() - began_us);
}

static void on_cost(uint64_t id, enum ledger_outcome o, const struct ledger_cost *costs, size_t n,
	int64_t forgotten_until_ms, void *ctx)
{
	answer(ctx, &(struct told){.id = id,
			    .outcome = o,
			    .costs = costs,
			    .n = n,
			    .forgotten_until_ms = forgotten_until_ms});
}

static void on_rows(uint64_t id, enum ledger_outcome o, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, void *ctx)
{
	answer(ctx, &(struct told){.id = id,
			    .outcome = o,
			    .rows = rows,
			    .n = n,
			    .forgotten_until_ms = forgotten_until_ms});
}

/* ---- The connection --------------------------------------------------------------------------
 */

static void on_state(bool up, const char *sentence, void *ctx)
{
	struct lane *t = ctx;
	snprintf(t->trouble, sizeof(t->trouble), "%s", up || !sentence ? "" : sentence);
	if (up) {
		send_next(t);
		return;
	}
	if (t->options.log)
		log_event(t->options.log, LEVEL_WARN, "past-unreadable", "why", t->trouble, NULL);
	for (struct asked *a; (a = find(t, 0));)
		settle(t, a, NULL, "");
}

static int connect_to_ledger(struct lane *t, struct err *e)
{
	struct pg_options o = {.conninfo = t->options.conninfo,
		.cell = t->options.cell,
		.identity = t->options.identity,
		.seed = t->options.seed};
	struct pg_events events = {
		.cost = on_cost, .rows = on_rows, .state = on_state, .ctx = t, .state_ctx = t};
	return t->pg ? 0 : pg_new(t->loop, &o, &events, &t->pg, e);
}

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

/* Of one Job, and of a queue in the last day or so: indexes lead to them. That of runs is by their end, so
 * what is long ago costs as much as all that has ended since. */
static enum lane_kind lane_of(const struct past_question *q, int64_t now_ms)
{
	bool is_of_today = now_ms - q->from_ms <= QUICK_USAGE_MS;
	bool is_quick =
		(q->kind == PAST_RUNS && q->ns && q->job) || (q->kind == PAST_USAGE && is_of_today);
	return is_quick ? LANE_QUICK : LANE_SLOW;
}

/* 0: it is the lane's from here on. */
static int line_up(struct lane *t, struct asked *a, struct err *e)
{
	int rc = check_room(t, a->query.question.ns, e);
	if (!rc)
		rc = connect_to_ledger(t, e);
	if (rc)
		return rc;
	a->turn.ns = a->query.question.ns ? a->query.question.ns : "";
	turns_line_up(&t->asked, t->round, &a->turn);
	t->count++;
	ev_timer_stop(t->loop, &t->idle);
	if (pg_up(t->pg))
		send_next(t);
	else if (t->trouble[0]) /* the driver says so once, not each time it tries */
		settle(t, a, NULL, "");
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

/* What the ledger says of them finds nobody. */
static void forget_of(struct lane *t, const void *owner)
{
	for (struct link *l = t->asked.next, *next; l != &t->asked; l = next) {
		struct asked *a = asked_of(l);
		next = l->next;
		if (a->who.owner == owner)
			forget(t, a);
	}
	arm_idle(t);
}

void past_questions_forget(struct past_questions *p, const void *owner)
{
	for (int i = 0; i < LANES; i++)
		forget_of(&p->lane[i], owner);
}

/* ---- Life ------------------------------------------------------------------------------------
 */

static void lane_open(struct lane *t, struct ev_loop *loop, const struct past_questions_options *o)
{
	t->loop = loop;
	list_init(&t->asked);
	t->options = *o;
	if (t->options.idle_ms == 0)
		t->options.idle_ms = IDLE_MS;
	if (!t->options.clock_us)
		t->options.clock_us = monotonic_us;
	ev_timer_init(&t->idle, on_idle, 0., 0.);
	ev_timer_init(&t->rest, on_rest, 0., 0.);
	t->idle.data = t->rest.data = t;
}

static void lane_close(struct lane *t)
{
	ev_timer_stop(t->loop, &t->idle);
	ev_timer_stop(t->loop, &t->rest);
	pg_free(t->pg);
	while (!list_empty(&t->asked))
		forget(t, asked_of(t->asked.next));
}

struct past_questions *past_questions_new(
	struct ev_loop *loop, const struct past_questions_options *o)
{
	struct past_questions *p = mem_alloc(sizeof(*p));
	for (int i = 0; i < LANES; i++)
		lane_open(&p->lane[i], loop, o);
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
