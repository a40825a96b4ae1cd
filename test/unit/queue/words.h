/*
 * Facts in words: one line of a scenario becomes one call on the queue.
 *
 * A line is words between blanks; "..." keeps blanks inside a word. The first word says what it is:
 *
 *   flavor NAME [labels K=V,..] [taints K[=V]:EFFECT,..] [tolerations K[=V][:EFFECT],..]
 *   no flavor NAME ..                no queue or cohort line makes it (see there)
 *   namespace NAME [K=V ..]
 *   class NAME VALUE                 a WorkloadPriorityClass
 *   podclass NAME VALUE [default] [never-preempts]
 *                                    a PriorityClass
 *   config [fair] [final-share-only|initial-share-only] [victims-as-kueue]
 *                                    before the first fact
 *   cohort NAME [parent=NAME] [weight=N] FLAVOR RESOURCE=QUOTA .. FLAVOR ..
 *   queue NAME [for=NS/LOCALQUEUE,..] [strict|backfill[=RESERVATIONS]]
 *              [stop=Hold|HoldAndDrain] [deleting] [cohort=NAME] [weight=N]
 *              [cap=MAX-PRIORITY] [gaps-below=PRIORITY|none] [selector="TERM"] [noselector]
 *              [by-usage] [within=POLICY]
 *              [reclaim=POLICY] [borrow-preempts[=MAX-PRIORITY]] [min-run=SECONDS]
 *              [grow] [grow-interval=SECONDS]
 *              [next-when-borrowing] [stop-when-preempting] [prefer-preemption] FLAVOR RESOURCE=QUOTA .. FLAVOR ..
 *                                    a ClusterQueue; flavors with the same resources, one after
 *                                    the other, are one resource group. A QUOTA is
 *                                    NOMINAL[/BORROWING-LIMIT[/LENDING-LIMIT]], "-" for no limit.
 *                                    A flavor that no line above tells of is made, without labels.
 *                                    for=: its LocalQueues, as "local NS/NAME -> QUEUE" makes them
 *   local NS/NAME -> QUEUE [stop=..] [deleting] [max=N] [running=N]
 *                                    spec.maxWaiting and spec.maxRunning; none: no limit.
 *                                    spec.limits.perUser: words_limits.h
 *   job NS/NAME [queue=NAME] [prio=N] [class=NAME] [podclass=NAME] [pods=N] [min=N] [grow] [nogrow]
 *               [completions=N] [work-queue] [succeeded=N] [at=SECONDS] [version=N] [max-run=S] [expected=S]
 *               [user=NAME] [nice=N] [runtime=CLASS] [hold] [nohold] [deleting] [invalid="SENTENCE"] [valid]
 *               [select=K:V] [tolerate=K[=V][:EFFECT]] [affinity="TERM | TERM"] RESOURCE=QUANTITY ..
 *                                    prio=N is a class of that value; resources are per pod;
 *                                    owner-pods=N: pods are those of a run with fewer
 *   edit NS/NAME ..                  the same Job, with these words added
 *   drop flavor|queue|cohort|class|podclass|namespace|local|job NAME
 *   reject queue|flavor NAME "SENTENCE"
 *   adopt NS/NAME [unread] NODE FLAVOR RESOURCE=QUANTITY .. [NODE ..]
 *                                    unread: what is known of it is older; `edit` reads it
 *   confirm NS/NAME | release NS/NAME [until=SECONDS] | shrink NS/NAME pods=N | grew NS/NAME
 *   keep NS/NAME                     it cannot be told to go on with fewer pods
 *   (Jobs that others wait for: words_after.h;
 *   limits, run, usage: words_limits.h; time and money: words_money.h;
 *   limit.RESOURCE=QUANTITY is a container's limit;
 *   attempt=N story-at=SECONDS is what its story says, and when it was written;
 *   requeues=N ran=S evicted=S paid=S are what earlier attempts left behind)
 *   (idle resources: words_idle.h; nodes: words_cluster.h)
 *   ending NS/NAME                   it was told to stop before this queue was made
 *   block NS/NAME | unblock NS/NAME  the gate sees something in its way
 *   counted NS/NAME PRIORITY   its story tells what counted last
 *   at SECONDS                       sets the time
 *   starts pause | starts go         the gate has not settled yet
 *   statuses awaited | statuses unread   somebody writes the statuses, and they are told again, or nobody does
 *   calendar .., policy .., at LOCAL-TIME: words_time.h; reserve ..: words_reserve.h; label=K:V is a label of the Job,
 *   suspensions=N what earlier attempts left behind, stopping-at=SECONDS our notice of a stop
 *
 * A TERM is requirements joined by ";": "KEY in V,V", "KEY notin V,V", "KEY exists",
 * "KEY notexists", "KEY gt N", "KEY lt N".
 *
 * Used by the scenario runner only. Everything a line points to lives as long as its words do.
 */
#ifndef SLUICE_TEST_QUEUE_WORDS_H
#define SLUICE_TEST_QUEUE_WORDS_H

#include "sluice/queue.h"

#define WORDS_MAX 64
#define WORDS_FLAVORS_MAX 32
#define WORDS_JOBS_MAX 64
#define WORDS_JOB_WORDS_MAX 64

struct words_job {
	char *ns, *name; /* of "ns/name" */
	struct uid uid;
	size_t n;
	char *word[WORDS_JOB_WORDS_MAX];
};

#define WORDS_PREDECESSORS_MAX 64

struct words_predecessor { /* what API server or ledger know: words_after.h */
	char *ns_name, *failure;
	struct predecessor p;
	struct label label[4];
	size_t nlabels;
	bool forgotten;
};

struct words {
	struct queue *q;
	int64_t now_ms, generation;
	size_t nflavors; /* of which a line has told, or which one has made */
	char *flavor[WORDS_FLAVORS_MAX];
	const struct zone *zone; /* in which times are written; NULL: in seconds */
	size_t njobs;
	struct words_job job[WORDS_JOBS_MAX];
	size_t npredecessors, nasked;
	struct words_predecessor predecessor[WORDS_PREDECESSORS_MAX];
	bool silent;	    /* questions of the queue are not answered */
	struct err refused; /* of the last fact; "" when it was taken */
	char wrong[512];    /* why a line could not be read; "" when it could */
};

void words_init(struct words *w);
void words_done(struct words *w);

/* Cuts a line into words, in place. Returns how many. */
size_t words_cut(char *line, char *word[WORDS_MAX]);

/* Tells the queue one fact; false (and w->wrong) when the line makes no sense. */
bool words_tell(struct words *w, char **word, size_t n);

struct words_job *words_find_job(struct words *w, const char *ns_name);
/* Tells all Jobs again as they were told: what they are judged by has changed. */
void words_tell_jobs_again(struct words *w);
/* Tells deferred Jobs for which there is a place now. */
void words_fetch_deferred(struct words *w);

const struct words_job *words_job_of(const struct words *w, const struct uid *uid);

#endif
