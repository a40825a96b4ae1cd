#include "test/sim/promises.h"

#include <stdio.h>
#include <string.h>

#include "test/sim/promises_priv.h"
#include "test/sim/take_back.h"

typedef long long ll;

/* ---- P1: pods and ledger ------------------------------------------------------------------------
 */

/* What all pods of j that Sluice let in take of one row. */
static int64_t real_use(
	const struct sim *s, const struct model_job *j, const struct quota_line *row)
{
	int64_t sum = 0;
	for (const struct model_pod *p = s->jobs.first; p; p = p->next) {
		if (p->of != j || !pod_exists(p) || !p->run || p->run->outside)
			continue;
		for (size_t i = 0; i < p->run->nlines; i++)
			if (!strcmp(p->run->line[i].flavor, row->flavor) &&
				!strcmp(p->run->line[i].node, row->node) &&
				!strcmp(p->run->line[i].resource, row->resource))
				sum += snap_asks(p->template, row->resource);
	}
	return sum;
}

static int64_t held_use(
	const struct sim *s, const struct model_job *j, const struct quota_line *row)
{
	const struct model_reservation *const *holds;
	int64_t sum = 0;
	for (size_t i = model_ledger_reservations(s->ledger, &holds); i-- > 0;) {
		const struct ledger_reservation *h = &holds[i]->reservation;
		if (!holds[i]->open || uid_cmp(&h->uid, &j->now->job.uid))
			continue;
		for (size_t k = 0; k < h->nlines; k++)
			if (!strcmp(h->lines[k].flavor, row->flavor) &&
				!strcmp(h->lines[k].node, row->node) &&
				!strcmp(h->lines[k].resource, row->resource))
				sum += h->lines[k].amount;
	}
	return sum;
}

/* Job by Job, which is more than the promise asks: no Job may live on another's quota. */
static void check_real_use(struct sim *s)
{
	const struct model_run *last = NULL;
	for (const struct model_pod *p = s->jobs.first; p; p = p->next) {
		if (!pod_exists(p) || !p->run || p->run->outside || p->run == last)
			continue;
		last = p->run;
		for (size_t i = 0; i < last->nlines; i++) {
			int64_t real = real_use(s, p->of, &last->line[i]);
			int64_t held = held_use(s, p->of, &last->line[i]);
			if (real > held)
				sim_break(s, "P1",
					"real use <= ledger use: pods of %s/%s use %lld of %s %s "
					"%s, "
					"the ledger holds %lld for it",
					p->of->now->job.ns, p->of->now->job.name, (ll)real,
					last->line[i].node, last->line[i].flavor,
					last->line[i].resource, (ll)held);
		}
	}
}

/* What all pods that Sluice let in take at a row: there, and beyond what is guaranteed to each of
 * its children below it. */
static int64_t real_at(
	const struct sim *s, const struct model_row *rows, size_t n, const struct model_row *r)
{
	int64_t sum = 0;
	for (const struct model_pod *p = s->jobs.first; p; p = p->next)
		for (size_t i = 0; pod_exists(p) && p->run && i < p->run->nlines; i++)
			if (!p->run->outside && !strcmp(p->run->line[i].node, r->node) &&
				!strcmp(p->run->line[i].flavor, r->flavor) &&
				!strcmp(p->run->line[i].resource, r->resource))
				sum += snap_asks(p->template, r->resource);
	for (size_t i = 0; i < n; i++) {
		const struct model_row *c = &rows[i];
		if (!c->linked || &rows[c->up] != r)
			continue;
		int64_t use = real_at(s, rows, n, c);
		sum += use > c->guaranteed ? use - c->guaranteed : 0;
	}
	return sum;
}

/* At each node above the ClusterQueues. That ledger use is under the ceiling there as well,
 * model_ledger_check() says of every row. */
static void check_real_use_above(struct sim *s)
{
	const struct model_row *rows;
	size_t n = model_ledger_rows(s->ledger, &rows);
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].is_parent)
			continue;
		int64_t real = real_at(s, rows, n, &rows[i]);
		int64_t use =
			model_ledger_use(s->ledger, rows[i].node, rows[i].flavor, rows[i].resource);
		if (real > use)
			sim_break(s, "P1",
				"real use <= ledger use: pods below %s use %lld of %s %s, the "
				"ledger "
				"says %lld",
				rows[i].node, (ll)real, rows[i].flavor, rows[i].resource, (ll)use);
	}
}

static bool is_over(const struct job *j)
{
	return j->status.complete || j->status.failed;
}

