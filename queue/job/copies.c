#include "queue/job/copies.h"

const struct label *labels_copy(struct arena *a, const struct label *from, size_t n)
{
	struct label *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i].key = arena_string(a, from[i].key);
		to[i].value = arena_string(a, from[i].value);
	}
	return to;
}

const struct taint *taints_copy(struct arena *a, const struct taint *from, size_t n)
{
	struct taint *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		to[i].key = arena_string(a, from[i].key);
		to[i].value = arena_string(a, from[i].value);
	}
	return to;
}

const struct toleration *tolerations_copy(struct arena *a, const struct toleration *from, size_t n)
{
	struct toleration *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		to[i].key = arena_string(a, from[i].key);
		to[i].value = arena_string(a, from[i].value);
	}
	return to;
}

static const struct requirement *requirements_copy(
	struct arena *a, const struct requirement *from, size_t n)
{
	struct requirement *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		const char **values = arena_take(a, from[i].nvalues, sizeof(*values));
		for (size_t v = 0; v < from[i].nvalues; v++)
			values[v] = arena_string(a, from[i].values[v]);
		to[i] = from[i];
		to[i].key = arena_string(a, from[i].key);
		to[i].values = values;
	}
	return to;
}

const struct selector_term *terms_copy(struct arena *a, const struct selector_term *from, size_t n)
{
	struct selector_term *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i].nrequirements = from[i].nrequirements;
		to[i].requirements =
			requirements_copy(a, from[i].requirements, from[i].nrequirements);
	}
	return to;
}

const struct node_term *node_terms_copy(struct arena *a, const struct node_term *from, size_t n)
{
	struct node_term *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i].labels = *terms_copy(a, &from[i].labels, 1);
		to[i].fields = *terms_copy(a, &from[i].fields, 1);
	}
	return to;
}

static const struct preferred_term *preferred_copy(
	struct arena *a, const struct preferred_term *from, size_t n)
{
	struct preferred_term *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i].weight = from[i].weight;
		to[i].term = *node_terms_copy(a, &from[i].term, 1);
	}
	return to;
}

const char *const *names_copy(struct arena *a, const char *const *from, size_t n)
{
	const char **to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++)
		to[i] = arena_string(a, from[i]);
	return to;
}

void pod_metadata_copy(struct arena *a, const struct pod_metadata *from, struct pod_metadata *ret)
{
	*ret = *from;
	ret->labels = labels_copy(a, from->labels, from->nlabels);
	ret->annotations = labels_copy(a, from->annotations, from->nannotations);
}

static void template_keys_copy(
	struct arena *a, const struct template_keys *from, struct template_keys *ret)
{
	ret->own = names_copy(a, from->own, from->nown);
	ret->old = names_copy(a, from->old, from->nold);
}

void template_metadata_copy(
	struct arena *a, const struct template_metadata *from, struct template_metadata *ret)
{
	*ret = *from;
	template_keys_copy(a, &from->labels, &ret->labels);
	template_keys_copy(a, &from->annotations, &ret->annotations);
}

void placement_copy(struct arena *a, const struct placement *from, struct placement *ret)
{
	*ret = *from;
	ret->node_selector = labels_copy(a, from->node_selector, from->nnode_selector);
	ret->tolerations = tolerations_copy(a, from->tolerations, from->ntolerations);
	ret->terms = node_terms_copy(a, from->terms, from->nterms);
	ret->preferred = preferred_copy(a, from->preferred, from->npreferred);
}

void node_group_copy(struct arena *a, const struct node_group *from, struct node_group *ret)
{
	*ret = *from;
	ret->labels = labels_copy(a, from->labels, from->nlabels);
	ret->taints = taints_copy(a, from->taints, from->ntaints);
	ret->tolerations = tolerations_copy(a, from->tolerations, from->ntolerations);
}
