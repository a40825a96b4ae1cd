#include "controller/overcommit/kubelets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "controller/overcommit/usage_poller.h"
#include "controller/common/path.h"
#include "controller/wire/decode_node.h"

enum {
	UNDER_WAY_MAX = 8,
	TIMEOUT_MS = 10000,
	ANSWER_CEILING = 16 << 20,
	KEY_MAX = 600,
	READINGS_ROUNDS = 8, /* a reading that was not taken for so many rounds is forgotten */
};

#define NS_PER_MS INT64_C(1000000)

/* The last reading of a node ("/NAME") or a pod ("NS/NAME"). */
struct reading {
	int64_t at_ms, cpu_ns;
	uint32_t round;
	char key[];
};

struct asked {
	struct kubelets *kubelets;
	char *node; /* NULL: free */
	uint64_t id;
};

struct kubelets {
	struct kube_client *client;
	struct kubelets_events events;
	struct usage_poller_node *node; /* name and path in one block each */
	size_t nnodes, next;
	struct asked asked[UNDER_WAY_MAX];
	size_t under_way, silent;
	bool going;
	uint32_t round;
	int64_t now_ms;
	struct map readings;
	const char *answering; /* the node whose answer is being read */
	char first[300], trouble[500];
};

static bool reading_has_key(const void *value, const void *key)
{
	return strcmp(((const struct reading *)value)->key, key) == 0;
}

struct kubelets *kubelets_new(struct kube_client *client, const struct kubelets_events *e)
{
	struct kubelets *k = mem_alloc(sizeof(*k));
	k->client = client;
	k->events = *e;
	map_init(&k->readings, reading_has_key);
	return k;
}

static void forget_nodes(struct kubelets *k)
{
	for (size_t i = 0; i < k->nnodes; i++)
		free((char *)k->node[i].name);
	free(k->node);
	k->node = NULL;
	k->nnodes = 0;
}

void kubelets_free(struct kubelets *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < UNDER_WAY_MAX; i++) {
		kube_client_cancel(k->client, k->asked[i].id);
		free(k->asked[i].node);
	}
	map_free(&k->readings, free);
	forget_nodes(k);
	free(k);
}

static struct usage_poller_node copy_node(const struct usage_poller_node *n)
{
	size_t name = strlen(n->name) + 1, path = strlen(n->path) + 1;
	char *block = mem_alloc(name + path);
	memcpy(block, n->name, name);
	memcpy(block + name, n->path, path);
	return (struct usage_poller_node){block, block + name};
}

void kubelets_set(struct kubelets *k, const struct usage_poller_node *nodes, size_t n)
{
	forget_nodes(k);
	if (n == 0)
		return;
	k->node = mem_array(n, sizeof(*k->node));
	for (size_t i = 0; i < n; i++)
		k->node[i] = copy_node(&nodes[i]);
	k->nnodes = n;
}

/* ---- readings -------------------------------------------------------------------------------- */

static void put_sample(
	struct kubelets *k, const struct kubelet_usage *u, const struct reading *last)
{
	int64_t span_ms = u->at_ms - last->at_ms;
	struct usage_facts sample = {.ns = u->ns,
		.name = u->ns[0] ? u->name : k->answering,
		.at_ms = u->at_ms,
		/* thousandths of a core: microseconds of cpu a millisecond */
		.used = {(u->cpu_ns - last->cpu_ns) * 1000 / (span_ms * NS_PER_MS),
			u->memory_bytes}};
	k->events.sample(&sample, k->events.ctx);
}

