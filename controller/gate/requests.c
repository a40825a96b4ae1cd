/* What is asked of the API server for a Job, in full, and what its answers mean. */
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/map.h"
#include "controller/common/server_words.h"
#include "base/span.h"
#include "controller/gate/attempt.h"
#include "controller/gate/core.h"
#include "controller/gate/failing.h"
#include "controller/gate/gate.h"
#include "controller/gate/growth.h"
#include "controller/gate/never_starts.h"
#include "controller/gate/newcomer.h"
#include "controller/gate/note.h"
#include "controller/gate/outcome_note.h"
#include "controller/gate/provision.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "controller/gate/requests.h"
#include "controller/gate/run_priority.h"
#include "controller/gate/scale_down.h"
#include "controller/gate/start_time.h"
#include "controller/gate/stop.h"
#include "controller/gate/stop_notice.h"
#include "controller/gate/stop_words.h"
#include "controller/gate/story.h"
#include "controller/gate/waiting_note.h"

#define RETRY_MS 50
#define RETRY_MAX_MS 5000
#define DENIED_RETRY_MS 60000 /* the API server said no; asking sooner would be shouting */
#define DENIED_RETRY_MAX_MS 3600000
#define DENIED_START_MS INT64_C(10000)	/* the first pause after a refused start, then doubled */
#define DENIALS_MAX 5			/* refused starts in a row, then the Job is put on hold */
#define GIVEN_UP_MAX_MS INT64_C(640000) /* after starts at which the server fails */
#define PODS_RETRY_MS 250
#define NO_LENDING_MS 3600000 /* a Job whose resources may not be rewritten; then once more */
#define LOST_LOOK_MS 2000
#define FETCH_RETRY_MS 500 /* of a deferred Job */

/* Lowers the Job's numbers for a start with fewer pods. Completions follow only if all indexes are
 * still to be done: else the Job would be taken for finished. */
static void take_down(struct gate_job *j, struct intent *i)
{
	if (j->attempt.pods >= j->seen.pods)
		return;
	i->parallelism = i->story.pods = j->attempt.pods;
	i->story.owner_parallelism = j->seen.parallelism;
	if (!j->seen.completions_follow || j->seen.pods < j->seen.parallelism)
		return;
	i->completions = j->attempt.pods;
	i->story.owner_completions = j->seen.parallelism;
}

static void put_back(const struct gate_job *j, struct intent *i)
{
	i->parallelism = j->seen.owner_parallelism;
	i->completions = j->seen.owner_completions;
}

/* Shortens an intent where annotations may be full: the story may not grow, and a stop goes without
 * its hold, which is written later. A story keeps "holds" unless the server said that there is no
 * room: if the ledger loses the reservation, nothing else tells. */
static void shorten(struct gate_job *j, struct intent *i)
{
	bool holds = i->kind != INTENT_TELL;
	if (holds && !j->refusals.annotations_full)
		return;
	i->story_max = j->story ? strlen(j->story) : 1;
	i->untold = i->kind == INTENT_STOP && !j->story; /* there is no room for the shortest */
	i->drop_notice = i->kind == INTENT_TELL && j->seen.has_notice;
	if (j->refusals.short_of_room < 2 || i->kind != INTENT_STOP || !i->hold)
		return;
	i->hold = NULL;
	stop_owe_hold(j);
}

static struct template_directives directives_of(const struct directives_text *t)
{
	return (struct template_directives){buf_text(&t->node_selector), buf_text(&t->tolerations),
		buf_text(&t->node_affinity)};
}

static bool is_cut_off(const struct directives_text *t)
{
	return t->node_selector.failed || t->tolerations.failed || t->node_affinity.failed;
}

static void clear_text(struct directives_text *t)
{
	buf_reset(&t->node_selector);
	buf_reset(&t->tolerations);
	buf_reset(&t->node_affinity);
}

/* Lists the names of flavors, each once, as far as there is room. */
static void list_flavors(const struct story *s, char *ret, size_t size)
{
	size_t len = 0;
	for (size_t i = 0; i < s->nlines; i++) {
		bool named = false;
		for (size_t k = 0; k < i; k++)
			named = named || strcmp(s->lines[k].flavor, s->lines[i].flavor) == 0;
		size_t more = strlen(s->lines[i].flavor) + 2;
		if (named || len + more >= size)
			continue;
		len += (size_t)snprintf(
			ret + len, size - len, "%s%s", len ? ", " : "", s->lines[i].flavor);
	}
}

