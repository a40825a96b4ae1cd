/*
 * Nodes against a naive reference: a world that changes all the time, drawn from a seed, and after
 * each change a few pods asked about:
 *
 *   - fit, and how many nodes are suitable, is what the rules say when each is tried on each node;
 *   - room is what placing one after the other on the nodes comes to; for pods that look at other
 *     pods, what some order of placing comes to in which the last finds no place;
 *   - what is kept from question to question changes nothing: a world made anew says the same, word
 *     by word;
 *   - what runs expect is put somewhere as long as there is room, is never more than is to come, is
 *     on no node that it over-fills, and counts like pods that are bound: the reference is told of
 *     it as such;
 *   - without some owners' pods there is the room of a world that was never told of them;
 *   - questions are no facts: nodes_version() stands still. While nodes_ground() does, a NEVER
 * stays one, and nothing else becomes one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cluster/world.h"
#include "test/unit/cluster_words.h"

#define SEEDS 60
#define STEPS 120
#define NODES 6
#define PODS 24 /* bound, at most */
#define ENOUGH 4
#define OWNERS 4
#define WANTED 3 /* of each, at most */
#define PUT (OWNERS * WANTED)
#define ALL (PODS + PUT + ENOUGH)
#define ASKED 8
#define TEXT 400

struct m_node {
	bool there;
	char text[TEXT];
	struct arena arena;
	struct node_spec *spec;
};

struct m_pod {
	bool there, deleting;
	size_t node;
	char text[TEXT];
	struct arena arena;
	const struct pod *pod;
	struct uid uid;
	size_t owner; /* OWNERS: none */
};

struct m_owner {
	int32_t wanted;
	struct arena arena;
	struct pod *pod;
};

struct world {
	uint64_t state;
	struct nodes *nodes;
	struct m_node node[NODES];
	/* Bound; expected, as we are told where; placed for a while. */
	struct m_pod pod[ALL];
	struct m_owner owner[OWNERS];
	uint64_t ground;
	bool never[ASKED];   /* of those that are asked about, on that ground */
	const char *tier[3]; /* label of each namespace; NULL: we have not heard of it */
};

static const char *const spaces[] = {"team", "other", "third"};

