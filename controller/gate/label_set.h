/*
 * Label sets: the labels of Jobs, each different set kept once.
 *
 * Jobs of one CronJob mostly have the same labels, so a Job's record has a pointer to a set. A
 * tenant may make all its Jobs differ, so there is a limit: of a Job whose labels have more than
 * LABEL_SET_BYTES_MAX bytes none is kept, and no selector that asks for a label finds it.
 */
#ifndef SLUICE_CONTROLLER_GATE_LABEL_SET_H
#define SLUICE_CONTROLLER_GATE_LABEL_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/siphash.h"
#include "sluice/placement.h"

enum { LABEL_SET_BYTES_MAX = 1024 };

struct label_set {
	uint64_t hash;
	uint32_t refs;
	uint32_t nlabels;
	struct label label[]; /* in the order of the API server; the texts lie behind */
};

struct label_sets {
	struct map map;
	struct siphash_key key; /* what tenants write must not collide */
};

void label_sets_init(struct label_sets *all, struct siphash_key key);
void label_sets_done(struct label_sets *all); /* no reference may be left */

/* Takes the set of a Job's labels; NULL: none, or too many. Give it back with label_set_put(). */
struct label_set *label_set_of(struct label_sets *all, const struct label *labels, size_t nlabels);
void label_set_put(struct label_sets *all, struct label_set *s); /* NULL is fine */

static inline const struct label *label_set_labels(const struct label_set *s)
{
	return s ? s->label : NULL;
}

static inline size_t label_set_count(const struct label_set *s)
{
	return s ? s->nlabels : 0;
}

#endif
