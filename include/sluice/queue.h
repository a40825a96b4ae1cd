/*
 * The queue: decides which Job starts next, and what must stop. A pure library.
 *
 * Facts go in, decisions come out, with when to ask again. No socket, no clock, no environment, no
 * printing: time is a parameter, and the same calls in the same order give byte-identical
 * decisions. Ties end in a total order (priority, time of queueing, arrival, uid), never in an
 * address or a hash.
 *
 * A Job in here is a workload: a compact record (at most 512 bytes while it waits, names included;
 * requests and placement are shared by all Jobs of the same shape). A workload either
 *
 *     waits     and holds no quota. It is in its ClusterQueue's order, or set aside with a reason.
 *     holds     quota in a flavor for each resource: queue_decide() chose it, or the gate adopted
 *               it from the ledger. Only the gate ends this: queue_release_job().
 *
 * What is always true:
 *   - the use of each (ClusterQueue, flavor, resource) is the sum over the workloads that hold it.
 *     The use of a Cohort is what exceeds its members' own parts;
 *   - a decision to start takes no node of that tree over what it may use. A quota lowered under
 *     its use evicts no Job; nothing more starts until there is room;
 *   - a Job is preempted for one other Job. The quota that comes free is kept for that one, and
 *     none overtakes it;
 *   - a decision is given once. Until the gate answers with release, confirm or gone, the queue
 *     believes that it will be carried out;
 *   - facts may come in any order (a Job before its queue, a queue before its flavor) and twice.
 *
 * How the work stays small. Waiting workloads of one ClusterQueue with the same priority and shape
 * form a group; groups stand in a tree in queue order, each node of which knows the least that any
 * group below it asks for. A group that does not fit is skipped as one, and a subtree in which
 * nothing can fit is skipped whole. A pass looks only at ClusterQueues that something happened to.
 *
 * Left to others: whether the Job object can be patched (gate), what is durable (ledger), text of
 * the wire (controller). Each function that changes a queue has a row in queue_call.h, so that a
 * record has its calls.
 */
#ifndef SLUICE_QUEUE_H
#define SLUICE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/uid.h"
#include "sluice/calendar.h"
#include "sluice/job.h"
#include "sluice/policy.h"
#include "sluice/spec.h"

struct bound_pod;
struct node_spec;
struct queue;
struct resource_quota;

struct queue *queue_new(void);
void queue_free(struct queue *q);

/* Writes Kueue's defaults, and no fair sharing. */
void queue_config_default(struct queue_config *c);
/* Configures the queue: once, before the first fact. Copies what it needs. */
void queue_configure(struct queue *q, const struct queue_config *c);
/* Sets the seed by which names that tenants choose are hashed: they must not know it. Called before
 * the first Job; 0 otherwise. */
void queue_key_names(struct queue *q, uint64_t seed);

/* ---- Facts: what admins describe -------------------------------------------------------------
 *
 * A spec that only the whole can show to be wrong (a resource in two groups, a quota listed in
 * another order than coveredResources, ...) is refused with ERR_INVALID and a sentence that names
 * object, field and cure; the last valid spec stays in force, and the view shows the sentence.
 * A reference to something that does not exist (a flavor, a ClusterQueue) is no error: the queue
 * is inactive until it appears. The sets are idempotent. Gone for an unknown name does nothing. */

int queue_set_clusterqueue(struct queue *q, const struct clusterqueue_spec *s, struct err *e);
/* Tells of an object that could not be decoded: the last valid spec stays, the view has the
 * sentence. */
void queue_reject_clusterqueue(struct queue *q, const char *name, const char *sentence);
void queue_drop_clusterqueue(struct queue *q, const char *name);

/* Adds quota, limits, a weight and a parent to a Cohort, which exists as soon as it is named. A
 * cycle of parents is no error here: nothing starts below it, and the views say so. */
int queue_set_cohort(struct queue *q, const struct cohort_spec *s, struct err *e);
void queue_reject_cohort(struct queue *q, const char *name, const char *sentence);
void queue_drop_cohort(struct queue *q, const char *name);

int queue_set_localqueue(struct queue *q, const struct localqueue_spec *s, struct err *e);
void queue_reject_localqueue(
	struct queue *q, const char *ns, const char *name, const char *sentence);
void queue_drop_localqueue(struct queue *q, const char *ns, const char *name);

int queue_set_flavor(struct queue *q, const struct flavor_spec *s, struct err *e);
void queue_reject_flavor(struct queue *q, const char *name, const char *sentence);
void queue_drop_flavor(struct queue *q, const char *name);

bool queue_has_flavor(const struct queue *q, const char *name); /* the object is there */

/*
 * Sets what a flavor with an idle pool has to give; until then, nothing. The flavor's share of it
 * is divided among the ClusterQueues and Cohorts that have quota in the flavor, in proportion to
 * their nominalQuota (as the windows of RunPolicies leave it). A single one has all of it, whatever
 * number it says, but 0 is nothing. Limits of borrowing and lending are taken in that proportion.
 * Lowering it stops no Job (queue_reclaim_job() does). Cheap, and free when nothing changed.
 */
void queue_set_idle_pool(struct queue *q, const struct idle_pool *p);

/* Tell what is seen of programs that make nodes (queue/features/nodes/nodes_to_come.h): the
 * NodePools of Karpenter, and whether cluster-autoscaler works. */
void queue_set_made_nodes(struct queue *q, const struct made_nodes_spec *s);
void queue_drop_made_nodes(struct queue *q, const char *name);
void queue_set_cluster_autoscaler(struct queue *q, bool works);

/* Sets a class: the waiting workloads that name it move. */
void queue_set_priority(struct queue *q, const struct priority_spec *s);
void queue_drop_priority(struct queue *q, enum priority_kind kind, const char *name);
bool queue_has_priority(const struct queue *q, enum priority_kind kind, const char *name);

void queue_set_namespace(struct queue *q, const struct namespace_spec *s);
void queue_drop_namespace(struct queue *q, const char *name);

/* Tell of LimitRanges and RuntimeClasses, which count for Jobs that are set afterwards: the caller
 * sets again the Jobs whose pods they concern. False: nothing is different now. */
bool queue_set_limit_range(struct queue *q, const struct limit_range_spec *s);
bool queue_drop_limit_range(struct queue *q, const char *ns, const char *name);
bool queue_set_runtime_class(struct queue *q, const struct runtime_class_spec *s);
bool queue_drop_runtime_class(struct queue *q, const char *name);

/* ---- Facts: the cluster itself -----------------------------------------------------------------
 *
 * What the API server and the scheduler would say to the pods of a Job, asked before it is started
 * (queue/cluster/nodes.h, queue/cluster/resource_quota.h). Before queue_know_cluster() nothing is
 * asked: a queue that was told of no node would start nothing. A Job that may not start because of
 * the cluster is set aside. It holds up no Job behind it, not in a StrictFIFO queue either: the
 * namespace's quota and the nodes are not the queue's. */

void queue_know_cluster(struct queue *q); /* all of it has been told once */

void queue_set_node(struct queue *q, const struct node_spec *s);
void queue_drop_node(struct queue *q, const char *name);
/* Tell what the scheduler takes from devices where a node has none of it
 * (queue/cluster/device_classes.h). known: the caller may read DeviceClasses, as at first; else a
 * resource that no node has may be theirs. */
