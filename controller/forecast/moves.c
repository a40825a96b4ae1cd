#include "controller/forecast/moves.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"

enum {
	NAME_SIZE = 254,
	KIND_SIZE = 18,
	CHANGES_MAX = 128, /* of objects whose names are kept */
};

/* ---- a memory, as it lies in an answer --------------------------------------------------------- */

/* Of the Job with the same index among the etas. */
struct told {
	int64_t start_ms; /* PLAY_NEVER */
	uint64_t tree;
	uint32_t in;	   /* the answer that said so */
	uint32_t first_in; /* the answer that had the Job first */
	uint64_t itself;   /* a digest of what it is */
};

struct moved {
	uint32_t eta;
	bool is_later, itself, partial;
	int64_t from_ms, at_ms;
	uint32_t came, gone, longer, sooner, nodes_came, nodes_went, objects, unused;
	uint32_t change[MOVES_NAMES]; /* numbers of struct change */
};

enum fact_kind {
	FACT_GONE,
	FACT_LONGER,
	FACT_SOONER,
	FACT_NODES_CAME,
	FACT_NODES_WENT,
	FACT_OBJECT,
};

/* Happened before the answer `in`, and after the one before it. */
struct fact {
	uint64_t tree; /* 0: concerns all */
	uint32_t in;
	uint32_t kind;
	uint32_t count; /* FACT_OBJECT: the number of struct change */
	uint32_t unused;
};

struct change {
	uint32_t number; /* from 1 on */
	bool is_new;	 /* in its tree */
	char kind[KIND_SIZE], name[NAME_SIZE];
};

struct object {
	uint64_t tree, name, edition; /* name: a digest of kind and name */
	uint64_t is_new;	      /* in this answer: it is a fact */
};

struct run {
	struct uid uid;
	uint64_t tree;
	int64_t since_ms;
	int64_t least_ms, most_ms; /* when it was to end */
	uint64_t counted;	   /* that it went on for longer */
};

struct head {
	uint32_t answer, changes_made; /* numbers: of this answer, of the newest change */
	uint64_t nodes_came, nodes_went;
	uint64_t has_all_objects;
	uint64_t told, moved, facts, changes, objects,
		runs; /* so many of each follow, in this order */
};

struct memory {
	struct head head;
	struct told *told;
	struct moved *moved; /* by eta */
	struct fact *fact;   /* the oldest first */
	struct change *change;
	struct object *object; /* by tree and name */
	struct run *run;       /* by uid */
};

static size_t bytes_of(const struct head *h)
{
	return sizeof(*h) + h->told * sizeof(struct told) + h->moved * sizeof(struct moved) +
	       h->facts * sizeof(struct fact) + h->changes * sizeof(struct change) +
	       h->objects * sizeof(struct object) + h->runs * sizeof(struct run);
}

static void *part(char **at, uint64_t n, size_t size)
{
	void *ret = *at;
	*at += n * size;
	return ret;
}

/* Borrows from the answer. False: it has no memory. */
static bool memory_read(const struct ask_answer *a, struct memory *ret)
{
	if (!a || a->text.len < sizeof(ret->head))
		return false;
	char *at = (char *)(uintptr_t)a->text.ptr;
	memcpy(&ret->head, at, sizeof(ret->head));
	if (ret->head.told != a->n || bytes_of(&ret->head) > a->text.len)
		return false;
	at += sizeof(ret->head);
	ret->told = part(&at, ret->head.told, sizeof(*ret->told));
	ret->moved = part(&at, ret->head.moved, sizeof(*ret->moved));
	ret->fact = part(&at, ret->head.facts, sizeof(*ret->fact));
	ret->object = part(&at, ret->head.objects, sizeof(*ret->object));
	ret->run = part(&at, ret->head.runs, sizeof(*ret->run));
	ret->change = part(&at, ret->head.changes, sizeof(*ret->change));
	return true;
}

static void memory_write(const struct memory *m, struct buf *out)
{
	const struct head *h = &m->head;
	buf_add(out, h, sizeof(*h));
	buf_add(out, m->told, h->told * sizeof(*m->told));
	buf_add(out, m->moved, h->moved * sizeof(*m->moved));
	buf_add(out, m->fact, h->facts * sizeof(*m->fact));
	buf_add(out, m->object, h->objects * sizeof(*m->object));
	buf_add(out, m->run, h->runs * sizeof(*m->run));
	buf_add(out, m->change, h->changes * sizeof(*m->change));
}

