#include "cli/moment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/instant.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/notation.h"
#include "queue/calendar/tzdata.h"
#include "queue/calendar/wall_time.h"

enum { SECOND_MS = 1000, JUMP_MAX_S = 2 * 26 * 3600 };

static int64_t floor_s(int64_t ms)
{
	return civil_floor(ms, SECOND_MS);
}

/* ---- the text -------------------------------------------------------------------------------- */

static bool is_now(const char *text)
{
	return strcasecmp(text, "now") == 0;
}

/* Reads an instant. "2026-03-29T02:30Z" is short for what RFC 3339 wants. */
static bool read_instant(const char *text, int64_t *ret_ms)
{
	char with_seconds[MOMENT_TEXT_SIZE];
	if (strlen(text) == strlen("2026-03-29T02:30Z") && text[16] == 'Z') {
		snprintf(with_seconds, sizeof(with_seconds), "%.16s:00Z", text);
		text = with_seconds;
	}
	return instant_parse(slice_of(text), ret_ms);
}

static int read_words(const char *text, struct wall_time *w, struct slice *ret_zone, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	struct err why = {""};
	if (wall_time_read(slice_of(text), w, ret_zone, &why) == 0)
		return 0;
	if (*why.text)
		return err_set(e, ERR_INVALID, "%s", why.text);
	return err_set(e, ERR_INVALID,
		"%s is not a time; write e.g. " WALL_TIME_EXAMPLES
		", a zone behind it as in \"Mon 9:00 Europe/Berlin\", \"now\", or \"2026-11-30T09:00:00+01:00\"",
		slice_show(slice_of(text), shown));
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

/* Returns when that local time comes again; INT64_MAX: it comes but once. */
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

enum { LOCAL_SIZE = 2 * NOTATION_TEXT_SIZE + 4 };

/* Writes "02:30 on 2027-03-28". */
static void put_local(int64_t local_s, char ret[LOCAL_SIZE])
{
	char clock[NOTATION_TEXT_SIZE], date[NOTATION_TEXT_SIZE];
	int32_t day = civil_day_of(local_s);
	notation_write_clock(civil_second_of(local_s) / 60, clock);
	notation_write_dates((struct date_range){day, day}, date);
	snprintf(ret, LOCAL_SIZE, "%s on %s", clock, date);
}

static int say_skipped(const struct zone *z, int64_t local_s, int64_t jump_s, struct err *e)
{
	char skipped[LOCAL_SIZE], from[NOTATION_TEXT_SIZE], to[NOTATION_TEXT_SIZE];
	put_local(local_s, skipped);
	notation_write_clock(civil_second_of(zone_local_s(z, jump_s - 1) + 1) / 60, from);
	notation_write_clock(civil_second_of(zone_local_s(z, jump_s)) / 60, to);
	return err_set(e, ERR_INVALID,
		"there is no %s in %s: the clocks go from %s to %s; write %s, or a time before %s",
		skipped, z->name, from, to, to, from);
}

static void note_repeated(struct moment *m, int64_t local_s, int64_t second_s)
{
	char repeated[LOCAL_SIZE], first[ZONE_TEXT_SIZE], second[MOMENT_TEXT_SIZE];
	const struct moment later = {.at_ms = second_s * SECOND_MS, .zone = m->zone};
	put_local(local_s, repeated);
	snprintf(m->note, sizeof(m->note),
		"%s comes twice in %s; the first is taken, %s. The second is %s.", repeated,
		m->zone->name, zone_text(m->zone, floor_s(m->at_ms), first),
		moment_write(&later, second));
}

static void note_skipped(struct moment *m)
{
	char text[ZONE_TEXT_SIZE];
	snprintf(m->note, sizeof(m->note),
		"the clocks of %s skip that time; what is set to it happens at %s", m->zone->name,
		zone_text(m->zone, floor_s(m->at_ms), text));
}

/* Finds the instant; the moment has its zone. A day that begins with a gap begins after it, without
 * a note: nobody wrote that time. */
static int place(
	struct moment *m, const struct wall_time *w, const struct moment_basis *b, struct err *e)
{
	int64_t local_s = wall_time_local_s(w, m->zone, floor_s(b->about_ms), b->last);
	int64_t at_s = zone_instant_s(m->zone, local_s);
	bool skipped = w->has_clock && zone_local_s(m->zone, at_s) != local_s;
	if (skipped && !b->takes_gaps)
		return say_skipped(m->zone, local_s, at_s, e);
	m->at_ms = at_s * SECOND_MS;
	int64_t second_s = skipped ? INT64_MAX : second_time_s(m->zone, local_s, at_s);
	if (skipped)
		note_skipped(m);
	else if (second_s != INT64_MAX)
		note_repeated(m, local_s, second_s);
	return 0;
}

int moment_read(const char *text, const struct moment_basis *b, struct moment *ret, struct err *e)
{
	struct moment m = {0};
	struct wall_time w;
	struct slice zone;
	if (is_now(text) || read_instant(text, &m.at_ms)) {
		m.at_ms = is_now(text) ? floor_s(b->about_ms) * SECOND_MS : m.at_ms;
		m.zone = zone_copy(b->zone);
		*ret = m;
		return 0;
	}
	int rc = read_words(text, &w, &zone, e);
	if (rc == 0)
		rc = find_zone(zone, b, &m.zone, e);
	if (rc == 0)
		rc = place(&m, &w, b, e);
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

/* Writes UTC where an old zone has seconds in its offset, which RFC 3339 cannot write. */
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
