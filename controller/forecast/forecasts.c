#include "controller/forecast/forecasts.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "controller/forecast/guesses.h"
#include "forecast/ask.h"

enum {
	SHARE = 20,	   /* of one core: 5 % */
	SETTLE_US = 2000,  /* of a tick */
	SETTLE_GROUPS = 4, /* between two looks at the clock */
	LATE_MS = 10000,   /* an ask ends itself before that */
	REASON_SIZE = 256,
};

struct forecasts {
	struct forecasts_options options;
	struct guesses *guesses;

	int64_t tick_ms;   /* of the last tick; 0: none yet */
	bool wanted;	   /* since the last tick */
	int64_t wanted_ms; /* the last tick that found it wanted; 0: never */
	int64_t next_ms;   /* when an ask may begin */
	unsigned failures; /* failed asks in a row */
	char said[REASON_SIZE];
	struct forecasts_counts counts; /* but for age_ms */

	/* The ask that is under way; NULL: none. */
	struct ask *ask;
	ev_io readable;
	int64_t begun_ms, begun_at_ms; /* by the two clocks: tick, wall */
	int64_t fork_us;
	uint64_t begun_edits; /* queue_edits() */
	size_t begun_runs, begun_arrivals;

	/* The last answer, which lives in its ask; NULL: none. */
	struct ask *answered;
	struct ask_answer answer;
	int64_t answer_tick_ms, answer_as_of_ms;
	uint64_t answer_edits;
	size_t answer_runs, answer_arrivals;
};

/* ---- in the copies ----------------------------------------------------------------------------- */

static void prepare(void *ctx)
{
	guesses_prepare(((struct forecasts *)ctx)->guesses);
}

static void begin_draw(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	struct forecasts *f = ctx;
	guesses_begin_draw(f->guesses, draw, f->begun_at_ms, lengths, arrivals);
}

static void run_lasts(const struct job_outline *o, int64_t ran_ms, int64_t *ret_least_ms,
	int64_t *ret_most_ms, void *ctx)
{
	struct forecasts *f = ctx;
	guesses_lengths(f->guesses, o, ran_ms, ASK_DRAWS, ret_least_ms, ret_most_ms);
}

static void tell(const struct ask_answer *a, const struct queue *q, struct buf *out, void *ctx)
{
	struct forecasts *f = ctx;
	struct moves_world w = {.queue = q,
		.now_ms = a->now_ms,
		.lasts = run_lasts,
		.ctx = f,
		.arrivals = f->begun_arrivals,
		.arrivals_are_young = guesses_arrivals_are_young(f->guesses, a->now_ms)};
	moves_remember(&w, f->answered ? &f->answer : NULL, a->eta, a->n, out);
}

/* ---- the pace ---------------------------------------------------------------------------------- */

static void pause_for(struct forecasts *f, int64_t used_us)
{
	int64_t pause_ms = (used_us + f->fork_us) / 1000 * SHARE;
	if (pause_ms < FORECASTS_PACE_MS)
		pause_ms = FORECASTS_PACE_MS;
	unsigned doublings = f->failures > 0 ? f->failures - 1 : 0;
	f->next_ms = f->begun_ms + backoff_ms(pause_ms, doublings, FORECASTS_PAUSE_MOST_MS);
}

/* Notes that an ask failed. Its use is not known: one processor at most since it began, to the
 * tick, which is a second. */
static void note_failure(struct forecasts *f, const char *why)
{
	f->failures++;
	f->counts.failures++;
	pause_for(f, (f->tick_ms - f->begun_ms + 1000) * 1000);
	if (strncmp(f->said, why, sizeof(f->said) - 1) == 0)
		return;
	snprintf(f->said, sizeof(f->said), "%s", why);
	log_event(f->options.log, LEVEL_WARN, "forecast-failed", "why", why, "effect",
		"start times are missing or old; Jobs start as ever", "#again_ms",
		LOG_NUMBER(f->next_ms - f->tick_ms), NULL);
}

/* ---- an ask ------------------------------------------------------------------------------------ */

static void stop_asking(struct forecasts *f)
{
	ev_io_stop(f->options.loop, &f->readable);
	ask_free(f->ask);
	f->ask = NULL;
}

static void forget_answer(struct forecasts *f)
{
	ask_free(f->answered);
	f->answered = NULL;
}

static void keep_answer(struct forecasts *f, const struct ask_answer *a)
{
	forget_answer(f);
	f->answered = f->ask;
	f->ask = NULL;
	f->answer = *a;
	f->counts.plays += a->draws;
	f->counts.cpu_us += a->cpu_us;
	f->answer_tick_ms = f->begun_ms;
	f->answer_as_of_ms = f->begun_at_ms;
	f->answer_edits = f->begun_edits;
	f->answer_runs = f->begun_runs;
	f->answer_arrivals = f->begun_arrivals;
	f->failures = 0;
	f->said[0] = '\0';
	pause_for(f, a->cpu_us);
	log_event(f->options.log, LEVEL_DEBUG, "forecast", "#jobs", LOG_NUMBER((int64_t)a->n),
		"#draws", LOG_NUMBER((int64_t)a->draws), "#cpu_ms", LOG_NUMBER(a->cpu_us / 1000),
		"#fork_us", LOG_NUMBER(f->fork_us), "#pause_ms",
		LOG_NUMBER(f->next_ms - f->begun_ms), NULL);
}

static void on_readable(struct ev_loop *loop, ev_io *w, int revents)
{
	struct forecasts *f = w->data;
	struct ask_answer answer;
	struct err e;
	(void)revents;
	int rc = ask_read(f->ask, &answer, &e);
	if (rc == 0)
		return;
	ev_io_stop(loop, w);
	if (rc > 0) {
		keep_answer(f, &answer);
		return;
	}
	stop_asking(f);
	note_failure(f, e.text);
}