void queue_set_device_class(struct queue *q, const struct device_class_spec *s);
void queue_drop_device_class(struct queue *q, const char *name);
void queue_know_device_classes(struct queue *q, bool known);
/* Tell of bound pods, which only clusterFit Now and affinity ask for: queue_wants_pods(). Until all
 * have been told (known false, as at first) no Job starts by the space there is: nodes would look
 * empty. A caller that may not read pods says true, and goes without. */
void queue_bind_pod(struct queue *q, const struct bound_pod *p);
void queue_unbind_pod(struct queue *q, const struct uid *uid);
bool queue_wants_pods(const struct queue *q);
void queue_know_pods(struct queue *q, bool known);

void queue_set_resource_quota(struct queue *q, const struct resource_quota *s);
void queue_drop_resource_quota(struct queue *q, const char *ns, const char *name);
/* Tells that ResourceQuotas have been seen as of this version; ns NULL: of all namespaces
 * (quota_flight_seen()). */
void queue_saw_quotas(struct queue *q, const char *ns, int64_t version);
/* Finds a namespace in which Jobs wait and whose ResourceQuotas, once seen as of *ret_version or
 * later, may leave more room: worth a list of them where the watch says nothing. By index, with no
 * fact told in between; false past the last. */
bool queue_quotas_behind(
	const struct queue *q, size_t index, const char **ret_ns, int64_t *ret_version);

void queue_set_disruption_budget(struct queue *q, const struct disruption_budget_spec *s);
void queue_drop_disruption_budget(struct queue *q, const char *ns, const char *name);

/* ---- Facts: time and money ---------------------------------------------------------------------
 *
 * Level, not edge: what a Calendar, a RunPolicy, a price or a Budget does follows from the time of
 * the call alone. So a restart or a jump of the clock misses and doubles nothing. A policy that
 * cannot be understood (its Calendar is missing or invalid, the last valid spec of neither is
 * known) starts nothing and stops nothing. The caller loads zones, and resolves dates and prices of
 * ConfigMaps (queue/calendar/spec.h). */

int queue_set_calendar(struct queue *q, const struct calendar_spec *s, struct err *e);
void queue_reject_calendar(struct queue *q, const char *name, const char *sentence);
void queue_drop_calendar(struct queue *q, const char *name);

/* Sets a RunPolicy. *ret_again: exempt selectors changed, which count for Jobs that are set
 * afterwards; the caller sets Jobs again. */
int queue_set_runpolicy(
	struct queue *q, const struct runpolicy_spec *s, bool *ret_again, struct err *e);
void queue_reject_runpolicy(struct queue *q, const char *name, const char *sentence);
void queue_drop_runpolicy(struct queue *q, const char *name);

int queue_set_priceplan(struct queue *q, const struct priceplan_spec *s, struct err *e);
void queue_reject_priceplan(struct queue *q, const char *name, const char *sentence);
void queue_drop_priceplan(struct queue *q, const char *name);

int queue_set_budget(struct queue *q, const struct budget_spec *s, struct err *e);
void queue_reject_budget(struct queue *q, const char *name, const char *sentence);
void queue_drop_budget(struct queue *q, const char *name);

/* Sets an AdvanceReservation (queue/features/bookings/advance_reservation.h): the next decision
 * judges it, when all other facts are told. One that was accepted stays so. */
int queue_set_advance_reservation(
	struct queue *q, const struct advance_reservation_spec *s, struct err *e);
void queue_reject_advance_reservation(struct queue *q, const char *name, const char *sentence);
void queue_drop_advance_reservation(struct queue *q, const char *name);
/* Says whether quota that is given back (releaseAfter) is free for others only when
 * queue_set_advance_reservation() tells of a status that says so. A controller awaits statuses, so
 * that the next leader knows, too. At first none is awaited: where none is written. */
void queue_await_statuses(struct queue *q, bool awaits);

/* Adds what was spent on runs of a ClusterQueue or LocalQueue that ended before this queue was made
 * (the ledger's segments): those that began at started_ms or in the quarter of an hour after. */
void queue_recall_spent(struct queue *q, const char *clusterqueue, const char *ns,
	const char *localqueue, const char *currency, int64_t started_ms, int64_t cost);
/* Tells that a run of a family ended well after ran_ms, before this queue was made. */
void queue_recall_duration(struct queue *q, const char *ns, const char *family, int64_t ran_ms);
/* Returns since when spending matters: the beginning of the longest period; 0: not at all. */
int64_t queue_recall_spent_since_ms(const struct queue *q, int64_t now_ms);

/* ---- Facts: Jobs ----------------------------------------------------------------------------- */

/* Tells of a Job as it is now. A new one waits. One that waits moves to where its label, priority
 * and shape now put it, and keeps its time of queueing. Of one that holds quota, hold and priority
 * count at once, shape and queue from when it waits again. */
void queue_set_job(struct queue *q, const struct job *j);

/* ---- Facts: Jobs that others wait for (sluice/dependency.h) ------------------------------------
 *
 * The queue keeps of a predecessor what its followers ask for, and nothing while it has none. So it
 * is told of every Job that changes, which costs a look into a map, and asks for what it was not
 * told: of a name, or of all Jobs that a selector takes. Until the answer, items that rest on it do
 * not hold.
 */

/* Tells of a Job as it is now, whether it names a queue or not. Telling it twice changes nothing.
 * The caller never tells an older state of a Job after a newer one. */
void queue_see_predecessor(struct queue *q, const struct predecessor *p);
/* Tells that a Job is not followed any more: it was deleted, or lost its label. It is asked for at
 * once. told_end: all that it became until then was told; so if it is gone, it was deleted before
 * it ended. */
void queue_unfollow_predecessor(
	struct queue *q, const struct uid *uid, const char *ns, const char *name, bool told_end);
/* Tells that a Job was deleted. What it had become stays known while Jobs wait for it. One that was
 * never started is forgotten: its name counts as one that was never used. */
void queue_lose_predecessor(
	struct queue *q, const struct uid *uid, const char *ns, const char *name);

/* Tells, in a play of the future (forecast/play.h), that a known Job was started, or ended at
 * at_ms. Costs nothing when no Job waits for any other. */
void queue_foretell_predecessor(
	struct queue *q, const struct uid *uid, enum predecessor_state state, int64_t at_ms);

/* Say that all Jobs are listed again between these two calls. A known Job may have been replaced by
 * another of its name, so a Job that is set meanwhile waits for an answer about its
 * predecessors. */
void queue_begin_job_list(struct queue *q);
void queue_end_job_list(struct queue *q);

/* What the queue wants to know: of the Jobs of that name, or of those that the selector takes. */
struct wanted_predecessors {
	uint64_t id; /* the answer quotes it */
	const char *ns;
	const char *name; /* NULL: those with the labels of: */
	const struct selector_term *selector;
};
/*
 * Takes the next question, each once; false when there is none. Its texts are valid until the
 * answer. While some Job waits for it, the question comes again PREDECESSOR_AGAIN_MS after the
 * answer: no event tells of Jobs that are not followed. Not again comes a name whose newest Job is
 * followed and has not ended. A name for which no Job waits is asked for when a selector takes it
 * and the answer about that does not have it.
 */
