#include "queue/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core.h"
#include "queue/room.h"
#include "queue/runpolicy.h"
#include "queue/symbol.h"
#include "queue/terms.h"
#include "sluice/quantity.h"

#define GIB (INT64_C(1) << 30)

/* ---- What can be wrong with a spec ---- */

static int check_bases(const struct priceplan_spec *s, struct err *e)
{
	for (size_t i = 0; i < s->nbases; i++) {
		const struct price_base *b = &s->base[i];
		if (b->per_hour < 0)
			return err_set(e, ERR_INVALID,
				"PricePlan %s: spec.base: the price of %s is negative; it must be "
				"0 or more",
				s->name, b->resource);
		for (size_t k = 0; k < i; k++)
			if (strcmp(b->resource, s->base[k].resource) == 0)
				return err_set(e, ERR_INVALID,
					"PricePlan %s: spec.base has %s a second time; keep one "
					"price for it",
					s->name, b->resource);
	}
	return 0;
}

static int check_factor(const struct priceplan_spec *s, const char *field, const char *name,
	int64_t factor, bool may_be_negative, struct err *e)
{
	int64_t least = may_be_negative ? -PLAN_FACTOR_MAX : 0;
	if (factor >= least && factor <= PLAN_FACTOR_MAX)
		return 0;
	return err_set(e, ERR_INVALID,
		"PricePlan %s: %s: the factor of %s must be from %s to 10000; correct it%s",
		s->name, field, name, may_be_negative ? "-10000" : "0",
		may_be_negative ? " or spec.series.reference" : "");
}

static int check_series(const struct priceplan_spec *s, struct err *e)
{
	int code = 0;
	for (size_t i = 0; code == 0 && i < s->nseries; i++) {
		if (i > 0 && s->series[i].from_ms <= s->series[i - 1].from_ms)
			return err_set(e, ERR_INVALID,
				"PricePlan %s: spec.series: point %zu is not later than the one "
				"before; write each time once, in order",
				s->name, i + 1);
		code = check_factor(s, "spec.series", "a point", s->series[i].factor, true, e);
	}
	return code;
}

static int plan_check(const struct priceplan_spec *s, struct err *e)
{
	if (!s->currency || !*s->currency)
		return err_set(e, ERR_INVALID,
			"PricePlan %s: spec.currency is empty; name one, such as EUR", s->name);
	int code = check_bases(s, e);
	for (size_t i = 0; code == 0 && i < s->nflavors; i++)
		code = check_factor(
			s, "spec.flavors", s->flavor[i].flavor, s->flavor[i].factor, false, e);
	for (size_t i = 0; code == 0 && i < s->nrates; i++)
		code = check_factor(
			s, "spec.rates", s->rate[i].calendar, s->rate[i].factor, false, e);
	return code ? code : check_series(s, e);
}

/* ---- The specs ---- */

static int plan_order(const struct tree_node *a, const struct tree_node *b)
{
	return strcmp(container_of_const(a, struct plan, by_name)->name,
		container_of_const(b, struct plan, by_name)->name);
}

void plans_init(struct plans *all)
{
	tree_init(&all->all, plan_order, NULL);
	all->made = 0;
	all->version = 1;
}

static struct plan *plan_at(const struct queue *q, size_t i)
{
	struct tree_node *n = tree_at(&q->plans.all, i);
	return n ? container_of(n, struct plan, by_name) : NULL;
}

