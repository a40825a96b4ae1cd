/*
 * The controller: all parts wired together on one event loop.
 *
 * One turn of the loop reads like a list. Callbacks record facts and mark the controller dirty.
 * Before the loop sleeps again there is one pass: take the time once, gate_step, send off what it
 * wants, tell what it did. A burst of events costs one decision.
 *
 * An end is ordinary:
 * - told to stop, the controller decides nothing more, lets the writes that are under way end,
 *   gives the lease back and leaves;
 * - deposed, it leaves at once: what it knows may be old, and a restart as standby is the tested
 *   path;
 * - a leader that could not follow Jobs for a minute leaves as if told to stop, so that a standby
 *   that can follow them takes over. A standby that cannot does not ask for the lease;
 * - a leader or a standby that finds that the API server's store was put back leaves that way, too.
 * Each but the first has an exit code of its own.
 */
#ifndef SLUICE_CONTROLLER_CONTROLLER_H
#define SLUICE_CONTROLLER_CONTROLLER_H

#include "controller/common/log.h"
#include "controller/options.h"

enum {
	EXIT_ASKED = 0,
	EXIT_NO_START = 1,
	EXIT_USAGE = 2,
	EXIT_DEPOSED = 3,
	EXIT_BLIND = 4, /* it led, and could not follow Jobs any more */
	EXIT_ANEW = 5,	/* what it knows of Jobs is of a time that was taken back */
};

/* Runs until told to stop; returns the exit code. */
int controller_run(const struct options *o, struct log *log);

#endif
