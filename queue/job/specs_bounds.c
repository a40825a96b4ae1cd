/* The bounds of numbers and durations that admins write: specs.h. A row of sluice/fields/X.def
 * becomes a condition. */
#include "queue/job/specs.h"

static int number_fault(struct err *e, const char *at, const char *wire, int64_t low, int64_t high)
{
	return err_set(e, ERR_INVALID, "%s%s must be %lld to %lld", at, wire, (long long)low,
		(long long)high);
}

/* The bounds of all rows are whole seconds and whole hours. */
static int span_fault(struct err *e, const char *at, const char *wire, int64_t low, int64_t high)
{
	return err_set(e, ERR_INVALID, "%s%s must be %llds to %lldh", at, wire,
		(long long)(low / 1000), (long long)(high / 3600000));
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
#define LIST(m, n, tag)
#include "sluice/fields/plain.h"

int clusterqueue_spec_bounds(const struct clusterqueue_spec *s, const char *at, struct err *e)
{
#include "sluice/fields/clusterqueue.def"
	return 0;
}

int preemption_spec_bounds(const struct preemption_spec *s, const char *at, struct err *e)
{
#include "sluice/fields/preemption.def"
	return 0;
}

int runpolicy_spec_bounds(const struct runpolicy_spec *s, const char *at, struct err *e)
{
#include "sluice/fields/runpolicy.def"
	return 0;
}

int advance_reservation_spec_bounds(
	const struct advance_reservation_spec *s, const char *at, struct err *e)
{
#include "sluice/fields/advance_reservation.def"
	return 0;
}
