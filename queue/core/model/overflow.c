#include "queue/core/model/overflow.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/job/text.h"
#include "queue/core/model/state.h"
#include "queue/core/model/tell.h"

struct deferred {
	struct tree_node node; /* in localqueue.deferred, until it is taken */
	struct uid uid;
	int64_t queued_ms;
	uint64_t arrival; /* as in order_key */
	struct localqueue *lq;
	uint32_t list;	  /* the last complete list that it was in */
	uint32_t returns; /* how often it could not be read; it is behind Jobs with fewer */
	char name[];
};

static bool deferred_is(const void *value, const void *key)
{
	return uid_cmp(&((const struct deferred *)value)->uid, key) == 0;
}

/* What deferred Jobs are looked for by. */
struct job_name {
	const char *ns, *name;
	const struct deferred *one; /* NULL: any of that name */
};

static bool deferred_is_named(const void *value, const void *key)
{
	const struct deferred *d = value;
	const struct job_name *k = key;
	if (k->one)
		return d == k->one;
	return strcmp(d->name, k->name) == 0 && strcmp(d->lq->ns->name, k->ns) == 0;
}

int overflow_order(const struct tree_node *a, const struct tree_node *b)
{
	const struct deferred *x = container_of_const(a, struct deferred, node);
	const struct deferred *y = container_of_const(b, struct deferred, node);
	if (x->returns != y->returns)
		return x->returns < y->returns ? -1 : 1;
	if (x->queued_ms != y->queued_ms)
		return x->queued_ms < y->queued_ms ? -1 : 1;
	if (x->arrival != y->arrival)
		return x->arrival < y->arrival ? -1 : 1;
	return uid_cmp(&x->uid, &y->uid);
}

void overflow_init(struct overflow *o)
{
	map_init(&o->map, deferred_is);
	map_init(&o->names, deferred_is_named);
	list_init(&o->queues);
	o->beside = MAX_WAITING_DEFAULT;
}

static size_t deferred_bytes(const struct deferred *d)
{
	return sizeof(*d) + strlen(d->name) + 1;
}

static size_t map_bytes(const struct map *m)
{
	return m->slot ? (m->mask + 1) * sizeof(*m->slot) : 0;
}

size_t overflow_bytes(const struct queue *q)
{
	const struct overflow *o = &q->overflow;
	return o->bytes + map_bytes(&o->map) + map_bytes(&o->names);
}

void queue_key_names(struct queue *q, uint64_t seed)
{
	queue_tell(q, KEY_NAMES, .seed = seed);
	must(q->overflow.map.count == 0);
	q->overflow.key = (struct siphash_key){{seed, ~seed}};
}

/* ---- What is kept ---------------------------------------------------------------------------- */

void overflow_count_in(const struct workload *w)
{
	w->lq->slots += workload_slots(w);
	if (!w->lq->exists)
		w->lq->ns->unknown_slots += workload_slots(w);
}

void overflow_count_out(const struct workload *w)
{
	w->lq->slots -= workload_slots(w);
	if (!w->lq->exists)
		w->lq->ns->unknown_slots -= workload_slots(w);
}

void overflow_exists(struct localqueue *lq, bool exists)
{
	if (lq->exists && !exists)
		lq->ns->unknown_slots += lq->slots;
	if (!lq->exists && exists)
		lq->ns->unknown_slots -= lq->slots;
}

/* The limit of waiting Jobs and of Jobs that run or ran together. */
static size_t most_in_all(const struct queue *q, const struct localqueue *lq)
{
	size_t waiting = (size_t)lq->limits.max_waiting, beside = q->overflow.beside;
	return waiting + (waiting > beside ? waiting : beside);
}

/* Are as many kept as may be, and `more`? The limit of waiting Jobs comes before that of all. */
static bool holds(const struct queue *q, const struct localqueue *lq, size_t more)
{
	size_t taken = lq->ntaken;
	if (!lq->exists)
		return lq->ns->unknown_slots + taken >= OVERFLOW_UNKNOWN_MAX + more;
	return lq->limits.max_waiting > 0 &&
	       (lq->waiting_slots + taken >= (size_t)lq->limits.max_waiting + more ||
		       lq->slots + taken >= most_in_all(q, lq) + 2 * more);
}

