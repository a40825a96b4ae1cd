/* P18: what an AdvanceReservation is worth (advance.h). */
#include "test/sim/advance.h"

#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "test/unit/core/inside.h"
#include "queue/core/model/reservation.h"
#include "queue/features/bookings/advance_reservation.h"
#include "test/sim/sim.h"

typedef long long ll;

#define NODES_MAX 24 /* ClusterQueues and Cohorts, those that are only named, too */
#define USES_MAX 48
#define ASSUMED_MS INT64_C(3600000) /* so long lasts a Job that does not say */

/* ---- The tree of quota for one resource of a flavor, as the queue shows it --------------------
 */

struct tree_row {
	const char *name;
	bool is_cohort;
	int parent; /* -1: none */
	int64_t subtree, local, borrow, reserved;
};

struct tree_of {
	const char *flavor, *resource;
	struct tree_row node[NODES_MAX];
	const char *parent_name[NODES_MAX];
	size_t n;
	bool odd; /* a circle, or a spec that was refused: not judged */
};

static int node_find(const struct tree_of *t, bool is_cohort, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->node[i].is_cohort == is_cohort && strcmp(t->node[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void node_add(struct tree_of *t, bool is_cohort, const char *name, const char *parent,
	const struct usage_view *usage, size_t nusage)
{
	if (t->n == NODES_MAX) {
		t->odd = true;
		return;
	}
	struct tree_row *row = &t->node[t->n];
	*row = (struct tree_row){
		.name = name, .is_cohort = is_cohort, .parent = -1, .borrow = QUOTA_UNLIMITED};
	t->parent_name[t->n++] = parent;
	for (size_t i = 0; i < nusage; i++) {
		const struct usage_view *u = &usage[i];
		if (strcmp(u->flavor, t->flavor) != 0 || strcmp(u->resource, t->resource) != 0)
			continue;
		row->subtree = u->subtree;
		row->reserved = u->reserved;
		row->borrow = u->borrowing_limit;
		row->local = *parent && u->lending_limit != QUOTA_UNLIMITED
				     ? greater(u->subtree - u->lending_limit, 0)
				     : 0;
	}
}

static void tree_make(
	struct tree_of *t, const struct queue *q, const char *flavor, const char *resource)
{
	struct clusterqueue_view v;
	struct cohort_view c;
	*t = (struct tree_of){.flavor = flavor, .resource = resource};
	for (size_t i = 0; queue_view_cohort(q, i, &c); i++) {
		t->odd |= !c.active;
		node_add(t, true, c.name, c.parent, c.usage, c.nusage);
	}
	for (size_t i = 0; queue_view_clusterqueue(q, i, &v); i++) {
		t->odd |= strcmp(v.reason, "CohortCycle") == 0;
		node_add(t, false, v.name, v.cohort, v.usage, v.nusage);
	}
	for (size_t i = 0; i < t->n; i++)
		t->node[i].parent = *t->parent_name[i] ? node_find(t, true, t->parent_name[i]) : -1;
}

/* What is free at a node if the leaves use so much. */
static int64_t use_of(const struct tree_of *t, const int64_t *leaf, int node)
{
	int64_t sum = leaf[node];
	for (size_t i = 0; i < t->n; i++)
		if (t->node[i].parent == node)
			sum += greater(use_of(t, leaf, (int)i) - t->node[i].local, 0);
	return sum;
}

static int64_t free_of(const struct tree_of *t, const int64_t *leaf, int node)
{
	const struct tree_row *row = &t->node[node];
	int64_t use = use_of(t, leaf, node);
	if (row->parent < 0)
		return row->subtree - use;
	int64_t above = free_of(t, leaf, row->parent);
	int64_t beyond = greater(use - row->local, 0);
	if (row->borrow != QUOTA_UNLIMITED)
		above = least(above, row->subtree - row->local - beyond + row->borrow);
	return greater(row->local - use, 0) + above;
}

static void leaves_now(const struct tree_of *t, int64_t *ret)
{
	for (size_t i = 0; i < t->n; i++)
		ret[i] = t->node[i].is_cohort ? 0 : t->node[i].reserved;
}

/* ---- What is reserved, as the queue shows it --------------------------------------------------
 */

struct reserved_row {
	char node[64]; /* a ClusterQueue */
	const char *flavor, *resource;
	int64_t left, used;
};

struct reserved {
	int index;
	const struct config *known;
	bool ok, kept;
	char reason[64], why[512];
	enum advance_state state;
	int64_t from_ms, until_ms;
	size_t nuse;
	struct reserved_row use[USES_MAX];
};

struct reserved_all {
	struct reserved of[ADVANCES];
	size_t n;
};

static int index_of(const char *name)
{
	for (int i = 0; i < ADVANCES; i++)
		if (strcmp(advance_names[i], name) == 0)
			return i;
	return -1;
}

static void gather(const struct replica *r, struct reserved_all *ret)
{
	struct advance_reservation_view v;
	ret->n = 0;
	for (size_t i = 0; queue_view_advance_reservation(r->queue, i, &v); i++) {
		struct reserved *x = &ret->of[ret->n++];
		int index = index_of(v.name);
		*x = (struct reserved){.index = index,
			.known = &r->known[CONFIG_ADVANCE][index],
			.ok = v.accepted.ok,
			.kept = v.kept.ok,
			.state = v.state,
			.from_ms = v.from_ms,
			.until_ms = v.until_ms};
		snprintf(x->reason, sizeof(x->reason), "%s",
			x->ok ? v.kept.reason ? v.kept.reason : "" : v.accepted.reason);
		snprintf(x->why, sizeof(x->why), "%s", x->ok ? v.kept.message : v.accepted.message);
		for (size_t k = 0; k < v.nuse && x->nuse < USES_MAX; k++) {
			struct reserved_row *row = &x->use[x->nuse++];
			snprintf(row->node, sizeof(row->node), "%s", v.use[k].clusterqueue);
			row->flavor = v.use[k].flavor;
			row->resource = v.use[k].resource;
			row->left = v.use[k].left;
			row->used = v.use[k].used;
		}
	}
}

static bool covers(const struct reserved *x, int64_t at_ms)
{
	return x->ok && x->state != ADVANCE_ENDED && x->from_ms <= at_ms && at_ms < x->until_ms;
}

/* Its ClusterQueue is that of the reservation, and so is its namespace. */
static bool may_use(const struct replica *r, const struct reserved *x, const struct job *j)
{
	const struct workload *w = inside_workload(r->queue, &j->uid);
	const struct clusterqueue *cq = w && w->reservation ? w->reservation->cq : NULL;
	return cq && advance_lets(&x->known->advance, j) &&
	       strcmp(cq->name, clusterqueue_names[x->known->clusterqueue]) == 0;
}

static bool is_younger(const struct reserved *x, const struct reserved *y)
{
	int64_t diff = x->known->advance.created_ms - y->known->advance.created_ms;
	return diff != 0 ? diff > 0 : strcmp(advance_names[x->index], advance_names[y->index]) > 0;
}

/* Is it younger than one that is open and that the Job may use? */
static bool comes_after_its_own(const struct replica *r, const struct reserved_all *all,
	const struct reserved *x, const struct job *j)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->of[i].state == ADVANCE_ACTIVE && is_younger(x, &all->of[i]) &&
			may_use(r, &all->of[i], j))
			return true;
	return false;
}

/* What reservations of that moment keep of one resource. For a Job: what their users do not use now, of
 * those that it may not use; `crowded`: not of those that come after its own. */
static void leaves_reserved(const struct tree_of *t, const struct reserved_all *all, int64_t at_ms,
	const struct replica *r, const struct job *but, bool crowded, int64_t *ret)
{
	memset(ret, 0, t->n * sizeof(*ret));
	for (size_t i = 0; i < all->n; i++) {
		const struct reserved *x = &all->of[i];
		if (!covers(x, at_ms) || (but && may_use(r, x, but)) ||
			(crowded && comes_after_its_own(r, all, x, but)))
			continue;
		for (size_t k = 0; k < x->nuse; k++) {
			const struct reserved_row *u = &x->use[k];
			int node = node_find(t, false, u->node);
			if (node >= 0 && strcmp(u->flavor, t->flavor) == 0 &&
				strcmp(u->resource, t->resource) == 0)
				ret[node] += u->left - (but ? u->used : 0);
		}
	}
}

/* ---- Kept? -------------------------------------------------------------------------------------
 */

/* Do reservations alone fit at that moment? */
static bool fits_alone(
	const struct tree_of *t, const struct reserved_all *all, int node, int64_t at_ms)
{
	int64_t leaf[NODES_MAX];
	leaves_reserved(t, all, at_ms, NULL, NULL, false, leaf);
	return free_of(t, leaf, node) >= 0;
}

/* ... at each moment of its window that is to come? */
static bool row_fits_alone(const struct tree_of *t, const struct reserved_all *all,
	const struct reserved *x, int node, int64_t now_ms)
{
	if (!fits_alone(t, all, node, greater(x->from_ms, now_ms)))
		return false;
	for (size_t i = 0; i < all->n; i++) {
		int64_t at_ms = all->of[i].from_ms;
		if (at_ms > now_ms && covers(x, at_ms) && !fits_alone(t, all, node, at_ms))
			return false;
	}
	return true;
}

struct finding {
	bool lacks;	/* its quota, now */
	bool unfit;	/* beside other reservations alone */
	bool odd;	/* not judged */
	char what[200]; /* it lacks */
};

/* Takes what rows before that one, of the same flavor and resource, still keep: they are not free for it. */
static void take_before(
	const struct tree_of *t, const struct reserved *x, size_t row, int64_t *leaf)
{
	for (size_t i = 0; i < row; i++) {
		const struct reserved_row *u = &x->use[i];
		int node = node_find(t, false, u->node);
		if (node >= 0 && strcmp(u->flavor, t->flavor) == 0 &&
			strcmp(u->resource, t->resource) == 0)
			leaf[node] += u->left - u->used;
	}
}

static void look(const struct replica *r, const struct reserved_all *all, const struct reserved *x,
	int64_t now_ms, struct finding *ret)
{
	*ret = (struct finding){.odd = false};
	for (size_t i = 0; i < x->nuse; i++) {
		const struct reserved_row *u = &x->use[i];
		struct tree_of t;
		int64_t leaf[NODES_MAX];
		tree_make(&t, r->queue, u->flavor, u->resource);
		int node = node_find(&t, false, u->node);
		if (t.odd || node < 0) {
			ret->odd = true;
			return;
		}
		leaves_now(&t, leaf);
		take_before(&t, x, i, leaf);
		int64_t is_free = free_of(&t, leaf, node), has = is_free + u->used;
		if (u->left - u->used > greater(is_free, 0) && x->state == ADVANCE_ACTIVE) {
			ret->lacks = true;
			snprintf(ret->what, sizeof(ret->what), "%lld of the %lld %s of %s in %s",
				(ll)has, (ll)u->left, u->resource, u->flavor, u->node);
		}
		ret->unfit |= !row_fits_alone(&t, all, x, node, now_ms);
	}
}

/* Some run there is on its way out, or cannot be stopped. */
static bool some_leave(const struct replica *r)
{
	struct tree_node *n = tree_first(&inside_clusterqueues(r->queue)->shown);
	for (; n; n = tree_next(n)) {
		const struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		list_each_entry(&cq->reservations, const struct reservation, v, of_clusterqueue)
			if (v->stop_given || v->lingers || v->state == RESERVATION_LEAVING ||
				reservation_gives(v))
				return true;
	}
	return false;
}

/* Some that overlaps it is not kept either way. */
static bool said_of_some(const struct reserved_all *all, const struct reserved *x)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct reserved *o = &all->of[i];
		if (o->ok && !o->kept && o->from_ms < x->until_ms && x->from_ms < o->until_ms)
			return true;
	}
	return false;
}

