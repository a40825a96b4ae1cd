#include "cli/top/layout.h"

#include <inttypes.h>
#include <string.h>

#include "base/span.h"
#include "cli/commands.h"
#include "cli/local_times.h"
#include "cli/queue/object.h"
#include "cli/short_times.h"
#include "cli/start_words.h"
#include "cli/summary.h"
#include "queue/job/text.h"

enum {
	LINE_MAX_BYTES = 8192,
	TABLE_MAX_BYTES = 4 << 20,
	STARTS_SHOWN = 3,
	AMOUNT_SIZE = 400,
	BAR_WIDTH = 10,
	FIXED_ROWS = 8, /* three of the head, Jobs' own head, two blanks, what is said, the keys */
	TABLE_ROWS = 2, /* the head of a table, and the blank above it */
	JOBS_LEAST = 4,
};

#define NONE "-"

/* What is drawn into. */
struct drawing {
	const struct top_picture *picture;
	struct local_times times;
	struct buf *out;
	size_t lines;
};

/* ---- lines ----------------------------------------------------------------------------------- */

/* Appends a line, cut to the width of the screen. Colours take no room, and are kept to their
 * end. */
static void put_cut(const char *line, size_t len, size_t columns, struct buf *out)
{
	size_t width = 0;
	for (size_t i = 0; i < len;) {
		size_t n = 1;
		if (line[i] == '\033') {
			n += strcspn(line + i, "m");
		} else {
			while (i + n < len && ((unsigned char)line[i + n] & 0xC0) == 0x80)
				n++;
			width++;
		}
		if (line[i] == '\033' || columns == 0 || width <= columns)
			buf_add(out, line + i, n);
		i += n;
	}
}

static bool has_room(const struct drawing *d)
{
	return d->picture->rows == 0 || d->lines < d->picture->rows;
}

static void put_line(struct drawing *d, const char *line, size_t len)
{
	if (!has_room(d))
		return;
	put_cut(line, len, d->picture->columns, d->out);
	buf_putc(d->out, '\n');
	d->lines++;
}

static void put_text(struct drawing *d, const char *text)
{
	put_line(d, text, strlen(text));
}

/* Puts the lines of a table. */
static void put_table(struct drawing *d, struct table *t)
{
	struct buf text;
	buf_init(&text, TABLE_MAX_BYTES);
	table_render(t, &text);
	for (const char *at = buf_text(&text); *at;) {
		size_t len = strcspn(at, "\n");
		put_line(d, at, len);
		at += len + (at[len] == '\n');
	}
	buf_done(&text);
	table_free(t);
}

/* ---- the head -------------------------------------------------------------------------------- */

static void put_title(struct drawing *d)
{
	const struct top_picture *p = d->picture;
	const struct top_answers *a = p->answers;
	struct short_times times = short_times_from(p->now_ms, &d->times);
	struct buf line, title;
	buf_init(&line, LINE_MAX_BYTES);
	buf_init(&title, LINE_MAX_BYTES);
	buf_printf(&title, "sluice top, %s%s, ", a->ns ? "namespace " : "all namespaces",
		a->ns ? a->ns : "");
	short_times_put(&times, p->now_ms, &title);
	colour_render(&p->style, COLOUR_BOLD, buf_text(&title), &line);
	if (*a->trouble.text) {
		buf_reset(&title);
		buf_printf(&title, "  of %s ago: ", span_short(p->now_ms - a->at_ms).s);
		text_render(a->trouble.text, &title);
		colour_render(&p->style, COLOUR_RED, buf_text(&title), &line);
	}
	put_text(d, buf_text(&line));
	buf_done(&line);
	buf_done(&title);
}

static void put_sums(struct drawing *d)
{
	const cJSON *s = d->picture->answers->summary;
	const cJSON *running = json_object(s, "running"), *waiting = json_object(s, "waiting");
	int64_t attention = number_of(s, "attentionJobs");
	struct buf line, red;
	buf_init(&line, LINE_MAX_BYTES);
	buf_init(&red, LINE_MAX_BYTES);
	buf_printf(&line, "Running %" PRId64, number_of(running, "jobs"));
	if (number_of(s, "starting") + number_of(s, "stopping") > 0)
		buf_printf(&line, " (%" PRId64 " starting, %" PRId64 " stopping)",
			number_of(s, "starting"), number_of(s, "stopping"));
	buf_printf(&line, "  Waiting %" PRId64, number_of(waiting, "jobs"));
	if (number_of(waiting, "jobs") > 0) {
		buf_puts(&line, " (oldest ");
		summary_put_oldest(waiting, d->picture->now_ms, &line);
		buf_putc(&line, ')');
	}
	buf_puts(&line, "  ");
	if (attention > 0) {
		buf_printf(
			&red, "%" PRId64 " need%s attention", attention, attention == 1 ? "s" : "");
		buf_puts(&red, ": ");
		summary_put_attention(s, &red);
	}
	colour_render(&d->picture->style, COLOUR_RED, buf_text(&red), &line);
	put_text(d, buf_text(&line));
	buf_done(&red);
	buf_done(&line);
}

