/*
 * The inventory: what is kept of Nodes, Pods and samples, and when it goes.
 */
#include "controller/overcommit/inventory.h"

#include "test/unit/kube/test.h"

static struct node_facts *node(const char *name, uint8_t number)
{
	struct node_facts *f = mem_alloc(sizeof(*f));
	*f = (struct node_facts){.name = name, .ready = true, .metrics_path = ""};
	f->uid.byte[0] = number;
	f->capacity_lent = f->allocatable_lent = no_figures;
	return f;
}

static void see_pod(struct inventory *v, const char *name, const char *on, uint8_t number)
{
	struct pod_facts f = {
		.ns = "a", .name = name, .node = on, .phase = POD_RUNNING, .request = {1000, 1000}};
	f.uid.byte[0] = number;
	inventory_see_pod(v, &f);
}

static bool sample(struct inventory *v, const char *ns, const char *name, int64_t at_ms, int cpu)
{
	struct usage_facts u = {.ns = ns, .name = name, .at_ms = at_ms, .used = {cpu, cpu}};
	return *ns ? inventory_sample_pod(v, &u) : inventory_sample_node(v, &u);
}

static size_t length(const struct inventory_pod *p)
{
	size_t n = 0;
	for (; p; p = p->next)
		n++;
	return n;
}

static void pods_without_a_node_are_not_kept(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	inventory_see_node(v, node("n1", 1));
	see_pod(v, "p", "", 1);
	assert_int_equal(inventory_pods(v), 0);
	see_pod(v, "p", "n1", 1);
	assert_int_equal(inventory_pods(v), 1);
	struct pod_facts over = {.ns = "a", .name = "p", .node = "n1", .phase = POD_OVER};
	inventory_see_pod(v, &over);
	assert_int_equal(inventory_pods(v), 0);
	assert_null(inventory_find(v, "n1")->pods);
	inventory_free(v);
}

/* Pods are listed before their node. */
static void a_node_may_come_later(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	inventory_begin_pods(v);
	see_pod(v, "p", "n1", 1);
	inventory_end_pods(v);
	assert_null(inventory_find(v, "n1")->facts);
	inventory_see_node(v, node("n1", 1));
	assert_int_equal(inventory_find(v, "n1")->npods, 1);
	assert_true(inventory_find(v, "n1")->dirty);
	inventory_free(v);
}

static void what_a_list_does_not_have_is_gone(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	inventory_begin_nodes(v);
	inventory_see_node(v, node("n1", 1));
	inventory_see_node(v, node("n2", 2));
	inventory_end_nodes(v);
	see_pod(v, "p1", "n1", 1);
	see_pod(v, "p2", "n1", 2);
	inventory_begin_nodes(v);
	inventory_begin_nodes(v); /* it began anew */
	inventory_see_node(v, node("n1", 1));
	inventory_end_nodes(v);
	assert_null(inventory_find(v, "n2"));
	inventory_begin_pods(v);
	see_pod(v, "p2", "n1", 2);
	assert_int_equal(inventory_pods(v), 2); /* nothing before the end */
	inventory_end_pods(v);
	assert_int_equal(inventory_pods(v), 1);
	assert_int_equal(inventory_find(v, "n1")->npods, 1);
	inventory_free(v);
}

static void a_pod_that_was_used_dangles_for_a_round(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	inventory_see_node(v, node("n1", 1));
	see_pod(v, "p", "n1", 1);
	see_pod(v, "q", "n1", 2);
	assert_true(sample(v, "a", "p", 1000, 5));
	inventory_end_round(v);
	struct inventory_node *n = inventory_find(v, "n1");
	inventory_drop_pod(v, "a", "p");
	inventory_drop_pod(v, "a", "q"); /* never used: it is gone */
	inventory_drop_pod(v, "a", "p"); /* twice is once */
	assert_int_equal(n->npods, 0);
	assert_int_equal(length(n->dangling), 1);
	assert_true(sample(v, "a", "p", 16000, 6)); /* the source has it still */
	inventory_end_round(v);
	assert_int_equal(n->dangling->used.cpu_milli, 6);
	inventory_end_round(v); /* and now it has not */
	assert_null(n->dangling);
	assert_int_equal(inventory_pods(v), 0);
	assert_false(sample(v, "a", "p", 31000, 7));
	inventory_free(v);
}

/* As a StatefulSet's does. */
static void a_pod_of_the_same_name_is_another(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	inventory_see_node(v, node("n1", 1));
	inventory_see_node(v, node("n2", 2));
	see_pod(v, "p", "n1", 1);
	sample(v, "a", "p", 1000, 5);
	see_pod(v, "p", "n2", 2);
	assert_int_equal(length(inventory_find(v, "n1")->dangling), 1);
	assert_int_equal(inventory_find(v, "n2")->npods, 1);
	assert_int_equal(inventory_find(v, "n2")->pods->used_ms, 0);
	assert_true(sample(v, "a", "p", 16000, 7));
	assert_int_equal(inventory_find(v, "n2")->pods->used.cpu_milli, 7);
	inventory_end_round(v);
	inventory_end_round(v);
	assert_null(inventory_find(v, "n1")->dangling);
	assert_int_equal(inventory_pods(v), 1);
	inventory_free(v);
}