/* Says why no patch of a template can be made, for its directives; NULL: one can. */
static const char *fault_of(struct gate *g, const struct story *s, bool joined, bool cut_off)
{
	char flavors[TEMPLATE_FAULT_SIZE / 2] = "";
	if (joined)
		return cut_off ? "the node selector, tolerations and node affinity of its pods are larger than the API server takes"
			       : NULL;
	list_flavors(s, flavors, sizeof(flavors));
	snprintf(g->taken.fault, sizeof(g->taken.fault),
		"spec.podTemplate of flavors %s and the Job's node affinity exclude each other, or are too much together (an admin can change the flavors)",
		flavors);
	return g->taken.fault;
}

/* Puts in what a start writes into the template. s must have its lines. */
static void tell_template(
	struct gate *g, const struct uid *uid, const struct story *s, struct start_template *ret)
{
	struct directives_text *own = &g->taken.own_directives, *run = &g->taken.run_directives;
	clear_text(own);
	clear_text(run);
	arena_done(&g->taken.edit);
	queue_job_own_directives(g->queue, uid, own);
	bool joined = queue_job_directives(g->queue, uid, run);
	*ret = (struct start_template){.own = directives_of(own),
		.run = directives_of(run),
		.resources = queue_job_resources(g->queue, uid),
		.lending = queue_job_lending(g->queue, uid),
		.kubelet_limits = queue_job_has_kubelet_limits(g->queue, uid),
		.fault = fault_of(g, s, joined, is_cut_off(own) || is_cut_off(run))};
	queue_job_template_edit(g->queue, uid, &g->taken.edit, &ret->edit);
}

static void tell_lines(struct gate *g, const struct gate_job *j, struct story *s)
{
	s->lines = g->taken.lines;
	s->nlines = queue_job_lines(g->queue, &j->uid, g->taken.lines);
}

/* Begins an intent that tells of an attempt that starts, or is over. */
static void tell_attempt(struct gate *g, const struct gate_job *j, struct intent *i)
{
	i->drop_warning = stop_notice_stands(j);
	queue_job_history(g->queue, &j->uid, g->now_ms, &i->story.history);
	if (j->attempt.number < j->seen.story_attempt)
		i->story.attempt = j->seen.story_attempt;
}

/* INTENT_START, INTENT_PROVISION. */
static void tell_start(struct gate *g, struct gate_job *j, struct intent *i)
{
	tell_attempt(g, j, i);
	if (i->kind == INTENT_START)
		attempt_sent(j);
	i->generation = j->attempt.generation;
	i->has_notice = j->seen.has_notice;
	i->has_booked_start = j->seen.booked_start_ms > 0;
	i->story.state = STORY_STARTED;
	tell_lines(g, j, &i->story);
	run_priority_tell(g, j, &i->story);
	tell_template(g, &j->uid, &i->story, &i->template);
	provision_tell(g, j, i);
	take_down(j, i);
}

/* INTENT_STOP, INTENT_TELL. */
static void tell_end(struct gate *g, struct gate_job *j, struct intent *i)
{
	struct story *s = &i->story;
	tell_attempt(g, j, i);
	bool lost = attempt_story_is_lost(j);
	bool stops = i->kind == INTENT_STOP;
	bool over = stops || j->phase == PHASE_WAITING || lost;
	/* The story of a start that was refused must not be taken for that of a run. But where a
	 * STOP lands the Job ran: an earlier request of that start came through. */
	bool stopped = lost || stops || (over && j->stop.reason != REASON_REFUSED_BY_SERVER);
	s->state = stopped ? STORY_STOPPED : STORY_FENCED;
	s->trouble = stopped ? j->stop.pod_trouble : NULL;
	s->is_signed &= stopped;
	if (s->is_signed)
		tell_lines(g, j, s); /* its pods hold them until they are gone */
	if (stops && j->seen.work_queue && j->seen.owner_parallelism > 0)
		s->pods =
			j->seen.parallelism; /* fewer than its owner wrote: put_back() takes them off */
	i->resume = i->kind == INTENT_TELL && j->phase == PHASE_WAITING && j->seen.cannot_end;
	i->hold = over && !i->resume ? j->stop.hold : NULL;
	i->drop_notice = i->resume && j->seen.has_notice;
	i->by_status = !stops && failing_by_status(j);
	if (!i->by_status) /* no spec is written there */
		put_back(j, i);
}

/* Begins an intent that tells of a run that goes on. */
static void tell_run(struct gate *g, const struct gate_job *j, struct intent *i)
{
	i->story.state = STORY_STARTED;
	tell_lines(g, j, &i->story);
	run_priority_tell(g, j, &i->story);
}

