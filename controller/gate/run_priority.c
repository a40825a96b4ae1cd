#include "controller/gate/run_priority.h"

#include "controller/gate/gate.h"
#include "controller/gate/gate_priv.h"
#include "controller/gate/growth.h"
#include "controller/gate/observe.h"
#include "controller/gate/phase.h"
#include "controller/gate/record.h"
#include "controller/gate/story.h"

#define AGAIN_MS INT64_C(60000) /* another client may write what stood there before */

void run_priority_tell(const struct gate *g, const struct gate_job *j, struct story *s)
{
	s->has_priority = queue_job_priority(g->queue, &j->uid, &s->priority) != PRIORITY_UNKNOWN;
}

void run_priority_told(struct gate *g, struct gate_job *j)
{
	j->run_priority.pause_ms = g->tick_ms + gate_spread(g, AGAIN_MS);
}

/* Texts of *ret are the reader's. */
static bool told_run(
	struct gate *g, const struct gate_job *j, int32_t attempt, struct story_run *ret)
{
	return story_read_run(g->story_reader, j->story, &j->uid, &g->story_key, ret) &&
	       ret->attempt == attempt && ret->state == STORY_STARTED;
}

/* What changes its size tells the number, too. */
static bool may_be_retold(const struct gate *g, const struct gate_job *j)
{
	bool full = j->refusals.short_of_room > 0 && j->refusals.annotations_full;
	return j->phase == PHASE_RUNNING && !j->stop.wanted && !j->lost && !j->seen.suspend &&
	       !j->seen.reapplied && !growth_keeps(g, j) && !full;
}

bool run_priority_owes_story(struct gate *g, const struct gate_job *j)
{
	struct story_run run;
	int32_t counts;
	enum priority_source from = queue_job_priority(g->queue, &j->uid, &counts);
	if ((from != PRIORITY_KEPT && from != PRIORITY_RECALLED) || !may_be_retold(g, j))
		return false;
	return told_run(g, j, j->attempt.number, &run) &&
	       (!run.has_priority || run.priority != counts);
}

void run_priority_see_to(struct gate *g, struct gate_job *j)
{
	if (!run_priority_owes_story(g, j))
		return;
	if (g->tick_ms < j->run_priority.pause_ms)
		gate_alarm(g, j, j->run_priority.pause_ms);
	else
		job_request(g, j, INTENT_RETELL);
}

void run_priority_recall(struct gate *g, const struct gate_job *j, int32_t attempt)
{
	struct story_run run;
	int32_t counts;
	if (queue_job_priority(g->queue, &j->uid, &counts) == PRIORITY_UNKNOWN &&
		told_run(g, j, attempt, &run) && run.epoch <= g->epoch && run.has_priority)
		queue_recall_priority(g->queue, &j->uid, run.priority);
}

void gate_lose_priority_class(struct gate *g)
{
	for (struct gate_job *j = g->first; j; j = j->next)
		if (j->phase == PHASE_RUNNING)
			gate_mark_dirty(g, j);
}
