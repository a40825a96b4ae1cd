/*
 * Schemas: structs with drawn values are written, read, and are the same; and what is no such text is
 * refused with the member's name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/uid.h"
#include "base/json.h"
#include "queue/calendar/zone.h"
#include "record/facts.h"
#include "sluice/queue_call.h"

#define LINE_MAX_BYTES ((size_t)64 << 20)

static uint64_t seed = 1;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static uint64_t below(uint64_t n)
{
	return draw() % n;
}

/* ---- Drawn values ---- */

static const char *draw_text(void)
{
	static const char *const texts[] = {"", "a", "team-a", "\"\\\n\t\x01", "Zürich 日本",
		"a longer text, with blanks and {braces: [\"and more\"]}", "null",
		"9007199254740993"};
	return texts[below(sizeof(texts) / sizeof(*texts))];
}

static uint64_t draw_bits(size_t size)
{
	static const uint64_t odd[] = {0, 1, 2, INT32_MAX, (uint64_t)INT32_MIN, INT64_MAX,
		(uint64_t)INT64_MIN, UINT64_MAX, (UINT64_C(1) << 53) - 1, UINT64_C(1) << 53,
		(UINT64_C(1) << 53) + 1, -(UINT64_C(1) << 53) - 1, 255};
	uint64_t v = below(3) ? odd[below(sizeof(odd) / sizeof(*odd))] : draw();
	return size >= sizeof(v) ? v : v & ((UINT64_C(1) << 8 * size) - 1);
}

static double draw_double(void)
{
	static const double odd[] = {0, 1, 0.1, -2.5, 1e300, 5e-324, 1.0 / 3, 12345678.9};
	return odd[below(sizeof(odd) / sizeof(*odd))];
}

static void fill(const struct schema *s, void *object, struct arena *a, int depth);

static const void *draw_list(const struct schema *s, struct arena *a, size_t *ret_n, int depth)
{
	*ret_n = 0;
	if (depth > 5 || below(3) == 0)
		return NULL;
	size_t n = below(3);
	char *first = arena_take(a, n + 1, s->size);
	for (size_t i = 0; i < n; i++)
		fill(s, first + i * s->size, a, depth + 1);
	*ret_n = n;
	return first;
}

static const char *const *draw_texts(struct arena *a, size_t *ret_n)
{
	*ret_n = 0;
	if (below(3) == 0)
		return NULL;
	size_t n = below(4);
	const char **all = arena_take(a, n + 1, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = draw_text();
	*ret_n = n;
	return all;
}

static const struct zone *draw_zone(void)
{
	static struct zone *zone;
	static const struct zone_span spans[] = {
		{INT64_MIN, 3600, "CET", 0}, {1000000, 7200, "CEST", 0}, {2000000, -3600, "X", 0}};
	if (!zone)
		zone = zone_new("Europe/Berlin", spans, 3);
	return below(2) ? zone : NULL;
}

static unsigned draw_named(const struct field *f)
{
	unsigned n = 0;
	while (f->name_of(n))
		n++;
	return (unsigned)below(n);
}

static void fill_field(const struct field *f, void *object, struct arena *a, int depth)
{
	void *p = (char *)object + f->at;
	size_t *n = (size_t *)(void *)((char *)object + f->count_at);
	uint64_t bits = draw_bits(f->size);
	switch (f->kind) {
	case FIELD_BOOL:
		*(bool *)p = below(2);
		break;
	case FIELD_SIGNED:
	case FIELD_UNSIGNED:
		bits = f->most ? below(f->most + 1) : bits;
		memcpy(p, &bits, f->size);
		break;
	case FIELD_DOUBLE:
		*(double *)p = draw_double();
		break;
	case FIELD_UID:
		for (size_t i = 0; i < 16; i++)
			((struct uid *)p)->byte[i] = (uint8_t)(below(4) ? draw() : 0);
		break;
	case FIELD_NAMED:
		*(unsigned *)p = draw_named(f);
		break;
	case FIELD_ENUMS:
		for (size_t i = 0; i < f->size; i += sizeof(unsigned))
			*(unsigned *)(void *)((char *)p + i) = (unsigned)below(f->most + 1);
		break;
	case FIELD_TEXT:
	case FIELD_MAYBE:
		*(const char **)p = below(4) ? draw_text() : NULL;
		break;
	case FIELD_TEXT_HERE:
		memcpy(p, "abc", 4);
		break;
	case FIELD_TEXTS:
		*(const char *const **)p = draw_texts(a, n);
		break;
	case FIELD_PART:
		fill(f->of(), p, a, depth + 1);
		break;
	case FIELD_ONE:
		if (depth <= 5 && below(2)) {
			void *one = arena_take(a, 1, f->of()->size);
			fill(f->of(), one, a, depth + 1);
			*(const void **)p = one;
		}
		break;
	case FIELD_LIST:
	case FIELD_MAYBE_LIST:
		*(const void **)p = draw_list(f->of(), a, n, depth);
		break;
	case FIELD_ZONE:
		*(const struct zone **)p = draw_zone();
		break;
	case FIELD_LEFT_OUT:
		break;
	}
}

static void fill(const struct schema *s, void *object, struct arena *a, int depth)
{
	memset(object, 0, s->size);
	for (size_t i = 0; i < s->nfields; i++)
		fill_field(&s->field[i], object, a, depth);
}

/* ---- Compared field by field ---- */

static void same(const struct schema *s, const void *a, const void *b);

static void same_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a)
		assert_string_equal(a, b);
}

