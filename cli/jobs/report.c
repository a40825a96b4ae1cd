#include "cli/jobs/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/span.h"
#include "cli/commands.h"
#include "cli/jobs/options.h"
#include "cli/ledger_down.h"
#include "cli/local_times.h"
#include "cli/short_times.h"
#include "cli/start_words.h"
#include "controller/common/visibility_names.h"
#include "queue/job/text.h"
#include "sluice/queue.h"

enum {
	CELL_BYTES = 1024,
	RESOURCES_NARROW = 3, /* resources shown; more are counted */
	MESSAGE_BYTES = 80,
	JSON_MAX_BYTES = 512 * 1024 * 1024,
};

#define NONE "-"

struct jobs_report {
	struct jobs_report_options o;
	size_t count;
	bool ledger_down; /* as some list says */
	char down_since[40];
	struct local_times times;
	struct table *table;
	struct buf text;	  /* names, or the list in JSON, */
	struct json_writer items; /* whose items are open */
};

/* ---- times ----------------------------------------------------------------------------------- */

/* Appends the time by the user's own clock: "14:05", and the day where that was another. The first time of the
 * answer names the zone. */
static void put_clock(struct jobs_report *r, int64_t at_ms, struct buf *out)
{
	struct short_times times = short_times_from(r->o.now_ms, &r->times);
	short_times_put(&times, at_ms, out);
}

/* Appends what is known of a start that has no time: "never" of a Job that could not start in an
 * empty cluster, "?" where none was worked out yet. */
static void put_no_time(const cJSON *status, struct buf *out)
{
	enum wait_reason reason = wait_reason_named(text_of(status, "reason"));
	bool waits = strcmp(text_of(status, "state"), "Waiting") == 0;
	if (waits && wait_reason_never_starts(reason))
		buf_puts(out, "never");
	else if (waits && json_object(status, "start") && !wait_reason_needs_change(reason))
		buf_puts(out, "over 30d");
	else if (waits && !truth_of(status, "noForecasts") && !wait_reason_needs_change(reason))
		buf_puts(out, "?");
	else
		buf_puts(out, NONE);
}

/* Appends the start: "in 3h12m" if time alone keeps the Job, "in about 3h12m" by the queue played
 * forward, "since 14:05" if it runs. */
static void put_start(struct jobs_report *r, const cJSON *status, struct buf *out)
{
	int64_t at_ms, now_ms = r->o.now_ms;
	if (instant_of(status, "startedAt", &at_ms)) {
		buf_puts(out, "since ");
		put_clock(r, at_ms, out);
	} else if (instant_of(status, "startAt", &at_ms)) {
		start_words_put(at_ms - now_ms, true, out);
	} else if (instant_of(json_object(status, "start"), "p50", &at_ms)) {
		start_words_put(at_ms - now_ms, false, out);
	} else {
		put_no_time(status, out);
	}
}

static void put_age(const cJSON *job, int64_t now_ms, struct buf *out)
{
	int64_t at_ms;
	bool known = instant_of(json_object(job, "metadata"), "creationTimestamp", &at_ms);
	buf_puts(out, known ? span_short(now_ms - at_ms).s : NONE);
}

/* ---- what it asks for ------------------------------------------------------------------------ */

/* Appends the requests: "4 pods: 16 cpu, 64Gi memory"; in the narrow table as many resources as fit
 * a line. */
static void put_asks(const cJSON *spec, bool wide, struct buf *out)
{
	const cJSON *requests = json_object(spec, "requests");
	int64_t pods = number_of(spec, "pods");
	size_t shown = 0, more = 0;
	if (json_get(spec, "pods"))
		buf_printf(out, "%" PRId64 " pod%s", pods, pods == 1 ? "" : "s");
	json_each(r, requests) {
		if (!wide && shown == RESOURCES_NARROW) {
			more++;
			continue;
		}
		buf_puts(out, shown > 0 ? ", " : out->len > 0 ? ": " : "");
		buf_printf(out, "%s %s", text_of(requests, r->string), r->string);
		shown++;
	}
	if (more > 0)
		buf_printf(out, " and %zu other resource%s", more, more == 1 ? "" : "s");
	if (out->len == 0)
		buf_puts(out, NONE);
}

/* Appends the message up to its first semicolon. It is cut when its times are the user's: half a
 * time would stay the server's. */
