/*
 * The writes that lead a pod to its limits: which ones, in a table; and that no kernel refuses them,
 * whatever its files say and whatever they are to say.
 *
 * The kernel is a model. A tree of files takes every write, and so it hides what a kernel refuses:
 *
 *     quota    EINVAL below 1 ms. v1: EINVAL for a child that has more than its parent, and for a
 *              parent that would have less than a child, by the sums of kernel/sched/core.c
 *              (tg_cfs_schedulable_down). v2: no order is needed
 *     memory   v1: EBUSY below what is used. v2: memory.max below what is used kills; memory.high
 *              makes whoever writes it wait until the rest is freed
 */
#include "draw.h"

#include "node/steps.h"

#define NONE LIMIT_NONE
#define SEEDS 20000
#define CONTAINERS 4

/* ---- which writes ---------------------------------------------------------------------------- */

static void put_steps(const struct step *steps, size_t n, char *out, size_t size)
{
	static const char *const knobs[] = {"quota", "weight", "memory", "high"};
	size_t len = 0;
	*out = '\0';
	for (size_t i = 0; i < n; i++) {
		char who[16] = "pod";
		if (steps[i].cgroup != STEP_POD)
			snprintf(who, sizeof(who), "c%d", steps[i].cgroup);
		len += (size_t)snprintf(out + len, size - len, "%s%s.%s=%" PRId64, i ? " " : "",
			who, knobs[steps[i].knob], steps[i].value);
	}
}

#define M(n) ((n)*MIB)
/* A cgroup by its quotas alone, or its memory alone. */
#define QUOTA(now, want)                                                                           \
	{                                                                                          \
		{now, NONE, NONE, NONE}, {want, NONE, NONE, NONE}, 0                               \
	}
#define MEMORY(now_max, now_high, want_max, want_high, used)                                       \
	{                                                                                          \
		{NONE, NONE, now_max, now_high}, {NONE, NONE, want_max, want_high}, used           \
	}

