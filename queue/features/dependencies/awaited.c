#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/state.h"
#include "queue/job/specs.h"
#include "queue/features/dependencies/dependency_wait.h"
#include "queue/features/dependencies/outcome_record.h"
#include "queue/features/dependencies/predecessors_priv.h"
#include "queue/features/dependencies/selectors.h"

/* ---- Namespaces ---- */

static bool namespace_is(const void *value, const void *key)
{
	return strcmp(((const struct predecessor_namespace *)value)->name, key) == 0;
}

static bool name_is(const void *value, const void *key)
{
	return strcmp(((const struct predecessor_name *)value)->name, key) == 0;
}

void predecessors_init(struct predecessors *all)
{
	map_init(&all->namespaces, namespace_is);
	wanteds_init(&all->wanteds);
	unrecorded_init(&all->unrecorded);
	list_init(&all->due);
}

/* Questions that were taken and never answered keep what they ask about. */
void predecessors_done(struct queue *q)
{
	struct predecessors *all = q->predecessors;
	struct wanted *w;
	for (size_t i = 0; all->wanteds.asked.slot && i <= all->wanteds.asked.mask;) {
		w = all->wanteds.asked.slot[i].value;
		if (w)
			predecessors_return(q, w->id);
		else
			i++;
	}
	must(all->bytes == 0 && all->namespaces.count == 0 && list_empty(&all->due));
	map_done(&all->namespaces);
	wanteds_done(&all->wanteds);
	unrecorded_done(&all->unrecorded);
}

struct predecessor_namespace *predecessor_namespace_known(const struct queue *q, const char *ns)
{
	return map_get(&q->predecessors->namespaces, map_hash_string(ns), ns);
}

static struct predecessor_namespace *ns_made(struct queue *q, const char *name)
{
	struct predecessor_namespace *ns = predecessor_namespace_known(q, name);
	if (ns)
		return ns;
	ns = mem_alloc(sizeof(*ns));
	ns->name = mem_strdup(name);
	map_init(&ns->by_name, name_is);
	list_init(&ns->names);
	list_init(&ns->moved);
	list_init(&ns->crowded);
	wanted_line_init(&ns->questions);
	map_put(&q->predecessors->namespaces, map_hash_string(name), ns);
	return ns;
}

static bool has_selectors(const struct predecessor_namespace *ns)
{
	for (size_t i = 0; i < PREDECESSOR_SELECTORS_MAX; i++)
		if (ns->selector[i])
			return true;
	return false;
}

void predecessor_namespace_tidy(struct queue *q, struct predecessor_namespace *ns)
{
	if (!list_empty(&ns->names) || !list_empty(&ns->crowded) || has_selectors(ns))
		return;
	must(map_take(&q->predecessors->namespaces, map_hash_string(ns->name), ns->name) == ns);
	map_done(&ns->by_name);
	free(ns->name);
	free(ns);
}

/* ---- Names ---- */

struct predecessor_name *predecessor_name_known(
	const struct predecessor_namespace *ns, const char *name)
{
	return map_get(&ns->by_name, map_hash_string(name), name);
}

struct predecessor_name *predecessor_name_in(
	const struct queue *q, const char *ns_name, const char *name)
{
	const struct predecessor_namespace *ns = predecessor_namespace_known(q, ns_name);
	return ns ? predecessor_name_known(ns, name) : NULL;
}

size_t predecessor_name_bytes(const struct predecessor_name *n)
{
	return sizeof(*n) + strlen(n->name) + 1 + n->jobs.room * sizeof(*n->jobs.job);
}

struct predecessor_name *predecessor_name_made(
	struct queue *q, struct predecessor_namespace *ns, const char *name)
{
	struct predecessor_name *n = predecessor_name_known(ns, name);
	if (n)
		return n;
	n = mem_alloc(sizeof(*n));
	n->awaited.ns = ns;
	list_init(&n->awaited.followers);
	n->name = mem_strdup(name);
	list_add(&ns->names, &n->of_namespace);
	map_put(&ns->by_name, map_hash_string(name), n);
	q->predecessors->bytes += predecessor_name_bytes(n);
	return n;
}

