#include "cli/simulate/chart.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "cli/simulate/time_axis.h"
#include "queue/calendar/zone.h"
#include "queue/price/money.h"
#include "sluice/quantity.h"

enum {
	WIDTH = 1000,
	LEFT = 20,
	RIGHT = 980,
	PLOT = RIGHT - LEFT,
	CURVE_HEIGHT = 140,
	STRIP_HEIGHT = 48,  /* height of one flavor's resource */
	QUEUE_HEIGHT = 260, /* height of a ClusterQueue's lanes together, at most */
	LANE_HEIGHT = 18,   /* at most */
	PRICE_HEIGHT = 36,
	COST_WIDTH = 90, /* room for what a run cost */
	RUNS_MAX = 3000, /* runs drawn one by one */
	CURVES_MAX = 8,
};

#define LETTER_WIDTH_PX 6.2 /* on average */

/* Colours that can be told apart also by most colour-blind people. */
static const char *const palette[CURVES_MAX] = {
	"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933", "#555555"};

void chart_init(struct chart *c, const struct world *w, const struct summary *summary)
{
	*c = (struct chart){.w = w, .summary = summary, .utc = zone_utc()};
}

void chart_done(struct chart *c)
{
	free(c->run);
	free(c->step);
	free(c->turn);
	free(c->open);
	zone_free(c->utc);
	*c = (struct chart){0};
}

/* ---- what happens ---------------------------------------------------------------------------- */

static void see_use(struct chart *c, const struct sim_event *e, int sign)
{
	for (size_t i = 0; i < e->nlines; i++) {
		size_t column =
			summary_column(c->summary, e->lines[i].flavor, e->lines[i].resource);
		if (column == SIZE_MAX)
			continue;
		c->step = mem_one_more(c->step, c->nsteps, sizeof(*c->step));
		c->step[c->nsteps++] =
			(struct chart_step){e->at_ms, sign * e->lines[i].amount, column};
	}
}

static void open_run(struct chart *c, const struct sim_event *e)
{
	while (c->nopen <= e->sim_job) {
		c->open = mem_one_more(c->open, c->nopen, sizeof(*c->open));
		c->open[c->nopen++] = SIZE_MAX;
	}
	c->open[e->sim_job] = c->nruns;
	c->run = mem_one_more(c->run, c->nruns, sizeof(*c->run));
	c->run[c->nruns++] = (struct chart_run){
		.sim_job = e->sim_job,
		.clusterqueue = e->clusterqueue,
		.column = e->nlines > 0 ? summary_column(c->summary, e->lines[0].flavor,
						  e->lines[0].resource)
					: SIZE_MAX,
		.from_ms = e->at_ms,
		.to_ms = INT64_MAX,
		.attempt = c->w->sim_job[e->sim_job].attempt,
	};
}

static void close_run(struct chart *c, const struct sim_event *e)
{
	if (e->sim_job >= c->nopen || c->open[e->sim_job] == SIZE_MAX)
		return;
	struct chart_run *r = &c->run[c->open[e->sim_job]];
	r->to_ms = e->at_ms;
	r->stopped = e->kind != SIM_EVENT_FINISHED;
	r->cost = e->bill ? e->bill->cost : 0;
	r->currency = e->bill ? e->bill->currency : NULL;
	c->open[e->sim_job] = SIZE_MAX;
}

void chart_see(struct chart *c, const struct sim_event *e)
{
	switch (e->kind) {
	case SIM_EVENT_ADOPTED:
	case SIM_EVENT_ADMITTED:
		see_use(c, e, 1);
		open_run(c, e);
		return;
	case SIM_EVENT_GREW:
		see_use(c, e, 1);
		return;
	case SIM_EVENT_SHRANK:
		see_use(c, e, -1);
		return;
	case SIM_EVENT_PREEMPTED:
	case SIM_EVENT_STOPPED:
	case SIM_EVENT_FINISHED:
		see_use(c, e, -1);
		close_run(c, e);
		return;
	case SIM_EVENT_GIVEN_UP:
	case SIM_EVENT_NOTICE:
	case SIM_EVENT_UNREACHABLE:
	case SIM_EVENT_WAITING:
		return;
	}
}

static const struct rule *find_rule(const struct chart *c, enum rule_kind kind, const char *name)
{
	const struct policy_specs *b = &c->w->policy_specs;
	for (size_t i = 0; i < b->n; i++)
		if (b->rule[i].kind == kind && strcmp(rule_name(&b->rule[i]), name) == 0)
			return &b->rule[i];
	return NULL;
}

