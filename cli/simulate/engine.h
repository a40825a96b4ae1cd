/*
 * The play: the world in virtual time, from its start until nothing more happens or --until.
 *
 * At each instant the queue is told all that happens then, what gives room back first. Then it is
 * asked for decisions until it has none, and each is carried out at once. A Job that is started
 * runs; one that is stopped gives its quota back in the same instant and waits again, at its old
 * place. Its work is lost but for what is safe (world_kept_ms()). No pod takes time to end or to
 * begin: that is what a real cluster adds.
 *
 * Calendars turn for ever. So the simulation is over when no Job is left, or when nothing has
 * happened for as long as a Calendar looks ahead. It is also over when Jobs are only started and
 * stopped again, and none of them gets any further.
 */
#ifndef SLUICE_CLI_SIMULATE_ENGINE_H
#define SLUICE_CLI_SIMULATE_ENGINE_H

#include "cli/simulate/chart.h"
#include "cli/simulate/journal.h"
#include "cli/simulate/summary.h"
#include "cli/simulate/world.h"

/* A watcher for programs beside the command (test/bench/eta.c). look: after the decisions of each
 * instant. */
struct watcher {
	void (*see)(const struct sim_event *e, void *ctx);
	void (*look)(int64_t now_ms, void *ctx);
	void *ctx;
};

struct observers {
	struct summary *summary;
	struct journal *journal;       /* NULL: not wanted */
	struct chart *chart;	       /* NULL: not wanted */
	const struct watcher *watcher; /* NULL: not wanted */
};

/* Plays the world. until_ms: the last instant that is played; NEVER_MS. progress: a line to stderr
 * for each second of real time after the first. */
void engine_run(
	struct world *w, int64_t until_ms, bool progress, const struct observers *observers);

#endif
