#include "cli/doctor/reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/span.h"
#include "cli/doctor/checks.h"
#include "cli/job_object.h"
#include "controller/common/clock.h"
#include "sluice/keys.h"

#define PODS                                                                                       \
	"/api/v1/pods?labelSelector=batch.kubernetes.io%2Fcontroller-uid&fieldSelector="           \
	"status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

struct hold {
	char uid[40], state[16];
	char *name; /* namespace/name; ours */
	int attempt;
	int64_t age_ms; /* time since the ledger last wrote of the hold */
};

struct job_seen {
	char uid[40];
	char *name;  /* namespace/name; ours */
	bool queued; /* the Job is ours, and holds quota for itself */
	bool suspended, over;
	int64_t pods;	    /* of its status: active and terminating */
	int64_t changed_ms; /* the latest time in its status */
};

/* The pods of one Job that are not over. */
struct pods_seen {
	char uid[40]; /* of the Job */
	char *name;   /* of some pod; ours */
	size_t count;
	int64_t oldest_ms; /* creationTimestamp */
};

struct look {
	const struct doctor_context *context;
	struct hold *hold;
	struct job_seen *job;
	struct pods_seen *pods;
	size_t nreservations, njobs, npods;
	size_t nunqueued;
	size_t room_jobs, room_pods;
	bool no_pods;
	int64_t now_ms;
};

