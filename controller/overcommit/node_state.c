#include "controller/overcommit/node_state.h"

#include <stdlib.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/order.h"
#include "controller/overcommit/inventory.h"
#include "overcommit/span.h"

enum {
	MINUTE_MS = 60 * 1000,
	GRACE_MS = 2 * MINUTE_MS,
	SETTLE_MS = 5000,      /* our own write may be older on the watch than its answer */
	UNMEASURED_MS = 15000, /* how long a start may take to be measured */
	FLIGHT_MS = 10000,     /* how long a figure waits for kubelets to look at their pods */
	RETRY_MS = 1000,
	RETRY_MAX_MS = 60 * 1000,
};

const char *degrade_name(enum degrade d)
{
	switch (d) {
	case DEGRADE_NOT:
		return "";
	case DEGRADE_NOT_READY:
		return "NotReady";
	case DEGRADE_NO_SAMPLE:
		return "NoMetrics";
	case DEGRADE_STALE:
		return "MetricsStale";
	}
	return "";
}

void node_state_init(struct node_state *a)
{
	*a = (struct node_state){.there = no_figures,
		.want = no_figures,
		.written = no_figures,
		.look_ms = INT64_MAX};
}

void node_state_done(struct node_state *a)
{
	forecast_free(a->forecast);
	a->forecast = NULL;
}

/* ---- what is there --------------------------------------------------------------------------- */

static struct figures figures_there(const struct node_facts *f)
{
	struct figures there;
	for (size_t i = 0; i < FIGURES; i++)
		there.each[i] = least(f->capacity_lent.each[i], f->allocatable_lent.each[i]);
	return there;
}

static int64_t positive(int64_t x)
{
	return x > 0 ? x : 0;
}

static struct load own_batch(const struct figures *f)
{
	return (struct load){positive(f->batch_cpu), positive(f->batch_memory)};
}

static struct load own_gocran(const struct figures *f)
{
	return (struct load){positive(f->gocran_cpu) * 1000, positive(f->gocran_memory)};
}

/* Gives the pool that the figures under one name stand for: pods of the other name have some of
 * it. */
static struct load published_batch(const struct node_state *a)
{
	struct load own = own_batch(&a->there);
	bool both = (a->strategy.names & LEND_GOCRAN) && figures_any(&a->there);
	return both ? load_add(own, a->gocran_asked) : own;
}

static struct load published_gocran(const struct node_state *a)
{
	struct load own = own_gocran(&a->there);
	bool both = (a->strategy.names & LEND_BATCH) && figures_any(&a->there);
	return both ? load_add(own, a->batch_asked) : own;
}

static int64_t where_published(int64_t there, int64_t asked)
{
	return there < 0 ? 0 : asked;
}

struct load node_state_granted(const struct node_state *a, const struct inventory_lent *l)
{
	if (!l->looked_at)
		return (struct load){0, 0};
	const struct figures *t = &a->there;
	struct load batch = {where_published(t->batch_cpu, l->batch.cpu_milli),
		where_published(t->batch_memory, l->batch.memory_bytes)};
	struct load gocran = {where_published(t->gocran_cpu, l->gocran.cpu_milli),
		where_published(t->gocran_memory, l->gocran.memory_bytes)};
	return load_add(batch, gocran);
}

static void count_asked(struct node_state *a, const struct inventory_pod *p)
{
	const struct inventory_lent *l = p->lent;
	if (!l)
		return;
	a->batch_asked = load_add(a->batch_asked, l->batch);
	a->gocran_asked = load_add(a->gocran_asked, l->gocran);
	if (l->queued)
		return;
	a->batch_others = load_add(a->batch_others, l->batch);
	a->gocran_others = load_add(a->gocran_others, l->gocran);
}

static void count_all_asked(struct inventory_node *n)
{
	struct node_state *a = &n->node_state;
	const struct load none = {0, 0};
	a->batch_asked = a->gocran_asked = a->batch_others = a->gocran_others = none;
	for (const struct inventory_pod *p = n->pods; p; p = p->next)
		count_asked(a, p);
}

/* ---- the estimate ---------------------------------------------------------------------------- */

