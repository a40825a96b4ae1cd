/*
 * Private to the files of metrics.h: how a family and its samples are written.
 */
#ifndef SLUICE_CONTROLLER_HTTP_METRICS_PUT_H
#define SLUICE_CONTROLLER_HTTP_METRICS_PUT_H

#include "base/buf.h"
#include "sluice/queue.h"

enum metric_type { GAUGE, COUNTER, HISTOGRAM, INFO };

/* unit "" for none; else the name must end in it. */
void metrics_put_family(struct buf *out, const char *name, enum metric_type type, const char *unit,
	const char *help);
/* name{key="value"} */
void metrics_put_labelled(struct buf *out, const char *name, const char *key, const char *value);
/* name{a_key="a_value",b_key="b_value"} */
void metrics_put_labelled_twice(struct buf *out, const char *name, const char *a_key,
	const char *a_value, const char *b_key, const char *b_value);

/* Calendars, RunPolicies, PricePlans, Budgets, AdvanceReservations: metrics_time.c. */
void metrics_put_time(struct buf *out, const struct queue *q);

#endif