#define PREDECESSOR_AGAIN_MS 15000
bool queue_take_wanted(struct queue *q, struct wanted_predecessors *ret);
#define PREDECESSOR_TAKEN_MAX 10000 /* Jobs of a selector: with more it does not hold */
#define PREDECESSOR_LABELS_MAX 100  /* of a Job: one with more is taken by no selector */
/* Answers with all Jobs that are known, from API server and ledger, in any order: several may have
 * had that name. Of a selector PREDECESSOR_TAKEN_MAX + 1 are enough. n 0: there is no such Job, and
 * the ledger knows of none. */
void queue_answer_wanted(struct queue *q, uint64_t id, const struct predecessor *p, size_t n);
/* Says that the caller tells of every Job there is from now on, whether it names a queue or not: no
 * question is asked twice. */
void queue_follow_predecessors(struct queue *q);
/* Gives back a question that cannot be answered now: it comes again after PREDECESSOR_AGAIN_MS. */
void queue_return_wanted(struct queue *q, uint64_t id);

/* Takes the next Job whose annotation sluice.dev/after-outcomes may have to be written anew, each
 * once; namespaces take turns. False: there is none. The annotation has what a new leader could not
 * read elsewhere; struct dependencies brings it back. */
bool queue_take_unrecorded(struct queue *q, struct uid *ret);
bool queue_has_unrecorded(struct queue *q);
/* Tells whether the annotation is to be written. If so, queue_job_outcomes() counts as being
 * written from here on. *cost grows by the names that were looked at: up to all of the namespace
 * for each item. */
bool queue_is_unrecorded(struct queue *q, const struct uid *uid, size_t *cost);
/* Gives back a Job whose annotation could not be written: its turn comes again. */
void queue_return_unrecorded(struct queue *q, const struct uid *uid);
/* Appends the text of the annotation. */
void queue_job_outcomes(const struct queue *q, const struct uid *uid, struct buf *out);

/* Drops a Job that is not the queue's any more (deleted, finished, label removed): quota that it
 * held is free. Nothing happens when it is unknown. */
void queue_drop_job(struct queue *q, const struct uid *uid);

/* One row of quota that is held: an amount of a resource in a flavor at a node of the quota tree.
 * For what a Job holds the node is its ClusterQueue, "cq/NAME"; what counts at the Cohorts above
 * ("cohort/NAME") follows from the sum. The strings live as long as the queue. */
struct quota_line {
	const char *node, *flavor, *resource;
	int64_t amount;
};

/* ---- Jobs beyond what may wait, kept by name alone (queue/core/model/overflow.h) ----
 *
 * The number of a LocalQueue's Jobs that are kept in full is limited. The caller asks for a place
 * before it sets a Job.
 */

/* Tells whether the LocalQueue that the Job names has a place for one more that waits. For a Job
 * with a story there are more. */
bool queue_has_place(const struct queue *q, const struct job *j);
/* Tells whether a Job that waits is to be deferred: its LocalQueue keeps some dozens more than it
 * may, or the Job's directives were not kept for want of memory. ran: it has a story. */
bool queue_has_too_many(const struct queue *q, const struct uid *uid, bool ran);
/* Tells whether the Job's directives were not kept: it is read and set anew once it has quota. */
bool queue_job_is_cut(const struct queue *q, const struct uid *uid);
/* Defers a Job: it waits as TooManyWaiting until queue_take_deferred() gives it out. list: the last
 * complete list in which it was. */
void queue_defer_job(struct queue *q, const struct job *j, uint64_t list);
/* Defers a Job that is known and waits: its workload is dropped. */
void queue_defer_known_job(struct queue *q, const struct uid *uid, uint64_t list);
/* Forgets a deferred Job that is gone; queue_set_job() forgets one that is told in full. Nothing
 * happens when it is unknown. */
void queue_undefer_job(struct queue *q, const struct uid *uid);
/* Ends a complete list: deferred Jobs that were not in it are forgotten, but for those that are
 * being read. */
void queue_end_deferred_list(struct queue *q, uint64_t list);

struct deferred_job {
	struct uid uid;
	const char *ns, *name; /* until queue_undefer_job() */
	uint64_t list;
};
/* Takes the next deferred Job for which there is a place. The place is kept for it: the caller
 * reads and sets it. */
bool queue_take_deferred(struct queue *q, struct deferred_job *ret);
/* Gives back a deferred Job that cannot be read now: its turn comes after all others'. */
void queue_return_deferred(struct queue *q, const struct uid *uid, uint64_t list);

/* ---- Jobs that cannot be read (queue/core/model/unread.h) ----
 *
 * The LocalQueue that the label of such a Job names says so, until the Job can be read, is gone, or
 * is in no list. */

void queue_unread_job(struct queue *q, const char *ns, const char *name, const char *localqueue);
void queue_read_job(struct queue *q, const char *ns, const char *name);
void queue_begin_unread_list(struct queue *q);
void queue_end_unread_list(struct queue *q);

/* Gives a Job that is set the lines that it holds since reserved_ms by the ledger, whatever today's
 * quota says. False when the Job is unknown. */
bool queue_adopt_job(struct queue *q, const struct uid *uid, const struct quota_line *lines,
	size_t n, int64_t reserved_ms);
/* Gives its lines to a Job that is not read yet: nothing is known of it, or only what is older than
 * its reservation. Until it is read it counts as `unread`, which says that it is being deleted, so
 * that nothing is decided about it. If it was set before, nodes and ResourceQuotas expect its pods
 * as it was then: a start that is under way may make them before the Job is read. */
void queue_adopt_unread(struct queue *q, const struct job *unread, const struct quota_line *lines,
	size_t n, int64_t reserved_ms);
/* Gives its lines to a Job that comes in by queue_intake(). Where a window made quota smaller,
 * other runs give no pods for it. */
bool queue_take_in(struct queue *q, const struct uid *uid, const struct quota_line *lines, size_t n,
	int64_t now_ms);

#define QUEUE_LINES_MAX 128 /* of one workload */

/* ---- A Job that runs, and holds nothing yet (queue/intake.c) ---- */

#define QUEUE_INTAKE_SIZE 600
struct intake {
	struct quota_line line[QUEUE_LINES_MAX]; /* what it would hold; texts are the queue's */
	size_t nlines;
	char why_not[QUEUE_INTAKE_SIZE]; /* else: what keeps it out of its queue, a sentence */
};
/* Finds what a Job that runs and is to be adopted would hold, whether so much is free or not: for
 * `pods` pods, or for as many as it needs if these are more. Changes nothing. False: it cannot be
 * adopted now, and ret->why_not says why. */
bool queue_intake(
	struct queue *q, const struct uid *uid, int32_t pods, int64_t now_ms, struct intake *ret);
/* Writes where more is used than there is, such as "ClusterQueue batch uses 3 cpu in flavor spot
 * more than there is". False: what the Job holds is within quota. */
bool queue_job_excess(
	const struct queue *q, const struct uid *uid, char ret_words[QUEUE_INTAKE_SIZE]);

/* Tells whether the window of a decided start is still open: asked before a start is sent that took
 * its time (a ledger that was away). True for a Job without a reservation. */
bool queue_start_stands(const struct queue *q, const struct uid *uid);
/* Tells whether an item of the Job's sluice.dev/after can hold no more, by what is known now. This
 * is what DECISION_HOLD and DECISION_DELETE rest on. */
