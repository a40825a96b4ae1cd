/*
 * `sluice nice`: the order in which its submitter's own Jobs stand in line (annotation
 * sluice.dev/nice), as a number, or such a one that the Job goes before all of them.
 */
#ifndef SLUICE_CLI_NICE_H
#define SLUICE_CLI_NICE_H

#include "cli/job_change.h"

struct nice_change {
	struct job_options of; /* value: text */
	bool top;	       /* --top: the number follows from the others' */
	int32_t nice;
	char text[8]; /* the same, to be written */
	/* The other Jobs among which it is ordered, as far as they may be read. */
	bool known;
	const char *created;   /* the Job's own */
	size_t others, passed; /* passed: it goes before these */
	int32_t least;	       /* the least nice of them */
	char first[254];       /* one that has that */
};

extern const struct flag_table nice_flags;
extern const struct job_change nice_change;

#endif
