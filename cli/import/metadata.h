/*
 * The metadata of any kind. What names an object stays, and so do its labels and annotations. What
 * servers and kubectl write goes without a word. Keys of Kueue become ours.
 *
 * A key of Kueue is one whose prefix is kueue.x-k8s.io or ends in .kueue.x-k8s.io. On Jobs, and in
 * the templates of Jobs and pods, some have a counterpart, which may be an annotation where Kueue
 * has a label. All others are left out, with a note.
 */
#ifndef SLUICE_CLI_IMPORT_METADATA_H
#define SLUICE_CLI_IMPORT_METADATA_H

#include "cli/import/fields.h"

#define KUEUE_DOMAIN "kueue.x-k8s.io"

/* The rows of every object whose spec is made anew. */
#define METADATA_FIELDS                                                                            \
	{"apiVersion", .server = true}, {"kind", .server = true},                                  \
		{"metadata", .take = take_metadata},                                               \
	{                                                                                          \
		"status", .server = true                                                           \
	}

/* Take the metadata of queues and flavors; of Jobs, CronJobs and their jobTemplates; of pod
 * templates. */
field_taker take_metadata, take_job_metadata, take_pod_metadata;

/* Step down to the first place where Kueue's domain, or another, is named, and stay there. */
bool walk_find_kueue(struct walk *w, const cJSON *v);
bool walk_find_domain(struct walk *w, const cJSON *v, const char *domain);
/* Notes where the object that was made still names Kueue: a field selector, a scheduling gate, a
 * script. */
void note_kueue_left(struct walk *w, const cJSON *made);

#endif
