#include "queue/calendar/zone.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "queue/calendar/civil.h"

static size_t size_of(size_t nspans)
{
	return sizeof(struct zone) + nspans * sizeof(struct zone_span);
}

static void set_reach(struct zone *z)
{
	int64_t reach_s = INT64_MIN;
	for (size_t i = 0; i + 1 < z->nspans; i++) {
		int64_t end_s = z->span[i + 1].from_s + z->span[i].offset_s;
		reach_s = greater(reach_s, end_s);
		z->span[i].reach_s = reach_s;
	}
	z->span[z->nspans - 1].reach_s = INT64_MAX;
}

struct zone *zone_new(const char *name, const struct zone_span *span, size_t nspans)
{
	must(nspans > 0);
	struct zone *z = mem_alloc(size_of(nspans));
	snprintf(z->name, sizeof(z->name), "%s", name);
	z->nspans = nspans;
	memcpy(z->span, span, nspans * sizeof(*span));
	z->span[0].from_s = INT64_MIN;
	for (size_t i = 0; i < nspans; i++) {
		must(abs(span[i].offset_s) <= 26 * 3600);
		must(i == 0 || (llabs(span[i].from_s) < ZONE_FAR_S &&
				       z->span[i - 1].from_s < span[i].from_s));
	}
	set_reach(z);
	return z;
}

struct zone *zone_utc(void)
{
	static const struct zone_span utc = {.abbreviation = "UTC"};
	return zone_new("UTC", &utc, 1);
}

struct zone *zone_copy(const struct zone *z)
{
	struct zone *copy = mem_alloc(size_of(z->nspans));
	memcpy(copy, z, size_of(z->nspans));
	return copy;
}

void zone_free(struct zone *z)
{
	free(z);
}

/* The last span that has begun. */
static size_t index_at(const struct zone *z, int64_t at_s)
{
	size_t low = 0, high = z->nspans - 1;
	while (low < high) {
		size_t middle = high - (high - low) / 2;
		if (z->span[middle].from_s <= at_s)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

const struct zone_span *zone_span_at(const struct zone *z, int64_t at_s)
{
	return &z->span[index_at(z, at_s)];
}

int64_t zone_local_s(const struct zone *z, int64_t at_s)
{
	return at_s + zone_span_at(z, at_s)->offset_s;
}

int64_t zone_clock_s(const struct zone *z, int64_t at_s)
{
	size_t i = index_at(z, at_s);
	int64_t local_s = at_s + z->span[i].offset_s;
	int64_t seen_s = i > 0 ? z->span[i - 1].reach_s - 1 : INT64_MIN;
	return greater(local_s, seen_s);
}

int64_t zone_instant_s(const struct zone *z, int64_t local_s)
{
	size_t low = 0, high = z->nspans - 1;
	while (low < high) { /* the first span with a reach beyond local_s */
		size_t middle = low + (high - low) / 2;
		if (z->span[middle].reach_s > local_s)
			high = middle;
		else
			low = middle + 1;
	}
	return greater(local_s - z->span[low].offset_s, z->span[low].from_s);
}

const char *zone_text(const struct zone *z, int64_t at_s, char ret_text[ZONE_TEXT_SIZE])
{
	static const char weekdays[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	const struct zone_span *span = zone_span_at(z, at_s);
	int64_t local_s = at_s + span->offset_s;
	int32_t day = civil_day_of(local_s), second = civil_second_of(local_s);
	struct civil date = civil_of(day);
	char seconds[8] = "";
	if (second % 60)
		snprintf(seconds, sizeof(seconds), ":%02d", second % 60);
	snprintf(ret_text, ZONE_TEXT_SIZE, "%s %04d-%02d-%02d %02d:%02d%s %s",
		weekdays[civil_weekday(day)], date.year, date.month, date.day, second / 3600,
		second / 60 % 60, seconds, span->abbreviation);
	return ret_text;
}