/* In the middle of making one. */
struct making {
	const struct moves_world *world;
	bool has_old;
	struct memory old, now;
	const struct eta *eta, *old_eta;
	size_t n;
};

/* ---- facts ------------------------------------------------------------------------------------- */

static void add_fact(struct making *m, uint64_t tree, enum fact_kind kind, uint64_t count)
{
	struct memory *now = &m->now;
	if (count == 0)
		return;
	if (now->head.facts == MOVES_FACTS_MAX) {
		now->head.facts = MOVES_FACTS_MAX / 2;
		memmove(now->fact, now->fact + MOVES_FACTS_MAX / 2,
			now->head.facts * sizeof(*now->fact));
	}
	now->fact[now->head.facts++] = (struct fact){.tree = tree,
		.in = now->head.answer,
		.kind = kind,
		.count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX};
}

/* Facts of one tree and answer come one after the other, and are counted as one. */
static void count_fact(struct making *m, uint64_t tree, enum fact_kind kind)
{
	struct memory *now = &m->now;
	for (size_t i = now->head.facts; i > 0 && now->fact[i - 1].in == now->head.answer; i--) {
		struct fact *f = &now->fact[i - 1];
		if (f->tree == tree && f->kind == kind) {
			f->count++;
			return;
		}
	}
	add_fact(m, tree, kind, 1);
}

static void keep_old_facts(struct making *m)
{
	size_t n = m->has_old ? m->old.head.facts : 0;
	m->now.fact = mem_array(MOVES_FACTS_MAX, sizeof(*m->now.fact));
	if (n > 0)
		memcpy(m->now.fact, m->old.fact, n * sizeof(*m->now.fact));
	m->now.head.facts = n;
}

/* ---- nodes ------------------------------------------------------------------------------------- */

static void look_at_nodes(struct making *m)
{
	struct node_traffic t = queue_node_traffic(m->world->queue);
	m->now.head.nodes_came = t.came;
	m->now.head.nodes_went = t.went;
	if (!m->has_old)
		return;
	add_fact(m, 0, FACT_NODES_CAME, t.came - m->old.head.nodes_came);
	add_fact(m, 0, FACT_NODES_WENT, t.went - m->old.head.nodes_went);
}

/* ---- objects of admins ------------------------------------------------------------------------- */

static int object_cmp(const struct object *a, const struct object *b)
{
	if (a->tree != b->tree)
		return a->tree < b->tree ? -1 : 1;
	return a->name == b->name ? 0 : a->name < b->name ? -1 : 1;
}

static int by_tree_and_name(const void *a, const void *b)
{
	return object_cmp(a, b);
}

static struct object object_of(uint64_t tree, const struct admin_object *o)
{
	return (struct object){.tree = tree,
		.name = map_hash_string(o->kind) ^ map_hash_string(o->name) * 31,
		.edition = o->edition};
}

static void take_object(uint64_t tree, const struct admin_object *o, void *ctx)
{
	struct memory *now = ctx;
	if (now->head.objects < MOVES_OBJECTS_MAX)
		now->object[now->head.objects++] = object_of(tree, o);
}

static void sort_objects(struct memory *now)
{
	size_t n = 0;
	qsort(now->object, now->head.objects, sizeof(*now->object), by_tree_and_name);
	for (size_t i = 0; i < now->head.objects; i++)
		if (n == 0 || object_cmp(&now->object[n - 1], &now->object[i]) != 0)
			now->object[n++] = now->object[i];
	now->head.objects = n;
}

static struct object *find_object(const struct memory *m, const struct object *like)
{
	if (m->head.objects == 0)
		return NULL;
	return bsearch(like, m->object, m->head.objects, sizeof(*like), by_tree_and_name);
}

/* Its number. */
static uint32_t keep_change(struct memory *now, const struct admin_object *o, bool is_new)
{
	if (now->head.changes == CHANGES_MAX)
		memmove(now->change, now->change + 1, --now->head.changes * sizeof(*now->change));
	struct change *c = &now->change[now->head.changes++];
	*c = (struct change){.number = ++now->head.changes_made, .is_new = is_new};
	strncpy(c->kind, o->kind, sizeof(c->kind) - 1);
	strncpy(c->name, o->name, sizeof(c->name) - 1);
	return c->number;
}

