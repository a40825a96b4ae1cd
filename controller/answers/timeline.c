#include "controller/answers/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "controller/answers/own_queues.h"
#include "controller/answers/queued_job.h"
#include "controller/answers/timeline_fold.h"
#include "controller/answers/week.h"
#include "forecast/play.h"
#include "sluice/quantity.h"
#include "sluice/week.h"

#define MINUTE_MS INT64_C(60000)

/* A forecast that is later than a start that time decides by no more than this agrees with it. */
#define AGREES_MS 60000

struct jobs_of_others {
	int64_t running, waiting;
};

struct lane {
	const char *clusterqueue;
	const char *cohort; /* NULL: none, or not told */
	bool is_told;
	int64_t running, waiting, more;
	struct jobs_of_others others;
};

struct forecasts_basis {
	int64_t as_of_ms, draws;
};

struct timeline {
	const struct queued_jobs_sources *sources;
	const struct job_query *query;
	int64_t from_ms, until_ms;
	struct lane *lane; /* by name */
	size_t nlanes, lanes_room;
	struct bar_item *item;
	size_t n, room;
	struct forecasts_basis forecasts; /* as_of_ms 0: there is none yet */
};

/* ---- lanes ------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(
		((const struct lane *)a)->clusterqueue, ((const struct lane *)b)->clusterqueue);
}

static struct lane *lane_of(struct timeline *t, const char *clusterqueue)
{
	struct lane like = {.clusterqueue = clusterqueue};
	return t->nlanes ? bsearch(&like, t->lane, t->nlanes, sizeof(*t->lane), by_name) : NULL;
}

static void find_lanes(struct timeline *t)
{
	struct clusterqueue_view v;
	bool is_of_all = !*t->query->ns;
	for (size_t i = 0; queue_view_any_clusterqueue(t->sources->queue, i, &v); i++) {
		t->lane = mem_room(t->lane, t->nlanes, &t->lanes_room, 64, sizeof(*t->lane));
		t->lane[t->nlanes++] = (struct lane){.clusterqueue = v.name,
			.cohort = is_of_all && v.cohort && *v.cohort ? v.cohort : NULL,
			.is_told = is_of_all};
	}
	if (t->nlanes > 1)
		qsort(t->lane, t->nlanes, sizeof(*t->lane), by_name);
}

static void find_own_lanes(struct timeline *t)
{
	struct own_queues own = own_queues_of(t->sources->queue, t->query->ns);
	for (size_t i = 0; i < own.n; i++) {
		struct lane *lane = lane_of(t, own.name[i]);
		if (lane)
			lane->is_told = true;
	}
	own_queues_done(&own);
}

/* Finds how a Job that holds quota is shown. False: it holds none. */
static bool is_held(const char *gate_state, enum bar_state *ret)
{
	static const char *const states[] = {[BAR_RUNNING] = "Running",
		[BAR_STARTING] = "Starting",
		[BAR_STOPPING] = "Stopping"};
	for (int i = BAR_RUNNING; i < BAR_EXPECTED; i++)
		if (strcmp(gate_state, states[i]) == 0) {
			*ret = (enum bar_state)i;
			return true;
		}
	return false;
}

static bool is_waiting(const char *gate_state)
{
	return strcmp(gate_state, "Waiting") == 0;
}

static void count_job(const struct queued_jobs_place *p, void *ctx)
{
	struct timeline *t = ctx;
	struct lane *lane = lane_of(t, p->clusterqueue);
	bool is_own = !*t->query->ns || strcmp(p->ns, t->query->ns) == 0;
	enum bar_state state;
	bool holds = is_held(p->state, &state), waits = is_waiting(p->state);
	if (!lane)
		return;
	if (is_own && holds)
		lane->is_told = true;
	*(is_own ? &lane->running : &lane->others.running) += holds;
	*(is_own ? &lane->waiting : &lane->others.waiting) += waits;
}

/* Leaves the lane that is asked for, if one is. */
static int choose_lane(struct timeline *t, struct err *e)
{
	const char *wanted = t->query->clusterqueue;
	struct lane *one = lane_of(t, wanted);
	if (!*wanted)
		return 0;
	bool is_told = one && one->is_told;
	for (size_t i = 0; i < t->nlanes; i++)
		t->lane[i].is_told = is_told && &t->lane[i] == one;
	if (is_told)
		return 0;
	if (*t->query->ns)
		return err_set(e, ERR_GONE,
			"clusterQueue is %.250s, to which no LocalQueue of namespace %s leads: leave it out to see the others",
			wanted, t->query->ns);
	return err_set(e, ERR_GONE,
		"there is no ClusterQueue %.250s: leave clusterQueue out to see all of them",
		wanted);
}

