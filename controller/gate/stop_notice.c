/*
 * Stop notices: a running Job is told when it will be stopped (annotation sluice.dev/stopping-at),
 * so that it can save its work. People are told what would be lost.
 *
 * Level, not edge: what is wanted (stop_notice.at_ms) is compared with what the Job says
 * (stopping_at_ms). So a PATCH that was refused or not answered is made again as long as the Job
 * runs, and a leader that finds the Job told does not tell it twice. A stop that is due goes first:
 * it takes the annotation off. So does the next start, and so do we when the time has passed and
 * the Job was not stopped after all (its window was prolonged): an annotation must not lie.
 *
 * This PATCH does not change the story, so its test of the story does not stop a replaced leader:
 * the two would overwrite each other's notice. So once our lease has run out, when there can be a
 * successor, nothing is sent before it is confirmed.
 */
#include <stdlib.h>

#include "base/instant.h"
#include "base/mem.h"
#include "controller/gate/core.h"
#include "base/span.h"
#include "controller/gate/gate.h"
#include "controller/gate/note.h"
#include "controller/gate/record.h"
#include "controller/gate/stop.h"
#include "controller/gate/stop_notice.h"
#include "controller/gate/stop_words.h"
#include "queue/job/text.h"

/* How long a notice stands after a stop that did not come: longer than any decision takes. */
#define STALE_MS 60000

/* The annotation has whole seconds. */
static int64_t told_as(int64_t ms)
{
	return ms / 1000 * 1000;
}

void stop_notice_decided(struct gate *g, struct gate_job *j, const struct decision *d)
{
	if (j->phase != PHASE_RUNNING || j->stop.wanted)
		return; /* the run ends anyway */
	j->stop_notice.at_ms = d->stop_ms > 1000 ? d->stop_ms : 1000;
	gate_mark_dirty(g, j);
	if (j->seen.stopping_at_ms == told_as(j->stop_notice.at_ms))
		return; /* an earlier leader noted it */
	char *why = stop_policy_sentence(d->reason, d->policy);
	int64_t then_ms = stop_loses_ms(j, j->stop_notice.at_ms);
	bool ends = j->seen.ends_when_stopped;
	struct note *n = gate_note(g, NOTE_WARN, j,
		"will be stopped at %s (%s%s%s): %s of pod time would be lost now, %s then%s%s",
		instant_seconds(j->stop_notice.at_ms).s, stop_reason_name(d->reason),
		why ? "; " : "", why ? why : "", span_short(stop_loses_ms(j, g->now_ms)).s,
		span_short(then_ms).s, ends ? "; " : "", ends ? JOB_ENDS_WHEN_STOPPED : "");
	n->reason = stop_reason_name(d->reason);
	n->lost_ms = then_ms;
	free(why);
}

void stop_notice_see_to(struct gate *g, struct gate_job *j)
{
	int64_t told_ms = j->seen.stopping_at_ms,
		last_ms = told_ms > j->stop_notice.at_ms ? told_ms : j->stop_notice.at_ms;
	if (last_ms == 0)
		return;
	bool passed = g->now_ms >= last_ms + STALE_MS;
	if (passed)
		j->stop_notice.at_ms = 0;
	else
		gate_alarm(g, j, g->tick_ms + last_ms + STALE_MS - g->now_ms);
	if (passed ? told_ms == 0
		   : j->stop_notice.at_ms == 0 || told_ms == told_as(j->stop_notice.at_ms))
		return;
	if (gate_lease_ran_out(g))
		gate_confirm_before(g, j);
	job_request(g, j, INTENT_WARN);
}

void stop_notice_tell(struct gate *g, struct gate_job *j, struct intent *i)
{
	(void)g;
	i->stopping_at_ms = j->stop_notice.at_ms;
	j->stop_notice.sent = true;
}

bool stop_notice_stands(const struct gate_job *j)
{
	return j->seen.stopping_at_ms > 0 || j->stop_notice.sent;
}

void stop_notice_end(struct gate_job *j)
{
	j->stop_notice = (struct stop_notice){0};
}
