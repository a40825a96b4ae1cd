#include "queue/cluster/pod_affinity.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

static bool has_value(const void *value, const void *key)
{
	return strcmp(((const struct domain *)value)->value, key) == 0;
}

/* ---- Which pods a bond counts ---------------------------------------------------------------- */

static bool term_counts(const struct nodes *n, const struct affinity_term *t, const char *own_ns,
	const char *ns, const struct label *labels, size_t nlabels)
{
	return t->has_selector && nodes_term_covers(n, t, own_ns, ns) &&
	       labels_match(labels, nlabels, &t->selector);
}

/* Affinity: only a pod that matches all terms counts, and then for each term. */
static bool all_count(const struct nodes *n, const struct pod *p, const char *ns,
	const struct label *labels, size_t nlabels)
{
	for (size_t i = 0; i < p->naffinity; i++)
		if (!term_counts(n, &p->affinity[i], p->ns, ns, labels, nlabels))
			return false;
	return p->naffinity > 0;
}

/* An empty selector matches each pod, but the scheduler counts none for it. */
static bool spread_counts(const struct spread_constraint *c, const struct pod *p, const char *ns,
	const struct label *labels, size_t nlabels)
{
	return c->has_selector && c->selector.nrequirements > 0 && strcmp(p->ns, ns) == 0 &&
	       labels_match(labels, nlabels, &c->selector);
}

static int32_t pods_of(const struct pod_affinity *c, const struct bond *b, const struct nodes *n,
	const struct node *node)
{
	const struct pod *p = c->pod;
	int32_t pods = 0;
	if (b->nobody)
		return 0;
	for (const struct node_pod *t = node->node_pods; t; t = t->next) {
		bool counts = false;
		switch (b->kind) {
		case BOND_AFFINITY:
			counts = all_count(n, p, t->ns, t->labels, t->nlabels);
			break;
		case BOND_ANTI_AFFINITY:
			counts = term_counts(n, b->term, p->ns, t->ns, t->labels, t->nlabels);
			break;
		case BOND_SPREAD:
			counts = !t->deleting &&
				 spread_counts(b->spread, p, t->ns, t->labels, t->nlabels);
			break;
		}
		pods += counts ? t->pods : 0;
	}
	return pods;
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool counts_itself(const struct bond *b, const struct nodes *n, const struct pod *p)
{
	switch (b->kind) {
	case BOND_AFFINITY:
		return all_count(n, p, p->ns, p->labels, p->nlabels);
	case BOND_ANTI_AFFINITY:
		return term_counts(n, b->term, p->ns, p->ns, p->labels, p->nlabels);
	case BOND_SPREAD:
		return spread_counts(b->spread, p, p->ns, p->labels, p->nlabels);
	}
	return false;
}

static void add_terms(
	struct pod_affinity *c, enum bond_kind kind, const struct affinity_term *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c->bond[c->nbonds++] = (struct bond){
			.kind = kind, .topology_key = all[i].topology_key, .term = &all[i]};
}

struct pod_affinity *pod_affinity_new(const struct nodes *n, const struct pod *p)
{
	struct pod_affinity *c = mem_alloc(sizeof(*c));
	c->pod = p;
	c->bond = mem_array(p->naffinity + p->nanti_affinity + p->nspread, sizeof(*c->bond));
	add_terms(c, BOND_AFFINITY, p->affinity, p->naffinity);
	add_terms(c, BOND_ANTI_AFFINITY, p->anti_affinity, p->nanti_affinity);
	for (size_t i = 0; i < p->nspread; i++)
		c->bond[c->nbonds++] = (struct bond){.kind = BOND_SPREAD,
			.topology_key = p->spread[i].topology_key,
			.spread = &p->spread[i]};
	for (size_t i = 0; i < c->nbonds; i++) {
		struct bond *b = &c->bond[i];
		map_init(&b->by_value, has_value);
		b->counts_itself = counts_itself(b, n, p);
		b->meant = b->spread && b->spread->has_selector &&
			   labels_match(p->labels, p->nlabels, &b->spread->selector);
	}
	c->fits_itself = all_count(n, p, p->ns, p->labels, p->nlabels);
	return c;
}

static void domain_free(struct domain *d)
{
	free(d->value);
	free(d);
}

void pod_affinity_free(struct pod_affinity *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nbonds; i++) {
		struct bond *b = &c->bond[i];
		for (size_t d = 0; d < b->ndomains; d++)
			domain_free(b->domain[d]);
		map_done(&b->by_value);
		free(b->domain);
		free(b->stay);
	}
	free(c->bond);
	free(c);
}

