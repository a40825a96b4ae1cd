/*
 * Pods that agents ended: the condition, the Job, and what is believed. What the queue says is the
 * test's.
 */
#include "controller/overcommit/ended_pods.h"

#include "controller/overcommit/lent_pod.h"
#include "test/golden/requests.h"
#include "test/unit/kube/scripted_server.h"
#include "test/unit/kube/test.h"

#define GI (INT64_C(1) << 30)
#define NOW_MS INT64_C(1795255200000) /* 2026-11-21T10:00:00Z */
#define STATUS "PATCH /api/v1/namespaces/a/pods/%s/status "

static char asked[1000]; /* of the queue: "uid's first byte:pods " each */
static unsigned char ignores;
static int64_t now_ms;

bool __wrap_queue_reclaim_job(
	struct queue *q, const struct uid *uid, int32_t pods, const char *why);
bool __wrap_queue_reclaim_job(struct queue *q, const struct uid *uid, int32_t pods, const char *why)
{
	(void)q;
	size_t n = strlen(asked);
	assert_non_null(strstr(why, "node n1"));
	snprintf(asked + n, sizeof(asked) - n, "%d:%d ", uid->byte[0], pods);
	return true;
}

const char *__wrap_queue_job_namespace(const struct queue *q, const struct uid *uid);
const char *__wrap_queue_job_namespace(const struct queue *q, const struct uid *uid)
{
	(void)q;
	(void)uid;
	return "a";
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
	struct ended_pods *ended;
	struct inventory_node *node;
};

static void add_pod(struct stage *s, const char *name, uint8_t number, bool queued)
{
	struct pod_facts f = {.ns = "a",
		.name = name,
		.node = "n1",
		.phase = POD_RUNNING,
		.has_owner_job = true,
		.queued = queued,
		.batch_asked = {1000, GI}};
	f.uid.byte[0] = f.owner_job.byte[0] = number;
	inventory_see_pod(s->inventory, &f);
}

static void stage_open(struct stage *s)
{
	struct node_facts *f = mem_alloc(sizeof(*f));
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, NULL);
	s->inventory = inventory_new();
	s->ended = ended_pods_new(&(struct ended_pods_options){
		.client = s->client, .inventory = s->inventory, .gate = (struct gate *)s});
	*f = (struct node_facts){.name = "n1", .metrics_path = ""};
	inventory_see_node(s->inventory, f);
	s->node = inventory_find(s->inventory, "n1");
	add_pod(s, "p1", 1, true);
	add_pod(s, "p2", 2, true);
	add_pod(s, "foreign", 3, false);
	asked[0] = '\0';
	ignores = 0;
	now_ms = NOW_MS;
}

static void stage_close(struct stage *s)
{
	ended_pods_free(s->ended);
	inventory_free(s->inventory);
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	kube_client_free(s->client);
	kube_config_free(s->config);
	golden_requests(s->server);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
}

static void expect(struct stage *s, const char *pod, int status)
{
	char line[128];
	snprintf(line, sizeof(line), STATUS, pod);
	script_answer(scripted_server_expect(s->server, line), status,
		"Content-Type: application/json\r\n", "{}");
}

/* The agent's run `boot` tells that it ended a pod, or is about to. */
static bool tell_of(struct stage *s, char boot, int64_t number, uint8_t pod, enum deed_kind kind)
{
	struct deed deeds[] = {
		{.number = number, .kind = kind, .value = 300 << 20},
		{.number = number + 1, .kind = DEED_HELD, .value = 7},
	};
	struct sample sample = {.boot = {boot}, .deeds = deeds, .ndeeds = 2};
	deeds[0].uid.byte[0] = deeds[1].uid.byte[0] = pod;
	bool told = ended_pods_take(s->ended, s->node, &sample, now_ms);
	run_a_little(s->loop);
	return told;
}

static bool tell(struct stage *s, char boot, int64_t number, uint8_t pod)
{
	return tell_of(s, boot, number, pod, DEED_ENDED);
}

