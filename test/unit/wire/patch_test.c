#include "wire.h"

#include "controller/wire/decode.h"
#include "controller/wire/patch.h"
#include "json_patch.h"
#include "sluice/keys.h"

#define UID_TEXT "123e4567-e89b-12d3-a456-426614174000"

/* A Job with these annotations (NULL: no such map), node selector and tolerations. */
static cJSON *make_job(const char *annotations, const char *directives)
{
	struct buf b;
	buf_init(&b, 100000);
	buf_puts(&b, "{'metadata':{'name':'train','namespace':'team-a','uid':'" UID_TEXT "',"
		     "'generation':3,'labels':{'sluice.dev/queue-name':'main'}");
	if (annotations)
		buf_printf(&b, ",'annotations':{%s}", annotations);
	buf_printf(&b,
		"},'spec':{'suspend':true,'template':{'metadata':{'labels':{'app':'x'}},'spec':{"
		"%s'containers':[{'resources':{'requests':{'cpu':'1'}}}]}}}}",
		directives);
	cJSON *copy = cJSON_Duplicate(parsed(buf_text(&b)), true);
	buf_done(&b);
	return copy;
}

static struct job *decode(const cJSON *o)
{
	struct job *j = NULL;
	struct err e = {""};
	if (decode_job(o, NULL, &j, &e) < 0)
		fail_msg("%s", e.text);
	assert_null(j->invalid);
	return j;
}

