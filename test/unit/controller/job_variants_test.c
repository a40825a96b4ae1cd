/* What is tried for a Job that waits, and that each does what it says. */
#include "controller/forecast/job_variants.h"

#include <stdlib.h>

#include "queue/cluster/pod.h"
#include "test/unit/controller/review_world.h"
#include "base/must.h"

struct made {
	struct queue *q;
	struct job *job;
	struct alternatives alternatives;
	struct job_variants variants;
};

static struct made make(struct queue *q, struct job *job)
{
	struct made m = {.q = q, .job = job};
	struct job_outline o;
	queue_set_job(q, job);
	assert_true(queue_outline_job(q, &job->uid, &o));
	queue_alternatives(q, &job->uid, &m.alternatives);
	job_variants_make(&m.variants, job, &m.alternatives, o.expected_ms);
	return m;
}

static void done(struct made *m)
{
	job_variants_done(&m->variants);
	free(m->job);
	queue_free(m->q);
}

static const struct job_variant *find(const struct made *m, enum job_change c, size_t nth)
{
	for (size_t i = 0; i < m->variants.n; i++)
		if (m->variants.item[i].change == c && nth-- == 0)
			return &m->variants.item[i];
	return NULL;
}

static const char *left_out(const struct made *m, enum job_change c)
{
	for (size_t i = 0; i < m->variants.nunplayed; i++)
		if (m->variants.unplayed[i].change == c)
			return m->variants.unplayed[i].text;
	return NULL;
}

static void says(const struct made *m, enum job_change c, size_t nth, const char *from,
	const char *to, const char *text)
{
	const struct job_variant *v = find(m, c, nth);
	must(v);
	assert_string_equal(v->from, from);
	assert_string_equal(v->to, to);
	assert_string_equal(v->text, text);
}

/* What the queue says of the variant once it is told of it. */
static struct job_outline told_of(struct made *m, const struct job_variant *v)
{
	struct job_outline o;
	queue_set_job(m->q, &v->job);
	assert_true(queue_outline_job(m->q, &m->job->uid, &o));
	return o;
}

static struct explanation explained(struct made *m)
{
	struct explanation x;
	assert_true(queue_explain(m->q, &m->job->uid, BEGIN_MS, &x));
	return x;
}

static const char *const plain_world[] = {FLAVOR("node", ""),
	CLUSTERQUEUE("batch", "", QUOTA("node", "4")), LOCALQUEUE("team-a", "main", "batch"), NULL};

static void half_of_its_pods(void **state)
{
	(void)state;
	struct made m = make(world_of_json(plain_world),
		job_of_json(1, "main", "", "'parallelism':16,'completions':40,", ""));
	says(&m, CHANGE_PODS, 0, "16", "8", "with 8 pods instead of 16");
	assert_int_equal(told_of(&m, find(&m, CHANGE_PODS, 0)).pods, 8);
	assert_int_equal(m.variants.n, 1);
	assert_string_equal(left_out(&m, CHANGE_PRIORITY_CLASS), "a higher class: there is none");
	done(&m);
	m = make(world_of_json(plain_world),
		job_of_json(1, "main", "'sluice.dev/completions-equal-parallelism':'true'",
			"'completionMode':'Indexed','parallelism':3,'completions':3,", ""));
	says(&m, CHANGE_PODS, 0, "3", "1", "with 1 pod instead of 3");
	assert_int_equal(find(&m, CHANGE_PODS, 0)->job.completions, 1);
	done(&m);
	m = make(world_of_json(plain_world), job_of_json(1, "main", "", "", ""));
	assert_null(find(&m, CHANGE_PODS, 0)); /* it has one */
	done(&m);
	m = make(world_of_json(plain_world),
		job_of_json(1, "main", "'sluice.dev/min-parallelism':'2'",
			"'parallelism':16,'completions':40,", ""));
	assert_null(find(&m, CHANGE_PODS, 0));
	assert_string_equal(left_out(&m, CHANGE_PODS),
		"fewer pods: it may already start with 2 pods (sluice.dev/min-parallelism)");
	done(&m);
}

