/*
 * What the aggregated API understands, and what it says of Jobs, without a socket.
 */
#include "controller/answers/queued_jobs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "controller/answers/discovery.h"
#include "controller/answers/queued_job.h"
#include "controller/answers/watch_rows.h"
#include "controller_world.h"
#include "test/golden/golden.h"

#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

/* ---- questions ------------------------------------------------------------------------------- */

static void paths_of_queuedjobs_are_known(void **state)
{
	(void)state;
	struct job_query q;
	assert_true(job_query_path(VISIBILITY_ROOT "/queuedjobs", &q));
	assert_string_equal(q.ns, "");
	assert_string_equal(q.path_ns, "");
	struct job_query_words one = {.field_selector = "metadata.namespace=team-a"};
	struct err e = {""};
	assert_int_equal(job_query_take(&q, &one, &e), 0);
	assert_string_equal(q.ns, "team-a");
	assert_string_equal(q.path_ns, ""); /* whoever may ask so asks in the turn of all */
	assert_true(job_query_path(VISIBILITY_ROOT "/namespaces/team-a/queuedjobs", &q));
	assert_string_equal(q.ns, "team-a");
	assert_string_equal(q.path_ns, "team-a");
	assert_false(q.one);
	assert_true(job_query_path(VISIBILITY_ROOT "/namespaces/team-a/queuedjobs/train.1", &q));
	assert_string_equal(q.name, "train.1");
	assert_true(q.one);
	assert_true(job_query_path(VISIBILITY_ROOT "/clusterqueues/batch/queuedjobs", &q));
	assert_string_equal(q.clusterqueue, "batch");
}

static void other_paths_are_not(void **state)
{
	(void)state;
	static const char *const paths[] = {"/", "/apis", VISIBILITY_ROOT,
		VISIBILITY_ROOT "/queuedjobs/train", VISIBILITY_ROOT "/namespaces/team-a",
		VISIBILITY_ROOT "/namespaces//queuedjobs",
		VISIBILITY_ROOT "/namespaces/Team/queuedjobs",
		VISIBILITY_ROOT "/namespaces/team-a/queuedjobs/",
		VISIBILITY_ROOT "/namespaces/team-a/queuedjobs/x/y",
		VISIBILITY_ROOT "/namespaces/team-a/queuedjobs/..%2f",
		VISIBILITY_ROOT "/clusterqueues/batch", VISIBILITY_ROOT "/queuedjobsx"};
	struct job_query q;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_false(job_query_path(paths[i], &q));
}

static int take(struct job_query *q, const struct job_query_words *w, struct err *e)
{
	assert_true(job_query_path(VISIBILITY_ROOT "/namespaces/team-a/queuedjobs", q));
	return job_query_take(q, w, e);
}

static void selectors_and_pages_are_taken_apart(void **state)
{
	(void)state;
	struct job_query q;
	struct err e;
	struct job_query_words w = {.accept = TABLE,
		.include_object = "Object",
		.label_selector = "team=a,stage!=test",
		.field_selector = "spec.queue=main,status.state!=Running",
		.limit = "500",
		.token = "12.1000"};
	assert_int_equal(take(&q, &w, &e), 0);
	assert_int_equal(q.form, FORM_TABLE_OBJECTS);
	assert_string_equal(q.labels, "team=a,stage!=test");
	assert_string_equal(q.localqueue, "main");
	assert_string_equal(q.not_state, "Running");
	assert_int_equal(q.limit, 500);
	assert_int_equal(q.moment, 12);
	assert_int_equal(q.first, 1000);
}

