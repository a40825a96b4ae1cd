#include "record/player.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/json.h"
#include "record/facts.h"
#include "record/recorder.h"
#include "sluice/queue_call.h"

#define TREE_BYTES_MAX ((size_t)512 << 20)
#define DECISIONS_MAX 1000000
#define SHOWN_BYTES_MAX 2000 /* of a fact before a difference */

struct player {
	struct queue *queue;
	struct json *json;
	struct arena kept; /* what the queue borrows from one call to the next */
	struct buf now;
	struct buf before[PLAYED_BEFORE];
	uint64_t nfacts;
	struct player_counts counts;
};

struct player *player_new(void)
{
	struct player *p = mem_alloc(sizeof(*p));
	p->queue = queue_new();
	p->json = json_new(TREE_BYTES_MAX);
	buf_init(&p->now, 4 * RECORD_LINE_MAX);
	for (size_t i = 0; i < PLAYED_BEFORE; i++)
		buf_init(&p->before[i], SHOWN_BYTES_MAX + 1);
	return p;
}

void player_free(struct player *p)
{
	if (!p)
		return;
	queue_free(p->queue);
	json_free(p->json);
	arena_done(&p->kept);
	buf_done(&p->now);
	for (size_t i = 0; i < PLAYED_BEFORE; i++)
		buf_done(&p->before[i]);
	free(p);
}

/* ---- The calls ---- */

