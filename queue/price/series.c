#include "queue/price/series.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "queue/price/money.h"

struct entry {
	int64_t from_ms, factor;
	size_t line;
};

/* ---- a line ---------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct slice skip_blanks(struct slice s)
{
	while (s.len > 0 && is_blank(s.ptr[0])) {
		s.ptr++;
		s.len--;
	}
	return s;
}

/* Up to a blank; *rest becomes what follows the blanks. */
static struct slice take_word(struct slice *rest)
{
	struct slice word = {rest->ptr, 0};
	while (word.len < rest->len && !is_blank(rest->ptr[word.len]))
		word.len++;
	*rest = skip_blanks((struct slice){rest->ptr + word.len, rest->len - word.len});
	return word;
}

/* Up to `mark`; *rest becomes what is behind it. */
static struct slice take_until(struct slice *rest, char mark)
{
	struct slice head = *rest;
	const char *found = head.len ? memchr(head.ptr, mark, head.len) : NULL;
	if (found)
		head.len = (size_t)(found - head.ptr);
	size_t used = head.len + (found != NULL);
	*rest = (struct slice){rest->ptr + used, rest->len - used};
	return head;
}

static int read_value(struct slice word, int64_t *ret_micro, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	bool negative = word.len > 0 && word.ptr[0] == '-';
	struct slice digits = {word.ptr + negative, word.len - negative};
	int rc = money_parse(digits, ret_micro, NULL);
	if (rc == ERR_INVALID)
		return err_set(e, ERR_INVALID,
			"%s is not a number; write digits, and at most six of them behind a point, such as 83.12 or -5",
			slice_show(word, shown));
	if (rc < 0 || *ret_micro > (int64_t)SERIES_VALUE_MAX * MONEY_UNIT)
		return err_set(e, ERR_LIMIT, "%s is beyond %d, the largest value there may be",
			slice_show(word, shown), SERIES_VALUE_MAX);
	if (negative)
		*ret_micro = -*ret_micro;
	return 0;
}

static int64_t divide_rounded(int64_t value, int64_t reference)
{
	__int128 scaled = (__int128)value * PRICE_FACTOR_ONE;
	__int128 half = value < 0 ? -(__int128)(reference / 2) : (__int128)(reference / 2);
	return (int64_t)((scaled + half) / reference);
}

static int read_line(struct slice line, int64_t reference, struct entry *ret, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	int64_t value;
	struct slice time = take_word(&line), word = take_word(&line);
	if (!instant_parse(time, &ret->from_ms))
		return err_set(e, ERR_INVALID,
			"%s is not a time; write a point a line, such as \"2026-11-21T00:00:00Z 83.12\"",
			slice_show(time, shown));
	if (line.len > 0)
		return err_set(e, ERR_INVALID,
			"has more than a time and a value; write one point a line, and # before a comment");
	int rc = read_value(word, &value, e);
	if (rc < 0)
		return rc;
	ret->factor = divide_rounded(value, reference);
	if (llabs(ret->factor) > (int64_t)SERIES_FACTOR_MAX * PRICE_FACTOR_ONE)
		return err_set(e, ERR_LIMIT,
			"%s is more than %d times the reference; write a larger reference",
			slice_show(word, shown), SERIES_FACTOR_MAX);
	return 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct list {
	struct entry *entry;
	size_t count, room;
};

static int add_line(
	struct list *l, struct slice line, size_t number, int64_t reference, struct err *e)
{
	struct entry new = {.line = number};
	line = skip_blanks(take_until(&line, '#'));
	if (line.len == 0)
		return 0;
	int rc = l->count == SERIES_POINTS_MAX
			 ? err_set(e, ERR_LIMIT,
				   "is one more than the %d points there may be; remove past ones",
				   SERIES_POINTS_MAX)
			 : read_line(line, reference, &new, e);
	if (rc < 0) {
		err_wrap(e, "line %zu", number);
		return rc;
	}
	l->entry = mem_room(l->entry, l->count, &l->room, 64, sizeof(*l->entry));
	l->entry[l->count++] = new;
	return 0;
}

/* By time, then by line, so that the sentence about a duplicate is always the same. */
static int compare(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	if (a->from_ms != b->from_ms)
		return a->from_ms < b->from_ms ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int sort(struct list *l, struct err *e)
{
	if (l->count > 0)
		qsort(l->entry, l->count, sizeof(*l->entry), compare);
	for (size_t i = 1; i < l->count; i++)
		if (l->entry[i].from_ms == l->entry[i - 1].from_ms)
			return err_set(e, ERR_INVALID,
				"line %zu: has the time of line %zu; remove one of them",
				l->entry[i].line, l->entry[i - 1].line);
	return 0;
}

static struct price_point *points_of(const struct list *l)
{
	struct price_point *all = l->count ? mem_array(l->count, sizeof(*all)) : NULL;
	for (size_t i = 0; i < l->count; i++)
		all[i] = (struct price_point){l->entry[i].from_ms, l->entry[i].factor};
	return all;
}

int series_read(struct slice text, int64_t reference, struct price_point **ret_point,
	size_t *ret_count, struct err *e)
{
	struct list l = {0};
	int rc = 0;
	for (size_t number = 1; text.len > 0 && rc == 0; number++)
		rc = add_line(&l, take_until(&text, '\n'), number, reference, e);
	if (rc == 0)
		rc = sort(&l, e);
	if (rc == 0) {
		*ret_point = points_of(&l);
		*ret_count = l.count;
	}
	free(l.entry);
	return rc;
}

/* ---- of a plan ------------------------------------------------------------------------------- */

static int resolve(struct priceplan_spec *spec, struct slice text, struct series *ret)
{
	size_t n = 0;
	char name[SLICE_SHOWN_SIZE], key[SLICE_SHOWN_SIZE];
	struct err *e = &ret->fault;
	slice_show(slice_of(spec->series_configmap), name);
	slice_show(slice_of(spec->series_key), key);
	if (!text.ptr)
		return err_set(e, ERR_GONE,
			"spec.series: there is no ConfigMap %s with key %s; create it, or remove series",
			name, key);
	int rc = series_read(text, spec->series_reference, &ret->point, &n, e);
	if (rc == 0 && n == 0)
		rc = err_set(
			e, ERR_INVALID, "has no point; write e.g. \"2026-11-21T00:00:00Z 83.12\"");
	if (rc < 0)
		err_wrap(e, "spec.series: ConfigMap %s, key %s", name, key);
	spec->series = ret->point;
	spec->nseries = n;
	return rc;
}

void series_resolve(struct priceplan_spec *spec, struct slice text, struct series *ret)
{
	*ret = (struct series){0};
	spec->series = NULL;
	spec->nseries = 0;
	spec->series_fault = NULL;
	if (spec->has_series && resolve(spec, text, ret) < 0)
		spec->series_fault = ret->fault.text;
}

void series_done(struct series *s)
{
	free(s->point);
	*s = (struct series){0};
}
