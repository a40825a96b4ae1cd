#include "queue/cluster/filter.h"

#include <string.h>

#include "queue/job/placement.h"

#define NAME_FIELD "metadata.name"
#define CORDON_TAINT "node.kubernetes.io/unschedulable"

/* ---- node selector and affinity -------------------------------------------------------------- */

/* A field compares with one value, by In or NotIn. The API server refuses anything else, so that
 * matches nothing. */
static bool field_holds(const struct requirement *r, const struct site *s)
{
	const char *value = strcmp(r->key, NAME_FIELD) == 0 ? s->name : "";
	if (r->nvalues != 1 || (r->op != SELECTOR_IN && r->op != SELECTOR_NOT_IN))
		return false;
	return (strcmp(r->values[0], value) == 0) == (r->op == SELECTOR_IN);
}

static bool term_holds(const struct node_term *t, const struct site *s)
{
	if (t->labels.nrequirements + t->fields.nrequirements == 0)
		return false;
	for (size_t i = 0; i < t->fields.nrequirements; i++)
		if (!field_holds(&t->fields.requirements[i], s))
			return false;
	return labels_match(s->labels, s->nlabels, &t->labels);
}

bool filter_affinity(const struct pod *p, const struct site *s)
{
	if (!labels_have(s->labels, s->nlabels, p->node_selector, p->nnode_selector))
		return false;
	for (size_t i = 0; i < p->nterms; i++)
		if (term_holds(&p->terms[i], s))
			return true;
	return !p->has_terms;
}

static bool names_node(const struct requirement *r)
{
	return r->op == SELECTOR_IN && strcmp(r->key, NAME_FIELD) == 0;
}

/* Do all parts of the term that name nodes name this one? */
static bool term_may_mean(const struct node_term *t, const char *name)
{
	for (size_t i = 0; i < t->fields.nrequirements; i++) {
		const struct requirement *r = &t->fields.requirements[i];
		if (names_node(r) && !names_have(r->values, r->nvalues, name))
			return false;
	}
	return true;
}

static const struct requirement *first_naming(const struct node_term *t)
{
	for (size_t i = 0; i < t->fields.nrequirements; i++)
		if (names_node(&t->fields.requirements[i]))
			return &t->fields.requirements[i];
	return NULL;
}

/* Does each term name nodes? Then the scheduler looks at no other nodes. */
static bool all_terms_name(const struct pod *p)
{
	for (size_t i = 0; i < p->nterms; i++)
		if (!first_naming(&p->terms[i]))
			return false;
	return p->nterms > 0;
}

static bool not_named(const struct pod *p, const char *name)
{
	if (!all_terms_name(p))
		return false;
	for (size_t i = 0; i < p->nterms; i++)
		if (term_may_mean(&p->terms[i], name))
			return false;
	return true;
}

bool filter_names_conflict(const struct pod *p)
{
	if (!all_terms_name(p))
		return false;
	for (size_t i = 0; i < p->nterms; i++) {
		const struct requirement *r = first_naming(&p->terms[i]);
		for (size_t v = 0; v < r->nvalues; v++)
			if (term_may_mean(&p->terms[i], r->values[v]))
				return false;
	}
	return true;
}

/* ---- taints and cordons ---------------------------------------------------------------------- */

static bool tolerated(const struct pod *p, const struct taint *t)
{
	for (size_t i = 0; i < p->ntolerations; i++)
		if (toleration_covers(&p->tolerations[i], t))
			return true;
	return false;
}

/* Kubernetes takes it off when the node is healthy again. */
static bool is_of_condition(const struct taint *t)
{
	return strncmp(t->key, "node.kubernetes.io/", 19) == 0 ||
	       strncmp(t->key, "node.cloudprovider.kubernetes.io/", 33) == 0;
}

enum severity {
	ALL_THAT_KEEP_OUT,
	BUT_OF_CONDITION,
	NO_EXECUTE_ONLY,
};

static bool matters(const struct taint *t, enum severity severity)
{
	switch (severity) {
	case ALL_THAT_KEEP_OUT:
		return t->effect == TAINT_NO_SCHEDULE || t->effect == TAINT_NO_EXECUTE;
	case BUT_OF_CONDITION:
		return matters(t, ALL_THAT_KEEP_OUT) && !is_of_condition(t);
	case NO_EXECUTE_ONLY:
		return t->effect == TAINT_NO_EXECUTE;
	}
	return false;
}

static bool taints_pass(const struct pod *p, const struct site *s, enum severity severity)
{
	for (size_t i = 0; i < s->ntaints; i++)
		if (matters(&s->taints[i], severity) && !tolerated(p, &s->taints[i]))
			return false;
	return true;
}

bool filter_taints(const struct pod *p, const struct site *s)
{
	return taints_pass(p, s, ALL_THAT_KEEP_OUT);
}

static bool cordon_passes(const struct pod *p, const struct site *s)
{
	static const struct taint cordon = {CORDON_TAINT, "", TAINT_NO_SCHEDULE};
	return !s->unschedulable || tolerated(p, &cordon);
}

/* ---- in order -------------------------------------------------------------------------------- */

/* A pod that names its node asks no scheduler. The kubelet there checks NoExecute, affinity, ports
 * and resources. */
static uint32_t filter_direct(const struct pod *p, const struct site *s)
{
	if (strcmp(p->node_name, s->name) != 0)
		return OBSTACLE_BIT(OBSTACLE_NODE_NAME);
	if (!taints_pass(p, s, NO_EXECUTE_ONLY))
		return OBSTACLE_BIT(OBSTACLE_TAINT);
	return filter_affinity(p, s) ? 0 : OBSTACLE_BIT(OBSTACLE_NODE_AFFINITY);
}

static uint32_t filter_all(const struct pod *p, const struct site *s, bool ever)
{
	if (*p->node_name)
		return filter_direct(p, s);
	if (not_named(p, s->name))
		return OBSTACLE_BIT(OBSTACLE_NOT_NAMED);
	if (!ever && !cordon_passes(p, s))
		return OBSTACLE_BIT(OBSTACLE_CORDON);
	if (!taints_pass(p, s, ever ? BUT_OF_CONDITION : ALL_THAT_KEEP_OUT))
		return OBSTACLE_BIT(OBSTACLE_TAINT);
	return filter_affinity(p, s) ? 0 : OBSTACLE_BIT(OBSTACLE_NODE_AFFINITY);
}

uint32_t filter_now(const struct pod *p, const struct site *s)
{
	return filter_all(p, s, false);
}

uint32_t filter_ever(const struct pod *p, const struct site *s)
{
	return filter_all(p, s, true);
}

/* ---- ports ----------------------------------------------------------------------------------- */

bool host_port_taken(const struct host_port *wanted, const struct host_port *used)
{
	static const char any[] = "0.0.0.0";
	if (wanted->port != used->port || strcmp(wanted->protocol, used->protocol) != 0)
		return false;
	return strcmp(wanted->ip, any) == 0 || strcmp(used->ip, any) == 0 ||
	       strcmp(wanted->ip, used->ip) == 0;
}
