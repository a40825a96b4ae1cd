/*
 * Words about accounting, limits of a run and usage over time; read by words.c.
 *
 *   config .. [pods-ready=S] [recovery=S] [back-off=BASE:MAX:LIMIT] [creation] [half-life=S]
 *             [weigh=RESOURCE:N] [exclude=PREFIX] [ignore-undeclared]
 *             [transform=INPUT[*BY]->OUTPUT:N,..]   ("=>" for Replace)
 *   limits NS/NAME [pod] default|request|min|max RESOURCE=QUANTITY .. default|.. ..
 *   overhead RUNTIMECLASS RESOURCE=QUANTITY ..
 *   recall NS/NAME FROM TO RESOURCE=QUANTITY ..   a run of this LocalQueue that ended before
 *   ready NS/NAME | unready NS/NAME
 *   local .. [user-running=N] [user-waiting=N] [user.RESOURCE=QUANTITY ..]   spec.limits.perUser
 */
#ifndef SLUICE_TEST_QUEUE_WORDS_LIMITS_H
#define SLUICE_TEST_QUEUE_WORDS_LIMITS_H

#include "words.h"

/* False when the word is none of these. What the configuration points to lives until the next
 * config. */
bool words_config(struct words *w, struct queue_config *c, char *word);

/* False when the word is none of these. What it points to lives until the next line. */
bool words_of_user_limits(struct words *w, struct user_limits *l, const char *word);

bool words_tell_limits(struct words *w, char **word, size_t n);
bool words_tell_overhead(struct words *w, char **word, size_t n);
bool words_tell_recall(struct words *w, char **word, size_t n);

#endif
