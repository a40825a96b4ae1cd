#include "queue/calendar/almanac.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/calendar/civil.h"

/*
 * The days on which ranges begin or have ended cut time into pieces. Each piece belongs to the
 * first range that covers it. A taken piece points to the next one that may be free, so each is
 * taken once, however many ranges cover it.
 */
struct pieces {
	int32_t *from_day; /* ascending, each once; the first is INT32_MIN */
	size_t *free_from; /* by piece: itself while it is free; n: none */
	int *owner;
	size_t n;
};

static int compare_days(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

static void cut(struct pieces *p, const struct exception_spec *exception, size_t nexceptions)
{
	size_t n = 1, distinct = 1;
	for (size_t i = 0; i < nexceptions; i++)
		n += 2 * exception[i].ndates;
	p->from_day = mem_array(n, sizeof(*p->from_day));
	p->from_day[0] = INT32_MIN;
	n = 1;
	for (size_t i = 0; i < nexceptions; i++)
		for (size_t k = 0; k < exception[i].ndates; k++) {
			p->from_day[n++] = exception[i].date[k].first_day;
			p->from_day[n++] = exception[i].date[k].last_day + 1;
		}
	qsort(p->from_day, n, sizeof(*p->from_day), compare_days);
	for (size_t i = 1; i < n; i++)
		if (p->from_day[i] != p->from_day[distinct - 1])
			p->from_day[distinct++] = p->from_day[i];
	p->n = distinct;
	p->owner = mem_array(distinct, sizeof(*p->owner));
	p->free_from = mem_array(distinct + 1, sizeof(*p->free_from));
	for (size_t i = 0; i <= distinct; i++) {
		p->free_from[i] = i;
		if (i < distinct)
			p->owner[i] = -1;
	}
}

static size_t first_free(struct pieces *p, size_t i)
{
	size_t free_one = i;
	while (p->free_from[free_one] != free_one)
		free_one = p->free_from[free_one];
	while (p->free_from[i] != free_one) { /* shorten the way for the next */
		size_t next = p->free_from[i];
		p->free_from[i] = free_one;
		i = next;
	}
	return free_one;
}

/* The piece that has the day. */
static size_t piece_of(const struct pieces *p, int32_t day)
{
	size_t low = 0, high = p->n - 1;
	while (low < high) {
		size_t middle = high - (high - low) / 2;
		if (p->from_day[middle] <= day)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static void take(struct pieces *p, struct date_range r, int owner)
{
	size_t i = first_free(p, piece_of(p, r.first_day));
	while (i < p->n && p->from_day[i] <= r.last_day) {
		p->owner[i] = owner;
		p->free_from[i] = i + 1;
		i = first_free(p, i + 1);
	}
}

static void keep(struct almanac *a, const struct pieces *p)
{
	a->entry = mem_array(p->n, sizeof(*a->entry));
	for (size_t i = 0; i < p->n; i++)
		if (i == 0 || p->owner[i] != p->owner[i - 1])
			a->entry[a->nentries++] =
				(struct almanac_entry){p->from_day[i], p->owner[i]};
}

void almanac_init(struct almanac *a, const struct exception_spec *exception, size_t nexceptions)
{
	struct pieces p;
	*a = (struct almanac){0};
	a->treat_as = mem_array(nexceptions + 1, sizeof(*a->treat_as));
	cut(&p, exception, nexceptions);
	for (size_t i = 0; i < nexceptions; i++) {
		a->treat_as[i] = exception[i].treat_as;
		for (size_t k = 0; k < exception[i].ndates; k++)
			take(&p, exception[i].date[k], (int)i);
	}
	keep(a, &p);
	free(p.from_day);
	free(p.free_from);
	free(p.owner);
}

void almanac_done(struct almanac *a)
{
	free(a->entry);
	free(a->treat_as);
	*a = (struct almanac){0};
}

static size_t entry_of(const struct almanac *a, int32_t day)
{
	size_t low = 0, high = a->nentries - 1;
	while (low < high) {
		size_t middle = high - (high - low) / 2;
		if (a->entry[middle].from_day <= day)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

int almanac_exception(const struct almanac *a, int32_t day)
{
	return a->entry[entry_of(a, day)].exception;
}

int almanac_weekday(const struct almanac *a, int32_t day)
{
	int i = almanac_exception(a, day);
	return i >= 0 && a->treat_as[i] < 7 ? a->treat_as[i] : civil_weekday(day);
}
