/*
 * Timelines: the fold, and what is told of a world in which the test says what runs and what is
 * foretold. It is Sat 2026-11-21T10:00:00Z.
 */
#include "controller/answers/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "controller/answers/queued_job.h"
#include "controller/answers/timeline_fold.h"
#include "controller_world.h"
#include "forecast/play.h"
#include "queue/calendar/zone.h"
#include "test/golden/golden.h"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS (60 * MINUTE_MS)
#define FROM_MS                                                                                    \
	INT64_C(1795255200000) /* 96ths of a day begin with it, and at each quarter of an hour */

/* ---- the fold ---------------------------------------------------------------------------------- */

static struct bar_item item(
	const char *ns, const char *name, const char *sweep, enum bar_state state, int64_t minutes)
{
	struct bar_item x = {.ns = ns,
		.name = name,
		.sweep = sweep,
		.state = state,
		.from_ms = FROM_MS + minutes * MINUTE_MS};
	memcpy(x.uid.byte, name, strnlen(name, sizeof(x.uid.byte)));
	return x;
}

static struct bars fold(struct bar_item *items, size_t n, size_t nlanes)
{
	return timeline_fold(items, n, nlanes, 24 * HOUR_MS);
}

static void alike_jobs_are_one_bar(void **state)
{
	(void)state;
	struct bar_item items[] = {
		item("ml", "sweep-c", "sweep-", BAR_EXPECTED, 44),
		item("ml", "sweep-a", "sweep-", BAR_EXPECTED, 31),
		item("ml", "sweep-b", "sweep-", BAR_EXPECTED, 30),
		item("ml", "sweep-d", "sweep-", BAR_EXPECTED, 45),  /* in the next 96th */
		item("ml", "sweep-e", "sweep-", BAR_RUNNING, -1),   /* runs */
		item("ml", "sweep-f", "sweep-", BAR_RUNNING, -15),  /* runs for as long */
		item("ml", "sweep-g", "sweep-", BAR_RUNNING, -16),  /* runs for longer */
		item("ml", "other", "other", BAR_EXPECTED, 30),	    /* of no sweep */
		item("cv", "sweep-a", "sweep-", BAR_EXPECTED, 30),  /* of another namespace */
		item("ml", "sweep-h", "sweep-", BAR_STARTING, -15), /* starts */
	};
	static const struct {
		const char *ns, *name;
		size_t jobs;
	} expected[] = {{"ml", "sweep-g", 1}, {"ml", "sweep-f", 2}, {"ml", "sweep-h", 1},
		{"cv", "sweep-a", 1}, {"ml", "other", 1}, {"ml", "sweep-b", 3},
		{"ml", "sweep-d", 1}};
	struct bars b = fold(items, sizeof(items) / sizeof(items[0]), 1);
	assert_int_equal(b.n, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < b.n; i++) {
		assert_string_equal(b.bar[i].item->ns, expected[i].ns);
		assert_string_equal(b.bar[i].item->name, expected[i].name);
		assert_int_equal(b.bar[i].n, expected[i].jobs);
	}
	assert_int_equal(b.left_out[0], 0);
	bars_done(&b);
}

static void a_bar_has_the_first_start_and_the_last_end(void **state)
{
	(void)state;
	struct bar_item items[] = {
		item("ml", "a", "s", BAR_EXPECTED, 1), item("ml", "b", "s", BAR_EXPECTED, 2)};
	items[0].p90_ms = 300, items[1].p90_ms = 200;
	items[0].until_ms = 400, items[1].until_ms = 500;
	items[1].stops_ms = 900;
	items[0].deadline_ms = 800, items[1].deadline_ms = 700;
	struct bars b = fold(items, 2, 1);
	assert_int_equal(b.n, 1);
	assert_string_equal(b.bar[0].item->name, "a");
	assert_int_equal(b.bar[0].p90_ms, 300);
	assert_int_equal(b.bar[0].until_ms, 500);
	assert_int_equal(b.bar[0].stops_ms, 900);
	assert_int_equal(b.bar[0].deadline_ms, 700);
	bars_done(&b);
	items[1].until_ms = 0;
	items[0].p90_ms = 0;
	b = fold(items, 2, 1);
	assert_int_equal(b.bar[0].until_ms, 0); /* of one it is not known */
	assert_int_equal(b.bar[0].p90_ms, 0);
	bars_done(&b);
	items[1].certain = true;
	b = fold(items, 2, 1);
	assert_int_equal(b.n, 2);
	bars_done(&b);
}

