#include "controller/past/past_query.h"

#include <string.h>
#include <time.h>

#include "base/instant.h"
#include "base/must.h"
#include "base/span.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/wall_time.h"

#define MINUTE_MS INT64_C(60000)
#define DAY_MS (24 * 60 * MINUTE_MS)

enum { STEPS_MAX = 96 };

static const char *const by_names[] = {"queue", "namespace", "owner", "user", "label"};

const char *cost_by_name(enum cost_by by)
{
	return by_names[by];
}

const char *past_resource_name(enum past_kind kind)
{
	static const char *const names[] = {[PAST_COST] = "costs",
		[PAST_REPORT] = "reports",
		[PAST_RUNS] = "histories",
		[PAST_USAGE] = "clusterqueues/usage",
		[PAST_SPANS] = "histories"};
	return names[kind];
}

static int parse_by(const char *text, struct past_query *q, struct err *e)
{
	static const char label[] = "label=";
	for (int by = COST_BY_QUEUE; by < COST_BY_LABEL; by++)
		if (strcmp(text, by_names[by]) == 0) {
			q->question.by = (enum cost_by)by;
			return 0;
		}
	if (strcmp(text, "team") == 0) {
		q->question.by = COST_BY_NAMESPACE;
		return 0;
	}
	size_t len = strlen(text);
	if (strncmp(text, label, strlen(label)) != 0 || len == strlen(label) ||
		len - strlen(label) >= sizeof(q->label))
		return err_set(e, ERR_INVALID,
			"by is \"%.60s\"; it must be queue, namespace, owner, user or label=KEY",
			text);
	strcpy(q->label, text + strlen(label));
	q->question.by = COST_BY_LABEL;
	q->question.label = q->label;
	return 0;
}

/* Reads a date of any year: an answer is of what was, however far the question reaches. */
static bool parse_date(const char *text, int64_t *ret_ms)
{
	char whole[32];
	if (strlen(text) != strlen("2026-11-01"))
		return false;
	strcpy(whole, text);
	strcat(whole, "T00:00:00Z");
	return instant_parse(slice_of(whole), ret_ms);
}

/* Gives the beginning of this day, week, month or year. */
static bool parse_period(const char *text, int64_t now_ms, int64_t *ret_ms)
{
	time_t now = (time_t)(now_ms / 1000);
	struct tm t;
	if (!gmtime_r(&now, &t))
		return false;
	if (strcmp(text, "week") == 0)
		t.tm_mday -= (t.tm_wday + 6) % 7;
	else if (strcmp(text, "month") == 0)
		t.tm_mday = 1;
	else if (strcmp(text, "year") == 0)
		t.tm_mday = 1, t.tm_mon = 0;
	else if (strcmp(text, "day") != 0)
		return false;
	t.tm_hour = t.tm_min = t.tm_sec = 0;
	*ret_ms = (int64_t)timegm(&t) * 1000;
	return true;
}

/* Reads a time by UTC: a caller over HTTP with another clock says so. Other zones are not looked up
 * here, for that takes the event loop's time. */
static bool parse_wall_time(const char *text, int64_t now_ms, int64_t *ret_ms)
{
	struct wall_time w;
	struct slice zone;
	if (wall_time_read(slice_of(text), &w, &zone, NULL) < 0 ||
		(zone.len > 0 && !slice_is(zone, "UTC")))
		return false;
	struct zone *utc = zone_utc();
	*ret_ms = 1000 *
		  zone_instant_s(utc, wall_time_local_s(&w, utc, civil_floor(now_ms, 1000), true));
	zone_free(utc);
	return true;
}

static int parse_moment(
	const char *name, const char *text, int64_t now_ms, int64_t *ret_ms, struct err *e)
{
	int64_t span_ms;
	if (instant_parse(slice_of(text), ret_ms) || parse_date(text, ret_ms) ||
		parse_period(text, now_ms, ret_ms) || parse_wall_time(text, now_ms, ret_ms))
		return 0;
	if (span_parse_long(text, &span_ms)) {
		*ret_ms = now_ms - span_ms;
		return 0;
	}
	return err_set(e, ERR_INVALID,
		"%s is \"%.60s\"; it must be an age (90m, 12h, 30d, 4w), the beginning of this day, week, month or year, or a time such as " WALL_TIME_EXAMPLES
		", or \"2026-11-01T08:00:00+01:00\"",
		name, text);
}

/* Reads a name; "" would ask for all of them. */
static int parse_name(const char *what, const char *text, char *ret, size_t size,
	const char **ret_name, struct err *e)
{
	size_t len = text ? strlen(text) : 0;
	if (!text)
		return 0;
	if (len == 0 || len >= size)
		return err_set(e, ERR_INVALID,
			"%s is \"%.70s\"; it must be a name of 1 to %zu characters", what, text,
			size - 1);
	strcpy(ret, text);
	*ret_name = ret;
	return 0;
}

