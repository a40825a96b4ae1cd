/*
 * A world and what happens in it: test/simulate/NAME.yaml is played, and each line must be the one
 * in NAME.jsonl. A first line "# flags: --until 1h" gives the command's flags. What the machine has
 * to do with (decisions_per_s, peak_rss_mb) is not compared, nor are the sentences of those that
 * wait: they are the queue's, and its scenarios hold them.
 *
 *   test_simulate_world FILE.yaml            compares
 *   test_simulate_world --write FILE.yaml    writes FILE.jsonl anew: read the difference before you
 *                                            commit it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/simulate/manifest.h"
#include "cli/simulate/options.h"
#include "cli/simulate/engine.h"

enum { WORDS_MAX = 16 };

static void read_flags(const char *path, char *line, size_t size, struct simulate_options *o)
{
	char *argv[WORDS_MAX + 1] = {(char *)"simulate", (char *)"-f", (char *)path};
	int argc = 3;
	struct err e;
	FILE *f = fopen(path, "r");
	if (f && fgets(line, (int)size, f) && strncmp(line, "# flags:", 8) == 0)
		for (char *word = strtok(line + 8, " \n"); word && argc < WORDS_MAX;
			word = strtok(NULL, " \n"))
			argv[argc++] = word;
	if (f)
		fclose(f);
	if (flags_read(&simulate_flags, argc, argv, o, &e) != 0) {
		fprintf(stderr, "%s: %s\n", path, e.text);
		exit(2);
	}
}

/* Takes the sentence off each line of one that waits, and of one that is too late. */
static void drop_sentences(char *text)
{
	char *to = text;
	for (char *line = text; *line;) {
		size_t len = strcspn(line, "\n"), keep = len;
		const char *message = strstr(line, ",\"message\":");
		const char *waits = strstr(line, "\"event\":\"Waiting\"");
		if (!waits || waits >= line + len)
			waits = strstr(line, "\"event\":\"Unreachable\"");
		if (waits && message && waits < line + len && message < line + len)
			keep = (size_t)(message - line);
		memmove(to, line, keep);
		to += keep;
		if (keep < len)
			*to++ = '}';
		line += len;
		if (*line == '\n')
			*to++ = *line++;
	}
	*to = '\0';
}

/* Twice, since the same must come out. */
static char *engine(const char *path)
{
	char flags[512], *text = NULL;
	size_t size = 0;
	struct simulate_options o;
	struct summary summary;
	struct journal journal;
	struct world w;
	struct buf figures;
	struct err e = {""};
	FILE *out = open_memstream(&text, &size);
	read_flags(path, flags, sizeof(flags), &o);
	world_init(&w, &o.settings.config);
	if (manifest_read(&w, path, &e) != 0 || world_close(&w, &e) != 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	summary_init(&summary, &w);
	journal_init_json(&journal, &w, out);
	buf_init(&figures, 1 << 20);
	engine_run(&w, o.has_until ? w.start_ms + o.until_ms : NEVER_MS, false,
		&(struct observers){.summary = &summary, .journal = &journal});
	journal_done(&journal);
	summary_render_json(&summary, &figures);
	char *machine = strstr(buf_text(&figures), ",\"decisions_per_s\"");
	if (machine)
		strcpy(machine, "}}\n");
	fputs(buf_text(&figures), out);
	fclose(out);
	drop_sentences(text);
	buf_done(&figures);
	summary_done(&summary);
	world_done(&w);
	flags_done(&simulate_flags, &o);
	return text;
}

static char *read_all(const char *path)
{
	struct buf b;
	char piece[4096];
	FILE *f = fopen(path, "r");
	buf_init(&b, 64 << 20);
	for (size_t n; f && (n = fread(piece, 1, sizeof(piece), f)) > 0;)
		buf_add(&b, piece, n);
	if (f)
		fclose(f);
	return buf_take(&b);
}

/* The first line that differs, told. */
static int compare(const char *path, char *want, char *got)
{
	for (int line = 1; *want || *got; line++) {
		size_t w = strcspn(want, "\n"), g = strcspn(got, "\n");
		if (w != g || memcmp(want, got, w) != 0) {
			fprintf(stderr, "%s:%d:\n  expected %.*s\n  got      %.*s\n", path, line,
				(int)w, want, (int)g, got);
			return 1;
		}
		want += w + (want[w] == '\n');
		got += g + (got[g] == '\n');
	}
	return 0;
}

int main(int argc, char **argv)
{
	char path[4096];
	bool writes = argc == 3 && strcmp(argv[1], "--write") == 0;
	const char *world = argv[argc - 1];
	if (argc < 2 || strlen(world) < 5)
		return 2;
	snprintf(path, sizeof(path), "%.*s.jsonl", (int)strlen(world) - 5, world);
	char *got = engine(world), *again = engine(world), *want = read_all(path);
	int failed = compare("played again", got, again);
	if (writes) {
		FILE *f = fopen(path, "w");
		if (!f)
			return 2;
		fputs(got, f);
		fclose(f);
	} else {
		failed |= compare(path, want, got);
	}
	free(got);
	free(again);
	free(want);
	return failed;
}
