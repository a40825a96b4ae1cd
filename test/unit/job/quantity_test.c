/* Quantities. The rows that parse were checked against apimachinery v0.36.3 (ParseQuantity, AsDec,
 * then rounded up), with 54,000 random ones more. */
#include "test/unit/wire/wire.h"

#include "sluice/quantity.h"

enum { OK = 0, INVALID = ERR_INVALID, LIMIT = ERR_LIMIT };

static const struct row {
	const char *text;
	int whole_rc;
	int64_t whole;
	int milli_rc;
	int64_t milli;
} rows[] = {
	{"0", OK, 0, OK, 0}, {"1", OK, 1, OK, 1000}, {"+2", OK, 2, OK, 2000},
	{"-1", OK, -1, OK, -1000}, {"-0", OK, 0, OK, 0}, {"007", OK, 7, OK, 7000},
	{"1500m", OK, 2, OK, 1500}, {"1.5", OK, 2, OK, 1500}, {"-1.5", OK, -2, OK, -1500},
	{"0.1m", OK, 1, OK, 1}, {"-0.1m", OK, -1, OK, -1}, {"1n", OK, 1, OK, 1},
	{"1000000n", OK, 1, OK, 1}, {"1000001n", OK, 1, OK, 2}, {"2500u", OK, 1, OK, 3},
	{".5", OK, 1, OK, 500}, {"5.", OK, 5, OK, 5000}, {"5.G", OK, 5000000000, OK, 5000000000000},
	{"0.000", OK, 0, OK, 0}, {"12k", OK, 12000, OK, 12000000},
	{"1M", OK, 1000000, OK, 1000000000}, {"9E", OK, 9000000000000000000, LIMIT, 0},
	{"12E", LIMIT, 0, LIMIT, 0}, {"12E2", OK, 1200, OK, 1200000},
	{"1Ki", OK, 1024, OK, 1024000}, {"1.5Gi", OK, 1610612736, OK, 1610612736000},
	{"0.1Ki", OK, 103, OK, 102400}, {"128Gi", OK, 137438953472, OK, 137438953472000},
	{"7Ei", OK, 8070450532247928832, LIMIT, 0}, {"8Ei", LIMIT, 0, LIMIT, 0},
	{"7.9999999999999999999Ei", LIMIT, 0, LIMIT, 0},
	{"7.999Ei", OK, 9222219115350168962, LIMIT, 0}, {"0.00000000000000000001Ei", OK, 1, OK, 12},
	{"12e3", OK, 12000, OK, 12000000}, {"1e3", OK, 1000, OK, 1000000},
	{"1E+3", OK, 1000, OK, 1000000}, {"1e-3", OK, 1, OK, 1}, {"1.5e1", OK, 15, OK, 15000},
	{"1e-400", OK, 1, OK, 1}, {"1e400", LIMIT, 0, LIMIT, 0}, {"0e400", OK, 0, OK, 0},
	{"0e99999999999999999999", OK, 0, OK, 0}, {"1e99999999999999999999", LIMIT, 0, LIMIT, 0},
	{"1e-99999999999999999999", OK, 1, OK, 1}, {"9223372036854775807", OK, INT64_MAX, LIMIT, 0},
	{"9223372036854775806.5", OK, INT64_MAX, LIMIT, 0},
	{"9223372036854775807.5", LIMIT, 0, LIMIT, 0}, {"9223372036854775808", LIMIT, 0, LIMIT, 0},
	{"9223372036854775.807", OK, 9223372036854776, OK, INT64_MAX},
	{"9223372036854775.8071", OK, 9223372036854776, LIMIT, 0},
	{"99999999999999999999999999999999999999999999", LIMIT, 0, LIMIT, 0},
	{"0.00000000000000000000000000000000000000001", OK, 1, OK, 1},

	{"", INVALID, 0, INVALID, 0},
	{"-", INVALID, 0, INVALID, 0}, /* Kubernetes takes these four for 0 */
	{".", INVALID, 0, INVALID, 0}, {"Gi", INVALID, 0, INVALID, 0},
	{"e3", INVALID, 0, INVALID, 0}, {"--1", INVALID, 0, INVALID, 0},
	{"1 Gi", INVALID, 0, INVALID, 0}, {" 1", INVALID, 0, INVALID, 0},
	{"1 ", INVALID, 0, INVALID, 0}, {"1.1.M", INVALID, 0, INVALID, 0},
	{"1+1.0M", INVALID, 0, INVALID, 0}, {"0.1mi", INVALID, 0, INVALID, 0},
	{"0.1am", INVALID, 0, INVALID, 0}, {"aoeu", INVALID, 0, INVALID, 0},
	{".5i", INVALID, 0, INVALID, 0}, {"1i", INVALID, 0, INVALID, 0},
	{"-3.01i", INVALID, 0, INVALID, 0}, {"-3.01e-", INVALID, 0, INVALID, 0},
	{"12e", INVALID, 0, INVALID, 0}, {"1e1.5", INVALID, 0, INVALID, 0},
	{"1e3k", INVALID, 0, INVALID, 0}, {"1Ki3", INVALID, 0, INVALID, 0},
	{"1K", INVALID, 0, INVALID, 0}, {"1ki", INVALID, 0, INVALID, 0},
	{"1kk", INVALID, 0, INVALID, 0}, {"0x10", INVALID, 0, INVALID, 0},
	{"1,5", INVALID, 0, INVALID, 0}, {"inf", INVALID, 0, INVALID, 0},
	{"NaN", INVALID, 0, INVALID, 0}, {"\xEF\xBC\x91", INVALID, 0, INVALID, 0}, /* a wide 1 */
};

