#include "test/sim/people.h"

#include <stdio.h>
#include <string.h>

#include "test/sim/min_run.h"
#include "test/sim/sim.h"
#include "test/sim/windows.h"

#define GIB ((int64_t)1 << 30)

const char *const namespace_names[NAMESPACES] = {"team-a", "team-b"};
const char *const flavor_names[FLAVORS] = {"spot", "on-demand", "gpu"};
const char *const cohort_names[COHORTS] = {"org", "left", "right"};
const char *const class_names[CLASSES] = {"low", "mid", "high"};
const char *const clusterqueue_names[CLUSTERQUEUES] = {"batch", "nightly", "research"};
const char *const localqueue_names[LOCALQUEUES] = {
	"a-batch", "a-nightly", "a-research", "b-batch", "b-research"};

size_t localqueue_namespace(size_t index)
{
	return index >= 3;
}

size_t config_count(enum config_kind k)
{
	static const size_t count[] = {NAMESPACES, FLAVORS, CLASSES, COHORTS, CLUSTERQUEUES,
		LOCALQUEUES, CALENDARS, RUNPOLICIES, PLANS, BUDGETS, ADVANCES};
	return count[k];
}

/* ---- Admins -------------------------------------------------------------------------------------
 */

void people_changed(struct sim *s, struct config *c)
{
	c->generation++;
	for (size_t i = 0; i < s->nreplicas; i++)
		replica_hear_config(s, &s->replica[i], c);
	sim_touch(s);
}

static void draw_quota(struct sim *s, struct config *c)
{
	for (size_t i = 0; i < 2; i++) {
		c->cpu[i] = rng_between(&s->rng, 4, 24) * 500;
		c->memory[i] = rng_between(&s->rng, 4, 24) * GIB;
		c->pods[i] = rng_between(&s->rng, 3, 12);
	}
	c->gpu = rng_between(&s->rng, 0, 8);
}

static int draw_limit(struct sim *s)
{
	return rng_odds(&s->rng, 3000) ? (int)rng_between(&s->rng, 0, 100) : -1;
}

static void draw_preemption(struct sim *s, struct config *c)
{
	static const enum preemption_policy within[] = {
		PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY, PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY};
	static const enum preemption_policy reclaim[] = {
		PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY, PREEMPT_ANY};
	c->preemption = (struct preemption_spec){
		.within_clusterqueue = within[rng_between(&s->rng, 0, 2)],
		.reclaim_within_cohort =
			c->cohort >= 0 ? reclaim[rng_between(&s->rng, 0, 2)] : PREEMPT_NEVER,
	};
	if (c->preemption.reclaim_within_cohort == PREEMPT_NEVER)
		return;
	c->preemption.borrow_within_cohort = rng_odds(&s->rng, 3000);
	c->preemption.has_max_priority =
		c->preemption.borrow_within_cohort && rng_odds(&s->rng, 5000);
	c->preemption.max_priority = (int32_t)rng_between(&s->rng, -50, 50);
}

static void draw_place(struct sim *s, struct config *c)
{
	c->cohort = s->people.cohorts && rng_odds(&s->rng, 8500)
			    ? (int)rng_between(&s->rng, 0, COHORTS - 1)
			    : -1;
	c->lend = c->cohort >= 0 ? draw_limit(s) : -1;
	c->borrow = c->cohort >= 0 ? draw_limit(s) : -1;
	c->weight = rng_odds(&s->rng, 7000) ? 1 : (double)rng_between(&s->rng, 0, 3);
	if (s->o.lending) {
		c->cohort = 0;
		c->lend = c->borrow = -1;
	}
}

static void draw_cohort(struct sim *s, struct config *c)
{
	c->exists = true;
	c->has_quota = rng_odds(&s->rng, 5000);
	c->cohort = c->index > 0 && rng_odds(&s->rng, 8000) ? 0 : -1;
	if (c->index == 0 && rng_odds(&s->rng, 300)) {
		c->cohort =
			(int)rng_between(&s->rng, 0, COHORTS - 1); /* a circle, as like as not */
		sim_reach(s, PATH_COHORT_CIRCLE);
	}
	c->lend = c->borrow = -1;
	c->weight = rng_odds(&s->rng, 7000) ? 1 : (double)rng_between(&s->rng, 0, 3);
	if (s->o.lending)
		c->cohort = -1;
	draw_quota(s, c);
}

