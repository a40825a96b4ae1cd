#include "test/sim/model_jobs.h"

#include "test/sim/sim.h"

static void inform_pod(struct sim *s, struct model_pod *p);
static void enqueue(struct sim *s, struct model_job *j, int64_t after_ms);

void model_jobs_init(struct model_jobs *m)
{
	*m = (struct model_jobs){0};
	m->tail = &m->first;
}

size_t model_jobs_pods(const struct model_jobs *m, const struct model_job *j)
{
	size_t n = 0;
	for (const struct model_pod *p = m->first; p; p = p->next)
		n += p->of == j && pod_exists(p);
	return n;
}

bool model_jobs_are_beyond(
	const struct model_job *j, int64_t pods, const struct ledger_reservation *held)
{
	for (size_t i = 0; i < held->nlines; i++)
		if (pods * snap_asks(j->now, held->lines[i].resource) > held->lines[i].amount)
			return true;
	return held->nlines == 0 && pods > 0;
}

size_t model_jobs_working(const struct model_jobs *m, const struct model_job *j)
{
	size_t n = 0;
	for (const struct model_pod *p = m->first; p; p = p->next)
		n += p->of == j && p->state == POD_RUNNING;
	return n;
}

/* ---- Pods --------------------------------------------------------------------------------------
 */

static void enter(struct sim *s, struct model_pod *p, enum pod_state next)
{
	static const char *const names[] = {
		"?", "runs", "terminates", "succeeded", "failed", "is gone"};
	sim_log(s, "pod    %zu of %s %s", p->index, p->of->now->job.name, names[next]);
	p->state = next;
	p->left_ms = pod_exists(p) ? 0 : s->now_ms;
	sim_touch(s);
	inform_pod(s, p);
	if (s->cluster.on && next != POD_RUNNING)
		cluster_pod_left(s, p);
}

static void pod_grace_over(struct sim *s, void *arg)
{
	struct model_pod *p = arg;
	if (p->state == POD_TERMINATING && s->now_ms >= p->gone_ms)
		enter(s, p, POD_GONE);
}

static void pod_delete(struct sim *s, struct model_pod *p)
{
	if (p->state != POD_RUNNING)
		return;
	int64_t grace = rng_skewed(&s->rng, 1, 40000);
	if (rng_odds(&s->rng, s->faults.pod_stuck)) {
		grace = rng_between(&s->rng, 200000, 900000);
		p->ends_ms = INT64_MAX; /* its end is not heard of either */
	}
	if (s->cluster.has_nodes && p->node < 0)
		grace = 1; /* no kubelet has it */
	p->gone_ms = s->now_ms + grace;
	enter(s, p, POD_TERMINATING);
	sim_at(s, p->gone_ms, pod_grace_over, p);
}

static void pod_ends(struct sim *s, void *arg)
{
	struct model_pod *p = arg;
	if (!pod_exists(p) || s->now_ms < p->ends_ms)
		return;
	if (s->frozen && p->state == POD_RUNNING) {
		p->ended = true;
		return;
	}
	enter(s, p, p->will_fail ? POD_FAILED : POD_SUCCEEDED);
}

static void pod_ready(struct sim *s, void *arg)
{
	struct model_pod *p = arg;
	if (p->state != POD_RUNNING)
		return;
	p->ready = true;
	inform_pod(s, p);
}

static void collect_garbage(struct sim *s, void *arg)
{
	struct model_job *j = arg;
	if (j->orphaned || !(j->now->gone || j->now->job.deleting))
		return;
	j->doomed = true;
	for (struct model_pod *p = s->jobs.first; p; p = p->next)
		if (p->of == j)
			pod_delete(s, p);
}

static void retry(struct sim *s, void *arg)
{
	enqueue(s, arg, 0);
}

void model_jobs_begin_pod(struct sim *s, struct model_pod *p)
{
	p->ends_ms = s->now_ms + p->lasts_ms;
	sim_at(s, p->ends_ms, pod_ends, p);
	if (!p->of->sickly)
		sim_after(s, rng_between(&s->rng, 1, 3000), pod_ready, p);
}

