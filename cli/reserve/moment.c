#include "cli/reserve/moment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/instant.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/notation.h"
#include "queue/calendar/tzdata.h"

enum { WORDS_MAX = 4, SECOND_MS = 1000, DAY_ANY = -1, JUMP_MAX_S = 2 * 26 * 3600 };

/* A text in parts. */
struct written {
	bool has_date;
	int32_t date;	/* or: */
	int days_ahead; /* today is 0; DAY_ANY: the first that fits, of: */
	int weekday;	/* 0 is Sunday; DAY_ANY */
	int minute;	/* of the day */
};

static int64_t floor_s(int64_t ms)
{
	return civil_floor(ms, SECOND_MS);
}

/* ---- the text -------------------------------------------------------------------------------- */

static int refuse(const char *text, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	return err_set(e, ERR_INVALID,
		"%s is not a time; write e.g. \"Mon 09:00 Europe/Berlin\", \"2026-11-30 09:00\", 09:00, now, or 2026-11-30T09:00:00+01:00",
		slice_show(slice_of(text), shown));
}

/* SIZE_MAX: there are more words than a time has. */
static size_t split(const char *text, struct slice word[WORDS_MAX])
{
	static const char blanks[] = " \t";
	size_t n = 0;
	for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
		if (n == WORDS_MAX)
			return SIZE_MAX;
		word[n] = (struct slice){text, strcspn(text, blanks)};
		text += word[n++].len;
	}
	return n;
}

static bool is_word(struct slice s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.ptr, word, s.len) == 0;
}

/* "2026-..." is meant as a date, so its own fault is told. */
static bool looks_like_date(struct slice s)
{
	return s.len > 4 && s.ptr[0] >= '0' && s.ptr[0] <= '9' && memchr(s.ptr, '-', s.len);
}

/* 1: the word was a day. 0: it is none. */
static int read_day(struct slice word, struct written *w, struct err *e)
{
	if (looks_like_date(word)) {
		w->has_date = true;
		return notation_date(word, &w->date, e) < 0 ? ERR_INVALID : 1;
	}
	if (is_word(word, "today") || is_word(word, "tomorrow")) {
		w->days_ahead = is_word(word, "tomorrow");
		return 1;
	}
	return notation_weekday(word, &w->weekday, NULL) == 0;
}

/* "2026-11-30T09:00" */
static bool read_joined(struct slice word, struct written *w)
{
	int64_t local_s;
	if (notation_local(word, &local_s, NULL) < 0)
		return false;
	*w = (struct written){.has_date = true,
		.date = civil_day_of(local_s),
		.minute = civil_second_of(local_s) / 60};
	return true;
}

/* [DAY] CLOCK [ZONE]. The zone is what is left: its word, or "". */
static int read_parts(const char *text, struct written *w, struct slice *ret_zone, struct err *e)
{
	struct slice word[WORDS_MAX];
	size_t n = split(text, word), at = 0;
	*w = (struct written){.days_ahead = DAY_ANY, .weekday = DAY_ANY};
	if (n == 0 || n == SIZE_MAX)
		return refuse(text, e);
	if (read_joined(word[0], w)) {
		at = 1;
	} else {
		int rc = read_day(word[0], w, e);
		if (rc < 0)
			return rc;
		at = (size_t)rc;
		if (at == n || notation_clock(word[at++], &w->minute, NULL) < 0)
			return refuse(text, e);
	}
	*ret_zone = at < n ? word[at] : (struct slice){"", 0};
	return n - at > 1 ? refuse(text, e) : 0;
}

static int find_zone(
	struct slice word, const struct moment_basis *b, struct zone **ret, struct err *e)
{
	char name[ZONE_NAME_SIZE];
	if (word.len == 0) {
		*ret = zone_copy(b->zone);
		return 0;
	}
	snprintf(name, sizeof(name), "%.*s", (int)word.len, word.ptr);
	return tzdata_load(name, ret, e) < 0 ? ERR_INVALID : 0;
}

/* ---- the instant ----------------------------------------------------------------------------- */

static bool fits(const struct written *w, int32_t day, int32_t first_day)
{
	if (w->days_ahead != DAY_ANY)
		return day == first_day + w->days_ahead;
	return w->weekday == DAY_ANY || civil_weekday(day) == w->weekday;
}

/* As zone.h counts local time. */
static int64_t local_of(const struct written *w, const struct zone *z, int64_t after_s)
{
	int32_t first_day = civil_day_of(zone_local_s(z, after_s)), day = w->date;
	if (w->has_date)
		return day * DAY_S + w->minute * 60;
	for (day = first_day; day <= first_day + 8; day++) {
		int64_t local_s = day * DAY_S + w->minute * 60;
		/* Of today what is past is meant as such, and the caller says that. */
		if (fits(w, day, first_day) &&
			(w->days_ahead != DAY_ANY || zone_instant_s(z, local_s) > after_s))
			return local_s;
	}
	return day * DAY_S + w->minute * 60;
}

