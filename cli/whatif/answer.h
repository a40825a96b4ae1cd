/*
 * The question of `sluice whatif`, and what the API server makes of it.
 */
#ifndef SLUICE_CLI_WHATIF_ANSWER_H
#define SLUICE_CLI_WHATIF_ANSWER_H

#include "cli/whatif/changes.h"

/* A WhatIf: the queue is played twice while this waits. The tree lives in json. Errors are those of
 * visibility_ask(). */
int whatif_answer_get(const struct changes_source *from, const struct changes *c, struct json *json,
	const cJSON **ret, struct err *e);

#endif
