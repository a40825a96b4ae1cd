/* Expected pods, and pods that would be gone: how much room is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "words.h"

/* A test's world. Jobs are "A", "B" ..., their pods "A1", "A2" ... */
struct stage {
	struct nodes *nodes;
	struct arena arena;
};

static struct uid job(char letter)
{
	return (struct uid){{(uint8_t)letter}};
}

static struct uid pod_uid(const char *name)
{
	return (struct uid){{(uint8_t)name[0], (uint8_t)name[1]}};
}

static struct stage world(const char *text)
{
	struct stage s = {.nodes = nodes_new()};
	words_world(s.nodes, text);
	return s;
}

static void done(struct stage *s)
{
	nodes_free(s->nodes);
	arena_done(&s->arena);
}

static void expect(struct stage *s, char letter, const char *pod, int32_t pods)
{
	struct uid uid = job(letter);
	nodes_expect(s->nodes, &uid, words_pod(&s->arena, pod), pods);
}

static void bind(struct stage *s, const char *name, const char *node, const char *pod)
{
	nodes_bind(s->nodes, &(struct bound_pod){.uid = pod_uid(name),
				     .node = node,
				     .pod = words_pod(&s->arena, pod),
				     .owner = job(name[0])});
}

static void unbind(struct stage *s, const char *name)
{
	struct uid uid = pod_uid(name);
	nodes_unbind(s->nodes, &uid);
}

static int32_t room(struct stage *s, const char *pod)
{
	return nodes_room(s->nodes, words_pod(&s->arena, pod), 1000);
}

static int32_t room_without(struct stage *s, const char *pod, const char *letters)
{
	struct uid uid[8];
	size_t n = 0;
	for (; letters[n]; n++)
		uid[n] = job(letters[n]);
	return nodes_room_without(s->nodes, words_pod(&s->arena, pod), 1000, uid, n);
}

/* ---- Expected pods --------------------------------------------------------------------------- */

/* The room for pods of one kind once others are expected. */
static void what_is_expected_takes_room(void **state)
{
	(void)state;
	static const struct {
		const char *world, *expected;
		int32_t pods;
		const char *asked;
		int32_t room;
	} rows[] = {
		{"a|b", "+cpu=5", 0, "+cpu=5", 4},
		{"a|b", "+cpu=5", 1, "+cpu=5", 3},
		{"a|b", "+cpu=5", 4, "+cpu=5", 0},
		{"a|b", "+cpu=5", 9, "+cpu=5", 0},  /* more than fit */
		{"a|b", "+cpu=11", 3, "+cpu=5", 4}, /* none fits */
		/* They are put where most room is left, so apart, and no large one fits. */
		{"a|b", "+cpu=5", 2, "+cpu=10", 0},
		{"a|b", "+cpu=5", 1, "+cpu=10", 1},
		{"a|b +cpu=30", "+cpu=5", 4, "+cpu=10", 2},
		{"a|b +cpu=30", "+cpu=5", 5, "+cpu=5", 3},
		{"a +pods=2|b +pods=2", "", 3, "", 1},
		{"a zone=x|b zone=y", "@zone=y +cpu=5", 3, "+cpu=5", 2},
		{"a cordon|b", "+cpu=5", 3, "+cpu=5", 0},
		{"a|b", "+cpu=1 :80", 5, ":80", 0},
		{"a|b", "+cpu=1 :80", 1, ":80", 1},
		{"a|b", "scheduler=mine +cpu=5", 2, "+cpu=5", 4}, /* unknown scheduler */
		{"a|b", "node=b +cpu=5", 1, "+cpu=5", 3},
		{"a|b", "node=c +cpu=5", 1, "+cpu=5", 4},
		{"a zone=x|b zone=y", "app=w apart/zone/app:In:w", 1, "app=w", 10},
		{"a zone=x|b zone=y", "app=w apart/zone/app:In:w", 2, "app=w", 0},
		{"a zone=x|b zone=y", "app=w apart/zone/app:In:w", 9, "", 18},
		{"a zone=x|b zone=y +cpu=13", "app=w +cpu=3", 1, "near/zone/app:In:w +cpu=3", 3},
		{"a zone=x|b zone=y +cpu=4", "+cpu=2 app=w spread/zone/1/app:In:w", 5, "+cpu=2", 2},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct stage s = world(rows[i].world);
		expect(&s, 'A', rows[i].expected, rows[i].pods);
		int32_t got = room(&s, rows[i].asked);
		if (got != rows[i].room)
			fail_msg("nodes %s, %d of %s expected: %s wants room for %d, is %d",
				rows[i].world, (int)rows[i].pods, rows[i].expected, rows[i].asked,
				(int)rows[i].room, (int)got);
		done(&s);
	}
}

