#include "queue/rules/dependencies/predecessors.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core.h"
#include "queue/job/copies.h"
#include "queue/rules/dependencies/dependency_wait.h"
#include "queue/rules/dependencies/outcome_record.h"
#include "queue/rules/dependencies/selectors.h"
#include "sluice/quantity.h"

#define FAILURE_MAX 200 /* bytes of what is kept of the reason of a failure */

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

static struct predecessor_namespace *ns_known(const struct queue *q, const char *ns)
{
	return map_get(&q->predecessors.namespaces, map_hash_string(ns), ns);
}

static struct predecessor_namespace *ns_made(struct queue *q, const char *name)
{
	struct predecessor_namespace *ns = ns_known(q, name);
	if (ns)
		return ns;
	ns = mem_alloc(sizeof(*ns));
	ns->name = mem_strdup(name);
	map_init(&ns->by_name, name_is);
	list_init(&ns->names);
	list_init(&ns->moved);
	list_init(&ns->crowded);
	wanted_line_init(&ns->questions);
	map_put(&q->predecessors.namespaces, map_hash_string(name), ns);
	return ns;
}

static bool has_selectors(const struct predecessor_namespace *ns)
{
	for (size_t i = 0; i < PREDECESSOR_SELECTORS_MAX; i++)
		if (ns->selector[i])
			return true;
	return false;
}

static void ns_free(struct queue *q, struct predecessor_namespace *ns)
{
	must(map_take(&q->predecessors.namespaces, map_hash_string(ns->name), ns->name) == ns);
	map_done(&ns->by_name);
	free(ns->name);
	free(ns);
}

static void ns_tidy(struct queue *q, struct predecessor_namespace *ns)
{
	if (list_empty(&ns->names) && list_empty(&ns->crowded) && !has_selectors(ns))
		ns_free(q, ns);
}

/* ---- Names ---- */

static struct predecessor_selector *selector_of(struct awaited *a)
{
	return container_of(a, struct predecessor_selector, awaited);
}

static struct predecessor_name *name_of(struct awaited *a)
{
	return container_of(a, struct predecessor_name, awaited);
}

struct predecessor_name *predecessor_name_known(
	const struct predecessor_namespace *ns, const char *name)
{
	return map_get(&ns->by_name, map_hash_string(name), name);
}

static struct predecessor_name *name_in(
	const struct queue *q, const char *ns_name, const char *name)
{
	const struct predecessor_namespace *ns = ns_known(q, ns_name);
	return ns ? predecessor_name_known(ns, name) : NULL;
}

static size_t name_bytes(const struct predecessor_name *n)
{
	return sizeof(*n) + strlen(n->name) + 1 + n->jobs.room * sizeof(*n->jobs.job);
}

static struct predecessor_name *name_made(
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
	q->predecessors.bytes += name_bytes(n);
	return n;
}

