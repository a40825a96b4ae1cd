#include "base/must.h"
#include "planned.h"
#include "queue/core/model/quota.h"
#include "queue/core/model/quota_plan.h"
#include "test/unit/core/inside.h"
#include "test/unit/queue/worlds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const char *const planned_queue_name[PLANNED_QUEUES] = {"left", "right"};
const char *const planned_flavor_name[PLANNED_FLAVORS] = {"spot", "on-demand"};
static const char *const local_name[PLANNED_QUEUES] = {"l", "r"};
static const char *const class_name[] = {"", "above"};
#define UNIT 1000 /* a core */

static int64_t draw(struct planned *p, int64_t least, int64_t most)
{
	return rng_between(&p->rng, least, most);
}

struct uid planned_uid(const struct planned_job *j)
{
	struct uid u = {{0}};
	memcpy(u.byte, &j->number, sizeof(j->number));
	u.byte[15] = 1;
	return u;
}

struct planned_job *planned_find(struct planned *p, const struct uid *uid)
{
	for (size_t i = 0; i < PLANNED_JOBS; i++) {
		struct uid its = planned_uid(&p->job[i]);
		if (p->job[i].alive && uid_cmp(&its, uid) == 0)
			return &p->job[i];
	}
	return NULL;
}

int64_t planned_span_ms(const struct planned_job *j)
{
	return j->expected_ms > 0 ? j->expected_ms : HOUR_MS;
}

/* ---- A queue is told ---------------------------------------------------------------------------
 */

void planned_tell_queue(const struct planned *p, struct queue *q, int queue)
{
	static const char *const cpu[] = {"cpu"};
	const struct planned_queue *k = &p->queue[queue];
	struct quota_spec quota[PLANNED_FLAVORS];
	struct flavor_quota_spec flavor[PLANNED_FLAVORS];
	for (size_t f = 0; f < PLANNED_FLAVORS; f++) {
		quota[f] = (struct quota_spec){"cpu", k->nominal[f], QUOTA_UNLIMITED,
			f == 0 && k->in_cohort ? k->lends : QUOTA_UNLIMITED};
		flavor[f] = (struct flavor_quota_spec){planned_flavor_name[f], &quota[f], 1};
	}
	struct resource_group_spec group = {cpu, 1, flavor, PLANNED_FLAVORS};
	struct clusterqueue_spec s = {.name = planned_queue_name[queue],
		.cohort = k->in_cohort ? "all" : "",
		.groups = &group,
		.ngroups = 1,
		.strategy = k->strategy,
		.weight = 1,
		.has_namespace_selector = true};
	assert_int_equal(queue_set_clusterqueue(q, &s, NULL), 0);
	make_localqueue(q, "team", local_name[queue], planned_queue_name[queue]);
}

static void tell_prices(const struct planned *p, struct queue *q)
{
	struct price_base base = {"cpu", false, 1000000};
	struct priceplan_spec s = {.name = "plan",
		.currency = "EUR",
		.base = &base,
		.nbases = 1,
		.has_series = true,
		.series = p->price,
		.nseries = PLANNED_PRICES};
	assert_int_equal(queue_set_priceplan(q, &s, NULL), 0);
}

void planned_tell_admins(const struct planned *p, struct queue *q)
{
	struct priority_spec above = {.kind = PRIORITY_WORKLOAD, .name = "above", .value = 10};
	for (size_t f = 0; f < PLANNED_FLAVORS; f++)
		make_flavor(q, planned_flavor_name[f]);
	queue_set_priority(q, &above);
	for (int i = 0; i < PLANNED_QUEUES; i++)
		planned_tell_queue(p, q, i);
	tell_prices(p, q);
}

void planned_tell_job(const struct planned *p, struct queue *q, const struct planned_job *j)
{
	(void)p;
	char name[32];
	snprintf(name, sizeof(name), "job-%u", j->number);
	struct job job = {.uid = planned_uid(j),
		.ns = "team",
		.name = name,
		.queue = local_name[j->queue],
		.priority_class = class_name[j->class],
		.pod_priority_class = "",
		.suspend = !j->runs,
		.created_ms = j->created_ms,
		.parallelism = 1,
		.has_completions = true,
		.completions = 1,
		.hold = j->held ? "not now" : NULL,
		.pod = {.containers = ASKS_CPU(j->cpu), .ncontainers = 1},
		.durations = {.expected_ms = j->expected_ms},
		.terms = {.cheapest = j->cheapest,
			.deadline_ms = j->deadline_ms,
			.hold_when_missed = j->hold_when_missed,
			.has_max_price = j->max_price > 0,
			.max_price = j->max_price,
			.max_price_resource = "cpu"}};
	queue_set_job(q, &job);
}

/* ---- What happens ------------------------------------------------------------------------------
 */

