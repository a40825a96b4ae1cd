#include "cli/overcommit/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "base/must.h"
#include "base/span.h"
#include "sluice/quantity.h"

static const char *const policy_names[] = {
	"usage", "request", "maxUsageRequest"}; /* enum lending_policy */
static const char *const profile_names[] = {"ack", "koordinator"};

/* ---- amounts --------------------------------------------------------------------------------- */

/* Writes bytes: exactly where that is short, else to a hundredth. */
static const char *bytes(int64_t amount, char ret[48])
{
	static const struct {
		int64_t unit;
		const char *name;
	} units[] = {{INT64_C(1) << 30, "Gi"}, {INT64_C(1000000000), "G"}, {INT64_C(1) << 20, "Mi"},
		{1000000, "M"}};
	for (size_t i = 0; amount > 0 && i < 4; i++)
		if (amount % units[i].unit == 0) {
			snprintf(ret, 48, "%" PRId64 "%s", amount / units[i].unit, units[i].name);
			return ret;
		}
	bool large = amount >= units[0].unit;
	int64_t unit = units[large ? 0 : 2].unit, rest = amount % unit;
	if (amount < unit)
		snprintf(ret, 48, "%" PRId64, amount);
	else
		snprintf(ret, 48, "%" PRId64 ".%02d%s", amount / unit, (int)(rest * 100 / unit),
			large ? "Gi" : "Mi");
	return ret;
}

const char *report_amount(int64_t amount, bool cpu, char ret[48])
{
	if (!cpu)
		return bytes(amount, ret);
	must(QUANTITY_TEXT_SIZE <= 48);
	quantity_format(amount, QUANTITY_MILLI, false, ret);
	return ret;
}

