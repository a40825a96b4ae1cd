/*
 * Records: each call once, replayed at once; and runs on a disk, as they are written, cut, bounded and
 * read again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/calendar/zone.h"
#include "record/facts.h"
#include "record/recorder.h"
#include "record/replay.h"
#include "test/unit/record/shadow.h"
#include "queue/cluster/nodes.h"
#include "queue/cluster/resource_quota.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- A small world ---------------------------------------------------------------------------- */

static const struct resource two_cpu = {"cpu", 2000, 0};
static const struct container main_container = {.requests = {&two_cpu, 1}, .name = "main"};
static const char *const cpu_alone[] = {"cpu"};
static const struct quota_spec ten_cpu = {"cpu", 10000, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
static const struct flavor_quota_spec of_spot = {"spot", &ten_cpu, 1};
static const struct resource_group_spec cpu_group = {cpu_alone, 1, &of_spot, 1};

static struct uid uid_of(unsigned n)
{
	struct uid uid = {{0}};
	uid.byte[0] = 1;
	memcpy(uid.byte + 8, &n, sizeof(n));
	return uid;
}

static struct job job_of(unsigned n, const char *name)
{
	return (struct job){.uid = uid_of(n),
		.ns = "team",
		.name = name,
		.version = n,
		.created_ms = 1000 * (int64_t)n,
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.family = "",
		.suspend = true,
		.parallelism = 1,
		.pod = {.containers = &main_container, .ncontainers = 1, .runtime_class = ""}};
}

static struct clusterqueue_spec clusterqueue_of(const char *name)
{
	return (struct clusterqueue_spec){.name = name,
		.cohort = "",
		.groups = &cpu_group,
		.ngroups = 1,
		.has_namespace_selector = true,
		.weight = 1};
}

static struct localqueue_spec localqueue_of(const char *name, const char *clusterqueue)
{
	return (struct localqueue_spec){
		.ns = "team", .name = name, .clusterqueue = clusterqueue, .weight = 1};
}

static void tell_world(struct queue *q)
{
	struct queue_config config;
	struct clusterqueue_spec cq = clusterqueue_of("batch");
	struct localqueue_spec lq = localqueue_of("main", "batch");
	queue_config_default(&config);
	queue_configure(q, &config);
	queue_key_names(q, UINT64_MAX - 1);
	queue_set_namespace(q, &(struct namespace_spec){.name = "team"});
	assert_int_equal(queue_set_flavor(q, &(struct flavor_spec){.name = "spot"}, NULL), 0);
	assert_int_equal(queue_set_clusterqueue(q, &cq, NULL), 0);
	assert_int_equal(queue_set_localqueue(q, &lq, NULL), 0);
}

static size_t decide(struct queue *q, int64_t now_ms)
{
	struct decision out[16];
	int64_t next_ms;
	return queue_decide(q, now_ms, out, COUNT(out), &next_ms);
}

/* A Job comes, is started, runs and ends. */
static void live_through(struct queue *q, unsigned n, int64_t now_ms)
{
	char name[32];
	snprintf(name, sizeof(name), "job-%u", n);
	struct job j = job_of(n, name);
	queue_set_job(q, &j);
	assert_int_equal(decide(q, now_ms), 1);
	queue_confirm_job(q, &j.uid, now_ms);
	queue_finished_job(q, &j.uid, now_ms + 1000);
	queue_end_job(q, &j.uid, now_ms + 1000);
}

/* ---- Each call once ---------------------------------------------------------------------------- */

static void call_objects(struct queue *q)
{
	struct zone *utc = zone_utc();
	struct err e;
	bool again;
	static const struct window_spec night = {.name = "night",
		.shape = WINDOW_DAYS,
		.days = 0x7F,
		.from_minute = 60,
		.to_minute = 120};
	static const char *const all[] = {"*"};
	struct price_base base = {"cpu", false, 1000000};
	struct budget_spec budget = {.name = "month",
		.clusterqueue = "batch",
		.localqueue_ns = "",
		.localqueue = "",
		.period = PERIOD_MONTHLY,
		.time_zone = "UTC",
		.zone = utc,
		.currency = "",
		.amount = 1000000000};
	static const char *const names[] = {"team"};
	struct advance_amount reserved = {"spot", "cpu", 1000};
	struct cohort_spec cohort = {.name = "all", .parent = "", .weight = 0.1};
	queue_set_cohort(q, &cohort, &e);
	queue_set_calendar(q,
		&(struct calendar_spec){.name = "nights",
			.time_zone = "UTC",
			.zone = utc,
			.window = &night,
			.nwindows = 1},
		&e);
	queue_set_runpolicy(q,
		&(struct runpolicy_spec){.name = "nights",
			.queues = all,
			.nqueues = 1,
			.calendar = "days",
			.max_suspensions = RUNPOLICY_SUSPENSIONS_UNLIMITED},
		&again, &e);
	queue_set_priceplan(q,
		&(struct priceplan_spec){.name = "plan",
			.currency = "EUR",
			.base = &base,
			.nbases = 1,
			.series_configmap = "",
			.series_key = ""},
		&e);
	queue_set_budget(q, &budget, &e);
	queue_set_advance_reservation(q,
		&(struct advance_reservation_spec){.name = "demo",
			.uid = uid_of(901),
			.clusterqueue = "batch",
			.amount = &reserved,
			.namounts = 1,
			.from_ms = 80000000,
			.until_ms = 90000000,
			.calendar = "",
			.namespaces = names,
			.nnamespaces = 1},
		&e);
	zone_free(utc);
	queue_set_idle_pool(q, &(struct idle_pool){.flavor = "idle", .cpu_milli = 1000});
	queue_set_made_nodes(q, &(struct made_nodes_spec){.name = "pool"});
	queue_set_cluster_autoscaler(q, true);
	queue_set_priority(
		q, &(struct priority_spec){PRIORITY_WORKLOAD, "high", 100, false, false});
	queue_set_limit_range(q, &(struct limit_range_spec){.ns = "team", .name = "limits"});
	queue_set_runtime_class(q, &(struct runtime_class_spec){.name = "kata"});
	queue_set_node(q, &(struct node_spec){.name = "n1"});
	queue_set_device_class(
		q, &(struct device_class_spec){.name = "gpus", .resource = "example.com/gpu"});
	queue_know_device_classes(q, false);
	queue_bind_pod(q, &(struct bound_pod){.uid = uid_of(900),
				  .node = "n1",
				  .pod = &(struct pod){.ns = "team",
					  .resources.runtime_class = "",
					  .priority_class = "",
					  .node_name = "",
					  .scheduler = "default-scheduler"}});
	queue_know_pods(q, true);
	queue_set_resource_quota(q, &(struct resource_quota){.ns = "team", .name = "compute"});
	queue_saw_quotas(q, NULL, 7);
	queue_set_disruption_budget(
		q, &(struct disruption_budget_spec){.ns = "team", .name = "web", .allowed = 1});
	queue_know_cluster(q);
	queue_recall_spent(q, "batch", "team", "main", "EUR", 500, 12);
	queue_recall_duration(q, "team", "CronJob/nightly", 60000);
	queue_recall_run(q, "team", "main", &(struct quota_line){"cq/batch", "spot", "cpu", 2000},
		1, 0, 500);
}

static void call_rejects_and_drops(struct queue *q)
{
	queue_reject_clusterqueue(q, "batch", "it is wrong");
	queue_reject_cohort(q, "all", "it is wrong");
	queue_reject_localqueue(q, "team", "main", "it is wrong");
	queue_reject_flavor(q, "spot", "it is wrong");
	queue_reject_calendar(q, "nights", "it is wrong");
	queue_reject_runpolicy(q, "nights", "it is wrong");
	queue_reject_priceplan(q, "plan", "it is wrong");
	queue_reject_budget(q, "month", "it is wrong");
	queue_reject_advance_reservation(q, "demo", "it is wrong");
	queue_drop_advance_reservation(q, "demo");
	queue_drop_budget(q, "month");
	queue_drop_priceplan(q, "plan");
	queue_drop_runpolicy(q, "nights");
	queue_drop_calendar(q, "nights");
	queue_drop_made_nodes(q, "pool");
	queue_drop_priority(q, PRIORITY_WORKLOAD, "high");
	queue_drop_limit_range(q, "team", "limits");
	queue_drop_runtime_class(q, "kata");
	queue_unbind_pod(q, &(struct uid){{1}});
	queue_drop_node(q, "n1");
	queue_drop_device_class(q, "gpus");
	queue_drop_resource_quota(q, "team", "compute");
	queue_drop_disruption_budget(q, "team", "web");
	decide(q, 90000000);
	queue_drop_cohort(q, "all");
	queue_drop_localqueue(q, "team", "main");
	queue_drop_clusterqueue(q, "batch");
	queue_drop_flavor(q, "spot");
	queue_drop_namespace(q, "team");
}

static void call_runs(struct queue *q)
{
	struct quota_line held = {"cq/batch", "spot", "cpu", 2000};
	struct job_history history = {.requeues = 1, .ran_ms = 500};
	struct job a = job_of(1, "a"), b = job_of(2, "b"), c = job_of(3, "c");
	a.deleting = true;
	queue_adopt_unread(q, &a, &held, 1, 400);
	queue_set_job(q, &b);
	assert_true(queue_adopt_job(q, &b.uid, &held, 1, 400));
	queue_set_job(q, &c);
	assert_true(queue_take_in(q, &c.uid, &held, 1, 500));
	queue_recall_past(q, &a.uid, &history);
	queue_recall_priority(q, &b.uid, -5);
	queue_recall_history(q, &b.uid, &history);
	queue_confirm_job(q, &b.uid, 600);
	queue_ready_job(q, &b.uid, true, 700);
	queue_finished_job(q, &b.uid, 5600);
	queue_shrink_job(q, &c.uid, 1, 800);
	queue_keep_pods(q, &c.uid);
	queue_grew_job(q, &c.uid, 900);
	queue_keep_active(q, &c.uid);
	queue_reclaim_job(q, &c.uid, 0, "node n1 wants it back");
	queue_ending_job(q, &b.uid);
	queue_leaving_job(q, &c.uid);
	decide(q, 10000);
	queue_release_job(q, &c.uid, 11000, 12000);
	queue_block_job(q, &c.uid, "its owner suspended it");
	decide(q, 11500);
	queue_block_job(q, &c.uid, NULL);
	queue_clock_stepped(q, -3600000);
	queue_await_statuses(q, true);
	queue_pause_starts(q, true);
	decide(q, 12500);
	queue_pause_starts(q, false);
	decide(q, 13000);
	queue_end_job(q, &b.uid, 14000);
	queue_drop_job(q, &a.uid);
	queue_drop_job(q, &c.uid);
}

static void call_deferrals(struct queue *q)
{
	struct localqueue_spec small = localqueue_of("small", "batch");
	small.limits.max_waiting = 1;
	queue_set_localqueue(q, &small, NULL);
	queue_pause_starts(q, true);
	for (unsigned n = 50; n < 53; n++) {
		char name[16];
		snprintf(name, sizeof(name), "d-%u", n);
		struct job j = job_of(n, name);
		j.queue = "small";
		if (n == 50)
			queue_set_job(q, &j);
		else
			queue_defer_job(q, &j, 1);
	}
	struct deferred_job d;
	queue_defer_known_job(q, &(struct uid){.byte = {1, 0, 0, 0, 0, 0, 0, 0, 50}}, 1);
	assert_true(queue_take_deferred(q, &d));
	queue_return_deferred(q, &d.uid, 2);
	queue_undefer_job(q, &d.uid);
	queue_end_deferred_list(q, 2);
	assert_int_equal(queue_count_deferred(q), 0);
	queue_pause_starts(q, false);
	queue_begin_unread_list(q);
	queue_unread_job(q, "team", "odd", "main");
	queue_unread_job(q, "team", "odder", "main");
	queue_read_job(q, "team", "odd");
	queue_end_unread_list(q);
}

static void call_predecessors(struct queue *q)
{
	struct dependency after[] = {{.kind = AFTER_OK, .name = "prep", .text = "afterok:prep"},
		{.kind = AFTER_ANY, .name = "other", .text = "afterany:other"}};
	struct job j = job_of(70, "train");
	struct wanted_predecessors wanted;
	struct predecessor prep = {.uid = uid_of(71),
		.ns = "team",
		.name = "prep",
		.created_ms = 1000,
		.state = PREDECESSOR_STARTED,
		.followed = true};
	j.after.item = after;
	j.after.count = 2;
	queue_begin_job_list(q);
	queue_set_job(q, &j);
	queue_end_job_list(q);
	for (bool first = true; queue_take_wanted(q, &wanted); first = false) {
		bool is_prep = wanted.name && strcmp(wanted.name, "prep") == 0;
		if (is_prep)
			queue_answer_wanted(q, wanted.id, &prep, 1);
		else
			queue_return_wanted(q, wanted.id);
		if (!first)
			break;
	}
	queue_foretell_predecessor(q, &j.uid, PREDECESSOR_STARTED, 5);
	queue_unfollow_predecessor(q, &prep.uid, "team", "prep", true);
	queue_see_predecessor(q, &prep);
	queue_lose_predecessor(q, &prep.uid, "team", "prep");
	prep.uid = uid_of(72);
	prep.created_ms = 2000;
	prep.state = PREDECESSOR_SUCCEEDED;
	prep.ended_ms = 20000;
	queue_see_predecessor(q, &prep);
	decide(q, 30000);
	struct uid uid = j.uid;
	size_t cost = 0;
	queue_return_unrecorded(q, &uid);
	queue_has_unrecorded(q);
	assert_true(queue_take_unrecorded(q, &uid));
	queue_is_unrecorded(q, &uid, &cost);
	queue_follow_predecessors(q);
	decide(q, 31000);
	queue_drop_job(q, &j.uid);
}

static void each_call_is_replayed(void **state)
{
	(void)state;
	struct queue *q = queue_new();
	struct shadow *s = shadow_new(q);
	struct ceiling ceiling;
	tell_world(q);
	decide(q, 300);
	call_objects(q);
	call_runs(q);
	call_deferrals(q);
	call_predecessors(q);
	queue_retake_ceilings(q);
	while (queue_take_ceiling(q, &ceiling))
		;
	call_rejects_and_drops(q);
	if (*shadow_fault(s))
		fail_msg("%s", shadow_fault(s));
	for (unsigned i = 0; i < QUEUE_CALL_KINDS; i++)
		if (shadow_heard(s, (enum queue_call_kind)i) == 0)
			fail_msg("queue_%s() is not among the calls of this test",
				queue_call_named(i));
	assert_true(shadow_decisions(s) > 0);
	queue_free(q);
	shadow_free(s);
}

/* A listener that sees only what a record may have. */
static void hear_labels(const struct queue_call *call, void *ctx)
{
	if (call->kind == CALL_SET_JOB)
		*(size_t *)ctx = call->job->nlabels;
}

static void labels_that_nobody_asks_for_are_not_told(void **state)
{
	(void)state;
	size_t told = 99;
	bool again;
	static const struct label labels[] = {{"team", "a"}, {"secret", "b"}};
	static const struct requirement exists = {"team", SELECTOR_EXISTS, NULL, 0};
	static const char *const all[] = {"*"};
	struct runpolicy_spec policy = {.name = "p",
		.queues = all,
		.nqueues = 1,
		.calendar = "none",
		.has_exempt_selector = true,
		.exempt_selector = {&exists, 1}};
	struct queue *q = queue_new();
	struct job j = job_of(1, "a");
	j.labels = labels;
	j.nlabels = COUNT(labels);
	tell_world(q);
	queue_listen(q, (struct queue_listener){hear_labels, &told});
	queue_set_job(q, &j);
	assert_int_equal(told, 0);
	assert_int_equal(queue_set_runpolicy(q, &policy, &again, NULL), 0);
	queue_set_job(q, &j);
	assert_int_equal(told, 1);
	queue_free(q);
}

/* ---- On a disk ---------------------------------------------------------------------------------- */

static char root[] = "/tmp/sluice-record-XXXXXX";
static char dir[64];
static char ended[512];

static void has_ended(const char *sentence, void *ctx)
{
	(void)ctx;
	snprintf(ended, sizeof(ended), "%s", sentence);
}

static void remove_all(const char *path)
{
	DIR *d = opendir(path);
	for (const struct dirent *each; d && (each = readdir(d));) {
		char inner[512];
		if (each->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof(inner), "%.250s/%.250s", path, each->d_name);
		if (unlink(inner) != 0)
			remove_all(inner);
	}
	if (d)
		closedir(d);
	rmdir(path);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	ended[0] = '\0';
	if (!mkdtemp(root))
		return -1;
	snprintf(dir, sizeof(dir), "%s/records", root);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	remove_all(root);
	return 0;
}

static struct recorder *begin_at(int64_t now_ms)
{
	struct recorder *r = NULL;
	struct err e = {""};
	struct recorder_options o = {.dir = dir,
		.identity = "host/a_1",
		.now_ms = now_ms,
		.most_bytes = RECORD_LEAST_BYTES,
		.ended = has_ended};
	if (recorder_open(&o, &r, &e) != 0)
		fail_msg("%s", e.text);
	return r;
}

static int open_dir(void)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	return fd;
}