static void check_started(struct sim *s)
{
	for (const struct model_job *j = s->api.first; j; j = j->next) {
		const struct snap *n = j->now;
		if (n->gone || n->job.deleting || n->job.suspend || is_over(&n->job) || !n->run ||
			n->run->outside)
			continue;
		const struct model_reservation *h =
			model_ledger_reservation(s->ledger, &n->job.uid, n->run->attempt);
		/* What an adopted Job said before goes with its story, and etcd may go back to before that. */
		if (n->job.annotations.waiting && n->job.admission.attempt == n->run->attempt)
			sim_break(s, "P2", "%s/%s is let run and still says why it waits: %s",
				n->job.ns, n->job.name, n->job.annotations.waiting);
		if (!h || !h->open)
			sim_break(s, "P2",
				"%s/%s is let run as attempt %d: expected its hold to be open, it "
				"is %s",
				n->job.ns, n->job.name, n->run->attempt,
				!h			      ? "missing"
				: h->closed_by == LEDGER_VOID ? "void"
							      : "released");
	}
}

static bool row_is_kept(const struct sim *s, const struct model_ledger *l,
	const struct model_row *like, int64_t *ret)
{
	const struct model_row *rows;
	size_t n = model_ledger_rows(l, &rows);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].node, like->node) && !strcmp(rows[i].flavor, like->flavor) &&
			!strcmp(rows[i].resource, like->resource)) {
			*ret = real_at(s, rows, n, &rows[i]);
			return *ret <= rows[i].bound;
		}
	*ret = 0;
	return false;
}

/* While the ledger lacks what it lost: what runs is within the quota, as it was then, or is now (the
 * tree may be another one). */
static void check_quota(struct sim *s, const struct model_ledger *before)
{
	const struct model_row *rows;
	size_t n = model_ledger_rows(before, &rows);
	int64_t then, now;
	for (size_t i = 0; i < n; i++)
		if (!row_is_kept(s, before, &rows[i], &then) &&
			!row_is_kept(s, s->ledger, &rows[i], &now))
			sim_break(s, "P1",
				"real use <= quota after a loss: pods at %s use %lld of %s %s, as "
				"of then and %lld as of now; it had %lld",
				rows[i].node, (ll)then, rows[i].flavor, rows[i].resource, (ll)now,
				(ll)rows[i].bound);
}

void promises_check(struct sim *s)
{
	struct buf why;
	buf_init(&why, 1000);
	if (!model_ledger_check(s->ledger, &why))
		sim_break(s, strstr(buf_text(&why), "both open") ? "P2" : "P1", "the ledger: %s",
			buf_text(&why));
	buf_done(&why);
	const struct model_ledger *before = failover_gap(s);
	if (before) {
		check_quota(s, before);
		return;
	}
	check_real_use(s);
	check_real_use_above(s);
	check_started(s);
}

/* ---- P2, P3, P4 when quiet ----------------------------------------------------------------------
 */

static struct replica *leader(struct sim *s)
{
	struct replica *found = NULL;
	for (size_t i = 0; i < s->nreplicas; i++) {
		struct replica *r = &s->replica[i];
		if (!r->up || !gate_leading(r->gate))
			continue;
		if (found)
			sim_break(s, "P2", "one leader: %s and %s both lead", found->identity,
				r->identity);
		found = r;
	}
	if (!found)
		sim_break(s, "P7", "somebody leads when all is quiet: nobody does");
	return found;
}

static bool is_queued(const struct snap *n)
{
	return !n->gone && n->job.queue[0] && !is_over(&n->job);
}

/* The gate is asked by name: another Job of that name may be what it means. */
static bool held_by_name(const struct sim *s, const struct snap *n)
{
	for (const struct model_job *j = s->api.first; j; j = j->next)
		if (!strcmp(j->now->job.name, n->job.name) &&
			model_ledger_open_reservation(s->ledger, &j->now->job.uid))
			return true;
	return false;
}

