/*
 * Runs the scenarios in test/calendar/: calendars that an administrator can read (words.h), and
 * what they mean. See README there.
 *
 * "at TIME" looks at one instant, "after TIME" at the changes that follow it. An "expect:" line has
 * the state in the words in which calendars are shown. On a mismatch the line is shown with what
 * was expected and what came instead.
 */
#include <stdio.h>
#include <string.h>

#include "words.h"

struct run {
	const char *file, *title;
	int line;
	struct calendar_words words;
	bool begun, follows; /* `after`, not `at` */
	int64_t at_s;
	size_t scenarios, expectations, mismatches;
	char got[700];
};

static void say_until(struct run *r, int64_t ms)
{
	size_t n = strlen(r->got);
	char text[ZONE_TEXT_SIZE];
	snprintf(r->got + n, sizeof(r->got) - n, "%s",
		ms == CALENDAR_NEVER ? "never" : zone_text(r->words.zone, ms / 1000, text));
}

static void say_state(struct run *r, struct calendar *c)
{
	struct calendar_state s = calendar_at(c, r->at_s * 1000);
	snprintf(r->got, sizeof(r->got), "%s%s%s%s%s until ", s.open ? "open" : "closed",
		s.window ? " " : "", s.window ? s.window : "", s.exception ? " on " : "",
		s.exception ? s.exception : "");
	say_until(r, s.until_ms);
}

static void say_change(struct run *r, struct calendar *c)
{
	bool open = calendar_at(c, r->at_s * 1000).open;
	int64_t ms = calendar_next_change(c, r->at_s * 1000);
	snprintf(r->got, sizeof(r->got), "%s ", open ? "closes" : "opens");
	say_until(r, ms);
	if (ms != CALENDAR_NEVER)
		r->at_s = ms / 1000;
}

static void expect(struct run *r, const char *expected)
{
	struct calendar *c = calendar_words_get(&r->words);
	r->expectations++;
	r->got[0] = '\0';
	if (!c)
		snprintf(r->got, sizeof(r->got), "refused \"%s\"", r->words.said.text);
	else if (strcmp(expected, "never opens") == 0 && calendar_never_opens(c, r->at_s * 1000))
		return;
	else if (r->follows)
		say_change(r, c);
	else
		say_state(r, c);
	if (strcmp(r->got, expected) == 0)
		return;
	r->mismatches++;
	fprintf(stderr, "%s: %s\n  line %d\n    expected: %s\n    got:      %s\n", r->file,
		r->title, r->line, expected, r->got);
}

static void fault(struct run *r, const char *line)
{
	r->mismatches++;
	fprintf(stderr, "%s:%d: not understood: %s\n", r->file, r->line, line);
}

static void line(struct run *r, const char *text)
{
	char time[40];
	if (strncmp(text, "== ", 3) == 0) {
		static char title[200];
		snprintf(title, sizeof(title), "%s", text + 3);
		calendar_words_done(&r->words);
		r->title = title;
		r->scenarios++;
		r->follows = false;
		r->at_s = 0;
	} else if (sscanf(text, "at %39s", time) == 1 || sscanf(text, "after %39s", time) == 1) {
		r->follows = text[1] == 'f';
		if (!calendar_words_time(&r->words, time, &r->at_s))
			fault(r, text);
	} else if (strncmp(text, "expect: ", 8) == 0) {
		expect(r, text + 8);
	} else if (!calendar_words_line(&r->words, text)) {
		fault(r, text);
	}
}

static void run_file(struct run *r)
{
	char text[2000];
	FILE *f = fopen(r->file, "r");
	if (!f) {
		perror(r->file);
		r->mismatches++;
		return;
	}
	while (fgets(text, sizeof(text), f)) {
		r->line++;
		const char *start = text + strspn(text, " ");
		text[strcspn(text, "\n")] = '\0';
		if (*start && *start != '#')
			line(r, start);
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	size_t mismatches = 0, expectations = 0;
	for (int i = 1; i < argc; i++) {
		struct run r = {.file = argv[i], .title = ""};
		run_file(&r);
		calendar_words_done(&r.words);
		printf("%s: %zu scenarios, %zu expectations, %zu mismatches\n", argv[i],
			r.scenarios, r.expectations, r.mismatches);
		mismatches += r.mismatches;
		expectations += r.expectations;
	}
	return mismatches > 0 || expectations == 0;
}
