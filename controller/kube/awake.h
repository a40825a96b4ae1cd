/*
 * Awake: since when this process has been turning its loop without a long break.
 *
 * A process that is stopped (SIGSTOP, a machine that is suspended or swaps) has no news when it
 * goes on, and could not have had any: what was due meanwhile says nothing of the other side. So
 * silence is counted from here on at the earliest.
 *
 * A timer beats ten times in asleep_ms; a break of asleep_ms between two beats was sleep. It keeps
 * no loop alive by itself.
 */
#ifndef SLUICE_CONTROLLER_KUBE_AWAKE_H
#define SLUICE_CONTROLLER_KUBE_AWAKE_H

#include <ev.h>
#include <stdint.h>

struct awake {
	struct ev_loop *loop;
	ev_timer beat;
	int64_t asleep_ms, beat_ms, since_ms; /* the last two by the clock that never steps */
};

void awake_init(struct awake *a, struct ev_loop *loop, int64_t asleep_ms);
void awake_done(struct awake *a);

/* Gives the time since which the loop has turned without a break, by the clock that never steps.
 * The answer is now, when the process has just woken up and the timer has not beaten since. */
int64_t awake_since_ms(const struct awake *a);

#endif
