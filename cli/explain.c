#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "base/span.h"
#include "cli/arguments.h"
#include "cli/cents.h"
#include "cli/commands.h"
#include "cli/explain/answer.h"
#include "cli/hold_words.h"
#include "cli/local_times.h"
#include "cli/queue/object.h"
#include "cli/question.h"
#include "cli/short_times.h"
#include "cli/start/report.h"
#include "cli/unlisted_job.h"
#include "controller/common/path.h"
#include "controller/common/clock.h"
#include "sluice/quantity.h"
#include "sluice/queue.h"

enum {
	TREE_MAX_BYTES = 512 * 1024 * 1024,
	OUTPUT_MAX_BYTES = 1024 * 1024,
	STORY_MAX_BYTES = 65536,
	FORECAST_SAME_MS = 300000
};

/* ---- words ----------------------------------------------------------------------------------- */

/* Appends " (12m ago)" for a time in RFC 3339, else nothing. */
static void put_age(const char *at, int64_t now_ms, struct buf *out)
{
	int64_t at_ms;
	if (instant_parse(slice_of(at), &at_ms))
		buf_printf(out, " (%s ago)", span_short(now_ms - at_ms).s);
}

static void put_label(struct table *t, const char *label)
{
	table_cellf(t, COLOUR_DIM, "  %s", label);
}

static const cJSON *spec_of(const cJSON *job)
{
	return json_object(job, "spec");
}

static const cJSON *status_of(const cJSON *job)
{
	return json_object(job, "status");
}

#define NOT_WAITING "QuotaReserved" /* the reason of a Job that does not wait */

static bool is_waiting(const cJSON *job)
{
	const char *reason = text_of(status_of(job), "reason");
	return reason[0] ? strcmp(reason, NOT_WAITING) != 0
			 : strcmp(text_of(status_of(job), "state"), "Waiting") == 0;
}

/* Adds a row for an object of the chain. strategy: that of an active ClusterQueue; "": none. */
static void put_link(struct table *t, struct local_times *l, const char *name, const cJSON *q,
	bool hides, const char *strategy)
{
	struct queue_verdict v = queue_object_verdict(q);
	struct buf says;
	buf_init(&says, OUTPUT_MAX_BYTES);
	table_cell(t, COLOUR_BOLD, name[0] ? name : "(none)");
	if (hides)
		table_cell(t, COLOUR_DIM, "(cannot be read)");
	else if (!q)
		table_cell(t, COLOUR_RED, "does not exist");
	else if (v.active)
		table_cellf(t, COLOUR_GREEN, "active%s%s", strategy[0] ? ", " : "", strategy);
	else {
		buf_printf(&says, "%s: %s", v.reason, v.message);
		local_times_cell(l, t, COLOUR_RED, buf_text(&says));
	}
	table_end_row(t);
	buf_done(&says);
}

static void put_chain(const cJSON *job, const struct explain_queues *queues, struct table *t,
	struct local_times *l)
{
	const char *local = text_of(spec_of(job), "queue");
	const char *cluster = text_of(spec_of(job), "clusterQueue");
	put_label(t, "LocalQueue");
	put_link(t, l, local, queues->local, queues->hides_local, "");
	if (!cluster[0])
		return;
	put_label(t, "ClusterQueue");
	put_link(t, l, cluster, queues->cluster, queues->hides_cluster,
		queue_object_strategy(queues->cluster));
}

/* Appends the priority that counts, and the claimed one where it is higher. */
static void put_priority(const cJSON *job, struct buf *out)
{
	const cJSON *spec = spec_of(job);
	int64_t counts = number_of(spec, "priority"), claims = number_of(spec, "claimedPriority");
	buf_printf(out, "priority %" PRId64, counts);
	if (json_get(spec, "claimedPriority") && claims > counts)
		buf_printf(out, " (claims %" PRId64 ", ClusterQueue %s caps at %" PRId64 ")",
			claims, text_of(spec, "clusterQueue"), counts);
}

static void put_position(const cJSON *job, int64_t now_ms, struct table *t, struct local_times *l)
{
	const cJSON *status = status_of(job);
	int64_t position = number_of(status, "position");
	bool waiting = is_waiting(job);
	const char *queued = text_of(status, "queuedAt");
	struct buf text;
	buf_init(&text, 512);
	put_label(t, "position");
	if (position > 0)
		table_cellf(
			t, COLOUR_BOLD, "%" PRId64 ", %" PRId64 " ahead", position, position - 1);
	else
		table_cell(t, COLOUR_BOLD, waiting ? "not in line" : "not waiting");
	put_priority(job, &text);
	if (queued[0]) {
		buf_printf(&text, ", queued %s", queued);
		put_age(queued, now_ms, &text);
	}
	if (text_of(status, "startAt")[0])
		buf_printf(&text, ", cannot start before %s", text_of(status, "startAt"));
	local_times_cell(l, t, COLOUR_NONE, buf_text(&text));
	table_end_row(t);
	put_label(t, "state");
	table_cell(t, COLOUR_BOLD, text_of(status, "state"));
	table_cell(t, COLOUR_NONE, waiting ? text_of(status, "reason") : "");
	table_end_row(t);
	buf_done(&text);
}

