#include "controller/visibility/queued_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/common/selector.h"
#include "controller/gate/label_set.h"
#include "controller/visibility/queued_job.h"

/* ---- all of them ----------------------------------------------------------------------------- */

struct row {
	struct gate_listed job;
	const struct explanation *deferred; /* what is known of one that is deferred; or NULL */
	/* Where it stands; known once it was placed. */
	bool is_placed, is_known;
	const char *localqueue, *clusterqueue;
	enum {
		RANK_HOLDS_QUOTA,
		RANK_IN_LINE,
		RANK_ASIDE,
	} rank;
	size_t ahead;
	int64_t queued_ms;
};

struct queued_jobs {
	struct queued_jobs_sources sources;
	struct row *row; /* by namespace and name */
	size_t n, size;
	/* What was asked for last, in its order: pages of one list come one after the other. */
	struct job_query query;
	struct row **found;
	size_t nfound;
};

static void add(const struct gate_listed *j, const struct explanation *x, void *ctx)
{
	struct queued_jobs *all = ctx;
	if (all->n == all->size) {
		all->size = all->size ? all->size * 2 : 1024;
		all->row = mem_grow(all->row, all->size, sizeof(*all->row));
	}
	struct row *r = &all->row[all->n++];
	*r = (struct row){.job = *j};
	if (x) {
		struct explanation *copy = mem_alloc(sizeof(*copy));
		*copy = *x;
		r->deferred = copy;
	}
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
	for (size_t i = 0; i < all->n; i++)
		free((void *)(uintptr_t)all->row[i].deferred);
	free(all->found);
	free(all->row);
	free(all);
}

/* ---- which of them --------------------------------------------------------------------------- */

/* False: the gate knows it no more. */
static bool explain(const struct queued_jobs *all, const struct row *r, struct explanation *ret)
{
	if (r->deferred) {
		*ret = *r->deferred;
		return true;
	}
	return gate_explain(all->sources.gate, r->job.ns, r->job.name, all->sources.now_ms, ret);
}

static void place(const struct queued_jobs *all, struct row *r)
{
	struct explanation x = {0};
	r->is_placed = true;
	r->is_known = explain(all, r, &x);
	r->localqueue = x.localqueue;
	r->clusterqueue = x.clusterqueue;
	r->rank = x.reason == WAIT_NOT ? RANK_HOLDS_QUOTA : x.in_line ? RANK_IN_LINE : RANK_ASIDE;
	r->ahead = x.ahead;
	r->queued_ms = x.queued_ms;
}

static bool is_or_any(const char *wanted, const char *text)
{
	return !*wanted || strcmp(wanted, text) == 0;
}

static bool is_asked_for(struct queued_jobs *all, struct row *r, const struct job_query *q,
	const struct selector *labels)
{
	const struct gate_listed *j = &r->job;
	if (!is_or_any(q->ns, j->ns) || !is_or_any(q->name, j->name) ||
		!is_or_any(q->state, j->state) ||
		(*q->not_state && strcmp(q->not_state, j->state) == 0))
		return false;
	if (*q->labels && !labels_match(label_set_labels(j->labels), label_set_count(j->labels),
				  &labels->term))
		return false;
	if (!r->is_placed)
		place(all, r);
	return r->is_known && is_or_any(q->clusterqueue, r->clusterqueue) &&
	       is_or_any(q->localqueue, r->localqueue);
}

/* The order of the queue, as far as there is one. */
static int by_place(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->ahead != y->ahead)
		return x->ahead < y->ahead ? -1 : 1;
	if (x->queued_ms != y->queued_ms)
		return x->queued_ms < y->queued_ms ? -1 : 1;
	return by_name(x, y);
}

/* The first row of that namespace, or of one behind it. */
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

