/*
 * Which labels of a Job its bills carry (--bill-labels): so that costs can be told by team or
 * project, and not every label of every Job is kept for ever.
 */
#ifndef SLUICE_CONTROLLER_GATE_BILL_LABELS_H
#define SLUICE_CONTROLLER_GATE_BILL_LABELS_H

#include <stddef.h>

#include "base/err.h"
#include "sluice/job.h"

#define BILL_LABELS_DEFAULT "team,project,cost-center"
#define BILL_LABELS_MAX 16
#define BILL_LABELS_BYTES_MAX 1024 /* of the JSON of a Job: what does not fit is left out */

struct bill_labels {
	char text[1024]; /* the keys point into it: must not move */
	const char *key[BILL_LABELS_MAX];
	size_t n;
};

/* Reads keys with commas between; "": none. ERR_INVALID: a key that no label can have, or too
 * many. */
int bill_labels_parse(const char *text, struct bill_labels *ret, struct err *e);

/* Makes {"team":"a","project":"x"} of a Job's labels: yours. NULL: it has none of these. */
char *bill_labels_of(const struct bill_labels *b, const struct job *j);

#endif
