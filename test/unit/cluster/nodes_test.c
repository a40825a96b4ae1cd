/* Nodes and pods, by the rules of kube-scheduler and in its words: one table for each filter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "queue/cluster/nodes_priv.h"
#include "words.h"

#define TAINTS "node(s) had untolerated taint(s)"
#define AFFINITY "node(s) didn't match Pod's node affinity/selector"
#define SPREAD "node(s) didn't match pod topology spread constraints"

struct row {
	const char *world, *pod;
	enum fit fit;
	const char *sentence; /* without "0/N nodes are available: "; NULL for FIT_NOW */
};

static const char *const fit_words[] = {"NEVER", "NOT_NOW", "NOW"};

static void check_answer(const struct row *r, const struct fit_answer *got)
{
	const char *said = strstr(got->sentence, "available: ");
	said = said ? said + strlen("available: ") : got->sentence;
	if (got->fit != r->fit || strcmp(said, r->sentence ? r->sentence : "") != 0)
		fail_msg("nodes %s\npod %s\nwants %s \"%s\"\nis    %s \"%s\"", r->world, r->pod,
			fit_words[r->fit], r->sentence ? r->sentence : "", fit_words[got->fit],
			got->sentence);
}

static void check_table(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct nodes *nodes = nodes_new();
		struct arena a = {0};
		struct fit_answer got;
		struct label prod = {"tier", "prod"};
		nodes_set_namespace(nodes, "team", &prod, 1);
		nodes_set_namespace(nodes, "other", NULL, 0);
		words_world(nodes, rows[i].world);
		struct pod *p = words_pod(&a, rows[i].pod);
		nodes_fit(nodes, p, &got);
		check_answer(&rows[i], &got);
		int32_t room = nodes_room(nodes, p, 1);
		if ((room == 1) != (got.fit == FIT_NOW))
			fail_msg("%s | %s: room for %d", rows[i].world, rows[i].pod, (int)room);
		arena_done(&a);
		nodes_free(nodes);
	}
}

#define CHECK(rows) check_table(rows, sizeof(rows) / sizeof(*(rows)))

static void resources_and_number_of_pods(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"a", "", FIT_NOW, NULL},
		{"a", "+cpu=10", FIT_NOW, NULL},
		{"a", "+cpu=10001m", FIT_NEVER, "1 Insufficient cpu"},
		{"a|b +cpu=20", "+cpu=11", FIT_NOW, NULL},
		{"a|a <- +cpu=4", "+cpu=6", FIT_NOW, NULL},
		{"a|a <- +cpu=4", "+cpu=7", FIT_NOT_NOW, "1 Insufficient cpu"},
		{"a|a <- +cpu=4|b +cpu=5", "+cpu=7", FIT_NOT_NOW, "2 Insufficient cpu"},
		/* All shortages of a node are told; full nodes count though others never could. */
		{"a|a <- +cpu=4", "+cpu=7 +memory=1Gi", FIT_NEVER, "1 Insufficient memory"},
		{"a +memory=1Gi|a <- +cpu=4 +memory=1Gi", "+cpu=7 +memory=1Gi", FIT_NOT_NOW,
			"1 Insufficient cpu, 1 Insufficient memory"},
		{"a", "+nvidia.com/gpu=1", FIT_NEVER, "1 Insufficient nvidia.com/gpu"},
		{"a +nvidia.com/gpu=2", "+nvidia.com/gpu=2", FIT_NOW, NULL},
		{"a +nvidia.com/gpu=2|a <- +nvidia.com/gpu=1", "+nvidia.com/gpu=2", FIT_NOT_NOW,
			"1 Insufficient nvidia.com/gpu"},
		{"a", "+nvidia.com/gpu=0", FIT_NOW, NULL}, /* asks for none */
		{"a +ephemeral-storage=1Gi", "+ephemeral-storage=2Gi", FIT_NEVER,
			"1 Insufficient ephemeral-storage"},
		{"a +pods=1", "", FIT_NOW, NULL},
		{"a +pods=1|a <-", "", FIT_NOT_NOW, "1 Too many pods"},
		{"a +pods=1|a <- +cpu=10", "+cpu=1", FIT_NOT_NOW,
			"1 Insufficient cpu, 1 Too many pods"},
		{"a +pods=0", "", FIT_NEVER, "1 Too many pods"},
		{"a|a <- +cpu=11", "", FIT_NOW, NULL}, /* over-full, and asked for nothing */
		{"", "", FIT_NEVER, "no nodes available to schedule pods"},
		{"b <- +cpu=1", "", FIT_NEVER, "no nodes available to schedule pods"},
		/* A pod that was bound before its node was known. */
		{"a <- +cpu=4|a", "+cpu=7", FIT_NOT_NOW, "1 Insufficient cpu"},
		{"a <- +x.io/y=1|a +x.io/y=1", "+x.io/y=1", FIT_NOT_NOW, "1 Insufficient x.io/y"},
	};
	CHECK(rows);
}

