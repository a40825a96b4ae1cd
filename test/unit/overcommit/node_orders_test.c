/*
 * Orders of nodes: whom they name, in which order, and when they are others.
 */
#include "controller/overcommit/node_orders.h"

#include "base/mix.h"
#include "node/wire.h"
#include "test/unit/kube/test.h"

#define GI (INT64_C(1) << 30)
#define NOW_MS INT64_C(1795255200000)

/* ---- what the queue says --------------------------------------------------------------------- */

static uint8_t borrower, ender; /* the first byte of the uid of the Job; 0: none */

const char *__wrap_queue_job_namespace(const struct queue *q, const struct uid *uid);
const char *__wrap_queue_job_namespace(const struct queue *q, const struct uid *uid)
{
	(void)q;
	(void)uid;
	return "a";
}

bool __wrap_queue_job_borrows(const struct queue *q, const struct uid *uid);
bool __wrap_queue_job_ends_when_stopped(const struct queue *q, const struct uid *uid);

bool __wrap_queue_job_borrows(const struct queue *q, const struct uid *uid)
{
	(void)q;
	return borrower && uid->byte[0] == borrower;
}

bool __wrap_queue_job_ends_when_stopped(const struct queue *q, const struct uid *uid)
{
	(void)q;
	return ender && uid->byte[0] == ender;
}

/* ---- a node with pods ------------------------------------------------------------------------ */

struct stage {
	struct inventory *inventory;
	struct node_orders *orders;
	int changes;
	int64_t now_ms;
};

static void on_changed(const char *node, void *ctx)
{
	assert_string_equal(node, "n1");
	((struct stage *)ctx)->changes++;
}

static void on_lent(struct inventory_node *n, void *ctx)
{
	struct stage *s = ctx;
	node_orders_look(s->orders, n, s->now_ms);
}

static struct inventory_node *n1(const struct stage *s)
{
	return inventory_find(s->inventory, "n1");
}

static void see_node(struct stage *s)
{
	struct node_facts *f = mem_alloc(sizeof(*f));
	*f = (struct node_facts){.name = "n1",
		.ready = true,
		.metrics_path = "",
		.capacity = {96000, 100 * GI},
		.reservation = {2000, GI}};
	f->uid.byte[0] = 1;
	inventory_see_node(s->inventory, f);
	n1(s)->node_state.strategy = strategy_default(PROFILE_ACK);
	n1(s)->node_state.strategy.enable = true;
	n1(s)->node_state.ruled = true;
}

static struct stage open_stage(void)
{
	struct stage s = {.inventory = inventory_new(), .now_ms = NOW_MS};
	borrower = ender = 0;
	see_node(&s);
	return s;
}

/* s must not move from here on. */
static const struct orders *ask(struct stage *s)
{
	if (!s->orders) {
		struct node_orders_options o = {
			.inventory = s->inventory, .changed = on_changed, .ctx = s};
		s->orders = node_orders_new(&o);
		inventory_on_lent(s->inventory, on_lent, s);
	}
	return node_orders_of(s->orders, n1(s), s->now_ms);
}

static void close_stage(struct stage *s)
{
	inventory_free(s->inventory);
	node_orders_free(s->orders);
}

/* A lent pod of the Job `number`, as it is seen by the watch. */
static struct pod_facts lent(const char *name, uint8_t number, int64_t milli, int64_t gi)
{
	struct pod_facts f = {.ns = "a",
		.name = name,
		.node = "n1",
		.phase = POD_RUNNING,
		.has_owner_job = true,
		.queued = true,
		.batch_asked = {milli, gi * GI},
		.started_ms = NOW_MS};
	f.uid.byte[0] = f.owner_job.byte[0] = number;
	f.tier.asks_for_lent = true;
	return f;
}

static void see(struct stage *s, const char *name, uint8_t number, int64_t milli, int64_t gi)
{
	struct pod_facts f = lent(name, number, milli, gi);
	inventory_see_pod(s->inventory, &f);
}

/* The first bytes of the uids, in their order. */
static void is_order(struct stage *s, const char *numbers)
{
	const struct orders *o = ask(s);
	char text[32] = "";
	assert_true(o->npods < sizeof(text));
	for (size_t i = 0; i < o->npods; i++)
		text[i] = (char)('0' + o->pods[i].uid.byte[0]);
	assert_string_equal(text, numbers);
}

/* ---- what they say --------------------------------------------------------------------------- */