static void tell_shrink(struct gate *g, struct gate_job *j, struct intent *i)
{
	tell_run(g, j, i);
	scale_down_tell(j, i);
}

static void tell_growth(struct gate *g, struct gate_job *j, struct intent *i)
{
	tell_run(g, j, i);
	growth_tell(j, i);
}

static void tell_anew(struct gate *g, struct gate_job *j, struct intent *i)
{
	tell_run(g, j, i);
	if (newcomer_owes_story(j))
		newcomer_tell(j, i);
	else
		growth_retell(g, j, i);
}

static void tell_pods(struct gate *g, struct gate_job *j, struct intent *i)
{
	(void)g;
	i->with_nodes = j->phase == PHASE_WAITING; /* of a newcomer */
}

/* Keeps a Job off idle resources for a while, if it need not run there and its resources cannot be
 * rewritten. Returns what to tell of that, or "". Before Kubernetes 1.36 the API server lets no
 * client change them ("field is immutable", behind a template of any length). Later ones say so of
 * a Job that has pods, which may be unknown to us: but not twice. Nothing is learned of a Job that
 * still has a start time (start_time.h). */
static const char *denied_lending(struct gate *g, struct gate_job *j, const char *said)
{
	if (j->seen.start_left || queue_job_lending(g->queue, &j->uid) == LENDING_NONE ||
		!queue_job_resources(g->queue, &j->uid) ||
		!server_says(slice_of(said), SERVER_FIELD_IS_IMMUTABLE))
		return "";
	if (j->seen.rewritable && ++j->refusals.immutables > 1) {
		j->refusals.no_lending_ms = g->tick_ms + gate_spread(g, NO_LENDING_MS);
		j->retell = true;
	}
	return "before Kubernetes 1.36 what its containers ask for cannot be rewritten: to run it on idle resources, ask for kubernetes.io/batch-cpu and kubernetes.io/batch-memory in its Pod template; ";
}

/* Takes a no to a start: quota is given back for a pause that doubles, and after the last the Job
 * is put on hold. If it is refused idle resources and may run elsewhere it is kept off these
 * instead. */
static void denied_start(struct gate *g, struct gate_job *j, const char *said)
{
	const char *lending = denied_lending(g, j, said);
	bool elsewhere = *lending && j->seen.rewritable;
	gate_note(g, NOTE_REFUSE, j, "%sits start is refused: %s", lending, said)->reason =
		REASON_REFUSED_BY_SERVER;
	bool edited = j->refusals.starts > 0 && !refusal_stands(j);
	int64_t restless_ms = edited ? attempt_restless_ms(g, j) : 0;
	if (edited)
		j->refusals.starts = 0;
	refusal_keep(j);
	int64_t pause_ms = elsewhere ? DENIED_RETRY_MS : DENIED_START_MS << j->refusals.starts;
	j->refusals.starts += !elsewhere;
	stop_want(j);
	pause_ms = gate_spread(g, pause_ms);
	attempt_pause(j, g->now_ms + (pause_ms > restless_ms ? pause_ms : restless_ms));
	stop_because(j, REASON_REFUSED_BY_SERVER, g->identity);
	if (j->refusals.starts >= DENIALS_MAX && j->stop.reason == REASON_REFUSED_BY_SERVER)
		stop_refused_for_good(g, j, said);
}

/* Tells whether there is no room: in the annotations, or in etcd for the whole object. */
static bool says_full(const char *said)
{
	return server_says(slice_of(said), SERVER_ANNOTATIONS_TOO_LONG) ||
	       server_says(slice_of(said), SERVER_OBJECT_TOO_LARGE);
}

/* Takes a no to a story, which has grown: it is tried once more, as short as can be. A hold that
 * cannot be written waits for the owner; a stop or a fence is asked for again and again. */
static void denied_telling(struct gate *g, struct gate_job *j, const char *said)
{
	enum intent_kind asked = j->request.asked;
	j->refusals.annotations_full = says_full(said);
	if (j->refusals.short_of_room == 0 ||
		(j->refusals.short_of_room == 1 && asked == INTENT_STOP && j->stop.hold &&
			j->refusals.annotations_full)) {
		j->refusals.short_of_room++;
		request_begin_tries(j); /* what was in doubt makes no pause longer */
	} else if (asked == INTENT_SHRINK && scale_down_wanted(g, j)) {
		scale_down_fails(g, j); /* what is lent is wanted back all the same */
	} else if (j->phase == PHASE_WAITING) {
		if (j->stop.hold_owed && !j->stop.hold_refused)
			refusal_keep(j);
		stop_hold_refused(j);
		gate_back_off(g, j, DENIED_RETRY_MS, DENIED_RETRY_MAX_MS);
	} else {
		job_rest(g, j, DENIED_RETRY_MS);
	}
}

