#include "queue/requests/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"
#include "queue/requests/lending.h"

struct directives_key {
	const void *bytes;
	size_t len;
};

static bool directives_are(const void *value, const void *key)
{
	const struct directives *d = value;
	const struct directives_key *k = key;
	return d->key_len == k->len && (k->len == 0 || memcmp(d->key, k->bytes, k->len) == 0);
}

static bool shape_is(const void *value, const void *key)
{
	const struct shape *a = value, *b = key;
	if (a->pods != b->pods || a->min_pods != b->min_pods || a->directives != b->directives ||
		a->template != b->template || a->nrequests != b->nrequests)
		return false;
	for (size_t i = 0; i < a->nrequests; i++)
		if (a->request[i].amount != b->request[i].amount ||
			strcmp(a->request[i].name, b->request[i].name) != 0)
			return false;
	return true;
}

void shapes_init(struct shapes *s)
{
	map_init(&s->shapes, shape_is);
	map_init(&s->directives, directives_are);
	pod_templates_init(&s->templates);
	s->bytes = 0;
}

void shapes_done(struct shapes *s)
{
	must(s->shapes.count == 0 && s->directives.count == 0 && s->bytes == 0);
	map_done(&s->shapes);
	map_done(&s->directives);
	pod_templates_done(&s->templates);
}

static size_t table_bytes(const struct map *m)
{
	return m->slot ? (m->mask + 1) * sizeof(*m->slot) : 0;
}

size_t shapes_bytes(const struct shapes *s)
{
	return s->bytes + table_bytes(&s->shapes) + table_bytes(&s->directives) +
	       s->templates.bytes + table_bytes(&s->templates.map);
}

/* job.lending in bytes, as placement_key() has it. Ordinary flavors alone, the usual case, are no
 * bytes. Else it stands behind a placement, which then has at least its three lengths. */
static void write_lending(struct buf *b, const struct job *j)
{
	if (lending_set(j->lending) == 1u << LENDING_NONE && !j->resources)
		return;
	key_number(b, lending_set(j->lending));
	if (j->resources)
		key_string(b, j->resources);
}

/* What of it matters to the next start: only a Job that is suspended is started. So what a start has
 * added makes no new shape of a run that goes on. */
static struct template_metadata metadata_of(const struct job *j)
{
	struct template_metadata m = j->metadata;
	if (j->suspend)
		return m;
	m.labels.nold = m.annotations.nold = 0;
	m.has_annotations = m.annotations.nown > 0;
	m.old_affinity = false;
	return m;
}

static size_t directives_bytes(const struct directives *d)
{
	return sizeof(*d) + d->memory.bytes;
}

static struct directives *directives_of(struct shapes *s, const struct job *j)
{
	struct buf bytes;
	struct template_metadata metadata = metadata_of(j);
	buf_init(&bytes, SIZE_MAX / 4);
	placement_key(&j->placement, &bytes);
	write_lending(&bytes, j);
	template_metadata_key(&metadata, &bytes);
	must(!bytes.failed);

	uint64_t hash = map_hash_bytes(buf_text(&bytes), bytes.len);
	struct directives_key key = {buf_text(&bytes), bytes.len};
	struct directives *d = map_get(&s->directives, hash, &key);
	if (!d) {
		d = mem_alloc(sizeof(*d));
		d->hash = hash;
		d->lending = lending_set(j->lending);
		d->resources = j->resources ? arena_string(&d->memory, j->resources) : NULL;
		d->placement = placement_copy(&d->memory, &j->placement);
		d->metadata = template_metadata_copy(&d->memory, &metadata);
		void *copy = arena_take(&d->memory, bytes.len, 1);
		if (bytes.len > 0)
			memcpy(copy, bytes.ptr, bytes.len);
		d->key = copy;
		d->key_len = bytes.len;
		map_put(&s->directives, hash, d);
		s->bytes += directives_bytes(d);
	}
	buf_done(&bytes);
	d->refs++;
	return d;
}

static void directives_put(struct shapes *s, struct directives *d)
{
	must(d->refs > 0);
	if (--d->refs > 0)
		return;
	struct directives_key key = {d->key, d->key_len};
	must(map_take(&s->directives, d->hash, &key) == d);
	s->bytes -= directives_bytes(d);
	arena_done(&d->memory);
	free(d);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
	return hash ^ hash >> 32;
}

static uint64_t shape_hash(const struct shape *s)
{
	uint64_t hash = mix(s->directives->hash, (uint64_t)(uint32_t)s->pods);
	hash = mix(hash, (uint64_t)(uint32_t)s->min_pods);
	hash = mix(hash, s->template ? s->template->hash : 0);
	for (size_t i = 0; i < s->nrequests; i++) {
		hash = mix(hash, map_hash_string(s->request[i].name));
		hash = mix(hash, (uint64_t)s->request[i].amount);
	}
	return hash;
}

static size_t requests_bytes(const struct shape *s)
{
	size_t bytes = sizeof(*s) + s->nrequests * sizeof(s->request[0]);
	for (size_t i = 0; i < s->nrequests; i++)
		bytes += strlen(s->request[i].name) + 1;
	return bytes;
}