static void which_writes(void **state)
{
	static const struct {
		const char *name;
		enum cgroup_version v;
		bool patience;
		struct step_cgroup pod;
		size_t n;
		struct step_cgroup container[2];
		const char *steps;
	} rows[] = {
		{"nothing differs", CGROUP_V1, false, QUOTA(NONE, NONE), .steps = ""},
		{"a pod at its birth", CGROUP_V2, true,
			{{NONE, 1, NONE, NONE}, {30000, 30, M(64), NONE}, 0},
			.steps = "pod.quota=30000 pod.weight=30 pod.memory=67108864"},
		{"weight is left as it is", CGROUP_V2, true,
			{{NONE, 79, NONE, NONE}, {NONE, NONE, M(64), NONE}, 0},
			.steps = "pod.memory=67108864"},
		{"quotas fall: containers first", CGROUP_V1, false, QUOTA(50000, 20000), 2,
			{QUOTA(30000, 12000), QUOTA(20000, 8000)},
			"c0.quota=12000 c1.quota=8000 pod.quota=20000"},
		{"quotas rise: the pod first", CGROUP_V1, false, QUOTA(20000, 50000), 2,
			{QUOTA(12000, 30000), QUOTA(8000, 20000)},
			"pod.quota=50000 c0.quota=30000 c1.quota=20000"},
		{"one falls while the pod rises", CGROUP_V1, false, QUOTA(20000, 50000), 2,
			{QUOTA(12000, 10000), QUOTA(8000, 40000)},
			"c0.quota=10000 pod.quota=50000 c1.quota=40000"},
		{"from no limit to more than the pod has yet", CGROUP_V1, false,
			QUOTA(20000, 50000), 1, {QUOTA(NONE, 30000)},
			"pod.quota=50000 c0.quota=30000"},
		{"limits are taken back", CGROUP_V1, false, QUOTA(20000, NONE), 1,
			{QUOTA(10000, NONE)}, "pod.quota=-1 c0.quota=-1"},
		{"the pod is held below a container", CGROUP_V1, false, QUOTA(50000, 10000), 2,
			{QUOTA(30000, 30000), QUOTA(8000, 8000)}, "c0.quota=-1 pod.quota=10000"},
		{"and below it still", CGROUP_V1, false, QUOTA(10000, 20000), 2,
			{QUOTA(NONE, 30000), QUOTA(8000, 8000)}, "pod.quota=20000"},
		{"and let go", CGROUP_V1, false, QUOTA(20000, 50000), 2,
			{QUOTA(NONE, 30000), QUOTA(8000, 8000)}, "pod.quota=50000 c0.quota=30000"},
		{"another period of the container", CGROUP_V1, false, QUOTA(50000, 20000), 1,
			{{{4000, NONE, NONE, NONE}, {2000, NONE, NONE, NONE}, 0, 10000}},
			"c0.quota=2000 pod.quota=20000"},
		{"the least quota is too much for it", CGROUP_V1, false, QUOTA(50000, 2000), 1,
			{{{4000, NONE, NONE, NONE}, {1000, NONE, NONE, NONE}, 0, 10000}},
			"c0.quota=-1 pod.quota=2000"},
		{"v1: below what is used, in part", CGROUP_V1, false,
			MEMORY(NONE, NONE, M(64), NONE, M(100)), .steps = "pod.memory=105906176"},
		{"v1: no further as long as it is used", CGROUP_V1, false,
			MEMORY(M(101), NONE, M(64), NONE, M(100) + 1), .steps = ""},
		{"v1: use has fallen", CGROUP_V1, false, MEMORY(M(101), NONE, M(64), NONE, M(64)),
			.steps = "pod.memory=67108864"},
		{"v1: there is no memory.high", CGROUP_V1, false,
			MEMORY(M(64), NONE, M(64), M(32), M(64)), .steps = ""},
		{"v2: used already, so high first", CGROUP_V2, true,
			MEMORY(NONE, NONE, M(64), NONE, M(100)), .steps = "pod.high=67108864"},
		{"v2: still used", CGROUP_V2, true, MEMORY(NONE, M(64), M(64), NONE, M(70)),
			.steps = ""},
		{"v2: use has fallen", CGROUP_V2, true, MEMORY(NONE, M(64), M(64), NONE, M(64)),
			.steps = "pod.memory=67108864 pod.high=-1"},
		{"v2: patience is over", CGROUP_V2, false, MEMORY(NONE, M(64), M(64), NONE, M(70)),
			.steps = "pod.memory=67108864"},
		{"v2: not more than 64 MiB at once", CGROUP_V2, true,
			MEMORY(NONE, NONE, M(64), NONE, M(1000)), .steps = "pod.high=981467136"},
		{"v2: nor of the hard limit", CGROUP_V2, false,
			MEMORY(NONE, M(900), M(64), NONE, M(900)),
			.steps = "pod.high=876609536 pod.memory=876609536"},
		{"v2: a lower one, and much more is used", CGROUP_V2, true,
			MEMORY(NONE, M(100), NONE, M(50), M(200)), .steps = ""},
		{"v2: held at what it uses", CGROUP_V2, true,
			MEMORY(M(64), NONE, M(64), M(40), M(40)), .steps = "pod.high=41943040"},
		{"v2: lifted", CGROUP_V2, true, MEMORY(M(64), M(40), M(64), NONE, M(40)),
			.steps = "pod.high=-1"},
		{"v2: held, and used already", CGROUP_V2, true,
			MEMORY(NONE, NONE, M(64), M(50), M(100)), .steps = "pod.high=52428800"},
		{"use is not known: memory is not lowered", CGROUP_V2, false,
			MEMORY(NONE, NONE, M(64), M(50), -1), .steps = ""},
		{"use is not known: high stays until max is there", CGROUP_V2, false,
			MEMORY(NONE, M(64), M(64), NONE, -1), .steps = ""},
		{"use is not known: memory may rise", CGROUP_V2, false,
			MEMORY(M(32), M(20), M(64), NONE, -1),
			.steps = "pod.memory=67108864 pod.high=-1"},
		{"memory falls in containers first, and rises in the pod", CGROUP_V1, false,
			MEMORY(M(64), NONE, M(32), NONE, 0), 2,
			{MEMORY(M(48), NONE, M(16), NONE, 0), MEMORY(M(8), NONE, M(16), NONE, 0)},
			"c0.memory=16777216 pod.memory=33554432 c1.memory=16777216"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct step steps[(2 + 1) * KNOB_KINDS];
		char text[256];
		struct step_pod p = {rows[i].pod, rows[i].container, rows[i].n, rows[i].patience};
		assert_true(steps_max(rows[i].n) <= COUNT(steps));
		put_steps(steps, steps_make(&p, rows[i].v, steps), text, sizeof(text));
		if (strcmp(text, rows[i].steps) != 0)
			fail_msg("%s: %s, shall be: %s", rows[i].name, text, rows[i].steps);
	}
}

/* ---- a kernel -------------------------------------------------------------------------------- */

struct file {
	struct cgroup_limits says;
	int64_t period_us, used, freeable;
};

/* A pod, and below it its containers and a sandbox, which has no limits. */
struct kernel {
	enum cgroup_version v;
	struct file pod, container[CONTAINERS];
	size_t n;
	bool killed;
	int64_t waited; /* bytes that the last write had to wait for */
};

enum { TAKEN, EINVAL_, EBUSY_ };

static uint64_t ratio(const struct file *f)
{
	return f->says.quota_us < 0 ? UINT64_MAX
				    : ((uint64_t)f->says.quota_us << 20) / (uint64_t)f->period_us;
}

static bool is_schedulable(const struct kernel *k)
{
	uint64_t parent = ratio(&k->pod);
	for (size_t i = 0; k->v == CGROUP_V1 && i < k->n; i++) {
		uint64_t child = ratio(&k->container[i]);
		if (child != UINT64_MAX && parent != UINT64_MAX && child > parent)
			return false;
	}
	return true;
}

static int write_quota(struct kernel *k, struct file *f, int64_t value)
{
	int64_t was = f->says.quota_us;
	if (value != NONE && value < 1000)
		return EINVAL_;
	f->says.quota_us = value;
	if (is_schedulable(k))
		return TAKEN;
	f->says.quota_us = was;
	return EINVAL_;
}

static int write_weight(const struct kernel *k, struct file *f, int64_t value)
{
	if (k->v == CGROUP_V2 ? value < 1 || value > 10000 : value < 2 || value > 262144)
		return EINVAL_;
	f->says.weight = value;
	return TAKEN;
}

static void reclaim(struct kernel *k, struct file *f, int64_t limit)
{
	int64_t over = limit == NONE || f->used <= limit ? 0 : f->used - limit;
	k->waited = over;
	over = over < f->freeable ? over : f->freeable;
	f->used -= over;
	f->freeable -= over;
}

static int write_memory(struct kernel *k, struct file *f, int64_t value)
{
	if (k->v == CGROUP_V1 && value != NONE && value < f->used)
		return EBUSY_;
	reclaim(k, f, value);
	k->killed |= value != NONE && f->used > value;
	f->says.memory_bytes = value / 4096 * 4096;
	if (value == NONE)
		f->says.memory_bytes = NONE;
	return TAKEN;
}

static int write_high(struct kernel *k, struct file *f, int64_t value)
{
	if (k->v == CGROUP_V1)
		return EINVAL_; /* there is no such file */
	reclaim(k, f, value);
	f->says.high_bytes = value;
	return TAKEN;
}

static int write_step(struct kernel *k, const struct step *s)
{
	struct file *f = s->cgroup == STEP_POD ? &k->pod : &k->container[s->cgroup];
	k->waited = 0;
	switch (s->knob) {
	case KNOB_QUOTA:
		return write_quota(k, f, s->value);
	case KNOB_WEIGHT:
		return write_weight(k, f, s->value);
	case KNOB_MEMORY:
		return write_memory(k, f, s->value);
	case KNOB_HIGH:
		return write_high(k, f, s->value);
	case KNOB_KINDS:
		break;
	}
	return EINVAL_;
}

/* ---- from any state to any state ------------------------------------------------------------- */

struct world {
	struct kernel k;
	struct step_pod p;
	struct step_cgroup container[CONTAINERS];
};

static struct step_cgroup *cgroup(struct world *w, int i)
{
	return i == STEP_POD ? &w->p.pod : &w->container[i];
}

static struct file *file(struct world *w, int i)
{
	return i == STEP_POD ? &w->k.pod : &w->k.container[i];
}

static bool above(int64_t a, int64_t b)
{
	return b != NONE && (a == NONE || a > b);
}

static int64_t draw_quota(void)
{
	return once_in(4) ? NONE : 1000 + below(20) * 1000 + below(3);
}

static int64_t draw_memory(void)
{
	return once_in(4) ? NONE : limits_pages(below(200) * MIB);
}

static struct cgroup_limits draw_limits(enum cgroup_version v)
{
	return (struct cgroup_limits){.quota_us = draw_quota(),
		.weight = once_in(3) ? NONE : 2 + below(1000),
		.memory_bytes = draw_memory(),
		.high_bytes = v == CGROUP_V2 ? draw_memory() : NONE};
}

static void draw_file(struct file *f)
{
	*f = (struct file){.says = {NONE, 2, NONE, NONE},
		.period_us = once_in(4) ? 10000 : 100000,
		.used = below(200) * MIB + below(MIB)};
	f->freeable = once_in(2) ? 0 : below(f->used + 1);
}

/* Sees to it that no more is used than may be: a kernel has killed for it. */
static void keep_within_limits(struct world *w)
{
	w->k.killed = false;
	for (int i = STEP_POD; i < (int)w->k.n; i++) {
		struct file *f = file(w, i);
		if (above(f->used, f->says.memory_bytes))
			f->used = f->says.memory_bytes;
		f->freeable = f->freeable < f->used ? f->freeable : f->used;
	}
}

/* Draws a pod; its files say what somebody wrote whom the kernel let. */
static void draw_world(struct world *w)
{
	struct kernel *k = &w->k;
	*k = (struct kernel){
		.v = once_in(2) ? CGROUP_V1 : CGROUP_V2, .n = (size_t)below(CONTAINERS + 1)};
	draw_file(&k->pod);
	for (size_t i = 0; i < k->n; i++)
		draw_file(&k->container[i]);
	for (int i = 0; i < 20; i++) {
		struct cgroup_limits l = draw_limits(k->v);
		int64_t values[KNOB_KINDS] = {l.quota_us, l.weight, l.memory_bytes, l.high_bytes};
		enum knob_kind knob = (enum knob_kind)below(KNOB_KINDS);
		struct step s = {(int)below((int64_t)k->n + 1) - 1, knob, values[knob]};
		write_step(k, &s);
	}
	keep_within_limits(w);
	w->p = (struct step_pod){
		.pod.want = draw_limits(k->v), .containers = w->container, .ncontainers = k->n};
	for (size_t i = 0; i < k->n; i++)
		w->container[i].want = draw_limits(k->v);
}

static void read_file(const struct file *f, struct step_cgroup *c, bool all)
{
	c->now = f->says;
	c->period_us = f->period_us == 100000 && once_in(2) ? 0 : f->period_us;
	c->memory_used = !all && once_in(10) ? -1 : f->used;
}

/* Some use more before the steps are written than when they were made. */
static void use_a_little_more(struct world *w)
{
	for (int i = STEP_POD; i < (int)w->k.n; i++) {
		const struct step_cgroup *c = cgroup(w, i);
		if (c->memory_used > c->want.memory_bytes && w->k.v == CGROUP_V1 && once_in(2))
			file(w, i)->used += below(MIB / 2);
	}
}

static void check_step(struct world *w, const struct step *s)
{
	const struct step_cgroup *c = cgroup(w, s->cgroup);
	const struct file *f = file(w, s->cgroup);
	bool unknown = c->memory_used < 0, rises = false;
	if (s->knob == KNOB_MEMORY || s->knob == KNOB_HIGH) {
		bool high = s->knob == KNOB_HIGH;
		int64_t says = high ? f->says.high_bytes : f->says.memory_bytes;
		int64_t want = high ? c->want.high_bytes : c->want.memory_bytes;
		rises = above(s->value, says);
		holds(!rises || !above(says, want)); /* not up on the way down */
		holds(!unknown || rises);
		/* Below what is used: only high, or when patience is over. */
		if (!high && w->p.patience && s->value != NONE && s->value < f->used)
			holds(rises);
	}
	holds(write_step(&w->k, s) == TAKEN);
	holds(rises || w->k.waited <= 64 * MIB + (1 << 16));
	holds(!w->k.killed || !w->p.patience);
}

static void check_once(const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			holds(steps[i].cgroup != steps[j].cgroup || steps[i].knob != steps[j].knob);
}

/* Makes the steps of a tick and writes them. all: nothing fails to be read. */
static size_t tick(struct world *w, bool all)
{
	struct step steps[(CONTAINERS + 1) * KNOB_KINDS];
	for (int i = STEP_POD; i < (int)w->k.n; i++)
		read_file(file(w, i), cgroup(w, i), all);
	size_t n = steps_make(&w->p, w->k.v, steps);
	holds(n <= steps_max(w->k.n));
	check_once(steps, n);
	use_a_little_more(w);
	for (size_t i = 0; i < n; i++)
		check_step(w, &steps[i]);
	return n;
}

/* Use goes up and down; a limit that somebody raises too far is used. */
static void use_memory(struct world *w)
{
	for (int i = STEP_POD; i < (int)w->k.n; i++) {
		struct file *f = file(w, i);
		int64_t more = (below(41) - 20) * MIB;
		f->used = f->used + more > 0 ? f->used + more : 0;
	}
	keep_within_limits(w);
}

static void check_end(struct world *w)
{
	int64_t pod = w->p.pod.want.quota_us;
	for (int i = STEP_POD; i < (int)w->k.n; i++) {
		const struct file *f = file(w, i);
		const struct cgroup_limits *want = &cgroup(w, i)->want;
		bool useless = pod != NONE &&
			       (want->quota_us == NONE ||
				       want->quota_us * w->k.pod.period_us > pod * f->period_us);
		holds(f->says.quota_us == (useless && i != STEP_POD ? NONE : want->quota_us));
		holds(want->weight == NONE || f->says.weight == want->weight);
		holds(f->says.memory_bytes == want->memory_bytes);
		holds(w->k.v == CGROUP_V1 || f->says.high_bytes == want->high_bytes);
	}
}

static void lead(void)
{
	struct world w;
	draw_world(&w);
	w.p.patience = true;
	for (int i = 0; i < 6; i++, use_memory(&w)) {
		w.p.patience = i < 4;
		tick(&w, false);
	}
	for (int i = STEP_POD; i < (int)w.k.n; i++)
		file(&w, i)->used = file(&w, i)->freeable = 0;
	tick(&w, true);
	check_end(&w);
	holds(tick(&w, true) == 0);
}

static void from_any_state_to_any_state(void **state)
{
	(void)state;
	play_seeds(SEEDS, lead);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_writes),
		cmocka_unit_test(from_any_state_to_any_state),
	};
	take_seed(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
