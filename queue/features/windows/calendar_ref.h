/*
 * Calendars by name, and the RunPolicies, PricePlans and AdvanceReservations that use them.
 *
 * A record is made when something first names the Calendar, and freed with the last reference. Its
 * one alarm is its next change; then it tells its policies and plans, which do not poll. It tells
 * them also when its spec changes, it is dropped, or the clock steps.
 *
 * A Calendar without any valid spec yet is unknown: policies with it start nothing and stop
 * nothing. If a newer spec is refused, the old one stays in force.
 */
#ifndef SLUICE_QUEUE_FEATURES_WINDOWS_CALENDAR_REF_H
#define SLUICE_QUEUE_FEATURES_WINDOWS_CALENDAR_REF_H

#include "queue/core/model/alarm.h"
#include "base/list.h"
#include "queue/core/model/named_object.h"
#include "sluice/calendar.h"

struct queue;

struct calendar_ref {
	struct named_object object;
	uint32_t refs; /* policies, rates and AdvanceReservations that name it, the object */
	struct calendar *calendar; /* NULL: unknown */
	int64_t generation;	   /* of the spec in force */
	bool zone_unknown;	   /* its newest spec was refused for its zone */
	/* When the alarm last rang; while the Calendar is unknown: closed, until CALENDAR_NEVER. */
	struct calendar_state state;
	struct alarm alarm;
	struct link policies; /* runpolicy.of_calendar_ref */
	struct link rates;    /* plan_rate.of_calendar_ref */
	struct link reserved; /* advance_reservation.of_calendar_ref */
};

void calendar_refs_done(struct named_objects *all); /* nothing names them any more */

struct calendar_ref *calendar_ref_keep(struct queue *q, const char *name);
void calendar_ref_put(struct queue *q, struct calendar_ref *t);

/* The object exists, valid or refused; else the Calendar is only named. */
static inline bool calendar_ref_exists(const struct calendar_ref *t)
{
	return t->calendar || t->object.invalid;
}

/* The alarm of the Calendar rang, or the clock was set back: looks again, and tells RunPolicies.
 * (PricePlans have alarms of their own.) */
void calendar_ref_turn(struct queue *q, struct calendar_ref *t);
/* The clock was set back: all Calendars. */
void calendar_refs_set_back(struct queue *q);

#endif
