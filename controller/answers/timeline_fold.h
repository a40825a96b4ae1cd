/*
 * The fold of a timeline: many Jobs become few bars.
 *
 * Alike Jobs become one bar: Jobs of one lane, namespace, sweep and state whose starts lie in the
 * same 96th of the stretch. A line of 1,200 pixels shows no more than that: a 96th is 12 of them.
 * Parts are counted from the epoch, so that a bar is the same in a later answer about a stretch that is
 * as long: of 24 hours, each quarter of an hour is a part.
 *
 * What is left may still be too much, for a tenant may name 20,000 Jobs as no other is named. So
 * there are caps, and they are fair:
 *   - TIMELINE_BARS_MAX bars in all. Lanes that ask for little have all of it, the others the same;
 *   - TIMELINE_LANE_MAX bars of a lane, shared in the same way by its namespaces, and by what a
 *     namespace holds and what it expects.
 * Of a share the earliest starts are kept. Jobs that are in no bar are counted.
 *
 * Pure: the same items give the same bars, in whichever order they come.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_TIMELINE_FOLD_H
#define SLUICE_CONTROLLER_ANSWERS_TIMELINE_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"

enum { TIMELINE_PARTS = 96, TIMELINE_LANE_MAX = 200, TIMELINE_BARS_MAX = 2000 };

enum bar_state {
	BAR_RUNNING,
	BAR_STARTING,
	BAR_STOPPING,
	BAR_EXPECTED, /* the last one: all others hold quota */
};

/* A Job on the axis. Texts are borrowed; times are ms, 0: not known. */
struct bar_item {
	size_t lane;
	enum bar_state state;
	const char *ns, *name, *sweep;
	struct uid uid;
	int64_t from_ms; /* always known */
	int64_t p90_ms, until_ms, stops_ms, deadline_ms;
	bool certain; /* time alone decides the start */
	int64_t part; /* in which 96th it starts; set by the fold */
};

struct bar {
	const struct bar_item *item; /* those of the bar, the earliest start first */
	size_t n;
	int64_t p90_ms, until_ms;      /* of the last one; 0 where one of them is not known */
	int64_t stops_ms, deadline_ms; /* the earliest; 0: there is none */
};

struct bars {
	struct bar *bar; /* by lane, start, namespace and name */
	size_t n;
	size_t *left_out; /* Jobs that are in no bar, for each lane */
};

/* Folds for a stretch that is so long. Sorts the items, which the bars borrow. */
struct bars timeline_fold(struct bar_item *item, size_t n, size_t nlanes, int64_t span_ms);
void bars_done(struct bars *b);

/* Shares `most` among n that want something: who wants no more than the others get has it all. */
void fair_shares(const size_t *wants, size_t n, size_t most, size_t *ret_shares);

#endif
