/*
 * P19: no work queue is stopped for room, or for pods that are not ready, once its controller was shown that
 * a pod of it has succeeded: Kubernetes would call it Complete. Only a lender may take its own quota back. What
 * must stop it does (windows, holds, ...).
 */
#ifndef SLUICE_TEST_SIM_CUT_SHORT_H
#define SLUICE_TEST_SIM_CUT_SHORT_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/queue.h"

struct job;
struct replica;
struct sim;

/* What a controller is about to be shown; a planted fault hides successes. */
void cut_short_show(struct sim *s, size_t replica, uint64_t life, struct job *j);
/* Its queue has decided this. */
void cut_short_check(struct sim *s, const struct replica *r, const struct decision *d);

#endif
