#include "test/sim/tenant.h"

#include <string.h>

#include "test/sim/sim.h"

#define SALT 0x74656e616e74 /* "tenant" */
#define RAISE_MAX 40

/* ---- What he does ------------------------------------------------------------------------------
 */

enum own {
	OWN_WAITS,
	OWN_RUNS, /* let in or not */
	OWN_HOLDS,
};

static bool is_such(const struct sim *s, const struct model_job *j, enum own which)
{
	if (!j->hostile || j->now->gone || j->now->job.deleting ||
		j->now->job.suspend != (which == OWN_WAITS))
		return false;
	return which != OWN_HOLDS || model_ledger_open_reservation(s->ledger, &j->now->job.uid);
}

static struct model_job *draw_own(struct sim *s, enum own which)
{
	struct model_job *pick = NULL;
	int64_t seen = 0;
	for (struct model_job *j = s->api.first; j; j = j->next)
		if (is_such(s, j, which) && rng_between(&s->tenant.rng, 0, seen++) == 0)
			pick = j;
	return pick;
}

static void make_past(struct sim *s, struct snap *n)
{
	struct model_run *run = sim_alloc(s, sizeof(*run));
	*run = (struct model_run){.outside = true, .landed_ms = s->now_ms};
	n->job.suspend = false;
	n->run = run;
	sim_reach(s, PATH_TENANT_PAST);
}

static void twist(struct sim *s, struct snap *n)
{
	struct rng *r = &s->tenant.rng;
	if (rng_odds(r, 4000))
		make_past(s, n);
	if (rng_odds(r, 3000))
		n->job.parallelism = (int32_t)rng_between(r, 1, 8);
	n->job.completions_follow = n->job.indexed && n->job.completions == n->job.parallelism;
	if (n->job.min_parallelism >= n->job.parallelism)
		n->job.min_parallelism = 0;
	if (!rng_odds(r, 2500))
		return;
	n->job.uncontrolled = true;
	n->job.invalid = "its pods could not be counted or stopped";
	sim_reach(s, PATH_TENANT_UNCONTROLLED);
}

static void submits(struct sim *s)
{
	struct rng *r = &s->tenant.rng;
	struct model_job *j = people_submit(s, twist);
	j->hostile = true;
	j->child = !j->now->job.suspend && rng_odds(r, 7000);
	j->external = j->now->job.uncontrolled && rng_odds(r, 4000);
	j->unlabelled = j->now->job.uncontrolled && !j->external;
}

/* For how many pods it holds quota; 0: for none. */
static int64_t pods_held(const struct sim *s, const struct model_job *j)
{
	const struct model_reservation *h =
		model_ledger_open_reservation(s->ledger, &j->now->job.uid);
	int64_t cpu = j->now->request[0].amount;
	for (size_t i = 0; h && i < h->reservation.nlines; i++)
		if (!strcmp(h->reservation.lines[i].resource, "cpu"))
			return h->reservation.lines[i].amount / cpu;
	return 0;
}

/* From now on its pods may be more than are reserved. */
static void tenant_run_raised(struct sim *s, struct snap *n)
{
	struct model_run *run = sim_alloc(s, sizeof(*run));
	*run = *n->run;
	run->raised = true;
	run->outside = true;
	n->run = run;
}

bool tenant_reapplies(struct sim *s, struct model_job *j)
{
	struct snap *n = model_api_edit(&s->api, j);
	if (!n->run || n->succeeding || n->failing || n->job.status.complete ||
		n->job.status.failed || !snap_reapply(n))
		return false;
	tenant_run_raised(s, n);
	sim_reach(s, PATH_REAPPLIED_NARROWED);
	sim_log(s, "user   applies the manifest of %s again: %d pods, it goes on with %d",
		n->job.name, n->job.parallelism, n->applied);
	model_api_write(&s->api, n, true);
	return true;
}

