/*
 * What `sluice help` prints.
 */
#ifndef SLUICE_CLI_HELP_H
#define SLUICE_CLI_HELP_H

#include <stdio.h>

#include "cli/arguments.h"

/* A page each: the sections of a man page. */
extern const char overview_help[], queue_help[], jobs_help[], explain_help[], start_help[],
	whatif_help[], decisions_help[], cost_help[], report_help[], history_help[],
	simulate_help[], replay_help[], calendar_help[], overcommit_help[], doctor_help[],
	import_help[], adopt_help[], reserve_help[], hold_help[], move_help[], priority_help[],
	nice_help[], completion_help[];

/* c: COMMAND_NONE for the overview. */
void help_print(enum command c, FILE *out);

#endif
