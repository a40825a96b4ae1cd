/*
 * Flags of a command line, a row each: the flag's name, the value it wants, and where in the
 * command's options that goes. One walk reads the rows of both programs.
 *
 * The function that takes a flag is its kind: a text, a name, a number, a duration, one of several
 * words. A sentence about a wrong value is made of the row: "--lease-seconds is "2"; it must be a
 * whole number from 3 to 300". Completion reads `value`, too:
 *     table|json       one of these; the walk refuses all else
 *     Open|Closed|...  these are known, and there are others, which the flag itself judges
 *     QUEUE            the name of something; cli/completion/cluster_names.c has the kinds
 *
 * When a flag is added: a row, and its part of the page in cli/help/ or controller/help/.
 */
#ifndef SLUICE_BASE_FLAGS_H
#define SLUICE_BASE_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct flag;

/* Takes the text of a flag (NULL where it wants no value) to its place in the options. Returns 0,
 * or an error with a sentence that names the flag, the value and the cure. A number above 0 ends
 * the walk, which returns it. */
typedef int flag_taker(const struct flag *f, const char *text, void *to, struct err *e);

enum { FLAGS_HELP = 1, FLAGS_VERSION = 2 };

struct flag {
	const char *name; /* behind two dashes */
	char letter;	  /* behind one; 0: none */
	bool alone;	  /* wants no value */
	flag_taker *take;
	size_t to;	     /* its place in the options; 0: all of them */
	const char *value;   /* what it wants, as above; NULL: any text */
	const char *must_be; /* the end of the sentence about a wrong value; NULL: its kind's */
	/* FLAG_AMOUNT: how it is read (NULL: digits), its bounds (most 0: none), and the unit in
	 * which it is kept. */
	bool (*read)(const char *text, int64_t *ret);
	int64_t least, most, unit;
	bool zero; /* "0" and "0s" are taken below `least`, too */
};

struct flag_table {
	const struct flag *flag;
	size_t count;
	size_t size; /* of the options */
	/* Flags of another module, whose options are a member of these. NULL: none. */
	const struct flag_table *more;
	size_t more_to;
	/* Writes the defaults into options that are all 0. */
	void (*begin)(void *options);
	bool negatives; /* a word such as -5 is no flag, and the last of the words */
	/* Takes each word that is no flag, in its order among the flags. NULL: finish() gets
	 * the words. */
	flag_taker *take_word;
	/* Judges the whole line, with the words that are no flags. NULL: no words may be there. */
	int (*finish)(void *options, char **word, size_t nwords, struct err *e);
	void (*done)(void *options);
};

#define FLAG_TABLE(flags, options)                                                                 \
	.flag = (flags), .count = sizeof(flags) / sizeof(*(flags)), .size = sizeof(options)

/* The offset of a member; does not compile where that is of another type. */
#define FLAG_TO(type, options, member)                                                             \
	(offsetof(options, member) + 0 * sizeof((type *[]){&((options *)0)->member}))

/* ---- rows, each in braces -------------------------------------------------------------------- */

/* Rows for a text: any, or one that is not empty. */
#define FLAG_TEXT(flag_name, options, member)                                                      \
	.name = flag_name, .take = flag_text, .to = FLAG_TO(const char *, options, member)
#define FLAG_SOME(flag_name, options, member)                                                      \
	.name = flag_name, .take = flag_some, .to = FLAG_TO(const char *, options, member)
#define FLAG_GIVEN(flag_name, flag_letter, options, member)                                        \
	.name = flag_name, .letter = flag_letter, .alone = true, .take = flag_given,               \
	.to = FLAG_TO(bool, options, member)
/* Rows for an int64_t. */
#define FLAG_AMOUNT(flag_name, options, member)                                                    \
	.name = flag_name, .take = flag_amount, .to = FLAG_TO(int64_t, options, member)
#define FLAG_COUNT(flag_name, options, member, at_least, at_most)                                  \
	FLAG_AMOUNT(flag_name, options, member), .least = at_least, .most = at_most
/* Rows for one of two words, of which the second is true, and for the number in an enum of one of
 * several. */
#define FLAG_EITHER(flag_name, flag_letter, options, member, words)                                \
	.name = flag_name, .letter = flag_letter, .take = flag_either,                             \
	.to = FLAG_TO(bool, options, member), .value = words
#define FLAG_PICK(type, flag_name, flag_letter, options, member, words)                            \
	.name = flag_name, .letter = flag_letter, .take = flag_pick,                               \
	.to = FLAG_TO(type, options, member), .value = words