static void taints_and_tolerations(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"a !gpu=yes:NoSchedule", "", FIT_NEVER, "1 " TAINTS},
		{"a !gpu=yes:NoExecute", "", FIT_NEVER, "1 " TAINTS},
		{"a !gpu=yes:PreferNoSchedule", "", FIT_NOW, NULL},
		{"a !gpu=yes:NoSchedule", "~gpu=yes:NoSchedule", FIT_NOW, NULL},
		{"a !gpu=yes:NoSchedule", "~gpu=yes", FIT_NOW, NULL}, /* every effect */
		{"a !gpu=yes:NoSchedule", "~gpu=no:NoSchedule", FIT_NEVER, "1 " TAINTS},
		{"a !gpu=yes:NoSchedule", "~gpu=yes:NoExecute", FIT_NEVER, "1 " TAINTS},
		{"a !gpu=yes:NoSchedule", "~gpu:NoSchedule", FIT_NOW, NULL}, /* Exists */
		{"a !gpu=yes:NoSchedule", "~other", FIT_NEVER, "1 " TAINTS},
		{"a !gpu=yes:NoSchedule", "~*", FIT_NOW, NULL},
		{"a !gpu=yes:NoSchedule", "~*:NoExecute", FIT_NEVER, "1 " TAINTS},
		{"a !gpu=yes:NoSchedule !gpu=yes:NoExecute", "~gpu:NoSchedule", FIT_NEVER,
			"1 " TAINTS},
		{"a !gpu=yes:NoSchedule|b", "", FIT_NOW, NULL},
		/* Too small and tainted: the taint is asked first. */
		{"a !gpu=yes:NoSchedule", "+cpu=11", FIT_NEVER, "1 " TAINTS},
		/* Taints of a node's condition pass. */
		{"a !node.kubernetes.io/not-ready:NoSchedule", "", FIT_NOT_NOW, "1 " TAINTS},
		{"a !node.kubernetes.io/memory-pressure:NoSchedule", "+cpu=11", FIT_NEVER,
			"1 Insufficient cpu"},
	};
	CHECK(rows);
}

static void cordons(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"a cordon", "", FIT_NOT_NOW, "1 node(s) were unschedulable"},
		{"a cordon", "+cpu=11", FIT_NEVER, "1 Insufficient cpu"},
		{"a cordon", "~node.kubernetes.io/unschedulable", FIT_NOW, NULL},
		{"a cordon", "~node.kubernetes.io/unschedulable:NoSchedule", FIT_NOW, NULL},
		{"a cordon", "~*", FIT_NOW, NULL},
		{"a cordon !gpu=yes:NoSchedule|b +cpu=1", "+cpu=2", FIT_NEVER,
			"1 Insufficient cpu, 1 " TAINTS},
		{"a cordon !node.kubernetes.io/unschedulable:NoSchedule|b|b <- +cpu=9", "+cpu=2",
			FIT_NOT_NOW, "1 Insufficient cpu, 1 node(s) were unschedulable"},
	};
	CHECK(rows);
}

static void node_selectors_and_affinity(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"a zone=x", "@zone=x", FIT_NOW, NULL},
		{"a zone=x", "@zone=y", FIT_NEVER, "1 " AFFINITY},
		{"a", "@zone=x", FIT_NEVER, "1 " AFFINITY},
		{"a zone=x|b zone=x disk=ssd", "@zone=x @disk=ssd", FIT_NOW, NULL},
		{"a zone=x|b disk=ssd", "@zone=x @disk=ssd", FIT_NEVER, "2 " AFFINITY},
		{"a zone=x", "?zone:In:w,x", FIT_NOW, NULL},
		{"a zone=x", "?zone:In:w", FIT_NEVER, "1 " AFFINITY},
		{"a", "?zone:In:w", FIT_NEVER, "1 " AFFINITY},
		{"a zone=x", "?zone:NotIn:w", FIT_NOW, NULL},
		{"a zone=x", "?zone:NotIn:w,x", FIT_NEVER, "1 " AFFINITY},
		{"a", "?zone:NotIn:w", FIT_NOW, NULL},
		{"a zone=x", "?zone:Exists", FIT_NOW, NULL},
		{"a", "?zone:Exists", FIT_NEVER, "1 " AFFINITY},
		{"a", "?zone:DoesNotExist", FIT_NOW, NULL},
		{"a zone=x", "?zone:DoesNotExist", FIT_NEVER, "1 " AFFINITY},
		{"a gen=7", "?gen:Gt:6", FIT_NOW, NULL},
		{"a gen=7", "?gen:Gt:7", FIT_NEVER, "1 " AFFINITY},
		{"a gen=7", "?gen:Lt:8", FIT_NOW, NULL},
		{"a gen=7", "?gen:Lt:7", FIT_NEVER, "1 " AFFINITY},
		{"a gen=10", "?gen:Gt:9", FIT_NOW, NULL}, /* as numbers, not as text */
		{"a gen=x", "?gen:Gt:1", FIT_NEVER, "1 " AFFINITY},
		{"a", "?gen:Lt:8", FIT_NEVER, "1 " AFFINITY},
		/* All parts of a term, one of the terms. */
		{"a zone=x", "?zone:In:x&disk:Exists", FIT_NEVER, "1 " AFFINITY},
		{"a zone=x", "?disk:Exists ?zone:In:x", FIT_NOW, NULL},
		{"a zone=x", "@disk=ssd ?zone:In:x", FIT_NEVER, "1 " AFFINITY},
		{"a zone=x", "?*", FIT_NEVER, "1 " AFFINITY}, /* an empty term: nothing */
		{"a zone=x", "?* ?zone:In:x", FIT_NOW, NULL},
	};
	CHECK(rows);
}