static size_t count_runs(void)
{
	struct run_names all;
	int fd = open_dir();
	assert_int_equal(run_names_read(fd, &all, NULL), 0);
	size_t n = all.count;
	run_names_done(&all);
	close(fd);
	return n;
}

/* Of the run at that place in order. */
static void replay(size_t index, struct replay *ret)
{
	struct run_names all;
	int fd = open_dir();
	assert_int_equal(run_names_read(fd, &all, NULL), 0);
	assert_true(index < all.count);
	replay_run(fd, all.name[index], ret);
	run_names_done(&all);
	close(fd);
}

static void path_of(const char *run, const char *file, char ret[256])
{
	snprintf(ret, 256, "%s/%s/%s", dir, run, file);
}

#define AT_MS INT64_C(1795775540123) /* 2026-11-27T10:32:20.123Z */
#define RUN "20261127T103220123Z-host_a_1"

/* A run of so many Jobs. */
static void record_jobs(int64_t at_ms, unsigned jobs, const char *why)
{
	struct recorder *r = begin_at(at_ms);
	struct queue *q = queue_new();
	recorder_listen(r, q);
	tell_world(q);
	for (unsigned n = 1; n <= jobs; n++) {
		live_through(q, n, 1000 * (int64_t)n);
		if (n % 50 == 0)
			recorder_tick(r);
	}
	assert_true(recorder_state(r).recording);
	recorder_close(r, why);
	queue_free(q);
}

