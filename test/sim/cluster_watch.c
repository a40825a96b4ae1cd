/* What a controller hears of Nodes, bound pods and ResourceQuotas (cluster.h). */
#include <stdio.h>
#include <string.h>

#include "test/sim/sim.h"
#include "queue/cluster/nodes.h"
#include "queue/cluster/resource_quota.h"

static int64_t news_at(struct sim *s, int64_t *last_ms)
{
	struct rng *r = &s->cluster.rng;
	int64_t at = s->now_ms + rng_skewed(r, 1, s->faults.watch_lag_ms);
	if (rng_odds(r, s->faults.watch_cut_every_ms > 0 ? 300 : 0))
		at += rng_skewed(r, 1, 20000); /* cut, and taken up again */
	if (at < *last_ms)
		at = *last_ms;
	return *last_ms = at;
}

static void tell_all(struct sim *s, void (*send)(struct sim *s, struct replica *r, const void *arg),
	const void *arg)
{
	for (size_t i = 0; i < s->nreplicas; i++)
		if (s->replica[i].up && way_is_open(s, &s->replica[i].to_api))
			send(s, &s->replica[i], arg);
}

/* ---- Nodes ------------------------------------------------------------------------------------
 */

static const char *node_name(int64_t index)
{
	static const char *const names[NODES] = {"node-0", "node-1", "node-2", "node-3", "node-4"};
	return names[index];
}

static void set_node(struct queue *q, const struct model_node *n)
{
	const struct resource all[] = {{"cpu", n->cpu, 0}, {"memory", n->memory, 0},
		{"gpu", n->gpu, 0}, {"pods", n->pods, 0}};
	if (n->exists)
		queue_set_node(q, &(struct node_spec){.name = node_name((int64_t)n->index),
					  .unschedulable = n->cordoned,
					  .allocatable = {all, 4}});
	else
		queue_drop_node(q, node_name((int64_t)n->index));
}

static void node_heard(struct sim *s, struct replica *r, void *arg)
{
	set_node(r->queue, arg);
	replica_step_soon(s, r);
}

static void send_node(struct sim *s, struct replica *r, const void *arg)
{
	if (!r->cluster.nodes_listed)
		return; /* it will be in the list */
	struct model_node *copy = sim_alloc(s, sizeof(*copy));
	*copy = *(const struct model_node *)arg;
	replica_at(s, r, news_at(s, &r->cluster.nodes_ms), node_heard, copy);
}

void cluster_tell_node(struct sim *s, const struct model_node *n)
{
	tell_all(s, send_node, n);
}

static void nodes_listed(struct sim *s, struct replica *r, void *arg)
{
	if (partition_waits(s, r, nodes_listed, arg))
		return;
	for (size_t i = 0; i < NODES; i++)
		if (s->cluster.node[i].exists)
			set_node(r->queue, &s->cluster.node[i]);
	r->cluster.nodes_listed = true;
	replica_check_synced(s, r);
	replica_step_soon(s, r);
}

/* ---- Pods -------------------------------------------------------------------------------------
 */

struct lodger {
	const struct model_pod *pod;
	int node;
	bool there, leaving;
};

static struct uid uid_of(const struct model_pod *p)
{
	struct uid uid = {{'p', 'o', 'd'}};
	uint64_t index = p->index;
	memcpy(uid.byte + 8, &index, sizeof(index));
	return uid;
}

static void tell_lodger(struct sim *s, struct replica *r, const struct lodger *l)
{
	struct uid uid = uid_of(l->pod);
	struct pod pod = l->pod->template->pod;
	if (!l->there) {
		if (s->o.bug != BUG_POD_END_UNTOLD)
			queue_unbind_pod(r->queue, &uid);
		return;
	}
	if (s->o.bug == BUG_POD_WEIGHTLESS)
		pod.resources.ncontainers = 0;
	queue_bind_pod(r->queue, &(struct bound_pod){.uid = uid,
					 .node = node_name(l->node),
					 .pod = &pod,
					 .deleting = l->leaving,
					 .owner = l->pod->of->now->job.uid});
}

static struct lodger lodger_of(const struct model_pod *p)
{
	return (struct lodger){
		p, p->node, pod_exists(p) && p->node >= 0, p->state == POD_TERMINATING};
}

static void pod_heard(struct sim *s, struct replica *r, void *arg)
{
	tell_lodger(s, r, arg);
	replica_step_soon(s, r);
}

static void send_pod(struct sim *s, struct replica *r, const void *arg)
{
	if (!r->cluster.pods_listed)
		return;
	struct lodger *l = sim_alloc(s, sizeof(*l));
	*l = lodger_of(arg);
	replica_at(s, r, news_at(s, &r->cluster.pods_ms), pod_heard, l);
}

void cluster_tell_pod(struct sim *s, const struct model_pod *p)
{
	tell_all(s, send_pod, p);
}

static void pods_listed(struct sim *s, struct replica *r, void *arg)
{
	if (partition_waits(s, r, pods_listed, arg))
		return;
	for (const struct model_pod *p = s->jobs.first; p; p = p->next) {
		struct lodger l = lodger_of(p);
		if (l.there && p->node >= 0)
			tell_lodger(s, r, &l);
	}
	r->cluster.pods_listed = true;
	queue_know_pods(r->queue, true);
	replica_step_soon(s, r);
}

/* ---- ResourceQuotas ---------------------------------------------------------------------------
 */

static void add(struct resource_list *to, struct resource *all, const char *name, int64_t amount)
{
	all[to->count++] = (struct resource){name, amount, 0};
	to->item = all;
}