bool queue_job_waits_in_vain(const struct queue *q, const struct uid *uid);

/* How an autoscaler is asked for nodes before a Job is started, by the first of its flavors that
 * says so. Texts live until the next fact is told. */
struct provisioning {
	const char *flavor, *class_name;
	const struct label *parameters;
	size_t nparameters;
	int64_t timeout_ms;
};
/* Tells whether an autoscaler is to be asked before the workload, which holds quota, is started. */
bool queue_job_provisioning(const struct queue *q, const struct uid *uid, struct provisioning *ret);

/* Tells whether all flavors that the Job holds are still there: a start carries their directives.
 * True for a Job without a reservation. */
bool queue_job_flavors_exist(const struct queue *q, const struct uid *uid);

/* Confirms the start: the Job runs since now_ms. */
void queue_confirm_job(struct queue *q, const struct uid *uid, int64_t now_ms);

/* Tells whether `pods` pods, as the Job asks for them now, need more than its reservation has. */
bool queue_job_outgrows(const struct queue *q, const struct uid *uid, int32_t pods);

/* Tells whether a quota that the Job holds is used beyond its limit, even when all that ends has
 * ended. */
bool queue_job_beyond_quota(const struct queue *q, const struct uid *uid);
/* Tells that the Job is being stopped, though the queue did not decide it: its reservation counts
 * as ending. */
void queue_leaving_job(struct queue *q, const struct uid *uid);

/* Returns how many pods the Job's reservation is for; 0: it has none. */
int32_t queue_job_pods(const struct queue *q, const struct uid *uid);

/* Tells whether as many pods of the Job as are needed are ready, since now_ms. */
void queue_ready_job(struct queue *q, const struct uid *uid, bool ready, int64_t now_ms);

/* Tells that the Job ended well: what it took is a sample for its family. Called after
 * queue_confirm_job(), before the release. */
void queue_finished_job(struct queue *q, const struct uid *uid, int64_t now_ms);

/* Leaves the Job quota for `pods` pods from now_ms on; more than now is ignored. True when quota
 * became free: the caller then writes queue_job_lines() to the ledger. */
bool queue_shrink_job(struct queue *q, const struct uid *uid, int32_t pods, int64_t now_ms);

/* Tells that the Job cannot be told to go on with fewer pods. It keeps them, and is not asked
 * again, where only a window's smaller quota wanted them (STOP_REASON_WINDOW_QUOTA) or a stop would
 * end it as Complete. */
void queue_keep_pods(struct queue *q, const struct uid *uid);

/* Tells that the wall clock was set by step_ms; below 0: back. Setting it back, and later right
 * again, changes nothing in how long runs may go on and how long their pods are awaited. Setting it
 * further on counts as time that passed, as where this machine has slept. */
void queue_clock_stepped(struct queue *q, int64_t step_ms);

/* Ends a DECISION_GROW: the Job says its larger number of pods now, or never will (called off). Its
 * size may change again, growInterval later at the earliest. The caller tells queue_ready_job()
 * first: pods that are not ready by then are awaited as those of a start. */
void queue_grew_job(struct queue *q, const struct uid *uid, int64_t now_ms);

/* Returns until when the pods that the Job grew by are awaited; 0: none is, or for ever. */
int64_t queue_job_grown_due_ms(const struct queue *q, const struct uid *uid);

/* Takes back that the Job is deactivated: its run ends for another reason. */
void queue_keep_active(struct queue *q, const struct uid *uid);

/* Tells that the run is ending: it was told to stop, or finished and has pods left (a new leader
 * learns it from the ledger). A Job that needs quota takes what it leaves before any other is
 * stopped for it. */
void queue_ending_job(struct queue *q, const struct uid *uid);

/* Keeps a Job waiting for something that no spec shows (its owner suspended it while it ran, say):
 * with WAIT_HELD and this sentence, until the gate says NULL. The text is borrowed until the gate
 * says another, or NULL, or drops the Job. A workload that holds quota goes on; what is said counts
 * once it waits again, and if it is to stop it keeps no place for its return. */
void queue_block_job(struct queue *q, const struct uid *uid, const char *why);

/*
 * Wants back what a Job holds of lent resources (overcommit/reclaim.h): it goes on with `pods`
 * pods, or stops (0, or fewer than its min-parallelism). The next queue_decide() brings
 * DECISION_SHRINK or DECISION_STOP. False: it holds nothing, is stopping already, or runs with no
 * more than that. why: one line for people, copied. A Job that was stopped so starts again as soon
 * as it fits, but not so soon that it could be stopped so more than once in five minutes on average
 * (queue/job/stop_rate.h).
 */
bool queue_reclaim_job(struct queue *q, const struct uid *uid, int32_t pods, const char *why);
/* Returns with how many pods the run goes on after that; 0: it stops, or holds nothing; INT32_MAX:
 * all. */
int32_t queue_job_keeps(const struct queue *q, const struct uid *uid);

/* Returns the namespace of the Job, or NULL where it is not known. */
const char *queue_job_namespace(const struct queue *q, const struct uid *uid);
/* Tells whether the Job holds quota in a flavor of which its ClusterQueue uses more than its own.
 * Jobs that borrow go first. */
bool queue_job_borrows(const struct queue *q, const struct uid *uid);
/* Tells whether a stop would end the Job as Complete (job_ends_when_stopped()). Such Jobs go
 * last. */
bool queue_job_ends_when_stopped(const struct queue *q, const struct uid *uid);

/* Returns the names under which the Job's pods ask for cpu and memory in the flavors that it
 * holds. */
enum lending queue_job_lending(const struct queue *q, const struct uid *uid);
/* Tells whether that room wants kubelets to limit its pods (flavor_spec.kubelet_limits). */
bool queue_job_has_kubelet_limits(const struct queue *q, const struct uid *uid);
/* Returns job.resources of the Job as it started, or as it was last seen; or NULL. */
const char *queue_job_resources(const struct queue *q, const struct uid *uid);

/* Gives the reservation back at now_ms: the workload waits again, at its old place. It starts not
 * before not_before_ms (0: at once), nor before the back-off that the reason of its stop brings. */
void queue_release_job(
	struct queue *q, const struct uid *uid, int64_t now_ms, int64_t not_before_ms);
/* Gives the reservation of a Job that is over back, and forgets the Job. */
void queue_end_job(struct queue *q, const struct uid *uid, int64_t now_ms);

/* Returns how long ago a run may have ended and still count in an order by use; 0: nothing is
 * ordered so. */
int64_t queue_recall_ms(const struct queue *q);
/* Tells of a run that ended before this queue was made (the ledger's segments), for fair share over
 * time. Called after configure and before the first decision, in any order. */
void queue_recall_run(struct queue *q, const char *ns, const char *localqueue,
	const struct quota_line *lines, size_t n, int64_t from_ms, int64_t to_ms);

/* Tells what the Job's attempts left behind by a newer story that an earlier leader wrote, and not
 * by this queue's own decisions. Where the workload holds quota, its run has ended already. */
void queue_recall_history(struct queue *q, const struct uid *uid, const struct job_history *h);

/* Tells what attempts before the one that holds quota left behind, of a Job that was adopted before
 * it was read. */
void queue_recall_past(struct queue *q, const struct uid *uid, const struct job_history *h);

