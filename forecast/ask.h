/*
 * An ask: when does each Job that waits start? Answered by a copy of this process.
 *
 * ask_begin() forks. The child has the whole queue as it is at that instant, copy on write, and so
 * the caller goes on at once: to it an ask costs one fork, which is the copy of its page tables. The
 * child forks once more for each draw, one after the other, because a play (play.h) spends its queue.
 * Each of these plays with other lengths of runs, writes its starts into memory that the child
 * shares with it, and ends. The child merges them (quantiles.h), writes the answer into a pipe, and
 * ends.
 *
 * What is always true of child and grandchildren:
 *   - they have no file but stdin, stdout, stderr and the pipe. So no connection of ours stays open
 *     for them, and they open none
 *   - they write nothing but the answer; what must() says before it ends one goes to stderr
 *   - they end when we end, when ask_free() says so, and when their time is over, whichever is first
 *   - they yield the processor to us, and are the first to go when memory runs out
 *
 * A play that fails (too long, a broken belief) is left out of the answer, which says how many there
 * were. The pipe's end is non-blocking, so that an event loop can have it: ask_fd().
 */
#ifndef SLUICE_FORECAST_ASK_H
#define SLUICE_FORECAST_ASK_H

#include "base/buf.h"
#include "base/err.h"
#include "forecast/play.h"
#include "forecast/quantiles.h"

#define ASK_DRAWS 16

struct eta;

/* What may come back beside the etas: for each Job that waits, and in all. */
#define ASK_MORE_EACH 128
#define ASK_MORE_REST ((size_t)4 << 20)

struct ask_options {
	int64_t now_ms; /* of the plays' beginning */
	size_t draws;	/* 1 to QUANTILES_DRAWS_MAX */
	/* Called once, in the child, before the first play: what all plays need. NULL: nothing. */
	void (*prepare)(void *ctx);
	/* What a play is given; called in its own process. ctx is copied with the rest, so it may be
	 * changed there. */
	void (*begin)(size_t draw, struct play_lengths *ret_lengths,
		struct play_arrivals *ret_arrivals, void *ctx);
	/* Called once, in the child, when the plays are over: appends what comes back with the answer.
	 * Where that is too much, nothing of it does. NULL: nothing. */
	void (*conclude)(const struct eta *eta, size_t n, struct buf *out, void *ctx);
	void *ctx;
	int64_t horizon_ms; /* 0: PLAY_HORIZON_MS */
	int64_t grace_ms;   /* play_limits.grace_ms */
	unsigned play_s;    /* of processor time for a play, at least 1 */
	unsigned
		ask_ms; /* of real time for all of it; draws that did not begin by then are left out */
};

/* A Job that waited. */
struct eta {
	struct uid uid;
	struct quantiles start;
	enum wait_reason reason; /* in the first play in which it did not start; or WAIT_NOT */
};

struct ask_answer {
	const struct eta *eta; /* by uid; as long as the ask */
	size_t n;
	struct slice more;    /* what conclude() appended; as long as the ask */
	size_t draws;	      /* plays that this rests on; at least 1 */
	size_t cut;	      /* of them: more instants or decisions than play_limits_for() */
	int64_t plays_cpu_us; /* processor time of all plays, with the pages that they copied */
	int64_t play_cpu_most_us;
	int64_t cpu_us; /* of all of it: plays_cpu_us, and what was done around the plays */
};

struct ask;

/* ERR_BUSY: the machine gives us no process, or no pipe. q is only read. */
int ask_begin(const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e);
/* Kills what still runs, and waits until it is gone: some milliseconds at most, and no time after
 * ask_reap() was true. NULL is fine. */
void ask_free(struct ask *a);

/* Readable when ask_read() is to be called. */
int ask_fd(const struct ask *a);
/* 1: *ret is the answer. 0: not yet. ERR_BUSY: there is none, and the sentence says why. */
int ask_read(struct ask *a, struct ask_answer *ret, struct err *e);

/* After an answer, now and then: true when no process of it is left. Never waits. */
bool ask_reap(struct ask *a);

/* NULL: it did not wait. */
const struct eta *ask_find(const struct ask_answer *a, const struct uid *uid);

#endif