/* False: the API server refuses it, and the controller tries again. */
static bool pod_create(struct sim *s, struct model_job *j, const struct snap *view)
{
	j->refused = s->cluster.has_quotas && !cluster_admits(s, j, view);
	if (j->refused) {
		sim_after(s, rng_between(&s->cluster.rng, 1000, 8000), retry, j);
		return false;
	}
	struct model_pod *p = sim_alloc(s, sizeof(*p));
	*p = (struct model_pod){.index = s->jobs.count++,
		.of = j,
		.run = view->run,
		.template = view,
		.state = POD_RUNNING,
		.will_fail = rng_odds(&s->rng, 800),
		.ends_ms = INT64_MAX,
		.lasts_ms = rng_skewed(&s->rng, 300, 120000)};
	*s->jobs.tail = p;
	s->jobs.tail = &p->next;
	cluster_pod_made(s, p);
	enter(s, p, POD_RUNNING);
	if (j->now->gone) {
		sim_reach(s, PATH_PODS_OF_NOBODY);
		sim_at(s, j->controller.informed_ms + rng_between(&s->rng, 10, 3000),
			collect_garbage, j);
	} else if (j->now->job.suspend) {
		sim_reach(s, PATH_STALE_PODS);
	}
	return true;
}

void model_jobs_thaw(struct sim *s)
{
	s->frozen = false;
	for (struct model_pod *p = s->jobs.first; p; p = p->next)
		if (p->ended)
			sim_after(s, rng_between(&s->rng, 1, 20000), pod_ends, p);
}

/* ---- What the controller hears ------------------------------------------------------------------
 */

struct job_news {
	uint64_t life;
	struct model_job *of;
	const struct snap *snap;
};

static int64_t in_order(struct sim *s, int64_t *last_ms)
{
	int64_t at = s->now_ms + rng_skewed(&s->rng, 1, s->faults.jobs_lag_ms);
	if (at < *last_ms)
		at = *last_ms;
	return *last_ms = at;
}

static void job_heard(struct sim *s, void *arg)
{
	struct job_news *n = arg;
	if (n->life != s->jobs.life)
		return;
	n->of->controller.view = n->snap;
	enqueue(s, n->of, rng_between(&s->rng, 0, 20));
}

struct pod_news {
	uint64_t life;
	struct model_pod *of;
	enum pod_state state;
};

static void pod_heard(struct sim *s, void *arg)
{
	struct pod_news *n = arg;
	if (n->life != s->jobs.life)
		return;
	n->of->seen = n->state;
	enqueue(s, n->of->of, rng_between(&s->rng, 0, 20));
}

static void inform_pod(struct sim *s, struct model_pod *p)
{
	struct pod_news *n = sim_alloc(s, sizeof(*n));
	*n = (struct pod_news){s->jobs.life, p, p->state};
	sim_at(s, in_order(s, &p->of->controller.pods_informed_ms), pod_heard, n);
}

/* Foreground: the object goes once its pods have gone. */
static void finish_deleting(struct sim *s, void *arg)
{
	struct model_job *j = arg;
	if (j->now->gone || !j->now->job.deleting)
		return;
	if (j->orphaned || !model_jobs_pods(&s->jobs, j))
		model_api_remove(&s->api, j);
	else
		sim_after(s, 500, finish_deleting, j);
}

void model_jobs_inform(struct sim *s, const struct snap *now)
{
	struct model_job *j = now->of;
	struct job_news *n = sim_alloc(s, sizeof(*n));
	*n = (struct job_news){s->jobs.life, j, now};
	sim_at(s, in_order(s, &j->controller.informed_ms), job_heard, n);
	if ((now->gone || (now->job.deleting && !j->kept)) && !j->doomed) {
		j->doomed = true;
		/* Not before the Job controller has heard of it: it replaces a pod as soon as that
		 * is terminating, so that a leader that sees the pods go but not the Job would have more
		 * than parallelism of them. Both hear from the same server; a collector that is
		 * ahead by that much is not something that Sluice could guard against. */
		sim_at(s, j->controller.informed_ms + rng_between(&s->rng, 10, 3000),
			collect_garbage, j);
		if (!now->gone)
			sim_after(s, rng_between(&s->rng, 500, 5000), finish_deleting, j);
	}
}

