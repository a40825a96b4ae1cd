#include "controller/answers/queued_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/common/selector.h"
#include "controller/gate/label_set.h"
#include "controller/answers/queued_job.h"
#include "controller/answers/watch_rows.h"
#include "controller/answers/watch_terms.h"

#define MINUTE_MS INT64_C(60000)

/* ---- all of them ----------------------------------------------------------------------------- */

struct row {
	struct gate_listed job;
	bool is_deferred; /* of a kind that may be very many: the queue's words are not kept */
	/* The row's place, known once is_placed. */
	bool is_placed, is_known, has_digest;
	uint64_t digest;
	const char *localqueue, *clusterqueue;
	enum {
		PART_HOLDS_QUOTA,
		PART_IN_LINE,
		PART_ASIDE,
	} part;
	size_t rank;
	int64_t queued_ms;
};

struct queued_jobs {
	struct queued_jobs_sources sources;
	struct row *row; /* by namespace and name */
	size_t n, size;
	/* The last list that was asked for, in its order: pages of one list come one after the
	 * other. */
	struct job_query query;
	struct row **found;
	size_t nfound;
};

static void add(const struct gate_listed *j, bool is_deferred, void *ctx)
{
	struct queued_jobs *all = ctx;
	all->row = mem_room(all->row, all->n, &all->size, 1024, sizeof(*all->row));
	struct row *r = &all->row[all->n++];
	*r = (struct row){.job = *j, .is_deferred = is_deferred};
}

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->job.ns, y->job.ns);
	if (order == 0)
		order = strcmp(x->job.name, y->job.name);
	return order ? order : uid_cmp(&x->job.uid, &y->job.uid);
}

struct queued_jobs *queued_jobs_new(const struct queued_jobs_sources *s)
{
	struct queued_jobs *all = mem_alloc(sizeof(*all));
	*all = (struct queued_jobs){.sources = *s};
	gate_each_job(s->gate, add, all);
	if (all->n > 1)
		qsort(all->row, all->n, sizeof(*all->row), by_name);
	return all;
}

void queued_jobs_free(struct queued_jobs *all)
{
	if (!all)
		return;
	free(all->found);
	free(all->row);
	free(all);
}

/* ---- which of them --------------------------------------------------------------------------- */

/* Explains a row. False: the gate knows the Job no more. */
static bool explain(const struct queued_jobs *all, const struct row *r, struct explanation *ret)
{
	if (r->is_deferred)
		return queue_explain_deferred_uid(all->sources.queue, &r->job.uid, ret);
	return gate_explain(all->sources.gate, r->job.ns, r->job.name, all->sources.now_ms, ret);
}

/* Places a Job that the gate has and the queue has not: it is being deleted, say. */
static bool place_of_gate(const struct queued_jobs *all, const struct row *r, struct job_place *ret)
{
	struct explanation x;
	if (!explain(all, r, &x))
		return false;
	*ret = (struct job_place){.localqueue = x.localqueue,
		.clusterqueue = x.clusterqueue,
		.holds_quota = x.reason == WAIT_NOT,
		.queued_ms = x.queued_ms};
	return true;
}

static void place(const struct queued_jobs *all, struct row *r)
{
	struct job_place p = {0};
	r->is_placed = true;
	r->is_known =
		queue_place_of(all->sources.queue, &r->job.uid, &p) || place_of_gate(all, r, &p);
	r->localqueue = p.localqueue;
	r->clusterqueue = p.clusterqueue;
	r->part = p.holds_quota ? PART_HOLDS_QUOTA : p.in_line ? PART_IN_LINE : PART_ASIDE;
	r->rank = p.rank;
	r->queued_ms = p.queued_ms;
}

static bool is_or_any(const char *wanted, const char *text)
{
	return !*wanted || strcmp(wanted, text) == 0;
}

/* True if the Job has the trouble that q asks for. Most questions are not about troubles, and most
 * Jobs have none. */
static bool has_trouble_asked_for(
	const struct queued_jobs *all, const struct gate_listed *j, const struct job_query *q)
{
	struct gate_trouble trouble;
	if (!q->in_trouble && !*q->trouble)
		return true;
	return gate_job_trouble(all->sources.gate, j->ns, j->name, &trouble) &&
	       is_or_any(q->trouble, trouble_name(trouble.word));
}

static bool is_asked_for(struct queued_jobs *all, struct row *r, const struct job_query *q,
	const struct selector *labels)
{
	const struct gate_listed *j = &r->job;
	if (!is_or_any(q->ns, j->ns) || !is_or_any(q->name, j->name) ||
		!is_or_any(q->submitted_by, j->submitted_by ? j->submitted_by : "") ||
		!is_or_any(q->state, j->state) ||
		(*q->not_state && strcmp(q->not_state, j->state) == 0) ||
		!has_trouble_asked_for(all, j, q))
		return false;
	if (*q->labels && !labels_match(label_set_labels(j->labels), label_set_count(j->labels),
				  &labels->term))
		return false;
	if (!r->is_placed)
		place(all, r);
	return r->is_known && is_or_any(q->clusterqueue, r->clusterqueue) &&
	       is_or_any(q->localqueue, r->localqueue);
}

