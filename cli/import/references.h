/*
 * References: which objects of ours an object names, and what is said where such a one is refused.
 * A name that is not among the imported is none of ours: it may be on the cluster.
 */
#ifndef SLUICE_CLI_IMPORT_REFERENCES_H
#define SLUICE_CLI_IMPORT_REFERENCES_H

#include "cli/import/fields.h"

/* Notes the references of an object of ours that was made of one of Kueue's kinds. */
void references_of_kind(struct walk *w, const char *kind, const cJSON *made);
/* Notes the references of a Job or a CronJob that was made. */
void references_of_job(struct walk *w, const cJSON *made, bool is_cronjob);

/* Remembers the value of a class, if it is negative. */
void note_negative(struct walk *w, const cJSON *value);

#endif
