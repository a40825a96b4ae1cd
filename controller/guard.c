#include "controller/guard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/kube/json.h"
#include "controller/review.h"
#include "controller/siphash.h"

enum {
	REMEMBERED = 64,
	REMEMBER_MS = 10000,
	ASKING_MAX = 16,
	TIMEOUT_MS = 5000,
	TOKEN_MAX = 16 * 1024,
	ANSWER_CEILING = 256 * 1024,
};

struct memory {
	uint64_t hash[2];
	enum guard_verdict verdict;
	int64_t until_ms; /* 0: empty */
};

/* One token that is being asked about. */
struct question {
	struct guard *guard;
	uint64_t hash[2];
	uint64_t request; /* under way */
	int64_t asked_ms;
	guard_verdict_fn *fn;
	void *ctx;
};

struct guard {
	struct kube_client *client;
	struct log *log;
	struct siphash_key key;
	struct memory memory[REMEMBERED];
	struct question *asking[ASKING_MAX]; /* NULL: free */
	struct json *json;
};

struct guard *guard_new(struct kube_client *client, struct log *log)
{
	struct guard *g = mem_alloc(sizeof(*g));
	g->client = client;
	g->log = log;
	g->json = json_new(4 * ANSWER_CEILING);
	must(getrandom(&g->key, sizeof(g->key), 0) == sizeof(g->key));
	return g;
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < ASKING_MAX; i++) {
		if (g->asking[i])
			kube_client_cancel(g->client, g->asking[i]->request);
		free(g->asking[i]);
	}
	json_free(g->json);
	free(g);
}

static const struct memory *recall(const struct guard *g, const uint64_t hash[2], int64_t now_ms)
{
	for (size_t i = 0; i < REMEMBERED; i++) {
		const struct memory *m = &g->memory[i];
		/* A clock that was set back must not make a verdict last. */
		bool fresh = now_ms < m->until_ms && m->until_ms - now_ms <= REMEMBER_MS;
		if (fresh && m->hash[0] == hash[0] && m->hash[1] == hash[1])
			return m;
	}
	return NULL;
}

static void remember(struct guard *g, const struct question *q, enum guard_verdict v)
{
	struct memory *oldest = &g->memory[0];
	for (size_t i = 0; i < REMEMBERED; i++)
		if (g->memory[i].until_ms < oldest->until_ms)
			oldest = &g->memory[i];
	*oldest = (struct memory){{q->hash[0], q->hash[1]}, v, q->asked_ms + REMEMBER_MS};
}

static void settle(struct question *q, enum guard_verdict v)
{
	struct guard *g = q->guard;
	for (size_t i = 0; i < ASKING_MAX; i++)
		if (g->asking[i] == q)
			g->asking[i] = NULL;
	if (v != GUARD_UNKNOWN)
		remember(g, q, v);
	q->fn(v, q->ctx);
	free(q);
}

/* A review that got no 2xx: say why in the log, once, for it is our own rights that are missing. */
static bool usable(struct question *q, const struct kube_answer *a, const char *what)
{
	if (a->outcome == KUBE_DONE)
		return true;
	log_event(q->guard->log, LEVEL_WARN, "caller-not-checked", "asking", what, "why",
		a->sentence, NULL);
	return false;
}

/* ---- second question: may they? -------------------------------------------------------------- */

static void on_access(const struct kube_answer *a, void *ctx)
{
	struct question *q = ctx;
	const cJSON *root;
	if (!usable(q, a, "SubjectAccessReview") ||
		json_parse(q->guard->json, a->body, &root, NULL) != 0) {
		settle(q, GUARD_UNKNOWN);
		return;
	}
	settle(q, review_allows(root) ? GUARD_ALLOWED : GUARD_REFUSED);
}

static uint64_t post(
	struct question *q, const char *path, const struct buf *body, kube_answer_fn *fn)
{
	struct kube_request request = {
		.method = KUBE_POST,
		.path = path,
		.body = buf_slice(body),
		.timeout_ms = TIMEOUT_MS,
		.answer_ceiling = ANSWER_CEILING,
		.urgent = true,
	};
	return kube_client_send(q->guard->client, &request, fn, q);
}

/* ---- first question: who is it? -------------------------------------------------------------- */

static void on_token(const struct kube_answer *a, void *ctx)
{
	struct question *q = ctx;
	const cJSON *root;
	if (!usable(q, a, "TokenReview") || json_parse(q->guard->json, a->body, &root, NULL) != 0) {
		settle(q, GUARD_UNKNOWN);
		return;
	}
	const cJSON *user = review_user(root);
	if (!user) {
		settle(q, GUARD_STRANGER);
		return;
	}
	struct buf body;
	buf_init(&body, ANSWER_CEILING);
	review_ask_access(&body, user);
	if (body.failed)
		settle(q, GUARD_UNKNOWN);
	else
		q->request = post(
			q, "/apis/authorization.k8s.io/v1/subjectaccessreviews", &body, on_access);
	buf_done(&body);
}

static void ask(struct question *q, const char *token)
{
	struct buf body;
	buf_init(&body, 2 * TOKEN_MAX);
	review_ask_token(&body, token);
	q->request = post(q, "/apis/authentication.k8s.io/v1/tokenreviews", &body, on_token);
	explicit_bzero(body.ptr, body.len);
	buf_done(&body);
}

enum guard_verdict guard_ask(
	struct guard *g, const char *token, int64_t now_ms, guard_verdict_fn *fn, void *ctx)
{
	size_t len = strlen(token);
	uint64_t hash[2];
	if (len == 0 || len > TOKEN_MAX)
		return GUARD_STRANGER;
	siphash128(&g->key, token, len, hash);
	const struct memory *m = recall(g, hash, now_ms);
	if (m)
		return m->verdict;
	for (size_t i = 0; i < ASKING_MAX; i++) {
		if (g->asking[i])
			continue;
		struct question *q = mem_alloc(sizeof(*q));
		*q = (struct question){g, {hash[0], hash[1]}, 0, now_ms, fn, ctx};
		g->asking[i] = q;
		ask(q, token);
		return GUARD_LATER;
	}
	return GUARD_UNKNOWN;
}
