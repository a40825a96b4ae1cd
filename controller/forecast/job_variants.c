#include "controller/forecast/job_variants.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "queue/cluster/pod.h"
#include "queue/price/money.h"

enum { MINUTE_MS = 60000, HOUR_MS = 60 * MINUTE_MS, TEXT_SIZE = 400 };

const char *job_change_name(enum job_change c)
{
	static const char *const names[JOB_CHANGES] = {[CHANGE_PODS] = "Pods",
		[CHANGE_TOLERATION] = "Toleration",
		[CHANGE_NODE_LABELS] = "NodeLabels",
		[CHANGE_LOCALQUEUE] = "LocalQueue",
		[CHANGE_EXPECTED_DURATION] = "ExpectedDuration",
		[CHANGE_PRIORITY_CLASS] = "PriorityClass",
		[CHANGE_MAX_PRICE] = "MaxPrice"};
	return names[c];
}

/* ---- collecting ------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static const char *text_of(
	struct job_variants *v, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return arena_string(&v->memory, text);
}

/* Adds a variant; NULL: there are as many as may be. */
static struct job_variant *add(struct job_variants *v, enum job_change change, const struct job *j)
{
	if (v->n == JOB_VARIANTS_MAX)
		return NULL;
	struct job_variant *x = &v->item[v->n++];
	*x = (struct job_variant){.change = change, .from = "", .job = *j};
	return x;
}

static void leave_out(struct job_variants *v, enum job_change change, const char *text)
{
	if (v->nunplayed < JOB_UNPLAYED_MAX)
		v->unplayed[v->nunplayed++] = (struct job_unplayed){change, text};
}

/* ---- pods ------------------------------------------------------------------------------------ */

static void add_pods(struct job_variants *v, const struct job *j)
{
	int32_t pods = job_pods(j), half = pods / 2;
	if (half < 1)
		return;
	if (j->min_parallelism > 0 && j->min_parallelism < pods) {
		leave_out(v, CHANGE_PODS,
			text_of(v,
				"fewer pods: it may already start with %" PRId32
				" pods (sluice.dev/min-parallelism)",
				j->min_parallelism));
		return;
	}
	struct job_variant *x = add(v, CHANGE_PODS, j);
	if (!x)
		return;
	x->job.parallelism = half;
	if (j->completions_follow && j->has_completions)
		x->job.completions = half;
	if (x->job.min_parallelism > half)
		x->job.min_parallelism = half;
	x->from = text_of(v, "%" PRId32, pods);
	x->to = text_of(v, "%" PRId32, half);
	x->text = text_of(
		v, "with %" PRId32 " pod%s instead of %" PRId32, half, half == 1 ? "" : "s", pods);
}

/* ---- flavors --------------------------------------------------------------------------------- */

/* Gives the Job's pods this placement, also in the template, which tells it to the scheduler. */
static void place(struct job_variants *v, struct job *j, const struct placement *p)
{
	j->placement = *p;
	if (!j->template)
		return;
	struct pod *pod = arena_take(&v->memory, 1, sizeof(*pod));
	*pod = *j->template;
	pod->tolerations = p->tolerations;
	pod->ntolerations = p->ntolerations;
	pod->node_selector = p->node_selector;
	pod->nnode_selector = p->nnode_selector;
	j->template = pod;
}

static struct placement tolerating(
	struct job_variants *v, const struct placement *own, const struct node_group *g)
{
	struct placement p = *own;
	struct toleration *t =
		arena_take(&v->memory, own->ntolerations + g->ntaints + 1, sizeof(*t));
	if (own->ntolerations > 0)
		memcpy(t, own->tolerations, own->ntolerations * sizeof(*t));
	for (size_t i = 0; i < g->ntaints; i++)
		t[p.ntolerations++] =
			(struct toleration){.key = arena_string(&v->memory, g->taints[i].key),
				.value = arena_string(&v->memory, g->taints[i].value),
				.op = TOLERATION_EQUAL,
				.effect = g->taints[i].effect};
	p.tolerations = t;
	return p;
}

static const char *value_in(const struct node_group *g, const char *key)
{
	for (size_t i = 0; i < g->nlabels; i++)
		if (strcmp(g->labels[i].key, key) == 0)
			return g->labels[i].value;
	return NULL;
}

/* Gives the keys of a nodeSelector that the flavor has the flavor's values. */
static struct placement selecting(
	struct job_variants *v, const struct placement *own, const struct node_group *g)
{
	struct placement p = *own;
	struct label *l = arena_take(&v->memory, own->nnode_selector + 1, sizeof(*l));
	for (size_t i = 0; i < own->nnode_selector; i++) {
		const char *value = value_in(g, own->node_selector[i].key);
		l[i] = own->node_selector[i];
		if (value)
			l[i].value = arena_string(&v->memory, value);
	}
	p.node_selector = l;
	return p;
}

static bool suits(const struct placement *p, const struct node_group *g)
{
	return placement_match(p, g, NULL) == PLACEMENT_FITS;
}

static void add_toleration(
	struct job_variants *v, const struct job *j, const struct alternative_flavor *f)
{
	struct placement p = tolerating(v, &j->placement, f->nodes);
	struct job_variant *x = suits(&p, f->nodes) ? add(v, CHANGE_TOLERATION, j) : NULL;
	if (!x)
		return;
	place(v, &x->job, &p);
	x->to = arena_string(&v->memory, f->name);
	x->text = text_of(v, "with a toleration for the taints of flavor %s", f->name);
}

