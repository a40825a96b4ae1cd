#include "test/sim/take_back.h"

#include <string.h>

#include "queue/core/model/keys.h"
#include "test/sim/min_run.h"
#include "test/sim/promises_priv.h"
#include "test/sim/sim.h"

#define RUNS_MAX 16 /* of one ClusterQueue that may go; with more it is not judged */

struct asker {
	const struct sim *s;
	const struct config *cq;
	int32_t priority;
	const char *flavor, *resource; /* what lacks */
};

struct candidate {
	int32_t priority;
	int64_t amount;
};

/* ---- What is judged ---- */

static bool runs_plainly(const struct model_reservation *h, const struct model_job *j)
{
	const struct snap *n = j->now;
	return h->reservation.state == LEDGER_POSTED && !h->stopped && !n->gone &&
	       !n->job.deleting && !n->job.suspend && !n->job.status.complete &&
	       !n->job.status.failed && n->job.queue[0] && n->run && !n->run->outside;
}

/* Runs that end anyway go before others, and what they hold comes back. */
static bool all_run_plainly(const struct sim *s)
{
	const struct model_reservation *const *all;
	int32_t priority;
	for (size_t i = model_ledger_reservations(s->ledger, &all); i-- > 0;) {
		const struct model_job *j = model_api_by_uid(&s->api, &all[i]->reservation.uid);
		if (all[i]->open &&
			(!j || !runs_plainly(all[i], j) || !promises_priority(s, j, &priority)))
			return false;
	}
	return true;
}

/* cq hangs below a root Cohort, as all others in it do, and none has limits. */
static bool is_plain_tree(const struct sim *s, const struct config *cq)
{
	const struct config *root = config_parent(&s->people, cq);
	if (!root || config_parent(&s->people, root))
		return false;
	for (size_t i = 0; i < COHORTS; i++) {
		const struct config *c = &s->people.config[CONFIG_COHORT][i];
		if (c->exists && config_parent(&s->people, c) == root)
			return false;
	}
	for (size_t i = 0; i < CLUSTERQUEUES; i++) {
		const struct config *c = &s->people.config[CONFIG_CLUSTERQUEUE][i];
		if (config_parent(&s->people, c) == root && (c->lend >= 0 || c->borrow >= 0))
			return false;
	}
	return true;
}

static bool is_judged(const struct sim *s, const struct config *cq, int32_t priority)
{
	enum preemption_policy reclaim = cq->preemption.reclaim_within_cohort;
	return !s->people.queue.fair_sharing && !s->people.time && !s->cluster.on &&
	       !s->tenant.on && priority >= cq->gaps_below && cq->strategy == BEST_EFFORT_FIFO &&
	       (reclaim == PREEMPT_LOWER_PRIORITY || reclaim == PREEMPT_ANY) &&
	       is_plain_tree(s, cq) && all_run_plainly(s);
}

/* ---- What others would give back ---- */

static int64_t held_of(const struct asker *a, const struct model_reservation *h, const char *node)
{
	int64_t sum = 0;
	for (size_t i = 0; i < h->reservation.nlines; i++) {
		const struct quota_line *l = &h->reservation.lines[i];
		if (!strcmp(l->node, node) && !strcmp(l->flavor, a->flavor) &&
			!strcmp(l->resource, a->resource))
			sum += l->amount;
	}
	return sum;
}

/* A stop would end it as Complete. */
static bool goes_never(const struct job *j)
{
	return !j->has_completions && j->status.succeeded > 0;
}

/* By priority, the lowest first. False: too many. */
static bool list_candidates(const struct asker *a, const struct config *cq,
	struct candidate ret[RUNS_MAX], size_t *ret_n)
{
	char node[40];
	const struct model_reservation *const *all;
	config_node(cq, node);
	*ret_n = 0;
	for (size_t i = model_ledger_reservations(a->s->ledger, &all); i-- > 0;) {
		const struct model_job *j = model_api_by_uid(&a->s->api, &all[i]->reservation.uid);
		struct candidate c = {0, all[i]->open ? held_of(a, all[i], node) : 0};
		if (c.amount == 0 || goes_never(&j->now->job))
			continue;
		promises_priority(a->s, j, &c.priority);
		if (a->cq->preemption.reclaim_within_cohort != PREEMPT_ANY &&
			(c.priority >= a->priority || !min_run_is_over(a->s, all[i])))
			continue;
		if (*ret_n == RUNS_MAX)
			return false;
		size_t at = (*ret_n)++;
		for (; at > 0 && ret[at - 1].priority > c.priority; at--)
			ret[at] = ret[at - 1];
		ret[at] = c;
	}
	return true;
}

