#include "test/bench/cloud.h"

#include <stdio.h>
#include <string.h>

struct uid cloud_uid(uint64_t n)
{
	struct uid uid = {{0}};
	memcpy(uid.byte, &n, sizeof(n));
	return uid;
}

void cloud_node_name(char *ret, size_t size, size_t i)
{
	snprintf(ret, size, "ip-10-%zu-%zu-%zu", i / 65536, i / 256 % 256, i % 256);
}

static void set_labels(struct cloud_node *n, size_t shape)
{
	snprintf(n->zone, sizeof(n->zone), "zone-%zu", shape % 3);
	snprintf(n->type, sizeof(n->type), "type-%zu", shape);
	const struct label labels[] = {{"beta.kubernetes.io/arch", "amd64"},
		{"beta.kubernetes.io/os", "linux"}, {"kubernetes.io/arch", "amd64"},
		{"kubernetes.io/hostname", n->name}, {"kubernetes.io/os", "linux"},
		{"node.kubernetes.io/instance-type", n->type},
		{"pool", shape % 2 ? "spot" : "on-demand"}, {"topology.kubernetes.io/region", "r1"},
		{"topology.kubernetes.io/zone", n->zone}, {"team", "shared"}, {"generation", "7"},
		{"managed-by", "karpenter"}};
	memcpy(n->label, labels, sizeof(labels));
}

void cloud_node(struct cloud_node *ret, size_t i, int64_t odd)
{
	size_t shape = i % CLOUD_SHAPES;
	*ret = (struct cloud_node){.spot = {"spot", "true", TAINT_NO_SCHEDULE},
		.room = {{"cpu", 32000 + (int64_t)shape * 1000 + odd, 0},
			{"memory", INT64_C(128) << 30, 0},
			{"ephemeral-storage", INT64_C(100) << 30, 0}, {"pods", 110, 0},
			{"nvidia.com/gpu", shape == 0 ? 8 : 0, 0}}};
	cloud_node_name(ret->name, sizeof(ret->name), i);
	set_labels(ret, shape);
	ret->spec = (struct node_spec){.name = ret->name,
		.labels = ret->label,
		.nlabels = 12,
		.taints = &ret->spot,
		.ntaints = shape % 2,
		.allocatable = {ret->room, 5}};
}

void cloud_pod(struct cloud_pod *ret, size_t making)
{
	making %= CLOUD_MAKINGS;
	*ret = (struct cloud_pod){
		.request = {{"cpu", 100 + (int64_t)making * 20, 0},
			{"memory", INT64_C(64) << 20, 0}, {"nvidia.com/gpu", 8, 0}},
		.select = {"topology.kubernetes.io/zone", "zone-1"},
		.spot = {"spot", "", TOLERATION_EXISTS, TAINT_ANY, false, 0}};
	if (making % 10 == 9)
		ret->request[0].amount = 200000;
	ret->container = (struct container){.requests = {ret->request, 2}, .name = "main"};
	ret->pod = (struct pod){.ns = "team",
		.resources = {.containers = &ret->container, .ncontainers = 1, .runtime_class = ""},
		.priority_class = "",
		.node_name = "",
		.scheduler = "default-scheduler",
		.node_selector = &ret->select,
		.nnode_selector = making % 3 == 0,
		.tolerations = &ret->spot,
		.ntolerations = making % 2};
}
