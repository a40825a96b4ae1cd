/*
 * /metrics: what operators plot and alert on, as OpenMetrics text.
 *
 * Labels are of few values: names of what admins make, reasons, currencies, HTTP methods and codes.
 * Never the name of a Job, of which there are too many.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_METRICS_H
#define SLUICE_CONTROLLER_ANSWERS_METRICS_H

#include <stdbool.h>

#include "base/buf.h"
#include "controller/forecast/forecasts_counts.h"
#include "controller/gate/gate.h"
#include "controller/write/events.h"
#include "controller/watch/kind_health.h"
#include "controller/kube/client.h"
#include "controller/answers/counters.h"
#include "controller/overcommit/overcommit_controller.h"
#include "sluice/queue.h"

#define METRICS_CONTENT_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* How often something was refused for a reason, which is static. */
struct metrics_refusal {
	const char *reason;
	uint64_t count;
};

enum { METRICS_REFUSALS_MAX = 16 };

struct metrics_sources {
	const struct queue *queue;
	const struct gate *gate;
	const struct counters *counters;
	struct events_counts events;
	struct forecasts_counts forecasts;
	const struct kube_client_stats *api;
	const struct overcommit_controller
		*overcommit_controller;			       /* NULL: families without samples */
	struct metrics_refusal refusals[METRICS_REFUSALS_MAX]; /* at the port of agents */
	size_t nrefusals;				       /* 0: there is no such port */
	struct kind_health kinds[KIND_HEALTH_MAX];
	size_t nkinds;
	bool ledger_up, synced;
	const struct recorder *recorder; /* NULL: --record was not given */
	bool fair_sharing;		 /* shares are told */
	bool decides; /* this controller leads; a standby does not know what holds quota */
};

void metrics_render(const struct metrics_sources *s, struct buf *out);

/* Appends the metrics of Calendars, RunPolicies, PricePlans, Budgets and AdvanceReservations:
 * metrics_time.c. */
void metrics_put_time(struct buf *out, const struct queue *q);

#endif
