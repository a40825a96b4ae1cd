#include "controller/net/waiting_room.h"

#include <stdlib.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/net/bucket.h"

enum { TURNS = 2048 }; /* are remembered */

struct waiting {
	struct link link;
	int64_t turn;	/* that its address had last */
	unsigned ahead; /* how many of its address came before it */
	struct waiting_client client;
};

struct waiting_room {
	size_t places, n;
	struct link
		all;  /* of struct waiting, as they came; leave when they are taken or sent away */
	int64_t turn; /* the newest */
	struct bucket turns[TURNS]; /* empty_ms is the turn that an address had last */
};

/* Gives the turn that an address had last. One that never had any must not go before those that had,
 * for good: there may be ever new ones. */
static int64_t turn_of(struct waiting_room *r, uint64_t address)
{
	int64_t turn = bucket_of(r->turns, TURNS, address)->empty_ms;
	return turn > r->turn - TURNS ? turn : r->turn - TURNS;
}

static void leave(struct waiting_room *r, struct waiting *w)
{
	list_leave(&w->link);
	free(w);
	r->n--;
}

static struct waiting *next(const struct waiting_room *r)
{
	struct waiting *found = NULL;
	list_each_entry(&r->all, struct waiting, w, link)
		if (!found || w->turn < found->turn)
			found = w;
	return found;
}

static bool goes_before(const struct waiting *w, const struct waiting *other)
{
	return w->ahead != other->ahead ? w->ahead > other->ahead : w->turn >= other->turn;
}

static struct waiting *first_to_go(const struct waiting_room *r)
{
	struct waiting *found = NULL;
	list_each_entry(&r->all, struct waiting, w, link)
		if (!found || goes_before(w, found))
			found = w;
	return found;
}

int waiting_room_add(struct waiting_room *r, const struct waiting_client *client)
{
	struct waiting *added = mem_alloc(sizeof(*added));
	added->client = *client;
	added->turn = turn_of(r, client->address);
	list_each_entry(&r->all, const struct waiting, w, link)
		added->ahead += w->client.address == client->address;
	list_add(&r->all, &added->link);
	if (++r->n <= r->places)
		return -1;
	struct waiting *w = first_to_go(r);
	int fd = w->client.fd;
	leave(r, w);
	return fd;
}

bool waiting_room_take(struct waiting_room *r, struct waiting_client *ret)
{
	struct waiting *w = next(r);
	if (!w)
		return false;
	*ret = w->client;
	leave(r, w);
	bucket_of(r->turns, TURNS, ret->address)->empty_ms = ++r->turn;
	list_each_entry(&r->all, struct waiting, other, link) {
		if (other->client.address != ret->address)
			continue;
		other->turn = r->turn;
		other->ahead--;
	}
	return true;
}

struct waiting_room *waiting_room_new(size_t places)
{
	struct waiting_room *r = mem_alloc(sizeof(*r));
	r->places = places;
	list_init(&r->all);
	return r;
}

void waiting_room_free(struct waiting_room *r)
{
	must(!r || r->n == 0);
	free(r);
}
