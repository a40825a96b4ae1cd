#include "queue/rules/consent.h"

#include "queue/rules/money/budget.h"
#include "queue/rules/namespace_quota.h"
#include "queue/rules/nodes/terrain.h"

bool consent_given(struct queue *q, const struct nominee *e, const struct victim *victims, size_t n)
{
	return budget_lets(q, e, NULL) && namespace_quota_lets(q, e) &&
	       terrain_lets(q, e, victims, n);
}