static void name_free(struct queue *q, struct predecessor_name *n)
{
	struct predecessor_namespace *ns = n->awaited.ns;
	must(map_take(&ns->by_name, map_hash_string(n->name), n->name) == n);
	wanted_forget(q, &n->awaited.wanted);
	list_leave(&n->of_namespace);
	list_leave(&n->moved);
	q->predecessors.bytes -= name_bytes(n);
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

/* The question that it needs now; frees it when nothing waits for it any more. */
static void name_tidy(struct queue *q, struct predecessor_name *n)
{
	struct wanted *w = &n->awaited.wanted;
	bool all_told = q->predecessors.wanteds.all_told;
	if (list_empty(&n->awaited.followers)) {
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
	} else if (w->state == WANTED_RESTING && w->answered && name_is_told(n)) {
		wanted_forget(q, w);
	}
}

/* ---- Verdicts ---- */

static enum dependency_verdict name_verdict(
	const struct predecessor_name *n, const struct dependency_item *item)
{
	if (!predecessor_newest(n))
		return VERDICT_WAITS;
	return known_jobs_verdict(&n->jobs, item->kind, item->wait->created_ms);
}

enum dependency_verdict awaited_verdict(const struct awaited *a, const struct dependency_item *item)
{
	if (a->wanted.answered < item->needs)
		return VERDICT_WAITS;
	if (!a->is_selector)
		return name_verdict(awaited_name(a), item);
	const struct predecessor_selector *s = awaited_selector(a);
	enum dependency_verdict v = selector_verdict(s, item->kind, selector_own(s, item->wait->w));
	return v == VERDICT_HOLDS && a->wanted.answered < s->confirms ? VERDICT_WAITS : v;
}

bool awaited_is_in_ledger(const struct awaited *a)
{
	if (a->is_selector)
		return false;
	const struct known_jobs *all = &awaited_name(a)->jobs;
	for (size_t i = 0; i < all->n; i++)
		if (!all->job[i].in_ledger)
			return false;
	return true;
}

int64_t awaited_failed_ms(const struct awaited *a)
{
	if (a->is_selector)
		return awaited_selector(a)->failed_ms;
	const struct known_job *newest = predecessor_newest(awaited_name(a));
	return newest ? newest->ended_ms : 0;
}

/* ---- Followers ---- */

/* An item that holds leaves the list. */
static void judge_followers(struct queue *q, struct awaited *a)
{
	for (struct link *l = a->followers.next, *next; l != &a->followers; l = next) {
		next = l->next;
		dependency_item_judge(q, container_of(l, struct dependency_item, of_awaited));
	}
}

/* Members that keep an item from holding are written on its Job: they may be gone when another leads. */
static void record_members(struct queue *q, struct predecessor_selector *s)
{
	unsigned moved = s->kept_moved;
	s->kept_moved = 0;
	for (enum outcome o = 0; moved >> o; o++) {
		if (!(moved >> o & 1) || o == OUTCOME_WAITS || o == OUTCOME_RUNS)
			continue;
		list_each(&s->awaited.followers, l) {
			struct dependency_item *item =
				container_of(l, struct dependency_item, of_awaited);
			if (outcome_is_kept(o, item->kind))
				unrecorded_mark(q, item->wait);
		}
	}
}

static void selector_tidy(struct queue *q, struct predecessor_selector *s);

/* Where events do not tell all, a Job may have come that it takes, too. So before an item holds by an event
 * the API server is asked once more. */
static void confirm_holding(struct queue *q, struct predecessor_selector *s, uint64_t verdicts)
{
	struct wanted *w = &s->awaited.wanted;
	if (q->predecessors.wanteds.all_told || !selector_verdicts_turn(s->verdicts, verdicts))
		return;
	s->confirms = w->needed = w->taken + 1;
	wanted_ask(q, w, &s->awaited.ns->questions);
}

/* Judges the followers of all that has moved, by an event or by an answer about a selector, and frees
 * what has none any more. A verdict must not
 * come from half of an answer: so nothing is judged before this. */
static void ns_settle(struct queue *q, struct predecessor_namespace *ns,
	const struct predecessor_selector *answered)
{
	while (!list_empty(&ns->moved)) {
		struct predecessor_name *n =
			container_of(ns->moved.next, struct predecessor_name, moved);
		list_leave(&n->moved);
		judge_followers(q, &n->awaited);
		name_tidy(q, n);
	}
	uint64_t moved = ns->selectors_moved;
	ns->selectors_moved = 0;
	each_selector(ns, moved, s) {
		uint64_t verdicts = selector_verdicts(s);
		if (s != answered)
			confirm_holding(q, s, verdicts);
		if (verdicts != s->verdicts)
			judge_followers(q, &s->awaited);
		s->verdicts = verdicts;
		record_members(q, s);
		selector_tidy(q, s);
	}
	ns_tidy(q, ns);
}

static void name_moved(struct predecessor_name *n)
{
	if (!list_in(&n->moved))
		list_add(&n->awaited.ns->moved, &n->moved);
}

/* ---- What is told of a Job ---- */

/* Its end was not seen where this comes from; but up to when it left it was followed. And it was
 * started once, though nothing on it tells of that any more: it ran without being admitted. */
static enum outcome outcome_told(const struct known_job *old, const struct predecessor *p)
{
	enum outcome o = outcome_of(p);
	if (old && o == OUTCOME_WAITS && old->outcome == OUTCOME_RUNS)
		o = p->gone ? OUTCOME_VANISHED : OUTCOME_RUNS;
	return old && o == OUTCOME_VANISHED && old->told_end ? OUTCOME_DELETED : o;
}

static struct known_job job_told(const struct known_job *old, const struct predecessor *p)
{
	return (struct known_job){.uid = p->uid,
		.created_ms = p->created_ms,
		.ended_ms = p->ended_ms,
		.outcome = outcome_told(old, p),
		.told_end = old && old->told_end && p->gone,
		.pods_done = p->pods_done,
		.pods = p->pods,
		.gone = p->gone,
		.followed = p->followed,
		.in_ledger = p->followed || p->gone,
		.failure = p->failure && *p->failure
				   ? mem_strndup(p->failure, strnlen(p->failure, FAILURE_MAX))
				   : NULL};
}

/* Those that take it. The ledger knows no labels: what was known before is still right. */
static uint64_t taking(
	const struct predecessor_name *n, const struct known_job *old, const struct predecessor *p)
{
	bool same_newest = old && old == predecessor_newest(n);
	return !p->labels && p->gone && same_newest ? n->taken_by
						    : selectors_taking(n->awaited.ns, p);
}

/* One that was deleted before it was started is as if it had never been. */
static bool never_was(const struct known_job *old, const struct predecessor *p)
{
	return p->gone && outcome_told(old, p) == OUTCOME_WAITS;
}

static void name_take(struct queue *q, struct predecessor_name *n, const struct predecessor *p)
{
	struct known_job *old = known_jobs_find(&n->jobs, &p->uid);
	struct uid newest = n->jobs.n > 0 ? predecessor_newest(n)->uid : (struct uid){{0}};
	uint64_t taken_by = n->taken_by, bits = taking(n, old, p);
	selectors_count_out(n);
	bool was_newest = old && old == predecessor_newest(n);
	bool never = never_was(old, p);
	struct known_job j = job_told(old, p);
	if (old)
		known_jobs_remove(&n->jobs, old);
	if (!never) {
		q->predecessors.bytes -= name_bytes(n);
		known_jobs_insert(&n->jobs, &j);
		q->predecessors.bytes += name_bytes(n);
		n->was_deleted = false;
	} else {
		free(j.failure);
		n->was_deleted |= was_newest;
	}
	const struct known_job *now = predecessor_newest(n);
	bool is_newest = now && uid_cmp(&now->uid, &p->uid) == 0;
	bool still = now && !is_newest && uid_cmp(&now->uid, &newest) == 0;
	selectors_count_in(n, is_newest ? bits : still ? taken_by : 0);
	name_moved(n);
}

/* What it became cannot be another thing in an answer that was on its way meanwhile. */
static bool is_stale(const struct predecessor_name *n, const struct predecessor *p)
{
	const struct known_job *old = known_jobs_find(&n->jobs, &p->uid);
	return old && (outcome_ended(old->outcome) || old->gone) && !outcome_ended(outcome_of(p));
}

/* The same again: only what is shown to people. */
static bool job_stands(struct known_job *old, const struct predecessor *p)
{
	if (!old || old->outcome != outcome_told(old, p) || old->created_ms != p->created_ms ||
		old->ended_ms != p->ended_ms || old->gone != p->gone ||
		old->followed != p->followed)
		return false;
	old->pods_done = p->pods_done;
	old->pods = p->pods;
	return true;
}

/* Of a Job of which nothing is asked nothing is kept. */
static void ns_take(struct queue *q, struct predecessor_namespace *ns, const struct predecessor *p)
{
	struct predecessor_name *n = predecessor_name_known(ns, p->name);
	struct known_job *old = n ? known_jobs_find(&n->jobs, &p->uid) : NULL;
	if (!n && (never_was(NULL, p) || selectors_taking(ns, p) == 0))
		return;
	if (old && job_stands(old, p) &&
		(old != predecessor_newest(n) || taking(n, old, p) == n->taken_by))
		return;
	name_take(q, n ? n : name_made(q, ns, p->name), p);
}

void queue_see_predecessor(struct queue *q, const struct predecessor *p)
{
	struct predecessor_namespace *ns = ns_known(q, p->ns);
	if (!ns)
		return;
	ns_take(q, ns, p);
	ns_settle(q, ns, NULL);
}

static void job_is_gone(struct predecessor_name *n, struct known_job *j, enum outcome otherwise)
{
	uint64_t bits = n->taken_by;
	bool newest = j == predecessor_newest(n);
	selectors_count_out(n);
	j->gone = true;
	if (j->outcome == OUTCOME_RUNS)
		j->outcome = otherwise;
	if (j->outcome == OUTCOME_WAITS) {
		known_jobs_remove(&n->jobs, j);
		n->was_deleted = newest;
		bits = newest ? 0 : bits;
	}
	selectors_count_in(n, bits);
	name_moved(n);
}

void queue_lose_predecessor(
	struct queue *q, const struct uid *uid, const char *ns_name, const char *name)
{
	struct predecessor_name *n = name_in(q, ns_name, name);
	struct known_job *j = n ? known_jobs_find(&n->jobs, uid) : NULL;
	if (!j || j->gone)
		return;
	job_is_gone(n, j, OUTCOME_DELETED);
	ns_settle(q, n->awaited.ns, NULL);
}

static uint8_t questions_under_way(const struct predecessor_name *n)
{
	unsigned count = n->awaited.wanted.state == WANTED_ASKED;
	each_selector(n->awaited.ns, n->taken_by, s)
		count += s->awaited.wanted.state == WANTED_ASKED;
	return (uint8_t)count; /* at most one more than there are selectors */
}

void queue_unfollow_predecessor(struct queue *q, const struct uid *uid, const char *ns_name,
	const char *name, bool told_end)
{
	struct predecessor_name *n = name_in(q, ns_name, name);
	struct known_job *j = n ? known_jobs_find(&n->jobs, uid) : NULL;
	if (!j || j->gone)
		return;
	j->followed = false;
	j->told_end = told_end;
	j->spared = questions_under_way(n);
	if (!list_empty(&n->awaited.followers))
		wanted_ask(q, &n->awaited.wanted, &n->awaited.ns->questions);
}

/* ---- Questions ---- */

bool queue_take_wanted(struct queue *q, struct wanted_predecessors *ret)
{
	const struct wanted *w = wanted_take(q);
	if (!w)
		return false;
	const struct awaited *a = container_of_const(w, struct awaited, wanted);
	*ret = (struct wanted_predecessors){
		.id = w->id,
		.ns = a->ns->name,
		.name = a->is_selector ? NULL : awaited_name(a)->name,
		.selector = a->is_selector ? &awaited_selector(a)->term : NULL,
	};
	return true;
}

/* Not on the API server any more, and nothing told of its end. */
static void vanish_unnamed(struct predecessor_name *n, uint64_t mark)
{
	struct known_job *newest = known_jobs_newest(&n->jobs);
	if (n->mark == mark || !newest || newest->gone || newest->followed)
		return;
	if (newest->spared > 0)
		newest->spared--;
	else
		job_is_gone(n, newest, newest->told_end ? OUTCOME_DELETED : OUTCOME_VANISHED);
}

static void take_answer(struct queue *q, struct awaited *a, const struct predecessor *p, size_t n)
{
	struct predecessor_namespace *ns = a->ns;
	uint64_t mark = ++q->predecessors.answers;
	for (size_t i = 0; i < n; i++) {
		struct predecessor_name *known = predecessor_name_known(ns, p[i].name);
		if (!known || !is_stale(known, &p[i]))
			ns_take(q, ns, &p[i]);
		known = predecessor_name_known(ns, p[i].name);
		if (known && (a->is_selector || !p[i].gone))
			known->mark = mark;
	}
	if (!a->is_selector) {
		vanish_unnamed(name_of(a), mark);
		name_moved(name_of(a));
		return;
	}
	list_each(&ns->names, l) {
		struct predecessor_name *taken =
			container_of(l, struct predecessor_name, of_namespace);
		if (taken->taken_by & selector_of(a)->bit)
			vanish_unnamed(taken, mark);
	}
	ns->selectors_moved |= selector_of(a)->bit;
}

/* A selector that takes too many does not hold, whatever has become of them: so none is looked at. */
void queue_answer_wanted(struct queue *q, uint64_t id, const struct predecessor *p, size_t n)
{
	struct wanted *w = wanted_answered(q, id);
	if (!w)
		return;
	struct awaited *a = container_of(w, struct awaited, wanted);
	struct predecessor_namespace *ns = a->ns;
	struct predecessor_selector *s = a->is_selector ? selector_of(a) : NULL;
	if (s && w->answered < w->needed)
		s->verdicts = SELECTOR_UNTOLD;
	w->answered = w->taken;
	if (s)
		s->too_many = n > PREDECESSOR_TAKEN_MAX;
	if (s && s->too_many)
		ns->selectors_moved |= s->bit;
	else
		take_answer(q, a, p, n);
	ns_settle(q, ns, s);
	q->counters.version++;
}

void queue_return_wanted(struct queue *q, uint64_t id)
{
	struct wanted *w = wanted_answered(q, id);
	if (!w)
		return;
	struct awaited *a = container_of(w, struct awaited, wanted);
	struct predecessor_namespace *ns = a->ns;
	wanted_rest(q, w);
	if (a->is_selector)
		ns->selectors_moved |= selector_of(a)->bit;
	else
		name_moved(name_of(a));
	ns_settle(q, ns, NULL);
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
		else if (selector_terms_same(&s->term, &item->term))
			return s;
	}
	if (free_at == PREDECESSOR_SELECTORS_MAX)
		return NULL;
	struct predecessor_selector *s = mem_alloc(sizeof(*s));
	s->awaited.ns = ns;
	s->awaited.is_selector = true;
	list_init(&s->awaited.followers);
	s->bit = UINT64_C(1) << free_at;
	s->term = *terms_copy(&s->memory, &item->term, 1);
	ns->selector[free_at] = s;
	q->predecessors.bytes += sizeof(*s) + s->memory.bytes;
	return s;
}

