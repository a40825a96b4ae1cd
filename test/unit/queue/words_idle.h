/*
 * Words about idle resources: what nodes lend, which Jobs may run on it, and reclaim; read by
 * words.c.
 *
 *   flavor NAME .. [idle Batch|Gocran] [share N%]   its quota is a part of what its nodes lend
 *   pool FLAVOR cpu=QUANTITY [memory=QUANTITY] [most-cpu=..] [most-memory=..]
 *                                    what they lend now; most-cpu and most-memory: the most of one
 *                                    node, else all of it. Without memory=: unlimited
 *   job .. [preemptible]             may run in ordinary flavors and on what is lent; one that asks
 *                                    for kubernetes.io/batch-cpu or the like runs on that alone
 *   reclaim NS/NAME pods=N "WHY"     N of its pods may stay
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
/* Sets job.lending from what its containers ask for. */
void words_lending(struct job *j);

bool words_tell_pool(struct words *w, char **word, size_t n);
bool words_tell_reclaim(struct words *w, const struct words_job *j, char **word, size_t n);

/* False: the expectation is none of these. */
bool words_say_idle(struct words *w, char **word, size_t n, char *got, size_t size);

#endif
