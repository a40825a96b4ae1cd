/*
 * Nodes against a naive reference: a world drawn from a seed that changes all the time. After each
 * change a few pods are asked about:
 *
 *   - fit, and the number of suitable nodes, are what trying each pod on each node gives;
 *   - room is what placing one pod after the other gives; for pods that look at other pods, what
 *     some order of placing gives in which the last finds no place;
 *   - caches change nothing: a world made anew gives the same answers, word by word;
 *   - expected pods are put somewhere as long as there is room, are never too many, over-fill no
 *     node, and count like bound pods: the reference has them as such;
 *   - without some owners' pods the room is that of a world that was never told of them;
 *   - questions are no facts: nodes_version() does not change. While nodes_ground() does not
 *     change, a NEVER stays one, and nothing else becomes one.
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
#include "model.h"
#include "test/unit/searched.h"
#include "words.h"

#define SEEDS searched(20, 60)
#define STEPS 120

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
		say(text, percent(w, 50) ? "+cpu=4" : "+" GPU "=1");
}

static void draw_pod(struct world *w, char *text)
{
	static const char *const requests[] = {"+cpu=1", "+cpu=3", "+cpu=5", "+cpu=11",
		"+" GPU "=1", "+cpu=0", "+cpu=2 +memory=1"};
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
	snprintf(text, TEXT, "in=%s", ONE_OF(w, model_spaces));
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
	nodes_set_namespace(n, model_spaces[i], &tier, w->tier[i] != NULL);
}

static void tell_device_classes(struct nodes *n, const struct world *w)
{
	nodes_know_device_classes(n, !w->classes_unknown);
	if (w->gpu_class)
		nodes_set_device_class(n, &(struct device_class_spec){"gpus", GPU});
	else
		nodes_drop_device_class(n, "gpus");
}

static void happen(struct world *w)
{
	size_t i = below(w, PODS);
	switch (below(w, 13)) {
	case 12:
		w->gpu_class = percent(w, 50);
		w->classes_unknown = percent(w, 30);
		tell_device_classes(w->nodes, w);
		break;
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

/* ---- Expected pods --------------------------------------------------------------------------- */

static int32_t bound_of(const struct world *w, size_t owner)
{
	int32_t n = 0;
	for (size_t i = 0; i < PODS; i++)
		n += w->pod[i].there && w->pod[i].owner == owner;
	return n;
}

/* The owner's expected pods, where they were put, as present pods of the model. */
static int32_t take_down(struct world *w, size_t owner, struct m_pod *ret)
{
	struct uid uid = uid_of_owner(owner);
	const struct owner *o = owner_find(w->nodes, &uid);
	int32_t n = 0;
	for (const struct node_pod *t = o ? o->put : NULL; t; t = t->next_owned) {
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
		assert_false(w->pod[i].there && model_over_full(w, &w->pod[i]));
}

/* The same world, told at once, with expected pods as bound ones. without: a bit for each owner
 * that is left out. */
static struct nodes *anew(const struct world *w, unsigned without)
{
	struct nodes *n = nodes_new();
	for (size_t i = 0; i < 3; i++)
		tell_namespace(n, w, i);
	tell_device_classes(n, w);
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
		suitable += model_fits_ever(w, p, i);
		fitting += model_fits_now(w, p, i);
	}
	enum fit want = fitting ? FIT_NOW : suitable ? FIT_NOT_NOW : FIT_NEVER;
	nodes_fit(w->nodes, p, &got);
	int32_t room = nodes_room(w->nodes, p, ENOUGH);
	if (got.fit != want || got.suitable != suitable || got.nodes != there ||
		!model_reaches(w, p, 0, room)) {
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

/* Beside as many pods as fit no more fit, and the sentence is that of full nodes. */
static void check_beside(struct world *w, const struct pod *p)
{
	struct fit_answer a;
	int32_t room = nodes_room(w->nodes, p, INT32_MAX);
	nodes_fit_beside(w->nodes, p, room, &a);
	assert_int_equal(a.fit == FIT_NOW, !nodes_knows_scheduler(p));
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
