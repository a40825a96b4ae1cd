/*
 * The text of a path (object_path.h) as steps: into a field, to an item by its number, to the items
 * that have a field of some value. The search finds what they lead to (object_place.h).
 */
#ifndef SLUICE_CLI_WHATIF_OBJECT_STEPS_H
#define SLUICE_CLI_WHATIF_OBJECT_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { STEPS_MAX = 24, STEP_TEXT_SIZE = 320 /* the key of a label, and more */ };

enum step_kind { STEP_KEY, STEP_INDEX, STEP_ITEM };

struct object_step {
	enum step_kind kind;
	bool anywhere;		    /* the step may be at any depth below */
	size_t index;		    /* of STEP_INDEX */
	char key[STEP_TEXT_SIZE];   /* of STEP_KEY, and the field of STEP_ITEM */
	char value[STEP_TEXT_SIZE]; /* of STEP_ITEM */
};

struct object_steps {
	struct object_step step[STEPS_MAX];
	size_t n;
};

/* Reads a path. ERR_INVALID: the sentence says what is wrong with it. */
int object_steps_parse(const char *path, struct object_steps *ret, struct err *e);

#endif
