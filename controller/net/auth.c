#include "controller/net/auth.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/json.h"
#include "controller/net/bucket.h"
#include "controller/net/token.h"

enum {
	OWNERS = 256,
	TOKENS_EACH = 4,   /* of one owner, in OWNERS */
	RIGHTS_EACH = 32,  /* of one token, while it is remembered: pages of a queue want a dozen */
	CHOICES_EACH = 24, /* of one token: namespaces that a page offers (page/session.h) */
	CHOICES_AT_ONCE = 4, /* of all, and one of each party */
	STRANGERS = 64,
	ADDRESSES = 64,
	PARTIES = 64,
	REMEMBER_MS = 10000,
	ASKING_MAX = 16,
	ASKING_EACH = 8,	      /* of one address */
	REFILL_MS = 50,		      /* 20 unknown tokens a second, */
	REFILL_EACH = 200,	      /* and 5 from one address; */
	BURST = 40,		      /* so many at once, */
	BURST_EACH = 10,	      /* and so many from one address */
	BURST_CHOICES = CHOICES_EACH, /* and so many choices of one party: a page's */
	ANSWER_CEILING = 256 * 1024,
};

struct known {
	struct right right;
	enum auth_verdict verdict;
};

/* A valid token, or a user whom a proxy named. */
struct owner {
	struct token token;
	int64_t until_ms; /* 0: free */
	uint64_t name;	  /* a hash of the user's name */
	uint64_t party;	  /* a hash of what bounds choices, see party_of() */
	char *user;	  /* as review_put_user() has one */
	struct known known[RIGHTS_EACH];
	unsigned asked, knows; /* of known[] */
	struct known choice[CHOICES_EACH];
	unsigned choices_asked, choices; /* of choice[] */
};

struct stranger {
	struct token token;
	int64_t until_ms;
};

/* A question that is under way, about a token or a right. */
struct question {
	struct auth *auth;
	struct token token;
	struct right right;
	uint64_t address;
	uint64_t party; /* of a choice */
	bool is_choice;
	char *user;	  /* NULL: not known yet */
	uint64_t request; /* the request under way */
	int64_t asked_ms;
	auth_verdict_fn *fn;
	void *ctx;
};

struct auth {
	struct auth_options options;
	struct siphash_key key,
		as_key; /* of tokens, and of named users: neither is taken for the other */
	struct owner owner[OWNERS];
	struct stranger stranger[STRANGERS];
	struct bucket all, each[ADDRESSES], again; /* again: for what was good before */
	struct bucket choices, choices_each[PARTIES];
	/* NULL: free. The last CHOICES_AT_ONCE are for choices alone. */
	struct question *asking[ASKING_MAX + CHOICES_AT_ONCE];
	struct json *json;
};

struct auth *auth_new(const struct auth_options *o)
{
	struct auth *g = mem_alloc(sizeof(*g));
	g->options = *o;
	g->json = json_new(4 * ANSWER_CEILING);
	g->key = token_key();
	g->as_key = token_key();
	return g;
}

static void question_free(struct question *q)
{
	free(q->user);
	free(q);
}

void auth_free(struct auth *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < ASKING_MAX + CHOICES_AT_ONCE; i++) {
		if (!g->asking[i])
			continue;
		kube_client_cancel(g->options.client, g->asking[i]->request);
		question_free(g->asking[i]);
	}
	for (size_t i = 0; i < OWNERS; i++)
		free(g->owner[i].user);
	json_free(g->json);
	free(g);
}

/* Returns the key of this process: tenants choose names, and must not choose their number. */
static const struct siphash_key *number_key(void)
{
	static struct siphash_key key;
	static bool is_drawn;
	if (!is_drawn)
		key = token_key();
	is_drawn = true;
	return &key;
}

uint64_t auth_number(const char *user)
{
	uint64_t hash[2];
	siphash128(number_key(), user, strlen(user), hash);
	return hash[0];
}

/* ---- what is remembered ---------------------------------------------------------------------- */

static struct owner *find_owner(struct auth *g, const struct token *t, int64_t now_ms)
{
	for (size_t i = 0; i < OWNERS; i++)
		if (now_ms < g->owner[i].until_ms && token_is(&g->owner[i].token, t))
			return &g->owner[i];
	return NULL;
}

/* Whether the token was good, and nothing else is known since. Another may have taken its place. */
static bool was_good(const struct auth *g, const struct token *t)
{
	for (size_t i = 0; i < OWNERS; i++)
		if (g->owner[i].until_ms > 0 && token_is(&g->owner[i].token, t))
			return true;
	return false;
}

