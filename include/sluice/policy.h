/*
 * What admins say of time and money: the specs of RunPolicy, PricePlan, Budget and AdvanceReservation,
 * decoded (docs/time.md, docs/money.md). A Calendar's spec is in sluice/calendar.h.
 *
 * Records of one moment, like struct job: borrowed by the call they are passed to. Money is in
 * millionths of a unit of the currency (queue/price/money.h), factors are in millionths too.
 */
#ifndef SLUICE_POLICY_H
#define SLUICE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "sluice/placement.h"

/* ---- RunPolicy: what a calendar does to queues ---- */

enum start_fit {
	FIT_PREFER,  /* a Job that ends before the close goes first */
	FIT_REQUIRE, /* only a Job that ends before the close starts */
	FIT_IGNORE,
};

enum close_action {
	CLOSE_FINISH,  /* what runs goes on: LSF's DISPATCH_WINDOW */
	CLOSE_SUSPEND, /* what runs is stopped: RUN_WINDOW */
};

#define RUNPOLICY_SUSPENSIONS_UNLIMITED (-1)
#define POLICY_LIST_MAX 64 /* queues, localQueues and quota of a RunPolicy; queues of a PricePlan */
#define RUNPOLICY_SPAN_MAX_MS (INT64_C(744) * 3600 * 1000) /* overrun, notice, minRun, leadTime */

#include "sluice/fields/members.h"

struct window_quota_spec {
#include "sluice/fields/window_quota.def"
};

struct runpolicy_spec {
	META;
#include "sluice/fields/runpolicy.def"
};

/* ---- PricePlan: what an hour costs ---- */

#define PRICE_FACTOR_ONE 1000000

struct price_base {
	const char *resource; /* "memory-gib" in YAML is {"memory", per_gib} */
	bool per_gib;	      /* the price of a GiB, not of a byte; cpu: of a whole one */
	int64_t per_hour;     /* millionths */
};

struct price_flavor {
	const char *flavor;
	int64_t factor; /* by which all prices are multiplied in this flavor; default one */
};

struct price_rate {
	const char *calendar, *window; /* window "": whenever it is open */
	int64_t factor;
};

struct price_point {
	int64_t from_ms;
	int64_t factor; /* the value divided by the series' reference; may be negative */
};

struct priceplan_spec {
	META;
	const char *currency;
	const char *const *queues; /* ClusterQueues, names or globs; none: all. For which of several
				      plans holds see queue/features/money/plan.h */
	size_t nqueues;
	const struct price_base *base;
	size_t nbases;
	const struct price_flavor *flavor;
	size_t nflavors;
	const struct price_rate *rate; /* the first that is open holds; none: factor one */
	size_t nrates;

	/* spec.series: goes before the rates where it has a price that is not stale. Whoever reads
	 * the ConfigMap fills in the points (by time). A point holds until the next one, the last
	 * for stale_after_ms. */
	bool has_series;
	const char *series_configmap, *series_key; /* not read by the queue */
	int64_t series_reference;		   /* millionths; not read by the queue */
	const struct price_point *series;
	size_t nseries;
	int64_t stale_after_ms;
	bool hold_when_stale;	  /* whenStale: HoldStarts; else UseRates */
	const char *series_fault; /* NULL, or why there are no points: "ConfigMap ... missing" */
};

/* ---- Budget: how much a queue may spend ---- */

enum budget_period { PERIOD_DAILY, PERIOD_WEEKLY, PERIOD_MONTHLY, PERIOD_YEARLY };

enum budget_charge {
	CHARGE_EXPECTED, /* a start reserves what the run is expected to cost; settled at its end */
	CHARGE_ACTUAL,	 /* only what was spent counts */
};

enum budget_exhausted { EXHAUSTED_HOLD, EXHAUSTED_SUSPEND, EXHAUSTED_WARN };

struct zone;

struct budget_spec {
	META;
	/* Either these or clusterqueue are set. A LocalQueue's runs count in its ClusterQueue's
	 * budgets, too. */
	const char *localqueue_ns, *localqueue; /* "" when not */
	const struct zone *zone; /* whose midnights begin periods; NULL: there is no such zone */
	const char *currency;	 /* "": that of the queue's PricePlan */
	int64_t amount;
#include "sluice/fields/budget.def"
};

/* ---- AdvanceReservation: quota that is kept for a time ---- */

#define ADVANCE_AMOUNTS_MAX 64				/* of one AdvanceReservation */
#define ADVANCE_NAMES_MAX 64				/* namespaces; users */
#define ADVANCE_AHEAD_MAX_MS (INT64_C(366) * 86400000)	/* from now: all windows end by then */
#define ADVANCE_RELEASE_MAX_MS (INT64_C(744) * 3600000) /* of releaseAfter; as the CRD has it */
#define ADVANCE_WINDOWS_MAX 1000			/* of its Calendar, in that time */

/* An amount of a resource in a flavor. */
struct advance_amount {
	const char *flavor;
	const char *resource; /* "": all of the flavor that the ClusterQueue itself has */
	int64_t amount;	      /* 0 where resource is "" */
};

struct advance_reservation_spec {
	META;
	struct uid uid;
	int64_t created_ms; /* AdvanceReservations are judged in this order, then by name */
#include "sluice/fields/advance_reservation.def"
	const struct advance_amount *amount;
	size_t namounts;
	int64_t from_ms, until_ms; /* both 0 when calendar says when */
	/* The namespaces whose Jobs use it, and the users whose Jobs do. None: any. */
	const char *const *namespaces, *const *users;
	size_t nnamespaces, nusers;

	/* From its status, so that it outlives a leader. */
	bool accepted;	      /* in this generation, or before an edit of what may be edited */
	int64_t left_from_ms; /* of the window that began then, only `left` is still kept; 0: all is */
	const struct advance_amount *left;
	size_t nleft;
};

#include "sluice/fields/end.h"

#endif