#define OUTSIDE "node(s) didn't satisfy plugin(s) [NodeAffinity]"

static void fields_and_names(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"a|b", "?#name:In:b", FIT_NOW, NULL},
		{"a|b", "?#name:In:c", FIT_NEVER, "2 " OUTSIDE},
		{"a|b", "?#name:NotIn:a", FIT_NOW, NULL},
		{"a", "?#name:NotIn:a", FIT_NEVER, "1 " AFFINITY},
		{"a zone=x|b", "?#name:In:b&zone:In:x", FIT_NEVER, "1 " AFFINITY ", 1 " OUTSIDE},
		{"a zone=x|b", "?#name:In:a&zone:In:x", FIT_NOW, NULL},
		{"a|b", "?#name:In:a&#name:In:b", FIT_NEVER, "pod affinity terms conflict"},
		{"a|b zone=x", "?#name:In:c ?zone:In:x", FIT_NOW, NULL},
		{"a !k=v:NoSchedule|b", "?#name:In:a", FIT_NEVER, "1 " OUTSIDE ", 1 " TAINTS},
		/* Two nodes of one shape differ by name and hostname. */
		{"a kubernetes.io/hostname=a|b kubernetes.io/hostname=b",
			"@kubernetes.io/hostname=b", FIT_NOW, NULL},
		{"a kubernetes.io/hostname=a|b kubernetes.io/hostname=b",
			"?kubernetes.io/hostname:NotIn:a,b", FIT_NEVER, "2 " AFFINITY},
		{"a kubernetes.io/hostname=a|b kubernetes.io/hostname=b|b <- +cpu=9",
			"+cpu=2 @kubernetes.io/hostname=b", FIT_NOT_NOW,
			"1 Insufficient cpu, 1 " AFFINITY},
		/* nodeName asks no scheduler: cordons and NoSchedule do not count. */
		{"a|b", "node=b", FIT_NOW, NULL},
		{"a", "node=b", FIT_NEVER, "1 node(s) didn't match the requested node name"},
		{"a cordon !k=v:NoSchedule", "node=a", FIT_NOW, NULL},
		{"a !k=v:NoExecute", "node=a", FIT_NEVER, "1 " TAINTS},
		{"a|a <- +cpu=9", "node=a +cpu=2", FIT_NOT_NOW, "1 Insufficient cpu"},
		{"a|a <- app=web apart/zone/app:Exists", "node=a app=web", FIT_NOW, NULL},
		/* Of other schedulers nothing is known. */
		{"a", "scheduler=mine +cpu=11", FIT_NOW, NULL},
	};
	CHECK(rows);
}

#define PORTS "1 node(s) didn't have free ports for the requested pod ports"

static void host_ports(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"a|a <- :80", ":81", FIT_NOW, NULL}, {"a|a <- :80", ":80", FIT_NOT_NOW, PORTS},
		{"a|a <- :80", ":79 :80", FIT_NOT_NOW, PORTS},
		{"a|a <- :80", ":80/UDP", FIT_NOW, NULL},
		{"a|a <- :80@10.0.0.1", ":80@10.0.0.2", FIT_NOW, NULL},
		{"a|a <- :80@10.0.0.1", ":80@10.0.0.1", FIT_NOT_NOW, PORTS},
		{"a|a <- :80@10.0.0.1", ":80", FIT_NOT_NOW, PORTS},
		{"a|a <- :80", ":80@10.0.0.1", FIT_NOT_NOW, PORTS},
		{"a|a <- :80|b", ":80", FIT_NOW, NULL},
		{"a|a !<- :80", ":80", FIT_NOT_NOW, PORTS}, /* until it is gone */
	};
	CHECK(rows);
}

#define NEAR "node(s) didn't match pod affinity rules"
#define APART "node(s) didn't match pod anti-affinity rules"
#define OTHERS "node(s) didn't satisfy existing pods anti-affinity rules"

