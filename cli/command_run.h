/* Runs any command: its row reads the line, and then the command runs, or its page or its fault is
 * printed. */
#ifndef SLUICE_CLI_COMMAND_RUN_H
#define SLUICE_CLI_COMMAND_RUN_H

#include "cli/command_table.h"

/* Runs the command; argv[0] is ignored. Returns an exit code. */
int command_run(const struct command_row *row, int argc, char **argv);

#endif
