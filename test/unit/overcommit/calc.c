/*
 * `sluice overcommit calc` on files: overcommit_calc SLUICE FILE...
 *
 * A file is YAML, with what is expected of it in its comments:
 *
 *     #$ --now 2026-11-21T10:00:00Z -o json     arguments; a run of its own for each such line
 *     #> Node n1 may lend ...                   what is printed, standard error first
 *     #= 2                                      the exit status; 0 without this line
 *
 * and between them the sum as done by hand. FILE in what is expected stands for the file's path.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/must.h"

#define TEXT_MAX ((size_t)1 << 20)

struct expectation {
	char arguments[512];
	struct buf text;
	int status;
};

/* What a run of `command` prints, and its exit status. */
static int run(const char *command, struct buf *out)
{
	char piece[4096];
	FILE *f = popen(command, "r");
	must(f);
	for (size_t n; (n = fread(piece, 1, sizeof(piece), f)) > 0;)
		buf_add(out, piece, n);
	int status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void print_as_expected(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		printf("#>%s%.*s\n", len ? " " : "", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static bool check(const char *sluice, const char *file, const struct expectation *x)
{
	char command[4096];
	struct buf got;
	buf_init(&got, TEXT_MAX);
	snprintf(command, sizeof(command), "{ LC_ALL=C '%s' overcommit calc -f '%s' %s; } 2>&1",
		sluice, file, x->arguments);
	int status = run(command, &got);
	bool same = status == x->status && strcmp(buf_text(&got), buf_text(&x->text)) == 0;
	if (!same) {
		printf("%s\nexpected %d:\n%sgot %d:\n", command, x->status, buf_text(&x->text),
			status);
		print_as_expected(buf_text(&got));
	}
	buf_done(&got);
	return same;
}

/* A line of what is expected, with FILE replaced. */
static void add_line(struct buf *to, const char *line, const char *file)
{
	for (const char *at; (at = strstr(line, "FILE")); line = at + 4) {
		buf_add(to, line, (size_t)(at - line));
		buf_puts(to, file);
	}
	buf_puts(to, line);
	buf_putc(to, '\n');
}

static int check_file(const char *sluice, const char *file)
{
	char line[8192];
	struct expectation x = {.status = 0};
	int runs = 0, bad = 0;
	FILE *f = fopen(file, "r");
	must(f);
	buf_init(&x.text, TEXT_MAX);
	for (bool more = true; more;) {
		more = fgets(line, sizeof(line), f) != NULL;
		if (more)
			line[strcspn(line, "\n")] = '\0';
		if ((!more || strncmp(line, "#$", 2) == 0) && runs > 0) {
			bad += !check(sluice, file, &x);
			buf_reset(&x.text);
			x.status = 0;
		}
		if (more && strncmp(line, "#$", 2) == 0) {
			snprintf(x.arguments, sizeof(x.arguments), "%.500s", line + 2);
			runs++;
		} else if (more && strncmp(line, "#>", 2) == 0) {
			add_line(&x.text, line + 2 + (line[2] == ' '), file);
		} else if (more && strncmp(line, "#=", 2) == 0) {
			x.status = atoi(line + 2);
		}
	}
	fclose(f);
	buf_done(&x.text);
	if (runs == 0)
		printf("%s: expects nothing\n", file);
	return bad + (runs == 0);
}

int main(int argc, char **argv)
{
	int bad = 0;
	must(argc > 2);
	for (int i = 2; i < argc; i++)
		bad += check_file(argv[1], argv[i]);
	return bad > 0;
}
