/* The pages of help and the tables of flags agree: docs/cli.md is made of the pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/arguments.h"
#include "cli/help.h"

enum { PAGE_MAX = 1 << 16 };

static void read_page(const struct command_row *row, char *ret)
{
	FILE *f = fmemopen(ret, PAGE_MAX, "w");
	assert_non_null(f);
	help_print(row, f);
	assert_int_equal(fclose(f), 0);
}

/* The flag at these two dashes, up to what is no letter of a name. */
static size_t name_length(const char *dashes)
{
	return strspn(dashes + 2, "abcdefghijklmnopqrstuvwxyz-");
}

static bool names_flag(const char *page, const struct flag *f)
{
	size_t len = strlen(f->name);
	for (const char *at = page; (at = strstr(at, "--")); at += 2)
		if (name_length(at) == len && strncmp(at + 2, f->name, len) == 0)
			return true;
	return false;
}

static bool names_letter(const char *page, char letter)
{
	const char short_name[] = {'-', letter, '\0'};
	for (const char *at = page; letter && (at = strstr(at, short_name)); at++)
		if (strchr(" ([", at[-1]) && strchr(" ,]", at[2]))
			return true;
	return false;
}

/* Where a page has the letter alone, the overview says what it is short for. */
static bool is_told(const char *page, const char *overview, const struct flag *f)
{
	return names_flag(page, f) || (names_letter(page, f->letter) && names_flag(overview, f));
}

/* Each command takes --help. `version` and `help` have the page of no command, and any flag. */
static void each_flag_of_a_command_is_on_its_page(void **state)
{
	(void)state;
	static char page[PAGE_MAX], overview[PAGE_MAX];
	const struct flag *f;
	size_t base;
	read_page(&command_table[0], overview);
	for (size_t c = 1; c < COMMANDS; c++) {
		const struct command_row *row = &command_table[c];
		if (row->flags == &any_flags)
			continue;
		read_page(row, page);
		for (size_t i = 0; (f = flags_at(row->flags, i, &base)); i++)
			if (strcmp(f->name, "help") != 0 && !is_told(page, overview, f))
				fail_msg("sluice help %s does not name --%s", row->name, f->name);
	}
}

/* Lines of options begin at the margin of the page with a dash. `release` has the page of `hold`. */
static void no_other_is_listed_there(void **state)
{
	(void)state;
	static char page[PAGE_MAX];
	for (size_t c = 1; c < COMMANDS; c++) {
		const struct command_row *row = &command_table[c];
		if (row->flags == &any_flags || row->page)
			continue;
		read_page(row, page);
		for (char *rest = page, *line; (line = strsep(&rest, "\n"));) {
			if (strncmp(line, "    -", 5) != 0)
				continue;
			for (const char *at = line; (at = strstr(at, "--"));
				at += 2 + name_length(at))
				if (name_length(at) > 0 &&
					!flags_find(row->flags, at + 2, name_length(at)))
					fail_msg("sluice help %s lists %s, which it does not take",
						row->name, at);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_flag_of_a_command_is_on_its_page),
		cmocka_unit_test(no_other_is_listed_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
