#include "cli/start/variants.h"

#include <inttypes.h>
#include <string.h>

#include "base/span.h"
#include "base/json_writer.h"
#include "cli/commands.h"
#include "base/flags.h"
#include "cli/hold_words.h"
#include "cli/short_times.h"
#include "cli/start/report.h"
#include "sluice/keys.h"
#include "sluice/queue.h"

enum { CELL_MAX_BYTES = 4096 };

static const cJSON *status_of(const cJSON *review)
{
	return json_object(review, "status");
}

static bool helps(const cJSON *variant)
{
	return truth_of(variant, "starts") || number_of(variant, "earlierSeconds") > 0;
}

/* ---- what to do ------------------------------------------------------------------------------ */

/* True for figures, names and durations: nothing that a shell takes for more than a text in
 * quotes. */
static bool is_plain(const char *text)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/ ";
	return *text && strspn(text, allowed) == strlen(text);
}

static bool is_number(const char *text)
{
	return *text && strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);
}

struct cure {
	const char *ns, *job, *to;
	struct buf *out;
};

static bool put_pods(const struct cure *c)
{
	if (!is_number(c->to))
		return false;
	buf_printf(c->out,
		"kubectl patch job %s -n %s --type merge -p '{\"spec\":{\"parallelism\":%s}}'",
		c->job, c->ns, c->to);
	return true;
}

static bool put_queue(const struct cure *c)
{
	if (flag_check_name("", c->to, NULL) < 0)
		return false;
	buf_printf(c->out, "sluice move job/%s --queue %s -n %s", c->job, c->to, c->ns);
	return true;
}

static bool put_class(const struct cure *c)
{
	if (flag_check_name("", c->to, NULL) < 0)
		return false;
	buf_printf(c->out, "sluice priority job/%s %s -n %s", c->job, c->to, c->ns);
	return true;
}

static bool put_annotation(const struct cure *c, const char *key)
{
	if (!is_plain(c->to))
		return false;
	buf_printf(c->out, "kubectl annotate job %s -n %s --overwrite '%s=%s'", c->job, c->ns, key,
		c->to);
	return true;
}

/* Offers to declare a duration, though a wrong one moves other Jobs' times and helps this one only
 * once. */
static bool put_duration(const struct cure *c)
{
	bool known = put_annotation(c, EXPECTED_ANNOTATION);
	if (known)
		buf_puts(c->out, "   # only if it takes no longer");
	return known;
}

static bool put_price(const struct cure *c)
{
	return put_annotation(c, MAX_PRICE_ANNOTATION);
}

/* Offers a toleration. The taints are the flavor's, which a user may not be allowed to read. */
static bool put_toleration(const struct cure *c)
{
	if (flag_check_name("", c->to, NULL) < 0)
		return false;
	buf_printf(c->out,
		"in its spec.template.spec.tolerations, tolerate the spec.nodeTaints of kubectl get resourceflavors.sluice.dev %s -o yaml",
		c->to);
	return true;
}

static bool put_node_labels(const struct cure *c)
{
	if (flag_check_name("", c->to, NULL) < 0)
		return false;
	buf_printf(c->out,
		"in its spec.template.spec.nodeSelector, match the spec.nodeLabels of kubectl get resourceflavors.sluice.dev %s -o yaml",
		c->to);
	return true;
}

