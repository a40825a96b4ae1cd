#include "cli/simulate/live_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/simulate/job_notes.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_text.h"
#include "sluice/keys.h"

#define STORY_TREE_MAX (4u << 20)
#define UNRANKED UINT64_MAX

struct live_job {
	struct job *job; /* ours, until it is the world's */
	struct job_plan plan;
	struct adoption run; /* the run of a Job that runs or leaves */
	bool holds;	     /* the Job runs or leaves */
	bool intruder;	     /* the Job runs, and Sluice did not start it */
	uint64_t rank;
};

struct live_adoption {
	char *ns;
	int64_t begun_by_ms;
};

void live_jobs_init(struct live_jobs *l, struct world *w, struct ends *ends)
{
	*l = (struct live_jobs){.w = w, .ends = ends, .story = json_new(STORY_TREE_MAX)};
}

void live_jobs_done(struct live_jobs *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->job[i].job);
	for (size_t i = 0; i < l->nadoptions; i++)
		free(l->adoption[i].ns);
	free(l->job);
	free(l->adoption);
	json_free(l->story);
	*l = (struct live_jobs){0};
}

static int64_t later_of(int64_t a_ms, int64_t b_ms)
{
	return a_ms > b_ms ? a_ms : b_ms;
}

/* ---- Namespaces ------------------------------------------------------------------------------ */

void live_jobs_see_namespace(struct live_jobs *l, const cJSON *o)
{
	const cJSON *notes = json_object(json_object(o, "metadata"), "annotations");
	const char *text = json_text(notes, ADOPT_ANNOTATION);
	int64_t ms;
	if (!text || !text_time(text, &ms))
		return;
	l->adoption = mem_grow(l->adoption, l->nadoptions + 1, sizeof(*l->adoption));
	l->adoption[l->nadoptions++] = (struct live_adoption){mem_strdup(decode_name(o)), ms};
}

/* True for a Job that may be adopted, by its Namespace (newcomer.h). */
static bool may_be_adopted(const struct live_jobs *l, const struct job *j)
{
	for (size_t i = 0; i < l->nadoptions; i++)
		if (strcmp(l->adoption[i].ns, j->ns) == 0)
			return j->admission.state == STORY_NONE && j->status.has_start_time &&
			       j->status.start_ms <= l->adoption[i].begun_by_ms;
	return false;
}

/* ---- what a run holds, and since when -------------------------------------------------------- */

static bool has_line(const struct adoption *a, const char *resource)
{
	for (size_t i = 0; i < a->nlines; i++)
		if (strcmp(a->lines[i].resource, resource) == 0)
			return true;
	return false;
}

/* Returns an amount in the ledger's units. An older story tells flavors alone: then it is what the
 * Job's pods request. Below 0: it makes no sense. */
static int64_t amount_of(const struct job *j, const cJSON *holds, const char *resource)
{
	int64_t amount;
	if (!holds)
		return job_notes_request(j, resource, job_pods(j));
	return json_i64(holds, resource, &amount) < 0 ? -1 : amount;
}

/* Reads the lines of a run. False: the story does not tell all of them. */
static bool read_lines(
	struct live_jobs *l, const struct job *j, const cJSON *story, struct adoption *a)
{
	const cJSON *flavors = json_object(story, "flavors"), *holds = json_object(story, "holds");
	const char *clusterqueue = json_text(story, "clusterQueue");
	if (!flavors || !clusterqueue || !*clusterqueue || json_get(story, "flavorsLeftOut"))
		return false;
	const char *node = world_keep_text(l->w, "cq/", clusterqueue);
	size_t most = (size_t)cJSON_GetArraySize(flavors);
	if (most > QUEUE_LINES_MAX || (holds && (size_t)cJSON_GetArraySize(holds) != most))
		return false;
	a->clusterqueue = node + strlen("cq/");
	a->lines = world_keep(l->w, mem_array(most + 1, sizeof(*a->lines)));
	json_each(flavor, flavors) {
		int64_t amount = amount_of(j, holds, flavor->string);
		if (!cJSON_IsString(flavor) || amount < 0 || has_line(a, flavor->string))
			return false;
		a->lines[a->nlines++] =
			(struct quota_line){node, world_keep_text(l->w, "", flavor->valuestring),
				world_keep_text(l->w, "", flavor->string), amount};
	}
	return true;
}

/* Returns when the run began. A start time from before the story of its start is an earlier run's:
 * the Job controller has yet to write this one's. (A change of size writes the story again.) */
static int64_t began_ms(const struct job *j)
{
	const struct job_status *s = &j->status;
	int64_t told_ms = j->admission.told_ms;
	if (s->has_start_time && (told_ms == 0 || j->admission.sizes > 0 || s->start_ms >= told_ms))
		return s->start_ms;
	return told_ms;
}

