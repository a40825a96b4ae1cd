#include "forecast/arrivals.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/mix.h"
#include "base/order.h"
#include "queue/job/specs.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)
#define SECOND_MS 1000
enum { PLACEMENT_BYTES_MAX = 4096, REQUESTS_MAX = 127 };

/* What is kept of a Job. */
struct arrival {
	int64_t at_ms;
	struct arena memory;
	const char *ns, *queue, *priority_class, *pod_priority_class, *family, *submitted_by;
	struct resource *request; /* of a pod */
	size_t nrequests;
	struct placement placement;
	struct job_durations durations;
	struct job_terms terms; /* without times: those have passed when it comes again */
	int32_t parallelism, completions, min_parallelism;
	bool has_completions, completions_follow;
	enum job_grow grow;
	uint8_t lending;
	int64_t grace_ms;
};

struct arrivals {
	struct arrival **all; /* by time; the first `gone` places are empty */
	size_t gone, end, room;
	size_t bytes;
};

struct arrivals_draw {
	const struct arrivals *of;
	uint64_t seed;
	int64_t begin_ms;
	int64_t day_ms;	 /* how long a day is: less, while less is known */
	size_t days;	 /* that may be drawn; 0: too little is known */
	int64_t last_ms; /* nothing comes later */
	int64_t day;	 /* of the play */
	int64_t shift_ms;
	size_t next; /* of all */
	uint64_t made;
	char name[32];
	struct container container;
	struct job job;
};

struct arrivals *arrivals_new(void)
{
	return mem_alloc(sizeof(struct arrivals));
}

static size_t arrival_bytes(const struct arrival *c)
{
	return sizeof(*c) + c->memory.bytes;
}

static void arrival_free(struct arrival *c)
{
	arena_done(&c->memory);
	free(c);
}

static void forget_first(struct arrivals *a)
{
	struct arrival *c = a->all[a->gone++];
	a->bytes -= arrival_bytes(c);
	arrival_free(c);
}

void arrivals_free(struct arrivals *a)
{
	if (!a)
		return;
	while (a->gone < a->end)
		forget_first(a);
	free(a->all);
	free(a);
}

size_t arrivals_count(const struct arrivals *a)
{
	return a->end - a->gone;
}

size_t arrivals_bytes(const struct arrivals *a)
{
	return a->bytes;
}

static int64_t known_ms_of(const struct arrivals *a, int64_t now_ms)
{
	return a->gone < a->end ? now_ms - a->all[a->gone]->at_ms : 0;
}

/* Returns how far back a draw looks: whole days, or all that is known while that is less than one;
 * 0: too little is known. */
static int64_t reach_ms_of(const struct arrivals *a, int64_t now_ms)
{
	int64_t known_ms = known_ms_of(a, now_ms);
	if (known_ms < SECOND_MS)
		return 0;
	return known_ms < DAY_MS ? known_ms : known_ms - known_ms % DAY_MS;
}