bool node_state_counts_sample(const struct inventory_node *n, const struct inventory_pod *p)
{
	int64_t apart = n->used_ms - p->used_ms;
	int64_t most = 2 * n->node_state.strategy.interval_s * 1000;
	return p->used_ms != 0 && apart <= most && apart >= -most;
}

static enum tier tier_under(const struct node_state *a, const struct inventory_pod *p)
{
	return (enum tier)p->tier[a->strategy.profile];
}

static void put_pods(const struct inventory_node *n, struct estimate_node *in,
	struct estimate_pod *pods, struct load *sum)
{
	for (const struct inventory_pod *p = n->pods; p; p = p->next) {
		struct estimate_pod *e = &pods[in->npods++];
		*e = (struct estimate_pod){.tier = tier_under(&n->node_state, p),
			.request = p->request,
			.has_used = node_state_counts_sample(n, p),
			.used = p->used};
		if (e->has_used)
			*sum = load_add(*sum, p->used);
	}
	for (const struct inventory_pod *p = n->dangling; p; p = p->next) {
		if (!node_state_counts_sample(n, p))
			continue;
		*sum = load_add(*sum, p->used);
		if (tier_under(&n->node_state, p) != TIER_LOW)
			in->dangling = load_add(in->dangling, p->used);
	}
}

/* Gives what lent pods ask for that started so lately that their agent has not measured them. What
 * they use is no ordinary use, or each start of one would lower the figure for a second. No more is
 * believed than what is published. */
static struct load just_started(const struct inventory_node *n)
{
	const struct node_state *a = &n->node_state;
	struct load asked = {0, 0};
	for (const struct inventory_pod *p = n->pods; p; p = p->next) {
		const struct inventory_lent *l = p->lent;
		if (!l || l->agent_ms != 0 || l->started_ms > n->used_ms ||
			n->used_ms - l->started_ms >= UNMEASURED_MS)
			continue;
		asked = load_add(asked, node_state_granted(a, l));
	}
	return load_min(asked, load_add(own_batch(&a->there), own_gocran(&a->there)));
}

/* Divides what an agent measured beside the pods with samples: into what other pods use, and what
 * the system does. Where pods were not measured together, all of it counts as theirs. */
static void put_rest(const struct inventory_node *n, struct load sum, struct estimate_node *in)
{
	struct load all = n->agent->pods_used;
	struct load known = load_add(sum, just_started(n));
	if (all.cpu_milli < 0)
		all.cpu_milli = n->used.cpu_milli;
	if (all.memory_bytes < 0)
		all.memory_bytes = n->used.memory_bytes;
	in->has_rest = true;
	in->rest = load_max(load_less(all, known), (struct load){0, 0});
	in->system_used = load_max(load_less(n->used, load_max(all, sum)), (struct load){0, 0});
}

static void make_estimate(struct inventory_node *n, int64_t now_ms, struct load *ret_gocran)
{
	struct node_state *a = &n->node_state;
	struct estimate_pod *pods = mem_array(n->npods + 1, sizeof(*pods));
	struct estimate_node in = {.capacity = n->facts->capacity,
		.allocatable = n->facts->allocatable,
		.reservation = n->facts->reservation,
		.pods = pods};
	struct load sum = {0, 0};
	put_pods(n, &in, pods, &sum);
	in.system_used = load_max(load_less(n->used, sum), (struct load){0, 0});
	if (n->by_agent)
		put_rest(n, sum, &in);
	in.has_forecast = a->forecast && forecast_get(a->forecast, now_ms,
						 a->strategy.forecast_margin, &in.forecast);
	estimate_make(&a->strategy, &in, &a->estimate);
	*ret_gocran = estimate_gocran(&a->strategy, &in, &a->estimate);
	a->has_estimate = true;
	free(pods);
}

/* Takes an agent's sample to those since the last that the window got. Once an interval is over,
 * the mean of them is worth keeping: *taken and *busy are that. */
