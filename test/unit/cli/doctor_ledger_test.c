/* `sluice doctor`: what it asks of Postgres, and the ledger beside the cluster. */
#include "doctor_stage.h"

#include <time.h>

#include "controller/common/clock.h"
#include "test/unit/ledger/drive.h"

#define JOBS "GET /apis/batch/v1/jobs?limit=500 HTTP"
#define PODS "GET /api/v1/pods?limit=500&labelSelector"
#define UID(n) "00000000-0000-4000-8000-00000000000" n

static void dial(struct stage *s)
{
	s->o.database = F.conninfo;
	examine(s, "postgres");
}

/* Whether it is the quickstart's is asked of the Deployment, which names its host. */
static void answer_deployment(struct stage *s, const char *host)
{
	char body[300];
	snprintf(body, sizeof(body),
		"{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"env\":[{\"name\":\"PGHOST\",\"value\":\"%s\"}]}]}}}}",
		host);
	answer(s, "GET /apis/apps/v1/namespaces/sluice-system/deployments/sluice-controller", 200,
		body);
}

/* Connected, the schema seen. */
static void stage_with_ledger(struct stage *s)
{
	stage_open(s);
	dial(s);
	expect(s, VERDICT_OK, "database postgres");
	examine(s, "schema");
	expect(s, VERDICT_OK, "as this program's");
	assert_true(s->p.has_schema);
}

/* ---- Postgres ------------------------------------------------------------------------------- */

static void a_database_that_does_not_answer(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	s.o.database = "host=/nowhere password=secret";
	answer_deployment(&s, "/nowhere");
	examine(&s, "postgres");
	expect(&s, VERDICT_FAIL, "/nowhere");
	assert_null(strstr(s.f.kept[0].text, "secret"));
	assert_null(s.p.pg);
	s.o.database = NULL;
	examine(&s, "postgres");
	expect(&s, VERDICT_SKIPPED, "no database is named");
	stage_close(&s);
}

/* That of the tests runs without fsync. */
static void without_fsync(void **state)
{
	(void)state;
	struct stage s;
	stage_with_ledger(&s);
	examine(&s, "durability");
	assert_int_equal(s.f.verdict, VERDICT_FAIL);
	assert_non_null(strstr(s.f.kept[0].text, "fsync is off"));
	assert_non_null(strstr(s.f.kept[0].cure, "ALTER SYSTEM SET fsync = on"));
	examine(&s, "pooler");
	expect(&s, VERDICT_OK, "Postgres itself");
	examine(&s, "database-clock");
	expect(&s, VERDICT_OK, "within");
	stage_close(&s);
}

static void set_standby_names(const char *names)
{
	pg_fixture_sql(&F, "ALTER SYSTEM SET synchronous_standby_names = '%s'", names);
	pg_fixture_sql(&F, "SELECT pg_reload_conf()");
	while (strcmp(pg_fixture_sql(&F, "SHOW synchronous_standby_names"), names) != 0)
		usleep(1000);
}

/* Real ones are in test/e2e/test_restore.py. */
static void no_standby(void **state)
{
	(void)state;
	struct stage s;
	stage_with_ledger(&s);
	answer_deployment(&s, "sluice-postgres");
	examine(&s, "replication");
	expect(&s, VERDICT_SKIPPED, "deploy/quickstart has one Postgres");
	stage_close(&s);
	stage_with_ledger(&s);
	answer_deployment(&s, "db");
	examine(&s, "replication");
	expect(&s, VERDICT_WARN, "Postgres has no standby: if its disk is lost, so is the ledger");
	assert_non_null(strstr(s.f.kept[0].cure, "--ignore replication"));
	set_standby_names("paris");
	stage_close(&s);
	stage_with_ledger(&s);
	examine(&s, "replication");
	expect(&s, VERDICT_FAIL, "is paris, and no standby is connected: each commit waits");
	set_standby_names("");
	stage_close(&s);
}

