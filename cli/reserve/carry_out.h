/*
 * A reservation is made: the object is created, and the queue's verdict on it is waited for.
 *
 * A create that got no answer may have landed. Then the object of that name says what became of it: its name
 * is the same each time (plan.h), so the command may be given again.
 */
#ifndef SLUICE_CLI_RESERVE_CARRY_OUT_H
#define SLUICE_CLI_RESERVE_CARRY_OUT_H

#include "cli/question.h"

/* How often the object is looked at, and the pause before each look. */
struct reserve_patience {
	int rounds, pause_ms;
};

/* ERR_CONFLICT: there is one of that name. ERR_DENIED: the user may not, or a policy forbids it.
 * ERR_INVALID: the API server refuses the object. */
int reserve_create(
	struct ev_loop *loop, struct kube_client *client, const cJSON *object, struct err *e);

enum reserve_verdict {
	RESERVE_UNJUDGED, /* in all rounds */
	RESERVE_ACCEPTED,
	RESERVE_REFUSED,
};

/* The object lives in json; it is there unless it is not judged. Errors are those of live_object_get(). */
int reserve_wait(struct ev_loop *loop, struct kube_client *client, const char *name,
	const struct reserve_patience *patience, struct json *json, const cJSON **ret_object,
	enum reserve_verdict *ret, struct err *e);

/* The verdict that an object's status has, of its own generation. */
enum reserve_verdict reserve_verdict_of(const cJSON *object);
/* Its condition Accepted; NULL: there is none. */
const cJSON *reserve_condition(const cJSON *object);

#endif
