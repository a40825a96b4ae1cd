/* `sluice whatif`: where a value goes, what is sent of an object, and what is said of each answer. */
#include "test/unit/kube/test.h"

#include <time.h>

#include "cli/deployed.h"
#include "cli/import/accepted.h"
#include "cli/live_object.h"
#include "cli/whatif/changes.h"
#include "cli/whatif/object_path.h"
#include "cli/whatif/options.h"
#include "cli/whatif/report.h"
#include "test/unit/kube/scripted_server.h"

#define NOW_MS 1795694400000 /* Thursday, 2026-11-26T12:00:00Z */

#define CPU(quota) "{\"name\":\"cpu\",\"nominalQuota\":" quota "}"
#define MEMORY(quota) "{\"name\":\"memory\",\"nominalQuota\":\"" quota "\"}"
#define SPEC                                                                                        \
	"{\"cohortName\":\"research\",\"namespaceSelector\":{},\"podTemplate\":{\"labels\":"        \
	"{\"nominalQuota\":\"x\"}},\"resourceGroups\":[{\"coveredResources\":[\"cpu\",\"memory\"]," \
	"\"flavors\":[{\"name\":\"spot\",\"resources\":[" CPU("40") "," MEMORY(                     \
		"160Gi") "]},"                                                                      \
			 "{\"name\":\"on-demand\",\"resources\":[" CPU("8") "," MEMORY(             \
				 "32Gi") "]}]}]}"
#define BATCH                                                                                      \
	"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"ClusterQueue\",\"metadata\":"          \
	"{\"name\":\"batch\",\"uid\":\"u-1\",\"resourceVersion\":\"7\",\"managedFields\":[{}],"    \
	"\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":\"much\"}},"        \
	"\"spec\":" SPEC ",\"status\":{\"pendingWorkloads\":4}}"
#define PRICES                                                                                     \
	"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"PricePlan\",\"metadata\":{\"name\":"   \
	"\"power\"},\"spec\":{\"currency\":\"EUR\",\"base\":{\"cpu\":\"0.04\"},\"rates\":["        \
	"{\"calendar\":\"nights\",\"factor\":\"0.4\"}]}}"

static cJSON *tree_of(const char *text)
{
	struct json *json = json_new(1 << 20);
	const cJSON *root;
	assert_int_equal(json_parse(json, slice_of(text), &root, NULL), 0);
	cJSON *tree = cJSON_Duplicate(root, true);
	json_free(json);
	return tree;
}

/* ---- paths and values ---------------------------------------------------------------------------- */

#define SPOT_CPU "spec.resourceGroups[0].flavors[name=spot].resources[name=cpu].nominalQuota"

