#include "agent/lent_pod.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"

enum {
	PATIENCE_MS = 30000, /* after which memory.max is written below what is used */
	WEIGHT_LEAST_V1 = 2, /* as a kubelet makes best-effort pods */
	WEIGHT_LEAST_V2 = 1,
	PATH_SIZE = 4096,
};

static const enum hierarchy hierarchy_of[KNOB_KINDS] = {
	[KNOB_QUOTA] = HIERARCHY_CPU,
	[KNOB_WEIGHT] = HIERARCHY_CPU,
	[KNOB_MEMORY] = HIERARCHY_MEMORY,
	[KNOB_HIGH] = HIERARCHY_MEMORY,
};

/* ---- a cgroup: its directories and files ----------------------------------------------------- */

static void cgroup_init(struct lent_cgroup *c)
{
	*c = (struct lent_cgroup){.id = ""};
	gauge_init(&c->gauge);
	for (int kind = 0; kind < KNOB_KINDS; kind++)
		c->knob[kind] = (struct knob){.fd = -1, .period_fd = -1, .watch = -1, .kind = kind};
}

static void cgroup_done(struct lent_cgroup *c, const struct pod_site *site)
{
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		notices_forget(site->notices, c->knob[kind].watch);
		knob_close(&c->knob[kind]);
	}
	gauge_close(&c->gauge);
	for (int h = 0; h < HIERARCHIES; h++)
		free(c->dir[h]);
}

/* Opens the knobs of one hierarchy, whose directory is there. */
static void open_knobs(struct lent_cgroup *c, const struct pod_site *site, enum hierarchy h,
	struct lent_pod *owner)
{
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		struct knob *k = &c->knob[kind];
		if (hierarchy_of[kind] != h || knob_is_there(k) ||
			!knob_open(k, c->dir[h], kind, site->tree->version[h]))
			continue;
		k->watch = notices_watch_file(site->notices, c->dir[h], knob_file(k), owner);
	}
}

/* Takes a directory for that of a cgroup in one hierarchy. */
static void cgroup_take_dir(struct lent_cgroup *c, const struct pod_site *site, enum hierarchy h,
	const char *dir, struct lent_pod *owner)
{
	free(c->dir[h]);
	c->dir[h] = mem_strdup(dir);
	open_knobs(c, site, h, owner);
	gauge_open(&c->gauge, site->tree, c->dir);
}

/* ---- a pod ----------------------------------------------------------------------------------- */

struct lent_pod *lent_pod_new(const struct uid *uid)
{
	struct lent_pod *p = mem_alloc(sizeof(*p));
	p->uid = *uid;
	for (int h = 0; h < HIERARCHIES; h++)
		p->watch[h] = -1;
	p->share_milli = p->clamp_bytes = LIMIT_NONE;
	cgroup_init(&p->own);
	return p;
}

void lent_pod_free(struct lent_pod *p, const struct pod_site *site)
{
	for (int h = 0; h < HIERARCHIES; h++)
		notices_forget(site->notices, p->watch[h]);
	cgroup_done(&p->own, site);
	for (size_t i = 0; i < p->ncontainers; i++)
		cgroup_done(&p->container[i], site);
	free(p->container);
	free(p);
}

static struct lent_cgroup *find_container(const struct lent_pod *p, const char *id)
{
	for (size_t i = 0; i < p->ncontainers; i++)
		if (strcmp(p->container[i].id, id) == 0)
			return &p->container[i];
	return NULL;
}

/* Takes what each container asks for; those that were open before stay so. */
static void take_containers(
	struct lent_pod *p, const struct pod_site *site, const struct ordered_pod *o)
{
	struct lent_cgroup *fresh = mem_array(o->ncontainers + 1, sizeof(*fresh));
	for (size_t i = 0; i < o->ncontainers; i++) {
		struct lent_cgroup *was = find_container(p, o->containers[i].id);
		cgroup_init(&fresh[i]);
		if (was) {
			fresh[i] = *was;
			cgroup_init(was);
		}
		memcpy(fresh[i].id, o->containers[i].id, sizeof(fresh[i].id));
		fresh[i].asked = o->containers[i].asked;
	}
	for (size_t i = 0; i < p->ncontainers; i++)
		cgroup_done(&p->container[i], site);
	free(p->container);
	p->container = fresh;
	p->ncontainers = o->ncontainers;
}