static void same_field(const struct field *f, const void *a, const void *b)
{
	const void *p = (const char *)a + f->at, *o = (const char *)b + f->at;
	size_t n = 0, m = 0;
	const char *x = NULL, *y = NULL;
	if (f->kind == FIELD_LIST || f->kind == FIELD_MAYBE_LIST || f->kind == FIELD_TEXTS) {
		memcpy(&n, (const char *)a + f->count_at, sizeof(n));
		memcpy(&m, (const char *)b + f->count_at, sizeof(m));
	}
	if (f->kind != FIELD_PART && f->size >= sizeof(x)) {
		memcpy(&x, p, sizeof(x));
		memcpy(&y, o, sizeof(y));
	}
	switch (f->kind) {
	case FIELD_BOOL:
	case FIELD_SIGNED:
	case FIELD_UNSIGNED:
	case FIELD_DOUBLE:
	case FIELD_UID:
	case FIELD_NAMED:
	case FIELD_ENUMS:
		assert_memory_equal(p, o, f->size);
		break;
	case FIELD_TEXT:
	case FIELD_MAYBE:
		same_text(x, y);
		break;
	case FIELD_TEXT_HERE:
		assert_string_equal(p, o);
		break;
	case FIELD_TEXTS:
		assert_int_equal(n, m);
		for (size_t i = 0; i < n; i++)
			same_text(((const char *const *)x)[i], ((const char *const *)y)[i]);
		break;
	case FIELD_PART:
		same(f->of(), p, o);
		break;
	case FIELD_ONE:
		assert_int_equal(x == NULL, y == NULL);
		if (x)
			same(f->of(), x, y);
		break;
	case FIELD_MAYBE_LIST:
	case FIELD_LIST:
		if (f->kind == FIELD_MAYBE_LIST)
			assert_int_equal(x == NULL, y == NULL);
		assert_int_equal(n, m);
		for (size_t i = 0; i < n; i++)
			same(f->of(), x + i * f->of()->size, y + i * f->of()->size);
		break;
	case FIELD_ZONE: {
		const struct zone *z = *(const struct zone *const *)p;
		const struct zone *w = *(const struct zone *const *)o;
		assert_int_equal(z == NULL, w == NULL);
		if (z)
			assert_memory_equal(z, w, sizeof(*z) + z->nspans * sizeof(z->span[0]));
		break;
	}
	case FIELD_LEFT_OUT:
		break;
	}
}

static void same(const struct schema *s, const void *a, const void *b)
{
	for (size_t i = 0; i < s->nfields; i++)
		same_field(&s->field[i], a, b);
}

/* ---- Tests ---- */

static void one_struct(const struct schema *s)
{
	struct arena a = {0}, b = {0};
	struct buf text, again;
	struct err e = {""};
	struct json *j = json_new(LINE_MAX_BYTES * 8);
	const cJSON *root;
	void *object = mem_alloc(s->size), *back = mem_alloc(s->size);
	buf_init(&text, LINE_MAX_BYTES);
	buf_init(&again, LINE_MAX_BYTES);
	fill(s, object, &a, 0);
	schema_write(s, object, &text);
	assert_false(text.failed);
	if (json_parse(j, buf_slice(&text), &root, &e) != 0 ||
		schema_read(s, root, &b, back, &e) != 0)
		fail_msg("%s: %s\n%.2000s", s->name, e.text, buf_text(&text));
	same(s, object, back);
	schema_write(s, back, &again);
	assert_string_equal(buf_text(&text), buf_text(&again));
	buf_done(&text);
	buf_done(&again);
	free(object);
	free(back);
	json_free(j);
	arena_done(&a);
	arena_done(&b);
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	size_t n = 0;
	for (const struct schema *s; (s = facts_schema(n)); n++)
		for (int round = 0; round < 300; round++)
			one_struct(s);
	assert_true(n > 70);
}