static void selector_free(struct queue *q, struct predecessor_selector *s)
{
	struct predecessor_namespace *ns = s->awaited.ns;
	for (struct link *l = ns->names.next, *next; l != &ns->names; l = next) {
		struct predecessor_name *n = container_of(l, struct predecessor_name, of_namespace);
		next = l->next;
		if (!(n->taken_by & s->bit))
			continue;
		n->taken_by &= ~s->bit;
		name_tidy(q, n);
	}
	wanted_forget(q, &s->awaited.wanted);
	ns->selector[__builtin_ctzll(s->bit)] = NULL;
	ns->selectors_moved &= ~s->bit;
	q->predecessors.bytes -= sizeof(*s) + s->memory.bytes;
	arena_done(&s->memory);
	free(s);
}

/* Where events do not tell all, the item needs an answer that is younger than itself. */
static void need_answer(struct queue *q, struct dependency_item *item)
{
	struct awaited *a = item->awaited;
	struct wanted *w = &a->wanted;
	bool is_told =
		q->predecessors.wanteds.all_told || (!a->is_selector && name_is_told(name_of(a)));
	item->needs = is_told ? 1 : w->taken + 1;
	if (item->needs > w->needed)
		w->needed = item->needs;
	if (w->answered < item->needs)
		wanted_ask(q, w, &a->ns->questions);
}