static bool is_worth_keeping(struct inventory_node *n, struct load *taken, struct load *busy)
{
	struct node_state *a = &n->node_state;
	int64_t interval_ms = span_ms(a->strategy.interval_s, SPAN_SECOND_MS);
	mean_add(&a->taken_mean, n->used_ms, *taken);
	mean_add(&a->busy_mean, n->used_ms, *busy);
	if (a->window.newest_ms && n->used_ms >= a->window.newest_ms &&
		n->used_ms - a->window.newest_ms < interval_ms)
		return false;
	*taken = mean_take(&a->taken_mean);
	*busy = mean_take(&a->busy_mean);
	return true;
}

static void take_sample(struct inventory_node *n, int64_t now_ms)
{
	struct node_state *a = &n->node_state;
	struct load taken = estimate_taken(&a->estimate), busy = estimate_busy(&a->estimate);
	if (!n->sampled)
		return;
	n->sampled = false;
	if (n->by_agent && !is_worth_keeping(n, &taken, &busy)) {
		a->news = true;
		return;
	}
	if (!window_add(&a->window, n->used_ms, taken, now_ms))
		return;
	a->news = a->fed = true;
	a->busy = busy; /* what a forecast is made of */
	if (a->forecast)
		forecast_add(a->forecast, n->used_ms, a->busy);
}

/* ---- what may be lent ------------------------------------------------------------------------ */

/* Gives half the time until a node degrades, two minutes at most. */
static int64_t grace_ms(const struct strategy *s)
{
	return least(GRACE_MS, s->degrade_min * MINUTE_MS / 2);
}

static void begin(struct inventory_node *n, int64_t now_ms)
{
	struct node_state *a = &n->node_state;
	int64_t newest_ms = 0, least_ms;
	if (a->begun)
		return;
	a->begun = true;
	if (figures_any(&a->there)) {
		newest_ms = n->facts->sample_ms ? n->facts->sample_ms : now_ms;
		least_ms = now_ms - a->strategy.degrade_min * MINUTE_MS + grace_ms(&a->strategy);
		if (newest_ms < least_ms)
			newest_ms = least_ms;
	}
	window_begin(&a->window, newest_ms);
}

static enum degrade degrade_of(const struct inventory_node *n)
{
	const struct node_state *a = &n->node_state;
	if (!a->strategy.enable || a->freshness != DEGRADED)
		return DEGRADE_NOT;
	if (!n->facts->ready)
		return DEGRADE_NOT_READY;
	return a->window.newest_ms == 0 ? DEGRADE_NO_SAMPLE : DEGRADE_STALE;
}

static void lend(struct inventory_node *n, struct load gocran, int64_t now_ms)
{
	struct node_state *a = &n->node_state;
	bool ready = n->facts->ready;
	a->batch = window_figure(
		&a->window, &a->strategy, &a->estimate, published_batch(a), ready, now_ms);
	a->gocran = gocran;
	if (a->freshness != FRESH || a->window.count < 2)
		a->gocran = load_min(gocran, published_gocran(a));
	bool both = a->strategy.names == (LEND_BATCH | LEND_GOCRAN);
	a->lent = both				    ? load_min(a->batch, a->gocran)
		  : a->strategy.names & LEND_GOCRAN ? a->gocran
						    : a->batch;
}

static void lend_nothing(struct node_state *a)
{
	a->batch = a->gocran = a->lent = (struct load){0, 0};
}

/* ---- what is to be written ------------------------------------------------------------------- */

static bool has_pod_in_flight(const struct inventory_node *n)
{
	for (const struct inventory_pod *p = n->pods; p; p = p->next)
		if (p->lent && !p->lent->looked_at && !p->deleting)
			return true;
	return false;
}

static bool same_figures(const struct figures *x, const struct figures *y)
{
	return x->batch_cpu == y->batch_cpu && x->batch_memory == y->batch_memory &&
	       x->gocran_cpu == y->gocran_cpu && x->gocran_memory == y->gocran_memory;
}

