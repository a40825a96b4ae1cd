#include "agent/keeper.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/cpu_division.h"
#include "agent/file.h"
#include "agent/idle.h"
#include "agent/memory_guard.h"
#include "agent/report.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/order.h"

enum {
	TICK_MS = 1000,
	FAST_TICK_MS = 250,
	FAST_FOR_MS = 10000, /* after a pod was held */
	LATE_MS = 3000,	     /* a tick so late is of a node that slept */
	SCAN_MS = 5000,
};

struct keeper {
	struct keeper_options options;
	struct site site;
	struct tier_idle idle; /* while the tier is held */
	struct lent_pods pods;
	struct usage usage;
	struct memory_guard guard;
	struct cpu_division division;
	struct report report;
	ev_timer beat;
	int64_t due_ms, last_ms;	    /* of ticks: the next, the last */
	int64_t shift_ms, scan_ms, held_ms; /* last shift of usage, next scan, last held pod */
	bool began;			    /* the division has, on this tier */
	char said[LOG_TROUBLE_MAX];	    /* why there is no tier */
};

/* ---- when the next tick comes ---------------------------------------------------------------- */

static void on_beat(struct ev_loop *loop, ev_timer *beat, int revents)
{
	(void)loop;
	(void)revents;
	keeper_tick(beat->data);
}

static void arm(struct keeper *k, int64_t now_ms)
{
	int64_t doom_ms = k->guard.doom_ms;
	int64_t at_ms = doom_ms > 0 ? least(doom_ms, k->due_ms) : k->due_ms;
	ev_now_update(k->options.loop);
	ev_timer_stop(k->options.loop, &k->beat);
	ev_timer_set(&k->beat, (double)greater(at_ms - now_ms, 0) / 1000.0, 0.);
	ev_timer_start(k->options.loop, &k->beat);
}

/* Has the next tick come at once. */
static void hasten(struct keeper *k)
{
	k->due_ms = monotonic_ms();
	arm(k, k->due_ms);
}

static void on_lost(void *ctx)
{
	struct keeper *k = ctx;
	k->scan_ms = 0;
	hasten(k);
}

static void on_pressure(void *ctx)
{
	hasten(ctx);
}

/* ---- the tier -------------------------------------------------------------------------------- */

static void open_tier(struct keeper *k)
{
	const struct cgroup_tree *tree = &k->site.tree;
	k->scan_ms = 0;
	k->began = false;
	tier_idle_open(&k->idle, &k->site);
	usage_open_pods(&k->usage, tree);
	for (int h = 0; h < HIERARCHIES; h++)
		if (tree->tier[h])
			notices_watch_dir(k->site.notices, tree->tier[h], NULL);
	log_event(k->options.log, LEVEL_INFO, "tier", "path", cgroup_tree_first(tree), "driver",
		tree->systemd ? "systemd" : "cgroupfs", "cpu",
		tree->version[HIERARCHY_CPU] == CGROUP_V2 ? "v2" : "v1", NULL);
}

/* Finds the tier and takes it. Returns what site_hold() does. */
static int hold_tier(struct keeper *k)
{
	struct err e = {""};
	if (site_is_held(&k->site))
		return 0;
	int rc = site_hold(&k->site, k->options.cgroups, k->options.tier, &e);
	if (rc < 0) {
		log_trouble(k->options.log, k->said, rc == ERR_BUSY ? "waits" : "no tier", e.text,
			"nothing is limited by this agent until then");
		return rc;
	}
	k->said[0] = '\0';
	open_tier(k);
	return 0;
}

static void drop_tier(struct keeper *k)
{
	if (!site_is_held(&k->site))
		return;
	lent_pods_drop(&k->pods);
	usage_close_pods(&k->usage);
	tier_idle_close(&k->idle, &k->site);
	site_drop(&k->site);
}

bool keeper_has_tier(const struct keeper *k)
{
	return site_is_held(&k->site);
}

