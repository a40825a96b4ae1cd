#include "controller/watch/autoscaler_status.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "sluice/queue.h"

void autoscaler_status_init(struct autoscaler_status *a, struct queue *q)
{
	*a = (struct autoscaler_status){.queue = q};
}

void autoscaler_status_see(struct autoscaler_status *a, const struct cJSON *configmap)
{
	const char *version = json_text(json_object(configmap, "metadata"), "resourceVersion");
	if (!version || strcmp(version, a->version) == 0) /* listed once more */
		return;
	bool first = a->version[0] == '\0';
	snprintf(a->version, sizeof(a->version), "%s", version);
	if (first) /* it may have been written long ago */
		return;
	a->changed = true;
	queue_set_cluster_autoscaler(a->queue, true);
}

void autoscaler_status_lose(struct autoscaler_status *a)
{
	autoscaler_status_init(a, a->queue);
	queue_set_cluster_autoscaler(a->queue, false);
}

bool autoscaler_status_tick(struct autoscaler_status *a, int64_t now_ms)
{
	if (a->changed) {
		a->changed = false;
		a->changed_ms = now_ms;
	}
	if (a->changed_ms == 0 || now_ms - a->changed_ms < AUTOSCALER_SILENCE_MS)
		return false;
	a->changed_ms = 0;
	queue_set_cluster_autoscaler(a->queue, false);
	return true;
}