/* A backslash, as kubectl writes it before a comma, an equals sign and a backslash. */
static void a_value_may_have_what_separates_values(void **state)
{
	(void)state;
	static const struct {
		const char *selector, *user, *queue;
	} cases[] = {
		{"spec.submittedBy=system:serviceaccount:ci:runner",
			"system:serviceaccount:ci:runner", ""},
		{"spec.submittedBy=cn\\=bob\\,o\\=team,spec.queue=main", "cn=bob,o=team", "main"},
		{"spec.submittedBy==a=b", "a=b", ""},
		{"spec.submittedBy=CORP\\\\bob", "CORP\\bob", ""},
		{"spec.submittedBy=bob\\", "bob\\", ""},
		{"spec.submittedBy=a\\,b,spec.submittedBy=a\\,b", "a,b", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job_query q;
		struct err e = {""};
		struct job_query_words w = {.field_selector = cases[i].selector};
		assert_int_equal(take(&q, &w, &e), 0);
		assert_string_equal(q.submitted_by, cases[i].user);
		assert_string_equal(q.localqueue, cases[i].queue);
	}
}

static void a_table_is_given_to_those_that_ask_for_one(void **state)
{
	(void)state;
	static const struct {
		const char *accept, *include;
		enum job_query_form form;
	} cases[] = {
		{NULL, NULL, FORM_OBJECTS},
		{"application/json", NULL, FORM_OBJECTS},
		{"*/*", NULL, FORM_OBJECTS},
		{TABLE, NULL, FORM_TABLE},
		{TABLE, "Metadata", FORM_TABLE},
		{TABLE, "None", FORM_TABLE_ALONE},
		{"application/json,application/json;as=Table;v=v1;g=meta.k8s.io", NULL,
			FORM_OBJECTS},
		{"application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json", NULL,
			FORM_OBJECTS},
		{"application/json;as=Table;v=v1beta1;g=meta.k8s.io," TABLE, NULL, FORM_TABLE},
		{"application/json; g=meta.k8s.io; v=v1; as=Table", NULL, FORM_TABLE},
		{"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
			NULL, FORM_OBJECTS},
		{"application/json;q=0.5", NULL, FORM_OBJECTS},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job_query q;
		struct err e;
		struct job_query_words w = {
			.accept = cases[i].accept, .include_object = cases[i].include};
		assert_int_equal(take(&q, &w, &e), 0);
		assert_int_equal(q.form, cases[i].form);
	}
}

static void a_form_that_is_not_served_is_not_another_one(void **state)
{
	(void)state;
	static const char *const accept[] = {"application/json;as=Table;v=v1beta1;g=meta.k8s.io",
		"application/json;as=Table", "application/json;as=Table;v=v10",
		"application/json;as=Table;v=v2,application/json;as=Chair;v=v1"};
	for (size_t i = 0; i < sizeof(accept) / sizeof(accept[0]); i++) {
		struct job_query q;
		struct err e = {""};
		struct job_query_words w = {.accept = accept[i]};
		assert_int_equal(take(&q, &w, &e), ERR_GONE);
		assert_non_null(strstr(e.text, "as=Table;v=v1;g=meta.k8s.io"));
	}
}

static void what_makes_no_sense_is_refused_with_its_name(void **state)
{
	(void)state;
	static const struct {
		struct job_query_words words;
		const char *says;
	} cases[] = {
		{{.label_selector = "team in (a"}, "labelSelector"},
		{{.field_selector = "spec.colour=red"}, "\"spec.colour=red\" is not known"},
		{{.field_selector = "status.state"}, "\"status.state\" is not known"},
		{{.field_selector = "spec.queue!=main"}, "cannot be asked for with !="},
		{{.field_selector = "metadata.namespace=team-b"}, "given twice"},
		{{.field_selector = "status.state="}, "1 to 15 characters"},
		{{.field_selector = "status.trouble.reason="}, "1 to 31 characters"},
		{{.field_selector = "status.trouble.reason!=Unschedulable"},
			"cannot be asked for with !="},
		{{.field_selector = "status.state=Waiting-for-ever"}, "1 to 15 characters"},
		{{.field_selector = "spec.submittedBy="}, "1 to 253 characters"},
		{{.field_selector = "spec.submittedBy!=bob"}, "cannot be asked for with !="},
		{{.field_selector = "spec.submittedBy=a,spec.submittedBy=b"}, "given twice"},
		{{.limit = "-1"}, "limit is \"-1\""},
		{{.limit = "10x"}, "limit is \"10x\""},
		{{.token = "12"}, "metadata.continue"},
		{{.token = "0.5"}, "metadata.continue"},
		{{.token = "1.5x"}, "metadata.continue"},
		{{.accept = TABLE, .include_object = "All"}, "includeObject is \"All\""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job_query q;
		struct err e = {""};
		assert_int_equal(take(&q, &cases[i].words, &e), ERR_INVALID);
		assert_non_null(strstr(e.text, cases[i].says));
	}
}

/* ---- answers --------------------------------------------------------------------------------- */

struct stage {
	struct world world;
	struct queued_jobs_sources sources;
	struct queued_jobs *all;
	struct buf body;
	struct json *json;
};

static void stage_open(struct stage *s)
{
	world_open(&s->world, "batch");
	s->sources = (struct queued_jobs_sources){.gate = s->world.gate,
		.queue = s->world.queue,
		.ledger_up = true,
		.now_ms = s->world.reports.now_ms};
	s->all = NULL;
	buf_init(&s->body, 1 << 20);
	s->json = json_new(16 << 20);
}

static void stage_close(struct stage *s)
{
	queued_jobs_free(s->all);
	json_free(s->json);
	GOLDEN_DONE(&s->body);
	world_close(&s->world);
}

static const cJSON *parsed(struct stage *s)
{
	const cJSON *root = NULL;
	struct err e = {""};
	assert_int_equal(json_parse(s->json, buf_slice(&s->body), &root, &e), 0);
	return root;
}

static const cJSON *list(struct stage *s, const struct job_query *q)
{
	if (!s->all)
		s->all = queued_jobs_new(&s->sources);
	GOLDEN_RESET(&s->body);
	queued_jobs_list(s->all, q, 7, &s->body);
	return parsed(s);
}

static const char *name_of(const cJSON *object)
{
	return json_text(json_object(object, "metadata"), "name");
}

static void add_jobs(struct stage *s, unsigned n)
{
	static const char *const names[] = {"one", "two", "three", "four", "five"};
	for (unsigned i = 0; i < n; i++)
		world_add_job(&s->world, (unsigned char)(i + 1), names[i]);
}

static void a_list_is_in_the_order_of_the_queue(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_jobs(&s, 3);
	const cJSON *root = list(&s, &(struct job_query){0});
	assert_string_equal(json_text(root, "kind"), "QueuedJobList");
	const cJSON *one = json_array(root, "items")->child;
	assert_string_equal(name_of(one), "one");
	assert_string_equal(name_of(one->next), "two");
	assert_string_equal(name_of(one->next->next), "three");
	assert_null(one->next->next->next);
	const cJSON *spec = json_object(one, "spec"), *status = json_object(one, "status");
	int64_t position = 0;
	assert_string_equal(json_text(spec, "queue"), "main");
	assert_string_equal(json_text(spec, "clusterQueue"), "batch");
	assert_string_equal(json_text(json_object(spec, "requests"), "cpu"), "12");
	assert_string_equal(json_text(status, "state"), "Waiting");
	assert_int_equal(json_i64(status, "position", &position), 0);
	assert_int_equal(position, 1);
	assert_string_equal(json_text(json_object(one, "metadata"), "creationTimestamp"),
		"2026-11-21T09:59:00Z");
	stage_close(&s);
}

static int64_t status_of(const cJSON *object, const char *name)
{
	int64_t value = 0;
	assert_int_equal(json_i64(json_object(object, "status"), name, &value), 0);
	return value;
}

/* Jobs that can never start keep their rank, by which lists are ordered. */
static void jobs_that_can_never_start_have_no_position_and_are_ahead_of_none(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	for (unsigned char i = 1; i <= 2; i++) {
		struct job j = world_job(i, i == 1 ? "vast" : "vaster");
		j.parallelism = j.completions = 1000000;
		world_see_job(&s.world, &j);
	}
	world_add_job(&s.world, 3, "next");
	const cJSON *root = list(&s, &(struct job_query){0});
	const cJSON *vaster = json_array(root, "items")->child->next, *next = vaster->next;
	assert_string_equal(name_of(vaster), "vaster");
	assert_null(json_get(json_object(vaster, "status"), "position"));
	assert_int_equal(status_of(vaster, "rank"), 2);
	assert_string_equal(name_of(next), "next");
	assert_int_equal(status_of(next, "position"), 1);
	assert_int_equal(status_of(next, "rank"), 3);
	stage_close(&s);
}

static void pages_are_of_one_list(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_jobs(&s, 5);
	struct job_query q = {.limit = 2};
	const cJSON *root = list(&s, &q), *meta = json_object(root, "metadata");
	int64_t left = 0;
	assert_string_equal(json_text(meta, "continue"), "7.2");
	assert_int_equal(json_i64(meta, "remainingItemCount", &left), 0);
	assert_int_equal(left, 3);
	q.first = 4;
	root = list(&s, &q);
	assert_string_equal(name_of(json_array(root, "items")->child), "five");
	assert_null(json_array(root, "items")->child->next);
	assert_null(json_text(json_object(root, "metadata"), "continue"));
	q.first = 99;
	assert_null(json_array(list(&s, &q), "items")->child);
	stage_close(&s);
}

static void a_list_has_what_was_asked_for(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_jobs(&s, 2);
	assert_null(json_array(list(&s, &(struct job_query){.ns = "team-b"}), "items")->child);
	assert_null(json_array(list(&s, &(struct job_query){.localqueue = "x"}), "items")->child);
	assert_null(json_array(list(&s, &(struct job_query){.clusterqueue = "x"}), "items")->child);
	assert_null(json_array(list(&s, &(struct job_query){.state = "Running"}), "items")->child);
	assert_null(
		json_array(list(&s, &(struct job_query){.not_state = "Waiting"}), "items")->child);
	assert_null(json_array(list(&s, &(struct job_query){.labels = "team=a"}), "items")->child);
	const cJSON *root = list(&s, &(struct job_query){.ns = "team-a", .name = "two"});
	assert_string_equal(name_of(json_array(root, "items")->child), "two");
	root = list(&s, &(struct job_query){.submitted_by = "cn=bob,o=team"});
	const cJSON *bobs = json_array(root, "items")->child;
	assert_string_equal(name_of(bobs), "two");
	assert_string_equal(json_text(json_object(bobs, "spec"), "submittedBy"), "cn=bob,o=team");
	assert_null(bobs->next);
	assert_null(
		json_array(list(&s, &(struct job_query){.submitted_by = "bob"}), "items")->child);
	root = list(&s, &(struct job_query){.labels = "!team"});
	assert_null(
		json_text(json_object(json_array(root, "items")->child, "spec"), "submittedBy"));
	assert_non_null(json_array(root, "items")->child->next);
	stage_close(&s);
}

static bool has_trouble; /* the Job two; the others have none */

bool __wrap_gate_job_trouble(
	const struct gate *g, const char *ns, const char *name, struct gate_trouble *ret);
bool __wrap_gate_job_trouble(
	const struct gate *g, const char *ns, const char *name, struct gate_trouble *ret)
{
	(void)g;
	*ret = (struct gate_trouble){
		.ns = ns, .name = name, .word = TROUBLE_UNSCHEDULABLE, .message = ""};
	return has_trouble && strcmp(name, "two") == 0;
}

static void those_in_trouble_are_found(void **state)
{
	static const struct {
		const char *selector;
		bool finds;
	} cases[] = {{"status.trouble.reason!=", true},
		{"status.trouble.reason!=,spec.queue=x", false},
		{"status.trouble.reason=Unschedulable", true},
		{"status.trouble.reason=ErrImagePull", false}};
	struct stage s;
	(void)state;
	stage_open(&s);
	add_jobs(&s, 3);
	has_trouble = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job_query q;
		struct err e = {""};
		struct job_query_words w = {.field_selector = cases[i].selector};
		assert_int_equal(take(&q, &w, &e), 0);
		const cJSON *found = json_array(list(&s, &q), "items")->child;
		assert_true(!found == !cases[i].finds);
		if (found) {
			assert_string_equal(name_of(found), "two");
			assert_null(found->next);
		}
	}
	has_trouble = false;
	stage_close(&s);
}

static void a_job_that_is_deferred_is_listed(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_jobs(&s, 1);
	struct job beyond = {.uid.byte = {99},
		.ns = "team-a",
		.name = "beyond",
		.queue = "main",
		.created_ms = s.sources.now_ms};
	queue_defer_job(s.world.queue, &beyond, 1);
	assert_int_equal(queue_count_deferred(s.world.queue), 1);
	const cJSON *one = json_array(list(&s, &(struct job_query){0}), "items")->child->next;
	assert_string_equal(name_of(one), "beyond");
	assert_null(one->next);
	assert_non_null(
		strstr(json_text(json_object(one, "status"), "message"), "spec.maxWaiting"));
	stage_close(&s);
}

static void a_table_has_a_cell_for_each_column(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_jobs(&s, 1);
	const cJSON *root = list(&s, &(struct job_query){.form = FORM_TABLE});
	assert_string_equal(json_text(root, "kind"), "Table");
	const cJSON *row = json_array(root, "rows")->child;
	const cJSON *cells = json_array(row, "cells");
	assert_int_equal(cJSON_GetArraySize(json_array(root, "columnDefinitions")),
		cJSON_GetArraySize(cells));
	static const char *const first[] = {
		"one", "main", "Waiting", "1", NULL, "1 pod: 12 cpu, 1Gi memory"};
	const cJSON *cell = cells->child;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++, cell = cell->next)
		if (first[i])
			assert_string_equal(cell->valuestring, first[i]);
	const cJSON *object = json_object(row, "object");
	assert_string_equal(json_text(object, "kind"), "PartialObjectMetadata");
	assert_string_equal(name_of(object), "one");
	row = json_array(list(&s, &(struct job_query){.form = FORM_TABLE_ALONE}), "rows")->child;
	assert_null(json_object(row, "object"));
	row = json_array(list(&s, &(struct job_query){.form = FORM_TABLE_OBJECTS}), "rows")->child;
	assert_string_equal(json_text(json_object(row, "object"), "kind"), "QueuedJob");
	stage_close(&s);
}

