#include "queue/job/placement_key.h"

#include <string.h>

#define METADATA_MARK (-1) /* no list has this length */

static void key_string(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}

static void key_number(struct buf *b, int64_t n)
{
	buf_add(b, &n, sizeof(n));
}

static void key_selector(struct buf *b, const struct selector_term *t)
{
	key_number(b, (int64_t)t->nrequirements);
	for (size_t r = 0; r < t->nrequirements; r++) {
		const struct requirement *q = &t->requirements[r];
		key_string(b, q->key);
		key_number(b, q->op);
		key_number(b, (int64_t)q->nvalues);
		for (size_t v = 0; v < q->nvalues; v++)
			key_string(b, q->values[v]);
	}
}

static void key_labels(struct buf *b, const struct label *all, size_t n)
{
	key_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		key_string(b, all[i].key);
		key_string(b, all[i].value);
	}
}

static void key_tolerations(struct buf *b, const struct placement *p)
{
	key_number(b, (int64_t)p->ntolerations);
	for (size_t i = 0; i < p->ntolerations; i++) {
		const struct toleration *t = &p->tolerations[i];
		key_string(b, t->key);
		key_string(b, t->value);
		key_number(b, t->op);
		key_number(b, t->effect);
		key_number(b, t->has_seconds);
		key_number(b, t->has_seconds ? t->seconds : 0);
	}
}

static void key_affinity(struct buf *b, const struct placement *p)
{
	key_number(b, p->has_affinity + 2 * p->affinity_unread);
	key_number(b, (int64_t)p->nterms);
	for (size_t i = 0; i < p->nterms; i++) {
		key_selector(b, &p->terms[i].labels);
		key_selector(b, &p->terms[i].fields);
	}
	key_number(b, (int64_t)p->npreferred);
	for (size_t i = 0; i < p->npreferred; i++) {
		key_number(b, p->preferred[i].weight);
		key_selector(b, &p->preferred[i].term.labels);
		key_selector(b, &p->preferred[i].term.fields);
	}
}

void placement_key(const struct placement *p, struct buf *out)
{
	if (p->nnode_selector + p->ntolerations + p->nterms + p->npreferred == 0 &&
		!p->has_affinity && !p->affinity_unread)
		return;
	key_labels(out, p->node_selector, p->nnode_selector);
	key_tolerations(out, p);
	key_affinity(out, p);
}

void pod_metadata_key(const struct pod_metadata *m, struct buf *out)
{
	if (m->nlabels + m->nannotations == 0)
		return;
	key_number(out, METADATA_MARK);
	key_labels(out, m->labels, m->nlabels);
	key_labels(out, m->annotations, m->nannotations);
}

bool pod_metadata_same(const struct pod_metadata *a, const struct pod_metadata *b)
{
	struct buf x, y;
	buf_init(&x, SIZE_MAX / 4);
	buf_init(&y, SIZE_MAX / 4);
	pod_metadata_key(a, &x);
	pod_metadata_key(b, &y);
	bool same = x.len == y.len && (x.len == 0 || memcmp(x.ptr, y.ptr, x.len) == 0);
	buf_done(&x);
	buf_done(&y);
	return same;
}

static void key_names(struct buf *b, const char *const *all, size_t n)
{
	key_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++)
		key_string(b, all[i]);
}

static void key_keys(struct buf *b, const struct template_keys *k)
{
	key_names(b, k->own, k->nown);
	key_names(b, k->old, k->nold);
}

static size_t keys_count(const struct template_keys *k)
{
	return k->nown + k->nold;
}

void template_metadata_key(const struct template_metadata *m, struct buf *out)
{
	if (keys_count(&m->labels) + keys_count(&m->annotations) == 0 && !m->has_annotations &&
		!m->old_affinity)
		return;
	key_number(out, METADATA_MARK);
	key_keys(out, &m->labels);
	key_keys(out, &m->annotations);
	key_number(out, m->has_annotations + 2 * m->old_affinity);
}
