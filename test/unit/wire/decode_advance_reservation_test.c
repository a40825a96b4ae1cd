/* AdvanceReservations as admins write them, and as their status says what became of them: what each
 * field becomes, and what is said of one that makes no sense. */
#include "wire.h"

#include "controller/wire/decode.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define HOUR INT64_C(3600000)
#define MONDAY_8Z INT64_C(1796025600000) /* 2026-11-30T08:00:00Z */
#define GPUS "'flavors':[{'name':'gpu','resources':[{'name':'nvidia.com/gpu','amount':'64'}]}]"
#define TIMES "'from':'2026-11-30T09:00:00+01:00','until':'2026-11-30T17:00:00+01:00'"
#define BATCH "'clusterQueue':'batch'"

static struct err said;

/* The caller's; NULL: said why not. */
static struct advance_reservation_spec *decoded(const char *spec, const char *status)
{
	struct buf b;
	struct advance_reservation_spec *ret = NULL;
	buf_init(&b, 1 << 20);
	buf_printf(&b,
		"{'kind':'AdvanceReservation','metadata':{'name':'x','generation':3,"
		"'uid':'00000000-0000-0000-0000-0000000000ab',"
		"'creationTimestamp':'2026-11-30T08:00:00Z'},'spec':{%s},'status':{%s}}",
		spec, status);
	said = (struct err){""};
	int rc = decode_advance_reservation(parsed(buf_text(&b)), &ret, &said);
	buf_done(&b);
	assert_true(rc == (ret ? 0 : ERR_INVALID));
	return ret;
}

