/*
 * A reservation as it is asked for: the texts of the command line (options.h), resolved into one
 * AdvanceReservation, as an object and in words.
 *
 * Always true of a plan that was made:
 * - Each amount names a resource; the command line may leave it out where the flavor has only one
 *   in that ClusterQueue.
 * - It ends later than it begins, is not over, and ends within the time that can be booked.
 * - Its name is that of the command line, or one that the same command always makes. So a command
 *   that is given twice on a day reserves once: the API server refuses the second.
 *
 * Left to others: whether it can be kept. That is the queue's to say.
 */
#ifndef SLUICE_CLI_RESERVE_PLAN_H
#define SLUICE_CLI_RESERVE_PLAN_H

#include "base/buf.h"
#include "cli/moment.h"
#include "cli/reserve/options.h"
#include "base/json.h"

enum { PLAN_NAME_SIZE = 254, PLAN_RESOURCE_SIZE = 318 };

struct reserve_plan {
	const struct reserve_options *o; /* borrowed */
	char name[PLAN_NAME_SIZE];
	struct moment from, until; /* set when there is no Calendar */
	/* The resource of each o->amount, at its index; "" for all of the flavor. */
	char resource[ADVANCE_AMOUNTS_MAX][PLAN_RESOURCE_SIZE];
};

/* True if an amount names no resource: then the ClusterQueue has to be read. */
bool reserve_plan_wants_queue(const struct reserve_options *o);

/* Makes the plan. clusterqueue: the object, or NULL where it is not wanted. own: the zone of the
 * user's clock. ERR_INVALID: what was asked for makes no sense. */
int reserve_plan_make(const struct reserve_options *o, const cJSON *clusterqueue, int64_t now_ms,
	const struct zone *own, struct reserve_plan *ret, struct err *e);
void reserve_plan_done(struct reserve_plan *p); /* all zero is fine */

/* Makes the object: a tree of cJSON's own memory, yours. */
cJSON *reserve_plan_object(const struct reserve_plan *p);

/* Appends some lines: what, when (in the zone that was written, and in UTC), for which Jobs. */
void reserve_plan_render(const struct reserve_plan *p, struct buf *out);

#endif
