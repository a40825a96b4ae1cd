/* What the tests of wire share: cmocka, and JSON written with single quotes. */
#ifndef SLUICE_TEST_WIRE_WIRE_H
#define SLUICE_TEST_WIRE_WIRE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/json.h"

/* The document in text, in which ' stands for "; the last one parsed is gone. */
static inline const cJSON *parsed(const char *text)
{
	static struct json *j;
	const cJSON *root = NULL;
	struct err e = {""};
	char *copy = mem_strdup(text);
	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	json_free(j);
	j = json_new(64 << 20);
	if (json_parse(j, slice_of(copy), &root, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	free(copy);
	return root;
}

#endif
