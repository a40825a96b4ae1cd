#include "cli/simulate/policy_specs.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/calendar/tzdata.h"
#include "controller/wire/decode.h"

static const struct {
	const char *name;
	void (*reject)(struct queue *q, const char *name, const char *sentence);
} rule_kinds[] = {
	[RULE_RUNPOLICY] = {"RunPolicy", queue_reject_runpolicy},
	[RULE_PRICEPLAN] = {"PricePlan", queue_reject_priceplan},
	[RULE_BUDGET] = {"Budget", queue_reject_budget},
	[RULE_ADVANCE_RESERVATION] = {"AdvanceReservation", queue_reject_advance_reservation},
};

void policy_specs_init(struct policy_specs *b)
{
	*b = (struct policy_specs){0};
	calendar_specs_init(&b->calendar_specs);
}

static void rule_done(struct rule *r)
{
	free(r->where);
	free(r->runpolicy); /* any member will do: all are one block */
	series_done(&r->series);
	zone_free(r->zone);
}

void policy_specs_done(struct policy_specs *b)
{
	calendar_specs_done(&b->calendar_specs);
	for (size_t i = 0; i < b->n; i++)
		rule_done(&b->rule[i]);
	free(b->rule);
	*b = (struct policy_specs){0};
}

const char *rule_name(const struct rule *r)
{
	switch (r->kind) {
	case RULE_RUNPOLICY:
		return r->runpolicy->name;
	case RULE_PRICEPLAN:
		return r->priceplan->name;
	case RULE_BUDGET:
		return r->budget->name;
	case RULE_ADVANCE_RESERVATION:
		return r->advance_reservation->name;
	}
	return "";
}

/* ---- reading --------------------------------------------------------------------------------- */

static int decode(struct rule *r, const cJSON *o, struct err *e)
{
	switch (r->kind) {
	case RULE_RUNPOLICY:
		return decode_runpolicy(o, &r->runpolicy, e);
	case RULE_PRICEPLAN:
		return decode_priceplan(o, &r->priceplan, e);
	case RULE_BUDGET:
		return decode_budget(o, &r->budget, e);
	case RULE_ADVANCE_RESERVATION:
		return decode_advance_reservation(o, &r->advance_reservation, e);
	}
	return 0;
}

/* Refuses a second rule of a name: an API server would have one. */
static int check_unique(const struct policy_specs *b, const struct rule *r, struct err *e)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->rule[i].kind == r->kind && strcmp(rule_name(&b->rule[i]), rule_name(r)) == 0)
			return err_set(e, ERR_CONFLICT,
				"%s %s: metadata.name: is that of another one at %s; rename it",
				rule_kinds[r->kind].name, rule_name(r), b->rule[i].where);
	return 0;
}

static int load_zone(struct rule *r, struct err *e)
{
	if (r->kind != RULE_BUDGET)
		return 0;
	int rc = tzdata_load(r->budget->time_zone, &r->zone, e);
	if (rc < 0)
		err_wrap(e, "Budget %s: spec.timeZone", r->budget->name);
	r->budget->zone = r->zone;
	return rc;
}

int policy_specs_add(struct policy_specs *b, enum rule_kind kind, const char *where, const cJSON *o,
	struct err *e)
{
	struct rule r = {.kind = kind};
	int rc = decode(&r, o, e);
	if (rc == 0)
		rc = check_unique(b, &r, e);
	if (rc == 0)
		rc = load_zone(&r, e);
	if (rc < 0) {
		rule_done(&r);
		return rc;
	}
	r.where = mem_strdup(where);
	b->rule = mem_grow(b->rule, b->n + 1, sizeof(*b->rule));
	b->rule[b->n++] = r;
	return 0;
}

/* ---- telling the queue ----------------------------------------------------------------------- */

static int apply_calendar(
	struct calendar_specs *s, size_t i, struct queue *q, int64_t now_ms, struct err *e)
{
	struct resolved r;
	int rc = calendar_specs_resolve(s, i, now_ms, &r, e);
	if (rc < 0)
		return rc;
	rc = queue_set_calendar(q, &r.spec, e);
	resolved_done(&r);
	if (rc < 0)
		err_wrap(e, "%s", s->item[i].where);
	return rc;
}

static void complete_plan(const struct calendar_specs *s, struct rule *r)
{
	struct priceplan_spec *plan = r->priceplan;
	if (plan->has_series)
		series_resolve(plan,
			calendar_specs_text(s, plan->series_configmap, plan->series_key),
			&r->series);
}

static int apply_rule(const struct policy_specs *b, struct rule *r, struct queue *q, struct err *e)
{
	bool again;
	switch (r->kind) {
	case RULE_RUNPOLICY:
		return queue_set_runpolicy(q, r->runpolicy, &again, e);
	case RULE_PRICEPLAN:
		complete_plan(&b->calendar_specs, r);
		return queue_set_priceplan(q, r->priceplan, e);
	case RULE_BUDGET:
		return queue_set_budget(q, r->budget, e);
	case RULE_ADVANCE_RESERVATION:
		return queue_set_advance_reservation(q, r->advance_reservation, e);
	}
	return 0;
}

static bool is_reservation(const struct rule *r)
{
	return r->kind == RULE_ADVANCE_RESERVATION;
}

static int apply_rules(
	struct policy_specs *b, bool reservations, struct queue *q, struct err *inner)
{
	for (size_t i = 0; i < b->n; i++) {
		struct rule *r = &b->rule[i];
		int rc = is_reservation(r) == reservations ? apply_rule(b, r, q, inner) : 0;
		if (rc < 0 && !b->lenient) {
			err_wrap(inner, "%s", r->where);
			return rc;
		}
		if (rc < 0)
			rule_kinds[r->kind].reject(q, rule_name(r), inner->text);
	}
	return 0;
}

