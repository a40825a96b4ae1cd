#include "agent/keeper.h"

#include <errno.h>
#include <ev.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/deeds.h"
#include "agent/idle.h"
#include "agent/lent_pod.h"
#include "agent/meter.h"
#include "agent/notices.h"
#include "agent/tree.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "controller/common/seed.h"
#include "node/share_out.h"
#include "node/squeeze.h"
#include "node/suppress.h"
#include "node/wire.h"

enum {
	TICK_MS = 1000,
	FAST_TICK_MS = 250,
	FAST_FOR_MS = 10000, /* after a pod was held */
	BRIEF_MS = 200,	     /* use over less time says nothing: the node counts in 10 ms */
	LATE_MS = 3000,	     /* a tick so late is of a node that slept */
	SCAN_MS = 5000,
	TELL_MS = 20,		/* from the sample on its way to the end of a pod */
	ENDED_AGAIN_MS = 10000, /* before a pod that was ended is looked at again */
	CLAMP_LEAST = 16 << 20,
	NEAR_PERCENT = 10, /* below the mark from which on pods are held */
	REPORT_MS = 1000,
	REPORT_STILL_MS = 5000,	 /* where little moves */
	REPORT_EMPTY_MS = 30000, /* without a lent pod */
	BEGIN_MS = 30000,	 /* in which a leader gets to know a node that begins to lend */
	MADE_MAX = 4,
	PATH_SIZE = 4096,
};

/* Readings of the node, of all its pods, at one moment. */
struct moment {
	struct node_reading node;
	struct reading pods;
};

struct keeper {
	struct keeper_options options;
	struct orders *orders; /* NULL: none yet */
	struct link pods;      /* struct lent_pod */
	size_t npods;
	struct notices *notices;
	struct deeds deeds;
	/* The tier, once it was found and locked. */
	struct cgroup_tree tree;
	int lock; /* -1: not so */
	struct pod_site site;
	struct tier_idle idle;
	bool has_idle, has_pressure, began;
	unsigned lacks;
	int kernel_major, kernel_minor;
	/* What is measured. */
	struct node_gauge node;
	struct gauge kubepods;
	struct moment now, tick, told; /* newest; of the tick before; of the sample before */
	int64_t told_cpu_milli, told_working_bytes, told_orders;
	/* What is decided. */
	struct squeeze squeeze;
	struct suppress suppress;
	int64_t may_milli; /* -1: not divided */
	bool has_doomed;
	struct uid doomed;
	int64_t doom_ms;
	/* When. */
	ev_timer beat;
	int64_t due_ms, last_ms, shift_ms, scan_ms, held_ms, report_ms;
	int64_t lends_ms;	    /* since when orders lend; 0: they do not */
	char said[LOG_TROUBLE_MAX]; /* why there is no tier */
	/* What is told. */
	char boot[UID_TEXT_SIZE];
	int64_t samples;
	struct {
		int64_t sample, deed;
	} made[MADE_MAX]; /* the newest deed in each of the last samples */
};

/* ---- its beginning and end ------------------------------------------------------------------- */

static void on_beat(struct ev_loop *loop, ev_timer *beat, int revents)
{
	(void)loop;
	(void)revents;
	keeper_tick(beat->data);
}

static void arm(struct keeper *k, int64_t now_ms)
{
	int64_t at_ms = k->due_ms;
	if (k->has_doomed && k->doom_ms < at_ms)
		at_ms = k->doom_ms;
	ev_now_update(k->options.loop);
	ev_timer_stop(k->options.loop, &k->beat);
	ev_timer_set(&k->beat, at_ms > now_ms ? (double)(at_ms - now_ms) / 1000.0 : 0., 0.);
	ev_timer_start(k->options.loop, &k->beat);
}

static void on_made(void *owner, const char *name, void *ctx);
static void on_changed(void *owner, void *ctx);

