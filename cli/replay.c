/*
 * The command replay: plays the runs of a record once more, and prints what came of each, for
 * people or as JSON.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "base/json_writer.h"
#include "record/replay.h"

enum { OUTPUT_MAX_BYTES = 16 << 20 };

struct replay_options {
	bool json;
	const char *dir;
	long run; /* number of the run; 0: all; below 0: counted from the last */
};

static int take_run(const struct flag *f, const char *text, void *options, struct err *e)
{
	struct replay_options *o = options;
	char *end;
	errno = 0;
	o->run = strtol(text, &end, 10);
	if (!*text || *end || errno || o->run == 0)
		return flag_refuse(f, text, e);
	return 0;
}

static const struct flag rows[] = {
	{FLAG_TAKE("run", 0, take_run),
		.must_be = "the number of a run, such as 1, or -1 for the last"},
	{FLAG_JSON(struct replay_options, json)},
	{FLAG_HELP},
};

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	struct replay_options *o = options;
	int rc = flags_one_word(word, nwords, &o->dir, e);
	if (rc == 0 && !o->dir)
		rc = err_set(e, ERR_INVALID,
			"it wants the directory of a record, as in: sluice replay records");
	return rc;
}

const struct flag_table replay_flags = {FLAG_TABLE(rows, struct replay_options), .finish = finish};

/* ---- For people ---- */

static const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

static void put_line(struct buf *out, const char *what, const struct buf *line)
{
	buf_printf(out, "    %-9s ", what);
	text_render(buf_text(line), out);
	buf_putc(out, '\n');
}

/* Appends how the record of a run ends, where that is not in order. */
static void put_end(struct buf *out, const struct replay *r)
{
	if (*r->end && strcmp(r->end, "the controller ended") != 0) {
		buf_puts(out, "; its recording ended: ");
		text_render(r->end, out);
	} else if (!*r->end) {
		buf_puts(out, r->cut ? "; it was killed: the last line is cut"
				     : "; it was killed, or is still being recorded");
	}
}

static void put_difference(struct buf *out, const struct replay *r)
{
	for (unsigned i = 0; i < r->nbefore; i++)
		put_line(out, i == 0 ? "before it" : "", &r->before[i]);
	put_line(out, "recorded", &r->recorded);
	put_line(out, "now", &r->now);
}

static void put_run(struct buf *out, size_t number, const struct replay *r)
{
	buf_printf(out, "run %zu  %s", number, r->name);
	if (strcmp(r->version, SLUICE_VERSION) != 0 && *r->version) {
		buf_puts(out, ", recorded by Sluice ");
		text_render(r->version, out);
		buf_printf(out, " (this is %s)", SLUICE_VERSION);
	}
	buf_printf(out, "\n    %" PRIu64 " %s, %" PRIu64 " %s: ", r->counts.facts,
		plural(r->counts.facts, "fact", "facts"), r->counts.decisions,
		plural(r->counts.decisions, "decision", "decisions"));
	switch (r->verdict) {
	case REPLAY_SAME:
		buf_puts(out, "the same");
		put_end(out, r);
		buf_putc(out, '\n');
		break;
	case REPLAY_DIFFERS:
		buf_printf(out, "then one differs, at %s\n", r->place);
		put_difference(out, r);
		break;
	case REPLAY_UNREADABLE:
		buf_printf(out,
			"then it cannot be read, at %s: ", *r->place ? r->place : "its beginning");
		text_render(r->fault.text, out);
		buf_putc(out, '\n');
		break;
	}
}

/* ---- As JSON ---- */

static const char *verdict_name(enum replay_verdict v)
{
	static const char *const names[] = {[REPLAY_SAME] = "Same",
		[REPLAY_DIFFERS] = "Differs",
		[REPLAY_UNREADABLE] = "Unreadable"};
	return names[v];
}

