/* Nodes and a scheduler (cluster.h). */
#include "test/sim/cluster.h"

#include <string.h>

#include "test/sim/sim.h"

#define GIB ((int64_t)1 << 30)
#define LATE_MS 250000 /* a start that was decided before may land and make pods until then */

typedef long long ll;

struct pod_sum cluster_asks(const struct snap *template)
{
	return (struct pod_sum){1, snap_asks(template, "cpu"), snap_asks(template, "memory")};
}

bool cluster_node_takes(const struct model_node *n)
{
	return n->exists && !n->cordoned;
}

/* ---- Room -------------------------------------------------------------------------------------
 */

/* What is left on each node beside the pods on it. */
static void count_left(const struct sim *s, struct model_node left[NODES])
{
	memcpy(left, s->cluster.node, NODES * sizeof(*left));
	for (const struct model_pod *p = s->jobs.first; p; p = p->next) {
		if (!pod_exists(p) || p->node < 0)
			continue;
		left[p->node].cpu -= snap_asks(p->template, "cpu");
		left[p->node].memory -= snap_asks(p->template, "memory");
		left[p->node].gpu -= snap_asks(p->template, "gpu");
		left[p->node].pods--;
	}
}

static int64_t times(int64_t room, int64_t one)
{
	return room < 0 ? 0 : one == 0 ? INT64_MAX : room / one;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* So many pods of that template. */
static int64_t room_on(const struct model_node *left, const struct snap *template)
{
	int64_t n = left->pods;
	n = least(n, times(left->cpu, snap_asks(template, "cpu")));
	n = least(n, times(left->memory, snap_asks(template, "memory")));
	n = least(n, times(left->gpu, snap_asks(template, "gpu")));
	return n > 0 ? n : 0;
}

/* ---- The scheduler ----------------------------------------------------------------------------
 */

static bool waits_for_node(const struct model_pod *p)
{
	return p->state == POD_RUNNING && p->node < 0;
}

/* Any node with room, from a random one on. */
static void bind_pod(struct sim *s, struct model_pod *p, struct model_node left[NODES])
{
	int64_t from = rng_between(&s->cluster.rng, 0, NODES - 1);
	for (int64_t k = 0; k < NODES && p->node < 0; k++) {
		struct model_node *n = &left[(from + k) % NODES];
		if (!cluster_node_takes(n) || room_on(n, p->template) == 0)
			continue;
		p->node = (int)n->index;
		n->cpu -= snap_asks(p->template, "cpu");
		n->memory -= snap_asks(p->template, "memory");
		n->gpu -= snap_asks(p->template, "gpu");
		n->pods--;
		sim_reach(s, PATH_POD_BOUND);
		sim_log(s, "pod    %zu of %s is on node %d", p->index, p->of->now->job.name,
			p->node);
		sim_touch(s);
		model_jobs_begin_pod(s, p);
		cluster_tell_pod(s, p);
	}
	if (p->node < 0)
		sim_reach(s, PATH_POD_UNSCHEDULABLE);
}

/* Nothing is made less any more that was let in since then. */
static bool is_excused(const struct sim *s, const struct model_run *run)
{
	return !run || run->outside ||
	       (s->cluster.lessened_ms > 0 && run->landed_ms < s->cluster.lessened_ms + LATE_MS);
}

static bool is_judged(const struct sim *s)
{
	const struct cluster *c = &s->cluster;
	return c->has_nodes && c->uniform && c->fit_now == (1u << CLUSTERQUEUES) - 1;
}

/* P10, at any time: the pods of those that were let in, bound or not, and the places. */
static void check_places(struct sim *s)
{
	const struct model_pod *last = NULL;
	int64_t ours = 0, places = 0;
	for (const struct model_pod *p = s->jobs.first; p; p = p->next) {
		if (!pod_exists(p) || cluster_is_foreign(s, p))
			continue;
		ours++;
		last = waits_for_node(p) && !is_excused(s, p->run) ? p : last;
	}
	for (size_t i = 0; last && i < NODES; i++)
		if (cluster_node_takes(&s->cluster.node[i]))
			places += room_on(&s->cluster.node[i], last->template);
	if (last && ours > places)
		sim_break(s, "P10",
			"a pod of %s/%s waits for a node: expected a place for each pod that was "
			"let in; %lld are there, places for %lld",
			last->of->now->job.ns, last->of->now->job.name, (ll)ours, (ll)places);
}

static void schedule(struct sim *s, void *arg)
{
	struct model_node left[NODES];
	(void)arg;
	s->cluster.scheduling = false;
	count_left(s, left);
	for (struct model_pod *p = s->jobs.first; p; p = p->next)
		if (waits_for_node(p))
			bind_pod(s, p, left);
	if (is_judged(s))
		check_places(s);
}

static void schedule_soon(struct sim *s)
{
	if (!s->cluster.has_nodes || s->cluster.scheduling)
		return;
	s->cluster.scheduling = true;
	sim_after(s, rng_skewed(&s->cluster.rng, 1, s->calm ? 20 : 3000), schedule, NULL);
}

void cluster_schedule_anew(struct sim *s)
{
	schedule_soon(s);
}

void cluster_pod_made(struct sim *s, struct model_pod *p)
{
	p->node = -1;
	if (s->cluster.has_nodes)
		schedule_soon(s);
	else
		model_jobs_begin_pod(s, p);
}

void cluster_pod_left(struct sim *s, struct model_pod *p)
{
	if (s->cluster.has_quotas)
		quotas_pod_left(s, p);
	if (s->cluster.has_nodes && p->node >= 0) {
		cluster_tell_pod(s, p);
		schedule_soon(s);
	}
}

/* ---- Users ------------------------------------------------------------------------------------
 */

void cluster_draw(struct sim *s, struct snap *n)
{
	n->templated = s->cluster.on;
	if (!s->cluster.uniform)
		return;
	n->request[0] = (struct resource){"cpu", 1000, 0};
	n->container.requests.count = 1;
}

/* ---- Admins -----------------------------------------------------------------------------------
 */

static void draw_node(struct sim *s, struct model_node *n)
{
	struct rng *r = &s->cluster.rng;
	n->cpu = rng_between(r, 1, 5) * 1000;
	n->memory = s->cluster.uniform ? 1000 * GIB : rng_between(r, 2, 12) * GIB;
	n->gpu = rng_between(r, 0, 3);
	n->pods = s->cluster.uniform || rng_odds(r, 7000) ? 110 : rng_between(r, 2, 6);
}

/* Pods stay where they are: a node that goes takes no pod with it here. The first node stays, for
 * without any nothing is asked. */
static void node_edit(struct sim *s)
{
	struct cluster *c = &s->cluster;
	struct model_node *n = &c->node[rng_between(&c->rng, 1, NODES - 1)];
	bool takes = cluster_node_takes(n);
	if (takes && c->steady)
		return;
	if (takes) {
		c->lessened_ms = s->now_ms;
		sim_reach(s, PATH_NODE_LESS);
	}
	if (!takes || rng_odds(&c->rng, 5000)) {
		n->cordoned = takes;
		n->exists = true;
	} else {
		n->exists = false;
	}
	sim_log(s, "admin  node %zu %s", n->index,
		!n->exists    ? "is deleted"
		: n->cordoned ? "is cordoned"
			      : "takes pods");
	sim_touch(s);
	cluster_tell_node(s, n);
	schedule_soon(s);
}

static void admin_edits(struct sim *s, void *arg)
{
	(void)arg;
	if (s->calm)
		return;
	if (s->cluster.has_nodes && (!s->cluster.has_quotas || rng_odds(&s->cluster.rng, 5000)))
		node_edit(s);
	else
		quotas_edit(s);
	sim_after(s, rng_between(&s->cluster.rng, 5000, 100000), admin_edits, NULL);
}

enum cluster_fit cluster_fit_of(const struct sim *s, const struct config *cq)
{
	return s->cluster.fit_now >> cq->index & 1 ? CLUSTER_FIT_NOW : CLUSTER_FIT_POSSIBLE;
}

static void nodes_begin(struct sim *s)
{
	struct cluster *c = &s->cluster;
	c->uniform = rng_odds(&c->rng, 6000);
	c->fit_now = c->uniform || rng_odds(&c->rng, 5000)
			     ? (1u << CLUSTERQUEUES) - 1
			     : (unsigned)rng_between(&c->rng, 0, (1 << CLUSTERQUEUES) - 1);
	for (size_t i = 0; i < NODES; i++) {
		c->node[i].index = i;
		draw_node(s, &c->node[i]);
		c->node[i].exists = i == 0 || rng_odds(&c->rng, 8000);
	}
}

void cluster_begin(struct sim *s)
{
	struct cluster *c = &s->cluster;
	rng_seed(&c->rng, s->o.seed ^ 0x636c7573746572);
	c->on = s->o.cluster;
	if (!c->on)
		return;
	c->has_nodes = rng_odds(&c->rng, 6000);
	c->has_quotas = !c->has_nodes || rng_odds(&c->rng, 4000);
	c->steady = rng_odds(&c->rng, 5000);
	if (c->has_nodes)
		nodes_begin(s);
	if (c->has_quotas)
		quotas_begin(s);
	sim_after(s, rng_between(&c->rng, 5000, 100000), admin_edits, NULL);
}

/* A Job that was started is to be able to end: each node that there was is there again. */
void cluster_calm(struct sim *s)
{
	for (size_t i = 0; s->cluster.has_nodes && i < NODES; i++) {
		struct model_node *n = &s->cluster.node[i];
		if (cluster_node_takes(n))
			continue;
		n->exists = true;
		n->cordoned = false;
		cluster_tell_node(s, n);
	}
	if (s->cluster.has_quotas)
		quotas_calm(s);
	schedule_soon(s);
}

/* ---- Promises ---------------------------------------------------------------------------------
 */

/* Without completions no pod is made in place of one that failed once another has ended well. Quota
 * and room on the nodes are kept for it all the same (docs/protocol.md, What stays open). */
static bool keeps_too_much(const struct sim *s, const struct model_job *j)
{
	const struct job *n = &j->now->job;
	return !n->has_completions && n->status.succeeded > 0 &&
	       job_pods(n) > (int32_t)model_jobs_pods(&s->jobs, j);
}

/* A pod of one that was let in is not there, or not on a node: what is kept for it is not seen. Of
 * one that is on its way out all is kept until the last pod has gone. */
static bool somebody_lacks(const struct sim *s)
{
	for (const struct model_pod *p = s->jobs.first; p; p = p->next)
		if (s->cluster.has_nodes && waits_for_node(p))
			return true;
	for (const struct model_job *j = s->api.first; j; j = j->next) {
		const struct snap *n = j->now;
		bool ends = n->failing || n->succeeding; /* no more pods are made */
		bool runs = !n->gone && !n->job.suspend && !n->job.deleting && !ends;
		if (runs ? j->refused || keeps_too_much(s, j)
			 : model_ledger_open_reservation(s->ledger, &n->job.uid) != NULL)
			return true;
	}
	return false;
}

static bool nodes_have_room(
	const struct sim *s, const struct model_job *j, const struct config *cq, int32_t priority)
{
	bool now = priority < cq->gaps_below || cluster_fit_of(s, cq) == CLUSTER_FIT_NOW;
	struct model_node left[NODES];
	int64_t room = 0;
	if (now)
		count_left(s, left);
	else
		memcpy(left, s->cluster.node, sizeof(left));
	for (size_t i = 0; i < NODES; i++)
		if (cluster_node_takes(&left[i]))
			room += room_on(&left[i], j->now);
	return room >= (now ? job_pods(&j->now->job) : 1);
}

bool cluster_has_room(
	const struct sim *s, const struct model_job *j, const struct config *cq, int32_t priority)
{
	if (!s->cluster.on)
		return true;
	return !somebody_lacks(s) && (!s->cluster.has_quotas || quotas_have_room(s, j)) &&
	       (!s->cluster.has_nodes || nodes_have_room(s, j, cq, priority));
}

/* P10, when all is quiet. */
void cluster_check_quiet(struct sim *s)
{
	const struct model_pod *lacks = NULL;
	int64_t n = 0, others = 0;
	if (!is_judged(s))
		return;
	for (const struct model_pod *p = s->jobs.first; p; p = p->next) {
		if (!pod_exists(p))
			continue;
		bool excused = is_excused(s, p->run) || cluster_is_foreign(s, p);
		others += p->node >= 0 && excused;
		if (!waits_for_node(p) || excused)
			continue;
		lacks = p;
		n++;
	}
	if (n > others)
		sim_break(s, "P10",
			"a pod of %s/%s has no node when all is quiet: expected one for each pod "
			"that was let in with clusterFit Now; %lld lack one",
			lacks->of->now->job.ns, lacks->of->now->job.name, (ll)n);
}