static struct advance_reservation_spec *taken(const char *spec, const char *status)
{
	struct advance_reservation_spec *ret = decoded(spec, status);
	if (!ret)
		fail_msg("%s", said.text);
	return ret;
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

static void a_whole_one(void **state)
{
	(void)state;
	struct advance_reservation_spec *s = taken(BATCH
		"," TIMES ",'flavors':[{'name':'gpu','resources':["
		"{'name':'nvidia.com/gpu','amount':64},{'name':'cpu','amount':'1500m'},"
		"{'name':'memory','amount':'2Gi'}]},{'name':'spot'}],"
		"'usableBy':{'namespaces':['team-a','team-b'],'users':['anna@example.com']},"
		"'releaseAfter':'30m'",
		"");
	assert_string_equal(s->name, "x");
	assert_int_equal(s->uid.byte[15], 0xab);
	assert_true(s->generation == 3 && !s->deleting && s->created_ms == MONDAY_8Z);
	assert_string_equal(s->clusterqueue, "batch");
	assert_int_equal(s->namounts, 4);
	assert_string_equal(s->amount[1].flavor, "gpu");
	assert_string_equal(s->amount[1].resource, "cpu");
	assert_true(s->amount[0].amount == 64 && s->amount[1].amount == 1500);
	assert_true(s->amount[2].amount == INT64_C(2) << 30);
	assert_string_equal(s->amount[3].flavor, "spot");
	assert_string_equal(s->amount[3].resource, "");
	assert_true(s->amount[3].amount == 0);
	assert_true(s->from_ms == MONDAY_8Z && s->until_ms == MONDAY_8Z + 8 * HOUR);
	assert_string_equal(s->calendar, "");
	assert_false(s->maintenance);
	assert_true(s->nnamespaces == 2 && s->nusers == 1);
	assert_string_equal(s->namespaces[1], "team-b");
	assert_string_equal(s->users[0], "anna@example.com");
	assert_true(s->release_after_ms == HOUR / 2);
	assert_true(!s->accepted && s->left_from_ms == 0 && s->nleft == 0);
	free(s);
}

static void maintenance_whenever_a_calendar_is_open(void **state)
{
	(void)state;
	struct advance_reservation_spec *s = taken(
		"'flavors':[{'name':'gpu'}],'calendar':'saturday-nights','maintenance':true", "");
	assert_string_equal(s->clusterqueue, "");
	assert_string_equal(s->calendar, "saturday-nights");
	assert_true(s->maintenance && s->from_ms == 0 && s->until_ms == 0);
	assert_true(s->nnamespaces == 0 && s->nusers == 0 && s->release_after_ms == 0);
	free(s);
}

/* ---- what outlives a leader ------------------------------------------------------------------ */

#define ACCEPTED(is, generation)                                                                   \
	"'conditions':[{'type':'Kept','status':'False','observedGeneration':3},"                   \
	"{'type':'Accepted','status':'" is "','observedGeneration':" generation "}]"
#define LEFT(left)                                                                                 \
	",'leftFrom':'2026-11-30T08:00:00Z','flavors':[{'name':'gpu','resources':["                \
	"{'name':'nvidia.com/gpu','amount':'64','left':" left ",'used':'3'},"                      \
	"{'name':'cpu','amount':'8','left':'1500m','used':'0'}]}]"

static void its_status_says_that_it_was_accepted(void **state)
{
	static const struct {
		const char *status;
		bool accepted;
	} rows[] = {
		{ACCEPTED("True", "3"), true},
		{ACCEPTED("True", "2"), true},	/* usableBy or releaseAfter was edited since */
		{ACCEPTED("True", "4"), false}, /* of another object */
		{ACCEPTED("False", "3"), false},
		{ACCEPTED("Unknown", "3"), false},
		{"'conditions':[]", false},
		{"'conditions':{'Accepted':true}", false},
		{"'conditions':[7,{'type':'Accepted'}]", false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct advance_reservation_spec *s =
			taken(BATCH "," TIMES "," GPUS, rows[i].status);
		if (s->accepted != rows[i].accepted)
			fail_msg("%s: accepted is %d", rows[i].status, s->accepted);
		free(s);
	}
}

static void its_status_says_what_is_left(void **state)
{
	(void)state;
	struct advance_reservation_spec *s =
		taken(BATCH "," TIMES "," GPUS, ACCEPTED("True", "3") LEFT("'48'"));
	assert_true(s->accepted && s->left_from_ms == MONDAY_8Z);
	assert_int_equal(s->nleft, 2);
	assert_string_equal(s->left[0].flavor, "gpu");
	assert_string_equal(s->left[0].resource, "nvidia.com/gpu");
	assert_true(s->left[0].amount == 48 && s->left[1].amount == 1500);
	free(s);
}

/* A part of it would count as if the rest had been given back. */
static void a_status_that_makes_no_sense_gives_nothing_back(void **state)
{
	static const char *const bad[] = {ACCEPTED("True", "3") LEFT("'many'"),
		ACCEPTED("True", "3") LEFT("'-1'"), ACCEPTED("True", "3") LEFT("48"),
		ACCEPTED("True", "3") ",'leftFrom':'yesterday','flavors':[]",
		ACCEPTED("True", "3") ",'leftFrom':7",
		ACCEPTED("True", "3") ",'flavors':[{'name':'gpu','resources':[{'name':'cpu',"
				      "'left':'1'}]}]"};
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct advance_reservation_spec *s = taken(BATCH "," TIMES "," GPUS, bad[i]);
		if (!s->accepted || s->left_from_ms != 0 || s->nleft != 0)
			fail_msg("%s", bad[i]);
		free(s);
	}
	struct advance_reservation_spec *s =
		taken(BATCH "," TIMES "," GPUS, ACCEPTED("False", "3") LEFT("'48'"));
	assert_true(s->left_from_ms == 0 && s->nleft == 0);
	free(s);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

#define FLAVORS(flavors) BATCH "," TIMES ",'flavors':[" flavors "]"
#define AMOUNT(amount) FLAVORS("{'name':'gpu','resources':[{'name':'cpu'" amount "}]}")
#define WHEN(when) BATCH "," GPUS "," when
#define BESIDE(more) BATCH "," TIMES "," GPUS "," more
#define NO_TIME "spec: must say when: write from and until, or calendar, the name of a Calendar"

static const struct {
	const char *spec, *says;
} bad_rows[] = {
	{BATCH "," TIMES, "spec.flavors: reserves nothing; write a flavor, e.g. [{name: gpu}]"},
	{FLAVORS(""), "spec.flavors: reserves nothing"},
	{BATCH "," TIMES ",'flavors':'gpu'", "spec.flavors: must be a list"},
	{FLAVORS("7"), "spec.flavors[0]: must be an object"},
	{FLAVORS("{}"), "spec.flavors[0].name: is missing; write e.g. gpu"},
	{FLAVORS("{'name':'gpu','resources':[]}"),
		"spec.flavors[0].resources: names nothing; leave it out to reserve all of the "
		"flavor"},
	{FLAVORS("{'name':'gpu','resources':{}}"), "spec.flavors[0].resources: must be a list"},
	{FLAVORS("{'name':'gpu'},{'name':'gpu'}"),
		"spec.flavors[1]: is reserved twice; write one amount of it"},
	{FLAVORS("{'name':'gpu'},{'name':'gpu','resources':[{'name':'cpu','amount':1}]}"),
		"spec.flavors[1].resources[0]: is reserved twice"},
	{AMOUNT(""), "spec.flavors[0].resources[0].amount: is missing; write e.g. 64 or 256Gi"},
	{AMOUNT(",'amount':0"), "spec.flavors[0].resources[0].amount: must be more than 0"},
	{AMOUNT(",'amount':'lots'"), "spec.flavors[0].resources[0].amount: \"lots\" is not"},
	{AMOUNT(",'amount':'-1'"), "spec.flavors[0].resources[0].amount: must not be negative"},
	{AMOUNT(",'amount':'9e30'"), "spec.flavors[0].resources[0].amount:"},

	{WHEN("'maintenance':false"), NO_TIME},
	{WHEN("'from':'2026-11-30T09:00:00Z'"), NO_TIME},
	{WHEN("'until':'2026-11-30T09:00:00Z'"), NO_TIME},
	{WHEN("'calendar':'nights'," TIMES), NO_TIME},
	{WHEN("'calendar':'nights','from':'2026-11-30T09:00:00Z'"), NO_TIME},
	{WHEN("'from':'Monday','until':'2026-11-30T09:00:00Z'"),
		"spec.from: \"Monday\" is not a time; write it with an offset or Z, e.g. "
		"\"2026-11-30T09:00:00+01:00\""},
	{WHEN("'from':'2026-11-30T09:00:00','until':'2026-11-30T09:00:00Z'"), "spec.from:"},
	{WHEN("'from':'2026-11-30T09:00:00Z','until':'2026-02-30T09:00:00Z'"), "spec.until:"},
	{WHEN("'from':'2026-11-30T09:00:00Z','until':7"), "spec.until: must be a string"},
	{WHEN("'from':'2026-11-30T09:00:00Z','until':'2026-11-30T10:00:00+01:00'"),
		"spec.until: must be later than from"},
	{WHEN("'from':'2026-11-30T09:00:00Z','until':'2026-11-30T08:00:00Z'"),
		"spec.until: must be later than from"},

	{TIMES "," GPUS,
		"spec.clusterQueue: is missing; write e.g. batch. Only maintenance can be of all"},
	{TIMES "," GPUS ",'maintenance':true",
		"spec.flavors: names resources, but maintenance of all ClusterQueues is of whole "
		"flavors"},
	{BESIDE("'maintenance':'yes'"), "spec.maintenance: must be true or false"},
	{BESIDE("'maintenance':true,'usableBy':{'users':['anna']}"),
		"spec.usableBy: is of no use with maintenance"},
	{BESIDE("'maintenance':true,'releaseAfter':'30m'"),
		"spec.releaseAfter: would give all of it back"},
	{BESIDE("'usableBy':{}"), "spec.usableBy: names nobody; write namespaces or users"},
	{BESIDE("'usableBy':[]"), "spec.usableBy: must be an object"},
	{BESIDE("'usableBy':{'users':['']}"),
		"spec.usableBy.users[0]: must be the name of a user, e.g. anna@example.com"},
	{BESIDE("'usableBy':{'namespaces':[7]}"),
		"spec.usableBy.namespaces[0]: must be the name of a namespace, e.g. team-a"},
	{BESIDE("'releaseAfter':'0s'"), "spec.releaseAfter: must be at least 1s; leave it out"},
	{BESIDE("'releaseAfter':'soon'"), "spec.releaseAfter: \"soon\" is not a duration"},
	{BESIDE("'releaseAfter':'745h'"), "spec.releaseAfter: \"745h\" is too long"},
};

static void sentences_name_object_field_and_cure(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_rows); i++) {
		char want[512];
		if (decoded(bad_rows[i].spec, ""))
			fail_msg("taken: %s", bad_rows[i].spec);
		snprintf(want, sizeof(want), "AdvanceReservation x: %s", bad_rows[i].says);
		if (strncmp(said.text, want, strlen(want)) != 0)
			fail_msg("%s\nsays   %s\nwanted %s", bad_rows[i].spec, said.text, want);
	}
}