static void see_turn(struct chart *c, const struct rule *rule, int64_t value, int64_t now_ms)
{
	for (size_t i = c->nturns; i-- > 0;)
		if (c->turn[i].rule == rule) {
			if (c->turn[i].value == value)
				return;
			break;
		}
	c->turn = mem_one_more(c->turn, c->nturns, sizeof(*c->turn));
	c->turn[c->nturns++] = (struct chart_turn){now_ms, rule, value};
}

void chart_look(struct chart *c, int64_t now_ms)
{
	struct runpolicy_view policy;
	struct priceplan_view plan;
	if (c->w->policy_specs.n == 0)
		return;
	for (size_t i = 0; queue_view_runpolicy(c->w->queue, i, &policy); i++)
		see_turn(c, find_rule(c, RULE_RUNPOLICY, policy.name), policy.open, now_ms);
	for (size_t i = 0; queue_view_priceplan(c->w->queue, i, &plan); i++)
		see_turn(c, find_rule(c, RULE_PRICEPLAN, plan.name), plan.factor, now_ms);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void put_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			buf_puts(out, "&lt;");
		else if (*text == '>')
			buf_puts(out, "&gt;");
		else if (*text == '&')
			buf_puts(out, "&amp;");
		else if ((unsigned char)*text < 0x20)
			buf_putc(out, '?');
		else
			buf_putc(out, *text);
	}
}

static double x_of(const struct chart *c, int64_t ms)
{
	int64_t first = c->summary->first_ms, last = c->summary->last_ms;
	if (ms > last)
		ms = last;
	if (ms < first)
		ms = first;
	return LEFT + (last > first ? (double)(ms - first) * PLOT / (double)(last - first) : 0);
}

/* Adds level to each bucket, for as long as it lasted in that pixel's time. */
static void spread(
	const struct chart *c, double bucket[PLOT], int64_t from_ms, int64_t to_ms, double level)
{
	double from = x_of(c, from_ms) - LEFT, to = x_of(c, to_ms) - LEFT;
	for (int i = (int)from; i < PLOT && i < to; i++) {
		double low = from > i ? from : i, high = to < i + 1 ? to : i + 1;
		bucket[i] += level * (high - low);
	}
}

/* Draws steps through the buckets, each a share of most; down to the base when filled. */
static void draw_curve(const double bucket[PLOT], double most, double top, double height,
	const char *colour, bool filled, struct buf *out)
{
	double base = top + height;
	buf_puts(out, "<path d=\"");
	if (filled)
		buf_printf(out, "M%d %.1f", LEFT, base);
	for (int i = 0; i < PLOT; i++) {
		double share = most > 0 ? bucket[i] / most : 0;
		double y = base - height * (share > 1 ? 1 : share);
		if (i == 0 && !filled)
			buf_printf(out, "M%d %.1f", LEFT, y);
		buf_printf(out, "V%.1fH%d", y, LEFT + i + 1);
	}
	if (filled)
		buf_printf(out, "V%.1fZ", base);
	buf_printf(out, "\" fill=\"%s\" fill-opacity=\"%s\" stroke=\"%s\"/>\n",
		filled ? colour : "none", filled ? "0.3" : "0", colour);
}

static void draw_label(struct buf *out, double x, double y, const char *extra, const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, extra);
	put_text(out, text);
	buf_puts(out, "</text>\n");
}

static const struct zone *zone_of(const struct chart *c)
{
	struct calendar_view v;
	for (size_t i = 0; queue_view_calendar(c->w->queue, i, &v); i++)
		if (v.zone)
			return v.zone;
	return c->utc;
}

static const char *anchor_at(double x)
{
	return x < LEFT + 30	? ""
	       : x > RIGHT - 30 ? " text-anchor=\"end\""
				: " text-anchor=\"middle\"";
}

/* Draws the axis, first, so that it lies behind everything; labels at top and bottom. */
static void draw_axis(const struct chart *c, double top, double bottom, struct buf *out)
{
	struct time_tick tick[TIME_AXIS_TICKS];
	size_t n = time_axis(c->zone, c->summary->first_ms, c->summary->last_ms, tick);
	for (size_t i = 0; i < n; i++) {
		double x = x_of(c, tick[i].at_ms);
		buf_printf(out,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n",
			x, top, x, bottom);
		draw_label(out, x, top - 4, anchor_at(x), tick[i].text);
		draw_label(out, x, bottom + 13, anchor_at(x), tick[i].text);
	}
}

