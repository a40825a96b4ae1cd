#include "queue/cluster/quota_flight.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "queue/cluster/footprint.h"
#include "queue/job/resources.h"

/* How many were made, as of a version at which the quotas have not been seen. */
struct sighting {
	int64_t version;
	int32_t made;
};

/* Enough for a Job with a few batches of pods between two events of quotas. With more the last two
 * are joined, and some pods count as in flight a little longer. */
#define SIGHTINGS_MAX 4

struct run {
	struct uid uid;
	struct kind *kind;
	struct pod_count pods;
	int32_t made, ended;
	int32_t sure;			      /* of those made, in the quotas' status */
	struct sighting later[SIGHTINGS_MAX]; /* in the order of their versions */
	size_t nlater;
	bool over;		 /* in no map any more: freed when the status has it */
	struct run *prev, *next; /* in its namespace's `unseen`, while there are any later */
};

/* The sums of the runs of one namespace with pods of one footprint. */
struct kind {
	struct space *space;
	struct kind *next;
	struct footprint *footprint;
	uint64_t hash;
	size_t nruns;
	int64_t want;		/* pods to have at one time */
	int64_t missing;	/* of these, not surely counted */
	int64_t missing_in_all; /* of all to be made, not surely counted */
};

/* A namespace with runs. */
struct space {
	char *name;
	int64_t seen; /* its quotas, by a list of them */
	struct kind *kinds;
	/* Runs with sightings that were not seen yet, by the version of the first: what is seen
	 * next is at the front. */
	struct {
		struct run *first, *last;
	} unseen;
};

struct quota_flight {
	int64_t seen; /* all quotas, by a watch */
	struct map spaces, runs;
	struct run *gone; /* to be freed */
};

static bool space_has_name(const void *value, const void *key)
{
	return strcmp(((const struct space *)value)->name, key) == 0;
}

static bool run_has_uid(const void *value, const void *key)
{
	return uid_cmp(&((const struct run *)value)->uid, key) == 0;
}

struct quota_flight *quota_flight_new(void)
{
	struct quota_flight *f = mem_alloc(sizeof(*f));
	map_init(&f->spaces, space_has_name);
	map_init(&f->runs, run_has_uid);
	return f;
}

/* ---- namespaces and kinds -------------------------------------------------------------------- */

static struct space *space_get(const struct quota_flight *f, const char *ns)
{
	return map_get(&f->spaces, map_hash_string(ns), ns);
}

static struct space *space_ensure(struct quota_flight *f, const char *ns)
{
	struct space *s = space_get(f, ns);
	if (s)
		return s;
	s = mem_alloc(sizeof(*s));
	s->name = mem_strdup(ns);
	map_put(&f->spaces, map_hash_string(ns), s);
	return s;
}

/* The kind, with one run more. */
static struct kind *kind_join(struct quota_flight *f, const struct pod *p)
{
	struct space *s = space_ensure(f, p->ns);
	struct footprint *footprint = footprint_new(p);
	uint64_t hash = footprint_hash(footprint);
	struct kind *k = s->kinds;
	while (k && (k->hash != hash || !footprint_same(k->footprint, footprint)))
		k = k->next;
	if (k) {
		free(footprint);
	} else {
		k = mem_alloc(sizeof(*k));
		*k = (struct kind){
			.space = s, .next = s->kinds, .footprint = footprint, .hash = hash};
		s->kinds = k;
	}
	k->nruns++;
	return k;
}

static void kind_leave(struct quota_flight *f, struct kind *k)
{
	struct space *s = k->space;
	struct kind **at = &s->kinds;
	if (--k->nruns > 0)
		return;
	while (*at != k)
		at = &(*at)->next;
	*at = k->next;
	free(k->footprint);
	free(k);
	if (!s->kinds) {
		must(map_take(&f->spaces, map_hash_string(s->name), s->name) == s);
		free(s->name);
		free(s);
	}
}

/* ---- one run --------------------------------------------------------------------------------- */

static int32_t positive(int32_t n)
{
	return n > 0 ? n : 0;
}

/* Surely counted pods may have ended since; which ones is not known. */
static int32_t missing_of(const struct run *r)
{
	return positive(r->pods.at_once - positive(r->sure - r->ended));
}