/* Rows for a name as Kubernetes has them; kind is for completion. */
#define FLAG_NAME(flag_name, flag_letter, options, member, kind)                                   \
	.name = flag_name, .letter = flag_letter, .take = flag_name_of,                            \
	.to = FLAG_TO(const char *, options, member), .value = kind
#define FLAG_NAMESPACE_OF(flag_name, flag_letter, options, member)                                 \
	.name = flag_name, .letter = flag_letter, .take = flag_namespace,                          \
	.to = FLAG_TO(const char *, options, member), .value = "NAMESPACE"
#define FLAG_NAMESPACE(options, member) FLAG_NAMESPACE_OF("namespace", 'n', options, member)
/* -o table|json */
#define FLAG_JSON(options, member) FLAG_EITHER("output", 'o', options, member, "table|json")
/* -f, which may be given several times */
#define FLAG_FILES(options, member)                                                                \
	.name = "filename", .letter = 'f', .take = flag_file,                                      \
	.to = FLAG_TO(struct flag_texts, options, member), .value = "FILE"
#define FLAG_TEXTS(flag_name, options, member)                                                     \
	.name = flag_name, .take = flag_many, .to = FLAG_TO(struct flag_texts, options, member)
/* --overcommit-config NAMESPACE/NAME, or "" for none */
#define FLAG_OVERCOMMIT_CONFIG(options, member)                                                    \
	.name = "overcommit-config", .take = flag_configmap,                                       \
	.to = FLAG_TO(const char *, options, member)
/* Rows that a function of the command takes: to all options, or to one member. */
#define FLAG_TAKE(flag_name, flag_letter, taker)                                                   \
	.name = flag_name, .letter = flag_letter, .take = taker
#define FLAG_TAKE_TO(flag_name, taker, type, options, member)                                      \
	.name = flag_name, .take = taker, .to = FLAG_TO(type, options, member)
#define FLAG_ALONE(flag_name, flag_letter, taker)                                                  \
	.name = flag_name, .letter = flag_letter, .alone = true, .take = taker
#define FLAG_HELP FLAG_ALONE("help", 'h', flag_help)
#define FLAG_VERSION FLAG_ALONE("version", 0, flag_version)

struct flag_texts {
	const char *text[64];
	size_t count;
};

flag_taker flag_text, flag_some, flag_given, flag_amount, flag_either, flag_pick, flag_name_of,
	flag_namespace, flag_file, flag_many, flag_configmap, flag_help, flag_version;

/* Writes the sentence that a row has for a wrong value, and returns ERR_INVALID. */
int flag_refuse(const struct flag *f, const char *text, struct err *e);

/* Reads digits alone. */
bool flag_read_number(const char *text, int64_t *ret);

/* Check names that become parts of paths, as Kubernetes writes them: of a Namespace (RFC 1123, a
 * label), and of most other objects (a subdomain). ERR_INVALID names the flag. */
int flag_check_namespace(const char *flag, const char *text, struct err *e);
int flag_check_name(const char *flag, const char *text, struct err *e);

/* Returns which of a|b|c the text is, from 0; -1: none. */
int flag_choice(const char *choices, const char *text);

/* ---- the walk -------------------------------------------------------------------------------- */

/* Returns a flag by number: those of the table, then those of `more`; NULL past the last.
 * *ret_base: the place of their options in the table's. */
const struct flag *flags_at(const struct flag_table *t, size_t number, size_t *ret_base);

/* Find a flag by its name of len bytes, or a unique beginning of it; by its letter. NULL: none. */
const struct flag *flags_find(const struct flag_table *t, const char *name, size_t len);
const struct flag *flags_find_letter(const struct flag_table *t, int letter);

/* Takes one flag alone, as the walk does. */
int flag_take(const struct flag *f, const char *text, void *options, struct err *e);

/* Reads a command line; argv[0] is not looked at, and argv is sorted. Texts point into argv.
 * Returns 0, ERR_INVALID, ERR_LIMIT, or what a taker ended the walk with, such as FLAGS_HELP: then
 * the line is not judged. */
int flags_read(const struct flag_table *t, int argc, char **argv, void *options, struct err *e);
void flags_done(const struct flag_table *t, void *options);

/* Do the first and the last step of flags_read() alone. */
void flags_begin(const struct flag_table *t, void *options);
int flags_finish(
	const struct flag_table *t, void *options, char **word, size_t nwords, struct err *e);

/* Gives the only word, or NULL; more than one is an error. */
int flags_one_word(char **word, size_t nwords, const char **ret, struct err *e);

#endif
