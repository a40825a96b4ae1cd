/*
 * What the containers of a Job ask for, through its starts and stops and what its owner edits in
 * between: each row is the story of one Job. The patches are ours and are applied as the API server
 * does; in which room the Job is let in is the test's.
 */
#include "wire.h"

#include "base/must.h"
#include "base/json.h"
#include "controller/wire/decode.h"
#include "controller/wire/patch.h"
#include "json_patch.h"

#define UID_TEXT "123e4567-e89b-12d3-a456-426614174000"

static enum lending room; /* in which a start lets it in */
static bool kubelet;	  /* which wants kubelets to limit its pods */

/* ---- One Job ---------------------------------------------------------------------------------
 */

static struct start_template template_in(const struct job *j)
{
	return (struct start_template){.own = {"{}", "[]"},
		.run = {"{\"pool\":\"x\"}", "[]"},
		.resources = j->resources,
		.lending = room,
		.kubelet_limits = kubelet};
}

static cJSON *copy_of(const char *text)
{
	return cJSON_Duplicate(parsed(text), true);
}

static cJSON *down(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

static cJSON *template_of(const cJSON *o)
{
	return down(down(o, "spec"), "template");
}

static cJSON *make_job(const char *template)
{
	struct buf b;
	buf_init(&b, 100000);
	buf_puts(&b, "{'metadata':{'name':'train','namespace':'team-a','uid':'" UID_TEXT "',"
		     "'generation':3,'labels':{'sluice.dev/queue-name':'main'},"
		     "'annotations':{'sluice.dev/preemptible':'true'}},");
	buf_printf(&b, "'spec':{'suspend':true,'template':%s}}", template);
	cJSON *o = copy_of(buf_text(&b));
	buf_done(&b);
	/* The Job controller's labels are always there. */
	cJSON *t = template_of(o);
	if (!down(t, "metadata"))
		cJSON_AddObjectToObject(t, "metadata");
	if (!down(down(t, "metadata"), "labels"))
		cJSON_AddObjectToObject(down(t, "metadata"), "labels");
	return o;
}

/* The API server writes 5000 as 5k. */
static void make_canonical(cJSON *container)
{
	static const char *const maps[] = {"requests", "limits"};
	for (int i = 0; i < 2; i++) {
		cJSON *cpu = down(
			down(down(container, "resources"), maps[i]), "kubernetes.io/batch-cpu");
		char text[40];
		if (!cpu || !cJSON_IsString(cpu) || strchr(cpu->valuestring, 'k') ||
			atoll(cpu->valuestring) % 1000 != 0)
			continue;
		snprintf(text, sizeof(text), "%lldk", atoll(cpu->valuestring) / 1000);
		cJSON_SetValuestring(cpu, text);
	}
}

static cJSON *patched(const cJSON *o, const cJSON *patch)
{
	cJSON *next = apply_patch(o, patch);
	if (!next)
		return NULL;
	for (cJSON *c = down(down(template_of(next), "spec"), "containers")->child; c; c = c->next)
		make_canonical(c);
	return next;
}

static struct job *decode(const cJSON *o)
{
	struct job *j = NULL;
	struct err e = {""};
	if (decode_job(o, NULL, &j, &e) < 0)
		fail_msg("%s", e.text);
	return j;
}

/* Has the start or the stop of it done; the object that was is gone. */
static cJSON *told(cJSON *o, enum intent_kind kind)
{
	struct buf b;
	struct job *j = decode(o);
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
			.by = "me"},
		.template = template_in(j)};
	if (kind == INTENT_START && j->invalid)
		fail_msg("%s", j->invalid);
	buf_init(&b, PATCH_MAX_BYTES);
	patch_render(&i, &b);
	assert_false(b.failed);
	cJSON *patch = cJSON_Parse(buf_text(&b));
	cJSON *next = patched(o, patch);
	if (!next)
		fail_msg("%s", buf_text(&b));
	buf_done(&b);
	cJSON_Delete(patch);
	cJSON_Delete(o);
	free(j);
	return next;
}

static cJSON *edited(cJSON *o, const char *patch)
{
	cJSON *next = patched(o, parsed(patch));
	if (!next)
		fail_msg("%s", patch);
	cJSON_Delete(o);
	return next;
}

static const char *shown(const cJSON *o)
{
	static struct buf b;
	buf_done(&b);
	buf_init(&b, 1 << 20);
	json_print(&b, o);
	return buf_text(&b);
}

