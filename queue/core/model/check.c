/*
 * Checks of a whole spec of a ClusterQueue or Cohort. The CRDs' CEL rules check the same earlier; but
 * objects can also come from `sluice simulate` or an old schema.
 */
#include <string.h>

#include "queue/core/model/clusterqueue.h"
#include "queue/core/model/cohort.h"
#include "queue/job/specs.h"

/* The object with the resource groups. */
struct owner {
	const char *kind, *name;
	const struct resource_group_spec *groups;
	size_t ngroups;
	const char *parent, *parent_field; /* the limits need a parent */
	bool lends_at_most_nominal;	   /* Kueue demands it of ClusterQueues only */
};

static int check_sizes(const struct owner *s, struct err *e)
{
	if (s->ngroups > CQ_GROUPS_MAX)
		return err_set(e, ERR_INVALID,
			"%s %s: spec.resourceGroups has %zu groups; at most %d are possible",
			s->kind, s->name, s->ngroups, CQ_GROUPS_MAX);
	for (size_t i = 0; i < s->ngroups; i++) {
		const struct resource_group_spec *g = &s->groups[i];
		if (g->nresources == 0 || g->nresources > CQ_RESOURCES_MAX)
			return err_set(e, ERR_INVALID,
				"%s %s: spec.resourceGroups[%zu].coveredResources lists %zu resources; list 1 to %d",
				s->kind, s->name, i, g->nresources, CQ_RESOURCES_MAX);
		if (g->nflavors == 0 || g->nflavors > CQ_FLAVORS_MAX)
			return err_set(e, ERR_INVALID,
				"%s %s: spec.resourceGroups[%zu].flavors lists %zu flavors; list 1 to %d",
				s->kind, s->name, i, g->nflavors, CQ_FLAVORS_MAX);
		if (g->nresources * g->nflavors > CQ_PAIRS_MAX)
			return err_set(e, ERR_INVALID,
				"%s %s: spec.resourceGroups[%zu] has %zu quotas; at most %d are possible in a group",
				s->kind, s->name, i, g->nresources * g->nflavors, CQ_PAIRS_MAX);
	}
	return 0;
}

/* True when one of the resources before (group, index) has the same name. */
static bool resource_seen(const struct owner *s, size_t group, size_t index)
{
	const char *name = s->groups[group].resources[index];
	for (size_t g = 0; g <= group; g++) {
		size_t n = g == group ? index : s->groups[g].nresources;
		for (size_t r = 0; r < n; r++)
			if (strcmp(s->groups[g].resources[r], name) == 0)
				return true;
	}
	return false;
}

static bool flavor_seen(const struct owner *s, size_t group, size_t index)
{
	const char *name = s->groups[group].flavors[index].flavor;
	for (size_t g = 0; g <= group; g++) {
		size_t n = g == group ? index : s->groups[g].nflavors;
		for (size_t f = 0; f < n; f++)
			if (strcmp(s->groups[g].flavors[f].flavor, name) == 0)
				return true;
	}
	return false;
}

static int check_names(const struct owner *s, size_t group, struct err *e)
{
	const struct resource_group_spec *g = &s->groups[group];
	for (size_t r = 0; r < g->nresources; r++)
		if (resource_seen(s, group, r))
			return err_set(e, ERR_INVALID,
				"%s %s: spec.resourceGroups[%zu].coveredResources lists %s a second time; a resource may be in one group only, once",
				s->kind, s->name, group, g->resources[r]);
	for (size_t f = 0; f < g->nflavors; f++)
		if (flavor_seen(s, group, f))
			return err_set(e, ERR_INVALID,
				"%s %s: spec.resourceGroups[%zu].flavors lists %s a second time; a flavor may be in one group only, once",
				s->kind, s->name, group, g->flavors[f].flavor);
	return 0;
}

/* A quota within an owner: spec.resourceGroups[group].flavors[flavor].resources[resource]. */
struct place {
	size_t group, flavor, resource;
};

/* Puts the field in front of what err_set said. */
static int at_field(const struct owner *s, const struct place *at, const char *field, struct err *e)
{
	err_wrap(e, "%s %s: spec.resourceGroups[%zu].flavors[%zu].resources[%zu].%s", s->kind,
		s->name, at->group, at->flavor, at->resource, field);
	return ERR_INVALID;
}

