#include "model.h"

#include <string.h>

const char *const model_spaces[3] = {"team", "other", "third"};

static const char *value_of(const struct label *all, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].key, key) == 0)
			return all[i].value;
	return NULL;
}

static const char *at(const struct node_spec *s, const char *key)
{
	return value_of(s->labels, s->nlabels, key);
}

static bool same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static int64_t amount(struct resource_list list, const char *name)
{
	for (size_t i = 0; i < list.count; i++)
		if (strcmp(list.item[i].name, name) == 0)
			return list.item[i].amount;
	return 0;
}

static bool fields_hold(const struct selector_term *f, const char *name)
{
	for (size_t i = 0; i < f->nrequirements; i++) {
		const struct requirement *r = &f->requirements[i];
		if ((strcmp(r->values[0], name) == 0) != (r->op == SELECTOR_IN))
			return false;
	}
	return true;
}

static bool may_go(const struct pod *p, const struct node_spec *s)
{
	bool any = p->nterms == 0;
	for (size_t i = 0; i < p->nnode_selector; i++)
		if (!same(at(s, p->node_selector[i].key), p->node_selector[i].value))
			return false;
	for (size_t i = 0; i < p->nterms; i++)
		any |= labels_match(s->labels, s->nlabels, &p->terms[i].labels) &&
		       fields_hold(&p->terms[i].fields, s->name);
	return any;
}

static bool tolerates(const struct pod *p, const struct taint *t)
{
	for (size_t i = 0; i < p->ntolerations; i++)
		if (toleration_covers(&p->tolerations[i], t))
			return true;
	return false;
}

static bool taints_pass(const struct pod *p, const struct node_spec *s, bool ever)
{
	for (size_t i = 0; i < s->ntaints; i++) {
		const struct taint *t = &s->taints[i];
		bool passes = t->effect == TAINT_PREFER_NO_SCHEDULE ||
			      (*p->node_name && t->effect != TAINT_NO_EXECUTE) ||
			      (ever && strncmp(t->key, "node.kubernetes.io/", 19) == 0);
		if (!passes && !tolerates(p, t))
			return false;
	}
	return true;
}

/* The pod, if it is bound to node i. */
static const struct pod *lives(const struct world *w, size_t pod, size_t i)
{
	return w->pod[pod].there && w->pod[pod].node == i ? w->pod[pod].pod : NULL;
}

/* The devices of the node are asked for it, and those are not known. */
static bool is_of_devices(const struct world *w, const char *resource, size_t node)
{
	bool any = false;
	if (strcmp(resource, GPU) != 0 || amount(w->node[node].spec->allocatable, GPU) > 0)
		return false;
	for (size_t i = 0; i < NODES; i++)
		any |= w->node[i].there && amount(w->node[i].spec->allocatable, GPU) > 0;
	return w->classes_unknown ? !any : w->gpu_class;
}

static bool has_room(const struct world *w, const struct pod *p, size_t node, bool empty)
{
	static const char *const names[] = {"cpu", GPU, "memory"};
	const struct node_spec *s = w->node[node].spec;
	int64_t there = 0;
	const struct pod *q;
	for (size_t i = 0; i < ALL; i++)
		there += !empty && lives(w, i, node);
	if (there + 1 > amount(s->allocatable, "pods"))
		return false;
	for (size_t r = 0; r < 3; r++) {
		int64_t asked = amount(p->resources.containers[0].requests, names[r]), used = 0;
		for (size_t i = 0; i < ALL && !empty; i++)
			if ((q = lives(w, i, node)))
				used += amount(q->resources.containers[0].requests, names[r]);
		if (asked > 0 && used + asked > amount(s->allocatable, names[r]) &&
			!is_of_devices(w, names[r], node))
			return false;
	}
	return true;
}

