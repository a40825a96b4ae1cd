/* What a PricePlan says of a moment and of an hour: factors over time, and prices at factor one. */
#include "queue/features/money/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "sluice/quantity.h"

/* ---- Factors over time ---- */

/* The point of the series at that time; NULL: it has no price then. */
static const struct price_point *point_at(
	const struct priceplan_spec *s, int64_t at_ms, int64_t *ret_until_ms)
{
	size_t low = 0, high = s->nseries;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (s->series[mid].from_ms <= at_ms)
			low = mid + 1;
		else
			high = mid;
	}
	*ret_until_ms = low < s->nseries ? s->series[low].from_ms : INT64_MAX;
	if (low == 0)
		return NULL;
	const struct price_point *p = &s->series[low - 1];
	int64_t stale_ms =
		s->stale_after_ms > 0 ? quantity_add(p->from_ms, s->stale_after_ms) : INT64_MAX;
	if (low == s->nseries && at_ms < stale_ms)
		*ret_until_ms = stale_ms;
	return low < s->nseries || at_ms < stale_ms ? p : NULL;
}

/* The index of the rate at that time; the number of rates: none. */
static size_t rate_at(const struct plan *p, int64_t at_ms, int64_t *until_ms)
{
	for (size_t i = 0; i < p->spec.nrates; i++) {
		const struct price_rate *r = &p->spec.rate[i];
		struct calendar *c = p->rate[i].calendar_ref->calendar;
		if (!c)
			continue;
		struct calendar_state s = calendar_at(c, at_ms);
		*until_ms = s.until_ms < *until_ms ? s.until_ms : *until_ms;
		if (s.open && (!*r->window || (s.window && strcmp(s.window, r->window) == 0)))
			return i;
	}
	return p->spec.nrates;
}

const char *plan_source_at(const struct plan *p, int64_t at_ms, int64_t *ret_until_ms)
{
	*ret_until_ms = INT64_MAX;
	if (p->spec.has_series && point_at(&p->spec, at_ms, ret_until_ms))
		return "series";
	size_t i = rate_at(p, at_ms, ret_until_ms);
	return i < p->spec.nrates ? p->spec.rate[i].calendar : "base";
}

int64_t plan_spec_factor_at(
	const struct plan *p, int64_t at_ms, const char **ret_label, int64_t *ret_until_ms)
{
	*ret_until_ms = INT64_MAX;
	const struct price_point *point =
		p->spec.has_series ? point_at(&p->spec, at_ms, ret_until_ms) : NULL;
	size_t i = point ? p->spec.nrates : rate_at(p, at_ms, ret_until_ms);
	if (i < p->spec.nrates) {
		const struct price_rate *r = &p->spec.rate[i];
		*ret_label = *r->window ? r->window : r->calendar;
		return r->factor;
	}
	*ret_label = point ? "series" : "base";
	return point ? point->factor : PRICE_FACTOR_ONE;
}

static void add_step(struct plan *p, int64_t from_ms, int64_t factor)
{
	if (p->nsteps > 0 && p->step[p->nsteps - 1].per_hour == factor)
		return;
	p->step = mem_room(p->step, p->nsteps, &p->steps_room, 32, sizeof(*p->step));
	p->step[p->nsteps++] = (struct tariff_step){from_ms, factor};
}

static void make_steps(struct plan *p, int64_t from_ms, int64_t to_ms)
{
	int64_t at_ms = from_ms, until_ms;
	const char *label;
	p->nsteps = 0;
	do {
		add_step(p, at_ms, plan_spec_factor_at(p, at_ms, &label, &until_ms));
		at_ms = until_ms > at_ms ? until_ms
					 : INT64_MAX; /* a time that Calendars do not know */
	} while (at_ms < to_ms);
	p->known_from_ms = from_ms;
	p->known_to_ms = at_ms;
}

/* Puts the steps from from_ms on before those that are there: at a restart each run's bill reaches
 * back to another moment, and those of weeks ahead are not worked out again for each. */
static void make_earlier_steps(struct plan *p, int64_t from_ms)
{
	struct tariff_step *later = p->step;
	size_t nlater = p->nsteps;
	int64_t known_to_ms = p->known_to_ms;
	p->step = NULL;
	p->steps_room = 0;
	make_steps(p, from_ms, p->known_from_ms);
	for (size_t i = 0; i < nlater; i++)
		add_step(p, later[i].from_ms, later[i].per_hour);
	p->known_to_ms = known_to_ms;
	free(later);
}

