/*
 * What an answer of the API server means for the gate, as a table; and how pods are counted, by an
 * API server that answers as Kubernetes does: with a selector it never sets remainingItemCount.
 */
#include "controller/write/dispatcher.h"

#include <unistd.h>

#include "controller/common/clock.h"
#include "controller/ledger/pg.h"
#include "test/unit/kube/test.h"
#include "test/unit/kube/scripted_server.h"

struct judge_case {
	const char *name;
	enum kube_outcome outcome;
	int status;
	bool is_write, is_invalid, is_rights;
	enum job_outcome means;
};

static const struct judge_case cases[] = {
	{"it landed", KUBE_DONE, 200, true, false, false, JOB_DONE},
	{"it was read", KUBE_DONE, 200, false, false, false, JOB_DONE},
	{"429", KUBE_RETRY, 429, true, false, false, JOB_BUSY},
	{"no connection", KUBE_RETRY, 0, true, false, false, JOB_BUSY},
	{"409", KUBE_CONFLICT, 409, true, false, false, JOB_REFUSED},
	{"a test of the patch failed", KUBE_STALE, 422, true, false, false, JOB_REFUSED},
	{"the Job would be invalid", KUBE_STALE, 422, true, true, false, JOB_DENIED},
	{"404", KUBE_GONE, 404, true, false, false, JOB_GONE},
	{"a policy says no", KUBE_DENIED, 403, true, false, false, JOB_DENIED},
	{"RBAC says no: not the Job's fault", KUBE_DENIED, 403, true, false, true, JOB_BUSY},
	{"401: nor is this", KUBE_DENIED, 401, true, false, false, JOB_BUSY},
	{"a peer that is not trusted: nor this", KUBE_DENIED, 0, true, false, false, JOB_BUSY},
	{"a write without an answer", KUBE_IN_DOUBT, 0, true, false, false, JOB_IN_DOUBT},
	{"500 for a write", KUBE_IN_DOUBT, 500, true, false, false, JOB_IN_DOUBT},
	{"a read never is in doubt", KUBE_IN_DOUBT, 0, false, false, false, JOB_BUSY},
	{"a read that is too large", KUBE_LIMIT, 200, false, false, false, JOB_BUSY},
	{"400", KUBE_GIVE_UP, 400, true, false, false, JOB_DENIED},
};

static void each_answer_has_one_meaning(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct judge_case *c = &cases[i];
		struct kube_answer a = {.outcome = c->outcome, .http_status = c->status};
		print_message("  %s\n", c->name);
		assert_int_equal(
			dispatcher_judge(&a, c->is_write, c->is_invalid, c->is_rights), c->means);
	}
}

/* ---- pods ------------------------------------------------------------------------------------ */

#define PAGE                                                                                       \
	"GET /api/v1/namespaces/a/pods?includeObject=None&limit=1000&labelSelector=batch."         \
	"kubernetes.io%2Fcontroller-uid%3D01000000-0000-0000-0000-000000000000&fieldSelector="     \
	"status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
#define TABLE(mark, rows)                                                                          \
	"{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"resourceVersion\":" \
	"\"7\"" mark "},\"rows\":" rows "}"
#define ROW "{\"cells\":[\"p\",\"1/1\",\"Running\",\"0\",\"5s\"],\"object\":null}"

static const struct intent WANTED = {
	.id = 7, .kind = INTENT_PODS, .ns = "a", .name = "run", .uid = {{1}}};
static const struct intent *next;
static struct job_answer got;
static char got_nodes[200];
static int answers;

const struct intent *__wrap_gate_take_intent(struct gate *g);
void __wrap_gate_answer_job(struct gate *g, uint64_t id, const struct job_answer *a);

const struct intent *__wrap_gate_take_intent(struct gate *g)
{
	const struct intent *i = next;
	(void)g;
	next = NULL;
	return i;
}

void __wrap_gate_answer_job(struct gate *g, uint64_t id, const struct job_answer *a)
{
	(void)g;
	assert_int_equal(id, WANTED.id);
	got = *a;
	got_nodes[0] = '\0';
	for (size_t k = 0; k < a->nnodes; k++) {
		size_t len = strlen(got_nodes);
		snprintf(got_nodes + len, sizeof(got_nodes) - len, "%s ", a->node[k]);
	}
	answers++;
}

static void on_change(void *ctx)
{
	(void)ctx;
}

struct page {
	const char *line; /* part of the request's */
	int status;
	const char *body;
};

struct count_case {
	const char *name;
	struct page pages[2];
	enum job_outcome outcome;
	size_t pods;
};

