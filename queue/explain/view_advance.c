/* AdvanceReservations as their status shows them. */
#include "queue/core.h"
#include "queue/job/text.h"

/* Is there nothing to judge? */
static bool say_invalid(const struct advance_reservation *a, struct condition_view *ret)
{
	struct text t = text_over(ret->message, sizeof(ret->message));
	if (!a->invalid)
		return false;
	ret->reason = "InvalidSpec";
	text_add(&t, "%s%s",
		a->spec.name ? "the newest spec was refused, the one before holds: " : "",
		a->invalid);
	return true;
}

bool queue_view_advance_reservation(
	const struct queue *q, size_t index, struct advance_reservation_view *ret)
{
	struct tree_node *n = tree_at(&q->advance_reservations.all, index);
	if (!n)
		return false;
	const struct advance_reservation *a = container_of(n, struct advance_reservation, by_name);
	*ret = (struct advance_reservation_view){.name = a->name,
		.clusterqueue = a->spec.name ? a->spec.clusterqueue : "",
		.generation = a->spec.generation,
		.currency = "",
		.stopped_total = a->stopped_total,
		.accepted.reason = "NotJudgedYet",
		.kept.reason = ""};
	say_invalid(a, &ret->accepted);
	return true;
}