static void check_known(struct sim *s, const struct replica *r)
{
	struct gate_counts c;
	gate_count(r->gate, &c);
	size_t expected = 0, phases = 0;
	for (size_t i = 0; i < sizeof(c.by_phase) / sizeof(c.by_phase[0]); i++)
		phases += c.by_phase[i];
	for (const struct model_job *j = s->api.first; j; j = j->next) {
		const struct snap *n = j->now;
		struct explanation x = {0};
		bool queued = is_queued(n);
		expected += queued || model_ledger_open_reservation(s->ledger, &j->now->job.uid);
		if (queued && !n->job.deleting &&
			!gate_explain(r->gate, n->job.ns, n->job.name, s->now_ms + r->skew_ms, &x))
			sim_break(s, "P2",
				"%s/%s is queued: expected the leader to know it, it does not",
				n->job.ns, n->job.name);
		if (!queued && !held_by_name(s, n) &&
			!model_api_find(&s->api, n->job.ns, n->job.name) &&
			gate_explain(r->gate, n->job.ns, n->job.name, s->now_ms + r->skew_ms, &x))
			sim_break(s, "P2",
				"%s/%s is gone: expected the leader to forget it, it says '%s'",
				n->job.ns, n->job.name, x.sentence);
		/* Of work that has failed or succeeded only pods are left that go. */
		bool ends = n->failing || n->succeeding;
		if (queued && !n->job.suspend && !n->job.deleting && !newcomers_kept_out(&x) &&
			!(ends && !model_jobs_working(&s->jobs, j)) &&
			!model_ledger_open_reservation(s->ledger, &j->now->job.uid))
			sim_break(s, "P2", "%s/%s runs without a hold: expected it to be stopped",
				n->job.ns, n->job.name);
	}
	if (c.jobs != phases || c.jobs != expected)
		sim_break(s, "P2",
			"the leader knows %zu Jobs, %zu by phase (%zu wait, %zu drain); expected "
			"%zu",
			c.jobs, phases, c.by_phase[0], c.by_phase[6], expected);
	if (c.queued_operations)
		sim_break(s, "P3", "expected every operation to be durable, %llu are not",
			(unsigned long long)c.queued_operations);
}

static int64_t reserved_in(const struct usage_view *usage, size_t n, const struct model_row *row)
{
	for (size_t k = 0; k < n; k++)
		if (!strcmp(usage[k].flavor, row->flavor) &&
			!strcmp(usage[k].resource, row->resource))
			return usage[k].reserved;
	return -1;
}

/* What the queue says that a row uses; -1 when it has no such row. */
static int64_t queue_use(const struct replica *r, const struct model_row *row)
{
	struct clusterqueue_view v;
	struct cohort_view c;
	const char *name = strchr(row->node, '/');
	if (!name++)
		return -1;
	for (size_t i = 0;
		!strncmp(row->node, "cq/", 3) && queue_view_clusterqueue(r->queue, i, &v); i++)
		if (!strcmp(name, v.name))
			return reserved_in(v.usage, v.nusage, row);
	for (size_t i = 0; !strncmp(row->node, "cohort/", 7) && queue_view_cohort(r->queue, i, &c);
		i++)
		if (!strcmp(name, c.name) && c.active)
			return reserved_in(c.usage, c.nusage, row);
	return -1;
}

void promises_check_books(struct sim *s)
{
	struct replica *r = leader(s);
	const struct model_row *rows;
	size_t n = model_ledger_rows(s->ledger, &rows);
	for (size_t i = 0; r && i < n; i++) {
		int64_t queue = queue_use(r, &rows[i]);
		int64_t ledger =
			model_ledger_use(s->ledger, rows[i].node, rows[i].flavor, rows[i].resource);
		if (queue >= 0 && queue != ledger)
			sim_break(s, "P2",
				"%s counts %lld of %s %s %s as held, the ledger holds %lld",
				r->identity, (ll)queue, rows[i].node, rows[i].flavor,
				rows[i].resource, (ll)ledger);
	}
}

static bool never_ends(const struct sim *s, const struct model_job *j)
{
	for (const struct model_pod *p = s->jobs.first; p; p = p->next)
		if (p->of == j && pod_exists(p) && cluster_never_binds(s, p))
			return true;
	return cluster_never_admits(s, j);
}

static void check_open(struct sim *s, const struct model_reservation *h, bool all_ended)
{
	const struct model_job *j = model_api_by_uid(&s->api, &h->reservation.uid);
	const struct snap *n = j->now;
	bool runs = !n->gone && !n->job.deleting && !n->job.suspend && !is_over(&n->job) &&
		    n->run && (!n->run->outside || n->run->raised) &&
		    n->run->attempt == h->reservation.attempt;
	if (!all_ended && runs && h->reservation.state == LEDGER_POSTED)
		return;
	/* Without the label it is not ours to judge, but it keeps what it holds until it ends. So does
	 * one whose work is over, and whose pods are still going. */
	bool ends = n->failing || n->succeeding;
	if (!all_ended && (!runs || ends || !n->job.queue[0]) && model_jobs_pods(&s->jobs, j))
		return;
	if (all_ended && never_ends(s, j))
		return;
	static const char *const states[] = {"pending", "posted", "releasing"};
	sim_break(s, "P3",
		"attempt %d of %s/%s is %s: expected %s; it is %s with %zu pods, story %s",
		h->reservation.attempt, n->job.ns, n->job.name, states[h->reservation.state],
		all_ended ? "no open hold" : "posted with a running Job, or pods that are left",
		n->gone		   ? "deleted"
		: is_over(&n->job) ? "finished"
		: n->job.suspend   ? "suspended"
				   : "unsuspended",
		model_jobs_pods(&s->jobs, j),
		n->job.admission.story ? n->job.admission.story : "none");
}

