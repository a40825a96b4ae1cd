/*
 * Namespace quotas against a model of the API server, drawn from a seed.
 *
 * The model admits pods one by one. It adds a pod to the use of each quota before the pod exists,
 * and subtracts ended pods some time later. The queue sees Jobs and quotas by two watches, each in
 * order and late. Only started Jobs make pods. Always:
 *
 *   no pod of a started Job is refused for want of room beside the pods that exist;
 *   when all has been seen, the quotas have no room for any Job that waits.
 *
 * NAMESPACE_QUOTA_SEED=N runs that one alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "queue/cluster/pod.h"
#include "sluice/queue.h"
#include "test/unit/searched.h"
#include "test/unit/queue/worlds.h"
#include "queue/cluster/resource_quota.h"

#define SPACES 2
#define QUOTAS 4 /* of each namespace the half */
#define JOBS 48
#define EVENTS 4096
#define STEPS 1200
#define SEEDS searched(70, 200)
#define NONE (-1)

enum state { ABSENT, WAITING, STARTING, RUNNING, STOPPING, DONE };

/* As the API server has it and a watch event shows it. */
struct status {
	bool suspend, suspended, complete, held;
	int32_t parallelism, active, succeeded, failed;
	int64_t version;
};

struct model_job {
	enum state state;
	int space;
	int32_t cpu, parallelism, completions, min; /* as its owner wrote it; cpu 0: BestEffort */
	struct status now;			    /* of the object */
	int32_t active, succeeded, failed;	    /* of its pods: the status follows */
	int32_t chosen;				    /* pods, by the queue's decision */
	struct status seen;			    /* by the queue */
	bool room;				    /* it has a reservation */
};

/* NONE: not limited. */
struct amounts {
	int64_t pods, cpu, kept;
};

struct model_quota {
	bool exists, not_best_effort;
	struct amounts hard, used;
	int64_t version;
};

struct event {
	int which; /* Job or quota */
	union {
		struct status job;
		struct model_quota quota;
	} told;
};

/* A watch. */
struct watch {
	struct event event[EVENTS];
	size_t from, to;
};

struct world {
	uint32_t seed, draw;
	struct queue *q;
	int64_t now_ms, version;
	struct model_job job[JOBS];
	struct model_quota quota[QUOTAS], told[QUOTAS];
	int64_t quotas_seen;
	struct watch jobs, quotas;
	size_t started, refused_late, fewer, never;
};

static uint32_t draw(struct world *w, uint32_t below)
{
	w->draw = w->draw * 1664525 + 1013904223;
	return (w->draw >> 8) % below;
}

static const char *space_name(int space)
{
	static const char *const name[SPACES] = {"red", "blue"};
	return name[space];
}

static int space_of_quota(int q)
{
	return q % SPACES;
}

/* ---- What the queue is told -------------------------------------------------------------------
 */

static struct uid uid_of(int i)
{
	return (struct uid){{(uint8_t)(i + 1), (uint8_t)((i + 1) * 7)}};
}

static void tell_job(struct world *w, int i)
{
	const struct model_job *m = &w->job[i];
	const struct status *s = &m->seen;
	const struct resource cpu = {"cpu", m->cpu, 0};
	const struct container c = {.name = "main", .requests = {&cpu, m->cpu > 0}};
	const struct pod pod = {.ns = space_name(m->space),
		.priority_class = "",
		.node_name = "",
		.scheduler = "default-scheduler",
		.resources = {.containers = &c, .ncontainers = 1, .runtime_class = ""}};
	char name[16];
	snprintf(name, sizeof(name), "job-%d", i);
	struct job j = {.uid = uid_of(i),
		.ns = space_name(m->space),
		.name = name,
		.queue = m->space == 0 ? "strict"
			 : i % 2       ? "free"
				       : "backfill",
		.priority_class = "",
		.pod_priority_class = "",
		.generation = 1,
		.version = s->version,
		.suspend = s->suspend,
		.hold = s->held ? "true" : NULL,
		.parallelism = s->parallelism,
		.admission.owner_parallelism = s->suspend ? 0 : m->parallelism,
		.min_parallelism = m->min,
		.completions = m->completions,
		.has_completions = true,
		.template = &pod,
		.pod = pod.resources};
	j.status = (struct job_status){.active = s->active,
		.succeeded = s->succeeded,
		.failed_pods = s->failed,
		.suspended = s->suspended,
		.complete = s->complete,
		.has_start_time = !s->suspend};
	queue_set_job(w->q, &j);
}

