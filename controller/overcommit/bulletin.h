/*
 * The bulletin: the status of NodeOvercommits, for people.
 *
 * Written at once when it says something else (the condition, or on how many nodes it holds), and
 * for its amounts alone only when they moved by a tenth after ten seconds, or at all after five
 * minutes: they move with every sample. By the leader, one merge PATCH on /status, a few under way
 * at once; what failed is due again.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_BULLETIN_H
#define SLUICE_CONTROLLER_OVERCOMMIT_BULLETIN_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/write/events.h"
#include "controller/kube/client.h"
#include "controller/common/log.h"
#include "controller/overcommit/inventory.h"
#include "controller/overcommit/rulebook.h"

struct bulletin;

struct bulletin_options {
	struct kube_client *client;
	const struct rulebook *rulebook;
	const struct inventory *inventory;
	struct events *events; /* NULL: no Events */
	struct log *log;
};

struct bulletin *bulletin_new(const struct bulletin_options *o);
void bulletin_free(struct bulletin *b); /* cancels what is under way */

/* A NodeOvercommit as it is on the API server: since when its condition is what it is. */
void bulletin_see(struct bulletin *b, const struct cJSON *object);
void bulletin_lose(struct bulletin *b, const char *name);

/* known: the nodes are followed and the loans are made. trouble: of the source of usage, "" none.
 */
void bulletin_tick(struct bulletin *b, int64_t now_ms, bool known, const char *trouble);

#endif