static const struct {
	const char *object, *path, *value;
	const char *place;	    /* NULL: it is refused */
	const char *before, *after; /* or what the refusal says, in before */
} paths[] = {
	{BATCH, "spec.cohortName", "other", "spec.cohortName", "\"research\"", "\"other\""},
	{BATCH, ".spec.cohortName", "other", "spec.cohortName", "\"research\"", "\"other\""},
	{BATCH, SPOT_CPU, "80", SPOT_CPU, "40", "80"},
	{BATCH, "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota", "80", SPOT_CPU, "40",
		"80"},
	{BATCH, "spec...[name=spot]...[name=cpu]...nominalQuota", "80", SPOT_CPU, "40", "80"},
	{BATCH, "spec\xE2\x80\xA6[name=spot]\xE2\x80\xA6[name=cpu].nominalQuota", "80", SPOT_CPU,
		"40", "80"},
	{BATCH, "...flavors[name='spot'].resources[name=\"cpu\"].nominalQuota", "80", SPOT_CPU,
		"40", "80"},
	{BATCH, "...flavors[name='spot'].resources[\"name\"=cpu]", "80", NULL,
		"a bracket in it is not closed", NULL},
	{BATCH, "spec...[name=spot].resources[name=memory].nominalQuota", "1Ti",
		"spec.resourceGroups[0].flavors[name=spot].resources[name=memory].nominalQuota",
		"\"160Gi\"", "\"1Ti\""},
	/* Not written yet, and its parents neither. */
	{BATCH, "spec.preemption.withinClusterQueue", "Never", "spec.preemption.withinClusterQueue",
		"", "\"Never\""},
	{BATCH, "spec...withinClusterQueue", "Never", "spec.preemption.withinClusterQueue", "",
		"\"Never\""},
	{BATCH, "spec.maxPriority", "-5", "spec.maxPriority", "", "-5"},
	{BATCH, "spec...[name=spot]...[name=cpu].borrowingLimit", "1.5",
		"spec.resourceGroups[0].flavors[name=spot].resources[name=cpu].borrowingLimit", "",
		"\"1.5\""},
	{BATCH, "spec.cohortName", "null", "spec.cohortName", "\"research\"", ""},
	{BATCH, "spec.resourceGroups[0].flavors[name=spot]", "null",
		"spec.resourceGroups[0].flavors[name=spot]",
		"{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":40},{\"name\":\"memory\",\"nominalQuota\":\"160Gi\"}]}",
		""},
	{BATCH, "spec.namespaceSelector", "{\"matchLabels\":{\"team\":\"a\"}}",
		"spec.namespaceSelector", "{}", "{\"matchLabels\":{\"team\":\"a\"}}"},
	/* A text where the CRD wants one, and keys with points. */
	{PRICES, "spec.base.cpu", "0.05", "spec.base.cpu", "\"0.04\"", "\"0.05\""},
	{PRICES, "spec.base.nvidia\\.com/gpu", "2", "spec.base[\"nvidia.com/gpu\"]", "", "\"2\""},
	{PRICES, "spec.base['nvidia.com/gpu']", "2", "spec.base[\"nvidia.com/gpu\"]", "", "\"2\""},
	{PRICES, "spec.rates[calendar=nights].factor", "0.3", "spec.rates[0].factor", "\"0.4\"",
		"\"0.3\""},
	/* Refused. */
	{BATCH, "spec.nominalQota", "1", NULL, "spec has no field nominalQota; there are: ", NULL},
	{BATCH, "speck.x", "1", NULL, "a ClusterQueue has no field speck; there are: ", NULL},
	{BATCH, "spec...nominalQota", "1", NULL,
		"this ClusterQueue has no place spec...nominalQota", NULL},
	{BATCH, "spec.resourceGroups.flavors", "1", NULL,
		"spec.resourceGroups is a list; say of which item flavors is meant", NULL},
	{BATCH, "spec.resourceGroups[1].flavors", "1", NULL,
		"spec.resourceGroups has no item [1]; there are: [0]", NULL},
	{BATCH, "spec...flavors[name=spott]...nominalQuota", "1", NULL,
		"spec.resourceGroups[0].flavors has no item with name=spott; there are: spot, on-demand",
		NULL},
	{BATCH, "metadata.name", "x", NULL, "a ClusterQueue has no field metadata", NULL},
	{BATCH, "status.pendingWorkloads", "0", NULL, "a ClusterQueue has no field status", NULL},
	{BATCH, "...pendingWorkloads", "0", NULL, "has no place ...pendingWorkloads", NULL},
	{BATCH, "spec.namespaceSelector", "{\"matchLabel\":{}}", NULL,
		"spec.namespaceSelector has no field matchLabel", NULL},
	{BATCH, "spec.namespaceSelector", "{matchLabels}", NULL, "that is no JSON", NULL},
	{BATCH, "", "1", NULL, "it is empty", NULL},
	{BATCH, "spec.", "1", NULL, "it ends without a name", NULL},
	{BATCH, "spec..x", "1", NULL, "a name is missing", NULL},
	{BATCH, "spec.resourceGroups[0", "1", NULL, "in brackets stands a number", NULL},
	{BATCH, "spec.resourceGroups[spot]", "1", NULL, "in brackets stands a number", NULL},
	{BATCH, "spec.resourceGroups[name=x", "1", NULL, "a bracket in it is not closed", NULL},
	{BATCH, "spec.resourceGroups['x]", "1", NULL, "a quote in it is not closed", NULL},
	{BATCH, "spec.resourceGroups[0]flavors", "1", NULL, "a point is missing", NULL},
	{BATCH, "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", "1", NULL, "too many steps",
		NULL},
};

static void a_value_goes_to_its_place(void **state)
{
	(void)state;
	struct accepted accepted = {0};
	for (size_t i = 0; i < ROWS(paths); i++) {
		cJSON *tree = tree_of(paths[i].object);
		struct buf place, before, after;
		struct err e = {""};
		buf_init(&place, 65536);
		buf_init(&before, 65536);
		buf_init(&after, 65536);
		const struct object_change ret = {&place, &before, &after};
		int rc = object_path_set(tree,
			accepted_schema(&accepted, cJSON_GetObjectItem(tree, "kind")->valuestring),
			paths[i].path, paths[i].value, &ret, &e);
		if (paths[i].place && rc < 0)
			fail_msg("%s=%s: %s", paths[i].path, paths[i].value, e.text);
		if (!paths[i].place && (rc != ERR_INVALID || !strstr(e.text, paths[i].before)))
			fail_msg("%s=%s: %d, %s", paths[i].path, paths[i].value, rc, e.text);
		if (paths[i].place) {
			assert_string_equal(buf_text(&place), paths[i].place);
			assert_string_equal(buf_text(&before), paths[i].before);
			assert_string_equal(buf_text(&after), paths[i].after);
		}
		buf_done(&place);
		buf_done(&before);
		buf_done(&after);
		cJSON_Delete(tree);
	}
	accepted_done(&accepted);
}

