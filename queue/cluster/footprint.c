#include "queue/cluster/footprint.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "queue/cluster/device_classes.h"
#include "queue/job/placement.h"
#include "queue/job/resources.h"

/* ---- made of a pod --------------------------------------------------------------------------- */

static size_t text_bytes(const struct resource_list *list)
{
	size_t n = 0;
	for (size_t i = 0; i < list->count; i++)
		n += strlen(list->item[i].name) + 1;
	return n;
}

static const char *put_text(char **room, const char *text)
{
	size_t n = strlen(text) + 1;
	char *at = memcpy(*room, text, n);
	*room += n;
	return at;
}

static struct resource_list put_list(
	struct resource *to, char **room, const struct resource_list *from)
{
	for (size_t i = 0; i < from->count; i++) {
		to[i] = from->item[i];
		to[i].name = put_text(room, from->item[i].name);
	}
	return (struct resource_list){to, from->count};
}

struct footprint *footprint_new(const struct pod *p)
{
	struct resource_list requests = pod_amounts_new(pod_requests, &p->resources);
	struct resource_list limits = pod_amounts_new(pod_limits, &p->resources);
	size_t n = requests.count + limits.count;
	struct footprint *f =
		mem_alloc(sizeof(*f) + n * sizeof(struct resource) + text_bytes(&requests) +
			  text_bytes(&limits) + strlen(p->priority_class) + 1);
	struct resource *item = (struct resource *)(f + 1);
	char *room = (char *)(item + n);
	f->may_be_other = pod_qos_class(p) != QOS_BEST_EFFORT;
	f->may_be_best_effort = !f->may_be_other || pod_level_is_nothing(p);
	f->terminating = p->terminating;
	f->crosses_namespaces = p->crosses_namespaces;
	f->requests = put_list(item, &room, &requests);
	f->limits = put_list(item + requests.count, &room, &limits);
	f->priority_class = put_text(&room, p->priority_class);
	free((void *)requests.item);
	free((void *)limits.item);
	return f;
}

static bool same_list(const struct resource_list *a, const struct resource_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->item[i].amount != b->item[i].amount ||
			strcmp(a->item[i].name, b->item[i].name) != 0)
			return false;
	return true;
}

bool footprint_same(const struct footprint *a, const struct footprint *b)
{
	return a->may_be_best_effort == b->may_be_best_effort &&
	       a->may_be_other == b->may_be_other && a->terminating == b->terminating &&
	       a->crosses_namespaces == b->crosses_namespaces &&
	       strcmp(a->priority_class, b->priority_class) == 0 &&
	       same_list(&a->requests, &b->requests) && same_list(&a->limits, &b->limits);
}

uint64_t footprint_hash(const struct footprint *f)
{
	uint64_t hash = map_hash_string(f->priority_class);
	for (size_t i = 0; i < f->requests.count; i++)
		hash = hash * 31 + map_hash_string(f->requests.item[i].name) +
		       (uint64_t)f->requests.item[i].amount;
	for (size_t i = 0; i < f->limits.count; i++)
		hash = hash * 37 + (uint64_t)f->limits.item[i].amount;
	return map_hash_bytes(&hash, sizeof(hash));
}

/* ---- scopes ---------------------------------------------------------------------------------- */

/* A pod without a class matches no In, and each NotIn. */
static bool class_matches(const struct quota_scope_term *t, const char *class)
{
	switch (t->op) {
	case SELECTOR_IN:
		return *class && names_have(t->values, t->nvalues, class);
	case SELECTOR_NOT_IN:
		return !*class || !names_have(t->values, t->nvalues, class);
	case SELECTOR_EXISTS:
		return *class;
	case SELECTOR_DOES_NOT_EXIST:
		return !*class;
	case SELECTOR_GT:
	case SELECTOR_LT:
		break;
	}
	return false;
}

/* Only PriorityClass has operators; for the others the API server allows Exists alone. */
static bool scope_matches(const struct quota_scope_term *t, const struct footprint *f)
{
	switch (t->scope) {
	case SCOPE_TERMINATING:
		return f->terminating;
	case SCOPE_NOT_TERMINATING:
		return !f->terminating;
	case SCOPE_BEST_EFFORT:
		return f->may_be_best_effort;
	case SCOPE_NOT_BEST_EFFORT:
		return f->may_be_other;
	case SCOPE_PRIORITY_CLASS:
		return class_matches(t, f->priority_class);
	case SCOPE_CROSS_NAMESPACE_POD_AFFINITY:
		return f->crosses_namespaces;
	case SCOPE_OTHER:
		break;
	}
	return false;
}

bool footprint_counts(const struct footprint *f, const struct resource_quota *q)
{
	bool any = false;
	for (size_t i = 0; i < q->nscopes; i++)
		if (!scope_matches(&q->scopes[i], f))
			return false;
	for (size_t i = 0; i < q->hard.count && !any; i++)
		any = quota_name_is_of_pods(q->hard.item[i].name);
	return any;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* Resources with both a request and a limit in quotas. */
static bool is_common(const char *resource)
{
	return strcmp(resource, "cpu") == 0 || strcmp(resource, "memory") == 0 ||
	       strcmp(resource, "ephemeral-storage") == 0;
}

static bool is_pod_count(const char *name)
{
	return strcmp(name, "pods") == 0 || strcmp(name, "count/pods") == 0;
}

/* The resource of a quota's name; NULL: none that pods ask for. Extended ones count as requests.X
 * only; X alone may be written, and does nothing. */
static const char *resource_of(const char *name, bool *ret_limit)
{
	*ret_limit = has_prefix(name, "limits.");
	if (*ret_limit)
		return is_common(name + 7) ? name + 7 : NULL;
	if (!has_prefix(name, "requests."))
		return is_common(name) || has_prefix(name, "hugepages-") ? name : NULL;
	name += 9;
	return is_common(name) || has_prefix(name, "hugepages-") || resource_is_extended(name)
		       ? name
		       : NULL;
}

bool quota_name_is_of_pods(const char *name)
{
	bool limit;
	return is_pod_count(name) || resource_of(name, &limit);
}

enum quantity_unit quota_unit_of(const char *name)
{
	bool limit;
	const char *resource = resource_of(name, &limit);
	return resource ? quantity_unit_of(resource) : QUANTITY_WHOLE;
}

bool footprint_usage(const struct footprint *f, const char *name, struct resource *ret)
{
	bool limit;
	if (is_pod_count(name)) {
		ret->amount = 1;
		ret->style = QUANTITY_DECIMAL;
		return true;
	}
	const char *resource = resource_of(name, &limit);
	const struct resource_list *list = limit ? &f->limits : &f->requests;
	const struct resource *asked = resource ? resources_find(list, resource) : NULL;
	if (asked) {
		ret->amount = asked->amount;
		ret->style = asked->style;
	}
	return asked;
}
