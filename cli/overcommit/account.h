/*
 * The account of a node: what may be lent of it, and why that much. The same formula as the
 * controller's, out of one sample: what that adds is that it raises a figure with patience (the
 * mean of raiseWindowSeconds), and writes only what differs.
 */
#ifndef SLUICE_CLI_OVERCOMMIT_ACCOUNT_H
#define SLUICE_CLI_OVERCOMMIT_ACCOUNT_H

#include "cli/overcommit/snapshot.h"
#include "overcommit/estimate.h"
#include "overcommit/publication.h"
#include "overcommit/window.h"

struct account {
	const struct node_facts *node;
	struct snapshot_ruling ruling;
	bool has_sample;
	int64_t sample_ms;	  /* 0: it does not say when, and counts as fresh */
	struct load used;	  /* by the node */
	struct estimate estimate; /* when there is a sample */
	enum freshness freshness;
	bool enabled, degraded;
	char reason[400];	/* "", "disabled", or of what is degraded: a word and a sentence */
	struct load lent;	/* whichever name; 0 when it is disabled or degraded */
	struct load gocran;	/* what gocran.io alone could have */
	struct figures figures; /* under each name, with what pods ask for under the other one */
	struct load batch_asked, gocran_asked;
};

/* profile: NULL, or instead of the configuration's. tried: without any configuration it counts as
 * enabled. */
void account_make(const struct snapshot *s, const struct snapshot_node *n, int64_t now_ms,
	const enum profile *profile, bool tried, struct account *ret);

#endif