static void add_node_labels(
	struct job_variants *v, const struct job *j, const struct alternative_flavor *f)
{
	struct placement p = selecting(v, &j->placement, f->nodes);
	struct job_variant *x = suits(&p, f->nodes) ? add(v, CHANGE_NODE_LABELS, j) : NULL;
	if (!x)
		return;
	place(v, &x->job, &p);
	x->to = arena_string(&v->memory, f->name);
	x->text = text_of(v, "with a nodeSelector for flavor %s", f->name);
}

static const struct alternative_flavor *nth_flavor(const struct job *j,
	const struct alternatives *a, enum placement_verdict verdict, size_t nth)
{
	for (size_t i = 0; i < a->nflavors; i++)
		if (placement_match(&j->placement, a->flavor[i].nodes, NULL) == verdict &&
			nth-- == 0)
			return &a->flavor[i];
	return NULL;
}

/* ---- its queue, its length, its class, its price --------------------------------------------- */

static void add_localqueue(struct job_variants *v, const struct job *j, const char *name)
{
	struct job_variant *x = add(v, CHANGE_LOCALQUEUE, j);
	if (!x)
		return;
	x->job.queue = x->to = arena_string(&v->memory, name);
	x->from = j->queue;
	x->text = text_of(v, "in LocalQueue %s", name);
}

/* Halves a duration, in units that a setting shows in few letters. */
static int64_t half_of(int64_t ms)
{
	int64_t unit_ms = ms / 2 < 2 * MINUTE_MS ? 1000 : MINUTE_MS;
	int64_t half_ms = ms / 2 / unit_ms * unit_ms;
	return half_ms > 1000 ? half_ms : 1000;
}

static void add_length(struct job_variants *v, const struct job *j, const struct alternatives *a,
	int64_t expected_ms)
{
	if (!a->length_matters)
		return;
	if (expected_ms <= 0) {
		leave_out(v, CHANGE_EXPECTED_DURATION,
			"a shorter duration: nothing says how long the Job runs; with the annotation sluice.dev/expected-duration it may start earlier");
		return;
	}
	int64_t half_ms = half_of(expected_ms);
	struct job_variant *x = half_ms < expected_ms ? add(v, CHANGE_EXPECTED_DURATION, j) : NULL;
	if (!x)
		return;
	x->job.durations.expected_ms = half_ms;
	x->from = text_of(v, "%s", span_exact(expected_ms).s);
	x->to = text_of(v, "%s", span_exact(half_ms).s);
	x->text = text_of(v, "with an expected duration of %s", x->to);
}

static void add_class(struct job_variants *v, const struct job *j, const struct alternatives *a,
	const char *name, int32_t priority)
{
	struct job_variant *x = name ? add(v, CHANGE_PRIORITY_CLASS, j) : NULL;
	if (!x)
		return;
	x->job.priority_class = x->to = arena_string(&v->memory, name);
	x->from = j->priority_class;
	x->text = text_of(v, "with class %s (priority %" PRId32 " instead of %" PRId32 ")", name,
		priority, a->priority);
}

static void leave_out_classes(struct job_variants *v, const struct alternatives *a)
{
	bool is_in_queue = a->nflavors > 0;
	if (is_in_queue && !a->next_class)
		leave_out(v, CHANGE_PRIORITY_CLASS,
			a->capped
				? "a higher class: its ClusterQueue caps the priority (spec.maxPriority)"
				: "a higher class: there is none");
}

static const char *money_of(struct job_variants *v, int64_t amount, const char *resource)
{
	char text[MONEY_TEXT_SIZE];
	money_format(amount, text);
	if (strcmp(resource, "cpu") == 0)
		return arena_string(&v->memory, text);
	return text_of(v, "%s %s", text, resource);
}

static void add_price(struct job_variants *v, const struct job *j)
{
	if (!j->terms.has_max_price || j->terms.max_price <= 0 ||
		j->terms.max_price > INT64_MAX - INT64_MAX / 8)
		return;
	struct job_variant *x = add(v, CHANGE_MAX_PRICE, j);
	if (!x)
		return;
	x->job.terms.max_price += (j->terms.max_price + 9) / 10;
	x->from = money_of(v, j->terms.max_price, j->terms.max_price_resource);
	x->to = money_of(v, x->job.terms.max_price, j->terms.max_price_resource);
	x->text = text_of(v, "with a price limit of %s", x->to);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Adds the nth of each kind, as far as there is one: nth 0 is the most likely. */
static void add_nth(
	struct job_variants *v, const struct job *j, const struct alternatives *a, size_t nth)
{
	const struct alternative_flavor *f;
	if ((f = nth_flavor(j, a, PLACEMENT_UNTOLERATED_TAINT, nth)))
		add_toleration(v, j, f);
	if ((f = nth_flavor(j, a, PLACEMENT_SELECTOR_MISMATCH, nth)))
		add_node_labels(v, j, f);
	if (nth < a->nlocalqueues)
		add_localqueue(v, j, a->localqueue[nth]);
	if (nth == 0)
		add_class(v, j, a, a->next_class, a->next_priority);
	else if (nth == 1)
		add_class(v, j, a, a->highest_class, a->highest_priority);
}

void job_variants_make(struct job_variants *v, const struct job *j, const struct alternatives *a,
	int64_t expected_ms)
{
	*v = (struct job_variants){0};
	add_pods(v, j);
	add_length(v, j, a, expected_ms);
	add_price(v, j);
	add_nth(v, j, a, 0);
	add_nth(v, j, a, 1);
	leave_out_classes(v, a);
}

void job_variants_done(struct job_variants *v)
{
	arena_done(&v->memory);
	*v = (struct job_variants){0};
}