/* The hard limit of slots that its Jobs may take. */
static size_t most_slots(const struct queue *q, const struct localqueue *lq)
{
	if (!lq || !lq->exists)
		return OVERFLOW_UNKNOWN_MAX + OVERFLOW_SLACK;
	return lq->limits.max_waiting > 0 ? most_in_all(q, lq) + 2 * OVERFLOW_SLACK : SIZE_MAX;
}

/* Slots taken by other workloads than w. */
static size_t slots_of_others(const struct queue *q, const struct localqueue *lq, const char *ns,
	const struct workload *w)
{
	bool exists = lq && lq->exists;
	const struct nspace *n = exists ? NULL : namespace_find(&q->localqueues, ns);
	size_t slots = exists ? lq->slots : n ? n->unknown_slots : 0;
	bool counted = w && w->lq &&
		       (exists ? w->lq == lq : !w->lq->exists && strcmp(w->lq->ns->name, ns) == 0);
	return slots - (counted ? workload_slots(w) : 0);
}

/* A running Job's template cannot grow, and was counted when it got its reservation. */
size_t overflow_shape_bytes(const struct queue *q, const struct workload *w, const struct job *j)
{
	if (w && w->reservation && !j->suspend)
		return SHAPE_BYTES_MAX;
	const struct localqueue *lq = localqueue_find(&q->localqueues, j->ns, j->queue);
	size_t most = most_slots(q, lq), others = slots_of_others(q, lq, j->ns, w);
	size_t left = most > others ? most - others : 1; /* an ordinary Job is never cut */
	return left < SHAPE_BYTES_MAX / SHAPE_SLOT_BYTES ? left * SHAPE_SLOT_BYTES
							 : SHAPE_BYTES_MAX;
}

/* Jobs without an existing LocalQueue share one record, else each name would cost one. */
static const char *bucket(const struct localqueue *lq)
{
	return lq && lq->exists ? lq->name : "";
}

bool queue_has_place(const struct queue *q, const struct job *j)
{
	const struct localqueue *named = localqueue_find(&q->localqueues, j->ns, j->queue);
	const struct nspace *ns = namespace_find(&q->localqueues, j->ns);
	const struct localqueue *lq = localqueue_find(&q->localqueues, j->ns, bucket(named));
	if (j->admission.state != STORY_NONE)
		return slots_of_others(q, named, j->ns, NULL) < most_slots(q, named);
	if (lq && tree_count(&lq->deferred) > 0)
		return false;
	if (named && named->exists)
		return !holds(q, named, 0);
	return !ns || ns->unknown_slots < OVERFLOW_UNKNOWN_MAX;
}

bool queue_has_too_many(const struct queue *q, const struct uid *uid, bool ran)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w || w->reservation || w->promise)
		return false;
	if (w->cut)
		return true;
	return ran ? slots_of_others(q, w->lq, w->lq->ns->name, w) >= most_slots(q, w->lq)
		   : holds(q, w->lq, OVERFLOW_SLACK);
}

bool queue_job_is_cut(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return w && w->cut;
}

static void take(struct localqueue *lq)
{
	lq->ntaken++;
	lq->ns->ntaken++;
}

static void untake(struct localqueue *lq)
{
	lq->ntaken--;
	lq->ns->ntaken--;
}

/* ---- Jobs beyond ----------------------------------------------------------------------------- */

static void leave_order(struct deferred *d)
{
	struct localqueue *lq = d->lq;
	tree_remove(&lq->deferred, &d->node);
	if (tree_count(&lq->deferred) == 0)
		list_leave(&lq->overflowing);
}

static uint64_t name_hash(const struct queue *q, const char *ns, const char *name)
{
	return siphash_names(&q->overflow.key, ns, name);
}

static void forget(struct queue *q, struct deferred *d)
{
	struct localqueue *lq = d->lq;
	struct job_name own = {.one = d};
	must(map_take(&q->overflow.map, uid_hash(&d->uid), &d->uid) == d);
	must(map_take(&q->overflow.names, name_hash(q, lq->ns->name, d->name), &own) == d);
	if (tree_in(&d->node))
		leave_order(d);
	else
		untake(lq);
	q->overflow.bytes -= deferred_bytes(d);
	localqueue_put(&q->localqueues, lq);
	q->counters.version++;
	free(d);
}

static struct deferred *find(const struct queue *q, const struct uid *uid)
{
	return map_get(&q->overflow.map, uid_hash(uid), uid);
}

