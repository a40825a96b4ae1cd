#include "controller/kube/upkeep.h"

#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/mix.h"
#include "base/must.h"

enum {
	COMPARE_MS = 10000,
	ABSENT_MS = 60000,
	RETRY_MS = 1000, /* the first pause after a failure */
	RETRY_MAX_MS = 60000,
	TIMEOUT_MS = 10000,
	BODY_MAX_BYTES = 256 * 1024,
	ANSWER_MAX_BYTES = 1024 * 1024,
	TREE_MAX_BYTES = 4 * 1024 * 1024,
};

/* The request that is under way. */
enum upkeep_state {
	UPKEEP_RESTS,
	UPKEEP_READS,
	UPKEEP_WRITES,
};

struct upkeep {
	struct upkeep_options options;
	struct upkeep_object object[UPKEEP_OBJECTS_MAX];
	struct json *json;
	enum upkeep_state state;
	size_t at;	  /* the object that is read or written */
	uint64_t request; /* the request under way; 0: none */
	bool changed;	  /* since the last round began */
	bool first;	  /* the first round with what is wanted */
	bool wrote;	  /* in this round */
	bool complained;  /* a failure was told, and no round went well since */
	bool overwritten; /* another client's change was, which was told */
	unsigned failures;
	uint64_t random;
	int64_t now_ms, due_ms;
};

/* ---- the end of a round ---------------------------------------------------------------------- */

static int64_t pause_ms(struct upkeep *u)
{
	return backoff_drawn_ms(
		backoff_ms(RETRY_MS, u->failures++, RETRY_MAX_MS), draw64(&u->random));
}

static void rest(struct upkeep *u, int64_t wait_ms)
{
	u->state = UPKEEP_RESTS;
	u->due_ms = u->now_ms + wait_ms;
	u->wrote = false;
	json_reset(u->json);
}

static void is_absent(struct upkeep *u)
{
	u->failures = 0;
	u->complained = false;
	rest(u, ABSENT_MS);
}

static void has_failed(struct upkeep *u, const struct kube_answer *answer)
{
	int64_t wait = pause_ms(u);
	if (!u->complained)
		u->options.failed(u->at, answer, u->options.ctx);
	u->complained = true;
	rest(u, answer->retry_after_ms > wait ? answer->retry_after_ms : wait);
}

static void has_succeeded(struct upkeep *u)
{
	bool another = u->wrote && !u->first && !u->complained;
	if (another ? !u->overwritten : u->wrote || u->complained)
		u->options.written(another, u->options.ctx);
	u->overwritten |= another;
	u->first = u->complained = false;
	u->failures = 0;
	rest(u, COMPARE_MS);
}

/* ---- a round --------------------------------------------------------------------------------- */

static void on_answer(const struct kube_answer *answer, void *ctx);

static void ask(struct upkeep *u, enum upkeep_state state, struct kube_request *request)
{
	request->timeout_ms = TIMEOUT_MS;
	request->answer_ceiling = ANSWER_MAX_BYTES;
	must(!u->request);
	u->state = state;
	u->request = kube_client_send(u->options.client, request, on_answer, u);
}

static void read_next(struct upkeep *u)
{
	if (u->at == u->options.n) {
		has_succeeded(u);
		return;
	}
	ask(u, UPKEEP_READS,
		&(struct kube_request){.method = KUBE_GET, .path = u->object[u->at].path});
}

static void write_it(struct upkeep *u)
{
	const struct upkeep_object *o = &u->object[u->at];
	struct buf body;
	buf_init(&body, BODY_MAX_BYTES);
	o->put(&body, u->options.ctx);
	ask(u, UPKEEP_WRITES,
		&(struct kube_request){.method = KUBE_PATCH,
			.path = o->write_path,
			.content_type = o->content_type,
			.body = buf_slice(&body)});
	buf_done(&body);
}

/* Gives the object that was read; NULL: it cannot be read. */
static const cJSON *object_of(struct upkeep *u, const struct kube_answer *answer)
{
	const cJSON *root = NULL;
	return json_parse(u->json, answer->body, &root, NULL) == 0 ? root : NULL;
}

static void go_on(struct upkeep *u, const struct kube_answer *answer)
{
	bool written = u->state == UPKEEP_WRITES;
	u->wrote |= written;
	if (!written && !u->object[u->at].is_right(object_of(u, answer), u->options.ctx)) {
		write_it(u);
		return;
	}
	u->at++;
	read_next(u);
}

static void on_answer(const struct kube_answer *answer, void *ctx)
{
	struct upkeep *u = ctx;
	const struct upkeep_object *o = &u->object[u->at];
	u->request = 0;
	if (answer->outcome == KUBE_DONE)
		go_on(u, answer);
	else if (answer->outcome == KUBE_GONE && !o->is_made && !o->is_needed)
		is_absent(u);
	else if (answer->outcome == KUBE_GONE && o->is_made && u->state == UPKEEP_READS)
		write_it(u);
	else
		has_failed(u, answer);
}

void upkeep_tick(struct upkeep *u, bool changed, int64_t tick_ms)
{
	u->now_ms = tick_ms;
	u->changed |= changed;
	if (u->state != UPKEEP_RESTS || (!u->changed && tick_ms < u->due_ms))
		return;
	u->first |= u->changed;
	u->changed = false;
	u->at = 0;
	read_next(u);
}

/* ---- its life -------------------------------------------------------------------------------- */

struct upkeep *upkeep_new(const struct upkeep_options *o)
{
	must(o->n > 0 && o->n <= UPKEEP_OBJECTS_MAX);
	struct upkeep *u = mem_alloc(sizeof(*u));
	u->options = *o;
	memcpy(u->object, o->objects, o->n * sizeof(*o->objects));
	u->options.objects = NULL;
	u->json = json_new(TREE_MAX_BYTES);
	u->random = o->seed;
	return u;
}

void upkeep_free(struct upkeep *u)
{
	if (!u)
		return;
	upkeep_pause(u);
	json_free(u->json);
	free(u);
}

void upkeep_pause(struct upkeep *u)
{
	kube_client_cancel(u->options.client, u->request);
	u->request = 0;
	u->overwritten = u->complained = false;
	u->failures = 0;
	rest(u, 0);
}