/* Has the next tick come at once. */
static void hasten(struct keeper *k)
{
	int64_t now_ms = monotonic_ms();
	k->due_ms = now_ms;
	arm(k, now_ms);
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

static void draw_boot(char ret[UID_TEXT_SIZE])
{
	uint64_t half[2] = {seed_draw(), seed_draw()};
	struct uid uid;
	memcpy(uid.byte, half, sizeof(uid.byte));
	uid_format(&uid, ret);
}

int keeper_new(const struct keeper_options *o, struct keeper **ret, struct err *e)
{
	struct keeper *k = mem_alloc(sizeof(*k));
	struct notices_events events = {on_made, on_changed, on_lost, on_pressure, k};
	struct utsname name;
	char pressure[PATH_SIZE];
	k->options = *o;
	k->lock = -1;
	k->may_milli = -1;
	list_init(&k->pods);
	gauge_init(&k->kubepods);
	if (uname(&name) == 0)
		sscanf(name.release, "%d.%d", &k->kernel_major, &k->kernel_minor);
	int rc = notices_new(o->loop, &events, &k->notices, e);
	if (rc < 0) {
		free(k);
		return rc;
	}
	snprintf(pressure, sizeof(pressure), "%s/pressure/memory", o->proc);
	k->has_pressure = notices_watch_pressure(k->notices, pressure);
	k->lacks = LACKS_TIER | (k->has_pressure ? 0 : LACKS_PRESSURE);
	node_gauge_open(&k->node, o->proc);
	draw_boot(k->boot);
	ev_timer_init(&k->beat, on_beat, 0., 0.);
	k->beat.data = k;
	ev_timer_start(o->loop, &k->beat);
	*ret = k;
	return 0;
}

static void drop_pod(struct keeper *k, struct lent_pod *p)
{
	list_leave(&p->in_keeper);
	k->npods--;
	lent_pod_free(p, &k->site);
}

static void drop_pods(struct keeper *k)
{
	while (!list_empty(&k->pods))
		drop_pod(k, container_of(k->pods.next, struct lent_pod, in_keeper));
}

static void drop_tier(struct keeper *k)
{
	if (k->lock < 0)
		return;
	drop_pods(k);
	gauge_close(&k->kubepods);
	tier_idle_close(&k->idle, k->notices);
	cgroup_tree_done(&k->tree);
	close(k->lock);
	k->lock = -1;
	k->lacks = LACKS_TIER | (k->has_pressure ? 0 : LACKS_PRESSURE);
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	ev_timer_stop(k->options.loop, &k->beat);
	drop_tier(k);
	node_gauge_close(&k->node);
	notices_free(k->notices);
	orders_free(k->orders);
	free(k);
}

/* ---- the tier -------------------------------------------------------------------------------- */

static bool tier_has(const struct cgroup_tree *t, enum hierarchy h, const char *file)
{
	char path[PATH_SIZE];
	if (!t->tier[h])
		return false;
	snprintf(path, sizeof(path), "%s/%s", t->tier[h], file);
	return access(path, F_OK) == 0;
}

static unsigned what_lacks(const struct keeper *k)
{
	const struct cgroup_tree *t = &k->tree;
	return (t->tier[HIERARCHY_CPU] ? 0u : LACKS_CPU) |
	       (t->tier[HIERARCHY_MEMORY] ? 0u : LACKS_MEMORY) |
	       (tier_has(t, HIERARCHY_MEMORY, "memory.high") ? 0u : LACKS_HOLD) |
	       (tier_has(t, HIERARCHY_MEMORY, "cgroup.kill") ? 0u : LACKS_END) |
	       (t->systemd && k->has_idle ? 0u : LACKS_IDLE) |
	       (k->has_pressure ? 0u : LACKS_PRESSURE);
}

/* Opens what says how much all pods of the node use: the directory above the tier. */
static void open_kubepods(struct keeper *k)
{
	char *dir[HIERARCHIES] = {NULL};
	for (int h = 0; h < HIERARCHIES; h++)
		if (k->tree.tier[h])
			dir[h] = mem_strndup(k->tree.tier[h],
				(size_t)(strrchr(k->tree.tier[h], '/') - k->tree.tier[h]));
	gauge_open(&k->kubepods, &k->tree, dir);
	for (int h = 0; h < HIERARCHIES; h++)
		free(dir[h]);
}

static void watch_tier(struct keeper *k)
{
	for (int h = 0; h < HIERARCHIES; h++)
		if (k->tree.tier[h])
			notices_watch_dir(k->notices, k->tree.tier[h], NULL);
}

/* Finds the tier and takes it for this agent alone. Returns 0; ERR_GONE: there is none; ERR_BUSY:
 * another agent has it. */
static int hold_tier(struct keeper *k)
{
	struct err e = {""};
	if (k->lock >= 0)
		return 0;
	int rc = cgroup_tree_find(k->options.cgroups, k->options.tier, &k->tree, &e);
	if (rc == 0 && (rc = cgroup_tree_lock(&k->tree, &k->lock, &e)) < 0)
		cgroup_tree_done(&k->tree);
	if (rc < 0) {
		log_trouble(k->options.log, k->said, rc == ERR_BUSY ? "waits" : "no tier", e.text,
			"nothing is limited by this agent until then");
		return rc;
	}
	k->said[0] = '\0';
	k->site = (struct pod_site){&k->tree, k->notices, &k->deeds, k->options.log};
	k->has_idle = tier_idle_open(&k->idle, &k->tree, k->notices);
	k->lacks = what_lacks(k);
	open_kubepods(k);
	watch_tier(k);
	k->scan_ms = 0;
	k->began = false;
	log_event(k->options.log, LEVEL_INFO, "tier", "path", cgroup_tree_first(&k->tree), "driver",
		k->tree.systemd ? "systemd" : "cgroupfs", "cpu",
		k->tree.version[HIERARCHY_CPU] == CGROUP_V2 ? "v2" : "v1", NULL);
	return 0;
}

bool keeper_has_tier(const struct keeper *k)
{
	return k->lock >= 0;
}

/* ---- pods ------------------------------------------------------------------------------------ */

#define each_pod(k, p) list_each_entry(&(k)->pods, struct lent_pod, p, in_keeper)

static struct lent_pod *find_pod(const struct keeper *k, const struct uid *uid)
{
	each_pod(k, p) if (uid_cmp(&p->uid, uid) == 0) return p;
	return NULL;
}

/* Looks at a directory of the tier: a lent pod that is new, or one of whose directories is. Returns
 * it; NULL: no lent pod. */
static struct lent_pod *see_pod(struct keeper *k, const char *name, int64_t now_ms)
{
	struct uid uid;
	if (!k->orders || !cgroup_pod_uid(name, &uid))
		return NULL;
	const struct ordered_pod *o = orders_find(k->orders, &uid);
	struct lent_pod *p = o ? find_pod(k, &uid) : NULL;
	if (!o || p) {
		if (p)
			lent_pod_open(p, &k->site, name);
		return p;
	}
	p = lent_pod_new(&uid);
	lent_pod_take_order(p, &k->site, o, k->orders->limits);
	if (!lent_pod_open(p, &k->site, name)) {
		lent_pod_free(p, &k->site);
		return NULL;
	}
	list_add(&k->pods, &p->in_keeper);
	k->npods++;
	lent_pod_read(p, monotonic_us());
	p->tick = p->own.now;
	lent_pod_find(p, &k->site, now_ms);
	if (p->clamp_bytes != LIMIT_NONE && k->squeeze.level == SQUEEZE_CALM)
		k->squeeze.level = SQUEEZE_HELD; /* until a look says otherwise */
	return p;
}

static void found_child(const char *name, void *ctx)
{
	see_pod(ctx, name, monotonic_ms());
}

/* Adds up the quotas that were found; -1: a pod has none. */
static int64_t found_milli(const struct keeper *k)
{
	int64_t sum = 0;
	each_pod(k, p)
	{
		int64_t milli = lent_pod_quota_milli(p);
		if (p->own.asked.cpu_milli > 0 && milli == LIMIT_NONE)
			return -1;
		sum += milli == LIMIT_NONE ? 0 : milli;
	}
	return k->npods > 0 ? sum : -1;
}

/* Looks at all directories of the tier, and forgets pods that are gone. False: so is the tier. */
static bool scan(struct keeper *k)
{
	bool there = true;
	for (int h = 0; h < HIERARCHIES && there; h++)
		if (k->tree.tier[h])
			there = cgroup_each_child(k->tree.tier[h], found_child, k);
	if (!there)
		return false;
	for (struct link *l = k->pods.next, *next; l != &k->pods; l = next) {
		struct lent_pod *p = container_of(l, struct lent_pod, in_keeper);
		next = l->next;
		if (!lent_pod_is_there(p))
			drop_pod(k, p);
	}
	if (k->orders && !k->began) {
		k->began = true;
		suppress_begin(&k->suppress, found_milli(k));
	}
	return true;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void note(struct keeper *k, const struct lent_pod *p, enum deed_kind kind, int64_t value)
{
	char uid[UID_TEXT_SIZE];
	uid_format(&p->uid, uid);
	deeds_note(&k->deeds, kind, &p->uid, NULL, value);
	log_event(k->options.log, LEVEL_INFO, deed_names[kind], "pod", uid, "#bytes",
		LOG_NUMBER(value), NULL);
}

static bool can_clamp(const struct keeper *k)
{
	return k->orders->hold_percent > 0 && k->tree.tier[HIERARCHY_MEMORY] &&
	       (k->tree.version[HIERARCHY_MEMORY] == CGROUP_V1 || !(k->lacks & LACKS_HOLD));
}

/* Holds a pod at what it uses now. A pod that has only just begun gets a little more, or it would
 * never begin. */
static void clamp(struct keeper *k, struct lent_pod *p)
{
	int64_t used = p->own.now.memory_bytes;
	if (!can_clamp(k) || p->clamp_bytes != LIMIT_NONE || used < 0)
		return;
	p->clamp_bytes = limits_pages(used > CLAMP_LEAST ? used : CLAMP_LEAST);
	note(k, p, DEED_HELD, p->clamp_bytes);
}

static void unclamp(struct keeper *k, struct lent_pod *p)
{
	if (p->clamp_bytes == LIMIT_NONE)
		return;
	p->clamp_bytes = LIMIT_NONE;
	note(k, p, DEED_LIFTED, p->own.now.memory_bytes >= 0 ? p->own.now.memory_bytes : 0);
}

/* Finds the first pod, in the order of the orders, that may be ended and has processes. */
static struct lent_pod *next_to_end(const struct keeper *k, int64_t now_ms)
{
	for (size_t i = 0; i < k->orders->npods; i++) {
		struct lent_pod *p = find_pod(k, &k->orders->pods[i].uid);
		bool again = p && p->ended_ms > 0 && now_ms - p->ended_ms < ENDED_AGAIN_MS;
		if (p && !p->stays && !again && lent_pod_is_populated(p))
			return p;
	}
	return NULL;
}

/* Marks a pod for its end, and has the controller told first. */
static void doom(struct keeper *k, int64_t now_ms)
{
	struct lent_pod *p =
		k->has_doomed || (k->lacks & LACKS_END) ? NULL : next_to_end(k, now_ms);
	if (!p)
		return;
	k->has_doomed = true;
	k->doomed = p->uid;
	k->doom_ms = now_ms + TELL_MS;
	p->ended_ms = now_ms;
	note(k, p, DEED_ENDED, p->own.now.memory_bytes >= 0 ? p->own.now.memory_bytes : 0);
	k->options.report(true, k->options.ctx);
}

/* Ends the pod that was marked, if the newest orders still let it be ended. */
static void end_doomed(struct keeper *k, int64_t now_ms)
{
	if (!k->has_doomed || now_ms < k->doom_ms)
		return;
	k->has_doomed = false;
	const struct lent_pod *p = find_pod(k, &k->doomed);
	if (!p || p->stays)
		return;
	squeeze_ended(&k->squeeze, now_ms);
	int code = lent_pod_end(p);
	if (code == 0 || code == ENODEV)
		return;
	char uid[UID_TEXT_SIZE];
	uid_format(&p->uid, uid);
	deeds_note(&k->deeds, DEED_REFUSED, &p->uid, "cgroup.kill", code);
	log_event(k->options.log, LEVEL_WARN, "refused", "pod", uid, "file", "cgroup.kill", "why",
		strerror(code), NULL);
}

static void mind_memory(struct keeper *k, int64_t now_ms)
{
	const struct node_reading *n = &k->now.node;
	enum squeeze_level level =
		squeeze_look(&k->squeeze, k->orders, n->total_bytes, n->available_bytes);
	each_pod(k, p) if (level == SQUEEZE_CALM) unclamp(k, p);
	else clamp(k, p);
	if (squeeze_may_end(&k->squeeze, now_ms))
		doom(k, now_ms);
}

/* Tells whether memory is so near its mark that a second is long. */
static bool memory_is_near(const struct keeper *k)
{
	const struct node_reading *n = &k->now.node;
	int64_t mark =
		k->orders->hold_percent > 0 ? k->orders->hold_percent : k->orders->end_percent;
	if (mark <= 0 || n->total_bytes <= 0 || n->available_bytes < 0)
		return false;
	return k->squeeze.level != SQUEEZE_CALM ||
	       n->available_bytes / 100 < n->total_bytes / 10000 * (100 - mark + NEAR_PERCENT) ||
	       n->available_bytes < 2 * (int64_t)SQUEEZE_AVAILABLE_MIN;
}

/* ---- cpu ------------------------------------------------------------------------------------- */

/* Gives what lent pods used together in the window of the tick: of one that came in it, what it
 * used since. */
static int64_t lent_milli(const struct keeper *k)
{
	struct reading from = {.at_us = k->tick.pods.at_us}, to = {.at_us = k->now.pods.at_us};
	each_pod(k, p)
	{
		int64_t used = reading_went_on(p->tick.cpu_us, p->own.now.cpu_us);
		to.cpu_us += used > 0 ? used : 0;
	}
	return reading_cpu_milli(&from, &to);
}

/* Gives what a pod used since the tick before; -1: not known, or not for long enough. */
static int64_t pod_milli(const struct lent_pod *p)
{
	bool brief = p->own.now.at_us - p->tick.at_us < BRIEF_MS * 1000;
	return brief ? -1 : reading_cpu_milli(&p->tick, &p->own.now);
}

static void suppress(struct keeper *k, int64_t now_ms)
{
	struct suppress_use use = {
		.node = node_reading_cpu_milli(&k->tick.node, &k->now.node),
		.pods = reading_cpu_milli(&k->tick.pods, &k->now.pods),
		.lent = lent_milli(k),
		.npods = k->npods,
	};
	k->may_milli = suppress_tick(&k->suppress, k->orders, &use, now_ms);
}

/* Divides what lent pods may have among them. Where that is not known yet what was found holds. */
static void divide(struct keeper *k)
{
	struct share *shares = mem_array(k->npods + 1, sizeof(*shares));
	size_t n = 0;
	each_pod(k, p)
	{
		int64_t throttles = reading_went_on(p->tick.throttles, p->own.now.throttles);
		shares[n++] = (struct share){.uid = p->uid,
			.asked = p->own.asked.cpu_milli,
			.used = pod_milli(p),
			.quota = lent_pod_quota_milli(p),
			.throttled = throttles > 0};
	}
	bool knows = k->may_milli >= 0 || !k->orders->suppress;
	if (knows)
		share_out(shares, n, k->may_milli);
	n = 0;
	each_pod(k, p)
	{
		int64_t got = shares[n++].ret_milli;
		if (knows)
			p->share_milli =
				got < 0 || got >= p->own.asked.cpu_milli ? LIMIT_NONE : got;
	}
	free(shares);
}

static void mind_idle(struct keeper *k, int64_t now_ms)
{
	char why[16];
	if (!k->has_idle || !k->tree.systemd)
		return;
	bool on = k->orders && k->orders->lends && k->npods > 0 &&
		  suppress_wants_idle(k->orders->idle, k->kernel_major, k->kernel_minor, true);
	int code = tier_idle_set(&k->idle, on, now_ms);
	if (code == 0 || code == k->idle.idle.refused)
		return;
	k->idle.idle.refused = code;
	snprintf(why, sizeof(why), "errno %d", code);
	log_event(k->options.log, LEVEL_WARN, "refused", "file", "cpu.idle", "why", why, NULL);
}

/* ---- the tick -------------------------------------------------------------------------------- */

static void read_all(struct keeper *k)
{
	int64_t now_us = monotonic_us();
	k->now = (struct moment){0};
	node_gauge_read(&k->node, now_us, &k->now.node);
	gauge_read(&k->kubepods, now_us, &k->now.pods);
	each_pod(k, p) lent_pod_read(p, now_us);
}

static void shift(struct keeper *k, int64_t now_ms, bool told)
{
	k->shift_ms = now_ms;
	k->tick = k->now;
	if (told)
		k->told = k->now;
	each_pod(k, p)
	{
		p->tick = p->own.now;
		if (told)
			p->told = p->own.now;
	}
}

static void settle_all(struct keeper *k, int64_t now_ms)
{
	each_pod(k, p)
	{
		lent_pod_settle(p, &k->site, now_ms);
		if (p->share_milli != LIMIT_NONE || p->clamp_bytes != LIMIT_NONE)
			k->held_ms = now_ms;
	}
}

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/* Tells whether use differs from what was told by 1 % of the node. */
static bool has_moved(const struct keeper *k, int64_t cpu_milli)
{
	const struct node_reading *n = &k->now.node;
	int64_t cpu = k->orders ? k->orders->capacity.cpu_milli / 100 : 0;
	return cpu_milli < 0 || n->working_bytes < 0 ||
	       distance(cpu_milli, k->told_cpu_milli) > cpu ||
	       distance(n->working_bytes, k->told_working_bytes) > n->total_bytes / 100;
}

static void report_if_due(struct keeper *k, int64_t now_ms)
{
	int64_t cpu_milli = node_reading_cpu_milli(&k->tick.node, &k->now.node);
	int64_t each_ms = REPORT_STILL_MS;
	if (k->deeds.count > 0 || k->told_orders != keeper_generation(k) ||
		(k->lends_ms > 0 && now_ms - k->lends_ms < BEGIN_MS) ||
		(k->npods > 0 && has_moved(k, cpu_milli)))
		each_ms = REPORT_MS;
	else if (k->npods == 0)
		each_ms = REPORT_EMPTY_MS;
	/* A tick that comes a little early is as good as the next. */
	if (k->report_ms > 0 && now_ms - k->report_ms < each_ms - FAST_TICK_MS / 2)
		return;
	k->report_ms = now_ms;
	k->told_cpu_milli = cpu_milli;
	k->told_working_bytes = k->now.node.working_bytes;
	k->told_orders = keeper_generation(k);
	k->options.report(false, k->options.ctx);
}

static int64_t interval_ms(const struct keeper *k, int64_t now_ms)
{
	bool held = k->held_ms > 0 && now_ms - k->held_ms < FAST_FOR_MS;
	return k->orders && k->npods > 0 && (held || memory_is_near(k)) ? FAST_TICK_MS : TICK_MS;
}

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
	return now_ms - k->shift_ms < BRIEF_MS ? PACE_BRIEF : PACE_USUAL;
}

/* Decides and writes. */
static void decide(struct keeper *k, int64_t now_ms, enum pace pace)
{
	if (!k->orders || k->lock < 0)
		return;
	mind_memory(k, now_ms);
	if (pace == PACE_USUAL)
		suppress(k, now_ms);
	if (pace != PACE_LATE)
		divide(k);
	settle_all(k, now_ms);
	mind_idle(k, now_ms);
}

static void tick(struct keeper *k, int64_t now_ms)
{
	enum pace pace = pace_of(k, now_ms);
	k->last_ms = now_ms;
	k->due_ms = now_ms + TICK_MS;
	int rc = hold_tier(k);
	if (rc == ERR_BUSY)
		return;
	if (rc == 0 && now_ms >= k->scan_ms) {
		k->scan_ms = now_ms + SCAN_MS;
		if (!scan(k)) {
			drop_tier(k);
			return;
		}
	}
	read_all(k);
	decide(k, now_ms, pace);
	if (pace != PACE_LATE)
		report_if_due(k, now_ms);
	if (pace != PACE_BRIEF)
		shift(k, now_ms, pace == PACE_LATE || k->told.node.at_us == 0);
	k->due_ms = now_ms + (rc == 0 ? interval_ms(k, now_ms) : SCAN_MS);
}

void keeper_tick(struct keeper *k)
{
	int64_t now_ms = monotonic_ms();
	end_doomed(k, now_ms);
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
		lent_pod_open_containers(p, &k->site);
	else
		p = see_pod(k, name, now_ms);
	if (!p)
		return;
	lent_pod_read(p, monotonic_us());
	if (k->squeeze.level != SQUEEZE_CALM)
		clamp(k, p);
	divide(k);
	lent_pod_settle(p, &k->site, now_ms);
}

static void on_changed(void *owner, void *ctx)
{
	struct keeper *k = ctx;
	if (owner == &k->idle)
		mind_idle(k, monotonic_ms());
	else
		lent_pod_settle(owner, &k->site, monotonic_ms());
}

/* ---- orders ---------------------------------------------------------------------------------- */

int64_t keeper_generation(const struct keeper *k)
{
	return k->orders ? k->orders->generation : 0;
}

void keeper_take_orders(struct keeper *k, struct orders *o)
{
	int64_t now_ms = monotonic_ms();
	orders_free(k->orders);
	k->orders = o;
	k->lends_ms = !o->lends ? 0 : k->lends_ms > 0 ? k->lends_ms : now_ms;
	for (struct link *l = k->pods.next, *next; l != &k->pods; l = next) {
		struct lent_pod *p = container_of(l, struct lent_pod, in_keeper);
		const struct ordered_pod *named = orders_find(o, &p->uid);
		next = l->next;
		if (named) {
			lent_pod_take_order(p, &k->site, named, o->limits);
		} else {
			lent_pod_lift(p, &k->site, now_ms);
			drop_pod(k, p);
		}
	}
	k->scan_ms = 0;
	hasten(k);
}

void keeper_give_back(struct keeper *k)
{
	int64_t now_ms = monotonic_ms();
	if (k->lock < 0)
		return;
	each_pod(k, p)
	{
		p->share_milli = p->clamp_bytes = LIMIT_NONE;
		lent_pod_settle(p, &k->site, now_ms);
	}
	if (k->has_idle && k->tree.systemd)
		tier_idle_set(&k->idle, false, now_ms);
}

/* ---- samples --------------------------------------------------------------------------------- */

static int64_t or_zero(int64_t value)
{
	return value > 0 ? value : 0;
}

/* Writes what a pod used since the last sample. False: that is not known. */
static bool sample_pod(const struct lent_pod *p, struct sampled_pod *ret)
{
	int64_t asked = p->own.asked.memory_bytes, used = p->own.now.memory_bytes;
	*ret = (struct sampled_pod){
		.uid = p->uid,
		.used = {reading_cpu_milli(&p->told, &p->own.now), p->own.now.working_bytes},
		.quota_milli = lent_pod_quota_milli(p),
		.throttled_ms =
			or_zero(reading_went_on(p->told.throttled_us, p->own.now.throttled_us)) /
			1000,
		.over = asked > 0 && used > asked,
	};
	return ret->used.cpu_milli >= 0 && ret->used.memory_bytes >= 0;
}

/* Notes which deeds a sample has. */
static void remember_deeds(struct keeper *k)
{
	size_t i = (size_t)(k->samples % MADE_MAX);
	k->made[i].sample = k->samples;
	k->made[i].deed = k->deeds.last;
}

int64_t keeper_put_sample(struct keeper *k, struct buf *out)
{
	const struct node_reading *from = &k->told.node, *to = &k->now.node;
	struct sampled_pod *pods = mem_array(k->npods + 1, sizeof(*pods));
	struct sample s = {
		.number = ++k->samples,
		.window_ms = from->at_us > 0 ? (to->at_us - from->at_us) / 1000 : 0,
		.used = {node_reading_cpu_milli(from, to), to->working_bytes},
		.pods_used = {reading_cpu_milli(&k->told.pods, &k->now.pods),
			k->now.pods.at_us > 0 ? k->now.pods.working_bytes : -1},
		.memory_total = to->at_us > 0 ? to->total_bytes : -1,
		.memory_available = to->at_us > 0 ? to->available_bytes : -1,
		.pressure_us =
			from->at_us > 0 ? reading_went_on(from->pressure_us, to->pressure_us) : -1,
		.may_milli = k->may_milli,
		.lacks = k->lacks,
		.orders = keeper_generation(k),
		.pods = pods,
		.deeds = k->deeds.deed,
		.ndeeds = k->deeds.count,
		.deeds_lost = k->deeds.lost,
	};
	memcpy(s.boot, k->boot, sizeof(s.boot));
	s.has_used = s.used.cpu_milli >= 0 && s.used.memory_bytes >= 0 && to->at_us > 0;
	each_pod(k, p)
	{
		if (s.npods < SAMPLE_PODS_MAX && sample_pod(p, &pods[s.npods]))
			s.npods++;
		p->told = p->own.now;
	}
	k->told = k->now;
	wire_put_sample(&s, out);
	free(pods);
	remember_deeds(k);
	return s.number;
}

void keeper_acknowledge(struct keeper *k, int64_t number)
{
	size_t i = (size_t)(number % MADE_MAX);
	if (k->made[i].sample == number)
		deeds_forget(&k->deeds, k->made[i].deed);
}