void overflow_forget(struct queue *q, const struct uid *uid)
{
	struct deferred *d = q->overflow.map.count > 0 ? find(q, uid) : NULL;
	if (d)
		forget(q, d);
}

void queue_undefer_job(struct queue *q, const struct uid *uid)
{
	if (q->overflow.map.count > 0)
		queue_tell(q, UNDEFER_JOB, .uid = *uid);
	overflow_forget(q, uid);
}

static void join_order(struct queue *q, struct deferred *d)
{
	if (tree_count(&d->lq->deferred) == 0)
		list_add(&q->overflow.queues, &d->lq->overflowing);
	tree_insert(&d->lq->deferred, &d->node, d->arrival);
}

/* One is begun when a watch cannot go on: there are never so many. */
static uint32_t list_number(uint64_t list)
{
	must(list <= UINT32_MAX);
	return (uint32_t)list;
}

static void defer(struct queue *q, const struct deferred *as, const char *ns,
	const struct localqueue *named, const char *name)
{
	size_t size = strlen(name) + 1;
	struct deferred *d = mem_alloc(sizeof(*d) + size);
	*d = *as;
	memcpy(d->name, name, size);
	d->lq = localqueue_keep(&q->localqueues, ns, bucket(named));
	join_order(q, d);
	map_put(&q->overflow.map, uid_hash(&d->uid), d);
	map_put(&q->overflow.names, name_hash(q, ns, name), d);
	q->overflow.bytes += deferred_bytes(d);
	q->counters.version++;
}

void queue_defer_job(struct queue *q, const struct job *j, uint64_t list)
{
	queue_tell(q, DEFER_JOB,
		.job = &(struct job){.uid = j->uid,
			.ns = j->ns,
			.name = j->name,
			.version = j->version,
			.created_ms = j->created_ms,
			.queued_at_ms = j->queued_at_ms,
			.queue = j->queue,
			.priority_class = "",
			.pod_priority_class = "",
			.family = "",
			.pod.runtime_class = ""},
		.list = list);
	const struct localqueue *named = localqueue_find(&q->localqueues, j->ns, j->queue);
	struct deferred *known = find(q, &j->uid);
	if (known && known->lq->exists == (named && named->exists) &&
		strcmp(known->lq->name, bucket(named)) == 0) {
		known->list = list_number(list);
		return;
	}
	struct deferred as = {.uid = j->uid,
		.queued_ms = job_queued_ms(j),
		.arrival = known	    ? known->arrival
			   : j->version > 0 ? (uint64_t)j->version
					    : ++q->counters.arrivals,
		.list = list_number(list)};
	overflow_forget(q, &j->uid);
	defer(q, &as, j->ns, named, j->name);
}

void queue_return_deferred(struct queue *q, const struct uid *uid, uint64_t list)
{
	queue_tell(q, RETURN_DEFERRED, .uid = *uid, .list = list);
	struct deferred *d = find(q, uid);
	must(d && !tree_in(&d->node));
	untake(d->lq);
	d->returns++;
	d->list = list_number(list);
	join_order(q, d);
}

void queue_defer_known_job(struct queue *q, const struct uid *uid, uint64_t list)
{
	queue_tell(q, DEFER_KNOWN_JOB, .uid = *uid, .list = list);
	struct workload *w = queue_find_workload(q, uid);
	must(w && !w->reservation);
	struct deferred as = {.uid = *uid,
		.queued_ms = w->key.queued_ms,
		.arrival = w->key.arrival,
		.list = list_number(list)};
	defer(q, &as, w->lq->ns->name, w->lq, w->name);
	queue_forget_workload(q, w);
}

void queue_end_deferred_list(struct queue *q, uint64_t list)
{
	queue_tell(q, END_DEFERRED_LIST, .list = list);
	for (struct link *l = q->overflow.queues.next, *next; l != &q->overflow.queues; l = next) {
		struct localqueue *lq = container_of(l, struct localqueue, overflowing);
		struct tree_node *n = tree_first(&lq->deferred), *after;
		next = l->next; /* it leaves with its last */
		for (; n; n = after) {
			struct deferred *d = container_of(n, struct deferred, node);
			after = tree_next(n);
			if (d->list != list)
				forget(q, d);
		}
	}
}

