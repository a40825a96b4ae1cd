#include "controller/wire/decode_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/must.h"
#include "sluice/quantity.h"

/* Writes a path, whose steps may be a user's own text, such as the name of a resource. */
static void path_write(const struct path *at, struct buf *b)
{
	char shown[SHOWN_SIZE];
	if (!at)
		return;
	path_write(at->up, b);
	if (!at->key) {
		buf_printf(b, "[%zu]", at->index);
		return;
	}
	bool plain = strlen(at->key) <= 63;
	for (const char *p = at->key; *p && plain; p++)
		plain = *p > 0x20 && *p < 0x7f;
	buf_puts(b, at->up ? "." : "");
	buf_puts(b, plain ? at->key : text_show(at->key, shown));
}

void decoder_fault(struct decoder *d, const struct path *at, const char *fmt, ...)
{
	struct buf where;
	va_list ap;
	if (d->faulty)
		return;
	d->faulty = true;
	va_start(ap, fmt);
	vsnprintf(d->fault.text, sizeof(d->fault.text), fmt, ap);
	va_end(ap);
	buf_init(&where, 4096);
	path_write(at, &where);
	err_wrap(&d->fault, "%s", buf_text(&where));
	buf_done(&where);
}

int decode_in_block(const cJSON *o, size_t guess, decode_fill fill, void **ret, struct err *e)
{
	return decode_in_namespace(NULL, o, guess, fill, ret, e);
}

int decode_in_namespace(
	const char *ns, const cJSON *o, size_t guess, decode_fill fill, void **ret, struct err *e)
{
	struct decoder d = {.ns = ns};
	parcel_init(&d.parcel, guess);
	int rc = fill(&d, o, e);
	if (rc == 0 && parcel_short(&d.parcel)) {
		size_t need = d.parcel.used;
		parcel_done(&d.parcel);
		d = (struct decoder){.ns = ns};
		parcel_init(&d.parcel, need);
		rc = fill(&d, o, e);
	}
	if (rc == 0)
		*ret = parcel_take(&d.parcel);
	parcel_done(&d.parcel);
	return rc;
}

const char *text_show(const char *text, char ret[SHOWN_SIZE])
{
	return slice_show(slice_of(text), ret);
}

/* Copies the first len bytes, with `instead` for each character that is not clean. *ret_clean: all
 * are. */
static const char *copy_clean(
	struct decoder *d, const char *text, size_t len, char instead, bool *ret_clean)
{
	char *copy = parcel_bytes(&d->parcel, len + 1), *to = copy;
	*ret_clean = true;
	for (size_t taken = 0; taken < len;) {
		bool clean;
		size_t n = slice_character((struct slice){text + taken, len - taken}, &clean);
		if (clean)
			to = mempcpy(to, text + taken, n);
		else
			*to++ = instead;
		*ret_clean &= clean;
		taken += n;
	}
	*to = '\0';
	return copy;
}

const char *text_keep(struct decoder *d, const struct path *at, const char *text, size_t max)
{
	bool clean;
	bool fits = strnlen(text, max + 1) <= max;
	const char *copy = copy_clean(d, text, slice_cut(text, max), '?', &clean);
	if (!fits)
		decoder_fault(d, at, "has more than %zu bytes; shorten it", max);
	else if (!clean)
		decoder_fault(d, at,
			"is not plain text; remove control characters and what is not UTF-8");
	return copy;
}

const char *text_quote(struct decoder *d, const char *text, size_t max)
{
	bool clean;
	return copy_clean(d, text, slice_cut(text, max), ' ', &clean);
}

const char *text_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key, size_t max)
{
	const cJSON *item = json_get(object, key);
	if (!item)
		return "";
	if (!cJSON_IsString(item)) {
		decoder_fault(d, PATH(up, key), "must be a string");
		return "";
	}
	return text_keep(d, PATH(up, key), item->valuestring, max);
}

/* Counts the items of an array, or the members of an object. */
static size_t list_count(struct decoder *d, const struct path *at, const cJSON *list, size_t max)
{
	size_t n = 0;
	json_each(item, list)
		n++;
	if (n <= max)
		return n;
	decoder_fault(d, at, "has %zu items; at most %zu are supported", n, max);
	return 0;
}

const cJSON *list_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, size_t *ret_count)
{
	const cJSON *list = json_get(object, key);
	*ret_count = 0;
	if (!list)
		return NULL;
	if (!cJSON_IsArray(list)) {
		decoder_fault(d, PATH(up, key), "must be a list");
		return NULL;
	}
	*ret_count = list_count(d, PATH(up, key), list, max);
	return *ret_count > 0 ? list : NULL;
}

