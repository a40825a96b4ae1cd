#include "controller/nodes/sample_check.h"

#include <inttypes.h>

enum {
	MORE_CPU_MILLI = 100,
	MORE_BYTES = 64 << 20,
	WINDOW_MAX_MS = 600000,
};

/* Gives the most that is believed. */
static struct load most_of(struct load capacity)
{
	struct load more = {
		capacity.cpu_milli / 10 + MORE_CPU_MILLI, capacity.memory_bytes / 10 + MORE_BYTES};
	return load_add(capacity, more);
}

static int check(const char *what, struct load used, struct load most, struct err *e)
{
	if (used.cpu_milli > most.cpu_milli)
		return err_set(e, ERR_INVALID, "%s: %" PRId64 " milli are more than the node has",
			what, used.cpu_milli);
	if (used.memory_bytes > most.memory_bytes)
		return err_set(e, ERR_INVALID, "%s: %" PRId64 " bytes are more than the node has",
			what, used.memory_bytes);
	return 0;
}

int sample_check(const struct sample *s, struct load capacity, struct err *e)
{
	struct load most = most_of(capacity), pods = {0, 0};
	if (capacity.cpu_milli <= 0 || capacity.memory_bytes <= 0)
		return err_set(e, ERR_INVALID, "the node says no capacity in its status");
	if (s->has_used && (s->window_ms <= 0 || s->window_ms > WINDOW_MAX_MS))
		return err_set(e, ERR_INVALID, "window_ms: %" PRId64 " are none, or too many",
			s->window_ms);
	for (size_t i = 0; i < s->npods; i++)
		pods = load_add(pods, s->pods[i].used);
	int rc = s->has_used ? check("used", s->used, most, e) : 0;
	if (rc == 0)
		rc = check("pods_cpu, pods_memory", s->pods_used, most, e);
	if (rc == 0)
		rc = check("pods", pods, most, e);
	if (rc == 0)
		rc = check("memory_total", (struct load){0, s->memory_total}, most, e);
	if (rc == 0 && s->memory_available > s->memory_total)
		rc = err_set(e, ERR_INVALID, "memory_available: it is more than memory_total");
	return rc;
}