static void lent_pods_and_what_holds(void **state)
{
	(void)state;
	struct stage s = open_stage();
	struct pod_facts ordinary = {.ns = "a",
		.name = "web",
		.node = "n1",
		.phase = POD_RUNNING,
		.request = {20000, 20 * GI}};
	inventory_see_pod(s.inventory, &ordinary);
	struct pod_facts other = lent("other", 2, 500, 1);
	other.queued = false;
	inventory_see_pod(s.inventory, &other);
	struct pod_facts both = lent("both", 1, 1500, 4);
	both.gocran_asked = (struct load){1000, GI};
	inventory_see_pod(s.inventory, &both);
	const struct orders *o = ask(&s);
	assert_true(o->lends && o->limits && o->suppress && o->generation != 0);
	assert_int_equal(o->capacity.cpu_milli, 96000);
	assert_int_equal(o->reserved.cpu_milli, 2000);
	assert_int_equal(o->suppress_percent, 65);
	assert_int_equal(o->suppress_min_percent, 2);
	assert_int_equal(o->suppress_rise_percent, 10);
	assert_int_equal(o->idle, CPU_IDLE_NEVER);
	assert_int_equal(o->hold_percent, 90);
	assert_int_equal(o->end_percent, 96);
	assert_int_equal(o->npods, 2);
	assert_int_equal(o->pods[0].uid.byte[0], 1);
	assert_int_equal(o->pods[0].asked.cpu_milli, 2500);
	assert_true(o->pods[0].asked.memory_bytes == 5 * GI);
	assert_false(o->pods[0].stays);
	assert_true(o->pods[1].stays); /* of no queued Job */
	assert_int_equal(o->pods[0].ncontainers, 0);
	assert_null(o->pods[0].containers);
	close_stage(&s);
}

static void containers_where_there_are_several(void **state)
{
	static const struct lent_container containers[] = {
		{"aa00000000000000000000000000000000000000000000000000000000000000", {700, GI}},
		{"bb00000000000000000000000000000000000000000000000000000000000000", {300, 0}},
	};
	(void)state;
	struct stage s = open_stage();
	struct pod_facts f = lent("p", 1, 1000, 1);
	inventory_see_pod(s.inventory, &f);
	see(&s, "q", 2, 1000, 1);
	int64_t before = ask(&s)->generation;
	f.containers = containers; /* they have started */
	f.ncontainers = 2;
	inventory_see_pod(s.inventory, &f);
	assert_int_equal(s.changes, 1);
	const struct ordered_pod *p = orders_find(ask(&s), &f.uid);
	assert_int_equal(p->ncontainers, 2);
	assert_string_equal(p->containers[1].id, containers[1].id);
	assert_int_equal(p->containers[1].asked.cpu_milli, 300);
	assert_true(ask(&s)->generation != before);
	inventory_see_pod(s.inventory, &f);
	assert_int_equal(s.changes, 1); /* nothing new */
	close_stage(&s);
}

static void a_node_that_lends_nothing(void **state)
{
	(void)state;
	struct stage s = open_stage();
	see(&s, "p", 1, 1000, 1);
	assert_int_equal(ask(&s)->npods, 1);
	n1(&s)->node_state.strategy.enable = false;
	node_orders_tick(s.orders, s.now_ms);
	assert_int_equal(s.changes, 1);
	assert_false(ask(&s)->lends);
	assert_int_equal(ask(&s)->npods, 0);
	assert_int_equal(ask(&s)->capacity.cpu_milli, 96000);
	close_stage(&s);
}

static void nothing_is_said_before_the_configuration_is_known(void **state)
{
	(void)state;
	struct stage s = open_stage();
	n1(&s)->node_state.ruled = false;
	assert_null(ask(&s));
	assert_int_equal(node_orders_count(s.orders), 0);
	close_stage(&s);
}

/* More than any kubelet runs: those that go first are named. */
static void there_are_bounds(void **state)
{
	(void)state;
	struct stage s = open_stage();
	for (int i = 0; i < ORDERS_PODS_MAX + 10; i++) {
		char name[32];
		snprintf(name, sizeof(name), "p%d", i);
		struct pod_facts f = lent(name, 1, 1000, 1);
		f.uid.byte[1] = (uint8_t)(i >> 8);
		f.uid.byte[2] = (uint8_t)i;
		inventory_see_pod(s.inventory, &f);
	}
	assert_int_equal(ask(&s)->npods, ORDERS_PODS_MAX);
	close_stage(&s);
}

/* A tenant with pods of very many containers does not make the orders of a node too long to be sent:
 * an agent without orders would hold no pod at all. */
