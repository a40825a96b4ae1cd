#include "queue/features/dependencies/explain_dependencies.h"

#include <string.h>

#include "base/order.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/features/dependencies/selectors.h"
#include "sluice/quantity.h"

#define CORRECT "create it, or correct sluice.dev/after"

/* Cuts names and items, which users write. */
static struct words shown(const char *s)
{
	return cut_words(s, 100);
}

/* ---- The graph of Jobs that wait for Jobs ---- */

/* Of a chain so many links are looked at, and of all that a Job waits for so many. Any user can
 * make longer ones. */
#define CHAIN_MAX 32
#define EDGES_MAX 500

/* The Jobs that one workload waits for, one after the other. */
struct edges {
	const struct queue *q;
	const struct workload *w;
	size_t at;   /* in its items */
	size_t name; /* of a selector: the next that is looked at, in its taken */
};

static const struct workload *newest_of(const struct queue *q, const struct predecessor_name *n)
{
	const struct known_job *newest = predecessor_newest(n);
	return newest ? queue_find_workload(q, &newest->uid) : NULL;
}

/* The next name that the selector of this item takes. */
static const struct predecessor_name *next_taken(
	struct edges *e, const struct predecessor_selector *s, size_t *budget)
{
	if (*budget > 0 && e->name < s->ntaken) {
		(*budget)--;
		return s->taken[e->name++];
	}
	e->name = 0;
	return NULL;
}

/* The next workload; NULL: that was the last. *ret_item: by which item. */
static const struct workload *next_edge(
	struct edges *e, size_t *budget, const struct dependency_item **ret_item)
{
	const struct dependency_wait *x = e->w->after;
	while (x && *budget > 0 && e->at < x->nitems) {
		const struct dependency_item *item = &x->item[e->at];
		const struct predecessor_name *n = NULL;
		if (item->awaited && item->awaited->is_selector)
			n = next_taken(e, awaited_selector(item->awaited), budget);
		else if (item->awaited)
			n = awaited_name(item->awaited);
		if (!n || !item->awaited->is_selector) {
			e->at++;
			(*budget)--;
		}
		const struct workload *other = n ? newest_of(e->q, n) : NULL;
		if (other && other != e->w) {
			*ret_item = item;
			return other;
		}
	}
	return NULL;
}

struct chain {
	struct edges step[CHAIN_MAX];
	int64_t tail_ms[CHAIN_MAX]; /* what comes after the start of that Job */
	size_t n;
	size_t budget;
};

static void chain_push(
	struct chain *c, const struct queue *q, const struct workload *w, int64_t tail_ms)
{
	c->step[c->n] = (struct edges){q, w, 0, 0};
	c->tail_ms[c->n] = tail_ms;
	c->n++;
}

static bool is_waiting(const struct workload *w)
{
	return !w->reservation && !dependencies_hold(w);
}

/* ---- Cycles ---- */

#define VISITED_MAX 256

static size_t place_in(const struct chain *c, const struct workload *w)
{
	size_t i = 0;
	while (i < c->n && c->step[i].w != w)
		i++;
	return i;
}

static bool add_visited(const struct workload **visited, size_t *n, const struct workload *w)
{
	for (size_t i = 0; i < *n; i++)
		if (visited[i] == w)
			return false;
	if (*n == VISITED_MAX)
		return false;
	visited[(*n)++] = w;
	return true;
}

/* Leaves in c the way to a Job that waits for one before it: *ret_from. */
static bool find_cycle(
	const struct queue *q, const struct workload *w, struct chain *c, size_t *ret_from)
{
	const struct workload *visited[VISITED_MAX];
	const struct dependency_item *item;
	size_t nvisited = 0;
	*c = (struct chain){.budget = EDGES_MAX};
	chain_push(c, q, w, 0);
	while (c->n > 0) {
		const struct workload *next = next_edge(&c->step[c->n - 1], &c->budget, &item);
		if (!next) {
			c->n--;
			continue;
		}
		*ret_from = place_in(c, next);
		if (*ret_from < c->n)
			return true;
		if (c->n < CHAIN_MAX && is_waiting(next) && add_visited(visited, &nvisited, next))
			chain_push(c, q, next, 0);
	}
	return false;
}

