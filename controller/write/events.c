#include "controller/write/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "controller/common/path.h"
#include "controller/gate/reasons.h"
#include "sluice/keys.h"

enum {
	UNDER_WAY_MAX = 2,
	TRIES_MAX = 2,
	BODY_MAX_BYTES = 16 * 1024, /* a message of control characters, each written as \u0001 */
	JOB_NAME_MAX = 200,	    /* in an Event's name, which may have 253 characters */
	TIMEOUT_MS = 10000,
	NS_PER_MS = 1000000,
};

#define COMPONENT "sluice-controller"

struct event {
	struct events *events;
	struct event *next; /* in line; leave by being sent or dropped */
	char *path, *body;
	unsigned tries;
};

struct events {
	struct kube_client *client;
	struct log *log;
	enum events_level level;
	char *identity;
	uint64_t serial;
	struct event *first, **tail; /* in line, oldest first */
	size_t waiting;
	struct event *sent[UNDER_WAY_MAX]; /* without an answer yet; NULL: free */
	unsigned under_way, allowance;	   /* how many more may be sent before the next tick */
	int64_t now_ms, rest_until_ms, complained_ms;
	struct events_counts counts;
};

struct events *events_new(const struct events_options *o)
{
	struct events *h = mem_alloc(sizeof(*h));
	h->client = o->client;
	h->log = o->log;
	h->level = o->level;
	h->identity = mem_strdup(o->identity);
	h->serial = o->seed;
	h->tail = &h->first;
	return h;
}

static void event_free(struct event *e)
{
	free(e->path);
	free(e->body);
	free(e);
}

static struct event *take_first(struct events *h)
{
	struct event *e = h->first;
	h->first = e->next;
	if (!h->first)
		h->tail = &h->first;
	h->waiting--;
	return e;
}

static void drop(struct event *e)
{
	e->events->counts.dropped++;
	event_free(e);
}

void events_free(struct events *h)
{
	if (!h)
		return;
	while (h->first)
		event_free(take_first(h));
	for (size_t i = 0; i < UNDER_WAY_MAX; i++)
		if (h->sent[i])
			event_free(h->sent[i]);
	free(h->identity);
	free(h);
}

struct events_counts events_count(const struct events *h)
{
	return h->counts;
}

/* ---- rendering ------------------------------------------------------------------------------- */

/* Makes "NAME.0123456789abcdef", a DNS subdomain as the Job's name is: no '.' or '-' may stand
 * where it is cut. The number is that of Kubernetes' own Events, nanoseconds since 1970, so that
 * all are listed by time; digits below a millisecond only keep names apart. */
static void render_name(struct events *h, const char *job, int64_t now_ms, struct buf *out)
{
	uint64_t moment = (uint64_t)now_ms * NS_PER_MS + h->serial++ % NS_PER_MS;
	size_t len = strnlen(job, JOB_NAME_MAX);
	while (len > 0 && (job[len - 1] == '.' || job[len - 1] == '-'))
		len--;
	buf_printf(out, "%.*s.%016" PRIx64, (int)len, job, moment);
}

/* Cuts a message, not within a character. */
static struct slice cut_message(const char *message)
{
	return (struct slice){message, slice_cut(message, EVENTS_MESSAGE_MAX)};
}

static const char *api_version_of(const char *kind)
{
	if (!kind)
		return "batch/v1";
	bool core = strcmp(kind, "ConfigMap") == 0 || strcmp(kind, "Pod") == 0;
	return core ? "v1" : "sluice.dev/v1alpha1";
}

static void put_subject(const struct events_subject *of, struct json_writer *w)
{
	jw_object(w, "involvedObject");
	jw_texts(w, "apiVersion", api_version_of(of->kind), "kind", of->kind ? of->kind : "Job",
		NULL);
	if (of->ns[0])
		jw_text(w, "namespace", of->ns);
	jw_text(w, "name", of->name);
	uid_put(w, "uid", &of->uid);
	jw_end(w);
}

/* Returns the namespace where an Event of the object may be. */
static const char *namespace_of(const struct events_subject *of)
{
	return of->ns[0] ? of->ns : "default";
}

static void render(struct events *h, const struct events_subject *of, enum events_type type,
	const char *reason, const char *message, int64_t now_ms, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	struct buf name;
	buf_init(&name, PATH_MAX_BYTES);
	render_name(h, of->name, now_ms, &name);
	jw_texts(&w, "apiVersion", "v1", "kind", "Event", NULL);
	jw_object_of(&w, "metadata", "namespace", namespace_of(of), "name", buf_text(&name), NULL);
	put_subject(of, &w);
	jw_texts(&w, "type", type == EVENTS_WARNING ? "Warning" : "Normal", "reason", reason, NULL);
	jw_slice(&w, "message", cut_message(message));
	instant_put(&w, "firstTimestamp", now_ms);
	instant_put(&w, "lastTimestamp", now_ms);
	jw_int(&w, "count", 1);
	jw_texts(&w, "reportingInstance", h->identity, "reportingComponent", COMPONENT, NULL);
	jw_object_of(&w, "source", "component", COMPONENT, NULL);
	jw_close(&w);
	buf_done(&name);
}