static void nothing_makes_no_bar(void **state)
{
	(void)state;
	struct bars b = fold(NULL, 0, 3);
	assert_int_equal(b.n, 0);
	bars_done(&b);
	b = fold(NULL, 0, 0);
	assert_int_equal(b.n, 0);
	bars_done(&b);
}

static void shares_are_fair(void **state)
{
	(void)state;
	static const struct {
		size_t wants[4], most, shares[4];
	} cases[] = {
		{{1, 2, 3, 4}, 10, {1, 2, 3, 4}},
		{{1, 2, 3, 4}, 9, {1, 2, 3, 3}},
		{{1, 20000, 3, 20000}, 100, {1, 48, 3, 48}},
		{{20000, 1, 20000, 3}, 101, {49, 1, 48, 3}},
		{{5, 5, 5, 5}, 3, {1, 1, 1, 0}},
		{{5, 5, 5, 5}, 0, {0, 0, 0, 0}},
		{{0, 0, 0, 0}, 7, {0, 0, 0, 0}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t shares[4];
		fair_shares(cases[i].wants, 4, cases[i].most, shares);
		assert_memory_equal(shares, cases[i].shares, sizeof(shares));
	}
}

struct names {
	struct bar_item *item;
	char (*text)[24];
	size_t n;
};

/* Makes Jobs no two of which are alike. */
static struct names different_jobs(size_t n)
{
	struct names x = {mem_array(n + 100, sizeof(*x.item)), mem_array(n, sizeof(*x.text)), n};
	for (size_t i = 0; i < n; i++) {
		snprintf(x.text[i], sizeof(x.text[i]), "j%zu", i);
		x.item[i] = item("flood", x.text[i], x.text[i], BAR_EXPECTED, (int64_t)(i % 1400));
	}
	return x;
}

static size_t bars_of(const struct bars *b, size_t lane, const char *ns)
{
	size_t n = 0;
	for (size_t i = 0; i < b->n; i++)
		n += b->bar[i].item->lane == lane && strcmp(b->bar[i].item->ns, ns) == 0;
	return n;
}

static void a_flood_pushes_nobody_out(void **state)
{
	(void)state;
	struct names x = different_jobs(20000);
	x.item[x.n++] = item("quiet", "one", "one", BAR_EXPECTED, 1399);
	x.item[x.n++] = item("quiet", "two", "two", BAR_RUNNING, -5);
	x.item[x.n++] = item("flood", "run", "run", BAR_RUNNING, -5);
	x.item[x.n] = item("quiet", "far", "far", BAR_EXPECTED, 1399);
	x.item[x.n++].lane = 2;
	struct bars b = fold(x.item, x.n, 3);
	assert_int_equal(bars_of(&b, 0, "quiet"), 2);
	assert_int_equal(bars_of(&b, 0, "flood"), TIMELINE_LANE_MAX - 2);
	assert_int_equal(bars_of(&b, 2, "quiet"), 1);
	assert_int_equal(b.left_out[0], 20000 - (TIMELINE_LANE_MAX - 3));
	assert_int_equal(b.left_out[2], 0);
	/* What is kept starts first. */
	for (size_t i = 0; i < b.n; i++)
		if (strcmp(b.bar[i].item->ns, "flood") == 0)
			assert_true(b.bar[i].item->from_ms < FROM_MS + 15 * MINUTE_MS);
	bars_done(&b);
	free(x.item);
	free(x.text);
}

static void many_lanes_share_what_there_is(void **state)
{
	(void)state;
	enum { LANES = 40 };
	struct names x = different_jobs(LANES * 150);
	for (size_t i = 0; i < x.n; i++)
		x.item[i].lane = i % LANES;
	x.item[x.n] = item("quiet", "one", "one", BAR_EXPECTED, 700);
	x.item[x.n++].lane = LANES;
	struct bars b = fold(x.item, x.n, LANES + 1);
	assert_int_equal(b.n, TIMELINE_BARS_MAX);
	assert_int_equal(bars_of(&b, LANES, "quiet"), 1);
	for (size_t i = 0; i < LANES; i++) {
		size_t bars = bars_of(&b, i, "flood");
		assert_in_range(
			bars, (TIMELINE_BARS_MAX - 1) / LANES, (TIMELINE_BARS_MAX - 1) / LANES + 1);
		assert_int_equal(b.left_out[i], 150 - bars);
	}
	for (size_t i = 1; i < b.n; i++)
		assert_true(b.bar[i - 1].item->lane < b.bar[i].item->lane ||
			    b.bar[i - 1].item->from_ms <= b.bar[i].item->from_ms);
	bars_done(&b);
	free(x.item);
	free(x.text);
}

static void the_order_of_items_changes_nothing(void **state)
{
	(void)state;
	struct names x = different_jobs(3000);
	struct bars b = fold(x.item, x.n, 1);
	char(*first)[16] = mem_array(b.n, sizeof(*first));
	for (size_t i = 0; i < b.n; i++)
		strcpy(first[i], b.bar[i].item->name);
	bars_done(&b);
	for (size_t i = 0; i < x.n / 2; i++) {
		struct bar_item other = x.item[i];
		x.item[i] = x.item[x.n - 1 - i];
		x.item[x.n - 1 - i] = other;
	}
	b = fold(x.item, x.n, 1);
	for (size_t i = 0; i < b.n; i++)
		assert_string_equal(first[i], b.bar[i].item->name);
	bars_done(&b);
	free(first);
	free(x.item);
	free(x.text);
}

/* ---- what the test says of Jobs ---------------------------------------------------------------- */

/* By the first byte of the uid. */
static struct told {
	int64_t started_ms; /* it runs */
	int64_t p50_ms, p90_ms, not_before_ms, expected_ms;
	enum wait_reason reason; /* where not_before_ms is told */
} told[256];

void __real_gate_each_job(const struct gate *g,
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx), void *ctx);
void __wrap_gate_each_job(const struct gate *g,
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx), void *ctx);

