/*
 * The answer to `sluice whatif`: what it asks, and the WhatIf that comes back.
 */
#ifndef SLUICE_CLI_WHATIF_ANSWER_H
#define SLUICE_CLI_WHATIF_ANSWER_H

#include "cli/whatif/changes.h"

/* Where too many ask: how often it is asked again, and after which pause. */
struct whatif_patience {
	int rounds, pause_ms;
};

/* The queue is played in two variants while this waits. The tree lives in json. Errors are those of
 * visibility_ask(). */
int whatif_answer_get(const struct changes_source *from, const struct changes *c,
	const struct whatif_patience *p, struct json *json, const cJSON **ret, struct err *e);

#endif
