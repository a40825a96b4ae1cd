/*
 * The commands of `sluice`, a row each: main.c runs them by it, help prints their pages by it, and
 * completion offers by it what may follow (completion/candidates.h).
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
	/* What follows the name and is no flag, as base/flags.h notes it, one word behind the
	 * other: "JOB CLASS". "JOB ...": any number of them. NULL: nothing. */
	const char *words;
	/* Gets the options that its flags say. Returns an exit code, and prints its own
	 * complaint. */
	int (*run)(void *options);
};

/* The first is what is known before a command was named. */
extern const struct command_row command_table[];
extern const size_t COMMANDS;

const struct command_row *command_find(const char *name); /* NULL: there is none */

/* Of which command a line is, and puts its name first, for flags may stand before it. The first
 * row: it names none. NULL: there is none of that name, and e says so. */
const struct command_row *command_choose(int argc, char **argv, struct err *e);

#endif
