#include "cli/past/story.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "cli/past/cells.h"
#include "queue/price/money.h"
#include "sluice/quantity.h"

enum { DAY_CHARACTERS = 10 }; /* "2026-11-21" */

struct story {
	const cJSON *root;
	struct local_times *times;
	char day[DAY_CHARACTERS + 1]; /* the day that was written last in this paragraph */
	struct buf *out;
};

/* The runs of one Job, the oldest first. */
struct runs {
	const cJSON **run;
	size_t n;
};

static void put_raw(struct story *s, const char *text)
{
	text_render(text, s->out);
}

/* Appends a moment of a run, with its day where that is another than the one before. */
static void put_time(struct story *s, const char *at)
{
	struct buf text;
	buf_init(&text, RUN_TEXT_MAX);
	local_times_add(s->times, at, &text);
	const char *shown = buf_text(&text);
	bool same = s->day[0] && strncmp(shown, s->day, DAY_CHARACTERS) == 0 &&
		    shown[DAY_CHARACTERS] == ' ';
	snprintf(s->day, sizeof(s->day), "%.*s", DAY_CHARACTERS, shown);
	put_raw(s, same ? shown + DAY_CHARACTERS + 1 : shown);
	buf_done(&text);
}

/* ---- one run --------------------------------------------------------------------------------- */

static void put_flavors(struct story *s, const cJSON *run)
{
	const cJSON *flavors = json_array(run, "flavors");
	const char *before =
		flavors && flavors->child && flavors->child->next ? " in flavors " : " in flavor ";
	json_each(flavor, flavors) {
		if (!cJSON_IsString(flavor))
			continue;
		buf_puts(s->out, before);
		put_raw(s, flavor->valuestring);
		before = ", ";
	}
}

/* Appends " with 4 cpu, 64Gi memory in all": the ledger counts cpu in cores, all else in whole units. */
static void put_holds(struct story *s, const cJSON *run)
{
	const char *before = " with ";
	char text[400];
	json_each(held, json_object(run, "holds")) {
		bool milli = quantity_unit_of(held->string) == QUANTITY_MILLI;
		double amount = held->valuedouble * (milli ? 1000 : 1);
		if (!cJSON_IsNumber(held) || !(fabs(amount) < 9e18))
			continue;
		quantity_describe((int64_t)llround(amount), held->string, text, sizeof(text));
		buf_puts(s->out, before);
		put_raw(s, text);
		before = ", ";
	}
	buf_puts(s->out, *before == ',' ? " in all" : "");
}

/* Appends "queued ..., started ... after 2s in flavor spot with 4 cpu in all". */
static void put_start(struct story *s, const cJSON *run, const char *clusterqueue)
{
	bool queued = text_of(run, "queuedAt")[0] != '\0';
	bool started = text_of(run, "startedAt")[0] != '\0';
	if (queued) {
		buf_puts(s->out, "queued ");
		put_time(s, text_of(run, "queuedAt"));
		buf_puts(s->out, ", ");
	}
	buf_puts(s->out, started ? "started " : "got quota ");
	put_time(s, text_of(run, started ? "startedAt" : "reservedAt"));
	if (json_get(run, "waitSeconds"))
		buf_printf(s->out, " after %s", span_of_seconds(past_figure(run, "waitSeconds")).s);
	put_flavors(s, run);
	put_holds(s, run);
	if (strcmp(text_of(run, "clusterQueue"), clusterqueue) != 0) {
		buf_puts(s->out, ", in ClusterQueue ");
		put_raw(s, text_of(run, "clusterQueue"));
	}
}

static void put_colon_reason(struct story *s, const cJSON *run)
{
	struct buf text;
	buf_init(&text, RUN_TEXT_MAX);
	past_run_reason(run, &text);
	if (text.len > 0) {
		buf_puts(s->out, ": ");
		put_raw(s, buf_text(&text));
	}
	buf_done(&text);
}

