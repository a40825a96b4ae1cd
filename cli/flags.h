/*
 * Flags of a command: a table says what each is called and where in the command's options it goes,
 * and a walk through the command line fills them in. What several commands know stands here once.
 */
#ifndef SLUICE_CLI_FLAGS_H
#define SLUICE_CLI_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Takes what one flag says, NULL where it wants no value. */
typedef int flag_taker(const char *text, void *to, struct err *e);

struct flag {
	const char *name; /* behind two dashes */
	char letter;	  /* behind one; 0: none */
	bool alone;	  /* it wants no value */
	flag_taker *take;
	size_t to; /* in the options; 0: all of them */
};

/* Does not compile where the member is of another type. */
#define FLAG_TO(type, options, member)                                                             \
	(offsetof(options, member) + 0 * sizeof((type *[]){&((options *)0)->member}))

/* Rows: a text as it is; given or not; what a function makes of it, which gets all options. */
#define FLAG_TEXT(name, options, member)                                                           \
	name, 0, false, flag_text, FLAG_TO(const char *, options, member)
#define FLAG_GIVEN(name, letter, options, member)                                                  \
	name, letter, true, flag_given, FLAG_TO(bool, options, member)
#define FLAG_TAKE(name, letter, take) name, letter, false, take, 0

/* -n NAMESPACE */
#define FLAG_NAMESPACE(options, member)                                                            \
	"namespace", 'n', false, flag_namespace, FLAG_TO(const char *, options, member)
/* -o table|json */
#define FLAG_JSON(options, member) "output", 'o', false, flag_json, FLAG_TO(bool, options, member)
/* -f, which may be given several times */
#define FLAG_FILES(options, member)                                                                \
	"filename", 'f', false, flag_file, FLAG_TO(struct flag_files, options, member)
#define FLAG_KUBECONFIG(options, member) FLAG_TEXT("kubeconfig", options, member.kubeconfig)
#define FLAG_CONTEXT(options, member) FLAG_TEXT("context", options, member.context)
/* --overcommit-config NAMESPACE/NAME, or "" for none */
#define FLAG_OVERCOMMIT_CONFIG(options, member)                                                    \
	"overcommit-config", 0, false, flag_overcommit_config,                                     \
		FLAG_TO(const char *, options, member)

struct flag_files {
	const char *path[64];
	size_t count;
};

flag_taker flag_text, flag_given, flag_namespace, flag_json, flag_file, flag_overcommit_config;

/* Names that become parts of paths, as Kubernetes writes them: of a Namespace (RFC 1123, a label),
 * and of most other objects (a subdomain). ERR_INVALID names the flag. */
int flag_check_namespace(const char *flag, const char *text, struct err *e);
int flag_check_name(const char *flag, const char *text, struct err *e);

/* The name in job/NAME, jobs/NAME, job.batch/NAME, `job NAME` or NAME; points into word. NULL: none of
 * these. */
const char *flag_job_name(char *const *word, size_t nwords);

/* All flags of argv behind its first `skip` words (1 or more), wherever they stand. Behind it optind is at the
 * first word that is no flag. 0 or ERR_INVALID. */
int flags_walk(int argc, char **argv, int skip, const struct flag *flags, size_t nflags,
	void *options, struct err *e);

/* The only word that is left, or NULL; more than one is an error. */
int flags_last_word(int argc, char **argv, const char **ret, struct err *e);

#endif
