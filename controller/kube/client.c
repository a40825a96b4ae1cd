#include "controller/kube/client.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/common/server_words.h"
#include "controller/kube/awake.h"
#include "base/json.h"
#include "controller/kube/multi.h"

enum {
	STATUS_TREE = 1024 * 1024,   /* memory for a Status object that is read for its message */
	REFUSAL_CEILING = 64 * 1024, /* of a stream's body that is not 2xx */
	IDLE_S = 60,
	LAST_FLYING = 2,
};

/* Where a request is. Each state but FREE is a list. */
enum request_state {
	REQUEST_WAITING, /* waits for a connection */
	REQUEST_URGENT,	 /* waits for a connection, ahead of the others */
	REQUEST_LAST,	 /* waits for a connection, behind the others */
	REQUEST_OPENING, /* a stream that waits for credentials only */
	REQUEST_FLYING,	 /* in libcurl */
	REQUEST_STREAM,	 /* a stream in libcurl */
	REQUEST_DEAD,	 /* cancelled; buried by the next pump */
	REQUEST_FREE,
	REQUEST_LISTS = REQUEST_FREE,
};

struct request {
	struct request *next, *prev;
	struct kube_client *client;
	enum request_state state;
	uint64_t id;
	enum kube_method method;
	char *path;
	const char *content_type, *accept;
	struct buf body, answer;
	int64_t timeout_ms;
	bool urgent, last, retried, over;
	bool headed;	      /* the answer's head came whole */
	uint64_t generation;  /* the generation of the credential that the request was sent with */
	kube_bytes_fn *bytes; /* NULL: not a stream */
	kube_answer_fn *done;
	void *ctx;
	CURL *easy; /* NULL: libcurl does not have the request */
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
};

struct list {
	struct request *first, *last;
	unsigned count;
};

struct grave {
	void (*dispose)(void *ptr);
	void *ptr;
};

struct kube_client {
	struct ev_loop *loop;
	const struct kube_config *config;
	struct kube_client_options options;
	struct kube_credential *credential;
	struct multi *requests, *streams; /* connections are never shared between the two */
	struct list list[REQUEST_LISTS];
	unsigned last_flying; /* requests that are last, in libcurl */
	struct map by_id;
	uint64_t last_id;
	CURL **spare; /* easy handles to use again; see reuses_handles() */
	size_t spares;
	bool reuses;
	char *user_agent;
	struct curl_slist *connect_to; /* for tls-server-name */
	char *base;		       /* what stands before each path */
	bool no_proxy;
	ev_timer pump; /* never started: fed as an event, runs before the loop sleeps again */
	struct awake awake;
	struct link watches; /* the ring of watch.c */
	struct grave *grave;
	size_t graves;
	struct json *json; /* reads the Status that says why */
	int depth;	   /* of callbacks to the caller that are on the stack */
	struct kube_client_stats stats;
};

static bool request_has_id(const void *value, const void *key)
{
	return ((const struct request *)value)->id == *(const uint64_t *)key;
}

static uint64_t hash_id(uint64_t id)
{
	return map_hash_bytes(&id, sizeof(id));
}

static void list_unlink(struct list *l, struct request *r)
{
	*(r->prev ? &r->prev->next : &l->first) = r->next;
	*(r->next ? &r->next->prev : &l->last) = r->prev;
	l->count--;
}

static void list_append(struct list *l, struct request *r)
{
	r->prev = l->last;
	r->next = NULL;
	*(l->last ? &l->last->next : &l->first) = r;
	l->last = r;
	l->count++;
}

/* Moves the request to a state and its list. Nothing else writes states, lists and their counts. */
static void request_enter(struct request *r, enum request_state next)
{
	struct kube_client *c = r->client;
	if (r->state != REQUEST_FREE)
		list_unlink(&c->list[r->state], r);
	r->state = next;
	if (next != REQUEST_FREE)
		list_append(&c->list[next], r);
	c->stats.in_flight = c->list[REQUEST_FLYING].count;
	c->stats.queued = c->list[REQUEST_WAITING].count + c->list[REQUEST_URGENT].count +
			  c->list[REQUEST_LAST].count;
	c->stats.streams = c->list[REQUEST_STREAM].count;
}

