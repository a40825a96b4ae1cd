#include "controller/overcommit/overcommit_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/json.h"
#include "controller/common/path.h"
#include "controller/common/status_patch.h"
#include "controller/wire/decode.h"
#include "sluice/quantity.h"

enum {
	UNDER_WAY_MAX = 4,
	STATUS_MAX_BYTES = 16 * 1024,
	SENTENCE_MAX = 900,
	TIMEOUT_MS = 10000,
	RETRY_MS = 5000,
	MUCH_MS = 10000, /* how long an admin who has just switched it on waits */
	ANY_MS = 300000,
};

/* The status of one NodeOvercommit. */
struct notice {
	bool active;
	const char *reason;
	char message[SENTENCE_MAX];
	int64_t generation;
	size_t selected, nodes, degraded;
	struct load lent, requested;
};

struct page {
	struct overcommit_status *overcommit_status;
	char *name;
	struct uid uid;
	uint64_t request; /* 0: none is under way */
	bool lost;	  /* freed with the answer */
	bool written;	  /* the server has `last` */
	struct notice last;
	int64_t last_ms; /* when it was asked for */
	/* Of the condition. */
	bool dated, is;
	struct instant_text since;
};

struct overcommit_status {
	struct overcommit_status_options o;
	struct page **page;
	size_t npages, under_way;
	int64_t now_ms, complained_ms;
};

struct overcommit_status *overcommit_status_new(const struct overcommit_status_options *o)
{
	struct overcommit_status *b = mem_alloc(sizeof(*b));
	b->o = *o;
	return b;
}

static void page_free(struct page *p)
{
	free(p->name);
	free(p);
}

void overcommit_status_free(struct overcommit_status *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->npages; i++) {
		kube_client_cancel(b->o.client, b->page[i]->request);
		page_free(b->page[i]);
	}
	free(b->page);
	free(b);
}

static struct page *find_page(const struct overcommit_status *b, const char *name)
{
	for (size_t i = 0; i < b->npages; i++)
		if (!b->page[i]->lost && strcmp(b->page[i]->name, name) == 0)
			return b->page[i];
	return NULL;
}

static struct page *want_page(struct overcommit_status *b, const char *name)
{
	struct page *p = find_page(b, name);
	if (p)
		return p;
	p = mem_alloc(sizeof(*p));
	p->overcommit_status = b;
	p->name = mem_strdup(name);
	b->page = mem_grow(b->page, b->npages + 1, sizeof(struct page *));
	return b->page[b->npages++] = p;
}

static void remove_page(struct overcommit_status *b, struct page *p)
{
	size_t i = 0;
	while (b->page[i] != p)
		i++;
	b->page[i] = b->page[--b->npages];
	page_free(p);
}

void overcommit_status_lose(struct overcommit_status *b, const char *name)
{
	struct page *p = find_page(b, name);
	if (!p)
		return;
	p->lost = true;
	if (p->request == 0)
		remove_page(b, p);
}

void overcommit_status_see(struct overcommit_status *b, const struct cJSON *object)
{
	struct uid uid = {{0}};
	struct page *p = find_page(b, decode_name(object));
	decode_uid(object, &uid);
	if (p && uid_cmp(&p->uid, &uid) != 0) /* made anew, and without a status */
		overcommit_status_lose(b, decode_name(object));
	p = want_page(b, decode_name(object));
	p->uid = uid;
	p->written = false; /* a new spec: its generation is told, at least */
	const cJSON *c = json_condition(object, "Active");
	const char *status = json_text(c, "status"), *since = json_text(c, "lastTransitionTime");
	if (p->dated || !status || !since || strlen(since) >= sizeof(p->since.s))
		return;
	p->dated = true;
	p->is = strcmp(status, "True") == 0;
	strcpy(p->since.s, since);
}

/* ---- what is to be said ---------------------------------------------------------------------- */

static int64_t amount(int64_t figure)
{
	return figure > 0 ? figure : 0;
}