/* ---- Jobs -------------------------------------------------------------------------------------- */

static void look_at_run(const struct timeline *t, const struct queued_job *j, struct bar_item *x)
{
	const struct explanation *e = &j->explanation;
	x->from_ms = j->listed.started_ms > 0 ? j->listed.started_ms : t->from_ms;
	x->stops_ms = e->stop_ms;
	if (e->expected_ms > 0 && x->state != BAR_STOPPING)
		x->until_ms = x->from_ms + e->expected_ms;
	if (x->until_ms <= t->from_ms)
		x->until_ms = 0; /* it takes longer than it was expected to */
}

/* Tells when time alone lets it start; 0: something else decides. */
static int64_t start_by_time_ms(const struct timeline *t, const struct explanation *e)
{
	bool is_to_come = e->not_before_ms > t->from_ms && e->not_before_ms < INT64_MAX;
	return is_to_come && !wait_reason_needs_change(e->reason) ? e->not_before_ms : 0;
}

static int64_t later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Finds when the Job is expected to start. False: that is not known. */
static bool look_at_start(struct timeline *t, const struct queued_job *j, struct bar_item *x)
{
	const struct explanation *e = &j->explanation;
	struct forecast f;
	int64_t by_time_ms = start_by_time_ms(t, e);
	bool is_foretold = t->sources->forecasts &&
			   forecasts_find(t->sources->forecasts, &j->listed.uid, e, &f);
	if (is_foretold)
		t->forecasts = (struct forecasts_basis){f.as_of_ms, (int64_t)f.draws};
	x->from_ms = by_time_ms;
	x->certain = by_time_ms > 0;
	if (is_foretold && f.start.p50_ms < PLAY_NEVER &&
		(!x->certain || f.start.p50_ms > by_time_ms + AGREES_MS)) {
		x->certain = false;
		x->from_ms = later_of(f.start.p50_ms, t->from_ms);
		x->p90_ms = f.start.p90_ms < PLAY_NEVER ? later_of(f.start.p90_ms, t->from_ms) : 0;
	}
	if (x->from_ms > 0 && e->expected_ms > 0)
		x->until_ms = x->from_ms + e->expected_ms;
	return x->from_ms > 0 && x->from_ms < t->until_ms;
}

static const char *sweep_of(const struct timeline *t, const struct queued_job *j)
{
	struct job_outline o;
	bool has_family = queue_outline_job(t->sources->queue, &j->listed.uid, &o) && *o.family;
	return has_family ? o.family : j->listed.name;
}

static void add_job(const struct queued_job *j, size_t row, void *ctx)
{
	struct timeline *t = ctx;
	struct lane *lane = lane_of(t, j->explanation.clusterqueue);
	bool waits = is_waiting(j->listed.state);
	struct bar_item x = {.state = BAR_EXPECTED,
		.ns = j->listed.ns,
		.name = j->listed.name,
		.uid = j->listed.uid,
		.deadline_ms = j->explanation.deadline_ms};
	(void)row;
	if (!lane || !lane->is_told || (!waits && !is_held(j->listed.state, &x.state)))
		return;
	if (!waits) {
		look_at_run(t, j, &x);
	} else if (!look_at_start(t, j, &x)) {
		lane->more++;
		return;
	}
	x.lane = (size_t)(lane - t->lane);
	x.sweep = sweep_of(t, j);
	t->item = mem_room(t->item, t->n, &t->room, 256, sizeof(*t->item));
	t->item[t->n++] = x;
}

/* ---- a bar ------------------------------------------------------------------------------------- */

struct shown_bar {
	const struct queue *queue;
	struct bar bar;
	struct bar_item first;
	const char *state;
	int64_t jobs;
};

static void add_amount(struct resource *sum, size_t *n, const struct resource *r)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(sum[i].name, r->name) == 0) {
			sum[i].amount = quantity_add(sum[i].amount, r->amount);
			return;
		}
	if (*n < QUEUE_LINES_MAX)
		sum[(*n)++] = *r;
}

static void put_requests(struct json_writer *w, const char *key, const void *object)
{
	const struct shown_bar *x = object;
	struct resource sum[QUEUE_LINES_MAX], asks[QUEUE_LINES_MAX];
	size_t n = 0;
	int32_t pods;
	for (size_t i = 0; i < x->bar.n; i++) {
		size_t nasks = queue_job_asks(x->queue, &x->bar.item[i].uid, &pods, asks);
		for (size_t k = 0; k < nasks; k++)
			add_amount(sum, &n, &asks[k]);
	}
	if (n == 0)
		return;
	jw_object(w, key);
	for (size_t i = 0; i < n; i++)
		quantity_put(w, sum[i].name, sum[i].amount, sum[i].name);
	jw_end(w);
}

