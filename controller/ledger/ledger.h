/*
 * The ledger, as its callers see it: what a batch is and what the answers mean. No libpq
 * here; pg.h is the driver, and the simulation has a model that obeys the same page.
 *
 * Acquire in the ledger before the cluster; release in the ledger after the cluster. At every
 * instant ledger use >= real use. That sentence is the safety proof.
 *
 *   RESERVE   quota is held (pending) for one attempt of one Job, before it is started
 *   ADOPT     quota is held for an attempt that runs already, without a RESERVE in the ledger. It is
 *             never refused: what runs is used, whatever the ceiling. Its bill is estimated
 *   COMMIT    the start is seen: pending becomes posted, the segment (the bill) begins
 *   STOP      the Job is told to stop or has ended, pods are left: posted becomes releasing
 *   SHRINK    fewer pods need room: the reservation is lowered to the lines given
 *   GROW      a run is to have more pods: the reservation is raised to the lines given, if there is
 *             room as for a RESERVE. Durable before the PATCH that asks for the pods. Never refused
 *             to a run that has the pods already, where the ledger lost the GROW
 *   RELEASE   no pod is left: the reservation is returned, the segment ends
 *   VOID      the start was called off and can no longer land: the reservation is returned
 *   CEILING   what a balance row may reach, and where it stands in the quota tree; lowering it
 *             below use, or moving a node below another, only stops growth
 *
 * The quota tree. A Job holds lines at its ClusterQueue, and nowhere else. The use of a Cohort
 * follows from them: the use of a node is what is held at it, plus what each of its children uses
 * beyond the part that is guaranteed to the child (queue/core/model/quota.h). A RESERVE needs room
 * at every node that it makes grow. The CEILINGs of a tree may come in any order: a parent that no
 * operation has named yet may use nothing. While parents go round in a circle, on the way from one
 * tree to another, no row on the circle counts at its parent.
 *
 * Operations on reservations are keyed by (cell, job uid, attempt, kind, seq) and each key takes
 * effect once (a CEILING just sets what it says): a batch whose answer was lost is sent again as it
 * was. A run may shrink, grow, and shrink to the same size again: so SHRINK and GROW are numbered,
 * in one row of numbers for each attempt, which a new leader reads back and goes on with. The ledger
 * itself returns what a reservation holds: COMMIT, STOP, RELEASE and VOID carry no lines. An
 * operation on a reservation that is closed or was never opened changes nothing and is SPENT.
 * RESERVE and ADOPT share a key: an attempt is reserved once.
 *
 * Every statement checks the epoch of the lease inside the statement, so a deposed leader writes
 * nothing. Batches are numbered, in the row of the lease. A leader whose last acknowledged batch is
 * not in the ledger any more (Postgres failed over to a standby that lacked it, or was restored) is
 * deposed as well. The next leader adopts what it started since.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_LEDGER_H
#define SLUICE_CONTROLLER_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "sluice/queue.h"

enum ledger_kind {
	LEDGER_RESERVE,
	LEDGER_ADOPT,
	LEDGER_COMMIT,
	LEDGER_STOP,
	LEDGER_SHRINK,
	LEDGER_GROW,
	LEDGER_RELEASE,
	LEDGER_VOID,
	LEDGER_CEILING,
};

const char *ledger_kind_name(enum ledger_kind k); /* "RESERVE" ... */
/* Tells whether an attempt begins to hold quota with it. */
static inline bool ledger_reserves(enum ledger_kind k)
{
	return k == LEDGER_RESERVE || k == LEDGER_ADOPT;
}

/* Tells whether it changes the number of pods that a reservation is for. */
static inline bool ledger_changes_size(enum ledger_kind k)
{
	return k == LEDGER_SHRINK || k == LEDGER_GROW;
}

/* What became of a Job, as far as a RELEASE knows. */
enum ledger_job_outcome {
	LEDGER_JOB_GOES_ON, /* stopped, or gone and its end was not seen */
	LEDGER_JOB_SUCCEEDED,
	LEDGER_JOB_FAILED,  /* or cut short: a stop made it Complete before its work was done */
	LEDGER_JOB_DELETED, /* before it had ended */
};

const char *ledger_outcome_name(enum ledger_job_outcome o); /* "Succeeded"; NULL: it goes on */
enum ledger_job_outcome ledger_outcome_named(const char *name);

