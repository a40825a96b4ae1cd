#include "cli/help.h"

#include <string.h>

#include "base/must.h"

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

void help_print(enum command c, FILE *out)
{
	const struct command_row *row = &command_table[c];
	fputs(help_page(row), out);
	if (!row->run) /* what these have in common is about the controller that they ask */
		fputs(page_of("common"), out);
}
