/*
 * Flags of the commands that have some of their own (calendar, overcommit, doctor): the walk
 * through a command line, and the values that several of them know.
 */
#ifndef SLUICE_CLI_FLAGS_H
#define SLUICE_CLI_FLAGS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Takes one flag, its value in optarg. */
typedef int flag_taker(int flag, void *options, struct err *e);

/* All flags of argv behind its first `skip` words, wherever they stand; shorts as getopt has them,
 * with ':' in front. Behind it optind is at the first word that is no flag. 0 or ERR_INVALID. */
int flags_walk(int argc, char **argv, int skip, const char *shorts, const struct option *flags,
	flag_taker *take, void *options, struct err *e);

/* The only word that is left, or NULL; more than one is an error. */
int flags_last_word(int argc, char **argv, const char **ret, struct err *e);

/* -o table|json */
int flags_json(const char *text, bool *ret_json, struct err *e);
/* -f, which may be given several times. */
int flags_file(const char *text, const char **files, size_t *n, size_t max, struct err *e);
/* --overcommit-config NAMESPACE/NAME, or "" for none */
int flags_overcommit_config(const char *text, const char **ret, struct err *e);

#endif