/* One that an earlier leader knew of. If it is there still, or another has its name, answers tell. */
static void recall_member(
	struct queue *q, struct predecessor_selector *s, const struct record_line *line)
{
	struct predecessor_name *n = name_made(q, s->awaited.ns, line->name);
	const struct known_job *old = known_jobs_find(&n->jobs, &line->uid);
	uint64_t bits = n->taken_by;
	if (old && !old->gone)
		return;
	selectors_count_out(n);
	if (!old) {
		q->predecessors.bytes -= name_bytes(n);
		known_jobs_insert(&n->jobs, &(struct known_job){.uid = line->uid,
						    .created_ms = line->created_ms,
						    .ended_ms = line->ended_ms,
						    .outcome = line->outcome,
						    .gone = true});
		q->predecessors.bytes += name_bytes(n);
	}
	if (uid_cmp(&predecessor_newest(n)->uid, &line->uid) == 0)
		bits = (old ? bits : 0) | s->bit;
	selectors_count_in(n, bits);
	name_moved(n);
	if (n->taken_by == 0)
		name_tidy(q, n);
}

static void recall_members(
	struct queue *q, struct predecessor_selector *s, const struct dependency_item *item)
{
	const struct dependency_wait *x = item->wait;
	const char *at = outcome_record_lines(x->record, &x->w->key.uid);
	struct record_line line;
	while (at && *at && outcome_record_next(&at, &line))
		if (!line.holds && record_line_is_of(&line, item->text))
			recall_member(q, s, &line);
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
	recall_members(q, s, item);
	return true;
}

