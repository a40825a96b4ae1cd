/*
 * What a Job's annotations say of time and money: when it may start, by when it must have ended,
 * and at which price. Whether that can be had is not asked here: a deadline in the past is no
 * fault, but a reason to wait or to run late, which the queue tells.
 */
#include <stdio.h>
#include <string.h>

#include "queue/calendar/wall_time.h"
#include "controller/wire/decode_parts.h"
#include "queue/price/money.h"
#include "sluice/keys.h"

#define TIME_MAX 127 /* bytes of a time and a zone */
#define SENTENCE_MAX 1024

/* ---- times ----------------------------------------------------------------------------------- */

/* Keeps a time above 0, which would be none: before 1970 is as good as at its beginning. */
static int64_t some_ms(int64_t ms)
{
	return ms > 0 ? ms : 1;
}

static bool zone_is_plain(struct slice zone)
{
	for (size_t i = 0; i < zone.len; i++)
		if (zone.ptr[i] <= ' ' || zone.ptr[i] >= 0x7f)
			return false;
	return zone.len > 0;
}

/* Makes the sentence about an unknown zone now, for later there is nowhere to keep it. */
static const char *unknown_zone(
	struct decoder *d, const char *ns, const char *name, const char *key, const char *zone)
{
	char shown[SHOWN_SIZE];
	struct buf b;
	buf_init(&b, SENTENCE_MAX);
	buf_printf(&b,
		"Job %s/%s: metadata.annotations.%s: there is no time zone %s where Sluice runs; write an IANA name such as Europe/Berlin, or UTC",
		ns, name, key, text_show(zone, shown));
	char *copy = parcel_bytes(&d->parcel, b.len + 1);
	memcpy(copy, buf_text(&b), b.len);
	buf_done(&b);
	return copy;
}

/* Says that the zone is missing. The example shows the time alone: what stands behind it is no
 * zone. */
static void missing_zone(
	struct decoder *d, const struct path *at, const char *text, struct slice zone)
{
	char shown[SHOWN_SIZE], example[SLICE_SHOWN_SIZE];
	size_t n = zone.len > 0 ? (size_t)(zone.ptr - text) : strlen(text);
	while (n > 0 && strchr(" \t", text[n - 1]))
		n--;
	slice_show((struct slice){text, n}, example);
	bool has_clock = strchr(text, ':') != NULL;
	decoder_fault(d, at, "%s names no time zone%s, as in %.*s%s Europe/Berlin\"",
		text_show(text, shown),
		has_clock ? "; write it behind" : " and no time of day; write both",
		(int)strlen(example) - 1, example, has_clock ? "" : " 8:00");
}

static void time_field(struct decoder *d, const struct path *at, const cJSON *annotations,
	const char *key, const struct job *j, int64_t *ret_ms, struct zoned_time *ret_zoned)
{
	char shown[SHOWN_SIZE], name[TIME_MAX + 1];
	int64_t ms;
	struct wall_time when;
	struct slice zone;
	const cJSON *item = json_get(annotations, key);
	if (!item)
		return;
	const char *text = text_field(d, at, annotations, key, TIME_MAX);
	if (text_time(text, &ms)) {
		*ret_ms = some_ms(ms);
	} else if (wall_time_read(slice_of(text), &when, &zone, NULL) < 0) {
		decoder_fault(d, PATH(at, key),
			"%s is not a time; write e.g. \"2026-11-22T08:00:00Z\", \"2026-11-22 08:00 Europe/Berlin\", or \"Mon 8:00 Europe/Berlin\" or \"8:00 Europe/Berlin\" for the first one after the Job's creation",
			text_show(text, shown));
	} else if (!zone_is_plain(zone)) {
		missing_zone(d, PATH(at, key), text, zone);
	} else {
		ret_zoned->when = when;
		snprintf(name, sizeof(name), "%.*s", (int)zone.len, zone.ptr);
		ret_zoned->zone = text_keep(d, NULL, name, TIME_MAX);
		ret_zoned->unknown = unknown_zone(d, j->ns, j->name, key, ret_zoned->zone);
	}
}

static void read_times(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j)
{
	static const char *const missed[] = {"RunAnyway", "Hold", NULL};
	const char *when_missed = json_text(annotations, MISSED_ANNOTATION);
	time_field(d, at, annotations, START_AFTER_ANNOTATION, j, &j->terms.start_after_ms,
		&j->start_after);
	time_field(d, at, annotations, DEADLINE_ANNOTATION, j, &j->terms.deadline_ms, &j->deadline);
	bool old_word = when_missed && strcmp(when_missed, "Fail") == 0; /* before 0.2.0 */
	j->terms.hold_when_missed =
		old_word || name_field(d, at, annotations, MISSED_ANNOTATION, missed, 0) == 1;
}

/* ---- money ----------------------------------------------------------------------------------- */

/* Reads "0.05", which is for a cpu, or "2.50 nvidia.com/gpu". */
static void read_max_price(
	struct decoder *d, const struct path *up, const cJSON *annotations, struct job_terms *t)
{
	char shown[SHOWN_SIZE];
	const struct path *at = PATH(up, MAX_PRICE_ANNOTATION);
	if (!json_get(annotations, MAX_PRICE_ANNOTATION))
		return;
	const char *text =
		text_field(d, up, annotations, MAX_PRICE_ANNOTATION, NAME_MAX_BYTES + TIME_MAX);
	const char *unit = text + strcspn(text, " ");
	struct slice amount = {text, (size_t)(unit - text)};
	unit += strspn(unit, " ");
	if (money_parse(amount, &t->max_price, NULL) < 0)
		decoder_fault(d, at,
			"%s is not a price; write that of an hour of one cpu, such as 0.05, or of another unit, such as \"2.50 nvidia.com/gpu\"",
			text_show(text, shown));
	else if (*unit == '\0')
		t->max_price_resource = "cpu";
	else if (priced_unit(d, at, unit))
		t->max_price_resource = unit;
	t->has_max_price = t->max_price_resource != NULL;
}

/* ---- our own --------------------------------------------------------------------------------- */

static void read_stopping_at(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j)
{
	int64_t ms;
	if (!json_get(annotations, STOPPING_ANNOTATION))
		return;
	const char *text = text_field(d, at, annotations, STOPPING_ANNOTATION, TIME_MAX);
	if (text_time(text, &ms))
		j->annotations.stopping_at_ms = some_ms(ms);
	else
		decoder_fault(d, PATH(at, STOPPING_ANNOTATION),
			"is not a time; remove it, only Sluice writes it");
}

/* Reads the booked start. What is no time says nothing: then the start is looked for anew. */
static void read_booked_start(const cJSON *annotations, struct job *j)
{
	int64_t ms = json_instant(annotations, BOOKED_START_ANNOTATION);
	if (ms > 0)
		j->annotations.booked_start_ms = ms;
}

void job_terms_field(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j)
{
	static const char *const starts[] = {"Asap", "Cheapest", NULL};
	if (!annotations)
		return;
	read_times(d, at, annotations, j);
	j->terms.cheapest = name_field(d, at, annotations, START_ANNOTATION, starts, 0) == 1;
	read_max_price(d, at, annotations, &j->terms);
	read_stopping_at(d, at, annotations, j);
	read_booked_start(annotations, j);
}