static void the_pod_is_marked_and_its_job_stopped(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, "p1", 200);
	assert_true(tell(&s, 'a', 1, 1));
	run_until(s.loop, scripted_server_count(s.server) == 1);
	const struct scripted_request *r = scripted_server_request(s.server, 0);
	assert_non_null(strstr(r->head, "Content-Type: application/strategic-merge-patch+json"));
	assert_string_equal(r->body,
		"{\"metadata\":{\"uid\":\"01000000-0000-0000-0000-000000000000\"},\"status\":{"
		"\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
		"\"IdleResourcesReclaimed\",\"message\":\"node n1 ran out of memory, and its agent "
		"ended this pod, which ran on idle resources and used 300 MiB\","
		"\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]}}");
	assert_string_equal(asked, "1:0 ");
	assert_int_equal(inventory_find_pod(s.inventory, "a/p1")->lent->told_ms, NOW_MS);
	stage_close(&s);
}

/* Deeds come again until the agent knows that they were taken, and numbers anew with its run. */
static void each_deed_counts_once(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, "p1", 200);
	assert_true(tell_of(&s, 'a', 1, 1, DEED_ENDING));
	assert_false(tell_of(&s, 'a', 1, 1, DEED_ENDING));
	assert_false(tell(&s, 'a', 3, 1)); /* as was told */
	expect(&s, "p2", 200);
	tell(&s, 'a', 5, 2);
	assert_string_equal(asked, "1:0 2:0 ");
	now_ms += LENT_POD_LEAVING_MS;
	expect(&s, "p2", 200);
	tell(&s, 'b', 1, 2);
	run_until(s.loop, scripted_server_count(s.server) == 3);
	assert_string_equal(asked, "1:0 2:0 2:0 ");
	stage_close(&s);
}

/* A stolen agent has a new run, or a new deed, whenever it likes: that writes nothing more. */
static void a_pod_is_not_ended_again_and_again(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, "p1", 200);
	assert_true(tell(&s, 'a', 1, 1));
	for (int i = 0; i < 20; i++) {
		now_ms = NOW_MS + i * 1000;
		assert_false(tell(&s, (char)('a' + i), 3 + 2 * i, 1));
	}
	assert_int_equal(scripted_server_count(s.server), 1);
	assert_string_equal(asked, "1:0 ");
	/* The clock was set back. */
	now_ms = NOW_MS - 1;
	expect(&s, "p1", 200);
	assert_true(tell(&s, 'z', 1, 1));
	run_until(s.loop, scripted_server_count(s.server) == 2);
	stage_close(&s);
}

static void where_evictions_are_no_failures_the_job_goes_on(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	ignores = 1;
	expect(&s, "p1", 200);
	assert_false(tell(&s, 'a', 1, 1));
	run_until(s.loop, scripted_server_count(s.server) == 1);
	assert_string_equal(asked, "");
	stage_close(&s);
}

static void of_others_nothing_is_believed(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	assert_false(tell(&s, 'a', 1, 3)); /* of no queued Job */
	assert_false(tell(&s, 'a', 3, 9)); /* not on its node */
	assert_string_equal(asked, "");
	assert_int_equal(scripted_server_count(s.server), 0);
	stage_close(&s);
}

static void a_refusal_stops_nothing(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	expect(&s, "p1", 403);
	expect(&s, "p2", 500);
	assert_true(tell(&s, 'a', 1, 1));
	assert_true(tell(&s, 'a', 3, 2));
	run_until(s.loop, scripted_server_count(s.server) == 2);
	run_a_little(s.loop);
	assert_string_equal(asked, "1:0 2:0 ");
	stage_close(&s);
}

static void no_more_than_so_many_at_a_time(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	for (uint8_t i = 0; i < ENDED_PODS_UNDER_WAY + 3; i++) {
		struct deed d = {.number = 1 + i, .kind = DEED_ENDED};
		struct sample sample = {.deeds = &d, .ndeeds = 1};
		char name[16];
		snprintf(name, sizeof(name), "of-%d", i);
		add_pod(&s, name, d.uid.byte[0] = (uint8_t)(10 + i), true);
		assert_true(ended_pods_take(s.ended, s.node, &sample, NOW_MS));
	}
	stage_close(&s); /* and all of them are cancelled */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pod_is_marked_and_its_job_stopped),
		cmocka_unit_test(each_deed_counts_once),
		cmocka_unit_test(a_pod_is_not_ended_again_and_again),
		cmocka_unit_test(where_evictions_are_no_failures_the_job_goes_on),
		cmocka_unit_test(of_others_nothing_is_believed),
		cmocka_unit_test(a_refusal_stops_nothing),
		cmocka_unit_test(no_more_than_so_many_at_a_time),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
