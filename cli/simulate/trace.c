#include "cli/simulate/trace.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"

/* The format's fields that count here; others are passed over. */
enum {
	FIELD_NUMBER,
	FIELD_SUBMIT,
	FIELD_RUN = 3,
	FIELD_ALLOCATED,
	FIELD_REQUESTED_PROCESSORS = 7,
	FIELD_REQUESTED_TIME,
	FIELD_STATUS = 10,
	FIELD_USER,
	FIELD_APPLICATION = 13,
	FIELD_PRECEDING = 16,
	FIELD_THINK,
	FIELDS = 18,
	FIELDS_NEEDED = FIELD_ALLOCATED + 1,
};

#define TIME_MAX INT64_C(3153600000000) /* 100 years, in milliseconds */
#define LINE_SIZE 65536
#define NOT_KNOWN (-1000)

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes a number at *p, which moves past it, in thousandths: some logs have fractions of seconds. A
 * number beyond any use is cut off, so that nothing overflows later. */
static bool take_number(const char **p, int64_t *ret)
{
	const char *s = *p;
	bool negative = *s == '-', any = false;
	int64_t value = 0, unit = 1000;
	s += *s == '-' || *s == '+';
	for (; *s >= '0' && *s <= '9'; s++, any = true)
		if (value < INT64_MAX / 100000)
			value = value * 10 + (*s - '0');
	value *= unit;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++, any = true)
			value += (unit /= 10) * (*s - '0');
	*ret = negative ? -value : value;
	*p = s;
	return any && (*s == '\0' || is_blank(*s));
}

/* Returns a number that is no time, without its fraction. */
static int64_t whole(int64_t thousandths)
{
	return thousandths / 1000;
}

/* Takes the fields of a line, in thousandths; those missing at the end are -1, "not known". */
static int take_fields(const char *line, int64_t field[FIELDS], struct err *e)
{
	int n = 0;
	for (int i = 0; i < FIELDS; i++)
		field[i] = NOT_KNOWN;
	for (const char *p = line;; n++) {
		while (is_blank(*p))
			p++;
		if (*p == '\0')
			break;
		if (n == FIELDS)
			return err_set(e, ERR_INVALID,
				"has more than %d fields; a line of the Standard Workload Format has %d numbers",
				FIELDS, FIELDS);
		if (!take_number(&p, &field[n]))
			return err_set(e, ERR_INVALID,
				"field %d is not a number; write -1 for what is not known", n + 1);
	}
	if (n > 0 && n < FIELDS_NEEDED)
		return err_set(e, ERR_INVALID,
			"has %d fields; at least job number, submit time, wait time, run time and processors are needed",
			n);
	return n;
}

static void take_comment(struct trace *t, const char *line)
{
	static const char key[] = "UnixStartTime:";
	const char *at = strstr(line, key);
	int64_t ms;
	if (!at)
		return;
	for (at += strlen(key); is_blank(*at);)
		at++;
	if (take_number(&at, &ms) && ms >= 0 && ms < TIME_MAX)
		t->start_ms = ms;
}

static int check_times(const int64_t field[FIELDS], struct err *e)
{
	if (field[FIELD_SUBMIT] < 0)
		return err_set(e, ERR_INVALID, "field 2, the submit time, is negative");
	if (field[FIELD_SUBMIT] > TIME_MAX || field[FIELD_RUN] > TIME_MAX)
		return err_set(e, ERR_INVALID, "has a time of more than 100 years");
	return 0;
}

static void put(struct trace *t, const struct trace_job *j)
{
	t->job = mem_one_more(t->job, t->njobs, sizeof(*t->job));
	t->job[t->njobs++] = *j;
}

/* Divides a time by the compression; the result is whole seconds, rounded down. */
static double compressed_ms(int64_t ms, double compress)
{
	return compress == 1 ? (double)ms : floor((double)ms / 1000 / compress) * 1000;
}

/* True for a part of an interrupted job: status 2 (to be continued), 3 or 4 (the last one). They
 * stand behind the line of the whole job. */
static bool is_part(const int64_t field[FIELDS])
{
	int64_t status = whole(field[FIELD_STATUS]);
	return status >= 2 && status <= 4;
}

static void take_job(struct trace *t, const int64_t field[FIELDS], int64_t processors,
	double submit_ms, double compress)
{
	int64_t requested_ms = field[FIELD_REQUESTED_TIME];
	int64_t application = whole(field[FIELD_APPLICATION]);
	double think_ms = compressed_ms(field[FIELD_THINK], compress);
	if (requested_ms > TIME_MAX)
		requested_ms = TIME_MAX;
	put(t, &(struct trace_job){.number = whole(field[FIELD_NUMBER]),
		       .submit_ms = (int64_t)submit_ms,
		       .run_ms = field[FIELD_RUN],
		       .requested_ms = requested_ms > 0 ? requested_ms : field[FIELD_RUN],
		       .user = whole(field[FIELD_USER]),
		       .preceding = field[FIELD_PRECEDING] > 0 ? whole(field[FIELD_PRECEDING])
							       : TRACE_NONE,
		       .think_ms = think_ms <= 0		  ? 0
				   : think_ms >= (double)TIME_MAX ? TIME_MAX
								  : (int64_t)think_ms,
		       .processors = (int32_t)processors,
		       .application = application >= 0 && application <= INT32_MAX
					      ? (int32_t)application
					      : -1});
}

