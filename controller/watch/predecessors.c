#include "controller/watch/predecessors.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/must.h"
#include "controller/common/path.h"
#include "controller/gate/gate.h"
#include "base/json.h"
#include "controller/ledger/pg.h"
#include "controller/watch/predecessor_turn.h"

enum {
	TURNS = 2,
	QUESTIONS_MAX = 100000, /* taken from the queue and not answered */
	NAMES_MAX = 10000,	/* in a turn */
	SELECTORS_MAX = 64,	/* in a turn: each is held against each Job of the namespace */
	FEW = 8,		/* names, and selectors, at most for a request each */
	LONG_SELECTOR = 16,	/* keys and values; longer ones do not go into a path */
	PATH_BYTES_MAX = 64 * 1024,
	SELECTOR_BYTES_MAX = 16 * 1024,
	PAGE = 250, /* Jobs; a page that is too large is asked for again with less */
	PAGE_BYTES_MAX = 4 * 1024 * 1024,
	TREE_BYTES_MAX = 64 * 1024 * 1024,
	SHARE_FEW = 4, /* a namespace rests so many times as long as its turn took */
	SHARE_MANY = 20,
	REST_MANY_MS = 5000,
	REST_MAX_MS = 300000,
	REST_AFTER_TROUBLE_MS = 5000,
};

/* A namespace with open questions, or one that rests. */
struct tenant {
	struct link line; /* whose first has the next turn; left during a turn */
	struct wanted_predecessors *wanted;
	size_t count;
	int64_t rest_until_ms;
	char ns[];
};

enum turn_stage {
	TURN_FREE,
	TURN_READS,	   /* from the API server */
	TURN_WAITS_RECALL, /* until another turn is done with the ledger */
	TURN_RECALLS,
	TURN_ANSWERS, /* some with each pass */
};

struct tenant_turn {
	struct predecessors *p;
	enum turn_stage stage;
	struct tenant *tenant;
	struct predecessor_turn *asks;
	bool whole; /* all Jobs of the namespace are read */
	size_t at;  /* the question that is read, or recalled, next */
	uint64_t request;
	char *mark; /* where the next page begins; NULL: it is the first */
	unsigned page;
	int64_t began_ms;
	size_t recalled[LEDGER_NAMES_MAX]; /* the questions that the ledger is asked for */
	size_t nrecalled;
};

struct predecessors {
	struct predecessors_options o;
	struct json *json;
	struct map by_ns;
	struct link line; /* tenant.line */
	size_t nquestions;
	int64_t tick_ms, complained_ms;
	bool recalls;			      /* the ledger has a question */
	char ledger_trouble[LOG_TROUBLE_MAX]; /* the last that was logged */
	struct tenant_turn turn[TURNS];
};

static void read_next(struct tenant_turn *t);
static void recall_next(struct predecessors *p);
static void on_outcomes(const struct pg_answer *a, void *ctx);

static bool has_ns(const void *value, const void *key)
{
	return strcmp(((const struct tenant *)value)->ns, key) == 0;
}

struct predecessors *predecessors_new(const struct predecessors_options *o)
{
	struct predecessors *p = mem_alloc(sizeof(*p));
	p->o = *o;
	p->json = json_new(TREE_BYTES_MAX);
	map_init(&p->by_ns, has_ns);
	list_init(&p->line);
	for (size_t i = 0; i < TURNS; i++)
		p->turn[i].p = p;
	return p;
}

static void tenant_free(void *value)
{
	struct tenant *n = value;
	free(n->wanted);
	free(n);
}

void predecessors_free(struct predecessors *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < TURNS; i++) {
		kube_client_cancel(p->o.client, p->turn[i].request);
		predecessor_turn_free(p->turn[i].asks);
		free(p->turn[i].mark);
	}
	map_free(&p->by_ns, tenant_free);
	json_free(p->json);
	free(p);
}

/* ---- the line -------------------------------------------------------------------------------- */

static struct tenant *tenant_of(struct predecessors *p, const char *ns)
{
	uint64_t hash = map_hash_string(ns);
	struct tenant *n = map_get(&p->by_ns, hash, ns);
	if (n)
		return n;
	size_t size = strlen(ns) + 1;
	n = mem_alloc(sizeof(*n) + size);
	memcpy(n->ns, ns, size);
	map_put(&p->by_ns, hash, n);
	list_add(&p->line, &n->line);
	return n;
}

