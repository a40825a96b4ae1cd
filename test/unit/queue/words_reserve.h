/*
 * Words about AdvanceReservations; read by words.c.
 *
 *   reserve NAME [queue=NAME] [from=TIME until=TIME] [calendar=NAME] [maintenance] [ns=A,B] [users=A,B]
 *           [release=SECONDS] [created=SECONDS] [accepted] [left-from=TIME] [deleting]
 *           FLAVOR [RESOURCE=AMOUNT ..] FLAVOR ..      without amounts: all of the flavor
 *           [left FLAVOR RESOURCE=AMOUNT ..]            what is left of the window at left-from
 *   drop reservation NAME | reject reservation NAME "SENTENCE"
 *
 * Answers:
 *
 *   reservation NAME STATE REASON [kept=REASON] [FROM..UNTIL] [possible=TIME] [RESOURCE=LEFT/AMOUNT used=N ..]
 *   accepted NAME REASON "SENTENCE"
 *   kept NAME REASON "SENTENCE"
 */
#ifndef SLUICE_TEST_QUEUE_WORDS_RESERVE_H
#define SLUICE_TEST_QUEUE_WORDS_RESERVE_H

#include "words.h"

bool words_tell_reserve(struct words *w, char **word, size_t n);
/* False: it is another question. */
bool words_say_reservation(
	struct words *w, char **word, size_t n, bool sentence, char *ret, size_t size);

#endif
