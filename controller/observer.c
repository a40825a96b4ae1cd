#include "controller/observer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/kube/watch.h"
#include "controller/roster.h"
#include "controller/clock.h"
#include "controller/wire/decode.h"
#include "controller/wire/labels.h"

enum { COMPLAIN_MS = 60000, COMPLAIN_NEWS_MS = 5000, PROBE_TIMEOUT_MS = 10000 };

/* What Jobs ask for is counted differently now, or others are managed: all must be seen again. */
enum { JOBS_ANEW = 1, JOBS_ANEW_PAUSE_MS = 10000 };

struct view;

struct kind {
	const char *name; /* plural, for people */
	const char *path;
	const char *label_selector, *field_selector;
	bool ours;	  /* a CRD: may not be installed */
	bool has_status;  /* the reporter writes it, so its events are often our own */
	bool generations; /* metadata.generation moves with every change of the spec */
	bool shapes_jobs; /* Jobs are judged by it as they are told: they are listed after it */
	/* NULL: Jobs, which go to the gate. Decodes and tells; 0, ERR_INVALID, or JOBS_ANEW. */
	int (*tell)(const struct observer_options *o, const cJSON *object, struct err *e);
	int (*drop)(const struct observer_options *o, const char *ns,
		const char *name); /* 0 or JOBS_ANEW */
	enum reporter_kind report; /* when has_status */
};

/* One kind that is being followed. */
struct view {
	struct observer *observer;
	const struct kind *kind;
	struct kube_watch *watch;
	struct roster *roster;
	bool listed;	/* completely, once */
	uint64_t probe; /* the request that asks whether the CRD is there; 0: none */
	char *trouble;	/* the last sentence that was logged */
	int64_t troubled_ms;
};

enum { JOBS = 9, KINDS }; /* the Jobs come last in the table */

struct observer {
	struct observer_options options;
	struct view view[KINDS];
	bool synced;
	bool jobs_anew;	      /* somebody said JOBS_ANEW since they were listed */
	int64_t jobs_anew_ms; /* when they were listed for that last */
};

/* ---- the kinds ------------------------------------------------------------------------------- */

static int tell_clusterqueue(const struct observer_options *o, const cJSON *object, struct err *e)
{
	struct clusterqueue_spec *s = NULL;
	int rc = decode_clusterqueue(object, &s, e);
	if (rc)
		queue_reject_clusterqueue(o->queue, decode_name(object), e->text);
	else
		rc = queue_set_clusterqueue(o->queue, s, e);
	free(s);
	return rc;
}

static int tell_localqueue(const struct observer_options *o, const cJSON *object, struct err *e)
{
	struct localqueue_spec *s = NULL;
	int rc = decode_localqueue(object, &s, e);
	if (!rc)
		rc = queue_set_localqueue(o->queue, s, e);
	free(s);
	return rc;
}

static int tell_flavor(const struct observer_options *o, const cJSON *object, struct err *e)
{
	struct flavor_spec *s = NULL;
	int rc = decode_flavor(object, &s, e);
	if (rc)
		queue_reject_flavor(o->queue, decode_name(object), e->text);
	else
		rc = queue_set_flavor(o->queue, s, e);
	free(s);
	return rc;
}

static int tell_workload_priority(
	const struct observer_options *o, const cJSON *object, struct err *e)
{
	struct priority_spec *s = NULL;
	int rc = decode_workload_priority(object, &s, e);
	if (!rc)
		queue_set_priority(o->queue, s);
	free(s);
	return rc;
}

static int tell_pod_priority(const struct observer_options *o, const cJSON *object, struct err *e)
{
	struct priority_spec *s = NULL;
	int rc = decode_pod_priority(object, &s, e);
	if (!rc)
		queue_set_priority(o->queue, s);
	free(s);
	return rc;
}

static int tell_namespace(const struct observer_options *o, const cJSON *object, struct err *e)
{
	struct namespace_spec *s = NULL;
	int rc = decode_namespace(object, &s, e);
	if (!rc)
		queue_set_namespace(o->queue, s);
	if (!rc && remit_see_namespace(o->remit, s))
		rc = JOBS_ANEW;
	free(s);
	return rc;
}

static int tell_cohort(const struct observer_options *o, const cJSON *object, struct err *e)
{
	struct cohort_spec *s = NULL;
	int rc = decode_cohort(object, &s, e);
	if (rc)
		queue_reject_cohort(o->queue, decode_name(object), e->text);
	else
		rc = queue_set_cohort(o->queue, s, e);
	free(s);
	return rc;
}

