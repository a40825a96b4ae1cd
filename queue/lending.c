#include "queue/lending.h"

#include <stddef.h>
#include <string.h>

/* Batch resources are thousandths of a core and bytes; gocran's are whole cores and bytes. The
 * legacy protocol's names (controller/wire/resources.c) are batch resources by another name. */
static const struct {
	const char *name, *counts_as;
	int64_t times;
	enum lending lent; /* whose name it is; LENDING_NONE: read, never written */
} names[] = {
	{"kubernetes.io/batch-cpu", "cpu", 1, LENDING_BATCH},
	{"kubernetes.io/batch-memory", "memory", 1, LENDING_BATCH},
	{"gocran.io/cpu", "cpu", 1000, LENDING_GOCRAN},
	{"gocran.io/memory", "memory", 1, LENDING_GOCRAN},
	{"alibabacloud.com/reclaimed", "cpu", 1, LENDING_NONE},
	{"alibabacloud.com/reclaimed-cpu", "cpu", 1, LENDING_NONE},
	{"alibabacloud.com/reclaimed-memory", "memory", 1, LENDING_NONE},
};
#define NNAMES (sizeof(names) / sizeof(names[0]))

const char *lending_counts_as(const char *resource, int64_t *ret_times)
{
	for (size_t i = 0; i < NNAMES; i++) {
		if (strcmp(names[i].name, resource) != 0)
			continue;
		*ret_times = names[i].times;
		return names[i].counts_as;
	}
	return NULL;
}

bool lending_counts(const char *resource)
{
	return strcmp(resource, "cpu") == 0 || strcmp(resource, "memory") == 0;
}

const char *lending_name(enum lending l, const char *resource)
{
	for (size_t i = 0; l != LENDING_NONE && i < NNAMES; i++)
		if (names[i].lent == l && strcmp(names[i].counts_as, resource) == 0)
			return names[i].name;
	return resource;
}