static void put_run_json(struct json_writer *w, size_t number, const struct replay *r)
{
	jw_object(w, NULL);
	jw_int(w, "run", (int64_t)number);
	jw_texts(w, "name", r->name, "version", r->version, NULL);
	jw_int(w, "facts", (int64_t)r->counts.facts);
	jw_int(w, "decisions", (int64_t)r->counts.decisions);
	jw_text(w, "verdict", verdict_name(r->verdict));
	jw_bool(w, "cut", r->cut);
	if (*r->end)
		jw_text(w, "end", r->end);
	if (r->verdict != REPLAY_SAME)
		jw_text(w, "at", r->place);
	if (r->verdict == REPLAY_UNREADABLE)
		jw_text(w, "why", r->fault.text);
	if (r->verdict == REPLAY_DIFFERS) {
		jw_texts(w, "recorded", buf_text(&r->recorded), "now", buf_text(&r->now), NULL);
		jw_array(w, "before");
		for (unsigned i = 0; i < r->nbefore; i++)
			jw_text(w, NULL, buf_text(&r->before[i]));
		jw_end(w);
	}
	jw_end(w);
}

/* ---- All of them ---- */

struct total {
	size_t runs, others; /* others: runs with another outcome */
	struct player_counts counts;
};

static void play(int dir, const char *run, size_t number, const struct replay_options *o,
	struct total *t, struct json_writer *w)
{
	struct replay r;
	replay_run(dir, run, &r);
	if (o->json)
		put_run_json(w, number, &r);
	else
		put_run(w->out, number, &r);
	t->runs++;
	t->others += r.verdict != REPLAY_SAME;
	t->counts.facts += r.counts.facts;
	t->counts.decisions += r.counts.decisions;
	replay_done(&r);
}

static void put_total_json(const struct total *t, struct json_writer *w)
{
	jw_end(w);
	jw_int(w, "facts", (int64_t)t->counts.facts);
	jw_int(w, "decisions", (int64_t)t->counts.decisions);
	jw_bool(w, "same", t->others == 0);
	jw_close(w);
	buf_putc(w->out, '\n');
}

static void put_total(const struct total *t, struct buf *out)
{
	buf_printf(out, "%zu %s, %" PRIu64 " facts, %" PRIu64 " decisions: ", t->runs,
		plural(t->runs, "run", "runs"), t->counts.facts, t->counts.decisions);
	if (t->others == 0)
		buf_puts(out, "all are the same\n");
	else
		buf_printf(out, "%zu %s not the same\n", t->others,
			plural(t->others, "run is", "runs are"));
}

/* Chooses a run, from 0; SIZE_MAX is all. */
static int choose(const struct replay_options *o, size_t runs, size_t *ret, struct err *e)
{
	long index = o->run > 0 ? o->run - 1 : (long)runs + o->run;
	*ret = SIZE_MAX;
	if (runs == 0)
		return err_set(
			e, ERR_INVALID, "%s has no record of sluice-controller --record", o->dir);
	if (o->run == 0)
		return 0;
	if (index < 0 || (size_t)index >= runs)
		return err_set(e, ERR_INVALID, "--run is %ld, and %s has %zu %s", o->run, o->dir,
			runs, plural(runs, "run", "runs"));
	*ret = (size_t)index;
	return 0;
}

static int play_all(int dir, const struct replay_options *o, struct total *t, struct err *e)
{
	struct run_names all;
	struct buf out;
	size_t only = SIZE_MAX;
	int rc = run_names_read(dir, &all, e);
	if (rc)
		return rc;
	rc = choose(o, all.count, &only, e);
	buf_init(&out, OUTPUT_MAX_BYTES);
	struct json_writer w = json_writer(&out);
	if (o->json) {
		jw_object(&w, NULL);
		jw_array(&w, "runs");
	}
	for (size_t i = 0; rc == 0 && i < all.count; i++) {
		if (only != SIZE_MAX && i != only)
			continue;
		play(dir, all.name[i], i + 1, o, t, &w);
		fwrite(buf_text(&out), 1, out.len, stdout);
		buf_reset(&out);
	}
	if (rc == 0) {
		if (o->json)
			put_total_json(t, &w);
		else
			put_total(t, &out);
		fwrite(buf_text(&out), 1, out.len, stdout);
	}
	buf_done(&out);
	run_names_done(&all);
	return rc;
}

int command_replay(void *options)
{
	const struct replay_options *o = options;
	struct total t = {0};
	struct err e = {""};
	int dir = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = dir >= 0 ? play_all(dir, o, &t, &e)
			  : err_set(&e, ERR_INVALID, "%s cannot be opened as a directory: %s",
				    o->dir, strerror(errno));
	if (dir >= 0)
		close(dir);
	if (rc) {
		fprintf(stderr, "sluice: replay: %s\n", e.text);
		return CLI_USAGE;
	}
	return t.others == 0 ? CLI_OK : CLI_FINDINGS;
}