static bool ports_free(const struct world *w, const struct pod *p, size_t node)
{
	const struct pod *q;
	for (size_t i = 0; i < ALL; i++) {
		if (!(q = lives(w, i, node)))
			continue;
		for (size_t a = 0; a < p->nhost_ports; a++)
			for (size_t b = 0; b < q->nhost_ports; b++) {
				const struct host_port *x = &p->host_ports[a],
						       *y = &q->host_ports[b];
				bool ips = same(x->ip, "0.0.0.0") || same(y->ip, "0.0.0.0") ||
					   same(x->ip, y->ip);
				if (ips && x->port == y->port && same(x->protocol, y->protocol))
					return false;
			}
	}
	return true;
}

static bool means(
	const struct world *w, const struct affinity_term *t, const char *ns, const struct pod *q)
{
	bool covers = t->nnamespaces == 0 && !t->has_namespace_selector && same(ns, q->ns);
	for (size_t i = 0; i < t->nnamespaces; i++)
		covers |= same(t->namespaces[i], q->ns);
	for (size_t i = 0; i < 3 && t->has_namespace_selector; i++) {
		struct label tier = {"tier", w->tier[i]};
		if (same(model_spaces[i], q->ns))
			covers |= labels_match(&tier, w->tier[i] != NULL, &t->namespace_selector);
	}
	return covers && t->has_selector && labels_match(q->labels, q->nlabels, &t->selector);
}

static bool all_mean(const struct world *w, const struct pod *p, const struct pod *q)
{
	for (size_t i = 0; i < p->naffinity; i++)
		if (!means(w, &p->affinity[i], p->ns, q))
			return false;
	return true;
}

/* The label of the pod's node, which must be known. */
static const char *where(const struct world *w, size_t pod, const char *key)
{
	const struct m_node *n = &w->node[w->pod[pod].node];
	return n->there ? at(n->spec, key) : NULL;
}

static bool near_holds(const struct world *w, const struct pod *p, const struct node_spec *s)
{
	bool near = true, nobody = true;
	for (size_t t = 0; t < p->naffinity; t++) {
		const char *key = p->affinity[t].topology_key, *here = at(s, key);
		bool found = false;
		if (!here)
			return false;
		for (size_t i = 0; i < ALL; i++) {
			if (!w->pod[i].there || !all_mean(w, p, w->pod[i].pod))
				continue;
			nobody &= where(w, i, key) == NULL;
			found |= same(where(w, i, key), here);
		}
		near &= found;
	}
	return near || (nobody && all_mean(w, p, p));
}

static bool apart_holds(const struct world *w, const struct pod *p, const struct node_spec *s)
{
	for (size_t i = 0; i < ALL; i++) {
		const struct pod *q = w->pod[i].pod;
		if (!w->pod[i].there)
			continue;
		for (size_t t = 0; t < p->nanti_affinity; t++)
			if (means(w, &p->anti_affinity[t], p->ns, q) &&
				same(where(w, i, p->anti_affinity[t].topology_key),
					at(s, p->anti_affinity[t].topology_key)))
				return false;
		for (size_t t = 0; t < q->nanti_affinity; t++)
			if (means(w, &q->anti_affinity[t], q->ns, p) &&
				same(where(w, i, q->anti_affinity[t].topology_key),
					at(s, q->anti_affinity[t].topology_key)))
				return false;
	}
	return true;
}

static bool counted(
	const struct pod *p, const struct spread_constraint *c, const struct node_spec *s)
{
	for (size_t i = 0; i < p->nspread; i++)
		if (!at(s, p->spread[i].topology_key))
			return false;
	return (!c->honor_affinity || may_go(p, s)) &&
	       (!c->honor_taints || taints_pass(p, s, false));
}

static int64_t pods_in(const struct world *w, const struct pod *p,
	const struct spread_constraint *c, const char *domain)
{
	int64_t n = 0;
	for (size_t i = 0; i < ALL; i++) {
		const struct m_pod *q = &w->pod[i];
		n += q->there && !q->deleting && same(q->pod->ns, p->ns) && c->has_selector &&
		     c->selector.nrequirements > 0 && w->node[q->node].there &&
		     same(where(w, i, c->topology_key), domain) &&
		     counted(p, c, w->node[q->node].spec) &&
		     labels_match(q->pod->labels, q->pod->nlabels, &c->selector);
	}
	return n;
}

