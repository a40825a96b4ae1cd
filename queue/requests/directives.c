/*
 * The placement of a workload's pods, as JSON: its own directives joined with those of its flavors.
 * Where both set a node label the flavor wins, and of two flavors the later one (in the order of
 * the lines, which is that of the spec).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core.h"
#include "queue/requests/directives.h"
#include "queue/model/reservation.h"

size_t directives_flavors(
	const struct queue *q, const struct reservation *r, const struct flavor **ret)
{
	size_t n = 0;
	for (size_t i = 0; i < r->nlines; i++) {
		const struct flavor *f = flavor_find(&q->flavors, r->line[i].row->flavor);
		bool known = !f;
		for (size_t k = 0; k < n; k++)
			known = known || ret[k] == f;
		if (!known)
			ret[n++] = f;
	}
	return n;
}

static void put_label(struct label *all, size_t *n, const struct label *l)
{
	for (size_t i = 0; i < *n; i++) {
		if (strcmp(all[i].key, l->key) == 0) {
			all[i].value = l->value;
			return;
		}
	}
	all[(*n)++] = *l;
}

static bool toleration_same(const struct toleration *a, const struct toleration *b)
{
	return a->op == b->op && a->effect == b->effect && a->has_seconds == b->has_seconds &&
	       (!a->has_seconds || a->seconds == b->seconds) && strcmp(a->key, b->key) == 0 &&
	       strcmp(a->value, b->value) == 0;
}

static void put_toleration(struct toleration *all, size_t *n, const struct toleration *t)
{
	for (size_t i = 0; i < *n; i++)
		if (toleration_same(&all[i], t))
			return;
	all[(*n)++] = *t;
}

static void write_labels(struct buf *b, const struct label *all, size_t n)
{
	buf_putc(b, '{');
	for (size_t i = 0; i < n; i++) {
		buf_puts(b, i ? "," : "");
		buf_json_string(b, all[i].key);
		buf_putc(b, ':');
		buf_json_string(b, all[i].value);
	}
	buf_putc(b, '}');
}

static const char *op_name(enum toleration_op op)
{
	switch (op) {
	case TOLERATION_EQUAL:
		return "Equal";
	case TOLERATION_EXISTS:
		return "Exists";
	case TOLERATION_LT:
		return "Lt";
	case TOLERATION_GT:
		return "Gt";
	}
	return "Equal";
}

static const char *effect_name(enum taint_effect effect)
{
	switch (effect) {
	case TAINT_ANY:
		return "";
	case TAINT_NO_SCHEDULE:
		return "NoSchedule";
	case TAINT_PREFER_NO_SCHEDULE:
		return "PreferNoSchedule";
	case TAINT_NO_EXECUTE:
		return "NoExecute";
	}
	return "";
}

static void write_field(struct buf *b, const char *name, const char *value)
{
	if (!*value)
		return;
	buf_printf(b, "\"%s\":", name);
	buf_json_string(b, value);
	buf_putc(b, ',');
}

static void write_tolerations(struct buf *b, const struct toleration *all, size_t n)
{
	buf_putc(b, '[');
	for (size_t i = 0; i < n; i++) {
		const struct toleration *t = &all[i];
		buf_puts(b, i ? ",{" : "{");
		write_field(b, "key", t->key);
		write_field(b, "value", t->value);
		write_field(b, "effect", effect_name(t->effect));
		if (t->has_seconds)
			buf_printf(b, "\"tolerationSeconds\":%lld,", (long long)t->seconds);
		buf_printf(b, "\"operator\":\"%s\"}", op_name(t->op));
	}
	buf_putc(b, ']');
}

void directives_join(struct arena *a, const struct placement *own,
	const struct flavor *const *flavors, size_t n, struct placement *ret)
{
	size_t nlabels = own->nnode_selector, ntolerations = own->ntolerations;
	for (size_t f = 0; f < n; f++) {
		nlabels += flavors[f]->nodes.nlabels;
		ntolerations += flavors[f]->nodes.ntolerations;
	}
	struct label *label = arena_take(a, nlabels, sizeof(*label));
	struct toleration *toleration = arena_take(a, ntolerations, sizeof(*toleration));
	nlabels = ntolerations = 0;
	for (size_t i = 0; i < own->nnode_selector; i++)
		put_label(label, &nlabels, &own->node_selector[i]);
	for (size_t i = 0; i < own->ntolerations; i++)
		put_toleration(toleration, &ntolerations, &own->tolerations[i]);
	for (size_t f = 0; f < n; f++) {
		const struct node_group *nodes = &flavors[f]->nodes;
		for (size_t i = 0; i < nodes->nlabels; i++)
			put_label(label, &nlabels, &nodes->labels[i]);
		for (size_t i = 0; i < nodes->ntolerations; i++)
			put_toleration(toleration, &ntolerations, &nodes->tolerations[i]);
	}
	*ret = *own;
	ret->node_selector = label;
	ret->nnode_selector = nlabels;
	ret->tolerations = toleration;
	ret->ntolerations = ntolerations;
}

static void write_joined(const struct placement *own, const struct flavor *const *flavors,
	size_t nflavors, struct buf *node_selector, struct buf *tolerations)
{
	struct arena scratch = {0};
	struct placement joined;
	directives_join(&scratch, own, flavors, nflavors, &joined);
	write_labels(node_selector, joined.node_selector, joined.nnode_selector);
	write_tolerations(tolerations, joined.tolerations, joined.ntolerations);
	arena_done(&scratch);
}

void queue_job_directives(const struct queue *q, const struct uid *uid, struct buf *node_selector,
	struct buf *tolerations)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->reservation) {
		queue_job_own_directives(q, uid, node_selector, tolerations);
		return;
	}
	const struct flavor **flavors =
		mem_array(w->reservation->nlines, sizeof(const struct flavor *));
	size_t n = directives_flavors(q, w->reservation, flavors);
	write_joined(&w->reservation->shape->directives->placement, flavors, n, node_selector,
		tolerations);
	free(flavors);
}

/* Unknown Job: an empty object and an empty array, so that the caller's text is still JSON. */
void queue_job_own_directives(const struct queue *q, const struct uid *uid,
	struct buf *node_selector, struct buf *tolerations)
{
	static const struct placement none;
	const struct workload *w = queue_find_workload(q, uid);
	const struct shape *shape = !w ? NULL : w->reservation ? w->reservation->shape : w->shape;
	write_joined(
		shape ? &shape->directives->placement : &none, NULL, 0, node_selector, tolerations);
}
