#include "agent/lent_pod.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/file.h"
#include "base/mem.h"

enum {
	PATIENCE_MS = 30000, /* after which memory.max is written below what is used */
};

static const struct cgroup_limits no_limits = {LIMIT_NONE, LIMIT_NONE, LIMIT_NONE, LIMIT_NONE};

/* ---- its life -------------------------------------------------------------------------------- */

struct lent_pod *lent_pod_new(struct site *site, const struct uid *uid)
{
	struct lent_pod *p = mem_alloc(sizeof(*p));
	p->site = site;
	p->uid = *uid;
	for (int h = 0; h < HIERARCHIES; h++)
		p->watch[h] = -1;
	p->share_milli = p->clamp_bytes = LIMIT_NONE;
	lent_cgroup_init(&p->own);
	return p;
}

static void free_containers(struct lent_pod *p)
{
	for (size_t i = 0; i < p->ncontainers; i++)
		lent_cgroup_done(&p->container[i], p->site);
	free(p->container);
}

void lent_pod_free(struct lent_pod *p)
{
	for (int h = 0; h < HIERARCHIES; h++)
		notices_forget(p->site->notices, p->watch[h]);
	lent_cgroup_done(&p->own, p->site);
	free_containers(p);
	free(p);
}

/* ---- what it asks for ------------------------------------------------------------------------ */

static struct lent_cgroup *find_container(const struct lent_pod *p, const char *id)
{
	for (size_t i = 0; i < p->ncontainers; i++)
		if (strcmp(p->container[i].id, id) == 0)
			return &p->container[i];
	return NULL;
}

/* Takes what each container asks for; those that were open before stay so. */
static void take_containers(struct lent_pod *p, const struct ordered_pod *o)
{
	struct lent_cgroup *fresh = mem_array(o->ncontainers + 1, sizeof(*fresh));
	for (size_t i = 0; i < o->ncontainers; i++) {
		struct lent_cgroup *was = find_container(p, o->containers[i].id);
		lent_cgroup_init(&fresh[i]);
		if (was) {
			fresh[i] = *was;
			lent_cgroup_init(was);
		}
		memcpy(fresh[i].id, o->containers[i].id, sizeof(fresh[i].id));
		fresh[i].asked = o->containers[i].asked;
	}
	free_containers(p);
	p->container = fresh;
	p->ncontainers = o->ncontainers;
}

void lent_pod_take_order(struct lent_pod *p, const struct ordered_pod *o, bool limits)
{
	if (p->own.asked.cpu_milli != o->asked.cpu_milli ||
		p->own.asked.memory_bytes != o->asked.memory_bytes || !limits)
		p->said_limited = false;
	p->own.asked = o->asked;
	p->stays = o->stays;
	p->limits = limits;
	p->lifted = false;
	take_containers(p, o);
}

/* ---- what is there of it --------------------------------------------------------------------- */

struct search {
	struct lent_pod *pod;
	enum hierarchy hierarchy;
};

static void found_child(const char *name, void *ctx)
{
	const struct search *s = ctx;
	struct lent_pod *p = s->pod;
	char path[FILE_PATH_SIZE];
	for (size_t i = 0; i < p->ncontainers; i++) {
		struct lent_cgroup *c = &p->container[i];
		if (!c->dir[s->hierarchy] && cgroup_is_container(name, c->id) &&
			file_path(p->own.dir[s->hierarchy], name, path))
			lent_cgroup_take_dir(c, p->site, s->hierarchy, path, p);
	}
}

static bool lacks_container(const struct lent_pod *p, int hierarchy)
{
	for (size_t i = 0; i < p->ncontainers; i++)
		if (!p->container[i].dir[hierarchy])
			return true;
	return false;
}

void lent_pod_open_containers(struct lent_pod *p)
{
	for (int h = 0; h < HIERARCHIES; h++) {
		struct search s = {p, (enum hierarchy)h};
		if (!p->own.dir[h] || !lacks_container(p, h))
			continue;
		if (p->watch[h] < 0)
			p->watch[h] = notices_watch_dir(p->site->notices, p->own.dir[h], p);
		cgroup_each_child(p->own.dir[h], found_child, &s);
	}
}

bool lent_pod_open(struct lent_pod *p, const char *name)
{
	char path[FILE_PATH_SIZE];
	bool any = false;
	for (int h = 0; h < HIERARCHIES; h++) {
		if (!p->own.dir[h] && file_path(p->site->tree.tier[h], name, path) &&
			access(path, F_OK) == 0)
			lent_cgroup_take_dir(&p->own, p->site, (enum hierarchy)h, path, p);
		any = any || p->own.dir[h];
	}
	lent_pod_open_containers(p);
	return any;
}