static void several_hosts(void **state)
{
	static const struct {
		const char *more, *said;
	} cases[] = {
		{"", NULL},
		{" target_session_attrs=read-write", NULL},
		{" target_session_attrs=primary", NULL},
		{" target_session_attrs=any", "neither read-write nor primary"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stage s;
		char conninfo[600];
		stage_open(&s);
		/* The first is away. */
		snprintf(conninfo, sizeof(conninfo), "%s host=/nowhere,%s%s", F.conninfo, F.dir,
			cases[i].more);
		s.o.database = conninfo;
		examine(&s, "postgres");
		expect(&s, VERDICT_OK, "database postgres");
		answer_deployment(&s, "db");
		examine(&s, "replication");
		assert_int_equal(s.f.count, cases[i].said ? 2 : 1);
		if (cases[i].said)
			assert_non_null(strstr(s.f.kept[1].text, cases[i].said));
		stage_close(&s);
	}
}

static void schemas(void **state)
{
	(void)state;
	struct stage s;
	stage_with_ledger(&s);
	pg_fixture_sql(&F, "INSERT INTO sluice.schema_version VALUES (99, 'x', now(), 'x')");
	examine(&s, "schema");
	expect(&s, VERDICT_FAIL, "version 99 and this program knows versions up to");
	assert_false(s.p.has_schema);
	pg_fixture_sql(&F, "DELETE FROM sluice.schema_version WHERE version = 99");
	pg_fixture_sql(&F, "INSERT INTO sluice.schema_addition VALUES (99, 'x', now(), 'x')");
	examine(&s, "schema");
	expect(&s, VERDICT_OK, "version 99: a newer sluice-controller has added to it");
	assert_true(s.p.has_schema);
	pg_fixture_sql(&F, "DELETE FROM sluice.schema_addition WHERE number = 99");
	pg_fixture_sql(&F, "ALTER TABLE sluice.schema_addition RENAME TO additions_kept");
	pg_fixture_sql(
		&F, "CREATE TABLE kept AS SELECT * FROM sluice.schema_version WHERE version > 1");
	pg_fixture_sql(&F, "DELETE FROM sluice.schema_version WHERE version > 1");
	examine(&s, "schema");
	expect(&s, VERDICT_WARN, "is version 1, and this program is of version");
	pg_fixture_sql(&F, "INSERT INTO sluice.schema_version SELECT * FROM kept");
	pg_fixture_sql(&F, "DROP TABLE kept");
	pg_fixture_sql(&F, "ALTER TABLE sluice.additions_kept RENAME TO schema_addition");
	pg_fixture_sql(&F, "ALTER SCHEMA sluice RENAME TO away");
	examine(&s, "schema");
	expect(&s, VERDICT_FAIL, "there is no ledger in database postgres");
	pg_fixture_sql(&F, "ALTER SCHEMA away RENAME TO sluice");
	stage_close(&s);
}

static void leases(void **state)
{
	(void)state;
	struct stage s;
	stage_with_ledger(&s);
	pg_fixture_sql(&F, "DELETE FROM sluice.lease WHERE cell = 'default'");
	examine(&s, "lease");
	expect(&s, VERDICT_FAIL, "no controller has ever led cell \"default\"");
	pg_fixture_sql(&F, "INSERT INTO sluice.lease VALUES ('default', 7, 1, 'one', now() + "
			   "interval '9 s')");
	examine(&s, "lease");
	expect(&s, VERDICT_WARN, "a standby takes over when the lease has run out, not at once");
	pg_fixture_sql(&F, "UPDATE sluice.lease SET session_lock = session");
	examine(&s, "lease");
	expect(&s, VERDICT_OK, "one leads (epoch 7), ");
	pg_fixture_sql(&F, "UPDATE sluice.lease SET expires_at = now() - interval '5 min'");
	examine(&s, "lease");
	expect(&s, VERDICT_FAIL, "the lease of one (epoch 7) ran out 5m");
	assert_true(s.p.lease_known && !s.p.led);
	pg_fixture_sql(&F, "UPDATE sluice.lease SET expires_at = '-infinity'");
	examine(&s, "lease");
	expect(&s, VERDICT_FAIL, "was given back");
	stage_close(&s);
}

static void rights_of_the_role(void **state)
{
	(void)state;
	struct stage s;
	char conninfo[256];
	stage_with_ledger(&s);
	examine(&s, "role");
	expect(&s, VERDICT_OK, "may migrate it");
	stage_close(&s);
	pg_fixture_sql(&F, "CREATE ROLE reader LOGIN");
	pg_fixture_sql(&F, "GRANT USAGE ON SCHEMA sluice TO reader");
	pg_fixture_sql(&F, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA sluice TO "
			   "reader");
	stage_open(&s);
	snprintf(conninfo, sizeof(conninfo), "%s user=reader", F.conninfo);
	s.o.database = conninfo;
	examine(&s, "postgres");
	examine(&s, "role");
	expect(&s, VERDICT_OK, "belongs to role postgres, which has to migrate it");
	pg_fixture_sql(&F, "REVOKE DELETE, UPDATE ON sluice.hold FROM reader");
	examine(&s, "role");
	expect(&s, VERDICT_FAIL, "role reader may not delete, update sluice.hold");
	assert_string_equal(s.f.kept[0].cure, "GRANT DELETE, UPDATE ON sluice.hold TO reader;");
	pg_fixture_sql(&F, "%s", s.f.kept[0].cure);
	examine(&s, "role");
	expect(&s, VERDICT_OK, "belongs to role postgres, which has to migrate it");
	pg_fixture_sql(&F, "ALTER TABLE sluice.schema_addition RENAME TO additions_kept");
	pg_fixture_sql(
		&F, "CREATE TABLE kept AS SELECT * FROM sluice.schema_version WHERE version > 1");
	pg_fixture_sql(&F, "DELETE FROM sluice.schema_version WHERE version > 1");
	examine(&s, "schema");
	expect(&s, VERDICT_WARN, "role reader may not migrate it: it belongs to role postgres");
	assert_non_null(
		strstr(s.f.kept[0].cure, "--migrate-only --database \"... user=postgres\""));
	pg_fixture_sql(&F, "INSERT INTO sluice.schema_version SELECT * FROM kept");
	pg_fixture_sql(&F, "DROP TABLE kept");
	pg_fixture_sql(&F, "ALTER TABLE sluice.additions_kept RENAME TO schema_addition");
	pg_fixture_sql(&F, "REVOKE USAGE ON SCHEMA sluice FROM reader");
	examine(&s, "schema");
	expect(&s, VERDICT_FAIL, "permission denied for schema sluice");
	assert_non_null(strstr(s.f.kept[0].cure, "GRANT USAGE ON SCHEMA sluice TO reader;"));
	pg_fixture_sql(&F, "GRANT USAGE ON SCHEMA sluice TO reader");
	pg_fixture_sql(&F, "REVOKE SELECT ON sluice.schema_version FROM reader");
	examine(&s, "schema");
	expect(&s, VERDICT_FAIL, "permission denied");
	stage_close(&s);
}

static void balances(void **state)
{
	(void)state;
	struct stage s;
	stage_with_ledger(&s);
	examine(&s, "balances");
	expect(&s, VERDICT_OK, "sluice.audit is empty");
	pg_fixture_sql(&F,
		"INSERT INTO sluice.balance (cell, node, flavor, resource, pending, wanted, "
		"ceiling) VALUES ('default', 'cq/a', 'f', 'cpu', 5, 9, 9), ('other', "
		"'cq/b', 'f', 'cpu', 5, 9, 9)");
	examine(&s, "balances");
	expect(&s, VERDICT_FAIL, "cq/a f cpu: balance is not what is held: balance 5/0/0");
	pg_fixture_sql(&F, "DELETE FROM sluice.balance");
	stage_close(&s);
}

#define RUNS_THAT_ENDED(cell, n, days)                                                             \
	"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, started_at, " \
	"stopped_at, lines) SELECT '" cell "', gen_random_uuid(), 1, 'n', 'j', 'a', now() - "      \
	"interval '" days "', now() - interval '" days "', '[]' FROM generate_series(1, " n ")"

static void size_and_growth(void **state)
{
	(void)state;
	struct stage s;
	stage_with_ledger(&s);
	examine(&s, "history");
	expect(&s, VERDICT_OK,
		"0 runs, 0 transfers; of cell default 0 runs ended in 7 days, 0 in 30; "
		"none is kept; no leader has looked yet");
	pg_fixture_sql(&F, RUNS_THAT_ENDED("default", "3", "6 days"));
	pg_fixture_sql(&F, RUNS_THAT_ENDED("default", "4", "29 days"));
	pg_fixture_sql(&F, RUNS_THAT_ENDED("default", "5", "399 days"));
	pg_fixture_sql(&F, RUNS_THAT_ENDED("other", "6", "1 day"));
	pg_fixture_sql(&F, "INSERT INTO sluice.retention VALUES ('default', NULL, now())");
	examine(&s, "history");
	expect(&s, VERDICT_OK,
		"B: 18 runs, 0 transfers; of cell default 3 runs ended in 7 days, 7 in 30; "
		"the oldest ended on 20");
	expect(&s, VERDICT_OK, "all is kept (--keep-history 0)");
	pg_fixture_sql(&F, "UPDATE sluice.retention SET keep = '400 days'");
	examine(&s, "history");
	expect(&s, VERDICT_OK, "kept for 400 days");
	/* Over its time, but a leader has caught up since: it is kept for a Budget, say. */
	pg_fixture_sql(&F, "UPDATE sluice.retention SET keep = '390 days', caught_up_at = now()");
	examine(&s, "history");
	expect(&s, VERDICT_OK, "kept for 390 days");
	pg_fixture_sql(&F, "UPDATE sluice.retention SET caught_up_at = now() - interval '2 days'");
	examine(&s, "history");
	expect(&s, VERDICT_WARN, "forgetting is behind (nothing was left to do last on 20");
	assert_non_null(strstr(s.f.kept[0].cure, "retention-down"));
	pg_fixture_sql(&F, "UPDATE sluice.retention SET caught_up_at = NULL");
	examine(&s, "history");
	expect(&s, VERDICT_WARN, "(something was always left to do)");
	pg_fixture_sql(&F, "DELETE FROM sluice.retention");
	pg_fixture_sql(&F, "DELETE FROM sluice.segment");
	stage_close(&s);
}

/* The statements of docs/trouble.md. */
static void balances_are_cured_by_what_the_docs_say(void **state)
{
	(void)state;
	struct stage s;
	char text[65536];
	FILE *f = fopen(DOCTOR_PAGE, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	char *begin = strstr(text, "```sql\n");
	assert_non_null(begin);
	begin += strlen("```sql\n");
	*strstr(begin, "```") = '\0';

	stage_with_ledger(&s);
	pg_fixture_sql(&F,
		"INSERT INTO sluice.balance (cell, node, flavor, resource, parent, guaranteed, "
		"pending, posted, members, wanted, ceiling) VALUES "
		"('default', 'cohort/top', 'f', 'cpu', '', 0, 0, 0, 7, 9, 9), "
		"('default', 'cohort/mid', 'f', 'cpu', 'cohort/top', 1, 0, 0, 0, 9, 9), "
		"('default', 'cq/a', 'f', 'cpu', 'cohort/mid', 2, 5, 1, 0, 6, 6), "
		"('default', 'cq/b', 'f', 'cpu', 'cohort/mid', 0, 3, 0, 0, 9, 9)");
	pg_fixture_sql(&F,
		"INSERT INTO sluice.hold (cell, job_uid, attempt, state, ns, name, clusterqueue, "
		"reserved_at, lines) VALUES ('default', '" UID(
			"1") "', 1, 'posted', 'n', 'j', 'a', "
			     "now(), '[[\"cq/a\", \"f\", \"cpu\", 8]]')");
	pg_fixture_sql(&F,
		"INSERT INTO sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, at, "
		"target, lines) VALUES ('default', '" UID("1") "', 1, 'RESERVE', 0, 1, "
							       "now(), 'pending', '[]')");
	examine(&s, "balances");
	assert_true(s.f.count >= 3);
	pg_fixture_sql(&F, "%s", begin);
	examine(&s, "balances");
	expect(&s, VERDICT_OK, "empty");
	assert_string_equal(
		pg_fixture_sql(&F, "SELECT string_agg(node || ' ' || use || ' of ' || "
				   "ceiling, ', ' ORDER BY node) FROM sluice.balance_use"),
		"cohort/mid 6 of 9, cohort/top 5 of 9, cq/a 8 of 8, cq/b 0 of 9");
	pg_fixture_sql(&F, "DELETE FROM sluice.balance");
	pg_fixture_sql(&F, "DELETE FROM sluice.hold");
	pg_fixture_sql(&F, "DELETE FROM sluice.transfer");
	stage_close(&s);
}

/* ---- the ledger beside the cluster ---------------------------------------------------------- */

static char *ago(int64_t seconds, char ret[40])
{
	time_t then = (time_t)(clock_now_ms() / 1000 - seconds);
	strftime(ret, 40, "%Y-%m-%dT%H:%M:%SZ", gmtime(&then));
	return ret;
}

struct job_words {
	const char *uid, *more; /* of the spec, the status, the metadata: as JSON members */
	const char *spec, *status;
	int64_t age_s;
};

static void put_job(struct buf *b, const struct job_words *j)
{
	char when[40];
	buf_printf(b,
		"{\"metadata\":{\"uid\":\"%s\",\"namespace\":\"n\",\"name\":\"j%c\",\"labels\":{"
		"\"sluice.dev/queue-name\":\"q\"}%s},\"spec\":{%s},\"status\":{\"startTime\":\"%s\""
		"%s}}",
		j->uid, j->uid[35], j->more ? j->more : "", j->spec, ago(j->age_s, when),
		j->status ? j->status : "");
}

/* One Job at most, one pod of Job 1 at most. */
static void serve(struct stage *s, const struct job_words *j, int64_t pod_age_s)
{
	struct buf b;
	char when[40];
	buf_init(&b, 1 << 16);
	buf_puts(&b, "{\"items\":[");
	if (j)
		put_job(&b, j);
	buf_puts(&b, "]}");
	answer(s, JOBS, 200, buf_text(&b));
	buf_reset(&b);
	buf_puts(&b, "{\"items\":[");
	if (pod_age_s > 0)
		buf_printf(&b,
			"{\"metadata\":{\"namespace\":\"n\",\"name\":\"p\",\"creationTimestamp\":"
			"\"%s\",\"labels\":{\"batch.kubernetes.io/controller-uid\":\"" UID(
				"1") "\"}}}",
			ago(pod_age_s, when));
	buf_puts(&b, "]}");
	answer(s, PODS, 200, buf_text(&b));
	buf_done(&b);
}

static void hold(const char *state, int age_s)
{
	pg_fixture_sql(&F, "DELETE FROM sluice.hold");
	if (state)
		pg_fixture_sql(&F,
			"INSERT INTO sluice.hold (cell, job_uid, attempt, state, ns, name, "
			"clusterqueue, reserved_at, lines) VALUES ('default', '" UID(
				"1") "', 2, "
				     "'%s', 'n', 'j1', 'a', now() - interval '%d s', '[]')",
			state, age_s);
}

#define RUNS "\"suspend\":false"
#define SUSPENDED "\"suspend\":true"
#define COMPLETE(when)                                                                             \
	",\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\",\"lastTransitionTime\":"      \
	"\"" when "\"}]"
#define LONG_AGO "2020-01-01T00:00:00Z"

static void the_ledger_beside_the_cluster(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		const char *hold; /* its state; NULL: none */
		int hold_age_s;
		struct job_words job; /* uid NULL: none */
		int64_t pod_age_s;    /* 0: none */
		const char *check;    /* whose finding it is; NULL: nothing is found */
		const char *says;
	} cases[] = {
		{"a Job that runs with its hold", "posted", 999, {UID("1"), NULL, RUNS, NULL, 999},
			900, NULL, NULL},
		{"a hold whose Job is gone", "posted", 999, {NULL, NULL, NULL, NULL, 0}, 0, "holds",
			"Job n/j1 (uid " UID(
				"1") ") does not exist and has no pods, and its attempt 2 "
				     "holds quota (posted) for 16m"},
		{"a hold whose Job is gone, and pods are left", "posted", 999,
			{NULL, NULL, NULL, NULL, 0}, 900, NULL, NULL},
		{"a hold that is young", "pending", 20, {NULL, NULL, NULL, NULL, 0}, 0, NULL, NULL},
		{"a hold whose Job is suspended", "pending", 999,
			{UID("1"), NULL, SUSPENDED, NULL, 999}, 0, "holds",
			"n/j1 (uid " UID("1") ") is suspended"},
		{"suspended a moment ago", "posted", 999, {UID("1"), NULL, SUSPENDED, NULL, 20}, 0,
			NULL, NULL},
		{"pods go away", "releasing", 999,
			{UID("1"), NULL, SUSPENDED, ",\"terminating\":1", 999}, 0, NULL, NULL},
		{"a hold whose Job has ended", "posted", 999,
			{UID("1"), NULL, RUNS, COMPLETE(LONG_AGO), 999}, 0, "holds", "has ended"},
		{"a Job that runs without a hold", NULL, 0,
			{UID("1"), NULL, RUNS, ",\"active\":3", 999}, 900, "jobs",
			"Job n/j1 runs for 16m with 3 pods and holds no quota"},
		{"started a moment ago", NULL, 0, {UID("1"), NULL, RUNS, NULL, 20}, 0, NULL, NULL},
		{"made by a Job", NULL, 0,
			{UID("1"), ",\"ownerReferences\":[{\"kind\":\"Job\",\"controller\":true}]",
				RUNS, NULL, 999},
			900, "jobs", "n/j1"},
		{"made by a CronJob", NULL, 0,
			{UID("1"),
				",\"ownerReferences\":[{\"kind\":\"CronJob\",\"controller\":true}]",
				RUNS, NULL, 999},
			0, "jobs", "n/j1"},
		{"it waits", NULL, 0, {UID("1"), NULL, SUSPENDED, NULL, 999}, 0, NULL, NULL},
		{"it waits, and pods live on", NULL, 0, {UID("1"), NULL, SUSPENDED, NULL, 999}, 900,
			"pods",
			"Job n/j1 is suspended and holds no quota, and 1 of its pods live on"},
		{"it waits, and a pod is young", NULL, 0, {UID("1"), NULL, SUSPENDED, NULL, 999},
			20, NULL, NULL},
		{"it has ended", NULL, 0, {UID("1"), NULL, RUNS, COMPLETE(LONG_AGO), 999}, 0, NULL,
			NULL},
	};
	static const char *const checks[] = {"holds", "jobs", "pods"};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		const struct job_words *j = cases[i].job.uid ? &cases[i].job : NULL;
		stage_with_ledger(&s);
		hold(cases[i].hold, cases[i].hold_age_s);
		serve(&s, j, cases[i].pod_age_s);
		if (cases[i].check) /* looked at twice */
			serve(&s, j, cases[i].pod_age_s);
		for (size_t c = 0; c < ROWS(checks); c++) {
			examine(&s, checks[c]);
			bool wanted = cases[i].check && strcmp(cases[i].check, checks[c]) == 0;
			if (wanted)
				expect(&s, VERDICT_FAIL, cases[i].says);
			else if (s.f.verdict != VERDICT_OK)
				fail_msg("%s: %s", cases[i].name, s.f.kept[0].text);
		}
		stage_close(&s);
	}
}