static struct plan *plan_find(const struct queue *q, const char *name)
{
	struct plan *p;
	for (size_t i = 0; (p = plan_at(q, i)); i++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static struct plan *plan_make(struct queue *q, const char *name)
{
	struct plan *p = plan_find(q, name);
	if (p)
		return p;
	p = mem_alloc(sizeof(*p));
	p->name = mem_strdup(name);
	p->serial = ++q->plans.made;
	p->alarm.kind = ALARM_PLAN;
	p->alarm.serial = p->serial;
	p->alarm.owner = p;
	tree_insert(&q->plans.all, &p->by_name, p->serial);
	return p;
}

static void forget_spec(struct queue *q, struct plan *p)
{
	for (size_t i = 0; i < p->spec.nrates; i++) {
		list_leave(&p->rate[i].of_timetable);
		timetable_put(q, p->rate[i].timetable);
	}
	free(p->rate);
	p->rate = NULL;
	p->spec = (struct priceplan_spec){0};
	arena_done(&p->memory);
}

static void forget_steps(struct plan *p)
{
	p->nsteps = 0;
	p->known_from_ms = p->known_to_ms = 0;
}

static void plan_free(struct queue *q, struct plan *p)
{
	forget_spec(q, p);
	alarm_clear(&q->alarms, &p->alarm);
	tree_remove(&q->plans.all, &p->by_name);
	free(p->name);
	free(p->invalid);
	free(p->step);
	free(p);
}

void plans_done(struct queue *q)
{
	struct plan *p;
	while ((p = plan_at(q, 0)))
		plan_free(q, p);
}

static void copy_lists(struct arena *a, const struct priceplan_spec *s, struct priceplan_spec *ret)
{
	const char **queue = arena_take(a, s->nqueues, sizeof(*queue));
	struct price_base *base = arena_take(a, s->nbases, sizeof(*base));
	struct price_flavor *flavor = arena_take(a, s->nflavors, sizeof(*flavor));
	struct price_rate *rate = arena_take(a, s->nrates, sizeof(*rate));
	struct price_point *point = arena_take(a, s->nseries, sizeof(*point));
	for (size_t i = 0; i < s->nqueues; i++)
		queue[i] = arena_string(a, s->queues[i]);
	for (size_t i = 0; i < s->nbases; i++) {
		base[i] = s->base[i];
		base[i].resource = arena_string(a, s->base[i].resource);
	}
	for (size_t i = 0; i < s->nflavors; i++) {
		flavor[i] = s->flavor[i];
		flavor[i].flavor = arena_string(a, s->flavor[i].flavor);
	}
	for (size_t i = 0; i < s->nrates; i++) {
		rate[i] = s->rate[i];
		rate[i].calendar = arena_string(a, s->rate[i].calendar);
		rate[i].window = arena_string(a, s->rate[i].window ? s->rate[i].window : "");
	}
	for (size_t i = 0; i < s->nseries; i++)
		point[i] = s->series[i];
	ret->queues = queue;
	ret->base = base;
	ret->flavor = flavor;
	ret->rate = rate;
	ret->series = point;
}

static void take_spec(struct queue *q, struct plan *p, const struct priceplan_spec *s)
{
	p->memory = (struct arena){0};
	p->spec = *s;
	p->spec.name = p->name;
	p->spec.currency = p->currency = symbol_of(&q->symbols, s->currency);
	p->spec.series_configmap = p->spec.series_key = "";
	p->spec.series_fault = s->series_fault ? arena_string(&p->memory, s->series_fault) : NULL;
	copy_lists(&p->memory, s, &p->spec);
	p->rate = mem_array(s->nrates + 1, sizeof(*p->rate));
	for (size_t i = 0; i < s->nrates; i++) {
		p->rate[i].plan = p;
		p->rate[i].timetable = timetable_keep(q, s->rate[i].calendar);
		list_add(&p->rate[i].timetable->rates, &p->rate[i].of_timetable);
	}
}

/* ---- Which plan holds for whom ---- */

bool plan_names(const struct plan *p, const char *clusterqueue)
{
	if (!p->spec.name || p->spec.deleting)
		return false;
	for (size_t i = 0; i < p->spec.nqueues; i++)
		if (runpolicy_glob(p->spec.queues[i], clusterqueue))
			return true;
	return p->spec.nqueues == 0;
}

/* Looked up when somebody asks: records of ClusterQueues come and go in many ways, and a name never
 * changes. */
struct plan *plan_of(struct queue *q, struct clusterqueue *cq)
{
	if (!cq || cq->plan_version == q->plans.version)
		return cq ? cq->plan : NULL;
	struct plan *p;
	for (size_t i = 0; (p = plan_at(q, i)) && !plan_names(p, cq->name); i++)
		;
	cq->plan = p;
	cq->plan_version = q->plans.version;
	return p;
}

/* ---- Factors over time ---- */

/* The point of the series that holds; NULL: it has no price then. */
static const struct price_point *point_at(
	const struct priceplan_spec *s, int64_t at_ms, int64_t *ret_until_ms)
{
	size_t low = 0, high = s->nseries;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (s->series[mid].from_ms <= at_ms)
			low = mid + 1;
		else
			high = mid;
	}
	*ret_until_ms = low < s->nseries ? s->series[low].from_ms : INT64_MAX;
	if (low == 0)
		return NULL;
	const struct price_point *p = &s->series[low - 1];
	int64_t stale_ms =
		s->stale_after_ms > 0 ? quantity_add(p->from_ms, s->stale_after_ms) : INT64_MAX;
	if (low == s->nseries && at_ms < stale_ms)
		*ret_until_ms = stale_ms;
	return low < s->nseries || at_ms < stale_ms ? p : NULL;
}

/* The rate that holds, the number of rates: none. */
static size_t rate_at(const struct plan *p, int64_t at_ms, int64_t *until_ms)
{
	for (size_t i = 0; i < p->spec.nrates; i++) {
		const struct price_rate *r = &p->spec.rate[i];
		struct calendar *c = p->rate[i].timetable->calendar;
		if (!c)
			continue;
		struct calendar_state s = calendar_at(c, at_ms);
		*until_ms = s.until_ms < *until_ms ? s.until_ms : *until_ms;
		if (s.open && (!*r->window || (s.window && strcmp(s.window, r->window) == 0)))
			return i;
	}
	return p->spec.nrates;
}

const char *plan_source_at(const struct plan *p, int64_t at_ms, int64_t *ret_until_ms)
{
	*ret_until_ms = INT64_MAX;
	if (p->spec.has_series && point_at(&p->spec, at_ms, ret_until_ms))
		return "series";
	size_t i = rate_at(p, at_ms, ret_until_ms);
	return i < p->spec.nrates ? p->spec.rate[i].calendar : "base";
}

static int64_t factor_from_spec(const struct plan *p, int64_t at_ms, int64_t *ret_until_ms)
{
	*ret_until_ms = INT64_MAX;
	const struct price_point *point =
		p->spec.has_series ? point_at(&p->spec, at_ms, ret_until_ms) : NULL;
	if (point)
		return point->factor;
	size_t i = rate_at(p, at_ms, ret_until_ms);
	return i < p->spec.nrates ? p->spec.rate[i].factor : PRICE_FACTOR_ONE;
}

static void add_step(struct plan *p, int64_t from_ms, int64_t factor)
{
	if (p->nsteps > 0 && p->step[p->nsteps - 1].per_hour == factor)
		return;
	if (p->nsteps == p->steps_room) {
		p->steps_room = p->steps_room ? p->steps_room * 2 : 32;
		p->step = mem_grow(p->step, p->steps_room, sizeof(*p->step));
	}
	p->step[p->nsteps++] = (struct tariff_step){from_ms, factor};
}

static void make_steps(struct plan *p, int64_t from_ms, int64_t to_ms)
{
	int64_t at_ms = from_ms, until_ms;
	p->nsteps = 0;
	do {
		add_step(p, at_ms, factor_from_spec(p, at_ms, &until_ms));
		at_ms = until_ms > at_ms ? until_ms
					 : INT64_MAX; /* a time that Calendars do not know */
	} while (at_ms < to_ms);
	p->known_from_ms = from_ms;
	p->known_to_ms = at_ms;
}

/* What lies behind is kept for the bills of those that run, but not what nobody has asked for
 * lately: a year of it would have to be walked for every Job that waits for a price, and before the
 * first decision the clock is at 1970. A bill that goes farther back has it made anew. */
static int64_t first_of(const struct plan *p, int64_t from_ms)
{
	bool near = p->nsteps > 0 && p->known_from_ms < from_ms &&
		    from_ms - p->known_from_ms <= PLAN_HORIZON_MS;
	return near ? p->known_from_ms : from_ms;
}

struct tariff plan_factors(struct queue *q, struct plan *p, int64_t from_ms, int64_t to_ms)
{
	int64_t later_ms = from_ms > q->now_ms ? from_ms : q->now_ms;
	int64_t horizon_ms = quantity_add(later_ms, PLAN_HORIZON_MS);
	to_ms = to_ms < horizon_ms ? to_ms : horizon_ms;
	if (p->nsteps == 0 || from_ms < p->known_from_ms || to_ms > p->known_to_ms)
		make_steps(p, first_of(p, from_ms), horizon_ms);
	return (struct tariff){p->step, p->nsteps};
}

int64_t plan_factor_at(struct queue *q, struct plan *p, int64_t at_ms)
{
	struct tariff t = plan_factors(q, p, at_ms, at_ms);
	return tariff_at(&t, at_ms);
}

static bool is_stale(const struct plan *p, int64_t now_ms)
{
	int64_t until_ms;
	return p->spec.has_series && !point_at(&p->spec, now_ms, &until_ms);
}

bool plan_holds(struct queue *q, struct clusterqueue *cq)
{
	const struct plan *p = plan_of(q, cq);
	return p && p->spec.hold_when_stale && is_stale(p, q->now_ms);
}

/* ---- Prices ---- */

static __int128 divide(__int128 a, __int128 by)
{
	return (a + by / 2) / by;
}

static int64_t flavor_factor(const struct plan *p, const char *flavor)
{
	for (size_t i = 0; i < p->spec.nflavors; i++)
		if (strcmp(p->spec.flavor[i].flavor, flavor) == 0)
			return p->spec.flavor[i].factor;
	return PRICE_FACTOR_ONE;
}

/* Units of a resource of which one is priced. */
static int64_t priced_unit(const struct price_base *b)
{
	if (b->per_gib)
		return GIB;
	return quantity_unit_of(b->resource) == QUANTITY_MILLI ? 1000 : 1;
}

static const struct price_base *base_of(const struct plan *p, const char *resource)
{
	for (size_t i = 0; i < p->spec.nbases; i++)
		if (strcmp(p->spec.base[i].resource, resource) == 0)
			return &p->spec.base[i];
	return NULL;
}

/* In parts that every unit above divides, so that all lines are summed before the one rounding. */
int64_t plan_base_per_hour(const struct plan *p, const struct quota_line *lines, size_t n)
{
	const __int128 unit_parts = (__int128)125 * GIB, parts = unit_parts * PRICE_FACTOR_ONE;
	__int128 sum = 0;
	for (size_t i = 0; i < n; i++) {
		const struct price_base *b = base_of(p, lines[i].resource);
		if (!b || lines[i].amount <= 0)
			continue;
		__int128 price = (__int128)lines[i].amount * b->per_hour;
		if (price / priced_unit(b) > PLAN_HOUR_MAX)
			return PLAN_HOUR_MAX;
		sum += price * flavor_factor(p, lines[i].flavor) * (unit_parts / priced_unit(b));
		if (sum / parts > PLAN_HOUR_MAX)
			return PLAN_HOUR_MAX;
	}
	return (int64_t)divide(sum, parts);
}

int64_t plan_unit_price(const struct plan *p, const char *resource)
{
	size_t len = strlen(resource);
	bool per_gib = len > 4 && strcmp(resource + len - 4, "-gib") == 0;
	for (size_t i = 0; i < p->spec.nbases; i++) {
		const struct price_base *b = &p->spec.base[i];
		bool same = b->per_gib == per_gib &&
			    strlen(b->resource) == (per_gib ? len - 4 : len) &&
			    strncmp(b->resource, resource, strlen(b->resource)) == 0;
		if (same)
			return b->per_hour;
	}
	return -1;
}

int64_t plan_times(int64_t per_hour, int64_t factor)
{
	__int128 price = (__int128)per_hour * factor;
	return (int64_t)(price < 0 ? -divide(-price, PRICE_FACTOR_ONE)
				   : divide(price, PRICE_FACTOR_ONE));
}

/* ---- When something changes ---- */

/* Who waits for a price, or runs with a ceiling, is asked again; anybody if starts were held, or
 * where a Budget may have held one: what a run is expected to cost is another. */
static void ask_again(struct queue *q, struct plan *p, bool held)
{
	bool budgets = tree_first(&q->budgets.all);
	struct tree_node *n = tree_first(&q->clusterqueues.shown);
	for (; n; n = tree_next(n)) {
		struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		if (plan_of(q, cq) != p)
			continue;
		terms_ask_again(q, cq);
		if (budgets || held != (p && p->spec.hold_when_stale && p->stale))
			queue_touch_queue(q, cq);
	}
	q->budgets.stale = true; /* when they are used up follows from the prices */
	q->version++;
}

/* When the factor is another one next; what is beyond the horizon is looked at when that comes. */
static void arm(struct queue *q, struct plan *p)
{
	int64_t next_ms = p->known_to_ms, until_ms = INT64_MAX;
	for (size_t i = 0; i < p->nsteps; i++) {
		if (p->step[i].from_ms > q->now_ms) {
			next_ms = p->step[i].from_ms;
			break;
		}
	}
	if (p->spec.has_series && p->spec.hold_when_stale)
		point_at(&p->spec, q->now_ms, &until_ms); /* may be no step, but holds starts */
	alarm_set(&q->alarms, &p->alarm, until_ms < next_ms ? until_ms : next_ms);
}

void plan_ring(struct queue *q, struct plan *p)
{
	bool held = p->spec.hold_when_stale && p->stale;
	if (!p->spec.name)
		return;
	if (p->known_to_ms < quantity_add(q->now_ms, PLAN_HORIZON_MS / 2))
		plan_turn(q, p);
	else {
		p->stale = is_stale(p, q->now_ms);
		ask_again(q, p, held);
		arm(q, p);
	}
}

/* Runs of the plan: what they have cost so far by what held so far. */
static void settle_runs(struct queue *q, struct plan *p)
{
	struct clusterqueue *cq;
	map_each (&q->clusterqueues.map, i, cq) {
		if (plan_of(q, cq) != p)
			continue;
		list_each(&cq->rooms, l)
			bill_settle(q, container_of(l, struct room, of_clusterqueue), q->now_ms);
	}
}

static void expect_anew(struct queue *q)
{
	struct clusterqueue *cq;
	map_each (&q->clusterqueues.map, i, cq)
		list_each(&cq->rooms, l)
			bill_expect(q, container_of(l, struct room, of_clusterqueue));
	budgets_recount(q);
}

void plan_turn(struct queue *q, struct plan *p)
{
	bool held = p->spec.hold_when_stale && p->stale;
	if (!p->spec.name)
		return;
	settle_runs(q, p);
	forget_steps(p);
	plan_factors(q, p, q->now_ms, INT64_MAX);
	expect_anew(q);
	p->stale = is_stale(p, q->now_ms);
	ask_again(q, p, held);
	arm(q, p);
}

void plans_turn(struct queue *q)
{
	struct plan *p;
	for (size_t i = 0; (p = plan_at(q, i)); i++)
		plan_turn(q, p);
}

/* Which plan holds for whom is another matter from here on: all that has a price is counted first,
 * and asked again. */
static void settle_all(struct queue *q)
{
	struct plan *p;
	for (size_t i = 0; (p = plan_at(q, i)); i++)
		settle_runs(q, p);
	settle_runs(q, NULL);
}

static void form(struct queue *q)
{
	q->plans.version++;
	expect_anew(q);
	struct tree_node *n = tree_first(&q->clusterqueues.shown);
	for (; n; n = tree_next(n)) {
		struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		terms_ask_again(q, cq);
		queue_touch_queue(q, cq);
	}
	q->version++;
}

int queue_set_priceplan(struct queue *q, const struct priceplan_spec *s, struct err *e)
{
	struct err own;
	int code = plan_check(s, &own);
	if (code) {
		queue_reject_priceplan(q, s->name, own.text);
		return err_set(e, code, "%s", own.text);
	}
	settle_all(q);
	struct plan *p = plan_make(q, s->name);
	struct plan old = {.spec = p->spec, .memory = p->memory, .rate = p->rate};
	take_spec(q, p, s); /* before the old one goes: they may share Calendars */
	free(p->invalid);
	p->invalid = NULL;
	forget_spec(q, &old);
	forget_steps(p);
	p->stale = is_stale(p, q->now_ms);
	alarm_set(
		&q->alarms, &p->alarm, q->now_ms); /* it is asked again as soon as time is known */
	form(q);
	return 0;
}

void queue_reject_priceplan(struct queue *q, const char *name, const char *sentence)
{
	struct plan *p = plan_make(q, name);
	free(p->invalid);
	p->invalid = mem_strdup(sentence);
	q->version++;
}

void queue_drop_priceplan(struct queue *q, const char *name)
{
	struct plan *p = plan_find(q, name);
	if (!p)
		return;
	settle_all(q);
	plan_free(q, p);
	form(q);
}
