#include "agent/idle.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "node/suppress.h"

enum { REST_MS = 200 };

void tier_idle_open(struct tier_idle *t, struct site *site)
{
	const char *dir = site->tree.tier[HIERARCHY_CPU];
	enum cgroup_version v = site->tree.version[HIERARCHY_CPU];
	struct utsname name;
	*t = (struct tier_idle){.weight_before = LIMIT_NONE};
	if (uname(&name) == 0)
		sscanf(name.release, "%d.%d", &t->kernel_major, &t->kernel_minor);
	bool is_there = knob_open(&t->idle, dir, KNOB_IDLE, v);
	if (!knob_open(&t->weight, dir, KNOB_WEIGHT, v) || !is_there || !site->tree.systemd)
		site->lacks |= LACKS_IDLE;
	else
		t->idle.watch = notices_watch_file(site->notices, dir, knob_file(&t->idle), t);
}

void tier_idle_close(struct tier_idle *t, struct site *site)
{
	notices_forget(site->notices, t->idle.watch);
	knob_close(&t->idle);
	knob_close(&t->weight);
}

void tier_idle_changed(struct tier_idle *t, int64_t now_ms)
{
	t->changed_ms = now_ms;
}

static int set(struct tier_idle *t, int64_t now_ms)
{
	int64_t weight;
	if (knob_read(&t->weight, now_ms, &weight))
		t->weight_before = weight;
	return knob_write(&t->idle, 1);
}

/* Makes the tier ordinary, with the weight of before or a kubelet's. */
static int give_back(struct tier_idle *t)
{
	int64_t weight = t->weight_before;
	int code = knob_write(&t->idle, 0);
	if (code != 0)
		return code;
	return knob_write(
		&t->weight, weight == LIMIT_NONE ? limits_weight_least(t->weight.version) : weight);
}

bool tier_idle_mind(struct tier_idle *t, struct site *site, enum cpu_idle wanted, int64_t now_ms)
{
	bool on = suppress_wants_idle(wanted, t->kernel_major, t->kernel_minor);
	bool rests = now_ms - t->changed_ms < REST_MS || knob_yields(&t->idle);
	int64_t now;
	int code = 0;
	if ((site->lacks & LACKS_IDLE) || !knob_read(&t->idle, now_ms, &now))
		return true;
	t->ours = t->ours && now == 1;
	if (on && now == 0 && !rests) {
		code = set(t, now_ms);
		t->ours = code == 0;
	} else if (!on && t->ours) {
		code = give_back(t);
		t->ours = code != 0;
	}
	if (code != 0 && !t->idle.told_refusal)
		log_event(site->log, LEVEL_WARN, "refused", "file", "cpu.idle", "why",
			strerror(code), NULL);
	t->idle.told_refusal |= code != 0;
	return code == 0;
}
