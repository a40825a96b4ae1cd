#include "controller/gate/rejection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/job_table.h"
#include "controller/gate/note.h"
#include "controller/gate/record.h"
#include "controller/gate/stop.h"
#include "controller/gate/stuck.h"
#include "queue/job/text.h"

#define SECOND_MS 1000 /* times on the wire have whole seconds */
#define SENTENCE_MAX 2048

struct entry {
	struct rejected_pod pod;
	uint64_t in_list;
};

struct rejections {
	struct entry *entries; /* REJECTIONS_MAX of them, once there is one */
	size_t n;
	uint64_t list;
};

struct rejections *rejections_new(void)
{
	return mem_alloc(sizeof(struct rejections));
}

void rejections_free(struct rejections *r)
{
	if (r)
		free(r->entries);
	free(r);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static struct entry *find_entry(const struct rejections *r, const struct uid *pod)
{
	for (size_t i = 0; i < r->n; i++)
		if (uid_cmp(&r->entries[i].pod.uid, pod) == 0)
			return &r->entries[i];
	return NULL;
}

/* Returns a free entry, or that of the oldest pod. */
static struct entry *want_entry(struct rejections *r)
{
	if (!r->entries)
		r->entries = mem_array(REJECTIONS_MAX, sizeof(*r->entries));
	if (r->n < REJECTIONS_MAX)
		return &r->entries[r->n++];
	struct entry *oldest = r->entries;
	for (size_t i = 1; i < r->n; i++)
		if (r->entries[i].pod.made_ms < oldest->pod.made_ms)
			oldest = &r->entries[i];
	return oldest;
}

bool rejections_see(struct rejections *r, const struct rejected_pod *pod)
{
	struct entry *e = find_entry(r, &pod->uid);
	bool is_new = !e;
	if (is_new)
		e = want_entry(r);
	e->pod = *pod;
	e->in_list = r->list;
	return is_new;
}

static void drop(struct rejections *r, struct entry *e)
{
	*e = r->entries[--r->n];
}

void rejections_lose(struct rejections *r, const struct uid *pod)
{
	struct entry *e = find_entry(r, pod);
	if (e)
		drop(r, e);
}

void rejections_begin(struct rejections *r)
{
	r->list++;
}

void rejections_end(struct rejections *r)
{
	for (size_t i = r->n; i > 0; i--)
		if (r->entries[i - 1].in_list != r->list)
			drop(r, &r->entries[i - 1]);
}

/* ---- what follows ---------------------------------------------------------------------------- */

/* Tells whether a pod is of the Job. Its owner reference is believed within its namespace. */
static bool is_of(const struct rejected_pod *pod, const char *ns, const struct uid *job)
{
	return uid_cmp(&pod->job, job) == 0 && strcmp(pod->ns, ns) == 0;
}

struct rejection rejections_of(
	const struct rejections *r, const char *ns, const struct uid *job, int64_t since_ms)
{
	struct rejection x = {0};
	for (size_t i = 0; i < r->n; i++) {
		const struct rejected_pod *pod = &r->entries[i].pod;
		if (!is_of(pod, ns, job) || pod->made_ms < since_ms)
			continue;
		x.pods++;
		if (!x.last || pod->made_ms > x.last->made_ms)
			x.last = pod;
	}
	return x;
}

const struct rejected_pod *rejections_find(
	const struct rejections *r, const char *ns, const char *job_name)
{
	const struct rejected_pod *found = NULL;
	for (size_t i = 0; i < r->n; i++) {
		const struct rejected_pod *pod = &r->entries[i].pod;
		if (strcmp(pod->job_name, job_name) == 0 && strcmp(pod->ns, ns) == 0 &&
			(!found || pod->made_ms > found->made_ms))
			found = pod;
	}
	return found;
}

void rejection_sentence(const struct rejection *x, struct buf *out)
{
	buf_printf(out, "the kubelet of node %s rejected ", x->last->node);
	if (x->pods == 1)
		buf_puts(out, "a pod of it");
	else
		buf_printf(out, "a pod of it, the last of %d that were rejected", (int)x->pods);
	buf_printf(out, ": %s", x->last->reason);
	if (x->last->message[0])
		buf_printf(out, ": %s", x->last->message);
}

const char *rejection_cure(void)
{
	return "it counts against backoffLimit though nothing of it ran, and no podFailurePolicy can name it: it has no exit code and no condition. "
	       "A Job outlasts it with a larger limit, such as backoffLimit: 20; and what else is no failure of its own is not counted with podFailurePolicy: "
	       "{rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}, {action: Ignore, onExitCodes: {operator: In, values: [143]}}]}";
}

/* ---- the gate -------------------------------------------------------------------------------- */

static int64_t since_of(const struct gate_job *j)
{
	return j->attempt.started_ms - SECOND_MS;
}

/* Counts the rejected pods of the run with the reason of this one. */
static size_t alike(const struct rejections *r, const struct rejected_pod *pod, int64_t since_ms)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct rejected_pod *other = &r->entries[i].pod;
		n += is_of(other, pod->ns, &pod->job) && other->made_ms >= since_ms &&
		     strcmp(other->reason, pod->reason) == 0;
	}
	return n;
}