/* There is a place for another selector: those that waited for one take it. That selector may be one
 * of which all is known, so that no answer comes to judge them by. */
static void place_crowded(struct queue *q, struct predecessor_namespace *ns)
{
	while (!list_empty(&ns->crowded)) {
		struct dependency_item *item =
			container_of(ns->crowded.next, struct dependency_item, of_awaited);
		list_leave(&item->of_awaited);
		if (!place_item(q, ns, item)) {
			list_add(&ns->crowded, &item->of_awaited);
			return;
		}
		unrecorded_mark(q, item->wait);
		dependency_item_judge(q, item);
	}
}

static void selector_tidy(struct queue *q, struct predecessor_selector *s)
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
	} else if (w->state == WANTED_QUIET && !q->predecessors.wanteds.all_told) {
		wanted_rest(q, w);
	}
}

void queue_follow_predecessors(struct queue *q)
{
	q->predecessors.wanteds.all_told = true;
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
	struct predecessor_name *n = name_made(q, ns, d->name);
	item->awaited = &n->awaited;
	list_add(&n->awaited.followers, &item->of_awaited);
	need_answer(q, item);
	name_tidy(q, n);
}

static void awaited_tidy(struct queue *q, struct awaited *a)
{
	struct predecessor_namespace *ns = a->ns;
	if (a->is_selector)
		selector_tidy(q, selector_of(a));
	else
		name_tidy(q, name_of(a));
	ns_tidy(q, ns);
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

/* ---- The end ---- */

/* Questions that were taken and never answered keep what they ask about. */
void predecessors_done(struct queue *q)
{
	struct predecessors *all = &q->predecessors;
	struct wanted *w;
	for (size_t i = 0; all->wanteds.asked.slot && i <= all->wanteds.asked.mask;) {
		w = all->wanteds.asked.slot[i].value;
		if (w)
			queue_return_wanted(q, w->id);
		else
			i++;
	}
	must(all->bytes == 0 && all->namespaces.count == 0 && list_empty(&all->due));
	map_done(&all->namespaces);
	wanteds_done(&all->wanteds);
	unrecorded_done(&all->unrecorded);
	arena_done(&all->sentences);
}
