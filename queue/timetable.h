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
	uint32_t refs;
	uint64_t serial;
	struct tree_node by_name;
	struct calendar *calendar; /* NULL: unknown */
	struct zone *zone;
	int64_t generation;
	char *invalid;		     /* the sentence about the newest spec, when that was refused */
	struct calendar_state state; /* at queue.now_ms, or when the alarm last rang */
	struct alarm alarm;
	struct link policies; /* runpolicy.of_timetable */
	struct link rates;    /* plan_rate.of_timetable */
};

struct timetable *timetable_keep(struct queue *q, const char *name);
void timetable_put(struct queue *q, struct timetable *t);

/* The state at queue.now_ms; when the calendar is unknown: closed, until CALENDAR_NEVER. */
struct calendar_state timetable_now(struct queue *q, struct timetable *t);
/* Its alarm rang, or the clock went backwards: looks again, and tells who goes by it. */
void timetable_turn(struct queue *q, struct timetable *t);

#endif
