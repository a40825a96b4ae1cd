#include "controller/write/status.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

const char *status_quantity(int64_t amount, const char *resource, char ret_text[QUANTITY_TEXT_SIZE])
{
	bool binary = strcmp(resource, "memory") == 0 ||
		      strcmp(resource, "ephemeral-storage") == 0 ||
		      strncmp(resource, "hugepages-", 10) == 0;
	quantity_format(amount, quantity_unit_of(resource), binary, ret_text);
	return ret_text;
}

static bool is_first_of_flavor(const struct usage_view *usage, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(usage[i].flavor, usage[index].flavor) == 0)
			return false;
	return true;
}

static void put_flavor(struct buf *out, const struct usage_view *usage, size_t n, size_t first,
	status_put_row_fn *put, const void *ctx)
{
	bool comma = false;
	buf_puts(out, "{\"name\":");
	buf_json_string(out, usage[first].flavor);
	buf_puts(out, ",\"resources\":[");
	for (size_t i = first; i < n; i++) {
		if (strcmp(usage[i].flavor, usage[first].flavor) != 0)
			continue;
		if (comma)
			buf_putc(out, ',');
		comma = true;
		put(out, &usage[i], ctx);
	}
	buf_puts(out, "]}");
}

void status_put_flavors(struct buf *out, const struct usage_view *usage, size_t n,
	status_put_row_fn *put, const void *ctx)
{
	bool comma = false;
	buf_putc(out, '[');
	for (size_t i = 0; i < n; i++) {
		if (!is_first_of_flavor(usage, i))
			continue;
		if (comma)
			buf_putc(out, ',');
		comma = true;
		put_flavor(out, usage, n, i, put, ctx);
	}
	buf_putc(out, ']');
}

void status_put_condition(struct buf *out, const char *type, bool is, const char *reason,
	const char *message, const char *since, int64_t generation)
{
	buf_printf(out, "{\"type\":\"%s\",\"status\":", type);
	buf_json_string(out, is ? "True" : "False");
	buf_puts(out, ",\"reason\":");
	buf_json_string(out, reason && reason[0] ? reason : "Unknown");
	buf_puts(out, ",\"message\":");
	buf_json_string(out, message);
	buf_puts(out, ",\"lastTransitionTime\":");
	buf_json_string(out, since);
	buf_printf(out, ",\"observedGeneration\":%" PRId64 "}", generation > 0 ? generation : 0);
}

/* The CRDs have int32 here. */
static void put_count(struct buf *out, const char *key, size_t n)
{
	buf_printf(out, ",\"%s\":%zu", key, n > INT32_MAX ? (size_t)INT32_MAX : n);
}

/* Which of the two lists, and whether it also tells the quota of this moment and what is borrowed. */
struct total {
	enum { RESERVATION, USAGE } column;
	bool tells_quota;
};

static void put_total(struct buf *out, const struct usage_view *u, const void *ctx)
{
	const struct total *t = ctx;
	char text[QUANTITY_TEXT_SIZE];
	int64_t amount = t->column == RESERVATION ? u->reserved : u->used;
	int64_t borrowed = t->column == RESERVATION ? u->borrowed : u->used_borrowed;
	buf_puts(out, "{\"name\":");
	buf_json_string(out, u->resource);
	buf_printf(out, ",\"total\":\"%s\"", status_quantity(amount, u->resource, text));
	if (t->tells_quota)
		buf_printf(
			out, ",\"borrowed\":\"%s\"", status_quantity(borrowed, u->resource, text));
	if (t->tells_quota && t->column == RESERVATION)
		buf_printf(
			out, ",\"nominal\":\"%s\"", status_quantity(u->nominal, u->resource, text));
	buf_putc(out, '}');
}

/* A LocalQueue has no quota of its own: nothing it uses is borrowed or not. */
static void put_flavors(struct buf *out, const struct usage_view *usage, size_t n, bool tells_quota)
{
	buf_puts(out, ",\"flavorsReservation\":");
	status_put_flavors(out, usage, n, put_total, &(struct total){RESERVATION, tells_quota});
	buf_puts(out, ",\"flavorsUsage\":");
	status_put_flavors(out, usage, n, put_total, &(struct total){USAGE, tells_quota});
}

static void put_share(struct buf *out, bool fair_sharing, int64_t share)
{
	if (fair_sharing)
		buf_printf(out, ",\"fairSharing\":{\"weightedShare\":%" PRId64 "}", share);
}

/* A newer spec that was refused is what its author must read, active or not. */
static void put_verdict(struct buf *out, const struct status_verdict *v, const char *since,
	const struct status_effect *effect)
{
	char message[1200];
	const char *reason = v->invalid ? "InvalidSpec" : v->reason;
	if (v->invalid)
		snprintf(message, sizeof(message), "%s%s", v->invalid,
			v->active ? "; the last valid spec stays in force" : "");
	else
		snprintf(message, sizeof(message), "%s", v->message);
	buf_puts(out, "\"conditions\":[");
	status_put_condition(out, "Active", v->active, reason, message, since, v->generation);
	if (effect) {
		buf_putc(out, ',');
		status_put_condition(out, "Effective", effect->is, effect->reason, effect->message,
			effect->since, v->generation);
	}
	buf_putc(out, ']');
}

void status_render_clusterqueue(const struct clusterqueue_view *v, bool fair_sharing,
	const char *since, const struct status_effect *effect, struct buf *out)
{
	struct status_verdict verdict = {
		v->active, v->reason, v->message, v->invalid, v->generation};
	buf_putc(out, '{');
	put_verdict(out, &verdict, since, effect);
	put_count(out, "pendingWorkloads", v->pending);
	put_count(out, "reservingWorkloads", v->reserving);
	put_count(out, "admittedWorkloads", v->admitted);
	put_flavors(out, v->usage, v->nusage, true);
	put_share(out, fair_sharing && v->cohort && v->cohort[0], v->weighted_share);
	buf_putc(out, '}');
}

void status_render_cohort(const struct cohort_view *v, bool fair_sharing, const char *since,
	const struct status_effect *effect, struct buf *out)
{
	struct status_verdict verdict = {
		v->active, v->reason, v->message, v->invalid, v->generation};
	buf_putc(out, '{');
	put_verdict(out, &verdict, since, effect);
	put_share(out, fair_sharing && v->parent && v->parent[0], v->weighted_share);
	buf_putc(out, '}');
}

/* Whole numbers from ten on: it decays all the time, and a status is not rewritten for its last
 * digit. */
static void put_usage(struct buf *out, double usage)
{
	if (usage > 0)
		buf_printf(out, ",\"fairSharing\":{\"usage\":\"%.*f\"}", usage < 10 ? 2 : 0,
			usage < 1e15 ? usage : 1e15);
}

void status_render_localqueue(const struct localqueue_view *v, const char *since,
	const struct status_effect *effect, struct buf *out)
{
	struct status_verdict verdict = {
		v->active, v->reason, v->message, v->invalid, v->generation};
	buf_putc(out, '{');
	put_verdict(out, &verdict, since, effect);
	put_count(out, "pendingWorkloads", v->pending);
	put_count(out, "reservingWorkloads", v->reserving);
	put_count(out, "admittedWorkloads", v->admitted);
	put_flavors(out, v->usage, v->nusage, false);
	put_usage(out, v->fair_usage);
	buf_putc(out, '}');
}

void status_render_flavor(const struct status_verdict *v, const char *since, struct buf *out)
{
	buf_putc(out, '{');
	put_verdict(out, v, since, NULL);
	buf_putc(out, '}');
}
