/* `sluice reserve`: times as people write them, also across a change of the clocks, the object that comes of
 * a command line, and what is said of each verdict. */
#include "test/unit/kube/test.h"

#include <time.h>

#include "cli/reserve/carry_out.h"
#include "cli/moment.h"
#include "cli/reserve/options.h"
#include "cli/reserve/plan.h"
#include "cli/reserve/report.h"
#include "queue/calendar/tzdata.h"
#include "test/unit/kube/scripted_server.h"

#define THURSDAY_NOON INT64_C(1795694400000) /* 2026-11-26T12:00:00Z */
#define SPRING INT64_C(1806148800000)	     /* Saturday, 2027-03-27T12:00:00Z */
#define AUTUMN INT64_C(1792843200000)	     /* Saturday, 2026-10-24T12:00:00Z */

static struct zone *zone_named(const char *name)
{
	struct zone *zone;
	struct err e;
	if (tzdata_load(name, &zone, &e) < 0)
		fail_msg("%s", e.text);
	return zone;
}

/* ---- times ------------------------------------------------------------------------------------- */

static const struct {
	const char *zone;
	int64_t after_ms;
	const char *text;
	const char *at;	  /* NULL: it is refused */
	const char *says; /* the refusal, or the note; "" for no note */
} moments[] = {
	{"Europe/Berlin", THURSDAY_NOON, "14:00", "2026-11-26T14:00:00+01:00", ""},
	{"Europe/Berlin", THURSDAY_NOON, "13:00", "2026-11-27T13:00:00+01:00",
		""}, /* it is 13:00 */
	{"Europe/Berlin", THURSDAY_NOON, "09:00", "2026-11-27T09:00:00+01:00", ""},
	{"UTC", THURSDAY_NOON, "09:00", "2026-11-27T09:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "Mon 09:00", "2026-11-30T09:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "monday 09:00", "2026-11-30T09:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "Thu 13:00", "2026-11-26T13:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "Thu 12:00", "2026-12-03T12:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "Thu 09:00", "2026-12-03T09:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "Wed 24:00", "2026-12-03T00:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "Mon 09:00 Europe/Berlin", "2026-11-30T09:00:00+01:00", ""},
	{"UTC", THURSDAY_NOON, "  Mon   09:00\tAmerica/New_York ", "2026-11-30T09:00:00-05:00", ""},
	{"Europe/Berlin", THURSDAY_NOON, "Mon 09:00 UTC", "2026-11-30T09:00:00Z", ""},
	/* There it is Friday already. */
	{"UTC", THURSDAY_NOON, "Fri 01:30 Pacific/Kiritimati", "2026-12-04T01:30:00+14:00", ""},
	{"UTC", THURSDAY_NOON, "today 21:00", "2026-11-26T21:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "today 09:00", "2026-11-26T09:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "Tomorrow 09:00", "2026-11-27T09:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "yesterday 9:00", "2026-11-25T09:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "Mon 9:00", "2026-11-30T09:00:00Z", ""},
	{"UTC", THURSDAY_NOON, "9:00", "2026-11-27T09:00:00Z", ""},
	/* A day alone is its beginning. */
	{"Europe/Berlin", THURSDAY_NOON, "2026-11-30", "2026-11-30T00:00:00+01:00", ""},
	{"UTC", THURSDAY_NOON, "tomorrow Europe/Berlin", "2026-11-27T00:00:00+01:00", ""},
	{"UTC", THURSDAY_NOON, "Mon", "2026-11-30T00:00:00Z", ""},
	{"America/Sao_Paulo", THURSDAY_NOON, "2018-11-04", "2018-11-04T01:00:00-02:00", ""},
	{"UTC", THURSDAY_NOON, "2026-11-30T9:00Z", NULL, "is not"},
	{"UTC", THURSDAY_NOON, "now", "2026-11-26T12:00:00Z", ""},
	{"Asia/Kolkata", THURSDAY_NOON, "2026-11-30 09:00", "2026-11-30T09:00:00+05:30", ""},
	{"UTC", THURSDAY_NOON, "2026-11-30T09:00 Europe/Berlin", "2026-11-30T09:00:00+01:00", ""},
	{"UTC", THURSDAY_NOON, "2026-11-30T09:00:30+02:00", "2026-11-30T07:00:30Z", ""},
	{"UTC", THURSDAY_NOON, "2020-01-01 09:00", "2020-01-01T09:00:00Z", ""},
	/* Clocks go forward, from 02:00 to 03:00, and back, from 03:00 to 02:00. */
	{"Europe/Berlin", SPRING, "Sun 01:59", "2027-03-28T01:59:00+01:00", ""},
	{"Europe/Berlin", SPRING, "Sun 02:30", NULL,
		"there is no 02:30 on 2027-03-28 in Europe/Berlin: the clocks go from 02:00 to 03:00; write 03:00, or a time before 02:00"},
	{"Europe/Berlin", SPRING, "2027-03-28 02:00", NULL, "there is no 02:00 on 2027-03-28"},
	{"Europe/Berlin", SPRING, "Sun 03:00", "2027-03-28T03:00:00+02:00", ""},
	{"UTC", SPRING, "Sun 02:30", "2027-03-28T02:30:00Z", ""},
	{"Europe/Berlin", AUTUMN, "Sun 01:59", "2026-10-25T01:59:00+02:00", ""},
	{"Europe/Berlin", AUTUMN, "Sun 02:30", "2026-10-25T02:30:00+02:00",
		"02:30 on 2026-10-25 comes twice in Europe/Berlin; the first is taken, Sun 2026-10-25 02:30 CEST. The second is 2026-10-25T02:30:00+01:00."},
	{"Europe/Berlin", AUTUMN, "Sun 02:00", "2026-10-25T02:00:00+02:00",
		"02:00 on 2026-10-25 comes twice"},
	{"Europe/Berlin", AUTUMN, "Sun 03:00", "2026-10-25T03:00:00+01:00", ""},
	{"Australia/Lord_Howe", SPRING, "2027-04-04 01:45", "2027-04-04T01:45:00+11:00",
		"The second is 2027-04-04T01:45:00+10:30."},
	{"Pacific/Apia", THURSDAY_NOON, "2011-12-30 09:00", NULL,
		"there is no 09:00 on 2011-12-30 in Pacific/Apia"},
	/* None at all. */
	{"UTC", THURSDAY_NOON, "", NULL, "is not a time; write e.g."},
	{"UTC", THURSDAY_NOON, "09:60", NULL, "is not a time"},
	{"UTC", THURSDAY_NOON, "25:00", NULL, "is not a time"},
	{"UTC", THURSDAY_NOON, "noon", NULL, "is not a time"},
	{"UTC", THURSDAY_NOON, "09:00 Mon", NULL, "is not in this machine's zone database"},
	{"UTC", THURSDAY_NOON, "Mon 09:00 Europe/Berlin please", NULL, "is not a time"},
	{"UTC", THURSDAY_NOON, "Mon 09:00 a b c d", NULL, "is not a time"},
	{"UTC", THURSDAY_NOON, "2026-02-30 09:00", NULL, "\"2026-02-30\" is not a date"},
	{"UTC", THURSDAY_NOON, "Mon 09:00 Europe/Atlantis", NULL, "zone database"},
	{"UTC", THURSDAY_NOON, "Mon 09:00 ../../etc/passwd", NULL,
		"is not the name of a time zone"},
};

static void a_time_means_one_instant(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(moments); i++) {
		struct zone *zone = zone_named(moments[i].zone);
		const struct moment_basis basis = {.about_ms = moments[i].after_ms, .zone = zone};
		struct moment m = {0};
		struct err e = {""};
		char text[MOMENT_TEXT_SIZE];
		int rc = moment_read(moments[i].text, &basis, &m, &e);
		if (moments[i].at && rc < 0)
			fail_msg("%s: %s", moments[i].text, e.text);
		if (!moments[i].at && (rc != ERR_INVALID || !strstr(e.text, moments[i].says)))
			fail_msg("%s: %d, %s", moments[i].text, rc, e.text);
		if (moments[i].at && strcmp(moment_write(&m, text), moments[i].at) != 0)
			fail_msg("%s: %s", moments[i].text, text);
		if (moments[i].at &&
			(!strstr(m.note, moments[i].says) || !*moments[i].says != !*m.note))
			fail_msg("%s: %s", moments[i].text, m.note);
		moment_done(&m);
		zone_free(zone);
	}
}

