#include "forecast/durations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/mix.h"
#include "base/must.h"
#include "base/order.h"

/* Chosen with test/bench/eta.c. OLDER_WEIGHS from 0.8 to 0.97, WIDER_WEIGHS from 0.2 to 2, ALIKE from
 * 0.1 to 0.6 and WIDTH_LEAST from 0.05 were tried on NASA's trace: the errors differ by less than
 * they do from one sample of Jobs to the next, but 0.8. The others are plain choices. */
#define OLDER_WEIGHS 0.95  /* the weight of a sample, in that of the next newer one */
#define WIDER_WEIGHS 1.0   /* samples that weigh so much in a group are as good as all wider ones */
#define ALIKE 0.5	   /* the part of the variance that runs of a group share in one play */
#define OVERDUE_SHAPE 2.0  /* of the Pareto tail of runs that are overdue */
#define OVERDUE_BELOW 1e-6 /* of the density is above what a run lasted: it is overdue */
#define WIDTH_LEAST 0.1	   /* of the kernel that a sample becomes */
#define WIDTH_MOST 0.3
#define WIDTH_ONE 0.7 /* the least for one sample; half of that for two, and so on */
#define FLOOR 1e-5    /* of a density: nothing is impossible */

/* The bounds of densities over logarithms, with a part each STEP. */
#define STEP 0.1
#define LENGTH_FROM 6.2 /* log of 500 ms */
#define SHARE_FROM (-9.2)
enum { LENGTHS = 168, SHARES = 140 }; /* to 113 days, to a hundred times what was asked */

/* How many samples are believed as they are, and how well they must agree. */
#define AGREE 0.005
enum { AGREEING = 8 };

enum { MIXTURES = 4096 }; /* that are kept */

enum level { LEVEL_TWINS, LEVEL_FAMILY, LEVEL_USER, LEVEL_QUEUE, LEVEL_ALL, LEVELS };

struct sample {
	int64_t ran_ms, asked_ms; /* 0: nothing was asked */
};

/* What is known of the logarithms of samples. */
struct logs {
	size_t n;
	double mean, spread; /* spread: the standard deviation */
};

struct group_of_runs {
	char *key;
	uint64_t hash;
	struct link by_age; /* durations.groups: the one told the longest time ago first */
	struct sample sample[DURATIONS_KEPT]; /* a ring */
	size_t n, next;
	struct link unsettled; /* durations.unsettled: what follows is not of all samples */
	bool of_family;	       /* a family's, or narrower: other groups have others' runs, too */
	double length_weight, share_weight; /* of all samples; of those with a share */
	struct logs lengths, shares;	    /* of ms; of what was asked */
	float length_density[LENGTHS], share_density[SHARES]; /* each sums up to 1, or is all 0 */
};

/* What all groups of a run say together. It is kept, since the waiting Jobs of a queue are of few
 * families, and forgotten with the next sample. */
struct mixture {
	char *key;
	uint64_t hash;
	uint64_t narrowest; /* a number for the narrowest group */
	double agreed;	    /* a share that all samples agree on; 0: there is none */
	bool any;
	double length[LENGTHS];	      /* where nothing was asked */
	double asked_length[LENGTHS]; /* before the share of what was asked is heeded */
	double unknown;		      /* the part of asked_length that may be as long as anything */
	double unasked; /* the part of asked_length of runs for which it is not known what was asked */
	double share[SHARES];
};

struct durations {
	struct map groups, mixtures;
	struct link by_age, unsettled;
	size_t ngroups;
	struct siphash_key key;
};

/* ---- groups ---------------------------------------------------------------------------------- */

static bool group_is(const void *value, const void *key)
{
	return strcmp(((const struct group_of_runs *)value)->key, key) == 0;
}

static bool mixture_is(const void *value, const void *key)
{
	return strcmp(((const struct mixture *)value)->key, key) == 0;
}

