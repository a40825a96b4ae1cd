#include "forecast/quantiles.h"

#include <math.h>
#include <stdlib.h>

#include "base/must.h"
#include "forecast/play.h"

static int by_time(const void *va, const void *vb)
{
	int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
	return a < b ? -1 : a > b;
}

static int64_t at(const int64_t *sorted, size_t n, double part)
{
	double rank = part * (double)(n + 1) - 1;
	if (rank <= 0)
		return sorted[0];
	size_t low = (size_t)rank;
	if (low + 1 >= n)
		return sorted[n - 1];
	if (sorted[low + 1] == PLAY_NEVER)
		return rank > (double)low ? PLAY_NEVER : sorted[low];
	double gap = (double)(sorted[low + 1] - sorted[low]);
	return sorted[low] + (int64_t)llround(gap * (rank - (double)low));
}

struct quantiles quantiles_of(int64_t *start_ms, size_t n)
{
	struct quantiles q = {0};
	must(n > 0 && n <= QUANTILES_DRAWS_MAX);
	qsort(start_ms, n, sizeof(*start_ms), by_time);
	while (q.started < n && start_ms[q.started] != PLAY_NEVER)
		q.started++;
	q.p10_ms = at(start_ms, n, 0.1);
	q.p50_ms = at(start_ms, n, 0.5);
	q.p90_ms = at(start_ms, n, 0.9);
	return q;
}