static void put_ended(struct story *s, const cJSON *run)
{
	const char *reason = text_of(run, "reason");
	bool finished = strcmp(reason, "Finished") == 0, failed = strcmp(reason, "Failed") == 0;
	buf_puts(s->out, finished ? "finished " : failed ? "failed " : "stopped ");
	put_time(s, text_of(run, "stoppedAt"));
	buf_printf(s->out, " after %s", span_of_seconds(past_figure(run, "runSeconds")).s);
	if (!finished && !failed)
		put_colon_reason(s, run);
}

static void put_end(struct story *s, const cJSON *run)
{
	if (past_run_is(run, "Reserved")) {
		buf_puts(s->out, "starting");
	} else if (past_run_is(run, "Running")) {
		buf_printf(s->out, "running for %s so far",
			span_of_seconds(past_figure(run, "runSeconds")).s);
	} else if (past_run_is(run, "Stopping")) {
		buf_puts(s->out, "stopping since ");
		put_time(s, text_of(run, "stoppingAt"));
		put_colon_reason(s, run);
		buf_puts(s->out, "; its own pods have not ended yet");
	} else {
		put_ended(s, run);
	}
}

static void put_price(struct story *s, const cJSON *run)
{
	struct buf cost;
	buf_init(&cost, RUN_TEXT_MAX);
	past_run_cost(run, &cost);
	if (past_figure(run, "lostSeconds") > 0)
		buf_printf(s->out, "; %s of pod time lost",
			span_of_seconds(past_figure(run, "lostSeconds")).s);
	if (cost.len > 0) {
		buf_puts(s->out, "; cost ");
		put_raw(s, buf_text(&cost));
	}
	if (truth_of(run, "estimated"))
		buf_puts(s->out, "; its times are estimated");
	buf_done(&cost);
}

static void put_run(struct story *s, const cJSON *run, const char *clusterqueue)
{
	char label[48];
	int indent =
		snprintf(label, sizeof(label), "  run %" PRId64 ": ", number_of(run, "attempt"));
	s->day[0] = '\0';
	buf_puts(s->out, label);
	put_start(s, run, clusterqueue);
	buf_printf(s->out, "\n%*s", indent, "");
	put_end(s, run);
	put_price(s, run);
	buf_putc(s->out, '\n');
}

/* ---- one Job --------------------------------------------------------------------------------- */

static void put_head(struct story *s, const cJSON *newest)
{
	buf_puts(s->out, "Job ");
	put_raw(s, text_of(newest, "namespace"));
	buf_putc(s->out, '/');
	put_raw(s, text_of(newest, "job"));
	buf_puts(s->out, " (uid ");
	put_raw(s, text_of(newest, "uid"));
	if (text_of(newest, "submittedBy")[0]) {
		buf_puts(s->out, ", submitted by ");
		put_raw(s, text_of(newest, "submittedBy"));
	}
	buf_puts(s->out, "), ClusterQueue ");
	put_raw(s, text_of(newest, "clusterQueue"));
	buf_puts(s->out, ":\n");
}

static double sum_of(const struct runs *r, const char *key)
{
	double sum = 0;
	for (size_t i = 0; i < r->n; i++)
		sum += fmax(0, past_figure(r->run[i], key));
	return sum;
}

/* Sums the cost of the runs with the currency of run i. False: an earlier run has it, or i has
 * none. */
static bool sum_cost(const struct runs *r, size_t i, int64_t *ret_micro)
{
	const char *currency = text_of(r->run[i], "currency");
	*ret_micro = 0;
	for (size_t k = 0; k < r->n; k++) {
		int64_t micro;
		if (strcmp(text_of(r->run[k], "currency"), currency) != 0)
			continue;
		if (k < i || !*currency)
			return false;
		if (money_parse(slice_of(text_of(r->run[k], "cost")), &micro, NULL) == 0)
			*ret_micro = money_add(*ret_micro, micro);
	}
	return true;
}

