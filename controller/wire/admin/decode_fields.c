/* Makes a statement of each row of sluice/fields/X.def, which reads that field: decode_parts.h. */
#include <string.h>

#include "base/must.h"
#include "controller/wire/decode_parts.h"

/* ---- Where a field is ---- */

/* A field, and the object that holds it: of "start.fit" the object start. */
struct spot {
	char within[64]; /* "start" */
	struct path step;
	const struct path *up;
	const cJSON *object; /* NULL: absent */
	const char *key;     /* "fit" */
};

/* Finds a field of o, which is at `at`. */
static void spot_find(struct spot *spot, struct decoder *d, const struct path *at, const cJSON *o,
	const char *wire)
{
	spot->up = at;
	spot->object = o;
	spot->key = wire;
	for (const char *dot; (dot = strchr(spot->key, '.')); spot->key = dot + 1) {
		size_t len = (size_t)(dot - wire);
		must(len < sizeof(spot->within));
		memcpy(spot->within, wire, len);
		spot->within[len] = '\0';
		spot->step = (struct path){at, spot->within, 0};
		spot->up = &spot->step;
		spot->object = json_get(spot->object, spot->within + (spot->key - wire));
		if (spot->object && !cJSON_IsObject(spot->object))
			decoder_fault(d, spot->up, "must be an object");
	}
}

/* ---- A field of each kind of row ---- */

static const char *text_row(struct decoder *d, const struct spot *spot, const char *needed)
{
	const char *text = text_field(d, spot->up, spot->object, spot->key, NAME_MAX_BYTES);
	if (*text == '\0' && needed)
		decoder_fault(d, PATH(spot->up, spot->key), "is missing; %s", needed);
	return text;
}

static bool flag_row(struct decoder *d, const struct spot *spot)
{
	bool flag = false;
	if (json_bool(spot->object, spot->key, &flag) == ERR_INVALID)
		decoder_fault(d, PATH(spot->up, spot->key), "must be true or false");
	return flag;
}

static int32_t number_row(struct decoder *d, const struct spot *spot, int32_t low, int32_t high,
	int32_t absent, const char *why)
{
	int32_t n = int32_field(d, spot->up, spot->object, spot->key, low, absent);
	if (n > high)
		decoder_fault(d, PATH(spot->up, spot->key), "must be at most %d%s", (int)high,
			why ? why : "");
	return n;
}

static int64_t span_row(struct decoder *d, const struct spot *spot, int64_t low, int64_t high,
	int64_t absent, const char *why)
{
	int64_t ms = span_field(d, spot->up, spot->object, spot->key, high, absent);
	if (ms < low && json_get(spot->object, spot->key))
		decoder_fault(d, PATH(spot->up, spot->key), "must be at least %llds%s",
			(long long)(low / 1000), why ? why : "");
	return ms;
}

static int64_t quantity_row(
	struct decoder *d, const struct spot *spot, const char *resource, int64_t absent)
{
	const struct path *at = PATH(spot->up, spot->key);
	const cJSON *value = json_get(spot->object, spot->key);
	if (!value && absent < 0)
		decoder_fault(d, at, "is missing; write e.g. 40 or 64Gi");
	return value ? quantity_value(d, at, value, resource) : absent < 0 ? 0 : absent;
}

static bool selector_row(struct decoder *d, const struct spot *spot, struct selector_term *ret)
{
	const cJSON *o = object_field(d, spot->up, spot->object, spot->key);
	*ret = label_selector(d, PATH(spot->up, spot->key), o);
	return o != NULL;
}

/* ---- The rows of each object ---- */

#define AT(wire) spot_find(&spot, d, at, o, wire)
#define HAS json_get(spot.object, spot.key) != NULL
#define WRITTEN(x) (x)
#define UNWRITTEN(x) (x)
#define NEEDED (-1)
#define NAMES(...)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define NAME(m, wire, kind, needed, text) AT(wire), ret->m = text_row(d, &spot, needed);
#define STRING(m, wire, low, high, needed, text) AT(wire), ret->m = text_row(d, &spot, needed);
#define GLOBS(m, n, wire, namespaced, text)                                                        \
	AT(wire), ret->m = queue_globs_field(                                                      \
			  d, spot.up, spot.object, spot.key, namespaced, &ret->n);
#define FLAG(m, wire, text) AT(wire), ret->m = flag_row(d, &spot);
#define NUMBER(m, wire, low, high, absent, why, text)                                              \
	AT(wire), ret->m = number_row(d, &spot, low, high, absent, why);
#define MAYBE_NUMBER(has, m, wire, low, high, why, text)                                           \
	NUMBER(m, wire, low, high, 0, why, text) ret->has = HAS;
#define SPAN(m, wire, low, high, absent, why, text)                                                \
	AT(wire), ret->m = span_row(d, &spot, low, high, absent, why);
#define QUANTITY(m, wire, of, absent, text)                                                        \
	AT(wire), ret->m = quantity_row(d, &spot, ret->of, absent);
#define MAYBE_QUANTITY(has, m, wire, of, text)                                                     \
	QUANTITY(m, wire, of, QUOTA_UNLIMITED, text) ret->has = HAS;
#define CHOICE(m, tag, wire, absent, names, text)                                                  \
	AT(wire), ret->m = (enum tag)name_field(d, spot.up, spot.object, spot.key, names, absent);
#define EITHER(m, wire, absent, names, text)                                                       \
	AT(wire), ret->m = name_field(d, spot.up, spot.object, spot.key, names, absent) == 1;
#define TEXTS_OF(m, n, wire, most, must_be, text)                                                  \
	AT(wire), ret->m = texts_field(                                                            \
			  d, spot.up, spot.object, spot.key, most, false, must_be, &ret->n);
#define OBJECTS(m, n, tag, wire, most, text)                                                       \
	decode_objects(d, at, o, wire, most, struct tag, tag##_fields, &ret->m, &ret->n);
#define OWN(type, m)
#define ENUM_OF(m, tag, last)
#define SELECTOR(has, m, wire) AT(wire), ret->has = selector_row(d, &spot, &ret->m);
#define WEIGHT(m) ret->m = weight_field(d, at, o);
#define METADATA(m, wire) ret->m = queue_metadata_field(d, at, o);
#define OBJECT(m, tag, wire)                                                                       \
	AT(wire), tag##_fields(d, PATH(spot.up, spot.key),                                         \
			  object_field(d, spot.up, spot.object, spot.key), &ret->m);
#define SAME_OBJECT(m, tag) tag##_fields(d, at, o, &ret->m);

#define STRUCT(tag)                                                                                \
	void tag##_fields(                                                                         \
		struct decoder *d, const struct path *at, const cJSON *o, struct tag *ret);        \
	void tag##_fields(                                                                         \
		struct decoder *d, const struct path *at, const cJSON *o, struct tag *ret)         \
	{                                                                                          \
		struct spot spot;                                                                  \
		(void)spot, (void)d, (void)at, (void)o, (void)ret;
#define END(tag) }
/* Rows whose fields the decoder of the kind reads. */
#define META
#define VALUE(m)
#define UID(m)
#define ENUM(m, last)
#define ENUMS(m, last)
#define TEXT(m)
#define MAYBE(m)
#define TEXTS(m, n)
#define PART(m, tag)
#define LIST(m, n, tag)
#define ZONE(m)
#include "sluice/specs.def"