/* Five of six: the ledger is wrong, not five Jobs. Of four it is not said. */
static void many_that_run_without_a_hold(void **state)
{
	(void)state;
	for (size_t n = 4; n <= 5; n++) {
		struct stage s;
		struct buf b;
		stage_with_ledger(&s);
		hold("posted", 999);
		buf_init(&b, 1 << 16);
		buf_puts(&b, "{\"items\":[");
		for (size_t i = 1; i <= n + 1; i++) {
			char uid[40];
			snprintf(uid, sizeof(uid), UID("%zu"), i);
			buf_puts(&b, i > 1 ? "," : "");
			put_job(&b, &(struct job_words){uid, NULL, RUNS, NULL, 999});
		}
		buf_puts(&b, "]}");
		for (int look = 0; look < 2; look++) {
			answer(&s, JOBS, 200, buf_text(&b));
			answer(&s, PODS, 200, "{\"items\":[]}");
		}
		examine(&s, "jobs");
		assert_int_equal(s.f.verdict, VERDICT_FAIL);
		assert_int_equal(s.f.count, n < 5 ? 4 : 6);
		if (n == 5) {
			assert_non_null(strstr(s.f.kept[0].text, "5 of 6 running Jobs"));
			assert_non_null(strstr(s.f.kept[0].cure, "--mass-stop-after=0s"));
		}
		buf_done(&b);
		stage_close(&s);
	}
}

