#include "cli/simulate/world.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/mix.h"
#include "base/must.h"
#include "cli/simulate/ends.h"
#include "queue/calendar/tzdata.h"
#include "controller/wire/job_times.h"

struct entry {
	char *name;	    /* "LocalQueue team-a/main" */
	char *leads_to;	    /* LocalQueue: its ClusterQueue */
	size_t index;	    /* CronJob: of world.cronjob */
	bool described;	    /* Namespace: by a document */
	struct entry *next; /* Namespace: the one in use before this one */
};

struct owner {
	struct uid uid;
	size_t sim_job;
};

/* The beginning of made uids; the rest is the index. No server makes such a uid: the version of a
 * UUID is never 0. */
static const uint8_t made_uid[8] = {'s', 'l', 'u', 'i', 'c', 'e', 0, 0};

static bool entry_is(const void *value, const void *key)
{
	return strcmp(((const struct entry *)value)->name, key) == 0;
}

static bool owner_is(const void *value, const void *key)
{
	return uid_cmp(&((const struct owner *)value)->uid, key) == 0;
}

void world_init(struct world *w, const struct queue_config *config)
{
	*w = (struct world){.queue = queue_new()};
	queue_configure(w->queue, config);
	map_init(&w->by_uid, owner_is);
	map_init(&w->names, entry_is);
	policy_specs_init(&w->policy_specs);
}

void world_done(struct world *w)
{
	queue_free(w->queue);
	trace_done(&w->trace);
	policy_specs_done(&w->policy_specs);
	node_specs_done(&w->node_specs);
	map_done(&w->by_uid);
	map_done(&w->names);
	for (size_t i = 0; i < w->nblocks; i++)
		free(w->block[i]);
	for (size_t i = 0; i < w->nzones; i++)
		zone_free(w->zone[i]);
	free(w->zone);
	free(w->block);
	free(w->sim_job);
	free(w->adoption);
	free(w->cronjob);
	free(w->arrival);
	free(w->endless);
	*w = (struct world){0};
}

void *world_keep(struct world *w, void *block)
{
	w->block = mem_one_more(w->block, w->nblocks, sizeof(*w->block));
	w->block[w->nblocks++] = block;
	return block;
}

char *world_keep_text(struct world *w, const char *prefix, const char *text)
{
	size_t size = strlen(prefix) + strlen(text) + 1;
	char *copy = mem_alloc(size);
	snprintf(copy, size, "%s%s", prefix, text);
	return world_keep(w, copy);
}

/* ---- names ----------------------------------------------------------------------------------- */

enum { NAME_SIZE = 700 }; /* kind, namespace and name */

static struct entry *find_name(
	const struct world *w, const char *kind, const char *ns, const char *name)
{
	char key[NAME_SIZE];
	snprintf(key, sizeof(key), "%s %s/%s", kind, ns, name);
	return map_get(&w->names, map_hash_string(key), key);
}

static struct entry *keep_name(struct world *w, const char *kind, const char *ns, const char *name)
{
	char key[NAME_SIZE];
	struct entry *n = find_name(w, kind, ns, name);
	if (n)
		return n;
	snprintf(key, sizeof(key), "%s %s/%s", kind, ns, name);
	n = world_keep(w, mem_alloc(sizeof(*n)));
	n->name = world_keep(w, mem_strdup(key));
	map_put(&w->names, map_hash_string(key), n);
	return n;
}

static struct entry *mention_namespace(struct world *w, const char *ns)
{
	struct entry *n = find_name(w, "Namespace", "", ns);
	if (n)
		return n;
	n = keep_name(w, "Namespace", "", ns);
	n->next = w->namespaces;
	w->namespaces = n;
	return n;
}

/* Writes the kind under which a file's object is noted, beside the Job's own entry, say. */
static void described_kind(const char *kind, char ret[64])
{
	snprintf(ret, 64, "file's %.50s", kind);
}

void world_describe(struct world *w, const char *kind, const char *ns, const char *name)
{
	char own[64];
	described_kind(kind, own);
	keep_name(w, own, ns, name);
}

bool world_is_described(const struct world *w, const char *kind, const char *ns, const char *name)
{
	char own[64];
	described_kind(kind, own);
	return find_name(w, own, ns, name) != NULL;
}

