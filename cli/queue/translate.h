/*
 * ClusterQueues and LocalQueues of the API server, as the controller's own HTTP API would write them
 * (/api/v1/queues): so there is one way to print them, whichever was asked. All is taken from their
 * spec and status. What is in neither is left out: how many Jobs have finished since the controller
 * started, how many are being stopped, how many wait for a queue that does not exist, and whether the
 * ledger is up. Jobs whose pods are stuck come from the API visibility.sluice.dev.
 *
 * Pure: trees go in, JSON comes out.
 */
#ifndef SLUICE_CLI_QUEUE_TRANSLATE_H
#define SLUICE_CLI_QUEUE_TRANSLATE_H

#include "base/buf.h"
#include "controller/kube/json.h"

/* stuck: the QueuedJobs that have a trouble, an array; NULL: not known. */
void translate_clusterqueue(const cJSON *object, const cJSON *stuck, struct buf *out);
void translate_localqueue(const cJSON *object, const cJSON *stuck, struct buf *out);

enum { NOTICES_MAX = 3, NOTICE_SIZE = 700 };

/* Sentences about the answer as a whole. */
struct notices {
	size_t n;
	char text[NOTICES_MAX][NOTICE_SIZE];
};

/* What the API server has of them; see report.h for what becomes of it. */
struct queue_lists {
	const cJSON *clusterqueues; /* an array; NULL: they may not be listed */
	const cJSON *localqueues;   /* NULL: they are not wanted, or may not be listed */
	const cJSON *stuck;	    /* of all that is listed; NULL: not known */
	const char *stuck_ns;	    /* of this namespace alone; NULL: of all */
	const char *ns;		    /* LocalQueues are of this one alone; NULL: of all */
	const struct notices *notices;
};

void translate_queue_lists(const struct queue_lists *l, struct buf *out);

#endif
