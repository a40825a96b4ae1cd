#include "queue/lack.h"

#include "base/must.h"

/* Others that are told one by one; the rest is a number. */
#define OTHERS_TOLD 3

struct lack {
	const struct claim *claim;
	size_t index; /* of the resource group */
	const struct resource_group *group;
	const struct need *need;
	size_t nneeds;
};

/* The first resource group that fails just so. */
static struct lack lack_of(
	const struct clusterqueue *cq, const struct claim *c, enum assign_verdict verdict)
{
	struct lack l = {.claim = c};
	uint8_t flavor;
	while (l.index < cq->ngroups && assign_group(cq, c, l.index, &flavor) != verdict)
		l.index++;
	must(l.index < cq->ngroups);
	l.group = &cq->groups[l.index];
	l.need = claim_needs(c, l.index, &l.nneeds);
	return l;
}

static const struct quota_row *row_of(const struct lack *l, size_t flavor, const struct need *n)
{
	return l->group->row[flavor * l->group->nresources + n->resource];
}

static const char *resource_of(const struct lack *l, const struct need *n)
{
	return l->group->resources[n->resource];
}

/* What is missing of one need in one flavor: beside what is used, or of all it could ever have. */
static int64_t missing_of(const struct lack *l, size_t flavor, const struct need *n, bool of_all)
{
	const struct quota_row *row = row_of(l, flavor, n);
	int64_t has = of_all ? quota_potential(row) : quota_available(row);
	if (quota_fits(n->least, has))
		return 0;
	return n->least > has ? n->least - has : 1;
}

/* How far a flavor is from taking the claim: by how many resources, and the largest missing part of
 * one (as a fraction: different resources cannot be compared otherwise). */
struct distance {
	size_t resources;
	int64_t missing, amount;
};

static bool part_less(const struct distance *a, const struct distance *b)
{
	return (__int128)a->missing * b->amount < (__int128)b->missing * a->amount;
}

static struct distance distance_of(const struct lack *l, size_t flavor, bool of_all)
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

/* Whether the whole quota of the flavor would do; if not, no waiting helps there. */
static bool flavor_could(const struct lack *l, size_t flavor)
{
	return distance_of(l, flavor, true).resources == 0;
}

static size_t closest_flavor(const struct lack *l, bool of_all)
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

static void add_use(struct text *t, const struct quota_row *row)
{
	text_add_number(t, quota_shown(row->use[QUOTA_NOW]), row->resource);
	text_add(t, " of ");
	text_add_number(t, row->nominal, row->resource);
}

/* In a Cohort use and quota alone do not say how much is left: others may have borrowed it, and
 * more may be lent. */
static void add_left(struct text *t, const struct quota_row *row)
{
	if (!row->up)
		return;
	text_add(t, ", ");
	text_add_number(t, quota_available(row), row->resource);
	text_add(t, " left in the cohort");
}

/* "flavor spot: 28 of 40 cpu in use", or that it is too small anyway. */
static void add_other(struct text *t, const struct lack *l, size_t flavor)
{
	bool of_all = !flavor_could(l, flavor);
	for (size_t i = 0; i < l->nneeds; i++) {
		const struct quota_row *row = row_of(l, flavor, &l->need[i]);
		if (missing_of(l, flavor, &l->need[i], of_all) == 0)
			continue;
		text_add(t, "; flavor %s ", row->flavor);
		if (of_all) {
			text_add(t, "has only ");
			text_add_amount(t, quota_potential(row), row->resource);
		} else {
			text_add(t, "has ");
			add_use(t, row);
			text_add(t, " %s in use", row->resource);
			add_left(t, row);
		}
		return;
	}
}

static void add_others(struct text *t, const struct lack *l, size_t except)
{
	size_t others = 0;
	for (size_t f = 0; f < l->group->nflavors; f++) {
		if (f == except || !claim_suits(l->claim, l->index, f))
			continue;
		if (others++ < OTHERS_TOLD)
			add_other(t, l, f);
	}
	if (others > OTHERS_TOLD)
		text_add(t, "; %zu more flavors do not do either", others - OTHERS_TOLD);
}

/* Who can do with fewer pods waits for the fewest. */
static void add_least(struct text *t, const struct need *n, const char *resource)
{
	if (n->least < n->amount)
		text_add(t, "at least ");
	text_add_amount(t, n->least, resource);
}

void lack_add_busy(struct text *t, const struct clusterqueue *cq, const struct claim *c)
{
	struct lack l = lack_of(cq, c, ASSIGN_BUSY);
	size_t flavor = closest_flavor(&l, false);
	const char *between = "waiting for ";
	for (size_t i = 0; i < l.nneeds; i++) {
		const struct quota_row *row = row_of(&l, flavor, &l.need[i]);
		if (missing_of(&l, flavor, &l.need[i], false) == 0)
			continue;
		text_add(t, "%s", between);
		add_least(t, &l.need[i], row->resource);
		if (*between == 'w')
			text_add(t, " in flavor %s", row->flavor);
		text_add(t, " (");
		add_use(t, row);
		text_add(t, " in use");
		add_left(t, row);
		text_add(t, ")");
		between = " and ";
	}
	add_others(t, &l, flavor);
}

void lack_add_excess(struct text *t, const struct clusterqueue *cq, const struct claim *c)
{
	struct lack l = lack_of(cq, c, ASSIGN_EXCEEDS);
	size_t flavor = closest_flavor(&l, true), i = 0;
	while (missing_of(&l, flavor, &l.need[i], true) == 0)
		i++;
	const struct quota_row *row = row_of(&l, flavor, &l.need[i]);
	text_add(t, "asks for ");
	if (l.need[i].least == INT64_MAX)
		text_add(t, "more %s than can be counted", row->resource);
	else
		add_least(t, &l.need[i], row->resource);
	text_add(t, ", more than the ");
	text_add_amount(t, quota_potential(row), row->resource);
	text_add(t, " that flavor %s has in ClusterQueue %s%s", row->flavor, cq->name,
		row->up ? ", with all that it may borrow" : "");
	add_others(t, &l, flavor);
	text_add(t, "; lower the request or raise nominalQuota");
}

static const char *effect_words(enum taint_effect effect)
{
	return effect == TAINT_NO_EXECUTE ? "NoExecute" : "NoSchedule";
}

static void add_mismatch(struct text *t, const struct flavor *f, const struct placement *p)
{
	const struct taint *taint = NULL;
	switch (placement_match(p, &f->nodes, &taint)) {
	case PLACEMENT_UNTOLERATED_TAINT:
		text_add(t, "untolerated taint %s%s%s:%s in flavor %s", taint->key,
			*taint->value ? "=" : "", taint->value, effect_words(taint->effect),
			f->name);
		break;
	case PLACEMENT_SELECTOR_MISMATCH:
		text_add(t, "flavor %s doesn't match node affinity", f->name);
		break;
	case PLACEMENT_FITS:
		break;
	}
}

void lack_add_mismatch(struct text *t, const struct clusterqueue *cq, const struct claim *c,
	const struct placement *p)
{
	struct lack l = lack_of(cq, c, ASSIGN_NO_FLAVOR);
	text_add(t,
		"no flavor for %s in ClusterQueue %s suits its pods: ", resource_of(&l, &l.need[0]),
		cq->name);
	for (size_t f = 0; f < l.group->nflavors; f++) {
		text_add(t, "%s", f ? ", " : "");
		add_mismatch(t, l.group->flavors[f], p);
	}
	text_add(t, "; correct the Job's tolerations, node selector or node affinity");
}
