/* Why no node fits, in kube-scheduler's words and the order of its sorted text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/cluster/fit_cache.h"
#include "queue/job/text.h"

#define LINE_SIZE 384

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

void fit_cache_sentence(const struct fit_cache *s, size_t nodes, const size_t counts[OBSTACLES],
	char *ret, size_t size)
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
