/*
 * `sluice priority`: another WorkloadPriorityClass for a Job that waits or runs (label
 * sluice.dev/priority-class).
 */
#ifndef SLUICE_CLI_PRIORITY_H
#define SLUICE_CLI_PRIORITY_H

#include "cli/job_change.h"

struct priority_change {
	struct job_options of; /* value: the class */
	int64_t number;	       /* the class's value, once it was looked at */
};

extern const struct flag_table priority_flags;
extern const struct job_change priority_change;

#endif
