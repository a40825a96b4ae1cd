/* A start in a flavor with spec.provisioning: an autoscaler is asked first. */
#include "base/mem.h"
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

/* Of an object with that number: the watch tells. */
static void see(struct world *w, int32_t number, uint64_t key, enum provision_state state)
{
	struct provision_fact f = {.job = w->j->now->job.uid,
		.ns = "team-a",
		.number = number,
		.key = key,
		.state = state,
		.message = ""};
	gate_see_provision(w->gate, &f);
	turn(w);
}

static void pass(struct world *w, int64_t ms)
{
	for (int64_t end_ms = w->now_ms + ms; w->now_ms < end_ms;)
		at(w, w->now_ms + 500);
}

static size_t voids(const struct world *w)
{
	struct gate_counts c;
	gate_count(w->gate, &c);
	return c.voids;
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

/* ---- what others do, and what fails -------------------------------------------------------------
 */

static void a_request_that_cannot_be_deleted_holds_no_quota_for_ever(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	w->of_provisions = JOB_BUSY;
	see(w, INT32_MAX, 5, PROVISION_PROVISIONED);
	pass(w, 899000);
	assert_int_equal(voids(w), 0);
	assert_int_equal(w->sent[INTENT_START], 0);
	pass(w, 2000);
	assert_int_equal(voids(w), 1);
	HAS(sentence(w), "ProvisioningRequest of another start of it could not be deleted");
	assert_in_range(w->sent[INTENT_UNPROVISION], 2, 40);
}

static void nor_does_one_that_is_made_again_and_again(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	for (int i = 0; i < 902; i++) {
		see(w, INT32_MAX, 5, PROVISION_PROVISIONED);
		at(w, w->now_ms + 1000);
	}
	assert_int_equal(voids(w), 1);
	assert_int_equal(w->sent[INTENT_START], 0);
	assert_in_range(w->sent[INTENT_UNPROVISION], 2, 45);
}

static void one_that_is_deleted_again_and_again_is_made_with_pauses(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	for (int i = 0; i < 600; i++) {
		gate_lose_provision(w->gate, &w->j->now->job.uid, "team-a", 1);
		at(w, w->now_ms + 1000);
	}
	assert_in_range(w->sent[INTENT_PROVISION], 4, 30);
	see(w, 1, w->asked.key, PROVISION_PROVISIONED);
	assert_int_equal(w->sent[INTENT_START], 1);
}

/* Its flavor asks nobody any more. */
static void have_it_ask_no_more(struct world *w)
{
	provide(w, false);
	say(w, PROVISION_ASKED, "");
}

static void what_an_earlier_start_left_is_cleared_away(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	have_it_ask_no_more(w);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 1);
	assert_int_equal(w->sent[INTENT_START], 1);
	assert_false(w->j->now->job.suspend);
}

static void or_it_starts_all_the_same_and_does_not_heed_it(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	w->of_provisions = JOB_BUSY;
	have_it_ask_no_more(w);
	pass(w, 9000);
	assert_int_equal(w->sent[INTENT_START], 0);
	pass(w, 8000);
	assert_int_equal(w->sent[INTENT_START], 1);
	have_pods(w, 2, 0);
	say(w, PROVISION_REVOKED, "nodes are reclaimed");
	pass(w, 1000);
	assert_int_equal(w->sent[INTENT_STOP], 0);
}

static void a_delete_that_is_refused_keeps_no_start(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	w->denied = 1;
	have_it_ask_no_more(w);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 1);
	assert_int_equal(w->sent[INTENT_START], 1);
}

static void a_new_leader_heeds_what_its_runs_have(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	say(w, PROVISION_PROVISIONED, "");
	have_pods(w, 2, 0);
	world_restart(w);
	provide(w, true);
	turn(w);
	see(w, 2, w->asked.key, PROVISION_REVOKED); /* of no attempt that was */
	assert_int_equal(w->sent[INTENT_STOP], 0);
	see(w, 1, w->asked.key, PROVISION_REVOKED);
	assert_int_equal(w->sent[INTENT_STOP], 1);
}

static void but_not_what_lies_beside_a_run_that_asked_nobody(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	w->denied = 1; /* the DELETE of what is left */
	have_it_ask_no_more(w);
	have_pods(w, 2, 0);
	world_restart(w);
	provide(w, false);
	turn(w);
	see(w, 1, w->asked.key, PROVISION_REVOKED);
	pass(w, 1000);
	assert_int_equal(w->sent[INTENT_STOP], 0);
}

