#include "cli/simulate/ends.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/simulate/job_notes.h"

struct ended_run {
	int64_t ended_ms, ran_ms;
};

struct ends_family {
	char *ns, *name;
	struct ended_run run[ENDS_KEPT]; /* the last runs, in no order */
	size_t n;
};

struct family_key {
	const char *ns, *name;
};

static bool family_is(const void *value, const void *key)
{
	const struct ends_family *f = value;
	const struct family_key *k = key;
	return strcmp(f->ns, k->ns) == 0 && strcmp(f->name, k->name) == 0;
}

static uint64_t hash_of(const struct family_key *k)
{
	return map_hash_string(k->ns) * 31 + map_hash_string(k->name);
}

void ends_init(struct ends *x, int64_t assumed_ms)
{
	*x = (struct ends){.assumed_ms = assumed_ms};
	map_init(&x->families, family_is);
}

static void free_family(void *value)
{
	struct ends_family *f = value;
	free(f->ns);
	free(f->name);
	free(f);
}

void ends_done(struct ends *x)
{
	map_free(&x->families, free_family);
	free(x->family);
}

static struct ends_family *family_of(struct ends *x, const struct family_key *k)
{
	struct ends_family *f = map_get(&x->families, hash_of(k), k);
	if (f)
		return f;
	f = mem_alloc(sizeof(*f));
	f->ns = mem_strdup(k->ns);
	f->name = mem_strdup(k->name);
	map_put(&x->families, hash_of(k), f);
	x->family = mem_one_more(x->family, x->nfamilies, sizeof(*x->family));
	x->family[x->nfamilies++] = f;
	return f;
}

void ends_tell(struct ends *x, const char *ns, const char *family, int64_t ran_ms, int64_t ended_ms)
{
	size_t oldest = 0;
	if (!*family || ran_ms < 0)
		return;
	struct ends_family *f = family_of(x, &(struct family_key){ns, family});
	if (f->n < ENDS_KEPT) {
		f->run[f->n++] = (struct ended_run){ended_ms, ran_ms};
		return;
	}
	for (size_t i = 1; i < f->n; i++)
		if (f->run[i].ended_ms < f->run[oldest].ended_ms)
			oldest = i;
	if (f->run[oldest].ended_ms < ended_ms)
		f->run[oldest] = (struct ended_run){ended_ms, ran_ms};
}

/* ---- how long -------------------------------------------------------------------------------- */

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

/* Returns the median of the family's runs that lasted longer than ran_ms; 0: none did. */
static int64_t usual_ms(const struct ends *x, const char *ns, const char *family, int64_t ran_ms)
{
	const struct family_key k = {ns, family};
	const struct ends_family *f = *family ? map_get(&x->families, hash_of(&k), &k) : NULL;
	int64_t longer[ENDS_KEPT];
	size_t n = 0;
	for (size_t i = 0; f && i < f->n; i++)
		if (f->run[i].ran_ms > ran_ms)
			longer[n++] = f->run[i].ran_ms;
	if (n == 0)
		return 0;
	qsort(longer, n, sizeof(*longer), by_length);
	return longer[(n - 1) / 2];
}

/* Returns how long a run of the Job takes. ran_ms: the work that is done. NEVER_MS: nothing
 * tells. */
static int64_t length_of(const struct ends *x, const struct job *j, int64_t ran_ms)
{
	const struct job_durations *d = &j->durations;
	int64_t length_ms = d->expected_ms;
	if (length_ms <= ran_ms)
		length_ms = d->active_deadline_ms;
	if (length_ms <= ran_ms)
		length_ms = usual_ms(x, j->ns, j->family, ran_ms);
	if (length_ms <= ran_ms && x->assumed_ms > 0)
		length_ms = x->assumed_ms > ran_ms ? x->assumed_ms : ran_ms + x->assumed_ms;
	if (d->active_deadline_ms > 0 && (length_ms <= ran_ms || length_ms > d->active_deadline_ms))
		return d->active_deadline_ms;
	return length_ms > ran_ms ? length_ms : NEVER_MS;
}

/* Keeps what finished pods have done: they stay finished. That counts only for a Job that waits; of
 * a run it is not known how many had finished before it began. */
