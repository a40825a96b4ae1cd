#include "controller/status.h"

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

bool status_first_of_flavor(const struct usage_view *usage, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(usage[i].flavor, usage[index].flavor) == 0)
			return false;
	return true;
}

static void put_condition(struct buf *out, bool active, const char *reason, const char *message,
	const char *since, int64_t generation)
{
	buf_puts(out, "\"conditions\":[{\"type\":\"Active\",\"status\":");
	buf_json_string(out, active ? "True" : "False");
	buf_puts(out, ",\"reason\":");
	buf_json_string(out, reason && reason[0] ? reason : "Unknown");
	buf_puts(out, ",\"message\":");
	buf_json_string(out, message);
	buf_puts(out, ",\"lastTransitionTime\":");
	buf_json_string(out, since);
	buf_printf(out, ",\"observedGeneration\":%" PRId64 "}]", generation > 0 ? generation : 0);
}

/* The CRDs have int32 here. */
static void put_count(struct buf *out, const char *key, size_t n)
{
	buf_printf(out, ",\"%s\":%zu", key, n > INT32_MAX ? (size_t)INT32_MAX : n);
}

static void put_total(struct buf *out, const struct usage_view *u, int64_t amount)
{
	char total[QUANTITY_TEXT_SIZE], borrowed[QUANTITY_TEXT_SIZE];
	int64_t beyond = amount > u->nominal ? amount - u->nominal : 0;
	buf_puts(out, "{\"name\":");
	buf_json_string(out, u->resource);
	buf_printf(out, ",\"total\":\"%s\",\"borrowed\":\"%s\"}",
		status_quantity(amount, u->resource, total),
		status_quantity(beyond, u->resource, borrowed));
}

static void put_flavor(
	struct buf *out, const struct usage_view *usage, size_t n, size_t first, bool reserved)
{
	buf_puts(out, "{\"name\":");
	buf_json_string(out, usage[first].flavor);
	buf_puts(out, ",\"resources\":[");
	bool comma = false;
	for (size_t i = first; i < n; i++) {
		if (strcmp(usage[i].flavor, usage[first].flavor) != 0)
			continue;
		if (comma)
			buf_putc(out, ',');
		comma = true;
		put_total(out, &usage[i], reserved ? usage[i].reserved : usage[i].used);
	}
	buf_puts(out, "]}");
}

static void put_flavors(
	struct buf *out, const char *key, const struct clusterqueue_view *v, bool reserved)
{
	bool comma = false;
	buf_printf(out, ",\"%s\":[", key);
	for (size_t i = 0; i < v->nusage; i++) {
		if (!status_first_of_flavor(v->usage, i))
			continue;
		if (comma)
			buf_putc(out, ',');
		comma = true;
		put_flavor(out, v->usage, v->nusage, i, reserved);
	}
	buf_putc(out, ']');
}

void status_render_clusterqueue(
	const struct clusterqueue_view *v, const char *since, struct buf *out)
{
	/* A newer spec that was refused is what its author must read, active or not. */
	char message[1200];
	const char *reason = v->reason;
	if (v->invalid) {
		reason = "InvalidSpec";
		snprintf(message, sizeof(message), "%s%s", v->invalid,
			v->active ? "; the last valid spec stays in force" : "");
	} else {
		snprintf(message, sizeof(message), "%s", v->message);
	}
	buf_puts(out, "{\"status\":{");
	put_condition(out, v->active, reason, message, since, v->generation);
	put_count(out, "pendingWorkloads", v->pending);
	put_count(out, "reservingWorkloads", v->reserving);
	put_count(out, "admittedWorkloads", v->admitted);
	put_flavors(out, "flavorsReservation", v, true);
	put_flavors(out, "flavorsUsage", v, false);
	buf_puts(out, "}}");
}

void status_render_localqueue(const struct localqueue_view *v, const char *since, struct buf *out)
{
	buf_puts(out, "{\"status\":{");
	put_condition(out, v->active, v->reason, v->message, since, v->generation);
	put_count(out, "pendingWorkloads", v->pending);
	put_count(out, "reservingWorkloads", v->reserving);
	put_count(out, "admittedWorkloads", v->admitted);
	buf_puts(out, "}}");
}
