/*
 * When each Job is due: a binary heap by time, intrusive, so that a Job's alarm can be moved or
 * taken back at once. Ties go to the alarm that was set first.
 */
#ifndef SLUICE_CONTROLLER_GATE_DUE_H
#define SLUICE_CONTROLLER_GATE_DUE_H

#include <stddef.h>
#include <stdint.h>

struct alarm {
	int64_t at_ms;
	uint64_t seq;
	size_t place; /* index in the heap + 1; 0: not set */
};

struct due {
	struct alarm **heap;
	size_t count, room;
	uint64_t next_seq;
};

void due_done(struct due *d);
void due_set(struct due *d, struct alarm *a, int64_t at_ms); /* sets or moves */
void due_clear(struct due *d, struct alarm *a);		     /* fine when not set */
int64_t due_next_ms(const struct due *d);		     /* INT64_MAX when none is set */
struct alarm *due_take(struct due *d, int64_t now_ms); /* the first that is due, cleared; or NULL */

#endif
