#include "controller/past/cost.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/kube/json.h"
#include "controller/past/answer.h"
#include "queue/price/money.h"

/* ---- The answer ------------------------------------------------------------------------------
 */

struct cost_row {
	char *key, *currency; /* NULL as in ledger_cost */
	bool is_total;
	int64_t runs, running, ran_ms, cost, running_cost, lost_ms;
	int64_t estimated_ms, estimated_cost; /* that part of ran_ms and cost */
};

struct cost_report {
	const struct past_query *query;
	struct map by_key;
	struct cost_row **row;
	size_t nrows;
	bool more;
	int64_t forgotten_until_ms;
	struct json *json; /* reads labels */
};

struct row_key {
	const char *key, *currency;
	bool is_total;
};

static bool same(const char *a, const char *b)
{
	return !a || !b ? a == b : strcmp(a, b) == 0;
}

static bool row_has_key(const void *value, const void *key)
{
	const struct cost_row *r = value;
	const struct row_key *k = key;
	return r->is_total == k->is_total && same(r->key, k->key) && same(r->currency, k->currency);
}

struct cost_report *cost_report_new(const struct past_query *q)
{
	struct cost_report *r = mem_alloc(sizeof(*r));
	r->query = q;
	r->json = json_new(64 * 1024);
	map_init(&r->by_key, row_has_key);
	return r;
}

void cost_report_free(struct cost_report *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nrows; i++) {
		free(r->row[i]->key);
		free(r->row[i]->currency);
		free(r->row[i]);
	}
	free(r->row);
	map_done(&r->by_key);
	json_free(r->json);
	free(r);
}

/* NULL: there are too many. */
static struct cost_row *row_of(struct cost_report *r, struct row_key k)
{
	uint64_t hash = map_hash_string(k.key ? k.key : "") * 31 +
			map_hash_string(k.currency ? k.currency : "") + k.is_total;
	struct cost_row *row = map_get(&r->by_key, hash, &k);
	if (row)
		return row;
	if (!k.is_total && r->nrows >= PAST_ROWS_MAX) {
		r->more = true;
		return NULL;
	}
	row = mem_alloc(sizeof(*row));
	row->key = mem_strdup(k.key);
	row->currency = mem_strdup(k.currency);
	row->is_total = k.is_total;
	map_put(&r->by_key, hash, row);
	r->row = mem_grow(r->row, r->nrows + 1, sizeof(struct cost_row *));
	r->row[r->nrows++] = row;
	return row;
}

void cost_report_row(struct cost_report *r, const struct ledger_cost *l)
{
	struct cost_row *row = row_of(r, (struct row_key){l->key, l->currency, l->is_total});
	if (!row)
		return;
	row->runs += l->runs;
	row->ran_ms += l->ran_ms;
	row->cost = money_add(row->cost, l->cost);
	row->lost_ms += l->lost_ms;
	row->estimated_ms += l->estimated_ms;
	row->estimated_cost = money_add(row->estimated_cost, l->estimated_cost);
}

void cost_report_forgotten(struct cost_report *r, int64_t until_ms)
{
	r->forgotten_until_ms = until_ms;
}

static void add_run(struct cost_row *row, const struct gate_run *run, int64_t ran_ms)
{
	if (!row)
		return;
	row->running++;
	row->ran_ms += ran_ms;
	row->lost_ms += run->lost_ms;
	if (run->estimated)
		row->estimated_ms += ran_ms;
	if (!run->bill.priced)
		return;
	if (run->estimated)
		row->estimated_cost = money_add(row->estimated_cost, run->bill.cost);
	row->cost = money_add(row->cost, run->bill.cost);
	row->running_cost = money_add(row->running_cost, run->bill.cost);
}

static const char *key_of(struct cost_report *r, const struct gate_run *run, struct buf *text)
{
	const cJSON *labels;
	switch (r->query->question.by) {
	case COST_BY_QUEUE:
		return run->clusterqueue;
	case COST_BY_NAMESPACE:
		return run->ns;
	case COST_BY_OWNER:
		buf_printf(text, "%s/%s", run->ns, run->owner);
		return buf_text(text);
	case COST_BY_USER:
		return run->submitted_by;
	case COST_BY_LABEL:
		if (!run->labels || json_parse(r->json, slice_of(run->labels), &labels, NULL) != 0)
			return NULL;
		return json_text(labels, r->query->label);
	}
	must_not_get_here();
}

void cost_report_run(const struct gate_run *run, void *ctx)
{
	struct cost_report *r = ctx;
	const struct past_question *q = &r->query->question;
	if (run->started_ms < q->from_ms || run->started_ms >= q->to_ms)
		return;
	if (q->ns && strcmp(run->ns, q->ns) != 0)
		return;
	struct buf text;
	buf_init(&text, 1024);
	const char *currency = run->bill.priced ? run->bill.currency : NULL;
	const char *key = key_of(r, run, &text);
	add_run(row_of(r, (struct row_key){key, currency, false}), run, run->ran_ms);
	add_run(row_of(r, (struct row_key){NULL, currency, true}), run, run->ran_ms);
	buf_done(&text);
	json_reset(r->json);
}

static int row_cmp(const void *a, const void *b)
{
	const struct cost_row *x = *(struct cost_row *const *)a, *y = *(struct cost_row *const *)b;
	int c = (x->cost < y->cost) - (x->cost > y->cost);
	if (!c)
		c = strcmp(x->key ? x->key : "", y->key ? y->key : "");
	return c ? c : strcmp(x->currency ? x->currency : "", y->currency ? y->currency : "");
}

static void put_seconds(struct json_writer *w, const char *key, int64_t ms)
{
	jw_number(w, key, "%" PRId64 ".%03d", ms / 1000, (int)(ms % 1000));
}

static void put_row(struct json_writer *w, const struct cost_row *row)
{
	jw_object(w, NULL);
	jw_text(w, "currency", row->currency);
	if (!row->is_total)
		jw_text(w, "key", row->key);
	jw_int(w, "runs", row->runs);
	jw_int(w, "running", row->running);
	put_seconds(w, "runSeconds", row->ran_ms);
	put_seconds(w, "lostSeconds", row->lost_ms);
	put_seconds(w, "estimatedSeconds", row->estimated_ms);
	if (row->currency) {
		money_put(w, "cost", row->cost);
		money_put(w, "runningCost", row->running_cost);
		money_put(w, "estimatedCost", row->estimated_cost);
	}
	jw_end(w);
}

static void put_rows(
	const struct cost_report *r, const char *key, bool totals, struct json_writer *w)
{
	jw_array(w, key);
	for (size_t i = 0; i < r->nrows; i++)
		if (r->row[i]->is_total == totals)
			put_row(w, r->row[i]);
	jw_end(w);
}

void cost_report_render(struct cost_report *r, bool leading, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	if (r->nrows > 0)
		qsort(r->row, r->nrows, sizeof(*r->row), row_cmp);
	past_answer_put_head(r->query, r->more, &w);
	jw_bool(&w, "leading", leading);
	put_rows(r, "rows", false, &w);
	put_rows(r, "totals", true, &w);
	past_answer_put_forgotten(r->query, r->forgotten_until_ms, &w);
	jw_close(&w);
	buf_putc(out, '\n');
}