/* Where the priority of a Job comes from. */
enum priority_source {
	PRIORITY_UNKNOWN, /* its class is not there, and what counted last is not known: 0 counts */
	PRIORITY_OF_CLASS,
	PRIORITY_KEPT,	   /* of a run: its class was there, and is not any more */
	PRIORITY_RECALLED, /* of a run: its class was there under an earlier leader */
};

/* Says which priority of a run counted last under an earlier leader, if the Job was adopted while
 * its class is not there. Does nothing where the class was seen since, or the priority told. */
void queue_recall_priority(struct queue *q, const struct uid *uid, int32_t priority);
/* Gives the priority of a run that counts. PRIORITY_UNKNOWN also where the Job holds no quota. */
enum priority_source queue_job_priority(const struct queue *q, const struct uid *uid, int32_t *ret);

/* Writes what the Job's attempts so far leave behind, for the story: as if released at now_ms. */
void queue_job_history(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct job_history *ret);

/* ---- Decisions ------------------------------------------------------------------------------- */

enum decision_kind {
	DECISION_START,	 /* quota is taken; lines and directives can be asked for */
	DECISION_STOP,	 /* quota stays taken until the gate releases it */
	DECISION_SHRINK, /* the run goes on with fewer pods; quota stays taken until they are gone
			    and queue_shrink_job() says so */
	DECISION_GROW, /* the run goes on with more pods, and quota for them is taken from here on.
			    Until queue_grew_job() or a stop there is no other decision of its size.
			    Called off: queue_shrink_job() to what it had, then queue_grew_job() */
	DECISION_HOLD, /* a waiting Job can never start (sluice.dev/on-dependency-failure): the gate
			    sets sluice.dev/hold, and why says what failed. Once, until its
			    dependencies or what is known of them change */
	DECISION_DELETE, /* a waiting Job can never start, and its owner wants it deleted then */
	DECISION_NOTICE, /* the run will be stopped at stop_ms: the Job is told, so that it can save
			    its work. Once for each stop_ms; nothing else changes */
};

enum stop_reason {
	STOP_REASON_NONE,
#define STOP_REASON(tag, name, when, cure) STOP_REASON_##tag,
#include "sluice/reasons.def"
};

const char *stop_reason_name(enum stop_reason r); /* Kueue's: "Preempted", "PodsReadyTimeout" ... */

/* Tells whether a Job stopped for this reason starts again only when a person says so: the gate
 * puts it on hold (annotation sluice.dev/hold). Taking that off begins anew, counts and all. */
bool stop_reason_deactivates(enum stop_reason r);

/* Why a run was chosen to give way; the names are those of Kueue's condition Preempted. */
enum preemption_reason {
	PREEMPTION_NONE,
#define PREEMPTION_REASON(tag, name, when) PREEMPTION_##tag,
#include "sluice/reasons.def"
};

const char *preemption_reason_name(enum preemption_reason r); /* "InClusterQueue" ... */

struct decision {
	enum decision_kind kind;
	struct uid uid;
	int32_t pods;		 /* DECISION_START: so many at once; fewer than asked for only with
				    min-parallelism. DECISION_SHRINK, DECISION_GROW: so many from
				    now on */
	int32_t had;		 /* DECISION_GROW: so many before */
	enum stop_reason reason; /* DECISION_STOP and DECISION_SHRINK only, as what follows */
	struct uid by;		 /* STOP_REASON_PREEMPTED: the Job that will have the quota */
	enum preemption_reason preemption;
	int64_t stop_ms; /* DECISION_NOTICE, with the reason it will have */
	/* The RunPolicy or Budget by which a window, a price or a Budget stops the run, or the
	 * AdvanceReservation that needs its quota; else NULL. Until the next call on this queue. */
	const char *policy;
	/* What queue_reclaim_job() was told, for STOP_REASON_IDLE_RECLAIMED; a sentence for
	 * DECISION_HOLD, DECISION_DELETE and STOP_REASON_WINDOW_QUOTA. Until the next call on this
	 * queue. */
	const char *why;
};

/* Decides until nothing more fits or out is full (then call again at once: *ret_next_ms is
 * now_ms). *ret_next_ms: when time alone can change the answer, INT64_MAX for never. */
size_t queue_decide(
	struct queue *q, int64_t now_ms, struct decision *out, size_t cap, int64_t *ret_next_ms);

/* Pauses starts: nothing starts, and nothing stops for another's sake. All other stops go on. */
void queue_pause_starts(struct queue *q, bool paused);

/* What a run costs, or cost: the bill of its segment. */
struct run_bill {
	bool priced;	  /* false: no PricePlan holds for it, and the rest means nothing */
	const char *plan; /* names, as long as the queue lives */
	const char *currency;
	int64_t cost;	       /* millionths, from its start to now_ms, rounded up once */
	int64_t per_hour;      /* at now_ms */
	int64_t expected_cost; /* of the whole run; -1: its duration is unknown */
	const char *detail;    /* JSON, [{"from":"RFC 3339","perHour":"0.1600"}, ...]: the prices it
				  is made of; valid until the next call of this */
};
/* Writes the bill of a run, from its confirmation to now_ms. queue_release_job() at the same now_ms
 * charges exactly this. False: the workload holds nothing, or was not confirmed. */
bool queue_job_bill(struct queue *q, const struct uid *uid, int64_t now_ms, struct run_bill *ret);

/* The amount of a bill alone, which is far less work: for sums over many runs. */
struct run_cost {
	bool priced;
	const char *currency;
	int64_t cost;
};
bool queue_job_cost(struct queue *q, const struct uid *uid, int64_t now_ms, struct run_cost *ret);
/* Says what the run would cost from from_ms on: for plays of the future. */
bool queue_job_cost_of(struct queue *q, const struct uid *uid, int64_t from_ms, int64_t duration_ms,
	struct run_cost *ret);

/* Writes what the workload holds now. Returns the number of lines, at most QUEUE_LINES_MAX. */
size_t queue_job_lines(
	const struct queue *q, const struct uid *uid, struct quota_line ret_lines[QUEUE_LINES_MAX]);

/* Where pods may run, as JSON: an object, an array, and spec.affinity.nodeAffinity (an object, or
 * nothing). */
struct directives_text {
	struct buf node_selector, tolerations, node_affinity;
};
/* Appends where the pods of a workload that holds quota shall run: the user's own directives and
 * those of the flavors it got, joined (queue/core/model/directives.h). False: their node affinity
 * cannot be joined, so the Job must not start. */
bool queue_job_directives(
	const struct queue *q, const struct uid *uid, struct directives_text *ret);
/* Appends the user's own directives alone. */
void queue_job_own_directives(
	const struct queue *q, const struct uid *uid, struct directives_text *ret);

/* What a start does about the node affinity of the pod template. */
enum affinity_edit {
	AFFINITY_KEEP,
	AFFINITY_MAKE,	 /* there is no spec.affinity: it is made, with this node affinity */
	AFFINITY_SET,	 /* the node affinity in spec.affinity becomes this one */
	AFFINITY_CLEAR,	 /* the node affinity in spec.affinity is taken off */
	AFFINITY_REMOVE, /* spec.affinity is taken off */
};

/* What a start changes in the labels, or the annotations, of the pod template. */
struct key_edit {
	const struct label *add; /* of flavors, ClusterQueue and LocalQueue; not its owner's keys */
	size_t nadd;
	const char *const *drop; /* of an earlier start, not among `add`; all are there */
	size_t ndrop;
};

