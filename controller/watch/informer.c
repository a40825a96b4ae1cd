#include "controller/watch/informer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/monotonic.h"
#include "controller/watch/kinds.h"
#include "controller/kube/skim.h"
#include "controller/kube/watch.h"
#include "controller/watch/bound_pods.h"
#include "controller/common/path.h"
#include "controller/watch/seen_set.h"
#include "controller/wire/decode_text.h"
#include "sluice/keys.h"

enum { COMPLAINTS_MAX = 20 }; /* about objects of one kind in COMPLAIN_MS */

enum { COMPLAIN_MS = 60000, COMPLAIN_NEWS_MS = 5000, PROBE_TIMEOUT_MS = 10000 };

enum { UNDECIDED_MAX = 5 }; /* half a minute, by the pauses of a watch */

enum { JOBS_ANEW_PAUSE_MS = 10000, ZONES_PAUSE_MS = 30000 };

enum { QUOTAS_PAUSE_MS = 2000, QUOTAS_PAUSE_MAX_MS = 60000 };

/* One kind that is being followed. */
struct view {
	struct informer *informer;
	const struct kind *kind;
	char *path;
	struct kube_watch *watch;
	struct kube_subscriber *subscriber; /* of a shared watch, instead of one of its own */
	struct seen_set *seen_set;
	bool listed;	/* completely, at least once */
	bool denied;	/* not listed yet, for we may not: the queue does without */
	bool absent;	/* not served */
	uint64_t probe; /* the request that asks why the kind cannot be listed; 0: none */
	bool heard;	/* since the probe was sent, the watch told of an object, or ended a list */
	int undecided;	/* probes without a clear answer, since the kind was listed last */
	char *trouble;	/* the last sentence that was logged */
	int64_t troubled_ms;
	uint64_t unreadable;	  /* objects that could not be read or decoded, so far */
	unsigned complaints;	  /* in the log, in the minute that began at complaints_ms */
	int64_t complaints_ms;	  /* the beginning of that minute */
	uint64_t complaints_left; /* kept out of the log since its last line */
};

struct informer {
	struct informer_options options;
	struct kind_options told; /* the receivers of what admins describe */
	struct view view[KINDS];
	struct view pods; /* only for what goes wrong with them */
	struct bound_pods *bound_pods;
	struct autoscaler_status autoscaler_status;
	bool synced, cluster_known, went_back;
	bool jobs_anew;	      /* JOBS_ANEW was said since Jobs were listed */
	int64_t jobs_anew_ms; /* when Jobs were listed for that last */
	int64_t zones_ms;     /* when the zone database was looked at last */
	int64_t quotas_ms;    /* since when a Job waits for a look at the quotas; 0: none does */
	int64_t quotas_pause_ms;
};

/* ---- objects --------------------------------------------------------------------------------- */

static void changed(const struct informer *o)
{
	o->options.changed(o->options.ctx);
}

/* Whether the kind is Jobs, which go to the gate: kind_tell() is not for them. */
static bool is_jobs(const struct view *v)
{
	return v->kind == &kinds[JOBS];
}

/* Whether one more complaint may be logged. A tenant may write an object a hundred times a
 * second. */
static bool log_has_room(struct view *v)
{
	int64_t now_ms = monotonic_ms();
	if (v->complaints == 0 || now_ms - v->complaints_ms >= COMPLAIN_MS) {
		v->complaints = 0;
		v->complaints_ms = now_ms;
	}
	if (v->complaints >= COMPLAINTS_MAX) {
		v->complaints_left++;
		return false;
	}
	v->complaints++;
	return true;
}

static void complain(struct view *v, const char *ns, const char *name, const char *why)
{
	v->unreadable++;
	if (!log_has_room(v))
		return;
	log_event(v->informer->options.log, LEVEL_WARN, "rejected", "kind", v->kind->name,
		"namespace", ns[0] ? ns : NULL, "name", name[0] ? name : NULL, "why", why,
		"#unsaid", v->complaints_left > 0 ? LOG_NUMBER((int64_t)v->complaints_left) : NULL,
		NULL);
	v->complaints_left = 0;
}

