#include "controller/overcommit/publisher.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "controller/common/path.h"
#include "sluice/keys.h"

enum {
	UNDER_WAY_MAX = 8,
	BODY_MAX_BYTES = 4096,
	TIMEOUT_MS = 10000,
};

struct writing {
	struct publisher *publisher;
	struct inventory_node *node; /* NULL: the node is gone */
	uint64_t id;		     /* 0: free */
};

struct publisher {
	struct kube_client *client;
	struct inventory *inventory;
	struct log *log;
	struct writing writing[UNDER_WAY_MAX];
	size_t under_way;
	struct publisher_counts counts;
	int64_t now_ms, complained_ms;
	bool news;
	/* The walk over the nodes: those whose figures fall, then the others. */
	bool walking, falls;
	size_t at;
};

struct publisher *publisher_new(
	struct kube_client *client, struct inventory *inventory, struct log *log)
{
	struct publisher *p = mem_alloc(sizeof(*p));
	p->client = client;
	p->inventory = inventory;
	p->log = log;
	return p;
}

void publisher_free(struct publisher *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < UNDER_WAY_MAX; i++)
		kube_client_cancel(p->client, p->writing[i].id);
	free(p);
}

/* ---- the body -------------------------------------------------------------------------------- */

/* Puts figures as texts, as quantities are. */
static void put_figures(struct json_writer *w, const char *key, const struct figures *f)
{
	jw_object(w, key);
	for (size_t i = 0; i < FIGURES; i++)
		if (f->each[i] >= 0)
			jw_textf(w, figure_names[i], "%" PRId64, f->each[i]);
	jw_end(w);
}

/* Puts the body. A sample that is null says that the figures are of none. The uid has the API
 * server refuse another node of that name. */
static void put_body(struct buf *out, const struct uid *of, const struct node_state *a)
{
	struct json_writer w = json_writer_object(out);
	bool is_sampled = a->window.newest_ms > 0;
	jw_object(&w, "metadata");
	uid_put(&w, "uid", of);
	jw_object(&w, "annotations");
	jw_text(&w, SAMPLE_ANNOTATION, is_sampled ? instant_exact(a->window.newest_ms).s : NULL);
	jw_end(&w);
	jw_end(&w);
	jw_object(&w, "status");
	put_figures(&w, "capacity", &a->sending);
	put_figures(&w, "allocatable", &a->sending);
	jw_close(&w);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void complain(struct publisher *p, const char *node, const char *sentence)
{
	if (!log_again(&p->complained_ms, p->now_ms))
		return;
	log_event(p->log, LEVEL_WARN, "figures-not-written", "node", node, "why", sentence, NULL);
}

static void count(struct publisher *p, enum kube_outcome o)
{
	switch (o) {
	case KUBE_DONE:
		p->counts.written++;
		return;
	case KUBE_GONE:
		p->counts.gone++;
		return;
	case KUBE_DENIED:
	case KUBE_STALE:
	case KUBE_GIVE_UP:
		p->counts.refused++;
		return;
	case KUBE_RETRY:
	case KUBE_CONFLICT:
	case KUBE_RELIST:
	case KUBE_IN_DOUBT:
	case KUBE_LIMIT:
		p->counts.failed++;
		return;
	}
}

static void go_on(struct publisher *p);

static void on_written(const struct kube_answer *a, void *ctx)
{
	struct writing *w = ctx;
	struct publisher *p = w->publisher;
	struct inventory_node *n = w->node;
	*w = (struct writing){0};
	p->under_way--;
	count(p, a->outcome);
	if (n) {
		node_state_sent(n, a->outcome == KUBE_DONE, p->now_ms);
		p->news |= a->outcome == KUBE_DONE;
		if (a->outcome != KUBE_DONE && a->outcome != KUBE_GONE)
			complain(p, n->name, a->sentence);
	}
	go_on(p);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void send_figures(struct publisher *p, struct inventory_node *n)
{
	struct buf path, body;
	size_t i = 0;
	while (p->writing[i].id)
		i++;
	log_event(p->log, LEVEL_DEBUG, "figures", "node", n->name, "why",
		publication_why_name(n->node_state.why), "#batch_cpu",
		LOG_NUMBER(n->node_state.want.batch_cpu), "#batch_memory",
		LOG_NUMBER(n->node_state.want.batch_memory), "#gocran_cpu",
		LOG_NUMBER(n->node_state.want.gocran_cpu), "#gocran_memory",
		LOG_NUMBER(n->node_state.want.gocran_memory), NULL);
	node_state_send(&n->node_state);
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&body, BODY_MAX_BYTES);
	path_format(&path, "/api/v1/nodes/%s/status", n->name);
	put_body(&body, &n->facts->uid, &n->node_state);
	struct kube_request request = {.method = KUBE_PATCH,
		.path = buf_text(&path),
		.content_type = KUBE_MERGE_PATCH,
		.body = buf_slice(&body),
		.timeout_ms = TIMEOUT_MS,
		.urgent = p->falls};
	p->writing[i].publisher = p;
	p->writing[i].node = n;
	p->writing[i].id = kube_client_send(p->client, &request, on_written, &p->writing[i]);
	p->under_way++;
	buf_done(&path);
	buf_done(&body);
}

static bool is_due(const struct publisher *p, const struct inventory_node *n)
{
	const struct node_state *a = &n->node_state;
	return n->facts && a->why != PUBLISH_NOT && !a->under_way && a->retry_ms <= p->now_ms &&
	       node_state_falls(a) == p->falls;
}

static void go_on(struct publisher *p)
{
	struct inventory_node *n;
	while (p->walking && p->under_way < UNDER_WAY_MAX) {
		n = inventory_node_at(p->inventory, p->at++);
		if (n && is_due(p, n)) {
			send_figures(p, n);
		} else if (!n && p->falls) {
			p->falls = false;
			p->at = 0;
		} else if (!n) {
			p->walking = false;
		}
	}
}

void publisher_tick(struct publisher *p, int64_t now_ms)
{
	p->now_ms = now_ms;
	p->walking = p->falls = true;
	p->at = 0;
	go_on(p);
}

void publisher_lose(struct publisher *p, const struct inventory_node *n)
{
	for (size_t i = 0; i < UNDER_WAY_MAX; i++)
		if (p->writing[i].node == n)
			p->writing[i].node = NULL;
}

bool publisher_take_news(struct publisher *p)
{
	bool news = p->news;
	p->news = false;
	return news;
}

struct publisher_counts publisher_count(const struct publisher *p)
{
	return p->counts;
}

size_t publisher_under_way(const struct publisher *p)
{
	return p->under_way;
}