static const struct view_member bar_rows[] = {
	{"state", VIEW_TEXT, IN(shown_bar, state),
		"Running, Starting or Stopping: the Jobs hold quota. Expected: they wait."},
	{"namespace", VIEW_TEXT, IN(shown_bar, first.ns), "The namespace of the Jobs."},
	{"name", VIEW_TEXT, IN(shown_bar, first.name),
		"The name of the Job, or of the first that starts."},
	{"sweep", VIEW_TEXT, IN(shown_bar, first.sweep),
		"What the Jobs have in common: CronJob/NAME (any other owner alike), or the generateName; else the name of the only Job."},
	{"jobs", VIEW_INT, IN(shown_bar, jobs),
		"How many Jobs the bar has: alike ones that start within the same 96th of the stretch, counted from the epoch."},
	{"from", VIEW_TIME, IN(shown_bar, first.from_ms),
		"When the run began; of Expected when the first of the Jobs is expected to start, now at the earliest: by then half of the simulations have started it, or time alone lets it start."},
	{"p90", VIEW_TIME, IN(shown_bar, bar.p90_ms),
		"By then 90 % of the simulations have started each of the Jobs. Absent where that is not known, and where time alone decides."},
	{"certain", VIEW_FLAG, IN(shown_bar, first.certain),
		"True: time alone decides the start, such as a window that opens."},
	{"until", VIEW_TIME, IN(shown_bar, bar.until_ms),
		"When the last of the Jobs is expected to end. Absent where that is not known of one, or where one takes longer than expected."},
	{"stopsAt", VIEW_TIME, IN(shown_bar, bar.stops_ms),
		"When a window will stop the first of the Jobs that it stops."},
	{"deadline", VIEW_TIME, IN(shown_bar, bar.deadline_ms),
		"When it must have ended, as its owner said: the earliest of the Jobs."},
	{"requests", VIEW_PUT, 0, 0, "What the pods of all the Jobs ask for together, by resource.",
		.put = put_requests, .as = "object"},
};
static const struct view bar_view = VIEW("TimelineBar", NULL, bar_rows);

/* ---- AdvanceReservations ----------------------------------------------------------------------- */

struct shown_reservation {
	const char *name, *clusterqueue;
	int64_t from_ms, until_ms;
};

struct reservations {
	struct shown_reservation *item;
	size_t n, room;
};

static const struct view_member reservation_rows[] = {
	{"name", VIEW_TEXT, IN(shown_reservation, name), "Of the AdvanceReservation."},
	{"from", VIEW_TIME, IN(shown_reservation, from_ms),
		"The beginning of its window that is open, or comes next."},
	{"until", VIEW_TIME, IN(shown_reservation, until_ms), "The end of that window."},
};
static const struct view reservation_view = VIEW("TimelineReservation", NULL, reservation_rows);

/* Finds those that have quota in the stretch, or will have. */
static struct reservations find_reservations(const struct timeline *t)
{
	struct reservations r = {0};
	struct advance_reservation_view v;
	for (size_t i = 0; queue_view_advance_reservation(t->sources->queue, i, &v); i++) {
		if ((v.state != ADVANCE_SCHEDULED && v.state != ADVANCE_ACTIVE) ||
			v.from_ms >= t->until_ms || v.until_ms <= t->from_ms)
			continue;
		r.item = mem_room(r.item, r.n, &r.room, 16, sizeof(*r.item));
		r.item[r.n++] =
			(struct shown_reservation){v.name, v.clusterqueue, v.from_ms, v.until_ms};
	}
	return r;
}

/* ---- a lane ------------------------------------------------------------------------------------ */

struct shown_lane {
	const struct queue *queue;
	struct lane lane;
	const struct jobs_of_others *others; /* NULL: no namespace asks */
	const struct queue_week *week;	     /* NULL: there is no such ClusterQueue */
	const struct reservations *reservations;
	const struct bar *bar;
	size_t nbars;
};

static const struct view_member others_rows[] = {
	{"running", VIEW_INT, IN(jobs_of_others, running), "Those that hold quota."},
	{"waiting", VIEW_INT, IN(jobs_of_others, waiting), "Those that wait."},
};
static const struct view others_view = VIEW("TimelineOthers", NULL, others_rows);

