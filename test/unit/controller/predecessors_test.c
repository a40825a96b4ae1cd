/*
 * The reader of predecessors, against an API server that does as it is told, a ledger that says what
 * the test says, and a queue whose questions are the test's.
 */
#include "base/monotonic.h"
#include "controller/watch/predecessors.h"

#include "api_stage.h"
#include "controller/ledger/pg.h"
#include "controller/watch/predecessor_turn.h"

#define JOBS "GET /apis/batch/v1/namespaces/a/jobs"
#define MANY 9 /* more than are asked for one by one */

/* ---- the queue and the ledger ---------------------------------------------------------------- */

static struct {
	struct wanted_predecessors wanted[64];
	size_t nwanted, taken;
	char told[4096]; /* "1: prep Succeeded; 2: returned; " */
	struct pg_asker asker;
	bool asked;
	char names[1024];      /* that the ledger was asked for */
	size_t follows;	       /* the uid that the gate follows; 0: none */
	size_t answers, found; /* so far, and Jobs in them */
} now;

bool __wrap_queue_take_wanted(struct queue *q, struct wanted_predecessors *ret);
void __wrap_queue_answer_wanted(
	struct queue *q, uint64_t id, const struct predecessor *p, size_t n);
void __wrap_queue_return_wanted(struct queue *q, uint64_t id);
bool __wrap_gate_follows_job(const struct gate *g, const struct uid *uid);
void __wrap_pg_outcomes(
	struct pg *pg, const struct ledger_job_name *names, size_t n, const struct pg_asker *asker);

bool __wrap_queue_take_wanted(struct queue *q, struct wanted_predecessors *ret)
{
	(void)q;
	if (now.taken == now.nwanted)
		return false;
	*ret = now.wanted[now.taken++];
	return true;
}

static void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *fmt, ...)
{
	size_t len = strlen(now.told);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(now.told + len, sizeof(now.told) - len, fmt, ap);
	va_end(ap);
}

void __wrap_queue_answer_wanted(struct queue *q, uint64_t id, const struct predecessor *p, size_t n)
{
	static const char *const states[] = {"Waits", "Started", "Succeeded", "Failed"};
	(void)q;
	now.answers++;
	now.found += n;
	tell("%d:", (int)id);
	for (size_t i = 0; i < n; i++)
		tell(" %s.%d %s%s%s%s", p[i].name, p[i].uid.byte[15], states[p[i].state],
			p[i].deleted ? " deleted"
			: p[i].gone  ? " gone"
				     : "",
			p[i].followed ? " followed" : "", *p[i].failure ? p[i].failure : "");
	tell("; ");
}

void __wrap_queue_return_wanted(struct queue *q, uint64_t id)
{
	(void)q;
	tell("%d: returned; ", (int)id);
}

bool __wrap_gate_follows_job(const struct gate *g, const struct uid *uid)
{
	(void)g;
	return uid->byte[15] == now.follows;
}

void __wrap_pg_outcomes(
	struct pg *pg, const struct ledger_job_name *names, size_t n, const struct pg_asker *asker)
{
	(void)pg;
	now.asker = *asker;
	assert_false(now.asked);
	now.asked = true;
	now.names[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(names[i].ns, "a");
		size_t len = strlen(now.names);
		snprintf(now.names + len, sizeof(now.names) - len, "%s ", names[i].name);
	}
}

static void recalled(enum ledger_outcome o, const struct ledger_outcome_row *rows, size_t n)
{
	assert_true(now.asked);
	now.asked = false;
	const struct pg_answer a = {.outcome = o, .why = "away", .n = n, .outcomes = rows};
	now.asker.fn(&a, now.asker.ctx);
}

static void want(uint64_t id, const char *name)
{
	now.wanted[now.nwanted++] = (struct wanted_predecessors){.id = id, .ns = "a", .name = name};
}

static void want_labels(uint64_t id, const struct selector_term *s)
{
	now.wanted[now.nwanted++] =
		(struct wanted_predecessors){.id = id, .ns = "a", .selector = s};
}

/* ---- the stage ------------------------------------------------------------------------------- */

