/*
 * A time that `sluice calendar test` takes is taken by `kubectl apply` too, and what one refuses so does the
 * other: the expressions of the CRD (api/crds/calendar.yaml) beside the decoder, each field with each text.
 *
 * What a date is worth an expression cannot tell: that there is no 31st of April the condition Valid says.
 */
#include "test/unit/wire/wire.h"

#include <regex.h>

#include "base/buf.h"
#include "cli/import/accepted.h"
#include "controller/wire/decode.h"
#include "queue/calendar/spec.h"
#include "queue/calendar/tzdata.h"
#include "test/sim/rng.h"
#include "base/must.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define WINDOW "spec.open[]"
#define EXCEPTION "spec.except[]"

/* ---- the CRD --------------------------------------------------------------------------------- */

/* A field of a Calendar in which a time is written. */
struct field {
	const char *at;		   /* the field's schema */
	const char *rules;	   /* where the rule is: the field's own schema, or its parent's */
	const char *begins, *call; /* of the rule; NULL: the schema's `pattern` */
	const char *calendar;	   /* its spec, with %s for the text */
};

static const struct field fields[] = {
	{WINDOW ".days[]", WINDOW ".days[]", "self.", "self.matches('",
		"'open':[{'name':'w','days':['%s'],'from':'03:33','to':'04:44'}]"},
	{WINDOW ".from", WINDOW, "!has(self.days) ||", "self.from.matches('",
		"'open':[{'name':'w','days':['Mon'],'from':'%s','to':'03:33'}]"},
	{WINDOW ".to", WINDOW, "!has(self.days) ||", "self.to.matches('",
		"'open':[{'name':'w','days':['Mon'],'from':'03:33','to':'%s'}]"},
	{WINDOW ".from", WINDOW, "has(self.days) ||", "self.from.matches('",
		"'open':[{'name':'w','from':'%s','to':'Wed 03:33'}]"},
	{WINDOW ".to", WINDOW, "has(self.days) ||", "self.to.matches('",
		"'open':[{'name':'w','from':'Wed 03:33','to':'%s'}]"},
	{WINDOW ".at.from", WINDOW ".at.from", "self.", "self.matches('",
		"'open':[{'name':'w','at':{'from':'%s','to':'2100-12-31T23:59'}}]"},
	{WINDOW ".at.to", WINDOW ".at.to", "self.", "self.matches('",
		"'open':[{'name':'w','at':{'from':'1970-01-01T00:00','to':'%s'}}]"},
	{EXCEPTION ".dates[]", EXCEPTION ".dates[]", NULL, NULL,
		"'except':[{'name':'x','dates':['%s']}]"},
	{EXCEPTION ".treatAs", EXCEPTION ".treatAs", "self ", "self.matches('",
		"'except':[{'name':'x','dates':['2026-12-24'],'treatAs':'%s'}]"},
};

/* "spec.open[].from": the members of each object, the items of each list. */
static const cJSON *schema_at(const cJSON *schema, const char *path)
{
	char name[32];
	while (*path) {
		size_t n = strcspn(path, ".[");
		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		if (n)
			schema = json_object(json_object(schema, "properties"), name);
		else if (*path == '[')
			schema = json_object(schema, "items");
		assert_non_null(schema);
		path += n ? n : *path == '[' ? 2 : 1;
	}
	return schema;
}

static char *expression_of(const cJSON *schema, const struct field *f)
{
	if (!f->begins)
		return mem_strdup(json_text(schema, "pattern"));
	const cJSON *rules = json_array(schema, "x-kubernetes-validations");
	json_each(one, rules) {
		const char *rule = json_text(one, "rule"), *call = strstr(rule, f->call);
		if (strncmp(rule, f->begins, strlen(f->begins)) != 0 || !call)
			continue;
		char *expression = mem_strdup(call + strlen(f->call));
		*strstr(expression, "')") = '\0';
		return expression;
	}
	fail_msg("no rule %s of %s", f->call, f->at);
	return NULL;
}

/* (?i:...) is RE2's word for letters of either case, and POSIX has a flag for it. */
static void compile(char *expression, regex_t *ret)
{
	bool either_case = false;
	must(expression);
	for (char *p; (p = strstr(expression, "(?i:")); either_case = true)
		memmove(p + 1, p + 4, strlen(p + 4) + 1);
	int flags = REG_EXTENDED | REG_NOSUB | (either_case ? REG_ICASE : 0);
	assert_int_equal(regcomp(ret, expression, flags), 0);
}

/* ---- both ------------------------------------------------------------------------------------ */

struct grammar {
	struct accepted crds;
	struct zone *zone;
	struct rule {
		regex_t expression;
		double longest;
	} rule[COUNT(fields)];
};

static void grammar_open(struct grammar *g)
{
	*g = (struct grammar){0};
	const cJSON *calendar = accepted_schema(&g->crds, "Calendar");
	assert_int_equal(tzdata_load("UTC", &g->zone, NULL), 0);
	for (size_t i = 0; i < COUNT(fields); i++) {
		char *text = expression_of(schema_at(calendar, fields[i].rules), &fields[i]);
		const cJSON *longest = json_get(schema_at(calendar, fields[i].at), "maxLength");
		assert_true(cJSON_IsNumber(longest));
		g->rule[i].longest = longest->valuedouble;
		compile(text, &g->rule[i].expression);
		free(text);
	}
}

static void grammar_close(struct grammar *g)
{
	for (size_t i = 0; i < COUNT(fields); i++)
		regfree(&g->rule[i].expression);
	zone_free(g->zone);
	accepted_done(&g->crds);
}

static bool crd_takes(const struct grammar *g, size_t field, const char *text)
{
	return (double)strlen(text) <= g->rule[field].longest &&
	       regexec(&g->rule[field].expression, text, 0, NULL, 0) == 0;
}

