/* ResourceQuotas: admission, their controller, and the admins who edit them (cluster.h). */
#include <string.h>

#include "test/sim/sim.h"

typedef long long ll;

#define LATE_MS 250000 /* a start that was decided before may land and make pods until then */

static const char *space_of(const struct model_quota *q)
{
	return namespace_names[q->index % NAMESPACES];
}

static bool counts(const struct model_quota *q, const struct model_job *j)
{
	return q->exists && !strcmp(space_of(q), j->now->job.ns);
}

static bool within(const struct pod_sum *a, const struct pod_sum *hard)
{
	return a->pods <= hard->pods && a->cpu <= hard->cpu && a->memory <= hard->memory;
}

static struct pod_sum sum_of(struct pod_sum a, struct pod_sum b, int64_t times)
{
	return (struct pod_sum){
		a.pods + b.pods * times, a.cpu + b.cpu * times, a.memory + b.memory * times};
}

/* A pod must say what it asks for of what is limited. */
static bool speaks(const struct model_quota *q, struct pod_sum asks)
{
	return q->hard.memory == UNLIMITED || asks.memory > 0;
}

/* All pods that there are. ours: those of runs that were let in. */
static struct pod_sum live(const struct sim *s, const struct model_quota *q, bool ours)
{
	struct pod_sum sum = {0};
	for (const struct model_pod *p = s->jobs.first; p; p = p->next)
		if (pod_exists(p) && counts(q, p->of) && !(ours && p->run && p->run->outside))
			sum = sum_of(sum, cluster_asks(p->template), 1);
	return sum;
}

/* ---- The quota controller ---------------------------------------------------------------------
 */

static void quota_written(struct sim *s, struct model_quota *q)
{
	q->version = ++s->api.version;
	cluster_tell_quota(s, q);
}

static void count_anew(struct sim *s, void *arg)
{
	struct model_quota *q = arg;
	struct pod_sum now = live(s, q, false);
	q->counting = false;
	if (!q->exists || !memcmp(&now, &q->used, sizeof(now)))
		return;
	q->used = now;
	q->counted_less = true;
	sim_touch(s);
	quota_written(s, q);
	q->counted_less = false;
}

void quotas_pod_left(struct sim *s, const struct model_pod *p)
{
	for (size_t i = 0; i < RESOURCE_QUOTAS; i++) {
		struct model_quota *q = &s->cluster.quota[i];
		if (!counts(q, p->of) || q->counting)
			continue;
		q->counting = true;
		sim_after(s, rng_skewed(&s->cluster.rng, 1, s->faults.jobs_lag_ms), count_anew, q);
	}
}

/* ---- Admission --------------------------------------------------------------------------------
 */

bool cluster_is_foreign(const struct sim *s, const struct model_pod *p)
{
	const struct snap *n = p->of->now;
	return !p->run || p->run->outside ||
	       ((n->gone || !n->job.queue[0]) && s->count[PATH_TAKEOVER] > 0);
}

bool cluster_never_binds(const struct sim *s, const struct model_pod *p)
{
	const struct job *j = &p->of->now->job;
	return s->cluster.on && p->node < 0 && p->run && p->run->outside &&
	       (p->of->now->gone || j->deleting || !j->queue[0]);
}

/* There would be room for a pod of it beside no pods at all, and there is none beside those. */
bool cluster_never_admits(const struct sim *s, const struct model_job *j)
{
	struct pod_sum asks = cluster_asks(j->now);
	for (size_t i = 0; j->refused && i < RESOURCE_QUOTAS; i++) {
		const struct model_quota *q = &s->cluster.quota[i];
		struct pod_sum used = asks;
		if (!counts(q, j) || !speaks(q, asks) || !within(&asks, &q->hard))
			continue;
		for (const struct model_pod *p = s->jobs.first; p; p = p->next)
			if (pod_exists(p) && counts(q, p->of) && cluster_never_binds(s, p))
				used = sum_of(used, cluster_asks(p->template), 1);
		if (!within(&used, &q->hard))
			return true;
	}
	return false;
}

/* Its run has ended, and it has not. */
static bool outlasts(const struct model_pod *p)
{
	const struct job *j = &p->of->now->job;
	return p->of->now->gone || j->suspend || j->deleting || p->state == POD_TERMINATING;
}

/* While others have pods there, or runs that have ended, what is used does not tell whose pod has
 * ended: the place of one may be given away before its own Job says that it wants a successor
 * (docs/nodes.md). */
static bool others_were_there(
	const struct sim *s, const struct model_quota *q, const struct model_run *run)
{
	for (const struct model_pod *p = s->jobs.first; p; p = p->next) {
		if (!counts(q, p->of))
			continue;
		if (pod_exists(p) && outlasts(p))
			return true;
		if (cluster_is_foreign(s, p) &&
			(pod_exists(p) || p->left_ms > run->landed_ms - LATE_MS))
			return true;
	}
	return false;
}

/* Its run was told to go on with fewer pods, and its controller does not know yet. */
static bool is_surplus(const struct sim *s, const struct model_job *j)
{
	return model_jobs_working(&s->jobs, j) >= (size_t)j->now->job.parallelism;
}