static void client_wake(struct kube_client *c)
{
	ev_feed_event(c->loop, &c->pump, EV_CUSTOM);
}

static enum request_state waiting_state(const struct request *r)
{
	if (r->bytes)
		return REQUEST_OPENING;
	if (r->last)
		return REQUEST_LAST;
	return r->urgent ? REQUEST_URGENT : REQUEST_WAITING;
}

static struct multi *request_multi(const struct request *r)
{
	return r->bytes ? r->client->streams : r->client->requests;
}

/* Gives the easy handle back, which libcurl must be done with. */
static void release_easy(struct request *r)
{
	struct kube_client *c = r->client;
	if (c->reuses) {
		/* Forgets every pointer into r, and the token's header. */
		curl_easy_reset(r->easy);
		c->spare = mem_grow(c->spare, c->spares + 1, sizeof(*c->spare));
		c->spare[c->spares++] = r->easy;
	} else {
		curl_easy_cleanup(r->easy);
	}
	r->easy = NULL;
	c->last_flying -= r->last;
	curl_slist_free_all(r->headers);
	r->headers = NULL;
}

static void request_free(struct request *r)
{
	must(!r->easy);
	request_enter(r, REQUEST_FREE);
	free(r->path);
	buf_done(&r->body);
	buf_done(&r->answer);
	free(r);
}

/* Forgets a request, whatever its state. Only outside of libcurl and of callbacks. */
static void request_drop(struct request *r)
{
	if (r->easy) {
		multi_remove(request_multi(r), r->easy);
		release_easy(r);
	}
	request_free(r);
}

static bool is_stream_accepted(const struct request *r)
{
	long status = 0;
	curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	return r->bytes && status >= 200 && status <= 299;
}

/* Hands bytes to the caller. False: the caller cancelled the request. */
static bool tell_bytes(struct request *r, struct slice bytes)
{
	r->client->depth++;
	r->bytes(bytes, r->ctx);
	r->client->depth--;
	return r->state != REQUEST_DEAD;
}

static size_t on_body(char *ptr, size_t one, size_t len, void *ctx)
{
	struct request *r = ctx;
	(void)one;
	if (r->state == REQUEST_DEAD)
		return CURL_WRITEFUNC_ERROR;
	if (is_stream_accepted(r))
		return tell_bytes(r, (struct slice){ptr, len}) ? len : CURL_WRITEFUNC_ERROR;
	buf_add(&r->answer, ptr, len);
	r->over = r->answer.failed;
	return r->over ? CURL_WRITEFUNC_ERROR : len;
}

/* Looks for the end of the head: libcurl 7.88 takes one that is cut after its status line for a
 * whole answer without a body. */
static size_t on_head(char *ptr, size_t one, size_t len, void *ctx)
{
	struct request *r = ctx;
	(void)one;
	r->headed = slice_is((struct slice){ptr, len}, "\r\n") ||
		    slice_is((struct slice){ptr, len}, "\n");
	if (r->state == REQUEST_DEAD)
		return CURL_WRITEFUNC_ERROR;
	if (r->headed && is_stream_accepted(r))
		return tell_bytes(r, (struct slice){"", 0}) ? len : CURL_WRITEFUNC_ERROR;
	return len;
}

static void add_header(struct request *r, const char *name, const char *value)
{
	struct buf b;
	buf_init(&b, SIZE_MAX / 2);
	buf_puts(&b, name);
	buf_puts(&b, value);
	struct curl_slist *list = curl_slist_append(r->headers, buf_text(&b));
	must(list);
	r->headers = list;
	explicit_bzero(b.ptr, b.len); /* may be the token */
	buf_done(&b);
}

static void set_headers(struct request *r)
{
	const char *token = kube_credential_token(r->client->credential);
	if (token)
		add_header(r, "Authorization: Bearer ", token);
	add_header(r, "Accept: ", r->accept ? r->accept : KUBE_JSON);
	if (r->body.len > 0)
		add_header(r, "Content-Type: ", r->content_type ? r->content_type : KUBE_JSON);
	add_header(r, "Expect:", ""); /* else curl waits for a 100 before a large body */
	curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->headers);
}

