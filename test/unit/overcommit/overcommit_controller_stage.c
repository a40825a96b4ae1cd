#include "overcommit_controller_stage.h"

#include "base/instant.h"
#include "test/golden/requests.h"

static char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *format(const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, fmt);
	assert_true(vasprintf(&text, fmt, args) >= 0);
	va_end(args);
	return text;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* A uid for each name, always the same. */
static void uid_text(const char *name, char ret[UID_TEXT_SIZE])
{
	struct uid uid = {{0}};
	uint64_t h = 14695981039346656037u;
	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211u;
	memcpy(uid.byte, &h, sizeof(h));
	uid_format(&uid, ret);
}

char *node_text(const char *name, const char *labels, int cpu, int gi, const char *annotations,
	const char *more_status)
{
	char uid[UID_TEXT_SIZE];
	uid_text(name, uid);
	return format("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"resourceVersion\":"
		      "\"5\",\"name\":\"%s\","
		      "\"uid\":\"%s\",\"labels\":{%s},\"annotations\":{%s}},\"spec\":{},"
		      "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"
		      "\"capacity\":{\"cpu\":\"%d\",\"memory\":\"%dGi\"%s},"
		      "\"allocatable\":{\"cpu\":\"%d\",\"memory\":\"%dGi\"%s}}}",
		name, uid, labels, annotations, cpu, gi, more_status, cpu, gi, more_status);
}

char *pod_text(const char *ns, const char *name, const char *node, const char *labels,
	const char *resources)
{
	char uid[UID_TEXT_SIZE];
	uid_text(name, uid);
	return format("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":"
		      "\"5\",\"name\":\"%s\","
		      "\"namespace\":\"%s\",\"uid\":\"%s\",\"labels\":{%s},"
		      "\"creationTimestamp\":\"2026-11-21T09:00:00Z\"},"
		      "\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\","
		      "\"resources\":{\"requests\":{%s},\"limits\":{%s}}}]},"
		      "\"status\":{\"phase\":\"Running\",\"qosClass\":\"Guaranteed\"}}",
		name, ns, uid, labels, node, resources, resources);
}

char *usage_text(const char *ns, const char *name, int64_t at_ms, int cpu_milli, int mi)
{
	struct instant_text at = instant_seconds(at_ms);
	if (!*ns)
		return format("{\"metadata\":{\"name\":\"%s\"},\"timestamp\":\"%s\",\"window\":"
			      "\"15s\",\"usage\":{\"cpu\":\"%dm\",\"memory\":\"%dMi\"}}",
			name, at.s, cpu_milli, mi);
	return format(
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\"},\"timestamp\":\"%s\","
		"\"window\":\"15s\",\"containers\":[{\"name\":\"c\",\"usage\":{\"cpu\":\"%dm\","
		"\"memory\":\"%dMi\"}}]}",
		name, ns, at.s, cpu_milli, mi);
}

char *stage_event(const char *type, const char *object)
{
	return format("{\"type\":\"%s\",\"object\":%s}\n", type, object);
}

/* ---- the server ------------------------------------------------------------------------------ */

#define LIST_END                                                                                   \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\","              \
	"\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"

/* objects: texts with newlines between them. */
struct script *stage_list(
	struct overcommit_controller_stage *s, const char *path, const char *objects)
{
	char *line = format("GET %s?", path);
	struct script *p = scripted_server_expect(s->server, line);
	char *copy = mem_strdup(objects), *at = copy;
	script_stream(p);
	for (char *object; (object = strsep(&at, "\n"));) {
		if (!*object)
			continue;
		char *event = stage_event("ADDED", object);
		script_chunk(p, event);
		free(event);
	}
	script_chunk(p, LIST_END);
	free(copy);
	free(line);
	return p;
}

void stage_round(struct overcommit_controller_stage *s, const char *pods, const char *nodes)
{
	const char *const items[] = {pods, nodes};
	const char *const kinds[] = {"pods", "nodes"};
	for (size_t i = 0; i < 2; i++) {
		char *line = format("GET /apis/metrics.k8s.io/v1beta1/%s ", kinds[i]);
		char *body = format("{\"kind\":\"List\",\"metadata\":{},\"items\":[%s]}", items[i]);
		script_answer(scripted_server_expect(s->server, line), 200,
			"Content-Type: application/json\r\n", body);
		free(line);
		free(body);
	}
}