static void only_newer_samples_count(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	assert_false(sample(v, "", "n1", 1000, 1)); /* of nobody */
	inventory_see_node(v, node("n1", 1));
	assert_true(sample(v, "", "n1", 2000, 2));
	assert_false(sample(v, "", "n1", 2000, 3));
	assert_false(sample(v, "", "n1", 1000, 4));
	assert_int_equal(inventory_find(v, "n1")->used.cpu_milli, 2);
	inventory_free(v);
}

/* Another machine of that name: nothing of the old one counts. */
static void a_node_of_the_same_name_begins_anew(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	inventory_see_node(v, node("n1", 1));
	see_pod(v, "p", "n1", 1);
	sample(v, "", "n1", 2000, 2);
	inventory_find(v, "n1")->node_state.begun = true;
	inventory_see_node(v, node("n1", 1));
	assert_true(inventory_find(v, "n1")->node_state.begun);
	inventory_see_node(v, node("n1", 2));
	assert_false(inventory_find(v, "n1")->node_state.begun);
	assert_int_equal(inventory_find(v, "n1")->used_ms, 0);
	assert_int_equal(inventory_find(v, "n1")->npods, 1);
	inventory_free(v);
}

/* ---- agents ---------------------------------------------------------------------------------- */

static void see_lent(struct inventory *v, const char *name, uint8_t number)
{
	struct pod_facts f = {.ns = "a",
		.name = name,
		.node = "n1",
		.phase = POD_RUNNING,
		.batch_asked = {1000, 1000}};
	f.uid.byte[0] = number;
	inventory_see_pod(v, &f);
}

/* A sample in which the node uses so much, and the pods named by their numbers the same each. */
static bool report(struct inventory *v, int64_t at_ms, int node_cpu, int pod_cpu, const char *pods)
{
	struct sampled_pod pod[8] = {0};
	struct sample s = {.has_used = true, .used = {node_cpu, node_cpu}, .pods_used = {-1, -1}};
	for (; pods[s.npods]; s.npods++) {
		pod[s.npods].uid.byte[0] = (uint8_t)(pods[s.npods] - '0');
		pod[s.npods].used = (struct load){pod_cpu, pod_cpu};
	}
	s.pods = pod;
	struct inventory_node *n = inventory_find(v, "n1");
	inventory_take_agent(v, n, &s, at_ms, true);
	return n->used_ms == at_ms && n->by_agent && n->used.cpu_milli == node_cpu;
}

static const struct inventory_pod *pod(const struct inventory *v, const char *name)
{
	char key[64];
	snprintf(key, sizeof(key), "a/%s", name);
	return inventory_find_pod(v, key);
}

/* It names what changed, and all once a minute: what it does not name is as it was. */
static void an_agent_names_what_changed(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	inventory_see_node(v, node("n1", 1));
	see_lent(v, "p", 1);
	see_lent(v, "q", 2);
	see_pod(v, "web", "n1", 3);
	assert_true(report(v, 1000, 50, 5, "123"));
	assert_true(inventory_find(v, "n1")->by_agent);
	assert_int_equal(pod(v, "q")->used.cpu_milli, 5);
	assert_int_equal(pod(v, "web")->used_ms, 0); /* it speaks of lent pods alone */
	assert_true(report(v, 2000, 51, 7, "1"));
	assert_int_equal(pod(v, "p")->used.cpu_milli, 7);
	assert_int_equal(pod(v, "q")->used.cpu_milli, 5);
	assert_int_equal(pod(v, "q")->used_ms, 2000);
	assert_true(report(v, 90999, 51, 7, "1"));
	assert_int_equal(pod(v, "q")->used_ms, 90999);
	assert_true(report(v, 91000, 51, 7, "1"));
	assert_int_equal(pod(v, "q")->used_ms, 90999); /* unknown from here on */
	assert_false(report(v, 91000, 52, 7, "1"));    /* not newer */
	inventory_free(v);
}

/* Where another source is configured, it says of pods what they may have, and not what they use. */
static void an_agent_that_does_not_count(void **state)
{
	struct sampled_pod low = {.used = {9, 9}, .quota_milli = 500, .over = true};
	struct sample s = {.has_used = true, .used = {50, 50}, .pods = &low, .npods = 1};
	(void)state;
	struct inventory *v = inventory_new();
	inventory_see_node(v, node("n1", 1));
	see_lent(v, "p", 1);
	assert_int_equal(pod(v, "p")->lent->quota_milli, -1);
	low.uid.byte[0] = 1;
	inventory_take_agent(v, inventory_find(v, "n1"), &s, 1000, false);
	assert_int_equal(inventory_find(v, "n1")->used_ms, 0);
	assert_int_equal(pod(v, "p")->used_ms, 0);
	assert_int_equal(pod(v, "p")->lent->quota_milli, 500);
	assert_true(pod(v, "p")->lent->over);
	inventory_free(v);
}

