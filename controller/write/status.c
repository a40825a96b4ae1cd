#include "controller/write/status.h"

#include <stdio.h>
#include <string.h>

#include "controller/common/status_patch.h"

static bool is_first_of_flavor(const struct usage_view *usage, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(usage[i].flavor, usage[index].flavor) == 0)
			return false;
	return true;
}

static void put_flavor(struct json_writer *w, const struct usage_view *usage, size_t n,
	size_t first, status_put_row_fn *put, const void *ctx)
{
	jw_object(w, NULL);
	jw_text(w, "name", usage[first].flavor);
	jw_array(w, "resources");
	for (size_t i = first; i < n; i++) {
		if (strcmp(usage[i].flavor, usage[first].flavor) != 0)
			continue;
		jw_object(w, NULL);
		jw_text(w, "name", usage[i].resource);
		put(w, &usage[i], ctx);
		jw_end(w);
	}
	jw_end(w);
	jw_end(w);
}

void status_put_flavors(struct json_writer *w, const char *key, const struct usage_view *usage,
	size_t n, status_put_row_fn *put, const void *ctx)
{
	jw_array(w, key);
	for (size_t i = 0; i < n; i++)
		if (is_first_of_flavor(usage, i))
			put_flavor(w, usage, n, i, put, ctx);
	jw_end(w);
}

void status_put_count(struct json_writer *w, const char *key, size_t n)
{
	jw_int(w, key, n > INT32_MAX ? INT32_MAX : (int64_t)n);
}

/* Which of the two lists is put, and whether with the quota of this moment and what is borrowed. */
struct total {
	enum { RESERVATION, USAGE } column;
	bool tells_quota;
};

static void put_total(struct json_writer *w, const struct usage_view *u, const void *ctx)
{
	const struct total *t = ctx;
	bool of_reservation = t->column == RESERVATION;
	quantity_put(w, "total", of_reservation ? u->reserved : u->used, u->resource);
	if (t->tells_quota)
		quantity_put(w, "borrowed", of_reservation ? u->borrowed : u->used_borrowed,
			u->resource);
	if (t->tells_quota && of_reservation)
		quantity_put(w, "nominal", u->nominal, u->resource);
}

/* Puts both lists. A LocalQueue has no quota of its own: nothing it uses is borrowed or not. */
static void put_flavors(
	struct json_writer *w, const struct usage_view *usage, size_t n, bool tells_quota)
{
	status_put_flavors(w, "flavorsReservation", usage, n, put_total,
		&(struct total){RESERVATION, tells_quota});
	status_put_flavors(
		w, "flavorsUsage", usage, n, put_total, &(struct total){USAGE, tells_quota});
}

static void put_share(struct json_writer *w, bool fair_sharing, int64_t share)
{
	if (!fair_sharing)
		return;
	jw_object(w, "fairSharing");
	jw_int(w, "weightedShare", share);
	jw_end(w);
}

/* Puts the conditions. If a newer spec was refused its author must read that, active or not. */
static void put_verdict(struct json_writer *w, const struct status_verdict *v, const char *since,
	const struct status_effect *effect)
{
	char message[1200];
	const char *reason = v->invalid ? "InvalidSpec" : v->reason;
	if (v->invalid)
		snprintf(message, sizeof(message), "%s%s", v->invalid,
			v->active ? "; the last valid spec stays in force" : "");
	else
		snprintf(message, sizeof(message), "%s", v->message);
	jw_array(w, "conditions");
	status_put_condition(w, "Active", v->active, reason, message, since, v->generation);
	if (effect)
		status_put_condition(w, "Effective", effect->is, effect->reason, effect->message,
			effect->since, v->generation);
	jw_end(w);
}

/* The verdict that the view of a queue or Cohort gives. */
#define VERDICT(v)                                                                                 \
	&(struct status_verdict)                                                                   \
	{                                                                                          \
		(v)->active, (v)->reason, (v)->message, (v)->invalid, (v)->generation              \
	}

/* Puts counts, quota and use. */
static void put_sums(struct json_writer *w, const struct clusterqueue_view *v)
{
	status_put_count(w, "pendingWorkloads", v->pending);
	status_put_count(w, "reservingWorkloads", v->reserving);
	status_put_count(w, "admittedWorkloads", v->admitted);
	put_flavors(w, v->usage, v->nusage, true);
}

void status_put_clusterqueue_sums(struct json_writer *w, const struct clusterqueue_view *v)
{
	const struct status_verdict verdict = {.active = v->active,
		.reason = v->reason,
		.message = "",
		.invalid = v->invalid ? "its newest spec is refused" : NULL,
		.generation = v->generation};
	put_verdict(w, &verdict, NULL, NULL);
	put_sums(w, v);
}

void status_put_clusterqueue(struct json_writer *w, const struct clusterqueue_view *v,
	bool fair_sharing, const char *since, const struct status_effect *effect)
{
	put_verdict(w, VERDICT(v), since, effect);
	put_sums(w, v);
	put_share(w, fair_sharing && v->cohort && v->cohort[0], v->weighted_share);
}

void status_put_cohort(struct json_writer *w, const struct cohort_view *v, bool fair_sharing,
	const char *since, const struct status_effect *effect)
{
	put_verdict(w, VERDICT(v), since, effect);
	put_share(w, fair_sharing && v->parent && v->parent[0], v->weighted_share);
}

/* Puts whole numbers from ten on: usage decays all the time, and a status is not rewritten for its last
 * digit. */
static void put_usage(struct json_writer *w, double usage)
{
	if (!(usage > 0))
		return;
	jw_object(w, "fairSharing");
	jw_textf(w, "usage", "%.*f", usage < 10 ? 2 : 0, usage < 1e15 ? usage : 1e15);
	jw_end(w);
}

void status_put_localqueue(struct json_writer *w, const struct localqueue_view *v,
	const char *since, const struct status_effect *effect)
{
	put_verdict(w, VERDICT(v), since, effect);
	status_put_count(w, "pendingWorkloads", v->pending);
	status_put_count(w, "reservingWorkloads", v->reserving);
	status_put_count(w, "admittedWorkloads", v->admitted);
	put_flavors(w, v->usage, v->nusage, false);
	put_usage(w, v->fair_usage);
}

void status_put_resourceflavor(
	struct json_writer *w, const struct status_verdict *v, const char *since)
{
	put_verdict(w, v, since, NULL);
}