static const struct count_case counts[] = {
	{"none is left", {{PAGE " HTTP", 200, TABLE("", "[]")}}, JOB_DONE, 0},
	{"none, as null", {{PAGE " HTTP", 200, TABLE("", "null")}}, JOB_DONE, 0},
	{"three on one page", {{PAGE " HTTP", 200, TABLE("", "[" ROW "," ROW "," ROW "]")}},
		JOB_DONE, 3},
	{"three on two pages",
		{{PAGE " HTTP", 200, TABLE(",\"continue\":\"e+Y\"", "[" ROW "," ROW "]")},
			{PAGE "&continue=e%2BY HTTP", 200, TABLE("", "[" ROW "]")}},
		JOB_DONE, 3},
	{"an empty page is not the last",
		{{PAGE " HTTP", 200, TABLE(",\"continue\":\"n\"", "[]")},
			{PAGE "&continue=n HTTP", 200, TABLE("", "[" ROW "]")}},
		JOB_DONE, 1},
	{"a page that is no longer there",
		{{PAGE " HTTP", 200, TABLE(",\"continue\":\"n\"", "[" ROW "]")},
			{PAGE "&continue=n HTTP", 410, "{\"kind\":\"Status\"}"}},
		JOB_BUSY, 0},
	{"a list that is no table", {{PAGE " HTTP", 200, "{\"kind\":\"PodList\",\"items\":[]}"}},
		JOB_BUSY, 0},
	{"half an answer", {{PAGE " HTTP", 200, "{\"kind\":\"Table\",\"rows\":["}}, JOB_BUSY, 0},
};

/* Until it is answered; head: a part of the first request's. */
static void carry(const struct intent *i, const struct page *pages, size_t n, const char *head)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct scripted_server *server = scripted_server_new(loop);
	struct kube_config *config = config_for(scripted_server_url(server), NULL);
	struct kube_client *client =
		kube_client_new(loop, config, &(struct kube_client_options){0});
	struct log *log = log_new(STDERR_FILENO, LOG_JSON, LEVEL_ERROR);
	struct dispatcher *dispatcher = dispatcher_new(
		&(struct dispatcher_options){.client = client, .log = log, .changed = on_change});
	for (size_t k = 0; k < n && pages[k].line; k++)
		script_answer(scripted_server_expect(server, pages[k].line), pages[k].status,
			"Content-Type: application/json\r\n", pages[k].body);
	next = i;
	answers = 0;
	dispatcher_carry(dispatcher);
	while (answers == 0)
		ev_run(loop, EVRUN_ONCE);
	assert_non_null(strstr(scripted_server_request(server, 0)->head, head));
	assert_int_equal(scripted_server_unexpected(server), 0);
	assert_int_equal(scripted_server_unused(server), 0);
	dispatcher_free(dispatcher);
	kube_client_free(client);
	kube_config_free(config);
	scripted_server_free(server);
	ev_loop_destroy(loop);
	log_free(log);
}

static void pods_are_counted_to_the_last_page(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const struct count_case *c = &counts[i];
		print_message("  %s\n", c->name);
		carry(&WANTED, c->pages, 2, "as=Table");
		assert_int_equal(got.outcome, c->outcome);
		assert_int_equal(got.pods, c->pods);
	}
}

/* Of a Job that is to be adopted. A label and an owner that anybody may write are no proof of whose a pod is;
 * the Job controller counts by the owner that controls it. */
#define WITH_NODES                                                                                 \
	"GET /api/v1/namespaces/a/pods?includeObject=Metadata&limit=20&labelSelector=batch."       \
	"kubernetes.io%2Fcontroller-uid%3D01000000-0000-0000-0000-000000000000&fieldSelector="     \
	"status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
#define COLUMNS "\"columnDefinitions\":[{\"name\":\"Name\"},{\"name\":\"IP\"},{\"name\":\"Node\"}],"
#define POD_ON(node, meta)                                                                         \
	"{\"cells\":[\"p\",\"10.0.0.1\",\"" node                                                   \
	"\"],\"object\":{\"kind\":\"PartialObjectMetadata\",\"metadata\":{" meta "}}}"
#define OWNED(kind, uid, controls)                                                                 \
	"\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"" kind "\",\"uid\":\"" uid   \
	"000000-0000-0000-0000-000000000000\",\"controller\":" controls "}]"
#define OWN OWNED("Job", "01", "true")

