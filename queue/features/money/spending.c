#include "queue/features/money/spending.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/price/money.h"

struct quarter {
	int64_t number; /* since 1970 */
	int64_t cost;
};

/* What one LocalQueue spent in one ClusterQueue. */
struct account_of {
	char *clusterqueue, *ns, *localqueue, *currency;
	struct quarter *quarter; /* in order */
	size_t n, capacity;
};

struct spending_key {
	const char *clusterqueue, *ns, *localqueue, *currency;
};

static bool account_is(const void *value, const void *key)
{
	const struct account_of *a = value;
	const struct spending_key *k = key;
	return strcmp(a->localqueue, k->localqueue) == 0 && strcmp(a->ns, k->ns) == 0 &&
	       strcmp(a->clusterqueue, k->clusterqueue) == 0 &&
	       strcmp(a->currency, k->currency) == 0;
}

static uint64_t account_hash(const struct spending_key *k)
{
	uint64_t hash = map_hash_string(k->clusterqueue);
	hash = hash * 31 + map_hash_string(k->ns);
	hash = hash * 31 + map_hash_string(k->localqueue);
	return hash * 31 + map_hash_string(k->currency);
}

void spending_init(struct spending *s)
{
	map_init(&s->map, account_is);
}

void spending_done(struct spending *s)
{
	struct account_of *a;
	map_each(&s->map, i, a) {
		free(a->clusterqueue);
		free(a->ns);
		free(a->localqueue);
		free(a->currency);
		free(a->quarter);
		free(a);
	}
	map_done(&s->map);
}

static struct account_of *account_keep(struct spending *s, const struct spending_key *k)
{
	struct account_of *a = map_get(&s->map, account_hash(k), k);
	if (a)
		return a;
	a = mem_alloc(sizeof(*a));
	a->clusterqueue = mem_strdup(k->clusterqueue);
	a->ns = mem_strdup(k->ns);
	a->localqueue = mem_strdup(k->localqueue);
	a->currency = mem_strdup(k->currency);
	map_put(&s->map, account_hash(k), a);
	return a;
}

static int64_t quarter_of(int64_t ms)
{
	return ms / SPENDING_QUARTER_MS - (ms % SPENDING_QUARTER_MS < 0);
}

/* The index of the first quarter that is not before it. */
static size_t place_of(const struct account_of *a, int64_t number)
{
	size_t low = 0, high = a->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (a->quarter[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void forget_old(struct account_of *a)
{
	int64_t newest = a->quarter[a->n - 1].number;
	size_t old = place_of(a, newest - SPENDING_KEPT_MS / SPENDING_QUARTER_MS);
	if (old == 0)
		return;
	a->n -= old;
	memmove(a->quarter, a->quarter + old, a->n * sizeof(*a->quarter));
}

static struct quarter *quarter_at(struct account_of *a, int64_t number)
{
	size_t at = place_of(a, number);
	if (at < a->n && a->quarter[at].number == number)
		return &a->quarter[at];
	a->quarter = mem_room(a->quarter, a->n, &a->capacity, 8, sizeof(*a->quarter));
	memmove(&a->quarter[at + 1], &a->quarter[at], (a->n - at) * sizeof(*a->quarter));
	a->quarter[at] = (struct quarter){.number = number};
	a->n++;
	return &a->quarter[at];
}

void spending_add(struct spending *s, const char *clusterqueue, const char *ns,
	const char *localqueue, const char *currency, int64_t started_ms, int64_t cost)
{
	if (cost == 0)
		return;
	struct spending_key key = {clusterqueue, ns, localqueue, currency};
	struct account_of *a = account_keep(s, &key);
	struct quarter *quarter = quarter_at(a, quarter_of(started_ms));
	quarter->cost = money_add(quarter->cost, cost);
	forget_old(a);
}

int64_t spending_sum(const struct spending *s, const char *clusterqueue, const char *ns,
	const char *localqueue, const char *currency, int64_t from_ms, int64_t to_ms)
{
	int64_t sum = 0;
	const struct account_of *a;
	map_each(&s->map, i, a) {
		bool meant = *clusterqueue ? strcmp(a->clusterqueue, clusterqueue) == 0
					   : strcmp(a->localqueue, localqueue) == 0 &&
						     strcmp(a->ns, ns) == 0;
		if (!meant || strcmp(a->currency, currency) != 0)
			continue;
		for (size_t k = place_of(a, quarter_of(from_ms));
			k < a->n && a->quarter[k].number < quarter_of(to_ms); k++)
			sum = money_add(sum, a->quarter[k].cost);
	}
	return sum;
}