struct each_told {
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx);
	void *ctx;
};

static void each_told(const struct gate_listed *j, bool is_deferred, void *ctx)
{
	const struct each_told *to = ctx;
	struct gate_listed one = *j;
	one.started_ms = told[j->uid.byte[0]].started_ms;
	if (one.started_ms > 0)
		one.state = "Running";
	to->each(&one, is_deferred, to->ctx);
}

void __wrap_gate_each_job(const struct gate *g,
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx), void *ctx)
{
	struct each_told to = {each, ctx};
	__real_gate_each_job(g, each_told, &to);
}

bool __real_queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret);
bool __wrap_queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret);
bool __wrap_queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret)
{
	bool known = __real_queue_explain(q, uid, now_ms, ret);
	const struct told *t = &told[uid->byte[0]];
	if (known && t->not_before_ms > 0) {
		ret->not_before_ms = t->not_before_ms;
		ret->reason = t->reason;
	}
	if (known)
		ret->expected_ms = t->expected_ms;
	return known;
}

bool __wrap_forecasts_find(const struct forecasts *f, const struct uid *uid,
	const struct explanation *x, struct forecast *ret);
bool __wrap_forecasts_find(const struct forecasts *f, const struct uid *uid,
	const struct explanation *x, struct forecast *ret)
{
	(void)f, (void)x;
	const struct told *t = &told[uid->byte[0]];
	*ret = (struct forecast){.start = {t->p50_ms, t->p50_ms, t->p90_ms, 8},
		.as_of_ms = FROM_MS - 5000,
		.draws = 8};
	return t->p50_ms > 0;
}

/* ---- a stage ----------------------------------------------------------------------------------- */

struct stage {
	struct world world;
	struct queued_jobs_sources sources;
	struct buf body;
	struct json *json;
	int rc;
	struct err e;
};

static void stage_open(struct stage *s)
{
	world_open(&s->world, "batch");
	memset(told, 0, sizeof(told));
	s->sources = (struct queued_jobs_sources){.gate = s->world.gate,
		.queue = s->world.queue,
		.forecasts = (const struct forecasts *)&told,
		.ledger_up = true,
		.now_ms = FROM_MS};
	buf_init(&s->body, 1 << 20);
	s->json = json_new(16 << 20);
}

