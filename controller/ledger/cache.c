#include "controller/ledger/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct cache_row {
	char *node, *flavor, *resource;
	bool known;		/* false: only its name is */
	struct balance balance; /* parent: the name of another row of ours */
};

struct cache_line {
	const struct cache_row *row;
	int64_t amount;
};

struct cache_reservation {
	struct uid uid;
	int32_t attempt;
	struct held is; /* its strings are ours */
	struct cache_line *lines, *started_lines;
	size_t nlines, nstarted_lines;
	char bytes[]; /* the lines, then the strings */
};

struct cache {
	struct map rows, reservations;
};

/* ---- Keys -------------------------------------------------------------------------------------
 */

static bool row_has_name(const void *value, const void *key)
{
	const struct cache_row *r = value;
	const struct quota_line *l = key;
	return !strcmp(r->node, l->node) && !strcmp(r->resource, l->resource) &&
	       !strcmp(r->flavor, l->flavor);
}

struct reservation_key {
	const struct uid *uid;
	int32_t attempt;
};

static bool reservation_has_key(const void *value, const void *key)
{
	const struct cache_reservation *h = value;
	const struct reservation_key *k = key;
	return h->attempt == k->attempt && !uid_cmp(&h->uid, k->uid);
}

static struct cache_row *row_get(const struct cache *m, const struct quota_line *name)
{
	return map_get(&m->rows, batch_plan_row_hash(name), name);
}

/* ---- Life -------------------------------------------------------------------------------------
 */

struct cache *cache_new(void)
{
	struct cache *m = mem_alloc(sizeof(*m));
	map_init(&m->rows, row_has_name);
	map_init(&m->reservations, reservation_has_key);
	return m;
}

static void row_free(struct cache_row *r)
{
	free(r->node);
	free(r->flavor);
	free(r->resource);
	free(r);
}

void cache_clear(struct cache *m)
{
	map_free(&m->reservations, free);
	map_free(&m->rows, row_free);
}

void cache_free(struct cache *m)
{
	if (!m)
		return;
	cache_clear(m);
	free(m);
}

size_t cache_rows(const struct cache *m)
{
	size_t n = 0;
	const struct cache_row *r;
	map_each(&m->rows, i, r)
		n += r->known;
	return n;
}

size_t cache_reservations(const struct cache *m)
{
	return m->reservations.count;
}

/* ---- Telling ----------------------------------------------------------------------------------
 */

static struct quota_line line_named(const struct cache_line *l)
{
	return (struct quota_line){l->row->node, l->row->flavor, l->row->resource, l->amount};
}

static void tell_reservation(const struct cache_reservation *h, struct batch_plan *b, size_t at)
{
	batch_plan_found_reservation(b, at, &h->is);
	for (size_t i = 0; i < h->nlines; i++) {
		struct quota_line l = line_named(&h->lines[i]);
		batch_plan_found_line(b, at, &l);
	}
	for (size_t i = 0; i < h->nstarted_lines; i++) {
		struct quota_line l = line_named(&h->started_lines[i]);
		batch_plan_found_started_line(b, at, &l);
	}
}

/* Tells the reservations. One to be reserved need not be known: the key of its transfer tells if it
 * was used before. */
static bool tell_reservations(const struct cache *m, struct batch_plan *b)
{
	for (size_t i = 0; i < b->nreservations; i++) {
		const struct batch_plan_reservation *asked = &b->reservations[i];
		struct reservation_key key = {&asked->uid, asked->attempt};
		const struct cache_reservation *h = map_get(
			&m->reservations, batch_plan_attempt_hash(key.uid, key.attempt), &key);
		if (h)
			tell_reservation(h, b, i);
		else if (!asked->reserving)
			return false;
	}
	return true;
}

/* Tells the rows. Rows above are added behind while we go. */
static bool tell_rows(const struct cache *m, struct batch_plan *b)
{
	for (size_t i = 0; i < b->nrows; i++) {
		const struct batch_plan_row *asked = b->rows[i];
		struct quota_line name = {asked->node, asked->flavor, asked->resource, 0};
		const struct cache_row *r = row_get(m, &name);
		if (!r || !r->known)
			return false;
		batch_plan_found_row(b, &name, &r->balance);
		name.node = r->balance.parent;
		const struct cache_row *up = name.node[0] ? row_get(m, &name) : NULL;
		if (up && up->known)
			batch_plan_found_row(b, &name, &up->balance);
	}
	return true;
}

