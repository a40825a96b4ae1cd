#include "agent/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "controller/common/seed.h"
#include "node/wire.h"

enum {
	EACH_MS = 1000,
	EACH_STILL_MS = 5000,  /* where little moves */
	EACH_EMPTY_MS = 30000, /* without a lent pod */
	BEGIN_MS = 30000,      /* in which the controller gets to know a node that begins to lend */
	EARLY_MS = 125,	       /* a tick that comes so early is as good as the next */
};

void report_init(struct report *r)
{
	uint64_t half[2] = {seed_draw(), seed_draw()};
	struct uid uid;
	*r = (struct report){.samples = 0};
	memcpy(uid.byte, half, sizeof(uid.byte));
	uid_format(&uid, r->boot);
}

/* ---- when ------------------------------------------------------------------------------------ */

static int64_t generation_of(const struct lent_pods *pods)
{
	return pods->orders ? pods->orders->generation : 0;
}

/* Tells whether use differs from what was told by 1 % of the node. */
static bool has_moved(const struct report *r, const struct lent_pods *pods,
	const struct node_reading *node, int64_t cpu_milli)
{
	int64_t slight = pods->orders ? pods->orders->capacity.cpu_milli / 100 : 0;
	return cpu_milli < 0 || node->working_bytes < 0 ||
	       llabs(cpu_milli - r->cpu_milli) > slight ||
	       llabs(node->working_bytes - r->working_bytes) > node->total_bytes / 100;
}

/* Tells whether the node has only begun to lend. */
static bool begins(struct report *r, const struct lent_pods *pods, int64_t now_ms)
{
	bool lends = pods->orders && pods->orders->lends;
	if (!lends || r->lends_ms == 0)
		r->lends_ms = lends ? now_ms : 0;
	return lends && now_ms - r->lends_ms < BEGIN_MS;
}

bool report_is_due(
	struct report *r, const struct lent_pods *pods, const struct usage *u, int64_t now_ms)
{
	int64_t cpu_milli = node_reading_cpu_milli(&u->tick.node, &u->now.node);
	int64_t each_ms = pods->count > 0 ? EACH_STILL_MS : EACH_EMPTY_MS;
	if (begins(r, pods, now_ms) || pods->site->deeds.count > 0 ||
		r->orders != generation_of(pods) ||
		(pods->count > 0 && has_moved(r, pods, &u->now.node, cpu_milli)))
		each_ms = EACH_MS;
	if (r->last_ms > 0 && now_ms - r->last_ms < each_ms - EARLY_MS)
		return false;
	r->last_ms = now_ms;
	r->cpu_milli = cpu_milli;
	r->working_bytes = u->now.node.working_bytes;
	r->orders = generation_of(pods);
	return true;
}

/* ---- what ------------------------------------------------------------------------------------ */

/* Writes what a pod used since the last sample. False: that is not known. */
static bool sample_pod(const struct lent_pod *p, struct sampled_pod *ret)
{
	const struct reading *from = &p->told, *to = &p->own.now;
	int64_t asked = p->own.asked.memory_bytes;
	*ret = (struct sampled_pod){
		.uid = p->uid,
		.used = {reading_cpu_milli(from, to), to->working_bytes},
		.quota_milli = lent_pod_quota_milli(p),
		.throttled_ms =
			greater(reading_went_on(from->throttled_us, to->throttled_us), 0) / 1000,
		.over = asked > 0 && to->memory_bytes > asked,
	};
	return ret->used.cpu_milli >= 0 && ret->used.memory_bytes >= 0;
}

static size_t sample_pods(const struct lent_pods *pods, struct sampled_pod *ret)
{
	size_t n = 0;
	each_lent_pod(pods, p)
		if (n < SAMPLE_PODS_MAX && sample_pod(p, &ret[n]))
			n++;
	return n;
}

/* Writes what the node and all its pods used. */
static void sample_node(const struct usage *u, struct sample *s)
{
	const struct node_reading *from = &u->told.node, *to = &u->now.node;
	bool knows = to->at_us > 0, spans = from->at_us > 0;
	s->window_ms = spans ? (to->at_us - from->at_us) / 1000 : 0;
	s->used = (struct load){node_reading_cpu_milli(from, to), to->working_bytes};
	s->has_used = knows && s->used.cpu_milli >= 0 && s->used.memory_bytes >= 0;
	s->pods_used = (struct load){reading_cpu_milli(&u->told.pods, &u->now.pods),
		u->now.pods.at_us > 0 ? u->now.pods.working_bytes : -1};
	s->memory_total = knows ? to->total_bytes : -1;
	s->memory_available = knows ? to->available_bytes : -1;
	s->pressure_us = spans ? reading_went_on(from->pressure_us, to->pressure_us) : -1;
}

/* Leaves a sample that was hastened with its deeds alone: over so little time more seems to be used
 * than there is. */
static void leave_out_use(struct sample *s)
{
	s->has_used = false;
	s->pods_used = (struct load){-1, -1};
	s->npods = 0;
}

void report_put(struct report *r, struct lent_pods *pods, struct usage *u, int64_t may_milli,
	struct buf *out)
{
	const struct deeds *deeds = &pods->site->deeds;
	struct sampled_pod *sampled = mem_array(pods->count + 1, sizeof(*sampled));
	struct sample s = {
		.number = ++r->samples,
		.may_milli = may_milli,
		.lacks = pods->site->lacks,
		.orders = generation_of(pods),
		.pods = sampled,
		.npods = sample_pods(pods, sampled),
		.deeds = deeds->deed,
		.ndeeds = deeds->count,
		.deeds_lost = deeds->lost,
	};
	memcpy(s.boot, r->boot, sizeof(s.boot));
	sample_node(u, &s);
	if (s.window_ms < USAGE_BRIEF_MS)
		leave_out_use(&s);
	else
		usage_shift_sent(u, pods);
	wire_put_sample(&s, out);
	free(sampled);
	r->deed = deeds->last;
}

void report_acknowledge(const struct report *r, struct lent_pods *pods, struct usage *u)
{
	deeds_forget(&pods->site->deeds, r->deed);
	usage_shift_told(u, pods);
}
