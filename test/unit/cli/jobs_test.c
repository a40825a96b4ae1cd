/* `sluice jobs`: its command line, what it asks the API server, and the table that it makes of the answers. */
#include "test/unit/kube/test.h"

#include <time.h>

#include "cli/jobs/groups.h"
#include "cli/jobs/named_queue.h"
#include "cli/jobs/options.h"
#include "cli/jobs/pages.h"
#include "cli/jobs/report.h"
#include "cli/jobs/user.h"
#include "cli/summary.h"
#include "cli/visibility.h"
#include "test/unit/kube/scripted_server.h"

#define NOW_MS 1795694400000 /* 2026-11-26T12:00:00Z */
#define LIST(items) "{\"kind\":\"QueuedJobList\",\"metadata\":{},\"items\":[" items "]}"
#define PAGE_OF(token, items) "{\"metadata\":{\"continue\":\"" token "\"},\"items\":[" items "]}"
#define META(name)                                                                                 \
	"\"metadata\":{\"name\":\"" name "\",\"namespace\":\"team\",\"uid\":\"u\","                \
	"\"creationTimestamp\":\"2026-11-26T11:15:30Z\"}"
#define JOB(name, state) "{" META(name) ",\"status\":{\"state\":\"" state "\"}}"
#define STATUS(code, reason, message)                                                              \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"" message                       \
	"\",\"reason\":\"" reason "\",\"code\":" code "}"
#define FORBIDDEN(user)                                                                            \
	STATUS("403", "Forbidden", "x is forbidden: User \\\"" user "\\\" cannot list resource")

static const struct style plain = {false, false};

/* ---- the command line ------------------------------------------------------------------------ */

static void states_are_read(void **state)
{
	static const struct {
		const char *text;
		int rc;
		unsigned states;
	} rows[] = {{"Waiting", 0, 1}, {"running", 0, 4}, {"Waiting,Deleting", 0, 17},
		{"ended", 0, 32}, {"Waiting,", ERR_INVALID, 0}, {"", ERR_INVALID, 0},
		{"Pending", ERR_INVALID, 0}, {"Wait", ERR_INVALID, 0}};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		unsigned states = 0;
		struct err e = {""};
		assert_int_equal(job_states_parse(rows[i].text, &states, &e), rows[i].rc);
		assert_int_equal(states, rows[i].states);
		assert_true(rows[i].rc == 0 || strstr(e.text, "Starting, Running"));
	}
	assert_true(job_states_have(JOB_STATE_ANY, "Thawing"));
	assert_true(job_states_have(4, "Running"));
	assert_false(job_states_have(4, "Waiting"));
	assert_false(job_states_have(4, "Thawing"));
}

static int parse(const char *const *words, size_t n, struct jobs_options *o, struct err *e)
{
	static char name[] = "jobs";
	char *argv[9] = {name};
	int argc = 1;
	for (size_t i = 0; i < n && words[i]; i++)
		argv[argc++] = (char *)(uintptr_t)words[i];
	return flags_read(&jobs_flags, argc, argv, o, e);
}

