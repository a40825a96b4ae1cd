/*
 * An admin's permission: the annotation sluice.dev/adopt-begun-by of the Namespace. Jobs that had
 * begun to run by then may be adopted (controller/gate/newcomer.h).
 *
 * While it is there, whoever may label the Jobs of the namespace can have those adopted, over quota
 * too. So what was written is taken back when nothing needs it any more, and nobody has written
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
	bool ours; /* we wrote it; else one that was there allows as much */
	char text[ADOPT_PERMISSION_SIZE];
};

/* True for "2026-11-25T10:00:00Z" alone: to the policies of the API server any other form, with an
 * offset or a fraction, permits nothing. */
bool adopt_permission_read(const char *text, int64_t *ret_ms);

/* A later one that is there stays: by it others were let in. */
int adopt_permission_give(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, int64_t begun_by_ms, struct adopt_permission *ret,
	struct err *e);

/* *ret_gone is false where it is not what we wrote any more: then it stays. */
int adopt_permission_take_back(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, const struct adopt_permission *given, bool *ret_gone,
	struct err *e);

#endif