/* ---- syncJob ------------------------------------------------------------------------------------
 */

struct sync {
	uint64_t life;
	struct snap *next; /* the status to write */
	int64_t from;	   /* the version it was computed from */
};

/* The pods as the controller sees them. */
struct tally {
	int32_t active, ready, terminating, succeeded, failed;
	bool satisfied; /* it has seen all it made and deleted itself */
};

static struct tally count_pods(const struct sim *s, const struct model_job *j)
{
	struct tally t = {.satisfied = true};
	for (const struct model_pod *p = s->jobs.first; p; p = p->next) {
		if (p->of != j)
			continue;
		t.active += p->seen == POD_RUNNING;
		t.ready += p->seen == POD_RUNNING && p->ready;
		t.terminating += p->seen == POD_TERMINATING;
		t.succeeded += p->seen == POD_SUCCEEDED;
		t.failed += p->seen == POD_FAILED;
		if (p->seen == POD_UNSEEN || (p->seen == POD_RUNNING && p->gone_ms))
			t.satisfied = false;
	}
	return t;
}

static void delete_active(struct sim *s, struct model_job *j, struct tally *t, int32_t n)
{
	for (struct model_pod *p = s->jobs.first; p && n > 0; p = p->next)
		if (p->of == j && p->seen == POD_RUNNING) {
			pod_delete(s, p);
			n--;
			t->active--;
			t->terminating++;
		}
	t->ready = t->active < t->ready ? t->active : t->ready;
}

static void manage(struct sim *s, struct model_job *j, const struct snap *view, struct tally *t)
{
	if (view->job.suspend) {
		delete_active(s, j, t, t->active);
		return;
	}
	int32_t want = view->job.parallelism;
	if (!view->job.has_completions)
		want = t->succeeded > 0 ? t->active : want;
	else if (view->job.completions - t->succeeded < want)
		want = view->job.completions - t->succeeded;
	if (want < 0)
		want = 0;
	if (t->active > want)
		delete_active(s, j, t, t->active - want);
	while (t->active < want && pod_create(s, j, view))
		t->active++;
}

static void suspended_or_resumed(struct sim *s, struct snap *next)
{
	struct job_status *st = &next->job.status;
	if (next->job.suspend && !st->suspended) {
		st->suspended = true;
		if (s->api.old_server)
			return;
		st->has_start_time = false;
		st->start_ms = 0;
	} else if (!next->job.suspend && st->suspended) {
		st->suspended = false;
		st->has_start_time = true;
		st->start_ms = s->now_ms / 1000 * 1000;
	}
}

/* The end: first that it is to end, and, when no pod is left, that it has. */
static void conclude(struct sim *s, struct snap *next, const struct tally *t)
{
	if (t->active || t->terminating || !t->satisfied)
		return;
	struct job_status *st = &next->job.status;
	if (!st->has_start_time) /* the API server refuses that */
		return;
	st->complete = next->succeeding;
	st->failed = next->failing;
	if (st->complete || st->failed) {
		st->finished_ms = s->now_ms / 1000 * 1000;
		sim_reach(s, PATH_FINISHED);
	}
}

static bool status_same(const struct snap *a, const struct snap *b)
{
	const struct job_status *x = &a->job.status, *y = &b->job.status;
	return x->has_start_time == y->has_start_time && x->start_ms == y->start_ms &&
	       x->suspended == y->suspended && x->complete == y->complete &&
	       x->failed == y->failed && x->active == y->active &&
	       x->terminating == y->terminating && x->ready == y->ready &&
	       x->succeeded == y->succeeded && a->failing == b->failing &&
	       a->succeeding == b->succeeding;
}

