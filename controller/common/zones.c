#include "controller/common/zones.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "queue/calendar/tzdata.h"

struct zones {
	struct map by_name;
	char edition[TZDATA_VERSION_SIZE];
	char seen[TZDATA_VERSION_SIZE]; /* by the last look */
};

static bool zone_has_name(const void *value, const void *key)
{
	const struct zone *z = value;
	return strcmp(z->name, key) == 0;
}

struct zones *zones_new(void)
{
	struct zones *z = mem_alloc(sizeof(*z));
	map_init(&z->by_name, zone_has_name);
	tzdata_version(z->edition);
	strcpy(z->seen, z->edition);
	return z;
}

static void forget_all(struct zones *z)
{
	map_free(&z->by_name, zone_free);
	map_init(&z->by_name, zone_has_name);
}

void zones_free(struct zones *z)
{
	if (!z)
		return;
	forget_all(z);
	map_done(&z->by_name);
	free(z);
}

const struct zone *zones_get(struct zones *z, const char *name, struct err *e)
{
	struct zone *zone = map_get(&z->by_name, map_hash_string(name), name);
	if (zone)
		return zone;
	if (tzdata_load(name, &zone, e) < 0)
		return NULL; /* not remembered: to look again is cheap */
	map_put(&z->by_name, map_hash_string(name), zone);
	return zone;
}

const struct zone *zones_find(const char *name, void *ctx)
{
	return zones_get(ctx, name, NULL);
}

bool zones_look(struct zones *z)
{
	char now[TZDATA_VERSION_SIZE];
	tzdata_version(now);
	bool settled = strcmp(now, z->seen) == 0;
	bool changed = settled && strcmp(now, z->edition) != 0;
	strcpy(z->seen, now);
	if (!changed)
		return false;
	strcpy(z->edition, now);
	forget_all(z);
	return true;
}

const char *zones_edition(const struct zones *z)
{
	return z->edition;
}