/* What the start of a workload changes in the pod template beside its node selector and tolerations
 * (spec.podTemplate). Usually nothing. */
struct template_edit {
	struct key_edit labels, annotations;
	bool has_annotations; /* the map is there */
	enum affinity_edit affinity;
	bool adds_affinity; /* flavors add some: what its owner wrote must be kept */
};
/* Writes the edit. Its arrays are the arena's; what they point to is the queue's. */
void queue_job_template_edit(
	const struct queue *q, const struct uid *uid, struct arena *a, struct template_edit *ret);

/* A ceiling that the ledger must know. A row that no object has any more has amount 0. */
struct ceiling {
	const char *node, *flavor, *resource;
	int64_t amount;	    /* what the node may use; QUOTA_UNLIMITED: only those above limit it */
	const char *parent; /* the node above, "" when there is none */
	int64_t guaranteed; /* the part of it that the parent does not see (quota_row.local) */
};
/* Takes a ceiling that changed since it was last taken; false when there is none. */
bool queue_take_ceiling(struct queue *q, struct ceiling *ret);
/* Marks all ceilings as changed: a new leader writes them all. */
void queue_retake_ceilings(struct queue *q);

/* ---- Answers to people ----------------------------------------------------------------------- */

/* Why a workload waits. Several may apply: queue/explain/explain.c has the order in which the first is
 * chosen. */
enum wait_reason {
#define WAIT_REASON(tag, name, phrase, when, cure) WAIT_##tag,
#include "sluice/reasons.def"
};

const char *wait_reason_name(enum wait_reason r);
/* Returns the reason of that name; WAIT_NOT where there is none. */
enum wait_reason wait_reason_named(const char *name);
/* Names what a Job waits for, as a column of a list has it: "quota", "on hold". "" for WAIT_NOT. */
const char *wait_reason_phrase(enum wait_reason r);
/* Says what to do about it, for a Job called NAME; "" where nothing is to be done. */
const char *wait_reason_cure(enum wait_reason r);
/* Returns why the Job is on hold, as annotation sluice.dev/hold says; NULL: it says no more than
 * that it is, or the Job is not on hold. */
const char *queue_job_hold(const struct queue *q, const struct uid *uid);
/* Says whether a Job that waits for this reason starts only after a person has changed it, or an
 * object that it needs. No start of it can be told. */
bool wait_reason_needs_change(enum wait_reason r);
/* Says whether a Job that waits for this reason could not start however many others made way. */
bool wait_reason_never_starts(enum wait_reason r);

struct explanation {
	enum wait_reason reason;
	const char *localqueue, *clusterqueue; /* "" when unknown */
	int32_t priority;		       /* the one that counts */
	int32_t claimed_priority; /* its class's: more where its ClusterQueue caps it */
	int64_t queued_ms;	  /* time of queueing */
	bool in_line;		  /* it has a place in its ClusterQueue's order */
	size_t rank;		  /* Jobs before it in that order; 0 where in_line is false */
	size_t ahead;		  /* Jobs before it that compete with it: explain/ahead.h */
	int64_t not_before_ms;	  /* when time alone will let it go on: back-off, the next opening,
				     the cheapest start, the next period; 0: not known */
	int64_t expected_ms;	  /* 0: unknown */
	enum duration_source expected_from;
	int64_t deadline_ms; /* 0: none */
	bool unreachable;    /* DeadlineUnreachable: it cannot end by then any more */
	int64_t stop_ms;     /* it runs: when a window will stop it; 0: none will */
	char sentence[1000]; /* plain words with numbers: "needs 12 cpu in flavor spot; 3 Jobs
				are ahead of it" */
};

/* Where a Job stands, in the words of struct explanation. How many are ahead of it costs more. */
struct job_place {
	const char *localqueue, *clusterqueue;
	bool holds_quota, in_line;
	size_t rank; /* struct explanation, rank */
	int64_t queued_ms;
};

/* Returns the start that a Job with sluice.dev/start: Cheapest has booked and waits for; 0: none,
 * or it would miss its deadline. */
int64_t queue_booked_start_ms(const struct queue *q, const struct uid *uid);

/* Tells where a Job stands, for lists: at a tenth of the cost of an explanation. False when the Job
 * is unknown. */
bool queue_place_of(const struct queue *q, const struct uid *uid, struct job_place *ret);

/* Explains why a Job waits, or what its run will meet. False when the Job is unknown. */
bool queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret);
size_t queue_count_deferred(const struct queue *q);
/* Explain why a deferred Job waits; false when the Job is not deferred. */
bool queue_explain_deferred(
	const struct queue *q, const char *ns, const char *name, struct explanation *ret);
bool queue_explain_deferred_uid(
	const struct queue *q, const struct uid *uid, struct explanation *ret);
/* Calls each() for all deferred Jobs, in no order. */
void queue_each_deferred(const struct queue *q,
	void (*each)(const struct deferred_job *d, const struct job_place *place, void *ctx),
	void *ctx);

/* What a play of the future (forecast/play.h) has to know of a Job beside what the queue decides.
 * Strings live as long as the Job. */
struct job_outline {
	struct uid uid;
	const char *ns, *name;
	const char *localqueue, *clusterqueue; /* "" when unknown */
	const char *family;		       /* struct job, family; "" */
	const char *user;		       /* who submitted it; "" when not known */
	int32_t priority;		       /* the one that counts */
	bool holds_quota, confirmed;
	bool ends;    /* it holds quota until its pods are gone: it was stopped, or has finished */
	bool returns; /* ends, and was stopped by a decision: then it waits again */
	int64_t since_ms; /* confirmed: when this run began */
	int64_t grace_ms; /* holds_quota: so long its pods may take to end */
	int32_t pods;	  /* that it holds quota for; while it waits: that it asks for */
	int32_t full_pods; /* with so many its work is done soonest; 0: with any number it takes as long */
	int64_t expected_ms; /* 0: unknown */
	enum duration_source expected_from;
};

/* Calls each() for every Job that is kept in full, in no order. Facts must not be told inside. */
void queue_each_job(
	const struct queue *q, void (*each)(const struct job_outline *o, void *ctx), void *ctx);
bool queue_outline_job(const struct queue *q, const struct uid *uid, struct job_outline *ret);

/* Returns the number of the last edit: of a Job, of a LocalQueue, or of an object of an admin by
 * which a Cohort tree decides. A forecast stands as long as queue_job_edited() of its Job is at
 * most the number that this returned when it was begun. Starts, ends and new Jobs are no edits. */
uint64_t queue_edits(const struct queue *q);
/* Returns the number of the last edit that concerns the Job; UINT64_MAX: it is unknown. */
uint64_t queue_job_edited(const struct queue *q, const struct uid *uid);

/* Returns a number for the ClusterQueue's Cohort tree, whose members compete for the same quota; 0:
 * no such ClusterQueue is known. */
uint64_t queue_tree_of(const struct queue *q, const char *clusterqueue);

/* An object of an admin by which it is decided what starts in a Cohort tree. */
struct admin_object {
	const char *kind, *name;
	uint64_t edition; /* another one after each change of the spec in force */
};
/* Calls each() for all that exist, with their tree, in a fixed order. An object that several queues
 * name comes once for each. LocalQueues are left out: they are of a namespace. */
