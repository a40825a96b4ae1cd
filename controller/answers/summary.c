#include "controller/answers/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "controller/answers/attention.h"
#include "controller/answers/own_queues.h"
#include "controller/answers/queued_job.h"
#include "forecast/play.h"
#include "sluice/quantity.h"

enum { REASONS = WAIT_LEDGER_DOWN + 1 };

static const char *const BY[] = {[SUMMARY_BY_QUEUE] = "queue",
	[SUMMARY_BY_USER] = "user",
	[SUMMARY_BY_SWEEP] = "sweep",
	[SUMMARY_BY_NAMESPACE] = "namespace"};

int summary_take(struct job_query *q, const char *by, struct err *e)
{
	q->ask = ASK_SUMMARY;
	if (!by)
		return 0;
	for (size_t i = 0; i < sizeof(BY) / sizeof(BY[0]); i++) {
		if (strcmp(BY[i], by) != 0)
			continue;
		q->by = (enum summary_by)i;
		return 0;
	}
	return err_set(
		e, ERR_INVALID, "by is \"%.40s\"; it must be queue, user, sweep or namespace", by);
}

/* ---- what is counted ------------------------------------------------------------------------- */

/* Some Jobs, and what they ask for or hold. */
struct tally {
	int64_t jobs, pods, oldest_ms; /* oldest_ms: of those that wait; 0: none does */
	struct resource *sum;	       /* by name, which is the queue's */
	size_t n, size;
};

/* When one of them starts; at_ms 0: not known. */
struct next_start {
	const char *ns, *name, *clusterqueue;
	int64_t at_ms, p90_ms;
};

struct reason {
	enum wait_reason reason;
	int64_t jobs, until_ms; /* until_ms 0: not known */
	const char *until_is;
};

struct group {
	const char *ns, *key; /* ns: "" but of sweeps */
	int64_t running, waiting, attention, oldest_ms;
	struct next_start next;
	uint32_t by_reason[REASONS];
};

/* Jobs of other namespaces in a ClusterQueue. */
struct others {
	const char *clusterqueue;
	int64_t running, waiting;
	int64_t ahead; /* of the first Job of this namespace in line; VIEW_NONE: it has none */
};

struct sums {
	const struct job_query *query;
	const struct queued_jobs_sources *sources;
	const char *by;
	int64_t now_ms, starting, stopping, attention_jobs, more_groups;
	struct tally running, waiting;
	struct next_start next;
	const struct next_start *next_shown; /* NULL: not known */
	struct reason reason[REASONS];
	struct attention *attention;
	struct map group_by_key;
	struct group **group;
	size_t ngroups, groups_size;
	struct others *others;
	size_t nothers;
};

static void add_amount(struct tally *t, const char *resource, int64_t amount)
{
	size_t i = 0;
	while (i < t->n && strcmp(t->sum[i].name, resource) < 0)
		i++;
	if (i == t->n || strcmp(t->sum[i].name, resource) != 0) {
		t->sum = mem_room(t->sum, t->n, &t->size, 8, sizeof(*t->sum));
		memmove(&t->sum[i + 1], &t->sum[i], (t->n - i) * sizeof(*t->sum));
		t->sum[i] = (struct resource){.name = resource};
		t->n++;
	}
	t->sum[i].amount = quantity_add(t->sum[i].amount, amount);
}

static void tally_waiting(struct sums *s, const struct queued_job *j)
{
	struct resource asks[QUEUE_LINES_MAX];
	struct tally *t = &s->waiting;
	int64_t queued_ms = j->explanation.queued_ms;
	int32_t pods;
	size_t n = queue_job_asks(s->sources->queue, &j->listed.uid, &pods, asks);
	t->jobs++;
	t->pods += pods;
	if (t->oldest_ms == 0 || queued_ms < t->oldest_ms)
		t->oldest_ms = queued_ms;
	for (size_t i = 0; i < n; i++)
		add_amount(t, asks[i].name, asks[i].amount);
}

static void tally_running(struct sums *s, const struct queued_job *j)
{
	struct quota_line line[QUEUE_LINES_MAX];
	struct tally *t = &s->running;
	size_t n = queue_job_lines(s->sources->queue, &j->listed.uid, line);
	t->jobs++;
	t->pods += queue_job_pods(s->sources->queue, &j->listed.uid);
	s->starting += strcmp(j->listed.state, "Starting") == 0;
	s->stopping += strcmp(j->listed.state, "Stopping") == 0;
	for (size_t i = 0; i < n; i++)
		add_amount(t, line[i].resource, line[i].amount);
}