/* "cpu 500m/1, memory 1Gi; ..." of what a template asks for, by name: requests, and limits after a
 * slash where they differ; a semicolon between containers. And its label. */
static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void put_amounts(struct buf *out, const cJSON *container)
{
	char all[8][100];
	size_t n = 0;
	const cJSON *requests = down(down(container, "resources"), "requests");
	const cJSON *limits = down(down(container, "resources"), "limits");
	json_each(r, requests) {
		const cJSON *l = down(limits, r->string);
		const char *slash = strrchr(r->string, '/');
		bool same = l && strcmp(l->valuestring, r->valuestring) == 0;
		assert_true(n < 8);
		snprintf(all[n++], sizeof(all[0]), "%s %s%s%s", slash ? slash + 1 : r->string,
			r->valuestring, same ? "" : "/",
			same ? ""
			: l  ? l->valuestring
			     : "-");
	}
	json_each(r, limits) {
		assert_true(n < 8);
		if (!down(requests, r->string))
			snprintf(all[n++], sizeof(all[0]), "%s -/%s", r->string, r->valuestring);
	}
	qsort(all, n, sizeof(all[0]), by_text);
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", all[i]);
}

static void say(const cJSON *template, struct buf *out)
{
	static const char *const lists[] = {"containers", "initContainers"};
	for (int i = 0; i < 2; i++) {
		json_each(c, down(down(template, "spec"), lists[i])) {
			buf_puts(out, out->len ? "; " : "");
			put_amounts(out, c);
		}
	}
	const cJSON *label =
		down(down(down(template, "metadata"), "labels"), "koordinator.sh/qosClass");
	if (label)
		buf_printf(out, " (%s)", label->valuestring);
}

/* ---- Stories ---------------------------------------------------------------------------------
 */

#define C(amounts) "{'name':'c','resources':{'requests':{" amounts "}}}"
#define POD(containers) "{'spec':{'containers':[" containers "]}}"
#define ONE POD(C("'cpu':'500m','memory':'1Gi'"))
#define RESOURCES "'path':'/spec/template/spec/containers/0/resources"
#define SET(what, value) "[{'op':'add'," RESOURCES what "','value':" value "}]"

/* What happens: N, B, G: it is started, in ordinary room, in batch's, in gocran's (and stopped
 * before that); K, H: in batch's and in gocran's where kubelets limit pods; E: its owner edits
 * it. */
