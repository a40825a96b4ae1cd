#include "controller/write/status_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/json.h"
#include "controller/kube/skim.h"
#include "controller/common/path.h"
#include "controller/common/status_patch.h"
#include "controller/write/status.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_text.h"

enum {
	IN_FLIGHT_MAX = 8,
	INTERVAL_MS = 950, /* ticks come every second, and not to the millisecond */
	INTERVAL_BUSY_MS = 4950,
	INTERVAL_BUDGET_MS = 9950,
	INTERVAL_MAX_MS = 30000,
	SHARE = 100, /* an object's writes take a hundredth of the time at most */
	STATUS_MAX_BYTES = 512 * 1024,
	TIMEOUT_MS = 10000,
	EFFECT_MS =
		5000, /* between looks at what of a spec has no effect; the second look tells it */
	EFFECT_OF_QUOTAS =
		25, /* the cost of other objects, in LocalQueues: quotas are held against all nodes */
	EFFECTS_A_PASS =
		500, /* looks in a pass, in LocalQueues, which tenants make: the rest comes later */
	EFFECTIVE = STATUS_CONDITIONS_MAX - 1, /* its place among the conditions */
};

static const struct {
	const char *name, *plural;
	const char *condition[STATUS_CONDITIONS_MAX];
	enum effect_kind effect; /* of kinds that have the condition Effective */
} subject_kinds[] = {
	[REPORT_CLUSTERQUEUE] = {"ClusterQueue", "clusterqueues", {"Active", NULL, "Effective"},
		EFFECT_CLUSTERQUEUE},
	[REPORT_LOCALQUEUE] = {"LocalQueue", "localqueues", {"Active", NULL, "Effective"},
		EFFECT_LOCALQUEUE},
	[REPORT_COHORT] = {"Cohort", "cohorts", {"Active", NULL, "Effective"}, EFFECT_COHORT},
	[REPORT_CALENDAR] = {"Calendar", "calendars", {"Valid", "NeverOpens"}},
	[REPORT_RUNPOLICY] = {"RunPolicy", "runpolicies", {"Active", NULL, "Effective"},
		EFFECT_RUNPOLICY},
	[REPORT_PRICEPLAN] = {"PricePlan", "priceplans", {"Active", NULL, "Effective"},
		EFFECT_PRICEPLAN},
	[REPORT_BUDGET] = {"Budget", "budgets", {"Active", "Exhausted", "Effective"},
		EFFECT_BUDGET},
	[REPORT_ADVANCE_RESERVATION] = {"AdvanceReservation", "advancereservations",
		{"Accepted", "Kept"}},
	[REPORT_FLAVOR] = {"ResourceFlavor", "resourceflavors", {"Active"}},
};

/* What we know of one object. Only objects that were seen get a status. */
struct subject {
	struct status_writer *status_writer;
	enum status_writer_kind kind;
	char *ns, *name;
	struct uid uid;
	int64_t version; /* of an AdvanceReservation, as heard or written last: a write tests it; 0: not known */
	bool lost;    /* freed when its write is answered */
	bool doubted; /* its last write was refused, as when another object has its name by now */

	/* Conditions as last written or read, in the order of subject_kinds. */
	struct {
		bool known, is;
		struct instant_text since;
	} condition[STATUS_CONDITIONS_MAX];

	/* The parts of its spec without effect, by the last look. */
	struct {
		bool looked, suspected; /* suspected: there is a fault, which is told if it stays */
		uint64_t version;
		int64_t looked_ms;
		const char *reason;
		char *message; /* NULL: nothing was said yet */
	} effect;

	bool deleting;	    /* a flavor that is being deleted, and kept while it is in use */
	bool unsaid;	    /* a flavor with news to be written */
	char *refusal;	    /* why a flavor was refused, a sentence; NULL: it was not */
	char *maker;	    /* what makes nodes of a flavor, as was told; NULL: nothing */
	int64_t generation; /* of the flavor's spec that was judged */

	char *written;	 /* the text the server has, NULL when not known */
	char *under_way; /* the text that is being written, NULL: none */
	int64_t asked_ms;
	int64_t asked_us; /* by clock_us */
};