static void several_places_are_listed(void **state)
{
	(void)state;
	struct accepted accepted = {0};
	cJSON *tree = tree_of(BATCH);
	struct buf text;
	struct err e = {""};
	buf_init(&text, 65536);
	const struct object_change ret = {&text, &text, &text};
	assert_int_equal(object_path_set(tree, accepted_schema(&accepted, "ClusterQueue"),
				 "spec...nominalQuota", "80", &ret, &e),
		ERR_INVALID);
	/* podTemplate.labels may have any key, and has this one. */
	assert_string_equal(e.text,
		"spec...nominalQuota is at 5 places; name the flavor and the resource:\n"
		"    spec...[name=spot]...[name=cpu]...nominalQuota\n"
		"    spec...[name=spot]...[name=memory]...nominalQuota\n"
		"    spec...[name=on-demand]...[name=cpu]...nominalQuota\n"
		"    spec...[name=on-demand]...[name=memory]...nominalQuota\n"
		"    spec.podTemplate.labels.nominalQuota");
	assert_int_equal(object_path_set(tree, accepted_schema(&accepted, "ClusterQueue"),
				 "spec.resourceGroups...nominalQuota", "80", &ret, &e),
		ERR_INVALID);
	assert_non_null(strstr(e.text,
		"is at 4 places; name the flavor and the resource:\n    spec...[name=spot]...[name=cpu]...nominalQuota\n"));
	assert_int_equal(object_path_set(tree, accepted_schema(&accepted, "ClusterQueue"),
				 "spec...[name=spot]...nominalQuota", "80", &ret, &e),
		ERR_INVALID);
	assert_non_null(strstr(e.text, "is at 2 places; name the resource:"));
	assert_int_equal(text.len, 0);
	buf_done(&text);
	cJSON_Delete(tree);
	accepted_done(&accepted);
}

#define ROW(n) "{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"amount\":" n "}]}"
#define RESERVATION                                                                                \
	"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"AdvanceReservation\",\"metadata\":"    \
	"{\"name\":\"demo\"},\"spec\":{\"flavors\":[" ROW("1") "," ROW("2") "]}}"
#define LABELS                                                                                       \
	"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"ClusterQueue\",\"metadata\":"            \
	"{\"name\":\"x\"},\"spec\":{\"podTemplate\":{\"labels\":{\"a.b/c\":\"1\",\"q\\\"e\":\"2\"}," \
	"\"annotations\":{\"a.b/c\":\"3\",\"q\\\"e\":\"4\"}}}}"

/* Each of the paths that a list of several places has is one that is taken. */
static void what_is_listed_is_taken(void **state)
{
	(void)state;
	static const struct {
		const char *object, *path;
		size_t listed;
	} cases[] = {
		{BATCH, "spec...name", 6}, /* of a flavor, and of the resources below it */
		{BATCH, "spec...nominalQuota", 5},
		{RESERVATION, "spec...amount", 2}, /* two items of one name */
		{LABELS, "spec...[\"a.b/c\"]", 2},
		{LABELS, "spec...['q\"e']", 2},
	};
	struct accepted accepted = {0};
	for (size_t i = 0; i < ROWS(cases); i++) {
		cJSON *tree = tree_of(cases[i].object);
		const cJSON *schema =
			accepted_schema(&accepted, cJSON_GetObjectItem(tree, "kind")->valuestring);
		struct err e = {""}, again;
		struct buf text;
		size_t listed = 0;
		buf_init(&text, 65536);
		const struct object_change ret = {&text, &text, &text};
		assert_int_equal(
			object_path_set(tree, schema, cases[i].path, "7", &ret, &e), ERR_INVALID);
		for (char *line = strstr(e.text, "\n    "), *next; line; line = next, listed++) {
			next = strstr(line + 1, "\n    ");
			if (next)
				*next = '\0';
			cJSON *fresh = tree_of(cases[i].object);
			if (object_path_set(fresh, schema, line + 5, "7", &ret, &again) < 0)
				fail_msg("%s: %s: %s", cases[i].path, line + 5, again.text);
			cJSON_Delete(fresh);
		}
		if (listed != cases[i].listed)
			fail_msg("%s is at %zu places", cases[i].path, listed);
		buf_done(&text);
		cJSON_Delete(tree);
	}
	accepted_done(&accepted);
}

/* ---- kinds ----------------------------------------------------------------------------------------- */

/* As the CRDs name them. */
static void kinds_are_those_of_the_crds(void **state)
{
	(void)state;
	size_t n = 0;
	for (size_t i = 0; i < DEPLOYED_COUNT; i++) {
		struct documents *d = documents_new(slice_of(DEPLOYED[i].text));
		const cJSON *root;
		if (strncmp(DEPLOYED[i].path, "api/crds/", 9) != 0 ||
			strstr(DEPLOYED[i].path, "nodeovercommit")) {
			documents_free(d);
			continue;
		}
		assert_int_equal(documents_next(d, &root, NULL), 1);
		const cJSON *spec = json_object(root, "spec"), *names = json_object(spec, "names");
		const struct live_kind *k = live_kind_by_name(slice_of(json_text(names, "kind")));
		assert_non_null(k);
		assert_string_equal(k->kind, json_text(names, "kind"));
		assert_string_equal(k->singular, json_text(names, "singular"));
		assert_string_equal(k->plural, json_text(names, "plural"));
		assert_int_equal(
			k->namespaced, strcmp(json_text(spec, "scope"), "Namespaced") == 0);
		json_each(s, json_array(names, "shortNames"))
			assert_ptr_equal(live_kind_by_name(slice_of(s->valuestring)), k);
		documents_free(d);
		n++;
	}
	assert_null(live_kind_at(n));
	assert_non_null(live_kind_at(n - 1));
	assert_non_null(live_kind_by_name(slice_of("clusterqueues.sluice.dev")));
	assert_null(live_kind_by_name(slice_of("job")));
	assert_null(live_kind_by_name(slice_of("")));
}

