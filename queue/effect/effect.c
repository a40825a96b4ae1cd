#include "queue/effect/effect.h"

#include <string.h>

#include "queue/explain/view.h"

bool faults_add(struct faults *f, const char *reason)
{
	if (f->n++ == 0)
		f->reason = reason;
	if (f->n > EFFECT_FAULTS_TOLD)
		return false;
	if (f->n > 1)
		text_add(f->text, "; ");
	return true;
}

/* NULL: it is not there, is being deleted, or no spec of it is in force. */
static const void *find_object(
	const struct queue *q, enum effect_kind kind, const char *ns, const char *name)
{
	switch (kind) {
	case EFFECT_CLUSTERQUEUE: {
		const struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, name);
		return cq && cq->exists && !cq->deleting ? cq : NULL;
	}
	case EFFECT_LOCALQUEUE: {
		const struct localqueue *lq = localqueue_find(&q->localqueues, ns, name);
		return lq && lq->exists && !lq->deleting ? lq : NULL;
	}
	case EFFECT_COHORT: {
		const struct cohort *c = cohort_find(&q->cohorts, name);
		return c && c->exists ? c : NULL;
	}
	case EFFECT_RUNPOLICY: {
		const struct runpolicy *p = runpolicy_find(q, name);
		return p && p->spec.name && !p->spec.deleting ? p : NULL;
	}
	case EFFECT_PRICEPLAN: {
		const struct plan *p = plan_find(q, name);
		return p && p->spec.name && !p->spec.deleting ? p : NULL;
	}
	case EFFECT_BUDGET: {
		const struct budget *b = budgets_find(q, name);
		return b && b->spec.name && !b->spec.deleting ? b : NULL;
	}
	}
	return NULL;
}

void queue_view_effect(const struct queue *q, enum effect_kind kind, const char *ns,
	const char *name, struct condition_view *ret)
{
	struct text text = text_over(ret->message, sizeof(ret->message));
	struct faults f = {.q = view_working(q), .text = &text};
	const void *object = find_object(q, kind, ns, name);
	if (object) {
		names_judge(&f, kind, object);
		settings_judge(&f, kind, object);
	}
	ret->ok = f.n == 0;
	ret->reason = ret->ok ? "Effective" : f.reason;
	if (ret->ok)
		text_add(&text, "nothing%s in the spec is known to be without effect",
			f.told_by_active ? " but what the condition Active says" : "");
	else if (f.n > EFFECT_FAULTS_TOLD)
		text_add(&text, "; and %zu more", f.n - EFFECT_FAULTS_TOLD);
}
