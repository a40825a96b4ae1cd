#include "queue/job/node_affinity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue/job/placement.h"

/* Comparisons of strings for one answer. A pair of a few requirements takes some dozens. An edit of
 * a LocalQueue may need an answer for each waiting Job and flavor, all in one turn of the loop. */
#define COMPARISONS_MAX 2000

/* ---- contradictions -------------------------------------------------------------------------- */

/* One conjunction: requirements of at most two terms, and the node selector. */
struct pair {
	const struct selector_term *part[2];
	size_t nparts;
	const struct label *selector;
	size_t nselector;
	size_t *left; /* comparisons */
};

static bool spend(const struct pair *p)
{
	if (*p->left == 0)
		return false;
	--*p->left;
	return true;
}

static bool same_text(const struct pair *p, const char *a, const char *b)
{
	return spend(p) && strcmp(a, b) == 0;
}

static bool lists(const struct pair *p, const struct requirement *r, const char *value)
{
	for (size_t i = 0; i < r->nvalues; i++)
		if (same_text(p, r->values[i], value))
			return true;
	return false;
}

static bool parse_number(const char *s, int64_t *ret)
{
	char *end;
	errno = 0;
	long long n = strtoll(s, &end, 10);
	*ret = n;
	return errno == 0 && end != s && *end == '\0' && *s != ' ';
}

/* value NULL: the node has no such label. */
static bool requirement_lets(const struct pair *p, const struct requirement *r, const char *value)
{
	int64_t limit, number;
	switch (r->op) {
	case SELECTOR_IN:
		return value && lists(p, r, value);
	case SELECTOR_NOT_IN:
		return !value || !lists(p, r, value);
	case SELECTOR_EXISTS:
		return value;
	case SELECTOR_DOES_NOT_EXIST:
		return !value;
	case SELECTOR_GT:
	case SELECTOR_LT:
		if (!value || r->nvalues != 1 || !parse_number(r->values[0], &limit) ||
			!parse_number(value, &number))
			return false;
		return r->op == SELECTOR_GT ? number > limit : number < limit;
	}
	return true;
}

/* Do all parts let a node's label be so? */
static bool pair_lets(const struct pair *p, const char *key, const char *value)
{
	for (size_t i = 0; i < p->nselector; i++)
		if (same_text(p, p->selector[i].key, key) &&
			(!value || strcmp(p->selector[i].value, value) != 0))
			return false;
	for (size_t k = 0; k < p->nparts; k++) {
		for (size_t i = 0; i < p->part[k]->nrequirements; i++) {
			const struct requirement *r = &p->part[k]->requirements[i];
			if (same_text(p, r->key, key) && !requirement_lets(p, r, value))
				return false;
		}
	}
	return true;
}

/* Requirements on one key, but for those that list values. */
struct bounds {
	int64_t above, below;
	bool needed, absent;
};

static void bounds_take(struct bounds *b, const struct requirement *r)
{
	int64_t n;
	b->absent = b->absent || r->op == SELECTOR_DOES_NOT_EXIST;
	b->needed = b->needed || (r->op != SELECTOR_DOES_NOT_EXIST && r->op != SELECTOR_NOT_IN);
	if (r->nvalues != 1 || !parse_number(r->values[0], &n))
		return;
	if (r->op == SELECTOR_GT && n > b->above)
		b->above = n;
	if (r->op == SELECTOR_LT && n < b->below)
		b->below = n;
}

/* No value is listed, so there are as many as one likes, but for what Gt and Lt leave. */
static bool bounds_clash(const struct pair *p, const char *key)
{
	struct bounds b = {.above = INT64_MIN, .below = INT64_MAX};
	for (size_t k = 0; k < p->nparts; k++)
		for (size_t i = 0; i < p->part[k]->nrequirements; i++)
			if (same_text(p, p->part[k]->requirements[i].key, key))
				bounds_take(&b, &p->part[k]->requirements[i]);
	bool none_between = b.above >= b.below || b.above + 1 >= b.below;
	return (b.needed && b.absent) || none_between;
}

/* Is there no value at all that this key could have? r is a requirement on it. */
static bool key_clashes(const struct pair *p, const struct requirement *r)
{
	if (r->op != SELECTOR_IN)
		return bounds_clash(p, r->key);
	for (size_t v = 0; v<r->nvalues && * p->left> 0; v++)
		if (pair_lets(p, r->key, r->values[v]))
			return false;
	return true;
}

static const struct label *selector_has(const struct pair *p, const char *key)
{
	for (size_t i = 0; i < p->nselector; i++)
		if (same_text(p, p->selector[i].key, key))
			return &p->selector[i];
	return NULL;
}