static void check_closed(struct sim *s, const struct model_reservation *h)
{
	const struct model_job *j = model_api_by_uid(&s->api, &h->reservation.uid);
	if (j->kept && !j->now->gone && h->close.reason && !strcmp(h->close.reason, "Deleted"))
		sim_reach(s, PATH_TENANT_KEPT_GIVEN);
	const char *name = h->reservation.name;
	if ((h->closed_by == LEDGER_RELEASE) != h->committed)
		sim_break(s, "P3", "attempt %d of %s: %s %s COMMIT", h->reservation.attempt, name,
			ledger_kind_name(h->closed_by), h->committed ? "after" : "without");
	if (!h->close.reason || !h->close.reason[0] || !h->close.actor || !h->close.actor[0] ||
		h->close.at_ms <= 0 || h->close.lost_ms < 0)
		sim_break(s, "P4",
			"attempt %d of %s was given back: reason '%s', actor '%s', at %lld, lost "
			"%lld",
			h->reservation.attempt, name, h->close.reason ? h->close.reason : "",
			h->close.actor ? h->close.actor : "", (ll)h->close.at_ms,
			(ll)h->close.lost_ms);
	if (h->stopped &&
		(!h->stop.reason || !h->stop.reason[0] || !h->stop.actor || !h->stop.actor[0]))
		sim_break(s, "P4", "attempt %d of %s was stopped without reason or actor",
			h->reservation.attempt, name);
}

/* Each stop of ours that landed on a Job at work. One that ended by itself meanwhile lost nothing
 * worth telling; what a leader knew that died before it wrote the STOP is not known; and where
 * our story was taken away, the run cannot be told from an intruder's. */
static void check_stops(struct sim *s)
{
	for (const struct stop_seen *t = s->stops; t; t = t->next) {
		const struct model_reservation *h =
			model_ledger_reservation(s->ledger, &t->uid, t->attempt);
		const struct model_job *j = model_api_by_uid(&s->api, &t->uid);
		if (!h || h->open || h->close_epoch != t->epoch || j->vandalized ||
			is_over(&j->now->job))
			continue;
		int64_t lost =
			h->stop.lost_ms > h->close.lost_ms ? h->stop.lost_ms : h->close.lost_ms;
		if (t->worked && lost <= 0)
			sim_break(s, "P4",
				"attempt %d of %s was stopped at work: expected the work it lost, "
				"seen %lld",
				t->attempt, h->reservation.name, (ll)lost);
	}
}

/* ---- P7 -----------------------------------------------------------------------------------------
 */

const struct config *promises_config(const struct sim *s, const struct model_job *j)
{
	for (size_t i = 0; i < LOCALQUEUES; i++) {
		const struct config *lq = &s->people.config[CONFIG_LOCALQUEUE][i];
		if (strcmp(localqueue_names[i], j->now->job.queue) ||
			strcmp(namespace_names[localqueue_namespace(i)], j->now->job.ns))
			continue;
		const struct config *cq = &s->people.config[CONFIG_CLUSTERQUEUE][lq->clusterqueue];
		if (!lq->exists || lq->stop || !cq->exists || cq->stop ||
			config_is_cyclic(&s->people, cq))
			return NULL;
		for (size_t k = 0; k < cq->nflavors; k++)
			if (!s->people.config[CONFIG_FLAVOR][cq->flavor[k]].exists)
				return NULL;
		if (cq->covers_gpu && !s->people.config[CONFIG_FLAVOR][GPU_FLAVOR].exists)
			return NULL;
		return cq;
	}
	return NULL;
}

int64_t promises_use(const struct sim *s, const struct quota_row_of *r)
{
	char node[40];
	config_node(r->node, node);
	return model_ledger_use(s->ledger, node, r->flavor, r->resource);
}

/* Reference 3.2, in plain recursion on what admins describe and what the ledger holds. */
int64_t promises_free(const struct sim *s, const struct quota_row_of *r)
{
	const struct people *p = &s->people;
	const struct config *parent = config_parent(p, r->node);
	int64_t use = promises_use(s, r), subtree = quota_subtree(p, r), local = quota_local(p, r);
	int64_t limit = quota_borrowing_limit(p, r);
	if (!parent)
		return subtree - use;
	int64_t above = promises_free(s, &(struct quota_row_of){parent, r->flavor, r->resource});
	int64_t beyond = use > local ? use - local : 0;
	if (limit != QUOTA_UNLIMITED && subtree - local - beyond + limit < above)
		above = subtree - local - beyond + limit;
	return (use < local ? local - use : 0) + above;
}

