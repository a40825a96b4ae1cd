#include "controller/gate/never_starts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/note.h"
#include "controller/gate/record.h"
#include "controller/gate/stop.h"

#define LOOK_MS 60000 /* nothing is done at the moment: look again */

void never_starts_end(struct gate_job *j)
{
	free(j->never.why);
	j->never = (struct never_starts){0};
}

void never_starts_decided(struct gate *g, struct gate_job *j, const struct decision *d)
{
	never_starts_end(j);
	j->never.action = d->kind == DECISION_DELETE ? NEVER_DELETE : NEVER_HOLD;
	j->never.why = mem_strdup(d->why);
	gate_mark_dirty(g, j);
}

static bool owner_wants(const struct gate_job *j)
{
	enum dependency_failure wants = j->never.action == NEVER_DELETE ? DEPENDENCY_FAILURE_DELETE
									: DEPENDENCY_FAILURE_HOLD;
	return j->seen.on_failure == wants;
}

/* Tells whether the decision still holds, by what is known now. */
static bool is_so(const struct gate *g, const struct gate_job *j)
{
	return owner_wants(j) && queue_job_waits_in_vain(g->queue, &j->uid);
}

/* Waits while starts pause. The lease, which may be another's by then, is confirmed anew. */
static void wait_for_pause(struct gate *g, struct gate_job *j)
{
	j->never.confirming = false;
	gate_alarm(g, j, g->tick_ms + LOOK_MS);
}

static void put_on_hold(struct gate *g, struct gate_job *j)
{
	j->never.asked = true;
	stop_never_starts(j, j->never.why, g->identity);
	job_request(g, j, INTENT_TELL);
}

static void delete_it(struct gate *g, struct gate_job *j)
{
	if (!j->never.confirming) {
		j->never.confirming = true;
		gate_confirm_before(g, j);
	}
	job_request(g, j, INTENT_DELETE);
}

static void is_held(struct gate *g, struct gate_job *j)
{
	if (j->never.action == NEVER_HOLD && j->never.asked) {
		g->counts.never_held++;
		gate_note(g, NOTE_HOLD, j, "%s", j->stop.hold ? j->stop.hold : j->never.why);
	}
	never_starts_end(j);
}

void never_starts_see_to(struct gate *g, struct gate_job *j)
{
	if (j->never.action == NEVER_NOTHING)
		return;
	if (j->seen.held)
		is_held(g, j);
	else if (!is_so(g, j))
		never_starts_end(j); /* if it is so again, the queue decides anew */
	else if (gate_starts_pause(g))
		wait_for_pause(g, j);
	else if (j->never.action == NEVER_HOLD)
		put_on_hold(g, j);
	else
		delete_it(g, j);
}

bool never_starts_wanted(const struct gate *g, const struct gate_job *j)
{
	return job_waits(g, j) && !j->seen.deleting && j->never.action == NEVER_DELETE;
}

/* The note is made before the DELETE goes out, and once: whether it landed may never be known. */
void never_starts_tell(struct gate *g, struct gate_job *j, struct intent *i)
{
	if (!j->never.asked)
		gate_note(g, NOTE_DELETE, j,
			"to be deleted (sluice.dev/on-dependency-failure: Delete): %s",
			j->never.why ? j->never.why : "");
	j->never.asked = true;
	i->version = j->seen.version;
	j->never.confirming = false;
}

enum phase never_starts_deleted(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	(void)a;
	g->counts.never_deleted++;
	never_starts_end(j);
	return j->phase;
}
