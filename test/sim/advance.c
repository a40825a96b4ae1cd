#include "test/sim/advance.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/core/inside.h"
#include "queue/features/bookings/advance_plan.h"
#include "queue/core/model/kept_start.h"
#include "test/sim/sim.h"
#include "test/sim/windows.h"

#define SALT 0x616476616e6365 /* "advance" */
#define GIB ((int64_t)1 << 30)

const char *const advance_names[ADVANCES] = {"demo", "upgrade", "workshop"};

/* ---- Admins ------------------------------------------------------------------------------------
 */

/* Seconds, as the API server has them. */
static void draw_time(struct sim *s, struct advance_object *a)
{
	struct rng *r = &s->advance.rng;
	if (rng_odds(r, 1000)) {
		a->from_ms = a->until_ms = 0;
		return;
	}
	a->from_ms = s->now_ms / 1000 * 1000 + rng_skewed(r, 1, 120) * 1000;
	if (rng_odds(r, 300))
		a->from_ms -= 600000; /* in the past */
	a->until_ms = a->from_ms + rng_skewed(r, 5, 240) * 1000;
}

static void draw_amount(struct sim *s, struct config *c)
{
	struct rng *r = &s->advance.rng;
	struct advance_object *a = &c->advance;
	const struct config *cq = &s->people.config[CONFIG_CLUSTERQUEUE][c->clusterqueue];
	size_t k = (size_t)rng_between(r, 0, (int64_t)cq->nflavors - 1);
	int64_t percent = rng_odds(r, 500) ? 200 : rng_between(r, 10, 100);
	a->cpu = a->memory = 0;
	a->flavor = flavor_names[cq->flavor[k]];
	if (a->everywhere || rng_odds(r, 2500))
		return; /* all that there is */
	if (rng_odds(r, 8000))
		a->cpu = cq->cpu[k] / 100 * percent;
	if (a->cpu == 0 || rng_odds(r, 3000))
		a->memory = cq->memory[k] / 100 * percent;
}

static void draw_users(struct sim *s, struct advance_object *a)
{
	struct rng *r = &s->advance.rng;
	a->namespaces = a->maintenance || rng_odds(r, 5000) ? 0 : (unsigned)rng_between(r, 1, 3);
	a->release_after_ms =
		!a->maintenance && rng_odds(r, 5000) ? rng_between(r, 1, 60) * 1000 : 0;
	if (a->release_after_ms > 0 &&
		(a->shortest_release_ms == 0 || a->release_after_ms < a->shortest_release_ms))
		a->shortest_release_ms = a->release_after_ms;
}

static void changed(struct sim *s, struct config *c)
{
	c->advance.version++;
	for (size_t i = 0; i < s->nreplicas; i++)
		replica_hear_config(s, &s->replica[i], c);
	sim_touch(s);
}

static void make(struct sim *s, struct config *c)
{
	struct rng *r = &s->advance.rng;
	struct advance_object *a = &c->advance;
	*a = (struct advance_object){.incarnation = ++s->advance.made,
		.version = a->version,
		.created_ms = s->now_ms / 1000 * 1000,
		.found_free = sim_alloc(s, sizeof(bool))};
	c->exists = true;
	c->generation = 1;
	c->clusterqueue = (size_t)rng_between(r, 0, CLUSTERQUEUES - 1);
	c->calendar = (size_t)rng_between(r, 0, CALENDARS - 1);
	a->maintenance = rng_odds(r, 2500);
	a->everywhere = a->maintenance && rng_odds(r, 5000);
	draw_amount(s, c);
	draw_time(s, a);
	draw_users(s, a);
	sim_log(s,
		"admin  reserves %s: %lldm cpu and %lld memory of %s of %s%s, from %.3f until %.3f",
		advance_names[c->index], (long long)a->cpu, (long long)a->memory, a->flavor,
		a->everywhere ? "all" : clusterqueue_names[c->clusterqueue],
		a->maintenance ? " for nobody" : "", (double)(a->from_ms - SIM_EPOCH_MS) / 1000.0,
		(double)(a->until_ms - SIM_EPOCH_MS) / 1000.0);
}

