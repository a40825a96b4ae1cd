#include "sluice/quantity.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"

/*
 * A quantity is read in place: digits, the position of the decimal point, and a power of two
 * (binary suffixes) or a shift of the point (other suffixes, and the unit). So a million digits
 * need one pass and no memory, and nothing is rounded twice.
 */
struct number {
	bool negative;
	struct slice digits; /* with the decimal point still in it, leading zeros gone */
	size_t whole;	     /* digits before the point */
	size_t count;	     /* digits in all */
	int64_t shift;	     /* the point moves right by this */
	unsigned binary;     /* times 2^binary */
};

/* Beyond this every non-zero number is too large, or rounds up to 1. */
#define EXPONENT_MAX 1000000000

struct suffix {
	const char *text;
	int shift;
	unsigned binary;
};

static const struct suffix suffixes[] = {
	{"", 0, 0},
	{"m", -3, 0},
	{"Ki", 0, 10},
	{"Mi", 0, 20},
	{"Gi", 0, 30},
	{"Ti", 0, 40},
	{"Pi", 0, 50},
	{"Ei", 0, 60},
	{"k", 3, 0},
	{"M", 6, 0},
	{"G", 9, 0},
	{"T", 12, 0},
	{"P", 15, 0},
	{"E", 18, 0},
	{"u", -6, 0},
	{"n", -9, 0},
};

enum quantity_unit quantity_unit_of(const char *resource)
{
	return strcmp(resource, "cpu") == 0 ? QUANTITY_MILLI : QUANTITY_WHOLE;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "e3", "E+12", "e-400": the whole of text. */
static bool parse_exponent(struct slice text, int64_t *ret_shift)
{
	size_t i = 1;
	int64_t value = 0;
	bool negative = false;
	if (text.len < 2 || (text.ptr[0] != 'e' && text.ptr[0] != 'E'))
		return false;
	if (text.ptr[i] == '-' || text.ptr[i] == '+')
		negative = text.ptr[i++] == '-';
	if (i == text.len)
		return false;
	for (; i < text.len; i++) {
		if (!is_digit(text.ptr[i]))
			return false;
		if (value < EXPONENT_MAX)
			value = value * 10 + (text.ptr[i] - '0');
	}
	if (value > EXPONENT_MAX)
		value = EXPONENT_MAX;
	*ret_shift = negative ? -value : value;
	return true;
}

static bool parse_suffix(struct slice text, struct number *n)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (slice_is(text, suffixes[i].text)) {
			n->shift = suffixes[i].shift;
			n->binary = suffixes[i].binary;
			return true;
		}
	}
	return parse_exponent(text, &n->shift);
}

/* Kubernetes reads "", "-" and "." after a sign as 0. Its grammar requires a digit, and so do we:
 * such a text is a mistake. */
static bool parse_number(struct slice text, struct number *n)
{
	size_t i = 0, digits = 0;
	bool point = false;
	*n = (struct number){0};
	if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+'))
		n->negative = text.ptr[i++] == '-';
	for (; i < text.len && text.ptr[i] == '0'; i++)
		digits++;
	n->digits.ptr = text.ptr + i;
	for (; i < text.len; i++) {
		if (is_digit(text.ptr[i]))
			n->count++;
		else if (text.ptr[i] == '.' && !point)
			point = true;
		else
			break;
		if (!point)
			n->whole++;
	}
	n->digits.len = (size_t)(text.ptr + i - n->digits.ptr);
	if (digits + n->count == 0)
		return false;
	return parse_suffix((struct slice){text.ptr + i, text.len - i}, n);
}

static unsigned digit_at(const struct number *n, size_t i)
{
	return (unsigned)(n->digits.ptr[i < n->whole ? i : i + 1] - '0');
}

/* The part before the point, times 2^binary. False when it is over INT64_MAX. */
static bool whole_part(const struct number *n, int64_t point, uint64_t *ret)
{
	uint64_t sum = 0;
	for (int64_t i = 0; i < point; i++) {
		if (sum == 0 && i >= (int64_t)n->count)
			break; /* "0e999999999" */
		if (sum > INT64_MAX / 10)
			return false;
		sum = sum * 10 + (i < (int64_t)n->count ? digit_at(n, (size_t)i) : 0);
	}
	*ret = sum << n->binary;
	return sum <= (uint64_t)INT64_MAX >> n->binary;
}

/* The part behind the point, times 2^binary, rounded up. From the last digit on, as in
 * multiplication by hand; the carry over the point is the whole part. The carry stays below
 * 2^binary, so 64 bits are enough for 9 * 2^60 and the carry. */
static uint64_t fraction_part(const struct number *n, int64_t point)
{
	uint64_t carry = 0;
	bool rest = false;
	int64_t i = (int64_t)n->count - 1;
	for (; i >= 0 && i >= point; i--) {
		uint64_t t = ((uint64_t)digit_at(n, (size_t)i) << n->binary) + carry;
		rest |= t % 10 != 0;
		carry = t / 10;
	}
	for (i = point; i < 0 && carry > 0; i++) {
		rest |= carry % 10 != 0;
		carry /= 10;
	}
	return carry + rest;
}