/* How wide and how long it is. */
static void draw_size(struct planned *p, struct planned_job *j)
{
	j->cpu = draw(p, 1, 6) * UNIT;
	j->expected_ms = draw(p, 0, 4) > 0 ? draw(p, 1, 60) * MINUTE_MS : 0;
	j->lasts_ms = draw(p, 0, 2) > 0 ? planned_span_ms(j) : draw(p, 1, 120) * MINUTE_MS;
}

static void submit(struct planned *p, struct planned_job *j)
{
	*j = (struct planned_job){.alive = true,
		.number = ++p->made,
		.queue = (int)draw(p, 0, PLANNED_QUEUES - 1),
		.class = draw(p, 0, 4) == 0,
		.created_ms = p->made * 10, /* no two are as old */
		.cheapest = !p->reserves && draw(p, 0, 1),
		.hold_when_missed = draw(p, 0, 8) == 0};
	draw_size(p, j);
	if (draw(p, 0, 2) > 0)
		j->deadline_ms = p->now_ms - p->now_ms % HOUR_MS + draw(p, 1, 12) * HOUR_MS;
	if (j->cheapest && j->deadline_ms > 0 && draw(p, 0, 5) == 0)
		j->max_price = 500000;
	planned_tell_job(p, p->q, j);
}

static void drop_job(struct planned *p, struct planned_job *j)
{
	struct uid uid = planned_uid(j);
	queue_drop_job(p->q, &uid);
	j->alive = j->runs = j->stopping = false;
}

static void edit_job(struct planned *p, struct planned_job *j)
{
	if (draw(p, 0, 1))
		j->held = !j->held;
	else
		draw_size(p, j);
	planned_tell_job(p, p->q, j);
}

static void draw_queue(struct planned *p, int queue)
{
	struct planned_queue *k = &p->queue[queue];
	int64_t cores = draw(p, 6, 9);
	k->nominal[0] = cores * UNIT;
	k->nominal[1] = cores * UNIT / 2;
	k->in_cohort = draw(p, 0, 3) > 0;
	k->lends = draw(p, 0, 1) ? QUOTA_UNLIMITED : 3 * UNIT;
	k->strategy = (enum queueing_strategy)draw(p, 0, 2);
}

/* ---- Reservations ------------------------------------------------------------------------------
 */

void planned_name_reservation(const struct planned_reservation *r, char ret_name[32])
{
	snprintf(ret_name, 32, "reservation-%03u", r->number);
}

/* Of what the queue shows, what its status would say. */
static void recall(const struct queue *shown_by, struct advance_reservation_spec *s,
	struct advance_amount *left, size_t cap)
{
	struct advance_reservation_view v;
	for (size_t i = 0; queue_view_advance_reservation(shown_by, i, &v); i++) {
		if (strcmp(v.name, s->name) != 0)
			continue;
		s->accepted = v.accepted.ok;
		s->left_from_ms = v.left_from_ms;
		for (size_t k = 0; v.left_from_ms != 0 && k < v.nuse && s->nleft < cap; k++)
			left[s->nleft++] = (struct advance_amount){
				v.use[k].flavor, v.use[k].resource, v.use[k].left};
		s->left = left;
	}
}

void planned_tell_reservation(const struct planned *p, struct queue *q,
	const struct planned_reservation *r, const struct queue *shown_by)
{
	(void)p;
	static const char *const others[] = {"others"};
	char name[32];
	struct advance_amount left[8];
	struct advance_amount amount = {
		planned_flavor_name[r->flavor], r->cpu > 0 ? "cpu" : "", r->cpu};
	planned_name_reservation(r, name);
	struct advance_reservation_spec s = {.name = name,
		.uid = {{0xad, (uint8_t)r->number, (uint8_t)(r->number >> 8)}},
		.generation = 1,
		.created_ms = r->created_ms,
		.clusterqueue = r->everywhere ? "" : planned_queue_name[r->queue],
		.amount = &amount,
		.namounts = 1,
		.from_ms = r->from_ms,
		.until_ms = r->until_ms,
		.calendar = "",
		.maintenance = r->maintenance,
		.namespaces = others,
		.nnamespaces = r->for_others && !r->maintenance ? 1 : 0,
		.release_after_ms = r->release_after_ms};
	if (shown_by)
		recall(shown_by, &s, left, sizeof(left) / sizeof(left[0]));
	assert_int_equal(queue_set_advance_reservation(q, &s, NULL), 0);
}

