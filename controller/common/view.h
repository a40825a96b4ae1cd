/*
 * A view: an object of the API as a table of its members. A row says the name, the type, where the
 * value is in a struct, and a sentence for people. Three things are made of it:
 *
 *   - view_put() writes the object as JSON;
 *   - controller/answers/discovery.c tells its members as OpenAPI (kubectl explain);
 *   - view_digest() says whether there is something new in it.
 *
 * So no member is shown that is not explained. A new member is one row, and a field of the struct.
 * What is not known is absent: each type says when that is.
 */
#ifndef SLUICE_CONTROLLER_COMMON_VIEW_H
#define SLUICE_CONTROLLER_COMMON_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "base/json_writer.h"

#define VIEW_NONE INT64_MIN

/* How a member is kept and shown. view.c tells texts, numbers and bools apart by this order. */
enum view_type {
	VIEW_TEXT,     /* const char *; NULL: absent */
	VIEW_SENTENCE, /* char[] in the struct, "" absent; times in it are no news */
	VIEW_HERE,     /* char[] in the struct */
	VIEW_NULLABLE, /* const char *; NULL: null */
	VIEW_INT,      /* int32_t, or 64 bits; VIEW_NONE: absent */
	VIEW_COUNT,    /* as VIEW_INT; 0 or VIEW_NONE: absent */
	VIEW_TIME,     /* int64_t, ms, shown in whole seconds; absent as in instant_put() */
	VIEW_EXACT,    /* int64_t, ms; VIEW_NONE: absent */
	VIEW_SECONDS,  /* int64_t, ms, shown as seconds with three digits behind the point */
	VIEW_MONEY,    /* int64_t, millionths; below 0: absent */
	VIEW_BOOL,     /* bool */
	VIEW_FLAG,     /* bool; false: absent */
	VIEW_PART,     /* a struct in the struct, of the view `of` */
	VIEW_OBJECT,   /* a pointer to such a struct; NULL: absent */
	VIEW_LIST,     /* a struct view_list of such structs */
	VIEW_PUT,      /* what put() writes, if anything: `as`, or with `of` an array of these */
	VIEW_TOLD,     /* nothing: the ledger's SQL has written it; `as` and `of` as for VIEW_PUT */
};

/* The items of a VIEW_LIST; a NULL list is absent. */
struct view_list {
	const void *item;
	size_t n, size; /* of each */
};

struct view_member {
	const char *name;
	enum view_type type;
	size_t at, size; /* IN(struct, member) */
	const char *sentence;
	const struct view *of;
	void (*put)(struct json_writer *w, const char *key, const void *object);
	/* The type for OpenAPI: "string", "number", ...; "string[]", "amounts", "ObjectMeta". */
	const char *as;
	bool passes; /* changes all the time: no news */
};

struct view {
	const char *name;
	const char *sentence; /* NULL: only a part of others, no kind of the API */
	const struct view_member *member;
	size_t n;
};

#define IN(struct_name, m) offsetof(struct struct_name, m), sizeof(((struct struct_name *)0)->m)
#define VIEW(name, sentence, rows)                                                                 \
	{                                                                                          \
		name, sentence, rows, sizeof(rows) / sizeof((rows)[0])                             \
	}

/* Put the object as a member, or its members into the object that is open. */
void view_put(struct json_writer *w, const char *key, const struct view *v, const void *object);
void view_put_members(struct json_writer *w, const struct view *v, const void *object);

/* Appends what is news of the object: other bytes where a member is another. */
void view_digest(struct buf *out, const struct view *v, const void *object);
/* Appends the sentence without lengths of time ("closes in 12m05s"), and times of day only to ten
 * minutes: some are reckoned from now ("it is expected to run until ..."). */
void view_digest_sentence(struct buf *out, const char *sentence);

#endif