/* What take_back.h can judge: one flavor, of which only cpu lacks, and policies that take back. */
static void lend_all(struct config *c)
{
	c->strategy = BEST_EFFORT_FIFO;
	c->nflavors = 1;
	c->flavor[0] = 1;
	c->flavor[1] = 0;
	c->covers_gpu = c->covers_pods = false;
	c->memory[0] = 1000 * GIB;
	if (c->preemption.reclaim_within_cohort == PREEMPT_NEVER)
		c->preemption.reclaim_within_cohort = PREEMPT_LOWER_PRIORITY;
}

static void draw_clusterqueue(struct sim *s, struct config *c)
{
	c->exists = true;
	draw_place(s, c);
	draw_preemption(s, c);
	c->fungibility.next_when_borrowing = rng_odds(&s->rng, 3000);
	c->fungibility.stop_when_preempting = rng_odds(&s->rng, 3000);
	c->strategy = rng_odds(&s->rng, 3000) ? STRICT_FIFO : BEST_EFFORT_FIFO;
	c->nflavors = (size_t)rng_between(&s->rng, 1, 2);
	c->flavor[0] = (size_t)rng_between(&s->rng, 0, 1);
	c->flavor[1] = 1 - c->flavor[0];
	c->covers_gpu = rng_odds(&s->rng, 6000);
	c->covers_pods = rng_odds(&s->rng, 5000) && !s->lent.on; /* idle room is cpu and memory */
	draw_quota(s, c);
	min_run_draw(s, c);
	growing_draw_queue(s, c);
	if (s->o.lending)
		lend_all(c);
}

/* True when the ledger holds more of some row than the new quota. */
static bool below_use(const struct sim *s, const struct config *c)
{
	char node[40];
	snprintf(node, sizeof(node), "cq/%s", clusterqueue_names[c->index]);
	for (size_t i = 0; i < c->nflavors; i++) {
		const char *f = flavor_names[c->flavor[i]];
		if (model_ledger_use(s->ledger, node, f, "cpu") > c->cpu[i] ||
			model_ledger_use(s->ledger, node, f, "memory") > c->memory[i])
			return true;
	}
	return false;
}

static void admin_clusterqueue(struct sim *s, struct config *c)
{
	int64_t what = rng_between(&s->rng, 0, 9);
	if (!c->exists) {
		draw_clusterqueue(s, c);
		c->stop = STOP_NONE;
	} else if (what < 5) {
		draw_quota(s, c);
		if (s->o.lending)
			lend_all(c);
		if (below_use(s, c))
			sim_reach(s, PATH_QUOTA_UNDER_USE);
	} else if (what < 8) {
		c->stop = rng_odds(&s->rng, 5000)   ? STOP_NONE
			  : rng_odds(&s->rng, 5000) ? STOP_HOLD
						    : STOP_HOLD_AND_DRAIN;
		if (c->stop == STOP_HOLD_AND_DRAIN)
			sim_reach(s, PATH_QUEUE_DRAINED);
	} else if (what < 9) {
		draw_clusterqueue(s, c); /* other flavors, other strategy */
	} else {
		c->exists = false;
		sim_reach(s, PATH_QUEUE_DELETED);
	}
	sim_log(s, "admin  clusterqueue %s %s in %s stop=%d cpu=%lld,%lld",
		clusterqueue_names[c->index], c->exists ? "is" : "deleted",
		c->cohort < 0 ? "no cohort" : cohort_names[c->cohort], c->stop,
		(long long)c->cpu[0], (long long)c->cpu[1]);
	people_changed(s, c);
}

static void admin_cohort(struct sim *s, struct config *c)
{
	if (rng_odds(&s->rng, 2000))
		c->exists = false;
	else
		draw_cohort(s, c);
	sim_log(s, "admin  cohort %s %s below %s cpu=%lld,%lld", cohort_names[c->index],
		c->exists ? "is" : "deleted", c->cohort < 0 ? "nobody" : cohort_names[c->cohort],
		c->has_quota ? (long long)c->cpu[0] : 0, c->has_quota ? (long long)c->cpu[1] : 0);
	people_changed(s, c);
}

