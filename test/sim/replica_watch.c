/*
 * What a controller hears: the watches of what admins describe, and the watch of Jobs by label.
 *
 * News come in order on each connection, late, and stop when it is cut; then it goes on from the
 * last it had, or from a little before (repeated), or lists everything anew. A list is a state of
 * one moment that is told in two parts, with other things happening in between.
 */
#include <stdlib.h>
#include <string.h>

#include "test/sim/cut_short.h"
#include "test/sim/directives.h"
#include "test/sim/sim.h"
#include "test/sim/windows.h"

static int64_t news_at(struct sim *s, int64_t *last_ms)
{
	int64_t at = s->now_ms + rng_skewed(&s->rng, 1, s->faults.watch_lag_ms);
	if (at < *last_ms)
		at = *last_ms;
	return *last_ms = at;
}

void replica_check_synced(struct sim *s, struct replica *r)
{
	for (size_t k = 0; k < CONFIG_KINDS; k++)
		if (!r->config_listed[k])
			return;
	if (!r->jobs_listed || r->synced || (s->cluster.on && !cluster_is_listed(s, r)))
		return;
	r->synced = true;
	if (s->cluster.on)
		queue_know_cluster(r->queue);
	gate_set_synced(r->gate);
}

/* ---- What admins describe -----------------------------------------------------------------------
 */

static int64_t percent(int64_t nominal, int percent)
{
	return percent < 0 ? QUOTA_UNLIMITED : nominal / 100 * percent;
}

static void set_cohort(struct queue *q, const struct config *c)
{
	const char *const resources[] = {"cpu", "memory"};
	struct quota_spec quota[2][2];
	struct flavor_quota_spec flavor[2];
	for (size_t i = 0; i < 2; i++) {
		int64_t amount[] = {c->cpu[i], c->memory[i]};
		for (size_t k = 0; k < 2; k++)
			quota[i][k] = (struct quota_spec){
				resources[k], amount[k], QUOTA_UNLIMITED, QUOTA_UNLIMITED};
		flavor[i] = (struct flavor_quota_spec){flavor_names[i], quota[i], 2};
	}
	struct resource_group_spec group = {resources, 2, flavor, 2};
	struct cohort_spec spec = {.name = cohort_names[c->index],
		.generation = c->generation,
		.parent = c->cohort < 0 ? "" : cohort_names[c->cohort],
		.groups = &group,
		.ngroups = c->has_quota ? 1 : 0,
		.weight = c->weight};
	struct err e = {""};
	must(queue_set_cohort(q, &spec, &e) == 0);
}

