/*
 * Calendars and zones by pipe, for test/model/calendars.py and zones.py: lines of words.h in, and
 * answers out, each one line of numbers and names.
 *
 *   new          forgets the calendar
 *   ask SECONDS  -> OPEN WINDOW EXCEPTION UNTIL CHANGE   ("-" for none, "never")
 *   spans        -> FROM OFFSET ABBREVIATION for each span of the zone, then "."
 *   instant SECONDS, clock SECONDS, local SECONDS  -> SECONDS, by the zone
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

static void print_ms(int64_t ms, char end)
{
	if (ms == CALENDAR_NEVER)
		printf("never%c", end);
	else
		printf("%" PRId64 "%c", ms / 1000, end);
}

static void ask(struct calendar_words *w, int64_t at_s)
{
	struct calendar *c = calendar_words_get(w);
	if (!c) {
		printf("refused %s\n", w->said.text);
		return;
	}
	struct calendar_state s = calendar_at(c, at_s * 1000);
	printf("%d %s %s ", s.open, s.window ? s.window : "-", s.exception ? s.exception : "-");
	print_ms(s.until_ms, ' ');
	print_ms(calendar_next_change(c, at_s * 1000), '\n');
}

static void spans(const struct calendar_words *w)
{
	for (size_t i = 0; w->zone && i < w->zone->nspans; i++)
		printf("%" PRId64 " %d %s\n", w->zone->span[i].from_s,
			(int)w->zone->span[i].offset_s, w->zone->span[i].abbreviation);
	printf("%s\n", w->zone ? "." : w->said.text);
}

static void line(struct calendar_words *w, const char *text)
{
	const char *number = strchr(text, ' ');
	int64_t s = number ? strtoll(number, NULL, 10) : 0;
	if (strcmp(text, "new") == 0)
		calendar_words_done(w);
	else if (strcmp(text, "spans") == 0)
		spans(w);
	else if (strncmp(text, "ask ", 4) == 0)
		ask(w, s);
	else if (strncmp(text, "instant ", 8) == 0)
		printf("%" PRId64 "\n", zone_instant_s(w->zone, s));
	else if (strncmp(text, "clock ", 6) == 0)
		printf("%" PRId64 "\n", zone_clock_s(w->zone, s));
	else if (strncmp(text, "local ", 6) == 0)
		printf("%" PRId64 "\n", zone_local_s(w->zone, s));
	else if (!calendar_words_line(w, text))
		printf("not understood: %s\n", text);
}

int main(void)
{
	static char text[1 << 16];
	struct calendar_words w;
	calendar_words_init(&w);
	while (fgets(text, sizeof(text), stdin)) {
		text[strcspn(text, "\n")] = '\0';
		line(&w, text);
	}
	calendar_words_done(&w);
	return 0;
}