/* A flavor may be named by many queues of a tree, and is one change. */
static void look_at_object(uint64_t tree, const struct admin_object *o, void *ctx)
{
	struct making *m = ctx;
	struct object like = object_of(tree, o);
	struct object *now = find_object(&m->now, &like);
	const struct object *before = find_object(&m->old, &like);
	if (now->is_new || (before && before->edition == like.edition))
		return;
	now->is_new = 1;
	add_fact(m, tree, FACT_OBJECT, keep_change(&m->now, o, !before));
}

static bool has_tree(const struct memory *m, uint64_t tree)
{
	size_t low = 0, high = m->head.objects;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->object[middle].tree < tree)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->head.objects && m->object[low].tree == tree;
}

/* The queue does not know their names any more. */
static void look_at_removed(struct making *m)
{
	static const struct admin_object removed = {"", "", 0};
	for (size_t i = 0; i < m->old.head.objects; i++) {
		const struct object *old = &m->old.object[i];
		if (!find_object(&m->now, old) && has_tree(&m->now, old->tree))
			add_fact(m, old->tree, FACT_OBJECT, keep_change(&m->now, &removed, false));
	}
}

static void look_at_objects(struct making *m)
{
	struct memory *now = &m->now;
	size_t n = m->has_old ? m->old.head.changes : 0;
	now->object = mem_array(MOVES_OBJECTS_MAX, sizeof(*now->object));
	now->change = mem_array(CHANGES_MAX, sizeof(*now->change));
	if (n > 0)
		memcpy(now->change, m->old.change, n * sizeof(*now->change));
	now->head.changes = n;
	now->head.changes_made = m->has_old ? m->old.head.changes_made : 0;
	queue_each_admin_object(m->world->queue, take_object, now);
	now->head.has_all_objects = now->head.objects < MOVES_OBJECTS_MAX;
	sort_objects(now);
	if (!m->old.head.has_all_objects || !now->head.has_all_objects)
		return; /* what was left out would look new, or removed */
	queue_each_admin_object(m->world->queue, look_at_object, m);
	look_at_removed(m);
}

/* ---- runs -------------------------------------------------------------------------------------- */

static int by_uid(const void *a, const void *b)
{
	return uid_cmp(&((const struct run *)a)->uid, &((const struct run *)b)->uid);
}

static const struct run *find_run(const struct memory *m, const struct uid *uid)
{
	struct run like = {.uid = *uid};
	return m->head.runs ? bsearch(&like, m->run, m->head.runs, sizeof(like), by_uid) : NULL;
}

static int64_t later_by(int64_t at_ms, int64_t by_ms)
{
	return by_ms < INT64_MAX - at_ms ? at_ms + by_ms : INT64_MAX;
}

/* One that has fewer pods than it could have takes longer, as its pods come and go. */
static bool has_known_length(const struct job_outline *o)
{
	bool has_all = o->full_pods == 0 || o->pods == o->full_pods;
	return o->holds_quota && o->confirmed && !o->ends && has_all;
}

static void take_run(const struct job_outline *o, void *ctx)
{
	struct making *m = ctx;
	int64_t now_ms = m->world->now_ms, least_ms, most_ms;
	if (!has_known_length(o) || m->now.head.runs == MOVES_RUNS_MAX)
		return;
	int64_t ran_ms = now_ms > o->since_ms ? now_ms - o->since_ms : 0;
	m->world->lasts(o, ran_ms, &least_ms, &most_ms, m->world->ctx);
	m->now.run[m->now.head.runs++] = (struct run){.uid = o->uid,
		.tree = queue_tree_of(m->world->queue, o->clusterqueue),
		.since_ms = o->since_ms,
		.least_ms = later_by(o->since_ms, least_ms),
		.most_ms = later_by(o->since_ms, most_ms)};
}

static void look_at_longer(struct making *m)
{
	for (size_t i = 0; i < m->now.head.runs; i++) {
		struct run *r = &m->now.run[i];
		const struct run *old = find_run(&m->old, &r->uid);
		if (!old || old->since_ms != r->since_ms)
			continue;
		r->counted = old->counted;
		if (r->counted || m->world->now_ms <= old->most_ms)
			continue;
		r->counted = 1;
		count_fact(m, r->tree, FACT_LONGER);
	}
}

/* It is no more, or ends by itself; one that was stopped waits again, or will. */
static bool has_ended(const struct queue *q, const struct uid *uid)
{
	struct job_outline o;
	return !queue_outline_job(q, uid, &o) || (o.ends && !o.returns);
}