/* What may be edited. */
static void edit(struct sim *s, struct config *c)
{
	draw_users(s, &c->advance);
	c->generation++;
	sim_log(s, "admin  edits who may use %s", advance_names[c->index]);
}

static void remove_one(struct sim *s, struct config *c)
{
	c->exists = false;
	sim_log(s, "admin  deletes reservation %s", advance_names[c->index]);
}

static void admin_acts(struct sim *s, void *arg)
{
	struct rng *r = &s->advance.rng;
	(void)arg;
	if (s->calm)
		return;
	struct config *c = &s->people.config[CONFIG_ADVANCE][rng_between(r, 0, ADVANCES - 1)];
	bool is_over = c->advance.until_ms > 0 && c->advance.until_ms < s->now_ms;
	if (!c->exists)
		make(s, c);
	else if (is_over || rng_odds(r, 2000))
		remove_one(s, c);
	else if (rng_odds(r, 3000))
		edit(s, c);
	changed(s, c);
	sim_after(s, rng_skewed(r, 500, 20000), admin_acts, NULL);
}

/* Empties the status of one of which nothing was given back, as people do who put back a manifest. */
static void admin_empties_status(struct sim *s, void *arg)
{
	struct rng *r = &s->advance.rng;
	(void)arg;
	if (s->calm)
		return;
	size_t i = (size_t)rng_between(r, 0, ADVANCES - 1);
	struct config *c = &s->people.config[CONFIG_ADVANCE][i];
	if (c->exists && c->advance.status.accepted > 0 && c->advance.status.left_from_ms == 0) {
		c->advance.status.accepted = 0;
		s->advance.promised[i] = 0;
		sim_log(s, "admin  empties the status of %s", advance_names[i]);
		changed(s, c);
	}
	sim_after(s, rng_skewed(r, 500, 20000), admin_empties_status, NULL);
}

/* ---- Faults that are planted in the queue (ld --wrap) --------------------------------------------
 */

static enum bug planted;
static int64_t judged_ms; /* of the last decision that was looked over */

void __real_advance_kept(const struct advance_reservation *a, const struct advance_window *w,
	int64_t at_ms, int64_t *ret_amounts, int64_t *ret_until_ms);
void __wrap_advance_kept(const struct advance_reservation *a, const struct advance_window *w,
	int64_t at_ms, int64_t *ret_amounts, int64_t *ret_until_ms);
void __wrap_advance_kept(const struct advance_reservation *a, const struct advance_window *w,
	int64_t at_ms, int64_t *ret_amounts, int64_t *ret_until_ms)
{
	bool guesses = planted == BUG_PLAN_AS_HELD && at_ms == ADVANCE_PRESENT;
	__real_advance_kept(a, w, guesses ? judged_ms : at_ms, ret_amounts, ret_until_ms);
}

void __real_advance_run_unbooked(struct queue *q, struct reservation *r);
void __wrap_advance_run_unbooked(struct queue *q, struct reservation *r);
void __wrap_advance_run_unbooked(struct queue *q, struct reservation *r)
{
	bool clears = inside_advance_reservations(q)->clears;
	__real_advance_run_unbooked(q, r);
	if (planted == BUG_FREED_UNHEARD)
		inside_advance_reservations(q)->clears = clears;
}

bool __real_kept_starts_expire(struct queue *q);
bool __wrap_kept_starts_expire(struct queue *q);
bool __wrap_kept_starts_expire(struct queue *q)
{
	return planted != BUG_BOOKING_KEPT && __real_kept_starts_expire(q);
}

void advance_judges(int64_t now_ms)
{
	judged_ms = now_ms;
}

void advance_begin(struct sim *s)
{
	planted = s->o.bug;
	rng_seed(&s->advance.rng, s->o.seed ^ SALT);
	s->advance.on = s->bookings.on && rng_odds(&s->advance.rng, 8000);
	for (size_t i = 0; i < ADVANCES; i++)
		s->people.config[CONFIG_ADVANCE][i].exists = false;
	if (s->advance.on)
		sim_after(s, 1, admin_acts, NULL);
	if (s->advance.on && s->o.restores)
		sim_after(s, 1000, admin_empties_status, NULL);
}