static void take_questions(struct predecessors *p)
{
	struct wanted_predecessors w;
	while (p->nquestions < QUESTIONS_MAX && queue_take_wanted(p->o.queue, &w)) {
		struct tenant *n = tenant_of(p, w.ns);
		n->wanted = mem_one_more(n->wanted, n->count, sizeof(*n->wanted));
		n->wanted[n->count++] = w;
		p->nquestions++;
	}
}

/* Takes the next tenant that may have a turn off the line. A rested one without questions is
 * forgotten. */
static struct tenant *next_tenant(struct predecessors *p)
{
	for (struct link *l = p->line.next, *next; l != &p->line; l = next) {
		struct tenant *n = container_of(l, struct tenant, line);
		next = l->next;
		if (p->tick_ms < n->rest_until_ms)
			continue;
		list_leave(l);
		if (n->count > 0)
			return n;
		map_take(&p->by_ns, map_hash_string(n->ns), n->ns);
		tenant_free(n);
	}
	return NULL;
}

/* ---- a turn ---------------------------------------------------------------------------------- */

static bool is_long(const struct selector_term *s)
{
	size_t n = s->nrequirements;
	for (size_t r = 0; r < s->nrequirements; r++)
		n += s->requirements[r].nvalues;
	return n > LONG_SELECTOR;
}

/* Gives the tenant's first questions to the turn; the rest stays. */
static void hand_over(struct tenant *n, struct tenant_turn *t)
{
	size_t names = 0, selectors = 0, kept = 0;
	bool any_long = false;
	for (size_t i = 0; i < n->count; i++) {
		const struct wanted_predecessors *w = &n->wanted[i];
		size_t *of = w->name ? &names : &selectors;
		if (*of == (w->name ? (size_t)NAMES_MAX : (size_t)SELECTORS_MAX)) {
			n->wanted[kept++] = *w;
			continue;
		}
		++*of;
		any_long |= !w->name && is_long(w->selector);
		predecessor_turn_add(t->asks, w);
	}
	t->whole = names > FEW || selectors > FEW || any_long;
	n->count = kept;
	if (kept == 0) { /* frees room for the list with which it grows */
		free(n->wanted);
		n->wanted = NULL;
	}
}

static void begin_turn(struct tenant_turn *t, struct tenant *n)
{
	t->tenant = n;
	t->asks = predecessor_turn_new(n->ns);
	t->stage = TURN_READS;
	t->at = 0;
	t->page = PAGE;
	t->began_ms = t->p->tick_ms;
	hand_over(n, t);
	read_next(t);
}

static void forget_mark(struct tenant_turn *t)
{
	free(t->mark);
	t->mark = NULL;
}

static int64_t rest_ms(const struct tenant_turn *t)
{
	int64_t took_ms = monotonic_ms() - t->began_ms;
	int64_t rest = took_ms * (t->whole ? SHARE_MANY : SHARE_FEW);
	if (t->whole && rest < REST_MANY_MS)
		rest = REST_MANY_MS;
	return rest < REST_MAX_MS ? rest : REST_MAX_MS;
}

static void end_turn(struct tenant_turn *t, int64_t rest)
{
	struct predecessors *p = t->p;
	p->nquestions -= predecessor_turn_count(t->asks);
	t->tenant->rest_until_ms = monotonic_ms() + rest;
	list_add(&p->line, &t->tenant->line);
	predecessor_turn_free(t->asks);
	forget_mark(t);
	t->asks = NULL;
	t->tenant = NULL;
	t->stage = TURN_FREE;
	p->o.changed(p->o.ctx);
}

static void complain(struct predecessors *p, const char *ns, const char *why)
{
	if (!log_again(&p->complained_ms, p->tick_ms))
		return;
	log_event(p->o.log, LEVEL_WARN, "predecessors-unread", "namespace", ns, "why", why,
		"effect", "Jobs that wait for others (sluice.dev/after) wait on; it is tried again",
		NULL);
}

static void give_up(struct tenant_turn *t, const char *why, int64_t retry_ms)
{
	complain(t->p, t->tenant->ns, why);
	predecessor_turn_return(t->asks, t->p->o.queue);
	end_turn(t, retry_ms > REST_AFTER_TROUBLE_MS ? retry_ms : REST_AFTER_TROUBLE_MS);
}

