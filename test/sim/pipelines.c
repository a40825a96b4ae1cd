#include "test/sim/pipelines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "test/sim/pipelines_priv.h"
#include "test/sim/sim.h"

#define SALT 0x706970656c696e65 /* "pipeline" */
#define FAMILIES 2
#define BATCHES 3
#define ITEMS_MAX 3

typedef long long ll;

/* ---- What really became of each Job ----------------------------------------------------------
 */

const struct job_past *pipelines_past(const struct sim *s, const struct model_job *j)
{
	return &s->pipelines.past[j->index];
}

struct job_past *pipelines_past_made(struct sim *s, const struct model_job *j)
{
	struct pipelines *p = &s->pipelines;
	if (j->index >= p->npast) {
		size_t n = j->index + 64;
		p->past = mem_grow(p->past, n, sizeof(*p->past));
		memset(&p->past[p->npast], 0, (n - p->npast) * sizeof(*p->past));
		p->npast = n;
	}
	return &p->past[j->index];
}

bool pipelines_tell_of_start(const struct job *j)
{
	const struct job_status *s = &j->status;
	return is_over(j) || s->has_start_time || s->active + s->terminating > 0 ||
	       s->succeeded + s->failed_pods > 0 ||
	       (j->admission.attempt > 0 && j->admission.state != STORY_FENCED);
}

static void note_time(int64_t *at_ms, bool so, int64_t now_ms)
{
	if (so && *at_ms == 0)
		*at_ms = now_ms;
}

void pipelines_see(struct sim *s, const struct snap *now)
{
	if (!s->pipelines.on)
		return;
	struct job_past *p = pipelines_past_made(s, now->of);
	note_time(&p->created_ms, true, s->now_ms);
	note_time(&p->started_ms, !now->job.suspend && !now->gone, s->now_ms);
	note_time(&p->ended_ms, is_over(&now->job), s->now_ms);
	note_time(&p->gone_ms, now->gone, s->now_ms);
	note_time(
		&p->told_ms, pipelines_tell_of_start(&now->job) || now->of->vandalized, s->now_ms);
	p->failed |= now->job.status.failed || job_was_cut_short(&now->job);
}

void pipelines_left(struct sim *s, const struct snap *left)
{
	if (s->pipelines.on && !left->gone && left->of->now->gone)
		pipelines_past_made(s, left->of)->left_late = true;
}

/* One that was deleted before it was ever started, or before anything on it told so, is as if it had
 * never been: a controller that was started a moment ago could not tell. */
static bool never_was(const struct job_past *p)
{
	return p->gone_ms > 0 && p->told_ms == 0;
}

const struct model_job *pipelines_next_named(
	const struct sim *s, const struct model_job *j, const char *ns, const char *name)
{
	while (j && (!is_named(j, ns, name) || never_was(pipelines_past(s, j))))
		j = j->next;
	return j;
}

/* ---- What is drawn ---------------------------------------------------------------------------
 */

static const char *print_name(struct sim *s, const char *before, int64_t number, const char *after)
{
	char *text = sim_alloc(s, 32);
	snprintf(text, 32, "%s%lld%s", before, (ll)number, after);
	return text;
}

static const char *draw_target(struct sim *s, const struct snap *n)
{
	struct rng *r = &s->pipelines.rng;
	int64_t seen = 0, what = rng_between(r, 0, 99);
	const char *pick = NULL;
	if (what < 5)
		return "nobody";
	if (what < 20)
		return print_name(
			s, "job-", (int64_t)s->people.submitted + rng_between(r, 1, 4), "");
	for (const struct model_job *j = s->api.first; j; j = j->next)
		if (!strcmp(j->now->job.ns, n->job.ns) && j->now->gone == (what < 35) &&
			rng_between(r, 0, seen++) == 0)
			pick = j->now->job.name;
	return pick && strcmp(pick, n->job.name) ? pick : "nobody";
}

static const struct requirement *draw_requirement(struct sim *s)
{
	struct requirement *q = sim_alloc(s, sizeof(*q));
	const char **value = sim_alloc(s, sizeof(*value));
	*value = print_name(s, "", rng_between(&s->pipelines.rng, 0, BATCHES - 1), "");
	*q = (struct requirement){"batch", SELECTOR_IN, value, 1};
	return q;
}

static struct dependency draw_item(struct sim *s, const struct snap *n)
{
	static const enum dependency_kind kinds[] = {
		AFTER_OK, AFTER_OK, AFTER_OK, AFTER_ANY, AFTER_ANY, AFTER_NOT_OK, AFTER_START};
	struct rng *r = &s->pipelines.rng;
	struct dependency d = {.kind = kinds[rng_between(r, 0, 6)]};
	char text[100];
	if (family_of(&n->job)[0] && rng_odds(r, 4000)) {
		d.kind = AFTER_SINGLETON;
		d.text = "singleton";
		return d;
	}
	if (rng_odds(r, 2000))
		d.selector = (struct selector_term){draw_requirement(s), 1};
	else
		d.name = draw_target(s, n);
	must(d.name || d.selector.requirements);
	snprintf(text, sizeof(text), "%s:%s%s%s", dependency_kind_name(d.kind),
		d.name ? "" : "{batch=", d.name ? d.name : d.selector.requirements->values[0],
		d.name ? "" : "}");
	d.text = pool_strdup(&s->pool, text);
	return d;
}

