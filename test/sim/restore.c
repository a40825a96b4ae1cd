#include "test/sim/restore.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "test/sim/sim.h"

#define SALT 0x726573746f7265 /* "restore" */
#define BUMP 1000000000

typedef long long ll;

/* ---- What is put aside ------------------------------------------------------------------------
 */

struct saved_job {
	struct model_job *of;
	struct model_job was; /* a shallow copy; snapshots are immutable */
};

struct saved_pod {
	struct model_pod *of;
	struct model_pod was;
};

struct saved_store {
	int64_t version;
	struct saved_job *job;
	size_t njobs;
	struct saved_pod *pod;
	size_t npods;
	struct config config[CONFIG_KINDS][LOCALQUEUES];
	struct model_node node[NODES];
	struct model_quota quota[RESOURCE_QUOTAS];
};

static void forget(struct saved_store *v)
{
	if (!v)
		return;
	free(v->job);
	free(v->pod);
	free(v);
}

static struct saved_store *save(const struct sim *s)
{
	struct saved_store *v = mem_alloc(sizeof(*v));
	*v = (struct saved_store){.version = s->api.version};
	v->job = mem_array(s->api.njobs + 1, sizeof(*v->job));
	v->pod = mem_array(s->jobs.count + 1, sizeof(*v->pod));
	for (struct model_job *j = s->api.first; j; j = j->next)
		v->job[v->njobs++] = (struct saved_job){j, *j};
	for (struct model_pod *p = s->jobs.first; p; p = p->next)
		v->pod[v->npods++] = (struct saved_pod){p, *p};
	memcpy(v->config, s->people.config, sizeof(v->config));
	memcpy(v->node, s->cluster.node, sizeof(v->node));
	memcpy(v->quota, s->cluster.quota, sizeof(v->quota));
	return v;
}

static void saves(struct sim *s, void *arg)
{
	struct restore *t = &s->restore;
	(void)arg;
	if (s->calm)
		return;
	forget(t->saved);
	t->saved = save(s);
	sim_after(s, rng_between(&t->rng, 1, 2 * t->save_every_ms), saves, NULL);
}

/* ---- Jobs and pods as they were ---------------------------------------------------------------
 */

/* What was written of it goes back; what it is, and what controllers were told, does not. But that it is
 * being deleted is not true any more. */
static void put_back_job(struct model_job *j, const struct model_job *was)
{
	j->now = was->now;
	j->wrote = was->wrote;
	j->lowered = was->lowered;
	j->unready = was->unready;
	j->orphaned = was->orphaned;
	j->kept = was->kept;
	j->vandalized = was->vandalized;
	j->moved = was->moved;
	j->refused = was->refused;
	memcpy(j->told, was->told, sizeof(j->told));
}

static void put_back_jobs(struct sim *s, const struct saved_store *v)
{
	for (size_t i = 0; i < v->njobs; i++) {
		if (v->job[i].of->now->gone && !v->job[i].was.now->gone)
			sim_reach(s, PATH_JOB_BACK);
		put_back_job(v->job[i].of, &v->job[i].was);
	}
	/* They are in the order in which they were made. */
	struct model_job *since = v->njobs ? v->job[v->njobs - 1].of->next : s->api.first;
	for (; since; since = since->next) {
		struct snap *never = model_api_edit(&s->api, since);
		never->gone = true;
		since->now = never;
		sim_reach(s, PATH_JOB_UNMADE);
	}
}

/* The same as before; or a kubelet finds that it is to run, or to end. */
static void put_back_pod(struct sim *s, struct model_pod *p, const struct model_pod *was)
{
	bool same = p->state == was->state;
	p->node = was->node;
	if (same && (p->state != POD_RUNNING || p->node >= 0 || !s->cluster.has_nodes))
		return;
	p->state = was->state;
	p->left_ms = pod_exists(p) ? 0 : s->now_ms;
	p->gone_ms = 0;
	p->ready = false;
	p->ends_ms = INT64_MAX;
	p->lasts_ms = rng_skewed(&s->restore.rng, 1, 60000);
	if (p->state == POD_TERMINATING)
		model_jobs_end_pod(s, p, rng_skewed(&s->restore.rng, 1, 20000));
	else if (p->state == POD_RUNNING && (!s->cluster.has_nodes || p->node >= 0))
		model_jobs_begin_pod(s, p);
	if (p->state == POD_RUNNING)
		sim_reach(s, PATH_POD_BACK);
}

