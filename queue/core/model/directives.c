/* See directives.h. Texts for the start's PATCH are made here, too, as JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/directives.h"

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

/* ---- joining --------------------------------------------------------------------------------- */

static void put_toleration(struct toleration *all, size_t *n, const struct toleration *t)
{
	for (size_t i = 0; i < *n; i++)
		if (toleration_same(&all[i], t))
			return;
	all[(*n)++] = *t;
}

/* Returns whether both mean the same taints. An empty key is every key, no effect is every
 * effect. */
static bool toleration_meets(const struct toleration *a, const struct toleration *b)
{
	bool keys = !*a->key || !*b->key || strcmp(a->key, b->key) == 0;
	return keys && (a->effect == b->effect || a->effect == TAINT_ANY || b->effect == TAINT_ANY);
}

static bool owner_tolerates(const struct placement *own, const struct toleration *t)
{
	for (size_t i = 0; i < own->ntolerations; i++)
		if (toleration_meets(&own->tolerations[i], t))
			return true;
	return false;
}

static void join_selectors(struct arena *a, const struct placement *own,
	const struct flavor *const *flavors, size_t n, struct placement *ret)
{
	size_t room = own->nnode_selector, count = 0;
	for (size_t f = 0; f < n; f++)
		room += flavors[f]->nodes.nlabels + flavors[f]->adds.nnode_selector;
	struct label *all = arena_take(a, room, sizeof(*all));
	for (size_t i = 0; i < own->nnode_selector; i++)
		label_put(all, &count, &own->node_selector[i]);
	for (size_t f = 0; f < n; f++) {
		const struct placement *adds = &flavors[f]->adds;
		for (size_t i = 0; i < adds->nnode_selector; i++)
			if (!label_value(own->node_selector, own->nnode_selector,
				    adds->node_selector[i].key))
				label_put(all, &count, &adds->node_selector[i]);
	}
	for (size_t f = 0; f < n; f++)
		for (size_t i = 0; i < flavors[f]->nodes.nlabels; i++)
			label_put(all, &count, &flavors[f]->nodes.labels[i]);
	ret->node_selector = all;
	ret->nnode_selector = count;
}

static void join_tolerations(struct arena *a, const struct placement *own,
	const struct flavor *const *flavors, size_t n, struct placement *ret)
{
	size_t room = own->ntolerations, count = 0;
	for (size_t f = 0; f < n; f++)
		room += flavors[f]->nodes.ntolerations + flavors[f]->adds.ntolerations;
	struct toleration *all = arena_take(a, room, sizeof(*all));
	for (size_t i = 0; i < own->ntolerations; i++)
		put_toleration(all, &count, &own->tolerations[i]);
	for (size_t f = 0; f < n; f++) {
		const struct placement *adds = &flavors[f]->adds;
		for (size_t i = 0; i < flavors[f]->nodes.ntolerations; i++)
			put_toleration(all, &count, &flavors[f]->nodes.tolerations[i]);
		for (size_t i = 0; i < adds->ntolerations; i++)
			if (!owner_tolerates(own, &adds->tolerations[i]))
				put_toleration(all, &count, &adds->tolerations[i]);
	}
	ret->tolerations = all;
	ret->ntolerations = count;
}

enum node_affinity_verdict directives_join(struct arena *a, const struct placement *own,
	const struct flavor *const *flavors, size_t n, struct placement *ret, const char **ret_key)
{
	enum node_affinity_verdict verdict = NODE_AFFINITY_JOINED;
	*ret = *own;
	join_selectors(a, own, flavors, n, ret);
	join_tolerations(a, own, flavors, n, ret);
	for (size_t f = 0; f < n && verdict == NODE_AFFINITY_JOINED; f++)
		verdict = node_affinity_join(a, ret, &flavors[f]->adds, ret_key);
	return verdict;
}

/* ---- does a flavor suit? --------------------------------------------------------------------- */

