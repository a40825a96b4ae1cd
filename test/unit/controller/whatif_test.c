/* Objects of a what-if: which are taken, and what is told of the two plays. */
#include "controller/answers/whatif_text.h"
#include "controller/answers/whatif_verdicts.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "forecast/play.h"
#include "test/unit/controller/review_world.h"
#include "test/golden/golden.h"

/* ---- what is taken ----------------------------------------------------------------------------- */

static const char *const world[] = {FLAVOR("node", ""), CLASS("high", "100"),
	CLUSTERQUEUE("batch", "", QUOTA("node", "1")), LOCALQUEUE("team-a", "main", "batch"), NULL};

static void bad_objects_are_refused_by_name(void **state)
{
	(void)state;
	static const struct {
		const char *json, *says;
	} cases[] = {
		{"", "object 1 is no JSON"},
		{"{'kind':", "object 1 is no JSON"},
		{"[1,2]", "(none) and kind (none)"},
		{"{'apiVersion':'sluice.dev/v1alpha1','kind':'Node','metadata':{'name':'a'}}",
			"kind Node; it must be sluice.dev/v1alpha1 and one of ClusterQueue, Cohort,"},
		{"{'apiVersion':'kueue.x-k8s.io/v1beta1','kind':'ClusterQueue','metadata':{'name':'a'}}",
			"apiVersion kueue.x-k8s.io/v1beta1"},
		{"{'apiVersion':'sluice.dev/v1alpha1','kind':'ClusterQueue','metadata':{}}",
			"object 1, a ClusterQueue, has no metadata.name"},
		{"{'apiVersion':'sluice.dev/v1alpha1','kind':'ClusterQueue','metadata':{'name':'a/b'}}",
			"has no metadata.name"},
		{"{'apiVersion':'sluice.dev/v1alpha1','kind':'LocalQueue','metadata':{'name':'a'}}",
			"LocalQueue a has no metadata.namespace"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct whatif_specs *s = whatif_specs_new();
		struct err e = {""};
		assert_int_equal(add_text(s, cases[i].json, &e), ERR_INVALID);
		if (!strstr(e.text, cases[i].says))
			fail_msg("%s: %s", cases[i].json, e.text);
		assert_int_equal(whatif_specs_count(s), 0);
		whatif_specs_free(s);
	}
}

static void bad_drops_are_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "ClusterQueue", "ClusterQueue/", "clusterqueue/a",
		"ClusterQueue/a/b", "LocalQueue/a", "LocalQueue/a/", "LocalQueue/a/b/c", "Node/a",
		"ClusterQueue/A"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct whatif_specs *s = whatif_specs_new();
		struct err e = {""};
		if (whatif_specs_add_drop(s, texts[i], &e) != ERR_INVALID)
			fail_msg("%s", texts[i]);
		assert_non_null(strstr(e.text, "write KIND/NAME"));
		whatif_specs_free(s);
	}
}

static void they_are_bounded(void **state)
{
	(void)state;
	struct whatif_specs *s = whatif_specs_new();
	struct err e = {""};
	for (int i = 0; i < WHATIF_ITEMS_MAX; i++)
		assert_int_equal(whatif_specs_add_drop(s, "Cohort/a", &e), 0);
	assert_int_equal(whatif_specs_add_drop(s, "Cohort/a", &e), ERR_LIMIT);
	whatif_specs_free(s);
	s = whatif_specs_new();
	char *large = mem_alloc(WHATIF_BYTES_MAX + 2);
	memset(large, ' ', WHATIF_BYTES_MAX + 1);
	assert_int_equal(whatif_specs_add(s, large, &e), ERR_LIMIT);
	assert_non_null(strstr(e.text, "larger than 24 KiB"));
	free(large);
	whatif_specs_free(s);
}