void queue_each_admin_object(const struct queue *q,
	void (*each)(uint64_t tree, const struct admin_object *o, void *ctx), void *ctx);

/* Counts the nodes that came and went since the queue was made. */
struct node_traffic queue_node_traffic(const struct queue *q);

/* Writes what a workload asks for: each resource of all its pods together, sorted by name. Returns
 * how many, at most QUEUE_LINES_MAX; 0 also when it is unknown. Names live as long as the
 * workload. */
size_t queue_job_asks(const struct queue *q, const struct uid *uid, int32_t *ret_pods,
	struct resource ret[QUEUE_LINES_MAX]);

#define AFTER_VIEW_JOBS_MAX 20

/* An item of sluice.dev/after of a Job. Texts live until the next fact is told. */
struct after_view {
	const char *text;  /* as written: "afterok:prep" */
	bool holds, never; /* never: not before its name is used again */
	/* The Jobs of its namespace that keep it from holding. One that is named may not be there
	 * yet. */
	const char *job[AFTER_VIEW_JOBS_MAX];
	size_t njobs;
	size_t more; /* how many others do, beyond those listed */
};

/* Views an item by index, in the order written; false past the last, and where the Job is
 * unknown. */
bool queue_view_after(
	const struct queue *q, const struct uid *uid, size_t index, struct after_view *ret);

struct usage_view {
	const char *flavor, *resource;
	int64_t nominal; /* as it is now: by windows, and of what is lent a part of that */
	int64_t borrowing_limit, lending_limit; /* as they are now; QUOTA_UNLIMITED: none */
	int64_t subtree;  /* nominal, and in a Cohort all that its members bring with them */
	int64_t reserved; /* by all workloads that hold it; in a Cohort what its members pass up */
	int64_t used;	  /* reserved by workloads that run; of a ClusterQueue only */
	/* What of reserved, and of used, is beyond subtree. 0 without a Cohort to borrow from,
	 * though more may be held after nominal was lowered. */
	int64_t borrowed, used_borrowed;
};

/* Whether the windows of a queue let its Jobs start now. */
struct window_view {
	bool open;
	int64_t until_ms; /* when that changes next; CALENDAR_NEVER: not within a year */
};

struct clusterqueue_view {
	const char *name;
	bool exists;	    /* else Jobs hold quota in it or wait for it, but it is not there */
	int64_t generation; /* of the spec in force */
	bool active;
	const char *reason;  /* Ready, Stopped, FlavorNotFound, IdleFlavorMisplaced, Terminating,
				CohortCycle, InvalidSpec, DoesNotExist */
	char message[1000];  /* Kueue's words: "Can admit new workloads" ... */
	const char *invalid; /* NULL, or the sentence about a newer spec that was refused */
	enum queueing_strategy strategy;
	bool grows;	       /* growByDefault */
	bool has_max_priority; /* priorities of its Jobs count up to: */
	int32_t max_priority;
	const char *cohort;
	struct window_view window;	     /* of all RunPolicies that bind it */
	size_t pending, reserving, admitted; /* reserving includes admitted */
	size_t pending_active; /* of pending: might start now; the others are held, backing off, in
				  a stopped queue or misconfigured */
	uint64_t started_total;
	size_t no_node_suits;	  /* of pending: WAIT_NEVER_FITS, and nothing else keeps them */
	uint64_t preempted_total; /* Jobs of it stopped for others */
	size_t stopping;	  /* of reserving: are being stopped now */
	int64_t stopping_ms;	  /* the longest that their pods may take; 0: not known */
	int64_t weighted_share;	  /* as Kueue's status shows it; INT64_MAX: borrows, weight 0 */
	const struct usage_view *usage; /* valid until the next call on this queue */
	size_t nusage;
};

struct cohort_view {
	const char *name;
	bool exists;	    /* there is an object; else it is only named */
	int64_t generation; /* of the spec in force */
	const char *parent; /* "" when none */
	bool active;
	const char *reason; /* Ready, CohortCycle, InvalidSpec */
	char message[512];
	const char *invalid;
	int64_t weighted_share;
	const struct usage_view *usage; /* valid until the next call on this queue */
	size_t nusage;
};

struct localqueue_view {
	const char *ns, *name, *clusterqueue; /* "": no valid spec of it was ever seen */
	bool let_in;	    /* the ClusterQueue's namespaceSelector takes its namespace */
	int64_t generation; /* of the spec in force */
	bool active;
	const char *reason;
	char message[512];
	const char *invalid;	   /* as a ClusterQueue's */
	struct window_view window; /* of its own RunPolicies and its ClusterQueue's */
	size_t pending, reserving, admitted;
	double fair_usage; /* decayed usage; 0 unless its ClusterQueue is ordered by it */
	const struct usage_view *usage; /* reserved and used only; valid until the next call */
	size_t nusage;
};

struct condition_view {
	bool ok;
	const char *reason; /* "Valid", "CalendarNotFound", ... */
	char message[512];
};

struct calendar_view {
	const char *name;
	int64_t generation;
	struct condition_view valid; /* Valid, InvalidSpec, InvalidZone, NeverOpens */
	struct calendar_state state; /* at the now_ms of the last decision */
	const struct zone *zone;     /* NULL when invalid */
	int64_t next_ms[5];	     /* the next openings and closings; CALENDAR_NEVER */
};

struct runpolicy_view {
	const char *name, *calendar;
	int64_t generation;
	struct condition_view active; /* Active, CalendarNotFound, CalendarInvalid, NoQueues,
					 InvalidSpec */
	bool open;
	int64_t until_ms;	    /* CALENDAR_NEVER */
	size_t queues, localqueues; /* how many it binds */
	size_t exempt_runs, runs;   /* those that it will not stop, of the running Jobs it binds */
	uint64_t stopped_total;
};

struct priceplan_view {
	const char *name, *currency;
	int64_t generation;
	struct condition_view active; /* Active, CalendarNotFound, SeriesStale, SeriesMissing,
					 CurrencyMismatch, Overshadowed, InvalidSpec */
	int64_t factor;		      /* now */
	const char *rate;	      /* where factor is from: a Calendar, "series", or "base" */
	int64_t until_ms;	      /* when factor changes next */
	size_t queues;		      /* for which the plan holds */
};

struct budget_view {
	const char *name, *clusterqueue, *localqueue_ns, *localqueue, *currency;
	int64_t generation;
	struct condition_view active; /* Active, Exhausted, QueueNotFound, CurrencyMismatch,
					 InvalidZone, InvalidSpec */
	int64_t amount, spent, reserved, remaining; /* of this period; remaining may be below 0 */
	int64_t accrued;       /* costs so far of what runs, which reserved includes */
	const char *time_zone; /* whose midnights begin periods */
	int64_t period_from_ms, period_to_ms;
};

enum advance_state {
	ADVANCE_REFUSED,   /* not accepted, and judged again once a minute until it is past */
	ADVANCE_SCHEDULED, /* its time, or its next window, is to come */
	ADVANCE_ACTIVE,
	ADVANCE_ENDED,
};

/* A row of what is reserved in the window that is open, or comes next. */
struct advance_use {
	const char *clusterqueue, *flavor, *resource;
	int64_t amount;	 /* as reserved */
	int64_t left;	 /* still kept: less than amount where some was given back (releaseAfter) */
	int64_t offered; /* to be left: less than `left` while its status does not say so yet */
	int64_t used;	 /* of what is left, held by Jobs that may use it */
};