static void affinity_to_pods(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"a zone=x|b zone=x|a <- app=db", "near/zone/app:In:db", FIT_NOW, NULL},
		{"a zone=x|b zone=y +cpu=20|a <- app=db", "+cpu=11 near/zone/app:In:db",
			FIT_NOT_NOW, "1 Insufficient cpu, 1 " NEAR},
		/* The pod it wants to be near may yet come. */
		{"a zone=x", "near/zone/app:In:db", FIT_NOT_NOW, "1 " NEAR},
		{"a", "near/zone/app:In:db", FIT_NEVER, "1 " NEAR}, /* of no zone at all */
		{"a zone=x|c|c <- app=db", "near/zone/app:In:db", FIT_NOT_NOW, "2 " NEAR},
		/* The first of its kind. */
		{"a zone=x", "app=db near/zone/app:In:db", FIT_NOW, NULL},
		{"a zone=x|a <- app=db|b zone=y", "+cpu=11 app=db near/zone/app:In:db", FIT_NEVER,
			"2 Insufficient cpu"},
		{"a zone=x|a <- app=db +cpu=9|b zone=y", "+cpu=2 app=db near/zone/app:In:db",
			FIT_NOT_NOW, "1 Insufficient cpu, 1 " NEAR},
		/* One pod must match all terms. */
		{"a zone=x|a <- app=db|a <- disk=ssd", "near/zone/app:In:db near/zone/disk:Exists",
			FIT_NOT_NOW, "1 " NEAR},
		{"a zone=x|a <- app=db disk=ssd", "near/zone/app:In:db near/zone/disk:Exists",
			FIT_NOW, NULL},
		{"a zone=x|a <- app=db", "near/zone/-", FIT_NOT_NOW, "1 " NEAR},
		{"a zone=x|a <- app=db", "near/zone/*", FIT_NOW, NULL},
		{"a zone=x|a !<- app=db", "near/zone/app:In:db", FIT_NOW, NULL},
		/* Namespaces: its own, those named, those selected. */
		{"a zone=x|a <- in=other app=db", "near/zone/app:In:db", FIT_NOT_NOW, "1 " NEAR},
		{"a zone=x|a <- in=other app=db", "near/zone/app:In:db/ns=other", FIT_NOW, NULL},
		{"a zone=x|a <- app=db", "near/zone/app:In:db/ns=other", FIT_NOT_NOW, "1 " NEAR},
		{"a zone=x|a <- app=db", "in=other near/zone/app:In:db/nsel=tier:In:prod", FIT_NOW,
			NULL},
		{"a zone=x|a <- in=other app=db", "near/zone/app:In:db/nsel=tier:In:prod",
			FIT_NOT_NOW, "1 " NEAR},
		{"a zone=x|a <- in=other app=db", "near/zone/app:In:db/nsel=*", FIT_NOW, NULL},
		/* A selector that would match no labels covers no namespace that has them: in terms
		 * of the new pod as in those of present pods. */
		{"a zone=x|a <- app=db", "near/zone/app:In:db/nsel=tier:DoesNotExist", FIT_NOT_NOW,
			"1 " NEAR},
		{"a zone=x|a <- in=other app=db", "near/zone/app:In:db/nsel=tier:DoesNotExist",
			FIT_NOW, NULL},
		{"a zone=x|a <- app=db", "apart/zone/app:In:db/nsel=tier:DoesNotExist", FIT_NOW,
			NULL},
		{"a zone=x|a <- apart/zone/app:In:db/nsel=tier:DoesNotExist", "app=db", FIT_NOW,
			NULL},
		{"a zone=x|a <- in=other app=db", "near/zone/app:In:db/ns=other/nsel=tier:In:prod",
			FIT_NOW, NULL},
	};
	CHECK(rows);
}

static void anti_affinity(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"a zone=x|a <- app=db", "apart/zone/app:In:db", FIT_NOT_NOW, "1 " APART},
		{"a zone=x|b zone=x|a <- app=db", "apart/zone/app:In:db", FIT_NOT_NOW, "2 " APART},
		{"a zone=x|b zone=y|a <- app=db", "apart/zone/app:In:db", FIT_NOW, NULL},
		{"a|a <- app=db", "apart/zone/app:In:db", FIT_NOW, NULL}, /* of no zone */
		{"a zone=x|a <- app=db", "apart/zone/app:In:web", FIT_NOW, NULL},
		{"a zone=x|a <- app=db", "apart/zone/-", FIT_NOW, NULL},
		{"a zone=x|a <- in=other app=db", "apart/zone/app:In:db", FIT_NOW, NULL},
		{"a zone=x|a <- in=other app=db", "apart/zone/app:In:db/nsel=*", FIT_NOT_NOW,
			"1 " APART},
		{"a zone=x disk=1|a <- app=db", "apart/disk/app:In:db apart/zone/app:In:web",
			FIT_NOT_NOW, "1 " APART},
		/* Anti-affinity of present pods. */
		{"a zone=x|a <- apart/zone/app:In:db", "app=db", FIT_NOT_NOW, "1 " OTHERS},
		{"a zone=x|b zone=x|a <- apart/zone/app:In:db", "app=db", FIT_NOT_NOW, "2 " OTHERS},
		{"a zone=x|b zone=y|a <- apart/zone/app:In:db", "app=db", FIT_NOW, NULL},
		{"a zone=x|a <- apart/zone/app:In:db", "app=web", FIT_NOW, NULL},
		{"a zone=x|a <- apart/zone/app:In:db", "in=other app=db", FIT_NOW, NULL},
		{"a zone=x|a <- apart/zone/app:In:db/ns=other", "in=other app=db", FIT_NOT_NOW,
			"1 " OTHERS},
		{"a zone=x|a <- in=other apart/zone/app:In:db/nsel=tier:In:prod", "app=db",
			FIT_NOT_NOW, "1 " OTHERS},
		{"a|a <- apart/zone/app:In:db", "app=db", FIT_NOW, NULL},
		{"a zone=x|a <- apart/zone/app:In:db", "node=a app=db", FIT_NOW, NULL},
		/* Both: its own is asked first. */
		{"a zone=x|a <- app=db apart/zone/app:In:db", "app=db apart/zone/app:In:db",
			FIT_NOT_NOW, "1 " APART},
		{"a zone=x|a <- apart/zone/app:In:db", "app=db near/zone/app:In:db", FIT_NOT_NOW,
			"1 " OTHERS},
	};
	CHECK(rows);
}

