/*
 * The reclaimer: whom it tells, and who counts as gone. What the queue says is the test's.
 */
#include "controller/overcommit/reclaimer.h"

#include "test/golden/requests.h"
#include "test/unit/kube/test.h"
#include "test/unit/kube/scripted_server.h"

#define GI (INT64_C(1) << 30)
#define NOW_MS INT64_C(1795255200000)
#define EVICT "POST /api/v1/namespaces/a/pods/%s/eviction"

/* What was asked of the queue: "uid's first byte:pods " each. */
static char asked[200];
static unsigned char refuses, ignores, borrows, ends; /* the first byte of a Job's uid; 0: none */
static int32_t least;				      /* min-parallelism of all */
static int32_t keeps;

bool __wrap_queue_reclaim_job(
	struct queue *q, const struct uid *uid, int32_t pods, const char *why);
bool __wrap_queue_reclaim_job(struct queue *q, const struct uid *uid, int32_t pods, const char *why)
{
	(void)q;
	size_t n = strlen(asked);
	assert_non_null(strstr(why, "node n"));
	snprintf(asked + n, sizeof(asked) - n, "%d:%d ", uid->byte[0], pods);
	keeps = pods >= least ? pods : 0;
	return uid->byte[0] != refuses;
}

int32_t __wrap_queue_job_keeps(const struct queue *q, const struct uid *uid);
int32_t __wrap_queue_job_keeps(const struct queue *q, const struct uid *uid)
{
	(void)q;
	(void)uid;
	return keeps;
}

const char *__wrap_queue_job_namespace(const struct queue *q, const struct uid *uid);
const char *__wrap_queue_job_namespace(const struct queue *q, const struct uid *uid)
{
	(void)q;
	(void)uid;
	return "a";
}

bool __wrap_queue_job_borrows(const struct queue *q, const struct uid *uid);
bool __wrap_queue_job_borrows(const struct queue *q, const struct uid *uid)
{
	(void)q;
	return uid->byte[0] == borrows;
}

bool __wrap_queue_job_ends_when_stopped(const struct queue *q, const struct uid *uid);
bool __wrap_queue_job_ends_when_stopped(const struct queue *q, const struct uid *uid)
{
	(void)q;
	return uid->byte[0] == ends;
}

bool __wrap_gate_job_ignores_disruption(const struct gate *g, const struct uid *uid);
bool __wrap_gate_job_ignores_disruption(const struct gate *g, const struct uid *uid)
{
	(void)g;
	return uid->byte[0] == ignores;
}

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct inventory *inventory;
	struct reclaimer *reclaimer;
	struct events *events;
	unsigned char pods;
	int64_t now_ms;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .now_ms = NOW_MS};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, NULL);
	s->inventory = inventory_new();
	s->events = events_new(&(struct events_options){
		.client = s->client, .level = EVENTS_STOPS, .identity = "me", .seed = 1});
	s->reclaimer = reclaimer_new(&(struct reclaimer_options){.client = s->client,
		.inventory = s->inventory,
		.gate = (struct gate *)s,
		.events = s->events});
	asked[0] = '\0';
	refuses = ignores = borrows = ends = 0;
	least = 1;
}

static void stage_close(struct stage *s)
{
	reclaimer_free(s->reclaimer);
	inventory_free(s->inventory);
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	kube_client_free(s->client);
	events_free(s->events);
	kube_config_free(s->config);
	golden_requests(s->server);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
}

/* A node that may lend so many cores, and memory enough. */
static struct node_state *add_node(struct stage *s, const char *name, int cores)
{
	struct node_facts *f = mem_alloc(sizeof(*f));
	*f = (struct node_facts){
		.name = name, .ready = true, .capacity = {100000, 100 * GI}, .metrics_path = ""};
	f->uid.byte[1] = (uint8_t)name[1];
	inventory_see_node(s->inventory, f);
	struct node_state *l = &inventory_find(s->inventory, name)->node_state;
	l->strategy = strategy_default(PROFILE_ACK);
	l->strategy.enable = true;
	l->freshness = FRESH;
	l->lent = (struct load){cores * 1000, 90 * GI};
	l->there.batch_cpu = l->lent.cpu_milli;
	l->there.batch_memory = l->lent.memory_bytes;
	return l;
}