static int size_of(const cJSON *object, const char *array)
{
	return cJSON_GetArraySize(json_array(object, array));
}

/* Takes the line of it. */
static void check_event(struct stage *s, struct slice *text, enum job_query_form form, bool gone)
{
	const cJSON *event = NULL;
	struct err e = {""};
	const char *name = gone ? "two" : "one";
	size_t len = (size_t)((const char *)memchr(text->ptr, '\n', text->len) - text->ptr);
	assert_int_equal(json_parse(s->json, (struct slice){text->ptr, len}, &event, &e), 0);
	assert_string_equal(json_text(event, "type"), gone ? "DELETED" : "ADDED");
	const cJSON *object = json_object(event, "object");
	assert_string_equal(json_text(json_object(object, "metadata"), "resourceVersion"), "7168");
	if (form == FORM_OBJECTS) {
		assert_string_equal(name_of(object), name);
		assert_string_equal(json_text(json_object(object, "status"), "state"),
			gone ? "Gone" : "Waiting");
	} else {
		const cJSON *row = json_array(object, "rows")->child;
		assert_string_equal(json_array(row, "cells")->child->valuestring, name);
		assert_int_equal(size_of(row, "cells"), 12);
		assert_int_equal(size_of(object, "columnDefinitions"), gone ? 0 : 12);
	}
	json_reset(s->json);
	*text = (struct slice){text->ptr + len + 1, text->len - len - 1};
}

