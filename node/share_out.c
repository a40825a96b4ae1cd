#include "node/share_out.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"

typedef __int128 wide;

/* The level to which shares are filled up, as a part of what each asks for: 0 to 1 in 40 bits. */
static const int64_t LEVEL_FULL = INT64_C(1) << 40;

struct part {
	struct share *share;
	int64_t min, max; /* of what it gets in this round */
	int64_t demand;
};

/* Gives what a part gets at a level. */
static int64_t at_level(const struct part *p, int64_t level)
{
	int64_t n = saturated((wide)p->share->asked * level / LEVEL_FULL);
	return greater(p->min, least(n, p->max));
}

static wide sum_at(const struct part *parts, size_t n, int64_t level)
{
	wide sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += at_level(&parts[i], level);
	return sum;
}

/* Adds to each share what it gets of an amount, max-min fair: all of it, or up to max each. Where
 * the amount is less than the sum of min, each gets min. Parts are in the order of uids. */
static void fill(const struct part *parts, size_t n, wide amount)
{
	int64_t level = 0, above = LEVEL_FULL; /* level fits, or is 0; above may not */
	if (sum_at(parts, n, above) <= amount)
		level = above;
	while (above - level > 1) {
		int64_t middle = level + (above - level) / 2;
		*(sum_at(parts, n, middle) <= amount ? &level : &above) = middle;
	}
	wide left = amount - sum_at(parts, n, level);
	for (size_t i = 0; i < n; i++) {
		int64_t get = at_level(&parts[i], level);
		if (left > 0 && at_level(&parts[i], level + 1) > get) {
			get++;
			left--;
		}
		parts[i].share->ret_milli += get;
	}
}

static int64_t least_of(const struct share *s)
{
	int64_t part = saturated((wide)s->asked * SHARE_LEAST_PERCENT / 100);
	return least(s->asked, greater(part, SHARE_LEAST_MILLI));
}

/* Gives what a pod would use if it could. */
static int64_t demand_of(const struct share *s)
{
	bool all_used = s->quota >= 0 && (wide)s->used * 10 >= (wide)s->quota * 9;
	if (s->used < 0 || s->throttled || all_used)
		return s->asked;
	wide more = (wide)s->used * 5 / 4 + 50;
	return greater(least_of(s), least(s->asked, saturated(more)));
}

static int by_uid(const void *a, const void *b)
{
	return uid_cmp(
		&((const struct part *)a)->share->uid, &((const struct part *)b)->share->uid);
}

/* Divides less than all that is asked for: demands first, then what is left. */
static void divide(struct part *parts, size_t n, int64_t may_milli)
{
	wide demands = 0;
	qsort(parts, n, sizeof(*parts), by_uid);
	for (size_t i = 0; i < n; i++) {
		struct part *p = &parts[i];
		p->min = least_of(p->share);
		p->max = demand_of(p->share);
		demands += p->max;
		p->share->ret_milli = 0;
	}
	fill(parts, n, may_milli);
	if (demands >= may_milli)
		return;
	for (size_t i = 0; i < n; i++) {
		parts[i].min = 0;
		parts[i].max = parts[i].share->asked - parts[i].share->ret_milli;
	}
	fill(parts, n, may_milli - demands);
}

void share_out(struct share *shares, size_t n, int64_t may_milli)
{
	struct part *parts = mem_array(n, sizeof(*parts));
	size_t nparts = 0;
	wide asked = 0;
	for (size_t i = 0; i < n; i++) {
		shares[i].ret_milli = shares[i].asked > 0 ? shares[i].asked : -1;
		if (shares[i].asked <= 0)
			continue;
		asked += shares[i].asked;
		parts[nparts++].share = &shares[i];
	}
	if (may_milli >= 0 && asked > may_milli)
		divide(parts, nparts, may_milli);
	free(parts);
}