static void flags_and_mistakes(void **state)
{
	static const struct {
		const char *words[6];
		const char *says; /* NULL: it is right */
	} rows[] = {
		{{"-n", "team", "-q", "main", "-w", "-owide"}, NULL},
		{{"-A", "--state", "Waiting,Running", "-l", "a=b"}, NULL},
		{{"-A", "--mine"}, NULL},
		{{"-o", "yaml"}, "table, wide, json or name"},
		{{"-o", "csv"}, "table, wide, json or name"},
		{{"-A", "-n", "team"}, "exclude"},
		{{"-yw"}, "-y"}, /* what is left of these letters is not the next row's */
		{{"-q", "Main"}, "--queue is \"Main\""},
		{{"--state", "x"}, "must be Waiting, Starting"},
		{{"train"}, "it takes no names"},
		{{"--group", "queue", "-A", "-w", "-o", "json"}, NULL},
		{{"-g", "sweep"}, NULL},
		{{"--group", "label"}, "queue, user, sweep or namespace"},
		{{"--group", "user", "-q", "main"}, "goes without -q"},
		{{"--group", "user", "--mine"}, "goes without -q"},
		{{"--group", "user", "-o", "wide"}, "must be table or json"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct jobs_options o;
		struct err e = {""};
		int rc = parse(rows[i].words, ROWS(rows[i].words), &o, &e);
		assert_int_equal(rc, rows[i].says ? ERR_INVALID : 0);
		assert_true(!rows[i].says || strstr(e.text, rows[i].says));
	}
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Of this machine. */
static void clock_of(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

/* text: what it makes of the list. */
static void report(
	const char *list, enum output output, bool namespaces, unsigned states, struct buf *text)
{
	struct json *j = json_new(1 << 20);
	struct err e = {""};
	const cJSON *root;
	struct jobs_report *r = jobs_report_new(
		&(struct jobs_report_options){output, namespaces, states, NOW_MS, plain});
	if (json_parse(j, slice_of(list), &root, &e) != 0)
		fail_msg("%s", e.text);
	jobs_report_add(r, root);
	buf_reset(text);
	jobs_report_render(r, text);
	jobs_report_free(r);
	json_free(j);
}

static const char list_text[] = LIST("{" META(
	"train") ",\"spec\":{\"queue\":\"main\",\"clusterQueue\":\"batch\",\"submittedBy\":\"alice\",\"priority\":100,"
		 "\"pods\":4,\"requests\":{\"cpu\":\"16\",\"memory\":\"64Gi\"}},\"status\":"
		 "{\"state\":\"Running\",\"message\":\"runs in flavor spot; all is well\","
		 "\"startedAt\":\"2026-11-26T11:05:00Z\"}},"
		 "{" META(
			 "eval") ",\"spec\":{\"queue\":\"main\",\"clusterQueue\":\"batch\","
				 "\"priority\":0,\"pods\":1,\"requests\":{\"cpu\":\"1\","
				 "\"memory\":\"1Gi\",\"nvidia.com/gpu\":\"1\",\"hugepages-2Mi\":"
				 "\"2Mi\"}},\"status\":{\"state\":\"Waiting\",\"position\":1,"
				 "\"waitsFor\":\"quota\",\"message\":\"needs 1 gpu\","
				 "\"startAt\":\"2026-11-26T15:12:30Z\"}},"
				 "{\"metadata\":{\"name\":\"b\\u001bad\",\"namespace\":\"other\"}}");

static void a_list_becomes_a_table(void **state)
{
	(void)state;
	struct buf text;
	buf_init(&text, 65536);
	clock_of("UTC");
	report(list_text, OUTPUT_TABLE, false, JOB_STATE_ANY, &text);
	assert_string_equal(buf_text(&text),
		"NAME   QUEUE  STATE    POSITION  PRIORITY  REQUESTS                                                         WAITS FOR  START            AGE\n"
		"train  main   Running         -       100  4 pods: 16 cpu, 64Gi memory                                      -          since 11:05 UTC  44m\n"
		"eval   main   Waiting         1         0  1 pod: 1 cpu, 1Gi memory, 1 nvidia.com/gpu and 1 other resource  quota      in 3h12m         44m\n"
		"b?ad   -      -               -         -  -                                                                -          -                -\n");
	report(list_text, OUTPUT_WIDE, true, JOB_STATE_ANY, &text);
	assert_non_null(strstr(buf_text(&text), "NAMESPACE  NAME "));
	assert_non_null(strstr(buf_text(&text), "  CLUSTERQUEUE  SUBMITTED BY  MESSAGE\n"));
	assert_non_null(
		strstr(buf_text(&text), "44m  batch         alice         runs in flavor spot\n"));
	assert_non_null(strstr(buf_text(&text), "1 nvidia.com/gpu, 2Mi hugepages-2Mi"));
	assert_non_null(strstr(buf_text(&text), "\nother      b?ad "));
	buf_done(&text);
}

/* Of a run "Running" is only half of it. */
static void a_run_in_trouble_does_not_look_healthy(void **state)
{
	(void)state;
	struct buf text;
	buf_init(&text, 65536);
	report(LIST("{" META("a") ",\"status\":{\"state\":\"Running\",\"trouble\":{\"reason\":"
				  "\"ErrImagePull\",\"pods\":1,\"of\":1}}}"),
		OUTPUT_TABLE, false, JOB_STATE_ANY, &text);
	assert_non_null(strstr(buf_text(&text), "  ErrImagePull  "));
	buf_done(&text);
}

static const char timed[] = LIST("{" META(
	"a") ",\"status\":{\"state\":\"Waiting\",\"message\":\"opens Fri 2026-11-27 01:00 UTC; x\"}},"
	     "{" META("b") ",\"status\":{\"state\":\"Running\",\"message\":\"runs since "
			   "2026-11-26T11:05:07Z: holds 4 cpu in flavor of a name that is "
			   "so long that it does not fit\"}},"
			   "{" META("c") ",\"status\":{\"state\":\"Waiting\",\"message\":"
					 "\"there is a long reason, and after all of it in "
					 "the end until 2026-11-26T13:00:00Z\"}}");

/* The zone stands with the first time of an answer, and not with those after it. */
static void a_message_has_the_users_times(void **state)
{
	(void)state;
	struct buf text;
	buf_init(&text, 65536);
	clock_of("CET-1");
	report(timed, OUTPUT_WIDE, false, JOB_STATE_ANY, &text);
	assert_non_null(strstr(buf_text(&text), "  opens Fri 2026-11-27 02:00 CET\n"));
	assert_non_null(strstr(buf_text(&text), "  runs since 2026-11-26 12:05:07: holds 4 cpu "));
	assert_non_null(strstr(buf_text(&text), " until 2026-11-26 14:00\n"));
	assert_null(strstr(buf_text(&text), "UTC"));
	clock_of("UTC");
	buf_done(&text);
}

static void a_report_begins_anew_with_its_zone(void **state)
{
	(void)state;
	struct buf text;
	struct json *j = json_new(1 << 20);
	struct err e = {""};
	const cJSON *root;
	struct jobs_report *r = jobs_report_new(
		&(struct jobs_report_options){OUTPUT_WIDE, false, JOB_STATE_ANY, NOW_MS, plain});
	buf_init(&text, 65536);
	clock_of("CET-1");
	assert_int_equal(json_parse(j, slice_of(timed), &root, &e), 0);
	for (size_t i = 0; i < 2; i++) { /* as after pages whose moment is over */
		jobs_report_reset(r);
		jobs_report_add(r, root);
		buf_reset(&text);
		jobs_report_render(r, &text);
		assert_non_null(strstr(buf_text(&text), "02:00 CET\n"));
	}
	clock_of("UTC");
	jobs_report_free(r);
	json_free(j);
	buf_done(&text);
}

static void a_start_says_when(void **state)
{
	static const struct {
		const char *status, *start;
	} rows[] = {{"\"state\":\"Waiting\",\"startAt\":\"2026-11-26T11:59:59Z\"", "due"},
		{"\"state\":\"Waiting\",\"start\":{\"p50\":\"2026-11-26T15:00:00Z\"}",
			"in about 3h"},
		{"\"state\":\"Waiting\",\"start\":{\"p50\":\"2026-11-26T12:04:42Z\"}",
			"in about 5m"},
		{"\"state\":\"Waiting\",\"start\":{\"p50\":\"2026-11-26T11:59:00Z\"}", "due"},
		{"\"state\":\"Waiting\",\"startAt\":\"2026-11-28T16:00:00Z\"", "in 2d4h"},
		{"\"state\":\"Running\",\"startedAt\":\"2026-11-25T14:05:00Z\"",
			"since 2026-11-25 14:05 UTC"},
		{"\"state\":\"Stopping\",\"startedAt\":\"2026-11-26T00:00:00Z\"",
			"since 00:00 UTC"},
		{"\"state\":\"Running\",\"startedAt\":\"yesterday\"", "-  "},
		{"\"state\":\"Waiting\",\"reason\":\"WaitingForQuota\"", "?  "},
		{"\"state\":\"Waiting\",\"reason\":\"NoNodeSuits\",\"start\":{\"misses\":16}",
			"never"},
		{"\"state\":\"Waiting\",\"reason\":\"ExceedsMaxQuota\"", "never"},
		{"\"state\":\"Waiting\",\"reason\":\"WaitingForQuota\",\"start\":{\"misses\":16}",
			"over 30d"},
		{"\"state\":\"Waiting\",\"reason\":\"OnHold\"", "-  "},
		{"\"state\":\"Waiting\",\"reason\":\"WaitingForQuota\",\"noForecasts\":true",
			"-  "}};
	(void)state;
	clock_of("UTC");
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct buf list, text;
		buf_init(&list, 4096);
		buf_init(&text, 4096);
		buf_printf(&list, LIST("{" META("a") ",\"status\":{%s}}"), rows[i].status);
		report(buf_text(&list), OUTPUT_TABLE, false, JOB_STATE_ANY, &text);
		if (!strstr(buf_text(&text), rows[i].start))
			fail_msg("no \"%s\" in\n%s", rows[i].start, buf_text(&text));
		buf_done(&list);
		buf_done(&text);
	}
}

#define SUMMARY(by, rest)                                                                          \
	"{\"kind\":\"SummaryReport\",\"by\":\"" by "\",\"attentionJobs\":3,\"attentionWords\":["   \
	"{\"word\":\"NoNodeSuits\",\"jobs\":2},{\"word\":\"ErrImagePull\",\"jobs\":1}],"           \
	"\"groups\":[" rest "}"

static void groups(const char *summary, bool namespaces, struct buf *text)
{
	struct json *j = json_new(1 << 20);
	struct err e = {""};
	const cJSON *root;
	if (json_parse(j, slice_of(summary), &root, &e) != 0)
		fail_msg("%s", e.text);
	buf_reset(text);
	groups_render(root, namespaces, NOW_MS, &plain, text);
	json_free(j);
}

static void groups_are_a_row_each(void **state)
{
	struct buf text;
	(void)state;
	buf_init(&text, 65536);
	groups(SUMMARY("queue",
		       "{\"key\":\"training\",\"running\":13,\"waiting\":117,\"attention\":3,"
		       "\"oldestQueuedAt\":\"2026-11-26T11:33:00Z\",\"nextStart\":{\"at\":"
		       "\"2026-11-26T12:02:30Z\",\"p90\":\"2026-11-26T12:05:00Z\"},"
		       "\"waitsFor\":\"quota\"},"
		       "{\"key\":\"night\",\"running\":0,\"waiting\":6,\"oldestQueuedAt\":"
		       "\"2026-11-26T09:00:00Z\",\"nextStart\":{\"at\":\"2026-11-26T20:00:00Z\"},"
		       "\"waitsFor\":\"its window to open\"},"
		       "{\"key\":\"\",\"running\":1,\"waiting\":0}],\"moreGroups\":0"),
		false, &text);
	assert_string_equal(buf_text(&text),
		"CLUSTERQUEUE  RUNNING  WAITING  ATTENTION  OLDEST  NEXT START   MOST WAIT FOR\n"
		"training           13      117          3     27m  in about 3m  quota\n"
		"night               0        6          0      3h  in 8h        its window to open\n"
		"-                   1        0          0       -  -            -\n"
		"\nNeeds attention: 2 NoNodeSuits, 1 ErrImagePull (-o json names the Jobs)\n");
	groups(SUMMARY("sweep", "{\"key\":\"lr-\\u001b[2J\",\"namespace\":\"vision\",\"running\":1,"
				"\"waiting\":35}],\"moreGroups\":7"),
		true, &text);
	assert_non_null(strstr(buf_text(&text), "NAMESPACE  SWEEP  "));
	assert_non_null(strstr(buf_text(&text), "vision     lr-?[2J"));
	assert_non_null(strstr(buf_text(&text), "\n(7 more)\n"));
	groups("{\"by\":\"user\",\"groups\":[]}", false, &text);
	assert_string_equal(buf_text(&text), "");
	buf_done(&text);
}

static void states_names_and_json(void **state)
{
	static const char list[] =
		LIST(JOB("a", "Running") "," JOB("b", "Waiting") "," JOB("c", "Stopping"));
	(void)state;
	struct buf text;
	buf_init(&text, 65536);
	report(list, OUTPUT_NAME, false, JOB_STATE_ANY, &text);
	assert_string_equal(buf_text(&text), "job.batch/a\njob.batch/b\njob.batch/c\n");
	report(list, OUTPUT_NAME, false, 1 | 8, &text);
	assert_string_equal(buf_text(&text), "job.batch/b\njob.batch/c\n");
	report(list, OUTPUT_JSON, false, 4, &text);
	assert_string_equal(buf_text(&text),
		"{\"apiVersion\":\"visibility.sluice.dev/v1alpha1\",\"kind\":\"QueuedJobList\","
		"\"metadata\":{},\"items\":[" JOB("a", "Running") "]}\n");
	report(LIST("{\"status\":{\"ledgerDown\":true,"
		    "\"ledgerDownSince\":\"2026-11-26T19:43:00Z\"}}"),
		OUTPUT_TABLE, false, JOB_STATE_ANY, &text);
	assert_non_null(strstr(buf_text(&text),
		"Postgres has not answered since 2026-11-26 19:43 UTC: running Jobs continue, but no Job starts"));
	report(list, OUTPUT_TABLE, false, 16, &text);
	assert_string_equal(buf_text(&text), "");
	report("{\"items\":[1,null,{},[],{\"spec\":1,\"status\":{\"state\":2}}]}", OUTPUT_WIDE,
		true, JOB_STATE_ANY, &text); /* whatever answers there */
	buf_done(&text);
}

/* ---- the questions --------------------------------------------------------------------------- */

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct jobs_report *report;
	struct jobs_options o;
	const char *user;
	struct buf text;
	struct err e;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = question_client(s->loop, s->config);
	s->report = jobs_report_new(&(struct jobs_report_options){
		.output = OUTPUT_NAME, .now_ms = NOW_MS, .style = plain});
	buf_init(&s->text, 65536);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	buf_done(&s->text);
	jobs_report_free(s->report);
	kube_client_free(s->client);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
}

static void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status, "", body);
}

