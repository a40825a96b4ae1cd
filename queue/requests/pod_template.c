#include "queue/requests/pod_template.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/pod.h"
#include "queue/requests/podlabels.h"

struct pod_template_key {
	const void *bytes;
	size_t len;
};

static bool pod_template_is(const void *value, const void *key)
{
	const struct pod_template *t = value;
	const struct pod_template_key *k = key;
	return t->key_len == k->len && memcmp(t->key, k->bytes, k->len) == 0;
}

void pod_templates_init(struct pod_templates *t)
{
	map_init(&t->map, pod_template_is);
	list_init(&t->all);
	t->bytes = 0;
}

void pod_templates_done(struct pod_templates *t)
{
	must(t->map.count == 0 && t->bytes == 0);
	map_done(&t->map);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static bool selector_asks(const struct selector_term *t, const char *key)
{
	for (size_t i = 0; i < t->nrequirements; i++)
		if (strcmp(t->requirements[i].key, key) == 0)
			return true;
	return false;
}

static bool terms_ask(const struct affinity_term *t, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (selector_asks(&t[i].selector, key))
			return true;
	return false;
}

static bool asks_for_label(const struct pod *p, const char *key)
{
	if (terms_ask(p->affinity, p->naffinity, key) ||
		terms_ask(p->anti_affinity, p->nanti_affinity, key))
		return true;
	for (size_t i = 0; i < p->nspread; i++)
		if (selector_asks(&p->spread[i].selector, key))
			return true;
	return false;
}

/* The labels that count, in their given order. Another order is another template. */
static void keep_labels(struct arena *a, const struct pod *p, struct pod *ret)
{
	*ret = *p;
	ret->labels = NULL;
	ret->nlabels = 0;
	if (!pod_is_sociable(p))
		return;
	struct label *kept = arena_take(a, p->nlabels, sizeof(*kept));
	for (size_t i = 0; i < p->nlabels; i++)
		if (!podlabel_is_of_one_job(p->labels[i].key) ||
			asks_for_label(p, p->labels[i].key))
			kept[ret->nlabels++] = p->labels[i];
	ret->labels = kept;
}

/* ---- one of them ----------------------------------------------------------------------------- */

static void write_text(struct buf *b, const char *s)
{
	buf_add(b, s ? s : "", s ? strlen(s) + 1 : 1);
}

static void write_key(struct buf *b, const struct pod *p)
{
	fingerprint_counted(b, p);
	fingerprint_wanted(b, p);
	write_text(b, p->scheduler);
	write_text(b, p->resources.runtime_class); /* which may ask for nodes of its own */
	must(!b->failed);
}

size_t pod_template_bytes(const struct pod_template *t)
{
	return t ? sizeof(*t) + t->memory.bytes : 0;
}

static struct pod_template *pod_template_new(
	struct pod_templates *all, const struct pod *p, uint64_t hash, const struct buf *key)
{
	struct pod_template *t = mem_alloc(sizeof(*t));
	struct pod *pod = arena_take(&t->memory, 1, sizeof(*pod));
	copy_pod(&t->memory, p, pod);
	t->pod = pod;
	t->hash = hash;
	t->key = memcpy(arena_take(&t->memory, key->len, 1), key->ptr, key->len);
	t->key_len = key->len;
	map_put(&all->map, hash, t);
	list_add(&all->all, &t->of_all);
	all->bytes += pod_template_bytes(t);
	return t;
}

struct pod_template *pod_template_of(struct pod_templates *all, const struct pod *p)
{
	struct arena scratch = {0};
	struct pod kept;
	struct buf key;
	if (!p)
		return NULL;
	keep_labels(&scratch, p, &kept);
	buf_init(&key, SIZE_MAX / 4);
	write_key(&key, &kept);
	uint64_t hash = map_hash_bytes(key.ptr, key.len);
	struct pod_template_key k = {key.ptr, key.len};
	struct pod_template *t = map_get(&all->map, hash, &k);
	if (!t)
		t = pod_template_new(all, &kept, hash, &key);
	t->refs++;
	buf_done(&key);
	arena_done(&scratch);
	return t;
}

static void answers_free(struct template_answer *a)
{
	while (a) {
		struct template_answer *one = a;
		a = a->next;
		free(one);
	}
}

void pod_template_put(struct pod_templates *all, struct pod_template *t)
{
	if (!t)
		return;
	must(t->refs > 0);
	if (--t->refs > 0)
		return;
	struct pod_template_key k = {t->key, t->key_len};
	must(map_take(&all->map, t->hash, &k) == t);
	list_leave(&t->of_all);
	all->bytes -= pod_template_bytes(t);
	answers_free(t->answers);
	free(t->refusal);
	arena_done(&t->memory);
	free(t);
}
