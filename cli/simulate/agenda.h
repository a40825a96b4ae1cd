/*
 * What will happen, and when: a heap of timed events in virtual time.
 *
 * Events come out in a total order: by time, at the same time by kind (what gives room back comes
 * before what asks for it), then in the order in which they were put in. An event is never taken
 * back: the engine looks whether it still means something (the attempt that was to end may
 * have been stopped, or have other pods).
 *
 * Left to others: arrivals that are known from the beginning. They are a sorted list of their own
 * (world.h), so that this heap has only as many entries as Jobs run.
 */
#ifndef SLUICE_CLI_SIMULATE_AGENDA_H
#define SLUICE_CLI_SIMULATE_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
	EVENT_ADOPT,  /* subject: a Job that runs from the beginning; its use begins to count */
	EVENT_END,    /* subject: a Job whose attempt ends by itself */
	EVENT_DELETE, /* subject: a Job that its owner deletes */
	EVENT_FIRE,   /* subject: a CronJob that makes a Job */
	EVENT_SUBMIT, /* subject: a Job that comes now, after the preceding one of its trace */
	EVENT_LATEST, /* subject: a Job that must have started by now to meet its deadline */
	EVENT_LOOK,   /* nothing but a reason to decide */
};

struct event {
	int64_t at_ms;
	uint64_t order; /* the agenda's own */
	enum event_kind kind;
	int32_t sizes; /* EVENT_END: sim_job.sizes when this was put */
	size_t subject;
};

struct agenda {
	struct event *heap;
	size_t count, room;
	uint64_t put; /* how many ever */
};

void agenda_init(struct agenda *a);
void agenda_done(struct agenda *a);

void agenda_put(
	struct agenda *a, int64_t at_ms, enum event_kind kind, size_t subject, int32_t sizes);
/* INT64_MAX when there is nothing. */
int64_t agenda_next_ms(const struct agenda *a);
/* The next event that is not later than now_ms; false when there is none. */
bool agenda_take(struct agenda *a, int64_t now_ms, struct event *ret);

#endif