static void draw_use(const struct chart *c, size_t column, double top, struct buf *out)
{
	double bucket[PLOT] = {0};
	int64_t level = 0, since_ms = c->summary->first_ms;
	for (size_t i = 0; i < c->nsteps; i++) {
		const struct chart_step *s = &c->step[i];
		if (s->column != column)
			continue;
		spread(c, bucket, since_ms, s->at_ms, (double)level);
		level += s->by;
		since_ms = s->at_ms;
	}
	spread(c, bucket, since_ms, c->summary->last_ms, (double)level);
	draw_curve(bucket, (double)c->summary->column[column].capacity, top, STRIP_HEIGHT,
		palette[column], true, out);
}

/* Draws a strip for each column: curves in one plot would hide each other. */
static double draw_curves(const struct chart *c, double top, struct buf *out)
{
	size_t n = c->summary->ncolumns < CURVES_MAX ? c->summary->ncolumns : CURVES_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct column *column = &c->summary->column[i];
		char text[300], amount[150];
		quantity_describe(column->capacity, column->resource, amount, sizeof(amount));
		snprintf(
			text, sizeof(text), "in use of %.60s: 100 %% = %s", column->flavor, amount);
		draw_label(out, LEFT, top + 11, "", text);
		top += 16;
		buf_printf(out,
			"<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" class=\"frame\"/>\n",
			LEFT, top, PLOT, STRIP_HEIGHT);
		draw_use(c, i, top, out);
		top += STRIP_HEIGHT + 6;
	}
	return top + 16;
}

/* ---- what the rules said --------------------------------------------------------------------- */

static size_t next_turn(const struct chart *c, const struct rule *rule, size_t at)
{
	while (at < c->nturns && c->turn[at].rule != rule)
		at++;
	return at < c->nturns ? at : SIZE_MAX;
}

static int64_t until_ms(const struct chart *c, size_t turn)
{
	size_t next = next_turn(c, c->turn[turn].rule, turn + 1);
	return next == SIZE_MAX ? c->summary->last_ms : c->turn[next].at_ms;
}

static void draw_shade(
	const struct chart *c, const struct rule *rule, double top, double bottom, struct buf *out)
{
	char text[80];
	for (size_t i = 0; (i = next_turn(c, rule, i)) != SIZE_MAX; i++) {
		double x = x_of(c, c->turn[i].at_ms), to = x_of(c, until_ms(c, i));
		if (c->turn[i].value || to <= x)
			continue;
		buf_printf(out,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"closed\"/>\n",
			x, top, to - x, bottom - top);
		snprintf(text, sizeof(text), "closed: %.60s", rule_name(rule));
		if (to - x > LETTER_WIDTH_PX * (double)strlen(text) + COST_WIDTH)
			draw_label(out, to - 3, bottom - 5, " class=\"dim\" text-anchor=\"end\"",
				text);
	}
}

static void draw_closed(
	const struct chart *c, const char *clusterqueue, double top, double bottom, struct buf *out)
{
	const struct policy_specs *b = &c->w->policy_specs;
	for (size_t i = 0; i < b->n; i++)
		if (b->rule[i].kind == RULE_RUNPOLICY && rule_binds(&b->rule[i], clusterqueue))
			draw_shade(c, &b->rule[i], top, bottom, out);
}

/* Finds the PricePlan of a queue. Of several the first by name holds. */
static const struct rule *plan_of(const struct chart *c, const char *clusterqueue)
{
	const struct policy_specs *b = &c->w->policy_specs;
	const struct rule *best = NULL;
	for (size_t i = 0; i < b->n; i++)
		if (b->rule[i].kind == RULE_PRICEPLAN && rule_binds(&b->rule[i], clusterqueue) &&
			(!best || strcmp(rule_name(&b->rule[i]), rule_name(best)) < 0))
			best = &b->rule[i];
	return best;
}

static void factor_range(
	const struct chart *c, const struct rule *plan, int64_t *ret_least, int64_t *ret_most)
{
	size_t i = next_turn(c, plan, 0);
	*ret_least = *ret_most = c->turn[i].value;
	for (; i != SIZE_MAX; i = next_turn(c, plan, i + 1)) {
		int64_t value = c->turn[i].value;
		*ret_least = value < *ret_least ? value : *ret_least;
		*ret_most = value > *ret_most ? value : *ret_most;
	}
}

