/*
 * The child of an ask: plays the queue as it was at the fork, once for each draw and variant, merges what
 * the plays found, and sends the answer.
 *
 * Three processes: the caller (ask.c), the child, and one play at a time, which spends its copy of
 * the queue and leaves its starts on the board (board.h).
 */
#ifndef SLUICE_FORECAST_ASK_CHILD_H
#define SLUICE_FORECAST_ASK_CHILD_H

#include "forecast/ask.h"

/* The beginning of an answer. The variants, their etas and the text follow. */
struct ask_head {
	uint64_t n, draws, cut, text_len;
	int64_t plays_cpu_us, play_cpu_most_us, cpu_us;
};

struct ask_child {
	const struct queue *q;
	const struct ask_options *o;
	size_t most; /* ask_count_jobs() */
};

/* Plays, merges and answers, in the child (child_start()). ctx: struct ask_child. */
void ask_child_run(void *ctx);

/* ---- What both ends go by ---- */

static inline size_t ask_variants_of(const struct ask_options *o)
{
	return o->variants > 1 ? o->variants : 1;
}

static inline size_t ask_text_max(size_t jobs)
{
	return jobs * ASK_TEXT_EACH + ASK_TEXT_REST;
}

size_t ask_count_jobs(const struct queue *q);
int ask_by_uid(const void *a, const void *b);

#endif