static void mixture_free(void *value)
{
	struct mixture *m = value;
	free(m->key);
	free(m);
}

static void mixtures_forget(struct durations *d)
{
	map_free(&d->mixtures, mixture_free);
	map_init(&d->mixtures, mixture_is);
}

struct durations *durations_new(const struct siphash_key *key)
{
	struct durations *d = mem_alloc(sizeof(*d));
	map_init(&d->groups, group_is);
	map_init(&d->mixtures, mixture_is);
	list_init(&d->by_age);
	list_init(&d->unsettled);
	d->key = *key;
	return d;
}

static void group_free(struct durations *d, struct group_of_runs *g)
{
	must(map_take(&d->groups, g->hash, g->key) == g);
	list_leave(&g->by_age);
	list_leave(&g->unsettled);
	d->ngroups--;
	free(g->key);
	free(g);
}

void durations_free(struct durations *d)
{
	if (!d)
		return;
	mixtures_forget(d);
	while (!list_empty(&d->by_age))
		group_free(d, container_of(d->by_age.next, struct group_of_runs, by_age));
	map_done(&d->groups);
	free(d);
}

size_t durations_groups(const struct durations *d)
{
	return d->ngroups;
}

/* The size of a key: longer than all names together, for namespaces, families and users are
 * bounded. */
enum { KEY_SIZE = 1024, MIXTURE_KEY_SIZE = 1280 };

/* Writes the key of a run's group; "": there is none. Only a user's name may have a line break in
 * it, so it stands last. */
static void key_of(const struct duration_run *r, enum level level, char ret[KEY_SIZE])
{
	*ret = '\0';
	switch (level) {
	case LEVEL_TWINS:
		if (*r->family && r->pods > 0)
			snprintf(ret, KEY_SIZE, "t\n%s\n%s\n%d", r->ns, r->family, r->pods);
		return;
	case LEVEL_FAMILY:
		if (*r->family)
			snprintf(ret, KEY_SIZE, "f\n%s\n%s", r->ns, r->family);
		return;
	case LEVEL_USER:
		if (*r->user)
			snprintf(ret, KEY_SIZE, "u\n%s\n%s\n%s", r->ns, r->localqueue, r->user);
		return;
	case LEVEL_QUEUE:
		snprintf(ret, KEY_SIZE, "q\n%s", r->clusterqueue);
		return;
	case LEVEL_ALL:
		snprintf(ret, KEY_SIZE, "a");
		return;
	case LEVELS:
		return;
	}
}

static uint64_t key_hash(const struct durations *d, const char *key)
{
	uint64_t hash[2];
	siphash128(&d->key, key, strlen(key), hash);
	return hash[0];
}

static struct group_of_runs *group_find(const struct durations *d, const char *key)
{
	return *key ? map_get(&d->groups, key_hash(d, key), key) : NULL;
}

static struct group_of_runs *group_made(struct durations *d, const char *key, enum level level)
{
	struct group_of_runs *g = group_find(d, key);
	if (g)
		return g;
	while (d->ngroups >= DURATIONS_GROUPS)
		group_free(d, container_of(d->by_age.next, struct group_of_runs, by_age));
	g = mem_alloc(sizeof(*g));
	g->key = mem_strdup(key);
	g->hash = key_hash(d, key);
	g->of_family = level <= LEVEL_FAMILY;
	map_put(&d->groups, g->hash, g);
	d->ngroups++;
	return g;
}

struct duration_run duration_run_of(const struct job_outline *o)
{
	bool asked =
		o->expected_from == DURATION_ANNOTATION || o->expected_from == DURATION_DEADLINE;
	return (struct duration_run){.ns = o->ns,
		.family = o->family,
		.user = o->user,
		.localqueue = o->localqueue,
		.clusterqueue = o->clusterqueue,
		.pods = o->full_pods > 0 ? o->full_pods : o->pods,
		.asked_ms = asked ? o->expected_ms : 0,
		.ends = o->expected_from == DURATION_DEADLINE};
}

