/*
 * JSON from the network: cJSON, with its traps closed.
 *
 * A struct json holds at most one document at a time, in an arena of a few blocks that is emptied
 * when the next one is parsed. So a tree never outlives its event: decode it into a record of your
 * own and forget it. Nothing in a tree is ever freed one by one.
 *
 * Always true of a tree that json_parse handed out:
 * - it was one whole document: no trailing bytes, no NUL byte, valid UTF-8, nesting of at most
 *   JSON_DEPTH;
 * - no string in it is cut short: an escaped NUL (\u0000), at which cJSON would end the string,
 *   reads as U+FFFD. What Kubernetes validates (names, labels, selectors, tolerations, quantities)
 *   cannot hold a NUL, so this concerns free text alone: values of annotations, env, args. Such a
 *   text is never written back, and a PATCH that tests one fails;
 * - it took no more memory than the ceiling given at birth (a text of n bytes such as [1,1,1...
 *   wants 32 n of nodes, so a ceiling on the text alone bounds little).
 *
 * Getters are case-sensitive (cJSON_GetObjectItem is not) and check types. A JSON null counts as
 * absent, as everywhere in Kubernetes. Absent and zero differ. Of a repeated key the first counts;
 * the API server never sends one. Numbers are doubles inside: json_i64 refuses what a double cannot
 * hold exactly, so quantities and the like are read as text.
 *
 * Left to others: what the fields mean. Writing JSON is buf_json_string() and json_print().
 *
 * cJSON's hooks are global: json_parse sets them and puts malloc and free back before it returns,
 * which is sound in a program with one thread.
 */
#ifndef SLUICE_BASE_JSON_H
#define SLUICE_BASE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/json_writer.h"
#include "base/err.h"
#include "base/slice.h"

enum { JSON_DEPTH = 128 };

struct json;

struct json *json_new(size_t ceiling_bytes); /* of the tree, not of the text */
void json_free(struct json *j);		     /* NULL is fine; the tree goes with it */

/* Parses the one document in text; the previous tree of j is gone, whatever the outcome. Returns 0,
 * ERR_INVALID, or ERR_LIMIT (ceiling, depth). The root lives until the next parse or json_free. */
int json_parse(struct json *j, struct slice text, const cJSON **ret_root, struct err *err);

/* Forgets the tree and gives back what a large one took. */
void json_reset(struct json *j);

/* Returns the member, or NULL: it is absent or null, or object is not an object (NULL is fine). */
const cJSON *json_get(const cJSON *object, const char *key);
const cJSON *json_object(const cJSON *object, const char *key);	      /* NULL unless an object */
const cJSON *json_array(const cJSON *object, const char *key);	      /* NULL unless an array */
const char *json_text(const cJSON *object, const char *key);	      /* NULL unless a string */
bool json_is(const cJSON *object, const char *key, const char *text); /* the member is this text */
/* Returns the member as ms since the epoch (base/instant.h); 0 where it is no instant. */
int64_t json_instant(const cJSON *object, const char *key);

/* Returns the condition of that type in the object's status; NULL: there is none. */
const cJSON *json_condition(const cJSON *object, const char *type);
bool json_condition_is(const cJSON *object, const char *type, const char *status);

/* Read a member: 0 when *ret is set; ERR_GONE when absent; ERR_INVALID when of another type (for
 * i64 also when not integral or beyond +-2^53). */
int json_bool(const cJSON *object, const char *key, bool *ret_value);
int json_i64(const cJSON *object, const char *key, int64_t *ret_value);

/* Goes over the items of an array, or the members of an object (the key is item->string). parent
 * may be NULL: no turns. */
#define json_each(item, parent)                                                                    \
	for (const cJSON *item = (parent) ? (parent)->child : NULL; item; item = item->next)

/* Appends the value as compact JSON, members in their order: what was read, in a form that is the
 * same each time. For small pieces kept in an annotation, never for sending an object back. */
void json_print(struct buf *out, const cJSON *value);
/* Puts the value as a member. */
void json_put(struct json_writer *w, const char *key, const cJSON *value);
/* Puts each member of an object into the object that is open. */
void json_put_members(struct json_writer *w, const cJSON *object);

#endif
