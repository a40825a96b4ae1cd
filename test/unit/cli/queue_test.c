/* `sluice queue` by the kubeconfig: what it asks the API server, and what it makes of the objects. */
#include "test/unit/kube/test.h"

#include <time.h>

#include "cli/queue/answer.h"
#include "cli/queue/report.h"
#include "test/unit/kube/scripted_server.h"

#define LIST(kind, items)                                                                          \
	"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"" kind                                 \
	"List\",\"metadata\":{\"resourceVersion\":\"812\"},\"items\":[" items "]}"
#define STATUS(code, reason, message)                                                              \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"" message                       \
	"\",\"reason\":\"" reason "\",\"code\":" code "}"
#define FORBIDDEN(resource)                                                                        \
	STATUS("403", "Forbidden",                                                                 \
		resource ".sluice.dev is forbidden: User \\\"alice\\\" cannot list resource")
#define ACTIVE(status, reason, message)                                                            \
	"\"conditions\":[{\"type\":\"Active\",\"status\":\"" status "\",\"reason\":\"" reason      \
	"\",\"message\":\"" message                                                                \
	"\",\"lastTransitionTime\":\"2026-11-26T11:00:00Z\",\"observedGeneration\":2}]"
#define READY ACTIVE("True", "Ready", "Can admit new workloads")
#define COUNTS(pending, reserving, admitted)                                                       \
	",\"pendingWorkloads\":" pending ",\"reservingWorkloads\":" reserving                      \
	",\"admittedWorkloads\":" admitted

/* Of two flavors, one of which is no longer in the spec; a window has halved the quota of cpu. */
#define BATCH                                                                                         \
	"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"ClusterQueue\",\"metadata\":"             \
	"{\"name\":\"batch\",\"generation\":2,\"uid\":\"u\"},\"spec\":{\"cohortName\":\"all\","       \
	"\"maxPriority\":100,\"queueingStrategy\":\"StrictFIFO\",\"stopPolicy\":\"None\","            \
	"\"resourceGroups\":[{\"coveredResources\":[\"cpu\",\"memory\"],\"flavors\":[{\"name\":"      \
	"\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":40},{\"name\":\"memory\","        \
	"\"nominalQuota\":\"128Gi\"}]}]}]},\"status\":{" READY COUNTS("12", "8",                      \
		"7") ",\"flavorsReservation\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\","  \
		     "\"total\":\"30\",\"borrowed\":\"10\",\"nominal\":\"20\"},{\"name\":\"memory\"," \
		     "\"total\":\"64Gi\",\"borrowed\":\"0\"}]},{\"name\":\"old\",\"resources\":["     \
		     "{\"name\":\"cpu\",\"total\":\"1500m\",\"borrowed\":\"1500m\",\"nominal\":"      \
		     "\"0\"}]}],\"flavorsUsage\":[{\"name\":\"spot\",\"resources\":[{\"name\":"       \
		     "\"cpu\",\"total\":\"28\"}]}]}}"
/* Never judged; refused; changed since. */
#define NEWCOMER "{\"metadata\":{\"name\":\"new\",\"generation\":1},\"spec\":{}}"
#define REFUSED                                                                                    \
	"{\"metadata\":{\"name\":\"refused\",\"generation\":3},\"spec\":{},\"status\":{" ACTIVE(   \
		"True", "InvalidSpec", "closed until 2026-11-27T01:00:00Z") "}}"
#define CHANGED                                                                                    \
	"{\"metadata\":{\"name\":\"changed\",\"generation\":3},\"spec\":{},\"status\":{" READY "}}"

#define MAIN                                                                                         \
	"{\"metadata\":{\"name\":\"main\",\"namespace\":\"team\",\"generation\":2},\"spec\":"        \
	"{\"clusterQueue\":\"batch\"},\"status\":{" READY COUNTS("4", "3",                           \
		"3") ",\"flavorsReservation\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\"," \
		     "\"total\":\"12\"},{\"name\":\"memory\",\"total\":\"0\"}]}],"                   \
		     "\"flavorsUsage\":[]}}"
#define NIGHT                                                                                      \
	"{\"metadata\":{\"name\":\"night\",\"namespace\":\"team\",\"generation\":2},\"spec\":"     \
	"{\"clusterQueue\":\"night\"},\"status\":{" ACTIVE(                                        \
		"False", "Stopped", "LocalQueue is stopped") COUNTS("1", "0", "0") "}}"
#define STUCK(name, since, reason)                                                                 \
	"{\"kind\":\"QueuedJob\",\"metadata\":{\"name\":\"" name                                   \
	"\",\"namespace\":\"team\"},\"spec\":{\"queue\":\"main\",\"clusterQueue\":\"batch\"},"     \
	"\"status\":{\"state\":\"Running\",\"trouble\":{\"reason\":\"" reason                      \
	"\",\"since\":\"" since "\"}}}"
#define TWO_STUCK                                                                                  \
	STUCK("late", "2026-11-26T11:30:00Z", "Unschedulable")                                     \
	"," STUCK("image", "2026-11-26T11:10:00Z", "ErrImagePull") "," STUCK(                      \
		"early", "2026-11-26T11:20:00Z", "Unschedulable")

#define SLUICE "GET /apis/sluice.dev/v1alpha1"
#define CLUSTERQUEUES SLUICE "/clusterqueues HTTP"
#define LOCALQUEUES SLUICE "/localqueues HTTP"
#define LOCALQUEUES_OF(ns) SLUICE "/namespaces/" ns "/localqueues HTTP"
#define IN_TROUBLE "queuedjobs?fieldSelector=status.trouble.reason%21%3D HTTP"
#define STUCK_JOBS "GET /apis/visibility.sluice.dev/v1alpha1/" IN_TROUBLE
#define STUCK_JOBS_OF(ns) "GET /apis/visibility.sluice.dev/v1alpha1/namespaces/" ns "/" IN_TROUBLE
#define GROUP "GET /apis/sluice.dev HTTP"
#define REPORT "GET /apis/visibility.sluice.dev/v1alpha1/queuereports HTTP"
#define REPORT_OF(ns) "GET /apis/visibility.sluice.dev/v1alpha1/namespaces/" ns "/queuereports HTTP"

static const struct style plain = {false, false};

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct queue_question question;
	struct queue_answer answer;
	struct buf text;
	struct err e;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = question_client(s->loop, s->config);
	buf_init(&s->text, 1 << 20);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	queue_answer_done(&s->answer);
	buf_done(&s->text);
	kube_client_free(s->client);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
}