static void the_users_clock_is_that_of_tz(void **state)
{
	(void)state;
	static const struct {
		const char *tz, *name, *at;
	} clocks[] = {
		{"Europe/Berlin", "Europe/Berlin", "2026-11-30T09:00:00+01:00"},
		{":America/New_York", "America/New_York", "2026-11-30T09:00:00-05:00"},
		{"XYZ-3", "local time", "2026-11-30T09:00:00+03:00"},
		{"UTC", "UTC", "2026-11-30T09:00:00Z"},
	};
	for (size_t i = 0; i < ROWS(clocks); i++) {
		struct moment m;
		struct err e;
		char text[MOMENT_TEXT_SIZE];
		setenv("TZ", clocks[i].tz, 1);
		struct zone *own = tzdata_local();
		const struct moment_basis basis = {.about_ms = THURSDAY_NOON, .zone = own};
		assert_string_equal(own->name, clocks[i].name);
		assert_int_equal(moment_read("2026-11-30 09:00", &basis, &m, &e), 0);
		assert_string_equal(moment_write(&m, text), clocks[i].at);
		moment_done(&m);
		zone_free(own);
	}
	setenv("TZ", "UTC", 1);
	tzset();
}

/* ---- the command line -------------------------------------------------------------------------- */

enum { WORDS = 40 };