static void add(struct resource *all, size_t *n, const char *name, int64_t amount)
{
	if (amount != NONE)
		all[(*n)++] = (struct resource){name, amount, 0};
}

static void tell_quota(struct world *w, int i)
{
	const struct model_quota *m = &w->told[i];
	const struct quota_scope_term scope = {SCOPE_NOT_BEST_EFFORT, SELECTOR_EXISTS, NULL, 0};
	struct resource hard[3], used[3];
	size_t n = 0, k = 0;
	char name[16];
	if (!m->exists)
		return;
	snprintf(name, sizeof(name), "quota-%d", i);
	add(hard, &n, "pods", m->hard.pods);
	add(used, &k, "pods", m->hard.pods == NONE ? NONE : m->used.pods);
	add(hard, &n, "requests.cpu", m->hard.cpu);
	add(used, &k, "requests.cpu", m->hard.cpu == NONE ? NONE : m->used.cpu);
	add(hard, &n, "count/pods", m->hard.kept);
	add(used, &k, "count/pods", m->hard.kept == NONE ? NONE : m->used.kept);
	const struct resource_quota q = {.ns = space_name(space_of_quota(i)),
		.name = name,
		.version = m->version,
		.hard = {hard, n},
		.used = {used, k},
		.scopes = &scope,
		.nscopes = m->not_best_effort};
	queue_set_resource_quota(w->q, &q);
}

static void tell_admins(struct world *w)
{
	static const enum queueing_strategy strategy[] = {STRICT_FIFO, BACKFILL, BEST_EFFORT_FIFO};
	static const char *const name[] = {"strict", "backfill", "free"};
	make_flavor(w->q, "any");
	for (size_t i = 0; i < 3; i++) {
		make_queue(w->q,
			(struct clusterqueue_spec){
				.name = name[i], .cohort = "all", .strategy = strategy[i]},
			"any", 1000000);
		for (int s = 0; s < SPACES; s++)
			make_localqueue(w->q, space_name(s), name[i], name[i]);
	}
	for (int s = 0; s < SPACES; s++)
		queue_set_namespace(w->q, &(struct namespace_spec){.name = space_name(s)});
}

/* ---- The API server ---------------------------------------------------------------------------
 */

static struct event *push(struct watch *watch, int which)
{
	must(watch->to < EVENTS);
	struct event *e = &watch->event[watch->to++];
	e->which = which;
	return e;
}

static void job_written(struct world *w, int i)
{
	w->job[i].now.version = ++w->version;
	push(&w->jobs, i)->told.job = w->job[i].now;
}

static void quota_written(struct world *w, int i)
{
	w->quota[i].version = ++w->version;
	push(&w->quotas, i)->told.quota = w->quota[i];
}

static bool counts(const struct model_quota *q, const struct model_job *j)
{
	return q->exists && (!q->not_best_effort || j->cpu > 0);
}

/* All pods that exist, and n more of one Job. */
static struct amounts live(const struct world *w, int quota, int job, int32_t n)
{
	struct amounts a = {0, 0, 0};
	for (int i = 0; i < JOBS; i++) {
		const struct model_job *j = &w->job[i];
		if (j->state == ABSENT || j->space != space_of_quota(quota) ||
			!counts(&w->quota[quota], j))
			continue;
		int32_t pods = j->active + (i == job ? n : 0);
		a.pods += pods;
		a.cpu += (int64_t)pods * j->cpu;
		a.kept += pods + j->succeeded + j->failed;
	}
	return a;
}

static bool within(const struct amounts *a, const struct amounts *hard)
{
	return (hard->pods == NONE || a->pods <= hard->pods) &&
	       (hard->cpu == NONE || a->cpu <= hard->cpu) &&
	       (hard->kept == NONE || a->kept <= hard->kept);
}