static void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status, "", body);
}

static int get(struct stage *s, const char *ns, bool localqueues)
{
	s->question = (struct queue_question){ns, "home", localqueues};
	return queue_answer_get(s->loop, s->client, &s->question, &s->answer, &s->e);
}

/* ns NULL: of all. */
static size_t table(struct stage *s, const char *ns, bool wide)
{
	buf_reset(&s->text);
	return queue_render_table(
		&s->answer, &(struct queue_filter){.ns = ns}, wide, &plain, &s->text);
}

static void wants(const struct stage *s, const char *part)
{
	if (!strstr(buf_text(&s->text), part))
		fail_msg("no \"%s\" in\n%s", part, buf_text(&s->text));
}

static void an_admin_sees_quotas(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 200, LIST("ClusterQueue", BATCH));
	answer(&s, STUCK_JOBS, 200, LIST("QueuedJob", TWO_STUCK));
	answer(&s, REPORT, 200, "{\"clusterQueues\":[],\"withoutQueue\":0,\"ledgerUp\":true}");
	assert_int_equal(get(&s, NULL, false), 0);
	assert_int_equal(table(&s, NULL, false), 1);
	assert_string_equal(buf_text(&s.text),
		"CLUSTERQUEUE  STATE   WAITING  RUNNING      FLAVOR  RESOURCE  QUOTA                 USED\n"
		"batch         active       12  7 (3 stuck)  spot    cpu       ####################  30 of 20 (10 borrowed)\n"
		"                                            spot    memory    ##########..........  64Gi of 128Gi\n"
		"                                            old     cpu       ####################  1500m of 0 (1500m borrowed)\n"
		"\nbatch: 2 Jobs are stuck: Unschedulable (sluice explain -n team job/early)\n"
		"\nbatch: 1 Job is stuck: ErrImagePull (sluice explain -n team job/image)\n");
	stage_close(&s);
}

