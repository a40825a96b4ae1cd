#include "queue/explain/explain.h"

#include <string.h>

#include "base/must.h"
#include "queue/core/model/directives.h"
#include "queue/requests/lending.h"

/* The most other flavors that are named one by one; the rest is a number. */
#define OTHERS_TOLD 3

struct shortage {
	const struct claim *claim;
	size_t index; /* of the resource group */
	const struct resource_group *group;
	const struct need *need;
	size_t nneeds;
};

static bool group_borrows_idle(const struct clusterqueue *cq, const struct claim *c, size_t group)
{
	const struct resource_group *g = &cq->spec.groups[group];
	for (size_t f = 0; f < g->nflavors; f++)
		if (claim_suits(c, group, f) && g->flavors[f]->lending != LENDING_NONE)
			return true;
	return false;
}

static bool group_fails(const struct clusterqueue *cq, const struct claim *c, size_t group,
	enum assign_verdict verdict)
{
	uint8_t flavor;
	return plain_fit_group(cq, c, group, &flavor) == verdict;
}

bool shortage_may_end(const struct clusterqueue *cq, const struct claim *c)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		if (group_fails(cq, c, g, ASSIGN_EXCEEDS) && !group_borrows_idle(cq, c, g))
			return false;
	return true;
}

/* The first resource group with this verdict; `for_good`: and without a flavor that nodes lend. */
static struct shortage shortage_of(const struct clusterqueue *cq, const struct claim *c,
	enum assign_verdict verdict, bool for_good)
{
	struct shortage l = {.claim = c};
	while (l.index < cq->spec.ngroups &&
		!(group_fails(cq, c, l.index, verdict) &&
			!(for_good && group_borrows_idle(cq, c, l.index))))
		l.index++;
	must(l.index < cq->spec.ngroups);
	l.group = &cq->spec.groups[l.index];
	l.need = claim_needs(c, l.index, &l.nneeds);
	return l;
}

/* How much one flavor has too little for a need, of what is free or of all it could ever have. */
static int64_t missing_of(
	const struct shortage *l, size_t flavor, const struct need *n, bool of_all)
{
	const struct quota_row *row = group_row(l->group, flavor, n->resource);
	int64_t has = of_all ? quota_potential(row) : quota_available(row);
	if (need_too_large(row, n))
		return n->each - row->flavor_pool->most;
	if (quota_fits(n->least, has))
		return 0;
	return n->least > has ? n->least - has : 1;
}

/* How far a flavor is from fitting the claim: how many resources are short, and the largest missing
 * part of one. That is a fraction, so that different resources can be compared. */
struct distance {
	size_t resources;
	int64_t missing, amount;
};

static bool part_less(const struct distance *a, const struct distance *b)
{
	return (__int128)a->missing * b->amount < (__int128)b->missing * a->amount;
}

static struct distance distance_of(const struct shortage *l, size_t flavor, bool of_all)
{
	struct distance d = {.amount = 1};
	for (size_t i = 0; i < l->nneeds; i++) {
		struct distance one = {
			0, missing_of(l, flavor, &l->need[i], of_all), l->need[i].least};
		if (one.missing == 0)
			continue;
		d.resources++;
		if (part_less(&d, &one)) {
			d.missing = one.missing;
			d.amount = one.amount;
		}
	}
	return d;
}

/* Would the whole quota of the flavor suffice? If not, waiting does not help. What nodes lend may
 * grow. */
static bool flavor_could(const struct shortage *l, size_t flavor)
{
	return l->group->flavors[flavor]->lending != LENDING_NONE ||
	       distance_of(l, flavor, true).resources == 0;
}

static size_t closest_flavor(const struct shortage *l, bool of_all)
{
	size_t best = SIZE_MAX;
	struct distance least = {0};
	for (size_t f = 0; f < l->group->nflavors; f++) {
		if (!claim_suits(l->claim, l->index, f) || (!of_all && !flavor_could(l, f)))
			continue;
		struct distance d = distance_of(l, f, of_all);
		bool closer = d.resources != least.resources ? d.resources < least.resources
							     : part_less(&d, &least);
		if (best == SIZE_MAX || closer) {
			best = f;
			least = d;
		}
	}
	must(best != SIZE_MAX);
	return best;
}

/* Adds who has what is not in use and yet not left: other queues that have borrowed it, and Jobs that
 * start when pods of stopped ones are gone. */
static void add_taken(struct text *t, const struct quota_row *row)
{
	__int128 unused = row->nominal - row->use[QUOTA_NOW], now = quota_free(row, QUOTA_NOW);
	int64_t left = quota_available(row);
	now = now > 0 ? now : 0;
	if (unused <= left)
		return;
	if (now < unused)
		text_add(t, ", %s borrowed by other queues",
			number_words(quota_shown(unused - (now > left ? now : left)), row->resource)
				.s);
	if (now > left)
		text_add(t, ", %s kept for Jobs that wait for pods to end",
			number_words(
				quota_shown((now < unused ? now : unused) - left), row->resource)
				.s);
}

