#include "controller/common/turns.h"

#include <string.h>

static struct turn *turn_of(struct link *l)
{
	return container_of(l, struct turn, link);
}

void turns_line_up(struct link *waiting, uint64_t round, struct turn *t)
{
	struct link *behind = waiting->next;
	t->round = round + 1;
	list_each_entry(waiting, const struct turn, other, link)
		if (strcmp(other->ns, t->ns) == 0)
			t->round = other->round + 1;
	while (behind != waiting && turn_of(behind)->round <= t->round)
		behind = behind->next;
	list_add(behind, &t->link); /* before behind */
}