static void admin_acts(struct sim *s, void *arg)
{
	(void)arg;
	if (s->calm)
		return;
	struct people *p = &s->people;
	int64_t what = rng_between(&s->rng, 0, 9);
	if (p->cohorts && rng_odds(&s->rng, 1500)) {
		admin_cohort(s, &p->config[CONFIG_COHORT][rng_between(&s->rng, 0, COHORTS - 1)]);
	} else if (p->time && rng_odds(&s->rng, 4000)) {
		windows_edit(s);
	} else if (what < 6) {
		admin_clusterqueue(s, &p->config[CONFIG_CLUSTERQUEUE]
						[rng_between(&s->rng, 0, CLUSTERQUEUES - 1)]);
	} else if (what < 8) {
		struct config *c =
			&p->config[CONFIG_LOCALQUEUE][rng_between(&s->rng, 0, LOCALQUEUES - 1)];
		c->exists = rng_odds(&s->rng, 8500);
		c->stop = rng_odds(&s->rng, 6000) ? STOP_NONE
						  : (enum stop_policy)rng_between(&s->rng, 1, 2);
		sim_log(s, "admin  localqueue %s %s stop=%d", localqueue_names[c->index],
			c->exists ? "is" : "deleted", c->stop);
		people_changed(s, c);
	} else if (what < 9) {
		struct config *c = &p->config[CONFIG_CLASS][rng_between(&s->rng, 0, CLASSES - 1)];
		c->exists = rng_odds(&s->rng, 8000);
		c->value = (int32_t)rng_between(&s->rng, -100, 100);
		sim_log(s, "admin  class %s %s value=%d", class_names[c->index],
			c->exists ? "is" : "deleted", c->value);
		people_changed(s, c);
	} else {
		struct config *c = &p->config[CONFIG_FLAVOR][rng_between(&s->rng, 0, FLAVORS - 1)];
		/* What is lent no more has no quota, and nothing here says so. */
		c->exists = rng_odds(&s->rng, 7000) || (s->lent.on && c->index == IDLE_FLAVOR);
		sim_log(s, "admin  flavor %s %s", flavor_names[c->index],
			c->exists ? "is" : "deleted");
		people_changed(s, c);
	}
	sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.admins_every_ms), admin_acts, NULL);
}

/* ---- Users --------------------------------------------------------------------------------------
 */

/* Some would rather start with fewer pods than wait. */
static void draw_partial(struct sim *s, struct snap *n)
{
	n->job.min_parallelism = 0;
	if (n->job.parallelism > 1 && rng_odds(&s->rng, 2500))
		n->job.min_parallelism = (int32_t)rng_between(&s->rng, 1, n->job.parallelism - 1);
	n->job.completions_follow = n->job.indexed && n->job.completions == n->job.parallelism;
}

static void draw_requests(struct sim *s, struct snap *n)
{
	size_t k = 0;
	n->request[k++] = (struct resource){"cpu", rng_between(&s->rng, 1, 8) * 250};
	if (rng_odds(&s->rng, 7000))
		n->request[k++] = (struct resource){"memory", rng_between(&s->rng, 1, 4) * GIB};
	if (rng_odds(&s->rng, 1000))
		n->request[k++] = (struct resource){"gpu", rng_between(&s->rng, 1, 2)};
	n->container.requests = (struct resource_list){n->request, k};
	n->job.parallelism = (int32_t)rng_between(&s->rng, 1, 4);
	n->job.has_completions = rng_odds(&s->rng, 8500);
	n->job.indexed = n->job.has_completions && rng_odds(&s->rng, 3000);
	n->job.completions = (int32_t)rng_between(&s->rng, 1, 6);
	if (!n->job.has_completions)
		n->job.completions = 0;
	draw_partial(s, n);
	cluster_draw(s, n);
}

static void draw_queue(struct sim *s, struct snap *n)
{
	size_t lq = (size_t)rng_between(&s->rng, 0, LOCALQUEUES - 1);
	n->job.queue = localqueue_names[lq];
	n->job.ns = namespace_names[localqueue_namespace(lq)];
	if (rng_odds(&s->rng, 300))
		n->job.queue = "no-such-queue";
}