/* Looks for pods. False: the tier is gone. */
static bool scan(struct keeper *k, int64_t now_ms)
{
	if (!lent_pods_scan(&k->pods, now_ms))
		return false;
	if (k->pods.orders && !k->began) {
		k->began = true;
		cpu_division_begin(&k->division, &k->pods);
	}
	return true;
}

static void mind_idle(struct keeper *k, int64_t now_ms)
{
	const struct orders *o = k->pods.orders;
	bool lends = o && o->lends && k->pods.count > 0;
	tier_idle_mind(&k->idle, &k->site, lends ? o->idle : CPU_IDLE_NEVER, now_ms);
}

/* ---- the tick -------------------------------------------------------------------------------- */

/* How a tick came. */
enum pace {
	PACE_USUAL,
	PACE_BRIEF, /* so soon after the last one that use says nothing */
	PACE_LATE,  /* the node slept, and what was used meanwhile is use of no tick */
};

static enum pace pace_of(const struct keeper *k, int64_t now_ms)
{
	if (k->last_ms > 0 && now_ms - k->due_ms > LATE_MS)
		return PACE_LATE;
	return now_ms - k->shift_ms < USAGE_BRIEF_MS ? PACE_BRIEF : PACE_USUAL;
}

static void settle_all(struct keeper *k, int64_t now_ms)
{
	each_lent_pod(&k->pods, p) {
		lent_pod_settle(p, now_ms);
		if (p->share_milli != LIMIT_NONE || p->clamp_bytes != LIMIT_NONE)
			k->held_ms = now_ms;
	}
}

/* Decides and writes. */
static void decide(struct keeper *k, int64_t now_ms, enum pace pace)
{
	if (!k->pods.orders || !site_is_held(&k->site))
		return;
	if (memory_guard_look(&k->guard, &k->pods, &k->usage.now.node, now_ms))
		k->options.report(true, k->options.ctx);
	if (pace == PACE_USUAL)
		cpu_division_look(&k->division, &k->pods, &k->usage, now_ms);
	if (pace != PACE_LATE)
		cpu_division_share_out(&k->division, &k->pods);
	settle_all(k, now_ms);
	mind_idle(k, now_ms);
}

/* Ends the window of this tick; what was used in a late one is told to nobody. */
static void shift(struct keeper *k, int64_t now_ms, enum pace pace)
{
	k->shift_ms = now_ms;
	usage_shift_tick(&k->usage, &k->pods);
	if (pace == PACE_LATE || k->usage.told.node.at_us == 0) {
		usage_shift_sent(&k->usage, &k->pods);
		usage_shift_told(&k->usage, &k->pods);
	}
}

/* Gives the time to the next tick. */
static int64_t interval_ms(const struct keeper *k, int64_t now_ms)
{
	const struct orders *o = k->pods.orders;
	const struct node_reading *node = &k->usage.now.node;
	bool held = k->held_ms > 0 && now_ms - k->held_ms < FAST_FOR_MS;
	if (!site_is_held(&k->site))
		return SCAN_MS;
	if (!o || k->pods.count == 0)
		return TICK_MS;
	if (held || squeeze_is_near(&k->guard.squeeze, o, node->total_bytes, node->available_bytes))
		return FAST_TICK_MS;
	return TICK_MS;
}

static void tick(struct keeper *k, int64_t now_ms)
{
	enum pace pace = pace_of(k, now_ms);
	k->last_ms = now_ms;
	k->due_ms = now_ms + TICK_MS;
	if (hold_tier(k) == ERR_BUSY)
		return;
	if (site_is_held(&k->site) && now_ms >= k->scan_ms) {
		k->scan_ms = now_ms + SCAN_MS;
		if (!scan(k, now_ms)) {
			drop_tier(k);
			return;
		}
	}
	usage_read(&k->usage, &k->pods);
	decide(k, now_ms, pace);
	if (pace != PACE_LATE && report_is_due(&k->report, &k->pods, &k->usage, now_ms))
		k->options.report(false, k->options.ctx);
	if (pace != PACE_BRIEF)
		shift(k, now_ms, pace);
	k->due_ms = now_ms + interval_ms(k, now_ms);
}

