/*
 * The world: gates, models, people and faults in one process, in virtual time, from a seed.
 *
 * An event runs at a time; time moves only between events. Everything that is drawn is drawn from
 * one generator in the order of the events, so that the same seed is the same world to the byte:
 * nothing may depend on an address, the real clock or the environment.
 *
 * A run has three parts. First there are faults and people for a number of events. Then both stop,
 * and running pods go on for ever, until nothing moves any more: whatever fits must have been let
 * in. Then pods end again, and what was let in must end, until the ledger is empty of all that is
 * not stuck for a reason. The promises (promises.h) are checked after every event, those of
 * quiet times at both ends.
 */
#ifndef SLUICE_TEST_SIM_SIM_H
#define SLUICE_TEST_SIM_SIM_H

#include <stdarg.h>

#include "base/must.h"
#include "test/sim/advance.h"
#include "test/sim/bookings.h"
#include "test/sim/cluster.h"
#include "test/sim/pool.h"
#include "test/sim/failover.h"
#include "test/sim/faults.h"
#include "test/sim/growing.h"
#include "test/sim/lent.h"
#include "test/sim/model_api.h"
#include "test/sim/model_jobs.h"
#include "test/sim/model_ledger.h"
#include "test/sim/newcomers.h"
#include "test/sim/one_by_one.h"
#include "test/sim/partition.h"
#include "test/sim/people.h"
#include "test/sim/pipelines.h"
#include "test/sim/users.h"
#include "test/sim/replica.h"
#include "test/sim/restore.h"
#include "test/sim/rng.h"
#include "test/sim/tenant.h"
#include "test/sim/timeline.h"
#include "test/sim/window_quota.h"

#define SIM_EPOCH_MS 1795255200000 /* when virtual time begins: 2026-11-21T10:00:00Z */
#define REPLICAS 2
/* Longer than anything that is waited for before it is tried again, but for one pause: see
 * come_to_rest(). */
#define QUIET_MS 200000
#define NOTE_AFTER_MS 5000
#define STUCK_AFTER_MS 10000
#define DRAIN_DOUBT_MS 30000 /* and no Job controller here is later than half of that */

/* Faults in our own code, planted from outside: the simulation must find each. */
enum bug {
	BUG_NONE,
	BUG_RELEASE_EARLY,    /* the status claims that no pod is left as soon as it is suspended */
	BUG_UNFENCED_RESERVE, /* the statement of RESERVE forgets the epoch */
	BUG_BATCH_DOUBT_LOST, /* a batch in doubt is taken for one that did nothing */
	BUG_COMMIT_DOUBT_LOST,	/* a COMMIT in doubt is taken for lost and not sent again */
	BUG_START_DOUBT_LOST,	/* a start in doubt is taken for one that did nothing */
	BUG_TELL_UNDONE,	/* the fence is taken for done and was not sent */
	BUG_UNGUARDED,		/* the start does not test story and generation */
	BUG_NO_DOUBT,		/* an old status is believed at once */
	BUG_COUNTS_KEPT,	/* a stop does not put the owner's parallelism back */
	BUG_ZONE_IGNORED,	/* local times are taken for UTC */
	BUG_SPENT_FORGOTTEN,	/* a new leader is not told what was spent */
	BUG_BILL_GUESSED,	/* RELEASE carries another bill than the queue has charged */
	BUG_HISTORY_LOST,	/* stories do not tell how often pods were not ready */
	BUG_RESOURCES_KEPT,	/* a start does not write what the containers ask for */
	BUG_LEAVING_UNCOUNTED,	/* pods that are terminating are not counted */
	BUG_QUOTA_MISREAD,	/* a limit on cpu is taken for a thousand times as much */
	BUG_QUOTA_FREED_UNTOLD, /* what pods that ended leave in a quota is not told */
	BUG_POD_WEIGHTLESS,	/* bound pods are told without what they ask for */
	BUG_POD_END_UNTOLD,	/* it is not told that a bound pod has ended */
	BUG_CHILD_IGNORED,	/* a Job that a Job made is not managed */
	BUG_DELETION_UNTOLD,	/* the gate is not told that a Job is being deleted */
	BUG_KEPT_UNCOUNTED,	/* the pods of a Job that is being deleted are not counted */
	BUG_ORPHANS_UNCOUNTED,	/* pods that outlive their Job are not counted */
	BUG_CONTROL_UNSEEN,	/* it is not seen what manages a Job, and how it selects its pods */
	BUG_ENDING_UNSEEN,	/* it is not seen that the work of a Job is over */
	BUG_BORROWING_UNHEARD,	/* a start that borrows wakes no Job that may take that back */
	BUG_MIN_RUN_UNREAD,	/* minRun of ClusterQueues is not read */
	BUG_SUCCESS_UNREAD,	/* it is not read that a pod of a work queue has succeeded */
	BUG_REAPPLY_UNSEEN,	/* a manifest that raises a run with fewer pods is not seen */
	BUG_LOSS_UNSEEN,	/* a leader goes on although its batches are lost */
	BUG_STORY_UNSIGNED,	/* starts are not signed, so that no run is adopted */
	BUG_STARTS_AT_ONCE,	/* a new leader does not wait for starts that are under way */
	BUG_BLIND_LEADS,	/* a leader that follows no Jobs keeps the lease */
	BUG_BATCH_ASSUMED,	/* cut off from the ledger, it takes its batches for written */
	BUG_OLDER_IGNORED,	/* a list with older Jobs than were known is not minded */
	BUG_PLACE_KEPT,		/* a watch is taken up where it was although the server was away */
	BUG_GROW_ASSUMED,	/* GROW is told to be durable, and was not written */
	BUG_GROW_REFUSAL_UNHEARD, /* a GROW that was refused is taken for done */
	BUG_GROW_UNGUARDED,	  /* the PATCH of a growth does not test story and generation */
	BUG_RETELL_UNDONE, /* a story that is told anew is, to the byte, the one that was there */
	BUG_SIZES_UNNUMBERED,  /* changes of size have the amount that is left for a number */
	BUG_KEPT_PODS_UNHEARD, /* the queue is not told that a run keeps pods that it was to give */
	BUG_OUTCOME_UNREAD,    /* what the ledger has of predecessors that are gone is not read */
	BUG_FAILURE_UNSEEN,    /* a predecessor that failed is read as one that ended well */
	BUG_END_GUESSED,      /* one that is gone is taken for deleted, though nobody saw its end */
	BUG_DELETE_UNGUARDED, /* a DELETE tests no version */
	BUG_HELD_FORGOTTEN,   /* a new leader does not read what has held before */
	BUG_WORD_UNREAD,      /* an admin's word on a Namespace is not read */
	BUG_WORD_FOR_ALL,     /* ... is taken to say nothing of when Jobs began */
	BUG_USERS_UNREAD,     /* limits for each user are not read */
	BUG_STATUS_OF_ANOTHER,	  /* a status is written without the uid that it is about */
	BUG_STATUS_NOT_LOOKED_AT, /* it is not written anew where another one is seen */
	BUG_PLAN_AS_HELD,	  /* what is planned of now is told as what runs hold */
	BUG_FREED_UNHEARD,	  /* a run that used what is reserved goes unheard */
	BUG_BOOKING_KEPT,	  /* a booking stays whose Job waits for quota at its time */
	BUG_GIVEN_BACK_UNSAID,	  /* what is given back is free before the status says so */
	BUG_COUNT
};
const char *bug_name(enum bug b);

