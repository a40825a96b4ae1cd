#include "overcommit/window.h"

#include <string.h>

#include "base/order.h"
#include "overcommit/span.h"

#define TOLERATED_MS 60000 /* by which clocks may differ */

bool window_of_the_future(int64_t at_ms, int64_t now_ms)
{
	return at_ms > span_later(now_ms, TOLERATED_MS);
}

void window_begin(struct window *w, int64_t newest_ms)
{
	*w = (struct window){.newest_ms = greater(0, newest_ms)};
}

/* Drops every second sample; the newest stays. */
static void thin_out(struct window *w)
{
	uint8_t kept = 0;
	for (uint8_t i = 1; i < w->count; i = (uint8_t)(i + 2))
		w->sample[kept++] = w->sample[i];
	w->count = kept;
}

bool window_add(struct window *w, int64_t at_ms, struct load taken, int64_t now_ms)
{
	if (at_ms <= 0 || window_of_the_future(at_ms, now_ms))
		return false;
	if (window_of_the_future(w->newest_ms, now_ms))
		window_begin(w, 0);
	if (w->newest_ms && at_ms <= w->newest_ms)
		return false;
	if (w->count == WINDOW_SAMPLES)
		thin_out(w);
	w->sample[w->count++] = (struct window_sample){at_ms, load_max(taken, (struct load){0, 0})};
	w->newest_ms = at_ms;
	return true;
}

static int64_t held_from(const struct window *w, const struct strategy *s)
{
	return span_later(w->newest_ms, span_ms(s->interval_s, 2 * SPAN_SECOND_MS));
}

static int64_t degraded_from(const struct window *w, const struct strategy *s)
{
	return span_later(span_later(w->newest_ms, span_ms(s->degrade_min, SPAN_MINUTE_MS)), 1);
}

enum freshness window_freshness(
	const struct window *w, const struct strategy *s, bool ready, int64_t now_ms)
{
	if (!ready || !w->newest_ms)
		return DEGRADED;
	if (window_of_the_future(w->newest_ms, now_ms))
		return w->count ? HELD : DEGRADED;
	if (now_ms >= degraded_from(w, s))
		return DEGRADED;
	return now_ms >= held_from(w, s) ? HELD : FRESH;
}

int64_t window_changes_ms(const struct window *w, const struct strategy *s, int64_t now_ms)
{
	if (!w->newest_ms)
		return INT64_MAX;
	if (window_of_the_future(w->newest_ms, now_ms))
		return w->newest_ms - TOLERATED_MS;
	int64_t held = held_from(w, s), degraded = degraded_from(w, s);
	if (now_ms < held && held < degraded)
		return held;
	return now_ms < degraded ? degraded : INT64_MAX;
}

static __int128 between(__int128 a, __int128 b, int64_t part_ms, int64_t whole_ms)
{
	return a + (b - a) * part_ms / whole_ms;
}

/* Adds twice the area under the line from a to b, as far as it lies after from_ms. */
static void add_area(const struct window_sample *a, const struct window_sample *b, int64_t from_ms,
	__int128 *cpu, __int128 *memory)
{
	int64_t whole = span_between(a->at_ms, b->at_ms);
	int64_t cut = from_ms > a->at_ms ? span_between(a->at_ms, from_ms) : 0;
	struct load x = a->taken, y = b->taken;
	*cpu += (between(x.cpu_milli, y.cpu_milli, cut, whole) + y.cpu_milli) * (whole - cut);
	*memory += (between(x.memory_bytes, y.memory_bytes, cut, whole) + y.memory_bytes) *
		   (whole - cut);
}

static int64_t rounded_up(__int128 area, __int128 length)
{
	__int128 mean = (area + length - 1) / length;
	return mean > INT64_MAX ? INT64_MAX : (int64_t)mean;
}

/* Returns the mean over the last window_ms, up to the newest sample, which there is. */
static struct load mean(const struct window *w, int64_t window_ms)
{
	const struct window_sample *newest = &w->sample[w->count - 1];
	int64_t from_ms = span_later(newest->at_ms, -window_ms);
	__int128 cpu = 0, memory = 0, length;
	size_t i = w->count - 1U;
	for (; i > 0 && w->sample[i].at_ms > from_ms; i--)
		add_area(&w->sample[i - 1], &w->sample[i], from_ms, &cpu, &memory);
	if (from_ms < w->sample[i].at_ms)
		from_ms = w->sample[i].at_ms;
	length = (__int128)2 * span_between(from_ms, newest->at_ms);
	if (!length)
		return newest->taken;
	return (struct load){rounded_up(cpu, length), rounded_up(memory, length)};
}

struct load window_figure(const struct window *w, const struct strategy *s,
	const struct estimate *e, struct load published, bool ready, int64_t now_ms)
{
	struct load newest = {e->cpu.result, e->memory.result};
	enum freshness f = window_freshness(w, s, ready, now_ms);
	if (f == DEGRADED)
		return (struct load){0, 0};
	if (f == HELD || w->count < 2)
		return load_min(newest, load_max(published, (struct load){0, 0}));
	struct load lasting = mean(w, span_ms(s->raise_window_s, SPAN_SECOND_MS));
	return load_min(newest, estimate_with_taken(e, lasting));
}