/* ---- what is sent ---------------------------------------------------------------------------------- */

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct changes_source from;
	struct changes *changes;
	struct json *json;
	struct err e;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .json = json_new(1 << 20)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->from = (struct changes_source){s->loop, question_client(s->loop, s->config), "team"};
	s->changes = changes_new(&s->from);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	changes_free(s->changes);
	json_free(s->json);
	kube_client_free(s->from.client);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
}

static void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status, "", body);
}

static void file_of(char path[64], const char *text)
{
	strcpy(path, "/tmp/sluice-whatif-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

#define GET_BATCH "GET /apis/sluice.dev/v1alpha1/clusterqueues/batch "
#define GET_MAIN "GET /apis/sluice.dev/v1alpha1/namespaces/team/localqueues/main "
#define MAIN                                                                                       \
	"{\"metadata\":{\"name\":\"main\",\"namespace\":\"team\"},\"spec\":{\"clusterQueue\":"     \
	"\"batch\"}}"

static void decode(const char *text, struct buf *out)
{
	buf_init(out, 65536);
	for (const char *p = text; *p; p++) {
		unsigned c = (unsigned char)*p;
		if (c == '%') {
			assert_int_equal(sscanf(p + 1, "%2x", &c), 1);
			p += 2;
		}
		buf_putc(out, (char)c);
	}
}

static void what_the_queue_reads_is_sent(void **state)
{
	(void)state;
	struct stage s;
	struct buf query, text;
	stage_open(&s);
	answer(&s, GET_BATCH, 200, BATCH);
	answer(&s, GET_MAIN, 200, MAIN);
	assert_int_equal(changes_set(s.changes, "cq/batch:spec.cohortName=a b&c+d", &s.e), 0);
	assert_int_equal(
		changes_set(s.changes,
			"clusterqueue/batch:spec...[name=spot]...[name=cpu]...nominalQuota=80",
			&s.e),
		0);
	assert_int_equal(changes_set(s.changes, "localqueue/main:spec.maxRunning=3", &s.e), 0);
	assert_int_equal(changes_drop(s.changes, "runpolicy/nights", &s.e), 0);
	assert_int_equal(changes_drop(s.changes, "lq/old", &s.e), 0);
	buf_init(&query, 65536);
	assert_int_equal(changes_query(s.changes, &query, &s.e), 0);
	assert_null(strpbrk(buf_text(&query), " \"{}+"));
	decode(buf_text(&query), &text);
	assert_string_equal(buf_text(&text),
		"object={\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"ClusterQueue\",\"metadata\":{\"name\":\"batch\"},"
		"\"spec\":{\"cohortName\":\"a b&c+d\",\"namespaceSelector\":{},\"podTemplate\":{\"labels\":{\"nominalQuota\":\"x\"}},"
		"\"resourceGroups\":[{\"coveredResources\":[\"cpu\",\"memory\"],\"flavors\":[{\"name\":\"spot\",\"resources\":["
		"{\"name\":\"cpu\",\"nominalQuota\":80},{\"name\":\"memory\",\"nominalQuota\":\"160Gi\"}]},{\"name\":\"on-demand\","
		"\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":8},{\"name\":\"memory\",\"nominalQuota\":\"32Gi\"}]}]}]}}"
		"&object={\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"LocalQueue\",\"metadata\":{\"name\":\"main\",\"namespace\":\"team\"},"
		"\"spec\":{\"clusterQueue\":\"batch\",\"maxRunning\":3}}"
		"&drop=RunPolicy/nights&drop=LocalQueue/team/old");
	buf_done(&text);
	buf_done(&query);
	/* No API server takes that name of a Cohort. */
	assert_int_equal(changes_check(s.changes, &s.e), ERR_INVALID);
	assert_non_null(strstr(s.e.text, "clusterqueue/batch: spec.cohortName: must be the name"));
	stage_close(&s);
}

static void a_file_is_taken_whole_and_may_be_changed(void **state)
{
	(void)state;
	struct stage s;
	struct buf out;
	char path[64];
	stage_open(&s);
	file_of(path, "apiVersion: sluice.dev/v1alpha1\nkind: LocalQueue\n"
		      "metadata: {name: main, labels: {a: b}}\nspec: {clusterQueue: batch}\n---\n"
		      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: sluice.dev/v1alpha1\n"
		      "  kind: WorkloadPriorityClass\n  metadata: {name: high}\n  value: 100\n"
		      "  description: soon\n");
	assert_int_equal(changes_add_file(s.changes, path, &s.e), 0);
	assert_int_equal(changes_set(s.changes, "wpc/high:value=200", &s.e), 0);
	assert_int_equal(changes_set(s.changes, "wpc/high:description=soon", &s.e), 0);
	assert_int_equal(changes_check(s.changes, &s.e), 0);
	buf_init(&out, 65536);
	struct json_writer w = json_writer(&out);
	changes_json(s.changes, NULL, &w);
	assert_non_null(strstr(buf_text(&out),
		"{\"object\":\"workloadpriorityclass/high\",\"path\":\"value\",\"before\":100,\"after\":200},"));
	assert_non_null(
		strstr(buf_text(&out), "[{\"object\":\"localqueue/team/main\",\"from\":\""));
	buf_reset(&out);
	changes_render(s.changes, &out);
	assert_non_null(strstr(buf_text(&out), "workloadpriorityclass/high  value: 100 -> 200\n"));
	assert_non_null(strstr(buf_text(&out),
		"workloadpriorityclass/high  description: \"soon\", as it is now\n"));
	assert_non_null(strstr(buf_text(&out), "localqueue/team/main  as in /tmp/sluice-whatif-"));
	buf_reset(&out);
	assert_int_equal(changes_query(s.changes, &out, &s.e), 0);
	assert_non_null(strstr(buf_text(&out), "%22namespace%22:%22team%22"));
	assert_null(strstr(buf_text(&out), "labels"));
	buf_done(&out);
	unlink(path);
	stage_close(&s);
}

static const struct {
	const char *text, *says;
} files[] = {
	{"apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\n",
		":1: Job is of no kind that can be asked about; these can: clusterqueue, localqueue"},
	{"apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: x}\n",
		"ClusterQueue of kueue.x-k8s.io/v1beta1 is none of Sluice's; that is of sluice.dev/v1alpha1, and sluice import kueue"},
	{"kind: Cohort\nmetadata: {name: x}\n", "Cohort of no apiVersion is none of Sluice's"},
	{"apiVersion: sluice.dev/v1alpha1\nkind: Cohort\nmetadata: {}\n", "Cohort without a name"},
	{"apiVersion: sluice.dev/v1alpha1\nkind: Cohort\nmetadata: {name: x}\nspec: {parent: y}\n",
		"Cohort x: spec.parent: there is no such field"},
	{"a: [", ":2: not YAML"},
};

static void a_bad_file_is_refused_with_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(files); i++) {
		struct stage s;
		char path[64];
		stage_open(&s);
		file_of(path, files[i].text);
		assert_int_equal(changes_add_file(s.changes, path, &s.e), ERR_INVALID);
		if (!strstr(s.e.text, files[i].says) || strncmp(s.e.text, path, strlen(path)) != 0)
			fail_msg("no \"%s\" in %s", files[i].says, s.e.text);
		unlink(path);
		stage_close(&s);
	}
}