static void stage_close(struct stage *s)
{
	json_free(s->json);
	GOLDEN_DONE(&s->body);
	world_close(&s->world);
}

static void add(
	struct stage *s, unsigned char number, const char *ns, const char *name, const char *family)
{
	struct job j = world_job(number, name);
	j.ns = ns;
	j.family = family;
	world_see_job(&s->world, &j);
}

static void add_namespace(struct stage *s, const char *ns, const char *clusterqueue)
{
	struct localqueue_spec lq = {
		.ns = ns, .name = "main", .generation = 1, .clusterqueue = clusterqueue};
	struct err e = {""};
	queue_set_namespace(s->world.queue, &(struct namespace_spec){.name = ns});
	assert_int_equal(queue_set_localqueue(s->world.queue, &lq, &e), 0);
}

static const cJSON *put(struct stage *s, const struct job_query *q)
{
	struct queued_jobs *all = queued_jobs_new(&s->sources);
	const cJSON *root = NULL;
	GOLDEN_RESET(&s->body);
	s->rc = timeline_put(all, q, &s->body, &s->e);
	if (s->rc == 0)
		assert_int_equal(json_parse(s->json, buf_slice(&s->body), &root, NULL), 0);
	else
		assert_int_equal(s->body.len, 0);
	queued_jobs_free(all);
	return root;
}

static const cJSON *day(struct stage *s, const char *ns, const char *clusterqueue)
{
	struct job_query q = {0};
	snprintf(q.ns, sizeof(q.ns), "%s", ns);
	assert_int_equal(job_query_take_timeline(&q, NULL, clusterqueue, NULL), 0);
	return put(s, &q);
}

static int64_t number_of(const cJSON *object, const char *name)
{
	int64_t n = -1;
	assert_int_equal(json_i64(object, name, &n), 0);
	return n;
}

static const cJSON *bar_at(const cJSON *lane, int i)
{
	const cJSON *bar = cJSON_GetArrayItem(json_array(lane, "bars"), i);
	assert_non_null(bar);
	return bar;
}

static void texts_are(const cJSON *object, ...)
{
	va_list args;
	va_start(args, object);
	const char *name;
	while ((name = va_arg(args, const char *))) {
		const char *wanted = va_arg(args, const char *), *is = json_text(object, name);
		if (!wanted)
			assert_null(is);
		else
			assert_string_equal(is ? is : "(absent)", wanted);
	}
	va_end(args);
}

/* ---- what is told ------------------------------------------------------------------------------ */

static void runs_and_expected_starts_are_bars(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	told[1] = (struct told){.started_ms = FROM_MS - HOUR_MS, .expected_ms = 3 * HOUR_MS};
	told[2] = (struct told){.started_ms = FROM_MS - HOUR_MS, .expected_ms = HOUR_MS / 2};
	told[3] = (struct told){.p50_ms = FROM_MS + HOUR_MS,
		.p90_ms = FROM_MS + 2 * HOUR_MS,
		.expected_ms = HOUR_MS};
	told[4] = (struct told){.p50_ms = FROM_MS + HOUR_MS + MINUTE_MS,
		.p90_ms = PLAY_NEVER,
		.expected_ms = HOUR_MS};
	told[5] = (struct told){.p50_ms = FROM_MS + 25 * HOUR_MS, .p90_ms = PLAY_NEVER};
	add(&s, 1, "team-a", "train", NULL);
	add(&s, 2, "team-a", "late", "");
	add(&s, 3, "team-a", "sweep-x", "sweep-");
	add(&s, 4, "team-a", "sweep-y", "sweep-");
	add(&s, 5, "team-a", "tomorrow", "");
	add(&s, 6, "team-a", "unknown", "");
	const cJSON *root = day(&s, "", NULL);
	texts_are(root, "kind", "Timeline", "apiVersion", "visibility.sluice.dev/v1alpha1", "asOf",
		"2026-11-21T10:00:00Z", "from", "2026-11-21T10:00:00Z", "until",
		"2026-11-22T10:00:00Z", NULL);
	texts_are(json_object(root, "forecastsOf"), "asOf", "2026-11-21T09:59:55Z", NULL);
	const cJSON *lane = json_array(root, "lanes")->child;
	texts_are(lane, "clusterQueue", "batch", NULL);
	assert_null(json_object(lane, "others"));
	assert_int_equal(number_of(lane, "running"), 2);
	assert_int_equal(number_of(lane, "waiting"), 4);
	assert_int_equal(number_of(lane, "more"), 2);
	assert_int_equal(cJSON_GetArraySize(json_array(lane, "bars")), 3);
	texts_are(bar_at(lane, 0), "state", "Running", "name", "late", "sweep", "late", "until",
		NULL, "from", "2026-11-21T09:00:00Z", NULL);
	texts_are(bar_at(lane, 1), "state", "Running", "name", "train", "namespace", "team-a",
		"until", "2026-11-21T12:00:00Z", NULL);
	const cJSON *sweep = bar_at(lane, 2);
	texts_are(sweep, "state", "Expected", "name", "sweep-x", "sweep", "sweep-", "from",
		"2026-11-21T11:00:00Z", "p90", NULL, "until", "2026-11-21T12:01:00Z", NULL);
	assert_int_equal(number_of(sweep, "jobs"), 2);
	texts_are(json_object(sweep, "requests"), "cpu", "24", "memory", "2Gi", NULL);
	stage_close(&s);
}

