#include "queue/features/dependencies/predecessors.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/features/dependencies/dependency_wait.h"
#include "queue/features/dependencies/outcome_record.h"
#include "queue/features/dependencies/predecessors_priv.h"
#include "queue/features/dependencies/selectors.h"
#include "queue/core/model/tell.h"

#define FAILURE_MAX 200 /* bytes of what is kept of the reason of a failure */

/* ---- Verdicts ---- */

enum dependency_verdict awaited_verdict(const struct awaited *a, const struct dependency_item *item)
{
	if (a->wanted.answered < item->needs)
		return VERDICT_WAITS;
	if (!a->is_selector) {
		const struct known_jobs *all = &awaited_name(a)->jobs;
		return all->n > 0 ? known_jobs_verdict(all, item->kind, item->wait->created_ms)
				  : VERDICT_WAITS;
	}
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

/* Members that keep an item from holding are written on its Job: they may be gone when another
 * leads. */
static void record_members(struct queue *q, struct predecessor_selector *s)
{
	unsigned moved = s->kept_moved;
	s->kept_moved = 0;
	for (enum outcome o = 0; moved >> o; o++) {
		if (!(moved >> o & 1) || o == OUTCOME_WAITS || o == OUTCOME_RUNS)
			continue;
		list_each_entry(&s->awaited.followers, struct dependency_item, item, of_awaited)
			if (outcome_is_kept(o, item->kind))
				unrecorded_mark(q, item->wait);
	}
}

/* Where events do not tell all, a Job may have come that it takes, too. So before an item holds by
 * an event the API server is asked once more. */
static void confirm_holding(struct queue *q, struct predecessor_selector *s, uint64_t verdicts)
{
	struct wanted *w = &s->awaited.wanted;
	if (q->predecessors->wanteds.all_told || !selector_verdicts_turn(s->verdicts, verdicts))
		return;
	s->confirms = w->needed = w->taken + 1;
	wanted_ask(q, w, &s->awaited.ns->questions);
}

/* Judges the followers of all that has moved, by an event or by an answer about a selector, and frees
 * what has none any more. A verdict must not come from half of an answer: so nothing is judged before
 * this. */
static void ns_settle(struct queue *q, struct predecessor_namespace *ns,
	const struct predecessor_selector *answered)
{
	while (!list_empty(&ns->moved)) {
		struct predecessor_name *n =
			container_of(ns->moved.next, struct predecessor_name, moved);
		list_leave(&n->moved);
		judge_followers(q, &n->awaited);
		predecessor_name_tidy(q, n);
	}
	uint64_t moved = ns->selectors_moved, fresh = answered ? answered->bit : 0;
	ns->selectors_moved = 0;
	each_selector(ns, moved, s) {
		uint64_t verdicts = selector_verdicts(s);
		bool answered_now = s->bit & fresh;
		if (!answered_now || s->disturbed)
			confirm_holding(q, s, verdicts);
		s->disturbed = !answered_now && s->awaited.wanted.state == WANTED_ASKED;
		if (verdicts != s->verdicts)
			judge_followers(q, &s->awaited);
		s->verdicts = verdicts;
		record_members(q, s);
		predecessor_selector_tidy(q, s);
	}
	predecessor_namespace_tidy(q, ns);
}

static void name_moved(struct predecessor_name *n)
{
	if (!list_in(&n->moved))
		list_add(&n->awaited.ns->moved, &n->moved);
}

/* ---- What is told of a Job ---- */

/* Returns the outcome that is told, corrected by what is known. A Job of unknown end that was
 * followed up to when it left was deleted. A Job that ran was started once, though nothing on it
 * tells of that any more: it ran without being admitted. */
static enum outcome outcome_told(const struct known_job *old, const struct predecessor *p)
{
	enum outcome o = outcome_of(p);
	if (old && o == OUTCOME_WAITS && old->outcome == OUTCOME_RUNS)
		o = p->gone ? OUTCOME_VANISHED : OUTCOME_RUNS;
	return old && o == OUTCOME_VANISHED && old->told_end ? OUTCOME_DELETED : o;
}

/* Returns whether what becomes of the Job can be read in the ledger. Not of one that is there and
 * not followed: it is not queued, or not any more, so its end will not be there. */
static bool is_in_ledger(const struct known_job *old, const struct predecessor *p)
{
	return p->followed || p->gone || p->by_ledger ||
	       (old && old->in_ledger && outcome_ended(outcome_of(p)));
}

static struct known_job job_told(const struct known_job *old, const struct predecessor *p)
{
	return (struct known_job){.uid = p->uid,
		.created_ms = p->created_ms,
		.ended_ms = p->ended_ms,
		.outcome = outcome_told(old, p),
		.told_end = old && old->told_end && (p->gone || p->by_ledger),
		.pods_done = p->pods_done,
		.pods = p->pods,
		.gone = p->gone,
		.followed = p->followed,
		.in_ledger = is_in_ledger(old, p),
		.failure = p->failure && *p->failure
				   ? mem_strndup(p->failure, strnlen(p->failure, FAILURE_MAX))
				   : NULL};
}

/* Returns the selectors that take the Job, a bit each. The ledger knows no labels: what was known
 * before is still right. */
static uint64_t taking(
	const struct predecessor_name *n, const struct known_job *old, const struct predecessor *p)
{
	bool same_newest = old && old == predecessor_newest(n);
	bool unlabelled = !p->labels && (p->gone || p->by_ledger);
	return unlabelled && same_newest ? n->taken_by : selectors_taking(n->awaited.ns, p);
}

/* Returns whether the Job was deleted before it was started: then it is as if it had never been. */
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
		q->predecessors->bytes -= predecessor_name_bytes(n);
		known_jobs_insert(&n->jobs, &j);
		q->predecessors->bytes += predecessor_name_bytes(n);
		n->was_deleted = false;
	} else {
		free(j.failure);
		n->was_deleted |= was_newest;
	}
	const struct known_job *now = predecessor_newest(n);
	bool is_newest = now && uid_cmp(&now->uid, &p->uid) == 0;
	bool still = now && !is_newest && uid_cmp(&now->uid, &newest) == 0;
	selectors_count_in(q, n, is_newest ? bits : still ? taken_by : 0);
	name_moved(n);
}