static void forget_owner(struct auth *g, const struct token *t)
{
	for (size_t i = 0; i < OWNERS; i++)
		if (token_is(&g->owner[i].token, t))
			g->owner[i].until_ms = 0;
}

static bool is_stranger(const struct auth *g, const struct token *t, int64_t now_ms)
{
	for (size_t i = 0; i < STRANGERS; i++)
		if (now_ms < g->stranger[i].until_ms && token_is(&g->stranger[i].token, t))
			return true;
	return false;
}

static void remember_stranger(struct auth *g, const struct question *q)
{
	struct stranger *oldest = &g->stranger[0];
	for (size_t i = 0; i < STRANGERS; i++)
		if (g->stranger[i].until_ms < oldest->until_ms)
			oldest = &g->stranger[i];
	*oldest = (struct stranger){q->token, q->asked_ms + REMEMBER_MS};
}

/* Finds the place of this token, else the owner's oldest if that has enough, else the oldest of
 * all. */
static struct owner *place_for(struct auth *g, const struct token *t, uint64_t name, int64_t now_ms)
{
	struct owner *oldest = &g->owner[0], *own = NULL;
	unsigned has = 0;
	for (size_t i = 0; i < OWNERS; i++) {
		struct owner *o = &g->owner[i];
		if (token_is(&o->token, t))
			return o;
		if (o->until_ms < oldest->until_ms)
			oldest = o;
		if (o->name != name || now_ms >= o->until_ms)
			continue;
		has++;
		if (!own || o->until_ms < own->until_ms)
			own = o;
	}
	return has >= TOKENS_EACH ? own : oldest;
}

/* Gives a number for who shares the bounds of choices: a user, or all ServiceAccounts of a
 * namespace, for a tenant makes as many of those as it likes. */
static uint64_t party_of(const char *username)
{
	static const char accounts[] = "system:serviceaccount:";
	size_t len = strlen(username), head = strlen(accounts);
	uint64_t hash[2];
	if (strncmp(username, accounts, head) == 0)
		len = head + strcspn(username + head, ":");
	siphash128(number_key(), username, len, hash);
	return hash[0];
}

static struct owner *remember_owner(struct auth *g, const struct token *t, const char *username,
	const char *user, int64_t now_ms)
{
	uint64_t name = auth_number(username);
	struct owner *o = place_for(g, t, name, now_ms);
	free(o->user);
	*o = (struct owner){.token = *t,
		.until_ms = now_ms + REMEMBER_MS,
		.name = name,
		.party = party_of(username),
		.user = mem_strdup(user)};
	return o;
}

static const struct known *find_known(const struct known *known, unsigned n, const struct right *r)
{
	for (unsigned i = 0; i < n; i++)
		if (right_same(&known[i].right, r))
			return &known[i];
	return NULL;
}

static const struct known *recall(const struct owner *o, const struct right *r)
{
	const struct known *known = find_known(o->known, o->knows, r);
	return known ? known : find_known(o->choice, o->choices, r);
}

static void remember_verdict(struct auth *g, const struct question *q, enum auth_verdict v)
{
	struct owner *o = find_owner(g, &q->token, q->asked_ms);
	if (!o || recall(o, &q->right))
		return;
	if (q->is_choice && o->choices < CHOICES_EACH)
		o->choice[o->choices++] = (struct known){q->right, v};
	else if (!q->is_choice && o->knows < RIGHTS_EACH)
		o->known[o->knows++] = (struct known){q->right, v};
}

/* ---- how much may be asked ------------------------------------------------------------------- */

static bool may_ask_token(struct auth *g, const struct token *t, uint64_t address, int64_t now_ms)
{
	if (was_good(g, t))
		return bucket_take(&g->again, REFILL_MS, BURST, now_ms);
	return bucket_take(
		       bucket_of(g->each, ADDRESSES, address), REFILL_EACH, BURST_EACH, now_ms) &&
	       bucket_take(&g->all, REFILL_MS, BURST, now_ms);
}

/* Finds a free place for a question; NULL: enough are under way. */
static struct question **free_slot(struct auth *g, uint64_t address)
{
	struct question **slot = NULL;
	unsigned own = 0;
	for (size_t i = 0; i < ASKING_MAX; i++) {
		if (!g->asking[i])
			slot = &g->asking[i];
		else
			own += g->asking[i]->address == address;
	}
	return own < ASKING_EACH ? slot : NULL;
}