static void status_lands(struct sim *s, void *arg)
{
	struct sync *y = arg;
	struct model_job *j = y->next->of;
	if (y->life != s->jobs.life)
		return;
	j->controller.writing = false;
	if (j->now->gone)
		return;
	if (j->now->job.version != y->from) {
		sim_reach(s, PATH_STATUS_CONFLICT);
		enqueue(s, j, rng_between(&s->rng, 5, 1000));
	} else if (rng_odds(&s->rng, s->faults.jobs_write_lost)) {
		enqueue(s, j, rng_between(&s->rng, 5, 2000));
	} else {
		j->controller.must_see = model_api_write(&s->api, y->next, false)->job.version;
		sim_log(s, "jobs   %s status active=%d terminating=%d succeeded=%d%s%s%s",
			y->next->job.name, y->next->job.status.active,
			y->next->job.status.terminating, y->next->job.status.succeeded,
			y->next->job.status.suspended ? " Suspended" : "",
			y->next->job.status.complete ? " Complete" : "",
			y->next->job.status.failed ? " Failed" : "");
	}
}

static void sync_job(struct sim *s, struct model_job *j)
{
	const struct snap *view = j->controller.view;
	struct tally t = count_pods(s, j);
	struct snap *next = sim_alloc(s, sizeof(*next));
	*next = *view;
	struct job_status *st = &next->job.status;
	if (!st->has_start_time && !view->job.suspend) {
		st->has_start_time = true;
		st->start_ms = s->now_ms / 1000 * 1000;
	}
	if (!next->failing && !next->succeeding)
		next->failing = t.failed > j->backoff_limit;
	if (next->failing || next->succeeding) {
		delete_active(s, j, &t, t.active);
		conclude(s, next, &t);
	} else {
		bool manages = t.satisfied && !view->job.deleting;
		if (manages)
			manage(s, j, view, &t);
		int32_t want = view->job.has_completions ? view->job.completions : 1;
		if (t.succeeded >= want && t.active == 0) {
			next->succeeding = true;
			conclude(s, next, &t);
		} else if (manages) {
			suspended_or_resumed(s, next);
		}
	}
	st->ending = next->failing || next->succeeding;
	st->active = t.active;
	st->ready = t.ready;
	st->terminating = t.terminating;
	st->succeeded = t.succeeded;
	st->indexes_done = next->job.indexed ? t.succeeded : 0;
	if (status_same(next, view))
		return;
	struct sync *y = sim_alloc(s, sizeof(*y));
	*y = (struct sync){s->jobs.life, next, view->job.version};
	j->controller.writing = true;
	sim_after(s, rng_skewed(&s->rng, 1, s->faults.jobs_lag_ms / 4 + 2), status_lands, y);
}

static void work(struct sim *s, void *arg)
{
	struct model_job *j = arg;
	const struct snap *view = j->controller.view;
	j->controller.pending = false;
	if (!view || view->gone || j->external || view->job.status.complete ||
		view->job.status.failed)
		return;
	if (j->controller.writing)
		enqueue(s, j, 5); /* one worker at a time for each Job */
	else if (view->job.version >= j->controller.must_see)
		sync_job(s, j);
}

static void enqueue(struct sim *s, struct model_job *j, int64_t after_ms)
{
	if (j->controller.pending)
		return;
	j->controller.pending = true;
	sim_after(s, after_ms, work, j);
}

/* ---- The API server went back -------------------------------------------------------------------
 */

void model_jobs_end_pod(struct sim *s, struct model_pod *p, int64_t grace_ms)
{
	p->gone_ms = s->now_ms + grace_ms;
	sim_at(s, p->gone_ms, pod_grace_over, p);
}

void model_jobs_begin_anew(struct sim *s, int64_t after_ms)
{
	s->jobs.life++;
	for (struct model_pod *p = s->jobs.first; p; p = p->next)
		p->seen = p->state == POD_GONE ? POD_GONE : POD_UNSEEN;
	for (struct model_job *j = s->api.first; j; j = j->next) {
		int64_t at = s->now_ms + after_ms;
		j->controller.view = NULL;
		j->controller.must_see = 0;
		j->controller.writing = j->doomed = false;
		j->controller.informed_ms = j->controller.pods_informed_ms = at;
		model_jobs_inform(s, j->now);
	}
	for (struct model_pod *p = s->jobs.first; p; p = p->next)
		if (p->seen == POD_UNSEEN)
			inform_pod(s, p);
}