static void topology_spread(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"a zone=x|b zone=y", "app=w spread/zone/1/app:In:w", FIT_NOW, NULL},
		{"a zone=x|b zone=y|a <- app=w", "app=w spread/zone/1/app:In:w", FIT_NOW, NULL},
		{"a zone=x|b zone=y|a <- app=w|b <- +cpu=9", "+cpu=2 app=w spread/zone/1/app:In:w",
			FIT_NOT_NOW, "1 Insufficient cpu, 1 " SPREAD},
		{"a zone=x|b zone=y|a <- app=w|b <- +cpu=9", "+cpu=2 app=w spread/zone/2/app:In:w",
			FIT_NOW, NULL},
		{"a", "app=w spread/zone/1/app:In:w", FIT_NEVER,
			"1 " SPREAD " (missing required label)"},
		{"a|b zone=x|b <- +cpu=9", "+cpu=2 app=w spread/zone/1/app:In:w", FIT_NOT_NOW,
			"1 Insufficient cpu, 1 " SPREAD " (missing required label)"},
		/* A pod that the selector does not match adds nothing to its domain. */
		{"a zone=x|b zone=y|a <- app=w|b <- +cpu=9", "+cpu=2 spread/zone/1/app:In:w",
			FIT_NOW, NULL},
		{"a zone=x|b zone=y|a <- app=w|a <- app=w|b <- +cpu=9",
			"+cpu=2 spread/zone/1/app:In:w", FIT_NOT_NOW,
			"1 Insufficient cpu, 1 " SPREAD},
		/* Deleted ones, and those of other namespaces, are not counted. */
		{"a zone=x|b zone=y|a !<- app=w|b <- +cpu=9", "+cpu=2 app=w spread/zone/1/app:In:w",
			FIT_NOW, NULL},
		{"a zone=x|b zone=y|a <- in=other app=w|b <- +cpu=9",
			"+cpu=2 app=w spread/zone/1/app:In:w", FIT_NOW, NULL},
		/* An empty selector counts no other pods; no selector not even the pod itself. */
		{"a zone=x|b zone=y|a <- app=w|a <- app=w|b <- +cpu=9", "+cpu=2 spread/zone/1/*",
			FIT_NOW, NULL},
		{"a zone=x|b zone=y|a <- app=w|a <- app=w|b <- +cpu=9", "+cpu=2 spread/zone/1/-",
			FIT_NOW, NULL},
		/* minDomains: while there are fewer, the least counts as 0. */
		{"a zone=x|a <- app=w", "app=w spread/zone/1/app:In:w", FIT_NOW, NULL},
		{"a zone=x|a <- app=w", "app=w spread/zone/1/app:In:w/min=2", FIT_NOT_NOW,
			"1 " SPREAD},
		{"a zone=x|b zone=y|a <- app=w|b <- app=w", "app=w spread/zone/1/app:In:w/min=2",
			FIT_NOW, NULL},
		/* nodeAffinityPolicy Honor: nodes where it may not run are in no domain. */
		{"a zone=x d=1|b zone=y|a <- app=w", "app=w @d=1 spread/zone/1/app:In:w", FIT_NOW,
			NULL},
		{"a zone=x d=1|b zone=y|a <- app=w",
			"app=w @d=1 spread/zone/1/app:In:w/affinity=Ignore", FIT_NOT_NOW,
			"1 " AFFINITY ", 1 " SPREAD},
		/* nodeTaintsPolicy Ignore: tainted nodes are in their domains. */
		{"a zone=x|b zone=y !k=v:NoSchedule|a <- app=w", "app=w spread/zone/1/app:In:w",
			FIT_NOT_NOW, "1 " SPREAD ", 1 " TAINTS},
		{"a zone=x|b zone=y !k=v:NoSchedule|a <- app=w",
			"app=w spread/zone/1/app:In:w/taints=Honor", FIT_NOW, NULL},
		/* A node without one of the keys counts for no constraint. */
		{"a zone=x rack=1|b zone=y|a <- app=w",
			"app=w spread/zone/1/app:In:w spread/rack/5/app:In:w", FIT_NOW, NULL},
		{"a zone=x|b zone=y|a <- app=w|b <- +cpu=9",
			"+cpu=2 app=w near/zone/app:In:w spread/zone/1/app:In:w", FIT_NOT_NOW,
			"1 Insufficient cpu, 1 " SPREAD},
	};
	CHECK(rows);
}

/* ---- room ------------------------------------------------------------------------------------ */