static int32_t missing_in_all_of(const struct run *r)
{
	return positive(r->pods.in_all - r->sure);
}

static void run_add(struct run *r)
{
	struct kind *k = r->kind;
	k->want += r->pods.at_once;
	k->missing += missing_of(r);
	k->missing_in_all += missing_in_all_of(r);
}

static void run_subtract(struct run *r)
{
	struct kind *k = r->kind;
	k->want -= r->pods.at_once;
	k->missing -= missing_of(r);
	k->missing_in_all -= missing_in_all_of(r);
}

/* Versions mostly come in their order, so its place is near the end. */
static void run_link(struct run *r)
{
	struct space *s = r->kind->space;
	if (r->nlater == 0)
		return;
	r->prev = s->unseen.last;
	while (r->prev && r->prev->later[0].version > r->later[0].version)
		r->prev = r->prev->prev;
	r->next = r->prev ? r->prev->next : s->unseen.first;
	*(r->prev ? &r->prev->next : &s->unseen.first) = r;
	*(r->next ? &r->next->prev : &s->unseen.last) = r;
}

static void run_unlink(struct run *r)
{
	struct space *s = r->kind->space;
	if (r->nlater == 0)
		return;
	*(r->prev ? &r->prev->next : &s->unseen.first) = r->next;
	*(r->next ? &r->next->prev : &s->unseen.last) = r->prev;
}

/* Sightings up to the seen version are sure. */
static void run_settle(struct run *r, int64_t seen)
{
	size_t n = 0;
	while (n < r->nlater && r->later[n].version <= seen)
		r->sure = r->later[n++].made;
	r->nlater -= n;
	memmove(r->later, r->later + n, r->nlater * sizeof(*r->later));
}

/* No sighting can have more pods than there are now. */
static void run_clamp(struct run *r)
{
	r->sure = r->sure < r->made ? r->sure : r->made;
	for (size_t i = 0; i < r->nlater; i++)
		if (r->later[i].made > r->made)
			r->later[i].made = r->made;
}

static void run_sight(struct run *r, int64_t version)
{
	int32_t known = r->nlater > 0 ? r->later[r->nlater - 1].made : r->sure;
	if (r->made <= known)
		return;
	if (r->nlater == SIGHTINGS_MAX)
		r->nlater--;
	r->later[r->nlater++] = (struct sighting){version, r->made};
}

