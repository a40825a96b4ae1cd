/*
 * Manifests: files of Kubernetes YAML, read into a world.
 *
 * What may be in them: our kinds, and the kinds of Kubernetes that say what Jobs are and what they
 * need. They go through the same decoders as what the controller reads from an API server. Here a
 * mistake is not shown in an object's status: the first one ends the reading, with file, line,
 * object and field, and what would be right.
 *
 * Annotations of Jobs that only the simulation reads: sluice.dev/simulate-duration,
 * simulate-delete, simulate-admitted (see docs/simulate.md).
 */
#ifndef SLUICE_CLI_SIMULATE_MANIFEST_H
#define SLUICE_CLI_SIMULATE_MANIFEST_H

#include "base/err.h"
#include "base/slice.h"
#include "cli/simulate/world.h"
#include "base/json.h"

/* A file, "-" for standard input, or a directory: its *.yaml, *.yml and *.json, by name. */
int manifest_read(struct world *w, const char *path, struct err *e);

/* One object of an API server, of a kind that is known here; no Job. from: what sentences begin with. It
 * does nothing where a file describes the object (world_describe()). */
int manifest_read_object(
	struct world *w, const char *from, const char *kind, const cJSON *o, struct err *e);

/* name: what the sentence calls the text. */
int manifest_read_text(struct world *w, const char *name, struct slice text, struct err *e);

#endif
