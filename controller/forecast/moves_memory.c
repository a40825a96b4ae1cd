#include "controller/forecast/moves_priv.h"

#include <string.h>

static size_t bytes_of(const struct head *h)
{
	return sizeof(*h) + h->told * sizeof(struct told) + h->moved * sizeof(struct moved) +
	       h->facts * sizeof(struct fact) + h->changes * sizeof(struct change) +
	       h->objects * sizeof(struct object) + h->runs * sizeof(struct run);
}

static void *part(char **at, uint64_t n, size_t size)
{
	void *ret = *at;
	*at += n * size;
	return ret;
}

bool memory_read(const struct ask_answer *a, struct memory *ret)
{
	if (!a || a->text.len < sizeof(ret->head))
		return false;
	char *at = (char *)(uintptr_t)a->text.ptr;
	memcpy(&ret->head, at, sizeof(ret->head));
	if (ret->head.told != a->n || bytes_of(&ret->head) > a->text.len)
		return false;
	at += sizeof(ret->head);
	ret->told = part(&at, ret->head.told, sizeof(*ret->told));
	ret->moved = part(&at, ret->head.moved, sizeof(*ret->moved));
	ret->fact = part(&at, ret->head.facts, sizeof(*ret->fact));
	ret->object = part(&at, ret->head.objects, sizeof(*ret->object));
	ret->run = part(&at, ret->head.runs, sizeof(*ret->run));
	ret->change = part(&at, ret->head.changes, sizeof(*ret->change));
	return true;
}

void memory_write(const struct memory *m, struct buf *out)
{
	const struct head *h = &m->head;
	buf_add(out, h, sizeof(*h));
	buf_add(out, m->told, h->told * sizeof(*m->told));
	buf_add(out, m->moved, h->moved * sizeof(*m->moved));
	buf_add(out, m->fact, h->facts * sizeof(*m->fact));
	buf_add(out, m->object, h->objects * sizeof(*m->object));
	buf_add(out, m->run, h->runs * sizeof(*m->run));
	buf_add(out, m->change, h->changes * sizeof(*m->change));
}
