/*
 * An admin's permission: the annotation sluice.dev/adopt-begun-by of the Namespace. Jobs that had
 * begun to run by then may be adopted (controller/gate/newcomer.h).
 *
 * While it is there, whoever may label Jobs of the namespace can have them adopted, even over
 * quota. So what we wrote is taken back when nothing needs it any more, unless somebody has written
 * another meanwhile.
 */
#ifndef SLUICE_CLI_ADOPT_PERMISSION_H
#define SLUICE_CLI_ADOPT_PERMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/kube/client.h"

struct ev_loop;

enum { ADOPT_PERMISSION_SIZE = 32 };
struct adopt_permission {
	bool ours; /* we wrote it; else one that was already there allows as much */
	char text[ADOPT_PERMISSION_SIZE];
};

/* Reads a time that is written as "2026-11-25T10:00:00Z". False for any other form, with an offset
 * or a fraction: to the policies of the API server it permits nothing. */
bool adopt_permission_read(const char *text, int64_t *ret_ms);

/* Writes the permission. A later one that is there stays, since others were let in by it. */
int adopt_permission_give(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, int64_t begun_by_ms, struct adopt_permission *ret,
	struct err *e);

/* Takes the permission back, unless it is no longer what we wrote: then it stays, and *ret_gone is
 * false. */
int adopt_permission_take_back(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, const struct adopt_permission *given, bool *ret_gone,
	struct err *e);

#endif
