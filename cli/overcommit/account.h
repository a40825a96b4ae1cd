/*
 * The account of a node: what may be lent of it, and why that much. The formula is the
 * controller's, out of one sample. The controller adds patience: it raises a figure by the mean of
 * raiseWindowSeconds, and writes only what differs.
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
	int64_t sample_ms;	  /* time of the sample; 0: it has none, and counts as fresh */
	struct load used;	  /* by the node */
	struct estimate estimate; /* set when there is a sample */
	enum freshness freshness;
	bool enabled, degraded;
	char reason[400];	/* "", "disabled", or why it is degraded: a word and a sentence */
	struct load lent;	/* under whichever name; 0 when disabled or degraded */
	struct load gocran;	/* what gocran.io alone could have */
	struct figures figures; /* under each name, with what pods ask for under the other one */
	struct load batch_asked, gocran_asked;
	const struct agent *agent;
};

/* Makes the account. profile: NULL, or instead of the configuration's. tried: counts as enabled
 * without any configuration. */
void account_make(const struct snapshot *s, const struct snapshot_node *n, int64_t now_ms,
	const enum profile *profile, bool tried, struct account *ret);

#endif