/* Compares by uid, which is the first member of all three structs. */
static int by_uid(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void look_done(struct look *k)
{
	for (size_t i = 0; i < k->nreservations; i++)
		free(k->hold[i].name);
	for (size_t i = 0; i < k->njobs; i++)
		free(k->job[i].name);
	for (size_t i = 0; i < k->npods; i++)
		free(k->pods[i].name);
	free(k->hold);
	free(k->job);
	free(k->pods);
}

/* ---- reading -------------------------------------------------------------------------------- */

static int read_holds(struct doctor_context *p, struct look *k, struct err *e)
{
	PGresult *r;
	int rc = doctor_context_select(p,
		"SELECT job_uid, attempt, state, ns || '/' || name, (extract(epoch FROM now() - "
		"greatest(reserved_at, started_at, stopping_at)) * 1000)::bigint FROM sluice.hold WHERE cell = $1 ORDER BY job_uid::text COLLATE \"C\", attempt",
		1, &p->o->cell, &r, e);
	if (rc < 0)
		return rc;
	k->nreservations = (size_t)PQntuples(r);
	k->hold = mem_array(k->nreservations + 1, sizeof(*k->hold));
	for (int i = 0; i < PQntuples(r); i++) {
		struct hold *h = &k->hold[i];
		snprintf(h->uid, sizeof(h->uid), "%s", PQgetvalue(r, i, 0));
		h->attempt = atoi(PQgetvalue(r, i, 1));
		snprintf(h->state, sizeof(h->state), "%s", PQgetvalue(r, i, 2));
		h->name = mem_strdup(PQgetvalue(r, i, 3));
		h->age_ms = atoll(PQgetvalue(r, i, 4));
	}
	PQclear(r);
	return 0;
}

static char *full_name(const cJSON *metadata)
{
	char text[600];
	const char *ns = json_text(metadata, "namespace"), *name = json_text(metadata, "name");
	snprintf(text, sizeof(text), "%s/%s", ns ? ns : "", name ? name : "");
	return mem_strdup(text);
}

static void read_changes(struct job_seen *j, const cJSON *status)
{
	json_each(c, json_array(status, "conditions")) {
		int64_t ms = json_instant(c, "lastTransitionTime");
		if (ms > j->changed_ms)
			j->changed_ms = ms;
	}
}

static void take_job(const cJSON *object, void *ctx)
{
	struct look *k = ctx;
	const cJSON *metadata = json_object(object, "metadata");
	const cJSON *status = json_object(object, "status");
	const char *uid = json_text(metadata, "uid");
	bool named = json_text(json_object(metadata, "labels"), QUEUE_LABEL);
	bool queued =
		named && !doctor_context_exempts(k->context, json_text(metadata, "namespace"));
	k->nunqueued += !named &&
			!doctor_context_exempts(k->context, json_text(metadata, "namespace")) &&
			!job_object_is_over(object);
	if (!uid || (!queued && !bsearch(uid, k->hold, k->nreservations, sizeof(*k->hold), by_uid)))
		return;
	k->job = mem_room(k->job, k->njobs, &k->room_jobs, 256, sizeof(*k->job));
	struct job_seen *j = &k->job[k->njobs++];
	*j = (struct job_seen){.name = full_name(metadata),
		.queued = queued,
		.suspended = job_object_is_suspended(object),
		.over = job_object_is_over(object)};
	snprintf(j->uid, sizeof(j->uid), "%s", uid);
	int64_t active = 0, terminating = 0;
	json_i64(status, "active", &active);
	json_i64(status, "terminating", &terminating);
	j->pods = active + terminating;
	j->changed_ms = json_instant(status, "startTime");
	if (j->changed_ms == 0)
		j->changed_ms = json_instant(metadata, "creationTimestamp");
	read_changes(j, status);
}

/* Takes a pod. Pods come in no order that helps, so they are joined when all are there. */
static void take_pod(const cJSON *object, void *ctx)
{
	struct look *k = ctx;
	const cJSON *metadata = json_object(object, "metadata");
	const char *uid =
		json_text(json_object(metadata, "labels"), "batch.kubernetes.io/controller-uid");
	if (!uid)
		return;
	k->pods = mem_room(k->pods, k->npods, &k->room_pods, 256, sizeof(*k->pods));
	struct pods_seen *s = &k->pods[k->npods++];
	*s = (struct pods_seen){.name = full_name(metadata),
		.count = 1,
		.oldest_ms = json_instant(metadata, "creationTimestamp")};
	snprintf(s->uid, sizeof(s->uid), "%s", uid);
}

static void join_pods(struct look *k)
{
	size_t n = 0;
	if (k->npods > 0)
		qsort(k->pods, k->npods, sizeof(*k->pods), by_uid);
	for (size_t i = 0; i < k->npods; i++) {
		struct pods_seen *last = n > 0 ? &k->pods[n - 1] : NULL;
		if (!last || strcmp(last->uid, k->pods[i].uid) != 0) {
			k->pods[n++] = k->pods[i];
			continue;
		}
		last->count++;
		if (k->pods[i].oldest_ms < last->oldest_ms)
			last->oldest_ms = k->pods[i].oldest_ms;
		free(k->pods[i].name);
	}
	k->npods = n;
}

/* Reads both sides. Holds come first: what is started meanwhile is too young to be missed. */
static int look_around(struct doctor_context *p, struct look *k, struct err *e)
{
	*k = (struct look){
		.context = p, .now_ms = clock_now_ms() + (p->api_skew_known ? p->api_skew_ms : 0)};
	int rc = read_holds(p, k, e);
	if (rc == 0)
		rc = doctor_context_each(p, DOCTOR_JOBS, take_job, k, e);
	if (rc < 0)
		return rc;
	if (k->njobs > 0)
		qsort(k->job, k->njobs, sizeof(*k->job), by_uid);
	rc = doctor_context_each(p, PODS, take_pod, k, e);
	k->no_pods = rc == ERR_DENIED;
	join_pods(k);
	return k->no_pods ? 0 : rc;
}

/* ---- comparing ------------------------------------------------------------------------------ */

static void add(struct reconciliation *r, enum discord about, const char *uid, char *text)
{
	r->item = mem_grow(r->item, r->n + 1, sizeof(*r->item));
	r->item[r->n].about = about;
	snprintf(r->item[r->n].uid, sizeof(r->item[r->n].uid), "%s", uid);
	r->item[r->n++].text = text;
}

static const struct job_seen *job_of(const struct look *k, const char *uid)
{
	return k->njobs ? bsearch(uid, k->job, k->njobs, sizeof(*k->job), by_uid) : NULL;
}

static const struct pods_seen *pods_of(const struct look *k, const char *uid)
{
	return k->npods ? bsearch(uid, k->pods, k->npods, sizeof(*k->pods), by_uid) : NULL;
}

static bool has_reservation(const struct look *k, const char *uid)
{
	return k->nreservations &&
	       bsearch(uid, k->hold, k->nreservations, sizeof(*k->hold), by_uid);
}

static void compare_hold(const struct look *k, const struct hold *h, struct reconciliation *r)
{
	char text[800];
	const struct job_seen *j = job_of(k, h->uid);
	const char *why = !j		 ? "does not exist"
			  : j->over	 ? "has ended"
			  : j->suspended ? "is suspended"
					 : NULL;
	if (!why || h->age_ms < RECONCILE_YOUNG_MS || pods_of(k, h->uid) ||
		(!j && k->no_pods) || /* the Job's pods may live on, and we cannot know */
		(j && (j->pods > 0 || k->now_ms - j->changed_ms < RECONCILE_YOUNG_MS)))
		return;
	snprintf(text, sizeof(text),
		"an orphan: Job %.500s (uid %s) %s and has no pods, and its attempt %d holds quota (%s) for %s",
		h->name, h->uid, why, h->attempt, h->state, span_short(h->age_ms).s);
	add(r, DISCORD_HOLD, h->uid, mem_strdup(text));
}

static void compare_job(const struct look *k, const struct job_seen *j, struct reconciliation *r)
{
	char text[800];
	int64_t age_ms = k->now_ms - j->changed_ms;
	if (!j->queued || j->suspended || j->over || age_ms < RECONCILE_YOUNG_MS ||
		has_reservation(k, j->uid))
		return;
	snprintf(text, sizeof(text), "Job %.600s runs for %s with %lld pods and holds no quota",
		j->name, span_short(age_ms).s, (long long)j->pods);
	add(r, DISCORD_JOB, j->uid, mem_strdup(text));
}

/* Compares pods, but for those of a Job that runs (compare_job()). */
static void compare_pods(const struct look *k, const struct pods_seen *s, struct reconciliation *r)
{
	char text[1500];
	const struct job_seen *j = job_of(k, s->uid);
	if (!j || !j->queued || has_reservation(k, s->uid) || !(j->suspended || j->over) ||
		k->now_ms - s->oldest_ms < RECONCILE_YOUNG_MS ||
		k->now_ms - j->changed_ms < RECONCILE_YOUNG_MS)
		return;
	snprintf(text, sizeof(text),
		"Job %.600s %s and holds no quota, and %zu of its pods live on (%.600s, %s old)",
		j->name, j->over ? "has ended" : "is suspended", s->count, s->name,
		span_short(k->now_ms - s->oldest_ms).s);
	add(r, DISCORD_POD, s->uid, mem_strdup(text));
}

static int in_order(const void *a, const void *b)
{
	const struct discrepancy *x = a, *y = b;
	if (x->about != y->about)
		return x->about < y->about ? -1 : 1;
	return strcmp(x->uid, y->uid);
}

static struct reconciliation *compare(struct doctor_context *p)
{
	struct look k;
	struct reconciliation *r = mem_alloc(sizeof(*r));
	r->rc = look_around(p, &k, &r->e);
	for (size_t i = 0; r->rc == 0 && i < k.nreservations; i++)
		compare_hold(&k, &k.hold[i], r);
	for (size_t i = 0; r->rc == 0 && i < k.njobs; i++)
		compare_job(&k, &k.job[i], r);
	for (size_t i = 0; r->rc == 0 && i < k.npods; i++)
		compare_pods(&k, &k.pods[i], r);
	if (r->n > 0)
		qsort(r->item, r->n, sizeof(*r->item), in_order);
	r->holds = k.nreservations;
	r->jobs = k.njobs;
	r->unqueued = k.nunqueued;
	for (size_t i = 0; i < k.njobs; i++)
		r->running += k.job[i].queued && !k.job[i].suspended && !k.job[i].over;
	r->pods = k.npods;
	r->no_pods = k.no_pods;
	look_done(&k);
	return r;
}

void reconciliation_free(struct reconciliation *r)
{
	for (size_t i = 0; r && i < r->n; i++)
		free(r->item[i].text);
	if (r)
		free(r->item);
	free(r);
}

/* Keeps of the second look what the first has seen as well. */
static void keep_what_stays(struct reconciliation *later, const struct reconciliation *first)
{
	size_t kept = 0;
	for (size_t i = 0; i < later->n; i++) {
		if (bsearch(&later->item[i], first->item, first->n, sizeof(*first->item), in_order))
			later->item[kept++] = later->item[i];
		else
			free(later->item[i].text);
	}
	later->n = kept;
}

static void pause_ms(int64_t ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&t, NULL);
}