struct stage {
	struct api_stage api;
	struct predecessors *p;
	struct log *log;
	FILE *written;
	int changes;
	int64_t tick_ms;
};

static void on_changed(void *ctx)
{
	struct stage *s = ctx;
	s->changes++;
}

static void stage_open(struct stage *s)
{
	memset(&now, 0, sizeof(now));
	*s = (struct stage){.written = tmpfile(), .tick_ms = monotonic_ms()};
	api_stage_open(&s->api);
	s->log = log_new(fileno(s->written), LOG_JSON, LEVEL_INFO);
	s->p = predecessors_new(&(struct predecessors_options){.client = s->api.client,
		.queue = s->api.world.queue,
		.gate = s->api.world.gate,
		.log = s->log,
		.changed = on_changed,
		.ctx = s});
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->api.server), 0);
	assert_int_equal(scripted_server_unused(s->api.server), 0);
	predecessors_free(s->p);
	api_stage_hang_up(&s->api);
	api_stage_close(&s->api);
	log_free(s->log);
	fclose(s->written);
}

static void answers(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->api.server, line), status,
		"Content-Type: application/json\r\n", body);
}

static void carry(struct stage *s)
{
	predecessors_carry(s->p, s->tick_ms);
	api_stage_settle(&s->api);
}

/* Some of a Job; number is the end of its uid. */
#define JOB(name, number, labels, status)                                                          \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"a\",\"uid\":\"123e4567-e89b-12d3-"   \
	"a456-4266141740" number "\",\"labels\":{" labels "}},\"spec\":{},\"status\":{" status     \
	"}}"
#define DONE "\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]"