struct status_writer {
	struct kube_client *client;
	const struct queue *queue;
	struct log *log;
	bool fair_sharing;
	const struct zones *zones;
	struct events *events;
	int64_t (*clock_us)(void);
	struct map subjects;
	unsigned in_flight;
	int64_t took_ms;       /* the last write that was answered */
	uint64_t done_version; /* of the queue when everything was last up to date */
	bool unfinished;       /* something is due that could not be sent yet */
	/* The pass under way; answers take it further, so that few writes at a time reach all. */
	bool passing;
	enum status_writer_kind at_kind;
	size_t at_index;
	struct status_effect effect;	 /* what effect_of() gives */
	size_t effects;			 /* looks in this pass, in LocalQueues */
	struct status_conditions judged; /* of the object that is being rendered */
	int64_t complained_ms;
	int64_t now_ms;
};

struct key {
	enum status_writer_kind kind;
	const char *ns, *name;
};

static bool subject_has_key(const void *value, const void *key)
{
	const struct subject *s = value;
	const struct key *k = key;
	return s->kind == k->kind && strcmp(s->name, k->name) == 0 && strcmp(s->ns, k->ns) == 0;
}

static uint64_t key_hash(const struct key *k)
{
	return map_hash_string(k->name) * 31 + map_hash_string(k->ns) + (uint64_t)k->kind;
}

static struct subject *subject_get(const struct status_writer *r, const struct key *k)
{
	return map_get(&r->subjects, key_hash(k), k);
}

static void subject_free(struct subject *s)
{
	free(s->ns);
	free(s->name);
	free(s->refusal);
	free(s->maker);
	free(s->effect.message);
	free(s->written);
	free(s->under_way);
	free(s);
}

struct status_writer *status_writer_new(const struct status_writer_options *o)
{
	struct status_writer *r = mem_alloc(sizeof(*r));
	r->client = o->client;
	r->queue = o->queue;
	r->log = o->log;
	r->fair_sharing = o->fair_sharing;
	r->zones = o->zones;
	r->events = o->events;
	r->clock_us = o->clock_us ? o->clock_us : monotonic_us;
	map_init(&r->subjects, subject_has_key);
	return r;
}

void status_writer_free(struct status_writer *r)
{
	if (!r)
		return;
	map_free(&r->subjects, subject_free);
	free(r);
}

/* ---- what the API server has ----------------------------------------------------------------- */

/* Tells whether the status was emptied, or went back with a restored store: another leader would go
 * by that. The second condition is not always there. */
static bool is_lost(const struct subject *s, size_t i, const cJSON *condition, const char *status)
{
	if (i > 0 || !s->written)
		return false;
	return !condition || (s->kind == REPORT_ADVANCE_RESERVATION && status &&
				     (strcmp(status, "True") == 0) != s->condition[i].is);
}

static void take_in_condition(struct subject *s, size_t i, const cJSON *object)
{
	const cJSON *condition = json_condition(object, subject_kinds[s->kind].condition[i]);
	const char *status = json_text(condition, "status");
	const char *since = json_text(condition, "lastTransitionTime");
	if (is_lost(s, i, condition, status)) { /* write it anew */
		free(s->written);
		s->written = NULL;
		s->unsaid = s->refusal != NULL;
		s->status_writer->unfinished = true;
	}
	if (!status || !since || strlen(since) >= sizeof(s->condition[i].since.s) ||
		s->condition[i].known)
		return;
	s->condition[i].known = true;
	s->condition[i].is = strcmp(status, "True") == 0;
	strcpy(s->condition[i].since.s, since);
}

static int64_t version_number(const char *version)
{
	int64_t n;
	return version && text_number(version, INT64_MAX, &n) ? n : 0;
}

/* Takes in a version that another client has written. A status that ignores it would undo what an
 * earlier leader gave back: it is written anew, for this version alone. */
static void take_in_version(struct subject *s, const cJSON *object)
{
	if (s->kind != REPORT_ADVANCE_RESERVATION)
		return;
	int64_t n = version_number(json_text(json_object(object, "metadata"), "resourceVersion"));
	if (n <= s->version)
		return; /* our own write, or one before it */
	s->version = n;
	s->doubted = false;
	free(s->written);
	s->written = NULL;
	s->status_writer->unfinished = true;
}