/* Whether the figure is to be kept up for pods in flight, and not for too long yet. */
static bool keeps_up(struct inventory_node *n, const struct publication_input *in, int64_t now_ms)
{
	struct node_state *a = &n->node_state;
	struct publication_input kept = *in;
	kept.in_flight = true;
	struct figures low = publication_figures(in, &a->there);
	struct figures up = publication_figures(&kept, &a->there);
	if (same_figures(&low, &up) || !has_pod_in_flight(n)) {
		a->flight_ms = 0;
		return false;
	}
	if (a->flight_ms == 0 || a->flight_ms > now_ms)
		a->flight_ms = now_ms;
	int64_t until_ms = a->flight_ms + FLIGHT_MS;
	if (now_ms >= until_ms)
		return false;
	a->look_ms = least(a->look_ms, until_ms);
	return true;
}

static void publish(struct inventory_node *n, bool lends, int64_t now_ms)
{
	struct node_state *a = &n->node_state;
	struct publication_input in = {.strategy = &a->strategy,
		.lend = lends,
		.hold = a->freshness != FRESH || a->window.count < 2,
		.batch = a->batch,
		.gocran = a->gocran,
		.batch_asked = a->batch_asked,
		.gocran_asked = a->gocran_asked};
	a->why = PUBLISH_NOT;
	in.in_flight = keeps_up(n, &in, now_ms);
	a->want = publication_figures(&in, &a->there);
	enum publication_why why =
		publication_due(&in, &a->want, &a->there, &a->written, a->written_ms, now_ms);
	int64_t age_ms = now_ms - a->written_ms;
	if (why == PUBLISH_FOREIGN && age_ms >= 0 && age_ms < SETTLE_MS) {
		a->look_ms = least(a->look_ms, a->written_ms + SETTLE_MS);
		return;
	}
	a->why = why;
}

void node_state_make(struct inventory_node *n, int64_t now_ms)
{
	struct node_state *a = &n->node_state;
	struct load gocran = {0, 0};
	n->dirty = a->fed = false;
	a->there = figures_there(n->facts);
	a->look_ms = INT64_MAX;
	count_all_asked(n);
	begin(n, now_ms);
	if (n->used_ms != 0) {
		make_estimate(n, now_ms, &gocran);
		take_sample(n, now_ms);
	}
	a->freshness = window_freshness(&a->window, &a->strategy, n->facts->ready, now_ms);
	a->degrade = degrade_of(n);
	bool lends = a->strategy.enable && a->freshness != DEGRADED;
	if (a->strategy.enable)
		a->look_ms = window_changes_ms(&a->window, &a->strategy, now_ms);
	if (lends && !a->has_estimate) { /* what is there stays, as long as it is not too old */
		lend_nothing(a);
		a->want = a->there;
		a->why = PUBLISH_NOT;
		return;
	}
	if (lends)
		lend(n, gocran, now_ms);
	else
		lend_nothing(a);
	publish(n, lends, now_ms);
}

bool node_state_falls(const struct node_state *a)
{
	for (size_t i = 0; i < FIGURES; i++)
		if (a->want.each[i] < a->there.each[i])
			return true;
	return false;
}

void node_state_send(struct node_state *a)
{
	a->under_way = true;
	a->sending = a->want;
	a->why = PUBLISH_NOT;
}

static int64_t pause_ms(unsigned failures)
{
	return backoff_ms(RETRY_MS, failures, RETRY_MAX_MS);
}

/* Counts what was written as seen: the watch will soon say so, too. */
static void put_figures(struct figures *to, const struct figures *from)
{
	for (size_t i = 0; i < FIGURES; i++)
		if (from->each[i] >= 0)
			to->each[i] = from->each[i];
}

void node_state_sent(struct inventory_node *n, bool done, int64_t now_ms)
{
	struct node_state *a = &n->node_state;
	a->under_way = false;
	a->why = PUBLISH_NOT; /* what was made meanwhile did not know of this write */
	n->dirty = true;
	if (!done) {
		a->retry_ms = now_ms + pause_ms(a->failures++);
		a->look_ms = least(a->look_ms, a->retry_ms);
		return;
	}
	a->failures = 0;
	a->retry_ms = 0;
	put_figures(&a->written, &a->sending);
	put_figures(&n->facts->capacity_lent, &a->sending);
	put_figures(&n->facts->allocatable_lent, &a->sending);
	a->there = figures_there(n->facts);
	a->written_ms = now_ms;
}