static void put_pair(struct load l, struct buf *out)
{
	char cpu[48], memory[48];
	buf_printf(out, "%s cpu and %s memory", report_amount(l.cpu_milli, true, cpu),
		report_amount(l.memory_bytes, false, memory));
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_sentence(const struct account *a, struct buf *out)
{
	buf_puts(out, "Node ");
	text_render(a->node->name, out);
	if (!a->enabled) {
		buf_printf(out, " lends nothing: %s.\n",
			a->ruling.governed ? "it is switched off (enable is false)"
					   : "lending is off for it");
		return;
	}
	if (a->degraded) {
		buf_puts(out, " may lend nothing. ");
		text_render(a->reason, out);
		buf_puts(out, ".\n");
		return;
	}
	buf_puts(out, " may lend ");
	put_pair(a->lent, out);
	buf_puts(out, ".\n");
}

static void put_whose(const struct account *a, struct buf *out)
{
	const struct snapshot_ruling *r = &a->ruling;
	if (!a->enabled && !a->has_sample) {
		buf_puts(out,
			"  What it would lend is not known: there is no sample of what it uses.\n");
		return;
	}
	buf_printf(out, "  By profile %s, as ", profile_names[r->strategy.profile]);
	text_render(*r->whose ? r->whose : "its defaults are", out);
	if (!a->enabled)
		buf_puts(out, *r->whose ? " has it. Below: what it would lend.\n"
					: ". Below: what it would lend.\n");
	else if (*r->whose)
		buf_puts(out, " has it.\n");
	else
		buf_puts(out, ": there is no configuration here, so it counts as switched on.\n");
}

static void put_sample(const struct account *a, int64_t now_ms, struct buf *out)
{
	const struct estimate *e = &a->estimate;
	if (!a->has_sample)
		return;
	buf_puts(out, "  It uses ");
	put_pair(a->used, out);
	if (a->sample_ms == 0)
		buf_puts(out, ", by a sample without a time");
	else if (a->sample_ms <= now_ms)
		buf_printf(out, ", by a sample of %s, %s old", instant_seconds(a->sample_ms).s,
			span_short(now_ms - a->sample_ms).s);
	buf_printf(out, ". %zu ordinary pod%s", e->high_pods, e->high_pods == 1 ? "" : "s");
	if (e->without_sample > 0)
		buf_printf(out, " (%zu without a sample: as %s)", e->without_sample,
			e->without_sample == 1 ? "it asks" : "they ask");
	buf_printf(out, ", %zu that live%s on what is lent.\n", e->low_pods,
		e->low_pods == 1 ? "s" : "");
	if (a->freshness == HELD && !a->degraded)
		buf_puts(out,
			"  This sample is older than two intervals, so the published amount may fall but not rise.\n");
}

static void amount_cell(struct table *t, int64_t amount, bool cpu)
{
	char text[48];
	table_cell_right(t, COLOUR_NONE, report_amount(amount, cpu, text));
}

static void row(struct table *t, const char *sign, const char *term, int64_t cpu, int64_t memory,
	const char *note)
{
	table_cellf(t, *sign == '=' ? COLOUR_BOLD : COLOUR_NONE, "  %s %s", sign, term);
	amount_cell(t, cpu, true);
	amount_cell(t, memory, false);
	if (*note)
		table_cell(t, COLOUR_DIM, note);
	table_end_row(t);
}

static void system_row(const struct account *a, struct table *t)
{
	char note[256], amount[4][48];
	const struct estimate_terms *c = &a->estimate.cpu, *m = &a->estimate.memory;
	snprintf(note, sizeof(note), "the larger of used (%s, %s) and reserved (%s, %s)",
		report_amount(c->system_used, true, amount[0]),
		report_amount(m->system_used, false, amount[1]),
		report_amount(c->reserved, true, amount[2]),
		report_amount(m->reserved, false, amount[3]));
	if (a->ruling.strategy.profile == PROFILE_KOORDINATOR && m->policy == POLICY_REQUEST)
		snprintf(note + strlen(note), sizeof(note) - strlen(note),
			"; for memory the reserved amount");
	row(t, "-", "system", c->system, m->system, note);
}

static void pods_row(const struct account *a, struct table *t)
{
	static const char *const what[] = {"what they use", "what they request",
		"the larger of used and requested, pod by pod"}; /* enum lending_policy */
	char note[256];
	const struct estimate_terms *c = &a->estimate.cpu, *m = &a->estimate.memory;
	if (c->policy == m->policy)
		snprintf(note, sizeof(note), "%s", what[c->policy]);
	else
		snprintf(note, sizeof(note), "of cpu %s, of memory %s", what[c->policy],
			what[m->policy]);
	row(t, "-", "ordinary pods", c->taken, m->taken, note);
}

/* Returns the sum before a bound cuts it, where one does. */
static int64_t uncapped(const struct estimate_terms *t)
{
	__int128 rest = (__int128)t->base - t->margin - t->system - t->taken;
	return rest < 0 ? 0 : rest > INT64_MAX ? INT64_MAX : (int64_t)rest;
}

static void result_rows(const struct account *a, struct table *t)
{
	char note[128];
	const struct estimate_terms *c = &a->estimate.cpu, *m = &a->estimate.memory;
	bool capped = c->cap >= 0 || m->cap >= 0;
	row(t, "=", capped ? "is left" : "may be lent", uncapped(c), uncapped(m), "");
	if (!capped)
		return;
	snprintf(note, sizeof(note), "%s%s%s", c->cap >= 0 ? "batchCPUThresholdPercent" : "",
		c->cap >= 0 && m->cap >= 0 ? ", " : "",
		m->cap >= 0 ? "batchMemoryThresholdPercent" : "");
	row(t, " ", "at most", c->cap >= 0 ? c->cap : uncapped(c),
		m->cap >= 0 ? m->cap : uncapped(m), note);
	row(t, "=", "may be lent", c->result, m->result, "");
}

static void gocran_row(const struct account *a, struct table *t)
{
	char note[200];
	const struct strategy *s = &a->ruling.strategy;
	if (!(s->names & LEND_GOCRAN))
		return;
	snprintf(note, sizeof(note),
		"without history: allocatable, less %" PRId64 " %% and %" PRId64
		" %% of it, less what is used or asked for",
		s->reserve_cpu, s->reserve_memory);
	row(t, " ", "under gocran.io", a->gocran.cpu_milli, a->gocran.memory_bytes, note);
}

static void put_sum(const struct account *a, const struct style *style, struct buf *out)
{
	char note[160];
	const struct strategy *s = &a->ruling.strategy;
	const struct estimate_terms *c = &a->estimate.cpu, *m = &a->estimate.memory;
	struct table *t = table_new(style);
	table_head(t, "|>CPU|>MEMORY");
	row(t, " ", s->profile == PROFILE_ACK ? "allocatable" : "capacity", c->base, m->base, "");
	snprintf(note, sizeof(note),
		"total use must stay below %" PRId64 " %% of cpu and %" PRId64 " %% of memory",
		s->cpu_percent, s->memory_percent);
	row(t, "-", "kept free", c->margin, m->margin, note);
	system_row(a, t);
	pods_row(a, t);
	result_rows(a, t);
	gocran_row(a, t);
	table_render(t, out);
	table_free(t);
}

static void put_figures(
	const char *lead, const struct figures *f, const char *none, struct buf *out)
{
	size_t told = 0;
	buf_puts(out, lead);
	for (size_t i = 0; i < FIGURES; i++)
		if (f->each[i] >= 0)
			buf_printf(out, "%s%s %" PRId64, told++ ? ", " : "", figure_names[i],
				f->each[i]);
	buf_printf(out, "%s.\n", told ? "" : none);
}

static void put_published(const struct account *a, int64_t now_ms, struct buf *out)
{
	const struct node_facts *f = a->node;
	put_figures("  It publishes ", &f->allocatable_lent, "nothing", out);
	if (memcmp(&f->allocatable_lent, &f->capacity_lent, sizeof(f->capacity_lent)) != 0)
		put_figures("  Its capacity says otherwise: ", &f->capacity_lent, "nothing", out);
	if (f->sample_ms > 0)
		buf_printf(out, "  The sample behind that was taken at %s, %s ago.\n",
			instant_seconds(f->sample_ms).s, span_short(now_ms - f->sample_ms).s);
}

void report_account(const struct account *a, bool live, int64_t now_ms, const struct style *style,
	struct buf *out)
{
	put_sentence(a, out);
	put_whose(a, out);
	if (live)
		put_published(a, now_ms, out);
	put_sample(a, now_ms, out);
	agent_put(a->agent, out);
	if (strategy_note(&a->ruling.strategy))
		buf_printf(out, "  %s.\n", strategy_note(&a->ruling.strategy));
	if (live && a->ruling.strategy.source == SOURCE_KUBELET)
		buf_puts(out,
			"  The controller asks its kubelet (usageSource); this is what metrics.k8s.io says.\n");
	if (a->has_sample)
		put_sum(a, style, out);
	if (a->enabled)
		put_figures("  That is ", &a->figures, "nothing to publish", out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_terms_json(struct json_writer *w, const char *key, const struct estimate_terms *t)
{
	jw_object(w, key);
	jw_text(w, "policy", policy_names[t->policy]);
	jw_int(w, "base", t->base);
	jw_int(w, "margin", t->margin);
	jw_int(w, "reserved", t->reserved);
	jw_int(w, "system_used", t->system_used);
	jw_int(w, "system", t->system);
	jw_int(w, "used", t->used);
	jw_int(w, "requested", t->requested);
	jw_int(w, "max", t->max);
	jw_int(w, "taken", t->taken);
	if (t->cap >= 0)
		jw_int(w, "cap", t->cap);
	else
		jw_text(w, "cap", NULL);
	jw_int(w, "result", t->result);
	jw_end(w);
}

static void put_figures_json(struct json_writer *w, const char *key, const struct figures *f)
{
	jw_object(w, key);
	for (size_t i = 0; i < FIGURES; i++)
		if (f->each[i] >= 0)
			jw_int(w, figure_names[i], f->each[i]);
	jw_end(w);
}

static void put_time_json(struct json_writer *w, const char *key, int64_t ms)
{
	jw_text(w, key, ms > 0 ? instant_exact(ms).s : NULL);
}

static void put_sum_json(struct json_writer *w, const struct account *a)
{
	put_terms_json(w, "cpu", &a->estimate.cpu);
	put_terms_json(w, "memory", &a->estimate.memory);
	jw_object(w, "gocran");
	jw_int(w, "cpu_milli", a->gocran.cpu_milli);
	jw_int(w, "memory_bytes", a->gocran.memory_bytes);
	jw_end(w);
	jw_object(w, "pods");
	jw_int(w, "high", (int64_t)a->estimate.high_pods);
	jw_int(w, "low", (int64_t)a->estimate.low_pods);
	jw_int(w, "without_sample", (int64_t)a->estimate.without_sample);
	jw_end(w);
	put_figures_json(w, "resources", &a->figures);
}

void report_account_json(const struct account *a, bool live, int64_t now_ms, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "node", a->node->name, "profile", profile_names[a->ruling.strategy.profile],
		NULL);
	jw_int(&w, "cpu_milli", a->lent.cpu_milli);
	jw_int(&w, "memory_bytes", a->lent.memory_bytes);
	jw_bool(&w, "degraded", a->degraded);
	jw_text(&w, "reason", a->reason);
	jw_object(&w, "terms");
	if (a->has_sample)
		put_sum_json(&w, a);
	jw_end(&w);
	if (live) {
		put_figures_json(&w, "published", &a->node->allocatable_lent);
		put_time_json(&w, "published_sample", a->node->sample_ms);
		put_time_json(&w, "sample", a->sample_ms);
		put_time_json(&w, "now", now_ms);
	}
	if (a->agent->json)
		jw_raw(&w, "agent", slice_of(a->agent->json));
	jw_close(&w);
	buf_putc(out, '\n');
}