/* ---- the next starts ------------------------------------------------------------------------- */

struct start {
	const cJSON *job;
	int64_t at_ms, p90_ms;
	bool time_decides;
};

static struct start start_of(const cJSON *job)
{
	const cJSON *status = json_object(job, "status"), *start = json_object(status, "start");
	struct start ret = {.job = job};
	if (strcmp(text_of(status, "state"), "Waiting") != 0)
		return ret;
	ret.time_decides = instant_of(status, "startAt", &ret.at_ms);
	if (!ret.time_decides && instant_of(start, "p50", &ret.at_ms))
		instant_of(start, "p90", &ret.p90_ms);
	return ret;
}

/* Finds the earliest starts of the list, in order. */
static size_t find_starts(const cJSON *list, struct start ret[STARTS_SHOWN])
{
	size_t n = 0;
	json_each(job, json_array(list, "items")) {
		struct start s = start_of(job);
		size_t i = n;
		if (s.at_ms == 0)
			continue;
		for (; i > 0 && s.at_ms < ret[i - 1].at_ms; i--)
			if (i < STARTS_SHOWN)
				ret[i] = ret[i - 1];
		if (i < STARTS_SHOWN)
			ret[i] = s;
		n += n < STARTS_SHOWN;
	}
	return n;
}

static void put_job_name(struct drawing *d, const cJSON *job, struct buf *out)
{
	const cJSON *meta = json_object(job, "metadata");
	if (!d->picture->answers->ns) {
		text_render(text_of(meta, "namespace"), out);
		buf_putc(out, '/');
	}
	text_render(text_of(meta, "name"), out);
}

static void put_starts(struct drawing *d)
{
	struct start start[STARTS_SHOWN];
	size_t n = find_starts(d->picture->answers->jobs, start);
	struct buf line;
	buf_init(&line, LINE_MAX_BYTES);
	buf_puts(&line, n == 0 ? "Next start: not known" : "Next starts: ");
	for (size_t i = 0; i < n; i++) {
		struct short_times times = short_times_from(d->picture->now_ms, &d->times);
		buf_puts(&line, i > 0 ? "; " : "");
		put_job_name(d, start[i].job, &line);
		buf_putc(&line, ' ');
		start_words_put(start[i].at_ms - d->picture->now_ms, start[i].time_decides, &line);
		if (start[i].p90_ms > d->picture->now_ms) {
			buf_puts(&line, " (90 % sure by ");
			short_times_put(&times, start[i].p90_ms, &line);
			buf_putc(&line, ')');
		}
	}
	put_text(d, buf_text(&line));
	buf_done(&line);
}

/* ---- queues ---------------------------------------------------------------------------------- */

struct use {
	const char *resource; /* NULL: no quota is known */
	int64_t held, quota;
};

static void add_use(const cJSON *queue, const char *resource, struct use *ret)
{
	json_each(flavor, json_array(json_object(queue, "status"), "flavorsReservation"))
		json_each(r, json_array(flavor, "resources")) {
			if (strcmp(text_of(r, "name"), resource) != 0)
				continue;
			ret->held += queue_object_amount(r, "total", resource);
			ret->quota += queue_object_amount(r, "nominal", resource);
		}
}

/* Finds the resource of which the greatest part is used, of all flavors together. */
static struct use fullest_of(const cJSON *queue)
{
	struct use best = {0};
	double most = -1;
	json_each(flavor, json_array(json_object(queue, "status"), "flavorsReservation"))
		json_each(r, json_array(flavor, "resources")) {
			struct use u = {.resource = text_of(r, "name")};
			add_use(queue, u.resource, &u);
			double part = u.quota > 0 ? (double)u.held / (double)u.quota : 0;
			if (part <= most || (u.quota == 0 && u.held == 0))
				continue;
			most = part;
			best = u;
		}
	return best;
}