static void on_usage(const struct kubelet_usage *u, void *ctx)
{
	struct kubelets *k = ctx;
	char key[KEY_MAX];
	int n = snprintf(key, sizeof(key), "%s/%s", u->ns, u->ns[0] ? u->name : k->answering);
	if (n < 0 || n >= KEY_MAX)
		return;
	struct reading *r = map_get(&k->readings, map_hash_string(key), key);
	if (!r) {
		r = mem_alloc(sizeof(*r) + (size_t)n + 1);
		memcpy(r->key, key, (size_t)n + 1);
		r->cpu_ns = INT64_MAX; /* counts as gone back */
		map_put(&k->readings, map_hash_string(key), r);
	}
	r->round = k->round;
	if (u->at_ms <= r->at_ms)
		return;
	int64_t gained_ns = u->cpu_ns - r->cpu_ns;
	if (gained_ns >= 0 && gained_ns <= INT64_MAX / 1000)
		put_sample(k, u, r);
	r->at_ms = u->at_ms;
	r->cpu_ns = u->cpu_ns;
}

static void forget_readings(struct kubelets *k)
{
	struct map kept;
	struct reading *r;
	map_init(&kept, reading_has_key);
	map_each(&k->readings, i, r) {
		if (k->round - r->round < READINGS_ROUNDS)
			map_put(&kept, map_hash_string(r->key), r);
		else
			free(r);
	}
	map_done(&k->readings);
	k->readings = kept;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void note_silent(struct kubelets *k, const char *node, const char *sentence)
{
	if (k->silent++ == 0)
		snprintf(k->first, sizeof(k->first), "node %.80s: %.200s", node, sentence);
}

static void finish(struct kubelets *k)
{
	k->going = false;
	k->trouble[0] = '\0';
	if (k->silent > 0)
		snprintf(k->trouble, sizeof(k->trouble),
			"%zu of %zu kubelets do not say what is used (%s); the controller needs get of nodes/proxy (deploy/components/kubelet-usage)",
			k->silent, k->nnodes, k->first);
	if (k->round % READINGS_ROUNDS == 0)
		forget_readings(k);
	k->events.over(k->events.ctx);
}

static void go_on(struct kubelets *k);

static void on_answer(const struct kube_answer *a, void *ctx)
{
	struct asked *q = ctx;
	struct kubelets *k = q->kubelets;
	struct err e = {""};
	char *node = q->node;
	*q = (struct asked){0};
	k->under_way--;
	k->answering = node;
	if (a->outcome != KUBE_DONE)
		note_silent(k, node, a->sentence);
	else if (decode_kubelet_usage(a->body, k->now_ms, on_usage, k, &e) != 0)
		note_silent(k, node, e.text);
	k->answering = NULL;
	free(node);
	go_on(k);
}

/* Whether a path, which is a node's own word, names a place on its kubelet and no other. */
static bool good_path(const char *path)
{
	if (path[0] != '/' || strstr(path, "/.") || strstr(path, "//"))
		return false;
	for (const char *c = path; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:",
			    *c))
			return false;
	return true;
}

static void ask(struct kubelets *k, const struct usage_poller_node *n)
{
	struct buf path;
	size_t i = 0;
	while (k->asked[i].id)
		i++;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, "/api/v1/nodes/%s/proxy", n->name);
	buf_puts(&path, good_path(n->path) ? n->path : "/metrics/resource");
	struct kube_request request = {.method = KUBE_GET,
		.path = buf_text(&path),
		.timeout_ms = TIMEOUT_MS,
		.answer_ceiling = ANSWER_CEILING};
	k->asked[i].kubelets = k;
	k->asked[i].node = mem_strdup(n->name);
	k->asked[i].id = kube_client_send(k->client, &request, on_answer, &k->asked[i]);
	k->under_way++;
	buf_done(&path);
}

static void go_on(struct kubelets *k)
{
	while (k->next < k->nnodes && k->under_way < UNDER_WAY_MAX)
		ask(k, &k->node[k->next++]);
	if (k->going && k->under_way == 0)
		finish(k);
}

void kubelets_go(struct kubelets *k, int64_t now_ms)
{
	k->now_ms = now_ms;
	k->round++;
	k->next = k->silent = 0;
	k->going = true;
	go_on(k);
}

const char *kubelets_trouble(const struct kubelets *k)
{
	return k->trouble;
}