static enum flavor_verdict match_verdict(
	const struct placement *p, const struct flavor *f, struct flavor_clash *ret)
{
	switch (placement_match(p, &f->nodes, &ret->taint)) {
	case PLACEMENT_FITS:
		break;
	case PLACEMENT_UNTOLERATED_TAINT:
		return FLAVOR_TAINTED;
	case PLACEMENT_SELECTOR_MISMATCH:
		return FLAVOR_MISMATCHES;
	}
	return FLAVOR_SUITS;
}

static enum flavor_verdict affinity_verdict(enum node_affinity_verdict v)
{
	switch (v) {
	case NODE_AFFINITY_JOINED:
		break;
	case NODE_AFFINITY_CONTRADICTS:
		return FLAVOR_CONTRADICTS;
	case NODE_AFFINITY_TOO_LARGE:
		return FLAVOR_TOO_LARGE;
	case NODE_AFFINITY_UNREAD:
		return FLAVOR_UNREAD;
	}
	return FLAVOR_SUITS;
}

/* own, with what the flavor's podTemplate tolerates. */
static enum flavor_verdict suits_joined(
	const struct placement *own, const struct flavor *f, struct flavor_clash *ret)
{
	struct arena scratch = {0};
	struct placement joined, tolerant = *own;
	enum node_affinity_verdict v = directives_join(&scratch, own, &f, 1, &joined, &ret->key);
	tolerant.tolerations = joined.tolerations;
	tolerant.ntolerations = joined.ntolerations;
	enum flavor_verdict found = match_verdict(&tolerant, f, ret);
	if (found == FLAVOR_SUITS)
		found = affinity_verdict(v);
	/* Terms that were joined have been looked at beside the selector. */
	if (found == FLAVOR_SUITS && f->adds.nterms == 0 &&
		node_affinity_contradicts(&joined, &ret->key))
		found = FLAVOR_CONTRADICTS;
	arena_done(&scratch); /* keys and taints are not its own */
	return found;
}

enum flavor_verdict directives_suit(
	const struct placement *own, const struct flavor *f, struct flavor_clash *ret)
{
	struct flavor_clash clash = {NULL, NULL};
	const struct placement *adds = &f->adds;
	bool joins =
		adds->nnode_selector + adds->ntolerations + adds->nterms + adds->npreferred > 0;
	enum flavor_verdict v =
		joins ? suits_joined(own, f, &clash) : match_verdict(own, f, &clash);
	if (ret)
		*ret = clash;
	return v;
}

/* ---- labels and annotations ------------------------------------------------------------------ */

/* Where they come from, the strongest last. */
static size_t metadata_sources(const struct flavor *const *flavors, size_t n,
	const struct clusterqueue *cq, const struct localqueue *lq, size_t i,
	const struct pod_metadata **ret)
{
	*ret = NULL;
	if (i == 0 && lq)
		*ret = &lq->metadata;
	if (i > 0 && i <= n)
		*ret = &flavors[i - 1]->metadata;
	if (i == n + 1 && cq)
		*ret = &cq->spec.metadata;
	return n + 2;
}

void directives_metadata(struct arena *a, const struct flavor *const *flavors, size_t n,
	const struct clusterqueue *cq, const struct localqueue *lq, struct pod_metadata *ret)
{
	const struct pod_metadata *m;
	size_t labels = 0, annotations = 0;
	for (size_t i = 0; i < metadata_sources(flavors, n, cq, lq, i, &m); i++) {
		labels += m ? m->nlabels : 0;
		annotations += m ? m->nannotations : 0;
	}
	*ret = (struct pod_metadata){0};
	if (labels + annotations == 0)
		return;
	struct label *label = arena_take(a, labels, sizeof(*label));
	struct label *annotation = arena_take(a, annotations, sizeof(*annotation));
	for (size_t i = 0; i < metadata_sources(flavors, n, cq, lq, i, &m); i++) {
		for (size_t k = 0; m && k < m->nlabels; k++)
			label_put(label, &ret->nlabels, &m->labels[k]);
		for (size_t k = 0; m && k < m->nannotations; k++)
			label_put(annotation, &ret->nannotations, &m->annotations[k]);
	}
	ret->labels = label;
	ret->annotations = annotation;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

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

static bool write_joined(const struct placement *own, const struct flavor *const *flavors,
	size_t nflavors, struct directives_text *ret)
{
	struct arena scratch = {0};
	struct placement joined;
	enum node_affinity_verdict v =
		directives_join(&scratch, own, flavors, nflavors, &joined, NULL);
	write_labels(&ret->node_selector, joined.node_selector, joined.nnode_selector);
	write_tolerations(&ret->tolerations, joined.tolerations, joined.ntolerations);
	node_affinity_write(&joined, &ret->node_affinity);
	arena_done(&scratch);
	return v == NODE_AFFINITY_JOINED;
}

bool queue_job_directives(const struct queue *q, const struct uid *uid, struct directives_text *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->reservation) {
		queue_job_own_directives(q, uid, ret);
		return true;
	}
	const struct flavor **flavors =
		mem_array(w->reservation->nlines, sizeof(const struct flavor *));
	size_t n = directives_flavors(q, w->reservation, flavors);
	bool whole = write_joined(&w->reservation->shape->directives->placement, flavors, n, ret);
	free(flavors);
	return whole;
}