static const struct {
	const char *set;
	int status; /* of the live object; 0: it is not asked for */
	const char *body;
	int rc;
	const char *says;
} sets[] = {
	{"clusterqueue/batch", 0, "", ERR_INVALID, "--set wants KIND/NAME:PATH=VALUE"},
	{"clusterqueue/batch:spec.resourceGroups[name=x]", 0, "", ERR_INVALID,
		"--set wants KIND/NAME:PATH=VALUE"},
	{"batch:spec.x=1", 0, "", ERR_INVALID, "--set wants KIND/NAME, as in"},
	{"pod/batch:spec.x=1", 0, "", ERR_INVALID, "is of no kind that can be asked about"},
	{"clusterqueue/Batch:spec.x=1", 0, "", ERR_INVALID, "which is not the name of one"},
	{"clusterqueue/batch:spec.x=1", 404, "{\"kind\":\"Status\",\"reason\":\"NotFound\"}",
		ERR_GONE,
		"there is no ClusterQueue batch; kubectl get clusterqueues.sluice.dev lists"},
	{"clusterqueue/batch:spec.x=1", 403,
		"{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"User bob cannot get\"}",
		ERR_DENIED, "you may not read ClusterQueue batch: "},
	{"clusterqueue/batch:spec.x=1", 200, BATCH, ERR_INVALID,
		"clusterqueue/batch: spec has no field x; there are: "},
};

static void a_bad_field_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(sets); i++) {
		struct stage s;
		stage_open(&s);
		if (sets[i].status)
			answer(&s, GET_BATCH, sets[i].status, sets[i].body);
		int rc = changes_set(s.changes, sets[i].set, &s.e);
		if (rc != sets[i].rc || !strstr(s.e.text, sets[i].says))
			fail_msg("%s: %d, %s", sets[i].set, rc, s.e.text);
		stage_close(&s);
	}
}