static void rejected(struct view *v, const cJSON *object, const char *sentence)
{
	complain(v, decode_namespace_of(object), decode_name(object), sentence);
}

/* Has the Job's LocalQueue say that the Job cannot be read. */
static void unread_job(struct view *v, const char *ns, const char *name, const char *localqueue)
{
	if (*ns && *name && localqueue && *localqueue)
		queue_unread_job(v->informer->options.queue, ns, name, localqueue);
}

static void refuse_job(struct view *v, const cJSON *object, const char *sentence)
{
	struct uid uid;
	const cJSON *labels = json_object(json_object(object, "metadata"), "labels");
	unread_job(v, decode_namespace_of(object), decode_name(object),
		json_text(labels, QUEUE_LABEL));
	gate_keep_job(v->informer->options.gate, decode_uid(object, &uid) ? &uid : NULL);
	rejected(v, object, sentence);
}

static void see_job(struct view *v, enum kube_event type, const cJSON *object)
{
	struct informer *o = v->informer;
	struct uid uid;
	struct job *job = NULL;
	struct err e = {""};
	if (type == KUBE_DELETED) {
		queue_read_job(o->options.queue, decode_namespace_of(object), decode_name(object));
		if (decode_uid(object, &uid))
			gate_lose_job(o->options.gate, &uid);
	} else if (decode_job(object, &o->options.job_context, &job, &e) == 0) {
		queue_read_job(o->options.queue, job->ns, job->name);
		gate_see_job(o->options.gate, job);
	} else {
		refuse_job(v, object, e.text);
	}
	free(job);
	changed(o);
}

static void drop(struct view *v, const char *ns, const char *name)
{
	struct informer *o = v->informer;
	if (kind_drop(v->kind, &o->told, ns, name) == JOBS_ANEW)
		o->jobs_anew = true;
	if (v->kind->has_status) {
		status_writer_lose(o->options.status_writer, v->kind->report, ns, name);
		finalizers_lose(o->options.finalizers, v->kind->report, name);
	}
	log_event(o->options.log, v->kind->is_configmaps ? LEVEL_DEBUG : LEVEL_INFO, "gone", "kind",
		v->kind->name, "namespace", ns[0] ? ns : NULL, "name", name, NULL);
	changed(o);
}

/* Takes an object: a new spec, or one of our own writes of a status, which is told only where a
 * status is a fact. */
static void see_object(struct view *v, const cJSON *object)
{
	struct informer *o = v->informer;
	struct uid uid = {{0}};
	int64_t generation = 0;
	struct err e = {""};
	decode_uid(object, &uid);
	if (v->kind->generations)
		json_i64(json_object(object, "metadata"), "generation", &generation);
	if (v->kind->has_status) {
		status_writer_see(o->options.status_writer, v->kind->report, object);
		finalizers_see(o->options.finalizers, v->kind->report, object);
	}
	if (!seen_set_see(v->seen_set, decode_namespace_of(object), decode_name(object), &uid,
		    v->kind->status_is_fact ? 0 : generation))
		return;
	int rc = kind_tell(v->kind, &o->told, object, &e);
	if (rc == JOBS_ANEW)
		o->jobs_anew = true;
	if (v->kind->report == REPORT_FLAVOR)
		status_writer_judge(o->options.status_writer, object, rc < 0 ? e.text : NULL);
	if (rc < 0)
		rejected(v, object, e.text);
	else if (v->kind->ours)
		log_event(o->options.log, LEVEL_DEBUG, "seen", "kind", v->kind->name, "name",
			decode_name(object), "#generation", LOG_NUMBER(generation), NULL);
	changed(o);
}

/* ---- what a watch says ----------------------------------------------------------------------- */

static void begin_jobs(struct informer *o)
{
	gate_begin_list(o->options.gate);
	queue_begin_unread_list(o->options.queue);
}

static void on_begin(void *ctx)
{
	struct view *v = ctx;
	if (is_jobs(v))
		begin_jobs(v->informer);
	else
		seen_set_begin(v->seen_set);
	if (v->kind->is_configmaps)
		time_specs_begin_list(v->informer->options.time_specs);
}