/* Compares by the order of the queue, as far as there is one. */
static int by_place(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->queued_ms != y->queued_ms)
		return x->queued_ms < y->queued_ms ? -1 : 1;
	return by_name(x, y);
}

static size_t begin_of(const struct queued_jobs *all, const char *ns)
{
	size_t from = 0, to = all->n;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (strcmp(all->row[middle].job.ns, ns) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void find_by_name(struct queued_jobs *all, const struct job_query *q)
{
	struct selector labels = {0};
	if (*q->labels)
		must(selector_parse(q->labels, &labels)); /* job_query_take() has checked it */
	size_t from = *q->ns ? begin_of(all, q->ns) : 0, to = from;
	while (to < all->n && is_or_any(q->ns, all->row[to].job.ns))
		to++;
	all->found = mem_grow(all->found, to - from + 1, sizeof(*all->found));
	all->nfound = 0;
	for (size_t i = from; i < to; i++)
		if (is_asked_for(all, &all->row[i], q, &labels))
			all->found[all->nfound++] = &all->row[i];
	selector_done(&labels);
}

static void find(struct queued_jobs *all, const struct job_query *q)
{
	find_by_name(all, q);
	if (all->nfound > 1)
		qsort(all->found, all->nfound, sizeof(*all->found), by_place);
}

static bool is_same_list(const struct job_query *a, const struct job_query *b)
{
	return a->ask == b->ask && strcmp(a->ns, b->ns) == 0 && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->clusterqueue, b->clusterqueue) == 0 &&
	       strcmp(a->localqueue, b->localqueue) == 0 &&
	       strcmp(a->submitted_by, b->submitted_by) == 0 && strcmp(a->state, b->state) == 0 &&
	       strcmp(a->not_state, b->not_state) == 0 && strcmp(a->trouble, b->trouble) == 0 &&
	       a->in_trouble == b->in_trouble && strcmp(a->labels, b->labels) == 0;
}

/* ---- as a list ------------------------------------------------------------------------------- */

static void put_head(const struct queued_jobs *all, const struct job_query *q, size_t end,
	uint64_t moment, struct json_writer *w)
{
	char token[JOB_QUERY_TOKEN_SIZE];
	bool is_table = q->form != FORM_OBJECTS;
	jw_texts(w, "kind", is_table ? "Table" : "QueuedJobList", "apiVersion",
		is_table ? "meta.k8s.io/v1" : VISIBILITY_GROUP "/" VISIBILITY_VERSION, NULL);
	jw_object(w, "metadata");
	jw_textf(w, "resourceVersion", "%" PRIu64, watch_version(moment, 0));
	if (end < all->nfound) {
		jw_text(w, "continue", job_query_token(moment, end, token));
		jw_int(w, "remainingItemCount", (int64_t)(all->nfound - end));
	}
	jw_end(w);
	if (is_table)
		queued_job_put_columns(w);
	jw_array(w, is_table ? "rows" : "items");
}

static void put_row(struct queued_jobs *all, const struct row *r, const struct job_query *q,
	uint64_t version, const char *key, struct json_writer *w)
{
	struct queued_job j = {.listed = r->job, .version = version};
	must(explain(all, r, &j.explanation));
	queued_job_put(w, key, &all->sources, &j, q->form);
}

void queued_jobs_list(
	struct queued_jobs *all, const struct job_query *q, uint64_t moment, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	if (!all->found || !is_same_list(&all->query, q))
		find(all, q);
	all->query = *q;
	size_t first = q->first < all->nfound ? q->first : all->nfound;
	size_t left = all->nfound - first;
	size_t end = first + (q->limit && q->limit < left ? q->limit : left);
	put_head(all, q, end, moment, &w);
	for (size_t i = first; i < end; i++)
		put_row(all, all->found[i], q, watch_version(moment, 0), NULL, &w);
	jw_close(&w);
	buf_putc(out, '\n');
}

/* ---- as a watch has them --------------------------------------------------------------------- */

static uint64_t digest_of(const struct queued_jobs *all, struct row *r)
{
	struct queued_job j = {.listed = r->job};
	if (r->has_digest)
		return r->digest;
	must(explain(all, r, &j.explanation));
	r->digest = queued_job_digest(&all->sources, &j);
	r->has_digest = true;
	return r->digest;
}

static bool is_same_name(const struct row *a, const struct row *b)
{
	return strcmp(a->job.ns, b->job.ns) == 0 && strcmp(a->job.name, b->job.name) == 0;
}

void queued_jobs_rows(struct queued_jobs *all, const struct job_query *q, struct buf *out)
{
	find_by_name(all, q);
	all->query = *q;
	for (size_t i = 0; i < all->nfound; i++) {
		struct row *r = all->found[i];
		struct watch_row row = {.uid = r->job.uid,
			.created_ms = r->job.created_ms,
			.ns = slice_of(r->job.ns),
			.name = slice_of(r->job.name),
			.localqueue = slice_of(r->localqueue)};
		if (i + 1 < all->nfound && is_same_name(r, all->found[i + 1]))
			continue;
		row.digest = digest_of(all, r);
		watch_row_put(out, &row);
	}
}

static struct row *row_of(const struct queued_jobs *all, const struct watch_row *wanted)
{
	char ns[64], name[256];
	snprintf(ns, sizeof(ns), "%.*s", (int)wanted->ns.len, wanted->ns.ptr);
	snprintf(name, sizeof(name), "%.*s", (int)wanted->name.len, wanted->name.ptr);
	struct row like = {.job = {.uid = wanted->uid, .ns = ns, .name = name}};
	return all->n ? bsearch(&like, all->row, all->n, sizeof(*all->row), by_name) : NULL;
}

static void put_event(struct queued_jobs *all, const struct job_query *q,
	const struct watch_order *o, bool with_columns, struct buf *out)
{
	static const char *const types[] = {[WATCH_ADDED] = "ADDED",
		[WATCH_MODIFIED] = "MODIFIED",
		[WATCH_DELETED] = "DELETED"};
	struct row *r = row_of(all, &o->row);
	if (r && !r->is_placed)
		place(all, r);
	struct json_writer w = json_writer(out);
	const char *key =
		queued_job_begin_event(&w, types[o->event], o->version, with_columns, q->form);
	if (r && r->is_known)
		put_row(all, r, q, o->version, key, &w);
	else
		queued_job_put_gone(&w, key, &all->sources, &o->row, o->version, q->form);
	queued_job_end_event(&w);
}

void queued_jobs_events(struct queued_jobs *all, const struct job_query *q,
	const struct job_query_events *how, struct slice orders, struct buf *out)
{
	struct watch_order o;
	bool with_columns = how->with_columns;
	while (watch_order_take(&orders, &o)) {
		put_event(all, q, &o, with_columns, out);
		with_columns = false;
	}
}

/* ---- each of them ------------------------------------------------------------------------------ */

static bool is_row_of(const struct queued_jobs *all, size_t i, const char *ns)
{
	return i < all->n && (!ns || strcmp(all->row[i].job.ns, ns) == 0);
}

void queued_jobs_each_place(struct queued_jobs *all, const char *ns,
	void (*each)(const struct queued_jobs_place *p, void *ctx), void *ctx)
{
	for (size_t i = ns ? begin_of(all, ns) : 0; is_row_of(all, i, ns); i++) {
		struct row *r = &all->row[i];
		if (!r->is_placed)
			place(all, r);
		struct queued_jobs_place p = {
			.ns = r->job.ns, .clusterqueue = r->clusterqueue, .state = r->job.state};
		if (r->is_known)
			each(&p, ctx);
	}
}

void queued_jobs_each(struct queued_jobs *all, const char *ns,
	void (*each)(const struct queued_job *j, size_t row, void *ctx), void *ctx)
{
	for (size_t i = ns ? begin_of(all, ns) : 0; is_row_of(all, i, ns); i++) {
		struct queued_job j = {.listed = all->row[i].job};
		if (explain(all, &all->row[i], &j.explanation))
			each(&j, i, ctx);
	}
}

void queued_jobs_again(const struct queued_jobs *all, size_t row, struct queued_job *ret)
{
	*ret = (struct queued_job){.listed = all->row[row].job};
	must(explain(all, &all->row[row], &ret->explanation));
}

const struct queued_jobs_sources *queued_jobs_of(const struct queued_jobs *all)
{
	return &all->sources;
}

/* ---- one ------------------------------------------------------------------------------------- */

static uint64_t news_of(const struct queued_jobs_sources *s, const struct queued_job *j)
{
	struct {
		struct uid uid;
		uint64_t digest;
		int64_t minute;
	} news;
	memset(&news, 0, sizeof(news));
	news.uid = j->listed.uid;
	news.digest = queued_job_digest(s, j);
	news.minute = s->now_ms / MINUTE_MS;
	return map_hash_bytes(&news, sizeof(news));
}

bool queued_jobs_one(const struct queued_jobs_sources *s, const struct job_query *q,
	struct buf *out, uint64_t *ret_news)
{
	struct queued_job j = {.story = gate_story(s->gate, q->ns, q->name), .tells_after = true};
	if (!gate_explain(s->gate, q->ns, q->name, s->now_ms, &j.explanation))
		return false;
	if (!gate_find_listed(s->gate, q->ns, q->name, &j.listed))
		j.listed = (struct gate_listed){.ns = q->ns,
			.name = q->name,
			.state = gate_state(s->gate, q->ns, q->name),
			.created_ms = j.explanation.queued_ms};
	struct json_writer w = json_writer(out);
	if (q->form != FORM_OBJECTS) {
		jw_object(&w, NULL);
		jw_texts(&w, "kind", "Table", "apiVersion", "meta.k8s.io/v1", NULL);
		jw_object_of(&w, "metadata", NULL);
		queued_job_put_columns(&w);
		jw_array(&w, "rows");
	}
	queued_job_put(&w, NULL, s, &j, q->form);
	jw_close(&w);
	buf_putc(out, '\n');
	if (ret_news)
		*ret_news = news_of(s, &j);
	return true;
}
