#include "test/fuzz/follow.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "controller/kube/skim.h"
#include "controller/kube/watch.h"

enum { JOBS = 8, TURNS_MAX = 20000, REQUESTS_MAX = 200 };

struct kube_client {
	struct link watches;
	struct ev_loop *loop;
	uint64_t last_id, id; /* id: of the request in flight; 0: none */
	char path[1024];
	kube_bytes_fn *bytes;
	kube_answer_fn *answer;
	void *ctx;
	unsigned requests;
	struct {
		void (*dispose)(void *);
		void *ptr;
	} grave;
};

struct engine {
	struct kube_client client;
	struct kube_watch *watch;
	unsigned begins, ends;
	bool told[JOBS], told_before_end[JOBS];
	struct buf story;
};

/* ---- the stand-in ---------------------------------------------------------------------------- */

static uint64_t take_request(struct kube_client *c, const struct kube_request *q,
	kube_bytes_fn *bytes, kube_answer_fn *answer, void *ctx)
{
	must(c->id == 0 && strlen(q->path) < sizeof(c->path));
	must(++c->requests <= REQUESTS_MAX);
	strcpy(c->path, q->path);
	c->bytes = bytes;
	c->answer = answer;
	c->ctx = ctx;
	return c->id = ++c->last_id;
}

uint64_t kube_client_send(
	struct kube_client *c, const struct kube_request *q, kube_answer_fn *answer, void *ctx)
{
	return take_request(c, q, NULL, answer, ctx);
}

uint64_t kube_client_stream(struct kube_client *c, const struct kube_request *q,
	kube_bytes_fn *bytes, kube_answer_fn *answer, void *ctx)
{
	return take_request(c, q, bytes, answer, ctx);
}

bool kube_client_cancel(struct kube_client *c, uint64_t id)
{
	if (id == 0 || id != c->id)
		return false;
	c->id = 0;
	return true;
}

struct ev_loop *kube_client_loop(const struct kube_client *c)
{
	return c->loop;
}

/* There is one watch at a time. */
struct link *kube_client_watches(struct kube_client *c)
{
	return &c->watches;
}

/* It never sleeps. */
int64_t kube_client_awake_since_ms(const struct kube_client *c)
{
	(void)c;
	return 0;
}

void kube_client_bury(struct kube_client *c, void (*dispose)(void *ptr), void *ptr)
{
	must(!c->grave.dispose);
	c->grave.dispose = dispose;
	c->grave.ptr = ptr;
}

static void answer(struct kube_client *c, enum kube_outcome outcome, struct slice body)
{
	struct kube_answer a = {.outcome = outcome,
		.http_status = 200,
		.body = body,
		.sentence = outcome == KUBE_DONE ? "" : "it is too large"};
	c->id = 0;
	c->answer(&a, c->ctx);
}

/* ---- listeners ----------------------------------------------------------------------------- */

static void on_begin(void *ctx)
{
	struct engine *p = ctx;
	p->begins++;
	memset(p->told, 0, sizeof(p->told)); /* what was told before is to be told again */
	buf_puts(&p->story, "begin ");
}

static void on_event(enum kube_event type, const cJSON *object, void *ctx)
{
	struct engine *p = ctx;
	const char *name = json_text(json_object(object, "metadata"), "name");
	int n;
	buf_printf(&p->story, "%d:%s ", (int)type, name ? name : "");
	if (name && type != KUBE_DELETED && sscanf(name, "healthy-%d", &n) == 1 && n >= 0 &&
		n < JOBS)
		p->told[n] = true;
}

static void on_end(void *ctx)
{
	struct engine *p = ctx;
	p->ends++;
	memcpy(p->told_before_end, p->told, sizeof(p->told));
	buf_puts(&p->story, "end ");
}

static void on_trouble(const char *sentence, void *ctx)
{
	struct engine *p = ctx;
	must(*sentence);
	buf_puts(&p->story, "trouble ");
}

static void on_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct engine *p = ctx;
	must(*u->why);
	buf_printf(&p->story, "unreadable:%s/%s/%s ", u->ns, u->name, u->uid);
}

static void open_engine(struct engine *p, const struct kube_watch_options *options)
{
	static const struct kube_watch_handler handler = {.begin = on_begin,
		.event = on_event,
		.end = on_end,
		.trouble = on_trouble,
		.unreadable = on_unreadable};
	static struct ev_loop *loop;
	if (!loop)
		loop = ev_loop_new(EVFLAG_AUTO);
	*p = (struct engine){.client.loop = loop};
	list_init(&p->client.watches);
	buf_init(&p->story, 1 << 22);
	p->watch = kube_watch_new(&p->client, options, &handler, p);
}