static int check_limits(const struct owner *s, const struct place *at, struct err *e)
{
	const struct flavor_quota_spec *f = &s->groups[at->group].flavors[at->flavor];
	const struct quota_spec *quota = &f->quotas[at->resource];
	const char *resource = quota->resource;
	const char *negative = quota->nominal < 0	    ? "nominalQuota"
			       : quota->borrowing_limit < 0 ? "borrowingLimit"
			       : quota->lending_limit < 0   ? "lendingLimit"
							    : NULL;
	const char *limit = quota->borrowing_limit != QUOTA_UNLIMITED ? "borrowingLimit"
			    : quota->lending_limit != QUOTA_UNLIMITED ? "lendingLimit"
								      : NULL;
	if (negative) {
		err_set(e, ERR_INVALID, "of %s in flavor %s is negative; it must be 0 or more",
			resource, f->flavor);
		return at_field(s, at, negative, e);
	}
	if (limit && !*s->parent) {
		err_set(e, ERR_INVALID,
			"of %s in flavor %s is set, but this is below no Cohort; set %s or remove the limit",
			resource, f->flavor, s->parent_field);
		return at_field(s, at, limit, e);
	}
	if (s->lends_at_most_nominal && quota->lending_limit != QUOTA_UNLIMITED &&
		quota->lending_limit > quota->nominal) {
		err_set(e, ERR_INVALID,
			"of %s in flavor %s is more than its nominalQuota; lower it", resource,
			f->flavor);
		return at_field(s, at, "lendingLimit", e);
	}
	return 0;
}

static int check_flavor(const struct owner *s, size_t group, size_t flavor, struct err *e)
{
	const struct resource_group_spec *g = &s->groups[group];
	const struct flavor_quota_spec *f = &g->flavors[flavor];
	if (f->nquotas != g->nresources)
		return err_set(e, ERR_INVALID,
			"%s %s: spec.resourceGroups[%zu].flavors[%zu].resources: flavor %s has quotas for %zu resources, its group covers %zu; list each of coveredResources, in the same order",
			s->kind, s->name, group, flavor, f->flavor, f->nquotas, g->nresources);
	for (size_t r = 0; r < f->nquotas; r++) {
		const struct place at = {group, flavor, r};
		if (strcmp(f->quotas[r].resource, g->resources[r]) != 0) {
			err_set(e, ERR_INVALID,
				"is %s where coveredResources has %s; list the resources of flavor %s in the same order",
				f->quotas[r].resource, g->resources[r], f->flavor);
			return at_field(s, &at, "name", e);
		}
		int code = check_limits(s, &at, e);
		if (code)
			return code;
	}
	return 0;
}

static int check_groups(const struct owner *s, struct err *e)
{
	int code = check_sizes(s, e);
	for (size_t i = 0; code == 0 && i < s->ngroups; i++) {
		code = check_names(s, i, e);
		for (size_t f = 0; code == 0 && f < s->groups[i].nflavors; f++)
			code = check_flavor(s, i, f, e);
	}
	return code;
}

/* Kueue's bound: a smaller weight would make a share too large to compare. */
static int check_weight(const struct owner *s, double weight, struct err *e)
{
	if (weight == 0 || weight > 1e-9)
		return 0;
	return err_set(e, ERR_INVALID, "%s %s: spec.fairSharing.weight must be 0 or more than 1e-9",
		s->kind, s->name);
}

static int check_policies(const struct clusterqueue_spec *s, struct err *e)
{
	const struct preemption_spec *p = &s->preemption;
	const struct fungibility_spec *f = &s->fungibility;
	int code = clusterqueue_spec_bounds(s, "spec.", e);
	if (code == 0)
		code = preemption_spec_bounds(p, "spec.preemption.", e);
	if (code) {
		err_wrap(e, "ClusterQueue %s", s->name);
		return code;
	}
	if (p->borrow_within_cohort && p->reclaim_within_cohort == PREEMPT_NEVER)
		return err_set(e, ERR_INVALID,
			"ClusterQueue %s: spec.preemption.borrowWithinCohort needs reclaimWithinCohort LowerPriority or Any; set it or remove borrowWithinCohort",
			s->name);
	if (f->prefer_preemption && (!f->next_when_borrowing || f->stop_when_preempting))
		return err_set(e, ERR_INVALID,
			"ClusterQueue %s: spec.flavorFungibility.preference PreemptionOverBorrowing needs whenCanBorrow and whenCanPreempt to be TryNextFlavor; set them or remove the preference",
			s->name);
	return 0;
}

int clusterqueue_check(const struct clusterqueue_spec *s, struct err *e)
{
	struct owner owner = {
		"ClusterQueue", s->name, s->groups, s->ngroups, s->cohort, "spec.cohortName", true};
	int code = check_groups(&owner, e);
	if (code == 0)
		code = check_weight(&owner, s->weight, e);
	return code ? code : check_policies(s, e);
}

int cohort_check(const struct cohort_spec *s, struct err *e)
{
	struct owner owner = {
		"Cohort", s->name, s->groups, s->ngroups, s->parent, "spec.parentName", false};
	int code = check_groups(&owner, e);
	return code ? code : check_weight(&owner, s->weight, e);
}