static void run_free(struct quota_flight *f, struct run *r)
{
	run_subtract(r);
	run_unlink(r);
	kind_leave(f, r->kind);
	free(r);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* Updates the sums of its kind. Its place by first sighting does not change. */
static void run_change(struct run *r, const struct quota_run *now)
{
	bool was_linked = r->nlater > 0;
	run_subtract(r);
	r->pods.at_once = positive(now->pods.at_once);
	r->pods.in_all = positive(now->pods.in_all);
	r->made = positive(now->made);
	r->ended = positive(now->ended);
	run_clamp(r);
	run_sight(r, now->version);
	run_add(r);
	if (!was_linked)
		run_link(r);
}

/* Mostly the pods are the same as before. */
static void run_move(struct quota_flight *f, struct run *r, const struct pod *p)
{
	struct kind *to = kind_join(f, p), *from = r->kind;
	if (to == from) {
		kind_leave(f, from);
		return;
	}
	if (from) {
		run_subtract(r);
		run_unlink(r);
		kind_leave(f, from);
	}
	r->kind = to;
	run_add(r);
	run_link(r);
}

static void run_go(struct quota_flight *f, struct run *r)
{
	r->next = f->gone;
	f->gone = r;
}

/* Runs that are over and in the status are freed afterwards, because the namespace may go with
 * them. */
static void space_settle(struct quota_flight *f, struct space *s)
{
	int64_t seen = greater(s->seen, f->seen);
	struct run *r;
	while ((r = s->unseen.first) && r->later[0].version <= seen) {
		run_unlink(r);
		run_subtract(r);
		run_settle(r, seen);
		run_add(r);
		run_link(r);
		if (r->over && r->nlater == 0)
			run_go(f, r);
	}
}

static void free_gone(struct quota_flight *f)
{
	for (struct run *r; (r = f->gone);) {
		f->gone = r->next;
		run_free(f, r);
	}
}

void quota_flight_set(struct quota_flight *f, const struct quota_run *now)
{
	uint64_t hash = uid_hash(&now->uid);
	struct run *r = map_get(&f->runs, hash, &now->uid);
	if (!r) {
		r = mem_alloc(sizeof(*r));
		r->uid = now->uid;
		map_put(&f->runs, hash, r);
	}
	run_move(f, r, now->pod);
	run_change(r, now);
	space_settle(f, r->kind->space);
	free_gone(f);
}

void quota_flight_drop(struct quota_flight *f, const struct uid *uid)
{
	struct run *r = map_take(&f->runs, uid_hash(uid), uid);
	if (!r)
		return;
	if (r->nlater == 0) {
		run_free(f, r);
		return;
	}
	run_subtract(r);
	r->over = true;
	r->pods = (struct pod_count){0, r->made};
	run_add(r);
}

void quota_flight_seen(struct quota_flight *f, const char *ns, int64_t version)
{
	struct space *s;
	if (ns) {
		s = space_get(f, ns);
		if (s && version > s->seen) {
			s->seen = version;
			space_settle(f, s);
			free_gone(f);
		}
		return;
	}
	if (version <= f->seen)
		return;
	f->seen = version;
	map_each(&f->spaces, i, s)
		space_settle(f, s);
	free_gone(f);
}

static void collect_over(struct quota_flight *f, struct space *s)
{
	for (struct run *r = s->unseen.first, *next; r; r = next) {
		next = r->next;
		if (!r->over)
			continue;
		run_unlink(r);
		r->nlater = 0;
		run_go(f, r);
	}
}

void quota_flight_free(struct quota_flight *f)
{
	struct space *s;
	struct run *r;
	if (!f)
		return;
	map_each(&f->spaces, i, s)
		collect_over(f, s);
	free_gone(f);
	map_each(&f->runs, i, r)
		run_free(f, r);
	map_done(&f->runs);
	map_done(&f->spaces);
	free(f);
}

/* ---- answers --------------------------------------------------------------------------------- */

static int64_t reserved_of(
	const struct space *s, const struct resource_quota *q, const bool *counts, const char *name)
{
	int64_t missing = 0, want = 0;
	size_t i = 0;
	bool kept = strcmp(name, "count/pods") == 0; /* also when they have ended */
	for (const struct kind *k = s->kinds; k; k = k->next, i++) {
		struct resource one;
		if (!counts[i] || !footprint_usage(k->footprint, name, &one))
			continue;
		missing = quantity_add(
			missing, quantity_times(one.amount, kept ? k->missing_in_all : k->missing));
		want = quantity_add(want, quantity_times(one.amount, kept ? 0 : k->want));
	}
	const struct resource *used = resources_find(&q->used, name);
	return greater(missing, want - (used ? used->amount : 0));
}

void quota_flight_reserved(
	const struct quota_flight *f, const struct resource_quota *q, int64_t *ret)
{
	const struct space *s = space_get(f, q->ns);
	size_t n = 0;
	for (size_t i = 0; i < q->hard.count; i++)
		ret[i] = 0;
	if (!s)
		return;
	for (const struct kind *k = s->kinds; k; k = k->next)
		n++;
	bool *counts = mem_array(n, sizeof(*counts));
	n = 0;
	for (const struct kind *k = s->kinds; k; k = k->next)
		counts[n++] = footprint_counts(k->footprint, q);
	for (size_t i = 0; i < q->hard.count; i++)
		ret[i] = reserved_of(s, q, counts, q->hard.item[i].name);
	free(counts);
}

bool quota_flight_behind(const struct quota_flight *f, const char *ns, int64_t *ret_version)
{
	const struct space *s = space_get(f, ns);
	int64_t version = 0;
	for (const struct run *r = s ? s->unseen.first : NULL; r; r = r->next)
		if (r->later[r->nlater - 1].version > version)
			version = r->later[r->nlater - 1].version;
	if (version > 0)
		*ret_version = version;
	return version > 0;
}
