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

struct adoption {
	int64_t settle_ms;
	bool moved;  /* the ledger is on another timeline than when a leader had last settled */
	bool pauses; /* nothing starts */
	int64_t until_ms, look_ms; /* by tick_ms */
	size_t adopted;
	struct story_run run; /* of the story that was read last */
};

/* Tells whether a Job's story holds more than the reservation that was read: the ledger lost a
 * GROW. Then puts that into r, with lines that are good until the next call. Once the queue has
 * them, adoption_raise() writes them to the ledger. */
bool adoption_is_outgrown(struct gate *g, const struct gate_job *j, struct ledger_reservation *r);
void adoption_raise(struct gate *g, struct gate_job *j, const struct ledger_reservation *r);
/* Tells whether the Job's own story lets it have as many pods as it has. */
bool adoption_story_covers(struct gate *g, const struct gate_job *j);

/* Tells whether a reservation that was read is of an attempt before the one that runs: it was given
 * back, and the ledger lost that. */
bool adoption_is_overtaken(struct gate *g, const struct ledger_reservation *r);
void adoption_close_overtaken(struct gate *g, const struct ledger_reservation *r);
/* Says why a run without a reservation is stopped that the quota has no place for. */
extern const char ADOPTION_NO_QUOTA[];
/* Finds what a Job without a reservation holds, if its own story tells and is believed. Lines are
 * good until a story is read again. phase.c takes the Job over by it, and then calls
 * adoption_found(). */
bool adoption_finds(struct gate *g, const struct gate_job *j, struct ledger_reservation *ret);
void adoption_found(struct gate *g, struct gate_job *j);
/* Begins the pause, if one is due. Call it when all that runs was adopted. */
void adoption_begin(struct gate *g);
/* Tells whether a leader that came after us let the Job run: then we lead no more. */
bool adoption_is_of_later_leader(struct gate *g, const struct gate_job *j);
/* Tells whether, in the pause, the Job is seen to run a later attempt than was adopted, or to hold
 * more. Then another takeover is needed. */
bool adoption_overtakes(struct gate *g, const struct gate_job *j);
/* Takes the ledger's refusal of an adoption: it had closed that attempt. */
void adoption_was_in_vain(struct gate *g, struct gate_job *j);
void adoption_tick(struct gate *g);
int64_t adoption_due_ms(const struct gate *g);
void explain_adoption(const struct gate *g, struct explanation *x);

#endif
