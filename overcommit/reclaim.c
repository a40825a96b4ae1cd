#include "overcommit/reclaim.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "overcommit/span.h"

enum {
	ALLOCATABLE_S = 10,   /* how long an agent's samples must say it */
	AGENT_GAP_MS = 30000, /* an agent of a calm node is no more silent than that */
};

/* Sums of any numbers fit in 128 bits. */
typedef __int128 wide;

struct pair { /* of cpu and memory */
	wide cpu, memory;
};

const char *reclaim_trigger_name(enum reclaim_trigger t)
{
	switch (t) {
	case RECLAIM_NONE:
		return "none";
	case RECLAIM_ALLOCATABLE:
		return "allocatable";
	case RECLAIM_MEMORY:
		return "memory";
	case RECLAIM_CPU:
		return "cpu";
	}
	return "none";
}

static struct load clean(struct load l)
{
	return load_max(l, (struct load){0, 0});
}

static struct load asked(const struct reclaim_pod *p)
{
	return clean(p->asked);
}

/* Returns what a pod uses: without a sample what it asks for, as everywhere. */
static struct load used(const struct reclaim_pod *p)
{
	return p->has_used ? clean(p->used) : asked(p);
}

static int descending(wide a, wide b)
{
	return (a < b) - (a > b);
}

/* Compares by what does not depend on the trigger: the first parts of the order. */
static int by_rank(const struct reclaim_pod *a, const struct reclaim_pod *b)
{
	if (a->ends_when_stopped != b->ends_when_stopped)
		return (int)a->ends_when_stopped - (int)b->ends_when_stopped;
	if (a->eviction_priority != b->eviction_priority)
		return a->eviction_priority < b->eviction_priority ? -1 : 1;
	if (a->priority != b->priority)
		return a->priority < b->priority ? -1 : 1;
	return (int)b->borrows - (int)a->borrows;
}

static int by_asked(const struct reclaim_pod *a, const struct reclaim_pod *b, bool memory_first)
{
	int cpu = descending(asked(a).cpu_milli, asked(b).cpu_milli);
	int memory = descending(asked(a).memory_bytes, asked(b).memory_bytes);
	if (memory_first)
		return memory ? memory : cpu;
	return cpu ? cpu : memory;
}

/* Compares by used / asked, the greater first; a pod that uses some and asks for none comes
 * first. */
static int by_excess(const struct reclaim_pod *a, const struct reclaim_pod *b)
{
	int64_t a_asked = asked(a).cpu_milli, b_asked = asked(b).cpu_milli;
	int r = descending((wide)used(a).cpu_milli * b_asked, (wide)used(b).cpu_milli * a_asked);
	if (a_asked && b_asked)
		return r;
	bool a_free = !a_asked && used(a).cpu_milli, b_free = !b_asked && used(b).cpu_milli;
	if (a_free != b_free)
		return a_free ? -1 : 1;
	return descending(used(a).cpu_milli, used(b).cpu_milli);
}

static int by_gain(enum reclaim_trigger t, bool memory_first, const struct reclaim_pod *a,
	const struct reclaim_pod *b)
{
	switch (t) {
	case RECLAIM_NONE:
	case RECLAIM_ALLOCATABLE:
		return by_asked(a, b, memory_first);
	case RECLAIM_MEMORY:
		return descending(used(a).memory_bytes, used(b).memory_bytes);
	case RECLAIM_CPU:
		return by_excess(a, b);
	}
	return 0;
}

static int compare(enum reclaim_trigger t, bool memory_first, const struct reclaim_pod *a,
	const struct reclaim_pod *b)
{
	int r = by_rank(a, b);
	if (!r)
		r = by_gain(t, memory_first, a, b);
	if (!r)
		r = descending(a->started_ms, b->started_ms);
	return r ? r : strcmp(a->name, b->name);
}

int reclaim_compare(
	enum reclaim_trigger t, const struct reclaim_pod *a, const struct reclaim_pod *b)
{
	return compare(t, false, a, b);
}

static void add(struct pair *to, struct load l)
{
	to->cpu += l.cpu_milli;
	to->memory += l.memory_bytes;
}

/* The sums over low-priority pods, those on their way out apart. */
struct totals {
	struct pair asked, used, leaving_used;
};

static struct totals count(const struct reclaim_node *n)
{
	struct totals t = {0};
	for (size_t i = 0; i < n->npods; i++) {
		const struct reclaim_pod *p = &n->pods[i];
		if (p->leaving) {
			add(&t.leaving_used, used(p));
			continue;
		}
		add(&t.asked, asked(p));
		add(&t.used, used(p));
	}
	return t;
}

/* Returns what has to go so that no more than `percent` of what may be lent is asked for; 0 unless
 * more than `threshold` percent is. */
static wide over_allocatable(wide all, int64_t lent, int64_t threshold, int64_t percent)
{
	lent = greater(0, lent);
	return all * 100 > (wide)lent * threshold ? all - (wide)lent * percent / 100 : 0;
}

static struct pair short_of_allocatable(
	const struct strategy *s, const struct reclaim_node *n, const struct totals *t)
{
	return (struct pair){over_allocatable(t->asked.cpu, n->lent.cpu_milli,
				     s->evict_cpu_allocatable, s->evict_cpu_allocatable_lower),
		over_allocatable(t->asked.memory, n->lent.memory_bytes, s->evict_memory_allocatable,
			s->evict_memory_allocatable_lower)};
}

static struct pair short_of_memory(
	const struct strategy *s, const struct reclaim_node *n, const struct totals *t)
{
	wide capacity = greater(0, n->capacity.memory_bytes);
	wide in_use = greater(0, n->used.memory_bytes) - t->leaving_used.memory;
	if (!capacity || in_use <= 0)
		return (struct pair){0};
	wide percent = in_use * 100 / capacity;
	if (percent < s->evict_memory)
		return (struct pair){0};
	return (struct pair){.memory = capacity * (percent - s->evict_memory_lower) / 100};
}