static uint64_t draw(struct world *w)
{
	uint64_t z = (w->state += 0x9E3779B97F4A7C15u);
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static size_t below(struct world *w, size_t n)
{
	return (size_t)(draw(w) % n);
}

static bool percent(struct world *w, size_t share)
{
	return below(w, 100) < share;
}

#define ONE_OF(w, list) list[below(w, sizeof(list) / sizeof(*(list)))]

/* ---- words that are drawn -------------------------------------------------------------------- */

static void say(char *text, const char *word)
{
	size_t len = strlen(text);
	snprintf(text + len, TEXT - len, " %s", word);
}

static void draw_node(struct world *w, size_t i, char *text)
{
	static const char *const words[] = {"zone=x", "zone=y", "rack=1", "rack=2", "gen=7"};
	static const char *const taints[] = {"!gpu=yes:NoSchedule", "!gpu=yes:NoExecute",
		"!spot:PreferNoSchedule", "!node.kubernetes.io/not-ready:NoSchedule"};
	snprintf(text, TEXT, "n%zu", i);
	if (percent(w, 80)) {
		say(text, words[below(w, 2)]);
		if (percent(w, 70))
			say(text, words[2 + below(w, 2)]);
		if (percent(w, 30))
			say(text, words[4]);
	}
	if (percent(w, 70)) {
		char host[64];
		snprintf(host, sizeof(host), "host=n%zu", i);
		say(text, host);
	}
	if (percent(w, 25))
		say(text, ONE_OF(w, taints));
	if (percent(w, 10))
		say(text, "cordon");
	if (percent(w, 30))
		say(text, percent(w, 50) ? "+pods=2" : "+pods=0");
	if (percent(w, 30))
		say(text, percent(w, 50) ? "+cpu=4" : "+gpu=1");
}

static void draw_pod(struct world *w, char *text)
{
	static const char *const requests[] = {
		"+cpu=1", "+cpu=3", "+cpu=5", "+cpu=11", "+gpu=1", "+cpu=0", "+cpu=2 +memory=1"};
	static const char *const where[] = {"@zone=x", "@host=n1", "?zone:In:x&rack:Exists",
		"?gen:Gt:6 ?zone:NotIn:y", "?#name:In:n2", "?#name:NotIn:n0",
		"?#name:In:n1&zone:Exists ?#name:In:n3", "node=n1"};
	static const char *const tolerates[] = {
		"~gpu=yes", "~gpu:NoSchedule", "~*", "~node.kubernetes.io/unschedulable"};
	static const char *const ports[] = {":80", ":80/UDP", ":80@10.0.0.1", ":80@10.0.0.2 :81"};
	static const char *const near[] = {"near/zone/app:In:web",
		"near/rack/app:Exists near/zone/app:In:db", "near/host/*/nsel=*",
		"near/zone/app:In:web/ns=team,other", "near/zone/-",
		"near/zone/app:In:web/nsel=tier:NotIn:prod",
		"near/zone/app:Exists/nsel=tier:In:prod"};
	static const char *const apart[] = {"apart/zone/app:In:web", "apart/host/app:Exists",
		"apart/zone/app:In:db/nsel=tier:In:prod", "apart/rack/*/ns=other",
		"apart/zone/app:In:web/nsel=tier:DoesNotExist",
		"apart/zone/app:In:web apart/rack/app:In:db"};
	static const char *const spread[] = {"spread/zone/1/app:In:web", "spread/host/1/app:Exists",
		"spread/zone/2/*",
		"spread/zone/1/app:Exists/min=2 spread/rack/1/app:In:web/taints=Honor",
		"spread/zone/1/app:In:web/affinity=Ignore", "spread/rack/1/-"};
	snprintf(text, TEXT, "in=%s", ONE_OF(w, spaces));
	if (percent(w, 70))
		say(text, percent(w, 50) ? "app=web" : "app=db");
	if (percent(w, 75))
		say(text, ONE_OF(w, requests));
	if (percent(w, 25))
		say(text, ONE_OF(w, where));
	if (percent(w, 25))
		say(text, ONE_OF(w, tolerates));
	if (percent(w, 15))
		say(text, ONE_OF(w, ports));
	if (percent(w, 20))
		say(text, ONE_OF(w, near));
	if (percent(w, 20))
		say(text, ONE_OF(w, apart));
	if (percent(w, 20))
		say(text, ONE_OF(w, spread));
}

/* ---- the rules, once more -------------------------------------------------------------------- */

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

/* A pod that is bound to the node i? */
static const struct pod *lives(const struct world *w, size_t pod, size_t i)
{
	return w->pod[pod].there && w->pod[pod].node == i ? w->pod[pod].pod : NULL;
}

static bool has_room(const struct world *w, const struct pod *p, size_t node, bool empty)
{
	static const char *const names[] = {"cpu", "gpu", "memory"};
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
		if (asked > 0 && used + asked > amount(s->allocatable, names[r]))
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

/* asks: it is the new pod's. Then a selector that is true of no labels is true of each namespace
 * (company.c says why). */
static bool means(const struct world *w, const struct affinity_term *t, const char *ns,
	const struct pod *q, bool asks)
{
	bool covers = t->nnamespaces == 0 && !t->has_namespace_selector && same(ns, q->ns);
	covers |=
		asks && t->has_namespace_selector && labels_match(NULL, 0, &t->namespace_selector);
	for (size_t i = 0; i < t->nnamespaces; i++)
		covers |= same(t->namespaces[i], q->ns);
	for (size_t i = 0; i < 3 && t->has_namespace_selector; i++) {
		struct label tier = {"tier", w->tier[i]};
		if (same(spaces[i], q->ns))
			covers |= labels_match(&tier, w->tier[i] != NULL, &t->namespace_selector);
	}
	return covers && t->has_selector && labels_match(q->labels, q->nlabels, &t->selector);
}

static bool all_mean(const struct world *w, const struct pod *p, const struct pod *q)
{
	for (size_t i = 0; i < p->naffinity; i++)
		if (!means(w, &p->affinity[i], p->ns, q, true))
			return false;
	return true;
}

/* Of the node where the pod i is, which must be known. */
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
			if (means(w, &p->anti_affinity[t], p->ns, q, true) &&
				same(where(w, i, p->anti_affinity[t].topology_key),
					at(s, p->anti_affinity[t].topology_key)))
				return false;
		for (size_t t = 0; t < q->nanti_affinity; t++)
			if (means(w, &q->anti_affinity[t], q->ns, p, false) &&
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

static bool fits_now(const struct world *w, const struct pod *p, size_t i)
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

static bool fits_ever(const struct world *w, const struct pod *p, size_t i)
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

/* ---- room by brute force --------------------------------------------------------------------- */

/* Is there an order of placing that ends after exactly `wanted`, since there is no place for one
 * more (or that is enough)? */
static bool reaches(struct world *w, struct pod *p, int32_t placed, int32_t wanted)
{
	bool stuck = true;
	for (size_t i = 0; i < NODES && placed < ENOUGH; i++) {
		if (!fits_now(w, p, i))
			continue;
		stuck = false;
		if (placed == wanted)
			return false;
		w->pod[PODS + PUT + placed] = (struct m_pod){.there = true, .node = i, .pod = p};
		bool found = reaches(w, p, placed + 1, wanted);
		w->pod[PODS + PUT + placed].there = false;
		if (found)
			return true;
	}
	return stuck && placed == wanted;
}

/* ---- what happens ---------------------------------------------------------------------------- */

static void set_node(struct world *w, size_t i)
{
	struct m_node *n = &w->node[i];
	arena_done(&n->arena);
	draw_node(w, i, n->text);
	n->spec = words_node(&n->arena, n->text);
	n->there = true;
	nodes_set(w->nodes, n->spec);
}

static struct uid uid_of_owner(size_t i)
{
	return (struct uid){{0, (uint8_t)(i + 1)}};
}

static void bind_model(struct nodes *n, const struct m_pod *p)
{
	char name[16];
	struct uid nobody = {{0}};
	snprintf(name, sizeof(name), "n%zu", p->node);
	nodes_bind(n, &(struct bound_pod){.uid = p->uid,
			      .node = name,
			      .pod = p->pod,
			      .deleting = p->deleting,
			      .owner = p->owner < OWNERS ? uid_of_owner(p->owner) : nobody});
}

static void bind(struct world *w, size_t i)
{
	struct m_pod *p = &w->pod[i];
	arena_done(&p->arena);
	draw_pod(w, p->text);
	struct pod *pod = words_pod(&p->arena, p->text);
	pod->node_name = "";
	p->pod = pod;
	p->owner = below(w, OWNERS + 2);
	p->node = below(w, NODES);
	p->deleting = percent(w, 15);
	p->there = true;
	p->uid = (struct uid){{(uint8_t)i}};
	bind_model(w->nodes, p);
}

static void expect(struct world *w, size_t i)
{
	struct m_owner *o = &w->owner[i];
	char text[TEXT];
	struct uid uid = uid_of_owner(i);
	if (!o->pod || percent(w, 20)) {
		arena_done(&o->arena);
		draw_pod(w, text);
		o->pod = words_pod(&o->arena, text);
	}
	o->wanted = (int32_t)below(w, WANTED + 1);
	nodes_expect(w->nodes, &uid, o->pod, o->wanted);
}

static void tell_namespace(struct nodes *n, const struct world *w, size_t i)
{
	struct label tier = {"tier", w->tier[i]};
	nodes_set_namespace(n, spaces[i], &tier, w->tier[i] != NULL);
}

static void happen(struct world *w)
{
	size_t i = below(w, PODS);
	switch (below(w, 12)) {
	case 10:
	case 11:
		expect(w, below(w, OWNERS));
		break;
	case 0:
	case 1:
		set_node(w, below(w, NODES));
		break;
	case 2:
		i = below(w, NODES);
		char name[16];
		snprintf(name, sizeof(name), "n%zu", i);
		assert_int_equal(nodes_drop(w->nodes, name), w->node[i].there);
		w->node[i].there = false;
		break;
	case 3:
		i = below(w, 3);
		w->tier[i] = percent(w, 50) ? "prod" : NULL;
		tell_namespace(w->nodes, w, i);
		break;
	case 4:
	case 5:
	case 6:
		nodes_unbind(w->nodes, &(struct uid){{(uint8_t)i}});
		w->pod[i].there = false;
		break;
	default:
		bind(w, i);
	}
}

/* ---- what is expected ------------------------------------------------------------------------ */

static int32_t bound_of(const struct world *w, size_t owner)
{
	int32_t n = 0;
	for (size_t i = 0; i < PODS; i++)
		n += w->pod[i].there && w->pod[i].owner == owner;
	return n;
}

/* Where we are told that they were put, as pods that are there. */
static int32_t take_down(struct world *w, size_t owner, struct m_pod *ret)
{
	struct uid uid = uid_of_owner(owner);
	const struct owner *o = owner_find(w->nodes, &uid);
	int32_t n = 0;
	for (const struct tenant *t = o ? o->put : NULL; t; t = t->next_owned) {
		size_t node = (size_t)(t->node->name[1] - '0');
		assert_true(w->node[node].there);
		for (int32_t i = 0; i < t->pods; i++, n++) {
			assert_true(n < WANTED);
			ret[n] = (struct m_pod){.there = true,
				.node = node,
				.pod = w->owner[owner].pod,
				.owner = owner,
				.uid = {{0, 0, (uint8_t)(owner + 1), (uint8_t)(n + 1)}}};
		}
	}
	return n;
}

/* Of what the pod asks for, or of pods, is there more on its node than it has? */
static bool over_full(const struct world *w, const struct m_pod *p)
{
	static const char *const names[] = {"cpu", "gpu", "memory"};
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
			used[r] > amount(s->allocatable, names[r]);
	return over || pods > amount(s->allocatable, "pods");
}

static void see_what_is_expected(struct world *w)
{
	struct arena a = {0};
	nodes_room(w->nodes, words_pod(&a, ""), 1); /* any question */
	arena_done(&a);
	memset(&w->pod[PODS], 0, PUT * sizeof(*w->pod));
	for (size_t i = 0; i < OWNERS; i++) {
		struct m_owner *o = &w->owner[i];
		int32_t left = o->wanted - bound_of(w, i);
		int32_t put = take_down(w, i, &w->pod[PODS + i * WANTED]);
		assert_true(put == 0 || put <= left);
		if (o->pod && put < left && o->pod->naffinity + o->pod->nspread == 0)
			assert_int_equal(nodes_room(w->nodes, o->pod, 1), 0);
	}
	for (size_t i = PODS; i < PODS + PUT; i++)
		assert_false(w->pod[i].there && over_full(w, &w->pod[i]));
}

/* The same world, told at once, what is expected as if it were there; without: a bit for each owner
 * that it is not told of. */
static struct nodes *anew(const struct world *w, unsigned without)
{
	struct nodes *n = nodes_new();
	for (size_t i = 0; i < 3; i++)
		tell_namespace(n, w, i);
	for (size_t i = 0; i < PODS + PUT; i++)
		if (w->pod[i].there && !(without & 1u << w->pod[i].owner))
			bind_model(n, &w->pod[i]);
	for (size_t i = 0; i < NODES; i++)
		if (w->node[i].there)
			nodes_set(n, w->node[i].spec);
	return n;
}

static void show_world(const struct world *w)
{
	for (size_t i = 0; i < NODES; i++)
		if (w->node[i].there)
			print_error("  %s\n", w->node[i].text);
	for (size_t i = 0; i < PODS + PUT; i++)
		if (w->pod[i].there)
			print_error("  n%zu %s %s\n", w->pod[i].node,
				w->pod[i].deleting ? "!<-" : "<-",
				i < PODS ? w->pod[i].text : "(expected)");
}

static void check(struct world *w, uint64_t seed, struct pod *p, const char *text)
{
	static const char *const words[] = {"NEVER", "NOT_NOW", "NOW"};
	struct fit_answer got, again;
	size_t suitable = 0, fitting = 0, there = 0;
	for (size_t i = 0; i < NODES; i++) {
		there += w->node[i].there;
		suitable += fits_ever(w, p, i);
		fitting += fits_now(w, p, i);
	}
	enum fit want = fitting ? FIT_NOW : suitable ? FIT_NOT_NOW : FIT_NEVER;
	nodes_fit(w->nodes, p, &got);
	int32_t room = nodes_room(w->nodes, p, ENOUGH);
	if (got.fit != want || got.suitable != suitable || got.nodes != there ||
		!reaches(w, p, 0, room)) {
		show_world(w);
		fail_msg("seed %u: %s\nwants %s, %zu suitable; is %s, %zu, room %d: %s",
			(unsigned)seed, text, words[want], suitable, words[got.fit], got.suitable,
			(int)room, got.sentence);
	}
	struct nodes *n = anew(w, 0);
	nodes_fit(n, p, &again);
	if (strcmp(got.sentence, again.sentence) != 0 || nodes_room(n, p, ENOUGH) != room) {
		show_world(w);
		fail_msg("seed %u: %s\nmade anew \"%s\", room %d\nkept      \"%s\", room %d",
			(unsigned)seed, text, again.sentence, (int)nodes_room(n, p, ENOUGH),
			got.sentence, (int)room);
	}
	nodes_free(n);
}

static void check_without(struct world *w, uint64_t seed, const struct pod *p, const char *text)
{
	struct uid uid[OWNERS + 1];
	size_t nuids = 0;
	unsigned gone = (unsigned)below(w, 1u << OWNERS);
	for (size_t i = 0; i < OWNERS; i++)
		if (gone & 1u << i)
			uid[nuids++] = uid_of_owner(i);
	if (nuids > 0 && percent(w, 20))
		uid[nuids++] = uid[0]; /* named twice */
	int32_t is = nodes_room_without(w->nodes, p, ENOUGH, uid, nuids);
	struct nodes *n = anew(w, gone);
	int32_t want = nodes_room(n, p, ENOUGH);
	if (is != want) {
		show_world(w);
		fail_msg("seed %u: %s\nwithout owners %x: room for %d, is %d", (unsigned)seed, text,
			gone, (int)want, (int)is);
	}
	nodes_free(n);
}

/* So many are there already: no more than the others fit, and the words are those of full nodes. */
static void check_beside(struct world *w, const struct pod *p)
{
	struct fit_answer a;
	int32_t room = nodes_room(w->nodes, p, INT32_MAX);
	nodes_fit_beside(w->nodes, p, room, &a);
	assert_int_equal(a.fit == FIT_NOW, !world_knows_scheduler(p));
	assert_true(*a.sentence || a.fit == FIT_NOW);
	nodes_fit_beside(w->nodes, p, room - 1, &a);
	assert_true(room == 0 || a.fit == FIT_NOW);
	assert_int_equal(nodes_room(w->nodes, p, INT32_MAX), room);
}

static void check_ground(struct world *w, char asked[ASKED][TEXT])
{
	bool same_ground = w->ground == nodes_ground(w->nodes);
	struct fit_answer got;
	for (size_t i = 0; i < ASKED; i++) {
		struct arena a = {0};
		nodes_fit(w->nodes, words_pod(&a, asked[i]), &got);
		if (same_ground && (got.fit == FIT_NEVER) != w->never[i])
			fail_msg("on the same ground: %s", asked[i]);
		w->never[i] = got.fit == FIT_NEVER;
		arena_done(&a);
	}
	w->ground = nodes_ground(w->nodes);
}

static void play(uint64_t seed)
{
	struct world *w = mem_alloc(sizeof(*w));
	char asked[ASKED][TEXT];
	w->state = seed;
	w->nodes = nodes_new();
	w->ground = UINT64_MAX;
	for (size_t i = 0; i < ASKED; i++)
		draw_pod(w, asked[i]);
	for (int step = 0; step < STEPS; step++) {
		struct arena a = {0};
		happen(w);
		uint64_t facts = nodes_version(w->nodes);
		see_what_is_expected(w);
		check_ground(w, asked);
		if (percent(w, 10)) {
			draw_pod(w, asked[below(w, ASKED)]);
			w->ground = UINT64_MAX;
		}
		const char *text = asked[below(w, ASKED)];
		struct pod *p = words_pod(&a, text);
		check(w, seed, p, text);
		check_without(w, seed, p, text);
		if (percent(w, 20))
			check_beside(w, p);
		assert_int_equal(nodes_version(w->nodes), facts);
		arena_done(&a);
	}
	nodes_free(w->nodes);
	for (size_t i = 0; i < NODES; i++)
		arena_done(&w->node[i].arena);
	for (size_t i = 0; i < PODS; i++)
		arena_done(&w->pod[i].arena);
	for (size_t i = 0; i < OWNERS; i++)
		arena_done(&w->owner[i].arena);
	free(w);
}

static void nodes_are_what_trying_each_says(void **state)
{
	(void)state;
	const char *first = getenv("CLUSTER_SEED");
	uint64_t from = first ? strtoull(first, NULL, 10) : 1;
	for (uint64_t seed = from; seed < from + SEEDS; seed++)
		play(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_what_trying_each_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
