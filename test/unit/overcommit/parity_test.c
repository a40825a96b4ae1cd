/*
 * What `sluice overcommit calc` says of a file is what the controller makes of the same facts:
 * overcommit_parity FILE... compares the estimates, term by term, of every node that has a sample.
 * They gather what they sum up in different ways (the controller remembers, calc does not).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cli/overcommit/account.h"
#include "controller/overcommit/inventory.h"

#define NOW INT64_C(1795255230000) /* 2026-11-21T10:00:30Z */

/* Facts out of files lack what an API server adds: uids, times of samples. */
static void complete(struct snapshot *s)
{
	for (size_t i = 0; i < s->npods; i++)
		memcpy(s->pod[i]->uid.byte, &i, sizeof(i));
	for (size_t i = 0; i < s->nusages; i++)
		if (s->usage[i].facts->at_ms == 0)
			s->usage[i].facts->at_ms = NOW;
}

static bool read_file(struct snapshot *s, const char *file)
{
	struct err e = {""};
	snapshot_init(s);
	if (snapshot_read(s, file, &e) < 0 || snapshot_close(s, &e) < 0)
		return false; /* those that are to be refused */
	complete(s);
	return true;
}

static void see_pods(struct inventory *v, const struct snapshot *s, bool as_running)
{
	for (size_t i = 0; i < s->npods; i++) {
		struct pod_facts f = *s->pod[i];
		if (as_running)
			f.phase = POD_RUNNING;
		inventory_see_pod(v, &f);
	}
}

/* As it comes to pass: pods run, are measured, end; then their node is measured. */
static struct inventory *remember(struct snapshot *s)
{
	struct inventory *v = inventory_new();
	for (size_t i = 0; i < s->nnodes; i++) {
		inventory_see_node(v, s->node[i].facts);
		s->node[i].facts = NULL;
	}
	see_pods(v, s, true);
	for (size_t i = 0; i < s->nusages; i++)
		if (s->usage[i].of_pod)
			inventory_sample_pod(v, s->usage[i].facts);
	see_pods(v, s, false);
	for (size_t i = 0; i < s->nusages; i++)
		if (!s->usage[i].of_pod)
			inventory_sample_node(v, s->usage[i].facts);
	return v;
}

static void print_terms(const char *whose, const struct estimate_terms *t)
{
	printf("  %s: base %lld margin %lld reserved %lld system %lld of %lld used %lld requested "
	       "%lld max %lld taken %lld result %lld\n",
		whose, (long long)t->base, (long long)t->margin, (long long)t->reserved,
		(long long)t->system, (long long)t->system_used, (long long)t->used,
		(long long)t->requested, (long long)t->max, (long long)t->taken,
		(long long)t->result);
}

static bool same_terms(const struct estimate_terms *a, const struct estimate_terms *b)
{
	return a->policy == b->policy && a->base == b->base && a->margin == b->margin &&
	       a->reserved == b->reserved && a->system_used == b->system_used &&
	       a->system == b->system && a->used == b->used && a->requested == b->requested &&
	       a->max == b->max && a->taken == b->taken && a->cap == b->cap &&
	       a->result == b->result;
}

static bool compare(const struct account *a, struct inventory_node *n)
{
	n->node_state.strategy = a->ruling.strategy;
	n->node_state.governed = true;
	node_state_make(n, NOW);
	const struct estimate *x = &a->estimate, *y = &n->node_state.estimate;
	bool same = n->node_state.has_estimate && same_terms(&x->cpu, &y->cpu) &&
		    same_terms(&x->memory, &y->memory) && x->high_pods == y->high_pods &&
		    x->low_pods == y->low_pods && x->without_sample == y->without_sample &&
		    memcmp(&a->batch_asked, &n->node_state.batch_asked, sizeof(struct load)) == 0 &&
		    memcmp(&a->gocran_asked, &n->node_state.gocran_asked, sizeof(struct load)) == 0;
	if (!same) {
		printf("Node %s differs:\n", a->node->name);
		print_terms("calc cpu", &x->cpu);
		print_terms("loan cpu", &y->cpu);
		print_terms("calc memory", &x->memory);
		print_terms("loan memory", &y->memory);
	}
	return same;
}

static int check_file(const char *file, size_t *compared)
{
	struct snapshot s, again;
	int bad = 0;
	bool good = read_file(&s, file) && read_file(&again, file);
	if (good) {
		struct inventory *v = remember(&again);
		for (size_t i = 0; i < s.nnodes; i++) {
			struct account a;
			account_make(&s, &s.node[i], NOW, NULL, true, &a);
			if (!a.has_sample || a.freshness == DEGRADED)
				continue;
			bad += !compare(&a, inventory_find(v, a.node->name));
			(*compared)++;
		}
		inventory_free(v);
		snapshot_done(&again);
	}
	snapshot_done(&s);
	if (bad)
		printf("in %s\n", file);
	return bad;
}

int main(int argc, char **argv)
{
	int bad = 0;
	size_t compared = 0;
	for (int i = 1; i < argc; i++)
		bad += check_file(argv[i], &compared);
	printf("%zu nodes compared, %d differ\n", compared, bad);
	return bad > 0 || compared < 10;
}
