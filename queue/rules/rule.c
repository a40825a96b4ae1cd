#include "queue/rules/rule.h"

#include "queue/admit/nominee_order.h"
#include "queue/core.h"

#define RULE_AT(name) [RULE_##name] = &name##_rule,
static const struct rule *const RULE[RULE_COUNT] = {RULES(RULE_AT)};
#undef RULE_AT

/* Each rule that has the function. */
#define each_rule(r, function)                                                                     \
	for (const struct rule *const *at_##r = RULE, *r; at_##r < RULE + RULE_COUNT; at_##r++)    \
		if ((r = *at_##r)->function)

/* ---- Starts ---- */

bool rules_queue_may(struct queue *q, struct clusterqueue *cq)
{
	each_rule(rule, queue_may) if (!rule->queue_may(q, cq)) return false;
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
	each_rule(rule, group_may)
	{
		all = both(all, rule->group_may(q, g));
		if (all.answer == ANSWER_NO || all.pods < g->shape->min_pods)
			return RULING_NO;
	}
	return all;
}

bool rules_choice_may(struct queue *q, const struct attempt *a)
{
	each_rule(rule, choice_may) if (!rule->choice_may(q, a)) return false;
	return true;
}

/* ---- Searches ---- */

bool rules_subtree_may(const struct queue *q, const struct group *root)
{
	each_rule(rule, subtree_may) if (!rule->subtree_may(q, root)) return false;
	return true;
}

bool rules_put_last(const struct clusterqueue *cq)
{
	each_rule(rule, puts_last) if (rule->puts_last(cq)) return true;
	return false;
}

uint64_t rules_part(const struct workload *w, struct parting *ret)
{
	uint64_t hash = 0;
	*ret = (struct parting){0};
	each_rule(rule, parts) hash ^= rule->parts(w, ret);
	return hash;
}

bool rules_look_at_duration(const struct localqueue *lq)
{
	each_rule(rule, looks_at_duration) if (rule->looks_at_duration(lq)) return true;
	return false;
}

/* ---- Victims and pods ---- */

bool rules_look_at_victims(const struct queue *q, const struct nominee *e)
{
	each_rule(rule, looks_at_victims) if (rule->looks_at_victims(q, e)) return true;
	return false;
}

int32_t rules_choice_pods(struct queue *q, const struct attempt *a)
{
	int32_t least = a->nominee->choice.pods;
	each_rule(rule, choice_pods)
	{
		int32_t pods = rule->choice_pods(q, a);
		least = pods < least ? pods : least;
	}
	return least;
}

bool rules_in_vain(struct queue *q, const struct nominee *e)
{
	each_rule(rule, is_in_vain) if (rule->is_in_vain(q, e)) return true;
	return false;
}

/* ---- Promises ---- */

bool rules_promise_may(struct queue *q, struct reservation *r)
{
	each_rule(rule, promise_may) if (!rule->promise_may(q, r)) return false;
	return true;
}

enum room rules_promise_room(struct queue *q, const struct reservation *r)
{
	enum room worst = ROOM_NOW;
	each_rule(rule, promise_room)
	{
		enum room room = rule->promise_room(q, r);
		worst = room < worst ? room : worst;
	}
	return worst;
}

bool rules_promise_may_choose(const struct queue *q, const struct reservation *r,
	const struct claim *claim, const struct choice *choice)
{
	each_rule(rule, promise_may_choose) if (!rule->promise_may_choose(
							q, r, claim, choice)) return false;
	return true;
}

bool rules_may_return(const struct workload *w, int64_t now_ms)
{
	each_rule(rule, may_return) if (!rule->may_return(w, now_ms)) return false;
	return true;
}

/* ---- Runs ---- */

enum stop_reason rules_stop(struct queue *q, struct reservation *r)
{
	each_rule(rule, stops)
	{
		enum stop_reason reason = rule->stops(q, r);
		if (reason != STOP_REASON_NONE)
			return reason;
	}
	return STOP_REASON_NONE;
}

int64_t rules_next_ms(struct queue *q, const struct reservation *r)
{
	int64_t first_ms = INT64_MAX;
	each_rule(rule, next_ms)
	{
		int64_t next_ms = rule->next_ms(q, r);
		first_ms = next_ms < first_ms ? next_ms : first_ms;
	}
	return first_ms;
}

enum wait_reason rules_explain(struct question *a)
{
	each_rule(rule, explain)
	{
		enum wait_reason reason = rule->explain(a);
		if (reason != WAIT_NOT)
			return reason;
	}
	return WAIT_NOT;
}