void lent_pod_take_order(
	struct lent_pod *p, const struct pod_site *site, const struct ordered_pod *o, bool limits)
{
	if (p->own.asked.cpu_milli != o->asked.cpu_milli ||
		p->own.asked.memory_bytes != o->asked.memory_bytes || !limits)
		p->said_limited = false;
	p->own.asked = o->asked;
	p->stays = o->stays;
	p->limits = limits;
	take_containers(p, site, o);
}

struct search {
	struct lent_pod *pod;
	const struct pod_site *site;
	enum hierarchy hierarchy;
};

static void found_child(const char *name, void *ctx)
{
	struct search *s = ctx;
	struct lent_pod *p = s->pod;
	char path[PATH_SIZE];
	for (size_t i = 0; i < p->ncontainers; i++) {
		struct lent_cgroup *c = &p->container[i];
		if (c->dir[s->hierarchy] || !cgroup_is_container(name, c->id))
			continue;
		snprintf(path, sizeof(path), "%s/%s", p->own.dir[s->hierarchy], name);
		cgroup_take_dir(c, s->site, s->hierarchy, path, p);
	}
}

void lent_pod_open_containers(struct lent_pod *p, const struct pod_site *site)
{
	for (int h = 0; h < HIERARCHIES; h++) {
		struct search s = {p, site, (enum hierarchy)h};
		bool wanted = false;
		for (size_t i = 0; i < p->ncontainers; i++)
			wanted = wanted || !p->container[i].dir[h];
		if (!wanted || !p->own.dir[h])
			continue;
		if (p->watch[h] < 0)
			p->watch[h] = notices_watch_dir(site->notices, p->own.dir[h], p);
		cgroup_each_child(p->own.dir[h], found_child, &s);
	}
}

