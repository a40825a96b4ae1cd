/*
 * How a family of /metrics and its samples are written (answers/metrics.h).
 */
#ifndef SLUICE_CONTROLLER_WRITE_METRICS_PUT_H
#define SLUICE_CONTROLLER_WRITE_METRICS_PUT_H

#include "base/buf.h"

enum metric_type { GAUGE, COUNTER, HISTOGRAM, INFO };

/* unit "" for none; else the name must end in it. */
void metrics_put_family(struct buf *out, const char *name, enum metric_type type, const char *unit,
	const char *help);
/* name{key="value"} */
void metrics_put_labelled(struct buf *out, const char *name, const char *key, const char *value);
/* name{a_key="a_value",b_key="b_value"} */
void metrics_put_labelled_twice(struct buf *out, const char *name, const char *a_key,
	const char *a_value, const char *b_key, const char *b_value);

/* A label's value with \ " and newline escaped; bytes that are not UTF-8 become U+FFFD. */
void metrics_put_label(struct buf *out, const char *value);

#endif
