#include "queue/price/charge.h"
#include "base/order.h"

#define HOUR_WEIGHT ((__int128)3600000 * PRICE_FACTOR_ONE)
#define LOW ((__int128)1 << 40)

/* Divides down, not towards 0: what is left is never negative. */
static __int128 divide_down(__int128 a, __int128 by, __int128 *ret_left)
{
	__int128 whole = a / by;
	if (a % by < 0)
		whole--;
	*ret_left = a - whole * by;
	return whole;
}

/* Multiplies in two steps, as on paper: the product itself may need more than 128 bits. */
static struct charge parts_times(int64_t parts, __int128 factors)
{
	__int128 low, left;
	__int128 high = divide_down(factors, LOW, &low);
	__int128 whole = divide_down(high * parts, PRICE_PARTS, &left) * LOW;
	whole += divide_down(left * LOW + low * parts, PRICE_PARTS, &left);
	return (struct charge){whole, (int64_t)left};
}

struct charge charge_of(struct hourly_price price, __int128 factors)
{
	struct charge c = parts_times(price.parts, factors);
	c.weight += price.micro * factors;
	return c;
}

struct charge charge_add(struct charge a, struct charge b)
{
	struct charge sum = {a.weight + b.weight, a.parts + b.parts};
	if (sum.parts >= PRICE_PARTS) {
		sum.parts -= PRICE_PARTS;
		sum.weight++;
	}
	return sum;
}

static int cmp(__int128 a, __int128 b)
{
	return (a > b) - (a < b);
}

int charge_cmp(struct charge a, struct charge b)
{
	return a.weight != b.weight ? cmp(a.weight, b.weight) : cmp(a.parts, b.parts);
}

int64_t charge_told(struct charge c)
{
	__int128 left;
	__int128 cost = divide_down(c.weight, HOUR_WEIGHT, &left);
	if (left > 0 || c.parts > 0)
		cost++;
	return saturated(cost);
}

int hourly_price_cmp(struct hourly_price a, struct hourly_price b)
{
	return a.micro != b.micro ? cmp(a.micro, b.micro) : cmp(a.parts, b.parts);
}

int64_t hourly_price_told(struct hourly_price price, int64_t factor)
{
	__int128 left;
	__int128 at_factor = charge_of(price, factor).weight;
	return (int64_t)divide_down(at_factor + PRICE_FACTOR_ONE / 2, PRICE_FACTOR_ONE, &left);
}
