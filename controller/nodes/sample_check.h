/*
 * Whether a sample may be true of its node: it says no more than the node can have. An agent that
 * was broken into can lie about its own node, and this bounds by how much.
 */
#ifndef SLUICE_CONTROLLER_NODES_SAMPLE_CHECK_H
#define SLUICE_CONTROLLER_NODES_SAMPLE_CHECK_H

#include "base/err.h"
#include "node/sample.h"

/* Checks it: 0, or ERR_INVALID with a sentence that names the member. Counters are read in steps of
 * a clock, so a tenth more than the capacity is still believed. */
int sample_check(const struct sample *s, struct load capacity, struct err *e);

#endif