/* What a watch compares, and the events that it orders: "one" is told, "two" is another Job by now. */
static void events_are_lines_of_json(void **state)
{
	(void)state;
	struct stage s;
	struct job_query q = {.ns = "team-a", .form = FORM_OBJECTS};
	struct buf rows, orders;
	struct watch_order o = {.version = 7168};
	stage_open(&s);
	add_jobs(&s, 2);
	list(&s, &q);
	buf_init(&rows, 4096);
	buf_init(&orders, 4096);
	queued_jobs_rows(s.all, &q, &rows);
	struct slice left = buf_slice(&rows);
	for (int i = 0; i < 2; i++) {
		assert_true(watch_row_take(&left, &o.row));
		assert_true(slice_is(o.row.name, i ? "two" : "one"));
		assert_true(o.row.digest != 0);
		o.event = i ? WATCH_DELETED : WATCH_ADDED;
		o.row.uid.byte[3] += (uint8_t)i;
		watch_order_put(&orders, &o);
	}
	assert_false(watch_row_take(&left, &o.row));
	static const enum job_query_form forms[] = {
		FORM_OBJECTS, FORM_TABLE, FORM_TABLE_ALONE, FORM_TABLE_OBJECTS};
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		q.form = forms[i];
		GOLDEN_RESET(&s.body);
		queued_jobs_events(s.all, &q, &(struct job_query_events){.with_columns = true},
			buf_slice(&orders), &s.body);
		struct slice text = buf_slice(&s.body);
		check_event(&s, &text, forms[i], false);
		check_event(&s, &text, forms[i], true);
		assert_int_equal(text.len, 0);
	}
	buf_done(&rows);
	buf_done(&orders);
	stage_close(&s);
}