/* The least sum of some of them that is at least so much. */
static int64_t least_sum(const struct candidate *c, size_t n, int64_t at_least)
{
	int64_t least = INT64_MAX;
	for (uint32_t set = 0; set < 1u << n; set++) {
		int64_t sum = 0;
		for (size_t i = 0; i < n; i++)
			sum += set >> i & 1 ? c[i].amount : 0;
		if (sum >= at_least && sum < least)
			least = sum;
	}
	return least;
}

/* What cq gives back at least: from the lowest priority on, while it borrows. */
static int64_t given_back(const struct asker *a, const struct config *cq)
{
	struct candidate c[RUNS_MAX];
	struct quota_row_of row = {cq, a->flavor, a->resource};
	int64_t excess = promises_use(a->s, &row) - quota_nominal(&row), sum = 0;
	size_t n;
	if (excess <= 0 || !list_candidates(a, cq, c, &n))
		return 0;
	for (size_t from = 0, to; from < n && sum < excess; from = to) {
		int64_t all = 0;
		for (to = from; to < n && c[to].priority == c[from].priority; to++)
			all += c[to].amount;
		sum += sum + all < excess ? all : least_sum(c + from, to - from, excess - sum);
	}
	return sum;
}

static bool starts_jobs(const struct sim *s, const struct config *cq)
{
	bool flavors = !cq->covers_gpu || s->people.config[CONFIG_FLAVOR][GPU_FLAVOR].exists;
	for (size_t k = 0; k < cq->nflavors; k++)
		flavors = flavors && s->people.config[CONFIG_FLAVOR][cq->flavor[k]].exists;
	return flavors && cq->exists && !cq->stop && !config_is_cyclic(&s->people, cq);
}

static int64_t others_give_back(const struct asker *a)
{
	int64_t sum = 0;
	const struct config *root = config_parent(&a->s->people, a->cq);
	for (size_t i = 0; i < CLUSTERQUEUES; i++) {
		const struct config *c = &a->s->people.config[CONFIG_CLUSTERQUEUE][i];
		if (c != a->cq && config_parent(&a->s->people, c) == root && starts_jobs(a->s, c))
			sum += given_back(a, c);
	}
	return sum;
}

/* ---- One flavor ---- */

static bool possible_in(struct sim *s, const struct model_job *j, struct asker *a)
{
	static const char *const resource[] = {"cpu", "memory", "pods"};
	int64_t lacks = 0, pods = job_pods(&j->now->job);
	a->resource = NULL;
	for (size_t i = 0; i < (a->cq->covers_pods ? 3 : 2); i++) {
		struct quota_row_of row = {a->cq, a->flavor, resource[i]};
		int64_t want = pods * snap_asks(j->now, resource[i]);
		int64_t free = promises_free(s, &row);
		if (want > 0 && promises_use(s, &row) + want > quota_nominal(&row))
			return false;
		if (want == 0 || want <= free)
			continue;
		if (a->resource)
			return false;
		a->resource = resource[i];
		lacks = want - free;
	}
	if (!a->resource)
		return false;
	sim_reach(s, PATH_OWN_LENT);
	return others_give_back(a) >= lacks;
}

bool take_back_is_possible(
	struct sim *s, const struct model_job *j, const struct config *cq, int32_t priority)
{
	struct asker a = {.s = s, .cq = cq, .priority = priority};
	if (!is_judged(s, cq, priority) || snap_asks(j->now, "gpu") > 0)
		return false;
	for (size_t k = 0; k < cq->nflavors; k++) {
		a.flavor = flavor_names[cq->flavor[k]];
		if (lent_suits(s, j, cq->flavor[k]) && possible_in(s, j, &a))
			return true;
	}
	return false;
}

/* ---- The planted bug (the linker puts this between queue/admit and queue/preempt) -------------- */

static const struct sim *world; /* the one that runs */

void take_back_begin(const struct sim *s)
{
	world = s;
}

struct queue;
struct victims_survey;
void __real_victims_reach(struct queue *q, struct clusterqueue *cq, struct victims_survey *s,
	int64_t ret_reach[KEYS_MAX]);
void __wrap_victims_reach(struct queue *q, struct clusterqueue *cq, struct victims_survey *s,
	int64_t ret_reach[KEYS_MAX]);
void __wrap_victims_reach(struct queue *q, struct clusterqueue *cq, struct victims_survey *s,
	int64_t ret_reach[KEYS_MAX])
{
	__real_victims_reach(q, cq, s, ret_reach);
	if (world->o.bug == BUG_BORROWING_UNHEARD)
		memset(ret_reach, 0, KEYS_MAX * sizeof(*ret_reach));
}
