/*
 * The observer, against an API server that does as it is told: when all is known, what it does
 * without, and what the queue hears of the cluster. What it hears is the test's: it says so itself.
 */
#include "controller/common/clock.h"
#include "controller/watch/informer.h"
#include "controller/wire/tell.h"

#include "base/must.h"
#include "controller/watch/kinds.h"
#include "test/unit/kube/test.h"
#include "test/unit/kube/scripted_server.h"
#include "controller_world.h"
#include "queue/cluster/nodes.h"
#include "queue/cluster/resource_quota.h"

/* What was told, as words: "node:a", "-node:a", "pool:a", "-pool:a", "bind", "unbind", "pods:1",
 * "saw:7", "cluster", "synced", "reservation:a:1" (accepted). */
static struct buf heard;
static bool wants_pods, quotas_behind, leads;
static int64_t clock_ms; /* for the pauses of ticks; 0: the machine's */

bool __wrap_queue_quotas_behind(
	const struct queue *q, size_t index, const char **ret_ns, int64_t *ret_version);
bool __wrap_gate_leading(const struct gate *g);
void __wrap_status_writer_see(
	struct status_writer *r, enum status_writer_kind kind, const struct cJSON *object);
void __wrap_status_writer_lose(
	struct status_writer *r, enum status_writer_kind kind, const char *ns, const char *name);
int __wrap_queue_set_advance_reservation(
	struct queue *q, const struct advance_reservation_spec *s, struct err *e);
int64_t __wrap_monotonic_us(void);
int64_t __real_monotonic_us(void);
void __wrap_gate_set_synced(struct gate *g);
void __wrap_queue_know_cluster(struct queue *q);
void __wrap_queue_set_node(struct queue *q, const struct node_spec *s);
void __wrap_queue_drop_node(struct queue *q, const char *name);
void __wrap_queue_set_made_nodes(struct queue *q, const struct made_nodes_spec *s);
void __wrap_queue_drop_made_nodes(struct queue *q, const char *name);
void __wrap_queue_set_device_class(struct queue *q, const struct device_class_spec *s);
void __wrap_queue_drop_device_class(struct queue *q, const char *name);
void __wrap_queue_know_device_classes(struct queue *q, bool known);
void __wrap_queue_bind_pod(struct queue *q, const struct bound_pod *p);
void __wrap_queue_unbind_pod(struct queue *q, const struct uid *uid);
bool __wrap_queue_wants_pods(const struct queue *q);
void __wrap_queue_know_pods(struct queue *q, bool known);
void __wrap_queue_saw_quotas(struct queue *q, const char *ns, int64_t version);
void __wrap_queue_set_resource_quota(struct queue *q, const struct resource_quota *s);
void __wrap_queue_set_disruption_budget(struct queue *q, const struct disruption_budget_spec *s);

void __wrap_gate_set_synced(struct gate *g)
{
	(void)g;
	buf_puts(&heard, "synced ");
}

void __wrap_queue_know_cluster(struct queue *q)
{
	(void)q;
	buf_puts(&heard, "cluster ");
}

void __wrap_queue_set_node(struct queue *q, const struct node_spec *s)
{
	(void)q;
	buf_printf(&heard, "node:%s ", s->name);
}

void __wrap_queue_drop_node(struct queue *q, const char *name)
{
	(void)q;
	buf_printf(&heard, "-node:%s ", name);
}

void __wrap_queue_set_made_nodes(struct queue *q, const struct made_nodes_spec *s)
{
	(void)q;
	buf_printf(&heard, "pool:%s ", s->name);
}

void __wrap_queue_drop_made_nodes(struct queue *q, const char *name)
{
	(void)q;
	buf_printf(&heard, "-pool:%s ", name);
}

void __wrap_queue_set_device_class(struct queue *q, const struct device_class_spec *s)
{
	(void)q;
	buf_printf(&heard, "class:%s:%s ", s->name, s->resource);
}

void __wrap_queue_drop_device_class(struct queue *q, const char *name)
{
	(void)q;
	buf_printf(&heard, "-class:%s ", name);
}

void __wrap_queue_know_device_classes(struct queue *q, bool known)
{
	(void)q;
	buf_printf(&heard, "classes:%d ", known);
}

void __wrap_queue_bind_pod(struct queue *q, const struct bound_pod *p)
{
	(void)q;
	buf_printf(&heard, "bind:%02x@%s ", p->uid.byte[0], p->node);
}

void __wrap_queue_unbind_pod(struct queue *q, const struct uid *uid)
{
	(void)q;
	buf_printf(&heard, "unbind:%02x ", uid->byte[0]);
}

bool __wrap_queue_wants_pods(const struct queue *q)
{
	(void)q;
	return wants_pods;
}

void __wrap_queue_know_pods(struct queue *q, bool known)
{
	(void)q;
	buf_printf(&heard, "pods:%d ", known);
}

