#include "test/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/sim/promises.h"
#include "test/sim/windows.h"

/* A world that has not come to rest by then never will. */
#define SETTLE_EVENTS 60000

const char *bug_name(enum bug b)
{
	static const char *const names[BUG_COUNT] = {"none", "release_early", "unfenced_reserve",
		"batch_doubt_lost", "commit_doubt_lost", "start_doubt_lost", "tell_undone",
		"unguarded", "no_doubt", "counts_kept", "zone_ignored", "spent_forgotten",
		"bill_guessed", "history_lost", "resources_kept", "leaving_uncounted",
		"quota_misread", "quota_freed_untold", "pod_weightless", "pod_end_untold",
		"child_ignored", "deletion_untold", "kept_uncounted", "orphans_uncounted",
		"control_unseen", "ending_unseen", "borrowing_unheard", "min_run_unread",
		"success_unread", "reapply_unseen", "loss_unseen", "story_unsigned",
		"starts_at_once", "blind_leads", "batch_assumed", "older_ignored", "place_kept",
		"grow_assumed", "grow_refusal_unheard", "grow_unguarded", "retell_undone",
		"sizes_unnumbered", "kept_pods_unheard", "outcome_unread", "failure_unseen",
		"end_guessed", "delete_unguarded", "held_forgotten", "word_unread", "word_for_all",
		"users_unread", "status_of_another", "status_not_looked_at", "plan_as_held",
		"freed_unheard", "booking_kept", "given_back_unsaid"};
	return names[b];
}

/* ---- For the parts ------------------------------------------------------------------------------
 */

void *sim_alloc(struct sim *s, size_t size)
{
	return pool_alloc(&s->pool, size);
}

void sim_at(struct sim *s, int64_t at_ms, void (*run)(struct sim *s, void *arg), void *arg)
{
	timeline_add(&s->timeline, at_ms > s->now_ms ? at_ms : s->now_ms, run, arg);
}

void sim_after(struct sim *s, int64_t ms, void (*run)(struct sim *s, void *arg), void *arg)
{
	sim_at(s, s->now_ms + ms, run, arg);
}

void sim_touch(struct sim *s)
{
	s->touched = true;
	s->moved_ms = s->now_ms;
}

void sim_log(struct sim *s, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* FNV-1a over time and text. */
	for (size_t i = 0; i < sizeof(s->now_ms); i++)
		s->hash = (s->hash ^ (uint8_t)(s->now_ms >> 8 * i)) * 0x100000001B3u;
	for (const char *p = text; *p; p++)
		s->hash = (s->hash ^ (uint8_t)*p) * 0x100000001B3u;
	if (s->o.verbose)
		printf("%9.3f  %s\n", (double)(s->now_ms - SIM_EPOCH_MS) / 1000.0, text);
}

void sim_break(struct sim *s, const char *promise, const char *fmt, ...)
{
	if (s->broken[0])
		return; /* the first is the cause, what follows may be its shadow */
	snprintf(s->broken, sizeof(s->broken), "%s", promise);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(s->seen, sizeof(s->seen), fmt, ap);
	va_end(ap);
}

/* ---- The world ----------------------------------------------------------------------------------
 */

static void job_written(struct model_api *api, const struct snap *now, void *ctx)
{
	(void)api;
	struct sim *s = ctx;
	sim_touch(s);
	pipelines_see(s, now);
	model_jobs_inform(s, now);
	for (size_t i = 0; i < s->nreplicas; i++)
		replica_hear_jobs(s, &s->replica[i]);
}

static void job_started(struct model_api *api, struct snap *next, void *ctx)
{
	(void)api;
	struct sim *s = ctx;
	lent_apply(s, next, s->start);
}

static void ledger_outage(struct sim *s, void *arg)
{
	(void)arg;
	if (s->calm)
		return;
	s->ledger_down_until_ms = s->now_ms + rng_skewed(&s->rng, 100, 30000);
	sim_log(s, "ledger is down until %.3f",
		(double)(s->ledger_down_until_ms - SIM_EPOCH_MS) / 1000.0);
	sim_reach(s, PATH_LEDGER_OUTAGE);
	for (size_t i = 0; i < s->nreplicas; i++)
		if (s->replica[i].up)
			replica_break_ledger(s, &s->replica[i]);
	sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.ledger_outage_every_ms), ledger_outage,
		NULL);
}

static void other_cell_leaves(struct sim *s, void *arg)
{
	const struct model_row *rows;
	const size_t *row = arg;
	if (*row < model_ledger_rows(s->ledger, &rows)) /* else another ledger is in place */
		model_ledger_squeeze(s->ledger, *row, false);
	sim_touch(s);
}

static void other_cell_takes(struct sim *s, void *arg)
{
	(void)arg;
	if (s->calm)
		return;
	const struct model_row *rows;
	size_t n = model_ledger_rows(s->ledger, &rows);
	if (n) {
		size_t *row = sim_alloc(s, sizeof(*row));
		*row = (size_t)rng_between(&s->rng, 0, (int64_t)n - 1);
		sim_log(s, "another cell takes the rest of %s %s %s", rows[*row].node,
			rows[*row].flavor, rows[*row].resource);
		model_ledger_squeeze(s->ledger, *row, true);
		sim_after(s, rng_skewed(&s->rng, 500, 30000), other_cell_leaves, row);
	}
	sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.ledger_squeeze_every_ms),
		other_cell_takes, NULL);
}

/* In one world of five the API server and the Job controller are those of Kubernetes 1.34. Drawn
 * apart, so that worlds without stay what they were. */
