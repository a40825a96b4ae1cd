#include "controller/gate/stop_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "controller/gate/core.h"
#include "controller/gate/job_table.h"
#include "controller/gate/record.h"
#include "queue/job/text.h"

/* ---- a suspension by others, and a deletion --------------------------------------------------- */

void stop_put_suspender(const struct gate_job *j, struct buf *out)
{
	buf_puts(out, j->suspender ? j->suspender : "another client");
	if (j->seen.suspended_ms != 0)
		buf_printf(out, " at %s", instant_seconds(j->seen.suspended_ms).s);
}

char *stop_suspension_sentence(const struct gate_job *j)
{
	struct buf text;
	buf_init(&text, 256);
	buf_puts(&text, "suspended by ");
	stop_put_suspender(j, &text);
	buf_puts(&text, " while it ran");
	return buf_take(&text);
}

char *stop_ending_sentence(const char *why)
{
	struct buf text;
	buf_init(&text, 1024);
	buf_printf(&text, "%s%s%s", why, *why ? "; " : "", JOB_ENDS_AS_COMPLETE);
	return buf_take(&text);
}

const char *deletion_words(const struct gate_job *j, char *ret, size_t size)
{
	char uid[UID_TEXT_SIZE];
	if (!j->finalizer)
		return "";
	uid_format(&j->uid, uid);
	if (strcmp(j->finalizer, "orphan") == 0)
		snprintf(ret, size,
			"it was deleted without its pods (--cascade=orphan), which run on; to end them: kubectl delete pods -n %s -l batch.kubernetes.io/controller-uid=%s",
			j->ns, uid);
	else
		snprintf(ret, size,
			"it is being deleted, but the finalizer %s keeps it, and its pods run on; remove that from metadata.finalizers, or: kubectl delete pods -n %s -l batch.kubernetes.io/controller-uid=%s",
			j->finalizer, j->ns, uid);
	return ret;
}

/* ---- a decision of the queue ------------------------------------------------------------------- */

char *stop_name_preemptor(const struct gate_job *by)
{
	struct buf b;
	if (!by)
		return NULL;
	buf_init(&b, 1024);
	buf_printf(&b, "%s/%s", by->ns, by->name);
	return buf_take(&b);
}

const char *stop_preemptor_shown(const struct gate_job *j)
{
	const char *name = j->stop.preemptor;
	size_t len = strlen(j->ns);
	return name && strncmp(name, j->ns, len) == 0 && name[len] == '/' ? name : NULL;
}

const char *stop_preempting_queue(struct gate *g, const struct decision *d)
{
	struct job_outline o;
	return queue_outline_job(g->queue, &d->by, &o) ? o.clusterqueue : "";
}

/* Whether two Jobs of a ClusterQueue are ordered by their priorities, or by their times. */
enum precedence { BY_NOTHING, BY_PRIORITY, BY_TIME };

static enum precedence precedence_of(struct gate *g, const struct gate_job *j,
	const struct gate_job *by, struct job_outline *ret_yours, struct job_outline *ret_theirs)
{
	if (!by || !queue_outline_job(g->queue, &j->uid, ret_yours) ||
		!queue_outline_job(g->queue, &by->uid, ret_theirs))
		return BY_NOTHING;
	return ret_theirs->priority == ret_yours->priority ? BY_TIME : BY_PRIORITY;
}

/* Appends the Job that another is stopped for, as the owner of the stopped one may read it: its name and its priority
 * only when both are of one namespace. */
