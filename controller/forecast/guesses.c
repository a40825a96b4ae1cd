#include "controller/forecast/guesses.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "forecast/arrivals.h"

struct guesses {
	struct durations *durations;
	struct arrivals *arrivals;
	int64_t arrived_ms; /* the last one; arrivals want them in order */
	size_t runs;	    /* runs that were told */
	uint64_t draw;	    /* of the play, in its process */
};

struct guesses *guesses_new(const struct siphash_key *key)
{
	struct guesses *g = mem_alloc(sizeof(*g));
	g->durations = durations_new(key);
	g->arrivals = arrivals_new();
	return g;
}

void guesses_free(struct guesses *g)
{
	if (!g)
		return;
	durations_free(g->durations);
	arrivals_free(g->arrivals);
	free(g);
}

void guesses_tell_run(struct guesses *g, const struct duration_run *run, int64_t ran_ms)
{
	durations_tell(g->durations, run, ran_ms);
	g->runs++;
}

void guesses_tell_arrival(struct guesses *g, const struct job *j, int64_t now_ms)
{
	if (now_ms > g->arrived_ms)
		g->arrived_ms = now_ms; /* the clock on the wall may step back */
	arrivals_tell(g->arrivals, j, g->arrived_ms);
}

size_t guesses_runs(const struct guesses *g)
{
	return g->runs;
}

size_t guesses_arrivals(const struct guesses *g, int64_t now_ms)
{
	return arrivals_to_draw_from(g->arrivals, now_ms);
}

bool guesses_arrivals_are_young(const struct guesses *g, int64_t now_ms)
{
	return arrivals_are_young(g->arrivals, now_ms);
}

bool guesses_settle_some(struct guesses *g, size_t groups)
{
	return durations_settle_some(g->durations, groups);
}

/* ---- in the copies ----------------------------------------------------------------------------- */

void guesses_prepare(struct guesses *g)
{
	durations_settle(g->durations);
}

static int64_t length_ms(const struct job_outline *o, int64_t ran_ms, void *ctx)
{
	struct guesses *g = ctx;
	struct duration_run run = duration_run_of(o);
	enum duration_basis basis;
	return durations_draw(g->durations, &run, &o->uid, g->draw, ran_ms, &basis);
}

void guesses_begin_draw(struct guesses *g, size_t draw, int64_t now_ms,
	struct play_lengths *ret_lengths, struct play_arrivals *ret_arrivals)
{
	g->draw = draw;
	*ret_lengths = (struct play_lengths){length_ms, g};
	*ret_arrivals =
		(struct play_arrivals){arrivals_next, arrivals_draw_new(g->arrivals, draw, now_ms)};
}

void guesses_lengths(struct guesses *g, const struct job_outline *run, int64_t ran_ms, size_t draws,
	int64_t *ret_least_ms, int64_t *ret_most_ms)
{
	*ret_least_ms = INT64_MAX;
	*ret_most_ms = 0;
	for (g->draw = 0; g->draw < draws; g->draw++) {
		int64_t ms = length_ms(run, ran_ms, g);
		*ret_least_ms = least(*ret_least_ms, ms);
		*ret_most_ms = greater(*ret_most_ms, ms);
	}
}
