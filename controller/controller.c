#include "controller/controller.h"

#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/monotonic.h"
#include "base/must.h"
#include "controller/common/clock.h"
#include "controller/agents.h"
#include "controller/forecast/forecasts.h"
#include "controller/forecast/reviews.h"
#include "controller/answers/answers.h"
#include "controller/answers/counters.h"
#include "controller/answers/decision_log.h"
#include "controller/ports.h"
#include "controller/ledger/pg.h"
#include "controller/ledger/retention.h"
#include "controller/nodes/node_agents.h"
#include "controller/overcommit/overcommit_controller.h"
#include "controller/parts.h"
#include "controller/visibility.h"
#include "controller/watch/finalizers.h"
#include "controller/watch/following.h"
#include "controller/watch/informer.h"
#include "controller/watch/predecessors.h"
#include "controller/write/recall.h"
#include "controller/watch/stuck_pods.h"
#include "controller/write/dispatcher.h"
#include "controller/write/events.h"
#include "controller/write/status_writer.h"
#include "record/recorder.h"

enum {
	STOP_GRACE_MS = 5000,
	RESIGN_GRACE_MS =
		300, /* for the last word to the ledger; else a standby waits out the lease */
	REPORT_POSTPONED_MAX = 10,
	WAKE_MAX_MS = 60000, /* the clock on the wall may be set meanwhile: look again at times */
};

#define REPORT_POSTPONE_SECONDS 0.1
#define CLOCK_LOOK_SECONDS 0.25

enum stage {
	STAGE_RUNNING,
	STAGE_DRAINING,	 /* told to stop; writes are under way */
	STAGE_RESIGNING, /* the lease is being given back */
};

struct controller {
	struct parts parts;
	struct answers *answers; /* of all ports */
	struct ports *ports;
	struct loop_state loop_state;
	struct answer_sources from;    /* for answers and ports */
	struct visibility *visibility; /* NULL: off */

	ev_prepare prepare;
	ev_timer wake, second, grace, look;
	ev_signal term, interrupt;

	enum stage stage;
	bool dirty;	    /* a pass is due */
	unsigned postponed; /* ticks in a row that made way for starts */
	int exit_code;	    /* of an end */
	struct following following;
	char ledger_trouble[512]; /* "" while it is up */
};

static void mark_dirty(void *ctx)
{
	struct controller *c = ctx;
	c->dirty = true;
}

/* Gives the machine's time. Usage is measured by the machines' clocks, so what is lent follows
 * these. */
static int64_t machine_ms(const struct controller *c)
{
	return (int64_t)(ev_now(c->parts.loop) * 1000.0);
}

static int64_t tick_ms(void)
{
	return monotonic_ms();
}

static void leave(struct controller *c, int exit_code)
{
	c->exit_code = exit_code;
	ev_break(c->parts.loop, EVBREAK_ALL);
}

/* ---- notes: what the gate did, for people ---------------------------------------------------- */

static void log_note(struct log *log, const struct note *n)
{
	static const struct {
		enum log_level level;
		const char *word;
	} lines[] = {
#define NOTE(kind, name, level, word, ...) [NOTE_##kind] = {LEVEL_##level, word},
#include "controller/gate/notes.def"
	};
	char job[600] = "";
	if (!log_shows(log, lines[n->kind].level))
		return;
	bool has_job = n->name && n->name[0];
	if (has_job)
		snprintf(job, sizeof(job), "%s/%s", n->ns, n->name);
	log_event(log, lines[n->kind].level, lines[n->kind].word, "job", has_job ? job : NULL,
		"queue", n->clusterqueue && n->clusterqueue[0] ? n->clusterqueue : NULL, "#attempt",
		has_job ? LOG_NUMBER(n->attempt) : NULL, "#waited_ms",
		n->kind == NOTE_START ? LOG_NUMBER(n->waited_ms) : NULL, "text", n->text, NULL);
}

static void drain_notes(struct controller *c)
{
	const struct note *n;
	while ((n = gate_take_note(c->parts.gate))) {
		log_note(c->parts.log, n);
		decision_log_add(c->parts.decision_log, n);
		counters_note(c->parts.counters, n);
		events_note(c->parts.events, n);
	}
}

