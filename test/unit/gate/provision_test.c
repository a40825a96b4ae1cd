/* A start in a flavor with spec.provisioning: an autoscaler is asked first. */
#include "world.h"

static const struct label parameters[] = {{"ValidUntilSeconds", "600"}};

static void provide(struct world *w, bool asks)
{
	struct flavor_spec f = {.name = "spot"};
	struct err e;
	if (asks)
		f.provisioning = (struct provisioning_spec){
			"check-capacity.autoscaling.x-k8s.io", parameters, 1, 900000};
	assert_int_equal(queue_set_flavor(w->queue, &f, &e), 0);
}

static void have_it_ask(struct world *w)
{
	struct snap n = {0};
	turn(w); /* it leads */
	provide(w, true);
	submit(w, &n);
	assert_int_equal(w->sent[INTENT_PROVISION], 1);
	assert_int_equal(w->sent[INTENT_START], 0);
}

static int32_t number_asked(const struct world *w)
{
	return atoi(strrchr(w->asked_name, '-') + 1);
}

/* The autoscaler says so of the last request. */
static void say(struct world *w, enum provision_state state, const char *message)
{
	struct provision_fact f = {.job = w->j->now->job.uid,
		.ns = "team-a",
		.number = number_asked(w),
		.key = w->asked.key,
		.state = state,
		.message = message};
	gate_see_provision(w->gate, &f);
	turn(w);
}

static const char *sentence(struct world *w)
{
	static struct explanation x;
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	return x.sentence;
}

#define HAS(text, word)                                                                            \
	do {                                                                                       \
		if (!strstr(text, word))                                                           \
			fail_msg("no \"%s\" in: %s", word, text);                                  \
	} while (0)

static void it_starts_once_it_is_provisioned(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	assert_string_equal(w->asked_class, "check-capacity.autoscaling.x-k8s.io");
	assert_int_equal(w->asked.pods, 2);
	assert_int_equal(number_asked(w), 1);
	say(w, PROVISION_ASKED, "no capacity yet");
	at(w, w->now_ms + 60000);
	assert_int_equal(w->sent[INTENT_PROVISION], 1);
	assert_int_equal(w->sent[INTENT_START], 0);
	HAS(sentence(w), "quota is reserved, and a ProvisioningRequest of class check-capacity");
	HAS(sentence(w), "in flavor spot: no capacity yet; without them the quota is given back");
	say(w, PROVISION_PROVISIONED, "there");
	assert_int_equal(w->sent[INTENT_START], 1);
	assert_false(w->j->now->job.suspend);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 0);
	have_pods(w, 2, 0);
	say(w, PROVISION_EXPIRED, "booking expired"); /* its pods are there: it does not matter */
	assert_int_equal(w->sent[INTENT_STOP] + w->sent[INTENT_UNPROVISION], 0);
	finish(w);
	at(w, w->now_ms + 1000);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 1);
}

static void without_it_nothing_is_asked(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	provide(w, false);
	submit(w, &n);
	assert_int_equal(w->sent[INTENT_PROVISION], 0);
	assert_int_equal(w->sent[INTENT_START], 1);
}

static void one_that_failed_gives_the_quota_back(void **state)
{
	struct world *w = *state;
	struct gate_counts c;
	have_it_ask(w);
	say(w, PROVISION_FAILED, "capacity is not found");
	gate_count(w->gate, &c);
	assert_int_equal(c.voids, 1);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 1);
	HAS(w->notes, "start of attempt 1 called off: NotProvisioned");
	HAS(sentence(w), "no nodes were provisioned for it: capacity is not found; ");
	at(w, w->now_ms + 15000);
	assert_int_equal(w->sent[INTENT_PROVISION], 1);
	at(w, w->now_ms + 30000);
	assert_int_equal(w->sent[INTENT_PROVISION], 2);
	assert_int_equal(number_asked(w), 2);
	/* The pause doubles. */
	say(w, PROVISION_FAILED, "capacity is not found");
	at(w, w->now_ms + 40000);
	assert_int_equal(w->sent[INTENT_PROVISION], 2);
	at(w, w->now_ms + 40000);
	assert_int_equal(w->sent[INTENT_PROVISION], 3);
	say(w, PROVISION_PROVISIONED, "");
	assert_int_equal(w->sent[INTENT_START], 1);
}

static void nor_is_it_waited_for_without_end(void **state)
{
	struct world *w = *state;
	struct gate_counts c;
	have_it_ask(w);
	at(w, w->now_ms + 899000);
	gate_count(w->gate, &c);
	assert_int_equal(c.voids, 0);
	at(w, w->now_ms + 2000);
	gate_count(w->gate, &c);
	assert_int_equal(c.voids, 1);
	HAS(sentence(w), "within spec.provisioning.timeout of its flavor");
	at(w, w->now_ms + 10000);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 1);
}

