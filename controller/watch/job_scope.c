#include "controller/watch/job_scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct province {
	char *name;
	bool taken; /* by the selector; false too while the namespace is not known */
	bool asked; /* about a Job of the namespace */
};

struct job_scope {
	const struct selector_term *namespaces;
	bool without_queue_name;
	struct map provinces; /* used only with a selector */
};

static bool province_is(const void *value, const void *key)
{
	return strcmp(((const struct province *)value)->name, key) == 0;
}

struct job_scope *job_scope_new(const struct selector_term *namespaces, bool without_queue_name)
{
	struct job_scope *r = mem_alloc(sizeof(*r));
	r->namespaces = namespaces;
	r->without_queue_name = without_queue_name;
	map_init(&r->provinces, province_is);
	return r;
}

static void province_free(struct province *p)
{
	free(p->name);
	free(p);
}

void job_scope_free(struct job_scope *r)
{
	if (!r)
		return;
	map_free(&r->provinces, province_free);
	free(r);
}

static struct province *province_of(struct job_scope *r, const char *name)
{
	uint64_t hash = map_hash_string(name);
	struct province *p = map_get(&r->provinces, hash, name);
	if (p)
		return p;
	p = mem_alloc(sizeof(*p));
	p->name = mem_strdup(name);
	map_put(&r->provinces, hash, p);
	return p;
}

bool job_scope_see_namespace(struct job_scope *r, const struct namespace_spec *s)
{
	if (!r->namespaces)
		return false;
	struct province *p = province_of(r, s->name);
	bool taken = labels_match(s->labels, s->nlabels, r->namespaces);
	bool news = taken != p->taken;
	p->taken = taken;
	return news && p->asked;
}

bool job_scope_drop_namespace(struct job_scope *r, const char *name)
{
	struct province *p = map_take(&r->provinces, map_hash_string(name), name);
	bool news = p && p->taken && p->asked;
	if (p)
		province_free(p);
	return news;
}

bool job_scope_has(struct job_scope *r, const struct job *j)
{
	if (j->queue[0] == '\0' && !r->without_queue_name)
		return false;
	if (!r->namespaces)
		return true;
	struct province *p = province_of(r, j->ns);
	p->asked = true;
	return p->taken;
}
