/*
 * Placements and metadata of pods (sluice/placement.h), kept: deep copies, and bytes.
 */
#ifndef SLUICE_QUEUE_JOB_PLACEMENT_H
#define SLUICE_QUEUE_JOB_PLACEMENT_H

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "sluice/placement.h"

/* Returns the value of the label with this key; NULL: there is none. */
const char *label_value(const struct label *labels, size_t n, const char *key);
/* Tells whether all wanted labels are there, with these values. */
bool labels_have(const struct label *labels, size_t n, const struct label *wanted, size_t nwanted);
/* Tells whether a list of names, or of a requirement's values, has this one. */
bool names_have(const char *const *all, size_t n, const char *name);

/* ---- Deep copies, into an arena, of what is only borrowed ------------------------------------ */

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

/* ---- Bytes that are equal exactly when two placements, or metadata, are ---------------------- */

/* What all such bytes are made of. A text with its terminating 0, so that no two run together. */
static inline void key_string(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}
static inline void key_number(struct buf *b, int64_t n)
{
	buf_add(b, &n, sizeof(n));
}
void key_labels(struct buf *b, const struct label *all, size_t n);
void key_selector(struct buf *b, const struct selector_term *t);
void key_node_terms(struct buf *b, const struct node_term *all, size_t n);

/* Each list begins with its length, each string ends with NUL. Nothing at all, the usual case, is no
 * bytes. A placement's bytes may be followed by metadata's: these begin with what no length is. */
void placement_key(const struct placement *p, struct buf *out);
void pod_metadata_key(const struct pod_metadata *m, struct buf *out);
void template_metadata_key(const struct template_metadata *m, struct buf *out);

bool pod_metadata_same(const struct pod_metadata *a, const struct pod_metadata *b);

#endif
