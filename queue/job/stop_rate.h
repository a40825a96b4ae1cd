/*
 * Stop rate: how often idle resources may be reclaimed from one Job.
 *
 * Each such stop pays for five minutes, from the moment until which the earlier ones paid, or from
 * the stop if that is later. A stopped Job may start again when no more than five minutes of that
 * are left. So the first stop costs nothing, and whatever the load does: in a time T there are at
 * most T / 5 min + 2 stops of a Job.
 */
#ifndef SLUICE_QUEUE_JOB_STOP_RATE_H
#define SLUICE_QUEUE_JOB_STOP_RATE_H

#include <stdint.h>

#define STOP_RATE_MS 300000

/* Until when its stops have paid, with one more at stop_ms. paid_ms: what this was before, or 0.
 * (Never more than 10 minutes after the stop: a clock may have been set back.) */
int64_t stop_rate_pay(int64_t paid_ms, int64_t stop_ms);
/* From when on the Job may start again after the stop at stop_ms; 0: at once. At most five minutes
 * after it. */
int64_t stop_rate_returns(int64_t paid_ms, int64_t stop_ms);

#endif