/* ---- domains --------------------------------------------------------------------------------- */

static struct domain *domain_of(struct bond *b, const char *value)
{
	uint64_t hash = map_hash_string(value);
	struct domain *d = map_get(&b->by_value, hash, value);
	if (d)
		return d;
	d = mem_alloc(sizeof(*d));
	d->value = mem_strdup(value);
	d->place = b->ndomains;
	b->domain = mem_grow(b->domain, b->ndomains + 1, sizeof(struct domain *));
	b->domain[b->ndomains++] = d;
	map_put(&b->by_value, hash, d);
	return d;
}

static void domain_drop(struct bond *b, struct domain *d)
{
	must(d->pods == 0 && d->members == 0);
	map_take(&b->by_value, map_hash_string(d->value), d->value);
	b->domain[d->place] = b->domain[--b->ndomains];
	b->domain[d->place]->place = d->place;
	domain_free(d);
}

static void make_room(struct pod_affinity *c, size_t nslots)
{
	if (nslots <= c->nslots)
		return;
	for (size_t i = 0; i < c->nbonds; i++) {
		struct bond *b = &c->bond[i];
		b->stay = mem_grow(b->stay, nslots, sizeof(*b->stay));
		for (size_t s = c->nslots; s < nslots; s++)
			b->stay[s] = (struct stay){0};
	}
	c->nslots = nslots;
}

void pod_affinity_forget(struct pod_affinity *c, uint32_t slot)
{
	for (size_t i = 0; i < c->nbonds && slot < c->nslots; i++) {
		struct bond *b = &c->bond[i];
		struct stay *s = &b->stay[slot];
		struct domain *d = s->domain;
		if (!d)
			continue;
		b->least = -1;
		d->pods -= s->pods;
		d->members -= s->member;
		c->met -= b->kind == BOND_AFFINITY ? s->pods : 0;
		if (--d->nodes == 0)
			domain_drop(b, d);
		*s = (struct stay){0};
	}
}

/* Does spreading count the node? It must be in a domain of each constraint and, as far as the
 * policies ask, one on which the pod may run. */
static bool is_member(const struct pod_affinity *c, const struct bond *b, const struct node *node)
{
	const struct pod *p = c->pod;
	struct site site = node_site(node);
	for (size_t i = 0; i < p->nspread; i++)
		if (!node_label(node, p->spread[i].topology_key))
			return false;
	return (!b->spread->honor_affinity || filter_affinity(p, &site)) &&
	       (!b->spread->honor_taints || filter_taints(p, &site));
}

static void bond_count(
	struct pod_affinity *c, struct bond *b, const struct nodes *n, const struct node *node)
{
	const char *value = node_label(node, b->topology_key);
	struct stay *s = &b->stay[node->slot];
	if (!value)
		return;
	s->domain = domain_of(b, value);
	s->member = b->kind == BOND_SPREAD && is_member(c, b, node);
	s->pods = b->kind != BOND_SPREAD || s->member ? pods_of(c, b, n, node) : 0;
	b->least = -1;
	s->domain->nodes++;
	s->domain->members += s->member;
	s->domain->pods += s->pods;
	c->met += b->kind == BOND_AFFINITY ? s->pods : 0;
}

/* Counts made while no pod matched a bond stay right: a pod that matches changes its node. */
void pod_affinity_prepare(struct pod_affinity *c, const struct nodes *n)
{
	bool near = true;
	for (size_t i = 0; i < c->pod->naffinity; i++)
		near &= label_counts_may_meet(n, &c->pod->affinity[i].selector);
	for (size_t i = 0; i < c->nbonds; i++) {
		struct bond *b = &c->bond[i];
		switch (b->kind) {
		case BOND_AFFINITY:
			b->nobody = !near;
			break;
		case BOND_ANTI_AFFINITY:
			b->nobody = !label_counts_may_meet(n, &b->term->selector);
			break;
		case BOND_SPREAD:
			b->nobody = !label_counts_may_meet(n, &b->spread->selector);
		}
	}
}