static void set_blob(CURL *easy, CURLoption option, const char *pem)
{
	struct curl_blob blob = {
		.data = (void *)(uintptr_t)pem, .len = strlen(pem), .flags = CURL_BLOB_COPY};
	must(curl_easy_setopt(easy, option, &blob) == CURLE_OK);
}

/* Sets whom we trust and our certificate. Peer and host are verified by default; nothing here may
 * turn that off. */
static void set_tls(struct request *r)
{
	const struct kube_credential *k = r->client->credential;
	const char *ca = kube_credential_ca(k), *cert = kube_credential_cert(k);
	curl_easy_setopt(r->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (ca) {
		/* The blob replaces CAINFO but is only added to CAPATH, whose default on Debian is
		 * every authority of the web. */
		curl_easy_setopt(r->easy, CURLOPT_CAINFO, NULL);
		curl_easy_setopt(r->easy, CURLOPT_CAPATH, NULL);
		set_blob(r->easy, CURLOPT_CAINFO_BLOB, ca);
	}
	if (cert) {
		set_blob(r->easy, CURLOPT_SSLCERT_BLOB, cert);
		set_blob(r->easy, CURLOPT_SSLKEY_BLOB, kube_credential_key(k));
	}
}

static void set_method(struct request *r)
{
	bool has_body = r->body.len > 0 || (r->method != KUBE_GET && r->method != KUBE_DELETE);
	if (has_body) {
		curl_easy_setopt(r->easy, CURLOPT_POSTFIELDS, buf_text(&r->body));
		curl_easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
	}
	curl_easy_setopt(r->easy, CURLOPT_CUSTOMREQUEST, kube_method_name(r->method));
}

static void set_route(struct request *r)
{
	struct kube_client *c = r->client;
	struct buf url;
	buf_init(&url, SIZE_MAX / 2);
	buf_puts(&url, c->base);
	buf_puts(&url, r->path);
	curl_easy_setopt(r->easy, CURLOPT_URL, buf_text(&url)); /* copied */
	buf_done(&url);
	curl_easy_setopt(r->easy, CURLOPT_CONNECT_TO, c->connect_to);
	if (c->config->proxy_url)
		curl_easy_setopt(r->easy, CURLOPT_PROXY, c->config->proxy_url);
	else if (c->no_proxy)
		curl_easy_setopt(r->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(r->easy, CURLOPT_PROTOCOLS_STR, "https,http"); /* config said which */
	curl_easy_setopt(r->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(r->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(r->easy, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(r->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(r->easy, CURLOPT_TCP_KEEPIDLE, 30L);
	curl_easy_setopt(r->easy, CURLOPT_TCP_KEEPINTVL, 10L);
	curl_easy_setopt(r->easy, CURLOPT_MAXAGE_CONN, (long)IDLE_S);
	curl_easy_setopt(r->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)c->options.connect_ms);
	curl_easy_setopt(r->easy, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
	curl_easy_setopt(r->easy, CURLOPT_USERAGENT, c->user_agent);
	if (r->bytes)
		curl_easy_setopt(r->easy, CURLOPT_BUFFERSIZE, 128 * 1024L);
}

static void launch(struct request *r)
{
	struct kube_client *c = r->client;
	r->easy = c->spares > 0 ? c->spare[--c->spares] : curl_easy_init();
	must(r->easy);
	r->error[0] = '\0';
	r->headed = false;
	r->generation = kube_credential_generation(c->credential);
	curl_easy_setopt(r->easy, CURLOPT_PRIVATE, r);
	curl_easy_setopt(r->easy, CURLOPT_ERRORBUFFER, r->error);
	curl_easy_setopt(r->easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(r->easy, CURLOPT_WRITEDATA, r);
	curl_easy_setopt(r->easy, CURLOPT_HEADERFUNCTION, on_head);
	curl_easy_setopt(r->easy, CURLOPT_HEADERDATA, r);
	set_route(r);
	set_tls(r);
	set_method(r);
	set_headers(r);
	request_enter(r, r->bytes ? REQUEST_STREAM : REQUEST_FLYING);
	c->stats.sent++;
	c->last_flying += r->last;
	multi_add(request_multi(r), r->easy);
}

static void count_answer(struct kube_client *c, enum kube_method method, int code)
{
	struct kube_client_stats *s = &c->stats;
	size_t i = 0;
	while (i < s->counts && (s->count[i].method != method || s->count[i].code != code))
		i++;
	if (i == sizeof(s->count) / sizeof(s->count[0]))
		return; /* a server that invents status codes does not get our memory */
	if (i == s->counts)
		s->count[s->counts++] = (struct kube_count){method, code, 0};
	s->count[i].count++;
}

/* Gives the caller its answer. The request is no longer found by its id: a cancel cannot reach
 * it. */
static void deliver(struct request *r, const struct kube_answer *answer)
{
	struct kube_client *c = r->client;
	map_take(&c->by_id, hash_id(r->id), &r->id);
	request_enter(r, REQUEST_FREE);
	c->depth++;
	r->done(answer, r->ctx);
	c->depth--;
	request_free(r);
	client_wake(c); /* a connection is free */
}

static int64_t read_retry_after(CURL *easy)
{
	struct curl_header *header;
	curl_off_t seconds = 0;
	if (curl_easy_header(easy, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return -1;
	curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds); /* knows dates, too */
	return seconds < KUBE_RETRY_AFTER_MAX_MS ? (int64_t)seconds * 1000
						 : KUBE_RETRY_AFTER_MAX_MS;
}

static int64_t read_date_ms(CURL *easy)
{
	struct curl_header *header;
	if (curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return 0;
	time_t seconds = curl_getdate(header->value, NULL);
	return seconds > 0 ? (int64_t)seconds * 1000 : 0;
}

static bool says(const struct request *r, enum server_words what)
{
	return r->answer.len > 0 && server_says(buf_slice(&r->answer), what);
}

static struct kube_facts look(const struct request *r, CURLcode result)
{
	long status = 0, sent = 0;
	curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(r->easy, CURLINFO_REQUEST_SIZE, &sent);
	return (struct kube_facts){
		.intent = r->bytes		  ? KUBE_WATCH
			  : r->method == KUBE_GET ? KUBE_READ
						  : KUBE_WRITE,
		.curl = (int)result,
		.sent = sent > 0,
		.over_ceiling = r->over,
		.over_storage = status == 500 && says(r, SERVER_REQUEST_TOO_LARGE),
		.in_admission = status >= 500 &&
				(says(r, SERVER_WEBHOOK_FAILED) || says(r, SERVER_WEBHOOK_REFUSED)),
		.http_status = (int)status,
		.retry_after_ms = read_retry_after(r->easy),
	};
}

/* Gives the server's own message, out of a Status; NULL if it sent none. Valid until json_reset. */
static const char *status_message(struct request *r)
{
	const cJSON *root;
	struct slice body = buf_slice(&r->answer);
	if (body.len > REFUSAL_CEILING || !slice_starts(body, "{"))
		return NULL;
	if (json_parse(r->client->json, body, &root, NULL) < 0)
		return NULL;
	return json_is(root, "kind", "Status") ? json_text(root, "message") : NULL;
}

/* Puts the method and the path in front of the sentence. */
static void request_name(const struct request *r, struct err *err)
{
	size_t len = strcspn(r->path, "?");
	err_wrap(err, "%s %.*s", kube_method_name(r->method), len < 160 ? (int)len : 160, r->path);
}

/* Writes "PATCH /path: status 409: what the server says". The query is left out: it is long and
 * ours. */
static void explain(struct request *r, const struct kube_facts *facts, struct err *err)
{
	const char *message = NULL;
	if (facts->over_ceiling) {
		err_set(err, 0, "status %d with more than %zu bytes", facts->http_status,
			r->answer.ceiling);
	} else if (facts->http_status >= 300) {
		message = status_message(r);
		err_set(err, 0, "status %d%s%.250s", facts->http_status, message ? ": " : "",
			message ? message : "");
	} else {
		err_set(err, 0, "%.250s",
			r->error[0] ? r->error : curl_easy_strerror((CURLcode)facts->curl));
	}
	json_reset(r->client->json);
	request_name(r, err);
}

/* Sends a request once more after a 401, ahead of those that wait, if the credentials are others
 * now. A 401 was not applied. */
static bool try_again(struct request *r, const struct kube_facts *facts)
{
	struct kube_client *c = r->client;
	if (facts->http_status != 401 || r->retried ||
		!kube_credential_refused(c->credential, r->generation))
		return false;
	r->retried = true;
	r->urgent = true;
	c->stats.retried_401++;
	release_easy(r);
	buf_reset(&r->answer);
	r->over = false;
	request_enter(r, waiting_state(r));
	client_wake(c);
	return true;
}

static void on_finished(CURL *easy, CURLcode result, void *ctx)
{
	struct kube_client *c = ctx;
	struct request *r = NULL;
	struct err err = {""};
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &r);
	must(r && r->easy == easy);
	if (result == CURLE_OK && !r->headed)
		result = CURLE_PARTIAL_FILE;
	struct kube_facts facts = look(r, result);
	count_answer(c, r->method, facts.http_status);
	if (r->state == REQUEST_DEAD) {
		release_easy(r);
		client_wake(c);
		return;
	}
	if (try_again(r, &facts))
		return;
	struct kube_verdict verdict = kube_judge(&facts);
	if (verdict.outcome != KUBE_DONE)
		explain(r, &facts, &err);
	int64_t date_ms = read_date_ms(easy);
	release_easy(r);
	struct kube_answer answer = {.outcome = verdict.outcome,
		.date_ms = date_ms,
		.http_status = facts.http_status,
		.retry_after_ms = verdict.retry_after_ms,
		.body = buf_slice(&r->answer),
		.sentence = err.text};
	deliver(r, &answer);
}

static struct request *next_waiting(const struct kube_client *c)
{
	if (c->list[REQUEST_OPENING].first)
		return c->list[REQUEST_OPENING].first;
	if (c->list[REQUEST_FLYING].count >= c->options.in_flight)
		return NULL;
	if (c->list[REQUEST_URGENT].first)
		return c->list[REQUEST_URGENT].first;
	if (c->list[REQUEST_WAITING].first)
		return c->list[REQUEST_WAITING].first;
	return c->last_flying < LAST_FLYING ? c->list[REQUEST_LAST].first : NULL;
}

/* Answers a request for which there are no credentials. */
static void refuse(struct request *r)
{
	struct err err;
	struct kube_client *c = r->client;
	err_set(&err, 0, "not sent: %s", kube_credential_error(c->credential));
	request_name(r, &err);
	struct kube_answer answer = {.outcome = KUBE_DENIED, .sentence = err.text, .body = {"", 0}};
	count_answer(c, r->method, 0);
	deliver(r, &answer);
}

static void send_waiting(struct kube_client *c)
{
	struct request *r;
	bool sent = false;
	while ((r = next_waiting(c))) {
		enum kube_credential_state state = kube_credential_check(c->credential);
		if (state == CREDENTIAL_RUNNING)
			break; /* credential_changed wakes us */
		if (state == CREDENTIAL_READY)
			launch(r);
		else
			refuse(r);
		sent = true;
	}
	if (!sent)
		return;
	multi_drive(c->requests); /* now, not in some later turn of the loop */
	multi_drive(c->streams);
}

static void dispose_graves(struct kube_client *c)
{
	while (c->graves > 0) {
		struct grave g = c->grave[--c->graves];
		g.dispose(g.ptr);
	}
}

/* Does one pass: buries the dead, then sends what waits. */
static void on_pump(struct ev_loop *loop, ev_timer *pump, int revents)
{
	struct kube_client *c = pump->data;
	(void)loop;
	(void)revents;
	must(c->depth == 0);
	while (c->list[REQUEST_DEAD].first)
		request_drop(c->list[REQUEST_DEAD].first);
	dispose_graves(c);
	send_waiting(c);
}

static void credential_changed(void *ctx)
{
	client_wake(ctx);
}

static bool is_loopback(const char *host)
{
	return strcasecmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
	       strcmp(host, "[::1]") == 0;
}

/* Makes the base of all URLs. curl takes the name that TLS verifies from the URL: with
 * tls-server-name, the URL has that name, and connect-to has the real host. */
static void set_base(struct kube_client *c)
{
	char *host = NULL, *port = NULL, *base = NULL;
	struct buf to;
	CURLU *url = curl_url();
	must(url && curl_url_set(url, CURLUPART_URL, c->config->server, 0) == CURLUE_OK);
	must(curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK);
	must(curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK);
	c->no_proxy = is_loopback(host);
	if (c->config->tls_server_name &&
		curl_url_set(url, CURLUPART_HOST, c->config->tls_server_name, 0) == CURLUE_OK) {
		buf_init(&to, SIZE_MAX / 2);
		buf_printf(&to, "::%s:%s", host, port);
		c->connect_to = curl_slist_append(NULL, buf_text(&to));
		buf_done(&to);
	}
	must(curl_url_get(url, CURLUPART_URL, &base, 0) == CURLUE_OK);
	size_t len = strlen(base);
	while (len > 0 && base[len - 1] == '/')
		len--;
	c->base = mem_strndup(base, len);
	curl_free(host);
	curl_free(port);
	curl_free(base);
	curl_url_cleanup(url);
}

static void set_options(struct kube_client *c, const struct kube_client_options *o)
{
	c->options = *o;
	if (o->in_flight == 0)
		c->options.in_flight = 64;
	if (o->timeout_ms <= 0)
		c->options.timeout_ms = 30000;
	if (o->connect_ms <= 0)
		c->options.connect_ms = 10000;
	if (o->asleep_ms <= 0)
		c->options.asleep_ms = 10000;
	if (o->answer_ceiling == 0)
		c->options.answer_ceiling = 16 * 1024 * 1024;
	c->user_agent = mem_strdup(o->user_agent ? o->user_agent : "sluice/" SLUICE_VERSION);
	c->options.user_agent = NULL;
}

static void ignore_sigpipe(void)
{
	struct sigaction sa;
	if (sigaction(SIGPIPE, NULL, &sa) == 0 && sa.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
}

/* Whether easy handles may be used again. Before 8.1.1 a handle keeps, over a reset, a pointer to
 * the last header of its last answer, which is freed. An answer that begins with a folded header is
 * then written there (curl issue 11101). A new handle for each request costs 3 microseconds. */
static bool reuses_handles(void)
{
	return curl_version_info(CURLVERSION_NOW)->version_num >= 0x080101;
}

struct kube_client *kube_client_new(struct ev_loop *loop, const struct kube_config *config,
	const struct kube_client_options *options)
{
	static const struct kube_client_options defaults;
	struct kube_client *c = mem_alloc(sizeof(*c));
	must(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	ignore_sigpipe();
	c->loop = loop;
	c->config = config;
	c->reuses = reuses_handles();
	set_options(c, options ? options : &defaults);
	map_init(&c->by_id, request_has_id);
	list_init(&c->watches);
	ev_timer_init(&c->pump, on_pump, 0., 0.);
	c->pump.data = c;
	awake_init(&c->awake, loop, c->options.asleep_ms);
	c->json = json_new(STATUS_TREE);
	c->credential =
		kube_credential_new(loop, config, &c->options.credential, credential_changed, c);
	c->requests = multi_new(loop, c->options.in_flight, on_finished, c);
	c->streams = multi_new(loop, 16, on_finished, c);
	set_base(c);
	return c;
}

void kube_client_free(struct kube_client *c)
{
	if (!c)
		return;
	must(c->depth == 0);
	dispose_graves(c);
	for (int state = 0; state < REQUEST_LISTS; state++)
		while (c->list[state].first)
			request_drop(c->list[state].first);
	while (c->spares > 0)
		curl_easy_cleanup(c->spare[--c->spares]);
	multi_free(c->requests);
	multi_free(c->streams);
	kube_credential_free(c->credential);
	ev_clear_pending(c->loop, &c->pump);
	awake_done(&c->awake);
	curl_slist_free_all(c->connect_to);
	map_done(&c->by_id);
	json_free(c->json);
	free(c->spare);
	free(c->grave);
	free(c->user_agent);
	free(c->base);
	free(c);
	curl_global_cleanup();
}

static struct request *request_new(struct kube_client *c, const struct kube_request *q,
	kube_bytes_fn *bytes, kube_answer_fn *done, void *ctx)
{
	struct request *r = mem_alloc(sizeof(*r));
	*r = (struct request){.client = c,
		.state = REQUEST_FREE,
		.id = ++c->last_id,
		.method = q->method,
		.content_type = q->content_type,
		.accept = q->accept,
		.urgent = q->urgent,
		.last = q->last,
		.timeout_ms = q->timeout_ms,
		.bytes = bytes,
		.done = done,
		.ctx = ctx};
	must(q->path[0] == '/');
	r->path = mem_strdup(q->path);
	buf_init(&r->body, q->body.len);
	buf_add(&r->body, q->body.ptr, q->body.len);
	if (bytes)
		buf_init(&r->answer, REFUSAL_CEILING);
	else
		buf_init(&r->answer,
			q->answer_ceiling ? q->answer_ceiling : c->options.answer_ceiling);
	if (!bytes && r->timeout_ms <= 0)
		r->timeout_ms = c->options.timeout_ms;
	map_put(&c->by_id, hash_id(r->id), r);
	request_enter(r, waiting_state(r));
	client_wake(c);
	return r;
}

uint64_t kube_client_send(struct kube_client *c, const struct kube_request *request,
	kube_answer_fn *answer, void *ctx)
{
	return request_new(c, request, NULL, answer, ctx)->id;
}

uint64_t kube_client_stream(struct kube_client *c, const struct kube_request *request,
	kube_bytes_fn *bytes, kube_answer_fn *answer, void *ctx)
{
	must(request->method == KUBE_GET);
	return request_new(c, request, bytes, answer, ctx)->id;
}

bool kube_client_cancel(struct kube_client *c, uint64_t id)
{
	struct request *r = map_take(&c->by_id, hash_id(id), &id);
	if (!r)
		return false;
	request_enter(r, REQUEST_DEAD);
	client_wake(c);
	return true;
}

unsigned kube_client_room(const struct kube_client *c)
{
	unsigned busy = c->list[REQUEST_FLYING].count + c->list[REQUEST_WAITING].count +
			c->list[REQUEST_URGENT].count;
	return busy < c->options.in_flight ? c->options.in_flight - busy : 0;
}

struct link *kube_client_watches(struct kube_client *c)
{
	return &c->watches;
}

int64_t kube_client_awake_since_ms(const struct kube_client *c)
{
	return awake_since_ms(&c->awake);
}

struct ev_loop *kube_client_loop(const struct kube_client *c)
{
	return c->loop;
}

void kube_client_bury(struct kube_client *c, void (*dispose)(void *ptr), void *ptr)
{
	c->grave = mem_grow(c->grave, c->graves + 1, sizeof(*c->grave));
	c->grave[c->graves++] = (struct grave){dispose, ptr};
	client_wake(c);
}

const struct kube_client_stats *kube_client_stats(const struct kube_client *c)
{
	return &c->stats;
}

const char *kube_method_name(enum kube_method method)
{
	switch (method) {
	case KUBE_GET:
		return "GET";
	case KUBE_POST:
		return "POST";
	case KUBE_PUT:
		return "PUT";
	case KUBE_PATCH:
		return "PATCH";
	case KUBE_DELETE:
		return "DELETE";
	case KUBE_METHODS:
		break;
	}
	must(!"a kube_method");
	return NULL;
}
