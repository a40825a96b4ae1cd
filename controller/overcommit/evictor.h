/*
 * The evictor: asks the API server to evict single pods, by name and uid, a few at a time.
 *
 * The reclaimer chooses them, among pods of Jobs for which an eviction is no failure. An Event on
 * the pod says why it went. A refused eviction (429: its PodDisruptionBudget) is not asked for
 * again: the reclaimer decides.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_EVICTOR_H
#define SLUICE_CONTROLLER_OVERCOMMIT_EVICTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/uid.h"
#include "controller/write/events.h"
#include "controller/kube/client.h"
#include "controller/common/log.h"
#include "overcommit/reclaim.h"

struct evictor;

enum { EVICTIONS_MAX = 8, EVICTION_WHY_MAX = 300 };

/* Takes an answer. gone: the pod is evicted, or was not there any more. */
typedef void evictor_answer_fn(const char *pod, enum reclaim_trigger t, bool gone, void *ctx);

/* Makes an evictor. events NULL: none are written. */
struct evictor *evictor_new(struct kube_client *client, struct events *events, struct log *log,
	evictor_answer_fn *fn, void *ctx);
void evictor_free(struct evictor *e); /* cancels what is under way */

/* Asks for an eviction of "namespace/name". False: EVICTIONS_MAX are under way. */
bool evictor_send(struct evictor *e, const char *pod, const struct uid *uid, enum reclaim_trigger t,
	const char *why, int64_t now_ms);

#endif