int trace_line(struct trace *t, const char *line, double compress, struct err *e)
{
	int64_t field[FIELDS];
	while (is_blank(*line))
		line++;
	if (*line == ';') {
		take_comment(t, line);
		return 0;
	}
	int n = take_fields(line, field, e);
	if (n <= 0)
		return n;
	if (is_part(field)) {
		t->nparts++;
		return 0;
	}
	int64_t processors =
		whole(field[FIELD_REQUESTED_PROCESSORS] > 0 ? field[FIELD_REQUESTED_PROCESSORS]
							    : field[FIELD_ALLOCATED]);
	if (field[FIELD_RUN] < 0 || processors <= 0 || processors > INT32_MAX) {
		t->nskipped++;
		return 0;
	}
	if (check_times(field, e) != 0)
		return ERR_INVALID;
	double submit_ms = compressed_ms(field[FIELD_SUBMIT], compress);
	if (submit_ms > (double)TIME_MAX)
		return err_set(e, ERR_INVALID, "has a submit time of more than 100 years");
	take_job(t, field, processors, submit_ms, compress);
	return 1;
}

/* Returns the line behind a byte order mark, with which some editors begin a file. */
static const char *behind_mark(const char *line, size_t number)
{
	static const char mark[] = "\xEF\xBB\xBF";
	return number == 1 && strncmp(line, mark, strlen(mark)) == 0 ? line + strlen(mark) : line;
}

static int read_lines(gzFile f, double compress, struct trace *t, size_t *ret_line, struct err *e)
{
	char *line = mem_alloc(LINE_SIZE);
	int rc = 0;
	for (*ret_line = 1; rc >= 0 && gzgets(f, line, LINE_SIZE); ++*ret_line) {
		size_t len = strlen(line);
		if (len == LINE_SIZE - 1 && line[len - 1] != '\n')
			rc = err_set(e, ERR_LIMIT, "is longer than %d bytes", LINE_SIZE);
		else if (t->njobs == TRACE_JOBS_MAX)
			rc = err_set(e, ERR_LIMIT, "is job number %d; no more are read",
				TRACE_JOBS_MAX + 1);
		else
			rc = trace_line(t, behind_mark(line, *ret_line), compress, e);
		if (rc < 0)
			break;
	}
	free(line);
	return rc < 0 ? rc : 0;
}

static int by_submit(const void *a, const void *b)
{
	const struct trace_job *x = a, *y = b;
	return x->submit_ms < y->submit_ms ? -1 : x->submit_ms > y->submit_ms;
}

/* Sorts by a merge, which keeps equal times in order: glibc's qsort() does only while it has the
 * memory. A sorted trace, as most are, costs nothing. */
void trace_sort(struct trace *t)
{
	bool sorted = true;
	for (size_t i = 1; i < t->njobs && sorted; i++)
		sorted = t->job[i - 1].submit_ms <= t->job[i].submit_ms;
	if (sorted)
		return;
	struct trace_job *from = t->job, *to = mem_array(t->njobs, sizeof(*to));
	for (size_t width = 1; width < t->njobs; width *= 2) {
		for (size_t low = 0, out = 0; low < t->njobs; low += 2 * width) {
			size_t mid = low + width < t->njobs ? low + width : t->njobs;
			size_t end = mid + width < t->njobs ? mid + width : t->njobs;
			for (size_t l = low, r = mid; l < mid || r < end;)
				to[out++] =
					r == end || (l < mid && by_submit(&from[l], &from[r]) <= 0)
						? from[l++]
						: from[r++];
		}
		struct trace_job *swap = from;
		from = to;
		to = swap;
	}
	t->job = from;
	free(to);
}

struct numbered {
	int64_t number;
	size_t at;
};

/* Compares by number; of equal numbers the first job of the trace counts. */
static int by_number(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static size_t index_of(const struct numbered *all, size_t n, int64_t number)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (all[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && all[low].number == number ? all[low].at : SIZE_MAX;
}

void trace_link(struct trace *t)
{
	bool any = false;
	for (size_t i = 0; i < t->njobs && !any; i++)
		any = t->job[i].preceding != TRACE_NONE;
	if (!any)
		return;
	struct numbered *all = mem_array(t->njobs, sizeof(*all));
	for (size_t i = 0; i < t->njobs; i++)
		all[i] = (struct numbered){t->job[i].number, i};
	qsort(all, t->njobs, sizeof(*all), by_number);
	for (size_t i = 0; i < t->njobs; i++) {
		struct trace_job *j = &t->job[i];
		size_t at = j->preceding == TRACE_NONE ? SIZE_MAX
						       : index_of(all, t->njobs, j->preceding);
		j->preceding = at < i ? (int64_t)at : TRACE_NONE;
		t->has_preceding = t->has_preceding || at < i;
	}
	free(all);
}

int trace_read(const char *path, double compress, struct trace *ret, struct err *e)
{
	struct trace t = {0};
	size_t line = 0;
	int zerror = 0;
	gzFile f = gzopen(path, "rb");
	if (!f)
		return err_set(e, ERR_GONE, "%s: %s", path, strerror(errno));
	gzbuffer(f, 1 << 17);
	int rc = read_lines(f, compress, &t, &line, e);
	const char *problem = gzerror(f, &zerror);
	if (rc < 0)
		err_wrap(e, "%s:%zu", path, line);
	else if (zerror == Z_ERRNO)
		rc = err_set(e, ERR_GONE, "%s: %s", path, strerror(errno));
	else if (zerror < 0)
		rc = err_set(e, ERR_INVALID, "%s: not a whole gzip file: %s", path, problem);
	gzclose(f);
	if (rc < 0) {
		trace_done(&t);
		return rc;
	}
	trace_sort(&t);
	trace_link(&t);
	*ret = t;
	return 0;
}

void trace_done(struct trace *t)
{
	free(t->job);
	*t = (struct trace){0};
}
