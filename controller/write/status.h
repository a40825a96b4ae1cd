/*
 * What the status of our objects says, as members of an object that the caller has begun.
 *
 * Pure: from the queue's view to text. The same view gives the same text, so a reporter may compare
 * texts to see whether there is news. Names of fields, conditions and reasons are Kueue's where it
 * has them.
 */
#ifndef SLUICE_CONTROLLER_WRITE_STATUS_H
#define SLUICE_CONTROLLER_WRITE_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json_writer.h"
#include "sluice/quantity.h"
#include "sluice/queue.h"

/* What a condition Active says. */
struct status_verdict {
	bool active;
	const char *reason, *message;
	const char *invalid; /* what is wrong with a newer spec, which is said instead; or NULL */
	int64_t generation;
};

/* What the condition Effective says (queue_view_effect()). */
struct status_effect {
	bool is;
	const char *reason, *message, *since;
};

/* Put a status. since: lastTransitionTime of Active, RFC 3339; NULL: left out. effect NULL: not
 * known yet. Shares are told while fair sharing is on. */
void status_put_clusterqueue(struct json_writer *w, const struct clusterqueue_view *v,
	bool fair_sharing, const char *since, const struct status_effect *effect);
/* Puts of a ClusterQueue's status what tenants may know: whether it is Active, without the message,
 * which may name LocalQueues, Cohorts and flavors of others; and sums, of quota and use and of how
 * many Jobs wait and run. */
void status_put_clusterqueue_sums(struct json_writer *w, const struct clusterqueue_view *v);
void status_put_cohort(struct json_writer *w, const struct cohort_view *v, bool fair_sharing,
	const char *since, const struct status_effect *effect);
void status_put_localqueue(struct json_writer *w, const struct localqueue_view *v,
	const char *since, const struct status_effect *effect);
void status_put_resourceflavor(
	struct json_writer *w, const struct status_verdict *v, const char *since);

/* The conditions of a kind, and what they say; since has a time for each. */
#define STATUS_CONDITIONS_MAX 3
struct status_conditions {
	const char *type[STATUS_CONDITIONS_MAX]; /* NULL past the last */
	bool is[STATUS_CONDITIONS_MAX];
	bool bad[STATUS_CONDITIONS_MAX];   /* an admin should do something about it */
	bool cured[STATUS_CONDITIONS_MAX]; /* its end is worth an Event, too */
	const char *reason[STATUS_CONDITIONS_MAX], *message[STATUS_CONDITIONS_MAX];
	const char *since[STATUS_CONDITIONS_MAX];
};

/* Judge a view: fill in all but since. The words live as long as v. */
void status_judge_calendar(const struct calendar_view *v, struct status_conditions *ret);
void status_judge_runpolicy(const struct runpolicy_view *v, struct status_conditions *ret);
void status_judge_priceplan(const struct priceplan_view *v, struct status_conditions *ret);
void status_judge_budget(const struct budget_view *v, struct status_conditions *ret);
void status_judge_advance_reservation(
	const struct advance_reservation_view *v, struct status_conditions *ret);
/* Adds the condition Effective behind what was judged; NULL: adds nothing. */
void status_add_effect(struct status_conditions *c, const struct status_effect *effect);

/* Puts a Calendar's status. tzdata: the edition of the zone database that it goes by. */
void status_put_calendar(struct json_writer *w, const struct calendar_view *v, const char *tzdata,
	const struct status_conditions *c);
void status_put_runpolicy(
	struct json_writer *w, const struct runpolicy_view *v, const struct status_conditions *c);
void status_put_priceplan(
	struct json_writer *w, const struct priceplan_view *v, const struct status_conditions *c);
void status_put_budget(
	struct json_writer *w, const struct budget_view *v, const struct status_conditions *c);
/* Puts what decode_advance_reservation() reads back: it outlives a leader. */
void status_put_advance_reservation(struct json_writer *w, const struct advance_reservation_view *v,
	const struct status_conditions *c);

/* Puts a number that the CRD has as an int32. */
void status_put_count(struct json_writer *w, const char *key, size_t n);

/* Puts the member key, [{"name":FLAVOR,"resources":[{"name":RESOURCE,...},...]},...]: put writes the other members
 * of each row. The rows of one flavor need not stand together. */
typedef void status_put_row_fn(
	struct json_writer *w, const struct usage_view *row, const void *ctx);
void status_put_flavors(struct json_writer *w, const char *key, const struct usage_view *usage,
	size_t n, status_put_row_fn *put, const void *ctx);

#endif
