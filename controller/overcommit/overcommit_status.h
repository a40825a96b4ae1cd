/*
 * The status of NodeOvercommits, for people.
 *
 * The leader writes it at once when it says something else: another condition, or another number of
 * nodes. Amounts move with every sample: they alone are written only when they moved by a tenth,
 * after ten seconds, or at all, after five minutes. It is one merge PATCH on /status, a few under
 * way at once. A failed write is due again.
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

/* Takes a NodeOvercommit as it is on the API server: since when its condition is what it is. */
void overcommit_status_see(struct overcommit_status *b, const struct cJSON *object);
void overcommit_status_lose(struct overcommit_status *b, const char *name);

/* Writes what is due. known: the nodes are followed and the node states are made. trouble: of the
 * source of usage, "" none. */
void overcommit_status_tick(
	struct overcommit_status *b, int64_t now_ms, bool known, const char *trouble);

#endif