/* Tells whether an answer is older than what is known: it was on its way while the Job became
 * something for good. Nor does an answer tell that a followed Job is gone, or one that was followed
 * when it was asked: events do, for the ledger also knows of runs that were stopped. */
static bool is_stale(const struct predecessor_name *n, const struct predecessor *p)
{
	const struct known_job *old = known_jobs_find(&n->jobs, &p->uid);
	if (!old || outcome_ended(outcome_of(p)))
		return false;
	return outcome_ended(old->outcome) || old->gone ||
	       (p->gone && (old->followed || old->spared > 0));
}

/* Returns whether the Job is told as it is known. Then takes over only what is shown to people. */
static bool job_stands(struct known_job *old, const struct predecessor *p)
{
	if (!old || old->outcome != outcome_told(old, p) || old->created_ms != p->created_ms ||
		old->ended_ms != p->ended_ms || old->gone != p->gone ||
		old->followed != p->followed || old->in_ledger != is_in_ledger(old, p))
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
	name_take(q, n ? n : predecessor_name_made(q, ns, p->name), p);
}

void queue_see_predecessor(struct queue *q, const struct predecessor *p)
{
	struct predecessor_namespace *ns = predecessor_namespace_known(q, p->ns);
	if (!ns)
		return;
	queue_tell(q, SEE_PREDECESSOR, .predecessors = p, .npredecessors = 1);
	ns_take(q, ns, p);
	ns_settle(q, ns, NULL);
}

