/*
 * The commands of `sluice`, a row each. By it main.c runs them, help prints their pages, and
 * completion offers what may follow (completion/candidates.h).
 *
 * When a command is added: a row in command_table.c, its page in cli/help/.
 */
#ifndef SLUICE_CLI_COMMAND_TABLE_H
#define SLUICE_CLI_COMMAND_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/flags.h"

struct command_row {
	const char *name;
	const char *page; /* of help, by its name in cli/help/; NULL: the command's own */
	bool common;	  /* cli/help/common.txt stands below its page */
	const struct flag_table *flags;
	/* What follows the name and is no flag, in the notation of base/flags.h: "JOB CLASS". "JOB
	 * ...": any number of them. NULL: nothing. */
	const char *words;
	/* Runs the command with the options that its flags set. Returns an exit code, and prints
	 * its own complaint. */
	int (*run)(void *options);
};

/* The table. Its first row is for a line that names no command. */
extern const struct command_row command_table[];
extern const size_t COMMANDS;

const struct command_row *command_find(const char *name); /* NULL: there is none */
/* Says whether a command was called name in the version before. It is still found by that, and listed nowhere. */
bool command_is_old_name(const char *name, const char **ret_new);

/* Finds the command of a line, and moves its name to the front, for flags may stand before it. The
 * first row: no command is named. NULL: there is no such command, and e says so. */
const struct command_row *command_choose(int argc, char **argv, struct err *e);

#endif
