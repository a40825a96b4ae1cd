#include "record/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "record/facts.h"
#include "record/recorder.h"
#include "record/run_reader.h"

#define SHOWN_BYTES_MAX ((size_t)8000)
#define ENDS_LINE_BYTES_MAX 2000 /* a longer one is no first or last line */

/* ---- The first line and the last ---- */

static int read_short(
	const struct schema *s, struct slice line, struct arena *a, void *ret, struct err *e)
{
	const cJSON *root;
	struct json *j = json_new(64 * 1024);
	int rc = line.len <= ENDS_LINE_BYTES_MAX ? json_parse(j, line, &root, e)
						 : err_set(e, ERR_LIMIT, "it is too long");
	if (rc == 0)
		rc = schema_read(s, root, a, ret, e);
	json_free(j);
	return rc ? ERR_INVALID : 0;
}

static int read_header(struct replay *r, struct slice line)
{
	struct arena scratch = {0};
	struct record_header h;
	int rc = read_short(record_header_schema(), line, &scratch, &h, &r->fault);
	if (rc)
		err_wrap(&r->fault, "it does not begin as a record does");
	else if (h.format != RECORD_FORMAT)
		rc = err_set(&r->fault, ERR_INVALID,
			"it is of format %d, written by Sluice %.40s; this version of Sluice reads format %d: replay it with that one",
			h.format, h.version ? h.version : "", RECORD_FORMAT);
	else
		snprintf(r->version, sizeof(r->version), "%s", h.version ? h.version : "");
	arena_done(&scratch);
	return rc;
}

static bool is_end(struct replay *r, struct slice line)
{
	struct arena scratch = {0};
	struct record_end end;
	bool is = slice_starts(line, "{\"end\":") &&
		  read_short(record_end_schema(), line, &scratch, &end, NULL) == 0 && end.end;
	if (is)
		snprintf(r->end, sizeof(r->end), "%s", end.end);
	arena_done(&scratch);
	return is;
}

/* ---- What is between ---- */

static void keep(struct buf *to, struct slice line)
{
	buf_init(to, SHOWN_BYTES_MAX + 1);
	buf_add(to, line.ptr, line.len < SHOWN_BYTES_MAX ? line.len : SHOWN_BYTES_MAX);
}

static void note_difference(struct replay *r, const struct player *p, struct slice line)
{
	struct slice fact;
	r->verdict = REPLAY_DIFFERS;
	keep(&r->recorded, line);
	keep(&r->now, player_now(p));
	for (; player_before(p, r->nbefore, &fact); r->nbefore++)
		keep(&r->before[r->nbefore], fact);
}

/* Reads the next line: 1 when it is to be played. */
static int play_next(struct replay *r, struct run_reader *reader, struct player *p)
{
	struct slice line;
	int rc = run_reader_next(reader, &line, &r->fault);
	snprintf(r->place, sizeof(r->place), "%s", run_reader_place(reader));
	if (rc <= 0 || is_end(r, line))
		return rc < 0 ? rc : 0;
	rc = *r->version ? player_line(p, line, &r->fault) : read_header(r, line) ? ERR_INVALID : 1;
	if (rc == 0)
		note_difference(r, p, line);
	return rc;
}

static void play_lines(struct replay *r, struct run_reader *reader)
{
	struct player *p = player_new();
	int rc;
	while ((rc = play_next(r, reader, p)) > 0)
		;
	if (rc < 0)
		r->verdict = REPLAY_UNREADABLE;
	r->cut = run_reader_was_cut(reader);
	r->counts = player_counts(p);
	player_free(p);
}

void replay_run(int dir, const char *run, struct replay *ret)
{
	struct run_reader *reader;
	*ret = (struct replay){.verdict = REPLAY_SAME};
	snprintf(ret->name, sizeof(ret->name), "%s", run);
	if (run_reader_open(dir, run, &reader, &ret->fault) != 0) {
		ret->verdict = REPLAY_UNREADABLE;
		return;
	}
	play_lines(ret, reader);
	run_reader_free(reader);
}

void replay_done(struct replay *r)
{
	buf_done(&r->recorded);
	buf_done(&r->now);
	for (unsigned i = 0; i < r->nbefore; i++)
		buf_done(&r->before[i]);
}
