/* The bounds of numbers and durations that admins write: specs.h. A row of sluice/fields/X.def becomes a condition. */
#include <stdio.h>

#include "queue/job/specs.h"

/* "36h", "90s" */
static void span_write(int64_t ms, char *ret, size_t size)
{
	bool hours = ms >= 3600000 && ms % 3600000 == 0;
	snprintf(
		ret, size, "%lld%c", (long long)(ms / (hours ? 3600000 : 1000)), hours ? 'h' : 's');
}

static int span_fault(struct err *e, const char *at, const char *wire, int64_t low, int64_t high)
{
	char least[24], most[24], days[24] = "";
	span_write(low, least, sizeof(least));
	span_write(high, most, sizeof(most));
	if (high > 86400000 && high % 86400000 == 0)
		snprintf(days, sizeof(days), " (%lld days)", (long long)(high / 86400000));
	return err_set(e, ERR_INVALID, "%s%s must be %s to %s%s", at, wire, least, most, days);
}

static int number_fault(struct err *e, const char *at, const char *wire, int64_t low, int64_t high)
{
	return err_set(e, ERR_INVALID, "%s%s must be %lld to %lld", at, wire, (long long)low,
		(long long)high);
}

#define BEGIN(tag)                                                                                 \
	int tag##_bounds(const struct tag *s, const char *at, struct err *e)                       \
	{
#define END                                                                                        \
	return 0;                                                                                  \
	}
#define WRITTEN(x) (x)
#define UNWRITTEN(x) (x)
#define OUTSIDE(m, low, high) (s->m < (low) || s->m > (high))
#define SPAN(m, wire, low, high, absent, why, text)                                                \
	if (s->m != 0 && s->m != (absent) && OUTSIDE(m, low, high))                                \
		return span_fault(e, at, wire, low, high);
#define NUMBER(m, wire, low, high, absent, why, text)                                              \
	if (s->m != 0 && s->m != (absent) && OUTSIDE(m, low, high))                                \
		return number_fault(e, at, wire, low, high);
#define MAYBE_NUMBER(has, m, wire, low, high, why, text)                                           \
	if (s->has && OUTSIDE(m, low, high))                                                       \
		return number_fault(e, at, wire, low, high);
#define VALUE(m)
#define ENUM(m, last)
#define TEXT(m)
#define TEXTS(m, n)
#define PART(m, tag)
#include "sluice/fields/plain.h"

BEGIN(advance_reservation_spec)
#include "sluice/fields/advance_reservation.def"
END

BEGIN(clusterqueue_spec)
#include "sluice/fields/clusterqueue.def"
END

BEGIN(preemption_spec)
#include "sluice/fields/preemption.def"
END

BEGIN(runpolicy_spec)
#include "sluice/fields/runpolicy.def"
END