static void break_it(struct sim *s, const struct replica *r, const struct reserved *x,
	int64_t now_ms, const char *what)
{
	sim_break(s, "P18", "AdvanceReservation %s at %.3f of %.3f to %.3f: %s; %s says '%s: %s'",
		advance_names[x->index], (double)(now_ms - SIM_EPOCH_MS) / 1000.0,
		(double)(x->from_ms - SIM_EPOCH_MS) / 1000.0,
		(double)(x->until_ms - SIM_EPOCH_MS) / 1000.0, what, r->identity, x->reason,
		x->why);
}

/* Says whether another one is open that the same Jobs might use. For which of the two a run counts is not judged
 * here. */
static bool shares_users(const struct reserved_all *all, const struct reserved *x)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct reserved *o = &all->of[i];
		if (o != x && o->state == ADVANCE_ACTIVE && !o->known->advance.maintenance &&
			o->known->clusterqueue == x->known->clusterqueue)
			return true;
	}
	return false;
}

/* Sums what runs of its ClusterQueue hold that may use it, those that are ending included. */
static int64_t users_hold(
	const struct replica *r, const struct reserved *x, const struct reserved_row *u)
{
	int64_t held = 0;
	struct tree_node *n = tree_first(&inside_clusterqueues(r->queue)->shown);
	for (; n; n = tree_next(n)) {
		const struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		if (strcmp(cq->name, u->node) != 0)
			continue;
		list_each_entry(&cq->reservations, const struct reservation, v, of_clusterqueue) {
			struct job of = {.ns = v->lq->ns->name};
			for (size_t i = 0; i < v->nlines; i++)
				if (v->line[i].row->node == cq->node &&
					strcmp(v->line[i].row->flavor, u->flavor) == 0 &&
					strcmp(v->line[i].row->resource, u->resource) == 0 &&
					advance_lets(&x->known->advance, &of))
					held += v->line[i].amount;
		}
	}
	return held;
}