static void close_engine(struct engine *p)
{
	kube_watch_free(p->watch);
	p->client.grave.dispose(p->client.grave.ptr);
	buf_done(&p->story);
}

/* Until it asks for something. */
static void await_request(struct engine *p)
{
	for (int i = 0; i < TURNS_MAX && p->client.id == 0; i++)
		ev_run(p->client.loop, EVRUN_ONCE);
	must(p->client.id != 0);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void put_job(struct buf *b, int n, int version)
{
	buf_printf(b,
		"{\"kind\":\"Job\",\"apiVersion\":\"batch/"
		"v1\",\"metadata\":{\"name\":\"healthy-%d\","
		"\"namespace\":\"team-b\",\"uid\":\"%08d-e89b-12d3-a456-426614174000\","
		"\"resourceVersion\":\"%d\",\"labels\":{\"sluice.dev/queue-name\":\"main\"},"
		"\"annotations\":{\"note\":\"{\\\"a\\\": "
		"[\\\"]}\\\\\\\\\\\"\"}},\"spec\":{\"suspend\":"
		"true,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"args\":[\"\\\\\","
		"\"\\\"\"]}]}}}}",
		n, n, version);
}

static void put_event(struct buf *b, const char *type, int n, int version)
{
	buf_printf(b, "{\"type\":\"%s\",\"object\":", type);
	put_job(b, n, version);
	buf_puts(b, "}\n");
}

static void put_end(struct buf *b, int version)
{
	buf_printf(b,
		"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%d\","
		"\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n",
		version);
}

/* A list with the line in it, and events with it among them. */
static void put_stream(struct buf *b, struct slice line)
{
	put_event(b, "ADDED", 0, 100);
	buf_add(b, line.ptr, line.len);
	buf_putc(b, '\n');
	put_event(b, "ADDED", 1, 101);
	put_end(b, 500);
	put_event(b, "MODIFIED", 2, 501);
	buf_add(b, line.ptr, line.len);
	buf_putc(b, '\n');
	put_event(b, "MODIFIED", 3, 503);
}

static void feed(struct engine *p, struct slice bytes, size_t chunk)
{
	uint64_t id = p->client.id;
	for (size_t at = 0; at < bytes.len && p->client.id == id; at += chunk) {
		size_t n = bytes.len - at < chunk ? bytes.len - at : chunk;
		char *copy = malloc(n); /* exact, so that ASan sees one byte too far */
		must(copy);
		memcpy(copy, bytes.ptr + at, n);
		p->client.bytes((struct slice){copy, n}, p->client.ctx);
		free(copy);
	}
}

static const struct kube_watch_options streaming = {.path = "/apis/batch/v1/jobs",
	.event_ceiling = FOLLOW_CEILING,
	.backoff_ms = 1,
	.backoff_max_ms = 1,
	.steady_ms = 1000000};

static void must_have_told(const struct engine *p, const bool *told, int from, int to)
{
	for (int n = from; n < to; n++) {
		if (!told[n])
			fprintf(stderr, "healthy-%d was not told: %.4000s\n", n,
				buf_text(&p->story));
		must(told[n]);
	}
}

/* The line may be what only the server says: that may end a list, or begin a new one. */
static bool may_be_servers(struct slice line)
{
	return memmem(line.ptr, line.len, "\\u", 2) || memmem(line.ptr, line.len, "BOOKMARK", 8) ||
	       memmem(line.ptr, line.len, "ERROR", 5);
}

static void engine_line(struct slice line, bool servers, size_t chunk, struct buf *ret_story)
{
	struct engine p;
	struct buf body;
	buf_init(&body, SIZE_MAX / 2);
	put_stream(&body, line);
	open_engine(&p, &streaming);
	await_request(&p);
	feed(&p, buf_slice(&body), chunk);
	if (!servers) {
		must(p.client.id != 0 && p.begins == 1 && p.ends == 1);
		must_have_told(&p, p.told_before_end, 0, 2);
		must_have_told(&p, p.told, 2, 4);
		must(strcmp(kube_watch_version(p.watch), "503") == 0);
	}
	if (p.client.id != 0)
		answer(&p.client, KUBE_DONE, (struct slice){"", 0}); /* after some minutes */
	buf_add(ret_story, p.story.ptr, p.story.len);
	/* Whatever came of it: taken up again, or listed anew, it goes on. */
	await_request(&p);
	buf_reset(&body);
	put_event(&body, "ADDED", 4, 600);
	if (strstr(p.client.path, "sendInitialEvents"))
		put_end(&body, 601);
	put_event(&body, "MODIFIED", 5, 602);
	feed(&p, buf_slice(&body), body.len);
	must(p.client.id != 0);
	must_have_told(&p, p.told, 4, 6);
	must(strcmp(kube_watch_version(p.watch), "602") == 0);
	close_engine(&p);
	buf_done(&body);
}

static void engine_in_chunks(struct slice line, bool servers, size_t chunk)
{
	struct buf whole, pieces;
	buf_init(&whole, 1 << 22);
	buf_init(&pieces, 1 << 22);
	engine_line(line, servers, SIZE_MAX / 2, &whole);
	engine_line(line, servers, chunk, &pieces);
	must(!whole.failed && slice_eq(buf_slice(&whole), buf_slice(&pieces)));
	buf_done(&whole);
	buf_done(&pieces);
}

void follow_line(struct slice line, size_t chunk)
{
	engine_in_chunks(line, may_be_servers(line), chunk);
}

/* As an event its type is the server's, so that nothing in it may begin a new list. Line ends are
 * the server's, too: a text that has some is more lines than one. */
void follow_stream(struct slice victim, size_t chunk)
{
	struct buf line;
	buf_init(&line, SIZE_MAX / 2);
	buf_puts(&line, "{\"type\":\"MODIFIED\",\"object\":");
	buf_add(&line, victim.ptr, victim.len);
	buf_putc(&line, '}');
	bool lines = victim.len > 0 && memchr(victim.ptr, '\n', victim.len);
	engine_in_chunks(buf_slice(&line), lines && may_be_servers(victim), chunk);
	buf_done(&line);
}

/* ---- pages ----------------------------------------------------------------------------------- */

enum { ITEMS = JOBS + 2 }; /* the victim stands at the third place and at the last but one */

static void put_item(struct buf *b, int place, struct slice victim)
{
	if (place == 2 || place == ITEMS - 2)
		buf_add(b, victim.ptr, victim.len);
	else
		put_job(b,
			place < 2	    ? place
			: place < ITEMS - 2 ? place - 1
					    : JOBS - 1,
			100 + place);
}

static int number_in(const char *path, const char *key)
{
	const char *at = strstr(path, key);
	return at ? atoi(at + strlen(key)) : 0;
}

static void answer_page(struct engine *p, struct slice victim)
{
	struct buf body;
	int from = number_in(p->client.path, "continue="),
	    limit = number_in(p->client.path, "limit=");
	int to = from + limit < ITEMS ? from + limit : ITEMS;
	must(limit > 0);
	buf_init(&body, SIZE_MAX / 2);
	buf_puts(&body, "{\"kind\":\"JobList\",\"apiVersion\":\"batch/v1\",\"metadata\":"
			"{\"resourceVersion\":\"700\"");
	if (to < ITEMS)
		buf_printf(&body, ",\"continue\":\"%d\"", to);
	buf_puts(&body, "},\"items\":[");
	for (int i = from; i < to; i++) {
		buf_puts(&body, i > from ? "," : "");
		put_item(&body, i, victim);
	}
	buf_puts(&body, "]}\n");
	bool large = body.len > FOLLOW_CEILING;
	struct slice text = {body.ptr, large ? FOLLOW_CEILING : body.len};
	answer(&p->client, large ? KUBE_LIMIT : KUBE_DONE, text);
	buf_done(&body);
}

void follow_pages(struct slice victim)
{
	struct engine p;
	struct kube_watch_options o = streaming;
	o.no_streaming_list = true;
	o.page_limit = 8;
	open_engine(&p, &o);
	await_request(&p);
	while (p.ends == 0) {
		must(strstr(p.client.path, "limit="));
		answer_page(&p, victim);
		must(p.client.id != 0 &&
			p.begins == 1); /* without a pause, and never from the start */
	}
	must_have_told(&p, p.told_before_end, 0, JOBS);
	must(strcmp(kube_watch_version(p.watch), "700") == 0);
	must(p.client.requests <= 40);
	close_engine(&p);
}