static void put_costs(struct story *s, const struct runs *r)
{
	const char *before = ", cost ";
	for (size_t i = 0; i < r->n; i++) {
		char text[MONEY_TEXT_SIZE];
		int64_t micro;
		if (!sum_cost(r, i, &micro))
			continue;
		money_short(micro, text);
		buf_printf(s->out, "%s%s ", before, text);
		put_raw(s, text_of(r->run[i], "currency"));
		before = " and ";
	}
}

static const char *fate(const cJSON *last)
{
	static const struct {
		const char *key, *value, *words;
	} rows[] = {{"outcome", "Succeeded", "the Job succeeded"},
		{"outcome", "Failed", "the Job failed"},
		{"outcome", "Deleted", "the Job was deleted"},
		{"state", "Reserved", "the Job is about to start"},
		{"state", "Running", "the Job runs"},
		{"state", "Stopping", "the Job is being stopped"}};
	bool failed = strcmp(text_of(last, "outcome"), "Failed") == 0;
	if (failed && strcmp(text_of(last, "reason"), "Failed") != 0)
		return "the Job ended with this stop, and did not succeed";
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(text_of(last, rows[i].key), rows[i].value) == 0)
			return rows[i].words;
	return "no run is active; sluice explain tells whether it waits";
}

static void put_sums(struct story *s, const struct runs *r)
{
	double lost = sum_of(r, "lostSeconds");
	buf_printf(s->out, "  in all: %zu run%s, waited %s, ran %s", r->n, r->n == 1 ? "" : "s",
		span_of_seconds(sum_of(r, "waitSeconds")).s,
		span_of_seconds(sum_of(r, "runSeconds")).s);
	if (lost > 0)
		buf_printf(s->out, ", %s of pod time lost", span_of_seconds(lost).s);
	put_costs(s, r);
	buf_printf(s->out, "; %s.\n", fate(r->run[r->n - 1]));
	if (number_of(r->run[0], "attempt") > 1 && !truth_of(s->root, "more"))
		buf_printf(s->out,
			"  Runs before run %" PRId64
			" are not shown: they ended before --since, were cancelled, or are no longer kept.\n",
			number_of(r->run[0], "attempt"));
}

static void put_job(struct story *s, const struct runs *r)
{
	const cJSON *newest = r->run[r->n - 1];
	put_head(s, newest);
	for (size_t i = 0; i < r->n; i++)
		put_run(s, r->run[i], text_of(newest, "clusterQueue"));
	put_sums(s, r);
}

/* ---- all that had the name ------------------------------------------------------------------- */

static struct runs oldest_first(const cJSON *list)
{
	struct runs all = {.n = 0};
	json_each(run, list)
		all.n++;
	all.run = mem_array(all.n + 1, sizeof(*all.run));
	size_t i = all.n;
	json_each(run, list)
		all.run[--i] = run;
	return all;
}

static bool is_same_job(const cJSON *a, const cJSON *b)
{
	return strcmp(text_of(a, "uid"), text_of(b, "uid")) == 0;
}

void past_story_put(const cJSON *root, struct local_times *times, struct buf *out)
{
	struct story s = {.root = root, .times = times, .out = out};
	struct runs all = oldest_first(json_array(root, "runs"));
	struct runs one = {.run = mem_array(all.n + 1, sizeof(*one.run))};
	for (size_t i = 0, told = 0; told < all.n; i++) {
		if (!all.run[i]) /* told with its Job */
			continue;
		const cJSON *first = all.run[i];
		one.n = 0;
		for (size_t k = i; k < all.n; k++)
			if (all.run[k] && is_same_job(all.run[k], first)) {
				one.run[one.n++] = all.run[k];
				all.run[k] = NULL;
			}
		buf_puts(out, told > 0 ? "\n" : "");
		put_job(&s, &one);
		told += one.n;
	}
	free(one.run);
	free(all.run);
}
