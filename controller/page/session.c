#include "controller/page/session.h"

#include <ev.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "controller/common/visibility_names.h"

#define SERVICE_ACCOUNT "system:serviceaccount:"
#define AGAIN_SECONDS 0.1

enum { NAMESPACE_SIZE = 64, USER_MAX_BYTES = 256 << 10, ANSWER_MAX_BYTES = 1 << 20 };

typedef char namespace_name[NAMESPACE_SIZE];

struct session {
	struct link link; /* sessions.all */
	struct sessions *of;
	struct http_question *question;
	struct buf user; /* empty: nobody was asked */
	bool by_proxy, may_all, more;
	/* Namespaces: first those that may be chosen, `found` many; from `at` on those to ask about. */
	namespace_name *ns;
	size_t n, at, found;
	int64_t until_ms; /* how long there may be no room to ask */
	bool waits;	  /* for room */
};

struct sessions {
	struct sessions_options o;
	struct link all;
	ev_timer again; /* runs while some wait for room */
};

/* ---- which namespaces ------------------------------------------------------------------------ */

static size_t limit_of(const struct session *s)
{
	return s->may_all ? SESSION_TOLD_MAX : SESSION_ASKED_MAX;
}

/* Adds a namespace to those that are told or asked about, unless it is there. */
static void add(struct session *s, const char *ns, size_t len)
{
	if (s->more && s->n == limit_of(s))
		return; /* there may be thousands, and nothing more is to be learned of them */
	for (size_t i = 0; i < s->n; i++)
		if (strlen(s->ns[i]) == len && memcmp(s->ns[i], ns, len) == 0)
			return;
	if (len == 0 || len >= NAMESPACE_SIZE)
		return;
	if (s->n == limit_of(s)) {
		s->more = true;
		return;
	}
	memcpy(s->ns[s->n], ns, len);
	s->ns[s->n++][len] = '\0';
}

static void add_own(struct session *s, const char *user)
{
	size_t len = strlen(SERVICE_ACCOUNT);
	if (strncmp(user, SERVICE_ACCOUNT, len) == 0)
		add(s, user + len, strcspn(user + len, ":"));
}

static void add_with_jobs(const char *ns, bool has_jobs, void *ctx)
{
	if (has_jobs)
		add(ctx, ns, strlen(ns));
}

static void add_any(const char *ns, bool has_jobs, void *ctx)
{
	(void)has_jobs;
	add(ctx, ns, strlen(ns));
}