/* Finds a free place for a choice of this party; NULL: enough are under way. */
static struct question **free_slot_for_choice(struct auth *g, uint64_t party)
{
	struct question **slot = NULL;
	for (size_t i = ASKING_MAX; i < ASKING_MAX + CHOICES_AT_ONCE; i++) {
		if (!g->asking[i])
			slot = &g->asking[i];
		else if (g->asking[i]->party == party)
			return NULL;
	}
	return slot;
}

/* Takes a choice from the party's bucket and from that of all, or from neither. */
static bool take_choice(struct auth *g, uint64_t party, int64_t now_ms)
{
	struct bucket *own = bucket_of(g->choices_each, PARTIES, party);
	if (!bucket_take(own, REFILL_EACH, BURST_CHOICES, now_ms))
		return false;
	if (bucket_take(&g->choices, REFILL_MS, BURST, now_ms))
		return true;
	bucket_return(own, REFILL_EACH);
	return false;
}

static struct question **slot_for_choice(struct auth *g, struct owner *o, int64_t now_ms)
{
	struct question **slot = o ? free_slot_for_choice(g, o->party) : NULL;
	if (!slot || o->choices_asked >= CHOICES_EACH || !take_choice(g, o->party, now_ms))
		return NULL;
	o->choices_asked++;
	return slot;
}

/* ---- second question: may they? -------------------------------------------------------------- */

static void settle(struct question *q, enum auth_verdict v)
{
	struct auth *g = q->auth;
	for (size_t i = 0; i < ASKING_MAX + CHOICES_AT_ONCE; i++)
		if (g->asking[i] == q)
			g->asking[i] = NULL;
	q->fn(v, q->ctx);
	question_free(q);
}

/* Whether a review was answered. If not, says why in the log, once, for our own rights are
 * missing. */
static bool usable(struct question *q, const struct kube_answer *a, const char *what)
{
	if (a->outcome == KUBE_DONE)
		return true;
	log_event(q->auth->options.log, LEVEL_WARN, "caller-not-checked", "asking", what, "why",
		a->sentence, NULL);
	return false;
}

static void on_access(const struct kube_answer *a, void *ctx)
{
	struct question *q = ctx;
	const cJSON *root;
	if (!usable(q, a, "SubjectAccessReview") ||
		json_parse(q->auth->json, a->body, &root, NULL) != 0) {
		settle(q, AUTH_UNKNOWN);
		return;
	}
	enum auth_verdict v = review_allows(root) ? AUTH_ALLOWED : AUTH_REFUSED;
	remember_verdict(q->auth, q, v);
	settle(q, v);
}

/* Asks for the right; false: the user's groups are too many. */
static bool ask_access(struct question *q)
{
	struct buf body;
	buf_init(&body, ANSWER_CEILING);
	review_ask_access(&body, q->user, &q->right);
	struct kube_request request = {
		.method = KUBE_POST,
		.path = "/apis/authorization.k8s.io/v1/subjectaccessreviews",
		.body = buf_slice(&body),
		.timeout_ms = TOKEN_TIMEOUT_MS,
		.answer_ceiling = ANSWER_CEILING,
		.last = true,
	};
	bool fits = !body.failed;
	if (fits)
		q->request = kube_client_send(q->auth->options.client, &request, on_access, q);
	buf_done(&body);
	return fits;
}

/* ---- first question: who is it? -------------------------------------------------------------- */

static void on_token(const struct kube_answer *a, void *ctx)
{
	struct question *q = ctx;
	struct auth *g = q->auth;
	const cJSON *root;
	if (!usable(q, a, "TokenReview") || json_parse(g->json, a->body, &root, NULL) != 0) {
		settle(q, AUTH_UNKNOWN);
		return;
	}
	const cJSON *user = review_user(root, g->options.audience);
	if (!user) {
		forget_owner(g, &q->token);
		remember_stranger(g, q);
		settle(q, AUTH_STRANGER);
		return;
	}
	struct buf text;
	buf_init(&text, ANSWER_CEILING);
	review_put_user(&text, user);
	bool fits = !text.failed;
	q->user = buf_take(&text);
	if (fits)
		remember_owner(g, &q->token, json_text(user, "username"), q->user, q->asked_ms);
	if (!fits || !ask_access(q))
		settle(q, AUTH_UNKNOWN);
}

static bool ask_token(struct question *q, const char *token)
{
	const struct auth_options *o = &q->auth->options;
	q->request = token_review(o->client, token, o->audience, ANSWER_CEILING, on_token, q);
	return q->request != 0;
}

