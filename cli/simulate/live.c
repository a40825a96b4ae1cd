#include "cli/simulate/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/order.h"
#include "cli/question.h"
#include "cli/simulate/manifest.h"
#include "cli/visibility.h"
#include "controller/common/clock.h"
#include "controller/common/path.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_text.h"
#include "queue/price/money.h"

#define CLUSTER "the cluster" /* the beginning of sentences that else name a file */
#define COMPLAINTS_MAX 10     /* complaints about the objects of one kind */

struct live_spent {
	char *budget;
	int64_t from_ms, micro;
};

/* A kind, and what is missing without it. */
struct listing {
	const char *root, *plural, *query;
	const char *kind;    /* the kind's name, for the reader and for people */
	const char *right;   /* as in RBAC: "clusterqueues.sluice.dev" */
	const char *without; /* what follows without it; NULL: there is no play */
};

struct reader {
	struct live *l;
	struct kube_client *client;
	struct json *json;
	const struct listing *k; /* the kind that is read */
	int64_t date_ms;	 /* date of the last answer; 0: it had none */
	size_t complaints;
	uint64_t ranked; /* number of QueuedJobs so far */
};

/* ---- lists, page by page --------------------------------------------------------------------- */

/* Lists a kind. A fault of one object ends nothing: read has said it. */
static int read_listing(
	struct reader *r, const struct listing *k, question_item_fn *read, struct err *e)
{
	struct question_facts facts;
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	buf_printf(&path, "%s/%s%s", k->root, k->plural, k->query);
	r->k = k;
	r->complaints = 0;
	int rc = question_each(
		r->l->options.loop, r->client, r->json, buf_text(&path), read, r, &facts, e);
	buf_done(&path);
	if (rc == 0)
		r->date_ms = facts.date_ms;
	return rc;
}

/* Says that an object makes no sense, and is left out as in the cluster. */
static void complain(struct reader *r, const struct err *e)
{
	if (r->complaints++ < COMPLAINTS_MAX)
		fprintf(stderr, "sluice: %s; it is left out\n", e->text);
	else if (r->complaints == COMPLAINTS_MAX + 1)
		fprintf(stderr, "sluice: more %ss of which no sense can be made are left out\n",
			r->k->kind);
}

/* ---- one object ------------------------------------------------------------------------------ */

static void read_described(const cJSON *o, void *ctx)
{
	struct reader *r = ctx;
	struct err fault;
	if (manifest_read_object(r->l->w, CLUSTER, r->k->kind, o, &fault) < 0)
		complain(r, &fault);
}

static bool has_items(const cJSON *object)
{
	return object && object->child;
}

static void read_clusterqueue(const cJSON *o, void *ctx)
{
	struct reader *r = ctx;
	const cJSON *selector = json_object(json_object(o, "spec"), "namespaceSelector");
	r->l->selects_namespaces |= has_items(json_object(selector, "matchLabels")) ||
				    has_items(json_array(selector, "matchExpressions"));
	read_described(o, r);
}

static void read_namespace(const cJSON *o, void *ctx)
{
	struct reader *r = ctx;
	live_jobs_see_namespace(&r->l->jobs, o);
	read_described(o, r);
}

static void read_budget(const cJSON *o, void *ctx)
{
	struct reader *r = ctx;
	struct live *l = r->l;
	const cJSON *status = json_object(o, "status");
	const char *from = json_text(status, "periodFrom"), *spent = json_text(status, "spent");
	struct live_spent s = {NULL, 0, 0};
	if (from && spent && text_time(from, &s.from_ms) &&
		money_parse(slice_of(spent), &s.micro, NULL) == 0 && s.micro > 0) {
		s.budget = mem_strdup(decode_name(o));
		l->spent = mem_grow(l->spent, l->nspent + 1, sizeof(*l->spent));
		l->spent[l->nspent++] = s;
	}
	read_described(o, r);
}

static void read_cronjob(const cJSON *o, void *ctx)
{
	struct reader *r = ctx;
	size_t n = r->l->w->ncronjobs;
	read_described(o, r);
	/* The CronJob begins when the play does: Kubernetes has made what was due before. */
	if (r->l->w->ncronjobs > n)
		r->l->w->cronjob[n].from_ms = NEVER_MS;
}

