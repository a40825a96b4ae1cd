/*
 * The pages of `sluice help`, one for each command, with the sections of a man page (cli/help/,
 * compiled in).
 */
#ifndef SLUICE_CLI_HELP_H
#define SLUICE_CLI_HELP_H

#include <stddef.h>
#include <stdio.h>

#include "base/embedded.h"
#include "cli/command_table.h"

extern const struct embedded HELP_PAGES[];
extern const size_t HELP_PAGES_COUNT;

/* Returns the page of a command, without the part that several commands share. */
const char *help_page(const struct command_row *row);

/* Prints the page with the shared part. */
void help_print(const struct command_row *row, FILE *out);

#endif