void advance_calm(struct sim *s)
{
	for (size_t i = 0; i < ADVANCES; i++) {
		struct config *c = &s->people.config[CONFIG_ADVANCE][i];
		if (!c->exists)
			continue;
		remove_one(s, c);
		changed(s, c);
	}
}

/* What the snapshot does not show was never promised. */
void advance_put_back(struct sim *s)
{
	for (size_t i = 0; i < ADVANCES; i++) {
		const struct config *c = &s->people.config[CONFIG_ADVANCE][i];
		bool told = c->exists && c->advance.status.accepted > 0;
		s->advance.promised[i] = told ? c->advance.incarnation : 0;
		s->advance.promised_ms[i] = s->now_ms;
	}
}

/* ---- A queue is told ---------------------------------------------------------------------------
 */

static size_t describe_amounts(const struct advance_object *a, struct advance_amount *ret)
{
	size_t n = 0;
	if (a->cpu > 0)
		ret[n++] = (struct advance_amount){a->flavor, "cpu", a->cpu};
	if (a->memory > 0)
		ret[n++] = (struct advance_amount){a->flavor, "memory", a->memory};
	if (n == 0)
		ret[n++] = (struct advance_amount){a->flavor, "", 0};
	return n;
}

static struct uid uid_of(const struct advance_object *a)
{
	struct uid uid = {{0}};
	memcpy(uid.byte, &a->incarnation, sizeof(a->incarnation));
	uid.byte[15] = 0xad;
	return uid;
}

void advance_set(struct sim *s, struct queue *q, const struct config *c)
{
	const struct advance_object *a = &c->advance;
	const struct advance_status *status = &a->status;
	struct advance_amount amount[2], left[ADVANCE_ROWS];
	const char *ns[NAMESPACES];
	struct err e = {""};
	struct advance_reservation_spec spec = {.name = advance_names[c->index],
		.uid = uid_of(a),
		.generation = c->generation,
		.created_ms = a->created_ms,
		.clusterqueue = a->everywhere ? "" : clusterqueue_names[c->clusterqueue],
		.amount = amount,
		.namounts = describe_amounts(a, amount),
		.from_ms = a->from_ms,
		.until_ms = a->until_ms,
		.calendar = a->from_ms > 0 ? "" : calendar_names[c->calendar],
		.maintenance = a->maintenance,
		.namespaces = ns,
		.release_after_ms = a->release_after_ms,
		.accepted = status->accepted > 0, /* whoever may use it is edited: decode.h */
		.left_from_ms = status->left_from_ms,
		.left = left,
		.nleft = status->nleft};
	for (size_t i = 0; i < NAMESPACES; i++)
		if (a->namespaces >> i & 1)
			ns[spec.nnamespaces++] = namespace_names[i];
	for (size_t i = 0; i < status->nleft; i++)
		left[i] = (struct advance_amount){
			status->left[i].flavor, status->left[i].resource, status->left[i].amount};
	if (queue_set_advance_reservation(q, &spec, &e) != 0)
		sim_break(s, "P18", "AdvanceReservation %s: %s", spec.name, e.text);
}

void advance_drop(struct queue *q, const struct config *c)
{
	queue_drop_advance_reservation(q, advance_names[c->index]);
}

/* ---- The leader writes -------------------------------------------------------------------------
 */

struct status_write {
	struct replica *by;
	uint64_t life;
	size_t index;
	uint32_t incarnation, version; /* it counts for these alone */
	int64_t generation;
	struct advance_status status;
	bool lost, refused;
};

static void status_answered(struct sim *s, struct replica *r, void *arg)
{
	const struct status_write *w = arg;
	(void)s;
	struct advance_written *written = &r->advance[w->index];
	written->under_way = false;
	if (w->lost || w->refused)
		written->incarnation = 0; /* it is not known what the server has */
}

static void note_promise(struct sim *s, const struct status_write *w)
{
	if (!w->status.accepted || s->advance.promised[w->index] == w->incarnation)
		return;
	s->advance.promised[w->index] = w->incarnation;
	s->advance.promised_ms[w->index] = s->now_ms;
	sim_reach(s, PATH_ADVANCE_ACCEPTED);
}