static void check(const struct row *r, enum quantity_unit unit, int want_rc, int64_t want)
{
	struct err e = {""};
	int64_t got = 77;
	int rc = quantity_parse(slice_of(r->text), unit, &got, &e);
	if (rc != want_rc || got != (rc == 0 ? want : 77))
		fail_msg("\"%s\" (unit %d): %d, %lld: %s", r->text, unit, rc, (long long)got,
			e.text);
	assert_true((rc == 0) == (e.text[0] == '\0'));
}

static void the_grammar_of_kubernetes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		check(&rows[i], QUANTITY_WHOLE, rows[i].whole_rc, rows[i].whole);
		check(&rows[i], QUANTITY_MILLI, rows[i].milli_rc, rows[i].milli);
	}
}

static void any_length_and_any_byte(void **state)
{
	enum { N = 1000000 };
	char *text = mem_alloc(N + 3);
	int64_t v;
	(void)state;
	memset(text, '0', N);
	text[N - 1] = '7';
	assert_int_equal(quantity_parse((struct slice){text, N}, QUANTITY_WHOLE, &v, NULL), 0);
	assert_int_equal(v, 7);
	text[1] = '.';
	memcpy(text + N, "Ei", 2);
	assert_int_equal(quantity_parse((struct slice){text, N + 2}, QUANTITY_WHOLE, &v, NULL), 0);
	assert_int_equal(v, 1);
	memset(text, '9', N);
	assert_int_equal(
		quantity_parse((struct slice){text, N}, QUANTITY_WHOLE, &v, NULL), ERR_LIMIT);
	free(text);
	assert_int_equal(
		quantity_parse((struct slice){"1\0002", 3}, QUANTITY_WHOLE, &v, NULL), ERR_INVALID);
	assert_int_equal(
		quantity_parse((struct slice){"12Ki", 3}, QUANTITY_WHOLE, &v, NULL), ERR_INVALID);
	assert_int_equal(quantity_parse((struct slice){"12345", 3}, QUANTITY_WHOLE, &v, NULL), 0);
	assert_int_equal(v, 123);
}

static void the_sentence_is_short_safe_and_helps(void **state)
{
	struct err e;
	int64_t v;
	(void)state;
	quantity_parse(slice_of("1e400"), QUANTITY_WHOLE, &v, &e);
	assert_string_equal(e.text, "\"1e400\" is too large to be counted; write e.g. 40 or 64Gi");
	quantity_parse(slice_of("lots"), QUANTITY_MILLI, &v, &e);
	assert_string_equal(e.text, "\"lots\" is not a quantity; write e.g. 500m or 40");
	quantity_parse(slice_of("12345678901234567890123456789012345678901234567890x"),
		QUANTITY_MILLI, &v, &e);
	assert_string_equal(e.text, "\"1234567890123456789012345678901234567890\"... is not a "
				    "quantity; write e.g. 500m or 40");
	quantity_parse((struct slice){"\x1b[31m\xff", 6}, QUANTITY_MILLI, &v, &e);
	assert_string_equal(e.text, "\"?[31m?\" is not a quantity; write e.g. 500m or 40");
}

