/*
 * What `sluice whatif` asks about: objects of Sluice's kinds as they would be. Whole ones of files, live
 * ones with fields that are set, and those that would be gone.
 *
 * Always true:
 * - an object is here once: it is read from a file or from the API server, and then fields are set;
 * - what is sent of an object is what the queue reads: its name, its namespace and its spec;
 * - an object with a field that its kind does not have is refused, for the controller would pass over it in
 *   silence. So is one that breaks its CRD, unless the live object does that too (it is of another
 *   version than this program).
 */
#ifndef SLUICE_CLI_WHATIF_CHANGES_H
#define SLUICE_CLI_WHATIF_CHANGES_H

#include "base/json_writer.h"
#include "base/err.h"
#include "cli/question.h"
#include "base/json.h"

enum {
	CHANGES_MAX = 64, /* objects, and fields that are set */
	CHANGES_QUERY_MAX_BYTES =
		24 * 1024, /* of a question; the controller's port takes 32 KiB of headers */
};

/* Whom live objects are asked of. */
struct changes_source {
	struct ev_loop *loop;
	struct kube_client *client;
	const char *ns; /* of a LocalQueue that does not say its own */
};

struct changes;

struct changes *changes_new(const struct changes_source *from); /* borrowed */
void changes_free(struct changes *c);				/* NULL is fine */

/* A file of manifests, "-" or a directory. ERR_INVALID with file and line. */
int changes_add_file(struct changes *c, const char *path, struct err *e);
/* One object; where says from where it is, for sentences. The same errors. */
int changes_add_object(struct changes *c, const cJSON *object, const char *where, struct err *e);
/* KIND/NAME:PATH=VALUE (object_path.h). ERR_INVALID: it makes no sense; else as live_object_get(). */
int changes_set(struct changes *c, const char *text, struct err *e);
/* KIND/NAME: as if it were deleted. */
int changes_drop(struct changes *c, const char *text, struct err *e);
/* All were given: each is one that the API server would take. */
int changes_check(struct changes *c, struct err *e);

/* "object=...&object=...&drop=...", escaped. ERR_LIMIT: it is too long to be asked. */
int changes_query(const struct changes *c, struct buf *out, struct err *e);

/* A line for each: what is set, from what to what. */
void changes_render(const struct changes *c, struct buf *out);
/* [{"object", "path", "before", "after"}], before and after being JSON or null; of a whole object only
 * "object" and "from", where it was read; of one that would be gone "object" and "dropped": true. */
void changes_json(const struct changes *c, const char *key, struct json_writer *w);

/* Where too many ask: how often it is asked again, and after which pause. */
struct changes_patience {
	int rounds, pause_ms;
};

/* Asks what they would do: a WhatIf. The queue is played in two variants while this waits. The tree lives
 * in json. Errors are those of visibility_ask(). */
int changes_ask(const struct changes_source *from, const struct changes *c,
	const struct changes_patience *p, struct json *json, const cJSON **ret, struct err *e);

#endif