/* The key of which it says what cannot hold at once; NULL: none was found. */
static const char *pair_clash(const struct pair *p)
{
	for (size_t k = 0; k < p->nparts; k++) {
		for (size_t i = 0; i < p->part[k]->nrequirements; i++) {
			const struct requirement *r = &p->part[k]->requirements[i];
			if (*p->left == 0)
				return NULL;
			const struct label *l = selector_has(p, r->key);
			bool clash = l ? !pair_lets(p, r->key, l->value) : key_clashes(p, r);
			if (clash && *p->left > 0)
				return r->key;
		}
	}
	return NULL;
}

bool node_affinity_contradicts(const struct placement *p, const char **ret_key)
{
	size_t left = COMPARISONS_MAX;
	const char *clash = NULL;
	for (size_t i = 0; i < p->nterms; i++) {
		struct pair one = {
			{&p->terms[i].labels}, 1, p->node_selector, p->nnode_selector, &left};
		clash = pair_clash(&one);
		if (!clash)
			return false;
	}
	if (clash && ret_key)
		*ret_key = clash;
	return clash != NULL;
}

/* ---- joining --------------------------------------------------------------------------------- */

static bool term_is_empty(const struct node_term *t)
{
	return t->labels.nrequirements + t->fields.nrequirements == 0;
}

static struct selector_term selector_join(
	struct arena *a, const struct selector_term *x, const struct selector_term *y)
{
	size_t n = x->nrequirements + y->nrequirements;
	struct requirement *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = i < x->nrequirements ? x->requirements[i]
					      : y->requirements[i - x->nrequirements];
	return (struct selector_term){all, n};
}

static size_t text_bytes(const char *s)
{
	return strlen(s) + NODE_AFFINITY_TEXT_BYTES;
}

static size_t selector_bytes(const struct selector_term *t)
{
	size_t bytes = 0;
	for (size_t i = 0; i < t->nrequirements; i++) {
		bytes += text_bytes(t->requirements[i].key);
		for (size_t v = 0; v < t->requirements[i].nvalues; v++)
			bytes += text_bytes(t->requirements[i].values[v]);
	}
	return bytes;
}

/* What joining has found so far. */
struct joining {
	struct arena *memory;
	const struct placement *own;
	struct node_term *terms;
	size_t n, bytes, left;
	const char *clash;
};

static size_t term_bytes(const struct node_term *t)
{
	return selector_bytes(&t->labels) + selector_bytes(&t->fields);
}

static bool selectors_fit(const struct selector_term *x, const struct selector_term *y)
{
	return x->nrequirements + y->nrequirements <= NODE_AFFINITY_REQUIREMENTS_MAX;
}

/* own NULL: its owner has no terms. False: it would be too much. */
static bool join_pair(struct joining *j, const struct node_term *own, const struct node_term *added)
{
	static const struct node_term any = {.labels = {NULL, 0}};
	const struct node_term *x = own ? own : &any;
	struct pair both = {{&added->labels, &x->labels}, 2, j->own->node_selector,
		j->own->nnode_selector, &j->left};
	if (term_is_empty(added) || (own && term_is_empty(own)))
		return true; /* such a term matches no node */
	const char *clash = pair_clash(&both);
	if (clash) {
		j->clash = clash;
		return true;
	}
	j->bytes += term_bytes(x) + term_bytes(added);
	if (j->n >= NODE_AFFINITY_TERMS_MAX || j->bytes > NODE_AFFINITY_BYTES_MAX ||
		!selectors_fit(&x->labels, &added->labels) ||
		!selectors_fit(&x->fields, &added->fields))
		return false;
	j->terms[j->n].labels = selector_join(j->memory, &x->labels, &added->labels);
	j->terms[j->n++].fields = selector_join(j->memory, &x->fields, &added->fields);
	return true;
}

static enum node_affinity_verdict join_required(struct joining *j, const struct placement *add)
{
	const struct placement *own = j->own;
	j->terms = arena_take(j->memory, NODE_AFFINITY_TERMS_MAX, sizeof(*j->terms));
	for (size_t x = 0; x < own->nterms || x == 0; x++)
		for (size_t y = 0; y < add->nterms; y++)
			if (!join_pair(j, own->nterms > 0 ? &own->terms[x] : NULL, &add->terms[y]))
				return NODE_AFFINITY_TOO_LARGE;
	return j->n > 0 ? NODE_AFFINITY_JOINED : NODE_AFFINITY_CONTRADICTS;
}

/* False: it would be too much. */
static bool join_preferred(
	struct joining *j, const struct placement *add, const struct preferred_term **ret)
{
	size_t own = j->own->npreferred, n = own + add->npreferred;
	if (n > NODE_AFFINITY_TERMS_MAX)
		return false;
	struct preferred_term *all = arena_take(j->memory, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = i < own ? j->own->preferred[i] : add->preferred[i - own];
		j->bytes += term_bytes(&all[i].term);
	}
	*ret = all;
	return j->bytes <= NODE_AFFINITY_BYTES_MAX;
}

