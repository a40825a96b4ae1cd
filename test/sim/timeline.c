#include "test/sim/timeline.h"

#include <stdlib.h>

#include "base/mem.h"

void timeline_done(struct timeline *t)
{
	free(t->heap);
	*t = (struct timeline){0};
}

static bool before(const struct event *a, const struct event *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->seq < b->seq;
}

void timeline_add(
	struct timeline *t, int64_t at_ms, void (*run)(struct sim *s, void *arg), void *arg)
{
	t->heap = mem_room(t->heap, t->count, &t->room, 256, sizeof(*t->heap));
	struct event e = {at_ms, t->next_seq++, run, arg};
	size_t i = t->count++;
	for (; i > 0 && before(&e, &t->heap[(i - 1) / 2]); i = (i - 1) / 2)
		t->heap[i] = t->heap[(i - 1) / 2];
	t->heap[i] = e;
}

bool timeline_take(struct timeline *t, struct event *ret)
{
	if (!t->count)
		return false;
	*ret = t->heap[0];
	struct event last = t->heap[--t->count];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < t->count; i = child) {
		if (child + 1 < t->count && before(&t->heap[child + 1], &t->heap[child]))
			child++;
		if (!before(&t->heap[child], &last))
			break;
		t->heap[i] = t->heap[child];
	}
	t->heap[i] = last;
	return true;
}