/* What the queue says, or that there is none of that name. */
static void the_queue_refuses_with_its_own_sentence(void **state)
{
	(void)state;
	static const struct {
		const char *json, *drop, *says;
	} cases[] = {
		{CLUSTERQUEUE("batch", "", QUOTA("node", "-1")), NULL, "batch"},
		{CLUSTERQUEUE("batch", "", QUOTA("node", "1") "," QUOTA("node", "2")), NULL,
			"batch"},
		{NULL, "ClusterQueue/nothing", "there is no ClusterQueue nothing"},
		{NULL, "LocalQueue/team-b/main", "there is no LocalQueue team-b/main"},
		{NULL, "ResourceFlavor/gpu", "there is no ResourceFlavor gpu"},
		{NULL, "WorkloadPriorityClass/top", "there is no WorkloadPriorityClass top"},
		{NULL, "Budget/b", "there is no Budget b"},
		{NULL, "AdvanceReservation/a", "there is no AdvanceReservation a"},
		{OBJECT("AdvanceReservation", "a",
			 "'spec':{'clusterQueue':'batch','calendar':'nights','flavors':[]}"),
			NULL, "AdvanceReservation a: spec.flavors: reserves nothing"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct queue *q = world_of_json(world);
		struct whatif_specs *s = whatif_specs_new();
		struct err e = {""};
		if (cases[i].json)
			assert_int_equal(add_text(s, cases[i].json, &e), 0);
		else
			assert_int_equal(whatif_specs_add_drop(s, cases[i].drop, &e), 0);
		assert_int_equal(whatif_specs_apply(s, q, NULL, &e), ERR_INVALID);
		if (!strstr(e.text, cases[i].says))
			fail_msg("%s", e.text);
		whatif_specs_free(s);
		queue_free(q);
	}
}

static void what_is_there_can_be_dropped(void **state)
{
	(void)state;
	static const char *const texts[] = {"LocalQueue/team-a/main", "ClusterQueue/batch",
		"ResourceFlavor/node", "WorkloadPriorityClass/high"};
	struct queue *q = world_of_json(world);
	struct clusterqueue_view view;
	struct err e = {""};
	struct whatif_specs *s = whatif_specs_new();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(whatif_specs_add_drop(s, texts[i], &e), 0);
	if (whatif_specs_apply(s, q, NULL, &e) != 0)
		fail_msg("%s", e.text);
	assert_false(queue_view_clusterqueue(q, 0, &view));
	assert_false(queue_has_flavor(q, "node"));
	assert_false(queue_has_priority(q, PRIORITY_WORKLOAD, "high"));
	whatif_specs_free(s);
	queue_free(q);
}

/* One that is new is judged like any other, and one that is dropped reserves nothing. */
static void quota_can_be_reserved(void **state)
{
	(void)state;
	struct queue *q = world_of_json(world);
	struct whatif_specs *s = whatif_specs_new();
	struct advance_reservation_view view;
	struct decision d[4];
	struct err e = {""};
	int64_t next_ms, now_ms = INT64_C(1796025600000); /* 2026-11-30T08:00:00Z */
	assert_int_equal(
		add_text(s,
			OBJECT("AdvanceReservation", "demo",
				"'spec':{'clusterQueue':'batch','flavors':[{'name':'node'}],"
				"'from':'2026-11-30T09:00:00Z','until':'2026-11-30T17:00:00Z'}"),
			&e),
		0);
	if (whatif_specs_apply(s, q, NULL, &e) != 0)
		fail_msg("%s", e.text);
	queue_decide(q, now_ms, d, 4, &next_ms);
	assert_true(queue_view_advance_reservation(q, 0, &view));
	if (!view.accepted.ok)
		fail_msg("%s: %s", view.accepted.reason, view.accepted.message);
	whatif_specs_free(s);
	s = whatif_specs_new();
	assert_int_equal(whatif_specs_add_drop(s, "AdvanceReservation/demo", &e), 0);
	assert_int_equal(whatif_specs_apply(s, q, NULL, &e), 0);
	assert_false(queue_view_advance_reservation(q, 0, &view));
	whatif_specs_free(s);
	queue_free(q);
}

static void time_specs_are_completed(void **state)
{
	(void)state;
	struct queue *q = world_of_json(world);
	struct zones *zones = zones_new();
	struct time_specs_options o = {.queue = q, .zones = zones};
	struct time_specs *t = time_specs_new(&o);
	struct whatif_specs *s = whatif_specs_new();
	struct calendar_view view;
	struct err e = {""};
	assert_int_equal(
		add_text(s,
			OBJECT("Calendar", "night",
				"'spec':{'timeZone':'Europe/Berlin','open':[{'name':'night','days':['Mon-Sun'],'from':'22:00','to':'06:00'}]}"),
			&e),
		0);
	if (whatif_specs_apply(s, q, t, &e) != 0)
		fail_msg("%s", e.text);
	assert_true(queue_view_calendar(q, 0, &view));
	assert_true(view.valid.ok);
	whatif_specs_free(s);
	s = whatif_specs_new();
	assert_int_equal(whatif_specs_add_drop(s, "Calendar/night", &e), 0);
	assert_int_equal(whatif_specs_apply(s, q, t, &e), 0);
	assert_false(queue_view_calendar(q, 0, &view));
	whatif_specs_free(s);
	/* Prices that nobody has read yet. */
	s = whatif_specs_new();
	assert_int_equal(
		add_text(s,
			OBJECT("PricePlan", "spot",
				"'spec':{'currency':'EUR','base':{'cpu':'1'},'series':{'configMap':'prices',"
				"'key':'spot','reference':'1','staleAfter':'1h'}}"),
			&e),
		0);
	assert_int_equal(whatif_specs_apply(s, q, t, &e), ERR_INVALID);
	if (!strstr(e.text, "ConfigMap"))
		fail_msg("%s", e.text);
	whatif_specs_free(s);
	time_specs_free(t);
	zones_free(zones);
	queue_free(q);
}

static const char holidays[] =
	"{'metadata':{'name':'de'},'data':{'ics':'BEGIN:VCALENDAR\\r\\nBEGIN:VEVENT\\r\\nDTSTART:20260501\\r\\n"
	"RRULE:FREQ=SECONDLY\\r\\nEND:VEVENT\\r\\nEND:VCALENDAR\\r\\n'}}";
#define WITH_HOLIDAYS                                                                              \
	OBJECT("Calendar", "night",                                                                \
		"'spec':{'timeZone':'UTC','open':[{'name':'night','days':['Mon-Sun'],'from':"      \
		"'22:00','to':'06:00'}],'except':[{'name':'de','datesFrom':{'configMap':'de',"     \
		"'key':'ics'},'treatAs':'Closed'}]}")

/* A ConfigMap of which an event is left out is worth a line where it is so, not where it would be. */
static void nothing_is_logged_of_what_would_be(void **state)
{
	(void)state;
	int pipes[2];
	char text[4000];
	struct queue *q = world_of_json(world);
	struct zones *zones = zones_new();
	assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
	struct log *log = log_new(pipes[1], LOG_TEXT, LEVEL_INFO);
	struct time_specs_options o = {.queue = q, .zones = zones, .log = log};
	struct time_specs *t = time_specs_new(&o);
	struct json *json = json_new(1 << 20);
	struct err e = {""};
	const cJSON *object;
	char *calendar = quoted(WITH_HOLIDAYS), *configmap = quoted(holidays);
	assert_int_equal(json_parse(json, slice_of(calendar), &object, &e), 0);
	assert_int_equal(time_specs_see(t, TIME_SPECS_CALENDAR, object, &e), 0);
	json_reset(json);
	time_specs_begin_list(t);
	assert_int_equal(json_parse(json, slice_of(configmap), &object, &e), 0);
	time_specs_see_configmap(t, object);
	time_specs_end_list(t);
	ssize_t n = read(pipes[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_non_null(strstr(text, "dates-left-out"));
	struct whatif_specs *s = whatif_specs_new();
	assert_int_equal(whatif_specs_add(s, calendar, &e), 0);
	if (whatif_specs_apply(s, q, t, &e) != 0)
		fail_msg("%s", e.text);
	assert_int_equal(read(pipes[0], text, sizeof(text)), -1);
	whatif_specs_free(s);
	free(calendar);
	free(configmap);
	json_free(json);
	time_specs_free(t);
	log_free(log);
	zones_free(zones);
	queue_free(q);
	close(pipes[0]);
	close(pipes[1]);
}

/* ---- what is told ------------------------------------------------------------------------------ */

static int64_t as_expected(const struct job_outline *o, int64_t ran_ms, void *ctx)
{
	(void)ctx;
	return o->expected_ms > ran_ms ? o->expected_ms : ran_ms + MINUTE_MS;
}

static void begin_play(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	(void)draw;
	(void)arrivals;
	(void)ctx;
	*lengths = (struct play_lengths){as_expected, NULL};
}

static int change(struct queue *q, size_t variant, void *ctx, struct err *e)
{
	(void)variant;
	return whatif_specs_apply(ctx, q, NULL, e);
}

static void tell_all(const struct ask_answer *a, const struct queue *q, struct buf *out, void *ctx)
{
	struct review_basis basis = {12, 3};
	(void)ctx;
	whatif_put(a, q, &basis, out);
}

static void note_verdicts(const struct queue *q, size_t variant, struct buf *out, void *ctx)
{
	(void)variant;
	whatif_verdicts_put(ctx, q, out);
}

/* The status of the WhatIf. */
static const cJSON *played(struct queue *q, struct whatif_specs *s, struct json *json, bool costs)
{
	struct ask_options o = {.now_ms = BEGIN_MS,
		.draws = 2,
		.begin = begin_play,
		.ctx = s,
		.play_s = 10,
		.ask_ms = 600000,
		.variants = 2,
		.change = change,
		.decided = note_verdicts,
		.tell = tell_all,
		.costs = costs};
	struct ask_answer a;
	struct ask *ask;
	struct err e;
	const cJSON *root;
	int rc;
	assert_int_equal(ask_begin(q, &o, &ask, &e), 0);
	while ((rc = ask_read(ask, &a, &e)) == 0) {
		struct pollfd fd = {ask_fd(ask), POLLIN, 0};
		assert_true(poll(&fd, 1, -1) == 1);
	}
	if (rc != 1)
		fail_msg("%s", e.text);
	if (json_parse(json, a.text, &root, &e) != 0)
		fail_msg("%s: %.*s", e.text, (int)a.text.len, a.text.ptr);
	golden_add("whatif", "", a.text);
	ask_free(ask);
	assert_string_equal(json_text(root, "kind"), "WhatIf");
	return json_object(root, "status");
}

static int64_t number(const cJSON *o, const char *key)
{
	int64_t value = -1;
	json_i64(o, key, &value);
	return value;
}

/* Ten Jobs wait behind one that runs, ten minutes each. With two cpu they go by twos. One is of a queue
 * that is not there, and will be. */
static void who_starts_earlier_and_who_comes_to_start(void **state)
{
	(void)state;
	struct queue *q = world_of_json(world);
	struct whatif_specs *s = whatif_specs_new();
	struct json *json = json_new(4 << 20);
	struct err e = {""};
	for (uint32_t n = 0; n <= 10; n++) {
		tell(q, BEGIN_MS + n, (struct told){n + 1, 1, 10 * MINUTE_MS});
		if (n == 0)
			decide(q, BEGIN_MS);
	}
	struct job *lost = job_of_json(99, "soon", "'sluice.dev/expected-duration':'10m'", "", "");
	queue_set_job(q, lost);
	assert_int_equal(add_text(s, CLUSTERQUEUE("batch", "", QUOTA("node", "2")), &e), 0);
	assert_int_equal(add_text(s, CLUSTERQUEUE("more", "", QUOTA("node", "1")), &e), 0);
	assert_int_equal(add_text(s, LOCALQUEUE("team-a", "soon", "more"), &e), 0);
	const cJSON *status = played(q, s, json, false);
	assert_int_equal(number(status, "jobs"), 11);
	assert_int_equal(number(status, "earlier"), 10);
	assert_int_equal(number(status, "later"), 0);
	assert_int_equal(number(status, "same"), 0);
	assert_int_equal(number(status, "newlyStart"), 1);
	assert_int_equal(number(status, "neverAnyMore"), 0);
	assert_int_equal(number(status, "draws"), 2);
	assert_int_equal(number(json_object(status, "basis"), "runs"), 12);
	/* The first goes from 10 to 0, the second from 20 to 10, the third from 30 to 10, ... */
	assert_int_equal(number(status, "earlierSecondsMedian"), 30 * 60);
	assert_null(json_get(status, "costs"));
	const cJSON *queue = json_array(status, "queues")->child;
	assert_string_equal(json_text(queue, "clusterQueue"), "batch");
	assert_int_equal(number(queue, "earlier"), 10);
	assert_int_equal(number(queue, "p50WaitSecondsBefore"), 50 * 60);
	assert_int_equal(number(queue, "p50WaitSecondsAfter"), 20 * 60);
	const cJSON *item = json_array(status, "items")->child;
	assert_string_equal(json_text(item, "name"), "job-99");
	assert_null(json_get(item, "earlierSeconds"));
	assert_null(json_text(json_object(item, "before"), "p50"));
	assert_string_equal(json_text(json_object(item, "before"), "reason"), "Misconfigured");
	assert_string_equal(json_text(json_object(item, "after"), "p50"), "2026-01-01T00:00:00Z");
	item = item->next; /* the last two move most: from 90 to 40, and from 100 to 50 */
	assert_string_equal(json_text(item, "name"), "job-10");
	assert_int_equal(number(item, "earlierSeconds"), 50 * 60);
	assert_null(json_get(status, "left"));
	free(lost);
	json_free(json);
	whatif_specs_free(s);
	queue_free(q);
}

static void who_starts_later_and_what_it_costs(void **state)
{
	(void)state;
	struct queue *q = world_of_json(world);
	struct price_base cpu = {.resource = "cpu", .per_hour = 6 * 1000000};
	struct priceplan_spec plan = {.name = "p", .currency = "EUR", .base = &cpu, .nbases = 1};
	struct whatif_specs *s = whatif_specs_new();
	struct json *json = json_new(4 << 20);
	struct err e = {""};
	assert_int_equal(queue_set_priceplan(q, &plan, &e), 0);
	set_quota(q, 2, STRICT_FIFO, (struct preemption_spec){0});
	tell(q, BEGIN_MS, (struct told){1, 2, 10 * MINUTE_MS});
	decide(q, BEGIN_MS);
	tell(q, BEGIN_MS + 1, (struct told){2, 1, 10 * MINUTE_MS});
	tell(q, BEGIN_MS + 2, (struct told){3, 1, 20 * MINUTE_MS});
	tell(q, BEGIN_MS + 3, (struct told){4, 2, 10 * MINUTE_MS});
	assert_int_equal(add_text(s,
				 CLUSTERQUEUE("batch", "'queueingStrategy':'StrictFIFO',",
					 QUOTA("node", "1")),
				 &e),
		0);
	const cJSON *status = played(q, s, json, true);
	assert_int_equal(number(status, "jobs"), 3);
	assert_int_equal(number(status, "same"), 1); /* the second: after 10 minutes in both */
	assert_int_equal(number(status, "later"), 1);
	assert_int_equal(number(status, "neverAnyMore"), 1);
	assert_int_equal(number(status, "laterSecondsMedian"), 10 * 60);
	const cJSON *cost = json_array(status, "costs")->child;
	assert_string_equal(json_text(cost, "currency"), "EUR");
	assert_string_equal(json_text(cost, "before"), "5.00"); /* 10 + 20 + 2 times 10 minutes */
	assert_string_equal(json_text(cost, "after"), "3.00");
	assert_null(cost->next);
	const cJSON *item = json_array(status, "items")->child;
	assert_string_equal(json_text(item, "name"), "job-4");
	assert_int_equal(number(item->next, "earlierSeconds"), -10 * 60);
	json_free(json);
	whatif_specs_free(s);
	queue_free(q);
}

/* 500 are told, and the text stays within its bounds. */
static void of_many_those_that_move_most_are_told(void **state)
{
	(void)state;
	struct queue *q = world_of_json(world);
	struct whatif_specs *s = whatif_specs_new();
	struct json *json = json_new(16 << 20);
	struct err e = {""};
	for (uint32_t n = 0; n <= 700; n++) {
		tell(q, BEGIN_MS + n, (struct told){n + 1, 1, 10 * MINUTE_MS});
		if (n == 0)
			decide(q, BEGIN_MS);
	}
	assert_int_equal(add_text(s, CLUSTERQUEUE("batch", "", QUOTA("node", "2")), &e), 0);
	const cJSON *status = played(q, s, json, false);
	assert_int_equal(number(status, "earlier"), 700);
	assert_int_equal(number(status, "left"), 200);
	assert_int_equal(cJSON_GetArraySize(json_array(status, "items")), 500);
	json_free(json);
	whatif_specs_free(s);
	queue_free(q);
}

#define RESERVATION(name, cpu)                                                                     \
	OBJECT("AdvanceReservation", name,                                                         \
		"'spec':{'clusterQueue':'batch','flavors':[{'name':'node','resources':[{'name':"   \
		"'cpu','amount':'" cpu "'}]}],'from':'2026-01-01T02:00:00Z','until':"              \
		"'2026-01-01T10:00:00Z'}")

static const cJSON *verdict_on(const cJSON *status, const char *name)
{
	json_each(v, json_array(status, "advanceReservations"))
		if (strcmp(json_text(v, "name"), name) == 0)
			return v;
	fail_msg("no verdict on %s", name);
	return NULL;
}

/* Also where no Job waits. One that is there already is not told of, and goes before those that are asked about:
 * they have no time of creation. */
static void an_advancereservation_is_judged(void **state)
{
	(void)state;
	struct queue *q = world_of_json(world);
	struct price_base cpu = {.resource = "cpu", .per_hour = 6 * 1000000};
	struct priceplan_spec plan = {.name = "p", .currency = "EUR", .base = &cpu, .nbases = 1};
	struct whatif_specs *s = whatif_specs_new(), *there = whatif_specs_new();
	struct json *json = json_new(4 << 20);
	struct err e = {""};
	bool accepted;
	assert_int_equal(queue_set_priceplan(q, &plan, &e), 0);
	set_quota(q, 4, STRICT_FIFO, (struct preemption_spec){0});
	assert_int_equal(add_text(there, RESERVATION("z-there", "2"), &e), 0);
	assert_int_equal(whatif_specs_apply(there, q, NULL, &e), 0);
	decide(q, BEGIN_MS);
	assert_int_equal(add_text(s, RESERVATION("a-fits", "2"), &e), 0);
	assert_int_equal(add_text(s, RESERVATION("b-late", "1"), &e), 0);
	assert_int_equal(add_text(s, RESERVATION("c-large", "5"), &e), 0);
	const cJSON *status = played(q, s, json, false);
	assert_int_equal(cJSON_GetArraySize(json_array(status, "advanceReservations")), 3);
	const cJSON *v = verdict_on(status, "a-fits");
	assert_int_equal(json_bool(v, "accepted", &accepted), 0);
	if (!accepted)
		fail_msg("%s", json_text(v, "message"));
	assert_string_equal(json_text(v, "from"), "2026-01-01T02:00:00Z");
	assert_string_equal(json_text(v, "until"), "2026-01-01T10:00:00Z");
	assert_string_equal(json_text(v, "cost"), "96.00"); /* 2 cpu for 8 hours at 6 */
	assert_string_equal(json_text(v, "currency"), "EUR");
	assert_null(json_get(v, "possibleFrom"));
	v = verdict_on(status, "b-late");
	assert_int_equal(json_bool(v, "accepted", &accepted), 0);
	assert_false(accepted);
	assert_string_equal(json_text(v, "reason"), "NotFree");
	if (!strstr(json_text(v, "message"), "z-there"))
		fail_msg("%s", json_text(v, "message"));
	assert_string_equal(json_text(v, "possibleFrom"), "2026-01-01T10:00:00Z");
	v = verdict_on(status, "c-large");
	assert_string_equal(json_text(v, "reason"), "TooMuch");
	assert_null(json_get(v, "possibleFrom"));
	json_free(json);
	whatif_specs_free(s);
	whatif_specs_free(there);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_objects_are_refused_by_name),
		cmocka_unit_test(bad_drops_are_refused),
		cmocka_unit_test(they_are_bounded),
		cmocka_unit_test(the_queue_refuses_with_its_own_sentence),
		cmocka_unit_test(what_is_there_can_be_dropped),
		cmocka_unit_test(quota_can_be_reserved),
		cmocka_unit_test(time_specs_are_completed),
		cmocka_unit_test(nothing_is_logged_of_what_would_be),
		cmocka_unit_test(who_starts_earlier_and_who_comes_to_start),
		cmocka_unit_test(who_starts_later_and_what_it_costs),
		cmocka_unit_test(of_many_those_that_move_most_are_told),
		cmocka_unit_test(an_advancereservation_is_judged),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