static void what_the_server_refuses_is_no_request(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	provide(w, true);
	w->denied = 1;
	submit(w, &n);
	assert_int_equal(w->sent[INTENT_PROVISION], 1);
	assert_int_equal(w->sent[INTENT_START], 0);
	HAS(w->notes, "called off: NotProvisioned");
	HAS(sentence(w), "no nodes were provisioned for it: metadata.annotations: Too long");
}

static void an_answer_that_is_lost_is_asked_for_again(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	provide(w, true);
	w->outcome = JOB_IN_DOUBT;
	submit(w, &n);
	at(w, w->now_ms + 5000);
	assert_int_equal(w->sent[INTENT_PROVISION], 2);
	say(w, PROVISION_PROVISIONED, "");
	assert_int_equal(w->sent[INTENT_START], 1);
}

/* The reservation of the leader before it is called off, and made anew; the request is kept. */
static void a_new_leader_takes_the_request_over(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	uint64_t key = w->asked.key;
	world_restart(w);
	provide(w, true);
	gate_see_job(w->gate, &w->j->now->job);
	say(w, PROVISION_ASKED, "soon");
	at(w, w->now_ms + 1000);
	assert_int_equal(w->sent[INTENT_PROVISION], 1);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 0);
	assert_int_equal(w->sent[INTENT_START], 0);
	HAS(sentence(w), "quota is reserved, and a ProvisioningRequest");
	say(w, PROVISION_PROVISIONED, "");
	assert_int_equal(w->sent[INTENT_START], 1);
	assert_int_equal(w->asked.key, key);
	assert_false(w->j->now->job.suspend);
}

/* What the last leader asked for is not what is asked for now. */
static void an_edit_asks_anew(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	uint64_t key = w->asked.key;
	struct snap *s = model_api_edit(&w->api, w->j);
	write_job(w, s, true);
	at(w, w->now_ms + 10000);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 1);
	assert_int_equal(w->sent[INTENT_PROVISION], 2);
	assert_true(w->asked.key != key);
	say(w, PROVISION_PROVISIONED, "");
	assert_int_equal(w->sent[INTENT_START], 1);
}

static void one_that_is_deleted_is_made_again(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	gate_lose_provision(w->gate, &w->j->now->job.uid, "team-b", 1); /* not of its namespace */
	turn(w);
	assert_int_equal(w->sent[INTENT_PROVISION], 1);
	gate_lose_provision(w->gate, &w->j->now->job.uid, "team-a", 1);
	turn(w);
	assert_int_equal(w->sent[INTENT_PROVISION], 2);
}

static void another_namespace_says_nothing_of_it(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	struct provision_fact f = {.job = w->j->now->job.uid,
		.ns = "team-b",
		.number = 1,
		.key = w->asked.key,
		.state = PROVISION_PROVISIONED,
		.message = ""};
	gate_see_provision(w->gate, &f);
	turn(w);
	assert_int_equal(w->sent[INTENT_START], 0);
	/* Nor before its Job is known. */
	world_restart(w);
	provide(w, true);
	gate_see_provision(w->gate, &f);
	gate_see_job(w->gate, &w->j->now->job);
	at(w, w->now_ms + 1000);
	assert_int_equal(w->sent[INTENT_START], 0);
	assert_int_equal(w->sent[INTENT_PROVISION], 2);
}

static void capacity_that_is_revoked_stops_it(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	say(w, PROVISION_PROVISIONED, "");
	have_pods(w, 2, 0);
	say(w, PROVISION_REVOKED, "nodes are reclaimed");
	assert_int_equal(w->sent[INTENT_STOP], 1);
	HAS(w->notes, "the autoscaler takes back the nodes that were provisioned for it");
	HAS(w->notes, "nodes are reclaimed");
	w->pods = 0;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.status = (struct job_status){.suspended = true};
	write_job(w, s, false);
	at(w, w->now_ms + 20000);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 1);
	assert_int_equal(w->sent[INTENT_PROVISION], 2);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	world_init(w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	world_done(*state);
	free(*state);
	return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_starts_once_it_is_provisioned),
		TEST(without_it_nothing_is_asked),
		TEST(one_that_failed_gives_the_quota_back),
		TEST(nor_is_it_waited_for_without_end),
		TEST(what_the_server_refuses_is_no_request),
		TEST(an_answer_that_is_lost_is_asked_for_again),
		TEST(a_new_leader_takes_the_request_over),
		TEST(an_edit_asks_anew),
		TEST(one_that_is_deleted_is_made_again),
		TEST(another_namespace_says_nothing_of_it),
		TEST(capacity_that_is_revoked_stops_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
