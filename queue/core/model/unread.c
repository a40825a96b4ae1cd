#include "queue/core/model/unread.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/job/text.h"
#include "queue/core/model/state.h"
#include "queue/core/model/tell.h"

struct unread_job {
	struct link link;
	char *ns, *name, *localqueue;
	uint64_t list; /* the last that had it */
};

void unread_init(struct unread *u)
{
	list_init(&u->jobs);
}

static void forget(struct unread_job *j)
{
	list_leave(&j->link);
	free(j->ns);
	free(j->name);
	free(j->localqueue);
	free(j);
}

void unread_done(struct unread *u)
{
	while (!list_empty(&u->jobs))
		forget(container_of(u->jobs.next, struct unread_job, link));
}

/* *ret_others: of the same namespace. */
static struct unread_job *find(
	const struct unread *u, const char *ns, const char *name, size_t *ret_others)
{
	struct unread_job *found = NULL;
	*ret_others = 0;
	list_each_entry(&u->jobs, struct unread_job, j, link) {
		if (strcmp(j->ns, ns) != 0)
			continue;
		if (strcmp(j->name, name) == 0)
			found = j;
		else
			++*ret_others;
	}
	return found;
}

void queue_unread_job(struct queue *q, const char *ns, const char *name, const char *localqueue)
{
	queue_tell(q, UNREAD_JOB, .ns = ns, .name = name, .localqueue_name = localqueue);
	size_t others;
	struct unread_job *j = find(&q->unread, ns, name, &others);
	if (!j && others >= UNREAD_MAX)
		return;
	if (!j) {
		j = mem_alloc(sizeof(*j));
		j->ns = mem_strdup(ns);
		j->name = mem_strdup(name);
		list_add(&q->unread.jobs, &j->link);
	}
	j->list = q->unread.list;
	free(j->localqueue);
	j->localqueue = mem_strdup(localqueue);
	q->counters.version++;
}

void queue_read_job(struct queue *q, const char *ns, const char *name)
{
	size_t others;
	struct unread_job *j =
		list_empty(&q->unread.jobs) ? NULL : find(&q->unread, ns, name, &others);
	if (!j)
		return;
	queue_tell(q, READ_JOB, .ns = ns, .name = name);
	forget(j);
	q->counters.version++;
}

void queue_begin_unread_list(struct queue *q)
{
	queue_tell(q, BEGIN_UNREAD_LIST);
	q->unread.list++;
}

void queue_end_unread_list(struct queue *q)
{
	queue_tell(q, END_UNREAD_LIST);
	for (struct link *l = q->unread.jobs.next, *next; l != &q->unread.jobs; l = next) {
		struct unread_job *j = container_of(l, struct unread_job, link);
		next = l->next;
		if (j->list == q->unread.list)
			continue;
		forget(j);
		q->counters.version++;
	}
}

void unread_tell(const struct unread *u, const char *ns, const char *localqueue, struct text *t)
{
	const struct unread_job *first = NULL;
	size_t n = 0;
	list_each_entry(&u->jobs, const struct unread_job, j, link) {
		if (strcmp(j->ns, ns) != 0 || strcmp(j->localqueue, localqueue) != 0)
			continue;
		first = first ? first : j;
		n++;
	}
	if (n == 1)
		text_add(t,
			"; Job %s cannot be read and stays as it was known: correct or delete it",
			first->name);
	else if (n > 1)
		text_add(t,
			"; %zu Jobs cannot be read and stay as they were known, %s first: correct or delete them",
			n, first->name);
}