static void what_was_recorded_is_the_same(void **state)
{
	(void)state;
	struct replay r;
	struct stat st;
	char path[256];
	record_jobs(AT_MS, 100, "the controller ended");
	path_of(RUN, "", path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	path_of(RUN, "000001.jsonl.gz", path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	replay(0, &r);
	assert_int_equal(r.verdict, REPLAY_SAME);
	assert_string_equal(r.name, RUN);
	assert_string_equal(r.version, SLUICE_VERSION);
	assert_string_equal(r.end, "the controller ended");
	assert_false(r.cut);
	assert_int_equal(r.counts.decisions, 100);
	assert_int_equal(r.counts.facts, 6 + 4 * 100);
	replay_done(&r);
	assert_string_equal(ended, "");
}

/* The text of the first part. */
static char *unpack(size_t *ret_len)
{
	char path[256], *text = calloc(1, 4 << 20);
	path_of(RUN, "000001.jsonl.gz", path);
	gzFile f = gzopen(path, "rb");
	assert_non_null(f);
	int n = gzread(f, text, (4 << 20) - 1);
	assert_true(n > 0);
	gzclose(f);
	*ret_len = (size_t)n;
	return text;
}

/* In place of the packed one, as a person might. */
static void put_plain(const char *text, size_t len)
{
	char path[256];
	path_of(RUN, "000001.jsonl.gz", path);
	unlink(path);
	path_of(RUN, "000001.jsonl", path);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
}

static void a_process_that_was_killed_leaves_a_beginning(void **state)
{
	(void)state;
	char path[256];
	struct stat st;
	struct replay r;
	uint64_t before = UINT64_MAX;
	record_jobs(AT_MS, 120, "it is cut below");
	path_of(RUN, "000001.jsonl.gz", path);
	assert_int_equal(stat(path, &st), 0);
	for (off_t size = st.st_size - 30; size > 400; size = size * 4 / 5) {
		assert_int_equal(truncate(path, size), 0);
		replay(0, &r);
		assert_int_equal(r.verdict, REPLAY_SAME);
		assert_true(r.cut);
		assert_string_equal(r.end, "");
		assert_true(r.counts.facts <= before);
		before = r.counts.facts;
		replay_done(&r);
	}
	assert_true(before < 300);
}

static void between_any_two_bytes(void **state)
{
	(void)state;
	size_t len;
	struct replay r;
	record_jobs(AT_MS, 2, "the controller ended");
	char *text = unpack(&len);
	for (size_t n = len; n > 0; n--) {
		put_plain(text, n);
		replay(0, &r);
		if (r.verdict != REPLAY_SAME)
			fail_msg("%zu of %zu bytes: %s", n, len, r.fault.text);
		assert_int_equal(r.cut, text[n - 1] != '\n');
		replay_done(&r);
	}
	free(text);
}

static void a_decision_that_is_another_is_shown(void **state)
{
	(void)state;
	size_t len;
	struct replay r;
	record_jobs(AT_MS, 3, "the controller ended");
	char *text = unpack(&len);
	char *at = strstr(text, "\"decisions\":[{\"kind\":\"start\"");
	at = strstr(at + 30, "\"kind\":\"start\"");
	assert_non_null(at);
	memcpy(at, "\"kind\":\"stop\" ", strlen("\"kind\":\"stop\" "));
	put_plain(text, len);
	replay(0, &r);
	assert_int_equal(r.verdict, REPLAY_DIFFERS);
	assert_string_equal(r.place, "000001.jsonl:14");
	assert_int_equal(r.counts.decisions, 2);
	assert_int_equal(r.nbefore, PLAYED_BEFORE);
	assert_non_null(strstr(buf_text(&r.before[4]), "\"call\":\"set_job\""));
	assert_non_null(strstr(buf_text(&r.before[0]), "\"call\":\"set_job\""));
	assert_non_null(strstr(buf_text(&r.recorded), "\"stop\""));
	assert_non_null(strstr(buf_text(&r.now), "\"start\""));
	replay_done(&r);
	free(text);
}

static const struct {
	const char *text, *says, *place;
} unreadable[] = {
	{"{\"format\":2,\"version\":\"9.0\"}\n", "format 2, written by Sluice 9.0", ":1"},
	{"{\"version\":\"9.0\"}\n", "format 0", ":1"},
	{"{\"call\":\"know_cluster\"}\n", "does not begin as a record does", ":1"},
	{"hello\n", "does not begin", ":1"},
	{"{\"format\":1,\"version\":\"a\"}\n{\"call\":\"fly\"}\n", "not a name that is known",
		":2"},
	{"{\"format\":1,\"version\":\"a\"}\n{\"call\":\"set_job\"}\n", "it has no job", ":2"},
	{"{\"format\":1,\"version\":\"a\"}\n\x01\x02\n", "", ":2"},
	{"{\"format\":1,\"version\":\"a\"}\n{\"call\":\"decide\",\"cap\":2000000}\n", "cap", ":2"},
};

static void what_cannot_be_read_says_why(void **state)
{
	(void)state;
	struct replay r;
	record_jobs(AT_MS, 1, "the controller ended");
	for (size_t i = 0; i < COUNT(unreadable); i++) {
		put_plain(unreadable[i].text, strlen(unreadable[i].text));
		replay(0, &r);
		assert_int_equal(r.verdict, REPLAY_UNREADABLE);
		if (!strstr(r.fault.text, unreadable[i].says) ||
			!strstr(r.place, unreadable[i].place) || !*r.fault.text)
			fail_msg("%s at %s", r.fault.text, r.place);
		replay_done(&r);
	}
}

/* ---- Bounds ------------------------------------------------------------------------------------ */

/* A run with a part of that size, which takes no room on the disk. */
static int make_run(const char *name, off_t bytes)
{
	char path[256];
	path_of(name, "", path);
	assert_int_equal(mkdir(path, 0700), 0);
	path_of(name, "000001.jsonl.gz", path);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
	int own = open_dir(), lock = run_lock(own, name);
	close(own);
	assert_true(lock >= 0);
	return lock;
}

static bool is_there(const char *name)
{
	char path[256];
	struct stat st;
	path_of(name, "", path);
	return stat(path, &st) == 0;
}

static void the_oldest_runs_make_room(void **state)
{
	(void)state;
	assert_int_equal(mkdir(dir, 0700), 0);
	close(make_run("20260101T000000000Z-a", 20 << 20));
	close(make_run("20260102T000000000Z-b", 20 << 20));
	int busy = make_run("20260103T000000000Z-c", 20 << 20);
	close(make_run("20260104T000000000Z-d", 20 << 20));
	assert_int_equal(mkdir(strcat(strcpy((char[128]){0}, dir), "/something-else"), 0700), 0);
	record_jobs(AT_MS, 10, "the controller ended");
	assert_false(is_there("20260101T000000000Z-a"));
	assert_false(is_there("20260102T000000000Z-b"));
	assert_true(is_there("20260103T000000000Z-c"));
	assert_true(is_there("20260104T000000000Z-d"));
	assert_true(is_there("something-else"));
	assert_true(is_there(RUN));
	assert_string_equal(ended, "");
	close(busy);
}

/* Text that gets hardly smaller. */
static void draw_sentence(char *text, size_t size)
{
	static uint64_t x = 88172645463325252u;
	for (size_t i = 0; i + 1 < size; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		text[i] = (char)('#' + x % 57);
	}
	text[size - 1] = '\0';
}

static void a_run_that_is_too_much_ends_its_recording(void **state)
{
	(void)state;
	struct replay r;
	char *sentence = mem_alloc(1 << 20);
	assert_int_equal(mkdir(dir, 0700), 0);
	int busy = make_run("20260103T000000000Z-c", 20 << 20);
	struct recorder *rec = begin_at(AT_MS);
	struct queue *q = queue_new();
	recorder_listen(rec, q);
	tell_world(q);
	for (int i = 0; i < 80 && recorder_state(rec).recording; i++) {
		draw_sentence(sentence, 1 << 20);
		queue_reject_clusterqueue(q, "batch", sentence);
	}
	assert_false(recorder_state(rec).recording);
	assert_non_null(strstr(ended, "--record-max"));
	uint64_t lines = recorder_state(rec).lines;
	live_through(q, 1, 1000); /* the queue goes on, and nobody listens */
	assert_int_equal(recorder_state(rec).lines, lines);
	recorder_tick(rec);
	recorder_close(rec, "the controller ended");
	queue_free(q);
	replay(1, &r);
	assert_int_equal(r.verdict, REPLAY_SAME);
	assert_non_null(strstr(r.end, "--record-max"));
	assert_int_equal(r.counts.facts, lines - 1);
	int fd = open_dir();
	assert_true(run_bytes(fd, r.name) + (20 << 20) <= RECORD_LEAST_BYTES);
	assert_true(run_bytes(fd, r.name) > RECORD_PART_BYTES);
	close(fd);
	replay_done(&r);
	close(busy);
	free(sentence);
}

static void a_line_that_is_too_long_ends_it(void **state)
{
	(void)state;
	struct replay r;
	char *sentence = mem_alloc(RECORD_LINE_MAX + 100);
	struct recorder *rec = begin_at(AT_MS);
	struct queue *q = queue_new();
	recorder_listen(rec, q);
	tell_world(q);
	memset(sentence, 'a', RECORD_LINE_MAX);
	sentence[RECORD_LINE_MAX] = '\0';
	queue_reject_clusterqueue(q, "batch", sentence);
	assert_non_null(strstr(ended, "longer than a line may be"));
	recorder_close(rec, "the controller ended");
	queue_free(q);
	replay(0, &r);
	assert_int_equal(r.verdict, REPLAY_SAME);
	assert_non_null(strstr(r.end, "longer"));
	replay_done(&r);
	free(sentence);
}

static void a_place_that_cannot_be_used(void **state)
{
	(void)state;
	struct recorder *r = NULL;
	struct err e = {""};
	struct recorder_options o = {.dir = "/dev/null",
		.identity = "a",
		.now_ms = AT_MS,
		.most_bytes = RECORD_LEAST_BYTES,
		.ended = has_ended};
	assert_int_equal(recorder_open(&o, &r, &e), ERR_DENIED);
	assert_non_null(strstr(e.text, "/dev/null"));
	o.dir = "/nowhere/at/all";
	assert_int_equal(recorder_open(&o, &r, &e), ERR_DENIED);
	/* there is a directory, but the run has no place in it */
	record_jobs(AT_MS, 1, "the controller ended");
	r = begin_at(AT_MS); /* the same moment */
	assert_non_null(strstr(ended, "no folder can be made"));
	assert_false(recorder_state(r).recording);
	struct queue *q = queue_new();
	recorder_listen(r, q);
	tell_world(q);
	recorder_tick(r);
	recorder_close(r, "the controller ended");
	queue_free(q);
	assert_int_equal(count_runs(), 1);
}

static void a_forked_child_writes_nothing(void **state)
{
	(void)state;
	struct replay r;
	struct recorder *rec = begin_at(AT_MS);
	struct queue *q = queue_new();
	recorder_listen(rec, q);
	tell_world(q);
	pid_t pid = fork();
	if (pid == 0) {
		for (unsigned n = 1; n < 2000; n++)
			live_through(q, n, 1000 * (int64_t)n);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	live_through(q, 1, 1000);
	recorder_close(rec, "the controller ended");
	queue_free(q);
	replay(0, &r);
	assert_int_equal(r.verdict, REPLAY_SAME);
	assert_int_equal(r.counts.decisions, 1);
	replay_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_replayed),
		cmocka_unit_test(labels_that_nobody_asks_for_are_not_told),
		cmocka_unit_test_setup_teardown(what_was_recorded_is_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_process_that_was_killed_leaves_a_beginning, set_up, tear_down),
		cmocka_unit_test_setup_teardown(between_any_two_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_decision_that_is_another_is_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_says_why, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_oldest_runs_make_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_run_that_is_too_much_ends_its_recording, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_line_that_is_too_long_ends_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_place_that_cannot_be_used, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_forked_child_writes_nothing, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