struct advance_reservation_view {
	const char *name, *clusterqueue;
	int64_t generation;
	bool undecided; /* no decision was made since it was set: what follows is from before */
	enum advance_state state;
	/* Accepted, NotJudgedYet, InThePast, TooFarAhead, NotFree, TooMuch, FlavorNotFound,
	 * ClusterQueueNotFound, CalendarNotFound, NeverOpens, TooManyWindows, NobodyMayUseIt,
	 * PlanFull, InvalidSpec. The message of NotFree says what would have to move, and from when
	 * on it could be kept. */
	struct condition_view accepted;
	/* Whether one that was accepted has its quota, or will have it: Kept, QuotaLowered,
	 * PodsDidNotEnd, ClusterQueueNotFound, FlavorNotFound, CalendarNotFound, Overlaps. */
	struct condition_view kept;
	int64_t from_ms, until_ms; /* of the window that is open or next; 0: there is none */
	int64_t possible_from_ms; /* NotFree: from then on it could be kept for as long; 0: not within a year */
	bool has_cost; /* it has a PricePlan: */
	int64_t cost;  /* of that window, all of it used; millionths of: */
	const char *currency;
	int64_t left_from_ms; /* the start of a window of which quota was given back, or is offered; 0: none */
	const struct advance_use *use; /* valid until the next call on this queue */
	size_t nuse;
	uint64_t stopped_total; /* runs that were stopped for it */
};

/* View an object by index, in name order; false past the last. */
bool queue_view_advance_reservation(
	const struct queue *q, size_t index, struct advance_reservation_view *ret);

bool queue_view_calendar(const struct queue *q, size_t index, struct calendar_view *ret);
bool queue_view_runpolicy(const struct queue *q, size_t index, struct runpolicy_view *ret);
bool queue_view_priceplan(const struct queue *q, size_t index, struct priceplan_view *ret);
bool queue_view_budget(const struct queue *q, size_t index, struct budget_view *ret);

/* The kinds of objects of which queue_view_effect() says what has no effect. */
enum effect_kind {
	EFFECT_CLUSTERQUEUE,
	EFFECT_LOCALQUEUE, /* with its namespace */
	EFFECT_COHORT,
	EFFECT_RUNPOLICY,
	EFFECT_PRICEPLAN,
	EFFECT_BUDGET,
};
/* Says what of the spec in force has no effect: names that find nothing, settings that nothing
 * heeds. Reasons: Effective, NameNotFound, WithoutEffect. Worked out anew each time, from what
 * admins describe and the nodes alone. An object that is not there, or is being deleted, has no
 * fault. */
void queue_view_effect(const struct queue *q, enum effect_kind kind, const char *ns,
	const char *name, struct condition_view *ret);

/* Views a ClusterQueue that exists, by index, in name order; false past the last. */
bool queue_view_clusterqueue(const struct queue *q, size_t index, struct clusterqueue_view *ret);
/* Views a ClusterQueue: those that exist, then those that do not (deleted by force, or never made)
 * but have Jobs, by name, too. From index 0 on, with no fact told meanwhile. */
bool queue_view_any_clusterqueue(
	const struct queue *q, size_t index, struct clusterqueue_view *ret);
/* Views the ClusterQueue of that name, which exists or not. False: nothing is known of it. */
bool queue_view_clusterqueue_named(
	const struct queue *q, const char *name, struct clusterqueue_view *ret);
/* Counts Jobs that wait for a LocalQueue that does not exist, or whose ClusterQueue does not. */
size_t queue_count_without_queue(const struct queue *q);

/* Say what still needs an object that is being deleted ("ClusterQueues batch, urgent name it in
 * spec.resourceGroups"); false when nothing does. The sentence names queues, never a Job. */
#define QUEUE_USERS_SIZE 512
bool queue_clusterqueue_users(
	const struct queue *q, const char *name, char ret_sentence[QUEUE_USERS_SIZE]);
bool queue_flavor_users(
	const struct queue *q, const char *name, char ret_sentence[QUEUE_USERS_SIZE]);
/* Names what can make nodes of a flavor, although its spec.nodes is absent: "NodePool gpu of
 * Karpenter", "cluster-autoscaler". NULL: nothing that is seen. Lives until the next fact is
 * told. */
const char *queue_flavor_maker(const struct queue *q, const char *name);
/* Counts the Jobs waiting in a ClusterQueue that the ResourceQuotas of their namespace would refuse
 * though nothing were used. By index, as queue_view_clusterqueue(). Not in the view, for it walks
 * all groups. */
bool queue_count_beyond_quota(
	const struct queue *q, size_t index, const char **ret_name, size_t *ret_jobs);
bool queue_view_cohort(const struct queue *q, size_t index, struct cohort_view *ret);
bool queue_view_localqueue(const struct queue *q, size_t index, struct localqueue_view *ret);
/* Returns the index of the first LocalQueue of the namespace, or of those behind it: all of one
 * namespace stand together. */
size_t queue_first_localqueue(const struct queue *q, const char *ns);

/* Tells of each namespace that has a LocalQueue, in name order, and whether the user has submitted
 * Jobs there that are not over. */
typedef void queue_namespace_fn(const char *ns, bool has_jobs, void *ctx);
void queue_each_namespace(
	const struct queue *q, const char *user, queue_namespace_fn *fn, void *ctx);

/* A priority class that Jobs may name. */
struct class_view {
	const char *name;
	enum priority_kind kind;
	int32_t value;
	bool global_default; /* PRIORITY_POD: of Jobs that name none */
};
/* Views such classes by index: those of Sluice, then those of Kubernetes, the highest first. From
 * index 0 on, with no fact told meanwhile. */
bool queue_view_class(const struct queue *q, size_t index, struct class_view *ret);

/* What is known of the pods that are bound to nodes (queue_wants_pods()). */
enum followed_pods {
	PODS_UNWANTED, /* nothing asks for them */
	PODS_AWAITED,  /* not all have been told yet */
	PODS_FOLLOWED, /* all that the caller may read */
};
enum followed_pods queue_followed_pods(const struct queue *q);

/* One resource of a node. Of its bound pods, and of those that Jobs of the queue have made. */
struct node_amount_view {
	const char *resource;
	int64_t allocatable, requested, of_jobs;
};

struct node_view {
	const char *name;
	bool cordoned;
	const struct taint *taints;
	size_t ntaints;
	/* The flavors whose nodeLabels it has: those of idle resources last, before them those with
	 * the most labels first. */
	const char *const *flavors;
	size_t nflavors;
	const struct node_amount_view *amounts;
	size_t namounts, pods; /* bound pods that were told */
};

/* Tells of each node, in name order. The view is for the call. */
typedef void queue_node_fn(const struct node_view *v, void *ctx);
void queue_each_node(const struct queue *q, queue_node_fn *fn, void *ctx);

/* Returns a number that changes whenever a view may have: a reporter keeps the last one it
 * wrote. */
uint64_t queue_version(const struct queue *q);

size_t queue_waiting(const struct queue *q);	  /* workloads that wait */
size_t queue_memory_bytes(const struct queue *q); /* what all workloads and shapes take, counted */

#endif
