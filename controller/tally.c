#include "controller/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

static const double wait_bounds[] = {
	0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86400, 7 * 86400};
static const double pass_bounds[] = {
	0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1};

struct tally {
	struct map by_name;
	struct tally_row **row; /* owns them */
	size_t rows;
	struct histogram waits, passes;
};

static bool row_has_name(const void *value, const void *key)
{
	const struct tally_row *r = value;
	return strcmp(r->clusterqueue, key) == 0;
}

struct tally *tally_new(void)
{
	struct tally *t = mem_alloc(sizeof(*t));
	map_init(&t->by_name, row_has_name);
	histogram_init(&t->waits, wait_bounds, sizeof(wait_bounds) / sizeof(wait_bounds[0]));
	histogram_init(&t->passes, pass_bounds, sizeof(pass_bounds) / sizeof(pass_bounds[0]));
	return t;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->rows; i++) {
		free(t->row[i]->clusterqueue);
		free(t->row[i]);
	}
	free(t->row);
	map_done(&t->by_name);
	free(t);
}

const struct tally_row *tally_get(const struct tally *t, const char *clusterqueue)
{
	return map_get(&t->by_name, map_hash_string(clusterqueue), clusterqueue);
}

const struct tally_row *tally_at(const struct tally *t, size_t index)
{
	return index < t->rows ? t->row[index] : NULL;
}

static struct tally_row *tally_row(struct tally *t, const char *clusterqueue)
{
	uint64_t hash = map_hash_string(clusterqueue);
	struct tally_row *r = map_get(&t->by_name, hash, clusterqueue);
	if (r)
		return r;
	r = mem_alloc(sizeof(*r));
	r->clusterqueue = mem_strdup(clusterqueue);
	map_put(&t->by_name, hash, r);
	t->row = mem_grow(t->row, t->rows + 1, sizeof(struct tally_row *));
	t->row[t->rows++] = r;
	return r;
}

void tally_note(struct tally *t, const struct note *n)
{
	if (!n->clusterqueue || n->clusterqueue[0] == '\0')
		return;
	struct tally_row *r = tally_row(t, n->clusterqueue);
	switch (n->kind) {
	case NOTE_START:
		r->admissions++;
		histogram_add(&t->waits, (double)(n->waited_ms > 0 ? n->waited_ms : 0) / 1000.0);
		return;
	case NOTE_STOP:
		r->stops++;
		return;
	case NOTE_FINISH:
		r->finishes++;
		return;
	case NOTE_LEADING:
	case NOTE_RELEASE:
	case NOTE_CALL_OFF:
	case NOTE_REFUSE:
	case NOTE_OVERDUE:
		return;
	}
}

void tally_pass(struct tally *t, int64_t took_us)
{
	histogram_add(&t->passes, (double)took_us / 1e6);
}

const struct histogram *tally_waits(const struct tally *t)
{
	return &t->waits;
}

const struct histogram *tally_passes(const struct tally *t)
{
	return &t->passes;
}