static void bookmarks_are_lines_of_json(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	queued_job_put_bookmark(7168, true, FORM_OBJECTS, &s.body);
	const cJSON *meta = json_object(json_object(parsed(&s), "object"), "metadata");
	assert_string_equal(json_text(meta, "resourceVersion"), "7168");
	assert_string_equal(
		json_text(json_object(meta, "annotations"), "k8s.io/initial-events-end"), "true");
	GOLDEN_RESET(&s.body);
	queued_job_put_bookmark(7168, true, FORM_TABLE, &s.body);
	const cJSON *row = json_array(json_object(parsed(&s), "object"), "rows")->child;
	meta = json_object(json_object(row, "object"), "metadata");
	assert_string_equal(
		json_text(json_object(meta, "annotations"), "k8s.io/initial-events-end"), "true");
	stage_close(&s);
}

/* A Job that is told as DELETED because it is no longer asked for is told as it is. */
static void one_that_leaves_the_selection_is_told_as_it_is(void **state)
{
	(void)state;
	struct stage s;
	struct job_query q = {.ns = "team-a"};
	struct buf rows, orders;
	struct watch_order o = {.version = 7168, .event = WATCH_DELETED};
	stage_open(&s);
	add_jobs(&s, 1);
	list(&s, &q);
	buf_init(&rows, 4096);
	buf_init(&orders, 4096);
	queued_jobs_rows(s.all, &q, &rows);
	struct slice left = buf_slice(&rows);
	assert_true(watch_row_take(&left, &o.row));
	watch_order_put(&orders, &o);
	strcpy(q.labels, "team=a");
	GOLDEN_RESET(&s.body);
	queued_jobs_events(s.all, &q, &(struct job_query_events){0}, buf_slice(&orders), &s.body);
	const cJSON *object = json_object(parsed(&s), "object");
	assert_string_equal(json_text(json_object(object, "status"), "state"), "Waiting");
	buf_done(&rows);
	buf_done(&orders);
	stage_close(&s);
}

static void one_job_is_told_whole_or_not_at_all(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_jobs(&s, 2);
	struct job_query q = {.one = true, .ns = "team-a", .name = "two"};
	assert_true(queued_jobs_one(&s.sources, &q, &s.body, NULL));
	const cJSON *root = parsed(&s);
	assert_string_equal(json_text(root, "kind"), "QueuedJob");
	assert_non_null(json_text(json_object(root, "status"), "message"));
	GOLDEN_RESET(&s.body);
	q.form = FORM_TABLE;
	assert_true(queued_jobs_one(&s.sources, &q, &s.body, NULL));
	assert_string_equal(json_text(parsed(&s), "kind"), "Table");
	GOLDEN_RESET(&s.body);
	strcpy(q.ns, "team-b");
	assert_false(queued_jobs_one(&s.sources, &q, &s.body, NULL));
	assert_int_equal(s.body.len, 0);
	stage_close(&s);
}

static uint64_t news_of(struct stage *s, const char *name)
{
	struct job_query q = {.one = true, .ns = "team-a"};
	uint64_t news = 0;
	snprintf(q.name, sizeof(q.name), "%s", name);
	GOLDEN_RESET(&s->body);
	assert_true(queued_jobs_one(&s->sources, &q, &s->body, &news));
	return news;
}

/* What goes on with the clock is no news before the minute is over. */
static void one_job_has_news_when_it_changes_or_a_minute_is_over(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_jobs(&s, 2);
	s.sources.now_ms -= s.sources.now_ms % 60000;
	uint64_t one = news_of(&s, "one"), two = news_of(&s, "two");
	assert_true(one != two);
	s.sources.now_ms += 59999;
	assert_true(news_of(&s, "one") == one);
	s.sources.now_ms += 1;
	assert_true(news_of(&s, "one") != one);
	s.sources.now_ms -= 1;
	s.sources.ledger_up = !s.sources.ledger_up;
	assert_true(news_of(&s, "one") != one);
	stage_close(&s);
}

/* What was forecast is the test's. */
static struct forecast foretold;

