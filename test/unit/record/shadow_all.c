/*
 * Every queue of a test has a shadow: the test fails where replaying what it did gives another thing.
 * Linked with -Wl,--wrap=queue_new,--wrap=queue_free.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "test/unit/record/shadow.h"

struct queue *__wrap_queue_new(void);
struct queue *__real_queue_new(void);
void __wrap_queue_free(struct queue *q);
void __real_queue_free(struct queue *q);

struct shadowed {
	struct shadowed *next;
	struct queue *queue;
	struct shadow *shadow;
};

static struct shadowed *all;
static bool within; /* the queues of the shadows have none */

struct queue *__wrap_queue_new(void)
{
	struct queue *q = __real_queue_new();
	if (within)
		return q;
	struct shadowed *s = mem_alloc(sizeof(*s));
	within = true;
	*s = (struct shadowed){all, q, shadow_new(q)};
	within = false;
	all = s;
	return q;
}

static void look(const struct shadow *s)
{
	if (!*shadow_fault(s))
		return;
	fprintf(stderr, "a replay of this queue gives another thing:\n%s\n", shadow_fault(s));
	abort();
}

void __wrap_queue_free(struct queue *q)
{
	struct shadowed **at = &all, *s;
	while (*at && (*at)->queue != q)
		at = &(*at)->next;
	s = *at;
	__real_queue_free(q);
	if (!s)
		return;
	look(s->shadow);
	*at = s->next;
	within = true;
	shadow_free(s->shadow);
	within = false;
	free(s);
}
