#include "cli/simulate/journal.h"

#include <inttypes.h>
#include <string.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "base/monotonic.h"
#include "base/span.h"
#include "queue/price/money.h"
#include "sluice/quantity.h"

#define LINES_MAX_BYTES (1u << 20)
#define WRITE_BYTES (64u << 10)

const char *sim_event_name(enum sim_event_kind kind)
{
	switch (kind) {
	case SIM_EVENT_ADOPTED:
		return "Adopted";
	case SIM_EVENT_ADMITTED:
		return "Admitted";
	case SIM_EVENT_PREEMPTED:
		return "Preempted";
	case SIM_EVENT_STOPPED:
		return "Stopped";
	case SIM_EVENT_GREW:
		return "Grew";
	case SIM_EVENT_SHRANK:
		return "Shrank";
	case SIM_EVENT_FINISHED:
		return "Finished";
	case SIM_EVENT_GIVEN_UP:
		return "GivenUp";
	case SIM_EVENT_NOTICE:
		return "Notice";
	case SIM_EVENT_UNREACHABLE:
		return "Unreachable";
	case SIM_EVENT_WAITING:
		return "Waiting";
	}
	return "";
}

void journal_init_json(struct journal *j, const struct world *w, FILE *out)
{
	*j = (struct journal){.w = w, .out = out};
	buf_init(&j->line, LINES_MAX_BYTES);
}

void journal_init_table(struct journal *j, const struct world *w, const struct style *style)
{
	*j = (struct journal){.w = w, .table = table_new(style)};
	static const char *const head[] = {
		"TIME", "EVENT", "JOB", "ATTEMPT", "CLUSTERQUEUE", "FLAVORS", "WHY"};
	buf_init(&j->line, LINES_MAX_BYTES);
	for (size_t i = 0; i < sizeof(head) / sizeof(*head); i++)
		table_cell(j->table, COLOUR_BOLD, head[i]);
	table_end_row(j->table);
}

static void flush(struct journal *j)
{
	if (j->out)
		fwrite(buf_text(&j->line), 1, j->line.len, j->out);
	buf_reset(&j->line);
}

void journal_done(struct journal *j)
{
	flush(j);
	buf_done(&j->line);
	table_free(j->table);
	*j = (struct journal){0};
}

static void finished_message(
	const struct sim_job *a, const struct sim_event *e, char *text, size_t size)
{
	snprintf(text, size, "ran %s%s%s%s", span_short(e->at_ms - a->since_ms).s,
		e->late_ms > 0 ? ", " : "", e->late_ms > 0 ? span_short(e->late_ms).s : "",
		e->late_ms > 0 ? " late" : "");
}

static struct span_text lost_text(const struct sim_event *e)
{
	return span_short(quantity_times(e->lost_ms, e->lost_pods));
}

static void shrank_message(
	const struct journal *j, const struct sim_event *e, char *text, size_t size)
{
	char name[600];
	snprintf(text, size, "goes on with %" PRId32 " pod%s%s%s; %s of pod time lost",
		j->w->sim_job[e->sim_job].pods, j->w->sim_job[e->sim_job].pods == 1 ? "" : "s",
		e->by != SIZE_MAX ? ", for " : "",
		e->by != SIZE_MAX ? world_name(j->w, e->by, name, sizeof(name)) : "",
		lost_text(e).s);
}

static void message_of(const struct journal *j, const struct sim_event *e, char *text, size_t size)
{
	const struct sim_job *a = &j->w->sim_job[e->sim_job];
	char name[600];
	text[0] = '\0';
	switch (e->kind) {
	case SIM_EVENT_ADMITTED:
		snprintf(text, size, "%" PRId32 " pod%s, %s after the Job came", a->pods,
			a->pods == 1 ? "" : "s", span_short(e->at_ms - a->arrival_ms).s);
		return;
	case SIM_EVENT_PREEMPTED:
		if (e->by != SIZE_MAX)
			snprintf(text, size, "preempted for %s; %s of pod time lost",
				world_name(j->w, e->by, name, sizeof(name)), lost_text(e).s);
		return;
	case SIM_EVENT_STOPPED:
		snprintf(text, size, "%s of pod time lost", lost_text(e).s);
		return;
	case SIM_EVENT_GREW:
		snprintf(text, size, "goes on with %" PRId32 " pods", a->pods);
		return;
	case SIM_EVENT_SHRANK:
		shrank_message(j, e, text, size);
		return;
	case SIM_EVENT_FINISHED:
		finished_message(a, e, text, size);
		return;
	case SIM_EVENT_NOTICE:
		snprintf(text, size, "will be stopped in %s", span_short(e->stop_ms - e->at_ms).s);
		return;
	case SIM_EVENT_GIVEN_UP:
	case SIM_EVENT_UNREACHABLE:
	case SIM_EVENT_WAITING:
		snprintf(text, size, "%s", e->message ? e->message : "");
		return;
	case SIM_EVENT_ADOPTED:
		return;
	}
}

/* Writes a member; "" is left out. */
static void member(struct json_writer *w, const char *key, const char *text)
{
	if (*text)
		jw_text(w, key, text);
}

static void flavors_json(struct json_writer *w, const struct sim_event *e)
{
	if (e->nlines == 0)
		return;
	jw_object(w, "flavors");
	for (size_t i = 0; i < e->nlines; i++)
		jw_text(w, e->lines[i].resource, e->lines[i].flavor);
	jw_end(w);
}

