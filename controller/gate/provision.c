#include "controller/gate/provision.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "controller/gate/attempt.h"
#include "controller/gate/gate_priv.h"
#include "controller/gate/observe.h"
#include "controller/gate/phase.h"
#include "controller/gate/record.h"
#include "controller/gate/stop.h"

#define RETRY_MS 500
#define RETRY_MAX_MS 30000
#define KEEP_MS 5000		/* a Job that waits may have its turn at once, and take it over */
#define PAUSE_MS INT64_C(30000) /* after the first failure, then doubled */
#define MESSAGE_MAX_BYTES 500
#define PAUSE_DOUBLINGS 6 /* to about half an hour */

/* One ProvisioningRequest. */
struct request {
	struct request *next;
	int32_t number; /* the attempt that made it */
	uint64_t key;	/* what it asks for */
	enum provision_state state;
	char *message; /* what the autoscaler says; never NULL */
};

/* What is known of one Job. */
struct provision {
	struct uid uid;
	char *ns;
	struct request *first; /* the newest one first */
	int32_t deleting;      /* the number of the one that is being deleted */
	int32_t attempt;       /* the one that waits, or waited last */
	int64_t since_ms;      /* since when, by tick_ms */
	unsigned failures;     /* attempts in a row that gave up */
	char *failure;	       /* why the last of them did; NULL: none did */
};

/* Of another namespace it is another's: a tenant may write what it likes into its own. */
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
	forget(g, find(g, j));
}

/* ---- requests that are seen ------------------------------------------------------------------ */

static struct request **place_of(struct provision *v, int32_t number)
{
	struct request **at = &v->first;
	while (*at && (*at)->number > number)
		at = &(*at)->next;
	return at;
}

static void put(struct provision *v, int32_t number, uint64_t key, enum provision_state state,
	const char *message)
{
	struct request **at = place_of(v, number), *r = *at;
	if (!r || r->number != number) {
		r = mem_alloc(sizeof(*r));
		r->next = *at;
		r->number = number;
		*at = r;
	}
	free(r->message);
	r->message = message ? mem_strndup(message, strnlen(message, MESSAGE_MAX_BYTES))
			     : mem_strdup("");
	r->key = key;
	r->state = state;
}

static void drop(struct provision *v, int32_t number)
{
	struct request **at = place_of(v, number), *r = *at;
	if (!r || r->number != number)
		return;
	*at = r->next;
	request_free(r);
}

static void mark_dirty(struct gate *g, const struct uid *job)
{
	struct gate_job *j = gate_find_job(g, job);
	if (j)
		gate_mark_dirty(g, j);
}

void gate_see_provision(struct gate *g, const struct provision_fact *f)
{
	put(keep(g, &f->job, f->ns), f->number, f->key, f->state, f->message);
	mark_dirty(g, &f->job);
}

void gate_lose_provision(struct gate *g, const struct uid *job, const char *ns, int32_t number)
{
	struct provision *v = find_of(g, job, ns);
	if (!v)
		return;
	drop(v, number);
	if (!gate_find_job(g, job))
		forget(g, v);
	mark_dirty(g, job);
}

/* ---- a start that waits ---------------------------------------------------------------------- */

/* Nothing comes of it any more. */
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

/* FNV-1a: it is written into the object, and must be the same under each leader and version. */
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

static uint64_t key_of(const struct gate_job *j, const struct provisioning *p)
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
	return key;
}

enum provision_verdict provision_see_to(struct gate *g, struct gate_job *j)
{
	struct provisioning p;
	if (j->attempt.sent || j->attempt.doubt || !queue_job_provisioning(g->queue, &j->uid, &p))
		return PROVISION_GO;
	struct provision *v = keep(g, &j->uid, j->ns);
	if (v->attempt != j->attempt.number) {
		v->attempt = j->attempt.number;
		v->since_ms = g->tick_ms;
	}
	const struct request *r = v->first;
	bool ours = r && r->number == j->attempt.number;
	if (r && (r->key != key_of(j, &p) || (is_over(r->state) && !ours))) {
		job_request(g, j, INTENT_UNPROVISION);
		return PROVISION_WAIT;
	}
	if (r && r->state == PROVISION_PROVISIONED)
		return PROVISION_GO;
	if ((r && is_over(r->state)) || g->tick_ms - v->since_ms >= p.timeout_ms)
		return PROVISION_FAIL;
	gate_alarm(g, j, v->since_ms + p.timeout_ms);
	if (!r)
		job_request(g, j, INTENT_PROVISION);
	return PROVISION_WAIT;
}

static char *failure_of(const struct provision *v)
{
	struct buf text;
	const struct request *r = v->first;
	buf_init(&text, 1024);
	if (r && r->state == PROVISION_EXPIRED)
		buf_puts(&text, "what was set aside for it expired before it could start");
	else if (r && is_over(r->state))
		buf_puts(&text, "no nodes were provisioned for it");
	else
		buf_puts(&text,
			"no nodes were provisioned for it within spec.provisioning.timeout of its flavor");
	if (r && *r->message)
		buf_printf(&text, ": %s", r->message);
	return buf_take(&text);
}