void __wrap_queue_saw_quotas(struct queue *q, const char *ns, int64_t version)
{
	(void)q;
	must(!ns);
	buf_printf(&heard, "saw:%lld ", (long long)version);
}

void __wrap_queue_set_resource_quota(struct queue *q, const struct resource_quota *s)
{
	(void)q;
	buf_printf(&heard, "quota:%s ", s->name);
}

void __wrap_queue_set_disruption_budget(struct queue *q, const struct disruption_budget_spec *s)
{
	(void)q;
	buf_printf(&heard, "budget:%s ", s->name);
}

bool __wrap_queue_quotas_behind(
	const struct queue *q, size_t index, const char **ret_ns, int64_t *ret_version)
{
	(void)q;
	if (!quotas_behind || index > 0)
		return false;
	*ret_ns = "a";
	*ret_version = 30;
	return true;
}

/* No status is written here. */
void __wrap_status_writer_see(
	struct status_writer *r, enum status_writer_kind kind, const struct cJSON *object)
{
	(void)r;
	(void)kind;
	(void)object;
}

void __wrap_status_writer_lose(
	struct status_writer *r, enum status_writer_kind kind, const char *ns, const char *name)
{
	(void)r;
	(void)kind;
	(void)ns;
	(void)name;
}

bool __wrap_gate_leading(const struct gate *g)
{
	(void)g;
	return leads;
}

int __wrap_queue_set_advance_reservation(
	struct queue *q, const struct advance_reservation_spec *s, struct err *e)
{
	(void)q;
	(void)e;
	buf_printf(&heard, "reservation:%s:%d ", s->name, s->accepted);
	return 0;
}

int64_t __wrap_monotonic_us(void)
{
	return clock_ms ? clock_ms * 1000 : __real_monotonic_us();
}

/* ---- the stage ------------------------------------------------------------------------------- */

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct kube_shared_watch *nodes, *pods;
	struct world world;
	struct job_scope *job_scope;
	struct zones *zones;
	struct time_specs *time_specs;
	struct finalizers *finalizers;
	struct informer *informer;
};

static void on_changed(void *ctx)
{
	(void)ctx;
}

static void stage_open(struct stage *s)
{
	struct kube_watch_options nodes = {.path = "/api/v1/nodes"},
				  pods = {.path = "/api/v1/pods"};
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	buf_init(&heard, 1 << 16);
	wants_pods = quotas_behind = false;
	clock_ms = 0;
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	s->nodes = kube_shared_watch_new(s->client, &nodes);
	s->pods = kube_shared_watch_new(s->client, &pods);
	world_open(&s->world, "batch");
	s->job_scope = job_scope_new(NULL, false);
	s->zones = zones_new();
	s->time_specs = time_specs_new(
		&(struct time_specs_options){.queue = s->world.queue, .zones = s->zones});
	s->finalizers = finalizers_new(
		&(struct finalizers_options){.client = s->client, .queue = s->world.queue});
}

static void stage_observe(struct stage *s)
{
	s->informer = informer_new(&(struct informer_options){.client = s->client,
		.nodes = s->nodes,
		.pods = s->pods,
		.queue = s->world.queue,
		.gate = s->world.gate,
		.job_scope = s->job_scope,
		.time_specs = s->time_specs,
		.job_context = {zones_find, s->zones, clock_bring_job},
		.zones = s->zones,
		.finalizers = s->finalizers,
		.config_namespace = "sluice-system",
		.changed = on_changed});
}

static void stage_close(struct stage *s)
{
	informer_free(s->informer);
	kube_shared_watch_free(s->nodes);
	kube_shared_watch_free(s->pods);
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	kube_client_free(s->client);
	finalizers_free(s->finalizers);
	time_specs_free(s->time_specs);
	zones_free(s->zones);
	job_scope_free(s->job_scope);
	world_close(&s->world);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
	buf_done(&heard);
}

#define END(rv)                                                                                    \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" rv               \
	"\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
#define BOOKMARK(rv)                                                                               \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" rv "\"}}}\n"
#define EVENT(type, meta, rest)                                                                    \
	"{\"type\":\"" type "\",\"object\":{\"metadata\":{" meta                                   \
	",\"resourceVersion\":\"5\"}" rest "}}\n"
#define NODE(name) EVENT("ADDED", "\"name\":\"" name "\"", "")
#define POD(type, first, node)                                                                     \
	EVENT(type,                                                                                \
		"\"name\":\"p" first "\",\"namespace\":\"a\",\"uid\":\"" first                     \
		"3e4567-e89b-12d3-a456-426614174000\"",                                            \
		",\"spec\":{\"nodeName\":\"" node "\"}")
#define QUOTA(type, name, rv)                                                                      \
	"{\"type\":\"" type "\",\"object\":{\"metadata\":{\"name\":\"" name                        \
	"\",\"namespace\":\"a\",\"resourceVersion\":\"" rv "\"}}}\n"

