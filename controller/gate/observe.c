/*
 * What is seen of Jobs: on the watch, in lists, in answers. The newest fact of each is reduced to
 * what the protocol asks (struct facts), and told to the queue as it is; older ones are ignored.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/gate/attempt.h"
#include "controller/gate/bill_labels.h"
#include "controller/gate/core.h"
#include "controller/gate/due.h"
#include "controller/gate/failing.h"
#include "controller/gate/gate.h"
#include "controller/gate/growth.h"
#include "controller/gate/job_table.h"
#include "controller/gate/never_starts.h"
#include "controller/gate/newcomer.h"
#include "controller/gate/observe.h"
#include "controller/gate/predecessor.h"
#include "controller/gate/run_priority.h"
#include "controller/gate/provision.h"
#include "controller/gate/record.h"
#include "controller/gate/scale_down.h"
#include "controller/gate/start_time.h"
#include "controller/gate/stop.h"
#include "controller/gate/stuck.h"
#include "controller/gate/waiting_note.h"

#define ORDINARY (1u << LENDING_NONE) /* of job.lending */
#define FETCHES_MAX 16		      /* GETs of deferred Jobs at a time */

void gate_free_job(struct gate *g, struct gate_job *j)
{
	label_set_put(&g->label_sets, j->label_set);
	free(j->ns);
	free(j->story);
	free(j->queue);
	free(j->family);
	free(j->labels);
	free(j->submitted_by);
	free(j->trouble);
	free(j->suspender);
	free(j->finalizer);
	stop_done(&j->stop);
	never_starts_end(j);
	newcomer_end(j);
	scale_down_end(j);
	stuck_free(j->stuck);
	failing_over(j);
	free(j);
}

struct gate_job *gate_add_job(
	struct gate *g, const struct uid *uid, const char *ns, const char *name)
{
	struct gate_job *j = mem_alloc(sizeof(*j));
	size_t ns_size = strlen(ns) + 1, name_size = strlen(name) + 1;
	j->uid = *uid;
	j->ns = mem_alloc(ns_size + name_size);
	j->name = j->ns + ns_size;
	memcpy(j->ns, ns, ns_size);
	memcpy(j->name, name, name_size);
	attempt_init(&j->attempt);
	stop_init(&j->stop);
	j->waits_ms = g->tick_ms;
	job_table_join(g, j);
	g->counts.jobs++;
	g->counts.by_phase[PHASE_WAITING]++;
	return j;
}

static void fetched(struct gate *g, struct gate_job *j)
{
	if (!j->fetching)
		return;
	g->nfetching--;
	j->fetching = false;
	queue_undefer_job(g->queue, &j->uid);
}

void gate_forget_job(struct gate *g, struct gate_job *j)
{
	fetched(g, j);
	must(j->request.id == 0 && !j->dirty && !j->request.wanting && !job_has_reservation(j) &&
		!j->stuck);
	if (g->notices.at == j)
		g->notices.at = j->next;
	due_clear(&g->due, &j->request.alarm);
	job_table_leave(g, j);
	g->counts.jobs--;
	g->counts.by_phase[j->phase]--;
	provision_forget(g, j);
	gate_free_job(g, j);
}

/* Keeps a copy of text. True when it is another text than before. */
static bool keep_text(char **kept, const char *text)
{
	if (text && *kept && strcmp(text, *kept) == 0)
		return false;
	if (!text && !*kept)
		return false;
	free(*kept);
	*kept = mem_strdup(text);
	return true;
}

static bool manages(const struct gate *g, const struct job *seen)
{
	return g->manages ? g->manages(g->ctx, seen) : seen->queue[0] != '\0';
}

/* Counts the pods that are needed and not ready. Pods whose work has ended are not needed. */
static int32_t pods_lacking(const struct job *seen)
{
	int32_t pods = job_pods_kept_up(seen);
	return pods > seen->status.ready ? pods - seen->status.ready : 0;
}