/* Returns what has to go so that what is lent is `upper` percent of what the pods left ask for. */
static struct pair short_of_cpu(
	const struct strategy *s, const struct reclaim_node *n, const struct totals *t)
{
	wide lent = greater(0, n->lent.cpu_milli);
	bool unsatisfied = t->asked.cpu && lent * 100 <= t->asked.cpu * s->evict_cpu_lower;
	bool busy = t->used.cpu * 100 >= lent * s->evict_cpu_usage;
	if (!unsatisfied || !busy || s->evict_cpu_upper <= 0)
		return (struct pair){0};
	return (struct pair){.cpu = t->asked.cpu - lent * 100 / s->evict_cpu_upper};
}

/* Returns what a pod frees of what is short: memory that it uses, else what it asks for. */
static struct load freed(enum reclaim_trigger t, const struct reclaim_pod *p)
{
	return t == RECLAIM_MEMORY ? used(p) : asked(p);
}

struct order {
	const struct reclaim_pod *pods;
	enum reclaim_trigger trigger;
	bool memory_first;
};

static int in_order(const void *a, const void *b, void *ctx)
{
	const struct order *o = ctx;
	return compare(o->trigger, o->memory_first, &o->pods[*(const size_t *)a],
		&o->pods[*(const size_t *)b]);
}

/* Takes victims from the front of the order that free any of what is short, until it is enough. */
static size_t choose(
	enum reclaim_trigger t, struct pair lack, const struct reclaim_node *n, size_t *ret_victims)
{
	struct order o = {n->pods, t, lack.cpu <= 0};
	size_t ncandidates = 0, chosen = 0;
	for (size_t i = 0; i < n->npods; i++)
		if (n->pods[i].movable && !n->pods[i].leaving)
			ret_victims[ncandidates++] = i;
	if (ncandidates > 1)
		qsort_r(ret_victims, ncandidates, sizeof(*ret_victims), in_order, &o);
	for (size_t i = 0; i < ncandidates && (lack.cpu > 0 || lack.memory > 0); i++) {
		struct load l = freed(t, &n->pods[ret_victims[i]]);
		if ((lack.cpu <= 0 || !l.cpu_milli) && (lack.memory <= 0 || !l.memory_bytes))
			continue;
		lack.cpu -= l.cpu_milli;
		lack.memory -= l.memory_bytes;
		ret_victims[chosen++] = ret_victims[i];
	}
	return chosen;
}

/* Whether an agent's samples are too far apart to say that something held all the while. */
static bool broke_off(const struct reclaim_hold *h, int64_t now_ms, int64_t for_ms)
{
	return now_ms < h->last_ms ||
	       span_between(h->last_ms, now_ms) > greater(for_ms, AGENT_GAP_MS);
}

/* Takes a sample, and says whether something has been short for long enough: in two samples in a
 * row, which an agent's must span for_s. */
static bool held(struct reclaim_hold *h, struct pair lack, const struct reclaim_node *n,
	int64_t for_s, int64_t now_ms)
{
	int64_t for_ms = span_ms(for_s, SPAN_SECOND_MS);
	if (lack.cpu <= 0 && lack.memory <= 0) {
		*h = (struct reclaim_hold){0};
		return false;
	}
	if (h->hits && n->by_agent && broke_off(h, now_ms, for_ms))
		h->hits = 0;
	if (h->hits == 0)
		h->since_ms = now_ms;
	h->hits = (uint8_t)(h->hits < 2 ? h->hits + 1 : 2);
	h->last_ms = now_ms;
	return h->hits >= 2 && (!n->by_agent || span_between(h->since_ms, now_ms) >= for_ms);
}

static bool cooling(const struct reclaim_memory *m, const struct strategy *s, int64_t now_ms)
{
	/* A last time in the future is from before the clock was set back. */
	return m->last_ms && m->last_ms <= now_ms &&
	       span_between(m->last_ms, now_ms) < span_ms(s->cool_down_s, SPAN_SECOND_MS);
}

enum reclaim_trigger reclaim_look(struct reclaim_memory *m, const struct strategy *s,
	const struct reclaim_node *n, int64_t now_ms, size_t *ret_victims, size_t *ret_nvictims)
{
	*ret_nvictims = 0;
	if (!s->enable || !s->reclaim) {
		m->allocatable = m->cpu = (struct reclaim_hold){0};
		return RECLAIM_NONE;
	}
	struct totals totals = count(n);
	struct pair allocatable = short_of_allocatable(s, n, &totals);
	struct pair cpu = short_of_cpu(s, n, &totals);
	struct {
		enum reclaim_trigger trigger;
		struct pair lack;
		bool due;
	} looks[] = {{RECLAIM_MEMORY, short_of_memory(s, n, &totals), true},
		{RECLAIM_ALLOCATABLE, allocatable, false}, {RECLAIM_CPU, cpu, false}};
	looks[1].due = held(&m->allocatable, allocatable, n, ALLOCATABLE_S, now_ms);
	looks[2].due = held(&m->cpu, cpu, n, s->evict_cpu_window_s, now_ms);
	if (cooling(m, s, now_ms))
		return RECLAIM_NONE;
	for (size_t i = 0; i < 3 && !*ret_nvictims; i++) {
		if (looks[i].due)
			*ret_nvictims = choose(looks[i].trigger, looks[i].lack, n, ret_victims);
		if (*ret_nvictims) {
			*m = (struct reclaim_memory){.last_ms = now_ms};
			return looks[i].trigger;
		}
	}
	return RECLAIM_NONE;
}