/* ---- the pass -------------------------------------------------------------------------------- */

static int64_t due_in_ms(const struct controller *c)
{
	struct gate_wake due = gate_wake(c->parts.gate);
	int64_t now_ms = tick_ms(), wait_ms = clock_machine_wait_ms(due.now_ms);
	int64_t pause_ms = due.tick_ms > now_ms ? due.tick_ms - now_ms : 0;
	return pause_ms < wait_ms ? pause_ms : wait_ms;
}

static void arm_wake(struct controller *c)
{
	int64_t wait = c->dirty ? 0 : due_in_ms(c);
	if (wait > WAKE_MAX_MS)
		wait = WAKE_MAX_MS;
	if (wait == 0 && !c->dirty)
		wait = 1;
	ev_timer_stop(c->parts.loop, &c->wake);
	ev_timer_set(&c->wake, (double)wait / 1000.0, 0.);
	ev_timer_start(c->parts.loop, &c->wake);
}

/* Begins to stop: nothing more is decided; what is under way may end. */
static void begin_to_stop(struct controller *c, int exit_code)
{
	c->exit_code = exit_code;
	c->stage = STAGE_DRAINING;
	c->loop_state.stopping = true;
	ev_timer_stop(c->parts.loop, &c->wake);
	ev_timer_set(&c->grace, STOP_GRACE_MS / 1000.0, 0.);
	ev_timer_start(c->parts.loop, &c->grace);
}

static void pass(struct controller *c)
{
	ev_now_update(c->parts.loop);
	c->dirty = false;
	if (following_must_begin_anew(c->parts.informer, c->parts.gate, c->parts.log)) {
		begin_to_stop(c, EXIT_ANEW);
		return;
	}
	int64_t began_us = monotonic_us();
	gate_step(c->parts.gate, parts_now_ms(&c->parts), tick_ms());
	counters_pass(c->parts.counters, monotonic_us() - began_us);
	dispatcher_carry(c->parts.dispatcher);
	if (gate_leading(c->parts.gate))
		predecessors_carry(c->parts.predecessors, tick_ms());
	drain_notes(c);
	if (gate_deposed(c->parts.gate)) {
		log_event(c->parts.log, LEVEL_WARN, "deposed", "why",
			"another controller took the lease over, or ours ran out", "holder",
			dispatcher_lease(c->parts.dispatcher).holder, "#epoch",
			LOG_NUMBER(gate_epoch(c->parts.gate)), NULL);
		leave(c, EXIT_DEPOSED);
	}
}

/* Waits for what is under way, and leaves when that has ended. */
static void stop_pass(struct controller *c, bool patience_is_over)
{
	drain_notes(c);
	if (c->stage != STAGE_DRAINING)
		return;
	size_t left = dispatcher_writes_under_way(c->parts.dispatcher);
	if (left > 0 && !patience_is_over)
		return;
	if (left > 0)
		log_event(c->parts.log, LEVEL_WARN, "stopping", "why",
			"writes have no answer yet; the next leader looks them up", "#writes",
			LOG_NUMBER((int64_t)left), NULL);
	if (!gate_leading(c->parts.gate) || !pg_up(c->parts.pg)) {
		leave(c, c->exit_code);
		return;
	}
	c->stage = STAGE_RESIGNING;
	pg_resign(c->parts.pg, gate_epoch(c->parts.gate));
	ev_timer_stop(c->parts.loop, &c->grace);
	ev_timer_set(&c->grace, RESIGN_GRACE_MS / 1000.0, 0.);
	ev_timer_start(c->parts.loop, &c->grace);
}

/* Runs after all callbacks of a turn, before the loop sleeps. */
static void on_prepare(struct ev_loop *loop, ev_prepare *w, int revents)
{
	struct controller *c = w->data;
	(void)loop;
	(void)revents;
	if (c->stage == STAGE_RUNNING && (c->dirty || due_in_ms(c) <= 0)) {
		pass(c);
		arm_wake(c);
	}
	if (c->stage != STAGE_RUNNING)
		stop_pass(c, false);
}

