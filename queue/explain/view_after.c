/* The items of sluice.dev/after as people ask for them: which hold, and which Jobs block the others. */
#include <string.h>

#include "queue/core.h"
#include "queue/explain/view.h"
#include "queue/rules/dependencies/dependency_wait.h"
#include "queue/rules/dependencies/selectors.h"

/* Of the Jobs that a selector takes so many are looked at: it may take thousands, and anybody may ask. */
#define LOOKED_AT_MAX 1000

static void add_job(struct after_view *v, const struct predecessor_name *n)
{
	v->job[v->njobs++] = n->name;
}

static bool blocks(const struct predecessor_name *n, enum dependency_kind k)
{
	const struct known_job *newest = predecessor_newest(n);
	return newest && outcome_verdict(newest->outcome, k) != VERDICT_HOLDS;
}

/* How many of the Jobs that it takes block the item; the workload itself does not count. */
static size_t count_blocking(
	const struct predecessor_selector *s, const struct dependency_item *item)
{
	enum outcome own = selector_own(s, item->wait->w);
	size_t n = 0;
	for (enum outcome o = 0; o < OUTCOMES; o++)
		if (outcome_verdict(o, item->kind) != VERDICT_HOLDS)
			n += s->with[o] - (o == own);
	return n;
}

static void add_taken(struct after_view *v, const struct dependency_item *item)
{
	const struct predecessor_selector *s = awaited_selector(item->awaited);
	size_t blocking = count_blocking(s, item);
	for (size_t i = 0; i < s->ntaken && i < LOOKED_AT_MAX; i++) {
		if (v->njobs == AFTER_VIEW_JOBS_MAX)
			break;
		if (blocks(s->taken[i], item->kind) &&
			strcmp(s->taken[i]->name, item->wait->w->name) != 0)
			add_job(v, s->taken[i]);
	}
	v->more = blocking > v->njobs ? blocking - v->njobs : 0;
}

bool queue_view_after(
	const struct queue *q, const struct uid *uid, size_t index, struct after_view *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->after || index >= w->after->nitems)
		return false;
	const struct dependency_item *item = &w->after->item[index];
	*ret = (struct after_view){.text = item->text,
		.holds = item->verdict == VERDICT_HOLDS,
		.never = item->verdict == VERDICT_NEVER};
	if (ret->holds || !item->awaited)
		return true;
	if (item->awaited->is_selector)
		add_taken(ret, item);
	else
		add_job(ret, awaited_name(item->awaited));
	return true;
}
