#include "test/unit/wire/wire.h"

#include "sluice/job.h"
#include "sluice/quantity.h"

/* One resource per pod: cpu. The names of the rows say what is counted. */
enum { MAX = 4, NOT_ASKED = -1 };

static const struct request_row {
	const char *name;
	int64_t containers[MAX]; /* 0 ends */
	struct {
		int64_t cpu;
		bool sidecar;
	} init[MAX];
	int64_t pod_level, overhead;
	int64_t want;
} request_rows[] = {
	{"the sum of the containers", {100, 250}, {{0}}, 0, 0, 350},
	{"a large init container", {100}, {{500, false}}, 0, 0, 500},
	{"a small one", {100}, {{50, false}}, 0, 0, 100},
	{"init containers run one by one", {100}, {{300, false}, {200, false}}, 0, 0, 300},
	{"a sidecar runs on", {100}, {{50, true}}, 0, 0, 150},
	{"init beside the sidecar before it", {100}, {{50, true}, {200, false}}, 0, 0, 250},
	{"init before the sidecar", {100}, {{200, false}, {50, true}}, 0, 0, 200},
	{"sidecars pile up", {100}, {{50, true}, {70, true}, {150, false}}, 0, 0, 270},
	{"overhead comes on top", {100}, {{500, false}}, 0, 7, 507},
	{"the pod level instead", {100}, {{500, false}}, 300, 0, 300},
	{"the pod level, with overhead", {100}, {{0}}, 300, 7, 307},
	{"saturated", {INT64_MAX, INT64_MAX}, {{0}}, 0, 1, INT64_MAX},
	{"negative is zero", {100, -70}, {{-1, true}}, 0, 0, 100},
	{"negative alone is zero", {-70}, {{0}}, 0, 0, 0},
	{"nothing", {0}, {{0}}, 0, 0, NOT_ASKED},
};

static struct resource_list one_cpu(struct resource *r, int64_t amount)
{
	*r = (struct resource){"cpu", amount};
	return (struct resource_list){r, amount != 0};
}

static int64_t count_row(const struct request_row *row)
{
	struct resource res[2 * MAX + 2], got[2] = {{0}};
	struct container c[MAX] = {{{0}}}, init[MAX] = {{{0}}};
	struct pod_resources pod = {.containers = c, .init_containers = init};
	for (size_t i = 0; i < MAX && row->containers[i]; i++)
		c[pod.ncontainers++].requests = one_cpu(&res[i], row->containers[i]);
	for (size_t i = 0; i < MAX && row->init[i].cpu; i++) {
		init[i].requests = one_cpu(&res[MAX + i], row->init[i].cpu);
		init[i].sidecar = row->init[i].sidecar;
		pod.ninit_containers++;
	}
	pod.pod_level = one_cpu(&res[2 * MAX], row->pod_level);
	pod.overhead = one_cpu(&res[2 * MAX + 1], row->overhead);
	size_t n = pod_requests(&pod, got, 2);
	return n == 0 ? NOT_ASKED : got[0].amount;
}

static void pods_ask_as_the_scheduler_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(request_rows) / sizeof(*request_rows); i++) {
		int64_t got = count_row(&request_rows[i]);
		if (got != request_rows[i].want)
			fail_msg("%s: %lld", request_rows[i].name, (long long)got);
	}
}

static void resources_are_sorted_and_zeroes_kept(void **state)
{
	static const struct resource a[] = {{"storage", 0}, {"memory", 5}, {"cpu", 1}};
	static const struct resource b[] = {{"example.com/gpu", 2}, {"cpu", 3}};
	static const struct resource level[] = {
		{"memory", 9}, {"example.com/gpu", 100}, {"example.com/nic", 1}};
	static const struct container c[] = {{.requests = {a, 3}}, {.requests = {b, 2}}};
	struct pod_resources pod = {.containers = c, .ncontainers = 2, .pod_level = {level, 3}};
	struct resource got[5] = {{0}};
	(void)state;
	assert_int_equal(pod_requests(&pod, got, 5), 4);
	assert_string_equal(got[0].name, "cpu");
	assert_int_equal(got[0].amount, 4);
	/* Kubernetes looks at cpu, memory and huge pages alone at pod level. */
	assert_string_equal(got[1].name, "example.com/gpu");
	assert_int_equal(got[1].amount, 2);
	assert_string_equal(got[2].name, "memory");
	assert_int_equal(got[2].amount, 9);
	assert_string_equal(got[3].name, "storage");
	assert_int_equal(got[3].amount, 0);
	memset(got, 0, sizeof(got));
	assert_int_equal(pod_requests(&pod, got, 1), 4);
	assert_null(got[1].name);
	assert_int_equal(pod_requests(&pod, NULL, 0), 4);
}

