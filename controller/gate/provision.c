#include "controller/gate/provision.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/backoff.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/slice.h"
#include "base/span.h"
#include "controller/gate/attempt.h"
#include "controller/gate/core.h"
#include "controller/gate/job_table.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "controller/gate/stop.h"

#define RETRY_MS 500
#define RETRY_MAX_MS 30000
#define KEEP_MS 5000	/* a Job that waits may have its turn at once, and take it over */
#define CLEAR_MS 10000	/* for so long a start without provisioning waits for a DELETE */
#define DELETE_TRIES 10 /* of a Job that is over: then its owner reference has to do */
#define REMOVALS_FREE 2 /* requests that go within an attempt; from then on it pauses */
#define REMOVAL_MAX_MS 32000
#define EACH_MAX 8 /* requests of a Job that are kept; more than two are not of our making */
/* The requests of unknown Jobs that are kept, half a kilobyte each. At a takeover they may be
 * listed before their Jobs, and deferred Jobs stay unknown. But a user who may write such objects
 * can name Jobs that never were. A request that is left out is made once more. */
#define STRANGE_MAX 100000
#define PAUSE_MS INT64_C(30000)	      /* after the first failure, then doubled */
#define PAUSE_MAX_MS INT64_C(1920000) /* about half an hour */
#define MESSAGE_MAX_BYTES 500

struct request {
	struct request *next;
	int32_t number; /* the attempt that made it */
	uint64_t key;	/* of what it asks for */
	enum provision_state state;
	char *message; /* what the autoscaler says; never NULL */
};

struct provision {
	struct uid uid;
	char *ns;
	struct request *first; /* the newest one first */
	size_t count;
	bool strange;	   /* its Job is not known; counted in nstrange */
	int32_t deleting;  /* the number of the request that is being deleted */
	int32_t attempt;   /* the attempt that waits, or waited last */
	int64_t since_ms;  /* since when; this, and what follows, by tick_ms */
	bool goes;	   /* its start waits no longer for requests of earlier ones to go */
	unsigned removals; /* requests that went since then */
	int64_t calm_ms;   /* nothing is made or deleted before, since requests keep going */
	int64_t kept_ms;   /* until when requests of a waiting Job are kept; 0: not asked yet */
	unsigned failures; /* attempts in a row that gave up */
	char *failure;	   /* why the last of them did; NULL: none did */
};

/* A Job, by uid and namespace: a tenant may name any uid in its own namespace. */
struct key {
	const struct uid *uid;
	const char *ns;
};

static bool is_of_job(const void *value, const void *key)
{
	const struct provision *v = value;
	const struct key *k = key;
	return uid_cmp(&v->uid, k->uid) == 0 && strcmp(v->ns, k->ns) == 0;
}

void provisions_init(struct provisions *p)
{
	map_init(&p->by_job, is_of_job);
}

static void request_free(struct request *r)
{
	free(r->message);
	free(r);
}

static void provision_free(void *value)
{
	struct provision *v = value;
	while (v->first) {
		struct request *r = v->first;
		v->first = r->next;
		request_free(r);
	}
	free(v->failure);
	free(v->ns);
	free(v);
}

void provisions_done(struct provisions *p)
{
	map_free(&p->by_job, provision_free);
}

static struct provision *find_of(const struct gate *g, const struct uid *job, const char *ns)
{
	return map_get(&g->provisions.by_job, uid_hash(job), &(struct key){job, ns});
}

static struct provision *find(const struct gate *g, const struct gate_job *j)
{
	return find_of(g, &j->uid, j->ns);
}

static void count_strange(struct gate *g, struct provision *v, bool strange)
{
	if (v->strange == strange)
		return;
	v->strange = strange;
	g->provisions.nstrange += strange ? v->count : -v->count;
}

/* Finds what is known of a Job, which is no unknown one any more. */
static struct provision *meet(struct gate *g, const struct gate_job *j)
{
	struct provision *v = find(g, j);
	if (v)
		count_strange(g, v, false);
	return v;
}

