#include "cluster/print.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/resources.h"

#define FEW 16

static void print_number(struct buf *b, int64_t n)
{
	buf_add(b, &n, sizeof(n));
}

/* With its end, so that no two texts run together. */
static void print_text(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}

static void print_labels(struct buf *b, const struct label *all, size_t n)
{
	print_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		print_text(b, all[i].key);
		print_text(b, all[i].value);
	}
}

static void print_selector(struct buf *b, const struct selector_term *t)
{
	print_number(b, (int64_t)t->nrequirements);
	for (size_t i = 0; i < t->nrequirements; i++) {
		const struct requirement *r = &t->requirements[i];
		print_text(b, r->key);
		print_number(b, r->op);
		print_number(b, (int64_t)r->nvalues);
		for (size_t v = 0; v < r->nvalues; v++)
			print_text(b, r->values[v]);
	}
}

typedef size_t (*pod_amounts)(const struct pod_resources *pod, struct resource *ret, size_t cap);

static void print_amounts(
	struct buf *b, pod_amounts amounts, const struct pod_resources *of, bool styles)
{
	struct resource few[FEW], *all = few;
	size_t n = amounts(of, few, FEW);
	if (n > FEW) {
		all = mem_array(n, sizeof(*all));
		amounts(of, all, n);
	}
	print_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		print_text(b, all[i].name);
		print_number(b, all[i].amount);
		if (styles)
			buf_putc(b, (char)all[i].style);
	}
	if (all != few)
		free(all);
}

static void print_requests(struct buf *b, const struct pod_resources *of)
{
	print_amounts(b, pod_requests, of, false);
}

static void print_ports(struct buf *b, const struct pod *p)
{
	print_number(b, (int64_t)p->nhost_ports);
	for (size_t i = 0; i < p->nhost_ports; i++) {
		print_text(b, p->host_ports[i].protocol);
		print_text(b, p->host_ports[i].ip);
		print_number(b, p->host_ports[i].port);
	}
}

void print_affinity_term(struct buf *b, const char *ns, const struct affinity_term *t)
{
	print_text(b, t->topology_key);
	print_number(b, t->has_selector);
	print_selector(b, &t->selector);
	print_number(b, t->has_namespace_selector);
	print_selector(b, &t->namespace_selector);
	print_number(b, (int64_t)t->nnamespaces);
	for (size_t i = 0; i < t->nnamespaces; i++)
		print_text(b, t->namespaces[i]);
	if (t->nnamespaces == 0 && !t->has_namespace_selector)
		print_text(b, ns);
}

static void print_terms(struct buf *b, const char *ns, const struct affinity_term *all, size_t n)
{
	print_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++)
		print_affinity_term(b, ns, &all[i]);
}

static void print_spread(struct buf *b, const struct pod *p)
{
	print_number(b, (int64_t)p->nspread);
	for (size_t i = 0; i < p->nspread; i++) {
		const struct spread_constraint *c = &p->spread[i];
		print_text(b, c->topology_key);
		print_number(b, c->max_skew);
		print_number(b, c->min_domains);
		print_number(b, c->has_selector);
		print_selector(b, &c->selector);
		print_number(b, c->honor_affinity);
		print_number(b, c->honor_taints);
	}
}

static void print_tolerations(struct buf *b, const struct pod *p)
{
	print_number(b, (int64_t)p->ntolerations);
	for (size_t i = 0; i < p->ntolerations; i++) {
		print_text(b, p->tolerations[i].key);
		print_text(b, p->tolerations[i].value);
		print_number(b, p->tolerations[i].op);
		print_number(b, p->tolerations[i].effect);
	}
}

static void print_node_terms(struct buf *b, const struct pod *p)
{
	print_number(b, p->has_terms);
	print_number(b, (int64_t)p->nterms);
	for (size_t i = 0; i < p->nterms; i++) {
		print_selector(b, &p->terms[i].labels);
		print_selector(b, &p->terms[i].fields);
	}
}

bool pod_is_sociable(const struct pod *p)
{
	return p->naffinity + p->nanti_affinity + p->nspread > 0;
}

void print_wanted(struct buf *b, const struct pod *p)
{
	print_text(b, p->node_name);
	print_labels(b, p->node_selector, p->nnode_selector);
	print_tolerations(b, p);
	print_node_terms(b, p);
	print_ports(b, p);
	print_requests(b, &p->resources);
	if (!pod_is_sociable(p))
		return;
	print_text(b, p->ns);
	print_labels(b, p->labels, p->nlabels);
	print_terms(b, p->ns, p->affinity, p->naffinity);
	print_terms(b, p->ns, p->anti_affinity, p->nanti_affinity);
	print_spread(b, p);
}

void print_bound(struct buf *b, const struct pod *p)
{
	print_text(b, p->ns);
	print_labels(b, p->labels, p->nlabels);
	print_ports(b, p);
	print_requests(b, &p->resources);
	print_terms(b, p->ns, p->anti_affinity, p->nanti_affinity);
}

/* A quota may want each container to say how much cpu and memory it may have, and names those that
 * do not. */
static void print_silence(struct buf *b, const struct container *c, size_t n)
{
	static const char *const asked[] = {"cpu", "memory"};
	for (size_t i = 0; i < n; i++) {
		int64_t said = 0;
		for (size_t k = 0; k < 2; k++)
			said = said << 2 | (resources_find(&c[i].requests, asked[k]) != NULL) << 1 |
			       (resources_find(&c[i].limits, asked[k]) != NULL);
		print_number(b, said);
		print_text(b, said == 15 || !c[i].name ? "" : c[i].name);
	}
	print_number(b, -1);
}

void print_counted(struct buf *b, const struct pod *p)
{
	print_silence(b, p->resources.containers, p->resources.ncontainers);
	print_silence(b, p->resources.init_containers, p->resources.ninit_containers);
	print_number(b, p->resources.has_pod_level);
	print_text(b, p->ns);
	print_amounts(b, pod_requests, &p->resources, true);
	print_amounts(b, pod_limits, &p->resources, true);
	print_number(b, pod_qos_class(p));
	print_number(b, p->terminating);
	print_number(b, p->crosses_namespaces);
	print_text(b, p->priority_class);
}
