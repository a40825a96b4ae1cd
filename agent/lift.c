#include "agent/lift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/idle.h"
#include "agent/lent_pod.h"
#include "agent/tree.h"
#include "base/mem.h"
#include "base/monotonic.h"

enum { PATH_SIZE = 4096 };

struct lifting {
	struct pod_site site;
	int lifted;
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

/* Lifts a pod, whatever is in it. */
static void lift_pod(const char *name, void *ctx)
{
	struct lifting *l = ctx;
	struct ordered_pod o = {.stays = true};
	struct containers all = {NULL, 0};
	char path[PATH_SIZE];
	if (!cgroup_pod_uid(name, &o.uid))
		return;
	snprintf(path, sizeof(path), "%s/%s", cgroup_tree_first(l->site.tree), name);
	cgroup_each_child(path, add_container, &all);
	o.containers = all.container;
	o.ncontainers = all.count;
	struct lent_pod *p = lent_pod_new(&o.uid);
	lent_pod_take_order(p, &l->site, &o, false);
	if (lent_pod_open(p, &l->site, name)) {
		lent_pod_read(p, monotonic_us());
		lent_pod_lift(p, &l->site, monotonic_ms());
		l->lifted++;
	}
	lent_pod_free(p, &l->site);
	free(all.container);
}

/* Makes an idle tier ordinary. */
static void lift_tier(const struct cgroup_tree *tree)
{
	struct tier_idle idle;
	if (tier_idle_open(&idle, tree, NULL)) {
		idle.ours = true;
		tier_idle_set(&idle, false, monotonic_ms());
	}
	tier_idle_close(&idle, NULL);
}

int lift_all(const char *cgroups, const char *tier, struct log *log, struct err *e)
{
	struct cgroup_tree tree;
	struct deeds deeds = {.count = 0};
	int lock, rc = cgroup_tree_find(cgroups, tier, &tree, e);
	if (rc < 0)
		return rc;
	rc = cgroup_tree_lock(&tree, &lock, e);
	if (rc == 0) {
		struct lifting l = {.site = {&tree, NULL, &deeds, log}};
		cgroup_each_child(cgroup_tree_first(&tree), lift_pod, &l);
		if (tree.systemd)
			lift_tier(&tree);
		close(lock);
		rc = l.lifted;
	}
	cgroup_tree_done(&tree);
	return rc;
}
