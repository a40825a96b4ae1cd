/*
 * Private to predecessors.c (what is told of Jobs) and awaited.c (what is waited for, and by whom).
 *
 * awaited.c makes namespaces, names and selectors when an item waits for them, asks what is not
 * known of them, and frees them when nothing waits any more. predecessors.c fills them, and judges
 * the items.
 */
#ifndef SLUICE_QUEUE_FEATURES_DEPENDENCIES_PREDECESSORS_PRIV_H
#define SLUICE_QUEUE_FEATURES_DEPENDENCIES_PREDECESSORS_PRIV_H

#include "queue/features/dependencies/predecessors.h"

static inline struct predecessor_selector *selector_of(struct awaited *a)
{
	return container_of(a, struct predecessor_selector, awaited);
}

static inline struct predecessor_name *name_of(struct awaited *a)
{
	return container_of(a, struct predecessor_name, awaited);
}

/* NULL: no item of that namespace waits. */
struct predecessor_namespace *predecessor_namespace_known(const struct queue *q, const char *ns);
struct predecessor_name *predecessor_name_in(
	const struct queue *q, const char *ns_name, const char *name);
struct predecessor_name *predecessor_name_made(
	struct queue *q, struct predecessor_namespace *ns, const char *name);
size_t predecessor_name_bytes(const struct predecessor_name *n);

/* Each asks what it needs to know now, or is freed when nothing waits for it any more. */
void predecessor_name_tidy(struct queue *q, struct predecessor_name *n);
void predecessor_selector_tidy(struct queue *q, struct predecessor_selector *s);
void predecessor_namespace_tidy(struct queue *q, struct predecessor_namespace *ns);

/* The members that the item's Job tells of: an earlier leader knew them (outcome_record.h). */
void predecessors_recall(
	struct queue *q, struct predecessor_selector *s, const struct dependency_item *item);

#endif