/* The list that a watch begins with; what is said after a hold comes with its release. */
static struct script *list(struct stage *s, const char *path, const char *events)
{
	struct buf line;
	buf_init(&line, 256);
	buf_printf(&line, "GET %s?watch=1", path);
	struct script *p = scripted_server_expect(s->server, buf_text(&line));
	script_stream(p);
	script_chunk(p, events);
	script_hold(p);
	buf_done(&line);
	return p;
}

/* The watch and the question after it are answered with status; the first waits for a release. */
static struct script *fail_with(struct stage *s, const char *path, int status)
{
	struct buf line;
	buf_init(&line, 256);
	buf_printf(&line, "GET %s?limit=1", path);
	script_answer(scripted_server_expect(s->server, buf_text(&line)), status, "", "{}");
	buf_reset(&line);
	buf_printf(&line, "GET %s?watch=1", path);
	struct script *p = scripted_server_expect(s->server, buf_text(&line));
	script_hold(p);
	script_answer(p, status, "", "{}");
	buf_done(&line);
	return p;
}

static struct script *deny(struct stage *s, const char *path)
{
	return fail_with(s, path, 403);
}

/* Only a server that lets us read something is believed when it denies the rest. */
static void list_first(struct stage *s, struct script *denial)
{
	run_until(s->loop, scripted_server_count(s->server) >= KINDS);
	run_a_little(s->loop);
	assert_false(informer_synced(s->informer));
	script_release(denial);
}

static bool is_one_of(const char *path, const char *const *some)
{
	for (; *some; some++)
		if (strcmp(*some, path) == 0)
			return true;
	return false;
}

/* Empty lists of all kinds but some. */
static void list_the_rest(struct stage *s, const char *const *some)
{
	for (size_t i = 0; i < KINDS; i++) {
		const char *path = kinds[i].path ? kinds[i].path
						 : "/api/v1/namespaces/sluice-system/configmaps";
		if (!is_one_of(path, some))
			list(s, path, END("7"));
	}
}

static bool has_heard(const char *word)
{
	return strstr(buf_text(&heard), word) != NULL;
}

static void settle(struct stage *s)
{
	run_until(s->loop, informer_synced(s->informer));
	run_a_little(s->loop);
}

#define NODES_PATH "/api/v1/nodes"
#define PODS_PATH "/api/v1/pods"
#define QUOTAS_PATH "/api/v1/resourcequotas"
#define BUDGETS_PATH "/apis/policy/v1/poddisruptionbudgets"

