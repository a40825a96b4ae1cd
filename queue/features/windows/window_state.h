/*
 * A window state: what the RunPolicies of a queue together say now.
 *
 * Each ClusterQueue has one. A LocalQueue that a policy names has its own, of that policy and those
 * of its ClusterQueue; the other LocalQueues use their ClusterQueue's. All Jobs of a group have the
 * same one (group.h), so a closed window costs a look at each group and touches no Job.
 *
 * It is open only if all policies are. At a close the strictest policy counts for each run
 * (window_close.h). It is computed when a Calendar turns or a policy is edited, and costs nothing
 * in between.
 */
#ifndef SLUICE_QUEUE_FEATURES_WINDOWS_WINDOW_STATE_H
#define SLUICE_QUEUE_FEATURES_WINDOWS_WINDOW_STATE_H

#include "queue/features/windows/runpolicy.h"

struct clusterqueue;
struct localqueue;

struct window_state {
	struct runpolicy **policy; /* in name order */
	size_t npolicies;
	uint64_t hash; /* of its queue: seeds hashes in place of an address */
	bool open;
	const struct runpolicy *closed_by; /* the first that is closed or has an unknown Calendar */
	int64_t opens_ms;  /* when all are open again; CALENDAR_NEVER: not within a year */
	int64_t closes_ms; /* while open: the first close; CALENDAR_NEVER */
	bool times_fit;	   /* the fit of some policy is not Ignore: expected ends matter */
	int64_t require_ms, prefer_ms; /* a start must / should end by then; CALENDAR_NEVER: no
					  limit */
	bool hold_unknown;
	int32_t margin_permille;
};

extern const struct window_state WINDOW_STATE_ALWAYS; /* of a queue that no policy names */

struct window_state *window_state_new(uint64_t hash); /* as WINDOW_STATE_ALWAYS */
void window_state_free(struct window_state *r);

/* The state for Jobs of the LocalQueue: its own, or its ClusterQueue's; WINDOW_STATE_ALWAYS while
 * it has no ClusterQueue. */
const struct window_state *window_state_of(const struct localqueue *lq);

/* Does a start at now_ms fit that is expected to take so long (0: unknown)? While the window is
 * closed none fits. */
enum window_fit {
	WINDOW_FITS,
	WINDOW_PREFERS_LATER, /* Prefer: behind all that fit */
	WINDOW_DOES_NOT_FIT,  /* Require */
};
enum window_fit window_fit(const struct window_state *r, int64_t expected_ms, int64_t now_ms);
/* The last moment of the same answer; CALENDAR_NEVER: as long as the state is the same. */
int64_t window_fit_until_ms(const struct window_state *r, int64_t expected_ms, int64_t now_ms);

/* The duration with the safety margin. */
int64_t window_state_lasts_ms(const struct window_state *r, int64_t expected_ms);

/* Computes what the policies of the state say at another time. Borrows them. */
struct window_state window_state_at(const struct window_state *r, int64_t at_ms);

/* The next period at or after *from_ms in which a start may happen; *ret_to_ms: its last moment.
 * Under Require a start of known duration must end in time; duration_ms 0: any. False: none before
 * limit_ms. For plans of the future (Cheapest), not for decisions. */
bool window_state_next_open(const struct window_state *r, int64_t duration_ms, int64_t limit_ms,
	int64_t *from_ms, int64_t *ret_to_ms);

/* Policies came, went or changed: looks up anew which bind which queue, and touches the queues. */
void window_states_form(struct queue *q);
/* Looks up anew which policies bind one ClusterQueue, which came or goes, and its LocalQueues. */
void window_states_form_queue(struct queue *q, struct clusterqueue *cq);
/* Looks up anew which policies bind one LocalQueue. None of its Jobs may stand anywhere. */
void window_states_form_localqueue(struct queue *q, struct localqueue *lq);
/* A Calendar turned: computes the window states that depend on it, applies effective quotas, and
 * suspects runs. */
void window_states_turn(struct queue *q, struct calendar_ref *t);

/* Sleeps until there is a RunPolicy or a Calendar (window_close.c). */
extern const struct feature window_feature;

#endif