/* Words are separated by |, for times have blanks. */
static int parse(const char *line, struct reserve_options *o, struct err *e)
{
	static char text[2048];
	char *argv[WORDS + 1] = {0};
	int argc = 0;
	snprintf(text, sizeof(text), "reserve|%s", line);
	for (char *p = strtok(text, "|"); p && argc < WORDS; p = strtok(NULL, "|"))
		argv[argc++] = p;
	return flags_read(&reserve_flags, argc, argv, o, e);
}

#define WHEN "|--from|Mon 09:00 Europe/Berlin|--for|8h"

static const struct {
	const char *line, *says;
} refused[] = {
	{"", "it wants what to reserve, as in: sluice reserve 64 gpu"},
	{"64", "of which flavor is 64? Write it behind, as in: 64 gpu"},
	{"gpu|64|--queue|team" WHEN, "\"gpu\" is not an amount to reserve"},
	{"0|gpu|--queue|team" WHEN, "\"0\" is not an amount"},
	{"64|/x|--queue|team" WHEN, "behind 64 there is no flavor"},
	{"64|gpu/|--queue|team" WHEN, "behind 64 there is no flavor"},
	{"64|g\x1b[31mu|--queue|team" WHEN, "there is no flavor"},
	{"64|gpu|1|gpu|--queue|team" WHEN, "is given twice; name another resource each time"},
	{"64|gpu/a|1|gpu/a|--queue|team" WHEN, "is given twice"},
	{"64|gpu|--all-of|gpu|--queue|team" WHEN, "is given twice; --all-of has all"},
	{"64|gpu" WHEN, "it wants --queue CLUSTERQUEUE"},
	{"64|gpu|--maintenance" WHEN, "write --all-of gpu in place of 64 gpu"},
	{"64|gpu|--queue|Team" WHEN, "--queue"},
	{"64|gpu|--queue|team", "it wants --from TIME, or --calendar NAME"},
	{"64|gpu|--queue|team|--from|now", "either --until TIME or --for DURATION"},
	{"64|gpu|--queue|team|--until|17:00" WHEN, "either --until TIME or --for DURATION"},
	{"64|gpu|--queue|team|--calendar|nights" WHEN, "--calendar says when"},
	{"64|gpu|--queue|team|--from|now|--for|8", "--for is \"8\""},
	{"64|gpu|--queue|team|--from|now|--for|0s", "--for is \"0s\""},
	{"64|gpu|--queue|team|--release-after|soon" WHEN, "--release-after is \"soon\""},
	{"64|gpu|--queue|team|--release-after|2000h" WHEN, "from 1s to 744h"},
	{"64|gpu|--queue|team|--release-after|1.5h" WHEN, "from 1s to 744h"},
	{"64|gpu|--queue|team|--usable-by|team-a" WHEN, "it must be namespace/NAME or user/NAME"},
	{"64|gpu|--queue|team|--usable-by|user/" WHEN, "it must be namespace/NAME or user/NAME"},
	{"64|gpu|--queue|team|--usable-by|namespace/A_B" WHEN, "--usable-by"},
	{"--all-of|gpu|--maintenance|--usable-by|user/a" WHEN, "nobody's Jobs use"},
	{"--all-of|gpu|--maintenance|--release-after|1h" WHEN, "nobody's Jobs use"},
	{"64|gpu|--queue|team|-o|yaml" WHEN, "give --dry-run=client too"},
	{"64|gpu|--queue|team|-o|table|--dry-run=client" WHEN, "-o is \"table\""},
	{"64|gpu|--queue|team|--dry-run=server" WHEN, "it must be client"},
	{"64|gpu|--queue|team|--name|A" WHEN, "--name"},
};