static void pods_of_very_many_containers_fit(void **state)
{
	(void)state;
	struct stage s = open_stage();
	struct lent_container all[LENT_CONTAINERS_MAX];
	size_t named = 0;
	struct buf text;
	for (int i = 0; i < ORDERS_PODS_MAX; i++) {
		char name[32];
		snprintf(name, sizeof(name), "p%d", i);
		struct pod_facts f = lent(name, 1, INT64_MAX / 2, 1);
		f.uid.byte[1] = (uint8_t)(i >> 8);
		f.uid.byte[2] = (uint8_t)i;
		f.queued = false;
		f.containers = all;
		f.ncontainers = LENT_CONTAINERS_MAX;
		for (int c = 0; c < LENT_CONTAINERS_MAX; c++) {
			snprintf(all[c].id, sizeof(all[c].id), "%032x%032x", i, c);
			all[c].asked = (struct load){INT64_MAX / 64, INT64_MAX / 64};
		}
		inventory_see_pod(s.inventory, &f);
	}
	const struct orders *o = ask(&s);
	assert_int_equal(o->npods, ORDERS_PODS_MAX);
	for (size_t i = 0; i < o->npods; i++)
		named += o->pods[i].ncontainers;
	assert_int_equal(named, ORDERS_CONTAINERS_ALL);
	buf_init(&text, ORDERS_BYTES_MAX);
	wire_put_orders(o, &text);
	assert_false(text.failed);
	buf_done(&text);
	close_stage(&s);
}

/* ---- the order ------------------------------------------------------------------------------- */

static void who_goes_first(void **state)
{
	(void)state;
	struct stage s = open_stage();
	see(&s, "small", 1, 1000, 1);
	see(&s, "large", 2, 1000, 8);
	see(&s, "ends", 3, 1000, 9);
	struct pod_facts f = lent("cheap", 4, 1000, 1);
	f.eviction_priority = -1;
	inventory_see_pod(s.inventory, &f);
	ender = 3;
	is_order(&s, "4213");
	f = lent("small", 1, 1000, 1);
	f.deleting = true; /* goes anyway */
	inventory_see_pod(s.inventory, &f);
	is_order(&s, "1423");
	close_stage(&s);
}

/* By what they use only while memory is short: else each second would bring another order. */
static void use_decides_when_memory_is_short(void **state)
{
	(void)state;
	struct stage s = open_stage();
	see(&s, "asks", 1, 1000, 8);
	see(&s, "uses", 2, 1000, 6);
	struct usage_facts of_pod = {
		.ns = "a", .name = "uses", .at_ms = s.now_ms, .used = {1, 5 * GI}};
	struct usage_facts of_asker = {
		.ns = "a", .name = "asks", .at_ms = s.now_ms, .used = {1, GI}};
	struct usage_facts of_node = {
		.ns = "", .name = "n1", .at_ms = s.now_ms, .used = {1, 60 * GI}};
	inventory_sample_pod(s.inventory, &of_pod);
	inventory_sample_pod(s.inventory, &of_asker);
	inventory_sample_node(s.inventory, &of_node);
	is_order(&s, "12");
	of_node.used.memory_bytes = 71 * GI;
	of_node.at_ms = s.now_ms += 1000;
	inventory_sample_node(s.inventory, &of_node);
	node_orders_tick(s.orders, s.now_ms);
	is_order(&s, "12"); /* not each second */
	node_orders_tick(s.orders, s.now_ms += 1000);
	is_order(&s, "21");
	assert_int_equal(s.changes, 1);
	close_stage(&s);
}

static void what_jobs_do_is_looked_at_each_ten_seconds(void **state)
{
	(void)state;
	struct stage s = open_stage();
	see(&s, "p", 1, 1000, 8);
	see(&s, "q", 2, 1000, 1);
	is_order(&s, "12");
	borrower = 2;
	node_orders_tick(s.orders, s.now_ms + 9999);
	assert_int_equal(s.changes, 0);
	node_orders_tick(s.orders, s.now_ms + 10000);
	assert_int_equal(s.changes, 1);
	is_order(&s, "21");
	close_stage(&s);
}

/* ---- when they are others -------------------------------------------------------------------- */

