/*
 * Flags of a command: a table says what each is called and where in the command's options it goes,
 * and a walk through the command line fills them in. What several commands know stands here once.
 *
 * What a flag or a command wants is said by one text, which completion reads too:
 *     table|json       one of these; the walk refuses all else
 *     Open|Closed|...  these are known, and there are others, which the flag itself judges
 *     QUEUE            the name of something; completion/cluster_names.c has the kinds
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
	size_t to;	   /* in the options; 0: all of them */
	const char *value; /* what it wants, as above; NULL: any text */
};

struct flag_table {
	const struct flag *flag;
	size_t count;
	/* Flags whose table another module has, by their index there; NULL: none. */
	const char *(*other)(size_t index, bool *ret_wants_value);
	int (*take_other)(void *options, size_t index, const char *text, struct err *e);
	/* Takes each word that is no flag, in its order among the flags. NULL: they are left to the command. */
	flag_taker *take_word;
};

#define FLAG_TABLE(flags) (flags), sizeof(flags) / sizeof(*(flags))

/* Does not compile where the member is of another type. */
#define FLAG_TO(type, options, member)                                                             \
	(offsetof(options, member) + 0 * sizeof((type *[]){&((options *)0)->member}))

/* Rows: a text as it is; given or not; what a function makes of it, which gets all options. */
#define FLAG_TEXT(flag_name, options, member)                                                      \
	.name = flag_name, .take = flag_text, .to = FLAG_TO(const char *, options, member)
#define FLAG_GIVEN(flag_name, flag_letter, options, member)                                        \
	.name = flag_name, .letter = flag_letter, .alone = true, .take = flag_given,               \
	.to = FLAG_TO(bool, options, member)
#define FLAG_TAKE(flag_name, flag_letter, taker)                                                   \
	.name = flag_name, .letter = flag_letter, .take = taker
#define FLAG_ALONE(flag_name, flag_letter, taker)                                                  \
	.name = flag_name, .letter = flag_letter, .alone = true, .take = taker

/* -n NAMESPACE */
#define FLAG_NAMESPACE(options, member)                                                            \
	.name = "namespace", .letter = 'n', .take = flag_namespace,                                \
	.to = FLAG_TO(const char *, options, member), .value = "NAMESPACE"
/* -o table|json */
#define FLAG_JSON(options, member)                                                                 \
	.name = "output", .letter = 'o', .take = flag_json, .to = FLAG_TO(bool, options, member),  \
	.value = "table|json"
/* -f, which may be given several times */
#define FLAG_FILES(options, member)                                                                \
	.name = "filename", .letter = 'f', .take = flag_file,                                      \
	.to = FLAG_TO(struct flag_files, options, member), .value = "FILE"
#define FLAG_KUBECONFIG(options, member)                                                           \
	FLAG_TEXT("kubeconfig", options, member.kubeconfig), .value = "FILE"
#define FLAG_CONTEXT(options, member) FLAG_TEXT("context", options, member.context)
/* --overcommit-config NAMESPACE/NAME, or "" for none */
#define FLAG_OVERCOMMIT_CONFIG(options, member)                                                    \
	.name = "overcommit-config", .take = flag_overcommit_config,                               \
	.to = FLAG_TO(const char *, options, member)

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

/* Which of a|b|c the text is, from 0; -1: none. */
int flag_choice(const char *choices, const char *text);

/* All flags of argv behind its first `skip` words, wherever they stand. Behind it optind is at the
 * first word that is no flag and was not taken. 0 or ERR_INVALID. */
int flags_walk(
	int argc, char **argv, int skip, const struct flag_table *t, void *options, struct err *e);

/* The only word that is left, or NULL; more than one is an error. */
int flags_last_word(int argc, char **argv, const char **ret, struct err *e);

#endif