void events_tell(struct events *h, const struct events_subject *of, enum events_type type,
	const char *reason, const char *message, int64_t now_ms)
{
	struct buf path, body;
	if (h->level == EVENTS_NONE)
		return;
	if (h->waiting == EVENTS_LINE_MAX)
		drop(take_first(h));
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&body, BODY_MAX_BYTES);
	path_format(&path, "/api/v1/namespaces/%s/events", namespace_of(of));
	render(h, of, type, reason, message, now_ms, &body);
	struct event *e = mem_alloc(sizeof(*e));
	*e = (struct event){h, NULL, buf_take(&path), buf_take(&body), 0};
	*h->tail = e;
	h->tail = &e->next;
	h->waiting++;
}

/* ---- what the gate did ----------------------------------------------------------------------- */

enum event_row {
#define EVENT(tag, reason, type, level, when, cure) EVENT_##tag,
#include "controller/write/events.def"
	EVENT_NONE,
};

static const struct event_said {
	const char *reason;
	enum events_type type;
	enum events_level level; /* it is told from this one on */
} EVENTS[] = {
#define EVENT(tag, reason, type, level, when, cure) {reason, EVENTS_##type, EVENTS_##level},
#include "controller/write/events.def"
};

static bool is_wanted(const struct events *h, enum event_row e)
{
	return EVENTS[e].level == EVENTS_STOPS || h->level == EVENTS_ALL;
}

static void tell_text(struct events *h, const struct note *n, enum event_row e, const char *text)
{
	struct events_subject job = {n->uid, n->ns, n->name, NULL};
	if (is_wanted(h, e))
		events_tell(h, &job, EVENTS[e].type, EVENTS[e].reason, text, n->at_ms);
}

static void tell_note(struct events *h, const struct note *n, enum event_row e)
{
	tell_text(h, n, e, n->text);
}

static void tell_hold(struct events *h, const struct note *n)
{
	struct buf text;
	buf_init(&text, 2 * sizeof(n->text));
	buf_printf(&text, "Put on hold (annotation " HOLD_ANNOTATION "): %s", n->text);
	tell_text(h, n, EVENT_DEACTIVATED, buf_text(&text));
	buf_done(&text);
}

/* Names the Event of a stop. A stop whose owner has something to mend (else the Job starts and stops for ever),
 * and one that was expected, have Events of their own, to be counted. */
static enum event_row event_of_stop(const char *reason)
{
	const struct {
		const char *reason;
		enum event_row event;
	} own[] = {
		{REASON_SUSPENDED_BY_MANIFEST, EVENT_SUSPENDED_BY_MANIFEST},
		{REASON_NOT_ADMITTED, EVENT_NOT_ADMITTED},
		{REASON_BACKOFF_LIMIT_NEAR, EVENT_BACKOFF_LIMIT_NEAR},
		{stop_reason_name(STOP_REASON_WINDOW_CLOSED), EVENT_WINDOW_CLOSED},
		{stop_reason_name(STOP_REASON_IDLE_RECLAIMED), EVENT_IDLE_RECLAIMED},
		{stop_reason_name(STOP_REASON_RESERVED), EVENT_RESERVED},
	};
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strcmp(reason, own[i].reason) == 0)
			return own[i].event;
	return EVENT_STOPPED;
}

/* Nothing of a deletion: nobody reads the Events of a Job that is gone. */
static void tell_stop(struct events *h, const struct note *n)
{
	if (strcmp(n->reason, REASON_DELETED) == 0)
		return;
	if (n->on_hold)
		tell_hold(h, n);
	else
		tell_note(h, n, n->preemption[0] ? EVENT_PREEMPTED : event_of_stop(n->reason));
}

/* A window that closes is no reason for a warning. */
static void tell_warning(struct events *h, const struct note *n)
{
	bool closes = strcmp(n->reason, stop_reason_name(STOP_REASON_WINDOW_CLOSED)) == 0;
	tell_note(h, n, closes ? EVENT_WINDOW_CLOSING : EVENT_STOP_NOTICE);
}

/* Returns the text without the reason that it begins with, which an Event has beside it. */
static const char *after_reason(const struct note *n)
{
	size_t len = strlen(n->reason);
	bool begins = strncmp(n->text, n->reason, len) == 0 && strncmp(n->text + len, ": ", 2) == 0;
	return begins ? n->text + len + 2 : n->text;
}

/* Warns of a Misconfigured Job, which only its owner can mend: `kubectl apply` took the name of a
 * queue that is not there, for a policy cannot look it up. Once (note.reason), and with the
 * annotation: as late, and as few in a second. */
