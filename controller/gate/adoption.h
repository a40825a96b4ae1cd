/* Runs whose reservation the ledger lost: adoption.c takes them over by their own stories. */
#ifndef SLUICE_CONTROLLER_GATE_ADOPTION_H
#define SLUICE_CONTROLLER_GATE_ADOPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/gate/story.h"

struct explanation;
struct gate;
struct gate_job;
struct ledger_reservation;

/* See adoption.c. */
struct adoption {
	int64_t settle_ms;
	bool moved;  /* the ledger is on another timeline than when a leader had last settled */
	bool pauses; /* nothing starts */
	int64_t until_ms, look_ms; /* by tick_ms */
	size_t adopted;
	struct story_run run; /* told last */
};

/* The reservation that was read, as its Job's story has it where the ledger lost a GROW. True: it
 * holds more than the ledger says: once the queue has it so, adoption_raise() writes it. Lines are good
 * until the next call. */
bool adoption_is_outgrown(struct gate *g, const struct gate_job *j, struct ledger_reservation *r);
void adoption_raise(struct gate *g, struct gate_job *j, const struct ledger_reservation *r);
/* It was let have as many pods as it has, by its own story. */
bool adoption_story_covers(struct gate *g, const struct gate_job *j);

/* A reservation that was read is of an attempt before the one that runs: it was given back, and
 * that was lost. */
bool adoption_is_overtaken(struct gate *g, const struct ledger_reservation *r);
void adoption_close_overtaken(struct gate *g, const struct ledger_reservation *r);
/* Finds what a Job without a reservation holds, if its own story tells and is believed. Lines are good
 * until a story is read again. phase.c takes the Job over by it, and then tells that here. */
bool adoption_finds(struct gate *g, const struct gate_job *j, struct ledger_reservation *ret);
void adoption_found(struct gate *g, struct gate_job *j);
/* Begins the pause, if one is due: all that runs was adopted. */
void adoption_begin(struct gate *g);
/* It runs by the word of a leader that came after us: so we are none. */
bool adoption_is_of_later_leader(struct gate *g, const struct gate_job *j);
/* It runs a later attempt than the one that was adopted, which the ledger had closed and forgotten, or
 * has grown since: a takeover finds that out at its beginning, so it begins anew. */
bool adoption_overtakes(struct gate *g, const struct gate_job *j);
/* The ledger would not have one that was adopted: it had closed that attempt. */
void adoption_was_in_vain(struct gate *g, struct gate_job *j);
void adoption_tick(struct gate *g);
int64_t adoption_due_ms(const struct gate *g);
void explain_adoption(const struct gate *g, struct explanation *x);

#endif
