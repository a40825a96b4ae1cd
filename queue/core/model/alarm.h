/*
 * Alarms: moments at which time alone changes an answer. They stand in one tree, the next one
 * first, so that nothing has to be polled.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_ALARM_H
#define SLUICE_QUEUE_CORE_MODEL_ALARM_H

#include "base/tree.h"

enum alarm_kind {
	ALARM_RUN,	  /* a run may have gone on for too long (run.h) */
	ALARM_BACKFILL,	  /* a run did not end when it was expected to (backfill.h) */
	ALARM_PLAN,	  /* a price changes (plan.h) */
	ALARM_BUDGET,	  /* a period ends, or a Budget may be used up (budget.h) */
	ALARM_KEPT_START, /* a Job may start that bookings kept from it (kept_start.h) */
	ALARM_IMPROVE,	  /* booked starts may be made better (booked_start.h) */
	ALARM_TERMS,	  /* a Job's terms may have another answer (terms.h) */
	ALARM_CALENDAR,	  /* a Calendar changes (calendar_ref.h) */
	ALARM_FIT,	  /* the head does not fit its window any more (nominate.h) */
	ALARM_LEAD,	  /* a window opens soon (lead.h) */
	ALARM_DEPENDENCY, /* a Job waits in vain for long enough (dependency_wait.h) */
	ALARM_WANTED,	  /* a question is asked again (wanted.h) */
	ALARM_GROWTH,	  /* a run may grow now (growth.h) */
	ALARM_ADVANCE,	  /* an AdvanceReservation begins, ends, gives back or is judged again */
	ALARM_GROWN, /* a run has run its minRun, and a Job waits that may preempt it (pass.h) */
};

struct alarm {
	struct tree_node node;
	int64_t at_ms;
	enum alarm_kind kind;
	uint64_t serial; /* of its owner, unique within the kind */
	void *owner;	 /* if the alarm is not embedded in it */
};

void alarms_init(struct tree *alarms);

/* Says whose alarm it is. The same may be said again while it is set. */
void alarm_init(struct alarm *a, enum alarm_kind kind, uint64_t serial, void *owner);

/* Replaces the moment that it was set to. INT64_MAX: never. */
void alarm_set(struct tree *alarms, struct alarm *a, int64_t at_ms);
void alarm_clear(struct tree *alarms, struct alarm *a);

/* INT64_MAX: it is not set. */
int64_t alarm_at(const struct alarm *a);

/* Takes out the first that is due; NULL when none is. */
struct alarm *alarms_take(struct tree *alarms, int64_t now_ms);
/* The moment of the next alarm; INT64_MAX when there is none. */
int64_t alarms_next(const struct tree *alarms);

#endif