static void on_event(enum kube_event type, const cJSON *object, void *ctx)
{
	struct view *v = ctx;
	v->heard = true;
	if (is_jobs(v)) {
		see_job(v, type, object);
	} else if (type == KUBE_DELETED) {
		seen_set_drop(v->seen_set, decode_namespace_of(object), decode_name(object));
		drop(v, decode_namespace_of(object), decode_name(object));
	} else {
		see_object(v, object);
	}
}

static void on_seen(const char *version, void *ctx)
{
	struct view *v = ctx;
	int64_t n;
	if (!v->kind->seen || !text_number(version, INT64_MAX, &n))
		return;
	v->kind->seen(&v->informer->told, n);
	changed(v->informer);
}

/* Tells the queue that the cluster is known. Without Nodes it is not: no answer is better than that
 * of an empty cluster. */
static void note_cluster(struct informer *o)
{
	if (o->cluster_known || !o->view[NODES].listed)
		return;
	o->cluster_known = true;
	queue_know_cluster(o->options.queue);
}

static bool is_settled(const struct view *v)
{
	return v->listed || v->denied || v->absent;
}

static bool pods_are_settled(const struct informer *o)
{
	return !queue_wants_pods(o->options.queue) || bound_pods_listed(o->bound_pods) ||
	       o->pods.denied;
}

static void note_synced(struct informer *o)
{
	for (size_t i = 0; i < KINDS; i++)
		if (!is_settled(&o->view[i]))
			return;
	if (!pods_are_settled(o))
		return;
	note_cluster(o);
	if (o->synced)
		return;
	o->synced = true;
	log_event(o->options.log, LEVEL_INFO, "synced", NULL);
	gate_set_synced(o->options.gate);
}

static void set_denied(struct view *v, bool denied)
{
	if (v->kind->know && v->denied != denied)
		v->kind->know(v->informer->options.queue, !denied);
	v->denied = denied;
}

static void start_late(struct informer *o);

static void on_end(void *ctx)
{
	struct view *v = ctx;
	struct informer *o = v->informer;
	const struct seen_set_entry *lost;
	if (is_jobs(v)) {
		gate_end_list(o->options.gate);
		queue_end_unread_list(o->options.queue);
	} else {
		seen_set_end(v->seen_set);
		while ((lost = seen_set_take_lost(v->seen_set)))
			drop(v, lost->ns, lost->name);
	}
	if (v->kind->is_configmaps)
		time_specs_end_list(o->options.time_specs);
	log_event(o->options.log, v->listed ? LEVEL_DEBUG : LEVEL_INFO, "listed", "kind",
		v->kind->name, "#objects",
		is_jobs(v) ? NULL : LOG_NUMBER((int64_t)seen_set_count(v->seen_set)), NULL);
	v->undecided = 0;
	v->listed = v->heard = true;
	v->absent = false;
	set_denied(v, false);
	start_late(o);
	bound_pods_tick(o->bound_pods); /* not in a callback of its own */
	note_synced(o);
	changed(o);
}

/* Whether a sentence is to be logged: the first one; a new one every few seconds, for a server that
 * restarts says five different things to each watch; an old one once a minute. */
static bool worth_saying(struct view *v, const char *sentence)
{
	int64_t now_ms = monotonic_ms(), age_ms = now_ms - v->troubled_ms;
	bool news = !v->trouble || strcmp(v->trouble, sentence) != 0;
	if (v->trouble && age_ms < (news ? COMPLAIN_NEWS_MS : COMPLAIN_MS))
		return false;
	free(v->trouble);
	v->trouble = mem_strdup(sentence);
	v->troubled_ms = now_ms;
	return true;
}

static void crd_is_missing(struct view *v)
{
	log_event(v->informer->options.log, LEVEL_ERROR, "crd-missing", "kind", v->kind->name,
		"why", "the API server does not serve this kind: its CRD is not installed", "cure",
		"kubectl apply -k api/crds (or deploy/sandbox, deploy/base); no restart is needed",
		NULL);
}

