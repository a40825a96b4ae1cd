/*
 * Outcomes: what became of Jobs, by their names, as the ledger has it. Those that wait for a Job that is
 * gone (sluice.dev/after) are judged by that.
 *
 * It has a connection of its own, so that no admission waits for it. The connection is made with the
 * first question and closed when there was none for a minute. One question at a time, of a bounded
 * number of names; of each name the newest Jobs. What retention has forgotten is not known here.
 *
 * The history does not change, so no lease is asked: a question of a leader that was replaced is
 * answered like any other.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_OUTCOMES_H
#define SLUICE_CONTROLLER_LEDGER_OUTCOMES_H

#include <stdbool.h>
#include <stddef.h>

#include "controller/common/log.h"
#include "controller/ledger/ledger.h"

#define OUTCOMES_NAMES_MAX 200 /* in a question */
#define OUTCOMES_OF_EACH 4     /* Jobs of a name, the newest */

struct ev_loop;
struct outcomes;

struct outcomes_options {
	const char *conninfo, *cell; /* borrowed as long as it lives */
	struct log *log;	     /* NULL: says nothing */
	uint64_t seed;
	/* Exactly once for each outcomes_ask(), from the loop. LEDGER_LOST: ask again later. */
	void (*answered)(
		enum ledger_outcome o, const struct ledger_outcome_row *rows, size_t n, void *ctx);
	void *ctx;
};

struct outcomes *outcomes_new(struct ev_loop *loop, const struct outcomes_options *o);
void outcomes_free(struct outcomes *x); /* not from inside an answer */

struct outcomes_name {
	const char *ns, *name;
};

/* No question is under way. */
bool outcomes_idle(const struct outcomes *x);
/* Names are copied. Of an idle one; it is answered LEDGER_LOST where the ledger cannot be reached. */
void outcomes_ask(struct outcomes *x, const struct outcomes_name *names, size_t n);
/* About once a second: closes a connection that nobody needs. tick_ms: a clock that is never set. */
void outcomes_tick(struct outcomes *x, int64_t tick_ms);

#endif
