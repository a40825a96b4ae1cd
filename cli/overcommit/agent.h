/*
 * What the controller knows of a node's agent (sluice-node), and the sum that it makes of what that
 * reports: members of an OvercommitReport (visibility.sluice.dev). A node without an agent, and a
 * cluster whose controller does not answer, have none.
 */
#ifndef SLUICE_CLI_OVERCOMMIT_AGENT_H
#define SLUICE_CLI_OVERCOMMIT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "overcommit/estimate.h"

struct cJSON;

struct agent {
	char *json;	/* as the API has it; NULL: the node has none */
	int64_t age_ms; /* of its newest report; -1: none since the controller began to lead */
	int64_t pods, held, over;
	int64_t used_milli, asked_milli, may_milli; /* may: -1: each may have what it asks for */
	char lacks[128];			    /* "hold, end" */
	/* The controller goes by what it reports: what the node uses, and the sum of it. */
	bool is_source;
	int64_t sample_ms;
	struct load used, gocran;
	struct estimate estimate;
};

/* Reads an OvercommitReport of one node. */
void agent_read(const struct cJSON *report, struct agent *ret);
void agent_done(struct agent *a);

/* Writes lines for people; nothing where there is none. */
void agent_put(const struct agent *a, struct buf *out);

#endif
