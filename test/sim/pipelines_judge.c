/* P13: when a Job that waits for others may start, must, and may be told that it never will. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/features/dependencies/outcome_record.h"
#include "test/sim/pipelines.h"
#include "test/sim/pipelines_priv.h"
#include "test/sim/promises_priv.h"
#include "test/sim/sim.h"

#define GRACE_MS 1000	   /* creations are written in seconds */
#define LATE_MS 200000	   /* longer than any start is on its way */
#define LOOKED_UP_MS 60000 /* PREDECESSOR_AGAIN_MS, some of which fail */
#define READ_MS 15000	   /* so old a record was read by whoever leads since */
#define UNDER_WAY_MS 6000  /* what was decided before may land after its creation */

/* ---- Whether what a Job waits for has held --------------------------------------------------- */

/* Since when the item holds of this Job; 0: it does not. Of one that left the watch without its label, ended
 * and was gone before the watch could tell that, nobody can see that it was not deleted instead. */
static int64_t holds_since(const struct job_past *p, enum dependency_kind k)
{
	bool ended = p->ended_ms > 0, cut_off = p->gone_ms > 0 && p->told_ms > 0 && !ended;
	switch (k) {
	case AFTER_OK:
		return ended && !p->failed ? p->ended_ms : 0;
	case AFTER_NOT_OK:
		return ended && p->failed ? p->ended_ms : cut_off || p->left_late ? p->gone_ms : 0;
	case AFTER_ANY:
		return ended ? p->ended_ms : cut_off ? p->gone_ms : 0;
	case AFTER_START: /* when in doubt a new leader writes that it was started, and stopped */
		return p->started_ms > 0 ? p->started_ms : p->told_ms;
	case AFTER_SINGLETON:
		break;
	}
	return 1;
}

/* It will never, whatever comes. */
static bool can_hold_no_more(const struct job_past *p, enum dependency_kind k)
{
	bool over = p->ended_ms > 0 || (p->gone_ms > 0 && p->told_ms > 0);
	return over && (holds_since(p, k) == 0 || (p->left_late && k == AFTER_OK));
}

static const struct model_job *newest_named(const struct sim *s, const char *ns, const char *name)
{
	const struct model_job *newest = NULL;
	for (const struct model_job *j = pipelines_next_named(s, s->api.first, ns, name); j;
		j = pipelines_next_named(s, j->next, ns, name))
		newest = j;
	return newest;
}

static bool has_label(const struct snap *n, const struct requirement *r)
{
	for (size_t i = 0; i < n->job.nlabels; i++)
		if (!strcmp(n->job.labels[i].key, r->key) &&
			!strcmp(n->job.labels[i].value, r->values[0]))
			return true;
	return false;
}

static bool is_selected(
	const struct model_job *j, const struct model_job *by, const struct dependency *d)
{
	return j != by && !strcmp(j->now->job.ns, by->now->job.ns) &&
	       has_label(j->now, d->selector.requirements);
}

/* Two Jobs had the name that were made in the same second: which of them is the newer is not known. */
static bool is_ambiguous(
	const struct sim *s, const struct model_job *by, const struct dependency *d)
{
	int64_t last_s = -1;
	const char *ns = by->now->job.ns;
	for (const struct model_job *j = s->api.first; d->name && j; j = j->next) {
		int64_t created_s =
			is_named(j, ns, d->name) ? pipelines_past(s, j)->created_ms / 1000 : -1;
		if (created_s >= 0 && created_s == last_s)
			return true;
		last_s = created_s >= 0 ? created_s : last_s;
	}
	return false;
}

/* A clock was set: what is compared across clocks may be off by hours. */
static bool is_lenient(const struct sim *s)
{
	return s->count[PATH_CLOCK_STEP] > 0;
}

/* It came and went, and no run of it is in the ledger: a controller that comes later cannot know that it
 * ever had the name. */
static bool went_unseen(const struct sim *s, const struct model_job *j)
{
	const struct model_reservation *const *holds;
	for (size_t i = model_ledger_reservations(s->ledger, &holds); j->now->gone && i-- > 0;)
		if (holds[i]->committed && !uid_cmp(&holds[i]->reservation.uid, &j->now->job.uid))
			return false;
	return j->now->gone;
}

static const struct model_job *next_seen(
	const struct sim *s, const struct model_job *p, const char *ns, const char *name)
{
	const struct model_job *next = pipelines_next_named(s, p->next, ns, name);
	while (next && went_unseen(s, next))
		next = pipelines_next_named(s, next->next, ns, name);
	return next;
}

