#include "controller/common/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/span.h"

static int64_t machine_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_now_ms(void)
{
	return clock_of_machine_ms(machine_ms());
}

int64_t clock_of_loop_ms(double now_s)
{
	return clock_of_machine_ms((int64_t)(now_s * 1000.0));
}

#ifdef SLUICE_TEST_CLOCK

enum { STEPS_MAX = 1000, FILE_MAX_BYTES = 65536, RATE_MAX = 100000 };

struct step {
	int64_t from_ms; /* by the machine's clock */
	int64_t offset_ms;
};

struct schedule {
	struct step *at; /* in order */
	size_t n;
};

/* One clock for the whole process, as time is. */
static struct {
	struct schedule steps; /* none: the machine's clock */
	int64_t rate;	       /* 0: one */
	char *file;
	struct stat seen; /* of the file, as it was read or refused last */
} test;

/* Finds the step that holds at ms; the first one also holds before. */
static const struct step *step_at(int64_t ms)
{
	const struct step *s = test.steps.at;
	for (size_t i = 1; i < test.steps.n && test.steps.at[i].from_ms <= ms; i++)
		s = &test.steps.at[i];
	return s;
}

static int64_t after_step(const struct step *s, int64_t ms)
{
	int64_t since = ms > s->from_ms ? ms - s->from_ms : 0;
	return ms + s->offset_ms + (test.rate > 1 ? since * (test.rate - 1) : 0);
}

int64_t clock_of_machine_ms(int64_t ms)
{
	return test.steps.n == 0 || ms == INT64_MAX ? ms : after_step(step_at(ms), ms);
}

/* Brings one time. The API server's times are whole seconds, rounded down: what happened in the
 * second of a step counts as after it. */
static void bring(int64_t *ms)
{
	if (*ms != 0 && test.steps.n > 0)
		*ms = after_step(step_at(*ms + 999), *ms);
}

void clock_bring_job(struct job *j)
{
	bring(&j->created_ms);
	bring(&j->queued_at_ms);
	bring(&j->status.start_ms);
	bring(&j->status.finished_ms);
}

int64_t clock_machine_wait_ms(int64_t until_ms)
{
	int64_t now = clock_now_ms(), rate = test.rate > 1 ? test.rate : 1;
	if (until_ms == INT64_MAX)
		return INT64_MAX;
	return until_ms > now ? (until_ms - now + rate - 1) / rate : 0;
}

static void schedule_done(struct schedule *s)
{
	free(s->at);
	*s = (struct schedule){0};
}

static void schedule_add(struct schedule *s, int64_t from_ms, int64_t offset_ms)
{
	s->at = mem_grow(s->at, s->n + 1, sizeof(*s->at));
	s->at[s->n++] = (struct step){from_ms, offset_ms};
}

/* ---- what is written in the flag and the file ------------------------------------------------ */

static bool read_offset(const char *text, int64_t *ret_ms)
{
	bool back = *text == '-';
	*ret_ms = 0;
	if (strcmp(text, "0") == 0)
		return true;
	bool is_span = span_parse_long(text + (back || *text == '+'), ret_ms);
	*ret_ms = back ? -*ret_ms : *ret_ms;
	return is_span;
}

static int offset_error(const char *where, const char *text, struct err *e)
{
	return err_set(e, ERR_INVALID,
		"%s: \"%.80s\" is not an offset; write e.g. +14h30m, -2h or 0, in a file also lines such as 2026-11-21T10:00:00Z +14h30m",
		where, text);
}

/* Reads "2026-11-21T10:00:00Z OFFSET". */
static bool read_step(const char *line, struct schedule *s)
{
	struct tm tm = {0};
	int64_t offset;
	const char *rest = strptime(line, "%Y-%m-%dT%H:%M:%SZ ", &tm);
	if (!rest || !read_offset(rest, &offset))
		return false;
	int64_t from_ms = (int64_t)timegm(&tm) * 1000;
	if (s->n > 0 && from_ms < s->at[s->n - 1].from_ms)
		return false;
	schedule_add(s, from_ms, offset);
	return true;
}

static int read_steps(const char *file, char *text, struct schedule *ret, struct err *e)
{
	char *rest = NULL;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line[strcspn(line, "\r")] = '\0';
		if (*line == '\0')
			continue;
		if (ret->n == STEPS_MAX || !read_step(line, ret))
			return offset_error(file, line, e);
	}
	return ret->n > 0 ? 0 : offset_error(file, "", e);
}

