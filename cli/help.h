/*
 * What `sluice help` prints.
 */
#ifndef SLUICE_CLI_HELP_H
#define SLUICE_CLI_HELP_H

#include <stdio.h>

#include "cli/arguments.h"

/* c: COMMAND_NONE for the overview. */
void help_print(enum command c, FILE *out);

#endif
