#include "queue/cluster/ranking.h"

#include <stdlib.h>

#include "base/mem.h"

void ranking_init(struct ranking *r, size_t nslots)
{
	r->width = 1;
	while (r->width < nslots)
		r->width *= 2;
	r->most = mem_array(2 * r->width, sizeof(*r->most));
}

void ranking_done(struct ranking *r)
{
	free(r->most);
	*r = (struct ranking){0};
}

void ranking_set(struct ranking *r, size_t slot, int32_t room)
{
	size_t at = r->width + slot;
	if (r->most[at] == room)
		return;
	r->most[at] = room;
	for (at /= 2; at > 0; at /= 2) {
		int32_t left = r->most[2 * at], right = r->most[2 * at + 1];
		int32_t most = left > right ? left : right;
		if (r->most[at] == most)
			return;
		r->most[at] = most;
	}
}

size_t ranking_first(const struct ranking *r, int32_t *ret_room)
{
	size_t at = 1;
	*ret_room = r->most[1];
	while (at < r->width)
		at = r->most[2 * at] == r->most[at] ? 2 * at : 2 * at + 1;
	return at - r->width;
}