static bool any_listed(const struct informer *o)
{
	for (size_t i = 0; i < KINDS; i++)
		if (o->view[i].listed)
			return true;
	return false;
}

/* Does without a kind that is denied. A server that has just started denies everything to all. */
static void is_denied(struct view *v)
{
	struct informer *o = v->informer;
	if (v->denied || v->listed || !any_listed(o))
		return;
	v->absent = false;
	set_denied(v, true);
	log_event(o->options.log, LEVEL_WARN, "not-permitted", "kind", v->kind->name, "why",
		"the controller's account may not list and watch them", "effect", v->kind->without,
		"cure", "kubectl apply -k deploy/rbac (or deploy/base); no restart is needed",
		NULL);
	if (v == &o->pods)
		bound_pods_deny(o->bound_pods);
	note_synced(o);
	changed(o);
}

/* Drops all objects of a kind that is not served. The watch goes on trying. If the kind came while
 * the answer was on its way, a list may be under way, and its objects stay. */
static void is_absent(struct view *v)
{
	const struct seen_set_entry *lost;
	if (v->absent || v->heard)
		return;
	seen_set_begin(v->seen_set);
	seen_set_end(v->seen_set);
	while ((lost = seen_set_take_lost(v->seen_set)))
		drop(v, lost->ns, lost->name);
	v->absent = true;
	v->listed = false;
	set_denied(v, false);
	log_event(v->informer->options.log, LEVEL_DEBUG, "absent", "kind", v->kind->name, NULL);
	note_synced(v->informer);
	changed(v->informer);
}

/* Does without a kind whose server fails (a conversion, an aggregated API), lets us list and not
 * watch, or answers 429 for ever. From now on on_trouble() logs why. */
static void is_failing(struct view *v)
{
	set_denied(v, true);
	note_synced(v->informer);
	changed(v->informer);
}

/* Takes the answer about the API of a kind. An absent kind stays so until its API is there: a
 * server that has just started denies this question, too. */
static void on_api_probed(const struct kube_answer *a, void *ctx)
{
	struct view *v = ctx;
	v->probe = 0;
	if (a->http_status == 404)
		is_absent(v);
	else if (!v->absent || a->http_status == 200)
		is_denied(v);
}

/* Asks beside the watch, so that the cure does not hang on the words of its sentence. */
static void send_probe(struct view *v, size_t path_len, const char *query, kube_answer_fn *done)
{
	struct buf path;
	buf_init(&path, 256);
	buf_printf(&path, "%.*s%s", (int)path_len, v->path, query);
	struct kube_request request = {
		.method = KUBE_GET, .path = buf_text(&path), .timeout_ms = PROBE_TIMEOUT_MS};
	v->probe = kube_client_send(v->informer->options.client, &request, done, v);
	buf_done(&path);
}

/* Asks whether the API of a denied kind is served, as every account may: a server denies a kind
 * before it looks whether it serves it. For the autoscaler's ConfigMap this is the namespace, which
 * exists. */
static void probe_api(struct view *v)
{
	send_probe(v, (size_t)(strrchr(v->path, '/') - v->path), "", on_api_probed);
}

static void on_probed(const struct kube_answer *a, void *ctx)
{
	struct view *v = ctx;
	v->probe = 0;
	if (a->http_status == 404 && v->kind->ours)
		crd_is_missing(v);
	else if (a->http_status == 404 && v->kind->optional)
		is_absent(v);
	else if (a->http_status == 403 && v->kind->optional)
		probe_api(v);
	else if ((a->http_status == 403 || a->http_status == 404) && v->kind->without)
		is_denied(v);
	else if (v->kind->optional && !is_settled(v) && any_listed(v->informer) &&
		 (a->http_status >= 500 || ++v->undecided >= UNDECIDED_MAX))
		is_failing(v);
}

static void probe(struct view *v)
{
	v->heard = false;
	send_probe(v, strlen(v->path), "?limit=1", on_probed);
}