static int list(struct stage *s)
{
	int rc = jobs_pages_read(s->loop, s->client, "team", s->user, &s->o, s->report, &s->e);
	buf_reset(&s->text);
	jobs_report_render(s->report, &s->text);
	return rc;
}

#define ALL "GET /apis/visibility.sluice.dev/v1alpha1/queuedjobs?limit=500"
#define TEAM "GET /apis/visibility.sluice.dev/v1alpha1/namespaces/team/queuedjobs?limit=500"

static void all_pages_are_read(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, TEAM " HTTP", 200, PAGE_OF("7/a=", JOB("a", "Running")));
	answer(&s, TEAM "&continue=7%2Fa%3D HTTP", 200, LIST(JOB("b", "Waiting")));
	assert_int_equal(list(&s), 0);
	assert_string_equal(buf_text(&s.text), "job.batch/a\njob.batch/b\n");
	stage_close(&s);
}

static void what_can_be_chosen_there_is_chosen_there(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	s.o = (struct jobs_options){
		.all_namespaces = true, .queue = "main", .states = 1, .selector = "a in (b,c)"};
	answer(&s,
		ALL
		"&fieldSelector=spec.queue%3Dmain%2Cstatus.state%3DWaiting&labelSelector=a%20in%20%28b%2Cc%29 HTTP",
		200, LIST(""));
	assert_int_equal(list(&s), 0);
	s.o = (struct jobs_options){.queue = "main", .states = 1};
	s.user = "CORP\\bob,o=team";
	answer(&s,
		TEAM
		"&fieldSelector=spec.queue%3Dmain%2Cspec.submittedBy%3DCORP%5C%5Cbob%5C%2Co%5C%3Dteam%2Cstatus.state%3DWaiting HTTP",
		200, LIST(""));
	assert_int_equal(list(&s), 0);
	s.user = NULL;
	s.o = (struct jobs_options){.states = 1 | 4};
	answer(&s, TEAM " HTTP", 200, LIST(""));
	assert_int_equal(list(&s), 0);
	stage_close(&s);
}

