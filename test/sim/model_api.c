#include "test/sim/model_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"

void model_api_init(struct model_api *api, struct pool *pool)
{
	*api = (struct model_api){.pool = pool, .version = 1000};
	api->tail = &api->first;
}

void model_api_done(struct model_api *api)
{
	free(api->history);
}

/* The inner pointers of a snapshot point into itself. */
static void snap_fix(struct snap *s)
{
	size_t n = s->container.requests.count;
	s->container.requests = (struct resource_list){s->request, n};
	s->job.pod.containers = &s->container;
	s->job.pod.ncontainers = 1;
	if (!s->templated)
		return;
	s->pod = (struct pod){.ns = s->job.ns,
		.priority_class = "",
		.node_name = "",
		.scheduler = "default-scheduler",
		.resources = {.containers = &s->container, .ncontainers = 1, .runtime_class = ""}};
	s->job.template = &s->pod;
}

struct snap *model_api_edit(struct model_api *api, const struct model_job *j)
{
	struct snap *s = pool_alloc(api->pool, sizeof(*s));
	*s = *j->now;
	snap_fix(s);
	return s;
}

static bool queued(const struct snap *s)
{
	return s && !s->gone && s->job.queue[0];
}

const struct snap *model_api_write(struct model_api *api, struct snap *next, bool respec)
{
	struct model_job *j = next->of;
	const struct snap *before = j->now;
	next->job.version = ++api->version;
	if (respec)
		next->job.generation++;
	/* An empty map of annotations is not kept. Ours and the hold are all there are. */
	next->job.annotations.present = next->job.admission.story || next->job.hold ||
					next->job.annotations.waiting ||
					next->job.annotations.stopping_at_ms > 0;
	j->now = next;
	api->history =
		mem_room(api->history, api->nhistory, &api->room, 256, sizeof(*api->history));
	api->history[api->nhistory++] = (struct history){next, queued(before), queued(next)};
	if (api->written)
		api->written(api, next, api->ctx);
	return next;
}

struct model_job *model_api_create(struct model_api *api, const struct snap *spec)
{
	struct model_job *j = pool_alloc(api->pool, sizeof(*j));
	struct snap *s = pool_alloc(api->pool, sizeof(*s));
	*s = *spec;
	snap_fix(s);
	s->of = j;
	j->index = api->njobs++;
	/* Uids in no order, as real ones, but the same in each run of a seed. */
	uint64_t mix = map_hash_bytes(&j->index, sizeof(j->index));
	memcpy(s->job.uid.byte, &mix, sizeof(mix));
	s->job.uid.byte[15] = (uint8_t)j->index;
	s->job.generation = 0;
	*api->tail = j;
	api->tail = &j->next;
	model_api_write(api, s, true);
	return j;
}

void model_api_remove(struct model_api *api, struct model_job *j)
{
	struct snap *s = model_api_edit(api, j);
	s->gone = true;
	model_api_write(api, s, false);
}

struct model_job *model_api_find(const struct model_api *api, const char *ns, const char *name)
{
	for (struct model_job *j = api->first; j; j = j->next)
		if (!j->now->gone && !strcmp(j->now->job.name, name) && !strcmp(j->now->job.ns, ns))
			return j;
	return NULL;
}

struct model_job *model_api_by_uid(const struct model_api *api, const struct uid *uid)
{
	for (struct model_job *j = api->first; j; j = j->next)
		if (!uid_cmp(&j->now->job.uid, uid))
			return j;
	return NULL;
}

/* ---- Requests of a gate ------------------------------------------------------------------------
 */

static bool of_a_run(enum intent_kind k)
{
	return k == INTENT_STOP || k == INTENT_SHRINK || k == INTENT_GROW || k == INTENT_RETELL ||
	       k == INTENT_WARN;
}