/* A name that was used before, by a Job that is gone, or a new one. */
static const char *draw_name(struct sim *s, const char *ns)
{
	for (struct model_job *j = s->api.first; j && rng_odds(&s->rng, 9000); j = j->next)
		if (j->now->gone && !strcmp(j->now->job.ns, ns) &&
			!model_api_find(&s->api, ns, j->now->job.name)) {
			sim_reach(s, PATH_REBORN);
			return j->now->job.name;
		}
	char *name = sim_alloc(s, 16);
	snprintf(name, 16, "job-%zu", s->people.submitted);
	return name;
}

static struct model_job *draw_job(struct sim *s)
{
	struct model_job *pick = NULL;
	int64_t seen = 0;
	for (struct model_job *j = s->api.first; j; j = j->next)
		if (!j->now->gone && rng_between(&s->rng, 0, seen++) == 0)
			pick = j;
	s->people.alive = (size_t)seen;
	return pick;
}

/* As a child of a Job that runs, it gets past an older admission policy, unsuspended. */
static void draw_owner(struct sim *s, struct snap *n)
{
	struct model_job *o = draw_job(s);
	if (!o || strcmp(o->now->job.ns, n->job.ns) || o->now->job.suspend)
		return;
	struct model_run *run = sim_alloc(s, sizeof(*run));
	*run = (struct model_run){.outside = true, .landed_ms = s->now_ms};
	n->job.suspend = false;
	n->run = run;
	sim_reach(s, PATH_CHILD);
}

struct model_job *people_submit(struct sim *s, void (*twist)(struct sim *s, struct snap *n))
{
	struct snap n = {0};
	draw_queue(s, &n);
	draw_requests(s, &n);
	n.job.name = draw_name(s, n.job.ns);
	n.job.created_ms = s->now_ms / 1000 * 1000;
	n.job.priority_class =
		rng_odds(&s->rng, 5000) ? class_names[rng_between(&s->rng, 0, CLASSES - 1)] : "";
	n.job.pod_priority_class = "";
	n.job.suspend = true; /* the admission policy sees to it */
	if (rng_odds(&s->rng, 500))
		n.job.hold = "wait for me";
	if (rng_odds(&s->rng, 800))
		n.job.durations.max_run_ms = rng_between(&s->rng, 5, 90) * 1000;
	windows_draw_terms(s, &n);
	bookings_draw(s, &n);
	lent_draw(s, &n);
	growing_draw(s, &n);
	if (rng_odds(&s->rng, 300))
		draw_owner(s, &n);
	pipelines_draw(s, &n);
	if (twist)
		twist(s, &n);
	s->people.submitted++;
	users_draw(s, &n);
	struct model_job *j = model_api_create(&s->api, &n);
	j->wrote = n.job.parallelism;
	j->sickly = s->people.queue.pods_ready_timeout_ms > 0 && rng_odds(&s->rng, 1500);
	j->backoff_limit = (int32_t)rng_between(&s->rng, 0, 3);
	sim_log(s, "user   submits %s/%s to %s: %d pods of %lldm", n.job.ns, n.job.name,
		n.job.queue, n.job.parallelism, (long long)n.request[0].amount);
	return j;
}

void people_delete_orphaning(struct sim *s, struct model_job *j)
{
	j->orphaned = true;
	struct snap *n = model_api_edit(&s->api, j);
	n->job.deleting = true;
	n->job.finalizer = "orphan";
	model_api_write(&s->api, n, false);
}

static void user_deletes(struct sim *s, struct model_job *j)
{
	const struct model_reservation *h =
		model_ledger_open_reservation(s->ledger, &j->now->job.uid);
	if (!h)
		sim_reach(s, PATH_DELETE_WAITING);
	else if (h->reservation.state == LEDGER_PENDING)
		sim_reach(s, j->now->job.suspend ? PATH_DELETE_PENDING : PATH_DELETE_STARTED);
	else
		sim_reach(s, h->reservation.state == LEDGER_POSTED ? PATH_DELETE_RUNNING
								   : PATH_DELETE_DRAINING);
	bool slow = rng_odds(&s->rng, 2000);
	sim_log(s, "user   deletes %s%s", j->now->job.name, slow ? " (slowly)" : "");
	if (!slow) {
		model_api_remove(&s->api, j);
		return;
	}
	sim_reach(s, PATH_DELETE_SLOW);
	j->orphaned = rng_odds(&s->rng, 5000);
	struct snap *n = model_api_edit(&s->api, j);
	n->job.deleting = true;
	n->job.finalizer = j->orphaned ? "orphan" : NULL;
	model_api_write(&s->api, n, false);
}