static int64_t least_in(
	const struct world *w, const struct pod *p, const struct spread_constraint *c)
{
	int64_t least = INT64_MAX;
	int32_t domains = 0;
	for (size_t i = 0; i < NODES; i++) {
		const struct node_spec *s = w->node[i].spec;
		bool again = false;
		if (!w->node[i].there || !counted(p, c, s))
			continue;
		for (size_t k = 0; k < i; k++)
			again |= w->node[k].there && counted(p, c, w->node[k].spec) &&
				 same(at(w->node[k].spec, c->topology_key), at(s, c->topology_key));
		domains += !again;
		int64_t here = pods_in(w, p, c, at(s, c->topology_key));
		least = here < least ? here : least;
	}
	return domains < c->min_domains ? 0 : least;
}

static bool spread_holds(const struct world *w, const struct pod *p, const struct node_spec *s)
{
	for (size_t i = 0; i < p->nspread; i++) {
		const struct spread_constraint *c = &p->spread[i];
		const char *domain = at(s, c->topology_key);
		if (!domain)
			return false;
		bool itself = c->has_selector && labels_match(p->labels, p->nlabels, &c->selector);
		if (pods_in(w, p, c, domain) + itself - least_in(w, p, c) > c->max_skew)
			return false;
	}
	return true;
}

bool model_fits_now(const struct world *w, const struct pod *p, size_t i)
{
	static const struct taint cordon = {
		"node.kubernetes.io/unschedulable", "", TAINT_NO_SCHEDULE};
	const struct node_spec *s = w->node[i].spec;
	if (!w->node[i].there || !may_go(p, s) || !taints_pass(p, s, false) ||
		!has_room(w, p, i, false) || !ports_free(w, p, i))
		return false;
	if (*p->node_name)
		return same(p->node_name, s->name);
	return (!s->unschedulable || tolerates(p, &cordon)) && spread_holds(w, p, s) &&
	       near_holds(w, p, s) && apart_holds(w, p, s);
}

bool model_fits_ever(const struct world *w, const struct pod *p, size_t i)
{
	const struct node_spec *s = w->node[i].spec;
	if (!w->node[i].there || !may_go(p, s) || !taints_pass(p, s, true) ||
		!has_room(w, p, i, true) || (*p->node_name && !same(p->node_name, s->name)))
		return false;
	for (size_t k = 0; k < p->nspread; k++)
		if (!at(s, p->spread[k].topology_key))
			return false;
	for (size_t k = 0; k < p->naffinity; k++)
		if (!at(s, p->affinity[k].topology_key))
			return false;
	return true;
}

bool model_reaches(struct world *w, struct pod *p, int32_t placed, int32_t wanted)
{
	bool stuck = true;
	for (size_t i = 0; i < NODES && placed < ENOUGH; i++) {
		if (!model_fits_now(w, p, i))
			continue;
		stuck = false;
		if (placed == wanted)
			return false;
		w->pod[PODS + PUT + placed] = (struct m_pod){.there = true, .node = i, .pod = p};
		bool found = model_reaches(w, p, placed + 1, wanted);
		w->pod[PODS + PUT + placed].there = false;
		if (found)
			return true;
	}
	return stuck && placed == wanted;
}

bool model_over_full(const struct world *w, const struct m_pod *p)
{
	static const char *const names[] = {"cpu", GPU, "memory"};
	const struct node_spec *s = w->node[p->node].spec;
	int64_t used[3] = {0}, pods = 0;
	bool over = false;
	for (size_t i = 0; i < PODS + PUT; i++) {
		const struct pod *q = lives(w, i, p->node);
		for (size_t r = 0; q && r < 3; r++)
			used[r] += amount(q->resources.containers[0].requests, names[r]);
		pods += q != NULL;
	}
	for (size_t r = 0; r < 3; r++)
		over |= amount(p->pod->resources.containers[0].requests, names[r]) > 0 &&
			used[r] > amount(s->allocatable, names[r]) &&
			!is_of_devices(w, names[r], p->node);
	return over || pods > amount(s->allocatable, "pods");
}
