#include "overcommit/mean.h"

#include "base/must.h"
#include "base/order.h"
#include "overcommit/span.h"

void mean_add(struct mean *m, int64_t at_ms, struct load l)
{
	int64_t since_ms = m->newest_ms ? span_between(m->newest_ms, at_ms) : 1;
	int64_t weight_ms = least(greater(since_ms, 1), MEAN_GAP_MS);
	m->cpu += (__int128)greater(l.cpu_milli, 0) * weight_ms;
	m->memory += (__int128)greater(l.memory_bytes, 0) * weight_ms;
	m->weight_ms += weight_ms;
	m->newest_ms = at_ms;
}

static int64_t rounded_up(__int128 sum, int64_t weight)
{
	return (int64_t)((sum + weight - 1) / weight);
}

struct load mean_take(struct mean *m)
{
	must(m->weight_ms > 0);
	struct load l = {rounded_up(m->cpu, m->weight_ms), rounded_up(m->memory, m->weight_ms)};
	*m = (struct mean){.newest_ms = m->newest_ms};
	return l;
}
