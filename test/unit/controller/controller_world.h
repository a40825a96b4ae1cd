/*
 * A small world for the tests of the controller's surfaces: one ClusterQueue with two flavors, a
 * LocalQueue, a few waiting Jobs, and a gate that has not taken the lease.
 */
#ifndef SLUICE_TEST_CONTROLLER_CONTROLLER_WORLD_H
#define SLUICE_TEST_CONTROLLER_CONTROLLER_WORLD_H

#include "controller/answers/api.h"
#include "controller/answers/report.h"

struct world {
	struct queue *queue;
	struct gate *gate;
	struct decision_log *decision_log;
	struct counters *counters;
	struct kube_client_stats api;
	struct api_sources sources; /* point to the above */
	struct report_sources reports;
};

/* The ClusterQueue gets this name. */
void world_open(struct world *w, const char *clusterqueue);
void world_close(struct world *w);

/* Makes a Job that asks for 12 cpu and 1Gi. */
struct job world_job(unsigned char number, const char *name);
void world_see_job(struct world *w, const struct job *j);
void world_add_job(struct world *w, unsigned char number, const char *name);
void world_note(struct world *w, enum note_kind kind, const char *clusterqueue, int64_t waited_ms);

#endif
