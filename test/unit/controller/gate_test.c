/*
 * What the gate tells of a Job's end. That what it writes is right whatever happens is the
 * simulation's to show (test/sim); here one Job is led through one life, fact by fact.
 */
#include "controller/gate/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "controller_world.h"

#define NOW_MS 1795255200000

struct life {
	struct world world;
	struct gate *gate;
	int64_t now_ms;
	struct job job; /* as the API server has it */
	struct buf story;
	struct ledger_result *results;
};

static void answer_batch(struct life *l, const struct intent *i)
{
	for (size_t k = 0; k < i->batch.nops; k++)
		l->results[k] = (struct ledger_result){.verdict = LEDGER_APPLIED};
	gate_answer_batch(l->gate, i->id, LEDGER_DONE, l->results, i->batch.nops);
}

/* The API server does what it is told. */
static void answer_patch(struct life *l, const struct intent *i)
{
	struct job_answer answer = {.outcome = JOB_DONE, .job = &l->job};
	buf_reset(&l->story);
	story_fit(&i->story, 0, &l->story);
	l->job.version++;
	l->job.generation++;
	l->job.suspend = i->kind != INTENT_START;
	l->job.hold = i->hold ? "held" : l->job.hold;
	l->job.annotations.present = true;
	l->job.admission.story = buf_text(&l->story);
	l->job.admission.state = i->story.state;
	l->job.admission.attempt = i->story.attempt;
	gate_answer_job(l->gate, i->id, &answer);
}

static void answer(struct life *l, const struct intent *i)
{
	struct ledger_lease lease = {.held = true, .epoch = 1};
	switch (i->kind) {
	case INTENT_LEASE:
		gate_answer_lease(l->gate, i->id, LEDGER_DONE, &lease);
		return;
	case INTENT_LOAD:
		gate_answer_load(l->gate, i->id, LEDGER_DONE, NULL, 0);
		return;
	case INTENT_BATCH:
		answer_batch(l, i);
		return;
	case INTENT_START:
	case INTENT_STOP:
	case INTENT_TELL:
		answer_patch(l, i);
		return;
	case INTENT_NOTICE:
	case INTENT_OUTCOMES:
	case INTENT_SHRINK:
	case INTENT_GROW:
	case INTENT_RETELL:
	case INTENT_WARN:
	case INTENT_CLEAR:
	case INTENT_DELETE:
	case INTENT_PROVISION:
	case INTENT_UNPROVISION:
	case INTENT_READ:
	case INTENT_PODS:
	case INTENT_NAMESPACE:
		fail_msg("not asked for in this life");
	}
}

/* Until the gate has nothing more to ask. */
static void settle(struct life *l)
{
	for (bool asked = true; asked;) {
		const struct intent *i;
		asked = false;
		gate_step(l->gate, l->now_ms, l->now_ms);
		while ((i = gate_take_intent(l->gate))) {
			answer(l, i);
			asked = true;
		}
	}
}

/* Time passes, and the Job is seen as l->job has become. */
static void see(struct life *l)
{
	l->now_ms += 1000;
	l->job.version++;
	gate_see_job(l->gate, &l->job);
	settle(l);
}

static void life_open(struct life *l)
{
	*l = (struct life){.now_ms = NOW_MS};
	world_open(&l->world, "batch");
	l->gate = l->world.gate;
	l->results = mem_array(4096, sizeof(*l->results));
	buf_init(&l->story, STORY_TEXT_MAX);
	gate_set_synced(l->gate);
	settle(l);
	l->job = (struct job){.uid = {{1}},
		.ns = "team-a",
		.name = "train",
		.generation = 1,
		.version = 1,
		.created_ms = NOW_MS,
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = true,
		.parallelism = 1,
		.has_completions = true,
		.completions = 1};
}

static void life_close(struct life *l)
{
	buf_done(&l->story);
	free(l->results);
	world_close(&l->world);
}

static void run(struct life *l)
{
	see(l);
	assert_false(l->job.suspend);
	l->job.status =
		(struct job_status){.has_start_time = true, .start_ms = l->now_ms, .active = 1};
	see(l);
}

/* What was told since it was last asked: the kinds in order, with blanks between them. */
static const char *told(struct life *l, struct note *ret_last)
{
	static char kinds[512];
	const struct note *n;
	kinds[0] = '\0';
	while ((n = gate_take_note(l->gate))) {
		if (n->kind == NOTE_LEADING)
			continue;
		strcat(kinds, kinds[0] ? " " : "");
		strcat(kinds, note_kind_name(n->kind));
		*ret_last = *n;
	}
	return kinds;
}

static void assert_counts(const struct life *l, uint64_t stops, uint64_t finishes)
{
	struct gate_counts c;
	gate_count(l->gate, &c);
	assert_int_equal(c.stops, stops);
	assert_int_equal(c.finishes, finishes);
}

static void a_job_that_finishes_is_counted_once(void **state)
{
	(void)state;
	struct life l;
	struct note last;
	life_open(&l);
	run(&l);
	assert_string_equal(told(&l, &last), "Start");
	l.job.status.complete = true;
	l.job.status.terminating = 1; /* so that it drains for a while */
	l.job.status.active = 0;
	see(&l);
	see(&l);
	assert_string_equal(told(&l, &last), "Finish");
	l.job.status.terminating = 0;
	see(&l);
	assert_string_equal(told(&l, &last), "Release");
	assert_counts(&l, 0, 1);
	life_close(&l);
}

static void a_job_that_completes_while_it_is_stopped_is_counted_as_both(void **state)
{
	(void)state;
	struct life l;
	struct note last;
	life_open(&l);
	run(&l);
	l.job.hold = "yes";
	l.job.annotations.present = true;
	see(&l);
	assert_true(l.job.suspend);
	assert_string_equal(told(&l, &last), "Start Stop");
	assert_counts(&l, 1, 0);
	/* Its last pod ended well before the Job controller came to delete it. */
	l.job.status.active = 0;
	l.job.status.succeeded = 1;
	l.job.status.complete = true;
	l.job.status.terminating = 1;
	see(&l);
	see(&l);
	assert_string_equal(told(&l, &last), "Finish");
	l.job.status.terminating = 0;
	see(&l);
	assert_string_equal(told(&l, &last), "Release");
	assert_counts(&l, 1, 1);
	life_close(&l);
}

static void a_job_that_somebody_suspends_goes_on_hold(void **state)
{
	(void)state;
	struct life l;
	struct note last;
	life_open(&l);
	run(&l);
	l.job.suspend = l.job.suspended_by_person = true;
	l.job.generation++;
	see(&l);
	assert_string_equal(told(&l, &last), "Start Stop");
	assert_true(last.on_hold);
	assert_string_equal(last.reason, "SuspendedByOther");
	assert_non_null(strstr(last.text, "suspended by another client while it ran"));
	assert_int_equal(uid_cmp(&last.uid, &l.job.uid), 0);
	life_close(&l);
}

static void a_job_that_its_owner_holds_comes_back_by_itself(void **state)
{
	(void)state;
	struct life l;
	struct note last;
	life_open(&l);
	run(&l);
	l.job.hold = "yes";
	l.job.annotations.present = true;
	see(&l);
	assert_string_equal(told(&l, &last), "Start Stop");
	assert_false(last.on_hold);
	life_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_finishes_is_counted_once),
		cmocka_unit_test(a_job_that_completes_while_it_is_stopped_is_counted_as_both),
		cmocka_unit_test(a_job_that_somebody_suspends_goes_on_hold),
		cmocka_unit_test(a_job_that_its_owner_holds_comes_back_by_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
