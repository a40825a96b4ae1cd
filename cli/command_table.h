/*
 * The commands of `sluice`, a row each: main.c runs them by it, help prints their pages by it, and
 * completion offers by it what may follow (completion/candidates.h).
 *
 * When a command is added: its name here, a row in command_table.c, its page in cli/help/.
 */
#ifndef SLUICE_CLI_COMMAND_TABLE_H
#define SLUICE_CLI_COMMAND_TABLE_H

#include <stddef.h>

#include "cli/flags.h"

enum command {
	COMMAND_NONE,
	COMMAND_QUEUE,
	COMMAND_JOBS,
	COMMAND_EXPLAIN,
	COMMAND_START,
	COMMAND_WHATIF,
	COMMAND_DECISIONS,
	COMMAND_COST,
	COMMAND_REPORT,
	COMMAND_HISTORY,
	COMMAND_SIMULATE,
	COMMAND_REPLAY,
	COMMAND_CALENDAR,
	COMMAND_OVERCOMMIT,
	COMMAND_DOCTOR,
	COMMAND_IMPORT,
	COMMAND_ADOPT,
	COMMAND_RESERVE,
	COMMAND_HOLD,
	COMMAND_RELEASE,
	COMMAND_MOVE,
	COMMAND_PRIORITY,
	COMMAND_NICE,
	COMMAND_COMPLETION,
	COMMAND_VERSION,
	COMMAND_HELP,
	COMMANDS
};

struct arguments;

struct command_row {
	const char *name;
	const char *page; /* of help, by its name in cli/help/; NULL: the command's own */
	const struct flag_table *flags;
	/* What follows the name and is no flag, as flags.h notes it, one word behind the other: "JOB CLASS".
	 * "JOB ...": any number of them. NULL: nothing. */
	const char *words;
	/* Reads the command line itself; argv[0] is its name. */
	int (*run)(int argc, char **argv);
	const char *example; /* with run: a command line that is right */
	/* Or takes what arguments.h reads, which lets flags stand before the name; at most so many names. */
	int (*ask)(const struct arguments *a);
	size_t most_names;
};

extern const struct command_row command_table[COMMANDS];

enum command command_by_name(const char *name); /* COMMAND_NONE when there is none */
const char *command_name(enum command c);

#endif
