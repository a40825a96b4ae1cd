/* Which objects of admins decide in which Cohort tree, and that each change of them shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "queue/calendar/zone.h"
#include "test/unit/queue/worlds.h"

static const char *const only_batch[] = {"batch"};

static void set_batch(struct queue *q, int64_t generation, const char *cohort)
{
	make_queue(q,
		(struct clusterqueue_spec){
			.name = "batch", .generation = generation, .cohort = cohort},
		"spot", 1000);
}

static void set_beside(struct queue *q)
{
	struct clusterqueue_spec s = {
		.name = "beside", .generation = 1, .cohort = "", .has_namespace_selector = true};
	assert_int_equal(queue_set_clusterqueue(q, &s, NULL), 0);
}

static void set_cohort(struct queue *q, const char *name, const char *parent, int64_t generation)
{
	struct cohort_spec s = {
		.name = name, .parent = parent, .generation = generation, .weight = 1};
	assert_int_equal(queue_set_cohort(q, &s, NULL), 0);
}

static void set_calendar(struct queue *q, const char *name, int64_t generation)
{
	struct zone *utc = zone_utc();
	struct window_spec week = {.name = "week", .shape = WINDOW_WEEK, .to = {6, 1440}};
	struct calendar_spec s = {.name = name,
		.generation = generation,
		.time_zone = "UTC",
		.zone = utc,
		.window = &week,
		.nwindows = 1};
	assert_int_equal(queue_set_calendar(q, &s, NULL), 0);
	zone_free(utc);
}

static void set_policy(struct queue *q, int64_t generation)
{
	struct runpolicy_spec s = {.name = "night",
		.generation = generation,
		.queues = only_batch,
		.nqueues = 1,
		.calendar = "week"};
	bool again;
	assert_int_equal(queue_set_runpolicy(q, &s, &again, NULL), 0);
}

static void set_plan(struct queue *q, int64_t generation)
{
	struct price_base base = {"cpu", false, 40000};
	struct price_rate rate = {.calendar = "cheap", .window = "", .factor = 500000};
	struct priceplan_spec s = {.name = "power",
		.generation = generation,
		.currency = "EUR",
		.queues = only_batch,
		.nqueues = 1,
		.base = &base,
		.nbases = 1,
		.rate = &rate,
		.nrates = 1};
	assert_int_equal(queue_set_priceplan(q, &s, NULL), 0);
}

static void set_budget(struct queue *q, int64_t generation)
{
	struct zone *utc = zone_utc();
	struct budget_spec s = {.name = "monthly",
		.generation = generation,
		.clusterqueue = "batch",
		.localqueue_ns = "",
		.localqueue = "",
		.period = PERIOD_MONTHLY,
		.time_zone = "UTC",
		.zone = utc,
		.currency = "EUR",
		.amount = 1000000};
	assert_int_equal(queue_set_budget(q, &s, NULL), 0);
	zone_free(utc);
}

/* Those of one tree, in the order in which they are told. */
struct list {
	uint64_t tree;
	char text[1024];
	uint64_t editions; /* all of them: another number after each change */
};

static void add(uint64_t tree, const struct admin_object *o, void *ctx)
{
	struct list *l = ctx;
	size_t len = strlen(l->text);
	if (tree != l->tree)
		return;
	snprintf(l->text + len, sizeof(l->text) - len, "%s %s\n", o->kind, o->name);
	l->editions = l->editions * 1000003 + o->edition;
}

static struct list list_of(const struct queue *q, const char *clusterqueue)
{
	struct list l = {.tree = queue_tree_of(q, clusterqueue)};
	queue_each_admin_object(q, add, &l);
	return l;
}

static struct queue *world(void)
{
	struct queue *q = fixture_new(1000, 1000);
	set_batch(q, 1, "team");
	set_cohort(q, "team", "all", 1);
	set_cohort(q, "all", "", 1);
	set_calendar(q, "week", 1);
	set_calendar(q, "cheap", 1);
	set_policy(q, 1);
	set_plan(q, 1);
	set_budget(q, 1);
	set_beside(q);
	return q;
}

static void each_has_its_tree(void **state)
{
	(void)state;
	struct queue *q = world();
	assert_string_equal(list_of(q, "batch").text,
		"ClusterQueue batch\nCohort team\nCohort all\nResourceFlavor spot\nRunPolicy night\n"
		"Calendar week\nPricePlan power\nCalendar cheap\nBudget monthly\n");
	assert_string_equal(list_of(q, "beside").text, "ClusterQueue beside\n");
	assert_true(queue_tree_of(q, "nobody") == 0);
	queue_free(q);
}

static void those_below_one_cohort_are_one_tree(void **state)
{
	(void)state;
	struct queue *q = world();
	uint64_t tree = queue_tree_of(q, "batch");
	struct clusterqueue_spec s = {
		.name = "sibling", .cohort = "all", .has_namespace_selector = true};
	assert_int_equal(queue_set_clusterqueue(q, &s, NULL), 0);
	assert_true(tree != 0 && queue_tree_of(q, "sibling") == tree);
	assert_true(queue_tree_of(q, "beside") != tree);
	set_batch(q, 2, "");
	assert_true(queue_tree_of(q, "batch") != tree);
	/* A ClusterQueue of the Cohort's name. */
	struct clusterqueue_spec same = {
		.name = "all", .cohort = "", .has_namespace_selector = true};
	assert_int_equal(queue_set_clusterqueue(q, &same, NULL), 0);
	assert_true(queue_tree_of(q, "all") != tree);
	queue_free(q);
}

static void parents_in_a_ring_end(void **state)
{
	(void)state;
	struct queue *q = world();
	set_cohort(q, "all", "team", 2);
	assert_true(queue_tree_of(q, "batch") != 0);
	assert_non_null(strstr(list_of(q, "batch").text, "Cohort team\n"));
	queue_free(q);
}

static void edit_flavor(struct queue *q)
{
	static const struct label other = {"pool", "other"};
	struct flavor_spec s = {.name = "spot", .nodes = {.labels = &other, .nlabels = 1}};
	queue_set_flavor(q, &s, NULL);
}

static void each_change_shows(void **state)
{
	(void)state;
	struct queue *q = world();
	uint64_t before = list_of(q, "batch").editions;
	for (int i = 0; i < 9; i++) {
		switch (i) {
		case 0:
			set_batch(q, 2, "team");
			break;
		case 1:
			set_cohort(q, "team", "all", 2);
			break;
		case 2:
			set_cohort(q, "all", "", 2);
			break;
		case 3:
			edit_flavor(q);
			break;
		case 4:
			set_policy(q, 2);
			break;
		case 5:
			set_calendar(q, "week", 2);
			break;
		case 6:
			set_plan(q, 2);
			break;
		case 7:
			set_calendar(q, "cheap", 2);
			break;
		default:
			set_budget(q, 2);
		}
		uint64_t now = list_of(q, "batch").editions;
		if (now == before)
			fail_msg("change %d does not show", i);
		assert_true(list_of(q, "batch").editions == now);
		before = now;
	}
	edit_flavor(q); /* as it is */
	assert_true(list_of(q, "batch").editions == before);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_tree),
		cmocka_unit_test(those_below_one_cohort_are_one_tree),
		cmocka_unit_test(parents_in_a_ring_end),
		cmocka_unit_test(each_change_shows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
