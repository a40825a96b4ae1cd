#include "queue/rules/rule.h"

#include "base/must.h"
#include "queue/admit/nominee.h"
#include "queue/core.h"
#include "queue/model/reservation.h"

#define RULE_AT(name) [RULE_##name] = &name##_rule,
static const struct rule *const RULE[RULE_COUNT] = {RULES(RULE_AT)};
#undef RULE_AT

/* Each rule among those of the mask that has the function. */
#define each_rule(r, mask, function)                                                               \
	for (uint32_t bits_##r = (mask); bits_##r; bits_##r &= bits_##r - 1)                       \
		for (const struct rule *r = RULE[__builtin_ctz(bits_##r)]; r && r->function;       \
			r = NULL)

/* ---- What they concern ---- */

#define ALL_RULES ((UINT32_C(1) << RULE_COUNT) - 1)

static uint32_t concerning(struct queue *q, struct clusterqueue *cq)
{
	uint32_t mask = 0;
	for (unsigned i = 0; i < RULE_COUNT; i++)
		if (!RULE[i]->concerns || RULE[i]->concerns(q, cq))
			mask |= UINT32_C(1) << i;
	return mask;
}

/* A bit for each rule that concerns cq. With SLUICE_CHECK_RULES it is checked each time. */
static inline uint32_t rules_of(const struct queue *asked, const struct clusterqueue *asked_of)
{
	struct queue *q = (struct queue *)(uintptr_t)asked; /* only to keep the answer */
	struct clusterqueue *cq = (struct clusterqueue *)(uintptr_t)asked_of;
	if (cq->rules_as_of != q->counters.rules_edits) {
		cq->rules = concerning(q, cq);
		cq->rules_as_of = q->counters.rules_edits;
	}
#ifdef SLUICE_CHECK_RULES
	must(cq->rules == concerning(q, cq));
#endif
	return cq->rules;
}

void rules_edited(struct queue *q)
{
	q->counters.rules_edits++;
}

/* ---- Starts ---- */

bool rules_queue_may(struct queue *q, struct clusterqueue *cq)
{
	each_rule(rule, rules_of(q, cq), queue_may)
		if (!rule->queue_may(q, cq))
			return false;
	return true;
}

/* The worst answer, the fewest pods, the shortest time. */
static struct ruling both(struct ruling a, struct ruling b)
{
	return (struct ruling){
		a.answer > b.answer ? a.answer : b.answer,
		a.pods < b.pods ? a.pods : b.pods,
		a.until_ms < b.until_ms ? a.until_ms : b.until_ms,
	};
}

struct ruling rules_group_may(const struct queue *q, const struct group *g)
{
	struct ruling all = RULING_YES;
	each_rule(rule, rules_of(q, g->cq), group_may) {
		all = both(all, rule->group_may(q, g));
		if (all.answer == ANSWER_NO || all.pods < g->shape->min_pods)
			return RULING_NO;
	}
	return all;
}

bool rules_choice_may(struct queue *q, const struct attempt *a)
{
	each_rule(rule, rules_of(q, a->nominee->cq), choice_may)
		if (!rule->choice_may(q, a))
			return false;
	return true;
}

/* ---- Searches ---- */

bool rules_subtree_may(const struct queue *q, const struct group *root)
{
	each_rule(rule, rules_of(q, root->cq), subtree_may)
		if (!rule->subtree_may(q, root))
			return false;
	return true;
}

bool rules_put_last(const struct queue *q, const struct clusterqueue *cq)
{
	each_rule(rule, rules_of(q, cq), puts_last)
		if (rule->puts_last(cq))
			return true;
	return false;
}

void rules_part(const struct workload *w, struct parting *p)
{
	each_rule(rule, ALL_RULES, parts)
		rule->parts(w, p);
}

bool rules_look_at_duration(const struct localqueue *lq)
{
	each_rule(rule, ALL_RULES, looks_at_duration)
		if (rule->looks_at_duration(lq))
			return true;
	return false;
}

/* ---- Victims and pods ---- */

bool rules_look_at_victims(const struct queue *q, const struct nominee *e)
{
	each_rule(rule, rules_of(q, e->cq), looks_at_victims)
		if (rule->looks_at_victims(q, e))
			return true;
	return false;
}

int32_t rules_choice_pods(struct queue *q, const struct attempt *a)
{
	int32_t least = a->nominee->choice.pods;
	each_rule(rule, rules_of(q, a->nominee->cq), choice_pods) {
		int32_t pods = rule->choice_pods(q, a);
		least = pods < least ? pods : least;
	}
	return least;
}

bool rules_in_vain(struct queue *q, const struct nominee *e)
{
	each_rule(rule, rules_of(q, e->cq), is_in_vain)
		if (rule->is_in_vain(q, e))
			return true;
	return false;
}

/* ---- Promises ---- */

bool rules_promise_may(struct queue *q, struct reservation *r)
{
	each_rule(rule, rules_of(q, r->cq), promise_may)
		if (!rule->promise_may(q, r))
			return false;
	return true;
}

enum room rules_promise_room(struct queue *q, const struct reservation *r)
{
	enum room worst = ROOM_NOW;
	each_rule(rule, rules_of(q, r->cq), promise_room) {
		enum room room = rule->promise_room(q, r);
		worst = room < worst ? room : worst;
	}
	return worst;
}

bool rules_promise_may_choose(const struct queue *q, const struct reservation *r,
	const struct claim *claim, const struct choice *choice)
{
	each_rule(rule, rules_of(q, r->cq), promise_may_choose)
		if (!rule->promise_may_choose(q, r, claim, choice))
			return false;
	return true;
}

bool rules_may_return(const struct workload *w, int64_t now_ms)
{
	each_rule(rule, ALL_RULES, may_return)
		if (!rule->may_return(w, now_ms))
			return false;
	return true;
}

/* ---- Runs ---- */

int32_t rules_growth_pods(
	struct queue *q, const struct reservation *r, int32_t more, const char **ret_why)
{
	int32_t least = more;
	each_rule(rule, rules_of(q, r->cq), growth_pods) {
		int32_t pods = least > 0 ? rule->growth_pods(q, r, least) : 0;
		if (pods < least)
			*ret_why = rule->growth_refused;
		least = pods < least ? pods : least;
	}
	return least;
}

enum stop_reason rules_stop(struct queue *q, struct reservation *r)
{
	each_rule(rule, ALL_RULES, stops) {
		enum stop_reason reason = rule->stops(q, r);
		if (reason != STOP_REASON_NONE)
			return reason;
	}
	return STOP_REASON_NONE;
}

int64_t rules_next_ms(struct queue *q, const struct reservation *r)
{
	int64_t first_ms = INT64_MAX;
	each_rule(rule, ALL_RULES, next_ms) {
		int64_t next_ms = rule->next_ms(q, r);
		first_ms = next_ms < first_ms ? next_ms : first_ms;
	}
	return first_ms;
}

void rules_run_ended(struct queue *q, struct reservation *r)
{
	each_rule(rule, ALL_RULES, run_ended)
		rule->run_ended(q, r);
}

enum wait_reason rules_explain(struct question *a)
{
	each_rule(rule, ALL_RULES, explain) {
		enum wait_reason reason = rule->explain(a);
		if (reason != WAIT_NOT)
			return reason;
	}
	return WAIT_NOT;
}
