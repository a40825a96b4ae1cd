/*
 * The log: one event, one line, whatever is in its values.
 *
 *	2026-11-21T10:00:00.123Z info  started job=team-a/train queue=batch waited_ms=12
 *	{"time":"2026-11-21T10:00:00.123Z","level":"info","event":"started","job":"team-a/train",...}
 *
 * The event is a short word or two that never changes, for grep; what changes is in key=value
 * fields. Values come from anywhere (object names, sentences of servers), so everything that could
 * end a line, move a cursor or turn the reading direction is escaped, and a long value is cut.
 *
 * No secret is ever given to it: callers log sentences and names, never requests, tokens or
 * connection strings. A function that logs an error does not also return it.
 */
#ifndef SLUICE_CONTROLLER_COMMON_LOG_H
#define SLUICE_CONTROLLER_COMMON_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum log_level {
	LEVEL_ERROR, /* a person must act */
	LEVEL_WARN,  /* something is not as it should be; we go on */
	LEVEL_INFO,  /* what a person wants to read the day after */
	LEVEL_DEBUG,
};

enum log_format {
	LOG_TEXT,
	LOG_JSON,
};

enum { LOG_VALUE_MAX = 4096 }; /* bytes of a value that are shown */

struct log;

struct log *log_new(int fd, enum log_format format, enum log_level least);
void log_free(struct log *l); /* leaves fd open */

bool log_shows(const struct log *l, enum log_level level);

/* Logs an event. fields are pairs of strings, ended by NULL. A key that begins with '#' has a
 * number for value (JSON then writes it bare; the '#' is not shown). A pair whose value is NULL is
 * left out. l NULL: nothing happens. A macro with an array, and no variadic function: so each
 * argument is checked to be a string. */
#define log_event(l, level, event, ...)                                                            \
	log_pairs((l), (level), (event), (const char *const[]){__VA_ARGS__},                       \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
void log_pairs(struct log *l, enum log_level level, const char *event, const char *const *fields,
	size_t count);

/* Logs a trouble that lasts once, and again when it is another one. said: what was said last; "" at
 * first, and set to "" when it is over. effect may be NULL. */
enum { LOG_TROUBLE_MAX = 512 };
void log_trouble(struct log *l, char said[LOG_TROUBLE_MAX], const char *event, const char *why,
	const char *effect);

/* Whether a trouble that stays is to be logged again: at first, and then once a minute. *said_ms:
 * when it was logged last; 0: never. now_ms is of any clock, and may be set back. */
bool log_again(int64_t *said_ms, int64_t now_ms);

/* Writes a number as text, in the caller's own memory: "#pods", LOG_NUMBER(3). */
#define LOG_NUMBER(n) log_number((char[24]){0}, (n))
const char *log_number(char text[24], int64_t n);

/* Appends the line to out, without its newline. pairs: key, value, ..., NULL. */
void log_render(struct buf *out, enum log_format format, enum log_level level, int64_t now_ms,
	const char *event, const char *const *pairs);

#endif