/* Past steps are kept for the bills of runs, but no further back than PLAN_HORIZON_MS. A year of
 * steps would slow down the question of every Job that waits for a price, and before the first
 * decision the clock is at 1970. For a bill that goes further back they are made anew. */
static int64_t first_of(const struct plan *p, int64_t from_ms)
{
	bool near = p->nsteps > 0 && p->known_from_ms < from_ms &&
		    from_ms - p->known_from_ms <= PLAN_HORIZON_MS;
	return near ? p->known_from_ms : from_ms;
}

struct tariff plan_factors(struct queue *q, struct plan *p, int64_t from_ms, int64_t to_ms)
{
	int64_t later_ms = from_ms > q->now_ms ? from_ms : q->now_ms;
	int64_t horizon_ms = quantity_add(later_ms, PLAN_HORIZON_MS);
	to_ms = to_ms < horizon_ms ? to_ms : horizon_ms;
	bool far = from_ms < p->known_from_ms && p->known_from_ms - from_ms > PLAN_HORIZON_MS;
	if (p->nsteps == 0 || far || to_ms > p->known_to_ms)
		make_steps(p, first_of(p, from_ms), horizon_ms);
	else if (from_ms < p->known_from_ms)
		make_earlier_steps(p, from_ms);
	return (struct tariff){p->step, p->nsteps};
}

int64_t plan_factor_at(struct queue *q, struct plan *p, int64_t at_ms)
{
	struct tariff t = plan_factors(q, p, at_ms, at_ms);
	return tariff_at(&t, at_ms);
}

bool plan_stale(const struct plan *p, int64_t at_ms, int64_t *ret_until_ms)
{
	int64_t until_ms = INT64_MAX;
	bool stale = p->spec.has_series && !point_at(&p->spec, at_ms, &until_ms);
	if (ret_until_ms)
		*ret_until_ms = until_ms;
	return stale;
}

/* ---- Prices ---- */

static int64_t flavor_factor(const struct plan *p, const char *flavor)
{
	for (size_t i = 0; i < p->spec.nflavors; i++)
		if (strcmp(p->spec.flavor[i].flavor, flavor) == 0)
			return p->spec.flavor[i].factor;
	return PRICE_FACTOR_ONE;
}

/* How many units of the resource the price is for. */
static int64_t priced_unit(const struct price_base *b)
{
	if (b->per_gib)
		return PRICE_GIB;
	return quantity_unit_of(b->resource) == QUANTITY_MILLI ? 1000 : 1;
}

static const struct price_base *base_of(const struct plan *p, const char *resource)
{
	for (size_t i = 0; i < p->spec.nbases; i++)
		if (strcmp(p->spec.base[i].resource, resource) == 0)
			return &p->spec.base[i];
	return NULL;
}

struct hourly_price plan_hourly_price(
	const struct plan *p, const struct quota_line *lines, size_t n)
{
	const struct hourly_price most = {PLAN_HOUR_MAX, 0};
	__int128 sum = 0; /* in PRICE_PARTS */
	for (size_t i = 0; i < n; i++) {
		const struct price_base *b = base_of(p, lines[i].resource);
		if (!b || lines[i].amount <= 0)
			continue;
		int64_t unit = priced_unit(b);
		__int128 price = (__int128)lines[i].amount * b->per_hour;
		if (price / unit > PLAN_HOUR_MAX)
			return most;
		sum += price * flavor_factor(p, lines[i].flavor) * (PRICE_UNIT_PARTS / unit);
		if (sum / PRICE_PARTS > PLAN_HOUR_MAX)
			return most;
	}
	return (struct hourly_price){(int64_t)(sum / PRICE_PARTS), (int64_t)(sum % PRICE_PARTS)};
}

int64_t plan_unit_price(const struct plan *p, const char *resource)
{
	size_t len = strlen(resource);
	bool per_gib = len > 4 && strcmp(resource + len - 4, "-gib") == 0;
	for (size_t i = 0; i < p->spec.nbases; i++) {
		const struct price_base *b = &p->spec.base[i];
		bool same = b->per_gib == per_gib &&
			    strlen(b->resource) == (per_gib ? len - 4 : len) &&
			    strncmp(b->resource, resource, strlen(b->resource)) == 0;
		if (same)
			return b->per_hour;
	}
	return -1;
}
