/*
 * Which questions go to the reader, and what its child answers: the reader and the port are the
 * test's, and the child is this process.
 */
#include "controller/answers/answers.h"

#include <ev.h>

#include "base/err.h"
#include "base/json.h"
#include "base/must.h"
#include "controller/answers/reader.h"
#include "controller/common/visibility_names.h"
#include "controller/net/coding.h"
#include "controller_world.h"
#include "test/unit/kube/test.h"

#define REPORT VISIBILITY_ROOT "/namespaces/team-a/queuereports"

/* ---- the reader and the port ----------------------------------------------------------------- */

static struct {
	struct reader_options reader;
	unsigned asked;
	char ns[64];
	struct buf text;
	reader_answer_fn *fn;
	void *ctx;
	bool takes_gzip;
	unsigned status; /* 0: no answer yet */
	struct buf body;
} told;

/* Nobody looks into it. */
static char question_of_somebody;
#define QUESTION ((struct http_question *)(void *)&question_of_somebody)

struct reader *__wrap_reader_new(const struct reader_options *o);
bool __wrap_reader_ask(
	struct reader *r, const struct reader_question *question, reader_answer_fn *fn, void *ctx);
const char *__wrap_http_param(const struct http_question *q, const char *name);
const char *__wrap_http_header(const struct http_question *q, const char *name);
bool __wrap_http_takes_gzip(const struct http_question *q);
bool __wrap_http_has_room(const struct http_question *q, size_t bytes);
void __wrap_http_answer(struct http_question *q, struct http_reply reply, const struct buf *body);
struct leadership __wrap_sources_leadership(const struct answer_sources *s);
bool __wrap_pg_up(const struct pg *pg);
bool __wrap_informer_pods_denied(const struct informer *o);

struct reader *__wrap_reader_new(const struct reader_options *o)
{
	told.reader = *o;
	return NULL;
}

bool __wrap_reader_ask(
	struct reader *r, const struct reader_question *question, reader_answer_fn *fn, void *ctx)
{
	(void)r;
	assert_false(question->is_of_watch);
	assert_int_equal(question->moment, 0);
	told.asked++;
	snprintf(told.ns, sizeof(told.ns), "%s", question->ns);
	buf_reset(&told.text);
	buf_add(&told.text, question->text.ptr, question->text.len);
	told.fn = fn;
	told.ctx = ctx;
	return true;
}

const char *__wrap_http_param(const struct http_question *q, const char *name)
{
	(void)q, (void)name;
	return NULL;
}

const char *__wrap_http_header(const struct http_question *q, const char *name)
{
	(void)q, (void)name;
	return NULL;
}

bool __wrap_http_takes_gzip(const struct http_question *q)
{
	(void)q;
	return told.takes_gzip;
}

bool __wrap_http_has_room(const struct http_question *q, size_t bytes)
{
	(void)q, (void)bytes;
	return true;
}

void __wrap_http_answer(struct http_question *q, struct http_reply reply, const struct buf *body)
{
	assert_ptr_equal(q, QUESTION);
	assert_int_equal(told.status, 0); /* once */
	told.status = reply.status;
	buf_add(&told.body, body->ptr, body->len);
}

struct leadership __wrap_sources_leadership(const struct answer_sources *s)
{
	(void)s;
	return (struct leadership){
		.leads = true, .identity = "test", .lease = {.holder = ""}, .ledger_trouble = ""};
}

bool __wrap_pg_up(const struct pg *pg)
{
	(void)pg;
	return true;
}

bool __wrap_informer_pods_denied(const struct informer *o)
{
	(void)o;
	return false;
}

/* ---- the stage ------------------------------------------------------------------------------- */

struct stage {
	struct ev_loop *loop;
	struct world world;
	struct answer_sources from;
	struct answers *answers;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	world_open(&s->world, "batch");
	s->from = (struct answer_sources){.loop = s->loop,
		.queue = s->world.queue,
		.gate = s->world.gate,
		.counters = s->world.counters,
		.decision_log = s->world.decision_log};
	memset(&told, 0, sizeof(told));
	buf_init(&told.text, READER_QUESTION_MAX);
	buf_init(&told.body, READER_ANSWER_MAX);
	s->answers = answers_new(&s->from);
}

static void stage_close(struct stage *s)
{
	answers_free(s->answers);
	buf_done(&told.text);
	buf_done(&told.body);
	world_close(&s->world);
	ev_loop_destroy(s->loop);
}

static void ask(struct stage *s, const char *path)
{
	told.status = 0;
	buf_reset(&told.body);
	answers_take(s->answers, QUESTION, path, &(struct answers_asker){7, ANSWERS_AGAIN});
}

/* Does what the child does, and the loop with its answer. */
static void read_it(void)
{
	struct buf out;
	buf_init(&out, READER_ANSWER_MAX);
	told.reader.serve(buf_slice(&told.text), 1, &out, told.reader.ctx);
	told.fn(&(struct reader_answer){.body = buf_slice(&out), .moment = 1}, told.ctx);
	buf_done(&out);
}

/* ---- the tests ------------------------------------------------------------------------------- */

/* A tenant may have a thousand LocalQueues: a report of them takes no time of the loop. */
static void queues_are_told_by_the_reader_in_turns_by_namespace(void **state)
{
	static const struct {
		const char *path;
		bool is_of_all;
	} cases[] = {{REPORT, false}, {VISIBILITY_ROOT "/queuereports", true}};
	(void)state;
	struct stage s;
	stage_open(&s);
	for (unsigned i = 0; i < 2; i++) {
		ask(&s, cases[i].path);
		assert_int_equal(told.asked, 1);
		assert_int_equal(told.status, cases[i].is_of_all ? 200 : 0);
		assert_string_equal(told.ns, "team-a");
		if (!cases[i].is_of_all)
			read_it();
		assert_int_equal(told.status, 200);
		const char *body = buf_text(&told.body);
		assert_non_null(strstr(body, "\"kind\":\"QueueReport\""));
		assert_non_null(strstr(body, "\"ledgerUp\":true"));
		assert_non_null(strstr(body, "{\"namespace\":\"team-a\",\"name\":\"main\"}"));
		assert_int_equal(strstr(body, "\"cohorts\"") != NULL, cases[i].is_of_all);
	}
	stage_close(&s);
}

static void too_many_questions_about_queues_are_429(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	ask(&s, REPORT);
	struct reader_answer a = {
		.code = ERR_BUSY, .too_many = true, .sentence = "8 questions wait already"};
	told.fn(&a, told.ctx);
	assert_int_equal(told.status, 429);
	assert_non_null(strstr(buf_text(&told.body), "8 questions wait already"));
	stage_close(&s);
}

/* The child packs, so that the loop does not. */
static void queues_travel_as_gzip_with_the_tag_of_their_text(void **state)
{
	char plain[CODING_TAG_SIZE], packed[CODING_TAG_SIZE];
	(void)state;
	struct stage s;
	stage_open(&s);
	ask(&s, REPORT);
	read_it();
	assert_true(told.body.len >= CODING_MIN_BYTES);
	assert_true(coding_tag_answer(buf_slice(&told.body), plain));
	told.takes_gzip = true;
	ask(&s, REPORT);
	read_it();
	assert_true(coding_is_gzip(buf_slice(&told.body)));
	assert_true(coding_tag_answer(buf_slice(&told.body), packed));
	assert_string_equal(packed, plain);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_are_told_by_the_reader_in_turns_by_namespace),
		cmocka_unit_test(too_many_questions_about_queues_are_429),
		cmocka_unit_test(queues_travel_as_gzip_with_the_tag_of_their_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