/* Draws the line of prices, down to 0, or below where a price is. Returns where it ends. */
static double draw_price(
	const struct chart *c, const char *clusterqueue, double top, struct buf *out)
{
	const struct rule *plan = plan_of(c, clusterqueue);
	double bucket[PLOT] = {0};
	int64_t least, most, base;
	char text[200], low[MONEY_TEXT_SIZE], high[MONEY_TEXT_SIZE];
	if (!plan || next_turn(c, plan, 0) == SIZE_MAX)
		return top;
	factor_range(c, plan, &least, &most);
	base = least < 0 ? least : 0;
	for (size_t i = 0; (i = next_turn(c, plan, i)) != SIZE_MAX; i++)
		spread(c, bucket, c->turn[i].at_ms, until_ms(c, i),
			(double)c->turn[i].value - (double)base);
	draw_curve(
		bucket, (double)most - (double)base, top + 14, PRICE_HEIGHT, "#d55e00", false, out);
	money_format(least, low);
	money_format(most, high);
	snprintf(text, sizeof(text), "price: %.60s, base x %s to %s", rule_name(plan), low, high);
	draw_label(out, LEFT, top + 10, " class=\"dim\"", text);
	return top + PRICE_HEIGHT + 22;
}

/* ---- the runs of one ClusterQueue ------------------------------------------------------------ */

/* Finds the lane of each run of a ClusterQueue, in order of their beginning: the first lane that is
 * free. Returns how many lanes there are. */
static size_t find_lanes(const struct chart *c, const char *clusterqueue, size_t *lane)
{
	int64_t *busy_ms = mem_array(c->nruns, sizeof(*busy_ms));
	size_t n = 0;
	for (size_t i = 0; i < c->nruns; i++) {
		const struct chart_run *r = &c->run[i];
		size_t l = 0;
		if (strcmp(r->clusterqueue, clusterqueue) != 0)
			continue;
		while (l < n && busy_ms[l] > r->from_ms)
			l++;
		n += l == n;
		busy_ms[l] = r->to_ms;
		lane[i] = l;
	}
	free(busy_ms);
	return n;
}

/* Draws the cost to the right of the run, before the lane's next one; else at its right end, if
 * there is room beside its name. */
static void draw_cost(const struct chart *c, const struct chart_run *r, int64_t next_ms, double y,
	struct buf *out)
{
	char text[MONEY_TEXT_SIZE + 20], amount[MONEY_TEXT_SIZE];
	double x = x_of(c, r->to_ms), end = next_ms == INT64_MAX ? RIGHT : x_of(c, next_ms);
	if (!r->currency)
		return;
	money_short(r->cost, amount);
	snprintf(text, sizeof(text), "%s %.16s", amount, r->currency);
	double width = LETTER_WIDTH_PX * (double)strlen(text) + 6;
	if (x + width < end)
		draw_label(out, x + 3, y, " class=\"dim\"", text);
	else if (x - x_of(c, r->from_ms) > width + COST_WIDTH)
		draw_label(out, x - 3, y, " class=\"name\" text-anchor=\"end\"", text);
}

static void put_title(
	const struct chart *c, const struct chart_run *r, const char *name, struct buf *out)
{
	char from[ZONE_TEXT_SIZE], to[ZONE_TEXT_SIZE] = "the end";
	const struct zone *z = c->zone;
	if (r->to_ms != INT64_MAX)
		zone_text(z, r->to_ms / 1000, to);
	buf_puts(out, "<title>");
	put_text(out, name);
	buf_printf(out, ", attempt %" PRId32 ": %s to %s%s</title>", r->attempt,
		zone_text(z, r->from_ms / 1000, from), to, r->stopped ? ", stopped" : "");
}

/* Draws a run. next_ms: when the lane's next run begins. */
static void draw_run(const struct chart *c, const struct chart_run *r, int64_t next_ms, double y,
	double height, struct buf *out)
{
	char name[600];
	double x = x_of(c, r->from_ms), width = x_of(c, r->to_ms) - x;
	world_name(c->w, r->sim_job, name, sizeof(name));
	buf_printf(out,
		"<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" class=\"run\"/>",
		x, y, width > 0.5 ? width : 0.5, height,
		r->column < CURVES_MAX ? palette[r->column] : palette[CURVES_MAX - 1]);
	if (r->stopped)
		buf_printf(out,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"2\" height=\"%.1f\" fill=\"#c00\"/>",
			x + width - 2, y, height);
	put_title(c, r, name, out);
	const char *slash = strchr(name, '/');
	if (slash && height >= 11 && LETTER_WIDTH_PX * (double)strlen(slash + 1) + 6 < width)
		draw_label(out, x + 3, y + height - 4, " class=\"name\"", slash + 1);
	buf_puts(out, "</g>\n");
	if (height >= 11)
		draw_cost(c, r, next_ms, y + height - 4, out);
}

