#include "test/sim/newcomers.h"

#include <string.h>

#include "base/must.h"

#include "test/sim/sim.h"

#define SALT 0x6e6577636f6d6572 /* "newcomer" */

static int64_t *word_of(struct sim *s, const char *ns)
{
	for (size_t i = 0; i < NAMESPACES; i++)
		if (!strcmp(namespace_names[i], ns))
			return &s->newcomers.begun_by_ms[i];
	must_not_get_here();
}

int64_t newcomers_word(const struct sim *s, const char *ns)
{
	const int64_t *word = word_of((struct sim *)(uintptr_t)s, ns);
	if (s->o.bug == BUG_WORD_UNREAD)
		return 0;
	if (s->o.bug == BUG_WORD_FOR_ALL && *word > 0)
		return INT64_MAX;
	return *word;
}

/* ---- People ------------------------------------------------------------------------------------ */

static bool runs(const struct snap *n)
{
	const struct job *j = &n->job;
	return !n->gone && !j->suspend && !j->deleting && !j->status.complete && !j->status.failed;
}

static bool is_plain(const struct snap *n)
{
	const struct job *j = &n->job;
	return runs(n) && !j->queue[0] && !j->admission.story && j->status.has_start_time &&
	       !j->status.suspended && !j->uncontrolled;
}

static void make_plain(struct sim *s, struct snap *n)
{
	struct model_run *run = sim_alloc(s, sizeof(*run));
	*run = (struct model_run){.outside = true, .landed_ms = s->now_ms};
	n->job.queue = "";
	n->job.suspend = false;
	n->job.resumed_by_other = true; /* by the client that made it */
	n->job.hold = NULL;
	n->job.after = (struct dependencies){0};
	n->run = run;
}

static void label(struct sim *s, struct model_job *j)
{
	struct snap *n = model_api_edit(&s->api, j);
	do
		n->job.queue = localqueue_names[rng_between(&s->newcomers.rng, 0, LOCALQUEUES - 1)];
	while (!rng_odds(&s->newcomers.rng, 5000));
	sim_log(s, "admin  labels %s, which runs: '%s'", n->job.name, n->job.queue);
	model_api_write(&s->api, n, false);
	j->welcome = j->plain ? n->job.generation : 0;
	j->plain = false;
}

/* What `sluice adopt` does: the word first. */
static void admin_adopts(struct sim *s)
{
	const char *ns = namespace_names[rng_between(&s->newcomers.rng, 0, NAMESPACES - 1)];
	int64_t *word = word_of(s, ns);
	for (const struct model_job *j = s->api.first; j; j = j->next)
		if (is_plain(j->now) && !strcmp(j->now->job.ns, ns) &&
			j->now->job.status.start_ms > *word)
			*word = j->now->job.status.start_ms;
	sim_log(s, "admin  lets Jobs of %s be adopted that began by %lld", ns, (long long)*word);
	for (struct model_job *j = s->api.first; j; j = j->next)
		if (is_plain(j->now) && !strcmp(j->now->job.ns, ns))
			label(s, j);
}

static struct model_job *draw(struct sim *s, bool (*suits)(const struct snap *n))
{
	struct model_job *found = NULL;
	int64_t n = 0;
	for (struct model_job *j = s->api.first; j; j = j->next)
		if (suits(j->now) && rng_between(&s->newcomers.rng, 0, n++) == 0)
			found = j;
	return found;
}

static bool waits(const struct snap *n)
{
	return !n->gone && n->job.suspend && n->job.queue[0] && !n->job.deleting &&
	       !n->job.admission.story && !n->job.status.has_start_time;
}

static bool is_loose(const struct snap *n)
{
	return !n->gone && n->job.suspend && !n->job.queue[0] && !n->job.deleting;
}

