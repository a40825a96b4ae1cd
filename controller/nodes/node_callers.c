#include "controller/nodes/node_callers.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "controller/net/review.h"
#include "controller/net/token.h"

#define USER "system:serviceaccount:" NODE_CALLERS_NAMESPACE ":" NODE_CALLERS_ACCOUNT
#define NODE_NAME "authentication.kubernetes.io/node-name"

enum {
	AGENTS_MAX = 8192, /* with tokens that were renewed */
	REMEMBER_MS = 600000,
	ASKING_MAX = 256, /* more than the port lets in at once */
	ANSWER_CEILING = 64 * 1024,
};

struct agent {
	struct token token;
	int64_t until_ms;
	char node[NODE_NAME_SIZE];
};

/* A request that waits for the answer to a question. */
struct waiter {
	struct link link;
	auth_verdict_fn *fn;
	void *ctx;
};

/* A question that is under way. */
struct question {
	struct node_callers *callers;
	struct link link; /* callers->questions */
	struct token token;
	uint64_t request;
	int64_t asked_ms;
	struct link waiters;
};

struct node_callers {
	struct kube_client *client;
	struct log *log;
	struct siphash_key key;
	struct map agents; /* by token */
	struct link questions;
	struct json *json;
	int64_t said_ms; /* that no question can be asked */
};

/* ---- what is remembered ---------------------------------------------------------------------- */

static bool agent_has_token(const void *value, const void *key)
{
	return token_is(&((const struct agent *)value)->token, key);
}

static struct agent *find_agent(const struct node_callers *c, const struct token *t)
{
	return map_get(&c->agents, t->hash[0], t);
}

static void forget_agent(struct node_callers *c, const struct token *t)
{
	free(map_take(&c->agents, t->hash[0], t));
}

/* Forgets the agent that was known longest. */
static void make_room(struct node_callers *c)
{
	struct agent *oldest = NULL, *a;
	map_each(&c->agents, i, a)
		if (!oldest || a->until_ms < oldest->until_ms)
			oldest = a;
	if (oldest)
		forget_agent(c, &oldest->token);
}

static void remember_agent(struct node_callers *c, const struct question *q, const char *node)
{
	struct agent *a = find_agent(c, &q->token);
	if (!a && c->agents.count >= AGENTS_MAX)
		make_room(c);
	if (!a) {
		a = mem_alloc(sizeof(*a));
		a->token = q->token;
		map_put(&c->agents, a->token.hash[0], a);
	}
	a->until_ms = q->asked_ms + REMEMBER_MS;
	strcpy(a->node, node);
}

/* ---- the question ---------------------------------------------------------------------------- */

static void add_waiter(struct question *q, auth_verdict_fn *fn, void *ctx)
{
	struct waiter *w = mem_alloc(sizeof(*w));
	*w = (struct waiter){.fn = fn, .ctx = ctx};
	list_add(&q->waiters, &w->link);
}

static void question_free(struct question *q)
{
	list_each_entry_safe(&q->waiters, struct waiter, w, link)
		free(w);
	list_leave(&q->link);
	free(q);
}

static void settle(struct question *q, enum auth_verdict v)
{
	list_leave(&q->link);
	list_each_entry(&q->waiters, struct waiter, w, link)
		w->fn(v, w->ctx);
	question_free(q);
}

/* Whether this may be the name of a node. */
static bool is_name(const char *s)
{
	size_t len = s ? strlen(s) : 0;
	return len > 0 && len < NODE_NAME_SIZE &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789.-") == len;
}

/* Gives the node to which the pod of the token is bound; NULL: none, or it is no agent's. */
static const char *node_of(const cJSON *user)
{
	const cJSON *names = json_array(json_object(user, "extra"), NODE_NAME);
	const cJSON *first = names ? names->child : NULL;
	const char *node = first && !first->next ? cJSON_GetStringValue(first) : NULL;
	return json_is(user, "username", USER) && is_name(node) ? node : NULL;
}

static enum auth_verdict judge(struct node_callers *c, struct question *q, const cJSON *review)
{
	const cJSON *user = review_user(review, NODE_CALLERS_AUDIENCE);
	const char *node = user ? node_of(user) : NULL;
	if (node) {
		remember_agent(c, q, node);
		return AUTH_ALLOWED;
	}
	forget_agent(c, &q->token);
	return user ? AUTH_REFUSED : AUTH_STRANGER;
}

static void on_answer(const struct kube_answer *a, void *ctx)
{
	struct question *q = ctx;
	struct node_callers *c = q->callers;
	const cJSON *review;
	if (a->outcome == KUBE_DONE && json_parse(c->json, a->body, &review, NULL) == 0) {
		settle(q, judge(c, q, review));
		return;
	}
	if (log_again(&c->said_ms, q->asked_ms))
		log_event(c->log, LEVEL_WARN, "caller-not-checked", "asking", "TokenReview", "of",
			"an agent of a node", "why", a->sentence, NULL);
	settle(q, AUTH_UNKNOWN);
}

static struct question *find_question(const struct node_callers *c, const struct token *t)
{
	list_each_entry(&c->questions, struct question, q, link)
		if (token_is(&q->token, t))
			return q;
	return NULL;
}

/* Begins a question; NULL: there is no room for one now. */
static struct question *begin(
	struct node_callers *c, const struct token *t, const char *text, int64_t now_ms)
{
	if (list_count(&c->questions) >= ASKING_MAX)
		return NULL;
	struct question *q = mem_alloc(sizeof(*q));
	*q = (struct question){.callers = c, .token = *t, .asked_ms = now_ms};
	list_init(&q->waiters);
	list_add(&c->questions, &q->link);
	q->request =
		token_review(c->client, text, NODE_CALLERS_AUDIENCE, ANSWER_CEILING, on_answer, q);
	if (q->request)
		return q;
	question_free(q);
	return NULL;
}

enum auth_verdict node_callers_ask(struct node_callers *c, const struct auth_caller *caller,
	int64_t now_ms, auth_verdict_fn *fn, void *ctx)
{
	struct token t;
	if (!token_hash(&c->key, caller->token, &t))
		return AUTH_STRANGER;
	const struct agent *known = find_agent(c, &t);
	if (known && now_ms < known->until_ms)
		return AUTH_ALLOWED;
	struct question *q = find_question(c, &t);
	if (!q)
		q = begin(c, &t, caller->token, now_ms);
	if (!q)
		return AUTH_UNKNOWN;
	add_waiter(q, fn, ctx);
	return AUTH_LATER;
}

const char *node_callers_node(const struct node_callers *c, const char *token)
{
	struct token t;
	const struct agent *a = token_hash(&c->key, token, &t) ? find_agent(c, &t) : NULL;
	return a ? a->node : NULL;
}

/* ---- its life -------------------------------------------------------------------------------- */

struct node_callers *node_callers_new(struct kube_client *client, struct log *log)
{
	struct node_callers *c = mem_alloc(sizeof(*c));
	c->client = client;
	c->log = log;
	c->key = token_key();
	c->json = json_new(4 * ANSWER_CEILING);
	map_init(&c->agents, agent_has_token);
	list_init(&c->questions);
	return c;
}

void node_callers_drop(struct node_callers *c)
{
	list_each_entry_safe(&c->questions, struct question, q, link) {
		kube_client_cancel(c->client, q->request);
		question_free(q);
	}
}

void node_callers_free(struct node_callers *c)
{
	if (!c)
		return;
	node_callers_drop(c);
	map_free(&c->agents, free);
	json_free(c->json);
	free(c);
}