/* Finds the Job that a request names, if it is of the request's namespace. */
static struct gate_job *known_job(const struct gate *g, const struct uid *uid, const char *ns)
{
	struct gate_job *j = gate_find_job(g, uid);
	return j && strcmp(j->ns, ns) == 0 ? j : NULL;
}

static struct provision *keep(struct gate *g, const struct uid *job, const char *ns)
{
	struct provision *v = find_of(g, job, ns);
	if (v)
		return v;
	v = mem_alloc(sizeof(*v));
	v->uid = *job;
	v->ns = mem_strdup(ns);
	map_put(&g->provisions.by_job, uid_hash(job), v);
	return v;
}

static void forget(struct gate *g, struct provision *v)
{
	if (!v || v->first)
		return;
	map_take(&g->provisions.by_job, uid_hash(&v->uid), &(struct key){&v->uid, v->ns});
	provision_free(v);
}

void provision_forget(struct gate *g, const struct gate_job *j)
{
	struct provision *v = find(g, j);
	if (v && v->first)
		count_strange(g, v, true);
	else
		forget(g, v);
}

/* ---- requests that are seen ------------------------------------------------------------------ */

static struct request **place_of(struct provision *v, int32_t number)
{
	struct request **at = &v->first;
	while (*at && (*at)->number > number)
		at = &(*at)->next;
	return at;
}

static bool drop(struct gate *g, struct provision *v, int32_t number)
{
	struct request **at = place_of(v, number), *r = *at;
	if (!r || r->number != number)
		return false;
	*at = r->next;
	v->count--;
	g->provisions.nstrange -= v->strange;
	request_free(r);
	return true;
}

static void drop_all(struct gate *g, struct provision *v)
{
	while (v->first)
		drop(g, v, v->first->number);
}

/* Returns the request of that number; NULL: enough are newer, or enough are of unknown Jobs. */
static struct request *find_or_add(struct gate *g, struct provision *v, int32_t number)
{
	struct request **at = place_of(v, number), *r = *at;
	if (r && r->number == number)
		return r;
	if ((v->count >= EACH_MAX && !r) || (v->strange && g->provisions.nstrange >= STRANGE_MAX))
		return NULL;
	r = mem_alloc(sizeof(*r));
	r->next = *at;
	r->number = number;
	*at = r;
	v->count++;
	g->provisions.nstrange += v->strange;
	if (v->count <= EACH_MAX)
		return r;
	const struct request *oldest = r;
	while (oldest->next)
		oldest = oldest->next;
	drop(g, v, oldest->number);
	return r;
}

static void put(struct gate *g, struct provision *v, int32_t number, uint64_t key,
	enum provision_state state, const char *message)
{
	struct request *r = find_or_add(g, v, number);
	if (!r)
		return;
	free(r->message);
	r->message = message ? mem_strndup(message, slice_cut(message, MESSAGE_MAX_BYTES))
			     : mem_strdup("");
	r->key = key;
	r->state = state;
}

void gate_see_provision(struct gate *g, const struct provision_fact *f)
{
	struct gate_job *j = known_job(g, &f->job, f->ns);
	struct provision *v = keep(g, &f->job, f->ns);
	count_strange(g, v, !j);
	put(g, v, f->number, f->key, f->state, f->message);
	if (j)
		gate_mark_dirty(g, j);
	else
		forget(g, v); /* unless it is kept */
}

/* Counts a request that went. Another client that deletes ours, or makes one when ours is gone,
 * would have us send several calls for each of its own: so from the third on we pause. */
static void note_removal(struct gate *g, struct provision *v)
{
	unsigned paused = v->removals < REMOVALS_FREE ? 0 : v->removals - REMOVALS_FREE + 1;
	v->removals++;
	if (paused == 0)
		return;
	v->calm_ms = g->tick_ms + gate_spread(g, backoff_ms(RETRY_MS, paused, REMOVAL_MAX_MS));
}

