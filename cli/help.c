#include "cli/help.h"

#include <string.h>

#include "base/must.h"
#include "cli/arguments.h"
#include "cli/commands.h"

static const char *page_of(const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < HELP_PAGES_COUNT; i++) {
		const char *path = HELP_PAGES[i].path;
		if (strncmp(path, name, len) == 0 && strcmp(path + len, ".txt") == 0)
			return HELP_PAGES[i].text;
	}
	must_not_get_here();
}

const char *help_page(const struct command_row *row)
{
	return page_of(row->page ? row->page : row->name);
}

void help_print(const struct command_row *row, FILE *out)
{
	fputs(help_page(row), out);
	if (row->common)
		fputs(page_of("common"), out);
}

int command_help(void *options)
{
	const struct arguments *a = options;
	const struct command_row *row = a->name ? command_find(a->name) : &command_table[0];
	if (row) {
		help_print(row, stdout);
		return CLI_OK;
	}
	fprintf(stderr, "sluice: there is no command \"%s\"; see sluice help\n", a->name);
	return CLI_USAGE;
}