static void user_edits(struct sim *s, struct model_job *j)
{
	if (!j->now->job.suspend || j->now->job.status.active)
		return; /* the API server lets templates change only while suspended */
	if (model_ledger_open_reservation(s->ledger, &j->now->job.uid))
		sim_reach(s, PATH_EDIT_PENDING);
	struct snap *n = model_api_edit(&s->api, j);
	snap_disown(n);
	bool indexed = n->job.indexed, has = n->job.has_completions;
	int32_t completions = n->job.completions;
	draw_requests(s, n);
	j->wrote = n->job.parallelism;
	n->job.indexed = indexed; /* immutable */
	n->job.has_completions = has;
	n->job.completions = completions;
	n->job.completions_follow = indexed && has && completions == n->job.parallelism;
	lent_edit(s, n);
	sim_log(s, "user   edits %s: %d pods of %lldm", n->job.name, n->job.parallelism,
		(long long)n->request[0].amount);
	model_api_write(&s->api, n, true);
}

/* Of a Job that runs: Kubernetes allows that at any time. */
static void user_narrows(struct sim *s, struct model_job *j)
{
	if (!s->lent.on || j->now->job.suspend || j->now->job.parallelism < 2)
		return;
	if (j->index % 2 == 0 && tenant_reapplies(s, j))
		return;
	struct snap *n = model_api_edit(&s->api, j);
	snap_disown(n);
	if (n->job.parallelism < 2 || n->job.completions_follow)
		return;
	n->job.parallelism--;
	n->job.min_parallelism = 0;
	j->wrote = n->job.parallelism;
	j->lowered = true;
	sim_reach(s, PATH_NARROWED_BY_OWNER);
	sim_log(s, "user   lowers %s to %d pods", n->job.name, n->job.parallelism);
	model_api_write(&s->api, n, true);
}

static void user_suspends(struct sim *s, struct model_job *j)
{
	if (j->now->job.suspend)
		return;
	sim_reach(s, PATH_USER_SUSPEND);
	if (j->now->job.status.suspended)
		sim_reach(s, PATH_USER_SUSPEND_EARLY);
	sim_log(s, "user   suspends %s", j->now->job.name);
	struct snap *n = model_api_edit(&s->api, j);
	snap_suspend(n, true);
	/* Now and then it is a tool that applies the manifest again. */
	n->job.suspended_by_person = s->api.version % 4 != 0;
	if (!n->job.suspended_by_person)
		sim_reach(s, PATH_REAPPLIED);
	model_api_write(&s->api, n, true);
}

static void user_holds(struct sim *s, struct model_job *j)
{
	struct snap *n = model_api_edit(&s->api, j);
	n->job.hold = n->job.hold ? NULL : "by hand";
	j->unready = 0; /* to begin anew is what taking a hold off means */
	if (n->job.hold && !n->job.suspend)
		sim_reach(s, PATH_HOLD_RUNNING);
	sim_log(s, "user   %s %s", n->job.hold ? "holds" : "unholds", n->job.name);
	model_api_write(&s->api, n, false);
}

static void user_moves(struct sim *s, struct model_job *j)
{
	struct snap *n = model_api_edit(&s->api, j);
	bool held = model_ledger_open_reservation(s->ledger, &j->now->job.uid);
	if (n->job.queue[0] && rng_odds(&s->rng, 4000)) {
		n->job.queue = "";
		if (held)
			sim_reach(s, PATH_UNLABEL_HELD);
	} else {
		do
			n->job.queue = localqueue_names[rng_between(&s->rng, 0, LOCALQUEUES - 1)];
		while (rng_odds(&s->rng, 5000));
		if (held)
			sim_reach(s, PATH_MOVE_HELD);
	}
	sim_log(s, "user   moves %s to '%s'", n->job.name, n->job.queue);
	model_api_write(&s->api, n, false);
}