/* A queue in which flavors a and b come one after the other: the first Job gets a. */
static struct queue *make_queue(void)
{
	static const char *const covered[] = {"cpu"};
	static const struct label pools[2] = {{"pool", "spot"}, {"pool", "on-demand"}};
	static const struct toleration spot = {
		"spot", "", TOLERATION_EXISTS, TAINT_NO_SCHEDULE, false, 0};
	static const struct quota_spec quota = {"cpu", 1000, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	static const struct flavor_quota_spec flavors[] = {{"a", &quota, 1}, {"b", &quota, 1}};
	static const struct resource_group_spec group = {covered, 1, flavors, 2};
	struct queue *q = queue_new();
	queue_set_namespace(q, &(struct namespace_spec){"team-a", NULL, 0});
	queue_set_flavor(q, &(struct flavor_spec){"a", {&pools[0], 1, NULL, 0, &spot, 1}}, NULL);
	queue_set_flavor(q, &(struct flavor_spec){"b", {&pools[1], 1}}, NULL);
	queue_set_clusterqueue(q,
		&(struct clusterqueue_spec){.name = "batch",
			.cohort = "",
			.groups = &group,
			.ngroups = 1,
			.has_namespace_selector = true},
		NULL);
	queue_set_localqueue(q,
		&(struct localqueue_spec){.ns = "team-a", .name = "main", .clusterqueue = "batch"},
		NULL);
	return q;
}

static void give_room(struct queue *q, const struct job *j)
{
	struct decision d;
	int64_t next;
	queue_set_job(q, j);
	assert_int_equal(queue_decide(q, 1000, &d, 1, &next), 1);
	assert_int_equal(d.kind, DECISION_START);
}

static struct intent intent_for(const struct job *j, enum intent_kind kind, enum story_state state)
{
	return (struct intent){.kind = kind,
		.uid = j->uid,
		.ns = j->ns,
		.name = j->name,
		.generation = j->generation,
		.queue = j->queue,
		.story_before = j->admission.story,
		.has_annotations = j->annotations.present,
		.story = {.state = state,
			.attempt = j->admission.attempt + (kind == INTENT_START),
			.epoch = 7,
			.at_ms = 1795255110000,
			.clusterqueue = "batch",
			.reason = "because",
			.by = "sluice-0"}};
}

static void fresh_text(struct directives_text *t)
{
	buf_done(&t->node_selector);
	buf_done(&t->tolerations);
	buf_done(&t->node_affinity);
	buf_init(&t->node_selector, PATCH_MAX_BYTES);
	buf_init(&t->tolerations, PATCH_MAX_BYTES);
	buf_init(&t->node_affinity, PATCH_MAX_BYTES);
}

static struct template_directives texts_of(const struct directives_text *t)
{
	return (struct template_directives){buf_text(&t->node_selector), buf_text(&t->tolerations),
		buf_text(&t->node_affinity)};
}

/* What the gate takes from the queue for a start (gate_take_intent()). */
static struct start_template template_in(const struct queue *q, const struct uid *uid)
{
	static struct directives_text own, run;
	static struct arena edit;
	struct start_template t = {.lending = LENDING_NONE};
	fresh_text(&own);
	fresh_text(&run);
	arena_done(&edit);
	queue_job_own_directives(q, uid, &own);
	assert_true(queue_job_directives(q, uid, &run));
	queue_job_template_edit(q, uid, &edit, &t.edit);
	t.own = texts_of(&own);
	t.run = texts_of(&run);
	return t;
}

static cJSON *render(const struct intent *given, const struct queue *q)
{
	struct intent i = *given;
	struct buf b;
	if (i.kind == INTENT_START)
		i.template = template_in(q, &i.uid);
	buf_init(&b, PATCH_MAX_BYTES);
	patch_render(&i, &b);
	assert_false(b.failed);
	cJSON *patch = cJSON_Parse(buf_text(&b));
	if (!cJSON_IsArray(patch))
		fail_msg("%s", buf_text(&b));
	buf_done(&b);
	return patch;
}

static cJSON *render_and_apply(const struct intent *i, const struct queue *q, const cJSON *o)
{
	cJSON *patch = render(i, q);
	cJSON *result = apply_patch(o, patch);
	cJSON_Delete(patch);
	return result;
}

static const cJSON *pod_of(const cJSON *o)
{
	return json_object(json_object(json_object(o, "spec"), "template"), "spec");
}

static const char *printed(const cJSON *o)
{
	static struct buf b;
	buf_done(&b);
	buf_init(&b, 1 << 20);
	json_print(&b, o);
	return buf_text(&b);
}

static cJSON *start(struct queue *q, cJSON *o)
{
	struct job *j = decode(o);
	give_room(q, j);
	struct intent i = intent_for(j, INTENT_START, STORY_STARTED);
	cJSON *started = render_and_apply(&i, q, o);
	assert_non_null(started);
	free(j);
	return started;
}

static void a_start_says_all_in_one_patch(void **state)
{
	static const char *const annotations[] = {NULL, "", "'other':'x'"};
	(void)state;
	for (size_t n = 0; n < 3; n++) {
		struct queue *q = make_queue();
		cJSON *o = make_job(annotations[n], "'nodeSelector':{'own':'1'},");
		cJSON *started = start(q, o);
		struct job *j = decode(started);
		assert_false(j->suspend);
		assert_int_equal(j->admission.state, STORY_STARTED);
		assert_int_equal(j->admission.attempt, 1);
		assert_string_equal(printed(json_get(pod_of(started), "nodeSelector")),
			"{\"own\":\"1\",\"pool\":\"spot\"}");
		assert_int_equal(cJSON_GetArraySize(json_array(pod_of(started), "tolerations")), 1);
		/* The user's own are still known. */
		assert_int_equal(j->placement.nnode_selector, 1);
		assert_string_equal(j->placement.node_selector[0].key, "own");
		assert_int_equal(j->placement.ntolerations, 0);
		const cJSON *meta = json_object(
			json_object(json_object(started, "spec"), "template"), "metadata");
		assert_string_equal(
			json_text(json_object(meta, "labels"), CLUSTERQUEUE_LABEL), "batch");
		assert_string_equal(json_text(json_object(meta, "labels"), "app"), "x");
		free(j);
		cJSON_Delete(started);
		cJSON_Delete(o);
		queue_free(q);
	}
}

static void a_stop_and_another_start_carry_nothing_over(void **state)
{
	struct queue *q = make_queue();
	cJSON *o = make_job(NULL, "'tolerations':[{'key':'mine','operator':'Exists'}],");
	(void)state;
	cJSON *started = start(q, o);
	struct job *j = decode(started);
	struct intent i = intent_for(j, INTENT_STOP, STORY_STOPPED);
	cJSON *stopped = render_and_apply(&i, q, started);
	assert_non_null(stopped);
	free(j);
	j = decode(stopped);
	assert_true(j->suspend);
	assert_int_equal(j->admission.state, STORY_STOPPED);
	assert_int_equal(j->admission.attempt, 1);
	queue_drop_job(q, &j->uid);
	/* Flavor a has no room any more: on-demand, without the toleration of spot. */
	static const struct quota_spec none = {"cpu", 0, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
				       one = {"cpu", 1000, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	static const char *const covered[] = {"cpu"};
	static const struct flavor_quota_spec flavors[] = {{"a", &none, 1}, {"b", &one, 1}};
	static const struct resource_group_spec group = {covered, 1, flavors, 2};
	assert_int_equal(queue_set_clusterqueue(q,
				 &(struct clusterqueue_spec){.name = "batch",
					 .cohort = "",
					 .groups = &group,
					 .ngroups = 1,
					 .has_namespace_selector = true},
				 NULL),
		0);
	cJSON *again = start(q, stopped);
	assert_string_equal(
		printed(json_get(pod_of(again), "nodeSelector")), "{\"pool\":\"on-demand\"}");
	assert_int_equal(cJSON_GetArraySize(json_array(pod_of(again), "tolerations")), 1);
	free(j);
	j = decode(again);
	assert_int_equal(j->admission.attempt, 2);
	assert_int_equal(j->placement.nnode_selector, 0);
	assert_int_equal(j->placement.ntolerations, 1);
	free(j);
	cJSON_Delete(again);
	cJSON_Delete(stopped);
	cJSON_Delete(started);
	cJSON_Delete(o);
	queue_free(q);
}

static int spec_number(const cJSON *o, const char *key)
{
	int64_t value = -1;
	json_i64(json_object(o, "spec"), key, &value);
	return (int)value;
}

/* Of a Job that runs with 3 of 8 pods: 5, and then all that its owner wrote. A story that is told anew
 * changes nothing but the story. */
static void more_pods_while_it_runs(void **state)
{
	(void)state;
	cJSON *o = make_job(NULL, "");
	cJSON *spec = cJSON_GetObjectItemCaseSensitive(o, "spec");
	cJSON_AddNumberToObject(spec, "parallelism", 8);
	struct job *j = decode(o);
	struct queue *q = make_queue();
	queue_set_job(q, j);
	struct intent start = intent_for(j, INTENT_START, STORY_STARTED);
	start.parallelism = start.story.pods = 3;
	start.story.owner_parallelism = 8;
	cJSON *running = render_and_apply(&start, q, o);
	struct job *r = decode(running);

	struct intent retell = intent_for(r, INTENT_RETELL, STORY_STARTED);
	retell.story.pods = 3;
	retell.story.owner_parallelism = 8;
	retell.story.sizes = 2;
	retell.story.retold = "TakenOver";
	retell.generation--; /* whatever its owner edits meanwhile */
	cJSON *told = render_and_apply(&retell, q, running);
	struct job *t = decode(told);
	assert_int_equal(t->parallelism, 3);
	assert_int_equal(t->admission.owner_parallelism, 8);
	assert_string_not_equal(t->admission.story, r->admission.story);

	struct intent grow = intent_for(t, INTENT_GROW, STORY_STARTED);
	grow.parallelism = grow.story.pods = 5;
	grow.story.owner_parallelism = 8;
	cJSON *grown = render_and_apply(&grow, q, told);
	struct job *g = decode(grown);
	assert_int_equal(g->parallelism, 5);
	assert_int_equal(g->admission.owner_parallelism, 8);
	assert_false(g->suspend);
	assert_null(render_and_apply(&grow, q, running)); /* another story */
	grow.generation--;
	assert_null(render_and_apply(&grow, q, told));

	struct intent whole = intent_for(g, INTENT_GROW, STORY_STARTED);
	whole.parallelism = 8;
	cJSON *all = render_and_apply(&whole, q, grown);
	struct job *a = decode(all);
	assert_int_equal(a->parallelism, 8);
	assert_int_equal(a->admission.owner_parallelism, 0);
	assert_false(a->admission.reapplied);
	free(j);
	free(r);
	free(t);
	free(g);
	free(a);
	cJSON_Delete(o);
	cJSON_Delete(running);
	cJSON_Delete(told);
	cJSON_Delete(grown);
	cJSON_Delete(all);
	queue_free(q);
}

/* Of the status: one field goes, if nothing of the Job has changed. */
static void a_start_time_is_taken_off(void **state)
{
	(void)state;
	cJSON *o = make_job(NULL, "");
	cJSON *status = cJSON_AddObjectToObject(o, "status");
	cJSON_AddStringToObject(
		cJSON_GetObjectItemCaseSensitive(o, "metadata"), "resourceVersion", "812");
	cJSON_AddStringToObject(status, "startTime", "2026-11-21T10:00:00Z");
	struct job *j = decode(o);
	struct queue *q = make_queue();
	struct intent clear = intent_for(j, INTENT_CLEAR, STORY_STOPPED);
	clear.version = j->version;
	cJSON *cleared = render_and_apply(&clear, q, o);
	assert_non_null(cleared);
	struct job *c = decode(cleared);
	assert_false(c->status.has_start_time);
	clear.version++;
	assert_null(render_and_apply(&clear, q, o));
	cJSON_DeleteItemFromObject(status, "startTime");
	assert_true(cJSON_Compare(cleared, o, true));
	free(j);
	free(c);
	cJSON_Delete(o);
	cJSON_Delete(cleared);
	queue_free(q);
}

/* 3 of 8 pods now, and 8 again after the stop, which puts it on hold as well. */
static void fewer_pods_for_the_time_of_a_run(void **state)
{
	(void)state;
	cJSON *o = make_job(NULL, "");
	cJSON *spec = cJSON_GetObjectItemCaseSensitive(o, "spec");
	cJSON_AddNumberToObject(spec, "parallelism", 8);
	cJSON_AddNumberToObject(spec, "completions", 8);
	cJSON_AddStringToObject(spec, "completionMode", "Indexed");
	struct job *j = decode(o);
	struct queue *q = make_queue();
	queue_set_job(q, j);
	struct intent start = intent_for(j, INTENT_START, STORY_STARTED);
	start.parallelism = start.completions = start.story.pods = 3;
	start.story.owner_parallelism = start.story.owner_completions = 8;
	cJSON *running = render_and_apply(&start, q, o);
	assert_non_null(running);
	assert_int_equal(spec_number(running, "parallelism"), 3);
	assert_int_equal(spec_number(running, "completions"), 3);
	struct job *r = decode(running);
	assert_int_equal(r->parallelism, 3);
	assert_int_equal(r->admission.owner_parallelism, 8);

	struct intent stop = intent_for(r, INTENT_STOP, STORY_STOPPED);
	stop.parallelism = r->admission.owner_parallelism;
	stop.completions = r->admission.owner_completions;
	stop.hold = "enough";
	cJSON *stopped = render_and_apply(&stop, q, running);
	struct job *s = decode(stopped);
	assert_true(s->suspend);
	assert_int_equal(s->parallelism, 8);
	assert_int_equal(s->completions, 8);
	assert_int_equal(s->admission.owner_parallelism, 0);
	assert_string_equal(s->hold, "enough");

	stop.generation--; /* its owner edits it at the same time */
	assert_null(render_and_apply(&stop, q, running));
	free(j);
	free(r);
	free(s);
	cJSON_Delete(o);
	cJSON_Delete(running);
	cJSON_Delete(stopped);
	queue_free(q);
}

static void a_note_alone(void **state)
{
	(void)state;
	for (int map = 0; map < 2; map++) {
		cJSON *o = make_job(map ? "'a':'b'" : NULL, "");
		struct job *j = decode(o);
		struct intent i = intent_for(j, INTENT_TELL, STORY_FENCED);
		i.hold = "by <its> owner";
		cJSON *told = render_and_apply(&i, NULL, o);
		assert_non_null(told);
		free(j);
		j = decode(told);
		assert_true(j->suspend);
		assert_int_equal(j->admission.state, STORY_NONE); /* attempt 0 is no story */
		assert_string_equal(j->hold, "by <its> owner");
		free(j);
		cJSON_Delete(told);
		cJSON_Delete(o);
	}
}

static struct intent notice_for(const struct job *j, const char *text)
{
	struct intent i = intent_for(j, INTENT_NOTICE, STORY_NONE);
	i.notice = text;
	return i;
}

/* Said while it runs; what ends the run takes it off, whether it is there or not. */
static void a_warning_comes_and_goes(void **state)
{
	static const char story[] =
		"'sluice.dev/admission':'{\\'attempt\\':1,\\'state\\':\\'Started\\'}'";
	static const char *const maps[] = {NULL, "'a':'b'", story};
	(void)state;
	for (int n = 0; n < 3; n++) {
		cJSON *o = make_job(maps[n], "");
		cJSON_ReplaceItemInObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(o, "spec"),
			"suspend", cJSON_CreateFalse());
		struct job *j = decode(o);
		struct intent i = intent_for(j, INTENT_WARN, STORY_NONE);
		i.stopping_at_ms = 1795255110750;
		cJSON *told = render_and_apply(&i, NULL, o);
		assert_non_null(told);
		const cJSON *annotations = cJSON_GetObjectItemCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(told, "metadata"), "annotations");
		assert_string_equal(
			cJSON_GetObjectItemCaseSensitive(annotations, "sluice.dev/stopping-at")
				->valuestring,
			"2026-11-21T09:58:30Z");
		free(j);
		j = decode(told);
		assert_false(j->suspend);

		/* It was said, it was not, it is taken back, it is stopped. */
		for (int k = 0; k < 4; k++) {
			cJSON *from = k % 2 ? told : o;
			struct job *before = decode(from);
			i = intent_for(before, k < 2 ? INTENT_WARN : INTENT_STOP, STORY_STOPPED);
			i.drop_warning = k >= 2;
			cJSON *off = render_and_apply(&i, NULL, from);
			assert_non_null(off);
			annotations = cJSON_GetObjectItemCaseSensitive(
				cJSON_GetObjectItemCaseSensitive(off, "metadata"), "annotations");
			assert_null(cJSON_GetObjectItemCaseSensitive(
				annotations, "sluice.dev/stopping-at"));
			free(before);
			cJSON_Delete(off);
		}
		/* One that comes too late does not land. */
		i = intent_for(j, INTENT_STOP, STORY_STOPPED);
		i.drop_warning = true;
		cJSON *stopped = render_and_apply(&i, NULL, told);
		assert_non_null(stopped);
		i = intent_for(j, INTENT_WARN, STORY_NONE);
		i.stopping_at_ms = 1795255110750;
		assert_null(render_and_apply(&i, NULL, stopped));
		free(j);
		cJSON_Delete(stopped);
		cJSON_Delete(told);
		cJSON_Delete(o);
	}
}

/* Said while it waits, and taken off by the start; the story stays. */
static void a_notice_comes_and_goes(void **state)
{
	static const char story[] =
		"'sluice.dev/admission':'{\\'attempt\\':1,\\'state\\':\\'Stopped\\'}'";
	static const char *const maps[] = {NULL, "'a':'b'", story};
	(void)state;
	for (int n = 0; n < 3; n++) {
		struct queue *q = make_queue();
		cJSON *o = make_job(maps[n], "");
		struct job *before = decode(o), *j;
		give_room(q, before);
		struct intent i = notice_for(before, "OnHold: held by <its> owner");
		i.booked_start_ms = 1795255110000;
		cJSON *told = render_and_apply(&i, NULL, o);
		assert_non_null(told);
		j = decode(told);
		assert_string_equal(j->annotations.waiting, "OnHold: held by <its> owner");
		assert_int_equal(j->annotations.booked_start_ms, 1795255110000);
		assert_true(j->suspend);
		assert_int_equal(j->admission.attempt, before->admission.attempt);

		/* A start that did not know of it does not land. */
		i = intent_for(before, INTENT_START, STORY_STARTED);
		assert_null(render_and_apply(&i, q, told));
		/* The next notice knows of no booked start any more. */
		i = notice_for(j, "OnHold: held");
		i.has_booked_start = true;
		cJSON *again = render_and_apply(&i, NULL, told);
		assert_non_null(again);
		struct job *unbooked = decode(again);
		assert_int_equal(unbooked->annotations.booked_start_ms, 0);
		free(unbooked);
		cJSON_Delete(again);
		i = intent_for(j, INTENT_START, STORY_STARTED);
		i.has_notice = i.has_booked_start = true;
		assert_null(render_and_apply(&i, q, o));
		cJSON *started = render_and_apply(&i, q, told);
		assert_non_null(started);
		free(j);
		j = decode(started);
		assert_null(j->annotations.waiting);
		assert_int_equal(j->annotations.booked_start_ms, 0);
		assert_false(j->suspend);

		/* A notice that comes too late does not land either. */
		i = notice_for(before, "OnHold: late");
		assert_null(render_and_apply(&i, NULL, started));
		free(j);
		free(before);
		cJSON_Delete(o);
		cJSON_Delete(told);
		cJSON_Delete(started);
		queue_free(q);
	}
}

/* Each moves one thing that the decision relied on, in the Job as the PATCH finds it. */
static const struct moved_row {
	const char *name;
	const char *change;	/* a patch */
	bool start, stop, tell; /* refused? */
} moved_rows[] = {
	{"nothing", "[]", false, false, false},
	{"a status or label of no concern",
		"[{'op':'add','path':'/metadata/labels/x','value':'y'}]", false, false, false},
	{"another object", "[{'op':'add','path':'/metadata/uid','value':'other'}]", true, true,
		true},
	{"the story",
		"[{'op':'add','path':'/metadata/annotations/sluice.dev~1admission','value':'{}'}]",
		true, true, true},
	{"annotations are gone", "[{'op':'add','path':'/metadata/annotations','value':{}}]", true,
		true, true},
	{"the spec", "[{'op':'add','path':'/metadata/generation','value':4}]", true, false, false},
	{"the queue",
		"[{'op':'add','path':'/metadata/labels/sluice.dev~1queue-name','value':'other'}]",
		true, false, false},
	{"suspend", "[{'op':'add','path':'/spec/suspend','value':false}]", true, false, true},
};

static bool refused(const cJSON *o, const struct queue *q, const struct job *j,
	enum intent_kind kind, const char *change)
{
	struct intent i = intent_for(j, kind, STORY_STARTED);
	cJSON *moved = apply_patch(o, parsed(change));
	assert_non_null(moved);
	cJSON *result = render_and_apply(&i, q, moved);
	bool is = result == NULL;
	cJSON_Delete(moved);
	cJSON_Delete(result);
	return is;
}

static void what_moved_refuses_the_patch(void **state)
{
	static const char story[] =
		"'sluice.dev/admission':'{\\'attempt\\':1,\\'state\\':\\'Stopped\\'}'";
	struct queue *q = make_queue();
	cJSON *o = make_job(story, "");
	struct job *j = decode(o);
	(void)state;
	give_room(q, j);
	for (size_t n = 0; n < sizeof(moved_rows) / sizeof(*moved_rows); n++) {
		const struct moved_row *r = &moved_rows[n];
		cJSON *running = apply_patch(
			o, parsed("[{'op':'add','path':'/spec/suspend','value':false}]"));
		if (refused(o, q, j, INTENT_START, r->change) != r->start ||
			refused(running, q, j, INTENT_STOP, r->change) != r->stop ||
			refused(o, q, j, INTENT_TELL, r->change) != r->tell)
			fail_msg("%s", r->name);
		cJSON_Delete(running);
	}
	free(j);
	cJSON_Delete(o);
	queue_free(q);
}

/* The first story: one of two writers wins, whether the map of annotations was there or not. */
static void of_two_first_stories_one_wins(void **state)
{
	(void)state;
	for (int map = 0; map < 2; map++) {
		struct queue *q = make_queue();
		cJSON *o = make_job(map ? "'a':'b'" : NULL, "");
		struct job *j = decode(o);
		give_room(q, j);
		struct intent i = intent_for(j, INTENT_TELL, STORY_FENCED);
		cJSON *first = render_and_apply(&i, q, o);
		assert_non_null(first);
		i = intent_for(j, INTENT_START, STORY_STARTED);
		assert_null(render_and_apply(&i, q, first));
		free(j);
		cJSON_Delete(first);
		cJSON_Delete(o);
		queue_free(q);
	}
}

/* The API server compares the value of a test byte by byte with what Go's encoding/json makes. */
static void guards_are_written_as_go_writes(void **state)
{
	struct intent i = {.kind = INTENT_TELL,
		.has_annotations = true,
		.story_before =
			"<a href=\"x\\y\">&\b\f\n\r\t\x01\x7f \xC3\xBC \xE2\x80\xA8\xE2\x80\xA9",
		.story = {.clusterqueue = "", .reason = "", .by = ""}};
	struct buf b;
	(void)state;
	buf_init(&b, PATCH_MAX_BYTES);
	patch_render(&i, &b);
	assert_non_null(strstr(buf_text(&b),
		"\"\\u003ca href=\\\"x\\\\y\\\"\\u003e\\u0026\\b\\f\\n\\r\\t\\u0001\x7f \xC3\xBC "
		"\\u2028\\u2029\""));
	buf_done(&b);
}

/* Its work is over: it is let run so that it can end, and its template stays. */
static void what_lets_a_job_end_changes_suspend_alone(void **state)
{
	struct intent i = {.kind = INTENT_TELL,
		.has_annotations = true,
		.resume = true,
		.story = {.clusterqueue = "", .reason = "", .by = ""}};
	struct buf b;
	(void)state;
	buf_init(&b, PATCH_MAX_BYTES);
	patch_render(&i, &b);
	const char *test = "{\"op\":\"test\",\"path\":\"/spec/suspend\",\"value\":true}";
	const char *set = "{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":false}";
	assert_non_null(strstr(buf_text(&b), test));
	assert_non_null(strstr(strstr(buf_text(&b), test), set));
	assert_null(strstr(buf_text(&b), "/spec/template"));
	buf_done(&b);
}

