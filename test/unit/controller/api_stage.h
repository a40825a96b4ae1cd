/*
 * A stage for what writes to the API server and reads the queue: a scripted server, a client of it,
 * and a small world (controller_world.h).
 */
#ifndef SLUICE_TEST_CONTROLLER_API_STAGE_H
#define SLUICE_TEST_CONTROLLER_API_STAGE_H

#include "base/json.h"
#include "test/unit/kube/test.h"
#include "test/unit/kube/scripted_server.h"
#include "controller_world.h"
#include "test/golden/requests.h"

#define NOW_MS 1795255200000 /* 2026-11-21T10:00:00Z */

struct api_stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct world world;
	struct json *json;
};

static inline void api_stage_open(struct api_stage *s)
{
	*s = (struct api_stage){.loop = ev_loop_new(EVFLAG_AUTO), .json = json_new(1 << 20)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	world_open(&s->world, "batch");
}

/* The client goes first, and then what had requests under way: no answer comes any more. */
static inline void api_stage_hang_up(struct api_stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	kube_client_free(s->client);
}

static inline void api_stage_close(struct api_stage *s)
{
	world_close(&s->world);
	json_free(s->json);
	kube_config_free(s->config);
	golden_requests(s->server);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
}

static inline void api_stage_expect(struct api_stage *s, const char *line, int status)
{
	script_answer(scripted_server_expect(s->server, line), status,
		"Content-Type: application/json\r\n", "{}");
}

/* Turns until nothing is under way. */
static inline void api_stage_settle(struct api_stage *s)
{
	const struct kube_client_stats *stats = kube_client_stats(s->client);
	while (stats->in_flight + stats->queued > 0)
		ev_run(s->loop, EVRUN_ONCE);
}

static inline const char *api_stage_last_body(const struct api_stage *s)
{
	size_t n = scripted_server_count(s->server);
	return scripted_server_request(s->server, n - 1)->body;
}

#endif