static bool row_fits(const struct sim *s, const struct config *cq, size_t flavor,
	const char *resource, int64_t want)
{
	struct quota_row_of r = {cq, flavor_names[flavor], resource};
	return want == 0 || want <= promises_free(s, &r);
}

/* One flavor at a time, in plain arithmetic. */
static bool fits(
	const struct sim *s, const struct model_job *j, const struct config *cq, int32_t priority)
{
	const struct snap *n = j->now;
	if (!cluster_has_room(s, j, cq, priority))
		return false;
	int64_t pods = job_pods(&n->job), gpu = pods * snap_asks(n, "gpu");
	if (gpu && (!cq->covers_gpu || !row_fits(s, cq, GPU_FLAVOR, "gpu", gpu)))
		return false;
	for (size_t k = 0; k < cq->nflavors; k++)
		if (lent_suits(s, j, cq->flavor[k]) &&
			row_fits(s, cq, cq->flavor[k], "cpu", pods * snap_asks(n, "cpu")) &&
			row_fits(s, cq, cq->flavor[k], "memory", pods * snap_asks(n, "memory")) &&
			(!cq->covers_pods || row_fits(s, cq, cq->flavor[k], "pods", pods)))
			return true;
	return false;
}

bool promises_priority(const struct sim *s, const struct model_job *j, int32_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < CLASSES; i++) {
		const struct config *c = &s->people.config[CONFIG_CLASS][i];
		if (strcmp(class_names[i], j->now->job.priority_class))
			continue;
		*ret = c->value;
		return c->exists;
	}
	return true;
}

/* It may wait for what it asked for itself: a time, a price. */
static bool has_terms(const struct job *j)
{
	return j->terms.start_after_ms > 0 || j->terms.cheapest || j->terms.has_max_price;
}

static bool waits(const struct sim *s, const struct model_job *j)
{
	const struct snap *n = j->now;
	return is_queued(n) && n->job.suspend && !n->job.deleting && !n->job.hold &&
	       !n->job.invalid && model_jobs_pods(&s->jobs, j) == 0 &&
	       !model_ledger_open_reservation(s->ledger, &j->now->job.uid) && job_pods(&n->job) > 0;
}

/* Its place among those of its priority. */
static int64_t queued_ms(const struct sim *s, const struct model_job *j)
{
	int64_t evicted = j->now->job.admission.history.evicted_ms;
	return evicted > 0 && !s->people.queue.requeue_at_creation ? evicted
								   : j->now->job.created_ms;
}

static const struct config *root_of(const struct sim *s, const struct config *c)
{
	for (const struct config *up; (up = config_parent(&s->people, c));)
		c = up;
	return c;
}

/* What is free in a Cohort may be kept for the first of a StrictFIFO queue in it, and anywhere for
 * those for which others were stopped, as long as these have pods left, even from themselves (what
 * they were promised is of one flavor). When in doubt, it is. */
static bool may_be_kept(const struct sim *s, const struct replica *r, const struct config *cq)
{
	for (const struct model_job *o = s->api.first; o; o = o->next) {
		struct explanation x = {0};
		const struct config *its = waits(s, o) ? promises_config(s, o) : NULL;
		if (!its || root_of(s, its) != root_of(s, cq))
			continue;
		if (its != cq && its->strategy == STRICT_FIFO)
			return true;
		if (gate_explain(r->gate, o->now->job.ns, o->now->job.name, s->now_ms + r->skew_ms,
			    &x) &&
			x.reason == WAIT_PREEMPTED)
			return true;
	}
	return false;
}

/* It was stopped for another, and has pods left: it waits at its old place as soon as they are
 * gone. In a StrictFIFO queue those behind that place wait for it (queue/core/admit/nominate.h,
 * workload_returning_before()). Its story may tell of another reason, or of none: its owner may have
 * suspended it before another Job was to have its room. */
static bool returns(const struct sim *s, const struct model_job *j)
{
	const struct snap *n = j->now;
	return is_queued(n) && n->job.suspend && !n->job.deleting && !n->job.hold &&
	       !n->job.invalid && model_ledger_open_reservation(s->ledger, &n->job.uid);
}