void status_writer_see(
	struct status_writer *r, enum status_writer_kind kind, const struct cJSON *object)
{
	struct key k = {kind, decode_namespace_of(object), decode_name(object)};
	struct subject *s = subject_get(r, &k);
	struct uid uid = {{0}};
	decode_uid(object, &uid);
	if (s && uid_cmp(&s->uid, &uid) != 0) { /* another object, of which nothing was said yet */
		status_writer_lose(r, kind, k.ns, k.name);
		s = NULL;
	}
	if (!s) {
		s = mem_alloc(sizeof(*s));
		s->status_writer = r;
		s->kind = kind;
		s->ns = mem_strdup(k.ns);
		s->name = mem_strdup(k.name);
		map_put(&r->subjects, key_hash(&k), s);
		r->unfinished = true;
	}
	s->uid = uid;
	take_in_version(s, object);
	s->deleting = json_text(json_object(object, "metadata"), "deletionTimestamp") != NULL;
	r->unfinished |= kind == REPORT_FLAVOR && s->deleting;
	for (size_t i = 0; i < STATUS_CONDITIONS_MAX; i++)
		if (subject_kinds[kind].condition[i])
			take_in_condition(s, i, object);
}

void status_writer_judge(struct status_writer *r, const struct cJSON *flavor, const char *sentence)
{
	struct key k = {REPORT_FLAVOR, "", decode_name(flavor)};
	struct subject *s = subject_get(r, &k);
	if (!s)
		return;
	free(s->refusal);
	s->refusal = sentence ? mem_strdup(sentence) : NULL;
	s->generation = 0;
	json_i64(json_object(flavor, "metadata"), "generation", &s->generation);
	s->unsaid = sentence || s->written || (s->condition[0].known && !s->condition[0].is);
	r->unfinished |= s->unsaid;
}

void status_writer_lose(
	struct status_writer *r, enum status_writer_kind kind, const char *ns, const char *name)
{
	struct key k = {kind, ns, name};
	struct subject *s = map_take(&r->subjects, key_hash(&k), &k);
	if (!s)
		return;
	if (s->under_way)
		s->lost = true;
	else
		subject_free(s);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void complain(struct status_writer *r, const struct subject *s, const char *sentence)
{
	if (!log_again(&r->complained_ms, r->now_ms))
		return;
	log_event(r->log, LEVEL_WARN, "status-not-written", "kind", subject_kinds[s->kind].name,
		"namespace", s->ns[0] ? s->ns : NULL, "name", s->name, "why", sentence, NULL);
}

/* Tells whether a failed write is logged; not the first refusal, for the watch may be about to tell
 * of another object. */
static bool is_worth_a_word(const struct subject *s, enum kube_outcome o)
{
	return !s->lost && o != KUBE_GONE && (o != KUBE_STALE || s->doubted);
}

static void note_version(struct subject *s, struct slice answer)
{
	struct skim_identity is;
	if (s->kind != REPORT_ADVANCE_RESERVATION)
		return;
	skim_identity(answer, &is);
	int64_t n = version_number(is.version);
	s->version = n > s->version ? n : s->version;
}

static void pass_go_on(struct status_writer *r);

static void on_written(const struct kube_answer *a, void *ctx)
{
	struct subject *s = ctx;
	struct status_writer *r = s->status_writer;
	r->in_flight--;
	r->took_ms = (r->clock_us() - s->asked_us) / 1000;
	if (a->outcome == KUBE_DONE) {
		note_version(s, a->body);
		free(s->written);
		s->written = s->under_way;
		s->under_way = NULL;
	} else {
		if (is_worth_a_word(s, a->outcome))
			complain(r, s, a->sentence);
		r->unfinished = true;
		s->unsaid = true;
		free(s->under_way);
		s->under_way = NULL;
	}
	s->doubted = a->outcome == KUBE_STALE;
	if (s->lost)
		subject_free(s);
	pass_go_on(r);
}

static void subject_write(struct subject *s, struct buf *text)
{
	struct status_writer *r = s->status_writer;
	struct buf path, body;
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&body, STATUS_MAX_BYTES + STATUS_PATCH_EXTRA_BYTES);
	if (s->kind == REPORT_LOCALQUEUE)
		path_format(&path, "/apis/sluice.dev/v1alpha1/namespaces/%s/localqueues/%s/status",
			s->ns, s->name);
	else
		path_format(&path, "/apis/sluice.dev/v1alpha1/%s/%s/status",
			subject_kinds[s->kind].plural, s->name);
	s->asked_ms = r->now_ms;
	s->asked_us = r->clock_us();
	s->under_way = buf_take(text);
	r->in_flight++;
	status_patch(&body, &s->uid, s->version, slice_of(s->under_way));
	struct kube_request request = {
		.method = KUBE_PATCH,
		.path = buf_text(&path),
		.content_type = KUBE_JSON_PATCH,
		.body = buf_slice(&body),
		.timeout_ms = TIMEOUT_MS,
	};
	kube_client_send(r->client, &request, on_written, s);
	buf_done(&path);
	buf_done(&body);
}