bool start_variants_cure(const cJSON *variant, const char *ns, const char *job, struct buf *out)
{
	static const struct {
		const char *change;
		bool (*put)(const struct cure *c);
	} cures[] = {
		{"Pods", put_pods},
		{"LocalQueue", put_queue},
		{"PriorityClass", put_class},
		{"ExpectedDuration", put_duration},
		{"MaxPrice", put_price},
		{"Toleration", put_toleration},
		{"NodeLabels", put_node_labels},
	};
	const char *change = text_of(variant, "change");
	const struct cure c = {ns, job, text_of(variant, "to"), out};
	if (flag_check_namespace("", ns, NULL) < 0 || flag_check_name("", job, NULL) < 0)
		return false;
	for (size_t i = 0; i < sizeof(cures) / sizeof(*cures); i++)
		if (strcmp(cures[i].change, change) == 0)
			return cures[i].put(&c);
	return false;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Appends the gain: "40m earlier", "starts 14:10". */
static void put_gain(const cJSON *variant, struct short_times *times, struct buf *out)
{
	int64_t p50_ms;
	if (!truth_of(variant, "starts")) {
		buf_printf(out, "%s earlier",
			span_of_seconds((double)number_of(variant, "earlierSeconds")).s);
		return;
	}
	buf_puts(out, "starts");
	if (instant_of(json_object(variant, "start"), "p50", &p50_ms)) {
		buf_putc(out, ' ');
		times->day_ms = times->now_ms; /* a cell is read by itself */
		short_times_put(times, p50_ms, out);
	}
}

static void put_row(
	const cJSON *review, const cJSON *variant, struct short_times *times, struct table *t)
{
	const cJSON *meta = json_object(review, "metadata");
	struct buf cell;
	buf_init(&cell, CELL_MAX_BYTES);
	put_gain(variant, times, &cell);
	buf_printf(&cell, " %s", text_of(variant, "text"));
	table_cell(t, COLOUR_BOLD, buf_text(&cell));
	buf_reset(&cell);
	start_variants_cure(variant, text_of(meta, "namespace"), text_of(meta, "name"), &cell);
	table_cell(t, COLOUR_NONE, buf_text(&cell));
	table_end_row(t);
	buf_done(&cell);
}

static size_t put_helpful(
	const cJSON *review, struct short_times *times, const struct style *style, struct buf *out)
{
	struct table *t = table_new(style);
	size_t n = 0;
	json_each(v, json_array(status_of(review), "variants")) {
		if (!helps(v))
			continue;
		put_row(review, v, times, t);
		n++;
	}
	table_render(t, out);
	table_free(t);
	return n;
}

static void put_texts(
	const cJSON *list, bool (*leave_out)(const cJSON *), const char *head, struct buf *out)
{
	const char *before = head;
	json_each(v, list) {
		if (leave_out && leave_out(v))
			continue;
		buf_puts(out, before);
		text_render(text_of(v, "text"), out);
		before = "; ";
	}
	if (before != head)
		buf_puts(out, ".\n");
}

static void put_basis(const cJSON *status, int64_t now_ms, struct buf *out)
{
	int64_t draws = number_of(status, "draws"), as_of_ms;
	buf_putc(out, '\n');
	start_report_simulated(draws, out);
	buf_puts(out, " each");
	if (instant_of(status, "asOf", &as_of_ms))
		buf_printf(
			out, ", with the queue as it was %s ago", span_short(now_ms - as_of_ms).s);
	buf_puts(out, ". Nothing was changed.\n");
}

/* Returns the number of plays. An older controller writes it once, for all variants. */
static int64_t draws_of(const cJSON *start, const cJSON *status)
{
	int64_t draws = number_of(start, "draws");
	return draws > 0 ? draws : number_of(status, "draws");
}

/* Tells whether no simulation had a start since the Job is on hold: no change that is tried ends
 * that. */
static bool is_on_hold(const cJSON *review)
{
	const cJSON *status = status_of(review), *start = json_object(status, "start");
	return start && number_of(start, "misses") >= draws_of(start, status) &&
	       strcmp(text_of(start, "reason"), wait_reason_name(WAIT_HELD)) == 0;
}

void start_variants_render(
	const cJSON *review, int64_t now_ms, const struct style *style, struct buf *out)
{
	const cJSON *status = status_of(review), *variants = json_array(status, "variants");
	const cJSON *start = json_object(status, "start");
	struct local_times local = {""};
	struct short_times times = short_times_from(now_ms, &local);
	if (is_on_hold(review)) {
		hold_words_no_start(review, out);
		buf_putc(out, '\n');
		return;
	}
	if (start) {
		start_report_line_of(start, draws_of(start, status), &times, out);
		buf_puts(out, " (By its own simulations: sluice when may tell another time.)");
	} else {
		buf_puts(out, "No forecast.");
	}
	buf_puts(out, "\n\n");
	size_t helpful = put_helpful(review, &times, style, out);
	if (helpful > 0)
		put_texts(variants, helps, "Not earlier: ", out);
	else if (variants && variants->child)
		put_texts(variants, NULL, "Tried without gain: ", out);
	else
		buf_puts(out, "There is no change to try that could start the Job earlier.\n");
	put_texts(json_array(status, "notPlayed"), NULL, "Not tried: ", out);
	put_basis(status, now_ms, out);
}

void start_variants_json(const cJSON *review, struct buf *out)
{
	const cJSON *meta = json_object(review, "metadata");
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "namespace", text_of(meta, "namespace"), "name", text_of(meta, "name"), NULL);
	json_put_members(&w, status_of(review));
	jw_close(&w);
	buf_putc(out, '\n');
}
