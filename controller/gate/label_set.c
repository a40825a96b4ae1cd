#include "controller/gate/label_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct wanted {
	const struct label *label;
	size_t nlabels;
};

static bool is_equal(const void *value, const void *key)
{
	const struct label_set *s = value;
	const struct wanted *w = key;
	bool equal = s->nlabels == w->nlabels;
	for (size_t i = 0; i < w->nlabels && equal; i++)
		equal = strcmp(s->label[i].key, w->label[i].key) == 0 &&
			strcmp(s->label[i].value, w->label[i].value) == 0;
	return equal;
}

void label_sets_init(struct label_sets *all, struct siphash_key key)
{
	map_init(&all->map, is_equal);
	all->key = key;
}

void label_sets_done(struct label_sets *all)
{
	map_done(&all->map);
}

static size_t text_bytes(const struct wanted *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->nlabels; i++)
		n += strlen(w->label[i].key) + strlen(w->label[i].value) + 2;
	return n;
}

static char *put_text(char **at, const char *text)
{
	char *first = *at;
	size_t size = strlen(text) + 1;
	memcpy(first, text, size);
	*at += size;
	return first;
}

static struct label_set *copy(const struct wanted *w, size_t bytes)
{
	size_t head = sizeof(struct label_set) + w->nlabels * sizeof(struct label);
	struct label_set *s = mem_alloc(head + bytes);
	char *at = (char *)s + head;
	s->nlabels = (uint32_t)w->nlabels;
	for (size_t i = 0; i < w->nlabels; i++) {
		s->label[i].key = put_text(&at, w->label[i].key);
		s->label[i].value = put_text(&at, w->label[i].value);
	}
	return s;
}

/* The texts of a copy lie one behind the other, so that they are hashed as one. */
static uint64_t hash_of(const struct label_sets *all, const struct label_set *s, size_t bytes)
{
	uint64_t sum[2];
	siphash128(&all->key, s->label + s->nlabels, bytes, sum);
	return sum[0];
}

struct label_set *label_set_of(struct label_sets *all, const struct label *labels, size_t nlabels)
{
	struct wanted w = {labels, nlabels};
	size_t bytes = text_bytes(&w);
	if (nlabels == 0 || bytes > LABEL_SET_BYTES_MAX)
		return NULL;
	struct label_set *made = copy(&w, bytes);
	made->hash = hash_of(all, made, bytes);
	struct label_set *s = map_get(&all->map, made->hash, &w);
	if (s) {
		free(made);
	} else {
		s = made;
		map_put(&all->map, s->hash, s);
	}
	s->refs++;
	return s;
}

void label_set_put(struct label_sets *all, struct label_set *s)
{
	if (!s || --s->refs > 0)
		return;
	map_take(&all->map, s->hash, &(struct wanted){s->label, s->nlabels});
	free(s);
}
