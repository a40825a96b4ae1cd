/*
 * An ask: when does each Job that waits start? Answered by a copy of this process.
 *
 * ask_begin() forks. The child has the whole queue as it is at that instant, copy on write, and so
 * the caller goes on at once: to it an ask costs one fork, which is the copy of its page tables. The
 * child forks once more for each draw, one after the other, because a play (play.h) spends its queue.
 * Each of these plays with other lengths of runs, writes its starts into memory that the child
 * shares with it, and ends. The child merges them (quantiles.h), sends the answer, and ends.
 *
 * What is always true of child and grandchildren:
 *   - base/child.h holds for them, and they open no file.
 *   - they write nothing but the answer. What must() says before it ends one goes to stderr.
 *   - they end also when ask_free() says so, and when their time is over.
 *   - a play takes at most ASK_PLAY_GROWS_MAX more memory, beside the pages that it copies.
 *
 * A play whose processor time is over is cut off, and what started until then counts. A play that
 * fails (it hangs, a broken belief, no memory) is left out of the answer, which says how many there
 * were. Our end is non-blocking, so that an event loop can have it: ask_fd().
 *
 * One ask may compare several variants of the queue. Variant 0 is the queue as it is. The caller
 * changes each other one (change) in the process of the play, before the play begins. In one draw
 * lengths and arrivals are the same in all variants, so two of them differ only by what the change
 * does. A draw counts for a variant when its plays there and in variant 0 came to their end.
 *
 * The answer is etas, and a text that the caller makes of them in the child (tell), where it keeps
 * no event loop from its work. Where the text says all that is wanted, etas stay behind
 * (text_only).
 */
#ifndef SLUICE_FORECAST_ASK_H
#define SLUICE_FORECAST_ASK_H

#include "base/buf.h"
#include "base/err.h"
#include "forecast/play.h"
#include "forecast/quantiles.h"

#define ASK_DRAWS 16
#define ASK_VARIANTS_MAX 9
#define ASK_REFUSAL_SIZE 512
#define ASK_PLAY_GROWS_MAX ((uint64_t)256 << 20) /* bytes */
/* Bytes that tell() may append: ASK_TEXT_EACH for each Job that waits, and ASK_TEXT_REST more. A
 * longer text is left out. */
#define ASK_TEXT_EACH 128
#define ASK_TEXT_REST ((size_t)4 << 20)
#define ASK_NOTE_SIZE ((size_t)64 << 10) /* of decided(), for each variant */

struct ask_answer;
struct board; /* where plays write their starts */

struct ask_options {
	int64_t now_ms; /* of the plays' beginning */
	size_t draws;	/* 1 to QUANTILES_DRAWS_MAX */
	/* Called once, in the child, before the first play, for what all plays need. NULL:
	 * nothing. */
	void (*prepare)(void *ctx);
	/* Says what a play is given. Called in its process, of which ctx is a copy that may
	 * change. */
	void (*begin)(size_t draw, struct play_lengths *ret_lengths,
		struct play_arrivals *ret_arrivals, void *ctx);
	void *ctx;
	int64_t horizon_ms; /* 0: PLAY_HORIZON_MS */
	int64_t grace_ms;   /* play_limits.grace_ms */
	unsigned play_s;    /* of processor time for a play, at least 1 */
	unsigned
		ask_ms; /* of real time for all of it; draws that did not end by then are left out */

	size_t variants; /* 0 or 1: the queue as it is, alone; draws * variants <= QUANTILES_DRAWS_MAX */
	/* Makes q, in a process of its own, what variant (1 and above) is to be. ERR_INVALID: it cannot
	 * be, and the sentence comes back to the caller. NULL with one variant. */
	int (*change)(struct queue *q, size_t variant, void *ctx, struct err *e);
	/* Appends the note of a variant (1 and above), up to ASK_NOTE_SIZE: ask_note(). Called in
	 * the process of the first play that comes to its first decisions. A longer note is left
	 * out. NULL: no notes. */
	void (*decided)(const struct queue *q, size_t variant, struct buf *out, void *ctx);
	/* Appends the answer's text. Called once, in the child, after the last play; q is the queue
	 * as it was before all plays. NULL: no text. */
	void (*tell)(const struct ask_answer *a, const struct queue *q, struct buf *out, void *ctx);
	bool text_only; /* no etas come back; a text that is too long is no answer */
	bool costs;	/* play_limits.costs */
	/* Seconds of processor time for all plays; 0: no bound. A play that would probably exceed
	 * it does not begin, unless it is the first. */
	unsigned all_s;
};

/* When a Job that waited starts. */
struct eta {
	struct uid uid;
	struct quantiles start;
	enum wait_reason reason; /* in the first play in which it did not start; or WAIT_NOT */
	uint32_t unknown; /* plays that were cut off before it started: there it never starts */
};
/* Tells whether the median start lies behind the end of plays that were cut off. */
bool eta_is_unknown(const struct eta *eta);

/* What is known of a variant beside its etas. */
struct ask_variant {
	size_t draws;			/* plays that the variant's etas rest on */
	struct play_costs costs;	/* of one play on average */
	char refused[ASK_REFUSAL_SIZE]; /* "", or why it cannot be */
};

struct ask_answer {
	const struct eta *eta; /* of variant 0, by uid; then of the others. As long as the ask */
	size_t n;	       /* of each variant: the same Jobs */
	size_t draws; /* plays of variant 0. At least 1, or all other variants were refused at once */
	size_t cut;   /* of draws: more instants or decisions than play_limits_for(), or too long */
	size_t variants;
	const struct ask_variant *variant;
	struct slice text;	   /* of tell(); "" where there is none */
	int64_t now_ms;		   /* as asked */
	const struct board *board; /* in tell(): ask_eta() reads it where there are no etas */
	const struct uid *uid;
	int64_t plays_cpu_us; /* processor time of all plays, with the pages that they copied */
	int64_t play_cpu_most_us;
	int64_t cpu_us; /* plays_cpu_us, and what was done around the plays */
};

struct ask;

/* Forks the child; q is only read. ERR_BUSY: the machine gives us no process, or no socket. */
int ask_begin(const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e);
/* Kills what still runs, and waits until it is gone: some milliseconds at most, and no time after
 * ask_reap() was true. NULL is fine. */
void ask_free(struct ask *a);

/* Returns a descriptor that is readable when ask_read() is to be called. */
int ask_fd(const struct ask *a);
/* Reads what has come. 1: *ret is the answer. 0: not yet. ERR_BUSY: there is none, and the sentence
 * says why. */
int ask_read(struct ask *a, struct ask_answer *ret, struct err *e);

/* Reaps after an answer, now and then: true when no process of the ask is left. Never waits. */
bool ask_reap(struct ask *a);

/* Finds a Job's eta of variant 0; NULL: the Job did not wait. Not with text_only. */
const struct eta *ask_find(const struct ask_answer *a, const struct uid *uid);

/* Returns a Job's index below n; SIZE_MAX: it did not wait. */
size_t ask_index(const struct ask_answer *a, const struct uid *uid);
/* Returns a Job's eta in a variant. In a variant without draws it never starts, for no reason. */
struct eta ask_eta(const struct ask_answer *a, size_t variant, size_t index);

/* Returns, in tell(), the note of a variant; "" where decided() said nothing, or was never
 * called. */
struct slice ask_note(const struct ask_answer *a, size_t variant);

#endif
