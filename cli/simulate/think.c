#include "cli/simulate/think.h"

#include <stdlib.h>

#include "base/mem.h"

void think_init(struct think *t, const struct world *w)
{
	size_t n = w->trace.njobs;
	*t = (struct think){.w = w};
	if (!w->trace.has_preceding)
		return;
	t->first = mem_array(n, sizeof(*t->first));
	t->next = mem_array(n, sizeof(*t->next));
	for (size_t i = 0; i < n; i++)
		t->first[i] = t->next[i] = SIZE_MAX;
}

void think_done(struct think *t)
{
	free(t->first);
	free(t->next);
}

static const struct trace_job *traced(const struct think *t, size_t sim_job)
{
	const struct sim_job *a = &t->w->sim_job[sim_job];
	return a->record ? NULL : &t->w->trace.job[a->origin];
}

static int64_t think_ms(const struct trace_job *j)
{
	return j->think_ms;
}

int64_t think_submit_ms(struct think *t, size_t sim_job, int64_t now_ms)
{
	const struct trace_job *j = t->first ? traced(t, sim_job) : NULL;
	if (!j || j->preceding == TRACE_NONE)
		return now_ms;
	size_t own = t->w->sim_job[sim_job].origin, before = (size_t)j->preceding;
	const struct sim_job *preceding = &t->w->sim_job[sim_job - (own - before)];
	if (preceding->state == SIM_JOB_GONE) {
		int64_t at_ms = preceding->ended_ms + think_ms(j);
		return at_ms > now_ms ? at_ms : now_ms;
	}
	t->next[own] = t->first[before];
	t->first[before] = own;
	return NEVER_MS;
}

size_t think_next(struct think *t, size_t sim_job, int64_t now_ms, int64_t *ret_ms)
{
	if (!t->first || !traced(t, sim_job))
		return SIZE_MAX;
	size_t ended = t->w->sim_job[sim_job].origin, waits = t->first[ended];
	if (waits == SIZE_MAX)
		return SIZE_MAX;
	t->first[ended] = t->next[waits];
	*ret_ms = now_ms + think_ms(&t->w->trace.job[waits]);
	return sim_job + (waits - ended);
}