/* P9: is there no room for it beside the pods of those that were let in? */
static void check_refusal(struct sim *s, const struct model_quota *q, const struct model_job *j,
	const struct snap *view)
{
	struct pod_sum ours = sum_of(live(s, q, true), cluster_asks(view), 1);
	if (within(&ours, &q->hard) && speaks(q, cluster_asks(view))) {
		sim_reach(s, PATH_POD_LATE); /* others' pods, or some that have ended meanwhile */
		return;
	}
	if (!view->run || view->run->outside || is_surplus(s, j) ||
		others_were_there(s, q, view->run) ||
		(q->lowered_ms > 0 && view->run->landed_ms < q->lowered_ms + LATE_MS))
		return;
	sim_break(s, "P9",
		"a pod of %s/%s is refused by quota %zu: expected room for it; %lld pods with "
		"%lldm cpu were let in with it, %lld and %lldm are allowed",
		j->now->job.ns, j->now->job.name, q->index, (ll)ours.pods, (ll)ours.cpu,
		(ll)q->hard.pods, (ll)q->hard.cpu);
}

bool cluster_admits(struct sim *s, struct model_job *j, const struct snap *view)
{
	struct pod_sum asks = cluster_asks(view);
	for (size_t i = 0; i < RESOURCE_QUOTAS; i++) {
		struct model_quota *q = &s->cluster.quota[i];
		struct pod_sum used = sum_of(q->used, asks, 1);
		if (!counts(q, j) || (within(&used, &q->hard) && speaks(q, asks)))
			continue;
		sim_log(s,
			"api    refuses a pod of %s by quota %zu: %lld and 1 of %lld pods, %lldm "
			"and %lldm of %lldm cpu",
			j->now->job.name, i, (ll)q->used.pods, (ll)q->hard.pods, (ll)q->used.cpu,
			(ll)asks.cpu, (ll)q->hard.cpu);
		sim_reach(s, PATH_POD_REFUSED);
		check_refusal(s, q, j, view);
		return false;
	}
	for (size_t i = 0; i < RESOURCE_QUOTAS; i++) {
		struct model_quota *q = &s->cluster.quota[i];
		if (!counts(q, j))
			continue;
		q->used = sum_of(q->used, asks, 1);
		quota_written(s, q);
	}
	return true;
}

/* ---- Admins -----------------------------------------------------------------------------------
 */

static void draw_hard(struct sim *s, struct model_quota *q)
{
	struct rng *r = &s->cluster.rng;
	q->hard = (struct pod_sum){UNLIMITED, UNLIMITED, UNLIMITED};
	if (rng_odds(r, 6000))
		q->hard.pods = rng_between(r, 2, 10);
	if (q->hard.pods == UNLIMITED || rng_odds(r, 4000))
		q->hard.cpu = rng_between(r, 2, 16) * 500;
	if (!s->cluster.uniform && rng_odds(r, 1500))
		q->hard.memory = rng_between(r, 2, 16) << 30;
}

static bool is_less(const struct pod_sum *a, const struct pod_sum *than)
{
	return a->pods < than->pods || a->cpu < than->cpu || a->memory < than->memory;
}

/* In a steady world limits only rise. */
void quotas_edit(struct sim *s)
{
	struct model_quota *q =
		&s->cluster.quota[rng_between(&s->cluster.rng, 0, RESOURCE_QUOTAS - 1)];
	struct model_quota was = *q;
	draw_hard(s, q);
	q->exists = rng_odds(&s->cluster.rng, 7500);
	if (q->exists && (!was.exists || is_less(&q->hard, &was.hard))) {
		if (s->cluster.steady) {
			*q = was;
			return;
		}
		q->lowered_ms = s->now_ms;
		sim_reach(s, PATH_QUOTA_LOWERED);
	}
	q->used = live(s, q, false);
	sim_log(s, "admin  quota %zu of %s %s pods=%lld cpu=%lldm memory=%lld", q->index,
		space_of(q), q->exists ? "is" : "deleted", (ll)q->hard.pods, (ll)q->hard.cpu,
		(ll)q->hard.memory);
	sim_touch(s);
	quota_written(s, q);
}

/* What is used is counted anew: it is of pods that there were. */
void quotas_put_back(struct sim *s, const struct model_quota *was)
{
	for (size_t i = 0; i < RESOURCE_QUOTAS; i++) {
		struct model_quota *q = &s->cluster.quota[i], before = *q;
		*q = was[i];
		q->counting = before.counting;
		q->lowered_ms = before.lowered_ms;
		if (q->exists && (!before.exists || is_less(&q->hard, &before.hard)))
			q->lowered_ms = s->now_ms;
		if (!q->exists || q->counting)
			continue;
		q->counting = true;
		sim_after(s, rng_skewed(&s->cluster.rng, 1, 5000), count_anew, q);
	}
}

void quotas_begin(struct sim *s)
{
	for (size_t i = 0; i < RESOURCE_QUOTAS; i++) {
		struct model_quota *q = &s->cluster.quota[i];
		q->index = i;
		draw_hard(s, q);
		q->exists = rng_odds(&s->cluster.rng, 6000);
	}
}

/* A Job that was started is to be able to end: pods that were refused because a quota was lowered find
 * room. */
void quotas_calm(struct sim *s)
{
	for (size_t i = 0; i < RESOURCE_QUOTAS; i++) {
		struct model_quota *q = &s->cluster.quota[i];
		if (!q->exists || q->lowered_ms == 0)
			continue;
		q->exists = false;
		quota_written(s, q);
	}
}

/* ---- P7 ---------------------------------------------------------------------------------------
 */

bool quotas_have_room(const struct sim *s, const struct model_job *j)
{
	struct pod_sum asks = cluster_asks(j->now);
	for (size_t i = 0; i < RESOURCE_QUOTAS; i++) {
		const struct model_quota *q = &s->cluster.quota[i];
		struct pod_sum used = sum_of(live(s, q, false), asks, job_pods(&j->now->job));
		if (counts(q, j) && (!speaks(q, asks) || !within(&used, &q->hard)))
			return false;
	}
	return true;
}