static void a_summary_is_asked_for(void **state)
{
	struct stage s;
	struct json *json = json_new(1 << 20);
	const cJSON *root = NULL;
	(void)state;
	stage_open(&s);
	answer(&s, "GET " VISIBILITY_ROOT "/summaries?by=user HTTP", 200, "{\"by\":\"user\"}");
	assert_int_equal(summary_ask(s.loop, s.client, NULL, "user", json, &root, &s.e), 0);
	answer(&s, "GET " VISIBILITY_ROOT "/namespaces/team/summaries?by=queue HTTP", 404,
		STATUS("404", "NotFound", "the server could not find the requested resource"));
	assert_int_equal(
		summary_ask(s.loop, s.client, "team", "queue", json, &root, &s.e), ERR_BUSY);
	assert_non_null(strstr(s.e.text, "has no summaries: its controller is older"));
	json_free(json);
	stage_close(&s);
}

static void a_queue_that_is_not_there_is_no_empty_one(void **state)
{
	static const struct {
		const char *ns, *line, *name;
		int status;
		const char *body;
		int rc;
		const char *says;
	} rows[] = {
		{"team", "GET /apis/sluice.dev/v1alpha1/namespaces/team/localqueues?", "trainng",
			200, LIST("{\"metadata\":{\"name\":\"training\"}}"), ERR_GONE,
			"there is no LocalQueue \"trainng\" in namespace team; did you mean training?"},
		{NULL, "GET /apis/sluice.dev/v1alpha1/localqueues?", "other", 200,
			LIST("{\"metadata\":{\"name\":\"training\"}}"), ERR_GONE,
			"there is no LocalQueue \"other\" in any namespace"},
		{"team", "localqueues?", "training", 200,
			LIST("{\"metadata\":{\"name\":\"training\"}}"), 0, ""},
		{"team", "localqueues?", "trainng", 403, FORBIDDEN("bob"), ERR_DENIED,
			"you may not list localqueues.sluice.dev there, so it is not known whether there is a LocalQueue \"trainng\""},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, rows[i].line, rows[i].status, rows[i].body);
		assert_int_equal(
			jobs_named_queue_look(s.loop, s.client, rows[i].ns, rows[i].name, &s.e),
			rows[i].rc);
		if (rows[i].rc < 0)
			assert_string_equal(s.e.text, rows[i].says);
		stage_close(&s);
	}
}