/* Finds the first arrival after at_ms. */
static size_t first_after(const struct arrivals *a, int64_t at_ms)
{
	size_t low = a->gone, high = a->end;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (a->all[mid]->at_ms <= at_ms)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t arrivals_to_draw_from(const struct arrivals *a, int64_t now_ms)
{
	int64_t reach_ms = reach_ms_of(a, now_ms);
	return reach_ms > 0 ? a->end - first_after(a, now_ms - reach_ms) : 0;
}

bool arrivals_are_young(const struct arrivals *a, int64_t now_ms)
{
	return known_ms_of(a, now_ms) < ARRIVALS_LEAST_MS;
}

/* ---- what came ------------------------------------------------------------------------------- */

static void take_requests(struct arrival *c, const struct job *j)
{
	struct resource request[REQUESTS_MAX];
	size_t n = pod_requests(&j->pod, request, REQUESTS_MAX);
	c->nrequests = n < REQUESTS_MAX ? n : REQUESTS_MAX;
	c->request = arena_take(&c->memory, c->nrequests + 1, sizeof(*c->request));
	for (size_t i = 0; i < c->nrequests; i++) {
		c->request[i] = request[i];
		c->request[i].name = arena_string(&c->memory, request[i].name);
	}
}

static void take_placement(struct arrival *c, const struct job *j)
{
	struct arena apart = {0};
	placement_copy(&apart, &j->placement);
	if (apart.bytes <= PLACEMENT_BYTES_MAX)
		c->placement = placement_copy(&c->memory, &j->placement);
	arena_done(&apart);
}

static void take_terms(struct arrival *c, const struct job *j)
{
	c->terms = j->terms;
	c->terms.start_after_ms = c->terms.deadline_ms = 0;
	c->terms.hold_when_missed = false;
	c->terms.cheapest = false; /* that needs a deadline */
	c->terms.max_price_resource = arena_string(
		&c->memory, j->terms.max_price_resource ? j->terms.max_price_resource : "");
}

static struct arrival *arrival_new(const struct job *j, int64_t at_ms)
{
	struct arrival *c = mem_alloc(sizeof(*c));
	c->at_ms = at_ms;
	c->ns = arena_string(&c->memory, j->ns);
	c->queue = arena_string(&c->memory, j->queue);
	c->priority_class = arena_string(&c->memory, j->priority_class);
	c->pod_priority_class = arena_string(&c->memory, j->pod_priority_class);
	c->family = arena_string(&c->memory, j->family ? j->family : "");
	c->submitted_by = j->submitted_by ? arena_string(&c->memory, j->submitted_by) : NULL;
	c->durations = j->durations;
	c->parallelism = j->parallelism;
	c->completions = j->completions;
	c->has_completions = j->has_completions;
	c->min_parallelism = j->min_parallelism;
	c->completions_follow = j->completions_follow;
	c->grow = j->grow;
	c->lending = j->lending;
	c->grace_ms = j->grace_ms;
	take_requests(c, j);
	take_placement(c, j);
	take_terms(c, j);
	return c;
}

static void make_place(struct arrivals *a)
{
	if (a->end < a->room)
		return;
	size_t n = a->end - a->gone;
	if (a->gone > a->room / 2) {
		memmove(a->all, a->all + a->gone, n * sizeof(struct arrival *));
		a->gone = 0;
		a->end = n;
		return;
	}
	a->all = mem_room(a->all, a->end, &a->room, 64, sizeof(struct arrival *));
}

void arrivals_tell(struct arrivals *a, const struct job *j, int64_t at_ms)
{
	if (j->hold || j->invalid || j->after.count > 0)
		return; /* when it will be in line is another question */
	struct arrival *c = arrival_new(j, at_ms);
	make_place(a);
	a->all[a->end++] = c;
	a->bytes += arrival_bytes(c);
	while (a->gone < a->end && (a->bytes > ARRIVALS_BYTES_MAX ||
					   a->all[a->gone]->at_ms < at_ms - ARRIVALS_DAYS * DAY_MS))
		forget_first(a);
}

/* ---- what comes ------------------------------------------------------------------------------ */

/* Draws which of the last days comes again on a day of the play. */
static void begin_day(struct arrivals_draw *d, int64_t day)
{
	uint64_t drawn = mix64(d->seed * 0x9E3779B97F4A7C15u + (uint64_t)day + 1) % d->days;
	int64_t back_ms = ((int64_t)drawn + 1) * d->day_ms;
	d->day = day;
	d->shift_ms = back_ms + day * d->day_ms;
	d->next = first_after(d->of, d->begin_ms - back_ms);
}

/* Spreads the first two, four, eight and sixteen seeds evenly between 0 and 1: the bits of a seed from behind. */
static double even_part(uint64_t seed)
{
	double part = 1.0 / 32;
	for (double half = 0.5; seed > 0 && half >= 1.0 / 16; seed /= 2, half /= 2)
		part += half * (double)(seed % 2);
	return part;
}

/* Draws how long arrivals go on that were met known_ms after they began: for x times as long, or
 * longer, in one of 1 + x cases. */
static int64_t goes_on_ms(int64_t known_ms, uint64_t seed)
{
	double part = even_part(seed);
	return (int64_t)((double)known_ms * fmin((1 - part) / part, ARRIVALS_YOUNG_MOST));
}

struct arrivals_draw *arrivals_draw_new(const struct arrivals *a, uint64_t seed, int64_t now_ms)
{
	struct arrivals_draw *d = mem_alloc(sizeof(*d));
	int64_t reach_ms = reach_ms_of(a, now_ms);
	*d = (struct arrivals_draw){.of = a, .seed = seed, .begin_ms = now_ms};
	d->day_ms = least(reach_ms, DAY_MS);
	if (reach_ms == 0)
		return d;
	d->last_ms = now_ms + (arrivals_are_young(a, now_ms) ? goes_on_ms(reach_ms, seed)
							     : ARRIVALS_COME_DAYS * DAY_MS);
	d->days = (size_t)(reach_ms / d->day_ms);
	begin_day(d, 0);
	return d;
}

void arrivals_draw_free(struct arrivals_draw *d)
{
	free(d);
}

static struct uid made_uid(uint64_t seed, uint64_t n)
{
	struct uid uid;
	uint64_t head = UINT64_MAX, tail = htobe64(seed << 40 ^ n);
	memcpy(uid.byte, &head, 8);
	memcpy(uid.byte + 8, &tail, 8);
	return uid;
}

static void make_job(struct arrivals_draw *d, const struct arrival *c, int64_t at_ms)
{
	snprintf(d->name, sizeof(d->name), "forecast-%llu", (unsigned long long)d->made);
	d->container = (struct container){.requests = {c->request, c->nrequests}};
	d->job = (struct job){.uid = made_uid(d->seed, d->made++),
		.ns = c->ns,
		.name = d->name,
		.created_ms = at_ms,
		.queue = c->queue,
		.priority_class = c->priority_class,
		.pod_priority_class = c->pod_priority_class,
		.family = c->family,
		.submitted_by = c->submitted_by,
		.durations = c->durations,
		.terms = c->terms,
		.suspend = true,
		.parallelism = c->parallelism,
		.completions = c->completions,
		.has_completions = c->has_completions,
		.min_parallelism = c->min_parallelism,
		.completions_follow = c->completions_follow,
		.grow = c->grow,
		.lending = c->lending,
		.grace_ms = c->grace_ms,
		.placement = c->placement,
		.pod = {.containers = &d->container, .ncontainers = 1, .runtime_class = ""}};
}

bool arrivals_next(int64_t *ret_at_ms, const struct job **ret_job, void *draw)
{
	struct arrivals_draw *d = draw;
	while (d->days > 0 && d->made < ARRIVALS_COME_MAX &&
		d->begin_ms + d->day * d->day_ms < d->last_ms) {
		const struct arrival *c = d->next < d->of->end ? d->of->all[d->next] : NULL;
		int64_t end_ms = d->begin_ms + (d->day + 1) * d->day_ms;
		if (c && c->at_ms + d->shift_ms <= end_ms) {
			d->next++;
			*ret_at_ms = c->at_ms + d->shift_ms;
			if (*ret_at_ms > d->last_ms)
				return false;
			make_job(d, c, *ret_at_ms);
			*ret_job = &d->job;
			return true;
		}
		begin_day(d, d->day + 1);
	}
	return false;
}