struct ledger_op {
	enum ledger_kind kind;
	struct uid uid;
	int32_t attempt; /* from 1 */
	int32_t seq;	 /* SHRINK, GROW: which change of its size, from 1. Else 0 */
	int64_t at_ms;	 /* wall clock of the leader, for people and bills, never for decisions */

	/* RESERVE, ADOPT: the Job and its queues. Others may leave them NULL. */
	const char *ns, *name, *clusterqueue, *localqueue;

	/* RESERVE, ADOPT, for the bill: the Job's family, or its name; some of its labels as a JSON
	 * object, NULL: none. */
	const char *owner, *labels;
	const char *submitted_by; /* RESERVE, ADOPT: the user's name; NULL: not known */
	int64_t created_ms;	  /* of the Job; 0: not known */
	int64_t queued_ms;	  /* when the Job got its queue label, if that was later; else 0 */

	enum ledger_job_outcome outcome; /* RELEASE */

	bool adopts; /* GROW: the pods are there already, so there is room */

	/* RELEASE: when the run ended is not known, since the ledger lost a part of its past. */
	bool estimated;

	/* RELEASE: the bill, when the run has a price. cost is in millionths of the currency; price
	 * is JSON, what an hour cost and when, or NULL. */
	bool priced;
	const char *plan, *currency, *price;
	int64_t cost;

	/* RESERVE, ADOPT, SHRINK, GROW: what is held from now on. CEILING: exactly one line, the
	 * ceiling. */
	const struct quota_line *lines;
	size_t nlines;

	/* CEILING: the node above ("" or NULL: none), and the use that does not count there. */
	const char *parent;
	int64_t guaranteed;

	/* STOP, RELEASE, VOID: every stop has a reason, an actor, a time and the work it lost. */
	const char *reason; /* "Finished", "Failed", "ClusterQueueStopped", ... */
	const char *actor;  /* the controller's identity, or "user" */
	int64_t lost_ms;    /* pod-milliseconds of work thrown away */
	const char
		*preemptor; /* "namespace/name" of the Job that it was preempted for; NULL: none */
};

struct ledger_batch {
	int64_t epoch;
	const struct ledger_op *ops; /* in order; two of the same key never meet in one batch */
	size_t nops;
};

enum ledger_verdict {
	LEDGER_APPLIED,	 /* took effect now */
	LEDGER_REPEATED, /* had taken effect before, and its reservation is still open */
	LEDGER_SPENT, /* nothing to do: the reservation is closed (RESERVE, ADOPT: this attempt was
			 used up) */
	LEDGER_REFUSED, /* RESERVE, GROW: a ceiling would be exceeded, here or further up. GROW: or the
			   reservation is pending or releasing */
};

struct ledger_result {
	enum ledger_verdict verdict;
	int32_t next_attempt; /* RESERVE, ADOPT, SPENT: the first attempt that was never used */
};

/* How a request went as a whole. */
enum ledger_outcome {
	LEDGER_DONE,   /* durable; the results say what each operation did */
	LEDGER_FENCED, /* the lease has another epoch: nothing was written, and never will be */
	LEDGER_LOST,   /* the connection broke: all, a first part or none of it may have landed */
};

/* The lease: one leader per cell. Time is the database's alone. */
struct ledger_lease {
	bool held;     /* by the asker, now */
	int64_t epoch; /* the current epoch; grows with each change of holder */
	/* Taken just now, after the ledger has moved to another server, or back in time, since a
	 * leader had last settled (its timeline says so): the last answers to an earlier holder may
	 * be lost. */
	bool moved;
	uint64_t story_key[2]; /* what stories are signed with, if held */
	char holder[128];      /* "": there was never one */
	int64_t left_ms;       /* until it ends unless renewed; below 0: since it has ended */
};

/* The state of an open reservation. */
enum ledger_state {
	LEDGER_PENDING,
	LEDGER_POSTED,
	LEDGER_RELEASING,
};

const char *ledger_state_name(enum ledger_state s); /* "pending" ... */
enum ledger_state ledger_state_named(const char *name);

struct ledger_reservation {
	struct uid uid;
	int32_t attempt;
	enum ledger_state state;
	const char *ns, *name, *clusterqueue, *localqueue; /* localqueue: "" when unknown */
	const char *owner;				   /* as RESERVE had it; "" when unknown */
	const char *submitted_by; /* as RESERVE had it; NULL when unknown */
	int64_t reserved_ms;
	int64_t started_ms;		/* 0 while pending */
	bool estimated;			/* its bill will be, since an ADOPT made it */
	int32_t sizes;			/* the seq of its last SHRINK or GROW; 0: there was none */
	const struct quota_line *lines; /* sorted by node, flavor, resource */
	size_t nlines;
};