static const cJSON *queue_named(const cJSON *report, const char *name)
{
	json_each(q, json_array(report, "clusterQueues"))
		if (strcmp(queue_object_name(q), name) == 0)
			return q;
	return NULL;
}

static void put_use(struct drawing *d, struct table *t, const cJSON *queue)
{
	struct use u = fullest_of(queue);
	char held[AMOUNT_SIZE], quota[AMOUNT_SIZE];
	struct text h = text_over(held, sizeof(held)), q = text_over(quota, sizeof(quota));
	struct buf bar;
	buf_init(&bar, 256);
	if (u.resource) {
		bar_render(u.held, u.quota, BAR_WIDTH, &d->picture->style, &bar);
		text_add_number(&h, u.held, u.resource);
		text_add_number(&q, u.quota, u.resource);
		table_cell(t, u.held > u.quota ? COLOUR_YELLOW : COLOUR_GREEN, buf_text(&bar));
		table_cellf(t, COLOUR_NONE, "%s of %s %s", held, quota, u.resource);
	} else {
		table_cell(t, COLOUR_NONE, "");
		table_cell(t, COLOUR_NONE, NONE);
	}
	buf_done(&bar);
}

/* Adds how many Jobs of other namespaces are before the first of this one. */
static void put_ahead(struct table *t, const cJSON *summary, const char *clusterqueue)
{
	json_each(o, json_array(summary, "others"))
		if (strcmp(text_of(o, "clusterQueue"), clusterqueue) == 0 && json_get(o, "ahead")) {
			table_count(t, number_of(o, "ahead"));
			return;
		}
	table_cell_right(t, COLOUR_NONE, NONE);
}

static void put_queue(struct drawing *d, struct table *t, const cJSON *group)
{
	const struct top_answers *a = d->picture->answers;
	struct buf start;
	buf_init(&start, LINE_MAX_BYTES);
	table_cell_or_none(t, COLOUR_BOLD, text_of(group, "key"));
	table_count(t, number_of(group, "running"));
	table_count(t, number_of(group, "waiting"));
	if (a->ns)
		put_ahead(t, a->summary, text_of(group, "key"));
	if (a->queues)
		put_use(d, t, queue_named(a->queues, text_of(group, "key")));
	summary_put_start(group, d->picture->now_ms, &start);
	table_cell(t, COLOUR_NONE, buf_text(&start));
	table_cell_or_none(t, COLOUR_NONE, text_of(group, "waitsFor"));
	table_end_row(t);
	buf_done(&start);
}

/* Puts the ClusterQueues with most Jobs, in so many rows. */
static void put_queues(struct drawing *d, size_t rows)
{
	const struct top_answers *a = d->picture->answers;
	struct table *t = table_new(&d->picture->style);
	static const char *const heads[2][2] = {
		{"CLUSTERQUEUE|>RUNNING|>WAITING|NEXT START|MOST WAIT FOR",
			"CLUSTERQUEUE|>RUNNING|>WAITING|USE||NEXT START|MOST WAIT FOR"},
		{"CLUSTERQUEUE|>RUNNING|>WAITING|>AHEAD|NEXT START|MOST WAIT FOR",
			"CLUSTERQUEUE|>RUNNING|>WAITING|>AHEAD|USE||NEXT START|MOST WAIT FOR"}};
	table_head(t, heads[a->ns != NULL][a->queues != NULL]);
	json_each(group, json_array(a->summary, "groups"))
		if (rows > 0) {
			put_queue(d, t, group);
			rows--;
		}
	put_text(d, "");
	put_table(d, t);
}

/* ---- why they wait --------------------------------------------------------------------------- */

static void put_until(struct drawing *d, const cJSON *reason, struct buf *out)
{
	struct short_times times = short_times_from(d->picture->now_ms, &d->times);
	const char *is = text_of(reason, "untilIs");
	int64_t at_ms;
	if (truth_of(reason, "needsChange")) {
		buf_puts(out, "somebody changes it");
		return;
	}
	if (!instant_of(reason, "until", &at_ms)) {
		buf_puts(out, NONE);
		return;
	}
	if (strcmp(is, "NextStart") == 0)
		buf_puts(out, "the next starts about ");
	short_times_put(&times, at_ms, out);
}