static void what_time_decides_is_certain(void **state)
{
	(void)state;
	struct stage s;
	int64_t opens_ms = FROM_MS + 2 * HOUR_MS;
	stage_open(&s);
	told[1] = (struct told){.not_before_ms = opens_ms, .reason = WAIT_WINDOW};
	told[2] = (struct told){.not_before_ms = opens_ms,
		.reason = WAIT_WINDOW,
		.p50_ms = opens_ms + MINUTE_MS,
		.p90_ms = opens_ms + 2 * MINUTE_MS};
	told[3] = (struct told){.not_before_ms = opens_ms,
		.reason = WAIT_WINDOW,
		.p50_ms = opens_ms + HOUR_MS,
		.p90_ms = opens_ms + 2 * HOUR_MS};
	told[4] = (struct told){.not_before_ms = opens_ms, .reason = WAIT_HELD};
	told[5] = (struct told){.p50_ms = FROM_MS - 3 * MINUTE_MS, .p90_ms = FROM_MS + MINUTE_MS};
	told[6] = (struct told){.p50_ms = FROM_MS - 3 * MINUTE_MS, .p90_ms = FROM_MS - MINUTE_MS};
	for (unsigned char i = 1; i <= 6; i++) {
		static const char *const names[] = {
			"", "alone", "first", "after", "held", "soon", "sooner"};
		add(&s, i, "team-a", names[i], NULL);
	}
	const cJSON *lane = json_array(day(&s, "", NULL), "lanes")->child;
	assert_int_equal(number_of(lane, "more"), 1);
	assert_int_equal(cJSON_GetArraySize(json_array(lane, "bars")), 5);
	texts_are(bar_at(lane, 1), "name", "sooner", "from", "2026-11-21T10:00:00Z", "p90",
		"2026-11-21T10:00:00Z", NULL);
	texts_are(bar_at(lane, 0), "name", "soon", "from", "2026-11-21T10:00:00Z", "p90",
		"2026-11-21T10:01:00Z", NULL);
	for (int i = 2; i <= 3; i++) {
		texts_are(bar_at(lane, i), "name", i == 2 ? "alone" : "first", "from",
			"2026-11-21T12:00:00Z", "p90", NULL, NULL);
		assert_true(cJSON_IsTrue(json_get(bar_at(lane, i), "certain")));
	}
	texts_are(bar_at(lane, 4), "name", "after", "from", "2026-11-21T13:00:00Z", "p90",
		"2026-11-21T14:00:00Z", NULL);
	assert_null(json_get(bar_at(lane, 4), "certain"));
	stage_close(&s);
}