static void flavors_that_it_rules_out(void **state)
{
	(void)state;
	static const char *const world[] = {FLAVOR("node", "'nodeLabels':{'pool':'node'}"),
		FLAVOR("spot",
			"'nodeLabels':{'pool':'node'},'nodeTaints':[{'key':'spot','value':'yes','effect':'NoSchedule'},"
			"{'key':'cheap','effect':'NoExecute'}]"),
		FLAVOR("gpu", "'nodeLabels':{'pool':'gpu'}"),
		FLAVOR("both",
			"'nodeLabels':{'pool':'both'},'nodeTaints':[{'key':'spot','effect':'NoSchedule'}]"),
		CLUSTERQUEUE("batch", "",
			QUOTA("node", "4") "," QUOTA("spot", "4") "," QUOTA("gpu", "4") "," QUOTA(
				"both", "4")),
		LOCALQUEUE("team-a", "main", "batch"), NULL};
	struct made m = make(world_of_json(world),
		job_of_json(1, "main", "", "",
			"'nodeSelector':{'pool':'node','other':'x'},'tolerations':[{'key':'mine','operator':'Exists'}],"));
	says(&m, CHANGE_TOLERATION, 0, "", "spot",
		"with a toleration for the taints of flavor spot");
	const struct job *j = &find(&m, CHANGE_TOLERATION, 0)->job;
	assert_int_equal(j->placement.ntolerations, 3);
	assert_string_equal(j->placement.tolerations[0].key, "mine");
	assert_ptr_equal(j->template->tolerations, j->placement.tolerations);
	assert_int_equal(m.job->placement.ntolerations, 1);
	says(&m, CHANGE_NODE_LABELS, 0, "", "gpu", "with a nodeSelector for flavor gpu");
	j = &find(&m, CHANGE_NODE_LABELS, 0)->job;
	assert_string_equal(j->placement.node_selector[0].value, "gpu");
	assert_string_equal(j->placement.node_selector[1].value, "x");
	assert_string_equal(j->template->node_selector[0].value, "gpu");
	/* Two changes would be needed for the last one. */
	assert_null(find(&m, CHANGE_TOLERATION, 1));
	assert_null(find(&m, CHANGE_NODE_LABELS, 1));
	done(&m);
}

/* The Job fits nowhere but in a flavor that it does not tolerate: with the toleration it starts. */
static void with_the_toleration_it_starts(void **state)
{
	(void)state;
	static const char *const world[] = {
		FLAVOR("spot", "'nodeTaints':[{'key':'spot','value':'yes','effect':'NoSchedule'}]"),
		CLUSTERQUEUE("batch", "", QUOTA("spot", "4")),
		LOCALQUEUE("team-a", "main", "batch"), NULL};
	struct made m = make(world_of_json(world), job_of_json(1, "main", "", "", ""));
	assert_int_equal(explained(&m).reason, WAIT_NO_MATCHING_FLAVOR);
	told_of(&m, find(&m, CHANGE_TOLERATION, 0));
	assert_int_equal(decide(m.q, BEGIN_MS), 1);
	done(&m);
}

static void other_localqueues_of_its_namespace(void **state)
{
	(void)state;
	static const char *const world[] = {FLAVOR("node", ""),
		CLUSTERQUEUE("batch", "", QUOTA("node", "4")),
		CLUSTERQUEUE("night", "", QUOTA("node", "4")),
		CLUSTERQUEUE("held", "'stopPolicy':'Hold',", QUOTA("node", "4")),
		LOCALQUEUE("team-a", "main", "batch"), LOCALQUEUE("team-a", "also", "batch"),
		LOCALQUEUE("team-a", "zzz", "night"), LOCALQUEUE("team-a", "stopped", "held"),
		LOCALQUEUE("team-b", "secret", "night"), NULL};
	struct made m = make(world_of_json(world), job_of_json(1, "main", "", "", ""));
	says(&m, CHANGE_LOCALQUEUE, 0, "main", "zzz", "in LocalQueue zzz");
	says(&m, CHANGE_LOCALQUEUE, 1, "main", "also", "in LocalQueue also");
	assert_null(find(&m, CHANGE_LOCALQUEUE, 2));
	assert_string_equal(told_of(&m, find(&m, CHANGE_LOCALQUEUE, 0)).clusterqueue, "night");
	done(&m);
}

