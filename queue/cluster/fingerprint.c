#include "queue/cluster/fingerprint.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/job/resources.h"

#define FEW 16

static void fingerprint_number(struct buf *b, int64_t n)
{
	buf_add(b, &n, sizeof(n));
}

/* With its terminating 0, so that no two texts run together. */
static void fingerprint_text(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}

static void fingerprint_labels(struct buf *b, const struct label *all, size_t n)
{
	fingerprint_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		fingerprint_text(b, all[i].key);
		fingerprint_text(b, all[i].value);
	}
}

static void fingerprint_selector(struct buf *b, const struct selector_term *t)
{
	fingerprint_number(b, (int64_t)t->nrequirements);
	for (size_t i = 0; i < t->nrequirements; i++) {
		const struct requirement *r = &t->requirements[i];
		fingerprint_text(b, r->key);
		fingerprint_number(b, r->op);
		fingerprint_number(b, (int64_t)r->nvalues);
		for (size_t v = 0; v < r->nvalues; v++)
			fingerprint_text(b, r->values[v]);
	}
}

typedef size_t (*pod_amounts)(const struct pod_resources *pod, struct resource *ret, size_t cap);

static void fingerprint_amounts(
	struct buf *b, pod_amounts amounts, const struct pod_resources *of, bool styles)
{
	struct resource few[FEW], *all = few;
	size_t n = amounts(of, few, FEW);
	if (n > FEW) {
		all = mem_array(n, sizeof(*all));
		amounts(of, all, n);
	}
	fingerprint_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		fingerprint_text(b, all[i].name);
		fingerprint_number(b, all[i].amount);
		if (styles)
			buf_putc(b, (char)all[i].style);
	}
	if (all != few)
		free(all);
}

static void fingerprint_requests(struct buf *b, const struct pod_resources *of)
{
	fingerprint_amounts(b, pod_requests, of, false);
}

static void fingerprint_ports(struct buf *b, const struct pod *p)
{
	fingerprint_number(b, (int64_t)p->nhost_ports);
	for (size_t i = 0; i < p->nhost_ports; i++) {
		fingerprint_text(b, p->host_ports[i].protocol);
		fingerprint_text(b, p->host_ports[i].ip);
		fingerprint_number(b, p->host_ports[i].port);
	}
}

void fingerprint_affinity_term(struct buf *b, const char *ns, const struct affinity_term *t)
{
	fingerprint_text(b, t->topology_key);
	fingerprint_number(b, t->has_selector);
	fingerprint_selector(b, &t->selector);
	fingerprint_number(b, t->has_namespace_selector);
	fingerprint_selector(b, &t->namespace_selector);
	fingerprint_number(b, (int64_t)t->nnamespaces);
	for (size_t i = 0; i < t->nnamespaces; i++)
		fingerprint_text(b, t->namespaces[i]);
	if (t->nnamespaces == 0 && !t->has_namespace_selector)
		fingerprint_text(b, ns);
}

static void fingerprint_terms(
	struct buf *b, const char *ns, const struct affinity_term *all, size_t n)
{
	fingerprint_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++)
		fingerprint_affinity_term(b, ns, &all[i]);
}

static void fingerprint_spread(struct buf *b, const struct pod *p)
{
	fingerprint_number(b, (int64_t)p->nspread);
	for (size_t i = 0; i < p->nspread; i++) {
		const struct spread_constraint *c = &p->spread[i];
		fingerprint_text(b, c->topology_key);
		fingerprint_number(b, c->max_skew);
		fingerprint_number(b, c->min_domains);
		fingerprint_number(b, c->has_selector);
		fingerprint_selector(b, &c->selector);
		fingerprint_number(b, c->honor_affinity);
		fingerprint_number(b, c->honor_taints);
	}
}

static void fingerprint_tolerations(struct buf *b, const struct pod *p)
{
	fingerprint_number(b, (int64_t)p->ntolerations);
	for (size_t i = 0; i < p->ntolerations; i++) {
		fingerprint_text(b, p->tolerations[i].key);
		fingerprint_text(b, p->tolerations[i].value);
		fingerprint_number(b, p->tolerations[i].op);
		fingerprint_number(b, p->tolerations[i].effect);
	}
}

static void fingerprint_node_terms(struct buf *b, const struct pod *p)
{
	fingerprint_number(b, p->has_terms);
	fingerprint_number(b, (int64_t)p->nterms);
	for (size_t i = 0; i < p->nterms; i++) {
		fingerprint_selector(b, &p->terms[i].labels);
		fingerprint_selector(b, &p->terms[i].fields);
	}
}

bool pod_is_sociable(const struct pod *p)
{
	return p->naffinity + p->nanti_affinity + p->nspread > 0;
}

void fingerprint_wanted(struct buf *b, const struct pod *p)
{
	fingerprint_text(b, p->node_name);
	fingerprint_labels(b, p->node_selector, p->nnode_selector);
	fingerprint_tolerations(b, p);
	fingerprint_node_terms(b, p);
	fingerprint_ports(b, p);
	fingerprint_requests(b, &p->resources);
	if (!pod_is_sociable(p))
		return;
	fingerprint_text(b, p->ns);
	fingerprint_labels(b, p->labels, p->nlabels);
	fingerprint_terms(b, p->ns, p->affinity, p->naffinity);
	fingerprint_terms(b, p->ns, p->anti_affinity, p->nanti_affinity);
	fingerprint_spread(b, p);
}

void fingerprint_bound(struct buf *b, const struct pod *p)
{
	fingerprint_text(b, p->ns);
	fingerprint_labels(b, p->labels, p->nlabels);
	fingerprint_ports(b, p);
	fingerprint_requests(b, &p->resources);
	fingerprint_terms(b, p->ns, p->anti_affinity, p->nanti_affinity);
}

/* A quota may require limits of each container, and its refusal names the containers without. */
static void fingerprint_silence(struct buf *b, const struct container *c, size_t n)
{
	static const char *const asked[] = {"cpu", "memory"};
	for (size_t i = 0; i < n; i++) {
		int64_t said = 0;
		for (size_t k = 0; k < 2; k++)
			said = said << 2 | (resources_find(&c[i].requests, asked[k]) != NULL) << 1 |
			       (resources_find(&c[i].limits, asked[k]) != NULL);
		fingerprint_number(b, said);
		fingerprint_text(b, said == 15 || !c[i].name ? "" : c[i].name);
	}
	fingerprint_number(b, -1);
}

void fingerprint_counted(struct buf *b, const struct pod *p)
{
	fingerprint_silence(b, p->resources.containers, p->resources.ncontainers);
	fingerprint_silence(b, p->resources.init_containers, p->resources.ninit_containers);
	fingerprint_number(b, p->resources.has_pod_level);
	fingerprint_text(b, p->ns);
	fingerprint_amounts(b, pod_requests, &p->resources, true);
	fingerprint_amounts(b, pod_limits, &p->resources, true);
	fingerprint_number(b, pod_qos_class(p));
	fingerprint_number(b, p->terminating);
	fingerprint_number(b, p->crosses_namespaces);
	fingerprint_text(b, p->priority_class);
}