static void who_comes_takes_one_of_them_off(void **state)
{
	(void)state;
	struct stage s = world("a|b");
	expect(&s, 'A', "+cpu=5", 3);
	assert_int_equal(room(&s, "+cpu=5"), 1);
	bind(&s, "A1", "a", "+cpu=5");
	assert_int_equal(room(&s, "+cpu=5"), 1);
	bind(&s, "A1", "a", "+cpu=5 app=w"); /* the same pod */
	assert_int_equal(room(&s, "+cpu=5"), 1);
	bind(&s, "A2", "a", "+cpu=5");
	bind(&s, "A3", "b", "+cpu=5");
	assert_int_equal(room(&s, "+cpu=5"), 1);
	bind(&s, "A4", "b", "+cpu=5"); /* one more than expected */
	assert_int_equal(room(&s, "+cpu=5"), 0);
	unbind(&s, "A4");
	assert_int_equal(room(&s, "+cpu=5"), 1);
	unbind(&s, "A3"); /* a successor is expected */
	assert_int_equal(room(&s, "+cpu=5"), 1);
	expect(&s, 'A', "+cpu=5", 2);
	assert_int_equal(room(&s, "+cpu=5"), 2);
	expect(&s, 'A', "", 0);
	expect(&s, 'A', "", 0);
	unbind(&s, "A1");
	assert_int_equal(room(&s, "+cpu=5"), 3);
	done(&s);
}

/* A bound pod replaces the one expected on its node; the others stay where they were put. */
static void it_is_the_one_on_its_node(void **state)
{
	(void)state;
	struct stage s = world("a|b");
	expect(&s, 'A', "+cpu=5", 2);
	assert_int_equal(room(&s, "+cpu=6"), 0);
	bind(&s, "A1", "a", "+cpu=5");
	assert_int_equal(room(&s, "+cpu=6"), 0);
	bind(&s, "A2", "a", "+cpu=5"); /* not on b, where it was expected */
	assert_int_equal(room(&s, "+cpu=10"), 1);
	done(&s);
}

static void order_does_not_matter(void **state)
{
	(void)state;
	for (int order = 0; order < 6; order++) {
		struct stage s = world("");
		for (int step = 0; step < 3; step++) {
			switch ((order + step * (order < 3 ? 1 : 2)) % 3) {
			case 0:
				words_world(s.nodes, "a|b");
				break;
			case 1:
				expect(&s, 'A', "+cpu=5", 2);
				break;
			default:
				bind(&s, "A1", "b", "+cpu=5");
			}
		}
		assert_int_equal(room(&s, "+cpu=5"), 2);
		assert_int_equal(room(&s, "+cpu=6"), 0);
		done(&s);
	}
}

static void a_node_that_changes_under_them(void **state)
{
	(void)state;
	struct stage s = world("a|b|c");
	expect(&s, 'A', "+cpu=6", 2);
	assert_int_equal(room(&s, "+cpu=6"), 1);
	nodes_drop(s.nodes, "a");
	assert_int_equal(room(&s, "+cpu=6"), 0); /* b and c */
	nodes_drop(s.nodes, "b");
	assert_int_equal(room(&s, "+cpu=4"), 1); /* one is put nowhere */
	words_world(s.nodes, "b");
	assert_int_equal(room(&s, "+cpu=6"), 0);
	words_world(s.nodes, "d +cpu=4");
	words_world(s.nodes, "c +cpu=5"); /* shrinks: too small for one now */
	assert_int_equal(room(&s, "+cpu=5"), 1);
	words_world(s.nodes, "c cordon");
	assert_int_equal(room(&s, "+cpu=4"), 2); /* b, d */
	words_world(s.nodes, "c");
	assert_int_equal(room(&s, "+cpu=6"), 0);
	bind(&s, "B1", "b", "+cpu=6"); /* another Job's pod was faster */
	assert_int_equal(room(&s, "+cpu=6"), 0);
	assert_int_equal(room(&s, "+cpu=4"), 3); /* beside each of them, and d */
	unbind(&s, "B1");
	assert_int_equal(room(&s, "+cpu=6"), 0);
	assert_int_equal(room_without(&s, "+cpu=6", "A"), 2);
	done(&s);
}

