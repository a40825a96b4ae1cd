/*
 * The rulebook: what manifests say of time and money. Calendars and ConfigMaps are on its shelf
 * (calendar_specs.h), RunPolicies, PricePlans, Budgets and AdvanceReservations are its rules.
 *
 * Rules are given to the queue only when the world is closed, since a Calendar may take its dates
 * from a ConfigMap that stands further down. A rule that makes no sense ends the reading, as with
 * all kinds. Faults that only the queue sees are warnings: a Calendar that never opens, a policy
 * that binds nothing, a Budget in another currency than its plan. They are in the words of the
 * conditions that the controller would write.
 */
#ifndef SLUICE_CLI_SIMULATE_POLICY_SPECS_H
#define SLUICE_CLI_SIMULATE_POLICY_SPECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/simulate/calendar_specs.h"
#include "queue/price/series.h"
#include "sluice/queue.h"

enum rule_kind { RULE_RUNPOLICY, RULE_PRICEPLAN, RULE_BUDGET, RULE_ADVANCE_RESERVATION };

struct rule {
	enum rule_kind kind;
	char *where; /* "money.yaml:12" */
	union {	     /* by kind; one block each */
		struct runpolicy_spec *runpolicy;
		struct priceplan_spec *priceplan;
		struct budget_spec *budget;
		struct advance_reservation_spec *advance_reservation;
	};
	struct zone *zone;    /* RULE_BUDGET */
	struct series series; /* RULE_PRICEPLAN: the spec borrows from it, so rules do not move
				 once they are applied */
};

struct policy_specs {
	struct calendar_specs calendar_specs;
	struct rule *rule; /* in the order of the files */
	size_t n;
	/* Tells the queue what makes no sense as such, as a controller does, instead of ending the
	 * reading. */
	bool lenient;
};

void policy_specs_init(struct policy_specs *b);
void policy_specs_done(struct policy_specs *b);

/* Adds a rule. where: file and line of the object. The sentence names object, field and cure, not
 * the file. */
int policy_specs_add(struct policy_specs *b, enum rule_kind kind, const char *where, const cJSON *o,
	struct err *e);

/* Tells the queue all but AdvanceReservations; once, when all is read. Sentences begin with file
 * and line. */
int policy_specs_apply(struct policy_specs *b, struct queue *q, int64_t now_ms, struct err *e);
/* Tells the queue the AdvanceReservations, after policy_specs_apply(). The next decision judges
 * them, so it must not come before the queue knows what runs. */
int policy_specs_reserve(struct policy_specs *b, struct queue *q, struct err *e);

/* Appends, after a decision, a line for each rule that the queue finds without effect: "FILE:LINE:
 * Budget a: CurrencyMismatch: ...". */
void policy_specs_warn(const struct policy_specs *b, const struct queue *q, struct buf *out);

/* True if a rule is for that ClusterQueue; what it says of LocalQueues aside. */
bool rule_binds(const struct rule *r, const char *clusterqueue);
const char *rule_name(const struct rule *r);

#endif
