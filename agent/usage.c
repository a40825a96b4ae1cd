#include "agent/usage.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/monotonic.h"

void usage_open(struct usage *u, const char *proc)
{
	node_gauge_open(&u->node, proc);
	gauge_init(&u->pods);
}

void usage_close(struct usage *u)
{
	node_gauge_close(&u->node);
	gauge_close(&u->pods);
}

void usage_open_pods(struct usage *u, const struct cgroup_tree *tree)
{
	char *dir[HIERARCHIES] = {NULL};
	for (int h = 0; h < HIERARCHIES; h++)
		if (tree->tier[h])
			dir[h] = mem_strndup(tree->tier[h],
				(size_t)(strrchr(tree->tier[h], '/') - tree->tier[h]));
	gauge_open(&u->pods, tree, dir);
	for (int h = 0; h < HIERARCHIES; h++)
		free(dir[h]);
}

void usage_close_pods(struct usage *u)
{
	gauge_close(&u->pods);
}

void usage_read(struct usage *u, struct lent_pods *pods)
{
	int64_t now_us = monotonic_us();
	node_gauge_read(&u->node, now_us, &u->now.node);
	gauge_read(&u->pods, now_us, &u->now.pods);
	each_lent_pod(pods, p)
		lent_pod_read(p, now_us);
}

void usage_shift_tick(struct usage *u, struct lent_pods *pods)
{
	u->tick = u->now;
	each_lent_pod(pods, p)
		p->tick = p->own.now;
}

void usage_shift_sent(struct usage *u, struct lent_pods *pods)
{
	u->sent = u->now;
	each_lent_pod(pods, p)
		p->sent = p->own.now;
}

void usage_shift_told(struct usage *u, struct lent_pods *pods)
{
	u->told = u->sent;
	each_lent_pod(pods, p)
		p->told = p->sent;
}
