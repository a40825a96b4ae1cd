/*
 * `sluice import kueue` and `sluice import crane`: what is described for Kueue, or for Crane's agent,
 * described for Sluice.
 *
 * Objects come in, from files or from a cluster, in any order; each becomes an item (item.h). All
 * items are printed at the end, in the order in which they came:
 *
 *     YAML:  our objects, each below its notes; what was refused, flags and commands as comments.
 *     JSON:  for programs.
 *     notes: a line each, with file and line of the field, and how many there were of each kind.
 *
 * An object that concerns Kueue and is not known here is refused, never passed over: a kind, a
 * version, and any other object that names Kueue's domain somewhere (a Role, a RayJob with a
 * queue's name). What does not name it is printed as it is, so that whole folders can be piped
 * through. If it is on a cluster already, nothing is to be done and nothing printed.
 *
 * What only the whole tells is settled before that (import_settle()). An object that names a
 * refused one gets a note. Where a class has a negative priority, ClusterQueues get gapFillers: {},
 * for to Kueue its Jobs are Jobs like any other.
 *
 * Nothing is written anywhere. The modules:
 *     fields.h: a table of fields, and the walk along it.
 *     kinds.h: the table for each kind of Kueue's.
 *     metadata.h: names, labels, annotations.
 *     jobs.h, configuration.h: what no table describes alone.
 *     references.h: which objects each names.
 *     crane.h: Crane's kinds, and what their rules say together.
 *     yaml_text.h: a tree as YAML.
 *     accepted.h: whether our CRDs take what was made.
 *     cluster.h: objects of a cluster.
 */
#ifndef SLUICE_CLI_IMPORT_IMPORT_H
#define SLUICE_CLI_IMPORT_IMPORT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "cli/import/accepted.h"
#include "cli/import/crane.h"
#include "cli/import/item.h"
#include "cli/simulate/documents.h"

enum import_source { IMPORT_KUEUE, IMPORT_CRANE };

struct import {
	enum import_source source; /* set before the first object */
	struct import_item *item;
	size_t nitems;
	struct accepted accepted;
	struct crane crane;
};

void import_init(struct import *i);
void import_done(struct import *i);

/* Reads a file, "-" or a directory with all that is below it. Below 0: it is no YAML, and nothing
 * should be printed. */
int import_file(struct import *i, const char *path, struct err *e);
int import_text(struct import *i, const char *name, struct slice text, struct err *e);

/* Takes one object of a cluster. api and kind: for an object that does not say them itself. */
void import_object(
	struct import *i, const char *origin, const char *api, const char *kind, const cJSON *o);
/* Adds a refused item for what a cluster would not tell. */
void import_missing(struct import *i, const char *origin, const char *kind, const char *why);

/* Settles what only the whole tells; once, when all objects are there. */
void import_settle(struct import *i);

enum import_outcome { IMPORT_WHOLE, IMPORT_WITH_NOTES, IMPORT_REFUSED, IMPORT_UNTOUCHED };
enum import_outcome import_outcome(const struct import_item *item);
size_t import_count(const struct import *i, enum import_outcome outcome);

void import_render_yaml(const struct import *i, struct buf *out);
void import_render_json(const struct import *i, struct buf *out);
void import_render_notes(const struct import *i, struct buf *out);

#endif
