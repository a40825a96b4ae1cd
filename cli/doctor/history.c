/* How large the ledger is, how fast it grows, and whether what is old is forgotten. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/doctor/checks.h"

/* The rows of all cells: counted where that is quick, else as of the last ANALYZE. */
#define ROWS(table)                                                                                \
	"(SELECT CASE WHEN reltuples < 0 OR relpages < 4096 THEN (SELECT count(*) FROM " table     \
	") ELSE reltuples::bigint END FROM pg_class WHERE oid = '" table "'::regclass)"
#define SIZE                                                                                       \
	"SELECT bytes, pg_size_pretty(bytes), " ROWS("sluice.segment") ", " ROWS(                  \
		"sluice.transfer") " FROM (SELECT sum(pg_total_relation_size(oid))::bigint AS "    \
				   "bytes FROM pg_class WHERE relnamespace = "                     \
				   "'sluice'::regnamespace AND relkind = 'r') AS s"
#define GROWTH                                                                                     \
	"SELECT count(*) FILTER (WHERE stopped_at >= now() - interval '7 days'), count(*), "       \
	"(SELECT to_char(min(stopped_at), 'YYYY-MM-DD') FROM sluice.segment WHERE cell = $1) "     \
	"FROM sluice.segment WHERE cell = $1 AND stopped_at >= now() - interval '30 days'"
/* What is forgotten, and when. Late means: something is two days over its time, and for a day there
 * was always something left. */
#define RETENTION                                                                                  \
	"SELECT extract(epoch FROM keep)::bigint / 86400, coalesce(to_char(caught_up_at, "         \
	"'YYYY-MM-DD'), ''), keep IS NOT NULL AND coalesce(caught_up_at < now() - interval '1 "    \
	"day', true) AND EXISTS (SELECT FROM sluice.segment s WHERE s.cell = r.cell AND "          \
	"s.stopped_at < now() - keep - interval '2 days') FROM sluice.retention r WHERE cell = $1"

struct history {
	long long bytes, runs, transfers; /* of all cells */
	long long week, month;		  /* runs of ours that ended in the last 7 and 30 days */
	bool looked, keeps_all, late;
	long long keep_days;
	char size[32], oldest[16], caught_up[16]; /* dates, "" none */
};

static int select_one(
	struct doctor_context *p, const char *sql, int n, PGresult **ret, struct err *e)
{
	return doctor_context_select(p, sql, n, &p->o->cell, ret, e);
}

static void copy(char *ret, size_t size, const PGresult *r, int column)
{
	snprintf(ret, size, "%s", PQgetvalue(r, 0, column));
}

static int read_size(struct doctor_context *p, struct history *h, struct err *e)
{
	PGresult *r;
	int rc = select_one(p, SIZE, 0, &r, e);
	if (rc)
		return rc;
	h->bytes = atoll(PQgetvalue(r, 0, 0));
	copy(h->size, sizeof(h->size), r, 1);
	h->runs = atoll(PQgetvalue(r, 0, 2));
	h->transfers = atoll(PQgetvalue(r, 0, 3));
	PQclear(r);
	return 0;
}

static int read_growth(struct doctor_context *p, struct history *h, struct err *e)
{
	PGresult *r;
	int rc = select_one(p, GROWTH, 1, &r, e);
	if (rc)
		return rc;
	h->week = atoll(PQgetvalue(r, 0, 0));
	h->month = atoll(PQgetvalue(r, 0, 1));
	copy(h->oldest, sizeof(h->oldest), r, 2);
	PQclear(r);
	return 0;
}

static int read_retention(struct doctor_context *p, struct history *h, struct err *e)
{
	PGresult *r;
	int rc = select_one(p, RETENTION, 1, &r, e);
	if (rc)
		return rc;
	h->looked = PQntuples(r) > 0;
	if (h->looked) {
		h->keeps_all = PQgetisnull(r, 0, 0);
		h->keep_days = atoll(PQgetvalue(r, 0, 0));
		copy(h->caught_up, sizeof(h->caught_up), r, 1);
		h->late = *PQgetvalue(r, 0, 2) == 't';
	}
	PQclear(r);
	return 0;
}

/* Writes " (some 118 MB)": the share of a month's runs in the whole. */
static void print_growth(const struct history *h, char *ret, size_t size)
{
	double bytes = h->runs > 0 ? (double)h->bytes / (double)h->runs * (double)h->month : 0;
	ret[0] = '\0';
	if (bytes >= 1e6)
		snprintf(ret, size, " (some %.0f MB)", bytes / 1e6);
}

static void print_keeping(const struct history *h, char *ret, size_t size)
{
	if (!h->looked)
		snprintf(
			ret, size, "no leader has looked yet whether something is to be forgotten");
	else if (h->keeps_all)
		snprintf(ret, size, "all is kept (--keep-history 0)");
	else
		snprintf(ret, size, "kept for %lld days", h->keep_days);
}

static void judge(const struct doctor_context *p, const struct history *h, struct findings *f)
{
	char growth[40], keeping[80];
	if (h->late) {
		findings_add(f, VERDICT_WARN,
			"the oldest run of cell %s ended on %s, and runs are kept for %lld days: forgetting is behind (%s%s); the ledger is %s",
			p->o->cell, h->oldest, h->keep_days,
			h->caught_up[0] ? "nothing was left to do last on "
					: "something was always left to do",
			h->caught_up, h->size);
		findings_cure(f,
			"kubectl -n %s logs deployment/sluice-controller | grep -e retention-down -e forgot\n"
			"# while a controller leads it forgets 1,000 attempts in 10 s",
			p->o->namespace_name);
		return;
	}
	print_growth(h, growth, sizeof(growth));
	print_keeping(h, keeping, sizeof(keeping));
	findings_ok(f,
		"%s: %lld runs, %lld transfers; of cell %s %lld runs ended in 7 days, %lld in 30%s; %s%s; %s",
		h->size, h->runs, h->transfers, p->o->cell, h->week, h->month, growth,
		h->oldest[0] ? "the oldest ended on " : "none is kept", h->oldest, keeping);
}

void check_history(struct doctor_context *p, struct findings *f)
{
	struct history h = {0};
	struct err e = {""};
	int rc = read_size(p, &h, &e);
	if (rc == 0)
		rc = read_growth(p, &h, &e);
	if (rc == 0)
		rc = read_retention(p, &h, &e);
	if (rc)
		findings_skip(f, "%s", e.text);
	else
		judge(p, &h, f);
}