static void set_quota(const struct sim *s, struct queue *q, const struct model_quota *m)
{
	/* A planted fault: thousandths are taken for whole cores. */
	const int64_t scale = s->o.bug == BUG_QUOTA_MISREAD ? 1000 : 1;
	static const char *const names[] = {"pods", "requests.cpu", "requests.memory"};
	const int64_t hard[] = {m->hard.pods, m->hard.cpu, m->hard.memory};
	const int64_t used[] = {m->used.pods, m->used.cpu, m->used.memory};
	struct resource all_hard[3], all_used[3];
	char name[16];
	snprintf(name, sizeof(name), "quota-%zu", m->index);
	struct resource_quota spec = {
		.ns = namespace_names[m->index % NAMESPACES], .name = name, .version = m->version};
	for (size_t i = 0; i < 3; i++) {
		if (hard[i] == UNLIMITED)
			continue;
		add(&spec.hard, all_hard, names[i], hard[i] * (i == 1 ? scale : 1));
		add(&spec.used, all_used, names[i], used[i]);
	}
	if (m->exists)
		queue_set_resource_quota(q, &spec);
	else
		queue_drop_resource_quota(q, spec.ns, name);
}

/* All of them at one moment, or one that changed, or none: a bookmark. */
struct quota_news {
	int64_t version;
	size_t n;
	bool frees, list;
	struct model_quota quota[RESOURCE_QUOTAS];
};

static void quotas_heard(struct sim *s, struct replica *r, void *arg)
{
	const struct quota_news *n = arg;
	bool lost = n->frees && s->o.bug == BUG_QUOTA_FREED_UNTOLD;
	for (size_t i = 0; i < n->n && !lost; i++)
		set_quota(s, r->queue, &n->quota[i]);
	queue_saw_quotas(
		r->queue, NULL, s->o.bug == BUG_QUOTA_MISREAD ? s->api.version : n->version);
	if (n->list) {
		r->cluster.quotas_asked = false;
		sim_reach(s, PATH_QUOTAS_ANEW);
	}
	replica_step_soon(s, r);
}

static void send_quotas(struct sim *s, struct replica *r, const struct quota_news *n)
{
	struct quota_news *copy = sim_alloc(s, sizeof(*copy));
	*copy = *n;
	replica_at(s, r, news_at(s, &r->cluster.quotas_ms), quotas_heard, copy);
}

static void send_quota(struct sim *s, struct replica *r, const void *arg)
{
	const struct model_quota *q = arg;
	if (!r->cluster.quotas_listed)
		return;
	send_quotas(s, r,
		&(struct quota_news){
			.version = q->version, .n = 1, .frees = q->counted_less, .quota = {*q}});
}

void cluster_tell_quota(struct sim *s, const struct model_quota *q)
{
	tell_all(s, send_quota, q);
}

static struct quota_news all_quotas(const struct sim *s)
{
	struct quota_news n = {.version = s->api.version, .n = RESOURCE_QUOTAS, .list = true};
	memcpy(n.quota, s->cluster.quota, sizeof(n.quota));
	return n;
}

static void bookmark_comes(struct sim *s, struct replica *r, void *arg)
{
	(void)arg;
	if (way_is_open(s, &r->to_api))
		send_quotas(s, r, &(struct quota_news){.version = s->api.version});
	replica_at(
		s, r, s->now_ms + rng_between(&s->cluster.rng, 20000, 80000), bookmark_comes, NULL);
}

static void quotas_listed(struct sim *s, struct replica *r, void *arg)
{
	if (partition_waits(s, r, quotas_listed, arg))
		return;
	struct quota_news all = all_quotas(s);
	quotas_heard(s, r, &all);
	r->cluster.quotas_listed = true;
	replica_check_synced(s, r);
	bookmark_comes(s, r, NULL);
}

static void list_asked(struct sim *s, struct replica *r, void *arg)
{
	if (partition_waits(s, r, list_asked, arg))
		return;
	struct quota_news all = all_quotas(s);
	send_quotas(s, r, &all);
}

/* As the informer does: a Job waits, and a look at the quotas as they are now may help. */
void cluster_look(struct sim *s, struct replica *r)
{
	const char *ns;
	int64_t version;
	if (!r->cluster.quotas_listed || r->cluster.quotas_asked ||
		!queue_quotas_behind(r->queue, 0, &ns, &version))
		return;
	r->cluster.quotas_asked = true;
	replica_at(s, r, s->now_ms + rng_between(&s->cluster.rng, 500, 5000), list_asked, NULL);
}

/* ---- All of it --------------------------------------------------------------------------------
 */

void cluster_begin_watches(struct sim *s, struct replica *r)
{
	if (!s->cluster.on)
		return;
	replica_at(s, r, news_at(s, &r->cluster.nodes_ms), nodes_listed, NULL);
	replica_at(s, r, news_at(s, &r->cluster.pods_ms), pods_listed, NULL);
	if (s->cluster.has_quotas)
		replica_at(s, r, news_at(s, &r->cluster.quotas_ms), quotas_listed, NULL);
}

void cluster_tell_again(struct sim *s, struct replica *r)
{
	if (!s->cluster.on)
		return;
	for (size_t i = 0; i < NODES; i++)
		send_node(s, r, &s->cluster.node[i]);
	for (const struct model_pod *p = s->jobs.first; p; p = p->next)
		if (s->cluster.has_nodes && (p->node >= 0 || pod_exists(p)))
			send_pod(s, r, p);
	if (s->cluster.has_quotas && r->cluster.quotas_listed) {
		struct quota_news all = all_quotas(s);
		send_quotas(s, r, &all);
	}
}

bool cluster_is_listed(const struct sim *s, const struct replica *r)
{
	return r->cluster.nodes_listed && (!s->cluster.has_quotas || r->cluster.quotas_listed);
}