static int check_argument(const struct queue_call *c, struct err *e)
{
#define NEEDS(kind, function, member)                                                              \
	[CALL_##kind] = {#member, offsetof(struct queue_call, member)},
	static const struct {
		const char *member;
		size_t at;
	} needs[] = {QUEUE_CALLS(NEEDS)};
#undef NEEDS
	size_t at = needs[c->kind].at;
	if (at != offsetof(struct queue_call, kind) &&
		!*(const void *const *)((const char *)c + at))
		return err_set(e, ERR_INVALID, "it has no %s", needs[c->kind].member);
	return 0;
}

static const char *text(const char *s)
{
	return s ? s : "";
}

/* Makes a call, and puts its answer into *now. A case each call. */
static void make(struct player *p, const struct queue_call *c, struct queue_call *now,
	struct decision *decisions)
{
	struct queue *q = p->queue;
	const char *ns = text(c->ns), *name = text(c->name), *sentence = text(c->sentence);
	const struct uid *uid = &c->uid;
	static struct wanted_predecessors wanted;
	static struct deferred_job deferred;
	static struct ceiling ceiling;
	bool again;
	size_t cost = 0;
	switch (c->kind) {
	case CALL_CONFIGURE:
		queue_configure(q, c->config);
		break;
	case CALL_KEY_NAMES:
		queue_key_names(q, c->seed);
		break;
	case CALL_SET_CLUSTERQUEUE:
		queue_set_clusterqueue(q, c->clusterqueue, NULL);
		break;
	case CALL_REJECT_CLUSTERQUEUE:
		queue_reject_clusterqueue(q, name, sentence);
		break;
	case CALL_DROP_CLUSTERQUEUE:
		queue_drop_clusterqueue(q, name);
		break;
	case CALL_SET_COHORT:
		queue_set_cohort(q, c->cohort, NULL);
		break;
	case CALL_REJECT_COHORT:
		queue_reject_cohort(q, name, sentence);
		break;
	case CALL_DROP_COHORT:
		queue_drop_cohort(q, name);
		break;
	case CALL_SET_LOCALQUEUE:
		queue_set_localqueue(q, c->localqueue, NULL);
		break;
	case CALL_REJECT_LOCALQUEUE:
		queue_reject_localqueue(q, ns, name, sentence);
		break;
	case CALL_DROP_LOCALQUEUE:
		queue_drop_localqueue(q, ns, name);
		break;
	case CALL_SET_FLAVOR:
		queue_set_flavor(q, c->flavor, NULL);
		break;
	case CALL_REJECT_FLAVOR:
		queue_reject_flavor(q, name, sentence);
		break;
	case CALL_DROP_FLAVOR:
		queue_drop_flavor(q, name);
		break;
	case CALL_SET_IDLE_POOL:
		queue_set_idle_pool(q, c->idle_pool);
		break;
	case CALL_SET_MADE_NODES:
		queue_set_made_nodes(q, c->made_nodes);
		break;
	case CALL_DROP_MADE_NODES:
		queue_drop_made_nodes(q, name);
		break;
	case CALL_SET_CLUSTER_AUTOSCALER:
		queue_set_cluster_autoscaler(q, c->flag);
		break;
	case CALL_SET_PRIORITY:
		queue_set_priority(q, c->priority);
		break;
	case CALL_DROP_PRIORITY:
		queue_drop_priority(q, c->priority_kind, name);
		break;
	case CALL_SET_NAMESPACE:
		queue_set_namespace(q, c->of_namespace);
		break;
	case CALL_DROP_NAMESPACE:
		queue_drop_namespace(q, name);
		break;
	case CALL_SET_LIMIT_RANGE:
		queue_set_limit_range(q, c->limit_range);
		break;
	case CALL_DROP_LIMIT_RANGE:
		queue_drop_limit_range(q, ns, name);
		break;
	case CALL_SET_RUNTIME_CLASS:
		queue_set_runtime_class(q, c->runtime_class);
		break;
	case CALL_DROP_RUNTIME_CLASS:
		queue_drop_runtime_class(q, name);
		break;
	case CALL_KNOW_CLUSTER:
		queue_know_cluster(q);
		break;
	case CALL_SET_NODE:
		queue_set_node(q, c->node);
		break;
	case CALL_DROP_NODE:
		queue_drop_node(q, name);
		break;
	case CALL_SET_DEVICE_CLASS:
		queue_set_device_class(q, c->device_class);
		break;
	case CALL_DROP_DEVICE_CLASS:
		queue_drop_device_class(q, name);
		break;
	case CALL_KNOW_DEVICE_CLASSES:
		queue_know_device_classes(q, c->flag);
		break;
	case CALL_BIND_POD:
		queue_bind_pod(q, c->bound_pod);
		break;
	case CALL_UNBIND_POD:
		queue_unbind_pod(q, uid);
		break;
	case CALL_KNOW_PODS:
		queue_know_pods(q, c->flag);
		break;
	case CALL_SET_RESOURCE_QUOTA:
		queue_set_resource_quota(q, c->resource_quota);
		break;
	case CALL_DROP_RESOURCE_QUOTA:
		queue_drop_resource_quota(q, ns, name);
		break;
	case CALL_SAW_QUOTAS:
		queue_saw_quotas(q, c->ns, c->version);
		break;
	case CALL_SET_DISRUPTION_BUDGET:
		queue_set_disruption_budget(q, c->disruption_budget);
		break;
	case CALL_DROP_DISRUPTION_BUDGET:
		queue_drop_disruption_budget(q, ns, name);
		break;
	case CALL_SET_CALENDAR:
		queue_set_calendar(q, c->calendar, NULL);
		break;
	case CALL_REJECT_CALENDAR:
		queue_reject_calendar(q, name, sentence);
		break;
	case CALL_DROP_CALENDAR:
		queue_drop_calendar(q, name);
		break;
	case CALL_SET_RUNPOLICY:
		queue_set_runpolicy(q, c->runpolicy, &again, NULL);
		break;
	case CALL_REJECT_RUNPOLICY:
		queue_reject_runpolicy(q, name, sentence);
		break;
	case CALL_DROP_RUNPOLICY:
		queue_drop_runpolicy(q, name);
		break;
	case CALL_SET_PRICEPLAN:
		queue_set_priceplan(q, c->priceplan, NULL);
		break;
	case CALL_REJECT_PRICEPLAN:
		queue_reject_priceplan(q, name, sentence);
		break;
	case CALL_DROP_PRICEPLAN:
		queue_drop_priceplan(q, name);
		break;
	case CALL_SET_BUDGET:
		queue_set_budget(q, c->budget, NULL);
		break;
	case CALL_REJECT_BUDGET:
		queue_reject_budget(q, name, sentence);
		break;
	case CALL_DROP_BUDGET:
		queue_drop_budget(q, name);
		break;
	case CALL_SET_ADVANCE_RESERVATION:
		queue_set_advance_reservation(q, c->advance_reservation, NULL);
		break;
	case CALL_REJECT_ADVANCE_RESERVATION:
		queue_reject_advance_reservation(q, name, sentence);
		break;
	case CALL_DROP_ADVANCE_RESERVATION:
		queue_drop_advance_reservation(q, name);
		break;
	case CALL_RECALL_SPENT:
		queue_recall_spent(q, text(c->clusterqueue_name), ns, text(c->localqueue_name),
			c->currency, c->started_ms, c->cost);
		break;
	case CALL_RECALL_DURATION:
		queue_recall_duration(q, ns, c->family, c->ran_ms);
		break;
	case CALL_RECALL_RUN:
		queue_recall_run(
			q, ns, c->localqueue_name, c->lines, c->nlines, c->from_ms, c->to_ms);
		break;
	case CALL_SEE_PREDECESSOR:
		for (size_t i = 0; i < c->npredecessors; i++)
			queue_see_predecessor(q, &c->predecessors[i]);
		break;
	case CALL_UNFOLLOW_PREDECESSOR:
		queue_unfollow_predecessor(q, uid, ns, name, c->flag);
		break;
	case CALL_LOSE_PREDECESSOR:
		queue_lose_predecessor(q, uid, ns, name);
		break;
	case CALL_FORETELL_PREDECESSOR:
		queue_foretell_predecessor(q, uid, c->state, c->at_ms);
		break;
	case CALL_BEGIN_JOB_LIST:
		queue_begin_job_list(q);
		break;
	case CALL_END_JOB_LIST:
		queue_end_job_list(q);
		break;
	case CALL_FOLLOW_PREDECESSORS:
		queue_follow_predecessors(q);
		break;
	case CALL_TAKE_WANTED:
		now->gave = queue_take_wanted(q, &wanted);
		now->wanted = now->gave ? &wanted : NULL;
		break;
	case CALL_ANSWER_WANTED:
		queue_answer_wanted(q, c->id, c->predecessors, c->npredecessors);
		break;
	case CALL_RETURN_WANTED:
		queue_return_wanted(q, c->id);
		break;
	case CALL_TAKE_UNRECORDED:
		now->uid = (struct uid){{0}};
		now->gave = queue_take_unrecorded(q, &now->uid);
		break;
	case CALL_HAS_UNRECORDED:
		queue_has_unrecorded(q);
		break;
	case CALL_IS_UNRECORDED:
		now->gave = queue_is_unrecorded(q, uid, &cost);
		break;
	case CALL_RETURN_UNRECORDED:
		queue_return_unrecorded(q, uid);
		break;
	case CALL_DEFER_JOB:
		queue_defer_job(q, c->job, c->list);
		break;
	case CALL_DEFER_KNOWN_JOB:
		queue_defer_known_job(q, uid, c->list);
		break;
	case CALL_UNDEFER_JOB:
		queue_undefer_job(q, uid);
		break;
	case CALL_END_DEFERRED_LIST:
		queue_end_deferred_list(q, c->list);
		break;
	case CALL_TAKE_DEFERRED:
		now->gave = queue_take_deferred(q, &deferred);
		now->deferred = now->gave ? &deferred : NULL;
		break;
	case CALL_RETURN_DEFERRED:
		queue_return_deferred(q, uid, c->list);
		break;
	case CALL_UNREAD_JOB:
		queue_unread_job(q, ns, name, text(c->localqueue_name));
		break;
	case CALL_READ_JOB:
		queue_read_job(q, ns, name);
		break;
	case CALL_BEGIN_UNREAD_LIST:
		queue_begin_unread_list(q);
		break;
	case CALL_END_UNREAD_LIST:
		queue_end_unread_list(q);
		break;
	case CALL_SET_JOB:
		queue_set_job(q, c->job);
		break;
	case CALL_DROP_JOB:
		queue_drop_job(q, uid);
		break;
	case CALL_ADOPT_JOB:
		queue_adopt_job(q, uid, c->lines, c->nlines, c->reserved_ms);
		break;
	case CALL_ADOPT_UNREAD:
		queue_adopt_unread(q, c->job, c->lines, c->nlines, c->reserved_ms);
		break;
	case CALL_TAKE_IN:
		queue_take_in(q, uid, c->lines, c->nlines, c->now_ms);
		break;
	case CALL_CONFIRM_JOB:
		queue_confirm_job(q, uid, c->now_ms);
		break;
	case CALL_LEAVING_JOB:
		queue_leaving_job(q, uid);
		break;
	case CALL_READY_JOB:
		queue_ready_job(q, uid, c->flag, c->now_ms);
		break;
	case CALL_FINISHED_JOB:
		queue_finished_job(q, uid, c->now_ms);
		break;
	case CALL_SHRINK_JOB:
		queue_shrink_job(q, uid, c->pods, c->now_ms);
		break;
	case CALL_KEEP_PODS:
		queue_keep_pods(q, uid);
		break;
	case CALL_GREW_JOB:
		queue_grew_job(q, uid, c->now_ms);
		break;
	case CALL_KEEP_ACTIVE:
		queue_keep_active(q, uid);
		break;
	case CALL_ENDING_JOB:
		queue_ending_job(q, uid);
		break;
	case CALL_BLOCK_JOB: /* the queue keeps the text, and tells texts apart by where they are */
		queue_block_job(q, uid, c->why ? arena_string(&p->kept, c->why) : NULL);
		break;
	case CALL_RECLAIM_JOB:
		queue_reclaim_job(q, uid, c->pods, c->why);
		break;
	case CALL_RELEASE_JOB:
		queue_release_job(q, uid, c->now_ms, c->not_before_ms);
		break;
	case CALL_END_JOB:
		queue_end_job(q, uid, c->now_ms);
		break;
	case CALL_RECALL_HISTORY:
		queue_recall_history(q, uid, c->history);
		break;
	case CALL_RECALL_PAST:
		queue_recall_past(q, uid, c->history);
		break;
	case CALL_RECALL_PRIORITY:
		queue_recall_priority(q, uid, c->counted);
		break;
	case CALL_CLOCK_STEPPED:
		queue_clock_stepped(q, c->step_ms);
		break;
	case CALL_PAUSE_STARTS:
		queue_pause_starts(q, c->flag);
		break;
	case CALL_AWAIT_STATUSES:
		queue_await_statuses(q, c->flag);
		break;
	case CALL_DECIDE:
		now->ndecisions = queue_decide(q, c->now_ms, decisions, c->cap, &now->next_ms);
		now->decisions = decisions;
		break;
	case CALL_TAKE_CEILING:
		now->gave = queue_take_ceiling(q, &ceiling);
		now->ceiling = now->gave ? &ceiling : NULL;
		break;
	case CALL_RETAKE_CEILINGS:
		queue_retake_ceilings(q);
		break;
	case QUEUE_CALL_KINDS:
		break;
	}
}

static bool gives(enum queue_call_kind kind)
{
	return kind == CALL_DECIDE || kind == CALL_TAKE_WANTED || kind == CALL_TAKE_UNRECORDED ||
	       kind == CALL_IS_UNRECORDED || kind == CALL_TAKE_DEFERRED ||
	       kind == CALL_TAKE_CEILING;
}

/* ---- A line ---- */

static void keep_fact(struct player *p, struct slice line)
{
	struct buf *b = &p->before[p->nfacts++ % PLAYED_BEFORE];
	size_t n = line.len < SHOWN_BYTES_MAX ? line.len : SHOWN_BYTES_MAX;
	buf_reset(b);
	buf_add(b, line.ptr, n);
}

bool player_before(const struct player *p, unsigned index, struct slice *ret)
{
	uint64_t first = p->nfacts > PLAYED_BEFORE ? p->nfacts - PLAYED_BEFORE : 0;
	if (first + index >= p->nfacts)
		return false;
	*ret = buf_slice(&p->before[(first + index) % PLAYED_BEFORE]);
	return true;
}

struct slice player_now(const struct player *p)
{
	return buf_slice(&p->now);
}

struct player_counts player_counts(const struct player *p)
{
	return p->counts;
}

static int play_call(
	struct player *p, struct slice line, const struct queue_call *c, struct arena *scratch)
{
	struct queue_call now = *c;
	now.decisions = NULL;
	now.ndecisions = 0;
	now.next_ms = 0;
	now.gave = false;
	now.wanted = NULL;
	now.deferred = NULL;
	now.ceiling = NULL;
	struct decision *out = arena_take(scratch, c->cap + 1, sizeof(*out));
	make(p, c, &now, out);
	p->counts.decisions += now.ndecisions;
	if (!gives(c->kind)) {
		p->counts.facts++;
		keep_fact(p, line);
		return 1;
	}
	buf_reset(&p->now);
	schema_write(queue_call_schema(), &now, &p->now);
	return slice_eq(line, buf_slice(&p->now));
}

int player_line(struct player *p, struct slice line, struct err *e)
{
	struct arena scratch = {0};
	struct queue_call call = {0};
	const cJSON *root;
	int rc = json_parse(p->json, line, &root, e);
	if (rc == 0)
		rc = schema_read(queue_call_schema(), root, &scratch, &call, e);
	if (rc == 0)
		rc = check_argument(&call, e);
	if (rc == 0 && call.cap > DECISIONS_MAX)
		rc = err_set(e, ERR_INVALID, "cap: it is more than %d", DECISIONS_MAX);
	if (rc == 0)
		rc = play_call(p, line, &call, &scratch);
	else
		rc = ERR_INVALID;
	arena_done(&scratch);
	return rc;
}
