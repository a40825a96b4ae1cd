/*
 * Deeds: what was done to pods and could not be done, kept until the controller has heard of it.
 * At most SAMPLE_DEEDS_MAX are kept; then the oldest go, and are counted.
 */
#ifndef SLUICE_AGENT_DEEDS_H
#define SLUICE_AGENT_DEEDS_H

#include "node/sample.h"

struct deeds {
	struct deed deed[SAMPLE_DEEDS_MAX]; /* oldest first */
	size_t count;
	int64_t last; /* the number of the newest; 0: none so far */
	int64_t lost;
};

/* Notes a deed. file: of REFUSED and UNDONE; else NULL. */
void deeds_note(struct deeds *d, enum deed_kind kind, const struct uid *uid, const char *file,
	int64_t value);
/* Forgets all up to this number: the controller knows them. */
void deeds_forget(struct deeds *d, int64_t number);

#endif
