/*
 * Writes JSON into a buf, member by member: the writer puts the commas, the quotes and the colons, and escapes what
 * must be escaped. So what comes out is one valid value, compact, in the order of the calls.
 *
 *     struct json_writer w = json_writer_object(out);
 *     jw_text(&w, "name", j->name);
 *     jw_array(&w, "pods");
 *     jw_int(&w, NULL, 3);
 *     jw_close(&w);
 *
 * A key names a member of an object; in an array, and for the outermost value, it is NULL. A call that fits
 * neither, a second outermost value and an end too many are bugs of the caller, and must() fails.
 *
 * Nothing is allocated, and nothing has to be freed. Keys and texts are copied. A function that is
 * handed a writer puts into the open object or array, and ends what it begins.
 */
#ifndef SLUICE_BASE_JSON_WRITER_H
#define SLUICE_BASE_JSON_WRITER_H

#include "base/buf.h"

enum { JSON_WRITER_DEPTH_MAX = 64 };

struct json_writer {
	struct buf *out;
	uint64_t arrays; /* bit i: what is open at depth i + 1 is an array */
	unsigned depth;	 /* objects and arrays that are open */
	bool filled;	 /* a value was put where the next one goes: it needs a comma */
};

/* Begins a value at the end of out, which is borrowed. */
static inline struct json_writer json_writer(struct buf *out)
{
	return (struct json_writer){.out = out};
}

/* Begins an object at the end of out; jw_close() ends it. */
struct json_writer json_writer_object(struct buf *out);

void jw_object(struct json_writer *w, const char *key);
void jw_array(struct json_writer *w, const char *key);
/* Ends the object or array that was begun last. */
void jw_end(struct json_writer *w);
/* Ends all that is open. */
void jw_close(struct json_writer *w);

void jw_text(struct json_writer *w, const char *key, const char *value); /* NULL: null */
/* Puts text members: a key and its value, and so on; NULL ends them. */
void jw_texts(struct json_writer *w, const char *key, ...) __attribute__((sentinel));
/* Puts an object of text members. */
void jw_object_of(struct json_writer *w, const char *key, ...) __attribute__((sentinel));
/* Puts an array of texts: n of them, or fewer where one is NULL. */
void jw_array_of(struct json_writer *w, const char *key, const char *const *text, size_t n);
void jw_slice(struct json_writer *w, const char *key, struct slice value);
/* Puts a text that is made as printf() makes it. */
void jw_textf(struct json_writer *w, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void jw_int(struct json_writer *w, const char *key, int64_t value);
void jw_bool(struct json_writer *w, const char *key, bool value);
/* Puts a number that is made as printf() makes it: "%.1f". */
void jw_number(struct json_writer *w, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts a value that is JSON already; never empty. */
void jw_raw(struct json_writer *w, const char *key, struct slice json);
/* Puts the members of an object that is JSON already, braces and all, into the object that is open. */
void jw_members(struct json_writer *w, struct slice object);

#endif
