/* Writes a family of /metrics and its samples (answers/metrics.h). */
#ifndef SLUICE_CONTROLLER_WRITE_METRICS_PUT_H
#define SLUICE_CONTROLLER_WRITE_METRICS_PUT_H

#include "base/buf.h"

enum metric_type { GAUGE, COUNTER, HISTOGRAM, INFO };

/* Puts the head of a family. unit "" for none; else the name must end in it. */
void metrics_put_family(struct buf *out, const char *name, enum metric_type type, const char *unit,
	const char *help);
/* Puts name{key="value",...}: each key and its value, at least one, and NULL. */
void metrics_put_labelled(struct buf *out, const char *name, ...) __attribute__((sentinel));

#endif