static void status_lands(struct sim *s, void *arg)
{
	struct status_write *w = arg;
	struct config *c = &s->people.config[CONFIG_ADVANCE][w->index];
	struct replica *r = w->by;
	bool unguarded = s->o.bug == BUG_STATUS_OF_ANOTHER;
	bool is_that = c->advance.incarnation == w->incarnation && c->advance.version == w->version;
	w->refused = !is_that && !unguarded;
	if (!w->lost && c->exists && !w->refused) {
		c->advance.status = w->status;
		note_promise(s, w);
		sim_log(s, "%s wrote: %s is %s, generation %lld", r->identity,
			advance_names[w->index], w->status.accepted ? "accepted" : "not accepted",
			(long long)w->generation);
		changed(s, c);
	}
	if (r->up && r->life == w->life)
		replica_at(s, r, s->now_ms + 1, status_answered, w);
}

static int name_index(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

/* Strings of the view do not live as long. */
static void take_left(const struct advance_reservation_view *v, struct advance_status *ret)
{
	static const char *const resources[] = {"cpu", "memory", "pods", "gpu"};
	ret->left_from_ms = v->left_from_ms;
	for (size_t i = 0; v->left_from_ms != 0 && i < v->nuse && ret->nleft < ADVANCE_ROWS; i++) {
		int flavor = name_index(flavor_names, FLAVORS, v->use[i].flavor);
		int resource = name_index(resources, 4, v->use[i].resource);
		if (flavor < 0 || resource < 0)
			continue;
		ret->left[ret->nleft].flavor = flavor_names[flavor];
		ret->left[ret->nleft].resource = resources[resource];
		ret->left[ret->nleft++].amount = v->use[i].offered;
	}
}

static bool is_same(const struct advance_status *a, const struct advance_status *b)
{
	if (a->accepted != b->accepted || a->left_from_ms != b->left_from_ms ||
		a->nleft != b->nleft)
		return false;
	for (size_t i = 0; i < a->nleft; i++)
		if (strcmp(a->left[i].flavor, b->left[i].flavor) != 0 ||
			strcmp(a->left[i].resource, b->left[i].resource) != 0 ||
			a->left[i].amount != b->left[i].amount)
			return false;
	return true;
}

static void send(struct sim *s, struct replica *r, size_t index, const struct config *known,
	const struct advance_status *status)
{
	struct rng *rng = &s->advance.rng;
	struct status_write *w = sim_alloc(s, sizeof(*w));
	*w = (struct status_write){r, r->life, index, known->advance.incarnation,
		known->advance.version, known->generation, *status,
		!s->calm && rng_odds(rng, s->faults.lost), false};
	r->advance[index] =
		(struct advance_written){known->advance.incarnation, s->now_ms, true, *status};
	sim_after(s, rng_skewed(rng, 1, 2 * s->faults.api_latency_ms), status_lands, w);
}

void advance_write(struct sim *s, struct replica *r)
{
	struct advance_reservation_view v;
	if (!s->advance.on || !gate_leading(r->gate))
		return;
	for (size_t i = 0; queue_view_advance_reservation(r->queue, i, &v); i++) {
		int index = name_index(advance_names, ADVANCES, v.name);
		struct advance_written *written = &r->advance[index];
		const struct config *known = &r->known[CONFIG_ADVANCE][index];
		struct advance_status status = {.accepted = v.accepted.ok ? v.generation : 0};
		take_left(&v, &status);
		bool as_seen = is_same(&known->advance.status, &status);
		if (written->under_way || (as_seen && status.accepted == 0) ||
			strcmp(v.accepted.reason, "NotJudgedYet") == 0)
			continue;
		bool told = written->incarnation == known->advance.incarnation &&
			    is_same(&written->status, &status);
		bool may = s->now_ms - written->at_ms >= ADVANCE_WRITE_EVERY_MS;
		if (may && (!told || (!as_seen && s->o.bug != BUG_STATUS_NOT_LOOKED_AT)) &&
			!(told && as_seen))
			send(s, r, (size_t)index, known, &status);
	}
}

bool advance_lets(const struct advance_object *a, const struct job *j)
{
	if (a->maintenance)
		return false;
	for (size_t i = 0; i < NAMESPACES; i++)
		if (a->namespaces >> i & 1 && strcmp(namespace_names[i], j->ns) == 0)
			return true;
	return a->namespaces == 0;
}
