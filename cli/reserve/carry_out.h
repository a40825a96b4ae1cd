/*
 * Makes a reservation: creates the object, and waits for the queue's verdict on it.
 *
 * A create that got no answer may have landed. Then the object of that name says what became of it:
 * its name is the same each time (plan.h), so the command may be given again.
 */
#ifndef SLUICE_CLI_RESERVE_CARRY_OUT_H
#define SLUICE_CLI_RESERVE_CARRY_OUT_H

#include "cli/question.h"

/* How often the object is looked at, and the pause before each look. */
struct reserve_patience {
	int rounds, pause_ms;
};

/* Creates the object. ERR_CONFLICT: there is one of that name. ERR_DENIED: the user may not, or a
 * policy forbids it. ERR_INVALID: the API server refuses the object. */
int reserve_create(
	struct ev_loop *loop, struct kube_client *client, const cJSON *object, struct err *e);

enum reserve_verdict {
	RESERVE_UNJUDGED, /* there was no verdict in any round */
	RESERVE_ACCEPTED,
	RESERVE_REFUSED,
};

/* Waits for the verdict. The object lives in json; it is there unless it is not judged. Errors are
 * those of live_object_get(). */
int reserve_wait(struct ev_loop *loop, struct kube_client *client, const char *name,
	const struct reserve_patience *patience, struct json *json, const cJSON **ret_object,
	enum reserve_verdict *ret, struct err *e);

/* Reads the verdict in an object's status, if it is of the object's own generation. */
enum reserve_verdict reserve_verdict_of(const cJSON *object);
/* Returns the condition Accepted of an object; NULL: there is none. */
const cJSON *reserve_condition(const cJSON *object);

#endif