static bool name_held(const struct sim *s, const struct model_job *j, const struct dependency *d)
{
	const char *ns = j->now->job.ns;
	int64_t since_ms = pipelines_past(s, j)->created_ms;
	for (const struct model_job *p = pipelines_next_named(s, s->api.first, ns, d->name); p;
		p = pipelines_next_named(s, p->next, ns, d->name)) {
		const struct model_job *next = next_seen(s, p, ns, d->name);
		int64_t held_ms = holds_since(pipelines_past(s, p), d->kind);
		int64_t until_ms =
			next ? pipelines_past(s, next)->created_ms + GRACE_MS : INT64_MAX;
		int64_t from_ms = held_ms > since_ms ? held_ms : since_ms;
		if (held_ms > 0 && (is_lenient(s) || from_ms < until_ms))
			return true;
	}
	return false;
}

/* At that moment, of all that were there. Of one that is gone counts what it became. */
static bool selector_held_at(
	const struct sim *s, const struct model_job *j, const struct dependency *d, int64_t at_ms)
{
	bool any = false;
	for (const struct model_job *p = s->api.first; p; p = p->next) {
		const struct job_past *past = is_selected(p, j, d) ? pipelines_past(s, p) : NULL;
		if (!past || past->created_ms > at_ms)
			continue;
		int64_t held_ms = holds_since(past, d->kind);
		bool held = held_ms > 0 && held_ms <= at_ms + GRACE_MS;
		bool there = past->gone_ms == 0 || past->gone_ms > at_ms;
		any |= held;
		if (there && !held)
			return false;
	}
	return any;
}

/* It became so with the end, or the removal, of one of them, or with its own creation. */
static bool selector_held(
	const struct sim *s, const struct model_job *j, const struct dependency *d)
{
	int64_t since_ms = pipelines_past(s, j)->created_ms;
	if (selector_held_at(s, j, d, since_ms))
		return true;
	for (const struct model_job *p = s->api.first; p; p = p->next) {
		if (!is_selected(p, j, d))
			continue;
		const struct job_past *past = pipelines_past(s, p);
		const int64_t at_ms[] = {
			past->started_ms, past->ended_ms, past->gone_ms, past->told_ms};
		for (size_t i = 0; i < sizeof(at_ms) / sizeof(*at_ms); i++)
			if (at_ms[i] >= since_ms && selector_held_at(s, j, d, at_ms[i]))
				return true;
	}
	return false;
}

static bool item_held(const struct sim *s, const struct model_job *j, const struct dependency *d)
{
	if (d->kind == AFTER_SINGLETON || is_ambiguous(s, j, d))
		return true;
	return d->name ? name_held(s, j, d) : selector_held(s, j, d);
}

/* ---- What is written of it -------------------------------------------------------------------- */

static bool is_recorded_held(const struct job *j, const struct dependency *d)
{
	return outcome_record_holds(j->after.record, &j->uid, d->text);
}

static bool is_listed(const struct job *j, const struct record_line *l)
{
	for (size_t i = 0; i < j->after.count; i++)
		if (record_line_is_of(l, j->after.item[i].text))
			return true;
	return false;
}

/* No Job was created with its name since. */
static bool is_last_named(const struct sim *s, const struct job *j, const struct record_line *l)
{
	const struct model_job *last = NULL;
	for (const struct model_job *p = s->api.first; p; p = p->next)
		if (is_named(p, j->ns, l->name))
			last = p;
	return last && !uid_cmp(&last->now->job.uid, &l->uid);
}

/* What has held is written, and stays, whoever leads. */
static void check_record_grows(
	struct sim *s, const struct job *j, const struct job_past *past, const char *written)
{
	const char *at = outcome_record_lines(j->after.record, &j->uid);
	struct record_line l;
	while (at && *at && past->edited_ms == 0 && outcome_record_next(&at, &l))
		for (size_t i = 0; l.holds && i < j->after.count; i++)
			if (record_line_is_of(&l, j->after.item[i].text) &&
				!outcome_record_holds(written, &j->uid, j->after.item[i].text))
				sim_break(s, "P13",
					"%s/%s: it is not written any more that %s has held", j->ns,
					j->name, j->after.item[i].text);
}