void stage_patch(struct overcommit_controller_stage *s, const char *node, int status)
{
	char *line = format("PATCH /api/v1/nodes/%s/status", node);
	script_answer(scripted_server_expect(s->server, line), status,
		"Content-Type: application/json\r\n", "{}");
	free(line);
}

size_t stage_count(const struct overcommit_controller_stage *s, const char *line_part)
{
	size_t n = 0;
	for (size_t i = 0; i < scripted_server_count(s->server); i++)
		n += strstr(scripted_server_request(s->server, i)->line, line_part) != NULL;
	return n;
}

const char *stage_last_body(const struct overcommit_controller_stage *s, const char *line_part)
{
	for (size_t i = scripted_server_count(s->server); i-- > 0;)
		if (strstr(scripted_server_request(s->server, i)->line, line_part))
			return scripted_server_request(s->server, i)->body;
	return "";
}

/* ---- the stage ------------------------------------------------------------------------------- */

static void on_changed(void *ctx)
{
	((struct overcommit_controller_stage *)ctx)->changes++;
}

static void on_orders_changed(const char *node, void *ctx)
{
	struct overcommit_controller_stage *s = ctx;
	s->orders_changes++;
	snprintf(s->orders_node, sizeof(s->orders_node), "%s", node);
}

static bool agent(const char *node, struct node_agent_view *ret, void *ctx)
{
	const struct overcommit_controller_stage *s = ctx;
	(void)node;
	*ret = s->agent;
	return s->has_agent;
}

char *configmap_text(const char *config)
{
	struct buf b;
	buf_init(&b, 1 << 20);
	buf_puts(&b, "{\"metadata\":{\"resourceVersion\":\"5\",\"name\":\"ack-slo-config\","
		     "\"namespace\":\"kube-system\","
		     "\"uid\":\"00000000-0000-0000-0000-0000000000cc\"},"
		     "\"data\":{\"colocation-config\":");
	buf_json_string(&b, config);
	buf_puts(&b, "}}");
	return buf_take(&b);
}

void stage_open(struct overcommit_controller_stage *s, const char *configmap)
{
	*s = (struct overcommit_controller_stage){
		.loop = ev_loop_new(EVFLAG_AUTO), .json = json_new(1 << 24), .now_ms = NOW_MS};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	s->nodes = kube_shared_watch_new(
		s->client, &(struct kube_watch_options){.path = "/api/v1/nodes", .seed = 2});
	s->pods = kube_shared_watch_new(
		s->client, &(struct kube_watch_options){.path = "/api/v1/pods", .seed = 3});
	s->queue = queue_new();
	char *text = configmap ? configmap_text(configmap) : mem_strdup("");
	stage_list(s, "/api/v1/namespaces/kube-system/configmaps", text);
	free(text);
	struct overcommit_controller_options o = {.client = s->client,
		.nodes = s->nodes,
		.pods = s->pods,
		.queue = s->queue,
		.configmap_namespace = "kube-system",
		.configmap = "ack-slo-config",
		.seed = 1,
		.changed = on_changed,
		.orders_changed = on_orders_changed,
		.agent = agent,
		.ctx = s};
	s->overcommit_controller = overcommit_controller_new(&o);
	run_until(s->loop, s->overcommit_controller->configmap_listed);
}

void stage_close(struct overcommit_controller_stage *s)
{
	overcommit_controller_free(s->overcommit_controller);
	kube_shared_watch_free(s->nodes);
	kube_shared_watch_free(s->pods);
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	kube_client_free(s->client);
	queue_free(s->queue);
	json_free(s->json);
	kube_config_free(s->config);
	golden_requests(s->server);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
}

/* Streams of watches stay; everything else ends. */
static bool quiet(const struct overcommit_controller_stage *s)
{
	const struct kube_client_stats *stats = kube_client_stats(s->client);
	return stats->in_flight + stats->queued == 0 &&
	       !usage_poller_busy(s->overcommit_controller->usage_poller);
}

void stage_tick(struct overcommit_controller_stage *s)
{
	overcommit_controller_tick(s->overcommit_controller, s->now_ms, true);
	run_a_little(s->loop);
	run_until(s->loop, quiet(s));
}

void stage_pass(struct overcommit_controller_stage *s, int64_t ms)
{
	s->now_ms += ms;
	stage_tick(s);
}
