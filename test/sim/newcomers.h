/*
 * Worlds that move in: users run plain Jobs past all queues, and an admin lets a namespace's be
 * adopted (docs/migrate.md): a word on the Namespace, then the queue label on each. Other users try to
 * get past their queue in the same way: they take the label off a Job that waits, unsuspend it, and
 * put the label on again.
 *
 * P15 no Job is stopped as not admitted that had begun by the word when it got its label, and was not
 *     suspended since; and none is adopted that began later. From its story on it is a run as any
 *     other: P1, P2 and P3 ask the same of it. That nothing starts while more is used than there is,
 *     the ledger's model asks of each RESERVE
 *
 * It draws from a generator of its own.
 */
#ifndef SLUICE_TEST_SIM_NEWCOMERS_H
#define SLUICE_TEST_SIM_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "test/sim/model_api.h"
#include "test/sim/people.h"
#include "test/sim/rng.h"

struct intent;
struct sim;

struct newcomers {
	struct rng rng;
	int64_t begun_by_ms[NAMESPACES]; /* the word; 0: there is none */
};

void newcomers_begin(struct sim *s);
/* What a GET of the Namespace tells. */
int64_t newcomers_word(const struct sim *s, const char *ns);
/* A stop of ours, of a Job that was so, has landed; so has its first story. */
void newcomers_check_stop(struct sim *s, const struct intent *i, const struct snap *before);
void newcomers_landed(struct sim *s, const struct intent *i, const struct snap *before);
/* Its queue cannot take it, and the leader says so. */
bool newcomers_kept_out(const struct explanation *x);

#endif