static const struct row {
	const char *name, *template, *edit, *what;
	const char *says;  /* of the template in the end */
	const char *owner; /* what is taken for its owner's then; NULL: the template as made */
} rows[] = {
	{"ordinary room leaves it", ONE, NULL, "N", "cpu 500m/-, memory 1Gi/-", NULL},
	{"idle room", ONE, NULL, "B", "batch-cpu 500, batch-memory 1073741824 (BE)", NULL},
	{"idle, ordinary", ONE, NULL, "BN", "cpu 500m/-, memory 1Gi/-", NULL},
	{"idle, ordinary, idle", ONE, NULL, "BNB", "batch-cpu 500, batch-memory 1073741824 (BE)",
		NULL},
	{"idle, idle", ONE, NULL, "BB", "batch-cpu 500, batch-memory 1073741824 (BE)", NULL},
	{"the other names", POD(C("'cpu':'2','memory':'1Gi'")), NULL, "BG",
		"cpu 2, memory 1073741824 (BE)", NULL},
	{"and back", POD(C("'cpu':'2','memory':'1Gi'")), NULL, "GBN", "cpu 2/-, memory 1Gi/-",
		NULL},
	{"as the API server writes it", POD(C("'cpu':'2'")), NULL, "BN", "cpu 2/-", NULL},
	{"only what is there", POD(C("'memory':'1Gi'")), NULL, "B", "batch-memory 1073741824 (BE)",
		NULL},
	{"limits become the requests",
		POD("{'name':'c','resources':{'requests':{'cpu':'1'},'limits':{'cpu':'4',"
		    "'memory':'2Gi'}}}"),
		NULL, "B", "batch-cpu 1k, batch-memory 2147483648 (BE)", NULL},
	{"and come back",
		POD("{'name':'c','resources':{'requests':{'cpu':'1'},'limits':{'cpu':'4',"
		    "'memory':'2Gi'}}}"),
		NULL, "BN", "cpu 1/4, memory -/2Gi", NULL},
	{"a GPU stays", POD(C("'cpu':'1','nvidia.com/gpu':'1'")), NULL, "B",
		"batch-cpu 1k, gpu 1/- (BE)", NULL},
	{"each container on its own",
		"{'spec':{'containers':[" C("'cpu':'1'") ",{'name':'d','resources':{'requests':"
							 "{'memory':'1k'}}}],"
							 "'initContainers':[{'name':'i',"
							 "'resources':{'requests':{'cpu':"
							 "'300m'}}},{'name':'k'}]}}",
		NULL, "B", "batch-cpu 1k; batch-memory 1000; batch-cpu 300;  (BE)", NULL},
	{"each container back",
		"{'spec':{'containers':[" C("'cpu':'1'") ",{'name':'d','resources':{'requests':"
							 "{'memory':'1k'}}}],"
							 "'initContainers':[{'name':'i',"
							 "'resources':{'requests':{'cpu':"
							 "'300m'}}},{'name':'k'}]}}",
		NULL, "BN", "cpu 1/-; memory 1k/-; cpu 300m/-; ", NULL},
	{"its own label comes back",
		"{'metadata':{'labels':{'koordinator.sh/qosClass':'LS'}},'spec':{'containers':[" C(
			"'cpu':'1'") "]}}",
		NULL, "BN", "cpu 1/- (LS)", NULL},

	{"who asks for batch is given the label",
		POD("{'name':'c','resources':{'requests':{'kubernetes.io/batch-cpu':'1k'},"
		    "'limits':{'kubernetes.io/batch-cpu':'1k'}}}"),
		NULL, "B", "batch-cpu 1k (BE)", NULL},
	{"in whatever flavor",
		POD("{'name':'c','resources':{'requests':{'gocran.io/cpu':'1'},"
		    "'limits':{'gocran.io/cpu':'1'}}}"),
		NULL, "N", "cpu 1 (BE)", NULL},
	{"the first protocol",
		POD("{'name':'c','resources':{'requests':{'alibabacloud.com/reclaimed-cpu':'1k'},"
		    "'limits':{'alibabacloud.com/reclaimed-cpu':'1k'}}}"),
		NULL, "B", "batch-cpu 1k (BE)", NULL},
	{"the first protocol, again",
		POD("{'name':'c','resources':{'requests':{'alibabacloud.com/reclaimed':'1k'},"
		    "'limits':{'alibabacloud.com/reclaimed':'1k'}}}"),
		NULL, "BB", "batch-cpu 1k (BE)", NULL},

	{"its owner wants more, before the first start", ONE, SET("/requests/cpu", "'2'"), "EB",
		"batch-cpu 2k, batch-memory 1073741824 (BE)", "cpu 2/-, memory 1Gi/-"},
	{"its owner wants more, after an ordinary run", ONE, SET("/requests/cpu", "'2'"), "NEN",
		"cpu 2/-, memory 1Gi/-", "cpu 2/-, memory 1Gi/-"},
	/* kubectl apply of its manifest adds what was taken away. */
	{"applied again", ONE, SET("/requests/cpu", "'500m'"), "BEN", "cpu 500m/-, memory 1Gi/-",
		"cpu 500m/-, memory 1Gi/-"},
	{"applied with more", ONE, SET("/requests/cpu", "'2'"), "BEN", "cpu 2/-, memory 1Gi/-",
		"cpu 2/-, memory 1Gi/-"},
	{"applied with more, for idle room", ONE, SET("/requests/cpu", "'2'"), "BEB",
		"batch-cpu 2k, batch-memory 1073741824 (BE)", "cpu 2/-, memory 1Gi/-"},
	{"replaced", ONE, SET("", "{'requests':{'cpu':'3'}}"), "BEN", "cpu 3/-", "cpu 3/-"},
	{"asks for nothing lent any more, and a GPU", ONE, SET("/requests/nvidia.com~1gpu", "'1'"),
		"BEN", "cpu 500m/-, gpu 1/-, memory 1Gi/-", "cpu 500m/-, gpu 1/-, memory 1Gi/-"},
	{"a container of another name", ONE,
		"[{'op':'add','path':'/spec/template/spec/containers/0/name','value':'d'},"
		"{'op':'add'," RESOURCES "','value':{'requests':{'cpu':'3'}}}]",
		"BEN", "cpu 3/-", "cpu 3/-"},
	/* Whoever writes lent names of his own means them. */
	{"more of what is lent", ONE,
		SET("", "{'requests':{'kubernetes.io/batch-cpu':'2k'},'limits':{"
			"'kubernetes.io/batch-cpu':'2k'}}"),
		"BEB", "batch-cpu 2k (BE)", "batch-cpu 2k (BE)"},
	{"the label by hand", ONE,
		"[{'op':'add','path':'/spec/template/metadata/labels/koordinator.sh~1qosClass',"
		"'value':'LS'}]",
		"BEN", "cpu 500m/-, memory 1Gi/- (LS)", "cpu 500m/-, memory 1Gi/- (LS)"},
	/* With limits for its kubelet. */
	{"limited by its kubelet", ONE, NULL, "K",
		"batch-cpu 500, batch-memory 1073741824, cpu 0/500m, memory 0/1073741824 (BE)",
		NULL},
	{"... under the other names", POD(C("'cpu':'2','memory':'1Gi'")), NULL, "H",
		"cpu 0/2000m, cpu 2, memory 0/1073741824, memory 1073741824 (BE)", NULL},
	{"... only what is there", POD(C("'memory':'1Gi'")), NULL, "K",
		"batch-memory 1073741824, memory 0/1073741824 (BE)", NULL},
	{"... nothing of what is not asked for", POD(C("'cpu':'0','memory':'1Gi'")), NULL, "K",
		"batch-cpu 0k, batch-memory 1073741824, memory 0/1073741824 (BE)", NULL},
	{"... and ordinary room", ONE, NULL, "KN", "cpu 500m/-, memory 1Gi/-", NULL},
	{"... limits of its owner come back",
		POD("{'name':'c','resources':{'requests':{'cpu':'1'},'limits':{'cpu':'4',"
		    "'memory':'2Gi'}}}"),
		NULL, "KN", "cpu 1/4, memory -/2Gi", NULL},
	{"... and other idle room", ONE, NULL, "KB", "batch-cpu 500, batch-memory 1073741824 (BE)",
		NULL},
	{"... each container on its own",
		"{'spec':{'containers':[" C("'cpu':'1'") ",{'name':'d','resources':{'requests':"
							 "{'memory':'1k'}}}]}}",
		NULL, "K", "batch-cpu 1k, cpu 0/1000m; batch-memory 1000, memory 0/1000 (BE)",
		NULL},
	{"... who asks for batch itself",
		POD("{'name':'c','resources':{'requests':{'kubernetes.io/batch-cpu':'1k'},"
		    "'limits':{'kubernetes.io/batch-cpu':'1k'}}}"),
		NULL, "K", "batch-cpu 1k, cpu 0/1000m (BE)", NULL},
	{"... and somewhere else then",
		POD("{'name':'c','resources':{'requests':{'kubernetes.io/batch-cpu':'1k'},"
		    "'limits':{'kubernetes.io/batch-cpu':'1k'}}}"),
		NULL, "KB", "batch-cpu 1k (BE)", NULL},
	{"... who says limits alone",
		POD("{'name':'c','resources':{'limits':{'kubernetes.io/batch-cpu':'1500'}}}"), NULL,
		"K", "cpu 0/1500m, kubernetes.io/batch-cpu -/1500 (BE)", NULL},
	{"... and back to those",
		POD("{'name':'c','resources':{'limits':{'kubernetes.io/batch-cpu':'1500'}}}"), NULL,
		"KB", "kubernetes.io/batch-cpu -/1500 (BE)", NULL},
	{"... the first protocol",
		POD("{'name':'c','resources':{'requests':{'alibabacloud.com/reclaimed-cpu':'1k'},"
		    "'limits':{'alibabacloud.com/reclaimed-cpu':'1k'}}}"),
		NULL, "K", "batch-cpu 1k, cpu 0/1000m (BE)", NULL},
	{"... applied again", ONE, SET("/requests/cpu", "'500m'"), "KEN",
		"cpu 500m/-, memory 1Gi/-", "cpu 500m/-, memory 1Gi/-"},
	{"... applied with more", ONE, SET("/requests/cpu", "'2'"), "KEK",
		"batch-cpu 2k, batch-memory 1073741824, cpu 0/2000m, memory 0/1073741824 (BE)",
		"cpu 2/-, memory 1Gi/-"},
	{"... replaced", ONE, SET("", "{'requests':{'cpu':'3'}}"), "KEN", "cpu 3/-", "cpu 3/-"},
	{"not preemptible any more", ONE,
		"[{'op':'add','path':'/metadata/annotations/sluice.dev~1preemptible',"
		"'value':'false'}]",
		"BEN", "cpu 500m/-, memory 1Gi/-", NULL},
};

