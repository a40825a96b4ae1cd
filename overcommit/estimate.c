#include "overcommit/estimate.h"

#include "base/order.h"

/* Sums of any numbers fit in 128 bits; only what is shown is cut to 64. */
typedef __int128 wide;

static int64_t narrow(wide v)
{
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

/* One resource of the node: the same sum is made twice. */
struct side {
	bool cpu;
	int64_t percent, cap_percent;
	enum lending_policy policy;
};

/* Returns one side of a load, which never counts as less than 0. */
static int64_t of(const struct side *side, struct load l)
{
	return greater(side->cpu ? l.cpu_milli : l.memory_bytes, 0);
}

/* Multiplies with a double and cuts off, as upstream: its figures come out only in this order. */
static int64_t as_double(int64_t amount, int64_t percent)
{
	double d = (double)amount * ((double)percent / 100.0);
	return d >= 0x1p63 ? INT64_MAX : d < -0x1p63 ? INT64_MIN : (int64_t)d;
}

static int64_t percent_of(int64_t amount, int64_t percent)
{
	return narrow((wide)amount * percent / 100);
}

static void put_bounds(enum profile p, const struct side *side, const struct estimate_node *n,
	struct estimate_terms *t)
{
	int64_t capacity = of(side, n->capacity), allocatable = of(side, n->allocatable);
	bool upstream = p == PROFILE_KOORDINATOR;
	t->base = upstream ? capacity : allocatable;
	t->margin = upstream ? as_double(t->base, narrow((wide)100 - side->percent))
			     : narrow((wide)t->base - percent_of(t->base, side->percent));
	t->reserved = of(side, n->reservation);
	if (upstream)
		t->reserved = greater(t->reserved, capacity - allocatable);
	t->cap = -1;
	if (side->cap_percent >= 0)
		t->cap = upstream ? as_double(t->base, side->cap_percent)
				  : percent_of(t->base, side->cap_percent);
	t->system_used = of(side, n->system_used);
	t->system = greater(t->system_used, t->reserved);
	if (upstream && side->policy == POLICY_REQUEST)
		t->system = t->reserved;
}

static void put_pods(
	const struct side *side, const struct estimate_node *n, struct estimate_terms *t)
{
	wide used = of(side, n->dangling), requested = 0, max = used, unsampled = 0;
	int64_t rest = n->has_rest ? of(side, n->rest) : 0;
	for (size_t i = 0; i < n->npods; i++) {
		const struct estimate_pod *p = &n->pods[i];
		if (p->tier == TIER_LOW)
			continue;
		int64_t request = of(side, p->request);
		int64_t sample = p->has_used ? of(side, p->used) : request;
		bool exclusive = side->cpu && p->tier == TIER_HIGH_EXCLUSIVE;
		if (n->has_rest && !p->has_used) {
			used += exclusive ? request : 0;
			requested += request;
			unsampled += request;
			continue;
		}
		used += exclusive ? request : sample;
		requested += request;
		max += greater(request, sample);
	}
	t->used = narrow(used + rest);
	t->requested = narrow(requested);
	t->max = narrow(max + (unsampled > rest ? unsampled : rest));
}

static int64_t taken(const struct estimate_terms *t)
{
	switch (t->policy) {
	case POLICY_USAGE:
		return t->used;
	case POLICY_REQUEST:
		return t->requested;
	case POLICY_MAX_USAGE_REQUEST:
		return t->max;
	}
	return t->max;
}

static int64_t left(const struct estimate_terms *t, wide system_and_taken)
{
	wide rest = (wide)t->base - t->margin - system_and_taken;
	if (t->cap >= 0 && rest > t->cap)
		rest = t->cap;
	return rest < 0 ? 0 : narrow(rest);
}

static void make_side(enum profile p, const struct side *side, const struct estimate_node *n,
	struct estimate_terms *t)
{
	*t = (struct estimate_terms){.policy = side->policy};
	put_bounds(p, side, n, t);
	put_pods(side, n, t);
	t->taken = taken(t);
	t->result = left(t, (wide)t->system + t->taken);
}

void estimate_make(const struct strategy *s, const struct estimate_node *n, struct estimate *ret)
{
	struct side cpu = {true, s->cpu_percent, s->cpu_cap, s->cpu_policy};
	struct side memory = {false, s->memory_percent, s->memory_cap, s->memory_policy};
	*ret = (struct estimate){0};
	make_side(s->profile, &cpu, n, &ret->cpu);
	make_side(s->profile, &memory, n, &ret->memory);
	for (size_t i = 0; i < n->npods; i++) {
		bool high = n->pods[i].tier != TIER_LOW;
		ret->high_pods += high;
		ret->low_pods += !high;
		ret->without_sample += high && !n->has_rest && !n->pods[i].has_used;
	}
}

struct load estimate_taken(const struct estimate *e)
{
	return load_add((struct load){e->cpu.system, e->memory.system},
		(struct load){e->cpu.taken, e->memory.taken});
}

/* Returns what is in use. Not t->system: where upstream lends memory by request, that is not the
 * use. */
static int64_t busy(const struct estimate_terms *t)
{
	return narrow((wide)greater(t->system_used, t->reserved) + t->used);
}

struct load estimate_busy(const struct estimate *e)
{
	return (struct load){busy(&e->cpu), busy(&e->memory)};
}

struct load estimate_with_taken(const struct estimate *e, struct load system_and_taken)
{
	return (struct load){left(&e->cpu, greater(system_and_taken.cpu_milli, 0)),
		left(&e->memory, greater(system_and_taken.memory_bytes, 0))};
}

static int64_t gocran_side(const struct side *side, int64_t reserve_percent,
	const struct estimate_node *n, const struct estimate_terms *t)
{
	int64_t allocatable = of(side, n->allocatable);
	/* Not t->system: by upstream's rules that has what is not allocatable in it, too. */
	wide system = greater(of(side, n->system_used), of(side, n->reservation));
	wide now = system + t->used;
	wide expected = n->has_forecast ? of(side, n->forecast) : t->requested;
	wide rest = (wide)allocatable - percent_of(allocatable, reserve_percent) -
		    (now > expected ? now : expected);
	return rest < 0 ? 0 : narrow(rest);
}

struct load estimate_gocran(
	const struct strategy *s, const struct estimate_node *n, const struct estimate *e)
{
	struct side cpu = {.cpu = true}, memory = {.cpu = false};
	return (struct load){gocran_side(&cpu, s->reserve_cpu, n, &e->cpu),
		gocran_side(&memory, s->reserve_memory, n, &e->memory)};
}