void provision_give_up(struct gate *g, struct gate_job *j)
{
	struct provision *v = keep(g, &j->uid, j->ns);
	int64_t pause_ms = PAUSE_MS
			   << (v->failures < PAUSE_DOUBLINGS ? v->failures : PAUSE_DOUBLINGS);
	v->failures++;
	free(v->failure);
	v->failure = failure_of(v);
	stop_want(j);
	stop_with_sentence(j, "NotProvisioned", g->identity, mem_strdup(v->failure));
	attempt_pause(j, g->now_ms + gate_spread(g, pause_ms));
}

/* ---- what is left of it ---------------------------------------------------------------------- */

bool provision_tidy(struct gate *g, struct gate_job *j)
{
	struct provision *v = find(g, j);
	if (!v || !v->first)
		return false;
	if (j->gone) { /* they go with their owner */
		while (v->first)
			drop(v, v->first->number);
		return false;
	}
	int64_t kept_ms = j->waits_ms + KEEP_MS;
	bool over = j->lost || j->seen.finished || is_over(v->first->state);
	if (!over && g->tick_ms < kept_ms) {
		gate_alarm(g, j, kept_ms);
		return false;
	}
	job_request(g, j, INTENT_UNPROVISION);
	return true;
}

void provision_heed(struct gate *g, struct gate_job *j)
{
	struct provision *v = find(g, j);
	if (!v)
		return;
	v->failures = 0;
	free(v->failure);
	v->failure = NULL;
	if (!v->first || v->first->state != PROVISION_REVOKED || j->stop.wanted)
		return;
	struct buf text;
	buf_init(&text, 1024);
	buf_puts(&text, "the autoscaler takes back the nodes that were provisioned for it");
	if (*v->first->message)
		buf_printf(&text, ": %s", v->first->message);
	stop_want(j);
	stop_with_sentence(j, "CapacityRevoked", g->identity, buf_take(&text));
}

/* ---- the talk with the API server ------------------------------------------------------------ */

bool provision_still_wants(const struct gate *g, const struct gate_job *j)
{
	const struct provision *v = find(g, j);
	if (j->request.want == INTENT_UNPROVISION)
		return v && v->first;
	return j->phase == PHASE_STARTING && !(v && v->first);
}

static void name_request(struct gate *g, const struct gate_job *j, int32_t number)
{
	char uid[UID_TEXT_SIZE];
	uid_format(&j->uid, uid);
	snprintf(g->taken.provision_name, sizeof(g->taken.provision_name), "sluice-%s-%" PRId32,
		uid, number);
}

/* Its pods name the request that they take the place of. */
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

void provision_tell(struct gate *g, struct gate_job *j, struct intent *i)
{
	struct provisioning p;
	struct provision *v = find(g, j);
	int32_t number = v && v->first ? v->first->number : j->attempt.number;
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
			.key = key_of(j, &p)};
	}
	name_request(g, j, number);
	i->provision.name = g->taken.provision_name;
	if (i->kind == INTENT_START)
		annotate(g, i);
}

static void answered_ask(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	struct provisioning p;
	struct provision *v = keep(g, &j->uid, j->ns);
	bool known = queue_job_provisioning(g->queue, &j->uid, &p);
	switch (a->outcome) {
	case JOB_DONE:
		if (known && !v->first)
			put(v, j->attempt.number, key_of(j, &p), PROVISION_ASKED, "");
		break;
	case JOB_DENIED: /* asking again does not help */
		if (known && !v->first)
			put(v, j->attempt.number, key_of(j, &p), PROVISION_FAILED, a->sentence);
		break;
	case JOB_REFUSED:
	case JOB_GONE:
		j->need_read = true;
		gate_back_off(g, j, RETRY_MS, RETRY_MAX_MS);
		break;
	case JOB_BUSY:
		job_pause(g, j,
			g->tick_ms + gate_spread(g, a->retry_ms > 0 ? a->retry_ms : RETRY_MS));
		break;
	case JOB_IN_DOUBT:
		gate_back_off(g, j, RETRY_MS, RETRY_MAX_MS);
		break;
	}
}

void provision_answered(
	struct gate *g, struct gate_job *j, enum intent_kind asked, const struct job_answer *a)
{
	struct provision *v = find(g, j);
	if (asked == INTENT_PROVISION)
		answered_ask(g, j, a);
	else if (a->outcome == JOB_BUSY || a->outcome == JOB_IN_DOUBT)
		gate_back_off(g, j, RETRY_MS, RETRY_MAX_MS);
	else if (v) /* done, or it will not be done by us */
		drop(v, v->deleting);
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
	const struct request *r = v->first;
	snprintf(ret, size,
		"starting: quota is reserved, and a ProvisioningRequest of class %.100s %s nodes for its %" PRId32
		" pods in flavor %s%s%s; without them the quota is given back after %" PRId64
		" s (spec.provisioning.timeout)",
		p.class_name, r ? "asks for" : "is to ask for", j->attempt.pods, p.flavor,
		r && *r->message ? ": " : "", r ? r->message : "", p.timeout_ms / 1000);
	return true;
}
