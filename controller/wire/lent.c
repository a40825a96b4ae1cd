#include "controller/wire/lent.h"

#include <stddef.h>
#include <string.h>

#include "overcommit/publication.h"

static const struct lent_name names[] = {
	{BATCH_CPU, LENT_BATCH, LENT_CPU, 1},
	{BATCH_MEMORY, LENT_BATCH, LENT_MEMORY, 1},
	{GOCRAN_CPU, LENT_GOCRAN, LENT_CPU, 1000},
	{GOCRAN_MEMORY, LENT_GOCRAN, LENT_MEMORY, 1},
	{LEGACY_CPU, LENT_LEGACY, LENT_CPU, 1},
	{LEGACY_MEMORY, LENT_LEGACY, LENT_MEMORY, 1},
	{LEGACY_BARE, LENT_LEGACY, LENT_UNCOUNTED, 0},
	{"gocrane.io/cpu", LENT_OTHER, LENT_UNCOUNTED, 0},
	{"gocrane.io/memory", LENT_OTHER, LENT_UNCOUNTED, 0},
};

const struct lent_name *lent_name_of(const char *resource)
{
	if (!strchr(resource, '/')) /* cpu, memory: nearly all there are */
		return NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(resource, names[i].name) == 0)
			return &names[i];
	return NULL;
}