int policy_specs_apply(struct policy_specs *b, struct queue *q, int64_t now_ms, struct err *e)
{
	struct calendar_specs *s = &b->calendar_specs;
	struct err inner = {""};
	int rc = 0;
	for (size_t i = 0; i < s->n && rc == 0; i++) {
		rc = apply_calendar(s, i, q, now_ms, &inner);
		if (rc < 0 && b->lenient) {
			queue_reject_calendar(q, s->item[i].spec->name, inner.text);
			rc = 0;
		}
	}
	if (rc == 0)
		rc = apply_rules(b, false, q, &inner);
	return rc < 0 ? err_set(e, rc, "%s", inner.text) : 0;
}

int policy_specs_reserve(struct policy_specs *b, struct queue *q, struct err *e)
{
	struct err inner = {""};
	int rc = apply_rules(b, true, q, &inner);
	return rc < 0 ? err_set(e, rc, "%s", inner.text) : 0;
}

/* ---- warnings -------------------------------------------------------------------------------- */

static const char *where_of(const struct policy_specs *b, enum rule_kind kind, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->rule[i].kind == kind && strcmp(rule_name(&b->rule[i]), name) == 0)
			return b->rule[i].where;
	return "";
}

static void warn(const char *where, const char *kind, const char *name,
	const struct condition_view *c, struct buf *out)
{
	if (!c->ok)
		buf_printf(out, "%s: %s %s: %s: %s\n", where, kind, name, c->reason, c->message);
}

struct warned_kind {
	enum rule_kind rule;
	enum effect_kind effect;
	const char *name;
};

/* Warns in the words of the conditions Active and Effective. Those of a live cluster have Effective
 * already, and what the caller may not list would seem not to be there. */
static void warn_rule(const struct policy_specs *b, const struct queue *q,
	const struct warned_kind *kind, const char *name, const struct condition_view *active,
	struct buf *out)
{
	struct condition_view effective;
	const char *where = where_of(b, kind->rule, name);
	warn(where, kind->name, name, active, out);
	if (b->lenient)
		return;
	queue_view_effect(q, kind->effect, "", name, &effective);
	warn(where, kind->name, name, &effective, out);
}

static void warn_calendars(const struct policy_specs *b, const struct queue *q, struct buf *out)
{
	struct calendar_view v;
	for (size_t i = 0; queue_view_calendar(q, i, &v); i++)
		for (size_t s = 0; s < b->calendar_specs.n; s++)
			if (strcmp(b->calendar_specs.item[s].spec->name, v.name) == 0)
				warn(b->calendar_specs.item[s].where, "Calendar", v.name, &v.valid,
					out);
}

static void warn_reservations(const struct policy_specs *b, const struct queue *q, struct buf *out)
{
	struct advance_reservation_view v;
	for (size_t i = 0; queue_view_advance_reservation(q, i, &v); i++) {
		const char *where = where_of(b, RULE_ADVANCE_RESERVATION, v.name);
		if (strcmp(v.accepted.reason, "NotJudgedYet") == 0)
			continue; /* the first decision of the play judges them */
		warn(where, "AdvanceReservation", v.name, &v.accepted, out);
		if (v.accepted.ok)
			warn(where, "AdvanceReservation", v.name, &v.kept, out);
	}
}

void policy_specs_warn(const struct policy_specs *b, const struct queue *q, struct buf *out)
{
	static const struct warned_kind of_policy = {RULE_RUNPOLICY, EFFECT_RUNPOLICY, "RunPolicy"},
					of_plan = {RULE_PRICEPLAN, EFFECT_PRICEPLAN, "PricePlan"},
					of_budget = {RULE_BUDGET, EFFECT_BUDGET, "Budget"};
	struct runpolicy_view policy;
	struct priceplan_view plan;
	struct budget_view budget;
	warn_calendars(b, q, out);
	for (size_t i = 0; queue_view_runpolicy(q, i, &policy); i++)
		warn_rule(b, q, &of_policy, policy.name, &policy.active, out);
	for (size_t i = 0; queue_view_priceplan(q, i, &plan); i++)
		warn_rule(b, q, &of_plan, plan.name, &plan.active, out);
	for (size_t i = 0; queue_view_budget(q, i, &budget); i++)
		warn_rule(b, q, &of_budget, budget.name, &budget.active, out);
	warn_reservations(b, q, out);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* True if a glob of * and ? matches: names of objects have nothing else that fnmatch() would take
 * for more. */
static bool is_named(const char *const *globs, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(globs[i], name, FNM_NOESCAPE) == 0)
			return true;
	return false;
}

bool rule_binds(const struct rule *r, const char *clusterqueue)
{
	switch (r->kind) {
	case RULE_RUNPOLICY:
		return is_named(r->runpolicy->queues, r->runpolicy->nqueues, clusterqueue);
	case RULE_PRICEPLAN:
		return r->priceplan->nqueues == 0 ||
		       is_named(r->priceplan->queues, r->priceplan->nqueues, clusterqueue);
	case RULE_BUDGET:
		return strcmp(r->budget->clusterqueue, clusterqueue) == 0;
	case RULE_ADVANCE_RESERVATION:
		return !*r->advance_reservation->clusterqueue ||
		       strcmp(r->advance_reservation->clusterqueue, clusterqueue) == 0;
	}
	return false;
}
