#include "queue/core/model/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- Blocks ---- */

static void recount(struct profile_head *h)
{
	__int128 least = h->block->use[0], most = least;
	for (size_t i = 1; i < h->n; i++) {
		__int128 use = h->block->use[i];
		least = use < least ? use : least;
		most = use > most ? use : most;
	}
	h->first_ms = h->block->from_ms[0];
	h->least = least + h->more;
	h->most = most + h->more;
}

/* Makes place for a head at that index. */
static struct profile_head *head_insert(struct profile *p, size_t at)
{
	p->head = mem_room(p->head, p->nheads, &p->room, 4, sizeof(*p->head));
	struct profile_head *h = &p->head[at];
	memmove(h + 1, h, (p->nheads - at) * sizeof(*h));
	p->nheads++;
	*h = (struct profile_head){.block = mem_alloc(sizeof(*h->block))};
	return h;
}

static void head_remove(struct profile *p, size_t at)
{
	struct profile_head *h = &p->head[at];
	free(h->block);
	p->nheads--;
	memmove(h, h + 1, (p->nheads - at) * sizeof(*h));
}

void profile_init(struct profile *p)
{
	*p = (struct profile){.head = NULL};
	struct profile_head *h = head_insert(p, 0);
	h->block->from_ms[0] = INT64_MIN;
	h->n = 1;
	recount(h);
}

void profile_done(struct profile *p)
{
	while (p->nheads > 0)
		head_remove(p, p->nheads - 1);
	free(p->head);
	*p = (struct profile){.head = NULL};
}

static __int128 use_at(const struct profile *p, struct profile_place at)
{
	const struct profile_head *h = &p->head[at.head];
	return h->block->use[at.step] + h->more;
}

/* ---- Places ---- */

/* The last step of the block at or before at_ms. */
static size_t step_in(const struct profile_head *h, int64_t at_ms)
{
	size_t low = 0, high = h->n;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;
		if (h->block->from_ms[mid] <= at_ms)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static struct profile_place find(const struct profile *p, int64_t at_ms)
{
	size_t low = 0, high = p->nheads;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;
		if (p->head[mid].first_ms <= at_ms)
			low = mid;
		else
			high = mid;
	}
	return (struct profile_place){low, step_in(&p->head[low], at_ms)};
}

static bool is_last(const struct profile *p, struct profile_place at)
{
	return at.head + 1 == p->nheads && at.step + 1 == p->head[at.head].n;
}

static struct profile_place next(const struct profile *p, struct profile_place at)
{
	return at.step + 1 < p->head[at.head].n ? (struct profile_place){at.head, at.step + 1}
						: (struct profile_place){at.head + 1, 0};
}

static struct profile_place before(const struct profile *p, struct profile_place at)
{
	return at.step > 0 ? (struct profile_place){at.head, at.step - 1}
			   : (struct profile_place){at.head - 1, p->head[at.head - 1].n - 1};
}

static int64_t from_ms(const struct profile *p, struct profile_place at)
{
	return p->head[at.head].block->from_ms[at.step];
}

static int64_t until_ms(const struct profile *p, struct profile_place at)
{
	return is_last(p, at) ? INT64_MAX : from_ms(p, next(p, at));
}

/* Most searches go on at the same step or at the next. */
static void go_to(const struct profile *p, struct profile_place *at, int64_t at_ms)
{
	if (from_ms(p, *at) <= at_ms) {
		int64_t end_ms = until_ms(p, *at);
		if (at_ms < end_ms || is_last(p, *at))
			return;
		struct profile_place second = next(p, *at);
		if (at_ms < until_ms(p, second) || is_last(p, second)) {
			*at = second;
			return;
		}
	}
	*at = find(p, at_ms);
}

/* ---- Changes ---- */

/* The second half of a full block goes into a block of its own. */
static void split(struct profile *p, size_t at)
{
	struct profile_head *new = head_insert(p, at + 1), *old = &p->head[at];
	size_t left = old->n / 2;
	new->n = old->n - left;
	new->more = old->more;
	memcpy(new->block->from_ms, old->block->from_ms + left, new->n * sizeof(int64_t));
	memcpy(new->block->use, old->block->use + left, new->n * sizeof(__int128));
	old->n = left;
	recount(old);
	recount(new);
}

/* From now on a step begins at at_ms. */
static void cut(struct profile *p, int64_t at_ms)
{
	struct profile_place at = find(p, at_ms);
	if (from_ms(p, at) == at_ms)
		return;
	if (p->head[at.head].n == PROFILE_BLOCK) {
		split(p, at.head);
		at = find(p, at_ms);
	}
	struct profile_head *h = &p->head[at.head];
	struct profile_block *b = h->block;
	size_t to = at.step + 1, behind = h->n - to;
	memmove(b->from_ms + to + 1, b->from_ms + to, behind * sizeof(int64_t));
	memmove(b->use + to + 1, b->use + to, behind * sizeof(__int128));
	b->from_ms[to] = at_ms;
	b->use[to] = b->use[at.step];
	h->n++;
}

/* A block that is nearly empty takes in the next one, if that is small. */
static void join_next(struct profile *p, size_t at)
{
	if (at + 1 >= p->nheads || p->head[at].n + p->head[at + 1].n > PROFILE_BLOCK / 2)
		return;
	struct profile_head *h = &p->head[at], *from = h + 1;
	for (size_t i = 0; i < from->n; i++) {
		h->block->from_ms[h->n] = from->block->from_ms[i];
		h->block->use[h->n] = from->block->use[i] + from->more - h->more;
		h->n++;
	}
	recount(h);
	head_remove(p, at + 1);
}