static void look_at_sooner(struct making *m)
{
	for (size_t i = 0; i < m->old.head.runs; i++) {
		const struct run *old = &m->old.run[i];
		if (m->world->now_ms < old->least_ms && !find_run(&m->now, &old->uid) &&
			has_ended(m->world->queue, &old->uid))
			count_fact(m, old->tree, FACT_SOONER);
	}
}

static void look_at_runs(struct making *m)
{
	m->now.run = mem_array(MOVES_RUNS_MAX, sizeof(*m->now.run));
	queue_each_job(m->world->queue, take_run, m);
	qsort(m->now.run, m->now.head.runs, sizeof(*m->now.run), by_uid);
	if (!m->has_old)
		return;
	look_at_longer(m);
	look_at_sooner(m);
}

/* ---- what was told of each Job ----------------------------------------------------------------- */

static uint64_t digest_of(const struct job_outline *o)
{
	const int64_t numbers[] = {o->priority, o->pods, o->full_pods, o->expected_ms};
	return map_hash_bytes(numbers, sizeof(numbers)) ^ map_hash_string(o->localqueue) * 31;
}

static bool has_moved(int64_t told_ms, int64_t start_ms, int64_t now_ms)
{
	if (told_ms == PLAY_NEVER)
		return false;
	if (start_ms == PLAY_NEVER)
		return true;
	int64_t by_ms = start_ms > told_ms ? start_ms - told_ms : told_ms - start_ms;
	int64_t left_ms = told_ms > now_ms ? told_ms - now_ms : 0;
	return by_ms > MOVES_LEAST_MS && by_ms > left_ms / 4;
}

static struct moved *add_moved(struct making *m)
{
	/* A power of two: the room is full. */
	size_t n = m->now.head.moved++;
	if ((n & (n - 1)) == 0)
		m->now.moved = mem_grow(m->now.moved, n ? 2 * n : 1, sizeof(*m->now.moved));
	memset(&m->now.moved[n], 0, sizeof(*m->now.moved));
	return &m->now.moved[n];
}

static void note_move(struct making *m, size_t i, const struct told *old, const struct told *now)
{
	struct moved *x = add_moved(m);
	x->eta = (uint32_t)i;
	x->from_ms = old->start_ms;
	x->at_ms = m->world->now_ms;
	x->is_later = now->start_ms > old->start_ms;
	x->itself = now->itself != old->itself;
}

/* The move of which it was told before stays. */
static void keep_move(struct making *m, size_t i, size_t old_i, size_t *at)
{
	while (*at < m->old.head.moved && m->old.moved[*at].eta < old_i)
		++*at;
	if (*at == m->old.head.moved || m->old.moved[*at].eta != old_i)
		return;
	struct moved *x = add_moved(m);
	*x = m->old.moved[*at];
	x->eta = (uint32_t)i;
}

static struct told told_of(const struct making *m, size_t i)
{
	struct told t = {.start_ms = m->eta[i].start.p50_ms,
		.in = m->now.head.answer,
		.first_in = m->now.head.answer};
	struct job_outline o;
	if (queue_outline_job(m->world->queue, &m->eta[i].uid, &o)) {
		t.tree = queue_tree_of(m->world->queue, o.clusterqueue);
		t.itself = digest_of(&o);
	}
	return t;
}

/* In another tree it begins anew, as one that was told nothing. */
static void compare(struct making *m, size_t i, size_t old_i, size_t *moved_at)
{
	const struct told *old = &m->old.told[old_i];
	struct told *now = &m->now.told[i];
	now->first_in = old->first_in;
	if (now->tree != old->tree || old->start_ms == PLAY_NEVER)
		return;
	if (has_moved(old->start_ms, now->start_ms, m->world->now_ms)) {
		note_move(m, i, old, now);
		return;
	}
	now->start_ms = old->start_ms;
	now->in = old->in;
	keep_move(m, i, old_i, moved_at);
}

/* It was to start later than now, and waits no more. One that runs has started sooner. */
static void look_at_missing(struct making *m, size_t old_i)
{
	const struct eta *old = &m->old_eta[old_i];
	struct job_outline o;
	bool was_to_start = old->start.p50_ms != PLAY_NEVER && old->start.p50_ms > m->world->now_ms;
	if (was_to_start && !queue_outline_job(m->world->queue, &old->uid, &o))
		count_fact(m, m->old.told[old_i].tree, FACT_GONE);
}

