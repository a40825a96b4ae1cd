/*
 * `sluice nice`: the order of the Jobs of one submitter in line (annotation sluice.dev/nice). It is
 * a number, or one that puts the Job before all others.
 */
#ifndef SLUICE_CLI_NICE_H
#define SLUICE_CLI_NICE_H

#include "cli/job_change.h"

struct nice_change {
	struct job_options of; /* value: text */
	bool top;	       /* with --top the number follows from the others' */
	int32_t nice;
	char text[8]; /* the number, to be written */
	/* What is known of the other Jobs among which this one is ordered, as far as they may be
	 * read. */
	bool known;
	const char *created;   /* the Job's own */
	size_t others, passed; /* passed: the Job goes before these */
	int32_t least;	       /* the least nice among the others */
	char first[254];       /* name of a Job with that nice */
};

extern const struct flag_table nice_flags;
extern const struct job_change nice_change;

#endif