/* A leader that came since has read it. */
static void check_record(
	struct sim *s, const struct intent *i, const struct job *j, const struct job_past *past)
{
	const char *at = outcome_record_lines(j->after.record, &j->uid);
	struct record_line l;
	if (is_lenient(s) || j->admission.attempt > 0 || i->story.epoch <= past->record_epoch ||
		i->story.at_ms < past->recorded_ms + READ_MS || past->edited_ms > 0)
		return;
	while (at && *at && outcome_record_next(&at, &l))
		if (!l.holds && is_listed(j, &l) && is_last_named(s, j, &l))
			sim_break(s, "P13", "%s/%s starts: it is written on it that %s keeps it",
				j->ns, j->name, l.name);
}

static bool is_singleton(const struct job *j)
{
	for (size_t i = 0; i < j->after.count; i++)
		if (j->after.item[i].kind == AFTER_SINGLETON)
			return true;
	return false;
}

/* ---- What controllers do ---------------------------------------------------------------------
 */

/* Of those that hold quota the first is the one that may. */
static void check_singleton(struct sim *s, const struct snap *n)
{
	const struct model_reservation *const *holds;
	size_t count = model_ledger_reservations(s->ledger, &holds);
	for (size_t i = 0; is_singleton(&n->job) && i < count; i++) {
		const struct model_reservation *h = holds[i];
		const struct model_job *o = model_api_by_uid(&s->api, &h->reservation.uid);
		if (!h->open || strcmp(h->reservation.ns, n->job.ns) ||
			strcmp(family_of(&o->now->job), family_of(&n->job)))
			continue;
		if (o == n->of || h->estimated)
			return;
		sim_break(s, "P13", "%s/%s starts: it is a singleton, and %s of %s holds quota",
			n->job.ns, n->job.name, o->now->job.name, family_of(&n->job));
		return;
	}
}

static void check_start(struct sim *s, const struct snap *n)
{
	const struct dependencies *a = &n->job.after;
	/* What was decided before the edit counts: no start tests what a Job waits for. */
	int64_t edited_ms = pipelines_past(s, n->of)->edited_ms;
	bool gone = false, is_fresh = edited_ms > 0 && s->now_ms - edited_ms < LATE_MS;
	for (size_t i = 0; i < a->count; i++) {
		const struct model_job *p =
			a->item[i].name ? newest_named(s, n->job.ns, a->item[i].name) : NULL;
		gone |= p && p->now->gone;
		/* Once it was let in it may come back: that all held is history. */
		if (!item_held(s, n->of, &a->item[i]) && n->job.admission.attempt == 0 && !is_fresh)
			sim_break(s, "P13", "%s/%s starts: expected '%s' to have held before",
				n->job.ns, n->job.name, a->item[i].text);
	}
	if (!s->failover.lost_ms)
		check_singleton(s, n);
	if (a->count > 0)
		sim_reach(s, PATH_FOLLOWER);
	if (gone)
		sim_reach(s, PATH_FOLLOWER_OF_GONE);
}

/* Could it be known at at_ms? Of a Job that is gone the ledger tells, unless it lost that, or never had it.
 * One that is not queued is looked up now and then. */
static bool is_known(const struct sim *s, const struct model_job *j, int64_t at_ms)
{
	const struct model_reservation *const *holds;
	const struct job_past *p = pipelines_past(s, j);
	if (p->created_ms > at_ms)
		return false;
	if (!j->now->gone)
		return at_ms - p->created_ms > (j->now->job.queue[0] ? UNDER_WAY_MS : LOOKED_UP_MS);
	for (size_t i = model_ledger_reservations(s->ledger, &holds); i-- > 0;) {
		const struct model_reservation *h = holds[i];
		if (uid_cmp(&h->reservation.uid, &j->now->job.uid))
			continue;
		enum ledger_job_outcome is = p->ended_ms == 0 ? LEDGER_JOB_DELETED
					     : p->failed      ? LEDGER_JOB_FAILED
							      : LEDGER_JOB_SUCCEEDED;
		return !h->open && h->committed && h->outcome == is;
	}
	return false;
}

/* By what can be known: a Job that came and went unseen may have had the name since, or may have made
 * the item hold before. */
static bool name_never(
	const struct sim *s, const struct model_job *j, const struct dependency *d, int64_t at_ms)
{
	const char *ns = j->now->job.ns;
	bool never = false;
	for (const struct model_job *p = pipelines_next_named(s, s->api.first, ns, d->name); p;
		p = pipelines_next_named(s, p->next, ns, d->name)) {
		bool fails = can_hold_no_more(pipelines_past(s, p), d->kind);
		never = fails || (never && !is_known(s, p, at_ms));
	}
	return never;
}

