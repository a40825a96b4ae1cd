#include "queue/features/dependencies/known_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

/* ---- What has become of a Job ---- */

enum outcome outcome_of(const struct predecessor *p)
{
	switch (p->state) {
	case PREDECESSOR_WAITS:
		return OUTCOME_WAITS;
	case PREDECESSOR_STARTED:
		return p->deleted ? OUTCOME_DELETED : p->gone ? OUTCOME_VANISHED : OUTCOME_RUNS;
	case PREDECESSOR_SUCCEEDED:
		return OUTCOME_SUCCEEDED;
	case PREDECESSOR_FAILED:
		return OUTCOME_FAILED;
	}
	return OUTCOME_WAITS;
}

bool outcome_ended(enum outcome o)
{
	return o == OUTCOME_SUCCEEDED || o == OUTCOME_FAILED;
}

static enum dependency_verdict when(bool holds, bool never)
{
	return holds ? VERDICT_HOLDS : never ? VERDICT_NEVER : VERDICT_WAITS;
}

enum dependency_verdict outcome_verdict(enum outcome o, enum dependency_kind k)
{
	bool ended = o != OUTCOME_WAITS && o != OUTCOME_RUNS && o != OUTCOME_NONE;
	bool badly = o == OUTCOME_FAILED || o == OUTCOME_DELETED;
	switch (k) {
	case AFTER_OK:
		return when(o == OUTCOME_SUCCEEDED, badly);
	case AFTER_NOT_OK:
		return when(badly, o == OUTCOME_SUCCEEDED);
	case AFTER_ANY:
		return when(ended, false);
	case AFTER_START:
		return when(ended || o == OUTCOME_RUNS, false);
	case AFTER_SINGLETON:
		break;
	}
	return VERDICT_HOLDS; /* the rule of singletons judges it (dependency_wait.c) */
}

/* ---- The Jobs of a name ---- */

void known_jobs_done(struct known_jobs *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->job[i].failure);
	free(all->job);
}

struct known_job *known_jobs_find(const struct known_jobs *all, const struct uid *uid)
{
	for (size_t i = 0; i < all->n; i++)
		if (uid_cmp(&all->job[i].uid, uid) == 0)
			return &all->job[i];
	return NULL;
}

struct known_job *known_jobs_newest(const struct known_jobs *all)
{
	return all->n > 0 ? &all->job[all->n - 1] : NULL;
}

/* ---- Order ---- */

/* Of two of one second (a manifest that is replaced) the one that the watch follows is there, and what
 * is gone was before it. */
static int job_presence(const struct known_job *j)
{
	return j->gone ? 0 : j->followed ? 2 : 1;
}

static int64_t end_for_order(const struct known_job *j)
{
	return j->ended_ms > 0 ? j->ended_ms : INT64_MAX;
}

/* Jobs of which the creation is not known stand first, in the order of their ends; the last of them
 * is one of which the end is not known either, so that less holds. */
static int job_order(const struct known_job *a, const struct known_job *b)
{
	if (a->created_ms != b->created_ms)
		return a->created_ms < b->created_ms ? -1 : 1;
	if (job_presence(a) != job_presence(b))
		return job_presence(a) < job_presence(b) ? -1 : 1;
	if (a->created_ms == 0 && a->ended_ms != b->ended_ms)
		return end_for_order(a) < end_for_order(b) ? -1 : 1;
	return uid_cmp(&a->uid, &b->uid);
}

void known_jobs_remove(struct known_jobs *all, struct known_job *j)
{
	size_t at = (size_t)(j - all->job);
	free(j->failure);
	all->n--;
	memmove(j, j + 1, (all->n - at) * sizeof(*j));
}

void known_jobs_insert(struct known_jobs *all, const struct known_job *j)
{
	if (all->n == KNOWN_JOBS_MAX) {
		if (job_order(j, &all->job[0]) < 0) {
			free(j->failure);
			return;
		}
		known_jobs_remove(all, &all->job[0]);
	}
	all->job = mem_room(all->job, all->n, &all->room, 1, sizeof(*all->job));
	size_t at = all->n;
	while (at > 0 && job_order(j, &all->job[at - 1]) < 0)
		at--;
	memmove(&all->job[at + 1], &all->job[at], (all->n - at) * sizeof(*j));
	all->job[at] = *j;
	all->n++;
}

/* ---- Verdicts ---- */

static bool order_is_known(const struct known_job *j)
{
	return j->created_ms > 0 || j->ended_ms > 0;
}

/* Was it the newest of its name at some moment since the follower is there? It was until the next was
 * created, by when it was gone. That is in the API server's time; when it ended may be in that of a
 * leader who saw it late, and counts only where the creation is not known. */
static bool job_counts(
	const struct known_job *j, const struct known_job *next, int64_t follower_created_ms)
{
	int64_t until_ms = next->created_ms > 0 ? next->created_ms : j->ended_ms;
	return order_is_known(j) && until_ms > follower_created_ms;
}

/* Returns what became of a Job that is not the newest of its name, so that it is gone. */
static enum outcome outcome_when_gone(const struct known_job *j)
{
	if (j->outcome != OUTCOME_RUNS)
		return j->outcome;
	return j->told_end ? OUTCOME_DELETED : OUTCOME_VANISHED;
}

/* Which of the last Jobs is the newest may not be known: then all that it could be must agree. */
static enum dependency_verdict newest_verdict(const struct known_jobs *all, enum dependency_kind k)
{
	must(all->n > 0);
	const struct known_job *j = &all->job[all->n - 1];
	enum dependency_verdict v = outcome_verdict(j->outcome, k);
	for (; !order_is_known(j) && j > all->job; j--)
		if (outcome_verdict(j[-1].outcome, k) != v)
			return VERDICT_WAITS;
	return v;
}

enum dependency_verdict known_jobs_verdict(
	const struct known_jobs *all, enum dependency_kind k, int64_t follower_created_ms)
{
	for (size_t i = 0; i + 1 < all->n; i++) {
		const struct known_job *j = &all->job[i];
		if (job_counts(j, j + 1, follower_created_ms) &&
			outcome_verdict(outcome_when_gone(j), k) == VERDICT_HOLDS)
			return VERDICT_HOLDS;
	}
	return newest_verdict(all, k);
}
