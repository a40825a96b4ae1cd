#include "controller/answers/timeline_fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- shares ------------------------------------------------------------------------------------ */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t sum_up_to(const size_t *wants, size_t n, size_t level)
{
	size_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += least(wants[i], level);
	return sum;
}

void fair_shares(const size_t *wants, size_t n, size_t most, size_t *ret_shares)
{
	size_t level = 0, too_much = most + 1;
	if (sum_up_to(wants, n, most) <= most)
		level = most;
	while (too_much - level > 1) {
		size_t middle = level + (too_much - level) / 2;
		if (sum_up_to(wants, n, middle) <= most)
			level = middle;
		else
			too_much = middle;
	}
	size_t rest = most - sum_up_to(wants, n, level);
	for (size_t i = 0; i < n; i++) {
		bool gets_one_more = wants[i] > level && rest > 0;
		ret_shares[i] = least(wants[i], level) + gets_one_more;
		rest -= gets_one_more;
	}
}

/* ---- what is alike ----------------------------------------------------------------------------- */

static int order(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Compares whose share they are of: of a lane, a namespace, and what it holds or expects. */
static int by_claimant(const struct bar_item *x, const struct bar_item *y)
{
	int rc = order((int64_t)x->lane, (int64_t)y->lane);
	if (rc == 0)
		rc = strcmp(x->ns, y->ns);
	return rc ? rc : order(x->state == BAR_EXPECTED, y->state == BAR_EXPECTED);
}

/* Compares by what makes one bar, earlier parts of the stretch first. */
static int by_likeness(const struct bar_item *x, const struct bar_item *y)
{
	int rc = by_claimant(x, y);
	if (rc == 0)
		rc = order(x->part, y->part);
	if (rc == 0)
		rc = order((int64_t)x->state, (int64_t)y->state);
	if (rc == 0)
		rc = order(x->certain, y->certain);
	return rc ? rc : strcmp(x->sweep, y->sweep);
}

static int by_start(const struct bar_item *x, const struct bar_item *y)
{
	int rc = order(x->from_ms, y->from_ms);
	if (rc == 0)
		rc = strcmp(x->ns, y->ns);
	if (rc == 0)
		rc = strcmp(x->name, y->name);
	return rc ? rc : uid_cmp(&x->uid, &y->uid);
}

static int compare_items(const void *a, const void *b)
{
	const struct bar_item *x = a, *y = b;
	int rc = by_likeness(x, y);
	return rc ? rc : by_start(x, y);
}

static int compare_bars(const void *a, const void *b)
{
	const struct bar_item *x = ((const struct bar *)a)->item,
			      *y = ((const struct bar *)b)->item;
	int rc = order((int64_t)x->lane, (int64_t)y->lane);
	return rc ? rc : by_start(x, y);
}

static void set_parts(struct bar_item *item, size_t n, int64_t span_ms)
{
	int64_t width_ms = span_ms / TIMELINE_PARTS;
	for (size_t i = 0; i < n; i++)
		item[i].part = item[i].from_ms / (width_ms > 0 ? width_ms : 1);
}

/* ---- bars -------------------------------------------------------------------------------------- */

/* Keeps the later time, and 0 once one was not known. */
static int64_t last_of(int64_t a, int64_t b)
{
	return a == 0 || b == 0 ? 0 : a > b ? a : b;
}

static int64_t first_of(int64_t a, int64_t b)
{
	return a == 0 || (b > 0 && b < a) ? b : a;
}

static struct bar bar_of(const struct bar_item *first)
{
	return (struct bar){.item = first,
		.n = 1,
		.p90_ms = first->p90_ms,
		.until_ms = first->until_ms,
		.stops_ms = first->stops_ms,
		.deadline_ms = first->deadline_ms};
}

static void bar_add(struct bar *bar, const struct bar_item *x)
{
	bar->n++;
	bar->p90_ms = last_of(bar->p90_ms, x->p90_ms);
	bar->until_ms = last_of(bar->until_ms, x->until_ms);
	bar->stops_ms = first_of(bar->stops_ms, x->stops_ms);
	bar->deadline_ms = first_of(bar->deadline_ms, x->deadline_ms);
}

/* Makes the bars of items in order, however many they are. */
static void make_bars(const struct bar_item *item, size_t n, struct bars *b)
{
	b->bar = mem_array(n + 1, sizeof(*b->bar));
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && by_likeness(&item[i - 1], &item[i]) == 0)
			bar_add(&b->bar[b->n - 1], &item[i]);
		else
			b->bar[b->n++] = bar_of(&item[i]);
	}
}

