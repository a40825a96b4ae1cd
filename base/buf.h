/*
 * A growing buffer for writing, with a ceiling given at birth.
 *
 * A buffer that failed (went over its ceiling) stays failed and drops what comes after; the writer
 * asks once, at the end. The content is always NUL-terminated, so buf_text() is a C string as long
 * as no NUL was written. A buffer with ceiling 0 refuses every byte.
 */
#ifndef SLUICE_BASE_BUF_H
#define SLUICE_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct buf {
	char *ptr; /* NULL until the first byte */
	size_t len;
	size_t room;
	size_t ceiling;
	bool failed;
};

void buf_init(struct buf *b, size_t ceiling);
void buf_done(struct buf *b);  /* frees; the buffer may be used again */
void buf_reset(struct buf *b); /* empties, keeps the memory, forgets the failure */
char *buf_take(struct buf *b); /* the text, now yours (free); the buffer is empty again */

void buf_add(struct buf *b, const void *ptr, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Write a JSON string, quoted and escaped. Bytes that are not UTF-8 become U+FFFD, so that what we
 * send is always valid. NULL becomes null. */
void buf_json_string(struct buf *b, const char *s);
void buf_json_slice(struct buf *b, struct slice s);

/* Removes the first n bytes (n <= len). */
void buf_consume(struct buf *b, size_t n);

static inline const char *buf_text(const struct buf *b)
{
	return b->ptr ? b->ptr : "";
}

static inline struct slice buf_slice(const struct buf *b)
{
	return (struct slice){buf_text(b), b->len};
}

#endif