/* Tells whether pods of an earlier run may be left. The API server refuses a start while the Job
 * has a start time. Pods that terminate may end well and count for the next run. And until the Job
 * controller has seen our stop, or that the work is done, the status says nothing of the pods that
 * it made. */
static bool is_leaving(const struct job *seen)
{
	const struct job_status *s = &seen->status;
	return (s->has_start_time && !job_quiet(seen)) || s->active > 0 || s->terminating > 0 ||
	       (seen->admission.state == STORY_STOPPED && !s->suspended && !s->ending &&
		       !job_finished(seen));
}

/* Tells whether one more failed pod fails the Job. Failed pods of all runs count, and uncounted
 * ones. */
static bool is_at_backoff_limit(const struct job *seen)
{
	int64_t failed = (int64_t)seen->status.failed_pods + seen->status.uncounted_failed;
	return failed > 0 && failed == seen->backoff_limit;
}

static void keep_labels(struct gate *g, struct gate_job *j, const struct job *seen)
{
	struct label_set *before = j->label_set;
	j->label_set = label_set_of(&g->label_sets, seen->labels, seen->nlabels);
	label_set_put(&g->label_sets, before);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* Counts the pods whose work a stop or a deletion loses, until the Job controller has read a stop.
 * A pod that is gone stays at work unless it ended well, or the Job needs fewer now: another is
 * made for it, or the Job goes, too. (Of a work queue about to be Complete it never says
 * Suspended.) */
static void take_work(struct facts *f, const struct facts *before, const struct job *seen)
{
	const struct job_status *s = &seen->status;
	int64_t succeeded = (int64_t)s->succeeded + s->uncounted;
	int64_t ended_well = succeeded > before->succeeded ? succeeded - before->succeeded : 0;
	int64_t left = before->at_work - ended_well;
	f->succeeded = succeeded < INT32_MAX ? (int32_t)succeeded : INT32_MAX;
	f->active = before->active;
	f->at_work = before->at_work;
	if (seen->suspend && (f->ends_when_stopped || f->cut_short)) {
		f->active = f->active > ended_well ? f->active - (int32_t)ended_well : 0;
		return;
	}
	if (seen->suspend && s->suspended)
		return;
	f->active = s->active;
	if (before->story_attempt != f->story_attempt || left < 0)
		left = 0;
	if (left > f->kept_up)
		left = f->kept_up;
	f->at_work = left > s->active ? (int32_t)left : s->active;
}

static void take_spec(const struct gate *g, const struct job *seen, struct facts *f)
{
	f->generation = seen->generation;
	f->version = seen->version;
	f->created_ms = seen->created_ms;
	f->queued_ms = job_queued_ms(seen);
	f->suspend = seen->suspend;
	f->by_person = seen->suspended_by_person;
	f->suspended_ms = seen->suspended_ms;
	f->resumed_by_other = seen->resumed_by_other;
	f->redirected = seen->redirected;
	f->deleting = seen->deleting;
	f->uncontrolled = seen->uncontrolled;
	f->managed = manages(g, seen);
	f->work_queue = !seen->has_completions;
	f->pods = job_pods(seen);
	f->kept_up = job_pods_kept_up(seen);
	f->parallelism = seen->parallelism;
	f->completions_follow = seen->completions_follow;
	f->ignores_disruption = seen->ignores_disruption;
	f->rewritable = (seen->lending & ORDINARY) != 0 && (seen->lending & ~ORDINARY) != 0;
}

static void take_status(const struct job *seen, struct facts *f)
{
	const struct job_status *s = &seen->status;
	f->ends_when_stopped = job_ends_when_stopped(seen);
	f->finished = job_finished(seen);
	f->finished_ms = s->finished_ms;
	f->failed = s->failed;
	f->cut_short = job_was_cut_short(seen);
	f->quiet = job_quiet(seen);
	f->present = s->active + s->terminating;
	f->ending = s->ending && !f->finished && !f->uncontrolled;
	f->cannot_end = f->ending && f->suspend && !s->has_start_time && s->active == 0 &&
			s->terminating == 0;
	f->leaving = is_leaving(seen);
	f->start_ms = s->start_ms;
	f->start_left = start_time_is_left(seen);
	f->start_seen = !seen->suspend && !s->suspended && s->has_start_time;
	/* A Job that ends without our doing may never say that its start was seen. */
	f->ready = (f->start_seen || s->ending || f->ends_when_stopped) && job_pods_ready(seen);
	f->lacks = f->start_seen ? pods_lacking(seen) : 0;
	f->at_backoff_limit = is_at_backoff_limit(seen);
}

static void take_annotations(const struct job *seen, struct facts *f)
{
	f->story_state = seen->admission.state;
	f->story_attempt = seen->admission.attempt;
	f->story_sizes = seen->admission.sizes;
	f->story_epoch = seen->admission.epoch;
	f->owner_parallelism = seen->admission.owner_parallelism;
	f->owner_completions = seen->admission.owner_completions;
	f->reapplied = seen->admission.reapplied;
	f->history = seen->admission.history;
	f->has_annotations = seen->annotations.present;
	f->annotation_bytes = seen->annotations.bytes;
	f->stopping_at_ms = seen->annotations.stopping_at_ms;
	f->has_notice = seen->annotations.waiting != NULL;
	f->notice = notice_kind(seen->annotations.waiting);
	f->booked_start_ms = seen->annotations.booked_start_ms;
	f->held = seen->hold != NULL;
	f->on_failure = seen->after.on_failure;
}

/* Keeps all texts but the story and the queue. */
static void keep_texts(struct gate *g, struct gate_job *j, const struct job *seen)
{
	char *labels = g->bill_labels ? bill_labels_of(g->bill_labels, seen) : NULL;
	keep_text(&j->family, seen->family && seen->family[0] ? seen->family : NULL);
	keep_text(&j->labels, labels);
	keep_text(&j->submitted_by, seen->submitted_by);
	keep_text(&j->trouble, seen->admission.trouble);
	keep_text(&j->suspender, seen->suspender);
	keep_text(&j->finalizer, seen->finalizer);
	free(labels);
	keep_labels(g, j, seen);
}

static void heed_facts(struct gate *g, struct gate_job *j, const struct facts *before)
{
	const struct facts *f = &j->seen;
	bool left_before = before->present > before->active;
	/* What was known before a deletion says nothing of the pods after it. */
	if (f->deleting && !before->deleting)
		stop_drain_anew(g, j);
	/* A start time that is gone is not asked for any more. */
	if (!f->start_left)
		start_time_settled(j);
	/* Our next epoch is to be later than all that stories tell of. */
	if (f->story_epoch > g->epoch_seen)
		g->epoch_seen = f->story_epoch;
	/* A leader seems to have come after us: nothing is written before the lease is
	 * confirmed. */
	if (g->epoch > 0 && f->story_epoch > g->epoch)
		gate_confirm_before(g, j);
	/* A hold that is there need not be written. */
	if (f->held)
		stop_hold_settled(j);
	/* Pods that leave, or left, may have been replaced by more than are counted. */
	if (f->version != before->version)
		scale_down_seen(g, j, left_before);
}

/* Takes the facts. True when the story is another one. */
static bool take_facts(struct gate *g, struct gate_job *j, const struct job *seen)
{
	struct facts f = {0}, before = j->seen;
	take_spec(g, seen, &f);
	take_status(seen, &f);
	take_annotations(seen, &f);
	take_work(&f, &before, seen);
	j->seen = f;
	keep_texts(g, j, seen);
	bool retold = keep_text(&j->story, seen->admission.story);
	bool requeued = keep_text(&j->queue, seen->queue);
	heed_facts(g, j, &before);
	/* Each PATCH tests the story, that of a start the queue as well: what was sent cannot land
	 * any more. */
	if (retold)
		growth_retold(j);
	if (retold || requeued)
		attempt_moved(j);
	return retold;
}

/* Tells the queue, from the story, what attempts under other leaders left behind: its own it knows.
 * A standby follows all stories. While an attempt holds quota its story tells what the attempts
 * before it left; when it was stopped, what it leaves itself. */
static void recall(struct gate *g, const struct gate_job *j, const struct job *seen)
{
	bool stopped = seen->admission.state == STORY_STOPPED &&
		       seen->admission.attempt == j->attempt.number;
	if (g->role == ROLE_LEADING &&
		(seen->admission.state == STORY_NONE || seen->admission.epoch == g->epoch))
		return;
	if (g->role == ROLE_LEADING && job_has_reservation(j) && !stopped) {
		queue_recall_past(g->queue, &j->uid, &seen->admission.history);
		run_priority_recall(g, j, j->attempt.number);
	} else {
		queue_recall_history(g->queue, &j->uid, &seen->admission.history);
	}
}

/* Tells the queue of a Job for ordinary flavors only: the API server refuses to rewrite its
 * resources. */
static void tell_without_lending(struct gate *g, const struct job *seen)
{
	struct job less = *seen;
	less.lending = ORDINARY;
	queue_set_job(g->queue, &less);
}

static void tell_queue(struct gate *g, const struct gate_job *j, const struct job *seen)
{
	if (!job_has_reservation(j) && (j->seen.finished || j->seen.deleting || !j->seen.managed))
		queue_drop_job(g->queue, &j->uid);
	else if (j->refusals.no_lending_ms > g->tick_ms && j->seen.rewritable)
		tell_without_lending(g, seen);
	else
		queue_set_job(g->queue, seen);
}

/* Says that the store went back, if a complete list shows the Job older than it was known, or again
 * though it was gone. A list is as new as its request; an answer may have come since. */
static void suspect_store(struct gate *g, const struct gate_job *j, const struct job *seen)
{
	if (g->listing && (j->gone || seen->version < j->seen.version) && j->told_in != g->list)
		g->went_back = true;
}

bool gate_store_went_back(const struct gate *g)
{
	return g->went_back;
}

/* Takes the end of a Job that a request found gone before the watch told: others may wait for
 * it. */
static void see_late_end(struct gate_job *j, const struct job *seen)
{
	j->seen.finished |= job_finished(seen);
	j->seen.failed |= seen->status.failed;
	j->seen.cut_short |= job_was_cut_short(seen);
	j->seen.finished_ms = seen->status.finished_ms;
}

static bool see(struct gate *g, struct gate_job *j, const struct job *seen)
{
	if (j->gone)
		see_late_end(j, seen);
	if (j->gone || seen->version < j->seen.version)
		return false; /* a uid never comes back */
	if (seen->version == j->seen.version && seen->version > 0 && !j->lost) {
		if (!g->retell && !j->retell)
			return false;
	}
	j->retell = false;
	bool retold = take_facts(g, j, seen);
	if (attempt_is_behind(j))
		j->retell = true;
	else
		tell_queue(g, j, seen);
	fetched(g, j);
	if (retold)
		recall(g, j, seen);
	gate_mark_dirty(g, j);
	return true;
}

/* Unfollows a Job that an event told gone, and that goes on unwatched: its end is not seen. */
static void is_there(struct gate *g, struct gate_job *j)
{
	if (!j->told_end)
		return;
	j->told_end = false;
	queue_unfollow_predecessor(g->queue, &j->uid, j->ns, j->name, false);
}

/* A late answer may tell of a Job that was deleted since. Only a GET from after the watch lost it
 * shows that it is there. */
void gate_see_answer(struct gate *g, struct gate_job *j, const struct job *seen)
{
	if (seen->version < j->request.asked_version)
		g->went_back = true; /* a GET is never older than what was known, nor is a PATCH */
	else
		j->told_in = g->list;
	is_there(g, j);
	if (j->request.asked == INTENT_READ && seen->version >= j->seen.version)
		attempt_caught_up(j);
	see(g, j, seen);
	if (j->request.asked == INTENT_READ && j->request.asked_lost)
		j->lost = !j->seen.managed;
}

static void lose(struct gate *g, struct gate_job *j)
{
	fetched(g, j);
	j->lost = true;
	newcomer_lost(g, j);
	j->request.asked_lost = false; /* a GET that is under way was asked before this */
	j->request.look_ms = j->request.retry_ms = 0; /* a pause was for a Job on the watch */
	stop_drain_anew(g, j); /* the Job may have been let run again just before */
	gate_mark_dirty(g, j);
}

/* ---- Jobs beyond what may wait (queue/core/model/overflow.h) ---------------------------------
 *
 * A Job is deferred only while it waits, no pods of it can be left and nothing is to be written.
 * The ledger may still have its reservation, of a start that never landed, or whose pods just went:
 * who adopts that reads the Job (adopt_reservation()). Attempts and history are in the story, which
 * is read again. A Job that Sluice does not control may have pods that cannot be counted: it never
 * starts, so it is
 * deferred all the same. */

static bool is_over(enum story_state s)
{
	return s == STORY_STOPPED || s == STORY_FENCED;
}

static bool may_be_deferred(const struct job *seen)
{
	if (!seen->suspend || seen->deleting || seen->status.ending)
		return false;
	if (seen->admission.state == STORY_NONE)
		return true;
	return is_over(seen->admission.state) && (!is_leaving(seen) || seen->uncontrolled);
}

void gate_fetch_deferred(struct gate *g)
{
	struct deferred_job d;
	while (g->nfetching < FETCHES_MAX && queue_take_deferred(g->queue, &d)) {
		struct gate_job *j = gate_add_job(g, &d.uid, d.ns, d.name);
		j->in_list = d.list;
		j->fetching = true;
		g->nfetching++;
		gate_mark_dirty(g, j);
	}
}

/* Tells the queue that a Job, known by its name alone, ends unseen. */
static void unfollow_deferred(struct gate *g, const struct gate_job *j)
{
	queue_unfollow_predecessor(g->queue, &j->uid, j->ns, j->name, false);
}

void gate_return_deferred(struct gate *g, struct gate_job *j)
{
	queue_return_deferred(g->queue, &j->uid, j->in_list);
	unfollow_deferred(g, j);
	g->nfetching--;
	j->fetching = false;
	gate_forget_job(g, j);
}

bool gate_defer_job(struct gate *g, struct gate_job *j)
{
	const struct facts *f = &j->seen;
	bool ran = f->story_state != STORY_NONE;
	if (f->ending)
		return false;
	if (ran && (!is_over(f->story_state) || (f->leaving && !f->uncontrolled)))
		return false;
	if (j->stop.hold_owed || j->stop.barred_ms > g->tick_ms || job_busy(j) ||
		!queue_has_too_many(g->queue, &j->uid, ran))
		return false;
	queue_defer_known_job(g->queue, &j->uid, j->in_list);
	unfollow_deferred(g, j);
	gate_forget_job(g, j);
	return true;
}

/* ---- Jobs that others wait for ---------------------------------------------------------------
 *
 * Only what the watch tells is told on, so that it comes in order. A Job is followed while it has a
 * record here, for then it is noticed when it is missing in a list. A Job without a record that has
 * not ended is told by the answers to the queue's questions alone: else an answer that was on its
 * way would seem to say that it is gone. A Job that has ended is followed no more, since its name
 * may be used again by
 * a Job that is not queued. A Job that leaves the watch was deleted, or lost its label: the queue asks. */

bool gate_follows_job(const struct gate *g, const struct uid *uid)
{
	const struct gate_job *j = gate_find_job(g, uid);
	return j && !j->lost && !j->fetching && !j->seen.finished;
}

static void tell_followers(struct gate *g, const struct job *seen)
{
	const struct gate_job *j = gate_find_job(g, &seen->uid);
	if (j && seen->version < j->seen.version)
		return; /* the watch will tell of what an answer told already */
	bool finished = job_finished(seen);
	bool followed = !finished && gate_follows_job(g, &seen->uid);
	if (!followed && !finished)
		return;
	struct predecessor p = predecessor_of_job(seen, followed);
	queue_see_predecessor(g->queue, &p);
}

/* by_event: all that the Job became was seen until it left; not if it had ended when this
 * controller listed Jobs. A watch by label says the same of a Job that lost its label and runs on:
 * a leader asks at once, a standby does not. */
static void unfollow(struct gate *g, struct gate_job *j, bool by_event)
{
	lose(g, j);
	j->told_end = by_event && j->seen.version > 0 && g->role == ROLE_LEADING;
	queue_unfollow_predecessor(g->queue, &j->uid, j->ns, j->name, j->told_end);
}

/* Tells the forecast of a new Job. Jobs of a list came earlier, and a Job with a story has
 * waited. */
static void tell_arrival(const struct gate *g, const struct job *seen)
{
	if (g->came && !g->listing && seen->suspend && seen->admission.state == STORY_NONE)
		g->came(g->ctx, seen);
}

static void see_job(struct gate *g, const struct job *seen)
{
	struct gate_job *j = gate_find_job(g, &seen->uid);
	if (!j) {
		/* Most Jobs of a list: nothing is to be done for them. */
		if (job_finished(seen) || !manages(g, seen)) {
			queue_undefer_job(g->queue, &seen->uid);
			return;
		}
		if (may_be_deferred(seen) && !queue_has_place(g->queue, seen)) {
			queue_defer_job(g->queue, seen, g->list);
			return;
		}
		j = gate_add_job(g, &seen->uid, seen->ns, seen->name);
		tell_arrival(g, seen);
	}
	j->in_list = g->list;
	suspect_store(g, j, seen);
	if (!see(g, j, seen))
		return;
	if (j->seen.managed)
		j->lost = false;
	else if (!j->lost)
		unfollow(g, j, false);
}

void gate_see_job(struct gate *g, const struct job *seen)
{
	see_job(g, seen);
	tell_followers(g, seen);
}

void gate_lose_job(struct gate *g, const struct uid *uid)
{
	struct gate_job *j = gate_find_job(g, uid);
	if (!j) {
		queue_undefer_job(g->queue, uid);
		return;
	}
	unfollow(g, j, true);
}

void gate_keep_job(struct gate *g, const struct uid *uid)
{
	struct gate_job *one = uid ? gate_find_job(g, uid) : NULL;
	if (one)
		one->in_list = g->list;
	for (struct gate_job *j = uid ? NULL : g->first; j; j = j->next)
		j->in_list = g->list;
}

void gate_begin_list(struct gate *g)
{
	g->list++;
	g->listing = true;
	queue_begin_job_list(g->queue);
}

void gate_retell(struct gate *g)
{
	g->retell = true;
}

void gate_end_list(struct gate *g)
{
	g->listing = false;
	g->retell = false;
	for (struct gate_job *j = g->first; j; j = j->next)
		if (j->in_list != g->list && !j->lost)
			unfollow(g, j, false);
	queue_end_job_list(g->queue);
	queue_end_deferred_list(g->queue, g->list);
}

void gate_set_synced(struct gate *g)
{
	g->synced = true;
}

/* Once the watch is lost, Jobs that are known may be gone. */
void gate_set_following(struct gate *g, bool following)
{
	g->blind = !following;
	if (!following)
		queue_begin_job_list(g->queue);
	else if (!g->listing)
		queue_end_job_list(g->queue);
}