/* Of a Job (0: of nobody's); asks for so many cores and 1 Gi. */
static void add_pod(
	struct stage *s, const char *name, const char *node, unsigned char job, int cores)
{
	struct pod_facts f = {.ns = "a",
		.name = name,
		.node = node,
		.phase = POD_RUNNING,
		.has_owner_job = job != 0,
		.queued = job != 0,
		.tier = {.asks_for_lent = true, .qos = POD_BEST_EFFORT},
		.batch_asked = {cores * 1000, GI},
		.looked_at = true,
		.started_ms = NOW_MS - 1000};
	f.uid.byte[0] = ++s->pods;
	f.owner_job.byte[0] = job;
	inventory_see_pod(s->inventory, &f);
}

static void set_news(struct stage *s)
{
	struct inventory_node *n;
	for (size_t i = 0; (n = inventory_node_at(s->inventory, i)); i++)
		n->node_state.news = true;
}

/* So many samples, fifteen seconds apart. */
static void look(struct stage *s, int samples)
{
	for (int i = 0; i < samples; i++) {
		set_news(s);
		reclaimer_tick(s->reclaimer, s->now_ms);
		s->now_ms += 15000;
	}
}

static void it_takes_two_samples(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_node(&s, "n1", 5);
	add_pod(&s, "p1", "n1", 1, 4);
	add_pod(&s, "p2", "n1", 2, 3);
	look(&s, 1);
	assert_string_equal(asked, "");
	reclaimer_tick(s.reclaimer, s.now_ms); /* the same sample is none */
	assert_string_equal(asked, "");
	look(&s, 1);
	assert_string_equal(asked, "1:0 "); /* who frees most; that is enough */
	look(&s, 3);			    /* its pods are still there: they count as gone */
	assert_string_equal(asked, "1:0 ");
	assert_int_equal(reclaimer_count(s.reclaimer, RECLAIM_ALLOCATABLE, RECLAIM_STOP), 1);
	stage_close(&s);
}

/* A pod of namespace b names a Job of namespace a as its owner: that Job is not stopped for it. */
static void a_pod_of_another_namespace_is_not_of_the_job(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_node(&s, "n1", 5);
	struct pod_facts f = {.ns = "b",
		.name = "false",
		.node = "n1",
		.phase = POD_RUNNING,
		.has_owner_job = true,
		.queued = true,
		.tier = {.asks_for_lent = true, .qos = POD_BEST_EFFORT},
		.batch_asked = {8000, GI},
		.looked_at = true};
	f.uid.byte[0] = 99;
	f.owner_job.byte[0] = 1;
	inventory_see_pod(s.inventory, &f);
	add_pod(&s, "p2", "n1", 2, 3);
	look(&s, 2);
	assert_string_equal(asked, "2:0 ");
	stage_close(&s);
}

/* A tenant may bind a pod to a node by hand, and have it ask for any amount: under a name that the
 * node does not publish its kubelet runs it, and under another one rejects it. No Job goes for it. */
static void a_pod_that_asks_for_what_nobody_granted(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_node(&s, "n1", 5);
	add_pod(&s, "p1", "n1", 1, 4);
	struct pod_facts f = {.ns = "b",
		.name = "greedy",
		.node = "n1",
		.phase = POD_RUNNING,
		.tier = {.asks_for_lent = true, .qos = POD_BEST_EFFORT},
		.gocran_asked = {INT64_MAX, INT64_MAX},
		.looked_at = true,
		.started_ms = NOW_MS - 1000};
	f.uid.byte[0] = 99;
	inventory_see_pod(s.inventory, &f);
	look(&s, 3);
	f.batch_asked = f.gocran_asked;
	f.looked_at = false;
	inventory_see_pod(s.inventory, &f);
	look(&s, 3);
	assert_string_equal(asked, "");
	f.batch_asked = (struct load){2000, GI};
	f.looked_at = true; /* there was room for it */
	inventory_see_pod(s.inventory, &f);
	look(&s, 2);
	assert_string_equal(asked, "1:0 ");
	stage_close(&s);
}

/* An agent's samples come each second: ten seconds of them, where two of a metrics-server do. */
static void an_agent_has_to_say_it_for_ten_seconds(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_node(&s, "n1", 5);
	add_pod(&s, "p1", "n1", 1, 8);
	inventory_find(s.inventory, "n1")->by_agent = true;
	for (int i = 0; i <= 10; i++) {
		assert_string_equal(asked, "");
		set_news(&s);
		reclaimer_tick(s.reclaimer, s.now_ms);
		s.now_ms += 1000;
	}
	assert_string_equal(asked, "1:0 ");
	stage_close(&s);
}