/* Of a ClusterQueue that is not there, and has Jobs still. */
static void put_none(struct json_writer *w, const char *key)
{
	jw_array(w, key);
	jw_end(w);
}

static void put_windows(struct json_writer *w, const char *key, const void *object)
{
	const struct shown_lane *x = object;
	if (x->week)
		week_put_windows(w, x->week);
	else
		put_none(w, key);
}

static void put_prices(struct json_writer *w, const char *key, const void *object)
{
	const struct shown_lane *x = object;
	if (x->week)
		week_put_prices(w, x->week);
	else
		put_none(w, key);
}

static void put_reservations(struct json_writer *w, const char *key, const void *object)
{
	const struct shown_lane *x = object;
	jw_array(w, key);
	for (size_t i = 0; i < x->reservations->n; i++) {
		const struct shown_reservation *r = &x->reservations->item[i];
		if (strcmp(r->clusterqueue, x->lane.clusterqueue) == 0)
			view_put(w, NULL, &reservation_view, r);
	}
	jw_end(w);
}

static void put_bars(struct json_writer *w, const char *key, const void *object)
{
	static const char *const states[] = {[BAR_RUNNING] = "Running",
		[BAR_STARTING] = "Starting",
		[BAR_STOPPING] = "Stopping",
		[BAR_EXPECTED] = "Expected"};
	const struct shown_lane *x = object;
	jw_array(w, key);
	for (size_t i = 0; i < x->nbars; i++) {
		const struct bar *bar = &x->bar[i];
		const struct shown_bar shown = {.queue = x->queue,
			.bar = *bar,
			.first = *bar->item,
			.state = states[bar->item->state],
			.jobs = (int64_t)bar->n};
		view_put(w, NULL, &bar_view, &shown);
	}
	jw_end(w);
}

static const struct view_member lane_rows[] = {
	{"clusterQueue", VIEW_TEXT, IN(shown_lane, lane.clusterqueue), "Its name."},
	{"cohort", VIEW_TEXT, IN(shown_lane, lane.cohort),
		"The Cohort of the ClusterQueue, where it has one. Not of one namespace."},
	{"running", VIEW_INT, IN(shown_lane, lane.running),
		"How many Jobs hold quota, those included that start or stop. Of one namespace its own."},
	{"waiting", VIEW_INT, IN(shown_lane, lane.waiting),
		"How many Jobs wait. Of one namespace its own."},
	{"others", VIEW_OBJECT, IN(shown_lane, others),
		"The Jobs of other namespaces in the ClusterQueue. Only of one namespace.",
		.of = &others_view},
	{"windows", VIEW_PUT, 0, 0,
		"When each RunPolicy lets it start Jobs, as in clusterqueues/NAME/week.",
		.put = put_windows, .as = "tree[]"},
	{"prices", VIEW_PUT, 0, 0,
		"The factor and rate of its PricePlan, in steps, as in clusterqueues/NAME/week.",
		.put = put_prices, .as = "tree[]"},
	{"reservations", VIEW_PUT, 0, 0,
		"The AdvanceReservations that keep quota of the ClusterQueue in the stretch.",
		.put = put_reservations, .of = &reservation_view},
	{"bars", VIEW_PUT, 0, 0,
		"Jobs that hold quota, and Jobs that are expected to start in the stretch, by their starts. At most 200, and 2,000 of all lanes, shared fairly by namespaces.",
		.put = put_bars, .of = &bar_view},
	{"more", VIEW_INT, IN(shown_lane, lane.more),
		"How many Jobs are in no bar: their start is not known or after the stretch, or there are too many bars."},
};
static const struct view lane_view = VIEW("TimelineLane", NULL, lane_rows);

/* ---- all of it --------------------------------------------------------------------------------- */

struct shown_timeline {
	struct timeline *timeline;
	int64_t from_ms, until_ms;
	const struct forecasts_basis *forecasts; /* NULL: there is none yet */
	bool has_no_forecasts;
	struct bars bars;
	struct reservations reservations;
};

/* Views the week's lists from the minute on in which the stretch begins, to that in which it ends:
 * they are cut there, and would differ with each second, and with them the ETag (net/coding.h). */
static bool view_week(const struct timeline *t, const char *clusterqueue, struct queue_week *ret)
{
	int64_t from_ms = t->from_ms - t->from_ms % MINUTE_MS;
	int64_t until_ms = t->until_ms - t->until_ms % MINUTE_MS;
	return until_ms > from_ms &&
	       queue_view_week(t->sources->queue, clusterqueue, from_ms, until_ms, ret);
}

