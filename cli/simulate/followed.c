#include "cli/simulate/followed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *failure_of(const struct sim_job *a)
{
	if (!a->fails)
		return "";
	return a->record->status.failure ? a->record->status.failure
					 : "sluice.dev/simulate-outcome: Failed";
}

static enum predecessor_state state_of(const struct sim_job *a)
{
	if (a->state == SIM_JOB_GONE && !a->deleted)
		return a->fails ? PREDECESSOR_FAILED : PREDECESSOR_SUCCEEDED;
	return a->attempt > 0 ? PREDECESSOR_STARTED : PREDECESSOR_WAITS;
}

/* Says what the Job is to others. False: it is none that they can wait for, or has not come yet. */
static bool followed_is(const struct world *w, size_t sim_job, struct predecessor *ret)
{
	const struct sim_job *a = &w->sim_job[sim_job];
	if (!a->record || a->state == SIM_JOB_COMING || a->never_came)
		return false;
	*ret = (struct predecessor){
		.uid = world_uid(w, sim_job),
		.ns = a->record->ns,
		.name = a->name ? a->name : a->record->name,
		.labels = a->record->labels,
		.nlabels = a->record->nlabels,
		.created_ms = a->arrival_ms,
		.state = state_of(a),
		.ended_ms = a->state == SIM_JOB_GONE && !a->deleted ? a->ended_ms : 0,
		.failure = failure_of(a),
		.gone = a->deleted,
		.deleted = a->deleted,
		.followed = true,
	};
	return true;
}

void followed_tell(struct world *w, size_t sim_job)
{
	struct predecessor p;
	if (!followed_is(w, sim_job, &p))
		return;
	if (p.gone)
		queue_lose_predecessor(w->queue, &p.uid, p.ns, p.name);
	else
		queue_see_predecessor(w->queue, &p);
}

static bool is_wanted(const struct wanted_predecessors *asked, const struct predecessor *p)
{
	if (strcmp(asked->ns, p->ns) != 0)
		return false;
	return asked->name ? strcmp(asked->name, p->name) == 0
			   : labels_match(p->labels, p->nlabels, asked->selector);
}

static void answer(struct world *w, const struct wanted_predecessors *asked)
{
	struct predecessor *found = NULL, p;
	size_t n = 0;
	for (size_t i = 0; i < w->nsim_jobs; i++) {
		if (!followed_is(w, i, &p) || !is_wanted(asked, &p))
			continue;
		found = mem_one_more(found, n, sizeof(*found));
		found[n++] = p;
	}
	queue_answer_wanted(w->queue, asked->id, found, n);
	free(found);
}

void followed_answer(struct world *w)
{
	struct wanted_predecessors asked;
	while (queue_take_wanted(w->queue, &asked))
		answer(w, &asked);
}