static double draw_lanes(
	const struct chart *c, const char *clusterqueue, size_t *lane, double top, struct buf *out)
{
	size_t n = find_lanes(c, clusterqueue, lane);
	double height =
		n * LANE_HEIGHT > QUEUE_HEIGHT ? (double)QUEUE_HEIGHT / (double)n : LANE_HEIGHT;
	int64_t *next_ms =
		mem_array(n, sizeof(*next_ms)); /* of each lane, from the last run back */
	for (size_t l = 0; l < n; l++)
		next_ms[l] = INT64_MAX;
	for (size_t i = c->nruns; i-- > 0;) {
		const struct chart_run *r = &c->run[i];
		if (strcmp(r->clusterqueue, clusterqueue) != 0)
			continue;
		draw_run(c, r, next_ms[lane[i]], top + height * (double)lane[i],
			height > 3 ? height - 1 : height * 0.8, out);
		next_ms[lane[i]] = r->from_ms;
	}
	free(next_ms);
	return top + height * (double)n;
}

static double draw_count(
	const struct chart *c, const char *clusterqueue, double top, struct buf *out)
{
	double bucket[PLOT] = {0}, most = 0;
	char text[64];
	for (size_t i = 0; i < c->nruns; i++)
		if (strcmp(c->run[i].clusterqueue, clusterqueue) == 0)
			spread(c, bucket, c->run[i].from_ms, c->run[i].to_ms, 1);
	for (int i = 0; i < PLOT; i++)
		most = bucket[i] > most ? bucket[i] : most;
	draw_curve(bucket, most, top, CURVE_HEIGHT, palette[0], true, out);
	snprintf(text, sizeof(text), "%.0f Jobs at once", most);
	draw_label(out, LEFT + 3, top + 11, " class=\"dim\"", text);
	return top + CURVE_HEIGHT;
}

static double draw_queue(
	const struct chart *c, const char *clusterqueue, size_t *lane, double top, struct buf *out)
{
	draw_label(out, LEFT, top, " class=\"head\"", clusterqueue);
	struct buf runs;
	double low = draw_price(c, clusterqueue, top + 8, out);
	buf_init(&runs, out->ceiling);
	double bottom = c->nruns <= RUNS_MAX ? draw_lanes(c, clusterqueue, lane, low, &runs)
					     : draw_count(c, clusterqueue, low, &runs);
	draw_closed(c, clusterqueue, low, bottom + 2, out);
	buf_add(out, buf_text(&runs), runs.len);
	buf_done(&runs);
	return bottom + 32;
}

static double draw_queues(const struct chart *c, double top, struct buf *out)
{
	struct clusterqueue_view view;
	size_t *lane = mem_array(c->nruns + 1, sizeof(*lane));
	for (size_t i = 0; queue_view_clusterqueue(c->w->queue, i, &view); i++) {
		bool any = false;
		for (size_t r = 0; r < c->nruns && !any; r++)
			any = strcmp(c->run[r].clusterqueue, view.name) == 0;
		if (any)
			top = draw_queue(c, view.name, lane, top, out);
	}
	free(lane);
	return top;
}

static void draw_head(const struct chart *c, struct buf *out)
{
	const struct summary *s = c->summary;
	char text[256];
	snprintf(text, sizeof(text),
		"%zu Jobs: %zu admissions, %zu preemptions, %zu finished, %zu wait; makespan %s",
		s->w->nsim_jobs - s->w->nunqueued, s->admitted, s->preempted, s->finished,
		s->waiting, span_short(s->last_ms - s->first_ms).s);
	draw_label(out, LEFT, 24, " class=\"head\"", text);
	snprintf(text, sizeof(text), "times in %s", c->zone->name);
	draw_label(out, RIGHT, 24, " class=\"dim\" text-anchor=\"end\"", text);
}

void chart_render(struct chart *c, struct buf *out)
{
	static const char style[] =
		"<style>text{font:11px sans-serif;fill:#333}.head{font-weight:bold;font-size:13px}"
		".dim{fill:#777}.name{fill:#fff}.grid{stroke:#ccc;stroke-width:.5}"
		".closed{fill:#888;fill-opacity:.15}.frame{fill:none;stroke:#999}.run{stroke:#fff;"
		"stroke-width:.8}"
		"path{stroke-width:1.2}</style>\n";
	struct buf body;
	buf_init(&body, out->ceiling);
	c->zone = zone_of(c);
	double bottom = draw_curves(c, 56, &body);
	bottom = draw_queues(c, bottom + 10, &body);
	buf_printf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, bottom, WIDTH, bottom);
	buf_puts(out, style);
	draw_head(c, out);
	draw_axis(c, 52, bottom - 24, out);
	buf_add(out, buf_text(&body), body.len);
	buf_puts(out, "</svg>\n");
	buf_done(&body);
}
