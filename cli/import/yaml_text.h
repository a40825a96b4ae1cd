/*
 * A tree as YAML, the way people write it: a field a line, lists with dashes, quotes only where a
 * reader could take a text for something else.
 *
 * Always true: what documents.h, kubectl or any other reader of YAML 1.1 or 1.2 makes of it is the
 * tree again. So a text has no quotes only when it is of a small, plain alphabet, and no reader
 * takes it for a truth value, a number or null. A text of several lines is a block when a block
 * gives back every byte, else it is quoted as in JSON.
 */
#ifndef SLUICE_CLI_IMPORT_YAML_TEXT_H
#define SLUICE_CLI_IMPORT_YAML_TEXT_H

#include "base/buf.h"
#include "base/json.h"

/* Appends one document, without "---". Members keep their order. */
void yaml_print(struct buf *out, const cJSON *root);

/* Appends one text that stands on a line of its own, in quotes if it needs them. */
void yaml_scalar(struct buf *out, const char *text);

#endif