static void answer(struct tenant_turn *t)
{
	t->stage = TURN_ANSWERS;
	if (predecessor_turn_answer(t->asks, t->p->o.queue, t->p->o.gate))
		end_turn(t, rest_ms(t));
	else
		t->p->o.changed(t->p->o.ctx); /* the next pass goes on with it */
}

/* ---- the API server -------------------------------------------------------------------------- */

/* Writes a requirement as kubectl -l has it. One value is compared with = or !=, where it may be
 * empty. */
static void put_requirement(struct buf *out, const struct requirement *r)
{
	switch (r->op) {
	case SELECTOR_EXISTS:
		buf_puts(out, r->key);
		return;
	case SELECTOR_DOES_NOT_EXIST:
		buf_printf(out, "!%s", r->key);
		return;
	case SELECTOR_IN:
	case SELECTOR_NOT_IN:
		break;
	case SELECTOR_GT:
	case SELECTOR_LT:
		must(!"an operator of label selectors"); /* no decoder makes them of sluice.dev/after */
	}
	if (r->nvalues == 1) {
		buf_printf(out, "%s%s%s", r->key, r->op == SELECTOR_IN ? "=" : "!=", r->values[0]);
		return;
	}
	buf_printf(out, "%s %s (", r->key, r->op == SELECTOR_IN ? "in" : "notin");
	for (size_t v = 0; v < r->nvalues; v++)
		buf_printf(out, "%s%s", v ? "," : "", r->values[v]);
	buf_putc(out, ')');
}

static void put_selector(struct buf *path, const struct selector_term *s)
{
	struct buf text;
	buf_init(&text, SELECTOR_BYTES_MAX);
	for (size_t r = 0; r < s->nrequirements; r++) {
		if (r)
			buf_putc(&text, ',');
		put_requirement(&text, &s->requirements[r]);
	}
	path_format(path, "&labelSelector=%s", buf_text(&text));
	buf_done(&text);
}

static void put_path(const struct tenant_turn *t, struct buf *path)
{
	const struct wanted_predecessors *w =
		t->whole ? NULL : predecessor_turn_question(t->asks, t->at);
	path_format(path, "/apis/batch/v1/namespaces/%s/jobs", t->tenant->ns);
	if (w && w->name) {
		path_format(path, "/%s", w->name);
		return;
	}
	buf_printf(path, "?limit=%u", t->page);
	if (w)
		put_selector(path, w->selector);
	if (t->mark)
		path_format(path, "&continue=%s", t->mark);
}

/* Takes a Job, if some question is about it. False: it cannot be read. */
static bool see_job(struct tenant_turn *t, const cJSON *object)
{
	struct job *job = NULL;
	struct err e = {""};
	if (!predecessor_turn_wants(t->asks, decode_name(object)))
		return true;
	if (decode_job(object, &t->p->o.job_context, &job, &e) != 0)
		return false;
	predecessor_turn_see(t->asks, job);
	free(job);
	return true;
}

static bool see_page(struct tenant_turn *t, const cJSON *root)
{
	const cJSON *items = json_array(root, "items");
	const char *mark = json_text(json_object(root, "metadata"), "continue");
	if (!items)
		return false;
	json_each(item, items) {
		if (!see_job(t, item))
			return false;
	}
	forget_mark(t);
	if (mark && *mark)
		t->mark = mem_strdup(mark);
	return true;
}

static bool see_body(struct tenant_turn *t, struct slice body, struct err *e)
{
	const cJSON *root;
	if (json_parse(t->p->json, body, &root, e) != 0)
		return false;
	bool list = t->whole || !predecessor_turn_question(t->asks, t->at)->name;
	bool read = list ? see_page(t, root) : see_job(t, root);
	if (!read)
		err_set(e, ERR_INVALID, "a Job cannot be read");
	json_reset(t->p->json);
	return read;
}

/* Goes on after an answer: with the next page, the next question, or the ledger. */
static void read_on(struct tenant_turn *t)
{
	if (predecessor_turn_is_too_large(t->asks)) {
		give_up(t, "more Jobs are waited for at once than can be kept", REST_MAX_MS);
		return;
	}
	if (!t->mark)
		t->at = t->whole ? predecessor_turn_count(t->asks) : t->at + 1;
	read_next(t);
}

/* Reads the whole namespace instead, and compares here: the API server refuses one question (400).
 * So one selector that it reads in another way than we do keeps no other question from an
 * answer. */
