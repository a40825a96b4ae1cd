#include "queue/price/money.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"

#define DIGITS_MAX 6
#define CENT (MONEY_UNIT / 100)
#define UNITS_MAX INT64_C(9000000000000)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int refuse(struct slice text, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	return err_set(e, ERR_INVALID,
		"%s is not an amount of money; write digits, and at most six of them behind a point, such as 5000 or 0.040",
		slice_show(text, shown));
}

/* Reads digits from *at on; stops at UNITS_MAX. */
static int64_t read_units(struct slice text, size_t *at)
{
	int64_t units = 0;
	for (; *at < text.len && is_digit(text.ptr[*at]); (*at)++)
		if (units <= UNITS_MAX)
			units = units * 10 + (text.ptr[*at] - '0');
	return units;
}

int money_parse(struct slice text, int64_t *ret_micro, struct err *e)
{
	size_t at = 0;
	char shown[SLICE_SHOWN_SIZE];
	int64_t units = read_units(text, &at), fraction = 0;
	if (at == 0)
		return refuse(text, e);
	if (at < text.len && text.ptr[at] == '.') {
		size_t first = ++at;
		fraction = read_units(text, &at);
		if (at == first || at - first > DIGITS_MAX)
			return refuse(text, e);
		for (size_t n = at - first; n < DIGITS_MAX; n++)
			fraction *= 10;
	}
	if (at < text.len)
		return refuse(text, e);
	if (units > UNITS_MAX)
		return err_set(e, ERR_LIMIT, "%s is more than can be counted, which is 9 * 10^12",
			slice_show(text, shown));
	*ret_micro = units * MONEY_UNIT + fraction;
	return 0;
}

void money_format(int64_t micro, char ret_text[MONEY_TEXT_SIZE])
{
	uint64_t amount = micro < 0 ? -(uint64_t)micro : (uint64_t)micro;
	snprintf(ret_text, MONEY_TEXT_SIZE, "%s%" PRIu64 ".%06" PRIu64, micro < 0 ? "-" : "",
		amount / MONEY_UNIT, amount % MONEY_UNIT);
	size_t len = strlen(ret_text);
	for (int kept = DIGITS_MAX; kept > 2 && ret_text[len - 1] == '0'; kept--)
		ret_text[--len] = '\0';
}

void money_short(int64_t micro, char ret_text[MONEY_TEXT_SIZE])
{
	uint64_t amount = micro < 0 ? -(uint64_t)micro : (uint64_t)micro;
	uint64_t cents = (amount + CENT / 2) / CENT;
	if (cents == 0 && amount > 0)
		snprintf(ret_text, MONEY_TEXT_SIZE, "%s", micro < 0 ? ">-0.01" : "<0.01");
	else
		snprintf(ret_text, MONEY_TEXT_SIZE, "%s%" PRIu64 ".%02" PRIu64,
			micro < 0 ? "-" : "", cents / 100, cents % 100);
}

void money_put(struct json_writer *w, const char *key, int64_t micro)
{
	char text[MONEY_TEXT_SIZE];
	money_format(micro, text);
	jw_text(w, key, text);
}

int64_t money_add(int64_t a, int64_t b)
{
	int64_t sum;
	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return a < 0 ? INT64_MIN : INT64_MAX;
}
