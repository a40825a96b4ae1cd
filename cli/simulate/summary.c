#include "cli/simulate/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "base/span.h"
#include "queue/price/money.h"
#include "sluice/quantity.h"
#include "sluice/queue.h"

/* How many Jobs without an expected end are named, in JSON and in the table. */
#define ENDLESS_NAMED 100
#define ENDLESS_SHOWN 5

/* ---- columns --------------------------------------------------------------------------------- */

static int column_cmp(const struct column *c, const char *flavor, const char *resource)
{
	int order = strcmp(c->flavor, flavor);
	return order ? order : strcmp(c->resource, resource);
}

size_t summary_column(const struct summary *s, const char *flavor, const char *resource)
{
	/* The queue hands out the same strings each time: mostly no text is compared. */
	for (size_t i = 0; i < s->ncolumns; i++)
		if (s->column[i].flavor == flavor && s->column[i].resource == resource)
			return i;
	for (size_t i = 0; i < s->ncolumns; i++)
		if (column_cmp(&s->column[i], flavor, resource) == 0)
			return i;
	return SIZE_MAX;
}

static void add_capacity(struct summary *s, const struct usage_view *u, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = summary_column(s, u[i].flavor, u[i].resource);
		if (at == SIZE_MAX) {
			at = s->ncolumns++;
			s->column = mem_grow(s->column, s->ncolumns, sizeof(*s->column));
			s->column[at] =
				(struct column){.flavor = u[i].flavor, .resource = u[i].resource};
		}
		s->column[at].capacity = quantity_add(s->column[at].capacity, u[i].nominal);
	}
}

static int by_column(const void *a, const void *b)
{
	const struct column *x = a, *y = b;
	return column_cmp(x, y->flavor, y->resource);
}

void summary_init(struct summary *s, const struct world *w)
{
	struct clusterqueue_view cq;
	struct cohort_view cohort;
	*s = (struct summary){.w = w, .first_ms = w->start_ms};
	for (size_t i = 0; queue_view_clusterqueue(w->queue, i, &cq); i++)
		add_capacity(s, cq.usage, cq.nusage);
	for (size_t i = 0; queue_view_cohort(w->queue, i, &cohort); i++)
		add_capacity(s, cohort.usage, cohort.nusage);
	if (s->ncolumns > 0)
		qsort(s->column, s->ncolumns, sizeof(*s->column), by_column);
	if (w->nadoptions == 0 && w->narrivals > 0 && !w->live)
		s->first_ms = w->sim_job[w->arrival[0]].arrival_ms;
	for (size_t i = 0; i < s->ncolumns; i++)
		s->column[i].since_ms = s->first_ms;
	s->last_ms = s->first_ms;
}

void summary_done(struct summary *s)
{
	free(s->column);
	free(s->stop);
	free(s->cost);
	free(s->wait_ms);
	*s = (struct summary){0};
}

static void advance(struct column *c, int64_t now_ms)
{
	c->area += (double)c->used * (double)(now_ms - c->since_ms);
	c->since_ms = now_ms;
}

static void use(struct summary *s, const struct sim_event *e, int sign)
{
	for (size_t i = 0; i < e->nlines; i++) {
		size_t at = summary_column(s, e->lines[i].flavor, e->lines[i].resource);
		if (at == SIZE_MAX)
			continue; /* adopted in a column that is not described */
		advance(&s->column[at], e->at_ms);
		s->column[at].used += sign * e->lines[i].amount;
	}
}

/* ---- what happens ---------------------------------------------------------------------------- */

static void see_admitted(struct summary *s, const struct sim_event *e)
{
	const struct sim_job *a = &s->w->sim_job[e->sim_job];
	s->admitted++;
	if (a->attempt > 1)
		return;
	s->wait_ms = mem_one_more(s->wait_ms, s->nwaits, sizeof(*s->wait_ms));
	s->wait_ms[s->nwaits++] = e->at_ms - a->arrival_ms;
}

static void see_finished(struct summary *s, const struct sim_event *e)
{
	const struct sim_job *a = &s->w->sim_job[e->sim_job];
	double run = (double)a->duration_ms, floor_ms = 10000;
	double slowdown = (double)(e->at_ms - a->arrival_ms) / (run > floor_ms ? run : floor_ms);
	s->finished++;
	s->slowdown_sum += slowdown > 1 ? slowdown : 1;
}