static void put_reasons(struct drawing *d, size_t rows)
{
	struct table *t = table_new(&d->picture->style);
	struct buf until;
	buf_init(&until, LINE_MAX_BYTES);
	table_head(t, ">JOBS|WAIT FOR|UNTIL");
	json_each(r, json_array(d->picture->answers->summary, "reasons")) {
		if (rows == 0)
			break;
		rows--;
		buf_reset(&until);
		put_until(d, r, &until);
		table_count(t, number_of(r, "jobs"));
		table_cell_or_none(t, truth_of(r, "needsChange") ? COLOUR_YELLOW : COLOUR_NONE,
			text_of(r, "waitsFor"));
		table_cell(t, COLOUR_NONE, buf_text(&until));
		table_end_row(t);
	}
	put_text(d, "");
	put_table(d, t);
	buf_done(&until);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static enum colour colour_of(const cJSON *status)
{
	const char *state = text_of(status, "state");
	if (json_object(status, "trouble"))
		return COLOUR_RED;
	if (strcmp(state, "Running") == 0)
		return COLOUR_GREEN;
	return strcmp(state, "Waiting") == 0 ? COLOUR_NONE : COLOUR_YELLOW;
}

static void put_start_cell(struct drawing *d, struct table *t, const cJSON *job)
{
	const cJSON *status = json_object(job, "status");
	struct start s = start_of(job);
	int64_t at_ms;
	struct buf text;
	buf_init(&text, LINE_MAX_BYTES);
	if (instant_of(status, "startedAt", &at_ms))
		buf_printf(&text, "%s ago", span_short(d->picture->now_ms - at_ms).s);
	else if (s.at_ms > 0)
		start_words_put(s.at_ms - d->picture->now_ms, s.time_decides, &text);
	else
		buf_puts(&text, NONE);
	table_cell(t, COLOUR_NONE, buf_text(&text));
	buf_done(&text);
}

static void put_job(struct drawing *d, struct table *t, const cJSON *job, bool is_chosen)
{
	const cJSON *status = json_object(job, "status"), *spec = json_object(job, "spec");
	const char *trouble = text_of(json_object(status, "trouble"), "reason");
	struct buf name;
	buf_init(&name, LINE_MAX_BYTES);
	buf_puts(&name, is_chosen ? "> " : "  ");
	put_job_name(d, job, &name);
	table_cell(t, is_chosen ? COLOUR_BOLD : COLOUR_NONE, buf_text(&name));
	table_cell(t, colour_of(status), text_of(status, "state"));
	if (number_of(status, "position") > 0)
		table_count(t, number_of(status, "position"));
	else
		table_cell_right(t, COLOUR_NONE, NONE);
	table_cell_or_none(t, COLOUR_NONE, text_of(spec, "clusterQueue"));
	put_start_cell(d, t, job);
	table_cell_or_none(t, *trouble ? COLOUR_RED : COLOUR_NONE,
		*trouble ? trouble : text_of(status, "waitsFor"));
	table_end_row(t);
	buf_done(&name);
}

/* Puts the page of Jobs on which the cursor is. */
static void put_jobs(struct drawing *d, size_t rows)
{
	const struct top_view *v = d->picture->view;
	bool is_screen = d->picture->rows > 0;
	size_t shown = is_screen ? rows : v->nfound;
	size_t first = shown > 0 ? v->cursor / shown * shown : 0;
	struct table *t = table_new(&d->picture->style);
	table_head(t, "  JOB|STATE|>PLACE|CLUSTERQUEUE|START|WAITS FOR");
	for (size_t i = first; i < v->nfound && i < first + shown; i++)
		put_job(d, t, v->found[i], is_screen && i == v->cursor);
	put_text(d, "");
	put_table(d, t);
}

/* ---- the pane -------------------------------------------------------------------------------- */

/* Measures what of a line fits, up to its last blank if it goes on. */
static size_t wrapped_len(const char *line, size_t len, size_t columns)
{
	size_t width = 0, at = 0, blank = 0;
	while (at < len && width < columns) {
		if (line[at] == ' ')
			blank = at;
		do
			at++;
		while (at < len && ((unsigned char)line[at] & 0xC0) == 0x80);
		width++;
	}
	return at == len || blank == 0 ? at : blank;
}

static void put_wrapped(struct drawing *d, const char *line, size_t len)
{
	do {
		size_t n = wrapped_len(line, len, d->picture->columns);
		put_line(d, line, n);
		line += n;
		len -= n;
		while (len > 0 && *line == ' ') {
			line++;
			len--;
		}
	} while (len > 0);
}

static void put_pane(struct drawing *d, size_t rows)
{
	const struct top_view *v = d->picture->view;
	size_t end = d->lines + rows + 1, line = 0;
	struct buf clean;
	buf_init(&clean, 2 * TOP_PANE_MAX_BYTES);
	text_render_lines(v->pane.ptr ? v->pane.ptr : "", &clean);
	put_text(d, "");
	for (const char *at = buf_text(&clean); *at && d->lines < end; line++) {
		size_t len = strcspn(at, "\n");
		if (line >= v->pane_first)
			put_wrapped(d, at, len);
		at += len + (at[len] == '\n');
	}
	buf_done(&clean);
}

/* ---- the foot -------------------------------------------------------------------------------- */

static void put_said(struct drawing *d, struct buf *out)
{
	const struct top_view *v = d->picture->view;
	const cJSON *meta = json_object(d->picture->answers->jobs, "metadata");
	if (*v->said)
		text_render(v->said, out);
	else if (v->is_filtering || *v->filter)
		buf_printf(
			out, "/%s%s  %zu Jobs", v->filter, v->is_filtering ? "_" : "", v->nfound);
	else if (number_of(meta, "remainingItemCount") > 0)
		buf_printf(out, "the first %d Jobs; %" PRId64 " more", TOP_JOBS_MAX,
			number_of(meta, "remainingItemCount"));
}

/* Puts the two last lines of the screen. */
static void put_foot(struct drawing *d)
{
	const struct top_picture *p = d->picture;
	const char *keys =
		p->view->has_pane ? "up, down: scroll   e, Esc: back   q: quit"
		: p->view->is_filtering
			? "Enter: keep   Esc: all Jobs"
			: "up, down   h: hold   r: release   e: explain   /: filter   q: quit";
	struct buf line;
	buf_init(&line, LINE_MAX_BYTES);
	while (d->lines + 2 < p->rows)
		put_text(d, "");
	put_said(d, &line);
	put_text(d, buf_text(&line));
	buf_reset(&line);
	colour_render(&p->style, COLOUR_DIM, keys, &line);
	put_text(d, buf_text(&line));
	buf_done(&line);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static size_t count(const cJSON *object, const char *key)
{
	size_t n = 0;
	json_each(item, json_array(object, key))
		n += item != NULL;
	return n;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Gives n rows, and those of their head, out of what is left above the Jobs. 0: there is no
 * room. */
static size_t take_rows(size_t *left, size_t n)
{
	size_t rows = n == 0 || *left < TABLE_ROWS + 1 ? 0 : least(n, *left - TABLE_ROWS);
	*left -= rows > 0 ? rows + TABLE_ROWS : 0;
	return rows;
}

/* Shares the rows that are free: Jobs get half of them, and what they do not need goes to the parts
 * above. Of these the queues get three fifths, unless the reasons leave more. */
static void put_body(struct drawing *d)
{
	const struct top_picture *p = d->picture;
	const struct top_answers *a = p->answers;
	size_t nqueues = count(a->summary, "groups"), nreasons = count(a->summary, "reasons");
	size_t free = p->rows > FIXED_ROWS ? p->rows - FIXED_ROWS : 0;
	size_t jobs = free / 2 > JOBS_LEAST ? free / 2 : JOBS_LEAST;
	jobs = least(jobs, p->view->nfound);
	size_t above = p->rows == 0 ? SIZE_MAX / 8 : free - least(free, jobs);
	size_t reasons = least(nreasons + TABLE_ROWS, above * 2 / 5), rows;
	size_t left = above - reasons;
	rows = take_rows(&left, nqueues);
	if (rows > 0)
		put_queues(d, rows);
	left += reasons;
	rows = take_rows(&left, nreasons);
	if (rows > 0)
		put_reasons(d, rows);
	put_jobs(d, p->rows > d->lines + 4 ? p->rows - d->lines - 4 : 1);
}

void top_draw(const struct top_picture *p, struct buf *out)
{
	struct drawing d = {.picture = p, .out = out};
	put_title(&d);
	if (p->answers->summary) {
		put_sums(&d);
		put_starts(&d);
	}
	if (p->view->has_pane)
		put_pane(&d, p->rows > d.lines + 3 ? p->rows - d.lines - 3 : 1);
	else if (p->answers->summary)
		put_body(&d);
	if (p->rows > 0)
		put_foot(&d);
}
