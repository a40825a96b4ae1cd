/*
 * The status of cluster-autoscaler: does one work in this cluster?
 *
 * cluster-autoscaler writes the ConfigMap kube-system/cluster-autoscaler-status in each of its
 * rounds, every ten seconds as a rule. The object outlives the program, so the program works while
 * the object changes: from the first change that is seen, until the object was the same for
 * AUTOSCALER_SILENCE_MS. The text has a time in it (lastProbeTime), but no clock of another machine
 * is compared with ours.
 */
#ifndef SLUICE_CONTROLLER_WATCH_AUTOSCALER_STATUS_H
#define SLUICE_CONTROLLER_WATCH_AUTOSCALER_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#define AUTOSCALER_SILENCE_MS (INT64_C(15) * 60 * 1000)

struct cJSON;
struct queue;

struct autoscaler_status {
	struct queue *queue;
	char version[32]; /* the object's resourceVersion; "": there is none */
	bool changed;	  /* since the last tick */
	int64_t changed_ms;
};

void autoscaler_status_init(struct autoscaler_status *a, struct queue *q);
void autoscaler_status_see(struct autoscaler_status *a, const struct cJSON *configmap);
void autoscaler_status_lose(struct autoscaler_status *a);
/* Looks at the time; now_ms never goes back. True: the queue was told that the program works no
 * more. */
bool autoscaler_status_tick(struct autoscaler_status *a, int64_t now_ms);

#endif
