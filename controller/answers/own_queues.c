#include "controller/answers/own_queues.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

bool own_queues_tell(const struct localqueue_view *v)
{
	return v->let_in || v->reserving > 0;
}

static void keep_each_once(struct own_queues *o)
{
	size_t n = 0;
	if (o->n > 1)
		qsort(o->name, o->n, sizeof(*o->name), text_order);
	for (size_t i = 0; i < o->n; i++)
		if (n == 0 || strcmp(o->name[n - 1], o->name[i]) != 0)
			o->name[n++] = o->name[i];
	o->n = n;
}

struct own_queues own_queues_of(const struct queue *q, const char *ns)
{
	struct own_queues o = {0};
	struct localqueue_view v;
	for (size_t i = queue_first_localqueue(q, ns);
		queue_view_localqueue(q, i, &v) && strcmp(v.ns, ns) == 0; i++) {
		if (!own_queues_tell(&v))
			continue;
		o.name = mem_one_more(o.name, o.n, sizeof(*o.name));
		o.name[o.n++] = v.clusterqueue;
	}
	keep_each_once(&o);
	return o;
}

void own_queues_done(struct own_queues *o)
{
	free(o->name);
	*o = (struct own_queues){0};
}