bool __wrap_forecasts_find(const struct forecasts *f, const struct uid *uid,
	const struct explanation *x, struct forecast *ret);
bool __wrap_forecasts_find(const struct forecasts *f, const struct uid *uid,
	const struct explanation *x, struct forecast *ret)
{
	(void)f;
	(void)uid;
	(void)x;
	*ret = foretold;
	return foretold.draws > 0;
}

static const cJSON *start_of(struct stage *s, const char *name)
{
	struct job_query q = {.one = true, .ns = "team-a"};
	snprintf(q.name, sizeof(q.name), "%s", name);
	GOLDEN_RESET(&s->body);
	assert_true(queued_jobs_one(&s->sources, &q, &s->body, NULL));
	return json_object(json_object(parsed(s), "status"), "start");
}

static const char *cell_of(struct stage *s, const char *name, int column)
{
	struct job_query q = {.one = true, .ns = "team-a", .form = FORM_TABLE};
	snprintf(q.name, sizeof(q.name), "%s", name);
	GOLDEN_RESET(&s->body);
	assert_true(queued_jobs_one(&s->sources, &q, &s->body, NULL));
	const cJSON *rows = json_array(parsed(s), "rows");
	return cJSON_GetArrayItem(json_array(rows->child, "cells"), column)->valuestring;
}

static const char *start_cell(struct stage *s, const char *name)
{
	return cell_of(s, name, 7);
}

static void what_keeps_pods_is_told_in_the_table(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	add_jobs(&s, 2);
	has_trouble = true;
	assert_string_equal(cell_of(&s, "two", 6), "Unschedulable");
	assert_string_not_equal(cell_of(&s, "one", 6), "Unschedulable");
	has_trouble = false;
	stage_close(&s);
}

static void a_start_is_told_as_it_was_foretold(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_jobs(&s, 1);
	s.sources.forecasts = (const struct forecasts *)&foretold;
	foretold = (struct forecast){0};
	assert_null(start_of(&s, "one"));
	assert_string_equal(start_cell(&s, "one"), "");
	foretold = (struct forecast){
		.start = {s.sources.now_ms + 60000, s.sources.now_ms + 3600000, INT64_MAX, 14},
		.reason = WAIT_QUOTA,
		.as_of_ms = s.sources.now_ms - 5000,
		.draws = 16,
		.runs = 64,
		.arrivals = 3};
	const cJSON *start = start_of(&s, "one");
	assert_true(json_text(start, "p10") && json_text(start, "p50") && json_text(start, "asOf"));
	assert_null(json_text(start, "p90"));
	assert_true(strcmp(json_text(start, "asOf"), json_text(start, "p10")) < 0);
	assert_int_equal(cJSON_GetObjectItem(start, "draws")->valueint, 16);
	assert_int_equal(cJSON_GetObjectItem(start, "misses")->valueint, 2);
	assert_string_equal(json_text(start, "reason"), "WaitingForQuota");
	const cJSON *basis = json_object(start, "basis");
	assert_int_equal(cJSON_GetObjectItem(basis, "runs")->valueint, 64);
	assert_int_equal(cJSON_GetObjectItem(basis, "arrivals")->valueint, 3);
	assert_string_equal(start_cell(&s, "one"), "about 1h");
	assert_null(json_object(start, "moved"));
	foretold.has_moved = true;
	foretold.move = (struct move){.from_ms = s.sources.now_ms + 600000,
		.at_ms = s.sources.now_ms - 5000,
		.is_later = true,
		.why.count = {[MOVE_OBJECT] = 1, [MOVE_CAME] = 3},
		.kind = {"ClusterQueue"},
		.name = {"batch"}};
	const cJSON *moved = json_object(start_of(&s, "one"), "moved");
	assert_string_equal(json_text(moved, "why"),
		"ClusterQueue batch was changed, 3 Jobs came that are expected to start before this one");
	assert_true(strcmp(json_text(moved, "at"), json_text(moved, "from")) < 0);
	foretold.start.p50_ms = s.sources.now_ms - 1;
	assert_string_equal(start_cell(&s, "one"), "soon");
	foretold.start = (struct quantiles){INT64_MAX, INT64_MAX, INT64_MAX, 0};
	assert_string_equal(start_cell(&s, "one"), "");
	assert_null(json_text(start_of(&s, "one"), "p10"));
	s.sources.forecasts = NULL;
	foretold = (struct forecast){0};
	assert_null(start_of(&s, "one"));
	assert_non_null(strstr(buf_text(&s.body), "\"noForecasts\":true"));
	stage_close(&s);
}

/* The digest of the one Job there is, as a watcher is to know it now. */
static uint64_t digest_now(struct stage *s)
{
	struct job_query q = {.ask = ASK_ROWS, .ns = "team-a"};
	struct queued_jobs *all = queued_jobs_new(&s->sources);
	struct watch_row row;
	struct buf rows;
	buf_init(&rows, 1 << 20);
	queued_jobs_rows(all, &q, &rows);
	struct slice left = buf_slice(&rows);
	assert_true(watch_row_take(&left, &row));
	assert_false(watch_row_take(&left, &row));
	buf_done(&rows);
	queued_jobs_free(all);
	return row.digest;
}

