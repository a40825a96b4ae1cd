/*
 * The command top: a screen of what runs and waits, as it changes, with keys for a Job. Where there
 * is no terminal, the same lines once.
 *
 * A terminal is the only thing that it draws on, so plain ANSI is enough, as for tables
 * (docs/dependencies.md). It asks every 2 seconds. What is wished by keys that
 * come while it asks waits for the answer (cli/top/orders.h); `q` does not.
 */
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/explain/answer.h"
#include "cli/hold.h"
#include "cli/question.h"
#include "cli/top/answers.h"
#include "cli/top/layout.h"
#include "cli/top/options.h"
#include "cli/top/orders.h"
#include "cli/top/terminal.h"
#include "cli/top/view.h"
#include "controller/common/clock.h"

#define PERIOD_S 2.0

enum { SCREEN_MAX_BYTES = 1 << 20, KEYS_MAX = 256, TOLD_MAX_BYTES = 64 << 10 };

struct top {
	struct ev_loop *loop;
	struct kube_client *client;
	struct top_answers answers;
	struct top_view view;
	ev_io keys;
	ev_signal resized;
	ev_timer due;
	struct top_orders orders;
	bool is_asking, is_due, is_over;
};

/* ---- drawing --------------------------------------------------------------------------------- */

static void draw(struct top *t, struct terminal_size size, struct buf *out)
{
	top_draw(&(struct top_picture){&t->answers, &t->view, size.rows, size.columns,
			 clock_now_ms(), style_of(stdout)},
		out);
}

static void redraw(struct top *t)
{
	struct buf lines;
	buf_init(&lines, SCREEN_MAX_BYTES);
	draw(t, terminal_size_now(), &lines);
	terminal_draw(buf_text(&lines));
	buf_done(&lines);
}

/* ---- what a key wishes ----------------------------------------------------------------------- */

static void hold(struct top *t, const struct top_order *o)
{
	struct job_asked a = {t->loop, t->client, o->ns, o->name, NULL};
	struct buf told;
	struct err e = {""};
	buf_init(&told, TOLD_MAX_BYTES);
	int rc = hold_job(&a, o->wish == TOP_RELEASE, &told, &e);
	top_view_say(&t->view, rc ? e.text : buf_text(&told));
	buf_done(&told);
}

static void explain(struct top *t, const struct top_order *o)
{
	static const struct style plain = {false, false};
	struct explain_question q = {o->ns, o->name, true};
	struct explain_answer answer;
	struct err e = {""};
	struct buf text;
	buf_init(&text, TOP_PANE_MAX_BYTES);
	t->orders.is_opening = true;
	int rc = explain_answer_get(t->loop, t->client, &q, &answer, &e);
	t->orders.is_opening = false;
	if (rc == 0) {
		explain_render(answer.job, &answer.queues, clock_now_ms(), &plain, &text);
		top_view_open_pane(&t->view, buf_text(&text));
	} else {
		top_view_say(&t->view, *e.text ? e.text : "the Job is no longer queued");
	}
	explain_answer_done(&answer);
	buf_done(&text);
}

/* Does what is wished. True: the answers are not as they were. */
static bool carry_out(struct top *t, const struct top_order *o)
{
	switch (o->wish) {
	case TOP_NOTHING:
		return false;
	case TOP_HOLD:
	case TOP_RELEASE:
		hold(t, o);
		return true;
	case TOP_EXPLAIN:
		explain(t, o);
		return false;
	case TOP_QUIT:
		t->is_over = true;
		return false;
	}
	return false;
}

/* Carries out what the keys wished that came. */
static void carry_out_all(struct top *t)
{
	struct top_order o;
	while (!t->is_over && top_orders_take(&t->orders, &t->view, t->answers.jobs, &o)) {
		t->is_asking = true;
		if (carry_out(t, &o))
			t->is_due = true;
		t->is_asking = false;
	}
}

/* ---- what wakes it --------------------------------------------------------------------------- */

static void on_keys(struct ev_loop *loop, ev_io *w, int revents)
{
	struct top *t = w->data;
	(void)revents;
	char key[KEYS_MAX];
	ssize_t n = read(STDIN_FILENO, key, sizeof(key));
	if (n > 0)
		top_orders_press(
			&t->orders, &t->view, (struct slice){key, (size_t)n}, t->answers.jobs);
	if (n <= 0 || (t->is_asking && top_orders_quit(&t->orders))) {
		terminal_leave();
		exit(CLI_OK); /* in the middle of a question: nothing of it is to be kept */
	}
	ev_break(loop, EVBREAK_ONE);
}

static void on_resized(struct ev_loop *loop, ev_signal *w, int revents)
{
	(void)w, (void)revents;
	ev_break(loop, EVBREAK_ONE);
}

static void on_due(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct top *t = w->data;
	(void)revents;
	t->is_due = true;
	ev_break(loop, EVBREAK_ONE);
}

static void start(struct top *t)
{
	ev_io_init(&t->keys, on_keys, STDIN_FILENO, EV_READ);
	ev_signal_init(&t->resized, on_resized, SIGWINCH);
	ev_timer_init(&t->due, on_due, PERIOD_S, 0.);
	t->keys.data = t->due.data = t;
	ev_io_start(t->loop, &t->keys);
	ev_signal_start(t->loop, &t->resized);
}

static void stop(struct top *t)
{
	ev_io_stop(t->loop, &t->keys);
	ev_signal_stop(t->loop, &t->resized);
	ev_timer_stop(t->loop, &t->due);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Asks, and finds the Jobs of the new list. What was known stays where there is no answer. */
static int ask(struct top *t, struct err *e)
{
	t->is_asking = true;
	int rc = top_answers_ask(t->loop, t->client, &t->answers, e);
	t->is_asking = false;
	top_view_take(&t->view, t->answers.jobs);
	return rc;
}

static void look_on(struct top *t)
{
	struct err e = {""};
	terminal_enter();
	start(t);
	while (!t->is_over) {
		t->is_due = false;
		ev_timer_set(&t->due, PERIOD_S, 0.);
		ev_timer_start(t->loop, &t->due);
		while (!t->is_over && !t->is_due) {
			redraw(t);
			if (t->orders.n == 0)
				ev_run(t->loop, 0);
			carry_out_all(t);
		}
		ev_timer_stop(t->loop, &t->due);
		if (!t->is_over)
			ask(t, &e);
	}
	stop(t);
	terminal_leave();
}

static void print_once(struct top *t)
{
	struct buf lines;
	buf_init(&lines, SCREEN_MAX_BYTES);
	draw(t, (struct terminal_size){0, 0}, &lines);
	fputs(buf_text(&lines), stdout);
	buf_done(&lines);
}

static int show(struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx)
{
	const struct top_options *o = ctx;
	struct top t = {
		.loop = loop, .client = client, .answers = {.ns = o->all_namespaces ? NULL : ns}};
	struct err e = {""};
	top_view_init(&t.view);
	int rc = ask(&t, &e), code = rc ? command_fail(rc, &e) : CLI_OK;
	if (rc == 0 && terminal_is_there())
		look_on(&t);
	else if (rc == 0)
		print_once(&t);
	top_view_done(&t.view);
	top_answers_done(&t.answers);
	return code;
}

int command_top(void *options)
{
	const struct top_options *o = options;
	return question_command(&o->kube, o->namespace_name, false, show, options);
}