/* Returns status.start, which is there where the queue was played forward lately (sluice when
 * waits for that). */
static const cJSON *forecast_of(const cJSON *job)
{
	bool may_start = is_waiting(job) && !hold_words_apply(job);
	return may_start ? json_object(status_of(job), "start") : NULL;
}

/* True if the forecast adds to the sentence: it says when. Where time alone decides, the sentence
 * and the position say so already. */
static bool forecast_adds(const cJSON *job)
{
	int64_t start_ms, not_before_ms;
	if (!instant_of(forecast_of(job), "p50", &start_ms))
		return false;
	return !instant_of(status_of(job), "startAt", &not_before_ms) ||
	       start_ms - not_before_ms > FORECAST_SAME_MS;
}

/* Tells whether the sentence names other Jobs, so that a start must say whose it is. */
static bool waits_for_jobs(const cJSON *job)
{
	return strcmp(text_of(status_of(job), "reason"), wait_reason_name(WAIT_DEPENDENCY)) == 0;
}

/* Appends ". Expected start 16:30 CET, 90 % sure by 18:00." */
static void put_likely_start(const cJSON *job, struct short_times *times, struct buf *out)
{
	if (!forecast_adds(job))
		return;
	buf_puts(out, ". ");
	if (waits_for_jobs(job)) {
		text_render(text_of(json_object(job, "metadata"), "name"), out);
		buf_puts(out, ": ");
	}
	start_report_line(forecast_of(job), times, out);
}

static void put_forecast_row(
	struct table *t, const char *label, const char *value, const struct buf *says)
{
	put_label(t, label);
	table_cell(t, COLOUR_BOLD, value);
	table_cell(t, COLOUR_NONE, buf_text(says));
	table_end_row(t);
}

/* Adds the start, where the first line does not say it. */
static void put_start(const cJSON *job, struct short_times *times, struct table *t)
{
	const cJSON *start = forecast_of(job);
	struct buf line;
	buf_init(&line, OUTPUT_MAX_BYTES);
	if (start && !forecast_adds(job)) {
		start_report_line(start, times, &line);
		put_forecast_row(t, "starts", "forecast", &line);
	}
	buf_reset(&line);
	if (start_report_moved(start, times, &line))
		put_forecast_row(t, "moved", "forecast", &line);
	buf_done(&line);
}

/* Adds a row of one name and one sentence, in red when it is bad news. */
static void put_row(struct table *t, struct local_times *l, const char *label, const char *value,
	bool bad, const struct buf *says)
{
	put_label(t, label);
	local_times_cell(l, t, bad ? COLOUR_RED : COLOUR_BOLD, value);
	local_times_cell(l, t, COLOUR_NONE, buf_text(says));
	table_end_row(t);
}

static const char *source_words(const char *from)
{
	static const struct {
		const char *from, *words;
	} all[] = {{"Annotation", "as annotation sluice.dev/expected-duration says"},
		{"ActiveDeadlineSeconds", "at most, by activeDeadlineSeconds"},
		{"History", "95 % of its earlier runs took no longer"}};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(from, all[i].from) == 0)
			return all[i].words;
	return from;
}

/* Adds how long the Job takes, by when it must end, and when it will be stopped. */
static void put_terms(const cJSON *job, struct table *t, struct local_times *l)
{
	const cJSON *status = status_of(job);
	int64_t expected_s = number_of(status, "expectedSeconds");
	struct buf says;
	buf_init(&says, 512);
	if (expected_s > 0) {
		struct span_text span = span_exact(quantity_times(expected_s, 1000));
		buf_puts(&says, source_words(text_of(status, "expectedFrom")));
		put_row(t, l, "duration", span.s, false, &says);
	}
	buf_reset(&says);
	if (text_of(status, "deadline")[0]) {
		bool late = truth_of(status, "deadlineUnreachable");
		buf_puts(&says,
			!late ? ""
			: is_waiting(job)
				? "DeadlineUnreachable: even from its earliest start, the Job would end later"
				: "DeadlineUnreachable: the Job is expected to end later");
		put_row(t, l, "deadline", text_of(status, "deadline"), late, &says);
	}
	buf_reset(&says);
	if (text_of(status, "stopsAt")[0]) {
		buf_puts(&says, "when its window closes; then the Job waits for the next window");
		put_row(t, l, "stops", text_of(status, "stopsAt"), false, &says);
	}
	buf_done(&says);
}

