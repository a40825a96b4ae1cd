#include "queue/price/forecast.h"

#include "base/order.h"

#define HOUR_MS INT64_C(3600000)

static __int128 elapsed_ms(const struct forecast_facts *f)
{
	return (__int128)f->now_ms - f->from_ms;
}

static __int128 length_ms(const struct forecast_facts *f)
{
	return (__int128)f->to_ms - f->from_ms;
}

static bool is_old_enough(const struct forecast_facts *f)
{
	return f->now_ms < f->to_ms && elapsed_ms(f) >= HOUR_MS &&
	       elapsed_ms(f) * 100 >= length_ms(f);
}

/* by > 0 */
static __int128 divided_up(__int128 n, __int128 by)
{
	return n / by + (n % by > 0 ? 1 : 0);
}

/* The first millisecond at which the amount is spent; it is not spent now. */
static int64_t exhausted_ms(const struct forecast_facts *f)
{
	if (f->spent <= 0)
		return 0;
	__int128 at_ms = f->from_ms + divided_up(f->amount * elapsed_ms(f), f->spent);
	return at_ms < f->to_ms ? (int64_t)at_ms : 0;
}

bool forecast_spending(const struct forecast_facts *f, struct forecast *ret)
{
	if (!is_old_enough(f))
		return false;
	ret->spent = saturated(divided_up(f->spent * length_ms(f), elapsed_ms(f)));
	ret->exhausted_ms = f->spent < f->amount ? exhausted_ms(f) : 0;
	return true;
}
