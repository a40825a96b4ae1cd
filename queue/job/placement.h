/*
 * Placements and metadata of pods (sluice/placement.h): labels, names, and bytes.
 */
#ifndef SLUICE_QUEUE_JOB_PLACEMENT_H
#define SLUICE_QUEUE_JOB_PLACEMENT_H

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "sluice/placement.h"

/* Returns the value of the label with this key; NULL: there is none. */
const char *label_value(const struct label *labels, size_t n, const char *key);
/* Sets the label of this key, or appends it: all has room for one more. Borrows. */
void label_put(struct label *all, size_t *n, const struct label *l);
/* Tells whether all wanted labels are there, with these values. */
bool labels_have(const struct label *labels, size_t n, const struct label *wanted, size_t nwanted);
/* Tells whether a list of names, or of a requirement's values, has this one. */
bool names_have(const char *const *all, size_t n, const char *name);

/* A deep copy of a list of names, and whether two lists are the same. Of structs: queue/job/specs.h. */
const char *const *names_copy(struct arena *a, const char *const *from, size_t n);
bool names_same(const char *const *a, size_t na, const char *const *b, size_t nb);

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

#endif
