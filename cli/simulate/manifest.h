/*
 * Manifests: files of Kubernetes YAML, read into a world.
 *
 * They may have our kinds, and the kinds of Kubernetes that say what Jobs are and what they need,
 * and go through the decoders of the controller. Here a mistake is not shown in an object's status:
 * the first one ends the reading, with file, line, object and field, and what would be right.
 *
 * job_notes.h has the annotations of Jobs that only the simulation reads.
 */
#ifndef SLUICE_CLI_SIMULATE_MANIFEST_H
#define SLUICE_CLI_SIMULATE_MANIFEST_H

#include "base/err.h"
#include "base/slice.h"
#include "cli/simulate/world.h"
#include "base/json.h"

/* Reads a file, "-" for standard input, or a directory: its *.yaml, *.yml and *.json, by name. */
int manifest_read(struct world *w, const char *path, struct err *e);

/* Reads one object of an API server, of a kind that is known here; no Job. from: the beginning of
 * sentences. Does nothing where a file describes the object (world_describe()). */
int manifest_read_object(
	struct world *w, const char *from, const char *kind, const cJSON *o, struct err *e);

/* Reads a text. name: what the sentence calls it. */
int manifest_read_text(struct world *w, const char *name, struct slice text, struct err *e);

#endif
