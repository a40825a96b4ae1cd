#include "agent/idle.h"

enum { WEIGHT_V1 = 2, WEIGHT_V2 = 1 }; /* of the tier, as a kubelet has it */

bool tier_idle_open(struct tier_idle *t, const struct cgroup_tree *tree, struct notices *notices)
{
	const char *dir = tree->tier[HIERARCHY_CPU];
	enum cgroup_version v = tree->version[HIERARCHY_CPU];
	t->ours = false;
	t->weight_before = LIMIT_NONE;
	t->idle = t->weight = (struct knob){.fd = -1, .period_fd = -1, .watch = -1};
	if (!dir || !knob_open(&t->idle, dir, KNOB_IDLE, v) ||
		!knob_open(&t->weight, dir, KNOB_WEIGHT, v))
		return false;
	t->idle.watch = notices_watch_file(notices, dir, knob_file(&t->idle), t);
	return true;
}

void tier_idle_close(struct tier_idle *t, struct notices *notices)
{
	notices_forget(notices, t->idle.watch);
	knob_close(&t->idle);
	knob_close(&t->weight);
}

static int set(struct tier_idle *t, int64_t now_ms)
{
	int64_t weight;
	if (knob_read(&t->weight, now_ms, &weight))
		t->weight_before = weight;
	return knob_write(&t->idle, 1);
}

static int give_back(struct tier_idle *t)
{
	int64_t least = t->weight.version == CGROUP_V2 ? WEIGHT_V2 : WEIGHT_V1;
	int code = knob_write(&t->idle, 0);
	if (code != 0)
		return code;
	return knob_write(&t->weight, t->weight_before == LIMIT_NONE ? least : t->weight_before);
}

int tier_idle_set(struct tier_idle *t, bool on, int64_t now_ms)
{
	int64_t now;
	int code = 0;
	if (!knob_is_there(&t->idle) || !knob_read(&t->idle, now_ms, &now))
		return 0;
	if (on && now == 0 && !knob_yields(&t->idle))
		code = set(t, now_ms);
	else if (!on && t->ours && now == 1)
		code = give_back(t);
	if (code == 0)
		t->ours = on;
	return code;
}