/* The `test` operations of the PATCH (controller/wire/patch.h). NULL when all hold. */
static const char *tests_fail(const struct snap *s, const struct intent *i, bool unguarded)
{
	if (uid_cmp(&s->job.uid, &i->uid))
		return "another uid";
	if (i->kind == INTENT_CLEAR)
		return s->job.version == i->version ? NULL : "another version";
	bool starts = i->kind == INTENT_START || i->kind == INTENT_PROVISION;
	if ((starts || i->kind == INTENT_NOTICE || i->kind == INTENT_OUTCOMES) && !s->job.suspend)
		return "not suspended";
	if (of_a_run(i->kind) && s->job.suspend)
		return "suspended";
	if (unguarded)
		return NULL;
	bool tests_generation = starts || i->parallelism > 0;
	if (tests_generation && s->job.generation != i->generation)
		return "another generation";
	if (s->job.annotations.present != i->has_annotations)
		return i->has_annotations ? "no annotations" : "annotations";
	if (!s->job.admission.story != !i->story_before)
		return i->story_before ? "no story" : "a story";
	if (s->job.admission.story && strcmp(s->job.admission.story, i->story_before))
		return "another story";
	if (starts && !s->job.annotations.waiting == i->has_notice)
		return i->has_notice ? "no notice" : "a notice";
	return NULL;
}

static const struct model_run *run_of_start(
	struct model_api *api, const struct story *st, int64_t now_ms)
{
	struct model_run *run = pool_alloc(api->pool, sizeof(*run));
	run->attempt = st->attempt;
	run->landed_ms = now_ms;
	must(st->nlines <= START_LINES);
	for (size_t k = 0; k < st->nlines; k++)
		run->line[run->nlines++] =
			(struct quota_line){pool_strdup(api->pool, st->lines[k].node),
				pool_strdup(api->pool, st->lines[k].flavor),
				pool_strdup(api->pool, st->lines[k].resource), st->lines[k].amount};
	return run;
}

static const char *story_text(struct model_api *api, const struct story *st, size_t max)
{
	struct buf b;
	buf_init(&b, STORY_TEXT_MAX);
	story_fit(st, max, &b);
	must(!b.failed);
	const char *text = pool_strdup(api->pool, buf_text(&b));
	buf_done(&b);
	return text;
}

static void apply_counts(struct snap *s, const struct intent *i)
{
	struct job *j = &s->job;
	if (i->parallelism > 0)
		j->parallelism = i->parallelism;
	if (i->completions > 0)
		j->completions = i->completions;
	s->applied = j->admission.run_pods = i->story.pods;
	j->admission.owner_parallelism = i->story.owner_parallelism;
	j->admission.owner_completions = i->story.owner_completions;
	j->admission.history = i->story.history;
	j->admission.reapplied = false;
}

int64_t snap_asks(const struct snap *s, const char *resource)
{
	for (size_t i = 0; i < s->container.requests.count; i++)
		if (!strcmp(s->container.requests.item[i].name, resource))
			return s->container.requests.item[i].amount;
	return strcmp(resource, "pods") ? 0 : 1;
}

void snap_suspend(struct snap *s, bool suspend)
{
	struct job *j = &s->job;
	j->suspend = suspend;
	j->resumed_by_other = !suspend;
	j->admission.reapplied = false;
	if (j->admission.owner_parallelism > 0)
		j->parallelism = suspend ? j->admission.owner_parallelism : s->applied;
	if (j->admission.owner_completions > 0)
		j->completions = suspend ? j->admission.owner_completions : s->applied;
}

bool snap_reapply(struct snap *s)
{
	struct job *j = &s->job;
	if (j->suspend || j->admission.state != STORY_STARTED ||
		j->admission.owner_parallelism == 0)
		return false;
	j->parallelism = j->admission.owner_parallelism;
	if (j->admission.owner_completions > 0)
		j->completions = j->admission.owner_completions;
	j->admission.owner_parallelism = j->admission.owner_completions = 0;
	j->admission.reapplied = true;
	return true;
}

void snap_disown(struct snap *s)
{
	struct job *j = &s->job;
	if (j->admission.owner_parallelism > 0)
		j->parallelism = s->applied;
	if (j->admission.owner_completions > 0)
		j->completions = s->applied;
	j->admission.owner_parallelism = j->admission.owner_completions = 0;
	j->admission.reapplied = false;
}