static int tell_limit_range(const struct observer_options *o, const cJSON *object, struct err *e)
{
	struct limit_range_spec *s = NULL;
	int rc = decode_limit_range(object, &s, e);
	if (!rc && queue_set_limit_range(o->queue, s))
		rc = JOBS_ANEW;
	free(s);
	return rc;
}

static int tell_runtime_class(const struct observer_options *o, const cJSON *object, struct err *e)
{
	struct runtime_class_spec *s = NULL;
	int rc = decode_runtime_class(object, &s, e);
	if (!rc && queue_set_runtime_class(o->queue, s))
		rc = JOBS_ANEW;
	free(s);
	return rc;
}

static int drop_clusterqueue(const struct observer_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_clusterqueue(o->queue, name);
	return 0;
}

static int drop_cohort(const struct observer_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_cohort(o->queue, name);
	return 0;
}

static int drop_localqueue(const struct observer_options *o, const char *ns, const char *name)
{
	queue_drop_localqueue(o->queue, ns, name);
	return 0;
}

static int drop_limit_range(const struct observer_options *o, const char *ns, const char *name)
{
	return queue_drop_limit_range(o->queue, ns, name) ? JOBS_ANEW : 0;
}

static int drop_runtime_class(const struct observer_options *o, const char *ns, const char *name)
{
	(void)ns;
	return queue_drop_runtime_class(o->queue, name) ? JOBS_ANEW : 0;
}

static int drop_flavor(const struct observer_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_flavor(o->queue, name);
	return 0;
}

static int drop_workload_priority(
	const struct observer_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_priority(o->queue, PRIORITY_WORKLOAD, name);
	return 0;
}

static int drop_pod_priority(const struct observer_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_priority(o->queue, PRIORITY_POD, name);
	return 0;
}

static int drop_namespace(const struct observer_options *o, const char *ns, const char *name)
{
	(void)ns;
	queue_drop_namespace(o->queue, name);
	return remit_drop_namespace(o->remit, name) ? JOBS_ANEW : 0;
}

#define OURS "/apis/sluice.dev/v1alpha1/"

static const struct kind kinds[KINDS] = {
	{.name = "clusterqueues",
		.path = OURS "clusterqueues",
		.ours = true,
		.has_status = true,
		.generations = true,
		.tell = tell_clusterqueue,
		.drop = drop_clusterqueue,
		.report = REPORT_CLUSTERQUEUE},
	{.name = "localqueues",
		.path = OURS "localqueues",
		.ours = true,
		.has_status = true,
		.generations = true,
		.tell = tell_localqueue,
		.drop = drop_localqueue,
		.report = REPORT_LOCALQUEUE},
	{.name = "cohorts",
		.path = OURS "cohorts",
		.ours = true,
		.has_status = true,
		.generations = true,
		.tell = tell_cohort,
		.drop = drop_cohort,
		.report = REPORT_COHORT},
	{.name = "resourceflavors",
		.path = OURS "resourceflavors",
		.ours = true,
		.has_status = true,
		.generations = true,
		.tell = tell_flavor,
		.drop = drop_flavor,
		.report = REPORT_FLAVOR},
	{.name = "workloadpriorityclasses",
		.path = OURS "workloadpriorityclasses",
		.ours = true,
		.generations = true,
		.tell = tell_workload_priority,
		.drop = drop_workload_priority},
	{.name = "priorityclasses",
		.path = "/apis/scheduling.k8s.io/v1/priorityclasses",
		.tell = tell_pod_priority,
		.drop = drop_pod_priority},
	{.name = "namespaces",
		.path = "/api/v1/namespaces",
		.shapes_jobs = true,
		.tell = tell_namespace,
		.drop = drop_namespace},
	{.name = "limitranges",
		.path = "/api/v1/limitranges",
		.shapes_jobs = true,
		.tell = tell_limit_range,
		.drop = drop_limit_range},
	{.name = "runtimeclasses",
		.path = "/apis/node.k8s.io/v1/runtimeclasses",
		.shapes_jobs = true,
		.tell = tell_runtime_class,
		.drop = drop_runtime_class},
	/* The two namespaces that the admission policies leave alone are left alone here too. */
	{.name = "jobs",
		.path = "/apis/batch/v1/jobs",
		.label_selector = QUEUE_LABEL,
		.field_selector =
			"metadata.namespace!=kube-system,metadata.namespace!=sluice-system"},
};

/* ---- objects --------------------------------------------------------------------------------- */

static void changed(const struct observer *o)
{
	o->options.changed(o->options.ctx);
}

static void rejected(const struct view *v, const cJSON *object, const char *sentence)
{
	const char *ns = decode_namespace_of(object);
	log_event(v->observer->options.log, LEVEL_WARN, "rejected", "kind", v->kind->name,
		"namespace", ns[0] ? ns : NULL, "name", decode_name(object), "why", sentence, NULL);
}