void queue_foretell_predecessor(
	struct queue *q, const struct uid *uid, enum predecessor_state state, int64_t at_ms)
{
	if (q->predecessors->namespaces.count == 0)
		return;
	queue_tell(q, FORETELL_PREDECESSOR, .uid = *uid, .state = state, .at_ms = at_ms);
	const struct workload *w = queue_find_workload(q, uid);
	struct predecessor_name *n = w ? predecessor_name_in(q, w->lq->ns->name, w->name) : NULL;
	struct known_job *j = n ? known_jobs_find(&n->jobs, uid) : NULL;
	if (!j || j->gone || outcome_ended(j->outcome))
		return;
	uint64_t bits = n->taken_by;
	selectors_count_out(n);
	j->outcome = outcome_of(&(struct predecessor){.state = state});
	j->ended_ms = outcome_ended(j->outcome) ? at_ms : 0;
	selectors_count_in(q, n, bits);
	name_moved(n);
	ns_settle(q, n->awaited.ns, NULL);
}

static void job_is_gone(
	struct queue *q, struct predecessor_name *n, struct known_job *j, enum outcome otherwise)
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
	selectors_count_in(q, n, bits);
	name_moved(n);
}

void queue_lose_predecessor(
	struct queue *q, const struct uid *uid, const char *ns_name, const char *name)
{
	struct predecessor_name *n = predecessor_name_in(q, ns_name, name);
	struct known_job *j = n ? known_jobs_find(&n->jobs, uid) : NULL;
	if (!j || j->gone)
		return;
	queue_tell(q, LOSE_PREDECESSOR, .uid = *uid, .ns = ns_name, .name = name);
	job_is_gone(q, n, j, OUTCOME_DELETED);
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
	struct predecessor_name *n = predecessor_name_in(q, ns_name, name);
	struct known_job *j = n ? known_jobs_find(&n->jobs, uid) : NULL;
	if (!j || j->gone)
		return;
	queue_tell(q, UNFOLLOW_PREDECESSOR, .uid = *uid, .ns = ns_name, .name = name,
		.flag = told_end);
	j->followed = false;
	j->told_end = told_end;
	j->spared = questions_under_way(n);
	if (!list_empty(&n->awaited.followers))
		wanted_ask(q, &n->awaited.wanted, &n->awaited.ns->questions);
}

/* ---- What an earlier leader wrote down ---- */

/* Takes over a member that an earlier leader knew of. If it is there still, or another has its
 * name, answers tell. */
static void recall_member(
	struct queue *q, struct predecessor_selector *s, const struct record_line *line)
{
	struct predecessor_name *n = predecessor_name_made(q, s->awaited.ns, line->name);
	const struct known_job *old = known_jobs_find(&n->jobs, &line->uid);
	uint64_t bits = n->taken_by;
	if (old && !old->gone)
		return;
	selectors_count_out(n);
	if (!old) {
		q->predecessors->bytes -= predecessor_name_bytes(n);
		known_jobs_insert(&n->jobs, &(struct known_job){.uid = line->uid,
						    .created_ms = line->created_ms,
						    .ended_ms = line->ended_ms,
						    .outcome = line->outcome,
						    .gone = true});
		q->predecessors->bytes += predecessor_name_bytes(n);
	}
	if (uid_cmp(&predecessor_newest(n)->uid, &line->uid) == 0)
		bits = (old ? bits : 0) | s->bit;
	selectors_count_in(q, n, bits);
	name_moved(n);
	if (n->taken_by == 0)
		predecessor_name_tidy(q, n);
}

void predecessors_recall(
	struct queue *q, struct predecessor_selector *s, const struct dependency_item *item)
{
	const struct dependency_wait *x = item->wait;
	const char *at = outcome_record_lines(x->record, &x->w->key.uid);
	struct record_line line;
	while (at && *at && outcome_record_next(&at, &line))
		if (!line.holds && record_line_is_of(&line, item->text))
			recall_member(q, s, &line);
}