static void a_line_that_makes_no_sense_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(refused); i++) {
		struct reserve_options o;
		struct err e = {""};
		if (parse(refused[i].line, &o, &e) != ERR_INVALID ||
			!strstr(e.text, refused[i].says))
			fail_msg("%s: %s", refused[i].line, e.text);
	}
}

static void help_needs_nothing_else(void **state)
{
	(void)state;
	struct reserve_options o;
	struct err e = {""};
	assert_int_equal(parse("--help", &o, &e), FLAGS_HELP);
}

/* ---- the object -------------------------------------------------------------------------------- */

#define TEAM                                                                                       \
	"{\"spec\":{\"resourceGroups\":[{\"flavors\":[{\"name\":\"gpu\",\"resources\":[{\"name\":" \
	"\"nvidia.com/gpu\"}]},{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\"},{\"name\":"    \
	"\"memory\"}]},{\"name\":\"bare\",\"resources\":[]}]}]}}"

static int plan_of(
	const char *line, struct reserve_options *o, struct reserve_plan *p, struct err *e)
{
	struct json *json = json_new(1 << 20);
	struct zone *berlin = zone_named("Europe/Berlin");
	const cJSON *team;
	if (parse(line, o, e) < 0)
		fail_msg("%s: %s", line, e->text);
	assert_int_equal(json_parse(json, slice_of(TEAM), &team, NULL), 0);
	int rc = reserve_plan_make(
		o, reserve_plan_wants_queue(o) ? team : NULL, THURSDAY_NOON, berlin, p, e);
	zone_free(berlin);
	json_free(json);
	return rc;
}