static bool controller_takes(const struct grammar *g, size_t field, const char *text)
{
	struct buf json;
	struct calendar_spec *s = NULL;
	buf_init(&json, 1000);
	buf_puts(&json, "{'kind':'Calendar','metadata':{'name':'c'},'spec':{'timeZone':'UTC',");
	const char *calendar = fields[field].calendar, *here = strstr(calendar, "%s");
	buf_printf(&json, "%.*s%s%s}}", (int)(here - calendar), calendar, text, here + 2);
	bool taken = decode_calendar(parsed(buf_text(&json)), &s, NULL) == 0;
	if (taken) {
		s->zone = g->zone;
		taken = calendar_check(s, NULL) == 0;
		free(s);
	}
	buf_done(&json);
	return taken;
}

static bool both_agree(const struct grammar *g, size_t field, const char *text)
{
	bool crd = crd_takes(g, field, text), controller = controller_takes(g, field, text);
	if (crd != controller)
		fail_msg("%s: \"%s\": the CRD %s it, the controller %s it", fields[field].at, text,
			crd ? "takes" : "refuses", controller ? "takes" : "refuses");
	return crd;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const char *const texts[] = {" ", "Mon", "mon", "MONDAY", "Monday", "Tuesday", "tue",
	"Wednesday", "Thursday", "Thu", "Friday", "Saturday", "Sunday", " Sun ", "Mond", "Mo",
	"Mondays", "Mittwoch", "Mon-Thu", "Monday-thursday", "Mon - Thu", "Mon-", "-Mon", "Fri-Mon",
	"Mon-Wed-Fri", "Mon,Wed,Fri-Sun", "Mon, Wed", "Mon,", ",", "1-5", "*", "9:00", "09:00",
	" 9:00 ", "7:5", "7:60", "9:000", "009:00", "23:59", "24:00", "24:01", "25:00", "9", "7pm",
	"9.00", ":01", "Fri 19:00", "Fri 9:00", "Friday 9:00", "friday  24:00", "Fri24:00",
	"Fri 24:01", "Fri,19:00", "19:00 Fri", "Fri-Sat 19:00", "Fri", "2026-09-12",
	"2026-09-12T08:00", "2026-09-12T8:00", "2026-09-12 8:00", "2026-09-12 08:00",
	"2026-09-12   8:00", " 2026-09-12T24:00 ", "2026-09-12T 8:00", "2026-09-12 T8:00",
	"2026-09-12t08:00", "2026-09-12T24:01", "2026-09-12T08:00Z", "2026-09-12T08:00+02:00",
	"2026-09-12 08:00 UTC", "2026-09-12T08:00:00", "2026-9-12 08:00", "12.9.2026 8:00",
	"Sat 2026-09-12 08:00", "today 9:00", "tomorrow", "now", " 2026-12-24 ",
	"2026-12-24..2026-12-26", "2026-12-24 .. 2026-12-26", "2026-12-24...2026-12-26",
	"2026-12-24..", "..2026-12-26", "2026-12-24-2026-12-26", "24.12.2026", "2026-12", "Holiday",
	"closed", "Mon\\t9:00", "Mon\\n", "\\u00a0Mon",
	"                                                             Mon",
	"                                                              Mon"};

static void each_text_is_taken_by_both_or_by_none(void **state)
{
	(void)state;
	struct grammar g;
	grammar_open(&g);
	for (size_t f = 0; f < COUNT(fields); f++) {
		size_t taken = 0;
		for (size_t i = 0; i < COUNT(texts); i++)
			taken += both_agree(&g, f, texts[i]);
		if (taken < 3)
			fail_msg("%s took %zu texts", fields[f].at, taken);
	}
	grammar_close(&g);
}

/* The pieces of times, as chance puts them together. */
static void so_is_what_chance_writes(void **state)
{
	static const char *const pieces[] = {"Mon", "tuesday", "SUN", " ", " ", "  ", "-", ",",
		"9:00", "09:30", "24:00", "24:30", "T", "2026-09-12", "..", "2027-01-31", "1", "Z"};
	enum { TEXTS = 5000, PIECES_MAX = 6 };
	(void)state;
	struct grammar g;
	struct rng rng;
	size_t taken = 0;
	grammar_open(&g);
	rng_seed(&rng, 36);
	for (size_t i = 0; i < TEXTS; i++) {
		char text[128] = "";
		int64_t n = rng_between(&rng, 1, PIECES_MAX);
		while (n-- > 0)
			strcat(text, pieces[rng_between(&rng, 0, COUNT(pieces) - 1)]);
		taken += both_agree(&g, (size_t)rng_between(&rng, 0, COUNT(fields) - 1), text);
	}
	assert_true(taken > TEXTS / 100);
	grammar_close(&g);
}

/* The words that are no times, and what the CRD leaves to the condition Valid. */
static void what_an_expression_does_not_say(void **state)
{
	static const char *const no_dates[] = {
		"2026-04-31", "2026-13-01", "1969-12-31", "2101-01-01"};
	const size_t dates = 7, treat_as = 8;
	(void)state;
	struct grammar g;
	grammar_open(&g);
	for (size_t i = 0; i < COUNT(no_dates); i++) {
		assert_true(crd_takes(&g, dates, no_dates[i]));
		assert_false(controller_takes(&g, dates, no_dates[i]));
	}
	assert_true(controller_takes(&g, treat_as, "Open"));
	assert_true(controller_takes(&g, treat_as, "Closed"));
	grammar_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_text_is_taken_by_both_or_by_none),
		cmocka_unit_test(so_is_what_chance_writes),
		cmocka_unit_test(what_an_expression_does_not_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