void pod_affinity_count(struct pod_affinity *c, const struct nodes *n, const struct node *node)
{
	make_room(c, n->nslots);
	pod_affinity_forget(c, node->slot);
	for (size_t i = 0; i < c->nbonds && node->known; i++)
		bond_count(c, &c->bond[i], n, node);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static int64_t least_crowded(struct bond *b)
{
	int64_t least = INT64_MAX;
	int32_t domains = 0;
	if (b->least >= 0)
		return b->least;
	b->at_least = 0;
	for (size_t i = 0; i < b->ndomains; i++) {
		if (b->domain[i]->members == 0)
			continue;
		domains++;
		if (b->domain[i]->pods < least) {
			least = b->domain[i]->pods;
			b->at_least = 0;
		}
		b->at_least += b->domain[i]->pods == least;
	}
	b->least = least;
	if (domains < b->spread->min_domains || domains == 0)
		b->least = (int64_t)(b->at_least = 0);
	return b->least;
}

/* With an empty selector the pod counts itself as one. */
static enum obstacle spread_obstacle(struct bond *b, uint32_t slot)
{
	const struct spread_constraint *s = b->spread;
	const struct domain *d = b->stay[slot].domain;
	if (!d)
		return OBSTACLE_SPREAD_LABEL;
	return d->pods + b->meant - least_crowded(b) > s->max_skew ? OBSTACLE_SPREAD : OBSTACLES;
}

/* Such a pod is near for each term; or it is the first of its kind, and the node is in a domain of
 * each. */
static bool affinity_holds(const struct pod_affinity *c, uint32_t slot)
{
	bool near = true;
	for (size_t i = 0; i < c->pod->naffinity; i++) {
		const struct domain *d = c->bond[i].stay[slot].domain;
		if (!d)
			return false;
		near &= d->pods > 0;
	}
	return near || (c->met == 0 && c->fits_itself);
}

static bool anti_affinity_holds(const struct pod_affinity *c, uint32_t slot)
{
	const struct bond *b = c->bond + c->pod->naffinity;
	for (size_t i = 0; i < c->pod->nanti_affinity; i++)
		if (b[i].stay[slot].domain && b[i].stay[slot].domain->pods > 0)
			return false;
	return true;
}

enum obstacle pod_affinity_obstacle(struct pod_affinity *c, uint32_t slot)
{
	struct bond *spread = c->bond + c->pod->naffinity + c->pod->nanti_affinity;
	must(slot < c->nslots);
	for (size_t i = 0; i < c->pod->nspread; i++) {
		enum obstacle o = spread_obstacle(&spread[i], slot);
		if (o != OBSTACLES)
			return o;
	}
	if (!affinity_holds(c, slot))
		return OBSTACLE_AFFINITY;
	return anti_affinity_holds(c, slot) ? OBSTACLES : OBSTACLE_ANTI_AFFINITY;
}

/* A pod more in a least crowded domain leaves one domain less with so few. All are looked at again
 * only after the last of these. */
static void one_more(struct bond *b, const struct domain *d)
{
	if (b->least >= 0 && b->at_least > 0 && d->pods == b->least && --b->at_least == 0)
		b->least = -1;
}

void pod_affinity_place(struct pod_affinity *c, uint32_t slot, int pods)
{
	for (size_t i = 0; i < c->nbonds; i++) {
		struct bond *b = &c->bond[i];
		struct stay *s = &b->stay[slot];
		if (!s->domain || !b->counts_itself || (b->kind == BOND_SPREAD && !s->member))
			continue;
		if (pods == 1)
			one_more(b, s->domain);
		else
			b->least = -1;
		s->pods += pods;
		s->domain->pods += pods;
		c->met += b->kind == BOND_AFFINITY ? pods : 0;
	}
}

int64_t pod_affinity_crowd(const struct pod_affinity *c, uint32_t slot)
{
	const struct bond *spread = c->bond + c->pod->naffinity + c->pod->nanti_affinity;
	int64_t crowd = 0;
	for (size_t i = 0; i < c->pod->nspread; i++)
		crowd += spread[i].stay[slot].domain ? spread[i].stay[slot].domain->pods : 0;
	return crowd;
}
