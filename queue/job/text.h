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

/* What users wrote, cut to n bytes. */
void text_add_cut(struct text *t, const char *s, size_t n);
/* A Job's name, cut to 100 bytes. */
void text_add_name(struct text *t, const char *ns, const char *name);
void text_add_amount(struct text *t, int64_t amount, const char *resource); /* "12 cpu" */
void text_add_number(struct text *t, int64_t amount, const char *resource); /* "12" */
void text_add_time(struct text *t, int64_t ms);				    /* RFC 3339, UTC */
void text_add_span(struct text *t, int64_t ms); /* "10m", "1h30m", as admins write them */

#endif
