/*
 * What will happen, and when: a heap of timed events in virtual time.
 *
 * Events come out in a total order: by time, at the same time by kind, then in the order in which
 * they were put in. The caller numbers its kinds such that what gives room back comes before what
 * asks for it. An event is never taken back. By the version that its subject had when it was put,
 * the caller sees whether it still means something: the attempt that was to end may have been
 * stopped, or have other pods.
 *
 * The simulation (cli/simulate/engine.h) and the play of a live queue (forecast/play.h) run on it.
 */
#ifndef SLUICE_BASE_AGENDA_H
#define SLUICE_BASE_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	int64_t at_ms;
	uint64_t order; /* the agenda's own */
	int kind;	/* the caller's; lower ones first */
	int32_t version;
	size_t subject;
};

struct agenda {
	struct event *heap;
	size_t count, room;
	uint64_t put; /* how many ever */
};

void agenda_init(struct agenda *a);
void agenda_done(struct agenda *a);

void agenda_put(struct agenda *a, int64_t at_ms, int kind, size_t subject, int32_t version);
/* Returns when the next event is; INT64_MAX: there is none. */
int64_t agenda_next_ms(const struct agenda *a);
/* Takes the next event that is not later than now_ms; false when there is none. */
bool agenda_take(struct agenda *a, int64_t now_ms, struct event *ret);

#endif