/* Has the loop turn: on_prepare sees what is due. */
static void on_wake(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct controller *c = w->data;
	(void)loop;
	(void)revents;
	c->dirty = true;
}

/* Looks for news of Jobs: a decision without them is about Jobs as they were. */
static void look_for_news(struct controller *c)
{
	switch (following_look(&c->following, c->parts.informer, c->parts.gate, c->parts.log)) {
	case FOLLOWING_AS_BEFORE:
		return;
	case FOLLOWING_CHANGED:
		c->dirty = true;
		return;
	case FOLLOWING_GIVE_UP:
		begin_to_stop(c, EXIT_BLIND);
		return;
	}
}

/* Does what is due each second, but makes way for starts, for a second at most. Statuses and Events
 * can wait; else they would take the connection that stands ready, and a Job would wait for
 * another's TLS handshake. */
static void on_second(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct controller *c = w->data;
	(void)revents;
	bool busy = dispatcher_writes_under_way(c->parts.dispatcher) > 0;
	if (busy && c->postponed++ < REPORT_POSTPONED_MAX) {
		w->repeat = REPORT_POSTPONE_SECONDS;
		ev_timer_again(loop, w);
		return;
	}
	c->postponed = 0;
	w->repeat = 1.;
	ev_timer_again(loop, w);
	if (c->stage == STAGE_RUNNING) {
		informer_tick(c->parts.informer);
		look_for_news(c);
		stuck_pods_tick(c->parts.stuck_pods, tick_ms());
		counters_forget_gone(c->parts.counters, c->parts.queue, tick_ms());
		visibility_tick(c->visibility, tick_ms());
		answers_tick(c->answers, tick_ms());
		forecasts_tick(c->parts.forecasts, gate_leading(c->parts.gate),
			parts_now_ms(&c->parts), tick_ms());
		reviews_tick(c->parts.reviews, gate_leading(c->parts.gate), parts_now_ms(&c->parts),
			tick_ms());
	}
	if (c->stage == STAGE_RUNNING && gate_leading(c->parts.gate)) {
		finalizers_tick(c->parts.finalizers, parts_now_ms(&c->parts));
		status_writer_tick(c->parts.status_writer, parts_now_ms(&c->parts));
		events_tick(c->parts.events, parts_now_ms(&c->parts));
		predecessors_carry(c->parts.predecessors, tick_ms());
		retention_tick(c->parts.retention, gate_epoch(c->parts.gate),
			recall_since_ms(c->parts.queue, parts_now_ms(&c->parts)),
			parts_now_ms(&c->parts), tick_ms());
	}
	node_agents_tick(c->parts.node_agents,
		c->stage == STAGE_RUNNING && gate_leading(c->parts.gate), tick_ms());
	recorder_tick(c->parts.recorder);
	if (c->stage == STAGE_RUNNING)
		overcommit_controller_tick(
			c->parts.overcommit_controller, machine_ms(c), gate_leading(c->parts.gate));
}

/* Looks whether somebody set the clock, in test builds. */
static void on_look(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct controller *c = w->data;
	struct err e;
	(void)loop;
	(void)revents;
	if (clock_look(&e)) {
		log_event(c->parts.log, LEVEL_INFO, "clock-set", NULL);
		c->dirty = true;
	} else if (e.text[0]) {
		log_event(c->parts.log, LEVEL_WARN, "clock-not-set", "why", e.text, NULL);
	}
}

static void on_grace(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct controller *c = w->data;
	(void)loop;
	(void)revents;
	if (c->stage == STAGE_DRAINING)
		stop_pass(c, true);
	else
		leave(c, c->exit_code);
}

static void on_signal(struct ev_loop *loop, ev_signal *w, int revents)
{
	struct controller *c = w->data;
	(void)loop;
	(void)revents;
	log_event(c->parts.log, LEVEL_INFO, "stopping", "signal", strsignal(w->signum), NULL);
	if (c->stage != STAGE_RUNNING) {
		leave(c, EXIT_ASKED);
		return;
	}
	begin_to_stop(c, EXIT_ASKED);
}