static void what_is_mended_meanwhile_is_no_finding(void **state)
{
	(void)state;
	struct stage s;
	stage_with_ledger(&s);
	hold("posted", 999);
	serve(&s, NULL, 0);
	serve(&s, &(struct job_words){UID("1"), NULL, RUNS, NULL, 999}, 0);
	examine(&s, "holds");
	expect(&s, VERDICT_OK, "1 open reservation,");
	stage_close(&s);
}

static void lists_of_many_pages(void **state)
{
	(void)state;
	struct stage s;
	struct buf b;
	stage_with_ledger(&s);
	hold("posted", 999);
	buf_init(&b, 1 << 16);
	answer(&s, JOBS, 200, "{\"metadata\":{\"continue\":\"t1\"},\"items\":[]}");
	buf_puts(&b, "{\"items\":[");
	put_job(&b, &(struct job_words){UID("1"), NULL, RUNS, NULL, 999});
	buf_puts(&b, "]}");
	answer(&s, "/jobs?limit=500&continue=t1 HTTP", 200, buf_text(&b));
	answer(&s, PODS, 200, "{\"items\":[]}");
	examine(&s, "holds");
	expect(&s, VERDICT_OK, "1 open reservation,");
	buf_done(&b);
	stage_close(&s);
}

static void who_may_not_look(void **state)
{
	(void)state;
	struct stage s;
	stage_with_ledger(&s);
	hold("posted", 999);
	answer(&s, JOBS, 403, STATUS("jobs is forbidden"));
	examine(&s, "holds");
	expect(&s, VERDICT_SKIPPED, "jobs is forbidden");
	stage_close(&s);
	/* Without the pods: of a Job that is gone nobody knows whether they live on. */
	stage_with_ledger(&s);
	answer(&s, JOBS, 200, "{\"items\":[]}");
	answer(&s, PODS, 403, STATUS("pods is forbidden"));
	examine(&s, "holds");
	expect(&s, VERDICT_OK, "whose pods we may not list");
	examine(&s, "pods");
	expect(&s, VERDICT_SKIPPED, "may not list pods");
	stage_close(&s);
}

static int open_group(void **state)
{
	int rc = drive_open_group(state);
	hold(NULL, 0);
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_database_that_does_not_answer),
		cmocka_unit_test(without_fsync),
		cmocka_unit_test(no_standby),
		cmocka_unit_test(several_hosts),
		cmocka_unit_test(schemas),
		cmocka_unit_test(leases),
		cmocka_unit_test(rights_of_the_role),
		cmocka_unit_test(balances),
		cmocka_unit_test(size_and_growth),
		cmocka_unit_test(balances_are_cured_by_what_the_docs_say),
		cmocka_unit_test(the_ledger_beside_the_cluster),
		cmocka_unit_test(many_that_run_without_a_hold),
		cmocka_unit_test(what_is_mended_meanwhile_is_no_finding),
		cmocka_unit_test(lists_of_many_pages),
		cmocka_unit_test(who_may_not_look),
	};
	return cmocka_run_group_tests(tests, open_group, drive_close_group);
}
