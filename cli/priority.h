/*
 * `sluice priority`: another WorkloadPriorityClass for a Job that waits or runs (label
 * sluice.dev/priority-class).
 */
#ifndef SLUICE_CLI_PRIORITY_H
#define SLUICE_CLI_PRIORITY_H

#include "cli/job_change.h"

struct priority_change {
	struct job_options of;
	const char *class_name;
	int64_t value; /* of the class, once it was looked at */
};

extern const struct flag_table priority_flags;
int priority_parse(int argc, char **argv, struct priority_change *p, struct err *e);
/* Borrows p. */
struct job_change priority_change(struct priority_change *p);

#endif
