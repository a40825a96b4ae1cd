#include "base/agenda.h"

#include <stdlib.h>

#include "base/mem.h"

void agenda_init(struct agenda *a)
{
	*a = (struct agenda){0};
}

void agenda_done(struct agenda *a)
{
	free(a->heap);
	agenda_init(a);
}

static bool before(const struct event *a, const struct event *b)
{
	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->order < b->order;
}

static void sift_up(struct agenda *a, size_t i)
{
	struct event e = a->heap[i];
	for (; i > 0 && before(&e, &a->heap[(i - 1) / 2]); i = (i - 1) / 2)
		a->heap[i] = a->heap[(i - 1) / 2];
	a->heap[i] = e;
}

static void sift_down(struct agenda *a, size_t i)
{
	struct event e = a->heap[i];
	for (size_t child; (child = 2 * i + 1) < a->count; i = child) {
		if (child + 1 < a->count && before(&a->heap[child + 1], &a->heap[child]))
			child++;
		if (!before(&a->heap[child], &e))
			break;
		a->heap[i] = a->heap[child];
	}
	a->heap[i] = e;
}

void agenda_put(struct agenda *a, int64_t at_ms, int kind, size_t subject, int32_t version)
{
	a->heap = mem_room(a->heap, a->count, &a->room, 256, sizeof(*a->heap));
	a->heap[a->count] = (struct event){at_ms, a->put++, kind, version, subject};
	sift_up(a, a->count++);
}

int64_t agenda_next_ms(const struct agenda *a)
{
	return a->count > 0 ? a->heap[0].at_ms : INT64_MAX;
}

bool agenda_take(struct agenda *a, int64_t now_ms, struct event *ret)
{
	if (agenda_next_ms(a) > now_ms || a->count == 0)
		return false;
	*ret = a->heap[0];
	a->heap[0] = a->heap[--a->count];
	if (a->count > 0)
		sift_down(a, 0);
	return true;
}