/* Collects the likely ones first. A Job without a submitter is of the user "", who is nobody. */
static void collect(struct session *s)
{
	const struct queue *q = s->of->o.queue;
	const char *user = buf_text(&s->user);
	s->ns = mem_array(limit_of(s), sizeof(*s->ns));
	add_own(s, user);
	if (*user)
		queue_each_namespace(q, user, add_with_jobs, s);
	queue_each_namespace(q, user, add_any, s);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void session_free(struct session *s)
{
	list_leave(&s->link);
	buf_done(&s->user);
	free(s->ns);
	free(s);
}

static void answer(struct session *s)
{
	struct buf body;
	buf_init(&body, ANSWER_MAX_BYTES);
	struct json_writer w = json_writer_object(&body);
	if (s->user.len > 0)
		jw_slice(&w, "user", buf_slice(&s->user));
	jw_bool(&w, "byProxy", s->by_proxy);
	jw_texts(&w, "version", SLUICE_VERSION, "cell", s->of->o.cell, NULL);
	jw_bool(&w, "mayAll", s->may_all);
	jw_array(&w, "namespaces");
	for (size_t i = 0; i < s->found; i++)
		jw_text(&w, NULL, s->ns[i]);
	jw_end(&w);
	jw_bool(&w, "more", s->more);
	jw_close(&w);
	buf_putc(&body, '\n');
	http_answer(s->question, (struct http_reply){200, "application/json"}, &body);
	buf_done(&body);
	session_free(s);
}

/* ---- one namespace after the other ----------------------------------------------------------- */

static void take_verdict(struct session *s, enum auth_verdict v)
{
	if (v == AUTH_ALLOWED && s->found != s->at)
		memcpy(s->ns[s->found], s->ns[s->at], NAMESPACE_SIZE);
	s->found += v == AUTH_ALLOWED;
	s->at++;
}

static void end_early(struct session *s)
{
	s->more = true;
	answer(s);
}

static void go_on(struct session *s);

static void on_verdict(enum auth_verdict v, void *ctx)
{
	struct session *s = ctx;
	if (v != AUTH_ALLOWED && v != AUTH_REFUSED) {
		end_early(s);
		return;
	}
	take_verdict(s, v);
	go_on(s);
}

static enum auth_verdict ask(struct session *s)
{
	struct auth_caller caller;
	struct right right = {"list", VISIBILITY_GROUP, "queuedjobs", ""};
	memcpy(right.ns, s->ns[s->at], NAMESPACE_SIZE);
	http_caller(s->question, &caller);
	return auth_ask_choice(s->of->o.auth, &caller, &right, monotonic_ms(), on_verdict, s);
}

static void wait_for_room(struct session *s)
{
	if (monotonic_ms() >= s->until_ms) {
		end_early(s);
		return;
	}
	s->waits = true;
	ev_timer_start(s->of->o.loop, &s->of->again);
}

static void go_on(struct session *s)
{
	while (s->at < s->n) {
		enum auth_verdict v = ask(s);
		switch (v) {
		case AUTH_ALLOWED:
		case AUTH_REFUSED:
			take_verdict(s, v);
			break;
		case AUTH_UNKNOWN:
			wait_for_room(s);
			return;
		case AUTH_STRANGER:
			end_early(s);
			return;
		case AUTH_LATER:
			return;
		}
	}
	answer(s);
}

static void on_again(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct sessions *all = w->data;
	bool any = false;
	(void)revents;
	for (struct link *l = all->all.next, *next; l != &all->all; l = next) {
		struct session *s = container_of(l, struct session, link);
		next = l->next;
		if (!s->waits)
			continue;
		s->waits = false;
		go_on(s);
	}
	list_each_entry(&all->all, const struct session, s, link)
		any = any || s->waits;
	if (!any)
		ev_timer_stop(loop, w);
}

/* ---- taken ----------------------------------------------------------------------------------- */

struct http_rights sessions_rights(void)
{
	return (struct http_rights){
		.known = true, .must = {"list", VISIBILITY_GROUP, "queuedjobs", ""}};
}

void sessions_take(struct sessions *all, struct http_question *q, bool is_read)
{
	struct session *s = mem_alloc(sizeof(*s));
	struct auth_caller caller;
	http_caller(q, &caller);
	*s = (struct session){.of = all,
		.question = q,
		.by_proxy = caller.as,
		.may_all = http_has_right(q),
		.more = !is_read,
		.until_ms = monotonic_ms() + SESSION_WAIT_MS};
	list_add(&all->all, &s->link);
	buf_init(&s->user, USER_MAX_BYTES);
	auth_user(all->o.auth, &caller, monotonic_ms(), &s->user);
	collect(s);
	if (s->may_all) {
		s->found = s->n;
		answer(s);
	} else {
		go_on(s);
	}
}

struct sessions *sessions_new(const struct sessions_options *o)
{
	struct sessions *all = mem_alloc(sizeof(*all));
	all->o = *o;
	list_init(&all->all);
	ev_timer_init(&all->again, on_again, AGAIN_SECONDS, AGAIN_SECONDS);
	all->again.data = all;
	return all;
}

void sessions_free(struct sessions *all)
{
	if (!all)
		return;
	while (!list_empty(&all->all))
		session_free(container_of(all->all.next, struct session, link));
	ev_timer_stop(all->o.loop, &all->again);
	free(all);
}