static void reserve(struct planned *p, struct planned_reservation *r)
{
	*r = (struct planned_reservation){.exists = true,
		.number = ++p->made,
		.queue = (int)draw(p, 0, PLANNED_QUEUES - 1),
		.flavor = (int)draw(p, 0, PLANNED_FLAVORS - 1),
		.maintenance = draw(p, 0, 3) == 0,
		.for_others = draw(p, 0, 1),
		.cpu = draw(p, 0, 3) > 0 ? draw(p, 1, 5) * UNIT : 0};
	r->everywhere = r->maintenance && draw(p, 0, 1);
	if (r->everywhere)
		r->cpu = 0;
	r->created_ms = p->made * 10;
	r->from_ms = p->now_ms + draw(p, 1, 180) * MINUTE_MS;
	r->until_ms = r->from_ms + draw(p, 1, 120) * MINUTE_MS;
	if (!r->maintenance && draw(p, 0, 2) == 0)
		r->release_after_ms = draw(p, 5, 40) * MINUTE_MS;
	planned_tell_reservation(p, p->q, r, NULL);
}

void planned_drop_reservation(struct planned *p, struct planned_reservation *r)
{
	char name[32];
	planned_name_reservation(r, name);
	queue_drop_advance_reservation(p->q, name);
	r->exists = false;
}

static void reservation_event(struct planned *p)
{
	struct planned_reservation *r = &p->reservation[draw(p, 0, PLANNED_RESERVATIONS - 1)];
	if (!r->exists)
		reserve(p, r);
	else if (r->until_ms <= p->now_ms || draw(p, 0, 5) == 0)
		planned_drop_reservation(p, r);
}

void planned_event(struct planned *p)
{
	if (p->reserves && draw(p, 0, 4) == 0) {
		reservation_event(p);
		return;
	}
	int64_t what = draw(p, 0, 20);
	struct planned_job *j = &p->job[draw(p, 0, PLANNED_JOBS - 1)];
	bool waits = j->alive && !j->runs;
	if (what < 11 && !j->alive) {
		submit(p, j);
	} else if (what < 13 && waits) {
		edit_job(p, j);
	} else if (what == 13 && waits) {
		drop_job(p, j);
	} else if (what == 14) {
		int queue = (int)draw(p, 0, PLANNED_QUEUES - 1);
		draw_queue(p, queue);
		planned_tell_queue(p, p->q, queue);
	} else if (what == 15) {
		tell_prices(p, p->q);
	}
}

static void free_of_admins(struct planned_queue *k)
{
	k->nominal[0] = 8 * UNIT;
	k->nominal[1] = 4 * UNIT;
	k->in_cohort = true;
	k->lends = QUOTA_UNLIMITED;
}

void planned_calm(struct planned *p)
{
	p->calm = true;
	for (int i = 0; i < PLANNED_QUEUES; i++) {
		free_of_admins(&p->queue[i]);
		planned_tell_queue(p, p->q, i);
	}
	for (size_t i = 0; i < PLANNED_JOBS; i++) {
		struct planned_job *j = &p->job[i];
		if (!j->alive || j->runs)
			continue;
		j->held = false;
		planned_tell_job(p, p->q, j);
	}
}

static void start(struct planned *p, struct planned_job *j)
{
	struct uid uid = planned_uid(j);
	if (p->calm && j->lasts_ms > planned_span_ms(j))
		j->lasts_ms = planned_span_ms(j);
	j->runs = true;
	j->began_ms = p->now_ms;
	j->ends_ms = p->now_ms + j->lasts_ms;
	p->started++;
	queue_confirm_job(p->q, &uid, p->now_ms);
	planned_tell_job(p, p->q, j);
}

/* Its pods have some seconds to end. */
static void stop(struct planned *p, struct planned_job *j)
{
	assert_true(j->runs && !j->stopping);
	j->stopping = true;
	j->ends_ms = p->now_ms + draw(p, 0, 60) * 1000;
	p->stopped++;
}

bool planned_decide(struct planned *p,
	void (*seen)(struct planned *p, struct planned_job *j, const struct decision *d))
{
	struct decision d;
	if (queue_decide(p->q, p->now_ms, &d, 1, &p->next_ms) == 0)
		return false;
	struct planned_job *j = planned_find(p, &d.uid);
	must(j);
	if (d.kind == DECISION_STOP) {
		assert_true(p->reserves);
		assert_int_equal(d.reason, STOP_REASON_RESERVED);
		stop(p, j);
	} else {
		assert_int_equal(d.kind, DECISION_START);
		assert_false(j->runs);
		start(p, j);
	}
	if (seen)
		seen(p, j, &d);
	return true;
}

int64_t planned_end_runs(struct planned *p)
{
	int64_t next_ms = INT64_MAX;
	for (size_t i = 0; i < PLANNED_JOBS; i++) {
		struct planned_job *j = &p->job[i];
		if (!j->runs)
			continue;
		if (j->ends_ms <= p->now_ms)
			drop_job(p, j);
		else if (j->ends_ms < next_ms)
			next_ms = j->ends_ms;
	}
	return next_ms;
}