/* Compares what the status says is used with what runs hold. */
static void check_used(struct sim *s, const struct replica *r, const struct reserved_all *all,
	const struct reserved *x, int64_t now_ms)
{
	char what[300];
	if (x->state != ADVANCE_ACTIVE || x->known->advance.maintenance || shares_users(all, x))
		return;
	for (size_t i = 0; i < x->nuse; i++) {
		const struct reserved_row *u = &x->use[i];
		int64_t expected = least(users_hold(r, x, u), u->left);
		snprintf(what, sizeof(what), "its users hold %lld %s of %s: expected, not %lld",
			(ll)expected, u->resource, u->flavor, (ll)u->used);
		if (u->used != expected)
			break_it(s, r, x, now_ms, what);
	}
}

/* For so long a leader that is told of it may not have heard what was given back, and stops no run. */
static bool settles(const struct replica *r, const struct reserved *x, int64_t now_ms)
{
	return x->known->advance.shortest_release_ms > 0 &&
	       now_ms - r->advance_from_ms[x->index] < ADVANCE_SETTLE_MS;
}

static void check_kept(struct sim *s, const struct replica *r, const struct reserved_all *all,
	const struct reserved *x, int64_t now_ms)
{
	struct finding f;
	char what[300];
	look(r, all, x, now_ms, &f);
	if (f.odd)
		return;
	bool active = x->state == ADVANCE_ACTIVE;
	if (active)
		sim_reach(s, f.lacks ? PATH_ADVANCE_PODS : PATH_ADVANCE_KEPT);
	if (f.unfit)
		sim_reach(s, PATH_ADVANCE_LOWERED);
	snprintf(what, sizeof(what), "it has %s", f.what);
	if (f.unfit && x->kept && !said_of_some(all, x))
		break_it(s, r, x, now_ms, "expected it to be told that quota was lowered");
	if (!f.unfit && strcmp(x->reason, "QuotaLowered") == 0)
		break_it(s, r, x, now_ms, "its quota was not lowered");
	if (!f.unfit && f.lacks && x->kept && !settles(r, x, now_ms))
		break_it(s, r, x, now_ms, what);
	if (!f.unfit && f.lacks && !some_leave(r) && !settles(r, x, now_ms))
		break_it(s, r, x, now_ms, strcat(what, ", and no run is stopped for it"));
	if (active && !f.lacks && strcmp(x->reason, "PodsDidNotEnd") == 0)
		break_it(s, r, x, now_ms, "it has all that it reserves");
}

