#include "queue/requests/transformation.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "queue/job/resources.h"
#include "sluice/quantity.h"

/* Thousandths of a unit, three times over: of the input, of the factor, of what multiplies. */
#define FINE 1000000000

struct output {
	const char *name;
	__int128 made; /* in parts of FINE; may be negative */
	int64_t asked; /* what was requested under the same name and stays */
	bool there;    /* it stays or was made, even if it is 0 */
};

static const struct transformation_spec *transformation_of(
	const struct transformation_spec *t, size_t n, const char *input)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(t[i].input, input) == 0)
			return &t[i];
	return NULL;
}

/* Saturates. */
static __int128 beyond(bool negative)
{
	__int128 largest = (__int128)(~(unsigned __int128)0 >> 1);
	return negative ? -largest : largest;
}

static __int128 times(__int128 a, __int128 b)
{
	__int128 product;
	return __builtin_mul_overflow(a, b, &product) ? beyond((a < 0) != (b < 0)) : product;
}

static __int128 plus(__int128 a, __int128 b)
{
	__int128 sum;
	return __builtin_add_overflow(a, b, &sum) ? beyond(a < 0) : sum;
}

/* cpu is counted in thousandths already. */
static __int128 thousandths(const struct resource *r)
{
	bool milli = quantity_unit_of(r->name) == QUANTITY_MILLI;
	return milli ? r->amount : times(r->amount, 1000);
}

static struct output *output_of(struct output *all, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	all[*n] = (struct output){.name = name};
	return &all[(*n)++];
}

/* Returns what the transformation multiplies by, in thousandths; 0 where the pod requests none. */
static __int128 factor_of(
	const struct transformation_spec *t, const struct resource_list *requested)
{
	if (!t->multiply_by || !*t->multiply_by)
		return 1000;
	const struct resource *factor = resources_find(requested, t->multiply_by);
	return factor ? thousandths(factor) : 0;
}

const struct transformation_spec *transformations_lack(const struct transformation_spec *t,
	size_t n, const struct resource_list *requests, const struct resource_list *requested)
{
	for (size_t i = 0; i < requests->count; i++) {
		const struct transformation_spec *of =
			transformation_of(t, n, requests->item[i].name);
		if (of && requests->item[i].amount > 0 && of->multiply_by && *of->multiply_by &&
			!resources_find(requested, of->multiply_by))
			return of;
	}
	return NULL;
}

static void apply(const struct transformation_spec *t, const struct resource *input,
	const struct resource_list *requested, struct output *all, size_t *n)
{
	__int128 value = times(thousandths(input), factor_of(t, requested));
	for (size_t i = 0; i < t->noutputs; i++) {
		struct output *o = output_of(all, n, t->output[i].name);
		o->there = true;
		o->made = plus(o->made, times(value, t->output[i].amount));
	}
}

static int output_cmp(const void *a, const void *b)
{
	return strcmp(((const struct output *)a)->name, ((const struct output *)b)->name);
}

static int64_t total(const struct output *o)
{
	__int128 unit = quantity_unit_of(o->name) == QUANTITY_MILLI ? FINE / 1000 : FINE;
	__int128 made = o->made <= 0 ? 0 : (o->made - 1) / unit + 1;
	return quantity_add(o->asked, saturated(made));
}

struct resource_list transformations_apply(struct arena *a, const struct transformation_spec *t,
	size_t n, const struct resource_list *requests, const struct resource_list *requested)
{
	size_t most = requests->count, count = 0, kept = 0;
	for (size_t i = 0; i < n; i++)
		most += t[i].noutputs;
	struct output *all = arena_take(a, most, sizeof(*all));
	struct resource *item = arena_take(a, most, sizeof(*item));
	for (; count < requests->count; count++) {
		const struct resource *r = &requests->item[count];
		const struct transformation_spec *of = transformation_of(t, n, r->name);
		bool stays = !of || !of->replace;
		all[count] = (struct output){r->name, 0, stays ? r->amount : 0, stays};
	}
	for (size_t i = 0; i < requests->count; i++) {
		const struct resource *r = &requests->item[i];
		const struct transformation_spec *of = transformation_of(t, n, r->name);
		if (of)
			apply(of, r, requested, all, &count);
	}
	if (count > 1)
		qsort(all, count, sizeof(*all), output_cmp);
	for (size_t i = 0; i < count; i++)
		if (all[i].there && strcmp(all[i].name, "pods") != 0)
			item[kept++] = (struct resource){all[i].name, total(&all[i])};
	return (struct resource_list){item, kept};
}