static void see_job(struct view *v, enum kube_event type, const cJSON *object)
{
	struct observer *o = v->observer;
	struct uid uid;
	struct job *job = NULL;
	struct err e = {""};
	if (type == KUBE_DELETED) {
		if (decode_uid(object, &uid))
			gate_lose_job(o->options.gate, &uid);
	} else if (decode_job(object, &job, &e) == 0) {
		clock_bring_job(job);
		gate_see_job(o->options.gate, job);
	} else {
		rejected(v, object, e.text);
	}
	free(job);
	changed(o);
}

static void drop(struct view *v, const char *ns, const char *name)
{
	struct observer *o = v->observer;
	if (v->kind->drop(&o->options, ns, name) == JOBS_ANEW)
		o->jobs_anew = true;
	if (v->kind->has_status)
		reporter_lose(o->options.reporter, v->kind->report, ns, name);
	log_event(o->options.log, LEVEL_INFO, "gone", "kind", v->kind->name, "namespace",
		ns[0] ? ns : NULL, "name", name, NULL);
	changed(o);
}

/* A new spec, or nothing of interest: our own writes of a status come back here too. */
static void see_object(struct view *v, const cJSON *object)
{
	struct observer *o = v->observer;
	struct uid uid = {{0}};
	int64_t generation = 0;
	struct err e = {""};
	decode_uid(object, &uid);
	if (v->kind->generations)
		json_i64(json_object(object, "metadata"), "generation", &generation);
	if (v->kind->has_status)
		reporter_see(o->options.reporter, v->kind->report, object);
	if (!roster_see(
		    v->roster, decode_namespace_of(object), decode_name(object), &uid, generation))
		return;
	int rc = v->kind->tell(&o->options, object, &e);
	if (rc == JOBS_ANEW)
		o->jobs_anew = true;
	if (v->kind->report == REPORT_FLAVOR)
		reporter_judge(o->options.reporter, object, rc < 0 ? e.text : NULL);
	if (rc < 0)
		rejected(v, object, e.text);
	else if (v->kind->ours)
		log_event(o->options.log, LEVEL_DEBUG, "seen", "kind", v->kind->name, "name",
			decode_name(object), "#generation", LOG_NUMBER(generation), NULL);
	changed(o);
}

/* ---- what a watch says ----------------------------------------------------------------------- */

static void on_begin(void *ctx)
{
	struct view *v = ctx;
	if (v->kind->tell)
		roster_begin(v->roster);
	else
		gate_begin_list(v->observer->options.gate);
}

static void on_event(enum kube_event type, const cJSON *object, void *ctx)
{
	struct view *v = ctx;
	if (!v->kind->tell) {
		see_job(v, type, object);
	} else if (type == KUBE_DELETED) {
		roster_drop(v->roster, decode_namespace_of(object), decode_name(object));
		drop(v, decode_namespace_of(object), decode_name(object));
	} else {
		see_object(v, object);
	}
}

static void note_synced(struct observer *o)
{
	for (size_t i = 0; i < KINDS; i++)
		if (!o->view[i].listed)
			return;
	if (o->synced)
		return;
	o->synced = true;
	log_event(o->options.log, LEVEL_INFO, "synced", NULL);
	gate_set_synced(o->options.gate);
}

static void start_jobs(struct observer *o);

static void on_end(void *ctx)
{
	struct view *v = ctx;
	struct observer *o = v->observer;
	const struct roster_entry *lost;
	if (v->kind->tell) {
		roster_end(v->roster);
		while ((lost = roster_take_lost(v->roster)))
			drop(v, lost->ns, lost->name);
	} else {
		gate_end_list(o->options.gate);
	}
	log_event(o->options.log, v->listed ? LEVEL_DEBUG : LEVEL_INFO, "listed", "kind",
		v->kind->name, "#objects",
		v->kind->tell ? LOG_NUMBER((int64_t)roster_count(v->roster)) : NULL, NULL);
	v->listed = true;
	start_jobs(o);
	note_synced(o);
	changed(o);
}

/* A server that restarts says five different things within seconds, to each watch: the first is
 * said, then what is new every few seconds, and once a minute what is not: it is tried again
 * anyway. */
static bool worth_saying(struct view *v, const char *sentence)
{
	int64_t now_ms = clock_monotonic_us() / 1000, age_ms = now_ms - v->troubled_ms;
	bool news = !v->trouble || strcmp(v->trouble, sentence) != 0;
	if (v->trouble && age_ms < (news ? COMPLAIN_NEWS_MS : COMPLAIN_MS))
		return false;
	free(v->trouble);
	v->trouble = mem_strdup(sentence);
	v->troubled_ms = now_ms;
	return true;
}