/* Room that comes free goes to the run that was admitted first, before any answer counts it. */
static void what_found_no_room_waits_for_it(void **state)
{
	(void)state;
	struct stage s = world("a|a <- +cpu=1");
	bind(&s, "C1", "a", "+cpu=5");
	expect(&s, 'A', "+cpu=5", 1);
	expect(&s, 'B', "+cpu=3", 1);
	assert_int_equal(room(&s, "+cpu=1"), 1);
	unbind(&s, "C1");
	assert_int_equal(room(&s, "+cpu=1"), 1);
	expect(&s, 'A', "", 0);
	assert_int_equal(room(&s, "+cpu=1"), 6);
	done(&s);
}

static void another_template_is_another_making(void **state)
{
	(void)state;
	struct stage s = world("a|b");
	expect(&s, 'A', "+cpu=5", 2);
	assert_int_equal(room(&s, "+cpu=5"), 2);
	expect(&s, 'A', "+cpu=10", 2);
	assert_int_equal(room(&s, "+cpu=1"), 0);
	expect(&s, 'A', "+cpu=1", 2);
	assert_int_equal(room(&s, "+cpu=9"), 2);
	done(&s);
}

static void overhead_of_its_runtime_class(void **state)
{
	(void)state;
	struct stage s = world("a");
	struct resource two = {"cpu", 2000};
	struct pod *p = words_pod(&s.arena, "+cpu=4");
	struct uid uid = job('A');
	p->resources.runtime_class = "kata";
	nodes_expect(s.nodes, &uid, p, 1);
	assert_int_equal(room(&s, "+cpu=1"), 6);
	nodes_set_runtime_class(
		s.nodes, &(struct runtime_class_spec){.name = "kata", .overhead = {&two, 1}});
	assert_int_equal(room(&s, "+cpu=1"), 4);
	nodes_drop_runtime_class(s.nodes, "kata");
	assert_int_equal(room(&s, "+cpu=1"), 6);
	done(&s);
}

/* ---- Pods that would be gone ----------------------------------------------------------------- */

static void room_without_some(void **state)
{
	(void)state;
	struct stage s = world("a|b|a <- +cpu=1");
	bind(&s, "A1", "a", "+cpu=8");
	bind(&s, "B1", "b", "+cpu=4");
	expect(&s, 'C', "+cpu=5", 1); /* on b */
	assert_int_equal(room(&s, "+cpu=5"), 0);
	assert_int_equal(room_without(&s, "+cpu=5", ""), 0);
	assert_int_equal(room_without(&s, "+cpu=5", "A"), 1);
	assert_int_equal(room_without(&s, "+cpu=5", "AA"), 1);
	assert_int_equal(room_without(&s, "+cpu=5", "B"), 1);
	assert_int_equal(room_without(&s, "+cpu=5", "BC"), 2);
	assert_int_equal(room_without(&s, "+cpu=5", "ABC"), 3);
	assert_int_equal(room_without(&s, "+cpu=5", "XYZ"), 0);
	assert_int_equal(room_without(&s, "scheduler=mine", "A"), 1000);
	assert_int_equal(room(&s, "+cpu=5"), 0); /* nothing has changed */
	assert_int_equal(room(&s, "+cpu=1"), 2);
	done(&s);
}

static void room_without_those_that_repel(void **state)
{
	(void)state;
	struct stage s = world("a zone=x|b zone=y");
	bind(&s, "A1", "a", "app=w apart/zone/app:In:w");
	bind(&s, "B1", "b", "app=v :80");
	assert_int_equal(room(&s, "app=w"), 9);
	assert_int_equal(room_without(&s, "app=w", "A"), 19);
	assert_int_equal(room(&s, "app=w apart/zone/app:In:w"), 1);
	assert_int_equal(room_without(&s, "app=w apart/zone/app:In:w", "A"), 2);
	assert_int_equal(room_without(&s, ":80", "B"), 2);
	assert_int_equal(room_without(&s, "near/zone/app:In:v", "B"), 0);
	assert_int_equal(room(&s, "near/zone/app:In:v"), 9);
	done(&s);
}