static void what_does_not_fit_fails_the_buffer(void **state)
{
	struct intent i = {
		.kind = INTENT_TELL, .story = {.clusterqueue = "", .reason = "", .by = ""}};
	struct buf b;
	(void)state;
	buf_init(&b, 100);
	patch_render(&i, &b);
	assert_true(b.failed);
	buf_done(&b);
}

static void directives_that_are_cut_off_fail_the_buffer(void **state)
{
	struct intent i = {.kind = INTENT_START,
		.story = {.clusterqueue = "", .reason = "", .by = ""},
		.template = {.own = {"{}", "[]"}, .run = {"{}", "[]"}}};
	struct buf b;
	(void)state;
	for (int at_fault = 0; at_fault < 2; at_fault++) {
		buf_init(&b, PATCH_MAX_BYTES);
		i.template.fault = at_fault ? "they are too large" : NULL;
		patch_render(&i, &b);
		assert_int_equal(b.failed, at_fault);
		buf_done(&b);
	}
}

static void a_name_that_is_no_label_value_is_left_out(void **state)
{
	struct queue *q = make_queue();
	cJSON *o = make_job(NULL, "");
	struct job *j = decode(o);
	(void)state;
	give_room(q, j);
	struct intent i = intent_for(j, INTENT_START, STORY_STARTED);
	i.story.clusterqueue = "a234567890.b234567890.c234567890.d234567890.e234567890.f234567890";
	cJSON *started = render_and_apply(&i, q, o);
	const cJSON *meta =
		json_object(json_object(json_object(started, "spec"), "template"), "metadata");
	assert_string_equal(json_text(json_object(meta, "labels"), CLUSTERQUEUE_LABEL), "");
	free(j);
	cJSON_Delete(started);
	cJSON_Delete(o);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_says_all_in_one_patch),
		cmocka_unit_test(a_stop_and_another_start_carry_nothing_over),
		cmocka_unit_test(fewer_pods_for_the_time_of_a_run),
		cmocka_unit_test(more_pods_while_it_runs),
		cmocka_unit_test(a_start_time_is_taken_off),
		cmocka_unit_test(a_note_alone),
		cmocka_unit_test(a_notice_comes_and_goes),
		cmocka_unit_test(a_warning_comes_and_goes),
		cmocka_unit_test(what_moved_refuses_the_patch),
		cmocka_unit_test(of_two_first_stories_one_wins),
		cmocka_unit_test(guards_are_written_as_go_writes),
		cmocka_unit_test(what_lets_a_job_end_changes_suspend_alone),
		cmocka_unit_test(what_does_not_fit_fails_the_buffer),
		cmocka_unit_test(directives_that_are_cut_off_fail_the_buffer),
		cmocka_unit_test(a_name_that_is_no_label_value_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
