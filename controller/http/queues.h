/*
 * /api/v1/queues: ClusterQueues and LocalQueues with their quotas, as JSON.
 *
 * Amounts are told twice: as people write them ("1500m"), and in the units that the queue counts in, for
 * who draws them.
 */
#ifndef SLUICE_CONTROLLER_HTTP_QUEUES_H
#define SLUICE_CONTROLLER_HTTP_QUEUES_H

#include "controller/http/api.h"

/* names: Jobs that are stuck may be named. */
struct api_reply queues_answer(const struct api_sources *s, bool names, struct buf *out);

#endif
