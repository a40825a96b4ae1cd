/*
 * Nodes as clouds have them, of so many shapes in three zones, and pods that Jobs might bring, of
 * so many makings: what the yardsticks of nodes and of the queue that asks them are measured with.
 * What is filled points into itself, and is told while it stands.
 */
#ifndef SLUICE_TEST_BENCH_CLOUD_H
#define SLUICE_TEST_BENCH_CLOUD_H

#include "queue/cluster/nodes.h"

#define CLOUD_SHAPES 30	 /* every second one wants spot to be tolerated */
#define CLOUD_MAKINGS 50 /* one in ten is of no node's size, a third wants zone-1 */

struct cloud_node {
	struct node_spec spec;
	struct label label[12];
	struct taint spot;
	struct resource room[5]; /* 8 GPUs where the shape is 0 */
	char name[64], zone[16], type[16];
};

struct cloud_pod {
	struct pod pod;
	struct container container;
	struct resource request[3]; /* cpu, memory, and 8 GPUs for what counts all three */
	struct label select;
	struct toleration spot;
};

struct uid cloud_uid(uint64_t n);
void cloud_node_name(char *ret, size_t size, size_t i);
/* odd: cpu that no other node has. */
void cloud_node(struct cloud_node *ret, size_t i, int64_t odd);
void cloud_pod(struct cloud_pod *ret, size_t making);

#endif