static struct uid uid_of(int number)
{
	struct uid u;
	char text[64];
	snprintf(text, sizeof(text), "123e4567-e89b-12d3-a456-4266141740%02x", number);
	assert_true(uid_parse(text, &u));
	return u;
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void a_few_are_asked_for_one_by_one(void **state)
{
	static const char *const tuesday[] = {"tuesday"};
	static const struct requirement r[] = {
		{"batch", SELECTOR_IN, tuesday, 1}, {"test", SELECTOR_DOES_NOT_EXIST, NULL, 0}};
	static const struct selector_term selector = {r, 2};
	struct stage s;
	(void)state;
	stage_open(&s);
	want(1, "prep");
	want(2, "gone");
	want_labels(3, &selector);
	now.follows = 0x17;
	answers(&s, JOBS "/prep HTTP", 200, JOB("prep", "17", "", DONE));
	answers(&s, JOBS "/gone HTTP", 404, "{}");
	answers(&s, JOBS "?limit=250&labelSelector=batch%3Dtuesday%2C%21test HTTP", 200,
		"{\"metadata\":{},\"items\":[" JOB("x", "18", "\"batch\":\"tuesday\"",
			"\"active\":1") "," JOB("y", "19", "\"batch\":\"tuesday\"", "") "]}");
	carry(&s);
	assert_string_equal(now.names, "prep gone ");
	assert_string_equal(now.told, "");
	struct ledger_outcome_row rows[] = {
		{.name = 0, .uid = uid_of(0x17), .outcome = LEDGER_JOB_FAILED},
		{.name = 0, .uid = uid_of(0x20), .outcome = LEDGER_JOB_FAILED},
		{.name = 1, .uid = uid_of(0x21), .outcome = LEDGER_JOB_SUCCEEDED},
		{.name = 1, .uid = uid_of(0x22), .held = true}};
	recalled(LEDGER_DONE, rows, 4);
	carry(&s);
	assert_string_equal(now.told, "1: prep.23 Succeeded followed prep.32 Failed gone; "
				      "2: gone.33 Succeeded gone gone.34 Started; "
				      "3: x.24 Started y.25 Waits; ");
	assert_true(s.changes > 0);
	stage_close(&s);
}

static void no_value_and_several_are_asked_for(void **state)
{
	static const char *const none[] = {""}, *const two[] = {"x", "y"};
	static const struct requirement r[] = {{"batch", SELECTOR_IN, none, 1},
		{"team", SELECTOR_NOT_IN, none, 1}, {"tier", SELECTOR_NOT_IN, two, 2}};
	static const struct selector_term selector = {r, 3};
	struct stage s;
	(void)state;
	stage_open(&s);
	want_labels(1, &selector);
	answers(&s,
		JOBS "?limit=250&labelSelector=batch%3D%2Cteam%21%3D%2Ctier%20notin%20%28x%2Cy%29 "
		     "HTTP",
		200, "{\"metadata\":{},\"items\":[]}");
	carry(&s);
	carry(&s);
	assert_string_equal(now.told, "1:; ");
	stage_close(&s);
}

/* Nor does it take the other questions of the namespace with it. */
static void what_the_server_does_not_take_is_compared_here(void **state)
{
	static const struct requirement r[] = {{"batch", SELECTOR_EXISTS, NULL, 0}};
	static const struct selector_term selector = {r, 1};
	struct stage s;
	(void)state;
	stage_open(&s);
	want(1, "prep");
	want_labels(2, &selector);
	answers(&s, JOBS "/prep HTTP", 200, JOB("prep", "17", "", DONE));
	answers(&s, JOBS "?limit=250&labelSelector=batch HTTP", 400, "{}");
	answers(&s, JOBS "?limit=250 HTTP", 200,
		"{\"metadata\":{},\"items\":[" JOB("prep", "17", "", DONE) "," JOB(
			"x", "18", "\"batch\":\"\"", "") "]}");
	carry(&s);
	recalled(LEDGER_DONE, NULL, 0);
	carry(&s);
	assert_string_equal(now.told, "1: prep.23 Succeeded; 2: x.24 Waits; ");
	stage_close(&s);
}

/* ---- what is kept of a turn ------------------------------------------------------------------ */

static struct predecessor_turn *turn_for_all(const struct selector_term *s, size_t questions)
{
	struct predecessor_turn *t = predecessor_turn_new("a");
	for (size_t i = 0; i < questions; i++)
		predecessor_turn_add(
			t, &(struct wanted_predecessors){.id = i + 1, .ns = "a", .selector = s});
	return t;
}

static void see_numbered(struct predecessor_turn *t, int number, const struct label *l, size_t n)
{
	char name[32];
	struct job j = {.ns = "a", .name = name, .labels = l, .nlabels = n};
	snprintf(name, sizeof(name), "n%d", number);
	memcpy(j.uid.byte, &number, sizeof(number));
	j.uid.byte[15] = 1;
	predecessor_turn_see(t, &j);
}

/* As many selectors as a namespace may have, and each takes more than it may. */
static void no_more_is_kept_than_counts(void **state)
{
	static const struct requirement r[] = {{"batch", SELECTOR_EXISTS, NULL, 0}};
	static const struct selector_term selector = {r, 1};
	static const struct label batch = {"batch", ""};
	enum { SELECTORS = 64 };
	(void)state;
	memset(&now, 0, sizeof(now));
	struct predecessor_turn *t = turn_for_all(&selector, SELECTORS);
	for (int i = 0; i < PREDECESSOR_TAKEN_MAX + 100; i++)
		see_numbered(t, i, &batch, 1);
	assert_false(predecessor_turn_is_too_large(t));
	/* Told one by one: each alone is enough for a pass. */
	for (size_t i = 1; i <= SELECTORS; i++) {
		assert_int_equal(predecessor_turn_answer(t, NULL, NULL), i == SELECTORS);
		assert_int_equal(now.answers, i);
	}
	assert_int_equal(now.found, SELECTORS * (PREDECESSOR_TAKEN_MAX + 1));
	predecessor_turn_free(t);
}

static void a_job_with_too_many_labels_is_taken_by_no_selector(void **state)
{
	static const struct requirement r[] = {{"batch", SELECTOR_EXISTS, NULL, 0}};
	static const struct selector_term selector = {r, 1};
	struct label labels[PREDECESSOR_LABELS_MAX + 1];
	(void)state;
	memset(&now, 0, sizeof(now));
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		labels[i] = (struct label){"batch", ""};
	struct predecessor_turn *t = turn_for_all(&selector, 1);
	see_numbered(t, 1, labels, PREDECESSOR_LABELS_MAX + 1);
	see_numbered(t, 2, labels, PREDECESSOR_LABELS_MAX);
	assert_true(predecessor_turn_answer(t, NULL, NULL));
	assert_string_equal(now.told, "1: n2.1 Waits; ");
	predecessor_turn_free(t);
}

/* ---- many ------------------------------------------------------------------------------------ */

/* One list, by pages, for all of them. */
static void many_are_read_together(void **state)
{
	static const char *const names[MANY] = {
		"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"};
	static const struct requirement r[] = {{"batch", SELECTOR_EXISTS, NULL, 0}};
	static const struct selector_term selector = {r, 1};
	struct stage s;
	(void)state;
	stage_open(&s);
	for (uint64_t i = 0; i < MANY; i++)
		want(i, names[i]);
	want_labels(MANY, &selector);
	answers(&s, JOBS "?limit=250 HTTP", 200,
		"{\"metadata\":{\"continue\":\"a/b\"},\"items\":[" JOB("n3", "17", "", DONE) "]}");
	answers(&s, JOBS "?limit=250&continue=a%2Fb HTTP", 200,
		"{\"metadata\":{\"continue\":\"\"},\"items\":[" JOB(
			"n5", "18", "\"batch\":\"\"", "") "," JOB("other", "19", "", "") "]}");
	carry(&s);
	assert_string_equal(now.names, "n0 n1 n2 n3 n4 n5 n6 n7 n8 ");
	recalled(LEDGER_DONE, NULL, 0);
	carry(&s);
	assert_string_equal(now.told,
		"0:; 1:; 2:; 3: n3.23 Succeeded; 4:; 5: n5.24 Waits; 6:; 7:; 8:; 9: n5.24 Waits; ");
	/* It rests now: the next questions have to wait. */
	want(20, "late");
	carry(&s);
	assert_int_equal(scripted_server_count(s.api.server), 2);
	answers(&s, JOBS "/late HTTP", 404, "{}");
	s.tick_ms += 6000;
	carry(&s);
	assert_string_equal(now.names, "late ");
	stage_close(&s);
}

static void what_cannot_be_read_is_returned(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	want(1, "prep");
	want(2, "load");
	answers(&s, JOBS "/prep HTTP", 429, "{}");
	carry(&s);
	assert_string_equal(now.told, "1: returned; 2: returned; ");
	now.told[0] = '\0';
	now.taken = 0;
	s.tick_ms += 10000;
	answers(&s, JOBS "/prep HTTP", 200, JOB("prep", "17", "", DONE));
	answers(&s, JOBS "/load HTTP", 404, "{}");
	carry(&s);
	recalled(LEDGER_LOST, NULL, 0);
	assert_string_equal(now.told, "1: returned; 2: returned; ");
	now.told[0] = '\0';
	now.taken = 0;
	s.tick_ms += 10000;
	answers(&s, JOBS "/prep HTTP", 200, "{\"metadata\":{\"name\":\"prep\"}}"); /* no uid */
	carry(&s);
	assert_string_equal(now.told, "1: returned; 2: returned; ");
	stage_close(&s);
}

/* What others ask does not wait for a namespace that rests. */
static void each_namespace_has_its_turn(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	want(1, "prep");
	answers(&s, JOBS "/prep HTTP", 503, "{}");
	carry(&s);
	want(2, "prep");
	now.wanted[now.nwanted++] =
		(struct wanted_predecessors){.id = 3, .ns = "b", .name = "prep"};
	answers(&s, "GET /apis/batch/v1/namespaces/b/jobs/prep HTTP", 500, "{}");
	carry(&s);
	assert_string_equal(now.told, "1: returned; 3: returned; ");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few_are_asked_for_one_by_one),
		cmocka_unit_test(no_value_and_several_are_asked_for),
		cmocka_unit_test(what_the_server_does_not_take_is_compared_here),
		cmocka_unit_test(no_more_is_kept_than_counts),
		cmocka_unit_test(a_job_with_too_many_labels_is_taken_by_no_selector),
		cmocka_unit_test(many_are_read_together),
		cmocka_unit_test(what_cannot_be_read_is_returned),
		cmocka_unit_test(each_namespace_has_its_turn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
