#include "queue/model/user.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core.h"

static int user_order(const struct tree_node *a, const struct tree_node *b)
{
	return strcmp(container_of_const(a, struct user, by_name)->name,
		container_of_const(b, struct user, by_name)->name);
}

void users_init(struct tree *users)
{
	tree_init(users, user_order, NULL);
}

struct user *user_find(const struct localqueue *lq, const char *name)
{
	struct user like = {.name = name};
	struct tree_node *n = tree_find(&lq->users, &like.by_name);
	return n ? container_of(n, struct user, by_name) : NULL;
}

static size_t user_size(const struct user *u)
{
	return sizeof(*u) + strlen(u->name) + 1 + u->nheld * sizeof(*u->held);
}

static struct user *user_new(struct queue *q, struct localqueue *lq, const char *name)
{
	size_t n = strlen(name) + 1;
	struct user *u = mem_alloc(sizeof(*u) + n);
	u->name = memcpy(u + 1, name, n);
	u->lq = lq;
	list_init(&u->members);
	list_init(&u->displaced);
	tree_insert(&lq->users, &u->by_name, ++q->counters.users);
	q->workload_bytes += user_size(u);
	return u;
}

struct user *user_keep(struct queue *q, struct localqueue *lq, const char *name)
{
	struct user *u = user_find(lq, name ? name : "");
	if (!u)
		u = user_new(q, lq, name ? name : "");
	u->refs++;
	return u;
}

void user_put(struct queue *q, struct user *u)
{
	must(u->refs > 0);
	if (--u->refs > 0)
		return;
	must(list_empty(&u->members) && u->nwaiting == 0 && u->nreserving == 0 && !u->line);
	must(list_empty(&u->displaced) && u->nnice == 0);
	list_leave(&u->nice_dirty);
	for (size_t i = 0; i < u->nheld; i++)
		must(u->held[i].amount == 0);
	tree_remove(&u->lq->users, &u->by_name);
	q->workload_bytes -= user_size(u);
	free(u->held);
	free(u);
}

static struct user_held *held_of(struct queue *q, struct user *u, const char *resource)
{
	for (size_t i = 0; i < u->nheld; i++)
		if (u->held[i].resource == resource)
			return &u->held[i];
	u->held = mem_grow(u->held, u->nheld + 1, sizeof(*u->held));
	q->workload_bytes += sizeof(*u->held);
	u->held[u->nheld] = (struct user_held){resource, 0};
	return &u->held[u->nheld++];
}

void user_hold(struct queue *q, struct user *u, const char *resource, int64_t more)
{
	if (more == 0)
		return;
	struct user_held *h = held_of(q, u, resource);
	h->amount += more;
	must(h->amount >= 0);
}

__int128 user_holds(const struct user *u, const char *resource)
{
	for (size_t i = 0; i < u->nheld; i++)
		if (strcmp(u->held[i].resource, resource) == 0)
			return u->held[i].amount;
	return 0;
}