static const char *example(enum quantity_unit unit)
{
	return unit == QUANTITY_MILLI ? "500m or 40" : "40 or 64Gi";
}

int quantity_parse(struct slice text, enum quantity_unit unit, int64_t *ret_amount, struct err *e)
{
	struct number n;
	char shown[SLICE_SHOWN_SIZE];
	uint64_t amount = 0;
	if (!parse_number(text, &n)) {
		return err_set(e, ERR_INVALID, "%s is not a quantity; write e.g. %s",
			slice_show(text, shown), example(unit));
	}
	int64_t point = (int64_t)n.whole + n.shift + (unit == QUANTITY_MILLI ? 3 : 0);
	bool fits = whole_part(&n, point, &amount);
	if (fits)
		amount += fraction_part(&n, point);
	if (!fits || amount > INT64_MAX) {
		return err_set(e, ERR_LIMIT, "%s is too large to be counted; write e.g. %s",
			slice_show(text, shown), example(unit));
	}
	*ret_amount = n.negative ? -(int64_t)amount : (int64_t)amount;
	return 0;
}

void quantity_format(
	int64_t amount, enum quantity_unit unit, bool binary, char ret_text[QUANTITY_TEXT_SIZE])
{
	static const char *const names[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	const char *suffix = "";
	if (unit == QUANTITY_MILLI) {
		if (amount % 1000 == 0)
			amount /= 1000;
		else
			suffix = "m";
	} else if (binary && amount != 0) {
		size_t i = 0;
		for (; i + 1 < sizeof(names) / sizeof(*names) && amount % 1024 == 0; i++)
			amount /= 1024;
		suffix = names[i];
	}
	snprintf(ret_text, QUANTITY_TEXT_SIZE, "%" PRId64 "%s", amount, suffix);
}

enum quantity_style quantity_style_of(struct slice text)
{
	if (text.len > 0 && text.ptr[text.len - 1] == 'i')
		return QUANTITY_BINARY;
	for (size_t i = 0; i + 1 < text.len; i++) /* at the end it is the suffix of 10^18 */
		if (text.ptr[i] == 'e' || text.ptr[i] == 'E')
			return QUANTITY_EXPONENT;
	return QUANTITY_DECIMAL;
}

/* The exponent is a multiple of 3, and the mantissa as short as that allows. */
static void canonical_decimal(int64_t amount, enum quantity_unit unit, enum quantity_style style,
	char ret_text[QUANTITY_TEXT_SIZE])
{
	static const char *const names[] = {"m", "", "k", "M", "G", "T", "P", "E"};
	int exponent = unit == QUANTITY_MILLI ? -3 : 0;
	for (; amount % 1000 == 0; amount /= 1000)
		exponent += 3;
	if (style == QUANTITY_EXPONENT && exponent != 0)
		snprintf(ret_text, QUANTITY_TEXT_SIZE, "%" PRId64 "e%d", amount, exponent);
	else
		snprintf(ret_text, QUANTITY_TEXT_SIZE, "%" PRId64 "%s", amount,
			names[exponent / 3 + 1]);
}

/* Amounts below 1024, or with fractions, are not shown with binary suffixes. */
void quantity_canonical(int64_t amount, enum quantity_unit unit, enum quantity_style style,
	char ret_text[QUANTITY_TEXT_SIZE])
{
	int64_t per_one = unit == QUANTITY_MILLI ? 1000 : 1, whole = amount / per_one;
	bool binary = style == QUANTITY_BINARY && amount % per_one == 0 &&
		      (whole >= 1024 || whole <= -1024);
	if (amount == 0)
		snprintf(ret_text, QUANTITY_TEXT_SIZE, "0");
	else if (binary)
		quantity_format(whole, QUANTITY_WHOLE, true, ret_text);
	else
		canonical_decimal(amount, unit, style, ret_text);
}

bool quantity_counts_bytes(const char *resource)
{
	return strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0 ||
	       strcmp(resource, "storage") == 0 || strncmp(resource, "hugepages-", 10) == 0;
}

void quantity_describe(int64_t amount, const char *resource, char *ret_text, size_t size)
{
	char text[QUANTITY_TEXT_SIZE];
	quantity_format(amount, quantity_unit_of(resource), quantity_counts_bytes(resource), text);
	if (amount == 1 && strcmp(resource, "pods") == 0)
		resource = "pod";
	snprintf(ret_text, size, "%s %s", text, resource);
}

void quantity_put(struct json_writer *w, const char *key, int64_t amount, const char *resource)
{
	char text[QUANTITY_TEXT_SIZE];
	quantity_format(amount, quantity_unit_of(resource), quantity_counts_bytes(resource), text);
	jw_text(w, key, text);
}

int64_t quantity_add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t quantity_times(int64_t a, int64_t n)
{
	int64_t product;
	return __builtin_mul_overflow(a, n, &product) ? INT64_MAX : product;
}
