#include "queue/calendar/wall_time.h"

#include <ctype.h>
#include <stdbool.h>
#include <strings.h>

#include "queue/calendar/civil.h"
#include "queue/calendar/notation.h"

/* A zone may skip a date whole, and a weekday with it. */
enum { WORDS_MAX = 3, DAYS_LOOKED_AT = 15, MINUTE_S = 60 };

/* ---- the text -------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* WORDS_MAX + 1: there are more words than a time has. */
static size_t split(struct slice text, struct slice word[WORDS_MAX])
{
	size_t n = 0;
	for (size_t i = 0; i < text.len;) {
		size_t from = i;
		if (is_blank(text.ptr[i])) {
			i++;
			continue;
		}
		while (i < text.len && !is_blank(text.ptr[i]))
			i++;
		if (n == WORDS_MAX)
			return n + 1;
		word[n++] = (struct slice){text.ptr + from, i - from};
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

/* 1, or ERR_INVALID */
static int read_date(struct slice word, struct wall_time *w, struct err *e)
{
	int32_t date;
	if (notation_date(word, &date, e) < 0)
		return ERR_INVALID;
	w->day = WALL_DATE;
	w->date = date;
	return 1;
}

/* 1: the word was a day. 0: it is none. */
static int read_day(struct slice word, struct wall_time *w, struct err *e)
{
	static const char *const days[] = {"yesterday", "today", "tomorrow"};
	for (int i = 0; i < 3; i++)
		if (is_word(word, days[i])) {
			w->day = WALL_DAY_NEAR;
			w->days_ahead = (int8_t)(i - 1);
			return 1;
		}
	int weekday;
	if (notation_weekday(word, &weekday, NULL) == 0) {
		w->day = WALL_WEEKDAY;
		w->weekday = (uint8_t)weekday;
		return 1;
	}
	return looks_like_date(word) ? read_date(word, w, e) : 0;
}

static bool read_clock(struct slice word, struct wall_time *w)
{
	int minute;
	if (notation_clock(word, &minute, NULL) < 0)
		return false;
	w->has_clock = true;
	w->minute = (int16_t)minute;
	return true;
}

/* "2026-11-30T09:00" */
static bool read_joined(struct slice word, struct wall_time *w)
{
	const char *clock = memchr(word.ptr, 'T', word.len);
	size_t len = clock ? (size_t)(clock - word.ptr) : 0;
	return clock && looks_like_date((struct slice){word.ptr, len}) &&
	       read_date((struct slice){word.ptr, len}, w, NULL) == 1 &&
	       read_clock((struct slice){clock + 1, word.len - len - 1}, w);
}

int wall_time_read(struct slice text, struct wall_time *ret, struct slice *ret_zone, struct err *e)
{
	struct slice word[WORDS_MAX] = {{0}};
	size_t n = split(text, word), at = 0;
	struct wall_time w = {.day = WALL_ANY_DAY};
	if (n > WORDS_MAX)
		return ERR_INVALID;
	if (n > 0 && read_joined(word[0], &w)) {
		at = 1;
	} else if (n > 0) {
		w = (struct wall_time){.day = WALL_ANY_DAY};
		int rc = read_day(word[0], &w, e);
		if (rc < 0)
			return rc;
		at = (size_t)rc;
		at += at < n && read_clock(word[at], &w);
	}
	if (at == 0 || n - at > 1 || (at < n && isdigit((unsigned char)word[at].ptr[0])))
		return ERR_INVALID;
	*ret = w;
	*ret_zone = at < n ? word[at] : (struct slice){"", 0};
	return 0;
}

/* ---- the day --------------------------------------------------------------------------------- */

static int64_t local_on(const struct wall_time *w, int64_t day)
{
	return day * DAY_S + w->minute * MINUTE_S;
}

int64_t wall_time_local_s(
	const struct wall_time *w, const struct zone *z, int64_t about_s, bool last)
{
	int32_t today = civil_day_of(zone_local_s(z, about_s));
	if (w->day == WALL_DATE)
		return local_on(w, w->date);
	if (w->day == WALL_DAY_NEAR)
		return local_on(w, today + w->days_ahead);
	/* A day on the other side too: a zone may have skipped this one. */
	int64_t day = last ? today + 1 : today - 1;
	for (int i = 0; i < DAYS_LOOKED_AT; i++, day += last ? -1 : 1) {
		bool is_past = zone_instant_s(z, local_on(w, day)) <= about_s;
		if ((w->day == WALL_ANY_DAY || civil_weekday((int32_t)day) == w->weekday) &&
			is_past == last)
			break;
	}
	return local_on(w, day);
}
