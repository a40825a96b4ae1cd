/*
 * References: which objects of ours an object names, and what becomes of those that name one which is
 * refused. A name that is not among what is imported is none of ours: it may be on the cluster.
 */
#ifndef SLUICE_CLI_IMPORT_REFERENCES_H
#define SLUICE_CLI_IMPORT_REFERENCES_H

#include "cli/import/fields.h"

/* made: an object of ours, of one of Kueue's kinds. */
void references_of_kind(struct walk *w, const char *kind, const cJSON *made);
/* made: a Job or a CronJob. */
void references_of_job(struct walk *w, const cJSON *made, bool is_cronjob);

/* The value of a class: remembered if it is negative. */
void note_negative(struct walk *w, const cJSON *value);

#endif