void summary_charge(struct summary *s, const struct run_bill *bill)
{
	size_t i = 0;
	while (i < s->ncosts && strcmp(s->cost[i].currency, bill->currency) < 0)
		i++;
	if (i == s->ncosts || strcmp(s->cost[i].currency, bill->currency) != 0) {
		s->cost = mem_grow(s->cost, s->ncosts + 1, sizeof(*s->cost));
		memmove(&s->cost[i + 1], &s->cost[i], (s->ncosts - i) * sizeof(*s->cost));
		s->cost[i] = (struct cost){.currency = bill->currency};
		s->ncosts++;
	}
	s->cost[i].micro = money_add(s->cost[i].micro, bill->cost);
}

static void count_stop(struct summary *s, const char *reason)
{
	size_t i = 0;
	while (i < s->nstops && strcmp(s->stop[i].reason, reason) < 0)
		i++;
	if (i == s->nstops || strcmp(s->stop[i].reason, reason) != 0) {
		s->stop = mem_grow(s->stop, s->nstops + 1, sizeof(*s->stop));
		memmove(&s->stop[i + 1], &s->stop[i], (s->nstops - i) * sizeof(*s->stop));
		s->stop[i] = (struct stop_count){.reason = reason};
		s->nstops++;
	}
	s->stop[i].count++;
}

static void lose(struct summary *s, const struct sim_event *e)
{
	s->lost_ms = quantity_add(s->lost_ms, quantity_times(e->lost_ms, e->lost_pods));
}

static void see_resized(struct summary *s, const struct sim_event *e)
{
	bool grew = e->kind == SIM_EVENT_GREW;
	use(s, e, grew ? 1 : -1);
	s->grown += grew;
	s->shrunk += !grew;
	lose(s, e);
}

static void see_ended(struct summary *s, const struct sim_event *e)
{
	bool deleted = e->kind == SIM_EVENT_STOPPED && strcmp(e->reason, "Deleted") == 0;
	use(s, e, -1);
	if (e->bill)
		summary_charge(s, e->bill);
	if (e->kind == SIM_EVENT_PREEMPTED)
		s->preempted++;
	if (e->kind == SIM_EVENT_STOPPED)
		s->stopped++;
	if (e->kind == SIM_EVENT_FINISHED)
		see_finished(s, e);
	else
		count_stop(s, e->kind == SIM_EVENT_PREEMPTED ? "Preempted" : e->reason);
	if (e->kind != SIM_EVENT_FINISHED && !deleted)
		lose(s, e);
	s->missed += e->late_ms > 0;
}

void summary_see(struct summary *s, const struct sim_event *e)
{
	switch (e->kind) {
	case SIM_EVENT_ADOPTED:
		use(s, e, 1);
		return;
	case SIM_EVENT_ADMITTED:
		use(s, e, 1);
		see_admitted(s, e);
		break;
	case SIM_EVENT_PREEMPTED:
	case SIM_EVENT_STOPPED:
	case SIM_EVENT_FINISHED:
		see_ended(s, e);
		break;
	case SIM_EVENT_GREW:
	case SIM_EVENT_SHRANK:
		see_resized(s, e);
		break;
	case SIM_EVENT_GIVEN_UP:
	case SIM_EVENT_NOTICE:
		return;
	case SIM_EVENT_UNREACHABLE:
		s->unreachable++;
		return;
	case SIM_EVENT_WAITING:
		s->waiting++;
		return;
	}
	s->last_ms = e->at_ms > s->last_ms ? e->at_ms : s->last_ms;
}

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

void summary_close(struct summary *s, int64_t end_ms)
{
	if (end_ms > s->last_ms)
		s->last_ms = end_ms;
	for (size_t i = 0; i < s->ncolumns; i++)
		advance(&s->column[i], s->last_ms);
	if (s->nwaits > 0)
		qsort(s->wait_ms, s->nwaits, sizeof(*s->wait_ms), by_length);
}

/* ---- figures --------------------------------------------------------------------------------- */

static int64_t percentile(const struct summary *s, size_t percent)
{
	return s->wait_ms[(s->nwaits * percent + 99) / 100 - 1];
}

static double wait_mean(const struct summary *s)
{
	double sum = 0;
	for (size_t i = 0; i < s->nwaits; i++)
		sum += (double)s->wait_ms[i];
	return sum / (double)s->nwaits;
}

static bool utilisation(const struct summary *s, const struct column *c, double *ret)
{
	double whole = (double)c->capacity * (double)(s->last_ms - s->first_ms);
	*ret = whole > 0 ? c->area / whole : 0;
	return c->capacity > 0;
}

static uint64_t decisions_per_s(const struct summary *s)
{
	return s->decisions * 1000000 / (uint64_t)(s->core_us > 0 ? s->core_us : 1);
}