static enum lending room_of(char what)
{
	return what == 'B' || what == 'K'   ? LENDING_BATCH
	       : what == 'G' || what == 'H' ? LENDING_GOCRAN
					    : LENDING_NONE;
}

static void check_owner(const struct row *r, const cJSON *o, const char *made)
{
	struct job *j = decode(o);
	struct buf b;
	buf_init(&b, 100000);
	cJSON *text = cJSON_Parse(j->resources);
	must(text);
	/* As a template, to be said like one. */
	cJSON *spec = cJSON_Duplicate(text, true);
	cJSON *template = cJSON_CreateObject();
	cJSON_AddItemToObject(template, "spec", spec);
	const cJSON *qos = down(text, "qosClass");
	cJSON *labels =
		cJSON_AddObjectToObject(cJSON_AddObjectToObject(template, "metadata"), "labels");
	if (qos)
		cJSON_AddStringToObject(labels, "koordinator.sh/qosClass", qos->valuestring);
	say(template, &b);
	if (strcmp(buf_text(&b), r->owner ? r->owner : made) != 0)
		fail_msg("%s: taken for its owner's: %s", r->name, buf_text(&b));
	buf_done(&b);
	cJSON_Delete(template);
	cJSON_Delete(text);
	free(j);
}

static void the_stories_of_jobs(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(*rows); n++) {
		const struct row *r = &rows[n];
		struct buf made, is;
		cJSON *o = make_job(r->template);
		buf_init(&made, 100000);
		buf_init(&is, 100000);
		say(template_of(o), &made);
		bool runs = false;
		for (const char *w = r->what; *w; w++) {
			if (runs)
				o = told(o, INTENT_STOP);
			runs = *w != 'E';
			if (*w == 'E') {
				o = edited(o, r->edit);
				continue;
			}
			room = room_of(*w);
			kubelet = *w == 'K' || *w == 'H';
			o = told(o, INTENT_START);
			if (w[1])
				continue;
		}
		say(template_of(o), &is);
		if (strcmp(buf_text(&is), r->says) != 0)
			fail_msg("%s: %s\n%s", r->name, buf_text(&is), shown(o));
		/* Running, stopped, and after an edit of no concern: its owner's are still known.
		 */
		check_owner(r, o, buf_text(&made));
		o = told(o, INTENT_STOP);
		check_owner(r, o, buf_text(&made));
		o = edited(
			o, "[{'op':'add','path':'/spec/template/spec/nodeSelector','value':{}}]");
		check_owner(r, o, buf_text(&made));
		buf_done(&made);
		buf_done(&is);
		cJSON_Delete(o);
	}
}