static const struct directives *directives_of(const struct workload *w)
{
	return w ? (w->reservation ? w->reservation->shape : w->shape)->directives : NULL;
}

/* Unknown Job: an empty object and an empty array, so that the caller's text is still JSON. */
void queue_job_own_directives(
	const struct queue *q, const struct uid *uid, struct directives_text *ret)
{
	static const struct placement none;
	const struct directives *d = directives_of(queue_find_workload(q, uid));
	write_joined(d ? &d->placement : &none, NULL, 0, ret);
}

/* ---- what a start changes beside them -------------------------------------------------------- */

/* Writes which keys a start edits: adds those that the Job's owner has not, and drops those of an
 * earlier start that are not added again. */
static void edit_keys(struct arena *a, const struct template_keys *keys, const struct label *adds,
	size_t n, struct key_edit *ret)
{
	struct label *add = arena_take(a, n, sizeof(*add));
	const char **drop = arena_take(a, keys->nold, sizeof(*drop));
	*ret = (struct key_edit){.add = add, .drop = drop};
	for (size_t i = 0; i < n; i++)
		if (!names_have(keys->own, keys->nown, adds[i].key))
			add[ret->nadd++] = adds[i];
	for (size_t i = 0; i < keys->nold; i++)
		if (!label_value(add, ret->nadd, keys->old[i]))
			drop[ret->ndrop++] = keys->old[i];
}

static enum affinity_edit affinity_edit_of(const struct placement *own, bool old, bool adds)
{
	bool there = own->has_affinity || old, own_terms = own->nterms + own->npreferred > 0;
	if (!adds && !old)
		return AFFINITY_KEEP;
	if (adds || own_terms)
		return there ? AFFINITY_SET : AFFINITY_MAKE;
	return own->has_affinity ? AFFINITY_CLEAR : AFFINITY_REMOVE;
}

void queue_job_template_edit(
	const struct queue *q, const struct uid *uid, struct arena *a, struct template_edit *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	const struct directives *d = directives_of(w);
	const struct reservation *r = w ? w->reservation : NULL;
	struct pod_metadata adds;
	bool affinity = false;
	*ret = (struct template_edit){0};
	if (!r)
		return;
	const struct flavor **flavors = mem_array(r->nlines, sizeof(const struct flavor *));
	size_t n = directives_flavors(q, r, flavors);
	for (size_t i = 0; i < n; i++)
		affinity |= flavors[i]->adds.nterms + flavors[i]->adds.npreferred > 0;
	directives_metadata(a, flavors, n, r->cq, r->lq, &adds);
	free(flavors);
	edit_keys(a, &d->metadata.labels, adds.labels, adds.nlabels, &ret->labels);
	edit_keys(a, &d->metadata.annotations, adds.annotations, adds.nannotations,
		&ret->annotations);
	ret->has_annotations = d->metadata.has_annotations;
	ret->affinity = affinity_edit_of(&d->placement, d->metadata.old_affinity, affinity);
	ret->adds_affinity = affinity;
}