void gate_see_rejected_pod(struct gate *g, const struct rejected_pod *pod)
{
	struct rejections *r = g->rejections;
	struct gate_job *j = gate_find_job(g, &pod->job);
	bool is_new = rejections_see(r, pod);
	bool of_this_run = j && is_of(pod, j->ns, &j->uid) && job_has_reservation(j) &&
			   pod->made_ms >= since_of(j);
	if (!is_new || !of_this_run)
		return;
	gate_mark_dirty(g, j);
	if (alike(r, pod, since_of(j)) > 1)
		return;
	struct rejection x = {.pods = 1, .last = pod};
	struct buf text;
	buf_init(&text, SENTENCE_MAX);
	rejection_sentence(&x, &text);
	gate_note(g, NOTE_REJECTED_POD, j, "%s; %s", buf_text(&text), rejection_cure());
	buf_done(&text);
}

void rejection_see_to(struct gate *g, struct gate_job *j)
{
	const struct facts *f = &j->seen;
	struct buf text;
	if (j->stop.wanted || !f->at_backoff_limit || f->lacks == 0 || f->ending ||
		f->ends_when_stopped)
		return;
	struct rejection x = rejections_of(g->rejections, j->ns, &j->uid, since_of(j));
	if (x.pods == 0)
		return;
	buf_init(&text, SENTENCE_MAX);
	rejection_sentence(&x, &text);
	stop_at_limit(g, j, buf_text(&text));
	buf_done(&text);
}

struct rejections *gate_rejections(struct gate *g)
{
	return g->rejections;
}

/* Makes "runs since TIME, but the kubelet of node n1 rejected ...; that counts ...". */
void explain_rejection(const struct gate *g, const struct gate_job *j, struct explanation *x)
{
	struct gate_trouble stuck;
	struct buf text;
	struct rejection rejected = rejections_of(g->rejections, j->ns, &j->uid, since_of(j));
	if (rejected.pods == 0)
		return;
	buf_init(&text, SENTENCE_MAX);
	if (stuck_trouble(j, &stuck))
		buf_printf(&text, "%s; before that ", x->sentence);
	else
		buf_printf(&text, "runs since %s, but ", instant_seconds(j->attempt.started_ms).s);
	rejection_sentence(&rejected, &text);
	buf_printf(&text, "; %s", rejection_cure());
	snprintf(x->sentence, sizeof(x->sentence), "%s", buf_text(&text));
	buf_done(&text);
}

/* Explains a Job that ended, for as long as its pods are there. */
bool explain_rejected(
	const struct gate *g, const char *ns, const char *name, struct explanation *ret)
{
	const struct rejected_pod *pod = rejections_find(g->rejections, ns, name);
	struct buf text;
	if (!pod)
		return false;
	struct rejection rejected = rejections_of(g->rejections, ns, &pod->job, 0);
	*ret = (struct explanation){
		.reason = WAIT_NOT, .localqueue = "", .clusterqueue = pod->clusterqueue};
	buf_init(&text, SENTENCE_MAX);
	buf_puts(&text, "has ended; ");
	rejection_sentence(&rejected, &text);
	snprintf(ret->sentence, sizeof(ret->sentence), "%s; %s", buf_text(&text), rejection_cure());
	buf_done(&text);
	return true;
}