/* Who may list reports of queues is told what no status has. */
static void what_no_status_has_is_told_below(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 200, LIST("ClusterQueue", BATCH));
	answer(&s, STUCK_JOBS, 200, LIST("QueuedJob", ""));
	answer(&s, REPORT, 200,
		"{\"clusterQueues\":[{\"metadata\":{\"name\":\"batch\"},\"stopping\":3,\"stoppingSeconds\":30}],"
		"\"withoutQueue\":2,\"ledgerUp\":false,\"ledgerDownSince\":\"2026-11-26T11:00:00Z\"}");
	assert_int_equal(get(&s, NULL, false), 0);
	table(&s, NULL, false);
	wants(&s, "\nbatch: stopping 3 Jobs, up to 30s, to make room for other Jobs\n");
	wants(&s, "\n2 Jobs wait for a queue that does not exist; sluice explain job/NAME");
	wants(&s, "Postgres has not answered since 2026-11-26 12:00 CET: running Jobs continue");
	stage_close(&s);
}

static void all_of_it_in_wide_and_in_json(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 200, LIST("ClusterQueue", BATCH));
	answer(&s, LOCALQUEUES, 200, LIST("LocalQueue", MAIN));
	answer(&s, STUCK_JOBS, 404, "404 page not found\n"); /* an option: no word of it */
	assert_int_equal(get(&s, NULL, true), 0);
	assert_int_equal(table(&s, NULL, true), 2);
	wants(&s, "HOLDING  STRATEGY    MAXPRIORITY  COHORT");
	wants(&s, "     8  StrictFIFO          100  all ");
	wants(&s, "team       main        active        4        3  batch\n");
	assert_null(strstr(buf_text(&s.text), "stuck"));
	buf_reset(&s.text);
	assert_int_equal(queue_render_json(&s.answer, &(struct queue_filter){0}, &s.text), 2);
	wants(&s,
		"{\"clusterQueues\":[{\"metadata\":{\"name\":\"batch\"},\"spec\":{\"cohortName\":\"all\",");
	wants(&s, "\"pendingWorkloads\":12,\"reservingWorkloads\":8,\"admittedWorkloads\":7,");
	wants(&s,
		"\"localQueues\":[{\"metadata\":{\"name\":\"main\",\"namespace\":\"team\"},\"spec\":{");
	assert_null(strstr(buf_text(&s.text), "uid"));
	stage_close(&s);
}

static void a_status_that_is_missing_refused_or_old_says_so(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 200, LIST("ClusterQueue", NEWCOMER "," REFUSED "," CHANGED));
	answer(&s, STUCK_JOBS, 200, LIST("QueuedJob", ""));
	answer(&s, REPORT, 403, FORBIDDEN("queuereports"));
	assert_int_equal(get(&s, NULL, false), 0);
	table(&s, NULL, false);
	wants(&s, "\nnew           Unknown  ");
	wants(&s, "\nnew: the controller has not written its status yet\n");
	wants(&s, "\nrefused       InvalidSpec  ");
	wants(&s, "\nrefused: closed until 2026-11-27 02:00 CET\n");
	assert_null(strstr(buf_text(&s.text), "\nrefused: it was changed"));
	wants(&s, "\nchanged       active  ");
	wants(&s,
		"\nchanged: its spec was changed, and the controller has not read the new one yet");
	stage_close(&s);
}

static void one_namespace_is_asked_for_alone(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 200, LIST("ClusterQueue", BATCH "," NEWCOMER));
	answer(&s, LOCALQUEUES_OF("team"), 200, LIST("LocalQueue", MAIN));
	answer(&s, STUCK_JOBS_OF("team"), 200, LIST("QueuedJob", TWO_STUCK));
	answer(&s, REPORT, 404, "404 page not found\n");
	assert_int_equal(get(&s, "team", true), 0);
	assert_int_equal(table(&s, "team", false), 2);
	wants(&s, "batch         active       12        7  spot ");
	wants(&s, "team       main        active        4  3 (3 stuck)  batch\n");
	wants(&s, "\nteam/main: 2 Jobs are stuck: Unschedulable ");
	stage_close(&s);
}