static int64_t changed_ms(const struct stat *st)
{
	int64_t ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
	int64_t now = machine_ms();
	return ms < now ? ms : now;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int open_file(
	const char *file, char text[FILE_MAX_BYTES + 1], struct stat *st, struct err *e)
{
	FILE *f = fopen(file, "re");
	size_t n = f && fstat(fileno(f), st) == 0 ? fread(text, 1, FILE_MAX_BYTES, f) : 0;
	if (!f)
		return err_set(e, ERR_INVALID, "%s: cannot be read: %m", file);
	fclose(f);
	text[n] = '\0';
	return 0;
}

/* Reads the file. If it has one offset, earlier steps stay, so that earlier times mean what they
 * meant. */
static int read_file(const char *file, struct err *e)
{
	static char text[FILE_MAX_BYTES + 1];
	struct schedule steps = {0};
	struct stat st = {0};
	int64_t offset;
	int rc = open_file(file, text, &st, e);
	test.seen = st;
	if (rc < 0)
		return rc;
	for (size_t n = strlen(text); n > 0 && strchr(" \r\n", text[n - 1]); n--)
		text[n - 1] = '\0';
	if (read_offset(text, &offset)) {
		int64_t from_ms = changed_ms(&st);
		while (test.steps.n > 0 && test.steps.at[test.steps.n - 1].from_ms >= from_ms)
			test.steps.n--;
		schedule_add(&test.steps, from_ms, offset);
		return 0;
	}
	rc = read_steps(file, text, &steps, e);
	if (rc == 0) {
		schedule_done(&test.steps);
		test.steps = steps;
	} else {
		schedule_done(&steps);
	}
	return rc;
}

/* ---- the flags ------------------------------------------------------------------------------- */

int clock_set_offset(const char *text, struct err *e)
{
	int64_t offset;
	schedule_done(&test.steps);
	free(test.file);
	test.file = NULL;
	if (*text == '@') {
		test.file = mem_strdup(text + 1);
		int rc = read_file(test.file, e);
		if (rc < 0)
			err_wrap(e, "--clock-offset");
		return rc;
	}
	if (!read_offset(text, &offset))
		return offset_error("--clock-offset", text, e);
	schedule_add(&test.steps, machine_ms(), offset);
	return 0;
}

int clock_set_rate(const char *text, struct err *e)
{
	char *end;
	long n = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n < 1 || n > RATE_MAX)
		return err_set(e, ERR_INVALID,
			"--clock-rate is \"%.60s\"; it must be a whole number from 1 to %d: so many seconds in one",
			text, RATE_MAX);
	test.rate = n;
	if (test.steps.n == 0)
		schedule_add(&test.steps, machine_ms(), 0);
	return 0;
}

bool clock_has_file(void)
{
	return test.file != NULL;
}

bool clock_look(struct err *e)
{
	struct stat st = {0};
	e->text[0] = '\0';
	if (!test.file || stat(test.file, &st) != 0 || same_file(&st, &test.seen))
		return false;
	return read_file(test.file, e) == 0;
}

#else

void clock_bring_job(struct job *j)
{
	(void)j;
}

int64_t clock_of_machine_ms(int64_t ms)
{
	return ms;
}

int64_t clock_machine_wait_ms(int64_t until_ms)
{
	int64_t now = machine_ms();
	if (until_ms == INT64_MAX)
		return INT64_MAX;
	return until_ms > now ? until_ms - now : 0;
}

static int refuse(const char *flag, struct err *e)
{
	return err_set(e, ERR_INVALID,
		"--%s is for tests: this program goes by the machine's clock. Use one that was built with cmake -DSLUICE_TEST_CLOCK=ON (the preset dev is)",
		flag);
}

int clock_set_offset(const char *text, struct err *e)
{
	(void)text;
	return refuse("clock-offset", e);
}

int clock_set_rate(const char *text, struct err *e)
{
	(void)text;
	return refuse("clock-rate", e);
}

bool clock_has_file(void)
{
	return false;
}

bool clock_look(struct err *e)
{
	e->text[0] = '\0';
	return false;
}

#endif