static bool explain_cycle(const struct question *a)
{
	struct chain c;
	size_t from;
	if (!find_cycle(a->q, a->w, &c, &from))
		return false;
	text_add(a->text, "waits in a circle of Jobs, none of which can start: ");
	for (size_t i = from; i < c.n; i++)
		text_add(a->text, "%s waits for %s%s", shown(c.step[i].w->name).s,
			shown(c.step[i + 1 < c.n ? i + 1 : from].w->name).s,
			i + 1 < c.n ? ", " : "; ");
	text_add(a->text, "take an item out of sluice.dev/after of one of them");
	return true;
}

/* ---- Deadlines ---- */

static int64_t expected_end_ms(const struct workload *w, int64_t now_ms)
{
	return greater(now_ms, quantity_add(w->reservation->since_ms, w->expected_ms));
}

int64_t explain_chain_ms(const struct queue *q, const struct workload *w, int64_t now_ms)
{
	struct chain c = {.budget = EDGES_MAX};
	const struct dependency_item *item;
	int64_t earliest_ms = now_ms;
	if (!w->reservation)
		chain_push(&c, q, w, 0);
	while (c.n > 0) {
		int64_t tail_ms = c.tail_ms[c.n - 1];
		const struct workload *next = next_edge(&c.step[c.n - 1], &c.budget, &item);
		if (!next) {
			c.n--;
			continue;
		}
		bool starts = item->kind == AFTER_START;
		if (next->reservation && !starts)
			earliest_ms = greater(
				earliest_ms, quantity_add(expected_end_ms(next, now_ms), tail_ms));
		if (next->reservation)
			continue;
		tail_ms = quantity_add(tail_ms, starts ? 0 : next->expected_ms);
		earliest_ms = greater(earliest_ms, quantity_add(now_ms, tail_ms));
		if (c.n < CHAIN_MAX && place_in(&c, next) == c.n)
			chain_push(&c, q, next, tail_ms);
	}
	return earliest_ms;
}

/* ---- Failures ---- */

static void add_outcome(struct text *t, const struct known_job *j, enum dependency_kind k)
{
	switch (j->outcome) {
	case OUTCOME_SUCCEEDED:
		text_add(t, " succeeded");
		break;
	case OUTCOME_FAILED:
		text_add(t, " failed");
		break;
	case OUTCOME_DELETED:
		text_add(t, " was deleted before it ended");
		break;
	case OUTCOME_WAITS:
	case OUTCOME_RUNS:
	case OUTCOME_VANISHED:
	case OUTCOME_NONE:
		break;
	}
	if (j->outcome == OUTCOME_FAILED && j->failure && k != AFTER_NOT_OK)
		text_add(t, " (%s)", cut_words(j->failure, 150).s);
}

void explain_failed_dependency(const struct dependency_wait *x, struct text *t)
{
	const struct dependency_item *item = x->item;
	while (item->verdict != VERDICT_NEVER)
		item++;
	const struct predecessor_name *n =
		item->awaited->is_selector
			? selector_culprit(awaited_selector(item->awaited), item->kind)
			: awaited_name(item->awaited);
	text_add(t, "waits in vain for %s", shown(item->text).s);
	if (n) {
		text_add(t, ": %s", shown(n->name).s);
		add_outcome(t, predecessor_newest(n), item->kind);
	}
	if (x->nnever > 1)
		text_add(t, ", and for %s", count_words(x->nnever - 1, "other item").s);
	text_add(t, "; create a Job of that name again, or correct sluice.dev/after");
}

/* ---- What it waits for ---- */

/* " to fail" of "waits for prep to fail". */
static const char *goal_words(enum dependency_kind k)
{
	switch (k) {
	case AFTER_OK:
		return " to succeed";
	case AFTER_NOT_OK:
		return " to fail";
	case AFTER_START:
		return " to start";
	case AFTER_ANY:
	case AFTER_SINGLETON:
		break;
	}
	return " to end";
}

/* Adds to the name of a Job what must become of it, and how far that is. */
static void add_goal(struct text *t, const struct dependency_item *item, const struct known_job *j)
{
	text_add(t, "%s", goal_words(item->kind));
	if (j->outcome == OUTCOME_RUNS && j->pods > 0)
		text_add(
			t, " (%d of %s done)", j->pods_done, count_words((size_t)j->pods, "pod").s);
	else if (j->outcome == OUTCOME_RUNS)
		text_add(t, " (it was started)");
}