/* "28 of 40 in use", or with its unit "28 of 40 cpu in use". In a Cohort that does not say how much is
 * left: other queues may have borrowed it, or lend more. */
static void add_use(struct text *t, const struct quota_row *row, bool unit)
{
	const char *r = row->resource;
	text_add(t, "%s of %s%s%s in use", number_words(quota_shown(row->use[QUOTA_NOW]), r).s,
		number_words(row->nominal, r).s, unit ? " " : "", unit ? r : "");
	add_taken(t, row);
	if (row->up)
		text_add(t, ", %s left in the cohort", number_words(quota_available(row), r).s);
}

/* "4 of 20 idle ones in flavor idle are free", or why none are. */
static void add_idle(struct text *t, const struct quota_row *row, const struct need *n)
{
	const char *r = row->resource;
	if (row->flavor_pool->pool == 0)
		text_add(t, "no node of flavor %s lends any now", row->flavor);
	else if (need_too_large(row, n))
		text_add(t, "no node of flavor %s lends more than %s to one pod", row->flavor,
			number_words(row->flavor_pool->most, r).s);
	else
		text_add(t, "%s of %s idle%s in flavor %s are free",
			number_words(quota_available(row), r).s,
			number_words(quota_potential(row), r).s,
			strcmp(r, "cpu") == 0 ? " ones" : "", row->flavor);
}

/* "flavor spot has 28 of 40 cpu in use", or that it is too small anyway. */
static void add_other(struct text *t, const struct shortage *l, size_t flavor)
{
	bool of_all = !flavor_could(l, flavor);
	for (size_t i = 0; i < l->nneeds; i++) {
		const struct quota_row *row = group_row(l->group, flavor, l->need[i].resource);
		if (missing_of(l, flavor, &l->need[i], of_all) == 0)
			continue;
		if (row->flavor_pool->lent) {
			text_add(t, "; of %s ", row->resource);
			add_idle(t, row, &l->need[i]);
		} else if (of_all) {
			text_add(t, "; flavor %s has only %s", row->flavor,
				amount_words(quota_potential(row), row->resource).s);
		} else {
			text_add(t, "; flavor %s has ", row->flavor);
			add_use(t, row, true);
		}
		return;
	}
}

static void add_others(struct text *t, const struct shortage *l, size_t except)
{
	size_t others = 0;
	for (size_t f = 0; f < l->group->nflavors; f++) {
		if (f == except || !claim_suits(l->claim, l->index, f))
			continue;
		if (others++ < OTHERS_TOLD)
			add_other(t, l, f);
	}
	if (others > OTHERS_TOLD)
		text_add(t, "; %zu more flavors do not fit either", others - OTHERS_TOLD);
}

/* Gives what is asked for: by the fewest pods with which the Job starts, or by one pod where that is
 * too much already. */
static struct words asked_words(const struct quota_row *row, const struct need *n)
{
	struct words asked = {""};
	struct text t = text_over(asked.s, sizeof(asked.s));
	if (n->least == INT64_MAX)
		text_add(&t, "more %s than can be counted", row->resource);
	else if (need_too_large(row, n))
		text_add(&t, "%s", amount_words(n->each, row->resource).s);
	else
		text_add(&t, "%s%s", n->least < n->amount ? "at least " : "",
			amount_words(n->least, row->resource).s);
	return asked;
}

static void add_insufficient(struct text *t, const struct shortage *l, size_t flavor)
{
	enum lending lending = l->group->flavors[flavor]->lending;
	const char *between = "";
	for (size_t i = 0; i < l->nneeds; i++) {
		const struct quota_row *row = group_row(l->group, flavor, l->need[i].resource);
		if (missing_of(l, flavor, &l->need[i], false) == 0)
			continue;
		text_add(t, "%sInsufficient %s: asks for %s, ", between,
			lending_name(lending, row->resource), asked_words(row, &l->need[i]).s);
		add_idle(t, row, &l->need[i]);
		between = "; ";
	}
	add_others(t, l, flavor);
}

void shortage_add_busy(struct text *t, const struct clusterqueue *cq, const struct claim *c,
	enum assign_verdict verdict)
{
	struct shortage l = shortage_of(cq, c, verdict, false);
	size_t flavor = closest_flavor(&l, false);
	const char *between = "needs ";
	if (l.group->flavors[flavor]->lending != LENDING_NONE) {
		add_insufficient(t, &l, flavor);
		return;
	}
	for (size_t i = 0; i < l.nneeds; i++) {
		const struct quota_row *row = group_row(l.group, flavor, l.need[i].resource);
		if (missing_of(&l, flavor, &l.need[i], false) == 0)
			continue;
		text_add(t, "%s%s", between, asked_words(row, &l.need[i]).s);
		if (*between == 'n')
			text_add(t, " in flavor %s", row->flavor);
		text_add(t, " (");
		add_use(t, row, false);
		text_add(t, ")");
		between = " and ";
	}
	add_others(t, &l, flavor);
}

