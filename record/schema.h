/*
 * A schema: the fields of a struct, by which it is written as JSON and read back.
 *
 * One table (facts.def) has all schemas, and nothing else says how a fact is written. What is
 * always true of a struct that was written and read:
 *   - all that the table has is unchanged, to the bit: numbers beyond 2^53, NULL and "";
 *   - what the table leaves out is zero;
 *   - written again, it gives the text that was read.
 *
 * A zero is not written: a record is mostly of Jobs, and most of a Job is zero. A member that the
 * table does not know is refused: the record is of another version.
 */
#ifndef SLUICE_RECORD_SCHEMA_H
#define SLUICE_RECORD_SCHEMA_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct schema;

enum field_kind {
	FIELD_BOOL,
	FIELD_SIGNED,	/* of `size` bytes */
	FIELD_UNSIGNED, /* of `size` bytes; an enum too, and then `most` is its last */
	FIELD_DOUBLE,
	FIELD_UID,
	FIELD_NAMED,	 /* an enum, by `name_of` */
	FIELD_ENUMS,	 /* an array of enums, `size` bytes in all */
	FIELD_TEXT,	 /* "" when absent; a NULL is written as null */
	FIELD_MAYBE,	 /* NULL when absent */
	FIELD_TEXT_HERE, /* an array of `size` characters */
	FIELD_TEXTS,	 /* strings, as many as at count_at; NULL when there are none */
	FIELD_PART,	 /* a struct in the struct */
	FIELD_ONE,	 /* a pointer to a struct */
	FIELD_LIST,	 /* a pointer to as many structs as at count_at; NULL when there are none */
	FIELD_MAYBE_LIST, /* a list of which none and NULL are two things */
	FIELD_ZONE,	  /* a pointer to a struct zone */
	FIELD_LEFT_OUT,
};

struct field {
	const char *name; /* in JSON */
	enum field_kind kind;
	size_t at, size, count_at;
	uint64_t most;				/* of FIELD_UNSIGNED and FIELD_ENUMS; 0: any */
	const char *(*name_of)(unsigned value); /* NULL past the last; "" is not written */
	const struct schema *(*of)(void);
};

struct schema {
	const char *name;
	size_t size;
	const struct field *field;
	size_t nfields;
};

/* Appends the struct as JSON. */
void schema_write(const struct schema *s, const void *object, struct buf *out);

/* Fills the struct from JSON; its pointers lead into the arena. ERR_INVALID: a sentence that names
 * the member; then *ret is filled in part. */
int schema_read(
	const struct schema *s, const cJSON *json, struct arena *a, void *ret, struct err *e);

#endif
