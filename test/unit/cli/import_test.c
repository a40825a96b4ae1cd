/*
 * Runs the cases in test/import/: what is described for Kueue, or for Crane, and what comes of it
 * (README there).
 *
 *     test_import [-p] FILE...    -p: print each file with what comes out now
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/import/import.h"

enum part { NOTHING, KUEUE, CRANE, SLUICE, NOTES, PARTS };
static const char *const names[PARTS] = {
	[KUEUE] = "kueue", [CRANE] = "crane", [SLUICE] = "sluice", [NOTES] = "notes"};

struct test_case {
	char title[300];
	struct buf text[PARTS];
	bool has[PARTS];
};

struct run {
	const char *file;
	bool prints;
	size_t cases, mismatches;
};

static void begin(struct test_case *c, const char *title)
{
	snprintf(c->title, sizeof(c->title), "%.290s", title);
	for (int p = 0; p < PARTS; p++) {
		buf_reset(&c->text[p]);
		c->has[p] = false;
	}
}

static void compare(struct run *r, const struct test_case *c, enum part p, const char *came)
{
	if (!c->has[p] || strcmp(buf_text(&c->text[p]), came) == 0)
		return;
	r->mismatches++;
	fprintf(stderr, "%s: %s\n  expected >> %s\n%s  got\n%s", r->file, c->title, names[p],
		buf_text(&c->text[p]), came);
}

/* Blank lines between cases are not part of what is expected. */
static void trim(struct buf *b)
{
	while (b->len > 1 && b->ptr[b->len - 1] == '\n' && b->ptr[b->len - 2] == '\n')
		b->ptr[--b->len] = '\0';
	if (b->len == 1 && *b->ptr == '\n')
		buf_reset(b);
}

static void print_case(const struct test_case *c, const struct buf came[PARTS])
{
	enum part from = c->has[CRANE] ? CRANE : KUEUE;
	printf("== %s\n>> %s\n%s>> sluice\n%s", c->title, names[from], buf_text(&c->text[from]),
		buf_text(&came[SLUICE]));
	if (c->has[NOTES])
		printf(">> notes\n%s", buf_text(&came[NOTES]));
	printf("\n");
}

static void run_case(struct run *r, struct test_case *c)
{
	struct import i;
	struct err e = {""};
	struct buf came[PARTS];
	enum part from = c->has[CRANE] ? CRANE : KUEUE;
	if (!c->has[from])
		return;
	for (int p = 0; p < PARTS; p++) {
		trim(&c->text[p]);
		buf_init(&came[p], 1 << 20);
	}
	import_init(&i);
	i.source = from == CRANE ? IMPORT_CRANE : IMPORT_KUEUE;
	if (import_text(&i, "in.yaml", buf_slice(&c->text[from]), &e) < 0)
		buf_printf(&came[SLUICE], "error: %s\n", e.text);
	import_settle(&i);
	import_render_yaml(&i, &came[SLUICE]);
	import_render_notes(&i, &came[NOTES]);
	r->cases++;
	if (r->prints)
		print_case(c, came);
	else {
		compare(r, c, SLUICE, buf_text(&came[SLUICE]));
		compare(r, c, NOTES, buf_text(&came[NOTES]));
	}
	import_done(&i);
	for (int p = 0; p < PARTS; p++)
		buf_done(&came[p]);
}

static enum part part_of(const char *line)
{
	for (int p = KUEUE; p < PARTS; p++)
		if (strncmp(line, ">> ", 3) == 0 && strcmp(line + 3, names[p]) == 0)
			return (enum part)p;
	return NOTHING;
}

static void run_file(struct run *r)
{
	static char line[8192];
	struct test_case c = {0};
	enum part part = NOTHING;
	FILE *f = fopen(r->file, "r");
	for (int p = 0; p < PARTS; p++)
		buf_init(&c.text[p], 1 << 20);
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "== ", 3) == 0) {
			run_case(r, &c);
			begin(&c, line + 3);
			part = NOTHING;
		} else if (part_of(line) != NOTHING) {
			part = part_of(line);
			c.has[part] = true;
		} else {
			buf_printf(&c.text[part], "%s\n", line);
		}
	}
	run_case(r, &c);
	for (int p = 0; p < PARTS; p++)
		buf_done(&c.text[p]);
	if (!f)
		r->mismatches++;
	else
		fclose(f);
}

int main(int argc, char **argv)
{
	size_t mismatches = 0, cases = 0;
	bool prints = argc > 1 && strcmp(argv[1], "-p") == 0;
	for (int i = prints ? 2 : 1; i < argc; i++) {
		struct run r = {.file = argv[i], .prints = prints};
		run_file(&r);
		mismatches += r.mismatches;
		cases += r.cases;
	}
	if (!prints)
		printf("%zu cases, %zu not as expected\n", cases, mismatches);
	return mismatches > 0 || cases == 0;
}
