/*
 * What all decoders share: where they put things, where they are, and what they found wrong.
 *
 * A decoder goes on after a fault, so that the record is as complete as it can be; the first fault
 * is the one that is told. A caller may read several things and ask decoder.faulty at the end.
 *
 * A path says where in the object the decoder is. It is a chain of steps on the stack, and costs
 * nothing until something is wrong.
 *
 * Text that comes from others is checked on the way in: text that is too long, not UTF-8 or has
 * control characters is a fault, and what is kept of it is safe to print.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_TEXT_H
#define SLUICE_CONTROLLER_WIRE_DECODE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "base/json.h"
#include "controller/wire/parcel.h"

/* The most bytes that the API server allows in any name, label or resource. */
#define NAME_MAX_BYTES 317
/* The API server's bound on all annotations of an object together. */
#define ANNOTATIONS_MAX_BYTES (256 * 1024)

struct path {
	const struct path *up; /* NULL at the top */
	const char *key;       /* NULL: an index */
	size_t index;
};

#define PATH(up, key) (&(struct path){(up), (key), 0})
#define PATH_INDEX(up, index) (&(struct path){(up), NULL, (index)})

struct decoder {
	struct parcel parcel;
	/* The namespace of what is decoded, where it does not say so itself; else NULL. */
	const char *ns;
	bool faulty;
	struct err fault; /* "spec.parallelism: must be ..." */
};

void decoder_fault(struct decoder *d, const struct path *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Makes a record in one block. fill() is called again with a larger parcel when the guess was too
 * small, and must do the same again; the record is the first thing it allocates. */
typedef int (*decode_fill)(struct decoder *d, const cJSON *o, struct err *e);
int decode_in_block(const cJSON *o, size_t guess, decode_fill fill, void **ret, struct err *e);
int decode_in_namespace(
	const char *ns, const cJSON *o, size_t guess, decode_fill fill, void **ret, struct err *e);

/* Quotes at most 40 characters of text, with nothing in it that a terminal would obey. */
#define SHOWN_SIZE SLICE_SHOWN_SIZE
const char *text_show(const char *text, char ret[SHOWN_SIZE]);

/* Copies and checks text, of which at most max bytes are kept. */
const char *text_keep(struct decoder *d, const struct path *at, const char *text, size_t max);
/* Copies what others say, to be quoted: never a fault. At most max bytes, not cut within a
 * character, with blanks for what a terminal would obey. */
const char *text_quote(struct decoder *d, const char *text, size_t max);
/* Reads object.key, "" when absent; a fault when it is no string. */
const char *text_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key, size_t max);

/* Finds the array under key, and counts its items. NULL and 0 when it is absent or, a fault, of the
 * wrong type or too long. */
const cJSON *list_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, size_t *ret_count);

/* Reads a list of strings, each kept. Any other item, or "" unless empty is true, is a fault:
 * must_be is the sentence. */
const char *const *texts_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, bool empty, const char *must_be, size_t *ret_count);
/* Finds an array of objects, as list_field(): an item that is no object is a fault. */
const cJSON *objects_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, size_t *ret_count);
/* Reads an array of objects into *ret, an array of that type, by read(d, at, item, ret) for
 * each. */
#define decode_objects(d, up, object, key, max, type, read, ret, ret_count)                        \
	do {                                                                                       \
		size_t n_ = 0;                                                                     \
		const cJSON *list_ = objects_field(d, up, object, key, max, ret_count);            \
		type *all_ = parcel_array(&(d)->parcel, *(ret_count), sizeof(*all_));              \
		json_each(item_, list_) {                                                          \
			read(d, PATH_INDEX(PATH(up, key), n_), item_, &all_[n_]);                  \
			n_++;                                                                      \
		}                                                                                  \
		*(ret) = all_;                                                                     \
	} while (0)
/* Finds the object under key; NULL when it is absent or, a fault, of the wrong type. */
const cJSON *object_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key);
/* Finds an object whose members are items by name, as list_field(); NULL when there are none. */
const cJSON *map_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, size_t *ret_count);

/* Reads a quantity of resource, not negative, written as JSON string or number; 0 when there is a
 * fault. */
int64_t quantity_value(
	struct decoder *d, const struct path *at, const cJSON *value, const char *resource);

/* Reads an int32 under key that is at least low; fallback when absent. */
int32_t int32_field(struct decoder *d, const struct path *up, const cJSON *object, const char *key,
	int32_t low, int32_t fallback);

/* Reads one of the names in a list that ends with NULL ("" may be among them), and gives its index.
 * fallback when absent; anything else is a fault that lists them, and fallback. */
int name_field(struct decoder *d, const struct path *up, const cJSON *object, const char *key,
	const char *const *names, int fallback);

/* Reads "2026-11-21T09:58:30Z", also with fraction and offset, to ms since the epoch. */
bool text_time(const char *text, int64_t *ret_ms);
/* Reads plain digits, at most max. */
bool text_number(const char *text, int64_t max, int64_t *ret);

#endif