/* Gives what a node lends. Under both names each shows what the other has left of one pool. */
static struct load published(const struct figures *f)
{
	struct load batch = {amount(f->batch_cpu), amount(f->batch_memory)};
	struct load gocran = {amount(f->gocran_cpu) * 1000, amount(f->gocran_memory)};
	return load_max(batch, gocran);
}

static void count(const struct overcommit_status *b, const struct rule *u, struct notice *ret)
{
	const struct inventory_node *n;
	for (size_t i = 0; (n = inventory_node_at(b->o.inventory, i)); i++) {
		if (!n->facts || !rule_selects(u, n->facts))
			continue;
		ret->selected++;
		if (n->node_state.whose != u->name)
			continue;
		ret->nodes++;
		ret->degraded += n->node_state.degrade != DEGRADE_NOT;
		ret->lent = load_add(ret->lent, published(&n->node_state.there));
		ret->requested = load_add(ret->requested,
			load_add(n->node_state.batch_asked, n->node_state.gocran_asked));
	}
}

static void say(struct notice *n, bool active, const char *reason, const char *sentence)
{
	n->active = active;
	n->reason = reason;
	snprintf(n->message, sizeof(n->message), "%s", sentence);
}

static void say_invalid(struct notice *n, const struct rule *u)
{
	n->active = u->good && n->nodes > 0;
	n->reason = "InvalidSpec";
	snprintf(n->message, sizeof(n->message), "%.700s%s", u->fault,
		u->good ? "; the last valid spec stays in force" : "");
}

/* Chooses the reason: the first that a reader would have to act on. */
static void judge(const struct overcommit_status *b, const struct rule *u, const char *trouble,
	struct notice *n)
{
	char text[SENTENCE_MAX];
	n->generation = u->generation;
	count(b, u, n);
	if (u->fault)
		say_invalid(n, u);
	else if (overcommit_configs_has_configmap(b->o.overcommit_configs))
		say(n, false, "ConfigMapInUse",
			"the ConfigMap has the key colocation-config: it alone counts, for all nodes");
	else if (!u->good->layer.value.enable)
		say(n, false, "Disabled", "enable is false: the nodes it holds for lend nothing");
	else if (n->selected == 0)
		say(n, false, "NoNodes", "spec.nodeSelector selects no node");
	else if (n->nodes == 0)
		say(n, false, "Overshadowed",
			"each node it selects is selected by a NodeOvercommit before it in name order");
	else if (*trouble) {
		snprintf(text, sizeof(text), "%.800s", trouble);
		say(n, false, "MetricsUnavailable", text);
	} else {
		const char *note = strategy_note(&u->good->layer.value);
		snprintf(text, sizeof(text), "it says how much the nodes it holds for lend%s%s",
			note ? "; " : "", note ? note : "");
		say(n, true, "Active", text);
	}
}