static void on_trouble(const char *sentence, void *ctx)
{
	struct view *v = ctx;
	if ((v->kind->optional || (v->kind->without && !is_settled(v))) && v->probe == 0)
		probe(v); /* the gate may wait for the answer */
	if (v->kind->optional && !v->listed && !v->denied)
		return; /* the answer will tell */
	if (!worth_saying(v, sentence))
		return;
	log_event(v->informer->options.log, LEVEL_WARN, "watch-trouble", "kind", v->kind->name,
		"why", sentence, NULL);
	if (v->kind->ours && !v->listed && v->probe == 0)
		probe(v);
}

static void keep_unread_job(struct view *v, const struct kube_unreadable *u)
{
	struct uid uid;
	struct slice metadata, labels;
	char localqueue[SKIM_NAME_SIZE];
	gate_keep_job(v->informer->options.gate, uid_parse(u->uid, &uid) ? &uid : NULL);
	if (skim_member(u->text, "metadata", &metadata) &&
		skim_member(metadata, "labels", &labels) &&
		skim_text(labels, QUEUE_LABEL, localqueue, sizeof(localqueue)))
		unread_job(v, u->ns, u->name, localqueue);
}

static void on_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct view *v = ctx;
	v->heard = true;
	if (is_jobs(v))
		keep_unread_job(v, u);
	else
		seen_set_keep(v->seen_set, u->ns, u->name);
	if (v->kind->reject && *u->name)
		v->kind->reject(v->informer->options.queue, u->name, u->why);
	if (v->kind->reject_in && *u->ns && *u->name)
		v->kind->reject_in(v->informer->options.queue, u->ns, u->name, u->why);
	complain(v, u->ns, u->name, u->why);
	changed(v->informer);
}

static void on_went_back(const char *before, const char *now, void *ctx)
{
	struct view *v = ctx;
	v->informer->went_back = true;
	log_event(v->informer->options.log, LEVEL_WARN, "older-version", "kind", v->kind->name,
		"before", before, "now", now, NULL);
	changed(v->informer);
}

static void on_moved(const char *from, const char *to, void *ctx)
{
	struct view *v = ctx;
	log_event(v->informer->options.log, LEVEL_DEBUG, "watch", "kind", v->kind->name, "from",
		from, "to", to, NULL);
}

/* ---- pods ------------------------------------------------------------------------------------ */

static void pods_changed(void *ctx)
{
	changed(((struct view *)ctx)->informer);
}

static void pod_unreadable(const char *ns, const char *name, const char *why, void *ctx)
{
	complain(ctx, ns, name, why);
}

static void pods_listed(void *ctx)
{
	struct view *v = ctx;
	v->denied = false;
	note_synced(v->informer);
}

static void follow_pods(struct informer *o)
{
	struct bound_pods_options bound_pods = {.pods = o->options.pods,
		.queue = o->options.queue,
		.log = o->options.log,
		.changed = pods_changed,
		.trouble = on_trouble,
		.unreadable = pod_unreadable,
		.listed = pods_listed,
		.ctx = &o->pods};
	o->pods = (struct view){
		.informer = o, .kind = &kind_pods, .path = mem_strdup(kind_pods.path)};
	o->bound_pods = bound_pods_new(&bound_pods);
}

/* ---- its life -------------------------------------------------------------------------------- */

static char *configmaps_path(const char *ns)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, "/api/v1/namespaces/%s/configmaps", ns);
	return buf_take(&path);
}

static void view_init(struct informer *o, size_t i)
{
	struct view *v = &o->view[i];
	v->informer = o;
	v->kind = &kinds[i];
	v->path = v->kind->is_configmaps ? configmaps_path(o->options.config_namespace)
					 : mem_strdup(v->kind->path);
	v->seen_set = seen_set_new();
}

/* Begins to follow a kind. Jobs alone are asked whether the store went back: all kinds are in
 * it. */