static const struct {
	const char *line, *object, *words;
} planned[] = {
	{"64|gpu|--queue|team" WHEN,
		"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"AdvanceReservation\",\"metadata\":{\"name\":\"team-2026-11-30-0900\"},"
		"\"spec\":{\"clusterQueue\":\"team\",\"flavors\":[{\"name\":\"gpu\",\"resources\":[{\"name\":\"nvidia.com/gpu\",\"amount\":\"64\"}]}],"
		"\"from\":\"2026-11-30T09:00:00+01:00\",\"until\":\"2026-11-30T17:00:00+01:00\"}}",
		"AdvanceReservation team-2026-11-30-0900, in ClusterQueue team\n"
		"  64 nvidia.com/gpu of flavor gpu\n"
		"  from  Mon 2026-11-30 09:00 CET  (2026-11-30 08:00 UTC)\n"
		"  until Mon 2026-11-30 17:00 CET  (2026-11-30 16:00 UTC), after 8h\n"
		"  for all Jobs of the ClusterQueue\n"},
	{"-y|8|spot/cpu|--usable-by|namespace/a|64Gi|spot/memory|--usable-by|user/anna@example.com|-q|team|--usable-by|namespace/b|"
	 "--release-after|30m|--name|demo|--from|2026-11-30 09:00|--until|17:00",
		"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"AdvanceReservation\",\"metadata\":{\"name\":\"demo\"},"
		"\"spec\":{\"clusterQueue\":\"team\",\"flavors\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"amount\":\"8\"},"
		"{\"name\":\"memory\",\"amount\":\"64Gi\"}]}],"
		"\"from\":\"2026-11-30T09:00:00+01:00\",\"until\":\"2026-11-30T17:00:00+01:00\","
		"\"usableBy\":{\"namespaces\":[\"a\",\"b\"],\"users\":[\"anna@example.com\"]},\"releaseAfter\":\"30m\"}}",
		"AdvanceReservation demo, in ClusterQueue team\n"
		"  8 cpu of flavor spot\n"
		"  64Gi memory of flavor spot\n"
		"  from  Mon 2026-11-30 09:00 CET  (2026-11-30 08:00 UTC)\n"
		"  until Mon 2026-11-30 17:00 CET  (2026-11-30 16:00 UTC), after 8h\n"
		"  for Jobs of namespaces a, b that were submitted by anna@example.com\n"
		"  what no Job has used for 30m is given back\n"},
	{"--maintenance|--all-of|gpu|--all-of|spot|--from|Sat 20:00 UTC|--for|6h",
		"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"AdvanceReservation\",\"metadata\":{\"name\":\"maintenance-gpu-2026-11-28-2000\"},"
		"\"spec\":{\"flavors\":[{\"name\":\"gpu\"},{\"name\":\"spot\"}],\"from\":\"2026-11-28T20:00:00Z\",\"until\":\"2026-11-29T02:00:00Z\","
		"\"maintenance\":true}}",
		"AdvanceReservation maintenance-gpu-2026-11-28-2000, in all ClusterQueues\n"
		"  all of flavor gpu that each ClusterQueue and Cohort itself has\n"
		"  all of flavor spot that each ClusterQueue and Cohort itself has\n"
		"  from  Sat 2026-11-28 20:00 UTC\n"
		"  until Sun 2026-11-29 02:00 UTC, after 6h\n"
		"  for maintenance: no Job may use it\n"},
	{"64|gpu|--queue|team|--calendar|nights",
		"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"AdvanceReservation\",\"metadata\":{\"name\":\"team-nights\"},"
		"\"spec\":{\"clusterQueue\":\"team\",\"flavors\":[{\"name\":\"gpu\",\"resources\":[{\"name\":\"nvidia.com/gpu\",\"amount\":\"64\"}]}],"
		"\"calendar\":\"nights\"}}",
		"AdvanceReservation team-nights, in ClusterQueue team\n"
		"  64 nvidia.com/gpu of flavor gpu\n"
		"  whenever Calendar nights is open\n"
		"  for all Jobs of the ClusterQueue\n"},
	/* By the clock it lasts from noon to noon, and the clocks go forward in between. */
	{"64|gpu|--queue|team|--name|spring|--from|2027-03-27 12:00|--until|Sun 12:00",
		"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"AdvanceReservation\",\"metadata\":{\"name\":\"spring\"},"
		"\"spec\":{\"clusterQueue\":\"team\",\"flavors\":[{\"name\":\"gpu\",\"resources\":[{\"name\":\"nvidia.com/gpu\",\"amount\":\"64\"}]}],"
		"\"from\":\"2027-03-27T12:00:00+01:00\",\"until\":\"2027-03-28T12:00:00+02:00\"}}",
		"AdvanceReservation spring, in ClusterQueue team\n"
		"  64 nvidia.com/gpu of flavor gpu\n"
		"  from  Sat 2027-03-27 12:00 CET  (2027-03-27 11:00 UTC)\n"
		"  until Sun 2027-03-28 12:00 CEST  (2027-03-28 10:00 UTC), after 23h\n"
		"  for all Jobs of the ClusterQueue\n"},
};

static void a_line_becomes_an_object_and_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(planned); i++) {
		struct reserve_options o;
		struct reserve_plan p;
		struct err e = {""};
		struct buf text;
		buf_init(&text, 65536);
		if (plan_of(planned[i].line, &o, &p, &e) < 0)
			fail_msg("%s: %s", planned[i].line, e.text);
		cJSON *object = reserve_plan_object(&p);
		json_print(&text, object);
		assert_string_equal(buf_text(&text), planned[i].object);
		buf_reset(&text);
		reserve_plan_render(&p, &text);
		assert_string_equal(buf_text(&text), planned[i].words);
		cJSON_Delete(object);
		reserve_plan_done(&p);
		buf_done(&text);
	}
}