static bool is_old_server(uint64_t seed)
{
	struct rng rng;
	rng_seed(&rng, seed ^ 0x312e3334);
	return rng_odds(&rng, 2000);
}

static void begin(struct sim *s, const struct sim_options *o)
{
	s->o = *o;
	windows_watch(s);
	s->now_ms = s->moved_ms = SIM_EPOCH_MS;
	s->hash = 0xCBF29CE484222325u;
	rng_seed(&s->rng, o->seed);
	faults_draw(&s->faults, &s->rng);
	model_api_init(&s->api, &s->pool);
	s->api.written = job_written;
	s->api.started = job_started;
	s->api.ctx = s;
	model_jobs_init(&s->jobs);
	s->ledger = model_ledger_new();
	if (o->bug == BUG_UNFENCED_RESERVE)
		model_ledger_plant_unfenced(s->ledger, LEDGER_RESERVE);
	if (o->bug == BUG_LOSS_UNSEEN)
		model_ledger_plant_on_any_server(s->ledger);
	s->nreplicas = rng_odds(&s->rng, 6500) ? 2 : 1;
	for (size_t i = 0; i < s->nreplicas; i++)
		replica_init(s, &s->replica[i], i);
	s->api.old_server = is_old_server(o->seed);
	lent_begin(s);
	cluster_begin(s);
	people_begin(s);
	tenant_begin(s);
	for (size_t i = 0; i < s->nreplicas; i++)
		replica_begin(s, &s->replica[i]);
	if (s->faults.ledger_outage_every_ms)
		sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.ledger_outage_every_ms),
			ledger_outage, NULL);
	if (s->faults.ledger_squeeze_every_ms)
		sim_after(s, rng_between(&s->rng, 1, 2 * s->faults.ledger_squeeze_every_ms),
			other_cell_takes, NULL);
	failover_begin(s);
	partition_begin(s);
	restore_begin(s);
	pipelines_begin(s);
	newcomers_begin(s);
}

static void done(struct sim *s)
{
	for (size_t i = 0; i < s->nreplicas; i++)
		replica_done(&s->replica[i]);
	model_ledger_free(s->ledger);
	failover_done(s);
	restore_done(s);
	pipelines_done(s);
	model_api_done(&s->api);
	timeline_done(&s->timeline);
	pool_done(&s->pool);
}

/* One event, and then the promises. */
static void next(struct sim *s)
{
	struct event e;
	must(timeline_take(&s->timeline, &e));
	s->now_ms = e.at_ms;
	s->nevents++;
	e.run(s, e.arg);
	if (s->touched)
		promises_check(s);
	s->touched = false;
}

static bool pods_left(const struct sim *s)
{
	for (const struct model_pod *p = s->jobs.first; p; p = p->next)
		if (pod_exists(p) && !cluster_never_binds(s, p))
			return true;
	return false;
}

static void settle(struct sim *s)
{
	size_t limit = s->nevents + SETTLE_EVENTS;
	s->moved_ms = s->now_ms;
	while (!s->broken[0] &&
		(s->now_ms - s->moved_ms < QUIET_MS || (!s->frozen && pods_left(s)))) {
		next(s);
		if (s->nevents < limit)
			continue;
		promises_check_books(s);
		sim_break(s, "P7",
			"expected the world to come to rest; it still moves after %d "
			"events",
			SETTLE_EVENTS);
	}
}

/* The pause of a Job that was stopped twice for its idle resources is longer than QUIET_MS, and
 * shorter than twice that; so may any other be where a clock was set back. Whatever else waits is
 * judged after QUIET_MS. */
static void come_to_rest(struct sim *s, bool all_ended)
{
	settle(s);
	if (s->broken[0] || !promises_check_quiet(s, all_ended, false) || s->broken[0])
		return;
	settle(s);
	if (!s->broken[0])
		promises_check_quiet(s, all_ended, true);
}

static void rest_before_the_end(struct sim *s)
{
	come_to_rest(s, false);
}

static void calm_down(struct sim *s)
{
	s->calm = s->frozen = true;
	faults_calm(&s->faults);
	s->ledger_down_until_ms = 0;
	windows_calm(s);
	bookings_calm(s);
	advance_calm(s);
	lent_calm(s);
	cluster_calm(s);
	partition_calm(s);
	sim_log(s, "---- faults and people stop; pods go on until further notice");
	for (size_t i = 0; i < s->nreplicas; i++)
		replica_calm(s, &s->replica[i]);
	rest_before_the_end(s);
	if (s->o.lending && !s->broken[0])
		one_by_one(s, rest_before_the_end);
	if (s->broken[0])
		return;
	sim_log(s, "---- pods end again");
	model_jobs_thaw(s);
	come_to_rest(s, true);
}

void sim_run(const struct sim_options *o, struct sim_report *ret)
{
	struct sim *s = calloc(1, sizeof(*s));
	must(s);
	begin(s, o);
	while (s->nevents < o->events && !s->broken[0])
		next(s);
	if (!s->broken[0])
		calm_down(s);
	*ret = (struct sim_report){.ok = !s->broken[0],
		.at_ms = s->now_ms - SIM_EPOCH_MS,
		.events = s->nevents,
		.hash = s->hash};
	memcpy(ret->broken, s->broken, sizeof(ret->broken));
	memcpy(ret->seen, s->seen, sizeof(ret->seen));
	memcpy(ret->count, s->count, sizeof(ret->count));
	done(s);
	free(s);
}