static void a_lent_pod_that_is_gone_dangles_for_a_sample(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	inventory_see_node(v, node("n1", 1));
	see_lent(v, "p", 1);
	see_lent(v, "q", 2);
	report(v, 1000, 50, 5, "12");
	inventory_drop_pod(v, "a", "p");
	inventory_drop_pod(v, "a", "q");
	report(v, 2000, 50, 6, "2"); /* p ran into its window, q to its end */
	assert_int_equal(length(inventory_find(v, "n1")->dangling), 2);
	report(v, 3000, 50, 6, "");
	assert_int_equal(length(inventory_find(v, "n1")->dangling), 1);
	report(v, 4000, 50, 6, "");
	assert_int_equal(length(inventory_find(v, "n1")->dangling), 0);
	assert_int_equal(inventory_pods(v), 0);
	inventory_free(v);
}

/* A calm node reports each 5 s, and one that lends nothing each 30. */
static void an_agent_is_silent_when_it_is_late(void **state)
{
	static const struct {
		int64_t every_ms, lasts_ms;
	} rows[] = {{1000, 6000}, {5000, 10000}, {30000, 35000}, {600000, 35000}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct inventory *v = inventory_new();
		inventory_see_node(v, node("n1", 1));
		const struct inventory_node *n = inventory_find(v, "n1");
		assert_false(inventory_has_agent(n, 1000));
		report(v, 1000, 50, 5, "");
		assert_true(inventory_has_agent(n, 5999));
		assert_false(inventory_has_agent(n, 6000)); /* of one alone nothing is known */
		int64_t at_ms = 1000 + rows[i].every_ms;
		report(v, at_ms, 50, 5, "");
		assert_true(inventory_has_agent(n, at_ms - 900)); /* within a tick */
		assert_true(inventory_has_agent(n, at_ms + rows[i].lasts_ms - 1));
		assert_false(inventory_has_agent(n, at_ms + rows[i].lasts_ms));
		inventory_free(v);
	}
}

static void the_newest_source_holds(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	inventory_see_node(v, node("n1", 1));
	report(v, 20000, 50, 5, "");
	assert_false(sample(v, "", "n1", 15000, 40)); /* older */
	assert_true(sample(v, "", "n1", 25000, 41));
	assert_false(inventory_find(v, "n1")->by_agent);
	report(v, 26000, 50, 5, "");
	assert_true(inventory_find(v, "n1")->by_agent);
	struct sample unmeasured = {.has_used = false};
	inventory_take_agent(v, inventory_find(v, "n1"), &unmeasured, 27000, true);
	assert_int_equal(inventory_find(v, "n1")->used_ms, 26000);
	assert_int_equal(inventory_find(v, "n1")->used.cpu_milli, 50);
	inventory_drop_node(v, "n1");
	inventory_free(v);
}

/* An hour back: else nothing would count for an hour. */
static void the_clock_is_set_back(void **state)
{
	(void)state;
	struct inventory *v = inventory_new();
	inventory_see_node(v, node("n1", 1));
	see_lent(v, "p", 1);
	report(v, 3600000 + 5000, 50, 5, "1");
	assert_true(report(v, 5000, 51, 6, "1"));
	assert_int_equal(inventory_find(v, "n1")->used_ms, 5000);
	assert_int_equal(pod(v, "p")->used_ms, 5000);
	inventory_free(v);
}

/* 150,000 pods are ordinary: about 150 bytes each, and the name. */
static void a_pod_is_small(void **state)
{
	(void)state;
	char name[64];
	struct inventory *v = inventory_new();
	inventory_see_node(v, node("n1", 1));
	for (int i = 0; i < 15000; i++) {
		snprintf(name, sizeof(name), "deployment-5d8f9c7b6-%05d", i);
		see_pod(v, name, "n1", 1);
	}
	print_message("%zu bytes a pod\n", inventory_bytes(v) / 15000);
	assert_true(inventory_bytes(v) / 15000 < 200);
	inventory_clear(v);
	assert_true(inventory_bytes(v) < 4096);
	inventory_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_without_a_node_are_not_kept),
		cmocka_unit_test(a_node_may_come_later),
		cmocka_unit_test(what_a_list_does_not_have_is_gone),
		cmocka_unit_test(a_pod_that_was_used_dangles_for_a_round),
		cmocka_unit_test(a_pod_of_the_same_name_is_another),
		cmocka_unit_test(only_newer_samples_count),
		cmocka_unit_test(a_node_of_the_same_name_begins_anew),
		cmocka_unit_test(an_agent_names_what_changed),
		cmocka_unit_test(an_agent_that_does_not_count),
		cmocka_unit_test(a_lent_pod_that_is_gone_dangles_for_a_sample),
		cmocka_unit_test(an_agent_is_silent_when_it_is_late),
		cmocka_unit_test(the_newest_source_holds),
		cmocka_unit_test(the_clock_is_set_back),
		cmocka_unit_test(a_pod_is_small),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