/* Adds what keeps the Job's pods; the sentence above has the message and the cure. */
static void put_trouble(const cJSON *job, int64_t now_ms, struct table *t, struct local_times *l)
{
	const cJSON *x = json_object(status_of(job), "trouble");
	struct buf says;
	if (!x)
		return;
	buf_init(&says, 512);
	buf_printf(&says, "%" PRId64 " of %" PRId64 " pods, since %s", number_of(x, "pods"),
		number_of(x, "of"), text_of(x, "since"));
	put_age(text_of(x, "since"), now_ms, &says);
	put_row(t, l, "trouble", text_of(x, "reason"), true, &says);
	buf_done(&says);
}

static void put_bill(const cJSON *job, struct table *t, struct local_times *l)
{
	const cJSON *bill = json_object(status_of(job), "bill");
	const char *currency = text_of(bill, "currency"), *whole = text_of(bill, "expectedCost");
	struct buf so_far, says;
	if (!bill)
		return;
	buf_init(&so_far, 512);
	buf_init(&says, 1024);
	buf_printf(&so_far, "%s %s", cents_of(text_of(bill, "cost")).s, currency);
	buf_printf(&says, "so far, and %s an hour by PricePlan %s",
		cents_of(text_of(bill, "perHour")).s, text_of(bill, "plan"));
	if (whole[0])
		buf_printf(&says, "; %s expected for the whole run", cents_of(whole).s);
	put_row(t, l, "cost", buf_text(&so_far), false, &says);
	buf_done(&so_far);
	buf_done(&says);
}

#define GROWN "Grown"

/* Names what was done last. A reason stands beside the start where a run lost or got pods, or was
 * adopted. */
static const char *last_deed(const cJSON *story)
{
	const char *state = text_of(story, "state"), *reason = text_of(story, "reason");
	if (strcmp(state, "Started") != 0 || !*reason || strcmp(reason, "Adopted") == 0)
		return state;
	return strcmp(reason, GROWN) == 0 ? GROWN : "Shrunk";
}

static void put_last(const cJSON *job, int64_t now_ms, struct table *t, struct local_times *l)
{
	struct json *tree = json_new(STORY_MAX_BYTES);
	const cJSON *story;
	if (json_parse(tree, slice_of(text_of(status_of(job), "story")), &story, NULL) == 0) {
		struct buf text;
		buf_init(&text, STORY_MAX_BYTES);
		const char *deed = last_deed(story), *reason = text_of(story, "reason");
		bool resized = strcmp(deed, text_of(story, "state")) != 0;
		put_label(t, "last");
		table_cell(t, COLOUR_BOLD, deed);
		buf_printf(&text, "attempt %" PRId64 ", %s", number_of(story, "attempt"),
			text_of(story, "at"));
		put_age(text_of(story, "at"), now_ms, &text);
		if (resized && number_of(story, "pods") > 0)
			buf_printf(&text, ": it goes on with %" PRId64 " pod%s",
				number_of(story, "pods"), number_of(story, "pods") == 1 ? "" : "s");
		if (*reason && strcmp(deed, GROWN) != 0)
			buf_printf(&text, ": %s", reason);
		if (text_of(story, "preemptor")[0])
			buf_printf(&text, " for %s", text_of(story, "preemptor"));
		if (text_of(story, "message")[0])
			buf_printf(&text, ": %s", text_of(story, "message"));
		if (text_of(story, "trouble")[0])
			buf_printf(&text, "; %s", text_of(story, "trouble"));
		local_times_cell(l, t, COLOUR_NONE, buf_text(&text));
		table_end_row(t);
		buf_done(&text);
	}
	json_free(tree);
}

static void lead_quota(struct table *t, bool first, const cJSON *q, const void *ctx)
{
	(void)q, (void)ctx;
	put_label(t, first ? "quota" : "");
}

void explain_render(const cJSON *job, const struct explain_queues *queues, int64_t now_ms,
	const struct style *style, struct buf *out)
{
	struct local_times times = {""};
	struct short_times starts = short_times_from(now_ms, &times);
	hold_words_message(job, false, &times, out);
	put_likely_start(job, &starts, out);
	buf_puts(out, "\n\n");
	struct table *chain = table_new(style);
	if (queues)
		put_chain(job, queues, chain, &times);
	put_position(job, now_ms, chain, &times);
	put_start(job, &starts, chain);
	put_terms(job, chain, &times);
	put_trouble(job, now_ms, chain, &times);
	put_bill(job, chain, &times);
	if (text_of(status_of(job), "story")[0])
		put_last(job, now_ms, chain, &times);
	table_render(chain, out);
	table_free(chain);
	if (queues && queues->cluster) {
		struct table *quota = table_new(style);
		queue_object_quotas(quota, queues->cluster, style, lead_quota, NULL);
		buf_putc(out, '\n');
		table_render(quota, out);
		table_free(quota);
	}
}