void shortage_add_excess(struct text *t, const struct clusterqueue *cq, const struct claim *c)
{
	struct shortage l = shortage_of(cq, c, ASSIGN_EXCEEDS, true);
	size_t flavor = closest_flavor(&l, true), i = 0;
	while (missing_of(&l, flavor, &l.need[i], true) == 0)
		i++;
	const struct quota_row *row = group_row(l.group, flavor, l.need[i].resource);
	text_add(t, "the Job asks for %s, more than the %s that flavor %s has in ClusterQueue %s%s",
		asked_words(row, &l.need[i]).s, amount_words(quota_potential(row), row->resource).s,
		row->flavor, cq->name, row->up ? ", including what it may borrow" : "");
	add_others(t, &l, flavor);
	text_add(t, "; lower the request or raise nominalQuota");
}

/* The flavor's kind of lending is one that the Job may not run on. */
static void add_lending(struct text *t, const struct flavor *f, const struct directives *d)
{
	if (f->lending == LENDING_NONE)
		text_add(t, "flavor %s has no spec.idlePool", f->name);
	else if (lending_suits(d->lending, LENDING_NONE))
		text_add(t, "flavor %s lends %s, for Jobs with sluice.dev/preemptible: \"true\"",
			f->name, lending_name(f->lending, "cpu"));
	else
		text_add(t, "flavor %s lends %s", f->name, lending_name(f->lending, "cpu"));
}

static void add_contradiction(struct text *t, const struct flavor *f, const char *key)
{
	if (key)
		text_add(t,
			"spec.podTemplate of flavor %s asks for a value of node label %s that the Job's node selector or affinity excludes",
			f->name, key);
	else
		text_add(t,
			"the Job's required node affinity matches no node, so flavor %s cannot add to it",
			f->name);
}

static void add_mismatch(struct text *t, const struct flavor *f, const struct directives *d)
{
	struct flavor_clash clash;
	switch (directives_suit(&d->placement, f, &clash)) {
	case FLAVOR_TAINTED:
		text_add(t, "untolerated taint %s%s%s:%s in flavor %s", clash.taint->key,
			*clash.taint->value ? "=" : "", clash.taint->value,
			clash.taint->effect == TAINT_NO_EXECUTE ? "NoExecute" : "NoSchedule",
			f->name);
		break;
	case FLAVOR_MISMATCHES:
		text_add(t, "flavor %s doesn't match node affinity", f->name);
		break;
	case FLAVOR_CONTRADICTS:
		add_contradiction(t, f, clash.key);
		break;
	case FLAVOR_TOO_LARGE:
		text_add(t,
			"joined with spec.podTemplate of flavor %s the Job's node affinity would have more than %d terms, %d requirements in one, or %d bytes",
			f->name, NODE_AFFINITY_TERMS_MAX, NODE_AFFINITY_REQUIREMENTS_MAX,
			NODE_AFFINITY_BYTES_MAX);
		break;
	case FLAVOR_UNREAD:
		text_add(t,
			"spec.podTemplate of flavor %s adds to the Job's node affinity, in which there is something that this version of Sluice does not know",
			f->name);
		break;
	case FLAVOR_SUITS:
		break;
	}
}

void shortage_add_mismatch(struct text *t, const struct clusterqueue *cq, const struct claim *c,
	const struct directives *d)
{
	struct shortage l = shortage_of(cq, c, ASSIGN_NO_FLAVOR, false);
	bool minds = claim_minds_lending(cq, c, l.index), placed = false;
	text_add(t, "no flavor for %s in ClusterQueue %s suits its pods: ",
		l.group->resources[l.need[0].resource], cq->name);
	for (size_t f = 0; f < l.group->nflavors; f++) {
		const struct flavor *flavor = l.group->flavors[f];
		text_add(t, "%s", f ? ", " : "");
		if (minds && !lending_suits(d->lending, flavor->lending)) {
			add_lending(t, flavor, d);
			continue;
		}
		placed = true;
		add_mismatch(t, flavor, d);
	}
	if (placed)
		text_add(t, "; correct the Job's tolerations, node selector or node affinity");
	else if (lending_suits(d->lending, LENDING_NONE))
		text_add(t, "; set that annotation, or add a flavor without spec.idlePool");
	else
		text_add(t, "; add a flavor whose spec.idlePool lends what its pods ask for");
}
