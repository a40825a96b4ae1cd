/* What the parts of the pipelines share: what really became of each Job. */
#ifndef SLUICE_TEST_SIM_PIPELINES_PRIV_H
#define SLUICE_TEST_SIM_PIPELINES_PRIV_H

#include <string.h>

#include "test/sim/sim.h"

struct job_past {
	int64_t created_ms, started_ms, ended_ms, gone_ms; /* 0: not so far */
	bool failed;
	int64_t told_ms;   /* something on it told that it was started, truly or not */
	int64_t edited_ms; /* what it waits for was written anew */
	int64_t recorded_ms, record_epoch; /* when its record landed last, and whose it is */
	bool told;	/* a controller has put it on hold because it can never start */
	bool left_late; /* a watch told that it lost its label when it was gone already */
};

const struct job_past *pipelines_past(const struct sim *s, const struct model_job *j);
struct job_past *pipelines_past_made(struct sim *s, const struct model_job *j);
/* Something on it tells that it was started: one that ran without being admitted may have nothing. */
bool pipelines_tell_of_start(const struct job *j);
/* From j on, the next of that name; NULL: there is none. */
const struct model_job *pipelines_next_named(
	const struct sim *s, const struct model_job *j, const char *ns, const char *name);

/* Those that are on their way, and what was not asked yet. */
void pipelines_forget_questions(struct sim *s);

static inline const char *family_of(const struct job *j)
{
	return j->family ? j->family : "";
}

static inline bool is_over(const struct job *j)
{
	return j->status.complete || j->status.failed;
}

static inline bool is_named(const struct model_job *j, const char *ns, const char *name)
{
	return !strcmp(j->now->job.name, name) && !strcmp(j->now->job.ns, ns);
}

#endif
