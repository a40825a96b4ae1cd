/*
 * What happens when, in virtual time: a heap of events in a total order, time and then the order in
 * which they were made. The events own nothing; what they point to lives in the world's pool.
 */
#ifndef SLUICE_TEST_SIM_TIMELINE_H
#define SLUICE_TEST_SIM_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim;

struct event {
	int64_t at_ms;
	uint64_t seq;
	void (*run)(struct sim *s, void *arg);
	void *arg;
};

struct timeline {
	struct event *heap;
	size_t count, room;
	uint64_t next_seq;
};

void timeline_done(struct timeline *t);
void timeline_add(
	struct timeline *t, int64_t at_ms, void (*run)(struct sim *s, void *arg), void *arg);
bool timeline_take(struct timeline *t, struct event *ret); /* the next; false when there is none */

#endif
