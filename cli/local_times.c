#include "cli/local_times.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/instant.h"

enum {
	DAY_CHARACTERS = 4,   /* "Fri " */
	TIME_CHARACTERS = 19, /* "2026-11-27T01:00:00" */
	INSTANT_MAX = 40,     /* with a fraction and an offset */
	RENDERED_MAX_BYTES = 1 << 20,
	SECOND_MS = 1000,
	MINUTE_S = 60,
};

/* A time in a text. */
struct found {
	size_t len; /* bytes of the text */
	int64_t at_s;
	bool has_day; /* "Fri" stands before it */
};

/* ---- what stands there ------------------------------------------------------------------------- */

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool find_instant(const char *p, struct found *ret)
{
	size_t len = TIME_CHARACTERS;
	int64_t at_ms;
	if (strnlen(p, TIME_CHARACTERS) < TIME_CHARACTERS || p[10] != 'T')
		return false;
	len += strspn(p + len, ".0123456789");
	if (p[len] == '+' || p[len] == '-')
		len += 1 + strspn(p + len + 1, "0123456789:");
	else if (p[len] == 'Z')
		len++;
	if (p[len - 1] == ':') /* "...+01:00: why" */
		len--;
	if (len > INSTANT_MAX || !instant_parse((struct slice){p, len}, &at_ms))
		return false;
	*ret = (struct found){.len = len, .at_s = at_ms / SECOND_MS - (at_ms % SECOND_MS < 0)};
	return true;
}

/* Abbreviations that the zone database writes for one offset alone, in our time. Minutes east of
 * UTC. */
static const struct zone_word {
	const char *word;
	int minutes;
} ZONE_WORDS[] = {{"UTC", 0}, {"GMT", 0}, {"WET", 0}, {"WEST", 60}, {"BST", 60}, {"CET", 60},
	{"CEST", 120}, {"EET", 120}, {"EEST", 180}, {"MSK", 180}, {"SAST", 120}, {"PKT", 300},
	{"HKT", 480}, {"AWST", 480}, {"JST", 540}, {"KST", 540}, {"AEST", 600}, {"AEDT", 660},
	{"NZST", 720}, {"NZDT", 780}, {"HST", -600}, {"AKST", -540}, {"AKDT", -480}, {"PDT", -420},
	{"MST", -420}, {"MDT", -360}, {"EST", -300}, {"EDT", -240}};

/* Reads a zone without letters: "+03", "-0330". */
static bool numeric_offset(const char *word, size_t len, int *ret_minutes)
{
	int hours = 0, minutes = 0;
	if ((len != 3 && len != 5) || (word[0] != '+' && word[0] != '-') ||
		strspn(word + 1, "0123456789") < len - 1)
		return false;
	sscanf(word + 1, "%2d%2d", &hours, &minutes);
	*ret_minutes = (hours * 60 + (len == 5 ? minutes : 0)) * (word[0] == '-' ? -1 : 1);
	return true;
}

static bool zone_offset(const char *word, size_t len, int *ret_minutes)
{
	for (size_t i = 0; i < sizeof(ZONE_WORDS) / sizeof(ZONE_WORDS[0]); i++)
		if (strlen(ZONE_WORDS[i].word) == len &&
			strncmp(ZONE_WORDS[i].word, word, len) == 0) {
			*ret_minutes = ZONE_WORDS[i].minutes;
			return true;
		}
	return numeric_offset(word, len, ret_minutes);
}

/* True if the user's own zone has that abbreviation at that time of the clock. */
static bool is_own_zone(struct tm clock, const char *word, size_t len, int64_t *ret_s)
{
	clock.tm_isdst = -1;
	time_t at = mktime(&clock);
	struct tm own;
	bool same = localtime_r(&at, &own) && own.tm_zone && strlen(own.tm_zone) == len &&
		    strncmp(own.tm_zone, word, len) == 0;
	*ret_s = (int64_t)at;
	return same;
}

static bool starts_with_day(const char *p)
{
	static const char days[] = "Sun Mon Tue Wed Thu Fri Sat ";
	for (const char *day = days; *day; day += DAY_CHARACTERS)
		if (strncmp(p, day, DAY_CHARACTERS) == 0)
			return true;
	return false;
}

/* Finds a time as zone_text() writes it (queue/calendar/zone.h). */
static bool find_calendar_time(const char *p, struct found *ret)
{
	struct tm clock = {0};
	int minutes;
	if (!starts_with_day(p))
		return false;
	const char *rest = strptime(p + DAY_CHARACTERS, "%Y-%m-%d %H:%M", &clock);
	if (rest && *rest == ':')
		rest = strptime(rest, ":%S", &clock);
	if (!rest || *rest != ' ')
		return false;
	const char *word = rest + 1;
	size_t len = *word == '+' || *word == '-';
	while (is_word(word[len]))
		len++;
	*ret = (struct found){.len = (size_t)(word - p) + len, .has_day = true};
	if (len == 0 || is_own_zone(clock, word, len, &ret->at_s))
		return len > 0;
	ret->at_s = (int64_t)timegm(&clock);
	if (!zone_offset(word, len, &minutes))
		return false;
	ret->at_s -= (int64_t)minutes * MINUTE_S;
	return true;
}

/* ---- what is written for it -------------------------------------------------------------------- */

/* Appends the time. False where the C library knows no such date. */
static bool add_time(struct local_times *l, const struct found *f, struct buf *out)
{
	time_t at = (time_t)f->at_s;
	struct tm local;
	char day[8] = "", time[32], seconds[8] = "";
	if (!localtime_r(&at, &local))
		return false;
	if (f->has_day)
		strftime(day, sizeof(day), "%a ", &local);
	strftime(time, sizeof(time), "%Y-%m-%d %H:%M", &local);
	if (local.tm_sec)
		strftime(seconds, sizeof(seconds), ":%S", &local);
	buf_printf(out, "%s%s%s", day, time, seconds);
	if (local.tm_zone && strcmp(local.tm_zone, l->zone) != 0) {
		buf_printf(out, " %s", local.tm_zone);
		snprintf(l->zone, sizeof(l->zone), "%s", local.tm_zone);
	}
	return true;
}

/* Counts the bytes from a quote to the one that closes it, both included; 0: none begins here. */
static size_t quoted_bytes(const char *text)
{
	const char *end = *text == '"' ? strchr(text + 1, '"') : NULL;
	return end ? (size_t)(end + 1 - text) : 0;
}

void local_times_add(struct local_times *l, const char *text, struct buf *out)
{
	bool in_word = false;
	struct found f;
	while (*text) {
		size_t quoted = quoted_bytes(text);
		if (quoted) {
			buf_add(out, text, quoted);
			text += quoted;
			in_word = false;
			continue;
		}
		bool found = !in_word && (find_instant(text, &f) || find_calendar_time(text, &f));
		if (found && !is_word(text[f.len]) && add_time(l, &f, out)) {
			text += f.len;
			continue;
		}
		in_word = is_word(*text);
		buf_putc(out, *text++);
	}
}

void local_times_render(struct local_times *l, const char *text, struct buf *out)
{
	struct buf local;
	buf_init(&local, RENDERED_MAX_BYTES);
	local_times_add(l, text, &local);
	text_render(buf_text(&local), out);
	buf_done(&local);
}

void local_times_cell(struct local_times *l, struct table *t, enum colour colour, const char *text)
{
	struct buf local;
	buf_init(&local, RENDERED_MAX_BYTES);
	local_times_add(l, text, &local);
	table_cell(t, colour, buf_text(&local));
	buf_done(&local);
}