/* A stop of ours that landed. */
struct stop_seen {
	struct stop_seen *next;
	struct uid uid;
	int32_t attempt;
	int64_t epoch;
	bool worked; /* pods had been at work for a while, and clocks were right */
};

struct sim_options {
	uint64_t seed;
	size_t events; /* with faults */
	enum bug bug;
	bool failovers;	 /* each world has them (failover.h) */
	bool partitions; /* ... and these (partition.h) */
	bool restores;	 /* ... and these (restore.h) */
	bool users;	 /* ... and limits for each user (users.h) */
	bool pipelines;	 /* ... and Jobs that wait for others (pipelines.h) */
	bool lending;	/* worlds whose ClusterQueues lend each other all they have (take_back.h) */
	bool growth;	/* worlds in which runs grow, all of them (growing.h) */
	bool newcomers; /* worlds in which Jobs that run get their label, all of them (newcomers.h) */
	bool bookings; /* worlds whose Jobs book their starts, all of them (bookings.h) */
	bool cluster;  /* worlds with nodes and ResourceQuotas (cluster.h), and without idle room */
	bool replayed; /* each call of a queue is recorded and replayed, at once (record/) */
	bool verbose;
};

struct sim {
	struct sim_options o;
	struct rng rng;
	struct pool pool;
	struct timeline timeline;
	int64_t now_ms, moved_ms; /* moved: when something last changed */
	size_t nevents;
	bool calm, frozen; /* faults have stopped; pods do not end */
	bool touched;	   /* something the promises look at has changed */

	struct faults faults;
	struct model_api api;
	struct model_jobs jobs;
	struct model_ledger *ledger;
	int64_t ledger_down_until_ms;
	struct failover failover;
	struct partition partition;
	struct restore restore;
	struct people people;
	struct pipelines pipelines;
	struct users users;
	struct newcomers newcomers;
	struct lent_world lent;
	struct cluster cluster;
	struct growing growing;
	struct window_quota window_quota;
	struct bookings bookings;
	struct advance advance;
	struct tenant tenant;
	struct one_by_one one_by_one;
	const char *start; /* the body of the start that is landing; NULL: of no Job with a template
			    */
	struct replica replica[REPLICAS];
	size_t nreplicas;

	struct stop_seen *stops;
	uint64_t count[PATH_COUNT];
	uint64_t hash;	 /* of the whole log: two runs of a seed have the same */
	char broken[32]; /* the promise, "" while all are kept */
	char seen[1024];
};

struct sim_report {
	bool ok;
	char broken[32], seen[1024];
	int64_t at_ms;
	size_t events;
	uint64_t hash;
	uint64_t count[PATH_COUNT];
};
void sim_run(const struct sim_options *o, struct sim_report *ret);

/* ---- For the parts ----------------------------------------------------------------------------
 */

void sim_at(struct sim *s, int64_t at_ms, void (*run)(struct sim *s, void *arg), void *arg);
void sim_after(struct sim *s, int64_t ms, void (*run)(struct sim *s, void *arg), void *arg);
void sim_log(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sim_break(struct sim *s, const char *promise, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void *sim_alloc(struct sim *s, size_t size);
/* Something moved that quiet times wait for, and promises look at. */
void sim_touch(struct sim *s);
static inline void sim_reach(struct sim *s, enum path p)
{
	s->count[p]++;
}

#endif
