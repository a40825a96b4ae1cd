#include "test/sim/partition.h"

#include "test/sim/sim.h"

#define SALT 0x706172746974696f /* "partitio" */
#define LOST_MS 10000		/* controller/watch/following.c */
#define STALLED_MS 60000	/* KIND_STALLED_MS */

enum server { THE_API_SERVER, THE_LEDGER };

struct cut {
	struct replica *of;
	enum server server;
	uint64_t number, life;
};

static struct way *way_to(struct replica *r, enum server server)
{
	return server == THE_LEDGER ? &r->to_ledger : &r->to_api;
}

bool way_is_open(const struct sim *s, const struct way *w)
{
	return s->now_ms >= w->until_ms;
}

bool partition_waits(struct sim *s, struct replica *r,
	void (*fn)(struct sim *s, struct replica *r, void *arg), void *arg)
{
	if (way_is_open(s, &r->to_api))
		return false;
	/* It may be reached earlier than was drawn: faults stop. */
	replica_at(s, r, s->now_ms + rng_between(&s->partition.rng, 500, 1500), fn, arg);
	return true;
}

/* ---- What the driver does about it ------------------------------------------------------------
 */

/* Its sleep does not count: it could not have had news (kube/awake.h). */
static int64_t stalled_ms(const struct sim *s, const struct replica *r)
{
	if (r->watching || !r->jobs_listed)
		return 0;
	int64_t from = r->deaf_ms > r->paused_until_ms ? r->deaf_ms : r->paused_until_ms;
	return s->now_ms - from;
}

static void looks(struct sim *s, struct replica *r, void *arg)
{
	int64_t stalled = stalled_ms(s, r);
	bool lost = stalled >= LOST_MS;
	(void)arg;
	r->looking = false;
	if (s->o.bug != BUG_BLIND_LEADS) {
		gate_set_following(r->gate, !lost);
		if (lost != r->lost)
			replica_step_soon(s, r);
		if (stalled >= STALLED_MS && gate_leading(r->gate)) {
			sim_reach(s, PATH_BLIND_LEFT);
			replica_leave(s, r, "it follows no Jobs");
		}
	}
	r->lost = lost;
	if (lost || !way_is_open(s, &r->to_api))
		partition_look(s, r);
}

void partition_look(struct sim *s, struct replica *r)
{
	if (!s->partition.on || r->looking)
		return;
	r->looking = true;
	replica_at(s, r, s->now_ms + 1000, looks, NULL);
}

/* ---- Cuts -------------------------------------------------------------------------------------
 */

static void heals(struct sim *s, void *arg)
{
	const struct cut *c = arg;
	struct replica *r = c->of;
	struct way *w = way_to(r, c->server);
	if (w->number != c->number)
		return;
	w->until_ms = s->now_ms;
	w->number++;
	sim_log(s, "%s reaches the %s again", r->identity,
		c->server == THE_LEDGER ? "ledger" : "API server");
	if (!r->up || r->life != c->life || c->server == THE_LEDGER)
		return;
	replica_take_up(s, r, rng_between(&s->partition.rng, 1, 1500));
}

/* P7: it must not lead any more, if it was awake all the time. */
static void judge(struct sim *s, void *arg)
{
	const struct cut *c = arg;
	const struct replica *r = c->of;
	const struct way *w = &r->to_api;
	if (s->calm || w->number != c->number || way_is_open(s, w) || !r->up ||
		r->life != c->life || r->paused_until_ms > w->since_ms || !gate_leading(r->gate))
		return;
	sim_break(s, "P7",
		"%s leads, and has followed no Jobs for %lld s: expected it to give the lease back",
		r->identity, (long long)(s->now_ms - w->since_ms) / 1000);
}

static void loses_the_api(struct sim *s, struct replica *r, struct cut *c)
{
	const struct way *w = &r->to_api;
	replica_lose_watch(r, s->now_ms + (w->silent ? SILENCE_MS : 0));
	sim_at(s, s->now_ms + BLIND_MAX_MS + (w->silent ? SILENCE_MS : 0), judge, c);
	partition_look(s, r);
}

static void cut_off(struct sim *s, struct replica *r, enum server server)
{
	struct partition *p = &s->partition;
	struct way *w = way_to(r, server);
	if (!way_is_open(s, w))
		return;
	struct cut *c = sim_alloc(s, sizeof(*c));
	*w = (struct way){s->now_ms, s->now_ms + rng_skewed(&p->rng, 1000, 300000),
		rng_odds(&p->rng, 3000), w->number + 1};
	*c = (struct cut){r, server, w->number, r->life};
	sim_log(s, "%s is cut off from the %s%s until %.3f", r->identity,
		server == THE_LEDGER ? "ledger" : "API server", w->silent ? " in silence" : "",
		(double)(w->until_ms - SIM_EPOCH_MS) / 1000.0);
	sim_at(s, w->until_ms, heals, c);
	bool leads = r->up && gate_leading(r->gate);
	if (leads)
		sim_reach(s, server == THE_LEDGER ? PATH_LEADER_MUTE : PATH_LEADER_BLIND);
	if (r->up && server == THE_LEDGER)
		replica_break_ledger(s, r);
	else if (r->up)
		loses_the_api(s, r, c);
}

static struct replica *draw_replica(struct sim *s)
{
	for (size_t i = 0; i < s->nreplicas; i++)
		if (s->replica[i].up && gate_leading(s->replica[i].gate) &&
			rng_odds(&s->partition.rng, 7000))
			return &s->replica[i];
	return &s->replica[rng_between(&s->partition.rng, 0, (int64_t)s->nreplicas - 1)];
}

static void parts(struct sim *s, void *arg)
{
	struct partition *p = &s->partition;
	(void)arg;
	if (s->calm)
		return;
	struct replica *r = draw_replica(s);
	enum server server = rng_odds(&p->rng, 5000) ? THE_API_SERVER : THE_LEDGER;
	cut_off(s, r, server);
	if (s->nreplicas == 2 && rng_odds(&p->rng, 3000)) {
		sim_reach(s, PATH_CROSSED);
		cut_off(s, &s->replica[1 - r->index],
			server == THE_LEDGER ? THE_API_SERVER : THE_LEDGER);
	}
	sim_after(s, rng_between(&p->rng, 1, 2 * p->every_ms), parts, NULL);
}

void partition_begin(struct sim *s)
{
	struct partition *p = &s->partition;
	rng_seed(&p->rng, s->o.seed ^ SALT);
	p->on = rng_odds(&p->rng, 2000) || s->o.partitions;
	p->every_ms = rng_between(&p->rng, 3000, 60000);
	if (p->on)
		sim_after(s, rng_between(&p->rng, 1, 2 * p->every_ms), parts, NULL);
}

static void heal_now(struct sim *s, struct replica *r, enum server server)
{
	struct way *w = way_to(r, server);
	if (way_is_open(s, w))
		return;
	struct cut *c = sim_alloc(s, sizeof(*c));
	*c = (struct cut){r, server, w->number, r->life};
	heals(s, c);
}

void partition_calm(struct sim *s)
{
	for (size_t i = 0; i < s->nreplicas; i++) {
		heal_now(s, &s->replica[i], THE_API_SERVER);
		heal_now(s, &s->replica[i], THE_LEDGER);
	}
}