static void many_names_cost_little(void **state)
{
	enum { CONTAINERS = 512, EACH = 64 };
	static char names[CONTAINERS * EACH][12];
	static struct resource r[CONTAINERS * EACH];
	static struct container c[CONTAINERS];
	(void)state;
	for (size_t i = 0; i < CONTAINERS * EACH; i++) {
		snprintf(names[i], sizeof(names[i]), "x%zu", i);
		r[i] = (struct resource){names[i], 1};
		c[i / EACH].requests = (struct resource_list){r + i / EACH * EACH, EACH};
	}
	struct pod_resources pod = {.containers = c, .ncontainers = CONTAINERS};
	assert_int_equal(pod_requests(&pod, NULL, 0), CONTAINERS * EACH);
}

/* The rows above hold for limits too, but for overhead. */
static void limits_are_counted_likewise(void **state)
{
	struct resource cpu = {"cpu", 100, QUANTITY_DECIMAL}, more = {"cpu", 300, QUANTITY_BINARY};
	struct resource both[2] = {{"cpu", 50}, {"memory", 7}}, got[2];
	struct container c[2] = {{.limits = {&cpu, 1}, .requests = {&more, 1}}, {{NULL, 0}}};
	struct container init[2] = {{.limits = {&both[0], 1}, .sidecar = true},
		{.limits = {&more, 1}, .requests = {&cpu, 1}}};
	struct pod_resources pod = {.containers = c, .ncontainers = 2};
	(void)state;
	assert_int_equal(pod_limits(&pod, got, 2), 1); /* no request stands in */
	assert_int_equal(got[0].amount, 100);
	pod.init_containers = init;
	pod.ninit_containers = 2;
	pod_limits(&pod, got, 2);
	assert_int_equal(got[0].amount, 350);
	assert_int_equal(got[0].style, QUANTITY_BINARY); /* of the larger, its first part */
	pod.overhead = (struct resource_list){both, 2};
	assert_int_equal(pod_limits(&pod, got, 2), 1); /* memory has no limit to add to */
	assert_int_equal(got[0].amount, 400);
	pod.pod_level_limits = (struct resource_list){&cpu, 1};
	pod_limits(&pod, got, 2);
	assert_int_equal(got[0].amount, 150);
	cpu.amount = 0;
	assert_int_equal(pod_limits(&pod, got, 2), 1);
	assert_int_equal(got[0].amount, 0); /* a limit of nothing stays one */
}

static const struct pods_row {
	const char *name;
	int32_t parallelism;
	bool has_completions;
	int32_t completions;
	bool indexed;
	int32_t succeeded, indexes_done;
	bool complete;
	int32_t pods;
} pods_rows[] = {
	{"one pod", 1, true, 1, false, 0, 0, false, 1},
	{"fresh", 5, true, 10, false, 0, 0, false, 5},
	{"more parallel than there is to do", 5, true, 3, false, 0, 0, false, 3},
	{"enough left", 5, true, 10, false, 5, 0, false, 5},
	{"less left than runs", 5, true, 10, false, 7, 0, false, 3},
	{"all done, not yet finished", 5, true, 10, false, 10, 0, false, 0},
	{"more than all", 5, true, 10, false, 11, 0, false, 0},
	/* Kueue says 0 here, while two pods run. */
	{"fewer completions than parallelism", 5, true, 3, false, 1, 0, false, 2},
	{"indexed ignores succeeded", 5, true, 10, true, 9, 0, false, 5},
	{"indexed", 5, true, 10, true, 0, 8, false, 2},
	{"work queue, fresh", 4, false, 0, false, 0, 0, false, 4},
	{"work queue, one succeeded", 4, false, 0, false, 1, 0, false, 3},
	{"one at a time", 1, true, 3, false, 2, 0, false, 1},
	{"none allowed", 0, true, 3, false, 0, 0, false, 0},
	{"nothing to do", 2, true, 0, false, 0, 0, false, 0},
	{"finished", 5, true, 10, false, 2, 0, true, 0},
	{"largest", INT32_MAX, true, INT32_MAX, false, 1, 0, false, INT32_MAX - 1},
};

static void pods_still_to_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pods_rows) / sizeof(*pods_rows); i++) {
		const struct pods_row *r = &pods_rows[i];
		struct job j = {.parallelism = r->parallelism,
			.has_completions = r->has_completions,
			.completions = r->completions,
			.indexed = r->indexed,
			.status = {.succeeded = r->succeeded,
				.indexes_done = r->indexes_done,
				.complete = r->complete}};
		if (job_pods(&j) != r->pods)
			fail_msg("%s: %d", r->name, (int)job_pods(&j));
	}
}

/* As the Job controller has it: one index has failed for good, of two. */
static void a_failed_index_is_not_waited_for(void **state)
{
	(void)state;
	struct job j = {
		.parallelism = 2, .has_completions = true, .completions = 2, .indexed = true};
	j.status = (struct job_status){.active = 1, .ready = 1, .indexes_done = 1};
	assert_int_equal(job_pods(&j), 1);
	assert_int_equal(job_pods_kept_up(&j), 1);
	assert_true(job_pods_ready(&j));
	j.status.ready = 0;
	assert_false(job_pods_ready(&j));
	assert_false(job_ends_when_stopped(&j)); /* the index that is left runs again */
}

/* Of three pods one has succeeded, and one has failed: none is made any more. Quota stays held for what a
 * status may not count yet. */
