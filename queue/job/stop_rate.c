#include "queue/job/stop_rate.h"

#include "base/order.h"
#include "sluice/quantity.h"

int64_t stop_rate_pay(int64_t paid_ms, int64_t stop_ms)
{
	int64_t most_ms = quantity_add(stop_ms, STOP_RATE_MS);
	return quantity_add(least(greater(paid_ms, stop_ms), most_ms), STOP_RATE_MS);
}

int64_t stop_rate_returns(int64_t paid_ms, int64_t stop_ms)
{
	int64_t after_ms = quantity_add(stop_ms, STOP_RATE_MS);
	return paid_ms > after_ms ? paid_ms - STOP_RATE_MS : 0;
}