/* It leaves the queue, to run; and comes back, where it runs. */
static void user_cheats(struct sim *s)
{
	struct model_job *j = draw(s, waits), *loose = draw(s, is_loose), *back = draw(s, is_plain);
	if (loose)
		people_unsuspend(s, loose);
	if (j) {
		struct snap *n = model_api_edit(&s->api, j);
		n->job.queue = "";
		n->job.after = (struct dependencies){0}; /* it is to run now */
		sim_log(s, "user   takes %s out of its queue", n->job.name);
		model_api_write(&s->api, n, false);
	}
	if (back && back->now->job.status.start_ms > *word_of(s, back->now->job.ns)) {
		struct snap *n = model_api_edit(&s->api, back);
		back->plain = false;
		back->welcome = 0;
		n->job.queue = localqueue_names[rng_between(&s->newcomers.rng, 0, LOCALQUEUES - 1)];
		sim_reach(s, PATH_NEWCOMER_CHEATS);
		sim_log(s, "user   labels %s, which runs: '%s'", n->job.name, n->job.queue);
		model_api_write(&s->api, n, false);
	}
}

static void act(struct sim *s, void *arg)
{
	(void)arg;
	if (s->calm)
		return;
	int64_t what = rng_between(&s->newcomers.rng, 0, 99);
	if (what < 40 && s->people.alive < JOBS_MAX)
		people_submit(s, make_plain)->plain = true;
	else if (what < 70)
		admin_adopts(s);
	else
		user_cheats(s);
	sim_after(s, rng_between(&s->newcomers.rng, 100, 3000), act, NULL);
}

void newcomers_begin(struct sim *s)
{
	rng_seed(&s->newcomers.rng, s->o.seed ^ SALT);
	if (s->o.newcomers)
		sim_after(s, 1, act, NULL);
}

/* ---- What must hold ---------------------------------------------------------------------------- */

/* As it was when it got its label; a word on its Namespace came before. */
static bool is_welcome(const struct model_job *j, const struct snap *n)
{
	return j->welcome > 0 && j->welcome == n->job.generation && !j->vandalized &&
	       !n->job.admission.story && n->run && n->run->outside && !n->run->returned;
}

void newcomers_check_stop(struct sim *s, const struct intent *i, const struct snap *before)
{
	const struct model_job *j = model_api_by_uid(&s->api, &i->uid);
	/* An API server that went back has its start time anew. */
	if (j && is_welcome(j, before) &&
		before->job.status.start_ms <= *word_of(s, before->job.ns) &&
		!strcmp(i->story.reason, "NotAdmitted"))
		sim_break(s, "P15", "%s was to be adopted, and is stopped", i->name);
}

static bool is_over_quota(const struct sim *s, const struct quota_line *l)
{
	const struct model_row *rows;
	size_t n = model_ledger_rows(s->ledger, &rows);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].node, l->node) && !strcmp(rows[i].flavor, l->flavor) &&
			!strcmp(rows[i].resource, l->resource))
			return model_ledger_use(s->ledger, l->node, l->flavor, l->resource) >
			       rows[i].ceiling;
	return false;
}

void newcomers_landed(struct sim *s, const struct intent *i, const struct snap *before)
{
	struct model_run *run = (struct model_run *)before->run;
	if (!run || !run->outside || strcmp(i->story.reason, "Adopted") != 0)
		return;
	if (before->job.status.start_ms > *word_of(s, before->job.ns))
		sim_break(s, "P15", "%s began after the word, and is adopted", i->name);
	sim_reach(s, PATH_NEWCOMER_ADOPTED);
	run->outside = false;
	run->attempt = i->story.attempt;
	run->nlines = 0; /* etcd went back, and it is adopted once more */
	must(i->story.nlines <= START_LINES);
	for (size_t k = 0; k < i->story.nlines; k++) {
		const struct quota_line *l = &i->story.lines[k];
		run->line[run->nlines++] = *l; /* the intent's texts are the world's */
		if (is_over_quota(s, l))
			sim_reach(s, PATH_NEWCOMER_OVER);
	}
}

bool newcomers_kept_out(const struct explanation *x)
{
	return strstr(x->sentence, "it is adopted when this is over");
}