/* ---- Accepted, and given back ------------------------------------------------------------------
 */

static bool says_less(const struct advance_status *status, const struct reserved_row *u)
{
	for (size_t i = 0; i < status->nleft; i++)
		if (strcmp(status->left[i].flavor, u->flavor) == 0 &&
			strcmp(status->left[i].resource, u->resource) == 0)
			return status->left[i].amount < u->left;
	return false;
}

static void check_accepted(
	struct sim *s, const struct replica *r, const struct reserved *x, int64_t now_ms)
{
	const struct advance_object *a = &x->known->advance;
	bool promised = s->advance.promised[x->index] == a->incarnation &&
			s->advance.promised_ms[x->index] < r->began_ms;
	bool told = a->status.accepted > 0;
	if (told && r->advance[x->index].incarnation != a->incarnation)
		sim_reach(s, PATH_ADVANCE_RETOLD);
	if (!x->ok && strcmp(x->reason, "NotFree") == 0)
		sim_reach(s, PATH_ADVANCE_REFUSED);
	if (x->ok && !told)
		*a->found_free = true;
	if (told && !*a->found_free)
		break_it(s, r, x, now_ms,
			"its status says that it is accepted, and no leader found so");
	if (!x->ok && (told || promised))
		break_it(s, r, x, now_ms, "it was accepted, and is not any more");
	for (size_t i = 0; x->ok && a->cpu > 0 && i < x->nuse; i++) {
		const struct reserved_row *u = &x->use[i];
		int64_t amount = strcmp(u->resource, "cpu") == 0 ? a->cpu : a->memory;
		if (u->left < amount)
			sim_reach(s, PATH_ADVANCE_GIVEN_BACK);
		if (u->left < amount && a->status.left_from_ms != x->from_ms &&
			(a->shortest_release_ms == 0 ||
				now_ms < x->from_ms + a->shortest_release_ms) &&
			!s->count[PATH_CLOCK_STEP] && s->restore.store == 0)
			break_it(s, r, x, now_ms, "some of it was given back too soon");
		if (u->left < amount && a->from_ms > 0 && a->status.left_from_ms != x->from_ms &&
			!s->count[PATH_CLOCK_STEP] && s->restore.store == 0)
			break_it(s, r, x, now_ms,
				"some of it is free for others, and no status says so");
		if (a->status.left_from_ms == x->from_ms && says_less(&a->status, u) &&
			x->state == ADVANCE_ACTIVE)
			break_it(s, r, x, now_ms,
				"its status gives back more than is free for others");
		if (u->left > amount || u->used > u->left)
			break_it(s, r, x, now_ms, "more of it is left or used than was reserved");
	}
}