static enum dependency_failure draw_failure(struct sim *s)
{
	int64_t what = rng_between(&s->pipelines.rng, 0, 9);
	return what < 5	  ? DEPENDENCY_FAILURE_WAIT
	       : what < 7 ? DEPENDENCY_FAILURE_HOLD
			  : DEPENDENCY_FAILURE_DELETE;
}

static void draw_after(struct sim *s, struct snap *n)
{
	struct dependency *all = sim_alloc(s, ITEMS_MAX * sizeof(*all));
	size_t count = (size_t)rng_between(&s->pipelines.rng, 1, ITEMS_MAX);
	for (size_t i = 0; i < count; i++)
		all[i] = draw_item(s, n);
	n->job.after = (struct dependencies){all, count, draw_failure(s), n->job.after.record};
	for (size_t i = 0; i < count; i++)
		sim_log(s, "user   %s is to wait for %s (%d)", n->job.name, all[i].text,
			(int)n->job.after.on_failure);
}

static void draw_labels(struct sim *s, struct snap *n)
{
	struct label *l = sim_alloc(s, sizeof(*l));
	*l = (struct label){
		"batch", print_name(s, "", rng_between(&s->pipelines.rng, 0, BATCHES - 1), "")};
	n->job.labels = l;
	n->job.nlabels = 1;
}

/* Not queued: no watch follows it, and nothing stops it. */
static void draw_unqueued(struct sim *s, struct snap *n)
{
	struct model_run *run = sim_alloc(s, sizeof(*run));
	*run = (struct model_run){.outside = true, .landed_ms = s->now_ms};
	n->job.queue = "";
	n->job.suspend = false;
	n->run = run;
	sim_reach(s, PATH_UNQUEUED);
}

void pipelines_draw(struct sim *s, struct snap *n)
{
	struct rng *r = &s->pipelines.rng;
	if (!s->pipelines.on)
		return;
	if (rng_odds(r, 5000))
		draw_labels(s, n);
	if (rng_odds(r, 2500))
		n->job.family = print_name(s, "sweep-", rng_between(r, 0, FAMILIES - 1), "-");
	if (!s->cluster.on && n->job.suspend && rng_odds(r, 800))
		draw_unqueued(s, n);
	else if (rng_odds(r, 4500))
		draw_after(s, n);
}

static struct model_job *draw_live(struct sim *s, bool over)
{
	struct model_job *pick = NULL;
	int64_t seen = 0;
	for (struct model_job *j = s->api.first; j; j = j->next)
		if (!j->now->gone && !j->now->job.deleting && is_over(&j->now->job) == over &&
			rng_between(&s->pipelines.rng, 0, seen++) == 0)
			pick = j;
	return pick;
}

static void ttl(struct sim *s, void *arg)
{
	(void)arg;
	if (s->calm)
		return;
	struct model_job *j = draw_live(s, true);
	if (j) {
		sim_log(s, "ttl    takes %s/%s", j->now->job.ns, j->now->job.name);
		model_api_remove(&s->api, j);
	}
	sim_after(s, rng_between(&s->pipelines.rng, 1, 8000), ttl, NULL);
}

/* Its owner thinks better of it. */
static void edits(struct sim *s, void *arg)
{
	(void)arg;
	if (s->calm)
		return;
	struct model_job *j = draw_live(s, false);
	if (j && j->now->job.after.count > 0) {
		struct snap *n = model_api_edit(&s->api, j);
		if (rng_odds(&s->pipelines.rng, 5000))
			n->job.after.on_failure = draw_failure(s);
		else
			draw_after(s, n);
		pipelines_past_made(s, j)->edited_ms = s->now_ms;
		sim_log(s, "user   edits what %s waits for", n->job.name);
		model_api_write(&s->api, n, false);
	}
	sim_after(s, rng_between(&s->pipelines.rng, 1, 30000), edits, NULL);
}

static void is_kept(struct sim *s, void *arg)
{
	struct model_job *j = arg;
	if (j->now->gone || j->now->job.deleting)
		return;
	struct snap *n = model_api_edit(&s->api, j);
	n->job.after.on_failure = DEPENDENCY_FAILURE_WAIT;
	sim_log(s, "user   wants %s to be kept", n->job.name);
	model_api_write(&s->api, n, false);
}

int64_t pipelines_late_ms(struct sim *s, const struct intent *i)
{
	struct rng *r = &s->pipelines.rng;
	if (!rng_odds(r, 3000))
		return 0;
	int64_t late_ms = rng_between(r, 2, 5000);
	sim_after(s, rng_between(r, 1, late_ms), is_kept, model_api_by_uid(&s->api, &i->uid));
	return late_ms;
}

void pipelines_begin(struct sim *s)
{
	struct pipelines *p = &s->pipelines;
	rng_seed(&p->rng, s->o.seed ^ SALT);
	p->on = (rng_odds(&p->rng, 2500) || s->o.pipelines) && !s->o.lending &&
		s->restore.every_ms == 0; /* what became of a Job would be undone */
	if (!p->on)
		return;
	for (const struct model_job *j = s->api.first; j; j = j->next)
		pipelines_see(s, j->now);
	sim_after(s, rng_between(&p->rng, 1, 8000), ttl, NULL);
	sim_after(s, rng_between(&p->rng, 1, 30000), edits, NULL);
}

void pipelines_done(struct sim *s)
{
	pipelines_forget_questions(s);
	free(s->pipelines.past);
}