/* It waits on, and does not start in most plays any more: it is held, say. */
static void look_at_halted(struct making *m, size_t i, size_t old_i)
{
	if (m->old_eta[old_i].start.p50_ms != PLAY_NEVER && m->eta[i].start.p50_ms == PLAY_NEVER)
		count_fact(m, m->old.told[old_i].tree, FACT_GONE);
}

/* Both lists of etas are by uid. */
static void look_at_jobs(struct making *m)
{
	size_t old_i = 0, moved_at = 0, i = 0;
	m->now.told = mem_array(m->n + 1, sizeof(*m->now.told));
	m->now.head.told = m->n;
	while (i < m->n || old_i < m->old.head.told) {
		int order = i == m->n ? 1
			    : old_i == m->old.head.told
				    ? -1
				    : uid_cmp(&m->eta[i].uid, &m->old_eta[old_i].uid);
		if (order > 0) {
			look_at_missing(m, old_i++);
			continue;
		}
		m->now.told[i] = told_of(m, i);
		if (order == 0) {
			compare(m, i, old_i, &moved_at);
			look_at_halted(m, i, old_i++);
		}
		i++;
	}
}

/* ---- why --------------------------------------------------------------------------------------- */

/* Moves of this answer, to be explained together. */
struct puzzle {
	uint64_t tree;
	uint32_t since; /* the answer that told otherwise */
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

static void add_reason(struct moved *x, const struct fact *f)
{
	switch ((enum fact_kind)f->kind) {
	case FACT_GONE:
		x->gone += x->is_later ? 0 : f->count;
		return;
	case FACT_LONGER:
		x->longer += x->is_later ? f->count : 0;
		return;
	case FACT_SOONER:
		x->sooner += x->is_later ? 0 : f->count;
		return;
	case FACT_NODES_CAME:
		x->nodes_came += x->is_later ? 0 : f->count;
		return;
	case FACT_NODES_WENT:
		x->nodes_went += x->is_later ? f->count : 0;
		return;
	case FACT_OBJECT:
		for (uint32_t i = 0; i < x->objects && i < MOVES_NAMES; i++)
			if (x->change[i] == f->count)
				return;
		if (x->objects < MOVES_NAMES)
			x->change[x->objects] = f->count;
		x->objects++;
		return;
	}
}

/* The newest first, as far back as was told otherwise. */
static void gather_reasons(const struct memory *now, const struct puzzle *p)
{
	size_t i = now->head.facts;
	while (i > 0 && now->fact[i - 1].in > p->since) {
		i--;
		if (now->fact[i].tree == p->tree || now->fact[i].tree == 0)
			add_reason(p->moved, &now->fact[i]);
	}
	p->moved->partial = i == 0 && now->head.facts >= MOVES_FACTS_MAX / 2;
}

/* Many Jobs move for one reason: facts are gone through once for all those of a tree and an answer. */
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
		x->gone = of->gone;
		x->longer = of->longer;
		x->sooner = of->sooner;
		x->nodes_came = of->nodes_came;
		x->nodes_went = of->nodes_went;
		x->objects = of->objects;
		x->partial = of->partial;
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

/* Newcomers by tree and start, with the answer that had them first: only these can have come since. */
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

/* The first newcomer that is not before. */
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

/* Sums over the first newcomers (a Fenwick tree), of those that came since some answer. */
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

/* By answer, the newest first: so newcomers are put in as far as the next question wants them. */
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
			p[i].moved->came =
				sums_before(&s, place_of(all, comers, p[i].tree, p[i].start_ms)) -
				sums_before(&s, place_of(all, comers, p[i].tree, INT64_MIN));
	}
	free(s.sum);
	free(newest);
	free(all);
}

/* What moved in this answer, and not in one before. */
static void explain_moves(struct making *m)
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

void moves_remember(const struct moves_world *w, const struct ask_answer *before,
	const struct eta *eta, size_t n, struct buf *out)
{
	struct making m = {.world = w, .eta = eta, .n = n};
	m.has_old = memory_read(before, &m.old);
	if (!m.has_old)
		m.old = (struct memory){0};
	m.old_eta = m.has_old ? before->eta : NULL;
	m.now.head.answer = m.old.head.answer + 1;
	keep_old_facts(&m);
	look_at_nodes(&m);
	look_at_objects(&m);
	look_at_runs(&m);
	look_at_jobs(&m);
	explain_moves(&m);
	memory_write(&m.now, out);
	free(m.now.told);
	free(m.now.moved);
	free(m.now.fact);
	free(m.now.change);
	free(m.now.object);
	free(m.now.run);
}

