#include "controller/gate/start_time.h"

#include "base/backoff.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/note.h"
#include "controller/gate/record.h"

#define FAILURES_MAX 4 /* a start waits for so many */
#define RETRY_MS 50
#define PATIENT_MS 60000
#define PATIENT_MAX_MS 3600000

/* Pods that are uncounted may yet end the Job. */
bool start_time_is_left(const struct job *seen)
{
	const struct job_status *s = &seen->status;
	return seen->suspend && s->suspended && s->has_start_time && s->active == 0 &&
	       s->terminating == 0 && s->uncounted == 0 && s->uncounted_failed == 0 && !s->ending &&
	       !job_finished(seen) && !seen->deleting && !seen->uncontrolled;
}

void start_time_settled(struct gate_job *j)
{
	j->start_time = (struct start_time){0};
}

bool start_time_see_to(struct gate *g, struct gate_job *j)
{
	if (!j->seen.start_left || j->lost)
		return false;
	if (g->tick_ms < j->start_time.patient_ms) {
		gate_alarm(g, j, j->start_time.patient_ms);
		return false;
	}
	job_request(g, j, INTENT_CLEAR);
	return j->start_time.failures < FAILURES_MAX;
}

bool start_time_wanted(const struct gate *g, const struct gate_job *j)
{
	(void)g;
	return (j->phase == PHASE_WAITING || j->phase == PHASE_STARTING) && !j->lost &&
	       j->seen.start_left;
}

void start_time_tell(struct gate *g, struct gate_job *j, struct intent *i)
{
	(void)g;
	i->version = j->seen.version;
	i->by_status = true;
}

/* Asks ever more rarely for what the server will not do now. */
static void be_patient(struct gate *g, struct gate_job *j)
{
	int64_t pause_ms =
		backoff_ms(PATIENT_MS, j->start_time.failures - FAILURES_MAX, PATIENT_MAX_MS);
	j->start_time.patient_ms = g->tick_ms + gate_spread(g, pause_ms);
	gate_alarm(g, j, j->start_time.patient_ms);
}

static void failed(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	bool moved = a->outcome == JOB_REFUSED || a->outcome == JOB_IN_DOUBT;
	j->start_time.failures++;
	if (moved)
		j->need_read = true;
	else if (j->start_time.failures < FAILURES_MAX)
		j->start_time.failures =
			FAILURES_MAX; /* no start waits for a server that is busy */
	if (a->outcome == JOB_DENIED && j->start_time.failures == FAILURES_MAX)
		gate_note(g, NOTE_REFUSE, j,
			"the API server keeps the start time of its last run, so before Kubernetes 1.36 it can start in no other flavor: %s",
			a->sentence ? a->sentence : "no reason given");
	if (j->start_time.failures >= FAILURES_MAX)
		be_patient(g, j);
	else
		job_rest(g, j, RETRY_MS << j->start_time.failures);
}

bool start_time_answered(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	/* If it landed and the start time is still there, something else writes it. */
	bool fails = a->outcome != JOB_GONE && (a->outcome != JOB_DONE || j->seen.start_left);
	if (fails)
		failed(g, j, a);
	return fails;
}