static void put_lane(struct json_writer *w, const struct shown_timeline *x, size_t lane,
	const struct bar *bar, size_t nbars)
{
	const struct timeline *t = x->timeline;
	struct queue_week week;
	struct shown_lane shown = {.queue = t->sources->queue,
		.lane = t->lane[lane],
		.others = *t->query->ns ? &t->lane[lane].others : NULL,
		.reservations = &x->reservations,
		.bar = bar,
		.nbars = nbars};
	shown.lane.more += (int64_t)x->bars.left_out[lane];
	if (view_week(t, shown.lane.clusterqueue, &week))
		shown.week = &week;
	view_put(w, NULL, &lane_view, &shown);
	if (shown.week)
		queue_week_done(&week);
}

static void put_lanes(struct json_writer *w, const char *key, const void *object)
{
	const struct shown_timeline *x = object;
	const struct bar *at = x->bars.bar, *end = at + x->bars.n;
	jw_array(w, key);
	for (size_t i = 0; i < x->timeline->nlanes; i++) {
		const struct bar *first = at;
		while (at < end && at->item->lane == i)
			at++;
		if (x->timeline->lane[i].is_told)
			put_lane(w, x, i, first, (size_t)(at - first));
	}
	jw_end(w);
}

static const struct view_member forecasts_rows[] = {
	{"asOf", VIEW_TIME, IN(forecasts_basis, as_of_ms),
		"The time of the queue's state that was simulated."},
	{"draws", VIEW_INT, IN(forecasts_basis, draws),
		"How many simulations the expected starts are based on."},
};
static const struct view forecasts_view = VIEW("TimelineForecasts", NULL, forecasts_rows);

static const struct view_member timeline_rows[] = {
	{"asOf", VIEW_TIME, IN(shown_timeline, from_ms), "The time of what is told."},
	{"from", VIEW_TIME, IN(shown_timeline, from_ms), "The beginning of the stretch: now."},
	{"until", VIEW_TIME, IN(shown_timeline, until_ms),
		"Its end, so long after as the parameter until says (24h; 7d at most)."},
	{"forecastsOf", VIEW_OBJECT, IN(shown_timeline, forecasts),
		"What the expected starts are based on. Absent where no user has asked for it lately, and in the first seconds: only starts that time alone decides are told then.",
		.of = &forecasts_view},
	{"noForecasts", VIEW_FLAG, IN(shown_timeline, has_no_forecasts),
		"True: the controller has --forecasts off."},
	{"lanes", VIEW_PUT, 0, 0,
		"Each ClusterQueue by name. Of one namespace those to which its LocalQueues lead, or in which its Jobs hold quota.",
		.put = put_lanes, .of = &lane_view},
};
const struct view timeline_view = VIEW("Timeline",
	"What is and what is expected, by ClusterQueue on one axis of time: windows, prices, AdvanceReservations, runs, and starts of Jobs that wait.",
	timeline_rows);

static void put_timeline(struct timeline *t, struct buf *out)
{
	struct shown_timeline shown = {.timeline = t,
		.from_ms = t->from_ms,
		.until_ms = t->until_ms,
		.forecasts = t->forecasts.as_of_ms > 0 ? &t->forecasts : NULL,
		.has_no_forecasts = !t->sources->forecasts,
		.bars = timeline_fold(t->item, t->n, t->nlanes, t->query->span_ms),
		.reservations = find_reservations(t)};
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "kind", timeline_view.name, "apiVersion",
		VISIBILITY_GROUP "/" VISIBILITY_VERSION, NULL);
	view_put_members(&w, &timeline_view, &shown);
	jw_close(&w);
	buf_putc(out, '\n');
	bars_done(&shown.bars);
	free(shown.reservations.item);
}

int timeline_put(struct queued_jobs *all, const struct job_query *q, struct buf *out, struct err *e)
{
	const struct queued_jobs_sources *s = queued_jobs_of(all);
	struct timeline t = {
		.sources = s, .query = q, .from_ms = s->now_ms, .until_ms = s->now_ms + q->span_ms};
	find_lanes(&t);
	if (*q->ns)
		find_own_lanes(&t);
	queued_jobs_each_place(all, NULL, count_job, &t);
	int rc = choose_lane(&t, e);
	if (rc == 0) {
		queued_jobs_each(all, *q->ns ? q->ns : NULL, add_job, &t);
		put_timeline(&t, out);
	}
	free(t.lane);
	free(t.item);
	return rc;
}
