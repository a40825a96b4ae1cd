/*
 * The upkeep: keeps objects of the API server as this process wants them, while it leads.
 *
 * A round goes over the objects, one request at a time: each is read, compared, and written where it
 * differs. A round is made at once when something else is wanted, and every ten seconds. What another
 * client changed meanwhile is written over: the newest leader's word holds. A request that fails
 * ends its round, and the next one comes after a pause that grows.
 *
 * An object may be one that is only there once somebody has installed it: without it the round ends,
 * nothing is written, and it is looked for a minute later.
 *
 * Its owner hears of news alone: the first writing, the first change of another client, the first
 * failure, and the end of failures.
 */
#ifndef SLUICE_CONTROLLER_KUBE_UPKEEP_H
#define SLUICE_CONTROLLER_KUBE_UPKEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "controller/kube/client.h"

struct upkeep;

/* An object; texts are borrowed as long as there is the upkeep. */
struct upkeep_object {
	const char *path;
	const char *write_path;	  /* of the PATCH: path with its parameters */
	const char *content_type; /* of the PATCH; static */
	bool is_made;		  /* the PATCH makes it where it is absent: an apply */
	bool is_needed;		  /* that it is absent is a failure, of which the owner hears */
	/* Whether this is what is wanted, or nothing is. object NULL: it cannot be read, or is absent. */
	bool (*is_right)(const cJSON *object, void *ctx);
	void (*put)(struct buf *out, void *ctx); /* the body of the PATCH */
};

struct upkeep_options {
	struct kube_client *client;
	const struct upkeep_object *objects; /* in the order of a round; copied */
	size_t n;
	/* Tells that something was written, and all is right now, or that failures are over.
	 * another: another client had changed what was right. */
	void (*written)(bool another, void *ctx);
	/* Tells that a request for the i-th object failed. Once, until a round goes well. */
	void (*failed)(size_t i, const struct kube_answer *answer, void *ctx);
	void *ctx;
	uint64_t seed;
};

enum { UPKEEP_OBJECTS_MAX = 4 };

struct upkeep *upkeep_new(const struct upkeep_options *o);
/* Frees it before its client: what is under way is cancelled. NULL is fine. */
void upkeep_free(struct upkeep *u);

/* Goes on, once a second. changed: something else is wanted than at the last call. tick_ms: of a
 * clock that only goes on. */
void upkeep_tick(struct upkeep *u, bool changed, int64_t tick_ms);
/* Writes nothing more, until the next tick. */
void upkeep_pause(struct upkeep *u);

#endif
