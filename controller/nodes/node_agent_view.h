/*
 * What is known of the agent of a node, for those who show it, and decide by it.
 */
#ifndef SLUICE_CONTROLLER_NODES_NODE_AGENT_VIEW_H
#define SLUICE_CONTROLLER_NODES_NODE_AGENT_VIEW_H

#include <stdint.h>

#include "node/sample.h"

struct node_agent_view {
	int64_t at_ms; /* when its newest sample came; 0: never since this leader began */
	const struct sample *newest; /* or NULL; borrowed until the loop goes on */
	/* Since this leader began: deeds by their kind, and samples that were dropped. */
	uint64_t deeds[DEED_KINDS], dropped;
};

#endif