static void remove_step(struct profile *p, struct profile_place at)
{
	struct profile_head *h = &p->head[at.head];
	struct profile_block *b = h->block;
	size_t behind = h->n - at.step - 1;
	memmove(b->from_ms + at.step, b->from_ms + at.step + 1, behind * sizeof(int64_t));
	memmove(b->use + at.step, b->use + at.step + 1, behind * sizeof(__int128));
	h->n--;
	if (h->n == 0) {
		head_remove(p, at.head);
		return;
	}
	recount(h);
	join_next(p, at.head);
	if (at.head > 0)
		join_next(p, at.head - 1);
}

/* Is the step that begins at at_ms none any more, because as much is used before? */
static void mend(struct profile *p, int64_t at_ms)
{
	struct profile_place at = find(p, at_ms);
	if (at_ms != INT64_MIN && use_at(p, before(p, at)) == use_at(p, at))
		remove_step(p, at);
}

static void add_to_head(struct profile_head *h, size_t first, size_t end, __int128 amount)
{
	if (first == 0 && end == h->n) {
		h->more += amount;
		h->least += amount;
		h->most += amount;
		return;
	}
	for (size_t i = first; i < end; i++)
		h->block->use[i] += amount;
	recount(h);
}

void profile_add(struct profile *p, int64_t from, int64_t until, __int128 amount)
{
	if (from >= until || amount == 0)
		return;
	cut(p, from);
	if (until != INT64_MAX)
		cut(p, until);
	struct profile_place first = find(p, from), end = {p->nheads, 0};
	if (until != INT64_MAX)
		end = find(p, until);
	for (size_t i = first.head; i < p->nheads && i <= end.head; i++) {
		struct profile_head *h = &p->head[i];
		add_to_head(h, i == first.head ? first.step : 0, i == end.head ? end.step : h->n,
			amount);
	}
	if (until != INT64_MAX)
		mend(p, until);
	mend(p, from);
}

/* ---- Questions ---- */

bool profile_is_empty(const struct profile *p)
{
	return p->nheads == 1 && p->head[0].n == 1 && p->head[0].most == 0;
}

size_t profile_steps(const struct profile *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->nheads; i++)
		n += p->head[i].n;
	return n;
}

__int128 profile_at(
	const struct profile *p, struct profile_place *place, int64_t at_ms, int64_t *ret_until_ms)
{
	go_to(p, place, at_ms);
	*ret_until_ms = until_ms(p, *place);
	return use_at(p, *place);
}

static bool has_any(const struct profile_head *h, __int128 limit, bool above)
{
	return above ? h->most > limit : h->least <= limit;
}

int64_t profile_first(const struct profile *p, struct profile_place *place, int64_t at_ms,
	__int128 limit, bool above)
{
	go_to(p, place, at_ms);
	if ((use_at(p, *place) > limit) == above)
		return at_ms;
	size_t step = place->step + 1;
	for (size_t i = place->head; i < p->nheads; i++, step = 0) {
		const struct profile_head *h = &p->head[i];
		if (!has_any(h, limit, above))
			continue;
		const __int128 *use = h->block->use, most = limit - h->more;
		for (; step < h->n; step++) {
			if ((use[step] > most) == above) {
				*place = (struct profile_place){i, step};
				return h->block->from_ms[step];
			}
		}
	}
	return INT64_MAX;
}

/* A window that is searched for: it is open since since_ms, or it is not. */
struct window_search {
	bool open;
	int64_t since_ms, length_ms;
};

static bool is_long_enough(const struct window_search *w, int64_t until_ms)
{
	return (uint64_t)until_ms - (uint64_t)w->since_ms >= (uint64_t)w->length_ms;
}

/* Goes through a block from `step` on. True: the window ends at *ret_until_ms, and is long enough. */
static bool search_block(const struct profile_head *h, size_t step, __int128 limit,
	struct window_search *w, int64_t *ret_until_ms)
{
	const __int128 *use = h->block->use, most = limit - h->more;
	for (; step < h->n; step++) {
		bool fits = use[step] <= most;
		if (fits == w->open)
			continue;
		int64_t at_ms = h->block->from_ms[step];
		if (w->open && is_long_enough(w, at_ms)) {
			*ret_until_ms = at_ms;
			return true;
		}
		w->open = fits;
		w->since_ms = at_ms;
	}
	return false;
}

int64_t profile_window(const struct profile *p, struct profile_place *place, int64_t at_ms,
	int64_t latest_ms, int64_t length_ms, __int128 limit, int64_t *ret_until_ms)
{
	go_to(p, place, at_ms);
	struct window_search w = {use_at(p, *place) <= limit, at_ms, length_ms};
	size_t step = place->step + 1;
	for (size_t i = place->head; i < p->nheads; i++, step = 0) {
		const struct profile_head *h = &p->head[i];
		if (!w.open && h->first_ms > latest_ms)
			return INT64_MAX;
		if (has_any(h, limit, w.open) && search_block(h, step, limit, &w, ret_until_ms))
			return w.since_ms <= latest_ms ? w.since_ms : INT64_MAX;
	}
	*ret_until_ms = INT64_MAX;
	return w.open && w.since_ms <= latest_ms ? w.since_ms : INT64_MAX;
}