static void nodes_are_those_of_pods_that_the_job_controls(void **state)
{
	static const struct page pages[] = {
		{WITH_NODES " HTTP", 200,
			"{\"kind\":\"Table\",\"metadata\":{\"continue\":\"n\"}," COLUMNS
			"\"rows\":[" POD_ON("n1", OWN) "," POD_ON("<none>", OWN) "," POD_ON("n2",
				OWN
				",\"deletionTimestamp\":\"2026-11-25T10:00:00Z\"") "," POD_ON("n3",
				"") "," POD_ON("n4", OWNED("Job", "02", "true")) "," POD_ON("n5",
				OWNED("ReplicaSet", "01", "true")) "," POD_ON("n6",
				OWNED("Job", "01", "false")) "]}"},
		{WITH_NODES "&continue=n HTTP", 200,
			"{\"kind\":\"Table\",\"metadata\":{}," COLUMNS
			"\"rows\":[" POD_ON("n7", OWN) "]}"},
	};
	struct intent i = WANTED;
	(void)state;
	i.with_nodes = true;
	carry(&i, pages, 2, "as=Table");
	assert_int_equal(got.outcome, JOB_DONE);
	assert_int_equal(got.pods, 8); /* of all: what they ask for may be taken from somebody */
	assert_string_equal(got_nodes, "n1 n7 ");
}

/* ---- rights ---------------------------------------------------------------------------------- */

/* As RBAC says it. */
static void without_rights_it_comes_again_after_a_while(void **state)
{
	static const struct page denied = {
		"DELETE /apis/autoscaling.x-k8s.io/v1/namespaces/a/provisioningrequests/sluice-1 HTTP",
		403,
		"{\"kind\":\"Status\",\"message\":\"provisioningrequests.autoscaling.x-k8s.io \\\"sluice-1\\\" is forbidden: User \\\"s\\\" cannot delete resource \\\"provisioningrequests\\\"\"}"};
	struct intent i = WANTED;
	(void)state;
	i.kind = INTENT_UNPROVISION;
	i.provision.name = "sluice-1";
	carry(&i, &denied, 1, "");
	assert_int_equal(got.outcome, JOB_BUSY);
	assert_int_equal(got.retry_ms, 5000);
}

/* ---- the lease ------------------------------------------------------------------------------- */

void __wrap_gate_answer_lease(
	struct gate *g, uint64_t id, enum ledger_outcome o, const struct ledger_lease *l);

void __wrap_gate_answer_lease(
	struct gate *g, uint64_t id, enum ledger_outcome o, const struct ledger_lease *l)
{
	(void)g;
	(void)l;
	assert_int_equal(id, 1);
	assert_true(o == LEDGER_DONE || o == LEDGER_LOST);
}

static struct pg_asker lease_asker;

void __wrap_pg_lease(struct pg *pg, int64_t epoch, int64_t epoch_seen, int64_t lease_ms,
	bool settled, const struct pg_asker *asker);

void __wrap_pg_lease(struct pg *pg, int64_t epoch, int64_t epoch_seen, int64_t lease_ms,
	bool settled, const struct pg_asker *asker)
{
	(void)pg, (void)epoch, (void)epoch_seen, (void)lease_ms, (void)settled;
	lease_asker = *asker;
}

static void tell_lease(
	struct dispatcher *d, enum ledger_outcome o, const struct ledger_lease *lease)
{
	static const struct intent asks = {.id = 1, .kind = INTENT_LEASE};
	next = &asks;
	dispatcher_carry(d);
	lease_asker.fn(&(struct pg_answer){.id = lease_asker.id, .outcome = o, .lease = lease},
		lease_asker.ctx);
}

/* The ledger tells how long it lasts, by a clock that is not ours. */
static void the_lease_ends_by_our_own_clock(void **state)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct kube_config *config = config_for("http://127.0.0.1:1", NULL);
	struct kube_client *client =
		kube_client_new(loop, config, &(struct kube_client_options){0});
	struct dispatcher *d = dispatcher_new(
		&(struct dispatcher_options){.client = client, .changed = on_change});
	const struct ledger_lease lease = {.holder = "two", .left_ms = 15000};
	(void)state;
	assert_string_equal(dispatcher_lease(d).holder, "");
	int64_t from_ms = clock_now_ms();
	tell_lease(d, LEDGER_DONE, &lease);
	int64_t ends_ms = dispatcher_lease(d).ends_ms;
	assert_in_range(ends_ms, from_ms + 15000, clock_now_ms() + 15000);
	tell_lease(d, LEDGER_LOST, NULL); /* what was heard stays */
	assert_string_equal(dispatcher_lease(d).holder, "two");
	assert_int_equal(dispatcher_lease(d).ends_ms, ends_ms);
	dispatcher_free(d);
	kube_client_free(client);
	kube_config_free(config);
	ev_loop_destroy(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answer_has_one_meaning),
		cmocka_unit_test(pods_are_counted_to_the_last_page),
		cmocka_unit_test(nodes_are_those_of_pods_that_the_job_controls),
		cmocka_unit_test(without_rights_it_comes_again_after_a_while),
		cmocka_unit_test(the_lease_ends_by_our_own_clock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
