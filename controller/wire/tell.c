#include "controller/wire/tell.h"

#include <stdlib.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_template.h"

/* Defines a function. tell: the call that hands s to q. refuse: what is done when nothing was
 * decoded. */
#define TELL(function, record, decode, tell, refuse)                                               \
	int function(struct queue *q, const struct cJSON *o, struct err *e)                        \
	{                                                                                          \
		struct record *s = NULL;                                                           \
		int rc = decode(o, &s, e);                                                         \
		if (rc == 0)                                                                       \
			rc = tell;                                                                 \
		else                                                                               \
			refuse;                                                                    \
		free(s);                                                                           \
		return rc;                                                                         \
	}
#define NOT_SHOWN (void)0 /* no object of the kind shows it */

static int set_runpolicy(struct queue *q, const struct runpolicy_spec *s, struct err *e)
{
	bool again = false;
	int rc = queue_set_runpolicy(q, s, &again, e);
	return rc == 0 && again ? JOBS_ANEW : rc;
}

TELL(tell_clusterqueue, clusterqueue_spec, decode_clusterqueue, queue_set_clusterqueue(q, s, e),
	queue_reject_clusterqueue(q, decode_name(o), e->text))
TELL(tell_cohort, cohort_spec, decode_cohort, queue_set_cohort(q, s, e),
	queue_reject_cohort(q, decode_name(o), e->text))
TELL(tell_flavor, flavor_spec, decode_flavor, queue_set_flavor(q, s, e),
	queue_reject_flavor(q, decode_name(o), e->text))
TELL(tell_runpolicy, runpolicy_spec, decode_runpolicy, set_runpolicy(q, s, e),
	queue_reject_runpolicy(q, decode_name(o), e->text))
TELL(tell_advance_reservation, advance_reservation_spec, decode_advance_reservation,
	queue_set_advance_reservation(q, s, e),
	queue_reject_advance_reservation(q, decode_name(o), e->text))
TELL(tell_localqueue, localqueue_spec, decode_localqueue, queue_set_localqueue(q, s, e),
	queue_reject_localqueue(q, decode_namespace_of(o), decode_name(o), e->text))

TELL(tell_workload_priority, priority_spec, decode_workload_priority, (queue_set_priority(q, s), 0),
	NOT_SHOWN)
TELL(tell_pod_priority, priority_spec, decode_pod_priority, (queue_set_priority(q, s), 0),
	NOT_SHOWN)
TELL(tell_limit_range, limit_range_spec, decode_limit_range,
	queue_set_limit_range(q, s) ? JOBS_ANEW : 0, NOT_SHOWN)
TELL(tell_runtime_class, runtime_class_spec, decode_runtime_class,
	queue_set_runtime_class(q, s) ? JOBS_ANEW : 0, NOT_SHOWN)

TELL(tell_node, node_spec, decode_node_spec, (queue_set_node(q, s), 0), NOT_SHOWN)
TELL(tell_resource_quota, resource_quota, decode_resource_quota,
	(queue_set_resource_quota(q, s), 0), NOT_SHOWN)
static void set_made_nodes(struct queue *q, const struct made_nodes_spec *s, const char *name)
{
	if (s->name)
		queue_set_made_nodes(q, s);
	else
		queue_drop_made_nodes(q, name);
}

TELL(tell_made_nodes, made_nodes_spec, decode_made_nodes, (set_made_nodes(q, s, decode_name(o)), 0),
	NOT_SHOWN)
TELL(tell_device_class, device_class_spec, decode_device_class, (queue_set_device_class(q, s), 0),
	NOT_SHOWN)
TELL(tell_written_quota, resource_quota, decode_written_quota, (queue_set_resource_quota(q, s), 0),
	NOT_SHOWN)
TELL(tell_disruption_budget, disruption_budget_spec, decode_disruption_budget,
	(queue_set_disruption_budget(q, s), 0), NOT_SHOWN)
