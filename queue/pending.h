/* What helper windows brings. */
#ifndef SLUICE_QUEUE_PENDING_H
#define SLUICE_QUEUE_PENDING_H
#include "queue/regime.h"
struct localqueue;
struct room;
const struct regime *regime_of(const struct localqueue *lq);
int64_t closing_spares_until_ms(const struct runpolicy *p, const struct room *r);
#endif