/* Returns since when the condition is as it is: now, if it has changed. */
static const char *since_of(struct subject *s, size_t i, bool is)
{
	if (!s->condition[i].known || s->condition[i].is != is) {
		s->condition[i].known = true;
		s->condition[i].is = is;
		s->condition[i].since = instant_seconds(s->status_writer->now_ms);
	}
	return s->condition[i].since.s;
}

static void tell_turn(struct subject *s, const struct status_conditions *c, size_t i)
{
	struct events_subject of = {s->uid, s->ns, s->name, subject_kinds[s->kind].name};
	bool same = s->condition[i].known && s->condition[i].is == c->is[i];
	bool cured = s->condition[i].known && c->cured[i];
	if (s->status_writer->events && (c->bad[i] || cured) && !same)
		events_tell(s->status_writer->events, &of,
			c->bad[i] ? EVENTS_WARNING : EVENTS_NORMAL, c->reason[i], c->message[i],
			s->status_writer->now_ms);
}

static void date(struct subject *s, struct status_conditions *c)
{
	for (size_t i = 0; i < STATUS_CONDITIONS_MAX && c->type[i]; i++) {
		tell_turn(s, c, i);
		c->since[i] = since_of(s, i, c->is[i]);
	}
}

/* ---- what of a spec has no effect ------------------------------------------------------------ */

static bool effect_is_due(struct subject *s)
{
	struct status_writer *r = s->status_writer;
	int64_t age_ms = r->now_ms - s->effect.looked_ms;
	if (!s->effect.looked)
		return true;
	if (s->effect.version == queue_version(r->queue) && !s->effect.suspected)
		return false;
	bool early = age_ms >= 0 && age_ms < EFFECT_MS + 4 * (int64_t)r->subjects.count;
	bool spent = r->effects >= EFFECTS_A_PASS;
	if (early || spent)
		r->unfinished = true;
	return !early && !spent;
}

static void tell_effect(const struct subject *s, const struct condition_view *v)
{
	struct events_subject of = {s->uid, s->ns, s->name, subject_kinds[s->kind].name};
	if (s->status_writer->events)
		events_tell(s->status_writer->events, &of, EVENTS_WARNING, v->reason, v->message,
			s->status_writer->now_ms);
}

/* Looks at what of a spec has no effect. What is missing for a moment is not told: objects are
 * applied in any order. */
static void look_at_effect(struct subject *s)
{
	struct status_writer *r = s->status_writer;
	struct condition_view v;
	bool told = s->condition[EFFECTIVE].known && !s->condition[EFFECTIVE].is;
	r->effects += s->kind == REPORT_LOCALQUEUE ? 1 : EFFECT_OF_QUOTAS;
	queue_view_effect(r->queue, subject_kinds[s->kind].effect, s->ns, s->name, &v);
	bool again = !v.ok && !told && !s->effect.suspected;
	s->effect.looked = true;
	s->effect.looked_ms = r->now_ms;
	s->effect.version = queue_version(r->queue);
	s->effect.suspected = again;
	r->unfinished |= again;
	if (again)
		return;
	if (!v.ok && !told)
		tell_effect(s, &v);
	since_of(s, EFFECTIVE, v.ok);
	free(s->effect.message);
	s->effect.reason = v.reason;
	s->effect.message = mem_strdup(v.message);
}

/* Returns the effect, valid until the next call; NULL: nothing is said of it. */
static const struct status_effect *effect_of(struct subject *s)
{
	struct status_writer *r = s->status_writer;
	if (!subject_kinds[s->kind].condition[EFFECTIVE])
		return NULL;
	if (effect_is_due(s))
		look_at_effect(s);
	if (!s->effect.message)
		return NULL;
	r->effect = (struct status_effect){s->condition[EFFECTIVE].is, s->effect.reason,
		s->effect.message, s->condition[EFFECTIVE].since.s};
	return &r->effect;
}

