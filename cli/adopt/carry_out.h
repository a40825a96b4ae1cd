/*
 * The plan, carried out. First the controllers are looked at, then the admin's permission is written
 * on the Namespace, then the label on each Job, which the policies of the API server allow by that
 * permission alone. The controller does the rest; when it has, the permission is taken back. If we
 * end before that it stays, and no Job is stopped.
 */
#ifndef SLUICE_CLI_ADOPT_CARRY_OUT_H
#define SLUICE_CLI_ADOPT_CARRY_OUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/adopt/options.h"
#include "cli/adopt/plan.h"
#include "controller/kube/client.h"

struct ev_loop;

/* What is left of the permission, and why. */
struct adopt_aftermath {
	bool left; /* ours, and to be taken back by hand */
	char words[1000];
};

/* Of a plan of which some row takes. Rows that were refused take no more; the others have their
 * outcome. Below 0: no Job was touched (ERR_GONE: for the controllers' sake). */
int adopt_carry_out(struct ev_loop *loop, struct kube_client *client, const struct adopt_options *o,
	struct adopt_plan *p, FILE *progress, struct adopt_aftermath *ret, struct err *e);

#endif
