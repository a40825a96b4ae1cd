/* The command calendar: what Calendars mean, of YAML files or of a cluster, and holidays as
 * exceptions. */
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/calendar/civil.h"
#include "queue/calendar/tzdata.h"
#include "cli/calendar/cluster.h"
#include "cli/calendar/import.h"
#include "cli/calendar/options.h"
#include "cli/calendar/report.h"
#include "cli/commands.h"
#include "cli/simulate/documents.h"
#include "controller/common/clock.h"

#define OUTPUT_MAX_BYTES ((size_t)64 << 20)

static int report_one(const struct calendar_specs_calendar *c, const struct calendar_options *o,
	const struct zone *tz, struct buf *out, struct err *e)
{
	struct style style = style_of(stdout);
	struct moment at = {.at_ms = clock_now_ms() / 1000 * 1000};
	char tzdata[TZDATA_VERSION_SIZE];
	const struct zone *zone = tz ? tz : c->zone;
	const struct moment_basis basis = {at.at_ms, zone, .takes_gaps = true};
	if (o->at && moment_read(o->at, &basis, &at, e) < 0) {
		err_wrap(e, "--at");
		return ERR_INVALID;
	}
	tzdata_version(tzdata);
	if (o->output == CALENDAR_JSON)
		report_json(c, zone, &at, tzdata, out);
	else if (o->verb == CALENDAR_TEST)
		report_test(c, zone, &at, out);
	else
		report_show(c, zone, at.at_ms, tzdata, &style, out);
	moment_done(&at);
	return 0;
}

static int report_all(const struct calendar_specs *s, const struct calendar_options *o,
	const struct zone *tz, struct buf *out, struct err *e)
{
	size_t told = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (o->name && strcmp(o->name, s->item[i].spec->name) != 0)
			continue;
		if (told++ > 0 && o->verb == CALENDAR_SHOW && o->output == CALENDAR_TEXT)
			buf_putc(out, '\n');
		int rc = report_one(&s->item[i], o, tz, out, e);
		if (rc < 0)
			return rc;
	}
	if (told > 0)
		return 0;
	const char *where = o->files.count > 0 ? "these files" : "the cluster";
	if (o->name)
		return err_set(e, ERR_GONE, "there is no Calendar %.100s in %s", o->name, where);
	return err_set(e, ERR_GONE, "there is no Calendar in %s", where);
}

static int read_cluster(const struct calendar_options *o, struct calendar_specs *s, struct err *e)
{
	struct kube_config *config;
	struct buf complaints;
	int rc = kube_config_load(&o->kube, &config, e);
	if (rc < 0) {
		err_wrap(e, "without -f the API server is asked");
		return ERR_INVALID;
	}
	struct cluster c = {ev_loop_new(EVFLAG_AUTO), config, o->config_namespace};
	buf_init(&complaints, OUTPUT_MAX_BYTES);
	rc = cluster_read(&c, o->name, s, &complaints, e);
	fputs(buf_text(&complaints), stderr);
	buf_done(&complaints);
	ev_loop_destroy(c.loop);
	kube_config_free(config);
	return rc;
}

static int read_files(const struct calendar_options *o, struct calendar_specs *s, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < o->files.count && rc == 0; i++)
		rc = calendar_specs_read(s, o->files.text[i], e);
	return rc < 0 ? ERR_INVALID : 0;
}

static int report(const struct calendar_options *o, struct buf *out, struct err *e)
{
	struct calendar_specs s;
	struct zone *tz = NULL;
	int rc = o->tz ? tzdata_load(o->tz, &tz, e) : 0;
	if (rc < 0) {
		err_wrap(e, "--tz");
		return ERR_INVALID;
	}
	calendar_specs_init(&s);
	rc = o->files.count > 0 ? read_files(o, &s, e) : read_cluster(o, &s, e);
	if (rc == 0 && calendar_specs_close(&s, clock_now_ms(), e) < 0)
		rc = ERR_INVALID;
	if (rc == 0)
		rc = report_all(&s, o, tz, out, e);
	calendar_specs_done(&s);
	zone_free(tz);
	return rc;
}

/* Imports holidays. *ret_complete: nothing was left out, which the exit code tells. */
static int import(
	const struct calendar_options *o, struct buf *out, bool *ret_complete, struct err *e)
{
	char *text;
	size_t len;
	struct ics *ics;
	int year = civil_of(civil_day_of(clock_now_ms() / 1000)).year;
	int first = o->first_year ? o->first_year : year;
	int last = o->last_year ? o->last_year : year + 4;
	struct date_range horizon = {civil_days(first, 1, 1), civil_days(last, 12, 31)};
	if (read_whole(o->name, ICS_BYTES_MAX, &text, &len, e) < 0)
		return ERR_INVALID;
	int rc = ics_read((struct slice){text, len}, horizon, &ics, e);
	free(text);
	if (rc < 0) {
		err_wrap(e, "%s", o->name);
		return ERR_INVALID;
	}
	for (size_t i = 0; i < ics->nskips && i < ICS_SKIPS_MAX; i++)
		fprintf(stderr, "sluice: %s: left out: %s\n", o->name, ics->skip[i].text);
	if (ics->nskips > ICS_SKIPS_MAX)
		fprintf(stderr, "sluice: %s: and %zu more\n", o->name, ics->nskips - ICS_SKIPS_MAX);
	*ret_complete = ics->nskips == 0;
	if (ics->nholidays == 0)
		rc = err_set(e, ERR_GONE,
			"%s: has no whole day off in %d to %d, and an exception needs one; give other years with --years FIRST..LAST",
			o->name, first, last);
	else if (o->output == CALENDAR_DATES)
		import_dates(ics, out);
	else
		import_yaml(ics, o->exception, o->treat_as, out);
	ics_free(ics);
	return rc;
}

int command_calendar(void *options)
{
	const struct calendar_options *o = options;
	struct buf out;
	struct err e = {""};
	buf_init(&out, OUTPUT_MAX_BYTES);
	bool complete = true;
	int rc = o->verb == CALENDAR_IMPORT ? import(o, &out, &complete, &e) : report(o, &out, &e);
	int code = command_end(rc, &out, &e);
	buf_done(&out);
	return code == CLI_OK && !complete ? CLI_FINDINGS : code;
}
