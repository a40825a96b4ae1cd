/*
 * Money: millionths of a currency's unit, in 64 bits. Never a double: a bill is the sum of its
 * lines to the last digit, on every machine.
 *
 * The currency is a label of plans and budgets; nothing here converts. A charge is rounded up once,
 * when it is told (charge.h), and never again in a sum.
 */
#ifndef SLUICE_QUEUE_PRICE_MONEY_H
#define SLUICE_QUEUE_PRICE_MONEY_H

#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

struct json_writer;

#define MONEY_UNIT 1000000
#define MONEY_TEXT_SIZE 32

/* Parses "5000", "0.040", "12.5": digits, at most six of them behind the point; no sign, no
 * exponent, no thousands separator. ERR_INVALID: it is no amount (the sentence shows at most 40
 * characters); ERR_LIMIT: over 9 * 10^12 units. */
int money_parse(struct slice text, int64_t *ret_micro, struct err *e);

/* Exact, with two digits behind the point at least: "5000.00", "0.0405", "-3.20". */
void money_format(int64_t micro, char ret_text[MONEY_TEXT_SIZE]);

/* Formats the amount for people: with two digits, rounded to the nearest. What is not nothing is never 0.00:
 * "0.17", "<0.01", "-3.20". */
void money_short(int64_t micro, char ret_text[MONEY_TEXT_SIZE]);

/* Puts the amount as a member, a text as money_format() has it. */
void money_put(struct json_writer *w, const char *key, int64_t micro);

/* The sum, saturated at INT64_MAX and INT64_MIN. */
int64_t money_add(int64_t a, int64_t b);

#endif
