/*
 * The courier: carries the gate's intents out and brings the answers back.
 *
 * Lease, load (after what there is to recall) and batch go to the ledger's driver; patches, reads
 * and the count of pods to the API server. Each intent gets exactly one answer, unless the courier
 * is freed first. What an answer means for the gate is decided here, in one table (courier_judge).
 */
#ifndef SLUICE_CONTROLLER_COURIER_H
#define SLUICE_CONTROLLER_COURIER_H

#include <stdbool.h>
#include <stddef.h>

#include "controller/gate/gate.h"
#include "controller/kube/client.h"
#include "controller/ledger/pg.h"
#include "controller/log.h"
#include "controller/timekeeper.h"

struct courier;

struct courier_options {
	struct kube_client *client;
	struct gate *gate;
	struct queue *queue; /* for the directives of a start, and to recall what was used */
	struct timekeeper *timekeeper; /* for the times in Jobs */
	struct log *log;
	void (*changed)(void *ctx); /* an answer was given to the gate: a pass is due */
	void *ctx;
};

struct courier *courier_new(const struct courier_options *o);
/* Cancels what is under way at the API server. Free pg first, the client after. */
void courier_free(struct courier *c);

/* The driver that answers to courier_on_*; set once, before anything is carried. */
void courier_set_pg(struct courier *c, struct pg *pg);

/* pg_events for pg_new, with the courier as ctx. */
void courier_on_lease(uint64_t id, enum ledger_outcome o, const struct ledger_lease *l, void *ctx);
void courier_on_load(
	uint64_t id, enum ledger_outcome o, const struct ledger_hold *holds, size_t n, void *ctx);
void courier_on_recall(uint64_t id, enum ledger_outcome o, const struct ledger_run *runs, size_t n,
	const struct ledger_mark *next, void *ctx);
void courier_on_spent(
	uint64_t id, enum ledger_outcome o, const struct ledger_spent *spent, size_t n, void *ctx);
void courier_on_durations(uint64_t id, enum ledger_outcome o, const struct ledger_duration *runs,
	size_t n, void *ctx);
void courier_on_batch(uint64_t id, enum ledger_outcome o, const struct ledger_result *results,
	size_t n, void *ctx);

/* Takes all intents that the gate has, and sends them off. */
void courier_carry(struct courier *c);

/* How many Job writes and ledger batches have no answer yet. */
size_t courier_writes_under_way(const struct courier *c);

/* Who held the lease when it was last asked for, "" unknown. */
const char *courier_lease_holder(const struct courier *c);

/* What an answer of the API server means for the gate. is_invalid: a 422 that speaks of an object's
 * fields, not of a failed test of the patch. is_rights: a 403 that speaks of our rights, not of
 * this request. */
enum job_outcome courier_judge(
	const struct kube_answer *a, bool is_write, bool is_invalid, bool is_rights);

#endif