/* ---- starts ---------------------------------------------------------------------------------- */

/* Finds when a waiting Job starts, as its QueuedJob tells it: status.startAt, else
 * status.start.p50. */
static struct next_start start_of(const struct sums *s, const struct queued_job *j)
{
	const struct explanation *x = &j->explanation;
	struct next_start ret = {j->listed.ns, j->listed.name, x->clusterqueue, 0, 0};
	struct forecast f;
	if (x->not_before_ms > s->now_ms && x->not_before_ms < INT64_MAX) {
		ret.at_ms = x->not_before_ms;
	} else if (s->sources->forecasts &&
		   forecasts_find(s->sources->forecasts, &j->listed.uid, x, &f) &&
		   f.start.p50_ms < PLAY_NEVER) {
		ret.at_ms = f.start.p50_ms;
		ret.p90_ms = f.start.p90_ms < PLAY_NEVER ? f.start.p90_ms : 0;
	}
	return ret;
}

static void take_earlier(struct next_start *best, const struct next_start *start)
{
	if (start->at_ms > 0 && (best->at_ms == 0 || start->at_ms < best->at_ms))
		*best = *start;
}

static void count_reason(
	struct sums *s, const struct explanation *x, const struct next_start *start)
{
	struct reason *r = &s->reason[x->reason];
	r->jobs++;
	if (start->at_ms == 0 || (r->until_ms > 0 && r->until_ms <= start->at_ms))
		return;
	r->until_ms = start->at_ms;
	r->until_is = start->at_ms != x->not_before_ms ? "NextStart"
		      : x->reason == WAIT_BACK_OFF     ? "Pause"
						       : "Opening";
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool is_group(const void *value, const void *key)
{
	const struct group *g = value, *like = key;
	return strcmp(g->key, like->key) == 0 && strcmp(g->ns, like->ns) == 0;
}

static const char *sweep_of(const struct sums *s, const struct queued_job *j)
{
	struct job_outline o;
	bool has_one = queue_outline_job(s->sources->queue, &j->listed.uid, &o) && *o.family;
	return has_one ? o.family : j->listed.name;
}

static const char *key_of(const struct sums *s, const struct queued_job *j, const char *sweep)
{
	switch (s->query->by) {
	case SUMMARY_BY_QUEUE:
		return j->explanation.clusterqueue;
	case SUMMARY_BY_USER:
		return j->listed.submitted_by ? j->listed.submitted_by : "";
	case SUMMARY_BY_SWEEP:
		return sweep;
	case SUMMARY_BY_NAMESPACE:
		return j->listed.ns;
	}
	return "";
}

static struct group *group_of(struct sums *s, const struct queued_job *j, const char *sweep)
{
	bool is_sweep = s->query->by == SUMMARY_BY_SWEEP;
	struct group like = {.ns = is_sweep ? j->listed.ns : "", .key = key_of(s, j, sweep)};
	uint64_t hash = map_hash_string(like.key) ^ map_hash_string(like.ns) * 3;
	struct group *g = map_get(&s->group_by_key, hash, &like);
	if (g)
		return g;
	g = mem_alloc(sizeof(*g));
	g->ns = like.ns;
	g->key = like.key;
	map_put(&s->group_by_key, hash, g);
	s->group = mem_room(s->group, s->ngroups, &s->groups_size, 64, sizeof(struct group *));
	s->group[s->ngroups++] = g;
	return g;
}

static int by_jobs(const void *a, const void *b)
{
	const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
	int64_t n = x->running + x->waiting, m = y->running + y->waiting;
	if (n != m)
		return n > m ? -1 : 1;
	int order = strcmp(x->key, y->key);
	return order ? order : strcmp(x->ns, y->ns);
}

/* ---- others ---------------------------------------------------------------------------------- */

static int by_clusterqueue(const void *a, const void *b)
{
	const struct others *x = a, *y = b;
	return strcmp(x->clusterqueue, y->clusterqueue);
}

static struct others *others_of(const struct sums *s, const char *clusterqueue)
{
	struct others like = {.clusterqueue = clusterqueue};
	return s->nothers
		       ? bsearch(&like, s->others, s->nothers, sizeof(*s->others), by_clusterqueue)
		       : NULL;
}

static void open_others(struct sums *s)
{
	struct own_queues own = own_queues_of(s->sources->queue, s->query->ns);
	s->nothers = own.n;
	s->others = mem_array(own.n + 1, sizeof(*s->others));
	for (size_t i = 0; i < own.n; i++)
		s->others[i] = (struct others){.clusterqueue = own.name[i], .ahead = VIEW_NONE};
	own_queues_done(&own);
}

/* The Job that has the fewest ahead has none of its namespace ahead. */
static void count_ahead(struct sums *s, const struct explanation *x)
{
	struct others *o = others_of(s, x->clusterqueue);
	int64_t ahead = (int64_t)x->ahead;
	if (!o || !x->in_line || wait_reason_needs_change(x->reason))
		return;
	if (o->ahead == VIEW_NONE || ahead < o->ahead)
		o->ahead = ahead;
}

static bool runs(const char *state)
{
	return strcmp(state, "Running") == 0 || strcmp(state, "Starting") == 0 ||
	       strcmp(state, "Stopping") == 0;
}

static bool waits(const char *state)
{
	return strcmp(state, "Waiting") == 0;
}

static void count_other(const struct queued_jobs_place *p, void *ctx)
{
	struct sums *s = ctx;
	struct others *o = strcmp(p->ns, s->query->ns) == 0 ? NULL : others_of(s, p->clusterqueue);
	if (!o)
		return;
	o->running += runs(p->state);
	o->waiting += waits(p->state);
}

/* ---- counting -------------------------------------------------------------------------------- */

static void count_waiting(struct sums *s, const struct queued_job *j, struct group *g)
{
	const struct explanation *x = &j->explanation;
	struct next_start start = start_of(s, j);
	tally_waiting(s, j);
	count_reason(s, x, &start);
	count_ahead(s, x);
	take_earlier(&s->next, &start);
	take_earlier(&g->next, &start);
	g->waiting++;
	g->by_reason[x->reason]++;
	if (g->oldest_ms == 0 || x->queued_ms < g->oldest_ms)
		g->oldest_ms = x->queued_ms;
}

static void count(const struct queued_job *j, size_t row, void *ctx)
{
	struct sums *s = ctx;
	bool is_waiting = waits(j->listed.state);
	if (!is_waiting && !runs(j->listed.state))
		return;
	const char *sweep = sweep_of(s, j);
	struct group *g = group_of(s, j, sweep);
	if (is_waiting) {
		count_waiting(s, j, g);
	} else {
		tally_running(s, j);
		g->running++;
	}
	g->attention += attention_add(s->attention, j, row, sweep);
}

static void sum_up(struct sums *s, struct queued_jobs *all)
{
	const char *ns = *s->query->ns ? s->query->ns : NULL;
	if (ns)
		open_others(s);
	queued_jobs_each(all, ns, count, s);
	if (s->nothers > 0)
		queued_jobs_each_place(all, NULL, count_other, s);
	if (s->ngroups > 1)
		qsort(s->group, s->ngroups, sizeof(struct group *), by_jobs);
	if (s->ngroups > SUMMARY_GROUPS_MAX)
		s->more_groups = (int64_t)(s->ngroups - SUMMARY_GROUPS_MAX);
	s->attention_jobs = (int64_t)attention_jobs(s->attention);
	s->next_shown = s->next.at_ms > 0 ? &s->next : NULL;
}

/* ---- shown ----------------------------------------------------------------------------------- */

static void put_requests(struct json_writer *w, const char *key, const void *object)
{
	const struct tally *t = object;
	jw_object(w, key);
	for (size_t i = 0; i < t->n; i++)
		quantity_put(w, t->sum[i].name, t->sum[i].amount, t->sum[i].name);
	jw_end(w);
}

static const struct view_member tally_rows[] = {
	{"jobs", VIEW_INT, IN(tally, jobs), "How many Jobs."},
	{"pods", VIEW_INT, IN(tally, pods), "How many pods these have at once."},
	{"requests", VIEW_PUT, 0, 0,
		"By resource: what those that run hold, and what those that wait ask for.",
		.put = put_requests, .as = "object"},
	{"oldestQueuedAt", VIEW_TIME, IN(tally, oldest_ms),
		"When the one was queued that waits for longest. Absent where none waits."},
};
static const struct view tally_view = VIEW("SummaryReportJobs", NULL, tally_rows);

static const struct view_member next_rows[] = {
	{"namespace", VIEW_TEXT, IN(next_start, ns), "Of the Job."},
	{"name", VIEW_TEXT, IN(next_start, name), "Its name."},
	{"clusterQueue", VIEW_TEXT, IN(next_start, clusterqueue), "That it waits in."},
	{"at", VIEW_TIME, IN(next_start, at_ms),
		"status.startAt of its QueuedJob where time alone decides; else status.start.p50."},
	{"p90", VIEW_TIME, IN(next_start, p90_ms),
		"By then it has started in 90 % of the simulations. Absent where time alone decides, or too many have no start."},
};
static const struct view next_view = VIEW("SummaryReportStart", NULL, next_rows);

struct shown_reason {
	const char *reason, *waits_for, *until_is;
	int64_t jobs, until_ms;
	bool needs_change;
};

static const struct view_member reason_rows[] = {
	{"reason", VIEW_TEXT, IN(shown_reason, reason), "In one word, such as WaitingForQuota."},
	{"waitsFor", VIEW_TEXT, IN(shown_reason, waits_for), "In a few words."},
	{"jobs", VIEW_INT, IN(shown_reason, jobs), "How many Jobs wait for that."},
	{"until", VIEW_TIME, IN(shown_reason, until_ms),
		"When the first of these starts, or may start. Absent where it is not known."},
	{"untilIs", VIEW_TEXT, IN(shown_reason, until_is),
		"What happens then. NextStart: an expected start. Opening: the time that the Job waits for comes, such as its window or its price. Pause: its retry pause ends."},
	{"needsChange", VIEW_BOOL, IN(shown_reason, needs_change),
		"True: they start only after a person has changed something."},
};
static const struct view reason_view = VIEW("SummaryReportReason", NULL, reason_rows);

static int by_count(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;
	if (x->jobs != y->jobs)
		return x->jobs > y->jobs ? -1 : 1;
	return x->reason < y->reason ? -1 : x->reason > y->reason;
}

static void put_reasons(struct json_writer *w, const char *key, const void *object)
{
	const struct sums *s = object;
	struct reason sorted[REASONS];
	for (size_t i = 0; i < REASONS; i++) {
		sorted[i] = s->reason[i];
		sorted[i].reason = (enum wait_reason)i;
	}
	qsort(sorted, REASONS, sizeof(*sorted), by_count);
	jw_array(w, key);
	for (size_t i = 0; i < REASONS && sorted[i].jobs > 0; i++) {
		const struct reason *r = &sorted[i];
		struct shown_reason x = {wait_reason_name(r->reason), wait_reason_phrase(r->reason),
			r->until_is, r->jobs, r->until_ms, wait_reason_needs_change(r->reason)};
		view_put(w, NULL, &reason_view, &x);
	}
	jw_end(w);
}

struct shown_group {
	const char *key, *ns, *reason, *waits_for;
	int64_t running, waiting, attention, oldest_ms;
	const struct next_start *next;
};

static const struct view_member group_rows[] = {
	{"key", VIEW_TEXT, IN(shown_group, key),
		"The ClusterQueue, the user, the sweep (CronJob/NAME, a generateName, or the name of a Job that is one of a kind) or the namespace. Empty: not known."},
	{"namespace", VIEW_TEXT, IN(shown_group, ns), "Of a sweep."},
	{"running", VIEW_INT, IN(shown_group, running), "How many of its Jobs hold quota."},
	{"waiting", VIEW_INT, IN(shown_group, waiting), "How many wait."},
	{"attention", VIEW_COUNT, IN(shown_group, attention),
		"How many need attention. Absent where none does."},
	{"oldestQueuedAt", VIEW_TIME, IN(shown_group, oldest_ms),
		"When the one was queued that waits for longest."},
	{"nextStart", VIEW_OBJECT, IN(shown_group, next), "The earliest start. Absent: not known.",
		.of = &next_view},
	{"reason", VIEW_TEXT, IN(shown_group, reason),
		"Why most of those wait that do, in one word."},
	{"waitsFor", VIEW_TEXT, IN(shown_group, waits_for), "That, in a few words."},
};
static const struct view group_view = VIEW("SummaryReportGroup", NULL, group_rows);

static void put_group(struct json_writer *w, const struct group *g)
{
	size_t most = 0;
	for (size_t i = 1; i < REASONS; i++)
		if (g->by_reason[i] > g->by_reason[most])
			most = i;
	bool has_reason = g->by_reason[most] > 0;
	struct shown_group x = {.key = g->key,
		.ns = *g->ns ? g->ns : NULL,
		.reason = has_reason ? wait_reason_name((enum wait_reason)most) : NULL,
		.waits_for = has_reason ? wait_reason_phrase((enum wait_reason)most) : NULL,
		.running = g->running,
		.waiting = g->waiting,
		.attention = g->attention,
		.oldest_ms = g->oldest_ms,
		.next = g->next.at_ms > 0 ? &g->next : NULL};
	view_put(w, NULL, &group_view, &x);
}

static void put_groups(struct json_writer *w, const char *key, const void *object)
{
	const struct sums *s = object;
	jw_array(w, key);
	for (size_t i = 0; i < s->ngroups && i < SUMMARY_GROUPS_MAX; i++)
		put_group(w, s->group[i]);
	jw_end(w);
}

static const struct view_member others_rows[] = {
	{"clusterQueue", VIEW_TEXT, IN(others, clusterqueue),
		"To which a LocalQueue of the namespace leads, and which lets it in."},
	{"running", VIEW_INT, IN(others, running), "How many of these Jobs hold quota."},
	{"waiting", VIEW_INT, IN(others, waiting), "How many wait."},
	{"ahead", VIEW_INT, IN(others, ahead),
		"How many are before the first Job of the namespace that waits in line. Absent where none does."},
};
static const struct view others_view = VIEW("SummaryReportOthers", NULL, others_rows);

static void put_others(struct json_writer *w, const char *key, const void *object)
{
	const struct sums *s = object;
	if (!*s->query->ns)
		return;
	jw_array(w, key);
	for (size_t i = 0; i < s->nothers; i++)
		view_put(w, NULL, &others_view, &s->others[i]);
	jw_end(w);
}

static void put_attention(struct json_writer *w, const char *key, const void *object)
{
	attention_put(((const struct sums *)object)->attention, w, key);
}

static void put_words(struct json_writer *w, const char *key, const void *object)
{
	attention_put_words(((const struct sums *)object)->attention, w, key);
}

static const struct view_member summary_rows[] = {
	{"asOf", VIEW_TIME, IN(sums, now_ms), "The time of the queue's state that was summed up."},
	{"running", VIEW_PART, IN(sums, running),
		"Jobs that hold quota: Starting, Running or Stopping.", .of = &tally_view},
	{"starting", VIEW_INT, IN(sums, starting), "How many of these are being started."},
	{"stopping", VIEW_INT, IN(sums, stopping), "How many of these are being stopped."},
	{"waiting", VIEW_PART, IN(sums, waiting), "Jobs that wait.", .of = &tally_view},
	{"nextStart", VIEW_OBJECT, IN(sums, next_shown),
		"The earliest start of those that wait. Absent: not known.", .of = &next_view},
	{"reasons", VIEW_PUT, 0, 0, "Why Jobs wait; what most wait for comes first.",
		.put = put_reasons, .of = &reason_view},
	{"attention", VIEW_PUT, 0, 0,
		"Jobs that need attention, the worst first, those that are alike as one; 100 at most.",
		.put = put_attention, .of = &attention_view},
	{"attentionJobs", VIEW_INT, IN(sums, attention_jobs), "How many Jobs need attention."},
	{"attentionWords", VIEW_PUT, 0, 0, "How many Jobs for each word; most Jobs first.",
		.put = put_words, .of = &attention_word_view},
	{"by", VIEW_TEXT, IN(sums, by), "By what the groups are: queue, user, sweep or namespace."},
	{"groups", VIEW_PUT, 0, 0, "Groups of Jobs; most Jobs first, 1,000 at most.",
		.put = put_groups, .of = &group_view},
	{"moreGroups", VIEW_INT, IN(sums, more_groups), "How many more groups there are."},
	{"others", VIEW_PUT, 0, 0,
		"Jobs of other namespaces in the ClusterQueues to which LocalQueues of the namespace lead, as numbers. Only in a summary of one namespace.",
		.put = put_others, .of = &others_view},
};
const struct view summary_view = VIEW("SummaryReport",
	"Jobs of a namespace, or of all, summed up: how many run and wait, why, until when, and which need attention.",
	summary_rows);

void summary_put(struct queued_jobs *all, const struct job_query *q, struct buf *out)
{
	const struct queued_jobs_sources *sources = queued_jobs_of(all);
	struct sums s = {.query = q,
		.sources = sources,
		.by = BY[q->by],
		.now_ms = sources->now_ms,
		.attention = attention_new(all)};
	struct json_writer w = json_writer_object(out);
	map_init(&s.group_by_key, is_group);
	sum_up(&s, all);
	jw_texts(&w, "kind", "SummaryReport", "apiVersion", VISIBILITY_GROUP "/" VISIBILITY_VERSION,
		NULL);
	view_put_members(&w, &summary_view, &s);
	jw_close(&w);
	buf_putc(out, '\n');
	attention_free(s.attention);
	for (size_t i = 0; i < s.ngroups; i++)
		free(s.group[i]);
	free(s.group);
	map_done(&s.group_by_key);
	free(s.others);
	free(s.running.sum);
	free(s.waiting.sum);
}