static void a_namespace_is_told_of_others_by_their_number(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_namespace(&s, "team-b", "batch");
	add_namespace(&s, "team-c", "secret");
	told[1] = (struct told){.started_ms = FROM_MS - HOUR_MS};
	told[2] = (struct told){.started_ms = FROM_MS - HOUR_MS};
	told[3] = (struct told){.p50_ms = FROM_MS + HOUR_MS, .p90_ms = FROM_MS + HOUR_MS};
	add(&s, 1, "team-b", "theirs", NULL);
	add(&s, 2, "team-a", "ours", NULL);
	add(&s, 3, "team-b", "theirs-too", NULL);
	add(&s, 4, "team-b", "theirs-three", NULL);
	const cJSON *root = day(&s, "team-a", NULL);
	const cJSON *lane = json_array(root, "lanes")->child;
	assert_null(lane->next);
	texts_are(lane, "clusterQueue", "batch", NULL);
	assert_int_equal(number_of(lane, "running"), 1);
	assert_int_equal(number_of(lane, "waiting"), 0);
	assert_int_equal(number_of(json_object(lane, "others"), "running"), 1);
	assert_int_equal(number_of(json_object(lane, "others"), "waiting"), 2);
	assert_int_equal(number_of(lane, "more"), 0);
	assert_int_equal(cJSON_GetArraySize(json_array(lane, "bars")), 1);
	texts_are(bar_at(lane, 0), "name", "ours", NULL);
	assert_null(strstr(buf_text(&s.body), "theirs"));
	assert_null(strstr(buf_text(&s.body), "team-b"));
	assert_null(strstr(buf_text(&s.body), "secret"));
	/* Of a namespace without a LocalQueue there is no lane. */
	assert_null(json_array(day(&s, "team-d", NULL), "lanes")->child);
	stage_close(&s);
}

/* Who may make LocalQueues could name any ClusterQueue. */
static void a_clusterqueue_that_lets_the_namespace_not_in_is_not_told(void **state)
{
	(void)state;
	struct stage s;
	struct err e = {""};
	struct clusterqueue_spec closed = {.name = "closed", .generation = 1, .cohort = ""};
	stage_open(&s);
	assert_int_equal(queue_set_clusterqueue(s.world.queue, &closed, &e), 0);
	add_namespace(&s, "team-b", "closed");
	assert_null(json_array(day(&s, "team-b", NULL), "lanes")->child);
	assert_null(day(&s, "team-b", "closed"));
	assert_int_equal(s.rc, ERR_GONE);
	assert_int_equal(cJSON_GetArraySize(json_array(day(&s, "", NULL), "lanes")), 2);
	stage_close(&s);
}

static void a_clusterqueue_that_is_not_there_is_said_so(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add(&s, 1, "team-a", "one", NULL);
	assert_non_null(json_array(day(&s, "", "batch"), "lanes")->child);
	assert_non_null(json_array(day(&s, "team-a", "batch"), "lanes")->child);
	assert_null(day(&s, "", "none"));
	assert_int_equal(s.rc, ERR_GONE);
	assert_non_null(strstr(s.e.text, "no ClusterQueue none: leave clusterQueue out"));
	assert_null(day(&s, "team-b", "batch"));
	assert_int_equal(s.rc, ERR_GONE);
	assert_string_equal(s.e.text,
		"clusterQueue is batch, to which no LocalQueue of namespace team-b leads: leave it out to see the others");
	stage_close(&s);
}

/* A ClusterQueue that was deleted, and has Jobs still. */
static void a_lane_outlives_its_clusterqueue(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	told[1] = (struct told){.started_ms = FROM_MS - HOUR_MS};
	add(&s, 1, "team-a", "one", NULL);
	queue_drop_clusterqueue(s.world.queue, "batch");
	const cJSON *lane = json_array(day(&s, "", NULL), "lanes")->child;
	texts_are(lane, "clusterQueue", "batch", NULL);
	assert_int_equal(cJSON_GetArraySize(json_array(lane, "bars")), 1);
	assert_true(json_array(lane, "windows") && json_array(lane, "prices"));
	stage_close(&s);
}

static void without_forecasts_it_says_so(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	const cJSON *root = day(&s, "", NULL);
	assert_null(json_object(root, "forecastsOf"));
	assert_null(json_get(root, "noForecasts"));
	s.sources.forecasts = NULL;
	assert_true(cJSON_IsTrue(json_get(day(&s, "", NULL), "noForecasts")));
	stage_close(&s);
}

