#include "queue/cluster/device_classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CLASS_PREFIX "deviceclass.resource.kubernetes.io/"

static bool has_class_prefix(const char *resource)
{
	return strncmp(resource, CLASS_PREFIX, strlen(CLASS_PREFIX)) == 0;
}

static void class_free(struct device_class *c)
{
	free(c->name);
	free(c->resource);
}

void device_classes_done(struct device_classes *d)
{
	for (size_t i = 0; i < d->n; i++)
		class_free(&d->class[i]);
	free(d->class);
}

static struct device_class *find(const struct device_classes *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->class[i].name, name) == 0)
			return &d->class[i];
	return NULL;
}

bool device_classes_set(struct device_classes *d, const struct device_class_spec *s)
{
	struct device_class *c = find(d, s->name);
	if (c && strcmp(c->resource, s->resource) == 0)
		return false;
	if (c) {
		class_free(c);
	} else {
		d->class = mem_grow(d->class, d->n + 1, sizeof(*d->class));
		c = &d->class[d->n++];
	}
	*c = (struct device_class){mem_strdup(s->name), mem_strdup(s->resource)};
	return true;
}

bool device_classes_drop(struct device_classes *d, const char *name)
{
	struct device_class *c = find(d, name);
	if (!c)
		return false;
	class_free(c);
	*c = d->class[--d->n];
	return true;
}

bool device_classes_offer(const struct device_classes *d, const char *resource)
{
	if (has_class_prefix(resource))
		return find(d, resource + strlen(CLASS_PREFIX));
	for (size_t i = 0; i < d->n; i++)
		if (*resource && strcmp(d->class[i].resource, resource) == 0)
			return true;
	return false;
}

bool resource_is_extended(const char *resource)
{
	return has_class_prefix(resource) ||
	       (strchr(resource, '/') && !strstr(resource, "kubernetes.io/"));
}