/* Whether anything can be said yet. While the nodes are not known, only what needs none of them. */
static bool may_be_judged(const struct overcommit_status *b, const struct rule *u, bool known)
{
	return known || u->fault || overcommit_configs_has_configmap(b->o.overcommit_configs) ||
	       !u->good->layer.value.enable;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_load(struct json_writer *w, const char *key, struct load l)
{
	jw_object(w, key);
	quantity_put(w, "cpu", l.cpu_milli, "cpu");
	quantity_put(w, "memory", l.memory_bytes, "memory");
	jw_end(w);
}

static void put_status(
	struct buf *out, const struct page *p, const struct notice *n, int64_t now_ms)
{
	struct json_writer w = json_writer_object(out);
	jw_int(&w, "nodes", (int64_t)n->nodes);
	jw_int(&w, "degradedNodes", (int64_t)n->degraded);
	put_load(&w, "lent", n->lent);
	put_load(&w, "requested", n->requested);
	instant_put(&w, "lastUpdateTime", now_ms);
	jw_array(&w, "conditions");
	status_put_condition(
		&w, "Active", n->active, n->reason, n->message, p->since.s, n->generation);
	jw_close(&w);
}

static void on_written(const struct kube_answer *a, void *ctx)
{
	struct page *p = ctx;
	struct overcommit_status *b = p->overcommit_status;
	p->request = 0;
	b->under_way--;
	p->written = a->outcome == KUBE_DONE;
	if (a->outcome != KUBE_DONE && a->outcome != KUBE_GONE && !p->lost &&
		log_again(&b->complained_ms, b->now_ms))
		log_event(b->o.log, LEVEL_WARN, "status-not-written", "kind", "NodeOvercommit",
			"name", p->name, "why", a->sentence, NULL);
	if (p->lost)
		remove_page(b, p);
}

static void tell_turn(struct overcommit_status *b, const struct rule *u, const struct notice *n)
{
	struct events_subject of = {u->uid, "", u->name, "NodeOvercommit"};
	if (b->o.events && u->fault)
		events_tell(b->o.events, &of, EVENTS_WARNING, n->reason, n->message, b->now_ms);
}

static void write_page(
	struct overcommit_status *b, struct page *p, const struct rule *u, const struct notice *n)
{
	struct buf path, status, body;
	if (!p->dated || p->is != n->active) {
		p->dated = true;
		p->is = n->active;
		p->since = instant_seconds(b->now_ms);
	}
	if (!p->last.reason || strcmp(p->last.message, n->message) != 0)
		tell_turn(b, u, n);
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&status, STATUS_MAX_BYTES);
	buf_init(&body, STATUS_MAX_BYTES + STATUS_PATCH_EXTRA_BYTES);
	path_format(&path, "/apis/sluice.dev/v1alpha1/nodeovercommits/%s/status", p->name);
	put_status(&status, p, n, b->now_ms);
	status_patch(&body, &p->uid, 0, buf_slice(&status));
	struct kube_request request = {.method = KUBE_PATCH,
		.path = buf_text(&path),
		.content_type = KUBE_JSON_PATCH,
		.body = buf_slice(&body),
		.timeout_ms = TIMEOUT_MS};
	p->last = *n;
	p->last_ms = b->now_ms;
	b->under_way++;
	p->request = kube_client_send(b->o.client, &request, on_written, p);
	buf_done(&path);
	buf_done(&status);
	buf_done(&body);
}

/* ---- when ------------------------------------------------------------------------------------ */

static bool differ(int64_t a, int64_t b, int64_t percent)
{
	int64_t by = a > b ? a - b : b - a;
	return by > b / 100 * percent;
}

static bool loads_differ(const struct notice *a, const struct notice *b, int64_t percent)
{
	return differ(a->lent.cpu_milli, b->lent.cpu_milli, percent) ||
	       differ(a->lent.memory_bytes, b->lent.memory_bytes, percent) ||
	       differ(a->requested.cpu_milli, b->requested.cpu_milli, percent) ||
	       differ(a->requested.memory_bytes, b->requested.memory_bytes, percent);
}

static bool says_same(const struct notice *a, const struct notice *b)
{
	return a->active == b->active && a->nodes == b->nodes && a->degraded == b->degraded &&
	       a->generation == b->generation && strcmp(a->reason, b->reason) == 0 &&
	       strcmp(a->message, b->message) == 0;
}

static bool is_due(const struct overcommit_status *b, const struct page *p, const struct notice *n)
{
	int64_t age_ms = b->now_ms - p->last_ms;
	if (age_ms < 0 || p->last_ms == 0)
		age_ms = INT64_MAX;
	if (!p->last.reason)
		return true;
	if (!p->written || !says_same(n, &p->last))
		return age_ms >= RETRY_MS || p->written;
	return (age_ms >= MUCH_MS && loads_differ(n, &p->last, 10)) ||
	       (age_ms >= ANY_MS && loads_differ(n, &p->last, 0));
}

void overcommit_status_tick(
	struct overcommit_status *b, int64_t now_ms, bool known, const char *trouble)
{
	const struct rule *u;
	b->now_ms = now_ms;
	for (size_t i = 0; (u = overcommit_configs_at(b->o.overcommit_configs, i)); i++) {
		struct page *p = want_page(b, u->name);
		struct notice n = {0};
		if (p->request || b->under_way == UNDER_WAY_MAX || !may_be_judged(b, u, known))
			continue;
		judge(b, u, trouble, &n);
		if (is_due(b, p, &n))
			write_page(b, p, u, &n);
	}
}