/* ---- words, and what moves ------------------------------------------------------------------- */

static void why_no_more_of_them_fit(void **state)
{
	(void)state;
	struct stage s = world("a|b|c !gpu=yes:NoSchedule|b <- +cpu=9");
	struct fit_answer got;
	struct pod *p = words_pod(&s.arena, "+cpu=3");
	assert_int_equal(room(&s, "+cpu=3"), 3);
	uint64_t version = nodes_version(s.nodes);
	nodes_fit_beside(s.nodes, p, 3, &got);
	assert_int_equal(got.fit, FIT_NOT_NOW);
	assert_string_equal(got.sentence, "0/3 nodes are available: 1 node(s) had untolerated "
					  "taint(s), 2 Insufficient cpu");
	nodes_fit_beside(s.nodes, p, 2, &got);
	assert_int_equal(got.fit, FIT_NOW);
	nodes_fit_beside(s.nodes, p, 0, &got);
	assert_int_equal(got.fit, FIT_NOW);
	assert_int_equal(room(&s, "+cpu=3"), 3);
	assert_int_equal(nodes_version(s.nodes), version);
	done(&s);
}

static void the_version_moves_with_what_is_told(void **state)
{
	(void)state;
	struct stage s = world("a");
	uint64_t version = nodes_version(s.nodes);
	expect(&s, 'A', "+cpu=5", 1);
	assert_true(nodes_version(s.nodes) > version);
	version = nodes_version(s.nodes);
	assert_int_equal(room(&s, "+cpu=5"), 1); /* it is put now, which is no fact */
	expect(&s, 'A', "+cpu=5", 1);
	expect(&s, 'B', "+cpu=5", 0);
	assert_int_equal(nodes_version(s.nodes), version);
	expect(&s, 'A', "+cpu=5", 0);
	assert_true(nodes_version(s.nodes) > version);
	done(&s);
}

static bool ground_moves(struct stage *s, const char *what)
{
	uint64_t before = nodes_ground(s->nodes);
	words_world(s->nodes, what);
	return nodes_ground(s->nodes) != before;
}

static void the_ground_moves_with_shapes(void **state)
{
	(void)state;
	struct stage s = world("");
	assert_true(ground_moves(&s, "a zone=x host=a"));
	assert_false(ground_moves(&s, "b zone=x host=b"));
	assert_false(ground_moves(&s, "b zone=x host=b"));
	assert_false(ground_moves(&s, "a <- +cpu=5"));
	assert_true(ground_moves(&s, "b zone=y host=b"));
	assert_true(ground_moves(&s, "c zone=y host=c pool=c")); /* "pool" is a node's own now */
	assert_false(ground_moves(&s, "d zone=y host=d pool=d"));
	uint64_t before = nodes_ground(s.nodes);
	nodes_drop(s.nodes, "d");
	assert_int_equal(nodes_ground(s.nodes), before);
	nodes_drop(s.nodes, "a"); /* the last of its shape */
	assert_true(nodes_ground(s.nodes) != before);
	assert_int_equal(room(&s, "@host=e"), 0); /* a pod means single nodes */
	assert_true(ground_moves(&s, "e zone=y host=e"));
	before = nodes_ground(s.nodes);
	nodes_set_runtime_class(s.nodes, &(struct runtime_class_spec){.name = "kata"});
	assert_true(nodes_ground(s.nodes) != before);
	done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_expected_takes_room),
		cmocka_unit_test(who_comes_takes_one_of_them_off),
		cmocka_unit_test(it_is_the_one_on_its_node),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(a_node_that_changes_under_them),
		cmocka_unit_test(what_found_no_room_waits_for_it),
		cmocka_unit_test(another_template_is_another_making),
		cmocka_unit_test(overhead_of_its_runtime_class),
		cmocka_unit_test(room_without_some),
		cmocka_unit_test(room_without_those_that_repel),
		cmocka_unit_test(why_no_more_of_them_fit),
		cmocka_unit_test(the_version_moves_with_what_is_told),
		cmocka_unit_test(the_ground_moves_with_shapes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