static void begin_ask(struct forecasts *f, int64_t now_ms)
{
	struct ask_options o = {.now_ms = now_ms,
		.draws = ASK_DRAWS,
		.prepare = prepare,
		.begin = begin_draw,
		.tell = tell,
		.ctx = f,
		.grace_ms = PLAY_GRACE_MS,
		.play_s = FORECASTS_PLAY_S,
		.ask_ms = FORECASTS_ASK_MS};
	struct err e;
	f->begun_ms = f->tick_ms;
	f->begun_at_ms = now_ms;
	f->begun_edits = queue_edits(f->options.queue);
	f->begun_runs = guesses_runs(f->guesses);
	f->begun_arrivals = guesses_arrivals(f->guesses, now_ms);
	int64_t begun_us = monotonic_us();
	int rc = ask_begin(f->options.queue, &o, &f->ask, &e);
	f->fork_us = monotonic_us() - begun_us;
	if (rc) {
		f->ask = NULL;
		note_failure(f, e.text);
		return;
	}
	ev_io_set(&f->readable, ask_fd(f->ask), EV_READ);
	ev_io_start(f->options.loop, &f->readable);
}

/* ---- time -------------------------------------------------------------------------------------- */

static bool is_wanted(const struct forecasts *f)
{
	return f->wanted_ms > 0 && f->tick_ms - f->wanted_ms < FORECASTS_WANTED_MS;
}

static void settle_some(struct forecasts *f)
{
	int64_t end_us = monotonic_us() + SETTLE_US;
	while (!guesses_settle_some(f->guesses, SETTLE_GROUPS) && monotonic_us() < end_us)
		;
}

void forecasts_tick(struct forecasts *f, bool leads, int64_t now_ms, int64_t tick_ms)
{
	if (!f)
		return;
	f->tick_ms = tick_ms;
	if (f->wanted)
		f->wanted_ms = tick_ms;
	f->wanted = false;
	if (f->answered)
		ask_reap(f->answered);
	if (!leads) {
		stop_asking(f);
		forget_answer(f);
		return;
	}
	if (f->ask && tick_ms - f->begun_ms > FORECASTS_ASK_MS + LATE_MS) {
		stop_asking(f);
		note_failure(f, "the forecast did not end in time, and was killed");
	}
	if (!is_wanted(f))
		return;
	settle_some(f);
	if (!f->ask && tick_ms >= f->next_ms)
		begin_ask(f, now_ms);
}

void forecasts_want(struct forecasts *f)
{
	if (f)
		f->wanted = true;
}

/* ---- what is known ----------------------------------------------------------------------------- */

void forecasts_tell_run(struct forecasts *f, const struct duration_run *run, int64_t ran_ms)
{
	if (f)
		guesses_tell_run(f->guesses, run, ran_ms);
}

void forecasts_tell_arrival(struct forecasts *f, const struct job *j, int64_t now_ms)
{
	if (f)
		guesses_tell_arrival(f->guesses, j, now_ms);
}

struct guesses *forecasts_guesses(const struct forecasts *f)
{
	return f->guesses;
}

static bool has_answer(const struct forecasts *f)
{
	return f && f->answered && f->tick_ms - f->answer_tick_ms < FORECASTS_SHOWN_MS;
}

/* Whether the explanation rules out what is told: a start, though the Job cannot start as things
 * are, or not yet; or a change that somebody must make, though none is needed any more. Without any
 * edit, dates of a ConfigMap bring that about. */
static bool is_ruled_out(const struct eta *eta, const struct explanation *x)
{
	bool needs_change = wait_reason_needs_change(x->reason);
	bool time_decides = x->reason == WAIT_START_AFTER || x->reason == WAIT_WINDOW;
	if (eta->start.started == 0)
		return !needs_change && wait_reason_needs_change(eta->reason);
	return needs_change || x->reason == WAIT_LEDGER_DOWN ||
	       (time_decides && eta->start.p50_ms < x->not_before_ms);
}

bool forecasts_find(const struct forecasts *f, const struct uid *uid, const struct explanation *x,
	struct forecast *ret)
{
	if (!has_answer(f))
		return false;
	const struct eta *eta = ask_find(&f->answer, uid);
	if (!eta || eta_is_unknown(eta) || is_ruled_out(eta, x) ||
		queue_job_edited(f->options.queue, uid) > f->answer_edits)
		return false;
	*ret = (struct forecast){.start = eta->start,
		.reason = eta->reason,
		.as_of_ms = f->answer_as_of_ms,
		.told_ms = moves_told(&f->answer, eta),
		.draws = f->answer.draws,
		.runs = f->answer_runs,
		.arrivals = f->answer_arrivals};
	ret->has_moved = moves_find(&f->answer, eta, &ret->move);
	return true;
}

struct forecasts_counts forecasts_count(const struct forecasts *f)
{
	if (!f)
		return (struct forecasts_counts){.age_ms = -1};
	struct forecasts_counts c = f->counts;
	c.age_ms = has_answer(f) ? f->tick_ms - f->answer_tick_ms : -1;
	return c;
}

struct forecasts *forecasts_new(const struct forecasts_options *o)
{
	struct forecasts *f = mem_alloc(sizeof(*f));
	struct siphash_key key = {{o->seed, ~o->seed}};
	f->options = *o;
	f->guesses = guesses_new(&key);
	ev_init(&f->readable, on_readable);
	f->readable.data = f;
	return f;
}

void forecasts_free(struct forecasts *f)
{
	if (!f)
		return;
	stop_asking(f);
	forget_answer(f);
	guesses_free(f->guesses);
	free(f);
}