static void put_preemptor(struct gate *g, const struct gate_job *j, const struct decision *d,
	bool ordered, struct buf *out)
{
	const struct gate_job *by = gate_find_job(g, &d->by);
	const char *clusterqueue = stop_preempting_queue(g, d);
	struct job_outline yours, theirs;
	enum precedence p = ordered ? precedence_of(g, j, by, &yours, &theirs) : BY_NOTHING;
	bool own = by && strcmp(j->ns, by->ns) == 0;
	if (!by)
		buf_puts(out, "a Job that was deleted since");
	else if (own)
		buf_printf(out, "%s/%s", by->ns, by->name);
	else
		buf_printf(out, "a Job%s %s%s",
			p == BY_PRIORITY ? " of higher priority"
			: p == BY_TIME	 ? " queued earlier"
					 : "",
			*clusterqueue ? "in ClusterQueue " : "of another namespace", clusterqueue);
	if (own && p == BY_PRIORITY)
		buf_printf(out, " (priority %" PRId32 ", this Job's %" PRId32 ")", theirs.priority,
			yours.priority);
	else if (own && p == BY_TIME)
		buf_printf(out, " (priority %" PRId32 " as this Job's, queued earlier)",
			theirs.priority);
}

/* Names the ClusterQueue of the stopped Job, for who reads of many Jobs: "yours" says whose it is to
 * the owner alone. "": not known. */
static const char *own_queue(struct gate *g, const struct gate_job *j)
{
	struct job_outline o;
	return queue_outline_job(g->queue, &j->uid, &o) ? o.clusterqueue : "";
}

static char *preemption_sentence(struct gate *g, const struct gate_job *j, const struct decision *d)
{
	struct buf text;
	const char *own = own_queue(g, j);
	bool borrows = d->preemption == PREEMPTION_IN_COHORT_RECLAIM_WHILE_BORROWING;
	bool ordered = borrows || d->preemption == PREEMPTION_NONE ||
		       d->preemption == PREEMPTION_IN_CLUSTERQUEUE;
	buf_init(&text, 1024);
	buf_puts(&text, d->kind == DECISION_SHRINK ? "its other pods stop for " : "Stopped for ");
	put_preemptor(g, j, d, ordered, &text);
	if (d->preemption == PREEMPTION_IN_COHORT_RECLAMATION)
		buf_printf(&text, ": its ClusterQueue takes back quota that %s%s had borrowed",
			*own ? "ClusterQueue " : "yours", own);
	else if (d->preemption == PREEMPTION_IN_COHORT_FAIR_SHARING)
		buf_printf(&text, ": its ClusterQueue comes before %s%s by fair sharing",
			*own ? "ClusterQueue " : "yours", own);
	else if (borrows)
		buf_puts(&text, ": its ClusterQueue borrows quota of the Cohort");
	return buf_take(&text);
}

char *stop_policy_sentence(enum stop_reason r, const char *policy)
{
	static const struct {
		const char *before, *kind, *after;
	} words[] = {
		[STOP_REASON_WINDOW_CLOSED] = {"the window of", "RunPolicy", "closes"},
		[STOP_REASON_WINDOW_OPENING] =
			{"the quota that it borrows is needed for the window of", "RunPolicy",
				"which opens soon"},
		[STOP_REASON_PRICE] = {"the price has risen above its sluice.dev/max-price, and",
			"RunPolicy", "says to stop it"},
		[STOP_REASON_BUDGET] = {"", "Budget", "is spent"},
		[STOP_REASON_RESERVED] = {"its quota is reserved by", "AdvanceReservation",
			"from now on"},
	};
	if (!policy || r >= sizeof(words) / sizeof(*words) || !words[r].kind)
		return NULL;
	struct buf b;
	buf_init(&b, 1024);
	buf_printf(&b, "%s%s%s %s %s", words[r].before, *words[r].before ? " " : "", words[r].kind,
		policy, words[r].after);
	return buf_take(&b);
}

char *stop_sentence(struct gate *g, const struct gate_job *j, const struct decision *d)
{
	if (d->reason == STOP_REASON_PREEMPTED)
		return preemption_sentence(g, j, d);
	if (d->reason == STOP_REASON_IDLE_RECLAIMED || d->reason == STOP_REASON_WINDOW_QUOTA)
		return mem_strdup(d->why);
	return stop_policy_sentence(d->reason, d->policy);
}
