/*
 * The bulletin: the status of NodeOvercommits, for people.
 *
 * Written at once when it says something else (the condition, or on how many nodes it holds), and
 * for its amounts alone only when they moved by a tenth after ten seconds, or at all after five
 * minutes: they move with every sample. By the leader, one merge PATCH on /status, a few under way
 * at once; what failed is due again.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_OVERCOMMIT_STATUS_H
#define SLUICE_CONTROLLER_OVERCOMMIT_OVERCOMMIT_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/write/events.h"
#include "controller/kube/client.h"
#include "controller/common/log.h"
#include "controller/overcommit/inventory.h"
#include "controller/overcommit/overcommit_configs.h"

struct overcommit_status;

struct overcommit_status_options {
	struct kube_client *client;
	const struct overcommit_configs *overcommit_configs;
	const struct inventory *inventory;
	struct events *events; /* NULL: no Events */
	struct log *log;
};

struct overcommit_status *overcommit_status_new(const struct overcommit_status_options *o);
void overcommit_status_free(struct overcommit_status *b); /* cancels what is under way */

/* A NodeOvercommit as it is on the API server: since when its condition is what it is. */
void overcommit_status_see(struct overcommit_status *b, const struct cJSON *object);
void overcommit_status_lose(struct overcommit_status *b, const char *name);

/* known: the nodes are followed and the node states are made. trouble: of the source of usage, ""
 * none.
 */
void overcommit_status_tick(
	struct overcommit_status *b, int64_t now_ms, bool known, const char *trouble);

#endif