void durations_tell(struct durations *d, const struct duration_run *run, int64_t ran_ms)
{
	char key[KEY_SIZE];
	if (d->mixtures.count > 0)
		mixtures_forget(d);
	for (enum level level = 0; level < LEVELS; level++) {
		key_of(run, level, key);
		if (!*key)
			continue;
		struct group_of_runs *g = group_made(d, key, level);
		list_leave(&g->by_age);
		list_add(&d->by_age, &g->by_age);
		g->sample[g->next] = (struct sample){greater(ran_ms, 1), greater(run->asked_ms, 0)};
		g->next = (g->next + 1) % DURATIONS_KEPT;
		g->n += g->n < DURATIONS_KEPT;
		if (!list_in(&g->unsettled))
			list_add(&d->unsettled, &g->unsettled);
	}
}

/* ---- densities ------------------------------------------------------------------------------- */

struct weighed {
	double log, weight;
};

static struct logs logs_of(const struct weighed *all, size_t n, double *ret_weight)
{
	double sum = 0, logs = 0, squares = 0;
	for (size_t i = 0; i < n; i++) {
		sum += all[i].weight;
		logs += all[i].weight * all[i].log;
	}
	double mean = n > 0 ? logs / sum : 0;
	for (size_t i = 0; i < n; i++)
		squares += all[i].weight * (all[i].log - mean) * (all[i].log - mean);
	*ret_weight = sum;
	return (struct logs){n, mean, n > 0 ? sqrt(squares / sum) : 0};
}

/* Follows Silverman's rule, within bounds; wider where samples are few. */
static double width_of(const struct logs *l)
{
	double width = 1.06 * l->spread * pow((double)l->n, -0.2);
	width = fmin(fmax(width, WIDTH_LEAST), WIDTH_MOST);
	return l->n > 0 ? fmax(width, WIDTH_ONE / (double)l->n) : width;
}

static void add_kernel(float *density, int n, double from, double log, double width, double weight)
{
	int low = (int)floor((log - 3 * width - from) / STEP),
	    high = low + (int)(6 * width / STEP) + 2;
	for (int i = low; i <= high; i++) {
		double z = (from + (i + 0.5) * STEP - log) / width;
		int at = i < 0 ? 0 : i >= n ? n - 1 : i;
		density[at] += (float)(weight * exp(-z * z / 2));
	}
}

static void spread_out(
	const struct weighed *all, const struct logs *l, double from, float *density, int n)
{
	double width = width_of(l), sum = 0;
	memset(density, 0, (size_t)n * sizeof(*density));
	for (size_t i = 0; i < l->n; i++)
		add_kernel(density, n, from, all[i].log, width, all[i].weight);
	for (int i = 0; i < n; i++)
		sum += (double)density[i];
	for (int i = 0; i < n && sum > 0; i++)
		density[i] = (float)((double)density[i] / sum);
}

static void group_settle(struct group_of_runs *g)
{
	struct weighed lengths[DURATIONS_KEPT], shares[DURATIONS_KEPT];
	size_t nshares = 0;
	double weight = 1;
	for (size_t i = 0; i < g->n; i++, weight *= OLDER_WEIGHS) {
		const struct sample *s =
			&g->sample[(g->next + 2 * DURATIONS_KEPT - 1 - i) % DURATIONS_KEPT];
		lengths[i] = (struct weighed){log((double)s->ran_ms), weight};
		if (s->asked_ms > 0)
			shares[nshares++] =
				(struct weighed){lengths[i].log - log((double)s->asked_ms), weight};
	}
	g->lengths = logs_of(lengths, g->n, &g->length_weight);
	g->shares = logs_of(shares, nshares, &g->share_weight);
	spread_out(lengths, &g->lengths, LENGTH_FROM, g->length_density, LENGTHS);
	spread_out(shares, &g->shares, SHARE_FROM, g->share_density, SHARES);
	list_leave(&g->unsettled);
}