static void find(struct queued_jobs *all, const struct job_query *q)
{
	struct selector labels = {0};
	if (*q->labels)
		must(selector_parse(q->labels, &labels)); /* job_query_take() has seen to that */
	size_t from = *q->ns ? begin_of(all, q->ns) : 0, to = from;
	while (to < all->n && is_or_any(q->ns, all->row[to].job.ns))
		to++;
	all->found = mem_grow(all->found, to - from + 1, sizeof(*all->found));
	all->nfound = 0;
	for (size_t i = from; i < to; i++)
		if (is_asked_for(all, &all->row[i], q, &labels))
			all->found[all->nfound++] = &all->row[i];
	if (all->nfound > 1)
		qsort(all->found, all->nfound, sizeof(*all->found), by_place);
	selector_done(&labels);
}

/* The same but for the page. */
static bool is_same_list(const struct job_query *a, const struct job_query *b)
{
	return strcmp(a->ns, b->ns) == 0 && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->clusterqueue, b->clusterqueue) == 0 &&
	       strcmp(a->localqueue, b->localqueue) == 0 && strcmp(a->state, b->state) == 0 &&
	       strcmp(a->not_state, b->not_state) == 0 && strcmp(a->labels, b->labels) == 0;
}

/* ---- as a list ------------------------------------------------------------------------------- */

static void put_head(const struct queued_jobs *all, const struct job_query *q, size_t end,
	uint64_t moment, struct buf *out)
{
	char token[JOB_QUERY_TOKEN_SIZE];
	bool is_table = q->form != FORM_OBJECTS;
	buf_printf(out,
		"{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":\"%" PRId64
		"\"",
		is_table ? "Table" : "QueuedJobList",
		is_table ? "meta.k8s.io/v1" : VISIBILITY_GROUP "/" VISIBILITY_VERSION,
		all->sources.now_ms);
	if (end < all->nfound)
		buf_printf(out, ",\"continue\":\"%s\",\"remainingItemCount\":%zu",
			job_query_token(moment, end, token), all->nfound - end);
	buf_putc(out, '}');
	if (is_table)
		queued_job_put_columns(out);
	buf_puts(out, is_table ? ",\"rows\":[" : ",\"items\":[");
}

static void put_row(
	struct queued_jobs *all, const struct row *r, const struct job_query *q, struct buf *out)
{
	struct queued_job j;
	must(explain(all, r, &j.explanation));
	j.listed = r->job;
	queued_job_put(&all->sources, &j, q->form, out);
}

void queued_jobs_list(
	struct queued_jobs *all, const struct job_query *q, uint64_t moment, struct buf *out)
{
	if (!all->found || !is_same_list(&all->query, q))
		find(all, q);
	all->query = *q;
	size_t first = q->first < all->nfound ? q->first : all->nfound;
	size_t left = all->nfound - first;
	size_t end = first + (q->limit && q->limit < left ? q->limit : left);
	put_head(all, q, end, moment, out);
	for (size_t i = first; i < end; i++) {
		if (i > first)
			buf_putc(out, ',');
		put_row(all, all->found[i], q, out);
	}
	buf_puts(out, "]}\n");
}

/* ---- one ------------------------------------------------------------------------------------- */

bool queued_jobs_one(
	const struct queued_jobs_sources *s, const struct job_query *q, struct buf *out)
{
	struct queued_job j = {.story = gate_story(s->gate, q->ns, q->name)};
	if (!gate_explain(s->gate, q->ns, q->name, s->now_ms, &j.explanation))
		return false;
	if (!gate_find_listed(s->gate, q->ns, q->name, &j.listed))
		j.listed = (struct gate_listed){.ns = q->ns,
			.name = q->name,
			.state = gate_state(s->gate, q->ns, q->name),
			.created_ms = j.explanation.queued_ms};
	if (q->form == FORM_OBJECTS) {
		queued_job_put(s, &j, q->form, out);
		buf_putc(out, '\n');
		return true;
	}
	buf_puts(out, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{}");
	queued_job_put_columns(out);
	buf_puts(out, ",\"rows\":[");
	queued_job_put(s, &j, q->form, out);
	buf_puts(out, "]}\n");
	return true;
}
