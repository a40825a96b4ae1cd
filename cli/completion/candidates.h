/*
 * What may stand in place of the last word of a command line, by the table of commands and their
 * flags.
 *
 * The scripts for shells only ask, and show the answer. Its form is that of cobra's programs, so
 * kubectl understands it too when it asks on behalf of `kubectl sluice`. Each candidate has a line,
 * with a tab before its description; the last line is ":" and a sum of what the shell shall do.
 *
 * Left to others: names of objects in a cluster (cluster_names.h).
 */
#ifndef SLUICE_CLI_COMPLETION_CANDIDATES_H
#define SLUICE_CLI_COMPLETION_CANDIDATES_H

#include <stddef.h>

#include "base/buf.h"
#include "controller/kube/config.h"

/* The numbers of the last line, which are cobra's. */
enum {
	COMPLETION_NO_SPACE = 2, /* no space behind the only candidate: the word goes on */
	COMPLETION_NO_FILES = 4, /* no files where there is no candidate */
};

/* The cluster and the namespace of the line; NULL where it does not say. */
struct completion_place {
	struct kube_config_options kube;
	const char *namespace_name;
};

/* Appends the names of objects, a line each. kind: as in command_table.c and the flags, "JOB". */
typedef void completion_names(
	const char *kind, const struct completion_place *place, struct buf *ret_lines);

/* Appends the candidates. words: those behind the program's name; the last is what was begun, ""
 * where nothing was. */
void completion_candidates(
	char *const *words, size_t nwords, completion_names *names, struct buf *out);

#endif
