#include "cli/calendar/report.h"

#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "controller/wire/decode_text.h"

/* ---- text ------------------------------------------------------------------------------------ */

static const char *time_text(const struct zone *z, int64_t ms, char text[ZONE_TEXT_SIZE])
{
	return ms == CALENDAR_NEVER ? "" : zone_text(z, ms / 1000, text);
}

/* Appends "open by weekend on xmas until Mon 2026-11-23 07:00 CET". The end of an exception, or of
 * a window that another one follows, is no end of that. */
static void add_state(struct calendar *c, int64_t at_ms, const struct zone *zone, struct buf *out)
{
	char text[ZONE_TEXT_SIZE];
	const struct calendar_state state = calendar_at(c, at_ms), *s = &state;
	int64_t until_ms = calendar_next_change(c, at_ms);
	buf_puts(out, s->open ? "open" : "closed");
	if (s->window)
		buf_printf(out, " by window %s", s->window);
	if (s->exception)
		buf_printf(out, "%s exception %s", s->window ? " on" : " by", s->exception);
	if (until_ms == CALENDAR_NEVER)
		buf_puts(out, s->open ? ", always" : ", and never opens (within five years)");
	else
		buf_printf(out, ", until %s", time_text(zone, until_ms, text));
	buf_putc(out, '\n');
}

static void add_changes(struct calendar *c, const struct zone *zone, int64_t at_ms,
	const struct style *style, struct buf *out)
{
	char text[ZONE_TEXT_SIZE];
	struct table *t = table_new(style);
	for (int i = 0; i < REPORT_CHANGES; i++) {
		bool open = calendar_at(c, at_ms).open;
		at_ms = calendar_next_change(c, at_ms);
		if (at_ms == CALENDAR_NEVER)
			break;
		table_cell(t, COLOUR_NONE, open ? "  closes" : "  opens");
		table_cell(t, COLOUR_NONE, time_text(zone, at_ms, text));
		table_cell(t, COLOUR_DIM, instant_seconds(at_ms).s);
		table_end_row(t);
	}
	table_render(t, out);
	table_free(t);
}

void report_show(const struct calendar_specs_calendar *c, const struct zone *zone, int64_t at_ms,
	const char *tzdata, const struct style *style, struct buf *out)
{
	char text[ZONE_TEXT_SIZE];
	buf_printf(out, "%s  %s, tzdata %s\n  at %s ", c->spec->name, c->zone->name, tzdata,
		time_text(zone, at_ms, text));
	add_state(c->calendar, at_ms, zone, out);
	if (*c->note.text)
		buf_printf(out, "  left out: %s\n", c->note.text);
	add_changes(c->calendar, zone, at_ms, style, out);
}

void report_test(const struct calendar_specs_calendar *c, const struct zone *zone,
	const struct moment *at, struct buf *out)
{
	char text[ZONE_TEXT_SIZE];
	buf_printf(out, "%s at %s (%s) is ", c->spec->name, time_text(zone, at->at_ms, text),
		instant_seconds(at->at_ms).s);
	add_state(c->calendar, at->at_ms, zone, out);
	if (*at->note)
		buf_printf(out, "  %s\n", at->note);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_time(struct json_writer *w, const char *key, const struct zone *zone, int64_t ms)
{
	char text[ZONE_TEXT_SIZE], local[32];
	if (ms == CALENDAR_NEVER) {
		jw_text(w, key, NULL);
		return;
	}
	snprintf(local, sizeof(local), "%sLocal", key);
	jw_texts(w, key, instant_seconds(ms).s, local, time_text(zone, ms, text), NULL);
}

static void json_changes(
	struct json_writer *w, struct calendar *c, const struct zone *zone, int64_t at_ms)
{
	jw_array(w, "next");
	for (int i = 0; i < REPORT_CHANGES; i++) {
		bool open = calendar_at(c, at_ms).open;
		at_ms = calendar_next_change(c, at_ms);
		if (at_ms == CALENDAR_NEVER)
			break;
		jw_object(w, NULL);
		jw_text(w, "state", open ? "Closed" : "Open");
		json_time(w, "at", zone, at_ms);
		jw_end(w);
	}
	jw_end(w);
}

void report_json(const struct calendar_specs_calendar *c, const struct zone *zone,
	const struct moment *at, const char *tzdata, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	struct calendar_state s = calendar_at(c->calendar, at->at_ms);
	jw_texts(&w, "name", c->spec->name, "timeZone", c->zone->name, "tzdata", tzdata, NULL);
	json_time(&w, "at", zone, at->at_ms);
	jw_texts(&w, "state", s.open ? "Open" : "Closed", "window", s.window, "exception",
		s.exception, NULL);
	json_time(&w, "until", zone, calendar_next_change(c->calendar, at->at_ms));
	jw_text(&w, "note", *at->note ? at->note : NULL);
	json_changes(&w, c->calendar, zone, at->at_ms);
	jw_close(&w);
	buf_putc(out, '\n');
}
