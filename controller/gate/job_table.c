#include "controller/gate/job_table.h"

#include <string.h>

#include "base/siphash.h"
#include "controller/gate/core.h"
#include "controller/gate/record.h"

static bool has_name(const void *value, const void *key)
{
	const struct gate_job *j = value;
	const struct job_name *n = key;
	return strcmp(j->name, n->name) == 0 && strcmp(j->ns, n->ns) == 0;
}

static bool has_uid(const void *value, const void *key)
{
	const struct gate_job *j = value;
	return uid_cmp(&j->uid, key) == 0;
}

void job_table_init(struct gate *g)
{
	map_init(&g->by_uid, has_uid);
	map_init(&g->by_name, has_name);
}

void job_table_done(struct gate *g)
{
	map_done(&g->by_uid);
	map_done(&g->by_name);
}

struct gate_job *gate_find_job(const struct gate *g, const struct uid *uid)
{
	return map_get(&g->by_uid, uid_hash(uid), uid);
}

struct gate_job *gate_job_named(const struct gate *g, const char *ns, const char *name)
{
	struct gate_job *last = map_get(
		&g->by_name, siphash_names(&g->name_key, ns, name), &(struct job_name){ns, name});
	for (struct gate_job *j = last; j; j = j->namesake)
		if (!j->lost)
			return j;
	return last;
}

void job_table_join(struct gate *g, struct gate_job *j)
{
	uint64_t hash = siphash_names(&g->name_key, j->ns, j->name);
	j->prev = g->last;
	*(g->last ? &g->last->next : &g->first) = j;
	g->last = j;
	map_put(&g->by_uid, uid_hash(&j->uid), j);
	j->namesake = map_take(&g->by_name, hash, &(struct job_name){j->ns, j->name});
	map_put(&g->by_name, hash, j);
}

void job_table_leave(struct gate *g, struct gate_job *j)
{
	uint64_t hash = siphash_names(&g->name_key, j->ns, j->name);
	struct gate_job *last = map_take(&g->by_name, hash, &(struct job_name){j->ns, j->name});
	struct gate_job **at = &last;
	while (*at != j)
		at = &(*at)->namesake;
	*at = j->namesake;
	if (last)
		map_put(&g->by_name, hash, last);
	map_take(&g->by_uid, uid_hash(&j->uid), &j->uid);
	*(j->prev ? &j->prev->next : &g->first) = j->next;
	*(j->next ? &j->next->prev : &g->last) = j->prev;
}
