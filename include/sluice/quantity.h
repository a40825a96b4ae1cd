/*
 * Quantities: Kubernetes' resource.Quantity as exact int64, never a double.
 *
 * cpu is counted in milli-CPU, everything else in whole units (bytes, devices, pods), rounded up,
 * as Kueue does. A number that does not fit is an error, not a saturated value: a queue of
 * 9.2 exabytes is a typing mistake.
 */
#ifndef SLUICE_QUANTITY_H
#define SLUICE_QUANTITY_H

#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

struct json_writer;

enum quantity_unit {
	QUANTITY_WHOLE,
	QUANTITY_MILLI,
};

#define QUANTITY_TEXT_SIZE 32

/* The family of suffixes a quantity was written with. Kubernetes keeps it, and shows sums in it. */
enum quantity_style {
	QUANTITY_DECIMAL,  /* 1500m, 12, 3G */
	QUANTITY_BINARY,   /* 64Gi */
	QUANTITY_EXPONENT, /* 12e3 */
};

/* Returns the unit a resource is counted in: QUANTITY_MILLI for "cpu", QUANTITY_WHOLE for
 * others. */
enum quantity_unit quantity_unit_of(const char *resource);

/* Parses "1500m", "1.5", "12e3", "0.5Gi", "-1", "+2" ... to a count of units, rounding away from
 * zero. ERR_INVALID: not a quantity (the sentence shows at most 40 characters of it).
 * ERR_LIMIT: does not fit in an int64. */
int quantity_parse(struct slice text, enum quantity_unit unit, int64_t *ret_amount, struct err *e);

/* Writes an amount in its shortest usual form: 1500 milli is "1500m", 12000 milli is "12",
 * 137438953472 whole is "128Gi" when binary is true and exact, else plain digits. */
void quantity_format(
	int64_t amount, enum quantity_unit unit, bool binary, char ret_text[QUANTITY_TEXT_SIZE]);

/* Returns the style of a text that quantity_parse() takes. */
enum quantity_style quantity_style_of(struct slice text);

/* Writes an amount letter by letter as Kubernetes does: "1k" for a thousand cpu, "1536Mi", "0". */
void quantity_canonical(int64_t amount, enum quantity_unit unit, enum quantity_style style,
	char ret_text[QUANTITY_TEXT_SIZE]);

/* Tells whether a resource is counted in bytes, so that Gi says more of it than digits do. */
bool quantity_counts_bytes(const char *resource);

/* Writes an amount for a person, in the resource's usual unit: "12 cpu", "500m cpu", "64Gi memory",
 * "3 pods". */
void quantity_describe(int64_t amount, const char *resource, char *ret_text, size_t size);

/* Puts the amount of a resource as a member, a text in its usual unit: "500m" of cpu, "64Gi" of memory. */
void quantity_put(struct json_writer *w, const char *key, int64_t amount, const char *resource);

/* Add and multiply, stopping at INT64_MAX instead of overflowing (amounts are never negative). */
int64_t quantity_add(int64_t a, int64_t b);
int64_t quantity_times(int64_t a, int64_t n);

#endif