const struct reconciliation *reconcile(struct doctor_context *p)
{
	if (p->reconciliation)
		return p->reconciliation;
	struct reconciliation *r = compare(p);
	if (r->rc == 0 && r->n > 0) {
		struct reconciliation *first = r;
		pause_ms(p->o->settle_ms);
		r = compare(p);
		keep_what_stays(r, first);
		reconciliation_free(first);
	}
	p->reconciliation = r;
	return r;
}

/* ---- the checks ----------------------------------------------------------------------------- */

/* Reports what does not agree. False: it could not be read, and that is said. */
static bool report(
	const struct reconciliation *r, enum discord about, enum verdict v, struct findings *f)
{
	if (r->rc < 0) {
		findings_skip(f, "%s", r->e.text);
		return false;
	}
	for (size_t i = 0; i < r->n; i++)
		if (r->item[i].about == about)
			findings_add(f, v, "%s", r->item[i].text);
	return true;
}

void check_holds(struct doctor_context *p, struct findings *f)
{
	const struct reconciliation *r = reconcile(p);
	if (report(r, DISCORD_HOLD, VERDICT_FAIL, f) && f->count == 0)
		findings_ok(f, "%zu open reservation%s, each of a Job that exists%s", r->holds,
			r->holds == 1 ? "" : "s",
			r->no_pods ? " or whose pods we may not list" : "");
}

