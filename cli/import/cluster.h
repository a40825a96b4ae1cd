/*
 * What a cluster has of Kueue, or of Crane, read from its API server. That needs the rights to list Kueue's
 * kinds, Jobs and CronJobs, and to get the ConfigMap of Kueue's configuration; for Crane its kinds,
 * nodes and the ConfigMap of its template. Neither Kueue nor
 * Sluice need run.
 *
 * A kind is asked for in the newest version that this program knows and the cluster serves. What
 * may not be read becomes a refused item of its own, so that nobody takes the rest for all.
 */
#ifndef SLUICE_CLI_IMPORT_CLUSTER_H
#define SLUICE_CLI_IMPORT_CLUSTER_H

#include "base/err.h"
#include "cli/import/import.h"
#include "controller/kube/config.h"

struct ev_loop;

struct import_cluster {
	struct ev_loop *loop;
	const struct kube_config *config;
	const char *namespace_name;  /* namespace of LocalQueues, Jobs and CronJobs; NULL: all */
	const char *kueue_namespace; /* of Kueue's ConfigMap */
	const char *crane_namespace; /* of Crane's */
};

/* Reads the cluster into i. ERR_BUSY: no answer; ERR_DENIED: we may not, and nothing could be
 * read. */
int import_cluster_read(const struct import_cluster *c, struct import *i, struct err *e);

#endif