static void put_message(struct local_times *times, const cJSON *status, struct buf *out)
{
	char text[MESSAGE_BYTES + 4], first[CELL_BYTES];
	const char *message = text_of(status, "message");
	struct text cut = text_over(text, sizeof(text)), part = text_over(first, sizeof(first));
	struct buf local;
	buf_init(&local, 2 * CELL_BYTES);
	text_add(&part, "%.*s", (int)strcspn(message, ";\n"), message);
	local_times_add(times, first, &local);
	text_add_cut(&cut, buf_text(&local), MESSAGE_BYTES);
	buf_puts(out, text[0] ? text : NONE);
	buf_done(&local);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Adds text as a cell, and empties it. */
static void end_cell(struct table *t, enum colour colour, struct buf *text)
{
	table_cell(t, colour, buf_text(text));
	buf_reset(text);
}

static void put_text(struct table *t, enum colour colour, const cJSON *object, const char *key)
{
	table_cell_or_none(t, colour, text_of(object, key));
}

static void put_number(struct table *t, const cJSON *object, const char *key)
{
	if (json_get(object, key))
		table_count(t, number_of(object, key));
	else
		table_cell_right(t, COLOUR_NONE, NONE);
}

static enum colour colour_of(const cJSON *status)
{
	const char *state = text_of(status, "state");
	if (json_object(status, "trouble"))
		return COLOUR_RED;
	if (strcmp(state, "Running") == 0)
		return COLOUR_GREEN;
	return strcmp(state, "Stopping") == 0 || strcmp(state, "Deleting") == 0 ? COLOUR_YELLOW
										: COLOUR_NONE;
}

/* Adds what the Job waits for; of a run whose pods do not get on, what is in their way. */
static void put_waits_for(struct table *t, const cJSON *status)
{
	const char *trouble = text_of(json_object(status, "trouble"), "reason");
	if (*trouble)
		table_cell(t, COLOUR_RED, trouble);
	else
		put_text(t, COLOUR_NONE, status, "waitsFor");
}

static void put_row(struct jobs_report *r, const cJSON *job)
{
	const cJSON *spec = json_object(job, "spec"), *status = json_object(job, "status");
	bool wide = r->o.output == OUTPUT_WIDE;
	struct table *t = r->table;
	struct buf text;
	buf_init(&text, CELL_BYTES);
	if (r->o.namespaces)
		put_text(t, COLOUR_NONE, json_object(job, "metadata"), "namespace");
	put_text(t, COLOUR_BOLD, json_object(job, "metadata"), "name");
	put_text(t, COLOUR_NONE, spec, "queue");
	put_text(t, colour_of(status), status, "state");
	put_number(t, status, "position");
	put_number(t, spec, "priority");
	put_asks(spec, wide, &text);
	end_cell(t, COLOUR_NONE, &text);
	put_waits_for(t, status);
	put_start(r, status, &text);
	end_cell(t, COLOUR_NONE, &text);
	put_age(job, r->o.now_ms, &text);
	end_cell(t, COLOUR_NONE, &text);
	if (wide) {
		put_text(t, COLOUR_NONE, spec, "clusterQueue");
		put_text(t, COLOUR_NONE, spec, "submittedBy");
		put_message(&r->times, status, &text);
		end_cell(t, COLOUR_NONE, &text);
	}
	table_end_row(t);
	buf_done(&text);
}

static void put_head(struct jobs_report *r)
{
	bool wide = r->o.output == OUTPUT_WIDE;
	if (r->o.namespaces)
		table_cell(r->table, COLOUR_DIM, "NAMESPACE");
	table_head(r->table,
		wide ? "NAME|QUEUE|STATE|POSITION|PRIORITY|REQUESTS|WAITS FOR|START|AGE|CLUSTERQUEUE|SUBMITTED BY|MESSAGE"
		     : "NAME|QUEUE|STATE|POSITION|PRIORITY|REQUESTS|WAITS FOR|START|AGE");
}

/* ---- the report ------------------------------------------------------------------------------ */

struct jobs_report *jobs_report_new(const struct jobs_report_options *o)
{
	struct jobs_report *r = mem_alloc(sizeof(*r));
	*r = (struct jobs_report){.o = *o};
	buf_init(&r->text, JSON_MAX_BYTES);
	jobs_report_reset(r);
	return r;
}

void jobs_report_free(struct jobs_report *r)
{
	if (!r)
		return;
	table_free(r->table);
	buf_done(&r->text);
	free(r);
}

static struct json_writer begin_list(struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "apiVersion", VISIBILITY_GROUP "/" VISIBILITY_VERSION, "kind", "QueuedJobList",
		NULL);
	jw_object_of(&w, "metadata", NULL);
	jw_array(&w, "items");
	return w;
}

void jobs_report_reset(struct jobs_report *r)
{
	r->count = 0;
	r->ledger_down = false;
	r->times = (struct local_times){""};
	buf_reset(&r->text);
	if (r->o.output == OUTPUT_JSON)
		r->items = begin_list(&r->text);
	table_free(r->table);
	r->table = table_new(&r->o.style);
	put_head(r);
}

static void add_job(struct jobs_report *r, const cJSON *job)
{
	if (r->o.output == OUTPUT_JSON) {
		json_put(&r->items, NULL, job);
	} else if (r->o.output == OUTPUT_NAME) {
		buf_puts(&r->text, "job.batch/");
		text_render(text_of(json_object(job, "metadata"), "name"), &r->text);
		buf_putc(&r->text, '\n');
	} else {
		put_row(r, job);
	}
	r->count++;
	if (truth_of(json_object(job, "status"), "ledgerDown")) {
		r->ledger_down = true;
		snprintf(r->down_since, sizeof(r->down_since), "%s",
			text_of(json_object(job, "status"), "ledgerDownSince"));
	}
}

void jobs_report_add(struct jobs_report *r, const cJSON *list)
{
	json_each(job, json_array(list, "items"))
		if (job_states_have(r->o.states, text_of(json_object(job, "status"), "state")))
			add_job(r, job);
}

size_t jobs_report_count(const struct jobs_report *r)
{
	return r->count;
}

void jobs_report_render(const struct jobs_report *r, struct buf *out)
{
	struct local_times times = r->times;
	if (r->o.output == OUTPUT_JSON) {
		struct json_writer w = r->items;
		w.out = out;
		buf_add(out, buf_text(&r->text), r->text.len);
		jw_close(&w);
		buf_putc(out, '\n');
	} else if (r->o.output == OUTPUT_NAME) {
		buf_add(out, buf_text(&r->text), r->text.len);
	} else if (r->count > 0) {
		if (r->ledger_down) {
			ledger_down_put(r->down_since, &times, out);
			buf_putc(out, '\n');
		}
		table_render(r->table, out);
	}
}