static const struct snap *patch_apply(
	struct model_api *api, struct model_job *j, const struct intent *i, int64_t now_ms)
{
	struct snap *s = model_api_edit(api, j);
	bool was = s->job.suspend;
	if (i->kind == INTENT_NOTICE) {
		s->job.annotations.waiting = pool_strdup(api->pool, i->notice);
		s->job.annotations.booked_start_ms = i->booked_start_ms;
		return model_api_write(api, s, false);
	}
	if (i->kind == INTENT_OUTCOMES) {
		s->job.after.record = pool_strdup(api->pool, i->outcomes);
		return model_api_write(api, s, false);
	}
	if (i->kind == INTENT_WARN) {
		s->job.annotations.stopping_at_ms = i->stopping_at_ms / 1000 * 1000;
		return model_api_write(api, s, false);
	}
	if (i->kind == INTENT_CLEAR) {
		s->job.status.has_start_time = false;
		s->job.status.start_ms = 0;
		return model_api_write(api, s, false);
	}
	if (i->drop_warning)
		s->job.annotations.stopping_at_ms = 0;
	if (i->kind == INTENT_START) {
		s->job.suspend = s->job.resumed_by_other = false;
		s->job.annotations.waiting = NULL;
		if (i->has_booked_start)
			s->job.annotations.booked_start_ms = 0;
		s->run = run_of_start(api, &i->story, now_ms);
	} else if (i->kind == INTENT_STOP) {
		s->job.suspend = true;
		s->job.resumed_by_other = false;
	}
	if (i->resume) { /* it may end; it is no run any more */
		s->job.suspend = s->job.resumed_by_other = false;
		s->run = NULL;
		if (i->drop_notice)
			s->job.annotations.waiting = NULL;
	}
	if (i->kind == INTENT_RETELL && i->drop_notice)
		s->job.annotations.waiting = NULL;
	apply_counts(s, i);
	s->job.admission.story = story_text(api, &i->story, i->story_max);
	s->job.admission.state = i->story.state;
	s->job.admission.attempt = i->story.attempt;
	s->job.admission.told_ms = i->story.at_ms;
	s->job.admission.sizes = i->story.sizes;
	s->job.admission.epoch = i->story.epoch;
	s->job.admission.trouble = pool_strdup(api->pool, i->story.trouble);
	if (i->hold)
		s->job.hold = pool_strdup(api->pool, i->hold);
	if (i->kind == INTENT_START && api->started)
		api->started(api, s, api->ctx);
	bool resized = i->kind == INTENT_SHRINK || i->kind == INTENT_GROW;
	return model_api_write(api, s, s->job.suspend != was || resized);
}

/* The directives of a Job may change only while nothing of a run is left (pkg/registry/batch/job of
 * Kubernetes 1.36, or of 1.34: a start of ours always changes them). */
static bool may_change_directives(const struct model_api *api, const struct job *j)
{
	const struct job_status *s = &j->status;
	if (api->old_server)
		return j->suspend && !s->has_start_time;
	return j->suspend && (!s->has_start_time || s->suspended) && s->active == 0;
}

/* Its preconditions fail with a conflict. */
static enum job_outcome delete_job(
	struct model_api *api, struct model_job *j, const struct intent *i, bool unguarded)
{
	if (uid_cmp(&j->now->job.uid, &i->uid) || (!unguarded && j->now->job.version != i->version))
		return JOB_REFUSED;
	model_api_remove(api, j);
	return JOB_DONE;
}

enum job_outcome model_api_request(struct model_api *api, const struct intent *i, int64_t now_ms,
	bool unguarded, const struct snap **ret_snap, const char **ret_why)
{
	struct model_job *j = model_api_find(api, i->ns, i->name);
	if (!j)
		return JOB_GONE;
	if (i->kind == INTENT_READ) {
		*ret_snap = j->now;
		return JOB_DONE;
	}
	if (i->kind == INTENT_UNPROVISION) /* what an autoscaler was asked is not modelled */
		return JOB_DONE;
	if (i->kind == INTENT_DELETE)
		return delete_job(api, j, i, unguarded);
	const char *why = tests_fail(j->now, i, unguarded);
	if (why) {
		*ret_why = why;
		return JOB_REFUSED;
	}
	if (i->kind == INTENT_START && !may_change_directives(api, &j->now->job)) {
		*ret_why = "spec.template: field is immutable";
		return JOB_DENIED;
	}
	if (i->kind == INTENT_PROVISION) /* a dry run */
		return JOB_DONE;
	*ret_snap = patch_apply(api, j, i, now_ms);
	return JOB_DONE;
}