/* Reads when a run began to hold quota. An adopted one worked before. */
static void read_begin(const struct job *j, const cJSON *story, struct adoption *a)
{
	const char *reason = json_text(story, "reason");
	bool adopted = reason && strcmp(reason, "Adopted") == 0;
	a->at_ms = began_ms(j);
	if (adopted && j->status.has_start_time && j->status.start_ms < a->at_ms)
		a->before_ms = a->at_ms - j->status.start_ms;
}

static void read_run(struct live_jobs *l, const struct job *j, struct adoption *a)
{
	const cJSON *story = NULL;
	const char *text = j->admission.story;
	*a = (struct adoption){.where = "the cluster", .clusterqueue = ""};
	if (text && json_parse(l->story, slice_of(text), &story, NULL) < 0)
		story = NULL;
	read_begin(j, story, a);
	if (read_lines(l, j, story, a))
		return;
	a->nlines = 0;
	a->by_queue = true;
}

/* Restores the size that the owner wrote; a run with fewer pods has smaller numbers in its spec. */
static void restore_size(struct job *j)
{
	struct job_admission *a = &j->admission;
	if (j->suspend || a->owner_parallelism <= 0)
		return;
	j->parallelism = a->owner_parallelism;
	if (a->owner_completions > 0)
		j->completions = a->owner_completions;
	a->owner_parallelism = a->owner_completions = 0;
}

/* ---- what becomes of each -------------------------------------------------------------------- */

static bool has_pods(const struct job *j)
{
	const struct job_status *s = &j->status;
	return s->active > 0 || s->terminating > 0 || !s->suspended;
}

static bool ran_by_story(const struct job *j)
{
	const struct job_admission *a = &j->admission;
	return a->attempt > 0 && (a->state == STORY_STARTED || a->state == STORY_STOPPED);
}

static void take_run(struct live_jobs *l, struct live_job *x)
{
	struct job *j = x->job;
	int32_t pods = job_pods(j); /* by the numbers of the run */
	read_run(l, j, &x->run);
	x->holds = true;
	x->run.pods = pods;
	if (j->admission.state == STORY_STARTED)
		x->plan.attempt = j->admission.attempt - 1;
	if (pods == 0 || j->status.ending)
		x->plan.duration_ms = 0; /* the work is over, and the run ends now */
	restore_size(j);
}

/* Takes a Job that leaves. since_ms: when it was stopped, or deleted. */
static void take_leaving(struct live_jobs *l, struct live_job *x, int64_t since_ms)
{
	read_run(l, x->job, &x->run);
	x->run.leaves = true;
	x->run.leaves_ms = since_ms + x->job->grace_ms;
	x->holds = !x->run.by_queue;
	if (x->job->deleting)
		x->plan.delete_ms = x->run.leaves_ms;
}

/* Holds a Job that a person suspended, until a person acts. */
static void heed_person(struct job *j)
{
	if (j->suspended_by_person && !j->hold)
		j->hold = "suspended by another client while it ran";
}

static void take_suspended(struct live_jobs *l, struct live_job *x)
{
	struct job *j = x->job;
	const struct job_admission *a = &j->admission;
	heed_person(j);
	if (!ran_by_story(j) || !has_pods(j))
		return;
	take_leaving(l, x, a->state == STORY_STOPPED ? a->told_ms : j->suspended_ms);
}

static void take_resumed(struct live_jobs *l, struct live_job *x)
{
	const struct job *j = x->job;
	if (j->admission.state == STORY_STARTED || may_be_adopted(l, j))
		take_run(l, x);
	else
		x->intruder = true;
}

/* Takes a Job. False: it will never start, and holds nothing. */
static bool take(struct live_jobs *l, const cJSON *o, struct live_job *x)
{
	const struct job *j = x->job;
	if (j->deleting) {
		if (ran_by_story(j) && has_pods(j))
			take_leaving(l, x,
				json_instant(json_object(o, "metadata"), "deletionTimestamp"));
		return x->holds;
	}
	if (j->suspend)
		take_suspended(l, x);
	else
		take_resumed(l, x);
	return true;
}

static void keep(struct live_jobs *l, const struct live_job *x)
{
	l->job = mem_one_more(l->job, l->n, sizeof(*l->job));
	l->job[l->n++] = *x;
	l->go_by_pod_priority |= *x->job->pod_priority_class && !*x->job->priority_class;
}

static void tell_end(struct live_jobs *l, const struct job *j)
{
	const struct job_status *s = &j->status;
	if (s->complete && s->has_start_time && s->finished_ms > s->start_ms)
		ends_tell(l->ends, j->ns, j->family, s->finished_ms - s->start_ms, s->finished_ms);
}