/* ---- a Job that Sluice does not have ------------------------------------------------------------ */

struct looked_up {
	const char *name;
	struct json *json;
	/* the Job; where there is none its Events; NULL: those may not be read */
	const cJSON *found;
};

/* Looks up the Job, or its Events. ERR_GONE: there is no such Job. */
static int look_up(struct ev_loop *loop, struct kube_client *client, const char *ns,
	struct looked_up *l, struct err *e)
{
	struct buf path;
	int rc = question_job(loop, client, ns, l->name, l->json, &l->found, e);
	if (rc != ERR_GONE)
		return rc;
	l->found = NULL;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path,
		"/api/v1/namespaces/%s/events?limit=500&fieldSelector=involvedObject.kind%3DJob%2CinvolvedObject.name%3D%s",
		ns, l->name);
	if (question_ask(loop, client, buf_text(&path), l->json, &l->found, NULL) < 0)
		l->found = NULL;
	buf_done(&path);
	return rc;
}

static void put_unlisted(
	const cJSON *job, const struct explain_question *of, enum output output, struct buf *out)
{
	enum unlisted_job x = unlisted_job_judge(job);
	struct buf sentence;
	buf_init(&sentence, OUTPUT_MAX_BYTES);
	unlisted_job_tell(x, job, of->ns, of->name, &sentence);
	if (output == OUTPUT_JSON) {
		struct json_writer w = json_writer_object(out);
		jw_object_of(&w, "metadata", "name", of->name, "namespace", of->ns, NULL);
		jw_object_of(&w, "status", "state", unlisted_job_name(x), "message",
			buf_text(&sentence), NULL);
		jw_close(&w);
		buf_putc(out, '\n');
	} else {
		local_times_render(&(struct local_times){""}, buf_text(&sentence), out);
		buf_putc(out, '\n');
	}
	buf_done(&sentence);
}

static void say_absent(const char *sentence, struct err *said)
{
	struct buf local;
	buf_init(&local, OUTPUT_MAX_BYTES);
	local_times_add(&(struct local_times){""}, sentence, &local);
	err_set(said, ERR_GONE, "%s", buf_text(&local));
	buf_done(&local);
}

/* Explains a Job that Sluice does not have. said: what Sluice answered; it is all there is to say
 * where the user may not read the Job. */
static int explain_unlisted(struct ev_loop *loop, struct kube_client *client,
	const struct arguments *a, const struct explain_question *of, struct err *said)
{
	struct looked_up l = {.name = of->name, .json = json_new(TREE_MAX_BYTES)};
	struct buf text;
	struct err e;
	buf_init(&text, OUTPUT_MAX_BYTES);
	int rc = look_up(loop, client, of->ns, &l, &e);
	if (rc == ERR_GONE) {
		unlisted_job_tell_absent(l.found, of->ns, of->name, &text);
		say_absent(buf_text(&text), said);
	}
	int exit_code = CLI_OK;
	if (rc == 0) {
		put_unlisted(l.found, of, a->output, &text);
		command_print(a->watch, buf_text(&text));
	} else {
		exit_code = command_fail(ERR_GONE, said);
	}
	json_free(l.json);
	buf_done(&text);
	return exit_code;
}

/* ---- the command ------------------------------------------------------------------------------- */

struct explaining {
	const struct arguments *a;
	struct explain_question question;
};

static void render(const struct explaining *x, const struct explain_answer *answer)
{
	struct style style = style_of(stdout);
	struct buf text;
	buf_init(&text, OUTPUT_MAX_BYTES);
	if (x->a->output == OUTPUT_JSON) {
		json_print(&text, answer->job);
		buf_putc(&text, '\n');
	} else {
		explain_render(answer->job, &answer->queues, clock_now_ms(), &style, &text);
	}
	command_print(x->a->watch, buf_text(&text));
	buf_done(&text);
}

static int explain_once(struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx)
{
	struct explaining *x = ctx;
	struct explain_answer answer;
	struct err e = {""};
	int exit_code = CLI_OK;
	x->question.ns = ns;
	int rc = explain_answer_get(loop, client, &x->question, &answer, &e);
	if (rc == ERR_GONE)
		exit_code = explain_unlisted(loop, client, x->a, &x->question, &e);
	else if (rc)
		exit_code = command_fail(rc, &e);
	else
		render(x, &answer);
	explain_answer_done(&answer);
	return exit_code;
}

int command_explain(void *options)
{
	const struct arguments *a = options;
	struct explaining x = {
		.a = a, .question = {.name = a->name, .queues = a->output != OUTPUT_JSON}};
	return question_command(&a->kube, a->namespace_name, a->watch, explain_once, &x);
}
