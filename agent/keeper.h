/*
 * The keeper: the tick of an agent. What is read, node/ makes decisions of, which are written.
 *
 * Each second (each 250 ms while a pod was held within the last ten, or memory is near its marks):
 *
 *     1. read        the node and each lent pod                     (usage.h, lent_pods.h)
 *     2. memory      calm, held or ending: clamps, and a pod's end  (memory_guard.h)
 *     3. cpu         what lent pods have together, and each of them (cpu_division.h)
 *     4. write       what differs from what is wanted               (lent_pod.h, idle.h)
 *     5. tell        a sample, when one is due                      (report.h)
 *
 * Between ticks: a pod that is made gets its limits at once, before its first process; a value that
 * somebody else wrote is written again. Pods are looked for each five seconds all the same.
 *
 * Always true:
 *   - only cgroups of pods that the newest orders name are written, and those of a pod that they no
 *     longer name, to take back what was done. One exception: cpu.idle on the tier, where the
 *     orders ask for it and the driver is systemd;
 *   - one keeper at a time writes (site.h);
 *   - nothing is concluded from what could not be read. A tick that comes three seconds late (a
 *     node that slept) divides nothing, and its window is told to nobody.
 */
#ifndef SLUICE_AGENT_KEEPER_H
#define SLUICE_AGENT_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "controller/common/log.h"
#include "node/orders.h"

struct ev_loop;
struct keeper;

struct keeper_options {
	struct ev_loop *loop;
	struct log *log;
	const char *cgroups; /* where cgroups are mounted; borrowed */
	const char *tier;    /* its path below the mount; NULL: it is looked for. Borrowed */
	const char *proc;    /* /proc; borrowed */
	/* Tells that a sample should go out, at once or when the one before was answered:
	 * keeper_put_sample(). Not called while another agent holds the tier. */
	void (*report)(bool at_once, void *ctx);
	void *ctx;
};

/* Starts a keeper, which does nothing before it has orders. ERR_BUSY: the kernel gives no
 * notices. */
int keeper_new(const struct keeper_options *o, struct keeper **ret, struct err *e);
/* Frees it; what it wrote stays. */
void keeper_free(struct keeper *k);

/* Takes the newest orders, which are its own from now on. */
void keeper_take_orders(struct keeper *k, struct orders *o);
int64_t keeper_generation(const struct keeper *k); /* of the newest orders; 0: none yet */

/* Does what is due now; its timer calls this. */
void keeper_tick(struct keeper *k);

/* Appends a sample of now. */
void keeper_put_sample(struct keeper *k, struct buf *out);
/* Tells that the controller has the newest sample, with the deeds in it. */
void keeper_acknowledge(struct keeper *k);

/* Gives back what was held: clamps, quotas below what pods ask for, cpu.idle. Limits stay. */
void keeper_give_back(struct keeper *k);

/* Whether the tier was found and nobody else writes there. */
bool keeper_has_tier(const struct keeper *k);

#endif
