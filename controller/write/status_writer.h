/*
 * The status writer: keeps the status of our objects as the queue library sees them. These are
 * ClusterQueues, Cohorts, LocalQueues, Calendars, RunPolicies, PricePlans, Budgets and
 * AdvanceReservations; and a ResourceFlavor whose spec was refused, or that is being deleted while
 * it is in use.
 *
 * The leader alone writes, by a patch of /status (status_patch.h), when the rendered text differs
 * from what was last written: at most once a second per object and with few under way at once, for
 * Jobs are waiting for the same API server. While Job writes stand in line that is once in five
 * seconds. While the API server takes long to answer it is once in a hundred times as long (at most
 * half a minute): status never is what a busy server is busy with. A write that failed is simply
 * due again.
 *
 * When a condition of a Calendar, RunPolicy, PricePlan, Budget or AdvanceReservation turns to
 * something that an admin should act on, an Event says so, once; of an AdvanceReservation also when
 * that is over. An AdvanceReservation that was not judged yet is not written: its status may say
 * that an earlier leader has accepted it, and that must stand until the queue has looked at it.
 *
 * lastTransitionTime is kept when the condition's status did not change, also over a restart: what
 * the object itself says is taken in with status_writer_see().
 *
 * What an AdvanceReservation gives back is free for others when its status says so
 * (queue_await_statuses()). So a status is written only if it follows from the version that was
 * heard last: the PATCH tests that.
 */
#ifndef SLUICE_CONTROLLER_WRITE_STATUS_WRITER_H
#define SLUICE_CONTROLLER_WRITE_STATUS_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/write/events.h"
#include "controller/kube/client.h"
#include "controller/common/log.h"
#include "controller/common/zones.h"
#include "sluice/queue.h"

struct cJSON;
struct status_writer;

enum status_writer_kind {
	REPORT_CLUSTERQUEUE,
	REPORT_LOCALQUEUE,
	REPORT_COHORT,
	REPORT_CALENDAR,
	REPORT_RUNPOLICY,
	REPORT_PRICEPLAN,
	REPORT_BUDGET, /* its numbers move all the time: at most every ten seconds */
	REPORT_ADVANCE_RESERVATION,
	REPORT_FLAVOR, /* written only when refused or being deleted, or when that is over */
};

struct status_writer_options {
	struct kube_client *client;
	const struct queue *queue;
	struct log *log;
	bool fair_sharing;	   /* shares are told */
	const struct zones *zones; /* whose edition Calendars tell; NULL: none */
	struct events *events;	   /* takes what became wrong; NULL: no Events are written */
	int64_t (*clock_us)(void); /* only differences mean something; NULL: the machine's */
};

struct status_writer *status_writer_new(const struct status_writer_options *o);
/* Frees it, once the client is freed or gives no more answers: nothing may be under way. */
void status_writer_free(struct status_writer *r);

/* Takes in an object as it is on the API server. */
void status_writer_see(
	struct status_writer *r, enum status_writer_kind kind, const struct cJSON *object);
/* Takes the sentence by which a ResourceFlavor that was seen was refused; NULL: it was not. */
void status_writer_judge(struct status_writer *r, const struct cJSON *flavor, const char *sentence);
void status_writer_lose(
	struct status_writer *r, enum status_writer_kind kind, const char *ns, const char *name);

/* Writes what is due. Call it about once a second, while leading. */
void status_writer_tick(struct status_writer *r, int64_t now_ms);

#endif