/* StrictFIFO: is another surely not behind j? When in doubt, yes. */
static bool may_be_blocked(const struct sim *s, const struct model_job *j, const struct config *cq)
{
	int32_t mine, its;
	if (cq->strategy != STRICT_FIFO)
		return false;
	promises_priority(s, j, &mine);
	for (const struct model_job *o = s->api.first; o; o = o->next) {
		if (o == j || !(waits(s, o) || returns(s, o)) || promises_config(s, o) != cq ||
			pipelines_surely_waits(s, o))
			continue;
		if (!promises_priority(s, o, &its))
			return true;
		bool before = its > mine || o->now->job.terms.deadline_ms > 0 ||
			      (its == mine && queued_ms(s, o) <= queued_ms(s, j));
		if (before && its >= cq->gaps_below) /* below that it only fills gaps */
			return true;
	}
	return false;
}

/* True: a Job was left out that may have to wait for a while (queue/job/stop_rate.h, and
 * decide_back_offs_shorten() where a clock was set back), or did until this moment, or waits until a start
 * comes that another one has booked. */
static bool check_admitted(struct sim *s, struct replica *r, bool pauses_over)
{
	bool left_out = false;
	for (const struct model_job *j = s->api.first; j; j = j->next) {
		int32_t priority;
		const struct config *cq = waits(s, j) ? promises_config(s, j) : NULL;
		if (!cq || !promises_priority(s, j, &priority) || has_terms(&j->now->job) ||
			!pipelines_surely_ready(s, j) || users_may_wait(s, j) ||
			may_be_blocked(s, j, cq) || may_be_kept(s, r, cq))
			continue;
		bool fit = fits(s, j, cq, priority);
		if (!fit && !take_back_is_possible(s, j, cq, priority))
			continue;
		struct explanation x = {.sentence = "it does not know it"};
		gate_explain(r->gate, j->now->job.ns, j->now->job.name, s->now_ms + r->skew_ms, &x);
		bool pauses = x.reason == WAIT_BACK_OFF || x.reason == WAIT_PENDING_EVALUATION ||
			      x.reason == WAIT_BEHIND;
		if (pauses && !pauses_over) {
			left_out = true;
			continue;
		}
		sim_break(s, "P7", "%s/%s waits though it %s %s: %s says '%s'", j->now->job.ns,
			j->now->job.name, fit ? "fits in" : "could take back what is lent of",
			clusterqueue_names[cq->index], r->identity, x.sentence);
	}
	return left_out;
}

/* What the worlds with a cluster are for. */
static void count_waiting(struct sim *s, const struct replica *r)
{
	struct explanation x;
	for (const struct model_job *j = s->api.first; s->cluster.on && j; j = j->next) {
		if (!waits(s, j) || !gate_explain(r->gate, j->now->job.ns, j->now->job.name,
					    s->now_ms + r->skew_ms, &x))
			continue;
		if (x.reason == WAIT_NAMESPACE_QUOTA)
			sim_reach(s, PATH_WAITS_QUOTA);
		if (x.reason == WAIT_NODES_FULL || x.reason == WAIT_NEVER_FITS)
			sim_reach(s, PATH_WAITS_NODES);
	}
}

static bool covers(const struct config *c, const char *flavor, const char *resource)
{
	if (!strcmp(flavor, flavor_names[GPU_FLAVOR]))
		return c->covers_gpu && !strcmp(resource, "gpu");
	for (size_t k = 0; k < c->nflavors; k++)
		if (!strcmp(flavor, flavor_names[c->flavor[k]]))
			return !strcmp(resource, "cpu") || !strcmp(resource, "memory") ||
			       (!strcmp(resource, "pods") && c->covers_pods);
	return false;
}

static const struct config *config_of_node(const struct sim *s, const char *node)
{
	for (int k = 0; k < 2; k++) {
		enum config_kind kind = k ? CONFIG_CLUSTERQUEUE : CONFIG_COHORT;
		for (size_t i = 0; i < config_count(kind); i++) {
			char name[40];
			config_node(&s->people.config[kind][i], name);
			if (!strcmp(name, node))
				return &s->people.config[kind][i];
		}
	}
	return NULL;
}

/* -1: no queue of today has such a row. What the ledger says of that is history: a leader that came
 * later never heard of it, and nothing can be reserved there. A Cohort that is only named may be gone
 * with what named it. */
static int64_t ceiling_of(const struct sim *s, const struct model_row *row)
{
	const struct config *c = config_of_node(s, row->node);
	struct quota_row_of r = {c, row->flavor, row->resource};
	if (!c || !c->exists || config_is_cyclic(&s->people, c) ||
		(c->kind == CONFIG_CLUSTERQUEUE && !covers(c, row->flavor, row->resource)))
		return -1;
	int64_t limit = quota_borrowing_limit(&s->people, &r);
	if (c->kind == CONFIG_COHORT && quota_subtree(&s->people, &r) == 0)
		return -1;
	if (!config_parent(&s->people, c))
		return quota_subtree(&s->people, &r);
	return limit == QUOTA_UNLIMITED ? QUOTA_UNLIMITED : quota_subtree(&s->people, &r) + limit;
}