bool cache_tell(const struct cache *m, struct batch_plan *b)
{
	return tell_reservations(m, b) && tell_rows(m, b);
}

/* ---- Learning ---------------------------------------------------------------------------------
 */

/* Finds or adds a row, which stays until all is cleared: its name may be borrowed. */
static struct cache_row *row_need(struct cache *m, const char *node, const struct batch_plan_row *r)
{
	struct quota_line name = {node, r->flavor, r->resource, 0};
	struct cache_row *mine = row_get(m, &name);
	if (mine)
		return mine;
	mine = mem_alloc(sizeof(*mine));
	mine->node = mem_strdup(node);
	mine->flavor = mem_strdup(r->flavor);
	mine->resource = mem_strdup(r->resource);
	map_put(&m->rows, batch_plan_row_hash(&name), mine);
	return mine;
}

static void learn_row(struct cache *m, const struct batch_plan_row *r)
{
	if (!r->exists && !batch_plan_row_changed(r))
		return;
	struct cache_row *mine = row_need(m, r->node, r);
	const char *parent = r->now.parent;
	mine->known = true;
	mine->balance = r->now;
	mine->balance.parent = parent[0] ? row_need(m, parent, r)->node : "";
}

static struct cache_line *learn_lines(struct cache *m, const struct batch_plan *b, char **bytes,
	const struct batch_plan_line *lines, size_t n)
{
	struct cache_line *mine = (struct cache_line *)(void *)*bytes;
	for (size_t i = 0; i < n; i++) {
		const struct batch_plan_row *r = b->rows[lines[i].row];
		mine[i] = (struct cache_line){row_need(m, r->node, r), lines[i].amount};
	}
	*bytes += n * sizeof(*mine);
	return mine;
}

/* Lists where its strings are. */
static void texts_of(struct held *h, const char **ret[9])
{
	const char **const all[9] = {&h->ns, &h->name, &h->clusterqueue, &h->localqueue, &h->owner,
		&h->labels, &h->submitted_by, &h->reason, &h->actor};
	memcpy(ret, all, sizeof(all));
}

static struct cache_reservation *reservation_copy(
	struct cache *m, const struct batch_plan *b, const struct batch_plan_reservation *h)
{
	struct held is = h->is;
	const char **texts[9];
	size_t size = (h->nlines + h->nstarted_lines) * sizeof(struct cache_line);
	texts_of(&is, texts);
	for (size_t i = 0; i < 9; i++)
		size += *texts[i] ? strlen(*texts[i]) + 1 : 0;
	struct cache_reservation *mine = mem_alloc(sizeof(*mine) + size);
	char *bytes = mine->bytes;
	mine->uid = h->uid;
	mine->attempt = h->attempt;
	mine->nlines = h->nlines;
	mine->lines = learn_lines(m, b, &bytes, h->lines, h->nlines);
	mine->nstarted_lines = h->nstarted_lines;
	mine->started_lines = learn_lines(m, b, &bytes, h->started_lines, h->nstarted_lines);
	for (size_t i = 0; i < 9; i++) {
		size_t text = *texts[i] ? strlen(*texts[i]) + 1 : 0;
		if (text > 0)
			*texts[i] = memcpy(bytes, *texts[i], text);
		bytes += text;
	}
	mine->is = is;
	return mine;
}

static void learn_reservation(
	struct cache *m, const struct batch_plan *b, const struct batch_plan_reservation *h)
{
	struct reservation_key key = {&h->uid, h->attempt};
	uint64_t hash = batch_plan_attempt_hash(&h->uid, h->attempt);
	struct cache_reservation *mine = h->open ? reservation_copy(m, b, h) : NULL;
	free(map_take(&m->reservations, hash, &key)); /* only now: the plan borrows from it */
	if (mine)
		map_put(&m->reservations, hash, mine);
}

void cache_learn(struct cache *m, const struct batch_plan *b)
{
	for (size_t i = 0; i < b->nrows; i++)
		learn_row(m, b->rows[i]);
	for (size_t i = 0; i < b->nreservations; i++)
		learn_reservation(m, b, &b->reservations[i]);
}