static void user_reclasses(struct sim *s, struct model_job *j)
{
	struct snap *n = model_api_edit(&s->api, j);
	n->job.priority_class = class_names[rng_between(&s->rng, 0, CLASSES - 1)];
	sim_log(s, "user   makes %s %s", n->job.name, n->job.priority_class);
	model_api_write(&s->api, n, false);
}

void people_unsuspend(struct sim *s, struct model_job *j)
{
	if (!j->now->job.suspend || j->now->job.deleting)
		return;
	sim_reach(s, PATH_BYPASS);
	sim_log(s, "someone unsuspends %s", j->now->job.name);
	struct model_run *run = sim_alloc(s, sizeof(*run));
	*run = (struct model_run){.outside = true, .landed_ms = s->now_ms};
	struct snap *n = model_api_edit(&s->api, j);
	snap_suspend(n, false);
	n->run = run;
	model_api_write(&s->api, n, true);
}

/* A user replaces the object by one without annotations, or writes nonsense into ours. */
static void vandal_acts(struct sim *s, struct model_job *j)
{
	if (!j->now->job.admission.story)
		return;
	struct snap *n = model_api_edit(&s->api, j);
	n->job.admission.story = n->job.annotations.waiting = NULL;
	n->job.admission.state = STORY_NONE;
	n->job.admission.attempt = 0;
	n->job.admission.epoch = 0;
	n->job.admission.history = (struct job_history){0};
	snap_disown(n);
	n->job.hold = NULL;
	j->vandalized = true;
	sim_log(s, "someone takes the annotations off %s", n->job.name);
	model_api_write(&s->api, n, false);
}

static void user_acts(struct sim *s, void *arg)
{
	(void)arg;
	if (s->calm)
		return;
	struct model_job *j = draw_job(s);
	int64_t what = rng_between(&s->rng, 0, 99);
	if (j && rng_odds(&s->rng, s->faults.bypass))
		people_unsuspend(s, j);
	else if (j && rng_odds(&s->rng, s->faults.vandal))
		vandal_acts(s, j);
	else if (!j || (what < 50 && s->people.alive < JOBS_MAX))
		people_submit(s, NULL);
	else if (what < 66)
		user_deletes(s, j);
	else if (what < 76 && !j->now->job.suspend)
		user_narrows(s, j);
	else if (what < 76)
		user_edits(s, j);
	else if (what < 84)
		user_suspends(s, j);
	else if (what < 91)
		user_holds(s, j);
	else if (what < 96)
		user_moves(s, j);
	else
		user_reclasses(s, j);
	sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.people_every_ms), user_acts, NULL);
}

/* ---- The tree of quota
 * ---------------------------------------------------------------------------
 */

void config_node(const struct config *c, char ret[40])
{
	snprintf(ret, 40, "%s%s", c->kind == CONFIG_COHORT ? "cohort/" : "cq/",
		c->kind == CONFIG_COHORT ? cohort_names[c->index] : clusterqueue_names[c->index]);
}

/* A Cohort that is only named has no parent. */
const struct config *config_parent(const struct people *p, const struct config *c)
{
	return c->exists && c->cohort >= 0 ? &p->config[CONFIG_COHORT][c->cohort] : NULL;
}

bool config_is_cyclic(const struct people *p, const struct config *c)
{
	for (size_t steps = 0; c; steps++, c = config_parent(p, c))
		if (steps > COHORTS)
			return true;
	return false;
}

int64_t quota_nominal(const struct quota_row_of *r)
{
	const struct config *c = r->node;
	bool cohort = c->kind == CONFIG_COHORT;
	if (!c->exists || (cohort && !c->has_quota))
		return 0;
	if (!strcmp(r->flavor, flavor_names[GPU_FLAVOR]))
		return !cohort && c->covers_gpu && !strcmp(r->resource, "gpu") ? c->gpu : 0;
	for (size_t k = 0; k < (cohort ? 2 : c->nflavors); k++) {
		if (strcmp(r->flavor, flavor_names[cohort ? k : c->flavor[k]]))
			continue;
		return !strcmp(r->resource, "cpu")				   ? c->cpu[k]
		       : !strcmp(r->resource, "memory")				   ? c->memory[k]
		       : !cohort && !strcmp(r->resource, "pods") && c->covers_pods ? c->pods[k]
										   : 0;
	}
	return 0;
}