static bool selector_never(
	const struct sim *s, const struct model_job *j, const struct dependency *d)
{
	for (const struct model_job *p = s->api.first; p; p = p->next)
		if (is_selected(p, j, d) && can_hold_no_more(pipelines_past(s, p), d->kind))
			return true;
	return false;
}

/* At some moment of all there were, or it was not to be known that it did. */
static bool item_never(
	const struct sim *s, const struct model_job *j, const struct dependency *d, int64_t at_ms)
{
	if (d->kind == AFTER_SINGLETON)
		return false;
	if (is_ambiguous(s, j, d))
		return true;
	return d->name ? name_never(s, j, d, at_ms) : selector_never(s, j, d);
}

static bool never_starts(const struct sim *s, const struct model_job *j, int64_t at_ms)
{
	const struct dependencies *a = &j->now->job.after;
	for (size_t i = 0; i < a->count; i++)
		if (item_never(s, j, &a->item[i], at_ms))
			return true;
	return false;
}

static void check_never(
	struct sim *s, const struct intent *i, const struct snap *n, int64_t sent_ms)
{
	bool deletes = i->kind == INTENT_DELETE;
	enum dependency_failure said = n->job.after.on_failure;
	pipelines_past_made(s, n->of)->told |= !deletes;
	sim_reach(s, deletes ? PATH_NEVER_DELETED : PATH_NEVER_HELD);
	if (!never_starts(s, n->of, sent_ms))
		sim_break(s, "P13", "%s/%s is %s: expected what it waits for to have failed", i->ns,
			i->name, deletes ? "deleted" : "put on hold");
	if (deletes && said != DEPENDENCY_FAILURE_DELETE)
		sim_break(s, "P13", "%s/%s is deleted: its owner did not say so", i->ns, i->name);
	if (deletes && !n->job.suspend)
		sim_break(s, "P13", "%s/%s is deleted: it runs", i->ns, i->name);
}

/* What is written on a Job is all that is left of it: the Jobs that it waits for are taken away, as far as
 * they have ended, and its leader dies. */
static void is_put_to_the_test(struct sim *s, void *arg)
{
	const struct model_job *j = arg;
	for (size_t i = 0; i < REPLICAS; i++)
		if (s->replica[i].up && gate_leading(s->replica[i].gate))
			replica_leave(s, &s->replica[i], "kill -9, and what others wait for goes");
	for (struct model_job *p = s->api.first; p; p = p->next) {
		bool waited_for = false;
		for (size_t i = 0; i < j->now->job.after.count; i++) {
			const struct dependency *d = &j->now->job.after.item[i];
			waited_for |= d->name ? is_named(p, j->now->job.ns, d->name)
					      : d->kind != AFTER_SINGLETON && is_selected(p, j, d);
		}
		if (waited_for && !p->now->gone && !p->now->job.deleting && is_over(&p->now->job))
			model_api_remove(&s->api, p);
	}
}

void pipelines_check_landed(
	struct sim *s, const struct intent *i, const struct snap *before, int64_t sent_ms)
{
	if (!s->pipelines.on)
		return;
	if (i->kind == INTENT_START) {
		check_start(s, before);
		check_record(s, i, &before->job, pipelines_past(s, before->of));
	}
	if (i->kind == INTENT_OUTCOMES) {
		check_record_grows(s, &before->job, pipelines_past(s, before->of), i->outcomes);
		pipelines_past_made(s, before->of)->recorded_ms = s->now_ms;
		pipelines_past_made(s, before->of)->record_epoch = i->story.epoch;
		if (rng_odds(&s->pipelines.rng, 6000))
			sim_after(s, rng_between(&s->pipelines.rng, 1, 3000), is_put_to_the_test,
				before->of);
	}
	bool holds = i->kind == INTENT_TELL && i->hold &&
		     !strcmp(i->story.reason, wait_reason_name(WAIT_DEPENDENCY_NEVER));
	if (holds || i->kind == INTENT_DELETE)
		check_never(s, i, before, sent_ms);
}

int64_t pipelines_record_epoch(const struct sim *s, const struct model_job *j)
{
	return s->pipelines.on ? pipelines_past(s, j)->record_epoch : 0;
}

/* ---- At rest ---------------------------------------------------------------------------------
 */

/* Judged by the newest alone: of earlier ones it may have been missed. */
static bool name_surely(const struct sim *s, const struct model_job *j, const struct dependency *d)
{
	const struct model_job *p = newest_named(s, j->now->job.ns, d->name);
	return p && holds_since(pipelines_past(s, p), d->kind) > 0 && is_known(s, p, s->now_ms) &&
	       !pipelines_past(s, p)->left_late && !is_ambiguous(s, j, d) &&
	       (d->kind != AFTER_START || p->now->gone ||
		       (pipelines_tell_of_start(&p->now->job) && !is_lenient(s)));
}

