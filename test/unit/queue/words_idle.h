/*
 * Words about idle room: what nodes lend, who may run on it, and taking it back; read by
 * queue_words.c.
 *
 *   flavor NAME .. [idle Batch|Gocran] [share N%]   its quota is a part of what its nodes lend
 *   pool FLAVOR cpu=QUANTITY [memory=QUANTITY] [most-cpu=..] [most-memory=..]
 *                                    what they lend now; the most of one node is all of it unless
 *                                    it is said. Nothing said of memory: as much as anybody likes
 *   job .. [preemptible]             may run in ordinary flavors and on what is lent; one that asks
 *                                    for kubernetes.io/batch-cpu or the like runs on that alone
 *   reclaim NS/NAME pods=N "WHY"     so many of its pods may stay
 *
 *   expect: shrinks NS/NAME to N "WHY"
 *   expect: borrows NS/NAME yes|no
 *   expect: asks NS/NAME NAME        under which name its pods ask for cpu
 */
#ifndef SLUICE_TEST_QUEUE_WORDS_IDLE_H
#define SLUICE_TEST_QUEUE_WORDS_IDLE_H

#include "words.h"

/* False: neither "idle" nor "share". */
bool words_idle_of_flavor(struct flavor_spec *s, const char *word, const char *value);
/* False: not "preemptible". */
bool words_idle_of_job(struct job *j, const char *word);
/* What its containers ask for says where it may run. */
void words_lending(struct job *j);

bool words_tell_pool(struct words *w, char **word, size_t n);
bool words_tell_reclaim(struct words *w, const struct words_job *j, char **word, size_t n);

/* False: the expectation is none of these. */
bool words_say_idle(struct words *w, char **word, size_t n, char *got, size_t size);

#endif