/* What percent of its quota in cpu or memory; the other resources have no limits. */
static int64_t limit_of(const struct quota_row_of *r, int percent)
{
	if (percent < 0 || (strcmp(r->resource, "cpu") && strcmp(r->resource, "memory")))
		return QUOTA_UNLIMITED;
	return quota_nominal(r) / 100 * percent;
}

int64_t quota_borrowing_limit(const struct people *p, const struct quota_row_of *r)
{
	(void)p;
	return limit_of(r, r->node->borrow);
}

int64_t quota_subtree(const struct people *p, const struct quota_row_of *r)
{
	int64_t sum = quota_nominal(r);
	for (int k = 0; r->node->kind == CONFIG_COHORT && k < 2; k++) {
		enum config_kind kind = k ? CONFIG_CLUSTERQUEUE : CONFIG_COHORT;
		for (size_t i = 0; i < config_count(kind); i++) {
			struct quota_row_of child = {&p->config[kind][i], r->flavor, r->resource};
			if (config_parent(p, child.node) == r->node)
				sum += quota_subtree(p, &child) - quota_local(p, &child);
		}
	}
	return sum;
}

int64_t quota_local(const struct people *p, const struct quota_row_of *r)
{
	int64_t limit = limit_of(r, r->node->lend), subtree;
	if (!config_parent(p, r->node) || limit == QUOTA_UNLIMITED)
		return 0;
	subtree = quota_subtree(p, r);
	return subtree > limit ? subtree - limit : 0;
}

/* Half of all worlds watch for readiness, a third share fairly; a limit of requeues there must be,
 * or those whose pods never get ready would never come to rest. */
static void draw_flags(struct sim *s)
{
	struct queue_config *c = &s->people.queue;
	queue_config_default(c);
	s->people.cohorts = rng_odds(&s->rng, 6500) || s->o.lending;
	c->fair_sharing = rng_odds(&s->rng, 3500) && !s->o.lending;
	if (rng_odds(&s->rng, 5000))
		return;
	c->pods_ready_timeout_ms = rng_between(&s->rng, 5, 40) * 1000;
	c->recovery_timeout_ms = rng_odds(&s->rng, 5000) ? rng_between(&s->rng, 5, 40) * 1000 : 0;
	c->back_off_base_ms = rng_between(&s->rng, 1, 5) * 1000;
	c->back_off_max_ms = rng_between(&s->rng, 5, 20) * 1000;
	c->back_off_limit = (int32_t)rng_between(&s->rng, 0, 3);
	c->requeue_at_creation = rng_odds(&s->rng, 5000);
}

void people_begin(struct sim *s)
{
	struct people *p = &s->people;
	for (enum config_kind k = 0; k < CONFIG_KINDS; k++)
		for (size_t i = 0; i < config_count(k); i++)
			p->config[k][i] = (struct config){
				.kind = k, .index = i, .exists = true, .generation = 1};
	for (size_t i = 0; i < CLASSES; i++)
		p->config[CONFIG_CLASS][i].value = (int32_t)i * 10;
	draw_flags(s);
	min_run_begin(s);
	growing_begin(s);
	window_quota_begin(s);
	bookings_begin(s);
	users_begin(s);
	for (size_t i = 0; i < COHORTS; i++)
		draw_cohort(s, &p->config[CONFIG_COHORT][i]);
	for (size_t i = 0; i < CLUSTERQUEUES; i++)
		draw_clusterqueue(s, &p->config[CONFIG_CLUSTERQUEUE][i]);
	static const size_t of[LOCALQUEUES] = {0, 1, 2, 0, 2};
	for (size_t i = 0; i < LOCALQUEUES; i++)
		p->config[CONFIG_LOCALQUEUE][i].clusterqueue = of[i];
	windows_begin(s);
	advance_begin(s);
	for (int64_t n = rng_between(&s->rng, 0, 12); n > 0; n--)
		people_submit(s, NULL);
	sim_after(s, 1, user_acts, NULL);
	if (s->faults.admins_every_ms)
		sim_after(s, 2 * s->faults.admins_every_ms, admin_acts, NULL);
}
