#include "cli/start/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/span.h"
#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/hold_words.h"
#include "cli/local_times.h"
#include "cli/short_times.h"
#include "sluice/queue.h"

#define HORIZON "30 days" /* length of a simulation */

enum { SENTENCE_MAX_BYTES = 1 << 20 };

static const cJSON *status_of(const cJSON *job)
{
	return json_object(job, "status");
}

static const cJSON *start_of(const cJSON *job)
{
	return json_object(status_of(job), "start");
}

static bool is_waiting(const cJSON *job)
{
	return strcmp(text_of(status_of(job), "state"), "Waiting") == 0;
}

bool start_report_is_to_come(const cJSON *job)
{
	return is_waiting(job) && !start_of(job) && !hold_words_apply(job) &&
	       !truth_of(status_of(job), "noForecasts");
}

/* ---- sentences ------------------------------------------------------------------------------- */

static void put_never(const cJSON *start, struct buf *out)
{
	const char *waits_for = text_of(start, "waitsFor");
	bool as_it_is = wait_reason_needs_change(wait_reason_named(text_of(start, "reason")));
	buf_puts(out, as_it_is ? "No start as things are" : "No start expected within " HORIZON);
	if (*waits_for) {
		buf_puts(out, ": ");
		text_render(waits_for, out);
	}
}

/* Tells that the Job starts in some of the simulations, and not in all. */
static void put_misses(const cJSON *start, int64_t draws, struct buf *out)
{
	buf_printf(out,
		"; in %" PRId64 " of %" PRId64 " simulations it did not start within " HORIZON,
		number_of(start, "misses"), draws);
}

static void put_middle(struct short_times *t, const cJSON *start, struct buf *out)
{
	int64_t p10_ms, p50_ms;
	if (instant_of(start, "p50", &p50_ms) && p50_ms <= t->now_ms) {
		buf_puts(out, "Expected to start any moment");
	} else if (instant_of(start, "p50", &p50_ms)) {
		buf_puts(out, "Expected start ");
		short_times_put(t, p50_ms, out);
	} else if (instant_of(start, "p10", &p10_ms)) {
		buf_puts(out, "Probably no start before ");
		short_times_put(t, p10_ms, out);
	} else {
		buf_puts(out, "A start is unlikely");
	}
}

void start_report_line_of(
	const cJSON *start, int64_t draws, struct short_times *times, struct buf *out)
{
	int64_t p90_ms;
	if (number_of(start, "misses") >= draws) {
		put_never(start, out);
	} else {
		put_middle(times, start, out);
		if (instant_of(start, "p90", &p90_ms) && p90_ms > times->now_ms) {
			buf_puts(out, ", 90 % sure by ");
			short_times_put(times, p90_ms, out);
		} else if (number_of(start, "misses") > 0) {
			put_misses(start, draws, out);
		}
	}
	buf_putc(out, '.');
}

void start_report_line(const cJSON *start, struct short_times *times, struct buf *out)
{
	start_report_line_of(start, number_of(start, "draws"), times, out);
}

bool start_report_moved(const cJSON *start, struct short_times *times, struct buf *out)
{
	const cJSON *moved = json_object(start, "moved");
	int64_t from_ms, at_ms;
	if (!instant_of(moved, "from", &from_ms) || !instant_of(moved, "at", &at_ms))
		return false;
	times->day_ms = times->now_ms; /* both times are compared with now, not with each other */
	buf_puts(out, "Until ");
	short_times_put(times, at_ms, out);
	times->day_ms = times->now_ms;
	buf_puts(out, " the expected start was ");
	short_times_put(times, from_ms, out);
	buf_putc(out, '.');
	if (*text_of(moved, "why")) {
		buf_puts(out, " Since then: ");
		text_render(text_of(moved, "why"), out);
		buf_putc(out, '.');
	}
	return true;
}

void start_report_simulated(int64_t times, struct buf *out)
{
	if (times == 1)
		buf_puts(out, "Simulated once");
	else
		buf_printf(out, "Simulated %" PRId64 " times", times);
}

/* Tells what the figure is worth. */
static void put_basis(const cJSON *start, int64_t now_ms, struct buf *out)
{
	const cJSON *basis = json_object(start, "basis");
	int64_t runs = number_of(basis, "runs"), arrivals = number_of(basis, "arrivals"), as_of_ms;
	start_report_simulated(number_of(start, "draws"), out);
	if (instant_of(start, "asOf", &as_of_ms))
		buf_printf(
			out, ", with the queue as it was %s ago", span_short(now_ms - as_of_ms).s);
	if (runs > 0)
		buf_printf(out,
			". Run times are drawn from %" PRId64 " earlier run%s of all queues", runs,
			runs == 1 ? "" : "s");
	else
		buf_puts(out,
			".\nNo run has ended yet, so each is assumed to last as long as its Job says, or one hour");
	if (arrivals > 0)
		buf_printf(out,
			"; new Jobs are assumed to arrive like the last %" PRId64 " that came",
			arrivals);
	else
		buf_puts(out, "; Jobs that may still arrive are left out");
	buf_puts(out, ".\n");
}

static void put_move(const cJSON *start, struct short_times *times, struct buf *out)
{
	struct buf line;
	buf_init(&line, SENTENCE_MAX_BYTES);
	if (start_report_moved(start, times, &line)) {
		buf_putc(out, '\n');
		buf_puts(out, buf_text(&line));
	}
	buf_done(&line);
}

void start_report_render(const cJSON *job, int64_t now_ms, struct buf *out)
{
	const cJSON *start = hold_words_apply(job) ? NULL : start_of(job);
	struct local_times local = {""};
	struct short_times times = short_times_from(now_ms, &local);
	if (!is_waiting(job)) {
		buf_puts(out, "The Job is not waiting.");
	} else if (hold_words_apply(job)) {
		hold_words_no_start(job, out);
	} else if (!start && truth_of(status_of(job), "noForecasts")) {
		buf_puts(out, "No forecast: this controller simulates none (--forecasts off).");
	} else if (!start) {
		buf_puts(out, "No forecast yet: ask again in a moment.");
	} else {
		start_report_line(start, &times, out);
	}
	put_move(is_waiting(job) ? start : NULL, &times, out);
	buf_puts(out, "\n\n");
	hold_words_message(job, hold_words_apply(job), &local, out);
	buf_putc(out, '\n');
	if (is_waiting(job) && start)
		put_basis(start, now_ms, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void start_report_json(const cJSON *job, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	const cJSON *meta = json_object(job, "metadata"), *status = status_of(job);
	jw_texts(&w, "namespace", text_of(meta, "namespace"), "name", text_of(meta, "name"),
		"state", text_of(status, "state"), "reason", text_of(status, "reason"), "message",
		text_of(status, "message"), NULL);
	if (text_of(status, "startAt")[0])
		jw_text(&w, "startAt", text_of(status, "startAt"));
	json_put(&w, "start", is_waiting(job) ? start_of(job) : NULL);
	jw_close(&w);
	buf_putc(out, '\n');
}