static void a_generation_is_a_sum_of_the_content(void **state)
{
	(void)state;
	struct stage s = open_stage(), t = open_stage();
	see(&s, "p", 1, 1000, 1);
	int64_t first = ask(&s)->generation;
	see(&s, "q", 2, 1000, 1);
	assert_int_equal(s.changes, 1);
	assert_true(ask(&s)->generation != first);
	inventory_drop_pod(s.inventory, "a", "q");
	assert_int_equal(s.changes, 2);
	assert_true(ask(&s)->generation == first);
	see(&t, "p", 1, 1000, 1); /* another leader */
	assert_true(ask(&t)->generation == first);
	assert_true(first > 0 && first <= INT64_C(1) << 53); /* a double holds it */
	close_stage(&s);
	close_stage(&t);
}

static void an_ordinary_pod_changes_nothing(void **state)
{
	(void)state;
	struct stage s = open_stage();
	see(&s, "p", 1, 1000, 1);
	ask(&s);
	struct pod_facts web = {.ns = "a", .name = "web", .node = "n1", .request = {1000, GI}};
	inventory_see_pod(s.inventory, &web);
	inventory_drop_pod(s.inventory, "a", "web");
	see(&s, "p", 1, 1000, 1);
	see_node(&s); /* a heartbeat */
	node_orders_tick(s.orders, s.now_ms + 60000);
	assert_int_equal(s.changes, 0);
	close_stage(&s);
}

static void a_node_that_goes(void **state)
{
	(void)state;
	struct stage s = open_stage();
	ask(&s);
	assert_int_equal(node_orders_count(s.orders), 1);
	inventory_drop_node(s.inventory, "n1");
	node_orders_tick(s.orders, s.now_ms);
	assert_int_equal(s.changes, 1);
	assert_int_equal(node_orders_count(s.orders), 0);
	close_stage(&s);
}

/* What orders say, as text. */
static char *text_of(const struct orders *o)
{
	struct buf b;
	buf_init(&b, 1 << 20);
	buf_printf(&b, "%d %d %d %lld %lld;", o->lends, o->limits, o->suppress,
		(long long)o->hold_percent, (long long)o->end_percent);
	for (size_t i = 0; i < o->npods; i++)
		buf_printf(&b, " %u/%lld/%lld/%d", o->pods[i].uid.byte[0],
			(long long)o->pods[i].asked.cpu_milli,
			(long long)o->pods[i].asked.memory_bytes, o->pods[i].stays);
	return buf_take(&b);
}

/* Whatever happens: the generation is another one just when the content is, and then it is told. */
static void anything_may_happen(void **state)
{
	(void)state;
	struct stage s = open_stage();
	uint64_t seed = 41;
	char *before = text_of(ask(&s));
	int64_t generation = ask(&s)->generation;
	for (int i = 0; i < 3000; i++) {
		uint64_t r = draw64(&seed);
		char name[8];
		snprintf(name, sizeof(name), "p%u", (unsigned)(r % 8));
		struct pod_facts f = lent(name, (uint8_t)(1 + r % 8),
			500 + 500 * (int64_t)(r >> 8 & 1), 1 + (int64_t)(r >> 9 & 1));
		f.deleting = (r >> 10 & 7) == 0;
		f.queued = (r >> 13 & 7) != 0;
		int told = s.changes;
		s.now_ms += 1000 * (int64_t)(r >> 16 & 15);
		borrower = (uint8_t)(r >> 20 & 7);
		n1(&s)->node_state.strategy.limits = (r >> 24 & 31) != 0;
		if (r >> 32 & 1)
			inventory_see_pod(s.inventory, &f);
		else if (r >> 33 & 1)
			inventory_drop_pod(s.inventory, "a", name);
		else
			node_orders_tick(s.orders, s.now_ms);
		char *now = text_of(ask(&s));
		bool same = strcmp(now, before) == 0;
		assert_true(same == (ask(&s)->generation == generation));
		assert_true(same == (s.changes == told));
		generation = ask(&s)->generation;
		free(before);
		before = now;
	}
	assert_true(s.changes > 500);
	free(before);
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lent_pods_and_what_holds),
		cmocka_unit_test(containers_where_there_are_several),
		cmocka_unit_test(a_node_that_lends_nothing),
		cmocka_unit_test(nothing_is_said_before_the_configuration_is_known),
		cmocka_unit_test(there_are_bounds),
		cmocka_unit_test(pods_of_very_many_containers_fit),
		cmocka_unit_test(who_goes_first),
		cmocka_unit_test(use_decides_when_memory_is_short),
		cmocka_unit_test(what_jobs_do_is_looked_at_each_ten_seconds),
		cmocka_unit_test(a_generation_is_a_sum_of_the_content),
		cmocka_unit_test(an_ordinary_pod_changes_nothing),
		cmocka_unit_test(a_node_that_goes),
		cmocka_unit_test(anything_may_happen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
