/*
 * A file of YAML documents (or JSON, which is YAML), one after the other, as JSON trees, with the
 * line of each field for the sentence about what is wrong.
 *
 * A document becomes JSON text and then a tree of controller/kube/json.h, so all that is promised
 * there holds here too: it is UTF-8, has no NUL, is not nested too deep and takes no more memory
 * than it may (aliases are copied out, so a small text can ask for a large tree).
 *
 * Plain scalars mean what they mean to kubectl: true, yes, on; null, ~; numbers; else text.
 */
#ifndef SLUICE_CLI_SIMULATE_DOCUMENTS_H
#define SLUICE_CLI_SIMULATE_DOCUMENTS_H

#include <stddef.h>

#include "base/err.h"
#include "base/slice.h"
#include "controller/kube/json.h"

struct documents;

/* text must live as long as the documents. */
struct documents *documents_new(struct slice text);
void documents_free(struct documents *d); /* NULL is fine */

/* 1: the next document is there, until the next call; 0: no more; negative: the sentence, and
 * documents_line() says where. Empty documents are passed over. */
int documents_next(struct documents *d, const cJSON **ret_root, struct err *e);

/* Where the document begins, or what could not be read. Lines begin at 1. */
size_t documents_line(const struct documents *d);

/* The line of "items[3].spec.stopPolicy", or of what there is of it. */
size_t documents_line_of(struct documents *d, const char *path);

#endif
