/*
 * Labels of pods, as selectors see them: those of the template, each different set kept once, and
 * those that the Job controller adds. The latter are the Job's name and uid, under today's keys and
 * those from before batch/v1. A set does not have them, so that all Jobs of one template share it.
 */
#ifndef SLUICE_QUEUE_REQUESTS_PODLABELS_H
#define SLUICE_QUEUE_REQUESTS_PODLABELS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/uid.h"
#include "sluice/placement.h"

struct podlabels {
	uint64_t hash;
	uint32_t refs;
	const struct label *label;
	size_t n;
	struct arena memory;
};

struct podlabel_sets {
	struct map map;
	size_t bytes;
	struct label *scratch;
	size_t scratch_room;
};

void podlabel_sets_init(struct podlabel_sets *all);
void podlabel_sets_done(struct podlabel_sets *all); /* every reference must have been given back */

/* Returns whether the label differs from Job to Job. */
bool podlabel_is_of_one_job(const char *key);

struct podlabels *podlabels_of(struct podlabel_sets *all, const struct label *label, size_t n);
void podlabels_put(struct podlabel_sets *all, struct podlabels *l); /* NULL does nothing */

/* Returns whether the selector selects the pods of a Job of this name and uid. l NULL: no other
 * labels are known. */
bool podlabels_match(struct podlabel_sets *all, const struct podlabels *l, const char *job,
	const struct uid *uid, const struct selector_term *selector);

#endif