static void tell_wait(struct events *h, const struct note *n)
{
	bool has_room = h->waiting < EVENTS_LINE_MAX / 4; /* the others are told nowhere else */
	if (strcmp(n->reason, wait_reason_name(WAIT_MISCONFIGURED)) != 0)
		tell_note(h, n, EVENT_WAITING);
	else if (has_room)
		tell_text(h, n, EVENT_MISCONFIGURED, after_reason(n));
}

/* Tells of a deletion: the Event stays for an hour, as the last that tells of the Job. */
static void tell_deletion(struct events *h, const struct note *n)
{
	tell_note(h, n, EVENT_DEPENDENCY_NEVER);
}

/* The Job controller has told of refused pods: FailedCreate. */
static void tell_trouble(struct events *h, const struct note *n)
{
	if (strcmp(n->reason, trouble_name(TROUBLE_PODS_REFUSED)) != 0)
		tell_note(h, n, EVENT_PODS_STUCK);
}

/* A refusal by the ledger is of no use to an owner. */
static void tell_refusal(struct events *h, const struct note *n)
{
	if (h->level == EVENTS_ALL || n->reason[0])
		tell_note(h, n, EVENT_REFUSED);
}

static const struct row {
	void (*tell)(struct events *h, const struct note *n); /* NULL: the Event is told as it is */
	enum event_row event;
} ROWS[] = {
#define EVENT(tag) NULL, EVENT_##tag
#define NO_EVENT NULL, EVENT_NONE
#define TELL(function) function, EVENT_NONE
#define NOTE(kind, name, level, word, event, counts) [NOTE_##kind] = {event},
#include "controller/gate/notes.def"
};

void events_note(struct events *h, const struct note *n)
{
	const struct row *row = &ROWS[n->kind];
	if (row->tell)
		row->tell(h, n);
	else if (row->event != EVENT_NONE)
		tell_note(h, n, row->event);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void complain(struct events *h, const struct kube_answer *a)
{
	if (!log_again(&h->complained_ms, h->now_ms))
		return;
	log_event(h->log, LEVEL_WARN, "event-not-written", "why", a->sentence, "cure",
		a->outcome == KUBE_DENIED ? "kubectl apply -k deploy/rbac, or --events=none" : NULL,
		NULL);
}

/* Puts an Event ahead of all others. None is sent before the next tick. */
static void try_again(struct event *e, int64_t retry_after_ms)
{
	struct events *h = e->events;
	h->allowance = 0;
	h->rest_until_ms = h->now_ms + retry_after_ms;
	e->next = h->first;
	if (!e->next)
		h->tail = &e->next;
	h->first = e;
	h->waiting++;
}

static void send_some(struct events *h);

static void keep_sent(struct events *h, const struct event *old, struct event *new)
{
	size_t i = 0;
	while (h->sent[i] != old)
		i++;
	h->sent[i] = new;
}

static void on_answer(const struct kube_answer *a, void *ctx)
{
	struct event *e = ctx;
	struct events *h = e->events;
	h->under_way--;
	keep_sent(h, e, NULL);
	switch (a->outcome) {
	case KUBE_DONE:
	case KUBE_CONFLICT: /* an Event of that name is there: ours, of the first try */
		h->counts.written++;
		event_free(e);
		break;
	case KUBE_RETRY:
	case KUBE_IN_DOUBT:
		if (e->tries < TRIES_MAX) {
			try_again(e, a->retry_after_ms);
			break;
		}
		complain(h, a);
		drop(e);
		break;
	case KUBE_STALE:
	case KUBE_DENIED:
	case KUBE_RELIST:
	case KUBE_LIMIT:
	case KUBE_GIVE_UP:
		complain(h, a);
		drop(e);
		break;
	case KUBE_GONE: /* so is the namespace */
		drop(e);
		break;
	}
	send_some(h);
}

static void send(struct events *h, struct event *e)
{
	struct kube_request request = {
		.method = KUBE_POST,
		.path = e->path,
		.body = slice_of(e->body),
		.timeout_ms = TIMEOUT_MS,
	};
	e->tries++;
	h->allowance--;
	h->under_way++;
	keep_sent(h, NULL, e);
	kube_client_send(h->client, &request, on_answer, e);
}

static void send_some(struct events *h)
{
	while (h->first && h->allowance > 0 && h->under_way < UNDER_WAY_MAX &&
		kube_client_room(h->client) > 0)
		send(h, take_first(h));
}

void events_tick(struct events *h, int64_t now_ms)
{
	h->now_ms = now_ms;
	/* A clock that was set back must not make the rest last. */
	bool rests =
		now_ms < h->rest_until_ms && h->rest_until_ms - now_ms <= KUBE_RETRY_AFTER_MAX_MS;
	h->allowance = rests ? 0 : EVENTS_A_SECOND;
	send_some(h);
}
