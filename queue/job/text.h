/*
 * A sentence being written into the caller's array. What does not fit is cut at a whole character,
 * and ends with "...".
 */
#ifndef SLUICE_QUEUE_JOB_TEXT_H
#define SLUICE_QUEUE_JOB_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char *ptr;
	size_t size, len;
};

struct text text_over(char *ptr, size_t size); /* size at least 4; starts empty */
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds what users wrote, cut to n bytes. */
void text_add_cut(struct text *t, const char *s, size_t n);
/* Adds the name of a Job, cut to 100 bytes. */
void text_add_name(struct text *t, const char *ns, const char *name);
void text_add_amount(struct text *t, int64_t amount, const char *resource); /* "12 cpu" */
void text_add_number(struct text *t, int64_t amount, const char *resource); /* "12" */

/*
 * A value in words, within a sentence: text_add(t, "asks for %s", amount_words(2000, "cpu").s). It
 * lives until the end of the expression in which it is made, and no pointer to it is kept.
 */
struct words {
	char s[400];
};

struct words amount_words(int64_t amount, const char *resource); /* "12 cpu" */
struct words number_words(int64_t amount, const char *resource); /* "12" */
struct words count_words(size_t n, const char *what);		 /* "1 Job", "3 Jobs" */
/* Gives what users wrote, cut to n bytes, fewer than words have. */
struct words cut_words(const char *s, size_t n);

#endif