/* Adds a namespace with its own name as a label, as the API server does. */
void world_add_namespace(struct world *w, const struct namespace_spec *s)
{
	struct label *labels = mem_array(s->nlabels + 1, sizeof(*labels));
	size_t n = 0;
	for (size_t i = 0; i < s->nlabels; i++)
		if (strcmp(s->labels[i].key, "kubernetes.io/metadata.name") != 0)
			labels[n++] = s->labels[i];
	labels[n++] = (struct label){"kubernetes.io/metadata.name", s->name};
	mention_namespace(w, s->name)->described = true;
	queue_set_namespace(w->queue,
		&(struct namespace_spec){.name = s->name, .labels = labels, .nlabels = n});
	free(labels);
}

int world_add_clusterqueue(struct world *w, const struct clusterqueue_spec *s, struct err *e)
{
	int rc = queue_set_clusterqueue(w->queue, s, e);
	if (rc == 0)
		keep_name(w, "ClusterQueue", "", s->name);
	return rc;
}

int world_add_flavor(struct world *w, const struct flavor_spec *s, struct err *e)
{
	int rc = queue_set_flavor(w->queue, s, e);
	if (rc == 0)
		keep_name(w, "ResourceFlavor", "", s->name);
	return rc;
}

int world_add_localqueue(struct world *w, const struct localqueue_spec *s, struct err *e)
{
	int rc = queue_set_localqueue(w->queue, s, e);
	if (rc < 0)
		return rc;
	mention_namespace(w, s->ns);
	keep_name(w, "LocalQueue", s->ns, s->name)->leads_to =
		world_keep(w, mem_strdup(s->clusterqueue));
	return 0;
}

const char *world_clusterqueue(const struct world *w, const char *ns, const char *localqueue)
{
	const struct entry *n = find_name(w, "LocalQueue", ns, localqueue);
	return n ? n->leads_to : "";
}

/* ---- zones ----------------------------------------------------------------------------------- */

static const struct zone *known_zone(const char *name, void *ctx)
{
	const struct world *w = ctx;
	for (size_t i = 0; i < w->nzones; i++)
		if (strcmp(w->zone[i]->name, name) == 0)
			return w->zone[i];
	return NULL;
}

int world_zone(struct world *w, const char *name, const struct zone **ret, struct err *e)
{
	struct zone *z;
	*ret = known_zone(name, w);
	if (*ret)
		return 0;
	int rc = tzdata_load(name, &z, e);
	if (rc < 0)
		return rc;
	w->zone = mem_grow(w->zone, w->nzones + 1, sizeof(*w->zone));
	w->zone[w->nzones++] = z;
	*ret = z;
	return 0;
}

void world_resolve_times(const struct world *w, struct job *j)
{
	job_times_resolve(j, known_zone, (void *)w);
}

static const struct zone *loaded_zone(const char *name, void *ctx)
{
	const struct zone *z;
	return world_zone(ctx, name, &z, NULL) == 0 ? z : NULL; /* the decoder has the sentence */
}