static void written_in_the_shortest_form(void **state)
{
	static const struct {
		int64_t amount;
		enum quantity_unit unit;
		bool binary;
		const char *text;
	} forms[] = {
		{1500, QUANTITY_MILLI, false, "1500m"},
		{12000, QUANTITY_MILLI, false, "12"},
		{0, QUANTITY_MILLI, true, "0"},
		{-500, QUANTITY_MILLI, false, "-500m"},
		{137438953472, QUANTITY_WHOLE, true, "128Gi"},
		{137438953472, QUANTITY_WHOLE, false, "137438953472"},
		{1536, QUANTITY_WHOLE, true, "1536"},
		{1610612736, QUANTITY_WHOLE, true, "1536Mi"},
		{1000, QUANTITY_WHOLE, true, "1000"},
		{0, QUANTITY_WHOLE, true, "0"},
		{-2048, QUANTITY_WHOLE, true, "-2Ki"},
		{8070450532247928832, QUANTITY_WHOLE, true, "7Ei"},
		{INT64_MAX, QUANTITY_WHOLE, true, "9223372036854775807"},
		{INT64_MIN, QUANTITY_WHOLE, true, "-8Ei"},
	};
	char text[QUANTITY_TEXT_SIZE];
	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		quantity_format(forms[i].amount, forms[i].unit, forms[i].binary, text);
		assert_string_equal(text, forms[i].text);
	}
}

static void described_for_people(void **state)
{
	char text[64];
	(void)state;
	quantity_describe(12000, "cpu", text, sizeof(text));
	assert_string_equal(text, "12 cpu");
	quantity_describe(500, "cpu", text, sizeof(text));
	assert_string_equal(text, "500m cpu");
	quantity_describe(INT64_C(64) << 30, "memory", text, sizeof(text));
	assert_string_equal(text, "64Gi memory");
	quantity_describe(3, "pods", text, sizeof(text));
	assert_string_equal(text, "3 pods");
	quantity_describe(1, "pods", text, sizeof(text));
	assert_string_equal(text, "1 pod");
	quantity_describe(2048, "nvidia.com/gpu", text, sizeof(text));
	assert_string_equal(text, "2048 nvidia.com/gpu");
	quantity_describe(2, "nvidia.com/gpu", text, 6);
	assert_string_equal(text, "2 nvi");
}

static void sums_stop_at_the_largest(void **state)
{
	(void)state;
	assert_int_equal(quantity_add(1, 2), 3);
	assert_int_equal(quantity_add(INT64_MAX, 1), INT64_MAX);
	assert_int_equal(quantity_times(1000, 1000), 1000000);
	assert_int_equal(quantity_times(INT64_MAX / 2 + 1, 2), INT64_MAX);
	assert_int_equal(quantity_times(INT64_MAX, 0), 0);
}

/* As apimachinery's Quantity.String() has it. */
static void written_as_kubernetes_does(void **state)
{
	static const struct {
		const char *in;
		enum quantity_unit unit;
		const char *out;
	} forms[] = {
		{"0", QUANTITY_MILLI, "0"},
		{"0Gi", QUANTITY_WHOLE, "0"},
		{"1", QUANTITY_MILLI, "1"},
		{"1500m", QUANTITY_MILLI, "1500m"},
		{"0.5", QUANTITY_MILLI, "500m"},
		{"2000m", QUANTITY_MILLI, "2"},
		{"1000", QUANTITY_MILLI, "1k"},
		{"15000", QUANTITY_MILLI, "15k"},
		{"1500", QUANTITY_WHOLE, "1500"},
		{"100", QUANTITY_WHOLE, "100"},
		{"1000000", QUANTITY_WHOLE, "1M"},
		{"3000M", QUANTITY_WHOLE, "3G"},
		{"9E", QUANTITY_WHOLE, "9E"},
		{"1Gi", QUANTITY_WHOLE, "1Gi"},
		{"1024Mi", QUANTITY_WHOLE, "1Gi"},
		{"1.5Gi", QUANTITY_WHOLE, "1536Mi"},
		{"0.5Ki", QUANTITY_WHOLE, "512"},
		{"7Ei", QUANTITY_WHOLE, "7Ei"},
		{"1073741824", QUANTITY_WHOLE, "1073741824"},
		{"2Ki", QUANTITY_MILLI, "2Ki"},
		{"0.1Ki", QUANTITY_MILLI, "102400m"},
		{"12e3", QUANTITY_WHOLE, "12e3"},
		{"12E6", QUANTITY_WHOLE, "12e6"},
		{"1e-1", QUANTITY_MILLI, "100e-3"},
		{"100e0", QUANTITY_WHOLE, "100"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		char text[QUANTITY_TEXT_SIZE];
		int64_t amount = -1;
		struct slice in = slice_of(forms[i].in);
		assert_int_equal(quantity_parse(in, forms[i].unit, &amount, NULL), 0);
		quantity_canonical(amount, forms[i].unit, quantity_style_of(in), text);
		assert_string_equal(text, forms[i].out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_grammar_of_kubernetes),
		cmocka_unit_test(any_length_and_any_byte),
		cmocka_unit_test(the_sentence_is_short_safe_and_helps),
		cmocka_unit_test(written_in_the_shortest_form),
		cmocka_unit_test(written_as_kubernetes_does),
		cmocka_unit_test(described_for_people),
		cmocka_unit_test(sums_stop_at_the_largest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
