#include "cli/command_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/help.h"

static int refuse(const char *name, const struct err *e)
{
	fprintf(stderr, "sluice: %s%s%s; see sluice help%s%s\n", name, *name ? ": " : "", e->text,
		*name ? " " : "", name);
	return CLI_USAGE;
}

/* Runs the command, or prints what the walk over its line ended with. */
static int run(const struct command_row *row, int rc, void *options)
{
	if (rc == FLAGS_VERSION)
		return command_version(options);
	if (rc != FLAGS_HELP && row->run)
		return row->run(options);
	help_print(row, rc == FLAGS_HELP ? stdout : stderr);
	return rc == FLAGS_HELP ? CLI_OK : CLI_USAGE;
}

int command_run(const struct command_row *row, int argc, char **argv)
{
	struct err e = {""};
	void *options = mem_alloc(row->flags->size);
	int rc = flags_read(row->flags, argc, argv, options, &e);
	int code = rc < 0 ? refuse(row->name, &e) : run(row, rc, options);
	if (rc >= 0)
		flags_done(row->flags, options);
	free(options);
	return code;
}
