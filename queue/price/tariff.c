#include "queue/price/tariff.h"

#include <stdbool.h>

#include "base/must.h"
#include "base/order.h"

#define HOUR_MS INT64_C(3600000)

size_t tariff_step_at(const struct tariff *t, int64_t at_ms)
{
	size_t low = 0, high = t->n;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;
		if (t->step[mid].from_ms <= at_ms)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static int64_t step_end_ms(const struct tariff *t, size_t i)
{
	return i + 1 < t->n ? t->step[i + 1].from_ms : INT64_MAX;
}

int64_t tariff_at(const struct tariff *t, int64_t at_ms)
{
	return t->step[tariff_step_at(t, at_ms)].per_hour;
}

/* Cost times HOUR_MS, so that nothing is lost before the sum. */
static __int128 weighed(int64_t per_hour, int64_t from_ms, int64_t to_ms)
{
	return (__int128)per_hour * ((__int128)to_ms - from_ms);
}

static int64_t rounded_up(__int128 weight)
{
	__int128 cost = weight / HOUR_MS;
	if (weight % HOUR_MS > 0)
		cost++;
	return saturated(cost);
}

__int128 tariff_weight(const struct tariff *t, int64_t from_ms, int64_t to_ms)
{
	__int128 sum = 0;
	for (size_t i = tariff_step_at(t, from_ms); from_ms < to_ms; i++) {
		int64_t end = least(step_end_ms(t, i), to_ms);
		sum += weighed(t->step[i].per_hour, from_ms, end);
		from_ms = end;
	}
	return sum;
}

int64_t tariff_cost(const struct tariff *t, int64_t from_ms, int64_t to_ms)
{
	must(from_ms <= to_ms);
	return rounded_up(tariff_weight(t, from_ms, to_ms));
}

/* A run that slides towards later starts: its two ends, and their steps. */
struct slide {
	const struct tariff *t;
	int64_t from_ms, to_ms;
	size_t from, to;
	__int128 weight;
};

/* How far it may go until one of its ends meets a step. */
static int64_t free_way(const struct slide *s, int64_t most)
{
	int64_t first = step_end_ms(s->t, s->from), second = step_end_ms(s->t, s->to);
	if (first != INT64_MAX && first - s->from_ms < most)
		most = first - s->from_ms;
	if (second != INT64_MAX && second - s->to_ms < most)
		most = second - s->to_ms;
	return most;
}

static void move_on(struct slide *s, int64_t way)
{
	s->weight += weighed(s->t->step[s->to].per_hour, 0, way) -
		     weighed(s->t->step[s->from].per_hour, 0, way);
	s->from_ms += way;
	s->to_ms += way;
	while (step_end_ms(s->t, s->from) <= s->from_ms)
		s->from++;
	while (step_end_ms(s->t, s->to) <= s->to_ms)
		s->to++;
}

struct tariff_start tariff_cheapest(
	const struct tariff *t, int64_t earliest_ms, int64_t latest_ms, int64_t duration_ms)
{
	must(earliest_ms <= latest_ms && duration_ms >= 0);
	int64_t end_ms;
	if (__builtin_add_overflow(latest_ms, duration_ms, &end_ms))
		latest_ms = earliest_ms; /* it never ends: no start is better than another */
	if (__builtin_add_overflow(earliest_ms, duration_ms, &end_ms))
		end_ms = INT64_MAX;
	struct slide s = {.t = t, .from_ms = earliest_ms, .to_ms = end_ms};
	s.from = tariff_step_at(t, s.from_ms);
	s.to = tariff_step_at(t, s.to_ms);
	s.weight = tariff_weight(t, s.from_ms, s.to_ms);

	__int128 least = s.weight;
	int64_t at_ms = s.from_ms;
	while (s.from_ms < latest_ms) {
		move_on(&s, free_way(&s, latest_ms - s.from_ms));
		if (s.weight < least) {
			least = s.weight;
			at_ms = s.from_ms;
		}
	}
	return (struct tariff_start){at_ms, rounded_up(least)};
}
