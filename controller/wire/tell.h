/*
 * From the wire's JSON to the queue: an object is decoded, the queue is told of it, and the record
 * is freed. This is for the kinds that concern nothing but the queue. Objects that the controller
 * follows, and files that `sluice simulate` reads, are told by the same functions.
 *
 * Each returns 0, ERR_INVALID with the sentence, or JOBS_ANEW. Where an object has a status, the
 * queue keeps the sentence for it, and its last valid spec stays in force.
 */
#ifndef SLUICE_CONTROLLER_WIRE_TELL_H
#define SLUICE_CONTROLLER_WIRE_TELL_H

#include "base/err.h"
#include "sluice/queue.h"

struct cJSON;

/* Says that the requests of Jobs count differently now, or that others are managed: all Jobs must
 * be seen again. */
enum { JOBS_ANEW = 1 };

typedef int tell_queue(struct queue *q, const struct cJSON *o, struct err *e);

tell_queue tell_clusterqueue, tell_localqueue, tell_cohort, tell_runpolicy;
tell_queue tell_flavor; /* the queue alone: the controller tells others of flavors, too */
tell_queue tell_advance_reservation; /* with what its status says */
tell_queue tell_workload_priority, tell_pod_priority;
tell_queue tell_limit_range, tell_runtime_class;
tell_queue tell_node, tell_resource_quota, tell_disruption_budget;
tell_queue tell_made_nodes, tell_device_class;
tell_queue tell_written_quota; /* decode_written_quota(): of a file */

#endif