bool durations_settle_some(struct durations *d, size_t groups)
{
	for (size_t i = 0; i < groups && !list_empty(&d->unsettled); i++)
		group_settle(container_of(d->unsettled.next, struct group_of_runs, unsettled));
	return list_empty(&d->unsettled);
}

void durations_settle(struct durations *d)
{
	durations_settle_some(d, SIZE_MAX);
}

/* ---- draws ----------------------------------------------------------------------------------- */

static double uniform(uint64_t bits)
{
	return ((double)(bits >> 11) + 0.5) / 9007199254740992.0;
}

/* Returns the quantile u of the normal distribution, exact to 4.5e-4 (Abramowitz and Stegun
 * 26.2.23). */
static double normal_at(double u)
{
	double p = u < 0.5 ? u : 1 - u, t = sqrt(-2 * log(p));
	double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
			       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
	return u < 0.5 ? -z : z;
}

/* Draws a part that is uniform for each Job, and alike for the Jobs of one group. */
static double part_of(uint64_t group, const struct uid *uid, uint64_t seed)
{
	double shared = normal_at(uniform(mix64(seed * 0x9E3779B97F4A7C15u + group)));
	double own = normal_at(uniform(mix64(mix64(seed + 0x632BE59BD9B4E019u) ^ uid_hash(uid))));
	double z = sqrt(ALIKE) * shared + sqrt(1 - ALIKE) * own;
	return 0.5 * erfc(-z / M_SQRT2);
}

/* The groups that know something of a run, the narrow ones first. */
struct known {
	struct group_of_runs *group[LEVELS];
	size_t n;
	uint64_t narrowest; /* a number for the first of them */
};

static struct known known_of(struct durations *d, const struct duration_run *run)
{
	struct known k = {.n = 0};
	char key[KEY_SIZE];
	for (enum level level = 0; level < LEVELS; level++) {
		key_of(run, level, key);
		struct group_of_runs *g = group_find(d, key);
		if (!g)
			continue;
		if (list_in(&g->unsettled))
			group_settle(g);
		if (k.n == 0)
			k.narrowest = map_hash_string(key);
		k.group[k.n++] = g;
	}
	return k;
}

/* Returns the share of what was asked that all samples agree on; 0: there is none. */
static double agreed_share(const struct known *k)
{
	bool right = k->n > 0;
	for (size_t i = 0; i < k->n; i++) {
		const struct logs *l = &k->group[i]->shares;
		right = right && l->n > 0 && l->spread < AGREE && fabs(l->mean) < AGREE;
	}
	if (right)
		return 1; /* people knew, so far */
	for (size_t i = 0; i < k->n; i++)
		if (k->group[i]->shares.n >= AGREEING)
			return k->group[i]->shares.spread < AGREE ? exp(k->group[i]->shares.mean)
								  : 0;
	return 0;
}

/* Takes a group's part of a density off the rest, by the weight of its samples. */
static double part_of_group(double weight, double *rest)
{
	double part = *rest * weight / (weight + WIDER_WEIGHS);
	*rest -= part;
	return part;
}

static void add_density(double *to, double part, const float *density, size_t n)
{
	for (size_t at = 0; at < n && part > 0; at++)
		to[at] += part * (double)density[at];
}

/* Returns what a group's lengths weigh for a run that asks for a time: others' runs count only if
 * they asked, too. */
static double weight_for_asked(const struct group_of_runs *g)
{
	return g->of_family ? g->length_weight : g->share_weight;
}

/* Adds what an owner's word is worth as a rule, where no group says it. */
static void add_word(struct mixture *m, double share_rest)
{
	float word[SHARES] = {0};
	add_kernel(word, SHARES, SHARE_FROM, 0, DURATION_ASKED_SPREAD, 1);
	double sum = 0;
	for (int i = 0; i < SHARES; i++)
		sum += (double)word[i];
	add_density(m->share, share_rest / sum, word, SHARES);
}

