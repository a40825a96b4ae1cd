/*
 * Private to the files of overcommit_controller.h: overcommit_controller.c makes it go,
 * overcommit_controller_show.c and overcommit_controller_metrics.c tell of it.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_OVERCOMMIT_CONTROLLER_PRIV_H
#define SLUICE_CONTROLLER_OVERCOMMIT_OVERCOMMIT_CONTROLLER_PRIV_H

#include "controller/overcommit/overcommit_status.h"
#include "controller/overcommit/ended_pods.h"
#include "controller/overcommit/inventory.h"
#include "controller/overcommit/node_orders.h"
#include "controller/overcommit/overcommit_controller.h"
#include "controller/overcommit/pools.h"
#include "controller/overcommit/publisher.h"
#include "controller/overcommit/reclaimer.h"
#include "controller/overcommit/overcommit_configs.h"

struct kube_watch;

struct overcommit_controller {
	struct overcommit_controller_options o;
	struct overcommit_configs *overcommit_configs;
	struct inventory *inventory;
	struct node_watch *node_watch;
	struct usage_poller *usage_poller;
	struct publisher *publisher;
	struct pools *pools;
	struct reclaimer *reclaimer;
	struct overcommit_status *overcommit_status;
	struct node_orders *node_orders;
	struct ended_pods *ended_pods;
	int64_t recalled_epoch;	      /* for which the history was asked for; 0: none */
	struct kube_watch *configmap; /* NULL: not followed */
	bool configmap_listed;	      /* known whether it exists */
	bool configmap_seen;	      /* in the list that is being read */
	bool swept;		      /* lending is off, and nothing is published on any node */
	bool measures;		      /* usage is asked for */
	bool pools_dirty;
	bool leads;	       /* and knows the configuration */
	bool known;	       /* and the nodes with their pods */
	uint64_t rounds, made; /* rounds of samples; node states that were made */
	int64_t now_ms, complained_ms;
};

#endif
