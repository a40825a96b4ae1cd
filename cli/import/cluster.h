/*
 * What a cluster has of Kueue, asked of its API server: the right to list Kueue's kinds, Jobs and
 * CronJobs, and to get the ConfigMap of Kueue's configuration. Neither Kueue nor Sluice need run.
 *
 * Kinds are asked for in the newest version that is known here and served there. What may not be
 * read is an item of its own, refused, so that nobody takes the rest for all.
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
	const char *namespace_name;  /* whose LocalQueues, Jobs and CronJobs; NULL: all */
	const char *kueue_namespace; /* of Kueue's ConfigMap */
};

/* ERR_BUSY: no answer; ERR_DENIED: we may not, and nothing could be read. */
int import_cluster_read(const struct import_cluster *c, struct import *i, struct err *e);

#endif