static const char *denied(struct stage *s)
{
	static char text[200];
	struct buf b;
	buf_init(&b, 200);
	informer_denied(s->informer, &b);
	snprintf(text, sizeof(text), "%s", buf_text(&b));
	buf_done(&b);
	return text;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* The queue knows the cluster before the gate may decide. */
static void all_is_listed_once(void **state)
{
	static const char *const some[] = {NODES_PATH, QUOTAS_PATH, BUDGETS_PATH, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	list(&s, NODES_PATH, NODE("n1") NODE("n2") END("7"));
	list(&s, QUOTAS_PATH, QUOTA("ADDED", "q", "6") END("7"));
	list(&s, BUDGETS_PATH, QUOTA("ADDED", "b", "6") END("7"));
	stage_observe(&s);
	assert_false(informer_synced(s.informer));
	settle(&s);
	assert_true(has_heard("node:n1 node:n2 "));
	assert_true(has_heard("quota:q saw:7 "));
	assert_true(has_heard("budget:b "));
	assert_true(has_heard("cluster synced "));
	assert_string_equal(denied(&s), "");
	assert_false(has_heard("pods:"));
	stage_close(&s);
}

/* Each event and each bookmark tells how far the quotas have been seen; a node that goes is gone.
 */
static void what_happens_then(void **state)
{
	static const char *const some[] = {NODES_PATH, QUOTAS_PATH, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	struct script *nodes = list(&s, NODES_PATH, NODE("n1") END("7"));
	struct script *quotas = list(&s, QUOTAS_PATH, END("7"));
	script_chunk(nodes, EVENT("DELETED", "\"name\":\"n1\"", ""));
	script_hold(nodes);
	script_chunk(quotas, QUOTA("ADDED", "q", "8") BOOKMARK("20") QUOTA("DELETED", "q", "21"));
	script_hold(quotas);
	stage_observe(&s);
	settle(&s);
	buf_reset(&heard);
	script_release(quotas);
	run_until(s.loop, has_heard("saw:21 "));
	assert_string_equal(buf_text(&heard), "quota:q saw:8 saw:20 saw:21 ");
	script_release(nodes);
	run_until(s.loop, has_heard("-node:n1 "));
	stage_close(&s);
}

#define RESERVATIONS_PATH "/apis/sluice.dev/v1alpha1/advancereservations"
#define RESERVATION(type, accepted)                                                                     \
	EVENT(type,                                                                                     \
		"\"name\":\"a\",\"generation\":1,\"uid\":\"ab3e4567-e89b-12d3-a456-426614174000\"",     \
		",\"spec\":{\"clusterQueue\":\"batch\",\"calendar\":\"nights\",\"flavors\":[{\"name\":" \
		"\"gpu\"}]},\"status\":{\"conditions\":[{\"type\":\"Accepted\",\"status\":\"" accepted  \
		"\",\"observedGeneration\":1}]}")

/* What the leader writes of an AdvanceReservation has to outlive it, so a standby follows it. So does the leader:
 * what is given back counts when the API server has it. */
static void a_status_that_is_a_fact_is_told(void **state)
{
	static const char *const some[] = {RESERVATIONS_PATH, NULL};
	struct stage s;
	(void)state;
	for (int i = 0; i < 2; i++) {
		leads = i == 1;
		stage_open(&s);
		list_the_rest(&s, some);
		struct script *p =
			list(&s, RESERVATIONS_PATH, RESERVATION("ADDED", "False") END("7"));
		script_chunk(p, RESERVATION("MODIFIED", "True"));
		script_chunk(p, EVENT("DELETED", "\"name\":\"a\"", ""));
		script_chunk(p, RESERVATION("ADDED", "False"));
		script_hold(p);
		stage_observe(&s);
		settle(&s);
		assert_true(has_heard("reservation:a:0 "));
		buf_reset(&heard);
		script_release(p);
		run_until(s.loop, has_heard("reservation:a:0 "));
		assert_true(has_heard("reservation:a:1 "));
		stage_close(&s);
	}
	leads = false;
}

/* A role of an older deployment: the rest goes on, and what is not known is not asked. */
static void without_quotas_and_budgets(void **state)
{
	static const char *const some[] = {QUOTAS_PATH, BUDGETS_PATH, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	struct script *quotas = deny(&s, QUOTAS_PATH), *budgets = deny(&s, BUDGETS_PATH);
	list(&s, QUOTAS_PATH, QUOTA("ADDED", "q", "6") END("9")); /* somebody gave the right */
	list(&s, BUDGETS_PATH, END("9"));
	stage_observe(&s);
	list_first(&s, quotas);
	script_release(budgets);
	settle(&s);
	assert_true(has_heard("cluster synced "));
	run_until(s.loop, has_heard("saw:9 "));
	run_until(s.loop, !*denied(&s));
	stage_close(&s);
}

/* Without Nodes the cluster is not known, until they can be read after all. */
static void without_nodes(void **state)
{
	static const char *const some[] = {NODES_PATH, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	struct script *denial = deny(&s, NODES_PATH);
	struct script *late = scripted_server_expect(s.server, "GET " NODES_PATH "?watch=1");
	script_hold(late);
	script_stream(late);
	script_chunk(late, NODE("n1") END("9"));
	script_hold(late);
	stage_observe(&s);
	list_first(&s, denial);
	settle(&s);
	assert_false(has_heard("cluster"));
	assert_string_equal(denied(&s), "nodes");
	run_until(s.loop, scripted_server_unused(s.server) == 0);
	script_release(late);
	run_until(s.loop, has_heard("cluster "));
	assert_true(has_heard("synced node:n1 cluster "));
	assert_string_equal(denied(&s), "");
	stage_close(&s);
}

/* Of other programs: not installed, which is no trouble, and one whose server fails. Nothing waits
 * for either, and both may come later. */
static void what_other_programs_have(void **state)
{
	static const char pools[] = "/apis/karpenter.sh/v1/nodepools";
	static const char requests[] = "/apis/autoscaling.x-k8s.io/v1/provisioningrequests";
	static const char *const some[] = {pools, requests, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	struct script *absent = fail_with(&s, pools, 404), *failing = fail_with(&s, requests, 500);
	list(&s, pools, END("9"));
	list(&s, requests, END("9"));
	stage_observe(&s);
	list_first(&s, absent);
	script_release(failing);
	settle(&s);
	assert_true(has_heard("cluster synced "));
	run_until(s.loop, scripted_server_unused(s.server) == 0 && !*denied(&s));
	stage_close(&s);
}

/* Whether the server has the API of DeviceClasses, which it says to those who may not list them, too. */
static void answer_api(struct stage *s, int status)
{
	script_answer(scripted_server_expect(s->server, "GET /apis/resource.k8s.io/v1 "), status,
		"", "{}");
}

/* A role of an older deployment, which may not read DeviceClasses: the queue is told before anything
 * is decided, and again when the right is given. */
static void without_device_classes(void **state)
{
	static const char classes[] = "/apis/resource.k8s.io/v1/deviceclasses";
	static const char *const some[] = {classes, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	struct script *denial = deny(&s, classes);
	answer_api(&s, 200);
	struct script *late = scripted_server_expect(
		s.server, "GET /apis/resource.k8s.io/v1/deviceclasses?watch=1");
	script_hold(late);
	script_stream(late);
	script_chunk(late, EVENT("ADDED", "\"name\":\"gpus\"",
				   ",\"spec\":{\"extendedResourceName\":\"e.io/gpu\"}") END("9"));
	script_chunk(late, EVENT("DELETED", "\"name\":\"gpus\"", ""));
	script_hold(late);
	stage_observe(&s);
	list_first(&s, denial);
	settle(&s);
	assert_true(has_heard("classes:0 cluster synced "));
	assert_string_equal(denied(&s), "deviceclasses");
	run_until(s.loop, scripted_server_unused(s.server) == 0);
	script_release(late);
	run_until(s.loop, has_heard("-class:gpus "));
	assert_true(has_heard("class:gpus:e.io/gpu classes:1 -class:gpus "));
	assert_string_equal(denied(&s), "");
	stage_close(&s);
}

/* A server denies what it does not serve, too: there are none, until it has the API. */
static void a_denied_kind_that_is_not_served(void **state)
{
	static const char classes[] = "/apis/resource.k8s.io/v1/deviceclasses";
	static const char *const some[] = {classes, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	struct script *denial = deny(&s, classes), *again = deny(&s, classes);
	answer_api(&s, 404);
	answer_api(&s, 200);
	struct script *late = scripted_server_expect(
		s.server, "GET /apis/resource.k8s.io/v1/deviceclasses?watch=1");
	script_hold(late);
	stage_observe(&s);
	list_first(&s, denial);
	settle(&s);
	assert_true(has_heard("cluster synced "));
	run_until(s.loop, scripted_server_count(s.server) >= KINDS + 3);
	run_a_little(s.loop);
	assert_false(has_heard("classes:"));
	assert_string_equal(denied(&s), "");
	script_release(again);
	run_until(s.loop, has_heard("classes:0 "));
	assert_string_equal(denied(&s), "deviceclasses");
	run_until(s.loop, scripted_server_unused(s.server) == 0);
	stage_close(&s);
}

/* A role that lets us list and not watch: the watch is refused, and the question beside it is answered. */
static void a_kind_that_is_neither_denied_nor_listed(void **state)
{
	static const char classes[] = "/apis/resource.k8s.io/v1/deviceclasses";
	static const char *const some[] = {classes, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	for (int i = 0; i < 5; i++) {
		script_answer(scripted_server_expect(s.server,
				      "GET /apis/resource.k8s.io/v1/deviceclasses?limit=1"),
			200, "", "{\"items\":[]}");
		script_answer(scripted_server_expect(s.server,
				      "GET /apis/resource.k8s.io/v1/deviceclasses?watch=1"),
			403, "", "{}");
	}
	stage_observe(&s);
	settle(&s);
	assert_true(has_heard("cluster synced "));
	assert_string_equal(denied(&s), "deviceclasses");
	stage_close(&s);
}

/* Nor are there any where the kind is not served. */
static void a_server_without_device_classes(void **state)
{
	static const char classes[] = "/apis/resource.k8s.io/v1/deviceclasses";
	static const char *const some[] = {classes, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	struct script *absent = fail_with(&s, classes, 404);
	list(&s, classes, END("9"));
	stage_observe(&s);
	list_first(&s, absent);
	settle(&s);
	assert_true(has_heard("cluster synced "));
	assert_false(has_heard("classes:"));
	run_until(s.loop, scripted_server_unused(s.server) == 0);
	stage_close(&s);
}

/* It is installed while the answer is on its way that there is none: what a list that is under way has
 * told of stays. */
static void a_late_answer_that_there_is_none(void **state)
{
	static const char pools[] = "/apis/karpenter.sh/v1/nodepools";
	static const char *const some[] = {pools, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	struct script *probe =
		scripted_server_expect(s.server, "GET /apis/karpenter.sh/v1/nodepools?limit=1");
	struct script *absent =
		scripted_server_expect(s.server, "GET /apis/karpenter.sh/v1/nodepools?watch=1");
	script_hold(probe);
	script_answer(probe, 404, "", "{}");
	script_hold(absent);
	script_answer(absent, 404, "", "{}");
	struct script *there = list(&s, pools,
		EVENT("ADDED", "\"name\":\"gpu\"",
			",\"spec\":{\"template\":{\"spec\":{\"requirements\":[]}}}"));
	script_chunk(there, END("9"));
	script_hold(there);
	stage_observe(&s);
	list_first(&s, absent);
	run_until(s.loop, has_heard("pool:gpu "));
	script_release(probe);
	run_a_little(s.loop);
	script_release(there);
	run_until(s.loop, has_heard("synced "));
	assert_false(has_heard("-pool:gpu "));
	stage_close(&s);
}

/* Pods are followed while they are wanted, and the gate waits for them. */
static void pods_only_when_wanted(void **state)
{
	static const char *const none[] = {NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, none);
	struct script *p = scripted_server_expect(s.server, "GET " PODS_PATH "?watch=1");
	script_hold(p);
	script_stream(p);
	script_chunk(p, POD("ADDED", "12", "n1") POD("ADDED", "34", "n2") END("9"));
	script_hold(p);
	script_chunk(p, POD("DELETED", "34", "n2"));
	script_hold(p);
	wants_pods = true;
	stage_observe(&s);
	run_until(s.loop, scripted_server_count(s.server) > KINDS);
	run_a_little(s.loop);
	assert_false(informer_synced(s.informer));
	script_release(p);
	settle(&s);
	assert_true(has_heard("bind:12@n1 bind:34@n2 pods:1 cluster synced "));
	buf_reset(&heard);
	script_release(p);
	run_until(s.loop, has_heard("unbind:34 "));
	wants_pods = false;
	informer_tick(s.informer);
	assert_string_equal(buf_text(&heard), "unbind:34 pods:0 unbind:12 ");
	stage_close(&s);
}

/* What a new list does not have is gone. */
static void pods_that_a_new_list_lacks(void **state)
{
	static const char *const none[] = {NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, none);
	list(&s, PODS_PATH, POD("ADDED", "12", "n1") POD("ADDED", "34", "n2") END("9"));
	list(&s, PODS_PATH, POD("ADDED", "34", "n2") END("12"));
	wants_pods = true;
	stage_observe(&s);
	settle(&s);
	buf_reset(&heard);
	kube_shared_watch_relist(s.pods);
	run_until(s.loop, has_heard("pods:1 "));
	assert_string_equal(buf_text(&heard), "bind:34@n2 unbind:12 pods:1 ");
	stage_close(&s);
}

static void without_pods(void **state)
{
	static const char *const none[] = {NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, none);
	struct script *denial = deny(&s, PODS_PATH);
	struct script *p = scripted_server_expect(s.server, "GET " PODS_PATH "?watch=1");
	script_hold(p);
	wants_pods = true;
	stage_observe(&s);
	run_until(s.loop, scripted_server_count(s.server) > KINDS);
	run_a_little(s.loop);
	script_release(denial);
	settle(&s);
	assert_true(has_heard("pods:1 cluster synced "));
	assert_string_equal(denied(&s), "pods");
	run_until(s.loop, scripted_server_unused(s.server) == 0);
	stage_close(&s);
}

/* A Job waits and the watch says nothing: a list, with a longer pause before the next. */
static void quotas_are_listed_for_who_waits(void **state)
{
	static const char *const some[] = {QUOTAS_PATH, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	list(&s, QUOTAS_PATH, END("7"));
	list(&s, QUOTAS_PATH, QUOTA("ADDED", "q", "35") END("40"));
	stage_observe(&s);
	settle(&s);
	buf_reset(&heard);
	clock_ms = 1000000;
	quotas_behind = true;
	informer_tick(s.informer);
	clock_ms += 1000;
	informer_tick(s.informer); /* an event may come yet */
	run_a_little(s.loop);
	assert_string_equal(buf_text(&heard), "");
	clock_ms += 1000;
	informer_tick(s.informer);
	run_until(s.loop, has_heard("saw:40 "));
	assert_string_equal(buf_text(&heard), "quota:q saw:40 ");
	clock_ms += 3000;
	informer_tick(s.informer);
	run_a_little(s.loop);
	assert_int_equal(scripted_server_unexpected(s.server), 0);
	stage_close(&s);
}

static struct kind_health health(struct stage *s, const char *kind)
{
	struct kind_health all[KIND_HEALTH_MAX];
	size_t n = informer_health(s->informer, all);
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].name, kind) == 0)
			return all[i];
	fail_msg("no kind %s", kind);
	return all[0];
}

#define GARBAGE(meta) "{\"type\":\"ADDED\",\"object\":{\"metadata\":{" meta "},\"spec\":{,}}}\n"

#define RESERVED ",\"podTemplate\":{\"labels\":{\"sluice.dev/x\":\"1\"}}"
#define LOCALQUEUE(name, spec)                                                                     \
	"{\"metadata\":{\"name\":\"" name                                                          \
	"\",\"namespace\":\"a\"},\"spec\":{\"clusterQueue\":\"batch\"" spec "}}"

/* What cannot be read stays as it was known, and the rest goes on. */
static void what_cannot_be_read_is_not_gone(void **state)
{
	static const char *const some[] = {NODES_PATH, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, some);
	list(&s, NODES_PATH, NODE("n1") NODE("n2") NODE("n3") END("7"));
	list(&s, NODES_PATH,
		GARBAGE("\"name\":\"n1\",\"resourceVersion\":\"9\"") NODE("n3") END("9"));
	list(&s, NODES_PATH, GARBAGE("\"name\":[") NODE("n4") END("11"));
	stage_observe(&s);
	settle(&s);
	buf_reset(&heard);
	kube_shared_watch_relist(s.nodes);
	run_until(s.loop, has_heard("-node:"));
	assert_string_equal(buf_text(&heard), "node:n3 -node:n2 ");
	assert_int_equal(health(&s, "nodes").unreadable, 1);
	buf_reset(&heard);
	kube_shared_watch_relist(s.nodes);
	run_until(s.loop, has_heard("node:n4 "));
	run_a_little(s.loop);
	assert_string_equal(buf_text(&heard), "node:n4 ");
	assert_int_equal(health(&s, "nodes").unreadable, 2);
	assert_int_equal(health(&s, "jobs").unreadable, 0);
	stage_close(&s);
}

static const char *localqueue_fault(const struct stage *s, const char *name)
{
	static struct localqueue_view v;
	for (size_t i = 0; queue_view_localqueue(s->world.queue, i, &v); i++)
		if (strcmp(v.ns, "a") == 0 && strcmp(v.name, name) == 0)
			return v.invalid ? v.invalid : "nothing";
	return "no such queue";
}

static void tell_localqueue_of(struct stage *s, const char *text)
{
	struct err e = {""};
	cJSON *o = cJSON_Parse(text);
	assert_non_null(o);
	tell_localqueue(s->world.queue, o, &e);
	cJSON_Delete(o);
}

/* Whether it is no JSON at all, or says what it may not. */
static void a_localqueue_that_is_refused_says_so(void **state)
{
	const struct kind *k = kinds;
	struct stage s;
	(void)state;
	while (strcmp(k->name, "localqueues") != 0)
		k++;
	stage_open(&s);
	tell_localqueue_of(&s, LOCALQUEUE("odd", RESERVED));
	tell_localqueue_of(&s, LOCALQUEUE("main", ""));
	k->reject_in(s.world.queue, "a", "garbage", "it is no JSON");
	assert_string_equal(localqueue_fault(&s, "main"), "nothing");
	assert_string_equal(localqueue_fault(&s, "odd"),
		"LocalQueue a/odd: spec.podTemplate.labels.sluice.dev/x: is reserved for Sluice; choose another key");
	assert_string_equal(localqueue_fault(&s, "garbage"), "it is no JSON");
	tell_localqueue_of(&s, LOCALQUEUE("odd", ""));
	tell_localqueue_of(&s, LOCALQUEUE("main", RESERVED));
	k->drop_in(s.world.queue, "a", "garbage");
	assert_string_equal(localqueue_fault(&s, "garbage"), "no such queue");
	assert_string_equal(localqueue_fault(&s, "odd"), "nothing");
	assert_non_null(strstr(localqueue_fault(&s, "main"), "reserved"));
	stage_close(&s);
}

static void pods_that_cannot_be_read_stay(void **state)
{
	static const char *const none[] = {NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	list_the_rest(&s, none);
	list(&s, PODS_PATH, POD("ADDED", "12", "n1") POD("ADDED", "34", "n2") END("9"));
	/* One is garbage; the other has become one that is not understood: it has no uid. */
	list(&s, PODS_PATH,
		GARBAGE("\"name\":\"p12\",\"namespace\":\"a\","
			"\"uid\":\"123e4567-e89b-12d3-a456-426614174000\"") EVENT("ADDED",
			"\"name\":\"p34\"", ",\"spec\":{\"nodeName\":\"n2\"}") END("12"));
	wants_pods = true;
	stage_observe(&s);
	settle(&s);
	buf_reset(&heard);
	kube_shared_watch_relist(s.pods);
	run_until(s.loop, has_heard("pods:1 "));
	assert_string_equal(buf_text(&heard), "pods:1 ");
	assert_int_equal(health(&s, "pods").unreadable, 2);
	stage_close(&s);
}

#define JOBS_PATH "/apis/batch/v1/jobs"
#define JOB(type, first, annotations)                                                              \
	EVENT(type,                                                                                \
		"\"name\":\"j" first                                                               \
		"\",\"namespace\":\"a\",\"labels\":{\"sluice.dev/queue-name\":\"main\"},"          \
		"\"annotations\":" annotations ",\"creationTimestamp\":\"2026-11-21T10:00:00Z\","  \
		"\"uid\":\"" first "3e4567-e89b-12d3-a456-426614174000\"",                         \
		",\"spec\":{\"suspend\":true,\"template\":{\"spec\":{\"containers\":[]}}}")

static size_t jobs_known(struct stage *s)
{
	struct gate_counts counts;
	gate_count(s->world.gate, &counts);
	return counts.jobs;
}

/* The one that an escaped NUL stands in is as good as any, in a list and afterwards. */
static void a_nul_in_free_text_stops_nothing(void **state)
{
	static const char *const some[] = {JOBS_PATH, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	size_t before = jobs_known(&s);
	list_the_rest(&s, some);
	struct script *p = list(&s, JOBS_PATH,
		JOB("ADDED", "12", "{\"a\":\"\\u0000\"}") JOB("ADDED", "34", "{}") END("9"));
	script_chunk(p, JOB("MODIFIED", "12", "{\"a\":\"\\u0000\\u0000\"}")
				JOB("ADDED", "56", "{\"a\":\"\\u0000\"}") BOOKMARK("20"));
	script_hold(p);
	stage_observe(&s);
	settle(&s);
	assert_int_equal(jobs_known(&s), before + 2);
	assert_int_equal(informer_jobs_stalled_ms(s.informer), 0);
	script_release(p);
	run_until(s.loop, jobs_known(&s) == before + 3);
	assert_int_equal(health(&s, "jobs").unreadable, 0);
	assert_int_equal(informer_jobs_stalled_ms(s.informer), 0);
	stage_close(&s);
}

/* A Job that is garbage or cannot be decoded: those behind it are seen. */
static void a_job_that_cannot_be_read_stops_nothing(void **state)
{
	static const char *const some[] = {JOBS_PATH, NULL};
	struct stage s;
	(void)state;
	stage_open(&s);
	size_t before = jobs_known(&s);
	list_the_rest(&s, some);
	struct script *p = list(&s, JOBS_PATH,
		GARBAGE("\"name\":\"x\",\"namespace\":\"a\"") JOB("ADDED", "34", "{}") END("9"));
	script_chunk(p, GARBAGE("\"name\":\"x\",\"namespace\":\"a\"")
				EVENT("ADDED", "\"name\":\"no-uid\"", "") JOB("ADDED", "56", "{}"));
	script_hold(p);
	stage_observe(&s);
	settle(&s);
	assert_int_equal(jobs_known(&s), before + 1);
	script_release(p);
	run_until(s.loop, jobs_known(&s) == before + 2);
	assert_int_equal(health(&s, "jobs").unreadable, 3);
	stage_close(&s);
}

#define LABELLED                                                                                   \
	"\"name\":\"j12\",\"namespace\":\"a\",\"labels\":{\"sluice.dev/queue-name\":\"main\"}"

static bool localqueue_says(const struct stage *s, const char *words)
{
	struct localqueue_view v = {0};
	for (size_t i = 0; queue_view_localqueue(s->world.queue, i, &v); i++)
		if (strcmp(v.ns, "a") == 0 && strcmp(v.name, "main") == 0)
			return strstr(v.message, words) != NULL;
	return false;
}

/* Its owner reads no log of ours. */
static void the_localqueue_names_a_job_that_cannot_be_read(void **state)
{
	static const char *const some[] = {JOBS_PATH, NULL};
	struct localqueue_spec lq = {
		.ns = "a", .name = "main", .clusterqueue = "batch", .weight = 1};
	struct stage s;
	(void)state;
	for (int how = 0; how < 2; how++) {
		stage_open(&s);
		size_t before = jobs_known(&s);
		list_the_rest(&s, some);
		struct script *p = list(&s, JOBS_PATH,
			GARBAGE(LABELLED) EVENT("ADDED",
				"\"name\":\"no-uid\",\"namespace\":\"a\",\"labels\":{\"sluice.dev/"
				"queue-name\":\"main\"}",
				"") END("9"));
		script_chunk(p, JOB("MODIFIED", "34", "{}"));
		script_chunk(
			p, how == 0 ? JOB("MODIFIED", "12", "{}") : JOB("DELETED", "12", "{}"));
		script_chunk(p, JOB("MODIFIED", "56", "{}"));
		script_hold(p);
		stage_observe(&s);
		settle(&s);
		assert_int_equal(queue_set_localqueue(s.world.queue, &lq, NULL), 0);
		assert_true(localqueue_says(&s, "2 Jobs cannot be read"));
		assert_true(localqueue_says(&s, "j12 first"));
		script_release(p);
		run_until(s.loop, jobs_known(&s) == before + 3 - (size_t)how);
		assert_true(localqueue_says(&s, "Job no-uid cannot be read"));
		assert_false(localqueue_says(&s, "j12"));
		stage_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_listed_once),
		cmocka_unit_test(what_happens_then),
		cmocka_unit_test(a_status_that_is_a_fact_is_told),
		cmocka_unit_test(without_quotas_and_budgets),
		cmocka_unit_test(without_nodes),
		cmocka_unit_test(what_other_programs_have),
		cmocka_unit_test(without_device_classes),
		cmocka_unit_test(a_denied_kind_that_is_not_served),
		cmocka_unit_test(a_kind_that_is_neither_denied_nor_listed),
		cmocka_unit_test(a_server_without_device_classes),
		cmocka_unit_test(a_late_answer_that_there_is_none),
		cmocka_unit_test(pods_only_when_wanted),
		cmocka_unit_test(pods_that_a_new_list_lacks),
		cmocka_unit_test(without_pods),
		cmocka_unit_test(quotas_are_listed_for_who_waits),
		cmocka_unit_test(what_cannot_be_read_is_not_gone),
		cmocka_unit_test(a_localqueue_that_is_refused_says_so),
		cmocka_unit_test(pods_that_cannot_be_read_stay),
		cmocka_unit_test(a_nul_in_free_text_stops_nothing),
		cmocka_unit_test(a_job_that_cannot_be_read_stops_nothing),
		cmocka_unit_test(the_localqueue_names_a_job_that_cannot_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
