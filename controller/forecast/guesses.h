/*
 * Guesses: what plays of the queue need and nobody knows: how long runs take, and which Jobs come.
 *
 * Both are learned from what was (forecast/durations.h, forecast/arrivals.h). Forecasts tell what
 * happens, and play with it; reviews (reviews.h) play with the same.
 *
 * A draw is a number. In all plays of that number each Job takes equally long and the same Jobs
 * come, whatever else is different: so two plays can be compared.
 */
#ifndef SLUICE_CONTROLLER_FORECAST_GUESSES_H
#define SLUICE_CONTROLLER_FORECAST_GUESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "forecast/durations.h"
#include "forecast/play.h"

struct guesses;

struct guesses *guesses_new(const struct siphash_key *key);
void guesses_free(struct guesses *g);

/* Tells that a run ended well after ran_ms. */
void guesses_tell_run(struct guesses *g, const struct duration_run *run, int64_t ran_ms);
/* Tells that a Job came, and waits. */
void guesses_tell_arrival(struct guesses *g, const struct job *j, int64_t now_ms);

/* Count what was learned from: runs, and Jobs that came. */
size_t guesses_runs(const struct guesses *g);
size_t guesses_arrivals(const struct guesses *g, int64_t now_ms);
bool guesses_arrivals_are_young(const struct guesses *g, int64_t now_ms);

/* Works out some samples, as durations_settle_some(), in the process that is copied. */
bool guesses_settle_some(struct guesses *g, size_t groups);

/* ---- in the copies (forecast/ask.h) ------------------------------------------------------------ */

/* Works out the rest, before the first play. */
void guesses_prepare(struct guesses *g);
/* Begins a draw, in the process of the play, which begins at now_ms. */
void guesses_begin_draw(struct guesses *g, size_t draw, int64_t now_ms,
	struct play_lengths *ret_lengths, struct play_arrivals *ret_arrivals);
/* Tells how long a run that has lasted ran_ms takes in all, at least and at most, by so many
 * draws. */
void guesses_lengths(struct guesses *g, const struct job_outline *run, int64_t ran_ms, size_t draws,
	int64_t *ret_least_ms, int64_t *ret_most_ms);

#endif