static void check_ceilings(struct sim *s)
{
	const struct model_row *rows;
	size_t n = model_ledger_rows(s->ledger, &rows);
	for (size_t i = 0; i < n; i++) {
		int64_t expected = ceiling_of(s, &rows[i]);
		if (expected >= 0 && rows[i].ceiling != expected)
			sim_break(s, "P7",
				"the ledger's ceiling of %s %s %s is %lld; expected today's quota, "
				"%lld",
				rows[i].node, rows[i].flavor, rows[i].resource, (ll)rows[i].ceiling,
				(ll)expected);
	}
}

/* Fewer pods for a run are Sluice's doing, and over with the run. */
static void check_counts(struct sim *s)
{
	for (const struct model_job *j = s->api.first; j; j = j->next)
		if (is_queued(j->now) && j->now->job.suspend && !j->vandalized &&
			!j->now->job.deleting && j->now->job.parallelism != j->wrote)
			sim_break(s, "P2",
				"%s/%s waits: expected its owner's parallelism, %d, it is %d",
				j->now->job.ns, j->now->job.name, j->wrote,
				j->now->job.parallelism);
}

/* Suspended in the moment in which its work ended: it is let run when its pods are gone, so that it is
 * complete or failed. */
static void check_endings(struct sim *s)
{
	for (const struct model_job *j = s->api.first; j; j = j->next) {
		const struct snap *n = j->now;
		bool over = n->failing || n->succeeding;
		if (is_queued(n) && over && n->job.suspend && !is_over(&n->job) &&
			!n->job.deleting && !n->job.uncontrolled && !n->job.status.has_start_time &&
			!model_jobs_pods(&s->jobs, j))
			sim_break(s, "P7",
				"%s/%s has nothing left to do: expected it to be let end, it waits",
				n->job.ns, n->job.name);
	}
}

/* ---- P6: what the segments of its period say is what a Budget has spent ------------------------
 */

static int64_t segments_of(const struct sim *s, const struct budget_view *v)
{
	const struct model_reservation *const *holds;
	int64_t sum = 0;
	for (size_t i = model_ledger_reservations(s->ledger, &holds); i-- > 0;) {
		const struct model_reservation *h = holds[i];
		if (!h->open && h->committed && h->bill.priced &&
			strcmp(h->reservation.clusterqueue, v->clusterqueue) == 0 &&
			strcmp(h->bill.currency, v->currency) == 0 &&
			h->reservation.started_ms >= v->period_from_ms &&
			h->reservation.started_ms < v->period_to_ms)
			sum += h->bill.cost;
	}
	return sum;
}

/* Of a Job that is gone, with a pod that no node ever takes. */
static bool keeps_quota(const struct sim *s)
{
	const struct model_reservation *const *holds;
	for (size_t i = model_ledger_reservations(s->ledger, &holds); i-- > 0;)
		if (holds[i]->open &&
			never_ends(s, model_api_by_uid(&s->api, &holds[i]->reservation.uid)))
			return true;
	return false;
}

static void check_budgets(struct sim *s, const struct replica *r, bool all_ended)
{
	struct budget_view v;
	for (size_t i = 0; queue_view_budget(r->queue, i, &v); i++) {
		int64_t sum = segments_of(s, &v);
		if (sum > 0)
			sim_reach(s, PATH_BUDGET_ADDS_UP);
		if (v.spent != sum)
			sim_break(s, "P6",
				"Budget %s of %s: %s says that %lld was spent, the segments of its "
				"period say %lld",
				v.name, v.clusterqueue, r->identity, (ll)v.spent, (ll)sum);
		if (all_ended && v.reserved != 0 && !keeps_quota(s))
			sim_break(s, "P6", "Budget %s: nothing runs, and %lld is reserved", v.name,
				(ll)v.reserved);
	}
}

/* ---- P1 and P11 at rest --------------------------------------------------------------------
 */

/* What all its pods that go on take, let in or not. */
static int64_t all_use(const struct sim *s, const struct model_job *j, const char *resource)
{
	int64_t sum = 0;
	for (const struct model_pod *p = s->jobs.first; p; p = p->next)
		if (p->of == j && p->state == POD_RUNNING)
			sum += snap_asks(p->template, resource);
	return sum;
}

