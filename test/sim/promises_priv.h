/* What the parts of the promises share: the queue of a waiting Job, and what is free. */
#ifndef SLUICE_TEST_SIM_PROMISES_PRIV_H
#define SLUICE_TEST_SIM_PROMISES_PRIV_H

#include "test/sim/sim.h"

/* The ClusterQueue of a Job; NULL: it starts nothing. */
const struct config *promises_config(const struct sim *s, const struct model_job *j);
/* Priority, or false when it depends on a class that does not exist. */
bool promises_priority(const struct sim *s, const struct model_job *j, int32_t *ret);
/* What the ledger holds there, and what is free beside it. */
int64_t promises_use(const struct sim *s, const struct quota_row_of *r);
int64_t promises_free(const struct sim *s, const struct quota_row_of *r);

#endif