/* Not with each play: they all differ a little. */
static void who_watches_is_told_of_a_start_that_has_moved(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	add_jobs(&s, 1);
	s.sources.forecasts = (const struct forecasts *)&foretold;
	foretold = (struct forecast){0};
	uint64_t none = digest_now(&s);
	assert_int_equal(digest_now(&s), none);
	int64_t at_ms = s.sources.now_ms + 3600000;
	foretold = (struct forecast){
		.start = {at_ms, at_ms, at_ms, 16}, .draws = 16, .told_ms = at_ms};
	uint64_t first = digest_now(&s);
	assert_true(first != none);
	foretold.start.p50_ms += 60000;
	foretold.as_of_ms += 5000;
	assert_int_equal(digest_now(&s), first);
	foretold.start.p50_ms = foretold.told_ms = at_ms + 3600000;
	assert_true(digest_now(&s) != first);
	foretold = (struct forecast){0};
	assert_int_equal(digest_now(&s), none);
	stage_close(&s);
}

/* What a Job waits for is told of it alone: a list of many would look each up. */
static void one_that_waits_for_jobs_says_for_which(void **state)
{
	(void)state;
	static const struct resource cpu = {"cpu", 1000};
	static const struct container container = {.requests = {&cpu, 1}};
	static const struct dependency item = {
		.kind = AFTER_OK, .name = "prep", .text = "afterok:prep"};
	struct stage s;
	stage_open(&s);
	struct job j = {.uid = {{9}},
		.ns = "team-a",
		.name = "report",
		.generation = 1,
		.version = 9,
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = true,
		.parallelism = 1,
		.has_completions = true,
		.completions = 1,
		.after = {.item = &item, .count = 1},
		.pod = {.containers = &container, .ncontainers = 1}};
	gate_see_job(s.world.gate, &j);
	struct job_query q = {.one = true, .ns = "team-a", .name = "report"};
	assert_true(queued_jobs_one(&s.sources, &q, &s.body, NULL));
	const cJSON *after = json_array(json_object(parsed(&s), "status"), "after");
	assert_string_equal(json_text(after->child, "item"), "afterok:prep");
	assert_string_equal(json_text(after->child, "state"), "Waits");
	assert_string_equal(json_array(after->child, "jobs")->child->valuestring, "prep");
	assert_null(after->child->next);
	const cJSON *listed = json_array(list(&s, &(struct job_query){0}), "items")->child;
	assert_string_equal(name_of(listed), "report");
	assert_null(json_array(json_object(listed, "status"), "after"));
	stage_close(&s);
}

/* ---- documents ------------------------------------------------------------------------------- */

static void documents_are_json_and_name_the_resource(void **state)
{
	(void)state;
	static const struct {
		const char *path, *says;
	} cases[] = {
		{"/apis", "APIGroupList"},
		{"/apis/" VISIBILITY_GROUP, "preferredVersion"},
		{VISIBILITY_ROOT, "\"shortNames\":[\"qj\"]"},
		{VISIBILITY_ROOT, "\"kind\":\"CostReport\",\"verbs\":[\"list\"]"},
		{VISIBILITY_ROOT, "\"kind\":\"UsageReport\",\"verbs\":[\"list\"]"},
		{VISIBILITY_ROOT, "\"kind\":\"JobHistory\",\"verbs\":[\"list\"]"},
		{VISIBILITY_ROOT, "\"kind\":\"StartReview\",\"verbs\":[\"get\"]"},
		{VISIBILITY_ROOT, "\"kind\":\"WhatIf\",\"verbs\":[\"list\"]"},
		{"/openapi/v3" VISIBILITY_ROOT,
			"\"$ref\":\"#/components/schemas/dev.sluice.visibility.v1alpha1.StartVariant\""},
		{"/openapi/v3", "serverRelativeURL"},
		{"/openapi/v3" VISIBILITY_ROOT, "dev.sluice.visibility.v1alpha1.QueuedJobStatus"},
		{"/openapi/v3" VISIBILITY_ROOT,
			"\"items\":{\"$ref\":\"#/components/schemas/dev.sluice.visibility.v1alpha1.CostReportRow\"}"},
	};
	struct json *json = json_new(16 << 20);
	struct buf out;
	buf_init(&out, 1 << 20);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const cJSON *root = NULL;
		struct err e = {""};
		GOLDEN_RESET(&out);
		assert_true(discovery_document(cases[i].path, &out));
		assert_int_equal(json_parse(json, buf_slice(&out), &root, &e), 0);
		assert_non_null(strstr(buf_text(&out), cases[i].says));
	}
	assert_false(discovery_document("/apis/other", &out));
	GOLDEN_DONE(&out);
	json_free(json);
}

/* ---- What the queue is made to say of windows and money (the linker wraps these calls) --------
 */

static struct explanation told;
static struct run_bill bill;
static bool has_told;

bool __real_queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret);
bool __wrap_queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret);
bool __wrap_queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret)
{
	bool known = __real_queue_explain(q, uid, now_ms, ret);
	if (known && has_told)
		*ret = told;
	return known;
}