static const struct {
	const char *line, *says;
} unplanned[] = {
	{"64|tpu|--queue|team" WHEN,
		"ClusterQueue team has no flavor \"tpu\"; it has: gpu, spot, bare"},
	{"64|spot|--queue|team" WHEN,
		"has several resources: cpu, memory. Say which, as in: 64 spot/cpu"},
	{"64|bare|--queue|team" WHEN, "has no resource to reserve"},
	{"9E|spot/cpu|--queue|team" WHEN, "9E cpu"},
	{"64|gpu|--queue|team|--from|Mon 25:00|--for|8h", "--from: \"Mon 25:00\" is not a time"},
	{"64|gpu|--queue|team|--from|now|--until|soon", "--until: \"soon\" is not a time"},
	{"64|gpu|--queue|team|--from|2026-11-20 09:00|--for|8h",
		"it would be over already: it ends at 2026-11-20T17:00:00+01:00"},
	{"64|gpu|--queue|team|--from|2026-11-30 09:00|--until|2026-11-30 09:00",
		"--until is 2026-11-30T09:00:00+01:00, which is not after --from"},
	{"64|gpu|--queue|team|--from|2028-11-30 09:00|--for|8h",
		"too far ahead: at most 366 days from now"},
	{"64|gpu|--queue|team|--from|now|--for|99w",
		"--for 99w is too long; give at most 366 days"},
	{"64|gpu|--queue|team|--from|2027-03-28 02:30|--for|8h",
		"--from: there is no 02:30 on 2027-03-28 in Europe/Berlin"},
};

static void what_cannot_be_is_refused_before_it_is_asked(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(unplanned); i++) {
		struct reserve_options o;
		struct reserve_plan p;
		struct err e = {""};
		if (plan_of(unplanned[i].line, &o, &p, &e) == 0 ||
			!strstr(e.text, unplanned[i].says))
			fail_msg("%s: %s", unplanned[i].line, e.text);
	}
}

/* The name of a ClusterQueue may have 253 letters; with what is put behind it it is still one. */
static void a_derived_name_is_one_that_the_api_server_takes(void **state)
{
	(void)state;
	struct reserve_options o;
	struct reserve_plan p;
	struct err e = {""};
	char line[600], queue[254];
	memset(queue, 'q', sizeof(queue) - 1);
	queue[sizeof(queue) - 1] = '\0';
	queue[60] = queue[120] = queue[179] = '.';
	snprintf(line, sizeof(line), "--all-of|gpu|--queue|%s" WHEN, queue);
	if (plan_of(line, &o, &p, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(flag_check_name("", p.name, NULL), 0);
	assert_non_null(strstr(p.name, "qq-2026-11-30-0900"));
	reserve_plan_done(&p);
}

/* ---- the verdict ------------------------------------------------------------------------------- */

#define OBJECT(generation, status)                                                                 \
	"{\"metadata\":{\"name\":\"demo\",\"generation\":" #generation "},\"status\":{" status "}}"
#define ACCEPTED(status, reason, message)                                                          \
	"\"conditions\":[{\"type\":\"Kept\",\"status\":\"True\"},{\"type\":\"Accepted\","          \
	"\"status\":\"" status "\",\"reason\":\"" reason "\",\"message\":\"" message               \
	"\",\"observedGeneration\":1}]"

static const struct {
	const char *object;
	enum reserve_verdict verdict;
	const char *words;
} verdicts[] = {
	{OBJECT(1, ""), RESERVE_UNJUDGED,
		"AdvanceReservation demo is created, but no controller has judged it yet. kubectl get advancereservation demo shows when one does; sluice doctor says what is wrong\n"},
	{OBJECT(1, ACCEPTED("False", "NotJudgedYet", "")), RESERVE_UNJUDGED, NULL},
	{OBJECT(2, ACCEPTED("True", "Accepted", "")), RESERVE_UNJUDGED, NULL},
	{OBJECT(1, ACCEPTED("True", "Accepted",
			   "reserved") ",\"cost\":\"412.50\",\"currency\":\"EUR\""),
		RESERVE_ACCEPTED,
		"AdvanceReservation demo is accepted: reserved\nIt costs 412.50 EUR if all of it is used.\n"},
	{OBJECT(1,
		 ACCEPTED("False", "NotFree",
			 "3 runs are there until 2026-11-30T10:00:00Z") ",\"possibleFrom\":\"2026-11-30T10:00:00Z\""),
		RESERVE_REFUSED,
		"AdvanceReservation demo is not accepted: 3 runs are there until 2026-11-30 10:00 UTC\n"
		"The AdvanceReservation stays, and is tried again once a minute until it ends. To delete it: kubectl delete advancereservation demo\n"},
	{OBJECT(1, ACCEPTED("False", "TooMuch", "a\\u001b[31m\\nb")), RESERVE_REFUSED, NULL},
};

static void the_verdict_is_said(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < ROWS(verdicts); i++) {
		struct json *json = json_new(1 << 20);
		const cJSON *object;
		struct buf out;
		buf_init(&out, 65536);
		assert_int_equal(json_parse(json, slice_of(verdicts[i].object), &object, NULL), 0);
		assert_int_equal(reserve_verdict_of(object), verdicts[i].verdict);
		reserve_report_render("demo", object, verdicts[i].verdict, &out);
		if (verdicts[i].words)
			assert_string_equal(buf_text(&out), verdicts[i].words);
		assert_null(strchr(buf_text(&out), '\x1b'));
		json_free(json);
		buf_done(&out);
	}
}

/* ---- the API server ---------------------------------------------------------------------------- */

#define STATUS(reason, message)                                                                    \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" reason                         \
	"\",\"message\":\"" message "\"}"

static const struct {
	int status;
	const char *body;
	int rc;
	const char *says;
} creates[] = {
	{201, "{}", 0, ""},
	{409, STATUS("AlreadyExists", "exists"), ERR_CONFLICT,
		"there is an AdvanceReservation demo already, so nothing was reserved"},
	{403,
		STATUS("Forbidden",
			"advancereservations.sluice.dev is forbidden: User \\\"bob\\\" cannot create"),
		ERR_DENIED, "you may not create AdvanceReservations"},
	{404, STATUS("NotFound", "no such resource"), ERR_BUSY, "install the CRDs"},
	{422, STATUS("Invalid", "spec: until must be later than from"), ERR_INVALID,
		"spec: until must be later than from"},
};

static void what_the_api_server_says_of_it_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(creates); i++) {
		struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
		struct scripted_server *server = scripted_server_new(loop);
		struct kube_config *config = config_for(scripted_server_url(server), NULL);
		struct kube_client *client = question_client(loop, config);
		cJSON *object = cJSON_CreateObject();
		struct err e = {""};
		cJSON_AddStringToObject(
			cJSON_AddObjectToObject(object, "metadata"), "name", "demo");
		script_answer(scripted_server_expect(server,
				      "POST /apis/sluice.dev/v1alpha1/advancereservations?"),
			creates[i].status, "", creates[i].body);
		int rc = reserve_create(loop, client, object, &e);
		if (rc != creates[i].rc || !strstr(e.text, creates[i].says))
			fail_msg("%d: %d, %s", creates[i].status, rc, e.text);
		assert_string_equal(scripted_server_request(server, 0)->body,
			"{\"metadata\":{\"name\":\"demo\"}}");
		cJSON_Delete(object);
		kube_client_free(client);
		scripted_server_free(server);
		kube_config_free(config);
		ev_loop_destroy(loop);
	}
}

