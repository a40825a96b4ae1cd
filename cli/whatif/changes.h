/*
 * What `sluice whatif` asks about: objects of Sluice's kinds as they would be. They are whole
 * objects of files, live ones with fields that are set, and those that would be gone.
 *
 * Always true:
 * - An object is here once: it is read from a file or from the API server, and then fields are set.
 * - Of an object only what the queue reads is sent: its name, its namespace and its spec.
 * - An object with a field that its kind does not have is refused, for the controller would pass
 *   over it in silence. An object that breaks its CRD is refused, too, unless the live one does
 *   that as well (it is of another version than this program).
 */
#ifndef SLUICE_CLI_WHATIF_CHANGES_H
#define SLUICE_CLI_WHATIF_CHANGES_H

#include "base/json_writer.h"
#include "base/err.h"
#include "cli/question.h"
#include "base/json.h"

enum {
	CHANGES_MAX = 64, /* of objects, and of fields that are set */
	CHANGES_QUERY_MAX_BYTES =
		24 * 1024, /* length of a question; the controller's port takes 32 KiB of headers */
};

/* The API server that live objects are read from. */
struct changes_source {
	struct ev_loop *loop;
	struct kube_client *client;
	const char *ns; /* namespace of a LocalQueue that does not say its own */
};

struct changes;

struct changes *changes_new(const struct changes_source *from); /* borrowed */
void changes_free(struct changes *c);				/* NULL is fine */

/* Adds a file of manifests, "-" or a directory. ERR_INVALID with file and line. */
int changes_add_file(struct changes *c, const char *path, struct err *e);
/* Adds one object. where: its origin, for sentences. Errors as changes_add_file(). */
int changes_add_object(struct changes *c, const cJSON *object, const char *where, struct err *e);
/* Sets a field by KIND/NAME:PATH=VALUE (object_path.h). ERR_INVALID: it makes no sense; else as
 * live_object_get(). */
int changes_set(struct changes *c, const char *text, struct err *e);
/* Drops KIND/NAME, as if it were deleted. */
int changes_drop(struct changes *c, const char *text, struct err *e);
/* Checks, once all are given, that the API server would take each. */
int changes_check(struct changes *c, struct err *e);

/* Appends "object=...&object=...&drop=...", escaped. ERR_LIMIT: it is too long to be asked. */
int changes_query(const struct changes *c, struct buf *out, struct err *e);

/* Appends a line for each: what is set, from what to what. */
void changes_render(const struct changes *c, struct buf *out);
/* Puts [{"object", "path", "before", "after"}], before and after being JSON or null. A whole object
 * has only "object" and "from", where it was read; one that would be gone "object" and "dropped":
 * true. */
void changes_json(const struct changes *c, const char *key, struct json_writer *w);

/* How often to ask again where too many ask, and after which pause. */
struct changes_patience {
	int rounds, pause_ms;
};

/* Asks what the changes would do: a WhatIf. The queue is played in two variants while this waits.
 * The tree lives in json. Errors are those of visibility_ask(). */
int changes_ask(const struct changes_source *from, const struct changes *c,
	const struct changes_patience *p, struct json *json, const cJSON **ret, struct err *e);

#endif