size_t shape_bytes(const struct shape *s)
{
	return requests_bytes(s) + directives_bytes(s->directives) +
	       pod_template_bytes(s->template);
}

/* A copy with strings of its own behind the array. */
static struct shape *shape_copy(const struct shape *from)
{
	size_t array = sizeof(*from) + from->nrequests * sizeof(from->request[0]);
	struct shape *s = mem_alloc(requests_bytes(from));
	memcpy(s, from, array);
	s->bytes = requests_bytes(from);
	s->slots = (uint32_t)((shape_bytes(from) + SHAPE_SLOT_BYTES - 1) / SHAPE_SLOT_BYTES);
	char *text = (char *)s + array;
	for (size_t i = 0; i < s->nrequests; i++) {
		size_t n = strlen(from->request[i].name) + 1;
		s->request[i].name = memcpy(text, from->request[i].name, n);
		text += n;
	}
	return s;
}

static void read_requests(const struct resource_list *requests, struct shape *s, char *ret_fault)
{
	bool too_many = requests->count > SHAPE_REQUESTS_MAX;
	s->nrequests = too_many ? SHAPE_REQUESTS_MAX : requests->count;
	if (s->nrequests > 0)
		memcpy(s->request, requests->item, s->nrequests * sizeof(s->request[0]));
	if (too_many)
		snprintf(ret_fault, SHAPE_FAULT_SIZE,
			"a pod of the Job asks for %zu different resources, and at most %d are kept; ask for fewer",
			requests->count, SHAPE_REQUESTS_MAX);
}

/* Reads the directives and the pod template. Neither, if the whole is over the ceiling or more than
 * may be kept now. */
static void read_directives(struct shapes *s, const struct job *j, const struct account *account,
	size_t most, struct shape *ret, bool *ret_cut, char *ret_fault)
{
	ret->directives = directives_of(s, j);
	ret->template = pod_template_of(&s->templates, account->pod);
	size_t bytes = shape_bytes(ret);
	*ret_cut = bytes > most && bytes <= SHAPE_BYTES_MAX;
	if (bytes <= most)
		return;
	directives_put(s, ret->directives);
	pod_template_put(&s->templates, ret->template);
	struct job bare = {.lending = j->lending};
	ret->directives = directives_of(s, &bare);
	ret->template = NULL;
	if (*ret_cut)
		snprintf(ret_fault, SHAPE_FAULT_SIZE,
			"the Jobs of its LocalQueue use all the memory that they may, so the %zu bytes that say where its pods may run are not kept; it is read again when there is room: delete Jobs that are not needed",
			bytes);
	else
		snprintf(ret_fault, SHAPE_FAULT_SIZE,
			"spec.template: what decides where its pods may run, and what they request, takes %zu bytes, and at most %d are kept of a Job; use fewer or shorter values in affinity, topologySpreadConstraints, tolerations, nodeSelector, labels and annotations, or fewer containers",
			bytes, SHAPE_BYTES_MAX);
}

/* min-parallelism, if it is within 1 and `pods`; else `pods`. */
static int32_t min_pods_of(const struct job *j, int32_t pods)
{
	bool bounds = j->min_parallelism > 0 && j->min_parallelism < pods;
	return bounds ? j->min_parallelism : pods;
}

struct shape *shape_of(struct shapes *s, const struct job *j, const struct account *account,
	size_t most, bool *ret_cut, char ret_fault[SHAPE_FAULT_SIZE])
{
	union {
		struct shape shape;
		char bytes[sizeof(struct shape) + SHAPE_REQUESTS_MAX * sizeof(struct resource)];
	} now;
	now.shape = (struct shape){0};
	ret_fault[0] = '\0';
	read_requests(&account->requests, &now.shape, ret_fault);
	int32_t pods = job_pods(j);
	now.shape.pods = pods > 0 ? pods : 0;
	now.shape.min_pods = min_pods_of(j, now.shape.pods);
	read_directives(s, j, account, most, &now.shape, ret_cut, ret_fault);
	now.shape.hash = shape_hash(&now.shape);

	struct shape *known = map_get(&s->shapes, now.shape.hash, &now.shape);
	if (known) {
		directives_put(s, now.shape.directives);
		pod_template_put(&s->templates, now.shape.template);
		return shape_keep(known);
	}
	known = shape_copy(&now.shape);
	known->refs = 1;
	map_put(&s->shapes, known->hash, known);
	s->bytes += known->bytes;
	return known;
}

struct shape *shape_keep(struct shape *shape)
{
	shape->refs++;
	return shape;
}

void shape_put(struct shapes *s, struct shape *shape)
{
	if (!shape)
		return;
	must(shape->refs > 0);
	if (--shape->refs > 0)
		return;
	must(map_take(&s->shapes, shape->hash, shape) == shape);
	s->bytes -= shape->bytes;
	directives_put(s, shape->directives);
	pod_template_put(&s->templates, shape->template);
	free(shape);
}
