/* A row of sluice/fields/X.def becomes a statement here, by the macros at the end: decode_fields.h. */
#include "controller/wire/admin/decode_fields.h"

#include <string.h>

#include "base/must.h"

/* ---- Where a field is ---- */

#define STEPS_MAX 3

/* One field of an object. The last step of its path is its own key. */
struct spot {
	struct path step[STEPS_MAX];
	char keys[64];
	const struct path *up; /* of what holds it */
	const cJSON *object;   /* what holds it; NULL: absent */
	const char *key;
};

/* Goes down to what holds the field: "start.fit" is the fit of start. */
static void spot_find(struct spot *spot, struct decoder *d, const struct path *at, const cJSON *o,
	const char *wire)
{
	must(strlen(wire) < sizeof(spot->keys));
	strcpy(spot->keys, wire);
	spot->up = at;
	spot->object = o;
	spot->key = spot->keys;
	for (size_t n = 0; strchr(spot->key, '.'); n++) {
		char *dot = strchr(spot->key, '.');
		must(n < STEPS_MAX);
		*dot = '\0';
		spot->object = object_field(d, spot->up, spot->object, spot->key);
		spot->step[n] = (struct path){spot->up, spot->key, 0};
		spot->up = &spot->step[n];
		spot->key = dot + 1;
	}
}

/* ---- A field of each kind of row ---- */

static const char *text_row(
	struct decoder *d, const struct spot *spot, size_t most, const char *needed)
{
	const char *text = text_field(d, spot->up, spot->object, spot->key, most);
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

/* False: there is none. */
static bool selector_row(struct decoder *d, const struct spot *spot, struct selector_term *ret)
{
	const cJSON *o = object_field(d, spot->up, spot->object, spot->key);
	*ret = label_selector(d, PATH(spot->up, spot->key), o);
	return o != NULL;
}

/* ---- The rows of each kind ---- */

#define AT(wire) spot_find(&spot, d, at, o, wire)
#define WRITTEN(x) (x)
#define UNWRITTEN(x) (x)
#define NAMES(...)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define NAME(m, wire, kind, needed, text)                                                          \
	AT(wire), ret->m = text_row(d, &spot, NAME_MAX_BYTES, needed);
#define STRING(m, wire, low, high, needed, text) NAME(m, wire, , needed, text)
#define GLOBS(m, n, wire, namespaced, text)                                                        \
	AT(wire), ret->m = queue_globs_field(                                                      \
			  d, spot.up, spot.object, spot.key, namespaced, &ret->n);
#define FLAG(m, wire, text) AT(wire), ret->m = flag_row(d, &spot);
#define NUMBER(m, wire, low, high, absent, why, text)                                              \
	AT(wire), ret->m = number_row(d, &spot, low, high, absent, why);
#define MAYBE_NUMBER(has, m, wire, low, high, why, text)                                           \
	NUMBER(m, wire, low, high, 0, why, text) ret->has = json_get(spot.object, spot.key) != NULL;
#define SPAN(m, wire, low, high, absent, why, text)                                                \
	AT(wire), ret->m = span_row(d, &spot, low, high, absent, why);
#define CHOICE(m, tag, wire, absent, names, text)                                                  \
	AT(wire), ret->m = (enum tag)name_field(d, spot.up, spot.object, spot.key, names, absent);
#define EITHER(m, wire, absent, names, text)                                                       \
	AT(wire), ret->m = name_field(d, spot.up, spot.object, spot.key, names, absent) == 1;
#define INT32(m)
#define INT64(m)
#define BOOL(m)
#define ENUM_OF(m, tag, last)
#define SELECTOR(has, m, wire) AT(wire), ret->has = selector_row(d, &spot, &ret->m);
#define WEIGHT(m) ret->m = weight_field(d, at, o);
#define METADATA(m, wire) ret->m = queue_metadata_field(d, at, o);
#define OBJECT(m, tag, wire) tag##_fields(d, PATH(at, wire), object_field(d, at, o, wire), &ret->m);

#define BEGIN(tag)                                                                                 \
	void tag##_fields(                                                                         \
		struct decoder *d, const struct path *at, const cJSON *o, struct tag *ret)         \
	{                                                                                          \
		struct spot spot;

BEGIN(advance_reservation_spec)
#include "sluice/fields/advance_reservation.def"
}

BEGIN(fungibility_spec)
#include "sluice/fields/fungibility.def"
}

BEGIN(preemption_spec)
#include "sluice/fields/preemption.def"
}

BEGIN(clusterqueue_spec)
#include "sluice/fields/clusterqueue.def"
}

BEGIN(runpolicy_spec)
#include "sluice/fields/runpolicy.def"
}