static const char hidden_note[] =
	"\nYou may not list clusterqueues.sluice.dev, so quotas are not shown. An admin can give you "
	"that right: the ClusterRole sluice-viewer has it, bound by a ClusterRoleBinding.\n";

/* Her RoleBinding reaches her namespace alone. */
static void a_user_sees_what_her_localqueues_say(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 403, FORBIDDEN("clusterqueues"));
	answer(&s, GROUP, 200, "{}");
	answer(&s, LOCALQUEUES_OF("team"), 200, LIST("LocalQueue", MAIN "," NIGHT));
	answer(&s, STUCK_JOBS_OF("team"), 403, FORBIDDEN("queuedjobs"));
	answer(&s, REPORT_OF("team"), 403, FORBIDDEN("queuereports"));
	assert_int_equal(get(&s, "team", true), 0);
	assert_int_equal(table(&s, "team", false), 2);
	assert_string_equal(
		buf_text(&s.text) + strlen(buf_text(&s.text)) - strlen(hidden_note), hidden_note);
	wants(&s,
		"NAMESPACE  LOCALQUEUE  STATE    WAITING  RUNNING  CLUSTERQUEUE  FLAVOR  RESOURCE  USED\n"
		"team       main        active         4        3  batch         spot    cpu       12\n"
		"team       night       Stopped        1        0  night\n"
		"\nteam/night: LocalQueue is stopped\n");
	stage_close(&s);
}

static void without_n_she_gets_the_namespace_of_her_kubeconfig(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 403, FORBIDDEN("clusterqueues"));
	answer(&s, GROUP, 200, "{}");
	answer(&s, LOCALQUEUES, 403, FORBIDDEN("localqueues"));
	answer(&s, GROUP, 200, "{}");
	answer(&s, LOCALQUEUES_OF("home"), 200, LIST("LocalQueue", MAIN));
	answer(&s, STUCK_JOBS_OF("home"), 200, LIST("QueuedJob", ""));
	answer(&s, REPORT_OF("home"), 404, "404 page not found\n"); /* an older controller */
	assert_int_equal(get(&s, NULL, false), 0);
	assert_int_equal(table(&s, NULL, false), 1);
	wants(&s, "those of namespace home are shown. Name another with -n.\n");
	wants(&s, hidden_note);
	stage_close(&s);
}

#define REDUCED(name, open)                                                                                    \
	"{\"metadata\":{\"name\":\"" name                                                                      \
	"\"},\"spec\":{\"queueingStrategy\":\"StrictFIFO\"},\"status\":{\"conditions\":[{"                     \
	"\"type\":\"Active\",\"status\":\"True\",\"reason\":\"Ready\"}]" COUNTS("12", "8",                     \
		"7") ",\"flavorsReservation\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"total\":" \
		     "\"30\",\"borrowed\":\"0\",\"nominal\":\"40\"}]}]},\"open\":{" open                       \
		     "},\"exists\":true}"