void gate_lose_provision(struct gate *g, const struct uid *job, const char *ns, int32_t number)
{
	struct provision *v = find_of(g, job, ns);
	struct gate_job *j = known_job(g, job, ns);
	if (!v)
		return;
	if (drop(g, v, number))
		note_removal(g, v);
	if (j)
		gate_mark_dirty(g, j);
	else
		forget(g, v);
}

/* ---- a start that waits ---------------------------------------------------------------------- */

/* Tells whether nothing comes of the request any more. */
static bool is_over(enum provision_state s)
{
	switch (s) {
	case PROVISION_ASKED:
	case PROVISION_PROVISIONED:
		return false;
	case PROVISION_FAILED:
	case PROVISION_EXPIRED:
	case PROVISION_REVOKED:
		return true;
	}
	return true;
}

/* Adds to the key, which is written into the object: by FNV-1a, the same in each version. */
static void mix(uint64_t *key, const void *ptr, size_t len)
{
	const unsigned char *c = ptr;
	for (size_t i = 0; i < len; i++)
		*key = (*key ^ c[i]) * UINT64_C(1099511628211);
}

static void mix_text(uint64_t *key, const char *text)
{
	mix(key, text, strlen(text) + 1);
}

static void mix_labels(uint64_t *key, const struct key_edit *e)
{
	for (size_t i = 0; i < e->nadd; i++) {
		mix_text(key, e->add[i].key);
		mix_text(key, e->add[i].value);
	}
}

/* Adds what flavors and queues add to its template. The owner's part is in the generation. */
static void mix_template(uint64_t *key, const struct gate *g, const struct uid *uid)
{
	struct directives_text text;
	struct template_edit edit;
	struct arena arena = {0};
	directives_text_init(&text);
	queue_job_directives(g->queue, uid, &text);
	mix_text(key, buf_text(&text.node_selector));
	mix_text(key, buf_text(&text.tolerations));
	mix_text(key, buf_text(&text.node_affinity));
	directives_text_done(&text);
	queue_job_template_edit(g->queue, uid, &arena, &edit);
	mix_labels(key, &edit.labels);
	mix_labels(key, &edit.annotations);
	arena_done(&arena);
}

static uint64_t key_of(const struct gate *g, const struct gate_job *j, const struct provisioning *p)
{
	char numbers[64];
	uint64_t key = UINT64_C(14695981039346656037);
	mix_text(&key, p->flavor);
	mix_text(&key, p->class_name);
	for (size_t i = 0; i < p->nparameters; i++) {
		mix_text(&key, p->parameters[i].key);
		mix_text(&key, p->parameters[i].value);
	}
	snprintf(numbers, sizeof(numbers), "%" PRId32 " %" PRId64, j->attempt.pods,
		j->attempt.generation);
	mix_text(&key, numbers);
	mix_template(&key, g, &j->uid);
	return key;
}

/* Finds the request that decides on this start; NULL: none. A request that is over is an earlier
 * start's, unless this one made it. */
static const struct request *request_of(const struct gate *g, const struct provision *v,
	const struct gate_job *j, const struct provisioning *p)
{
	const struct request *r = v->first;
	if (!r || r->key != key_of(g, j, p))
		return NULL;
	return is_over(r->state) && r->number != j->attempt.number ? NULL : r;
}

static void begin_attempt(const struct gate *g, struct provision *v, const struct gate_job *j)
{
	if (v->attempt == j->attempt.number)
		return;
	v->attempt = j->attempt.number;
	v->since_ms = g->tick_ms;
	v->removals = 0;
	v->goes = false;
	v->calm_ms = v->kept_ms = 0;
}

static void request_calmly(
	struct gate *g, struct gate_job *j, const struct provision *v, enum intent_kind kind)
{
	if (g->tick_ms < v->calm_ms)
		gate_alarm(g, j, v->calm_ms);
	else
		job_request(g, j, kind);
}

