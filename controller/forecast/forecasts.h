/*
 * Forecasts: when each waiting Job starts, for people who ask.
 *
 * What forecast/ needs to know is collected all the time, for it cannot be found out later: how long
 * runs took that ended well, and which Jobs came. A new leader reads the first from the ledger
 * (controller/write/recall.h). It has seen the second itself, since a standby sees Jobs come, too;
 * a process that has just begun knows of none, and for an hour little (forecast/arrivals.h).
 *
 * The queue is played (forecast/ask.h) when somebody has asked within the last minute:
 *   - one ask at a time. A pause of 19 times its processor time follows: 5 % of a core at most.
 *     What the ask costs the loop itself, the fork, counts;
 *   - at least FORECASTS_PACE_MS lie between the beginnings of two;
 *   - an ask that failed counts as if it had used a processor for as long as it took. After several
 *     in a row the pause doubles, up to FORECASTS_PAUSE_MOST_MS. The log says it once.
 *
 * The answer is kept with the moment it is of, and is told for FORECASTS_SHOWN_MS. The first to ask
 * gets none; it is there some seconds later. If a Job was changed since the answer was begun,
 * nothing is told of it until the next one.
 *
 * The loop never waits: an ask begins between two passes (the caller puts that off for a moment while
 * Jobs are being started), and its answer is read as it comes. Samples are worked out a few at a time
 * (durations_settle_some()), and what is left of them in the copy.
 *
 * What was told of a Job before, and why it is no longer true, goes from answer to answer (moves.h).
 *
 * --forecasts=off: there are none. Functions that take a struct forecasts do nothing then, with NULL.
 *
 * Who may see a forecast is the caller's business. There is no name in one, and no figure of a single
 * Job but the one asked for.
 */
#ifndef SLUICE_CONTROLLER_FORECAST_FORECASTS_H
#define SLUICE_CONTROLLER_FORECAST_FORECASTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/common/log.h"
#include "controller/forecast/forecasts_counts.h"
#include "controller/forecast/moves.h"
#include "forecast/durations.h"
#include "forecast/quantiles.h"
#include "sluice/queue.h"

struct ev_loop;
struct forecasts;
struct guesses;

#define FORECASTS_WANTED_MS 60000
#define FORECASTS_PACE_MS 5000
#define FORECASTS_PAUSE_MOST_MS (INT64_C(3600) * 1000)
/* How long an answer is told: longer than the longest pause after an ask that succeeded, which is
 * 20 times what an ask may use, FORECASTS_ASK_MS and the last play. */
#define FORECASTS_SHOWN_MS (INT64_C(15) * 60000)
#define FORECASTS_ASK_MS 30000 /* plays that have not begun by then are left out */
#define FORECASTS_PLAY_S 10    /* of processor time; a play that needs more is left out */

struct forecasts_options {
	struct ev_loop *loop;
	const struct queue *queue; /* borrowed */
	struct log *log;
	uint64_t seed; /* tenants must not know it */
};

struct forecasts *forecasts_new(const struct forecasts_options *o);
/* Frees forecasts, before the queue. NULL is fine. */
void forecasts_free(struct forecasts *f);

/* ---- what is learned from: told by every replica, whether it leads or not ---------------------- */

/* Tells that a run ended well after ran_ms. */
void forecasts_tell_run(struct forecasts *f, const struct duration_run *run, int64_t ran_ms);
/* Tells that a Job came, and waits. */
void forecasts_tell_arrival(struct forecasts *f, const struct job *j, int64_t now_ms);

/* Gives what was learned, for others that play. It lives as long as f. */
struct guesses *forecasts_guesses(const struct forecasts *f);

/* ---- asked, and told --------------------------------------------------------------------------- */

/* Tells that starts are looked at. */
void forecasts_want(struct forecasts *f);

/* Begins an ask that is due, once a second. Without leads nothing is asked, and the answer is
 * forgotten. now_ms: the clock on the wall; tick_ms: one that only goes on. */
void forecasts_tick(struct forecasts *f, bool leads, int64_t now_ms, int64_t tick_ms);

struct forecast {
	struct quantiles start;	 /* PLAY_NEVER (forecast/play.h): not in so many of the plays */
	enum wait_reason reason; /* why not, in the first of those; WAIT_NOT: it starts in all */
	int64_t as_of_ms;
	size_t draws;	 /* plays */
	size_t runs;	 /* the runs that were learned from; 0: only what was asked for is known */
	size_t arrivals; /* the earlier Jobs like which some are expected to come; 0: none are */
	int64_t told_ms; /* the p50 until it has moved (moves.h); PLAY_NEVER: none */
	bool has_moved;
	struct move move; /* has_moved */
};

/* Gives the forecast of a Job. False: there is none, or only an old one. It is old after
 * FORECASTS_SHOWN_MS; when its basis has changed since it was begun (queue_job_edited()); and when
 * x, the explanation of the Job now, rules it out. */
bool forecasts_find(const struct forecasts *f, const struct uid *uid, const struct explanation *x,
	struct forecast *ret);

/* Counts, for operators. */
struct forecasts_counts forecasts_count(const struct forecasts *f);

#endif
