/*
 * Mass stop: a new leader finds that much of what runs was not admitted, as far as the ledger goes.
 *
 * A Job that runs without a reservation is stopped (NotAdmitted). But when a leader begins and more
 * than one in ten of the Jobs that run have none, and at least five, then it is hardly these Jobs
 * that are wrong: the ledger was dropped, or an old one was restored. So they run on for
 * mass_stop_after_ms while that is said loudly, and meanwhile nothing new starts: what they use is
 * in no ledger. Windows, stops and ends go on.
 *
 * The wait is over early when these Jobs are few enough, because they ended or were suspended by
 * hand. Then the rest is stopped, and starts wait until their pods are gone, or for SETTLE_MS at
 * most.
 *
 * A Job whose story is signed was adopted before this (adoption.c). Left are Jobs without a
 * signature that counts: its key was lost with the ledger, or an older program started them.
 *
 * Only Jobs that Sluice let run are spared, as their stories tell, which no tenant can write where
 * the policies are installed; and only those found as the lead begins. All other Jobs that run
 * unadmitted are stopped at once: they keep no other Job from starting.
 */
#include <inttypes.h>
#include <stdio.h>

#include "controller/gate/core.h"
#include "base/span.h"
#include "controller/gate/gate.h"
#include "controller/gate/mass_stop.h"
#include "controller/gate/note.h"
#include "controller/gate/record.h"

#define LEAST 5	     /* fewer are no mass */
#define ONE_IN 10    /* nor are they if no more than one in so many that run */
#define LOOK_MS 1000 /* between counts */
#define SAY_MS 60000 /* between notes */
#define SETTLE_MS 60000

static bool runs(const struct gate_job *j)
{
	return !j->lost && !j->gone && !j->seen.suspend && !j->seen.finished && !j->seen.deleting;
}

/* Tells whether the Job runs by its story, and the ledger has nothing of it. */
static bool is_unaccounted(const struct gate_job *j)
{
	return runs(j) && !job_has_reservation(j) && j->seen.story_state == STORY_STARTED;
}

static bool is_mass(size_t spared, size_t running)
{
	return spared >= LEAST && spared * ONE_IN > running;
}

static void say(struct gate *g)
{
	const struct mass_stop *m = &g->mass_stop;
	int64_t left_ms = m->until_ms > g->tick_ms ? m->until_ms - g->tick_ms : 0;
	g->mass_stop.said_ms = g->tick_ms;
	gate_note(g, NOTE_MASS_STOP, NULL,
		"%zu of %zu running Jobs have no reservation in the ledger: was it lost, or restored from an old backup? They run on for %s more and nothing new starts; then they are stopped (NotAdmitted) and queued again. Restore the ledger, or start the controller with --mass-stop-after=0s to stop them now",
		m->spared, m->running, span_short(left_ms).s);
}

static void enter(struct gate *g, enum mass_stop_stage next)
{
	struct mass_stop *m = &g->mass_stop;
	m->stage = next;
	m->look_ms = g->tick_ms + LOOK_MS;
	gate_pause_starts(g);
}

void mass_stop_begin(struct gate *g)
{
	struct mass_stop *m = &g->mass_stop;
	size_t spared = 0, running = 0;
	for (const struct gate_job *j = g->first; j; j = j->next) {
		running += runs(j);
		spared += is_unaccounted(j);
	}
	if (m->after_ms <= 0 || !is_mass(spared, running))
		return;
	for (struct gate_job *j = g->first; j; j = j->next)
		j->spared = is_unaccounted(j);
	m->spared = spared;
	m->running = running;
	m->until_ms = g->tick_ms + m->after_ms;
	enter(g, MASS_STOP_WAITS);
	say(g);
}

bool mass_stop_spares(const struct gate *g, const struct gate_job *j)
{
	return j->spared && g->mass_stop.stage == MASS_STOP_WAITS;
}

static bool still(const struct gate *g, const struct gate_job *j)
{
	if (g->mass_stop.stage == MASS_STOP_WAITS)
		return is_unaccounted(j);
	return !j->lost && !j->gone && !j->seen.finished && (!j->seen.suspend || j->seen.leaving);
}

static void count(struct gate *g)
{
	struct mass_stop *m = &g->mass_stop;
	m->spared = m->running = 0;
	for (struct gate_job *j = g->first; j; j = j->next) {
		j->spared = j->spared && still(g, j);
		m->spared += j->spared;
		m->running += runs(j);
	}
}

static void go_on(struct gate *g)
{
	struct mass_stop *m = &g->mass_stop;
	gate_note(g, NOTE_MASS_STOP, NULL,
		"%zu running Jobs without a reservation are stopped now (NotAdmitted)%s", m->spared,
		g->tick_ms < m->until_ms ? ": no longer a mass of them" : "");
	enter(g, MASS_STOP_STOPS);
	m->until_ms = g->tick_ms + SETTLE_MS;
	for (struct gate_job *j = g->first; j; j = j->next)
		if (j->spared)
			gate_mark_dirty(g, j);
}

void mass_stop_tick(struct gate *g)
{
	struct mass_stop *m = &g->mass_stop;
	if (m->stage == MASS_STOP_NONE || g->tick_ms < m->look_ms)
		return;
	m->look_ms = g->tick_ms + LOOK_MS;
	count(g);
	bool over = g->tick_ms >= m->until_ms;
	if (m->stage == MASS_STOP_STOPS && (over || m->spared == 0)) {
		enter(g, MASS_STOP_NONE);
		gate_note(g, NOTE_MASS_STOP, NULL, "Jobs start again");
	} else if (m->stage == MASS_STOP_WAITS && (over || !is_mass(m->spared, m->running))) {
		go_on(g);
	} else if (m->stage == MASS_STOP_WAITS && g->tick_ms >= m->said_ms + SAY_MS) {
		say(g);
	}
}

int64_t mass_stop_due_ms(const struct gate *g)
{
	return g->mass_stop.stage == MASS_STOP_NONE ? INT64_MAX : g->mass_stop.look_ms;
}

bool gate_mass_stop(const struct gate *g, struct gate_mass_stop *ret)
{
	const struct mass_stop *m = &g->mass_stop;
	bool waits = m->stage == MASS_STOP_WAITS;
	if (waits)
		*ret = (struct gate_mass_stop){.jobs = m->spared,
			.running = m->running,
			.left_ms = m->until_ms > g->tick_ms ? m->until_ms - g->tick_ms : 0};
	return waits;
}

void explain_mass_stop(const struct gate *g, struct explanation *x)
{
	const struct mass_stop *m = &g->mass_stop;
	if (m->stage == MASS_STOP_NONE || x->reason != WAIT_PENDING_EVALUATION)
		return;
	if (m->stage == MASS_STOP_WAITS)
		snprintf(x->sentence, sizeof(x->sentence),
			"nothing starts at the moment: %zu of %zu running Jobs have no reservation in the ledger and are not stopped yet; an admin must act (docs/protocol.md, Mass stop)",
			m->spared, m->running);
	else
		snprintf(x->sentence, sizeof(x->sentence),
			"nothing starts at the moment: %zu Jobs without a reservation in the ledger are being stopped; starts go on when their pods are gone, in a minute at the latest",
			m->spared);
}