/* The controller tells her of the ClusterQueues that they lead to: sums, and when they are open. */
static void a_user_sees_the_queues_behind_her_localqueues_as_sums(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 403, FORBIDDEN("clusterqueues"));
	answer(&s, GROUP, 200, "{}");
	answer(&s, LOCALQUEUES_OF("team"), 200, LIST("LocalQueue", MAIN "," NIGHT));
	answer(&s, STUCK_JOBS_OF("team"), 200, LIST("QueuedJob", TWO_STUCK));
	answer(&s, REPORT_OF("team"), 200,
		"{\"clusterQueues\":[" REDUCED("batch",
			"\"isOpen\":true,\"until\":\"2026-11-27T01:00:00Z\"") "," REDUCED("night",
			"\"isOpen\":false,\"until\":\"2026-11-26T19:00:00Z\"") "],\"ledgerUp\":true}");
	assert_int_equal(get(&s, "team", true), 0);
	assert_int_equal(table(&s, "team", false), 4);
	assert_string_equal(buf_text(&s.text),
		"CLUSTERQUEUE  STATE   WAITING  RUNNING  FLAVOR  RESOURCE  QUOTA                 USED\n"
		"batch         active       12        7  spot    cpu       ###############.....  30 of 40\n"
		"night         closed       12        7  spot    cpu       ###############.....  30 of 40\n"
		"\n"
		"NAMESPACE  LOCALQUEUE  STATE    WAITING  RUNNING      CLUSTERQUEUE  FLAVOR  RESOURCE  USED\n"
		"team       main        active         4  3 (3 stuck)  batch         spot    cpu       12\n"
		"team       night       Stopped        1            0  night\n"
		"\nbatch: its windows are open until 2026-11-27 02:00 CET\n"
		"\nnight: its windows are closed until 2026-11-26 20:00\n"
		"\nteam/night: LocalQueue is stopped\n"
		"\nteam/main: 2 Jobs are stuck: Unschedulable (sluice explain -n team job/early)\n"
		"\nteam/main: 1 Job is stuck: ErrImagePull (sluice explain -n team job/image)\n");
	buf_reset(&s.text);
	assert_int_equal(
		queue_render_json(&s.answer, &(struct queue_filter){.ns = "team"}, &s.text), 4);
	wants(&s, "\"open\":{\"isOpen\":false,\"until\":\"2026-11-26T19:00:00Z\"}}");
	stage_close(&s);
}

/* Nobody waits for a controller that is down a second time. */
static void a_user_is_told_that_the_controller_does_not_answer(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 403, FORBIDDEN("clusterqueues"));
	answer(&s, GROUP, 200, "{}");
	answer(&s, LOCALQUEUES_OF("team"), 200, LIST("LocalQueue", MAIN));
	answer(&s, STUCK_JOBS_OF("team"), 503, "service unavailable\n");
	assert_int_equal(get(&s, "team", true), 0);
	table(&s, "team", false);
	wants(&s, "The controller does not answer");
	wants(&s, "so quotas are not shown");
	stage_close(&s);
}

static void who_may_see_nothing_is_told_the_cure(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 403, FORBIDDEN("clusterqueues"));
	answer(&s, GROUP, 200, "{}");
	answer(&s, LOCALQUEUES_OF("team"), 403, FORBIDDEN("localqueues"));
	answer(&s, GROUP, 200, "{}");
	assert_int_equal(get(&s, "team", true), ERR_DENIED);
	assert_non_null(strstr(s.e.text,
		"you may not list localqueues.sluice.dev in namespace team. Name a namespace of yours with -n, or ask an admin for the right: kubectl create rolebinding sluice-alice -n team --clusterrole=sluice-batch-user --user=alice"));
	stage_close(&s);
}

/* ClusterQueues alone are an answer to who did not ask for a namespace. */
static void clusterqueues_alone_are_an_answer(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	answer(&s, CLUSTERQUEUES, 200, LIST("ClusterQueue", BATCH));
	answer(&s, LOCALQUEUES, 403, FORBIDDEN("localqueues"));
	answer(&s, GROUP, 200, "{}");
	answer(&s, LOCALQUEUES_OF("home"), 403, FORBIDDEN("localqueues"));
	answer(&s, GROUP, 200, "{}");
	answer(&s, STUCK_JOBS, 403, FORBIDDEN("queuedjobs"));
	assert_int_equal(get(&s, NULL, true), 0);
	assert_int_equal(table(&s, NULL, true), 1);
	wants(&s, "You may not list localqueues.sluice.dev, so they are not shown.\n");
	stage_close(&s);
}

