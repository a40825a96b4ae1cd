/*
 * Faults put aside: for a part of an object that is passed over if it is wrong.
 * The decoder has no faults after the first call, and its former ones again after the second.
 *
 *     struct faults_aside a = faults_aside(d);
 *     ... read the part ...
 *     const char *fault = faults_back(d, &a);   a text of the record's, or NULL: nothing was wrong
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_ASIDE_H
#define SLUICE_CONTROLLER_WIRE_DECODE_ASIDE_H

#include "controller/wire/decode_text.h"

struct faults_aside {
	bool faulty;
	struct err fault;
};

struct faults_aside faults_aside(struct decoder *d);
const char *faults_back(struct decoder *d, const struct faults_aside *a);

#endif
