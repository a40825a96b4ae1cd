#include "node/suppress.h"

#include <string.h>

#include "base/order.h"

static int64_t percent_of(int64_t amount, int64_t percent)
{
	return saturated((__int128)amount * percent / 100);
}

/* Gives what ordinary pods and the system leave; below 0 where they take more than percent. */
static int64_t free_milli(const struct orders *o, const struct suppress_use *use)
{
	int64_t ordinary = greater(use->pods - use->lent, 0);
	int64_t system = greater(use->node - use->pods, o->reserved.cpu_milli);
	return saturated((__int128)percent_of(o->capacity.cpu_milli, o->suppress_percent) -
			 ordinary - system);
}

/* Gives what lent pods have in any case. */
static int64_t floor_milli(const struct orders *o, const struct suppress_use *use)
{
	return greater(percent_of(o->capacity.cpu_milli, o->suppress_min_percent),
		(int64_t)use->npods * SUPPRESS_POD_LEAST_MILLI);
}

static void forget_oldest(struct suppress *s)
{
	memmove(&s->recent[0], &s->recent[1], --s->nrecent * sizeof(s->recent[0]));
}

/* Keeps what may still become the least of three seconds: amounts that rise, so the first is it. */
static void remember(struct suppress *s, int64_t now_ms, int64_t milli)
{
	while (s->nrecent && now_ms - s->recent[0].at_ms >= SUPPRESS_PATIENCE_MS)
		forget_oldest(s);
	while (s->nrecent && s->recent[s->nrecent - 1].free_milli >= milli)
		s->nrecent--;
	if (s->nrecent == SUPPRESS_REMEMBERS) { /* the first is taken for as young as the second */
		s->recent[1].free_milli = s->recent[0].free_milli;
		forget_oldest(s);
	}
	s->recent[s->nrecent].at_ms = now_ms;
	s->recent[s->nrecent++].free_milli = milli;
}

/* Begins anew where the last sample is not of the last three seconds. Returns how long ago it was,
 * at most a second. */
static int64_t go_on(struct suppress *s, int64_t now_ms)
{
	int64_t gone_ms = s->has_begun ? now_ms - s->last_ms : 0;
	if (!s->has_begun || gone_ms < 0 || gone_ms > SUPPRESS_PATIENCE_MS) {
		s->has_begun = true;
		s->began_ms = now_ms;
		s->nrecent = 0;
		gone_ms = 0;
	}
	s->last_ms = now_ms;
	return least(gone_ms, 1000);
}

void suppress_begin(struct suppress *s, int64_t found_milli)
{
	*s = (struct suppress){.may_milli = found_milli, .has_said = found_milli >= 0};
}

int64_t suppress_tick(
	struct suppress *s, const struct orders *o, const struct suppress_use *use, int64_t now_ms)
{
	if (!o->suppress || o->capacity.cpu_milli <= 0) {
		*s = (struct suppress){0};
		return -1;
	}
	if (use->node < 0 || use->pods < 0 || use->lent < 0)
		return s->has_said ? s->may_milli : -1;
	int64_t floor = floor_milli(o, use), slight = o->capacity.cpu_milli / 100;
	int64_t fits = greater(free_milli(o, use), floor);
	int64_t gone_ms = go_on(s, now_ms);
	remember(s, now_ms, fits);
	int64_t rise = saturated(
		(__int128)o->capacity.cpu_milli * o->suppress_rise_percent * gone_ms / 100000);
	int64_t lately = s->recent[0].free_milli;
	if (!s->has_said || s->may_milli - fits >= greater(slight, 1) ||
		(fits < s->may_milli && fits < use->lent))
		s->may_milli = fits;
	else if (now_ms - s->began_ms >= SUPPRESS_PATIENCE_MS && lately - s->may_milli >= slight)
		s->may_milli += least(rise, lately - s->may_milli);
	s->has_said = true;
	return s->may_milli = greater(s->may_milli, floor);
}

bool suppress_wants_idle(enum cpu_idle idle, int kernel_major, int kernel_minor)
{
	bool needs = (kernel_major == 5 && kernel_minor >= 15) ||
		     (kernel_major == 6 && kernel_minor <= 5);
	return idle == CPU_IDLE_ALWAYS || (idle == CPU_IDLE_AUTO && needs);
}