/* What the queue is told while it runs under other names is what its owner wrote. */
static void what_runs_asks_for_what_its_owner_wrote(void **state)
{
	(void)state;
	cJSON *o = make_job(
		"{'spec':{'containers':[" C("'cpu':'1'") "],'initContainers':[{'name':"
							 "'i','restartPolicy':'Always','resources':"
							 "{'requests':{'cpu':'1'}}}]}}");
	room = LENDING_BATCH;
	o = told(o, INTENT_START);
	struct job *j = decode(o);
	struct resource all[4];
	assert_int_equal(pod_requests(&j->pod, all, 4), 1);
	assert_string_equal(all[0].name, "cpu");
	assert_int_equal(all[0].amount, 2000); /* of which one is a sidecar's */
	assert_null(j->invalid);
	assert_int_equal(j->lending, 1 << LENDING_NONE | 1 << LENDING_BATCH | 1 << LENDING_GOCRAN);
	free(j);
	cJSON_Delete(o);
}

/* A Job that never had to do with idle room is written as ever. */
static void others_are_left_alone(void **state)
{
	(void)state;
	room = LENDING_NONE;
	struct job plain = {.queue = "", .ns = "a", .name = "b"};
	struct intent i = {.kind = INTENT_START,
		.story = {.clusterqueue = "", .reason = "", .by = ""},
		.template = template_in(&plain)};
	struct buf b;
	buf_init(&b, PATCH_MAX_BYTES);
	patch_render(&i, &b);
	assert_false(b.failed);
	assert_null(strstr(buf_text(&b), "resources"));
	assert_null(strstr(buf_text(&b), "qosClass"));
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stories_of_jobs),
		cmocka_unit_test(what_runs_asks_for_what_its_owner_wrote),
		cmocka_unit_test(others_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