static int parse_names(const struct past_words *w, struct past_query *q, struct err *e)
{
	struct past_question *p = &q->question;
	int rc = parse_name("namespace", w->ns, q->ns, sizeof(q->ns), &p->ns, e);
	if (!rc && w->kind == PAST_SPANS && (w->job || w->submitter))
		rc = err_set(e, ERR_INVALID,
			"job and user are parameters of histories without fold=true only");
	if (!rc && w->kind != PAST_RUNS && (w->job || w->submitter))
		rc = err_set(e, ERR_INVALID, "job and user are parameters of histories only");
	if (!rc && (w->kind == PAST_RUNS || w->kind == PAST_SPANS) && w->by)
		rc = err_set(e, ERR_INVALID, "by is a parameter of costs and reports only");
	if (!rc)
		rc = parse_name("job", w->job, q->job, sizeof(q->job), &p->job, e);
	return rc ? rc
		  : parse_name("user", w->submitter, q->submitter, sizeof(q->submitter),
			    &p->submitter, e);
}

static int parse_clusterqueue(const struct past_words *w, struct past_query *q, struct err *e)
{
	if (w->kind == PAST_RUNS && w->clusterqueue)
		return err_set(e, ERR_INVALID,
			"clusterQueue is a parameter of histories with fold=true only");
	if (w->kind != PAST_USAGE && w->kind != PAST_SPANS)
		return 0;
	if (w->kind == PAST_USAGE && !w->clusterqueue)
		return err_set(e, ERR_INVALID,
			"clusterQueue is not given; it must be the name of a ClusterQueue");
	return parse_name("clusterQueue", w->clusterqueue, q->clusterqueue, sizeof(q->clusterqueue),
		&q->question.clusterqueue, e);
}

/* Gives the usual beginning. The runs of one Job are few, and found by an index: all that are
 * kept. */
static const char *usual_since(const struct past_words *w)
{
	if (w->kind == PAST_USAGE || w->kind == PAST_SPANS)
		return "24h";
	if (w->kind != PAST_RUNS)
		return "30d";
	return w->job && w->ns ? PAST_BEGINNING : "7d";
}

/* Clamps the question to what the ledger can know: nothing before 1970, nothing that is to come. */
static void clamp_to_the_past(struct past_question *q, int64_t now_ms)
{
	if (q->from_ms < 0)
		q->from_ms = 0;
	if (q->to_ms > now_ms)
		q->to_ms = now_ms;
}

static int64_t divide_up(int64_t n, int64_t by)
{
	return n / by + (n % by > 0);
}

/* What divides a day, so that steps begin at the same times each day; else whole days. */
static int64_t step_of(int64_t span_ms)
{
	static const int64_t minutes[] = {1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 480, 720};
	for (size_t i = 0; i < sizeof(minutes) / sizeof(*minutes); i++)
		if (span_ms <= STEPS_MAX * minutes[i] * MINUTE_MS)
			return minutes[i] * MINUTE_MS;
	return divide_up(span_ms, STEPS_MAX * DAY_MS) * DAY_MS;
}

/* Divides a stretch of time for a chart, into at most STEPS_MAX equal steps of whole minutes, and gives their length. They
 * begin at round times (UTC), so that a chart that is asked for again a minute later has the same ones. What lies before
 * the first round time is left out, *from_ms goes there; it stays where no step begins in between. The last step may be
 * shorter, since it goes on. */
static int64_t divide(int64_t *from_ms, int64_t to_ms)
{
	int64_t step_ms = step_of(to_ms - *from_ms);
	int64_t unit_ms = step_ms < DAY_MS ? step_ms : DAY_MS;
	int64_t first_ms = divide_up(*from_ms, unit_ms) * unit_ms;
	if (first_ms < to_ms)
		*from_ms = first_ms;
	return step_ms;
}

/* Gives how far apart starts are at most that one span may have. */
static int64_t part_of(int64_t span_ms)
{
	return span_ms >= STEPS_MAX ? span_ms / STEPS_MAX : 1;
}

int past_query_parse(
	const struct past_words *w, int64_t now_ms, struct past_query *ret, struct err *e)
{
	struct past_question *q = &ret->question;
	*ret = (struct past_query){.question = {.kind = w->kind, .label = ""}, .asked_ms = now_ms};
	int rc = parse_by(w->by ? w->by : "queue", ret, e);
	if (!rc)
		rc = parse_names(w, ret, e);
	if (!rc)
		rc = parse_clusterqueue(w, ret, e);
	if (!rc)
		rc = parse_moment(
			"since", w->since ? w->since : usual_since(w), now_ms, &q->from_ms, e);
	q->to_ms = now_ms + 1;
	if (!rc && w->until)
		rc = parse_moment("until", w->until, now_ms, &q->to_ms, e);
	if (!rc && (w->kind == PAST_USAGE || w->kind == PAST_SPANS))
		clamp_to_the_past(q, now_ms);
	if (!rc && q->from_ms >= q->to_ms)
		rc = err_set(e, ERR_INVALID,
			"there is no time between since and until: since must be earlier");
	if (!rc && w->kind == PAST_USAGE)
		q->step_ms = divide(&q->from_ms, q->to_ms);
	if (!rc && w->kind == PAST_SPANS)
		q->step_ms = part_of(q->to_ms - q->from_ms);
	return rc;
}
