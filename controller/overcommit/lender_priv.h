/*
 * Private to the files of lender.h: lender.c makes it go, lender_show.c and lender_metrics.c tell
 * of it.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_LENDER_PRIV_H
#define SLUICE_CONTROLLER_OVERCOMMIT_LENDER_PRIV_H

#include "controller/overcommit/bulletin.h"
#include "controller/overcommit/inventory.h"
#include "controller/overcommit/lender.h"
#include "controller/overcommit/pools.h"
#include "controller/overcommit/publisher.h"
#include "controller/overcommit/reclaimer.h"
#include "controller/overcommit/rulebook.h"

enum { COMPLAIN_MS = 60000 };

struct kube_watch;

struct lender {
	struct lender_options o;
	struct rulebook *rulebook;
	struct inventory *inventory;
	struct census *census;
	struct gauge *gauge;
	struct publisher *publisher;
	struct pools *pools;
	struct reclaimer *reclaimer;
	struct bulletin *bulletin;
	int64_t recalled_epoch;	      /* for which the history was asked for; 0: none */
	struct kube_watch *configmap; /* NULL: none is followed */
	bool configmap_listed;	      /* it is known whether there is one */
	bool configmap_seen;	      /* in the list that is being read */
	bool swept;		      /* nobody lends, and nothing is published on any node */
	bool measures;		      /* somebody's usage is asked for */
	bool pools_dirty;
	uint64_t rounds, made; /* rounds of samples; loans that were made */
	int64_t now_ms, complained_ms;
};

#endif