/* ---- one pass over all objects --------------------------------------------------------------- */

/* Returns the time between writes: how slowly the API server answers shows how much it has to
 * do. */
static int64_t interval_ms(const struct status_writer *r, enum status_writer_kind kind)
{
	int64_t ms = kube_client_room(r->client) > 0 ? INTERVAL_MS : INTERVAL_BUSY_MS;
	if (kind == REPORT_BUDGET)
		ms = INTERVAL_BUDGET_MS;
	int64_t share = r->took_ms * SHARE;
	ms = share > ms ? share : ms;
	return ms < INTERVAL_MAX_MS ? ms : INTERVAL_MAX_MS;
}

/* Tells whether s may be written now; what must wait is left for another pass. */
static bool is_due(struct status_writer *r, const struct subject *s)
{
	if (!s)
		return false;
	int64_t age = r->now_ms - s->asked_ms;
	bool early = s->asked_ms != 0 && age >= 0 && age < interval_ms(r, s->kind);
	if (!s->under_way && !early)
		return true;
	r->unfinished = true;
	return false;
}

static struct subject *due_subject(struct status_writer *r, const char *ns, const char *name)
{
	struct key k = {r->at_kind, ns, name};
	struct subject *s = subject_get(r, &k);
	return is_due(r, s) ? s : NULL;
}

static void offer(struct subject *s, struct buf *text)
{
	if (!text->failed && (!s->written || strcmp(s->written, buf_text(text)) != 0))
		subject_write(s, text);
}

/* Defines a function for the index-th object of a kind: its subject goes into *ret if it may be
 * written now, rendered into text by `render`. False past the last. */
