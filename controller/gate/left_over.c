/*
 * Left over: what an earlier version let run without a reservation, and this one would not.
 *
 * A Job that another Job made ran on its owner's quota while that held some. Now it is queued as
 * any other, and stopped when it runs without a reservation. So that an upgrade stops nothing, a
 * leader counts such runs when it begins, before anything starts: where the quota that is left has
 * room for one, a reservation is made for it, and it goes on as any run. The rest are treated as
 * what a lost ledger leaves (mass_stop.c): many wait for an admin's word, few are stopped.
 *
 * Only a run whose owner holds a reservation is looked at, as in the earlier version. What begins
 * to run later is stopped at once.
 */
#include <string.h>

#include "controller/gate/record.h"

struct owner {
	const char *ns, *name;
};

static bool owner_is(const void *value, const void *key)
{
	const struct gate_job *j = value;
	const struct owner *o = key;
	return strcmp(j->ns, o->ns) == 0 && strcmp(j->name, o->name) == 0;
}

static uint64_t owner_hash(const struct owner *o)
{
	return map_hash_string(o->ns) ^ map_hash_string(o->name) * 3;
}

/* By name, of each Job that holds a reservation. */
static void find_owners(const struct gate *g, struct map *ret)
{
	map_init(ret, owner_is);
	for (struct gate_job *j = g->first; j; j = j->next) {
		struct owner o = {j->ns, j->name};
		if (j->has_hold && !map_get(ret, owner_hash(&o), &o))
			map_put(ret, owner_hash(&o), j);
	}
}

static const char made_by_job[] = "Job/";

/* Its pods can be counted, and Sluice never wrote anything on it. */
bool left_over_runs(const struct gate_job *j)
{
	const struct facts *f = &j->seen;
	bool runs = f->start_seen && !f->finished && !f->deleting && !j->lost;
	return runs && f->managed && !f->uncontrolled && f->story_state == STORY_NONE &&
	       j->family && strncmp(j->family, made_by_job, sizeof(made_by_job) - 1) == 0;
}

static bool is_left_over(const struct gate_job *j, const struct map *owners)
{
	if (j->phase != PHASE_WAITING || j->has_hold || !left_over_runs(j))
		return false;
	struct owner o = {j->ns, j->family + sizeof(made_by_job) - 1};
	return map_get(owners, owner_hash(&o), &o) != NULL;
}

void left_over_count(struct gate *g)
{
	struct map owners;
	find_owners(g, &owners);
	for (struct gate_job *j = g->first; j; j = j->next) {
		if (!is_left_over(j, &owners))
			continue;
		j->uncounted = !queue_count_job(g->queue, &j->uid, g->now_ms);
		if (!j->uncounted)
			attempt_count(g, j);
	}
	map_done(&owners);
}
