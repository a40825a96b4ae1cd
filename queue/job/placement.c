#include "sluice/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct label *find_label(const struct label *labels, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(labels[i].key, key) == 0)
			return &labels[i];
	return NULL;
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

static bool has_value(const struct requirement *r, const char *value)
{
	for (size_t i = 0; i < r->nvalues; i++)
		if (strcmp(r->values[i], value) == 0)
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

/* label: the one with the requirement's key, or NULL. A requirement that the API server would
 * refuse (no values where some are needed) matches nothing, as in the scheduler. */
static bool requirement_holds(const struct requirement *r, const struct label *label)
{
	switch (r->op) {
	case SELECTOR_IN:
		return label && has_value(r, label->value);
	case SELECTOR_NOT_IN:
		return r->nvalues > 0 && (!label || !has_value(r, label->value));
	case SELECTOR_EXISTS:
		return label != NULL;
	case SELECTOR_DOES_NOT_EXIST:
		return label == NULL;
	case SELECTOR_GT:
	case SELECTOR_LT:
		return label && exceeds(r, label->value);
	}
	return false;
}

/* Only requirements on the group's own labels count. Without any, the term matches. */
static bool term_holds(const struct selector_term *t, const struct node_group *g)
{
	for (size_t i = 0; i < t->nrequirements; i++) {
		const struct requirement *r = &t->requirements[i];
		const struct label *label = find_label(g->labels, g->nlabels, r->key);
		if (label && !requirement_holds(r, label))
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
		const struct label *label = find_label(g->labels, g->nlabels, want->key);
		if (label && strcmp(label->value, want->value) != 0)
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
		if (!requirement_holds(r, find_label(labels, nlabels, r->key)))
			return false;
	}
	return true;
}
