/* The way of every command: its line is read by its row, and then it runs, or its page or its
 * fault is printed. */
#ifndef SLUICE_CLI_COMMAND_RUN_H
#define SLUICE_CLI_COMMAND_RUN_H

#include "cli/command_table.h"

/* argv[0] is not looked at. Returns an exit code. */
int command_run(const struct command_row *row, int argc, char **argv);

#endif
