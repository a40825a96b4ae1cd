/*
 * The story: the annotation sluice.dev/admission, in which the controller tells the Job's readers,
 * and its own successor, what it last did to it. One line of JSON:
 *
 *   {"attempt":2,"state":"Started","epoch":7,"at":"2026-11-21T09:58:30Z","clusterQueue":"batch",
 *    "flavors":{"cpu":"spot"},"reason":"","by":"sluice-0"}
 *
 * It is also the memory that outlives us. A start with fewer pods than asked for says how many, and
 * what the owner wrote ("pods", "parallelism", "completions"): as long as the spec still is what
 * was applied, the stop puts the owner's numbers back. What earlier attempts left behind
 * ("history": times the pods were not ready, run time used, back-off, times a window
 * or a price stopped it) goes from story to story. A stop for another Job's sake says whose
 * ("preemptor") and why ("message"); one of a run whose pods were stuck says what kept them
 * ("trouble").
 *
 * It is also the guard of every write: each PATCH of ours tests that the story is still, byte for
 * byte, the one the decision was made on, and writes the next one. So of two writers who read the
 * same story one wins, and a PATCH that was delayed for an hour finds another story and changes
 * nothing. Whoever wants to be sure that an unanswered start can no longer land writes a new story
 * first (state Fenced); only then may its reservation be voided.
 */
#ifndef SLUICE_CONTROLLER_GATE_STORY_H
#define SLUICE_CONTROLLER_GATE_STORY_H

#include <stdint.h>

#include "base/buf.h"
#include "sluice/job.h"
#include "sluice/queue.h"

#define STORY_ANNOTATION "sluice.dev/admission"
#define STORY_TEXT_MAX 4096

struct story {
	enum story_state state;
	int32_t attempt;
	int64_t epoch;
	int64_t at_ms;
	const char *clusterqueue; /* "" when none */
	const char *reason;	  /* why it was stopped or fenced, "" for a start */
	const char *by;		  /* the controller's identity */
	const char
		*preemptor; /* "namespace/name" it was stopped for, of its own namespace; or NULL */
	const char *message;		/* NULL, or a sentence to go with reason */
	const char *trouble;		/* of a stop: what kept its pods from running; or NULL */
	const struct quota_line *lines; /* of a start: which resource got which flavor */
	size_t nlines;
	int32_t pods; /* of a start with fewer pods than asked for: so many; else 0 */
	int32_t owner_parallelism,
		owner_completions; /* ... of what the owner wrote; 0: not changed */
	struct job_history history;
};

const char *story_state_name(enum story_state s); /* "Started", "Stopped", "Fenced", "" */

/* Appends the line of JSON, in max bytes if it can be (0: STORY_TEXT_MAX): what it can do without
 * is left out, the least needed first. What a start with fewer pods took down stays. A Stopped or
 * Fenced one always fits where a story of ours stands that tells of a start: annotations that are
 * full do not keep a stop from landing. */
void story_fit(const struct story *s, size_t max, struct buf *out);

/* Appends ms since the epoch as RFC 3339 in UTC, whole seconds: 2026-11-21T09:58:30Z. */
void story_time(int64_t ms, struct buf *out);

#endif
