/*
 * Two histograms, of cpu and of memory. Each doubling of the value is cut into twenty buckets of
 * equal width. So a bucket is never wider than 5 % of what is in it, and is found in a few
 * operations on integers.
 */
#include "overcommit/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "overcommit/span.h"

#define HALF_LIFE_MS (24.0 * 3600 * 1000)
#define LEAST_HISTORY_MS (INT64_C(24) * 3600 * 1000)
#define LEAST_SAMPLES 24
#define PERCENTILE_LEFT 0.01 /* the weight above the 99th percentile, at most */
#define MOST_HALF_LIVES 32   /* of weight between the oldest reference and the newest sample */
#define PER_DOUBLING 20
#define CPU_SHIFT 5	    /* below 32 thousandths of a core all is one bucket */
#define CPU_DOUBLINGS 17    /* up to 4,000 cores */
#define MEMORY_SHIFT 24	    /* 16 MiB */
#define MEMORY_DOUBLINGS 20 /* 16 TiB */
/* Two buckets more: for what is below the first doubling, and above the last. */
#define CPU_BUCKETS (CPU_DOUBLINGS * PER_DOUBLING + 2)
#define MEMORY_BUCKETS (MEMORY_DOUBLINGS * PER_DOUBLING + 2)

struct forecast {
	uint64_t samples;
	int64_t oldest_ms, newest_ms;
	int64_t reference_ms; /* a sample of that time weighs 1 */
	float cpu[CPU_BUCKETS], memory[MEMORY_BUCKETS];
};

struct scale {
	unsigned shift, doublings;
};

static const struct scale cpu_scale = {CPU_SHIFT, CPU_DOUBLINGS};
static const struct scale memory_scale = {MEMORY_SHIFT, MEMORY_DOUBLINGS};

static size_t buckets(const struct scale *s)
{
	return s->doublings * PER_DOUBLING + 2;
}

static size_t bucket_of(const struct scale *s, int64_t value)
{
	if (value < INT64_C(1) << s->shift)
		return 0;
	unsigned e = 63U - (unsigned)__builtin_clzll((unsigned long long)value);
	if (e >= s->shift + s->doublings)
		return buckets(s) - 1;
	int64_t within = ((value - (INT64_C(1) << e)) * PER_DOUBLING) >> e;
	return 1 + (size_t)(e - s->shift) * PER_DOUBLING + (size_t)within;
}

static int64_t upper_end(const struct scale *s, size_t bucket)
{
	if (!bucket)
		return (INT64_C(1) << s->shift) - 1;
	if (bucket == buckets(s) - 1)
		return INT64_MAX;
	int64_t base = INT64_C(1) << (s->shift + (bucket - 1) / PER_DOUBLING);
	int64_t parts = (int64_t)((bucket - 1) % PER_DOUBLING) + 1;
	return base + (base * parts + PER_DOUBLING - 1) / PER_DOUBLING - 1;
}

struct forecast *forecast_new(void)
{
	return mem_alloc(sizeof(struct forecast));
}

void forecast_free(struct forecast *f)
{
	free(f);
}

static void scale_down(float *weight, size_t n, float by)
{
	for (size_t i = 0; i < n; i++)
		weight[i] *= by;
}

/* Scales weights so that a sample of that time weighs 1. */
static void refer_to(struct forecast *f, int64_t at_ms)
{
	double ago = (double)span_between(f->reference_ms, at_ms);
	float by = (float)exp2(-ago / HALF_LIFE_MS);
	scale_down(f->cpu, CPU_BUCKETS, by);
	scale_down(f->memory, MEMORY_BUCKETS, by);
	f->reference_ms = at_ms;
}

static void begin(struct forecast *f, int64_t at_ms)
{
	*f = (struct forecast){.oldest_ms = at_ms, .newest_ms = at_ms, .reference_ms = at_ms};
}

static void count(struct forecast *f, int64_t at_ms, struct load taken)
{
	double later = (double)span_between(f->reference_ms, at_ms);
	float weight = (float)exp2(later / HALF_LIFE_MS);
	f->cpu[bucket_of(&cpu_scale, taken.cpu_milli)] += weight;
	f->memory[bucket_of(&memory_scale, taken.memory_bytes)] += weight;
	f->samples++;
}

void forecast_add(struct forecast *f, int64_t at_ms, struct load taken)
{
	/* A sample that is newer than all by more than the retention outlives them. */
	if (!f->samples || span_between(f->newest_ms, at_ms) > FORECAST_RETENTION_MS)
		begin(f, at_ms);
	if (span_between(at_ms, f->newest_ms) > FORECAST_RETENTION_MS)
		return;
	if ((double)span_between(f->reference_ms, at_ms) > MOST_HALF_LIVES * HALF_LIFE_MS)
		refer_to(f, at_ms);
	if (at_ms > f->newest_ms)
		f->newest_ms = at_ms;
	if (at_ms < f->oldest_ms)
		f->oldest_ms = at_ms;
	count(f, at_ms, taken);
}

static int64_t percentile(const struct scale *s, const float *weight)
{
	double all = 0, above = 0;
	size_t n = buckets(s);
	for (size_t i = 0; i < n; i++)
		all += (double)weight[i];
	for (size_t i = n; i-- > 0;) {
		above += (double)weight[i];
		if (above > all * PERCENTILE_LEFT)
			return upper_end(s, i);
	}
	return INT64_MAX;
}

static int64_t with_margin(int64_t v, int64_t percent)
{
	__int128 r = (__int128)v + ((__int128)v * (percent > 0 ? percent : 0) + 99) / 100;
	return r > INT64_MAX ? INT64_MAX : (int64_t)r;
}

bool forecast_get(
	const struct forecast *f, int64_t now_ms, int64_t margin_percent, struct load *ret)
{
	if (f->samples < LEAST_SAMPLES)
		return false;
	/* A day of samples is needed, and a newest one that is no older than a day. */
	if (span_between(f->oldest_ms, f->newest_ms) < LEAST_HISTORY_MS - SPAN_MINUTE_MS ||
		span_between(f->oldest_ms, now_ms) < LEAST_HISTORY_MS ||
		span_between(f->newest_ms, now_ms) > LEAST_HISTORY_MS)
		return false;
	*ret = (struct load){with_margin(percentile(&cpu_scale, f->cpu), margin_percent),
		with_margin(percentile(&memory_scale, f->memory), margin_percent)};
	return true;
}