/* In a file there is none, and two of them are not the same. */
static void each_has_a_uid(void **state)
{
	static const char *const names[] = {"a", "b"};
	struct advance_reservation_spec *s[2] = {NULL};
	(void)state;
	for (int i = 0; i < 2; i++) {
		char text[512];
		snprintf(text, sizeof(text),
			"{'kind':'AdvanceReservation','metadata':{'name':'%s'},'spec':{" BATCH
			"," TIMES "," GPUS "}}",
			names[i]);
		assert_int_equal(decode_advance_reservation(parsed(text), &s[i], &said), 0);
	}
	assert_int_not_equal(uid_cmp(&s[0]->uid, &s[1]->uid), 0);
	free(s[0]);
	free(s[1]);
}

static void other_kinds_are_not_taken_for_it(void **state)
{
	(void)state;
	struct advance_reservation_spec *s = NULL;
	const cJSON *o = parsed("{'kind':'Budget','metadata':{'name':'a'}}");
	assert_int_equal(decode_advance_reservation(o, &s, NULL), ERR_INVALID);
	assert_int_equal(decode_advance_reservation(NULL, &s, NULL), ERR_INVALID);
	assert_null(s);
}

/* flavors * resources amounts, and so many namespaces. */
static char *a_large_one(int flavors, int resources, int namespaces)
{
	struct buf b;
	buf_init(&b, 1 << 20);
	buf_puts(&b, BATCH "," TIMES ",'flavors':[");
	for (int f = 0; f < flavors; f++) {
		buf_printf(&b, "%s{'name':'f%d','resources':[", f ? "," : "", f);
		for (int r = 0; r < resources; r++)
			buf_printf(&b, "%s{'name':'r%d','amount':%d}", r ? "," : "", r, r + 1);
		buf_puts(&b, "]}");
	}
	buf_puts(&b, "],'usableBy':{'namespaces':[");
	for (int i = 0; i < namespaces; i++)
		buf_printf(&b, "%s'team-%d'", i ? "," : "", i);
	buf_puts(&b, "]}");
	return buf_take(&b);
}

