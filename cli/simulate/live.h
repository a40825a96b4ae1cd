/*
 * A live cluster as a world: what `sluice simulate --from-cluster` asks the API server, with the
 * rights of the kubeconfig. Nothing is written.
 *
 * Kinds are listed a page at a time, those that describe the queues first, Jobs last. So the world
 * is of one moment but for what an admin changes meanwhile. That moment is the API server's clock
 * when it gave the last Jobs.
 *
 * What may not be read is said on stderr, with the missing right. Without ClusterQueues, Jobs and
 * all else that decides who starts next there is no play. Nodes, quotas of namespaces and the like
 * can be missing: then they are not asked about.
 *
 * An object that makes no sense is left out, with a line on stderr. So it is in the cluster: its
 * status says so, and the others go on.
 *
 * CronJobs are read only where the play has an end. ConfigMaps are read if Calendars and PricePlans
 * name them. The status is read of Budgets, for what was spent in this period, and of
 * AdvanceReservations, for those that are accepted. QueuedJobs (docs/ask.md) are asked only for the
 * order of Jobs that were queued in one second; without them the API server's resourceVersion
 * decides.
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
	const char *config_namespace; /* namespace of ConfigMaps */
	int64_t assumed_ms;	      /* --assume-duration; 0: absent */
	bool cronjobs;		      /* CronJobs are read, for the play has an end */
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

/* Reads the cluster into w, and sets w->live. Comes after the files, whose objects take the place
 * of live ones, and before the trace and world_close(). ERR_BUSY: no answer; ERR_DENIED: what must
 * be read may not; ERR_GONE: Sluice's kinds are not there. */
int live_read(struct live *l, struct world *w, const struct live_options *o, struct err *e);
/* Tells the queue what was spent before; after world_close(). */
void live_close(struct live *l);
void live_done(struct live *l);

#endif