bool lent_pod_open(struct lent_pod *p, const struct pod_site *site, const char *name)
{
	char path[PATH_SIZE];
	bool any = false;
	for (int h = 0; h < HIERARCHIES; h++) {
		if (!site->tree->tier[h])
			continue;
		snprintf(path, sizeof(path), "%s/%s", site->tree->tier[h], name);
		if (!p->own.dir[h] && access(path, F_OK) == 0)
			cgroup_take_dir(&p->own, site, (enum hierarchy)h, path, p);
		any = any || p->own.dir[h];
	}
	if (!any)
		return false;
	lent_pod_open_containers(p, site);
	return true;
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

/* ---- what its files are to say --------------------------------------------------------------- */

static int64_t lesser_limit(int64_t a, int64_t b)
{
	if (a == LIMIT_NONE || b == LIMIT_NONE)
		return a == LIMIT_NONE ? b : a;
	return a < b ? a : b;
}

static enum cgroup_version version_of(const struct pod_site *site, enum knob_kind kind)
{
	return site->tree->version[hierarchy_of[kind]];
}

/* Gives what a cgroup is to say for what it asks for, of cpu by the one version and of memory by
 * the other. */
static struct cgroup_limits asked_limits(
	const struct lent_pod *p, const struct lent_cgroup *c, const struct pod_site *site)
{
	struct cgroup_limits none = {LIMIT_NONE, LIMIT_NONE, LIMIT_NONE, LIMIT_NONE};
	if (!p->limits)
		return none;
	struct cgroup_limits ret =
		limits_of(c->asked, version_of(site, KNOB_QUOTA), c->knob[KNOB_QUOTA].period_us);
	ret.memory_bytes =
		limits_of(c->asked, version_of(site, KNOB_MEMORY), PERIOD_US).memory_bytes;
	ret.high_bytes = LIMIT_NONE;
	return ret;
}

/* Gives what a cgroup of the pod is to say now: the pod is held, perhaps, below what it asks for. */
static struct cgroup_limits wanted_limits(
	const struct lent_pod *p, const struct lent_cgroup *c, const struct pod_site *site)
{
	struct cgroup_limits ret = asked_limits(p, c, site);
	bool own = c == &p->own;
	int64_t share = limits_quota_us(p->share_milli, c->knob[KNOB_QUOTA].period_us);
	if (own)
		ret.quota_us = lesser_limit(ret.quota_us, share);
	if (own && version_of(site, KNOB_MEMORY) == CGROUP_V2)
		ret.high_bytes = p->clamp_bytes;
	else if (own)
		ret.memory_bytes = lesser_limit(ret.memory_bytes, p->clamp_bytes);
	return ret;
}

static struct cgroup_limits least_limits(const struct pod_site *site)
{
	bool v2 = version_of(site, KNOB_WEIGHT) == CGROUP_V2;
	return (struct cgroup_limits){
		LIMIT_NONE, v2 ? WEIGHT_LEAST_V2 : WEIGHT_LEAST_V1, LIMIT_NONE, LIMIT_NONE};
}

/* ---- what is written ------------------------------------------------------------------------- */

static int64_t *limit_of_kind(struct cgroup_limits *l, int kind)
{
	switch (kind) {
	case KNOB_QUOTA:
		return &l->quota_us;
	case KNOB_WEIGHT:
		return &l->weight;
	case KNOB_MEMORY:
		return &l->memory_bytes;
	case KNOB_HIGH:
		return &l->high_bytes;
	default:
		must_not_get_here();
	}
}

static void say_undone(const struct lent_pod *p, const struct pod_site *site, struct knob *k)
{
	char uid[UID_TEXT_SIZE];
	if (!knob_yields(k) || k->told)
		return;
	k->told = true;
	uid_format(&p->uid, uid);
	deeds_note(site->deeds, DEED_UNDONE, &p->uid, knob_file(k), k->undone);
	log_event(site->log, LEVEL_WARN, "undone", "pod", uid, "file", knob_file(k), "#times",
		LOG_NUMBER(k->undone), "effect",
		"somebody else writes this file; it is left alone for a minute", NULL);
}

static void say_refused(
	const struct lent_pod *p, const struct pod_site *site, struct knob *k, int code)
{
	char uid[UID_TEXT_SIZE];
	if (code == ENODEV || code == k->refused) /* ENODEV: the cgroup is gone */
		return;
	k->refused = code;
	uid_format(&p->uid, uid);
	deeds_note(site->deeds, DEED_REFUSED, &p->uid, knob_file(k), code);
	log_event(site->log, LEVEL_WARN, "refused", "pod", uid, "file", knob_file(k), "why",
		strerror(code), NULL);
}

/* Reads what a cgroup says, and makes of what is wanted what its files can be made to say: a file
 * that is not there, cannot be read or is left to others stays as it is. lift: what is wanted in
 * place of what holds; NULL: that. */
static void look(struct lent_pod *p, struct lent_cgroup *c, const struct pod_site *site,
	int64_t now_ms, const struct cgroup_limits *lift, struct step_cgroup *ret)
{
	struct cgroup_limits want = lift ? *lift : wanted_limits(p, c, site);
	*ret = (struct step_cgroup){
		.now = {LIMIT_NONE, LIMIT_NONE, LIMIT_NONE, LIMIT_NONE},
		.memory_used = c->now.memory_bytes,
	};
	ret->want = ret->now;
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		struct knob *k = &c->knob[kind];
		int64_t *now = limit_of_kind(&ret->now, kind),
			*to = limit_of_kind(&ret->want, kind);
		if (!knob_is_there(k) || !knob_read(k, now_ms, now))
			continue;
		say_undone(p, site, k);
		*to = knob_yields(k) && !lift ? *now : knob_wanted(k, *limit_of_kind(&want, kind));
	}
	ret->period_us = c->knob[KNOB_QUOTA].period_us;
}

/* Makes a list of steps for cpu or for memory alone, and writes it up to the first refusal. True:
 * all of it. */
static bool run(struct lent_pod *p, const struct pod_site *site, const struct step_cgroup *all,
	enum hierarchy h, bool patience)
{
	struct step_cgroup *part = mem_array(p->ncontainers + 1, sizeof(*part));
	struct step *steps = mem_array(steps_max(p->ncontainers), sizeof(*steps));
	for (size_t i = 0; i <= p->ncontainers; i++) {
		part[i] = all[i];
		for (int kind = 0; kind < KNOB_KINDS; kind++)
			if (hierarchy_of[kind] != h)
				*limit_of_kind(&part[i].want, kind) =
					*limit_of_kind(&part[i].now, kind);
	}
	struct step_pod pod = {part[0], part + 1, p->ncontainers, patience};
	size_t n = steps_make(&pod, version_of(site, KNOB_MEMORY), steps);
	bool good = true;
	for (size_t i = 0; i < n && good; i++) {
		struct lent_cgroup *c =
			steps[i].cgroup == STEP_POD ? &p->own : &p->container[steps[i].cgroup];
		struct knob *k = &c->knob[steps[i].knob];
		int code = knob_write(k, steps[i].value);
		good = code == 0;
		if (!good)
			say_refused(p, site, k, code);
	}
	free(part);
	free(steps);
	return good;
}