static bool selector_surely(
	const struct sim *s, const struct model_job *j, const struct dependency *d)
{
	bool any = false;
	for (const struct model_job *p = s->api.first; p; p = p->next) {
		if (!is_selected(p, j, d))
			continue;
		any = true;
		if (p->now->gone || holds_since(pipelines_past(s, p), d->kind) == 0 ||
			(d->kind == AFTER_START && !pipelines_tell_of_start(&p->now->job)))
			return false;
	}
	return any;
}

/* Nobody of its family holds quota. */
static bool is_alone(const struct sim *s, const struct model_job *j)
{
	const struct model_reservation *const *holds;
	for (size_t i = model_ledger_reservations(s->ledger, &holds); i-- > 0;) {
		const struct model_job *o = model_api_by_uid(&s->api, &holds[i]->reservation.uid);
		if (holds[i]->open && o != j &&
			!strcmp(family_of(&o->now->job), family_of(&j->now->job)))
			return false;
	}
	return true;
}

bool pipelines_surely_ready(const struct sim *s, const struct model_job *j)
{
	const struct dependencies *a = &j->now->job.after;
	if (a->count == 0)
		return true;
	if (j->now->job.admission.attempt > 0 && !is_singleton(&j->now->job) &&
		pipelines_past(s, j)->edited_ms == 0)
		return true;
	for (size_t i = 0; i < a->count; i++) {
		const struct dependency *d = &a->item[i];
		bool surely = d->kind == AFTER_SINGLETON ? is_alone(s, j)
			      : d->name			 ? name_surely(s, j, d)
							 : selector_surely(s, j, d);
		if (!surely && !is_recorded_held(&j->now->job, d))
			return false;
	}
	return true;
}

bool pipelines_surely_waits(const struct sim *s, const struct model_job *j)
{
	const struct dependencies *a = &j->now->job.after;
	for (size_t i = 0; i < a->count; i++)
		if (!item_held(s, j, &a->item[i]) && j->now->job.admission.attempt == 0)
			return true;
	return false;
}

/* By a Job that is there still. */
static bool is_plainly_never(const struct sim *s, const struct model_job *j)
{
	const struct dependencies *a = &j->now->job.after;
	for (size_t i = 0; i < a->count; i++) {
		const struct dependency *d = &a->item[i];
		const struct model_job *p =
			d->name ? newest_named(s, j->now->job.ns, d->name) : NULL;
		if (p && !p->now->gone && can_hold_no_more(pipelines_past(s, p), d->kind) &&
			!item_held(s, j, d))
			return true;
	}
	return false;
}

static void check_was_told(struct sim *s, struct replica *r, const struct model_job *j)
{
	const struct job *n = &j->now->job;
	struct explanation x = {.sentence = "it does not know it"};
	bool deletes = n->after.on_failure == DEPENDENCY_FAILURE_DELETE;
	if (n->after.on_failure == DEPENDENCY_FAILURE_WAIT ||
		(!deletes && pipelines_past(s, j)->told) ||
		r->skew_ms < 0) /* its clock says that the grace is not over */
		return;
	gate_explain(r->gate, n->ns, n->name, s->now_ms + r->skew_ms, &x);
	sim_break(s, "P13", "%s/%s can never start: expected it to be %s; %s says '%s'", n->ns,
		n->name, deletes ? "deleted" : "on hold", r->identity, x.sentence);
}

void pipelines_check_quiet(struct sim *s, struct replica *r)
{
	for (const struct model_job *j = s->api.first; s->pipelines.on && j; j = j->next) {
		const struct snap *n = j->now;
		if (n->gone || !n->job.queue[0] || !n->job.suspend || n->job.deleting ||
			n->job.hold || n->job.invalid || is_over(&n->job) || n->failing ||
			n->succeeding || n->job.after.count == 0)
			continue;
		if (pipelines_surely_waits(s, j))
			sim_reach(s, PATH_FOLLOWER_WAITS);
		/* While pods of a run that was not admitted do not go, that is what is said of it. */
		if (is_plainly_never(s, j) && n->job.admission.attempt == 0 &&
			promises_config(s, j) && model_jobs_pods(&s->jobs, j) == 0)
			check_was_told(s, r, j);
	}
}
