#include "controller/past/cost.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/json.h"
#include "controller/past/answer.h"
#include "queue/price/money.h"

/* ---- The answer ------------------------------------------------------------------------------
 */

struct cost_row {
	char *key, *currency; /* NULL as in ledger_cost */
	bool is_total;
	int64_t runs, running, ran_ms, cost, running_cost, lost_ms;
	int64_t estimated_ms, estimated_cost; /* the estimated parts of ran_ms and cost */
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

/* Finds or adds a row; NULL: there are too many. */
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

struct shown {
	struct past_head head;
	const struct cost_report *report;
	bool leading;
};

static void put_key(struct json_writer *w, const char *key, const void *object)
{
	const struct cost_row *row = object;
	if (!row->is_total)
		jw_text(w, key, row->key);
}

static const struct view_member row_rows[] = {
	{"currency", VIEW_NULLABLE, IN(cost_row, currency),
		"Of the amounts; null where the runs had no price."},
	{"key", VIEW_PUT, 0, 0,
		"What the row is of; null: the runs that have no such label, or no known user.",
		.put = put_key, .as = "string"},
	{"runs", VIEW_INT, IN(cost_row, runs), "That have ended."},
	{"running", VIEW_INT, IN(cost_row, running), "That go on."},
	{"runSeconds", VIEW_SECONDS, IN(cost_row, ran_ms), "How long all of these ran."},
	{"lostSeconds", VIEW_SECONDS, IN(cost_row, lost_ms),
		"Pod time lost: the work, in pod-seconds, that stops threw away."},
	{"estimatedSeconds", VIEW_SECONDS, IN(cost_row, estimated_ms),
		"The part of runSeconds of which the ledger lost the beginning or the end."},
	{"cost", VIEW_MONEY, IN(cost_row, cost), "A decimal number, exact."},
	{"runningCost", VIEW_MONEY, IN(cost_row, running_cost),
		"The part of it of runs that go on, so far."},
	{"estimatedCost", VIEW_MONEY, IN(cost_row, estimated_cost),
		"The part of it of estimatedSeconds."},
};
static const struct view row_view = VIEW("CostReportRow", NULL, row_rows);

static void put_rows(struct json_writer *w, const char *key, const void *object)
{
	const struct cost_report *r = ((const struct shown *)object)->report;
	bool totals = strcmp(key, "totals") == 0;
	jw_array(w, key);
	for (size_t i = 0; i < r->nrows; i++) {
		struct cost_row x = *r->row[i];
		if (!x.currency) /* absent without a currency */
			x.cost = x.running_cost = x.estimated_cost = -1;
		if (x.is_total == totals)
			view_put(w, NULL, &row_view, &x);
	}
	jw_end(w);
}

static const struct view_member cost_report_rows[] = {
	{"by", VIEW_TEXT, IN(shown, head.by),
		"What each row is of: queue, namespace, owner, user or label. As the parameter by of the question; label=KEY there."},
	{"label", VIEW_TEXT, IN(shown, head.label), "The label's key, where it is by label."},
	{"namespace", VIEW_TEXT, IN(shown, head.ns),
		"It is of the Jobs of this namespace alone. Absent: of all."},
	{"since", VIEW_EXACT, IN(shown, head.since_ms),
		"The runs that started then or later, whole."},
	{"until", VIEW_EXACT, IN(shown, head.until_ms), "And before then."},
	{"more", VIEW_BOOL, IN(shown, head.more),
		"Only the most expensive rows are shown; the totals are of all rows."},
	{"leading", VIEW_BOOL, IN(shown, leading), "Runs that go on are in it."},
	{"rows", VIEW_PUT, 0, 0, "The dearest first.", .put = put_rows, .of = &row_view},
	{"totals", VIEW_PUT, 0, 0, "Of all runs, a row each currency.", .put = put_rows,
		.of = &row_view},
	{"forgottenUntil", VIEW_EXACT, IN(shown, head.forgotten_until_ms),
		"Of runs that ended by then the ledger has sums at best."},
	{"note", VIEW_TEXT, IN(shown, head.note), "What is therefore not in it."},
};
const struct view cost_report_view =
	VIEW("CostReport", "What runs cost that started in a stretch of time.", cost_report_rows);

void cost_report_render(struct cost_report *r, bool leading, struct buf *out)
{
	struct json_writer w = json_writer(out);
	struct shown x = {.report = r, .leading = leading};
	if (r->nrows > 0)
		qsort(r->row, r->nrows, sizeof(*r->row), row_cmp);
	past_head_of(r->query, r->more, r->forgotten_until_ms, &x.head);
	view_put(&w, NULL, &cost_report_view, &x);
	buf_putc(out, '\n');
}
