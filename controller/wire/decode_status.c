#include <string.h>

#include "controller/wire/decode_parts.h"

#define FAILURE_MAX_BYTES 400

/* Reads a count of the status. The API server writes it, so nothing in it makes a Job invalid: what
 * makes no sense counts as absent. */
static int32_t count_field(const cJSON *status, const char *key)
{
	int64_t value;
	if (json_i64(status, key, &value) < 0 || value < 0)
		return 0;
	return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* Reads "1,3-5,7": intervals that do not overlap, in ascending order. */
struct indexes {
	const char *p;
	int64_t first, last; /* of the current interval; first > last: there is none left */
};

static int64_t take_index(const char **p)
{
	int64_t value = 0;
	for (; **p >= '0' && **p <= '9'; (*p)++)
		value = value > INT32_MAX ? value : value * 10 + (**p - '0');
	return value;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void indexes_next(struct indexes *x)
{
	x->first = 1;
	x->last = 0;
	if (*x->p == ',')
		x->p++;
	if (!is_digit(*x->p))
		return;
	int64_t first = take_index(&x->p), last = first;
	if (*x->p == '-' && is_digit(x->p[1])) {
		x->p++;
		last = take_index(&x->p);
	}
	if (last < first)
		return;
	x->first = first;
	x->last = last;
}

static bool indexes_left(const struct indexes *x)
{
	return x->first <= x->last;
}

/* Counts the indexes in either list, 0 <= index < completions, by merging them. If a list is out of
 * order, too few are counted rather than too many: that keeps quota held. */
static int32_t count_indexes(const char *completed, const char *failed, int32_t completions)
{
	struct indexes a = {completed ? completed : "", 0, 0};
	struct indexes b = {failed ? failed : "", 0, 0};
	int64_t sum = 0, next = 0; /* all below next are counted */
	indexes_next(&a);
	indexes_next(&b);
	while (indexes_left(&a) || indexes_left(&b)) {
		bool take_a = indexes_left(&a) && (!indexes_left(&b) || a.first <= b.first);
		struct indexes *x = take_a ? &a : &b;
		int64_t first = x->first > next ? x->first : next;
		int64_t end = x->last < completions ? x->last + 1 : completions;
		if (end > first) {
			sum += end - first;
			next = end;
		}
		indexes_next(x);
	}
	return (int32_t)sum;
}

/* Makes "BackoffLimitExceeded: Job has reached the specified backoff limit". */
static const char *failure_text(struct decoder *d, const cJSON *condition)
{
	const char *reason = json_text(condition, "reason"),
		   *message = json_text(condition, "message");
	struct buf b;
	buf_init(&b, FAILURE_MAX_BYTES + 1);
	buf_printf(&b, "%.*s%s%.*s", FAILURE_MAX_BYTES / 4, reason ? reason : "",
		reason && message ? ": " : "", FAILURE_MAX_BYTES / 2, message ? message : "");
	const char *text = text_quote(d, buf_text(&b), FAILURE_MAX_BYTES);
	buf_done(&b);
	return text;
}

static void read_condition(struct decoder *d, const cJSON *condition, struct job_status *s)
{
	const char *type = json_text(condition, "type");
	if (!type || !json_is(condition, "status", "True"))
		return;
	if (strcmp(type, "Suspended") == 0)
		s->suspended = true;
	bool complete = strcmp(type, "Complete") == 0, failed = strcmp(type, "Failed") == 0;
	s->ending |= strcmp(type, "SuccessCriteriaMet") == 0 || strcmp(type, "FailureTarget") == 0;
	s->complete |= complete;
	s->failed |= failed;
	if (failed)
		s->failure = failure_text(d, condition);
	if (complete || failed)
		s->finished_ms = json_instant(condition, "lastTransitionTime");
}

/* Counts uncountedTerminatedPods that "succeeded" or "failed". */
static int32_t count_uncounted(const cJSON *status, const char *how)
{
	int32_t n = 0;
	const cJSON *uncounted = json_object(status, "uncountedTerminatedPods");
	json_each(pod, json_array(uncounted, how))
		n++;
	return n;
}

void job_status(struct decoder *d, const cJSON *o, struct job *j)
{
	const cJSON *status = json_object(o, "status");
	const char *start = json_text(status, "startTime");
	struct job_status *s = &j->status;
	s->has_start_time = start && text_time(start, &s->start_ms);
	json_each(condition, json_array(status, "conditions"))
		read_condition(d, condition, s);
	s->active = count_field(status, "active");
	s->terminating = count_field(status, "terminating");
	s->ready = count_field(status, "ready");
	s->succeeded = count_field(status, "succeeded");
	s->failed_pods = count_field(status, "failed");
	s->uncounted = count_uncounted(status, "succeeded");
	s->uncounted_failed = count_uncounted(status, "failed");
	if (j->indexed && j->has_completions)
		s->indexes_done = count_indexes(json_text(status, "completedIndexes"),
			json_text(status, "failedIndexes"), j->completions);
}