static void read_whole(struct tenant_turn *t)
{
	predecessor_turn_begin_anew(t->asks);
	forget_mark(t);
	t->whole = true;
	t->at = 0;
	t->page = PAGE;
	read_next(t);
}

static void on_answer(const struct kube_answer *a, void *ctx)
{
	struct tenant_turn *t = ctx;
	struct err e = {""};
	t->request = 0;
	bool is_name = !t->whole && predecessor_turn_question(t->asks, t->at)->name;
	if (a->outcome == KUBE_DONE && !see_body(t, a->body, &e))
		give_up(t, e.text, 0);
	else if (a->outcome == KUBE_DONE || (a->outcome == KUBE_GONE && is_name))
		read_on(t);
	else if (a->outcome == KUBE_LIMIT && t->page > 1) {
		t->page = t->page > 8 ? t->page / 8 : 1;
		read_next(t);
	} else if (a->outcome == KUBE_GIVE_UP && !t->whole)
		read_whole(t);
	else
		give_up(t, a->sentence, a->retry_after_ms);
}

static void read_next(struct tenant_turn *t)
{
	struct buf path;
	if (t->at == predecessor_turn_count(t->asks)) {
		t->stage = TURN_WAITS_RECALL;
		t->at = 0;
		recall_next(t->p);
		return;
	}
	buf_init(&path, PATH_BYTES_MAX);
	put_path(t, &path);
	struct kube_request request = {.method = KUBE_GET,
		.path = buf_text(&path),
		.answer_ceiling = PAGE_BYTES_MAX,
		.last = true};
	t->request = kube_client_send(t->p->o.client, &request, on_answer, t);
	buf_done(&path);
}

/* ---- the ledger ------------------------------------------------------------------------------ */

/* Asks the ledger for the next names of the turn. False: there are no more. */
static bool recall_names(struct tenant_turn *t)
{
	struct ledger_job_name names[LEDGER_NAMES_MAX];
	t->nrecalled = 0;
	for (; t->at < predecessor_turn_count(t->asks) && t->nrecalled < LEDGER_NAMES_MAX;
		t->at++) {
		const struct wanted_predecessors *w = predecessor_turn_question(t->asks, t->at);
		if (!w->name)
			continue;
		names[t->nrecalled] = (struct ledger_job_name){t->tenant->ns, w->name};
		t->recalled[t->nrecalled++] = t->at;
	}
	if (t->nrecalled == 0)
		return false;
	t->stage = TURN_RECALLS;
	t->p->recalls = true;
	pg_outcomes(t->p->o.pg, names, t->nrecalled, &(struct pg_asker){on_outcomes, t->p, 0});
	return true;
}

static void recall_next(struct predecessors *p)
{
	for (size_t i = 0; i < TURNS && !p->recalls; i++)
		if (p->turn[i].stage == TURN_WAITS_RECALL && !recall_names(&p->turn[i]))
			answer(&p->turn[i]);
}

static void on_outcomes(const struct pg_answer *a, void *ctx)
{
	struct predecessors *p = ctx;
	struct tenant_turn *t = p->turn;
	p->recalls = false;
	while (t->stage != TURN_RECALLS)
		t++;
	if (a->outcome != LEDGER_DONE) {
		log_trouble(p->o.log, p->ledger_trouble, "outcomes-unknown", a->why,
			"Jobs that wait for a Job that is gone (sluice.dev/after) wait on");
		give_up(t, "the ledger does not answer", 0);
		return;
	}
	p->ledger_trouble[0] = '\0';
	for (size_t i = 0; i < a->n; i++)
		predecessor_turn_recall(t->asks, t->recalled[a->outcomes[i].name], &a->outcomes[i]);
	t->stage = TURN_WAITS_RECALL;
	p->o.changed(p->o.ctx); /* predecessors_carry() goes on from there */
}

/* ---- its life -------------------------------------------------------------------------------- */

void predecessors_carry(struct predecessors *p, int64_t tick_ms)
{
	p->tick_ms = tick_ms;
	take_questions(p);
	for (size_t i = 0; i < TURNS; i++)
		if (p->turn[i].stage == TURN_ANSWERS)
			answer(&p->turn[i]);
	recall_next(p);
	for (size_t i = 0; i < TURNS; i++) {
		struct tenant *n = p->turn[i].stage == TURN_FREE ? next_tenant(p) : NULL;
		if (n)
			begin_turn(&p->turn[i], n);
	}
}