static void the_api_server_says_who_asks(void **state)
{
	static const struct {
		int status;
		const char *body;
		int rc;
		const char *is;
	} rows[] = {
		{201, "{\"status\":{\"userInfo\":{\"username\":\"alice\",\"groups\":[]}}}", 0,
			"alice"},
		{201, "{\"status\":{\"userInfo\":{}}}", ERR_INVALID, "does not say who you are"},
		{403, FORBIDDEN("x"), ERR_DENIED, "forbidden"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		char user[SUBMITTER_MAX_BYTES + 1] = "";
		struct stage s;
		stage_open(&s);
		answer(&s, "POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP",
			rows[i].status, rows[i].body);
		assert_int_equal(jobs_user_read(s.loop, s.client, user, &s.e), rows[i].rc);
		assert_non_null(strstr(rows[i].rc ? s.e.text : user, rows[i].is));
		stage_close(&s);
	}
}

static void pages_whose_moment_is_over_are_read_once_more(void **state)
{
	static const char expired[] = STATUS("410", "Expired", "too old");
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, TEAM " HTTP", 200, PAGE_OF("1", JOB("a", "Running")));
	answer(&s, TEAM "&continue=1 HTTP", 410, expired);
	answer(&s, TEAM " HTTP", 200, PAGE_OF("2", JOB("b", "Running")));
	answer(&s, TEAM "&continue=2 HTTP", 200, LIST(JOB("c", "Running")));
	assert_int_equal(list(&s), 0);
	assert_string_equal(buf_text(&s.text), "job.batch/b\njob.batch/c\n");
	answer(&s, TEAM " HTTP", 200, PAGE_OF("1", JOB("a", "Running")));
	answer(&s, TEAM "&continue=1 HTTP", 410, expired);
	answer(&s, TEAM " HTTP", 410, expired);
	assert_int_equal(list(&s), ERR_BUSY);
	assert_non_null(strstr(s.e.text, "twice"));
	stage_close(&s);
}

