/*
 * Names of objects of a cluster, for completion: those that the kubeconfig's user may list. A
 * person waits with a finger on a key, so time and names have a limit; what cannot be had within it
 * is left out without a word.
 */
#ifndef SLUICE_CLI_COMPLETION_CLUSTER_NAMES_H
#define SLUICE_CLI_COMPLETION_CLUSTER_NAMES_H

#include "cli/completion/candidates.h"
#include "cli/question.h"

enum { CLUSTER_NAMES_WAIT_MS = 2000, CLUSTER_NAMES_MAX = 500 };

/* Appends names, as a completion_names. */
void cluster_names(const char *kind, const struct completion_place *place, struct buf *ret_lines);

/* Appends names as cluster_names() does, with a client that is there already. */
void cluster_names_ask(struct ev_loop *loop, struct kube_client *client, const char *kind,
	const char *ns, struct buf *ret_lines);

#endif
