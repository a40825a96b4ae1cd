#include "controller/forecast/moves_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Moves of this answer, to be explained together. */
struct puzzle {
	uint64_t tree;
	uint32_t since; /* the last answer that told another start */
	struct moved *moved;
	int64_t start_ms;
};

static int by_tree_and_answer(const void *a, const void *b)
{
	const struct puzzle *x = a, *y = b;
	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	if (x->since != y->since)
		return x->since > y->since ? -1 : 1; /* the newest first */
	return x->moved->eta < y->moved->eta ? -1 : 1;
}

/* Whether a fact makes starts later; else it makes them sooner. */
static const bool delays[MOVE_FACTS] = {[MOVE_CAME] = true,
	[MOVE_LONGER] = true,
	[MOVE_NODE_WENT] = true,
	[MOVE_MORE_TO_COME] = true};

static void add_object(struct moved *x, uint32_t change)
{
	uint32_t *n = &x->why.count[MOVE_OBJECT];
	for (uint32_t i = 0; i < *n && i < MOVES_NAMES; i++)
		if (x->change[i] == change)
			return;
	if (*n < MOVES_NAMES)
		x->change[*n] = change;
	++*n;
}

static void add_reason(struct moved *x, const struct fact *f)
{
	if (f->kind == MOVE_OBJECT)
		add_object(x, f->count);
	else if (delays[f->kind] == x->is_later)
		x->why.count[f->kind] += f->count;
}

/* Gathers reasons, the newest first, back to the answer that told another start. */
static void gather_reasons(const struct memory *now, const struct puzzle *p)
{
	size_t i = now->head.facts;
	while (i > 0 && now->fact[i - 1].in > p->since) {
		i--;
		if (now->fact[i].tree == p->tree || now->fact[i].tree == 0)
			add_reason(p->moved, &now->fact[i]);
	}
	p->moved->why.partial = i == 0 && now->head.facts >= MOVES_FACTS_MAX / 2;
}

/* Explains the moves of a tree and an answer at once: many Jobs move for one reason. */
static void explain_by_facts(const struct memory *now, const struct puzzle *p, size_t n)
{
	const struct puzzle *like[2] = {NULL, NULL}; /* sooner, later */
	for (size_t i = 0; i < n; i++) {
		const struct puzzle **same = &like[p[i].moved->is_later];
		if (!*same || (*same)->tree != p[i].tree || (*same)->since != p[i].since) {
			gather_reasons(now, &p[i]);
			*same = &p[i];
			continue;
		}
		const struct moved *of = (*same)->moved;
		struct moved *x = p[i].moved;
		x->why = of->why;
		memcpy(x->change, of->change, sizeof(x->change));
	}
}

/* A Job of a tree, by its start. */
struct starter {
	uint64_t tree;
	int64_t start_ms;
	uint32_t first_in;
};

static int by_tree_and_start(const void *a, const void *b)
{
	const struct starter *x = a, *y = b;
	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	return x->start_ms == y->start_ms ? 0 : x->start_ms < y->start_ms ? -1 : 1;
}

/* Gives the Jobs that came since an answer, by tree and start, with the answer that had each
 * first. */
static struct starter *newcomers_of(const struct making *m, uint32_t since, size_t *ret_n)
{
	struct starter *all = mem_array(m->n + 1, sizeof(*all));
	*ret_n = 0;
	for (size_t i = 0; i < m->n; i++)
		if (m->now.told[i].first_in > since)
			all[(*ret_n)++] = (struct starter){m->now.told[i].tree,
				m->eta[i].start.p50_ms, m->now.told[i].first_in};
	qsort(all, *ret_n, sizeof(*all), by_tree_and_start);
	return all;
}

/* Finds the first newcomer that does not start before then. */
static size_t place_of(const struct starter *all, size_t n, uint64_t tree, int64_t start_ms)
{
	const struct starter like = {tree, start_ms, 0};
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (by_tree_and_start(&all[middle], &like) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Sums over the first newcomers (a Fenwick tree), which count those that came since some answer. */
struct sums {
	uint32_t *sum;
	size_t n;
};

static void sums_add(struct sums *s, size_t at)
{
	for (size_t i = at + 1; i <= s->n; i += i & (~i + 1))
		s->sum[i]++;
}

static uint32_t sums_before(const struct sums *s, size_t at)
{
	uint32_t all = 0;
	for (size_t i = at; i > 0; i -= i & (~i + 1))
		all += s->sum[i];
	return all;
}

static int newest_first(const void *a, const void *b)
{
	const struct starter *const *x = a, *const *y = b;
	return (*x)->first_in == (*y)->first_in ? 0 : (*x)->first_in > (*y)->first_in ? -1 : 1;
}

/* Orders by answer, the newest first: so newcomers are put in as far as the next question wants
 * them. */
static int by_answer(const void *a, const void *b)
{
	const struct puzzle *x = a, *y = b;
	return x->since == y->since ? 0 : x->since > y->since ? -1 : 1;
}

static void explain_by_newcomers(const struct making *m, struct puzzle *p, size_t n)
{
	size_t comers, put = 0;
	qsort(p, n, sizeof(*p), by_answer);
	struct starter *all = newcomers_of(m, p[n - 1].since, &comers);
	const struct starter **newest = mem_array(comers + 1, sizeof(*newest));
	struct sums s = {mem_array(comers + 1, sizeof(*s.sum)), comers};
	for (size_t i = 0; i < comers; i++)
		newest[i] = &all[i];
	qsort(newest, comers, sizeof(*newest), newest_first);
	for (size_t i = 0; i < n; i++) {
		for (; put < comers && newest[put]->first_in > p[i].since; put++)
			sums_add(&s, (size_t)(newest[put] - all));
		if (p[i].moved->is_later)
			p[i].moved->why.count[MOVE_CAME] =
				sums_before(&s, place_of(all, comers, p[i].tree, p[i].start_ms)) -
				sums_before(&s, place_of(all, comers, p[i].tree, INT64_MIN));
	}
	free(s.sum);
	free(newest);
	free(all);
}

void moves_explain(struct making *m)
{
	struct puzzle *p = mem_array(m->now.head.moved + 1, sizeof(*p));
	size_t n = 0;
	for (size_t i = 0; i < m->now.head.moved; i++) {
		struct moved *x = &m->now.moved[i];
		const struct told *now = &m->now.told[x->eta];
		if (x->at_ms != m->world->now_ms || now->in != m->now.head.answer)
			continue;
		p[n++] = (struct puzzle){now->tree, 0, x, now->start_ms};
	}
	for (size_t i = 0, old_i = 0; i < n; i++) {
		const struct uid *uid = &m->eta[p[i].moved->eta].uid;
		while (uid_cmp(&m->old_eta[old_i].uid, uid) < 0)
			old_i++;
		p[i].since = m->old.told[old_i].in;
	}
	if (n > 0) {
		qsort(p, n, sizeof(*p), by_tree_and_answer);
		explain_by_facts(&m->now, p, n);
		explain_by_newcomers(m, p, n);
	}
	free(p);
}
