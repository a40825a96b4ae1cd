/* Deep copies, into an arena, of what placement.h only borrows. */
#ifndef SLUICE_QUEUE_JOB_COPIES_H
#define SLUICE_QUEUE_JOB_COPIES_H

#include "base/arena.h"
#include "sluice/placement.h"

const struct label *labels_copy(struct arena *a, const struct label *from, size_t n);
const struct taint *taints_copy(struct arena *a, const struct taint *from, size_t n);
const struct toleration *tolerations_copy(struct arena *a, const struct toleration *from, size_t n);
const struct selector_term *terms_copy(struct arena *a, const struct selector_term *from, size_t n);
const struct node_term *node_terms_copy(struct arena *a, const struct node_term *from, size_t n);
const char *const *names_copy(struct arena *a, const char *const *from, size_t n);
void pod_metadata_copy(struct arena *a, const struct pod_metadata *from, struct pod_metadata *ret);
void template_metadata_copy(
	struct arena *a, const struct template_metadata *from, struct template_metadata *ret);
void placement_copy(struct arena *a, const struct placement *from, struct placement *ret);
void node_group_copy(struct arena *a, const struct node_group *from, struct node_group *ret);

#endif