static void memory_is_taken_back_on_one_sample(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_node(&s, "n1", 50);
	add_pod(&s, "p1", "n1", 1, 4);
	struct inventory_node *n = inventory_find(s.inventory, "n1");
	n->by_agent = true;
	n->used = (struct load){10000, 70 * GI};
	set_news(&s);
	reclaimer_tick(s.reclaimer, s.now_ms);
	assert_string_equal(asked, "1:0 ");
	assert_int_equal(reclaimer_count(s.reclaimer, RECLAIM_MEMORY, RECLAIM_STOP), 1);
	stage_close(&s);
}

static void nobody_goes_on_what_is_not_fresh(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	struct node_state *l = add_node(&s, "n1", 0);
	add_pod(&s, "p1", "n1", 1, 4);
	l->freshness = HELD;
	look(&s, 5);
	l->freshness = DEGRADED;
	look(&s, 5);
	assert_string_equal(asked, "");
	stage_close(&s);
}

/* On node n1 Job 1 would have to go; but Job 2, which may not shrink, comes first of all, lies on
 * both, and is enough. */
static void of_two_jobs_one_is_enough(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	least = 2;
	add_node(&s, "n1", 4);
	add_node(&s, "n2", 4);
	add_pod(&s, "p1", "n1", 1, 4);
	add_pod(&s, "p2", "n1", 2, 4);
	add_pod(&s, "p3", "n2", 2, 6);
	add_pod(&s, "p4", "n2", 3, 4);
	look(&s, 2);
	assert_string_equal(asked, "2:1 ");
	stage_close(&s);
}

static void a_job_shrinks_where_all_of_it_is_short(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_node(&s, "n1", 5);
	add_node(&s, "n2", 50);
	add_pod(&s, "p1", "n1", 1, 2);
	add_pod(&s, "p2", "n1", 1, 2);
	add_pod(&s, "p3", "n1", 1, 2);
	add_pod(&s, "p4", "n2", 2, 2);
	look(&s, 2);
	assert_string_equal(asked, "1:2 ");
	look(&s, 3);
	assert_string_equal(asked, "1:2 ");
	assert_int_equal(reclaimer_count(s.reclaimer, RECLAIM_ALLOCATABLE, RECLAIM_SHRINK), 1);
	stage_close(&s);
}

/* The Job controller would choose which pod goes. */
static void a_job_that_is_elsewhere_too_stops(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_node(&s, "n1", 5);
	add_node(&s, "n2", 50);
	add_pod(&s, "p1", "n1", 1, 3);
	add_pod(&s, "p2", "n1", 1, 3);
	add_pod(&s, "p3", "n2", 1, 3);
	look(&s, 2);
	assert_string_equal(asked, "1:0 ");
	stage_close(&s);
}

/* It stops: its other pods count as gone, so that nobody else has to. */
static void too_few_to_go_on_is_a_stop(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	least = 3;
	add_node(&s, "n1", 5);
	add_pod(&s, "p1", "n1", 1, 2);
	add_pod(&s, "p2", "n1", 1, 2);
	add_pod(&s, "p3", "n1", 1, 2);
	look(&s, 2);
	assert_string_equal(asked, "1:2 ");
	assert_int_equal(reclaimer_count(s.reclaimer, RECLAIM_ALLOCATABLE, RECLAIM_STOP), 1);
	for (struct inventory_pod *p = inventory_find(s.inventory, "n1")->pods; p; p = p->next)
		assert_true(p->lent->told_ms != 0);
	stage_close(&s);
}

static void who_borrows_goes_first(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	borrows = 2;
	add_node(&s, "n1", 5);
	add_pod(&s, "p1", "n1", 1, 4);
	add_pod(&s, "p2", "n1", 2, 3);
	look(&s, 2);
	assert_string_equal(asked, "2:0 ");
	stage_close(&s);
}

static void one_that_would_end_as_complete_goes_last(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	ends = 1;
	add_node(&s, "n1", 5);
	add_pod(&s, "p1", "n1", 1, 4);
	add_pod(&s, "p2", "n1", 2, 3);
	look(&s, 2);
	assert_string_equal(asked, "2:0 ");
	stage_close(&s);
}

