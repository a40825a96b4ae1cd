/*
 * Words about time and money; read by words.c, asked for by scenario_test.c.
 *
 *   plan NAME [currency=EUR] [queues=GLOB,..] RESOURCE=PRICE .. [flavor.NAME=FACTOR ..]
 *             [rate=CALENDAR[/WINDOW]:FACTOR ..] [series=SECONDS:FACTOR,..] [stale=SECONDS]
 *             [hold-when-stale] [fault="SENTENCE"]       prices are per hour, of memory-gib a GiB's
 *   budget NAME queue=NAME|local=NS/NAME amount=N [Daily|Weekly|Monthly|Yearly] [currency=EUR]
 *             [zone=Europe/Berlin] [actual] [Suspend|Warn]       UTC and Monthly unless said
 *   drop plan|budget NAME | reject plan|budget NAME "SENTENCE"
 *   job .. [start-after=TIME] [deadline=TIME] [fails] [cheapest] [max-price=N]
 *          [max-price-of=RESOURCE] [family=NAME] [active-deadline=S]
 *          [booked=TIME]                what an earlier leader wrote onto it
 *   finished NS/NAME
 *   lasted NS FAMILY SECONDS ..          runs that a former leader saw end well
 *   spent QUEUE NS/LOCAL CURRENCY AT COST
 *
 *   expect: bill NS/NAME COST            what it has cost by now, in the currency
 *   expect: detail NS/NAME JSON          (quotes left out)
 *   expect: budget NAME REASON spent=N reserved=N remaining=N
 *   expect: plan NAME REASON factor=N by RATE
 *   expect: expects NS/NAME SECONDS annotation|deadline|history, or: unknown
 *   expect: deadline NS/NAME TIME in reach|unreachable
 * With a sentence in quotes the condition's message is asked for too.
 */
#ifndef SLUICE_TEST_QUEUE_WORDS_MONEY_H
#define SLUICE_TEST_QUEUE_WORDS_MONEY_H

#include "words.h"

/* *ret_known is false when the line is none of these. */
bool words_tell_money(struct words *w, char **word, size_t n, bool *ret_known);
/* A word of a Job; false when it is none of these. */
bool words_money_of_job(struct job *j, const char *word, char *value);
/* Writes the answer in the words of the expectation; false when it is none of these. */
bool words_say_money(struct words *w, char **word, size_t n, bool sentence, char *ret, size_t size);

#endif