static void note_time(struct live_jobs *l, const struct job *j)
{
	l->newest_ms = later_of(l->newest_ms, j->created_ms);
	if (j->status.has_start_time)
		l->newest_ms = later_of(l->newest_ms, j->status.start_ms);
	l->newest_ms = later_of(l->newest_ms, j->status.finished_ms);
}

/* Reads the simulation's own annotations, where they are as they should be. */
static struct job_plan plan_of(const cJSON *o, const struct job *j)
{
	struct job_notes notes;
	struct err ignored;
	struct job_plan plan = {.duration_ms = NEVER_MS, .delete_ms = NEVER_MS};
	if (job_notes_read(o, j, &notes, &ignored) == 0)
		plan = notes.plan;
	plan.has_own_uid = plan.has_arrival = true;
	plan.attempt = j->admission.attempt;
	return plan;
}

int live_jobs_see(struct live_jobs *l, const cJSON *o, struct err *e)
{
	const struct job_context context = world_job_context(l->w);
	struct live_job x = {.rank = UNRANKED};
	int rc = decode_job(o, &context, &x.job, e);
	if (rc < 0)
		return rc;
	bool kept = false;
	note_time(l, x.job);
	if (job_finished(x.job)) {
		tell_end(l, x.job);
	} else if (!world_is_described(l->w, "Job", x.job->ns, x.job->name)) {
		x.plan = plan_of(o, x.job);
		kept = take(l, o, &x);
	}
	if (kept)
		keep(l, &x);
	else
		free(x.job);
	return 0;
}

/* ---- their order ----------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct job *x = ((const struct live_job *)a)->job,
			 *y = ((const struct live_job *)b)->job;
	int order = strcmp(x->ns, y->ns);
	return order ? order : strcmp(x->name, y->name);
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_second(const struct live_job *x, const struct live_job *y)
{
	return compare(job_queued_ms(x->job), job_queued_ms(y->job));
}

static int by_place(const void *a, const void *b)
{
	const struct live_job *x = a, *y = b;
	int order = by_second(x, y);
	if (order)
		return order;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	order = compare(x->job->version, y->job->version);
	return order ? order : by_name(a, b);
}

static void sort(struct live_jobs *l, int (*order)(const void *a, const void *b))
{
	if (l->n > 1)
		qsort(l->job, l->n, sizeof(*l->job), order);
}

bool live_jobs_have_ties(struct live_jobs *l)
{
	const struct live_job *last = NULL;
	bool found = false;
	sort(l, by_place);
	for (size_t i = 0; i < l->n && !found; i++) {
		if (l->job[i].holds)
			continue;
		found = last && by_second(last, &l->job[i]) == 0;
		last = &l->job[i];
	}
	sort(l, by_name); /* for live_jobs_rank() */
	return found;
}

void live_jobs_rank(struct live_jobs *l, const char *ns, const char *name, uint64_t rank)
{
	size_t from = 0, to = l->n;
	while (from < to) {
		size_t i = from + (to - from) / 2;
		int order = strcmp(l->job[i].job->ns, ns);
		order = order ? order : strcmp(l->job[i].job->name, name);
		if (order == 0) {
			l->job[i].rank = rank;
			return;
		}
		if (order < 0)
			from = i + 1;
		else
			to = i;
	}
}

/* ---- they become the world's ----------------------------------------------------------------- */

static void count(struct live_jobs *l, const struct live_job *x)
{
	l->leaving += x->run.leaves && x->holds;
	l->running += !x->run.leaves && x->holds;
	l->waiting += !x->holds;
	l->intruders += x->intruder;
}

static int add(struct live_jobs *l, struct live_job *x, struct err *e)
{
	struct world *w = l->w;
	size_t sim_job = w->nsim_jobs;
	int rc = world_add_job(w, x->job, &x->plan, e);
	if (rc < 0)
		return rc;
	x->job = NULL;
	world_link_cronjob(w, sim_job);
	count(l, x);
	if (!x->holds)
		return 0;
	x->run.sim_job = sim_job;
	if (x->run.at_ms <= 0 || x->run.at_ms > w->now_ms)
		x->run.at_ms = w->now_ms;
	world_add_adoption(w, &x->run);
	return 0;
}

int live_jobs_add(struct live_jobs *l, struct err *e)
{
	int rc = 0;
	sort(l, by_place);
	for (size_t i = 0; i < l->n && rc == 0; i++)
		rc = add(l, &l->job[i], e);
	return rc;
}

int live_jobs_see_other(struct live_jobs *l, const cJSON *o, struct err *e)
{
	const struct job_context context = world_job_context(l->w);
	struct job *j;
	int rc = decode_job(o, &context, &j, e);
	if (rc < 0)
		return rc;
	if (world_find(l->w, &j->uid) != SIZE_MAX ||
		world_is_described(l->w, "Job", j->ns, j->name))
		free(j);
	else
		world_add_other(l->w, j);
	return 0;
}
