/*
 * A live cluster as a world: what `sluice simulate --from-cluster` asks the API server, with the rights of
 * the kubeconfig. Nothing is written.
 *
 * Kinds are listed a page at a time, those that describe the queues first, Jobs last. So what is played is
 * of one moment but for what an admin changes meanwhile. That moment is the API server's clock when it
 * gave the last Jobs.
 *
 * What may not be read is said on stderr, with the right that is missing. Without ClusterQueues, Jobs and
 * all else that decides who starts next there is no play. Nodes, quotas of namespaces and the like can be
 * missing: then they are not asked about.
 *
 * An object of which no sense can be made is left out and said, for so it is in the cluster: it says so in
 * its status, and the others go on.
 *
 * CronJobs are read only where the play has an end. Of ConfigMaps those are read that Calendars and
 * PricePlans name. Of Budgets also the status, for what was spent in this period, and of
 * AdvanceReservations, for those that are accepted. QueuedJobs
 * (docs/ask.md) are asked only for the order of Jobs that were queued in one second; without them
 * the API server's resourceVersion decides.
 */
#ifndef SLUICE_CLI_SIMULATE_LIVE_H
#define SLUICE_CLI_SIMULATE_LIVE_H

#include "base/err.h"
#include "cli/simulate/ends.h"
#include "cli/simulate/live_jobs.h"
#include "cli/simulate/world.h"
#include "controller/kube/config.h"

struct ev_loop;

struct live_options {
	struct ev_loop *loop;
	const struct kube_config *config;
	const char *config_namespace; /* of ConfigMaps */
	int64_t assumed_ms;	      /* --assume-duration; 0: absent */
	bool cronjobs;		      /* the play has an end */
};

struct live_spent;

struct live {
	struct live_options options;
	struct world *w;
	struct ends ends;
	struct live_jobs jobs;
	struct live_spent *spent; /* what Budgets say */
	size_t nspent;
	bool selects_namespaces; /* some ClusterQueue asks for labels of Namespaces */
};

/* After the files, whose objects are there in place of live ones; before the trace and world_close().
 * w->live is set. ERR_BUSY: no answer; ERR_DENIED: what must be read may not; ERR_GONE: Sluice's kinds are
 * not there. */
int live_read(struct live *l, struct world *w, const struct live_options *o, struct err *e);
/* After world_close(): what was spent before. */
void live_close(struct live *l);
void live_done(struct live *l);

#endif
