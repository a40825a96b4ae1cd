#include "node/orders.h"

#include <stdlib.h>

void orders_free(struct orders *o)
{
	free(o);
}

const struct ordered_pod *orders_find(const struct orders *o, const struct uid *uid)
{
	for (size_t i = 0; i < o->npods; i++)
		if (uid_cmp(&o->pods[i].uid, uid) == 0)
			return &o->pods[i];
	return NULL;
}
