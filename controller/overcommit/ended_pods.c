#include "controller/overcommit/ended_pods.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "controller/common/path.h"
#include "controller/overcommit/lent_pod.h"

enum { BODY_MAX_BYTES = 4096, TIMEOUT_MS = 10000, WHY_MAX = 300 };

/* A condition that is being written. */
struct marking {
	struct ended_pods *all;
	char *pod;
	uint64_t id; /* 0: free */
};

struct ended_pods {
	struct ended_pods_options o;
	struct marking marking[ENDED_PODS_UNDER_WAY];
};

struct ended_pods *ended_pods_new(const struct ended_pods_options *o)
{
	struct ended_pods *e = mem_alloc(sizeof(*e));
	e->o = *o;
	return e;
}

void ended_pods_free(struct ended_pods *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < ENDED_PODS_UNDER_WAY; i++) {
		kube_client_cancel(e->o.client, e->marking[i].id);
		free(e->marking[i].pod);
	}
	free(e);
}

/* ---- the condition --------------------------------------------------------------------------- */

static void on_marked(const struct kube_answer *a, void *ctx)
{
	struct marking *m = ctx;
	if (a->outcome == KUBE_DENIED)
		log_event(m->all->o.log, LEVEL_WARN, "not-marked", "pod", m->pod, "why",
			a->sentence, "cure",
			"the controller needs patch of pods/status: deploy/components/node-agent",
			NULL);
	else if (a->outcome != KUBE_DONE && a->outcome != KUBE_GONE)
		log_event(m->all->o.log, LEVEL_WARN, "not-marked", "pod", m->pod, "why",
			a->sentence, NULL);
	free(m->pod);
	*m = (struct marking){0};
}

static void put_body(struct buf *out, const struct uid *pod, const char *why, int64_t now_ms)
{
	struct json_writer w = json_writer_object(out);
	jw_object(&w, "metadata");
	uid_put(&w, "uid", pod); /* no other of its name */
	jw_end(&w);
	jw_object(&w, "status");
	jw_array(&w, "conditions");
	jw_object(&w, NULL);
	jw_texts(&w, "type", "DisruptionTarget", "status", "True", "reason",
		stop_reason_name(STOP_REASON_IDLE_RECLAIMED), "message", why, NULL);
	jw_text(&w, "lastTransitionTime", instant_seconds(now_ms).s);
	jw_close(&w);
}

static uint64_t send(struct ended_pods *e, const char *ns, const char *name, const struct uid *uid,
	const char *why, int64_t now_ms, struct marking *m)
{
	struct buf path, body;
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&body, BODY_MAX_BYTES);
	path_format(&path, "/api/v1/namespaces/%s/pods/%s/status", ns, name);
	put_body(&body, uid, why, now_ms);
	struct kube_request request = {.method = KUBE_PATCH,
		.path = buf_text(&path),
		.content_type = KUBE_STRATEGIC_PATCH,
		.body = buf_slice(&body),
		.timeout_ms = TIMEOUT_MS,
		.urgent = true};
	uint64_t id = kube_client_send(e->o.client, &request, on_marked, m);
	buf_done(&path);
	buf_done(&body);
	return id;
}

static void mark(struct ended_pods *e, const struct inventory_pod *p, const char *ns,
	const char *name, const char *why, int64_t now_ms)
{
	size_t i = 0;
	while (i < ENDED_PODS_UNDER_WAY && e->marking[i].id)
		i++;
	if (i == ENDED_PODS_UNDER_WAY) {
		log_event(e->o.log, LEVEL_WARN, "not-marked", "pod", p->name, "why",
			"too many are under way", NULL);
		return;
	}
	struct marking *m = &e->marking[i];
	*m = (struct marking){.all = e, .pod = mem_strdup(p->name)};
	m->id = send(e, ns, name, &p->uid, why, now_ms, m);
}

/* ---- a pod ----------------------------------------------------------------------------------- */

static void tell(struct ended_pods *e, const struct inventory_pod *p, int64_t bytes, int64_t now_ms)
{
	char job[UID_TEXT_SIZE], why[WHY_MAX];
	const char *slash = strchr(p->name, '/');
	char *ns = mem_strndup(p->name, (size_t)(slash - p->name));
	struct events_subject of = {p->uid, ns, slash + 1, "Pod"};
	snprintf(why, sizeof(why),
		"node %.120s ran out of memory, and its agent ended this pod, which ran on idle "
		"resources and used %" PRId64 " MiB",
		p->node->name, bytes >> 20);
	uid_format(&p->lent->owner_job, job);
	log_event(e->o.log, LEVEL_INFO, "ended", "node", p->node->name, "pod", p->name, "job", job,
		"#bytes", LOG_NUMBER(bytes), NULL);
	mark(e, p, ns, slash + 1, why, now_ms);
	if (e->o.events)
		events_tell(e->o.events, &of, EVENTS_WARNING,
			stop_reason_name(STOP_REASON_IDLE_RECLAIMED), why, now_ms);
	free(ns);
}

static bool stop_job(struct ended_pods *e, const struct inventory_pod *p)
{
	char why[WHY_MAX];
	const struct uid *job = &p->lent->owner_job;
	if (e->o.gate && gate_job_ignores_disruption(e->o.gate, job))
		return false;
	snprintf(why, sizeof(why),
		"idle resources of node %.120s are wanted back: it ran out of memory",
		p->node->name);
	return queue_reclaim_job(e->o.queue, job, 0, why);
}

static struct inventory_pod *find(
	const struct ended_pods *e, struct inventory_pod *pods, const struct uid *uid)
{
	struct inventory_pod *p = pods;
	while (p && (uid_cmp(&p->uid, uid) != 0 || !lent_pod_is_ours(e->o.queue, p)))
		p = p->next;
	return p;
}

/* Whether it was told that the pod was ended, and may not be told again: an agent that says so all
 * the time would have us write all the time. */
static bool was_told(const struct inventory_lent *l, int64_t now_ms)
{
	int64_t age_ms = now_ms - l->ended_ms;
	return l->ended_ms != 0 && age_ms >= 0 && age_ms < LENT_POD_LEAVING_MS;
}

static bool take(
	struct ended_pods *e, struct inventory_node *n, const struct deed *d, int64_t now_ms)
{
	struct inventory_pod *p = find(e, n->pods, &d->uid);
	if (!p)
		p = find(e, n->dangling, &d->uid); /* it has failed before this was told */
	if (!p || was_told(p->lent, now_ms))
		return false;
	p->lent->told_ms = p->lent->ended_ms = now_ms;
	tell(e, p, d->value, now_ms);
	return stop_job(e, p);
}

bool ended_pods_take(
	struct ended_pods *e, struct inventory_node *n, const struct sample *s, int64_t now_ms)
{
	struct inventory_agent *a = inventory_want_agent(e->o.inventory, n);
	bool told = false;
	if (strcmp(a->boot, s->boot) != 0) {
		snprintf(a->boot, sizeof(a->boot), "%s", s->boot);
		a->deed = 0;
	}
	for (size_t i = 0; i < s->ndeeds; i++) {
		const struct deed *d = &s->deeds[i];
		if (d->number <= a->deed)
			continue;
		a->deed = d->number;
		if (d->kind == DEED_ENDING || d->kind == DEED_ENDED)
			told |= take(e, n, d, now_ms);
	}
	return told;
}
