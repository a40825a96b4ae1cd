/*
 * Carries out the plan. The controllers are looked at first. Then the admin's permission is written
 * on the Namespace, then the label on each Job: the policies of the API server allow it by that
 * permission alone. The controller does the rest, and then the permission is taken back. If this
 * program ends earlier, the permission stays, and no Job is stopped.
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
	bool left; /* our permission is still there, to be taken back by hand */
	char words[1000];
};

/* Carries out a plan in which some row takes. A row that is refused takes no more; the others get
 * their outcome. Below 0: no Job was touched (ERR_GONE: because of the controllers). */
int adopt_carry_out(struct ev_loop *loop, struct kube_client *client, const struct adopt_options *o,
	struct adopt_plan *p, FILE *progress, struct adopt_aftermath *ret, struct err *e);

#endif
