/*
 * The link: how an agent talks with the leader.
 *
 *     LINK_PAUSED    nothing is under way; a pause with jitter, longer with each failure in a row
 *     LINK_LOOKING   GET of the ConfigMap sluice-nodes: where the leader is, and its certificate
 *     LINK_TALKING   a held GET for orders all the time, and a POST for each sample; one at once
 *
 * Whatever goes wrong with the leader leads through a pause to the ConfigMap: another replica may
 * lead now. Only that certificate is believed, whoever else signed what the other end shows. The
 * token is read anew each minute and after a 401 (controller/kube/credential.h).
 *
 * HTTP is controller/kube's client, once for the API server and once for the leader. Orders and
 * samples have connections of their own, as an answer that is held keeps one.
 *
 * One sample at a time is under way, and made at the last moment: what waits is always the newest.
 */
#ifndef SLUICE_AGENT_LINK_H
#define SLUICE_AGENT_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/leader.h"
#include "base/buf.h"
#include "controller/common/log.h"
#include "node/orders.h"

struct ev_loop;
struct link_to_leader;

struct link_events {
	/* Gives orders, which are the callee's to free; text: as they came. */
	void (*orders)(struct orders *o, struct slice text, void *ctx);
	/* Appends a sample. */
	void (*sample)(struct buf *out, void *ctx);
	/* Tells that the leader has the newest sample. */
	void (*acknowledged)(void *ctx);
	void *ctx;
};

struct link_options {
	struct ev_loop *loop;
	struct log *log;
	const struct kube_config *api; /* the API server; borrowed for life */
	struct leader_options leader;
	int64_t have; /* the generation of the orders that are known; 0: none */
	uint64_t seed;
	int64_t pause_ms; /* the first pause after a failure, on which all others hang; 0: 1,000 */
	struct link_events events;
};

/* Starts to look for the leader. */
struct link_to_leader *link_new(const struct link_options *o);
void link_free(struct link_to_leader *l); /* NULL is fine */

/* Tells that a sample is due. It goes out once there is a leader, and when the one before was
 * answered; at_once: that one is given up. */
void link_report(struct link_to_leader *l, bool at_once);

#endif