static void one_that_cannot_be_told_is_passed_over(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	refuses = 1;
	add_node(&s, "n1", 5);
	add_pod(&s, "p1", "n1", 1, 4);
	add_pod(&s, "p2", "n1", 2, 3);
	look(&s, 2);
	assert_string_equal(asked, "1:0 2:0 ");
	stage_close(&s);
}

/* They count, and are let be. */
static void pods_of_others_are_never_touched(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_node(&s, "n1", 5);
	add_pod(&s, "p1", "n1", 0, 20);
	add_pod(&s, "p2", "n1", 2, 1);
	look(&s, 2);
	assert_string_equal(asked, "2:0 ");
	look(&s, 5);
	assert_string_equal(asked, "2:0 ");
	stage_close(&s);
}

static void stage_settle(struct stage *s)
{
	const struct kube_client_stats *stats = kube_client_stats(s->client);
	run_until(s->loop, stats->in_flight + stats->queued == 0);
}

static void a_pod_is_evicted_where_that_is_no_failure(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	ignores = 1;
	add_node(&s, "n1", 5);
	add_pod(&s, "p1", "n1", 1, 3);
	add_pod(&s, "p2", "n1", 1, 3);
	script_answer(
		scripted_server_expect(s.server, "POST /api/v1/namespaces/a/pods/p1/eviction"), 201,
		"Content-Type: application/json\r\n", "{}");
	look(&s, 2);
	stage_settle(&s);
	assert_string_equal(asked, "");
	assert_string_equal(scripted_server_request(s.server, 0)->body,
		"{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"namespace\":"
		"\"a\",\"name\":\"p1\"},\"deleteOptions\":{\"preconditions\":{\"uid\":"
		"\"01000000-0000-0000-0000-000000000000\"}}}");
	look(&s, 2);
	stage_settle(&s);
	assert_int_equal(scripted_server_count(s.server), 1);
	assert_int_equal(reclaimer_count(s.reclaimer, RECLAIM_ALLOCATABLE, RECLAIM_EVICT), 1);
	script_answer(scripted_server_expect(s.server, "POST /api/v1/namespaces/a/events"), 201, "",
		"{}");
	events_tick(s.events, s.now_ms);
	stage_settle(&s);
	const char *event = scripted_server_request(s.server, 1)->body;
	assert_non_null(strstr(event, "\"apiVersion\":\"v1\",\"kind\":\"Pod\""));
	assert_non_null(strstr(event, "\"reason\":\"IdleResourcesReclaimed\""));
	stage_close(&s);
}

/* 429: its PodDisruptionBudget says no. */
static void a_refused_eviction_is_the_next_ones_turn(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	ignores = 1;
	add_node(&s, "n1", 5);
	add_pod(&s, "p1", "n1", 1, 3);
	add_pod(&s, "p2", "n1", 1, 3);
	script_answer(scripted_server_expect(s.server, "pods/p1/eviction"), 429, "", "no");
	look(&s, 2);
	stage_settle(&s);
	script_answer(scripted_server_expect(s.server, "pods/p2/eviction"), 201, "", "{}");
	reclaimer_tick(s.reclaimer, s.now_ms); /* no new sample is needed */
	stage_settle(&s);
	assert_int_equal(scripted_server_count(s.server), 2);
	assert_int_equal(reclaimer_count(s.reclaimer, RECLAIM_ALLOCATABLE, RECLAIM_EVICT), 1);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_takes_two_samples),
		cmocka_unit_test(a_pod_of_another_namespace_is_not_of_the_job),
		cmocka_unit_test(a_pod_that_asks_for_what_nobody_granted),
		cmocka_unit_test(an_agent_has_to_say_it_for_ten_seconds),
		cmocka_unit_test(memory_is_taken_back_on_one_sample),
		cmocka_unit_test(nobody_goes_on_what_is_not_fresh),
		cmocka_unit_test(of_two_jobs_one_is_enough),
		cmocka_unit_test(a_job_shrinks_where_all_of_it_is_short),
		cmocka_unit_test(a_job_that_is_elsewhere_too_stops),
		cmocka_unit_test(too_few_to_go_on_is_a_stop),
		cmocka_unit_test(who_borrows_goes_first),
		cmocka_unit_test(one_that_would_end_as_complete_goes_last),
		cmocka_unit_test(one_that_cannot_be_told_is_passed_over),
		cmocka_unit_test(pods_of_others_are_never_touched),
		cmocka_unit_test(a_pod_is_evicted_where_that_is_no_failure),
		cmocka_unit_test(a_refused_eviction_is_the_next_ones_turn),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
