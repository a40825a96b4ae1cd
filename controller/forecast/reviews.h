/*
 * Reviews: people ask what would happen if something were different, and the queue is played for them
 * (forecast/ask.h): as it is, and in variants.
 *
 * A review costs seconds of a core, so there is a line:
 *   - one is played at a time. At most REVIEWS_WAIT_MAX wait, of them one of each caller and
 *     REVIEWS_EACH_MAX of each namespace. Namespaces take turns (controller/common/turns.h);
 *   - reviews about all namespaces are of admins. They have REVIEWS_EACH_MAX places of their own
 *     and go first, so that no number of tenants keeps an admin out;
 *   - a review that waits, or would have to wait, longer than REVIEWS_PATIENCE_MS is turned away;
 *   - a review has REVIEWS_CPU_S of processor time: it makes REVIEWS_DRAWS draws, or fewer where
 *     plays are long. It has REVIEWS_ASK_MS in all; the API server gives a question one minute;
 *   - after it the caller must rest, so long that this caller's reviews take a twentieth of a core.
 *     So must its namespace, for a tenth (many ServiceAccounts are many callers), and all, for a
 *     fifth. A caller that leaves before its turn rests for a moment, too;
 *   - it ends when its caller has gone, and when this controller does not lead any more.
 *
 * The loop pays a fork and a few lines of text: what is told of the plays is made in the copy.
 *
 * Left to others: who may ask what, and what is changed.
 */
#ifndef SLUICE_CONTROLLER_FORECAST_REVIEWS_H
#define SLUICE_CONTROLLER_FORECAST_REVIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/common/log.h"
#include "forecast/ask.h"

struct ev_loop;
struct guesses;
struct review;
struct reviews;

enum {
	REVIEWS_WAIT_MAX = 8, /* of namespaces, with the one that is played */
	REVIEWS_EACH_MAX = 2, /* of these, of one namespace; and beside these, of all namespaces */
	REVIEWS_DRAWS = 4,
	REVIEWS_CPU_S = 20,
	REVIEWS_PLAY_S = 10, /* of processor time for one play */
	REVIEWS_PATIENCE_MS = 20000,
	REVIEWS_ASK_MS = 30000, /* patience, this and a late end are less than a minute */
	REVIEWS_WHO_SIZE = 256,
};

struct reviews_options {
	struct ev_loop *loop;
	const struct queue *queue; /* borrowed, as the next one */
	struct guesses *guesses;
	struct log *log;
};

struct reviews *reviews_new(const struct reviews_options *o);
/* Frees reviews, before the queue and the guesses. No answer comes any more. NULL is fine. */
void reviews_free(struct reviews *r);

/* The result of a review. Valid for the call. */
struct review_answer {
	struct slice text;    /* as tell() made it */
	const char *sentence; /* NULL, or why there is no text */
	enum review_end {
		REVIEW_DONE,
		REVIEW_REFUSED, /* by the queue: what was asked about cannot be */
		REVIEW_TURNED_AWAY,
		REVIEW_FAILED,
	} end;
};

struct review_asker {
	const char *who;	     /* copied, as the next one */
	const char *ns;		     /* "": of all */
	bool (*has_gone)(void *ctx); /* says that nobody waits for the answer any more */
	/* Takes the answer; the review is freed by then. Never called from inside a call of the
	 * asker's. */
	void (*answer)(const struct review_answer *a, void *ctx);
	void *ctx;
};

/* Takes a place in the line. NULL: there is none, and the sentence says when to ask again. */
struct review *reviews_enter(struct reviews *r, const struct review_asker *asker, struct err *e);
/* Ends a review, also while it is played: no answer comes. NULL is fine. */
void review_leave(struct review *v);

/* How many runs, and Jobs that came, were learned from. */
struct review_basis {
	size_t runs, arrivals;
};

/* The plays of a review, as in struct ask_options; ctx is borrowed until the answer. */
struct review_plays {
	size_t variants;
	int (*change)(struct queue *q, size_t variant, void *ctx, struct err *e);
	/* NULL: no notes. */
	void (*decided)(const struct queue *q, size_t variant, struct buf *out, void *ctx);
	void (*tell)(const struct ask_answer *a, const struct queue *q,
		const struct review_basis *basis, struct buf *out, void *ctx);
	bool costs;
	void *ctx;
};

/* Tells, once, that the review is ready: it is played when its turn comes. */
void review_play(struct review *v, const struct review_plays *p);

/* Looks at all reviews, and begins the next. Once a second, between two passes. */
void reviews_tick(struct reviews *r, bool leads, int64_t now_ms, int64_t tick_ms);

#endif