static void add_name(struct text *t, const struct dependency_item *item)
{
	const struct predecessor_name *n = awaited_name(item->awaited);
	const struct known_job *j = predecessor_newest(n);
	text_add(t, "%s", shown(n->name).s);
	if (n->awaited.wanted.answered < item->needs)
		text_add(t, " (that Job is being looked up)");
	else if (!j && n->was_deleted)
		text_add(t,
			", which was deleted before it was started: create it again, or correct sluice.dev/after");
	else if (!j)
		text_add(t,
			", but there is no Job of that name, and the ledger knows of none: " CORRECT);
	else if (j->outcome == OUTCOME_VANISHED)
		text_add(t,
			", which was started and is gone, so its outcome is not known: create it again, or correct sluice.dev/after");
	else
		add_goal(t, item, j);
}

static void add_selector(
	struct text *t, const struct predecessor_selector *s, const struct dependency_item *item)
{
	enum outcome own = selector_own(s, item->wait->w);
	size_t holding = 0, others = s->ntaken - (own != OUTCOME_NONE);
	for (enum outcome o = 0; o < OUTCOMES; o++)
		if (outcome_verdict(o, item->kind) == VERDICT_HOLDS)
			holding += s->with[o] - (o == own);
	text_add(t, "%s", shown(item->text).s);
	if (s->awaited.wanted.answered < item->needs)
		text_add(t, " (its Jobs are being looked up)");
	else if (s->too_many)
		text_add(t, ", which selects more than %d Jobs: let it select fewer",
			PREDECESSOR_TAKEN_MAX);
	else if (others == 0)
		text_add(t,
			", which selects no Job: create one with these labels, or correct sluice.dev/after");
	else
		text_add(t, " (met by %zu of %zu Jobs)", holding, others);
}

static void add_item(struct text *t, const struct dependency_item *item)
{
	if (item->awaited && item->awaited->is_selector)
		add_selector(t, awaited_selector(item->awaited), item);
	else if (item->awaited)
		add_name(t, item);
	else
		text_add(t,
			"%s, which is looked at when fewer than %d other selectors are waited for in its namespace",
			shown(item->text).s, PREDECESSOR_SELECTORS_MAX);
}

/* The first that it waits for and that waits itself. */
static const struct workload *first_waiting(const struct queue *q, const struct workload *w)
{
	struct edges e = {q, w, 0, 0};
	const struct dependency_item *item;
	size_t budget = EDGES_MAX;
	const struct workload *other;
	while ((other = next_edge(&e, &budget, &item)))
		if (!other->reservation)
			return other;
	return NULL;
}

/* "for prep" of "waits for prep". */
static const char *after_verb(const char *sentence)
{
	static const char *const verbs[] = {"waiting ", "waits "};
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strncmp(sentence, verbs[i], strlen(verbs[i])) == 0)
			return sentence + strlen(verbs[i]);
	return sentence;
}

static void add_waiting(
	const struct question *a, void (*explain)(struct question *a, const struct workload *w))
{
	char words[400];
	struct text sub = text_over(words, sizeof(words));
	const struct workload *other = first_waiting(a->q, a->w);
	if (!other)
		return;
	struct question about = {.q = a->q, .now_ms = a->now_ms, .text = &sub, .aside = true};
	explain(&about, other);
	text_add(a->text, "; %s itself waits: %s", shown(other->name).s, after_verb(words));
}

enum wait_reason explain_dependencies(
	struct question *a, void (*explain)(struct question *a, const struct workload *w))
{
	const struct dependency_wait *x = a->w->after;
	if (dependencies_hold(a->w))
		return WAIT_NOT;
	if (x->nnever > 0) {
		explain_failed_dependency(x, a->text);
		return WAIT_DEPENDENCY_NEVER;
	}
	if (explain_cycle(a))
		return WAIT_DEPENDENCY_NEVER;
	const struct dependency_item *item = x->item;
	while (item->verdict != VERDICT_WAITS)
		item++;
	size_t others = x->nitems - x->nheld - 1;
	text_add(a->text, "waits for ");
	add_item(a->text, item);
	if (others > 0)
		text_add(a->text, ", and for %s", count_words(others, "other item").s);
	if (!a->aside)
		add_waiting(a, explain);
	return WAIT_DEPENDENCY;
}

/* ---- The items as people ask for them: which hold, and which Jobs block the others ---- */

/* Of the Jobs that a selector takes so many are looked at: it may take thousands, and anybody may
 * ask. */
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