static enum provision_verdict wait_for_nodes(
	struct gate *g, struct gate_job *j, const struct provision *v, const struct provisioning *p)
{
	const struct request *r = request_of(g, v, j, p);
	if (r && r->state == PROVISION_PROVISIONED)
		return PROVISION_GO;
	if ((r && is_over(r->state)) || g->tick_ms - v->since_ms >= p->timeout_ms)
		return PROVISION_FAIL;
	gate_alarm(g, j, v->since_ms + p->timeout_ms);
	if (!r)
		request_calmly(g, j, v, v->first ? INTENT_UNPROVISION : INTENT_PROVISION);
	return PROVISION_WAIT;
}

/* Deletes requests of earlier starts before a start that needs none, which waits for that for a
 * while. */
static enum provision_verdict clear_away(struct gate *g, struct gate_job *j, struct provision *v)
{
	if (v->goes)
		return PROVISION_GO;
	if (g->tick_ms - v->since_ms >= CLEAR_MS) {
		v->goes = true;
		request_begin_tries(j); /* the pauses were those of the DELETE */
		job_pause(g, j, g->tick_ms);
		return PROVISION_GO;
	}
	gate_alarm(g, j, v->since_ms + CLEAR_MS);
	request_calmly(g, j, v, INTENT_UNPROVISION);
	return PROVISION_WAIT;
}

enum provision_verdict provision_see_to(struct gate *g, struct gate_job *j)
{
	struct provisioning p;
	if (j->attempt.sent || j->attempt.doubt)
		return PROVISION_GO;
	bool asks = queue_job_provisioning(g->queue, &j->uid, &p);
	struct provision *v = asks ? keep(g, &j->uid, j->ns) : meet(g, j);
	if (!v || (!asks && !v->first))
		return PROVISION_GO;
	count_strange(g, v, false);
	begin_attempt(g, v, j);
	return asks ? wait_for_nodes(g, j, v, &p) : clear_away(g, j, v);
}

static char *failure_of(const struct gate *g, const struct provision *v, const struct gate_job *j)
{
	struct buf text;
	struct provisioning p;
	const struct request *r = NULL;
	if (queue_job_provisioning(g->queue, &j->uid, &p))
		r = request_of(g, v, j, &p);
	buf_init(&text, 1024);
	if (r && r->state == PROVISION_EXPIRED)
		buf_puts(&text, "what was set aside for it expired before it could start");
	else if (r && is_over(r->state))
		buf_puts(&text, "no nodes were provisioned for it");
	else
		buf_puts(&text,
			"no nodes were provisioned for it within spec.provisioning.timeout of its flavor");
	if (!r && v->first)
		buf_puts(&text,
			": a ProvisioningRequest of another start of it could not be deleted");
	if (r && *r->message)
		buf_printf(&text, ": %s", r->message);
	return buf_take(&text);
}

void provision_give_up(struct gate *g, struct gate_job *j)
{
	struct provision *v = keep(g, &j->uid, j->ns);
	int64_t pause_ms = backoff_ms(PAUSE_MS, v->failures++, PAUSE_MAX_MS);
	free(v->failure);
	v->failure = failure_of(g, v, j);
	stop_want(j);
	stop_with_sentence(j, REASON_NOT_PROVISIONED, g->identity, mem_strdup(v->failure));
	attempt_pause(j, g->now_ms + gate_spread(g, pause_ms));
}

/* ---- what is left of it ---------------------------------------------------------------------- */

bool provision_is_left(const struct gate *g, const struct gate_job *j)
{
	const struct provision *v = find(g, j);
	return v && v->first;
}

/* Tells whether requests are kept, since the Job may have its turn: for a while, and while nothing
 * starts. */