static int64_t all_held(const struct sim *s, const struct model_job *j, const char *resource)
{
	const struct model_reservation *h =
		model_ledger_open_reservation(s->ledger, &j->now->job.uid);
	int64_t sum = 0;
	for (size_t i = 0; h && i < h->reservation.nlines; i++)
		if (!strcmp(h->reservation.lines[i].resource, resource))
			sum += h->reservation.lines[i].amount;
	return sum;
}

/* It ran before it was queued, and its queue cannot take it. */
static bool is_kept_out(struct sim *s, const struct snap *n)
{
	struct explanation x = {0};
	const struct replica *r = leader(s);
	return s->o.newcomers && r &&
	       gate_explain(r->gate, n->job.ns, n->job.name, s->now_ms + r->skew_ms, &x) &&
	       newcomers_kept_out(&x);
}

/* Whatever client unsuspended them, and also where they were raised since: in the end all is
 * reserved. But pods of a Job that was deleted before it could be stopped run on: nothing stops
 * them; and what was started by mistake cannot be told (restore.h). */
static void check_pods(struct sim *s)
{
	for (const struct model_pod *p = s->jobs.first; p; p = p->next) {
		const struct snap *n = p->of->now;
		if (p->state != POD_RUNNING || !p->run || !p->run->outside || p->run->mistaken ||
			n->gone || n->job.deleting || !n->job.queue[0])
			continue;
		int64_t real = all_use(s, p->of, "cpu"), held = all_held(s, p->of, "cpu");
		if (real > held && !is_kept_out(s, n))
			sim_break(s, "P1",
				"at rest pod %zu of %s/%s runs%s: its pods use %lld cpu, the "
				"ledger holds %lld for it",
				p->index, n->job.ns, n->job.name,
				p->run->raised ? ", raised by its owner" : ", let in by nobody",
				(ll)real, (ll)held);
	}
}

/* What a run holds is for pods that it has, or may have. Of a Job without completions whose owner
 * lowered parallelism a new leader cannot tell how many pods its reservation is for (docs/protocol.md),
 * nor of a run that was suspended, edited and unsuspended while no controller led. */
static void check_no_more_is_held(struct sim *s, const struct model_reservation *h)
{
	const struct model_job *j = model_api_by_uid(&s->api, &h->reservation.uid);
	const struct snap *n = j->now;
	int64_t pods = job_pods(&n->job), there = (int64_t)model_jobs_pods(&s->jobs, j);
	if (n->gone || n->job.deleting || n->job.suspend || is_over(&n->job) || !j->hostile ||
		h->reservation.state != LEDGER_POSTED || n->job.parallelism < j->wrote ||
		(n->run && n->run->outside) || (j->lowered && !n->job.has_completions))
		return;
	pods = pods > there ? pods : there;
	for (size_t i = 0; i < h->reservation.nlines; i++) {
		const struct quota_line *l = &h->reservation.lines[i];
		if (l->amount > pods * snap_asks(n, l->resource))
			sim_break(s, "P11",
				"%s/%s can have %lld pods: expected no more held than "
				"these need, it holds %lld of %s",
				n->job.ns, n->job.name, (ll)pods, (ll)l->amount, l->resource);
	}
}

static void count_beside(struct sim *s)
{
	for (const struct model_job *j = s->api.first; s->tenant.on && j; j = j->next)
		if (!j->hostile && !j->now->gone &&
			model_ledger_open_reservation(s->ledger, &j->now->job.uid))
			sim_reach(s, PATH_TENANT_BESIDE);
}

static void check_rest(struct sim *s)
{
	const struct model_reservation *const *holds;
	check_pods(s);
	for (size_t i = model_ledger_reservations(s->ledger, &holds); i-- > 0;)
		if (holds[i]->open)
			check_no_more_is_held(s, holds[i]);
	count_beside(s);
}

bool promises_check_quiet(struct sim *s, bool all_ended, bool pauses_over)
{
	struct replica *r = leader(s);
	if (!r)
		return false;
	check_known(s, r);
	const struct model_reservation *const *holds;
	size_t n = model_ledger_reservations(s->ledger, &holds);
	for (size_t i = 0; i < n; i++) {
		if (holds[i]->open)
			check_open(s, holds[i], all_ended);
		else
			check_closed(s, holds[i]);
	}
	check_stops(s);
	check_counts(s);
	check_endings(s);
	promises_check_books(s);
	check_ceilings(s);
	bool left_out = check_admitted(s, r, pauses_over);
	left_out = (!all_ended && growing_check(s, r, pauses_over)) || left_out;
	count_waiting(s, r);
	if (!all_ended) {
		cluster_check_quiet(s);
		check_rest(s);
	}
	check_budgets(s, r, all_ended);
	pipelines_check_quiet(s, r);
	window_quota_check_quiet(s, r);
	return left_out;
}
