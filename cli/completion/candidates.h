/*
 * What may stand in place of the last word of a command line, by the table of commands and their flags.
 *
 * The scripts for shells know nothing but how to ask and how to show the answer. It is as cobra's
 * programs give it, so kubectl understands it too, which asks on behalf of `kubectl sluice`: a line
 * for each candidate, with a tab before what it is; then ":" and a sum of what the shell shall do.
 *
 * Left to others: names of objects in a cluster (cluster_names.h).
 */
#ifndef SLUICE_CLI_COMPLETION_CANDIDATES_H
#define SLUICE_CLI_COMPLETION_CANDIDATES_H

#include <stddef.h>

#include "base/buf.h"
#include "controller/kube/config.h"

/* The last line; cobra's numbers. */
enum {
	COMPLETION_NO_SPACE = 2, /* behind the only candidate: it goes on */
	COMPLETION_NO_FILES = 4, /* else, without a candidate, files are offered */
};

/* Which cluster the line is about, and which namespace; what it does not say is NULL. */
struct completion_place {
	struct kube_config_options kube;
	const char *namespace_name;
};

/* Appends the names of objects, a line each. kind: as command_table.c and the flags have it, "JOB". */
typedef void completion_names(
	const char *kind, const struct completion_place *place, struct buf *ret_lines);

/* words: those behind the program's name; the last is what was begun, "" where nothing was. */
void completion_candidates(
	char *const *words, size_t nwords, completion_names *names, struct buf *out);

#endif
