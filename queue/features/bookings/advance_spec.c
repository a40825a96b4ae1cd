/* What AdvanceReservations say: what is wrong with one, and whether two reserve the same. */
#include <string.h>

#include "queue/features/bookings/advance_reservation.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"

static int check_amount(const struct advance_amount *x, size_t i, bool of_all, struct err *e)
{
	if (!*x->flavor)
		return err_set(e, ERR_INVALID,
			"spec.flavors: entry %zu has no name; name a ResourceFlavor", i);
	if (*x->resource && of_all)
		return err_set(e, ERR_INVALID,
			"spec.flavors: %s of flavor %s has an amount, but no spec.clusterQueue is named; name it, or remove the resources to take all of the flavor",
			x->resource, x->flavor);
	if (*x->resource && x->amount <= 0)
		return err_set(e, ERR_INVALID,
			"spec.flavors: the amount of %s of flavor %s must be more than 0",
			x->resource, x->flavor);
	return 0;
}

/* The whole of a flavor has each of its resources in it. */
static bool overlap(const struct advance_amount *a, const struct advance_amount *b)
{
	return strcmp(a->flavor, b->flavor) == 0 &&
	       (!*a->resource || !*b->resource || strcmp(a->resource, b->resource) == 0);
}

static int check_amounts(const struct advance_reservation_spec *s, struct err *e)
{
	if (s->namounts == 0)
		return err_set(e, ERR_INVALID,
			"spec.flavors is empty, so it reserves nothing; name a flavor");
	if (s->namounts > ADVANCE_AMOUNTS_MAX)
		return err_set(e, ERR_INVALID,
			"spec.flavors has more than %d resources; make two AdvanceReservations",
			ADVANCE_AMOUNTS_MAX);
	for (size_t i = 0; i < s->namounts; i++) {
		int code = check_amount(&s->amount[i], i, !*s->clusterqueue, e);
		if (code)
			return code;
		for (size_t k = 0; k < i; k++)
			if (overlap(&s->amount[k], &s->amount[i]))
				return err_set(e, ERR_INVALID,
					"spec.flavors: %s%s%s is there twice; remove one",
					s->amount[i].flavor, *s->amount[i].resource ? ", " : "",
					s->amount[i].resource);
	}
	return 0;
}

static int check_time(const struct advance_reservation_spec *s, struct err *e)
{
	bool has_span = s->from_ms != 0 || s->until_ms != 0;
	if (has_span == (*s->calendar != '\0'))
		return err_set(e, ERR_INVALID,
			"spec.calendar, or spec.from and spec.until: set exactly one of the two");
	if (has_span && s->until_ms <= s->from_ms)
		return err_set(e, ERR_INVALID,
			"spec.until must be after spec.from; set a later spec.until");
	return 0;
}

static int check_names(const char *field, const char *const *name, size_t n, struct err *e)
{
	if (n > ADVANCE_NAMES_MAX)
		return err_set(e, ERR_INVALID,
			"spec.usableBy.%s has more than %d entries; remove some", field,
			ADVANCE_NAMES_MAX);
	for (size_t i = 0; i < n; i++)
		if (!*name[i])
			return err_set(e, ERR_INVALID,
				"spec.usableBy.%s[%zu] is empty; write a name or remove it", field,
				i);
	return 0;
}

int advance_spec_check(const struct advance_reservation_spec *s, struct err *e)
{
	if (!*s->clusterqueue && !s->maintenance)
		return err_set(e, ERR_INVALID,
			"spec.clusterQueue is missing; name a ClusterQueue, or set spec.maintenance: true to keep all of them from these flavors");
	int code = check_amounts(s, e);
	if (code == 0)
		code = check_time(s, e);
	if (code == 0)
		code = check_names("namespaces", s->namespaces, s->nnamespaces, e);
	if (code == 0)
		code = check_names("users", s->users, s->nusers, e);
	return code ? code : advance_reservation_spec_bounds(s, "spec.", e);
}

bool advance_spec_reserves_same(
	const struct advance_reservation_spec *a, const struct advance_reservation_spec *b)
{
	return strcmp(a->clusterqueue, b->clusterqueue) == 0 && a->from_ms == b->from_ms &&
	       a->until_ms == b->until_ms && strcmp(a->calendar, b->calendar) == 0 &&
	       a->maintenance == b->maintenance &&
	       advance_amount_all_same(a->amount, a->namounts, b->amount, b->namounts);
}

bool advance_spec_left_same(
	const struct advance_reservation_spec *a, const struct advance_reservation_spec *b)
{
	return a->left_from_ms == b->left_from_ms &&
	       advance_amount_all_same(a->left, a->nleft, b->left, b->nleft);
}

bool advance_spec_usable_same(
	const struct advance_reservation_spec *a, const struct advance_reservation_spec *b)
{
	return names_same(a->namespaces, a->nnamespaces, b->namespaces, b->nnamespaces) &&
	       names_same(a->users, a->nusers, b->users, b->nusers);
}
