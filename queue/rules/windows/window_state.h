/*
 * A regime: what the RunPolicies of a queue together say now.
 *
 * A ClusterQueue has one; a LocalQueue that a policy names has its own, which joins that policy and
 * those of its ClusterQueue; every other LocalQueue has its ClusterQueue's. Groups stand for one
 * regime (group.h), so a closed window costs a look at each group and touches no Job.
 *
 * Open only if all are open; of what happens at the close the strictest holds for each run
 * (window_close.h). It is computed when a Calendar turns or a policy is edited, and costs nothing in
 * between.
 */
#ifndef SLUICE_QUEUE_RULES_WINDOWS_WINDOW_STATE_H
#define SLUICE_QUEUE_RULES_WINDOWS_WINDOW_STATE_H

#include "queue/rules/windows/runpolicy.h"

struct group;
struct localqueue;

struct window_state {
	struct runpolicy **policy; /* in name order */
	size_t npolicies;
	uint64_t hash; /* of whose it is: seeds hashes in place of an address */
	bool open;
	const struct runpolicy *closed_by; /* the first that is closed, or not understood */
	int64_t opens_ms;  /* when all are open again; CALENDAR_NEVER: not within a year */
	int64_t closes_ms; /* while open: the first close; CALENDAR_NEVER */
	bool times_fit;	   /* the fit of some policy is not Ignore: expected ends matter */
	int64_t require_ms, prefer_ms; /* who starts has / had better have ended by then;
					  CALENDAR_NEVER: whenever */
	bool hold_unknown;
	int32_t margin_permille;
};

extern const struct window_state WINDOW_STATE_ALWAYS; /* of a queue that no policy names */

struct window_state *window_state_new(uint64_t hash); /* as WINDOW_STATE_ALWAYS */
void window_state_free(struct window_state *r);

/* Whose Jobs go by it: its own, or its ClusterQueue's; WINDOW_STATE_ALWAYS while it is in none. */
const struct window_state *window_state_of(const struct localqueue *lq);

/* What fit says of a start at now_ms that is expected to take so long; 0: unknown. Whoever starts
 * while the regime is closed does not fit. */
enum window_fit {
	WINDOW_FITS,
	WINDOW_PREFERS_LATER, /* Prefer: behind those that fit */
	WINDOW_DOES_NOT_FIT,  /* Require */
};
enum window_fit window_fit(const struct window_state *r, int64_t expected_ms, int64_t now_ms);
/* The last moment at which it says the same of it; CALENDAR_NEVER: as long as the regime stands. */
int64_t window_fit_until_ms(const struct window_state *r, int64_t expected_ms, int64_t now_ms);

/* With the safety margin. */
int64_t window_state_lasts_ms(const struct window_state *r, int64_t expected_ms);

/* The policies are what they are; the rest is made right for now_ms. */
void window_state_compute(struct window_state *r, int64_t now_ms);

/* The next stretch of time at or after *from_ms in which a start may happen: *ret_to_ms is its last
 * moment. For runs of known duration under Require, starts that end in time; duration_ms 0: any.
 * False: none before limit_ms. For plans of the future (Cheapest), not for decisions. */
bool window_state_next_open(const struct window_state *r, int64_t duration_ms, int64_t limit_ms,
	int64_t *from_ms, int64_t *ret_to_ms);

#endif