static struct amounts used_with(const struct model_quota *q, const struct model_job *j)
{
	return (struct amounts){q->used.pods + 1, q->used.cpu + j->cpu, q->used.kept + 1};
}

/* A BestEffort pod has no cpu request, and is refused where cpu is limited. */
static bool speaks(const struct model_quota *q, const struct model_job *j)
{
	return q->hard.cpu == NONE || j->cpu > 0;
}

static bool make_pod(struct world *w, int i)
{
	struct model_job *j = &w->job[i];
	for (int q = 0; q < QUOTAS; q++) {
		const struct model_quota *m = &w->quota[q];
		if (space_of_quota(q) != j->space || !counts(m, j))
			continue;
		struct amounts used = used_with(m, j), real = live(w, q, i, 1);
		if (!speaks(m, j) || !within(&real, &m->hard))
			fail_msg("seed %u: quota %d refuses a pod of job %d", w->seed, q, i);
		if (!within(&used, &m->hard)) {
			w->refused_late++; /* ended pods are still counted: it tries again */
			return false;
		}
	}
	for (int q = 0; q < QUOTAS; q++) {
		if (space_of_quota(q) != j->space || !counts(&w->quota[q], j))
			continue;
		w->quota[q].used = used_with(&w->quota[q], j);
		quota_written(w, q);
	}
	j->active++;
	return true;
}

static void count_quota(struct world *w, int q)
{
	struct amounts now = live(w, q, NONE, 0);
	if (!w->quota[q].exists || memcmp(&now, &w->quota[q].used, sizeof(now)) == 0)
		return;
	w->quota[q].used = now;
	quota_written(w, q);
}

/* ---- The Job controller -----------------------------------------------------------------------
 */

static int32_t wanted(const struct model_job *j)
{
	int32_t left = j->completions - j->succeeded;
	if (j->state != RUNNING && !(j->state == STOPPING && !j->now.suspend))
		return 0;
	return left < j->now.parallelism ? left : j->now.parallelism;
}

static void write_status(struct world *w, int i)
{
	struct model_job *j = &w->job[i];
	struct status s = j->now;
	s.active = j->active;
	s.succeeded = j->succeeded;
	s.failed = j->failed;
	s.suspended = s.suspend;
	s.complete = j->succeeded >= j->completions && j->active == 0;
	if (memcmp(&s, &j->now, sizeof(s)) == 0)
		return;
	j->now = s;
	job_written(w, i);
}

static bool keeps_pods(const struct world *w, int space)
{
	for (int q = 0; q < QUOTAS; q++)
		if (space_of_quota(q) == space && w->quota[q].exists &&
			w->quota[q].hard.kept != NONE)
			return true;
	return false;
}

/* A failed pod is replaced; count/pods may rightly have no room for the new one. */
static void end_pod(struct world *w, int i)
{
	struct model_job *j = &w->job[i];
	if (j->active == 0 || j->state == STOPPING)
		return;
	j->active--;
	if (draw(w, 4) == 0 && !keeps_pods(w, j->space))
		j->failed++;
	else
		j->succeeded++;
}

static void control_job(struct world *w, int i)
{
	struct model_job *j = &w->job[i];
	if (j->state == ABSENT)
		return;
	if (j->active < wanted(j) && draw(w, 2))
		make_pod(w, i);
	else if (j->now.suspend && j->active > 0)
		j->active--; /* deleted, and kept nowhere */
	else if (draw(w, 3) == 0)
		end_pod(w, i);
	else if (draw(w, 2))
		write_status(w, i);
}

/* ---- The gate ---------------------------------------------------------------------------------
 */

static void see_jobs(struct world *w)
{
	if (w->jobs.from == w->jobs.to)
		return;
	const struct event *e = &w->jobs.event[w->jobs.from++];
	w->job[e->which].seen = e->told.job;
	if (w->job[e->which].state != DONE)
		tell_job(w, e->which);
}

static void see_quotas(struct world *w)
{
	if (w->quotas.from == w->quotas.to)
		return;
	const struct event *e = &w->quotas.event[w->quotas.from++];
	w->told[e->which] = e->told.quota;
	w->quotas_seen = e->told.quota.version;
	tell_quota(w, e->which);
	queue_saw_quotas(w->q, NULL, w->quotas_seen);
}