static struct mixture *mixture_new(struct durations *d, const struct duration_run *run)
{
	struct known k = known_of(d, run);
	struct mixture *m = mem_alloc(sizeof(*m));
	double length_rest = 1, asked_rest = 1, share_rest = 1;
	for (size_t i = 0; i < k.n; i++) {
		const struct group_of_runs *g = k.group[i];
		add_density(m->length, part_of_group(g->length_weight, &length_rest),
			g->length_density, LENGTHS);
		double part = part_of_group(weight_for_asked(g), &asked_rest);
		add_density(m->asked_length, part, g->length_density, LENGTHS);
		if (g->of_family && g->length_weight > 0)
			m->unasked += part * fmax(0, 1 - g->share_weight / g->length_weight);
		add_density(m->share, part_of_group(g->share_weight, &share_rest), g->share_density,
			SHARES);
	}
	add_word(m, share_rest);
	m->unknown = asked_rest;
	m->any = k.n > 0;
	m->narrowest = k.narrowest;
	m->agreed = agreed_share(&k);
	return m;
}

/* Finds what all groups of a run say together, or works it out. The user's name stands last in the
 * key: it may have a line break in it. */
static void mixture_key(const struct duration_run *r, char ret[MIXTURE_KEY_SIZE])
{
	const char *const part[] = {r->ns, r->family, r->clusterqueue, r->localqueue, r->user};
	char *at = ret, *end = ret + MIXTURE_KEY_SIZE - 16;
	for (uint32_t rest = (uint32_t)r->pods; rest > 0; rest /= 64)
		*at++ = (char)('0' + rest % 64);
	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
		*at++ = '\n';
		for (const char *c = part[i]; *c && at < end; c++)
			*at++ = *c;
	}
	*at = '\0';
}

static const struct mixture *mixture_of(struct durations *d, const struct duration_run *run)
{
	char key[MIXTURE_KEY_SIZE];
	mixture_key(run, key);
	uint64_t hash = key_hash(d, key);
	struct mixture *m = map_get(&d->mixtures, hash, key);
	if (m)
		return m;
	if (d->mixtures.count >= MIXTURES)
		mixtures_forget(d);
	m = mixture_new(d, run);
	m->key = mem_strdup(key);
	m->hash = hash;
	map_put(&d->mixtures, hash, m);
	return m;
}

/* Heeds what was asked: lengths that are a usual share of it become more likely. Where no share is
 * known they stay as likely. */
static void heed_asked(const struct mixture *m, double asked_log, double ret[LENGTHS])
{
	double unheeded = m->unasked / (1 - m->unknown);
	double place = (LENGTH_FROM - asked_log - SHARE_FROM) / STEP;
	int low = (int)fmin(fmax(floor(place), -2 * LENGTHS), SHARES + LENGTHS);
	double upper = place - floor(place);
	for (int at = 0; at < LENGTHS; at++) {
		int i = low + at;
		bool within = i >= 0 && i < SHARES - 1;
		double share = within ? (1 - upper) * m->share[i] + upper * m->share[i + 1] : 0;
		double heeded = (1 - unheeded) * (FLOOR + share) + unheeded / LENGTHS;
		ret[at] = m->asked_length[at] * heeded + m->unknown / LENGTHS * share;
	}
}

/* Finds where the part u of the density above from_log lies; -INFINITY: next to nothing is
 * above. */
