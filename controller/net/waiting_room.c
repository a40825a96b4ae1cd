#include "controller/net/waiting_room.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/net/bucket.h"

enum { TURNS = 2048 }; /* are remembered */

struct waiting {
	uint64_t address;
	int64_t turn;	/* that its address had last */
	unsigned ahead; /* how many of its address came before it */
	struct waiting_client *client;
};

struct waiting_room {
	size_t places, n;
	int64_t turn;		    /* the newest */
	struct bucket turns[TURNS]; /* empty_ms is the turn that an address had last */
	struct waiting all[];	    /* places and one, as they came */
};

/* Gives the turn that an address had last. One that never had any must not go before those that had,
 * for good: there may be ever new ones. */
static int64_t turn_of(struct waiting_room *r, uint64_t address)
{
	int64_t turn = bucket_of(r->turns, TURNS, address)->empty_ms;
	return turn > r->turn - TURNS ? turn : r->turn - TURNS;
}

static struct waiting_client leave(struct waiting_room *r, size_t i)
{
	struct waiting_client client = *r->all[i].client;
	free(r->all[i].client);
	r->n--;
	memmove(&r->all[i], &r->all[i + 1], (r->n - i) * sizeof(r->all[0]));
	return client;
}

static bool goes_before(const struct waiting *w, const struct waiting *other)
{
	return w->ahead != other->ahead ? w->ahead > other->ahead : w->turn >= other->turn;
}

static size_t first_to_go(const struct waiting_room *r)
{
	size_t found = 0;
	for (size_t i = 1; i < r->n; i++)
		if (goes_before(&r->all[i], &r->all[found]))
			found = i;
	return found;
}

int waiting_room_add(struct waiting_room *r, const struct waiting_client *client)
{
	struct waiting *added = &r->all[r->n];
	*added = (struct waiting){.address = client->address,
		.turn = turn_of(r, client->address),
		.client = mem_alloc(sizeof(*client))};
	*added->client = *client;
	for (size_t i = 0; i < r->n; i++)
		added->ahead += r->all[i].address == client->address;
	return ++r->n > r->places ? leave(r, first_to_go(r)).fd : -1;
}

bool waiting_room_take(struct waiting_room *r, struct waiting_client *ret)
{
	size_t next = 0;
	if (r->n == 0)
		return false;
	for (size_t i = 1; i < r->n; i++)
		if (r->all[i].turn < r->all[next].turn)
			next = i;
	*ret = leave(r, next);
	bucket_of(r->turns, TURNS, ret->address)->empty_ms = ++r->turn;
	for (size_t i = 0; i < r->n; i++) {
		if (r->all[i].address != ret->address)
			continue;
		r->all[i].turn = r->turn;
		r->all[i].ahead--;
	}
	return true;
}

struct waiting_room *waiting_room_new(size_t places)
{
	struct waiting_room *r = mem_alloc(sizeof(*r) + (places + 1) * sizeof(r->all[0]));
	r->places = places;
	return r;
}

void waiting_room_free(struct waiting_room *r)
{
	must(!r || r->n == 0);
	free(r);
}
