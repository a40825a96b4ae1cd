#include "agent/lent_pods.h"

#include "base/monotonic.h"

void lent_pods_init(struct lent_pods *all, struct site *site)
{
	*all = (struct lent_pods){.site = site};
	list_init(&all->list);
	list_init(&all->owed);
}

static void drop(struct lent_pods *all, struct lent_pod *p)
{
	list_leave(&p->in_pods);
	all->count--;
	lent_pod_free(p);
}

static void drop_owed(struct lent_pod *p)
{
	list_leave(&p->in_pods);
	lent_pod_free(p);
}

void lent_pods_drop(struct lent_pods *all)
{
	list_each_entry_safe(&all->list, struct lent_pod, p, in_pods)
		drop(all, p);
	list_each_entry_safe(&all->owed, struct lent_pod, p, in_pods)
		drop_owed(p);
}

void lent_pods_done(struct lent_pods *all)
{
	lent_pods_drop(all);
	orders_free(all->orders);
}

struct lent_pod *lent_pods_find(const struct lent_pods *all, const struct uid *uid)
{
	each_lent_pod(all, p)
		if (uid_cmp(&p->uid, uid) == 0)
			return p;
	return NULL;
}

/* Adds a pod whose first directory was seen. NULL: it is gone again. */
static struct lent_pod *add(
	struct lent_pods *all, const struct ordered_pod *o, const char *name, int64_t now_ms)
{
	struct lent_pod *p = lent_pod_new(all->site, &o->uid);
	lent_pod_take_order(p, o, all->orders->limits);
	if (!lent_pod_open(p, name)) {
		lent_pod_free(p);
		return NULL;
	}
	list_add(&all->list, &p->in_pods);
	all->count++;
	lent_pod_read(p, monotonic_us());
	p->tick = p->own.now;
	lent_pod_adopt(p, now_ms);
	return p;
}

struct lent_pod *lent_pods_see(struct lent_pods *all, const char *name, int64_t now_ms)
{
	struct uid uid;
	if (!all->orders || !cgroup_pod_uid(name, &uid))
		return NULL;
	const struct ordered_pod *o = orders_find(all->orders, &uid);
	struct lent_pod *p = o ? lent_pods_find(all, &uid) : NULL;
	if (o && !p)
		return add(all, o, name, now_ms);
	if (p)
		lent_pod_open(p, name);
	return p;
}

static void found_child(const char *name, void *ctx)
{
	lent_pods_see(ctx, name, monotonic_ms());
}

/* Gives back what is owed to pods that are named no more. */
static void give_back(struct lent_pods *all, int64_t now_ms)
{
	list_each_entry_safe(&all->owed, struct lent_pod, p, in_pods)
		if (lent_pod_lift(p, now_ms))
			drop_owed(p);
}

bool lent_pods_scan(struct lent_pods *all, int64_t now_ms)
{
	char *const *tier = all->site->tree.tier;
	for (int h = 0; h < HIERARCHIES; h++)
		if (tier[h] && !cgroup_each_child(tier[h], found_child, all))
			return false;
	list_each_entry_safe(&all->list, struct lent_pod, p, in_pods)
		if (!lent_pod_is_there(p))
			drop(all, p);
	give_back(all, now_ms);
	return true;
}

static void move(struct lent_pod *p, struct link *to)
{
	list_leave(&p->in_pods);
	list_add(to, &p->in_pods);
}

void lent_pods_take_orders(struct lent_pods *all, struct orders *o, int64_t now_ms)
{
	orders_free(all->orders);
	all->orders = o;
	list_each_entry_safe(&all->owed, struct lent_pod, p, in_pods)
		move(p, &all->list);
	list_each_entry_safe(&all->list, struct lent_pod, p, in_pods) {
		const struct ordered_pod *named = orders_find(o, &p->uid);
		if (named)
			lent_pod_take_order(p, named, o->limits);
		else
			move(p, &all->owed);
	}
	all->count = list_count(&all->list);
	give_back(all, now_ms);
}