static void view_watch(struct view *v)
{
	struct kube_watch_handler handler = {on_begin, on_event, on_end, on_trouble, on_moved,
		on_seen, on_unreadable, is_jobs(v) ? on_went_back : NULL};
	struct informer *o = v->informer;
	if (v->kind->is_nodes) {
		v->subscriber = kube_shared_watch_join(o->options.nodes, &handler, v);
		return;
	}
	struct kube_watch_options options = {
		.path = v->path,
		.label_selector = v->kind->label_selector,
		.field_selector = v->kind->field_selector,
		.seed = o->options.seed + (uint64_t)(v - o->view),
	};
	if (o->options.without_queue_name)
		options.label_selector = NULL;
	v->watch = kube_watch_new(o->options.client, &options, &handler, v);
}

static bool all_listed(const struct informer *o, bool (*counts)(const struct kind *k))
{
	for (size_t i = 0; i < KINDS; i++)
		if (counts(&kinds[i]) && !o->view[i].listed)
			return false;
	return true;
}

static bool names_configmaps(const struct kind *k)
{
	return k->names_configmaps;
}

static bool shapes_jobs(const struct kind *k)
{
	return k->shapes_jobs;
}

/* Begins to follow ConfigMaps after all that name some, or each would ask for all of them again;
 * and Jobs after all that they are counted by. */
static void start_late(struct informer *o)
{
	if (!o->view[CONFIGMAPS].watch && all_listed(o, names_configmaps))
		view_watch(&o->view[CONFIGMAPS]);
	if (o->view[JOBS].watch || !all_listed(o, shapes_jobs))
		return;
	o->jobs_anew = false;
	view_watch(&o->view[JOBS]);
}

struct informer *informer_new(const struct informer_options *options)
{
	struct informer *o = mem_alloc(sizeof(*o));
	o->options = *options;
	o->quotas_pause_ms = QUOTAS_PAUSE_MS;
	o->told = (struct kind_options){.queue = options->queue,
		.gate = options->gate,
		.job_scope = options->job_scope,
		.time_specs = options->time_specs,
		.overcommit_controller = options->overcommit_controller};
	autoscaler_status_init(&o->autoscaler_status, options->queue);
	o->told.autoscaler_status = &o->autoscaler_status;
	for (size_t i = 0; i < KINDS; i++)
		view_init(o, i);
	follow_pods(o);
	for (size_t i = 0; i < CONFIGMAPS; i++)
		view_watch(&o->view[i]);
	return o;
}

static void look_at_zones(struct informer *o, int64_t now_ms)
{
	if (now_ms - o->zones_ms < ZONES_PAUSE_MS)
		return;
	o->zones_ms = now_ms;
	if (!zones_look(o->options.zones))
		return;
	log_event(o->options.log, LEVEL_INFO, "zones-anew", "tzdata",
		zones_edition(o->options.zones), NULL);
	time_specs_tell_all(o->options.time_specs);
	o->jobs_anew = true; /* a zone may tell their deadlines */
	changed(o);
}

static void list_jobs_anew(struct informer *o, int64_t now_ms)
{
	if (!o->jobs_anew || !o->view[JOBS].listed ||
		(o->jobs_anew_ms != 0 && now_ms - o->jobs_anew_ms < JOBS_ANEW_PAUSE_MS))
		return;
	o->jobs_anew = false;
	o->jobs_anew_ms = now_ms;
	log_event(o->options.log, LEVEL_INFO, "jobs-anew", "why",
		"a LimitRange, RuntimeClass, RunPolicy or the zone database changed how Jobs are counted, or a namespace's labels whether they are managed",
		NULL);
	gate_retell(o->options.gate);
	kube_watch_relist(o->view[JOBS].watch);
}

/*
 * Lists ResourceQuotas again if a Job waits for one that may have let go of something. The watch
 * has no news of this kind, and bookmarks come only once a minute. Not one namespace beside the
 * watch: that would be newer than the watch's next events, which would take the queue back. Each
 * pause is twice the last.
 */
