#include "queue/core/model/duration.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/tell.h"

struct family {
	char *ns, *name;
	struct link idle;	    /* in families.idle, while no Job names it */
	struct link members;	    /* workload.of_family */
	struct link runs, promises; /* reservation.of_family */
	struct link singletons;	    /* dependency_wait.of_family */
	size_t nmembers;
	size_t untold;	 /* runs that ended since its members were told: */
	int64_t told_ms; /* 0: nothing yet */
	int64_t *sample; /* the last runs, a ring; NULL: none ended yet */
	size_t nsamples, next;
};

struct family_key {
	const char *ns, *name;
};

static bool family_is(const void *value, const void *key)
{
	const struct family *f = value;
	const struct family_key *k = key;
	return strcmp(f->name, k->name) == 0 && strcmp(f->ns, k->ns) == 0;
}

static uint64_t family_hash(const char *ns, const char *name)
{
	return map_hash_string(ns) * 31 + map_hash_string(name);
}

void families_init(struct families *all)
{
	map_init(&all->map, family_is);
	list_init(&all->idle);
	all->count = 0;
}

static void family_free(struct families *all, struct family *f)
{
	struct family_key key = {f->ns, f->name};
	must(map_take(&all->map, family_hash(f->ns, f->name), &key) == f);
	must(f->nmembers == 0);
	all->count--;
	list_leave(&f->idle);
	free(f->ns);
	free(f->name);
	free(f->sample);
	free(f);
}

static struct family *first_idle(const struct families *all)
{
	return list_empty(&all->idle) ? NULL : container_of(all->idle.next, struct family, idle);
}

void families_done(struct families *all)
{
	struct family *f;
	while ((f = first_idle(all)))
		family_free(all, f);
	must(all->count == 0);
	map_done(&all->map);
}

static struct family *family_of(struct families *all, const char *ns, const char *name)
{
	struct family_key key = {ns, name};
	struct family *f = map_get(&all->map, family_hash(ns, name), &key);
	if (f)
		return f;
	f = mem_alloc(sizeof(*f));
	f->ns = mem_strdup(ns);
	f->name = mem_strdup(name);
	list_init(&f->members);
	list_init(&f->runs);
	list_init(&f->promises);
	list_init(&f->singletons);
	map_put(&all->map, family_hash(ns, name), f);
	all->count++;
	return f;
}

/* No Job names it now. Without samples it is freed; else it is the last to be forgotten. */
static void rest(struct families *all, struct family *f)
{
	if (!f->sample) {
		family_free(all, f);
		return;
	}
	list_leave(&f->idle);
	list_add(&all->idle, &f->idle);
	struct family *oldest;
	while (all->count > DURATION_FAMILIES && (oldest = first_idle(all)))
		family_free(all, oldest);
}

struct link *family_runs(struct family *f)
{
	return &f->runs;
}

struct link *family_promises(struct family *f)
{
	return &f->promises;
}

struct link *family_singletons(struct family *f)
{
	return &f->singletons;
}

void family_join(struct queue *q, struct workload *w, const char *ns, const char *family)
{
	must(!w->family);
	if (!family || !*family)
		return;
	struct family *f = family_of(&q->families, ns, family);
	list_leave(&f->idle);
	list_add(&f->members, &w->of_family);
	f->nmembers++;
	w->family = f;
	each_feature(x, q->features_awake, family_joined)
		x->family_joined(q, w);
}

void family_leave(struct queue *q, struct workload *w)
{
	struct family *f = w->family;
	if (!f)
		return;
	list_leave(&w->of_family);
	each_feature(x, q->features_awake, family_leaves)
		x->family_leaves(q, w);
	w->family = NULL;
	if (--f->nmembers == 0)
		rest(&q->families, f);
}

const char *family_name(const struct workload *w)
{
	return w->family ? w->family->name : "";
}

static int by_length(const void *va, const void *vb)
{
	int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
	return a < b ? -1 : a > b;
}

/* The p95 by nearest rank; 0: too few samples. */
static int64_t family_expects(const struct family *f)
{
	int64_t sorted[DURATION_SAMPLES];
	if (f->nsamples < DURATION_SAMPLES_MIN)
		return 0;
	memcpy(sorted, f->sample, f->nsamples * sizeof(*sorted));
	qsort(sorted, f->nsamples, sizeof(*sorted), by_length);
	return sorted[(f->nsamples * 95 + 99) / 100 - 1];
}

/* Runs keep the duration with which they were started. */
static void tell_members(struct queue *q, struct family *f, int64_t expected_ms)
{
	f->untold = 0;
	f->told_ms = expected_ms;
	list_each_entry(&f->members, struct workload, w, of_family) {
		bool asks = w->expected_from == DURATION_UNKNOWN ||
			    w->expected_from == DURATION_HISTORY;
		if (asks && !w->reservation)
			workload_expect(q, w, expected_ms, DURATION_HISTORY);
	}
}

static void family_sample(struct queue *q, struct family *f, int64_t ran_ms)
{
	if (!f->sample)
		f->sample = mem_array(DURATION_SAMPLES, sizeof(*f->sample));
	f->sample[f->next] = ran_ms > 0 ? ran_ms : 1;
	f->next = (f->next + 1) % DURATION_SAMPLES;
	f->nsamples += f->nsamples < DURATION_SAMPLES;
	f->untold++;
	int64_t expected_ms = family_expects(f);
	if (expected_ms > 0 && expected_ms != f->told_ms &&
		(f->told_ms == 0 || f->untold >= f->nmembers / 16))
		tell_members(q, f, expected_ms);
}

int64_t duration_expected(
	const struct job *j, const struct family *f, enum duration_source *ret_source)
{
	int64_t known_ms = j->durations.expected_ms > 0		 ? j->durations.expected_ms
			   : j->durations.active_deadline_ms > 0 ? j->durations.active_deadline_ms
			   : f					 ? family_expects(f)
								 : 0;
	*ret_source = j->durations.expected_ms > 0	    ? DURATION_ANNOTATION
		      : j->durations.active_deadline_ms > 0 ? DURATION_DEADLINE
		      : known_ms > 0			    ? DURATION_HISTORY
							    : DURATION_UNKNOWN;
	return known_ms;
}

void queue_recall_duration(struct queue *q, const char *ns, const char *family, int64_t ran_ms)
{
	queue_tell(q, RECALL_DURATION, .ns = ns, .family = family, .ran_ms = ran_ms);
	if (!*family)
		return;
	struct family *f = family_of(&q->families, ns, family);
	family_sample(q, f, ran_ms);
	if (f->nmembers == 0)
		rest(&q->families, f);
}

void queue_finished_job(struct queue *q, const struct uid *uid, int64_t now_ms)
{
	queue_tell(q, FINISHED_JOB, .uid = *uid, .now_ms = now_ms);
	struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->reservation || !w->reservation->confirmed || w->reservation->run.sampled)
		return;
	w->reservation->run.sampled = true;
	if (w->family)
		family_sample(q, w->family, now_ms - w->reservation->since_ms);
}
