/*
 * Any bytes as a list of Nodes and Pods: what is decoded makes a world, and each pod is asked of
 * it, and expected. Answers hang together and are safe to print; what is taken away leaves nothing
 * behind.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/json.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_template.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MANY 64
#define ENOUGH 20

struct things {
	struct node_spec *node[MANY];
	size_t nnodes;
	struct pod *pod[MANY];
	size_t npods;
};

static void take(const cJSON *o, struct things *t)
{
	struct err e = {""};
	if (t->nnodes < MANY && decode_node_spec(o, &t->node[t->nnodes], &e) == 0)
		t->nnodes++;
	check_text(e.text);
	e.text[0] = '\0';
	if (t->npods < MANY &&
		decode_template(decode_namespace_of(o), o, &t->pod[t->npods], &e) == 0)
		t->npods++;
	check_text(e.text);
}

static void check_pod(const struct pod *p)
{
	for (size_t i = 0; i < p->naffinity; i++)
		must(*p->affinity[i].topology_key);
	for (size_t i = 0; i < p->nspread; i++)
		must(p->spread[i].max_skew >= 1 && p->spread[i].min_domains >= 1);
	for (size_t i = 0; i < p->nhost_ports; i++)
		must(p->host_ports[i].port > 0 && *p->host_ports[i].ip);
	check_text(p->scheduler);
	must(*p->scheduler && p->ntolerations >= 1);
}

static void ask(struct nodes *n, const struct pod *p)
{
	struct fit_answer a, again;
	nodes_fit(n, p, &a);
	int32_t room = nodes_room(n, p, ENOUGH);
	must((a.fit == FIT_NOW) == (room > 0));
	must((a.fit == FIT_NOW) == (*a.sentence == '\0'));
	must(room >= 0 && room <= ENOUGH && a.suitable <= a.nodes);
	must(a.fit != FIT_NEVER || a.suitable == 0);
	check_text(a.sentence);
	nodes_fit(n, p, &again);
	must(memcmp(&a, &again, sizeof(a)) == 0);
}

static struct uid owner_of(size_t i)
{
	return (struct uid){{0, (uint8_t)(i / 2 + 1)}};
}

/* What is expected takes room; without who expects it there is at least as much, but for pods that
 * look at pods, which may miss them. */
static void expect(struct nodes *n, const struct pod *p, size_t i)
{
	struct uid owner = owner_of(i);
	struct fit_answer a;
	int32_t before = nodes_room(n, p, ENOUGH);
	nodes_expect(n, &owner, p, (int32_t)(i % 5));
	uint64_t version = nodes_version(n);
	int32_t after = nodes_room(n, p, ENOUGH);
	int32_t without = nodes_room_without(n, p, ENOUGH, &owner, 1);
	if (p->naffinity + p->nspread == 0)
		must(without >= after && without <= ENOUGH);
	nodes_fit_beside(n, p, before, &a);
	check_text(a.sentence);
	must(nodes_room(n, p, ENOUGH) == after && nodes_version(n) == version);
}

static void live(struct things *t)
{
	struct nodes *n = nodes_new();
	for (size_t i = 0; i < t->npods; i++)
		check_pod(t->pod[i]);
	for (size_t i = 0; i < t->nnodes; i++) {
		nodes_set(n, t->node[i]);
		must(!nodes_set(n, t->node[i]));
	}
	for (size_t i = 0; i < t->npods; i++) {
		struct bound_pod b = {.uid = {{(uint8_t)(i + 1)}},
			.node = t->pod[i]->node_name,
			.pod = t->pod[i],
			.deleting = i % 3 == 0,
			.owner = owner_of(i)};
		ask(n, t->pod[i]);
		expect(n, t->pod[i], i);
		if (*b.node)
			nodes_bind(n, &b);
		ask(n, t->pod[t->npods - 1 - i]);
	}
	for (size_t i = 0; i < t->npods; i += 2)
		nodes_unbind(n, &(struct uid){{(uint8_t)(i + 1)}});
	for (size_t i = 0; i < t->nnodes; i += 2)
		nodes_drop(n, t->node[i]->name);
	for (size_t i = 0; i < t->npods; i++) {
		struct uid owner = owner_of(i);
		ask(n, t->pod[i]);
		if (i % 4 == 0)
			nodes_expect(n, &owner, t->pod[i], 0);
	}
	nodes_free(n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *json = json_new(64 << 20);
	struct things t = {.nnodes = 0};
	const cJSON *o;
	if (json_parse(json, (struct slice){(const char *)data, size}, &o, NULL) == 0) {
		if (cJSON_IsArray(o))
			json_each(item, o)
				take(item, &t);
		else
			take(o, &t);
	}
	json_free(json); /* nothing of the tree is kept */
	live(&t);
	for (size_t i = 0; i < t.nnodes; i++)
		free(t.node[i]);
	for (size_t i = 0; i < t.npods; i++)
		free(t.pod[i]);
	return 0;
}