static void set_clusterqueue(const struct sim *s, struct queue *q, const struct config *c)
{
	const char *const resources[] = {"cpu", "memory", "pods"};
	const char *const gpu[] = {"gpu"};
	struct quota_spec quota[2][3],
		gpu_quota = {"gpu", c->gpu, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	struct flavor_quota_spec flavor[2], gpu_flavor = {flavor_names[GPU_FLAVOR], &gpu_quota, 1};
	size_t n = c->covers_pods ? 3 : 2;
	for (size_t i = 0; i < c->nflavors; i++) {
		int64_t amount[] = {c->cpu[i], c->memory[i], c->pods[i]};
		for (size_t k = 0; k < n; k++)
			quota[i][k] = (struct quota_spec){resources[k], amount[k],
				k < 2 ? percent(amount[k], c->borrow) : QUOTA_UNLIMITED,
				k < 2 ? percent(amount[k], c->lend) : QUOTA_UNLIMITED};
		flavor[i] = (struct flavor_quota_spec){flavor_names[c->flavor[i]], quota[i], n};
	}
	struct resource_group_spec group[] = {
		{resources, n, flavor, c->nflavors}, {gpu, 1, &gpu_flavor, 1}};
	struct clusterqueue_spec spec = {.name = clusterqueue_names[c->index],
		.generation = c->generation,
		.cohort = c->cohort < 0 ? "" : cohort_names[c->cohort],
		.preemption = c->preemption,
		.gap_fillers_below = c->gaps_below,
		.fungibility = c->fungibility,
		.weight = c->weight,
		.groups = group,
		.ngroups = c->covers_gpu ? 2 : 1,
		.strategy = c->strategy,
		.stop_policy = c->stop,
		.cluster_fit = cluster_fit_of(s, c),
		.has_namespace_selector = true};
	growing_describe(c, &spec);
	struct err e = {""};
	if (s->o.bug == BUG_MIN_RUN_UNREAD)
		spec.preemption.min_run_ms = 0;
	must(queue_set_clusterqueue(q, &spec, &e) == 0);
}

static void set_localqueue(const struct sim *s, struct queue *q, const struct config *c)
{
	struct localqueue_spec spec = {.ns = namespace_names[localqueue_namespace(c->index)],
		.name = localqueue_names[c->index],
		.generation = c->generation,
		.clusterqueue = clusterqueue_names[c->clusterqueue],
		.stop_policy = c->stop,
		.weight = 1};
	if (s->o.bug != BUG_USERS_UNREAD)
		spec.limits.per_user = s->users.limits[c->index];
	struct err e = {""};
	must(queue_set_localqueue(q, &spec, &e) == 0);
}

static void set_flavor(const struct sim *s, struct queue *q, const struct config *c)
{
	struct flavor_spec spec = {.name = flavor_names[c->index]};
	if (s->lent.on && c->index == IDLE_FLAVOR) {
		spec.lending = LENDING_BATCH;
		spec.share_permille = 1000;
	}
	if (s->lent.on)
		directives_of_flavor(c->index, &spec);
	struct err e = {""};
	must(queue_set_flavor(q, &spec, &e) == 0);
}

static void set_config(struct sim *s, struct queue *q, const struct config *c)
{
	switch (c->kind) {
	case CONFIG_NAMESPACE:
		queue_set_namespace(q, &(struct namespace_spec){.name = namespace_names[c->index]});
		break;
	case CONFIG_FLAVOR:
		set_flavor(s, q, c);
		break;
	case CONFIG_CLASS:
		queue_set_priority(q, &(struct priority_spec){.kind = PRIORITY_WORKLOAD,
					      .name = class_names[c->index],
					      .value = c->value});
		break;
	case CONFIG_COHORT:
		set_cohort(q, c);
		break;
	case CONFIG_CLUSTERQUEUE:
		set_clusterqueue(s, q, c);
		break;
	case CONFIG_LOCALQUEUE:
		set_localqueue(s, q, c);
		break;
	case CONFIG_CALENDAR:
	case CONFIG_RUNPOLICY:
	case CONFIG_PLAN:
	case CONFIG_BUDGET:
		windows_set(s, q, c);
		break;
	case CONFIG_ADVANCE:
		advance_set(s, q, c);
		break;
	case CONFIG_KINDS:
		must_not_get_here();
	}
}

static void drop_config(struct queue *q, const struct config *c)
{
	switch (c->kind) {
	case CONFIG_NAMESPACE:
		queue_drop_namespace(q, namespace_names[c->index]);
		break;
	case CONFIG_FLAVOR:
		queue_drop_flavor(q, flavor_names[c->index]);
		break;
	case CONFIG_CLASS:
		queue_drop_priority(q, PRIORITY_WORKLOAD, class_names[c->index]);
		break;
	case CONFIG_COHORT:
		queue_drop_cohort(q, cohort_names[c->index]);
		break;
	case CONFIG_CLUSTERQUEUE:
		queue_drop_clusterqueue(q, clusterqueue_names[c->index]);
		break;
	case CONFIG_LOCALQUEUE:
		queue_drop_localqueue(q, namespace_names[localqueue_namespace(c->index)],
			localqueue_names[c->index]);
		break;
	case CONFIG_CALENDAR:
	case CONFIG_RUNPOLICY:
	case CONFIG_PLAN:
	case CONFIG_BUDGET:
		windows_drop(q, c);
		break;
	case CONFIG_ADVANCE:
		advance_drop(q, c);
		break;
	case CONFIG_KINDS:
		must_not_get_here();
	}
}

static void config_heard(struct sim *s, struct replica *r, void *arg)
{
	const struct config *c = arg;
	windows_heard(r, c);
	if (c->exists)
		set_config(s, r->queue, c);
	else
		drop_config(r->queue, c);
	replica_step_soon(s, r);
}

void replica_hear_config(struct sim *s, struct replica *r, const struct config *c)
{
	bool none = c->kind == CONFIG_ADVANCE && !s->advance.on;
	if (!r->up || none || !r->config_listed[c->kind] || !way_is_open(s, &r->to_api))
		return; /* it will be in the list */
	struct config *copy = sim_alloc(s, sizeof(*copy));
	*copy = *c;
	replica_at(s, r, news_at(s, &r->config_heard_ms[c->kind]), config_heard, copy);
}

static void config_listed(struct sim *s, struct replica *r, void *arg)
{
	const enum config_kind *k = arg;
	if (partition_waits(s, r, config_listed, arg))
		return;
	for (size_t i = 0; i < config_count(*k); i++)
		if (s->people.config[*k][i].exists) {
			windows_heard(r, &s->people.config[*k][i]);
			set_config(s, r->queue, &s->people.config[*k][i]);
		}
	r->config_listed[*k] = true;
	replica_check_synced(s, r);
	replica_step_soon(s, r);
}

void replica_begin_watches(struct sim *s, struct replica *r)
{
	r->config_listed[CONFIG_ADVANCE] = !s->advance.on;
	for (enum config_kind k = 0; k < CONFIG_KINDS; k++) {
		if (r->config_listed[k])
			continue;
		enum config_kind *arg = sim_alloc(s, sizeof(*arg));
		*arg = k;
		replica_at(s, r, news_at(s, &r->config_heard_ms[k]), config_listed, arg);
	}
	cluster_begin_watches(s, r);
	replica_list_jobs(s, r, rng_skewed(&s->rng, 1, 1000));
}

/* ---- Jobs ---------------------------------------------------------------------------------------
 */

struct job_news {
	uint64_t watch;
	size_t entry;
};

/* What the gate is shown; a planted fault makes it too good. */
static void show_job(struct sim *s, struct replica *r, const struct snap *snap)
{
	struct job j = snap->job;
	if (s->o.bug == BUG_RELEASE_EARLY && j.suspend) {
		j.status.suspended = true;
		j.status.active = j.status.terminating = 0;
	}
	tenant_show(s, r->index, r->life, &j);
	cut_short_show(s, r->index, r->life, &j);
	if (s->o.bug == BUG_HELD_FORGOTTEN &&
		pipelines_record_epoch(s, snap->of) != gate_epoch(r->gate))
		j.after.record = NULL;
	gate_see_job(r->gate, &j);
}

static void job_heard(struct sim *s, struct replica *r, void *arg)
{
	const struct job_news *n = arg;
	if (n->watch != r->watch)
		return;
	r->cursor = n->entry + 1;
	const struct history *h = &s->api.history[n->entry];
	r->reached = h->snap->job.version;
	sim_log(s, "%s sees %s %s, version %lld", r->identity, h->snap->job.name,
		h->is_queued ? "changed" : "DELETED", (long long)h->snap->job.version);
	if (h->is_queued) {
		show_job(s, r, h->snap);
	} else if (h->was_queued) {
		pipelines_left(s, h->snap);
		gate_lose_job(r->gate, &h->snap->job.uid);
	}
	replica_step_soon(s, r);
}

void replica_hear_jobs(struct sim *s, struct replica *r)
{
	for (; r->up && r->watching && r->sent < s->api.nhistory; r->sent++) {
		const struct history *h = &s->api.history[r->sent];
		if (!h->is_queued && !h->was_queued)
			continue;
		struct job_news *n = sim_alloc(s, sizeof(*n));
		*n = (struct job_news){r->watch, r->sent};
		replica_at(s, r, news_at(s, &r->watch_heard_ms), job_heard, n);
	}
}

struct listing {
	uint64_t watch, store;
	int64_t version;
	size_t upto; /* of the history: the list is the state after that */
	size_t count;
	const struct snap *snap[]; /* those with the label */
};

static void list_ends(struct sim *s, struct replica *r, void *arg)
{
	const struct listing *l = arg;
	if (l->watch != r->watch)
		return;
	for (size_t i = l->count / 2; i < l->count; i++)
		show_job(s, r, l->snap[i]);
	sim_log(s, "%s has listed %zu Jobs", r->identity, l->count);
	r->went_back |= l->version < r->reached; /* before its end is told */
	r->store = l->store;
	r->reached = l->version;
	gate_end_list(r->gate);
	r->jobs_listed = true;
	r->cursor = r->sent = l->upto;
	r->watching = true;
	replica_check_synced(s, r);
	replica_hear_jobs(s, r);
	replica_step_soon(s, r);
}

static void list_begins(struct sim *s, struct replica *r, void *arg)
{
	const struct listing *l = arg;
	if (l->watch != r->watch)
		return;
	for (size_t i = 0; i < l->count / 2; i++)
		show_job(s, r, l->snap[i]);
	replica_step_soon(s, r);
	replica_at(s, r, news_at(s, &r->watch_heard_ms), list_ends, arg);
	if (!s->calm && rng_odds(&s->rng, s->faults.watch_cut_every_ms ? 1500 : 0)) {
		sim_reach(s, PATH_LIST_CUT);
		replica_list_jobs(s, r, rng_skewed(&s->rng, 1, 3000));
	}
}

/* The server takes the state when it gets the request. */
static void list_asked(struct sim *s, struct replica *r, void *arg)
{
	const uint64_t *watch = arg;
	if (*watch != r->watch || partition_waits(s, r, list_asked, arg))
		return;
	struct listing *l = sim_alloc(s, sizeof(*l) + s->api.njobs * sizeof(l->snap[0]));
	l->watch = r->watch;
	gate_begin_list(r->gate);
	l->upto = s->api.nhistory;
	l->store = s->restore.store;
	l->version = s->api.version;
	for (struct model_job *j = s->api.first; j; j = j->next)
		if (!j->now->gone && j->now->job.queue[0])
			l->snap[l->count++] = j->now;
	replica_at(s, r, news_at(s, &r->watch_heard_ms), list_begins, l);
}

void replica_list_jobs(struct sim *s, struct replica *r, int64_t after_ms)
{
	uint64_t *watch = sim_alloc(s, sizeof(*watch));
	*watch = ++r->watch;
	r->watching = false;
	replica_at(s, r, s->now_ms + after_ms, list_asked, watch);
}

/* ---- Cuts ---------------------------------------------------------------------------------------
 */

static void watch_resumes(struct sim *s, struct replica *r, void *arg)
{
	const uint64_t *watch = arg;
	if (*watch != r->watch || partition_waits(s, r, watch_resumes, arg))
		return;
	if (r->store != s->restore.store) {
		if (restore_is_told(s, r, &r->cursor))
			return;
		if (s->restore.bumped) { /* its place is gone */
			replica_list_jobs(s, r, 1);
			return;
		}
		r->store = s->restore.store;
	}
	if (rng_odds(&s->rng, s->faults.watch_repeat) && r->cursor > 0) {
		size_t back = (size_t)rng_between(&s->rng, 1, 6);
		r->cursor -= back < r->cursor ? back : r->cursor;
		if (r->cursor < s->restore.from && r->store == s->restore.store)
			r->cursor = s->restore.from;
		sim_reach(s, PATH_WATCH_REPEAT);
	}
	r->sent = r->cursor;
	r->watching = true;
	replica_hear_jobs(s, r);
}

static void cut(struct sim *s, void *arg)
{
	struct replica *r = arg;
	if (s->calm)
		return;
	if (r->up && r->watching) {
		sim_reach(s, PATH_WATCH_CUT);
		sim_log(s, "%s watch of Jobs is cut", r->identity);
		int64_t away = rng_skewed(&s->rng, 1, 20000);
		if (rng_odds(&s->rng, s->faults.watch_relist)) {
			sim_reach(s, PATH_WATCH_RELIST);
			replica_list_jobs(s, r, away);
		} else {
			uint64_t *watch = sim_alloc(s, sizeof(*watch));
			*watch = ++r->watch;
			r->watching = false;
			replica_at(s, r, s->now_ms + away, watch_resumes, watch);
		}
	}
	sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.watch_cut_every_ms), cut, r);
}

void replica_lose_watch(struct replica *r, int64_t deaf_ms)
{
	if (r->watching || deaf_ms < r->deaf_ms)
		r->deaf_ms = deaf_ms;
	r->watching = false;
	r->watch++;
}

static void config_told_again(struct sim *s, struct replica *r)
{
	for (enum config_kind k = 0; k < CONFIG_KINDS; k++)
		for (size_t i = 0; i < config_count(k); i++)
			replica_hear_config(s, r, &s->people.config[k][i]);
}

/* What was known is not gone on from (kube/watch.h); a planted fault does. */
void replica_take_up(struct sim *s, struct replica *r, int64_t after_ms)
{
	config_told_again(s, r);
	cluster_tell_again(s, r);
	if (s->o.bug != BUG_PLACE_KEPT || !r->jobs_listed) {
		replica_list_jobs(s, r, after_ms);
		return;
	}
	uint64_t *watch = sim_alloc(s, sizeof(*watch));
	*watch = r->watch;
	replica_at(s, r, s->now_ms + after_ms, watch_resumes, watch);
}

void replica_begin_cuts(struct sim *s, struct replica *r)
{
	if (s->faults.watch_cut_every_ms)
		sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.watch_cut_every_ms), cut, r);
}