static double log_at(const double density[LENGTHS], double from_log, double u)
{
	double from = fmin(fmax((from_log - LENGTH_FROM) / STEP, 0), LENGTHS - 1);
	int first = (int)from;
	double all = 0, below = density[first] * (from - first), sum;
	for (int at = 0; at < LENGTHS; at++)
		all += density[at];
	for (int at = 0; at < first; at++)
		below += density[at];
	sum = all - below;
	if (sum <= OVERDUE_BELOW * all)
		return -INFINITY;
	double want = below + u * sum;
	int at = 0;
	for (; at < LENGTHS - 1 && want > density[at]; at++)
		want -= density[at];
	double part = density[at] > 0 ? fmin(want / density[at], 1) : 0;
	return fmax(LENGTH_FROM + (at + part) * STEP, from_log);
}

static int64_t clamp_ms(double ms, int64_t ran_ms)
{
	double most = 9e18;
	int64_t whole = ms >= most ? INT64_MAX - 1 : (int64_t)llround(ms);
	return greater(whole, ran_ms + 1);
}

static int64_t overdue_ms(double u, int64_t ran_ms, enum duration_basis *ret_basis)
{
	*ret_basis = BASIS_OVERDUE;
	return clamp_ms((double)ran_ms * pow(1 - u, -1 / OVERDUE_SHAPE), ran_ms);
}

/* Draws around what was asked and above what the run has lasted, where no sample counts. */
static int64_t from_word_ms(
	int64_t asked_ms, int64_t ran_ms, double u, enum duration_basis *ret_basis)
{
	if (ran_ms >= asked_ms)
		return overdue_ms(u, ran_ms, ret_basis);
	*ret_basis = BASIS_ASKED;
	double middle = log((double)asked_ms), below = 0;
	if (ran_ms > 0)
		below = 0.5 *
			erfc((middle - log((double)ran_ms)) / DURATION_ASKED_SPREAD / M_SQRT2);
	double z = normal_at(below + u * (1 - below));
	return clamp_ms(exp(middle + DURATION_ASKED_SPREAD * z), ran_ms);
}

static int64_t from_samples_ms(const struct mixture *m, int64_t asked_ms, int64_t ran_ms, double u,
	enum duration_basis *ret_basis)
{
	double density[LENGTHS], from_log = ran_ms > 0 ? log((double)ran_ms) : -INFINITY;
	if (asked_ms > 0 && m->unknown >= 1)
		return from_word_ms(asked_ms, ran_ms, u, ret_basis);
	if (asked_ms > 0)
		heed_asked(m, log((double)asked_ms), density);
	else
		memcpy(density, m->length, sizeof(density));
	double log_ms = log_at(density, from_log, u);
	return isinf(log_ms) ? overdue_ms(u, ran_ms, ret_basis) : clamp_ms(exp(log_ms), ran_ms);
}

static int64_t draw_ms(struct durations *d, const struct duration_run *run, const struct uid *uid,
	uint64_t seed, int64_t ran_ms, enum duration_basis *ret_basis)
{
	const struct mixture *m = mixture_of(d, run);
	double agreed = run->asked_ms > 0 ? m->agreed * (double)run->asked_ms : 0;
	*ret_basis = BASIS_SAMPLES;
	if (agreed > (double)ran_ms)
		return clamp_ms(agreed, ran_ms);
	double u = part_of(m->narrowest, uid, seed);
	if (m->any)
		return from_samples_ms(m, run->asked_ms, ran_ms, u, ret_basis);
	if (run->asked_ms > 0)
		return from_word_ms(run->asked_ms, ran_ms, u, ret_basis);
	*ret_basis = BASIS_GUESS;
	return ran_ms < DURATION_GUESS_MS ? DURATION_GUESS_MS : overdue_ms(u, ran_ms, ret_basis);
}

int64_t durations_draw(struct durations *d, const struct duration_run *run, const struct uid *uid,
	uint64_t seed, int64_t ran_ms, enum duration_basis *ret_basis)
{
	int64_t ms = draw_ms(d, run, uid, seed, ran_ms, ret_basis);
	if (!run->ends || ms <= run->asked_ms)
		return ms;
	return greater(run->asked_ms, ran_ms + 1);
}
