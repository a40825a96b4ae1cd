#include "agent/lift.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/file.h"
#include "agent/idle.h"
#include "agent/lent_pod.h"
#include "base/mem.h"
#include "base/monotonic.h"

struct lifting {
	struct site site;
	int lifted;
	int failed; /* pods, and the tier */
};

struct containers {
	struct ordered_container *container;
	size_t count;
};

/* Takes a directory for a container, the beginning of whose name is as good as its id. */
static void add_container(const char *name, void *ctx)
{
	struct containers *all = ctx;
	all->container = mem_one_more(all->container, all->count, sizeof(*all->container));
	struct ordered_container *c = &all->container[all->count++];
	*c = (struct ordered_container){.id = ""};
	snprintf(c->id, sizeof(c->id), "%s", name);
}

static void say_not_lifted(struct lifting *l, const char *what, const char *name)
{
	l->failed++;
	log_event(l->site.log, LEVEL_ERROR, "not lifted", what, name, NULL);
}

/* Lifts a pod, whatever is in it. */
static void lift_pod(const char *name, void *ctx)
{
	struct lifting *l = ctx;
	struct uid uid;
	struct containers all = {NULL, 0};
	char path[FILE_PATH_SIZE];
	if (!cgroup_pod_uid(name, &uid) || !file_path(cgroup_tree_first(&l->site.tree), name, path))
		return;
	cgroup_each_child(path, add_container, &all);
	const struct ordered_pod o = {.containers = all.container, .ncontainers = all.count};
	struct lent_pod *p = lent_pod_new(&l->site, &uid);
	lent_pod_take_order(p, &o, false);
	if (lent_pod_open(p, name)) {
		lent_pod_read(p, monotonic_us());
		if (lent_pod_lift(p, monotonic_ms()))
			l->lifted++;
		else
			say_not_lifted(l, "pod", name);
	}
	lent_pod_free(p);
	free(all.container);
}

/* Makes an idle tier ordinary. */
static void lift_tier(struct lifting *l)
{
	struct tier_idle idle;
	tier_idle_open(&idle, &l->site);
	idle.ours = true;
	if (!tier_idle_mind(&idle, &l->site, CPU_IDLE_NEVER, monotonic_ms()))
		say_not_lifted(l, "tier", l->site.tree.tier[HIERARCHY_CPU]);
	tier_idle_close(&idle, &l->site);
}

int lift_all(const char *cgroups, const char *tier, struct log *log, struct err *e)
{
	struct lifting l = {.site = {.log = log, .lock = -1}};
	int rc = site_hold(&l.site, cgroups, tier, e);
	if (rc < 0)
		return rc;
	cgroup_each_child(cgroup_tree_first(&l.site.tree), lift_pod, &l);
	lift_tier(&l);
	site_drop(&l.site);
	if (l.failed == 0)
		return l.lifted;
	return err_set(e, ERR_LIMIT, "%d of %d cgroups keep what was written; each is named above",
		l.failed, l.failed + l.lifted);
}
