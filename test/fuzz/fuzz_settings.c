/* Any bytes as flags, one a line, a letter for the flag and the rest its value: refused with a
 * sentence, or a small world can be played for a day under what they say. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "cli/simulate/manifest.h"
#include "cli/simulate/engine.h"
#include "controller/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two queues that compete, a Job that asks for more than cpu, one that may run with fewer pods. */
static const char world_text[] =
	"{apiVersion: v1, kind: Namespace, metadata: {name: n}}\n---\n"
	"{apiVersion: sluice.dev/v1alpha1, kind: ResourceFlavor, metadata: {name: any}}\n---\n"
	"{apiVersion: sluice.dev/v1alpha1, kind: ClusterQueue, metadata: {name: a}, spec: "
	"{cohortName: "
	"c, namespaceSelector: {}, preemption: {reclaimWithinCohort: Any}, resourceGroups: "
	"[{coveredResources: [cpu, x.y/z], flavors: [{name: any, resources: [{name: cpu, "
	"nominalQuota: 2}, {name: x.y/z, nominalQuota: 5}]}]}]}}\n---\n"
	"{apiVersion: sluice.dev/v1alpha1, kind: ClusterQueue, metadata: {name: b}, spec: "
	"{cohortName: "
	"c, namespaceSelector: {}, admissionScope: {admissionMode: "
	"UsageBasedAdmissionFairSharing}, "
	"resourceGroups: [{coveredResources: [cpu, x.y/z], flavors: [{name: any, resources: "
	"[{name: cpu, nominalQuota: 2}, {name: x.y/z, nominalQuota: 5}]}]}]}}\n---\n"
	"{apiVersion: sluice.dev/v1alpha1, kind: LocalQueue, metadata: {name: a, namespace: n}, "
	"spec: {clusterQueue: a}}\n---\n"
	"{apiVersion: sluice.dev/v1alpha1, kind: LocalQueue, metadata: {name: b, namespace: n}, "
	"spec: {clusterQueue: b}}\n---\n"
	"{apiVersion: batch/v1, kind: Job, metadata: {name: one, namespace: n, labels: "
	"{sluice.dev/queue-name: b}, annotations: {sluice.dev/simulate-duration: 30m}}, spec: "
	"{parallelism: 4, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1, "
	"memory: 1Gi}}}]}}}}\n---\n"
	"{apiVersion: batch/v1, kind: Job, metadata: {name: two, namespace: n, labels: "
	"{sluice.dev/queue-name: a}, annotations: {sluice.dev/simulate-duration: 2h, "
	"sluice.dev/min-parallelism: \"1\"}}, spec: {parallelism: 2, template: {spec: {containers: "
	"[{name: c, resources: {requests: {cpu: 1500m, x.y/z: 1}}}]}}}}\n";

static void engine(const struct queue_config *config)
{
	struct world w;
	struct summary summary;
	struct buf figures;
	struct err e = {""};
	world_init(&w, config);
	must(manifest_read_text(&w, "world", slice_of(world_text), &e) == 0);
	must(world_close(&w, &e) == 0);
	summary_init(&summary, &w);
	engine_run(&w, w.start_ms + 86400000, false, &(struct observers){.summary = &summary});
	buf_init(&figures, 1 << 20);
	summary_render_json(&summary, &figures);
	must(!figures.failed);
	buf_done(&figures);
	summary_done(&summary);
	world_done(&w);
}

static int take_lines(struct settings *s, char *line, struct err *e)
{
	int rc = 0;
	for (char *next; rc == 0 && line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		rc = flag_take(&settings_flags.flag[(unsigned char)line[0] % settings_flags.count],
			line + (*line != '\0'), s, e);
	}
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct settings s;
	struct err e = {""};
	char *text = mem_strndup((const char *)data, size);
	flags_begin(&settings_flags, &s);
	int rc = take_lines(&s, text, &e);
	if (rc == 0)
		rc = flags_finish(&settings_flags, &s, NULL, 0, &e);
	if (rc == 0)
		engine(&s.config);
	must((rc == 0) == (e.text[0] == '\0'));
	flags_done(&settings_flags, &s);
	free(text);
	return 0;
}