static void a_value_that_the_crd_refuses_is_not_sent(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, GET_BATCH, 200, BATCH);
	assert_int_equal(
		changes_set(s.changes, "clusterqueue/batch:spec.queueingStrategy=Fast", &s.e), 0);
	assert_int_equal(changes_check(s.changes, &s.e), ERR_INVALID);
	assert_non_null(
		strstr(s.e.text, "clusterqueue/batch: spec.queueingStrategy: must be one of"));
	stage_close(&s);
}

static void what_is_given_twice_or_is_too_much_is_refused(void **state)
{
	(void)state;
	struct stage s;
	struct buf value, query;
	stage_open(&s);
	assert_int_equal(changes_check(s.changes, &s.e), ERR_INVALID);
	answer(&s, "GET /apis/sluice.dev/v1alpha1/workloadpriorityclasses/high ", 200,
		"{\"metadata\":{\"name\":\"high\"},\"value\":1}");
	buf_init(&value, 65536);
	buf_puts(&value, "wpc/high:description=");
	for (int i = 0; i < CHANGES_QUERY_MAX_BYTES; i++)
		buf_putc(&value, 'x');
	assert_int_equal(changes_set(s.changes, buf_text(&value), &s.e), 0);
	assert_int_equal(changes_drop(s.changes, "wpc/high", &s.e), ERR_INVALID);
	assert_non_null(strstr(s.e.text, "given twice"));
	buf_init(&query, 1 << 20);
	assert_int_equal(changes_query(s.changes, &query, &s.e), ERR_LIMIT);
	assert_non_null(strstr(s.e.text, "too large to be asked about at once: at most 24 KiB"));
	assert_int_equal(query.len, 0);
	for (int i = 1; i < CHANGES_MAX; i++) {
		char text[32];
		snprintf(text, sizeof(text), "cohort/c%d", i);
		assert_int_equal(changes_drop(s.changes, text, &s.e), 0);
	}
	assert_int_equal(changes_drop(s.changes, "cohort/more", &s.e), ERR_LIMIT);
	assert_int_equal(changes_set(s.changes, "cohort/c1:spec.parentName=x", &s.e), ERR_INVALID);
	assert_non_null(strstr(s.e.text, "is dropped"));
	buf_done(&value);
	buf_done(&query);
	stage_close(&s);
}

/* ---- the command line ------------------------------------------------------------------------------ */

static int parse(const char *line, struct whatif_options *o, struct err *e)
{
	static char text[256];
	char *argv[16], *rest = text;
	int argc = 0;
	snprintf(text, sizeof(text), "%s", line);
	for (char *w; (w = strsep(&rest, " "));)
		argv[argc++] = w;
	argv[argc] = NULL;
	return flags_read(&whatif_flags, argc, argv, o, e);
}

static void the_command_line_is_read(void **state)
{
	(void)state;
	struct whatif_options o;
	struct err e = {""};
	assert_int_equal(
		parse("whatif --set a/b:c=d --set=e --drop f/g -f x -n team --all -o json", &o, &e),
		0);
	assert_int_equal(o.sets.count, 2);
	assert_string_equal(o.sets.text[0], "a/b:c=d");
	assert_string_equal(o.sets.text[1], "e");
	assert_int_equal(o.drops.count, 1);
	assert_int_equal(o.files.count, 1);
	assert_true(o.all && o.json);
	assert_string_equal(o.namespace_name, "team");
	assert_int_equal(parse("whatif", &o, &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "it wants what is to be changed"));
	assert_int_equal(parse("whatif --set a x", &o, &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "\"x\" is one"));
	assert_int_equal(parse("whatif -o yaml --set a", &o, &e), ERR_INVALID);
	assert_int_equal(parse("whatif -n A --set a", &o, &e), ERR_INVALID);
}

/* ---- the answer ------------------------------------------------------------------------------------ */

#define TIMES(p50) "{\"p50\":\"2026-11-" p50 ":00Z\",\"misses\":0}"
#define ITEM(name, before, after, seconds)                                                         \
	"{\"namespace\":\"team\",\"name\":\"" name                                                 \
	"\",\"clusterQueue\":\"batch\",\"before\":" before ",\"after\":" after                     \
	",\"earlierSeconds\":" #seconds "}"
#define NEVER "{\"misses\":4}"
#define WHATIF(status) "{\"kind\":\"WhatIf\",\"status\":{" status "}}"

