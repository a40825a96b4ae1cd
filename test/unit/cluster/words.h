/*
 * Nodes and pods in one line each, for tests that are to read like rules.
 *
 *   node   "a +cpu=4 +pods=10 zone=x !gpu=yes:NoSchedule cordon"
 *          name, +allocatable, label, !taint, cordon. 10 cpu and 10 pods unless it says otherwise
 *   pod    "in=team app=web +cpu=2 @zone=x ~gpu=yes:NoSchedule ?zone:In:x,y&disk:Exists"
 *          in=NAMESPACE, label, +request, @node selector, ~toleration (~key:Effect is Exists, ~*
 *          all), ?a term of node affinity (several: or; #name:In:a is a field)
 *          near/KEY/SELECTOR, apart/KEY/SELECTOR, each also with /ns=a,b and /nsel=SELECTOR
 *          spread/KEY/SKEW/SELECTOR, also with /min=2 /affinity=Ignore /taints=Honor
 *          :8080 :53/UDP :80@10.0.0.1 are host ports; node=a, scheduler=x
 *   SELECTOR is requirements joined with &; "*" is an empty one, "-" none at all.
 */
#ifndef SLUICE_TEST_CLUSTER_WORDS_H
#define SLUICE_TEST_CLUSTER_WORDS_H

#include "queue/cluster/nodes.h"
#include "base/arena.h"

struct pod *words_pod(struct arena *a, const char *text);
struct node_spec *words_node(struct arena *a, const char *text);
/* With "|" between them: nodes, bound pods ("a <- app=web"), and terminating pods ("a !<-
 * app=web").
 */
void words_world(struct nodes *n, const char *text);

#endif
