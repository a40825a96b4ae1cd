#include "controller/net/bucket.h"

bool bucket_take(struct bucket *b, int64_t refill_ms, unsigned burst, int64_t now_ms)
{
	int64_t full_ms = now_ms - refill_ms * burst;
	if (b->empty_ms < full_ms)
		b->empty_ms = full_ms;
	if (b->empty_ms + refill_ms > now_ms)
		return false;
	b->empty_ms += refill_ms;
	return true;
}

void bucket_return(struct bucket *b, int64_t refill_ms)
{
	b->empty_ms -= refill_ms;
}

struct bucket *bucket_of(struct bucket *each, size_t n, uint64_t of)
{
	struct bucket *idle = &each[0];
	for (size_t i = 0; i < n; i++) {
		if (each[i].of == of)
			return &each[i];
		if (each[i].empty_ms < idle->empty_ms)
			idle = &each[i];
	}
	*idle = (struct bucket){of, INT64_MIN / 2};
	return idle;
}
