/*
 * A pod: the fields of a pod template that the API server's quotas and the scheduler look at.
 *
 * Made by a decoder in one block (controller/wire/decode_template.h), borrowed by the call it is
 * passed to. Other fields are left out: preferences, images, volumes. (A pod with volumes that bind
 * to nodes is judged as if it had none, which errs on the side of "possible".)
 */
#ifndef SLUICE_QUEUE_CLUSTER_POD_H
#define SLUICE_QUEUE_CLUSTER_POD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "sluice/job.h"
#include "sluice/placement.h"

/* A term of required pod affinity or anti-affinity. */
struct affinity_term {
	const char *topology_key;
	bool has_selector; /* absent: no pod at all */
	struct selector_term selector;
	const char *const *namespaces; /* with none and no namespace selector: the pod's own */
	size_t nnamespaces;
	bool has_namespace_selector; /* empty: all of them */
	struct selector_term namespace_selector;
	/* matchLabelKeys and mismatchLabelKeys have been merged into selector. */
};

struct spread_constraint { /* topologySpreadConstraints with DoNotSchedule */
	const char *topology_key;
	int32_t max_skew, min_domains; /* 1 when absent */
	bool has_selector;
	struct selector_term selector;
	bool honor_affinity; /* nodeAffinityPolicy: Honor (default) */
	bool honor_taints;   /* nodeTaintsPolicy: Ignore is the default */
};

typedef size_t (*pod_amounts)(const struct pod_resources *pod, struct resource *ret, size_t cap);

enum qos_class { QOS_GUARANTEED, QOS_BURSTABLE, QOS_BEST_EFFORT };

struct pod {
	const char *ns;
	const struct label *labels;
	size_t nlabels;
	struct pod_resources resources;
	/* "" when absent; the API server sets the default PriorityClass, if there is one, before it
	 * asks quotas. */
	const char *priority_class;
	bool terminating; /* spec.activeDeadlineSeconds of the pod is set */
	/* Some term of pod affinity or anti-affinity, required or preferred, names or selects
	 * namespaces. Quotas of scope CrossNamespacePodAffinity count that. */
	bool crosses_namespaces;
	const char *node_name; /* spec.nodeName, "" when absent: no scheduler is asked */
	const char *scheduler; /* "default-scheduler"; of another one nothing is known */

	const struct label *node_selector;
	size_t nnode_selector;
	const struct toleration *tolerations;
	size_t ntolerations;
	bool has_terms; /* there is required node affinity; without terms it matches nothing */
	const struct node_term *terms;
	size_t nterms;
	const struct affinity_term *affinity, *anti_affinity;
	size_t naffinity, nanti_affinity;
	const struct spread_constraint *spread;
	size_t nspread;
	const struct host_port {
		const char *protocol, *ip; /* "TCP", "0.0.0.0" when absent */
		int32_t port;
	} * host_ports;
	size_t nhost_ports;
};

/* As Kubernetes 1.37 computes it (pkg/apis/core/helper/qos): only amounts of cpu and memory above 0
 * count, of all containers and init containers. If the pod has pod-level resources, only those
 * count, filled in from its containers' (DefaultPodLevelResources of pkg/api/pod). */
enum qos_class pod_qos_class(const struct pod *p);
/* Returns whether the pod has pod-level resources without a limit and without an amount of cpu or
 * memory. An API server before 1.37 sees nothing else of such a pod, so there it is BestEffort
 * whatever its containers ask for. */
bool pod_level_is_nothing(const struct pod *p);
const char *qos_class_name(enum qos_class c);

/* All that pod_requests() or pod_limits() tells; free() the items. Their names are the pod's. */
struct resource_list pod_amounts_new(pod_amounts of, const struct pod_resources *pod);

/* Returns whether the pod looks at other pods: by affinity, anti-affinity or spread. */
bool pod_is_sociable(const struct pod *p);

/* ---- Deep copies, in their owner's arena, of what is only borrowed --------------------------- */

/* The names and amounts of pod_requests(). */
struct resource_list copy_requests(struct arena *a, const struct pod_resources *of);
const struct affinity_term *copy_affinity_terms(
	struct arena *a, const struct affinity_term *from, size_t n);
const struct spread_constraint *copy_spread(
	struct arena *a, const struct spread_constraint *from, size_t n);
const struct host_port *copy_host_ports(struct arena *a, const struct host_port *from, size_t n);
struct resource_list copy_resource_list(struct arena *a, const struct resource_list *from);
/* A whole pod; names that are NULL become "". */
void copy_pod(struct arena *a, const struct pod *from, struct pod *ret);

/* ---- Fingerprints of pods and terms, as bytes: equal bytes get equal answers ----------------- */

#define FINGERPRINT_MAX (4 << 20) /* bytes; what goes beyond is never the same as anything */

/* All that matters for where the pod fits; of a pod that looks at other pods, also its own
 * namespace and labels. */
void fingerprint_wanted(struct buf *b, const struct pod *p);
/* All that matters of a bound pod. */
void fingerprint_bound(struct buf *b, const struct pod *p);
/* All that ResourceQuotas look at, and that their refusals print. */
void fingerprint_counted(struct buf *b, const struct pod *p);
/* A term of a pod in ns. */
void fingerprint_affinity_term(struct buf *b, const char *ns, const struct affinity_term *t);

#endif