static const char much[] = WHATIF(
	"\"asOf\":\"2026-11-26T11:59:56Z\",\"draws\":4,\"horizonSeconds\":2592000,\"jobs\":1234,"
	"\"earlier\":200,\"later\":1,\"same\":1000,\"newlyStart\":3,\"neverAnyMore\":1,"
	"\"earlierSecondsMedian\":2400,\"laterSecondsMedian\":300,"
	"\"costs\":[{\"currency\":\"EUR\",\"before\":\"123.45\",\"after\":\"130.00\"},"
	"{\"currency\":\"USD\",\"before\":\"0.999\",\"after\":\"1.001\"}],"
	"\"queues\":[{\"clusterQueue\":\"batch\",\"earlier\":10,\"later\":2,\"same\":5,"
	"\"p50WaitSecondsBefore\":3600,\"p50WaitSecondsAfter\":1200},{\"clusterQueue\":\"new\","
	"\"earlier\":0,\"later\":0,\"same\":1,\"newlyStart\":3,\"neverAnyMore\":1}],\"queuesLeft\":2,"
	"\"items\":[" ITEM("big", TIMES("27T13:10"), TIMES("26T12:30"), 88800) "," ITEM(
		"small", TIMES("26T11:00"), TIMES("26T12:05"), -300) "," ITEM("stuck", NEVER,
		TIMES("26T14:00"),
		0) "," ITEM("lost", TIMES("26T14:00"), NEVER, 0) "],\"left\":734");

static void render(const char *text, bool all, struct buf *out)
{
	const struct style style = {false, false};
	const struct whatif_report_options o = {all, NOW_MS, &style};
	struct json *json = json_new(1 << 20);
	const cJSON *root;
	setenv("TZ", "UTC", 1);
	tzset();
	buf_init(out, 65536);
	assert_int_equal(json_parse(json, slice_of(text), &root, NULL), 0);
	whatif_report_render(root, &o, out);
	json_free(json);
}

static void the_tables_say_what_moves(void **state)
{
	(void)state;
	struct buf out;
	render(much, false, &out);
	assert_string_equal(buf_text(&out),
		"CLUSTERQUEUE  EARLIER  LATER  NO LONGER  SAME  WAIT WITHOUT  WAIT WITH\n"
		"batch              10      2          0     5            1h        20m\n"
		"new                 3      0          1     1             -          -\n"
		"and 2 more ClusterQueues, with fewer Jobs that change\n"
		"\n"
		"JOB         CLUSTERQUEUE  START WITHOUT  START WITH  DIFFERENCE\n"
		"team/big    batch         Fri 13:10 UTC  Thu 12:30   1d earlier\n"
		"team/small  batch         at once        Thu 12:05   5m later\n"
		"team/stuck  batch         no start       Thu 14:00   starts only with the change\n"
		"team/lost   batch         Thu 14:00      no start    no longer starts\n"
		"and 734 more that change less; --all shows more\n"
		"\n"
		"Simulated 4 times each, with and without the change, 30 days into the future, from the queue as it was 4s ago.\n"
		"Runs of these Jobs are expected to cost 130.00 EUR instead of 123.45.\n"
		"Runs of these Jobs are expected to cost 1.00 USD, as now.\n"
		"1234 Jobs wait: 200 start earlier (by 40m in the median), 1 starts later (by 5m), "
		"3 start only with the change, 1 no longer starts. Nothing was written.\n");
	buf_done(&out);
}

static void few_jobs_are_shown_unless_all_are_wanted(void **state)
{
	(void)state;
	struct buf text, out;
	buf_init(&text, 65536);
	buf_puts(&text, "{\"status\":{\"jobs\":12,\"earlier\":12,\"items\":[");
	for (int i = 0; i < 12; i++)
		buf_printf(&text,
			"%s{\"namespace\":\"t\",\"name\":\"j%d\",\"before\":" TIMES(
				"26T14:00") ",\"after\":" TIMES("26T13:00") ",\"earlierSeconds\":3600}",
			i ? "," : "", i);
	buf_puts(&text, "]}}");
	render(buf_text(&text), false, &out);
	assert_non_null(strstr(buf_text(&out), "t/j9"));
	assert_null(strstr(buf_text(&out), "t/j10"));
	assert_non_null(strstr(buf_text(&out), "and 2 more that change less; --all shows more\n"));
	buf_done(&out);
	render(buf_text(&text), true, &out);
	assert_non_null(strstr(buf_text(&out), "t/j11"));
	assert_null(strstr(buf_text(&out), "more that change"));
	buf_done(&out);
	buf_done(&text);
}

static void where_nothing_moves_a_line_says_so(void **state)
{
	(void)state;
	struct buf out;
	render(WHATIF("\"draws\":4,\"jobs\":7,\"earlier\":0,\"later\":0,\"same\":7"), false, &out);
	assert_string_equal(buf_text(&out),
		"Simulated 4 times each, with and without the change.\n"
		"7 Jobs wait, and their starts would not change. Nothing was written.\n");
	buf_done(&out);
	render(WHATIF("\"draws\":1,\"jobs\":0"), false, &out);
	assert_non_null(strstr(buf_text(&out),
		"No Job waits, so there is nothing to compare. Nothing was written.\n"));
	buf_done(&out);
}