struct job_context world_job_context(struct world *w)
{
	return (struct job_context){
		.find_zone = loaded_zone, .zones = w, .uncounted_claims = w->uncounted_claims};
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static struct sim_job *add_sim_job(struct world *w)
{
	w->sim_job = mem_one_more(w->sim_job, w->nsim_jobs, sizeof(*w->sim_job));
	struct sim_job *a = &w->sim_job[w->nsim_jobs++];
	*a = (struct sim_job){
		.arrival_ms = NEVER_MS, .duration_ms = NEVER_MS, .delete_ms = NEVER_MS};
	return a;
}

/* Makes a uid of the index, high byte first, so that the order of uids is the order of the
 * files. */
static struct uid made_uid_of(size_t sim_job)
{
	struct uid uid;
	uint64_t index = htobe64(sim_job);
	memcpy(uid.byte, made_uid, 8);
	memcpy(uid.byte + 8, &index, 8);
	return uid;
}

struct uid world_next_uid(const struct world *w)
{
	return made_uid_of(w->nsim_jobs);
}

static int claim_uid(struct world *w, const struct job *j, struct err *e)
{
	uint64_t hash = uid_hash(&j->uid);
	if (memcmp(j->uid.byte, made_uid, sizeof(made_uid)) == 0 ||
		map_get(&w->by_uid, hash, &j->uid))
		return err_set(e, ERR_CONFLICT,
			"Job %s/%s: metadata.uid: another Job has the same; leave it out", j->ns,
			j->name);
	struct owner *o = world_keep(w, mem_alloc(sizeof(*o)));
	*o = (struct owner){j->uid, w->nsim_jobs};
	map_put(&w->by_uid, hash, o);
	return 0;
}

int world_add_job(struct world *w, struct job *j, const struct job_plan *plan, struct err *e)
{
	if (find_name(w, "Job", j->ns, j->name))
		return err_set(e, ERR_CONFLICT,
			"Job %s/%s: metadata.name: there is another Job of that name; each runs once",
			j->ns, j->name);
	if (plan->has_own_uid && claim_uid(w, j, e) < 0)
		return ERR_CONFLICT;
	keep_name(w, "Job", j->ns, j->name);
	mention_namespace(w, j->ns);
	struct sim_job *a = add_sim_job(w);
	a->record = world_keep(w, j);
	a->has_own_uid = plan->has_own_uid;
	a->duration_ms = plan->duration_ms;
	a->step_ms = plan->step_ms;
	a->delete_ms = plan->delete_ms;
	a->fails = plan->fails;
	a->attempt = plan->attempt;
	if (plan->has_arrival)
		a->arrival_ms = j->created_ms;
	return 0;
}

void world_add_other(struct world *w, struct job *j)
{
	const struct job_status *s = &j->status;
	struct sim_job *a = add_sim_job(w);
	a->record = world_keep(w, j);
	a->has_own_uid = true;
	a->arrival_ms = j->created_ms;
	a->state = job_finished(j) ? SIM_JOB_GONE : SIM_JOB_OTHER;
	a->ended_ms = s->finished_ms;
	a->fails = s->failed;
	a->attempt = j->admission.attempt > 0 || s->has_start_time || s->active > 0;
	w->nothers++;
}

void world_add_adoption(struct world *w, const struct adoption *a)
{
	w->adoption = mem_one_more(w->adoption, w->nadoptions, sizeof(*w->adoption));
	w->adoption[w->nadoptions++] = *a;
}

void world_add_cronjob(struct world *w, const struct cronjob *c)
{
	w->cronjob = mem_one_more(w->cronjob, w->ncronjobs, sizeof(*w->cronjob));
	keep_name(w, "CronJob", c->record->ns, c->name)->index = w->ncronjobs;
	w->cronjob[w->ncronjobs++] = *c;
	mention_namespace(w, c->record->ns);
}

void world_link_cronjob(struct world *w, size_t sim_job)
{
	static const char made[] = "CronJob/";
	struct sim_job *a = &w->sim_job[sim_job];
	const char *family = a->record->family;
	if (w->ncronjobs == 0 || strncmp(family, made, strlen(made)) != 0)
		return;
	const struct entry *c = find_name(w, "CronJob", a->record->ns, family + strlen(made));
	if (!c)
		return;
	a->name = a->record->name;
	a->origin = c->index;
	w->cronjob[c->index].last = sim_job;
}

size_t world_fire(struct world *w, size_t cronjob, int64_t at_ms, int64_t now_ms)
{
	struct cronjob *c = &w->cronjob[cronjob];
	char name[NAME_SIZE];
	/* The name is the CronJob controller's: by the minute at which the Job was due. */
	snprintf(name, sizeof(name), "%s-%lld", c->name, (long long)(at_ms / 60000));
	struct sim_job *a = add_sim_job(w);
	a->record = c->record;
	a->name = world_keep(w, mem_strdup(name));
	a->origin = cronjob;
	a->arrival_ms = now_ms;
	a->duration_ms = c->duration_ms;
	a->step_ms = c->step_ms;
	a->fails = c->fails;
	c->last = w->nsim_jobs - 1;
	return c->last;
}

/* ---- the trace ------------------------------------------------------------------------------- */

static int check_trace_queue(struct world *w, const char *ns, const char *name, struct err *e)
{
	if (find_name(w, "LocalQueue", ns, name))
		return 0;
	return err_set(e, ERR_GONE,
		"the trace's Jobs go to LocalQueue %s/%s, which no manifest describes; add it, or name another with --queue NS/NAME",
		ns, name);
}

static int check_trace_users(struct world *w, struct err *e)
{
	int64_t last = INT64_MIN;
	for (size_t i = 0; i < w->trace.njobs; i++) {
		char name[32];
		if (w->trace.job[i].user == last)
			continue;
		last = w->trace.job[i].user;
		snprintf(name, sizeof(name), "user-%lld", (long long)last);
		int rc = check_trace_queue(w, "default", name, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int split_queue(struct world *w, const char *queue, struct err *e)
{
	const char *slash = queue ? strchr(queue, '/') : NULL;
	if (!queue)
		return check_trace_users(w, e);
	if (!slash || slash == queue || !slash[1] || strchr(slash + 1, '/'))
		return err_set(e, ERR_INVALID,
			"--queue is \"%.80s\"; write NAMESPACE/NAME of a LocalQueue", queue);
	w->trace_ns = world_keep(w, mem_strndup(queue, (size_t)(slash - queue)));
	w->trace_queue = world_keep(w, mem_strdup(slash + 1));
	return check_trace_queue(w, w->trace_ns, w->trace_queue, e);
}

int world_add_trace(struct world *w, struct trace *t, const char *queue,
	const struct trace_terms *terms, struct err *e)
{
	w->trace = *t;
	w->trace_terms = *terms;
	*t = (struct trace){0};
	int rc = split_queue(w, queue, e);
	if (rc < 0)
		return rc;
	mention_namespace(w, w->trace_ns ? w->trace_ns : "default");
	for (size_t i = 0; i < w->trace.njobs; i++) {
		const struct trace_job *t_job = &w->trace.job[i];
		struct sim_job *a = add_sim_job(w);
		a->origin = i;
		a->arrival_ms = w->trace.start_ms + t_job->submit_ms;
		a->duration_ms = t_job->run_ms;
	}
	return 0;
}

/* ---- closing --------------------------------------------------------------------------------- */

static int64_t earliest_ms(const struct world *w)
{
	int64_t ms = w->trace.njobs > 0 ? w->trace.start_ms : NEVER_MS;
	for (size_t i = 0; i < w->nsim_jobs; i++)
		if (w->sim_job[i].arrival_ms < ms)
			ms = w->sim_job[i].arrival_ms;
	for (size_t i = 0; i < w->nadoptions; i++)
		if (w->adoption[i].at_ms < ms)
			ms = w->adoption[i].at_ms;
	for (size_t i = 0; i < w->ncronjobs; i++)
		if (w->cronjob[i].from_ms < ms)
			ms = w->cronjob[i].from_ms;
	return ms == NEVER_MS ? 0 : ms;
}

static int by_arrival(const void *a, const void *b, void *ctx)
{
	const struct sim_job *sim_job = ctx;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	if (sim_job[x].arrival_ms != sim_job[y].arrival_ms)
		return sim_job[x].arrival_ms < sim_job[y].arrival_ms ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* True if the Job is in a queue. One that names none goes to the LocalQueue "default" of its
 * namespace, if there is one. */
static bool is_queued(const struct world *w, const struct sim_job *a)
{
	return !a->record || *a->record->queue ||
	       find_name(w, "LocalQueue", a->record->ns, "default");
}

static void line_up(struct world *w)
{
	bool sorted = true;
	w->arrival = mem_array(w->nsim_jobs + 1, sizeof(*w->arrival));
	for (size_t i = 0; i < w->nsim_jobs; i++) {
		struct sim_job *a = &w->sim_job[i];
		if (a->arrival_ms == NEVER_MS)
			a->arrival_ms = w->start_ms;
		if (a->state != SIM_JOB_COMING)
			continue;
		if (!is_queued(w, a)) {
			a->state = SIM_JOB_GONE;
			a->never_came = true;
			w->nunqueued++;
			continue;
		}
		if (w->narrivals > 0 &&
			a->arrival_ms < w->sim_job[w->arrival[w->narrivals - 1]].arrival_ms)
			sorted = false;
		w->arrival[w->narrivals++] = i;
	}
	if (!sorted)
		qsort_r(w->arrival, w->narrivals, sizeof(*w->arrival), by_arrival, w->sim_job);
}

static int adoption_error(const struct world *w, const struct adoption *a, const char *kind,
	const char *name, struct err *e)
{
	char job[NAME_SIZE];
	return err_set(e, ERR_GONE,
		"%s: Job %s: metadata.annotations.sluice.dev/simulate-admitted: %s %s is in no manifest; add it, or correct the name",
		a->where, world_name(w, a->sim_job, job, sizeof(job)), kind, name);
}

static int check_adoption(const struct world *w, const struct adoption *a, struct err *e)
{
	if (!find_name(w, "ClusterQueue", "", a->clusterqueue))
		return adoption_error(w, a, "ClusterQueue", a->clusterqueue, e);
	for (size_t i = 0; i < a->nlines; i++)
		if (!find_name(w, "ResourceFlavor", "", a->lines[i].flavor))
			return adoption_error(w, a, "ResourceFlavor", a->lines[i].flavor, e);
	return 0;
}

/* Tells the queue the rules, and decides once without any Job, so that the views say what is wrong.
 * Reservations are judged beside what runs: where something does, by the play's first decision. */
static int apply_rules(struct world *w, struct err *e)
{
	struct decision none;
	int64_t next_ms;
	bool runs = w->nadoptions > 0;
	if (w->policy_specs.n == 0 && w->policy_specs.calendar_specs.n == 0)
		return 0;
	int rc = policy_specs_apply(&w->policy_specs, w->queue, w->start_ms, e);
	if (rc == 0 && !runs)
		rc = policy_specs_reserve(&w->policy_specs, w->queue, e);
	if (rc == 0)
		must(queue_decide(w->queue, w->start_ms, &none, 1, &next_ms) == 0);
	if (rc == 0 && runs)
		rc = policy_specs_reserve(&w->policy_specs, w->queue, e);
	return rc;
}

static void settle_ends(struct world *w)
{
	struct ends ends;
	ends_init(&ends, w->assumed_ms);
	ends_settle(&ends, w);
	ends_done(&ends);
}

int world_close(struct world *w, struct err *e)
{
	for (size_t i = 0; i < w->nadoptions && !w->live; i++) {
		int rc = check_adoption(w, &w->adoption[i], e);
		if (rc < 0)
			return rc;
	}
	for (const struct entry *n = w->namespaces; n; n = n->next) {
		const char *name = n->name + strlen("Namespace /");
		if (!n->described)
			world_add_namespace(w, &(struct namespace_spec){.name = name});
	}
	w->start_ms = w->settled_ms = w->live ? w->now_ms : earliest_ms(w);
	for (size_t i = 0; i < w->nadoptions; i++) {
		w->sim_job[w->adoption[i].sim_job].state = SIM_JOB_RUNNING;
		if (w->adoption[i].at_ms > w->settled_ms)
			w->settled_ms = w->adoption[i].at_ms;
	}
	line_up(w);
	if (!w->live)
		settle_ends(w);
	node_specs_apply(&w->node_specs, w->queue);
	return apply_rules(w, e);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Writes a number, to its end, in a tenth of printf's time: a trace has millions of names. */
static void put_number(char *ret, int64_t n)
{
	char digits[24], *p = digits;
	uint64_t rest = n < 0 ? -(uint64_t)n : (uint64_t)n;
	do
		*p++ = (char)('0' + rest % 10);
	while (rest /= 10);
	if (n < 0)
		*p++ = '-';
	while (p > digits)
		*ret++ = *--p;
	*ret = '\0';
}

/* Draws a number for a Job, whatever the other Jobs are. */
static uint64_t drawn(int64_t seed, size_t traced)
{
	return mix64((uint64_t)seed * 0x9E3779B97F4A7C15u + traced + 1);
}

/* Returns the min-parallelism of a trace's Job; 0: it needs all of its processors. */
static int32_t trace_min_parallelism(const struct world *w, size_t traced)
{
	const struct trace_terms *terms = &w->trace_terms;
	int32_t all = w->trace.job[traced].processors;
	int32_t least = (int32_t)(terms->min_parallelism * all);
	if (terms->min_parallelism <= 0)
		return 0;
	least = least > 0 ? least : 1;
	int64_t min = least + (int64_t)(drawn(terms->seed, traced) % (uint64_t)(all - least + 1));
	return min < all ? (int32_t)min : 0;
}

static struct job trace_record(const struct world *w, size_t traced, struct job_scratch *s)
{
	const struct trace_job *t = &w->trace.job[traced];
	put_number(s->name, t->number);
	if (!w->trace_queue) {
		memcpy(s->queue, "user-", 5);
		put_number(s->queue + 5, t->user);
	}
	*s->family = '\0';
	if (w->trace_terms.families)
		snprintf(s->family, sizeof(s->family), "user-%lld-%d-", (long long)t->user,
			t->application);
	s->cpu = (struct resource){"cpu", 1000};
	s->container = (struct container){.requests = {&s->cpu, 1}};
	int64_t estimate_ms = w->trace_terms.exact ? t->run_ms : t->requested_ms;
	return (struct job){
		.ns = w->trace_ns ? w->trace_ns : "default",
		.name = s->name,
		.queue = w->trace_queue ? w->trace_queue : s->queue,
		.priority_class = "",
		.pod_priority_class = "",
		/* At least 1, also for a Job that ends at once: 0 would say that nothing is
		 * known. */
		.durations.expected_ms = estimate_ms > 0 ? estimate_ms : 1,
		.terms = {.cheapest = w->trace_terms.cheapest, .max_price_resource = ""},
		.family = s->family,
		.parallelism = t->processors,
		.has_completions = true,
		.completions = t->processors,
		.min_parallelism = trace_min_parallelism(w, traced),
		.grow = w->trace_terms.grow ? GROW_YES : GROW_AS_QUEUE,
		.pod = {.containers = &s->container, .ncontainers = 1, .runtime_class = ""},
	};
}

static int64_t trace_deadline_ms(const struct world *w, const struct sim_job *a)
{
	int64_t allowed_ms = w->trace_terms.deadline_ms;
	if (allowed_ms == 0)
		return 0;
	return a->arrival_ms + (allowed_ms > a->duration_ms ? allowed_ms : a->duration_ms);
}

struct job world_job(const struct world *w, size_t sim_job, struct job_scratch *scratch)
{
	const struct sim_job *a = &w->sim_job[sim_job];
	struct job j = a->record ? *a->record : trace_record(w, a->origin, scratch);
	if (a->name)
		j.name = a->name;
	if (!*j.queue)
		j.queue = "default";
	j.uid = world_uid(w, sim_job);
	j.created_ms = a->arrival_ms;
	j.suspend = true;
	/* Only pods that are played count, not those that the file saw. */
	j.version = 0;
	j.status.active = 0;
	if (a->record)
		world_resolve_times(w, &j);
	else
		j.terms.deadline_ms = trace_deadline_ms(w, a);
	return j;
}

int64_t world_deadline_ms(const struct world *w, size_t sim_job)
{
	const struct sim_job *a = &w->sim_job[sim_job];
	struct job_scratch scratch;
	if (!a->record)
		return trace_deadline_ms(w, a);
	return world_job(w, sim_job, &scratch).terms.deadline_ms;
}

int64_t world_done_ms(const struct sim_job *a, int64_t now_ms)
{
	int64_t ms = now_ms - a->sized_ms;
	if (a->full_pods > 0)
		ms = (int64_t)((__int128)ms * a->pods / a->full_pods);
	return a->done_ms + ms;
}

int64_t world_left_ms(const struct sim_job *a)
{
	if (a->duration_ms == NEVER_MS)
		return NEVER_MS;
	__int128 left = a->duration_ms - a->done_ms;
	if (a->full_pods > 0)
		left = (left * a->full_pods + a->pods - 1) / a->pods;
	return left < NEVER_MS ? (int64_t)left : NEVER_MS;
}

int64_t world_kept_ms(const struct world *w, size_t sim_job, int64_t now_ms)
{
	const struct sim_job *a = &w->sim_job[sim_job];
	int64_t done_ms = world_done_ms(a, now_ms);
	return a->step_ms > 0 ? done_ms / a->step_ms * a->step_ms : 0;
}

struct uid world_uid(const struct world *w, size_t sim_job)
{
	const struct sim_job *a = &w->sim_job[sim_job];
	return a->has_own_uid ? a->record->uid : made_uid_of(sim_job);
}

size_t world_find(const struct world *w, const struct uid *uid)
{
	uint64_t index;
	if (memcmp(uid->byte, made_uid, sizeof(made_uid)) != 0) {
		const struct owner *o = map_get(&w->by_uid, uid_hash(uid), uid);
		return o ? o->sim_job : SIZE_MAX;
	}
	memcpy(&index, uid->byte + 8, 8);
	index = be64toh(index);
	return index < w->nsim_jobs ? (size_t)index : SIZE_MAX;
}

const char *world_name(const struct world *w, size_t sim_job, char *text, size_t size)
{
	const struct sim_job *a = &w->sim_job[sim_job];
	if (a->record)
		snprintf(text, size, "%s/%s", a->record->ns, a->name ? a->name : a->record->name);
	else
		snprintf(text, size, "%s/%lld", w->trace_ns ? w->trace_ns : "default",
			(long long)w->trace.job[a->origin].number);
	return text;
}