static void put_back_pods(struct sim *s, const struct saved_store *v)
{
	for (size_t i = 0; i < v->npods; i++)
		put_back_pod(s, v->pod[i].of, &v->pod[i].was);
	struct model_pod *since = v->npods ? v->pod[v->npods - 1].of->next : s->jobs.first;
	for (; since; since = since->next) {
		since->left_ms = pod_exists(since) ? s->now_ms : since->left_ms;
		since->state = POD_GONE;
	}
}

/* ---- What the ledger says of them -------------------------------------------------------------
 */

static void disown(struct sim *s, const struct model_job *j, const struct model_run *run, bool more)
{
	struct model_run *own = (struct model_run *)run;
	if (own->outside)
		return;
	own->outside = own->returned = true;
	own->raised = more;
	sim_log(s, "attempt %d of %s runs again, %s", own->attempt, j->now->job.name,
		more ? "with more pods than are reserved" : "and has no reservation");
	sim_reach(s, PATH_RUN_BACK);
}

static int64_t pods_asked(const struct model_job *j)
{
	return j->now->job.suspend ? 0 : job_pods(&j->now->job);
}

/* Of what it has, or may make. */
static bool has_more(
	const struct sim *s, const struct model_job *j, const struct ledger_reservation *r)
{
	int64_t pods = greater(pods_asked(j), (int64_t)model_jobs_pods(&s->jobs, j));
	return model_jobs_are_beyond(j, pods, r);
}

/* A work queue of which a pod has succeeded keeps all pods that it has, whatever its parallelism says. Of
 * one that gave pods before the snapshot nothing tells that pods are back that had ended. */
static bool is_silent(const struct model_job *j, const struct ledger_reservation *r)
{
	return !j->now->job.has_completions && !model_jobs_are_beyond(j, pods_asked(j), r);
}

static void judge_run(struct sim *s, const struct model_job *j, const struct model_run *run)
{
	const struct model_reservation *h =
		run ? model_ledger_reservation(s->ledger, &j->now->job.uid, run->attempt) : NULL;
	if (!run || run->outside)
		return;
	if (!h || !h->open)
		disown(s, j, run, false);
	else if (has_more(s, j, &h->reservation)) {
		disown(s, j, run, true);
		((struct model_run *)run)->mistaken |= is_silent(j, &h->reservation);
	}
}

static void judge_runs(struct sim *s)
{
	for (const struct model_job *j = s->api.first; j; j = j->next)
		if (!j->now->gone && !j->now->job.suspend)
			judge_run(s, j, j->now->run);
	for (const struct model_pod *p = s->jobs.first; p; p = p->next)
		if (pod_exists(p))
			judge_run(s, p->of, p->run);
}

/* What the Job controller sees now, or is to see yet: it makes the pods of a start that was stopped since. */
static void judge_seen_yet(struct sim *s, const struct model_job *j)
{
	const struct snap *view = j ? j->controller.view : NULL;
	int64_t seen = view ? view->job.version : 0;
	for (size_t i = 0; j && i < s->api.nhistory; i++) {
		const struct snap *n = s->api.history[i].snap;
		if (n->of == j && n->job.version >= seen && !n->job.suspend)
			judge_run(s, j, n->run);
	}
}

void restore_given_back(struct sim *s, uint64_t born, const struct ledger_op *op)
{
	bool gives =
		op->kind == LEDGER_RELEASE || op->kind == LEDGER_VOID || op->kind == LEDGER_SHRINK;
	if (!gives || born == s->restore.store)
		return;
	const struct model_job *j = model_api_by_uid(&s->api, &op->uid);
	if (j && !j->now->gone && !j->now->job.suspend)
		judge_run(s, j, j->now->run);
	judge_seen_yet(s, j);
	for (const struct model_pod *p = s->jobs.first; p; p = p->next)
		if (p->of == j && pod_exists(p))
			judge_run(s, j, p->run);
}