static void read_job(const cJSON *o, void *ctx)
{
	struct reader *r = ctx;
	struct err fault;
	if (live_jobs_see(&r->l->jobs, o, &fault) < 0)
		complain(r, &fault);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

#define OURS(plural, kind)                                                                         \
	{                                                                                          \
		SLUICE_ROOT, plural, "", kind, plural ".sluice.dev", NULL                          \
	}

static const struct described {
	struct listing listing;
	question_item_fn *read;
	void (*know)(struct queue *q, bool known); /* NULL, or told when the kind is missing */
} kinds[] = {
	{OURS("resourceflavors", "ResourceFlavor"), read_described},
	{OURS("cohorts", "Cohort"), read_described},
	{OURS("clusterqueues", "ClusterQueue"), read_clusterqueue},
	{OURS("localqueues", "LocalQueue"), read_described},
	{OURS("workloadpriorityclasses", "WorkloadPriorityClass"), read_described},
	{OURS("calendars", "Calendar"), read_described},
	{OURS("runpolicies", "RunPolicy"), read_described},
	{OURS("priceplans", "PricePlan"), read_described},
	{OURS("budgets", "Budget"), read_budget},
	{{SLUICE_ROOT, "advancereservations", "", "AdvanceReservation",
		 "advancereservations.sluice.dev", "no quota is reserved here"},
		read_described},
	{{"/api/v1", "nodes", "", "Node", "nodes",
		 "whether there are nodes for its pods is asked of no Job, and flavors with an idlePool have nothing to give"},
		read_described},
	{{"/api/v1", "resourcequotas", "", "ResourceQuota", "resourcequotas",
		 "Jobs start here that the API server would refuse pods for"},
		read_described},
	{{"/api/v1", "limitranges", "", "LimitRange", "limitranges",
		 "Jobs whose containers request nothing by themselves ask for less here"},
		read_described},
	{{"/apis/node.k8s.io/v1", "runtimeclasses", "", "RuntimeClass",
		 "runtimeclasses.node.k8s.io", "the overhead of their pods counts for nothing"},
		read_described},
	{{"/apis/resource.k8s.io/v1", "deviceclasses", "", "DeviceClass",
		 "deviceclasses.resource.k8s.io",
		 "an extended resource that no node has is taken to be theirs"},
		read_described, queue_know_device_classes},
};

/* Kinds that may be missing, and are asked for only where they matter. */
static const struct listing
	namespaces = {"/api/v1", "namespaces", "", "Namespace", "namespaces",
		"labels of Namespaces are not known, which no ClusterQueue asks for"},
	pod_priorities = {"/apis/scheduling.k8s.io/v1", "priorityclasses", "", "PriorityClass",
		"priorityclasses.scheduling.k8s.io", "no Job goes by one"},
	cronjobs = {"/apis/batch/v1", "cronjobs", "", "CronJob", "cronjobs.batch",
		"no Jobs of CronJobs come"},
	jobs = {"/apis/batch/v1", "jobs", "?labelSelector=sluice.dev%2Fqueue-name", "Job",
		"jobs.batch", NULL};

static void say_missing(const struct listing *k)
{
	fprintf(stderr,
		"sluice: you may not list %s, so %s. The right: list of %s in all namespaces\n",
		k->plural, k->without, k->right);
}

static int refuse(const struct listing *k, struct err *e)
{
	return err_set(e, ERR_DENIED,
		"you may not list %s, and without them nobody knows what starts next. The right: list of %s in all namespaces (a ClusterRoleBinding of the cluster's role view has those of Jobs and of Sluice's kinds)",
		k->plural, k->right);
}

/* Reads a kind. 1: it may not be read, and the play can go on without it. */
static int read_kind(
	struct reader *r, const struct listing *k, question_item_fn *read, struct err *e)
{
	int rc = read_listing(r, k, read, e);
	if (rc == ERR_GONE && strcmp(k->plural, "clusterqueues") == 0)
		return err_set(e, ERR_GONE,
			"%s has no kind ClusterQueue of sluice.dev: Sluice is not installed there",
			r->l->options.config->origin);
	if (rc == ERR_GONE) /* an older cluster, or an older Sluice, has no such kind */
		return 0;
	if (rc != ERR_DENIED)
		return rc;
	return k->without ? 1 : refuse(k, e);
}

static int read_kinds(struct reader *r, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		rc = read_kind(r, &kinds[i].listing, kinds[i].read, e);
		if (rc > 0)
			say_missing(&kinds[i].listing);
		if (rc > 0 && kinds[i].know)
			kinds[i].know(r->l->w->queue, false);
	}
	return rc < 0 ? rc : 0;
}