static void room(void **state)
{
	(void)state;
	static const struct {
		const char *world, *pod;
		int32_t enough, room;
	} rows[] = {
		{"a", "+cpu=3", 100, 3},
		{"a|b|b <- +cpu=5", "+cpu=3", 100, 4},
		{"a|b", "+cpu=3", 5, 5},
		{"a|b", "+cpu=3", 0, 0},
		{"a", "", 100, 10}, /* as many as the node has places for pods */
		{"a|a <-|a <-", "", 100, 8},
		{"a cordon|b", "+cpu=3", 100, 3},
		{"a|b", ":80", 100, 2}, /* one takes the port from the next */
		{"a|b|b <- :80", ":80", 100, 1},
		{"a +x.io/y=3", "+cpu=1 +x.io/y=2", 100, 1},
		{"a", "node=a +cpu=3", 100, 3},
		{"a", "scheduler=mine +cpu=11", 7, 7},
		{"a zone=x|b zone=y", "app=w apart/zone/app:In:w", 100, 2},
		{"a zone=x|b zone=y", "app=w apart/zone/app:In:v", 100, 20},
		{"a zone=x|b zone=y|a <- app=w", "app=w apart/zone/app:In:w", 100, 1},
		{"a zone=x|b zone=y|a <- app=w apart/zone/app:In:w", "app=w", 100, 10},
		{"a zone=x|b zone=y", "app=w near/zone/app:In:w +cpu=3", 100, 3}, /* one zone */
		{"a zone=x|b zone=y|c zone=y", "app=w near/zone/app:In:w +cpu=3", 100, 3},
		{"a zone=x|b zone=y +cpu=13", "app=w near/zone/app:In:w +cpu=3", 100, 4},
		{"a zone=x|b zone=y +cpu=4", "+cpu=2 app=w spread/zone/1/app:In:w", 100, 5},
		{"a zone=x|b zone=y +cpu=4", "+cpu=2 app=w spread/zone/2/app:In:w", 100, 6},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct nodes *n = nodes_new();
		struct arena a = {0};
		words_world(n, rows[i].world);
		struct pod *p = words_pod(&a, rows[i].pod);
		for (int again = 0; again < 2; again++) {
			int32_t got = nodes_room(n, p, rows[i].enough);
			if (got != rows[i].room)
				fail_msg("nodes %s\npod %s\nwants room for %d, is %d",
					rows[i].world, rows[i].pod, (int)rows[i].room, (int)got);
		}
		arena_done(&a);
		nodes_free(n);
	}
}

/* ---- as things change ------------------------------------------------------------------------ */

static struct fit_answer ask(struct nodes *n, const char *pod)
{
	struct arena a = {0};
	struct fit_answer got;
	nodes_fit(n, words_pod(&a, pod), &got);
	arena_done(&a);
	return got;
}

static void answers_follow_what_changes(void **state)
{
	(void)state;
	struct nodes *n = nodes_new();
	struct arena a = {0};
	struct bound_pod b = {.uid = {{1}}, .node = "a", .pod = words_pod(&a, "+cpu=9 app=w")};
	words_world(n, "a zone=x");
	assert_int_equal(ask(n, "+cpu=2").fit, FIT_NOW);
	uint64_t version = nodes_version(n);
	nodes_bind(n, &b);
	assert_true(nodes_version(n) > version);
	assert_int_equal(ask(n, "+cpu=2").fit, FIT_NOT_NOW);
	assert_int_equal(ask(n, "near/zone/app:In:w").fit, FIT_NOW);
	version = nodes_version(n);
	nodes_bind(n, &b); /* as it was */
	assert_int_equal(nodes_version(n), version);
	b.node = "b"; /* moved, to an unknown node */
	nodes_bind(n, &b);
	assert_int_equal(ask(n, "+cpu=2").fit, FIT_NOW);
	assert_int_equal(ask(n, "near/zone/app:In:w").fit, FIT_NOT_NOW);
	words_world(n, "b zone=x");
	assert_int_equal(ask(n, "near/zone/app:In:w").fit, FIT_NOW);
	assert_int_equal(ask(n, "+cpu=2").nodes, 2);
	assert_false(nodes_set(n, words_node(&a, "a zone=x")));
	assert_true(nodes_set(n, words_node(&a, "a zone=y cordon")));
	assert_int_equal(ask(n, "+cpu=2").fit, FIT_NOT_NOW);
	assert_int_equal(ask(n, "+cpu=2").suitable, 2);
	assert_true(nodes_drop(n, "b"));
	assert_false(nodes_drop(n, "b"));
	assert_int_equal(ask(n, "near/zone/app:In:w").fit, FIT_NOT_NOW);
	words_world(n, "b zone=x");
	assert_int_equal(ask(n, "near/zone/app:In:w").fit, FIT_NOW);
	nodes_unbind(n, &b.uid);
	nodes_unbind(n, &b.uid);
	assert_int_equal(ask(n, "near/zone/app:In:w").fit, FIT_NOT_NOW);
	arena_done(&a);
	nodes_free(n);
}

static int64_t largest(struct nodes *n, const struct label *of, const char *resource)
{
	int64_t all, most;
	nodes_sum(n, of, of ? 1 : 0, resource, &all, &most);
	return most;
}

/* 8,000 questions walk over the nodes once for each set of labels, whatever they ask for; pods that
 * come and go change nothing. A node that changes does. */