/* ---- A pass is over ----------------------------------------------------------------------------
 */

void advance_check_pass(struct sim *s, const struct replica *r)
{
	struct reserved_all all;
	if (!s->advance.on || !gate_leading(r->gate))
		return;
	gather(r, &all);
	for (size_t i = 0; i < all.n; i++) {
		const struct reserved *x = &all.of[i];
		const struct config *now = &s->people.config[CONFIG_ADVANCE][x->index];
		const struct advance_written *written = &r->advance[x->index];
		bool is_known = now->exists && now->advance.version == x->known->advance.version;
		bool is_said =
			now->advance.status.accepted > 0 || x->known->advance.status.accepted > 0;
		bool may =
			!written->under_way && s->now_ms - written->at_ms >= ADVANCE_WRITE_EVERY_MS;
		if (x->ok && is_known && !is_said && may)
			break_it(s, r, x, s->now_ms,
				"it is accepted, its status does not say so, and nothing is written");
	}
}

/* ---- Decisions ---------------------------------------------------------------------------------
 */

static bool overlaps_at(const struct reserved_all *all, const struct replica *r,
	const struct job *j, const struct reservation_line *l, int64_t amount, int64_t at_ms)
{
	struct tree_of t;
	int64_t leaf[NODES_MAX];
	tree_make(&t, r->queue, l->row->flavor, l->row->resource);
	int node = node_find(&t, false, l->row->node->name + strlen("cq/"));
	if (t.odd || node < 0)
		return false;
	leaves_reserved(&t, all, at_ms, r, j, !fits_alone(&t, all, node, at_ms), leaf);
	bool reserved = use_of(&t, leaf, node) > 0;
	for (int up = node; up >= 0 && !reserved; up = t.node[up].parent)
		reserved = use_of(&t, leaf, up) > 0;
	leaf[node] += amount;
	return reserved && free_of(&t, leaf, node) < 0;
}