static void list_quotas_anew(struct informer *o, int64_t now_ms)
{
	const char *ns;
	int64_t version;
	if (!o->view[QUOTAS].listed || !queue_quotas_behind(o->options.queue, 0, &ns, &version)) {
		o->quotas_ms = 0;
		o->quotas_pause_ms = QUOTAS_PAUSE_MS;
		return;
	}
	if (o->quotas_ms == 0)
		o->quotas_ms = now_ms;
	if (now_ms - o->quotas_ms < o->quotas_pause_ms)
		return;
	o->quotas_ms = now_ms;
	if (o->quotas_pause_ms < QUOTAS_PAUSE_MAX_MS)
		o->quotas_pause_ms *= 2;
	log_event(o->options.log, LEVEL_DEBUG, "quotas-anew", "namespace", ns, "#version",
		LOG_NUMBER(version), NULL);
	kube_watch_relist(o->view[QUOTAS].watch);
}

void informer_tick(struct informer *o)
{
	int64_t now_ms = monotonic_ms();
	look_at_zones(o, now_ms);
	list_jobs_anew(o, now_ms);
	list_quotas_anew(o, now_ms);
	if (autoscaler_status_tick(&o->autoscaler_status, now_ms))
		changed(o);
	bound_pods_tick(o->bound_pods);
	note_synced(o); /* pods may not be wanted any more */
	if (o->view[CONFIGMAPS].listed && time_specs_wants_list(o->options.time_specs))
		kube_watch_relist(o->view[CONFIGMAPS].watch);
}

static void view_done(struct view *v)
{
	kube_watch_free(v->watch);
	kube_subscriber_leave(v->subscriber);
	kube_client_cancel(v->informer->options.client, v->probe);
	seen_set_free(v->seen_set);
	free(v->trouble);
	free(v->path);
}

void informer_free(struct informer *o)
{
	if (!o)
		return;
	bound_pods_free(o->bound_pods);
	view_done(&o->pods);
	for (size_t i = 0; i < KINDS; i++)
		view_done(&o->view[i]);
	free(o);
}

bool informer_synced(const struct informer *o)
{
	return o->synced;
}

static int64_t stalled_ms(const struct view *v)
{
	const struct informer *o = v->informer;
	if (v->denied || v->absent)
		return 0;
	if (v == &o->pods)
		return bound_pods_wanted(o->bound_pods)
			       ? kube_shared_watch_stalled_ms(o->options.pods)
			       : 0;
	if (v->subscriber)
		return kube_shared_watch_stalled_ms(o->options.nodes);
	return v->watch ? kube_watch_stalled_ms(v->watch) : 0;
}

static struct kind_health health_of(const struct view *v)
{
	return (struct kind_health){v->kind->name, v->unreadable, stalled_ms(v)};
}

size_t informer_health(const struct informer *o, struct kind_health ret[KIND_HEALTH_MAX])
{
	_Static_assert(KINDS + 1 <= KIND_HEALTH_MAX, "a kind was added");
	for (size_t i = 0; i < KINDS; i++)
		ret[i] = health_of(&o->view[i]);
	ret[KINDS] = health_of(&o->pods);
	return KINDS + 1;
}

bool informer_went_back(const struct informer *o)
{
	return o->went_back;
}

int64_t informer_jobs_stalled_ms(const struct informer *o)
{
	return o->view[JOBS].listed ? stalled_ms(&o->view[JOBS]) : 0;
}

static void name_view(const struct view *v, struct buf *out)
{
	buf_printf(out, "%s%s", out->len > 0 ? ", " : "", v->kind->name);
}

void informer_missing(const struct informer *o, struct buf *out)
{
	for (size_t i = 0; i < KINDS; i++)
		if (!is_settled(&o->view[i]))
			name_view(&o->view[i], out);
	if (!o->synced && !pods_are_settled(o))
		name_view(&o->pods, out);
}

void informer_denied(const struct informer *o, struct buf *out)
{
	for (size_t i = 0; i < KINDS; i++)
		if (o->view[i].denied)
			name_view(&o->view[i], out);
	if (informer_pods_denied(o))
		name_view(&o->pods, out);
}

bool informer_pods_denied(const struct informer *o)
{
	return o->pods.denied && queue_wants_pods(o->options.queue);
}
