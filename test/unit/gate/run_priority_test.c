/* The priority of a run in its story (run_priority.c): a class that is gone takes it from no run, whoever
 * leads. */
#include "world.h"

#include "controller/gate/story.h"

static void set_class(struct world *w, int32_t value)
{
	struct priority_spec s = {.kind = PRIORITY_WORKLOAD, .name = "high", .value = value};
	queue_set_priority(w->queue, &s);
	turn(w);
}

static int32_t counts(struct world *w, const char **ret_sentence)
{
	static struct explanation x;
	assert_true(gate_explain(w->gate, "team-a", "train", w->now_ms, &x));
	*ret_sentence = x.sentence;
	return x.priority;
}

static void assert_counts(struct world *w, int32_t priority, const char *says)
{
	const char *sentence;
	assert_int_equal(counts(w, &sentence), priority);
	if (!strstr(sentence, says))
		fail_msg("'%s' lacks '%s'", sentence, says);
}

static const char *story_of(const struct world *w)
{
	return w->j->now->job.admission.story;
}

static void assert_tells(const struct world *w, const char *number)
{
	char says[40];
	snprintf(says, sizeof(says), "\"priority\":%s,", number);
	if (!strstr(story_of(w), says))
		fail_msg("%s lacks %s", story_of(w), says);
}

/* A Job of that class runs. */
static int open_classed(void **state)
{
	open_world(state);
	struct world *w = *state;
	set_class(w, 1000);
	struct snap n = {.job.priority_class = "high"};
	submit(w, &n);
	have_pods(w, 2, 0);
	assert_tells(w, "1000");
	return 0;
}

/* A story of an attempt, of somebody who has the key. */
static const char *story_with(struct world *w, int32_t attempt, bool has_priority, int32_t priority)
{
	struct ledger_lease lease;
	static const struct quota_line lines[] = {{"cq/batch", "spot", "cpu", 1000}};
	model_ledger_lease(
		w->ledger, "me", gate_epoch(w->gate), 0, 15000, false, w->tick_ms, &lease);
	assert_true(lease.held);
	struct story s = {.state = STORY_STARTED,
		.attempt = attempt,
		.epoch = 1,
		.at_ms = T0,
		.clusterqueue = "batch",
		.by = "you",
		.lines = lines,
		.nlines = 1,
		.has_priority = has_priority,
		.priority = priority,
		.is_signed = true,
		.key = {{lease.story_key[0], lease.story_key[1]}},
		.uid = w->j->now->job.uid};
	static struct buf b;
	buf_init(&b, STORY_TEXT_MAX);
	story_fit(&s, 0, &b);
	const char *text = pool_strdup(&w->pool, buf_text(&b));
	buf_done(&b);
	return text;
}

static void write_story(struct world *w, const char *text)
{
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.admission.story = text;
	write_job(w, s, false);
}

static void the_next_leader_knows_what_counted_at_the_start(void **state)
{
	struct world *w = *state;
	world_restart(w); /* nobody tells it of the class */
	turn(w);
	assert_counts(w, 1000,
		"keeps its priority 1000, recorded in its annotation sluice.dev/admission: WorkloadPriorityClass high does not exist");
	world_restart(w);
	turn(w);
	assert_counts(w, 1000, "keeps its priority 1000");
	set_class(w, 5); /* it is there again */
	assert_counts(w, 5, "runs since");
	assert_int_equal(w->sent[INTENT_RETELL], 0);
}

static void a_typing_error_in_the_label_is_no_other_thing(void **state)
{
	struct world *w = *state;
	struct snap *s = model_api_edit(&w->api, w->j);
	s->job.priority_class = "hihg";
	write_job(w, s, false);
	world_restart(w);
	turn(w);
	assert_counts(w, 1000, "WorkloadPriorityClass hihg does not exist");
	assert_int_equal(w->sent[INTENT_RETELL], 0);
}

static void where_no_story_tells_it_nothing_is_made_up(void **state)
{
	struct world *w = *state;
	write_story(w, story_with(w, 1, false, 0));
	world_restart(w);
	turn(w);
	assert_counts(w, 0, "its priority counts as 0, because the earlier one is not known");
	assert_int_equal(w->sent[INTENT_RETELL], 0);
}

/* Whoever may write the annotation has no key; and what is signed for another attempt says nothing. */
static void nobody_raises_a_run_by_its_story(void **state)
{
	struct world *w = *state;
	char forged[STORY_TEXT_MAX];
	snprintf(forged, sizeof(forged), "%s", story_of(w));
	char *number = strstr(forged, ":1000,");
	assert_non_null(number);
	memcpy(number, ":9000,", 6);
	write_story(w, pool_strdup(&w->pool, forged));
	world_restart(w);
	turn(w);
	assert_counts(w, 0, "is not known");
}

#define CLASSED(test) cmocka_unit_test_setup_teardown(test, open_classed, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLASSED(the_next_leader_knows_what_counted_at_the_start),
		CLASSED(a_typing_error_in_the_label_is_no_other_thing),
		CLASSED(where_no_story_tells_it_nothing_is_made_up),
		CLASSED(nobody_raises_a_run_by_its_story),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