/* Before the store went back that generation had another template. */
static bool is_mistaken(const struct sim *s, const struct model_job *j, int64_t generation)
{
	for (size_t i = 0; i < s->api.nhistory; i++) {
		const struct snap *n = s->api.history[i].snap;
		if (n->of != j || n->job.generation != generation)
			continue;
		for (size_t k = 0; k < JOB_RESOURCES; k++)
			if (n->request[k].amount != j->now->request[k].amount)
				return true;
	}
	return false;
}

/* A later leader had fenced that attempt off, and the store went back to before that. */
static bool is_fence_undone(const struct sim *s, const struct model_job *j, int32_t attempt)
{
	for (size_t i = 0; i < s->restore.from; i++) {
		const struct snap *n = s->api.history[i].snap;
		if (n->of == j && n->job.admission.state == STORY_FENCED &&
			n->job.admission.attempt == attempt)
			return true;
	}
	return false;
}

void restore_started(struct sim *s, uint64_t born, const struct model_job *j, int64_t generation)
{
	const struct model_run *run = j->now->run;
	const struct model_reservation *h =
		model_ledger_reservation(s->ledger, &j->now->job.uid, run->attempt);
	if (born == s->restore.store || !h)
		return;
	if (!h->open && is_fence_undone(s, j, run->attempt)) {
		disown(s, j, run, false);
	} else if (h->open && has_more(s, j, &h->reservation)) {
		disown(s, j, run, true);
		((struct model_run *)run)->mistaken = is_mistaken(s, j, generation);
	}
}

/* ---- It goes back -----------------------------------------------------------------------------
 */

static void put_back_cluster(struct sim *s, const struct saved_store *v)
{
	for (size_t i = 0; i < NODES; i++) {
		bool took = cluster_node_takes(&s->cluster.node[i]);
		s->cluster.node[i] = v->node[i];
		if (took && !cluster_node_takes(&s->cluster.node[i]))
			s->cluster.lessened_ms = s->now_ms;
	}
	cluster_schedule_anew(s);
	if (s->cluster.has_quotas)
		quotas_put_back(s, v->quota);
}

static void tell_replica(struct sim *s, struct replica *r)
{
	/* One that is cut off has no watch; it lists Jobs when that is over. */
	if (!r->up || !way_is_open(s, &r->to_api))
		return;
	replica_lose_watch(r, s->now_ms);
	/* A server that is away is tried every second. */
	replica_take_up(s, r, rng_between(&s->restore.rng, 1, 1500));
}

static void go_back(struct sim *s, const struct saved_store *v)
{
	struct restore *t = &s->restore;
	t->bumped = rng_odds(&t->rng, 5000);
	sim_log(s, "---- the API server goes back from version %lld to %lld, %s",
		(ll)s->api.version, (ll)v->version, t->bumped ? "bumped" : "as it was");
	sim_reach(s, t->bumped ? PATH_STORE_BACK_BUMPED : PATH_STORE_BACK);
	t->store++;
	t->at_ms = s->now_ms;
	t->from = s->api.nhistory;
	/* The parts of the control plane write first, as they come back. */
	s->api.version =
		(t->bumped ? s->api.version + BUMP : v->version) + rng_between(&t->rng, 10, 200);
	memcpy(s->people.config, v->config, sizeof(v->config));
	advance_put_back(s);
	put_back_jobs(s, v);
	put_back_pods(s, v);
	put_back_cluster(s, v);
	judge_runs(s);
	model_jobs_begin_anew(s, rng_between(&t->rng, 1, 5000));
	sim_touch(s);
	for (size_t i = 0; i < s->nreplicas; i++)
		tell_replica(s, &s->replica[i]);
}

static void goes_back(struct sim *s, void *arg)
{
	struct restore *t = &s->restore;
	(void)arg;
	if (s->calm)
		return;
	if (t->saved) {
		go_back(s, t->saved);
		forget(t->saved);
		t->saved = NULL;
	}
	sim_after(s, rng_between(&t->rng, 1, 2 * t->every_ms), goes_back, NULL);
}

