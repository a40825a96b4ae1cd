#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

const char *const m_resource_name[N_RESOURCES] = {"cpu", "memory", "gpu", "pods", "odd"};
static const char *const taint_key[N_TAINTS] = {"spot", "gpu"};

static uint64_t draw(struct model *m)
{
	m->random += 0x9E3779B97F4A7C15u;
	uint64_t z = m->random;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

uint32_t model_below(struct model *m, uint32_t n)
{
	return (uint32_t)(draw(m) >> 33) % n;
}

static bool one_in(struct model *m, uint32_t n)
{
	return model_below(m, n) == 0;
}

static const char *name_of(const char *kind, int i)
{
	static char text[8][16];
	static size_t turn;
	char *t = text[turn++ % 8];
	snprintf(t, sizeof(text[0]), "%s%d", kind, i);
	return t;
}

struct m_job *model_find(struct model *m, const struct uid *uid)
{
	for (size_t i = 0; i < N_JOBS; i++)
		if (m->job[i].alive && uid_cmp(&m->job[i].uid, uid) == 0)
			return &m->job[i];
	return NULL;
}

/* ---- What admins do ---- */

static void tell_flavor(struct model *m, int i)
{
	struct m_flavor *f = &m->flavor[i];
	f->exists = true;
	f->taint = (int)model_below(m, N_TAINTS + 2) - 2;
	if (f->taint < 0)
		f->taint = -1;
	struct taint taint = {f->taint < 0 ? "" : taint_key[f->taint], "true", TAINT_NO_SCHEDULE};
	f->idle = i < 4 && one_in(m, 3);
	f->share = f->idle ? 1 + (int32_t)model_below(m, 1000) : 0;
	struct flavor_spec s = {.name = name_of("f", i),
		.nodes = {.taints = &taint, .ntaints = f->taint >= 0},
		.lending = f->idle ? LENDING_BATCH : LENDING_NONE,
		.share_permille = f->share};
	queue_set_flavor(m->q, &s, NULL);
}

static void drop_flavor(struct model *m, int i)
{
	m->flavor[i] = (struct m_flavor){.exists = false};
	queue_drop_flavor(m->q, name_of("f", i));
}

/* Also of flavors that lend nothing or do not exist; now and then more than can be counted. */
static void tell_pool(struct model *m, int i)
{
	struct m_flavor *f = &m->flavor[i];
	for (size_t r = 0; r < 2 && !one_in(m, 4); r++) {
		f->pool[r] =
			one_in(m, 20) ? INT64_MAX - model_below(m, 3) : (int64_t)model_below(m, 60);
		f->most[r] = one_in(m, 3) ? (int64_t)model_below(m, 4) : f->pool[r];
	}
	queue_set_idle_pool(m->q, &(struct idle_pool){name_of("f", i), f->pool[0], f->pool[1],
					  f->most[0], f->most[1]});
}

static __int128 sum_nominal(const struct model *m, int flavor, int resource)
{
	__int128 sum = 0;
	for (size_t i = 0; i < N_QUEUES; i++) {
		const struct m_queue *q = &m->queue[i];
		for (size_t g = 0; q->exists && g < q->ngroups; g++)
			for (size_t f = 0; f < q->group[g].nflavors; f++)
				for (size_t r = 0; r < q->group[g].nresources; r++)
					if (q->group[g].flavor[f] == flavor &&
						q->group[g].resource[r] == resource)
						sum += q->group[g].nominal[f][r];
	}
	return sum;
}

int64_t model_quota(const struct model *m, const struct m_group *g, size_t f, size_t r)
{
	const struct m_flavor *flavor = &m->flavor[g->flavor[f]];
	int resource = g->resource[r];
	if (!flavor->idle || resource > 1)
		return g->nominal[f][r];
	__int128 pool = (__int128)flavor->pool[resource] * flavor->share / 1000;
	__int128 sum = sum_nominal(m, g->flavor[f], resource);
	return sum > 0 ? (int64_t)(pool * g->nominal[f][r] / sum) : 0;
}

/* Resource groups: {cpu, memory[, pods]} in up to four flavors, {gpu[, odd]} in up to two: from one
 * pair to sixteen, so that both ways of pruning are used. */
static void draw_groups(struct model *m, struct m_queue *q)
{
	static const int first[2][3] = {{0, 1, 3}, {1, 0, 3}}, second[3] = {2, 4, 0};
	int shift = (int)model_below(m, 4);
	q->ngroups = 1 + model_below(m, 2);
	for (size_t g = 0; g < q->ngroups; g++) {
		struct m_group *x = &q->group[g];
		const int *from = g == 0 ? first[model_below(m, 2)] : second;
		x->nresources = g == 0 ? 2 + model_below(m, 2) : 1 + model_below(m, 2);
		x->nflavors = 1 + model_below(m, g == 0 ? 4 : 2);
		for (size_t r = 0; r < x->nresources; r++)
			x->resource[r] = from[r];
		for (size_t f = 0; f < x->nflavors; f++)
			x->flavor[f] = g == 0 ? ((int)f + shift) % 4 : 4 + (int)f;
	}
}

/* Now and then enormous, so that the scale of keys.h is far off later. */
static int64_t draw_nominal(struct model *m)
{
	return one_in(m, 12) ? (int64_t)1 << (20 + model_below(m, 42))
			     : 2 + (int64_t)model_below(m, 20);
}

static void draw_nominals(struct model *m, struct m_queue *q)
{
	for (size_t g = 0; g < q->ngroups; g++)
		for (size_t f = 0; f < q->group[g].nflavors; f++)
			for (size_t r = 0; r < q->group[g].nresources; r++)
				q->group[g].nominal[f][r] = draw_nominal(m);
}

struct spelled { /* a ClusterQueue's spec in the arrays that it takes */
	struct resource_group_spec group[M_GROUPS];
	struct flavor_quota_spec flavor[M_GROUPS][4];
	struct quota_spec quota[M_GROUPS][4][3];
	const char *resource[M_GROUPS][3];
	char name[M_GROUPS][4][16];
};

static void spell_group(struct spelled *s, const struct m_group *x, size_t g)
{
	for (size_t r = 0; r < x->nresources; r++)
		s->resource[g][r] = m_resource_name[x->resource[r]];
	for (size_t f = 0; f < x->nflavors; f++) {
		snprintf(s->name[g][f], sizeof(s->name[g][f]), "f%d", x->flavor[f]);
		for (size_t r = 0; r < x->nresources; r++)
			s->quota[g][f][r] = (struct quota_spec){s->resource[g][r], x->nominal[f][r],
				QUOTA_UNLIMITED, QUOTA_UNLIMITED};
		s->flavor[g][f] =
			(struct flavor_quota_spec){s->name[g][f], s->quota[g][f], x->nresources};
	}
	s->group[g] = (struct resource_group_spec){
		s->resource[g], x->nresources, s->flavor[g], x->nflavors};
}

static void spell_queue(struct model *m, int i)
{
	static const char *const prod[] = {"prod"};
	static const struct requirement env = {"env", SELECTOR_IN, prod, 1};
	const struct m_queue *q = &m->queue[i];
	struct spelled s;
	for (size_t g = 0; g < q->ngroups; g++)
		spell_group(&s, &q->group[g], g);
	struct clusterqueue_spec spec = {.name = name_of("c", i),
		.cohort = "",
		.groups = s.group,
		.ngroups = q->ngroups,
		.deleting = q->deleting,
		.stop_policy = q->stop,
		.strategy = q->strict ? STRICT_FIFO : BEST_EFFORT_FIFO,
		.has_max_priority = q->caps,
		.max_priority = q->cap,
		.has_namespace_selector = q->selector > 0};
	if (q->selector == 2)
		spec.namespace_selector = (struct selector_term){&env, 1};
	queue_set_clusterqueue(m->q, &spec, NULL);
}

static enum stop_policy draw_policy(struct model *m)
{
	uint32_t n = model_below(m, 24);
	return n == 0 ? STOP_HOLD : n == 1 ? STOP_HOLD_AND_DRAIN : STOP_NONE;
}

static void tell_queue(struct model *m, int i)
{
	struct m_queue *q = &m->queue[i];
	if (!q->exists || one_in(m, 4))
		draw_groups(m, q);
	q->exists = true;
	if (!one_in(m, 4))
		draw_nominals(m, q);
	q->deleting = one_in(m, 20);
	q->strict = model_below(m, 3) == 0;
	q->caps = one_in(m, 4);
	q->cap = (int32_t)model_below(m, 4) - 1;
	q->stop = draw_policy(m);
	q->selector = one_in(m, 12) ? 0 : 1 + (int)one_in(m, 3);
	spell_queue(m, i);
}

static void drop_queue(struct model *m, int i)
{
	m->queue[i] = (struct m_queue){.exists = false};
	queue_drop_clusterqueue(m->q, name_of("c", i));
}

static void tell_local(struct model *m, int i)
{
	struct m_local *l = &m->local[i];
	*l = (struct m_local){true, one_in(m, 20), draw_policy(m), (int)model_below(m, N_QUEUES)};
	struct localqueue_spec s = {.ns = name_of("n", i % N_NAMESPACES),
		.name = name_of("l", i),
		.clusterqueue = name_of("c", l->queue),
		.deleting = l->deleting,
		.stop_policy = l->stop};
	queue_set_localqueue(m->q, &s, NULL);
}

static void drop_local(struct model *m, int i)
{
	m->local[i] = (struct m_local){.exists = false};
	queue_drop_localqueue(m->q, name_of("n", i % N_NAMESPACES), name_of("l", i));
}

static void tell_class(struct model *m)
{
	int i = (int)model_below(m, N_CLASSES);
	enum priority_kind kind = one_in(m, 2) ? PRIORITY_POD : PRIORITY_WORKLOAD;
	struct m_class *c = kind == PRIORITY_POD ? &m->pod_class[i] : &m->class[i];
	if (one_in(m, 12)) {
		*c = (struct m_class){.exists = false};
		queue_drop_priority(m->q, kind, name_of("p", i));
		return;
	}
	bool by_default = kind == PRIORITY_POD && one_in(m, 3);
	int32_t value = one_in(m, 12) ? PRIORITY_HIGHEST + 1 : (int32_t)model_below(m, 4) - 1;
	*c = (struct m_class){true, value, by_default};
	struct priority_spec s = {kind, name_of("p", i), c->value, by_default};
	queue_set_priority(m->q, &s);
}

static void tell_namespace(struct model *m, int i)
{
	m->ns_exists[i] = !one_in(m, 8);
	m->ns_prod[i] = !one_in(m, 3);
	struct label label = {"env", m->ns_prod[i] ? "prod" : "test"};
	struct namespace_spec s = {name_of("n", i), &label, 1};
	if (m->ns_exists[i])
		queue_set_namespace(m->q, &s);
	else
		queue_drop_namespace(m->q, s.name);
}

/* ---- Jobs that others wait for ---- */

int model_namespace_of(int predecessor)
{
	return predecessor % N_NAMESPACES;
}

static struct predecessor seen(const struct model *m, int i)
{
	enum predecessor_state state = m->predecessor[i];
	bool ended = state == PREDECESSOR_SUCCEEDED || state == PREDECESSOR_FAILED;
	return (struct predecessor){.uid = {{1, (uint8_t)i}},
		.ns = name_of("n", model_namespace_of(i)),
		.name = name_of("x", i),
		.created_ms = 1000,
		.state = state,
		.ended_ms = ended ? 2000 : 0,
		.failure = "",
		.followed = true};
}

/* It succeeded: that counts for those that wait for it now. */
static void succeed(struct model *m, int predecessor)
{
	for (size_t i = 0; i < N_JOBS; i++) {
		struct m_job *j = &m->job[i];
		if (j->after == predecessor &&
			j->local % N_NAMESPACES == model_namespace_of(predecessor))
			j->after_holds = true;
	}
}

static void step_predecessor(struct model *m)
{
	int i = m->npredecessors - (int)model_below(m, 4);
	if (i < 0 || i == N_PREDECESSORS)
		return;
	if (i == m->npredecessors)
		m->npredecessors++;
	else if (m->predecessor[i] == PREDECESSOR_WAITS)
		m->predecessor[i] = PREDECESSOR_STARTED;
	else if (m->predecessor[i] == PREDECESSOR_STARTED)
		m->predecessor[i] = one_in(m, 4) ? PREDECESSOR_FAILED : PREDECESSOR_SUCCEEDED;
	if (m->predecessor[i] == PREDECESSOR_SUCCEEDED)
		succeed(m, i);
	struct predecessor p = seen(m, i);
	queue_see_predecessor(m->q, &p);
}

static void answer_wanted(struct model *m)
{
	struct wanted_predecessors asked;
	while (queue_take_wanted(m->q, &asked)) {
		int i = atoi(asked.name + 1);
		bool there = i < m->npredecessors &&
			     strcmp(asked.ns, name_of("n", model_namespace_of(i))) == 0;
		struct predecessor p = seen(m, i);
		queue_answer_wanted(m->q, asked.id, &p, there);
	}
}

/* What it waits for may have succeeded before. */
static void look_back(const struct model *m, struct m_job *j)
{
	bool known = j->after >= 0 && model_namespace_of(j->after) == j->local % N_NAMESPACES;
	if (known && m->predecessor[j->after] == PREDECESSOR_SUCCEEDED)
		j->after_holds = true;
}

static void draw_after(struct model *m, struct m_job *j)
{
	int before = j->after, i = m->npredecessors - 3 + (int)model_below(m, 5);
	j->after = one_in(m, 4) && i >= 0 && i < N_PREDECESSORS ? i : -1;
	if (j->after == before)
		return;
	j->after_holds = j->after < 0;
}

/* ---- What teams and the gate do ---- */

/* A start that may be called off yet is none. */
static bool was_started(const struct m_job *j)
{
	return j->room && (j->confirmed || j->adopted);
}

static void tell_job(struct model *m, struct m_job *j)
{
	if (was_started(j) && !j->invalid)
		j->after_holds = true;
	struct resource item[N_RESOURCES];
	struct container container = {.requests = {item, 0}};
	struct toleration toleration[N_TAINTS];
	size_t ntolerations = 0;
	for (int r = 0; r < N_RESOURCES; r++)
		if (r != PODS && j->request[r] > 0)
			item[container.requests.count++] =
				(struct resource){m_resource_name[r], j->request[r]};
	for (unsigned t = 0; t < N_TAINTS; t++)
		if (j->tolerates >> t & 1)
			toleration[ntolerations++] =
				(struct toleration){taint_key[t], "", TOLERATION_EXISTS, TAINT_ANY};
	struct dependency after = {.kind = AFTER_OK};
	if (j->after >= 0)
		after.name = after.text = name_of("x", j->after);
	struct job job = {.uid = j->uid,
		.after = {&after, j->after >= 0, DEPENDENCY_FAILURE_WAIT},
		.ns = name_of("n", j->local % N_NAMESPACES),
		.name = "job",
		.queue = name_of("l", j->local),
		.created_ms = j->created_ms,
		.submitted_by = j->user < 0 ? NULL : name_of("u", j->user),
		.nice = j->nice,
		.priority_class = j->class < 0 ? "" : name_of("p", j->class),
		.pod_priority_class = j->pod_class < 0 ? "" : name_of("p", j->pod_class),
		.hold = j->held ? "yes" : NULL,
		.deleting = j->deleting,
		.suspend = true,
		.lending = j->preemptible ? 1u << LENDING_NONE | 1u << LENDING_BATCH : 0,
		.resources = j->preemptible ? "{}" : NULL,
		.invalid = j->invalid ? "no such thing" : NULL,
		.parallelism = j->pods,
		.has_completions = true,
		.completions = j->pods,
		.pod = {.containers = &container, .ncontainers = 1},
		.placement = {.tolerations = toleration, .ntolerations = ntolerations}};
	queue_set_job(m->q, &job);
	answer_wanted(m);
}

static void draw_wishes(struct model *m, struct m_job *j)
{
	j->local = (int)model_below(m, N_LOCALS);
	j->class = (int)model_below(m, N_CLASSES * 2) - N_CLASSES;
	j->pod_class = (int)model_below(m, N_CLASSES * 2) - N_CLASSES;
	j->pods = 1 + (int32_t)model_below(m, 3);
	j->request[0] = model_below(m, 4);
	j->request[1] = model_below(m, 4);
	j->request[2] = one_in(m, 3) ? model_below(m, 3) : 0;
	j->request[4] = one_in(m, 15);
	if (one_in(m, 40))
		j->request[model_below(m, 2)] = INT64_MAX - model_below(m, 2);
	j->tolerates = model_below(m, 1 << N_TAINTS);
	j->held = one_in(m, 15);
	j->invalid = one_in(m, 30);
	j->deleting = one_in(m, 40);
	j->preemptible = one_in(m, 2);
	j->nice = one_in(m, 3) ? (int32_t)model_below(m, 5) - 2 : 0;
	draw_after(m, j);
}

static void new_job(struct model *m, struct m_job *j)
{
	*j = (struct m_job){
		.alive = true, .after = -1, .after_holds = true, .arrival = ++m->arrivals};
	uint32_t serial = ++m->uids;
	memcpy(j->uid.byte + 8, &serial, sizeof(serial));
	j->uid.byte[0] = (uint8_t)draw(m);
	j->created_ms = m->now_ms - (int64_t)model_below(m, 4) * 1000;
	j->own = (struct m_place){j->created_ms, j->arrival};
	j->user = (int)model_below(m, 3) - 1;
	draw_wishes(m, j);
	look_back(m, j);
	tell_job(m, j);
}

static void edit_job(struct model *m, struct m_job *j)
{
	int local = j->local;
	if (one_in(m, 3))
		draw_wishes(m, j);
	else if (one_in(m, 4))
		j->nice = (int32_t)model_below(m, 2 * NICE_MAX + 1) - NICE_MAX;
	else if (one_in(m, 12))
		j->user = (int)model_below(m, 3) - 1;
	else if (one_in(m, 2))
		j->held = !j->held;
	else
		j->request[0] = model_below(m, 4);
	/* A Job cannot change its namespace. */
	if (j->local % N_NAMESPACES != local % N_NAMESPACES)
		j->local = local;
	look_back(m, j);
	tell_job(m, j);
}

static void drop_job(struct model *m, struct m_job *j)
{
	queue_drop_job(m->q, &j->uid);
	j->alive = false;
}

/* The run ends because its idle resources are wanted back: once in five minutes on average. The
 * first time it may come back at once, and never later than five minutes after. */
static void pay_for_reclaim(struct m_job *j, int64_t stop_ms)
{
	enum { FIVE_MINUTES_MS = 300000 };
	int64_t from_ms = j->paid_ms > stop_ms ? j->paid_ms : stop_ms;
	if (from_ms > stop_ms + FIVE_MINUTES_MS)
		from_ms = stop_ms + FIVE_MINUTES_MS;
	j->paid_ms = from_ms + FIVE_MINUTES_MS;
	if (from_ms > stop_ms && j->not_before_ms < from_ms)
		j->not_before_ms = from_ms;
}

static void release_job(struct model *m, struct m_job *j)
{
	if (!j->room)
		return;
	int32_t runs = j->room_pods < j->pods ? j->room_pods : j->pods;
	bool unheard = j->reclaimed && !j->stop_given && runs > 0;
	j->room = j->confirmed = j->adopted = j->stop_given = j->reclaimed = false;
	j->nlines = 0;
	j->not_before_ms = one_in(m, 2) ? m->now_ms + (int64_t)model_below(m, 20) * 100 : 0;
	queue_release_job(m->q, &j->uid, m->now_ms, j->not_before_ms);
	if (j->stopped_ms > 0 || unheard)
		pay_for_reclaim(j, unheard ? m->now_ms : j->stopped_ms);
	j->stopped_ms = 0;
}

/* No Job has a min-parallelism here, so a Job that is to have fewer pods stops. */
static void reclaim_job(struct model *m, struct m_job *j)
{
	int32_t pods = (int32_t)model_below(m, 4);
	int32_t runs = j->room_pods < j->pods ? j->room_pods : j->pods;
	bool asks = j->room && !j->stop_given && !j->reclaimed && pods < runs;
	assert_int_equal(queue_reclaim_job(m->q, &j->uid, pods, "it is wanted back"), asks);
	j->reclaimed = j->reclaimed || asks;
}

static void shrink_job(struct model *m, struct m_job *j)
{
	int32_t pods = (int32_t)model_below(m, 3);
	queue_shrink_job(m->q, &j->uid, pods, m->now_ms);
	if (!j->room || pods >= j->room_pods)
		return;
	j->room_pods = pods;
	for (size_t i = 0; i < j->nlines; i++)
		j->line[i].amount = j->line[i].each * pods;
}

/* The ledger has a reservation, in any flavor of any queue, for some of the pods. */
static void adopt_job(struct model *m, struct m_job *j)
{
	struct quota_line line[8];
	char name[8][16];
	int queue = (int)model_below(m, N_QUEUES);
	int32_t pods = 1 + (int32_t)model_below(m, (uint32_t)j->pods);
	j->nlines = 0;
	for (int r = 0; r < N_RESOURCES; r++) {
		int64_t each = r == PODS ? 1 : j->request[r];
		if (each <= 0 || each > 100 || (r == PODS && one_in(m, 2)))
			continue;
		struct m_line *l = &j->line[j->nlines];
		*l = (struct m_line){queue, (int)model_below(m, N_FLAVORS), r, each, each * pods};
		snprintf(name[j->nlines], sizeof(name[0]), "cq/c%d", queue);
		line[j->nlines++] = (struct quota_line){
			name[l - j->line], name_of("f", l->flavor), m_resource_name[r], l->amount};
	}
	queue_adopt_job(m->q, &j->uid, line, j->nlines, 0);
	j->counted = (int32_t)model_below(m, 2000) - 1000;
	j->uncounted = one_in(m, 2);
	if (!j->uncounted)
		queue_recall_priority(m->q, &j->uid, j->counted);
	j->room = j->adopted = true;
	j->confirmed = j->stop_given = j->reclaimed = false;
	j->stopped_ms = 0;
	j->not_before_ms = 0;
	j->room_local = j->local;
	j->room_queue = m->local[j->local].exists ? m->local[j->local].queue : -1;
	if (j->nlines > 0)
		j->room_queue = queue;
	j->room_pods = j->nlines > 0 ? pods : j->pods;
}

static void step_job(struct model *m)
{
	struct m_job *j = &m->job[model_below(m, N_JOBS)];
	uint32_t what = model_below(m, 100);
	if (!j->alive) {
		new_job(m, j);
	} else if (what < 15) {
		edit_job(m, j);
	} else if (what < 35) {
		drop_job(m, j);
	} else if (what < 60) {
		j->confirmed = j->room;
		queue_confirm_job(m->q, &j->uid, m->now_ms);
	} else if (what < 75) {
		release_job(m, j);
	} else if (what < 85) {
		shrink_job(m, j);
	} else if (what < 90) {
		j->blocked = !j->blocked && one_in(m, 3);
		queue_block_job(m->q, &j->uid, j->blocked ? "blocked" : NULL);
	} else if (what < 91) {
		adopt_job(m, j);
	} else if (what < 94) {
		reclaim_job(m, j);
	} else {
		tell_job(m, j); /* the same fact twice */
	}
}

void model_step(struct model *m)
{
	uint32_t what = model_below(m, 100);
	m->now_ms += (int64_t)model_below(m, 3) * 100;
	if (what < 76)
		step_job(m);
	else if (what < 79)
		step_predecessor(m);
	else if (what < 84)
		tell_pool(m, (int)model_below(m, 4));
	else if (what < 89)
		tell_queue(m, (int)model_below(m, N_QUEUES));
	else if (what < 92)
		tell_local(m, (int)model_below(m, N_LOCALS));
	else if (what < 94)
		tell_flavor(m, (int)model_below(m, N_FLAVORS));
	else if (what < 96)
		tell_class(m);
	else if (what < 98)
		tell_namespace(m, (int)model_below(m, N_NAMESPACES));
	else if (one_in(m, 6))
		drop_queue(m, (int)model_below(m, N_QUEUES));
	else if (one_in(m, 4))
		drop_local(m, (int)model_below(m, N_LOCALS));
	else if (one_in(m, 8))
		drop_flavor(m, (int)model_below(m, N_FLAVORS));
}

/* Most of the world exists at the start; otherwise nothing would ever run. */
void model_init(struct model *m, uint64_t seed)
{
	*m = (struct model){.q = queue_new(), .random = seed, .now_ms = 1000000};
	for (int i = 0; i < N_FLAVORS; i++)
		tell_flavor(m, i);
	for (int i = 0; i < 4; i++)
		tell_pool(m, i);
	for (int i = 0; i < N_QUEUES; i++)
		tell_queue(m, i);
	for (int i = 0; i < N_LOCALS; i++)
		tell_local(m, i);
	for (int i = 0; i < N_NAMESPACES; i++)
		tell_namespace(m, i);
	for (int i = 0; i < 4 * N_CLASSES; i++)
		tell_class(m);
}

void model_done(struct model *m)
{
	queue_free(m->q);
}