static void bookmark(struct world *w)
{
	if (w->quotas.from < w->quotas.to)
		return;
	w->quotas_seen = w->version;
	queue_saw_quotas(w->q, NULL, w->version);
}

static void decide(struct world *w)
{
	struct decision d[8];
	int64_t next;
	size_t n = queue_decide(w->q, w->now_ms, d, 8, &next);
	for (size_t i = 0; i < n; i++) {
		struct model_job *j = &w->job[d[i].uid.byte[0] - 1];
		if (d[i].kind == DECISION_START) {
			must(j->state == WAITING);
			j->state = STARTING;
			j->chosen = d[i].pods;
			j->room = true;
			w->started++;
			w->fewer += d[i].pods < j->parallelism;
		} else if (d[i].kind == DECISION_STOP) {
			j->state = STOPPING;
		}
	}
}

/* A patch that was sent lands. */
static void land(struct world *w, int i)
{
	struct model_job *j = &w->job[i];
	if (j->state == STARTING) {
		j->state = RUNNING;
		j->now.suspend = j->now.suspended = false;
		j->now.parallelism = j->chosen;
		job_written(w, i);
		queue_confirm_job(
			w->q, &(struct uid){{(uint8_t)(i + 1), (uint8_t)((i + 1) * 7)}}, w->now_ms);
	} else if (j->state == STOPPING && !j->now.suspend) {
		j->now.suspend = true;
		j->now.parallelism = j->parallelism;
		job_written(w, i);
	}
}

/* Its Job has no pod left. */
static void release(struct world *w, int i)
{
	struct model_job *j = &w->job[i];
	const struct uid uid = uid_of(i);
	if (!j->room || j->seen.version != j->now.version || j->seen.active > 0 || j->active > 0)
		return;
	if (j->seen.complete) {
		j->state = DONE;
	} else if (j->state != STOPPING || !j->seen.suspended ||
		   j->succeeded != j->seen.succeeded) {
		return;
	} else {
		j->state = WAITING;
	}
	j->room = false;
	queue_release_job(w->q, &uid, w->now_ms, 0);
	if (j->state == DONE)
		queue_drop_job(w->q, &uid);
}

static void hold(struct world *w, int i, bool held)
{
	struct model_job *j = &w->job[i];
	if (j->state == ABSENT || j->state == DONE || j->now.held == held)
		return;
	j->now.held = held;
	job_written(w, i);
}

/* A Job with a reservation and nothing else known yet, as the gate reports it. */
static void tell_unread(struct world *w, int i)
{
	queue_set_job(w->q, &(struct job){.uid = uid_of(i),
				    .ns = space_name(w->job[i].space),
				    .name = "",
				    .queue = "",
				    .priority_class = "",
				    .pod_priority_class = "",
				    .deleting = true,
				    .suspend = true});
}

static void adopt(struct world *w, int i)
{
	const struct quota_line line = {"cq/free", "any", "cpu", 0};
	const struct uid uid = uid_of(i);
	if (w->job[i].room)
		must(queue_adopt_job(w->q, &uid, &line, 1, w->now_ms));
}

/* A new leader: everything is listed, and Jobs with a reservation in the ledger are adopted, now
 * and then before they are seen. */
static void crash(struct world *w)
{
	queue_free(w->q);
	w->q = queue_new();
	tell_admins(w);
	w->quotas.from = w->quotas.to;
	memcpy(w->told, w->quota, sizeof(w->told));
	w->quotas_seen = w->version;
	for (int i = 0; i < QUOTAS; i++)
		tell_quota(w, i);
	queue_saw_quotas(w->q, NULL, w->version);
	w->jobs.from = w->jobs.to;
	for (int i = 0; i < JOBS; i++) {
		struct model_job *j = &w->job[i];
		const struct uid uid = uid_of(i);
		bool unread = j->room && draw(w, 3) == 0;
		j->seen = j->now;
		if (j->state == ABSENT || j->state == DONE)
			continue;
		if (unread) {
			tell_unread(w, i);
			adopt(w, i);
		}
		tell_job(w, i);
		if (!unread)
			adopt(w, i);
		if (j->room && j->state == STARTING)
			j->state = STOPPING; /* called off: it may have been sent */
		if (j->room && j->state == STOPPING)
			queue_ending_job(w->q, &uid);
	}
	queue_know_cluster(w->q);
}

