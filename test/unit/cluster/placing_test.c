/*
 * Pods that are put on nodes all at once are put where they would be one by one.
 *
 * In one world one run expects several pods. In the other as many runs expect a pod each, and each
 * is put before the next is told. Afterwards both worlds give the same answers, for pods of every
 * size on every node.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/unit/searched.h"
#include "words.h"

enum { NODES = 14, SIZES = 12, TEXT = 200 };

static uint64_t state;

static int roll(int sides)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int)(state % (uint64_t)sides);
}

static void make_node(char *text, int i)
{
	static const char *const zones[] = {"zone=a ", "zone=b ", "zone=c ", ""};
	static const char *const racks[] = {
		"rack=1 ", "rack=2 ", "rack=3 ", "rack=4 ", "rack=5 ", ""};
	int zone = roll(8), rack = roll(11);
	snprintf(text, TEXT, "n%d +cpu=%d +pods=%d host=h%d %s%s%s", i, 1 + roll(12), 1 + roll(12),
		i, zones[zone < 4 ? zone : zone % 3], racks[rack < 6 ? rack : rack % 5],
		roll(12) ? "" : "!spot=:NoSchedule");
}

/* A present pod or a new one. New ones mostly match their own selectors. */
static void make_pod(char *text)
{
	static const char *const wishes[] = {"apart/host/app:In:a", "apart/rack/app:In:a",
		"apart/zone/app:In:b", "near/zone/app:In:a", "near/rack/app:In:a,b",
		"near/host/app:In:a", "spread/zone/1/app:In:a", "spread/zone/3/app:In:a/min=3",
		"spread/host/1/app:In:a", "spread/host/2/app:In:a,b", "spread/rack/1/app:In:a,b",
		"spread/rack/2/app:In:a/taints=Honor", "spread/zone/1/*", "spread/host/3/app:In:b"};
	int n = 1 + roll(3), at = snprintf(text, TEXT, "in=x app=%s +cpu=1", roll(5) ? "a" : "b");
	for (int i = 0; i < n; i++)
		at += snprintf(text + at, (size_t)(TEXT - at), " %s", wishes[roll(14)]);
	if (roll(6) == 0)
		snprintf(text + at, (size_t)(TEXT - at), " ?zone:In:a,b");
}

static struct uid uid_of(int i)
{
	struct uid u = {{0}};
	u.byte[0] = (uint8_t)i;
	u.byte[1] = (uint8_t)(i >> 8);
	u.byte[2] = 1;
	return u;
}

static void ask(struct nodes *n, const struct pod *p)
{
	(void)nodes_room(n, p, 1);
}

static void compare(struct arena *a, struct nodes *at_once, struct nodes *in_turn, int seed,
	const char *pod, int pods)
{
	for (int i = 0; i < NODES; i++)
		for (int size = 1; size <= SIZES; size++) {
			char text[TEXT];
			snprintf(text, sizeof(text), "in=y +cpu=%d @host=h%d ~*", size, i);
			const struct pod *p = words_pod(a, text);
			int32_t x = nodes_room(at_once, p, 100), y = nodes_room(in_turn, p, 100);
			if (x != y)
				fail_msg(
					"seed %d: %d of \"%s\": node %d has room for %d of %d cpu; "
					"one by one %d",
					seed, pods, pod, i, (int)x, size, (int)y);
		}
}

static void run(int seed)
{
	struct arena a = {0};
	struct nodes *at_once = nodes_new(), *in_turn = nodes_new();
	char text[TEXT], pod[TEXT];
	state = (uint64_t)seed * 0x9E3779B97F4A7C15u + 1;
	for (int i = 0; i < 50; i++)
		roll(2);
	for (int i = 0; i < NODES; i++) {
		make_node(text, i);
		nodes_set(at_once, words_node(&a, text));
		nodes_set(in_turn, words_node(&a, text));
	}
	for (int i = roll(4); i > 0; i--) {
		char name[8];
		snprintf(name, sizeof(name), "n%d", roll(NODES));
		struct bound_pod b = {.uid = uid_of(1000 + i), .node = name};
		b.pod = words_pod(&a, roll(2) ? "in=x app=a +cpu=1" : "in=x app=b +cpu=1");
		nodes_bind(at_once, &b);
		nodes_bind(in_turn, &b);
	}
	int pods = 1 + roll(60);
	if (roll(6))
		make_pod(pod);
	else
		snprintf(pod, sizeof(pod), "in=x +cpu=%d", 1 + roll(3));
	struct pod *p = words_pod(&a, pod);
	struct uid whole = uid_of(1);
	assert_int_equal(nodes_room(at_once, p, pods), nodes_room(in_turn, p, pods));
	nodes_expect(at_once, &whole, p, pods);
	ask(at_once, p);
	for (int i = 0; i < pods; i++) {
		struct uid one = uid_of(1 + i);
		nodes_expect(in_turn, &one, p, 1);
		ask(in_turn, p);
	}
	compare(&a, at_once, in_turn, seed, pod, pods);
	nodes_free(at_once);
	nodes_free(in_turn);
	arena_done(&a);
}

static void at_once_is_as_one_by_one(void **unused)
{
	(void)unused;
	const char *only = getenv("SLUICE_SEED");
	for (unsigned seed = 1; seed <= searched(500, 1500); seed++)
		if (!only || strtoul(only, NULL, 10) == seed)
			run(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(at_once_is_as_one_by_one)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