/* What was answered, to what the user is told. */
static void no_answer_gets_a_sentence_with_the_cure(void **state)
{
	static const struct {
		int status;
		const char *body;
		int group; /* what /apis/visibility.sluice.dev answers; 0: that is not asked */
		int rc;
		const char *says;
	} rows[] = {
		{404, "404 page not found\n", 0, ERR_BUSY, "does not serve the API visibility"},
		{404, "404 page not found\n", 0, ERR_BUSY, "deploy/components/visibility"},
		{503, "service unavailable\n", 0, ERR_BUSY,
			"kubectl get apiservice v1alpha1.visibility.sluice.dev says why"},
		{503, STATUS("503", "ServiceUnavailable", "c-2 is a standby"), 0, ERR_BUSY,
			"c-2 is a standby"},
		{403, FORBIDDEN("bob"), 404, ERR_BUSY, "does not serve the API"},
		{403, FORBIDDEN("bob"), 200, ERR_DENIED, "you may not list queuedjobs."},
		{403, FORBIDDEN("bob"), 200, ERR_DENIED,
			"kubectl create rolebinding sluice-bob -n team --clusterrole=sluice-batch-user --user=bob"},
		{403, FORBIDDEN("b;rm"), 200, ERR_DENIED, "--user=USER"},
		{403, STATUS("403", "Forbidden", "no entry for you"), 200, ERR_DENIED,
			"refuses it: no entry for you"},
		{400, STATUS("400", "BadRequest", "the label selector is not one"), 0, ERR_INVALID,
			"the label selector is not one"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, TEAM, rows[i].status, rows[i].body);
		if (rows[i].group)
			answer(&s, "GET /apis/visibility.sluice.dev HTTP", rows[i].group, "{}");
		assert_int_equal(list(&s), rows[i].rc);
		if (!strstr(s.e.text, rows[i].says))
			fail_msg("no \"%s\" in %s", rows[i].says, s.e.text);
		stage_close(&s);
	}
}