static void check_start(struct sim *s, const struct replica *r, const struct reserved_all *all,
	const struct decision *d, int64_t now_ms)
{
	const struct workload *w = inside_workload(r->queue, &d->uid);
	const struct model_job *j = model_api_by_uid(&s->api, &d->uid);
	struct explanation e = {0};
	if (!j || !w || !w->reservation || !queue_explain(r->queue, &d->uid, now_ms, &e))
		return;
	/* A run that grows ends when it was expected to end before. */
	int64_t from_ms = d->kind == DECISION_GROW ? w->reservation->since_ms : now_ms;
	int64_t until_ms = from_ms + (e.expected_ms > 0 ? e.expected_ms : ASSUMED_MS);
	for (size_t i = 0; i < all->n; i++) {
		const struct reserved *x = &all->of[i];
		int64_t at_ms = greater(x->from_ms, now_ms);
		if (!covers(x, at_ms) || at_ms >= until_ms)
			continue;
		if (may_use(r, x, &j->now->job)) {
			if (x->state == ADVANCE_ACTIVE)
				sim_reach(s, PATH_ADVANCE_USED);
			continue;
		}
		for (size_t k = 0; k < w->reservation->nlines; k++) {
			const struct reservation_line *l = &w->reservation->line[k];
			if (l->amount > 0 && overlaps_at(all, r, &j->now->job, l, l->amount, at_ms))
				sim_break(s, "P18",
					"%s lets %s %s at %.3f, until %.3f: it overlaps AdvanceReservation "
					"%s, from %.3f until %.3f",
					r->identity, j->now->job.name,
					d->kind == DECISION_GROW ? "grow" : "in",
					(double)(now_ms - SIM_EPOCH_MS) / 1000.0,
					(double)(until_ms - SIM_EPOCH_MS) / 1000.0,
					advance_names[x->index],
					(double)(x->from_ms - SIM_EPOCH_MS) / 1000.0,
					(double)(x->until_ms - SIM_EPOCH_MS) / 1000.0);
		}
	}
}

static void check_stop(struct sim *s, const struct replica *r, const struct reserved_all *all,
	const struct decision *d, int64_t now_ms)
{
	const struct model_job *j = model_api_by_uid(&s->api, &d->uid);
	int index = d->policy ? index_of(d->policy) : -1;
	const struct reserved *x = NULL;
	for (size_t i = 0; i < all->n; i++)
		if (all->of[i].index == index)
			x = &all->of[i];
	sim_reach(s, PATH_ADVANCE_STOP);
	if (!x) {
		sim_break(s, "P18", "%s stops a run for a reservation that is not there",
			r->identity);
		return;
	}
	int64_t period_ms = x->known->advance.release_after_ms;
	if (!covers(x, now_ms))
		break_it(s, r, x, now_ms, "a run is stopped for it out of its time");
	if (period_ms > 0 && now_ms >= x->from_ms + period_ms && settles(r, x, now_ms) &&
		!s->count[PATH_CLOCK_STEP])
		break_it(s, r, x, now_ms, "a new leader stops a run for it at once");
	if (j && may_use(r, x, &j->now->job))
		break_it(s, r, x, now_ms, "a run that may use it is stopped for it");
}

void advance_check(
	struct sim *s, struct replica *r, const struct decision *d, size_t n, int64_t now_ms)
{
	struct reserved_all all;
	if (!s->advance.on)
		return;
	advance_judges(now_ms);
	gather(r, &all);
	for (size_t i = 0; i < all.n; i++) {
		int64_t *from_ms = &r->advance_from_ms[all.of[i].index];
		bool told = all.of[i].known->advance.status.accepted > 0;
		if (!all.of[i].ok)
			*from_ms = 0;
		else if (*from_ms == 0)
			*from_ms = told ? now_ms : now_ms - ADVANCE_SETTLE_MS;
		check_accepted(s, r, &all.of[i], now_ms);
		if (!all.of[i].ok || all.of[i].state == ADVANCE_ENDED)
			continue;
		check_kept(s, r, &all, &all.of[i], now_ms);
		check_used(s, r, &all, &all.of[i], now_ms);
	}
	for (size_t i = 0; i < n; i++) {
		if (d[i].kind == DECISION_START || d[i].kind == DECISION_GROW)
			check_start(s, r, &all, &d[i], now_ms);
		if (d[i].kind == DECISION_STOP && d[i].reason == STOP_REASON_RESERVED)
			check_stop(s, r, &all, &d[i], now_ms);
	}
}
