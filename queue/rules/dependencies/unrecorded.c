#include "queue/rules/dependencies/unrecorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core.h"
#include "queue/rules/dependencies/outcome_record.h"
#include "queue/tell.h"

#define NO_RECORD 0

struct line {
	char *ns;
	struct link of_all, waiting; /* dependency_wait.unrecorded */
};

static bool line_is(const void *value, const void *key)
{
	return strcmp(((const struct line *)value)->ns, key) == 0;
}

void unrecorded_init(struct unrecorded *all)
{
	list_init(&all->lines);
	map_init(&all->by_ns, line_is);
}

static void line_free(struct unrecorded *all, struct line *l)
{
	must(list_empty(&l->waiting));
	list_leave(&l->of_all);
	map_take(&all->by_ns, map_hash_string(l->ns), l->ns);
	free(l->ns);
	free(l);
}

/* A line that has become empty is freed when its turn comes. */
static struct line *first_line(struct unrecorded *all)
{
	while (!list_empty(&all->lines)) {
		struct line *l = container_of(all->lines.next, struct line, of_all);
		if (!list_empty(&l->waiting))
			return l;
		line_free(all, l);
	}
	return NULL;
}

void unrecorded_done(struct unrecorded *all)
{
	must(!first_line(all));
	map_done(&all->by_ns);
}

static struct line *line_made(struct unrecorded *all, const char *ns)
{
	struct line *l = map_get(&all->by_ns, map_hash_string(ns), ns);
	if (l)
		return l;
	l = mem_alloc(sizeof(*l));
	l->ns = mem_strdup(ns);
	list_init(&l->waiting);
	list_add(&all->lines, &l->of_all);
	map_put(&all->by_ns, map_hash_string(ns), l);
	return l;
}

void unrecorded_mark(struct queue *q, struct dependency_wait *x)
{
	if (!list_in(&x->unrecorded))
		list_add(&line_made(&q->predecessors.unrecorded, x->ns)->waiting, &x->unrecorded);
}

static uint64_t record_hash(const char *text)
{
	return text && *text ? map_hash_string(text) | 1 : NO_RECORD;
}

/* The record of another Job, which came with a manifest, stays where it is until there is one of its own. */
static bool is_for(const char *text, const struct uid *uid)
{
	char own[UID_TEXT_SIZE];
	uid_format(uid, own);
	return text && strncmp(text, "for ", 4) == 0 &&
	       strncmp(text + 4, own, UID_TEXT_SIZE - 1) == 0;
}

void unrecorded_see(struct queue *q, struct dependency_wait *x, const struct job *j)
{
	const char *text = is_for(j->after.record, &j->uid) ? j->after.record : NULL;
	uint64_t says = record_hash(text);
	bool is_news = says != x->recorded || (x->being_written && x->being_written != says);
	x->recorded = says;
	if (x->being_written == says)
		x->being_written = NO_RECORD;
	if (is_news && text)
		dependencies_recall(q, x, text);
	if (is_news)
		unrecorded_mark(q, x);
}

/* While a selector has no place among those of its namespace, nothing is known of its members: the
 * record that there is says more. */
static bool is_whole(const struct dependency_wait *x)
{
	for (size_t i = 0; i < x->nitems; i++)
		if (!x->item[i].awaited && x->item[i].verdict != VERDICT_HOLDS)
			return false;
	return true;
}

/* True: it is to be written. One that has quota does not need it, unless it is called off. */
static bool differs(struct dependency_wait *x, size_t *cost)
{
	struct buf text;
	if (x->w->reservation || !is_whole(x)) {
		x->being_written = UINT64_MAX; /* looked at again when the Job is seen again */
		return false;
	}
	buf_init(&text, OUTCOME_RECORD_MAX);
	*cost += outcome_record_format(x, &text);
	uint64_t hash = record_hash(buf_text(&text));
	bool write = hash != x->recorded;
	x->being_written = write ? hash : NO_RECORD;
	buf_done(&text);
	return write;
}

bool queue_has_unrecorded(struct queue *q)
{
	struct unrecorded *all = &q->predecessors.unrecorded;
	if (!list_empty(&all->lines))
		queue_tell(q, HAS_UNRECORDED); /* empty lines are freed */
	return first_line(all) != NULL;
}

bool queue_take_unrecorded(struct queue *q, struct uid *ret)
{
	struct unrecorded *all = &q->predecessors.unrecorded;
	bool looked = !list_empty(&all->lines);
	struct line *l = first_line(all);
	if (!l && looked)
		queue_tell(q, TAKE_UNRECORDED); /* it freed empty lines */
	if (!l)
		return false;
	struct dependency_wait *x =
		container_of(l->waiting.next, struct dependency_wait, unrecorded);
	list_leave(&x->unrecorded);
	list_leave(&l->of_all);
	list_add(&all->lines, &l->of_all);
	*ret = x->w->key.uid;
	queue_tell(q, TAKE_UNRECORDED, .gave = true, .uid = *ret);
	return true;
}

bool queue_is_unrecorded(struct queue *q, const struct uid *uid, size_t *cost)
{
	const struct workload *w = queue_find_workload(q, uid);
	bool is = w && w->after && differs(w->after, cost);
	queue_tell(q, IS_UNRECORDED, .uid = *uid, .gave = is);
	return is;
}

void queue_return_unrecorded(struct queue *q, const struct uid *uid)
{
	queue_tell(q, RETURN_UNRECORDED, .uid = *uid);
	struct workload *w = queue_find_workload(q, uid);
	if (w && w->after)
		unrecorded_mark(q, w->after);
}

void queue_job_outcomes(const struct queue *q, const struct uid *uid, struct buf *out)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (w && w->after)
		outcome_record_format(w->after, out);
}