static size_t required_bytes(const struct placement *p)
{
	size_t bytes = 0;
	for (size_t i = 0; i < p->nterms; i++)
		bytes += term_bytes(&p->terms[i]);
	return bytes;
}

enum node_affinity_verdict node_affinity_join(
	struct arena *a, struct placement *p, const struct placement *add, const char **ret_key)
{
	struct joining j = {.memory = a, .own = p, .left = COMPARISONS_MAX};
	if (add->nterms + add->npreferred == 0)
		return NODE_AFFINITY_JOINED;
	if (p->affinity_unread)
		return NODE_AFFINITY_UNREAD;
	if (add->nterms > 0) {
		enum node_affinity_verdict v = join_required(&j, add);
		if (v == NODE_AFFINITY_CONTRADICTS && ret_key)
			*ret_key = j.clash;
		if (v != NODE_AFFINITY_JOINED)
			return v;
	} else {
		j.bytes = required_bytes(p);
	}
	const struct preferred_term *preferred;
	if (!join_preferred(&j, add, &preferred))
		return NODE_AFFINITY_TOO_LARGE;
	p->terms = add->nterms > 0 ? j.terms : p->terms;
	p->nterms = add->nterms > 0 ? j.n : p->nterms;
	p->preferred = preferred;
	p->npreferred += add->npreferred;
	return NODE_AFFINITY_JOINED;
}

enum node_affinity_verdict node_affinity_judge_flavor(
	const struct node_group *nodes, const struct placement *adds, const char **ret_key)
{
	struct arena scratch = {0};
	size_t n = 0;
	struct label *all =
		arena_take(&scratch, adds->nnode_selector + nodes->nlabels, sizeof(*all));
	for (size_t i = 0; i < adds->nnode_selector; i++)
		label_put(all, &n, &adds->node_selector[i]);
	for (size_t i = 0; i < nodes->nlabels; i++)
		label_put(all, &n, &nodes->labels[i]);
	struct placement joined = {.node_selector = all, .nnode_selector = n};
	enum node_affinity_verdict v = node_affinity_join(&scratch, &joined, adds, ret_key);
	arena_done(&scratch); /* keys are not its own */
	return v;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static const char *op_name(enum selector_op op)
{
	switch (op) {
	case SELECTOR_IN:
		return "In";
	case SELECTOR_NOT_IN:
		return "NotIn";
	case SELECTOR_EXISTS:
		return "Exists";
	case SELECTOR_DOES_NOT_EXIST:
		return "DoesNotExist";
	case SELECTOR_GT:
		return "Gt";
	case SELECTOR_LT:
		return "Lt";
	}
	return "In";
}

static void write_requirement(const struct requirement *r, struct buf *out)
{
	buf_puts(out, "{\"key\":");
	buf_json_string(out, r->key);
	buf_printf(out, ",\"operator\":\"%s\"", op_name(r->op));
	for (size_t v = 0; v < r->nvalues; v++) {
		buf_puts(out, v ? "," : ",\"values\":[");
		buf_json_string(out, r->values[v]);
	}
	buf_puts(out, r->nvalues ? "]}" : "}");
}

static void write_requirements(const char *name, const struct selector_term *t, struct buf *out)
{
	for (size_t i = 0; i < t->nrequirements; i++) {
		if (i)
			buf_putc(out, ',');
		else
			buf_printf(out, "\"%s\":[", name);
		write_requirement(&t->requirements[i], out);
	}
	buf_puts(out, t->nrequirements ? "]" : "");
}

static void write_term(const struct node_term *t, struct buf *out)
{
	buf_putc(out, '{');
	write_requirements("matchExpressions", &t->labels, out);
	if (t->labels.nrequirements > 0 && t->fields.nrequirements > 0)
		buf_putc(out, ',');
	write_requirements("matchFields", &t->fields, out);
	buf_putc(out, '}');
}

static void write_required(const struct placement *p, struct buf *out)
{
	buf_puts(
		out, "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[");
	for (size_t i = 0; i < p->nterms; i++) {
		buf_puts(out, i ? "," : "");
		write_term(&p->terms[i], out);
	}
	buf_puts(out, "]}");
}

static void write_preferred(const struct placement *p, struct buf *out)
{
	buf_puts(out, "\"preferredDuringSchedulingIgnoredDuringExecution\":[");
	for (size_t i = 0; i < p->npreferred; i++) {
		buf_printf(out, "%s{\"weight\":%d,\"preference\":", i ? "," : "",
			(int)p->preferred[i].weight);
		write_term(&p->preferred[i].term, out);
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

void node_affinity_write(const struct placement *p, struct buf *out)
{
	if (p->nterms + p->npreferred == 0)
		return;
	buf_putc(out, '{');
	if (p->nterms > 0)
		write_required(p, out);
	if (p->nterms > 0 && p->npreferred > 0)
		buf_putc(out, ',');
	if (p->npreferred > 0)
		write_preferred(p, out);
	buf_putc(out, '}');
}