static void sums_are_kept_until_a_node_changes(void **state)
{
	(void)state;
	struct nodes *n = nodes_new();
	struct arena a = {0};
	struct label x = {"zone", "x"}, y = {"zone", "y"};
	struct bound_pod b = {.uid = {{1}}, .node = "a", .pod = words_pod(&a, "+cpu=9 app=w")};
	words_world(n, "a zone=x +cpu=4|b zone=x +cpu=8|c zone=y +cpu=9 +example.com/gpu=2");
	for (size_t i = 0; i < 8000; i++) {
		char unknown[40];
		snprintf(unknown, sizeof(unknown), "example.com/none-%zu", i);
		assert_int_equal(largest(n, &x, "cpu"), 8000);
		assert_int_equal(largest(n, NULL, "cpu"), 9000);
		assert_true(largest(n, &y, "example.com/gpu") > 0);
		assert_int_equal(largest(n, &x, "example.com/gpu"), 0);
		assert_int_equal(largest(n, &x, unknown), 0);
		if (i % 2)
			nodes_unbind(n, &b.uid);
		else
			nodes_bind(n, &b);
	}
	assert_int_equal(n->sum_walks, 3);
	words_world(n, "a zone=x +cpu=9");
	assert_int_equal(largest(n, &x, "cpu"), 9000);
	assert_true(nodes_drop(n, "a"));
	assert_int_equal(largest(n, &x, "cpu"), 8000);
	words_world(n, "d zone=x +example.com/new=1");
	assert_true(largest(n, &x, "example.com/new") > 0);
	assert_int_equal(n->sum_walks, 6);
	arena_done(&a);
	nodes_free(n);
}

/* Memory is bounded: one set of labels too many, and all are summed up anew. */
static void so_many_sums_are_kept(void **state)
{
	(void)state;
	struct nodes *n = nodes_new();
	words_world(n, "a zone=x");
	for (int i = 0; i < 5000; i++) {
		char value[20];
		struct label l = {"zone", value};
		snprintf(value, sizeof(value), "z%d", i);
		assert_int_equal(largest(n, &l, "cpu"), 0);
		assert_true(n->sums.count <= 1024);
	}
	assert_true(largest(n, &(struct label){"zone", "x"}, "cpu") > 0);
	nodes_free(n);
}

static void answers_follow_namespaces(void **state)
{
	(void)state;
	static const char near[] = "near/zone/app:In:w/nsel=tier:In:prod";
	struct label prod = {"tier", "prod"};
	struct nodes *n = nodes_new();
	words_world(n,
		"a zone=x|a <- in=other app=w|a <- in=other apart/zone/app:In:v/nsel=tier:In:prod");
	assert_int_equal(ask(n, near).fit, FIT_NOT_NOW);
	nodes_set_namespace(n, "other", &prod, 1);
	assert_int_equal(ask(n, near).fit, FIT_NOW);
	uint64_t version = nodes_version(n);
	nodes_set_namespace(n, "other", &prod, 1);
	assert_int_equal(nodes_version(n), version);
	nodes_drop_namespace(n, "other");
	nodes_drop_namespace(n, "other");
	assert_int_equal(ask(n, near).fit, FIT_NOT_NOW);
	assert_int_equal(ask(n, "app=v").fit, FIT_NOW);
	nodes_set_namespace(n, "team", &prod, 1);
	assert_int_equal(ask(n, "app=v").fit, FIT_NOT_NOW);
	nodes_free(n);
}

static void runtime_classes(void **state)
{
	(void)state;
	struct label metal = {"metal", "yes"};
	struct toleration t = {.key = "kata", .value = "", .op = TOLERATION_EXISTS};
	struct resource more = {"cpu", 2000};
	struct runtime_class_spec kata = {"kata", {&more, 1}, &metal, 1, &t, 1};
	struct arena a = {0};
	struct fit_answer got;
	struct nodes *n = nodes_new();
	words_world(n, "a|b +cpu=5 metal=yes !kata=:NoSchedule");
	struct pod *p = words_pod(&a, "+cpu=4");
	p->resources.runtime_class = "kata";
	nodes_fit(n, p, &got); /* not there: a pod like any other */
	assert_int_equal(got.fit, FIT_NOW);
	nodes_set_runtime_class(n, &kata);
	nodes_fit(n, p, &got);
	assert_int_equal(got.fit, FIT_NEVER);
	assert_string_equal(
		got.sentence, "0/2 nodes are available: 1 Insufficient cpu, 1 " AFFINITY);
	more.amount = 1000;
	nodes_set_runtime_class(n, &kata);
	nodes_fit(n, p, &got);
	assert_int_equal(got.fit, FIT_NOW);
	assert_int_equal(got.suitable, 1);
	assert_int_equal(nodes_room(n, p, 9), 1);
	struct resource own = {"cpu", 1500};
	p->resources.overhead = (struct resource_list){&own, 1}; /* has been added already */
	nodes_fit(n, p, &got);
	assert_int_equal(got.fit, FIT_NEVER);
	nodes_drop_runtime_class(n, "kata");
	nodes_drop_runtime_class(n, "kata");
	nodes_fit(n, p, &got);
	assert_int_equal(got.suitable, 1);
	arena_done(&a);
	nodes_free(n);
}

