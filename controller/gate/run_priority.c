#include "controller/gate/run_priority.h"

#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/record.h"
#include "controller/gate/story.h"

void run_priority_tell(const struct gate *g, const struct gate_job *j, struct story *s)
{
	s->has_priority = queue_job_priority(g->queue, &j->uid, &s->priority) != PRIORITY_UNKNOWN;
}

void run_priority_recall(struct gate *g, const struct gate_job *j, int32_t attempt)
{
	struct story_run run;
	int32_t counts;
	if (queue_job_priority(g->queue, &j->uid, &counts) != PRIORITY_UNKNOWN ||
		!story_read_run(g->story_reader, j->story, &j->uid, &g->story_key, &run))
		return;
	if (run.attempt == attempt && run.state == STORY_STARTED && run.epoch <= g->epoch &&
		run.has_priority)
		queue_recall_priority(g->queue, &j->uid, run.priority);
}