static void name_free(struct queue *q, struct predecessor_name *n)
{
	struct predecessor_namespace *ns = n->awaited.ns;
	must(map_take(&ns->by_name, map_hash_string(n->name), n->name) == n);
	wanted_forget(q, &n->awaited.wanted);
	list_leave(&n->of_namespace);
	list_leave(&n->moved);
	q->predecessors->bytes -= predecessor_name_bytes(n);
	known_jobs_done(&n->jobs);
	free(n->name);
	free(n);
}

/* Events tell of a Job that is followed. Of all others only answers do: also of one that has the name
 * after a Job that has ended, for the end of the following of that is not told. */
static bool name_is_told(const struct predecessor_name *n)
{
	const struct known_job *newest = predecessor_newest(n);
	return newest && newest->followed && !newest->gone && !outcome_ended(newest->outcome);
}

static bool name_is_asked_for(const struct predecessor_name *n)
{
	return !list_empty(&n->awaited.followers) || (n->missed && n->taken_by != 0);
}

/* The question that it needs now; frees it when nothing waits for it any more. */
void predecessor_name_tidy(struct queue *q, struct predecessor_name *n)
{
	struct wanted *w = &n->awaited.wanted;
	bool all_told = q->predecessors->wanteds.all_told;
	if (!name_is_asked_for(n)) {
		if (w->state == WANTED_ASKED)
			return;
		wanted_forget(q, w);
		w->answered = 0;
		if (n->taken_by == 0)
			name_free(q, n);
	} else if (w->state == WANTED_QUIET && w->answered < w->needed) {
		wanted_ask(q, w, &n->awaited.ns->questions);
	} else if (w->state == WANTED_QUIET && !name_is_told(n) && !all_told) {
		wanted_rest(q, w);
	} else if (w->state == WANTED_RESTING && w->answered >= w->needed && name_is_told(n)) {
		wanted_forget(q, w);
	}
}

/* ---- Items come and go ---- */

/* NULL: there are too many others in its namespace. */
static struct predecessor_selector *selector_made(
	struct queue *q, struct predecessor_namespace *ns, const struct dependency_item *item)
{
	size_t free_at = PREDECESSOR_SELECTORS_MAX;
	for (size_t i = PREDECESSOR_SELECTORS_MAX; i-- > 0;) {
		struct predecessor_selector *s = ns->selector[i];
		if (!s)
			free_at = i;
		else if (selector_term_same(&s->term, &item->term))
			return s;
	}
	if (free_at == PREDECESSOR_SELECTORS_MAX)
		return NULL;
	struct predecessor_selector *s = mem_alloc(sizeof(*s));
	s->awaited.ns = ns;
	s->awaited.is_selector = true;
	list_init(&s->awaited.followers);
	s->bit = UINT64_C(1) << free_at;
	s->term = selector_term_copy(&s->memory, &item->term);
	ns->selector[free_at] = s;
	q->predecessors->bytes += sizeof(*s) + s->memory.bytes;
	return s;
}

static void selector_free(struct queue *q, struct predecessor_selector *s)
{
	struct predecessor_namespace *ns = s->awaited.ns;
	while (s->ntaken > 0) {
		struct predecessor_name *n = s->taken[s->ntaken - 1];
		selector_let_go(q, s, n);
		predecessor_name_tidy(q, n);
	}
	free(s->taken);
	wanted_forget(q, &s->awaited.wanted);
	ns->selector[__builtin_ctzll(s->bit)] = NULL;
	ns->selectors_moved &= ~s->bit;
	q->predecessors->bytes -= sizeof(*s) + s->memory.bytes;
	arena_done(&s->memory);
	free(s);
}

/* Where events do not tell all, the item needs an answer that is younger than itself. */
static void need_answer(struct queue *q, struct dependency_item *item)
{
	struct awaited *a = item->awaited;
	struct wanted *w = &a->wanted;
	bool is_told = q->predecessors->wanteds.all_told ||
		       (!q->predecessors->listing && !a->is_selector && name_is_told(name_of(a)));
	item->needs = is_told ? 1 : w->taken + 1;
	if (item->needs > w->needed)
		w->needed = item->needs;
	if (w->answered < item->needs)
		wanted_ask(q, w, &a->ns->questions);
}