static const char verdicts[] = WHATIF(
	"\"draws\":4,\"jobs\":0,\"advanceReservations\":["
	"{\"name\":\"kept\",\"accepted\":true,\"reason\":\"Accepted\",\"message\":\"reserved\","
	"\"from\":\"2026-11-30T08:00:00Z\",\"until\":\"2026-11-30T16:00:00Z\",\"cost\":\"412.50\","
	"\"currency\":\"EUR\"},{\"name\":\"not\",\"accepted\":false,\"reason\":\"NotFree\","
	"\"message\":\"3 runs\\u001b[31m are there until 2026-11-30T10:00:00Z\","
	"\"possibleFrom\":\"2026-11-30T10:00:00Z\",\"cost\":\"1.00\"}]");

static void a_verdict_on_an_advancereservation_comes_first(void **state)
{
	(void)state;
	static const char words[] =
		"AdvanceReservation kept would be accepted.\n"
		"  Its next window is from 2026-11-30 08:00 UTC until 2026-11-30 16:00.\n"
		"  It costs 412.50 EUR if all of that window is used.\n"
		"AdvanceReservation not would not be accepted: 3 runs?[31m are there until 2026-11-30 10:00\n"
		"\n";
	struct buf out;
	render(verdicts, false, &out);
	if (strncmp(buf_text(&out), words, sizeof(words) - 1) != 0)
		fail_msg("%s", buf_text(&out));
	buf_done(&out);
}

#define STATUS(reason, message)                                                                    \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" reason                         \
	"\",\"message\":\"" message "\"}"

static const struct {
	int status;
	const char *body;
	int rc;
	const char *says;
} answers[] = {
	{200, WHATIF("\"jobs\":0"), 0, ""},
	{400, STATUS("BadRequest", "ClusterQueue batch: spec.cohortName: no such thing"),
		ERR_INVALID, "ClusterQueue batch: spec.cohortName: no such thing"},
	{404, STATUS("NotFound", "the server could not find the requested resource"), ERR_BUSY,
		"has no whatifs: its controller is older than this sluice. Update it"},
	{413, STATUS("RequestEntityTooLarge", "at most 24 KiB"), ERR_INVALID, "at most 24 KiB"},
	{429, STATUS("TooManyRequests", "4 reviews wait: ask again in 20 s"), ERR_BUSY,
		"4 reviews wait: ask again in 20 s"},
	{503, STATUS("ServiceUnavailable", "plays of the queue are off (--forecasts)"), ERR_BUSY,
		"plays of the queue are off (--forecasts)"},
	{503, "service unavailable", ERR_BUSY, "does not answer (status 503)"},
	{403,
		STATUS("Forbidden",
			"whatifs.visibility.sluice.dev is forbidden: User \\\"bob\\\" cannot list"),
		ERR_DENIED,
		"you may not list whatifs.visibility.sluice.dev, which tells of all namespaces. An admin gives you that right, and no other: kubectl create clusterrole sluice-whatifs --verb=list --resource=whatifs.visibility.sluice.dev && kubectl create clusterrolebinding sluice-whatifs-bob --clusterrole=sluice-whatifs --user=bob"},
};

static void each_answer_has_a_sentence(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(answers); i++) {
		struct stage s;
		const cJSON *root;
		stage_open(&s);
		assert_int_equal(changes_drop(s.changes, "budget/b", &s.e), 0);
		const struct changes_patience patience = {2, 1};
		for (int n = 0; n < (answers[i].status == 429 ? 3 : 1); n++)
			answer(&s,
				"GET /apis/visibility.sluice.dev/v1alpha1/whatifs?drop=Budget/b ",
				answers[i].status, answers[i].body);
		if (answers[i].status == 403)
			answer(&s, "GET /apis/visibility.sluice.dev ", 200, "{}");
		int rc = changes_ask(&s.from, s.changes, &patience, s.json, &root, &s.e);
		if (rc != answers[i].rc || !strstr(s.e.text, answers[i].says))
			fail_msg("status %d: %d, %s", answers[i].status, rc, s.e.text);
		stage_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_goes_to_its_place),
		cmocka_unit_test(several_places_are_listed),
		cmocka_unit_test(what_is_listed_is_taken),
		cmocka_unit_test(kinds_are_those_of_the_crds),
		cmocka_unit_test(what_the_queue_reads_is_sent),
		cmocka_unit_test(a_file_is_taken_whole_and_may_be_changed),
		cmocka_unit_test(a_bad_file_is_refused_with_its_line),
		cmocka_unit_test(a_bad_field_is_refused),
		cmocka_unit_test(a_value_that_the_crd_refuses_is_not_sent),
		cmocka_unit_test(what_is_given_twice_or_is_too_much_is_refused),
		cmocka_unit_test(the_command_line_is_read),
		cmocka_unit_test(the_tables_say_what_moves),
		cmocka_unit_test(few_jobs_are_shown_unless_all_are_wanted),
		cmocka_unit_test(where_nothing_moves_a_line_says_so),
		cmocka_unit_test(a_verdict_on_an_advancereservation_comes_first),
		cmocka_unit_test(each_answer_has_a_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