/* Reports very many, by the gate's measure (mass_stop.c): the Jobs are hardly at fault, and a new
 * leader would stop them all. */
static void report_mass(const struct reconciliation *r, struct findings *f)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		n += r->item[i].about == DISCORD_JOB;
	if (r->rc < 0 || n < 5 || n * 10 <= r->running)
		return;
	findings_add(f, VERDICT_FAIL,
		"a mass stop is coming: %zu of %zu running Jobs hold no quota, so the ledger was lost or is an old one; a leader stops them after --mass-stop-after",
		n, r->running);
	findings_cure(f,
		"# restore the ledger, then restart the controller; or restart it with --mass-stop-after=0s to have these Jobs stopped now (docs/protocol.md)");
}

void check_jobs(struct doctor_context *p, struct findings *f)
{
	const struct reconciliation *r = reconcile(p);
	report_mass(r, f);
	if (report(r, DISCORD_JOB, VERDICT_FAIL, f) && f->count == 0)
		findings_ok(f,
			"%zu queued Jobs, and those that run hold their quota; not ended and in no queue (no label sluice.dev/queue-name): %zu",
			r->jobs, r->unqueued);
}

void check_pods(struct doctor_context *p, struct findings *f)
{
	const struct reconciliation *r = reconcile(p);
	if (r->rc == 0 && r->no_pods)
		findings_skip(f, "you may not list pods");
	else if (report(r, DISCORD_POD, VERDICT_FAIL, f) && f->count == 0)
		findings_ok(f, "pods of %zu Jobs, and none without a reservation", r->pods);
}