static bool place_item(
	struct queue *q, struct predecessor_namespace *ns, struct dependency_item *item)
{
	struct predecessor_selector *s = selector_made(q, ns, item);
	if (!s)
		return false;
	item->awaited = &s->awaited;
	list_add(&s->awaited.followers, &item->of_awaited);
	need_answer(q, item);
	predecessors_recall(q, s, item);
	return true;
}

/* Takes the item out of the crowd, if there is a place for its selector. Else it keeps its place in
 * the crowd. */
static bool placed_from_crowd(
	struct queue *q, struct predecessor_namespace *ns, struct dependency_item *item)
{
	struct link *behind = item->of_awaited.next;
	list_leave(&item->of_awaited);
	if (!place_item(q, ns, item)) {
		list_add(behind, &item->of_awaited);
		return false;
	}
	unrecorded_mark(q, item->wait);
	dependency_item_judge(q, item);
	return true;
}

/* There is a place for another selector: those that waited for one take it, and all others that say
 * the same. That selector may be one of which all is known, so that no answer comes to judge them
 * by. */
static void place_crowded(struct queue *q, struct predecessor_namespace *ns)
{
	while (!list_empty(&ns->crowded)) {
		struct dependency_item *first =
			container_of(ns->crowded.next, struct dependency_item, of_awaited);
		if (!placed_from_crowd(q, ns, first))
			return;
		for (struct link *l = ns->crowded.next, *next; l != &ns->crowded; l = next) {
			struct dependency_item *item =
				container_of(l, struct dependency_item, of_awaited);
			next = l->next;
			if (selector_term_same(&item->term, &first->term))
				placed_from_crowd(q, ns, item);
		}
	}
}

void predecessor_selector_tidy(struct queue *q, struct predecessor_selector *s)
{
	struct wanted *w = &s->awaited.wanted;
	struct predecessor_namespace *ns = s->awaited.ns;
	if (list_empty(&s->awaited.followers)) {
		if (w->state == WANTED_ASKED)
			return;
		selector_free(q, s);
		place_crowded(q, ns);
	} else if (w->state == WANTED_QUIET && w->answered < w->needed) {
		wanted_ask(q, w, &ns->questions);
	} else if (w->state == WANTED_QUIET && !q->predecessors->wanteds.all_told) {
		wanted_rest(q, w);
	}
}

void predecessors_join(struct queue *q, struct dependency_item *item, const char *ns_name,
	const struct dependency *d)
{
	struct predecessor_namespace *ns = ns_made(q, ns_name);
	if (!d->name) {
		if (!place_item(q, ns, item))
			list_add(&ns->crowded, &item->of_awaited);
		return;
	}
	struct predecessor_name *n = predecessor_name_made(q, ns, d->name);
	item->awaited = &n->awaited;
	list_add(&n->awaited.followers, &item->of_awaited);
	need_answer(q, item);
	predecessor_name_tidy(q, n);
}

static void awaited_tidy(struct queue *q, struct awaited *a)
{
	struct predecessor_namespace *ns = a->ns;
	if (a->is_selector)
		predecessor_selector_tidy(q, selector_of(a));
	else
		predecessor_name_tidy(q, name_of(a));
	predecessor_namespace_tidy(q, ns);
}

void predecessors_judge(struct queue *q, struct dependency_item *item)
{
	struct awaited *a = item->awaited;
	dependency_item_judge(q, item);
	if (a && !item->awaited)
		awaited_tidy(q, a);
}

void predecessors_leave(struct queue *q, struct dependency_item *item)
{
	struct awaited *a = item->awaited;
	if (!list_in(&item->of_awaited))
		return;
	list_leave(&item->of_awaited);
	item->awaited = NULL;
	if (a)
		awaited_tidy(q, a);
}
