/*
 * What flavors and queues add to the pod template, through starts and stops and what its owner
 * edits in between. Objects are read by the decoders, joined by the queue, written by the patch,
 * applied as the API server does, and read again.
 */
#include "wire.h"

#include "controller/wire/decode.h"
#include "controller/wire/patch.h"
#include "json_patch.h"
#include "sluice/keys.h"
#include "queue/cluster/pod.h"

#define UID_TEXT "123e4567-e89b-12d3-a456-426614174000"
#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution'"
#define PREFERRED "'preferredDuringSchedulingIgnoredDuringExecution'"
#define ZONE(z) "{'matchExpressions':[{'key':'zone','operator':'In','values':['" z "']}]}"

static struct queue *q;

/* ---- objects --------------------------------------------------------------------------------- */

static cJSON *down(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

static const cJSON *template_of(const cJSON *o)
{
	return down(down(o, "spec"), "template");
}

static void tell_flavor(const char *name, const char *spec)
{
	struct flavor_spec *s = NULL;
	struct err e = {""};
	struct buf b;
	buf_init(&b, 100000);
	buf_printf(&b, "{'metadata':{'name':'%s'},'spec':%s}", name, spec);
	if (decode_flavor(parsed(buf_text(&b)), &s, &e) < 0)
		fail_msg("%s", e.text);
	queue_set_flavor(q, s, NULL);
	free(s);
	buf_done(&b);
}

/* Only that flavor has room. */
static void tell_queue(const char *flavor, const char *template)
{
	struct clusterqueue_spec *s = NULL;
	struct err e = {""};
	struct buf b;
	buf_init(&b, 100000);
	buf_printf(&b,
		"{'metadata':{'name':'batch'},'spec':{'namespaceSelector':{},'podTemplate':%s,'resourceGroups':[{"
		"'coveredResources':['cpu'],'flavors':[{'name':'%s','resources':[{'name':'cpu','nominalQuota':1}]}]}]}}",
		template, flavor);
	if (decode_clusterqueue(parsed(buf_text(&b)), &s, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(queue_set_clusterqueue(q, s, &e), 0);
	free(s);
	buf_done(&b);
}

static void tell_localqueue(const char *template)
{
	struct localqueue_spec *s = NULL;
	struct err e = {""};
	struct buf b;
	buf_init(&b, 100000);
	buf_printf(&b,
		"{'metadata':{'name':'main','namespace':'team-a'},'spec':{'clusterQueue':'batch','podTemplate':%s}}",
		template);
	if (decode_localqueue(parsed(buf_text(&b)), &s, &e) < 0)
		fail_msg("%s", e.text);
	queue_set_localqueue(q, s, NULL);
	free(s);
	buf_done(&b);
}

static void setup(void)
{
	q = queue_new();
	queue_set_namespace(q, &(struct namespace_spec){"team-a", NULL, 0});
	tell_flavor("plain", "{'nodeLabels':{'pool':'on-demand'}}");
	tell_flavor("spot",
		"{'nodeLabels':{'pool':'spot'},'podTemplate':{'labels':{'mesh':'on','tier':'spot'},"
		"'annotations':{'example.com/cost':'low'},'nodeSelector':{'disk':'ssd'},"
		"'tolerations':[{'key':'spot','operator':'Exists'}],'nodeAffinity':{" PREFERRED
		":[{'weight':10,'preference':" ZONE("b") "}]}}}");
	tell_flavor("zoned", "{'podTemplate':{'labels':{'mesh':'off'},'nodeAffinity':{" REQUIRED
			     ":{'nodeSelectorTerms':[" ZONE("b") "]}}}}");
	tell_queue("plain", "{}");
	tell_localqueue("{}");
}

/* ---- one Job --------------------------------------------------------------------------------- */

/* labels: of the template, beside the API server's. */
static cJSON *make_job(const char *labels, const char *annotations, const char *pod)
{
	struct buf b;
	buf_init(&b, 100000);
	buf_puts(&b,
		"{'metadata':{'name':'train','namespace':'team-a','uid':'" UID_TEXT "',"
		"'generation':3,'labels':{'sluice.dev/queue-name':'main'}},'spec':{'suspend':true,"
		"'template':{'metadata':{'labels':{'batch.kubernetes.io/job-name':'train'");
	buf_printf(&b, "%s}%s},'spec':{%s'containers':[{'resources':{'requests':{'cpu':'1'}}}]}}}}",
		labels, annotations, pod);
	cJSON *o = cJSON_Duplicate(parsed(buf_text(&b)), true);
	buf_done(&b);
	return o;
}

static struct job *decode(const cJSON *o)
{
	struct job *j = NULL;
	struct err e = {""};
	if (decode_job(o, NULL, &j, &e) < 0)
		fail_msg("%s", e.text);
	if (j->invalid)
		fail_msg("%s", j->invalid);
	return j;
}

static void init_text(struct directives_text *t)
{
	buf_init(&t->node_selector, PATCH_MAX_BYTES);
	buf_init(&t->tolerations, PATCH_MAX_BYTES);
	buf_init(&t->node_affinity, PATCH_MAX_BYTES);
}

static struct template_directives texts_of(const struct directives_text *t)
{
	return (struct template_directives){buf_text(&t->node_selector), buf_text(&t->tolerations),
		buf_text(&t->node_affinity)};
}

static void done_text(struct directives_text *t)
{
	buf_done(&t->node_selector);
	buf_done(&t->tolerations);
	buf_done(&t->node_affinity);
}

/* The body of a start or a stop, as the gate would have it sent. */
static void render(const struct job *j, enum intent_kind kind, struct buf *out)
{
	struct directives_text own, run;
	struct arena edit = {0};
	struct intent i = {.kind = kind,
		.uid = j->uid,
		.generation = j->generation,
		.queue = j->queue,
		.story_before = j->admission.story,
		.has_annotations = j->annotations.present,
		.story = {.state = kind == INTENT_START ? STORY_STARTED : STORY_STOPPED,
			.attempt = j->admission.attempt + (kind == INTENT_START),
			.clusterqueue = "batch",
			.reason = "",
			.by = "me"}};
	init_text(&own);
	init_text(&run);
	queue_job_own_directives(q, &j->uid, &own);
	assert_true(queue_job_directives(q, &j->uid, &run));
	queue_job_template_edit(q, &j->uid, &edit, &i.template.edit);
	i.template.own = texts_of(&own);
	i.template.run = texts_of(&run);
	patch_render(&i, out);
	assert_false(out->failed);
	arena_done(&edit);
	done_text(&own);
	done_text(&run);
}

/* The object that was is gone. */
static cJSON *done(cJSON *o, enum intent_kind kind)
{
	struct job *j = decode(o);
	struct buf b;
	if (kind == INTENT_START) {
		struct decision d;
		int64_t next;
		queue_set_job(q, j);
		assert_int_equal(queue_decide(q, 1000, &d, 1, &next), 1);
		assert_int_equal(d.kind, DECISION_START);
	}
	buf_init(&b, PATCH_MAX_BYTES);
	render(j, kind, &b);
	cJSON *patch = cJSON_Parse(buf_text(&b)), *next = apply_patch(o, patch);
	if (!next)
		fail_msg("%s", buf_text(&b));
	if (kind == INTENT_STOP)
		queue_drop_job(q, &j->uid);
	buf_done(&b);
	cJSON_Delete(patch);
	cJSON_Delete(o);
	free(j);
	return next;
}

static cJSON *edited(cJSON *o, const char *patch)
{
	cJSON *next = apply_patch(o, parsed(patch));
	if (!next)
		fail_msg("%s", patch);
	cJSON_Delete(o);
	return next;
}

/* The template, without what no flavor has to do with; ' for ". */
static void expect(const cJSON *o, const char *labels, const char *annotations, const char *spec)
{
	const cJSON *t = template_of(o), *meta = down(t, "metadata");
	const char *const wanted[] = {labels, annotations, spec};
	cJSON *got[] = {cJSON_Duplicate(down(meta, "labels"), true),
		cJSON_Duplicate(down(meta, "annotations"), true),
		cJSON_Duplicate(down(t, "spec"), true)};
	cJSON_DeleteItemFromObjectCaseSensitive(got[0], "batch.kubernetes.io/job-name");
	cJSON_DeleteItemFromObjectCaseSensitive(got[0], CLUSTERQUEUE_LABEL);
	cJSON_DeleteItemFromObjectCaseSensitive(got[2], "containers");
	if (!got[1])
		got[1] = cJSON_CreateObject(); /* as the API server has an empty map */
	for (size_t i = 0; i < 3; i++) {
		char *text = cJSON_PrintUnformatted(got[i]);
		if (!cJSON_Compare(got[i], parsed(wanted[i]), true))
			fail_msg("%s, not %s", text, wanted[i]);
		free(text);
		cJSON_Delete(got[i]);
	}
}

#define LIKES_B "{" PREFERRED ":[{'weight':10,'preference':" ZONE("b") "}]}"
#define SPOT_POD                                                                                   \
	"'nodeSelector':{'disk':'ssd','pool':'spot'},'tolerations':[{'key':'spot','operator':'Exists'}]"

/* ---- the rows -------------------------------------------------------------------------------- */

static void it_carries_exactly_that_and_then_nothing_of_it(void **state)
{
	(void)state;
	setup();
	cJSON *o = make_job(",'app':'x'", "", "");
	tell_queue("spot", "{'labels':{'cost':'17','tier':'cq'}}");
	tell_localqueue(
		"{'labels':{'tier':'lq','mesh':'lq','own':'lq'},'annotations':{'team':'a'}}");
	o = done(o, INTENT_START);
	expect(o, "{'app':'x','mesh':'on','tier':'cq','own':'lq','cost':'17'}",
		"{'example.com/cost':'low','team':'a'}",
		"{" SPOT_POD ",'affinity':{'nodeAffinity':" LIKES_B "}}");
	/* What is known of the run is what its owner wrote. */
	struct job *j = decode(o);
	assert_int_equal(j->metadata.labels.nown, 1);
	assert_int_equal(j->placement.npreferred + j->placement.nnode_selector, 0);
	assert_false(j->placement.has_affinity);
	assert_int_equal(j->template->nlabels, 2 + 1); /* Kubernetes' and ours are no flavor's */
	assert_int_equal(j->nadded_labels, 4);
	for (size_t i = 0; i < 4; i++)
		if (strcmp(j->added_labels[i].key, "tier") == 0)
			assert_string_equal(j->added_labels[i].value, "cq");
	free(j);
	o = done(o, INTENT_STOP);
	tell_queue("zoned", "{}");
	tell_localqueue("{}");
	o = done(o, INTENT_START);
	expect(o, "{'app':'x','mesh':'off'}", "{}",
		"{'nodeSelector':{},'tolerations':[],'affinity':{'nodeAffinity':{" REQUIRED
		":{'nodeSelectorTerms':[" ZONE("b") "]}}}}");
	o = done(o, INTENT_STOP);
	tell_queue("plain", "{}");
	o = done(o, INTENT_START);
	expect(o, "{'app':'x'}", "{}", "{'nodeSelector':{'pool':'on-demand'},'tolerations':[]}");
	cJSON_Delete(o);
	queue_free(q);
}

static void its_owner_wins(void **state)
{
	(void)state;
	setup();
	cJSON *o = make_job(",'mesh':'mine'", ",'annotations':{'team':'mine'}",
		"'nodeSelector':{'disk':'hdd'},'tolerations':[{'key':'spot','operator':'Exists',"
		"'effect':'NoExecute','tolerationSeconds':5}],'affinity':{'nodeAffinity':{" REQUIRED
		":{'nodeSelectorTerms':[" ZONE("c") "]}},'podAffinity':{}},");
	tell_queue("spot", "{}");
	tell_localqueue("{'annotations':{'team':'a','note':'b'}}");
	o = done(o, INTENT_START);
	expect(o, "{'mesh':'mine','tier':'spot'}",
		"{'team':'mine','note':'b','example.com/cost':'low'}",
		"{'nodeSelector':{'disk':'hdd','pool':'spot'},'tolerations':[{'key':'spot','operator':'Exists',"
		"'effect':'NoExecute','tolerationSeconds':5}],'affinity':{'podAffinity':{},'nodeAffinity':{" REQUIRED
		":{'nodeSelectorTerms':[" ZONE(
			"c") "]}," PREFERRED ":[{'weight':10,'preference':" ZONE("b") "}]}}}");
	o = done(o, INTENT_STOP);
	tell_queue("plain", "{}");
	tell_localqueue("{}");
	o = done(o, INTENT_START);
	expect(o, "{'mesh':'mine'}", "{'team':'mine'}",
		"{'nodeSelector':{'disk':'hdd','pool':'on-demand'},'tolerations':[{'key':'spot','operator':'Exists',"
		"'effect':'NoExecute','tolerationSeconds':5}],'affinity':{'podAffinity':{},'nodeAffinity':{" REQUIRED
		":{'nodeSelectorTerms':[" ZONE("c") "]}}}}");
	cJSON_Delete(o);
	queue_free(q);
}

/* What other parts of affinity there are stays; a node affinity that was made goes. */
static void other_affinity_stays(void **state)
{
	(void)state;
	setup();
	cJSON *o = make_job("", "", "'affinity':{'podAffinity':{}},");
	tell_queue("spot", "{}");
	o = done(o, INTENT_START);
	expect(o, "{'mesh':'on','tier':'spot'}", "{'example.com/cost':'low'}",
		"{" SPOT_POD ",'affinity':{'podAffinity':{},'nodeAffinity':" LIKES_B "}}");
	o = done(o, INTENT_STOP);
	tell_queue("plain", "{}");
	o = done(o, INTENT_START);
	expect(o, "{}", "{}",
		"{'affinity':{'podAffinity':{}},'nodeSelector':{'pool':'on-demand'},'tolerations':[]}");
	cJSON_Delete(o);
	queue_free(q);
}

/* While it is suspended its owner edits the template: what was edited is the owner's own. */
static void what_is_edited_in_between_is_its_owners(void **state)
{
	(void)state;
	setup();
	cJSON *o = make_job("", "", "");
	tell_queue("spot", "{}");
	o = done(done(o, INTENT_START), INTENT_STOP);
	o = edited(o,
		"[{'op':'replace','path':'/spec/template/metadata/labels/mesh','value':'mine'},"
		"{'op':'remove','path':'/spec/template/metadata/labels/tier'},"
		"{'op':'replace','path':'/spec/template/spec/affinity','value':{'nodeAffinity':{" REQUIRED
		":{'nodeSelectorTerms':[" ZONE("b") "]}}}}]");
	tell_queue("plain", "{}");
	o = done(o, INTENT_START);
	expect(o, "{'mesh':'mine'}", "{}",
		"{'nodeSelector':{'pool':'on-demand'},'tolerations':[],'affinity':{'nodeAffinity':{" REQUIRED
		":{'nodeSelectorTerms':[" ZONE("b") "]}}}}");
	cJSON_Delete(o);
	queue_free(q);
}

/* What comes off is what its start wrote, whatever has become of the flavor since. */
static void a_flavor_that_was_edited_or_deleted_takes_back_what_it_gave(void **state)
{
	(void)state;
	for (int how = 0; how < 2; how++) {
		setup();
		cJSON *o = make_job(",'app':'x'", "", "");
		tell_queue("spot", "{'labels':{'cost':'17'}}");
		o = done(o, INTENT_START);
		if (how == 0)
			tell_flavor("spot", "{'podTemplate':{'labels':{'tier':'new'}}}");
		else
			queue_drop_flavor(q, "spot");
		o = done(o, INTENT_STOP);
		tell_queue(how == 0 ? "spot" : "plain", "{}");
		o = done(o, INTENT_START);
		if (how == 0)
			expect(o, "{'app':'x','tier':'new'}", "{}",
				"{'nodeSelector':{},'tolerations':[]}");
		else
			expect(o, "{'app':'x'}", "{}",
				"{'nodeSelector':{'pool':'on-demand'},'tolerations':[]}");
		cJSON_Delete(o);
		queue_free(q);
	}
}

/* The same flavor again: nothing grows. */
static void three_starts_are_as_one(void **state)
{
	(void)state;
	setup();
	cJSON *o = make_job("", "",
		"'affinity':{'nodeAffinity':{" REQUIRED
		":{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
		"'operator':'In','values':['n']}]}]}}},");
	tell_queue("zoned", "{}");
	for (int i = 0; i < 3; i++) {
		o = done(o, INTENT_START);
		expect(o, "{'mesh':'off'}", "{}",
			"{'nodeSelector':{},'tolerations':[],'affinity':{'nodeAffinity':{" REQUIRED
			":{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone','operator':'In','values':['b']}],"
			"'matchFields':[{'key':'metadata.name','operator':'In','values':['n']}]}]}}}}");
		o = done(o, INTENT_STOP);
	}
	cJSON_Delete(o);
	queue_free(q);
}

/* Byte for byte what it was before there was a podTemplate. */
static void nothing_is_added_where_nothing_is_said(void **state)
{
	static const char expected[] =
		"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"" UID_TEXT "\"},"
		"{\"op\":\"test\",\"path\":\"/spec/suspend\",\"value\":true},"
		"{\"op\":\"test\",\"path\":\"/metadata/annotations\",\"value\":null},"
		"{\"op\":\"test\",\"path\":\"/metadata/generation\",\"value\":3},"
		"{\"op\":\"test\",\"path\":\"/metadata/labels/sluice.dev~1queue-name\",\"value\":\"main\"},"
		"{\"op\":\"add\",\"path\":\"/metadata/annotations\",\"value\":{}},"
		"{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":false},"
		"{\"op\":\"add\",\"path\":\"/spec/template/spec/nodeSelector\",\"value\":{\"disk\":\"hdd\",\"pool\":\"on-demand\"}},"
		"{\"op\":\"add\",\"path\":\"/spec/template/spec/tolerations\",\"value\":[]},"
		"{\"op\":\"add\",\"path\":\"/metadata/annotations/sluice.dev~1original-directives\",\"value\":"
		"\"{\\\"original\\\":{\\\"nodeSelector\\\":{\\\"disk\\\":\\\"hdd\\\"},\\\"tolerations\\\":[]},"
		"\\\"applied\\\":{\\\"nodeSelector\\\":{\\\"disk\\\":\\\"hdd\\\",\\\"pool\\\":\\\"on-demand\\\"},\\\"tolerations\\\":[]}}\"},"
		"{\"op\":\"add\",\"path\":\"/spec/template/metadata/labels/sluice.dev~1cluster-queue-name\",\"value\":\"batch\"},"
		"{\"op\":\"add\",\"path\":\"/metadata/annotations/sluice.dev~1admission\",\"value\":";
	struct decision d;
	struct buf b;
	int64_t next;
	(void)state;
	setup();
	cJSON *o = make_job(",'app':'x'", ",'annotations':{'a':'b'}",
		"'nodeSelector':{'disk':'hdd'},'affinity':{'nodeAffinity':{" REQUIRED
		":{'nodeSelectorTerms':[" ZONE("c") "]}}},");
	struct job *j = decode(o);
	queue_set_job(q, j);
	assert_int_equal(queue_decide(q, 1000, &d, 1, &next), 1);
	buf_init(&b, PATCH_MAX_BYTES);
	render(j, INTENT_START, &b);
	assert_true(b.len > sizeof(expected));
	b.ptr[sizeof(expected) - 1] = '\0';
	assert_string_equal(b.ptr, expected);
	buf_done(&b);
	free(j);
	cJSON_Delete(o);
	queue_free(q);
}

/* Preferences of a later version are left alone; what would have to be joined to them is not. */
static void what_is_not_understood_is_not_joined(void **state)
{
	struct decision d;
	int64_t next;
	struct explanation x;
	(void)state;
	setup();
	cJSON *o = make_job("", "",
		"'affinity':{'nodeAffinity':{" PREFERRED
		":[{'weight':1,'preference':{'matchExpressions':[{'key':'a','operator':'Near'}]}}]}},");
	struct job *j = decode(o);
	tell_queue("spot", "{}");
	queue_set_job(q, j);
	assert_int_equal(queue_decide(q, 1000, &d, 1, &next), 0);
	assert_true(queue_explain(q, &j->uid, 1000, &x));
	assert_string_equal(wait_reason_name(x.reason), "NoMatchingFlavor");
	assert_non_null(strstr(x.sentence,
		"spec.podTemplate of flavor spot adds to the Job's node affinity, in which there is something that this version of Sluice does not know"));
	tell_queue("plain", "{}");
	assert_int_equal(queue_decide(q, 1000, &d, 1, &next), 1);
	free(j);
	cJSON_Delete(o);
	queue_free(q);
}

/* Where no policy keeps its owner from writing the annotation: it costs no more than that. */
static void an_annotation_that_no_start_wrote_is_none(void **state)
{
	static const struct {
		int keys;
		size_t old;
	} cases[] = {{512, 512}, {513, 0}};
	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		cJSON *o = make_job("", "", "");
		cJSON *root = cJSON_Duplicate(
			parsed("{'original':{'nodeSelector':{},'tolerations':[]},"
			       "'applied':{'nodeSelector':{},'tolerations':[],'labels':{}}}"),
			true);
		cJSON *labels = down(down(template_of(o), "metadata"), "labels");
		for (int i = 0; i < cases[c].keys; i++) {
			char key[16];
			snprintf(key, sizeof(key), "k%d", i);
			cJSON_AddStringToObject(labels, key, "v");
			cJSON_AddStringToObject(down(down(root, "applied"), "labels"), key, "v");
		}
		char *text = cJSON_PrintUnformatted(root);
		cJSON *notes = cJSON_AddObjectToObject(down(o, "metadata"), "annotations");
		cJSON_AddStringToObject(notes, DIRECTIVES_ANNOTATION, text);
		struct job *j = decode(o);
		assert_int_equal(j->metadata.labels.nold, cases[c].old);
		assert_int_equal(j->metadata.labels.nown, (size_t)cases[c].keys - cases[c].old);
		free(j);
		free(text);
		cJSON_Delete(root);
		cJSON_Delete(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_carries_exactly_that_and_then_nothing_of_it),
		cmocka_unit_test(its_owner_wins),
		cmocka_unit_test(other_affinity_stays),
		cmocka_unit_test(what_is_edited_in_between_is_its_owners),
		cmocka_unit_test(a_flavor_that_was_edited_or_deleted_takes_back_what_it_gave),
		cmocka_unit_test(three_starts_are_as_one),
		cmocka_unit_test(nothing_is_added_where_nothing_is_said),
		cmocka_unit_test(what_is_not_understood_is_not_joined),
		cmocka_unit_test(an_annotation_that_no_start_wrote_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