bool lent_pod_is_there(const struct lent_pod *p)
{
	for (int h = 0; h < HIERARCHIES; h++)
		if (p->own.dir[h])
			return access(p->own.dir[h], F_OK) == 0;
	return false;
}

void lent_pod_read(struct lent_pod *p, int64_t now_us)
{
	gauge_read(&p->own.gauge, now_us, &p->own.now);
	for (size_t i = 0; i < p->ncontainers; i++)
		gauge_read(&p->container[i].gauge, now_us, &p->container[i].now);
}

int64_t lent_pod_quota_milli(const struct lent_pod *p)
{
	const struct knob *k = &p->own.knob[KNOB_QUOTA];
	return knob_is_there(k) ? limits_quota_milli(k->now, k->period_us) : LIMIT_NONE;
}

/* ---- what its files are to say --------------------------------------------------------------- */

/* Gives what a cgroup is to say for what it asks for. */
static struct cgroup_limits asked_limits(const struct lent_pod *p, const struct lent_cgroup *c)
{
	return p->limits ? limits_of(c->asked, p->site->tree.version[HIERARCHY_CPU],
				   c->knob[KNOB_QUOTA].period_us)
			 : no_limits;
}

static int64_t lesser_limit(int64_t a, int64_t b)
{
	return limit_is_above(a, b) ? b : a;
}

/* Gives what a cgroup says as the kubelet makes it. */
static struct cgroup_limits lifted_limits(const struct lent_pod *p)
{
	struct cgroup_limits ret = no_limits;
	ret.weight = limits_weight_least(p->site->tree.version[HIERARCHY_CPU]);
	return ret;
}

/* Gives what a cgroup of the pod is to say now: the pod is held, perhaps, below what it asks for. */
static struct cgroup_limits wanted_limits(const struct lent_pod *p, const struct lent_cgroup *c)
{
	struct cgroup_limits ret = p->lifted ? lifted_limits(p) : asked_limits(p, c);
	if (c != &p->own || p->lifted)
		return ret;
	ret.quota_us = lesser_limit(
		ret.quota_us, limits_quota_us(p->share_milli, c->knob[KNOB_QUOTA].period_us));
	if (p->site->tree.version[HIERARCHY_MEMORY] == CGROUP_V2)
		ret.high_bytes = p->clamp_bytes;
	else
		ret.memory_bytes = lesser_limit(ret.memory_bytes, p->clamp_bytes);
	return ret;
}

/* Reads a file of the pod; LIMIT_NONE also where there is nothing to be read. */
static int64_t found_limit(struct lent_pod *p, enum knob_kind kind, int64_t now_ms)
{
	struct knob *k = &p->own.knob[kind];
	int64_t now;
	return knob_is_there(k) && knob_read(k, now_ms, &now) ? now : LIMIT_NONE;
}

void lent_pod_adopt(struct lent_pod *p, int64_t now_ms)
{
	struct cgroup_limits asked = asked_limits(p, &p->own);
	int64_t quota = found_limit(p, KNOB_QUOTA, now_ms),
		memory = found_limit(p, KNOB_MEMORY, now_ms);
	if (limit_is_above(asked.quota_us, quota))
		p->share_milli = limits_quota_milli(quota, p->own.knob[KNOB_QUOTA].period_us);
	if (knob_is_there(&p->own.knob[KNOB_HIGH])) {
		int64_t high = found_limit(p, KNOB_HIGH, now_ms);
		if (high != asked.memory_bytes) /* that stood for the hard limit (node/steps.h) */
			p->clamp_bytes = high;
	} else if (limit_is_above(asked.memory_bytes, memory))
		p->clamp_bytes = memory;
}

/* ---- what is written ------------------------------------------------------------------------- */

static int64_t *limit_of_kind(struct cgroup_limits *l, int kind)
{
	int64_t *const limits[KNOB_KINDS] = {
		[KNOB_QUOTA] = &l->quota_us,
		[KNOB_WEIGHT] = &l->weight,
		[KNOB_MEMORY] = &l->memory_bytes,
		[KNOB_HIGH] = &l->high_bytes,
	};
	return limits[kind];
}

static void say_undone(const struct lent_pod *p, struct knob *k)
{
	if (knob_yields(k) && !k->told_yield)
		site_was_undone(p->site, &p->uid, knob_file(k), k->undone);
	k->told_yield = knob_yields(k);
}

/* Tells whether a file is somebody else's to write: one that is written over and over, and
 * memory.high of a container, which a kubelet may have set, until it stands for a hard limit. */
static bool is_left(const struct lent_pod *p, const struct lent_cgroup *c, const struct knob *k)
{
	bool high = k->kind == KNOB_HIGH && c != &p->own;
	bool others = high && !k->wrote && k->now != limits_pages(c->asked.memory_bytes);
	return !p->lifted && (knob_yields(k) || others);
}