#define RENDER(kind, ns, render)                                                                   \
	static bool render_##kind(                                                                 \
		struct status_writer *r, size_t index, struct subject **ret, struct buf *text)     \
	{                                                                                          \
		struct kind##_view v = {0};                                                        \
		if (!queue_view_##kind(r->queue, index, &v))                                       \
			return false;                                                              \
		struct subject *s = *ret = due_subject(r, ns, v.name);                             \
		if (s) {                                                                           \
			struct json_writer w = json_writer_object(text);                           \
			render;                                                                    \
			jw_close(&w);                                                              \
		}                                                                                  \
		return true;                                                                       \
	}
#define RENDER_JUDGED(kind, ...)                                                                   \
	RENDER(kind, "",                                                                           \
		(status_judge_##kind(&v, &r->judged), date(s, &r->judged),                         \
			status_add_effect(&r->judged, effect_of(s)),                               \
			status_put_##kind(&w, &v, __VA_ARGS__)))

RENDER(clusterqueue, "",
	status_put_clusterqueue(&w, &v, r->fair_sharing, since_of(s, 0, v.active), effect_of(s)))
RENDER(localqueue, v.ns, status_put_localqueue(&w, &v, since_of(s, 0, v.active), effect_of(s)))
/* A Cohort that is only named has no subject. */
RENDER(cohort, "",
	status_put_cohort(&w, &v, r->fair_sharing, since_of(s, 0, v.active), effect_of(s)))
RENDER_JUDGED(calendar, r->zones ? zones_edition(r->zones) : "", &r->judged)
RENDER_JUDGED(runpolicy, &r->judged)
RENDER_JUDGED(priceplan, &r->judged)
RENDER_JUDGED(budget, &r->judged)

/* Renders it once the queue has judged it, as it was told last. */
static bool render_advance_reservation(
	struct status_writer *r, size_t index, struct subject **ret, struct buf *text)
{
	struct advance_reservation_view v = {0};
	if (!queue_view_advance_reservation(r->queue, index, &v))
		return false;
	if (v.undecided || strcmp(v.accepted.reason, "NotJudgedYet") == 0)
		return true;
	struct subject *s = *ret = due_subject(r, "", v.name);
	if (!s)
		return true;
	status_judge_advance_reservation(&v, &r->judged);
	date(s, &r->judged);
	struct json_writer w = json_writer_object(text);
	status_put_advance_reservation(&w, &v, &r->judged);
	jw_close(&w);
	return true;
}

/* Tells the admin what uses a flavor that is being deleted, and works until then. */
static void judge_termination(const struct subject *s, struct buf *message)
{
	char users[QUEUE_USERS_SIZE];
	if (queue_flavor_users(s->status_writer->queue, s->name, users))
		buf_printf(message,
			"is being deleted, but stays while it is used, and Jobs may be started in it: %s",
			users);
	else
		buf_puts(message, "is being deleted; nothing uses it any more");
}

static void judge_nodes(const struct subject *s, struct buf *message)
{
	buf_puts(message, "Jobs may be started in this flavor");
	if (s->maker)
		buf_printf(message,
			"; it counts as nodes: Autoscaled, for %s is seen here, which makes such nodes: set spec.nodes if that is wrong",
			s->maker);
}

static void report_flavor(struct subject *s)
{
	struct buf text, message;
	buf_init(&message, 2 * QUEUE_USERS_SIZE);
	if (s->deleting)
		judge_termination(s, &message);
	else
		judge_nodes(s, &message);
	struct status_verdict v = {.active = !s->refusal,
		.reason = s->deleting ? "Terminating" : "Ready",
		.message = buf_text(&message),
		.invalid = s->refusal,
		.generation = s->generation};
	s->unsaid = false;
	buf_init(&text, STATUS_MAX_BYTES);
	struct json_writer w = json_writer_object(&text);
	status_put_resourceflavor(&w, &v, since_of(s, 0, v.active));
	jw_close(&w);
	offer(s, &text);
	buf_done(&text);
	buf_done(&message);
}

/* Writes a flavor that has news; false: none may be written now. */
static bool report_flavors(struct status_writer *r)
{
	struct subject *s;
	map_each(&r->subjects, i, s)
		if (s->kind == REPORT_FLAVOR && s->unsaid && is_due(r, s)) {
			report_flavor(s);
			return true;
		}
	return false;
}

/* Looks up what makes nodes of the flavor. True: that is news. */
static bool look_at_maker(struct subject *s)
{
	const char *maker = queue_flavor_maker(s->status_writer->queue, s->name);
	if (maker && s->maker ? strcmp(maker, s->maker) == 0 : !maker == !s->maker)
		return false;
	free(s->maker);
	s->maker = maker ? mem_strdup(maker) : NULL;
	return true;
}

/* Marks flavors with possible news, for users of a deleted one and makers of nodes come and go. */
static void look_at_flavors(struct status_writer *r)
{
	struct subject *s;
	map_each(&r->subjects, i, s)
		if (s->kind == REPORT_FLAVOR && (look_at_maker(s) || s->deleting))
			s->unsaid = true;
}

/* Writes the next object, if it is due. False past the last of its kind. */
static bool report_next(struct status_writer *r)
{
	static bool (*const render[])(struct status_writer * r, size_t index, struct subject * *ret,
		struct buf * text) = {
		[REPORT_CLUSTERQUEUE] = render_clusterqueue,
		[REPORT_LOCALQUEUE] = render_localqueue,
		[REPORT_COHORT] = render_cohort,
		[REPORT_CALENDAR] = render_calendar,
		[REPORT_RUNPOLICY] = render_runpolicy,
		[REPORT_PRICEPLAN] = render_priceplan,
		[REPORT_BUDGET] = render_budget,
		[REPORT_ADVANCE_RESERVATION] = render_advance_reservation,
	};
	struct subject *s = NULL;
	struct buf text;
	buf_init(&text, STATUS_MAX_BYTES);
	bool there = render[r->at_kind](r, r->at_index++, &s, &text);
	if (s)
		offer(s, &text);
	buf_done(&text);
	return there;
}

static void pass_go_on(struct status_writer *r)
{
	while (r->passing && r->in_flight < IN_FLIGHT_MAX) {
		if (r->at_kind == REPORT_FLAVOR)
			r->passing = report_flavors(r);
		else if (!report_next(r))
			r->at_kind++, r->at_index = 0;
	}
}

void status_writer_tick(struct status_writer *r, int64_t now_ms)
{
	r->now_ms = now_ms;
	if (!r->passing) {
		uint64_t version = queue_version(r->queue);
		if (version == r->done_version && !r->unfinished)
			return;
		r->done_version = version;
		r->unfinished = false;
		r->passing = true;
		r->effects = 0;
		look_at_flavors(r);
		r->at_kind = REPORT_CLUSTERQUEUE;
		r->at_index = 0;
	}
	pass_go_on(r);
}
