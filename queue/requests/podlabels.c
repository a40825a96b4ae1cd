#include "queue/requests/podlabels.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"

static const char *const name_keys[] = {"job-name", "batch.kubernetes.io/job-name"};
static const char *const uid_keys[] = {"controller-uid", "batch.kubernetes.io/controller-uid"};
enum { OWN_KEYS = 4 };

bool podlabel_is_of_one_job(const char *key)
{
	for (size_t i = 0; i < OWN_KEYS / 2; i++)
		if (strcmp(key, name_keys[i]) == 0 || strcmp(key, uid_keys[i]) == 0)
			return true;
	return false;
}

/* ---- Sets ---- */

struct wanted {
	const struct label *label;
	size_t n;
};

static bool is_same(const void *value, const void *key)
{
	const struct podlabels *l = value;
	const struct wanted *w = key;
	size_t k = 0;
	for (size_t i = 0; i < w->n; i++) {
		if (podlabel_is_of_one_job(w->label[i].key))
			continue;
		if (k == l->n || strcmp(l->label[k].key, w->label[i].key) != 0 ||
			strcmp(l->label[k].value, w->label[i].value) != 0)
			return false;
		k++;
	}
	return k == l->n;
}

void podlabel_sets_init(struct podlabel_sets *all)
{
	*all = (struct podlabel_sets){.bytes = 0};
	map_init(&all->map, is_same);
}

void podlabel_sets_done(struct podlabel_sets *all)
{
	must(all->map.count == 0 && all->bytes == 0);
	map_done(&all->map);
	free(all->scratch);
}

static uint64_t hash_of(const struct label *label, size_t n)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < n; i++)
		if (!podlabel_is_of_one_job(label[i].key))
			hash = (hash + map_hash_string(label[i].key)) * 31 +
			       map_hash_string(label[i].value) * 17;
	return hash;
}

static size_t bytes_of(const struct podlabels *l)
{
	return sizeof(*l) + l->memory.bytes;
}

static struct podlabels *podlabels_new(const struct label *label, size_t n, uint64_t hash)
{
	struct podlabels *l = mem_alloc(sizeof(*l));
	struct label *own = mem_array(n, sizeof(*own));
	l->hash = hash;
	for (size_t i = 0; i < n; i++)
		if (!podlabel_is_of_one_job(label[i].key))
			own[l->n++] = label[i];
	l->label = label_copies(&l->memory, own, l->n);
	free(own);
	return l;
}

struct podlabels *podlabels_of(struct podlabel_sets *all, const struct label *label, size_t n)
{
	uint64_t hash = hash_of(label, n);
	struct podlabels *l = map_get(&all->map, hash, &(struct wanted){label, n});
	if (!l) {
		l = podlabels_new(label, n, hash);
		map_put(&all->map, hash, l);
		all->bytes += bytes_of(l);
	}
	l->refs++;
	return l;
}

void podlabels_put(struct podlabel_sets *all, struct podlabels *l)
{
	if (!l || --l->refs > 0)
		return;
	must(map_take(&all->map, l->hash, &(struct wanted){l->label, l->n}) == l);
	all->bytes -= bytes_of(l);
	arena_done(&l->memory);
	free(l);
}

/* ---- Selectors ---- */

bool podlabels_match(struct podlabel_sets *all, const struct podlabels *l, const char *job,
	const struct uid *uid, const struct selector_term *selector)
{
	char text[UID_TEXT_SIZE];
	size_t n = l ? l->n : 0;
	if (n + OWN_KEYS > all->scratch_room) {
		all->scratch_room = (n + OWN_KEYS) * 2;
		all->scratch = mem_grow(all->scratch, all->scratch_room, sizeof(*all->scratch));
	}
	uid_format(uid, text);
	for (size_t i = 0; i < n; i++)
		all->scratch[i] = l->label[i];
	for (size_t i = 0; i < OWN_KEYS / 2; i++) {
		all->scratch[n++] = (struct label){name_keys[i], job};
		all->scratch[n++] = (struct label){uid_keys[i], text};
	}
	return labels_match(all->scratch, n, selector);
}