bool __wrap_queue_job_bill(
	struct queue *q, const struct uid *uid, int64_t now_ms, struct run_bill *ret);
bool __wrap_queue_job_bill(
	struct queue *q, const struct uid *uid, int64_t now_ms, struct run_bill *ret)
{
	(void)q, (void)uid, (void)now_ms;
	*ret = bill;
	return has_told;
}

static void tell_of_time_and_money(void)
{
	has_told = true;
	told = (struct explanation){.localqueue = "main",
		.clusterqueue = "batch",
		.expected_ms = 5400000,
		.expected_from = DURATION_HISTORY,
		.deadline_ms = INT64_C(1795255200000),
		.unreachable = true,
		.stop_ms = INT64_C(1795251600000)};
	bill = (struct run_bill){.priced = true,
		.plan = "datacentre",
		.currency = "EUR",
		.cost = 350001,
		.per_hour = 160000,
		.expected_cost = 1240500};
}

/* The status of the one Job. */
static const cJSON *status_of_one(struct stage *s)
{
	struct job_query q = {.one = true, .ns = "team-a", .name = "one"};
	buf_reset(&s->body);
	assert_true(queued_jobs_one(&s->sources, &q, &s->body, NULL));
	return json_object(parsed(s), "status");
}

static void time_and_money_are_explained(void **state)
{
	(void)state;
	struct stage s;
	int64_t seconds = 0;
	stage_open(&s);
	add_jobs(&s, 1);
	tell_of_time_and_money();
	const cJSON *status = status_of_one(&s);
	assert_int_equal(json_i64(status, "expectedSeconds", &seconds), 0);
	assert_int_equal(seconds, 5400);
	assert_string_equal(json_text(status, "expectedFrom"), "History");
	assert_string_equal(json_text(status, "deadline"), "2026-11-21T10:00:00Z");
	assert_true(cJSON_IsTrue(json_get(status, "deadlineUnreachable")));
	assert_string_equal(json_text(status, "stopsAt"), "2026-11-21T09:00:00Z");
	const cJSON *b = json_object(status, "bill");
	assert_string_equal(json_text(b, "plan"), "datacentre");
	assert_string_equal(json_text(b, "currency"), "EUR");
	assert_string_equal(json_text(b, "cost"), "0.350001");
	assert_string_equal(json_text(b, "perHour"), "0.16");
	assert_string_equal(json_text(b, "expectedCost"), "1.2405");
	stage_close(&s);
	has_told = false;
}

static void what_is_not_known_is_left_out(void **state)
{
	static const char *const keys[] = {"expectedSeconds", "expectedFrom", "deadline",
		"deadlineUnreachable", "stopsAt", "bill", "startAt"};
	(void)state;
	struct stage s;
	stage_open(&s);
	add_jobs(&s, 1);
	tell_of_time_and_money();
	told.expected_ms = told.deadline_ms = 0;
	told.stop_ms = told.not_before_ms = INT64_MAX;
	bill.expected_cost = -1;
	assert_null(json_get(json_object(status_of_one(&s), "bill"), "expectedCost"));
	bill.priced = false;
	const cJSON *status = status_of_one(&s);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		assert_null(json_get(status, keys[i]));
	stage_close(&s);
	has_told = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_queuedjobs_are_known),
		cmocka_unit_test(other_paths_are_not),
		cmocka_unit_test(selectors_and_pages_are_taken_apart),
		cmocka_unit_test(a_value_may_have_what_separates_values),
		cmocka_unit_test(a_table_is_given_to_those_that_ask_for_one),
		cmocka_unit_test(a_form_that_is_not_served_is_not_another_one),
		cmocka_unit_test(what_makes_no_sense_is_refused_with_its_name),
		cmocka_unit_test(a_list_is_in_the_order_of_the_queue),
		cmocka_unit_test(jobs_that_can_never_start_have_no_position_and_are_ahead_of_none),
		cmocka_unit_test(pages_are_of_one_list),
		cmocka_unit_test(a_list_has_what_was_asked_for),
		cmocka_unit_test(those_in_trouble_are_found),
		cmocka_unit_test(what_keeps_pods_is_told_in_the_table),
		cmocka_unit_test(a_job_that_is_deferred_is_listed),
		cmocka_unit_test(a_table_has_a_cell_for_each_column),
		cmocka_unit_test(events_are_lines_of_json),
		cmocka_unit_test(bookmarks_are_lines_of_json),
		cmocka_unit_test(one_that_leaves_the_selection_is_told_as_it_is),
		cmocka_unit_test(one_job_is_told_whole_or_not_at_all),
		cmocka_unit_test(one_job_has_news_when_it_changes_or_a_minute_is_over),
		cmocka_unit_test(a_start_is_told_as_it_was_foretold),
		cmocka_unit_test(who_watches_is_told_of_a_start_that_has_moved),
		cmocka_unit_test(one_that_waits_for_jobs_says_for_which),
		cmocka_unit_test(documents_are_json_and_name_the_resource),
		cmocka_unit_test(time_and_money_are_explained),
		cmocka_unit_test(what_is_not_known_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
