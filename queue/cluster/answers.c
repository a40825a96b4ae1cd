/* Answers: questions about the nodes as they are, and as they would be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "queue/cluster/fit_cache.h"
#include "queue/job/text.h"

#define DEFAULT_SCHEDULER "default-scheduler"
#define LINE_SIZE 384

/* Of pods of another scheduler nothing is known. A pod that names its node needs none. */
bool nodes_knows_scheduler(const struct pod *p)
{
	return strcmp(p->scheduler, DEFAULT_SCHEDULER) == 0 || *p->node_name;
}

/* ---- why none fits, in kube-scheduler's words and the order of its sorted text --------------- */

struct line {
	char text[LINE_SIZE];
};

static const char *words_of(enum obstacle o)
{
	static const char *const words[OBSTACLE_RESOURCE] = {
		[OBSTACLE_NOT_NAMED] = "node(s) didn't satisfy plugin(s) [NodeAffinity]",
		[OBSTACLE_CORDON] = "node(s) were unschedulable",
		[OBSTACLE_NODE_NAME] = "node(s) didn't match the requested node name",
		[OBSTACLE_TAINT] = "node(s) had untolerated taint(s)",
		[OBSTACLE_NODE_AFFINITY] = "node(s) didn't match Pod's node affinity/selector",
		[OBSTACLE_PORTS] = "node(s) didn't have free ports for the requested pod ports",
		[OBSTACLE_PODS] = "Too many pods",
		[OBSTACLE_SPREAD_LABEL] =
			"node(s) didn't match pod topology spread constraints (missing required label)",
		[OBSTACLE_SPREAD] = "node(s) didn't match pod topology spread constraints",
		[OBSTACLE_AFFINITY] = "node(s) didn't match pod affinity rules",
		[OBSTACLE_ANTI_AFFINITY] = "node(s) didn't match pod anti-affinity rules",
		[OBSTACLE_OTHERS_ANTI_AFFINITY] =
			"node(s) didn't satisfy existing pods anti-affinity rules",
	};
	return words[o];
}