static size_t asked_within_a_minute(struct world *w, enum job_outcome o, int64_t retry_ms)
{
	struct snap n = {0};
	turn(w);
	provide(w, true);
	w->of_provisions = o;
	w->retry_ms = retry_ms;
	submit(w, &n);
	pass(w, 60000);
	w->of_provisions = JOB_DONE;
	return w->sent[INTENT_PROVISION];
}

static void a_busy_server_is_asked_with_pauses_that_double(void **state)
{
	struct world *w = *state;
	assert_in_range(asked_within_a_minute(w, JOB_BUSY, 0), 5, 9);
	pass(w, 40000);
	say(w, PROVISION_PROVISIONED, "");
	assert_int_equal(w->sent[INTENT_START], 1);
}

/* A server that is busy refuses nothing: one refusal after it is a race that we lost. */
static void a_refusal_after_a_busy_server_is_the_first(void **state)
{
	struct world *w = *state;
	size_t asked = asked_within_a_minute(w, JOB_BUSY, 0);
	w->of_provisions = JOB_REFUSED;
	while (w->sent[INTENT_PROVISION] == asked)
		pass(w, 500);
	w->of_provisions = JOB_DONE;
	pass(w, 40000);
	assert_int_equal(voids(w), 0);
	say(w, PROVISION_PROVISIONED, "");
	assert_int_equal(w->sent[INTENT_START], 1);
}

static void and_not_before_it_says(void **state)
{
	assert_in_range(asked_within_a_minute(*state, JOB_BUSY, 20000), 2, 3);
}

static void what_is_refused_often_enough_is_denied(void **state)
{
	struct world *w = *state;
	struct snap n = {0};
	turn(w);
	provide(w, true);
	w->of_provisions = JOB_REFUSED;
	submit(w, &n);
	for (int s = 0; s < 600 && voids(w) == 0; s++)
		at(w, w->now_ms + 1000);
	assert_int_equal(voids(w), 1);
	assert_int_equal(w->sent[INTENT_PROVISION], 7);
	HAS(w->notes, "called off: NotProvisioned");
}

/* Of twenty that another client made the newest eight are kept. */
static void of_each_job_a_few_are_kept(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	w->of_provisions = JOB_BUSY;
	for (int32_t i = 100; i < 120; i++)
		see(w, i, 5, PROVISION_ASKED);
	for (int32_t i = 120; i < 130; i++)
		see(w, i - 100, 5, PROVISION_ASKED);
	w->of_provisions = JOB_DONE;
	for (int32_t i = 112; i < 120; i++)
		gate_lose_provision(w->gate, &w->j->now->job.uid, "team-a", i);
	size_t deleted = w->sent[INTENT_UNPROVISION];
	pass(w, 60000);
	assert_int_equal(w->sent[INTENT_UNPROVISION], deleted);
	assert_int_equal(w->sent[INTENT_PROVISION], 2);
}

/* A new leader: requests are listed before Jobs, and so many of them name Jobs that there are not. */
static size_t asked_again_after(struct world *w, uint32_t others, uint32_t lost)
{
	struct provision_fact f = {.ns = "team-a", .number = 1, .message = ""};
	struct model_job *j = w->j;
	w->j = NULL;
	world_restart(w);
	w->j = j;
	provide(w, true);
	for (uint32_t i = 0; i < others; i++) {
		f.job = (struct uid){{0xff}};
		memcpy(f.job.byte + 4, &i, sizeof(i));
		gate_see_provision(w->gate, &f);
		if (i < lost)
			gate_lose_provision(w->gate, &f.job, "team-a", 1);
	}
	f.job = j->now->job.uid;
	f.key = w->asked.key;
	gate_see_provision(w->gate, &f);
	gate_see_job(w->gate, &j->now->job);
	size_t before = w->sent[INTENT_PROVISION];
	turn(w);
	at(w, w->now_ms + 1000);
	return w->sent[INTENT_PROVISION] - before;
}

static void of_jobs_that_are_not_known_so_many_in_all(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	assert_int_equal(asked_again_after(w, 99999, 0), 0);
	assert_int_equal(asked_again_after(w, 100000, 0), 1);
	assert_int_equal(asked_again_after(w, 100000, 1), 0);
}