/* To read what is in all namespaces takes no right to write in them. */
static void who_may_not_list_all_namespaces_is_told_of_the_viewer(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	s.o.all_namespaces = true;
	answer(&s, ALL, 403, FORBIDDEN("bob"));
	answer(&s, "GET /apis/visibility.sluice.dev HTTP", 200, "{}");
	assert_int_equal(
		jobs_pages_read(s.loop, s.client, NULL, s.user, &s.o, s.report, &s.e), ERR_DENIED);
	assert_non_null(strstr(s.e.text,
		"kubectl create clusterrolebinding sluice-bob --clusterrole=sluice-viewer --user=bob"));
	stage_close(&s);
}

/* One that is not there: the Job or the API? */
static void a_job_that_is_not_there_is_no_api_that_is_not_there(void **state)
{
	static const struct {
		const char *body;
		int rc;
	} rows[] = {{STATUS("404", "NotFound", "queuedjobs \\\"x\\\" not found"), ERR_GONE},
		{"404 page not found\n", ERR_BUSY}};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct stage s;
		struct json *j = json_new(1 << 20);
		const cJSON *root;
		stage_open(&s);
		answer(&s, "GET " VISIBILITY_ROOT "/x HTTP", 404, rows[i].body);
		assert_int_equal(
			visibility_ask(s.loop, s.client,
				&(struct visibility_request){VISIBILITY_ROOT "/x", "team", true}, j,
				&root, &s.e),
			rows[i].rc);
		json_free(j);
		stage_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_are_read),
		cmocka_unit_test(flags_and_mistakes),
		cmocka_unit_test(a_list_becomes_a_table),
		cmocka_unit_test(a_run_in_trouble_does_not_look_healthy),
		cmocka_unit_test(a_message_has_the_users_times),
		cmocka_unit_test(a_report_begins_anew_with_its_zone),
		cmocka_unit_test(a_start_says_when),
		cmocka_unit_test(groups_are_a_row_each),
		cmocka_unit_test(a_summary_is_asked_for),
		cmocka_unit_test(states_names_and_json),
		cmocka_unit_test(all_pages_are_read),
		cmocka_unit_test(what_can_be_chosen_there_is_chosen_there),
		cmocka_unit_test(a_queue_that_is_not_there_is_no_empty_one),
		cmocka_unit_test(the_api_server_says_who_asks),
		cmocka_unit_test(pages_whose_moment_is_over_are_read_once_more),
		cmocka_unit_test(no_answer_gets_a_sentence_with_the_cure),
		cmocka_unit_test(who_may_not_list_all_namespaces_is_told_of_the_viewer),
		cmocka_unit_test(a_job_that_is_not_there_is_no_api_that_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
