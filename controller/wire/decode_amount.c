/* Durations, shares, money and names of queues, as policies and annotations write them. */
#include <string.h>

#include "base/span.h"
#include "controller/wire/decode_parts.h"
#include "queue/price/money.h"
#include "sluice/quantity.h"

#define TEXT_MAX 64 /* of an amount */
#define CURRENCY_MIN 3
#define CURRENCY_MAX 16

/* ---- durations and shares -------------------------------------------------------------------- */

int64_t span_field(struct decoder *d, const struct path *up, const cJSON *object, const char *key,
	int64_t max_ms, int64_t fallback)
{
	int64_t ms = 0;
	char shown[SHOWN_SIZE];
	if (!json_get(object, key))
		return fallback;
	const char *text = text_field(d, up, object, key, TEXT_MAX);
	if (!span_parse(text, &ms))
		decoder_fault(d, PATH(up, key),
			"%s is not a duration; write hours, minutes and seconds with their units, such as 30m, 1h30m or 36h",
			text_show(text, shown));
	else if (ms > max_ms)
		decoder_fault(d, PATH(up, key), "%s is too long; at most %s is supported",
			text_show(text, shown), span_exact(max_ms).s);
	else
		return ms;
	return fallback;
}

/* Reads a share with at most one digit behind the point. */
static bool text_permille(const char *text, int32_t *ret)
{
	int32_t value = 0, digits = 0;
	for (; *text >= '0' && *text <= '9' && digits < 5; text++, digits++)
		value = value * 10 + (*text - '0');
	value *= 10;
	if (digits > 0 && text[0] == '.' && text[1] >= '0' && text[1] <= '9') {
		value += text[1] - '0';
		text += 2;
	}
	*ret = value;
	return digits > 0 && strcmp(text, "%") == 0;
}

int32_t permille_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key)
{
	int32_t permille = 0;
	char shown[SHOWN_SIZE];
	if (!json_get(object, key))
		return 0;
	const char *text = text_field(d, up, object, key, TEXT_MAX);
	if (!text_permille(text, &permille) || permille > 10000) {
		decoder_fault(d, PATH(up, key),
			"%s is not a share from 0%% to 1000%%; write e.g. 10%%",
			text_show(text, shown));
		return 0;
	}
	return permille;
}

/* ---- money ----------------------------------------------------------------------------------- */

/* Gives the text of value; NULL and a fault when there is none. A number is not taken: a double is
 * not what its author wrote. */
static const char *decimal_text(
	struct decoder *d, const struct path *at, const cJSON *value, const char *example)
{
	if (!value)
		decoder_fault(d, at, "is missing; write e.g. \"%s\"", example);
	else if (!cJSON_IsString(value))
		decoder_fault(d, at, "must be a string; write it in quotes, e.g. \"%s\"", example);
	return cJSON_IsString(value) ? value->valuestring : NULL;
}

static int64_t decimal_value(struct decoder *d, const struct path *at, const cJSON *value,
	const char *what, const char *example, int64_t max)
{
	int64_t micro = 0;
	char shown[SHOWN_SIZE];
	const char *text = decimal_text(d, at, value, example);
	int rc = text ? money_parse(slice_of(text), &micro, NULL) : 0;
	if (rc == ERR_INVALID)
		decoder_fault(d, at,
			"%s is not %s; write digits, and at most six of them behind a point, such as \"%s\"",
			text_show(text, shown), what, example);
	else if (rc < 0 || micro > max * MONEY_UNIT)
		decoder_fault(d, at, "%s is too much; at most %lld is supported",
			text_show(text, shown), (long long)max);
	else
		return micro;
	return 0;
}

int64_t factor_value(struct decoder *d, const struct path *at, const cJSON *value)
{
	return decimal_value(d, at, value, "a factor", "0.6", FACTOR_MAX);
}

int64_t price_value(struct decoder *d, const struct path *at, const cJSON *value)
{
	return decimal_value(d, at, value, "a price", "0.040", PRICE_MAX);
}

int64_t amount_value(struct decoder *d, const struct path *at, const cJSON *value)
{
	return decimal_value(d, at, value, "an amount of money", "5000.00", AMOUNT_MAX);
}

bool priced_per_gib(const char *unit)
{
	size_t len = strlen(unit);
	return len > 4 && strcmp(unit + len - 4, "-gib") == 0;
}

static bool is_resource(const char *name)
{
	for (const char *p = name; *p; p++)
		if (*p <= ' ' || *p >= 0x7f)
			return false;
	return *name != '\0';
}

bool priced_unit(struct decoder *d, const struct path *at, const char *name)
{
	char shown[SHOWN_SIZE];
	if (!is_resource(name))
		decoder_fault(d, at, "%s is not a resource; write e.g. cpu or memory-gib",
			text_show(name, shown));
	else if (quantity_counts_bytes(name) && !priced_per_gib(name))
		decoder_fault(d, at,
			"%s has no price of its own, for a byte costs next to nothing; write the price of a GiB, as %.64s-gib",
			text_show(name, shown), name);
	else if (strcmp(name, "cpu-gib") == 0)
		decoder_fault(d, at, "\"cpu-gib\" is not a resource; write cpu");
	else
		return true;
	return false;
}

const char *currency_field(struct decoder *d, const struct path *up, const cJSON *object)
{
	char shown[SHOWN_SIZE];
	const char *text = text_field(d, up, object, "currency", TEXT_MAX);
	size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
	if (text[len] || len < CURRENCY_MIN || len > CURRENCY_MAX)
		decoder_fault(d, PATH(up, "currency"),
			"%s is not the name of a currency; write %d to %d letters or digits, such as EUR",
			text_show(text, shown), CURRENCY_MIN, CURRENCY_MAX);
	return text;
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *needed_text(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, const char *example)
{
	const char *text = text_field(d, up, object, key, NAME_MAX_BYTES);
	if (*text == '\0')
		decoder_fault(d, PATH(up, key), "is missing; write e.g. %s", example);
	return text;
}

static bool is_glob(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-.*?", s.ptr[i]))
			return false;
	return s.len > 0;
}

static bool is_queue_glob(const char *text, bool namespaced)
{
	const char *slash = strchr(text, '/');
	if (!namespaced)
		return is_glob(slice_of(text));
	return slash && is_glob((struct slice){text, (size_t)(slash - text)}) &&
	       is_glob(slice_of(slash + 1));
}

const char *const *queue_globs_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, bool namespaced, size_t *ret_count)
{
	char shown[SHOWN_SIZE];
	const char *must_be = namespaced
				      ? "must be namespace/name of a LocalQueue, e.g. team-a/*"
				      : "must be the name of a ClusterQueue, e.g. batch or sim-*";
	const char *const *all =
		texts_field(d, up, object, key, POLICY_LIST_MAX, false, must_be, ret_count);
	for (size_t i = 0; i < *ret_count; i++)
		if (!is_queue_glob(all[i], namespaced))
			decoder_fault(d, PATH_INDEX(PATH(up, key), i), "%s %s",
				text_show(all[i], shown), must_be);
	return all;
}
