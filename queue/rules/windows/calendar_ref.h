/*
 * Calendars by name, and who goes by them: RunPolicies and PricePlans.
 *
 * A record is made by whoever names the Calendar first, and goes when nobody does. Each has one
 * alarm, at its next change, and then tells those who go by it; nobody asks in between. Whatever
 * else may change what it says (another spec, a drop, a clock that steps) tells them too.
 *
 * A Calendar of which no valid spec was ever seen is unknown: who goes by it starts nothing and
 * stops nothing. One whose newer spec was refused goes on as it was.
 */
#ifndef SLUICE_QUEUE_RULES_WINDOWS_CALENDAR_REF_H
#define SLUICE_QUEUE_RULES_WINDOWS_CALENDAR_REF_H

#include "queue/model/alarm.h"
#include "base/list.h"
#include "sluice/calendar.h"

struct queue;

struct calendar_ref {
	char *name;
	uint32_t refs; /* policies and rates that name it, the object */
	uint64_t serial;
	struct tree_node by_name;
	struct calendar *calendar;   /* NULL: unknown */
	int64_t generation;	     /* of the spec in force */
	char *invalid;		     /* the sentence about the newest spec, when that was refused */
	bool zone_unknown;	     /* ... for its zone */
	struct calendar_state state; /* at queue.now_ms, or when the alarm last rang */
	struct alarm alarm;
	struct link policies; /* runpolicy.of_calendar_ref */
	struct link rates;    /* plan_rate.of_calendar_ref */
};

struct calendar_refs {
	struct tree all; /* by name */
	uint64_t serials;
};

void calendar_refs_init(struct calendar_refs *all);
void calendar_refs_done(struct calendar_refs *all); /* whoever named them is gone */

struct calendar_ref *calendar_ref_keep(struct queue *q, const char *name);
void calendar_ref_put(struct queue *q, struct calendar_ref *t);

/* The object exists, be it one that was refused; else the Calendar is only named. */
static inline bool calendar_ref_exists(const struct calendar_ref *t)
{
	return t->calendar || t->invalid;
}

/* The state at queue.now_ms; when the calendar is unknown: closed, until CALENDAR_NEVER. */
struct calendar_state calendar_ref_now(struct queue *q, struct calendar_ref *t);
/* Its alarm rang, or the clock went backwards: looks again, and tells the policies that go by it
 * (PricePlans have alarms of their own). */
void calendar_ref_turn(struct queue *q, struct calendar_ref *t);
/* The clock went backwards: all of them. */
void calendar_refs_turn(struct queue *q);

#endif