bool queue_take_deferred(struct queue *q, struct deferred_job *ret)
{
	struct overflow *o = &q->overflow;
	struct localqueue *lq = NULL;
	for (struct link *l = o->queues.next; l != &o->queues && !lq; l = l->next) {
		lq = container_of(l, struct localqueue, overflowing);
		if (holds(q, lq, 0) || lq->ns->ntaken >= OVERFLOW_TAKEN_MAX)
			lq = NULL;
	}
	if (!lq)
		return false;
	struct deferred *d = container_of(tree_first(&lq->deferred), struct deferred, node);
	list_leave(&lq->overflowing); /* each LocalQueue in turn */
	list_add(&o->queues, &lq->overflowing);
	leave_order(d);
	take(lq);
	*ret = (struct deferred_job){d->uid, lq->ns->name, d->name, d->list};
	queue_tell(q, TAKE_DEFERRED, .gave = true, .deferred = ret);
	return true;
}

/* ---- Explained ------------------------------------------------------------------------------- */

static void explain(const struct localqueue *lq, struct text *t)
{
	if (!lq->exists) {
		text_add(t,
			"it names a LocalQueue that does not exist, as %d Jobs of namespace %s do already, and it is looked at when fewer do; correct the label sluice.dev/queue-name, or delete Jobs that are not needed",
			OVERFLOW_UNKNOWN_MAX, lq->ns->name);
		return;
	}
	text_add(t,
		"%zu Jobs wait in LocalQueue %s/%s, and spec.maxWaiting is %d: this Job is considered when fewer wait, the oldest first; delete Jobs that are not needed, or ask an admin to raise spec.maxWaiting",
		localqueue_pending(lq), lq->ns->name, lq->name, lq->limits.max_waiting);
	if (lq->waiting_slots > lq->nwaiting)
		text_add(t, " (a Job counts once for each %d bytes that are kept of its pods)",
			SHAPE_SLOT_BYTES);
}

static struct job_place place_of(const struct deferred *d)
{
	return (struct job_place){.localqueue = d->lq->name,
		.clusterqueue = d->lq->cq ? d->lq->cq->name : "",
		.queued_ms = d->queued_ms};
}

bool overflow_place_of(const struct queue *q, const struct uid *uid, struct job_place *ret)
{
	const struct deferred *d = q->overflow.map.count > 0 ? find(q, uid) : NULL;
	if (d)
		*ret = place_of(d);
	return d;
}

static void explain_one(const struct deferred *d, struct explanation *ret)
{
	struct job_place place = place_of(d);
	*ret = (struct explanation){.reason = WAIT_TOO_MANY,
		.localqueue = place.localqueue,
		.clusterqueue = place.clusterqueue,
		.queued_ms = place.queued_ms};
	struct text text = text_over(ret->sentence, sizeof(ret->sentence));
	explain(d->lq, &text);
}

bool queue_explain_deferred(
	const struct queue *q, const char *ns, const char *name, struct explanation *ret)
{
	const struct map *names = &q->overflow.names;
	struct job_name any = {ns, name, NULL};
	if (names->count == 0)
		return false;
	const struct deferred *d = map_get(names, name_hash(q, ns, name), &any);
	if (d)
		explain_one(d, ret);
	return d;
}

size_t queue_count_deferred(const struct queue *q)
{
	return q->overflow.map.count;
}

bool queue_explain_deferred_uid(
	const struct queue *q, const struct uid *uid, struct explanation *ret)
{
	const struct deferred *d = q->overflow.map.count > 0 ? find(q, uid) : NULL;
	if (d)
		explain_one(d, ret);
	return d;
}

void queue_each_deferred(const struct queue *q,
	void (*each)(const struct deferred_job *d, const struct job_place *place, void *ctx),
	void *ctx)
{
	const struct deferred *d;
	map_each(&q->overflow.map, i, d) {
		struct deferred_job one = {d->uid, d->lq->ns->name, d->name, d->list};
		struct job_place place = place_of(d);
		each(&one, &place, ctx);
	}
}

void overflow_done(struct queue *q)
{
	struct overflow *o = &q->overflow;
	size_t n = 0;
	struct deferred *d, **all = mem_array(o->map.count, sizeof(struct deferred *));
	map_each(&o->map, i, d)
		all[n++] = d;
	for (size_t i = 0; i < n; i++)
		forget(q, all[i]);
	free(all);
	map_done(&o->map);
	map_done(&o->names);
}