static void denied_for_now(struct gate *g, struct gate_job *j, const char *said)
{
	(void)said;
	job_rest(g, j, DENIED_RETRY_MS);
}

static void denied_for_long(struct gate *g, struct gate_job *j, const char *said)
{
	(void)said;
	gate_back_off(g, j, DENIED_RETRY_MS, DENIED_RETRY_MAX_MS);
}

/* Takes a count of pods. It may have been asked of a run that has ended meanwhile: then it does not
 * count. */
static enum phase pods_counted(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	size_t pods = a->pods;
	/* A run that ends by itself while it is to be stopped may have fewer pods than it holds,
	 * too. */
	bool runs = j->phase == PHASE_RUNNING || j->phase == PHASE_STOPPING;
	if (j->phase == PHASE_WAITING && j->request.asked_in == PHASE_WAITING) {
		newcomer_counted(g, j, a);
		return j->phase;
	}
	if (j->request.asked_in != j->phase || (runs && growth_keeps(g, j)))
		return j->phase;
	if (runs) {
		int32_t left = scale_down_counted(g, j, pods), seen = job_pods_in_sight(j);
		attempt_shrink(g, j, left > seen ? left : seen);
	} else if (pods == 0) {
		return attempt_release(g, j);
	} else {
		gate_back_off(g, j, PODS_RETRY_MS, RETRY_MAX_MS);
	}
	return j->phase;
}

static enum phase was_read(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	(void)a;
	j->need_read = false;
	j->request.look_ms = g->tick_ms + LOST_LOOK_MS;
	return j->phase;
}

static enum phase landed(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	(void)g;
	(void)a;
	request_begin_tries(j);
	j->refusals.short_of_room = 0;
	j->refusals.others = j->refusals.told = 0;
	return j->phase;
}

/* ---- the rows -------------------------------------------------------------------------------- */

static bool start_wanted(const struct gate *g, const struct gate_job *j)
{
	return j->phase == PHASE_STARTING && !attempt_must_not_start(g, j);
}

static bool start_answered(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	(void)g;
	if (a->outcome == JOB_IN_DOUBT)
		attempt_in_doubt(j);
	return false;
}

static bool stop_wanted(const struct gate *g, const struct gate_job *j)
{
	(void)g;
	return !j->seen.ending;
}

static bool retell_wanted(const struct gate *g, const struct gate_job *j)
{
	return newcomer_owes_story(j) || growth_retell_wanted(g, j);
}

/* A count says one thing of a run, another of its end. */
static bool pods_wanted(const struct gate *g, const struct gate_job *j)
{
	(void)g;
	return j->request.want_in == j->phase;
}