/* Reads what a cgroup says, and makes of what is wanted what its files can be made to say: a file
 * that is not there, cannot be read or is left to others stays as it is. */
static struct step_cgroup look(struct lent_pod *p, struct lent_cgroup *c, int64_t now_ms)
{
	struct cgroup_limits want = wanted_limits(p, c);
	struct step_cgroup ret = {no_limits, no_limits, .memory_used = c->now.memory_bytes};
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		struct knob *k = &c->knob[kind];
		int64_t *now = limit_of_kind(&ret.now, kind);
		if (!knob_is_there(k) || !knob_read(k, now_ms, now))
			continue;
		say_undone(p, k);
		*limit_of_kind(&ret.want, kind) =
			is_left(p, c, k) ? *now : *limit_of_kind(&want, kind);
	}
	ret.period_us = c->knob[KNOB_QUOTA].period_us;
	return ret;
}

/* Writes a step. True: the kernel took it. */
static bool take_step(struct lent_pod *p, const struct step *s)
{
	struct lent_cgroup *c = s->cgroup == STEP_POD ? &p->own : &p->container[s->cgroup];
	struct knob *k = &c->knob[s->knob];
	int code = knob_write(k, s->value);
	if (code != 0 && !k->told_refusal)
		site_was_refused(p->site, &p->uid, knob_file(k), code);
	k->told_refusal |= code != 0;
	return code == 0;
}

/* Writes what differs, of cpu and of memory up to the first refusal each. True: all of it. */
static bool write_all(struct lent_pod *p, int64_t now_ms, bool patience)
{
	struct step_cgroup *containers = mem_array(p->ncontainers + 1, sizeof(*containers));
	struct step *steps = mem_array(steps_max(p->ncontainers), sizeof(*steps));
	bool good[HIERARCHIES] = {[HIERARCHY_CPU] = true, [HIERARCHY_MEMORY] = true};
	struct step_pod pod = {look(p, &p->own, now_ms), containers, p->ncontainers, patience};
	for (size_t i = 0; i < p->ncontainers; i++)
		containers[i] = look(p, &p->container[i], now_ms);
	size_t n = steps_make(&pod, p->site->tree.version[HIERARCHY_MEMORY], steps);
	for (size_t i = 0; i < n; i++) {
		enum hierarchy h = hierarchy_of(steps[i].knob);
		good[h] = good[h] && take_step(p, &steps[i]);
	}
	free(containers);
	free(steps);
	return good[HIERARCHY_CPU] && good[HIERARCHY_MEMORY];
}

/* Notes since when a pod uses more than it asked for. True: not for long enough to be pressed. */
static bool note_excess(struct lent_pod *p, int64_t now_ms)
{
	int64_t asked = p->own.asked.memory_bytes, used = p->own.now.memory_bytes;
	if (used < 0)
		return true;
	if (asked == 0 || used <= asked)
		p->over_since_ms = 0;
	else if (p->over_since_ms == 0)
		p->over_since_ms = now_ms;
	return p->over_since_ms == 0 || now_ms - p->over_since_ms < PATIENCE_MS;
}

static bool has_all_knobs(const struct lent_pod *p)
{
	char *const *tier = p->site->tree.tier;
	return (!tier[HIERARCHY_CPU] || knob_is_there(&p->own.knob[KNOB_QUOTA])) &&
	       (!tier[HIERARCHY_MEMORY] || knob_is_there(&p->own.knob[KNOB_MEMORY]));
}

void lent_pod_settle(struct lent_pod *p, int64_t now_ms)
{
	bool patience = note_excess(p, now_ms);
	bool good = write_all(p, now_ms, patience);
	if (!good || p->said_limited || !p->limits || p->over_since_ms || !has_all_knobs(p))
		return;
	p->said_limited = true;
	deeds_note(&p->site->deeds, DEED_LIMITED, &p->uid, NULL, 0);
}

/* Tells whether each file that a cgroup still has says what it does without us. */
static bool is_lifted(const struct lent_pod *p, struct lent_cgroup *c, int64_t now_ms)
{
	struct cgroup_limits want = lifted_limits(p);
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		struct knob *k = &c->knob[kind];
		int64_t now;
		if (knob_is_there(k) && file_is_there(c->dir[hierarchy_of(kind)], ".") &&
			!(knob_read(k, now_ms, &now) && now == *limit_of_kind(&want, kind)))
			return false;
	}
	return true;
}

bool lent_pod_lift(struct lent_pod *p, int64_t now_ms)
{
	p->lifted = true;
	p->share_milli = p->clamp_bytes = LIMIT_NONE;
	write_all(p, now_ms, true);
	bool lifted = is_lifted(p, &p->own, now_ms);
	for (size_t i = 0; i < p->ncontainers; i++)
		lifted = lifted && is_lifted(p, &p->container[i], now_ms);
	return lifted;
}