/* ---- asked ----------------------------------------------------------------------------------- */

static enum auth_verdict begin(struct question **slot, struct question *q, const char *token)
{
	if (!(token ? ask_token(q, token) : ask_access(q))) {
		question_free(q);
		return AUTH_UNKNOWN;
	}
	*slot = q;
	return AUTH_LATER;
}

/* Hashes what the caller shows; false: nothing that can be asked about. */
static bool key_of(const struct auth *g, const struct auth_caller *c, struct token *ret)
{
	if (!c->as)
		return token_hash(&g->key, c->token, ret);
	siphash128(&g->as_key, c->as, strlen(c->as), ret->hash);
	return true;
}

/* Remembers a user that a proxy names, of whom no token is asked. NULL: too many are named just
 * now. */
static struct owner *take_named(
	struct auth *g, const struct token *t, const struct auth_caller *c, int64_t now_ms)
{
	struct bucket *of = was_good(g, t) ? &g->again : &g->all;
	return bucket_take(of, REFILL_MS, BURST, now_ms)
		       ? remember_owner(g, t, c->user, c->as, now_ms)
		       : NULL;
}

/* Finds a place for a question about a right that a request wants; NULL: there is no room. *o: what
 * is known of the caller, or NULL; a user that a proxy names becomes known. */
static struct question **slot_for_request(struct auth *g, struct owner **o, const struct token *t,
	const struct auth_caller *c, int64_t now_ms)
{
	struct question **slot = free_slot(g, c->address);
	if (!slot)
		return NULL;
	if (!*o && c->as)
		*o = take_named(g, t, c, now_ms);
	if (!*o)
		return !c->as && may_ask_token(g, t, c->address, now_ms) ? slot : NULL;
	if ((*o)->asked >= RIGHTS_EACH)
		return NULL;
	(*o)->asked++;
	return slot;
}

/* Asks what `like` says, of which the user and the token are not known yet. */
static enum auth_verdict ask(
	struct auth *g, const struct auth_caller *caller, const struct question *like)
{
	struct token t = {{0}};
	int64_t now_ms = like->asked_ms;
	if (!key_of(g, caller, &t) || is_stranger(g, &t, now_ms))
		return AUTH_STRANGER;
	struct owner *o = find_owner(g, &t, now_ms);
	const struct known *known = o ? recall(o, &like->right) : NULL;
	if (known)
		return known->verdict;
	struct question **slot = like->is_choice ? slot_for_choice(g, o, now_ms)
						 : slot_for_request(g, &o, &t, caller, now_ms);
	if (!slot)
		return AUTH_UNKNOWN;
	struct question *q = mem_alloc(sizeof(*q));
	*q = *like;
	q->auth = g;
	q->token = t;
	q->address = caller->address;
	q->party = o ? o->party : 0;
	q->user = o ? mem_strdup(o->user) : NULL;
	return begin(slot, q, o ? NULL : caller->token);
}

enum auth_verdict auth_ask(struct auth *g, const struct auth_caller *caller,
	const struct right *right, int64_t now_ms, auth_verdict_fn *fn, void *ctx)
{
	const struct question like = {.right = *right, .asked_ms = now_ms, .fn = fn, .ctx = ctx};
	return ask(g, caller, &like);
}

enum auth_verdict auth_ask_choice(struct auth *g, const struct auth_caller *caller,
	const struct right *right, int64_t now_ms, auth_verdict_fn *fn, void *ctx)
{
	const struct question like = {
		.right = *right, .is_choice = true, .asked_ms = now_ms, .fn = fn, .ctx = ctx};
	return ask(g, caller, &like);
}

/* Finds what is known of the caller; NULL: nothing, or no more. */
static const struct owner *owner_of(
	struct auth *g, const struct auth_caller *caller, int64_t now_ms)
{
	struct token t = {{0}};
	return key_of(g, caller, &t) ? find_owner(g, &t, now_ms) : NULL;
}

bool auth_user(struct auth *g, const struct auth_caller *caller, int64_t now_ms, struct buf *out)
{
	const struct owner *o = owner_of(g, caller, now_ms);
	const cJSON *user;
	if (!o || json_parse(g->json, slice_of(o->user), &user, NULL) != 0)
		return false;
	const char *name = json_text(user, "user");
	buf_puts(out, name ? name : "");
	return name != NULL;
}

uint64_t auth_name(struct auth *g, const struct auth_caller *caller, int64_t now_ms)
{
	const struct owner *o = owner_of(g, caller, now_ms);
	return o ? o->name : 0;
}
