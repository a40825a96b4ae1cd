/*
 * Any text as a calendar in the words of test/unit/calendar/words.h, which passes through all of
 * notation.h: what is refused gets a sentence, what is taken is the same whenever it is asked.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/slice.h"
#include "queue/calendar/notation.h"
#include "test/unit/calendar/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct calendar_state *a, const struct calendar_state *b)
{
	return a->open == b->open && a->window == b->window && a->exception == b->exception;
}

static void walk(struct calendar *c, int64_t at_ms)
{
	for (int i = 0; i < 40; i++) {
		struct calendar_state s = calendar_at(c, at_ms);
		int64_t change_ms = calendar_next_change(c, at_ms);
		must(s.until_ms > at_ms && change_ms >= s.until_ms);
		must(s.open || !s.window);
		if (s.until_ms == CALENDAR_NEVER)
			return;
		struct calendar_state last = calendar_at(c, s.until_ms - 1);
		struct calendar_state next = calendar_at(c, s.until_ms);
		must(same(&s, &last) && last.until_ms == s.until_ms && !same(&s, &next));
		must((next.open != s.open) == (change_ms == s.until_ms));
		at_ms = s.until_ms;
	}
}

static void read_dates(const char *text)
{
	struct date_range *date = NULL;
	size_t n = 0;
	struct err e = {""};
	int rc = notation_date_list(slice_of(text), 100, &date, &n, &e);
	must((rc == 0) != (*e.text != '\0'));
	if (rc == 0)
		free(date);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct calendar_words w;
	char *text = mem_strndup((const char *)data, size), *rest = text;
	read_dates(text);
	calendar_words_init(&w);
	calendar_words_line(&w, "zone Europe/Berlin");
	for (char *line; (line = strsep(&rest, "\n"));)
		if (strlen(line) < 4096 && strncmp(line, "zone", 4) != 0)
			calendar_words_line(&w, line);
	struct calendar *c = calendar_words_get(&w);
	must(c || *w.said.text);
	if (c) {
		walk(c, INT64_C(1774648800000)); /* the eve of a gap */
		walk(c, INT64_C(1792828800000)); /* .. and of a fold */
	}
	calendar_words_done(&w);
	free(text);
	return 0;
}