/* The ledger went back to before its reservation: nothing starts for a while. */
static void it_is_kept_while_nothing_starts(void **state)
{
	struct world *w = *state;
	turn(w);
	struct model_ledger *older = model_ledger_copy(w->ledger);
	have_it_ask(w);
	model_ledger_free(w->ledger);
	w->ledger = older;
	w->settle_ms = 60000;
	world_restart(w);
	provide(w, true);
	see(w, 1, w->asked.key, PROVISION_ASKED);
	pass(w, 50000);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 0);
	pass(w, 20000);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 0);
	assert_int_equal(w->sent[INTENT_PROVISION], 1);
	see(w, 1, w->asked.key, PROVISION_PROVISIONED);
	assert_int_equal(w->sent[INTENT_START], 1);
}

/* It was suspended by a person while it ran, and its request cannot be deleted. */
static void what_cannot_be_deleted_does_not_keep_it_from_being_held(void **state)
{
	struct world *w = *state;
	have_it_ask(w);
	say(w, PROVISION_PROVISIONED, "");
	have_pods(w, 2, 0);
	say(w, PROVISION_EXPIRED, "");
	w->of_provisions = JOB_BUSY;
	w->pods = 0;
	struct snap *s = model_api_edit(&w->api, w->j);
	snap_suspend(s, true);
	s->job.suspended_by_person = true;
	s->job.status = (struct job_status){.suspended = true};
	write_job(w, s, false);
	pass(w, 3000);
	assert_int_equal(w->sent[INTENT_TELL], 1);
	assert_non_null(w->j->now->job.hold);
	assert_true(w->sent[INTENT_UNPROVISION] > 0);
	assert_int_equal(w->sent[INTENT_PROVISION], 1);
}

/* An admin changed what the start writes into the template. */
static void a_template_of_another_flavor_is_another_request(void **state)
{
	static const struct label zone = {"zone", "b"};
	struct world *w = *state;
	have_it_ask(w);
	uint64_t key = w->asked.key;
	struct flavor_spec f = {.name = "spot",
		.nodes = {.labels = &zone, .nlabels = 1},
		.provisioning = {"check-capacity.autoscaling.x-k8s.io", parameters, 1, 900000}};
	struct err e;
	world_restart(w);
	assert_int_equal(queue_set_flavor(w->queue, &f, &e), 0);
	gate_see_job(w->gate, &w->j->now->job);
	see(w, 1, key, PROVISION_PROVISIONED);
	pass(w, 2000);
	assert_int_equal(w->sent[INTENT_START], 0);
	assert_int_equal(w->sent[INTENT_UNPROVISION], 1);
	assert_int_equal(w->sent[INTENT_PROVISION], 2);
	assert_true(w->asked.key != key);
}

static void a_message_is_not_cut_within_a_character(void **state)
{
	struct world *w = *state;
	char message[600] = "";
	have_it_ask(w);
	memset(message, 'x', 499);
	strcpy(message + 499, "\xc3\xa9t\xc3\xa9");
	say(w, PROVISION_ASKED, message);
	HAS(sentence(w), "xxx; without them");
	assert_true(slice_utf8(slice_of(sentence(w))));
}

static int setup(void **state)
{
	struct world *w = mem_alloc(sizeof(*w));
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
		TEST(a_request_that_cannot_be_deleted_holds_no_quota_for_ever),
		TEST(nor_does_one_that_is_made_again_and_again),
		TEST(one_that_is_deleted_again_and_again_is_made_with_pauses),
		TEST(what_an_earlier_start_left_is_cleared_away),
		TEST(or_it_starts_all_the_same_and_does_not_heed_it),
		TEST(a_delete_that_is_refused_keeps_no_start),
		TEST(a_new_leader_heeds_what_its_runs_have),
		TEST(but_not_what_lies_beside_a_run_that_asked_nobody),
		TEST(a_busy_server_is_asked_with_pauses_that_double),
		TEST(a_refusal_after_a_busy_server_is_the_first),
		TEST(and_not_before_it_says),
		TEST(what_is_refused_often_enough_is_denied),
		TEST(of_each_job_a_few_are_kept),
		TEST(of_jobs_that_are_not_known_so_many_in_all),
		TEST(it_is_kept_while_nothing_starts),
		TEST(what_cannot_be_deleted_does_not_keep_it_from_being_held),
		TEST(a_template_of_another_flavor_is_another_request),
		TEST(a_message_is_not_cut_within_a_character),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