/* Reads a kind that can be missing, unless others need it. */
static int read_if(struct reader *r, const struct listing *k, question_item_fn *read, bool needed,
	struct err *e)
{
	int rc = read_kind(r, k, read, e);
	if (rc > 0 && needed)
		return refuse(k, e);
	if (rc > 0)
		say_missing(k);
	return rc < 0 ? rc : 0;
}

/* ---- ConfigMaps ------------------------------------------------------------------------------ */

/* Reads a ConfigMap. A missing one is missing in the cluster, too: its Calendar or PricePlan says
 * so. */
static int read_configmap(struct reader *r, const char *name, const char *key, struct err *e)
{
	struct buf path;
	const cJSON *root;
	struct err fault;
	if (calendar_specs_text(&r->l->w->policy_specs.calendar_specs, name, key).ptr)
		return 0;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(
		&path, "/api/v1/namespaces/%s/configmaps/%s", r->l->options.config_namespace, name);
	int rc = question_ask(r->l->options.loop, r->client, buf_text(&path), r->json, &root, e);
	buf_done(&path);
	if (rc == ERR_DENIED)
		return err_set(e, ERR_DENIED,
			"you may not get ConfigMap %s in namespace %s, which has dates or prices. The right: get of configmaps there",
			name, r->l->options.config_namespace);
	if (rc == 0 && manifest_read_object(r->l->w, CLUSTER, "ConfigMap", root, &fault) < 0)
		fprintf(stderr, "sluice: %s; it is left out\n", fault.text);
	return rc == ERR_GONE ? 0 : rc;
}

static int read_dates(struct reader *r, const struct calendar_spec *c, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < c->nexceptions; i++)
		if (*c->exception[i].dates_configmap)
			rc = read_configmap(
				r, c->exception[i].dates_configmap, c->exception[i].dates_key, e);
	return rc;
}

static int read_configmaps(struct reader *r, struct err *e)
{
	const struct policy_specs *p = &r->l->w->policy_specs;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->calendar_specs.n; i++)
		rc = read_dates(r, p->calendar_specs.item[i].spec, e);
	for (size_t i = 0; rc == 0 && i < p->n; i++) {
		const struct rule *rule = &p->rule[i];
		if (rule->kind == RULE_PRICEPLAN && rule->priceplan->has_series)
			rc = read_configmap(r, rule->priceplan->series_configmap,
				rule->priceplan->series_key, e);
	}
	return rc;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void read_rank(const cJSON *o, void *ctx)
{
	struct reader *r = ctx;
	live_jobs_rank(&r->l->jobs, decode_namespace_of(o), decode_name(o), r->ranked++);
}

/* Reads the order of the live queue, where times do not tell it. A user without the right goes
 * without. */
static void read_ranks(struct reader *r)
{
	static const struct listing queuedjobs = {
		VISIBILITY_ROOT, "queuedjobs", "", "QueuedJob", "queuedjobs", ""};
	struct err ignored;
	int64_t date_ms = r->date_ms;
	if (live_jobs_have_ties(&r->l->jobs))
		read_listing(r, &queuedjobs, read_rank, &ignored);
	r->date_ms = date_ms;
}

/* Sets when time begins: no earlier than anything that was seen, for clocks differ. */
static void begin_time(struct reader *r)
{
	struct live *l = r->l;
	int64_t now_ms = r->date_ms > 0 ? r->date_ms : clock_now_ms();
	l->w->now_ms = now_ms > l->jobs.newest_ms ? now_ms : l->jobs.newest_ms;
}

static int read_jobs(struct reader *r, struct err *e)
{
	int rc = read_kind(r, &jobs, read_job, e);
	if (rc < 0)
		return rc;
	begin_time(r);
	read_ranks(r);
	return live_jobs_add(&r->l->jobs, e);
}

/* ---- Jobs that others wait for --------------------------------------------------------------- */

static void read_other(const cJSON *o, void *ctx)
{
	struct reader *r = ctx;
	struct err fault;
	if (live_jobs_see_other(&r->l->jobs, o, &fault) < 0)
		complain(r, &fault);
}

static size_t namespaces_that_wait(const struct world *w, const char ***ret)
{
	size_t n = 0, kept = 0;
	*ret = mem_array(w->nsim_jobs + 1, sizeof(**ret));
	for (size_t i = 0; i < w->nsim_jobs; i++)
		if (w->sim_job[i].record && w->sim_job[i].record->after.count > 0)
			(*ret)[n++] = w->sim_job[i].record->ns;
	qsort(*ret, n, sizeof(**ret), text_order);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || strcmp((*ret)[kept - 1], (*ret)[i]) != 0)
			(*ret)[kept++] = (*ret)[i];
	return kept;
}

