/*
 * What clients read before they ask: which group, versions and resources there are, and what their
 * fields mean (kubectl explain queuedjobs).
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_DISCOVERY_H
#define SLUICE_CONTROLLER_ANSWERS_DISCOVERY_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends the document at path. False: there is none. */
bool discovery_document(const char *path, struct buf *out);

#endif