/* INT64_MAX: it comes but once. */
static int64_t second_time_s(const struct zone *z, int64_t local_s, int64_t first_s)
{
	for (size_t i = 0; i < z->nspans; i++) {
		int64_t at_s = local_s - z->span[i].offset_s, from_s = z->span[i].from_s;
		int64_t end_s = i + 1 < z->nspans ? z->span[i + 1].from_s : INT64_MAX;
		if (from_s > first_s && from_s <= first_s + JUMP_MAX_S && at_s >= from_s &&
			at_s < end_s)
			return at_s;
	}
	return INT64_MAX;
}

/* "02:30 on 2027-03-28" */
static void put_local(int64_t local_s, char *ret, size_t size)
{
	char clock[NOTATION_TEXT_SIZE], date[NOTATION_TEXT_SIZE];
	int32_t day = civil_day_of(local_s);
	notation_write_clock(civil_second_of(local_s) / 60, clock);
	notation_write_dates((struct date_range){day, day}, date);
	snprintf(ret, size, "%s on %s", clock, date);
}

static int say_skipped(const struct zone *z, int64_t local_s, int64_t jump_s, struct err *e)
{
	char skipped[2 * NOTATION_TEXT_SIZE], from[NOTATION_TEXT_SIZE], to[NOTATION_TEXT_SIZE];
	put_local(local_s, skipped, sizeof(skipped));
	notation_write_clock(civil_second_of(zone_local_s(z, jump_s - 1) + 1) / 60, from);
	notation_write_clock(civil_second_of(zone_local_s(z, jump_s)) / 60, to);
	return err_set(e, ERR_INVALID,
		"there is no %s in %s: the clocks go from %s to %s; write %s, or a time before %s",
		skipped, z->name, from, to, to, from);
}

static void note_repeated(struct moment *m, int64_t local_s, int64_t second_s)
{
	char repeated[2 * NOTATION_TEXT_SIZE], first[ZONE_TEXT_SIZE], second[MOMENT_TEXT_SIZE];
	const struct moment later = {.at_ms = second_s * SECOND_MS, .zone = m->zone};
	put_local(local_s, repeated, sizeof(repeated));
	snprintf(m->note, sizeof(m->note),
		"%s comes twice in %s; the first is taken, %s. The second is %s.", repeated,
		m->zone->name, zone_text(m->zone, floor_s(m->at_ms), first),
		moment_write(&later, second));
}

/* The moment has its zone. */
static int place(struct moment *m, int64_t local_s, struct err *e)
{
	int64_t at_s = zone_instant_s(m->zone, local_s);
	if (zone_local_s(m->zone, at_s) != local_s)
		return say_skipped(m->zone, local_s, at_s, e);
	m->at_ms = at_s * SECOND_MS;
	int64_t second_s = second_time_s(m->zone, local_s, at_s);
	if (second_s != INT64_MAX)
		note_repeated(m, local_s, second_s);
	return 0;
}

int moment_read(const char *text, const struct moment_basis *b, struct moment *ret, struct err *e)
{
	struct moment m = {0};
	struct written w;
	struct slice zone;
	bool is_now = is_word(slice_of(text), "now");
	if (is_now || instant_parse(slice_of(text), &m.at_ms)) {
		m.at_ms = is_now ? floor_s(b->after_ms) * SECOND_MS : m.at_ms;
		m.zone = zone_copy(b->zone);
		*ret = m;
		return 0;
	}
	int rc = read_parts(text, &w, &zone, e);
	if (rc == 0)
		rc = find_zone(zone, b, &m.zone, e);
	if (rc == 0)
		rc = place(&m, local_of(&w, m.zone, floor_s(b->after_ms)), e);
	if (rc == 0)
		*ret = m;
	else
		moment_done(&m);
	return rc;
}

void moment_done(struct moment *m)
{
	zone_free(m->zone);
	m->zone = NULL;
}

/* Old zones have seconds in their offsets, which RFC 3339 cannot write. */
const char *moment_write(const struct moment *m, char ret_text[MOMENT_TEXT_SIZE])
{
	int64_t at_s = floor_s(m->at_ms);
	int32_t offset_s = zone_span_at(m->zone, at_s)->offset_s;
	if (offset_s % 60 != 0)
		offset_s = 0;
	int64_t local_s = at_s + offset_s;
	struct civil date = civil_of(civil_day_of(local_s));
	int second = civil_second_of(local_s), minutes = abs(offset_s) / 60;
	int n = snprintf(ret_text, MOMENT_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d", date.year,
		date.month, date.day, second / 3600, second / 60 % 60, second % 60);
	if (offset_s == 0)
		snprintf(ret_text + n, (size_t)(MOMENT_TEXT_SIZE - n), "Z");
	else
		snprintf(ret_text + n, (size_t)(MOMENT_TEXT_SIZE - n), "%c%02d:%02d",
			offset_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
	return ret_text;
}
