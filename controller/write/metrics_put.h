/*
 * Writes a family of /metrics and its samples (answers/metrics.h). metrics.def has a row for each metric: its name,
 * type, unit, labels and help.
 */
#ifndef SLUICE_CONTROLLER_WRITE_METRICS_PUT_H
#define SLUICE_CONTROLLER_WRITE_METRICS_PUT_H

#include <stdint.h>

#include "base/buf.h"

enum metric {
#define SECTION(title, text)
#define METRIC(tag, name, type, unit, labels, help) METRIC_##tag,
#include "controller/write/metrics.def"
};

/* Begins the family: its type, unit and help. Its samples follow. */
void metrics_put_family(struct buf *out, enum metric m);
/* Puts the name of a sample, with a value for each label of the row and then NULL. The number and
 * a newline follow. */
void metrics_put_sample(struct buf *out, enum metric m, ...) __attribute__((sentinel));
/* Puts the name of a sample of a histogram, which has at most one label beside le: the suffix, the
 * value of the row's label (NULL where it has none), and the bound (NULL for none). The number and a
 * newline follow. */
void metrics_put_part(
	struct buf *out, enum metric m, const char *suffix, const char *value, const char *bound);
/* Puts the family of a metric without labels, and its one sample. */
void metrics_put_value(struct buf *out, enum metric m, uint64_t value);

#endif