static bool is_kept(struct gate *g, struct gate_job *j, struct provision *v)
{
	bool paused = gate_starts_pause(g);
	if (is_over(v->first->state))
		return false;
	if (v->kept_ms == 0)
		v->kept_ms = g->tick_ms + KEEP_MS;
	if (paused) /* looked at again in KEEP_MS, so the pause may end just after this */
		v->kept_ms = g->tick_ms + INT64_C(2) * KEEP_MS;
	if (g->tick_ms >= v->kept_ms)
		return false;
	gate_alarm(g, j, paused ? g->tick_ms + KEEP_MS : v->kept_ms);
	return true;
}

bool provision_tidy(struct gate *g, struct gate_job *j)
{
	struct provision *v = meet(g, j);
	if (!v || !v->first)
		return false;
	bool over = j->lost || j->seen.finished;
	/* The requests go with their owner. */
	if (j->gone || (over && j->request.tries >= DELETE_TRIES)) {
		drop_all(g, v);
		return false;
	}
	if (!over && is_kept(g, j, v))
		return false;
	request_calmly(g, j, v, INTENT_UNPROVISION);
	return true;
}

/* Finds the request whose room the pods have; NULL: none. If an earlier leader started them it is
 * the newest that is not of a later attempt, if the flavor asks at all. */
static const struct request *request_of_run(
	const struct gate *g, const struct provision *v, const struct gate_job *j)
{
	struct provisioning p;
	bool known = j->attempt.provision != PROVISION_OF_EARLIER_LEADER;
	int32_t number = known ? j->attempt.provision : j->attempt.number;
	if (!known && !queue_job_provisioning(g->queue, &j->uid, &p))
		return NULL;
	const struct request *r = v->first;
	while (r && r->number > number)
		r = r->next;
	return r && (!known || r->number == number) ? r : NULL;
}

void provision_heed(struct gate *g, struct gate_job *j)
{
	struct provision *v = meet(g, j);
	if (!v)
		return;
	v->failures = 0;
	v->kept_ms = 0;
	free(v->failure);
	v->failure = NULL;
	const struct request *r = request_of_run(g, v, j);
	if (!r || r->state != PROVISION_REVOKED || j->stop.wanted)
		return;
	struct buf text;
	buf_init(&text, 1024);
	buf_puts(&text, "the autoscaler takes back the nodes that were provisioned for it");
	if (*r->message)
		buf_printf(&text, ": %s", r->message);
	stop_want(j);
	stop_with_sentence(j, REASON_CAPACITY_REVOKED, g->identity, buf_take(&text));
}

/* ---- the talk with the API server ------------------------------------------------------------ */

bool provision_wanted(const struct gate *g, const struct gate_job *j)
{
	return !attempt_must_not_start(g, j) && j->phase == PHASE_STARTING &&
	       !provision_is_left(g, j);
}

bool unprovision_wanted(const struct gate *g, const struct gate_job *j)
{
	return provision_is_left(g, j);
}

static void name_request(struct gate *g, const struct gate_job *j, int32_t number)
{
	char uid[UID_TEXT_SIZE];
	uid_format(&j->uid, uid);
	snprintf(g->taken.provision_name, sizeof(g->taken.provision_name), "sluice-%s-%" PRId32,
		uid, number);
}

static void annotate(struct gate *g, struct intent *i)
{
	struct key_edit *e = &i->template.edit.annotations;
	struct label *all = arena_take(&g->taken.edit, e->nadd + 2, sizeof(*all));
	if (e->nadd > 0)
		memcpy(all, e->add, e->nadd * sizeof(*all));
	all[e->nadd] = (struct label){PROVISION_CONSUMES, i->provision.name};
	all[e->nadd + 1] = (struct label){PROVISION_CLASS, i->provision.class_name};
	e->add = all;
	e->nadd += 2;
}

/* Returns the request's number, the same in each PATCH of a start: the first may have landed. */
static int32_t number_of(const struct gate_job *j, const struct provision *v, enum intent_kind kind)
{
	if (kind == INTENT_START && j->attempt.provision > 0)
		return j->attempt.provision;
	return v && v->first ? v->first->number : j->attempt.number;
}

