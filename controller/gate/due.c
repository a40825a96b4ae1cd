#include "controller/gate/due.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

void due_done(struct due *d)
{
	free(d->heap);
	*d = (struct due){0};
}

static bool before(const struct alarm *a, const struct alarm *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->seq < b->seq;
}

static void put(struct due *d, size_t i, struct alarm *a)
{
	d->heap[i] = a;
	a->place = i + 1;
}

/* Moves the alarm at i to where it belongs. */
static void settle(struct due *d, size_t i)
{
	struct alarm *a = d->heap[i];
	for (; i > 0 && before(a, d->heap[(i - 1) / 2]); i = (i - 1) / 2)
		put(d, i, d->heap[(i - 1) / 2]);
	for (size_t child; (child = 2 * i + 1) < d->count; i = child) {
		if (child + 1 < d->count && before(d->heap[child + 1], d->heap[child]))
			child++;
		if (!before(d->heap[child], a))
			break;
		put(d, i, d->heap[child]);
	}
	put(d, i, a);
}

void due_set(struct due *d, struct alarm *a, int64_t at_ms)
{
	due_clear(d, a);
	a->at_ms = at_ms;
	a->seq = d->next_seq++;
	d->heap = mem_room(d->heap, d->count, &d->room, 16, sizeof(struct alarm *));
	put(d, d->count++, a);
	settle(d, d->count - 1);
}

void due_clear(struct due *d, struct alarm *a)
{
	if (a->place == 0)
		return;
	size_t i = a->place - 1;
	a->place = 0;
	struct alarm *last = d->heap[--d->count];
	if (last == a)
		return;
	put(d, i, last);
	settle(d, i);
}

int64_t due_next_ms(const struct due *d)
{
	return d->count > 0 ? d->heap[0]->at_ms : INT64_MAX;
}

struct alarm *due_take(struct due *d, int64_t now_ms)
{
	if (d->count == 0 || d->heap[0]->at_ms > now_ms)
		return NULL;
	struct alarm *a = d->heap[0];
	due_clear(d, a);
	return a;
}