static void device_classes(void **state)
{
	(void)state;
	struct nodes *n = nodes_new();
	const struct device_class_spec gpus = {"gpus", "e.io/gpu"}, plain = {"plain", ""};
	words_world(n, "plugin +e.io/gpu=2|driver|plugin <- +e.io/gpu=2");
	assert_int_equal(ask(n, "+e.io/gpu=2").fit, FIT_NOT_NOW);
	assert_int_equal(ask(n, "+e.io/gpu=4").fit, FIT_NEVER);
	uint64_t ground = nodes_ground(n), version = nodes_version(n), vacated = nodes_vacated(n);
	assert_true(nodes_set_device_class(n, &gpus));
	assert_false(nodes_set_device_class(n, &gpus));
	assert_true(nodes_ground(n) > ground && nodes_version(n) > version);
	assert_true(nodes_vacated(n) > vacated);
	assert_int_equal(ask(n, "+e.io/gpu=2").fit, FIT_NOW);
	assert_int_equal(ask(n, "+e.io/gpu=4").suitable, 1); /* not the one with a plugin */
	assert_int_equal(ask(n, "+e.io/gpu=4 +cpu=11").fit, FIT_NEVER);
	assert_int_equal(ask(n, "+e.io/gpux=1").fit, FIT_NEVER);
	assert_int_equal(ask(n, "+deviceclass.resource.kubernetes.io/plain=1").fit, FIT_NEVER);
	assert_true(nodes_set_device_class(n, &plain));
	assert_int_equal(ask(n, "+deviceclass.resource.kubernetes.io/plain=1").suitable, 2);
	assert_int_equal(ask(n, "+deviceclass.resource.kubernetes.io/plai=1").fit, FIT_NEVER);
	assert_true(nodes_drop_device_class(n, "gpus"));
	assert_false(nodes_drop_device_class(n, "gpus"));
	assert_int_equal(ask(n, "+e.io/gpu=4").fit, FIT_NEVER);
	nodes_free(n);
}

/* Where they may not be read a resource that no node has may be theirs. */
static void device_classes_that_are_not_known(void **state)
{
	(void)state;
	struct nodes *n = nodes_new();
	words_world(n, "a +e.io/gpu=0|b");
	assert_int_equal(ask(n, "+e.io/gpu=4").fit, FIT_NEVER);
	assert_true(nodes_know_device_classes(n, false));
	assert_false(nodes_know_device_classes(n, false));
	assert_int_equal(ask(n, "+e.io/gpu=4").suitable, 2);
	assert_int_equal(ask(n, "+memory=4").fit, FIT_NEVER);
	assert_int_equal(ask(n, "+kubernetes.io/batch-cpu=4").fit, FIT_NEVER);
	words_world(n, "c +e.io/gpu=2");
	assert_int_equal(ask(n, "+e.io/gpu=4").fit, FIT_NEVER);
	assert_true(nodes_drop(n, "c"));
	assert_int_equal(ask(n, "+e.io/gpu=4").suitable, 2);
	assert_true(nodes_know_device_classes(n, true));
	assert_int_equal(ask(n, "+e.io/gpu=4").fit, FIT_NEVER);
	nodes_free(n);
}

/* A node that changes is asked anew by itself, unless a resource is now on some node, or on none. */
static void answers_are_kept_while_device_classes_are_not_known(void **state)
{
	(void)state;
	struct nodes *n = nodes_new();
	words_world(n, "a +e.io/gpu=2|b|c");
	nodes_know_device_classes(n, false);
	ask(n, "+e.io/gpu=4");
	ask(n, "+cpu=4");
	words_world(n, "b cordon|c cordon|d +e.io/gpu=8");
	assert_int_equal(n->nfit_caches, 2);
	assert_int_equal(ask(n, "+e.io/gpu=4").suitable, 1);
	words_world(n, "d +e.io/gpu=4");
	assert_true(nodes_drop(n, "c") && nodes_drop(n, "d"));
	assert_int_equal(n->nfit_caches, 2);
	assert_int_equal(ask(n, "+e.io/gpu=4").fit, FIT_NEVER);
	words_world(n, "a +e.io/gpu=0");
	assert_int_equal(n->nfit_caches, 0);
	assert_int_equal(ask(n, "+e.io/gpu=4").suitable, 2);
	words_world(n, "a +e.io/gpu=2");
	assert_int_equal(n->nfit_caches, 0);
	nodes_free(n);
}

static void the_sentence_counts_all_nodes(void **state)
{
	(void)state;
	struct nodes *n = nodes_new();
	for (int i = 0; i < 20; i++) {
		char text[64];
		snprintf(text, sizeof(text), "n%d +cpu=4%s", i, i < 8 ? " !k=v:NoSchedule" : "");
		words_world(n, text);
	}
	struct fit_answer got = ask(n, "+cpu=5");
	assert_string_equal(got.sentence, "0/20 nodes are available: 12 Insufficient cpu, 8 "
					  "node(s) had untolerated taint(s)");
	assert_int_equal(got.suitable, 0);
	nodes_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resources_and_number_of_pods),
		cmocka_unit_test(taints_and_tolerations),
		cmocka_unit_test(cordons),
		cmocka_unit_test(node_selectors_and_affinity),
		cmocka_unit_test(fields_and_names),
		cmocka_unit_test(host_ports),
		cmocka_unit_test(affinity_to_pods),
		cmocka_unit_test(anti_affinity),
		cmocka_unit_test(topology_spread),
		cmocka_unit_test(room),
		cmocka_unit_test(answers_follow_what_changes),
		cmocka_unit_test(sums_are_kept_until_a_node_changes),
		cmocka_unit_test(so_many_sums_are_kept),
		cmocka_unit_test(answers_follow_namespaces),
		cmocka_unit_test(runtime_classes),
		cmocka_unit_test(device_classes),
		cmocka_unit_test(device_classes_that_are_not_known),
		cmocka_unit_test(answers_are_kept_while_device_classes_are_not_known),
		cmocka_unit_test(the_sentence_counts_all_nodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