void predecessors_recall_for(struct queue *q, struct dependency_wait *x)
{
	for (size_t i = 0; i < x->nitems; i++) {
		struct awaited *a = x->item[i].awaited;
		if (!a || !a->is_selector)
			continue;
		predecessors_recall(q, selector_of(a), &x->item[i]);
		ns_settle(q, a->ns, NULL);
	}
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
	queue_tell(q, TAKE_WANTED, .gave = true, .wanted = ret);
	return true;
}

/* Returns the name's newest Job, if the answer does not name it though it was to; else NULL. A Job
 * that is spared is so once less afterwards. */
static struct known_job *unnamed(struct predecessor_name *n, uint64_t mark)
{
	struct known_job *newest = known_jobs_newest(&n->jobs);
	if (n->mark == mark || !newest || newest->gone || newest->followed)
		return NULL;
	if (newest->spared == 0)
		return newest;
	newest->spared--;
	return NULL;
}

static void vanish(struct queue *q, struct predecessor_name *n, struct known_job *j)
{
	job_is_gone(q, n, j, j->told_end ? OUTCOME_DELETED : OUTCOME_VANISHED);
}

/* Lets the name's newest Job vanish if the answer does not name it: it is not on the API server any
 * more, and nothing told of its end. */
static void vanish_unnamed(struct queue *q, struct predecessor_name *n, uint64_t mark)
{
	struct known_job *j = unnamed(n, mark);
	n->missed = false;
	if (j)
		vanish(q, n, j);
}

/* Asks for the names of Jobs that the answer does not name: such a Job is gone, or has lost its
 * labels and is there. For one that has ended that makes no difference. */
static void miss_unnamed(struct queue *q, struct predecessor_selector *s, uint64_t mark)
{
	for (size_t i = 0; i < s->ntaken; i++) {
		struct predecessor_name *n = s->taken[i];
		struct known_job *j = unnamed(n, mark);
		if (j && outcome_ended(j->outcome)) {
			vanish(q, n, j);
		} else if (j) {
			n->missed = true;
			wanted_ask(q, &n->awaited.wanted, &s->awaited.ns->questions);
		}
	}
}

static void take_answer(struct queue *q, struct awaited *a, const struct predecessor *p, size_t n)
{
	struct predecessor_namespace *ns = a->ns;
	uint64_t mark = ++q->predecessors->answers;
	for (size_t i = 0; i < n; i++) {
		struct predecessor_name *known = predecessor_name_known(ns, p[i].name);
		if (!known || !is_stale(known, &p[i]))
			ns_take(q, ns, &p[i]);
		known = predecessor_name_known(ns, p[i].name);
		if (known && (a->is_selector || !p[i].gone))
			known->mark = mark;
	}
	if (!a->is_selector) {
		vanish_unnamed(q, name_of(a), mark);
		name_moved(name_of(a));
		return;
	}
	miss_unnamed(q, selector_of(a), mark);
	ns->selectors_moved |= selector_of(a)->bit;
}

/* A selector that takes too many does not hold, whatever has become of them: so none is looked at. */
void queue_answer_wanted(struct queue *q, uint64_t id, const struct predecessor *p, size_t n)
{
	queue_tell(q, ANSWER_WANTED, .id = id, .predecessors = p, .npredecessors = n);
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

void predecessors_return(struct queue *q, uint64_t id)
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

void queue_return_wanted(struct queue *q, uint64_t id)
{
	queue_tell(q, RETURN_WANTED, .id = id);
	predecessors_return(q, id);
}

void queue_begin_job_list(struct queue *q)
{
	queue_tell(q, BEGIN_JOB_LIST);
	q->predecessors->listing = true;
}

void queue_end_job_list(struct queue *q)
{
	queue_tell(q, END_JOB_LIST);
	q->predecessors->listing = false;
}

void queue_follow_predecessors(struct queue *q)
{
	queue_tell(q, FOLLOW_PREDECESSORS);
	q->predecessors->wanteds.all_told = true;
}