static void a_work_queue_with_a_success_is_as_large_as_it_is(void **state)
{
	(void)state;
	struct job j = {.parallelism = 3};
	j.status = (struct job_status){.active = 2, .ready = 2, .failed_pods = 1};
	assert_false(job_pods_ready(&j));
	assert_false(job_ends_when_stopped(&j));
	j.status.uncounted = 1;
	assert_true(job_ends_when_stopped(&j));
	j.status = (struct job_status){.active = 1, .succeeded = 1, .failed_pods = 1};
	assert_true(job_ends_when_stopped(&j));
	assert_true(job_pods_ready(&j));
	assert_int_equal(job_pods_kept_up(&j), 1);
	assert_int_equal(job_pods(&j), 2);
	j.parallelism = 9; /* its owner raised it */
	assert_int_equal(job_pods_kept_up(&j), 1);
	j.min_parallelism = 1;
	assert_int_equal(job_pods_wanted(&j), 0);
	j.has_completions = true;
	j.completions = 9;
	assert_false(job_ends_when_stopped(&j));
}

static void what_was_stopped_is_told_from_what_ended(void **state)
{
	(void)state;
	struct job j = {.parallelism = 3};
	j.status = (struct job_status){.complete = true, .succeeded = 1};
	assert_false(job_was_cut_short(&j)); /* the others failed */
	assert_false(job_ends_when_stopped(&j));
	j.suspend = true;
	assert_true(job_was_cut_short(&j));
	j.suspend = false; /* taken back by hand */
	assert_false(job_was_cut_short(&j));
	j.admission.state = STORY_STOPPED;
	assert_true(job_was_cut_short(&j));
	j.status.succeeded = 3; /* all had ended well when the stop came */
	assert_false(job_was_cut_short(&j));
	j.status.succeeded = 1;
	j.has_completions = true;
	assert_false(job_was_cut_short(&j));
}

/* It ran with two pods, and its stop put the owner's five back. */
static void all_pods_of_a_smaller_run_had_succeeded(void **state)
{
	(void)state;
	struct job j = {.parallelism = 5,
		.suspend = true,
		.admission = {.state = STORY_STOPPED, .run_pods = 2},
		.status = {.complete = true, .succeeded = 2}};
	assert_false(job_was_cut_short(&j));
	j.status.succeeded = 1;
	assert_true(job_was_cut_short(&j));
}

/* Two of three had succeeded and one had failed when it ended; then its manifest was applied again. */
static void a_suspension_after_the_end_cuts_nothing_short(void **state)
{
	(void)state;
	struct job j = {.parallelism = 3,
		.suspend = true,
		.admission = {.state = STORY_STARTED},
		.status = {.complete = true, .succeeded = 2, .finished_ms = 60000},
		.suspended_ms = 61000};
	assert_false(job_was_cut_short(&j));
	j.suspended_ms = 60000;
	assert_true(job_was_cut_short(&j));
	j.suspended_ms = 61000;
	j.admission.state = STORY_STOPPED;
	assert_true(job_was_cut_short(&j));
}

/* A successPolicy is met, or it is about to fail: what is left of it holds quota until it is gone. */
static void of_what_ends_no_pod_is_waited_for(void **state)
{
	(void)state;
	struct job j = {
		.parallelism = 3, .has_completions = true, .completions = 3, .indexed = true};
	j.status = (struct job_status){.terminating = 2, .indexes_done = 1, .ending = true};
	assert_true(job_pods_ready(&j));
	assert_int_equal(job_pods(&j), 2);
	assert_false(job_ends_when_stopped(&j));
}

static void quiet_is_proof_that_no_pod_is_left(void **state)
{
	(void)state;
	assert_false(job_quiet(&(struct job){0})); /* no pods yet does not mean no pods left */
	assert_true(job_quiet(&(struct job){.status = {.suspended = true}}));
	assert_true(job_quiet(&(struct job){.status = {.failed = true}}));
	assert_true(job_quiet(&(struct job){.status = {.complete = true}}));
	assert_false(job_quiet(&(struct job){.status = {.suspended = true, .active = 1}}));
	assert_false(job_quiet(&(struct job){.status = {.failed = true, .terminating = 1}}));
	assert_false(job_finished(&(struct job){.status = {.suspended = true}}));
	assert_true(job_finished(&(struct job){.status = {.failed = true}}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_ask_as_the_scheduler_counts),
		cmocka_unit_test(resources_are_sorted_and_zeroes_kept),
		cmocka_unit_test(many_names_cost_little),
		cmocka_unit_test(limits_are_counted_likewise),
		cmocka_unit_test(pods_still_to_run),
		cmocka_unit_test(a_failed_index_is_not_waited_for),
		cmocka_unit_test(a_work_queue_with_a_success_is_as_large_as_it_is),
		cmocka_unit_test(what_was_stopped_is_told_from_what_ended),
		cmocka_unit_test(all_pods_of_a_smaller_run_had_succeeded),
		cmocka_unit_test(a_suspension_after_the_end_cuts_nothing_short),
		cmocka_unit_test(of_what_ends_no_pod_is_waited_for),
		cmocka_unit_test(quiet_is_proof_that_no_pod_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