void restore_begin(struct sim *s)
{
	struct restore *t = &s->restore;
	rng_seed(&t->rng, s->o.seed ^ SALT);
	if ((!rng_odds(&t->rng, 2000) || s->o.lending) && !s->o.restores)
		return;
	t->every_ms = rng_between(&t->rng, 5000, 60000);
	t->save_every_ms = rng_odds(&t->rng, 5000) ? rng_between(&t->rng, 500, 5000)
						   : rng_between(&t->rng, 5000, 40000);
	sim_after(s, rng_between(&t->rng, 1, 2 * t->every_ms), goes_back, NULL);
	sim_after(s, rng_between(&t->rng, 1, 2 * t->save_every_ms), saves, NULL);
}

void restore_done(struct sim *s)
{
	forget(s->restore.saved);
}

/* ---- What a controller learns -----------------------------------------------------------------
 */

bool restore_is_told(struct sim *s, struct replica *r, size_t *ret_from)
{
	const struct restore *t = &s->restore;
	if (s->api.version < r->reached) {
		sim_log(s, "%s hears that the API server is at %lld, it was at %lld", r->identity,
			(ll)s->api.version, (ll)r->reached);
		r->went_back = true;
		replica_step_soon(s, r);
		return true;
	}
	*ret_from = t->from;
	while (*ret_from < s->api.nhistory &&
		s->api.history[*ret_from].snap->job.version <= r->reached)
		++*ret_from;
	return false;
}

/* One that is let run, and that a stop would reach. Of one without a story it is asked first whether
 * it may be adopted, and nothing on it tells that it is not the attempt that has the reservation. */
static bool is_to_be_stopped(const struct sim *s, const struct model_job *j)
{
	const struct snap *n = j->now;
	const struct model_reservation *h = model_ledger_open_reservation(s->ledger, &n->job.uid);
	if (n->job.admission.state == STORY_NONE)
		return false;
	return !n->gone && n->job.queue[0] && !n->job.suspend && !n->job.deleting && n->run &&
	       n->run->outside && n->run->returned && !n->run->raised && !n->failing &&
	       !n->succeeding && !n->job.status.complete && !n->job.status.failed &&
	       (!h || h->reservation.attempt != n->run->attempt);
}

void restore_read(struct sim *s, const struct replica *r, const struct job *answer)
{
	struct model_job *j = model_api_by_uid(&s->api, &answer->uid);
	if (j && gate_leading(r->gate) && answer->version == j->now->job.version)
		j->read[r->index] = r->life;
}

/* It is seen as it was before its reservation, so its leader reads it first. */
static bool is_read_first(const struct sim *s, const struct replica *r, const struct model_job *j)
{
	const struct job *n = &j->now->job;
	const struct model_reservation *h = model_ledger_open_reservation(s->ledger, &n->uid);
	return h && n->admission.attempt < h->reservation.attempt && j->read[r->index] != r->life;
}

void restore_check_pass(struct sim *s, struct replica *r)
{
	struct gate_counts c;
	struct explanation x;
	if (s->restore.store == 0 || r->store != s->restore.store || !r->watching || !r->synced ||
		!gate_leading(r->gate) || r->cursor < s->api.nhistory)
		return;
	gate_count(r->gate, &c);
	/* What a ledger that has failed over lost is adopted at the next takeover. */
	if (c.queued_operations > 0 || failover_gap(s))
		return;
	for (const struct model_job *j = s->api.first; j; j = j->next) {
		if (!is_to_be_stopped(s, j) || is_read_first(s, r, j) ||
			model_api_find(&s->api, j->now->job.ns, j->now->job.name) != j)
			continue;
		sim_reach(s, PATH_RUN_BACK_SEEN);
		if (!gate_explain(r->gate, j->now->job.ns, j->now->job.name, s->now_ms + r->skew_ms,
			    &x) ||
			strncmp(x.sentence, "stopping: ", 10) != 0)
			sim_break(s, "P2",
				"%s/%s runs again and has no reservation: expected %s to be "
				"about to stop it after its pass, it says '%s'",
				j->now->job.ns, j->now->job.name, r->identity, x.sentence);
	}
}