static void keep_finished_pods(struct sim_job *a)
{
	const struct job *j = a->record;
	int64_t done = job_done(j);
	if (a->step_ms == 0 || done <= 0 || j->parallelism < 1)
		return;
	int64_t kept_ms = done / j->parallelism * a->step_ms;
	a->kept_ms = kept_ms < a->duration_ms ? kept_ms : a->duration_ms - 1;
}

static void settle(const struct ends *x, struct sim_job *a, bool runs, int64_t ran_ms)
{
	a->duration_ms = length_of(x, a->record, ran_ms);
	if (a->duration_ms == NEVER_MS)
		return;
	if (a->step_ms == 0)
		a->step_ms = job_notes_wave_ms(a->record, a->duration_ms);
	if (!runs)
		keep_finished_pods(a);
}

static void settle_cronjob(const struct ends *x, struct world *w, struct cronjob *c)
{
	if (c->duration_ms != NEVER_MS)
		return;
	c->duration_ms = length_of(x, c->record, 0);
	w->nendless_cronjobs += c->duration_ms == NEVER_MS;
	w->nguessed += c->duration_ms != NEVER_MS;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Returns how much of each Job's work is done; -1: it does not run. */
static int64_t *runs_of(const struct world *w)
{
	int64_t *ran_ms = mem_array(w->nsim_jobs + 1, sizeof(*ran_ms));
	for (size_t i = 0; i < w->nsim_jobs; i++)
		ran_ms[i] = -1;
	for (size_t i = 0; i < w->nadoptions; i++) {
		const struct adoption *a = &w->adoption[i];
		const struct job *j = w->sim_job[a->sim_job].record;
		int32_t all = job_pods(j);
		__int128 ms = w->live ? w->now_ms - a->at_ms
				      : 0; /* in files the run ends so long after its start */
		if (a->leaves)
			continue;
		if (j->min_parallelism > 0 && !j->completions_follow && a->pods > 0 &&
			a->pods < all)
			ms = ms * a->pods / all; /* as world_done_ms() has it */
		ran_ms[a->sim_job] = (int64_t)ms + a->before_ms;
	}
	return ran_ms;
}

static bool is_played(const struct sim_job *a)
{
	return a->record && (a->state == SIM_JOB_COMING || a->state == SIM_JOB_RUNNING);
}

static void list_endless(struct world *w, const int64_t *ran_ms, bool running)
{
	for (size_t i = 0; i < w->nsim_jobs; i++) {
		const struct sim_job *a = &w->sim_job[i];
		if (is_played(a) && a->duration_ms == NEVER_MS && a->delete_ms == NEVER_MS &&
			running == (ran_ms[i] >= 0))
			w->endless[w->nendless++] = i;
	}
}

static int by_end(const void *a, const void *b)
{
	const struct ended_run *x = a, *y = b;
	if (x->ended_ms != y->ended_ms)
		return x->ended_ms < y->ended_ms ? -1 : 1;
	return x->ran_ms < y->ran_ms ? -1 : x->ran_ms > y->ran_ms;
}

static void tell_queue(const struct ends *x, struct queue *q)
{
	for (size_t i = 0; i < x->nfamilies; i++) {
		struct ends_family *f = x->family[i];
		qsort(f->run, f->n, sizeof(*f->run), by_end);
		for (size_t k = 0; k < f->n; k++)
			queue_recall_duration(q, f->ns, f->name, f->run[k].ran_ms);
	}
}

void ends_settle(const struct ends *x, struct world *w)
{
	int64_t *ran_ms = runs_of(w);
	tell_queue(x, w->queue);
	for (size_t i = 0; i < w->nsim_jobs; i++) {
		struct sim_job *a = &w->sim_job[i];
		if (!is_played(a) || a->duration_ms != NEVER_MS)
			continue;
		settle(x, a, ran_ms[i] >= 0, ran_ms[i] > 0 ? ran_ms[i] : 0);
		w->nguessed += a->duration_ms != NEVER_MS;
	}
	for (size_t i = 0; i < w->ncronjobs; i++)
		settle_cronjob(x, w, &w->cronjob[i]);
	w->endless = mem_array(w->nsim_jobs + 1, sizeof(*w->endless));
	list_endless(w, ran_ms, true);
	list_endless(w, ran_ms, false);
	free(ran_ms);
}
