/*
 * A QueuedJob and a StartReview with each of their members, as golden texts. What the gate, the queue and the
 * forecasts know of the Job is the test's.
 */
#include "controller/answers/queued_job.h"
#include "controller/answers/review_reply.h"
#include "controller/answers/start_review.h"

#include "api_stage.h"
#include "controller/forecast/reviews.h"
#include "controller/gate/label_set.h"
#include "forecast/play.h"

#define MINUTE_MS 60000

/* ---- what is known --------------------------------------------------------------------------- */

static bool in_trouble, has_bill, has_forecast;

bool __wrap_gate_job_trouble(
	const struct gate *g, const char *ns, const char *name, struct gate_trouble *ret);
bool __wrap_gate_job_trouble(
	const struct gate *g, const char *ns, const char *name, struct gate_trouble *ret)
{
	(void)g;
	*ret = (struct gate_trouble){ns, name, "batch", TROUBLE_UNSCHEDULABLE, 3, 8,
		NOW_MS - MINUTE_MS, "0/4 nodes are available: 4 Insufficient \"cpu\""};
	return in_trouble;
}

bool __wrap_gate_bill(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct run_bill *ret);
bool __wrap_gate_bill(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct run_bill *ret)
{
	(void)g;
	(void)ns;
	(void)name;
	(void)now_ms;
	*ret = (struct run_bill){true, "power", "EUR", 1250000, 500000, 12000000, "[]"};
	return has_bill;
}

int64_t __wrap_gate_ledger_down_ms(const struct gate *g);
int64_t __wrap_gate_ledger_down_ms(const struct gate *g)
{
	(void)g;
	return NOW_MS - 2 * MINUTE_MS;
}

bool __wrap_forecasts_find(const struct forecasts *f, const struct uid *uid,
	const struct explanation *x, struct forecast *ret);
bool __wrap_forecasts_find(const struct forecasts *f, const struct uid *uid,
	const struct explanation *x, struct forecast *ret)
{
	(void)f;
	(void)uid;
	(void)x;
	*ret = (struct forecast){
		.start = {NOW_MS + MINUTE_MS, NOW_MS + 90 * MINUTE_MS, PLAY_NEVER, 14},
		.reason = WAIT_QUOTA,
		.as_of_ms = NOW_MS - 5000,
		.draws = 16,
		.runs = 64,
		.arrivals = 3,
		.told_ms = NOW_MS + 90 * MINUTE_MS,
		.has_moved = true,
		.move = {.from_ms = NOW_MS + 10 * MINUTE_MS,
			.at_ms = NOW_MS - 5000,
			.is_later = true,
			.why.count = {[MOVE_OBJECT] = 1, [MOVE_CAME] = 3},
			.kind = {"ClusterQueue"},
			.name = {"batch"}}};
	return has_forecast;
}

bool __wrap_queue_view_after(
	const struct queue *q, const struct uid *uid, size_t index, struct after_view *ret);
bool __wrap_queue_view_after(
	const struct queue *q, const struct uid *uid, size_t index, struct after_view *ret)
{
	static const struct after_view items[] = {
		{"afterok:prep,fetch", false, false, {"prep", "fetch"}, 2, 7},
		{"afterany:clean", true, false, {NULL}, 0, 0},
		{"afternotok:try", false, true, {"try"}, 1, 0},
	};
	(void)q;
	(void)uid;
	if (index >= sizeof(items) / sizeof(items[0]))
		return false;
	*ret = items[index];
	return true;
}

/* ---- a QueuedJob ----------------------------------------------------------------------------- */

static struct queued_job job_of(struct world *w, enum wait_reason reason)
{
	struct queued_job j = {
		.story = "{\"what\":\"a story\"}", .tells_after = true, .version = 7168};
	assert_true(gate_find_listed(w->gate, "team-a", "one", &j.listed));
	j.explanation = (struct explanation){.reason = reason,
		.localqueue = "main",
		.clusterqueue = "batch",
		.priority = 100,
		.claimed_priority = 1000,
		.queued_ms = NOW_MS - 30 * MINUTE_MS,
		.in_line = true,
		.rank = 7,
		.ahead = 4,
		.not_before_ms = NOW_MS + 30 * MINUTE_MS,
		.expected_ms = 90500,
		.expected_from = DURATION_HISTORY,
		.deadline_ms = NOW_MS + 600 * MINUTE_MS,
		.unreachable = true,
		.sentence = "needs 12 cpu in flavor \"spot\"; 4 Jobs are ahead of it"};
	return j;
}

static void put_in_each_form(
	const struct queued_jobs_sources *s, const struct queued_job *j, const char *about)
{
	static const enum job_query_form forms[] = {
		FORM_OBJECTS, FORM_TABLE, FORM_TABLE_ALONE, FORM_TABLE_OBJECTS};
	struct buf out;
	buf_init(&out, 1 << 20);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct json_writer w = json_writer(&out);
		queued_job_put(&w, NULL, s, j, forms[i]);
		golden_add("a QueuedJob", about, buf_slice(&out));
		buf_reset(&out);
	}
	buf_done(&out);
}

