/*
 * Shapes: what Jobs ask for, each different one kept once.
 *
 * A million Jobs usually have a few shapes (pods, requests of a pod, where it may run). Jobs of one
 * shape share one record, and Jobs of one shape and priority are decided as one (group.h). Records
 * count their references. The directives are a record of their own, because Jobs that differ in
 * size mostly agree on where they may run.
 *
 * A Job's shape has a ceiling, SHAPE_BYTES_MAX, because the API server accepts a megabyte of node
 * affinity, which is several in memory. Beyond it the directives and the template are not kept, and
 * the Job can never start. The requests are kept, because a Job that runs already (started by a
 * version without the ceiling) holds its quota by them.
 *
 * A tenant may make all its Jobs differ: in a request, a node label, the key of an annotation. Then
 * it has as many shapes as it may have Jobs, and a large one counts as several Jobs (overflow.h). So
 * its memory is bounded by spec.maxWaiting whatever it writes.
 */
#ifndef SLUICE_QUEUE_REQUESTS_SHAPE_H
#define SLUICE_QUEUE_REQUESTS_SHAPE_H

#include "base/map.h"
#include "base/arena.h"
#include "queue/requests/accounting.h"
#include "queue/requests/pod_template.h"
#include "sluice/job.h"

/* Resources one pod may ask for; with `pods` they fill QUEUE_LINES_MAX. */
#define SHAPE_REQUESTS_MAX 127
/* Of requests, directives and template together, in memory. An ordinary Job has 1,500 to 3,000,
 * one of 500 containers 100,000. */
#define SHAPE_BYTES_MAX (128 * 1024)
#define SHAPE_SLOT_BYTES 4096 /* so many of a shape's bytes count as one Job: overflow.h */
#define SHAPE_FAULT_SIZE 320

/* The owner's own: node selector, tolerations, node affinity; the keys of the template's labels and
 * annotations; the containers' resources, and under which names they may ask for them. */
struct directives {
	uint64_t hash;
	uint32_t refs;
	uint8_t lending; /* job.lending, never 0 */
	struct placement placement;
	struct template_metadata metadata; /* keys of labels and annotations; usually shared */
	const char *resources;		   /* job.resources; NULL when a start never writes them */
	const void *key;		   /* the same in bytes: equal bytes, equal directives */
	size_t key_len;
	struct arena memory;
};

struct shape {
	uint64_t hash;
	uint32_t refs;
	int32_t pods;
	int32_t min_pods; /* it may start with so few; mostly equal to pods */
	uint32_t slots;	  /* shape_bytes() in SHAPE_SLOT_BYTES, rounded up */
	struct directives *directives;
	struct pod_template *template; /* NULL: the cluster is not asked about it */
	size_t bytes;
	size_t nrequests;
	struct resource request[]; /* of one pod, sorted by name, no `pods`; may be 0 */
};

struct shapes {
	struct map shapes, directives;
	struct pod_templates templates;
	size_t bytes; /* of shapes and directives, without the tables */
};

void shapes_init(struct shapes *s);
void shapes_done(struct shapes *s); /* no reference may be left */
size_t shapes_bytes(const struct shapes *s);

/* The shape of a Job as it is now. account: the Job's (accounting.h: requests sorted by name).
 * most: so many bytes may be kept, SHAPE_BYTES_MAX or less. ret_cut: it takes more than that, so
 * the directives and the template are left out until it is made anew. ret_fault: "", or the
 * sentence why not all is kept, so that the Job cannot start. Give it back with shape_put. */
struct shape *shape_of(struct shapes *s, const struct job *j, const struct account *account,
	size_t most, bool *ret_cut, char ret_fault[SHAPE_FAULT_SIZE]);
/* Counts the bytes of a shape, as if it shared nothing with other shapes. */
size_t shape_bytes(const struct shape *shape);
struct shape *shape_keep(struct shape *shape); /* one reference more */
void shape_put(struct shapes *s, struct shape *shape);

#endif
