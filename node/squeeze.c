#include "node/squeeze.h"

#include "base/order.h"

typedef __int128 wide;

enum { NEAR_PERCENT = 10 }; /* below a mark */

/* What of the node's memory is in use, and what of it must be left. */
struct use {
	wide in_use, total; /* bytes; 100 times as much is compared */
	int64_t available, least_available;
};

/* Tells whether so many percent are in use; 0: never. */
static bool is_used(const struct use *u, int64_t percent)
{
	return percent > 0 && u->in_use * 100 >= u->total * percent;
}

static bool ends(const struct use *u, const struct orders *o)
{
	return o->end_percent > 0 &&
	       (is_used(u, o->end_percent) || u->available < u->least_available);
}

/* Tells whether pods are to be held: from the mark on, and until `lower` percent below it. */
static bool holds(const struct use *u, const struct orders *o, int lower)
{
	if (o->hold_percent <= 0)
		return false;
	wide least_available = u->least_available + u->least_available / 2 + u->total * lower / 100;
	return is_used(u, greater(o->hold_percent - lower, 1)) || u->available < least_available;
}

static struct use use_of(int64_t total, int64_t available)
{
	return (struct use){
		(wide)total - available, total, available, least(SQUEEZE_AVAILABLE_MIN, total / 5)};
}

enum squeeze_level squeeze_look(
	struct squeeze *s, const struct orders *o, int64_t total, int64_t available)
{
	struct use u = use_of(total, available);
	if (total <= 0 || available < 0) /* what was held stays held, and nothing is ended */
		s->level = s->level == SQUEEZE_CALM || o->hold_percent <= 0 ? SQUEEZE_CALM
									    : SQUEEZE_HELD;
	else if (ends(&u, o))
		s->level = SQUEEZE_ENDING;
	else if (holds(&u, o, s->level == SQUEEZE_CALM ? 0 : SQUEEZE_LOWER_PERCENT))
		s->level = SQUEEZE_HELD;
	else
		s->level = SQUEEZE_CALM;
	return s->level;
}

bool squeeze_may_end(const struct squeeze *s, int64_t now_ms)
{
	return s->level == SQUEEZE_ENDING &&
	       (!s->has_ended || now_ms - s->ended_ms >= SQUEEZE_PAUSE_MS);
}

void squeeze_ended(struct squeeze *s, int64_t now_ms)
{
	s->has_ended = true;
	s->ended_ms = now_ms;
}

bool squeeze_is_near(
	const struct squeeze *s, const struct orders *o, int64_t total, int64_t available)
{
	struct use u = use_of(total, available);
	int64_t mark = o->hold_percent > 0 ? o->hold_percent : o->end_percent;
	if (mark <= 0 || total <= 0 || available < 0)
		return false;
	return s->level != SQUEEZE_CALM || is_used(&u, greater(mark - NEAR_PERCENT, 1)) ||
	       available < 2 * u.least_available;
}