static void a_queuedjob_has_each_member(void **state)
{
	(void)state;
	struct world w;
	union {
		struct label_set set;
		char room[256];
	} labels = {.set = {.nlabels = 2}};
	labels.set.label[0] = (struct label){"team", "red"};
	labels.set.label[1] = (struct label){"unit", "a \"b\""};
	world_open(&w, "batch");
	world_add_job(&w, 1, "one");
	struct queued_jobs_sources s = {.gate = w.gate,
		.queue = w.queue,
		.forecasts = (const struct forecasts *)&w, /* only asked through the wrap */
		.ledger_up = true,
		.now_ms = NOW_MS};
	struct queued_job j = job_of(&w, WAIT_QUOTA);
	j.listed.labels = &labels.set;
	j.listed.submitted_by = "cn=bob,o=team";
	put_in_each_form(&s, &j, "that waits for an instant");
	has_forecast = true;
	j.explanation.not_before_ms = 0;
	put_in_each_form(&s, &j, "with a forecast");
	s.forecasts = NULL;
	s.ledger_up = has_forecast = false;
	put_in_each_form(&s, &j, "without forecasts and ledger");
	s.ledger_up = in_trouble = has_bill = true;
	j = job_of(&w, WAIT_NOT);
	j.listed.state = "Running";
	j.listed.started_ms = NOW_MS - 20 * MINUTE_MS;
	j.explanation.claimed_priority = 100;
	j.explanation.stop_ms = NOW_MS + 60 * MINUTE_MS;
	put_in_each_form(&s, &j, "that runs");
	in_trouble = has_bill = false;
	world_close(&w);
}

/* ---- a StartReview --------------------------------------------------------------------------- */

static struct review_plays plays;

struct review *__wrap_reviews_enter(
	struct reviews *r, const struct review_asker *asker, struct err *e);
struct review *__wrap_reviews_enter(
	struct reviews *r, const struct review_asker *asker, struct err *e)
{
	(void)asker;
	(void)e;
	return (struct review *)r;
}

void __wrap_review_leave(struct review *v);
void __wrap_review_leave(struct review *v)
{
	(void)v;
}

void __wrap_review_play(struct review *v, const struct review_plays *p);
void __wrap_review_play(struct review *v, const struct review_plays *p)
{
	(void)v;
	plays = *p;
}

int64_t __wrap_clock_of_loop_ms(double now_s);
int64_t __wrap_clock_of_loop_ms(double now_s)
{
	(void)now_s;
	return NOW_MS;
}

const struct http *__wrap_http_of(const struct http_question *q);
const struct http *__wrap_http_of(const struct http_question *q)
{
	(void)q;
	return NULL;
}

#define JOB_TEXT                                                                                   \
	"{\"metadata\":{\"namespace\":\"team-a\",\"name\":\"one\","                                \
	"\"uid\":\"01000000-0000-0000-0000-000000000000\",\"resourceVersion\":\"1\","              \
	"\"creationTimestamp\":\"2026-11-21T09:59:00Z\","                                          \
	"\"labels\":{\"sluice.dev/queue-name\":\"main\"}},\"spec\":{\"suspend\":true,"             \
	"\"parallelism\":16,\"completions\":40,\"template\":{\"spec\":{\"containers\":[{"          \
	"\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"12\"}}}]}}}}"

static void tell(const struct eta *eta, const struct ask_variant *variant, const char *about)
{
	struct ask_answer a = {.eta = eta,
		.n = 1,
		.draws = 4,
		.variants = plays.variants,
		.variant = variant,
		.now_ms = NOW_MS};
	struct review_basis basis = {12, 3};
	struct buf out;
	buf_init(&out, 1 << 20);
	plays.tell(&a, NULL, &basis, &out, plays.ctx);
	golden_add("a StartReview", about, buf_slice(&out));
	buf_done(&out);
}

static void tell_all(void)
{
	const struct uid uid = {{1}};
	const struct quantiles soon = {
		NOW_MS + MINUTE_MS, NOW_MS + 2 * MINUTE_MS, NOW_MS + 3 * MINUTE_MS, 4};
	const struct quantiles late = {
		NOW_MS + 50 * MINUTE_MS, NOW_MS + 60 * MINUTE_MS, PLAY_NEVER, 3};
	const struct quantiles never = {PLAY_NEVER, PLAY_NEVER, PLAY_NEVER, 0};
	struct eta eta[4] = {{uid, late, WAIT_QUOTA, 0}, {uid, soon, WAIT_NOT, 0},
		{uid, never, WAIT_QUOTA, 0}, {uid, soon, WAIT_NOT, 0}};
	static struct ask_variant variant[4];
	for (size_t i = 0; i < 3; i++)
		variant[i].draws = 4;
	plays.variants = 2;
	tell(eta, variant, "one is earlier");
	eta[0] = (struct eta){uid, never, WAIT_QUOTA, 0};
	tell(eta, variant, "one starts that would not");
	eta[1] = (struct eta){uid, never, WAIT_QUOTA, 0};
	tell(eta, variant, "none starts");
	variant[1].draws = 0;
	tell(eta, variant, "there was no time");
}

static void a_startreview_has_each_member(void **state)
{
	(void)state;
	struct api_stage s;
	api_stage_open(&s);
	struct job j = world_job(1, "one");
	j.parallelism = j.completions = 16;
	world_see_job(&s.world, &j);
	script_answer(scripted_server_expect(s.server, "GET "), 200,
		"Content-Type: application/json\r\n", JOB_TEXT);
	struct answer_sources from = {.loop = s.loop,
		.client = s.client,
		.queue = s.world.queue,
		.gate = s.world.gate,
		.reviews = (struct reviews *)&s,
		.job_context = &(struct job_context){0}};
	struct link asked;
	list_init(&asked);
	start_review_take(&from, &asked, (struct http_question *)&s, "team-a", "one", "bob");
	api_stage_settle(&s);
	assert_non_null(plays.tell);
	tell_all();
	review_reply_drop(&asked, NULL);
	api_stage_hang_up(&s);
	api_stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queuedjob_has_each_member),
		cmocka_unit_test(a_startreview_has_each_member),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