static void the_verdict_is_waited_for(void **state)
{
	(void)state;
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct scripted_server *server = scripted_server_new(loop);
	struct kube_config *config = config_for(scripted_server_url(server), NULL);
	struct kube_client *client = question_client(loop, config);
	struct json *json = json_new(1 << 20);
	const struct reserve_patience patience = {3, 1};
	const char *const looks[] = {OBJECT(1, ""), OBJECT(1, ACCEPTED("True", "Accepted", "so"))};
	const cJSON *object;
	enum reserve_verdict v;
	struct err e;
	for (size_t i = 0; i < ROWS(looks); i++)
		script_answer(scripted_server_expect(server,
				      "GET /apis/sluice.dev/v1alpha1/advancereservations/demo "),
			200, "", looks[i]);
	assert_int_equal(reserve_wait(loop, client, "demo", &patience, json, &object, &v, &e), 0);
	assert_int_equal(v, RESERVE_ACCEPTED);
	assert_string_equal(json_text(reserve_condition(object), "message"), "so");
	assert_int_equal(scripted_server_unused(server), 0);
	json_free(json);
	kube_client_free(client);
	scripted_server_free(server);
	kube_config_free(config);
	ev_loop_destroy(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_means_one_instant),
		cmocka_unit_test(the_users_clock_is_that_of_tz),
		cmocka_unit_test(a_line_that_makes_no_sense_is_refused),
		cmocka_unit_test(help_needs_nothing_else),
		cmocka_unit_test(a_line_becomes_an_object_and_words),
		cmocka_unit_test(what_cannot_be_is_refused_before_it_is_asked),
		cmocka_unit_test(a_derived_name_is_one_that_the_api_server_takes),
		cmocka_unit_test(the_verdict_is_said),
		cmocka_unit_test(what_the_api_server_says_of_it_is_told),
		cmocka_unit_test(the_verdict_is_waited_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
