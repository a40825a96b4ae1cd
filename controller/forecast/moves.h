/*
 * Moves: which Jobs start at another time than was told, and what is known of why.
 *
 * Each answer (forecast/ask.h) comes with a memory of itself, by which the next one is judged:
 *
 *   told      for each Job that waits: the p50 that was told of it, and in which answer;
 *   moved     where that is no longer true: until when it was so, and the reasons;
 *   facts     what happened in its Cohort tree, answer by answer;
 *   objects   editions of what admins describe;
 *   runs      when each run was to end in the plays, at the earliest and at the latest;
 *   arrivals  from how many Jobs the plays drew those to come, and whether these were young.
 *
 * A start has moved when the new p50 differs from the one that was told by more than
 * MOVES_LEAST_MS, and by more than a quarter of the wait that was left then. From then on the new
 * one is what was told. So a slow drift is told of as well, once it is large enough.
 *
 * Reasons are facts of the time between those two answers, and only such as may move the start that
 * way:
 *
 *   - the Job itself was changed: its priority, queue, pods, or how long it is expected to take;
 *   - objects of admins by which its Cohort tree decides have another edition (by their names), or
 *     were removed;
 *   - how many Jobs of the tree came since, and start before it;
 *   - how many Jobs of the tree are gone though they were to start later than now, or do not start
 *     any more;
 *   - how many runs of the tree went on for longer than in every play, ended sooner than in any, or
 *     were stopped before they were to end at the latest;
 *   - how many nodes came or went;
 *   - more Jobs are expected to come, while arrivals are young (forecast/arrivals.h): with each
 *     that comes plays expect more, and again once an hour is known.
 *
 * Where no reason is known the words say so, and what it may be. No Job is named.
 *
 * The memory is made in the child that answers, where the queue is that of the answer: it costs the
 * loop nothing but the reading. It is bounded: 32 bytes for each Job that waits, 64 for each that
 * has moved, MOVES_RUNS_MAX runs, MOVES_OBJECTS_MAX objects, MOVES_FACTS_MAX facts (then counts say
 * "at least").
 */
#ifndef SLUICE_CONTROLLER_FORECAST_MOVES_H
#define SLUICE_CONTROLLER_FORECAST_MOVES_H

#include "base/buf.h"
#include "forecast/ask.h"

#define MOVES_LEAST_MS (INT64_C(10) * 60000)
#define MOVES_RUNS_MAX 20000
#define MOVES_OBJECTS_MAX 20000
#define MOVES_FACTS_MAX 8192
#define MOVES_NAMES 3 /* of objects, for one move */

/* The basis of an answer. */
struct moves_world {
	const struct queue *queue; /* as it was when the answer was asked for */
	int64_t now_ms;		   /* of that moment */
	/* Tells how long a run that has lasted ran_ms takes in all, at least and at most, by the
	 * plays. */
	void (*lasts)(const struct job_outline *run, int64_t ran_ms, int64_t *ret_least_ms,
		int64_t *ret_most_ms, void *ctx);
	void *ctx;
	size_t arrivals; /* how many Jobs the plays draw from */
	bool arrivals_are_young;
};

/* Appends the memory of an answer that has these etas. before: the last answer; NULL: none. */
void moves_remember(const struct moves_world *w, const struct ask_answer *before,
	const struct eta *eta, size_t n, struct buf *out);

/* The facts that explain a move, in the order in which they are told. */
enum move_fact {
	MOVE_OBJECT,
	MOVE_CAME, /* a Job */
	MOVE_GONE,
	MOVE_LONGER, /* a run */
	MOVE_SOONER,
	MOVE_STOPPED,
	MOVE_NODE_CAME,
	MOVE_NODE_WENT,
	MOVE_MORE_TO_COME, /* Jobs */
	MOVE_FACTS,
};

struct move_why {
	uint32_t count[MOVE_FACTS];
	bool partial; /* more may have happened than was kept */
};

struct move {
	int64_t from_ms; /* what was told before */
	int64_t at_ms;	 /* until then */
	bool is_later;
	bool itself; /* the Job was changed */
	struct move_why why;
	/* Some of the objects that were changed. */
	/* Valid as long as the answer. NULL: no more; "": the object was removed. */
	const char *kind[MOVES_NAMES], *name[MOVES_NAMES];
	bool is_new[MOVES_NAMES]; /* in the tree */
};

/* Finds the move of a Job's start. False: it has not moved much, or nothing was told of it
 * before. */
bool moves_find(const struct ask_answer *a, const struct eta *eta, struct move *ret);

/* Gives the start that is told of the Job until it has moved; PLAY_NEVER: none. */
int64_t moves_told(const struct ask_answer *a, const struct eta *eta);

/* Says why, as a part of a sentence: "ClusterQueue batch was changed, 3 new Jobs start before
 * it". */
void moves_say_why(const struct move *m, struct buf *out);

#endif