/* Reads the other Jobs of these namespaces: those that have ended, and those without a queue. */
static int read_others(struct reader *r, struct err *e)
{
	const char **ns;
	size_t n = namespaces_that_wait(r->l->w, &ns);
	int rc = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct buf root;
		buf_init(&root, PATH_MAX_BYTES);
		path_format(&root, "/apis/batch/v1/namespaces/%s", ns[i]);
		struct listing k = jobs;
		k.root = buf_text(&root);
		k.query = "";
		rc = read_listing(r, &k, read_other, e);
		buf_done(&root);
	}
	free(ns);
	return rc;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int read_all(struct reader *r, struct err *e)
{
	struct live *l = r->l;
	int rc = read_kinds(r, e);
	if (rc == 0)
		rc = read_if(r, &namespaces, read_namespace, l->selects_namespaces, e);
	if (rc == 0)
		rc = read_configmaps(r, e);
	if (rc == 0 && l->options.cronjobs)
		rc = read_if(r, &cronjobs, read_cronjob, false, e);
	if (rc == 0)
		rc = read_jobs(r, e);
	if (rc == 0)
		rc = read_if(r, &pod_priorities, read_described, l->jobs.go_by_pod_priority, e);
	if (rc == 0)
		rc = read_others(r, e);
	return rc;
}

static void say(const struct live *l)
{
	const struct live_jobs *j = &l->jobs;
	fprintf(stderr,
		"sluice: %s at %s: Jobs that run: %zu, that are being stopped: %zu, that wait: %zu\n",
		l->options.config->origin, instant_seconds(l->w->now_ms).s, j->running, j->leaving,
		j->waiting);
	if (j->intruders > 0)
		fprintf(stderr,
			"sluice: %zu of those that wait run, but Sluice did not start them: the controller stops such Jobs\n",
			j->intruders);
	if (!l->options.cronjobs)
		fputs("sluice: CronJobs make no Jobs here, for that would go on for ever; with --until they do\n",
			stderr);
}

int live_read(struct live *l, struct world *w, const struct live_options *o, struct err *e)
{
	*l = (struct live){.options = *o, .w = w};
	struct reader r = {.l = l, .json = json_new(QUESTION_TREE_MAX)};
	ends_init(&l->ends, o->assumed_ms);
	live_jobs_init(&l->jobs, w, &l->ends);
	w->policy_specs.lenient = true;
	r.client = question_client(o->loop, o->config);
	int rc = read_all(&r, e);
	kube_client_free(r.client);
	json_free(r.json);
	if (rc < 0)
		return rc;
	ends_settle(&l->ends, w);
	say(l);
	return 0;
}

void live_done(struct live *l)
{
	for (size_t i = 0; i < l->nspent; i++)
		free(l->spent[i].budget);
	free(l->spent);
	live_jobs_done(&l->jobs);
	ends_done(&l->ends);
	*l = (struct live){0};
}

/* ---- what was spent -------------------------------------------------------------------------- */

static int latest_first(const void *a, const void *b)
{
	const struct live_spent *x = a, *y = b;
	if (x->from_ms != y->from_ms)
		return x->from_ms > y->from_ms ? -1 : 1;
	return strcmp(x->budget, y->budget);
}

static bool find_budget(const struct queue *q, const char *name, struct budget_view *ret)
{
	for (size_t i = 0; queue_view_budget(q, i, ret); i++)
		if (strcmp(ret->name, name) == 0)
			return true;
	return false;
}

/*
 * Budgets of one queue may have several periods, and what was spent today was spent this month,
 * too. So of a longer period only what the shorter ones have not brought is told.
 */
void live_close(struct live *l)
{
	struct budget_view b;
	if (l->nspent > 1)
		qsort(l->spent, l->nspent, sizeof(*l->spent), latest_first);
	for (size_t i = 0; i < l->nspent; i++) {
		const struct live_spent *s = &l->spent[i];
		if (!find_budget(l->w->queue, s->budget, &b) || b.period_from_ms != s->from_ms ||
			s->micro <= b.spent)
			continue; /* another period has begun */
		queue_recall_spent(l->w->queue, b.clusterqueue ? b.clusterqueue : "",
			b.localqueue_ns ? b.localqueue_ns : "", b.localqueue ? b.localqueue : "",
			b.currency, s->from_ms, s->micro - b.spent);
	}
}