/* ---- People -----------------------------------------------------------------------------------
 */

static void submit(struct world *w)
{
	int i = 0;
	while (i < JOBS && w->job[i].state != ABSENT)
		i++;
	if (i == JOBS)
		return;
	struct model_job *j = &w->job[i];
	*j = (struct model_job){.state = WAITING,
		.space = (int)draw(w, SPACES),
		.cpu = draw(w, 5) ? (int32_t)(1 + draw(w, 4)) * 500 : 0,
		.parallelism = (int32_t)(1 + draw(w, 4))};
	j->completions = j->parallelism * (int32_t)(1 + draw(w, 2) * draw(w, 3));
	j->min = draw(w, 3) ? 0 : 1;
	j->now.suspend = j->now.suspended = true;
	j->now.parallelism = j->parallelism;
	job_written(w, i);
}

static int64_t drawn_limit(struct world *w, uint32_t most, int64_t unit)
{
	return draw(w, 3) == 0 ? NONE : (int64_t)(1 + draw(w, most)) * unit;
}

static void make_quotas(struct world *w)
{
	for (int i = 0; i < QUOTAS; i++) {
		struct model_quota *q = &w->quota[i];
		q->exists = draw(w, 3) > 0;
		q->not_best_effort = draw(w, 2);
		q->hard.pods = drawn_limit(w, 8, 1);
		q->hard.cpu = drawn_limit(w, 10, 500);
		q->hard.kept = draw(w, 2) ? NONE : drawn_limit(w, 60, 1);
		if (q->exists)
			quota_written(w, i);
	}
}

/* Only upwards: a limit below the admitted pods rightly refuses. */
static void raise_quota(struct world *w)
{
	int i = (int)draw(w, QUOTAS);
	struct model_quota *q = &w->quota[i];
	if (!q->exists)
		return;
	q->hard.pods += q->hard.pods != NONE;
	q->hard.cpu += q->hard.cpu != NONE ? 500 : 0;
	q->hard.kept += q->hard.kept != NONE ? 3 : 0;
	quota_written(w, i);
}

/* ---- The test ---------------------------------------------------------------------------------
 */

static void step(struct world *w)
{
	int i = (int)draw(w, JOBS);
	w->now_ms += draw(w, 50);
	switch (draw(w, 16)) {
	case 0:
		submit(w);
		break;
	case 1:
		count_quota(w, (int)draw(w, QUOTAS));
		break;
	case 2:
		if (draw(w, 8) == 0)
			hold(w, i, draw(w, 2));
		break;
	case 3:
		if (draw(w, 30) == 0)
			raise_quota(w);
		break;
	case 4:
		if (draw(w, 60) == 0)
			crash(w);
		break;
	case 5:
		bookmark(w);
		break;
	case 6:
	case 7:
		see_jobs(w);
		break;
	case 8:
		see_quotas(w);
		break;
	case 9:
		decide(w);
		break;
	default:
		for (int k = 0; k < JOBS; k++) {
			land(w, k);
			control_job(w, k);
			release(w, k);
		}
	}
}

/* Everything under way happens; no pod ends any more. */
static void settle(struct world *w)
{
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < JOBS; i++) {
			struct model_job *j = &w->job[i];
			hold(w, i, false);
			land(w, i);
			while (j->now.suspend && j->active > 0)
				j->active--;
			while (j->state != ABSENT && j->active < wanted(j) && make_pod(w, i))
				;
			if (j->state != ABSENT)
				write_status(w, i);
		}
		for (int q = 0; q < QUOTAS; q++)
			count_quota(w, q);
		while (w->quotas.from < w->quotas.to)
			see_quotas(w);
		while (w->jobs.from < w->jobs.to)
			see_jobs(w);
		bookmark(w);
		for (int i = 0; i < JOBS; i++)
			release(w, i);
		decide(w);
	}
}

