#include "queue/explain/explain_nice.h"

#define NAME_SHOWN 100

static void add_passed(
	const struct workload *w, struct text *t, const char *side, uint32_t n, const char *other)
{
	if (n == 0)
		return;
	text_add(t, "; %s %u %s of ", side, n, n == 1 ? "Job" : "Jobs");
	text_add_cut(t, w->user->name, NAME_SHOWN);
	if (nice_of(w) != 0)
		text_add(t, " by its sluice.dev/nice %d", nice_of(w));
	else
		text_add(t, " by %s sluice.dev/nice, which is %s", n == 1 ? "its" : "their", other);
}

static void add_beyond(const struct workload *w, struct text *t)
{
	text_add(t, "; its sluice.dev/nice %d is not heeded yet: ", nice_of(w));
	text_add_cut(t, w->user->name, NAME_SHOWN);
	text_add(t, " has more than %d Jobs in line in LocalQueue %s/%s, and orders the first %d",
		NICE_DEALT_MAX, w->lq->ns->name, w->lq->name, NICE_DEALT_MAX);
}

/* It has a nice. True: that is not heeded. */
static bool is_unheeded(const struct workload *w, struct text *t)
{
	if (!user_is_known(w->user))
		text_add(t,
			"; its sluice.dev/nice %d is not heeded, because it is not known who submitted it",
			nice_of(w));
	else if (w->place == PLACE_READY && w->key.due_ms != 0)
		text_add(t,
			"; its sluice.dev/nice %d is not heeded any more, because its latest start has come",
			nice_of(w));
	else if (w->place == PLACE_READY && nice_is_beyond(w))
		add_beyond(w, t);
	else
		return false;
	return true;
}

void explain_nice(const struct workload *w, struct text *t)
{
	if (!w->nice || (nice_of(w) != 0 && is_unheeded(w, t)) || w->place != PLACE_READY ||
		!user_is_known(w->user))
		return;
	nices_count(w->user);
	add_passed(w, t, "before", w->nice->before, "higher");
	add_passed(w, t, "behind", w->nice->behind, "lower");
}