/* facts.c does not compile without a row for each member; here, that no member has two. */
static void each_member_stands_once(void **state)
{
	(void)state;
	const struct schema *s;
	for (size_t n = 0; (s = facts_schema(n)); n++)
		for (size_t i = 0; i < s->nfields; i++)
			for (size_t k = 0; k < i; k++) {
				assert_int_not_equal(s->field[i].at, s->field[k].at);
				assert_string_not_equal(s->field[i].name, s->field[k].name);
			}
}

/* Nothing of an empty one but what it always says. */
static void what_is_zero_is_not_written(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 1000);
	schema_write(queue_call_schema(), &(struct queue_call){.kind = CALL_KNOW_CLUSTER}, &out);
	assert_string_equal(buf_text(&out), "{\"call\":\"know_cluster\"}");
	buf_reset(&out);
	struct quota_line line = {
		.node = "cq/a", .flavor = "", .resource = NULL, .amount = INT64_MAX};
	struct queue_call call = {.kind = CALL_ADOPT_JOB,
		.uid = {{1}},
		.lines = &line,
		.nlines = 1,
		.reserved_ms = -5};
	schema_write(queue_call_schema(), &call, &out);
	assert_string_equal(buf_text(&out),
		"{\"call\":\"adopt_job\",\"uid\":\"01000000-0000-0000-0000-000000000000\",\"reserved_ms\":-5,\"lines\":[{\"node\":\"cq/a\",\"resource\":null,\"amount\":\"9223372036854775807\"}]}");
	buf_done(&out);
}

static const struct {
	const char *text, *says;
} bad[] = {
	{"{\"call\":\"set_job\",\"nonsense\":1}", "nonsense\": it is not known here"},
	{"{\"call\":\"fly\"}", "call\": it is not a name that is known"},
	{"{\"call\":7}", "call\""},
	{"{\"call\":\"set_job\",\"job\":{\"finalizer\":\"x\"}}",
		"job\": \"finalizer\": it is not known"},
	{"{\"call\":\"set_job\",\"job\":{\"nice\":2147483648}}",
		"\"nice\": it is not a whole number"},
	{"{\"call\":\"set_job\",\"job\":{\"nice\":1.5}}", "nice"},
	{"{\"call\":\"set_job\",\"job\":{\"lending\":256}}", "lending"},
	{"{\"call\":\"set_job\",\"job\":{\"grow\":3}}", "grow"},
	{"{\"call\":\"set_job\",\"job\":{\"version\":9007199254740994}}", "version"},
	{"{\"call\":\"set_job\",\"job\":{\"version\":\"9223372036854775808\"}}", "version"},
	{"{\"call\":\"set_job\",\"job\":{\"version\":\"12x\"}}", "version"},
	{"{\"call\":\"set_job\",\"job\":{\"suspend\":\"true\"}}",
		"suspend\": it is not true or false"},
	{"{\"call\":\"set_job\",\"job\":[]}", "job\": it is not an object"},
	{"{\"call\":\"set_job\",\"job\":{\"labels\":{}}}", "labels\": it is not an array"},
	{"{\"call\":\"set_job\",\"job\":{\"labels\":[{\"key\":3}]}}", "key\": it is not a string"},
	{"{\"call\":\"drop_job\",\"uid\":\"12\"}", "uid\": it is not a uid"},
	{"{\"call\":\"set_calendar\",\"calendar\":{\"zone\":{\"name\":\"X\",\"span\":[]}}}",
		"time zone"},
	{"{\"call\":\"set_calendar\",\"calendar\":{\"zone\":{\"name\":\"X\",\"span\":[{\"offset_s\":99999999}]}}}",
		"time zone"},
	{"{\"call\":\"configure\",\"config\":{\"fair_strategy\":[0,1,0]}}", "fair_strategy"},
	{"[]", "it is not an object"},
};

static void what_is_no_such_text_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct json *j = json_new(1 << 20);
		struct arena a = {0};
		struct err e = {""};
		struct queue_call call;
		const cJSON *root;
		assert_int_equal(json_parse(j, slice_of(bad[i].text), &root, &e), 0);
		assert_int_equal(
			schema_read(queue_call_schema(), root, &a, &call, &e), ERR_INVALID);
		if (!strstr(e.text, bad[i].says))
			fail_msg("%s\nsays %s", bad[i].text, e.text);
		json_free(j);
		arena_done(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(each_member_stands_once),
		cmocka_unit_test(what_is_zero_is_not_written),
		cmocka_unit_test(what_is_no_such_text_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