static void any_number_of_localqueues(void **state)
{
	(void)state;
	struct queue *q = world_of_json(plain_world);
	char name[20];
	for (int i = 0; i < 1000; i++) {
		struct localqueue_spec s = {.ns = "team-a", .name = name, .clusterqueue = "batch"};
		snprintf(name, sizeof(name), "q%03d", (i * 7) % 1000);
		queue_set_localqueue(q, &s, NULL);
	}
	struct made m = make(q, job_of_json(1, "main", "", "", ""));
	assert_int_equal(m.alternatives.nlocalqueues, ALTERNATIVES_MAX);
	for (int i = 0; i < ALTERNATIVES_MAX; i++) {
		snprintf(name, sizeof(name), "q%03d", i);
		assert_string_equal(m.alternatives.localqueue[i], name);
	}
	assert_int_equal(m.variants.n, 2);
	done(&m);
}

static void a_shorter_length_only_where_it_matters(void **state)
{
	(void)state;
	static const char *const backfill[] = {FLAVOR("node", ""),
		CLUSTERQUEUE("batch", "'queueingStrategy':'Backfill',", QUOTA("node", "4")),
		LOCALQUEUE("team-a", "main", "batch"), NULL};
	static const struct {
		const char *annotation, *from, *to;
	} cases[] = {{"4h", "4h", "2h"}, {"1h30m", "1h30m", "45m"}, {"90s", "1m30s", "45s"},
		{"5h", "5h", "2h30m"}, {"7m", "7m", "3m"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char annotation[100], text[100];
		snprintf(annotation, sizeof(annotation), "'sluice.dev/expected-duration':'%s'",
			cases[i].annotation);
		snprintf(text, sizeof(text), "with an expected duration of %s", cases[i].to);
		struct made m =
			make(world_of_json(backfill), job_of_json(1, "main", annotation, "", ""));
		says(&m, CHANGE_EXPECTED_DURATION, 0, cases[i].from, cases[i].to, text);
		int64_t before_ms = m.job->durations.expected_ms;
		struct job_outline o = told_of(&m, find(&m, CHANGE_EXPECTED_DURATION, 0));
		assert_true(o.expected_ms > 0 && o.expected_ms <= before_ms / 2);
		done(&m);
		m = make(world_of_json(plain_world), job_of_json(1, "main", annotation, "", ""));
		assert_null(find(&m, CHANGE_EXPECTED_DURATION, 0));
		done(&m);
	}
	struct made m = make(world_of_json(backfill), job_of_json(1, "main", "", "", ""));
	assert_null(find(&m, CHANGE_EXPECTED_DURATION, 0));
	assert_non_null(strstr(left_out(&m, CHANGE_EXPECTED_DURATION), "expected-duration"));
	done(&m);
}

static void higher_classes_as_far_as_they_count(void **state)
{
	(void)state;
	static const char *const free_world[] = {FLAVOR("node", ""), CLASS("low", "-5"),
		CLASS("mid", "10"), CLASS("high", "100"), CLASS("top", "1000"),
		CLUSTERQUEUE("batch", "", QUOTA("node", "4")),
		LOCALQUEUE("team-a", "main", "batch"), NULL};
	static const char *const capped[] = {FLAVOR("node", ""), CLASS("mid", "10"),
		CLASS("top", "1000"), CLUSTERQUEUE("batch", "'maxPriority':0,", QUOTA("node", "4")),
		LOCALQUEUE("team-a", "main", "batch"), NULL};
	struct made m = make(world_of_json(free_world), job_of_json(1, "main", "", "", ""));
	says(&m, CHANGE_PRIORITY_CLASS, 0, "", "mid", "with class mid (priority 10 instead of 0)");
	says(&m, CHANGE_PRIORITY_CLASS, 1, "", "top",
		"with class top (priority 1000 instead of 0)");
	assert_null(left_out(&m, CHANGE_PRIORITY_CLASS));
	told_of(&m, find(&m, CHANGE_PRIORITY_CLASS, 1));
	assert_int_equal(explained(&m).priority, 1000);
	done(&m);
	m = make(world_of_json(capped), job_of_json(1, "main", "", "", ""));
	assert_null(find(&m, CHANGE_PRIORITY_CLASS, 0));
	assert_string_equal(left_out(&m, CHANGE_PRIORITY_CLASS),
		"a higher class: its ClusterQueue caps the priority (spec.maxPriority)");
	done(&m);
}

static void a_tenth_more(void **state)
{
	(void)state;
	struct made m = make(world_of_json(plain_world),
		job_of_json(1, "main", "'sluice.dev/max-price':'2.50 nvidia.com/gpu'", "", ""));
	says(&m, CHANGE_MAX_PRICE, 0, "2.50 nvidia.com/gpu", "2.75 nvidia.com/gpu",
		"with a price limit of 2.75 nvidia.com/gpu");
	assert_int_equal(find(&m, CHANGE_MAX_PRICE, 0)->job.terms.max_price, 2750000);
	done(&m);
	m = make(world_of_json(plain_world),
		job_of_json(1, "main", "'sluice.dev/max-price':'0.000001'", "", ""));
	assert_int_equal(find(&m, CHANGE_MAX_PRICE, 0)->job.terms.max_price, 2);
	done(&m);
	m = make(world_of_json(plain_world),
		job_of_json(1, "main", "'sluice.dev/max-price':'0'", "", ""));
	assert_null(find(&m, CHANGE_MAX_PRICE, 0));
	done(&m);
}

/* One of each kind before a second of any. */
static void of_many_eight_are_tried(void **state)
{
	(void)state;
	static const char *const world[] = {FLAVOR("node", "'nodeLabels':{'pool':'node'}"),
		FLAVOR("spot",
			"'nodeLabels':{'pool':'node'},'nodeTaints':[{'key':'a','effect':'NoSchedule'}]"),
		FLAVOR("slow",
			"'nodeLabels':{'pool':'node'},'nodeTaints':[{'key':'b','effect':'NoSchedule'}]"),
		FLAVOR("gpu", "'nodeLabels':{'pool':'gpu'}"),
		FLAVOR("tpu", "'nodeLabels':{'pool':'tpu'}"), CLASS("mid", "10"),
		CLASS("top", "1000"),
		CLUSTERQUEUE("batch", "'queueingStrategy':'Backfill',",
			QUOTA("node", "4") "," QUOTA("spot", "4") "," QUOTA("slow", "4") "," QUOTA(
				"gpu", "4") "," QUOTA("tpu", "4")),
		LOCALQUEUE("team-a", "main", "batch"), LOCALQUEUE("team-a", "one", "batch"),
		LOCALQUEUE("team-a", "two", "batch"), NULL};
	struct made m = make(world_of_json(world),
		job_of_json(1, "main",
			"'sluice.dev/expected-duration':'4h','sluice.dev/max-price':'1'",
			"'parallelism':4,'completions':4,", "'nodeSelector':{'pool':'node'},"));
	assert_int_equal(m.variants.n, JOB_VARIANTS_MAX);
	for (int c = 0; c < JOB_CHANGES; c++)
		assert_non_null(find(&m, (enum job_change)c, 0));
	done(&m);
}

static void a_job_of_no_queue_has_its_own_alone(void **state)
{
	(void)state;
	struct made m = make(world_of_json(plain_world),
		job_of_json(1, "nowhere", "", "'parallelism':2,'completions':2,", ""));
	assert_int_equal(m.alternatives.nlocalqueues, 0);
	assert_int_equal(m.variants.n, 1);
	assert_non_null(find(&m, CHANGE_PODS, 0));
	done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_of_its_pods),
		cmocka_unit_test(flavors_that_it_rules_out),
		cmocka_unit_test(with_the_toleration_it_starts),
		cmocka_unit_test(other_localqueues_of_its_namespace),
		cmocka_unit_test(any_number_of_localqueues),
		cmocka_unit_test(a_shorter_length_only_where_it_matters),
		cmocka_unit_test(higher_classes_as_far_as_they_count),
		cmocka_unit_test(a_tenth_more),
		cmocka_unit_test(of_many_eight_are_tried),
		cmocka_unit_test(a_job_of_no_queue_has_its_own_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