void keeper_tick(struct keeper *k)
{
	int64_t now_ms = monotonic_ms();
	memory_guard_end(&k->guard, &k->pods, now_ms);
	if (now_ms >= k->due_ms)
		tick(k, now_ms);
	arm(k, now_ms);
}

/* ---- between ticks --------------------------------------------------------------------------- */

/* A pod's directory was made, or a container's in one of a pod (owner): its limits are written
 * before anything is in it. */
static void on_made(void *owner, const char *name, void *ctx)
{
	struct keeper *k = ctx;
	int64_t now_ms = monotonic_ms();
	struct lent_pod *p = owner;
	if (p)
		lent_pod_open_containers(p);
	else
		p = lent_pods_see(&k->pods, name, now_ms);
	if (!p)
		return;
	lent_pod_read(p, monotonic_us());
	memory_guard_take_in(&k->guard, &k->pods, p);
	if (cpu_division_share_out(&k->division, &k->pods))
		settle_all(k, now_ms);
	else
		lent_pod_settle(p, now_ms);
}

static void on_changed(void *owner, void *ctx)
{
	struct keeper *k = ctx;
	if (owner == &k->idle)
		tier_idle_changed(&k->idle, monotonic_ms());
	else
		lent_pod_settle(owner, monotonic_ms());
}

/* ---- orders and samples ---------------------------------------------------------------------- */

int64_t keeper_generation(const struct keeper *k)
{
	return k->pods.orders ? k->pods.orders->generation : 0;
}

void keeper_take_orders(struct keeper *k, struct orders *o)
{
	lent_pods_take_orders(&k->pods, o, monotonic_ms());
	k->scan_ms = 0;
	hasten(k);
}

void keeper_put_sample(struct keeper *k, struct buf *out)
{
	report_put(&k->report, &k->pods, &k->usage, k->division.may_milli, out);
}

void keeper_acknowledge(struct keeper *k)
{
	report_acknowledge(&k->report, &k->pods, &k->usage);
}

/* ---- its life -------------------------------------------------------------------------------- */

int keeper_new(const struct keeper_options *o, struct keeper **ret, struct err *e)
{
	struct keeper *k = mem_alloc(sizeof(*k));
	struct notices_events events = {on_made, on_changed, on_lost, on_pressure, k};
	char pressure[FILE_PATH_SIZE];
	k->options = *o;
	k->site = (struct site){.log = o->log, .lock = -1, .lacks = LACKS_TIER};
	int rc = notices_new(o->loop, &events, &k->site.notices, e);
	if (rc < 0) {
		free(k);
		return rc;
	}
	if (!file_path(o->proc, "pressure/memory", pressure) ||
		!notices_watch_pressure(k->site.notices, pressure))
		k->site.lacks |= LACKS_PRESSURE;
	lent_pods_init(&k->pods, &k->site);
	usage_open(&k->usage, o->proc);
	k->division.may_milli = -1;
	report_init(&k->report);
	ev_timer_init(&k->beat, on_beat, 0., 0.);
	k->beat.data = k;
	ev_timer_start(o->loop, &k->beat);
	*ret = k;
	return 0;
}

void keeper_give_back(struct keeper *k)
{
	int64_t now_ms = monotonic_ms();
	if (!site_is_held(&k->site))
		return;
	each_lent_pod(&k->pods, p) {
		p->share_milli = p->clamp_bytes = LIMIT_NONE;
		lent_pod_settle(p, now_ms);
	}
	tier_idle_mind(&k->idle, &k->site, CPU_IDLE_NEVER, now_ms);
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	ev_timer_stop(k->options.loop, &k->beat);
	drop_tier(k);
	usage_close(&k->usage);
	lent_pods_done(&k->pods);
	notices_free(k->site.notices);
	free(k);
}