static void on_ledger_state(bool up, const char *sentence, void *ctx)
{
	struct controller *c = ctx;
	bool news = strcmp(c->ledger_trouble, up || !sentence ? "" : sentence) != 0 || up;
	snprintf(c->ledger_trouble, sizeof(c->ledger_trouble), "%s",
		up || !sentence ? "" : sentence);
	c->dirty = true;
	gate_tell_ledger_down(c->parts.gate, up ? 0 : parts_now_ms(&c->parts));
	if (up)
		log_event(c->parts.log, LEVEL_INFO, "ledger-up", NULL);
	else if (news)
		log_event(c->parts.log, LEVEL_WARN, "ledger-down", "why", sentence, "effect",
			"running Jobs go on, nothing new starts", NULL);
}

/* ---- its life -------------------------------------------------------------------------------- */

static void start_watchers(struct controller *c)
{
	ev_prepare_init(&c->prepare, on_prepare);
	ev_timer_init(&c->wake, on_wake, 0., 0.);
	ev_timer_init(&c->second, on_second, 1., 1.);
	ev_timer_init(&c->grace, on_grace, 0., 0.);
	ev_timer_init(&c->look, on_look, CLOCK_LOOK_SECONDS, CLOCK_LOOK_SECONDS);
	ev_signal_init(&c->term, on_signal, SIGTERM);
	ev_signal_init(&c->interrupt, on_signal, SIGINT);
	c->prepare.data = c->wake.data = c->second.data = c->grace.data = c->look.data = c;
	c->term.data = c->interrupt.data = c;
	/* Last of all that run before the loop sleeps, so that it sees all of this turn's facts. */
	ev_set_priority(&c->prepare, EV_MINPRI);
	ev_prepare_start(c->parts.loop, &c->prepare);
	ev_timer_start(c->parts.loop, &c->second);
	if (clock_has_file())
		ev_timer_start(c->parts.loop, &c->look);
	ev_signal_start(c->parts.loop, &c->term);
	ev_signal_start(c->parts.loop, &c->interrupt);
}

static void stop_watchers(struct controller *c)
{
	ev_timer_stop(c->parts.loop, &c->look);
	ev_prepare_stop(c->parts.loop, &c->prepare);
	ev_timer_stop(c->parts.loop, &c->wake);
	ev_timer_stop(c->parts.loop, &c->second);
	ev_timer_stop(c->parts.loop, &c->grace);
	ev_signal_stop(c->parts.loop, &c->term);
	ev_signal_stop(c->parts.loop, &c->interrupt);
}

static int controller_open(struct controller *c, struct err *e)
{
	struct parts_events events = {
		.changed = mark_dirty, .ledger_state = on_ledger_state, .ctx = c};
	c->loop_state.ledger_trouble = c->ledger_trouble;
	int rc = parts_open(&c->parts, &events, e);
	if (rc)
		return rc;
	c->from = parts_sources(&c->parts, &c->loop_state);
	c->answers = answers_new(&c->from);
	rc = ports_open(&c->parts, &c->from, c->answers, &c->ports, e);
	if (rc == 0)
		rc = visibility_open(&c->parts, c->answers, &c->visibility, e);
	return rc ? rc : agents_open(&c->parts, e);
}

int controller_run(const struct options *o, struct log *log)
{
	struct controller c = {.dirty = true};
	struct err e = {""};
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	must(loop);
	c.parts.options = o;
	c.parts.log = log;
	c.parts.loop = loop;
	log_event(log, LEVEL_INFO, "starting", "version", SLUICE_VERSION, "cell", o->cell,
		"identity", o->identity, NULL);
	if (controller_open(&c, &e) == 0) {
		start_watchers(&c);
		ev_run(loop, 0);
		stop_watchers(&c);
		log_event(log, LEVEL_INFO, "stopped", "#exit", LOG_NUMBER(c.exit_code), NULL);
	} else {
		log_event(log, LEVEL_ERROR, "cannot-start", "why", e.text, NULL);
		c.exit_code = EXIT_NO_START;
	}
	agents_close(&c.parts);
	visibility_close(c.visibility);
	ports_close(c.ports);
	answers_free(c.answers);
	parts_close(&c.parts);
	ev_loop_destroy(loop);
	return c.exit_code;
}