static void raises(struct sim *s, struct model_job *j)
{
	if (j->index % 2 == 0 && tenant_reapplies(s, j))
		return;
	struct snap *n = model_api_edit(&s->api, j);
	snap_disown(n);
	n->job.parallelism += (int32_t)rng_between(&s->tenant.rng, 0, RAISE_MAX);
	if (n->job.indexed)
		n->job.completions = n->job.parallelism; /* Kubernetes: both together */
	n->job.completions_follow = false;
	n->job.min_parallelism = 0;
	int64_t held = pods_held(s, j);
	if (held == 0 || job_pods(&n->job) <= held || n->job.status.complete ||
		n->job.status.failed || !n->run || n->succeeding || n->failing)
		return;
	tenant_run_raised(s, n);
	j->wrote = n->job.parallelism;
	sim_reach(s, PATH_TENANT_RAISED);
	sim_log(s, "tenant raises %s to %d pods, it holds quota for %lld", n->job.name,
		job_pods(&n->job), (long long)held);
	model_api_write(&s->api, n, true);
}

static void deletes_and_keeps(struct sim *s, struct model_job *j)
{
	struct snap *n = model_api_edit(&s->api, j);
	j->kept = true;
	n->job.deleting = true;
	n->job.finalizer = "example.com/keep";
	if (model_ledger_open_reservation(s->ledger, &n->job.uid))
		sim_reach(s, PATH_TENANT_KEPT);
	sim_log(s, "tenant deletes %s, and keeps it by a finalizer", n->job.name);
	model_api_write(&s->api, n, false);
}

static void deletes_and_orphans(struct sim *s, struct model_job *j)
{
	sim_reach(s, PATH_TENANT_ORPHANED);
	sim_log(s, "tenant deletes %s without its pods", j->now->job.name);
	people_delete_orphaning(s, j);
}

static void acts(struct sim *s, void *arg)
{
	(void)arg;
	if (s->calm)
		return;
	struct rng *r = &s->tenant.rng;
	int64_t what = rng_between(r, 0, 99);
	struct model_job *runs = draw_own(s, OWN_RUNS), *holds = draw_own(s, OWN_HOLDS);
	struct model_job *waits = draw_own(s, OWN_WAITS);
	if (what < 30 || (!runs && !waits)) {
		if (s->people.alive < JOBS_MAX)
			submits(s);
	} else if (what < 60 && holds) {
		raises(s, holds);
	} else if (what < 72 && runs) {
		deletes_and_keeps(s, runs);
	} else if (what < 78 && runs) {
		deletes_and_orphans(s, runs);
	} else if (waits) {
		people_unsuspend(s, waits);
	}
	sim_after(s, rng_between(r, 1, 2 * s->tenant.every_ms), acts, NULL);
}

void tenant_begin(struct sim *s)
{
	struct tenant *t = &s->tenant;
	rng_seed(&t->rng, s->o.seed ^ SALT);
	t->on = rng_odds(&t->rng, 3300) && !s->o.lending;
	t->every_ms = rng_between(&t->rng, 500, 6000);
	if (t->on)
		sim_after(s, 1, acts, NULL);
}

/* ---- What is seen of it ------------------------------------------------------------------------
 */

void tenant_show(struct sim *s, size_t replica, uint64_t life, struct job *j)
{
	struct model_job *of = model_api_by_uid(&s->api, &j->uid);
	if (s->o.bug == BUG_DELETION_UNTOLD) {
		j->deleting = false;
		j->finalizer = NULL;
	}
	if (s->o.bug == BUG_CONTROL_UNSEEN) {
		j->uncontrolled = false;
		j->invalid = NULL;
	}
	if (s->o.bug == BUG_ENDING_UNSEEN)
		j->status.ending = false;
	if (s->o.bug == BUG_REAPPLY_UNSEEN && of && j->admission.reapplied) {
		j->parallelism = of->now->applied;
		j->admission.reapplied = false;
	}
	if (of && j->deleting)
		of->told[replica] = life;
}

bool tenant_hides_pods(const struct sim *s, const struct model_job *j)
{
	return j->unlabelled || (s->o.bug == BUG_KEPT_UNCOUNTED && j->kept) ||
	       (s->o.bug == BUG_ORPHANS_UNCOUNTED && j->orphaned);
}

bool tenant_is_no_child(void *sim, const struct job *j)
{
	const struct sim *s = sim;
	const struct model_job *of = model_api_by_uid(&s->api, &j->uid);
	return j->queue[0] != '\0' && !(of && of->child);
}