const char *const *texts_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, bool empty, const char *must_be, size_t *ret_count)
{
	size_t n = 0;
	const cJSON *list = list_field(d, up, object, key, max, ret_count);
	const char **all = parcel_array(&d->parcel, *ret_count, sizeof(*all));
	json_each(item, list) {
		const struct path *at = PATH_INDEX(PATH(up, key), n);
		all[n] = "";
		if (cJSON_IsString(item) && (empty || *item->valuestring))
			all[n] = text_keep(d, at, item->valuestring, NAME_MAX_BYTES);
		else
			decoder_fault(d, at, "%s", must_be);
		n++;
	}
	return all;
}

const cJSON *objects_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, size_t *ret_count)
{
	size_t n = 0;
	const cJSON *list = list_field(d, up, object, key, max, ret_count);
	json_each(item, list) {
		if (!cJSON_IsObject(item))
			decoder_fault(d, PATH_INDEX(PATH(up, key), n), "must be an object");
		n++;
	}
	return list;
}

const cJSON *object_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key)
{
	const cJSON *item = json_get(object, key);
	if (item && !cJSON_IsObject(item)) {
		decoder_fault(d, PATH(up, key), "must be an object");
		return NULL;
	}
	return item;
}

const cJSON *map_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, size_t *ret_count)
{
	const cJSON *map = object_field(d, up, object, key);
	*ret_count = list_count(d, PATH(up, key), map, max);
	return *ret_count > 0 ? map : NULL;
}

/*
 * Writes a number as its author wrote it. A JSON number is a double in cJSON, and the shortest text
 * that reads back as that double is what was written (up to 15 digits). A whole number that a
 * double cannot hold is refused, for then we cannot know. The API server sends strings; numbers are
 * what people write in YAML.
 */
static bool number_text(double value, char ret[32])
{
	if (!isfinite(value) || fabs(value) > 9007199254740992.0)
		return false;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(ret, 32, "%.*g", digits, value);
		if (strtod(ret, NULL) == value)
			break;
	}
	return true;
}

int64_t quantity_value(
	struct decoder *d, const struct path *at, const cJSON *value, const char *resource)
{
	struct err why;
	char number[32];
	int64_t amount = 0;
	const char *text = cJSON_IsString(value) ? value->valuestring : number;
	if (!cJSON_IsString(value) && !cJSON_IsNumber(value)) {
		decoder_fault(d, at, "must be a quantity; write e.g. 500m, 40 or 64Gi");
		return 0;
	}
	if (cJSON_IsNumber(value) && !number_text(value->valuedouble, number)) {
		decoder_fault(
			d, at, "is too large for a number; write it in quotes, e.g. \"64Gi\"");
		return 0;
	}
	if (quantity_parse(slice_of(text), quantity_unit_of(resource), &amount, &why) < 0) {
		decoder_fault(d, at, "%s", why.text);
		return 0;
	}
	if (amount < 0) {
		decoder_fault(d, at, "must not be negative");
		return 0;
	}
	return amount;
}

int32_t int32_field(struct decoder *d, const struct path *up, const cJSON *object, const char *key,
	int32_t low, int32_t fallback)
{
	int64_t value;
	int rc = json_i64(object, key, &value);
	if (rc == ERR_GONE)
		return fallback;
	if (rc < 0 || value < low || value > INT32_MAX) {
		decoder_fault(d, PATH(up, key), "must be a whole number from %d to %d", (int)low,
			(int)INT32_MAX);
		return fallback;
	}
	return (int32_t)value;
}

/* Joins names: "None, Hold or HoldAndDrain". */
static void join_names(const char *const *names, char *ret, size_t size)
{
	size_t n = 0;
	ret[0] = '\0';
	for (; *names; names++) {
		const char *join = n == 0 ? "" : names[1] ? ", " : " or ";
		if (**names)
			n += (size_t)snprintf(ret + n, size - n, "%s%s", join, *names);
		must(n < size);
	}
}

int name_field(struct decoder *d, const struct path *up, const cJSON *object, const char *key,
	const char *const *names, int fallback)
{
	char list[256], shown[SHOWN_SIZE];
	const cJSON *item = json_get(object, key);
	if (!item)
		return fallback;
	for (int i = 0; names[i] && cJSON_IsString(item); i++)
		if (strcmp(names[i], item->valuestring) == 0)
			return i;
	join_names(names, list, sizeof(list));
	if (cJSON_IsString(item))
		decoder_fault(d, PATH(up, key), "%s is unknown; write %s",
			text_show(item->valuestring, shown), list);
	else
		decoder_fault(d, PATH(up, key), "must be a string; write %s", list);
	return fallback;
}

bool text_time(const char *text, int64_t *ret_ms)
{
	return instant_parse(slice_of(text), ret_ms);
}

bool text_number(const char *text, int64_t max, int64_t *ret)
{
	int64_t value = 0;
	if (*text == '\0')
		return false;
	for (const char *p = text; *p; p++) {
		if (*p < '0' || *p > '9' || value > (max - (*p - '0')) / 10)
			return false;
		value = value * 10 + (*p - '0');
	}
	*ret = value;
	return true;
}