/* ---- what is told ------------------------------------------------------------------------------ */

static const struct moved *find_moved(const struct memory *m, size_t eta)
{
	size_t low = 0, high = m->head.moved;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->moved[middle].eta < eta)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->head.moved && m->moved[low].eta == eta ? &m->moved[low] : NULL;
}

/* NULL: it was too long ago to be kept. */
static const struct change *find_change(const struct memory *m, uint32_t number)
{
	for (size_t i = 0; i < m->head.changes; i++)
		if (m->change[i].number == number)
			return &m->change[i];
	return NULL;
}

static bool is_named(const struct move *m, size_t n, const struct change *c)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(m->kind[i], c->kind) == 0 && strcmp(m->name[i], c->name) == 0)
			return true;
	return false;
}

/* One that was changed twice is one. */
static void name_objects(const struct memory *m, const struct moved *x, struct move *ret)
{
	size_t n = 0;
	for (uint32_t i = 0; i < x->objects && i < MOVES_NAMES; i++) {
		const struct change *c = find_change(m, x->change[i]);
		if (!c)
			continue;
		if (is_named(ret, n, c)) {
			ret->objects--;
			continue;
		}
		ret->is_new[n] = c->is_new;
		ret->kind[n] = c->kind;
		ret->name[n++] = c->name;
	}
}

bool moves_find(const struct ask_answer *a, const struct eta *eta, struct move *ret)
{
	struct memory m;
	if (!memory_read(a, &m))
		return false;
	const struct moved *x = find_moved(&m, (size_t)(eta - a->eta));
	if (!x)
		return false;
	*ret = (struct move){.from_ms = x->from_ms,
		.at_ms = x->at_ms,
		.is_later = x->is_later,
		.itself = x->itself,
		.partial = x->partial,
		.came = x->came,
		.gone = x->gone,
		.longer = x->longer,
		.sooner = x->sooner,
		.nodes_came = x->nodes_came,
		.nodes_went = x->nodes_went,
		.objects = x->objects};
	name_objects(&m, x, ret);
	return true;
}

/* ---- in words ---------------------------------------------------------------------------------- */

static void begin_reason(size_t empty, struct buf *out)
{
	if (out->len > empty)
		buf_puts(out, ", ");
}

static void say_objects(const struct move *m, size_t empty, struct buf *out)
{
	uint32_t named = 0;
	for (; named < MOVES_NAMES && m->name[named]; named++) {
		begin_reason(empty, out);
		if (*m->name[named])
			buf_printf(out, "%s %s %s", m->kind[named], m->name[named],
				m->is_new[named] ? "is new" : "was changed");
		else
			buf_puts(out, "an object of an admin was removed");
	}
	if (m->objects == named)
		return;
	begin_reason(empty, out);
	buf_printf(out, "%" PRIu32 " %s", m->objects - named,
		named > 0 ? "other objects of admins were changed"
			  : "objects of admins were changed");
}

static void say_count(const struct move *m, uint32_t n, const char *one, const char *many,
	size_t empty, struct buf *out)
{
	if (n == 0)
		return;
	begin_reason(empty, out);
	buf_printf(out, "%s%" PRIu32 " %s", m->partial ? "at least " : "", n, n == 1 ? one : many);
}

void moves_say_why(const struct move *m, struct buf *out)
{
	size_t empty = out->len;
	if (m->itself)
		buf_puts(out, "the Job itself was changed");
	say_objects(m, empty, out);
	say_count(m, m->came, "Job came that starts before it", "Jobs came that start before it",
		empty, out);
	say_count(m, m->gone, "Job that waited is gone or held back",
		"Jobs that waited are gone or held back", empty, out);
	say_count(m, m->longer, "run went on for longer than expected",
		"runs went on for longer than expected", empty, out);
	say_count(m, m->sooner, "run ended sooner than expected", "runs ended sooner than expected",
		empty, out);
	say_count(m, m->nodes_came, "node came", "nodes came", empty, out);
	say_count(m, m->nodes_went, "node went", "nodes went", empty, out);
	if (out->len == empty)
		buf_puts(out,
			m->is_later
				? "nothing else is known to have changed: runs are expected to take longer than before"
				: "nothing else is known to have changed: runs are expected to take less long than before");
}