static const struct row {
	bool (*wanted)(const struct gate *g, const struct gate_job *j);
	void (*tell)(struct gate *g, struct gate_job *j, struct intent *i);
	bool (*answered)(struct gate *g, struct gate_job *j, const struct job_answer *a);
	enum phase (*done)(struct gate *g, struct gate_job *j, const struct job_answer *a);
	void (*denied)(struct gate *g, struct gate_job *j, const char *said);
} ROWS[] = {
#define INTENT(kind, does, traits, wanted, tell, answered, done, denied, ...)                      \
	[INTENT_##kind] = {wanted, tell, answered, done, denied},
#include "controller/gate/intents.def"
};

bool request_wanted(const struct gate *g, const struct gate_job *j)
{
	const struct row *row = &ROWS[j->request.want];
	return !row->wanted || row->wanted(g, j);
}

void request_tell(struct gate *g, struct gate_job *j, struct intent *i)
{
	i->story = (struct story){.attempt = j->attempt.number,
		.epoch = g->epoch,
		.at_ms = g->now_ms,
		.clusterqueue = j->attempt.clusterqueue,
		.reason = j->stop.reason,
		.by = g->identity,
		.is_signed = job_has_reservation(j),
		.sizes = job_has_reservation(j) ? j->attempt.sizes : 0,
		.key = g->story_key,
		.uid = j->uid,
		.preemptor = stop_preemptor_shown(j),
		.message = j->stop.message};
	if (ROWS[i->kind].tell)
		ROWS[i->kind].tell(g, j, i);
	if (intent_is(i->kind, TELLS_STORY) && j->refusals.short_of_room)
		shorten(j, i);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void denied(struct gate *g, struct gate_job *j, const char *sentence)
{
	const char *said = sentence ? sentence : "no reason given";
	g->counts.refusals++;
	if (j->request.asked != INTENT_START) /* a start has a note of its own */
		refusal_note(g, j, j->request.asked, said);
	ROWS[j->request.asked].denied(g, j, said);
}

/* Takes the answer that the Job has changed. Too often in a row it is a no: some webhooks refuse in
 * the same words. What is owed is asked for as before, for an owner could delay a stop by edits. */
static void answered_refused(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	enum intent_kind asked = j->request.asked;
	bool is_no = !intent_is(asked, WRITES_NOTHING) && request_count_refused(j);
	j->need_read = true;
	if (is_no)
		failing_answered(g, j, asked,
			&(struct job_answer){.outcome = JOB_DENIED, .sentence = a->sentence});
	if (is_no && intent_is(asked, ENDS_BY_A_NO)) {
		j->request.refused = 0;
		denied(g, j, a->sentence);
		return;
	}
	if (is_no)
		refusal_note(g, j, asked, a->sentence ? a->sentence : "no reason given");
	gate_back_off(g, j, RETRY_MS, RETRY_MAX_MS);
}

/* The queue is told at once: the Job may be forgotten before the watch tells. */
static void answered_gone(struct gate *g, struct gate_job *j)
{
	if (!j->lost)
		queue_unfollow_predecessor(g->queue, &j->uid, j->ns, j->name, false);
	j->gone = j->lost = true;
	j->told_in = g->list;
	j->need_read = false;
	queue_block_job(g->queue, &j->uid, "deleted"); /* what it holds stays; it has no turn */
}

/* Gives up a start at which the server fails, for its quota. Nothing is wrong with the Job, so it
 * is never put on hold. A PATCH that may still land is fenced. */
static void give_up_start(struct gate *g, struct gate_job *j)
{
	unsigned before = failing_count_start(g, j);
	int64_t pause_ms = gate_spread(g, backoff_ms(DENIED_START_MS, before, GIVEN_UP_MAX_MS));
	stop_want(j);
	attempt_pause(j, g->now_ms + pause_ms);
	stop_because(j, REASON_REFUSED_BY_SERVER, g->identity);
	gate_note(g, NOTE_REFUSE, j,
		"its start is given up, since the API server has failed at it for %s; its quota is given back, and it is tried again after %s%s%s",
		span_exact(FAILING_PATIENCE_MS).s, span_short(pause_ms).s,
		j->failing->said ? ": " : "", j->failing->said ? j->failing->said : "")
		->reason = REASON_REFUSED_BY_SERVER;
}

static void try_again(struct gate *g, struct gate_job *j)
{
	gate_back_off(g, j, RETRY_MS, failing_pause_max_ms(g, j, RETRY_MAX_MS));
	if (failing_ends_start(g, j) && !j->stop.wanted)
		give_up_start(g, j);
}

/* A start and its fence hold quota: they are tried again however long the server asks to wait. */
static void answered_busy(struct gate *g, struct gate_job *j, int64_t retry_ms)
{
	bool starts = j->phase == PHASE_STARTING || j->phase == PHASE_FENCING;
	if (starts && retry_ms > FAILING_PATIENCE_MS)
		retry_ms = FAILING_PATIENCE_MS;
	if (j->fetching)
		gate_back_off(g, j, FETCH_RETRY_MS, DENIED_RETRY_MS);
	else
		try_again(g, j);
	if (g->tick_ms + retry_ms > j->request.retry_ms)
		job_rest(g, j, retry_ms);
}

enum phase request_answered(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	const struct row *row = &ROWS[j->request.asked];
	failing_answered(g, j, j->request.asked, a);
	if (row->answered && row->answered(g, j, a))
		return j->phase;
	switch (a->outcome) {
	case JOB_DONE:
		return row->done(g, j, a);
	case JOB_REFUSED:
		answered_refused(g, j, a);
		break;
	case JOB_GONE:
		answered_gone(g, j);
		break;
	case JOB_BUSY:
		answered_busy(g, j, a->retry_ms);
		break;
	case JOB_DENIED:
		denied(g, j, a->sentence);
		break;
	case JOB_IN_DOUBT:
		j->need_read = true;
		try_again(g, j);
		break;
	}
	return j->phase;
}