/* ---- caps -------------------------------------------------------------------------------------- */

/* The bars of one claimant stand beside each other. */
struct claimants {
	size_t *wants, *share; /* bars; a claimant each */
	size_t n;
};

/* Gives each lane its share of all bars, at most TIMELINE_LANE_MAX. */
static size_t *shares_of_lanes(const struct bars *b, size_t nlanes)
{
	size_t *wants = mem_array(2 * nlanes + 1, sizeof(*wants)), *share = wants + nlanes;
	for (size_t i = 0; i < b->n; i++)
		wants[b->bar[i].item->lane]++;
	for (size_t i = 0; i < nlanes; i++)
		wants[i] = least(wants[i], TIMELINE_LANE_MAX);
	fair_shares(wants, nlanes, TIMELINE_BARS_MAX, share);
	memcpy(wants, share, nlanes * sizeof(*wants));
	return wants;
}

static struct claimants shares_of_claimants(const struct bars *b, const size_t *share_of_lane)
{
	struct claimants c = {.wants = mem_array(b->n + 1, sizeof(*c.wants)),
		.share = mem_array(b->n + 1, sizeof(*c.share))};
	size_t first = 0; /* of the lane */
	for (size_t i = 0; i < b->n; i++) {
		size_t lane = b->bar[i].item->lane;
		if (i == 0 || by_claimant(b->bar[i - 1].item, b->bar[i].item) != 0)
			c.n++;
		c.wants[c.n - 1]++;
		if (i + 1 < b->n && b->bar[i + 1].item->lane == lane)
			continue;
		fair_shares(c.wants + first, c.n - first, share_of_lane[lane], c.share + first);
		first = c.n;
	}
	return c;
}

/* Keeps the first bars of each claimant, and counts the Jobs of the others. */
static void keep_shares(struct bars *b, const struct claimants *c)
{
	size_t claimant = 0, kept = 0, left = 0;
	const struct bar_item *before = NULL;
	for (size_t i = 0; i < b->n; i++) {
		struct bar bar = b->bar[i];
		if (!before || by_claimant(before, bar.item) != 0)
			left = c->share[claimant++];
		before = bar.item;
		if (left == 0) {
			b->left_out[bar.item->lane] += bar.n;
			continue;
		}
		b->bar[kept++] = bar;
		left--;
	}
	b->n = kept;
}

struct bars timeline_fold(struct bar_item *item, size_t n, size_t nlanes, int64_t span_ms)
{
	struct bars b = {.left_out = mem_array(nlanes + 1, sizeof(*b.left_out))};
	set_parts(item, n, span_ms);
	if (n > 1)
		qsort(item, n, sizeof(*item), compare_items);
	make_bars(item, n, &b);
	size_t *share_of_lane = shares_of_lanes(&b, nlanes);
	struct claimants c = shares_of_claimants(&b, share_of_lane);
	keep_shares(&b, &c);
	if (b.n > 1)
		qsort(b.bar, b.n, sizeof(*b.bar), compare_bars);
	free(share_of_lane);
	free(c.wants);
	free(c.share);
	return b;
}

void bars_done(struct bars *b)
{
	free(b->bar);
	free(b->left_out);
	*b = (struct bars){0};
}