static void on_probed(const struct kube_answer *a, void *ctx)
{
	struct view *v = ctx;
	v->probe = 0;
	if (a->http_status == 404)
		log_event(v->observer->options.log, LEVEL_ERROR, "crd-missing", "kind",
			v->kind->name, "why",
			"the API server does not serve this kind: its CRD is not installed", "cure",
			"kubectl apply -k api/crds (or deploy/sandbox, deploy/base); no restart is "
			"needed",
			NULL);
}

/* Asked beside the watch, so that the cure does not hang on the words of its sentence. */
static void probe(struct view *v)
{
	struct buf path;
	buf_init(&path, 256);
	buf_printf(&path, "%s?limit=1", v->kind->path);
	struct kube_request request = {
		.method = KUBE_GET, .path = buf_text(&path), .timeout_ms = PROBE_TIMEOUT_MS};
	v->probe = kube_client_send(v->observer->options.client, &request, on_probed, v);
	buf_done(&path);
}

static void on_trouble(const char *sentence, void *ctx)
{
	struct view *v = ctx;
	if (!worth_saying(v, sentence))
		return;
	log_event(v->observer->options.log, LEVEL_WARN, "watch-trouble", "kind", v->kind->name,
		"why", sentence, NULL);
	if (v->kind->ours && !v->listed && v->probe == 0)
		probe(v);
}

static void on_moved(const char *from, const char *to, void *ctx)
{
	struct view *v = ctx;
	log_event(v->observer->options.log, LEVEL_DEBUG, "watch", "kind", v->kind->name, "from",
		from, "to", to, NULL);
}

/* ---- its life -------------------------------------------------------------------------------- */

static void view_init(struct observer *o, size_t i)
{
	struct view *v = &o->view[i];
	v->observer = o;
	v->kind = &kinds[i];
	v->roster = roster_new();
}

static void view_watch(struct view *v)
{
	static const struct kube_watch_handler handler = {
		on_begin, on_event, on_end, on_trouble, on_moved};
	struct observer *o = v->observer;
	struct kube_watch_options options = {
		.path = v->kind->path,
		.label_selector = v->kind->label_selector,
		.field_selector = v->kind->field_selector,
		.seed = o->options.seed + (uint64_t)(v - o->view),
	};
	if (o->options.without_queue_name)
		options.label_selector = NULL;
	v->watch = kube_watch_new(o->options.client, &options, &handler, v);
}

/* The Jobs come after all that they are counted by: else each LimitRange of a first list would ask
 * for all of them again. */
static void start_jobs(struct observer *o)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].shapes_jobs && !o->view[i].listed)
			return;
	if (o->view[JOBS].watch)
		return;
	o->jobs_anew = false;
	view_watch(&o->view[JOBS]);
}

struct observer *observer_new(const struct observer_options *options)
{
	struct observer *o = mem_alloc(sizeof(*o));
	o->options = *options;
	for (size_t i = 0; i < KINDS; i++)
		view_init(o, i);
	for (size_t i = 0; i < JOBS; i++)
		view_watch(&o->view[i]);
	return o;
}

void observer_tick(struct observer *o)
{
	int64_t now_ms = clock_monotonic_us() / 1000;
	if (!o->jobs_anew || !o->view[JOBS].listed ||
		(o->jobs_anew_ms != 0 && now_ms - o->jobs_anew_ms < JOBS_ANEW_PAUSE_MS))
		return;
	o->jobs_anew = false;
	o->jobs_anew_ms = now_ms;
	log_event(o->options.log, LEVEL_INFO, "jobs-anew", "why",
		"a LimitRange or RuntimeClass changed what Jobs ask for, or a namespace's labels "
		"whether they are managed",
		NULL);
	gate_retell(o->options.gate);
	kube_watch_relist(o->view[JOBS].watch);
}

void observer_free(struct observer *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < KINDS; i++) {
		struct view *v = &o->view[i];
		kube_watch_free(v->watch);
		kube_client_cancel(o->options.client, v->probe);
		roster_free(v->roster);
		free(v->trouble);
	}
	free(o);
}

bool observer_synced(const struct observer *o)
{
	return o->synced;
}

void observer_missing(const struct observer *o, struct buf *out)
{
	bool comma = false;
	for (size_t i = 0; i < KINDS; i++) {
		if (o->view[i].listed)
			continue;
		buf_printf(out, "%s%s", comma ? ", " : "", o->view[i].kind->name);
		comma = true;
	}
}
