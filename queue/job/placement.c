#include "queue/job/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define METADATA_MARK (-1) /* no list has this length */

/* ---- where it may run ------------------------------------------------------------------------ */

const char *label_value(const struct label *labels, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(labels[i].key, key) == 0)
			return labels[i].value;
	return NULL;
}

void label_put(struct label *all, size_t *n, const struct label *l)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(all[i].key, l->key) == 0) {
			all[i].value = l->value;
			return;
		}
	all[(*n)++] = *l;
}

bool labels_have(const struct label *labels, size_t n, const struct label *wanted, size_t nwanted)
{
	for (size_t i = 0; i < nwanted; i++) {
		const char *value = label_value(labels, n, wanted[i].key);
		if (!value || strcmp(value, wanted[i].value) != 0)
			return false;
	}
	return true;
}

/* As Go's strconv.ParseInt(s, 10, 64), which the scheduler uses: a sign and leading zeros are fine,
 * spaces are not. */
static bool parse_integer(const char *s, int64_t *ret)
{
	const char *digits = s + (*s == '-' || *s == '+');
	char *end;
	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	long long value = strtoll(s, &end, 10);
	if (errno != 0 || *end != '\0')
		return false;
	*ret = value;
	return true;
}

/* A number of a toleration with Gt or Lt, in its one canonical form: no leading zeros. */
static bool parse_plain_integer(const char *s, int64_t *ret)
{
	const char *digits = s + (*s == '-');
	if (strcmp(s, "0") != 0 && (*digits < '1' || *digits > '9'))
		return false;
	return parse_integer(s, ret);
}

static bool compares(const struct toleration *t, const struct taint *taint)
{
	int64_t limit, value;
	if (!parse_plain_integer(t->value, &limit) || !parse_plain_integer(taint->value, &value))
		return false;
	return t->op == TOLERATION_LT ? value < limit : value > limit;
}

bool toleration_covers(const struct toleration *t, const struct taint *taint)
{
	if (t->effect != TAINT_ANY && t->effect != taint->effect)
		return false;
	if (*t->key && strcmp(t->key, taint->key) != 0)
		return false;
	switch (t->op) {
	case TOLERATION_EQUAL:
		return strcmp(t->value, taint->value) == 0;
	case TOLERATION_EXISTS:
		return true;
	case TOLERATION_LT:
	case TOLERATION_GT:
		return compares(t, taint);
	}
	return false;
}

static bool any_covers(const struct toleration *t, size_t n, const struct taint *taint)
{
	for (size_t i = 0; i < n; i++)
		if (toleration_covers(&t[i], taint))
			return true;
	return false;
}

static const struct taint *untolerated_taint(const struct placement *p, const struct node_group *g)
{
	for (size_t i = 0; i < g->ntaints; i++) {
		const struct taint *t = &g->taints[i];
		if (t->effect != TAINT_NO_SCHEDULE && t->effect != TAINT_NO_EXECUTE)
			continue;
		if (!any_covers(p->tolerations, p->ntolerations, t) &&
			!any_covers(g->tolerations, g->ntolerations, t))
			return t;
	}
	return NULL;
}

bool names_have(const char *const *all, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i], name) == 0)
			return true;
	return false;
}

static bool exceeds(const struct requirement *r, const char *value)
{
	int64_t limit, v;
	if (r->nvalues != 1 || !parse_integer(r->values[0], &limit) || !parse_integer(value, &v))
		return false;
	return r->op == SELECTOR_GT ? v > limit : v < limit;
}

/* value: of the label with the requirement's key, or NULL. A requirement that the API server would
 * refuse (no values where some are needed) matches nothing, as in the scheduler. */
static bool requirement_holds(const struct requirement *r, const char *value)
{
	switch (r->op) {
	case SELECTOR_IN:
		return value && names_have(r->values, r->nvalues, value);
	case SELECTOR_NOT_IN:
		return r->nvalues > 0 && (!value || !names_have(r->values, r->nvalues, value));
	case SELECTOR_EXISTS:
		return value != NULL;
	case SELECTOR_DOES_NOT_EXIST:
		return value == NULL;
	case SELECTOR_GT:
	case SELECTOR_LT:
		return value && exceeds(r, value);
	}
	return false;
}

/* Only requirements on the group's own labels count. Without any, the term matches. */
static bool term_holds(const struct selector_term *t, const struct node_group *g)
{
	for (size_t i = 0; i < t->nrequirements; i++) {
		const struct requirement *r = &t->requirements[i];
		const char *value = label_value(g->labels, g->nlabels, r->key);
		if (value && !requirement_holds(r, value))
			return false;
	}
	return true;
}

static bool affinity_holds(const struct placement *p, const struct node_group *g)
{
	for (size_t i = 0; i < p->nterms; i++)
		if (term_holds(&p->terms[i].labels, g))
			return true;
	return p->nterms == 0;
}

static bool node_selector_holds(const struct placement *p, const struct node_group *g)
{
	for (size_t i = 0; i < p->nnode_selector; i++) {
		const struct label *want = &p->node_selector[i];
		const char *value = label_value(g->labels, g->nlabels, want->key);
		if (value && strcmp(value, want->value) != 0)
			return false;
	}
	return true;
}

enum placement_verdict placement_match(
	const struct placement *p, const struct node_group *g, const struct taint **ret_taint)
{
	const struct taint *taint = untolerated_taint(p, g);
	if (taint) {
		if (ret_taint)
			*ret_taint = taint;
		return PLACEMENT_UNTOLERATED_TAINT;
	}
	if (!node_selector_holds(p, g) || !affinity_holds(p, g))
		return PLACEMENT_SELECTOR_MISMATCH;
	return PLACEMENT_FITS;
}

bool labels_match(const struct label *labels, size_t nlabels, const struct selector_term *selector)
{
	for (size_t i = 0; i < selector->nrequirements; i++) {
		const struct requirement *r = &selector->requirements[i];
		if (!requirement_holds(r, label_value(labels, nlabels, r->key)))
			return false;
	}
	return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *const *names_copy(struct arena *a, const char *const *from, size_t n)
{
	const char **to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++)
		to[i] = arena_string(a, from[i]);
	return to;
}

bool names_same(const char *const *a, size_t na, const char *const *b, size_t nb)
{
	bool same = na == nb;
	for (size_t i = 0; same && i < na; i++)
		same = strcmp(a[i], b[i]) == 0;
	return same;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

void key_selector(struct buf *b, const struct selector_term *t)
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

static void key_node_term(struct buf *b, const struct node_term *t)
{
	key_selector(b, &t->labels);
	key_selector(b, &t->fields);
}

void key_node_terms(struct buf *b, const struct node_term *all, size_t n)
{
	key_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++)
		key_node_term(b, &all[i]);
}

void key_labels(struct buf *b, const struct label *all, size_t n)
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
	key_node_terms(b, p->terms, p->nterms);
	key_number(b, (int64_t)p->npreferred);
	for (size_t i = 0; i < p->npreferred; i++) {
		key_number(b, p->preferred[i].weight);
		key_node_term(b, &p->preferred[i].term);
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