void provision_tell(struct gate *g, struct gate_job *j, struct intent *i)
{
	struct provisioning p;
	struct provision *v = find(g, j);
	int32_t number = number_of(j, v, i->kind);
	i->provision = (struct provision_ask){0};
	if (i->kind == INTENT_UNPROVISION) {
		if (v)
			v->deleting = number;
	} else if (!v || !queue_job_provisioning(g->queue, &j->uid, &p)) {
		return;
	} else {
		i->provision = (struct provision_ask){.class_name = p.class_name,
			.parameters = p.parameters,
			.nparameters = p.nparameters,
			.pods = j->attempt.pods,
			.key = key_of(g, j, &p)};
	}
	name_request(g, j, number);
	i->provision.name = g->taken.provision_name;
	if (i->kind != INTENT_START)
		return;
	annotate(g, i);
	attempt_provisioned(j, number);
}

/* Pauses, first for as long as the server wants, if it says. */
static void come_again(struct gate *g, struct gate_job *j, int64_t retry_ms)
{
	int64_t first_ms = retry_ms > 0 ? retry_ms : RETRY_MS;
	gate_back_off(g, j, first_ms, first_ms > RETRY_MAX_MS ? first_ms : RETRY_MAX_MS);
}

/* Keeps the answer as a request, until the watch shows one. */
static void take_answer(
	struct gate *g, struct gate_job *j, enum provision_state state, const char *message)
{
	struct provisioning p;
	struct provision *v = keep(g, &j->uid, j->ns);
	if (!v->first && queue_job_provisioning(g->queue, &j->uid, &p))
		put(g, v, j->attempt.number, key_of(g, j, &p), state, message);
}

bool provision_answered(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	switch (a->outcome) {
	case JOB_DONE:
		request_begin_tries(j);
		take_answer(g, j, PROVISION_ASKED, "");
		break;
	case JOB_DENIED: /* asking again does not help */
		take_answer(g, j, PROVISION_FAILED, a->sentence);
		break;
	case JOB_REFUSED:
	case JOB_GONE:
		j->need_read = true;
		if (request_count_refused(j))
			take_answer(g, j, PROVISION_FAILED, a->sentence);
		else
			come_again(g, j, 0);
		break;
	case JOB_BUSY:
	case JOB_IN_DOUBT:
		come_again(g, j, a->retry_ms);
		break;
	}
	return true;
}

bool unprovision_answered(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	struct provision *v = find(g, j);
	if (a->outcome == JOB_BUSY || a->outcome == JOB_IN_DOUBT) {
		come_again(g, j, a->retry_ms);
		return true;
	}
	/* The request is gone, or will not be deleted by us. */
	request_begin_tries(j);
	if (v && drop(g, v, v->deleting))
		note_removal(g, v);
	return true;
}

/* ---- what people are told -------------------------------------------------------------------- */

bool provision_words(const struct gate *g, const struct gate_job *j, char *ret, size_t size)
{
	struct provisioning p;
	const struct provision *v = find(g, j);
	if (!v)
		return false;
	if (j->phase == PHASE_WAITING && v->failure) {
		snprintf(ret, size, "%s", v->failure);
		return true;
	}
	if (j->phase != PHASE_STARTING || j->attempt.sent || j->attempt.doubt ||
		!queue_job_provisioning(g->queue, &j->uid, &p))
		return false;
	const struct request *r = request_of(g, v, j, &p);
	snprintf(ret, size,
		"starting: quota is reserved, and a ProvisioningRequest of class %.100s %s nodes for its %" PRId32
		" pods in flavor %s%s%s; without them the quota is given back after %s (spec.provisioning.timeout)",
		p.class_name, r ? "asks for" : "is to ask for", j->attempt.pods, p.flavor,
		r && *r->message ? ": " : "", r ? r->message : "", span_exact(p.timeout_ms).s);
	return true;
}
