/*
 * The question of `sluice whatif`, and what the API server makes of it.
 */
#ifndef SLUICE_CLI_WHATIF_ANSWER_H
#define SLUICE_CLI_WHATIF_ANSWER_H

#include "cli/whatif/changes.h"

/* A WhatIf: the queue is played twice while this waits. Where too many ask, it is asked again so often,
 * after such a pause each. The tree lives in json. Errors are those of visibility_ask(). */
struct whatif_patience {
	int rounds, pause_ms;
};

int whatif_answer_get(const struct changes_source *from, const struct changes *c,
	const struct whatif_patience *p, struct json *json, const cJSON **ret, struct err *e);

#endif