static bool runs_on(const struct sim_event *e)
{
	return e->kind == SIM_EVENT_ADMITTED || e->kind == SIM_EVENT_GREW ||
	       e->kind == SIM_EVENT_SHRANK;
}

/* Writes what a run costs from now on, or, if it has ended, what it has cost. */
static void bill_json(struct json_writer *w, const struct sim_event *e)
{
	if (!e->bill)
		return;
	if (runs_on(e))
		money_put(w, "perHour", e->bill->per_hour);
	else if (e->kind != SIM_EVENT_NOTICE)
		money_put(w, "cost", e->bill->cost);
	member(w, "currency", e->bill->currency);
}

static void write_json(struct journal *j, const struct sim_event *e)
{
	const struct sim_job *a = &j->w->sim_job[e->sim_job];
	struct json_writer w = json_writer_object(&j->line);
	char name[600], text[700];
	jw_text(&w, "at", instant_shortest(e->at_ms).s);
	jw_int(&w, "ms", e->at_ms - j->w->start_ms);
	jw_text(&w, "event", sim_event_name(e->kind));
	member(&w, "job", world_name(j->w, e->sim_job, name, sizeof(name)));
	jw_int(&w, "attempt", a->attempt);
	member(&w, "clusterQueue", e->clusterqueue);
	flavors_json(&w, e);
	if (e->kind != SIM_EVENT_WAITING && e->kind != SIM_EVENT_UNREACHABLE)
		jw_int(&w, "count", a->pods);
	if (e->by != SIZE_MAX)
		member(&w, "by", world_name(j->w, e->by, name, sizeof(name)));
	member(&w, "reason", e->reason);
	if (e->lost_pods > 0)
		jw_int(&w, "lost_ms", quantity_times(e->lost_ms, e->lost_pods));
	if (e->late_ms > 0)
		jw_int(&w, "late_ms", e->late_ms);
	if (e->stop_ms > 0)
		member(&w, "stop", instant_shortest(e->stop_ms).s);
	bill_json(&w, e);
	message_of(j, e, text, sizeof(text));
	member(&w, "message", text);
	jw_close(&w);
	buf_putc(&j->line, '\n');
	if (j->line.len > WRITE_BYTES)
		flush(j);
}

static enum colour colour_of(enum sim_event_kind kind)
{
	switch (kind) {
	case SIM_EVENT_ADMITTED:
	case SIM_EVENT_GREW:
		return COLOUR_GREEN;
	case SIM_EVENT_PREEMPTED:
	case SIM_EVENT_STOPPED:
		return COLOUR_RED;
	case SIM_EVENT_SHRANK:
	case SIM_EVENT_GIVEN_UP:
	case SIM_EVENT_NOTICE:
	case SIM_EVENT_UNREACHABLE:
	case SIM_EVENT_WAITING:
		return COLOUR_YELLOW;
	case SIM_EVENT_ADOPTED:
	case SIM_EVENT_FINISHED:
		return COLOUR_NONE;
	}
	return COLOUR_NONE;
}

/* Appends "; 0.16 EUR an hour". */
static void add_cost(const struct sim_event *e, char *text, size_t size)
{
	char amount[MONEY_TEXT_SIZE];
	size_t len = strlen(text);
	if (!e->bill || e->kind == SIM_EVENT_NOTICE)
		return;
	bool begins = runs_on(e);
	money_short(begins ? e->bill->per_hour : e->bill->cost, amount);
	snprintf(text + len, size - len, "; %s %s%s", amount, e->bill->currency,
		begins ? " an hour" : "");
}

static void add_row(struct journal *j, const struct sim_event *e)
{
	const struct sim_job *a = &j->w->sim_job[e->sim_job];
	char name[600], text[700];
	table_cell(j->table, COLOUR_DIM, instant_shortest(e->at_ms).s);
	table_cell(j->table, colour_of(e->kind), sim_event_name(e->kind));
	table_cell(j->table, COLOUR_NONE, world_name(j->w, e->sim_job, name, sizeof(name)));
	table_cellf(j->table, COLOUR_NONE, "%" PRId32, a->attempt);
	table_cell(j->table, COLOUR_NONE, e->clusterqueue);
	for (size_t i = 0; i < e->nlines; i++)
		buf_printf(&j->line, "%s%s=%s", i ? " " : "", e->lines[i].resource,
			e->lines[i].flavor);
	table_cell(j->table, COLOUR_NONE, buf_text(&j->line));
	buf_reset(&j->line);
	message_of(j, e, text, sizeof(text));
	add_cost(e, text, sizeof(text));
	table_cellf(
		j->table, COLOUR_NONE, "%s%s%s", e->reason, *e->reason && *text ? ": " : "", text);
	table_end_row(j->table);
}

void journal_see(struct journal *j, const struct sim_event *e)
{
	if (e->kind == SIM_EVENT_ADOPTED)
		return;
	j->nrows++;
	if (j->out) {
		int64_t before_us = monotonic_us();
		write_json(j, e);
		j->us += monotonic_us() - before_us;
	} else if (j->nrows <= JOURNAL_ROWS_MAX) {
		add_row(j, e);
	} else {
		table_free(j->table);
		j->table = NULL;
	}
}

void journal_render_table(const struct journal *j, struct buf *out)
{
	if (j->table && j->nrows > 0)
		table_render(j->table, out);
	else if (j->nrows > 0)
		buf_printf(out, "%zu events: -o json shows them, -o svg draws them\n", j->nrows);
	if (j->nrows > 0)
		buf_putc(out, '\n');
}