/* Where a page of runs ends, and the next begins: an attempt, in the order in which they ended. */
struct ledger_mark {
	int64_t ended_us; /* since 2000, as Postgres counts */
	struct uid uid;
	int32_t attempt;
};

/* What an attempt that has ended held for a while, as read back at a takeover: what fair share over
 * time remembers. An attempt whose size changed is several runs, which add up, all from its start
 * on. One is what it held at its end, until its end. Each SHRINK is one with what it gave back, and
 * each GROW with what it took, below 0, until that change. */
struct ledger_run {
	const char *ns, *localqueue, *clusterqueue; /* localqueue: "" when unknown */
	const struct quota_line *lines;
	size_t nlines;
	int64_t from_ms, to_ms;
	struct ledger_mark mark; /* of its attempt: the next page begins behind the last one */
};

/* What was spent on the runs of a LocalQueue that began in a quarter of an hour and have ended. */
struct ledger_spent {
	const char *clusterqueue, *ns, *localqueue, *currency;
	int64_t started_ms; /* the beginning of the quarter */
	int64_t cost;	    /* millionths */
};

/* A run that ended well. */
struct ledger_duration {
	const char *ns, *family; /* of the Job; family "": it has none */
	int64_t ran_ms;
	const char *localqueue, *clusterqueue;
	const char *user; /* who submitted the Job; "": not known */
};

#define LEDGER_NAMES_MAX 200 /* in a question about Jobs by their names */
struct ledger_job_name {
	const char *ns, *name;
};

/* What became of a Job of a name, by its attempts that ran, for Jobs that wait for it. */
struct ledger_outcome_row {
	size_t name; /* the index of the name in the question */
	struct uid uid;
	enum ledger_job_outcome outcome;
	int64_t ended_ms;   /* when its last run ended; 0: that goes on */
	int64_t created_ms; /* 0: not known, an earlier program wrote it */
	bool held;	    /* the Job still holds quota: it runs, or its pods are going */
};

/* Questions of people about past and present runs. */
enum past_kind {
	PAST_COST,   /* what runs cost that started at from_ms or later, before to_ms */
	PAST_REPORT, /* how long these waited, how they ended, what they held */
	PAST_RUNS,   /* each run that went on in that time, with its moments */
	PAST_USAGE,  /* what the runs of a ClusterQueue held, in equal steps of that time */
	PAST_SPANS,  /* the runs that went on in that time, alike ones folded */
};

enum cost_by {
	COST_BY_QUEUE, /* the ClusterQueue */
	COST_BY_NAMESPACE,
	COST_BY_OWNER, /* "namespace/owner", see ledger_op */
	COST_BY_USER,  /* the submitter; NULL: not known */
	COST_BY_LABEL,
};

struct past_question {
	enum cost_by by;   /* PAST_COST, PAST_REPORT */
	const char *label; /* COST_BY_LABEL: the label's key */
	int64_t from_ms, to_ms;
	const char *ns;		  /* Jobs of this namespace; NULL: all */
	const char *job;	  /* PAST_RUNS: Jobs of this name; NULL: all */
	const char *submitter;	  /* PAST_RUNS: Jobs of this user; NULL: all */
	const char *clusterqueue; /* PAST_USAGE; PAST_SPANS, NULL: all */
	int64_t step_ms; /* PAST_USAGE: how long a step is; PAST_SPANS: starts as far apart are folded */
	enum past_kind kind;
};

/* A row of the answer to PAST_REPORT, PAST_RUNS, PAST_USAGE and PAST_SPANS: a JSON object, as the ledger
 * words it (sql/report.sql, sql/runs.sql, sql/usage.sql, sql/spans.sql). */
struct ledger_row {
	bool is_total; /* PAST_REPORT: the sum of all with that currency */
	const char *json;
};

/* A row of the answer to PAST_COST. */
struct ledger_cost {
	bool is_total;	      /* the sum of all with that currency; key is NULL */
	const char *key;      /* NULL: runs without that label, or whose user is not known */
	const char *currency; /* NULL: runs without a price */
	int64_t runs, ran_ms, cost, lost_ms;
	int64_t estimated_ms, estimated_cost; /* the part of ran_ms and cost that is estimated */
};

/* Makes the mark before all attempts that ended at since_ms or later. */
struct ledger_mark ledger_mark_since(int64_t since_ms);

#endif