/* What the API server answers, to what the user is told. */
static void no_answer_gets_a_sentence(void **state)
{
	static const struct {
		int status;
		const char *body;
		int group; /* what /apis/sluice.dev answers; 0: that is not asked */
		int rc;
		const char *says;
	} rows[] = {
		{404, "404 page not found\n", 0, ERR_BUSY, "the kinds of Sluice are not installed"},
		{403, FORBIDDEN("clusterqueues"), 404, ERR_BUSY,
			"kinds of Sluice are not installed"},
		{401, STATUS("401", "Unauthorized", "Unauthorized"), 0, ERR_BUSY, "401"},
		{500, STATUS("500", "InternalError", "etcd is away"), 0, ERR_BUSY, "etcd is away"},
		{200, "{\"kind\":\"x\"}", 0, ERR_INVALID, "the answer is no list"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, CLUSTERQUEUES, rows[i].status, rows[i].body);
		if (rows[i].group)
			answer(&s, GROUP, rows[i].group, "{}");
		assert_int_equal(get(&s, NULL, false), rows[i].rc);
		if (!strstr(s.e.text, rows[i].says))
			fail_msg("no \"%s\" in %s", rows[i].says, s.e.text);
		stage_close(&s);
	}
}

/* An older controller, a missing right or a missing API is none that is down. */
static void a_controller_that_does_not_answer_is_told(void **state)
{
	static const struct {
		int status;
		const char *body;
		const char *says; /* NULL: nothing */
	} rows[] = {
		{503, "service unavailable\n",
			"\nThe controller does not answer: this shows what it wrote last.\n"},
		{503, STATUS("503", "ServiceUnavailable", "no controller leads"),
			"\nThe controller does not answer (no controller leads): "},
		{400, STATUS("400", "BadRequest", "status.trouble.reason is not known"), NULL},
		{403, FORBIDDEN("queuedjobs"), NULL},
		{404, "404 page not found\n", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, CLUSTERQUEUES, 200, LIST("ClusterQueue", BATCH));
		answer(&s, STUCK_JOBS, rows[i].status, rows[i].body);
		assert_int_equal(get(&s, NULL, false), 0);
		table(&s, NULL, false);
		if (rows[i].says)
			wants(&s, rows[i].says);
		else
			assert_null(strstr(buf_text(&s.text), "does not answer"));
		stage_close(&s);
	}
}

/* Whatever answers there. */
static void nonsense_does_no_harm(void **state)
{
	static const char *const rows[] = {LIST("ClusterQueue", "1,null,\"x\",[],{}"),
		LIST("ClusterQueue", "{\"metadata\":1,\"spec\":[],\"status\":\"x\"}"),
		LIST("ClusterQueue",
			"{\"metadata\":{\"name\":2},\"spec\":{\"resourceGroups\":[1,{\"flavors\":[1,"
			"{\"resources\":[1,{\"nominalQuota\":\"many\"}]}]}]},\"status\":"
			"{\"conditions\":[1],\"flavorsReservation\":[1,{\"resources\":[{\"name\":"
			"\"cpu\",\"total\":[]}]}]}}")};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, CLUSTERQUEUES, 200, rows[i]);
		answer(&s, LOCALQUEUES, 200, rows[i]);
		answer(&s, STUCK_JOBS, 200, rows[i]);
		answer(&s, REPORT, 200, rows[i]);
		assert_int_equal(get(&s, NULL, true), 0);
		table(&s, NULL, true);
		stage_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_admin_sees_quotas),
		cmocka_unit_test(what_no_status_has_is_told_below),
		cmocka_unit_test(all_of_it_in_wide_and_in_json),
		cmocka_unit_test(a_status_that_is_missing_refused_or_old_says_so),
		cmocka_unit_test(one_namespace_is_asked_for_alone),
		cmocka_unit_test(a_user_sees_what_her_localqueues_say),
		cmocka_unit_test(a_user_sees_the_queues_behind_her_localqueues_as_sums),
		cmocka_unit_test(a_user_is_told_that_the_controller_does_not_answer),
		cmocka_unit_test(without_n_she_gets_the_namespace_of_her_kubeconfig),
		cmocka_unit_test(who_may_see_nothing_is_told_the_cure),
		cmocka_unit_test(clusterqueues_alone_are_an_answer),
		cmocka_unit_test(no_answer_gets_a_sentence),
		cmocka_unit_test(a_controller_that_does_not_answer_is_told),
		cmocka_unit_test(nonsense_does_no_harm),
	};
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
