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
#ifndef SLUICE_QUEUE_TIMETABLE_H
#define SLUICE_QUEUE_TIMETABLE_H

#include "queue/alarm.h"
#include "queue/list.h"
#include "sluice/calendar.h"

struct queue;

struct timetable {
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
	struct link policies; /* runpolicy.of_timetable */
	struct link rates;    /* plan_rate.of_timetable */
};

struct timetables {
	struct tree all; /* by name */
	uint64_t serials;
};

void timetables_init(struct timetables *all);
void timetables_done(struct timetables *all); /* whoever named them is gone */

struct timetable *timetable_keep(struct queue *q, const char *name);
void timetable_put(struct queue *q, struct timetable *t);

/* The object exists, be it one that was refused; else the Calendar is only named. */
static inline bool timetable_exists(const struct timetable *t)
{
	return t->calendar || t->invalid;
}

/* The state at queue.now_ms; when the calendar is unknown: closed, until CALENDAR_NEVER. */
struct calendar_state timetable_now(struct queue *q, struct timetable *t);
/* Its alarm rang, or the clock went backwards: looks again, and tells the policies that go by it
 * (PricePlans have alarms of their own). */
void timetable_turn(struct queue *q, struct timetable *t);
/* The clock went backwards: all of them. */
void timetables_turn(struct queue *q);

#endif
