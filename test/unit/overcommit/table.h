/* What the tables of the overcommit tests have in common. */
#ifndef SLUICE_TEST_OVERCOMMIT_TABLE_H
#define SLUICE_TEST_OVERCOMMIT_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "overcommit/load.h"

#define G INT64_C(1000000000)
#define GI (INT64_C(1) << 30)
#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* Whole cores and billions of bytes. */
#define CORES(cpu, memory) ((struct load){(cpu)*1000, (memory)*G})

/* Fails with the name of the row. */
static inline void same(const char *row, const char *what, int64_t is, int64_t shall)
{
	if (is == shall)
		return;
	print_error("%s: %s is %" PRId64 ", shall be %" PRId64 "\n", row, what, is, shall);
	fail();
}

static inline void same_load(const char *row, const char *what, struct load is, struct load shall)
{
	char name[64];
	snprintf(name, sizeof(name), "%s cpu", what);
	same(row, name, is.cpu_milli, shall.cpu_milli);
	snprintf(name, sizeof(name), "%s memory", what);
	same(row, name, is.memory_bytes, shall.memory_bytes);
}

#endif