static double peak_rss_mb(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void utilisation_json(const struct summary *s, struct json_writer *w)
{
	char name[800];
	double share;
	jw_object(w, "utilisation");
	for (size_t i = 0; i < s->ncolumns; i++) {
		snprintf(name, sizeof(name), "%s/%s", s->column[i].flavor, s->column[i].resource);
		if (utilisation(s, &s->column[i], &share))
			jw_number(w, name, "%.4f", share);
	}
	jw_end(w);
}

static void stops_json(const struct summary *s, struct json_writer *w)
{
	jw_object(w, "stops");
	for (size_t i = 0; i < s->nstops; i++)
		jw_int(w, s->stop[i].reason, (int64_t)s->stop[i].count);
	jw_end(w);
}

static void cost_json(const struct summary *s, struct json_writer *w)
{
	jw_object(w, "cost");
	for (size_t i = 0; i < s->ncosts; i++)
		money_put(w, s->cost[i].currency, s->cost[i].micro);
	jw_end(w);
}

static size_t jobs_count(const struct summary *s)
{
	return s->w->nsim_jobs - s->w->nunqueued - s->w->nothers;
}

/* Writes how many Jobs are endless, and some of their names: there may be any number. */
static void endless_json(const struct summary *s, struct json_writer *w)
{
	char name[700];
	size_t shown = s->w->nendless < ENDLESS_NAMED ? s->w->nendless : ENDLESS_NAMED;
	jw_array(w, "without_expected_end");
	for (size_t i = 0; i < shown; i++)
		jw_text(w, NULL, world_name(s->w, s->w->endless[i], name, sizeof(name)));
	jw_end(w);
	jw_int(w, "without_expected_end_count", (int64_t)s->w->nendless);
}

static void waits_json(const struct summary *s, struct json_writer *w)
{
	if (s->nwaits == 0) {
		jw_object_of(w, "wait_ms", "mean", NULL, "p50", NULL, "p99", NULL, NULL);
		return;
	}
	jw_object(w, "wait_ms");
	jw_number(w, "mean", "%.1f", wait_mean(s));
	jw_int(w, "p50", percentile(s, 50));
	jw_int(w, "p99", percentile(s, 99));
	jw_end(w);
}

void summary_render_json(const struct summary *s, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	jw_object(&w, "summary");
	jw_int(&w, "jobs", (int64_t)jobs_count(s));
	jw_int(&w, "admitted", (int64_t)s->admitted);
	jw_int(&w, "preempted", (int64_t)s->preempted);
	jw_int(&w, "finished", (int64_t)s->finished);
	jw_int(&w, "waiting", (int64_t)s->waiting);
	stops_json(s, &w);
	if (s->grown + s->shrunk > 0) {
		jw_int(&w, "grown", (int64_t)s->grown);
		jw_int(&w, "shrunk", (int64_t)s->shrunk);
	}
	jw_int(&w, "work_lost_s", s->lost_ms / 1000);
	jw_int(&w, "missed_deadlines", (int64_t)s->missed);
	jw_int(&w, "unreachable", (int64_t)s->unreachable);
	if (s->w->live || s->w->nendless > 0)
		endless_json(s, &w);
	cost_json(s, &w);
	utilisation_json(s, &w);
	waits_json(s, &w);
	if (s->finished > 0)
		jw_number(
			&w, "bounded_slowdown_mean", "%.4f", s->slowdown_sum / (double)s->finished);
	else
		jw_text(&w, "bounded_slowdown_mean", NULL);
	jw_int(&w, "makespan_ms", s->last_ms - s->first_ms);
	jw_int(&w, "decisions", (int64_t)s->decisions);
	jw_int(&w, "decisions_per_s", (int64_t)decisions_per_s(s));
	jw_number(&w, "peak_rss_mb", "%.1f", peak_rss_mb());
	jw_close(&w);
	buf_putc(out, '\n');
}

/* ---- for people ------------------------------------------------------------------------------ */

static void length_row(struct table *t, const char *what, int64_t ms)
{
	table_cell(t, COLOUR_DIM, what);
	table_cell(t, COLOUR_NONE, span_short(ms).s);
	table_end_row(t);
}

static void count_row(struct table *t, const char *what, uint64_t n)
{
	table_cell(t, COLOUR_DIM, what);
	table_cellf(t, COLOUR_NONE, "%" PRIu64, n);
	table_end_row(t);
}

/* Returns the words for a reason whose name is too long to be read; NULL: the name is told. */
static const char *stop_words(const char *reason)
{
	if (strcmp(reason, stop_reason_name(STOP_REASON_MAX_RUN)) == 0)
		return "at their time limit";
	if (strcmp(reason, stop_reason_name(STOP_REASON_REQUEUE_LIMIT)) == 0)
		return "for good: pods not ready in time";
	return NULL;
}

static void stops_rows(const struct summary *s, struct table *t)
{
	if (s->preempted > 0 || s->nstops == 0)
		count_row(t, "preempted", s->preempted);
	for (size_t i = 0; i < s->nstops; i++) {
		if (strcmp(s->stop[i].reason, "Preempted") == 0)
			continue;
		const char *words = stop_words(s->stop[i].reason);
		table_cellf(t, COLOUR_DIM, "stopped%s %s", words ? "" : ":",
			words ? words : s->stop[i].reason);
		table_cellf(t, COLOUR_NONE, "%zu", s->stop[i].count);
		table_end_row(t);
	}
	if (s->lost_ms > 0)
		length_row(t, "pod time lost", s->lost_ms);
}

static void money_rows(const struct summary *s, struct table *t)
{
	char text[MONEY_TEXT_SIZE];
	for (size_t i = 0; i < s->ncosts; i++) {
		money_short(s->cost[i].micro, text);
		table_cell(t, COLOUR_DIM, "cost");
		table_cellf(t, COLOUR_NONE, "%s %s", text, s->cost[i].currency);
		table_end_row(t);
	}
	if (s->missed > 0)
		count_row(t, "deadlines missed", s->missed);
	if (s->unreachable > 0)
		count_row(t, "... known in advance", s->unreachable);
}

static void endless_row(const struct summary *s, struct table *t)
{
	char name[700];
	struct buf names;
	if (s->w->nendless == 0)
		return;
	buf_init(&names, ENDLESS_SHOWN * sizeof(name));
	for (size_t i = 0; i < s->w->nendless && i < ENDLESS_SHOWN; i++)
		buf_printf(&names, "%s%s", i ? ", " : "",
			world_name(s->w, s->w->endless[i], name, sizeof(name)));
	if (s->w->nendless > ENDLESS_SHOWN)
		buf_printf(&names, " and %zu more", s->w->nendless - ENDLESS_SHOWN);
	table_cell(t, COLOUR_DIM, "without expected end");
	table_cellf(t, COLOUR_NONE, "%zu: %s", s->w->nendless, buf_text(&names));
	table_end_row(t);
	buf_done(&names);
}

static void counts_table(const struct summary *s, struct table *t)
{
	count_row(t, "Jobs", jobs_count(s));
	count_row(t, "admitted", s->admitted);
	stops_rows(s, t);
	if (s->grown > 0)
		count_row(t, "grown", s->grown);
	if (s->shrunk > 0)
		count_row(t, "shrunk", s->shrunk);
	count_row(t, "finished", s->finished);
	count_row(t, "still waiting", s->waiting);
	endless_row(s, t);
	money_rows(s, t);
	length_row(t, "makespan", s->last_ms - s->first_ms);
	if (s->nwaits > 0) {
		length_row(t, "wait, mean", (int64_t)wait_mean(s));
		length_row(t, "wait, median", percentile(s, 50));
		length_row(t, "wait, 99 of 100", percentile(s, 99));
	}
	if (s->finished > 0) {
		table_cell(t, COLOUR_DIM, "bounded slowdown, mean");
		table_cellf(t, COLOUR_NONE, "%.2f", s->slowdown_sum / (double)s->finished);
		table_end_row(t);
	}
	count_row(t, "decisions", s->decisions);
	count_row(t, "decisions a second", decisions_per_s(s));
	table_cell(t, COLOUR_DIM, "memory");
	table_cellf(t, COLOUR_NONE, "%.0f MB", peak_rss_mb());
	table_end_row(t);
}

static void use_table(const struct summary *s, const struct style *style, struct table *t)
{
	for (size_t i = 0; i < s->ncolumns; i++) {
		const struct column *c = &s->column[i];
		double share;
		char capacity[64];
		struct buf bar;
		if (!utilisation(s, c, &share))
			continue;
		buf_init(&bar, 1024);
		bar_render((int64_t)(share * 1000), 1000, 20, style, &bar);
		quantity_describe(c->capacity, c->resource, capacity, sizeof(capacity));
		table_cell(t, COLOUR_NONE, c->flavor);
		table_cell(t, COLOUR_NONE, c->resource);
		table_cell(t, COLOUR_NONE, buf_text(&bar));
		table_cellf(t, COLOUR_NONE, "%.1f %% of %s", share * 100, capacity);
		table_end_row(t);
		buf_done(&bar);
	}
}

void summary_render_table(const struct summary *s, const struct style *style, struct buf *out)
{
	struct table *counts = table_new(style), *used = table_new(style);
	counts_table(s, counts);
	use_table(s, style, used);
	table_render(counts, out);
	buf_putc(out, '\n');
	table_render(used, out);
	table_free(counts);
	table_free(used);
}