void planned_drop_all(struct planned *p)
{
	for (size_t i = 0; i < PLANNED_JOBS; i++)
		if (p->job[i].alive)
			drop_job(p, &p->job[i]);
}

void planned_begin(struct planned *p, uint64_t seed, bool reserves)
{
	*p = (struct planned){.now_ms = 1000, .reserves = reserves};
	rng_seed(&p->rng, seed);
	for (int i = 0; i < PLANNED_PRICES; i++)
		p->price[i] = (struct price_point){i * 2 * HOUR_MS, draw(p, 1, 9) * 100000};
	for (int i = 0; i < PLANNED_QUEUES; i++)
		draw_queue(p, i);
	p->q = queue_new();
	planned_tell_admins(p, p->q);
}

/* ---- The plan in plain arithmetic --------------------------------------------------------------
 */

static int64_t amount_at(const struct booking *b, int queue, int flavor)
{
	int64_t sum = 0;
	for (size_t i = 0; i < b->nlines; i++) {
		const struct quota_row *row = b->line[i].row;
		if (strcmp(row->node->name + strlen("cq/"), planned_queue_name[queue]) == 0 &&
			strcmp(row->flavor, planned_flavor_name[flavor]) == 0)
			sum += b->line[i].amount;
	}
	return sum;
}

__int128 planned_use(const struct planned *p, int queue, int flavor, int64_t at_ms,
	const struct planned_job *but)
{
	__int128 sum = 0;
	struct uid not_its = but ? planned_uid(but) : (struct uid){{0}};
	list_each_entry(&inside_plan(p->q)->booked, const struct booking, b, of_plan)
		if (b->from_ms <= at_ms && at_ms < b->until_ms &&
			!(but && uid_cmp(&b->who, &not_its) == 0))
			sum += amount_at(b, queue, flavor);
	return sum;
}

/* What no other ClusterQueue may use of it. */
static int64_t own_part(const struct planned_queue *k, int flavor)
{
	bool limited = k->in_cohort && flavor == 0 && k->lends != QUOTA_UNLIMITED;
	return limited && k->nominal[0] > k->lends ? k->nominal[0] - k->lends : 0;
}

static __int128 beyond(const struct planned *p, int queue, int flavor, int64_t at_ms,
	const struct planned_job *but)
{
	__int128 use = planned_use(p, queue, flavor, at_ms, but);
	int64_t own = own_part(&p->queue[queue], flavor);
	return use > own ? use - own : 0;
}

__int128 planned_free(const struct planned *p, int queue, int flavor, int64_t at_ms,
	const struct planned_job *but)
{
	const struct planned_queue *k = &p->queue[queue];
	__int128 use = planned_use(p, queue, flavor, at_ms, but), left = 0;
	int64_t own = own_part(k, flavor);
	if (!k->in_cohort)
		return k->nominal[flavor] - use;
	for (int i = 0; i < PLANNED_QUEUES; i++)
		if (p->queue[i].in_cohort)
			left += p->queue[i].nominal[flavor] - own_part(&p->queue[i], flavor) -
				beyond(p, i, flavor, at_ms, but);
	return left + (use < own ? own - use : 0);
}

int64_t planned_next_change(const struct planned *p, int64_t at_ms)
{
	int64_t next_ms = INT64_MAX;
	list_each_entry(&inside_plan(p->q)->booked, const struct booking, b, of_plan) {
		if (b->from_ms > at_ms && b->from_ms < next_ms)
			next_ms = b->from_ms;
		if (b->until_ms > at_ms && b->until_ms < next_ms)
			next_ms = b->until_ms;
	}
	return next_ms;
}

/* What the plan says of a row; 0 where it has none. */
static __int128 said(struct planned *p, const char *node, int flavor, int64_t at_ms)
{
	struct quota_node *n = quota_node_of(inside_quota(p->q), node);
	struct quota_row *row =
		quota_row_of(inside_quota(p->q), n, planned_flavor_name[flavor], "cpu");
	return quota_plan_use(inside_plan(p->q), row, at_ms);
}

void planned_compare_profiles(struct planned *p)
{
	for (int64_t at_ms = p->now_ms; at_ms != INT64_MAX; at_ms = planned_next_change(p, at_ms))
		for (int f = 0; f < PLANNED_FLAVORS; f++) {
			__int128 above = 0;
			for (int i = 0; i < PLANNED_QUEUES; i++) {
				char node[32];
				snprintf(node, sizeof(node), "cq/%s", planned_queue_name[i]);
				assert_true(said(p, node, f, at_ms) ==
					    planned_use(p, i, f, at_ms, NULL));
				if (p->queue[i].in_cohort)
					above += beyond(p, i, f, at_ms, NULL);
			}
			assert_true(said(p, "cohort/all", f, at_ms) == above);
		}
}