/* More than the decoder's guess: decoded twice, into a block of the right size. */
static void as_much_as_allowed(void **state)
{
	(void)state;
	char *text = a_large_one(8, 8, ADVANCE_NAMES_MAX);
	struct advance_reservation_spec *s = taken(text, "");
	assert_int_equal(s->namounts, ADVANCE_AMOUNTS_MAX);
	assert_string_equal(s->amount[63].flavor, "f7");
	assert_true(s->amount[63].amount == 8);
	assert_string_equal(s->namespaces[ADVANCE_NAMES_MAX - 1], "team-63");
	free(s);
	free(text);
	text = a_large_one(5, 13, 1);
	assert_null(decoded(text, ""));
	assert_string_equal(said.text,
		"AdvanceReservation x: spec.flavors: has 65 amounts; at most 64 are supported");
	free(text);
	text = a_large_one(1, 1, ADVANCE_NAMES_MAX + 1);
	assert_null(decoded(text, ""));
	assert_string_equal(said.text, "AdvanceReservation x: spec.usableBy.namespaces: has 65 "
				       "items; at most 64 are supported");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_one),
		cmocka_unit_test(maintenance_whenever_a_calendar_is_open),
		cmocka_unit_test(its_status_says_that_it_was_accepted),
		cmocka_unit_test(its_status_says_what_is_left),
		cmocka_unit_test(a_status_that_makes_no_sense_gives_nothing_back),
		cmocka_unit_test(sentences_name_object_field_and_cure),
		cmocka_unit_test(each_has_a_uid),
		cmocka_unit_test(other_kinds_are_not_taken_for_it),
		cmocka_unit_test(as_much_as_allowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