/* The pods that runs will still make are reserved in count/pods. */
static int64_t to_come(const struct world *w, int quota)
{
	int64_t n = 0;
	for (int i = 0; i < JOBS; i++) {
		const struct model_job *j = &w->job[i];
		if (j->state == RUNNING && j->space == space_of_quota(quota) &&
			counts(&w->quota[quota], j))
			n += j->completions - j->succeeded - j->active;
	}
	return n;
}

static bool has_room(const struct world *w, int i)
{
	const struct model_job *j = &w->job[i];
	int32_t left = j->completions - j->succeeded;
	int32_t pods = j->min ? j->min : left < j->parallelism ? left : j->parallelism;
	for (int q = 0; q < QUOTAS; q++) {
		const struct model_quota *m = &w->quota[q];
		if (space_of_quota(q) != j->space || !counts(m, j))
			continue;
		struct amounts with = live(w, q, i, pods);
		with.kept += to_come(w, q) + left - pods;
		if (!speaks(m, j) || !within(&with, &m->hard))
			return false;
	}
	return true;
}

/* Could it start if there were no pods at all? */
static bool could_ever(const struct world *w, int i)
{
	const struct model_job *j = &w->job[i];
	int32_t left = j->completions - j->succeeded;
	int32_t pods = j->min ? j->min : left < j->parallelism ? left : j->parallelism;
	struct amounts alone = {pods, (int64_t)pods * j->cpu, left};
	for (int q = 0; q < QUOTAS; q++) {
		const struct model_quota *m = &w->quota[q];
		if (space_of_quota(q) == j->space && counts(m, j) &&
			(!speaks(m, j) || !within(&alone, &m->hard)))
			return false;
	}
	return true;
}

static void who_never_will_is_counted(struct world *w)
{
	const char *name;
	size_t jobs, counted = 0, never = 0;
	for (int i = 0; i < JOBS; i++)
		never += w->job[i].state == WAITING && !could_ever(w, i);
	for (size_t i = 0; queue_count_beyond_quota(w->q, i, &name, &jobs); i++)
		counted += jobs;
	if (counted != never)
		fail_msg("seed %u: %zu Jobs can never run, %zu are counted", w->seed, never,
			counted);
	w->never += never;
}

static void nothing_is_left_that_fits(struct world *w)
{
	for (int i = 0; i < JOBS; i++) {
		const struct uid uid = uid_of(i);
		struct explanation x;
		if (w->job[i].state != WAITING)
			continue;
		assert_true(queue_explain(w->q, &uid, w->now_ms, &x));
		if (has_room(w, i))
			fail_msg("seed %u: job %d would fit: %s", w->seed, i, x.sentence);
		if (x.reason != WAIT_NAMESPACE_QUOTA)
			fail_msg("seed %u: job %d: %s", w->seed, i, x.sentence);
	}
}

static void run_seed(uint32_t seed, struct world *w)
{
	size_t started = w->started, late = w->refused_late, fewer = w->fewer, never = w->never;
	memset(w, 0, sizeof(*w));
	w->started = started;
	w->refused_late = late;
	w->fewer = fewer;
	w->never = never;
	w->seed = w->draw = seed;
	w->version = 100;
	w->q = queue_new();
	tell_admins(w);
	make_quotas(w);
	while (w->quotas.from < w->quotas.to)
		see_quotas(w);
	queue_know_cluster(w->q);
	for (int i = 0; i < STEPS; i++)
		step(w);
	settle(w);
	nothing_is_left_that_fits(w);
	who_never_will_is_counted(w);
	queue_free(w->q);
}

static void no_pod_is_refused_and_nothing_is_kept_for_ever(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	const char *one = getenv("NAMESPACE_QUOTA_SEED");
	(void)state;
	must(w);
	for (uint32_t seed = 1; seed <= SEEDS; seed++)
		if (!one || (uint32_t)atoi(one) == seed)
			run_seed(seed, w);
	if (!one) { /* all cases did happen */
		assert_true(w->started > 10 * SEEDS);
		assert_true(w->fewer > 0 && w->refused_late > 0 && w->never > 0);
	}
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_pod_is_refused_and_nothing_is_kept_for_ever),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