static int line_cmp(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static struct line line_of(const struct fit_cache *s, size_t o, size_t count)
{
	struct line l;
	if (o < OBSTACLE_RESOURCE)
		snprintf(l.text, LINE_SIZE, "%zu %s", count, words_of((enum obstacle)o));
	else
		snprintf(l.text, LINE_SIZE, "%zu Insufficient %s", count,
			s->resource[o - OBSTACLE_RESOURCE].name);
	return l;
}

/* "0/20 nodes are available: 12 Insufficient cpu, 8 node(s) had untolerated taint(s)" */
static void fit_cache_sentence(const struct fit_cache *s, size_t nodes,
	const size_t counts[OBSTACLES], char *ret, size_t size)
{
	struct line line[OBSTACLES];
	struct text t = text_over(ret, size);
	size_t n = 0;
	if (nodes == 0) {
		text_add(&t, "no nodes available to schedule pods");
		return;
	}
	text_add(&t, "0/%zu nodes are available: ", nodes);
	if (filter_names_conflict(&s->pod)) {
		text_add(&t, "pod affinity terms conflict");
		return;
	}
	for (size_t o = 0; o < OBSTACLES; o++)
		if (counts[o] > 0)
			line[n++] = line_of(s, o, counts[o]);
	qsort(line, n, sizeof(*line), line_cmp);
	for (size_t i = 0; i < n; i++)
		text_add(&t, "%s%s", i ? ", " : "", line[i].text);
}

/* ---- of the nodes as they are ---------------------------------------------------------------- */

/* One question, with what is borrowed for it. */
struct question {
	struct arena arena;
	struct pod dressed;
	const struct pod *pod;
	struct fit_cache *fit_cache;
	struct anti_affinity **repels;
	size_t nrepels;
};

static void question_put(struct question *q, struct nodes *n, const struct pod *p)
{
	*q = (struct question){.nrepels = 0};
	owners_settle(n);
	q->pod = runtimes_dress(n, p, &q->arena, &q->dressed);
	q->fit_cache = fit_cache_of(n, q->pod);
	q->repels = anti_affinities_against(n, q->pod, &q->nrepels);
}

static struct tally question_tally(const struct question *q, const struct nodes *n)
{
	return fit_cache_tally(q->fit_cache, n, q->repels, q->nrepels);
}

static int32_t question_room(const struct question *q, const struct nodes *n, int32_t enough)
{
	struct tally t = question_tally(q, n);
	int64_t room = t.room;
	if (q->fit_cache->pod_affinity && !*q->fit_cache->pod.node_name && t.fitting > 0)
		room = fit_cache_place_all(q->fit_cache, n, q->repels, q->nrepels, enough);
	return (int32_t)least(room, enough);
}

static void question_done(struct question *q)
{
	arena_done(&q->arena);
	free(q->repels);
}

void nodes_fit(struct nodes *n, const struct pod *p, struct fit_answer *ret)
{
	struct question q;
	*ret = (struct fit_answer){.fit = FIT_NOW, .nodes = n->nknown, .suitable = n->nknown};
	if (!nodes_knows_scheduler(p))
		return;
	question_put(&q, n, p);
	struct tally t = question_tally(&q, n);
	question_done(&q);
	ret->suitable = t.suitable;
	if (t.fitting > 0)
		return;
	ret->fit = t.suitable > 0 ? FIT_NOT_NOW : FIT_NEVER;
	const size_t *counts = ret->fit == FIT_NEVER ? t.ever : t.now;
	ret->has_taints = counts[OBSTACLE_TAINT] > 0;
	fit_cache_sentence(q.fit_cache, n->nknown, counts, ret->sentence, sizeof(ret->sentence));
}

int32_t nodes_room(struct nodes *n, const struct pod *p, int32_t enough)
{
	struct question q;
	if (!nodes_knows_scheduler(p) || enough <= 0)
		return enough > 0 ? enough : 0;
	question_put(&q, n, p);
	int32_t room = question_room(&q, n, enough);
	question_done(&q);
	return room;
}

/* ---- of a world that is not so --------------------------------------------------------------- */

static void lift(struct nodes *n, struct node_pod *t, void *ctx)
{
	(void)ctx;
	node_pod_lift(n, t);
}

static void land(struct nodes *n, struct node_pod *t, void *ctx)
{
	(void)ctx;
	node_pod_land(n, t);
}

static void recount(struct nodes *n, struct node_pod *t, void *ctx)
{
	fit_cache_recount(ctx, n, t->node->slot);
}

/* Each owner once, even if it is named twice. */
static size_t find_owners(
	const struct nodes *n, const struct uid *uids, size_t nuids, const struct owner **ret)
{
	size_t found = 0;
	for (size_t i = 0; i < nuids; i++) {
		const struct owner *o = owner_find(n, &uids[i]);
		bool again = !o;
		for (size_t k = 0; k < found && !again; k++)
			again = ret[k] == o;
		if (!again)
			ret[found++] = o;
	}
	return found;
}

static void each_of(struct nodes *n, const struct owner *const *owner, size_t nowners,
	void (*act)(struct nodes *n, struct node_pod *t, void *ctx), void *ctx)
{
	for (size_t i = 0; i < nowners; i++)
		owner_each_node_pod(n, owner[i], act, ctx);
}

int32_t nodes_room_without(struct nodes *n, const struct pod *p, int32_t enough,
	const struct uid *owners, size_t nowners)
{
	struct question q;
	if (!nodes_knows_scheduler(p) || enough <= 0 || nowners == 0)
		return nodes_room(n, p, enough);
	const struct owner **gone = mem_array(nowners, sizeof(struct owner *));
	question_put(&q, n, p);
	size_t ngone = find_owners(n, owners, nowners, gone);
	each_of(n, gone, ngone, lift, NULL);
	each_of(n, gone, ngone, recount, q.fit_cache);
	int32_t room = question_room(&q, n, enough);
	each_of(n, gone, ngone, land, NULL);
	each_of(n, gone, ngone, recount, q.fit_cache);
	question_done(&q);
	free(gone);
	return room;
}

void nodes_fit_beside(struct nodes *n, const struct pod *p, int32_t pods, struct fit_answer *ret)
{
	owners_settle(n);
	owners_pretend(n, p, pods);
	nodes_fit(n, p, ret);
	owners_pretend_no_more(n);
}

/* ---- which flavor a node is of --------------------------------------------------------------- */

static bool has_taint(const struct site *s, const struct taint *wanted)
{
	for (size_t i = 0; i < s->ntaints; i++)
		if (s->taints[i].effect == wanted->effect &&
			strcmp(s->taints[i].key, wanted->key) == 0 &&
			strcmp(s->taints[i].value, wanted->value) == 0)
			return true;
	return false;
}

int node_likeness(const struct nodes *n, const char *name, const struct node_group *g)
{
	const struct node *node = map_get(&n->by_name, map_hash_string(name), name);
	if (!node || !node->known ||
		!labels_have(node->labels, node->nlabels, g->labels, g->nlabels))
		return -1;
	int like = (int)g->nlabels;
	for (size_t i = 0; i < g->ntaints; i++) {
		if (g->taints[i].effect == TAINT_PREFER_NO_SCHEDULE)
			continue;
		if (!has_taint(&node->shape->site, &g->taints[i]))
			return -1;
		like++;
	}
	return like;
}