/* Notes since when a pod uses more than it asked for. True: not for long enough to be pressed. */
static bool has_patience(struct lent_pod *p, int64_t now_ms)
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

static bool has_all_knobs(const struct lent_pod *p, const struct pod_site *site)
{
	return (!site->tree->tier[HIERARCHY_CPU] || knob_is_there(&p->own.knob[KNOB_QUOTA])) &&
	       (!site->tree->tier[HIERARCHY_MEMORY] || knob_is_there(&p->own.knob[KNOB_MEMORY]));
}

static bool write_all(
	struct lent_pod *p, const struct pod_site *site, int64_t now_ms, bool lift, bool patience)
{
	struct step_cgroup *all = mem_array(p->ncontainers + 1, sizeof(*all));
	struct cgroup_limits bottom = least_limits(site);
	for (size_t i = 0; i <= p->ncontainers; i++) {
		struct lent_cgroup *c = i == 0 ? &p->own : &p->container[i - 1];
		look(p, c, site, now_ms, lift ? &bottom : NULL, &all[i]);
	}
	bool cpu = run(p, site, all, HIERARCHY_CPU, patience);
	bool memory = run(p, site, all, HIERARCHY_MEMORY, patience);
	free(all);
	return cpu && memory;
}

void lent_pod_settle(struct lent_pod *p, const struct pod_site *site, int64_t now_ms)
{
	bool patience = has_patience(p, now_ms);
	bool good = write_all(p, site, now_ms, false, patience);
	if (!good || p->said_limited || !p->limits || p->over_since_ms || !has_all_knobs(p, site))
		return;
	p->said_limited = true;
	deeds_note(site->deeds, DEED_LIMITED, &p->uid, NULL, 0);
}

void lent_pod_lift(struct lent_pod *p, const struct pod_site *site, int64_t now_ms)
{
	write_all(p, site, now_ms, true, true);
}

int64_t lent_pod_quota_milli(const struct lent_pod *p)
{
	const struct knob *k = &p->own.knob[KNOB_QUOTA];
	return knob_is_there(k) ? limits_quota_milli(k->now, k->period_us) : LIMIT_NONE;
}

void lent_pod_find(struct lent_pod *p, const struct pod_site *site, int64_t now_ms)
{
	struct cgroup_limits asked = asked_limits(p, &p->own, site);
	struct knob *quota = &p->own.knob[KNOB_QUOTA], *high = &p->own.knob[KNOB_HIGH],
		    *memory = &p->own.knob[KNOB_MEMORY];
	int64_t now;
	if (knob_is_there(quota) && knob_read(quota, now_ms, &now) && now != LIMIT_NONE &&
		(asked.quota_us == LIMIT_NONE || now < asked.quota_us))
		p->share_milli = limits_quota_milli(now, quota->period_us);
	if (knob_is_there(high)) {
		if (knob_read(high, now_ms, &now) && now != LIMIT_NONE)
			p->clamp_bytes = now;
	} else if (knob_is_there(memory) && knob_read(memory, now_ms, &now) && now != LIMIT_NONE &&
		   (asked.memory_bytes == LIMIT_NONE || now < asked.memory_bytes)) {
		p->clamp_bytes = now;
	}
}

/* ---- its end --------------------------------------------------------------------------------- */

int lent_pod_end(const struct lent_pod *p)
{
	char path[PATH_SIZE];
	const char *dir = p->own.dir[HIERARCHY_MEMORY];
	if (!dir)
		return ENOENT;
	snprintf(path, sizeof(path), "%s/cgroup.kill", dir);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int code = write(fd, "1\n", 2) == 2 ? 0 : errno;
	close(fd);
	return code;
}

bool lent_pod_is_populated(const struct lent_pod *p)
{
	char path[PATH_SIZE], text[256] = "";
	const char *dir = p->own.dir[HIERARCHY_MEMORY];
	if (!dir)
		return false;
	snprintf(path, sizeof(path), "%s/cgroup.events", dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 && strstr(text, "populated 1");
}