static void a_lane_has_the_windows_of_its_week(void **state)
{
	(void)state;
	static const char *const all[] = {"*"};
	struct stage s;
	struct err e = {""};
	bool again;
	stage_open(&s);
	struct zone *utc = zone_utc();
	struct window_spec night = {.name = "night",
		.shape = WINDOW_CRON,
		.cron = "0 20 * * *",
		.duration_s = 12 * 3600};
	struct calendar_spec nights = {
		.name = "nights", .time_zone = "UTC", .zone = utc, .window = &night, .nwindows = 1};
	struct runpolicy_spec policy = {.name = "nights-only",
		.queues = all,
		.nqueues = 1,
		.calendar = "nights",
		.max_suspensions = RUNPOLICY_SUSPENSIONS_UNLIMITED};
	struct decision d[8];
	int64_t next_ms;
	assert_int_equal(queue_set_calendar(s.world.queue, &nights, &e), 0);
	assert_int_equal(queue_set_runpolicy(s.world.queue, &policy, &again, &e), 0);
	queue_decide(s.world.queue, FROM_MS, d, 8, &next_ms);
	const cJSON *lane = json_array(day(&s, "team-a", NULL), "lanes")->child;
	const cJSON *window = json_array(lane, "windows")->child;
	texts_are(window, "policy", "nights-only", "calendar", "nights", NULL);
	texts_are(json_array(window, "open")->child, "from", "2026-11-21T20:00:00Z", "until",
		"2026-11-22T08:00:00Z", NULL);
	assert_null(json_array(window, "open")->child->next);
	assert_non_null(json_array(lane, "prices"));
	assert_non_null(json_array(lane, "reservations"));
	zone_free(utc);
	stage_close(&s);
}

/* ---- the question ------------------------------------------------------------------------------ */

static void a_question_says_how_far(void **state)
{
	(void)state;
	static const struct {
		const char *until;
		int64_t hours; /* 0: refused */
	} cases[] = {{NULL, 24}, {"6h", 6}, {"7d", 168}, {"90m", 0}, {"8d", -1}, {"nonsense", -1},
		{"0s", -1}, {"-6h", -1}, {"", -1}, {"24", -1}, {"2026-11-22", -1}, {"59s", -1}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job_query q = {0};
		struct err e = {""};
		int rc = job_query_take_timeline(&q, cases[i].until, "batch", &e);
		assert_int_equal(rc, cases[i].hours < 0 ? ERR_INVALID : 0);
		assert_true(rc == 0 || (strstr(e.text, "until is \"") && strstr(e.text, "7d")));
		if (cases[i].hours > 0)
			assert_int_equal(q.span_ms, cases[i].hours * HOUR_MS);
		if (rc == 0)
			assert_string_equal(q.clusterqueue, "batch");
	}
	static const char *const names[] = {"", "Batch", "a/b", "a b"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct job_query q = {0};
		struct err e = {""};
		assert_int_equal(job_query_take_timeline(&q, "6h", names[i], &e), ERR_INVALID);
		assert_non_null(strstr(e.text, "clusterQueue is \""));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alike_jobs_are_one_bar),
		cmocka_unit_test(a_bar_has_the_first_start_and_the_last_end),
		cmocka_unit_test(nothing_makes_no_bar),
		cmocka_unit_test(shares_are_fair),
		cmocka_unit_test(a_flood_pushes_nobody_out),
		cmocka_unit_test(many_lanes_share_what_there_is),
		cmocka_unit_test(the_order_of_items_changes_nothing),
		cmocka_unit_test(runs_and_expected_starts_are_bars),
		cmocka_unit_test(what_time_decides_is_certain),
		cmocka_unit_test(a_namespace_is_told_of_others_by_their_number),
		cmocka_unit_test(a_clusterqueue_that_lets_the_namespace_not_in_is_not_told),
		cmocka_unit_test(a_clusterqueue_that_is_not_there_is_said_so),
		cmocka_unit_test(a_lane_outlives_its_clusterqueue),
		cmocka_unit_test(without_forecasts_it_says_so),
		cmocka_unit_test(a_lane_has_the_windows_of_its_week),
		cmocka_unit_test(a_question_says_how_far),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
