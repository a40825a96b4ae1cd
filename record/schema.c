#include "record/schema.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/uid.h"
#include "base/json.h"
#include "queue/calendar/zone.h"
#include "record/facts.h"

#define EXACT_MOST (INT64_C(1) << 53) /* beyond it a number of JSON is not exact: it is a text */
#define LIST_BYTES_MAX ((size_t)64 << 20)

static const void *at(const void *object, size_t offset)
{
	return (const char *)object + offset;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_digits(struct buf *out, bool negative, uint64_t amount)
{
	char text[24], *p = text + sizeof(text);
	bool quoted = amount > EXACT_MOST;
	if (quoted)
		*--p = '"';
	do
		*--p = (char)('0' + amount % 10);
	while (amount /= 10);
	if (negative)
		*--p = '-';
	if (quoted)
		*--p = '"';
	buf_add(out, p, (size_t)(text + sizeof(text) - p));
}

static int64_t signed_at(const void *p, size_t size)
{
	if (size == sizeof(int32_t))
		return *(const int32_t *)p;
	return *(const int64_t *)p;
}

static uint64_t unsigned_at(const void *p, size_t size)
{
	if (size == sizeof(uint8_t))
		return *(const uint8_t *)p;
	if (size == sizeof(uint32_t))
		return *(const uint32_t *)p;
	return *(const uint64_t *)p;
}

static void put_signed(struct buf *out, int64_t value)
{
	put_digits(out, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Writes a double: 17 digits have it to the bit. What is no number in JSON becomes a text. */
static void put_double(struct buf *out, double value)
{
	buf_printf(out, isfinite(value) ? "%.17g" : "\"%.17g\"", value);
}

static void put_uid(struct buf *out, const struct uid *uid)
{
	char text[UID_TEXT_SIZE + 2];
	text[0] = '"';
	uid_format(uid, text + 1);
	text[UID_TEXT_SIZE] = '"';
	buf_add(out, text, UID_TEXT_SIZE + 1);
}

static void put_enums(struct buf *out, const struct field *f, const void *p)
{
	for (size_t i = 0; i < f->size; i += sizeof(uint32_t)) {
		buf_putc(out, i == 0 ? '[' : ',');
		put_digits(out, false, unsigned_at(at(p, i), sizeof(uint32_t)));
	}
	buf_putc(out, ']');
}

static void put_texts(struct buf *out, const char *const *text, size_t n)
{
	buf_putc(out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_putc(out, ',');
		buf_json_string(out, text[i]);
	}
	buf_putc(out, ']');
}

static void put_list(struct buf *out, const struct schema *s, const void *first, size_t n)
{
	buf_putc(out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_putc(out, ',');
		schema_write(s, at(first, i * s->size), out);
	}
	buf_putc(out, ']');
}

static void put_zone(struct buf *out, const struct zone *z)
{
	buf_puts(out, "{\"name\":");
	buf_json_string(out, z->name);
	buf_puts(out, ",\"span\":");
	put_list(out, zone_span_schema(), z->span, z->nspans);
	buf_putc(out, '}');
}

static bool all_zero(const void *p, size_t size)
{
	static const char zero[64];
	for (; size > sizeof(zero); p = at(p, sizeof(zero)), size -= sizeof(zero))
		if (memcmp(p, zero, sizeof(zero)) != 0)
			return false;
	return memcmp(p, zero, size) == 0;
}

/* Tells whether a value is that of an absent member. A part is compared field by field: it has
 * padding. */
static bool is_absent(const struct field *f, const void *object)
{
	const void *p = at(object, f->at);
	switch (f->kind) {
	case FIELD_BOOL:
	case FIELD_SIGNED:
	case FIELD_UNSIGNED:
	case FIELD_DOUBLE:
	case FIELD_UID:
	case FIELD_ENUMS:
		return all_zero(p, f->size);
	case FIELD_NAMED:
		return *f->name_of(*(const unsigned *)p) == '\0';
	case FIELD_TEXT:
		return *(const char *const *)p && **(const char *const *)p == '\0';
	case FIELD_TEXT_HERE:
		return *(const char *)p == '\0';
	case FIELD_MAYBE:
	case FIELD_ONE:
	case FIELD_MAYBE_LIST:
	case FIELD_ZONE:
		return *(const void *const *)p == NULL;
	case FIELD_TEXTS:
	case FIELD_LIST:
		return *(const size_t *)at(object, f->count_at) == 0;
	case FIELD_PART:
		for (size_t i = 0; i < f->of()->nfields; i++)
			if (!is_absent(&f->of()->field[i], p))
				return false;
		return true;
	case FIELD_LEFT_OUT:
		return true;
	}
	return true;
}

static void put_field(struct buf *out, const struct field *f, const void *object)
{
	const void *p = at(object, f->at);
	switch (f->kind) {
	case FIELD_BOOL:
		buf_puts(out, "true"); /* false is absent */
		break;
	case FIELD_SIGNED:
		put_signed(out, signed_at(p, f->size));
		break;
	case FIELD_UNSIGNED:
		put_digits(out, false, unsigned_at(p, f->size));
		break;
	case FIELD_DOUBLE:
		put_double(out, *(const double *)p);
		break;
	case FIELD_UID:
		put_uid(out, p);
		break;
	case FIELD_NAMED:
		buf_json_string(out, f->name_of(*(const unsigned *)p));
		break;
	case FIELD_ENUMS:
		put_enums(out, f, p);
		break;
	case FIELD_TEXT:
	case FIELD_MAYBE:
		buf_json_string(out, *(const char *const *)p);
		break;
	case FIELD_TEXT_HERE:
		buf_json_string(out, p);
		break;
	case FIELD_TEXTS:
		put_texts(out, *(const char *const *const *)p,
			*(const size_t *)at(object, f->count_at));
		break;
	case FIELD_PART:
		schema_write(f->of(), p, out);
		break;
	case FIELD_ONE:
		schema_write(f->of(), *(const void *const *)p, out);
		break;
	case FIELD_LIST:
	case FIELD_MAYBE_LIST:
		put_list(out, f->of(), *(const void *const *)p,
			*(const size_t *)at(object, f->count_at));
		break;
	case FIELD_ZONE:
		put_zone(out, *(const struct zone *const *)p);
		break;
	case FIELD_LEFT_OUT:
		break;
	}
}

void schema_write(const struct schema *s, const void *object, struct buf *out)
{
	bool any = false;
	buf_putc(out, '{');
	for (size_t i = 0; i < s->nfields; i++) {
		const struct field *f = &s->field[i];
		if (is_absent(f, object))
			continue;
		buf_puts(out, any ? ",\"" : "\"");
		buf_puts(out, f->name);
		buf_puts(out, "\":");
		put_field(out, f, object);
		any = true;
	}
	buf_putc(out, '}');
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void *in(void *object, size_t offset)
{
	return (char *)object + offset;
}

static int refuse(const char *what, struct err *e)
{
	return err_set(e, ERR_INVALID, "it is not %s", what);
}

/* Reads a whole number, or its digits as a text. */
static bool digits_of(const cJSON *json, bool *ret_negative, uint64_t *ret_amount)
{
	char *end;
	if (cJSON_IsNumber(json)) {
		double value = json->valuedouble, size = fabs(value);
		*ret_negative = value < 0;
		*ret_amount = size <= (double)EXACT_MOST ? (uint64_t)size : 0;
		return size <= (double)EXACT_MOST && (double)*ret_amount == size;
	}
	const char *text = cJSON_IsString(json) ? json->valuestring : "";
	*ret_negative = *text == '-';
	text += *ret_negative;
	errno = 0;
	*ret_amount = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static int get_signed(const struct field *f, const cJSON *json, void *p, struct err *e)
{
	bool negative;
	uint64_t amount, most = f->size == sizeof(int32_t) ? INT32_MAX : INT64_MAX;
	if (!digits_of(json, &negative, &amount) || amount > most + negative)
		return refuse("a whole number that it may be", e);
	int64_t value = (int64_t)(negative ? -amount : amount);
	if (f->size == sizeof(int32_t))
		*(int32_t *)p = (int32_t)value;
	else
		*(int64_t *)p = value;
	return 0;
}

static int get_unsigned(const cJSON *json, size_t size, uint64_t most, void *p, struct err *e)
{
	bool negative;
	uint64_t amount,
		bits = size == sizeof(uint64_t) ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;
	if (!digits_of(json, &negative, &amount) || negative || amount > (most ? most : bits))
		return refuse("a whole number that it may be", e);
	if (size == sizeof(uint8_t))
		*(uint8_t *)p = (uint8_t)amount;
	else if (size == sizeof(uint32_t))
		*(uint32_t *)p = (uint32_t)amount;
	else
		*(uint64_t *)p = amount;
	return 0;
}

static int get_double(const cJSON *json, double *ret, struct err *e)
{
	char *end;
	if (cJSON_IsNumber(json)) {
		*ret = json->valuedouble;
		return 0;
	}
	const char *text = cJSON_IsString(json) ? json->valuestring : "";
	*ret = strtod(text, &end);
	return *text && *end == '\0' ? 0 : refuse("a number", e);
}

static int get_named(const struct field *f, const cJSON *json, unsigned *ret, struct err *e)
{
	const char *name;
	for (unsigned i = 0; cJSON_IsString(json) && (name = f->name_of(i)); i++) {
		if (strcmp(name, json->valuestring) == 0) {
			*ret = i;
			return 0;
		}
	}
	return refuse("a name that is known", e);
}

static int get_enums(const struct field *f, const cJSON *json, void *p, struct err *e)
{
	size_t i = 0;
	int rc = cJSON_IsArray(json) ? 0 : refuse("an array", e);
	json_each(item, json) {
		if (rc == 0 && i >= f->size)
			rc = refuse("an array of that length", e);
		if (rc == 0)
			rc = get_unsigned(item, sizeof(uint32_t), f->most, in(p, i), e);
		i += sizeof(uint32_t);
	}
	return rc;
}

static int get_text(const cJSON *json, struct arena *a, const char **ret, struct err *e)
{
	if (cJSON_IsNull(json)) {
		*ret = NULL;
		return 0;
	}
	if (!cJSON_IsString(json))
		return refuse("a string", e);
	*ret = arena_string(a, json->valuestring);
	return 0;
}

static int get_text_here(const struct field *f, const cJSON *json, char *p, struct err *e)
{
	if (!cJSON_IsString(json) || strlen(json->valuestring) >= f->size)
		return refuse("a string of that length", e);
	memcpy(p, json->valuestring, strlen(json->valuestring) + 1);
	return 0;
}

/* Takes memory for a list as long as json; at least for one item, for an empty list is not NULL. */
static int take_list(
	const cJSON *json, size_t size, struct arena *a, void **ret, size_t *ret_n, struct err *e)
{
	size_t n = 0;
	if (!cJSON_IsArray(json))
		return refuse("an array", e);
	json_each(item, json)
		n++;
	if (n > LIST_BYTES_MAX / size)
		return refuse("an array of a length that is read", e);
	*ret = arena_take(a, n > 0 ? n : 1, size);
	*ret_n = n;
	return 0;
}

static int get_texts(
	const cJSON *json, struct arena *a, const char *const **ret, size_t *ret_n, struct err *e)
{
	void *memory;
	size_t i = 0;
	int rc = take_list(json, sizeof(char *), a, &memory, ret_n, e);
	if (rc)
		return rc;
	const char **text = memory;
	json_each(item, json)
		if (rc == 0)
			rc = get_text(item, a, &text[i++], e);
	*ret = text;
	return rc;
}

static int get_list(const struct field *f, const cJSON *json, struct arena *a, const void **ret,
	size_t *ret_n, struct err *e)
{
	const struct schema *s = f->of();
	void *memory;
	size_t i = 0;
	int rc = take_list(json, s->size, a, &memory, ret_n, e);
	if (rc)
		return rc;
	json_each(item, json)
		if (rc == 0)
			rc = schema_read(s, item, a, in(memory, i++ * s->size), e);
	*ret = memory;
	return rc;
}

static int get_one(
	const struct field *f, const cJSON *json, struct arena *a, const void **ret, struct err *e)
{
	void *memory = arena_take(a, 1, f->of()->size);
	*ret = memory;
	return schema_read(f->of(), json, a, memory, e);
}

/* Checks the spans of a zone, for zone_new() believes its caller. */
static bool zone_is_sound(const struct zone_span *span, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (abs(span[i].offset_s) > 26 * 3600 ||
			(i > 0 && (llabs(span[i].from_s) >= ZONE_FAR_S ||
					  (i > 1 && span[i - 1].from_s >= span[i].from_s))))
			return false;
	return n > 0;
}

static int get_zone(const cJSON *json, struct arena *a, const struct zone **ret, struct err *e)
{
	static const struct field spans = {.name = "span", .of = zone_span_schema};
	const char *name = json_text(json, "name");
	const void *span;
	size_t n;
	int rc = name && json_get(json, "span") ? 0 : refuse("a time zone", e);
	if (rc == 0)
		rc = get_list(&spans, json_get(json, "span"), a, &span, &n, e);
	if (rc == 0 && (!zone_is_sound(span, n) || strlen(name) >= ZONE_NAME_SIZE))
		rc = refuse("a time zone", e);
	if (rc)
		return rc;
	struct zone *z = zone_new(name, span, n);
	size_t size = sizeof(*z) + n * sizeof(z->span[0]);
	*ret = memcpy(arena_take(a, 1, size), z, size);
	zone_free(z);
	return 0;
}

static int get_field(
	const struct field *f, const cJSON *json, struct arena *a, void *object, struct err *e)
{
	void *p = in(object, f->at);
	switch (f->kind) {
	case FIELD_BOOL:
		*(bool *)p = cJSON_IsTrue(json);
		return cJSON_IsBool(json) ? 0 : refuse("true or false", e);
	case FIELD_SIGNED:
		return get_signed(f, json, p, e);
	case FIELD_UNSIGNED:
		return get_unsigned(json, f->size, f->most, p, e);
	case FIELD_DOUBLE:
		return get_double(json, p, e);
	case FIELD_UID:
		return cJSON_IsString(json) && uid_parse(json->valuestring, p) ? 0
									       : refuse("a uid", e);
	case FIELD_NAMED:
		return get_named(f, json, p, e);
	case FIELD_ENUMS:
		return get_enums(f, json, p, e);
	case FIELD_TEXT:
	case FIELD_MAYBE:
		return get_text(json, a, p, e);
	case FIELD_TEXT_HERE:
		return get_text_here(f, json, p, e);
	case FIELD_TEXTS:
		return get_texts(json, a, p, in(object, f->count_at), e);
	case FIELD_PART:
		return schema_read(f->of(), json, a, p, e);
	case FIELD_ONE:
		return get_one(f, json, a, p, e);
	case FIELD_LIST:
	case FIELD_MAYBE_LIST:
		return get_list(f, json, a, p, in(object, f->count_at), e);
	case FIELD_ZONE:
		return get_zone(json, a, p, e);
	case FIELD_LEFT_OUT:
		break;
	}
	return err_set(e, ERR_INVALID, "it is not written into records");
}

static const struct field *field_by_name(const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->nfields; i++)
		if (s->field[i].kind != FIELD_LEFT_OUT && strcmp(s->field[i].name, name) == 0)
			return &s->field[i];
	return NULL;
}

/* Fills the struct as if no member were there. */
static void make_empty(const struct schema *s, void *object)
{
	for (size_t i = 0; i < s->nfields; i++) {
		const struct field *f = &s->field[i];
		if (f->kind == FIELD_TEXT)
			*(const char **)in(object, f->at) = "";
		else if (f->kind == FIELD_PART)
			make_empty(f->of(), in(object, f->at));
	}
}

int schema_read(
	const struct schema *s, const cJSON *json, struct arena *a, void *ret, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	memset(ret, 0, s->size);
	make_empty(s, ret);
	if (!cJSON_IsObject(json))
		return refuse("an object", e);
	json_each(member, json) {
		const struct field *f = field_by_name(s, member->string);
		int rc = f ? get_field(f, member, a, ret, e)
			   : err_set(e, ERR_INVALID, "it is not known here");
		if (rc) {
			err_wrap(e, "%s", slice_show(slice_of(member->string), shown));
			return rc;
		}
	}
	return 0;
}
